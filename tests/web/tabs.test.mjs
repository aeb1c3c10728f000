// The tabs of a room's page: keyboard, address, history and copied links.
import assert from "node:assert/strict";
import { test } from "node:test";
import { begun, house, lab, place, until } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);
const SMALL = "#/control?envs=64&v=2";

/** Returns the titles of the open tab and, if it has sections, of the open section. */
const open = (page) => page.locator("[role=tab][aria-selected=true]:visible").allTextContents();
const path = (page) => page.evaluate(() => location.hash.split("?")[0]);
const opens = (page, ...titles) =>
  until(
    page,
    (titles) =>
      [...document.querySelectorAll("[role=tab][aria-selected=true]")]
        .filter((tab) => tab.checkVisibility())
        .map(({ textContent }) => textContent)
        .join() === titles,
    titles.join(),
  );

test("arrows, Home and End move between tabs, and one tab is a stop of the Tab key", async () => {
  const page = await replayed(here, { at: SMALL });
  await page.getByRole("tab", { name: "Live" }).focus();
  for (const [key, title] of [
    ["ArrowRight", "Explore"],
    ["End", "Share"],
    ["ArrowRight", "Share"],
    ["ArrowLeft", "Explain"],
    ["Home", "Live"],
  ]) {
    await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), title);
    assert.equal((await open(page))[0], title);
  }
  assert.deepEqual(await page.locator(".tabs [tabindex='0']").allTextContents(), ["Live"]);
  // Every tab names its panel, and the panel its tab.
  const linked = await page
    .getByRole("tab", { includeHidden: true })
    .evaluateAll((tabs) =>
      tabs.every((tab) => document.getElementById(tab.getAttribute("aria-controls"))?.getAttribute("aria-labelledby") === tab.id),
    );
  assert.ok(linked);
  // The same keys select the sections of a tab.
  await place(page, "Settings");
  await page.getByRole("tab", { name: "During training" }).focus();
  await page.keyboard.press("End");
  assert.deepEqual(await open(page), ["Settings", "Device"]);
  await page.context().close();
});

test("the address names the tab and the section; reload and the back button restore them", async () => {
  const page = await replayed(here, { at: SMALL });
  // The page writes all settings into the address soon after the run has begun.
  await until(page, () => /variant=/.test(location.hash));
  assert.equal(await path(page), "#/control");
  await place(page, "Compare");
  assert.equal(await path(page), "#/control/compare");
  await place(page, "Settings", "Device");
  assert.equal(await path(page), "#/control/settings/device");
  assert.match(await page.evaluate(() => location.hash), /\?.*envs=64/);
  await page.reload();
  await lab(page);
  await opens(page, "Settings", "Device");
  await place(page, "Explain");
  const run = await page.evaluate(() => {
    Object.assign(globalThis, { before: hothouse, reached: hothouse.progress.iteration });
    return location.hash.split("?")[1];
  });
  await page.goBack();
  await opens(page, "Settings", "Device");
  await page.goForward();
  await opens(page, "Explain", "Explanation");
  await place(page, "Live");
  assert.equal(await path(page), "#/control");
  // The same run continues.
  assert.ok(await page.evaluate(() => reached > 0 && hothouse === before && hothouse.progress.iteration >= reached));
  assert.equal(await page.evaluate(() => location.hash.split("?")[1]), run);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a link opens its tab; an unknown tab or section opens the first one", async () => {
  for (const [at, ...titles] of [
    ["#/control/settings/knobs?envs=64&v=2", "Settings", "New run"],
    ["#/words/share", "Share", "Save and share"],
    ["#/control/settings/nothing", "Settings", "During training"],
    ["#/control/nothing", "Live"],
  ]) {
    const page = await replayed(here, { at });
    await opens(page, ...titles);
    await page.context().close();
  }
});

test("the open tab stays through a change of variant and a new run, and no link that is copied contains it", async () => {
  const context = { permissions: ["clipboard-read", "clipboard-write"] };
  const page = await replayed(here, { at: "#/control/explain?envs=64&v=2", context });
  await page.keyboard.press("r");
  await page.getByLabel("Environment", { exact: true }).selectOption("Acrobot-v1");
  await page.waitForFunction(() => hothouse.variant.id === "Acrobot-v1" && /Acrobot-v1/.test(location.hash));
  assert.equal(await path(page), "#/control/explain");
  assert.deepEqual(await open(page), ["Explain", "Explanation"]);
  await place(page, "Share");
  // The button shows the result for two seconds only.
  const copied = await begun(page, () => {
    const button = [...document.querySelectorAll("button")].find((one) => one.textContent === "Copy link");
    return new Promise((resolve) =>
      new MutationObserver(() => button.textContent === "Link copied" && resolve()).observe(button, { childList: true }),
    );
  });
  await page.getByRole("button", { name: "Copy link" }).click();
  await copied();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /#\/control\?variant=Acrobot-v1/);
  await page.context().close();
});
