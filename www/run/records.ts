// The curves of earlier runs of each room, in IndexedDB: numbers to compare with and no weights. Storage may be refused or full:
// whoever calls says so.

import { within } from "./database";
import type { Config, Mark, Progress, Row, Value } from "./protocol";

export interface RunRecord {
  id: string;
  /** As the visitor called it; empty where nobody did. */
  name: string;
  variant: string;
  beganMs: number;
  config: Config;
  /** Every knob with the value in force by now (`marks` tell what it began with), and what each is by default and is called. */
  settings: Record<string, Value>;
  defaults: Record<string, Value>;
  labels: Record<string, string>;
  marks: Mark[];
  progress: Progress;
  solved: Progress | null;
  iterations: Float64Array;
  counts: Float64Array;
  train_s: Float64Array;
  /** NaN where a value is not known. */
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

/** About how much room it takes. */
export function bytesOf({ counts, columns, tests, marks }: RunRecord): number {
  const values = tests.reduce((sum, { values }) => sum + values.length + 8, 0) + marks.length * 16;
  return 8 * (counts.length * (3 + Object.keys(columns).length) + values) + 4000;
}
