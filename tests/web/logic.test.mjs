// The logic room: training of the population, the grid with damage by pointer and keys, gates, the circuit with values and exports, a big
// grid, and custom targets. Other tests measure how well the population learns.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, event, house, notice, part, place, still, until, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, addressOf, entrance, fits, large, narrows, SCREENS } from "./rooms.mjs";

const here = house();
replays(here);

/** Address of a task that is learned within seconds. */
const LIFE = "#/logic?variant=life&v=2";
const CHECKERBOARD = "#/logic?seed=1&population=2&v=2";
/** Address of a run with short iterations. */
const SHORT = "#/logic?seed=1&population=2&batch=1&updates=1&steps=4&v=2";

const enter = entrance(here, "logic", CHECKERBOARD, ".grid-canvas canvas");
/** Opens a recorded run whose best member is perfect. The run does not train. */
const enterReplay = entrance(here, "logic", addressOf("logic"), ".grid-canvas canvas", replayed);
const ask = (page, question) => page.evaluate((question) => hothouse.ask(question), question);
/** Returns the circuit of the best member. */
const bestCircuit = async (page) => {
  const { best: member } = await ask(page, { ask: "population" });
  return ask(page, { ask: "circuit", member });
};
const refused = (page, question) =>
  page.evaluate(
    (question) =>
      hothouse.ask(question).then(
        () => "taken",
        ({ message }) => message,
      ),
    question,
  );
/** Returns the step of the displayed grid, and the share of its cells that are wrong. */
const grid = (page) =>
  page.evaluate(() => ({
    step: Number(document.querySelector(".grid-pane").dataset.step),
    wrong: Number(document.querySelector(".grid-pane").dataset.wrong),
  }));
const gridIs = (page, holds) =>
  until(
    page,
    `(() => {
    const [step, wrong] = ["step", "wrong"].map((name) => Number(document.querySelector(".grid-pane").dataset[name]));
    return ${holds};
  })()`,
  );
/** Repeats a question to the worker until the answer satisfies a condition. */
const answers = (page, question, holds) =>
  page.evaluate(`(async () => {
    while (!(${holds})(await hothouse.ask(${JSON.stringify(question)}))) await new Promise((resolve) => setTimeout(resolve, 200));
  })()`);
/** Shows a view on the stage, such as `Circuit`. */
const stage = (page, part) => page.locator(".stage-switch label", { hasText: part }).click();
/** Waits until the best member is perfect and the page reports it. */
const perfect = async (page) => {
  await answers(page, { ask: "population" }, ({ members, best }) => members[best].state === "perfect");
  await text(page, ".lead-number", "^100%share of correct test cells");
};
/** Pauses the run while its best member is perfect. A member that still learns may leave the pattern before the pause. */
const stillPerfect = async (page) => {
  for (;;) {
    await perfect(page);
    await still(page);
    const { members, best } = await ask(page, { ask: "population" });
    if (members[best].state === "perfect") return;
    await page.evaluate(() => hothouse.command({ kind: "start" }));
  }
};
const text = (page, part, words) =>
  page.waitForFunction(([part, words]) => new RegExp(words).test(document.querySelector(part)?.textContent ?? ""), [part, words]);

/** Returns a function that gives the position of a cell of a 16 by 16 grid on the screen. */
const cellsOf = async (page) => {
  const box = await page.locator(".grid-canvas canvas").boundingBox();
  return (x, y) => [box.x + ((x + 0.5) * box.width) / 16, box.y + ((y + 0.5) * box.height) / 16];
};
/** Flips cells of a paused grid without a wrong cell, by pointer and by keys. */
async function damages(page) {
  const cell = await cellsOf(page);
  await page.locator(".grid-choices").getByLabel("Damage", { exact: true }).selectOption("flip");
  await page.locator(".grid-choices").getByLabel("Brush", { exact: true }).selectOption("0");
  // One click changes one cell; a drag changes eight cells in a row.
  await page.mouse.click(...cell(3, 3));
  await gridIs(page, "wrong === 1 / 256");
  await page.mouse.move(...cell(4, 8));
  await page.mouse.down();
  await page.mouse.move(...cell(11, 8), { steps: 3 });
  await page.mouse.up();
  await gridIs(page, "wrong === 9 / 256");
  assert.equal(await page.getByRole("switch", { name: "Auto-restart" }).isChecked(), false);
  // The arrow keys start from the last painted cell.
  await page.locator(".grid-canvas canvas").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await gridIs(page, "wrong === 10 / 256");
  await text(page, ".grid-pane p[role=status]", "^Column 12, row 10: (on|off)\\.$");
}
/** Selects a larger grid with soft gates, which starts from random cells, and a blank start. */
async function grows(page) {
  const choices = page.locator(".grid-choices");
  await choices.getByLabel("Start", { exact: true }).selectOption("random");
  await choices.getByLabel("Grid", { exact: true }).selectOption({ index: 2 });
  await page.waitForFunction(() => /64 by 64/.test(document.querySelector(".grid-canvas canvas").getAttribute("aria-label")));
  await choices.getByLabel("Gates", { exact: true }).selectOption("soft");
  await text(page, ".grid-status", "gates still soft");
  await gridIs(page, "step > 0");
  await choices.getByLabel("Start", { exact: true }).selectOption("blank");
  await gridIs(page, "step > 2");
  assert.equal(await page.locator(".grid-pane .error").textContent(), "");
}
/** Selects gates by keys, and an operation by pointer. */
async function gatesByKeys(page) {
  // Keys select only gates that compute.
  await text(page, ".gates .number", "^[1-9]");
  await page.locator(".gates-picture").focus();
  await page.keyboard.press("ArrowDown");
  await text(page, ".gate-named", "^Gate \\d+ of kernel layer 1, kernel \\d+: .*% certain\\.$");
  await page.keyboard.press("End");
  await text(page, ".gate-named", "^Gate \\d+ of update layer ");
  await page.locator(".ops button").nth(1).click();
  assert.equal(await page.locator(".ops button").nth(1).getAttribute("aria-pressed"), "true");
}
/** Waits until a circuit is drawn, and checks its numbers. */
async function countsOf(page, circuit) {
  await page.waitForFunction((count) => document.querySelectorAll(".circuit .circuit-view .gate").length === count, circuit.gates.length);
  assert.match(
    await page.locator(".circuit .circuit-counts").first().textContent(),
    new RegExp(`^Active gates${circuit.gates.length}.*Depth${circuit.depth}gates.*Inputs${circuit.inputs.length}`),
  );
}
/** Explores the drawn circuit by pointer and keys, and downloads it in each format. */
async function circuitByHand(page, circuit) {
  // Pointing at a gate shows its cone; keys move along the wires.
  await page.locator(".circuit .circuit-view .gate").last().hover();
  await text(page, ".circuit .circuit-named", "Its cone has \\d+ gates");
  const cone = await page.locator(".circuit .circuit-view .gate.in-cone").count();
  assert.ok(cone > 1 && cone <= circuit.gates.length, `${cone}`);
  await page.mouse.move(0, 0);
  await page.locator(".circuit .circuit-view").focus();
  await page.keyboard.press("ArrowDown");
  await text(page, ".circuit .circuit-named", "^Input 1: ");
  await page.keyboard.press("ArrowRight");
  await text(page, ".circuit .circuit-named", "^Gate \\d+, layer \\d+: .* Now (on|off)\\.$");
  // The key moves back along the nearest wire, which may come from another gate. After at most `depth` moves an input is selected, where
  // the key has no effect.
  for (let k = 0; k < circuit.depth; k++) await page.keyboard.press("ArrowLeft");
  await text(page, ".circuit .circuit-named", "^Input \\d: ");
  for (const [words, holds] of [
    ["SVG", /<svg/],
    ["JSON", /^\s*\{/],
    ["Verilog", /\bendmodule\b/],
    ["Rust", /\bfn\b/],
  ]) {
    const download = page.waitForEvent("download");
    await page.getByLabel("Format", { exact: true }).selectOption(words);
    await page.getByRole("button", { name: "Download the circuit" }).click();
    assert.match(readFileSync(await (await download).path(), "utf8"), holds);
  }
}
/** Returns true if the stage ends above the transport bar. */
const fitsScreen = (page) =>
  page.evaluate(() => {
    const [stage, bar] = [".live-panel", ".transport"].map((part) => document.querySelector(part).getBoundingClientRect());
    return stage.bottom <= bar.top;
  });
/** Shows each part of the stage and follows its link to its tools. The big grid makes more than `steps` steps. */
async function stageParts(page, gates, steps) {
  await stage(page, "Circuit");
  await page.waitForFunction((count) => document.querySelectorAll(".circuit-stage .gate").length === count, gates);
  await page.waitForFunction(() => document.querySelector(".circuit-stage .valued .wire.on"));
  await text(page, ".circuit-stage .stage-value", `^${gates} gates$`);
  assert.ok(await fitsScreen(page));
  await page.locator(".circuit-stage .gate").last().hover();
  await text(page, ".circuit-stage .circuit-named", "Its cone has \\d+ gates");
  await page.getByRole("button", { name: "Counts and downloads" }).click();
  await page.getByRole("button", { name: "Download the circuit" }).waitFor();
  await place(page, "Live");
  // The arrow key moves from the circuit to the million cells.
  await page.locator(".stage-switch input:checked").focus();
  await page.keyboard.press("ArrowDown");
  await text(page, ".big-stage .small:not(:empty)", "cells a second");
  await page.waitForFunction((steps) => Number(document.querySelector(".big").dataset.step) > steps, steps);
  assert.ok(await fitsScreen(page));
  await page.locator(".big-stage").getByRole("button", { name: "Pause the circuit" }).click();
  await page.getByRole("button", { name: "Sizes and speeds" }).click();
  await page.locator(".big").getByRole("button", { name: "Run the circuit" }).waitFor();
  // A key leads from any tab to the grid, and a click damages its middle.
  await page.locator("body").press("c");
  await page.getByRole("button", { name: "Damage the middle" }).click();
  assert.equal(await page.evaluate(() => document.querySelector(".logic-stage").dataset.part), "grid");
}
/** Checks that the picture of the circuit is small, and enlarges it. */
async function enlarges(picture) {
  await picture.locator(".wire.on").first().waitFor({ state: "attached" });
  assert.ok((await picture.boundingBox()).width < 300);
  await picture.click();
  assert.ok((await picture.boundingBox()).width > 400);
}

/** Selectors of the number of the small chart of correct cells, which is the first small chart, and of the leading number. */
const CORRECT = ".multiples .number";
const LEADING = ".lead-number .number";

/** Waits until the leading number is the number of the curve. They are written one after the other. */
const statusAgrees = (page) =>
  page.waitForFunction(
    (parts) => {
      const [leading, drawn] = parts.map((part) => /[\d.]+%/.exec(document.querySelector(part).textContent)?.[0]);
      return leading && leading === drawn;
    },
    [LEADING, CORRECT],
  );

test("the population trains without a click: the grid runs, gates are shown by operation, members by state", async () => {
  const page = await enter({ at: SHORT });
  const tested = await ahead(page, "test");
  const first = await event(page, "metrics");
  const later = await event(page, "metrics", first.progress.iteration + 1);
  assert.ok(later.progress.updates > first.progress.updates && later.loss > 0 && later.certainty > 0, JSON.stringify(later));
  const step = await gridIs(page, "step > 3 && wrong > 0 && step");
  // The grid restarts with the current circuit.
  await gridIs(page, `step < ${step}`);
  const automaton = await ask(page, { ask: "automaton" });
  assert.deepEqual([automaton.target.width, automaton.target.height], [16, 16]);
  await page.waitForFunction(
    (gates) =>
      [...document.querySelectorAll(".op-count")].reduce((sum, { textContent }) => sum + Number(textContent.replaceAll(",", "")), 0) ===
      gates,
    automaton.gates,
  );
  await place(page, "Explore", "Population");
  const { members } = await ask(page, { ask: "population" });
  await page.waitForFunction((count) => document.querySelectorAll(".member").length === count, members.length);
  assert.match(
    await page.locator(".member").first().textContent(),
    /^Member 1.*: . (learning|perfect|restarted).* \/ .* [\d,]+ updates; the numbers are the soft and the hard loss$/,
  );
  // The grid shows the selected member until the visitor follows the best one again.
  await page.locator(".member").nth(1).click();
  assert.equal(await page.locator(".member").nth(1).getAttribute("aria-pressed"), "true");
  const follow = page.getByRole("switch", { name: "Follow the best" });
  assert.equal(await follow.isChecked(), false);
  await follow.press("Space");
  // Repeats the comparison, because the best member may change between the two queries.
  await until(page, async () => {
    const { best } = await hothouse.ask({ ask: "population" });
    return document.querySelectorAll(".member")[best].getAttribute("aria-pressed") === "true";
  });
  // The status reports the best circuit after the first test.
  await tested();
  await text(page, ".lead", ": the best circuit has |^Solved at ");
  assert.equal(await page.locator("h1").textContent(), "Logic gates that learn to draw");
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a grid is damaged by pointer and keys; steps, starts, sizes and soft gates can be selected", async () => {
  const page = await enter({ paused: true });
  await page.getByText("Grid options").click();
  const choices = page.locator(".grid-choices");
  await choices.getByLabel("Gates", { exact: true }).selectOption("hard");
  // The grid starts as the target and is paused before its first step.
  await until(page, () => !document.querySelector(".grid-choices option[value=target]").disabled);
  await page.evaluate(() => {
    const starts = document.querySelector(".grid-choices option[value=target]").parentElement;
    starts.value = "target";
    starts.dispatchEvent(new Event("change"));
    document.querySelector(".play-grid").click();
  });
  await gridIs(page, "step === 0 && wrong === 0");
  await damages(page);
  for (const step of [1, 2]) {
    await page.keyboard.press(".");
    await gridIs(page, `step === ${step}`);
  }
  await page.keyboard.press(" ");
  await gridIs(page, "step > 4");
  await grows(page);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "grids_advance_and_heal_without_changing_training",
  "a grid is damaged by pointer and keys and heals; steps, starts, sizes and soft gates can be selected",
  async () => {
    const page = await enter();
    // The run is paused, because the page restarts the grid when another member becomes the best.
    await stillPerfect(page);
    await page.getByText("Grid options").click();
    await page.locator(".grid-choices").getByLabel("Speed", { exact: true }).selectOption("fast");
    // The grid restarts with the best member that the page knows. The page may know an outdated member, so the loop resets the grid again.
    for (let late; !late || late.wrong > 0; ) {
      await page.getByRole("button", { name: "Reset", exact: true }).first().click();
      // Clears the displayed step. After the click, only the new grid writes a step.
      await page.evaluate(() => (document.querySelector(".grid-pane").dataset.step = "0"));
      await gridIs(page, "step >= 20");
      await page.locator(".play-grid").click();
      // The worker answers in order, so after this answer no step is pending.
      await ask(page, { ask: "population" });
      late = await grid(page);
    }
    await damages(page);
    const cell = await cellsOf(page);
    // Noise on every cell is a random start, from which a perfect circuit draws the pattern again in the steps of a test. The circuit need
    // not repair other damage.
    await page.locator(".grid-choices").getByLabel("Damage", { exact: true }).selectOption("noise");
    await page.locator(".grid-choices").getByLabel("Brush", { exact: true }).selectOption("4");
    const { steps } = await ask(page, { ask: "automaton" });
    for (let healed = false; !healed; ) {
      for (const y of [1, 5, 9, 13]) {
        await page.mouse.move(...cell(0, y));
        await page.mouse.down();
        await page.mouse.move(...cell(15, y), { steps: 15 });
        await page.mouse.up();
      }
      await gridIs(page, "wrong > 0.2");
      await page.locator(".grid-canvas canvas").focus();
      for (let k = 0; k < steps; k++) {
        const { step } = await grid(page);
        await page.keyboard.press(".");
        await gridIs(page, `step === ${step + 1}`);
      }
      healed = (await grid(page)).wrong === 0;
    }
    assert.match(await page.locator(".grid-status").textContent(), /Healed/);
    const { step } = await grid(page);
    await page.keyboard.press(" ");
    await gridIs(page, `step > ${step + 1}`);
    await grows(page);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

test("the circuit is small beside the grid and enlarged by a click, is explored by pointer and keys, and is exported", async () => {
  const page = await enterReplay({ context: { viewport: { width: 1440, height: 900 } } });
  await gatesByKeys(page);
  await enlarges(page.locator(".circuit-stage .stage-picture"));
  await place(page, "Explore", "The circuit");
  // The download is visible without scrolling on a laptop's screen.
  const bar = await page.locator(".transport").boundingBox();
  const save = await page.getByRole("button", { name: "Download the circuit" }).boundingBox();
  assert.ok(save.y + save.height < bar.y, `${save.y} and ${bar.y}`);
  await text(
    page,
    ".circuit [role=status]",
    "^Member \\d after .* updates of its own, perfect. Verified equal to its automaton on [\\d,]+ neighbourhoods",
  );
  const circuit = await bestCircuit(page);
  await countsOf(page, circuit);
  await circuitByHand(page, circuit);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "the circuit is small beside the grid and enlarged by a click, is explored by pointer and keys, and is exported",
  "gates and wires are explored by pointer and keys, show values, and the circuit is exported",
  async () => {
    const page = await enter({ at: LIFE });
    await stillPerfect(page);
    const { best } = await ask(page, { ask: "population" });
    // The picture is up to date only while it is on the screen.
    await page.locator(".gates-picture").focus();
    // The picture may show an earlier best member at first. The legend has a count for each operation that does not only pass a bit on.
    await until(
      page,
      async (member) => {
        const { ops } = await hothouse.ask({ ask: "gates", member });
        const counts = Array.from({ length: 16 }, (_, op) => Object.values(ops).filter((one) => one === op).length);
        const computing = counts.filter((_, op) => op !== 3 && op !== 5).sort((a, b) => a - b);
        const shown = [...document.querySelectorAll(".ops .op-count")].map(({ textContent }) => Number(textContent.replaceAll(",", "")));
        return String(shown.sort((a, b) => a - b)) === String(computing);
      },
      best,
    );
    await gatesByKeys(page);
    await place(page, "Explore", "The circuit");
    // The download is visible without scrolling on a laptop's screen.
    await page.setViewportSize({ width: 1440, height: 900 });
    const bar = await page.locator(".transport").boundingBox();
    const save = await page.getByRole("button", { name: "Download the circuit" }).boundingBox();
    assert.ok(save.y + save.height < bar.y, `${save.y} and ${bar.y}`);
    const drawn = `^Member ${best + 1} after .* updates of its own, perfect. Verified equal to its automaton on 512 neighbourhoods`;
    await text(page, ".circuit [role=status]", drawn);
    const circuit = await ask(page, { ask: "circuit", member: best });
    assert.ok(circuit.equal && circuit.perfect && circuit.gates.length > 20 && circuit.inputs.length === 9);
    await countsOf(page, circuit);
    // The circuit has wires that are on and wires that are off, and the grid's steps change them. A grid may stop changing after many
    // steps, so the grid starts again.
    await page.evaluate(() => {
      [...document.querySelectorAll(".grid-player button")].find(({ textContent }) => textContent === "Reset").click();
      document.querySelector(".grid-pane").dataset.step = "0";
    });
    await gridIs(page, "step > 0");
    const on = () =>
      page.locator(".circuit .circuit-view .wire").evaluateAll((all) => all.map((wire) => Number(wire.classList.contains("on"))).join(""));
    await page.waitForFunction(
      () =>
        document.querySelector(".circuit .circuit-view.valued .wire.on") && document.querySelector(".circuit .circuit-view .wire:not(.on)"),
    );
    const before = await on();
    await page.waitForFunction(
      (before) =>
        [...document.querySelectorAll(".circuit .circuit-view .wire")].map((wire) => Number(wire.classList.contains("on"))).join("") !==
        before,
      before,
    );
    await circuitByHand(page, circuit);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll("big_grids_are_packed_and_oversized_ones_are_rejected", "the circuit runs Life on a big grid and shows its speed", async () => {
  const page = await enter({ at: LIFE });
  await perfect(page);
  await place(page, "Explore", "The circuit on a big grid");
  await page.getByRole("button", { name: "Run the circuit" }).click();
  await page.waitForFunction(() => Number(document.querySelector(".big").dataset.step) > 100);
  await text(page, ".big-meaning", "cells a second, \\d+ gates each: .* gates a second");
  assert.match(await page.locator(".big canvas").getAttribute("aria-label"), /1024 by 1024 cells, at step/);
  // Life reduces a grid of random cells, half of them on, to a few living cells.
  await answers(page, { ask: "big_advance", ms: 5 }, ({ width, words }) => {
    const on = words.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0) / width ** 2;
    return on > 0.01 && on < 0.2;
  });
  await page.locator(".big").getByLabel("Grid", { exact: true }).selectOption("256");
  await page.waitForFunction(() => /256 by 256/.test(document.querySelector(".big canvas").getAttribute("aria-label")));
  await page.locator(".big").getByRole("button", { name: "Pause the circuit" }).click();
  const { train_s } = await page.evaluate(() => hothouse.progress);
  assert.ok(train_s > 0);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("runs begin with a custom drawing and a custom rule; invalid ones show the reason", async () => {
  const page = await enter({ at: LIFE, paused: true });
  const own = page.locator(".own-target");
  const draw = () => place(page, "Explore", "Your own target");
  await draw();
  await own.getByRole("button", { name: "Start from the current target" }).click();
  await text(page, ".own-drawing .error", "is a rule and has no picture");
  await own.getByRole("button", { name: "Clear" }).click();
  await own.getByRole("button", { name: "Train on this drawing" }).click();
  await text(page, ".own-drawing .error", "is empty");
  assert.equal(await page.evaluate(() => hothouse.variant.id), "life");
  await own.getByLabel("Size").selectOption("8");
  const canvas = own.locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.click(box.x + box.width / 16, box.y + box.height / 16);
  await canvas.focus();
  for (const key of ["ArrowRight", "ArrowDown", "Enter", "ArrowRight", "1"]) await page.keyboard.press(key);
  await own.getByRole("button", { name: "Train on this drawing" }).click();
  await page.waitForFunction(() => hothouse.variant.id === "own");
  const trained = await ahead(page, "metrics");
  await page.evaluate(() => hothouse.command({ kind: "step" }));
  await trained();
  const { target } = await ask(page, { ask: "automaton" });
  assert.equal(target.width, 8);
  assert.deepEqual(
    Object.values(target.values).flatMap((value, cell) => (value ? [cell] : [])),
    [0, 9, 10],
  );
  await page.waitForFunction(() => /8 by 8/.test(document.querySelector(".target canvas").getAttribute("aria-label")));
  await draw();
  const rule = own.getByLabel("Rule: births / survivals by neighbours");
  await rule.fill("B9/S");
  await rule.press("Enter");
  await text(page, ".own-target section:last-child .error", "Not a rule");
  assert.equal(await rule.getAttribute("aria-invalid"), "true");
  await own.getByLabel("Known rules").selectOption("Seeds B2/S");
  await own.getByRole("button", { name: "Train on this rule" }).click();
  await page.waitForFunction(() => hothouse.variant.id === "rule");
  await page.waitForFunction(() => /variant=rule/.test(location.hash));
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "runs begin with a custom drawing and a custom rule; invalid ones show the reason",
  "a drawing with colours starts from the target",
  async () => {
    const page = await enter({ paused: true });
    const own = page.locator(".own-target");
    await place(page, "Explore", "Your own target");
    await own.getByRole("button", { name: "Start from the current target" }).click();
    await own.getByLabel("Colours").selectOption("rgb");
    await own.locator("canvas").focus();
    await page.keyboard.press("4");
    await own.getByRole("button", { name: "Train on this drawing" }).click();
    await answers(page, { ask: "automaton" }, ({ target }) => target?.values.includes(4));
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "invalid_targets_are_rejected_and_the_run_continues",
  "impossible requests are refused with a next step, and the run is unaffected",
  async () => {
    const page = await enter();
    await ask(page, { ask: "grid", width: 16, height: 16, start: "random", seed: 1, member: 0, soft: false });
    for (const [question, words] of [
      [{ ask: "damage", x: 16, y: 0, radius: 1, how: "flip" }, /outside the grid of 16x16.*column below 16/s],
      [{ ask: "values", x: 0, y: 99 }, /outside the grid/],
      [{ ask: "advance", steps: 4_000_000_000 }, /too many for one call/],
      [{ ask: "grid", width: 1e6, height: 1e6, start: "random", seed: 1, member: 0, soft: false }, /cannot be shown.*Choose sides of/s],
      [{ ask: "big", width: 60_000, height: 60_000, seed: 1, member: 0 }, /needs .* MB of memory.*smaller/s],
      [{ ask: "gates", member: 1000 }, /no member 1000/],
    ])
      assert.match(await refused(page, question), words);
    await event(page, "metrics");
    assert.deepEqual(page.said, []);
    await page.context().close();
    // Opens a link that contains an invalid drawing.
    const other = await visit(here, { at: `#/logic?variant=own&target=${encodeURIComponent(".../..")}&v=2`, started: false });
    await notice(other, /Row 2 of the drawing has 2 cells/);
    await other.context().close();
  },
);

test("the status shows the number of the curve, and the stage the grid, the circuit or a million cells, with links to tools", async () => {
  const page = await enterReplay({ context: { viewport: { width: 1280, height: 720 } } });
  await text(page, ".stage-switch", "Circuit: \\d+ gates");
  await statusAgrees(page);
  const { gates } = await bestCircuit(page);
  assert.ok(await fitsScreen(page));
  assert.deepEqual(await page.locator(".live-panel button.strong:visible").allTextContents(), ["Damage the middle"]);
  await stageParts(page, gates.length, 0);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "the status shows the number of the curve, and the stage the grid, the circuit or a million cells, with links to tools",
  "the stage shows the grid, the drawn circuit or a million cells; keys switch between them, and each links to its tools",
  async () => {
    const page = await enter({ at: LIFE, context: { viewport: { width: 1280, height: 720 } } });
    await text(page, ".lead", "circuits learn side by side|the best circuit has|^Solved at ");
    await perfect(page);
    assert.ok(await fitsScreen(page));
    assert.deepEqual(await page.locator(".live-panel button.strong:visible").allTextContents(), ["Damage the middle"]);
    // The switch shows the gates of the tested circuit. Single iterations follow until the tested circuit is the best circuit.
    await still(page);
    const gates = await until(page, async () => {
      const { best } = await hothouse.ask({ ask: "population" });
      const { gates } = await hothouse.ask({ ask: "circuit", member: best });
      if (document.querySelector(".stage-switch").textContent.includes(`Circuit: ${gates.length} gates`)) return gates.length;
      const ended = new Promise((resolve) => hothouse.onEvent((event) => event.kind === "metrics" && resolve()));
      hothouse.command({ kind: "step" });
      await ended;
    });
    await stageParts(page, gates, 50);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "the circuit is small beside the grid and enlarged by a click, is explored by pointer and keys, and is exported",
  "on a large screen the perfect circuit is also drawn beside the grid, and a click enlarges it",
  async () => {
    const page = await enter({ at: LIFE, context: { viewport: { width: 1440, height: 900 } } });
    const picture = page.locator(".circuit-stage .stage-picture");
    // A new run that is paused has no perfect circuit.
    await event(page, "metrics");
    const began = await ahead(page, "began");
    await page.evaluate(() => {
      hothouse.command({ kind: "pause" });
      hothouse.command({ kind: "reset", config: null });
    });
    await began();
    assert.equal(await picture.isVisible(), false);
    await page.evaluate(() => hothouse.command({ kind: "start" }));
    await perfect(page);
    await enlarges(picture);
    await page.context().close();
  },
);

test("the lizard opens with the trained circuit, and the visitor can show a circuit of a run that has not trained", async () => {
  // With reduced motion, the grid stops exactly at the last step of the training, even if the page is slow.
  const context = { reducedMotion: "reduce" };
  const page = await enter({ at: "#/logic?variant=lizard&population=1&v=2", trained: "page", paused: true, context });
  const trained = page.getByRole("radio", { name: "Trained circuit" });
  // The state of the circuit in the page's file: 13 of 400 cells are wrong after the 12 steps for which it was trained.
  await gridIs(page, "step === 12 && Math.round(400 * wrong) === 13");
  assert.ok(await trained.isChecked());
  await page.getByRole("button", { name: "Train it yourself" }).click();
  assert.ok(!(await trained.isChecked()));
  await gridIs(page, "step === 12 && Math.round(400 * wrong) !== 13");
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "the lizard opens with the trained circuit, and the visitor can show a circuit of a run that has not trained",
  "the lizard opens with the trained circuit, and the visitor can show a circuit of the current run",
  async () => {
    // With reduced motion, the grid stops exactly at the last step of the training, even if the page is slow.
    const context = { reducedMotion: "reduce" };
    const page = await enter({ at: "#/logic?variant=lizard&population=1&v=2", trained: "page", context });
    const trained = page.getByRole("radio", { name: "Trained circuit" });
    await until(page, () =>
      [...document.querySelectorAll(".stage-choices input")].some(
        (input) => input.labels[0].textContent === "Trained circuit" && input.checked,
      ),
    );
    // The state of the circuit in the page's file: 13 of 400 cells are wrong after the 12 steps for which it was trained.
    await gridIs(page, "step === 12 && Math.round(400 * wrong) === 13");
    await page.getByRole("button", { name: /^Train it yourself: about .* (min|h)$/ }).click();
    assert.ok(!(await trained.isChecked()));
    await gridIs(page, "step === 12 && Math.round(400 * wrong) !== 13");
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

test("the status shows the progress before the first test, and the time to the published length", async () => {
  const { lengthLeft, result, trainYours } = await part("rooms/logic/text");
  const present = { tests: [], test: () => undefined };
  const progress = (updates, train_s) => ({ counts: [updates, 0, 0, 0], train_s });
  const population = {
    members: [
      { updates: 5, hard_loss: 0.25 },
      { updates: 5, hard_loss: 0.2 },
    ],
    best: 1,
  };
  assert.match(result(present, undefined, progress(0, 0), "updates"), /^Circuits of logic gates start to learn/);
  assert.match(
    result(present, population, progress(10, 3), "updates"),
    /^2 circuits learn side by side. After 3\.0\ss, 80% of the best circuit's cells are correct\.$/,
  );
  // 4 members need 14,000 updates, of which 140 took 6 s.
  assert.equal(
    lengthLeft("lizard", 4, progress(140, 6)),
    "The published run made 3,500 updates of each member; this run gets there in about 10 min.",
  );
  assert.equal(lengthLeft("lizard", 4, progress(4, 6)), "The published run made 3,500 updates of each member.");
  assert.equal(trainYours("lizard", 4, progress(140, 60)), "Train it yourself: about 1.6 h");
  for (const [variant, updates] of [
    ["lizard", 14000],
    ["life", 140],
  ])
    assert.equal(lengthLeft(variant, 4, progress(updates, 6)), "");
});

inAll(
  "the status shows the progress before the first test, and the time to the published length",
  "before the first test the status shows the progress, and for the lizard the time to the published length",
  async () => {
    const page = await enter({ at: "#/logic?variant=lizard&v=2" });
    await text(page, ".lead", "circuits learn side by side\\. After .*, [\\d.]+% of the best circuit's cells are correct");
    await text(page, ".lead", "made 3,500 updates of each member; this run gets there in about [\\d.]+ (min|h)");
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "logic: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit",
  "the room passes axe in both themes, fits a phone, and respects reduced motion",
  async () => {
    for (const screen of SCREENS) {
      const page = await enter({ at: LIFE, context: screen });
      await event(page, "metrics");
      await page.evaluate(() => hothouse.command({ kind: "pause" }));
      for (const part of ["Circuit", "A million cells", "Grid"]) {
        await stage(page, part);
        await accessible(page);
        await fits(page);
      }
      await large(page.locator(".live-panel button"), "height");
      for (const [section, ready] of [
        ["The circuit", ".circuit .circuit-view svg, .circuit .circuit-named:not(:empty)"],
        ["The circuit on a big grid", ".big"],
        ["Population", ".member"],
        ["Your own target", ".own-target"],
      ]) {
        await place(page, "Explore", section);
        await page.locator(ready).first().waitFor();
        await accessible(page);
        await fits(page);
        const { height, width } = page.viewportSize();
        if (width < 400)
          assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) <= 3000, `${section} on ${height} px`);
        await large(page.locator(".explore-panel button"), "height");
      }
      await narrows(page);
      assert.deepEqual(page.said, []);
      await page.context().close();
    }
  },
);
