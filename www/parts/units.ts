// The units of the learner's networks, with their activations in the state that the room shows. Edges show weights or average gradients.

import { floats } from "../run/floats";
import type { LayerView, NetworkView } from "../run/protocol";
import { Asker } from "./requests";
import { font, pen, segment } from "./canvas";
import { Choice, h } from "./dom";
import { figure } from "./format";
import { animate, Surface } from "./loop";
import { onTheme, palette } from "./theme";

const ASK_MS = 200;
/** Maximum share of the worker's time that the requests may take. */
const MOST_SHARE = 0.2;
/** Number of levels of an edge's strength. An edge below the first level is not drawn. */
const STRENGTHS = 5;
/** Height of a network's title, and widths of the names beside a network, in px. */
const TITLE = 24;
const GUTTERS = { inputs: 144, outputs: 112 };
const NOTHING_YET = "The units of the networks; nothing yet";
/** Minimum width of the drawing, and minimum distance of two units, at which names are drawn, in px. */
const NAMED_PX = { width: 640, apart: 12 };

type Edges = "weights" | "gradients";
type Point = { x: number; y: number };
type Layer = { activations: Float32Array; weights: Float32Array; gradients: Float32Array };
type Net = { title: string; inputs: Float32Array; names: { inputs: string[]; outputs: string[] }; layers: Layer[]; words: string };

/** The state whose activations are drawn. */
export type UnitsState = {
  /** Name of the state, as in `the single environment`. */
  words: string;
  /** Name of the states in the histograms of activations. */
  samples: string;
  /** Called for each animation frame in which the units are on the screen. */
  play?(nowMs: number): void;
};

const layerOf = ({ activations, weights, gradients }: LayerView): Layer => ({
  activations: floats(activations),
  weights: floats(weights),
  gradients: floats(gradients),
});

function netOf({ title, input_names, inputs, layers: views, output_names }: NetworkView): Net {
  const layers = views.map(layerOf);
  const units = views.map(({ units }) => units).join(", ");
  const values = Array.from(layers.at(-1)!.activations, (value, k) => `${output_names[k] ?? "output"} ${figure(value)}`);
  const words = `${title}: ${units} units; outputs: ${values.join(", ")}`;
  return { title, inputs: floats(inputs), names: { inputs: input_names, outputs: output_names }, layers, words };
}

const strongest = (values: Float32Array): number => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const hue = (value: number): string => (value < 0 ? palette.minus : palette.plus);

export class Units {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { role: "img", "aria-label": NOTHING_YET });
  private readonly surface = new Surface(this.canvas, () => this.draw());
  private readonly asker = new Asker(() => this.waitMs);
  private readonly none = h("p.about", { hidden: true }, "No network evaluates this state.");
  private waitMs = ASK_MS;
  private edges: Edges = "weights";
  private nets: Net[] = [];

  constructor(ask: () => Promise<NetworkView[]>, { words, play }: UnitsState) {
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
        `Circles are inputs and activations of units for ${words}. Lines are weights, or their average gradients (Adam’s first moment). `,
        "Weak lines are not drawn, nor inputs and units of a layer beyond the first 64.",
      ]),
      this.none,
      this.canvas,
      h("div.wrap.legend-signs", [
        h("span.small.sign", { style: "--hue:var(--minus)" }, "negative"),
        h("span.small.sign", { style: "--hue:var(--plus)" }, "positive"),
      ]),
    ]);
    animate(this.element, (nowMs) => {
      play?.(nowMs);
      this.asker.ask(
        () => this.timed(ask),
        (networks) => this.show(networks),
      );
    });
    onTheme(() => this.draw());
  }

  begin(): void {
    this.asker.turns.take();
    this.nets = [];
    this.canvas.setAttribute("aria-label", NOTHING_YET);
    this.draw();
  }

  /** Asks, and lengthens the time between two requests if the answer takes long. */
  private async timed(ask: () => Promise<NetworkView[]>): Promise<NetworkView[]> {
    const askedMs = performance.now();
    const networks = await ask();
    this.waitMs = Math.max(ASK_MS, (performance.now() - askedMs) / MOST_SHARE);
    return networks;
  }

  private show(networks: NetworkView[]): void {
    this.none.hidden = networks.length > 0;
    this.nets = networks.map(netOf);
    this.canvas.setAttribute("aria-label", this.nets.map(({ words }) => words).join(". ") || this.none.textContent!);
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
    const columns = [net.inputs, ...net.layers.map(({ activations }) => activations)];
    const inner = high - TITLE - 8;
    const named = (names: string[], units: Float32Array): boolean =>
      width >= NAMED_PX.width && inner / units.length >= NAMED_PX.apart && names.some((name) => name !== "");
    const left = named(net.names.inputs, net.inputs) ? GUTTERS.inputs : 8;
    const right = named(net.names.outputs, columns.at(-1)!) ? GUTTERS.outputs : 8;
    const places = columns.map((units, column): Point[] => {
      const x = left + ((width - left - right) * column) / (columns.length - 1);
      return Array.from(units, (_, unit) => ({ x, y: top + TITLE + (inner * (unit + 0.5)) / units.length }));
    });
    net.layers.forEach((layer, k) => drawEdges(c, layer[this.edges], places[k]!, places[k + 1]!));
    columns.forEach((units, k) => drawUnits(c, units, places[k]!, high));
    c.fillStyle = palette.ink;
    c.font = font(12, 600);
    c.textBaseline = "middle";
    c.fillText(net.title, 0, top + 12);
    c.fillStyle = palette.soft;
    c.font = font(12);
    if (left > 8) drawNames(c, net.names.inputs, places[0]!, -1);
    if (right > 8) drawNames(c, net.names.outputs, places.at(-1)!, 1);
  }
}

/** Writes names beside units: to the left if `side` is -1, to the right if it is 1. */
function drawNames(c: CanvasRenderingContext2D, names: string[], places: Point[], side: -1 | 1): void {
  const gutter = side < 0 ? GUTTERS.inputs : GUTTERS.outputs;
  c.textAlign = side < 0 ? "right" : "left";
  places.forEach(({ x, y }, k) => c.fillText(names[k] ?? "", x + 12 * side, y, gutter - 12));
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
