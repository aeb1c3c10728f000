// The start page: five small runs that learn at once, and the ways to rooms, lessons and gallery.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadedBy } from "../../scripts/page.mjs";
import { dist, house, lab, until, visit } from "./fixture.mjs";
import { accessible, fits, isDrawn, large, leave, narrows, SCREENS } from "./rooms.mjs";

const here = house();
const LINKS = readFileSync(new URL("../../crates/tiles/src/links.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
/** Maximum first load, compressed, with the module, the typeface and the picture of the tab. */
const MOST_KB = 500;

/** Runs in the page before its scripts: keeps the lists of runs that the page shows, and counts the pictures of each run. */
function watched() {
  globalThis.shown = [];
  globalThis.pictures = [];
  globalThis.Worker = class extends Worker {
    constructor(...settings) {
      super(...settings);
      this.addEventListener("message", ({ data }) => data.kind === "picture" && (pictures[data.at] = (pictures[data.at] ?? 0) + 1));
    }
    postMessage(message, ...rest) {
      if (message.kind === "shown") shown.push(message.shown);
      super.postMessage(message, ...rest);
    }
  };
}

const opened = async (settings) => {
  const page = await visit(here, { at: "", started: false, init: watched, ...settings });
  await page.locator(".tile").first().waitFor();
  return page;
};

/** Returns the numbers of all tiles; NaN for a tile without a number. */
const numbers = (page) => page.locator(".tile .number").evaluateAll((all) => all.map(({ textContent }) => parseFloat(textContent)));

/** Waits until the latest list of shown runs is `runs`. */
const shows = (page, runs) => until(page, (runs) => globalThis.shown.at(-1)?.join() === runs, runs.join());

test("all five runs learn at once, within the limit of the first load, and no room is loaded", async () => {
  const page = await opened();
  const loaded = loadedBy(page, dist);
  await page.reload();
  const first = [];
  const improved = [false, false, false, false, false];
  while (improved.includes(false)) {
    for (const [k, number] of (await numbers(page)).entries()) {
      if (Number.isNaN(number)) continue;
      first[k] ??= number;
      // The last number is a loss.
      improved[k] ||= k === 4 ? number < first[k] - 1 : number > first[k] + (k === 0 ? 50 : 5);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (let k = 1; k <= 5; k++) await isDrawn(page, `.tile:nth-child(${k}) canvas`, `tile ${k}`);
  const kb = loaded();
  console.log(`start.first_load_kb ${kb.toFixed(1)}`);
  assert.ok(kb > 200 && kb <= MOST_KB, `${kb} kB`);
  const files = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  assert.ok(!files.some((name) => /wasm\/(?!tiles)|assets\/(control|worker)-/.test(name)), files.join(" "));
  await leave(page);
});

test("runs outside the screen rest, and so do all runs of a paused or hidden page", async () => {
  const page = await opened({ context: { viewport: { width: 390, height: 500 } } });
  await page.locator(".tile").last().scrollIntoViewIfNeeded();
  await until(page, () => globalThis.shown.at(-1)?.includes(4) && !globalThis.shown.at(-1).includes(0));
  await until(page, () => globalThis.pictures[4] > 5);
  const rested = await page.evaluate(() => globalThis.pictures[0] ?? 0);
  await until(page, (count) => globalThis.pictures[4] > count, (await page.evaluate(() => globalThis.pictures[4])) + 20);
  assert.ok((await page.evaluate(() => globalThis.pictures[0] ?? 0)) <= rested + 1);
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole("button", { name: "Pause" }).click();
  await shows(page, []);
  await page.getByRole("button", { name: "Continue" }).click();
  await until(page, () => globalThis.shown.at(-1).includes(0));
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await shows(page, []);
  await leave(page);
});

test("a tap on a tile opens its room with its run, and the name of the page leads back", async () => {
  const page = await opened();
  await page
    .locator(".tile")
    .first()
    .click({ position: { x: 20, y: 40 } });
  await lab(page, "control");
  const [room, query] = LINKS[0].slice(2).split("?");
  const { variant, seed, ...knobs } = Object.fromEntries(new URLSearchParams(query));
  const config = await page.evaluate(() => hothouse.shared().then(({ address }) => address));
  const opens = new URLSearchParams(config.split("?")[1]);
  assert.ok(config.startsWith(`#/${room}?`), config);
  for (const [name, value] of Object.entries({ variant, seed, ...knobs })) assert.equal(opens.get(name), value, name);
  await page.getByRole("link", { name: "Hothouse", exact: true }).click();
  await page.getByRole("link", { name: "Continue in control" }).waitFor();
  assert.equal(await page.evaluate(() => location.hash), "#/");
  await page.getByRole("link", { name: "Continue in control" }).click();
  await page.locator(".transport").waitFor();
  await lab(page, "control");
  assert.equal(await page.evaluate(() => hothouse.shared().then(({ address }) => address)), config);
  await leave(page);
});

for (const { colorScheme, viewport, reducedMotion } of SCREENS)
  test(`the start page is accessible and fits (${colorScheme}, ${viewport.width} px)`, async () => {
    const page = await opened({ context: { colorScheme, viewport, reducedMotion } });
    await isDrawn(page, ".tile canvas", "the first tile");
    await accessible(page, "html");
    await fits(page);
    await large(page.locator(".start a, .start button"), "height");
    await narrows(page);
    await leave(page);
  });

test("the ways on lead to the rooms, the lessons and the gallery by keyboard", async () => {
  const page = await opened();
  const links = await page.locator(".ways a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  assert.deepEqual(links, ["#/control?variant=own", "#/lessons", "#/backgammon", "#/gallery"]);
  const tiles = await page.locator(".tile a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  assert.deepEqual(tiles, LINKS);
  await page.locator('.ways a[href="#/gallery"]').focus();
  await page.keyboard.press("Enter");
  await page.locator(".entries").waitFor();
  await leave(page);
});

test("the start page works without the network after the first visit", async () => {
  const page = await opened({ frames: 60 });
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("sw.js");
    await navigator.serviceWorker.ready;
  });
  await page.context().setOffline(true);
  await page.reload();
  await until(page, () => document.querySelector(".tile .number")?.textContent.includes("500"));
  await page.context().setOffline(false);
  await page.context().close();
});
