// A first visit: the tour from what one sees to a knob and to the curve; and help, which has it for whoever comes again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOMS } from "../../scripts/rooms.mjs";
import { ahead, event, house, visit } from "./fixture.mjs";

const here = house();
const box = (page) => page.locator(".tour");
const heading = (page, text) => page.locator(".tour h2", { hasText: text }).waitFor();
const next = (page) => box(page).getByRole("button", { name: "Next" });

for (const room of ROOMS)
  test(`${room}: a first visit is led from the picture to a knob and its effect on the curve, once`, async () => {
    const page = await visit(here, { at: `#/${room}`, first: true, context: { reducedMotion: "reduce" } });
    await box(page).waitFor();
    // It takes nothing over: neither the focus nor the training.
    assert.ok(await page.evaluate(() => document.activeElement === document.body));
    await event(page, "metrics");
    const seen = [];
    for (;;) {
      seen.push(
        await page.evaluate(() => {
          const target = document.querySelector(".toured");
          const [box, at] = [document.querySelector(".tour"), target].map((element) => element.getBoundingClientRect());
          const inSight = box.left >= 0 && box.right <= innerWidth && box.top < innerHeight && box.bottom > 0;
          return {
            at: target.className,
            shown: target.checkVisibility() && at.height > 0,
            inSight,
            words: box.textContent,
            heading: document.querySelector(".tour h2").textContent,
          };
        }),
      );
      if (/first-knobs/.test(seen.at(-1).at)) break;
      await next(page).click();
    }
    assert.ok(seen.length >= 2 && seen.every(({ shown, inSight }) => shown && inSight), JSON.stringify(seen));
    // Turning the knob leads on by itself.
    const marked = await ahead(page, "mark");
    const knob = page.locator(".first-knobs input[type=number]").first();
    await knob.fill(String(Number(await knob.inputValue()) / 2));
    await knob.press("Enter");
    await marked();
    await heading(page, "See the effect");
    assert.ok(await page.locator(".returns.toured").count());
    await page.keyboard.press("Escape");
    await box(page).waitFor({ state: "hidden" });
    assert.equal(await page.locator(".toured").count(), 0);
    const again = await page.context().newPage();
    await again.goto(page.url());
    await again.waitForFunction(() => globalThis.hothouse);
    await event(again, "metrics", 2);
    assert.ok(await box(again).isHidden(), "it greets nobody twice");
    assert.deepEqual(page.said, []);
    await page.context().close();
  });

test("the tour goes by keyboard and screen reader, from help, and gives the focus back", async () => {
  const page = await visit(here);
  await event(page, "metrics");
  assert.ok(await box(page).isHidden(), "who comes again is not led");
  const help = page.getByRole("button", { name: "Help", exact: true });
  await help.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Help" });
  await dialog.waitFor();
  for (const what of [/your own machine/, /Turn a knob/, /Save the run/]) await dialog.getByText(what).first().waitFor();
  await dialog.getByRole("button", { name: "Take the tour" }).focus();
  await page.keyboard.press("Enter");
  await box(page).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const title = () => page.locator(".tour h2").textContent();
  assert.equal(await focused(), await title(), "the focus is on its heading");
  const live = page.locator(".tour [role=status]");
  const before = await live.textContent();
  await next(page).focus();
  await page.keyboard.press("Enter");
  assert.notEqual(await live.textContent(), before, "what is said changes where a screen reader listens");
  assert.equal(await focused(), "Next");
  await page.keyboard.press("Escape");
  await box(page).waitFor({ state: "hidden" });
  assert.ok(await help.evaluate((element) => element === document.activeElement));
  await page.context().close();
});

test("on a touch screen no key is named, and gestures are told", async () => {
  for (const room of ROOMS) {
    const page = await visit(here, { at: `#/${room}`, context: { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } } });
    await event(page, "metrics");
    const keys = /\b(arrow keys?|arrows|Esc(ape)?|Shift|space bar|backspace|press [a-z]\b)/;
    const named = keys.exec(await page.evaluate(() => document.querySelector("#main").innerText));
    assert.equal(named, null, `${room}: ${named?.input.slice(named.index - 60, named.index + 40)}`);
    await page.getByRole("button", { name: "Help", exact: true }).tap();
    const told = await page.evaluate(() => document.querySelector("dialog[open]").innerText);
    assert.match(told, /drag a slider/);
    assert.doesNotMatch(told, /Single-key|play or pause/);
    await page.context().close();
  }
});
