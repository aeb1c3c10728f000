// Saves of the trained run with its interactions, such as a match. A reload of the tab continues the saved interactions. The tab's session
// storage contains the key of the save in IndexedDB. If the storage is unavailable or full, the functions reject, and the caller handles
// the error.

import { within } from "./database";

type Kept = { bytes: Uint8Array; digest: string; savedAtMs: number };

const NAME = "hothouse-trained";
/** Age at which saves are deleted. They belong to other tabs. */
const OLD_MS = 7 * 86_400_000;
const keyOf = (room: string): string => `${NAME}-${room}`;

/** Returns the key of this tab's save; null if the tab has no save. */
export function interactionsKey(room: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(room));
  } catch {
    return null; // without session storage, a reload begins anew
  }
}

/** Stores a save of the trained agent whose weights have the digest `digest`. The first save of a tab deletes old saves of other tabs. */
export async function keepInteractions(room: string, bytes: Uint8Array, digest: string): Promise<void> {
  let key = interactionsKey(room);
  if (!key) {
    key = `${room}/${Date.now()}-${Math.random().toString(36).slice(2)}`;
    sessionStorage.setItem(keyOf(room), key);
    await prune();
  }
  const kept: Kept = { bytes, digest, savedAtMs: Date.now() };
  await within(NAME, "readwrite", (store) => store.put(kept, key), "strict");
}

/** Returns the tab's save. Returns undefined if there is no save, or if the save belongs to an agent with another digest. */
export async function loadInteractions(room: string, digest: string): Promise<Uint8Array | undefined> {
  const key = interactionsKey(room);
  const kept = key ? await within(NAME, "readonly", (store) => store.get(key) as IDBRequest<Kept | undefined>) : undefined;
  return kept?.digest === digest ? kept.bytes : undefined;
}

export async function dropInteractions(room: string): Promise<void> {
  const key = interactionsKey(room);
  if (!key) return;
  sessionStorage.removeItem(keyOf(room));
  await within(NAME, "readwrite", (store) => store.delete(key));
}

async function prune(): Promise<void> {
  const [keys, all] = await Promise.all([
    within(NAME, "readonly", (store) => store.getAllKeys()),
    within(NAME, "readonly", (store) => store.getAll() as IDBRequest<Kept[]>),
  ]);
  for (const [k, { savedAtMs }] of all.entries())
    if (Date.now() - savedAtMs > OLD_MS) await within(NAME, "readwrite", (store) => store.delete(keys[k]!));
}
