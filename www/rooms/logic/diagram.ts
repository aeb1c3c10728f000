// The diagram of a circuit with live values on its wires. The pointer or the arrow keys select a gate and highlight its cone. The cone
// contains the gates and inputs on which the gate depends.

import { button, h, markup, write } from "../../parts/dom";
import { count } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { touch } from "../../parts/loop";
import { onTheme } from "../../parts/theme";
import { clamp, modified } from "../../parts/keys";
import { opColour } from "./colours";
import { drawingOf, NAMED, pictured } from "./drawing";
import { placed, type Placed, type Wire } from "./layout";
import { OPS, reads } from "./ops";
import type { CircuitView } from "./protocol";

const [LEAST_ZOOM, MOST_ZOOM, ZOOM_STEP] = [0.1, 2.5, 1.25];
/** Minimum zoom at which the diagram is readable. */
const READABLE = 0.62;
/**
 * Maximum number of gates that are drawn without the visitor's request. Early in a run, a circuit has more gates, because few gates are
 * pruned.
 */
const MOST_DRAWN = 2500;

type Drawn = {
  circuit: CircuitView;
  layout: Placed;
  svg: SVGSVGElement;
  nodes: SVGGElement[];
  wires: { path: SVGPathElement; from: Wire; to: number }[];
  ends: SVGGElement[];
};

export class Diagram {
  readonly tools: HTMLElement;
  readonly view = h("div.circuit-view.box", { hidden: true, tabindex: 0, role: "application", "aria-label": "The circuit" });
  readonly named = h("p.small.circuit-named", { role: "status" });
  private drawn: Drawn | undefined;
  private values: Uint8Array = new Uint8Array();
  private zoom = 1;
  private at: number | undefined;

  /**
   * If `ratio` is given, the diagram is a picture of the whole circuit without names. The style sheet fits the picture into a box with this
   * ratio of width to height.
   */
  constructor(private readonly ratio?: number) {
    const small = (words: string, label: string, run: () => void): HTMLButtonElement =>
      button(words, run, { class: "small", "aria-label": label, title: label });
    this.tools = h("div.row.circuit-tools", { hidden: true }, [
      small("−", "Zoom out", () => this.setZoom(this.zoom / ZOOM_STEP)),
      small("+", "Zoom in", () => this.setZoom(this.zoom * ZOOM_STEP)),
      small("Fit", "Fit the whole circuit", () => this.fit(LEAST_ZOOM)),
    ]);
    for (const kind of ["pointerover", "click"]) this.view.addEventListener(kind, (event) => this.point(under(event)));
    for (const kind of ["pointerleave", "blur"]) this.view.addEventListener(kind, () => this.point(undefined));
    this.view.addEventListener("keydown", (event) => this.key(event));
    onTheme(() => this.recolour());
    // Only changes of the window matter: a change of the view's size may be the visitor's zoom.
    addEventListener("resize", () => this.refit(), { signal: pageLife() });
  }

  private refit(): void {
    if (this.drawn && !this.ratio) this.fit(READABLE);
  }

  clear(): void {
    this.drawn = undefined;
    this.view.hidden = this.tools.hidden = true;
    this.view.replaceChildren();
    write(this.named, "");
  }

  /** True while the visitor inspects the diagram with the pointer or the focus. */
  get followed(): boolean {
    return this.at !== undefined || this.view.contains(document.activeElement);
  }

  /** Draws the circuit. A circuit with more than `MOST_DRAWN` gates is drawn only if `asked` is true. */
  draw(circuit: CircuitView, asked: boolean): void {
    const { inputs, gates, depth } = circuit;
    this.at = undefined;
    this.values = new Uint8Array();
    if (gates.length > MOST_DRAWN && !asked) {
      this.clear();
      return write(
        this.named,
        `${count(gates.length)} gates, too many to follow. Most will become pass-through or dead as the circuit learns.` +
          (this.ratio ? "" : " “Redraw” draws it anyway."),
      );
    }
    const layout = placed(circuit);
    this.view.hidden = this.tools.hidden = false;
    const { ratio } = this;
    this.view.replaceChildren(markup(drawingOf(circuit, layout, ratio ? pictured(layout, ratio) : NAMED)));
    const all = <E extends SVGElement>(name: string): E[] => [...this.view.querySelectorAll<E>(name)];
    const nodes = all<SVGGElement>(".node");
    // Names of inputs are set as text, so that a name cannot insert markup.
    if (!ratio) inputs.forEach((name, k) => (nodes[k]!.querySelector("text")!.textContent = name));
    const paths = all<SVGPathElement>(".wire");
    const wires = layout.wires.map(({ from, to }, k) => ({
      path: paths[k]!,
      from,
      to: "gate" in to ? inputs.length + to.gate : inputs.length + gates.length + to.output,
    }));
    this.drawn = { circuit, layout, svg: this.view.querySelector("svg")!, nodes, wires, ends: all(".end") };
    this.view.setAttribute(
      "aria-label",
      `The circuit: ${count(gates.length)} gates in ${depth} layers. Arrow keys follow the wires: left to inputs of a gate, right to ` +
        `gates that use it, up and down within a layer.`,
    );
    this.recolour();
    this.fit(READABLE);
    this.writeNamed();
  }

  /** Shows values of the inputs, then of the gates. An empty array removes all values. */
  setValues(values: Uint8Array): void {
    const before = this.values;
    this.values = values;
    if (!this.drawn) return;
    const { nodes, wires, ends, circuit } = this.drawn;
    const changed = (node: number): boolean => before.length !== values.length || before[node] !== values[node];
    nodes.forEach((node, k) => changed(k) && node.classList.toggle("on", values[k] === 1));
    for (const { path, from } of wires) if (changed(from)) path.classList.toggle("on", values[from] === 1);
    circuit.outputs.forEach((output, k) => ends[k]?.classList.toggle("on", values[output] === 1));
    this.view.classList.toggle("valued", values.length > 0);
    this.writeNamed();
  }

  private recolour(): void {
    if (!this.drawn) return;
    const { circuit, nodes } = this.drawn;
    circuit.gates.forEach(({ op }, gate) => nodes[circuit.inputs.length + gate]!.style.setProperty("--op", opColour(op).colour));
  }

  private setZoom(zoom: number): void {
    this.zoom = clamp(zoom, LEAST_ZOOM, MOST_ZOOM);
    const svg = this.drawn?.svg;
    if (svg && !this.ratio) svg.style.width = `${svg.viewBox.baseVal.width * this.zoom}px`;
  }

  /** Zooms so that the diagram has the width of its view. The zoom is between `least` and 1. */
  private fit(least: number): void {
    const natural = this.drawn?.svg.viewBox.baseVal.width ?? 1;
    this.setZoom(Math.max(least, Math.min(1, (this.view.clientWidth - 4) / natural)));
  }

  private point(node: number | undefined): void {
    if (node === this.at) return;
    this.at = node;
    this.highlight();
    this.writeNamed();
  }

  private highlight(): void {
    const { at, drawn } = this;
    if (!drawn) return;
    const cone = at === undefined ? undefined : coneOf(drawn.circuit, at);
    this.view.classList.toggle("picked", cone !== undefined);
    drawn.nodes.forEach((node, k) => {
      node.classList.toggle("in-cone", cone?.has(k) ?? false);
      node.classList.toggle("here", k === at);
    });
    for (const { path, from, to } of drawn.wires) {
      path.classList.toggle("in-cone", (cone?.has(to) && cone.has(from)) ?? false);
      path.classList.toggle("goes-on", from === at);
    }
  }

  private writeNamed(): void {
    const { at, drawn } = this;
    if (!drawn) return;
    if (at === undefined) return write(this.named, touch() ? "Touch a gate." : "Point at a gate, or use the arrow keys.");
    const value = this.values.length ? ` Now ${this.values[at] ? "on" : "off"}.` : "";
    write(this.named, `${nodeInWords(drawn.circuit, at)}${value}`);
  }

  private key(event: KeyboardEvent): void {
    const { drawn } = this;
    if (!drawn || modified(event)) return;
    if (event.key === "+" || event.key === "-") this.setZoom(event.key === "+" ? this.zoom * ZOOM_STEP : this.zoom / ZOOM_STEP);
    else if (event.key.startsWith("Arrow"))
      this.select(this.at === undefined ? (drawn.circuit.inputs.length ? 0 : undefined) : next(drawn, this.at, event.key));
    else return;
    event.preventDefault();
  }

  private select(node: number | undefined): void {
    if (node === undefined) return;
    this.point(node);
    this.drawn?.nodes[node]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function under(event: Event): number | undefined {
  const node = event.target instanceof Element ? event.target.closest("[data-node]") : null;
  return node ? Number(node.getAttribute("data-node")) : undefined;
}

/** Returns the inputs and gates that a gate reads directly; an empty list for an input. */
function readBy({ inputs, gates }: CircuitView, node: Wire): Wire[] {
  const gate = gates[node - inputs.length];
  if (!gate) return [];
  const read = reads(gate.op);
  return [...(read.a ? [gate.a] : []), ...(read.b ? [gate.b] : [])];
}

/** Returns a node and all nodes on which it depends, directly or through others. */
function coneOf(circuit: CircuitView, node: Wire): Set<Wire> {
  const cone = new Set([node]);
  for (const one of cone) for (const read of readBy(circuit, one)) cone.add(read);
  return cone;
}

/** Returns the node that an arrow key selects: along a wire, or within the layer. Returns undefined if there is none. */
function next({ circuit, layout, wires }: Drawn, at: Wire, key: string): Wire | undefined {
  const here = layout.nodes[at]!;
  const y = (node: Wire): number => layout.nodes[node]!.y;
  const beside = (nodes: Wire[]): Wire | undefined => nodes.sort((a, b) => Math.abs(y(a) - here.y) - Math.abs(y(b) - here.y))[0];
  if (key === "ArrowLeft") return beside(readBy(circuit, at));
  if (key === "ArrowRight") return beside(wires.flatMap(({ from, to }) => (from === at && to < layout.nodes.length ? [to] : [])));
  const layer = layout.nodes.flatMap(({ x }, k) => (x === here.x ? [k] : [])).sort((a, b) => y(a) - y(b));
  return layer[layer.indexOf(at) + (key === "ArrowUp" ? -1 : 1)];
}

function nodeInWords(circuit: CircuitView, at: Wire): string {
  const { inputs, gates } = circuit;
  const gate = gates[at - inputs.length];
  if (!gate) return `Input ${at + 1}: ${inputs[at]}.`;
  const nameOf = (wire: Wire): string => (wire < inputs.length ? inputs[wire]! : `gate ${wire - inputs.length + 1}`);
  const { name, plain } = OPS[gate.op]!;
  const read = reads(gate.op);
  const of = [read.a && `a is ${nameOf(gate.a)}`, read.b && `b is ${nameOf(gate.b)}`].filter(Boolean).join(", ");
  const cone = [...coneOf(circuit, at)].filter((one) => one >= inputs.length).length;
  return (
    `Gate ${at - inputs.length + 1}, layer ${gate.layer}: ${name} (${plain})${of ? `; ${of}` : ""}. Its cone has ` +
    `${cone === 1 ? "1 gate" : `${count(cone)} gates`}.`
  );
}
