// `npm run mutants`: how many small faults in `worlds`, `learn` and `run` the tests catch. scripts/mutants finds where a fault could be;
// a seeded sample of these is compiled into a copy of the sources, all at once, each behind a switch (`MUTANT=17`), so that a mutant
// costs no compilation. Each test runs once to see which mutants it reaches; then each mutant meets those that reach it, the quick ones
// first, until one fails. A failure counts only if the same tests pass without a fault. Results are kept in target/mutants, and the next
// run
// of the same sources goes on from there. scripts/mutants/survivors.json gives the reason for each mutant that no test catches.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { target, testFiles } from "./native.mjs";
import { rust } from "./setup.mjs";
import { filesUnder, fingerprint, main, options, root, sh, sideBySide, step, Trouble } from "./sh.mjs";

let crates = ["worlds", "learn", "run"];
const home = join(target, "mutants");
const tree = join(home, "tree");
/** Some do not compile. */
const SPARE = 1.15;
/** A test that takes longer is not asked. */
const TEST_LIMIT_S = 120;
/** What the tests that are asked about one mutant take in all, when nothing is wrong. */
const MUTANT_LIMIT_S = 90;
const RECORD = "record";
/** An id that no mutant has: the switch is compiled in and read, and nothing is wrong. */
const NONE = String(2 ** 31);
/** The share that the tests must catch. */
const SHARE = 0.85;

/** Compiled into each crate: whether a mutant is on. Where `MUTANT` is `record`, those that are reached are written down. */
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

/** All mutants that there could be, in an order that depends on the seed and on each one's own text alone. */
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

/** Faults that once went unseen: each has a test, and is written in scripts/mutants/named.json as an expression in place of another. */
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

/** The first of them that do not lie in each other. */
function drawn(all, count) {
  const taken = [];
  for (const one of all) {
    if (taken.length === count) break;
    if (!taken.some((other) => other.file === one.file && other.start < one.end && one.start < other.end)) taken.push(one);
  }
  return taken;
}

/** Writes a file where it differs, so that cargo compiles what has changed alone. */
function write(path, content) {
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The copy, with these mutants in it; each is given the bytes that it takes there. */
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
  // What is unused where a mutant stands is no fault of the sources.
  const manifest = join(tree, "Cargo.toml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('unused = "deny"', 'unused = "allow"'));
}

/** Compiles the tests with as many of the mutants as compile, `count` at most; gives those and the files of tests. */
async function compiled(mutants, count) {
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
      mutants = mutants.filter((one) => !wrong.has(one));
      continue;
    }
    if (code !== 0)
      throw new Trouble(`the mutated sources do not compile:\n${errors[0]?.message.rendered ?? err}`, "the copy is in target/mutants/tree");
    return { mutants: mutants.slice(0, count), files: testFiles(out) };
  }
}

/** A command's outcome, whatever it is; one that takes too long is ended. */
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

/** One that wants ever more memory must not take the machine with it. */
const MOST_KB = 8 << 20;
const bounded = (file, args, more) =>
  heard("bash", ["-c", `ulimit -v ${MOST_KB}; exec "$@"`, "bash", file.executable, ...args], { cwd: file.folder, ...more });

/** Does `work` for each, as many at a time as there are processors. */
const each = (items, work) => sideBySide(availableParallelism(), items, work);

/** Every test that passes, as `{ file, name, seconds, reaches }`; kept by what the mutants and the tests are. */
async function tests(files, key) {
  const at = join(home, `reach-${key}.jsonl`);
  const known = new Map(lines(at).map((one) => [one.title, one]));
  const all = [];
  for (const file of files) {
    const { out } = await heard(file.executable, ["--list", "--format", "terse"], { cwd: file.folder });
    for (const [, name] of out.matchAll(/^(.+): test$/gm)) all.push({ file, name, title: `${file.title}: ${name}` });
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
      // One that counts allocations may fail for what is written down alone.
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

/** Asks the tests that reach a mutant, the quick ones together and first; gives how it ended. */
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
    minutes: "<minutes> after which no other mutant is begun; the next run goes on",
    crates: "<names>: some of these, with their own tests alone [worlds,learn,run]",
    named: "the faults of scripts/mutants/named.json in place of a sample",
    list: "prints what the sample is and ends",
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
  // What depends on nothing but the sources.
  const key = fingerprint(
    mutants.map(title),
    ["crates", "tests"].map((part) => join(root, part)),
  );
  await step("tests, and what each reaches", async () => {
    all = await tests(files, key);
    return `${all.length} that pass`;
  });
  const at = join(home, "results.jsonl");
  const of = (one) => `${title(one)} ${one.order}`;
  const known = new Map(
    lines(at)
      .filter((result) => result.key === key)
      .map((result) => [result.of, result]),
  );
  const results = new Map();
  let late = false;
  await each(mutants, async (one) => {
    let result = known.get(of(one));
    if (!result) {
      if (given.minutes && performance.now() - began > 60_000 * Number(given.minutes)) return void (late = true);
      const from = performance.now();
      result = { of: of(one), key, ...(await tried(one, all)) };
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
    console.log(
      `  ${outcome}${asked ? ` (${asked} asked)` : ""}: ${title(one)}\n    ${reasons.get(identity(one)) ?? "no reason is listed"}`,
    );
  const caught = results.size - left.length;
  const share = `${caught} of ${results.size} caught, ${((100 * caught) / results.size).toFixed(1)}%`;
  console.log(`\n${share}${late ? `; ${mutants.length - results.size} not tried yet: run the same command again` : ""}`);
  if (!late && caught < (given.named ? 1 : SHARE) * results.size)
    throw new Trouble(
      `${share}: expected ${given.named ? "all" : `${100 * SHARE}% or more`}`,
      "add a test for a fault that is listed above",
    );
});

/** Mutants that no test catches, each with the reason. */
function survivors() {
  return JSON.parse(readFileSync(join(root, "scripts/mutants/survivors.json"), "utf8"));
}

/** Names a mutant by its file, its change and the text of its line, so that the name stays when the line moves. */
function identity({ file, what, text, within }) {
  return [file, what, text.replace(/\s+/g, " "), within].join(" ");
}

function title(one) {
  const text = one.text.replace(/\s+/g, " ");
  return `${one.file}:${one.line}: ${one.what}: ${text.length > 90 ? `${text.slice(0, 89)}…` : text}`;
}
