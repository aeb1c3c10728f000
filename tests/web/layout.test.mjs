// Layout of every room and dialog on four screen widths, light and dark: nothing is clipped or overflows, targets are large enough, and axe
// finds no serious issue. Each room is loaded once; then the screen size changes.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { ROOMS } from "../../scripts/rooms.mjs";
import { event, house, lab, until, visit } from "./fixture.mjs";

const here = house();
const axe = createRequire(import.meta.url).resolve("axe-core");

const SCREENS = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1440, height: 900 },
];
const PHONE = 390;
/** Widths of the screens on which axe checks both themes. */
const AXED = [PHONE, 1440];
/** Minimum target size (WCAG 2.5.8). */
const TARGET_PX = 24;
const BAR_SHARE = 0.08;

/** Runs in the page: finds elements that are clipped, overflow, scroll without a cue, or are too small as targets. */
function misfits([within, target, narrow]) {
  const root = document.querySelector(within);
  const wide = document.documentElement.clientWidth;
  const unseen = (element) =>
    element.closest(".unseen, .skip, .u-over, .u-legend, svg *, math *, option") || getComputedStyle(element).clipPath !== "none";
  const scroller = (element) => {
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement)
      if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
    return false;
  };
  const name = (element) =>
    `${element.tagName.toLowerCase()}${[...element.classList].map((c) => `.${c}`).join("")} ` +
    `"${(element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40)}"`;
  const found = [];
  for (const element of root.querySelectorAll("*")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || unseen(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    const style = getComputedStyle(element);
    if ((box.right > wide + 1 || box.left < -1) && !scroller(element))
      found.push(`${name(element)} sticks out: ${Math.round(box.left)} to ${Math.round(box.right)} of ${wide}`);
    const over = { x: element.scrollWidth > element.clientWidth + 1, y: element.scrollHeight > element.clientHeight + 1 };
    const text = !["CANVAS", "INPUT", "SELECT", "TEXTAREA", "svg", "math"].includes(element.tagName) && style.display !== "inline";
    if (text && over.x && (/hidden|clip/.test(style.overflowX) || element.tagName === "BUTTON"))
      found.push(`${name(element)} is cut: ${element.scrollWidth} in ${element.clientWidth}`);
    if (text && over.y && /hidden|clip/.test(style.overflowY))
      found.push(`${name(element)} is cut: ${element.scrollHeight} in ${element.clientHeight} high`);
    if (text && over.x && /auto|scroll/.test(style.overflowX) && style.scrollbarWidth === "none" && style.backgroundImage === "none")
      found.push(`${name(element)} scrolls without a cue`);
    // Label and value of a knob must not overlap.
    const label = element.matches(".knob .now") && element.closest(".knob").querySelector("label")?.getBoundingClientRect();
    if (label && box.left < label.right && label.left < box.right && box.top < label.bottom - 1 && label.top < box.bottom - 1)
      found.push(`${name(element)} lies over the knob's name`);
    if (!element.matches("a[href], button, select, summary, input:not([type=file]), textarea")) continue;
    if (element.tagName === "A" && style.display === "inline") continue; // a link within a sentence
    if (wide === narrow && element.closest(".board")) continue; // a row of the board has twelve points, bar and tray in 320 px
    const boxes = [element, ...(element.labels ?? [])].map((one) => one.getBoundingClientRect());
    if (!boxes.some(({ width, height }) => width >= target - 0.5 && height >= target - 0.5))
      found.push(`${name(element)} is ${Math.round(box.width)} by ${Math.round(box.height)}`);
  }
  return [...new Set(found)];
}

/** Waits until the layout is stable for some frames and no animation is running. */
const settled = (page) =>
  page.evaluate(async () => {
    const root = document.documentElement;
    for (let [frames, still, before] = [0, 0, ""]; still < 4 && frames < 60; frames++) {
      await new Promise(requestAnimationFrame);
      const now = [
        root.clientWidth,
        root.scrollWidth,
        root.scrollHeight,
        document.getAnimations().filter(({ playState }) => playState === "running").length,
      ].join();
      [still, before] = [now === before ? still + 1 : 0, now];
    }
  });

/**
 * Serious issues that axe finds in a part of the page. In the dark theme axe checks only the contrast, because the light theme covers the
 * other rules.
 */
async function serious(page, within, colorScheme) {
  const rules = colorScheme === "dark" ? { runOnly: ["color-contrast"] } : {};
  const { violations } = await page.evaluate(
    ([within, rules]) => axe.run(within, { resultTypes: ["violations"], ...rules }),
    [within, rules],
  );
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`);
}

/** Checks a part of the page on every screen. */
async function look(page, what, within) {
  const found = [];
  for (const screen of SCREENS) {
    await page.setViewportSize(screen);
    for (const colorScheme of AXED.includes(screen.width) ? ["light", "dark"] : ["light"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" }); // turns colour transitions off
      await settled(page);
      const where = `${what}, ${screen.width} px, ${colorScheme}`;
      if (colorScheme === "light")
        found.push(...(await page.evaluate(misfits, [within, TARGET_PX, SCREENS[0].width])).map((words) => `${where}: ${words}`));
      if (AXED.includes(screen.width)) found.push(...(await serious(page, within, colorScheme)).map((words) => `${where}: ${words}`));
    }
  }
  assert.deepEqual(found, []);
}

/** Opens collapsed sections. */
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("#main details").forEach((details) => (details.open = true)));
  const folded = () => [...document.querySelectorAll('#main [aria-expanded="false"]')].filter((button) => button.checkVisibility());
  await page.evaluate(`(${folded})().forEach((button) => button.click())`);
  await until(page, `(${folded})().length === 0`);
}

for (const room of ROOMS)
  test(`${room} fits all screens without clipping or small targets, and axe finds no serious issue`, async () => {
    const page = await visit(here, { at: `#/${room}`, frames: 60 }); // paused, so drawing is cheap
    await event(page, "metrics");
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    await page.addScriptTag({ path: axe });
    // First the state after loading is checked.
    for (const { width, height } of SCREENS) {
      await page.setViewportSize({ width, height });
      await settled(page);
      const found = (await page.evaluate(misfits, ["body", TARGET_PX, SCREENS[0].width])).map((words) => `${width} px: ${words}`);
      const { bar, curve, over } = await page.evaluate(() => ({
        bar: document.querySelector(".transport").offsetHeight,
        curve: document.querySelector(".returns").getBoundingClientRect().top + scrollY,
        over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      }));
      if (over > 0) found.push(`${width} px: ${over} pixels wider than the screen`);
      if (bar > BAR_SHARE * height) found.push(`${width} px: the bar takes ${bar} of ${height}`);
      // On a phone the picture comes first, and the curve must begin on the first screen.
      if (width === PHONE && curve > height) found.push(`the curve is ${Math.round(curve)} px down`);
      assert.deepEqual(found, []);
    }
    // The main knobs are beside the curve. No knob appears twice.
    assert.equal(await page.locator(".returns .first-knobs .knob").count(), 3);
    assert.equal(await page.locator(".knob").count(), await page.evaluate(() => hothouse.knobs.length + 1), "each knob, and the seed");
    await unfold(page);
    await look(page, "page with all that folds", "body");
    // Then the dialogs are checked, and the tour beside its target.
    const openers = {
      Help: "Help",
      "Run it natively": "Run it natively",
      badge: await page.locator("#tools .badge").getAttribute("aria-label"),
    };
    for (const [what, name] of Object.entries(openers)) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.locator("dialog[open] :nth-child(2)").first().waitFor();
      await look(page, `dialog "${what}"`, "dialog[open]");
      await page.keyboard.press("Escape");
    }
    await page.getByRole("button", { name: "Help", exact: true }).click();
    await page.getByRole("button", { name: "Take the tour" }).click();
    for (;;) {
      await look(page, `tour, "${await page.locator(".tour h2").textContent()}"`, ".tour");
      const next = page.locator(".tour").getByRole("button", { name: "Next" });
      if (!(await next.count())) break;
      await next.click();
    }
    assert.deepEqual(page.said, []);
    await page.context().close();
  });

/** Selectors and animation names of all style rules. Rules that set custom properties are skipped. */
const selectors = () => {
  const found = (rules) =>
    [...rules].flatMap((rule) =>
      /^:root(\[.*?\])?$/.test(rule.selectorText) ? [] : [rule.selectorText ?? rule.name ?? "", ...found(rule.cssRules ?? [])],
    );
  return [...document.styleSheets].flatMap((sheet) => found(sheet.cssRules).filter(Boolean));
};

test("a room's style rules do not depend on the rooms opened before", async () => {
  // Selects the rules of this room and the common rules of the page.
  const of = (all, room) => all.filter((selector) => !/\.room-/.test(selector) || selector.includes(`.room-${room}`)).sort();
  const page = await visit(here);
  for (const room of [...ROOMS, ROOMS[0]]) {
    await page.evaluate((room) => (location.hash = `#/${room}`), room);
    await lab(page, room);
    const alone = await visit(here, { at: `#/${room}` });
    assert.deepEqual(await page.evaluate(() => [...document.body.classList]), [`room-${room}`]);
    const [met, own] = [await page.evaluate(selectors), await alone.evaluate(selectors)];
    assert.ok(own.length > 100, `${own.length} rules`);
    assert.ok(own.some((selector) => selector.includes(`.room-${room}`)));
    assert.deepEqual(of(met, room), of(own, room), room);
    await alone.context().close();
  }
  await page.context().close();
});
