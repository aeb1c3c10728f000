// `npm run mutants`: mutation testing of `worlds`, `learn` and `run`. scripts/mutants finds possible faults (mutants). A seeded sample of
// them is compiled into a copy of the sources. Each mutant is behind a switch (`MUTANT=17`), so a single compilation is enough for all.
// Each test runs once to record the mutants that it reaches. Then, for each mutant, the tests that reach it run until one fails, fast ones
// first. A failure counts only if the same tests pass without a mutant. The tests are those of `npm test`, or with `--all` those of
// `npm test -- --all`. target/mutants stores the results, and the next run on the same
// sources resumes from them. scripts/mutants/survivors.json contains the reason for each mutant that no test catches.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { target, testFiles } from "./native.mjs";
import { rust } from "./setup.mjs";
import { ALL } from "./tiers.mjs";
import { filesUnder, fingerprint, main, options, root, sh, sideBySide, step, Trouble } from "./sh.mjs";

let crates = ["worlds", "learn", "run"];
const home = join(target, "mutants");
const tree = join(home, "tree");
/** Factor on the requested number of mutants. The surplus replaces mutants that do not compile. */
const SPARE = 1.15;
/** Time limit of a test that runs without a mutant. Slower tests are not used. */
const TEST_LIMIT_S = 120;
/**
 * Limit on the total duration of the tests for one mutant. The total uses the durations that were measured without a mutant. The first
 * batch of tests always runs.
 */
const MUTANT_LIMIT_S = 90;
const RECORD = "record";
/** Value of `MUTANT` that switches all mutants off, because no mutant has this id. */
const NONE = String(2 ** 31);
/** Share of the mutants that tests must catch. */
const SHARE = 0.85;

/**
 * Returns the source that is appended to each crate. Its function `on(id)` returns true if mutant `id` is on. With `MUTANT=record` no
 * mutant is on, and the ids of the reached mutants are written to the file that the variable `MUTANTS_REACHED` names.
 */
const SWITCH = (count) => `
#[doc(hidden)]
pub mod mutants {
    #![allow(clippy::all)]
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static CHOSEN: OnceLock<u32> = OnceLock::new();
    static REACHED: [AtomicBool; ${count}] = [const { AtomicBool::new(false) }; ${count}];
    pub fn on(id: u32) -> bool {
        let chosen = *CHOSEN.get_or_init(|| match std::env::var("MUTANT").as_deref() {
            Ok("${RECORD}") => u32::MAX,
            Ok(id) => id.parse().unwrap(),
            Err(_) => ${NONE},
        });
        if chosen == u32::MAX && !REACHED[id as usize].swap(true, Ordering::Relaxed) {
            use std::io::Write;
            let path = std::env::var("MUTANTS_REACHED").unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            file.write_all(format!("{id}\\n").as_bytes()).unwrap();
        }
        chosen == id
    }
}
`;

/** Returns all possible mutants. Their order depends only on the seed and on each mutant's text. */
async function candidates(seed) {
  const manifest = join(root, "scripts/mutants/Cargo.toml");
  await sh("cargo", ["build", "--release", "--manifest-path", manifest, "--target-dir", join(home, "finder")]);
  const files = crates.flatMap((name) => filesUnder(join(root, "crates", name, "src"))).filter((file) => file.endsWith(".rs"));
  const out = await sh(
    join(home, "finder/release/mutants"),
    files.map((file) => relative(root, file)),
  );
  const met = new Map();
  const sources = new Map(files.map((file) => [relative(root, file), readFileSync(file)]));
  const linesOf = new Map([...sources].map(([file, source]) => [file, source.toString().split("\n")]));
  const all = out
    .trim()
    .split("\n")
    .map((line) => {
      const one = JSON.parse(line);
      one.text = sources.get(one.file).subarray(one.start, one.end).toString();
      one.within = linesOf.get(one.file)[one.line - 1].trim();
      const same = `${one.file} ${one.what} ${one.text}`;
      met.set(same, (met.get(same) ?? 0) + 1);
      return { ...one, order: fingerprint([String(seed), same, String(met.get(same))]) };
    });
  return all.sort((a, b) => (a.order < b.order ? -1 : 1));
}

/**
 * Returns the mutants of the option `--named`: known faults that no test detected when they were found. Each of these faults now has a
 * test. scripts/mutants/named.json contains the faults as replaced expressions.
 */
function named() {
  return JSON.parse(readFileSync(join(root, "scripts/mutants/named.json"), "utf8")).map(({ what, file, within, from, to }) => {
    const source = readFileSync(join(root, file), "utf8");
    const [before, ...after] = source.split(within ?? from);
    if (after.length !== 1)
      throw new Trouble(
        `${file} has '${within ?? from}' ${after.length} times`,
        "name an expression that is there once in scripts/mutants/named.json",
      );
    const at = before.length + (within ?? from).indexOf(from);
    const start = Buffer.byteLength(source.slice(0, at));
    return {
      file,
      what,
      to,
      text: from,
      line: source.slice(0, at).split("\n").length,
      within: from,
      start,
      end: start + Buffer.byteLength(from),
      order: what,
    };
  });
}

/** Returns the first `count` mutants that do not overlap. */
function drawn(all, count) {
  const taken = [];
  for (const one of all) {
    if (taken.length === count) break;
    if (!taken.some((other) => other.file === one.file && other.start < one.end && one.start < other.end)) taken.push(one);
  }
  return taken;
}

/** Writes a file only if it differs, so that cargo compiles changed files only. */
function write(path, content) {
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Writes a copy of the sources with `mutants`. Sets `from` and `until` of each mutant to its byte range in the copy. */
function plant(mutants) {
  for (const file of [
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "ARCHITECTURE.md",
    "scripts",
    "www",
    "crates",
    "examples",
    "tests",
  ].flatMap((part) => filesUnder(join(root, part)))) {
    const path = relative(root, file);
    if (/node_modules|__pycache__/.test(path)) continue;
    const content = readFileSync(file);
    const pieces = [];
    let at = 0,
      length = 0;
    const put = (piece) => {
      pieces.push(piece);
      length += piece.length;
    };
    for (const one of mutants.filter((one) => one.file === path).sort((a, b) => a.start - b.start)) {
      put(content.subarray(at, one.start));
      one.from = length;
      put(Buffer.from(`(if crate::mutants::on(${one.id}) { ${one.to} } else { ${one.text}${one.to ? "" : ";"} })`));
      one.until = length;
      at = one.end;
    }
    put(content.subarray(at));
    if (crates.some((name) => path === `crates/${name}/src/lib.rs`)) put(Buffer.from(SWITCH(mutants.length)));
    write(join(tree, path), Buffer.concat(pieces));
  }
  // The copy allows unused items, because a mutant can make an item unused.
  const manifest = join(tree, "Cargo.toml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('unused = "deny"', 'unused = "allow"'));
}

/**
 * Compiles the tests with the first `count` mutants that compile; returns these mutants and the test files. Stores which mutants do not
 * compile, so that a later run on the same sources compiles nothing again.
 */
async function compiled(mutants, count) {
  const at = join(home, "invalid.jsonl");
  const sources = fingerprint(
    [],
    crates.map((name) => join(root, "crates", name, "src")),
  );
  const invalid = new Set(lines(at).flatMap((line) => (line.sources === sources ? [line.of] : [])));
  mutants = mutants.filter((one) => !invalid.has(nameOf(one)));
  for (;;) {
    mutants.forEach((one, id) => (one.id = id));
    plant(mutants);
    const args = ["test", "--release", "--no-run", "--message-format=json", ...crates.flatMap((name) => ["-p", name])];
    const { code, out, err } = await heard("cargo", args, { cwd: tree, env: { CARGO_TARGET_DIR: join(home, "build") } });
    const messages = out
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    const errors = messages.filter(
      ({ reason, message }) => reason === "compiler-message" && message.level === "error" && message.spans.length,
    );
    const wrong = new Set();
    for (const { message } of errors)
      for (const { file_name, byte_start } of message.spans)
        for (const one of mutants) if (file_name.endsWith(one.file) && one.from <= byte_start && byte_start < one.until) wrong.add(one);
    if (wrong.size) {
      for (const one of wrong) appendFileSync(at, `${JSON.stringify({ sources, of: nameOf(one) })}\n`);
      mutants = mutants.filter((one) => !wrong.has(one));
      continue;
    }
    if (code !== 0)
      throw new Trouble(`the mutated sources do not compile:\n${errors[0]?.message.rendered ?? err}`, "the copy is in target/mutants/tree");
    return { mutants: mutants.slice(0, count), files: testFiles(out) };
  }
}

/** Runs a command and returns `{ out, err, code, signal }`. The command is killed after `limitMs`. */
function heard(command, args, { cwd = root, env = {}, limitMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      timeout: limitMs,
      killSignal: "SIGKILL",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { out: "", err: "" };
    child.stdout.on("data", (chunk) => (said.out += chunk));
    child.stderr.on("data", (chunk) => (said.err += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ ...said, code, signal }));
  });
}

/** Memory limit of a test, so that a runaway mutant does not exhaust the machine. */
const MOST_KB = 8 << 20;
const bounded = (file, args, more) =>
  heard("bash", ["-c", `ulimit -v ${MOST_KB}; exec "$@"`, "bash", file.executable, ...args, ...TIER_ARGS], { cwd: file.folder, ...more });
/** Arguments of Rust's test runner for the chosen tier. */
const TIER_ARGS = ALL ? ["--include-ignored"] : [];

/** Runs `work` for each item, as many at a time as there are CPU cores. */
const each = (items, work) => sideBySide(availableParallelism(), items, work);

/**
 * Returns all passing tests as `{ file, name, seconds, reaches }`. `reaches` lists the ids of the mutants that the test reaches. A file
 * whose name contains `key` stores the results, so that a later run with the same mutants and sources reuses them.
 */
async function tests(files, key) {
  const at = join(home, `reach-${key}.jsonl`);
  const known = new Map(lines(at).map((one) => [one.title, one]));
  const all = [];
  for (const file of files) {
    const listed = async (...args) => {
      const { out } = await heard(file.executable, ["--list", "--format", "terse", ...args], { cwd: file.folder });
      return [...out.matchAll(/^(.+): test$/gm)].map(([, name]) => name);
    };
    const ignored = ALL ? [] : await listed("--ignored");
    for (const name of await listed()) if (!ignored.includes(name)) all.push({ file, name, title: `${file.title}: ${name}` });
  }
  await each(all, async (test) => {
    let found = known.get(test.title);
    if (!found) {
      const reached = join(home, `reached-${all.indexOf(test)}`);
      rmSync(reached, { force: true });
      const began = performance.now();
      const run = (env) => bounded(test.file, ["--exact", test.name], { env, limitMs: TEST_LIMIT_S * 1000 });
      let { code } = await run({ MUTANT: RECORD, MUTANTS_REACHED: reached });
      const seconds = (performance.now() - began) / 1000;
      // A test that counts allocations may fail because of the recording, so a failed test runs again without it.
      if (code !== 0 && seconds < TEST_LIMIT_S) ({ code } = await run({ MUTANT: NONE }));
      const reaches = existsSync(reached) ? readFileSync(reached, "utf8").trim().split("\n").map(Number) : [];
      rmSync(reached, { force: true });
      found = { title: test.title, seconds, passes: code === 0, reaches };
      appendFileSync(at, `${JSON.stringify(found)}\n`);
    }
    Object.assign(test, found);
  });
  return all.filter(({ passes }) => passes);
}

const lines = (path) =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

/**
 * Runs the tests that reach a mutant, and returns the outcome. Tests that take less than a second run first, in one batch per file. Slower
 * tests follow, one at a time.
 */
async function tried(one, all) {
  const asked = all.filter(({ reaches }) => reaches.includes(one.id)).sort((a, b) => a.seconds - b.seconds);
  if (!asked.length) return { outcome: "not reached" };
  const quick = asked.filter(({ seconds }) => seconds < 1);
  const together = [...new Set(quick.map(({ file }) => file))].map((file) => quick.filter((test) => test.file === file));
  const batches = [...together, ...asked.filter(({ seconds }) => seconds >= 1).map((test) => [test])];
  let spent = 0;
  for (const batch of batches) {
    const usual = batch.reduce((sum, { seconds }) => sum + seconds, 0);
    if (spent && spent + usual > MUTANT_LIMIT_S) return { outcome: "survived", asked: "not all tests" };
    spent += usual;
    const { file } = batch[0];
    const run = (MUTANT) =>
      bounded(file, ["--exact", ...batch.map(({ name }) => name)], { env: { MUTANT }, limitMs: Math.ceil(20_000 + 5000 * usual) });
    const { code, signal, out } = await run(String(one.id));
    if (code === 0 || (await run(NONE)).code !== 0) continue;
    return {
      outcome: "caught",
      by: `${file.title}: ${out.match(/^test (\S+) \.\.\. FAILED/m)?.[1] ?? (signal === "SIGKILL" ? "too long" : "died")}`,
    };
  }
  return { outcome: "survived" };
}

await main(import.meta.url, async () => {
  const given = options({
    count: "<mutants> [300]",
    seed: "<number> of the sample [1]",
    minutes: "<minutes> after which no further mutant is started; the next run continues",
    crates: "<names>: some of these, with their own tests alone [worlds,learn,run]",
    named: "the faults of scripts/mutants/named.json in place of a sample",
    list: "prints what the sample is and ends",
    all: "the tests of npm test -- --all in place of those of npm test",
  });
  const [count, seed] = [Number(given.count ?? 300), Number(given.seed ?? 1)];
  const began = performance.now();
  if (given.crates) crates = given.crates.split(",");
  await rust();
  mkdirSync(home, { recursive: true });
  let mutants = [],
    files = [],
    all = [];
  await step("where a fault could be", async () => {
    const found = given.named ? named() : await candidates(seed);
    mutants = given.named ? found : drawn(found, Math.ceil(count * SPARE));
    return `${found.length} places`;
  });
  if (given.list) return mutants.slice(0, count).forEach((one) => console.log(title(one)));
  await step("mutants and tests compiled", async () => {
    ({ mutants, files } = await compiled(mutants, count));
    return `${mutants.length} mutants`;
  });
  // Key of the stored results: a hash of the mutants and the sources.
  const key = fingerprint(
    [...mutants.map(title), String(ALL)],
    ["crates", "tests"].map((part) => join(root, part)),
  );
  await step("tests, and what each reaches", async () => {
    all = await tests(files, key);
    return `${all.length} that pass`;
  });
  const at = join(home, "results.jsonl");
  const known = new Map(
    lines(at)
      .filter((result) => result.key === key)
      .map((result) => [result.of, result]),
  );
  const results = new Map();
  let late = false;
  await each(mutants, async (one) => {
    let result = known.get(nameOf(one));
    if (!result) {
      if (given.minutes && performance.now() - began > 60_000 * Number(given.minutes)) return void (late = true);
      const from = performance.now();
      result = { of: nameOf(one), key, ...(await tried(one, all)) };
      appendFileSync(at, `${JSON.stringify(result)}\n`);
      console.log(
        `${((performance.now() - from) / 1000).toFixed(1).padStart(6)} s  ${result.outcome}: ` +
          `${title(one)}${result.by ? ` (${result.by})` : ""}`,
      );
    }
    results.set(one, result);
  });
  const left = [...results].filter(([, { outcome }]) => outcome !== "caught");
  const reasons = new Map(survivors().map(({ reason, ...one }) => [identity(one), reason]));
  console.log(`\nNot caught:`);
  for (const [one, { outcome, asked }] of left)
    console.log(`  ${outcome}${asked ? ` (${asked} ran)` : ""}: ${title(one)}\n    ${reasons.get(identity(one)) ?? "no reason listed"}`);
  const caught = results.size - left.length;
  const share = `${caught} of ${results.size} caught, ${((100 * caught) / Math.max(results.size, 1)).toFixed(1)}%`;
  console.log(`\n${share}${late ? `; ${mutants.length - results.size} not run yet: run the same command again` : ""}`);
  if (!late && caught < (given.named ? 1 : SHARE) * results.size)
    throw new Trouble(`${share}: expected ${given.named ? "all" : `${100 * SHARE}% or more`}`, "add a test for a fault listed above");
});

/** Returns the entries of survivors.json: the mutants that no test catches, each with its reason. */
function survivors() {
  return JSON.parse(readFileSync(join(root, "scripts/mutants/survivors.json"), "utf8"));
}

/**
 * Returns the identity of a mutant: its file, its change, the replaced text and the source line. The identity does not depend on the line
 * number.
 */
function identity({ file, what, text, within }) {
  return [file, what, text.replace(/\s+/g, " "), within].join(" ");
}

/** Returns a name of a mutant that is unique in its sample. */
function nameOf(one) {
  return `${title(one)} ${one.order}`;
}

function title(one) {
  const text = one.text.replace(/\s+/g, " ");
  return `${one.file}:${one.line}: ${one.what}: ${text.length > 90 ? `${text.slice(0, 89)}…` : text}`;
}
