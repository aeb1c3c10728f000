// The computing gates of a member, as squares. Each layer is a row, in which the gates are sorted by operation. The colour of a square
// shows the gate's most probable operation, and the opacity shows the probability of this operation. Gates settle from soft to hard as the
// member learns.
//
// Gates that only pass an input on are counted but not drawn. At first, all gates only pass an input on.

import { font, pen } from "../../parts/canvas";
import { h, pane, write } from "../../parts/dom";
import { count } from "../../parts/format";
import { animate, Surface, touch } from "../../parts/loop";
import { onTheme, palette } from "../../parts/theme";
import { floats } from "../../run/floats";
import { Asker } from "../../parts/requests";
import { arrowOf, clamp, modified } from "../../parts/keys";
import type { Chosen } from "./client";
import { opColour } from "./colours";
import { OPS, passes } from "./ops";
import type { AutomatonView } from "./protocol";

const ASK_EVERY_MS = 500;
/** Space for the names of layers, height of a row, and largest width and height of a square, in px. */
const [LABEL, ROW, WIDE, TALL] = [36, 16, 12, 12];
const SETTLED = 0.9;
/** Order of the operations in a row. An operation and its complement are adjacent. */
const ORDER = [1, 14, 2, 13, 4, 11, 7, 8, 6, 9, 12, 10, 0, 15];

/** A layer: the index of its first gate, its number of gates, and the gates that compute, sorted by operation. */
type Layer = { name: string; spoken: string; first: number; count: number; gates: number[] };

const percent = (share: number): string => `${Math.round(100 * share)}%`;

export class GatesPane {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas.gates-picture", { role: "application", tabindex: 0 });
  private readonly now = h("output.number");
  private readonly named = h("p.small.gate-named", { role: "status" });
  private readonly legend: { op: number; button: HTMLButtonElement; count: HTMLElement }[];
  private readonly passing = h("span.op-count");
  private readonly surface: Surface;
  private automaton: AutomatonView | undefined;
  private ops: Uint8Array = new Uint8Array();
  private certainty = new Float32Array();
  private layers: Layer[] = [];
  /** Width of a square, in px. */
  private wide = WIDE;
  /** Index of the selected gate; undefined if no gate is selected. */
  private at: number | undefined;
  /** Operation that the legend highlights; undefined if none. */
  private picked: number | undefined;
  private readonly asker = new Asker();

  constructor(private readonly chosen: Chosen) {
    this.legend = ORDER.map((op) => {
      const { name, plain } = OPS[op]!;
      const number = h("span.op-count");
      const button = h("button.quiet.small.op", { "aria-pressed": "false", title: `${name}: ${plain}`, onclick: () => this.pick(op) }, [
        h("span.op-swatch", { "aria-hidden": "true" }),
        h("span.op-name", name),
        number,
        h("span.unseen", `, ${plain}`),
      ]);
      return { op, button, count: number };
    });
    this.element = pane(
      "gates card",
      "Gates",
      [this.now],
      [
        h("p.about", [
          "One square per gate that computes: its colour is the operation, its opacity the certainty. The others, ",
          this.passing,
          ", only pass a bit on. Kernels (K) read the neighbours, update layers (U) compute the next state.",
        ]),
        this.canvas,
        this.named,
        h("div.ops", { role: "group", "aria-label": "Operations and their number of gates; press one to highlight its gates" }, [
          this.legend.map(({ button }) => button),
        ]),
      ],
    );
    this.surface = new Surface(this.canvas, () => (this.sort(), this.draw()));
    for (const kind of ["pointermove", "pointerdown"] as const)
      this.canvas.addEventListener(kind, (event) => this.point(this.under(event)));
    for (const kind of ["pointerleave", "blur"]) this.canvas.addEventListener(kind, () => this.point(undefined));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    animate(this.canvas, () => this.ask(), ASK_EVERY_MS);
    onTheme(() => this.recolour());
    this.recolour();
    this.updateText();
  }

  begin(): void {
    this.asker.turns.take();
    this.ops = new Uint8Array();
    this.automaton = undefined;
    this.layers = [];
    this.at = undefined;
    this.updateText();
    this.draw();
  }

  setAutomaton(automaton: AutomatonView): void {
    this.automaton = automaton;
    let first = 0;
    const layer = (kind: string, spoken: string, k: number, count: number): Layer => {
      first += count;
      return { name: `${kind}${k + 1}`, spoken: `${spoken} layer ${k + 1}`, first: first - count, count, gates: [] };
    };
    this.layers = [
      ...automaton.perception.map((gates, k) => layer("K", "kernel", k, automaton.kernels * gates)),
      ...automaton.update.map((gates, k) => layer("U", "update", k, gates)),
    ];
    this.canvas.style.height = `${this.layers.length * ROW}px`;
    this.ask();
  }

  changed(): void {
    this.ask();
  }

  private ask(): void {
    if (!this.automaton) return;
    this.asker.ask(
      () => this.chosen.ask({ ask: "gates", member: this.chosen.member }),
      ({ ops, certainty }) => {
        this.ops = ops;
        this.certainty = Float32Array.from(floats(certainty));
        this.sort();
        this.updateText();
        this.draw();
      },
    );
  }

  private updateText(): void {
    const counts = new Array<number>(OPS.length).fill(0);
    let settled = 0;
    this.ops.forEach((op, k) => {
      counts[op]!++;
      if (this.certainty[k]! >= SETTLED) settled++;
    });
    this.legend.forEach(({ op, count: number }) => write(number, count(counts[op]!)));
    const all = this.ops.length;
    const passing = counts.reduce((sum, n, op) => (passes(op) ? sum + n : sum), 0);
    write(this.passing, count(passing));
    write(this.now, all ? `${count(all - passing)} of ${count(all)} compute` : "");
    const most = counts.map((n, op) => ({ n, op })).sort((a, b) => b.n - a.n);
    const words = all
      ? `${count(all)} gates, ${percent(settled / all)} settled; most are ${most
          .slice(0, 3)
          .map(({ n, op }) => `${OPS[op]!.name} (${count(n)})`)
          .join(", ")}. Arrow keys move between gates.`
      : "nothing yet";
    this.canvas.setAttribute("aria-label", `Gates: ${words}`);
    if (this.at !== undefined) return this.name(this.at);
    const how = touch() ? "Touch a gate to see its operation." : "Point at a gate or use the arrow keys to see its operation.";
    write(this.named, !all ? "" : passing === all ? "No gate computes yet. Each passes its first input on." : how);
  }

  private pick(op: number): void {
    this.picked = this.picked === op ? undefined : op;
    for (const one of this.legend) one.button.setAttribute("aria-pressed", String(one.op === this.picked));
    this.draw();
  }

  private recolour(): void {
    this.legend.forEach(({ op, button }) => {
      const { colour, opposite } = opColour(op);
      button.style.setProperty("--op", colour);
      button.classList.toggle("opposite", opposite);
    });
    this.draw();
  }

  // ---- layout

  /** Collects and sorts the computing gates of each layer. Sets the width of a square so that the longest row fits. */
  private sort(): void {
    for (const layer of this.layers)
      layer.gates = Array.from({ length: layer.count }, (_, k) => layer.first + k)
        .filter((gate) => !passes(this.ops[gate]!))
        .sort((a, b) => ORDER.indexOf(this.ops[a]!) - ORDER.indexOf(this.ops[b]!));
    const longest = Math.max(1, ...this.layers.map(({ gates }) => gates.length));
    this.wide = Math.min(WIDE, (this.surface.width - LABEL) / longest);
    if (this.at !== undefined && passes(this.ops[this.at]!)) this.at = undefined;
  }

  private layerOf(gate: number): Layer | undefined {
    return this.layers.find(({ first, count: gates }) => gate >= first && gate < first + gates);
  }

  private under(event: PointerEvent): number | undefined {
    const box = this.canvas.getBoundingClientRect();
    const layer = this.layers[Math.floor((event.clientY - box.top) / ROW)];
    return layer?.gates[Math.floor((event.clientX - box.left - LABEL) / this.wide)];
  }

  private point(gate: number | undefined): void {
    if (gate === this.at) return;
    this.at = gate;
    this.updateText();
    this.draw();
  }

  private name(gate: number): void {
    const layer = this.layerOf(gate);
    if (!layer) return;
    const { name, plain } = OPS[this.ops[gate]!]!;
    const within = gate - layer.first;
    const kernels = layer.name.startsWith("K") ? (this.automaton?.kernels ?? 0) : 0;
    const kernel = kernels ? `, kernel ${Math.floor((within * kernels) / layer.count) + 1}` : "";
    write(this.named, `Gate ${within + 1} of ${layer.spoken}${kernel}: ${name} (${plain}), ${percent(this.certainty[gate]!)} certain.`);
  }

  private key(event: KeyboardEvent): void {
    if (modified(event)) return;
    const next = this.next(event);
    if (next === undefined) return;
    event.preventDefault();
    this.point(next);
  }

  /**
   * Returns the gate that a key selects. Home and End select the first and the last gate. Left and right arrows select the next gate in the
   * row; up and down arrows select a gate in the next row that has gates.
   */
  private next(event: KeyboardEvent): number | undefined {
    const rows = this.layers.map(({ gates }) => gates).filter(({ length }) => length);
    const row = rows.findIndex((gates) => gates.includes(this.at!));
    const arrow = arrowOf(event);
    if (event.key === "End") return rows.at(-1)?.at(-1);
    if (event.key === "Home" || (arrow && row < 0)) return rows[0]?.[0];
    if (!arrow) return undefined;
    const to = rows[clamp(row + arrow[1], 0, rows.length - 1)]!;
    return to[clamp(rows[row]!.indexOf(this.at!) + arrow[0], 0, to.length - 1)];
  }

  // ---- drawing

  private draw(): void {
    const c = this.surface.begin();
    if (!this.ops.length) return;
    c.font = font(12);
    c.textBaseline = "middle";
    this.layers.forEach(({ name, gates }, row) => {
      const y = row * ROW;
      c.globalAlpha = 1;
      c.fillStyle = palette.muted;
      c.fillText(name, 0, y + ROW / 2);
      gates.forEach((gate, k) => this.square(c, gate, LABEL + k * this.wide, y + (ROW - TALL) / 2));
    });
    c.globalAlpha = 1;
    const row = this.layers.findIndex(({ gates }) => gates.includes(this.at!));
    if (row < 0) return;
    pen(c, palette.ink, 2);
    c.strokeRect(LABEL + this.layers[row]!.gates.indexOf(this.at!) * this.wide - 1, row * ROW + 1, this.wide + 1, ROW - 2);
  }

  private square(c: CanvasRenderingContext2D, gate: number, x: number, y: number): void {
    const op = this.ops[gate]!;
    const { colour, opposite } = opColour(op);
    const wide = this.wide - (this.wide > 4 ? 1 : 0);
    const out = this.picked !== undefined && op !== this.picked;
    c.globalAlpha = out ? 0.08 : 0.12 + 0.88 * this.certainty[gate]!;
    c.fillStyle = colour;
    c.fillRect(x, y, wide, TALL);
    if (!opposite || wide < 5 || out) return;
    c.globalAlpha = 1;
    c.fillStyle = palette.raised;
    c.fillRect(x + wide / 2 - 1.5, y + TALL / 2 - 1.5, 3, 3);
  }
}
