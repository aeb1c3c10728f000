// Detects that the browser suspended a hidden tab, so that the page can explain the pause in training.

import { pageLife } from "./life";

const SLEPT_S = 30;
/** Wait after the tab becomes visible. In this time, the page receives the events that the worker sent while the tab was hidden. */
const ARRIVE_MS = 1500;

export interface Watched {
  /** Returns true while the run is not paused. */
  running(): boolean;
  trained_s(): number;
  /** Called after a suspension, with its duration in seconds. */
  slept(s: number): void;
}

export function watchSleep({ running, trained_s, slept }: Watched): void {
  const signal = pageLife();
  let hidden: { ms: number; trained_s: number } | undefined;
  const visibilityChanged = (): void => {
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
  document.addEventListener("visibilitychange", visibilityChanged, { signal });
}
