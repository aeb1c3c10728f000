// Tests of a room that is defined only for the tests (tests/bandit). It has no pictures, so the page shows only its common parts. The room
// has a module of its own, so all of its tests belong to `--all`; `npm test` runs the native tests of tests/bandit.
import assert from "node:assert/strict";
import { cpSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { serve } from "../../scripts/serve.mjs";
import { ROOMS } from "../../scripts/rooms.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import { FIRST, FIRST_FLAVOUR, wasm } from "../../scripts/wasm.mjs";
import { ahead, dist, event, eventWhere, folder, house, kept, lab, notice, place, restore, saved, stored, visit } from "./fixture.mjs";

const STORE = "hothouse-bandit";

const here = ALL ? house() : undefined;
let server;

/** Serves a copy of the built page, in which the bandit's module replaces the module of the first room. */
async function serveBandit() {
  const of = { name: "bandit", folder: "tests/bandit", into: "target/bandit-page" };
  const modules = await wasm({ only: [FIRST], of });
  const page = folder();
  cpSync(dist, page, { recursive: true });
  const [place] = readdirSync(join(page, "wasm", ROOMS[0])).filter((name) => name.startsWith(FIRST_FLAVOUR));
  cpSync(modules[FIRST].folder, join(page, "wasm", ROOMS[0], place), { recursive: true });
  return serve(page);
}

if (ALL) {
  before(async () => (server = await serveBandit()));
  after(() => server?.close());
}

const enter = async (at, settings) => {
  const page = await visit(here, { server, at, started: false, ...settings });
  await lab(page, "bandit");
  return page;
};

inAll(
  "training_solves_the_bandit_unless_the_learning_rate_is_too_small",
  "a room without pictures trains, tests, saves and loads, with curves, tables and CSV, and is in the header",
  async () => {
    const page = await enter("#/bandit?seed=3");
    // The first iteration has no speed, because the time of the previous iteration is unknown.
    const { pulls_per_s, progress } = await eventWhere(page, "metrics", "({ pulls_per_s }) => pulls_per_s > 0");
    assert.ok(pulls_per_s > 0 && progress.pulls > 0);
    await event(page, "test");
    assert.equal(await page.locator("#rooms [aria-current=page]").textContent(), "Bandit");
    // All live knobs are beside the curve, so the section for live knobs is absent.
    await place(page, "Settings");
    assert.equal(await page.getByRole("tab", { name: "During training" }).count(), 0);
    await page.getByRole("heading", { name: "Apply to a new run" }).waitFor();
    await page.waitForFunction(() => /after .* pulls/.test(document.querySelector(".returns .plot").getAttribute("aria-label")));
    await place(page, "Explore");
    await page.getByRole("button", { name: "Training metrics as a table" }).click();
    const rows = page.getByRole("region", { name: "Training metrics as a table" }).getByRole("rowheader");
    await rows.nth(1).waitFor();
    assert.ok((await rows.count()) > 1);
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    await place(page, "Share");
    const [csv] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Curves as CSV", exact: true }).click(),
    ]);
    const [head, first] = readFileSync(await csv.path(), "utf8").split("\n");
    assert.equal(head, "iteration,pulls [pulls],train_s [s],mean_reward,pulls_per_s,test_best,share_tests,share_rest");
    assert.equal(first.split(",").length, head.split(",").length);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save run" }).click()]);
    const began = await ahead(page, "began", 1);
    await page.locator("input[type=file]").setInputFiles(await file.path());
    assert.ok((await began()).history.length > 0);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "choices_and_texts_work_in_links_commands_changes_and_checkpoints",
  "a choice knob changes live, a text knob applies to a new run; links contain both",
  async () => {
    const page = await enter(`#/bandit?payouts=${encodeURIComponent("0.1 0.7")}&baseline=none`);
    await event(page, "metrics");
    await place(page, "Settings", "New run");
    const [baseline, payouts] = [page.getByLabel("Baseline", { exact: true }), page.getByLabel("Payouts", { exact: true })];
    assert.deepEqual([await baseline.inputValue(), await payouts.inputValue()], ["none", "0.1 0.7"]);
    const marked = await ahead(page, "mark");
    await baseline.selectOption({ label: "Mean reward" });
    const { knob, from, to } = await marked();
    assert.deepEqual([knob, from, to], ["baseline", "none", "mean"]);
    await payouts.fill("0.3 0.4 0.5");
    await payouts.press("Enter");
    await page.getByText("One change applies to a new run").waitFor();
    const began = await ahead(page, "began");
    await page.getByRole("button", { name: "Start new run" }).click();
    const { knobs } = await began();
    assert.deepEqual([knobs.payouts, knobs.baseline], ["0.3 0.4 0.5", "mean"]);
    assert.match(decodeURIComponent(await page.evaluate(() => hothouse.shared().then(({ link }) => link))), /payouts=0\.3 0\.4 0\.5/);
    await payouts.fill("one");
    await payouts.press("Enter");
    await page.getByRole("button", { name: "Start new run" }).click();
    await notice(page, /Write them as in 0.2 0.9/);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "links_and_commands_name_the_data",
  "user data is accepted as a file or as text, and requested by links and runs that refer to it",
  async () => {
    const page = await enter("#/bandit");
    await event(page, "metrics");
    const arms = () => page.evaluate(async () => (await hothouse.ask({ ask: "policy" })).length);
    /**
     * Passes data to the page: a file with `name`, or a text without a name. `spaces` spaces follow the file's text. Returns the error
     * message, or an empty text on success.
     */
    const provide = (text, name, spaces = 0) =>
      page.evaluate(
        async ([text, name, spaces]) =>
          hothouse.provideData(name ? new File([text, " ".repeat(spaces)], name) : text).then(
            () => "",
            (error) => error.message,
          ),
        [text, name, spaces],
      );
    assert.equal(await page.evaluate(() => hothouse.room.data.label), "Payouts");
    assert.equal(await provide("0.1 0.9 0.3 0.4 0.2", "five.txt"), "");
    assert.equal(await arms(), 5);
    const link = await page.evaluate(() => hothouse.shared().then(({ link }) => link));
    assert.match(link, /&data=[0-9a-f]{16}\.19\.five\.txt&/);
    // A new run does not need the file again.
    const began = await ahead(page, "began");
    await page.evaluate(() => hothouse.command({ kind: "reset", config: null }));
    assert.equal((await began()).config.data.name, "five.txt");
    assert.equal(await arms(), 5);
    assert.equal(await provide("0.1 0.9 0.3 0.4", undefined), "");
    assert.equal(await arms(), 4);
    // Refused data does not change the run. A file that is too large is refused before it is read.
    assert.match(await provide("one"), /0\.2 0\.9/);
    const read = await page.evaluate(async () => {
      const file = new File(["0.1 0.2"], "huge.txt");
      let read = false;
      Object.defineProperty(file, "size", { value: 2 ** 30 });
      file.arrayBuffer = () => ((read = true), Promise.resolve(new ArrayBuffer(0)));
      return [await hothouse.provideData(file).catch((error) => error.message), read];
    });
    assert.match(read[0], /huge\.txt has 1024 MB.*natively/);
    assert.equal(read[1], false);
    assert.equal(await arms(), 4);
    // The page asks for the file again if a save omits it because of its size, or if a link only refers to it.
    const fresh = await ahead(page, "began");
    assert.equal(await provide("0.1 0.9 0.3", "large.txt", 17 << 20), "");
    await fresh();
    await event(page, "metrics");
    const large = await saved(page);
    await page.evaluate(() =>
      hothouse.command({ kind: "reset", config: { version: 2, room: "bandit", variant: "three-arms", seed: 1, knobs: {} } }),
    );
    await restore(page, large);
    await notice(page, /large\.txt .* was not given/);
    assert.match(await provide("0.1 0.2", "other.txt"), /Provide exactly that file/);
    const restored = await ahead(page, "began");
    assert.equal(await provide("0.1 0.9 0.3", "renamed.txt", 17 << 20), "");
    assert.ok((await restored()).history.length > 0);
    assert.deepEqual(page.said, []);
    await page.context().close();

    const other = await enter(link);
    await notice(other, /five\.txt .* was not given/);
    const policy = () => other.evaluate(async () => (await hothouse.ask({ ask: "policy" })).length);
    assert.equal(await policy(), 3);
    const wrong = await other.evaluate(() => hothouse.provideData(new File(["0.5 0.5"], "five.txt")).catch((error) => error.message));
    assert.match(wrong, /Provide exactly that file/);
    await other.evaluate(() => hothouse.provideData(new File(["0.1 0.9 0.3 0.4 0.2"], "my five.txt")));
    assert.equal(await policy(), 5);
    assert.deepEqual(other.said, []);
    await other.context().close();
  },
);

inAll(
  "large_data_must_be_provided_on_restore",
  "a run without its data waits for it after a reload, and the fallback run does not overwrite its save",
  async () => {
    const page = await enter("#/bandit");
    const provide = () => page.evaluate(() => hothouse.provideData(new File(["0.1 0.9 0.3", " ".repeat(17 << 20)], "large.txt")));
    // Waits until the run on the data begins, so that the next metrics are those of this run.
    const fresh = await ahead(page, "began");
    await provide();
    await fresh();
    await event(page, "metrics", 3);
    await kept(page, STORE);
    const visit = await stored(page, { store: STORE });
    await page.waitForFunction(() => location.hash.includes("&data="));
    const link = await page.evaluate(() => location.hash);
    assert.match(link, /&data=[0-9a-f]{16}\.\d+\.large\.txt/);
    await page.reload();
    await lab(page, "bandit");
    await notice(page, /large\.txt .* was not given/);
    // Without the data, the page trains a fallback run. The two saves of this run belong to the new visit.
    for (const places of [1, 2]) {
      await kept(page, STORE);
      await stored(page, { store: STORE, after: visit, places });
    }
    assert.equal(await page.evaluate(() => location.hash), link);
    await page.reload();
    await lab(page, "bandit");
    await notice(page, /large\.txt .* was not given/);
    const noticed = await ahead(page, "notice");
    await place(page, "Share");
    await page.getByRole("button", { name: "Continue the visit before" }).click();
    assert.match((await noticed()).text, /large\.txt/);
    const began = await ahead(page, "began");
    await provide();
    const { config, history } = await began();
    assert.ok(config.data.name === "large.txt" && history.length >= 3, JSON.stringify(config));
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll("replacing a run can be undone: by a new run, a file or a link", "a dropped run of another room opens in its own room", async () => {
  const first = await enter("#/bandit");
  await event(first, "metrics");
  const buffer = await saved(first);
  await first.context().close();
  const page = await visit(here, { server, at: "#/backgammon?variant=strong", started: false });
  await lab(page, "backgammon");
  await page.locator("input[type=file]").setInputFiles({ name: "run.safetensors", mimeType: "application/octet-stream", buffer });
  await lab(page, "bandit");
  await event(page, "metrics");
  await page.context().close();
});
