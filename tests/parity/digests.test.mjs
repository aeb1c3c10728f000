// Tests that the digests of every variant of every room are equal: for any number of threads, and between native and wasm with the same
// arithmetic (fused or unfused). Digests of the two arithmetics differ.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { digest, everyRun, SEED } from "../../scripts/digests.mjs";
import { target } from "../../scripts/native.mjs";
import { ROOMS } from "../../scripts/rooms.mjs";
import { sh } from "../../scripts/sh.mjs";
import { house, lab, visit } from "../web/fixture.mjs";

const program = join(target, "release/hothouse");
const here = house();
const all = await everyRun(program);

/** Trains all runs in a single page with the given module, and returns the first digest of each run, by variant. */
async function paged(room, runs, module, threads) {
  const page = await visit(here, { started: false, at: `?use=${module}&device=cpu#/${room}`, cores: threads });
  await lab(page, room);
  const inUse = await page.evaluate(() => hothouse.backend);
  assert.equal(inUse.module, module);
  assert.equal(inUse.threads, threads);
  const found = new Map();
  for (const { variant, knobs } of runs) {
    const event = await page.evaluate(
      (config) =>
        new Promise((resolve, reject) => {
          let begun = false;
          hothouse.onEvent((event) => {
            begun ||= event.kind === "began" && event.config.variant === config.variant && event.config.seed === config.seed;
            if (begun && event.kind === "digest") resolve(event);
            if (begun && event.kind === "notice" && event.level === "error") reject(new Error(event.text));
          });
          hothouse.command({ kind: "reset", config });
          hothouse.command({ kind: "start" });
        }),
      { version: 2, room, variant, seed: SEED, knobs },
    );
    found.set(variant, { iteration: event.iteration, weights: event.weights, arithmetic: event.arithmetic });
  }
  await page.context().close();
  return found;
}

/** Compares each run's digest, in each module and with one or two threads, to the native digest of the same arithmetic. */
async function same(t, room, modules, expected) {
  const runs = all.filter((run) => run.room === room);
  assert.ok(runs.length > 0, `the program has no ${room}`);
  const pages = await Promise.all(
    modules.map(async ([module, threads]) => [`${module}, ${threads}`, await paged(room, runs, module, threads)]),
  );
  for (const run of runs)
    await t.test(run.variant, async () => {
      for (const [where, found] of pages)
        assert.deepEqual(found.get(run.variant), await expected(run, found.get(run.variant).arithmetic), where);
    });
}

/** Returns the native digest of a run with one thread, and checks that two threads give the same digest. */
async function native(run, isa) {
  const [one, two] = [await digest([program], run, { isa, threads: 1 }), await digest([program], run, { isa, threads: 2 })];
  assert.deepEqual(two, one, "natively, with two threads and with one");
  return one;
}

for (const room of ROOMS) {
  test(`unfused ${room}: the portable native code and SIMD128 wasm, one thread and two`, async (t) => {
    const modules = [
      ["threads-simd128", 2],
      ["threads-simd128", 1],
      ["simd128", 1],
    ];
    const known = new Map();
    await same(t, room, modules, async (run) => {
      if (!known.has(run)) known.set(run, await native(run, "portable"));
      assert.equal(known.get(run).arithmetic, "unfused");
      return known.get(run);
    });
  });

  test(`fused ${room}: this machine's best native code, and relaxed wasm where it fuses, one thread and two`, async (t) => {
    const modules = [
      ["threads-relaxed", 1],
      ["threads-relaxed", 2],
    ];
    const known = new Map();
    await same(t, room, modules, async (run, arithmetic) => {
      if (!known.has(run)) known.set(run, await native(run));
      const best = known.get(run);
      // Chromium fuses multiply-adds on every CPU that can fuse them. Unfused results on such a CPU mean that the module contains no fused
      // instructions.
      if (best.arithmetic === "fused") assert.equal(arithmetic, "fused", "the relaxed module's arithmetic where native code fuses");
      return arithmetic === best.arithmetic ? best : native(run, "portable");
    });
  });
}

test("the link of a run in a file is reproduced natively, with one thread and two, for each module", async () => {
  const first = await visit(here, { started: false, at: "#/control?envs=64&v=2" });
  await lab(first, "control");
  await first.getByRole("link", { name: "Your environment", exact: true }).click();
  await first.waitForFunction(() => globalThis.hothouse?.variant.id === "own");
  const { address } = await first.evaluate(() => hothouse.shared());
  await first.context().close();
  for (const [module, threads] of [
    ["threads-relaxed", 2],
    ["threads-simd128", 1],
    ["simd128", 1],
  ]) {
    const page = await visit(here, { started: false, at: `?use=${module}&device=cpu${address}&envs=64`, cores: threads });
    await lab(page, "control");
    assert.equal(await page.evaluate(() => hothouse.backend.module), module);
    await page.evaluate(() => new Promise((resolve) => hothouse.onEvent(({ kind }) => kind === "digest" && resolve())));
    const { link } = await page.evaluate(() => {
      hothouse.command({ kind: "pause" });
      return hothouse.shared();
    });
    assert.match(link, /variant=own.*&envs=64.*&file=.*&digest=/);
    for (const count of ["1", "2"]) assert.match(await sh(program, ["verify", link, "--threads", count]), /reproduced/, module);
    await page.context().close();
  }
});
