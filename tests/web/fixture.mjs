// One Chromium and one server a test file, and the few things that every test of the page does.
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
/** How long something that must happen may take on a busy machine. */
export const WAIT_MS = 90_000;
/** How long anything at all may take: what waits for what never comes must fail, and say where. */
const NEVER_MS = 300_000;

/** `promise`, or a fault once it has taken `ms`. */
function within(promise, ms, what) {
  let timer;
  const error = new Error(`${what}: nothing after ${ms / 1000} s`); // made here, so that it names the test that waits
  const late = new Promise((_, reject) => (timer = setTimeout(reject, ms, error)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** `{ browser, server }`, alive while the file's tests run; `args` are the browser's. */
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

/** A module of the page by itself: one that needs no document. */
export async function part(name) {
  const { output } = await build({ ...SILENT, build: { ssr: `www/${name}.ts`, write: false } });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

/** A module that needs one, as a script that leaves it in the page's global `part`. */
export async function script(name) {
  const lib = { entry: `www/${name}.ts`, formats: ["iife"], name: "part" };
  const [{ output }] = await build({ ...SILENT, build: { lib, write: false } });
  return `${output.find(({ isEntry }) => isEntry).code}\nglobalThis.part = part;`;
}

/** In the page: ten frames a second at most, since frames that no test looks at would take most of the processor. */
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
 * Opens the page in a fresh profile, as one who has been here before unless it is the `first` visit; `init` runs before the page's
 * own scripts. `page.said` is what its console said.
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
  // Unlike all else that a page is asked, scripts have no limit of their own.
  const evaluate = page.evaluate.bind(page);
  page.evaluate = (script, arg) => within(evaluate(script, arg), NEVER_MS, String(script));
  // Nor takes the page's policy a script that stands in it.
  page.addScriptTag = ({ path }) => page.evaluate(readFileSync(path, "utf8"));
  page.said = [];
  page.on("console", (message) => message.type() === "error" && page.said.push(message.text()));
  page.on("pageerror", (error) => page.said.push(String(error)));
  await page.goto(server.url + at);
  if (started) await lab(page);
  return page;
}

/** For `init`, with `context: { bypassCSP: true }`: a script that runs in each of the page's workers before the worker's own. */
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
        // the module loads a moment later than a worker's own script would
        this.loaded ??= new Promise((resolve) => this.addEventListener("message", resolve, { once: true }));
        this.loaded.then(() => super.postMessage(message, transfer));
      }
    };
  }`;

/**
 * Waits until an expression, given as its text, or a function of the page is true, and gives what that is. What gives a promise is
 * waited for here alone: `waitForFunction` takes the promise itself for true, and the page's policy lets it take functions alone.
 */
export async function until(page, what, arg) {
  for (const began = performance.now(); performance.now() - began < WAIT_MS; ) {
    const value = await page.evaluate(what, arg);
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never so: ${what} ${JSON.stringify(arg) ?? ""}`);
}

/** Waits until a run is in the page; of a room, where one is named. */
export const lab = (page, room) => page.waitForFunction((room) => globalThis.hothouse && (!room || hothouse.room.id === room), room);

/** An event as it was told, with the names of the room's columns beside its numbers. */
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
 * Begins to wait for what a function gives in the page, and comes back when it waits there: whatever is done next is not missed.
 * Gives the function that waits for the outcome.
 */
export async function begun(page, wait, arg) {
  // As one text, since the page's policy lets it make no functions of texts.
  const at = await page.evaluate(`(globalThis.begun ??= []).push((${wait})(${JSON.stringify(arg)})) - 1`);
  return () => page.evaluate((at) => globalThis.begun[at], at);
}

/** From now on the next event of a kind, or the first of it for which `holds` (a function of its named form). */
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

/** From now on the next event of a kind, or the one with this iteration or later. */
export const ahead = (page, kind, iteration = 0) =>
  aheadWhere(page, kind, `(event) => (event.iteration ?? event.progress?.iteration ?? 0) >= ${iteration}`);

/** As `ahead`, where nothing is to be done first. */
export const event = async (page, kind, iteration) => (await ahead(page, kind, iteration))();
export const eventWhere = async (page, kind, holds) => (await aheadWhere(page, kind, holds))();

/** Waits for a notice on the page whose text matches. */
export const notice = (page, text) => page.getByText(text).first().waitFor({ timeout: WAIT_MS });

/** The run as the page saves it. */
export const saved = async (page) => Buffer.from(await page.evaluate(async () => Array.from(await hothouse.save())));

/** Runs the native program; gives its lines of standard output. */
export async function hothouse(args, env = {}) {
  const program = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/hothouse");
  // Its monitors are none that anybody wants to watch later.
  const surroundings = { ...process.env, XDG_CACHE_HOME: join(tmpdir(), "hothouse-tests"), ...env };
  const { stdout } = await promisify(execFile)(program, args, { env: surroundings, maxBuffer: 1 << 28, timeout: NEVER_MS });
  return stdout.trim().split("\n");
}

export const folder = () => mkdtempSync(join(tmpdir(), "hothouse-"));

/** A page that goes out of sight saves at once. */
export const hide = (page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
    Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
  });

/**
 * Waits until a room's storage, control's if no other is named, has a save of a visit that began after `visit`, in so many of its places;
 * gives when that visit began.
 */
export const stored = (page, { after = 0, places = 1, store = "hothouse" } = {}) =>
  until(
    page,
    ([after, places, store]) =>
      new Promise((resolve) => {
        const request = indexedDB.open(store, 1);
        // The page makes it; before that there is nothing to see.
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

/** Until the run as it is now lies in the browser's storage. */
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
