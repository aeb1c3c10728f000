// Announcements for screen readers, limited in rate. Announcements of events wait in a queue, in which a newer announcement replaces an
// older one about the same topic. Reports of progress do not wait: a report that cannot be read at once is dropped.

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

  /** Queues an announcement. It replaces a queued announcement with the same topic (`about`). */
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

  /** Announces the progress of training: at most once in ten seconds, and only if no event is queued. */
  progress(text: () => string): void {
    const now = performance.now();
    if (now - this.lastProgressMs < PROGRESS_EVERY_MS || this.waiting.length > 0) return;
    this.lastProgressMs = now;
    this.lastMs = now;
    this.element.textContent = text();
  }
}
