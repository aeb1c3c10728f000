// One Chromium and one server per test file, and helpers for all tests of the page.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before } from "node:test";
import { promisify } from "node:util";
import { build } from "vite";
import { launch, returning } from "../../scripts/browser.mjs";
import { root } from "../../scripts/sh.mjs";
import { serve } from "../../scripts/serve.mjs";

export { everywhere, place } from "../../scripts/browser.mjs";

/** Folder of the built page: that of `npm test`, otherwise that of `npm run build`. */
export const dist = process.env.HOTHOUSE_TEST_PAGE ?? join(root, "dist");
/** Time limit of an expected event on a busy machine. */
export const WAIT_MS = 180_000;
/** Maximum time of any wait. A test that hangs fails at the place of the wait. */
const NEVER_MS = 300_000;

/** Returns the result of `promise`. Rejects if `promise` takes longer than `ms`; `what` names the wait in the error. */
function within(promise, ms, what) {
  let timer;
  const error = new Error(`${what}: nothing after ${ms / 1000} s`); // created here, so that its stack contains the waiting test
  const late = new Promise((_, reject) => (timer = setTimeout(reject, ms, error)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Returns an object that contains `browser` and `server` during the tests of a file. `args` and `options` are passed to the browser. After
 * a failed test, its pages are closed, because their training would slow the next tests.
 */
export function house(args = [], options = { shell: true }) {
  const here = {};
  before(async () => {
    here.browser = await launch(args, options);
    here.server = await serve(dist);
  });
  afterEach(async () => {
    for (const context of here.browser.contexts()) await context.close();
  });
  after(async () => {
    await here.browser?.close();
    await here.server?.close();
  });
  return here;
}

const SILENT = { root, configFile: false, logLevel: "silent" };

/** Loads a module of the page that needs no document. */
export async function part(name) {
  const { output } = await build({ ...SILENT, build: { ssr: `www/${name}.ts`, write: false } });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

/** Bundles a module of the page that needs a document. Returns a script that sets the global `part`. */
export async function script(name) {
  const lib = { entry: `www/${name}.ts`, formats: ["iife"], name: "part" };
  const [{ output }] = await build({ ...SILENT, build: { lib, write: false } });
  return `${output.find(({ isEntry }) => isEntry).code}\nglobalThis.part = part;`;
}

/** Runs in the page: limits the page to ten frames a second, because drawing would otherwise take most of the CPU time. */
export function fewFrames() {
  const waiting = new Map();
  let last = 0;
  const draw = () => {
    const due = [...waiting.values()];
    waiting.clear();
    for (const callback of due) callback(performance.now());
  };
  window.requestAnimationFrame = (callback) => {
    if (waiting.size === 0) setTimeout(draw, 100);
    waiting.set(++last, callback);
    return last;
  };
  window.cancelAnimationFrame = (id) => waiting.delete(id);
}

/**
 * Runs in the page: replaces the file of the trained agent by the file with the given content in base64. If `content` is empty, there is no
 * file.
 */
function trainedFile(content) {
  const plain = window.fetch;
  const file = () => (content ? new Response(Uint8Array.from(atob(content), (c) => c.charCodeAt(0))) : new Response(null, { status: 404 }));
  window.fetch = (address, ...rest) => (String(address).includes("/trained/") ? Promise.resolve(file()) : plain(address, ...rest));
}

/** Runs in the page: sets the number of the machine's cores. */
function coresOf(count) {
  Object.defineProperty(Navigator.prototype, "hardwareConcurrency", { get: () => count });
}

/** Runs in the page: pauses each run as soon as the page has it. */
function pausing() {
  let client;
  Object.defineProperty(globalThis, "hothouse", {
    configurable: true,
    get: () => client,
    set: (value) => {
      client = value;
      client?.command({ kind: "pause" });
    },
  });
}

/**
 * Opens the page in a fresh profile. `trained` is the file of the trained agent: a buffer, `page` for the page's own file, or nothing for
 * none. The tour starts only if `first` is true. `init` runs before the page's scripts. If `paused` is true, each run is paused as soon as
 * it is open, so that training does not slow the page. If `frames` is 10, the page draws at most ten frames a second. The page sees a
 * machine with `cores` cores. The default is one, because two test files run at a time on two cores. `page.said` contains the console's
 * errors and uncaught exceptions.
 */
export async function visit(
  here,
  {
    at = "#/control",
    server = here.server,
    init,
    context: settings,
    started = true,
    first = false,
    paused = false,
    frames = 10,
    cores = 1,
    trained,
  } = {},
) {
  const context = await here.browser.newContext(settings);
  context.setDefaultTimeout(WAIT_MS);
  if (!first) await context.addInitScript(returning);
  if (trained !== "page") await context.addInitScript(trainedFile, trained?.toString("base64") ?? "");
  if (frames === 10) await context.addInitScript(fewFrames);
  await context.addInitScript(coresOf, cores);
  if (paused) await context.addInitScript(pausing);
  if (init) await context.addInitScript(init);
  const page = await context.newPage();
  // Playwright limits the time of its other calls, but not that of `evaluate`.
  const evaluate = page.evaluate.bind(page);
  page.evaluate = (script, arg) => within(evaluate(script, arg), NEVER_MS, String(script));
  // The page's policy blocks inline scripts.
  page.addScriptTag = ({ path }) => page.evaluate(readFileSync(path, "utf8"));
  page.said = [];
  page.on("console", (message) => message.type() === "error" && page.said.push(message.text()));
  page.on("pageerror", (error) => page.said.push(String(error)));
  await page.goto(server.url + at);
  if (started) await lab(page);
  return page;
}

/**
 * Returns a value for the option `init` of `visit`. It runs `script` in each worker of the page before the worker's own script. The call of
 * `visit` also needs `context: { bypassCSP: true }`.
 */
export const inWorkers = (script) => `
  {
    const plain = Worker;
    globalThis.Worker = class extends plain {
      constructor(url, settings) {
        const all = ${JSON.stringify(script)} + "; import(" + JSON.stringify(String(url)) + ").then(() => postMessage({ kind: " +
          "'answer', id: -1 }));";
        super(URL.createObjectURL(new Blob([all], { type: "text/javascript" })), settings);
      }
      postMessage(message, transfer) {
        // The worker's module sets its message listener after it is loaded, so messages wait until then.
        this.loaded ??= new Promise((resolve) => this.addEventListener("message", resolve, { once: true }));
        this.loaded.then(() => super.postMessage(message, transfer));
      }
    };
  }`;

/**
 * Waits until an expression (a text) or a function is truthy in the page, and returns its value. Playwright's `waitForFunction` does not
 * await promises, and under the page's policy it cannot evaluate a text.
 */
export async function until(page, what, arg) {
  for (const began = performance.now(); performance.now() - began < WAIT_MS; ) {
    const value = await page.evaluate(what, arg);
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never so: ${what} ${JSON.stringify(arg) ?? ""}`);
}

/**
 * Waits until the page has a client and shows its room. If `room` is given, the client must belong to that room. After the time limit, the
 * error contains the page's address, text and errors.
 */
export async function lab(page, room) {
  const isReady = (room) => globalThis.hothouse && (!room || hothouse.room.id === room) && !document.querySelector(".unready");
  await page.waitForFunction(isReady, room).catch(async (error) => {
    const shown = await page.evaluate(() => `${document.readyState}, ${crossOriginIsolated}: ${document.body.innerText.slice(0, 400)}`);
    throw new Error(`${error.message}\n${page.url()}\n${shown}\n${(page.said ?? []).join("\n")}`, { cause: error });
  });
}

/** Opens the tabs that contain an element. The locator must also match the element while it is hidden. */
export const reveal = (locator) =>
  locator.evaluate((element) => {
    for (let panel = element; panel; panel = panel.parentElement)
      if (panel.role === "tabpanel") document.getElementById(panel.getAttribute("aria-labelledby")).click();
  });

/** Scrolls through the page, because elements are drawn only when they are visible. */
export const scrolled = (page) =>
  page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
      scrollTo(0, y);
      await new Promise(requestAnimationFrame);
    }
  });

/** Copies the values and counters of an event into fields named after their columns. */
export function named(event, room) {
  const counts = (progress) =>
    progress && Object.assign(progress, Object.fromEntries(room.counters.map(({ name }, k) => [name, progress.counts[k]])));
  counts(event.progress);
  counts(event.solved);
  for (const row of [...(event.history ?? []), ...(event.tests ?? []), ...(event.marks ?? [])]) counts(row.progress);
  if (!event.values) return event;
  const columns = event.kind === "test" ? room.tests : [...room.metrics, ...room.parts];
  return { ...event, ...Object.fromEntries(columns.map(({ name }, k) => [name, event.values[k]])) };
}

/**
 * Starts the function `wait` in the page and returns as soon as `wait` is listening, so that no later event is missed. The returned
 * function awaits the result of `wait`.
 */
export async function begun(page, wait, arg) {
  // The call is passed as one text, because the page's policy forbids `eval`.
  const at = await page.evaluate(`(globalThis.begun ??= []).push((${wait})(${JSON.stringify(arg)})) - 1`);
  return () => page.evaluate((at) => globalThis.begun[at], at);
}

/**
 * Listens for the next event of a kind. With `holds`, listens for the first event whose form after `named` satisfies `holds`. The returned
 * function awaits the event.
 */
export async function aheadWhere(page, kind, holds) {
  const outcome = await begun(
    page,
    `() => new Promise((resolve) => {
      const [named, holds] = [${named}, ${holds}];
      hothouse.onEvent((event) => {
        if (event.kind !== ${JSON.stringify(kind)}) return;
        if (holds(named(structuredClone(event), hothouse.room))) resolve({ event, room: hothouse.room });
      });
    })`,
  );
  return async () => {
    const { event, room } = await outcome();
    return named(event, room);
  };
}

/** Listens for the next event of a kind at or after an iteration. The returned function awaits the event. */
export const ahead = (page, kind, iteration = 0) =>
  aheadWhere(page, kind, `(event) => (event.iteration ?? event.progress?.iteration ?? 0) >= ${iteration}`);

/** Waits for the event that `ahead` describes. */
export const event = async (page, kind, iteration) => (await ahead(page, kind, iteration))();
export const eventWhere = async (page, kind, holds) => (await aheadWhere(page, kind, holds))();

/** Trains a paused run for one iteration, and returns the iteration's number. */
export async function stepped(page) {
  const ended = await ahead(page, "metrics");
  await page.evaluate(() => hothouse.command({ kind: "step" }));
  return (await ended()).progress.iteration;
}

/** Pauses the run at the end of an iteration, so that its weights stay the same. */
export async function still(page) {
  const paused = await ahead(page, "running");
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await paused();
  await stepped(page);
}

export const notice = (page, text) => page.getByText(text).first().waitFor({ timeout: WAIT_MS });

/**
 * Saves the run through the page and returns the file's bytes. The page returns them as one base64 text, because Playwright would encode
 * each number of a list.
 */
export const saved = async (page) => Buffer.from(await page.evaluate(async () => (await hothouse.save()).toBase64()), "base64");

/** Restores a saved run in the page. */
export const restore = (page, bytes) =>
  page.evaluate((text) => hothouse.command({ kind: "restore", bytes: Uint8Array.fromBase64(text) }), Buffer.from(bytes).toString("base64"));

/** Runs the native program; returns its lines of standard output. */
export async function hothouse(args, env = {}) {
  const program = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/hothouse");
  // Keeps the program's monitors out of the user's cache.
  const surroundings = { ...process.env, XDG_CACHE_HOME: join(tmpdir(), "hothouse-tests"), ...env };
  const { stdout } = await promisify(execFile)(program, args, { env: surroundings, maxBuffer: 1 << 28, timeout: NEVER_MS });
  return stdout.trim().split("\n");
}

export const folder = () => mkdtempSync(join(tmpdir(), "hothouse-"));

/** Hides the page, which triggers an autosave. */
export const hide = (page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
    Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
  });

/**
 * Waits until a visit that started after `after` has saves in at least `places` slots. `store` is the database of the room (by default
 * control). Returns the start of the visit.
 */
export const stored = (page, { after = 0, places = 1, store = "hothouse" } = {}) =>
  until(
    page,
    ([after, places, store]) =>
      new Promise((resolve) => {
        const request = indexedDB.open(store, 1);
        // Only the page may create the database.
        request.onupgradeneeded = () => request.transaction.abort();
        request.onerror = () => resolve(0);
        request.onsuccess = () => {
          const keys = request.result.transaction("runs").objectStore("runs").getAllKeys();
          keys.onsuccess = () => {
            request.result.close();
            const visits = keys.result.map((key) => Number(key.split("-")[0]));
            const newest = Math.max(0, ...visits);
            resolve(newest > after && visits.filter((visit) => visit === newest).length >= places ? newest : 0);
          };
        };
      }),
    [after, places, store],
  );

/** Waits until the current state of the run is in the browser's storage. */
export const kept = async (page, store) => {
  await page.evaluate(
    () =>
      (globalThis.autosaves = new Promise((resolve) => {
        const { store } = hothouse;
        hothouse.store = (run) => store.call(hothouse, run).then(resolve);
      })),
  );
  await hide(page);
  await page.evaluate(() => globalThis.autosaves);
  await stored(page, { store });
};
