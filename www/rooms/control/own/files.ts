// The visitor's own environments: named files in this browser's IndexedDB. A function that fails throws a `FileError` and leaves the stored
// files unchanged.

import { within } from "../../../run/database";
import { textOf } from "../../../run/notice";
import { count } from "../../../parts/format";
import { recall, remember } from "../../../parts/prefs";

export interface OwnFile {
  id: string;
  /** Name with the ending `.py`. No two files have the same name. */
  name: string;
  text: string;
  /** Time of the last change of the text. It also identifies the version of the text. */
  editedMs: number;
}

export const MOST_FILES = 100;
/** Maximum size of a file's text, in bytes of UTF-8. The compiler has the same limit. */
export const MOST_BYTES = 100_000;
const MOST_CHARACTERS = 60;
const DATABASE = "hothouse-files";
const LAST = "control.file";
const ENDING = ".py";

/** A failure of an operation on files. The message and the next step are sentences for the visitor. */
export class FileError extends Error {
  constructor(
    message: string,
    readonly nextStep: string,
    /** True if the browser's storage failed, so that the text is only in the page's memory. */
    readonly storage = false,
  ) {
    super(message);
  }
}

/** Describes a failure of the browser's storage. */
function failure(error: unknown): FileError {
  if (error instanceof FileError) return error;
  const full = error instanceof DOMException && error.name === "QuotaExceededError";
  const cause = full ? "its storage is full" : textOf(error ?? "the transaction was aborted");
  return new FileError(`This browser could not store the file: ${cause}.`, "Download the file before you close the page.", true);
}

/**
 * Reads with `read`, passes the result to `decide`, and stores the file that `decide` returns. All steps are in one transaction. If
 * `decide` throws, nothing is stored.
 */
async function change<T>(read: (store: IDBObjectStore) => IDBRequest<T>, decide: (found: T) => OwnFile): Promise<OwnFile> {
  let written: OwnFile | undefined;
  let thrown: unknown;
  const work = (store: IDBObjectStore): IDBRequest<T> => {
    const request = read(store);
    request.onsuccess = () => {
      try {
        written = decide(request.result);
        store.put(written, written.id);
      } catch (error) {
        thrown = error;
        store.transaction.abort();
      }
    };
    return request;
  };
  await within(DATABASE, "readwrite", work, "strict").catch((error) => {
    throw failure(thrown ?? error);
  });
  return written!;
}

const everything = (store: IDBObjectStore): IDBRequest<OwnFile[]> => store.getAll();
const one = (id: string) => (store: IDBObjectStore) => store.get(id) as IDBRequest<OwnFile | undefined>;

/** Throws if a text is too long for a file. */
export function checkSize(bytes: number): void {
  if (bytes > MOST_BYTES)
    throw new FileError(`The file has ${count(bytes)} bytes, and the limit is ${count(MOST_BYTES)} bytes.`, "Shorten the file.");
}

const checkText = (text: string): void => checkSize(new TextEncoder().encode(text).length);

function checkCount(all: OwnFile[]): void {
  if (all.length >= MOST_FILES) throw new FileError(`There are ${MOST_FILES} files, which is the limit.`, "Delete a file first.");
}

/** Converts the wanted name to a file name: removes spaces at both ends and adds the ending `.py`. Throws if the name is not permitted. */
function nameOf(wanted: string): string {
  const stem = wanted.trim().replace(/\.py$/i, "").trim();
  if (!stem) throw new FileError("The name is empty.", "Enter a name.");
  if (stem.length > MOST_CHARACTERS) throw new FileError("The name is too long.", `Use at most ${MOST_CHARACTERS} characters.`);
  const wrong = /[\p{Cc}\\/:*?"<>|]|^\./u.exec(stem)?.[0];
  if (wrong) throw new FileError(`A name cannot ${wrong === "." ? "begin with a full stop" : `contain ${wrong}`}.`, "Enter another name.");
  return stem + ENDING;
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Returns `name`, or `name` with a number if another file already has this name. */
function freeName(name: string, all: OwnFile[]): string {
  const stem = name.slice(0, -ENDING.length).replace(/ \d+$/, "");
  let free = name;
  for (let k = 2; all.some((file) => same(file.name, free)); k++) free = `${stem} ${k}${ENDING}`;
  return free;
}

/** Returns the files. The file that was changed last is first. */
export async function listFiles(): Promise<OwnFile[]> {
  const all = await within(DATABASE, "readonly", everything).catch((error) => {
    throw new FileError(
      `This browser's storage is not available: ${textOf(error)}.`,
      "Download your files before you close the page.",
      true,
    );
  });
  return all.sort((a, b) => b.editedMs - a.editedMs);
}

/** Returns a new file, which is not stored yet. The id does not use `crypto.randomUUID`, because this function is missing without https. */
export function fileOf(name: string, text: string): OwnFile {
  return { id: `${Date.now()}-${Math.random()}`, name, text, editedMs: Date.now() };
}

/** Creates a file. If another file has the name, the name gets a number. */
export async function createFile(name: string, text: string): Promise<OwnFile> {
  checkText(text);
  const wanted = nameOf(name);
  return change(everything, (all) => {
    checkCount(all);
    return fileOf(freeName(wanted, all), text);
  });
}

/**
 * Stores a new text of a file, and returns the stored file. If another tab has changed or deleted the file since `file` was read, stores
 * the text as another file. Both texts are then kept.
 */
export async function saveText(file: OwnFile, text: string): Promise<OwnFile> {
  checkText(text);
  let lost = false;
  const saved = change(one(file.id), (found) => {
    lost = found?.editedMs !== file.editedMs;
    if (!found || lost) throw new FileError("Another tab has changed the file.", "");
    return { ...found, text, editedMs: Math.max(Date.now(), found.editedMs + 1) };
  });
  return saved.catch((error) => {
    if (lost) return createFile(file.name, text);
    throw error;
  });
}

export async function renameFile({ id }: OwnFile, name: string): Promise<OwnFile> {
  const wanted = nameOf(name);
  return change(everything, (all) => {
    if (all.some((other) => other.id !== id && same(other.name, wanted)))
      throw new FileError(`Another file has the name ${wanted}.`, "Enter another name.");
    const file = all.find((other) => other.id === id);
    if (!file) throw new FileError("The file is not stored.", "Save it first.");
    return { ...file, name: wanted };
  });
}

/** Creates a file with the same text as another file. */
export const duplicateFile = ({ name, text }: OwnFile): Promise<OwnFile> => createFile(name, text);

/** Deletes a file. The returned function restores it. */
export async function deleteFile(file: OwnFile): Promise<() => Promise<OwnFile>> {
  const work = (store: IDBObjectStore): IDBRequest<OwnFile | undefined> => {
    const found = one(file.id)(store);
    store.delete(file.id);
    return found;
  };
  const deleted = await within(DATABASE, "readwrite", work, "strict").catch((error) => {
    throw new FileError(`This browser could not delete the file: ${textOf(error)}.`, "Try again.");
  });
  const last = deleted ?? file;
  return () =>
    change(everything, (all) => {
      checkCount(all);
      return { ...last, name: freeName(last.name, all) };
    });
}

/** Id of the file that was open last; null if no file has been open. */
export const lastOpen = (): string | null => recall(LAST);
export const rememberOpen = (file: OwnFile | undefined): void => remember(LAST, file?.id ?? null);
