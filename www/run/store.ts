// The runs of the last two visits to a room in this browser, in IndexedDB: of each visit the newest of each variant. A visit is
// one tab's, and goes on when its page is loaded again. Storage may be refused or full: whoever calls says so.

import { within } from "./database";

export interface Left {
  bytes: Uint8Array;
  variant: string;
  /** The link that begins it. */
  address: string;
  /** It has come at least so far. */
  iteration?: number;
}

/** A visit is told by when it began, in ms; runs from before variants were told apart name none. */
export type Saved = Omit<Left, "variant" | "address"> & Partial<Left> & { visit: number; savedAtMs: number };

const VISITS_KEPT = 2;
/** Of a room: beyond that its oldest runs go, but for the newest. */
const MOST_BYTES = 512e6;
const VISIT = "hothouse-visit";
let visit = thisVisit();
/** Saves since the page was loaded, by room and variant. */
const saves = new Map<string, number>();
let saving: Promise<unknown> = Promise.resolve();

function thisVisit(): number {
  try {
    const began = sessionStorage.getItem(VISIT) ?? String(Date.now());
    sessionStorage.setItem(VISIT, began);
    return Number(began);
  } catch {
    return Date.now(); // refused: a page that is loaded again is another visit
  }
}

/** From here on this tab's runs are another visit's. */
export function beginVisit(): void {
  visit = Date.now();
  saves.clear();
  try {
    sessionStorage.setItem(VISIT, String(visit));
  } catch {
    // as above
  }
}

/** Where the runs of a room are kept, if not in `hothouse-ROOM`. */
export const places = new Map<string, string>();
const nameOf = (room: string): string => places.get(room) ?? `hothouse-${room}`;

/** What is said to be kept is on the disk. */
const inStore = <T>(room: string, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
  within(nameOf(room), mode, work, "strict");
const all = (room: string): Promise<Saved[]> => inStore(room, "readonly", (store) => store.getAll() as IDBRequest<Saved[]>);

/**
 * Keeps this visit's run of a variant, in two places by turns: what a closing tab cuts off in the middle of its writing may be
 * lost, and the one before it must not be. So one save waits for another: a tab that closes asks for two. The first time, what no
 * visit that is kept needs any more is dropped.
 */
export function saveRun(room: string, run: Left): Promise<void> {
  const saved = saving.then(() => put(room, run));
  saving = saved.catch(() => {}); // told by whoever asked
  return saved;
}

async function put(room: string, run: Left): Promise<void> {
  const what = `${room}/${run.variant}`;
  const count = saves.get(what) ?? 0;
  saves.set(what, count + 1);
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

/** The newest of each kind, the newest first. */
function newestOf(runs: Saved[], kind: (run: Saved) => unknown): Saved[] {
  const sorted = runs.toSorted((a, b) => b.savedAtMs - a.savedAtMs);
  return sorted.filter((run, k) => sorted.findIndex((other) => kind(other) === kind(run)) === k);
}

/** The newest run of each of the last visits, the newest first; of `others`, of those before this one. */
export async function loadRuns(room: string, others: boolean): Promise<Saved[]> {
  const kept = newestOf(await all(room), (run) => run.visit).slice(0, VISITS_KEPT);
  return kept.filter((run) => !others || run.visit !== visit);
}

/** This visit's newest run of each variant, the newest first. */
export async function loadVisit(room: string): Promise<Saved[]> {
  return newestOf(
    (await all(room)).filter((run) => run.visit === visit),
    (run) => run.variant,
  );
}
