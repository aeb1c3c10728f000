// The parts of `npm test`: what each does and how it runs.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { arm } from "./arm.mjs";
import { build, TESTED } from "./build.mjs";
import { counted, nativeTests, program, target } from "./native.mjs";
import { nodeTests, patientTests } from "./node-tests.mjs";
import { environment, learnerTests, pythonTests } from "./python.mjs";
import { chromium, engines, npmPackages, vulkan } from "./setup.mjs";
import { ask, filesUnder, root, sh, step, Trouble } from "./sh.mjs";
import { ALL } from "./tiers.mjs";
import { record, recorded } from "./times.mjs";
import { CORE, LEARNING, wasmTests } from "./wasm-tests.mjs";

/**
 * Parts in their order. `run` returns `{ passed, failed }`. It adds `skipped` with the reason if the part cannot run, `skips` for skipped
 * tests with reasons, and `unsure` for tests that passed only in a second run. A part whose `run` returns nothing counts as one passed
 * test, unless it throws. Its argument `of` is what a change affects (changed.mjs), undefined if everything runs. `--all` adds the parts
 * with `all`. Parts with `onDemand` run only when named. `prepare` is work that runs while earlier parts run. A part with `beside` runs
 * beside that part, if both are chosen.
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
  types: {
    does: "types of the page, and imports of scripts and tests",
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "tsc", "--noEmit"]);
      await imports();
    },
  },
  lints: { does: "Biome for page, scripts and tests; clippy for all crates and tests", run: lints },
  docs: { does: "cargo doc without warnings; links, names, word limits and commands of the documents", run: documents },
  native: { does: "every crate's tests on this machine, the GPU's on a software adapter", run: native },
  python: { does: "the Python package, in a separate environment", run: pythonTests, prepare: environment, beside: "native" },
  page: { does: "the page in Chromium", run: pageTests, prepare: () => builtPage() },
  wasm: { does: "the tests of math, graph and worlds in Chromium", run: () => wasmTests(CORE), all: true },
  browsers: { does: "every room in Firefox and WebKitGTK, if installed", run: otherEngines, all: true },
  parity: { does: "the golden digests in every module of the page", run: () => browserTests("tests/parity"), all: true },
  arm: { does: "NEON under an emulator, if installed", run: arm, all: true },
  learnwasm: { does: "the tests of learn and gpu in Chromium", run: () => wasmTests(LEARNING), onDemand: true },
  learners: { does: "Python learners of other projects; installs PyTorch (5.5 GB)", run: learnerTests, onDemand: true },
  long: { does: "native tests that take many minutes each", run: () => nativeTests({ long: true }), onDemand: true },
  miri: { does: "math's portable kernels under Miri; the unsafe code is the same in all sets", run: miri, onDemand: true },
};

/**
 * Clippy and rustdoc read the same metadata of the crates: cargo compiles it with this wrapper in both cases.
 */
async function checking(more = {}) {
  const sysroot = await ask("rustc", ["--print", "sysroot"]);
  return {
    RUSTC_WORKSPACE_WRAPPER: join(sysroot, "bin", process.platform === "win32" ? "clippy-driver.exe" : "clippy-driver"),
    CLIPPY_ARGS: "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
    CARGO_TARGET_DIR: target,
    ...more,
  };
}

/** Flags of rustdoc. Items that a crate exports for its own tests may link to its private items. */
const RUSTDOC = "-D warnings -A rustdoc::private-intra-doc-links";

/** Crates and features that clippy and rustdoc read: the crates of the tests, and the module of the page with its benchmarks. */
const CHECKED = ["--release", "--workspace", "--no-default-features", "--features", "bandit/terminal,web/bench"];

async function lints(of) {
  await npmPackages();
  await sh("npx", ["--no-install", "biome", "lint", "--error-on-warnings", "."], { next: "npx biome lint --write ." });
  if (of && !of.crates.length) return;
  const env = await checking();
  await step("clippy", async () => void (await sh("cargo", ["check", ...CHECKED, "--all-targets"], { env })), { compiles: true });
}

async function native(of) {
  await vulkan();
  return nativeTests({ crates: of?.crates });
}

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
 * Runs `cargo doc`, which counts as one test, and the tests of the documents. After the build of the tests' program, the program of users
 * must need no further compilation.
 */
async function documents(of) {
  const total = { passed: 0, failed: 0, failing: [], skips: [] };
  const rustdoc = async () =>
    void (await sh("cargo", ["doc", "--no-deps", ...CHECKED], { env: await checking({ RUSTDOCFLAGS: RUSTDOC }) }));
  if (!of || of.crates.length) {
    await step("cargo doc", rustdoc, { compiles: true });
    total.passed += 1;
  }
  await npmPackages();
  await program();
  await step("cargo build --release compiles nothing again", async () => {
    const said = await sh("cargo", ["build", "--release"], { env: { CARGO_TARGET_DIR: target }, errors: true });
    total[/Compiling/.test(said) ? "failed" : "passed"] += 1;
    return /Compiling/.test(said) ? `FAILED: crates/unify must name the features that differ\n${said}` : "equal";
  });
  const names = ["docs", "documents", ...(ALL ? ["lessons"] : [])];
  return sum(total, await nodeTests(names.map((name) => `tests/docs/${name}.test.mjs`)));
}

const sum = (one, other) => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  failing: [...one.failing, ...other.failing],
  skips: [...one.skips, ...other.skips],
});

let page;
/**
 * Builds the page for its tests on the first call, and returns the same promise to later callers. The promise gives the folder and the
 * durations of the build. `--all` tests the page of users; otherwise one module contains all rooms, because most of the time of a build
 * goes into the modules.
 */
const builtPage = () => (page ??= recorded(() => build(ALL ? {} : { output: TESTED })));

/** Records the runs that the tests of the page replay. */
async function recordRuns(dist) {
  const recordings = async () =>
    void (await sh("node", ["tests/web/replay.mjs"], { env: { HOTHOUSE_TEST_PAGE: dist, CARGO_TARGET_DIR: target } }));
  await step("recorded runs", recordings);
}

/** Returns true for test files that run alone, because the software GPU uses all cores. */
const runsAlone = (file) => file.endsWith("gpu.test.mjs");

/** Runs the Node tests of a folder, which use the built page and the native program. `only` lists names of files, by default all. */
async function browserTests(folder, only) {
  const { result, entries } = await builtPage();
  for (const { kind, name, seconds } of entries) record(kind, name, seconds);
  await chromium();
  await program();
  if (folder === "tests/web") await recordRuns(result.dist);
  const files = filesUnder(join(root, folder)).filter((file) => file.endsWith(".test.mjs") && (!only || only.includes(basename(file))));
  const env = { HOTHOUSE_TEST_PAGE: result.dist };
  const results = [];
  for (const group of [files.filter((file) => !runsAlone(file)), files.filter(runsAlone)])
    if (group.length) results.push(await patientTests(group, { concurrency: 2, env }));
  return results.reduce((one, other) => ({ ...sum(one, other), unsure: [...(one.unsure ?? []), ...(other.unsure ?? [])] }));
}

/** Runs the tests of the page, and the digests in its module, which `--all` compares in every module (part `parity`). */
async function pageTests(of) {
  const results = await browserTests("tests/web", of?.pages);
  return ALL || (of && !of.crates.length) ? results : sum(results, await browserTests("tests/parity"));
}

/** Runs the tests for the installed engines besides Chromium. */
async function otherEngines() {
  const missing = Object.values(await engines()).map(({ missing }) => missing);
  if (missing.every(Boolean)) return { passed: 0, failed: 0, skipped: missing.join("; ") };
  return browserTests("tests/browsers");
}
