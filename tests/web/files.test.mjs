// Environments that the visitor writes: the switch to them, training from the editor, pictures, keys, errors, links and saved runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import { aheadWhere, event, folder, hothouse, house, place, until, visit } from "./fixture.mjs";
import { accessible } from "./rooms.mjs";

const here = house();
const SMALL = "#/control?envs=64&v=2";
const FILE = join(root, "crates/worlds/src/control/script/templates/catch.py");
const CATCH = readFileSync(FILE, "utf8");
const WIDE = { viewport: { width: 1440, height: 900 } };

const code = (page) => page.locator(".cm-content");
const own = (page) => page.getByRole("link", { name: "Your environment", exact: true });
/** Listens for the next run that begins in a visitor's environment. Must be called before the action that starts the run. */
const beginning = (page) => aheadWhere(page, "began", `(event) => event.config.variant === "own"`);

/** Trains, or pauses so that training does not slow the page. */
const start = (page) => page.evaluate(() => hothouse.command({ kind: "start" }));
const pause = (page) => page.evaluate(() => hothouse.command({ kind: "pause" }));

/** Opens the page, and switches to the visitor's environments. The run is paused. */
async function openPaused(options = {}) {
  const page = await visit(here, { at: SMALL, context: WIDE, paused: true, ...options });
  await own(page).click();
  await until(page, "hothouse?.variant.id === 'own'");
  return page;
}

/** Opens the page, and trains in a visitor's environment. */
async function openOwn(options) {
  const page = await openPaused(options);
  await start(page);
  await event(page, "metrics");
  return page;
}

/** Starts a run in the same file with few environments, so that its iterations are short. */
async function fewer(page) {
  await page.evaluate(async () => (location.hash = `${(await hothouse.shared()).link}&envs=64`));
  // In the page's own link to the new run, the file follows the settings.
  await until(page, "/&envs=64&.*&file=/.test(location.hash)");
}

/** Shows the editor, and waits until it contains a file. */
async function openEditor(page) {
  await place(page, "Live");
  await page.locator(".own-bar option").first().waitFor({ state: "attached" });
}

/** Opens the editor, and replaces its text as a visitor would. */
async function write(page, text) {
  await openEditor(page);
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** Drops a file on the page, as from the system's file manager. */
const drop = (page, name, text) =>
  page.evaluate(
    ([name, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], name));
      for (const kind of ["dragover", "drop"])
        document.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
    },
    [name, text],
  );

/** Waits until the editor shows a file, which is recognised by its name and by words of its text. */
async function showsFile(page, name, words) {
  await code(page).filter({ hasText: words }).waitFor();
  await until(page, (name) => document.querySelector(".own-bar select")?.selectedOptions[0]?.textContent === name, name);
}

/** Text of a file whose rules fail in the third step. */
const FAULTY = CATCH.replace("self.y += 1", "self.y += 1 + 0 // (2 - self.y)");
/** Text of a file with another first line. */
const MINE = CATCH.replace("ten falling fruits", "my fruits");

test("an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines", async () => {
  const page = await openPaused();
  await fewer(page);
  await start(page);
  await event(page, "metrics");
  assert.equal(await page.evaluate(() => hothouse.variant.about.summary), "Catch ten falling fruits with a basket");
  await until(
    page,
    `(() => {
      const canvas = document.querySelector(".stage canvas");
      const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return new Set(pixels).size > 3;
    })()`,
  );
  await event(page, "metrics", 4); // a past run is kept if it has several points
  if (ALL) await accessible(page);
  await pause(page);
  await write(page, CATCH.replace("(width - 1) / 2", "(width - 1) / 3"));
  const begun = await beginning(page);
  await page.keyboard.press("ControlOrMeta+Enter");
  const { config } = await begun();
  assert.equal(config.data.name, "catch.py");
  await start(page);
  await event(page, "metrics");
  await pause(page);
  await page.locator(".returns", { hasText: "Past run: other data" }).waitFor();
  await write(page, CATCH.replace("self.basket =", "self.basket = )"));
  const row = CATCH.split("\n").findIndex((line) => line.includes("self.basket =")) + 1;
  // The editor may first check the empty text, which has another problem.
  await page
    .locator(".own-problems button", { hasText: `Line ${row}:` })
    .first()
    .waitFor();
  assert.match(await page.locator(".own-problems").textContent(), new RegExp(`\\b${row}\\b`));
  // A text with an error starts no run, and the previous run continues.
  const iteration = await page.evaluate(() => hothouse.progress.iteration);
  await page.keyboard.press("ControlOrMeta+Enter");
  await start(page);
  await event(page, "metrics", iteration + 1);
  assert.equal(await page.evaluate(async () => (await hothouse.shared()).command.includes("catch.py")), true);
  // An error of the rules stops training.
  await write(page, FAULTY);
  await page.locator(".own-problems", { hasText: "No problems." }).waitFor();
  const stopped = await aheadWhere(page, "notice", `(event) => event.level === "error"`);
  await page.keyboard.press("ControlOrMeta+Enter");
  await start(page);
  const notice = await stopped();
  assert.match(`${notice.text} ${notice.next_step}`, /line \d+/);
  const step = page.locator(".push").getByRole("button", { name: "Step", exact: true });
  await step.click();
  await page.locator(".stage-actions", { hasText: "a division by zero" }).waitFor();
  await step.click();
  await page.locator(".stage-actions", { hasText: "before the error" }).waitFor();
  await page.locator(".own-problems", { hasText: "division by zero" }).waitFor();
  // A dropped file opens in the editor, and a key trains in it.
  await drop(page, "mine.py", MINE);
  await showsFile(page, "mine.py", "Catch my fruits");
  // The run in the other file stays until the visitor starts a run.
  assert.equal(await page.evaluate(() => hothouse.variant.about.summary), "Catch ten falling fruits with a basket");
  const dropped = await beginning(page);
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+Enter");
  assert.equal((await dropped()).config.data.name, "mine.py");
  await page.context().close();
});

/** Returns the places of the code, of the visible picture and of the transport bar. */
const places = (page) =>
  page.evaluate(() => {
    const boxOf = (css) =>
      [...document.querySelectorAll(css)]
        .find((element) => element.checkVisibility())
        .getBoundingClientRect()
        .toJSON();
    return { code: boxOf(".own-code"), picture: boxOf(".stage-field, .own-picture"), bar: boxOf(".transport") };
  });
/** Waits until a canvas shows at least `least` colours. */
const coloured = (page, css, least) =>
  until(
    page,
    ([css, least]) => {
      const canvas = document.querySelector(css);
      if (!canvas?.width || !canvas.height) return false;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size >= least;
    },
    [css, least],
  );

test("a link without a file opens the editor beside the pictures, and the preview is that of the text", async () => {
  const page = await visit(here, { at: "#/control?variant=own&envs=64&v=2", context: WIDE, paused: true });
  await showsFile(page, "catch.py", "Catch ten falling fruits");
  assert.equal(await page.evaluate(() => hothouse.variant.id), "own");
  assert.equal(await page.evaluate(async () => (await hothouse.shared()).link.includes("&envs=64&")), true);
  for (const viewport of [WIDE.viewport, { width: 1024, height: 768 }]) {
    await page.setViewportSize(viewport);
    const { code, picture, bar } = await places(page);
    assert.ok(code.right <= picture.left && code.top < picture.bottom && picture.top < code.bottom, JSON.stringify({ code, picture }));
    assert.ok(code.bottom <= bar.top && picture.bottom <= bar.top, JSON.stringify({ code, picture, bar }));
  }
  // The crowd consists of small pictures of the game.
  await page.getByRole("img", { name: /^32 small environments, in which the policy acts/ }).waitFor();
  await coloured(page, ".environments canvas", 8);
  // Another file has its own picture at once. The run in the first file continues.
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByRole("button", { name: /^snake\.py/ }).click();
  await page.locator(".own-sight", { hasText: "The agent learns it when you press Train." }).waitFor();
  assert.equal((await page.locator(".large").isVisible()) || (await page.locator(".environments").isVisible()), false);
  await coloured(page, ".own-picture", 3);
  assert.equal(await page.evaluate(() => hothouse.variant.name), "catch.py");
  // The problem is below its line and in the list, and the list is on the screen, also on a phone.
  const text = readFileSync(FILE.replace("catch.py", "snake.py"), "utf8");
  await write(page, text.replace("        self.hunger += 1", "    self.hunger += 1"));
  await page.locator(".own-problems", { hasText: "One problem." }).waitFor();
  await page.locator(".cm-problem", { hasText: "indent this line" }).waitFor();
  await page.locator(".own-sight", { hasText: "The picture shows the last version without an error" }).waitFor();
  for (const viewport of [WIDE.viewport, { width: 1024, height: 768 }, { width: 390, height: 844 }]) {
    await page.setViewportSize(viewport);
    await page.locator(".own-code").scrollIntoViewIfNeeded();
    const list = await page.getByRole("list", { name: "Problems" }).boundingBox();
    const { code, picture, bar } = await places(page);
    assert.ok(list.y + list.height <= bar.top, `${viewport.width}: ${JSON.stringify({ list, bar })}`);
    assert.equal(code.top >= picture.bottom, viewport.width === 390);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width);
  }
  // On a phone, a choice shows the controls in place of the code.
  await page.locator(".own-switch label", { hasText: "Play" }).click();
  assert.equal(await page.locator(".own-code").isVisible(), false);
  await page.locator(".own-switch label", { hasText: "Code" }).click();
  await page.setViewportSize(WIDE.viewport);
  // Each refusal replaces the notice of the refusal before.
  for (const change of ["self.hunger += )", "self.hunger += ("]) {
    await write(page, text.replace("self.hunger += 1", change));
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.locator(".notice.error").first().waitFor();
  }
  assert.equal(await page.locator(".notice.error").count(), 1);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

/** Faults of a file, each with a part of its message and the line of the problem. */
const FAULTS = [
  [
    "recursion",
    CATCH.replace("self.fallen += 1", "self.fallen += self.more()").concat("\n    def more(self):\n        return self.more()\n"),
    "calls itself",
  ],
  [
    "a list of 10^9",
    CATCH.replace("self.fallen = 0", "self.fallen = 0\n        self.long = [0] * 1000000000"),
    "a list has 1 to 4096 elements",
  ],
  ["a duplicate name", CATCH.concat("\n    def drop(self):\n        pass\n"), "there are two functions"],
  ["mixed tabs and spaces", CATCH.replace("        self.fallen = 0", "\tself.fallen = 0"), "tabs"],
  ["other alphabets", CATCH.replace("self.fallen = 0", "self.упал = 0"), "letters"],
  ["actions that no step reads", CATCH.replace("self.basket + action - 1", "self.basket"), "step does not read action"],
];

inAll(
  "each_fault_of_a_file_is_refused_with_its_line",
  "each fault of a typed file has a message with its line, and the run before continues",
  async () => {
    const page = await openOwn();
    for (const [fault, text, message] of FAULTS) {
      await write(page, text);
      const problem = page.locator(".own-problems button").first();
      await problem
        .filter({ hasText: message })
        .waitFor({ timeout: 20_000 })
        .catch(async () => assert.fail(`${fault}: ${await problem.textContent()}`));
      assert.match(await problem.textContent(), /^Line \d+:/, fault);
      const { iteration } = await page.evaluate(() => hothouse.progress);
      await page.keyboard.press("ControlOrMeta+Enter");
      await event(page, "metrics", iteration + 1);
    }
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines",
  "a loop without an end and an infinite reward stop the run with their line",
  async () => {
    const page = await openOwn();
    for (const [text, message] of [
      [
        CATCH.replace("self.y += 1", "self.y += 1\n        while self.fallen < 100:\n            self.caught = 0"),
        /line 33: .*more than 10,000 passes/,
      ],
      [CATCH.replace("return 0.0, False", "return 1e38 * (self.y + 3), False"), /line \d+: .*reward/],
    ]) {
      await write(page, text);
      await page.locator(".own-problems", { hasText: "No problems." }).waitFor();
      const stopped = await aheadWhere(page, "notice", `(event) => event.level === "error"`);
      await page.keyboard.press("ControlOrMeta+Enter");
      assert.match((await stopped()).text, message);
    }
    await page.context().close();
  },
);

inAll("state_plane_has_any_two_observations_as_axes", "any two observations of a file are the axes of the state plane", async () => {
  const page = await openOwn();
  await place(page, "Explore", "State plane");
  const [across, up] = ["Horizontal axis", "Vertical axis"].map((name) => page.getByLabel(name));
  assert.deepEqual(await across.locator("option").allTextContents(), [
    "x / across - 1.0",
    "y / down - 1.0",
    "float(drift)",
    "basket / across - 1.0",
    "(x - basket) / across",
  ]);
  await across.selectOption("(x - basket) / across");
  await up.selectOption("basket / across - 1.0");
  const plane = page.getByRole("application", { name: "The state plane" });
  await plane.focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".plane-reading", { hasText: /^\(x - basket\) \/ across .*, basket \/ across - 1\.0 .*: left \d+%/ }).waitFor();
  // The distance reaches 2 in each direction, so the axis widens from 1 to 3.
  await page.getByRole("button", { name: "State plane as a table" }).click();
  const table = page.getByRole("region", { name: "State plane as a table" });
  await table.getByRole("columnheader", { name: "3", exact: true }).waitFor();
  await accessible(page);
  await page.context().close();
});

inAll(
  "an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines",
  "a tour leads from the reward to a new run, whose curve is beside that of the run before",
  async () => {
    const page = await openOwn();
    await openEditor(page);
    await code(page).waitFor();
    await page.getByRole("button", { name: "Tour", exact: true }).click();
    const tour = page.locator(".tour");
    await tour.getByRole("button", { name: "Next" }).click();
    const begun = await beginning(page);
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await begun();
    await tour.getByRole("heading", { name: "Watch" }).waitFor();
    await tour.getByRole("button", { name: "End", exact: true }).click();
    assert.equal(await tour.isVisible(), false);
    await page.context().close();
  },
);

test("a link contains the file, and reproduces the run in a fresh browser", async () => {
  const entry = join(folder(), "entry.json");
  const knobs = ["--set", "envs=64", "--set", "rollout_steps=16"];
  await hothouse([
    "train",
    "control",
    "--variant",
    "own",
    "--data",
    FILE,
    ...knobs,
    "--steps",
    "16384",
    "--device",
    "cpu",
    "--entry",
    entry,
  ]);
  const { link, digests, arithmetic } = JSON.parse(readFileSync(entry, "utf8"));
  const [[iteration, weights]] = Object.entries(digests);
  const page = await visit(here, { at: `${link}&digest=${iteration}.${weights}.${arithmetic}`, context: WIDE });
  await page
    .getByText(/Reproduced/)
    .first()
    .waitFor();
  const shared = await page.evaluate(() => hothouse.shared());
  assert.match(shared.link, /variant=own.*&envs=64.*&file=[\w-]{100,}&.*digest=/);
  await page.context().close();
});

inAll("invalid_links_are_rejected", "a cut link to a file gives a message, and the page continues", async () => {
  const first = await openOwn();
  const { link } = await first.evaluate(() => hothouse.shared());
  await first.context().close();
  const cut = link.replace(/(&file=[\w-]{40})[\w-]*/, "$1");
  const page = await visit(here, { at: cut, context: WIDE });
  await page
    .getByText(/copy the whole link/i)
    .first()
    .waitFor();
  await event(page, "metrics");
  await page.context().close();
});

inAll("sweep_learns_from_the_data_of_its_config", "a sweep trains in a file", async () => {
  const page = await openOwn();
  await place(page, "Compare", "Sweep");
  await page.getByLabel("Values", { exact: true }).selectOption("3");
  await page.getByLabel("Seeds each").selectOption("1");
  await page.getByLabel("Steps each").selectOption("100000");
  const ended = await page.evaluateHandle(() => ({
    cells: new Promise((resolve) => hothouse.onSweep(({ cells, done }) => done && resolve(cells.length))),
  }));
  await page.getByRole("button", { name: "Start the sweep" }).click();
  assert.equal(await ended.evaluate(({ cells }) => cells), 3);
  await page.context().close();
});

inAll(
  "on a phone nothing scrolls sideways, and the letters of the editor are 16 px large",
  "the editor and the state plane of a file fit a phone",
  async () => {
    const page = await openOwn({ context: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } });
    for (const at of [["Live"], ["Explore", "State plane"]]) {
      await place(page, ...at);
      const [wide, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= shown, `${at}: ${wide} px wide on ${shown} px`);
      await accessible(page);
    }
    await page.context().close();
  },
);

inAll(
  "an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines",
  "a built-in environment follows in the same module, and the file's run continues afterwards",
  async () => {
    const page = await openOwn();
    const began = await aheadWhere(page, "began", `(event) => event.config.variant === "CartPole-v1"`);
    await page.getByRole("link", { name: "CartPole", exact: true }).click();
    const { config } = await began();
    assert.equal(config.data, undefined);
    await event(page, "metrics");
    const back = await beginning(page);
    await page.getByRole("link", { name: "catch.py", exact: true }).or(own(page)).click();
    assert.ok((await back()).progress.iteration > 0);
    await page.context().close();
  },
);

inAll(
  "an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines",
  "after an error of the rules, the run before stays beside the new one and can be continued",
  async () => {
    const page = await openOwn();
    await event(page, "metrics", 4); // a past run is kept if it has several points
    await write(page, FAULTY);
    const begun = await beginning(page);
    const stopped = await aheadWhere(page, "notice", `(event) => event.level === "error"`);
    await page.keyboard.press("ControlOrMeta+Enter");
    const failed = await begun();
    await stopped();
    const past = page.locator(".returns .ghost-line");
    await past.locator("label", { hasText: "Past run: other data" }).waitFor();
    const back = await beginning(page);
    await past.getByRole("button", { name: "Back to the previous run" }).click();
    const { config, progress } = await back();
    assert.ok(progress.iteration > 0);
    assert.notEqual(config.data.hash, failed.config.data.hash);
    await page.context().close();
  },
);

// The page of `npm test` has one module with the compiler, so a dropped file opens without another module there.
inAll(
  "an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines",
  "a Python file that is dropped on another environment opens in the editor, and training begins in it",
  async () => {
    const page = await visit(here, { at: SMALL, context: WIDE });
    await event(page, "metrics");
    // A file that is refused changes nothing.
    await drop(page, "long.py", "#".repeat(100_001));
    await page.getByText("The file has 100,001 bytes, and the limit is 100,000 bytes.").waitFor();
    assert.equal(await page.evaluate(() => hothouse.variant.id), "CartPole-v1");
    await drop(page, "mine.PY", MINE);
    await until(page, "globalThis.hothouse?.variant.id === 'own'");
    await event(page, "metrics");
    await showsFile(page, "mine.py", "Catch my fruits");
    assert.equal(await page.evaluate(() => hothouse.variant.about.summary), "Catch my fruits with a basket");
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "an environment trains in a template, in typed code and in a dropped file, and errors are shown at their lines",
  "the keys of a file move its environment at the controls",
  async () => {
    const page = await openOwn();
    await page.evaluate(() => {
      globalThis.baskets = [];
      const basket = hothouse.variant.about.state.indexOf("basket");
      const ask = hothouse.ask.bind(hothouse);
      hothouse.ask = async (question) => {
        const answer = await ask(question);
        if (question.touch?.drive) baskets.push(answer.player.state[basket]);
        return answer;
      };
    });
    await page.getByRole("button", { name: "Take the controls" }).click();
    for (const [key, end] of [
      ["ArrowRight", 9],
      ["ArrowLeft", 0],
    ]) {
      await page.keyboard.down(key);
      await until(page, (end) => baskets.at(-1) === end, end);
      await page.keyboard.up(key);
    }
    await page.context().close();
  },
);
