// Interaction with the control room: pushing the pole, changing knobs, restoring, tables, saving and loading.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, begun, event, house, place, reveal, script, stepped, until, visit, WAIT_MS } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);
/** Address of a small run with short iterations. */
const SMALL = "#/control?envs=64&v=2";
/** Interval between two requests of the page for histograms. */
const ASK_EVERY_MS = 1000;

const texts = (page, selector) => page.locator(selector).allTextContents();
const announced = (page, text) =>
  page.waitForFunction((source) => new RegExp(source).test(document.querySelector("[aria-live=polite]").textContent), text);
/**
 * Listens for an announcement, because a later announcement may replace it after three seconds. The returned function awaits the
 * announcement.
 */
const announcement = (page, text) =>
  begun(
    page,
    (source) =>
      new Promise((resolve) => {
        const place = document.querySelector("[aria-live=polite]");
        const look = () => new RegExp(source).test(place.textContent) && resolve();
        new MutationObserver(look).observe(place, { childList: true });
      }),
    text,
  );

/** Changes a knob live, and restores the run before the change. */
async function undoes(page) {
  const field = page.getByRole("spinbutton", { name: "Learning rate", exact: true });
  const before = await field.inputValue();
  const marked = await ahead(page, "mark");
  const said = await announcement(page, "Learning rate is now 0.001");
  await field.fill("0.001");
  await field.press("Enter");
  const mark = await marked();
  assert.deepEqual([mark.knob, mark.to], ["lr", 0.001]);
  for (let k = 0; k < 3; k++) await stepped(page);
  await page.getByRole("button", { name: "Mean return as a table" }).click();
  await page.getByRole("cell", { name: /Learning rate changed from .* to 0.001/ }).waitFor();

  const began = await begun(page, () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "began" && resolve(event))));
  await page.getByRole("button", { name: "All knobs" }).click();
  await page.getByRole("button", { name: /^Restore the run before Learning rate/ }).click();
  const { progress: at, marks, history } = await began();
  assert.equal(at.iteration, mark.progress.iteration);
  assert.deepEqual(marks, []);
  assert.equal(history.length, at.iteration);
  assert.equal(await field.inputValue(), before);
  await page.getByLabel(/^Past run: Learning rate .* → 0\.001/).waitFor();
  await said(); // earlier announcements may delay it by seconds
}

test("a live change leaves a mark and can be undone; the undone curve stays as the past run", async () => {
  const page = await replayed(here, { at: SMALL, paused: true });
  await undoes(page);
  await page.context().close();
});

inAll(
  "a live change leaves a mark and can be undone; the undone curve stays as the past run",
  "a live change of a run that trains can be undone",
  async () => {
    const page = await visit(here, { at: SMALL });
    await event(page, "metrics");
    await undoes(page);
    await page.context().close();
  },
);

test("the current learning rate is shown beside the setting, whose name shows the help", async () => {
  const page = await replayed(here, { at: SMALL });
  await page.evaluate(() => {
    const at = hothouse.room.metrics.findIndex(({ name }) => name === "lr");
    hothouse.onEvent((event) => event.kind === "metrics" && (globalThis.newestLr = event.values[at]));
    for (const kind of ["pause", "step"]) hothouse.command({ kind });
  });
  const knob = page.locator(".knob", { has: page.getByLabel("Learning rate", { exact: true }) });
  const shown = await knob.locator(".now").elementHandle();
  await page.waitForFunction(
    (shown) => Number(shown.textContent.match(/^now (0\.\d+)$/)?.[1]) === Number(globalThis.newestLr?.toPrecision(2)),
    shown,
  );
  for (const isShown of [true, false]) {
    await knob.locator("label").click();
    assert.equal((await knob.locator("p").first().boundingBox()).width > 1, isShown);
  }
  await page.context().close();
});

inAll("replacing a run can be undone: by a new run, a file or a link", "the previous run can be restored after a new start", async () => {
  const page = await visit(here, { at: SMALL });
  await event(page, "metrics", 5);
  const began = () => begun(page, () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "began" && resolve(event))));
  const back = page.getByRole("button", { name: "Back to the previous run" });
  assert.equal(await back.count(), 0);
  // At real time an iteration takes long, but the previous run must be saved without delay.
  await page.keyboard.press("1");
  const fresh = await began();
  await page.keyboard.press("r");
  assert.equal((await fresh()).progress.iteration, 0);
  await page.keyboard.press("4");
  await back.waitFor();
  await event(page, "metrics", 3);
  const again = await began();
  await back.click();
  const { progress: at, history } = await again();
  assert.ok(at.iteration >= 5, `back at ${at.iteration}`);
  assert.equal(history.length, at.iteration);
  await page.context().close();
});

test("a change of a fixed knob is pending until a new run, and can be undone; a value out of range shows the valid range", async () => {
  const page = await replayed(here, { at: SMALL });
  await place(page, "Settings", "New run");
  const field = page.getByLabel("Environments", { exact: true });
  await field.fill("128");
  await field.press("Enter");
  await page.getByText("One change applies to a new run").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  assert.equal(await field.inputValue(), "64");

  await field.fill("128");
  await field.press("Enter");
  const began = await ahead(page, "began");
  // A pending change is not styled as an error.
  const [waits, error] = await page.evaluate(() => [
    getComputedStyle(document.querySelector(".waits label")).color,
    getComputedStyle(document.documentElement).getPropertyValue("--error"),
  ]);
  const refused = await page.evaluate(
    (colour) => Object.assign(document.createElement("i"), { style: `color: ${colour}` }).style.color,
    error,
  );
  assert.notEqual(waits, refused);
  await page.getByRole("button", { name: "Start new run" }).click();
  assert.equal((await began()).knobs.envs, 128);
  assert.equal(await page.getByRole("button", { name: "Start new run" }).count(), 0);

  // A value out of range shows the valid range beside the field.
  await place(page, "Live");
  const rate = page.getByRole("spinbutton", { name: "Learning rate", exact: true });
  await rate.fill("7");
  await rate.press("Enter");
  await page.getByText("Enter a number from 0.00001 to 0.1.").waitFor();
  assert.equal(await rate.getAttribute("aria-invalid"), "true");
  await page.context().close();
});

/** Pushes the single pole by keys, and pulls its cart by the pointer. */
async function push(page) {
  const pole = page.getByRole("application", { name: "The single pole" });
  await page.evaluate(() => {
    globalThis.pushes = [];
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = (question) => {
      const { touch } = question;
      if (touch && (touch.cart_force || touch.tip_force)) pushes.push(touch);
      return ask(question);
    };
  });
  const pushed = (test) => until(page, `pushes.some(${test})`);
  await pole.focus();
  const said = await announcement(page, "Pushing the cart right");
  await page.keyboard.down("ArrowRight");
  await pushed("({ cart_force }) => cart_force > 0");
  await said();
  await page.keyboard.up("ArrowRight");
  await page.keyboard.down("Shift");
  await page.keyboard.down("ArrowLeft");
  await pushed("({ tip_force }) => tip_force < 0");
  await page.keyboard.up("ArrowLeft");
  await page.keyboard.up("Shift");

  // Searches for the moving cart along the track: a drag has an effect only if it starts at the cart.
  const box = await pole.boundingBox();
  const y = box.y + box.height - 30;
  await page.evaluate(() => (pushes.length = 0));
  let held = false;
  // The cart can be gripped only after the worker has answered.
  for (let [i, began] = [0, performance.now()]; !held && performance.now() - began < WAIT_MS; i++) {
    const x = box.x + ((box.width / 2 + i * 20) % box.width); // an episode begins in the middle
    await page.mouse.move(x, y);
    await page.mouse.down();
    // The pull is to the left even if the next episode begins with the cart in the middle.
    await page.mouse.move(Math.min(x - 90, box.x), y);
    held = (await page.locator(".stage-field.held").count()) > 0;
    if (held) await pushed("({ cart_force, tip_force }) => cart_force < 0 || tip_force < 0");
    await page.mouse.up();
  }
  assert.ok(held, "the cart was not found on the track");
}

test("the single pole is pushed by keys and by pointer", async () => {
  const page = await replayed(here, { at: SMALL });
  await push(page);
  await page.context().close();
});

inAll("the single pole is pushed by keys and by pointer", "a run trains while its single pole is pushed", async () => {
  const page = await visit(here, { at: SMALL });
  const { iteration } = (await event(page, "metrics")).progress;
  await push(page);
  await event(page, "metrics", iteration + 2);
  await page.context().close();
});

test("dialogs take and restore the focus; single keys never act from a field and can be turned off; the theme is remembered", async () => {
  const page = await replayed(here, { at: SMALL, context: { colorScheme: "light" } });
  const badge = page.getByRole("button", { name: /^In use/ });
  await badge.click();
  const dialog = page.getByRole("dialog", { name: "System in use" });
  await dialog.waitFor();
  assert.ok(await dialog.evaluate((element) => element.contains(document.activeElement)));
  await page.keyboard.press("Escape");
  assert.ok(await badge.evaluate((element) => element === document.activeElement));
  await badge.click();
  await dialog.getByRole("button", { name: "Choose the device" }).click();
  await page.locator("div.device").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);

  await place(page, "Settings", "New run");
  await page.getByLabel("Seed", { exact: true }).focus();
  await page.keyboard.press("r");
  await page.keyboard.press("?");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Help" }).waitFor();
  await page.getByRole("switch", { name: "Single-key shortcuts" }).click();
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  assert.equal(await page.getByRole("dialog").count(), 0);

  // The theme choice is remembered.
  await page.getByRole("button", { name: /^Colours/ }).click();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.context().close();
});

test("a loaded run continues where it was saved, with the replaced run as its past run", async () => {
  const page = await replayed(here, { at: SMALL });
  await place(page, "Share");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save run" }).click()]);
  assert.match(file.suggestedFilename(), /^hothouse-control-CartPole-v1-seed1-.*\.safetensors$/);
  await page.getByRole("button", { name: "New run", exact: true }).click();
  const began = await begun(
    page,
    () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "began" && event.progress.iteration > 0 && resolve(event))),
  );
  await page.locator("input[type=file]").setInputFiles(await file.path());
  const { progress: at, history } = await began();
  assert.ok(at.iteration >= 4);
  assert.equal(history.length, at.iteration);
  await page.getByLabel(/^Past run: same settings/).waitFor();
  await page.context().close();
});

test("every chart, the network and the time breakdown have tables with caption and headings", async () => {
  const page = await replayed(here, { at: SMALL });
  for (const [name, columns] of [
    ["Mean return as a table", ["Steps", "Time", "Training return", "Past run", "Events"]],
    ["State plane as a table", ["angular velocity", "−0.209", "−0.105", "0", "0.105", "0.209"]],
    [
      "Training metrics as a table",
      [
        "Steps",
        "Time",
        "Episode length",
        "Policy loss",
        "Value loss",
        "Entropy",
        "Approx. KL",
        "Clip fraction",
        "Explained variance",
        "Gradient norm",
        "Learning rate",
        "Steps per second",
      ],
    ],
    ["The network as a table", ["Kernel", "Operation", "Output", "Weights", "Inputs"]],
  ]) {
    // The state plane and the drawing of the network are loaded when their sections are first shown.
    if (name.startsWith("State plane")) await place(page, "Explore", "State plane");
    if (name.startsWith("The network")) await place(page, "Explore", "Network");
    await reveal(page.getByRole("button", { name, includeHidden: true }));
    await page.getByRole("button", { name }).click();
    const region = page.getByRole("region", { name });
    assert.deepEqual(await region.getByRole("columnheader").allTextContents(), columns);
    // The rows of the plane and of the network wait for the worker's answer.
    await region.getByRole("rowheader").nth(1).waitFor();
    assert.notEqual(await region.locator("caption").textContent(), "");
  }
  // The breakdown of the time is a bar and a table. The click also scrolls the bar into view. Elements outside the screen are not drawn.
  await place(page, "Explore", "Training metrics");
  await page.getByRole("button", { name: "Where the time goes as a table" }).click();
  await page
    .getByRole("figure", { name: "Where the time goes" })
    .getByRole("img", { name: /^[A-Z][a-z]+ [0-9]+%, / })
    .waitFor();
  const table = page.getByRole("region", { name: "Where the time goes as a table" });
  const shares = (await table.locator("td:nth-child(2)").allTextContents()).map((share) => parseInt(share, 10));
  assert.equal(shares.length, 9);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  assert.ok(Math.abs(whole - 100) <= 4, `the parts make ${whole} %`);
  await page.context().close();
});

test("Network shows histograms of weights and gradients by layer, and asks only while it is on the screen", async () => {
  const page = await replayed(here, { at: SMALL });
  await page.evaluate(() => {
    const ask = hothouse.tensors.bind(hothouse);
    globalThis.asked = 0;
    hothouse.tensors = () => (globalThis.asked++, ask());
  });
  const asked = () => page.evaluate(() => globalThis.asked);
  await place(page, "Explore", "Network");
  await page.getByText("No values yet").scrollIntoViewIfNeeded();
  const pictures = page.locator(".tensor canvas");
  await pictures.first().waitFor();
  assert.equal(await pictures.count(), 5, "weights and gradients of a weight and of a bias, and activations");
  await page.getByLabel("Layer", { exact: true }).selectOption("critic.2");
  await page.getByRole("img", { name: /^Weights of critic\.2\.weight, (?:[2-9]|\d{2,}) samples; latest: min .*, deviation / }).waitFor();
  await page.getByRole("img", { name: /^Average gradient: Adam’s first moment of critic\.2\.bias, / }).waitFor();
  await page.getByRole("img", { name: /^Activations of the layer in recent states of critic\.2\.weight, / }).waitFor();
  await page.getByRole("button", { name: "Weights and gradients as a table" }).click();
  const table = page.getByRole("region", { name: "Weights and gradients as a table" });
  await table.getByRole("rowheader", { name: "policy.0.weight" }).first().waitFor();
  await place(page, "Live");
  // When this observer reports, the page's own observer has reported that the histograms are off the screen.
  await page.evaluate(
    () => new Promise((resolve) => new IntersectionObserver(() => resolve()).observe(document.querySelector(".tensors"))),
  );
  const before = await asked();
  await page.waitForTimeout(ASK_EVERY_MS + 300);
  assert.ok(before >= 2 && (await asked()) === before, `${before} questions, then ${await asked()}`);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("training is announced to screen readers at a limited rate", async () => {
  const page = await here.browser.newPage();
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(60_000);
  await page.evaluate(await script("parts/announce"));
  const spoken = async (ms) => {
    await page.clock.runFor(ms);
    return page.evaluate(() => announcer.element.textContent);
  };
  const reports = (text) => page.evaluate((text) => announcer.progress(() => text), text);
  await page.evaluate(() => {
    globalThis.announcer = new part.Announcer();
    // A newer announcement about the same topic replaces one that waits.
    for (const [text, about] of [["first"], ["outdated", "lr"], ["second", "lr"]]) announcer.say(text, about);
  });
  assert.equal(await spoken(0), "first");
  await reports("progress");
  assert.equal(await spoken(2999), "first");
  assert.equal(await spoken(1), "second");
  // Progress is reported at most once in ten seconds.
  await reports("progress");
  assert.equal(await spoken(9999), "second");
  await reports("progress");
  assert.equal(await spoken(1), "second");
  await reports("progress");
  assert.equal(await spoken(0), "progress");
  await page.context().close();
});

inAll("training is announced to screen readers at a limited rate", "the progress of a run that trains is announced", async () => {
  const page = await visit(here, { at: SMALL });
  await announced(page, "Mean return .* after .* steps");
  await page.context().close();
});

inAll(
  "a link copied after live changes reproduces the run, and the page confirms it",
  "a link contains the run's settings, and the native command starts the same run",
  async () => {
    const page = await visit(here, { at: "#/control?envs=64&seed=7&v=2", context: { permissions: ["clipboard-read", "clipboard-write"] } });
    await event(page, "metrics");
    await place(page, "Share");
    // The button shows for two seconds that the link was copied.
    const copied = await begun(
      page,
      () =>
        new Promise((resolve) => {
          const place = document.querySelector(".saving");
          const look = () => [...place.querySelectorAll("button")].some(({ textContent }) => textContent === "Link copied") && resolve();
          new MutationObserver(look).observe(place, { childList: true, subtree: true });
        }),
    );
    await page.getByRole("button", { name: "Copy link" }).click();
    await copied();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#\/control\?.*envs=64/);
    assert.match(link, /seed=7/);
    await place(page, "Share", "Terminal and Python");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save run" }).click()]);
    await page.getByText(`resume ${file.suggestedFilename()}`).waitFor();
    const [command, , python, restored] = await texts(page, ".commands .copy code");
    assert.match(command, /^cargo run --release -- train control .*--seed 7.*--set envs=64/);
    assert.equal(python, 'hothouse.Run("control", variant="CartPole-v1", seed=7, knobs={"envs": 64})');
    assert.equal(restored, `hothouse.Run.restore("${file.suggestedFilename()}")`);
    // A live change is part of the command at once.
    const field = page.getByRole("spinbutton", { name: "Learning rate", exact: true });
    await field.fill("0.001");
    await field.press("Enter");
    await page.getByText(/ --at \d+:lr=0.001/).waitFor();
    await page.getByText("The Python call does not; a saved run does.").waitFor();
    await page.context().close();
  },
);

const readsHistory = (use) => async () => {
  const page = await visit(here, { at: `?use=${use}${SMALL}` });
  await event(page, "metrics", 10);
  const { read, kept } = await page.evaluate(async () => {
    let read;
    const began = () =>
      new Promise((resolve) => {
        hothouse.onEvent((event) => event.kind === "began" && resolve(event));
      });
    // Starts a new run, because the rows in its event `began` and in the later events are together all rows of the run.
    const far = new Promise((resolve) =>
      hothouse.onEvent((event) => {
        if (event.kind === "began") read = { metrics: event.history, test: event.tests };
        // Rows before the `began` event belong to the previous run.
        if (!read) return;
        read[event.kind]?.push(event);
        if (event.progress?.iteration >= 20 && event.kind === "test") resolve();
      }),
    );
    hothouse.command({ kind: "reset", config: null });
    await far;
    const { metrics, test } = read;
    hothouse.command({ kind: "pause" });
    const bytes = await hothouse.save();
    // Waits for all rows from before the pause. The saved file contains their number.
    const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    const { progress, tests } = JSON.parse(header.__metadata__.hothouse);
    while (metrics.at(-1).progress.iteration < progress.iteration || test.length < tests.length)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    const again = began();
    hothouse.command({ kind: "restore", bytes });
    return { read: { metrics, test }, kept: await again };
  });
  const plain = ({ kind, ...rest }) => rest;
  assert.ok(read.metrics.length >= 20 && read.test.length > 2);
  assert.deepEqual(read.metrics.map(plain), kept.history);
  assert.deepEqual(read.test.map(plain), kept.tests);
  assert.equal(await page.evaluate(() => hothouse.backend.module.startsWith("threads")), use === "auto");
  await page.context().close();
};

test("values read from the monitor equal the run's own history", readsHistory("auto"));
inAll("values read from the monitor equal the run's own history", "values read without threads equal the history", readsHistory("simd128"));

test("gradient operations are timed while their table is open", async () => {
  const page = await replayed(here, { at: SMALL });
  // The recording has no operations.
  await page.evaluate(() => {
    globalThis.looks = [];
    const op = (name, shape, seconds) => ({ name, shape, calls: 2, seconds });
    hothouse.operations = async (look) => (looks.push(look), look ? [op("linear", "64x4x32", 3), op("tanh", "64x32", 1)] : []);
  });
  await place(page, "Explore", "Training metrics");
  const button = page.getByRole("button", { name: "Time by operation as a table" });
  const table = page.getByRole("region", { name: "Time by operation as a table" });
  await button.click();
  await table.getByRole("rowheader", { name: "linear", exact: true }).waitFor();
  const shares = (await table.locator("td:nth-child(4)").allTextContents()).map((share) => parseFloat(share));
  assert.deepEqual(shares, [75, 25]);
  await button.click();
  assert.equal(await table.isVisible(), false);
  await until(page, () => looks.at(-1) === false);
  await page.evaluate(() => (hothouse.operations = async () => null));
  await button.click();
  await table.getByText("This learner has no plan of operations to measure").waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "gradient operations are timed while their table is open",
  "gradient operations are timed in every room whose learner has a plan",
  async () => {
    const opened = async (at) => {
      const page = await visit(here, { at });
      await place(page, "Explore", "Training metrics");
      const button = page.getByRole("button", { name: "Time by operation as a table" });
      const table = page.getByRole("region", { name: "Time by operation as a table" });
      return { page, button, table };
    };
    const left = async (page) => {
      assert.deepEqual(page.said, []);
      await page.context().close();
    };
    for (const [at, shape] of [
      [SMALL, /^\d+x4x\d+$/],
      ["#/words?width=32&layers=2&heads=2&context=32&batch=4&micro=2&steps=2&characters=60000&v=2", /^\d+x32x96$/],
    ]) {
      const { page, button, table } = await opened(at);
      await event(page, "metrics", 2);
      await button.click();
      const linear = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "linear", exact: true }) });
      await linear.locator("td:nth-child(2)").filter({ hasText: shape }).first().waitFor({ timeout: WAIT_MS });
      const shares = (await table.locator("td:nth-child(4)").allTextContents()).map((share) => parseFloat(share));
      const whole = shares.reduce((sum, share) => sum + share, 0);
      assert.ok(Math.abs(whole - 100) < 3, `the operations make ${whole} %`);
      await button.click();
      assert.equal(await table.isVisible(), false);
      assert.ok((await page.evaluate(() => hothouse.operations(false))).length === 0, "profiling is off");
      await left(page);
    }
    const { page, button, table } = await opened("#/logic?population=2&batch=1&updates=2&v=2");
    await button.click();
    await table.getByText("This learner has no plan of operations to measure").waitFor({ timeout: WAIT_MS });
    await left(page);
  },
);
