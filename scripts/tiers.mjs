// The two tiers of tests. `npm test` checks every guarantee at its cheapest. `npm test -- --all` runs everything. A test belongs to the
// tier `--all` only if a cheaper test of `npm test` notices the same fault in most cases; the declaration of the test names this test:
//
//     Rust      #[ignore = "all: name of the cheaper test"]
//     page      inAll("name of the cheaper test", "name of this test", …)
//     Python    @pytest.mark.all("name of the cheaper test")
//
// Loops over seeds and sizes can read the tier instead: `testkit::all()` in Rust, `ALL` here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filesUnder, root } from "./sh.mjs";

/** Environment variable that the tests read. */
export const TIER = "HOTHOUSE_TESTS";
if (process.argv.includes("--all")) process.env[TIER] = "all"; // the processes of the tests read it too
/** True if everything runs: in `npm test -- --all` and in the processes that it starts. */
export const ALL = process.env[TIER] === "all";

/** Declares a test of the tier `--all`. `_cheaper` names the test of `npm test` that notices the same fault in most cases. */
export function inAll(_cheaper, ...of) {
  if (ALL) test(...of);
}

const text = String.raw`(?:"((?:[^"\\]|\\.)*)"|\x60([^\x60]*)\x60)`;
const DECLARATIONS = [
  [/\.rs$/, /#\[ignore = "all: ([^"]*)"\](?:\s*#\[[^\]]*\])*\s*fn (\w+)/g],
  [/\.mjs$/, new RegExp(String.raw`\binAll\(\s*${text},\s*${text}`, "g")],
  [/\.py$/, /@pytest\.mark\.all\("([^"]*)"\)(?:\s*@[^\n]*)*\s*def (\w+)/g],
];

const sources = () => ["crates", "tests"].flatMap((folder) => filesUnder(join(root, folder)));

/** Returns the tests of the tier `--all`: `{ file, name, cheaper }`. */
export function moved() {
  return sources().flatMap((path) =>
    DECLARATIONS.filter(([kind]) => kind.test(path)).flatMap(([, declaration]) =>
      [...readFileSync(path, "utf8").matchAll(declaration)].map((match) => {
        const [cheaper, name] = match.slice(1).filter((part) => part !== undefined);
        return { file: path.slice(root.length + 1), name, cheaper };
      }),
    ),
  );
}

const NAMES = /\bfn (\w+)\(|\bdef (test_\w+)\(|\btest\(\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g;

/** Returns the tests of the tier `--all` whose cheaper test does not exist, or is a test of that tier itself. */
export function orphans() {
  const all = moved();
  const texts = sources().filter((path) => /\.(rs|mjs|py)$/.test(path));
  const inTier = new Set(all.map(({ name }) => name));
  const found = texts.flatMap((path) => [...readFileSync(path, "utf8").matchAll(NAMES)].map((match) => match.slice(1).find(Boolean)));
  // Of a name with an expression, some tests may be outside the tier.
  const names = found.filter((name) => name.includes("${") || !inTier.has(name));
  // A name may contain expressions, such as the name of a room.
  const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const patterns = names.map(
    (name) =>
      new RegExp(
        `^${name
          .split(/\$\{[^}]*\}/)
          .map(literal)
          .join(".+")}$`,
      ),
  );
  return all.filter(({ cheaper }) => !patterns.some((pattern) => pattern.test(cheaper)));
}
