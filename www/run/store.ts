// The last run in this browser, in IndexedDB. Storage may be refused or full: whoever calls says so.

export interface Saved {
  bytes: Uint8Array;
  savedAtMs: number;
}

const STORE = "runs";
const LAST = "last";

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

export const saveLast = (bytes: Uint8Array): Promise<unknown> =>
  within("readwrite", (store) => store.put({ bytes, savedAtMs: Date.now() } satisfies Saved, LAST));

export const loadLast = (): Promise<Saved | undefined> => within("readonly", (store) => store.get(LAST));
