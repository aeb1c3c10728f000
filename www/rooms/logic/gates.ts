// All gates of a member as coloured squares, layer by layer. A square's colour shows the most probable operation of its gate, the opacity
// the probability of this operation. Gates settle from soft to hard as the member learns.

import { pen } from "../../parts/canvas";
import { h, pane, write } from "../../parts/dom";
import { count } from "../../parts/format";
import { animate, Surface, touch } from "../../parts/loop";
import { onTheme, palette } from "../../parts/theme";
import { floats } from "../../run/floats";
import { Asker } from "../shared/asking";
import { clamp, modified } from "../shared/keys";
import type { Chosen, LogicClient } from "./client";
import { opColour } from "./colours";
import { OPS } from "./ops";
import type { AutomatonView } from "./protocol";

const ASK_EVERY_MS = 500;
const GAP = 12;
const LABEL = 14;
const MOST_HEIGHT = 330;
const SETTLED = 0.9;

/** Block of squares for the gates of a layer. `first` is the index of its first gate; `x` and `y` are its position. */
type Block = { name: string; spoken: string; first: number; count: number; columns: number; x: number; y: number };

const percent = (share: number): string => `${Math.round(100 * share)}%`;

export class GatesPane {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas.gates-picture", { role: "application", tabindex: 0 });
  private readonly now = h("output.number");
  private readonly named = h("p.small.gate-named", { role: "status" });
  private readonly legend: { button: HTMLButtonElement; count: HTMLElement }[];
  private readonly surface: Surface;
  private automaton: AutomatonView | undefined;
  private ops: Uint8Array = new Uint8Array();
  private certainty = new Float32Array();
  private blocks: Block[] = [];
  private cell = 6;
  /** Index of the selected gate. */
  private at: number | undefined;
  /** Operation that the legend highlights; undefined if none. */
  private picked: number | undefined;
  private readonly asker = new Asker();

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
  ) {
    this.legend = OPS.map(({ name, plain }, op) => {
      const number = h("span.op-count");
      const button = h("button.quiet.small.op", { "aria-pressed": "false", title: `${name}: ${plain}`, onclick: () => this.pick(op) }, [
        h("span.op-swatch", { "aria-hidden": "true" }),
        h("span.op-name", name),
        h("span.unseen", `, ${plain}: `),
        number,
      ]);
      return { button, count: number };
    });
    this.element = pane(
      "gates",
      "Gates",
      [this.now],
      [
        h("p.about", [
          "One square per gate: colour = operation, opacity = certainty. Kernels (K) read neighbours; update layers (U) compute the state.",
        ]),
        this.canvas,
        this.named,
        h("div.ops", { role: "group", "aria-label": "Operations and their number of gates; press one to highlight its gates" }, [
          this.legend.map(({ button }) => button),
        ]),
      ],
    );
    this.surface = new Surface(this.canvas, () => this.layOut());
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
    this.updateText();
    this.draw();
  }

  setAutomaton(automaton: AutomatonView): void {
    this.automaton = automaton;
    this.layOut();
    this.ask();
  }

  changed(): void {
    this.ask();
  }

  private ask(): void {
    if (!this.automaton) return;
    this.asker.ask(
      () => this.client.ask({ ask: "gates", member: this.chosen.member }),
      ({ ops, certainty }) => {
        this.ops = ops;
        this.certainty = Float32Array.from(floats(certainty));
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
    this.legend.forEach(({ count: number }, op) => write(number, count(counts[op]!)));
    const all = this.ops.length;
    write(this.now, all ? `${percent(settled / all)} settled` : "");
    const most = counts.map((n, op) => ({ n, op })).sort((a, b) => b.n - a.n);
    const words = all
      ? `${count(all)} gates, ${percent(settled / all)} settled; most are ${most
          .slice(0, 3)
          .map(({ n, op }) => `${OPS[op]!.name} (${count(n)})`)
          .join(", ")}. Arrow keys move between gates.`
      : "nothing yet";
    this.canvas.setAttribute("aria-label", `Gates: ${words}`);
    if (this.at === undefined)
      write(
        this.named,
        all ? (touch() ? "Touch a gate to see its operation." : "Point at a gate or use the arrow keys to see its operation.") : "",
      );
    else this.name(this.at);
  }

  private pick(op: number): void {
    this.picked = this.picked === op ? undefined : op;
    this.legend.forEach(({ button }, k) => button.setAttribute("aria-pressed", String(k === this.picked)));
    this.draw();
  }

  private recolour(): void {
    this.legend.forEach(({ button }, op) => {
      const { colour, opposite } = opColour(op);
      button.style.setProperty("--op", colour);
      button.classList.toggle("opposite", opposite);
    });
    this.draw();
  }

  // ---- layout

  private layOut(): void {
    const { automaton } = this;
    const { width } = this.surface;
    if (!automaton || width === 0) return;
    const layers: Omit<Block, "first" | "x" | "y">[] = [
      ...automaton.perception.map((gates, k) => ({
        name: `K${k + 1}`,
        spoken: `kernel layer ${k + 1}`,
        count: automaton.kernels * gates,
        columns: automaton.kernels > 4 ? gates : automaton.kernels * Math.min(gates, 2),
      })),
      ...automaton.update.map((gates, k) => ({
        name: `U${k + 1}`,
        spoken: `update layer ${k + 1}`,
        count: gates,
        columns: 2 ** Math.ceil(Math.log2(Math.sqrt(gates))),
      })),
    ];
    let height = 0;
    for (this.cell = 9; this.cell >= 2; this.cell--) {
      let [x, y, low, first] = [0, 0, 0, 0];
      this.blocks = layers.map((layer) => {
        const [wide, tall] = [layer.columns * this.cell, LABEL + Math.ceil(layer.count / layer.columns) * this.cell];
        if (x > 0 && x + wide > width) [x, y, low] = [0, y + low + GAP / 2, 0];
        const block = { ...layer, first, x, y };
        x += wide + GAP;
        low = Math.max(low, tall);
        first += layer.count;
        return block;
      });
      height = y + low;
      if (height <= MOST_HEIGHT) break;
    }
    const style = `${height + 2}px`;
    if (this.canvas.style.height !== style) this.canvas.style.height = style;
    else this.draw();
  }

  private place(gate: number): { block: Block; x: number; y: number } | undefined {
    const block = this.blocks.find(({ first, count: gates }) => gate >= first && gate < first + gates);
    if (!block) return undefined;
    const k = gate - block.first;
    return { block, x: block.x + (k % block.columns) * this.cell, y: block.y + LABEL + Math.floor(k / block.columns) * this.cell };
  }

  private under(event: PointerEvent): number | undefined {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    for (const block of this.blocks) {
      const [column, row] = [Math.floor((x - block.x) / this.cell), Math.floor((y - block.y - LABEL) / this.cell)];
      const k = row * block.columns + column;
      if (column >= 0 && column < block.columns && row >= 0 && k < block.count) return block.first + k;
    }
    return undefined;
  }

  private point(gate: number | undefined): void {
    if (gate === this.at) return;
    this.at = gate;
    this.updateText();
    this.draw();
  }

  private name(gate: number): void {
    const found = this.place(gate);
    const op = this.ops[gate];
    if (!found || op === undefined) return;
    const { block } = found;
    const { automaton } = this;
    const within = gate - block.first;
    const kernel = block.name.startsWith("K") && automaton ? `, kernel ${Math.floor((within * automaton.kernels) / block.count) + 1}` : "";
    write(
      this.named,
      `Gate ${within + 1} of ${block.spoken}${kernel}: ${OPS[op]!.name} (${OPS[op]!.plain}), ${percent(this.certainty[gate]!)} certain.`,
    );
  }

  private key(event: KeyboardEvent): void {
    if (modified(event) || !this.ops.length) return;
    const at = this.at ?? 0;
    const columns = this.place(at)?.block.columns ?? 1;
    const way: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const jump: Record<string, number> = { Home: 0, End: this.ops.length - 1 };
    const next = event.key in jump ? jump[event.key]! : at + (way[event.key] ?? NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    this.point(this.at === undefined ? 0 : clamp(next, 0, this.ops.length - 1));
  }

  // ---- drawing

  private draw(): void {
    const c = this.surface.begin();
    if (!this.ops.length) return;
    const size = this.cell - (this.cell > 3 ? 1 : 0);
    c.font = `10.5px ${getComputedStyle(this.element).fontFamily}`;
    c.textBaseline = "top";
    for (const block of this.blocks) {
      c.globalAlpha = 1;
      c.fillStyle = palette.muted;
      c.fillText(block.name, block.x, block.y);
      for (let k = 0; k < block.count; k++) {
        const gate = block.first + k;
        const op = this.ops[gate]!;
        const { colour, opposite } = opColour(op);
        const [x, y] = [block.x + (k % block.columns) * this.cell, block.y + LABEL + Math.floor(k / block.columns) * this.cell];
        const out = this.picked !== undefined && op !== this.picked;
        c.globalAlpha = out ? 0.06 : 0.12 + 0.88 * this.certainty[gate]!;
        c.fillStyle = colour;
        c.fillRect(x, y, size, size);
        if (opposite && size >= 4 && !out) {
          c.globalAlpha = 1;
          c.fillStyle = palette.paper;
          c.fillRect(x + size / 2 - 1, y + size / 2 - 1, 2, 2);
        }
      }
    }
    c.globalAlpha = 1;
    const found = this.at === undefined ? undefined : this.place(this.at);
    if (found) {
      pen(c, palette.ink, 2);
      c.strokeRect(found.x - 1.5, found.y - 1.5, size + 3, size + 3);
    }
  }
}
