// Headless Chromium for tests, benches and screenshots.
import { chromium as find } from "./setup.mjs";

export const ARGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Chromium flags for WebGPU on a software adapter, which needs no GPU. */
export const GPU_ARGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/**
 * Opens Chromium. With `shell`, opens Chromium's headless shell instead if the shell is installed. The shell opens pages sooner, but its
 * letters differ from Chromium's by some pixels. `env` contains further environment variables.
 */
export async function launch(args = [], { shell, env } = {}) {
  const found = await find();
  // The import is inside the function, because tests without a browser run before the npm packages are installed.
  const { chromium: playwright } = await import("playwright-core");
  return playwright.launch({
    executablePath: (shell && found.shell) || found.chromium,
    args: [...ARGS, ...args],
    env: { ...process.env, ...env },
  });
}

/**
 * Measures the seconds from the start of loading to the first event of `kind`, for each address. After a first visit, each address opens in
 * a new tab, so files and the compiled module are cached. A timeout counts as infinity.
 */
export async function revisits(browser, server, hashes, kind, patienceMs) {
  const context = await browser.newContext();
  const visit = async (hash, kind) => {
    const page = await context.newPage();
    await page.addInitScript(reached, kind);
    await page.goto(server.url + hash);
    const there = page.evaluate(() => globalThis.reachedMs).then((ms) => ms / 1000);
    there.catch(() => {}); // errors after the page is closed are ignored
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

/** Opens the tab `tab` of the page and, if `section` is given, this section of the tab. Both arguments are titles that visitors see. */
export async function place(page, tab, section) {
  await page.getByRole("tab", { name: tab, exact: true }).click();
  if (section) await page.getByRole("tab", { name: section, exact: true }).click();
}

/**
 * Opens each tab and each section of the page, and calls `look` with the titles of the tab and the section. In a tab without sections, the
 * title of the section is absent.
 */
export async function everywhere(page, look) {
  const offered = (list) => page.locator(`${list} > [role=tab]:not([hidden])`).allTextContents();
  for (const tab of await offered(".tabs")) {
    await place(page, tab);
    const sections = await offered(`.panels > .panel:not([hidden]) > div > [role=tablist]:not([hidden])`);
    for (const section of sections.length ? sections : [undefined]) {
      if (section) await place(page, tab, section);
      await look(...[tab, section].filter(Boolean));
    }
  }
}

/** Runs in the page. Stores that the visitor has seen every room, so that no tour starts. */
export function returning() {
  try {
    localStorage.setItem("hothouse.tour", "control backgammon cube logic words bandit");
  } catch {
    // Without storage the tour starts, because the page cannot remember the rooms.
  }
}

/** Runs in the page. Sets `reachedMs` to a promise of the time, ms, from the start of loading to the first event of the given kind. */
export function reached(kind) {
  globalThis.reachedMs = new Promise((resolve) => {
    let client;
    Object.defineProperty(globalThis, "hothouse", {
      configurable: true,
      get: () => client,
      set: (value) => {
        client = value;
        // This listener is added after the page's listener, because only the first listener receives the buffered events.
        setTimeout(() => client.onEvent((event) => event.kind === kind && resolve(performance.now())));
      },
    });
  });
}
