// Requests to the worker whose answers may be late or missing.

import { sentence, textOf } from "../../run/notice";
import { untilClosed } from "../../parts/life";

/** The error's message as a sentence. */
export const reason = (error: unknown): string => sentence(textOf(error));

/** Marks all but the newest of several asynchronous operations as stale. */
export class Turns {
  private newest = 0;

  /** Every operation is stale after the page is closed, because NaN equals nothing. */
  constructor() {
    untilClosed(() => (this.newest = NaN));
  }

  /** Starts an operation. Returns a function that reports whether a newer operation has started. */
  take(): () => boolean {
    this.newest++;
    return this.stale();
  }

  /** Returns, for a continuation of the current operation, a function that reports whether a newer operation has started. */
  stale(): () => boolean {
    const own = this.newest;
    return () => own !== this.newest;
  }
}

/** Sends one request at a time. Drops stale answers and ignores errors, because no worker answers between two runs. */
export class Asker {
  readonly turns = new Turns();
  private asking = false;
  private askedMs = -Infinity;

  /** `everyMs` is the least time between two requests; the argument `now` of `ask` overrides it. */
  constructor(private readonly everyMs: () => number = () => 0) {}

  ask<A>(question: () => Promise<A>, take: (answer: A) => unknown, now = false): void {
    if (this.asking || (!now && performance.now() - this.askedMs < this.everyMs())) return;
    this.asking = true;
    this.askedMs = performance.now();
    const stale = this.turns.stale();
    void question()
      .then((answer) => stale() || take(answer))
      .catch(() => {})
      .finally(() => (this.asking = false));
  }

  /** Lets the next request start at once. */
  hurry(): void {
    this.askedMs = -Infinity;
  }
}

/** Sends one request at a time. A call of `ask` during a request sends one more request after its answer. */
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
