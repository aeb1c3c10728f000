// `npm test`: sets up what is missing, then runs everything there is, part by part.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ask, filesUnder, main, options, root, sh, step, Trouble } from "./sh.mjs";
import { arm } from "./arm.mjs";
import { build } from "./build.mjs";
import { counted, nativeTests, program, SELECTION, target } from "./native.mjs";
import { environment, pythonTests } from "./python.mjs";
import { chromium, engines, npmPackages, rust, vulkan } from "./setup.mjs";
import { wasmTests } from "./wasm-tests.mjs";

/**
 * In this order, each with what it does. `run` gives `{ passed, failed }`, with `skipped` where it could not run here, or `skips`, which of
 * its tests
 * could not and why, and `unsure`, which passed only when they ran again; or nothing where it either holds or throws, which counts as one.
 * Those `onDemand` run only
 * where they are asked for.
 */
export const parts = {
  format: {
    does: "cargo fmt and Biome would change nothing, and no line is too long",
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "biome", "format", "."], { next: "npx biome format --write ." });
      narrowLines();
      for (const where of [["--all"], ["--manifest-path", "scripts/bindgen/Cargo.toml"], ["--manifest-path", "scripts/mutants/Cargo.toml"]])
        await sh("cargo", ["fmt", ...where, "--check"], { next: `cargo fmt ${where.join(" ")}` });
    },
  },
  lints: {
    does: "clippy over all crates and their tests, Biome over the page, scripts and tests",
    // In the profile of the tests, which share its build scripts and macros.
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "biome", "lint", "--error-on-warnings", "."], { next: "npx biome lint --write ." });
      await sh("cargo", ["clippy", ...SELECTION, "--all-targets", "--", "-D", "warnings"]);
    },
  },
  types: {
    does: "the page's TypeScript, and that scripts and tests find what they import",
    run: async () => {
      await npmPackages();
      await sh("npx", ["--no-install", "tsc", "--noEmit"]);
      await imports();
    },
  },
  docs: { does: "cargo doc without warnings; links, names, word limits and commands of the documents", run: documents },
  native: {
    does: "every crate's tests on this machine, the GPU's on a software adapter",
    run: async () => {
      await vulkan();
      return nativeTests();
    },
  },
  python: { does: "the Python package, in an environment of its own", run: pythonTests },
  wasm: { does: "the core crates' tests in Chromium", run: () => wasmTests() },
  page: { does: "the built page in Chromium", run: () => browserTests("tests/web") },
  browsers: { does: "every room in Firefox and WebKitGTK, where they are", run: otherEngines },
  parity: { does: "one digest natively and in every module of the page", run: () => browserTests("tests/parity") },
  arm: { does: "NEON under an emulator, where there is one", run: arm },
  ignored: { does: "native tests that take minutes", run: () => nativeTests({ ignored: true }), onDemand: true },
  miri: { does: "math's kernels under Miri: the portable set, where what is unsafe is the same in all sets", run: miri, onDemand: true },
};

/**
 * Miri finds reads and writes out of bounds, and references that end one another. It has no vectors, so kernels run on the portable set;
 * `math`'s tests make their shapes small for it, and what is large or counts threads is left out.
 */
async function miri() {
  if ((await ask("cargo", ["+nightly", "miri", "--version"])) === null)
    return { passed: 0, failed: 0, skipped: "there is no Miri here (rustup toolchain install nightly --component miri,rust-src)" };
  const modules = ["kernels::", "packed::", "logic::", "graded::"];
  const large = ["large", "longer_than_a_share", "every_test_runs_on"].flatMap((name) => ["--skip", name]);
  // Proptest looks for a folder of its own.
  const env = { MIRIFLAGS: "-Zmiri-disable-isolation" };
  return counted(
    await sh("cargo", ["+nightly", "miri", "test", "-p", "math", "--no-default-features", "--test", "math", "--", ...modules, ...large], {
      env,
      show: true,
    }),
  );
}

/** Characters in a line of any source but Python's. Formatters leave comments and strings as long as they are. */
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

/** Fails where a script or a test names an export that there is not. */
async function imports() {
  const { build } = await import("vite");
  const input = ["scripts", "tests"].flatMap((folder) => filesUnder(join(root, folder))).filter((file) => file.endsWith(".mjs"));
  await build({ root, configFile: false, logLevel: "silent", build: { ssr: true, write: false, rollupOptions: { input } } });
}

/** `cargo doc` counts as one check. It has the features and the profile of the tests, so that little is compiled for it. */
async function documents() {
  const rustdoc = { RUSTDOCFLAGS: "-D warnings", CARGO_TARGET_DIR: target };
  await step("cargo doc", async () => void (await sh("cargo", ["doc", "--no-deps", ...SELECTION], { env: rustdoc })));
  await program();
  const { passed, ...rest } = await nodeTests(["tests/docs/docs.test.mjs"]);
  return { ...rest, passed: passed + 1 };
}

/** A file of tests of the page takes some minutes on a slow machine; one that hangs must not take the others with it. */
const PATIENCE_MS = 900_000;

/** A folder of Node tests that drive the built page, and where they need it the native program. */
async function browserTests(folder) {
  await rust();
  await build();
  await chromium();
  await program();
  const files = filesUnder(join(root, folder)).filter((file) => file.endsWith(".test.mjs"));
  const first = await nodeTests([`--test-concurrency=2`, ...files]);
  if (!first.failed || first.failing.length > FEW) return first;
  // On a busy machine a browser can stand still for longer than a test waits. What fails by itself too is a fault; what does not is named.
  const unsure = [];
  for (const { file, name } of first.failing) {
    console.log(`       …  once more, by itself: ${name}`);
    const pattern = `^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;
    const again = await nodeTests([`--test-name-pattern=${pattern}`, join(root, file)]);
    if (again.passed && !again.failed) unsure.push(name);
  }
  const { faults, ...counts } = afterAgain(first, unsure, !!process.env.HOTHOUSE_STRICT);
  for (const name of faults)
    console.log(
      `       FAILED: '${name}' passed only when it ran again. Remove what it races with, or name it with the reason in EXCUSED ` +
        `(scripts/test.mjs)`,
    );
  return counts;
}

/** Tests that may pass on a second try alone, each with its reason. */
export const EXCUSED = {};

/**
 * What counts once failures ran again, by themselves. Under `strict`, which the workflow sets, only tests on a list may have failed before.
 */
export function afterAgain({ passed, failed, ...rest }, unsure, strict, list = EXCUSED) {
  const faults = unsure.filter((name) => strict && !(name in list));
  const spared = unsure.length - faults.length;
  return { ...rest, passed: passed + spared, failed: failed - spared, unsure, faults };
}

/** The engines beside Chromium, those that this machine has. */
async function otherEngines() {
  const missing = Object.values(await engines()).map(({ missing }) => missing);
  if (missing.every(Boolean)) return { passed: 0, failed: 0, skipped: missing.join("; ") };
  return browserTests("tests/browsers");
}

/** As many failures as a busy machine may account for. */
const FEW = 3;

/** Gives `{ passed, failed, failing }`, of which the last are files and names of tests. */
async function nodeTests(args) {
  const out = await sh("node", ["--test", `--test-timeout=${PATIENCE_MS}`, "--test-reporter=spec", ...args], {
    env: { CARGO_TARGET_DIR: target },
    show: true,
  }).catch((trouble) => {
    if (!trouble.output) throw trouble;
    return trouble.output;
  });
  const count = (word) => Number(out.match(new RegExp(`^ℹ ${word} (\\d+)`, "m"))?.[1] ?? 0);
  const failing = [...out.matchAll(/^test at (.+?):\d+:\d+\n✖ (.+) \([\d.]+ms\)$/gm)].map(([, file, name]) => ({ file, name }));
  const failed = count("fail") + count("cancelled");
  const skips = [...out.matchAll(/^\s*﹣ (.+?) \([\d.]+ms\) # (.+)$/gm)].map(([, name, why]) => `${name}: ${why}`);
  return { passed: count("pass"), failed: count("pass") ? failed : Math.max(1, failed), failing, skips };
}

await main(import.meta.url, async () => {
  const given = options({ only: `<parts>: some of ${Object.keys(parts).join(",")}` });
  const chosen = given.only?.split(",") ?? Object.keys(parts).filter((name) => !parts[name].onDemand);
  for (const name of chosen)
    if (!(name in parts)) throw new Trouble(`there is no part called '${name}'`, `choose from ${Object.keys(parts).join(", ")}`);
  const began = performance.now();
  console.log(`Parts, one after the other; all of them run, whatever fails:`);
  for (const name of chosen) console.log(`  ${name.padEnd(8)} ${parts[name].does}`);
  await rust();
  // It is made while others compile; what goes wrong is said where it is needed.
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
  console.log(`Next: what failed stands above; npm test -- --only ${failed.join(",")} runs it again`);
  process.exit(1);
});
