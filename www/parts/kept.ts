// The runs that were left in this visit, one of each room and variant: whoever comes back goes on. They are bounded in bytes, and
// the newest stay. It refuses to know where else they are stored, which is `run/store.ts`'s.

import type { Left } from "../run/store";
import type { History } from "./history";

export interface Kept extends Left {
  room: string;
  /** What it has lived through, where a page still shows its room. */
  history?: History;
}

const MOST_BYTES = 256e6;

/** The newest last. */
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

/** Those of a room, the one that was left last first. */
export const keptRuns = (room: string): Kept[] => kept.filter((run) => run.room === room).reverse();

export const keptRun = (room: string, variant: string): Kept | undefined => keptRuns(room).find((run) => run.variant === variant);
