// How the run stands, in words and in figures: the headline, a sentence or two under it, and the bar with the transport.

import type { Client } from "../run/client";
import type { Progress, Variant } from "../run/protocol";
import { h, write } from "./dom";
import { count, figure, seconds, short, words } from "./format";
import { untilClosed } from "./life";
import type { Present } from "./present";
import type { View } from "./room";
import { effect, paced } from "./signal";
import { Transport, type Wishes } from "./transport";

/** Shared memory tells nobody that it has changed: it is looked at so often. */
const LOOK_MS = 100;
/** Sentences change so often, that one can read them. */
const CALM_MS = 500;

export interface Tells {
  progress(): Progress;
  /** The newest value of the large chart, with its name. */
  newest(): string | undefined;
  /** Learners of a sweep train, and the run waits for them. */
  sweeping(): boolean;
  /** What else is written as seldom as the sentences. */
  calmly(): void;
}

export class Readout {
  readonly headline = h("h1");
  readonly status = h("p.lead");
  readonly transport: Transport;

  constructor(
    private readonly client: Client,
    private readonly view: View,
    private readonly present: Present,
    readonly unit: string,
    wishes: Wishes,
    private readonly tells: Tells,
  ) {
    const { iteration_word } = client.room;
    const [lead, other] = present.rates.columns;
    this.transport = new Transport(wishes, {
      rate: lead?.label.toLowerCase() ?? `${unit} a second`,
      figures: [unit, other?.label.toLowerCase() ?? `${iteration_word}s`, "training time"],
      step: iteration_word,
    });
    const timers = [setInterval(() => this.look(), LOOK_MS), setInterval(() => this.writeStatus(), CALM_MS)];
    untilClosed(() => timers.forEach(clearInterval));
    untilClosed(effect(() => this.transport.setRunning(present.running.value), paced(0)));
    untilClosed(effect(() => this.writeStatus(), paced(0)));
  }

  suit(variant: Variant): void {
    write(this.headline, this.view.headline?.() ?? variant.name);
  }

  /** Where it was solved and how its newest test does, or how often a test came to the goal and was not confirmed; in a sentence. */
  standing(): string {
    const run = this.present.run.value;
    const { goal } = this.client.variant;
    if (!run || !goal) return "";
    const { solved, attempts } = run;
    if (!solved) {
      const one = attempts === 1;
      return attempts === 0
        ? ""
        : `${one ? "One test" : `${count(attempts)} tests`} reached the goal and ${one ? "was" : "were"} not confirmed.`;
    }
    const column = this.client.room.tests.find(({ name }) => name === goal.column);
    const now = run.test(goal.column);
    const shown = now === undefined ? "" : `; now ${column?.share ? `${figure(Math.floor(1000 * now) / 10)}%` : figure(now)}`;
    return `Solved at ${words(solved.counts[0] ?? 0)} ${this.unit}${shown}.`;
  }

  spoken(): string {
    const { view } = this;
    const run = this.present.run.value;
    return (run && (view.spoken ? view.spoken(run) : view.status?.(run))) ?? this.sentence();
  }

  private sentence(): string {
    const newest = this.tells.newest();
    const run = this.present.run.value;
    return run && newest !== undefined ? `${newest} after ${words(run.progress.counts[0] ?? 0)} ${this.unit}.` : "";
  }

  private look(): void {
    const { rates, running } = this.present;
    const { iteration, counts, train_s } = this.tells.progress();
    const [rate, other] = rates.values.value;
    const second = rates.columns.length > 1 ? (other !== undefined && running.value ? short(other) : "–") : count(iteration);
    this.transport.show(rate === undefined ? undefined : short(rate), [short(counts[0] ?? 0), second, seconds(train_s)]);
    this.view.refresh?.();
  }

  private writeStatus(): void {
    write(this.status, this.statusWords());
    this.tells.calmly();
  }

  private statusWords(): string {
    const run = this.present.run.value;
    const running = this.present.running.value;
    if (!run) return "Starting.";
    const own = this.view.status?.(run) ?? (run.solved ? "" : `${this.client.variant.summary} ${this.sentence()}`);
    const paused = this.tells.sweeping() ? "Training pauses while the sweep runs, and goes on after it." : "Paused.";
    const on = running ? (run.solved ? "It goes on learning." : "") : paused;
    return [this.standing(), own.trim(), on].filter(Boolean).join(" ");
  }
}
