// One run, one digest: for any number of threads, and between native and wasm wherever the
// arithmetic is the same (fused, or unfused). Nothing is promised between the two arithmetics.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hothouse, house, lab, visit } from "../web/fixture.mjs";

// Choices with nothing else; two starts that ask for patience, one of them with numbers to choose; numbers, squashed, seen through a
// lens; a trunk shared; bodies that touch. Both learners of backgammon: sums of whole numbers, and residual blocks.
const RUNS = [
  ["control", "CartPole-v1", { envs: 128, rollout_steps: 16, hidden: 32 }],
  ["control", "MountainCar-v0", { envs: 128, rollout_steps: 16, hidden: 32 }],
  ["control", "MountainCarContinuous-v0", { envs: 128, rollout_steps: 16, hidden: 32 }],
  ["control", "Pendulum-v1", { envs: 128, rollout_steps: 16, hidden: 32, squash: 1 }],
  ["control", "Acrobot-v1", { envs: 128, rollout_steps: 16, hidden: 16, shared: 1, tanh: 0 }],
  ["control", "LunarLander-v3", { envs: 128, rollout_steps: 16, hidden: 16 }],
  ["backgammon", "strong", { games: 16, hidden: 16, batch: 128 }],
  ["backgammon", "published", { tables: 2, games: 4, batch: 16, evals: 2, round_batches: 12, minibatch: 32, replay: 512 }],
];
/** How far the native runs go: enough that a page which is far ahead when it is first asked is still met. */
const ITERATIONS = 320;
const GAMES = { strong: 96 * 16, published: 60 };
const here = house();

/** The digests of the native program by iteration, each `{ iteration, weights, arithmetic }`. */
async function native([room, env, knobs], isa, threads) {
  const set = Object.entries(knobs).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const steps = room === "control" ? ITERATIONS * knobs.envs * knobs.rollout_steps : GAMES[env];
  const args = ["train", room, "--variant", env, "--seed", "7", "--steps", String(steps), "--json", ...set];
  const lines = await hothouse([...args, ...(isa ? ["--isa", isa] : [])], { RAYON_NUM_THREADS: String(threads) });
  const digests = lines.map((line) => JSON.parse(line)).filter((line) => line.kind === "digest");
  assert.ok(digests.length > 0, `no digest in:\n${lines.join("\n")}`);
  return new Map(digests.map((digest) => [digest.iteration, digest]));
}

/** The first digest that the page tells of in one of its modules. */
async function paged([room, env, settings], module, threads) {
  const knobs = Object.entries(settings).map(([name, value]) => `&${name}=${value}`);
  const init = `Object.defineProperty(Navigator.prototype, "hardwareConcurrency", { get: () => ${threads} })`;
  const page = await visit(here, { started: false, at: `?use=${module}#/${room}?env=${env}&seed=7${knobs.join("")}&v=1`, init });
  await lab(page, room);
  const inUse = await page.evaluate(() => hothouse.backend);
  assert.equal(inUse.module, module);
  assert.equal(inUse.threads, threads);
  const digest = await page.evaluate(
    () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "digest" && resolve(event))),
  );
  await page.context().close();
  return digest;
}

/** A page's digest is the native one of its iteration, which may be late where the page was quick. */
function same(digest, expected) {
  const native = expected.get(digest.iteration);
  assert.ok(native, `the page told of iteration ${digest.iteration} first`);
  for (const part of ["arithmetic", "weights"]) assert.equal(digest[part], native[part]);
}

for (const run of RUNS) {
  test(`unfused ${run[1]}: the portable native code and SIMD128 wasm, one thread and two`, async () => {
    const expected = await native(run, "portable", 1);
    for (const digest of (await native(run, "portable", 2)).values()) same(digest, expected);
    assert.equal(expected.get(16).arithmetic, "unfused");
    same(await paged(run, "threads-simd128", 2), expected);
    same(await paged(run, "threads-simd128", 1), expected);
    same(await paged(run, "simd128", 1), expected);
  });

  test(`fused ${run[1]}: this machine's best native code, and relaxed wasm where it fuses, one thread and two`, async () => {
    const expected = await native(run, null, 1);
    for (const digest of (await native(run, null, 2)).values()) same(digest, expected);
    for (const threads of [1, 2]) {
      const digest = await paged(run, "threads-relaxed", threads);
      const alike = digest.arithmetic === expected.get(16).arithmetic;
      same(digest, alike ? expected : await native(run, "portable", 1));
    }
  });
}
