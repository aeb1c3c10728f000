// Python files that the visitor opens or drops on the page.

import { textOf } from "../../../run/notice";
import { checkSize, FileError } from "./files";
import { isPython } from "./python";

/**
 * Reads a file that the visitor has opened or dropped. Throws if the name does not end with `.py`, or if the content is not UTF-8 or is too
 * long.
 */
export async function readPython(file: File): Promise<string> {
  if (!isPython(file)) throw new FileError(`${file.name} is not a Python file.`, "Open a file with the ending .py.");
  checkSize(file.size);
  const bytes = await file.arrayBuffer().catch((error) => {
    throw new FileError(`${file.name} cannot be read: ${textOf(error)}.`, "Try again.");
  });
  const text = decoded(bytes);
  if (text === undefined) throw new FileError(`${file.name} is not a text in UTF-8.`, "Save it in UTF-8 and open it again.");
  return text.replaceAll(/\r\n?/g, "\n");
}

/** Decodes UTF-8 and removes a byte order mark. Returns undefined if the data are not text in UTF-8. */
function decoded(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
