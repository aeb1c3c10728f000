// The units of the policy network and of the critic network, with their activations in the state of the single environment. Edges show
// weights or average gradients.

import { floats } from "../../run/floats";
import { font, pen, segment } from "../../parts/canvas";
import { Choice, h } from "../../parts/dom";
import { figure } from "../../parts/format";
import { animate, Surface } from "../../parts/loop";
import { onTheme, palette } from "../../parts/theme";
import { Asker } from "../shared/requests";
import type { Environment, LayerView, NetworkView } from "./protocol";

const ASK_MS = 200;
/** Number of levels of an edge's strength. An edge below the first level is not drawn. */
const STRENGTHS = 5;
/** Height of a network's title, and widths of the names beside a network, in px. */
const TITLE = 24;
const GUTTERS = { inputs: 144, outputs: 96 };
/** Least width of the drawing at which names are drawn, in px. */
const NAMED_PX = 640;

type Edges = "weights" | "gradients";
type Point = { x: number; y: number };
type Layer = { activations: Float32Array; weights: Float32Array; gradients: Float32Array };
type Net = { title: string; inputs: Float32Array; layers: Layer[]; outputs: string[]; words: string };

const layerOf = ({ activations, weights, gradients }: LayerView): Layer => ({
  activations: floats(activations),
  weights: floats(weights),
  gradients: floats(gradients),
});

const strongest = (values: Float32Array): number => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const hue = (value: number): string => (value < 0 ? palette.minus : palette.plus);

export class Units {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { role: "img", "aria-label": "The units of the networks; nothing yet" });
  private readonly surface = new Surface(this.canvas, () => this.draw());
  private readonly asker = new Asker(() => ASK_MS);
  private edges: Edges = "weights";
  private environment: Environment | undefined;
  private nets: Net[] = [];

  /** `play` is called for each animation frame, and advances the single environment. */
  constructor(ask: () => Promise<NetworkView>, play: (nowMs: number) => void) {
    const { element: choice } = new Choice<Edges>(
      "Edges",
      [
        { value: "weights", words: "Weights", label: "Edges show weights" },
        { value: "gradients", words: "Gradients", label: "Edges show average gradients", title: "Average gradient: Adam’s first moment" },
      ],
      this.edges,
      (edges) => {
        this.edges = edges;
        this.draw();
      },
    );
    this.element = h("div.card.units", [
      h("div.head", h("h3", "Units"), choice),
      h("p.about", [
        "Circles are the activations of units in the state of the single environment. Lines are weights, or their average gradients " +
          "(Adam’s first moment). Weak lines are not drawn, nor units beyond the first 64 of a layer.",
      ]),
      this.canvas,
      h("div.wrap.network-legend", [
        h("span.small.sign", { style: "--hue:var(--minus)" }, "negative"),
        h("span.small.sign", { style: "--hue:var(--plus)" }, "positive"),
      ]),
    ]);
    animate(this.canvas, (nowMs) => {
      play(nowMs);
      this.asker.ask(ask, (network) => this.show(network));
    });
    onTheme(() => this.draw());
  }

  begin(environment: Environment): void {
    this.environment = environment;
    this.asker.turns.take();
    this.nets = [];
    this.draw();
  }

  private show({ observation, policy, critic }: NetworkView): void {
    const choices = this.environment?.choices ?? [];
    const net = (title: string, views: LayerView[], outputs: string[]): Net => {
      const layers = views.map(layerOf);
      const units = views.map(({ units }) => units).join(", ");
      const values = Array.from(layers.at(-1)!.activations, (value, k) => `${outputs[k] ?? "output"} ${figure(value)}`);
      return { title, inputs: floats(observation), layers, outputs, words: `${title}: ${units} units; outputs: ${values.join(", ")}` };
    };
    this.nets = [net("Policy", policy, choices.length ? choices : ["mean action"]), net("Critic", critic, ["value"])];
    this.canvas.setAttribute("aria-label", this.nets.map(({ words }) => words).join(". "));
    this.draw();
  }

  private draw(): void {
    const { nets, surface } = this;
    const c = surface.begin();
    const high = surface.height / Math.max(1, nets.length);
    nets.forEach((net, k) => this.drawNet(c, net, k * high, high));
  }

  private drawNet(c: CanvasRenderingContext2D, net: Net, top: number, high: number): void {
    const { width } = this.surface;
    const named = width >= NAMED_PX;
    const [left, right] = named ? [GUTTERS.inputs, width - GUTTERS.outputs] : [8, width - 8];
    const columns = [net.inputs, ...net.layers.map(({ activations }) => activations)];
    const places = columns.map((units, column): Point[] => {
      const x = left + ((right - left) * column) / (columns.length - 1);
      return Array.from(units, (_, unit) => ({ x, y: top + TITLE + ((high - TITLE - 8) * (unit + 0.5)) / units.length }));
    });
    net.layers.forEach((layer, k) => drawEdges(c, layer[this.edges], places[k]!, places[k + 1]!));
    columns.forEach((units, k) => drawUnits(c, units, places[k]!, high));
    c.fillStyle = palette.ink;
    c.font = font(12, 600);
    c.textBaseline = "middle";
    c.fillText(net.title, 0, top + 12);
    if (named) this.drawNames(c, net, places);
  }

  private drawNames(c: CanvasRenderingContext2D, { outputs }: Net, places: Point[][]): void {
    c.fillStyle = palette.soft;
    c.font = font(12);
    const { observation = [] } = this.environment ?? {};
    c.textAlign = "right";
    places[0]!.forEach(({ x, y }, k) => c.fillText(observation[k] ?? "", x - 12, y, GUTTERS.inputs - 12));
    c.textAlign = "left";
    places.at(-1)!.forEach(({ x, y }, k) => c.fillText(outputs[k] ?? "", x + 12, y, GUTTERS.outputs - 12));
  }
}

/** Draws the edges between two layers. `values` has a row for each unit of the second layer. */
function drawEdges(c: CanvasRenderingContext2D, values: Float32Array, from: Point[], to: Point[]): void {
  const most = strongest(values);
  if (most === 0) return;
  const strengths = Int8Array.from(values, (value) => Math.trunc((STRENGTHS * value) / most));
  for (let strength = 1; strength <= STRENGTHS; strength++)
    for (const signed of [-strength, strength]) {
      pen(c, hue(signed), 0.5 + strength / STRENGTHS);
      c.globalAlpha = strength / STRENGTHS;
      c.beginPath();
      strengths.forEach((found, k) => {
        if (found !== signed) return;
        const [start, end] = [from[k % from.length]!, to[Math.floor(k / from.length)]!];
        segment(c, start.x, start.y, end.x, end.y);
      });
      c.stroke();
    }
  c.globalAlpha = 1;
}

/** Draws the units of a layer. The colour is stronger if the activation is larger. */
function drawUnits(c: CanvasRenderingContext2D, activations: Float32Array, places: Point[], high: number): void {
  const most = strongest(activations) || 1;
  const radius = Math.min(5, Math.max(1.5, (0.4 * (high - TITLE)) / places.length));
  pen(c, palette.ghost, 1);
  places.forEach(({ x, y }, k) => {
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.fillStyle = palette.raised;
    c.fill();
    c.globalAlpha = Math.abs(activations[k]!) / most;
    c.fillStyle = hue(activations[k]!);
    c.fill();
    c.globalAlpha = 1;
    if (radius > 3) c.stroke();
  });
}
