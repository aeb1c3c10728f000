// User data of a run, from a file.

import type { Dataset } from "./protocol";

/** Reads a file as the data of a new run. */
export async function datasetOf(file: File): Promise<Dataset> {
  const content = new Uint8Array(await file.arrayBuffer());
  return { name: file.name, bytes: content.length, hash: "", content };
}
