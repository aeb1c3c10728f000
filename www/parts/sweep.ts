// A small sweep: one knob under a few values and seeds, all learning at once in front of the visitor. It sends what is
// wished and draws what comes back; the learners live in the worker.

import type { Config, Knob, RoomInfo, SweepCell, SweepSpec, Value, Variant } from "../run/protocol";
import type { SweepState } from "../run/client";
import { copyField } from "./dialog";
import { h, id, write } from "./dom";
import { exact, exactText, figure, short } from "./format";
import { quoted } from "./shell";
import { Table } from "./table";
import "./sweep.css";

const SVG = "http://www.w3.org/2000/svg";
const PLOT = { width: 200, height: 84, pad: 4 };
/** Of the first counter, where the room says nothing better. */
const BUDGETS = [1_000, 10_000, 100_000, 1_000_000];
/** A logarithmic knob is varied from a fifth of its value to five times it, another by a fifth of its range. */
const FACTOR = 5;
const PART = 0.2;
const WRITE_MS = 1000;
/** What stands for a knob where variants are compared. */
export const VARIANT = "variant";

export type Wishes = {
  start(spec: SweepSpec): void;
  end(): void;
  /** A new run with that value. */
  use(knob: string, value: Value): void;
  say(text: string): void;
};

type Card = {
  value: Value;
  element: HTMLElement;
  goal: SVGLineElement;
  band: SVGPathElement;
  mean: SVGPathElement;
  lines: SVGPathElement[];
  marks: SVGCircleElement[];
  done: HTMLProgressElement;
  words: HTMLElement;
};
type Point = { at: number; mean: number; low: number; high: number };

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Of several curves at each place that any of them tells and all of them reach: the mean, and how far about it. */
export function over(curves: [number, number][][], error: boolean): Point[] {
  const told = curves.filter((curve) => curve.length > 0);
  if (told.length < 2) return [];
  const from = Math.max(...told.map((curve) => curve[0]![0]));
  const to = Math.min(...told.map((curve) => curve.at(-1)![0]));
  const places = [...new Set([from, to, ...told.flatMap((curve) => curve.map(([at]) => at))])]
    .filter((at) => at >= from && at <= to)
    .sort((a, b) => a - b);
  return places.map((at) => {
    const values = told.map((curve) => {
      const next = curve.findIndex(([place]) => place >= at);
      const [x1, y1] = curve[next]!;
      const [x0, y0] = curve[Math.max(0, next - 1)]!;
      return x1 === x0 ? y1 : y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
    });
    const n = values.length;
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const half = error ? Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1) / n) : 0;
    return { at, mean, low: error ? mean - half : Math.min(...values), high: error ? mean + half : Math.max(...values) };
  });
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
  private readonly count = h(
    "select",
    { id: id("sweep-count") },
    ...[3, 4, 5].map((n) => h("option", { value: n, selected: n === 5 }, String(n))),
  );
  private readonly seeds = h(
    "select",
    { id: id("sweep-seeds") },
    ...[1, 2, 3].map((n) => h("option", { value: n, selected: n === 3 }, String(n))),
  );
  private readonly budget = h("select", { id: id("sweep-budget") });
  private readonly spread = h(
    "select",
    { id: id("sweep-band") },
    h("option", { value: "range" }, "least to greatest"),
    h("option", { value: "error" }, "± standard error"),
  );
  private readonly ends: HTMLElement[];
  private readonly bandField: HTMLElement;
  private readonly error = h("p", { class: "error", role: "alert" });
  private readonly startButton = h("button", { type: "submit", class: "strong" }, "Start the sweep");
  private readonly endButton = h("button", { type: "button", hidden: true }, "Stop");
  private readonly status = h("p", { class: "small" });
  private readonly grid = h("ul", { class: "sweep-grid", "aria-label": "Learners by value" });
  private readonly command = h("div");
  private readonly table: Table;
  private knobs: Knob[] = [];
  private values: Record<string, Value> = {};
  private config: Config | undefined;
  private variant: Variant | undefined;
  /** About the least and the greatest value that is drawn; undefined follows the curves. */
  private scale: [number, number] | undefined;
  private spec: SweepSpec | undefined;
  private cards: Card[] = [];
  private cells: SweepCell[] = [];
  private running = false;
  private wroteMs = 0;
  private budgetChosen = false;

  constructor(
    private readonly room: RoomInfo,
    private readonly wishes: Wishes,
    private readonly budgets: number[] = BUDGETS,
    /** Whether two variants can be told which is better. */
    private readonly comparable: (a: Variant, b: Variant) => boolean = () => false,
  ) {
    const field = (label: string, input: HTMLElement): HTMLElement =>
      h("p", { class: "field" }, h("label", { for: input.id }, label), input);
    const unit = this.unit.charAt(0).toUpperCase() + this.unit.slice(1);
    this.budget.append(...budgets.map((n, k) => h("option", { value: n, selected: k === 1 }, short(n))));
    this.ends = [field("From", this.from), field("To", this.to), field("Values", this.count)];
    this.table = new Table("The sweep", ["Value", "Seed", unit, "Last test", "Solved after", "Mean over seeds"], () =>
      this.cells.map((cell) => [
        exactText(cell.value),
        String(cell.seed),
        short(cell.progress.counts[0] ?? 0),
        cell.curve.length ? figure(cell.curve.at(-1)![1]) : "",
        cell.diverged ? "diverged" : cell.solved_at === null ? "" : `${short(cell.solved_at)} ${this.unit}`,
        this.overSeeds(cell.value),
      ]),
    );
    this.table.caption.textContent = "Each learner of the sweep";
    this.table.button.hidden = true;
    const form = h(
      "form",
      { class: "sweep-form" },
      field("Knob", this.knob),
      ...this.ends,
      field("Seeds each", this.seeds),
      field(`${unit} each`, this.budget),
      h("p", { class: "row" }, this.startButton, this.endButton),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    this.bandField = field("Band over the seeds", this.spread);
    this.bandField.hidden = true;
    this.spread.addEventListener("change", () => {
      this.draw(this.cells);
      this.table.renew();
    });
    this.knob.addEventListener("change", () => this.suggest());
    for (const input of [this.from, this.to, this.count, this.seeds, this.budget])
      input.addEventListener("change", () => this.writeCommand());
    this.budget.addEventListener("change", () => (this.budgetChosen = true));
    this.endButton.addEventListener("click", () => {
      this.wishes.end();
      this.ended("Stopped.");
    });
    this.element = h(
      "div",
      { class: "sweep" },
      h(
        "p",
        { class: "small" },
        "The same run under several values of one knob, each with its own seeds, all learning at once. The run above pauses meanwhile.",
      ),
      form,
      this.error,
      h("div", { class: "row spread" }, this.status, this.table.button),
      this.bandField,
      this.grid,
      this.table.element,
      this.command,
    );
  }

  private get unit(): string {
    const [counter] = this.room.counters;
    return counter!.unit || counter!.label.toLowerCase();
  }

  /** Learners train, and the run waits for them. */
  get active(): boolean {
    return this.running;
  }

  /** A run has begun: its settings are what a sweep varies. */
  begin(config: Config, variant: Variant, knobs: Knob[], values: Record<string, Value>, scale: [number, number] | undefined): void {
    const another = variant.id !== this.variant?.id;
    if (another) {
      this.bandField.hidden = true;
      if (this.running) this.wishes.end();
      this.ended("");
      this.cards = [];
      this.cells = [];
      this.budgetChosen = false;
      this.budget.value = String(this.budgets[Math.min(1, this.budgets.length - 1)]);
      this.spec = undefined;
      this.grid.replaceChildren();
      this.table.clear();
      this.table.button.hidden = true;
    }
    this.config = config;
    this.variant = variant;
    this.scale = scale;
    this.values = values;
    // Of a text there is no next value.
    this.knobs = [...this.variants(variant), ...knobs.filter(({ kind }) => kind.kind !== "bool" && kind.kind !== "text")];
    if (!another && this.knob.options.length === this.knobs.length) {
      this.writeCommand();
      return;
    }
    const chosen = this.knob.value;
    const first = this.knobs[0]?.name === VARIANT ? VARIANT : "lr";
    this.knob.replaceChildren(
      ...this.knobs.map(({ name, label }) => h("option", { value: name, selected: name === (chosen || first) }, label)),
    );
    this.suggest();
  }

  /** The room's variants beside this one, as if they were a knob. */
  private variants(variant: Variant): Knob[] {
    const options = this.room.variants
      .filter((other) => this.comparable(variant, other))
      .map(({ id: name, name: label }) => ({ name, label }));
    const word = this.room.variant_word;
    if (options.length < 2) return [];
    return [
      {
        name: VARIANT,
        label: word.charAt(0).toUpperCase() + word.slice(1),
        kind: { kind: "choice", options },
        default: variant.id,
        unit: "",
        help: "",
        live: false,
      },
    ];
  }

  /** So much solves the present run: about as much is a fair length for each learner. */
  solvedAfter(count: number): void {
    if (this.running || this.budgetChosen) return;
    const fair = this.budgets.find((each) => each >= 1.2 * count) ?? this.budgets.at(-1)!;
    this.budget.value = String(fair);
    this.writeCommand();
  }

  take({ cells, done }: SweepState): void {
    if (!this.running) return;
    this.cells = cells;
    this.draw(cells);
    const now = performance.now();
    if (now - this.wroteMs > WRITE_MS || done) {
      this.wroteMs = now;
      write(this.status, `${cells.length} learners, ${Math.round(100 * this.share(cells))}% of their ${this.unit}.`);
      this.table.refresh();
    }
    if (!done) return;
    if (cells.length === 0) {
      this.ended("");
      return;
    }
    const best = this.best(cells);
    const solved = cells.filter((cell) => cell.solved_at !== null).length;
    const so = this.variant?.goal ? `${solved} of ${cells.length} learners solved it` : `${cells.length} learners`;
    const words = `Done: ${so}${best === undefined ? "." : `; ${exactText(best)} was the best value.`}`;
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
    const kind = knob?.kind;
    for (const end of this.ends) end.hidden = kind?.kind === "choice";
    if (knob && (kind?.kind === "float" || kind?.kind === "int")) {
      const { min, max, log } = kind;
      const now = Number(this.values[knob.name] ?? knob.default);
      const around = log && now > 0 ? [now / FACTOR, now * FACTOR] : [now - PART * (max - min), now + PART * (max - min)];
      const [low, high] = around.map((value) => tidy(knob, Math.max(min, Math.min(max, value)))) as [number, number];
      this.from.value = exact(low);
      this.to.value = exact(high);
    }
    this.writeCommand();
  }

  private wanted(): SweepSpec | string {
    const knob = this.current();
    const { config } = this;
    if (!knob || !config) return "Choose a knob.";
    // The native program counts seeds from 1, so that its sweep is the same.
    const spec = (values: Value[]): SweepSpec => ({
      config: { ...config, seed: 1 },
      knob: knob.name,
      values,
      seeds: Number(this.seeds.value),
      budget: Number(this.budget.value),
    });
    const { kind } = knob;
    if (kind.kind === "choice") return spec(kind.options.map(({ name }) => name));
    if (kind.kind !== "float" && kind.kind !== "int") return "Choose a knob.";
    const { min, max, log } = kind;
    const [from, to, count] = [this.from.valueAsNumber, this.to.valueAsNumber, Number(this.count.value)];
    const fits = (value: number): boolean => Number.isFinite(value) && value >= min && value <= max;
    if (!fits(from) || !fits(to) || from >= to) return `Give two numbers from ${exact(min)} to ${exact(max)}, the smaller one first.`;
    const even = (k: number): number =>
      log && from > 0 ? from * (to / from) ** (k / (count - 1)) : from + ((to - from) * k) / (count - 1);
    const values = [...new Set(Array.from({ length: count }, (_, k) => tidy(knob, even(k))))];
    if (values.length < 2) return "These ends are too close for several values; set them further apart.";
    return spec(values);
  }

  private writeCommand(): void {
    const wanted = this.wanted();
    if (typeof wanted === "string") return;
    const { config, knob, values, seeds, budget } = wanted;
    const set = Object.entries(config.knobs)
      .filter(([name]) => name !== knob)
      .map(([name, value]) => ` --set ${quoted(`${name}=${value}`)}`)
      .join("");
    const command =
      `cargo run --release -- sweep ${config.room} --variant ${quoted(config.variant)} --knob ` +
      `${quoted(`${knob}=${values.join(",")}`)} --seeds ${seeds} --steps ${budget}${set}`;
    this.command.replaceChildren(
      h("p", { class: "small" }, "The same sweep at the full speed of this machine:"),
      copyField("Sweep command", command),
    );
  }

  private start(): void {
    const wanted = this.wanted();
    this.error.textContent = typeof wanted === "string" ? wanted : "";
    if (typeof wanted === "string") return;
    this.writeCommand();
    this.spec = wanted;
    this.running = true;
    this.startButton.disabled = true;
    this.endButton.hidden = this.table.button.hidden = false;
    this.bandField.hidden = wanted.seeds < 2;
    this.cells = [];
    this.cards = wanted.values.map((value) => this.card(wanted, value));
    this.grid.replaceChildren(...this.cards.map(({ element }) => element));
    this.table.refresh();
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

  private card(spec: SweepSpec, value: Value): Card {
    const { width, height } = PLOT;
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Curves of ${exactText(value)}` });
    const goal = svg("line", { class: "threshold", x1: 0, y1: 0, x2: width, y2: 0 });
    drawing.append(svg("line", { class: "floor", x1: 0, y1: height - 0.5, x2: width, y2: height - 0.5 }), goal);
    goal.toggleAttribute("hidden", !this.variant?.goal);
    const [band, mean] = [svg("path", { class: "seeds" }), svg("path", { class: "mean" })];
    const lines = Array.from({ length: spec.seeds }, () => svg("path", { class: "curve" }));
    const marks = Array.from({ length: spec.seeds }, () => svg("circle", { class: "solved", r: 3.4, cx: -20, cy: 0 }));
    drawing.append(band, ...lines, mean, ...marks);
    drawing.classList.toggle("several", spec.seeds > 1);
    const done = h("progress", { max: 1, value: 0, "aria-label": `Progress of ${exactText(value)}` });
    const words = h("p", { class: "small" });
    const label = this.current()?.label ?? spec.knob;
    const use = h(
      "button",
      {
        type: "button",
        class: "small",
        "aria-label": `Use ${label} ${exactText(value)} in a new run`,
        onclick: () => this.wishes.use(spec.knob, value),
      },
      "Use this value",
    );
    return {
      value,
      goal,
      band,
      mean,
      lines,
      marks,
      done,
      words,
      element: h(
        "li",
        {},
        h("p", { class: "sweep-value" }, h("span", { class: "small" }, label), " ", h("strong", {}, exactText(value))),
        drawing,
        done,
        words,
        use,
      ),
    };
  }

  private y(value: number, [low, high]: [number, number]): number {
    const share = Math.max(-0.04, Math.min(1.02, (value - low) / Math.max(1e-9, high - low)));
    return PLOT.pad + (PLOT.height - 2 * PLOT.pad) * (1 - share);
  }

  /** What all cards show, the goal among it. */
  private range(cells: SweepCell[]): [number, number] {
    if (this.scale) return this.scale;
    const goal = this.variant?.goal?.at;
    const all = [...cells.flatMap(({ curve }) => curve.map(([, value]) => value)), ...(goal === undefined ? [] : [goal])];
    return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  }

  private draw(cells: SweepCell[]): void {
    const range = this.range(cells);
    const goal = this.variant?.goal?.at ?? range[1];
    if (!this.spec) return;
    const { budget } = this.spec;
    const x = (count: number): number => (PLOT.width * Math.min(1, count / budget)) | 0;
    const path = (points: [number, number][]): string =>
      points.map(([at, value], k) => `${k ? "L" : "M"}${x(at)} ${this.y(value, range).toFixed(1)}`).join("");
    for (const card of this.cards) {
      const own = cells.filter((cell) => cell.value === card.value);
      for (const end of ["y1", "y2"]) card.goal.setAttribute(end, String(this.y(goal, range)));
      const seeds = this.over(own);
      const edge = [
        ...seeds.map(({ at, high }): [number, number] => [at, high]),
        ...seeds.map(({ at, low }): [number, number] => [at, low]).reverse(),
      ];
      card.band.setAttribute("d", edge.length ? `${path(edge)}Z` : "");
      card.mean.setAttribute("d", path(seeds.map(({ at, mean }) => [at, mean])));
      card.done.value = this.share(own);
      card.done.hidden = card.done.value >= 1;
      own.forEach((cell, k) => {
        card.lines[k]?.setAttribute("d", path(cell.curve));
        if (cell.solved_at === null) return;
        card.marks[k]?.setAttribute("cx", String(x(cell.solved_at)));
        card.marks[k]?.setAttribute("cy", String(this.y(goal, range)));
      });
      write(card.words, this.words(own));
    }
  }

  /** How much of what the learners are given they have done. */
  private share(cells: SweepCell[]): number {
    const { budget } = this.spec!;
    const done = cells.reduce((sum, cell) => sum + (cell.done ? budget : Math.min(budget, cell.progress.counts[0] ?? 0)), 0);
    return done / Math.max(1, cells.length * budget);
  }

  private over(own: SweepCell[]): Point[] {
    return over(
      own.map(({ curve }) => curve),
      this.spread.value === "error",
    );
  }

  /** Where the seeds of a value are, as far as all of them have come. */
  private overSeeds(value: Value): string {
    const last = this.over(this.cells.filter((cell) => cell.value === value)).at(-1);
    if (!last) return "";
    const { at, mean, low, high } = last;
    const about = this.spread.value === "error" ? ` ± ${figure(high - mean)}` : `, ${figure(low)} to ${figure(high)}`;
    return `${figure(mean)}${about} at ${short(at)}`;
  }

  private words(own: SweepCell[]): string {
    if (own.length && own.every(({ curve, diverged }) => curve.length === 0 && !diverged))
      return (
        `${short(Math.max(...own.map(({ progress }) => progress.counts[0] ?? 0)))} of ${short(this.spec!.budget)} ${this.unit}; ` +
        `no test yet`
      );
    const solved = own.flatMap((cell) => (cell.solved_at === null ? [] : [cell.solved_at]));
    const diverged = own.filter((cell) => cell.diverged).length;
    const last = own.flatMap((cell) => cell.curve.at(-1)?.[1] ?? []);
    const parts = [
      solved.length
        ? `${solved.length} of ${own.length} solved, median ${short(median(solved))} ${this.unit}`
        : last.length
          ? `median ${figure(median(last))}`
          : "",
      diverged ? `${diverged} diverged` : "",
    ];
    return parts.filter(Boolean).join("; ");
  }

  /** The value that most seeds solved soonest, or else the one with the best last tests. */
  private best(cells: SweepCell[]): Value | undefined {
    const scores = this.spec!.values.map((value) => {
      const own = cells.filter((cell) => cell.value === value);
      const solved = own.flatMap((cell) => (cell.solved_at === null ? [] : [cell.solved_at]));
      const last = own.flatMap((cell) => cell.curve.at(-1)?.[1] ?? []);
      return {
        value,
        solved: solved.length,
        steps: solved.length ? median(solved) : Infinity,
        last: last.length ? median(last) : -Infinity,
      };
    });
    scores.sort((a, b) => b.solved - a.solved || (a.steps === b.steps ? b.last - a.last : a.steps - b.steps));
    return scores[0]?.value;
  }
}

/** Three digits, whole where the knob is. */
function tidy({ kind }: Knob, value: number): number {
  return kind.kind === "int" ? Math.round(value) : Number(value.toPrecision(3));
}
