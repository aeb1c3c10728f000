// What the tests of several rooms do: enter, ask, read what stands on the page, check that all can use it, and leave.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { lab, visit } from "./fixture.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core");

/** The way into a room, to a page where `ready` stands. */
export const entrance =
  (here, room, at, ready = "h1") =>
  async (settings = {}) => {
    const page = await visit(here, { at, started: false, ...settings });
    await lab(page, room);
    await page.locator(ready).waitFor();
    return page;
  };

export const ask = (page, question) => page.evaluate((question) => hothouse.ask(question), question);

/** Until the text of an element matches. */
export const reads = (page, element, { source, flags }) =>
  page.waitForFunction(
    ([element, source, flags]) => new RegExp(source, flags).test(document.querySelector(element)?.textContent ?? ""),
    [element, source, flags],
  );

/** A desk in light colours, and a phone in dark ones whose user asked for less motion. */
export const SCREENS = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 }, reducedMotion: "no-preference" },
  { colorScheme: "dark", viewport: { width: 390, height: 844 }, reducedMotion: "reduce" },
];

/** Axe finds nothing on the page, or in a part of it. */
export async function accessible(page, part) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate((part) => globalThis.axe.run(part ?? document), part);
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    [],
  );
}

/** Nothing sticks out of the screen. */
export const fits = async (page) =>
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), page.viewportSize().width);

/** Nor of a narrower one, where the screen is a phone's. */
export async function narrows(page) {
  if (page.viewportSize().width > 390) return;
  await page.setViewportSize({ width: 320, height: 640 });
  await page.waitForFunction(() => document.documentElement.scrollWidth === 320);
}

/** What can be pressed measures 24 px or more, by its `width` or its `height`. */
export async function large(locator, side) {
  const sizes = await locator.evaluateAll(
    (all, side) => all.filter((one) => one.offsetParent).map((one) => one.getBoundingClientRect()[side]),
    side,
  );
  assert.ok(sizes.length > 0 && Math.min(...sizes) >= 24, `${sizes.length} parts, ${Math.min(...sizes)} px`);
}

/** Its console has said nothing, and the page is closed. */
export async function leave(page) {
  assert.deepEqual(page.said, []);
  await page.context().close();
}
