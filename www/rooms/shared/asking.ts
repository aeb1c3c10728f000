// Questions to the worker whose answers may come too late, or not at all.

import { sentence, textOf } from "../../run/notice";
import { untilClosed } from "../../parts/life";

/** What was refused, or found impossible, as a sentence. */
export const reason = (error: unknown): string => sentence(textOf(error));

/** Of what is done in turn, only the newest counts. */
export class Turns {
  private newest = 0;

  /** When the page is closed, whatever is done from then on is stale, as NaN equals nothing. */
  constructor() {
    untilClosed(() => (this.newest = NaN));
  }

  /** Takes the turn. What it gives tells whether another has taken it since. */
  take(): () => boolean {
    this.newest++;
    return this.stale();
  }

  /** The same for who goes on with the turn as it stands. */
  stale(): () => boolean {
    const own = this.newest;
    return () => own !== this.newest;
  }
}

/** One question at a time. An answer that is stale is dropped, and a refusal let go: between two runs there is nobody to ask. */
export class Asker {
  readonly turns = new Turns();
  private asking = false;
  private askedMs = -Infinity;

  /** Asks at most so often, unless it is wanted now. */
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

  /** The next question need not wait. */
  hurry(): void {
    this.askedMs = -Infinity;
  }
}

/** Asks about what changes: one question at a time, and again where it has changed meanwhile. */
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
      if (answer === undefined) break; // between two runs there is nobody to ask
      this.take(answer);
    }
    this.asking = false;
  }
}
