// Tests of the quartiles and of the tables of `npm run figures`, without a browser and without measurements.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { counted, measured, quartiles } from "../../scripts/figure.mjs";
import { block, chipOf, chosen, DOCUMENT, missingRows, reasons, reusable, rooms } from "../../scripts/figures.mjs";
import { inParallel, memberRows, OPTIONAL, PARTS, populationRows } from "../../scripts/figures/parts.mjs";
import { between, changes, inside, tables, words } from "../../scripts/figures/tables.mjs";
import { parts as cubeParts } from "../../scripts/rooms/cube.mjs";

const read = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
const golden = read("tests/golden/quartiles.txt");
/** Returns all rows of the tables, with invented values. */
const everything = () => tables(() => {}).missing.map((name) => measured(name, [1, 2, 3], "times as fast as gymnasium"));
/**
 * Returns the rows of `everything` by part. A row belongs to the last part whose pattern matches its name. Rows whose name satisfies
 * `without` are omitted.
 */
function passed({ without = () => false } = {}) {
  const done = PARTS.map(({ id }) => ({ id, rows: [] }));
  for (const row of everything()) {
    const at = PARTS.findLastIndex(({ gives }) => gives.test(row.name));
    if (!without(row.name)) done[at].rows.push(row);
  }
  return done;
}

test("quartiles equal NumPy's, and infinite samples stay infinite", () => {
  const cases = golden.split("\n").filter((line) => line.includes("->") && !line.startsWith("#"));
  assert.ok(cases.length >= 6);
  for (const line of cases) {
    const [samples, expected] = line.split("->").map((text) => text.trim().split(" ").map(Number));
    assert.deepEqual(quartiles(samples), expected, line);
  }
  assert.deepEqual(quartiles([Infinity, 10, 30, Infinity, 20]), [20, 30, Infinity]);
  assert.throws(() => quartiles([]), /no samples/);
});

test("a measured row has quartiles, and a counted row has none", () => {
  assert.deepEqual(measured("x", [7, 1, 4, 2], "ms"), { name: "x", value: 3, lower: 1.75, upper: 4.75, rounds: 4, unit: "ms" });
  assert.deepEqual(counted("x", 3, "seeds"), { name: "x", value: 3, unit: "seeds" });
});

test("a formatted figure has its scale once, followed by its quartiles", () => {
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

test("parts are selected by room or by name, and long parts only on request", () => {
  const ids = (options) => chosen(PARTS, options).map(({ id }) => id);
  assert.ok(ids({}).includes("cube/walk") && !ids({}).includes("backgammon/hour"));
  assert.ok(ids({ long: true }).includes("backgammon/hour"));
  assert.deepEqual(ids({ only: "core" }), ["core/terminal", "core/page"]);
  assert.deepEqual(ids({ only: "backgammon/hour" }), ["backgammon/hour"]);
  assert.throws(() => ids({ only: "cubes" }), /unknown room or part 'cubes'/);
  assert.equal(new Set(PARTS.map(({ id }) => id)).size, PARTS.length);
});

test("measured runs use seeds from 101 on", () => {
  for (const { id, does } of PARTS)
    for (const [, seed] of does.matchAll(/(?:, seeds? |--seed |--first |--first-seed |seed=)(\d+)/g))
      assert.ok(Number(seed) >= 101, `${id}: ${does}`);
  assert.deepEqual(cubeParts, ["2x2x2", "3x3x3"]);
  for (const room of ["control", "backgammon", "cube", "logic", "words"]) {
    const text = readFileSync(new URL(`../../scripts/rooms/${room}.mjs`, import.meta.url), "utf8");
    const bench = text.slice(text.indexOf("export async function bench"), text.indexOf("export async function screenshots"));
    for (const [, seed] of bench.matchAll(/seed=(\d+)/g)) assert.ok(Number(seed) >= 101, room);
  }
});

test("a stored part is reusable only for the same command, chip, code and length", () => {
  const part = { id: "cube/walk", does: "train cube" };
  const stored = [{ ...part, chip: "A", code: "1", quick: false }];
  const now = { chip: "A", code: "1", quick: false };
  assert.ok(reusable(stored, part, now));
  for (const other of [{ chip: "B" }, { code: "2" }, { quick: true }]) assert.ok(!reusable(stored, part, { ...now, ...other }));
  for (const other of [{ id: "cube/exact" }, { does: "train cube --seconds 1" }]) assert.ok(!reusable(stored, { ...part, ...other }, now));
});

test("a room's tables state chip, date, conditions and unmeasured parts", () => {
  const rows = [measured("core.peak_gflops", [100, 110, 120], "GFLOP/s"), measured("core.peak_gflops_page", [50, 51, 52], "GFLOP/s")];
  const part = {
    id: "core/terminal",
    chip: "AMD EPYC (family 25, model 1), AVX2, 2 cores",
    code: "abc",
    quick: false,
    date: "2026-11-23",
    busy: true,
    rows,
  };
  const text = block("core", PARTS, [part], "Chromium 156");
  const conditions = "2 cores, a shared machine, busy with other work in 1 of 1 parts; Chromium 156 headless; code abc; 2026-11-23.";
  assert.ok(text.startsWith(`*AMD EPYC (family 25, model 1), AVX2, ${conditions}`), text);
  assert.match(text, /Not measured: page\./);
  assert.match(text, /\| multiply-add peak, one core, GFLOP\/s \| 110 \(105 to 115\) \| 51\.0 \(50\.5 to 51\.5\) \|/);
  assert.doesNotMatch(text, /matrix product/, "lines without figures are omitted");
  assert.equal(block("core", PARTS, [], ""), undefined);
  const how = "backgammon agents two at a time, one core each";
  const agents = ["minute", "bare"].map((id) => ({ ...part, id: `backgammon/${id}`, how, rows: [] }));
  assert.match(block("backgammon", PARTS, agents, ""), new RegExp(`2026-11-23; ${how}\\.`));
  const python = { ...part, id: "python/bench", rows: [measured("python.policy.ratio", [1, 1], "times")] };
  assert.doesNotMatch(block("python", PARTS, [python], undefined), /headless/, "Python has no page");
});

test("each row of a table matches a part", () => {
  const asked = tables(() => {}).missing;
  assert.ok(asked.length > 150);
  for (const name of asked)
    assert.ok(
      PARTS.some(({ gives }) => gives.test(name)),
      name,
    );
  for (const { gives, id } of PARTS)
    assert.ok(
      asked.some((name) => gives.test(name)),
      `no table contains a row of ${id}`,
    );
});

test("a full pass measures all rows of the tables", () => {
  assert.deepEqual(missingRows(PARTS, passed()), []);
  assert.deepEqual(reasons(passed()), []);
  const lost = ["cube.walk.greedy_at_6", "core.peak_gflops_page", "logic.life.begun_anew"];
  assert.deepEqual(missingRows(PARTS, passed({ without: (name) => lost.includes(name) })).sort(), lost.toSorted());
  // A long or failed part is absent from the measured parts. Only its rows may be missing.
  const short = passed().filter(({ id }) => !PARTS.find((part) => part.id === id).long && id !== "cube/dqn");
  assert.deepEqual(missingRows(PARTS, short), []);
  const dqn = passed({ without: (name) => name === "cube.dqn.step_ms" }).filter(({ id }) => id !== "cube/dqn");
  assert.deepEqual(missingRows(PARTS, dqn), ["cube.dqn.step_ms"]);
});

test("optional rows are omitted as a group, with a reason", () => {
  const plain = passed({ without: (name) => OPTIONAL.some(({ rows }) => rows.test(name)) });
  assert.deepEqual(missingRows(PARTS, plain), []);
  assert.equal(reasons(plain).length, OPTIONAL.length);
  const torch = passed({ without: (name) => name === "words.d256.ratio_to_pytorch" });
  assert.deepEqual(missingRows(PARTS, torch), ["words.d256.ratio_to_pytorch"]);
});

test("two seeds run at a time, and no seed starts after a failure", async () => {
  let [now, most] = [0, 0];
  const work = async (x) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 5 * (4 - x)));
    now--;
    return 10 * x;
  };
  assert.deepEqual(await inParallel(2, [1, 2, 3], work), [10, 20, 30]);
  assert.deepEqual([now, most], [0, 2]);
  most = 0;
  assert.deepEqual(await inParallel(1, [1, 2, 3], work), [10, 20, 30]);
  assert.equal(most, 1);
  const begun = [];
  const failing = async (x) => {
    begun.push(x);
    if (x === 1) throw new Error("no");
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await assert.rejects(inParallel(2, [1, 2, 3, 4], failing), /no/);
  assert.deepEqual(begun, [1, 2]);
});

/** Returns a replacement for the tools of a part. It records each command in `commands` and returns the result of `answer`. */
const recorded = (commands, answer) => ({
  quick: false,
  file: (name) => name,
  hothouse: async (...args) => (commands.push(args.join(" ")), answer(args)),
});

test("an agent of one core uses one thread, and a missing GNU Backgammon fails before training", async () => {
  const part = PARTS.find(({ id }) => id === "backgammon/minute");
  const commands = [];
  const duel = { points_per_game: 0.5, standard_error: 0.02, games: 4000 };
  const rows = await part.run(recorded(commands, () => [duel]));
  assert.match(commands[0], /^eval backgammon random --against gnubg --games 2 /);
  for (const command of commands) assert.match(command, / --threads 1( |$)/);
  assert.equal(commands.filter((command) => command.startsWith("train")).length, 3);
  assert.deepEqual([...new Set(rows.map(({ name }) => name.split(".")[2]))], ["seed101", "seed102", "seed103"]);
  for (const { name } of rows) assert.match(name, part.gives);
  const none = recorded([], ([verb]) => {
    if (verb === "eval") throw new Error("GNU Backgammon is not installed here");
    throw new Error("trained in vain");
  });
  await assert.rejects(part.run(none), ({ message, next }) => /not installed/.test(message) && /install gnubg/.test(next));
});

test("a population's rows count restarted members", () => {
  const end = (ended_by, took_s, progress) => ({ ended_by, took_s, cpu_seconds: 2 * took_s, members: 4, progress });
  const counts = [
    [1, 1],
    [4, 2],
    [7, 0],
  ].map(([ended, perfect_runs]) => ({ ended, perfect_runs }));
  const ends = [end("solved", 1, counts[0]), end("solved", 2, counts[1]), end("cpu_seconds", 600, counts[2])];
  const rows = populationRows("logic.life", ends);
  const value = (what) => rows.find(({ name }) => name === `logic.life.${what}`).value;
  assert.deepEqual(["solve_s", "solve_most_s", "solve_cpu_s", "solved"].map(value), [2, Infinity, 4, 2]);
  // Three seeds of 4 members began 12 members. Nine replacements followed members that made no progress.
  assert.deepEqual(["members", "begun_anew", "begun", "perfect"].map(value), [4, 9, 21, 3]);
  for (const { name } of rows) assert.match(name, PARTS.find(({ id }) => id === "logic/life").gives);
});

test("rows of single members follow the example's output and count confirmed members separately", () => {
  const said = (perfect, confirmed, after) =>
    `checkerboard side=16: ${perfect} of 20 perfect, ${confirmed} confirmed, after [${after}] updates; 99 updates in 3.25 s\n`;
  const rows = memberRows("logic.x", said(3, 2, "40, 80, 120"), 500);
  const found = Object.fromEntries(rows.map(({ name, value }) => [name.slice(8), value]));
  assert.deepEqual(found, { perfect: 3, of: 20, confirmed: 2, took_s: 3.25, updates: 80 });
  assert.equal(memberRows("logic.x", said(0, 0, ""), 500).at(-1).value, Infinity);
  assert.throws(() => memberRows("logic.x", "checkerboard : 3 of 20 perfect, after [] updates", 500), /unexpected output/);
});

test("changes lists differing table lines before and after", () => {
  const first = "| | a |\n| --- | --- |\n| x | 1 |\n| the same | 2 |";
  const before = `*then*\n\n${first}\n\n| y | b |\n| --- | --- |\n| the same | 3 |\n| gone | 4 |`;
  const after = `*now*\n\n${first}\n\n| y | b |\n| --- | --- |\n| the same | 5 |\n| new | 6 |`;
  assert.deepEqual(changes(before, after), [
    ["| the same | 3 |", "| the same | 5 |"],
    ["| gone | 4 |", undefined],
    [undefined, "| new | 6 |"],
  ]);
  assert.deepEqual(changes(before, before), []);
  assert.equal(inside("a <!-- figures:x -->b<!-- /figures --> c", "x"), "b");
});

test("a table cell has a figure or is empty", () => {
  const rows = new Map(everything().map((row) => [row.name, row]));
  for (const text of Object.values(tables((name) => rows.get(name)).text)) assert.doesNotMatch(text, /\| (undefined|false|NaN|null) /);
});

test("published figures name a listed source", () => {
  const listed = read(DOCUMENT).split("## Sources of published figures")[1].split("\n## ")[0];
  const sources = new Set([...listed.matchAll(/^(\d+)\. /gm)].map(([, number]) => number));
  const rows = new Map(everything().map((row) => [row.name, row]));
  const all = Object.values(tables((name) => rows.get(name)).text).join("\n");
  const figures = [...all.matchAll(/published(?: for [^:|]*)?: [^|)]*/g)].map(([text]) => text);
  assert.ok(figures.length >= 5, `${figures.length}`);
  for (const text of figures) assert.ok(sources.has(text.match(/\[(\d+)\]/)?.[1]), text);
});

test("the document states a command for each part", () => {
  const text = read(DOCUMENT);
  // The document lists the commands of a machine with one core, on which no two agents run at a time.
  for (const { id, does } of PARTS) assert.ok(text.includes(`\`${does.replace(", two at a time", "")}\``), id);
});

test("the document has the labels of the generated tables", () => {
  const rows = new Map(everything().map((row) => [row.name, row]));
  const { text } = tables((name) => rows.get(name));
  for (const room of rooms(PARTS)) {
    const label = (line) =>
      line
        .split("|")[1]
        .trim()
        .replace(/, [\d,.]+ bytes$/, "");
    const labels = (block) =>
      block
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .map(label);
    const known = labels(text[room]);
    for (const found of labels(inside(read(DOCUMENT), room))) assert.ok(known.includes(found), `${room}: ${found}`);
  }
});

test("each block of tables states its chip, code and date, or that it predates the rules", () => {
  for (const room of rooms(PARTS)) {
    const [first] = inside(read(DOCUMENT), room).trim().split("\n\n");
    assert.match(
      first.replaceAll("\n", " "),
      /^\*(Measured with an earlier version and before the rules? above|.+, \d+ cores?\b.*; code [0-9a-f]{7}.*; \d{4}-\d\d-\d\d).*\*$/,
      room,
    );
  }
});

test("a block replaces the text between its marks and nothing else", () => {
  const text = "a\n<!-- figures:core -->\nold\n<!-- /figures -->\nb\n<!-- figures:cube -->\nkept\n<!-- /figures -->\n";
  assert.equal(
    between(text, "core", "new"),
    "a\n<!-- figures:core -->\n\nnew\n\n<!-- /figures -->\nb\n<!-- figures:cube -->\nkept\n<!-- /figures -->\n",
  );
  assert.equal(between(text, "words", "new"), undefined);
  for (const room of rooms(PARTS)) assert.ok(between(read(DOCUMENT), room, ""), `${DOCUMENT} has no marks for ${room}`);
});

test("a chip description contains family, model and instruction sets", () => {
  const cpuinfo = "processor : 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 avx512f avx512_bf16\n";
  assert.equal(chipOf("AMD EPYC", 2, cpuinfo, "x64"), "AMD EPYC (family 25, model 17), AVX512-BF16 and AVX-512, 2 cores");
  assert.equal(chipOf("Apple M4", 10, "", "arm64"), "Apple M4, arm64, 10 cores");
});
