// `npm run bench -- core [--json]`: the figures of `hothouse bench core`, from a headless Chromium;
// their names end in `_page`. Two more are the page's own: its size, and how soon it learns. And
// `npm run bench -- control [--json]`: those of `hothouse bench control`. And `npm run bench -- backgammon [--json]`: those
// of `hothouse bench backgammon`, and how well the agent plays that has learned in the page for a minute.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { launch } from "./browser.mjs";
import { build } from "./build.mjs";
import { main, Trouble } from "./sh.mjs";
import { serve } from "./serve.mjs";

const SUITES = ["core", "control", "backgammon"];
const THREADS = 2;
const SEEDS = [1, 2, 3, 4, 5];
const SOLVE_PATIENCE_MS = 120_000;
const TAUGHT_S = 60;

// A worker alone on an empty page, so that nothing is drawn while it measures.
const WORKER = `
  onmessage = async ({ data }) => {
    try {
      const wasm = await import(data.url);
      await wasm.default();
      await wasm.initThreadPool(data.threads);
      const figures = [];
      wasm.bench(data.suite, () => performance.now() / 1000, (figure) => figures.push(figure));
      postMessage({ figures });
    } catch (error) {
      postMessage({ error: String(error) });
    }
  };`;

async function measure(suite, browser, dist, modules, give) {
  const server = await serve(dist, { extra: { "/bench.html": "<!doctype html><title>bench</title>", "/bench.js": WORKER } });
  const page = await browser.newPage();
  await page.goto(`${server.url}bench.html`);
  for (const [name, suffix] of [
    ["threads-relaxed", "_page"],
    ["threads-simd128", "_simd128_page"],
  ]) {
    const answer = await page.evaluate((order) => {
      const worker = new Worker("bench.js", { type: "module" });
      worker.postMessage(order);
      return new Promise((resolve) => (worker.onmessage = ({ data }) => (worker.terminate(), resolve(data))));
    }, { suite, threads: THREADS, url: server.url + modules[name] });
    if (answer.error)
      throw new Trouble(`the bench of ${name} failed: ${answer.error}`, "see the console of the page for the panic's text");
    for (const figure of answer.figures) give({ ...figure, name: figure.name + suffix });
  }
  await page.close();
  await server.close();
}

/**
 * Opens the page as a visitor does who has been here before, for one seed after the other, and waits until its run is
 * solved: seconds from the start of loading, as the native figure times the whole program.
 */
async function solve(browser, server, give) {
  const times = [];
  const context = await browser.newContext();
  const first = await context.newPage();
  await first.addInitScript(reached, "metrics");
  await first.goto(server.url);
  await first.evaluate(() => globalThis.reachedMs);
  await first.close();
  for (const seed of SEEDS) {
    const page = await context.newPage();
    await page.addInitScript(reached, "solved");
    await page.goto(`${server.url}#/control?seed=${seed}&v=1`);
    const solved = page.evaluate(() => globalThis.reachedMs).then((ms) => ms / 1000);
    solved.catch(() => {}); // closed before it was solved
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, SOLVE_PATIENCE_MS, Infinity)));
    times.push(await Promise.race([solved, late]));
    clearTimeout(timer);
    await page.close();
  }
  await context.close();
  times.sort((a, b) => a - b);
  give({ name: "control.ppo.cartpole.solve_s_page", value: times[2], unit: "s" });
  give({ name: "control.ppo.cartpole.solved_of_5_page", value: times.filter(Number.isFinite).length, unit: "seeds" });
}

/** Lets an agent teach itself backgammon for a minute of training; then its next games against the baselines count. */
async function teach(browser, server, give) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/backgammon?seed=1&v=1`);
  await page.waitForFunction(() => globalThis.hothouse);
  const test = await page.evaluate(
    (least) =>
      new Promise((resolve) =>
        hothouse.onEvent((event) => {
          if (event.kind !== "test" || event.progress.train_s < least) return;
          resolve(Object.fromEntries(hothouse.room.tests.map(({ name }, k) => [name, event.values[k]])));
        }),
      ),
    TAUGHT_S,
  );
  for (const name of ["random", "linear"])
    for (const what of ["points", "error"])
      give({ name: `backgammon.td.after_${TAUGHT_S}s.${what}_against_${name}_page`, value: test[`${name}_${what}`], unit: "points/game" });
  await page.close();
}

/** What a first visit loads, compressed as a static host would, and how soon a second one learns. */
async function visits(browser, dist, server, give) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const loaded = new Set();
  page.on("response", (response) => loaded.add(new URL(response.url()).pathname));
  await page.goto(server.url);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForTimeout(3000);
  const files = [...loaded].map((path) => join(dist, path === "/" ? "index.html" : path)).filter(existsSync);
  const sizes = files.map((file) => brotliCompressSync(readFileSync(file)).length);
  give({ name: "page.first_load_kb", value: sizes.reduce((sum, size) => sum + size, 0) / 1000, unit: "kB" });
  const times = [];
  for (let i = 0; i < 5; i++) {
    const again = await context.newPage();
    await again.addInitScript(reached, "metrics");
    await again.goto(server.url);
    times.push(await again.evaluate(() => globalThis.reachedMs));
    await again.close();
  }
  times.sort((a, b) => a - b);
  give({ name: "page.first_step_ms", value: times[2], unit: "ms" });
  await context.close();
}

/** In the page: `reachedMs` is when the first event of a kind reaches it, from the start of loading. */
export function reached(kind) {
  globalThis.reachedMs = new Promise((resolve) => {
    let client;
    Object.defineProperty(globalThis, "hothouse", {
      configurable: true,
      get: () => client,
      set: (value) => {
        client = value;
        // after the page has its own listener, which the first events are for
        setTimeout(() => client.onEvent((event) => event.kind === kind && resolve(performance.now())));
      },
    });
  });
}

await main(import.meta.url, async () => {
  const [suite, ...flags] = process.argv.slice(2);
  if (!SUITES.includes(suite) || flags.some((flag) => flag !== "--json"))
    throw new Trouble(
      `no bench is called '${process.argv.slice(2).join(" ")}'`,
      `npm run bench -- and one of ${SUITES.join(", ")}; with --json for scripts`,
    );
  const json = flags.includes("--json");
  const say = console.log;
  if (json) console.log = console.error; // only figures go to standard output
  const { dist, modules } = await build();
  const give = (figure) => {
    if (json) say(JSON.stringify(figure));
    else say(`${figure.name.padEnd(52)} ${figure.value.toPrecision(4).padStart(10)} ${figure.unit}`);
  };
  const browser = await launch();
  const server = await serve(dist);
  await measure(suite, browser, dist, modules, give);
  if (suite === "backgammon") await teach(browser, server, give);
  else {
    if (suite === "core") await visits(browser, dist, server, give);
    await solve(browser, server, give);
  }
  await browser.close();
  await server.close();
});
