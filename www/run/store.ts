// Runs of the last two visits to a room in this browser, in IndexedDB: the newest run of each variant and visit. A visit belongs to
// one tab and survives a reload. Storage may be unavailable or full: the caller handles the rejection.

import { within } from "./database";

export interface SavedRun {
  bytes: Uint8Array;
  variant: string;
  /** Link that starts the run. */
  address: string;
  /** Lower bound of the iteration. */
  iteration?: number;
}

/** A stored run. `visit` is the start of the visit in ms. Runs stored by early versions have no variant. */
export type Saved = Omit<SavedRun, "variant" | "address"> & Partial<SavedRun> & { visit: number; savedAtMs: number };

const VISITS_KEPT = 2;
/** Storage limit of a room. Beyond it the oldest runs are deleted; the newest run always stays. */
const MOST_BYTES = 512e6;
const VISIT = "hothouse-visit";
let visit = thisVisit();
/** Number of saves since the page was loaded, by room and variant. */
const saves = new Map<string, number>();
let saving: Promise<unknown> = Promise.resolve();

function thisVisit(): number {
  try {
    const began = sessionStorage.getItem(VISIT) ?? String(Date.now());
    sessionStorage.setItem(VISIT, began);
    return Number(began);
  } catch {
    return Date.now(); // no session storage: a reload starts another visit
  }
}

export function beginVisit(): void {
  visit = Date.now();
  saves.clear();
  try {
    sessionStorage.setItem(VISIT, String(visit));
  } catch {
    // no session storage
  }
}

/** Name of a room's database, if it is not `hothouse-ROOM`. */
export const places = new Map<string, string>();
const nameOf = (room: string): string => places.get(room) ?? `hothouse-${room}`;

/** Uses strict durability: a resolved save is on disk. */
const inStore = <T>(room: string, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
  within(nameOf(room), mode, work, "strict");
const all = (room: string): Promise<Saved[]> => inStore(room, "readonly", (store) => store.getAll() as IDBRequest<Saved[]>);

/**
 * Stores this visit's run of a variant. Saves alternate between two keys: if a closing tab interrupts a write, the previous
 * save survives. Saves run one after another, because a closing tab requests two. The first save also prunes old runs.
 */
export function saveRun(room: string, run: SavedRun): Promise<void> {
  const saved = saving.then(() => put(room, run));
  saving = saved.catch(() => {}); // the caller handles the rejection
  return saved;
}

async function put(room: string, run: SavedRun): Promise<void> {
  const slot = `${room}/${run.variant}`;
  const count = saves.get(slot) ?? 0;
  saves.set(slot, count + 1);
  const key = `${visit}-${count % 2}-${run.variant}`;
  await inStore(room, "readwrite", (store) => store.put({ ...run, visit, savedAtMs: Date.now() } satisfies Saved, key));
  if (count === 0) await prune(room);
}

async function prune(room: string): Promise<void> {
  const [keys, runs] = await Promise.all([inStore(room, "readonly", (store) => store.getAllKeys()), all(room)]);
  const kept = newestOf(runs, (run) => run.visit).slice(0, VISITS_KEPT);
  let bytes = 0;
  const byAge = runs.map((run, k) => ({ run, key: keys[k]! })).sort((a, b) => b.run.savedAtMs - a.run.savedAtMs);
  for (const [k, { run, key }] of byAge.entries()) {
    bytes += run.bytes.length;
    const needed = kept.some(({ visit }) => visit === run.visit) && (bytes <= MOST_BYTES || k === 0);
    if (!needed) await inStore(room, "readwrite", (store) => store.delete(key));
  }
}

/** Newest run of each kind, newest first. */
function newestOf(runs: Saved[], kind: (run: Saved) => unknown): Saved[] {
  const sorted = runs.toSorted((a, b) => b.savedAtMs - a.savedAtMs);
  return sorted.filter((run, k) => sorted.findIndex((other) => kind(other) === kind(run)) === k);
}

/** Newest run of each of the last visits, newest first. `others` excludes this visit. */
export async function loadRuns(room: string, others: boolean): Promise<Saved[]> {
  const kept = newestOf(await all(room), (run) => run.visit).slice(0, VISITS_KEPT);
  return kept.filter((run) => !others || run.visit !== visit);
}

/** This visit's newest run of each variant, newest first. */
export async function loadVisit(room: string): Promise<Saved[]> {
  return newestOf(
    (await all(room)).filter((run) => run.visit === visit),
    (run) => run.variant,
  );
}
