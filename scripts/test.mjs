// `npm test`: installs missing tools, then runs the tests. `--all` runs everything, `--changed` only the tests that a change can affect.
import { affected, changedFiles } from "./changed.mjs";
import { parts } from "./parts.mjs";
import { rust } from "./setup.mjs";
import { main, options, step, Trouble } from "./sh.mjs";
import { ALL, moved } from "./tiers.mjs";
import { listed, recorded, slowest, store } from "./times.mjs";

/** Number of tests that the end of a run lists. */
const SLOWEST = 20;

/** Returns the names of the parts to run, and what a change affects if only that runs. */
async function chosenParts(given) {
  if (given.only) {
    const chosen = given.only.split(",");
    for (const name of chosen)
      if (!(name in parts)) throw new Trouble(`there is no part '${name}'`, `choose from ${Object.keys(parts).join(", ")}`);
    return { chosen };
  }
  const usual = Object.keys(parts).filter((name) => !parts[name].onDemand && (ALL || !parts[name].all));
  if (!given.changed) return { chosen: usual };
  const of = await affected(await changedFiles(given.since));
  return { chosen: usual.filter((name) => of.parts.includes(name)), of };
}

/** Prints the tests with the durations of the latest run of each part, and the tests that only `--all` runs. */
function list() {
  for (const line of listed()) console.log(line);
  console.log("\nOnly with --all, with the test of npm test that notices the same fault in most cases:");
  for (const { file, name, cheaper } of moved()) console.log(`  ${file}: ${name}\n    ${cheaper}`);
}

/** Runs a part, prints and stores its duration, and returns its counts. */
async function ran(name, of) {
  const began = performance.now();
  let result = { passed: 1, failed: 0 };
  const work = async () => {
    const counts = await parts[name].run(of);
    if (typeof counts === "object") result = counts;
    const leftOut =
      (result.skips?.length ? `, ${result.skips.length} skipped` : "") +
      (result.unsure?.length ? `, ${result.unsure.length} of them only when run again: ${result.unsure.join("; ")}` : "");
    return result.skipped ? `SKIPPED: ${result.skipped}` : `${result.passed} passed, ${result.failed} failed${leftOut}`;
  };
  let entries = [];
  try {
    ({ entries } = await recorded(() => step(name, work)));
  } catch (error) {
    result = { passed: 0, failed: 1 };
    console.log(error instanceof Trouble ? `${error.message}\nNext: ${error.next}` : error);
  }
  const seconds = (performance.now() - began) / 1000;
  if (!of) store(name, ALL ? "all" : "usual", seconds, entries);
  return { name, seconds, entries, ...result };
}

/** Runs the parts in their order, and some beside an earlier part, because that part leaves cores idle. Returns their results. */
async function allRan(chosen, of) {
  const rows = [];
  const isBeside = (name, other) => parts[name].beside === other && chosen.includes(other);
  for (const name of chosen.filter((name) => !isBeside(name, parts[name].beside))) {
    const together = [name, ...chosen.filter((other) => isBeside(other, name))];
    console.log(`\n${rows.length + 1} of ${chosen.length}: ${together.join(" and ")}`);
    rows.push(...(await Promise.all(together.map((one) => ran(one, of)))));
  }
  return rows;
}

/** Prints the counts and durations of all parts and the slowest tests; returns the names of the failed parts. */
function summarised(rows, began) {
  const time = (seconds) => `${seconds.toFixed(1).padStart(6)} s`;
  console.log("");
  for (const { seconds, name, passed, failed, skipped, unsure } of rows)
    console.log(
      `${time(seconds)}  ${name.padEnd(8)} ` +
        `${failed ? "FAILED" : skipped ? `SKIPPED: ${skipped}` : `${passed} passed`}` +
        `${unsure?.length ? `, ${unsure.length} of them only when run again` : ""}`,
    );
  console.log(`${time((performance.now() - began) / 1000)}  in all\n`);
  console.log(`The slowest tests (npm test -- --list prints all):`);
  for (const line of slowest(rows, SLOWEST)) console.log(line);
  console.log("");
  for (const { name, skips } of rows) if (skips?.length) console.log(`Skipped in ${name}:\n${skips.map((skip) => `  ${skip}\n`).join("")}`);
  const count = (what) => rows.reduce((sum, row) => sum + what(row), 0);
  const skipped = count((row) => (row.skipped ? 1 : (row.skips?.length ?? 0)));
  console.log(`${count(({ passed }) => passed)} passed, ${count(({ failed }) => failed)} failed${skipped ? `, ${skipped} skipped` : ""}`);
  return rows.filter(({ failed }) => failed).map(({ name }) => name);
}

await main(import.meta.url, async () => {
  const given = options({
    only: `<parts>: some of ${Object.keys(parts).join(",")}`,
    all: "everything: all engines, modules, seeds and lessons",
    changed: "only the tests that a change can affect: uncommitted changes, and commits since the upstream branch",
    since: "<commit>: with --changed, the commit to compare with",
    list: "print the tests with the durations of their latest run",
  });
  if (given.list) return list();
  const began = performance.now();
  const { chosen, of } = await chosenParts(given);
  console.log(`Parts (all run, even after a failure):`);
  for (const name of chosen) console.log(`  ${name.padEnd(8)} ${parts[name].does}`);
  await rust();
  // A part reports the failure of its preparation.
  for (const name of chosen) parts[name].prepare?.().catch(() => {});
  const failed = summarised(await allRan(chosen, of), began);
  if (!failed.length) return;
  console.log(`Next: see the failures above; npm test -- --only ${failed.join(",")} runs ${failed.length === 1 ? "it" : "them"} again`);
  process.exit(1);
});
