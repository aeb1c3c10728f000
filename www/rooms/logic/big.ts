// The circuit on a big grid at full speed, on the stage and in a tab. The tab shows more numbers. Cells are packed as bits into machine
// words, so that one instruction evaluates a gate for all cells of a word.

import type { Announcer } from "../../parts/announce";
import { button, h, icon, labelled, select, write } from "../../parts/dom";
import { count, short, two, words } from "../../parts/format";
import { animate, calm } from "../../parts/loop";
import { reveal } from "../../parts/tabs";
import { reason, Turns } from "../../parts/requests";
import { Cells } from "./cells";
import type { Chosen } from "./client";
import { cellColours, packed } from "./colours";
import type { BigView } from "./protocol";

const SIDES = [256, 512, 1024, 2048];
const SIDE = 1024;
/** Side length of the enlarged section of the grid, in cells. */
const LENS = 46;
/** Duration of one request to the worker. The training continues between two requests. */
const ASK_MS = 12;
/** Interval between two pictures with reduced motion. */
const CALM_MS = 1000;
const WRITE_EVERY_MS = 300;

export class BigPane {
  readonly element: HTMLElement;
  readonly stage: HTMLElement;
  /** Pictures of the grid: in the tab and on the stage. */
  private readonly pictures = [0, 1].map(() => new Cells("The big grid", undefined, () => this.paint()));
  private readonly lens = new Cells("The middle, enlarged");
  private readonly figure = h("div.big-picture", { hidden: true });
  private readonly runButtons = ["strong", ""].map((kind) => h("button", { class: kind, onclick: () => this.run(!this.running) }));
  private readonly size = select(
    "big-size",
    SIDES.map((side) => [side, `${count(side)}x${count(side)}`]),
    SIDE,
  );
  private readonly readouts = { step: h("dd"), steps: h("dd"), cells: h("dd"), gates: h("dd") };
  private readonly onStage = { cells: h("output.stage-value"), about: h("span.small"), steps: h("p.small") };
  private readonly meaning = h("p.big-meaning");
  private readonly errors = [0, 1].map(() => h("p.error", { role: "alert" }));
  private view: BigView | undefined;
  private running = false;
  private renew = true;
  private done = false;
  private asking = false;
  private readonly lastMs = { shown: 0, written: 0 };
  private readonly speed = new Speed();
  private readonly grids = new Turns();

  constructor(
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
  ) {
    this.size.addEventListener("change", () => this.again());
    const readout = (term: string, value: HTMLElement): HTMLElement => h("div", h("dt", term), value);
    const [shown, staged] = this.pictures;
    const [run, runStage] = this.runButtons;
    const [error, errorStage] = this.errors;
    this.figure.append(shown!.element);
    this.element = h("div.big", [
      h("p.small", [
        "The hardened and reduced circuit of the selected member runs on a grid of random cells without edges. It learned on a much " +
          "smaller grid, but its rule is local and works at any size.",
      ]),
      h("div.row.foot", [run, button("New random cells", () => this.again()), labelled("Grid", this.size)]),
      error,
      this.figure,
      h("dl.circuit-counts.wrap", [
        readout("Step", this.readouts.step),
        readout("Steps per second", this.readouts.steps),
        readout("Cells per second", this.readouts.cells),
        readout("Gates per second", this.readouts.gates),
      ]),
      this.meaning,
    ]);
    const { cells, about, steps } = this.onStage;
    const picture = h("div.stage-picture", staged!.element);
    this.stage = h("section.stage-part.big-stage", { "aria-label": "A million cells" }, [
      picture,
      h("div.stage-facts", [
        h("p", cells, about),
        steps,
        errorStage,
        h("figure.lens", this.lens.element, h("figcaption.small", "The middle, enlarged")),
      ]),
      h("div.stage-actions", [runStage, button("New cells", () => this.again()), button("Sizes and speeds", () => reveal(this.element))]),
    ]);
    this.showRunning();
    for (const place of [this.element, picture]) animate(place, (nowMs) => this.tick(nowMs));
  }

  begin(): void {
    this.view = undefined;
    this.figure.hidden = true;
    write(this.meaning, "");
    this.renewed();
    for (const value of Object.values(this.readouts)) write(value, "–");
    this.writeOnStage();
    this.run(false);
  }

  /** Starts the grid, unless it has begun already. */
  start(): void {
    if (!this.view?.step) this.run(true);
  }

  private run(running: boolean): void {
    this.running = running;
    this.speed.since(this.view?.step ?? 0);
    this.fail("");
    this.showRunning();
    if (!running && this.view) this.announcer.say(this.spoken(), "big");
  }

  private fail(words: string): void {
    for (const error of this.errors) write(error, words);
  }

  private renewed(): void {
    this.grids.take();
    this.speed.clear();
    this.renew = true;
  }

  private again(): void {
    this.renewed();
    this.run(true);
  }

  private showRunning(): void {
    for (const button of this.runButtons)
      button.replaceChildren(icon(this.running ? "pause" : "play"), this.running ? "Pause the circuit" : "Run the circuit");
  }

  private tick(nowMs: number): void {
    // The first random cells are shown before the grid runs. After an error, they wait for the next run.
    const isNew = this.renew && !this.errors[0]!.textContent;
    if (this.asking || !(this.running || isNew)) return;
    this.asking = true;
    // If the grid runs a circuit that still learns, the grid restarts as soon as the chosen circuit no longer learns.
    if (!this.done && this.chosen.done) this.renew = true;
    if (this.renew) this.done = this.chosen.done;
    const { renew } = this;
    this.renew = false;
    const stale = this.grids.stale();
    void this.question(renew)
      .then((view) => stale() || this.take(view, renew, nowMs))
      .catch((error: unknown) => {
        if (stale()) return;
        this.run(false);
        this.fail(reason(error));
        this.renew = true;
      })
      .finally(() => (this.asking = false));
  }

  private question(renew: boolean): Promise<BigView> {
    if (!renew) return this.chosen.ask({ ask: "big_advance", ms: ASK_MS });
    const side = Number(this.size.value);
    const seed = Math.floor(Math.random() * 2 ** 32);
    return this.chosen.ask({ ask: "big", width: side, height: side, seed, member: this.chosen.member });
  }

  private take(view: BigView, fresh: boolean, nowMs: number): void {
    this.view = view;
    if (fresh) this.speed.since(view.step);
    else this.speed.measure(view);
    this.figure.hidden = false;
    if (fresh || !calm() || nowMs - this.lastMs.shown > CALM_MS) {
      this.lastMs.shown = nowMs;
      this.paint();
    }
    this.writeReadouts();
  }

  private writeReadouts(): void {
    const now = performance.now();
    const { view } = this;
    if (!view || (now - this.lastMs.written < WRITE_EVERY_MS && this.readouts.step.textContent !== "–")) return;
    this.lastMs.written = now;
    const { steps, cells, gates } = this.speed;
    write(this.readouts.step, count(view.step));
    if (this.speed.known) write(this.readouts.steps, steps < 10 ? steps.toFixed(1) : short(steps));
    write(this.readouts.cells, cells ? short(cells) : "–");
    write(this.readouts.gates, cells ? short(gates) : "–");
    write(this.meaning, this.spoken());
    for (const cells of this.pictures) cells.label(`The big grid, ${view.width} by ${view.height} cells, at step ${count(view.step)}`);
    this.writeOnStage();
    this.element.dataset.step = String(view.step);
  }

  private writeOnStage(): void {
    const { onStage, view } = this;
    const { cells, gates } = this.speed;
    write(onStage.cells, cells ? short(cells) : "–");
    write(onStage.about, "cells a second");
    const gatesText = view?.gates === 0 ? "The circuit has no gates yet: each cell copies a cell" : `${short(gates)} gates a second`;
    write(onStage.steps, view && cells ? `${gatesText}; step ${count(view.step)}` : "");
  }

  private spoken(): string {
    const { view } = this;
    if (!view || this.speed.cells === 0) return "";
    const { cells, gates } = this.speed;
    if (view.gates === 0) return "This circuit has no gates yet; it only copies cells. Let it learn, then run it again.";
    return (
      `Running ${words(cells)} cells a second, ${count(view.gates)} gates each: ${words(gates)} gates a second. ` +
      `One instruction evaluates a gate for 64 or more bit-packed cells, so a step of ` +
      `${words(view.width * view.height)} cells takes about ${time((view.width * view.height) / Math.max(1, cells))}. Training and ` +
      `drawing run in between.`
    );
  }

  private paint(): void {
    const { view } = this;
    if (!view) return;
    const { width, height, words: bits } = view;
    const [pixels, others] = this.pictures.map((cells) => cells.pixels(width, height)) as [Uint32Array, Uint32Array];
    const [off, on] = cellColours(this.chosen.shows).map(packed) as [number, number];
    const bytes = Math.ceil(width / 8);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) pixels[y * width + x] = (bits[y * bytes + (x >> 3)]! >> (x & 7)) & 1 ? on : off;
    others.set(pixels);
    const enlarged = this.lens.pixels(LENS, LENS);
    const corner = ((height - LENS) >> 1) * width + ((width - LENS) >> 1);
    for (let y = 0; y < LENS; y++) enlarged.set(pixels.subarray(corner + y * width, corner + y * width + LENS), y * LENS);
    for (const cells of [...this.pictures, this.lens]) cells.draw();
  }
}

/** Speed of the grid. The rates of cells and gates are smoothed, so that they stay readable. */
class Speed {
  steps = 0;
  cells = 0;
  gates = 0;
  /** Step and time at which the current measurement started. */
  private from = { step: 0, ms: 0 };

  clear(): void {
    this.steps = this.cells = this.gates = 0;
  }

  since(step: number): void {
    this.from = { step, ms: performance.now() };
  }

  /** True if the current measurement is long enough to compute steps per second. */
  get known(): boolean {
    return performance.now() - this.from.ms > 500;
  }

  measure({ step, cells_per_s, gate_cells_per_s }: BigView): void {
    const ms = performance.now() - this.from.ms;
    const smoothed = (before: number, value: number): number => (before === 0 ? value : before + 0.1 * (value - before));
    this.steps = (1000 * (step - this.from.step)) / Math.max(1, ms);
    this.cells = smoothed(this.cells, cells_per_s);
    this.gates = smoothed(this.gates, gate_cells_per_s);
    if (ms > 4000) this.since(step);
  }
}

/** Formats a duration, such as `0.8 ms` or `120 µs`. */
const time = (s: number): string => (s >= 1e-3 ? `${two(1e3 * s)} ms` : `${Math.max(1, Math.round(1e6 * s))} µs`);
