// Tests of the trained agent beside the visitor's run: its solutions, matches, level and command. Further tests cover runs and files
// without a trained agent, and the files that the page contains.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { own } from "../../scripts/rooms.mjs";
import { root } from "../../scripts/sh.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { fnv, MOST_BYTES, reduced, unpacked } from "../../scripts/trained.mjs";
import { ahead, event, house, inWorkers, lab, place, saved, until, visit } from "./fixture.mjs";
import { tellEvents } from "./messages.mjs";
import { replayed, replays } from "./replay.mjs";
import { addressOf, ask, leave, reads } from "./rooms.mjs";

const here = house();
replays(here);
const CUBE = "#/cube?hidden=32-16&walk=14&v=2";
const BACKGAMMON = "#/backgammon?games=32&hidden=16&v=2";
const SCRAMBLED = "R U F R U F R";
const SOLVED = "UUUURRRRFFFFDDDDLLLLBBBB";
/** For the option `init` of `visit`: the worker pauses the run before it trains. */
const PAUSED = inWorkers(`
  const plain = postMessage;
  self.postMessage = (message, ...rest) => {
    plain(message, ...rest);
    if (message.kind === "opened") queueMicrotask(() => onmessage({ data: { kind: "command", command: { kind: "pause" } } }));
  };`);

const declared = Object.fromEntries(await own("trained"));

/** Reads the file of the page's trained agent of a room. */
const fileOf = (room) => readFileSync(join(root, `www/public/trained/${room}.safetensors.gz`));

/** Waits until the open section has the command and the digest of the page's trained agent. */
async function describes(page, room) {
  const { digest } = unpacked(gunzipSync(fileOf(room))).metadata;
  await reads(page, ".section.trained", new RegExp(`--steps ${declared[room].steps}.*digest ${digest.weights}`));
}

const made = {};

/**
 * Returns a packed checkpoint of a short run in the format of `npm run trained`. The run has been tested once. One run per address is
 * trained and reused.
 */
const short = (room, at) => (made[at] ??= make(room, at));

async function make(room, at) {
  const page = await visit(here, { at });
  await lab(page, room);
  const first = await event(page, "test");
  const bytes = await saved(page);
  await leave(page);
  const { metadata } = unpacked(bytes);
  const values = metadata.tests[0].values;
  const summary = {
    test: Object.fromEntries(metadata.names.tests.map((name, k) => [name, values[k]])),
    digest: "0123456789abcdef",
    arithmetic: "fused",
  };
  assert.equal(first.kind, "test");
  return gzipSync(reduced(bytes, summary, declared[room]));
}

const arrived = (page) =>
  until(page, () => [...document.querySelectorAll('[role="tab"]')].some((tab) => tab.textContent === "Trained agent" && !tab.hidden));

/** Waits until it is the visitor's turn in the match against the trained agent, and the browser has stored this match. */
const matchStored = (page) =>
  until(page, async () => {
    const { turn } = await hothouse.ask({ ask: "session" }, "trained");
    const now = (await hothouse.saveTrained()).toBase64();
    const stored = await new Promise((resolve) => {
      const request = indexedDB.open("hothouse-trained", 1);
      // Only the page may create the database.
      request.onupgradeneeded = () => request.transaction.abort();
      request.onerror = () => resolve([]);
      request.onsuccess = () => {
        const all = request.result.transaction("runs").objectStore("runs").getAll();
        all.onsuccess = () => (request.result.close(), resolve(all.result));
      };
    });
    return turn === 0 && stored.some(({ bytes }) => bytes.toBase64() === now);
  });

/** Begins a match against the trained agent, reloads the page, and checks that the match continues. */
async function continues(page) {
  const session = () => page.evaluate(() => hothouse.ask({ ask: "session" }, "trained"));
  await page.getByRole("button", { name: "Play the agent", exact: true }).click();
  await page.getByRole("button", { name: "New match" }).click();
  await page.getByLabel("Against").selectOption({ label: "trained agent" });
  await page.locator(".setup").getByLabel("Look-ahead").selectOption("0");
  await page.getByRole("button", { name: "Start match" }).click();
  await reads(page, ".table .seat.theirs", /^The trained agent/);
  await page.locator(".table-actions").getByRole("button", { name: "Roll", exact: true }).click();
  await until(page, () => !document.querySelector(".table-status").textContent.startsWith("Roll to begin"));
  // Waits for the visitor's turn, during which the match does not change.
  await matchStored(page);
  const before = await session();
  await page.reload();
  await lab(page, "backgammon");
  await page.getByText("Your match against the trained agent continues").waitFor();
  await reads(page, ".table .seat.theirs", /^The trained agent/);
  const { xgid, setup, dice, moves } = await session();
  assert.deepEqual({ xgid, setup, dice, moves }, { xgid: before.xgid, setup: before.setup, dice: before.dice, moves: before.moves });
}

test("the page's trained agent solves the cube and does not train, and its text has its command", async () => {
  const page = await visit(here, { at: CUBE, trained: "page", paused: true, context: { reducedMotion: "reduce" } });
  await lab(page, "cube");
  await arrived(page);
  assert.ok(await page.getByRole("radio", { name: "Trained agent" }).isChecked());
  const { facelets } = await ask(page, { ask: "turn", facelets: SOLVED, moves: SCRAMBLED });
  const value = (of) =>
    page.evaluate(([facelets, of]) => hothouse.ask({ ask: "look", facelets }, of).then((view) => view.value), [facelets, of]);
  const before = [await value("trained"), await value("own")];
  await page.getByRole("button", { name: "Scramble" }).click();
  await reads(page, ".cube-status", /^Scrambled by/);
  await page.getByRole("button", { name: "Solve it" }).click();
  await reads(page, ".cube-status", /^Solved in .*, by the trained agent: [\d,]+ states/);
  const trained = await ahead(page, "metrics");
  await page.evaluate(() => hothouse.command({ kind: "step" }));
  await trained();
  assert.equal(await value("trained"), before[0]);
  assert.notEqual(await value("own"), before[1]);
  await place(page, "Explain", "Trained agent");
  await describes(page, "cube");
  await leave(page);
});

test("a trained agent is the default until the visitor's agent overtakes it", async () => {
  const page = await replayed(here, { at: addressOf("cube"), trained: "page", paused: true, started: false });
  await lab(page, "cube");
  await arrived(page);
  const agent = page.getByRole("radio", { name: "Trained agent" });
  assert.ok(await agent.isChecked());
  await page.evaluate(() => {
    globalThis.tests = (solved) => {
      const { room, progress } = hothouse;
      return { kind: "test", progress, values: room.tests.map(({ name }) => (name === "solved" ? solved : 0)) };
    };
  });
  await tellEvents(page, await page.evaluate(() => tests(0.5)));
  assert.ok(await agent.isChecked());
  await tellEvents(page, await page.evaluate(() => tests(1)));
  await reads(page, ".lead", /Your agent overtook the trained agent after \d/);
  assert.ok(!(await agent.isChecked()), "the visitor's agent is the default now");
  await leave(page);
});

test("there is no trained agent while the run has another task", async () => {
  const page = await replayed(here, { at: addressOf("cube"), trained: "page", paused: true, started: false });
  await lab(page, "cube");
  await arrived(page);
  const agent = page.getByRole("radio", { name: "Trained agent" });
  const begin = (metric) =>
    page.evaluate((metric) => {
      const config = { version: 2, room: "cube", variant: hothouse.variant.id, seed: 1, knobs: { metric } };
      hothouse.command({ kind: "reset", config });
    }, metric);
  await begin("htm");
  await agent.waitFor({ state: "hidden" });
  await begin("qtm");
  await agent.waitFor();
  await leave(page);
});

inAll(
  "the page's trained agent solves the cube and does not train, and its text has its command",
  "the trained agent solves the cube, does not train, and is overtaken",
  async () => {
    const trained = await short("cube", CUBE);
    // The run starts paused, so that the visitor's agent cannot overtake the trained agent before the trained agent's solution.
    const page = await visit(here, { at: CUBE, trained, init: PAUSED, context: { bypassCSP: true } });
    await lab(page, "cube");
    await arrived(page);
    const agent = page.getByRole("radio", { name: "Trained agent" });
    assert.ok(await agent.isChecked());
    const { facelets } = await ask(page, { ask: "turn", facelets: SOLVED, moves: SCRAMBLED });
    const value = () =>
      page.evaluate((facelets) => hothouse.ask({ ask: "look", facelets }, "trained").then((view) => view.value), facelets);
    const before = await value();
    await page.getByRole("button", { name: "Scramble" }).click();
    await reads(page, ".cube-status", /^Scrambled by/);
    await page.getByRole("button", { name: "Solve it" }).click();
    await reads(page, ".cube-status", /^Solved in .*, by the trained agent: [\d,]+ states/);
    await page.evaluate(() => hothouse.command({ kind: "start" }));
    // The trained agent has the level of the run's first test, so the run's second test exceeds it.
    await reads(page, ".lead", /Your agent overtook the trained agent after \d/);
    assert.ok(!(await agent.isChecked()), "the visitor's agent is the default now");
    assert.equal(await value(), before);
    await page.getByRole("button", { name: "Scramble" }).click();
    await reads(page, ".cube-status", /^Scrambled by/);
    await page.getByRole("button", { name: "Solve it" }).click();
    await reads(page, ".cube-status", /^Solved in .*width \d+: [\d,]+ states/);
    await place(page, "Explain", "Trained agent");
    const text = await page.locator(".section.trained").textContent();
    assert.match(text, /cargo run --release -- train cube --variant 2x2x2 --seed 1 --set hidden=32-16 --set walk=14 --steps \d+/);
    assert.match(text, /The command gives the digest 0123456789abcdef after [\d,]+ iterations \(arithmetic: fused\)/);
    await leave(page);
  },
);

inAll(
  "former_session_returns_and_follows_to_another_run",
  "the trained agent plays a match, and undo returns to the previous match",
  async () => {
    const trained = await short("backgammon", BACKGAMMON);
    const page = await visit(here, { at: BACKGAMMON, trained });
    await lab(page, "backgammon");
    await arrived(page);
    // The trained agent has the level of the visitor's first test, so the default opponent may have changed already. This test chooses the
    // opponent explicitly.
    const button = (name) => page.locator(".table-actions button", { hasText: new RegExp(`^${name}$`) });
    const sit = async (against) => {
      await button("New match").click();
      await page.getByLabel("Against").selectOption({ label: against });
      await page.locator(".setup").getByLabel("Look-ahead").selectOption("0");
      await page.getByRole("button", { name: "Start match" }).click();
    };
    const opponent = (name) => reads(page, ".table .seat.theirs", new RegExp(`^${name}`));
    await button("Play the agent").click();
    await sit("trained agent");
    await opponent("The trained agent");
    await button("Roll").click();
    await until(page, () => !document.querySelector(".table-status").textContent.startsWith("Roll to begin"));
    await sit("random moves");
    await opponent("Random");
    await page.locator(".notices").getByRole("button", { name: "Undo" }).click();
    await opponent("The trained agent");
    await leave(page);
  },
);

test("a match against the page's trained agent continues after a reload", async () => {
  const page = await visit(here, { at: BACKGAMMON, trained: "page", paused: true });
  await lab(page, "backgammon");
  await arrived(page);
  await continues(page);
  await place(page, "Explain", "Trained agent");
  await describes(page, "backgammon");
  await leave(page);
});

inAll(
  "a match against the page's trained agent continues after a reload",
  "a match against the trained agent continues after a reload, and a message says so",
  async () => {
    const page = await visit(here, { at: BACKGAMMON, trained: await short("backgammon", BACKGAMMON) });
    await lab(page, "backgammon");
    await arrived(page);
    await continues(page);
    // Without the stored match, another match begins, and a message reports the loss.
    await page.evaluate(
      () =>
        new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase("hothouse-trained");
          request.onsuccess = () => resolve();
          request.onerror = () => reject(request.error);
        }),
    );
    await page.reload();
    await lab(page, "backgammon");
    await page.getByText("Your match against the trained agent could not be restored").waitFor();
    await leave(page);
  },
);

inAll(
  "there is no trained agent while the run has another task",
  "there is no trained agent for another task, with a damaged file, or without a file",
  async () => {
    const trained = await short("cube", CUBE);
    const damaged = gunzipSync(trained);
    damaged[damaged.length - 1] ^= 1;
    for (const settings of [{ at: `${CUBE}&metric=htm`, trained }, { at: CUBE, trained: damaged }, { at: CUBE }]) {
      const page = await visit(here, settings);
      await lab(page, "cube");
      await event(page, "test");
      assert.ok(!(await page.getByRole("radio", { name: "Trained agent" }).isVisible()));
      assert.equal(await page.locator(".notices .notice").count(), 0);
      const refused = await page.evaluate(() => hothouse.ask({ ask: "cancel" }, "trained").catch((error) => error.message));
      assert.match(refused, /^The trained agent is not loaded\./);
      await leave(page);
    }
  },
);

for (const [room, { variant, set, steps, kept, digested }] of Object.entries(declared)) {
  test(`the trained agent of ${room} in the page's folder is small and matches its command`, () => {
    const file = fileOf(room);
    assert.ok(file.length < MOST_BYTES, `${file.length} bytes`);
    const { metadata, tensors } = unpacked(gunzipSync(file));
    const { config, progress, digest } = metadata;
    assert.deepEqual([config.room, config.variant, config.seed, config.knobs, progress.counts[0]], [room, variant, 1, set, steps]);
    for (const { name, dtype, data } of tensors)
      if (dtype === "F32")
        assert.equal(
          data.some((byte) => byte !== 0),
          kept.test(name),
          name,
        );
    // A graph pads each of its parameters to a multiple of 16 floats. A learner without a graph has one tensor, without padding.
    const padded = (name) => {
      const { data } = tensors.find((tensor) => tensor.name === name);
      return digested.length > 1 ? Buffer.concat([data, Buffer.alloc((64 - (data.length % 64)) % 64)]) : data;
    };
    if (digested) assert.equal(fnv(digested.map(padded)), digest.weights);
  });
  inAll(
    `the trained agent of ${room} in the page's folder is small and matches its command`,
    `the page loads its trained agent of ${room}`,
    async () => {
      const page = await visit(here, { at: `#/${room}?variant=${variant}&v=2`, trained: "page" });
      await lab(page, room);
      await arrived(page);
      await place(page, "Explain", "Trained agent");
      await describes(page, room);
      await leave(page);
    },
  );
}
