// Runs left during this visit, one per room and variant, in memory. A room that is opened again continues its run. The oldest are
// dropped beyond a limit in bytes. `run/store.ts` stores runs in the browser.

import type { SavedRun } from "../run/store";
import type { History } from "./history";

export interface Kept extends SavedRun {
  room: string;
  /** History of the run, while the page of its room is open. */
  history?: History;
}

const MOST_BYTES = 256e6;

/** Kept runs, newest last. */
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

/** Kept runs of a room, newest first. */
export const keptRuns = (room: string): Kept[] => kept.filter((run) => run.room === room).reverse();

export const keptRun = (room: string, variant: string): Kept | undefined => keptRuns(room).find((run) => run.variant === variant);
