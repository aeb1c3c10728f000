// Runs test files with Node's test runner, and failed tests a second time.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { root, sh } from "./sh.mjs";
import { target } from "./native.mjs";
import { record } from "./times.mjs";

/** Time limit of a test. */
const LIMIT_MS = 900_000;
/** Maximum number of failed tests that run again. A busy machine does not explain more failures. */
const FEW = 3;
/** Number of lines of a failed test's error that the report shows. */
const ERROR_LINES = 12;
/** Environment variable under which a test of the page that passes only in its second run counts as failed. */
const STRICT = "HOTHOUSE_STRICT";

let runs = 0;

/**
 * Runs test files, `concurrency` at a time, and records the duration of each test. Returns `{ passed, failed, failing, skips }`; `failing`
 * contains the file, name and error of each failed test.
 */
export async function nodeTests(files, { concurrency = 1, only, env = {} } = {}) {
  const report = join(target, `node-tests-${process.pid}-${++runs}.jsonl`);
  mkdirSync(target, { recursive: true });
  const args = [
    "--test",
    `--test-timeout=${LIMIT_MS}`,
    `--test-concurrency=${concurrency}`,
    ...(only ? [`--test-name-pattern=^${only.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`] : []),
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...[`--test-reporter=${join(root, "scripts/reporter.mjs")}`, `--test-reporter-destination=${report}`],
  ];
  let crash;
  await sh("node", [...args, ...files], { env: { CARGO_TARGET_DIR: target, ...env }, show: true }).catch((trouble) => (crash = trouble));
  const results = existsSync(report) ? readFileSync(report, "utf8").trim().split("\n").filter(Boolean).map(JSON.parse) : [];
  rmSync(report, { force: true });
  const counts = { passed: 0, failed: 0, failing: [], skips: [] };
  for (const { event, name, file, seconds, skip, error } of results) {
    const place = relative(root, file ?? "");
    if (skip !== undefined) counts.skips.push(`${name}: ${skip === true ? "no reason" : skip}`);
    else if (event === "pass") counts.passed += 1;
    else counts.failing.push({ file: place, name, error: (error ?? "").split("\n").slice(0, ERROR_LINES).join("\n") });
    if (skip === undefined) record("test", `${place}: ${name}`, seconds);
  }
  counts.failed = counts.failing.length;
  if (crash && !counts.failed) throw crash;
  return counts;
}

/**
 * Runs test files and then each failed test again, alone: on a busy machine a browser may stall beyond a test's time limit. A second
 * failure is a fault. Without strictness, a test that passes in its second run counts as passed.
 */
export async function patientTests(files, settings) {
  const first = await nodeTests(files, settings);
  if (!first.failed || first.failing.length > FEW) return first;
  const unsure = [];
  for (const { file, name } of first.failing) {
    console.log(`       …  again, alone: ${name}`);
    const again = await nodeTests([join(root, file)], { ...settings, only: name });
    if (again.passed && !again.failed) unsure.push(name);
  }
  const { faults, ...counts } = afterAgain(first, unsure, !!process.env[STRICT]);
  for (const { name, error } of first.failing)
    if (faults.includes(name))
      console.log(
        `       FAILED: '${name}' passed only in its second run. Remove the race, or add it with the reason to EXCUSED ` +
          `(scripts/node-tests.mjs). The first run reported:\n${error}`,
      );
  return counts;
}

/** Names of tests that may pass only in a second run, each with its reason. */
export const EXCUSED = {};

/**
 * Returns the numbers of tests after failed tests have run again. `unsure` lists the tests that passed in the second run. Without `strict`,
 * all of these tests count as passed. With `strict`, which the CI workflow sets, only the tests in `list` count as passed; the other tests
 * in `unsure` are returned as `faults`.
 */
export function afterAgain({ passed, failed, ...rest }, unsure, strict, list = EXCUSED) {
  const faults = unsure.filter((name) => strict && !(name in list));
  const spared = unsure.length - faults.length;
  return { ...rest, passed: passed + spared, failed: failed - spared, unsure, faults };
}
