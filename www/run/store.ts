// The runs of the last two visits in this browser, in IndexedDB. Storage may be refused or full: whoever calls says so.

export interface Saved {
  bytes: Uint8Array;
  savedAtMs: number;
}

const STORE = "runs";
const LAST = "last";
const BEFORE = "before";
/** Whether this visit has moved the run of the one before it out of its way. */
let moved = false;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("hothouse", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds an older store"));
  });
}

async function within<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** Keeps this visit's run. At its first time the earlier visit's run moves to the other slot. */
export async function saveRun(bytes: Uint8Array): Promise<void> {
  const first = !moved;
  moved = true;
  try {
    await within("readwrite", (store) => {
      if (first) {
        // Requests of a transaction are answered in their order, so this is still the earlier visit's.
        const earlier = store.get(LAST);
        earlier.onsuccess = () => earlier.result && store.put(earlier.result, BEFORE);
      }
      return store.put({ bytes, savedAtMs: Date.now() } satisfies Saved, LAST);
    });
  } catch (error) {
    if (first) moved = false;
    throw error;
  }
}

/** The runs kept, the newest first. */
export const loadRuns = async (): Promise<Saved[]> =>
  (await within("readonly", (store) => store.getAll() as IDBRequest<Saved[]>)).sort((a, b) => b.savedAtMs - a.savedAtMs);
