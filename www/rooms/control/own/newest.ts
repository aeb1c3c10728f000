// Finds the environment file that the editor opens first. The first run of the visitor's own environments trains in the same file.

import { createFile, FileError, lastOpen, listFiles, rememberOpen } from "./files";
import { readPython } from "./imported";
import type { Template } from "./templates";

/** File name of the template for a first visit. */
const FIRST = "catch.py";

/** Loads the templates, which the page loads only when they are needed. */
export async function templates(): Promise<Template[]> {
  const loaded = await import("./templates").catch(() => {
    throw new FileError("The templates could not be loaded.", "Check the connection and reload the page.");
  });
  return loaded.TEMPLATES;
}

/** Returns the template of a first visit. */
export async function first(): Promise<Template> {
  const all = await templates();
  return all.find(({ name }) => name === FIRST) ?? all[0]!;
}

/** Returns the file that was open last, or the latest file. If no file is stored, returns the template for a first visit. */
export async function newest(): Promise<File> {
  const files = await listFiles().catch(() => []);
  const last = lastOpen();
  const { name, text } = files.find(({ id }) => id === last) ?? files[0] ?? (await first());
  return new File([text], name);
}

/** Stores a file that the visitor has dropped, as the file that was open last. Returns the error if the file cannot be stored. */
export async function keep(file: File): Promise<FileError | undefined> {
  try {
    rememberOpen(await createFile(file.name, await readPython(file)));
    return undefined;
  } catch (error) {
    if (error instanceof FileError) return error;
    throw error;
  }
}
