// The bench `page`: speed, stability and density of each room's page on a desktop and a phone, and speed and size of the room's frame in
// another page. A figure of the page covers the first `TRACE_MS` after the start of loading, unless its unit names another period.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { everywhere, returning } from "./browser.mjs";
import { counted, measured } from "./figure.mjs";
import { serve } from "./serve.mjs";

const TRACE_MS = 15_000;
/** Categories of the browser's trace: tasks of threads, and marks of the page. */
const CATEGORIES = ["disabled-by-default-devtools.timeline", "blink.user_timing"];
/** Number of seconds in which frames are counted, during training and then without it. */
const SECONDS = 5;
const SETTLE_MS = 500;
/** Number of first visits to a frame, size of the frame in px, and time in which the frame loads its files. */
const VISITS = 3;
const FRAME = { width: 640, height: 480 };
const FILES_MS = 3000;
const SCREENS = [{ viewport: { width: 1440, height: 900 } }, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }];

/** Records the files that a page loads. The returned function returns the compressed size of the files loaded so far, in kB. */
export function loadedBy(page, dist) {
  const paths = new Set();
  page.on("response", (response) => paths.add(new URL(response.url()).pathname));
  return () => {
    const files = [...paths].map((path) => join(dist, path === "/" ? "index.html" : path)).filter(existsSync);
    return files.reduce((sum, file) => sum + brotliCompressSync(readFileSync(file)).length, 0) / 1000;
  };
}

/** Runs in the page before its scripts. Records layout shifts, frames, and the time of the stage's first picture in `traced`. */
export function trace() {
  const traced = { shifts: [], frames: [], startMs: undefined, pictureMs: undefined };
  globalThis.traced = traced;
  const observe = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  const name = ({ localName, className }) => [localName, ...String(className).split(" ").filter(Boolean)].join(".");
  const moved = ({ node }) => node && name(node.nodeType === Node.TEXT_NODE ? node.parentElement : node);
  observe("layout-shift", ({ startTime, value, sources }) =>
    traced.shifts.push({ startTime, value, moved: sources.map(moved).find(Boolean) ?? "an element that is gone" }),
  );
  const drawn = new WeakSet();
  const context = CanvasRenderingContext2D.prototype;
  for (const name of ["fill", "fillRect", "fillText", "stroke", "drawImage", "putImageData"]) {
    const plain = context[name];
    context[name] = function (...args) {
      drawn.add(this.canvas);
      return plain.apply(this, args);
    };
  }
  /**
   * Returns true if the stage shows a picture: a drawn canvas or, without a canvas, an SVG drawing or a text. In a room without a stage,
   * the curve of returns counts as the stage.
   */
  const hasPicture = () => {
    const stage = document.querySelector(".plain .returns") ?? document.querySelector(".live-panel");
    const canvases = [...(stage?.querySelectorAll("canvas") ?? [])].filter((canvas) => canvas.checkVisibility());
    if (canvases.length) return canvases.some((canvas) => drawn.has(canvas));
    return Boolean(stage?.querySelector("svg") || stage?.innerText.trim());
  };
  const frame = (ms) => {
    traced.frames.push(ms);
    // The time of a frame may precede the task before it, which set the global.
    traced.startMs ??= globalThis.hothouse && performance.now();
    // A picture that was drawn before this frame is on the screen now.
    if (!traced.pictureMs && hasPicture()) traced.pictureMs = ms;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** Runs in the page: returns the number of frames in each of the last `seconds` seconds, the latest second first. */
function framesBySecond(seconds) {
  const now = performance.now();
  return Array.from({ length: seconds }, (_, k) => {
    const age = (ms) => Math.floor((now - ms) / 1000);
    return traced.frames.filter((ms) => age(ms) === k).length;
  });
}

/**
 * Runs in the page: counts controls and words and lists the font sizes, on the first screen and in the whole page. Also returns the height
 * of the page.
 */
export function census() {
  scrollTo(0, 0);
  const boxOf = (node) => {
    const range = document.createRange();
    range.selectNode(node);
    return range.getBoundingClientRect();
  };
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".unseen, .skip, option");
  const onScreen = ({ top, bottom, left, right }) => top < innerHeight && bottom > 0 && left < innerWidth && right > 0;
  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=slider]")].filter(shown);
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); )
    if (node.data.trim() && node.parentElement.matches(":not(script, style, noscript *)") && shown(node.parentElement)) texts.push(node);
  const counts = (holds) => {
    const [fields, read] = [controls.filter((one) => holds(one.getBoundingClientRect())), texts.filter((text) => holds(boxOf(text)))];
    const sized = [...read.map(({ parentElement }) => parentElement), ...fields.filter((one) => one.matches("input, select, textarea"))];
    return {
      controls: fields.length,
      words: read.reduce((sum, { data }) => sum + data.trim().split(/\s+/).length, 0),
      sizes: [...new Set(sized.map((one) => parseFloat(getComputedStyle(one).fontSize)))].sort((a, b) => a - b),
    };
  };
  return { screen: counts(onScreen), page: counts(() => true), height: document.documentElement.scrollHeight };
}

/** Reports for each tab the largest counts among its sections, and all font sizes. */
async function density(page, name, give) {
  const found = [];
  await everywhere(page, async (tab) => {
    await page.waitForTimeout(SETTLE_MS);
    found.push({ tab: tab.toLowerCase(), ...(await page.evaluate(census)) });
  });
  for (const tab of new Set(found.map(({ tab }) => tab))) {
    const all = found.filter((one) => one.tab === tab);
    const row = (what, counts, unit) => give(counted(`${name}.${tab}.${what}`, Math.max(...counts), unit));
    for (const [part, where] of [
      ["screen", "on the first screen"],
      ["page", "in the whole page"],
    ]) {
      const counts = all.map((one) => one[part]);
      const sizes = [...new Set(counts.flatMap(({ sizes }) => sizes))].sort((a, b) => a - b);
      row(
        `${part}_controls`,
        counts.map(({ controls }) => controls),
        `controls ${where}`,
      );
      row(
        `${part}_words`,
        counts.map(({ words }) => words),
        `words ${where}`,
      );
      row(`${part}_sizes`, [sizes.length], `sizes of type ${where} (${sizes.join(", ")} px)`);
    }
    row(
      "height",
      all.map(({ height }) => height),
      "px, the page's height",
    );
  }
}

/** Returns the row for the sum of layout shifts. Its unit also names the largest shift. */
function layoutShift(name, shifts) {
  const sum = shifts.reduce((sum, { value }) => sum + value, 0);
  const [most] = shifts.toSorted((a, b) => b.value - a.value);
  const largest = most ? `; the largest is ${most.value.toFixed(3)} of ${most.moved} after ${(most.startTime / 1000).toFixed(1)} s` : "";
  return counted(name, sum, `layout shift, the sum${largest}`);
}

/**
 * Returns the tasks of the page's thread in a trace of the browser, in ms. `cpu` is the processor time of a task; it excludes the time in
 * which other threads use the core.
 */
function tasksOf(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const mark = traceEvents.find(({ name, args }) => name === "traced" && args.data?.startTime !== undefined);
  const start = mark.ts - 1000 * mark.args.data.startTime;
  const own = ({ name, pid, tid }) => name === "RunTask" && pid === mark.pid && tid === mark.tid;
  return traceEvents.filter(own).map(({ ts, dur, tdur }) => ({ startTime: (ts - start) / 1000, duration: dur / 1000, cpu: tdur / 1000 }));
}

/**
 * Measures the frame of a room in an outer page of another origin. The outer page is not isolated. The measurements are the compressed size
 * of the frame's files in a first visit, and the time from the start of the outer page to the first picture.
 */
export async function benchFrame(browser, server, dist, room, give) {
  const text = `<!doctype html><script type="module" src="${server.url}hothouse-room.js"></script><hothouse-room room="${room}">`;
  const site = await serve(dist, { isolated: false, extra: { "/outer.html": text } });
  const pictures = [];
  let kb;
  for (let visit = 0; visit < VISITS; visit++) {
    const context = await browser.newContext({ viewport: FRAME });
    await context.addInitScript(trace);
    const page = await context.newPage();
    const loaded = loadedBy(page, dist);
    const attached = page.waitForEvent("frameattached");
    await page.goto(`http://localhost:${site.port}/outer.html`);
    const frame = await attached;
    await frame.waitForFunction(() => globalThis.traced?.pictureMs);
    const begun = await page.evaluate(() => performance.timeOrigin);
    pictures.push((await frame.evaluate(() => performance.timeOrigin + traced.pictureMs)) - begun);
    await page.waitForTimeout(FILES_MS);
    kb = loaded();
    await context.close();
  }
  await site.close();
  give(measured(`embed.${room}.first_picture_ms`, pictures, "ms from the start of an outer page that is not isolated"));
  give(counted(`embed.${room}.first_load_kb`, kb, "kB, compressed, with the typeface"));
}

/** Measures the page of a room on a desktop and a phone. */
export async function benchPage(browser, server, dist, room, give) {
  for (const screen of SCREENS) {
    const context = await browser.newContext(screen);
    await context.addInitScript(returning);
    await context.addInitScript(trace);
    const page = await context.newPage();
    const loaded = loadedBy(page, dist);
    const name = `page.${room}.${screen.viewport.width}`;
    await browser.startTracing(page, { categories: CATEGORIES });
    await page.goto(`${server.url}#/${room}`);
    await page.waitForFunction(() => globalThis.hothouse);
    await page.waitForFunction((ms) => performance.now() > ms, TRACE_MS);
    // The mark connects the clock of the trace to the page's clock. A mark at the start of loading may precede the trace.
    const { shifts, startMs, pictureMs } = await page.evaluate(() => (performance.mark("traced"), traced));
    const training = await page.evaluate(framesBySecond, SECONDS);
    const early = ({ startTime }) => startTime < TRACE_MS;
    const tasks = tasksOf(await browser.stopTracing()).filter((task) => early(task) && task.startTime > startMs);
    const longest = (time) => Math.max(...tasks.map(time));
    give(layoutShift(`${name}.layout_shift`, shifts.filter(early)));
    give(
      counted(
        `${name}.longest_task_ms`,
        longest(({ duration }) => duration),
        "ms, longest task of the page's thread after the start",
      ),
    );
    give(
      counted(
        `${name}.longest_task_cpu_ms`,
        longest(({ cpu }) => cpu),
        "ms of processor time, longest task of the page's thread after the start",
      ),
    );
    give(counted(`${name}.first_picture_ms`, pictureMs ?? Infinity, "ms from the start of loading to the stage's first picture"));
    give(counted(`${name}.first_load_kb`, loaded(), "kB, compressed, with the typeface"));
    give(measured(`${name}.fps_training`, training, "frames a second during training"));
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    await page.waitForTimeout(SETTLE_MS + 1000 * SECONDS);
    give(measured(`${name}.fps_paused`, await page.evaluate(framesBySecond, SECONDS), "frames a second without training"));
    await density(page, name, give);
    await context.close();
  }
}
