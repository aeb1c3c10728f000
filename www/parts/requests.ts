// Classes for requests to the worker, whose answers may be late or missing.

import { sentence, textOf } from "../run/notice";
import { untilClosed } from "./life";

/** Returns the message of an error as a sentence. */
export const reason = (error: unknown): string => sentence(textOf(error));

/** Marks asynchronous operations of one kind as stale when a newer operation of this kind starts. */
export class Turns {
  private newest = 0;

  /** When the page closes, `newest` becomes NaN. NaN equals no number, so every operation is then stale. */
  constructor() {
    untilClosed(() => (this.newest = NaN));
  }

  /** Starts an operation. The returned function tests whether a newer operation has started. */
  take(): () => boolean {
    this.newest++;
    return this.stale();
  }

  /** Returns a function that tests whether a newer operation has started since this call. */
  stale(): () => boolean {
    const own = this.newest;
    return () => own !== this.newest;
  }
}

/** Time after which {@link Asker.eventually} repeats a dropped request. */
const RETRY_MS = 200;

/**
 * Sends one request at a time; further requests are dropped until the answer arrives. Drops stale answers. Ignores errors, because no
 * worker answers between two runs.
 */
export class Asker {
  readonly turns = new Turns();
  private asking = false;
  private askedMs = -Infinity;
  private timer = 0;

  /** `everyMs` returns the minimum time between two requests, in ms. */
  constructor(private readonly everyMs: () => number = () => 0) {}

  /** Returns false if the request was dropped. */
  ask<A>(question: () => Promise<A>, take: (answer: A) => unknown): boolean {
    if (this.asking || performance.now() - this.askedMs < this.everyMs()) return false;
    this.asking = true;
    this.askedMs = performance.now();
    const stale = this.turns.stale();
    void question()
      .then((answer) => stale() || take(answer))
      .catch(() => {})
      .finally(() => (this.asking = false));
    return true;
  }

  /** As `ask`, but a dropped request is sent later. The last answer therefore describes the state after the last call. */
  eventually<A>(question: () => Promise<A>, take: (answer: A) => unknown): void {
    clearTimeout(this.timer);
    if (this.ask(question, take)) return;
    const stale = this.turns.stale();
    this.timer = setTimeout(() => stale() || this.eventually(question, take), RETRY_MS);
  }

  /** Lets the next call of `ask` send its request without waiting for `everyMs`. */
  hurry(): void {
    this.askedMs = -Infinity;
  }
}

/** Sends one request at a time. If `ask` is called while a request is pending, one more request is sent after its answer. */
export class Follower<A> {
  private wanted = false;
  private asking = false;
  askedMs = -Infinity;

  constructor(
    private readonly question: () => Promise<A>,
    private readonly take: (answer: A) => unknown,
  ) {}

  async ask(): Promise<void> {
    this.askedMs = performance.now();
    this.wanted = true;
    if (this.asking) return;
    this.asking = true;
    while (this.wanted) {
      this.wanted = false;
      const answer = await this.question().catch(() => undefined);
      if (answer === undefined) break; // no worker answers between two runs
      this.take(answer);
    }
    this.asking = false;
  }
}
