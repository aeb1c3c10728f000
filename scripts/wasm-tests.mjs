// Runs the tests of the core crates in Chromium, with SIMD and without threads. This resembles `wasm-pack test --headless --chrome`, but
// does not need wasm-pack, builds all crates once, and runs two test files in parallel.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { availableParallelism } from "node:os";
import { GPU_ARGS, launch } from "./browser.mjs";
import { serve } from "./serve.mjs";
import { testFiles } from "./native.mjs";
import { bindgen, chromium, npmPackages, rust, wasmToolchain } from "./setup.mjs";
import { main, sh, sideBySide, step, Trouble } from "./sh.mjs";
import { cargoSettings, targetOf } from "./wasm.mjs";

/** Crates that the part `wasm` tests in Chromium. */
export const CORE = ["math", "graph", "worlds"];
/**
 * Crates that the part `learnwasm` tests in Chromium. The part `wasm` only checks that their tests compile, because the digests in every
 * module and the page tests (kernels) cover their code.
 */
export const LEARNING = ["learn", "gpu"];
/** Time limit of a test file, long enough for a busy machine. A file contains all tests of a crate. */
const PATIENCE_MS = 1_800_000;

// Defines the functions that `wasm-bindgen-test` calls in a worker, and runs the exported tests.
const WORKER = `
  import init, * as tests from "./tests.js";
  globalThis.__wbg_test_invoke = (f) => f();
  globalThis.__wbg_test_output_writeln = (...lines) => postMessage({ line: lines.join(" ") });
  for (const level of ["debug", "log", "info", "warn", "error"])
    console[level] = (...args) => globalThis["on_console_" + level]?.(args);
  try {
    const wasm = await init();
    for (const level of ["debug", "log", "info", "warn", "error"])
      globalThis["on_console_" + level] = tests["__wbgtest_console_" + level];
    const names = Object.keys(wasm).filter((name) => name.startsWith("__wbgt_"));
    await new tests.WasmBindgenTestContext(false).run(names.map((name) => wasm[name]));
    postMessage({ ended: true });
  } catch (error) {
    postMessage({ ended: true, error: String(error?.stack ?? error) });
  }`;
const PAGE = `<!doctype html><title>tests</title>`;

/** Runs the tests of some crates; returns `{ passed, failed }`. */
export async function wasmTests(crates) {
  await npmPackages();
  const route = await wasmToolchain();
  const program = await bindgen();
  await chromium();
  const target = targetOf("simd128"); // shared with the page's modules of this flavour
  const settings = cargoSettings("simd128", route);
  const cargo = (crates, ...args) =>
    sh("cargo", [...args, "--release", ...crates.flatMap((name) => ["-p", name]), ...settings.args], {
      env: { ...settings.env, CARGO_TARGET_DIR: target },
    });
  let files;
  const compile = async () => {
    files = testFiles(await cargo(crates, "test", "--no-run", "--test", "*", "--message-format=json-render-diagnostics"));
    return `${files.length} files`;
  };
  await step("tests for wasm", compile, { compiles: true });
  const others = LEARNING.filter((name) => !crates.includes(name));
  if (others.length)
    await step(`check of the tests of ${others.join(" and ")}`, async () => void (await cargo(others, "check", "--tests")), {
      compiles: true,
    });
  const browsers = {
    plain: await launch(["--disable-gpu"], { shell: true }),
    gpu: crates.includes("gpu") ? await launch(GPU_ARGS, { shell: true }) : undefined,
  };
  const total = { passed: 0, failed: 0 };
  const ran = Object.fromEntries(crates.map((name) => [name, 0]));
  const work = (file) =>
    step(file.title, async () => {
      const folder = join(target, "tests", basename(file.executable, ".wasm"));
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      await sh(program, ["tests", file.executable, folder]);
      const { passed, failed, said } = await inBrowser(file.crate === "gpu" ? browsers.gpu : browsers.plain, folder);
      if (failed) console.log(said);
      total.passed += passed;
      total.failed += failed;
      ran[file.crate] += passed + failed;
      return `${passed} passed, ${failed} failed`;
    });
  try {
    const withTests = files.filter(({ executable }) => hasTests(executable));
    await sideBySide(Math.min(2, availableParallelism()), withTests, work);
  } finally {
    for (const browser of Object.values(browsers)) await browser?.close();
  }
  for (const [name, count] of Object.entries(ran))
    if (!count) throw new Trouble(`no test of ${name} ran in the browser`, "see how the other crates name wasm_bindgen_test");
  return total;
}

/** Returns true if a file exports tests. wasm-bindgen cannot process a file with native tests only. */
const hasTests = (path) =>
  WebAssembly.Module.exports(new WebAssembly.Module(readFileSync(path))).some(({ name }) => name.startsWith("__wbgt_"));

/** Runs a test file in a worker of a new page. A crashed worker counts as one failure. */
async function inBrowser(browser, folder) {
  const server = await serve(folder, { extra: { "/index.html": PAGE, "/worker.js": WORKER } });
  const page = await browser.newPage();
  try {
    await page.goto(`${server.url}index.html`);
    page.setDefaultTimeout(PATIENCE_MS);
    const { lines, error } = await page.evaluate(
      (patience) =>
        new Promise((resolve) => {
          const lines = [];
          const worker = new Worker("worker.js", { type: "module" });
          const end = (error) => resolve({ lines, error });
          setTimeout(end, patience, `not finished after ${patience / 1000} s`);
          worker.onerror = ({ message }) => end(message || "the worker did not start");
          worker.onmessage = ({ data }) => (data.ended ? end(data.error) : lines.push(data.line));
        }),
      PATIENCE_MS,
    );
    const said = lines.join("\n");
    const found = said.match(/test result: \w+\. (\d+) passed; (\d+) failed/);
    if (error || !found) return { passed: 0, failed: 1, said: `${said}\n${error ?? "it gave no result"}` };
    return { passed: Number(found[1]), failed: Number(found[2]), said };
  } finally {
    await page.close();
    await server.close();
  }
}

await main(import.meta.url, async () => {
  await rust();
  const { failed } = await wasmTests(process.argv.length > 2 ? process.argv.slice(2) : CORE);
  if (failed) process.exit(1);
});
