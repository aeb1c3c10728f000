// Tests of the page's reactive state (www/parts/signal.ts).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transformWithOxc } from "vite";
import { root } from "../../scripts/sh.mjs";

const file = join(root, "www/parts/signal.ts");
const { code } = await transformWithOxc(readFileSync(file, "utf8"), file);
const { atOnce, derived, effect, paced, state, untracked } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

test("an effect repeats after each change of a value that it read, and only then", () => {
  const [first, second, other] = [state(1), state(10), state(100)];
  const seen = [];
  const stop = effect(() => seen.push(first.value + second.value), atOnce);
  first.value = 2;
  second.value = 20;
  second.value = 20;
  other.value = 200;
  assert.deepEqual(seen, [11, 12, 22]);
  stop();
  first.value = 3;
  assert.deepEqual(seen, [11, 12, 22]);
});

test("an effect stops tracking values that it no longer reads", () => {
  const [which, left, right] = [state(true), state("a"), state("b")];
  const seen = [];
  effect(() => seen.push(which.value ? left.value : right.value), atOnce);
  right.value = "c";
  which.value = false;
  left.value = "d";
  right.value = "e";
  assert.deepEqual(seen, ["a", "c", "e"]);
});

test("a derived value is computed once per change, when read", () => {
  const [base, factor] = [state(2), state(3)];
  let computed = 0;
  const product = derived(() => (computed++, base.value * factor.value));
  assert.equal(computed, 0);
  assert.deepEqual([product.value, product.value, computed], [6, 6, 1]);
  base.value = 4;
  factor.value = 5;
  assert.equal(computed, 1);
  assert.deepEqual([product.value, computed], [20, 2]);
  const seen = [];
  effect(() => seen.push(product.value), atOnce);
  factor.value = 6;
  assert.deepEqual(seen, [20, 24]);
});

test("scheduled effects merge changes, and an ended effect ignores them", () => {
  const now = state(0);
  const [seen, due] = [[], []];
  const stop = effect(
    () => seen.push(now.value),
    (again) => due.push(again),
  );
  now.value = 1;
  now.value = 2;
  assert.deepEqual([seen, due.length], [[0], 1]);
  due.shift()();
  now.value = 3;
  assert.deepEqual([seen, due.length], [[0, 2], 1]);
  stop();
  due.shift()();
  assert.deepEqual(seen, [0, 2]);
});

test("a paced effect runs immediately first and then at intervals", (t) => {
  // The test has a clock of its own, because a busy machine delays timers and measurements.
  let ms = 0;
  let timer;
  t.mock.method(performance, "now", () => ms);
  t.mock.method(globalThis, "setTimeout", (run, waitMs) => (timer = { run, at: ms + waitMs }));
  const now = state(0);
  const times = [];
  const stop = effect(() => now.value && times.push(ms), paced(60));
  for (; ms <= 200; ms += 5) {
    if (timer?.at <= ms) timer.run();
    now.value++;
  }
  stop();
  assert.deepEqual(times, [5, 65, 125, 185]);
});

test("untracked reads are not followed, later reads are", () => {
  const [aside, followed] = [state(1), state(1)];
  const seen = [];
  effect(() => seen.push(untracked(() => aside.value) + followed.value), atOnce);
  aside.value = 10;
  followed.value = 2;
  assert.deepEqual(seen, [2, 12]);
});

test("a change within an effect leads to the latest value", () => {
  const [asked, given] = [state(1), state(0)];
  effect(() => (given.value = 2 * asked.value), atOnce);
  const seen = [];
  effect(() => seen.push([asked.value, given.value].join()), atOnce);
  asked.value = 2;
  assert.equal(seen.at(-1), "2,4");
});
