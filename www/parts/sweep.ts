// A small sweep: several values of one knob with several seeds, trained simultaneously in the worker. This part of the page sends the
// request and shows the results.

import type { RoomInfo, SweepCell, SweepSpec, Value } from "../run/protocol";
import type { SweepState } from "../run/client";
import { h, labelled, write } from "./dom";
import { capital, exactText, figure, plural, short } from "./format";
import { SweepCards } from "./sweep-cards";
import { SweepForm, type Choices, type Varied } from "./sweep-form";
import { Table } from "./table";

const WRITE_MS = 1000;

export type SweepActions = {
  start(spec: SweepSpec): void;
  end(): void;
  /** Starts a new run with this value of the knob. */
  use(knob: string, value: Value): void;
  say(text: string): void;
};

export class Sweep {
  readonly element: HTMLElement;
  private readonly form: SweepForm;
  private readonly cards: SweepCards;
  private readonly table: Table;
  private readonly bandField: HTMLElement;
  private readonly error = h("p.error", { role: "alert" });
  private readonly startButton = h("button.strong", { type: "submit" }, "Start the sweep");
  private readonly endButton = h("button", { hidden: true }, "Stop");
  private readonly status = h("p.small");
  private readonly unit: string;
  private run: Varied | undefined;
  /** Limits of the vertical scale; undefined if the curves determine them. */
  private scale: [number, number] | undefined;
  private cells: SweepCell[] = [];
  /** True while the sweep runs, during which the run is paused. */
  running = false;
  private wroteMs = 0;

  constructor(
    room: RoomInfo,
    private readonly actions: SweepActions,
    choices: Choices = {},
  ) {
    const [counter] = room.counters;
    this.unit = plural(counter!);
    const unit = capital(this.unit);
    this.form = new SweepForm(room, unit, choices, [this.startButton, this.endButton], () => this.start());
    this.cards = new SweepCards(this.unit, actions.use);
    this.table = new Table("The sweep", ["Value", "Seed", unit, "Last test", "Solved after", "Mean over seeds"], () =>
      this.cells.map((cell) => this.row(cell)),
    );
    this.table.caption.textContent = "All runs of the sweep";
    this.table.button.hidden = true;
    this.bandField = labelled("Band around the mean", this.cards.spread);
    this.bandField.hidden = true;
    this.cards.spread.addEventListener("change", () => {
      this.cards.draw(this.cells);
      this.table.renew();
    });
    this.endButton.addEventListener("click", () => {
      this.actions.end();
      this.ended("Stopped.");
    });
    this.element = h("div.sweep", [
      h("p.small", ["Trains with several values of one knob, each with several seeds, side by side. The current run pauses meanwhile."]),
      this.form.element,
      this.error,
      h("div.row.spread", this.status, this.table.button),
      this.bandField,
      this.cards.element,
      this.table.element,
      this.form.command,
    ]);
  }

  /**
   * Sets the run whose settings the sweep varies. `scale` limits the vertical scale of the results; if it is undefined, the curves
   * determine the limits.
   */
  begin(run: Varied, scale: [number, number] | undefined): void {
    const another = run.variant.id !== this.run?.variant.id;
    if (another) this.clear();
    this.run = run;
    this.scale = scale;
    this.form.begin(run, another);
  }

  solvedAfter(count: number): void {
    if (!this.running) this.form.solvedAfter(count);
  }

  take({ cells, done }: SweepState): void {
    if (!this.running) return;
    this.cells = cells;
    this.cards.draw(cells);
    const now = performance.now();
    if (now - this.wroteMs > WRITE_MS || done) {
      this.wroteMs = now;
      write(this.status, `${cells.length} runs, ${Math.round(100 * this.cards.share(cells))}% of their ${this.unit} done.`);
      this.table.refresh();
    }
    if (done) this.done(cells);
  }

  private done(cells: SweepCell[]): void {
    if (cells.length === 0) return this.ended("");
    const best = this.cards.best(cells);
    const solved = cells.filter((cell) => cell.solved_at !== null).length;
    const outcome = this.run?.variant.goal ? `${solved} of ${cells.length} runs solved it` : `${cells.length} runs`;
    const words = `Done: ${outcome}${best === undefined ? "." : `; best value: ${exactText(best)}.`}`;
    this.cards.markBest(best);
    this.ended(words);
    this.actions.say(`Sweep finished. ${words}`);
  }

  private start(): void {
    const wanted = this.form.wanted();
    this.error.textContent = typeof wanted === "string" ? wanted : "";
    if (typeof wanted === "string") return;
    this.form.writeCommand();
    this.running = true;
    this.startButton.disabled = true;
    this.endButton.hidden = this.table.button.hidden = false;
    this.bandField.hidden = wanted.seeds < 2;
    this.cells = [];
    this.cards.begin({ spec: wanted, label: this.form.label ?? wanted.knob, goal: this.run?.variant.goal?.at, scale: this.scale });
    this.table.refresh();
    write(this.status, `Starting ${wanted.values.length * wanted.seeds} runs.`);
    this.actions.start(wanted);
    this.actions.say("Sweep started; the run is paused.");
  }

  private ended(words: string): void {
    this.running = false;
    this.startButton.disabled = false;
    this.endButton.hidden = true;
    write(this.status, words);
  }

  private clear(): void {
    if (this.running) this.actions.end();
    this.ended("");
    this.cells = [];
    this.cards.clear();
    this.table.clear();
    this.bandField.hidden = this.table.button.hidden = true;
  }

  private row(cell: SweepCell): string[] {
    return [
      exactText(cell.value),
      String(cell.seed),
      short(cell.progress.counts[0] ?? 0),
      cell.curve.length ? figure(cell.curve.at(-1)![1]) : "",
      cell.diverged ? "diverged" : cell.solved_at === null ? "" : `${short(cell.solved_at)} ${this.unit}`,
      this.cards.overSeeds(this.cells, cell.value),
    ];
  }
}
