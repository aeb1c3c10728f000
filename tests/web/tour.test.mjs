// The tour of a first visit leads from the picture to a knob and the curve. It can be started again from the help dialog.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOMS } from "../../scripts/rooms.mjs";
import { addressOf } from "./rooms.mjs";
import { ahead, house, lab } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);
const box = (page) => page.locator(".tour");
const DESKTOP = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };
/** Waits for two iterations, because a tour begins at the end of an iteration. The page must have shown the room. */
const ticked = async (page) => {
  for (let k = 0; k < 2; k++) {
    const ended = await ahead(page, "metrics");
    await page.evaluate(() => hothouse.command({ kind: "step" }));
    await ended();
  }
};
const next = (page) => box(page).getByRole("button", { name: "Next" });

/**
 * Runs in the page: describes the current step of the tour. First leaves this step and returns to it, so that the tour scrolls to its
 * target on this screen. The first step has no button Back.
 */
function seenStep() {
  const [, back, next] = document.querySelectorAll(".tour button");
  if (back.checkVisibility()) for (const one of [back, next]) one.click();
  const target = document.querySelector(".toured");
  const [box, at, plot] = [".tour", ".toured", ".returns .plot"].map((part) => document.querySelector(part).getBoundingClientRect());
  return {
    at: target.className,
    shown: target.checkVisibility() && at.height > 0,
    inSight: box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight,
    overCurve: box.left < plot.right && plot.left < box.right && box.top < plot.bottom && plot.top < box.bottom,
    words: document.querySelector(".tour").textContent,
  };
}

test("in every room the tour of a first visit leads from the picture over the curve to a knob, and does not cover the curve", async () => {
  const page = await replayed(here, { at: addressOf(ROOMS[0]), first: true, context: { reducedMotion: "reduce", viewport: DESKTOP } });
  for (const room of ROOMS) {
    if (room !== ROOMS[0]) await page.locator(`#rooms a[href="#/${room}"]`).click();
    await lab(page, room);
    await box(page).waitFor();
    // The tour neither takes the focus nor stops the training.
    assert.ok(await page.evaluate(() => document.activeElement === document.body));
    const trains = await ahead(page, "metrics");
    const seen = [];
    for (;;) {
      for (const viewport of [DESKTOP, PHONE]) {
        await page.setViewportSize(viewport);
        seen.push(await page.evaluate(seenStep));
      }
      await page.setViewportSize(DESKTOP);
      if (/first-knobs/.test(seen.at(-1).at)) break;
      await next(page).click();
    }
    await trains();
    assert.ok(
      seen.every(({ shown, inSight, overCurve }) => shown && inSight && !overCurve),
      `${room}: ${JSON.stringify(seen)}`,
    );
    assert.equal(await page.locator(".tour .row .small").textContent(), "3 of 3");
    // A change of the knob ends the tour.
    const marked = await ahead(page, "mark");
    const knob = page.locator(".first-knobs input[type=number]").first();
    await knob.fill(String(Number(await knob.inputValue()) / 2));
    await knob.press("Enter");
    await marked();
    await box(page).waitFor({ state: "hidden" });
    assert.equal(await page.locator(".toured").count(), 0, room);
  }
  await page.reload();
  await lab(page);
  await ticked(page);
  assert.ok(await box(page).isHidden(), "the tour starts only once");
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("the tour does not start over another tab or a lesson, and opens the tab of its target", async () => {
  const page = await replayed(here, { at: "#/control?lesson=1-learning", first: true, context: { viewport: DESKTOP } });
  await ticked(page);
  assert.ok(await box(page).isHidden());
  await page.evaluate(() => (location.hash = "#/control/settings/knobs"));
  await ticked(page);
  assert.ok(await box(page).isHidden());
  await page.getByRole("button", { name: "Help", exact: true }).click();
  await page.getByRole("button", { name: "Take the tour" }).click();
  await box(page).waitFor();
  assert.equal(await page.getByRole("tab", { selected: true }).first().textContent(), "Live");
  assert.ok(await page.locator(".toured").isVisible());
  await page.context().close();
});

test("the tour from help works by keyboard and screen reader, and restores the focus", async () => {
  const page = await replayed(here);
  await ticked(page);
  assert.ok(await box(page).isHidden(), "no tour for a returning visitor");
  const help = page.getByRole("button", { name: "Help", exact: true });
  await help.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Help" });
  await dialog.waitFor();
  for (const what of [/your own CPU and GPU/, /Turn a knob/, /Save the run/]) await dialog.getByText(what).first().waitFor();
  await dialog.getByRole("button", { name: "Take the tour" }).focus();
  await page.keyboard.press("Enter");
  await box(page).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const title = () => page.locator(".tour h2").textContent();
  assert.equal(await focused(), await title(), "the focus is on the heading");
  const live = page.locator(".tour [role=status]");
  const before = await live.textContent();
  await next(page).focus();
  await page.keyboard.press("Enter");
  assert.notEqual(await live.textContent(), before, "the live region changes");
  assert.equal(await focused(), "Next");
  await page.keyboard.press("Escape");
  await box(page).waitFor({ state: "hidden" });
  assert.ok(await help.evaluate((element) => element === document.activeElement));
  await page.context().close();
});
