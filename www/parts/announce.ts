// Tells a screen reader how training goes, at a pace that leaves room for everything else. Never more than one
// sentence waits: a newer one takes its place.

import { h } from "./dom";

const PROGRESS_EVERY_MS = 10_000;
const SPOKEN_APART_MS = 3_000;

export class Announcer {
  readonly element = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
  private lastMs = -Infinity;
  private lastProgressMs = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Something that happened once; spoken soon. */
  say(text: string): void {
    clearTimeout(this.timer);
    const waitMs = Math.max(0, this.lastMs + SPOKEN_APART_MS - performance.now());
    this.timer = setTimeout(() => {
      this.lastMs = performance.now();
      this.lastProgressMs = this.lastMs;
      this.element.textContent = text;
    }, waitMs);
  }

  /** How far training has come; spoken every ten seconds at most. */
  progress(text: () => string): void {
    const now = performance.now();
    if (now - this.lastProgressMs < PROGRESS_EVERY_MS || now - this.lastMs < SPOKEN_APART_MS) return;
    this.lastProgressMs = now;
    this.lastMs = now;
    this.element.textContent = text();
  }
}
