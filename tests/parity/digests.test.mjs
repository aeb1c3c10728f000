// One run, one digest: for any number of threads, and between native and wasm wherever the
// arithmetic is the same (fused, or unfused). Nothing is promised between the two arithmetics.
import assert from "node:assert/strict";
import { test } from "node:test";
import { event, hothouse, house, visit } from "../web/fixture.mjs";

const ITERATION = 16;
const KNOBS = { envs: 128, rollout_steps: 16, hidden: 32 };
const here = house();

/** The digest of the native program, as `{ iteration, weights, arithmetic }`. */
async function native(isa, threads) {
  const set = Object.entries(KNOBS).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const steps = ITERATION * KNOBS.envs * KNOBS.rollout_steps;
  const args = ["train", "control", "--env", "CartPole-v1", "--seed", "7", "--steps", String(steps), "--json", ...set];
  const lines = await hothouse([...args, ...(isa ? ["--isa", isa] : [])], { RAYON_NUM_THREADS: String(threads) });
  const digest = lines.map((line) => JSON.parse(line)).find((line) => line.kind === "digest");
  assert.ok(digest, `no digest in:\n${lines.join("\n")}`);
  return digest;
}

/** The digest of the page in one of its modules. */
async function paged(module, threads) {
  const knobs = Object.entries(KNOBS).map(([name, value]) => `&${name}=${value}`);
  const init = `Object.defineProperty(Navigator.prototype, "hardwareConcurrency", { get: () => ${threads} })`;
  const page = await visit(here, { at: `?use=${module}#/control?seed=7${knobs.join("")}&v=1`, init });
  const inUse = await page.evaluate(() => hothouse.backend);
  assert.equal(inUse.module, module);
  assert.equal(inUse.threads, threads);
  const digest = await event(page, "digest", ITERATION);
  await page.context().close();
  return digest;
}

const same = (a, b) => {
  for (const part of ["iteration", "arithmetic", "weights"]) assert.equal(a[part], b[part]);
};

test("unfused: the portable native code, SIMD128 and scalar wasm, one thread and two", async () => {
  const expected = await native("portable", 1);
  assert.equal(expected.arithmetic, "unfused");
  same(await native("portable", 2), expected);
  same(await paged("threads-simd128", 2), expected);
  same(await paged("threads-simd128", 1), expected);
  same(await paged("simd128", 1), expected);
  same(await paged("scalar", 1), expected);
});

test("fused: this machine's best native code, and relaxed wasm where it fuses, one thread and two", async () => {
  const expected = await native(null, 1);
  same(await native(null, 2), expected);
  const relaxed = await paged("threads-relaxed", 1);
  same(await paged("threads-relaxed", 2), relaxed);
  if (relaxed.arithmetic === expected.arithmetic) same(relaxed, expected);
  else assert.equal(relaxed.arithmetic, "unfused");
});
