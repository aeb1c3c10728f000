// A headless Chromium for tests, benches and screenshots.
import { chromium as find } from "./setup.mjs";

export const ARGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** WebGPU by a processor that pretends to be a GPU: it is there on every machine, and right for correctness. */
export const GPU_ARGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

export async function launch(args = []) {
  const { chromium } = await find();
  // What tests do without a browser runs before the packages are installed.
  const { chromium: playwright } = await import("playwright-core");
  return playwright.launch({ executablePath: chromium, args: [...ARGS, ...args] });
}

/**
 * Seconds until the page tells of something, from the start of loading, for one address after the other: each is a new tab of a visitor who
 * has been here before (a warm revisit: files and compiled module are kept), and what takes too long is infinite.
 */
export async function revisits(browser, server, hashes, kind, patienceMs) {
  const context = await browser.newContext();
  const visit = async (hash, kind) => {
    const page = await context.newPage();
    await page.addInitScript(reached, kind);
    await page.goto(server.url + hash);
    const there = page.evaluate(() => globalThis.reachedMs).then((ms) => ms / 1000);
    there.catch(() => {}); // closed before it was there
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, patienceMs, Infinity)));
    const seconds = await Promise.race([there, late]);
    clearTimeout(timer);
    await page.close();
    return seconds;
  };
  await visit(hashes[0], "metrics");
  const times = [];
  for (const hash of hashes) times.push(await visit(hash, kind));
  await context.close();
  return times;
}

/** In the page: a visitor who has been here before, whom no tour greets. */
export function returning() {
  try {
    localStorage.setItem("hothouse.tour", "seen");
  } catch {
    // a page without storage greets nobody
  }
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
