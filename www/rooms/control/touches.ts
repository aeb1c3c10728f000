// Requests with the visitor's input to the single environment, and the speed of its time.

/** Longest time for which a touch without an answer delays the next touch. */
const PATIENCE_MS = 400;
/** Longest time that one touch covers, in seconds. */
const MOST_S = 0.1;

/** Speeds of the single environment while the visitor has the controls, as shares of real time. */
export const PACES = { quarter: 0.25, half: 0.5, full: 1 };
export type PaceName = keyof typeof PACES;
/** Returns the stored name of a speed if it is valid, otherwise `half`. */
export const paceOf = (name: string | null): PaceName => (name !== null && Object.hasOwn(PACES, name) ? (name as PaceName) : "half");

/** Sends touches, each with the seconds since the previous touch. A touch waits for the previous answer, at most `PATIENCE_MS`. */
export class Touches {
  private owedS = 0;
  private lastMs = performance.now();
  private askedMs = -Infinity;
  private asking = false;

  /** Sends a touch, unless an answer is pending. `rate` is the speed of the environment's time, relative to real time. */
  pass(nowMs: number, rate: number, touch: (dt_s: number) => Promise<unknown>): void {
    this.owedS = Math.min(MOST_S, this.owedS + Math.min(MOST_S, (nowMs - this.lastMs) / 1000));
    this.lastMs = nowMs;
    if (this.asking && nowMs - this.askedMs <= PATIENCE_MS) return;
    this.asking = true;
    this.askedMs = nowMs;
    touch(this.owedS * rate)
      .catch(() => {}) // the run has ended
      .finally(() => (this.asking = false));
    this.owedS = 0;
  }
}
