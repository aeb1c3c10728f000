// The lessons beside the rooms: each lesson on a desktop and on a phone, a whole lesson with its runs and checked claims, and the ways to
// open a lesson. tests/docs/lessons.test.mjs checks the claims of all lessons.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { read } from "../../scripts/docs.mjs";
import { root } from "../../scripts/sh.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, house, lab, part, place, until, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, fits, MOST_CONTROLS, mostControls, narrows } from "./rooms.mjs";

const here = house();
replays(here);
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

/** Opens a lesson, and its room if another one is open. The run of an open room continues. */
async function opens(page, { room, name, title }) {
  await page.evaluate(
    ([room, name]) => {
      const { hash } = location;
      location.hash = hash.startsWith(`#/${room}?`) ? hash.replace(/lesson=.*/, `lesson=${name}`) : `#/${room}?lesson=${name}`;
    },
    [room, name],
  );
  await lesson(page).getByRole("heading", { level: 2, name: title }).waitFor();
}

/** Checks an open lesson before and after the commitment to a prediction. */
async function hidesResults(page, { predictions, runs }) {
  assert.equal(await lesson(page).getByRole("radio").count(), predictions.length);
  const run = lesson(page).getByRole("button", { name: "Run A" });
  assert.equal(await run.isVisible(), false);
  await commit(page, 0);
  await run.waitFor();
  assert.equal(await lesson(page).getByRole("button", { name: /^Run / }).count(), runs.length);
  assert.equal(await lesson(page).getByRole("radio").first().isDisabled(), true);
  assert.equal(await results(page).isVisible(), false);
}

/** Checks the size of an open lesson. */
async function fitsScreen(page) {
  const controls = await page.evaluate(mostControls);
  assert.ok(controls <= MOST_CONTROLS, `${controls} controls`);
  await coversNothing(page);
  await fits(page);
}

test("the lessons fit a desktop and a phone and hide their results", async () => {
  const [{ colorScheme, viewport }, phone] = SCREENS;
  const page = await replayed(here, { at: `#/${FIRST.room}?lesson=${FIRST.name}`, paused: true, context: { colorScheme, viewport } });
  for (const room of ROOMS) {
    const own = LESSONS.filter((one) => one.room === room);
    for (const one of own) {
      await page.setViewportSize(viewport);
      await opens(page, one);
      await lab(page, room);
      await hidesResults(page, one);
      await fitsScreen(page);
      await page.setViewportSize(phone.viewport);
      if (one === own[0]) await fitsScreen(page);
      else await fits(page);
    }
    if (room === FIRST.room) await accessible(page, ".lesson");
  }
  assert.deepEqual(page.said, []);
  await page.context().close();
});

for (const room of ROOMS)
  for (const screen of SCREENS)
    inAll(
      "the lessons fit a desktop and a phone and hide their results",
      `the lessons of ${room} fit a screen of ${screen.viewport.width} px and hide their results`,
      async () => {
        const own = LESSONS.filter((one) => one.room === room);
        const page = await visit(here, { at: `#/${room}?lesson=${own[0].name}`, context: screen, started: false });
        await lab(page, room);
        for (const one of own) {
          await opens(page, one);
          await hidesResults(page, one);
          await fitsScreen(page);
          await accessible(page, ".lesson");
        }
        await narrows(page);
        assert.deepEqual(page.said, []);
        await page.context().close();
      },
    );

/**
 * Starts the runs of the first lesson and waits for its results. They stay while other tabs and other lessons are open. Returns the numbers
 * of the claims that hold and that fail.
 */
async function throughLesson(page) {
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
  const claims = await Promise.all([".holds", ".fails"].map((of) => lesson(page).locator(`.lesson-claims ${of}`).count()));
  // The run is paused at its end.
  assert.ok(await page.getByRole("button", { name: "Play" }).isVisible());
  await place(page, "Settings");
  assert.ok(await results(page).isVisible());
  await page.evaluate((name) => (location.hash = location.hash.replace(/lesson=.*/, `lesson=${name}`)), SECOND.name);
  await lesson(page).getByRole("heading", { level: 2, name: SECOND.title }).waitFor();
  assert.equal(await results(page).isVisible(), false);
  await page.goBack();
  await lesson(page).getByRole("heading", { level: 2, name: FIRST.title }).waitFor();
  assert.ok(await results(page).isVisible());
  assert.deepEqual(page.said, []);
  return claims;
}

test("a lesson starts its runs in the room, checks its claims and keeps its results", async () => {
  const page = await replayed(here, { at: `#/${FIRST.room}?lesson=${FIRST.name}` });
  // Both runs replay the same rows, so the claims about the second run fail.
  const [hold, fail] = await throughLesson(page);
  assert.ok(hold > 0 && fail > 0 && hold + fail === FIRST.claims.length, `${hold} claims hold and ${fail} fail`);
  await page.context().close();
});

/** Runs in the page: returns true if the element is on the screen, above the bars at its bottom. */
const inSight = (selector) => {
  const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
  return top >= 0 && bottom <= document.querySelector(".transport").getBoundingClientRect().top;
};

test("on a phone, Lessons in the navigation leads to a lesson; the page scrolls to its title and to its result", async () => {
  const page = await replayed(here, { at: "#/control?envs=64&v=2", context: { viewport: SCREENS[1].viewport } });
  await page.locator("#rooms a", { hasText: "Lessons" }).click();
  const cards = page.locator(".lesson-cards li");
  await cards.first().waitFor();
  assert.deepEqual(
    await cards.locator("h2").allTextContents(),
    LESSONS.map(({ title }) => title),
  );
  assert.deepEqual(
    await cards.locator("p:last-child").allTextContents(),
    LESSONS.map(({ asks }) => asks),
  );
  await accessible(page, "main");
  await fits(page);
  await cards.locator("a", { hasText: FIRST.title }).click();
  await lab(page, FIRST.room);
  await until(page, () => document.activeElement.matches(".lesson h2"));
  assert.ok(await page.evaluate(inSight, ".lesson h2"));
  // The second run may be the first to train. The page then names the run that the result still needs.
  await commit(page, FIRST.answer);
  for (const name of ["B", "A"]) {
    await lesson(page)
      .getByRole("button", { name: `Run ${name}`, exact: true })
      .click();
    const missing = lesson(page).getByText("The result compares all runs: train A too.");
    if (name === "B") await missing.waitFor();
    await lesson(page)
      .getByRole("button", { name: `Run ${name} again` })
      .waitFor();
    if (name === "A") assert.equal(await missing.count(), 0);
    // On a phone the picture is above the lesson, so the page returns to the lesson after a run.
    else await until(page, inSight, ".lesson-runs + p");
  }
  await until(page, inSight, ".lesson-judged");
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "a lesson starts its runs in the room, checks its claims and keeps its results",
  "a lesson trains its runs in the room, and its claims hold",
  async () => {
    const page = await visit(here, { at: `#/${FIRST.room}?lesson=${FIRST.name}` });
    assert.deepEqual(await throughLesson(page), [FIRST.claims.length, 0]);
    await page.context().close();
  },
);

test("a knob that the visitor turns ends the lesson's run", async () => {
  const page = await replayed(here, { at: `#/${FIRST.room}?lesson=${FIRST.name}` });
  await commit(page, 0);
  await page.evaluate(() => hothouse.command({ kind: "pause" })); // the run must not end before the change of the knob
  await lesson(page).locator(".lesson-runs button").first().click();
  await until(page, () => document.querySelector(".lesson-runs button").textContent === "Training A");
  await page.evaluate(() => hothouse.command({ kind: "set_knob", name: "lr", value: 0.02 }));
  await until(page, () => document.querySelector(".lesson-runs button").textContent === "Run A");
  await page.context().close();
});

test("the tab Explain lists the lessons of the room; links and the close button keep the run", async () => {
  const page = await replayed(here, { at: "#/control?envs=64&v=2" });
  await until(page, () => /variant=/.test(location.hash));
  await page.evaluate(() => (globalThis.before = hothouse));
  await place(page, "Explain", "Lessons");
  const listed = page.locator(".lesson-list a");
  await listed.first().waitFor();
  assert.deepEqual(
    await listed.allTextContents(),
    [...LESSONS.filter(({ room }) => room === FIRST.room), { title: "Lessons of all rooms" }].map(({ title }) => title),
  );
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
  // An unknown name gives a link to the next step.
  await page.evaluate(() => (location.hash = `${location.hash}&lesson=none`));
  await lesson(page).getByRole("link", { name: "All lessons" }).waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});
