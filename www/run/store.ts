// The runs of the last two visits to a room in this browser, in IndexedDB. Storage may be refused or full: whoever calls says so.

import { ROOMS } from "../rooms";

export interface Saved {
  /** When the visit began whose run this is, in ms. */
  visit: number;
  bytes: Uint8Array;
  savedAtMs: number;
}

const STORE = "runs";
const VISITS_KEPT = 2;
const visit = Date.now();
/** Saves of this visit by room. */
const saves = new Map<string, number>();

const nameOf = (room: string): string => ROOMS.find(({ id }) => id === room)?.store ?? `hothouse-${room}`;

function open(room: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(nameOf(room), 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds an older store"));
  });
}

async function within<T>(room: string, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open(room);
  try {
    return await new Promise((resolve, reject) => {
      // Strict: what is said to be kept is on the disk.
      const transaction = database.transaction(STORE, mode, { durability: "strict" });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/**
 * Keeps this visit's run, in two places by turns: what a closing tab cuts off in the middle of its writing may be lost, and
 * the one before it must not be. The first time, what no visit that is kept needs any more is dropped.
 */
export async function saveRun(room: string, bytes: Uint8Array): Promise<void> {
  const count = saves.get(room) ?? 0;
  const key = `${visit}-${count % 2}`;
  await within(room, "readwrite", (store) => store.put({ visit, bytes, savedAtMs: Date.now() } satisfies Saved, key));
  saves.set(room, count + 1);
  if (count > 0) return;
  const kept = (await loadRuns(room)).map((run) => run.visit);
  const keys = await within(room, "readonly", (store) => store.getAllKeys());
  const dropped = keys.filter((key) => !kept.some((visit) => String(key).startsWith(`${visit}-`)));
  for (const key of dropped) await within(room, "readwrite", (store) => store.delete(key));
}

/** The newest run of each of the last visits, the newest first. */
export async function loadRuns(room: string): Promise<Saved[]> {
  const all = await within(room, "readonly", (store) => store.getAll() as IDBRequest<Saved[]>);
  all.sort((a, b) => b.savedAtMs - a.savedAtMs);
  return all.filter((run, k) => all.findIndex((other) => other.visit === run.visit) === k).slice(0, VISITS_KEPT);
}
