// Export of models on the page, and the page that plays with an exported policy (examples/cartpole.html).
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { serve } from "../../scripts/serve.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, event, folder, hothouse, house, place, saved, still, visit } from "./fixture.mjs";
import { replaying } from "./replay.mjs";
import { leave } from "./rooms.mjs";

const here = house();
const files = folder();
after(() => rmSync(files, { recursive: true, force: true }));

test("the example page plays CartPole with an exported policy", async (context) => {
  const [run, model] = ["run.safetensors", "cartpole.js"].map((name) => join(files, name));
  copyFileSync(join(root, "examples/cartpole.html"), join(files, "cartpole.html"));
  const server = await serve(files);
  context.after(() => server.close());
  const page = await here.browser.newPage();
  const status = (pattern) => page.getByRole("status").filter({ hasText: pattern }).waitFor();
  await page.goto(`${server.url}cartpole.html`);
  await status(/cannot be loaded.*Export it/);
  await hothouse(["train", "control", "--variant", "CartPole-v1", "--steps", "500000", "--save", run, "--plain"]);
  await hothouse(["export", "control", run, "--format", "js", "--out", model]);
  assert.ok(statSync(model).size < 16_000, `${statSync(model).size} bytes`);
  await page.reload();
  // An uncontrolled pole falls within 10 to 30 steps, so three digits show that the policy works.
  await status(/Longest: \d{3} steps/);
});

/** Starts a run, pauses it, and shows the section that exports its model. */
async function paused(at, context) {
  const page = await visit(here, { at, context });
  await event(page, "metrics", 2);
  await show(page);
  return page;
}

/** Pauses the run and shows the section that exports its model. */
async function show(page) {
  await still(page);
  await page.evaluate(() => hothouse.test()); // so that a test of the last iteration has ended
  await place(page, "Share", "Model");
}

/** Clicks a button and returns the name and the bytes of the file that the page downloads. */
async function downloaded(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button, exact: true }).click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Exports the model of the page in a format, and compares its files with those of the terminal. `more` are arguments of the terminal. */
async function compare(page, room, format, more = []) {
  await page.getByLabel("Format", { exact: true }).selectOption(format);
  const model = await downloaded(page, "Export the model");
  const card = await downloaded(page, "Download the model card");
  const [run, out] = [join(files, `${room}.safetensors`), join(files, `${room}.${format}`)];
  writeFileSync(run, await saved(page));
  await hothouse(["export", room, run, "--format", format, "--out", out, ...more]);
  assert.equal(extname(model.name), `.${format}`);
  assert.ok(model.bytes.equals(readFileSync(out)), `${model.name} differs`);
  assert.equal(card.bytes.toString(), readFileSync(join(files, `${room}.md`), "utf8"));
}

test("control: the page exports the model and the card that the terminal exports, also after a module that cannot be loaded", async () => {
  const page = await paused("#/control?variant=CartPole-v1&envs=64&v=2", { serviceWorkers: "block" });
  // Only the page's export loads a module again.
  await page.context().route("**/wasm/**/lab.js", (route) => route.abort());
  await page.getByRole("button", { name: "Export the model", exact: true }).click();
  await page.getByText(/The model could not be exported: .*Export it again/).waitFor();
  await page.context().unroute("**/wasm/**/lab.js");
  for (const format of ["onnx", "c", "js"]) await compare(page, "control", format);
  page.said.length = 0; // the aborted requests
  await leave(page);
});

for (const [room, at] of [
  ["backgammon", "#/backgammon?variant=strong&v=2"],
  ["cube", "#/cube?variant=2x2x2&v=2"],
  ["words", "#/words?variant=char&v=2"],
])
  inAll(
    "control: the page exports the model and the card that the terminal exports, also after a module that cannot be loaded",
    `${room}: the page exports the model and the card that the terminal exports`,
    async () => {
      const page = await paused(at);
      for (const format of ["onnx", "c", "js"]) await compare(page, room, format);
      await leave(page);
    },
  );

inAll(
  "control: the page exports the model and the card that the terminal exports, also after a module that cannot be loaded",
  "a run on a text that its checkpoint does not contain is exported",
  async () => {
    const page = await visit(here, { at: "#/words?v=2" });
    await event(page, "metrics");
    const book = join(files, "book.txt");
    writeFileSync(book, "Once upon a time there was a fox. ".repeat(550_000)); // a checkpoint contains at most 16 MiB
    await place(page, "Settings", "Your own text");
    await page.locator(".own-text input[type=file]").setInputFiles(book);
    const began = ahead(page, "began");
    await page.getByRole("button", { name: "Train on this text" }).click();
    assert.equal((await (await began)()).config.data.name, "book.txt");
    await event(page, "metrics");
    await show(page);
    await compare(page, "words", "js", ["--data", book]);
    await leave(page);
  },
);

inAll(
  "control: the page exports the model and the card that the terminal exports, also after a module that cannot be loaded",
  "a module that cannot be loaded gives an error, and the next export succeeds during training",
  async () => {
    const page = await paused("#/control?variant=CartPole-v1&envs=64&v=2");
    await page.context().route("**/wasm/control/simd128-*/**", (route) => route.abort());
    await page.getByRole("button", { name: "Export the model", exact: true }).click();
    await page.getByText(/The model could not be exported: .*Export it again/).waitFor();
    await page.context().unroute("**/wasm/control/simd128-*/**");
    await page.evaluate(() => hothouse.command({ kind: "start" }));
    const { name } = await downloaded(page, "Export the model");
    assert.match(name, /^control-CartPole-v1/);
    page.said.length = 0; // the aborted requests
    await leave(page);
  },
);

test("a room whose model is a circuit has no section for its export", async (context) => {
  const server = await replaying();
  context.after(() => server.close());
  const page = await visit(here, { server, at: "#/logic" });
  await place(page, "Share");
  await page.getByRole("tab", { name: "Terminal and Python", exact: true }).waitFor();
  assert.equal(await page.getByRole("tab", { name: "Model", exact: true }).count(), 0);
  await leave(page);
});
