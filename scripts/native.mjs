// The native program and the native tests, from one build: `cargo test` and this program have the same features, so that nothing
// is compiled twice.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, sh, sideBySide, step, Trouble } from "./sh.mjs";

export const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
export const SELECTION = ["--release", "--workspace", "--features", "run/typescript,bandit/terminal"];
/** Files of tests side by side. Most of a test waits now and then: for a process, for a lock, for its last thread. */
const AT_ONCE = 2;
/** The longest takes some minutes; one that hangs must fail. */
const PATIENCE_MS = 2_400_000;

/**
 * Builds `hothouse` and the library of the Python package as the tests have them; gives the program's path. It is asked for together with
 * the program's tests: without any, cargo leaves out what tests ask of the dependencies, and compiles half of them anew for that.
 */
export async function program() {
  const args = ["build", ...SELECTION, "--bin", "hothouse", "--lib", "--test", "cli"];
  await step("native program", async () => void (await sh("cargo", args)));
  return join(target, "release/hothouse");
}

/** Every native test, or with `ignored` those that take minutes; gives `{ passed, failed, skips }`. */
export async function nativeTests({ ignored = false } = {}) {
  let files;
  await step("native tests compiled", async () => {
    const out = await sh("cargo", ["test", ...SELECTION, "--no-run", "--message-format=json-render-diagnostics"]);
    files = testFiles(out);
    return `${files.length} files`;
  });
  // Those that took longest the last time begin, so that none of them runs alone in the end; on a fresh machine the largest.
  const timesAt = join(target, "test-seconds.json");
  let seconds = {};
  try {
    seconds = JSON.parse(readFileSync(timesAt, "utf8"));
  } catch {} // the first time
  const weight = ({ title, executable }) => seconds[title] ?? statSync(executable).size / 1e6;
  const total = { passed: 0, failed: 0, skips: [] };
  const add = ({ passed, failed, skips }, title) => {
    total.passed += passed;
    total.failed += failed;
    total.skips.push(...skips.map((skip) => `${title}: ${skip}`));
  };
  const failures = [];
  const work = async ({ title, executable, folder }) => {
    const began = performance.now();
    await step(title, async () => {
      try {
        const counts = counted(await sh(executable, ignored ? ["--ignored"] : [], { cwd: folder, limitMs: PATIENCE_MS }));
        add(counts, title);
        return said(counts);
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        failures.push(title);
        const counts = counted(error.output ?? "");
        add({ ...counts, failed: Math.max(1, counts.failed) }, title); // a process that died reported none
        return "FAILED";
      }
    });
    seconds[title] = (performance.now() - began) / 1000;
  };
  await sideBySide(
    AT_ONCE,
    files.sort((a, b) => weight(b) - weight(a)),
    work,
  );
  mkdirSync(target, { recursive: true });
  writeFileSync(timesAt, JSON.stringify(seconds));
  if (!ignored)
    await step("examples in comments", async () => {
      const counts = counted(await sh("cargo", ["test", ...SELECTION, "--doc"]));
      add(counts, "examples");
      return said(counts);
    });
  if (failures.length) console.log(`Failed: ${failures.join(", ")}`);
  return total;
}

/** The files of tests that cargo says it built, as `{ title, name, crate, executable, folder }`. */
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

/** What cargo's runner says it ran, and the names of what it did not run: tests that said so (`testkit::skip`), and ignored ones. */
export function counted(output) {
  const sums = [...output.matchAll(/test result: \w+\. (\d+) passed; (\d+) failed/g)];
  const sum = (column) => sums.reduce((total, match) => total + Number(match[column]), 0);
  const named = (pattern) => [...output.matchAll(pattern)].map(([, name, why]) => `${name}: ${why}`);
  const returned = named(/^SKIPPED (\S+): (.+)$/gm);
  return { passed: sum(1) - returned.length, failed: sum(2), skips: [...returned, ...named(/^test (\S+) \.\.\. ignored, (.+)$/gm)] };
}

const said = ({ passed, skips }) =>
  passed || skips.length ? `${passed} passed${skips.length ? `, ${skips.length} skipped` : ""}` : "no tests";
