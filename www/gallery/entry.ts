// An entry of the gallery: its file, and everything that follows from it.

import type { Digest } from "../run/protocol";

/** Values by the names of their columns. An unknown value is null. */
export type Named = Record<string, number | null>;

/** An entry's file; see `crates/run/src/gallery.rs`. */
interface EntryFile {
  /** Id of a track; empty for an entry without a track. */
  track: string;
  title: string;
  author: string;
  text: string;
  link: string;
  arithmetic: string;
  digests: Record<string, string>;
  /** Values of a column by iterations. The name of the column begins with `metrics.` or `test.`. */
  curve: { column: string; points: Record<string, number> };
  end: Named;
  solved: Named | null;
  test: Named;
  cpu_seconds: number;
  chip: string;
  threads: number;
}

export type Entry = EntryFile & {
  /** Name of the file, without its ending. */
  id: string;
};

type Table = Record<string, unknown>;
type Test = (value: unknown) => boolean;

const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber: Test = (value) => Number.isFinite(value);
const has =
  (form: RegExp): Test =>
  (value) =>
    typeof value === "string" && form.test(value);
const isText = has(/^/);
const isFilled = has(/\S/);
/** Returns a test that accepts an object if all its keys match `form` and all its values pass `holds`. */
const tableOf =
  (form: RegExp, holds: Test): Test =>
  (value) =>
    isTable(value) && Object.entries(value).every(([key, one]) => form.test(key) && holds(one));
const isNamed = tableOf(/^/, (value) => value === null || isNumber(value));
const ITERATION = /^\d+$/;
const isDigests = tableOf(ITERATION, has(/^[0-9a-f]+$/));
const isPoints = tableOf(ITERATION, isNumber);

/** Validity test of each field of a file. */
const FIELDS: Record<keyof EntryFile, Test> = {
  track: isText,
  title: isFilled,
  author: isFilled,
  text: isFilled,
  link: has(/^#\//),
  arithmetic: has(/^\w+$/),
  digests: (value) => isDigests(value) && Object.keys(value as Table).length > 0,
  curve: (value) => isTable(value) && isText(value.column) && isPoints(value.points),
  end: isNamed,
  solved: (value) => value === null || isNamed(value),
  test: isNamed,
  cpu_seconds: isNumber,
  chip: isText,
  threads: isNumber,
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the reason why a file is no entry; undefined if it is one. */
function fault(id: string, file: unknown): string | undefined {
  // Restricts the file name, because the card shows a command that contains it.
  if (!/^[\w.-]+$/.test(id)) return "its name has other characters than letters, digits, dots and hyphens";
  if (!isTable(file)) return "it is no JSON object";
  const wrong = Object.entries(FIELDS).find(([name, holds]) => !holds(file[name]));
  return wrong && `its ${wrong[0]} is missing or malformed`;
}

export const idOf = (path: string): string => path.replace(/^.*\//, "").replace(/\.json$/, "");

/** Reads entries. `texts` maps the path of a file to its text. Returns the valid entries, and a sentence for each invalid file. */
export function readEntries(texts: Record<string, string>): { entries: Entry[]; faults: string[] } {
  const [entries, faults]: [Entry[], string[]] = [[], []];
  for (const [path, text] of Object.entries(texts)) {
    const [id, file] = [idOf(path), parsed(text)];
    const why = fault(id, file);
    if (why) faults.push(`gallery/${id}.json is not shown, because ${why}.`);
    else entries.push({ ...(file as EntryFile), id });
  }
  return { entries, faults };
}

/** Returns the number that ranks an entry; undefined if the entry has no such number. `score` is a name such as `test.mean_return`. */
export function scoreOf(entry: Entry, score: string): number | undefined {
  const [group, name] = score.split(".") as [keyof Entry, string?];
  const values = entry[group];
  const found = name ? (values as Named | null)?.[name] : values;
  return typeof found === "number" ? found : undefined;
}

/** Returns the digests of an entry, oldest first. */
export const digestsOf = ({ digests, arithmetic }: Entry): Digest[] =>
  Object.entries(digests)
    .map(([iteration, weights]) => ({ iteration: Number(iteration), weights, arithmetic }))
    .toSorted((a, b) => a.iteration - b.iteration);

/** Returns the link that opens the run of an entry. The page then compares the run with the entry. */
export function checkedLink(entry: Entry): string {
  const { iteration, weights, arithmetic } = digestsOf(entry).at(-1)!;
  return `${entry.link}&digest=${iteration}.${weights}.${arithmetic}`;
}
