// One Chromium and one server per test file, and helpers for all tests of the page.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { promisify } from "node:util";
import { build } from "vite";
import { launch, returning } from "../../scripts/browser.mjs";
import { root } from "../../scripts/sh.mjs";
import { serve } from "../../scripts/serve.mjs";

export const dist = join(root, "dist");
/** Time limit of an expected event on a busy machine. */
export const WAIT_MS = 90_000;
/** Time limit of any wait, so that a test fails at the place where it hangs. */
const NEVER_MS = 300_000;

/** Rejects if `promise` takes longer than `ms`. */
function within(promise, ms, what) {
  let timer;
  const error = new Error(`${what}: nothing after ${ms / 1000} s`); // created here, so that the stack names the waiting test
  const late = new Promise((_, reject) => (timer = setTimeout(reject, ms, error)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** `{ browser, server }` for the tests of a file; `args` are passed to the browser. */
export function house(args = []) {
  const here = {};
  before(async () => {
    here.browser = await launch(args);
    here.server = await serve(dist);
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

/** Bundles a module that needs a document, as a script that sets the global `part`. */
export async function script(name) {
  const lib = { entry: `www/${name}.ts`, formats: ["iife"], name: "part" };
  const [{ output }] = await build({ ...SILENT, build: { lib, write: false } });
  return `${output.find(({ isEntry }) => isEntry).code}\nglobalThis.part = part;`;
}

/** Runs in the page: limits it to ten frames a second, because drawing would take most of the CPU time. */
function fewFrames() {
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
 * Opens the page in a fresh profile, as a returning visitor unless `first` is true. `init` runs before the page's scripts.
 * `page.said` contains the console output.
 */
export async function visit(
  here,
  { at = "", server = here.server, init, context: settings, started = true, first = false, frames = 10 } = {},
) {
  const context = await here.browser.newContext(settings);
  context.setDefaultTimeout(WAIT_MS);
  if (!first) await context.addInitScript(returning);
  if (frames === 10) await context.addInitScript(fewFrames);
  if (init) await context.addInitScript(init);
  const page = await context.newPage();
  // Unlike other calls, scripts have no time limit of their own.
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

/** For `init`, with `context: { bypassCSP: true }`: runs a script in each worker of the page before the worker's own script. */
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
        // the module loads later than the worker's own script would
        this.loaded ??= new Promise((resolve) => this.addEventListener("message", resolve, { once: true }));
        this.loaded.then(() => super.postMessage(message, transfer));
      }
    };
  }`;

/**
 * Waits until an expression, given as text, or a function in the page is truthy, and returns its value. Promises are awaited, unlike
 * in `waitForFunction`, which also accepts functions only because of the page's policy.
 */
export async function until(page, what, arg) {
  for (const began = performance.now(); performance.now() - began < WAIT_MS; ) {
    const value = await page.evaluate(what, arg);
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never so: ${what} ${JSON.stringify(arg) ?? ""}`);
}

/** Waits for a run on the page, of a given room if named. */
export const lab = (page, room) => page.waitForFunction((room) => globalThis.hothouse && (!room || hothouse.room.id === room), room);

/** An event with its values by column name. */
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
 * Starts a function in the page and returns once it is waiting, so that no later event is missed. Returns a function that awaits
 * the outcome.
 */
export async function begun(page, wait, arg) {
  // Passed as one text, because the page's policy forbids `eval`.
  const at = await page.evaluate(`(globalThis.begun ??= []).push((${wait})(${JSON.stringify(arg)})) - 1`);
  return () => page.evaluate((at) => globalThis.begun[at], at);
}

/** Next event of a kind from now on, or the first for which `holds` is true of its named form. */
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

/** Next event of a kind from now on, or the first at or after an iteration. */
export const ahead = (page, kind, iteration = 0) =>
  aheadWhere(page, kind, `(event) => (event.iteration ?? event.progress?.iteration ?? 0) >= ${iteration}`);

/** As `ahead`, without an action in between. */
export const event = async (page, kind, iteration) => (await ahead(page, kind, iteration))();
export const eventWhere = async (page, kind, holds) => (await aheadWhere(page, kind, holds))();

/** Waits for a notice whose text matches. */
export const notice = (page, text) => page.getByText(text).first().waitFor({ timeout: WAIT_MS });

/** Saves the run through the page. */
export const saved = async (page) => Buffer.from(await page.evaluate(async () => Array.from(await hothouse.save())));

/** Runs the native program; returns its lines of standard output. */
export async function hothouse(args, env = {}) {
  const program = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/hothouse");
  // Keeps its monitors out of the user's cache.
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
 * Waits until the storage of a room (by default control) contains a save of a visit after `visit`, in a number of slots. Returns
 * the start of that visit.
 */
export const stored = (page, { after = 0, places = 1, store = "hothouse" } = {}) =>
  until(
    page,
    ([after, places, store]) =>
      new Promise((resolve) => {
        const request = indexedDB.open(store, 1);
        // The page creates the database.
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
