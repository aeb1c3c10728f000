// Tests of the layout of every tab, section and dialog of every room. Nothing is clipped or overflows, and nothing shifts during training.
// Targets are large enough, and sizes of type are those of the design system. No screen has too many controls, and axe finds no serious
// issue. Each room is loaded once, and then the size of the screen changes. The tests replay runs and look at all panels at once, on a
// phone and on a wide screen; `--all` adds runs that train, and each place by itself on four widths, with axe in both themes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOMS } from "../../scripts/rooms.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { event, everywhere, house, lab, place, script, until, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";
import { addressOf, MOST_CONTROLS, mostControls, OPEN_PANEL, serious } from "./rooms.mjs";

const here = house();
replays(here);

const SCREENS = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1440, height: 900 },
];
const [, PHONE, , WIDE] = SCREENS;
/** Screens on which the controls are counted. The last one decides the height of a tab and its sizes of type. */
const COUNTED = [{ width: 1920, height: 1080 }, WIDE, PHONE];
const DESKTOP = { width: 1280, height: 720 };
/** Smallest screen on which the results are beside the picture. */
const BESIDE = { width: 1024, height: 768 };
/** Screen widths in px on which axe checks the page after loading. Sections and dialogs are checked on a phone only. */
const AXED = [PHONE.width, WIDE.width];
/** Minimum target size (WCAG 2.5.8). */
const TARGET_PX = 24;
const BAR_SHARE = 0.08;
const TYPE_PX = [12, 14, 16, 20, 28, 44];
/** Maximum height of a tab on a phone. */
const TALLEST_PX = 3000;
/** Minimum number of tabs and sections of a room. */
const LEAST_PLACES = 14;
/** Times in which layout shifts are counted, and the greatest permitted sum of the browser's scores of these shifts. */
const SHIFT_MS = { replayed: 500, live: 4000 };
const MOST_SHIFT = 0.02;

/** Runs in the page: finds elements that are clipped, overflow, scroll without a cue, or are too small as targets. */
function misfits([within, target, narrow]) {
  /** Width of a select's padding, border and arrow. */
  const SELECT_PX = 34;
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
    const ownText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (element.tagName === "P" && over.x && ownText && style.overflowX === "visible")
      found.push(`${name(element)} has text that sticks out`);
    if (text && over.y && /hidden|clip/.test(style.overflowY))
      found.push(`${name(element)} is cut: ${element.scrollHeight} in ${element.clientHeight} high`);
    if (text && over.x && /auto|scroll/.test(style.overflowX) && style.scrollbarWidth === "none" && style.backgroundImage === "none")
      found.push(`${name(element)} scrolls without a cue`);
    if (element.tagName === "SELECT" && element.selectedOptions[0]) {
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = style.font;
      const needed = pen.measureText(element.selectedOptions[0].text).width + SELECT_PX;
      if (needed > box.width + 1) found.push(`${name(element)} is cut: ${Math.round(needed)} in ${Math.round(box.width)}`);
    }
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

/** Runs in the page: finds elements whose text has a size that is not one of `sizes`. */
function oddSizes(sizes) {
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: element, textContent } = texts.currentNode;
    if (!textContent.trim() || element.closest("svg, math, script, noscript, .unseen") || !element.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (!sizes.includes(size)) found.add(`${element.tagName}.${element.className} "${textContent.trim().slice(0, 24)}" has ${size} px`);
  }
  return [...found];
}

/** Runs in the page: returns the sum of the layout shifts within `ms`, and the shifted elements. */
const shifts = (ms) =>
  new Promise((resolve) => {
    const found = [];
    const observer = new PerformanceObserver((list) => found.push(...list.getEntries()));
    observer.observe({ type: "layout-shift" });
    setTimeout(() => {
      observer.disconnect();
      const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
      const name = ({ node, previousRect, currentRect }) =>
        `${node?.outerHTML?.slice(0, 60) ?? node?.data ?? "an element that is gone"} (${box(previousRect)} to ${box(currentRect)})`;
      const at = found.map(({ value, sources }) => `${value.toFixed(4)}: ${sources.map(name).join(", ")}`);
      resolve({ sum: found.reduce((sum, { value }) => sum + value, 0), at });
    }, ms);
  });

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

/** Checks a part of the page on `screens`. On the widths in `axed`, axe checks both themes. */
async function look(page, what, within, { screens = SCREENS, axed = [PHONE.width] } = {}) {
  const found = [];
  for (const screen of screens) {
    await page.setViewportSize(screen);
    for (const colorScheme of axed.includes(screen.width) ? ["light", "dark"] : ["light"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" }); // turns colour transitions off
      await settled(page);
      const where = `${what}, ${screen.width} px, ${colorScheme}`;
      if (colorScheme === "light")
        found.push(...(await page.evaluate(misfits, [within, TARGET_PX, SCREENS[0].width])).map((words) => `${where}: ${words}`));
      if (axed.includes(screen.width)) found.push(...(await serious(page, colorScheme, within)).map((words) => `${where}: ${words}`));
    }
  }
  return found;
}

/**
 * Checks the open tab. On wide screens and on a phone, checks the number of its controls. On a phone, also checks its height and its sizes
 * of type.
 */
async function measure(page, what) {
  const found = [];
  for (const screen of COUNTED) {
    await page.setViewportSize(screen);
    await settled(page);
    const controls = await page.evaluate(mostControls);
    if (controls > MOST_CONTROLS) found.push(`${controls} controls on one screen of ${screen.width} px`);
  }
  found.push(...(await page.evaluate(oddSizes, TYPE_PX)));
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  if (height > TALLEST_PX) found.push(`${height} px high`);
  return found.map((words) => `${what}: ${words}`);
}

/** Opens collapsed sections. */
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("#main details").forEach((details) => (details.open = true)));
  const folded = () => [...document.querySelectorAll('#main [aria-expanded="false"]')].filter((button) => button.checkVisibility());
  await page.evaluate(`(${folded})().forEach((button) => button.click())`);
  await until(page, `(${folded})().length === 0`);
}

/** Opens a replayed run of a room. */
const entered = (room, viewport = DESKTOP) => replayed(here, { at: addressOf(room), frames: 60, context: { viewport } });
/** Opens a run of a room that trains. */
async function live(room, viewport = DESKTOP) {
  const page = await visit(here, { at: addressOf(room), frames: 60, context: { viewport } });
  await event(page, "metrics");
  return page;
}
const pause = (page) => page.evaluate(() => hothouse.command({ kind: "pause" }));
const closed = async (page) => {
  assert.deepEqual(
    page.said.filter((text) => !/The recording has no answer/.test(text)),
    [],
  );
  await page.context().close();
};

/**
 * Checks that the page is not wider than the screen. On all but the narrowest screen, also checks that the transport bar takes a small
 * share of the height.
 */
async function edges(page, { width, height }) {
  await page.setViewportSize({ width, height });
  await settled(page);
  const { bar, over } = await page.evaluate(() => ({
    bar: document.querySelector(".transport").offsetHeight,
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  return [
    ...(over > 0 ? [`${width} px: ${over} pixels wider than the screen`] : []),
    ...(bar > BAR_SHARE * height && width > SCREENS[0].width ? [`${width} px: the bar takes ${bar} of ${height}`] : []),
  ];
}

/** Checks the dialogs of help and of the badge. */
async function lookAtDialogs(page, screens) {
  const found = [];
  for (const name of ["Help", await page.locator("#tools .badge").getAttribute("aria-label")]) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.locator("dialog[open] :nth-child(2)").first().waitFor();
    found.push(...(await look(page, `dialog "${name}"`, "dialog[open]", { screens })));
    await page.keyboard.press("Escape");
  }
  return found;
}

/** Checks each step of the tour. Its steps have the same elements, so axe checks the first one only. */
async function lookAtTour(page, screens) {
  const found = [];
  await page.getByRole("button", { name: "Help", exact: true }).click();
  await page.getByRole("button", { name: "Take the tour" }).click();
  for (let axed = [PHONE.width]; ; axed = []) {
    found.push(...(await look(page, `tour, "${await page.locator(".tour h2").textContent()}"`, ".tour", { screens, axed })));
    const next = page.locator(".tour").getByRole("button", { name: "Next" });
    if (!(await next.count())) return found;
    await next.click();
  }
}

/** Runs in the page: writes `value` to each value in the results, and returns the elements that are then too narrow for their content. */
function tooWide(value) {
  for (const { lastElementChild } of document.querySelectorAll(".returns .value")) lastElementChild.textContent = value;
  const parts = [...document.querySelectorAll(".returns, .returns .number")];
  return parts.filter((part) => part.scrollWidth > part.clientWidth + 1).map(({ className }) => className);
}

/** Checks that the values have space beside the picture, and that the picture stays while the results scroll. */
async function besideThePicture(page) {
  await page.setViewportSize(BESIDE);
  await settled(page);
  assert.deepEqual(await page.evaluate(tooWide, "100.0%"), []);
  await page.setViewportSize(DESKTOP);
  await settled(page);
  assert.deepEqual(await page.evaluate(tooWide, "100.0%"), []);
  const scrolled = await page.evaluate(() => {
    scrollTo({ top: 400, behavior: "instant" });
    return { y: scrollY, top: document.querySelector(".live-panel").getBoundingClientRect().top };
  });
  assert.ok(scrolled.y < 400 || (scrolled.top >= 0 && scrolled.top <= 16), `the picture is at ${scrolled.top} px`);
}

/** Checks that nothing shifts during `ms`, and that the first screen has the picture, the value, the curve and three knobs. */
async function firstScreen(page, ms) {
  const top = (selector) => page.evaluate((selector) => document.querySelector(selector).getBoundingClientRect().top, selector);
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    await settled(page);
    const { sum, at } = await page.evaluate(shifts, ms);
    assert.ok(sum <= MOST_SHIFT, `${viewport.width} px: the layout shifts by ${sum}:\n${at.join("\n")}`);
  }
  assert.ok((await top(".returns")) <= 1.5 * PHONE.height, `on a phone the curve is ${await top(".returns")} px down`);
  const order = [
    await top(".live-panel :is(canvas, svg, .sheet)"),
    await top(".live-panel button.strong:not([hidden])"),
    await top(".returns"),
  ];
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
    "on a phone the order is picture, main action, curve",
  );
  await page.setViewportSize(DESKTOP);
  await settled(page);
  const bar = await top(".transport");
  const beyond = await page.evaluate((bar) => {
    const parts = [".tabs", ".returns .number", ".returns .plot", ".first-knobs .knob"].flatMap((part) => [
      ...document.querySelectorAll(part),
    ]);
    return parts.filter((part) => part.getBoundingClientRect().bottom > bar).map(({ className }) => className);
  }, bar);
  assert.deepEqual(beyond, []);
  assert.ok(bar - (await top(".live-panel")) >= 400, "the picture has most of the first screen");
  // The main knobs are beside the curve. No knob appears twice.
  assert.equal(await page.locator(".returns .first-knobs .knob").count(), 3);
  assert.equal(await page.locator(".knob").count(), await page.evaluate(() => hothouse.knobs.length + 1), "each knob, and the seed");
}

/** Checks the page, every tab and section, the dialogs and the tour, each by itself. Returns the faults. */
async function eachPlace(page) {
  const found = await look(page, "after loading", "body", { axed: AXED });
  for (const screen of SCREENS) found.push(...(await edges(page, screen)));
  await everywhere(page, async (...titles) => {
    const what = titles.join(", ");
    found.push(...(await measure(page, what)));
    await unfold(page);
    found.push(...(await look(page, what, OPEN_PANEL)));
  });
  found.push(...(await lookAtDialogs(page)), ...(await lookAtTour(page)));
  return found;
}

/**
 * Runs in the page: opens each tab, each of its sections and everything that is collapsed in them. Then shows all these panels at once, so
 * that one look suffices. Returns the titles of the places and the faults that only the open tab can have.
 */
async function opened({ mostControls, oddSizes, sizes, most, tallest }) {
  const frames = async (count) => {
    for (let k = 0; k < count; k++) await new Promise(requestAnimationFrame);
  };
  const open = ".panels > .panel:not([hidden])";
  const offered = (list) => [...document.querySelectorAll(`${list} > [role=tab]:not([hidden])`)];
  const [places, found] = [[], []];
  for (const tab of offered(".tabs")) {
    tab.click();
    await frames(2);
    const sections = offered(`${open} > div > [role=tablist]:not([hidden])`);
    for (const section of sections.length ? sections : [undefined]) {
      section?.click();
      await frames(2);
      const what = [tab, section].flatMap((one) => one?.textContent ?? []).join(", ");
      const [controls, height] = [await mostControls(), document.documentElement.scrollHeight];
      if (controls > most) found.push(`${what}: ${controls} controls on one screen`);
      if (height > tallest) found.push(`${what}: ${height} px high`);
      found.push(...oddSizes(sizes).map((words) => `${what}: ${words}`));
      for (const details of document.querySelectorAll("#main details")) details.open = true;
      for (const button of document.querySelectorAll('#main [aria-expanded="false"]')) if (button.checkVisibility()) button.click();
      places.push(what);
    }
  }
  for (const panel of document.querySelectorAll("[role=tabpanel][hidden]"))
    panel.hidden = document.getElementById(panel.getAttribute("aria-labelledby"))?.hidden ?? true;
  return { places, found };
}

/**
 * Runs in the page before axe: stops the pictures, and shortens long tables of numbers to ten rows. The other rows have the same elements.
 * The tier `--all` looks at all of them.
 */
function simplify() {
  globalThis.requestAnimationFrame = () => 0;
  for (const row of document.querySelectorAll("tbody > tr:nth-child(n + 11)"))
    if (!row.querySelector("a, button, input, select")) row.remove();
}

/** Checks all places of the room at once: on a phone and on a wide screen, with axe in the light theme on the phone. Returns the faults. */
async function allPlaces(page) {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const found = [];
  for (const screen of [PHONE, WIDE]) found.push(...(await edges(page, screen)));
  await page.setViewportSize(PHONE);
  const limits = `{ sizes: ${JSON.stringify(TYPE_PX)}, most: ${MOST_CONTROLS}, tallest: ${TALLEST_PX} }`;
  const opening = await page.evaluate(`(${opened})({ mostControls: ${mostControls}, oddSizes: ${oddSizes}, ...${limits} })`);
  assert.ok(opening.places.length >= LEAST_PLACES, opening.places.join("; "));
  found.push(...opening.found);
  for (const screen of [WIDE, PHONE]) {
    await page.setViewportSize(screen);
    await settled(page);
    const faults = await page.evaluate(misfits, ["body", TARGET_PX, SCREENS[0].width]);
    found.push(...faults.map((words) => `${screen.width} px: ${words}`));
  }
  await page.evaluate(simplify);
  found.push(...(await serious(page, "light")).map((words) => `${PHONE.width} px: ${words}`));
  return found;
}

for (const room of ROOMS) {
  test(`${room}: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit`, async () => {
    const page = await entered(room);
    await firstScreen(page, SHIFT_MS.replayed);
    await besideThePicture(page);
    await pause(page);
    assert.deepEqual(await allPlaces(page), []);
    await closed(page);
  });

  inAll(
    `${room}: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit`,
    `${room}: the first screen is complete, and nothing shifts during training`,
    async () => {
      const page = await live(room);
      await firstScreen(page, SHIFT_MS.live);
      await besideThePicture(page);
      await closed(page);
    },
  );

  inAll(
    `${room}: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit`,
    `${room}: every tab and section, the dialogs and the tour fit all screens, and axe finds no serious issue in both themes`,
    async () => {
      const page = await live(room);
      await pause(page);
      assert.deepEqual(await eachPlace(page), []);
      await closed(page);
    },
  );
}

test("the dialogs and the tour fit a phone, and axe finds no serious issue in both themes", async () => {
  const page = await entered(ROOMS[0], PHONE);
  assert.deepEqual([...(await lookAtDialogs(page, [PHONE])), ...(await lookAtTour(page, [PHONE]))], []);
  await closed(page);
});

test("the settings of a run are in one line where the list of runs is narrow, and names of knobs on a wide screen", async () => {
  const page = await entered(ROOMS[0], BESIDE);
  await place(page, "Compare", "Runs");
  const settings = page.locator(".run-settings").first();
  await settings.waitFor();
  const lines = await settings.evaluate((one) => {
    one.parentElement.querySelector(".run-figures").textContent =
      "10.3M steps · 1 min 20 s · test return 500 · solved after 459k steps · 26 Nov, 18:05";
    return one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight);
  });
  assert.ok(lines < 1.5, `they take ${lines} lines`);

  await page.setViewportSize({ width: 1920, height: 1080 });
  await place(page, "Settings", "During training");
  const names = await page
    .locator(".live-knobs label")
    .evaluateAll((all) => all.map((label) => label.offsetHeight / parseFloat(getComputedStyle(label).lineHeight)));
  assert.ok(names.length > 5 && Math.max(...names) < 1.5, `lines: ${names}`);
  await closed(page);
});

test("logic: with a drawn circuit beside the grid, all actions are on the first screen", async () => {
  const page = await entered("logic", DESKTOP);
  // Passes all recorded iterations. After them a circuit is perfect.
  await page.evaluate(() => {
    for (let k = 0; k < 100; k++) hothouse.command({ kind: "step" });
  });
  await until(page, () => /gates/.test(document.querySelector(".stage-switch").textContent));
  for (const viewport of [{ width: 1280, height: 800 }, BESIDE, WIDE]) {
    await page.setViewportSize(viewport);
    await settled(page);
    const { circuit, more, bar } = await page.evaluate(() => {
      const bottom = (selector) => document.querySelector(selector).getBoundingClientRect().bottom;
      return {
        circuit: document.querySelector(".circuit-stage .stage-picture").offsetHeight,
        more: bottom(".grid-pane .stage-more > summary"),
        bar: document.querySelector(".transport").getBoundingClientRect().top,
      };
    });
    assert.ok(more <= bar, `${viewport.width} px: the options end at ${more}, the bar begins at ${bar}`);
    assert.ok(circuit >= 64, `${viewport.width} px: the circuit is ${circuit} px high`);
  }
  await closed(page);
});

test("cube: the estimates of all moves are on the first screen", async () => {
  const page = await entered("cube", { width: 1440, height: 900 });
  await until(page, () => document.querySelectorAll(".brief li").length > 0);
  const { brief, table, bottom, bar } = await page.evaluate(() => {
    const texts = (selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent);
    return {
      brief: texts(".brief li"),
      table: [...document.querySelectorAll(".actions tbody tr")].map(({ cells }) => cells[0].textContent + cells[2].textContent),
      bottom: document.querySelector(".brief").getBoundingClientRect().bottom,
      bar: document.querySelector(".transport").getBoundingClientRect().top,
    };
  });
  assert.deepEqual(brief, table);
  assert.ok(bottom > 0 && bottom <= bar, `they end at ${bottom}, the bar begins at ${bar}`);
  await closed(page);
});

test("labels of a chart's levels cover no curve, no line and no other label", async () => {
  const page = await here.browser.newPage();
  await page.evaluate(await script("parts/levels"));
  const plot = { left: 44, top: 16, right: 324, bottom: 166 };
  // A curve that crosses a level of the first case.
  const curve = [
    [48, 160],
    [90, 104],
    [150, 98],
    [324, 90],
  ];
  const segments = curve.slice(1).map((to, k) => [...curve[k], ...to]);
  // First case: two levels that are close together and a third level below them. Second case: three levels, between whose lines only
  // capitals have space.
  for (const [widths, ys, drawn] of [
    [[110, 80, 30], [84.5, 87.5, 100.5], segments],
    [[30, 80, 110], [100.5, 85.5, 84.5], []],
  ]) {
    const found = await page.evaluate(
      ([widths, ys, plot, segments]) => {
        const boxes = part.placed(widths, ys, plot, segments, 1);
        const crossed = boxes.map((box) => segments.filter((segment) => part.crosses(segment, box)).length);
        return { boxes, crossed, baselines: boxes.map(({ top }, k) => part.baseline(top, ys[k], 1)) };
      },
      [widths, ys, plot, drawn],
    );
    assert.deepEqual(found.crossed, [0, 0, 0]);
    found.boxes.forEach((box, k) => {
      assert.ok(box.left >= plot.left && box.right <= plot.right && box.top >= plot.top && box.bottom <= plot.bottom, JSON.stringify(box));
      // No line may touch the label's text between the top of its capitals and the bottom of its descenders.
      const base = found.baselines[k];
      assert.ok(
        ys.every((y) => y <= base - 11 || y >= base + 4),
        `label ${k} at ${base} covers a line of ${ys}`,
      );
      for (const other of found.boxes.slice(k + 1))
        assert.ok(
          box.right < other.left || other.right < box.left || box.bottom <= other.top || other.bottom <= box.top,
          "two labels overlap",
        );
    });
  }
  await page.close();
});

/** Returns the selectors and animation names of all style rules. Rules that set custom properties are skipped. */
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
  const page = await replayed(here);
  const alone = await page.evaluate(selectors);
  for (const room of [...ROOMS.slice(1), ROOMS[0]]) {
    await page.evaluate((room) => (location.hash = `#/${room}`), room);
    await lab(page, room);
    assert.deepEqual(await page.evaluate(() => [...document.body.classList]), [`room-${room}`]);
    const met = await page.evaluate(selectors);
    assert.ok(met.length > 100, `${met.length} rules`);
    assert.ok(met.some((selector) => selector.includes(`.room-${room}`)));
    if (room === ROOMS[0]) assert.deepEqual(of(met, room), of(alone, room));
  }
  await closed(page);
});

inAll(
  "a room's style rules do not depend on the rooms opened before",
  "the style rules of every room are those of its first visit",
  async () => {
    const of = (all, room) => all.filter((selector) => !/\.room-/.test(selector) || selector.includes(`.room-${room}`)).sort();
    const page = await replayed(here);
    for (const room of [...ROOMS, ROOMS[0]]) {
      await page.evaluate((room) => (location.hash = `#/${room}`), room);
      await lab(page, room);
      const alone = await replayed(here, { at: `#/${room}` });
      assert.deepEqual(of(await page.evaluate(selectors), room), of(await alone.evaluate(selectors), room), room);
      await closed(alone);
    }
    await closed(page);
  },
);
