// The cube room: training and automatic tries; turns by keys, pointer and text; solutions; the comparison of methods; cubes that the
// visitor paints. Other tests measure how well the agent learns.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, aheadWhere, event, house, part, place, until } from "./fixture.mjs";
import { tellEvents } from "./messages.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, addressOf, ask, entrance, fits, isDrawn, large, leave, narrows, reads, SCREENS } from "./rooms.mjs";

const here = house();
replays(here);

/** Address of a run with a small network, short steps and a short test of all states. */
const SMALL = "#/cube?hidden=32-16&walk=14&v=2";
const SOLVED = "UUUURRRRFFFFDDDDLLLLBBBB";

// Waits until the cube has facelets, which it has once the run has begun. An earlier action would be lost, because the beginning of a run
// resets the controls.
const READY = ".cube-picture[data-facelets] canvas";
const enter = entrance(here, "cube", SMALL, READY);
/** Opens a recorded run, which shows a cube but does not train. */
const enterReplay = entrance(here, "cube", addressOf("cube"), READY, replayed);
/** Opens a run and pauses it after its first iteration, because before that an estimate may be negative. */
const enterPaused = async (settings) => {
  const page = await enter(settings);
  await until(page, "hothouse.progress?.train_s > 0");
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  return page;
};
/** Stops the agent's automatic tries. */
const still = async (page) => {
  const autoPlay = page.getByRole("switch", { name: "Auto-play" });
  if (await autoPlay.isChecked()) await autoPlay.press("Space"); // a pointer could miss it while the stage changes its size
};
/** Returns half of the cube's edge in px, at the depth of the cube's centre. The canvas has room for turning layers and the shadow. */
const unitOf = ({ width, height }) => Math.min(width / 3.58, height / 3.74);
/** Returns the displayed stickers, as face letters in the order of the faces U, R, F, D, L, B. */
const shown = (page) => page.locator(".cube-picture").getAttribute("data-facelets");
const showing = (page, words) => reads(page, ".cube-status", new RegExp(words));
/** Opens the further controls under the cube. */
const more = (page) => page.getByRole("button", { name: "More", exact: true }).click();
/** Locates the moves of the shown solution. */
const strip = (page) => page.locator(".solution-moves span:not(:first-child)");
/** Waits until the cube shows the end of the solution. */
const played = (page) => page.waitForFunction(() => document.querySelector(".solution-moves span:last-child.here:not(:first-child)"));
const write = async (page, moves) => {
  const field = page.getByLabel("Moves", { exact: true });
  await field.fill(moves);
  await field.press("Enter");
};
/** Waits until the canvas shows a cube. */
const drawn = (page) =>
  page.waitForFunction(() => {
    const canvas = document.querySelector(".cube-picture canvas");
    return canvas.getContext("2d").getImageData(canvas.width >> 1, canvas.height >> 1, 1, 1).data[3] === 255;
  });
const fresh = async (page) => {
  await page.evaluate(() => [...document.querySelectorAll(".cube-more button")].find((one) => one.textContent === "Solved cube").click());
  assert.equal(await shown(page), SOLVED);
};

test("the agent trains without a click, and tries scrambles automatically", async () => {
  const page = await enter();
  await until(page, "hothouse.progress?.train_s > 0");
  // The first test takes seconds, so the test reads the iterations before it, those of a new run.
  const rows = [
    await aheadWhere(page, "metrics", "({ progress }) => progress.iteration === 1"),
    await aheadWhere(page, "metrics", "({ progress }) => progress.iteration === 2"),
  ];
  await page.evaluate(() => hothouse.command({ kind: "reset", config: null }));
  const [first, later] = [await rows[0](), await rows[1]()];
  assert.ok(later.progress.states > first.progress.states && later.states_per_s > 0 && later.loss > 0);
  await showing(page, "^Auto-play: \\d+ quarter turns? from solved; the agent takes \\d+ quarter turns?");
  await leave(page);
});

test("the solve rates of the latest test are bars and a table, and those of the test before are outlines", async () => {
  const page = await enterReplay({ paused: true });
  const bars = (source) =>
    page.waitForFunction(
      (source) => new RegExp(source).test(document.querySelector(".depths .bars-field").getAttribute("aria-label")),
      source,
    );
  await bars("depth 1 \\d.*depth 14 ");
  const [progress, values] = await page.evaluate(() => [hothouse.progress, hothouse.room.tests.map(() => 0.25)]);
  await tellEvents(page, { kind: "test", progress, values });
  await bars("depth 1 25%.*depth 14 25%");
  await page.waitForFunction(() => [...document.querySelectorAll(".depths .bar-ghost")].some((ghost) => !ghost.hidden));
  await page.getByRole("button", { name: "Solve rate by depth as a table" }).click();
  const cells = await page
    .getByRole("region", { name: "Solve rate by depth as a table" })
    .locator("tbody tr")
    .last()
    .locator("th, td")
    .allTextContents();
  assert.deepEqual([cells[0], cells.at(-1)], ["14", "276"]);
  await reads(page, ".lead", /^(Learning|Solved at .*)\. After .*: the latest test solved/);
  assert.equal(await page.locator("h1").textContent(), "An agent that learns to solve the 2x2x2");
  await leave(page);
});

inAll(
  "the agent trains without a click, and tries scrambles automatically",
  "the agent is tested on every state, with bars that have the bars of the test before as outlines",
  async () => {
    const page = await enter();
    const tested = await ahead(page, "test");
    const row = await tested();
    assert.ok(row.at_1 > 0 && row.solved > 0 && row.optimal <= row.solved, JSON.stringify(row));
    await page.waitForFunction(() =>
      /depth 1 \d.*depth 14 /.test(document.querySelector(".depths .bars-field").getAttribute("aria-label")),
    );
    await event(page, "test", row.progress.iteration + 1);
    await page.waitForFunction(() => [...document.querySelectorAll(".depths .bar-ghost")].some((ghost) => !ghost.hidden));
    await leave(page);
  },
);

test("keys, buttons, text and undo turn the cube; a custom cube is painted and typed, and an invalid one shows the reason", async () => {
  const page = await enterPaused({ context: { reducedMotion: "reduce" } });
  await still(page);
  await fresh(page);
  await more(page);
  await page.locator("h1").click();
  await page.keyboard.press("c");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "application");
  for (const key of ["r", "u", "Shift+F", "d", "Shift+L", "b", "b"]) await page.keyboard.press(key);
  const turned = async (moves) => (await ask(page, { ask: "turn", facelets: SOLVED, moves })).facelets;
  assert.equal(await shown(page), await turned("R U F' D L' B B"));
  // The run continued, because the key r on the cube does not start a new run.
  assert.ok((await page.evaluate(() => hothouse.progress.train_s)) > 0);
  await page.keyboard.press("Backspace");
  await page.keyboard.press("z");
  assert.equal(await shown(page), await turned("R U F' D L'"));
  await page.getByRole("button", { name: "Turn U prime" }).click();
  assert.equal(await shown(page), await turned("R U F' D L' U'"));
  // A half turn is one move, and is undone as one.
  await page.getByRole("button", { name: "Turn B2" }).click();
  await showing(page, "^B2\\.");
  assert.equal(await shown(page), await turned("R U F' D L' U' B2"));
  await page.getByRole("button", { name: "Undo" }).click();
  await showing(page, "^B2 \\(undo\\)");
  assert.equal(await shown(page), await turned("R U F' D L' U'"));
  await write(page, "R2 B’F");
  await page.waitForFunction(() => document.querySelector(".writing-moves input").value === "");
  assert.equal(await shown(page), await turned("R U F' D L' U' R2 B' F"));
  const before = await shown(page);
  await write(page, "R U x");
  await reads(page, ".cube-pane .error", /turns the whole cube/);
  assert.equal(await page.locator(".writing-moves input").getAttribute("aria-invalid"), "true");
  assert.equal(await shown(page), before);
  // The page shows the known distance beside the agent's estimate.
  await reads(page, ".reading", /^Estimate\d+\.\dShortest\d+quarter turns \(\d+ turns?\)$/);
  assert.equal(await page.locator(".actions tbody tr").count(), 6);
  assert.equal(await page.locator(".actions tr.best").count(), 1);
  // Keys in a field do not turn the cube.
  await page.locator(".writing-moves input").focus();
  await page.keyboard.press("u");
  assert.equal(await shown(page), before);
  const verdict = (words) => reads(page, ".own-verdict", new RegExp(words));
  await place(page, "Explore", "Your own cube");
  await verdict("solved cube");
  const cell = (name) => page.locator(".net").getByRole("button", { name: new RegExp(`^${name},`) });
  // Paints a sticker, so that one colour occurs too often.
  await page.locator(".palette label").nth(1).click();
  await cell("U1").click();
  await verdict("occurs 5 times");
  assert.ok(await page.locator(".own-verdict.wrong").count());
  await page.locator(".own").getByRole("button", { name: "Solve it" }).click({ force: true });
  assert.ok(await page.locator(".own-verdict.wrong").count());
  // The key `u` paints the sticker with its previous colour.
  await cell("U1").focus();
  await page.keyboard.press("u");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^U2,/);
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^U4,/);
  await verdict("solved cube");
  // Enters the text of a cube with a twisted corner.
  const text = page.getByLabel("Facelets, or the moves of a scramble");
  const read = async (words) => {
    await text.fill(words);
    await text.press("Enter");
  };
  await read("UUURFRRRFUFFDDDDLLLLBBBB");
  await verdict("twisted");
  assert.equal(await text.getAttribute("aria-invalid"), "true");
  await read("UUUURRRR");
  await verdict("24 stickers, found 8");
  await read("R U Q");
  await verdict("is not a move");
  // Colour letters give the same state as moves.
  await read("R U R' U'");
  await verdict("Valid cube. Shortest: 4 quarter turns .*Agent's estimate: \\d+\\.\\d quarter turns\\.$");
  const painted = () => page.locator(".net button").evaluateAll((all) => all.map((one) => one.textContent).join(""));
  const state = await painted();
  assert.equal(state, (await ask(page, { ask: "turn", facelets: SOLVED, moves: "R U R' U'" })).facelets);
  await page.getByRole("button", { name: "Start from solved" }).click();
  await verdict("solved cube");
  await read(state.replaceAll(/./g, (face) => ({ U: "w", R: "r", F: "g", D: "y", L: "o", B: "b" })[face]));
  await verdict("Valid cube. Shortest: 4 quarter turns");
  assert.equal(await painted(), state);
  await page.locator(".own").getByRole("button", { name: "Solve it" }).click();
  await showing(page, "Solved in 4 turns \\(4 quarter turns\\)\\. Shortest: 4 quarter turns");
  await played(page);
  assert.equal(await shown(page), SOLVED);
  await leave(page);
});

test("dragging a sticker turns its layer, by mouse and by touch; dragging beside the cube turns the view", async () => {
  const page = await enterReplay({ context: { hasTouch: true } });
  await still(page);
  await fresh(page);
  await drawn(page);
  await page.evaluate(() => scrollTo(0, 0));
  const box = await page.locator(".cube-picture canvas").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const pull = async (from, to) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    for (const share of [0.25, 0.5, 0.75, 1])
      await page.mouse.move(from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]));
    await page.waitForTimeout(200);
    await page.mouse.up();
  };
  /** Stickers of the solved cube after a turn. */
  const TURNED = { R: "UFUFRRRRFDFDDBDBLLLLUBUB", "U'": "UUUUFFRRLLFFDDDDBBLLRRBB" };
  // The front face is left of the centre and below it. Dragging its right column up is the turn R.
  const unit = unitOf(box);
  const sticker = [x - 0.12 * unit, y + 0.2 * unit];
  await pull(sticker, [sticker[0], sticker[1] - 1.3 * unit]);
  assert.equal(await shown(page), TURNED.R);
  await fresh(page);
  await pull(sticker, [sticker[0] + 1.3 * unit, sticker[1] + 0.5 * unit]);
  assert.equal(await shown(page), TURNED["U'"]);
  // A slow drag over a good third of the quarter turn completes the turn.
  await fresh(page);
  await pull(sticker, [sticker[0], sticker[1] - 0.6 * unit]);
  assert.equal(await shown(page), TURNED.R);
  // A short drag snaps back.
  await fresh(page);
  await pull(sticker, [sticker[0], sticker[1] - 0.2 * unit]);
  assert.equal(await shown(page), SOLVED);
  // A drag beside the cube turns only the view.
  await pull([box.x + 12, box.y + 12], [box.x + 212, box.y + 30]);
  assert.equal(await shown(page), SOLVED);
  // With reduced motion, the page scrolls without animation. The view is reset when the page next draws the cube, at the latest when a
  // visitor touches it.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await more(page);
  await page.getByRole("button", { name: "Reset view" }).click();
  await page.evaluate(() => scrollTo(0, 0));
  // A drag by touch turns the layer too.
  const cdp = await page.context().newCDPSession(page);
  const touch = (type, points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  const scrolled = await page.evaluate(() => scrollY);
  await touch("touchStart", [sticker]);
  for (const share of [0.2, 0.4, 0.6, 0.8, 1]) await touch("touchMove", [[sticker[0], sticker[1] - share * 1.3 * unit]]);
  await page.waitForTimeout(200);
  await touch("touchEnd", []);
  await reads(page, ".cube-status", /^R\./);
  assert.equal(await shown(page), TURNED.R);
  assert.equal(await page.evaluate(() => scrollY), scrolled);
  await leave(page);
});

test("the cube is scrambled by presets and by distance, solved visibly, and methods are compared", async () => {
  // With reduced motion a scramble is not animated, and Auto-play is off at first.
  const page = await enterPaused({ context: { reducedMotion: "reduce" } });
  await page.getByRole("switch", { name: "Auto-play" }).press("Space");
  await page.getByRole("button", { name: "Scramble", exact: true }).click();
  await showing(page, "^Scrambled by 11 turns \\(\\d+ quarter turns\\); \\d+ quarter turns? from solved\\.$");
  assert.ok(!(await page.getByRole("switch", { name: "Auto-play" }).isChecked()));
  const scramble = (await page.locator(".scramble-moves").textContent()).replace(/^Scramble: /, "");
  assert.equal(scramble.split(" ").length, 11);
  assert.equal(await shown(page), (await ask(page, { ask: "turn", facelets: SOLVED, moves: scramble })).facelets);
  await page.getByLabel("Length", { exact: true }).selectOption("Farthest state");
  await page.getByRole("button", { name: "Scramble", exact: true }).click();
  await showing(page, "^Farthest state; 14 quarter turns from solved\\.$");
  await page.getByLabel("Length", { exact: true }).selectOption("Random state");
  await page.getByRole("button", { name: "Scramble", exact: true }).click();
  await showing(page, "^Random state; \\d+ quarter turns? from solved\\.$");
  await more(page);
  const draw = async (distance) => {
    await page.getByLabel("Distance", { exact: true }).fill(`${distance}`);
    await page.getByRole("button", { name: "Random position" }).click();
    await showing(page, `^Random position; ${distance} quarter turns from solved`);
  };
  await draw(5);
  assert.equal((await ask(page, { ask: "look", facelets: await shown(page) })).distance, 5);
  await page.getByLabel("Method", { exact: true }).selectOption("exact");
  await page.getByRole("button", { name: "Solve it" }).first().click();
  await showing(page, "^Solved in \\d turns \\(5 quarter turns\\)\\. Shortest: 5 quarter turns\\. Exact table");
  await page.getByLabel("Speed", { exact: true }).selectOption({ label: "Fast" });
  await played(page);
  assert.equal(await shown(page), SOLVED);
  // The solution can be stepped by keys and by clicks.
  const moves = page.getByRole("slider", { name: "Moves of the solution" });
  await moves.press("ArrowLeft");
  assert.notEqual(await shown(page), SOLVED);
  await moves.press("End");
  assert.equal(await shown(page), SOLVED);
  await page.locator(".solution-moves span").first().click();
  assert.equal((await ask(page, { ask: "look", facelets: await shown(page) })).distance, 5);
  assert.match(await moves.getAttribute("aria-valuetext"), /^0 of \d$/);
  await page.waitForFunction(() =>
    /after move 0 of \d, agent's estimate [\d.]+, shortest 5/.test(document.querySelector(".values-plot").getAttribute("aria-label")),
  );
  await place(page, "Explore", "Method comparison");
  await page.getByRole("button", { name: "Compare on this state" }).click();
  await page
    .getByText(/\d of 5 methods solved it/)
    .first()
    .waitFor();
  const exact = await page.locator(".methods tbody tr").last().locator("td").allTextContents();
  assert.deepEqual([exact[0], ...exact.slice(2, 4)], ["yes", "5", "5 quarter turns"]);
  await page.getByRole("button", { name: "Watch the solution of Exact table" }).click();
  await played(page);
  assert.equal(await shown(page), SOLVED);
  // A failed search reports its depth and a next step.
  await draw(14);
  await page.getByLabel("Method", { exact: true }).selectOption("beam");
  await page.locator(".cube-more").getByLabel("Width").selectOption("1024");
  await page.locator(".cube-more").getByLabel("Node limit").selectOption("1000");
  await page.getByRole("button", { name: "Solve it" }).first().click();
  await showing(page, "no solution found");
  assert.match(
    await page.locator(".cube-pane .error").textContent(),
    /\d+ moves ahead and reached the limit of nodes, with \d+ nodes generated.*wider beam or more nodes/,
  );
  await leave(page);
});

test("the explanation of deep Q-learning states the techniques and the target of the run's settings", async () => {
  const { explanations } = await part("rooms/cube/explanations");
  const [variant, puzzle] = [
    { id: "2x2x2-dqn", summary: "" },
    { gives: "action_values", exact: true },
  ];
  const of = (settings) => explanations(variant, puzzle, settings)[0];
  const spoken = ({ equation }) => equation.match(/aria-label="([^"]*)"/)[1];
  const tuned = of({ double: 0, dueling: 1, prioritised: 1, n_step: 1 });
  assert.match(tuned.words, /this run uses dueling heads and prioritised replay\.$/);
  assert.match(spoken(tuned), /the reward plus gamma times the target network's value of its own best action/);
  assert.doesNotMatch(tuned.equation, /argmax/);
  const later = of({ double: 1, dueling: 0, prioritised: 0, n_step: 3 });
  assert.match(later.words, /this run uses double Q-learning and returns of 3 steps\.$/);
  assert.match(
    spoken(later),
    /discounted reward of 3 moves plus gamma to the 3 times the target network's value of the online network's best/,
  );
  assert.match(later.equation, /argmax/);
});

test("auto-play without known distances reaches full scrambles after a few successes, and remembers the longest", async () => {
  const { Practice } = await part("rooms/cube/practice");
  const practice = new Practice(() => 0);
  practice.begin("quarter");
  const puzzle = { size: 3, exact: false };
  const depths = [];
  for (let s = 1; s <= 6; s++) {
    depths.push(practice.depth);
    practice.tried(true, puzzle, s);
  }
  assert.deepEqual(depths.slice(0, 5), [1, 3, 6, 10, 16]);
  assert.deepEqual(practice.farthest, { depth: depths[5], train_s: 6 });
  practice.depth = 4;
  practice.tried(false, puzzle, 7);
  assert.deepEqual([practice.depth, practice.farthest.train_s], [3, 6]);
});

test("the charts of the 3x3x3 have only the columns of its test", async () => {
  const { chartsOf } = await part("rooms/cube/text");
  assert.deepEqual([chartsOf({ exact: false }).solved.columns, chartsOf({ exact: true }).solved.columns], [["solved"], undefined]);
  assert.deepEqual([chartsOf({ exact: false }).length.columns, chartsOf({ exact: true }).length.columns], [["length"], ["excess"]]);
});

test("successive turns of a face become one move in half turns, and a half turn two moves in quarter turns", async () => {
  const { written, lengthOf } = await part("rooms/cube/notation");
  const names = (moves, metric) =>
    written(moves.split(" "), metric)
      .map(({ name }) => name)
      .join(" ");
  assert.equal(names("U U R F' F' R' R' R' U", "half"), "U2 R F2 R U");
  assert.equal(names("U2 R F' L2", "quarter"), "U U R F' L L");
  assert.equal(names("R U U' R", "half"), "R2");
  // `to` is the number of the worker's moves up to the end of a written move. It is undefined for the first half of a half turn that is
  // written as two quarter turns.
  assert.deepEqual(
    written(["U", "U", "R2"], "half").map(({ to }) => to),
    [2, 3],
  );
  assert.deepEqual(
    written(["R2", "U"], "quarter").map(({ to }) => to),
    [undefined, 1, 2],
  );
  assert.equal(lengthOf(["U", "U", "R"], "half", "quarter"), "2 turns (3 quarter turns)");
  assert.equal(lengthOf(["U"], "quarter", "quarter"), "1 quarter turn");
});

test("a random scramble has the chosen number of moves, none of which extends the one before", async () => {
  const { scramble, presets } = await part("rooms/cube/scrambles");
  const { written } = await part("rooms/cube/notation");
  for (const size of [2, 3])
    for (const notation of ["half", "quarter"]) {
      const all = Array.from({ length: 40 }, () => scramble(size, 25, notation));
      for (const moves of all) assert.deepEqual([written(moves, notation).length, moves.length], [25, 25]);
      const faces = new Set(all.flat().map((name) => name[0]));
      assert.equal([...faces].sort().join(""), size === 2 ? "FRU" : "BDFLRU");
      assert.equal(
        all.flat().some((name) => name.endsWith("2")),
        notation === "half",
      );
    }
  const names = (size, notation) => presets({ size, exact: size === 2 }, notation, "quarter").map(({ words }) => words);
  assert.deepEqual(names(2, "half"), ["3 turns", "6 turns", "11 turns", "14 turns", "Random state", "Farthest state"]);
  assert.equal(names(3, "quarter").at(-1), "Superflip");
  assert.equal(names(3, "quarter")[0], "3 quarter turns");
});

inAll(
  "successive turns of a face become one move in half turns, and a half turn two moves in quarter turns",
  "the notation switches moves and counts, and is remembered",
  async () => {
    const page = await enter();
    await more(page);
    await still(page);
    await fresh(page);
    await write(page, "U2 R F2");
    await showing(page, "^U2 R F2\\.$");
    await page.getByLabel("Method", { exact: true }).selectOption("exact");
    await page.getByRole("button", { name: "Solve it" }).first().click();
    await showing(page, "^Solved in 3 turns \\(5 quarter turns\\)\\. Shortest: 5 quarter turns\\.");
    await played(page);
    assert.deepEqual(await strip(page).allTextContents(), ["F2", "R'", "U2"]);
    const quarter = page.getByText("Quarter turns", { exact: true }).first();
    await quarter.click();
    await showing(page, "^Solved in 5 quarter turns\\. Shortest: 5 quarter turns\\.");
    const split = await strip(page).allTextContents();
    assert.equal(split.length, 5);
    assert.deepEqual([split[2], ...split.map((name) => name[0])], ["R'", "F", "F", "R", "U", "U"]);
    assert.equal(await shown(page), SOLVED, "the step stays");
    assert.equal(await page.getByRole("button", { name: "Turn U2" }).count(), 0);
    assert.equal(await page.getByLabel("Length", { exact: true }).locator("option").first().textContent(), "3 quarter turns");
    await page.reload();
    await page.locator(".cube-picture canvas").waitFor();
    assert.ok(await page.getByRole("radio", { name: "Quarter turns" }).isChecked());
    await leave(page);
  },
);

test("on a wide screen the stage with its actions fits the first screen, and the cube's shadow fits the canvas", async () => {
  const page = await enterReplay({ context: { viewport: { width: 1280, height: 720 } } });
  await still(page);
  await fresh(page);
  const bar = (await page.locator(".transport").boundingBox()).y;
  for (const name of ["Scramble", "Solve it", "Play moves"]) {
    const box = await page.locator(".cube-pane").getByRole("button", { name, exact: true }).boundingBox();
    assert.ok(box.y + box.height <= bar, `${name} ends at ${box.y + box.height} of ${bar}`);
  }
  const canvas = await page.locator(".cube-picture canvas").boundingBox();
  assert.ok(canvas.y + canvas.height <= bar && canvas.height > 300, JSON.stringify(canvas));
  await drawn(page);
  // In every view, the canvas is empty along its edge. Without motion, the next frame shows the new view.
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const key of ["Home", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowLeft"]) {
    await page.locator(".cube-picture").press(key);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const painted = await page.evaluate(() => {
      const canvas = document.querySelector(".cube-picture canvas");
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      const at = (x, y) => data[4 * (y * width + x) + 3];
      const rows = [0, height - 1].flatMap((y) => Array.from({ length: width }, (_, x) => at(x, y)));
      const columns = [0, width - 1].flatMap((x) => Array.from({ length: height }, (_, y) => at(x, y)));
      return { edge: Math.max(...rows, ...columns), middle: at(width >> 1, height >> 1) };
    });
    assert.ok(painted.edge < 8 && painted.middle === 255, `${key}: ${JSON.stringify(painted)}`);
  }
  await leave(page);
});

inAll("dqn_learners_show_curriculum_and_replay", "curriculum and replay of a playing learner are shown on demand", async () => {
  const page = await enter({ at: "#/cube?variant=2x2x2-dqn-later&v=2" });
  await event(page, "metrics");
  await still(page);
  const asked = () => page.evaluate(() => hothouse.insides);
  await page.evaluate(() => {
    const plain = hothouse.ask.bind(hothouse);
    hothouse.insides = 0;
    hothouse.ask = (question) => ((hothouse.insides += question.ask === "inside" ? 1 : 0), plain(question));
  });
  await page.waitForTimeout(1500);
  assert.equal(await asked(), 0);
  await place(page, "Explore", "Inside the learner");
  await page.getByText(/Current scrambles: \d+ quarter turns?, \d.*% solved/).waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".transitions tbody tr").length === 6);
  // The first table may have no names of moves, because the names come from another answer.
  await reads(page, ".transitions tbody tr:first-child td:last-child", /^R −?[\d.]+R' −?[\d.]+U /);
  assert.match(await page.locator(".inside .bars-field").last().getAttribute("aria-label"), /from .*: [\d.]+%/);
  assert.match(await page.locator(".inside .bars-field").first().getAttribute("aria-label"), /depth 1 [\d.]+%/);
  await page.locator(".transitions tbody button").first().click();
  await showing(page, "A state from the replay");
  assert.ok((await ask(page, { ask: "look", facelets: await shown(page) })).distance > 0);
  const before = await asked();
  await page.waitForTimeout(1500);
  assert.ok((await asked()) <= before + 1);
  // The other learners do not have the section `Inside the learner`.
  await page.getByRole("tab", { name: "Explore", exact: true }).click();
  await page.getByRole("tab", { name: "Inside the learner" }).waitFor();
  await page.locator(".variant-menu select").selectOption("2x2x2");
  await page.getByRole("tab", { name: "Inside the learner" }).waitFor({ state: "hidden" });
  await leave(page);
});

inAll("sweep_compares_variants", "a sweep compares learners with the same seed", async () => {
  const page = await enter();
  await still(page);
  await place(page, "Compare", "Sweep");
  const sweep = page.locator(".sweep-panel");
  assert.equal(await sweep.getByLabel("Knob").locator("option").first().textContent(), "Learner");
  assert.equal(await sweep.getByLabel("Knob").inputValue(), "variant");
  await sweep.getByLabel("Seeds each").selectOption("1");
  // The sweep cannot reach this number of states during the test.
  await sweep.getByLabel("States each").selectOption("10000000");
  assert.match(
    await sweep.locator(".copy code").textContent(),
    /sweep cube --variant 2x2x2 --knob variant=2x2x2,2x2x2-last,.*--seeds 1 --steps 10000000/,
  );
  await page.getByRole("button", { name: "Start the sweep" }).click();
  await page.getByRole("button", { name: "The sweep as a table" }).click();
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll(".sweep tbody tr")];
    return rows.length === 6 && rows.every((row) => row.cells[2].textContent !== "0");
  });
  const names = await page.locator(".sweep tbody th").allTextContents();
  assert.ok(names.includes("2x2x2-dqn") && !names.includes("3x3x3"), names.join());
  await sweep.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Use Learner 2x2x2-exact in a new run" }).click();
  await page.waitForFunction(() => hothouse.variant.id === "2x2x2-exact");
  await leave(page);
});

inAll(
  "all_faces_turn_and_colour_letters_are_free",
  "a link opens the 3x3x3, with middle layers and long searches that can be stopped",
  async () => {
    const page = await enter({ at: "#/cube?variant=3x3x3&hidden=64-32&blocks=0&batch=96&v=2" });
    await event(page, "metrics");
    assert.equal(await page.locator(".worlds [aria-current]").textContent(), "3x3x3");
    await still(page);
    await more(page);
    await page.getByRole("button", { name: "Solved cube", exact: true }).click();
    assert.equal((await shown(page)).length, 54);
    await page.keyboard.press("c");
    for (const key of ["r", "Shift+U", "f", "l", "Shift+D", "b"]) await page.keyboard.press(key);
    const solved = Array.from("URFDLB", (face) => face.repeat(9)).join("");
    assert.equal(await shown(page), (await ask(page, { ask: "turn", facelets: solved, moves: "R U' F L D' B" })).facelets);
    await page.waitForFunction(() => document.querySelectorAll(".actions tbody tr").length === 12);
    // A middle layer moves the centres. The agent still recognises the cube.
    await page.keyboard.press("m");
    await page.keyboard.press("Shift+M");
    // The superflip flips all edges: each sticker of an edge has the colour of the edge's other face. The corners are in place.
    await page.getByLabel("Length", { exact: true }).selectOption("Superflip");
    await page.getByRole("button", { name: "Scramble", exact: true }).click();
    await showing(page, "^Superflip\\.");
    assert.equal(await shown(page), "UBULURUFURURFRBRDRFUFLFRFDFDFDLDRDBDLULBLFLDLBUBRBLBDB");
    await page.getByLabel("Length", { exact: true }).selectOption("25");
    await page.getByRole("button", { name: "Scramble", exact: true }).click();
    await showing(page, "^Scrambled by 25 turns \\(\\d+ quarter turns\\)\\.$");
    // Presses the button at the first progress of the search, so that the search cannot end before the button is pressed.
    await page.evaluate(() => {
      const progress = document.querySelector(".search-progress");
      new MutationObserver((_, observer) => {
        if (!/[1-9][\d,]* states/.test(progress.textContent)) return;
        observer.disconnect();
        [...document.querySelectorAll(".cube-actions button")].find((one) => !one.hidden && one.textContent === "Cancel").click();
      }).observe(progress, { childList: true, characterData: true, subtree: true });
    });
    await page.getByRole("button", { name: "Solve it" }).first().click();
    await showing(page, "cancelled");
    const { train_s } = await page.evaluate(() => hothouse.progress);
    await page.waitForFunction((before) => hothouse.progress.train_s > before, train_s);
    // Selects another variant without leaving the page.
    await page.locator(".worlds a", { hasText: /^2x2x2$/ }).click();
    await page.waitForFunction(() => document.querySelectorAll(".net button").length === 24);
    assert.equal((await shown(page)).length, 24);
    await leave(page);
  },
);

inAll(
  "cube: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit",
  "the room passes axe in both themes, fits a phone, and respects reduced motion",
  async () => {
    for (const screen of SCREENS) {
      const page = await enter({ context: screen });
      assert.equal(await page.getByRole("switch", { name: "Auto-play" }).isChecked(), screen.colorScheme === "light");
      await more(page);
      await page.getByRole("button", { name: "Random position" }).click();
      await showing(page, "^Random position; \\d+ quarter turns from solved");
      await page.getByRole("button", { name: "Solve it" }).first().click();
      await page.waitForFunction(
        () => document.querySelector(".solution-moves:not([hidden])") || document.querySelector(".cube-pane .error").textContent,
      );
      const check = async () => {
        await accessible(page);
        await fits(page);
        await narrows(page);
        await page.setViewportSize(screen.viewport);
      };
      await check();
      await large(page.locator(".turns button, .solution-moves span"), "width");
      await place(page, "Explore", "Method comparison");
      await page.getByRole("button", { name: "Compare on this state" }).click();
      await page
        .getByText(/\d of 5 methods solved it/)
        .first()
        .waitFor();
      await check();
      await place(page, "Explore", "Your own cube");
      await page.getByLabel("Facelets, or the moves of a scramble").fill("UUURFRRRFUFFDDDDLLLLBBBB");
      await page.getByRole("button", { name: "Load cube" }).click();
      await page.waitForFunction(() => document.querySelector(".own-verdict.wrong"));
      await check();
      await large(page.locator(".net button"), "width");
      await page.context().close();
    }
  },
);

inAll(
  "the network fits its card at full size, and its units are drawn with weights or gradients as edges",
  "the units of the network are drawn for the cube in the tab Live",
  async () => {
    const page = await enter();
    await still(page);
    await event(page, "metrics", 2);
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    await fresh(page);
    /** Returns the description of the drawing, once it has changed from `before`. */
    const described = async (before = "") => {
      await place(page, "Explore", "Network");
      const canvas = page.locator('.units canvas[aria-label^="Network: 32, 16, 1 units; outputs: normalised value "]');
      await canvas.waitFor();
      await until(page, (before) => document.querySelector(".units canvas").getAttribute("aria-label") !== before, before);
      return canvas.getAttribute("aria-label");
    };
    const solved = await described();
    await isDrawn(page, ".units canvas", "units");
    await page.getByRole("heading", { name: "Weights and gradients" }).scrollIntoViewIfNeeded(); // they are sampled on the screen only
    await page.locator(".tensor figcaption", { hasText: "Activations of the layer" }).first().waitFor();
    await place(page, "Live");
    await page.locator(".cube-picture").press("r");
    await page.waitForFunction((solved) => document.querySelector(".cube-picture").dataset.facelets !== solved, SOLVED);
    await described(solved);
    assert.deepEqual(page.said, []);
    await leave(page);
  },
);
