// Runs that this browser stores in IndexedDB. For each of the last two visits to a room, the latest run of each variant is stored. A visit
// belongs to one tab and survives a reload. If the storage is unavailable or full, the functions reject, and the caller handles the error.

import { within } from "./database";

export interface SavedRun {
  bytes: Uint8Array;
  variant: string;
  /** Link that starts the same run. */
  address: string;
  /** Lower bound of the iteration at which the run was saved. */
  iteration?: number;
}

/** A stored run. `visit` is the time at which the visit started, in ms. Runs that early versions stored have no variant. */
export type Saved = Omit<SavedRun, "variant" | "address"> & Partial<SavedRun> & { visit: number; savedAtMs: number };
/**
 * A run as it is in the database. A blob keeps the page's thread free: browsers write and read its bytes elsewhere, and only when they are
 * needed. Early versions stored the bytes themselves.
 */
type Stored = Omit<Saved, "bytes"> & { bytes: Blob | Uint8Array<ArrayBuffer> };

const VISITS_KEPT = 2;
/** Maximum size of a room's stored runs, in bytes. If the runs are larger, the oldest runs are deleted. The latest run is never deleted. */
const MOST_BYTES = 512e6;
const VISIT = "hothouse-visit";
/** Start time of this visit, in ms; undefined until the first access to the store. */
let visit: number | undefined;
/** Number of saves since the page was loaded or the visit began, by room and variant. */
const saves = new Map<string, number>();
let saving: Promise<unknown> = Promise.resolve();

function thisVisit(): number {
  visit ??= begunVisit();
  return visit;
}

function begunVisit(): number {
  try {
    const began = sessionStorage.getItem(VISIT) ?? String(Date.now());
    sessionStorage.setItem(VISIT, began);
    return Number(began);
  } catch {
    return Date.now(); // without session storage, a reload starts another visit
  }
}

export function beginVisit(): void {
  visit = Date.now();
  saves.clear();
  try {
    sessionStorage.setItem(VISIT, String(visit));
  } catch {
    // without session storage, a reload starts another visit
  }
}

/** Names of the databases that are not called `hothouse-ROOM`, by room. */
export const places = new Map<string, string>();
const nameOf = (room: string): string => places.get(room) ?? `hothouse-${room}`;

/** Accesses the store of a room. When the promise of a write resolves, the data is on disk. */
const inStore = <T>(room: string, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
  within(nameOf(room), mode, work, "strict");
const all = (room: string): Promise<Stored[]> => inStore(room, "readonly", (store) => store.getAll() as IDBRequest<Stored[]>);
const read = async (run: Stored): Promise<Saved> => ({ ...run, bytes: new Uint8Array(await new Blob([run.bytes]).arrayBuffer()) });

/**
 * Stores this visit's run of a variant. Saves alternate between two keys, so that the previous save remains if the tab closes during a
 * write. A closing tab may request two saves, so saves run one after the other. The first save of a variant also deletes old runs.
 */
export function saveRun(room: string, run: SavedRun): Promise<void> {
  const saved = saving.then(() => put(room, run));
  saving = saved.catch(() => {}); // the caller handles the rejection
  return saved;
}

async function put(room: string, run: SavedRun): Promise<void> {
  const visit = thisVisit();
  const slot = `${room}/${run.variant}`;
  const count = saves.get(slot) ?? 0;
  saves.set(slot, count + 1);
  const key = `${visit}-${count % 2}-${run.variant}`;
  const bytes = run.bytes as Uint8Array<ArrayBuffer>;
  const write = (bytes: Stored["bytes"]): Promise<unknown> =>
    inStore(room, "readwrite", (store) => store.put({ ...run, bytes, visit, savedAtMs: Date.now() } satisfies Stored, key));
  // WebKit stores no blobs in a private window.
  await write(new Blob([bytes])).catch(() => write(bytes));
  if (count === 0) await prune(room);
}

async function prune(room: string): Promise<void> {
  const [keys, runs] = await Promise.all([inStore(room, "readonly", (store) => store.getAllKeys()), all(room)]);
  const kept = newestOf(runs, (run) => run.visit).slice(0, VISITS_KEPT);
  let bytes = 0;
  const byAge = runs.map((run, k) => ({ run, key: keys[k]! })).sort((a, b) => b.run.savedAtMs - a.run.savedAtMs);
  for (const [k, { run, key }] of byAge.entries()) {
    bytes += new Blob([run.bytes]).size;
    const needed = kept.some(({ visit }) => visit === run.visit) && (bytes <= MOST_BYTES || k === 0);
    if (!needed) await inStore(room, "readwrite", (store) => store.delete(key));
  }
}

/** Returns the latest run of each kind, from the latest to the oldest. `kind` returns the kind of a run. */
function newestOf(runs: Stored[], kind: (run: Stored) => unknown): Stored[] {
  const sorted = runs.toSorted((a, b) => b.savedAtMs - a.savedAtMs);
  return sorted.filter((run, k) => sorted.findIndex((other) => kind(other) === kind(run)) === k);
}

/** Returns the latest run of each of the last visits. The latest run is first. If `others` is true, this visit's run is excluded. */
export async function loadRuns(room: string, others: boolean): Promise<Saved[]> {
  const kept = newestOf(await all(room), (run) => run.visit).slice(0, VISITS_KEPT);
  return Promise.all(kept.filter((run) => !others || run.visit !== thisVisit()).map(read));
}

/** Returns the latest run of each variant in this visit, latest first. */
export async function loadVisit(room: string): Promise<Saved[]> {
  const own = (await all(room)).filter((run) => run.visit === thisVisit());
  return Promise.all(newestOf(own, (run) => run.variant).map(read));
}
