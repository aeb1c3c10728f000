// The lessons beside the rooms: each lesson on a desktop and on a phone, a whole lesson with its runs and checked claims, and the ways to
// open a lesson. tests/docs/lessons.test.mjs checks the claims of all lessons.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { read } from "../../scripts/docs.mjs";
import { root } from "../../scripts/sh.mjs";
import { ahead, event, house, lab, part, place, until, visit } from "./fixture.mjs";
import { accessible, fits, MOST_CONTROLS, mostControls, narrows } from "./rooms.mjs";

const here = house();
const SCREENS = [
  { colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { colorScheme: "dark", viewport: { width: 390, height: 844 } },
];

const { lessonOf } = await part("lessons/lesson");
const LESSONS = readdirSync(join(root, "docs/lessons"))
  .filter((name) => /^\d/.test(name))
  .map((name) => lessonOf(name.replace(".md", ""), read(`docs/lessons/${name}`)));
const ROOMS = [...new Set(LESSONS.map(({ room }) => room))];
const [FIRST, SECOND] = LESSONS;

const lesson = (page) => page.locator(".lesson");
/** Commits to a prediction. */
async function commit(page, index) {
  await lesson(page).getByRole("radio").nth(index).check();
  await lesson(page).getByRole("button", { name: "Commit to this prediction" }).click();
}
const results = (page) => lesson(page).getByRole("heading", { name: "Result" });

/** Checks that the panel covers neither the picture nor the curve. */
async function coversNothing(page) {
  const boxes = await Promise.all([".lesson", ".live-panel", ".returns"].map((part) => page.locator(part).boundingBox()));
  const [panel, ...others] = boxes;
  for (const other of others)
    assert.ok(
      panel.x + panel.width <= other.x ||
        other.x + other.width <= panel.x ||
        panel.y + panel.height <= other.y ||
        other.y + other.height <= panel.y,
      JSON.stringify(boxes),
    );
}

for (const room of ROOMS)
  for (const screen of SCREENS)
    test(`the lessons of ${room} fit a screen of ${screen.viewport.width} px and hide their results`, async () => {
      const own = LESSONS.filter((one) => one.room === room);
      const page = await visit(here, { at: `#/${room}?lesson=${own[0].name}`, context: screen, started: false });
      await lab(page, room);
      for (const { name, title, predictions, runs } of own) {
        await page.evaluate((address) => (location.hash = address), `#/${room}?lesson=${name}`);
        await lesson(page).getByRole("heading", { level: 2, name: title }).waitFor();
        assert.equal(await lesson(page).getByRole("radio").count(), predictions.length);
        const run = lesson(page).getByRole("button", { name: "Run A" });
        assert.equal(await run.isVisible(), false);
        await commit(page, 0);
        await run.waitFor();
        assert.equal(await lesson(page).getByRole("button", { name: /^Run / }).count(), runs.length);
        assert.equal(await lesson(page).getByRole("radio").first().isDisabled(), true);
        assert.equal(await results(page).isVisible(), false);
        const controls = await page.evaluate(mostControls);
        assert.ok(controls <= MOST_CONTROLS, `${controls} controls`);
        await coversNothing(page);
        await fits(page);
        await accessible(page, ".lesson");
      }
      await narrows(page);
      assert.deepEqual(page.said, []);
      await page.context().close();
    });

test("a lesson trains its runs in the room and checks its claims", async () => {
  const page = await visit(here, { at: `#/${FIRST.room}?lesson=${FIRST.name}` });
  await commit(page, FIRST.answer);
  for (const { name, seed, knobs } of FIRST.runs) {
    const began = await ahead(page, "began");
    await lesson(page)
      .getByRole("button", { name: `Run ${name}`, exact: true })
      .click();
    const { config } = await began();
    assert.deepEqual([config.variant, config.seed, config.knobs], [FIRST.runs[0].variant, seed, knobs]);
    await lesson(page)
      .getByRole("button", { name: `Run ${name} again` })
      .waitFor();
  }
  await lesson(page).getByText("Your prediction is right.").waitFor();
  assert.equal(await lesson(page).locator(".lesson-claims .holds").count(), FIRST.claims.length);
  assert.equal(await lesson(page).locator(".lesson-claims .fails").count(), 0);
  // The run is paused at its end.
  assert.ok(await page.getByRole("button", { name: "Play" }).isVisible());
  // The results stay while other tabs and other lessons are open.
  await place(page, "Settings");
  assert.ok(await results(page).isVisible());
  await page.evaluate((name) => (location.hash = location.hash.replace(/lesson=.*/, `lesson=${name}`)), SECOND.name);
  await lesson(page).getByRole("heading", { level: 2, name: SECOND.title }).waitFor();
  assert.equal(await results(page).isVisible(), false);
  await page.goBack();
  await lesson(page).getByRole("heading", { level: 2, name: FIRST.title }).waitFor();
  assert.ok(await results(page).isVisible());
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a knob that the visitor turns ends the lesson's run", async () => {
  const page = await visit(here, { at: `#/${FIRST.room}?lesson=${FIRST.name}` });
  await commit(page, 0);
  await page.evaluate(() => hothouse.setSpeed(20_000));
  const run = lesson(page).locator(".lesson-runs button").first();
  await run.click();
  await until(page, () => document.querySelector(".lesson-runs button").textContent === "Training A");
  await page.evaluate(() => hothouse.command({ kind: "set_knob", name: "lr", value: 0.02 }));
  await until(page, () => document.querySelector(".lesson-runs button").textContent === "Run A");
  await page.context().close();
});

test("the tab Explain lists the lessons; links and the close button keep the run", async () => {
  const page = await visit(here, { at: "#/control?envs=64&v=2" });
  await event(page, "metrics");
  await until(page, () => /variant=/.test(location.hash));
  await page.evaluate(() => (globalThis.before = hothouse));
  await place(page, "Explain", "Lessons");
  const listed = page.locator(".lesson-list a");
  await listed.first().waitFor();
  assert.equal(await listed.count(), LESSONS.length);
  await accessible(page);
  await page.getByRole("link", { name: SECOND.title }).click();
  await lesson(page).getByRole("heading", { level: 2, name: SECOND.title }).waitFor();
  assert.match(await page.evaluate(() => location.hash), new RegExp(`envs=64.*lesson=${SECOND.name}$`));
  // A copied link contains no lesson.
  assert.doesNotMatch((await page.evaluate(() => hothouse.shared())).link, /lesson/);
  await page.reload();
  await lab(page);
  await lesson(page).getByRole("heading", { level: 2, name: SECOND.title }).waitFor();
  await page.evaluate(() => (globalThis.before = hothouse));
  await lesson(page).getByRole("button", { name: "Close the lesson" }).click();
  await lesson(page).waitFor({ state: "hidden" });
  assert.doesNotMatch(await page.evaluate(() => location.hash), /lesson/);
  assert.ok(await page.evaluate(() => hothouse === before));
  // An unknown name gives a message with the next step.
  await page.evaluate(() => (location.hash = `${location.hash}&lesson=none`));
  await lesson(page).getByText("The tab Explain lists the lessons.").waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});
