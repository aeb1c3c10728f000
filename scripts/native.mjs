// The native program and the native tests, in a single build. Both use the same features, so nothing is compiled twice.
import { dirname, join } from "node:path";
import { root, sh, step, Trouble } from "./sh.mjs";

export const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
export const SELECTION = ["--release", "--workspace", "--features", "run/typescript,bandit/terminal,web/bench"];
/** Time limit of a test file. The slowest file takes some minutes. */
const PATIENCE_MS = 2_400_000;

/**
 * Builds `hothouse` and the library of the Python package in the tests' profile, and returns the program's path. Also builds the program's
 * tests: otherwise cargo would resolve other features and recompile half of the dependencies.
 */
export async function program() {
  const args = ["build", ...SELECTION, "--bin", "hothouse", "--lib", "--test", "cli"];
  await step("native program", async () => void (await sh("cargo", args)));
  return join(target, "release/hothouse");
}

/**
 * Runs the native tests, or only the slow ones if `ignored` is true. Returns `{ passed, failed, skips }`; `skips` lists skipped tests with
 * reasons.
 */
export async function nativeTests({ ignored = false } = {}) {
  let files;
  await step("native tests compiled", async () => {
    const out = await sh("cargo", ["test", ...SELECTION, "--no-run", "--message-format=json-render-diagnostics"]);
    files = testFiles(out);
    return `${files.length} files`;
  });
  const total = { passed: 0, failed: 0, skips: [] };
  const add = ({ passed, failed, skips }, title) => {
    total.passed += passed;
    total.failed += failed;
    total.skips.push(...skips.map((skip) => `${title}: ${skip}`));
  };
  const failures = [];
  // One file at a time. Most files use all cores, and two at once take longer, because each waits for the other's threads.
  for (const { title, executable, folder } of files)
    await step(title, async () => {
      try {
        const counts = counted(await sh(executable, ignored ? ["--ignored"] : [], { cwd: folder, limitMs: PATIENCE_MS }));
        add(counts, title);
        return said(counts);
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        failures.push(title);
        const counts = counted(error.output ?? "");
        add({ ...counts, failed: Math.max(1, counts.failed) }, title); // a crashed process reports no failures
        return "FAILED";
      }
    });
  if (!ignored)
    await step("examples in comments", async () => {
      const counts = counted(await sh("cargo", ["test", ...SELECTION, "--doc"]));
      add(counts, "examples");
      return said(counts);
    });
  if (failures.length) console.log(`Failed: ${failures.join(", ")}`);
  return total;
}

/** Returns the test files from cargo's JSON messages, as `{ title, name, crate, executable, folder }`. */
export function testFiles(messages) {
  return messages
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ reason, executable, profile }) => reason === "compiler-artifact" && executable && profile.test)
    .map(({ executable, manifest_path, target: { name, kind } }) => {
      const folder = dirname(manifest_path);
      const crate = folder.split(/[\\/]/).at(-1);
      return { title: `${crate}: ${kind.includes("test") ? name : "in its sources"}`, name, crate, executable, folder };
    });
}

/** Parses the output of cargo's test runner: the numbers of tests, and the names of skipped (`testkit::skip`) and ignored tests. */
export function counted(output) {
  const sums = [...output.matchAll(/test result: \w+\. (\d+) passed; (\d+) failed/g)];
  const sum = (column) => sums.reduce((total, match) => total + Number(match[column]), 0);
  const named = (pattern) => [...output.matchAll(pattern)].map(([, name, why]) => `${name}: ${why}`);
  const returned = named(/^SKIPPED (\S+): (.+)$/gm);
  return { passed: sum(1) - returned.length, failed: sum(2), skips: [...returned, ...named(/^test (\S+) \.\.\. ignored, (.+)$/gm)] };
}

const said = ({ passed, skips }) =>
  passed || skips.length ? `${passed} passed${skips.length ? `, ${skips.length} skipped` : ""}` : "no tests";
