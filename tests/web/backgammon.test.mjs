// The backgammon room: training, play by pointer, keys and text, analysis of positions, saving and loading. Other tests measure the
// agent's strength.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import {
  ahead as aheadOf,
  aheadWhere,
  begun,
  eventWhere,
  folder,
  hothouse,
  house,
  inWorkers,
  kept,
  lab,
  part,
  place,
  restore,
  saved,
} from "./fixture.mjs";
import { accessible, entrance, fits, isDrawn, large, leave, reads, SCREENS } from "./rooms.mjs";

const here = house();

/** Address of a small run: short rounds and a small network. */
const SMALL = "#/backgammon?games=32&hidden=32&v=2";

const enter = entrance(here, "backgammon", SMALL);
/** Listens for the next event of a kind. With `games`, listens for the first event with at least that number of games in its progress. */
const ahead = (page, kind, games = 0) =>
  games ? aheadWhere(page, kind, `(event) => (event.progress?.games ?? 0) >= ${games}`) : aheadOf(page, kind);
const event = async (page, kind, games) => (await ahead(page, kind, games))();
const pause = (page) => page.evaluate(() => hothouse.command({ kind: "pause" }));
const button = (page, name) => page.locator(".table-actions button", { hasText: new RegExp(`^${name}$`) });
const places = (page, kind) => page.locator(`.table .board-places .${kind}`);
/** Waits for the visitor's turn: dice to roll, checkers to move, or no legal move. */
const ownTurn = (page) =>
  page.waitForFunction(
    () =>
      [...document.querySelectorAll(".table-actions button")].some(
        (one) => !one.hidden && !one.disabled && /^(Roll|Confirm)$/.test(one.textContent),
      ) || document.querySelector(".table .board-places .open"),
  );
/** Starts a match against an opponent that moves without delay, because its look-ahead is 0. Training pauses, because it slows the page. */
async function sit(page, against = "random moves") {
  await pause(page);
  await button(page, "Play the agent").click();
  await button(page, "New match").click();
  await page.getByLabel("Against").selectOption({ label: against });
  await page.locator(".setup").getByLabel("Look-ahead").selectOption("0");
  await page.getByRole("button", { name: "Start match" }).click();
  await button(page, "Roll").waitFor();
}
/** Opens the form for the analysis of a position. Training pauses. */
async function explore(page) {
  await pause(page);
  await place(page, "Explore", "Analyse a position");
}
const position = (page) => page.getByLabel(/^Position:/);
/** Moves until no move is left. */
async function playOut(page) {
  while (await places(page, "open").count()) {
    await places(page, "open").first().click();
    await places(page, "target").first().click();
    await ownTurn(page);
  }
}
/**
 * Calls `act` and waits for the worker's answer, which hides or disables the action's button. Listens before it calls `act`, because the
 * opponent moves at once and the button may soon be usable again.
 */
async function answered(page, name, act) {
  const answer = await begun(
    page,
    (name) =>
      new Promise((resolve) => {
        const one = [...document.querySelectorAll(".table-actions button")].find(({ textContent }) => textContent === name);
        let usable = false;
        const look = () => {
          const before = usable;
          usable = !one.hidden && !one.disabled;
          if (before && !usable) resolve();
        };
        look();
        new MutationObserver(look).observe(one, { attributes: true });
      }),
    name,
  );
  await act();
  await answer();
}
/**
 * Presses a button of the table and waits for the answer. Does nothing if the button is not usable, because the table can advance without
 * the visitor.
 */
async function press(page, name) {
  const usable = await button(page, name).evaluate((one) => !one.hidden && !one.disabled);
  if (usable) await answered(page, name, () => button(page, name).evaluate((one) => one.click()));
}
/** Rolls, and confirms turns without a move, until there is a legal move. */
async function roll(page, how = () => press(page, "Roll")) {
  for (;;) {
    await ownTurn(page);
    if (await places(page, "open").count()) return;
    await press(page, "Confirm");
    if (await button(page, "Roll").isVisible()) await how();
  }
}

test("the agent trains without a click, is tested, and plays visible games", async () => {
  const page = await enter();
  const judging = await ahead(page, "test");
  const first = await event(page, "metrics");
  const later = await event(page, "metrics", first.progress.games + 1);
  assert.ok(later.progress.games > first.progress.games && later.games_per_min > 0 && later.evals_per_s > 0);
  const judged = await judging();
  for (const who of ["random", "linear"])
    assert.ok(judged[`${who}_games`] > 0 && judged[`${who}_error`] > 0 && Math.abs(judged[`${who}_points`]) < 3);
  await page.waitForFunction(() => /random .* pubeval .* after/.test(document.querySelector(".returns .plot").getAttribute("aria-label")));
  // The line below the board names the best moves. The list contains further moves, and the tree has a further level.
  await page.waitForFunction(() => document.querySelectorAll(".best > span").length > 1);
  assert.match(await page.locator(".best").textContent(), /^Agent's best with \d-\d:.*[+−]\d\.\d{3}/);
  await page.waitForFunction(() => document.querySelectorAll(".considered .candidates tbody tr").length > 1);
  await page.waitForFunction(() => document.querySelectorAll(".considered .tree .dot").length >= 21);
  assert.equal(await page.locator("h1").textContent(), "An agent that teaches itself backgammon");
  assert.equal(await page.locator("#rooms [aria-current=page]").textContent(), "Backgammon");
  await page.getByRole("button", { name: "Points per game as a table" }).click();
  assert.match(await page.getByRole("region", { name: "Points per game as a table" }).locator("tbody tr").first().textContent(), /±/);
  await leave(page);
});

inAll(
  "backgammon: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit",
  "board, moves, hint and verdict are on the first screen, and nothing moves when they change",
  async () => {
    for (const [width, height] of [
      [1280, 720],
      [1024, 768],
      [1440, 900],
    ]) {
      const page = await enter({ context: { viewport: { width, height } } });
      await sit(page);
      await roll(page);
      await page.evaluate(() => scrollTo(0, 0));
      const boxes = () =>
        page.evaluate(() => ({
          bar: document.querySelector(".transport").getBoundingClientRect().top,
          all: [".board", ".best", ".note", ".writing", ".foot"].map((name) => {
            const { top, bottom } = document.querySelector(`.table ${name}`).getBoundingClientRect();
            return [name, top, bottom];
          }),
        }));
      const { bar, all } = await boxes();
      for (const [name, top, bottom] of all) assert.ok(top >= 0 && bottom <= bar, `${name}: ${top} to ${bottom}; the bar begins at ${bar}`);
      await button(page, "Hint").click();
      await reads(page, ".best", /^Hint:/);
      await page.locator(".best button").first().click();
      await button(page, "Confirm").click();
      await reads(page, ".verdict", /^Your move/);
      // The elements directly below the board keep their distance from it. A long verdict may move only the elements below them.
      const tops = ({ all: [[, board], ...rest] }) => rest.slice(0, 2).map(([name, top]) => `${name} ${Math.round(top - board)}`);
      assert.deepEqual(tops(await boxes()), tops({ all }));
      if (width === 1440) {
        // The board shows the opponent's answer to a double.
        await button(page, "Double").click();
        await page.waitForFunction(() => document.querySelector(".table .playable .word").textContent === "Takes");
        await reads(page, ".table-status", /takes: the cube is at 2/);
        assert.equal(await page.locator(".table .playable .word").textContent(), "Takes");
      }
      await page.context().close();
    }
  },
);

test("a game accepts moves by pointer, keys and text, refuses illegal moves, and is reviewed", async () => {
  const page = await enter({ paused: true, context: { reducedMotion: "reduce" } });
  await sit(page);
  // By pointer: one step and its undo, then the whole move.
  await roll(page);
  const names = () =>
    page
      .locator(".table .board-places button")
      .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label").replace(/, (can|taken).*$/, "")));
  const before = await names();
  await places(page, "open").first().click();
  await places(page, "target").first().click();
  await page.waitForFunction(
    () => ![...document.querySelectorAll(".table-actions button")].find((one) => one.textContent === "Undo").disabled,
  );
  assert.notDeepEqual(await names(), before);
  await button(page, "Undo").click();
  await page.waitForFunction(
    () => [...document.querySelectorAll(".table-actions button")].find((one) => one.textContent === "Undo").disabled,
  );
  assert.deepEqual(await names(), before);
  await playOut(page);
  await button(page, "Confirm").click();
  await reads(page, ".verdict", /ranks \d+ of|[Bb]est of|only move/);
  // The next turn uses keys only.
  await page.locator("h1").click();
  const pressD = (name) => answered(page, name, () => page.keyboard.press("d"));
  await roll(page, () => pressD("Roll"));
  await page.keyboard.press("b");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /can move$/);
  const focused = () => page.evaluate(() => Number(document.activeElement.dataset.place));
  const point = await focused();
  // The points 12 and 13 are at the left edge of the board, so the focus moves to the right.
  await page.keyboard.press(point === 12 || point === 13 ? "ArrowRight" : "ArrowLeft");
  assert.notEqual(await focused(), point);
  await page.keyboard.press("b");
  while (await places(page, "open").count()) {
    await page.keyboard.press("b");
    await page.keyboard.press("Enter");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /picked up$/);
    await page.keyboard.press("Enter");
    await ownTurn(page);
  }
  await pressD("Confirm");
  // The next turn uses the text field, with the text of a hint.
  await roll(page);
  const written = page.getByLabel("Type the move");
  await written.fill("31/2");
  await written.press("Enter");
  await page.locator(".writing input[aria-invalid=true]").waitFor();
  assert.ok((await page.locator(".table .error").textContent()).length > 20);
  await button(page, "Hint").click();
  await page.getByText("Hint for you").first().waitFor();
  const best = await page.locator(".considered .candidates tbody button").first().textContent();
  await written.fill(best);
  await written.press("Enter");
  await answered(page, "Confirm", () => button(page, "Confirm").click());
  await reads(page, ".verdict", /is the best of|only move/);
  await page.locator(".moves li").nth(4).waitFor({ state: "attached" });
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the match" }).click()]);
  assert.match(file.suggestedFilename(), /\.mat$/);
  const shows = (start) => page.waitForFunction((start) => document.querySelector(".review-text").textContent.startsWith(start), start);
  await page.getByRole("button", { name: /^Review move 3:/ }).click();
  await shows("3 of ");
  assert.equal(await page.locator(".moves [aria-current=true]").count(), 1);
  await page.getByRole("button", { name: /^First move/ }).click();
  await shows("1 of ");
  await reads(page, ".review-text", /Equity [+−]\d/);
  await page.keyboard.press("ArrowRight");
  await shows("2 of ");
  await page.getByRole("button", { name: "Back to the game" }).click();
  await ownTurn(page);
  await leave(page);
});

inAll(
  "a game accepts moves by pointer, keys and text, refuses illegal moves, and is reviewed",
  "a new match stops the animation of the watched game",
  async () => {
    const page = await enter();
    for (let round = 0; round < 3; round++) {
      // The new match starts while the dice of a watched move are shown and before its checkers move.
      if (round > 0) await button(page, "Watch").click();
      const seen = await page.evaluate(
        () =>
          new Promise((resolve) => {
            const places = document.querySelector(".table .board-places");
            const counts = () =>
              [...places.children].map((one) => one.getAttribute("aria-label").replace(/, (can|taken).*$/, "")).join("; ");
            const heading = document.querySelector(".considered h2");
            new MutationObserver((_, heard) => {
              if (!/ with \d-\d$/.test(heading.textContent)) return;
              heard.disconnect();
              [...document.querySelectorAll(".table-actions button")].find((one) => one.textContent === "Play the agent").click();
              const seen = [];
              // Recording begins when the new match starts, before the first roll.
              new MutationObserver(() => {
                if (seen.length === 0 && !/Roll to begin/.test(document.querySelector(".table-status").textContent)) return;
                if (seen.length === 0) setTimeout(() => resolve([...new Set(seen)]), 2500);
                seen.push(counts());
              }).observe(document.querySelector(".table"), {
                subtree: true,
                childList: true,
                characterData: true,
                attributes: true,
                attributeFilter: ["aria-label"],
              });
            }).observe(heading, { childList: true, characterData: true, subtree: true });
          }),
      );
      assert.equal(seen.length, 1, seen.join("\n"));
      assert.match(seen[0], /Point 24, 2 checkers of yours; Point 23, empty/);
    }
    await leave(page);
  },
);

inAll("frozen_agent_keeps_its_weights_and_plays", "the agent after one minute becomes available as an opponent", async () => {
  // Once the test listens, the worker's clock runs faster, so that a minute passes sooner.
  const init = inWorkers(`
    const now = performance.now.bind(performance);
    let since = Infinity;
    performance.now = () => now() + 19 * Math.max(0, now() - since);
    new BroadcastChannel("faster").onmessage = () => (since = now());`);
  const page = await enter({ init, context: { bypassCSP: true } });
  const frozen = await aheadWhere(page, "room", "({ event }) => event.kind === 'frozen'");
  const choice = page.locator(".setup option", { hasText: "agent after 1 minute" });
  assert.ok((await choice.isDisabled()) && (await choice.isHidden()), "an agent that does not exist yet is not offered");
  await page.evaluate(() => new BroadcastChannel("faster").postMessage(null));
  const { minutes, progress } = (await frozen()).event;
  assert.deepEqual([minutes, progress.train_s >= 60 && progress.counts[0] > 0], [1, true]);
  await sit(page, "agent after 1 minute");
  await reads(page, ".seat.theirs strong", /^The agent at 1 min$/);
  const theirs = page.locator(".moves li", { hasText: "agent at 1 min" });
  await roll(page);
  const before = await theirs.count();
  await playOut(page);
  // The opponent also plays while another tab is open.
  await place(page, "Compare");
  await press(page, "Confirm");
  await theirs.nth(before).waitFor({ state: "attached" });
  assert.match(await theirs.nth(before).textContent(), /\d-\d.*\/|cannot move|doubles/);
  assert.ok(await page.locator(".table .board").isHidden());
  await leave(page);
});

/** Functions that return the text that GNU Backgammon or eXtreme Gammon copies for an id. */
const COPIED = {
  xg: (xgid) =>
    `${xgid}\n\nX:Ann   O:Bob\nScore is X:2 O:1 7 pt.(s) match.\n +13-14-15-16-17-18------19-20-21-22-23-24-+\n | X           O    |   |` +
    ` O              X |\n +12-11-10--9--8--7-------6--5--4--3--2--1-+\nPip count  X: 167  O: 167 X-O: 2-1/7\nCube: 1\nX to play 61\n`,
  board: ([position, match]) =>
    ` GNU Backgammon  Position ID: ${position}\n                 Match ID   : ${match}\n +12-11-10--9--8--7-------6--5--4--3--2--1-+     ` +
    "O: gnubg\n | X        X  O    |   | O  O  X          |     0 points\n",
  german: ([position, match]) => ` GNU Backgammon  Positions-ID: ${position}\n                 Spiel-ID   : ${match}\n`,
};

/** Pastes a text into the field for a position, as a browser does. */
const pasted = (page, text) =>
  position(page).evaluate((field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    if (field.dispatchEvent(event)) field.value = text.replaceAll("\n", "");
  }, text);

test("a position is opened by a link, typed, pasted and edited, and errors appear beside the field", async () => {
  const page = await enter({ at: `?position=${encodeURIComponent("4HPwATDgc/ABMA:cAkAAAAAAAAA")}${SMALL}`, paused: true });
  await reads(page, ".analysis .stakes", /^Money play, cube at 1 in the middle/);
  await explore(page);
  const id = position(page);
  const dice = page.locator(".analysis-form").getByLabel(/^Dice/);
  const ask = page.getByRole("button", { name: "Analyse", exact: true });
  await id.fill("4HPwATDgc/ABMA");
  await dice.fill("3 1");
  // Without a search the table has a single group of moves.
  await page.locator(".analysis-form").getByLabel("Look-ahead").selectOption("0");
  await ask.click();
  await reads(page, ".analysis-summary", /^[^,]+: 16 moves/);
  const rows = page.locator(".analysis .candidates tbody tr");
  await rows.first().waitFor();
  await page.getByRole("button", { name: "All 16 moves" }).click();
  assert.equal(await rows.count(), 16);
  const equities = await rows.evaluateAll((all) => all.map((row) => Number(row.cells[1].textContent.replace("−", "-"))));
  equities.reduce((before, equity) => (assert.ok(equity <= before, equities.join(" ")), equity));
  const moves = await rows.evaluateAll((all) => all.map((row) => row.querySelector("button").textContent));
  assert.equal(new Set(moves).size, 16);
  assert.ok(moves.includes("8/5 6/5"), moves.join(", "));
  await page.waitForFunction(() => document.querySelectorAll(".analysis .tree .dot").length === 5 * 21);
  await page.getByRole("button", { name: "Ids and a link to copy" }).click();
  await page.locator(".analysis .candidates button", { hasText: /^8\/5 6\/5$/ }).click();
  await page.waitForFunction(() => document.querySelector(".analysis .copy code")?.textContent === "4HPwATCwZ/ABMA");
  // An analysis without dice concerns the position and the cube.
  await dice.fill("");
  await ask.click();
  await reads(page, ".analysis-summary", /before the roll/);
  for (const [position, roll, box] of [
    ["4HPwATDgc/ABM", "3 1", id],
    ["4HPwATDgc/ABMA", "3 7", dice],
    ["4HPwATDgc/ABMA", "three", dice],
  ]) {
    await id.fill(position);
    await dice.fill(roll);
    await ask.click();
    await page.waitForFunction(() => document.querySelector(".analysis .error").textContent.length > 20);
    assert.equal(await box.getAttribute("aria-invalid"), "true", `${position} ${roll}`);
  }
  const xgid = "XGID=-b----E-C---eE---c-e----B-:1:1:1:52:2:1:0:7:10";
  await pasted(page, COPIED.xg(xgid));
  await reads(page, ".analysis .stakes", /Match to 7: player on roll 2, opponent 1, cube at 2 owned/);
  assert.equal(await id.inputValue(), xgid);
  assert.equal(await page.locator(".analysis-form .error").textContent(), "");
  await id.fill("4HPwATDgc/ABMA");
  await dice.fill("");
  await ask.click();
  await reads(page, ".analysis-summary", /before the roll/);
  await page.getByRole("button", { name: "Edit the position" }).click();
  const editor = page.getByRole("group", { name: "Position editor" });
  const said = (words) => page.waitForFunction((words) => document.querySelector(".editor-message").textContent.includes(words), words);
  await said("Valid position");
  await editor.getByRole("button", { name: "Empty board" }).click();
  await said("borne off all");
  assert.ok(await editor.getByRole("button", { name: "Apply" }).isDisabled());
  const point = (at) => editor.locator(`[data-place="${at}"]`);
  for (let k = 0; k < 2; k++) await point(6).click();
  await point(4).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Delete");
  await editor.getByLabel("Checkers to place").selectOption("opponent");
  await point(20).click();
  await said("Valid position. On roll: 3 checkers on the board, 12 off, 16 pips; opponent: 1, 14 off, 5 pips.");
  await editor.getByLabel("Match to").fill("5");
  await editor.getByLabel("Score, on roll").fill("5");
  await said("enter less than 5");
  await editor.getByLabel("Score, on roll").fill("4");
  await editor.getByLabel("Crawford game").check();
  await editor.getByLabel("Dice").fill("2 1");
  await said("Valid position");
  await editor.getByRole("button", { name: "Apply" }).click();
  await reads(page, ".analysis .stakes", /Match to 5: player on roll 4, opponent 0, Crawford game/);
  // The editor is closed, and the only board shows the result of the analysis.
  assert.equal(await page.locator(".analysis .board").count(), 1);
  assert.ok(!(await editor.isVisible()));
  const ids = page.getByRole("button", { name: "Ids and a link to copy" });
  if ((await ids.getAttribute("aria-expanded")) === "false") await ids.click();
  const link = await page.getByRole("textbox", { name: "Link to this position" }).textContent();
  const own = await page.getByRole("textbox", { name: "XGID", exact: true }).textContent();
  assert.equal(own, "XGID=----A-B-------------a-----:0:0:1:21:4:0:1:5:10");
  assert.equal(new URL(link).searchParams.get("position"), own.slice("XGID=".length));
  await leave(page);
});

inAll("moves_are_sorted_and_losses_compare_one_depth", "moves are grouped by search depth in the hint and in the analysis", async () => {
  const page = await enter();
  await event(page, "metrics");
  await explore(page);
  await page.locator(".analysis-form").getByLabel("Look-ahead").selectOption("100");
  await page.getByRole("button", { name: "Analyse", exact: true }).click();
  const groups = (where) =>
    page.locator(`${where} .candidates tbody`).evaluateAll((all) =>
      all.map((body) => ({
        ply: body.querySelector(".ply")?.textContent,
        equities: [...body.querySelectorAll("td:nth-child(2)")].map((cell) => Number(cell.textContent.replace("−", "-"))),
        errors: [...body.querySelectorAll("td:nth-child(3)")].map((cell) => cell.textContent),
        marked: [...body.querySelectorAll(".unsearched")].length,
      })),
    );
  const check = (all) => {
    assert.equal(all[0].ply, "1-ply, all 21 rolls");
    for (const { ply, equities, errors, marked } of all) {
      // Moves that were not searched have no error. Each other error is the difference to the best equity shown.
      for (const [k, error] of errors.entries()) {
        if (/not searched/.test(ply)) assert.equal(error, "–");
        else assert.ok(Math.abs(equities[0] - equities[k] - Number(error)) < 0.0016, `${ply}: ${equities[0]} ${equities[k]} ${error}`);
      }
      equities.reduce((before, equity) => (assert.ok(equity <= before, `${ply}: ${equities.join(" ")}`), equity));
      assert.equal(marked, /not searched/.test(ply) ? equities.length : 0);
    }
    assert.equal(new Set(all.map(({ ply }) => ply)).size, all.length);
  };
  await page.locator(".analysis .candidates .ply").first().waitFor();
  await page.getByRole("button", { name: /^All \d+ moves$/ }).click();
  const analysed = await groups(".analysis");
  check(analysed);
  assert.equal(analysed.at(-1).ply, "0-ply, not searched");
  await place(page, "Live");
  await sit(page);
  await roll(page);
  await button(page, "Hint").click();
  await page.getByText("Hint for you").first().waitFor();
  check(await groups(".considered"));
  // A hint's arrows start and end on the board, even if one checker moves twice.
  const ends = await page.locator(".table .arrows path").evaluateAll((all) =>
    all.map((path) =>
      path
        .getAttribute("d")
        .match(/-?[\d.]+/g)
        .map(Number),
    ),
  );
  for (const numbers of ends)
    for (const [k, number] of numbers.entries()) if (k < 2 || k > 3) assert.ok(number > 0 && number < 700, numbers.join(" "));
  await leave(page);
});

inAll(
  "match_ids_are_read_composed_and_analysed",
  "a match id sets score and cube, cube decisions are analysed, and a refused position shows no result",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    await explore(page);
    const id = position(page);
    const ask = page.getByRole("button", { name: "Analyse", exact: true });
    const stakes = () => page.locator(".analysis .stakes").textContent();
    await id.fill("4HPwATDgc/ABMA:cAkAAAAAAAAA");
    await ask.click();
    await reads(page, ".analysis .stakes", /Jacoby/);
    assert.equal(await page.locator(".analysis-form").getByLabel(/^Dice/).inputValue(), "", "before the roll");
    const table = page.locator(".analysis .cube-table");
    assert.match(await stakes(), /^Money play, cube at 1 in the middle/);
    assert.deepEqual(await table.locator("tbody th").allTextContents(), ["No double", "Double, take", "Double, pass"]);
    assert.match(await table.locator("tbody tr").last().textContent(), /\+1\.000/);
    await id.fill("XGID=-b----E-C---eE---c-e----B-:1:1:1:52:2:1:0:7:10");
    await ask.click();
    await reads(page, ".analysis .stakes", /Match to 7: player on roll 2, opponent 1, cube at 2 owned by the player on roll/);
    assert.equal(await page.locator(".analysis-form").getByLabel(/^Dice/).inputValue(), "5 2");
    assert.equal(await page.locator(".analysis .candidates tbody button").count(), 4);
    await id.fill("4HPwATDgc/ABMA:cAkAAAAAAAA");
    await ask.click();
    await reads(page, ".analysis .error", /match id has 12 characters, found 11/);
    assert.equal(await page.locator(".analysis .candidates, .analysis .copy").count(), 0);
    assert.equal(await page.locator(".analysis .tree").isVisible(), false);
    await leave(page);
  },
);

test("moves of both players are written in the numbers of the board", async () => {
  const { onBoard, sessionOnBoard } = await part("rooms/backgammon/notation");
  for (const [text, there] of [
    ["11/8 6/2", "14/17 19/23"],
    ["bar/21*(2) 13/11*/7", "bar/4*(2) 12/14*/18"],
    ["6/off(3)", "19/off(3)"],
    ["doubles to 4", "doubles to 4"],
    ["cannot move", "cannot move"],
  ])
    assert.deepEqual([onBoard(0, text), onBoard(1, text)], [text, there]);
  const candidates = [{ text: "11/8 6/2" }];
  const moves = [
    { seat: 0, text: "8/5 6/5" },
    { seat: 1, text: "11/8 6/2" },
  ];
  const shown = sessionOnBoard({ moves, reply: { seat: 1, text: "11/8 6/2", candidates } });
  assert.deepEqual(
    shown.moves.map(({ text }) => text),
    ["8/5 6/5", "14/17 19/23"],
  );
  assert.deepEqual([shown.reply.text, shown.reply.candidates[0].text], ["14/17 19/23", "14/17 19/23"]);
  const { branchesOnBoard } = await part("rooms/backgammon/notation");
  assert.equal(branchesOnBoard(0, [{ text: "24/20" }])[0].text, "1/5", "replies to the visitor's moves are the other player's");
  assert.equal(branchesOnBoard(1, [{ text: "24/20" }])[0].text, "24/20");
});

test("the verdict on a move is a sentence, and the mean loss has a unit", async () => {
  const { reviewOf } = await part("rooms/backgammon/phrases");
  const review = { verdict: "best", yours: { text: "bar/21" }, best: { text: "bar/21" }, rank: 1, of: 9, error: 0, reviewed: 2, lost: 0 };
  assert.equal(reviewOf(review), "bar/21 is the best of 9 moves. So far: 0.0000 points lost per move, in 2 moves.");
  assert.equal(reviewOf({ ...review, of: 1, reviewed: 1 }), "The only move.");
});

test("every id of the golden file is found in each text that a program copies", async () => {
  const { idIn } = await part("rooms/backgammon/pasted");
  const lines = readFileSync(new URL("../golden/backgammon_ids.txt", import.meta.url), "utf8").split("\n");
  const ids = lines.map((line) => line.split(" ")).filter(([kind]) => kind === "id" || kind === "double");
  assert.ok(ids.length > 200);
  for (const [, xgid, gnu] of ids) {
    const both = gnu.split(":");
    for (const text of [
      xgid,
      ` ${xgid.slice(5)}\n`,
      COPIED.xg(xgid),
      COPIED.xg(xgid).replaceAll("\n", ""),
      `See ${encodeURIComponent(xgid)}.`,
    ])
      assert.equal(idIn(text.replaceAll("%3D", "=")), xgid, text);
    const labelled = [" ", "", "   ", "\n"].map((gap) => `Position ID: ${both[0]}${gap}Match ID: ${both[1]}`);
    for (const text of [gnu, both.join(" "), ...labelled, COPIED.board(both), COPIED.german(both), COPIED.board(both).replaceAll("\n", "")])
      assert.equal(idIn(text), gnu, text);
    for (const text of [both[0], `Position ID: ${both[0]}`]) assert.equal(idIn(text), both[0], text);
  }
});

test("a damaged id is passed to the worker, and a text without an id has no result", async () => {
  const { idIn } = await part("rooms/backgammon/pasted");
  for (const text of [
    "4HPwATDgc/ABM",
    "4HPwATDgc/ABMA:cAkAAAAAAAA",
    "Position ID: 4HPwATDgc/ABMA Match ID: QYkqAS",
    "XGID=-b----E-C---eE---c-e----B-:0:0:1 and more",
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10:1 and more",
    "XGID=z-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10 and more",
  ])
    assert.equal(idIn(text), text);
  for (const text of ["The characterization of a counterstriking game", " +13-14-15-16-17-18------19-20-21-22-23-24-+\n | X    O |"])
    assert.equal(idIn(text), undefined);
});

inAll(
  "every id of the golden file is found in each text that a program copies",
  "a pasted text is reduced to its id and analysed at once; other text is refused",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    await explore(page);
    const xgid = "XGID=-b----E-C---eE---c-e----B-:1:1:1:52:2:1:0:7:10";
    const gnu = ["4HPwATDgc/ABMA", "QYkqASAAIAAA"];
    for (const [text, id, stakes] of [
      [COPIED.xg(xgid), xgid, /Match to 7: player on roll 2, opponent 1, cube at 2 owned/],
      [COPIED.board(gnu), gnu.join(":"), /Match to 9: player on roll 4, opponent 2/],
      [xgid.slice(5), xgid, /Match to 7/],
      [`Position ID: ${gnu[0]} Match ID: ${gnu[1]}`, gnu.join(":"), /Match to 9/],
      [gnu[0], gnu[0], /Money play.*contains no match/],
    ]) {
      await pasted(page, text);
      await reads(page, ".analysis .stakes", stakes);
      assert.equal(await position(page).inputValue(), id);
      assert.equal(await page.locator(".analysis-form .error").textContent(), "");
    }
    await pasted(page, "A game of backgammon without any position");
    await page.getByRole("button", { name: "Analyse", exact: true }).click();
    await reads(page, ".analysis-form .error", /^No position in this text/);
    assert.equal(await position(page).getAttribute("aria-invalid"), "true");
    await leave(page);
  },
);

inAll(
  "a position is opened by a link, typed, pasted and edited, and errors appear beside the field",
  "the editor sets up a position by pointer and keys, and its link opens that position",
  async () => {
    const page = await enter({ paused: true });
    await explore(page);
    await page.getByRole("button", { name: "Edit the position" }).click();
    const editor = page.getByRole("group", { name: "Position editor" });
    const said = (words) => page.waitForFunction((words) => document.querySelector(".editor-message").textContent.includes(words), words);
    await said("Valid position");
    await editor.getByRole("button", { name: "Empty board" }).click();
    await said("borne off all");
    assert.ok(await editor.getByRole("button", { name: "Apply" }).isDisabled());
    const point = (at) => editor.locator(`[data-place="${at}"]`);
    for (let k = 0; k < 2; k++) await point(6).click();
    await point(4).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Delete");
    await editor.getByLabel("Checkers to place").selectOption("opponent");
    await point(20).click();
    await said("Valid position. On roll: 3 checkers on the board, 12 off, 16 pips; opponent: 1, 14 off, 5 pips.");
    await editor.getByLabel("Match to").fill("5");
    await editor.getByLabel("Score, on roll").fill("5");
    await said("enter less than 5");
    await editor.getByLabel("Score, on roll").fill("4");
    await editor.getByLabel("Crawford game").check();
    await editor.getByLabel("Dice").fill("2 1");
    await said("Valid position");
    await editor.getByRole("button", { name: "Apply" }).click();
    await reads(page, ".analysis .stakes", /Match to 5: player on roll 4, opponent 0, Crawford game/);
    // The editor is closed, and the only board shows the result of the analysis.
    assert.equal(await page.locator(".analysis .board").count(), 1);
    assert.ok(!(await editor.isVisible()));
    await page.getByRole("button", { name: "Ids and a link to copy" }).click();
    const link = await page.getByRole("textbox", { name: "Link to this position" }).textContent();
    const xgid = await page.getByRole("textbox", { name: "XGID", exact: true }).textContent();
    assert.equal(xgid, "XGID=----A-B-------------a-----:0:0:1:21:4:0:1:5:10");
    await page.context().close();
    const other = await enter({ at: new URL(link).search + SMALL, paused: true });
    await reads(other, ".analysis .stakes", /Match to 5/);
    await other.getByRole("button", { name: "Ids and a link to copy" }).click();
    assert.equal(await other.getByRole("textbox", { name: "XGID", exact: true }).textContent(), xgid);
    await leave(other);
  },
);

inAll("match_ids_are_read_composed_and_analysed", "a link with an invalid position shows the reason", async () => {
  const bad = await enter({ at: `?position=nonsense${SMALL}` });
  await bad.getByText(/The position in this link cannot be opened: .*14 characters/).waitFor();
  await leave(bad);
});

inAll(
  "a game accepts moves by pointer, keys and text, refuses illegal moves, and is reviewed",
  "a game is reviewed on the table's board by buttons, keys, its moves and the curve",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    // Opens the review directly after a move, so that no other move is in progress.
    const moves = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const list = document.querySelector(".moves");
          new MutationObserver((_, heard) => {
            if (list.children.length < 6) return;
            heard.disconnect();
            const usable = (one) => !one.hidden && !one.disabled && one.textContent === "Review";
            [...document.querySelectorAll(".table-actions button")].find(usable).click();
            resolve(list.children.length);
          }).observe(list, { childList: true });
        }),
    );
    const shows = (start) => page.waitForFunction((start) => document.querySelector(".review-text").textContent.startsWith(start), start);
    // The watched game waits, and the board steps through it.
    await shows(`${moves} of ${moves}.`);
    assert.equal(await page.locator(".live-panel .board").count(), 1);
    await page.getByRole("button", { name: /^First move/ }).click();
    await shows("1 of ");
    assert.match(await page.locator('.table [data-place="24"]').getAttribute("aria-label"), /2 checkers of yours/);
    await reads(page, ".review-text", /Equity [+−]\d/);
    await page.keyboard.press("ArrowRight");
    await shows("2 of ");
    await page.keyboard.press("End");
    await shows(`${moves} of `);
    await page.keyboard.press("Home");
    await shows("1 of ");
    await page.getByRole("button", { name: /^Review move 3:/ }).click();
    await shows("3 of ");
    assert.equal(await page.locator(".moves [aria-current=true]").count(), 1);
    await page.waitForFunction(
      () =>
        /0\.\d{4} points lost per move in /.test(document.querySelector(".review-rates").textContent) &&
        !/left to judge/.test(document.querySelector(".review-rates").textContent),
    );
    const graph = page.locator(".review-graph");
    const { width, height } = await graph.boundingBox();
    await graph.click({ position: { x: width - 12, y: height / 2 } });
    await shows(`${moves} of `);
    assert.equal(await page.locator(".moves li").count(), moves);
    await page.getByRole("button", { name: "Back to the game" }).click();
    await page.waitForFunction((moves) => document.querySelectorAll(".moves li").length !== moves, moves);
    await leave(page);
  },
);

inAll("save_at_any_slice_resumes_bit_for_bit", "a run is saved and loaded, and pauses while another room is open", async () => {
  const page = await enter();
  await event(page, "metrics", 100);
  const bytes = await saved(page);
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  const began = await ahead(page, "began", 100);
  await page.locator("input[type=file]").setInputFiles({ name: "run.safetensors", mimeType: "application/octet-stream", buffer: bytes });
  const { progress, history } = await began();
  assert.ok(progress.games >= 100 && history.length > 0);
  // Leaves the room and returns. If the worker cannot save the run in time, the page continues from its autosave.
  await kept(page, "hothouse-backgammon");
  await page.locator("#rooms a", { hasText: "Control" }).click();
  await lab(page, "control");
  await page.locator(".environments canvas").waitFor();
  await page.goBack();
  await lab(page, "backgammon");
  // The `began` event may precede the listener, so the test waits for metrics.
  const next = await ahead(page, "metrics");
  await page.evaluate(() => hothouse.command({ kind: "step" }));
  const back = await next();
  assert.ok(back.progress.games >= progress.games, `${back.progress.games} of ${progress.games} games`);
  await leave(page);
});

inAll(
  "backgammon in the module threads-relaxed with 2 threads has the golden digests",
  "a run saved in the page continues natively, and the reverse",
  async () => {
    const dir = folder();
    const page = await enter();
    await eventWhere(page, "metrics", "({ progress }) => progress.games >= 64");
    const path = join(dir, "page.safetensors");
    writeFileSync(path, await saved(page));
    const onward = join(dir, "native.safetensors");
    const lines = (await hothouse(["resume", path, "--cpu-seconds", "2", "--json", "--save", onward])).map((line) => JSON.parse(line));
    const before = lines.find((line) => line.kind === "began").progress.games;
    const { progress } = lines.at(-1);
    assert.ok(before >= 64 && progress.games > before, JSON.stringify(lines.at(-1)));

    const began = await ahead(page, "began");
    await restore(page, readFileSync(onward));
    assert.equal((await began()).progress.games, progress.games);
    await eventWhere(page, "metrics", `({ progress }) => progress.games > ${progress.games}`);
    await page.context().close();
  },
);

inAll(
  "backgammon: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit",
  "the room passes axe in both themes and fits a phone",
  async () => {
    for (const { colorScheme, viewport } of SCREENS) {
      const hasTouch = viewport.width < 400;
      const page = await enter({ context: { colorScheme, viewport, hasTouch } });
      await sit(page);
      await roll(page);
      if (hasTouch) {
        // A touch beside a movable checker selects the checker.
        await page.locator(".table .board.playable").click({ trial: true }); // waits until the page no longer scrolls
        const beside = await page.evaluate(() => {
          const open = (place) => document.querySelector(`.table .board-places .open[data-place="${place}"]`);
          const found =
            [...document.querySelectorAll(".table .board-places .open")].find(
              ({ dataset: { place } }) => place > 6 && place <= 12 && !open(Number(place) - 1),
            ) ?? open(6);
          const { left, right, top, bottom } = found.getBoundingClientRect();
          // In the lower row, point numbers increase to the left.
          return { place: found.dataset.place, x: open(Number(found.dataset.place) + 1) ? right + 4 : left - 4, y: (top + bottom) / 2 };
        });
        await page.touchscreen.tap(beside.x, beside.y);
        await page.waitForFunction(
          (place) => /picked up$/.test(document.querySelector(`.table [data-place="${place}"]`).ariaLabel),
          beside.place,
        );
        await page.keyboard.press("Escape");
      }
      await button(page, "Hint").click();
      await page.locator(".considered .candidates").waitFor();
      await accessible(page);
      for (const [name, opened] of [
        ["Resign", "Resign a gammon"],
        ["New match", "Start match"],
      ]) {
        await button(page, name).click();
        await page.getByRole("button", { name: opened }).waitFor();
        await accessible(page, "dialog[open]");
        await page.keyboard.press("Escape");
      }
      await fits(page);
      const places = page.locator(".table .board-places button");
      assert.ok((await places.count()) >= 24);
      await large(places, "width");
      await playOut(page);
      await press(page, "Confirm");
      await page
        .getByRole("button", { name: /^Review move 1/ })
        .first()
        .click();
      await page.getByRole("button", { name: "Back to the game" }).waitFor();
      await accessible(page);
      await explore(page);
      await page.getByRole("button", { name: "Analyse", exact: true }).click();
      await page.locator(".analysis .candidates").waitFor();
      await accessible(page);
      await page.getByRole("button", { name: "Edit the position" }).click();
      await page.locator(".editor-message", { hasText: "Valid position" }).waitFor();
      await accessible(page);
      await fits(page);
      await page.context().close();
    }
  },
);

inAll(
  "the network fits its card at full size, and its units are drawn with weights or gradients as edges",
  "the units of the network are drawn for the position at the table",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    await pause(page);
    await place(page, "Explore", "Network");
    const canvas = '.units canvas[aria-label^="Network for contact: 32, 32, 6 units; outputs: win "]';
    await page.locator(canvas).waitFor();
    await isDrawn(page, canvas, "weights");
    await page.locator(".units label", { hasText: "Gradients" }).click();
    await isDrawn(page, canvas, "gradients");
    await page.getByRole("heading", { name: "Weights and gradients" }).scrollIntoViewIfNeeded(); // they are sampled on the screen only
    await page.getByLabel("Layer", { exact: true }).selectOption("race.1");
    await page.locator(".tensor figcaption", { hasText: "Activations of the layer" }).first().waitFor();
    assert.deepEqual(page.said, []);
    await leave(page);
  },
);
