// Runs that the visitor left during this visit, in memory: one per room and variant. When the visitor returns to the variant, its run
// continues. Beyond a limit in bytes the oldest runs are dropped. (`run/store.ts` stores runs in the browser's database.)

import type { SavedRun } from "../run/store";
import type { History } from "./history";

export interface Kept extends SavedRun {
  room: string;
  /** History of the run. The history is kept only as long as the page of the run's room is open. */
  history?: History;
}

const MOST_BYTES = 256e6;

/** Kept runs. The latest run is last. */
const kept: Kept[] = [];

export function keepRun(run: Kept): void {
  forgetRun(run);
  kept.push(run);
  while (kept.length > 1 && kept.reduce((sum, { bytes }) => sum + bytes.length, 0) > MOST_BYTES) kept.shift();
}

export function forgetRun({ room, variant }: { room: string; variant: string }): void {
  const at = kept.findIndex((run) => run.room === room && run.variant === variant);
  if (at >= 0) kept.splice(at, 1);
}

/** Returns the kept runs of a room. The latest run is first. */
export const keptRuns = (room: string): Kept[] => kept.filter((run) => run.room === room).reverse();

export const keptRun = (room: string, variant: string): Kept | undefined => keptRuns(room).find((run) => run.variant === variant);
