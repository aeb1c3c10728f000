// The rule of every figure, and what `npm run figures` makes of rows: without a browser, and without measuring anything.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { counted, measured, quartiles } from "../../scripts/figure.mjs";
import { block, chipOf, chosen, held } from "../../scripts/figures.mjs";
import { PARTS } from "../../scripts/figures/parts.mjs";
import { between, tables, words } from "../../scripts/figures/tables.mjs";
import { parts as cubeParts } from "../../scripts/rooms/cube.mjs";

const golden = readFileSync(new URL("../golden/quartiles.txt", import.meta.url), "utf8");

test("quartiles are NumPy's, and what never ends is infinite", () => {
  const cases = golden.split("\n").filter((line) => line.includes("->") && !line.startsWith("#"));
  assert.ok(cases.length >= 6);
  for (const line of cases) {
    const [samples, expected] = line.split("->").map((text) => text.trim().split(" ").map(Number));
    assert.deepEqual(quartiles(samples), expected, line);
  }
  assert.deepEqual(quartiles([Infinity, 10, 30, Infinity, 20]), [20, 30, Infinity]);
  assert.throws(() => quartiles([]), /no samples/);
});

test("a row that was measured has its quartiles, and a count has none", () => {
  assert.deepEqual(measured("x", [7, 1, 4, 2], "ms"), { name: "x", value: 3, lower: 1.75, upper: 4.75, rounds: 4, unit: "ms" });
  assert.deepEqual(counted("x", 3, "seeds"), { name: "x", value: 3, unit: "seeds" });
});

test("a figure in words has its scale once and its quartiles behind it", () => {
  for (const [samples, options, text] of [
    [[39_300, 38_900, 39_600], {}, "39.3 thousand (39.1 to 39.5)"],
    [[2.456e9], {}, "2.46 billion (2.46 to 2.46)"],
    [[7970], {}, "7,970 (7,970 to 7,970)"],
    [[0.048], { unit: "ms" }, "0.0480 ms (0.0480 to 0.0480)"],
    [[0.19, 1, Infinity, Infinity, Infinity], { unit: "s" }, "never (1.00 to never)"],
  ])
    assert.equal(words(measured("x", samples, ""), options), text);
  assert.equal(words(JSON.parse(JSON.stringify(measured("x", [1, Infinity, Infinity], "s"))), { unit: "s" }), "never (never to never)");
  assert.equal(words(counted("x", 102e6, "bytes"), { times: 1e-6, unit: "MB" }), "102 MB");
});

test("parts are chosen by room and by name, and long ones only where they are asked for", () => {
  const ids = (options) => chosen(PARTS, options).map(({ id }) => id);
  assert.ok(ids({}).includes("cube/walk") && !ids({}).includes("backgammon/hour"));
  assert.ok(ids({ long: true }).includes("backgammon/hour"));
  assert.deepEqual(ids({ only: "core" }), ["core/terminal", "core/page"]);
  assert.deepEqual(ids({ only: "backgammon/hour" }), ["backgammon/hour"]);
  assert.throws(() => ids({ only: "cubes" }), /no room and no part called 'cubes'/);
  assert.equal(new Set(PARTS.map(({ id }) => id)).size, PARTS.length);
});

test("no run is measured on a seed that a preset was tuned on", () => {
  for (const { id, does } of PARTS)
    for (const [, seed] of does.matchAll(/(?:, seeds? |--seed |--first |--first-seed |seed=)(\d+)/g)) assert.ok(Number(seed) >= 101, `${id}: ${does}`);
  assert.deepEqual(cubeParts, ["2x2x2", "3x3x3"]);
  for (const room of ["control", "backgammon", "cube", "logic", "words"]) {
    const text = readFileSync(new URL(`../../scripts/rooms/${room}.mjs`, import.meta.url), "utf8");
    const bench = text.slice(text.indexOf("export async function bench"), text.indexOf("export async function screenshots"));
    for (const [, seed] of bench.matchAll(/seed=(\d+)/g)) assert.ok(Number(seed) >= 101, room);
  }
});

test("what was kept holds for the same command, chip, code and length alone", () => {
  const part = { id: "cube/walk", does: "train cube" };
  const kept = [{ ...part, chip: "A", code: "1", quick: false }];
  const now = { chip: "A", code: "1", quick: false };
  assert.ok(held(kept, part, now));
  for (const other of [{ chip: "B" }, { code: "2" }, { quick: true }]) assert.ok(!held(kept, part, { ...now, ...other }));
  for (const other of [{ id: "cube/exact" }, { does: "train cube --seconds 1" }]) assert.ok(!held(kept, { ...part, ...other }, now));
});

test("a room's tables name chip, date and conditions, and what is missing", () => {
  const rows = [measured("core.peak_gflops", [100, 110, 120], "GFLOP/s"), measured("core.peak_gflops_page", [50, 51, 52], "GFLOP/s")];
  const part = { id: "core/terminal", chip: "AMD EPYC (family 25, model 1), AVX2, 2 cores", code: "abc", quick: false, date: "2026-11-23", busy: true, rows };
  const text = block("core", PARTS, [part], "Chromium 156");
  assert.match(text, /^\*AMD EPYC \(family 25, model 1\), AVX2, 2 cores, a shared machine, busy with other work in 1 of 1 parts; Chromium 156 headless; code abc; 2026-11-23\./);
  assert.match(text, /Not measured there: page\./);
  assert.match(text, /\| multiply-add peak, one core, GFLOP\/s \| 110 \(105 to 115\) \| 51\.0 \(50\.5 to 51\.5\) \|/);
  assert.doesNotMatch(text, /matrix product/, "a line without figures is left out");
  assert.equal(block("core", PARTS, [], ""), undefined);
});

test("every line of a table asks for rows of a room that is measured", () => {
  const asked = new Set();
  tables((name) => void asked.add(name));
  assert.ok(asked.size > 150);
  const rooms = new Set(PARTS.map(({ id }) => id.split("/")[0]));
  for (const name of asked) assert.ok(rooms.has(name.split(".")[0]) || name.startsWith("page."), name);
});

test("a block goes between its marks, and nothing else changes", () => {
  const text = "a\n<!-- figures:core -->\nold\n<!-- /figures -->\nb\n<!-- figures:cube -->\nkept\n<!-- /figures -->\n";
  assert.equal(between(text, "core", "new"), "a\n<!-- figures:core -->\n\nnew\n\n<!-- /figures -->\nb\n<!-- figures:cube -->\nkept\n<!-- /figures -->\n");
  assert.equal(between(text, "words", "new"), undefined);
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  for (const room of new Set(PARTS.map(({ id }) => id.split("/")[0]))) assert.ok(between(readme, room, ""), `README has no place for ${room}`);
});

test("a chip is named with what sets it apart", () => {
  const cpuinfo = "processor : 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 avx512f avx512_bf16\n";
  assert.equal(chipOf("AMD EPYC", 2, cpuinfo, "x64"), "AMD EPYC (family 25, model 17), AVX512-BF16 and AVX-512, 2 cores");
  assert.equal(chipOf("Apple M4", 10, "", "arm64"), "Apple M4, arm64, 10 cores");
});
