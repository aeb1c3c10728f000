// Access to one object store in IndexedDB. The database is opened for each transaction. If the storage is unavailable or full, the
// functions reject, and the caller handles the error.

const STORE = "runs";
/** Time after which a storage that does not answer counts as unavailable. */
const ANSWER_MS = 10_000;

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    // The rejection has no effect if the storage has already answered.
    setTimeout(reject, ANSWER_MS, new Error("the storage of this browser does not answer"));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds an older store"));
  });
}

/**
 * Calls `work` in a transaction. Resolves to the result of the request that `work` returns. With `strict` durability, the data is on disk
 * when the promise resolves.
 */
export async function within<T>(
  name: string,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
  durability: IDBTransactionDurability = "default",
): Promise<T> {
  const database = await open(name);
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode, { durability });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}
