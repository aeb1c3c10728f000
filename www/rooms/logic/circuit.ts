// The circuit that a member hardens to, as a logic diagram that can be followed by eye: inputs on the left, outputs on the right,
// gates in the symbols of the field with a bubble where something is inverted. Values run on its wires as the grid goes on.

import type { Announcer } from "../../parts/announce";
import { h, id, markup, write } from "../../parts/dom";
import { download } from "../../parts/files";
import { count } from "../../parts/format";
import { animate, touch } from "../../parts/loop";
import { onTheme } from "../../parts/theme";
import { reason, type Chosen, type LogicClient } from "./client";
import { opColour } from "./colours";
import { Cells } from "./cells";
import { placed, type Placed, type Point, type Wire } from "./layout";
import { OPS, reads } from "./ops";
import type { CircuitView, Format } from "./protocol";

const VALUES_EVERY_MS = 150;
/** While its member learns it is drawn anew as often as one can follow. */
const REDRAW_MS = 6000;
const ASK_EVERY_MS = 1000;
/** A layer's width, a row's height, and a gate's, at the size that one reads best. */
const [LAYER, ROW, WIDE, TALL] = [76, 28, 30, 20];
const MARGIN = { left: 142, right: 84, top: 16 };
const [LEAST_ZOOM, MOST_ZOOM, ZOOM_STEP] = [0.1, 2.5, 1.25];
/** Smaller than this nobody can read it. */
const READABLE = 0.62;
/** Circuits of more gates are counted, and drawn on demand: early in a run nothing may be pruned yet. */
const MOST_DRAWN = 2500;
const FORMATS: { format: Format; words: string }[] = [
  { format: "svg", words: "SVG" },
  { format: "json", words: "JSON" },
  { format: "verilog", words: "Verilog" },
  { format: "rust", words: "Rust" },
];

/** A gate's symbol: its shape, and what is inverted. */
type Symbol = { shape: "and" | "or" | "xor" | "buffer" | "constant"; out: boolean; a: boolean; b: boolean };
const symbol = (shape: Symbol["shape"], out = false, a = false, b = false): Symbol => ({ shape, out, a, b });
const SYMBOLS: Symbol[] = [
  symbol("constant"),
  symbol("and"),
  symbol("and", false, false, true),
  symbol("buffer"),
  symbol("and", false, true, false),
  symbol("buffer"),
  symbol("xor"),
  symbol("or"),
  symbol("or", true),
  symbol("xor", true),
  symbol("buffer", true),
  symbol("or", false, false, true),
  symbol("buffer", true),
  symbol("or", false, true, false),
  symbol("and", true),
  symbol("constant"),
];
const [W, H] = [WIDE / 2, TALL / 2];
const SHAPES: Record<Symbol["shape"], string> = {
  and: `M${-W} ${-H}H4A${H} ${H} 0 0 1 4 ${H}H${-W}Z`,
  or: `M${-W} ${-H}H-4Q8 ${-H} ${W - 1} 0Q8 ${H} -4 ${H}H${-W}Q${-W + 7} 0 ${-W} ${-H}Z`,
  xor:
    `M${-W + 3} ${-H}H-3Q8 ${-H} ${W - 1} 0Q8 ${H} -3 ${H}H${-W + 3}Q${-W + 10} 0 ${-W + 3} ${-H}ZM${-W - 1} ${-H}Q${-W + 6} 0 ` +
    `${-W - 1} ${H}`,
  buffer: `M${-W + 6} ${-H + 2}L${W - 4} 0L${-W + 6} ${H - 2}Z`,
  constant: `M${-H} ${-H}H${H}V${H}H${-H}Z`,
};

export class CircuitPane {
  readonly element: HTMLElement;
  private readonly drawButton = h(
    "button",
    { type: "button", class: "strong", onclick: () => void this.draw(true) },
    "Draw it as it is now",
  );
  private readonly status = h("p", { class: "small", role: "status" });
  private readonly error = h("p", { class: "error", role: "alert" });
  private readonly counts = h("dl", { class: "circuit-counts" });
  private readonly view = h("div", { class: "circuit-view", hidden: true, tabindex: 0, role: "application", "aria-label": "The circuit" });
  private readonly named = h("p", { class: "small circuit-named", role: "status" });
  private readonly tools = h("div", { class: "row circuit-tools", hidden: true });
  private readonly exports: HTMLElement;
  private readonly follow = h("input", { type: "checkbox", role: "switch", checked: true, id: id("follow-circuit") });
  private readonly grid: Cells;
  private readonly gridFigure = h("figure", { class: "circuit-grid", hidden: true });
  private readonly gridCaption = h("figcaption", { class: "small" });
  private circuit: CircuitView | undefined;
  private drawnOf = { member: -1, updates: -1 };
  private drawnMs = -Infinity;
  /** The grid runs a newer circuit than the one that is drawn. */
  private stale = false;
  private layout: Placed | undefined;
  private svg: SVGSVGElement | undefined;
  private nodes: SVGGElement[] = [];
  private wires: { path: SVGPathElement; from: Wire; to: number }[] = [];
  private ends: SVGGElement[] = [];
  private values: Uint8Array = new Uint8Array();
  private zoom = 1;
  private at: number | undefined;
  private asking = false;
  private drawing = false;
  private valuesMs = 0;
  private runs = 0;
  private closed = false;
  private readonly stops: (() => void)[];

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
    /** The grid that the automaton runs on: it goes on while its circuit is in sight, too. */
    private readonly automaton: {
      runs(member: number): void;
      tick(nowMs: number): void;
      paint(cells: Cells): void;
      nameOf(x: number, y: number): string;
    },
  ) {
    this.grid = new Cells(
      "The grid: arrows choose the cell whose values run on the wires",
      { touched: () => this.live(true), moved: () => (this.live(true), this.tellCell()) },
      () => this.automaton.paint(this.grid),
    );
    this.grid.marked = true;
    this.gridFigure.append(this.grid.element, this.gridCaption);
    const small = (words: string, label: string, does: () => void): HTMLButtonElement =>
      h("button", { type: "button", class: "small", "aria-label": label, title: label, onclick: does }, words);
    this.tools.append(
      small("−", "Smaller", () => this.setZoom(this.zoom / ZOOM_STEP)),
      small("+", "Larger", () => this.setZoom(this.zoom * ZOOM_STEP)),
      small("All of it", "All of it in sight", () => this.fit(LEAST_ZOOM)),
    );
    this.exports = h(
      "p",
      { class: "row" },
      h("span", { class: "small" }, "Take the circuit along:"),
      ...FORMATS.map(({ format, words }) =>
        h("button", { type: "button", "aria-label": `Download the circuit as ${words}`, onclick: () => void this.export(format) }, words),
      ),
    );
    this.element = h(
      "div",
      { class: "circuit" },
      h(
        "p",
        { class: "small" },
        "Hardened, each gate is the one operation that it leans to most. What only passes an input on, and what nothing depends on, " +
          "is pruned. A gate that is pointed at shows its cone: all that it depends on. Thick wires are on, at the cell that is " +
          "marked in the small grid, while the automaton runs.",
      ),
      h(
        "div",
        { class: "row" },
        this.drawButton,
        h("span", { class: "row" }, this.follow, h("label", { for: this.follow.id }, "Keep it up to date")),
        this.status,
      ),
      this.error,
      h("div", { class: "circuit-head" }, this.gridFigure, this.counts, this.tools),
      this.view,
      this.named,
      this.exports,
    );
    this.view.addEventListener("pointerover", (event) => this.point(this.under(event)));
    this.view.addEventListener("click", (event) => this.point(this.under(event)));
    this.view.addEventListener("pointerleave", () => this.point(undefined));
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("blur", () => this.point(undefined));
    this.stops = [animate(this.element, (nowMs) => this.watch(nowMs)), onTheme(() => this.recolour()), () => this.grid.close()];
  }

  begin(): void {
    this.runs++;
    this.circuit = undefined;
    this.drawnOf = { member: -1, updates: -1 };
    this.drawnMs = -Infinity;
    this.view.hidden = this.tools.hidden = this.gridFigure.hidden = true;
    this.follow.checked = true;
    this.view.replaceChildren();
    this.counts.replaceChildren();
    write(this.status, "");
    write(this.error, "");
    write(this.named, "");
  }

  close(): void {
    this.closed = true;
    for (const stop of this.stops) stop();
  }

  /** It is in sight: drawn by itself now and then, unless somebody follows its wires; and values are asked for. */
  private watch(nowMs: number): void {
    this.automaton.tick(nowMs);
    const reading = this.at !== undefined || this.view.contains(document.activeElement);
    const due = !this.circuit || this.drawnOf.member !== this.chosen.member || (this.stale && nowMs - this.drawnMs > REDRAW_MS);
    if (due && !reading && (this.follow.checked || !this.circuit) && nowMs - this.drawnMs > ASK_EVERY_MS) {
      this.drawnMs = nowMs;
      void this.draw();
    } else this.live();
  }

  /** The grid went on. */
  went(): void {
    if (this.gridFigure.hidden) return;
    this.automaton.paint(this.grid);
    this.tellCell();
  }

  private tellCell(): void {
    const { x, y } = this.grid.cursor;
    write(this.gridCaption, `column ${x + 1}, row ${y + 1}: ${this.automaton.nameOf(x, y)}`);
  }

  private async draw(asked = false): Promise<void> {
    if (this.drawing) return;
    this.drawing = true;
    const { runs } = this;
    const { member } = this.chosen;
    try {
      const circuit = await this.client.ask({ ask: "circuit", member });
      if (this.closed || runs !== this.runs) return;
      write(this.error, "");
      this.automaton.runs(member);
      this.drawnOf = { member, updates: circuit.updates };
      this.stale = false;
      this.drawnMs = performance.now();
      this.show(circuit, asked);
      const { gates, verified, equal } = circuit;
      const words =
        `Of member ${member + 1} after ${count(circuit.updates)} updates${circuit.perfect ? ", which is perfect" : ""}. ` +
        (equal
          ? `Verified equal to its automaton on ${count(verified)} neighbourhoods.`
          : `It differs from its automaton, which was compared on ${count(verified)} neighbourhoods.`);
      write(this.status, words);
      if (asked) this.announcer.say(`The circuit has ${count(gates.length)} gates. ${words}`, "circuit");
    } catch (error) {
      if (this.closed || runs !== this.runs) return;
      if (asked || this.circuit) write(this.error, reason(error));
    } finally {
      this.drawing = false;
    }
  }

  private async export(format: Format): Promise<void> {
    try {
      const { name, text } = await this.client.ask({ ask: "export", member: this.chosen.member, format });
      if (this.closed) return;
      write(this.error, "");
      download(name, new TextEncoder().encode(text));
      this.announcer.say(`${name} is downloaded.`, "export");
    } catch (error) {
      if (!this.closed) write(this.error, reason(error));
    }
  }

  // ---- drawing

  private show(circuit: CircuitView, anyway: boolean): void {
    this.circuit = circuit;
    this.at = undefined;
    const { inputs, gates, outputs, evaluated, pass_through, dead, depth } = circuit;
    const told: [string, string, string][] = [
      ["Active gates", count(gates.length), "after pruning"],
      ["Depth", count(depth), "gates on the longest way"],
      ["Evaluated", count(evaluated), "gates for a cell, before pruning"],
      ["Pass-through", count(pass_through), "give an input on as it is"],
      ["Dead", count(dead), "nothing depends on them"],
      ["Inputs", count(inputs.length), "bits of the nine cells that matter"],
    ];
    this.counts.replaceChildren(
      ...told.map(([term, value, about]) =>
        h("div", { title: about }, h("dt", {}, term), h("dd", {}, value), h("dd", { class: "small" }, about)),
      ),
    );
    const many = gates.length > MOST_DRAWN && !anyway;
    this.view.hidden = this.tools.hidden = many;
    this.gridFigure.hidden = false;
    this.went();
    this.layout = undefined;
    [this.nodes, this.ends, this.wires] = [[], [], []];
    this.values = new Uint8Array();
    if (many) {
      this.view.replaceChildren();
      return write(
        this.named,
        `It has ${count(gates.length)} gates by now, more than one can follow. As it learns, most become pass-through or dead; the ` +
          `button draws it anyway.`,
      );
    }
    const layout = placed(circuit);
    this.layout = layout;
    const width = MARGIN.left + (layout.layers - 1) * LAYER + MARGIN.right;
    const height = 2 * MARGIN.top + layout.rows * ROW;
    const parts: string[] = [];
    const at = ({ x, y }: Point): Point => ({ x: MARGIN.left + x * LAYER, y: MARGIN.top + (y + 0.5) * ROW });
    // Of a gate's two wires the upper one goes in above.
    const above = (gate: number): boolean => {
      const { a, b } = gates[gate]!;
      return a === b || this.height(a, gate, false) <= this.height(b, gate, true);
    };
    const upper = gates.map((_, gate) => above(gate));
    const port = (gate: number, b: boolean): number => {
      const { op } = gates[gate]!;
      const both = reads(op).a && reads(op).b;
      return both ? (b === upper[gate] ? 5 : -5) : 0;
    };
    this.wires = [];
    for (const { from, to, through } of layout.wires) {
      const start = at(layout.nodes[from]!);
      let [x, y] = [start.x + (from < inputs.length ? 6 : W + 2), start.y];
      let path = `M${x} ${round(y)}`;
      for (const place of through) {
        const next = at(place);
        path += `${bend(x, y, next.x - W, next.y)}H${next.x + W}`;
        [x, y] = [next.x + W, next.y];
      }
      const end = "gate" in to ? at(layout.nodes[inputs.length + to.gate]!) : at(layout.outputs[to.output]!);
      const [endX, endY] = "gate" in to ? [end.x - W - 1, end.y + port(to.gate, to.b)] : [end.x - 6, end.y];
      path += bend(x, y, endX, endY);
      parts.push(`<path class="wire" d="${path}"/>`);
    }
    const nodes = layout.nodes.map((place, node) => {
      const { x, y } = at(place);
      const group = (inner: string, kind: string): string =>
        `<g class="node ${kind}" data-node="${node}" transform="translate(${x} ${round(y)})">${inner}</g>`;
      if (node < inputs.length) return group(`<circle r="4"/><text x="-9" y="4" text-anchor="end"></text>`, "input");
      const gate = node - inputs.length;
      const { op } = gates[gate]!;
      const { shape, out, a, b } = SYMBOLS[op]!;
      const bubble = (bx: number, by: number): string => `<circle class="bubble" cx="${bx}" cy="${by}" r="3"/>`;
      const constant = shape === "constant" ? `<text y="4" text-anchor="middle">${op === 15 ? 1 : 0}</text>` : "";
      const bubbles =
        (out ? bubble(W + 1, 0) : "") + (a ? bubble(-W - 1, port(gate, false)) : "") + (b ? bubble(-W - 1, port(gate, true)) : "");
      return group(
        `<rect x="${-W - 4}" y="${-H - 3}" width="${WIDE + 8}" height="${TALL + 6}" class="hit"/><path class="shape" ` +
          `d="${SHAPES[shape]}"/>${constant}${bubbles}`,
        "gate",
      );
    });
    const ends = layout.outputs.map((place, k) => {
      const { x, y } = at(place);
      return (
        `<g class="end" transform="translate(${x} ${round(y)})"><circle r="4"/><text x="9" ` +
        `y="4">${outputs.length === 1 ? "next state" : `channel ${k}`}</text></g>`
      );
    });
    const source =
      `<svg viewBox="0 0 ${width} ${Math.ceil(height)}" ` + `aria-hidden="true">${parts.join("")}${nodes.join("")}${ends.join("")}</svg>`;
    this.view.replaceChildren(markup(source));
    this.svg = this.view.querySelector("svg")!;
    this.nodes = [...this.view.querySelectorAll<SVGGElement>(".node")];
    this.ends = [...this.view.querySelectorAll<SVGGElement>(".end")];
    // Their words are of the room's, so they are text and no markup.
    inputs.forEach((name, k) => (this.nodes[k]!.querySelector("text")!.textContent = name));
    const paths = [...this.view.querySelectorAll<SVGPathElement>(".wire")];
    this.wires = layout.wires.map(({ from, to }, k) => ({
      path: paths[k]!,
      from,
      to: "gate" in to ? inputs.length + to.gate : inputs.length + gates.length + to.output,
    }));
    this.view.setAttribute(
      "aria-label",
      `The circuit: ${count(gates.length)} gates in ${depth} layers. Arrows follow its wires: left to what a gate depends on, right ` +
        `to what depends on it, up and down within a layer.`,
    );
    this.recolour();
    this.fit(READABLE);
    this.tell();
    this.live(true);
  }

  /** How high a wire comes in at a gate. */
  private height(from: Wire, gate: number, b: boolean): number {
    const { layout, circuit } = this;
    const wire = layout!.wires.find(({ from: one, to }) => one === from && "gate" in to && to.gate === gate && to.b === b);
    return wire?.through.at(-1)?.y ?? layout!.nodes[from]?.y ?? circuit!.inputs.length;
  }

  private recolour(): void {
    this.circuit?.gates.forEach(({ op }, gate) =>
      this.nodes[this.circuit!.inputs.length + gate]?.style.setProperty("--op", opColour(op).colour),
    );
  }

  private get natural(): number {
    return this.svg?.viewBox.baseVal.width ?? 1;
  }

  private setZoom(zoom: number): void {
    this.zoom = Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, zoom));
    if (this.svg) this.svg.style.width = `${this.natural * this.zoom}px`;
  }

  /** As wide as there is room for, within reason. */
  private fit(least: number): void {
    this.setZoom(Math.max(least, Math.min(1, (this.view.clientWidth - 4) / this.natural)));
  }

  // ---- values on the wires

  private live(now = false): void {
    const { circuit, runs } = this;
    if (!circuit || this.asking || (!now && performance.now() - this.valuesMs < VALUES_EVERY_MS)) return;
    this.valuesMs = performance.now();
    this.asking = true;
    void this.client
      .ask({ ask: "values", ...this.grid.cursor })
      .then(({ inputs, gates, updates }) => {
        if (this.closed || runs !== this.runs || circuit !== this.circuit) return;
        // The grid may run another member's circuit, or the same one's as it was.
        const fits = updates === circuit.updates && inputs.length === circuit.inputs.length && gates.length === circuit.gates.length;
        this.stale = updates !== circuit.updates;
        this.setValues(fits ? Uint8Array.from([...inputs, ...gates]) : new Uint8Array());
      })
      .catch(() => this.setValues(new Uint8Array()))
      .finally(() => (this.asking = false));
  }

  private setValues(values: Uint8Array): void {
    const { circuit } = this;
    if (!circuit) return;
    const before = this.values;
    const changed = (node: number): boolean => before.length !== values.length || before[node] !== values[node];
    this.values = values;
    this.nodes.forEach((node, k) => changed(k) && node.classList.toggle("on", values[k] === 1));
    for (const { path, from } of this.wires) if (changed(from)) path.classList.toggle("on", values[from] === 1);
    circuit.outputs.forEach((output, k) => this.ends[k]?.classList.toggle("on", values[output] === 1));
    this.view.classList.toggle("valued", values.length > 0);
    this.tell();
  }

  // ---- what is pointed at

  private under(event: Event): number | undefined {
    const node = event.target instanceof Element ? event.target.closest("[data-node]") : null;
    return node ? Number(node.getAttribute("data-node")) : undefined;
  }

  private point(node: number | undefined): void {
    if (node === this.at) return;
    this.at = node;
    this.highlight();
    this.tell();
  }

  /** A gate and all that it depends on. */
  private cone(node: number): Set<number> {
    const { inputs, gates } = this.circuit!;
    const cone = new Set([node]);
    for (const one of cone) {
      const gate = gates[one - inputs.length];
      if (!gate) continue;
      const { a, b } = reads(gate.op);
      if (a) cone.add(gate.a);
      if (b) cone.add(gate.b);
    }
    return cone;
  }

  private highlight(): void {
    const { at } = this;
    const cone = at === undefined ? undefined : this.cone(at);
    this.view.classList.toggle("picked", cone !== undefined);
    this.nodes.forEach((node, k) => {
      node.classList.toggle("in-cone", cone?.has(k) ?? false);
      node.classList.toggle("here", k === at);
    });
    for (const { path, from, to } of this.wires) {
      path.classList.toggle("in-cone", (cone?.has(to) && cone.has(from)) ?? false);
      path.classList.toggle("goes-on", from === at);
    }
  }

  private nameOf(wire: Wire): string {
    const { inputs } = this.circuit!;
    return wire < inputs.length ? inputs[wire]! : `gate ${wire - inputs.length + 1}`;
  }

  private tell(): void {
    const { at, circuit } = this;
    if (!circuit || !this.layout) return;
    if (at === undefined) return write(this.named, touch() ? "Touch a gate." : "Point at a gate, or go from gate to gate by arrows.");
    const { inputs, gates } = circuit;
    const value = this.values.length ? ` It is ${this.values[at] ? "on" : "off"} here.` : "";
    const gate = gates[at - inputs.length];
    if (!gate) return write(this.named, `Input ${at + 1}: ${inputs[at]}.${value}`);
    const { name, plain } = OPS[gate.op]!;
    const read = reads(gate.op);
    const of = [read.a ? `a is ${this.nameOf(gate.a)}` : "", read.b ? `b is ${this.nameOf(gate.b)}` : ""].filter(Boolean).join(", ");
    const cone = [...this.cone(at)].filter((one) => one >= inputs.length).length;
    write(
      this.named,
      `Gate ${at - inputs.length + 1}, layer ${gate.layer}: ${name} (${plain})${of ? `; ${of}` : ""}. Its cone has ` +
        `${cone === 1 ? "1 gate" : `${count(cone)} gates`}.${value}`,
    );
  }

  private key(event: KeyboardEvent): void {
    const { circuit, layout } = this;
    if (!circuit || !layout || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "+" || event.key === "-") {
      this.setZoom(event.key === "+" ? this.zoom * ZOOM_STEP : this.zoom / ZOOM_STEP);
      return event.preventDefault();
    }
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    if (this.at === undefined) return this.stand(circuit.inputs.length ? 0 : undefined);
    const at = this.at;
    const here = layout.nodes[at]!;
    const beside = (nodes: Wire[]): Wire | undefined =>
      nodes.sort((a, b) => Math.abs(layout.nodes[a]!.y - here.y) - Math.abs(layout.nodes[b]!.y - here.y))[0];
    const gate = circuit.gates[at - circuit.inputs.length];
    const read = gate && reads(gate.op);
    const layer = layout.nodes.flatMap(({ x }, k) => (x === here.x ? [k] : [])).sort((a, b) => layout.nodes[a]!.y - layout.nodes[b]!.y);
    const place = layer.indexOf(at);
    const ways: Record<string, () => Wire | undefined> = {
      ArrowLeft: () => beside(gate && read ? [...(read.a ? [gate.a] : []), ...(read.b ? [gate.b] : [])] : []),
      ArrowRight: () => beside(this.wires.flatMap(({ from, to }) => (from === at && to < layout.nodes.length ? [to] : []))),
      ArrowUp: () => layer[place - 1],
      ArrowDown: () => layer[place + 1],
    };
    const next = ways[event.key]?.();
    if (next !== undefined) this.stand(next);
  }

  private stand(node: number | undefined): void {
    this.point(node);
    if (node !== undefined) this.nodes[node]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

const round = (n: number): number => Math.round(10 * n) / 10;

/** A wire from one place to the next, level at both ends. */
function bend(x: number, y: number, toX: number, toY: number): string {
  const middle = (x + toX) / 2;
  return Math.abs(toY - y) < 0.1 ? `L${toX} ${round(toY)}` : `C${middle} ${round(y)} ${middle} ${round(toY)} ${toX} ${round(toY)}`;
}
