// Comparison of runs: storing and naming runs, drawing them beside the current run, reading values, exporting. Most tests replay a run, and
// pass the rows of further runs to the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, begun, event, folder, hothouse, house, lab, part, place, script, visit } from "./fixture.mjs";
import { clocked, seconds, tell, watched } from "./messages.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, fits } from "./rooms.mjs";

const here = house();
replays(here);
/** Steps of an iteration of a small run. */
const ROW = 1024;
/** Steps of one iteration, in thousands, plus the rounding of the displayed numbers. */
const ROW_K = 1.2;
/** Address of a small run with short iterations, with the list of runs open. */
const SMALL = "#/control/compare?envs=64&v=2";

const list = (page) => page.getByRole("list", { name: "Runs", exact: true }).getByRole("listitem");
const compare = (page) => page.locator(".compare");
const chart = (page) => compare(page).getByRole("slider", { name: /^Mean return/ });
const began = (page) => begun(page, () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "began" && resolve(event))));
const pause = async (page) => {
  const paused = await ahead(page, "running");
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await paused();
};
/** Waits until the list contains this number of runs. The page updates its list each second. */
const listed = async (page, count) => {
  await page.waitForFunction(() => hothouse.progress?.iteration >= 3);
  await seconds(page, 1);
  await page.waitForFunction((count) => document.querySelectorAll(".run-list li").length === count, count);
};
/** Opens a replayed run that has many rows, is paused, and is in the list. */
const enter = async (settings) => {
  const page = await replayed(here, { at: SMALL, paused: true, init: clocked, ...settings });
  await listed(page, 1);
  return page;
};
/** Trains a paused run for `count` iterations. */
const steps = (page, count) =>
  page.evaluate(async (count) => {
    for (let k = 0; k < count; k++) {
      const ended = new Promise((resolve) => hothouse.onEvent((event) => event.kind === "metrics" && resolve()));
      hothouse.command({ kind: "step" });
      await ended;
    }
  }, count);
/** Begins a new run and passes `count` rows to the page as if the run had trained, with a test after every second row. */
const trained = async (page, count) => {
  const fresh = await began(page);
  await page.getByRole("button", { name: "New run", exact: true }).click();
  await fresh();
  const columns = await page.evaluate(() => hothouse.room.metrics.length + hothouse.room.parts.length);
  const messages = Array.from({ length: count }, (_, k) => {
    const progress = { iteration: k + 1, counts: [ROW * (k + 1), 25 * (k + 1)], train_s: (k + 1) / 10 };
    const value = 20 + 4 * k;
    const test = { kind: "test", progress, values: [value + 9, value - 9, value + 30, 100] };
    const events = [{ kind: "metrics", progress, values: Array(columns).fill(value) }, ...(k % 2 ? [test] : [])];
    return { kind: "events", events, progress, epoch: null, variant: null, keptBefore: [] };
  });
  await tell(page, ...messages);
};
/**
 * Trains a past run and a current run for the given numbers of iterations. The two curves are equal over their common iterations.
 */
const trainedTwice = async (page, past, present) => {
  await trained(page, past);
  await trained(page, present);
  await listed(page, 3);
};
/** Selects the past run, and waits until the chart contains its curve. Before the selection, the curve is grey. */
const select = async (page, name = /^Compare with/) => {
  const box = page.getByRole("checkbox", { name });
  await box.uncheck();
  await box.check();
  await compare(page).getByRole("list", { name: "Runs in the chart" }).getByRole("listitem").nth(1).waitFor();
};
/** Label of the past run's checkbox after `trainedTwice`. */
const PAST = "Compare with CartPole, Environments 64, run 2";
const saved = async (page, name) => {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
};
/** Exports the shown curves in a format of the list. */
const curvesAs = async (page, format) => {
  await page.getByLabel("Export as").selectOption(format);
  return saved(page, "Export the shown curves");
};
/** Returns the name, the iteration and the learning rate of each stored run. */
const kept = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const request = indexedDB.open("hothouse-curves", 1);
        request.onupgradeneeded = () => request.result.createObjectStore("runs");
        request.onsuccess = () => {
          const all = request.result.transaction("runs").objectStore("runs").getAll();
          all.onsuccess = () => (
            request.result.close(),
            resolve(all.result.map(({ name, progress, settings }) => ({ name, iteration: progress.iteration, lr: settings.lr })))
          );
        };
      }),
  );
const keptWhere = async (page, holds) => {
  for (let tries = 0; tries < 1200; tries++) {
    const all = await kept(page);
    if (holds(all)) return all;
    await page.waitForTimeout(50);
  }
  assert.fail(`kept: ${JSON.stringify(await kept(page))}`);
};

test("a run is named by its settings, renamed, stored over a reload, compared, removed and restored", async () => {
  const at = (seed) => `#/control/compare?envs=64&lr=0.003&seed=${seed}&v=2`;
  const page = await enter({ at: at(1) });
  const name = list(page).first().getByLabel("Name of the run");
  assert.match(await name.inputValue(), /^CartPole, .*Learning rate 0\.003/);
  assert.match(await list(page).first().textContent(), /Learning rate 0\.003 \(0\.01\)/);
  await name.fill("slow");
  await name.press("Enter");
  await trained(page, 5);
  await listed(page, 2);
  await keptWhere(page, (all) => all.length === 2 && all.some(({ name }) => name === "slow"));
  // A new visit, unlike a reload, never continues an autosaved run. The new run has another seed, because a replayed run with the same seed
  // has the times of the first run and would continue its record.
  await page.goto("about:blank");
  await page.goto(here.replay.url + at(2));
  await lab(page);
  await listed(page, 3);
  // Each run but the current one shows when it began.
  const dates = (await list(page).locator(".run-figures").allTextContents()).map((text) => / · \d+ \w+, \d\d:\d\d$/.test(text));
  assert.deepEqual(dates, [false, true, true]);
  const box = page.getByRole("checkbox", { name: "Compare with slow" });
  await box.check();
  const legend = compare(page).getByRole("list", { name: "Runs in the chart" });
  await legend.getByRole("listitem").nth(1).waitFor();
  assert.deepEqual(
    (await legend.getByRole("listitem").allTextContents()).map((text) => text.trim()),
    ["Current run", "A slow"],
  );
  // The table contains the values of both curves at the same counts.
  await page.getByRole("button", { name: "Selected curves as a table" }).click();
  const table = page.getByRole("region", { name: "Selected curves as a table" });
  assert.deepEqual(await table.getByRole("columnheader").allTextContents(), [
    "Steps",
    "Time",
    "Training return",
    "Past run",
    "A: slow",
    "Events",
  ]);
  await page.getByRole("button", { name: "Selected curves as a table" }).click();

  await page.getByRole("button", { name: "Remove slow" }).click();
  assert.equal(await list(page).count(), 2);
  await keptWhere(page, (all) => all.every(({ name }) => name !== "slow"));
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await box.waitFor();
  assert.equal(await box.isChecked(), true);
  await keptWhere(page, (all) => all.some(({ name }) => name === "slow"));
  // The visitor can compare and reuse the settings of a run.
  await page.getByLabel("Differences from").selectOption({ label: "slow" });
  assert.match(await list(page).first().locator(".run-settings").textContent(), /^seed 2$/);
  assert.match(await list(page).nth(1).textContent(), /The same settings\./);
  assert.match(await list(page).nth(2).textContent(), /The run to compare with\./);
  const fresh = await began(page);
  await page.getByRole("button", { name: "Run again: slow" }).click();
  assert.deepEqual((await fresh()).config.knobs, { envs: 64, lr: 0.003 });
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("the list marks the grey curve of the past run and can remove it; the current run starts again with another seed", async () => {
  const page = await enter({ at: "#/control?envs=64&v=2" });
  // Two clicks start a second run with another seed for comparison.
  const fresh = await began(page);
  await page.getByRole("tab", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Another seed: CartPole, Environments 64" }).click();
  const { config } = await fresh();
  assert.deepEqual(config.knobs, { envs: 64 });
  assert.notEqual(config.seed, 1);
  // The new run trains, although the first one was paused.
  await event(page, "metrics", 3);
  await place(page, "Compare");
  await listed(page, 2);
  const past = list(page).nth(1);
  const marks = () => page.locator(".run-mark").allTextContents();
  const grey = page.locator("#ghost");
  assert.deepEqual(await marks(), ["now", "past"]);
  assert.equal(await past.getByRole("checkbox").isChecked(), true);
  assert.match(await past.locator(".run-mark path").getAttribute("stroke"), /--ghost/);
  assert.ok(await past.locator(".run-tick").evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
  await past.getByRole("checkbox").uncheck();
  assert.deepEqual([await marks(), await grey.isChecked()], [["now", ""], false]);
  // The switch beside the curve shows the past run again, and the list follows.
  await place(page, "Live");
  await grey.check();
  await place(page, "Compare");
  assert.deepEqual(await marks(), ["now", "past"]);
  await past.getByRole("button", { name: /^Remove/ }).click();
  assert.deepEqual([await marks(), await grey.isChecked()], [["now"], false]);
  await page.locator(".removed").getByRole("button", { name: "Undo" }).click();
  assert.deepEqual(await marks(), ["now", "A"]);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a long name wraps on a phone, stays one line of text, and Enter ends the editing", async () => {
  const page = await enter({ context: { viewport: { width: 390, height: 844 } } });
  const name = list(page).first().getByLabel("Name of the run");
  const height = async () => (await name.boundingBox()).height;
  const whole = () => name.evaluate((field) => field.scrollHeight <= field.clientHeight && field.scrollWidth <= field.clientWidth);
  await name.fill("short");
  const line = await height();
  await name.fill("Learning rate 0.003, entropy bonus 0.02, discount 0.99,\nsecond attempt of today");
  assert.ok((await height()) > 1.5 * line);
  assert.ok(await whole());
  await name.press("Enter");
  assert.equal(await name.evaluate((field) => field === document.activeElement), false);
  assert.equal(await name.inputValue(), "Learning rate 0.003, entropy bonus 0.02, discount 0.99, second attempt of today");
  assert.ok(await whole());
  await page.context().close();
});

test("a restored run keeps its record, and a fork gets a new one", async () => {
  // The run trains, because the page recognizes a run by the times of its iterations.
  const page = await visit(here, { at: SMALL, paused: true, init: clocked });
  await steps(page, 5);
  await listed(page, 1);
  const fresh = await began(page);
  await page.getByRole("button", { name: "New run", exact: true }).click();
  await fresh();
  await steps(page, 5);
  await listed(page, 2);
  const back = await began(page);
  await page.getByRole("button", { name: "Back to the previous run" }).click();
  await back();
  await steps(page, 3);
  await seconds(page, 1);
  assert.equal(await list(page).count(), 2);

  const marked = await ahead(page, "mark");
  const field = page.getByRole("spinbutton", { name: "Learning rate", exact: true });
  await field.fill("0.001");
  await field.press("Enter");
  await marked();
  await steps(page, 5);
  // The page stores the run again after some seconds.
  await page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 10_000;
  });
  await seconds(page, 1);
  await keptWhere(page, (all) => all.some(({ lr }) => lr === 0.001));
  const forked = await began(page);
  // The chart marks a change with a label. A click on the label restores the run before the change.
  const figure = page.getByRole("figure", { name: "Mean return" }).last();
  await figure.scrollIntoViewIfNeeded(); // charts are drawn only while visible
  await figure.getByRole("button", { name: "In the chart: restore the run before Learning rate 0.001" }).click();
  assert.deepEqual((await forked()).marks, []);
  await listed(page, 3);
  await page.context().close();
});

test("exported curves equal the events of the run", async () => {
  const page = await enter({ at: `${SMALL}&seed=5` });
  const fresh = await began(page);
  await page.evaluate(() => {
    globalThis.rows = [];
    globalThis.tests = [];
    hothouse.onEvent((event) => {
      if (event.kind === "began") Object.assign(globalThis, { rows: [...event.history], tests: [...event.tests] });
      if (event.kind === "metrics") rows.push(event);
      if (event.kind === "test") tests.push(event);
    });
    hothouse.command({ kind: "reset", config: null });
  });
  await fresh();
  await steps(page, 20);
  const { rows, room } = await page.evaluate(() => ({ rows, room: hothouse.room }));
  // The first run is shown in grey until the visitor removes it, and is exported too.
  assert.equal(JSON.parse((await curvesAs(page, "JSON")).bytes).runs.length, 2);
  await page.getByRole("checkbox", { name: /^Compare with/ }).uncheck();
  const { name, bytes } = await curvesAs(page, "CSV");
  assert.equal(name, "hothouse-control-CartPole-v1-seed5-curves.csv");
  const [head, ...lines] = bytes.toString().trim().split("\n");
  const names = head.split(",");
  assert.deepEqual(names.slice(0, 8), ["run", "room", "variant", "seed", "knobs", "changes", "iteration", "env_steps"]);
  // The run's name contains commas and is quoted.
  const cells = lines.map((line) => line.replace(/^"[^"]*",/, "run,").split(","));
  const of = (row, column) => row[names.indexOf(column)];
  for (const row of cells)
    assert.deepEqual(
      [row.length, ...["room", "variant", "seed", "knobs"].map((column) => of(row, column))],
      [names.length, "control", "CartPole-v1", "5", "envs=64"],
    );
  const metrics = cells.filter((row) => of(row, "lr") !== "");
  const number = (text) => (text === "" ? null : Number(text));
  assert.ok(metrics.length >= 20);
  const last = new Map(rows.map((row) => [row.progress.iteration, row]));
  for (const row of metrics) {
    const { progress, values } = last.get(Number(of(row, "iteration")));
    assert.equal(Number(of(row, "env_steps")), progress.counts[0]);
    room.metrics.forEach(({ name }, k) => assert.equal(number(of(row, name)), values[k], name));
  }
  const tested = cells.filter((row) => of(row, "test_mean_return") !== "");
  const tests = await page.evaluate(() => tests);
  assert.ok(tests.length >= 2, `${tests.length} tests`);
  assert.deepEqual(
    tested.map((row) => room.tests.map(({ name }) => number(of(row, `test_${name}`)))),
    tests.map(({ values }) => values),
  );

  const exported = JSON.parse((await curvesAs(page, "JSON")).bytes);
  assert.deepEqual([exported.room, exported.runs.length, exported.runs[0].seed, exported.runs[0].knobs], ["control", 1, 5, { envs: 64 }]);
  assert.deepEqual(
    exported.runs[0].metrics.entropy,
    metrics.map((row) => number(of(row, "entropy"))),
  );
  await page.context().close();
});

/** Changes a live knob through its field. */
const change = async (page, label, value) => {
  const marked = await ahead(page, "mark");
  const field = page.getByRole("spinbutton", { name: label, exact: true });
  await field.fill(value);
  await field.press("Enter");
  return marked();
};

test("the CSV of the current run equals the terminal's table: the same columns and numbers", async () => {
  const settings = ["--variant", "CartPole-v1", "--seed", "5", "--set", "envs=64"];
  const path = join(folder(), "run.csv");
  await hothouse(["train", "control", ...settings, "--steps", "16384", "--csv", path]);
  const table = (bytes) => {
    const [head, ...rows] = bytes
      .toString()
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    return { head, rows: rows.map((cells) => Object.fromEntries(head.map((name, k) => [name, cells[k]]))) };
  };
  const native = table(readFileSync(path));
  const page = await visit(here, { at: `${SMALL}&seed=5` });
  await event(page, "test", 20);
  await pause(page);
  await place(page, "Share");
  const { name, bytes } = await saved(page, "Curves as CSV");
  assert.match(name, /^hothouse-control-CartPole-v1-seed5-.*\.csv$/);
  const own = table(bytes);
  assert.deepEqual(own.head, native.head);
  assert.ok(own.rows.length >= 20 && own.rows.every((row) => Object.keys(row).length === own.head.length));
  // Compares only columns that do not depend on the machine's speed or arithmetic.
  for (const [k, row] of own.rows
    .filter(({ lr }) => lr !== "")
    .slice(0, 10)
    .entries())
    for (const column of ["iteration", "env_steps [steps]", "lr"])
      assert.equal(Math.fround(row[column]), Math.fround(native.rows[k][column]), `${column} of row ${k}`);
  assert.ok(
    own.rows.some((row) => row.test_mean_return !== "" && row.lr !== ""),
    "a test is in the row of its iteration",
  );
  await page.context().close();
});

test("a run is listed with its initial settings and its changes, also if a new run starts with the changed ones", async () => {
  const page = await enter({ at: `${SMALL}&lr=0.01` });
  const { progress } = await change(page, "Learning rate", "0.001");
  await steps(page, 2);
  await trained(page, 5);
  // The new run starts with 0.001, the last learning rate of the previous run.
  assert.match(await page.locator("label[for=ghost]").textContent(), /^Past run: Learning rate 0\.01 → 0\.001, /);
  await listed(page, 2);
  const [present, past] = [list(page).first(), list(page).nth(1)];
  assert.match(await past.getByLabel("Name of the run").inputValue(), /^CartPole, .*Learning rate 0\.01 → 0\.001/);
  assert.match(await past.textContent(), /; then Learning rate 0\.001 after [\d.]+[kM]? steps/);
  assert.doesNotMatch(await past.textContent(), /Learning rate 0\.001 \(0\.01\)/);
  assert.match(await present.getByLabel("Name of the run").inputValue(), /^CartPole, .*Learning rate 0\.001(?! →)/);
  await page.getByLabel("Differences from").selectOption("present");
  assert.match(await past.textContent(), /Learning rate 0\.01 \(0\.001\); then Learning rate 0\.001 after /);
  // Exported files, and a run that reuses the settings, also have the initial learning rate and not the changed one.
  await past.getByRole("checkbox").check();
  const exported = JSON.parse((await curvesAs(page, "JSON")).bytes).runs;
  assert.deepEqual(
    exported.map(({ knobs, marks }) => [knobs.lr, marks.map(({ to }) => to)]),
    [
      [0.001, []],
      [undefined, [0.001]],
    ],
  );
  const { bytes } = await curvesAs(page, "CSV");
  assert.ok(bytes.toString().includes(`,${progress.iteration}:lr=0.001,`));
  const fresh = await began(page);
  await past.getByRole("button", { name: /^Run again/ }).click();
  assert.deepEqual((await fresh()).config.knobs, { envs: 64 });
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a message becomes a sentence, and the name at its beginning keeps its letters", async () => {
  const { sentence } = await part("run/notice");
  const texts = ["the run has ended", "catch.py, line 7: no value", "lr = 99 is out of range", "Choose 0.", ""];
  const whole = ["The run has ended.", "catch.py, line 7: no value.", "lr = 99 is out of range.", "Choose 0.", ""];
  assert.deepEqual(texts.map(sentence), whole);
});

test("numbers of any magnitude are formatted readably", async () => {
  const { percent, short, two, words } = await part("parts/format");
  const sizes = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
  const read = (text) => {
    const [, number, unit] = /^([\d,]+(?:\.\d+)?) ?([a-zA-Z]*)$/.exec(text) ?? assert.fail(text);
    return Number(number.replaceAll(",", "")) * (unit ? (sizes[unit] ?? assert.fail(text)) : 1);
  };
  for (let n = 1; n < 1e15; n *= 1.0137)
    for (const [write, off] of [
      [words, 0.05],
      [short, 0.006],
    ]) {
      const text = write(n);
      assert.ok(Math.abs(read(text) / n - 1) <= Math.max(off, 0.5 / n), `${n} is written ${text}`);
      assert.ok(read(text) <= read(write(n * 1.5)), `${n}: ${text}`);
    }
  assert.deepEqual([0, 999, 1000, 999_499, 999_500, 1.24e6, 99.6e6, 320e6, 999.4e6, 999.6e6, 1.2e9, 320e9, 2.5e12].map(words), [
    "0",
    "999",
    "1 thousand",
    "999 thousand",
    "1 million",
    "1.2 million",
    "100 million",
    "320 million",
    "999 million",
    "1 billion",
    "1.2 billion",
    "320 billion",
    "2.5 trillion",
  ]);
  assert.deepEqual([950, 312_416, 1_240_000, 320e6, 5e12].map(short), ["950", "312k", "1.24M", "320M", "5T"]);
  assert.deepEqual([0, 0.0031, 12.4, 99.7, 1234].map(two), ["0", "0.0031", "12", "100", "1,234"]);
  assert.deepEqual([0, 0.02, 0.918, 0.991, 0.99996, 1].map(percent), ["0%", "2%", "91.8%", "99.1%", "99.99%", "100%"]);
});

test("keys and pointer read values of curves, tests and other runs; the axis zooms and switches to time", async () => {
  // The whole tab is in sight, so that the page does not scroll between the movements of the pointer.
  const page = await enter({ context: { viewport: { width: 1280, height: 1200 } } });
  // A run of 70 iterations has the shortest possible axis, on which a row is several pixels wide.
  await trainedTwice(page, 70, 70);
  await select(page, PAST);
  const slider = chart(page);
  await slider.focus();
  const says = () => slider.getAttribute("aria-valuetext");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /steps: Current run/.test(document.querySelector(".compare .plot").getAttribute("aria-valuetext")));
  assert.match(await says(), /steps: Current run \d+.*A: CartPole.* \d/);
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => /test \d+/.test(document.querySelector(".compare .plot").getAttribute("aria-valuetext")));
  assert.match(await says(), /Current run \d+; test \d+, \d+ to \d+ at/);
  await compare(page).locator(".tip").waitFor();

  const reset = compare(page).getByRole("button", { name: "Whole axis" });
  await page.keyboard.press("+");
  await reset.waitFor();
  await page.keyboard.press("0");
  await reset.waitFor({ state: "hidden" });
  // Selects a column without tests, because the pointer also reads a test that is some pixels away.
  await page.getByLabel("Chart", { exact: true }).selectOption({ label: "Entropy" });
  const entropy = compare(page).getByRole("slider", { name: /^Entropy: .* after/ });
  await entropy.waitFor();
  const box = await compare(page).locator(".u-over").boundingBox();
  const y = box.y + box.height / 2;
  const drag = async (from, to) => {
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
    await page.mouse.up();
  };
  await drag(0.1, 0.4);
  await reset.waitFor();
  // The zoomed range equals the dragged one, up to the rounding to the nearest of two rows.
  const seen = () => page.evaluate(() => document.querySelector(".compare .tip p")?.textContent);
  await page.mouse.move(box.x + box.width * 0.5, y);
  const near = await seen();
  await reset.click();
  await reset.waitFor({ state: "hidden" });
  await page.mouse.move(box.x + box.width * 0.25, y + 1);
  const close = (one, other) => assert.ok(Math.abs(parseFloat(one) - parseFloat(other)) <= ROW_K, `${one} and ${other}`);
  close(await seen(), near);
  await entropy.focus();
  await page.mouse.wheel(0, -300);
  await reset.waitFor();
  await entropy.dblclick();
  await reset.waitFor({ state: "hidden" });

  // A pinch: the axis position under each of the two fingers stays fixed.
  await page.evaluate(() => {
    const area = document.querySelector(".compare .plot");
    const { left, width, top } = area.querySelector(".u-over").getBoundingClientRect();
    const finger = (kind, pointerId, share) =>
      area.dispatchEvent(
        new PointerEvent(kind, { pointerId, pointerType: "touch", clientX: left + share * width, clientY: top + 20, bubbles: true }),
      );
    finger("pointerdown", 7, 0.4);
    finger("pointerdown", 8, 0.6);
    finger("pointermove", 7, 0.2);
    finger("pointermove", 8, 0.8);
    for (const id of [7, 8]) finger("pointerup", id, 0.5);
  });
  await reset.waitFor();
  await page.mouse.move(box.x + box.width * 0.8, y);
  const pinched = await seen();
  await page.keyboard.press("Escape");
  await reset.waitFor({ state: "hidden" });
  await page.mouse.move(box.x + box.width * 0.6, y + 1);
  close(await seen(), pinched);

  await compare(page).getByText("by time").click();
  await entropy.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /^[\d.]+\ss: /.test(document.querySelector(".compare .plot").getAttribute("aria-valuetext")));
  await page.context().close();
});

test("a curve is smoothed by an exponential average with the raw value shown, and any column can be charted", async () => {
  const page = await enter();
  const choice = page.getByLabel("Chart", { exact: true });
  const offered = await choice.locator("option").allTextContents();
  for (const wanted of ["Mean return", "Episode length", "Clip fraction", "Explained variance", "Gradient norm", "Maximum test return"])
    assert.ok(offered.includes(wanted), `${wanted} among ${offered}`);
  await choice.selectOption({ label: "Entropy" });
  const slider = compare(page).getByRole("slider", { name: /^Entropy/ });
  await page.getByLabel("Smoothing").fill("100");
  await slider.focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => /smoothed/.test(document.querySelector(".compare .plot").getAttribute("aria-valuetext")));
  const [, smoothed, raw] = /([\d.]+) smoothed, ([\d.]+) raw/.exec(await slider.getAttribute("aria-valuetext"));
  // Computes the average from the exported values. Its width is 10% of the axis, which ends at a round number of at least 100,000 steps.
  const exported = JSON.parse((await curvesAs(page, "JSON")).bytes).runs[0].metrics;
  const end = exported.env_steps.at(-1);
  const span = Math.max(
    100_000,
    [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((k) => k * 10 ** Math.floor(Math.log10(end * 1.02))).find((round) => round >= end * 1.02),
  );
  let mean;
  exported.entropy.forEach((value, k) => {
    const kept = k === 0 ? 0 : Math.exp(-(exported.env_steps[k] - exported.env_steps[k - 1]) / (0.1 * span));
    mean = k === 0 ? value : kept * mean + (1 - kept) * value;
  });
  assert.equal(Number(smoothed), Number(mean.toPrecision(3)));
  assert.equal(Number(raw), Number(exported.entropy.at(-1).toPrecision(3)));
  // Shows another column on the logarithmic scale.
  await choice.selectOption({ label: "Value loss" });
  await page.getByLabel("Log scale").check();
  await compare(page)
    .getByRole("slider", { name: /^Value loss: [\d.]+ after/ })
    .waitFor();
  await page.context().close();
});

/** Runs in the page: decodes a picture. Returns its size in px, the numbers of pixels of some colours, and the red channel of a corner. */
async function decoded(base64) {
  const image = await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)], { type: "image/png" }));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const c = canvas.getContext("2d");
  c.drawImage(image, 0, 0);
  const { data } = c.getImageData(0, 0, image.width, image.height);
  const style = getComputedStyle(document.documentElement);
  const colours = ["paper", "ink", "training", "agent"].map((name) => {
    const colour = style.getPropertyValue(`--${name}`).trim();
    const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    let pixels = 0;
    for (let at = 0; at < data.length; at += 4) pixels += channels.every((value, channel) => data[at + channel] === value);
    return [name, pixels];
  });
  return { width: image.width, height: image.height, colours: Object.fromEntries(colours), corner: data[0] };
}

test("the exported picture of the curves uses the current theme; if it cannot be encoded, the page shows an error", async () => {
  const page = await enter();
  // The past run is longer, because the current curve covers the first part of the past curve.
  await trainedTwice(page, 70, 40);
  await select(page, PAST);
  await compare(page).scrollIntoViewIfNeeded();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
    const { name, bytes } = await curvesAs(page, "PNG");
    assert.match(name, /\.png$/);
    const { width, height, colours, corner } = await page.evaluate(decoded, bytes.toString("base64"));
    assert.ok(width === 2000 && height > 1000, `${width} by ${height}`);
    assert.equal(corner > 128, colorScheme === "light");
    // The picture contains the colours of the background, the text, the current curve and the other curve.
    for (const [name, least] of Object.entries({ paper: width * height * 0.6, ink: 50, training: 300, agent: 200 }))
      assert.ok(colours[name] > least, `${colorScheme}, ${name}: ${colours[name]} pixels`);
  }
  await page.evaluate(() => (HTMLCanvasElement.prototype.toBlob = (take) => take(null)));
  await page.getByRole("button", { name: "Export the shown curves" }).click();
  await page.getByRole("alert").getByText("The curves could not be exported: the browser could not encode the picture.").waitFor();
  await page.context().close();
});

test("the SVG of the curves has a path for each run, needs no other file, and escapes the names of runs", async () => {
  const page = await enter();
  await trainedTwice(page, 40, 40);
  await select(page, PAST);
  const evil = `<script>alert(1)</script> & "onload='x'" ]]>`;
  const field = list(page).nth(1).getByRole("textbox", { name: "Name of the run" });
  await field.fill(evil);
  await field.press("Enter");
  await compare(page).getByRole("list", { name: "Runs in the chart" }).getByText(evil).waitFor();
  await page.getByLabel("Smoothing").fill("60");
  const { name, bytes } = await curvesAs(page, "SVG");
  assert.equal(name, "hothouse-control-CartPole-v1-seed1-curves.svg");
  const text = bytes.toString();
  const drawn = await page.evaluate((text) => {
    const { documentElement: root } = new DOMParser().parseFromString(text, "image/svg+xml");
    const all = (selector) => [...root.querySelectorAll(selector)];
    const style = getComputedStyle(document.documentElement);
    return {
      root: [root.tagName, root.getAttribute("width"), root.querySelector("title").textContent],
      paths: all("path > title").map(({ textContent, parentElement: path }) => ({
        run: textContent,
        colour: path.getAttribute("stroke"),
        dash: path.getAttribute("stroke-dasharray"),
        points: path.getAttribute("d").split(/[ML]/).length,
      })),
      texts: all("text").map(({ textContent }) => textContent),
      tags: [...new Set(all("*").map(({ tagName }) => tagName))].sort(),
      attributes: [...new Set(all("*").flatMap((one) => one.getAttributeNames()))],
      colours: ["training", "agent", "paper"].map((name) => style.getPropertyValue(`--${name}`).trim()),
      ground: root.querySelector("rect").getAttribute("fill"),
      errors: all("parsererror").length,
    };
  }, text);
  const [training, agent, paper] = drawn.colours;
  assert.deepEqual(drawn.root, ["svg", "1000", "Mean return. Control, CartPole-v1, seed 1, envs=64"]);
  assert.deepEqual(drawn.errors, 0);
  const others = drawn.paths.map(({ points, ...path }) => (assert.ok(points > 10, `${points} points`), path));
  assert.deepEqual(others, [
    { run: evil, colour: agent, dash: "8 4" },
    { run: "Current run", colour: training, dash: null },
  ]);
  assert.equal(drawn.ground, paper);
  // The picture contains the texts of the axes, the letter at the end of a curve, and the legend.
  for (const wanted of ["Mean return", "Steps", "0", "500", "A", "goal 475", "Current run", `A  ${evil}`])
    assert.ok(drawn.texts.includes(wanted), `${wanted} among ${drawn.texts}`);
  assert.deepEqual(drawn.tags, ["clipPath", "g", "path", "rect", "text", "title"]);
  assert.ok(!drawn.attributes.some((name) => /^on|href|style|src/.test(name)), drawn.attributes.join());
  assert.doesNotMatch(text.replace(' xmlns="http://www.w3.org/2000/svg"', ""), /<script|https?:|url\((?!#)/);
  await page.context().close();
});

test("the SVG of a chart with a logarithmic scale and several curves has ticks and a named path for each curve", async () => {
  const page = await replayed(here, { at: "#/words/compare?steps=4&v=2", paused: true });
  await page.waitForFunction(() => hothouse.progress?.iteration > 0);
  await steps(page, 3);
  const { bytes } = await curvesAs(page, "SVG");
  const names = [...bytes.toString().matchAll(/<path[^>]*><title>([^<]*)<\/title>/g)].map(([, name]) => name);
  assert.ok(names.includes("Current run: training"), names.join());
  assert.ok(new Set(names).size === names.length);
  await page.context().close();
});

test("a logarithmic scale has ticks for any limits", async () => {
  const { logarithmicTicks } = await part("parts/ticks");
  assert.deepEqual(logarithmicTicks(0.0096, 0.31, 0.1), [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.2, 0.3]);
  assert.deepEqual(logarithmicTicks(5, 20, 5), [5, 6, 7, 8, 9, 10, 20]);
  assert.deepEqual(logarithmicTicks(0.123, 0.171, 0.02), [0.14, 0.16]);
  for (const [low, high] of [
    [0, 1],
    [-1, 1],
    [1, Infinity],
    [NaN, 1],
  ])
    assert.deepEqual(logarithmicTicks(low, high, 1), []);
  for (let from = 1; from < 10; from += 0.01)
    for (const power of [-320, -30, -3, -2, -1, 0, 1, 20, 300])
      for (const by of [1.0001, 1.4, 3, 200, 1e6]) {
        const [low, high] = [from * 10 ** power, from * 10 ** power * by];
        const ticks = logarithmicTicks(low, high, (high - low) / 4);
        assert.ok(ticks.length <= 64 && (by < 3 || ticks.length > 1 || power < -300), `${low} to ${high}: ${ticks}`);
        assert.ok(
          ticks.every((tick, at) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9) && (at === 0 || tick > ticks[at - 1])),
          `${low} to ${high}: ${ticks}`,
        );
      }
});

test("a chart draws a logarithmic scale that starts just below a power of ten", async () => {
  const page = await replayed(here, { started: false });
  await page.evaluate(await script("parts/chart"));
  const [drawn, empty] = await page.evaluate(async () => {
    const words = (at) => String(at);
    const pictures = [];
    // The logarithmic scale starts slightly below the smallest value. If it started at 0.0096, uPlot's own loop over the ticks would never
    // end.
    for (const loss of [[0.3, 0.1, 0.0115], []]) {
      const chart = new part.Chart({ column: "loss", title: "Loss", about: "", log: true, axis: { tick: words, close: words, words } });
      document.body.append(chart.element);
      chart.show({
        present: { at: loss.map((_, at) => at), columns: { loss }, changes: [], tests: [] },
        overlays: [],
        range: [0, 2],
        smoothing: 0,
      });
      chart.draw();
      await chart.offscreen({ width: 300, height: 90, pixels: 1 }, ({ ctx }) => pictures.push(ctx.canvas.toDataURL()));
    }
    return pictures;
  });
  assert.notEqual(drawn, empty);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("without storage, runs last for the visit, and the page shows a message", async () => {
  const refuse = () => {
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (name, ...rest) {
      if (name === "hothouse-curves") throw new DOMException("not here", "SecurityError");
      return open.call(this, name, ...rest);
    };
  };
  const page = await enter({ init: `(${clocked})(); (${refuse})();` });
  await page.getByText(/This browser could not store runs \(not here\)/).waitFor();
  await trained(page, 5);
  await listed(page, 2);
  await select(page);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("the oldest runs are dropped, except selected ones", async () => {
  const page = await enter();
  await keptWhere(page, (all) => all.length === 1);
  // Stores fifty copies of the run with earlier dates.
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        const request = indexedDB.open("hothouse-curves", 1);
        request.onsuccess = () => {
          const work = request.result.transaction("runs", "readwrite");
          const store = work.objectStore("runs");
          store.getAll().onsuccess = ({ target }) => {
            const [run] = target.result;
            for (let k = 0; k < 50; k++)
              store.put(
                { ...run, id: `old-${k}`, name: `old ${k}`, beganMs: 1000 + k, progress: { ...run.progress, train_s: 1e6 } },
                `control/old-${k}`,
              );
          };
          work.oncomplete = () => resolve();
        };
      }),
  );
  await page.reload();
  await lab(page);
  const all = await keptWhere(page, (all) => all.length <= 40);
  assert.ok(all.some(({ name }) => name === "old 49") && !all.some(({ name }) => name === "old 0"));
  await page.context().close();
});

test("of more runs than the limit, the latest 40 are kept when the list is loaded", async () => {
  const page = await replayed(here, { started: false });
  // The list belongs to a room that has no run, so only the loading can drop runs.
  const use = async (work) => {
    await page.evaluate(await script("parts/runs"));
    return page.evaluate(work);
  };
  const stored = () =>
    new Promise((resolve) => {
      const request = indexedDB.open("hothouse-curves", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("runs");
      request.onsuccess = () => {
        const work = request.result.transaction("runs", "readwrite");
        const store = work.objectStore("runs");
        const progress = { iteration: 3, counts: [3], train_s: 3 };
        const [none, run] = [
          new Float64Array(),
          { variant: "v", settings: {}, defaults: {}, labels: {}, marks: [], columns: {}, tests: [] },
        ];
        for (let k = 0; k < 45; k++)
          store.put(
            {
              ...{ ...run, id: `${k}`, name: `run ${k}`, beganMs: 1000 + k, progress, solved: null },
              ...{ config: { seed: 1, knobs: {} }, iterations: none, counts: none, train_s: none },
            },
            `shelf/${k}`,
          );
        work.oncomplete = () => (request.result.close(), resolve());
      };
    });
  await page.evaluate(stored);
  await page.reload();
  const names = await use(async () => {
    const room = { id: "shelf", title: "Shelf", counters: [{ name: "steps", unit: "steps", label: "Steps" }], metrics: [], tests: [] };
    const runs = new part.Runs(room, { past: () => undefined });
    document.body.append(runs.element);
    while (!runs.element.querySelector("li")) await new Promise(requestAnimationFrame);
    return [...runs.element.querySelectorAll("textarea")].map(({ value }) => value);
  });
  assert.deepEqual(
    names,
    Array.from({ length: 40 }, (_, k) => `run ${44 - k}`),
  );
  await keptWhere(page, (all) => all.filter(({ name }) => /^run \d/.test(name)).length === 40);
  await page.context().close();
});

/** Opens the section for sweeps and requests a sweep of three values with three seeds each. */
const beginSweep = async (page) => {
  await place(page, "Compare", "Sweep");
  await page.getByLabel("Seeds each").selectOption("3");
  await page.getByLabel("Values", { exact: true }).selectOption("3");
  await page.getByLabel("Steps each").selectOption("100000");
  await page.getByRole("button", { name: "Start the sweep" }).click();
};
/** Checks the bands of a finished sweep. */
const banded = async (page) => {
  await page.getByText(/^Done: /).waitFor();
  assert.equal(await page.locator(".sweep-grid progress:not([hidden])").count(), 0);
  const bands = () => page.locator(".sweep-grid .seeds").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")));
  const range = await bands();
  assert.ok(range.length === 3 && range.every((d) => /^M.*L.*Z$/.test(d)), range.join(" | "));
  await page.getByLabel("Band around the mean").selectOption("error");
  assert.notDeepEqual(await bands(), range);
  await page.getByRole("button", { name: "The sweep as a table" }).click();
  assert.match(await page.getByRole("region", { name: "The sweep as a table" }).getByRole("row").nth(1).textContent(), / ± .* at /);
  await page.context().close();
};

test("a sweep shows its progress before the first test, the page explains the pause, and bands cover the seeds", async () => {
  const page = await enter({ init: `(${clocked})(); (${watched})(["sweep"]);` });
  await beginSweep(page);
  const { values, seeds } = await page.evaluate(() => sent.find(({ spec }) => spec).spec);
  assert.deepEqual([values.length, seeds], [3, 3]);
  const cells = values.flatMap((value, k) =>
    [1, 2, 3].map((seed) => ({ value, seed, k, curve: [], solved_at: null, done: false, diverged: false })),
  );
  const sends = (of) => tell(page, { kind: "sweep", cells: cells.map((cell) => ({ ...cell, ...of(cell) })), done: of(cells[0]).done });
  const progress = (steps) => ({ iteration: steps / ROW, counts: [steps, 25], train_s: 1 });
  await sends(({ seed }) => ({ progress: progress(seed * ROW), done: false }));
  assert.equal(await page.locator(".sweep-grid").getByText("3.07k of 100k steps; no test yet", { exact: true }).count(), 3);
  await page.getByText("Paused until the sweep ends.").waitFor();
  await sends(({ seed, k }) => ({
    progress: progress(98 * ROW),
    curve: [ROW, 50 * ROW, 98 * ROW].map((at, test) => [at, 20 * (k + 1) * (test + 1) + 9 * seed ** 2]),
    done: true,
  }));
  await banded(page);
});

inAll(
  "a sweep shows its progress before the first test, the page explains the pause, and bands cover the seeds",
  "a sweep that trains shows its progress before the first test, the page explains the pause, and bands cover the seeds",
  async () => {
    const page = await visit(here, { at: SMALL });
    await event(page, "metrics");
    await page.evaluate(() => {
      globalThis.messages = new Set();
      const observer = new MutationObserver(() =>
        document.querySelectorAll(".sweep-grid li p, .lead").forEach(({ textContent }) => messages.add(textContent)),
      );
      for (const element of document.querySelectorAll(".sweep, .lead"))
        observer.observe(element, { childList: true, characterData: true, subtree: true });
    });
    await beginSweep(page);
    await page.getByText(/^Done: /).waitFor();
    const messages = await page.evaluate(() => [...globalThis.messages]);
    for (const wanted of [/Paused until the sweep ends\./, /^[\d.]+k? of 100k steps; no test yet$/])
      assert.ok(
        messages.some((words) => wanted.test(words)),
        messages.join(" | "),
      );
    await banded(page);
  },
);

test("the comparison passes axe (desktop light, narrow phone dark) and fits the screen", async () => {
  const page = await enter();
  await trained(page, 20);
  await listed(page, 2);
  await select(page);
  for (const [width, colorScheme] of [
    [1280, "light"],
    [320, "dark"],
  ]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 800 });
    // The charts take the new width in a later frame.
    await page.waitForFunction((width) => document.documentElement.scrollWidth === width, width);
    await accessible(page);
    await fits(page);
  }
  await page.context().close();
});
