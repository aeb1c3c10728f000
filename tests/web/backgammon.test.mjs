// The backgammon room: training, play by pointer, keys and text, analysis of positions, saving and loading. Other tests measure the
// agent's strength.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ahead as aheadOf, aheadWhere, eventWhere, folder, hothouse, house, inWorkers, lab, saved } from "./fixture.mjs";
import { accessible, entrance, fits, large, leave, reads, SCREENS } from "./rooms.mjs";

const here = house();

/** Address of a small run with short rounds and few games against the baselines. */
const SMALL = "#/backgammon?games=32&hidden=32&v=2";

const enter = entrance(here, "backgammon", SMALL);
/** Next event of a kind. With `games`, the first one with at least that number of games in its progress. */
const ahead = (page, kind, games = 0) =>
  games ? aheadWhere(page, kind, `(event) => (event.progress?.games ?? 0) >= ${games}`) : aheadOf(page, kind);
const event = async (page, kind, games) => (await ahead(page, kind, games))();
const button = (page, name) => page.locator(".table-actions button", { hasText: new RegExp(`^${name}$`) });
const places = (page, kind) => page.locator(`.table .board-places .${kind}`);
/** Waits for the visitor's turn: dice to roll, checkers to move, or no legal move. */
const ownTurn = (page) =>
  page.waitForFunction(
    () =>
      [...document.querySelectorAll(".table-actions button")].some((one) => !one.hidden && /^(Roll|Confirm)$/.test(one.textContent)) ||
      document.querySelector(".table .board-places .open"),
  );
/** Starts a match against an opponent that moves without delay, because its look-ahead is 0. */
async function sit(page, against = "random moves") {
  await page.getByText("Play the agent", { exact: true }).click();
  await page.getByLabel("Against").selectOption({ label: against });
  await page.locator(".setup").getByLabel("Look-ahead").selectOption("0");
  await page.getByRole("button", { name: "New match" }).first().click();
  await button(page, "Roll").waitFor();
}
/** Moves until no move is left. */
async function playOut(page) {
  while (await places(page, "open").count()) {
    await places(page, "open").first().click();
    await places(page, "target").first().click();
    await ownTurn(page);
  }
}
/** Presses a button of the table if it is visible. It may be hidden, because the table can advance without the visitor. */
const press = (page, name) =>
  page.evaluate(
    (name) => [...document.querySelectorAll(".table-actions button")].find((one) => !one.hidden && one.textContent === name)?.click(),
    name,
  );
/** Rolls, and confirms turns without a move, until there is a legal move. */
async function roll(page, how = () => press(page, "Roll")) {
  for (;;) {
    await ownTurn(page);
    if (await places(page, "open").count()) return;
    await press(page, "Confirm");
    if (await button(page, "Roll").isVisible()) await how();
    await page.waitForTimeout(50);
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
  await page.waitForFunction(() =>
    /random .* pubeval .* after/.test(document.querySelector(".main-chart .plot").getAttribute("aria-label")),
  );
  // The page lists the candidate moves. The tree shows one level more.
  await page.waitForFunction(() => document.querySelectorAll(".considered .candidates tbody tr").length > 1);
  await page.waitForFunction(() => document.querySelectorAll(".considered .tree .dot").length >= 21);
  assert.equal(await page.locator("h1").textContent(), "An agent that teaches itself backgammon");
  assert.equal(await page.locator("#rooms [aria-current=page]").textContent(), "Backgammon");
  await page.getByRole("button", { name: "Points per game as a table" }).click();
  assert.match(await page.getByRole("region", { name: "Points per game as a table" }).locator("tbody tr").first().textContent(), /±/);
  await leave(page);
});

test("move entry, hint and verdict at the table are visible without scrolling", async () => {
  const page = await enter({ context: { viewport: { width: 1440, height: 900 } } });
  await sit(page);
  await roll(page);
  await page.evaluate(() => scrollTo(0, 0));
  const above = async (name) => {
    const { bottom, bar } = await page.evaluate(
      (name) => ({
        bottom: document.querySelector(name).getBoundingClientRect().bottom,
        bar: document.querySelector(".transport").getBoundingClientRect().top,
      }),
      name,
    );
    assert.ok(bottom > 0 && bottom <= bar, `${name} ends at ${bottom}, the bar begins at ${bar}`);
  };
  await above(".table .writing");
  await button(page, "Hint").click();
  await reads(page, ".verdict", /^Hint: \S+/);
  await above(".table .verdict");
  await page.locator(".considered .candidates button").first().click();
  await button(page, "Confirm").click();
  await reads(page, ".verdict", /^Your last move/);
  await above(".table .verdict");
  // The board shows the opponent's answer to a double.
  await button(page, "Double").click();
  await page.waitForFunction(() => document.querySelector(".table .playable .word").textContent === "Takes");
  await reads(page, ".table-status", /takes: the cube is at 2/);
  assert.equal(await page.locator(".table .playable .word").textContent(), "Takes");
  await page.context().close();
});

test("a game accepts moves by pointer, keys and text, and refuses illegal moves", async () => {
  const page = await enter();
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
  await button(page, "Undo").waitFor();
  assert.notDeepEqual(await names(), before);
  await button(page, "Undo").click();
  await page.waitForFunction(
    () => [...document.querySelectorAll(".table-actions button")].find((one) => one.textContent === "Undo").hidden,
  );
  assert.deepEqual(await names(), before);
  await playOut(page);
  await button(page, "Confirm").click();
  await reads(page, ".verdict", /ranks \d+ of|[Bb]est of|only move/);
  // The next turn uses keys only.
  await page.locator("h1").click();
  await roll(page, () => page.keyboard.press("d"));
  await page.keyboard.press("b");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /can move$/);
  const focused = () => page.evaluate(() => Number(document.activeElement.dataset.place));
  const point = await focused();
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await focused(), point);
  await page.keyboard.press("b");
  while (await places(page, "open").count()) {
    await page.keyboard.press("b");
    await page.keyboard.press("Enter");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /picked up$/);
    await page.keyboard.press("Enter");
    await ownTurn(page);
  }
  await page.keyboard.press("d");
  // The next turn uses the text field, with the text of a hint.
  await roll(page);
  const written = page.getByLabel("Or type the move");
  await written.fill("31/2");
  await written.press("Enter");
  await page.waitForFunction(() => document.querySelector(".table > .error").textContent.length > 20);
  assert.equal(await written.getAttribute("aria-invalid"), "true");
  await button(page, "Hint").click();
  await page.getByText("Hint for you").first().waitFor();
  const best = await page.locator(".considered .candidates tbody button").first().textContent();
  await written.fill(best);
  await written.press("Enter");
  await button(page, "Confirm").click();
  await reads(page, ".verdict", /Best of|only move/);
  await page.getByRole("button", { name: "Moves of this game" }).click();
  assert.ok((await page.locator(".moves li").count()) >= 5);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the match" }).click()]);
  assert.match(file.suggestedFilename(), /\.mat$/);
  await leave(page);
});

test("a new match stops the animation of the watched game", async () => {
  const page = await enter();
  for (let round = 0; round < 3; round++) {
    // The new match starts while the dice of a watched move are shown and before its checkers move.
    await page.getByText("Watch self-play", { exact: true }).click();
    const seen = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const places = document.querySelector(".table .board-places");
          const counts = () => [...places.children].map((one) => one.getAttribute("aria-label").replace(/, (can|taken).*$/, "")).join("; ");
          const heading = document.querySelector(".considered h2");
          new MutationObserver((_, heard) => {
            if (!/ with \d-\d$/.test(heading.textContent)) return;
            heard.disconnect();
            [...document.querySelectorAll(".table .layers label")].find((one) => one.textContent === "Play the agent").click();
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
});

test("the agent after one minute becomes available as an opponent", async () => {
  // The worker's clock runs faster, so that a minute passes sooner.
  const init = inWorkers("const now = performance.now.bind(performance); performance.now = () => 20 * now()");
  const page = await enter({ init, context: { bypassCSP: true } });
  const kept = await aheadWhere(page, "room", "({ event }) => event.kind === 'frozen'");
  const choice = page.getByLabel("Against").locator("option", { hasText: "agent after 1 minute" });
  assert.equal(await choice.textContent(), "agent after 1 minute (not reached yet)");
  assert.ok(await choice.isDisabled());
  const { minutes, progress } = (await kept()).event;
  assert.deepEqual([minutes, progress.train_s >= 60 && progress.counts[0] > 0], [1, true]);
  await sit(page, "agent after 1 minute");
  assert.equal(await page.locator(".seat.theirs strong").textContent(), "The agent at 1 min");
  await page.getByRole("button", { name: "Moves of this game" }).click();
  const theirs = page.locator(".moves li", { hasText: "agent at 1 min" });
  await roll(page);
  const before = await theirs.count();
  await playOut(page);
  // The opponent also plays while the board is off-screen.
  const below = () =>
    page.evaluate(
      () =>
        new Promise((resolve) =>
          new IntersectionObserver(([board], seen) => (seen.disconnect(), resolve(!board.isIntersecting))).observe(
            document.querySelector(".table .board"),
          ),
        ),
    );
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  assert.ok(await below());
  await press(page, "Confirm");
  await theirs.nth(before).waitFor();
  assert.match(await theirs.nth(before).textContent(), /\d-\d.*\/|cannot move|doubles/);
  assert.ok(await below());
  await leave(page);
});

test("a position id is analysed, and errors appear beside the field", async () => {
  const page = await enter();
  await event(page, "metrics");
  const id = page.getByLabel(/^Position id/);
  const dice = page.locator(".analysis-form").getByLabel(/^Dice/);
  const ask = page.getByRole("button", { name: "Analyse", exact: true });
  await id.fill("4HPwATDgc/ABMA");
  await dice.fill("3 1");
  // Without a search the table has a single group of moves.
  await page.locator(".analysis-form").getByLabel("Look-ahead").selectOption("0");
  await ask.click();
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
  await leave(page);
});

test("moves are grouped by search depth in the hint and in the analysis", async () => {
  const page = await enter();
  await event(page, "metrics");
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
  const analysed = await groups(".analysis");
  check(analysed);
  assert.equal(analysed.at(-1).ply, "0-ply, not searched");
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

test("a match id sets score and cube, cube decisions are analysed, and a refused position shows no result", async () => {
  const page = await enter();
  await event(page, "metrics");
  const id = page.getByLabel(/^Position id/);
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
  assert.ok((await page.locator(".analysis .candidates tbody tr").count()) > 5);
  await id.fill("4HPwATDgc/ABMA:cAkAAAAAAAA");
  await ask.click();
  await reads(page, ".analysis .error", /match id has 12 characters, found 11/);
  assert.equal(await page.locator(".analysis .candidates, .analysis .position-links *").count(), 0);
  assert.equal(await page.locator(".analysis .tree").isVisible(), false);
  await leave(page);
});

test("the editor sets up a position by pointer and keys, and its link opens that position", async () => {
  const page = await enter();
  await event(page, "metrics");
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
  const link = await page.getByRole("textbox", { name: "Link to this position" }).textContent();
  const xgid = await page.getByRole("textbox", { name: "XGID", exact: true }).textContent();
  assert.equal(xgid, "XGID=----A-B-------------a-----:0:0:1:21:4:0:1:5:10");
  await page.context().close();
  const other = await enter({ at: new URL(link).search + SMALL });
  await reads(other, ".analysis .stakes", /Match to 5/);
  assert.equal(await other.getByRole("textbox", { name: "XGID", exact: true }).textContent(), xgid);
  await leave(other);
  const bad = await enter({ at: `?position=nonsense${SMALL}` });
  await bad.getByText(/The position in this link cannot be opened: .*14 characters/).waitFor();
  await leave(bad);
});

test("a replay is controlled by buttons, keys and the curve, and judges errors", async () => {
  const page = await enter();
  await event(page, "metrics");
  await page.getByText("Watch self-play", { exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll(".moves li").length >= 6);
  await page.getByRole("button", { name: "Pause the game" }).click();
  await page.getByRole("button", { name: "Replay this game" }).click();
  const showsMove = (start) => page.waitForFunction((start) => document.querySelector(".replay-text").textContent.startsWith(start), start);
  const moves = await page.locator(".moves li").count();
  await page.getByRole("button", { name: /^First move/ }).click();
  await showsMove(`1 of `);
  await reads(page, ".replay-text", /Equity [+−]\d/);
  await page.locator(".replay").focus();
  await page.keyboard.press("ArrowRight");
  await showsMove("2 of ");
  await page.keyboard.press("End");
  await page.waitForFunction((moves) => Number(document.querySelector(".replay-text").textContent.split(" ")[0]) >= moves, moves);
  await page.keyboard.press("Home");
  await showsMove("1 of ");
  await page.waitForFunction(
    () =>
      /0\.\d{4} a move over/.test(document.querySelector(".replay-rates").textContent) &&
      !/left to judge/.test(document.querySelector(".replay-rates").textContent),
  );
  const box = await page.locator(".replay-graph").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => !document.querySelector(".replay-text").textContent.startsWith("1 of "));
  await leave(page);
});

test("a run is saved and loaded, and pauses while another room is open", async () => {
  const page = await enter();
  await event(page, "metrics", 100);
  const bytes = await saved(page);
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  const began = await ahead(page, "began", 100);
  await page.locator("input[type=file]").setInputFiles({ name: "run.safetensors", mimeType: "application/octet-stream", buffer: bytes });
  const { progress, history } = await began();
  assert.ok(progress.games >= 100 && history.length > 0);
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

test("a run saved in the page continues natively, and the reverse", async () => {
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
  await page.evaluate((bytes) => hothouse.command({ kind: "restore", bytes: new Uint8Array(bytes) }), Array.from(readFileSync(onward)));
  assert.equal((await began()).progress.games, progress.games);
  await eventWhere(page, "metrics", `({ progress }) => progress.games > ${progress.games}`);
  await page.context().close();
});

test("the room passes axe in both themes and fits a phone", async () => {
  for (const { colorScheme, viewport } of SCREENS) {
    const hasTouch = viewport.width < 400;
    const page = await enter({ context: { colorScheme, viewport, hasTouch } });
    await sit(page);
    await roll(page);
    if (hasTouch) {
      // A touch beside a movable checker selects the checker.
      await page.locator(".table .board.playable").scrollIntoViewIfNeeded();
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
    await page.getByRole("button", { name: "Analyse", exact: true }).click();
    await page.locator(".analysis .candidates").waitFor();
    await accessible(page);
    await button(page, "Resign").click();
    await page.getByRole("button", { name: "Resign a gammon" }).waitFor();
    await accessible(page, "dialog[open]");
    await page.keyboard.press("Escape");
    await fits(page);
    // The page also has the hidden board of a replay, whose places do not count.
    const places = page.locator(".table .board-places button:visible");
    assert.ok((await places.count()) >= 24);
    await large(places, "width");
    await page.context().close();
  }
});
