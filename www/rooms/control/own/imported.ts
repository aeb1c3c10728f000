// Python files that the visitor opens or drops on the page.

import { textOf } from "../../../run/notice";
import { checkSize, FileError } from "./files";
import { isPython } from "./python";

/** Reads a file that the visitor has opened or dropped. Throws if it is not a Python file in UTF-8, or too long. */
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

/** Decodes a text in UTF-8, without a byte order mark. Returns undefined for other data. */
function decoded(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
