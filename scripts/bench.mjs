// Benches of the page in a headless Chromium.
//
// - `npm run bench -- core [--json]` measures the figures of `hothouse bench core` in the page (their names end in `_page`), the size of
//   the page, and the time from loading to the first training.
// - `npm run bench -- ROOM [--json]` measures the figures of `hothouse bench ROOM` in the page, and the figures of
//   `scripts/rooms/ROOM.mjs`. `--part module` selects only the figures of `hothouse bench ROOM`. `--part PART` selects one part of
//   `scripts/rooms/ROOM.mjs`.
// - `npm run bench -- worlds` measures environments from files.
// - `--profile` measures the time of a training step by operation instead.
// - `npm run bench -- page [--json]` measures speed, stability and density of the rooms' pages. `--part ROOM` selects one room.
import { join } from "node:path";
import { launch, reached } from "./browser.mjs";
import { build } from "./build.mjs";
import { counted, measured } from "./figure.mjs";
import { benchFrame, benchPage, loadedBy } from "./page.mjs";
import { own, ROOMS } from "./rooms.mjs";
import { main, root, Trouble } from "./sh.mjs";
import { serve } from "./serve.mjs";
import { BENCH, FIRST_FLAVOUR, MODULES, wasm } from "./wasm.mjs";

const SUITES = ["core", "page", "worlds", ...ROOMS];
/** Name of the wasm module that runs a suite. Every other suite runs in the module of the room with the suite's name. */
const MODULE_OF = { core: ROOMS[0], worlds: "own" };
const THREADS = 2;

// The worker runs on an empty page, so that drawing does not disturb the measurement.
const WORKER = `
  onmessage = async ({ data }) => {
    try {
      const wasm = await import(data.url);
      await wasm.default();
      await wasm.initThreadPool(data.threads);
      const figures = [];
      wasm.bench(data.suite, data.profile, (figure) => figures.push(figure));
      postMessage({ figures });
    } catch (error) {
      postMessage({ error: String(error) });
    }
  };`;

/** Flavours that the benches measure, each with the ending of the figures' names. */
const MEASURED = { "threads-relaxed": "_page", "threads-simd128": "_simd128_page" };

async function measure(suite, profile, room, browser, give) {
  await wasm({ only: Object.keys(MEASURED).map((flavour) => `${room}/${flavour}`), of: BENCH });
  const server = await serve(join(root, BENCH.into), {
    extra: { "/bench.html": "<!doctype html><title>bench</title>", "/bench.js": WORKER },
  });
  const page = await browser.newPage();
  await page.goto(`${server.url}bench.html`);
  for (const [name, suffix] of Object.entries(MEASURED)) {
    const answer = await page.evaluate(
      (order) => {
        const worker = new Worker("bench.js", { type: "module" });
        worker.postMessage(order);
        return new Promise((resolve) => (worker.onmessage = ({ data }) => (worker.terminate(), resolve(data))));
      },
      { suite, profile, threads: THREADS, url: `${server.url}${room}/${name}/lab.js` },
    );
    if (answer.error) throw new Trouble(`the bench of ${name} failed: ${answer.error}`, "see the console of the page for the panic's text");
    for (const figure of answer.figures) give({ ...figure, name: figure.name + suffix });
  }
  await page.close();
  await server.close();
}

/** Measures the compressed download size of a first visit, and the time from loading to the first training on later visits. */
async function visits(browser, dist, server, give) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const loaded = loadedBy(page, dist);
  await page.goto(`${server.url}#/${ROOMS[0]}`);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForTimeout(3000);
  give(counted("page.first_load_kb", loaded(), "kB"));
  const times = [];
  for (let i = 0; i < 5; i++) {
    const again = await context.newPage();
    await again.addInitScript(reached, "metrics");
    await again.goto(`${server.url}#/${ROOMS[0]}`);
    times.push(await again.evaluate(() => globalThis.reachedMs));
    await again.close();
  }
  give(measured("page.first_step_ms", times, "ms from the start of loading, on a warm revisit"));
  await context.close();
}

await main(import.meta.url, async () => {
  const [suite, ...flags] = process.argv.slice(2);
  const json = flags.includes("--json");
  const profile = flags.includes("--profile");
  const [flag, part, ...more] = flags.filter((flag) => !["--json", "--profile"].includes(flag));
  const ofPage = suite === "page";
  const parts = ofPage ? ROOMS : ["module", ...((await own("parts")).find(([id]) => id === suite)?.[1] ?? [])];
  const wrong = more.length || (profile && (flag || ofPage)) || (flag && (flag !== "--part" || !parts.includes(part)));
  if (!SUITES.includes(suite) || wrong)
    throw new Trouble(
      `no bench is called '${process.argv.slice(2).join(" ")}'`,
      `npm run bench -- and one of ${SUITES.join(", ")}; with --part and one of ${parts.join(", ")} for that alone, with --profile ` +
        `for the time of a training step, with --json for scripts`,
    );
  const say = console.log;
  if (json) console.log = console.error; // only figures go to standard output
  const room = MODULE_OF[suite] ?? suite;
  const needed = (name) => (ofPage ? name.endsWith(`/${FIRST_FLAVOUR}`) : name.startsWith(`${room}/`));
  const { dist } = await build({ only: MODULES.filter(needed) });
  const give = (figure) => {
    if (json) say(JSON.stringify(figure));
    else {
      const [value, lower, upper] = [figure.value, figure.lower, figure.upper].map((number) => number?.toPrecision(4));
      say(`${figure.name.padEnd(52)} ${value.padStart(10)} ${lower ? `(${lower} to ${upper}) ` : ""}${figure.unit}`);
    }
  };
  const browser = await launch();
  const server = await serve(dist);
  if (ofPage)
    for (const room of part ? [part] : ROOMS) {
      await benchFrame(browser, server, dist, room, give);
      await benchPage(browser, server, dist, room, give);
    }
  else if (!part || part === "module") await measure(suite, profile, room, browser, give);
  if (suite === "core" && !part && !profile) await visits(browser, dist, server, give);
  if (part !== "module" && !profile)
    for (const [id, bench] of await own("bench")) if (id === suite) await bench(browser, server, give, part);
  await browser.close();
  await server.close();
});
