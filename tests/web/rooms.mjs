// Helpers for the tests of rooms: opening a room, checking texts and accessibility, closing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";
import { lab, visit, WAIT_MS } from "./fixture.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core");

/** Returns a function that opens a room by `open` and waits until the element `ready` exists. */
export const entrance =
  (here, room, at, ready = "h1", open = visit) =>
  async (settings = {}) => {
    const page = await open(here, { at, started: false, ...settings });
    await lab(page, room);
    await page.locator(ready).waitFor();
    return page;
  };

/** Settings of the runs that tests of the page open. On one thread, an iteration or a test of the default run would take many seconds. */
const QUICK = { cube: "hidden=64-32", words: "steps=4" };

/** Returns the address of a room for tests of its page. */
export const addressOf = (room) => (QUICK[room] ? `#/${room}?${QUICK[room]}&v=2` : `#/${room}`);

export const ask = (page, question) => page.evaluate((question) => hothouse.ask(question), question);

/** Waits until the text of an element matches a regular expression. */
export const reads = (page, element, { source, flags }) =>
  page.waitForFunction(
    ([element, source, flags]) => new RegExp(source, flags).test(document.querySelector(element)?.textContent ?? ""),
    [element, source, flags],
  );

/** Returns the share of a canvas's pixels that differ from the most common colour. */
const drawn = (page, selector) =>
  page.evaluate((selector) => {
    const canvas = document.querySelector(selector);
    // A canvas that was just revealed has no size yet.
    if (canvas.width === 0 || canvas.height === 0) return 0;
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return 1 - Math.max(...counts.values()) / pixels.length;
  }, selector);

/** Waits until more than `share` of a canvas's pixels (default: 0.5%) differ from the background. */
export async function isDrawn(page, canvas, name, share = 0.005) {
  const deadline = performance.now() + WAIT_MS;
  while ((await drawn(page, canvas)) <= share) {
    assert.ok(performance.now() < deadline, `${name}: nothing on ${canvas}`);
    await setTimeout(100);
  }
}

/** Two screens: a light desktop, and a dark phone with reduced motion. */
export const SCREENS = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 }, reducedMotion: "no-preference" },
  { colorScheme: "dark", viewport: { width: 390, height: 844 }, reducedMotion: "reduce" },
];

/** Selector of the open tab's panel. The layout tests check the rest of the page, which is the same in every tab. */
export const OPEN_PANEL = ".panels > .panel:not([hidden])";

/** Returns the violations that axe finds in a part of the page, each with its `impact` and its text. */
async function violations(page, part, options = {}) {
  if (!(await page.evaluate(() => Boolean(globalThis.axe)))) await page.evaluate(readFileSync(AXE, "utf8"));
  // During the transition to another theme, text has a contrast of its own.
  await page.evaluate(async () => {
    await Promise.allSettled(document.getAnimations().map((one) => one instanceof CSSTransition && one.finished));
  });
  const found = await page.evaluate(([part, options]) => axe.run(part, { resultTypes: ["violations"], ...options }), [part, options]);
  return found.violations.map(({ id, impact, nodes }) => ({ impact, text: `${id}: ${nodes.map(({ html }) => html).join(", ")}` }));
}

/** Rules that axe does not check by default: the accessible name of a control contains its visible text (WCAG 2.5.3). */
const ALSO = { "label-content-name-mismatch": { enabled: true } };

/**
 * Returns the serious and critical issues that axe finds in a part of the page. In the dark theme axe checks only the contrast. The checks
 * in the light theme cover the other rules.
 */
export async function serious(page, colorScheme, part = "html") {
  const found = await violations(page, part, colorScheme === "dark" ? { runOnly: ["color-contrast"] } : { rules: ALSO });
  return found.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ text }) => text);
}

/** Checks that axe finds no issue in the element `part`. If a run trains, it pauses meanwhile, because training would slow the check. */
export async function accessible(page, part = OPEN_PANEL) {
  await page.evaluate(() => globalThis.hothouse?.command({ kind: "pause" }));
  const found = await violations(page, part);
  await page.evaluate(() => globalThis.hothouse?.command({ kind: "start" }));
  assert.deepEqual(found, []);
}

/** Checks that nothing overflows the screen. */
export const fits = async (page) =>
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), page.viewportSize().width);

/** On a phone, also checks that the page fits a screen of 320 px. */
export async function narrows(page) {
  if (page.viewportSize().width > 390) return;
  await page.setViewportSize({ width: 320, height: 640 });
  await page.waitForFunction(() => document.documentElement.scrollWidth === 320);
}

/** Checks that visible targets measure at least 24 px in `side`, which is `width` or `height`. */
export async function large(locator, side) {
  const sizes = await locator.evaluateAll(
    (all, side) => all.filter((one) => one.offsetParent).map((one) => one.getBoundingClientRect()[side]),
    side,
  );
  assert.ok(sizes.length > 0 && Math.min(...sizes) >= 24, `${sizes.length} parts, ${Math.min(...sizes)} px`);
}

/** Checks that the page reported no errors, and closes it. */
export async function leave(page) {
  assert.deepEqual(page.said, []);
  await page.context().close();
}

/** Maximum number of controls that a screen may show at once, as `mostControls` counts them. */
export const MOST_CONTROLS = 40;

/**
 * Runs in the page: returns the greatest number of controls that are visible at once while the page is scrolled. Controls behind the
 * transport bar are not visible. Each of these counts as one control: the points of a board, the slider and the number of a knob, the
 * options of a radio group, and the options of a select.
 */
export async function mostControls() {
  const all = [...document.querySelectorAll("a[href], button, select, summary, input:not([type=file]), textarea, [role=application]")];
  const parts = ".board-places, .net, .knob input[type=range], input[type=radio]:not(:checked)";
  const controls = all.filter((one) => !one.closest(parts) && one.checkVisibility({ visibilityProperty: true }));
  const floor = document.querySelector(".transport")?.getBoundingClientRect().top ?? innerHeight;
  const bottomOf = new Map(controls.map((one) => [one, one.closest(".transport, .tabs") ? innerHeight : floor]));
  let most = 0;
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 4) {
    scrollTo({ top: y, behavior: "instant" });
    const visible = controls.filter((one) => {
      const { top, bottom, height } = one.getBoundingClientRect();
      return height > 0 && bottom > 0 && top < bottomOf.get(one);
    });
    most = Math.max(most, visible.length);
  }
  scrollTo({ top: 0, behavior: "instant" });
  return most;
}
