// The circuit on a big grid, as many steps as go: bit-packed, a gate is one instruction for all cells of a word.

import type { Announcer } from "../../parts/announce";
import { h, icon, id, write } from "../../parts/dom";
import { count, short, two, words } from "../../parts/format";
import { animate, calm } from "../../parts/loop";
import { Cells } from "./cells";
import { reason, type Chosen, type LogicClient } from "./client";
import { cellColours, packed } from "./colours";
import type { BigView } from "./protocol";

const SIDES = [256, 512, 1024, 2048];
const SIDE = 1024;
/** So long the worker runs it at once; training goes on in between. */
const ASK_MS = 12;
/** For less motion it is shown this often. */
const CALM_MS = 1000;
const TELL_EVERY_MS = 300;

export class BigPane {
  readonly element: HTMLElement;
  private readonly cells = new Cells("The big grid", undefined, () => this.paint());
  private readonly figure = h("div", { class: "big-picture", hidden: true });
  private readonly runButton = h("button", { type: "button", class: "strong play-grid", onclick: () => this.run(!this.running) });
  private readonly size = h(
    "select",
    { id: id("big-size") },
    ...SIDES.map((side) => h("option", { value: side, selected: side === SIDE }, `${count(side)}x${count(side)}`)),
  );
  private readonly readouts: Record<"step" | "steps" | "cells" | "gates", HTMLElement> = {
    step: h("dd"),
    steps: h("dd"),
    cells: h("dd"),
    gates: h("dd"),
  };
  private readonly meaning = h("p", { class: "big-meaning" });
  private readonly error = h("p", { class: "error", role: "alert" });
  private view: BigView | undefined;
  private running = false;
  private renew = true;
  /** The circuit that runs is right. */
  private perfect = false;
  private asking = false;
  private shownMs = 0;
  private toldMs = 0;
  private speed = { steps: 0, cells: 0, gates: 0 };
  /** Where steps were counted from. */
  private since = { step: 0, ms: 0 };
  private grids = 0;
  private closed = false;
  private readonly stop: () => void;

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
  ) {
    this.size.addEventListener("change", () => this.again());
    const readout = (term: string, value: HTMLElement): HTMLElement => h("div", {}, h("dt", {}, term), value);
    this.figure.append(this.cells.element);
    this.element = h(
      "div",
      { class: "big" },
      h(
        "p",
        { class: "small" },
        "The circuit of the member that you look at, hardened and pruned, runs on a grid of random cells without an edge. It learned " +
          "on a far smaller one; what it learned is local, so it runs on any.",
      ),
      h(
        "div",
        { class: "row" },
        this.runButton,
        h("button", { type: "button", onclick: () => this.again() }, "Other random cells"),
        h("p", { class: "field" }, h("label", { for: this.size.id }, "Grid"), this.size),
      ),
      this.error,
      h(
        "dl",
        { class: "circuit-counts" },
        readout("Step", this.readouts.step),
        readout("Steps a second", this.readouts.steps),
        readout("Cells a second", this.readouts.cells),
        readout("Gate-cells a second", this.readouts.gates),
      ),
      this.meaning,
      this.figure,
    );
    this.showRunning();
    this.stop = animate(this.element, (nowMs) => this.tick(nowMs));
  }

  begin(): void {
    this.grids++;
    this.running = false;
    this.renew = true;
    this.view = undefined;
    this.figure.hidden = true;
    write(this.error, "");
    write(this.meaning, "");
    this.speed = { steps: 0, cells: 0, gates: 0 };
    for (const value of Object.values(this.readouts)) write(value, "–");
    this.showRunning();
  }

  close(): void {
    this.closed = true;
    this.stop();
    this.cells.close();
  }

  private run(running: boolean): void {
    this.running = running;
    this.since = { step: this.view?.step ?? 0, ms: performance.now() };
    write(this.error, "");
    this.showRunning();
    if (!running && this.view) this.announcer.say(this.spoken(), "big");
  }

  private again(): void {
    this.grids++;
    this.speed = { steps: 0, cells: 0, gates: 0 };
    this.renew = true;
    this.run(true);
  }

  private showRunning(): void {
    this.runButton.replaceChildren(icon(this.running ? "pause" : "play"), this.running ? "Pause" : "Run the circuit");
  }

  private tick(nowMs: number): void {
    if (this.asking || !this.running || this.closed) return;
    this.asking = true;
    // A circuit that is not right yet gives way to the first that is.
    if (!this.perfect && this.chosen.perfect) this.renew = true;
    if (this.renew) this.perfect = this.chosen.perfect;
    const { grids, renew } = this;
    this.renew = false;
    const side = Number(this.size.value);
    const asked = renew
      ? this.client.ask({ ask: "big", width: side, height: side, seed: Math.floor(Math.random() * 2 ** 32), member: this.chosen.member })
      : this.client.ask({ ask: "big_advance", ms: ASK_MS });
    void asked
      .then((view) => {
        if (this.closed || grids !== this.grids) return;
        this.view = view;
        if (renew) this.since = { step: view.step, ms: performance.now() };
        else this.measure(view);
        this.figure.hidden = false;
        if (renew || !calm() || nowMs - this.shownMs > CALM_MS) {
          this.shownMs = nowMs;
          this.paint();
        }
        this.tell();
      })
      .catch((error: unknown) => {
        if (this.closed || grids !== this.grids) return;
        write(this.error, reason(error));
        this.run(false);
        write(this.error, reason(error));
        this.renew = true;
      })
      .finally(() => (this.asking = false));
  }

  private measure({ step, cells_per_s, gate_cells_per_s }: BigView): void {
    const now = performance.now();
    const steps = (1000 * (step - this.since.step)) / Math.max(1, now - this.since.ms);
    const calmed = (before: number, value: number): number => (before === 0 ? value : before + 0.1 * (value - before));
    this.speed = { steps, cells: calmed(this.speed.cells, cells_per_s), gates: calmed(this.speed.gates, gate_cells_per_s) };
    if (now - this.since.ms > 4000) this.since = { step, ms: now };
  }

  private tell(): void {
    const now = performance.now();
    const { view } = this;
    if (!view || (now - this.toldMs < TELL_EVERY_MS && this.readouts.step.textContent !== "–")) return;
    this.toldMs = now;
    const { steps, cells, gates } = this.speed;
    write(this.readouts.step, count(view.step));
    if (now - this.since.ms > 500) write(this.readouts.steps, steps < 10 ? steps.toFixed(1) : short(steps));
    write(this.readouts.cells, short(cells));
    write(this.readouts.gates, short(gates));
    write(this.meaning, this.spoken());
    this.cells.label(`The big grid, ${view.width} by ${view.height} cells, at step ${count(view.step)}`);
    this.element.dataset.step = String(view.step);
  }

  private spoken(): string {
    const { view } = this;
    if (!view || this.speed.cells === 0) return "";
    const { cells, gates } = this.speed;
    if (view.gates === 0)
      return "This circuit has no gates yet: every cell only takes over what another was. Let it learn, and run it again.";
    return (
      `While it runs, ${words(cells)} cells a second go through ${count(view.gates)} gates each: ${words(gates)} gates a second. ` +
      `Bit-packed, 64 cells or more stand in one word and each gate is one instruction for all of them, so a step of ` +
      `${words(view.width * view.height)} cells takes about ${time((view.width * view.height) / Math.max(1, cells))}. Training and ` +
      `drawing have their turn in between.`
    );
  }

  private paint(): void {
    const { view } = this;
    if (!view) return;
    const { width, height, words: bits } = view;
    const pixels = this.cells.pixels(width, height);
    const [off, on] = cellColours(this.chosen.shows).map(packed) as [number, number];
    const bytes = Math.ceil(width / 8);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) pixels[y * width + x] = (bits[y * bytes + (x >> 3)]! >> (x & 7)) & 1 ? on : off;
    this.cells.draw();
  }
}

/** `0.8 ms`, `120 µs` */
const time = (s: number): string => (s >= 1e-3 ? `${two(1e3 * s)} ms` : `${Math.max(1, Math.round(1e6 * s))} µs`);
