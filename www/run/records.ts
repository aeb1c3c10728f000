// Curves of earlier runs of each room, in IndexedDB, for comparison with the current run. Weights are not stored. If the storage is
// unavailable or full, the functions reject, and the caller handles the error.

import { within } from "./database";
import type { Config, Mark, Progress, Row, Value } from "./protocol";

export interface RunRecord {
  id: string;
  /** Name that the visitor gave the run; empty if none. */
  name: string;
  variant: string;
  beganMs: number;
  config: Config;
  /** Current value of every knob. (`marks` contains the initial values of changed knobs.) */
  settings: Record<string, Value>;
  /** Default value of every knob. */
  defaults: Record<string, Value>;
  labels: Record<string, string>;
  marks: Mark[];
  progress: Progress;
  solved: Progress | null;
  iterations: Float64Array;
  counts: Float64Array;
  train_s: Float64Array;
  /** Metrics by name, one value per row. NaN marks an unknown value. */
  columns: Record<string, Float64Array>;
  tests: Row[];
}

const NAME = "hothouse-curves";
const key = (room: string, id: string): string => `${room}/${id}`;

export async function loadRecords(room: string): Promise<RunRecord[]> {
  const range = IDBKeyRange.bound(key(room, ""), key(room, "\uffff"));
  const all = await within(NAME, "readonly", (store) => store.getAll(range) as IDBRequest<RunRecord[]>);
  return all.sort((a, b) => b.beganMs - a.beganMs);
}

export const putRecord = (room: string, record: RunRecord): Promise<unknown> =>
  within(NAME, "readwrite", (store) => store.put(record, key(room, record.id)));
export const dropRecord = (room: string, id: string): Promise<unknown> => within(NAME, "readwrite", (store) => store.delete(key(room, id)));

/** Returns the approximate size of a record in bytes. */
export function bytesOf({ counts, columns, tests, marks }: RunRecord): number {
  const values = tests.reduce((sum, { values }) => sum + values.length + 8, 0) + marks.length * 16;
  return 8 * (counts.length * (3 + Object.keys(columns).length) + values) + 4000;
}
