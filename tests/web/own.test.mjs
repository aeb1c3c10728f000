// The editor for environments, on its page of samples: text, completion, problems, files, templates, picture, phone, themes and keyboard.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { samples } from "../../scripts/samples.mjs";
import { serve } from "../../scripts/serve.mjs";
import { root } from "../../scripts/sh.mjs";
import { house, part, script, until, visit } from "./fixture.mjs";
import { serious } from "./rooms.mjs";

const here = house();
const OWN = "rooms/control/own";
const TEMPLATES = join(root, "crates/worlds/src/control/script/templates");
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const WIDE = { viewport: { width: 1440, height: 900 } };
const MOST_KB = 200;
const MOST_FILES = 100;
const MOST_BYTES = 100_000;
/** Wait after which the editor has checked an unchanged text and does not check it again. */
const CALM_MS = 600;

let folder;
before(async () => {
  folder = await samples();
  here.samples = await serve(folder);
});
after(() => here.samples?.close());

/** Opens the sample. With `text`, the editor contains this text. */
async function open({ text, context = WIDE, ...rest } = {}) {
  const page = await visit(here, { at: "own.html", server: here.samples, started: false, frames: 60, context, ...rest });
  await until(page, "!!globalThis.sample");
  if (text !== undefined) await enter(page, text);
  return page;
}

const code = (page) => page.locator(".cm-content");
const textOf = (page) => page.evaluate(() => sample.pane.editor.text);
const saved = (page) => page.getByText("Saved in this browser").waitFor();
/** Returns the names of the files in the list. */
const names = async (page) => (await page.locator("select option").allTextContents()).map((words) => words.split(",")[0]);
const labels = (page) => page.locator(".cm-completionLabel");
/**
 * Locates the completions for the current text. While completions are computed, the list is disabled and contains the completions for an
 * earlier text.
 */
const current = (page) => page.locator(".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled) .cm-completionLabel");
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();

/** Replaces the text as a visitor would. The editor does not indent pasted text. */
async function enter(page, text) {
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  if (text) await page.keyboard.insertText(text);
}

/** Wait before Enter, because CodeMirror does not accept a completion directly after it has appeared. */
const ACCEPTS_MS = 120;

/** Types at the cursor, and returns the completions. */
async function completions(page, typed) {
  await page.keyboard.type(typed);
  await current(page).first().waitFor();
  await page.waitForTimeout(ACCEPTS_MS);
  return labels(page).allTextContents();
}

test("the lazily loaded part is at most 200 kB, compressed, and other pages do not load it", async () => {
  const files = readdirSync(join(folder, "assets"));
  const lazy = files.filter((name) => /^(pane|templates)-/.test(name)).map((name) => readFileSync(join(folder, "assets", name)));
  const kb = lazy.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0) / 1000;
  console.log(`page.editor_kb ${kb.toFixed(1)}`);
  assert.ok(kb > 50 && kb <= MOST_KB, `${kb} kB`);
  const page = await here.browser.newPage();
  const loaded = [];
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto(here.samples.url);
  await page.locator("#progress").waitFor();
  assert.deepEqual(
    loaded.filter((url) => /pane|templates/.test(url)),
    [],
  );
});

test("the names that the editor completes are those of the documentation, and the colours those of the compiler", async () => {
  const { FUNCTIONS, SHAPES, CONSTANTS, ATTRIBUTES, METHODS, nameOf } = await part(`${OWN}/words`);
  const { COLOURS } = await part(`${OWN}/colours`);
  const document = readFileSync(join(root, "docs/worlds.md"), "utf8");
  /** Returns the names in the first column of the table whose headings are `first` and `second`, sorted. */
  const table = (first, second) => {
    const [, rows] = document.match(new RegExp(`^\\| ${first} \\| ${second} \\|\\n.*\\n((?:\\|.*\\n)+)`, "m"));
    const cells = rows.split("\n").map((row) => row.split("|")[1] ?? "");
    return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)[^`]*`/g)].map(([, name]) => name)).sort();
  };
  const names = (words) => words.map(nameOf).sort();
  assert.deepEqual(names(FUNCTIONS), table("function", "result"));
  assert.deepEqual(names(SHAPES), table("function", "shape"));
  assert.deepEqual(names(ATTRIBUTES), table("class attribute", "meaning"));
  assert.deepEqual(names(METHODS), table("method", "meaning"));
  assert.deepEqual(names(CONSTANTS), ["False", "True", "pi", "tau"]);
  for (const word of [FUNCTIONS, SHAPES, CONSTANTS, ATTRIBUTES, METHODS].flat()) assert.ok(word.about, word.shown);
  const shape = readFileSync(join(root, "crates/worlds/src/control/shape.rs"), "utf8");
  const colours = [...shape.matchAll(/\("(\w+)", \[(\d+), (\d+), (\d+)\]\)/g)].map(([, name, ...rgb]) => [name, rgb.map(Number)]);
  assert.deepEqual(Object.entries(COLOURS), colours);
});

test("templates have the texts of the crate, a title and the first change", async () => {
  const { TEMPLATES: all } = await part(`${OWN}/templates`);
  const files = readdirSync(TEMPLATES).filter((name) => name.endsWith(".py"));
  assert.equal(files.length, 13);
  assert.deepEqual(
    all.map(({ name, text }) => [name, text]),
    files.sort().map((name) => [name, readFileSync(join(TEMPLATES, name), "utf8")]),
  );
  for (const { name, title, change, text } of all) {
    assert.ok(text.startsWith(`"""${title} ${change}\n`), name);
    assert.match(change, /^First, .+\.$/, name);
  }
});

test("text is typed with indentation and brackets, undone within its file, and redone", async () => {
  const page = await open({ text: "" });
  await page.keyboard.type("class World:");
  await page.keyboard.press("Enter");
  await page.keyboard.type("def reset(self");
  // The closing bracket is already there.
  await page.keyboard.type("):");
  await page.keyboard.press("Enter");
  await page.keyboard.type("self.x = [1");
  assert.equal(await textOf(page), "class World:\n    def reset(self):\n        self.x = [1]");
  await page.keyboard.press("ControlOrMeta+z");
  assert.notEqual(await textOf(page), "class World:\n    def reset(self):\n        self.x = [1]");
  await page.keyboard.press("ControlOrMeta+y");
  assert.equal(await textOf(page), "class World:\n    def reset(self):\n        self.x = [1]");
  assert.equal(await page.locator(".cm-lineNumbers .cm-gutterElement").last().textContent(), "3");
  await page.keyboard.press("ControlOrMeta+f");
  await page.keyboard.type("self");
  await until(page, "document.querySelector('.own-code').shadowRoot.querySelectorAll('.cm-searchMatch').length === 2");
  await page.keyboard.press("Escape");
  // An undo does not reach the text of the file that was open before.
  await press(page, "Duplicate");
  await page.locator("select option", { hasText: "catch 2.py" }).waitFor({ state: "attached" });
  const text = await textOf(page);
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+z");
  assert.equal(await textOf(page), text);
  assert.deepEqual(page.said, []);
});

test("completion depends on the place: class, method, self, text and colour", async () => {
  const page = await open({
    text: "class World:\n    limit = 5\n\n    def reset(self):\n        self.ball = 0\n\n    def draw(self):\n        ",
  });
  assert.deepEqual(await completions(page, "ci"), ["circle(x, y, r, colour)"]);
  assert.match(await page.locator(".cm-completionDetail").textContent(), /circle around/);
  await page.keyboard.press("Enter");
  assert.ok((await textOf(page)).endsWith("        circle()"));
  assert.deepEqual(await completions(page, "self.b"), ["ball"]);
  await page.keyboard.press("Enter");
  assert.deepEqual(await completions(page, ', 1, 1, "lightg'), ["lightgray", "lightgreen"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.ok((await textOf(page)).endsWith('        circle(self.ball, 1, 1, "lightgreen")'));
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Shift+Tab");
  assert.deepEqual(await completions(page, "ob"), ["def observe(self)"]);
  await page.keyboard.press("Enter");
  assert.ok((await textOf(page)).endsWith("    def observe(self):\n        return [0.0]"));
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Shift+Tab");
  assert.deepEqual(await completions(page, "def ma"), ["def mask(self)"]);
  await page.keyboard.press("Escape");
  // Completes a key of the dictionary `keys`.
  await page.keyboard.type("\n");
  await page.keyboard.press("Shift+Tab");
  assert.deepEqual(await completions(page, 'keys = {"ArrowL'), ["ArrowLeft"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("End");
  // Numbers, comments and attributes of other objects are not completed.
  for (const typed of ["\nx = 1", "\n# si", "\nother.s"]) {
    await page.keyboard.type(typed);
    await page.waitForTimeout(200);
    // The list for an earlier text may still be closing.
    await labels(page).first().waitFor({ state: "detached" });
    assert.equal(await labels(page).count(), 0, typed);
  }
  assert.deepEqual(page.said, []);
});

test("problems are marked while typing, listed, and reached by key and by button", async () => {
  const page = await open({ text: "x = 1\ny = '\u{1f600}' + lambda\nprint" });
  const marks = page.locator(".cm-lintRange-error");
  await marks.nth(1).waitFor();
  assert.deepEqual(await marks.allTextContents(), ["lambda", "print"]);
  assert.equal(await page.locator(".cm-lint-marker-error").count(), 2);
  const items = page.getByRole("list", { name: "Problems" }).getByRole("button");
  assert.deepEqual(await items.allTextContents(), [
    "Line 2: lambda is not part of the language.",
    "Line 3: print is not part of the language.",
  ]);
  await page.getByText("2 problems.").waitFor();
  assert.deepEqual(await page.locator(".cm-problem").allTextContents(), [
    "lambda is not part of the language.",
    "print is not part of the language.",
  ]);
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.press("F8");
  await page.keyboard.type("z");
  assert.equal(await textOf(page), "x = 1\ny = '\u{1f600}' + z\nprint");
  await items.first().click();
  await page.getByText("One problem.").waitFor();
  // Delays the check of the next text, because its result would replace the problems that are shown below.
  await page.evaluate(() => (sample.checks.delayMs = 1e9));
  await items.first().press("Enter");
  await page.keyboard.type("# ");
  assert.equal(await textOf(page), "x = 1\ny = '\u{1f600}' + z\n# print");
  await page.evaluate(() => sample.pane.editor.show([{ line: 2, column: 1, message: "The division by zero ended training." }]));
  await page.getByRole("button", { name: "Line 2: The division by zero ended training." }).waitFor();
  await page.evaluate(() => sample.pane.editor.show([{ line: 1, column: 1, message: "Write `x = 1.0` instead." }]));
  await page.getByRole("button", { name: "Line 1: Write x = 1.0 instead." }).locator("code").waitFor();
  assert.deepEqual(page.said, []);
});

test("a late answer about an earlier text is dropped", async () => {
  const page = await open({ text: "global" });
  // Waits for the check of the first text, so that the next check is the check of the second text.
  await page.getByText("One problem.").waitFor();
  await page.evaluate(() => {
    sample.checks.count = 0;
    // The answer to the next check waits until the test calls `answer`.
    sample.checks.delayMs = 1e9;
    const plain = setTimeout;
    globalThis.setTimeout = (work, ms, ...rest) => (ms === 1e9 ? (globalThis.answer = work) : plain(work, ms, ...rest));
  });
  await page.keyboard.insertText("\nlambda");
  await until(page, "sample.checks.count === 1");
  await page.evaluate(() => (sample.checks.delayMs = 0));
  await enter(page, "x = 2");
  await page.getByText("No problems.").waitFor();
  await page.evaluate(() => answer());
  await page.waitForTimeout(CALM_MS);
  assert.equal(await page.locator(".cm-lintRange-error").count(), 0);
  await page.getByText("No problems.").waitFor();
});

test("all can be done by keyboard, Tab does not trap it, and single-key shortcuts of the page stay silent", async () => {
  const page = await open({ text: "" });
  await page.evaluate(await script("parts/shortcuts"));
  await page.evaluate(() => {
    globalThis.pressed = 0;
    new part.Shortcuts([{ key: "r", shown: "r", does: "", run: () => pressed++ }], () => {});
  });
  await page.keyboard.press("Tab");
  await page.keyboard.type("rate");
  assert.equal(await textOf(page), "    rate");
  assert.equal(await page.evaluate(() => pressed), 0);
  // Tab leaves the editor only within two seconds after Escape. The editor's clock stops between the two keys, because the machine may be
  // slow.
  await page.evaluate(() => {
    globalThis.clock = Date.now;
    const ms = Date.now();
    Date.now = () => ms;
  });
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await page.evaluate(() => (Date.now = globalThis.clock));
  assert.equal(await textOf(page), "    rate");
  assert.equal(await page.evaluate(() => document.activeElement.matches(".own-code")), false);
  await page.keyboard.press("Shift+Tab");
  assert.equal(await page.evaluate(() => document.activeElement.matches(".own-code")), true);
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.getByText("Training starts: catch.py, 8 characters.").waitFor();
  assert.equal(await textOf(page), "    rate");
  await page.evaluate(() => addEventListener("keydown", (event) => (globalThis.prevented = event.defaultPrevented)));
  await page.keyboard.press("ControlOrMeta+s");
  assert.equal(await page.evaluate(() => prevented), true, "the browser's dialog opens");
  await saved(page);
  // Renames a file and creates a file from a template by keys only.
  await page.getByRole("button", { name: "Rename", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("own");
  await page.keyboard.press("Enter");
  await until(page, "document.querySelector('select').textContent.startsWith('own.py')");
  await page.getByRole("button", { name: "New", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New file" }).waitFor();
  await page.getByRole("button", { name: /^maze\.py/ }).focus();
  await page.keyboard.press("Enter");
  await until(page, "sample.pane.editor.text.includes('A maze with a locked door')");
  assert.deepEqual(await names(page), ["maze.py", "own.py"]);
  assert.deepEqual(page.said, []);
});

test("files are created, kept over a reload, renamed, duplicated, deleted and restored", async () => {
  const page = await open({ text: "first = 1\n" });
  await saved(page);
  await page.reload();
  await until(page, "globalThis.sample?.pane.editor.text === 'first = 1\\n'");
  await press(page, "Duplicate");
  await until(page, "document.querySelectorAll('select option').length === 2");
  assert.deepEqual(await names(page), ["catch 2.py", "catch.py"]);
  await press(page, "Rename");
  const field = page.getByRole("textbox", { name: "Name" });
  for (const [name, fault] of [
    ["Catch.PY", /Another file has the name/],
    ["a/b", /cannot contain \//],
    [" ", /is empty/],
    ["x".repeat(61), /too long/],
  ]) {
    await field.fill(name);
    await field.press("Enter");
    await page.getByRole("alert").filter({ hasText: fault }).waitFor();
  }
  await field.fill("second");
  await field.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await enter(page, "second = 2\n");
  await saved(page);
  assert.deepEqual(await names(page), ["second.py", "catch.py"]);
  await press(page, "Delete");
  await until(page, "sample.pane.editor.text === 'first = 1\\n'");
  await press(page, "Undo");
  await until(page, "sample.pane.editor.text === 'second = 2\\n'");
  await page.locator("select").selectOption({ index: 1 });
  await until(page, "sample.pane.editor.text === 'first = 1\\n'");
  await page.reload();
  await until(page, "globalThis.sample?.pane.editor.text === 'first = 1\\n'");
  assert.deepEqual((await names(page)).sort(), ["catch.py", "second.py"]);
  // Without a file, the page offers the first template again.
  await press(page, "Delete");
  await until(page, "sample.pane.editor.text === 'second = 2\\n'");
  await press(page, "Delete");
  await until(page, "sample.pane.editor.text.includes('Catch ten falling fruits')");
  const [file] = await Promise.all([page.waitForEvent("download"), press(page, "Download")]);
  assert.equal(file.suggestedFilename(), "catch.py");
  assert.equal(readFileSync(await file.path(), "utf8"), readFileSync(join(TEMPLATES, "catch.py"), "utf8"));
  assert.deepEqual(page.said, []);
});

test("at most 100 files of 100,000 bytes are stored, and longer texts stay in the editor", async () => {
  const page = await open();
  await page.evaluate(await script(`${OWN}/files`));
  await page.evaluate(async (most) => {
    for (let k = 1; k < most; k++) await part.createFile("many", "x = 1");
  }, MOST_FILES);
  await press(page, "Duplicate");
  await page.getByText("There are 100 files, which is the limit.").waitFor();
  const stored = await page.evaluate(() => part.listFiles());
  assert.equal(stored.length, MOST_FILES);
  assert.equal(new Set(stored.map(({ name }) => name)).size, MOST_FILES);
  const long = "#".repeat(MOST_BYTES - 1) + "é";
  await enter(page, long);
  await page.keyboard.press("ControlOrMeta+s");
  await page.getByText("The file has 100,001 bytes, and the limit is 100,000 bytes.").waitFor();
  await page.getByText("Not saved yet").waitFor();
  assert.equal(await textOf(page), long);
  await press(page, "Delete");
  await until(page, "sample.pane.editor.text === 'x = 1'");
  await press(page, "Undo");
  await until(page, `sample.pane.editor.text.length === ${MOST_BYTES}`);
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("ControlOrMeta+s");
  await saved(page);
  assert.deepEqual(page.said, []);
});

test("a failure of the storage gives a message and loses no text", async () => {
  const page = await open();
  await page.evaluate(() => {
    globalThis.put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await enter(page, "kept = 1");
  await page.getByText("This browser could not store the file: its storage is full.").waitFor();
  await press(page, "New");
  await page.getByRole("button", { name: /^pong\.py/ }).click();
  await until(page, "sample.pane.editor.text.includes('Pong against a wall')");
  await page
    .locator("select")
    .selectOption({ label: (await page.locator("select option").allTextContents()).find((name) => name.startsWith("catch")) });
  await until(page, "sample.pane.editor.text === 'kept = 1'");
  await page.evaluate(() => (IDBObjectStore.prototype.put = globalThis.put));
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+s");
  await saved(page);
  await page.reload();
  await until(page, "globalThis.sample?.pane.editor.text === 'kept = 1'");
  assert.deepEqual((await names(page)).sort(), ["catch.py", "pong.py"]);
});

test("without storage the page works and says that files last until it closes", async () => {
  const init = () =>
    Object.defineProperty(globalThis, "indexedDB", {
      value: {
        open: () => {
          throw new Error("no storage here");
        },
      },
    });
  const page = await open({ init });
  await page.getByText("This browser could not store the file: no storage here.").waitFor();
  await enter(page, "kept = 1");
  await press(page, "Duplicate");
  await until(page, "document.querySelectorAll('select option').length === 2");
  assert.equal(await textOf(page), "kept = 1");
});

test("a file that two tabs change is kept in both versions", async () => {
  const page = await open({ text: "one" });
  await saved(page);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await until(other, "globalThis.sample?.pane.editor.text === 'one'");
  await enter(page, "two");
  await saved(page);
  await enter(other, "three");
  await until(other, "document.querySelectorAll('select option').length === 2");
  await saved(other);
  assert.equal(await textOf(other), "three");
  assert.deepEqual(await names(other), ["catch 2.py", "catch.py"]);
  await other.locator("select").selectOption({ index: 1 });
  await until(other, "sample.pane.editor.text === 'two'");
});

test("an opened or dropped file becomes a file, and bad files are refused", async () => {
  const page = await open();
  const input = page.locator("input[type=file]");
  const give = (name, content) => input.setInputFiles({ name, mimeType: "text/x-python", buffer: Buffer.from(content) });
  await give("mine.py", "\u{feff}a = 1\r\nb = 2\r\n");
  await until(page, "sample.pane.editor.text === 'a = 1\\nb = 2\\n'");
  for (const [name, content, fault] of [
    ["picture.png", "x", "picture.png is not a Python file."],
    ["latin.py", [0x78, 0xe9, 0x0a], "latin.py is not a text in UTF-8."],
    ["zero.py", [0x78, 0, 0x0a], "zero.py is not a text in UTF-8."],
    ["long.py", "#".repeat(MOST_BYTES + 1), "The file has 100,001 bytes, and the limit is 100,000 bytes."],
  ]) {
    await give(name, content);
    await page.getByText(fault).waitFor();
  }
  const drop = (css) =>
    page.evaluate((css) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["dropped = 1"], "mine.py"));
      const target = document.querySelector(css);
      (target.shadowRoot?.querySelector(".cm-content") ?? target).dispatchEvent(
        new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true, composed: true }),
      );
    }, css);
  await drop(".own-code");
  await until(page, "sample.pane.editor.text === 'dropped = 1'");
  assert.deepEqual(await names(page), ["mine 2.py", "mine.py", "catch.py"]);
  await drop(".own-picture");
  await until(page, "document.querySelector('select').textContent.startsWith('mine 3.py')");
  assert.deepEqual(page.said, []);
});

test("a picture has the pixels of its shapes, sharp on a screen of high density, and empty margins", async () => {
  for (const deviceScaleFactor of [1, 2]) {
    const page = await open({ context: { viewport: { width: 1000, height: 900 }, deviceScaleFactor } });
    const { COLOURS, PAPER } = await part(`${OWN}/colours`);
    const [width, height] = [20, 10];
    const shapes = [
      ["rect", [0, 0, 4, 4], "red"],
      ["rect", [4, 0, 3, 4], "red"],
      ["rect", [1, 1, 1, 1], "blue"],
      ["circle", [10, 2, 1.5], "green"],
      ["line", [0, 8, 20, 8], "black"],
      ["polygon", [12, 0, 16, 0, 12, 4], "orange"],
      ["rect", [19, 9, 5, 5], "purple"],
      ["circle", [5, 6, -1], "pink"],
    ].map(([kind, numbers, colour]) => ({ kind, numbers, text: null, colour }));
    shapes.push({ kind: "text", numbers: [10, 6], text: "H", colour: "black" });
    const look = (x, y) =>
      page.evaluate(
        ([x, y, width]) => {
          const canvas = document.querySelector(".own-picture");
          const scale = canvas.width / width;
          return [
            ...canvas
              .getContext("2d")
              .getImageData(Math.floor(x * scale), Math.floor(y * scale), 1, 1)
              .data.slice(0, 3),
          ];
        },
        [x, y, width],
      );
    await page.evaluate((scene) => sample.pane.picture.show(scene), { size: [width, height], shapes });
    await until(page, () => {
      const { width, height } = document.querySelector(".own-picture");
      return Math.abs(width - 2 * height) <= 2;
    });
    const size = await page.evaluate(() => {
      const { width, height, clientWidth } = document.querySelector(".own-picture");
      return { width, height, ratio: width / clientWidth };
    });
    assert.ok(Math.abs(size.ratio - deviceScaleFactor) < 0.01);
    const unit = size.width / width;
    for (const [x, y, colour] of [
      [0.1, 0.1, "red"],
      // There is no gap between neighbouring shapes.
      [4, 2, "red"],
      [4 - 1 / unit, 2, "red"],
      [1.5, 1.5, "blue"],
      [1 + 1 / unit, 1 + 1 / unit, "blue"],
      [10, 2, "green"],
      [10, 0.7, "green"],
      [10, 0.3, undefined],
      [12.3, 3, "orange"],
      [15, 3, undefined],
      [19.5, 9.5, "purple"],
      // The width of a line is a hundredth of the picture's smaller side.
      [10, 8, "black"],
      [10, 8.15, undefined],
      [10, 7.85, undefined],
      // A circle without a radius is not drawn.
      [5, 6, undefined],
      // The middle of the capital H is its bar.
      [10, 6, "black"],
      [10, 6 + 0.2, undefined],
    ])
      assert.deepEqual(await look(x, y), [...(colour ? COLOURS[colour] : PAPER)], `${x}, ${y} at density ${deviceScaleFactor}`);
    const tall = await page.evaluate(
      ([top, left, size, unit, black]) => {
        const c = document.querySelector(".own-picture").getContext("2d");
        const rows = [];
        for (let y = 0; y < size; y++) {
          const { data } = c.getImageData(left, top + y, Math.round(2 * unit), 1);
          if (data.some((value, k) => k % 4 === 0 && value < black + 40)) rows.push(y);
        }
        return rows.length;
      },
      [Math.round(5 * unit), Math.round(9 * unit), Math.round(2 * unit), unit, COLOURS.black[0]],
    );
    // A capital letter is 6% of the picture's height.
    assert.ok(Math.abs(tall - 0.6 * unit) <= 2, `${tall} rows instead of ${0.6 * unit}`);
    // A tall picture is in the middle of its canvas, with empty margins.
    await page.evaluate(() => sample.pane.picture.show({ size: [10, 40], shapes: [] }));
    const [whole, margin] = await until(page, () => {
      const { width, height } = document.querySelector(".own-picture");
      return height > width && [width, (width - height / 4) / 2];
    });
    const opaque = (x) =>
      page.evaluate((x) => document.querySelector(".own-picture").getContext("2d").getImageData(x, 5, 1, 1).data[3] === 255, x);
    const at = [0, margin - 2, margin + 2, whole / 2, whole - margin - 2, whole - margin + 2].map(Math.round);
    assert.deepEqual(await Promise.all(at.map(opaque)), [false, false, true, true, true, false]);
    assert.deepEqual(page.said, []);
    await page.context().close();
  }
});

test("on a phone nothing scrolls sideways, and the letters of the editor are 16 px large", async () => {
  const page = await open({ context: PHONE });
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(await code(page).evaluate((element) => getComputedStyle(element).fontSize), "16px");
  await enter(page, `x = ${"1 + ".repeat(60)}1\nlambda`);
  await page.locator(".cm-lintRange-error").waitFor();
  assert.equal(await wide(), 390);
  await page.keyboard.type("\nc");
  await labels(page).first().waitFor();
  assert.equal(await wide(), 390);
  const { x, width } = await page.locator(".cm-tooltip-autocomplete").boundingBox();
  assert.ok(x >= 0 && x + width <= 390);
  await page.keyboard.press("Escape");
  await page.keyboard.press("ControlOrMeta+f");
  await page.locator(".cm-search").waitFor();
  assert.equal(await page.locator(".cm-search [name=search]").evaluate((field) => getComputedStyle(field).fontSize), "16px");
  assert.equal(await wide(), 390);
  await page.getByRole("button", { name: "New", exact: true }).tap();
  await page.getByRole("dialog", { name: "New file" }).waitFor();
  assert.equal(await wide(), 390);
  assert.deepEqual(page.said, []);
});

test("the editor follows the page's theme without a reload, keeps its text and undo, and axe finds no serious issue", async () => {
  const page = await open({ text: "x = 1" });
  const colours = () =>
    page.evaluate(() => {
      const { shadowRoot } = document.querySelector(".own-code");
      const of = (css) => getComputedStyle(shadowRoot.querySelector(css));
      return [of(".cm-editor").backgroundColor, of(".cm-line span").color];
    });
  await enter(page, "if x:\n    y");
  assert.deepEqual(await colours(), ["rgb(255, 255, 255)", "rgb(103, 65, 199)"]);
  await page.getByRole("button", { name: /^Colours/ }).click();
  assert.deepEqual(await colours(), ["rgb(27, 33, 29)", "rgb(184, 161, 242)"]);
  assert.equal(await textOf(page), "if x:\n    y");
  await code(page).click();
  await page.keyboard.press("ControlOrMeta+z");
  assert.notEqual(await textOf(page), "if x:\n    y");
  // A screen reader receives the editor's name and help.
  await enter(page, "lambda\nx = sqrt(2)  # root\ntext = 'a'");
  await page.locator(".cm-lintRange-error").waitFor();
  const editor = page.getByRole("textbox", { name: "Text of the environment" });
  const help = await editor.evaluate(
    (element) => element.getRootNode().getElementById(element.getAttribute("aria-describedby")).textContent,
  );
  assert.match(help, /press Escape and then Tab/);
  await page.keyboard.press("ControlOrMeta+f");
  await page.locator(".cm-search").waitFor();
  assert.deepEqual(await serious(page, "dark"), []);
  await page.getByRole("button", { name: /^Colours/ }).click();
  await page.locator("[data-theme=light]").first().waitFor();
  assert.deepEqual(await serious(page, "light"), []);
});
