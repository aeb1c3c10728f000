// Trains the golden runs in the page and compares their digests with tests/golden/digests.txt, which native code writes and keeps. `npm
// test` trains them in the module of the tests; `--all` trains them in the modules of all flavours, with one thread and two.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { goldenRuns, ITERATION } from "../../scripts/digests.mjs";
import { target } from "../../scripts/native.mjs";
import { ROOMS } from "../../scripts/rooms.mjs";
import { sh } from "../../scripts/sh.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import { house, lab, visit } from "../web/fixture.mjs";

const program = join(target, "release/hothouse");
const here = house();

/** Flavours of the modules, each with a number of threads. */
const MODULES = [
  ["threads-relaxed", 2],
  ...(ALL
    ? [
        ["threads-relaxed", 1],
        ["threads-simd128", 2],
        ["threads-simd128", 1],
        ["simd128", 1],
      ]
    : []),
];

/** Trains the runs one after another in a page with the given module. Returns the first digest of each run, by name. */
async function paged(room, runs, module, threads) {
  const page = await visit(here, { started: false, at: `?use=${module}&device=cpu#/${room}`, cores: threads });
  await lab(page, room);
  const inUse = await page.evaluate(() => hothouse.backend);
  assert.equal(inUse.module, module);
  assert.equal(inUse.threads, threads);
  const found = new Map();
  for (const { name, config } of runs)
    found.set(
      name,
      await page.evaluate(
        (config) =>
          new Promise((resolve, reject) => {
            let begun = false;
            hothouse.onEvent((event) => {
              begun ||= event.kind === "began" && event.config.variant === config.variant && event.config.seed === config.seed;
              if (begun && event.kind === "digest")
                resolve({ iteration: event.iteration, weights: event.weights, arithmetic: event.arithmetic });
              if (begun && event.kind === "notice" && event.level === "error") reject(new Error(event.text));
            });
            hothouse.command({ kind: "reset", config });
            hothouse.command({ kind: "start" });
          }),
        config,
      ),
    );
  await page.context().close();
  return found;
}

for (const room of ROOMS)
  for (const [module, threads] of MODULES)
    test(`${room} in the module ${module} with ${threads} ${threads === 1 ? "thread" : "threads"} has the golden digests`, async (t) => {
      const runs = goldenRuns().filter(({ config }) => config.room === room);
      assert.ok(runs.length > 0, `there is no golden run of ${room}`);
      const found = await paged(room, runs, module, threads);
      for (const { name, weights } of runs)
        await t.test(name, () => {
          const { arithmetic, ...digest } = found.get(name);
          // Only the relaxed module can fuse multiply-adds, and only on a processor that fuses them.
          if (module !== "threads-relaxed") assert.equal(arithmetic, "unfused");
          assert.deepEqual(digest, { iteration: ITERATION, weights: weights[arithmetic] });
        });
    });

test("the relaxed module fuses multiply-adds where native code does", async () => {
  const page = await visit(here, { started: false, at: "?use=threads-relaxed&device=cpu#/control?envs=64&v=2" });
  await lab(page, "control");
  const { arithmetic } = await page.evaluate(
    () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "digest" && resolve(event))),
  );
  const [event] = (await sh(program, ["train", "control", "--set", "envs=64", "--steps", "20000", "--json", "--device", "cpu"]))
    .split("\n")
    .filter((line) => line.includes('"digest"'))
    .map(JSON.parse);
  assert.equal(arithmetic, event.arithmetic);
  await page.context().close();
});

for (const [module, threads] of [
  ["threads-relaxed", 2],
  ["threads-simd128", 1],
  ["simd128", 1],
])
  inAll(
    "a link contains the file, and reproduces the run in a fresh browser",
    `the link of a run in a file is reproduced natively: ${module}`,
    async () => {
      const first = await visit(here, { started: false, at: "#/control?envs=64&v=2" });
      await lab(first, "control");
      await first.getByRole("link", { name: "Your environment", exact: true }).click();
      await first.waitForFunction(() => globalThis.hothouse?.variant.id === "own");
      const { address } = await first.evaluate(() => hothouse.shared());
      await first.context().close();
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
    },
  );
