// Status of the run: the headline, one or two sentences, and the numbers in the transport bar.

import type { Client } from "../run/client";
import type { Progress, Variant } from "../run/protocol";
import { h, write } from "./dom";
import { capital, count, minus, seconds, short } from "./format";
import { untilClosed } from "./life";
import type { Present } from "./present";
import type { View } from "./room";
import { effect, paced } from "./signal";
import { Transport, type TransportActions } from "./transport";

/** Interval at which the progress is read from shared memory. The memory is polled because it sends no event after a change. */
const POLL_MS = 100;
/** Minimum time between two updates of the sentences, so that the visitor can read them. */
const STATUS_MS = 500;

export interface ReadoutSources {
  progress(): Progress;
  /** Returns true while a sweep runs, during which the run is paused. */
  sweeping(): boolean;
  /** Returns a sentence about the trained agent if the visitor's agent has overtaken it; otherwise an empty text. */
  overtaken(): string;
  /** Called after each update of the sentences. */
  written(): void;
  /** Called ten times a second; `testing` is true while the agent is tested. */
  polled(testing: boolean): void;
}

export class Readout {
  readonly headline = h("h1");
  private readonly outcome = h("strong");
  private readonly more = h("span");
  readonly status = h("p.lead", this.outcome, this.more);
  readonly transport: Transport;

  constructor(
    private readonly client: Client,
    private readonly view: View,
    private readonly present: Present,
    readonly unit: string,
    actions: TransportActions,
    private readonly sources: ReadoutSources,
  ) {
    const { iteration_word } = client.room;
    const [lead, other] = present.rates.columns;
    this.transport = new Transport(actions, {
      rate: lead?.label.toLowerCase() ?? `${unit} a second`,
      figures: [unit, other?.label.toLowerCase() ?? `${iteration_word}s`, "training time"],
      step: iteration_word,
    });
    const timers = [setInterval(() => this.poll(), POLL_MS), setInterval(() => this.writeStatus(), STATUS_MS)];
    untilClosed(() => timers.forEach(clearInterval));
    untilClosed(effect(() => this.transport.setRunning(present.running.value), paced(0)));
    untilClosed(effect(() => this.writeStatus(), paced(0)));
  }

  suit(variant: Variant): void {
    write(this.headline, this.view.headline?.() ?? variant.name);
  }

  /** Returns the state of the run as a sentence. */
  result(): string {
    const standing = this.present.run.value?.standing.value;
    return standing ? `${capital(standing.words)}.` : "";
  }

  spoken(): string {
    const { view } = this;
    const run = this.present.run.value;
    return (run && (view.spoken ? view.spoken(run) : view.status?.(run))) ?? this.sentence();
  }

  private sentence(): string {
    const standing = this.present.run.value?.standing.value;
    return standing ? `${capital(standing.name)}: ${minus(standing.number)}. ${this.result()}` : "";
  }

  private poll(): void {
    const { rates, running } = this.present;
    const progress = this.sources.progress();
    const { iteration, counts, train_s } = progress;
    const [rate, other] = rates.values.value;
    const second = rates.columns.length > 1 ? (other !== undefined && running.value ? short(other) : "–") : count(iteration);
    this.transport.show(rate === undefined ? undefined : short(rate), [short(counts[0] ?? 0), second, seconds(train_s)]);
    // Before the device is decided, no test is reported, because the run may also wait for the measurement of the GPU.
    this.sources.polled(this.client.device !== undefined && this.present.isTesting(progress));
    this.view.refresh?.();
  }

  private writeStatus(): void {
    const [outcome, more] = [this.result(), this.statusWords()];
    write(this.outcome, outcome);
    write(this.more, `${outcome && more && " "}${more}`);
    this.sources.written();
  }

  /** Returns the status without the state of the run. */
  private statusWords(): string {
    const run = this.present.run.value;
    const running = this.present.running.value;
    if (!run) return "Starting…";
    const own = this.view.status?.(run) ?? (run.solved ? "" : this.client.variant.summary);
    const paused = this.sources.sweeping() ? "Paused until the sweep ends." : "Paused.";
    return [own.trim(), this.sources.overtaken(), running ? "" : paused].filter(Boolean).join(" ");
  }
}
