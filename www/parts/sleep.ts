// A browser may put a hidden tab to sleep; training then stood still, and the visitor should know why.

import { pageLife } from "./life";

const SLEPT_S = 30;
/** What the worker has to tell of the meantime arrives first. */
const ARRIVE_MS = 1500;

export interface Watched {
  /** Training has not paused. */
  running(): boolean;
  trained_s(): number;
  /** It stood still for so long, in seconds. */
  slept(s: number): void;
}

export function watchSleep({ running, trained_s, slept }: Watched): void {
  const signal = pageLife();
  let hidden: { ms: number; trained_s: number } | undefined;
  const seen = (): void => {
    if (document.hidden) {
      hidden = running() ? { ms: Date.now(), trained_s: trained_s() } : undefined;
      return;
    }
    const since = hidden;
    hidden = undefined;
    if (!since) return;
    setTimeout(() => {
      const awayS = (Date.now() - since.ms) / 1000;
      const sleptS = awayS - (trained_s() - since.trained_s);
      if (!signal.aborted && running() && awayS >= SLEPT_S && sleptS >= awayS / 2) slept(sleptS);
    }, ARRIVE_MS);
  };
  document.addEventListener("visibilitychange", seen, { signal });
}
