// Durations of the parts, compilations and tests of `npm test`. The file target/test-times.json keeps the latest durations of each part.
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
export const FILE = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "test-times.json");

/** The entries of the part that runs. Parts can run at the same time, so each part has a list of its own. */
const current = new AsyncLocalStorage();

/** Runs `work` and returns its result and the entries that were recorded meanwhile: `{ result, entries }`. */
export async function recorded(work) {
  const entries = [];
  return { result: await current.run(entries, work), entries };
}

/** Adds an entry to the current part. `kind` is "compilation" or "test". Outside a part, the entry is dropped. */
export function record(kind, name, seconds) {
  current.getStore()?.push({ kind, name, seconds: Number(seconds.toFixed(2)) });
}

/** Returns the stored durations by part: `{ tier, seconds, compilations, tests }`. */
export function stored() {
  try {
    return JSON.parse(readFileSync(FILE, "utf8"));
  } catch {
    return {}; // no file, or a file that an interrupted run left
  }
}

/** Stores the durations of a part in place of its earlier ones. */
export function store(part, tier, seconds, entries) {
  const of = (kind) => entries.filter((entry) => entry.kind === kind).map(({ name, seconds }) => ({ name, seconds }));
  const all = { ...stored(), [part]: { tier, seconds: Number(seconds.toFixed(1)), compilations: of("compilation"), tests: of("test") } };
  if (!existsSync(dirname(FILE))) mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(all, null, 1)}\n`);
}

const row = ({ part, name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${part}: ${name}`;

/** Returns the lines of the `count` slowest tests of the parts `{ name, entries }`. */
export function slowest(parts, count) {
  const tests = parts.flatMap(({ name, entries }) =>
    entries.filter(({ kind }) => kind === "test").map((test) => ({ part: name, ...test })),
  );
  return tests
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(row);
}

/** Returns a line for each part, compilation and test of the latest run of each part. */
export function listed() {
  return Object.entries(stored()).flatMap(([part, { tier, seconds, compilations, tests }]) => [
    `${seconds.toFixed(1).padStart(6)} s  ${part} (${tier}): ${tests.length} tests`,
    ...compilations.map((one) => `  ${row({ part: "compilation", ...one })}`),
    ...tests.map((one) => `  ${row({ part, ...one })}`),
  ]);
}
