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

/** Groups of values that a check recomputes. Only these values rank entries. */
const GROUPS = ["end", "solved", "test"] as const;

type Table = Record<string, unknown>;
type Test = (value: unknown) => boolean;

const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber: Test = (value) => Number.isFinite(value);
const isPositive: Test = (value) => isNumber(value) && Number(value) > 0;
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
const ITERATION = /^(0|[1-9]\d*)$/;
const isDigests = tableOf(ITERATION, has(/^[0-9a-f]{16}$/));
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
  curve: (value) => isTable(value) && isText(value.column) && isPoints(value.points) && Object.keys(value).length === 2,
  end: isNamed,
  solved: (value) => value === null || isNamed(value),
  test: isNamed,
  cpu_seconds: isPositive,
  chip: isFilled,
  threads: (value) => isPositive(value) && Number.isInteger(value),
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a key that occurs twice in an object of a valid JSON text; undefined if there is none. `JSON.parse` keeps the last value. */
function repeatedKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, word, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (colon) {
      const [key, keys] = [JSON.parse(word!) as string, open.at(-1)!];
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}

/** Returns the reason why a file is no entry; undefined if it is one. */
function fault(id: string, text: string, file: unknown): string | undefined {
  // Restricts the file name, because the card shows a command that contains it.
  if (!/^[\w.-]+$/.test(id)) return "its name has other characters than letters, digits, dots and hyphens";
  if (!isTable(file)) return "it is no JSON object";
  const repeated = repeatedKey(text);
  if (repeated !== undefined) return `its key ${repeated} occurs twice`;
  const unknown = Object.keys(file).find((name) => !Object.hasOwn(FIELDS, name));
  if (unknown !== undefined) return `it has the unknown key ${unknown}`;
  const wrong = Object.entries(FIELDS).find(([name, holds]) => !holds(file[name]));
  return wrong && `its ${wrong[0]} is missing or malformed`;
}

export const idOf = (path: string): string => path.replace(/^.*\//, "").replace(/\.json$/, "");

/** Reads entries. `texts` maps the path of a file to its text. Returns the valid entries, and a sentence for each invalid file. */
export function readEntries(texts: Record<string, string>): { entries: Entry[]; faults: string[] } {
  const [entries, faults]: [Entry[], string[]] = [[], []];
  for (const [path, text] of Object.entries(texts)) {
    const [id, file] = [idOf(path), parsed(text)];
    const why = fault(id, text, file);
    if (why) faults.push(`gallery/${id}.json is not shown, because ${why}.`);
    else entries.push({ ...(file as EntryFile), id });
  }
  return { entries, faults };
}

/** Returns the number that ranks an entry; undefined if the entry has no such number. `score` is a name such as `test.mean_return`. */
export function scoreOf(entry: Entry, score: string): number | undefined {
  const [first, name = ""] = score.split(".");
  const group = GROUPS.find((group) => group === first);
  return (group && entry[group]?.[name]) ?? undefined;
}

/** Returns the processor that trained an entry, in words. */
export const trainedOn = ({ chip, threads }: Entry): string => `${chip}, ${threads} ${threads === 1 ? "thread" : "threads"}`;

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
