// Touches: requests that send the visitor's input to the single environment. Also the speed of the environment's time.

/** Maximum time for which a touch without an answer delays the next touch. */
const PATIENCE_MS = 400;
/** Maximum period of real time that one touch covers, in seconds. */
const MOST_S = 0.1;

/** Speeds of the single environment while the visitor has the controls, as shares of real time. */
export const PACES = { quarter: 0.25, half: 0.5, full: 1 };
export type PaceName = keyof typeof PACES;
/** Returns `name` if it is the name of a speed, otherwise `half`. */
export const paceOf = (name: string | null): PaceName => (name !== null && Object.hasOwn(PACES, name) ? (name as PaceName) : "half");

/**
 * Sends touches, each with the time since the previous touch, in seconds. A touch waits for the answer to the previous touch, but at most
 * `PATIENCE_MS`.
 */
export class Touches {
  private owedS = 0;
  private lastMs = performance.now();
  private askedMs = -Infinity;
  private asking = false;

  /**
   * Sends a touch, unless the answer to a recent touch is pending. `rate` is the speed of the environment's time, as a multiple of real
   * time.
   */
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
