// The native program and the native tests, in a single build. Both use the same features, so nothing is compiled twice.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { root, sh, step } from "./sh.mjs";
import { ALL } from "./tiers.mjs";
import { record } from "./times.mjs";

export const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
/**
 * What cargo builds. Of the features of the workspace's crates, only those that the program uses are on, and the crate `unify` aligns the
 * features of the dependencies, so that `cargo build --release` compiles nothing again. The crate `web` is for wasm alone.
 */
export const SELECTION = ["--release", "--workspace", "--exclude", "web", "--no-default-features", "--features", "bandit/terminal"];
/** Time limit of a test file. The slowest file takes some minutes. */
const PATIENCE_MS = 2_400_000;
/** Tests that take many minutes each. Only the part `long` runs them. */
const LONG = ["seeded_run_comes_within_five_percent_of_the_floor"];

/** Builds `hothouse`, with a further feature if one is given, and the library of the Python package. Returns the program's path. */
export async function program(feature) {
  const args = ["build", ...SELECTION, ...(feature ? ["--features", feature] : []), "--bin", "hothouse", "--lib"];
  await step("native program", async () => void (await sh("cargo", args)), { compiles: true });
  return join(target, "release/hothouse");
}

/** Compiles the native tests and returns their files; see `testFiles`. */
async function compiledTests() {
  let files;
  const compile = async () => {
    const out = await sh("cargo", ["test", ...SELECTION, "--no-run", "--message-format=json-render-diagnostics"]);
    files = testFiles(out);
    return `${files.length} files`;
  };
  await step("native tests", compile, { compiles: true });
  return files;
}

/**
 * Runs the native tests of some crates, by default of all. With `long`, runs only the tests that take many minutes. Returns `{ passed,
 * failed, skips }`; `skips` lists skipped tests with reasons.
 */
export async function nativeTests({ crates, long = false } = {}) {
  const compiled = await compiledTests();
  const files = compiled.filter(({ crate }) => !crates || crates.includes(crate));
  const total = { passed: 0, failed: 0, skips: [] };
  const add = ({ passed, failed, skips }, title) => {
    total.passed += passed;
    total.failed += failed;
    total.skips.push(...skips.map((skip) => `${title}: ${skip}`));
  };
  const failures = [];
  const args = long ? ["--ignored", ...LONG] : ALL ? ["--include-ignored", ...LONG.flatMap((name) => ["--skip", name])] : [];
  // One file at a time. Most files use all cores, and two at once take longer, because each waits for the other's threads.
  for (const file of files)
    await step(file.title, async () => {
      const counts = await timedTests(file, args);
      add(counts, file.title);
      if (counts.failed) failures.push(file.title);
      return counts.failed ? "FAILED" : said(counts);
    });
  if (!long && !crates) {
    const examples = async () => {
      const counts = counted(await sh("cargo", ["test", ...SELECTION, "--doc"]));
      add(counts, "examples");
      return said(counts);
    };
    await step("examples in comments", examples, { compiles: true });
  }
  if (failures.length) console.log(`Failed: ${failures.join(", ")}`);
  return total;
}

/**
 * Mesa's software driver spends most of the GPU tests in LLVM's optimisation of shaders. Without it, the tests of the kernels take a
 * fraction of the time.
 */
const QUICK_SHADERS = { GALLIVM_PERF: "nopt" };

/**
 * Runs a test file, records the duration of each test and prints failures. Returns `{ passed, failed, skips }`. The durations come from the
 * JSON output of Rust's test runner, which its stable version offers only with RUSTC_BOOTSTRAP.
 */
function timedTests({ executable, folder, title }, args) {
  const timed = ["-Zunstable-options", "--format=json", "--report-time"];
  const env = { ...process.env, ...QUICK_SHADERS, RUSTC_BOOTSTRAP: "1" };
  const child = spawn(executable, [...args, ...timed], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], timeout: PATIENCE_MS });
  const counts = { passed: 0, failed: 0, skips: [] };
  let ended = false;
  let errors = "";
  const take = ({ type, event, name, exec_time: seconds, stdout }) => {
    if (type === "suite") ended ||= event === "ok" || event === "failed";
    // The event `timeout` only says that a test has taken more than a minute.
    if (type !== "test" || !["ok", "failed"].includes(event)) return;
    record("test", `${title}: ${name}`, seconds ?? 0);
    if (event === "ok") return void (counts.passed += 1);
    counts.failed += 1;
    console.log(`FAILED ${title}: ${name}\n${stdout ?? ""}`);
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const skipped = line.match(/^SKIPPED (\S+): (.+)$/);
    if (skipped) counts.skips.push(`${skipped[1]}: ${skipped[2]}`);
    else if (line.startsWith("{")) take(JSON.parse(line));
  });
  child.stderr.on("data", (chunk) => (errors += chunk));
  return new Promise((resolve) => {
    const end = (why) => {
      // A process that crashed reports no end.
      if (!ended) {
        counts.failed += 1;
        console.log(`FAILED ${title}: ${why}\n${errors}`);
      }
      resolve({ ...counts, passed: counts.passed - counts.skips.length });
    };
    child.on("error", (error) => end(error.message));
    child.on("close", (code, signal) => end(signal ?? `exit status ${code}`));
  });
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
