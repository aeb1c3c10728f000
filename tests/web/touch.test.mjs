// Touch input on a phone in every room: taps, drags over the picture, and swipes that scroll the page. layout.test.mjs covers the
// layout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOMS as LISTED } from "../../scripts/rooms.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, begun, house, lab, place, stepped, until, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const WORDS = "width=32&layers=2&heads=2&context=32&batch=8&micro=8&steps=8&characters=60000&sample=40";

/** Time for which a finger rests before the release, so that its movement has ended. */
const REST_MS = 200;

/** Scrolls to an element and returns the screen position of a point, given as shares of the element's width and height. */
const at = async (page, css, x, y) => {
  await page
    .locator(css)
    .first()
    .evaluate((one) => one.scrollIntoView({ block: "center", behavior: "instant" }));
  const box = await page.locator(css).first().boundingBox();
  return [box.x + x * box.width, box.y + y * box.height];
};

/** Touches at `from`, drags to `to` and releases. `resting` runs before the release. */
async function pull(page, from, to, resting = async () => {}) {
  const cdp = await page.context().newCDPSession(page);
  const touch = (type, points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  await touch("touchStart", [from]);
  for (let k = 1; k <= 8; k++) await touch("touchMove", [[from[0] + (k * (to[0] - from[0])) / 8, from[1] + (k * (to[1] - from[1])) / 8]]);
  await resting();
  await touch("touchEnd", []);
  await cdp.detach();
}

const ROOMS = {
  control: {
    link: "#/control?envs=64&v=2",
    picture: ".environments canvas",
    async play(page) {
      await page.getByRole("button", { name: "Take the controls" }).tap();
      await page.locator(".stage-hint", { hasText: "Round 1" }).waitFor();
      await page.locator(".pace label", { hasText: "Full" }).tap();
      await page.locator(".pace input:checked + label", { hasText: "Full" }).waitFor();
      assert.ok(await page.locator(".pace").getByLabel("Full").isChecked());
      const [from, to] = [await at(page, ".stage-field", 0.6, 0.6), await at(page, ".stage-field", 0.9, 0.2)];
      const scrolled = await page.evaluate(() => scrollY);
      await pull(page, from, to, async () => {
        assert.equal(await page.evaluate(() => scrollY), scrolled, "steering does not scroll");
        await page.locator(".past tr").first().waitFor();
      });
      const [yours] = await page.locator(".past tr").first().locator("td").allTextContents();
      assert.ok(Number(yours) > 0 && Number(yours) < 60, `${yours} steps with the finger held at the side`);
      await page.getByRole("button", { name: "Give back" }).tap();
      await page.getByRole("button", { name: "Take the controls" }).waitFor();
    },
  },
  backgammon: {
    link: "#/backgammon?games=32&hidden=32&v=2",
    picture: ".table .board",
    async play(page) {
      const button = (name) => page.locator(".table-actions button", { hasText: new RegExp(`^${name}$`) });
      await button("Play the agent").tap();
      await button("New match").tap();
      await page.getByLabel("Against").selectOption({ label: "random moves" });
      await page.getByRole("button", { name: "Start match" }).tap();
      // Waits for the new opponent, because the earlier match against the agent may also show the button Roll.
      await page.locator(".table .theirs", { hasText: /^Random/ }).waitFor();
      await button("Roll").waitFor();
      /**
       * Waits until the table allows an action or has judged a move. Returns the name of the action, or an empty text after a judged move.
       */
      const possible = async () => {
        const found = await until(page, () => {
          if (/ranks \d+ of|[Bb]est of|only move/.test(document.querySelector(".verdict").textContent)) return { action: "" };
          if (document.querySelector(".table .board-places .open")) return { action: "move" };
          const usable = (one) => !one.hidden && !one.disabled && ["Roll", "Confirm"].includes(one.textContent);
          const name = [...document.querySelectorAll(".table-actions button")].find(usable)?.textContent;
          return name && { action: name };
        });
        return found.action;
      };
      /** Listens for the worker's answer to an action: it hides or disables the button of the action. */
      const answered = (name) =>
        begun(
          page,
          (name) =>
            new Promise((resolve) => {
              const button = [...document.querySelectorAll(".table-actions button")].find((one) => one.textContent === name);
              new MutationObserver(() => (button.hidden || button.disabled) && resolve()).observe(button, { attributes: true });
            }),
          name,
        );
      // Without a legal move the turn passes, so the loop rolls again.
      for (let action = await possible(); action; action = await possible()) {
        if (action === "move") {
          await page.locator(".table .board-places .open").first().tap();
          await page.locator(".table .board-places .target").first().tap();
        } else {
          const done = await answered(action);
          await button(action).tap();
          await done();
        }
      }
    },
  },
  cube: {
    link: "#/cube?hidden=32-16&walk=14&v=2",
    picture: ".cube-picture canvas",
    // The swipe that scrolls the page begins at `beside`, a point beside the cube, because stickers handle touches themselves.
    beside: [0.04, 0.1],
    async play(page) {
      await page.getByText("Auto-play", { exact: true }).first().tap();
      await page.getByRole("button", { name: "More", exact: true }).tap();
      await page.getByRole("button", { name: "Solved cube" }).tap();
      // Waits for the agent's first estimate, after which the text above the cube has its final height.
      await page.waitForFunction(() => {
        const [status, reading] = [".cube-status", ".reading"].map((part) => document.querySelector(part).textContent);
        return status === "The solved cube." && /Shortest0quarter turns/.test(reading);
      });
      const [x, y] = await at(page, ".cube-picture canvas", 0.5, 0.5);
      const box = await page.locator(".cube-picture canvas").boundingBox();
      const unit = Math.min(box.width / 3.58, box.height / 3.74);
      const scrolled = await page.evaluate(() => scrollY);
      // A sticker in the right column of the front face. The drag moves it up.
      const sticker = [x - 0.12 * unit, y + 0.2 * unit];
      // The finger rests before the release, so that the layer does not keep turning.
      await pull(page, sticker, [sticker[0], sticker[1] - 1.3 * unit], () => page.waitForTimeout(REST_MS));
      await page.waitForFunction(() => /^R\./.test(document.querySelector(".cube-status").textContent));
      assert.equal(await page.evaluate(() => scrollY), scrolled, "turning a layer does not scroll");
      await page.getByRole("button", { name: "Turn U prime" }).tap();
      await until(page, async () => {
        const { facelets } = await hothouse.ask({ ask: "turn", facelets: "UUUURRRRFFFFDDDDLLLLBBBB", moves: "R U'" });
        return document.querySelector(".cube-picture").dataset.facelets === facelets;
      });
    },
  },
  logic: {
    // The grid starts again if another member becomes the best, so the population has one member.
    link: "#/logic?seed=1&population=1&v=2",
    picture: ".grid-canvas canvas",
    async play(page) {
      const cells = () => page.evaluate(() => document.querySelector(".grid-canvas canvas").toDataURL());
      const other = (before) => until(page, `document.querySelector(".grid-canvas canvas").toDataURL() !== ${JSON.stringify(before)}`);
      const stopped = () => page.evaluate(() => document.querySelector(".grid-pane").dataset.step);
      await page.locator(".play-grid").tap();
      await page.locator(".play-grid", { hasText: "Run grid" }).waitFor();
      // The worker answers in order, so a step in progress is complete after this answer.
      await page.evaluate(async () => {
        await hothouse.ask({ ask: "automaton" });
        for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      });
      const step = await stopped();
      const whole = await cells();
      await pull(page, await at(page, ".grid-canvas canvas", 0.2, 0.5), await at(page, ".grid-canvas canvas", 0.8, 0.5));
      await other(whole);
      const pulled = await cells();
      await page.touchscreen.tap(...(await at(page, ".grid-canvas canvas", 0.5, 0.15)));
      await other(pulled);
      assert.equal(await stopped(), step, "the grid is paused");
    },
  },
  words: {
    link: `#/words?seed=1&${WORDS}&v=2`,
    picture: ".sheet",
    async play(page) {
      await page.locator(".writing").getByRole("button", { name: "Write", exact: true }).tap();
      await page.waitForFunction(() => /\d+ tokens, .* length limit/s.test(document.querySelector(".text-stage .head").textContent));
      await page.touchscreen.tap(...(await at(page, ".sheet .tokens span:nth-of-type(5)", 0.5, 0.5)));
      await page.waitForFunction(() => / after .*: /.test(document.querySelector(".text-stage .expected .small").textContent));
      await place(page, "Explore", "Read a text");
      await page.locator(".reading textarea:not([disabled])").fill("The fox saw the owl.");
      await page.waitForFunction(() => document.querySelectorAll(".paper .tokens span").length === 20);
      // The text field covers the tokens, so it receives the touch.
      await page.touchscreen.tap(...(await at(page, ".paper .tokens span:nth-of-type(5)", 0.5, 0.5)));
      await page.waitForFunction(() => / after .*: /.test(document.querySelector(".reading .expected .small").textContent));
    },
  },
};

test("the touch tests cover every room", () => assert.deepEqual(Object.keys(ROOMS).sort(), [...LISTED].sort()));

/** Checks that nothing is wider than the phone and that the page reported no errors, and closes the page. */
async function done(page) {
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width);
  assert.deepEqual(page.said, []);
  await page.context().close();
}

/** Runs in the page: waits until the page no longer scrolls, because a tap during momentum scrolling only stops the scrolling. */
async function resting() {
  for (let last = -1; scrollY !== last; ) {
    last = scrollY;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

const KEYS = /\b(arrow keys?|arrows|Esc(ape)?|Shift|space bar|backspace|press [a-z]\b)/;

/** Checks that the room and its help name gestures and no keys. */
async function gesturesOnly(page, room) {
  const named = KEYS.exec(await page.evaluate(() => document.querySelector("#main").innerText));
  assert.equal(named, null, `${room}: ${named?.input.slice(named.index - 60, named.index + 40)}`);
  await page.getByRole("button", { name: "Help", exact: true }).tap();
  await page.locator("dialog[open]").waitFor();
  const help = await page.evaluate(() => document.querySelector("dialog[open]").innerText);
  assert.match(help, /drag a slider/);
  assert.doesNotMatch(help, /Single-key|play or pause/);
  await page.keyboard.press("Escape");
}

test("in every room pause and scroll work by touch on a phone, and the texts name gestures and no keys", async () => {
  const page = await replayed(here, { at: ROOMS.control.link, context: PHONE });
  for (const [room, { link, picture, beside = [0.5, 0.7] }] of Object.entries(ROOMS)) {
    if (room !== "control") await page.evaluate((link) => (location.hash = link), link);
    await lab(page, room);
    await gesturesOnly(page, room);
    for (const running of [false, true]) {
      const changed = await ahead(page, "running");
      // The button changes its text shortly after the state of the run, so the test waits for the text.
      await page.locator(".transport .play", { hasText: running ? "Play" : "Pause" }).tap();
      assert.equal((await changed()).running, running);
    }
    await page.locator(picture).first().waitFor();
    // A swipe up over the picture scrolls the page. The finger rests before the release, so that the page does not keep scrolling.
    const from = await at(page, picture, ...beside);
    await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
    const [x, y] = await page
      .locator(picture)
      .first()
      .boundingBox()
      .then((box) => [from[0], Math.min(700, box.y + beside[1] * box.height)]);
    // A busy browser may drop moves of a swipe, so the swipe is repeated.
    for (let swipes = 0; (await page.evaluate(() => scrollY)) <= 60; swipes++) {
      assert.ok(swipes < 5, `${room}: swipes over the picture do not scroll`);
      await pull(page, [x, y], [x, y - 240], () => page.waitForTimeout(REST_MS));
    }
    await page.evaluate(resting);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width, room);
  }
  await done(page);
});

/** Opens a run that is paused after one iteration, and plays in the room. */
const played = (room) => async () => {
  const page = await visit(here, { at: ROOMS[room].link, started: false, paused: true, context: PHONE });
  await lab(page, room);
  await stepped(page);
  await ROOMS[room].play(page);
  await done(page);
};

for (const room of ["control", "cube"]) test(`${room}: play works by touch on a phone`, played(room));
inAll("cube: play works by touch on a phone", "backgammon: play works by touch on a phone", played("backgammon"));
inAll("cube: play works by touch on a phone", "logic: play works by touch on a phone", played("logic"));
inAll("cube: play works by touch on a phone", "words: play works by touch on a phone", played("words"));
