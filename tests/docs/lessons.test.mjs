// Tests of the lessons in docs/lessons: their structure, and each claim against the runs of its lesson, which the native program trains.
// LESSON_SEEDS=1,2,3 trains each run with these seeds instead of the lesson's own.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hasProgram, read } from "../../scripts/docs.mjs";
import { root } from "../../scripts/sh.mjs";
import { hothouse, part } from "../web/fixture.mjs";

const NAMES = readdirSync(join(root, "docs/lessons"))
  .filter((name) => /^\d.*\.md$/.test(name))
  .map((name) => name.replace(".md", ""));
const TOPICS = 9;
const PREDICTIONS = 3;
/** Limits of the number of words of a lesson. A reader needs some ten minutes for the text and the runs. */
const WORDS = { least: 300, most: 800 };
const seeds = process.env.LESSON_SEEDS?.split(",").map(Number);
const unbuilt = !hasProgram() && "the program is not built; npm test -- --only docs builds it";

const { lessonOf } = await part("lessons/lesson");
const { check, columnsIn, runsIn } = await part("lessons/claims");
const textOf = (name) => read(`docs/lessons/${name}.md`);
const folder = mkdtempSync(join(tmpdir(), "hothouse-lessons-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Trains a run and returns its results. */
async function train({ command, world }, seed) {
  const args = command
    .trim()
    .split(/\s+/)
    .slice(1)
    .map((word) => (word === world?.name ? join(folder, word) : word));
  if (world) writeFileSync(join(folder, world.name), world.text);
  if (seed) args.splice(args.indexOf("--seed") + 1, 1, String(seed));
  const files = ["--save", join(folder, "run.safetensors"), "--monitor", join(folder, "run.ring")];
  const rows = (await hothouse([...args, "--json", "--device", "cpu", ...files])).map((line) => JSON.parse(line));
  const row = ({ progress, ...values }) => ({ ...progress, ...values });
  const [summary] = rows.slice(-1);
  const tests = rows.filter(({ kind }) => kind === "test").map(row);
  const [, counter] = Object.keys(summary.progress);
  return { counter, metrics: rows.filter(({ kind }) => kind === "metrics").map(row), tests: [...tests, row(summary.test)] };
}

test("there is a lesson for each topic, and the list names each by its title", () => {
  assert.equal(NAMES.length, TOPICS);
  const list = read("docs/lessons/README.md");
  for (const name of NAMES) assert.ok(list.includes(`[${lessonOf(name, textOf(name)).title}](${name}.md)`), name);
});

test("each place in the list of predictions has the answer of equally many lessons", () => {
  const answers = NAMES.map((name) => lessonOf(name, textOf(name)).answer).toSorted();
  assert.deepEqual(answers, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
});

for (const name of NAMES) {
  test(`the lesson ${name} is complete`, () => {
    const { title, predictions, runs, claims, parts } = lessonOf(name, textOf(name));
    assert.ok(title && predictions.length === PREDICTIONS && runs.length >= 2 && claims.length >= 3);
    assert.deepEqual(
      runs.map(({ name }) => name),
      [..."ABC"].slice(0, runs.length),
    );
    for (const [part, blocks] of Object.entries(parts)) assert.ok(blocks.length || part === "Run", `${part} is empty`);
    for (const { words } of runs) assert.ok(words);
    // At least one claim checks each run.
    const checked = claims.flatMap(({ check }) => runsIn(check));
    for (const run of runs) assert.ok(checked.includes(run.name), `no claim checks run ${run.name}`);
    const words = textOf(name).split(/\s+/).length;
    assert.ok(words >= WORDS.least && words <= WORDS.most, `${words} words`);
  });

  for (const seed of seeds ?? [undefined])
    test(`the claims of ${name} hold${seed ? ` with seed ${seed}` : ""}`, { skip: unbuilt }, async () => {
      const { runs, claims } = lessonOf(name, textOf(name));
      const results = {};
      for (const run of runs) results[run.name] = await train(run, seed);
      const found = claims.map(({ check: claim }) => ({ claim, ...check(claim, results) }));
      for (const { claim, left, right } of found) console.log(`${claim}: ${left}, ${right}`);
      assert.deepEqual(
        found.filter(({ holds }) => !holds),
        [],
      );
    });
}

const RESULTS = {
  A: { counter: "steps", metrics: [1, 2, 3].map((k) => ({ steps: 10 * k, loss: k, empty: null })), tests: [{ steps: 30, won: 0.5 }] },
};

test("claims are computed from the columns", () => {
  const numbers = (claim) => check(claim, RESULTS);
  assert.deepEqual(numbers("A.loss > 2"), { holds: true, left: 3, right: 2, comparison: ">" });
  assert.equal(numbers("first(A.loss) + max(A.loss) * 2 - min(A.loss) < 6").left, 6);
  assert.equal(numbers("first(A.loss) + max(A.loss) * 2 - min(A.loss) < 6").holds, false);
  assert.equal(numbers("(1 + 2) * -A.test.won >= -1.5").left, -1.5);
  assert.equal(numbers("A.loss@11 <= 2").left, 2);
  assert.equal(numbers("exp(A.loss - 3) <= 1e0").left, 1);
  assert.deepEqual(
    [runsIn("A.loss > B.test.won"), columnsIn("A.loss > B.test.won")],
    [
      ["A", "B"],
      ["loss", "test.won"],
    ],
  );
});

test("a claim that cannot be checked is an error with its reason", () => {
  const reasons = [
    ["A.loss", /expected <, <=, > or >=/],
    ["A.loss > 1 1", /expected the end, found '1'/],
    ["B.loss > 1", /expected a column of A, found 'B.loss'/],
    ["A.none > 1", /A.none has no value/],
    ["A.empty > 1", /A.empty has no value/],
    ["A.loss@99 > 1", /A.loss has no value at 99/],
    ["max(3) > 1", /expected a column/],
    ["max A.loss > 1", /expected \(/],
    ["exp(A.loss > 1", /expected \)/],
    ["A.loss > $", /cannot be read at/],
  ];
  for (const [claim, reason] of reasons) assert.throws(() => check(claim, RESULTS), reason);
});

test("a lesson that is not complete is an error with its reason", () => {
  const [name] = NAMES;
  const text = textOf(name);
  const reasons = [
    [text.replace("# What", "What"), /expected a title/],
    [text.replace("## Why", "## Because"), /expected the headings .*, found .*Because/],
    [text.replaceAll("?", "."), /a sentence with a question mark/],
    [text.replace(/Answer: \d/, "Answer: 9"), /the number of a prediction/],
    [text.replace(/^\d\. /gm, "- "), /numbered predictions/],
    [text.replaceAll("```sh", "```text"), /expected a fence tagged sh A/],
    [text.replaceAll("| ", "* "), /expected a table of claims/],
    [text.replace("--steps 4e5", ""), /expected --steps/],
    [text.replace("--steps 4e5", "--seconds 4 --steps 4e5"), /does not know '--seconds 4'/],
    [text.replace("hothouse train", "rm -rf"), /expected hothouse train/],
    [`${text}\n\`\`\`\n`, /A fence has no end/],
  ];
  for (const [faulty, reason] of reasons) assert.throws(() => lessonOf(name, faulty), reason);
});
