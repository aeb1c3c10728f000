// Tells a screen reader how training goes, at a pace that leaves room for everything else. What happened once waits
// its turn; of progress, and of one thing said anew, only the newest is told.

import { h } from "./dom";

const PROGRESS_EVERY_MS = 10_000;
const SPOKEN_APART_MS = 3_000;
const MOST_WAITING = 4;

export class Announcer {
  readonly element = h("p.unseen", { role: "status", "aria-live": "polite" });
  private lastMs = -Infinity;
  private lastProgressMs = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting: { text: string; about: string }[] = [];

  /** Something that happened once; spoken soon. Of what is said `about` one thing, the newest counts. */
  say(text: string, about = text): void {
    this.waiting = [...this.waiting.filter((other) => other.about !== about), { text, about }].slice(-MOST_WAITING);
    this.next();
  }

  private next(): void {
    if (this.timer !== undefined || this.waiting.length === 0) return;
    const waitMs = Math.max(0, this.lastMs + SPOKEN_APART_MS - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.lastMs = performance.now();
      this.lastProgressMs = this.lastMs;
      this.element.textContent = this.waiting.shift()?.text ?? "";
      this.next();
    }, waitMs);
  }

  /** How far training has come; spoken every ten seconds at most. */
  progress(text: () => string): void {
    const now = performance.now();
    if (now - this.lastProgressMs < PROGRESS_EVERY_MS || this.waiting.length > 0) return;
    this.lastProgressMs = now;
    this.lastMs = now;
    this.element.textContent = text();
  }
}
