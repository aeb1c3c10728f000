// A small sweep: one knob under a few values and seeds, all learning at once in front of the visitor. It sends what is
// wished and draws what comes back; the learners live in the worker.

import type { Config, Environment, Knob, SweepCell, SweepSpec } from "../../run/protocol";
import type { SweepState } from "../../run/client";
import { copyField } from "../../parts/dialog";
import { h, id, write } from "../../parts/dom";
import { exact, figure, short } from "../../parts/format";

const SVG = "http://www.w3.org/2000/svg";
const PLOT = { width: 200, height: 84, pad: 4 };
const STEPS = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
/** A logarithmic knob is varied from a fifth of its value to five times it, another by a fifth of its range. */
const FACTOR = 5;
const PART = 0.2;
const WRITE_MS = 1000;

export type Wishes = {
  start(spec: SweepSpec): void;
  end(): void;
  /** A new run with that value. */
  use(knob: string, value: number): void;
  say(text: string): void;
};

type Card = { value: number; element: HTMLElement; lines: SVGPathElement[]; marks: SVGCircleElement[]; words: HTMLElement };

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

const median = (numbers: number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
};

export class Sweep {
  readonly element: HTMLElement;
  private readonly knob = h("select", { id: id("sweep-knob") });
  private readonly from = h("input", { type: "number", id: id("sweep-from"), step: "any", inputmode: "decimal" });
  private readonly to = h("input", { type: "number", id: id("sweep-to"), step: "any", inputmode: "decimal" });
  private readonly count = h("select", { id: id("sweep-count") }, ...[3, 4, 5].map((n) => h("option", { value: n, selected: n === 5 }, String(n))));
  private readonly seeds = h("select", { id: id("sweep-seeds") }, ...[1, 2, 3].map((n) => h("option", { value: n, selected: n === 3 }, String(n))));
  private readonly steps = h("select", { id: id("sweep-steps") }, ...STEPS.map((n) => h("option", { value: n, selected: n === 300_000 }, short(n))));
  private readonly error = h("p", { class: "error", role: "alert" });
  private readonly startButton = h("button", { type: "submit", class: "strong" }, "Start the sweep");
  private readonly endButton = h("button", { type: "button", hidden: true }, "Stop");
  private readonly status = h("p", { class: "small" });
  private readonly grid = h("ul", { class: "sweep-grid", "aria-label": "Learners by value" });
  private readonly command = h("div");
  private readonly body = h("tbody");
  private readonly table: HTMLElement;
  private readonly tableButton: HTMLButtonElement;
  private knobs: Knob[] = [];
  private values: Record<string, number> = {};
  private config: Config | undefined;
  private environment: Environment | undefined;
  private spec: SweepSpec | undefined;
  private cards: Card[] = [];
  private running = false;
  private wroteMs = 0;
  private stepsChosen = false;

  constructor(private readonly wishes: Wishes) {
    const field = (label: string, input: HTMLElement): HTMLElement => h("p", { class: "field" }, h("label", { for: input.id }, label), input);
    const tableId = id("sweep-table");
    this.table = h(
      "div",
      { class: "scroll", id: tableId, hidden: true, tabindex: 0, role: "region", "aria-label": "The sweep as a table" },
      h(
        "table",
        {},
        h("caption", {}, "Each learner of the sweep"),
        h("thead", {}, h("tr", {}, ...["Value", "Seed", "Steps", "Last test", "Solved after"].map((title) => h("th", { scope: "col" }, title)))),
        this.body,
      ),
    );
    this.tableButton = h(
      "button",
      { type: "button", class: "quiet small", hidden: true, "aria-expanded": "false", "aria-controls": tableId, "aria-label": "The sweep as a table" },
      "Table",
    );
    this.tableButton.addEventListener("click", () => {
      this.table.hidden = !this.table.hidden;
      this.tableButton.setAttribute("aria-expanded", String(!this.table.hidden));
      this.tableButton.textContent = this.table.hidden ? "Table" : "Close table";
    });
    const form = h(
      "form",
      { class: "sweep-form" },
      field("Knob", this.knob),
      field("From", this.from),
      field("To", this.to),
      field("Values", this.count),
      field("Seeds each", this.seeds),
      field("Steps each", this.steps),
      h("p", { class: "row" }, this.startButton, this.endButton),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    this.knob.addEventListener("change", () => this.suggest());
    for (const input of [this.from, this.to, this.count, this.seeds, this.steps]) input.addEventListener("change", () => this.writeCommand());
    this.steps.addEventListener("change", () => (this.stepsChosen = true));
    this.endButton.addEventListener("click", () => {
      this.wishes.end();
      this.ended("Stopped.");
    });
    this.element = h(
      "div",
      { class: "sweep" },
      h("p", { class: "small" }, "The same run under several values of one knob, each with its own seeds, all learning at once. The run above pauses meanwhile."),
      form,
      this.error,
      h("div", { class: "row spread" }, this.status, this.tableButton),
      this.grid,
      this.table,
      this.command,
    );
  }

  /** A run has begun: its settings are what a sweep varies. */
  begin(config: Config, environment: Environment, knobs: Knob[], values: Record<string, number>): void {
    const another = environment.id !== this.environment?.id;
    if (another) {
      if (this.running) this.wishes.end();
      this.ended("");
      this.cards = [];
      this.stepsChosen = false;
      this.steps.value = String(STEPS[1]);
      this.spec = undefined;
      this.grid.replaceChildren();
      this.body.replaceChildren();
      this.tableButton.hidden = this.table.hidden = true;
    }
    this.config = config;
    this.environment = environment;
    this.values = values;
    this.knobs = knobs.filter(({ kind }) => kind.kind !== "bool");
    if (!another && this.knob.options.length === this.knobs.length) {
      this.writeCommand();
      return;
    }
    const chosen = this.knob.value;
    this.knob.replaceChildren(...this.knobs.map(({ name, label }) => h("option", { value: name, selected: name === (chosen || "lr") }, label)));
    this.suggest();
  }

  /** So many steps solve the present run: about as many are a fair length for each learner. */
  solvedAfter(steps: number): void {
    if (this.running || this.stepsChosen) return;
    const fair = STEPS.find((each) => each >= 1.2 * steps) ?? STEPS.at(-1)!;
    this.steps.value = String(fair);
    this.writeCommand();
  }

  take({ cells, done }: SweepState): void {
    if (!this.running) return;
    this.draw(cells);
    const now = performance.now();
    if (now - this.wroteMs > WRITE_MS || done) {
      this.wroteMs = now;
      const steps = cells.reduce((sum, cell) => sum + (cell.done ? this.spec!.steps : Math.min(this.spec!.steps, cell.progress.env_steps)), 0);
      const share = steps / Math.max(1, cells.length * this.spec!.steps);
      write(this.status, `${cells.length} learners, ${Math.round(100 * share)}% of their steps.`);
      this.writeTable(cells);
    }
    if (!done) return;
    if (cells.length === 0) {
      this.ended("");
      return;
    }
    const best = this.best(cells);
    const solved = cells.filter((cell) => cell.solved_at !== null).length;
    const words = `Done: ${solved} of ${cells.length} learners solved it${best === undefined ? "." : `; ${exact(best)} was the best value.`}`;
    for (const card of this.cards) card.element.classList.toggle("best", card.value === best);
    this.ended(words);
    this.wishes.say(`The sweep is done. ${words}`);
  }

  private current(): Knob | undefined {
    return this.knobs.find(({ name }) => name === this.knob.value);
  }

  /** A range around the value in force. */
  private suggest(): void {
    const knob = this.current();
    if (!knob || knob.kind.kind === "bool") return;
    const { min, max, log } = knob.kind;
    const now = this.values[knob.name] ?? knob.default;
    const around = log && now > 0 ? [now / FACTOR, now * FACTOR] : [now - PART * (max - min), now + PART * (max - min)];
    const [low, high] = around.map((value) => tidy(knob, Math.max(min, Math.min(max, value)))) as [number, number];
    this.from.value = exact(low);
    this.to.value = exact(high);
    this.writeCommand();
  }

  private wanted(): SweepSpec | string {
    const knob = this.current();
    if (!knob || !this.config || knob.kind.kind === "bool") return "Choose a knob.";
    const { min, max, log } = knob.kind;
    const [from, to, count] = [this.from.valueAsNumber, this.to.valueAsNumber, Number(this.count.value)];
    const fits = (value: number): boolean => Number.isFinite(value) && value >= min && value <= max;
    if (!fits(from) || !fits(to) || from >= to) return `Give two numbers from ${exact(min)} to ${exact(max)}, the smaller one first.`;
    const even = (k: number): number => (log && from > 0 ? from * (to / from) ** (k / (count - 1)) : from + ((to - from) * k) / (count - 1));
    const values = [...new Set(Array.from({ length: count }, (_, k) => tidy(knob, even(k))))];
    if (values.length < 2) return "These ends are too close for several values; set them further apart.";
    // The native program counts seeds from 1, so that its sweep is the same.
    return { config: { ...this.config, seed: 1 }, knob: knob.name, values, seeds: Number(this.seeds.value), steps: Number(this.steps.value) };
  }

  private writeCommand(): void {
    const wanted = this.wanted();
    if (typeof wanted === "string") return;
    const { config, knob, values, seeds, steps } = wanted;
    const set = Object.entries(config.knobs)
      .filter(([name]) => name !== knob)
      .map(([name, value]) => ` --set ${name}=${value}`)
      .join("");
    const command = `cargo run --release -- sweep ${config.room} --env ${config.env} --knob ${knob}=${values.join(",")} --seeds ${seeds} --steps ${steps}${set}`;
    this.command.replaceChildren(h("p", { class: "small" }, "The same sweep at the full speed of this machine:"), copyField("Sweep command", command));
  }

  private start(): void {
    const wanted = this.wanted();
    this.error.textContent = typeof wanted === "string" ? wanted : "";
    if (typeof wanted === "string") return;
    this.writeCommand();
    this.spec = wanted;
    this.running = true;
    this.startButton.disabled = true;
    this.endButton.hidden = this.tableButton.hidden = false;
    this.cards = wanted.values.map((value) => this.card(wanted, value));
    this.grid.replaceChildren(...this.cards.map(({ element }) => element));
    this.body.replaceChildren();
    write(this.status, `${wanted.values.length * wanted.seeds} learners begin.`);
    this.wishes.start(wanted);
    this.wishes.say("The sweep begins; the run pauses.");
  }

  private ended(words: string): void {
    this.running = false;
    this.startButton.disabled = false;
    this.endButton.hidden = true;
    write(this.status, words);
  }

  private card(spec: SweepSpec, value: number): Card {
    const { width, height } = PLOT;
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Curves of ${exact(value)}` });
    const y = this.y(this.environment!.solved_at);
    drawing.append(
      svg("line", { class: "floor", x1: 0, y1: height - 0.5, x2: width, y2: height - 0.5 }),
      svg("line", { class: "threshold", x1: 0, y1: y, x2: width, y2: y }),
    );
    const lines = Array.from({ length: spec.seeds }, () => svg("path", { class: "curve" }));
    const marks = Array.from({ length: spec.seeds }, () => svg("circle", { class: "solved", r: 3.4, cx: -20, cy: 0 }));
    drawing.append(...lines, ...marks);
    const words = h("p", { class: "small" });
    const label = this.current()?.label ?? spec.knob;
    const use = h("button", { type: "button", class: "small", "aria-label": `Use ${label} ${exact(value)} in a new run`, onclick: () => this.wishes.use(spec.knob, value) }, "Use this value");
    return { value, lines, marks, words, element: h("li", {}, h("p", { class: "sweep-value" }, h("span", { class: "small" }, label), " ", h("strong", {}, exact(value))), drawing, words, use) };
  }

  private y(value: number): number {
    const [low, high] = this.environment!.returns;
    const share = Math.max(-0.04, Math.min(1.02, (value - low) / (high - low)));
    return PLOT.pad + (PLOT.height - 2 * PLOT.pad) * (1 - share);
  }

  private draw(cells: SweepCell[]): void {
    for (const card of this.cards) {
      const own = cells.filter((cell) => cell.value === card.value);
      own.forEach((cell, k) => {
        const x = (steps: number): number => (PLOT.width * Math.min(1, steps / this.spec!.steps)) | 0;
        card.lines[k]?.setAttribute("d", cell.curve.map(([steps, mean], at) => `${at ? "L" : "M"}${x(steps)} ${this.y(mean).toFixed(1)}`).join(""));
        if (cell.solved_at === null) return;
        card.marks[k]?.setAttribute("cx", String(x(cell.solved_at)));
        card.marks[k]?.setAttribute("cy", String(this.y(this.environment!.solved_at)));
      });
      write(card.words, this.words(own));
    }
  }

  private words(own: SweepCell[]): string {
    const solved = own.flatMap((cell) => (cell.solved_at === null ? [] : [cell.solved_at]));
    const diverged = own.filter((cell) => cell.diverged).length;
    const last = own.flatMap((cell) => cell.curve.at(-1)?.[1] ?? []);
    const parts = [
      solved.length ? `${solved.length} of ${own.length} solved, median ${short(median(solved))} steps` : last.length ? `median ${figure(median(last))}` : "",
      diverged ? `${diverged} diverged` : "",
    ];
    return parts.filter(Boolean).join("; ");
  }

  /** The value that most seeds solved soonest, or else the one with the best last tests. */
  private best(cells: SweepCell[]): number | undefined {
    const scores = this.spec!.values.map((value) => {
      const own = cells.filter((cell) => cell.value === value);
      const solved = own.flatMap((cell) => (cell.solved_at === null ? [] : [cell.solved_at]));
      const last = own.flatMap((cell) => cell.curve.at(-1)?.[1] ?? []);
      return { value, solved: solved.length, steps: solved.length ? median(solved) : Infinity, last: last.length ? median(last) : -Infinity };
    });
    scores.sort((a, b) => b.solved - a.solved || (a.steps === b.steps ? b.last - a.last : a.steps - b.steps));
    return scores[0]?.value;
  }

  private writeTable(cells: SweepCell[]): void {
    this.body.replaceChildren(
      ...cells.map((cell) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, exact(cell.value)),
          h("td", {}, String(cell.seed)),
          h("td", {}, short(cell.progress.env_steps)),
          h("td", {}, cell.curve.length ? figure(cell.curve.at(-1)![1]) : ""),
          h("td", {}, cell.diverged ? "diverged" : cell.solved_at === null ? "" : `${short(cell.solved_at)} steps`),
        ),
      ),
    );
  }
}

/** Three digits, whole where the knob is. */
function tidy({ kind }: Knob, value: number): number {
  return kind.kind === "int" ? Math.round(value) : Number(value.toPrecision(3));
}
