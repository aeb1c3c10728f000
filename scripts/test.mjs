// `npm test`: installs missing tools, then runs all parts of the tests.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ask, filesUnder, main, options, root, sh, step, Trouble } from "./sh.mjs";
import { arm } from "./arm.mjs";
import { build } from "./build.mjs";
import { counted, nativeTests, program, SELECTION, target } from "./native.mjs";
import { environment, learnerTests, pythonTests } from "./python.mjs";
import { chromium, engines, npmPackages, rust, vulkan } from "./setup.mjs";
import { LONG, wasmTests } from "./wasm-tests.mjs";

/**
 * Parts in their order. `run` returns `{ passed, failed }`. It adds `skipped` with the reason if the part cannot run, `skips` for skipped
 * tests with reasons, and `unsure` for tests that passed only in a second run. A part whose `run` returns nothing counts as one passed
 * test, unless it throws. Parts with `onDemand` run only when named.
 */
export const parts = {
  format: {
    does: "formatting by cargo fmt and Biome, and line lengths",
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "biome", "format", "."], { next: "npx biome format --write ." });
      narrowLines();
      for (const where of [["--all"], ["--manifest-path", "scripts/bindgen/Cargo.toml"], ["--manifest-path", "scripts/mutants/Cargo.toml"]])
        await sh("cargo", ["fmt", ...where, "--check"], { next: `cargo fmt ${where.join(" ")}` });
    },
  },
  lints: {
    does: "clippy for all crates and tests, Biome for page, scripts and tests",
    // Clippy uses the tests' profile, to share build scripts and macros with the tests.
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "biome", "lint", "--error-on-warnings", "."], { next: "npx biome lint --write ." });
      await sh("cargo", ["clippy", ...SELECTION, "--all-targets", "--", "-D", "warnings"]);
    },
  },
  types: {
    does: "types of the page, and imports of scripts and tests",
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "tsc", "--noEmit"]);
      await imports();
    },
  },
  docs: { does: "cargo doc without warnings; links, names, word limits and commands of the documents; the lessons", run: documents },
  native: {
    does: "every crate's tests on this machine, the GPU's on a software adapter",
    run: async () => {
      await vulkan();
      return nativeTests();
    },
  },
  python: { does: "the Python package, in a separate environment", run: pythonTests },
  wasm: { does: "the tests of math, graph and worlds in Chromium", run: () => wasmTests() },
  page: { does: "the built page in Chromium", run: () => browserTests("tests/web") },
  browsers: { does: "every room in Firefox and WebKitGTK, if installed", run: otherEngines },
  parity: { does: "equal digests natively and in every module of the page", run: () => browserTests("tests/parity") },
  arm: { does: "NEON under an emulator, if installed", run: arm },
  learnwasm: { does: "the tests of learn and gpu in Chromium", run: () => wasmTests(LONG), onDemand: true },
  learners: { does: "Python learners of other projects; installs PyTorch (5.5 GB)", run: learnerTests, onDemand: true },
  ignored: { does: "native tests that take minutes", run: () => nativeTests({ ignored: true }), onDemand: true },
  miri: { does: "math's portable kernels under Miri; the unsafe code is the same in all sets", run: miri, onDemand: true },
};

/**
 * Runs the tests of `math` under Miri, which detects out-of-bounds accesses and aliasing violations. Miri does not support vector
 * instructions, so kernels run on the portable set. The tests use small shapes under Miri and skip large cases and thread counts.
 */
async function miri() {
  if ((await ask("cargo", ["+nightly", "miri", "--version"])) === null)
    return { passed: 0, failed: 0, skipped: "there is no Miri here (rustup toolchain install nightly --component miri,rust-src)" };
  const modules = ["kernels::", "packed::", "logic::", "graded::"];
  const large = ["large", "longer_than_a_share", "every_test_runs_on"].flatMap((name) => ["--skip", name]);
  // Proptest reads the current folder, which Miri's isolation forbids.
  const env = { MIRIFLAGS: "-Zmiri-disable-isolation" };
  return counted(
    await sh("cargo", ["+nightly", "miri", "test", "-p", "math", "--no-default-features", "--test", "math", "--", ...modules, ...large], {
      env,
      show: true,
    }),
  );
}

/** Line limit of all sources except Python. Formatters do not break comments and strings. */
const WIDTH = 140;

function narrowLines() {
  const files = ["crates", "examples", "www", "scripts", "tests"].flatMap((folder) => filesUnder(join(root, folder)));
  const long = files
    .filter((file) => /\.(rs|wgsl|ts|css|mjs)$/.test(file) && !/\/www\/pkg\/|\/protocol\.ts$/.test(file))
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line, k) => (line.length > WIDTH ? [`${file}:${k + 1}: ${line.length} characters`] : [])),
    );
  if (long.length) throw new Trouble(long.join("\n"), `break these lines at ${WIDTH} characters`);
}

/** Fails if a script or a test imports a missing export. */
async function imports() {
  const { build } = await import("vite");
  const input = ["scripts", "tests"].flatMap((folder) => filesUnder(join(root, folder))).filter((file) => file.endsWith(".mjs"));
  await build({ root, configFile: false, logLevel: "silent", build: { ssr: true, write: false, rollupOptions: { input } } });
}

/**
 * Runs `cargo doc`, which counts as one test, and the tests of the documents. The features and the profile are those of the tests, so that
 * cargo compiles little.
 */
async function documents() {
  const rustdoc = { RUSTDOCFLAGS: "-D warnings", CARGO_TARGET_DIR: target };
  await step("cargo doc", async () => void (await sh("cargo", ["doc", "--no-deps", ...SELECTION], { env: rustdoc })));
  await npmPackages();
  await program();
  const { passed, ...rest } = await nodeTests(["docs", "documents", "lessons"].map((name) => `tests/docs/${name}.test.mjs`));
  return { ...rest, passed: passed + 1 };
}

/** Time limit of a test file of the page. A file takes some minutes on a slow machine. */
const LIMIT_MS = 900_000;

/** Returns true for test files that run alone, because the software GPU uses all cores. */
const runsAlone = (file) => file.endsWith("gpu.test.mjs");
const sum = (one, other) => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  failing: [...one.failing, ...other.failing],
  skips: [...one.skips, ...other.skips],
});

/** Runs the Node tests of a folder, which use the built page and the native program. */
async function browserTests(folder) {
  await rust();
  await build();
  await chromium();
  await program();
  const files = filesUnder(join(root, folder)).filter((file) => file.endsWith(".test.mjs"));
  const results = [];
  for (const group of [files.filter((file) => !runsAlone(file)), files.filter(runsAlone)])
    if (group.length) results.push(await nodeTests(["--test-concurrency=2", ...group]));
  const first = results.reduce(sum);
  if (!first.failed || first.failing.length > FEW) return first;
  // On a busy machine a browser may stall beyond a test's time limit. Each failed test runs again alone: a second failure is a fault.
  const unsure = [];
  for (const { file, name } of first.failing) {
    console.log(`       …  again, alone: ${name}`);
    const pattern = `^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;
    const again = await nodeTests([`--test-name-pattern=${pattern}`, join(root, file)]);
    if (again.passed && !again.failed) unsure.push(name);
  }
  const { faults, ...counts } = afterAgain(first, unsure, !!process.env.HOTHOUSE_STRICT);
  for (const { name, error } of first.failing)
    if (faults.includes(name))
      console.log(
        `       FAILED: '${name}' passed only in its second run. Remove the race, or add it with the reason to EXCUSED ` +
          `(scripts/test.mjs). The first run reported:\n${error}`,
      );
  return counts;
}

/** Names of tests that may pass only in a second run, each with its reason. */
export const EXCUSED = {};

/**
 * Returns the numbers of tests after failed tests have run again. `unsure` lists the tests that passed in the second run. Without `strict`,
 * all of these tests count as passed. With `strict`, which the CI workflow sets, only the tests in `list` count as passed; the other tests
 * in `unsure` are returned as `faults`.
 */
export function afterAgain({ passed, failed, ...rest }, unsure, strict, list = EXCUSED) {
  const faults = unsure.filter((name) => strict && !(name in list));
  const spared = unsure.length - faults.length;
  return { ...rest, passed: passed + spared, failed: failed - spared, unsure, faults };
}

/** Runs the tests for the installed engines besides Chromium. */
async function otherEngines() {
  const missing = Object.values(await engines()).map(({ missing }) => missing);
  if (missing.every(Boolean)) return { passed: 0, failed: 0, skipped: missing.join("; ") };
  return browserTests("tests/browsers");
}

/** Largest number of failed tests that run again. A busy machine does not explain more failures. */
const FEW = 3;

/** Number of lines of a failed test's error that the report shows. */
const ERROR_LINES = 12;

/** Returns `{ passed, failed, failing }`; `failing` contains the file, name and error of each failed test. */
async function nodeTests(args) {
  const out = await sh("node", ["--test", `--test-timeout=${LIMIT_MS}`, "--test-reporter=spec", ...args], {
    env: { CARGO_TARGET_DIR: target },
    show: true,
  }).catch((trouble) => {
    if (!trouble.output) throw trouble;
    return trouble.output;
  });
  const count = (word) => Number(out.match(new RegExp(`^ℹ ${word} (\\d+)`, "m"))?.[1] ?? 0);
  const failing = [...out.matchAll(/^test at (.+?):\d+:\d+\n✖ (.+) \([\d.]+ms\)\n((?: .*\n)*)/gm)].map(([, file, name, error]) => ({
    file,
    name,
    error: error.split("\n").slice(0, ERROR_LINES).join("\n"),
  }));
  const failed = count("fail") + count("cancelled");
  const skips = [...out.matchAll(/^\s*﹣ (.+?) \([\d.]+ms\) # (.+)$/gm)].map(([, name, why]) => `${name}: ${why}`);
  return { passed: count("pass"), failed: count("pass") ? failed : Math.max(1, failed), failing, skips };
}

await main(import.meta.url, async () => {
  const given = options({ only: `<parts>: some of ${Object.keys(parts).join(",")}` });
  const chosen = given.only?.split(",") ?? Object.keys(parts).filter((name) => !parts[name].onDemand);
  for (const name of chosen)
    if (!(name in parts)) throw new Trouble(`there is no part '${name}'`, `choose from ${Object.keys(parts).join(", ")}`);
  const began = performance.now();
  console.log(`Parts (all run, even after a failure):`);
  for (const name of chosen) console.log(`  ${name.padEnd(8)} ${parts[name].does}`);
  await rust();
  // The environment for Python is created while other parts compile. The part `python` reports a failure.
  if (chosen.includes("python")) environment().catch(() => {});
  const total = { passed: 0, failed: 0 };
  const rows = [];
  for (const [k, name] of chosen.entries()) {
    console.log(`\n${k + 1} of ${chosen.length}: ${name}`);
    const partBegan = performance.now();
    let result = { passed: 1, failed: 0 };
    try {
      await step(name, async () => {
        const counts = await parts[name].run();
        if (typeof counts === "object") result = counts;
        const leftOut =
          (result.skips?.length ? `, ${result.skips.length} skipped` : "") +
          (result.unsure?.length ? `, ${result.unsure.length} of them only when run again: ${result.unsure.join("; ")}` : "");
        return result.skipped ? `SKIPPED: ${result.skipped}` : `${result.passed} passed, ${result.failed} failed${leftOut}`;
      });
    } catch (error) {
      result = { passed: 0, failed: 1 };
      console.log(error instanceof Trouble ? `${error.message}\nNext: ${error.next}` : error);
    }
    rows.push([name, (performance.now() - partBegan) / 1000, result]);
    total.passed += result.passed;
    total.failed += result.failed;
  }
  console.log("");
  for (const [name, seconds, { passed, failed, skipped, unsure }] of rows)
    console.log(
      `${seconds.toFixed(1).padStart(6)} s  ${name.padEnd(8)} ` +
        `${failed ? "FAILED" : skipped ? `SKIPPED: ${skipped}` : `${passed} passed`}` +
        `${unsure?.length ? `, ${unsure.length} of them only when run again` : ""}`,
    );
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  in all\n`);
  for (const [name, , { skips }] of rows)
    if (skips?.length) console.log(`Skipped in ${name}:\n${skips.map((skip) => `  ${skip}\n`).join("")}`);
  const skipped = rows.reduce((sum, [, , result]) => sum + (result.skipped ? 1 : (result.skips?.length ?? 0)), 0);
  console.log(`${total.passed} passed, ${total.failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
  const failed = rows.filter(([, , result]) => result.failed).map(([name]) => name);
  if (!failed.length) return;
  console.log(`Next: see the failures above; npm test -- --only ${failed.join(",")} runs it again`);
  process.exit(1);
});
