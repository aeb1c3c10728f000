// `npm run figures`: measures the figures of docs/benchmarks.md on this machine by one rule (`scripts/figure.mjs`) and prints the tables.
// `--write` writes the tables into the document, so no number is copied by hand. target/figures.json stores each measured part with its
// chip and code, so an interrupted pass resumes.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus } from "node:os";
import { join } from "node:path";
import { between, changes, inside, tables } from "./figures/tables.mjs";
import { OPTIONAL, PARTS } from "./figures/parts.mjs";
import { program, target } from "./native.mjs";
import { assemble, environment, python } from "./python.mjs";
import { chromium, rust } from "./setup.mjs";
import { fingerprint, main, options, root, sh, step, Trouble } from "./sh.mjs";

export const DOCUMENT = "docs/benchmarks.md";
/** The file that stores measured parts. */
const STORE = join(target, "figures.json");
/** Paths of the files on which a figure depends, without tests and documents. */
const CODE = [
  ".cargo/config.toml",
  "Cargo.lock",
  "Cargo.toml",
  "crates/*/Cargo.toml",
  "crates/*/src/*",
  "crates/*/examples/*",
  "crates/python/python/*",
  "scripts/bench.mjs",
  "scripts/figure.mjs",
  "scripts/rooms/*",
  "www",
];
/** The machine counts as busy if other programs use more than this share of the CPU time. */
const BUSY = 0.05;
const FLAGS = {
  only: "<ROOM>  measure one room, or one part such as cube/walk",
  quick: "few seeds and short training, to check that every part runs; these figures are never written",
  long: "include parts that take hours, such as an hour of backgammon",
  write: "write the tables between their marks in docs/benchmarks.md, and print the lines that change",
};

/** Returns the rooms of the parts, each once, in the order of the document. */
export const rooms = (parts) => [...new Set(parts.map(({ id }) => id.split("/")[0]))];

const hasPage = (room) => PARTS.some(({ id }) => id === `${room}/page`);

/** Returns the parts that the flags select. */
export function chosen(parts, { only, long }) {
  const found = parts.filter(({ id }) => !only || id === only || id.startsWith(`${only}/`));
  if (!found.length)
    throw new Trouble(
      `unknown room or part '${only}'`,
      `use one of ${rooms(parts).join(", ")}, or one of ${parts.map(({ id }) => id).join(", ")}`,
    );
  return found.filter((part) => long || !part.long || part.id === only);
}

/**
 * Returns the stored result of a part if the part's command, the chip, the code and the flag `quick` are unchanged; otherwise undefined.
 */
export const reusable = (stored, { id, does }, { chip, code, quick }) =>
  stored.find((part) => part.id === id && part.does === does && part.chip === chip && part.code === code && part.quick === quick);

/** Describes a chip: `AMD EPYC (family 25, model 1), AVX2, 2 cores`. */
export function chipOf(model, count, cpuinfo, kind) {
  const [family, number] = ["cpu family", "model"].map((key) => cpuinfo.match(new RegExp(`^${key}\\s*: (.*)$`, "m"))?.[1]);
  const flags = new Set(cpuinfo.match(/^flags\s*: (.*)$/m)?.[1].split(" "));
  const sets = [
    ["amx_bf16", "AMX"],
    ["avx512_bf16", "AVX512-BF16"],
    ["avx512f", "AVX-512"],
    ["avx2", "AVX2"],
  ]
    .filter(([flag]) => flags.has(flag))
    .map(([, name]) => name);
  const words = [family ? `${model} (family ${family}, model ${number})` : model];
  words.push(
    sets.filter((name) => name !== "AVX2" || !sets.includes("AVX-512")).join(" and ") || kind,
    `${count} ${count === 1 ? "core" : "cores"}`,
  );
  return words.join(", ");
}

function thisChip() {
  let cpuinfo = "";
  try {
    cpuinfo = readFileSync("/proc/cpuinfo", "utf8");
  } catch {} // the file exists on Linux only
  const all = cpus();
  return chipOf(all[0].model.trim(), all.length, cpuinfo, arch());
}

/** Returns the hash of the latest commit that changed the code. If there are uncommitted changes, a hash of these changes follows. */
async function thisCode() {
  const commit = (await sh("git", ["log", "-1", "--format=%h", "--", ...CODE])).trim();
  const changes = await sh("git", ["diff", "HEAD", "--", ...CODE]);
  const added = (await sh("git", ["ls-files", "--others", "--exclude-standard", "--", ...CODE])).split("\n").filter(Boolean);
  return changes || added.length
    ? `${commit}+${fingerprint(
        [changes],
        added.map((file) => join(root, file)),
      ).slice(0, 7)}`
    : commit;
}

/** Returns true if other programs keep the CPU busy. The function measures the CPU time for two seconds in which this script is idle. */
async function isBusy() {
  const spent = () =>
    cpus().reduce(
      ([busy, all], { times }) => {
        const sum = Object.values(times).reduce((a, b) => a + b, 0);
        return [busy + sum - times.idle, all + sum];
      },
      [0, 0],
    );
  const before = spent();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const after = spent();
  return (after[0] - before[0]) / (after[1] - before[1]) > BUSY;
}

/**
 * Runs a command without input and returns its output. `next` is the advice in the error of a failed command. `anyway` accepts any exit
 * status.
 */
const output = (command, args, { anyway = false, env = {}, next } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args.map(String), { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const chunks = [];
    let errors = "";
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", (error) => reject(new Trouble(`${command}: ${error.message}`, next ?? "npm start sets up what is missing")));
    child.on("close", (code) => {
      if (code === 0 || anyway) return resolve(Buffer.concat(chunks));
      const line = [command, ...args].join(" ");
      reject(new Trouble(`${line} failed with status ${code}\n${errors.trim()}`, next ?? "run this command by itself"));
    });
  });

/** Runs a command and returns the parsed JSON lines of its output. */
async function lines(...call) {
  const text = (await output(...call)).toString();
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

/**
 * Returns the Python of the test environment (`python`) and its environment variables (`env`). With these variables, Python imports a fresh
 * copy of the package with the latest library.
 */
async function pythonPackage() {
  const missing = await environment();
  if (missing) {
    const [what, ...next] = missing.split("; ");
    throw new Trouble(what, next.join("; "));
  }
  const stage = join(target, "figures/python");
  assemble(stage);
  return { python, env: { PYTHONPATH: stage, XDG_CACHE_HOME: join(stage, "cache") } };
}

/** Returns the functions that parts call to measure. */
async function measuringTools({ quick }) {
  await rust();
  const hothouse = await program("cli/rivals");
  const files = join(target, "figures");
  mkdirSync(files, { recursive: true });
  const succeeds = (command, args) =>
    output(command, args).then(
      () => true,
      () => false,
    );
  return {
    quick,
    hothouse: (...args) => lines(hothouse, [...args, "--json"]),
    hothouseAnyway: (...args) => lines(hothouse, [...args, "--json"], { anyway: true }),
    page: (room) => lines("node", [join(root, "scripts/bench.mjs"), room, "--json"]),
    python: async (...args) => {
      const { python, env } = await pythonPackage();
      return lines(python, args, { env });
    },
    example: (name, args) => sh("cargo", ["run", "--release", "-p", "learn", "--example", name, "--", ...args.map(String)]),
    bytes: (command, args, next) => output(command, args, { next }),
    hasTorch: () => succeeds(process.env.HOTHOUSE_PYTHON ?? "python3", ["-c", "import torch"]),
    file: (name) => join(files, name),
  };
}

/**
 * Returns the tables of a room, after a line with the conditions of the measurement. Returns undefined if no part of the room was measured.
 */
export function block(room, parts, stored, browser) {
  const own = parts.filter(({ id }) => id.startsWith(`${room}/`));
  const measured = own.map(({ id }) => stored.find((part) => part.id === id)).filter(Boolean);
  if (!measured.length) return;
  const all = (of) => [...new Set(measured.map(of).filter(Boolean))].join(", ");
  const busy = measured.filter((part) => part.busy).length;
  const missing = own.filter(({ id }) => !measured.some((part) => part.id === id));
  const conditions = [
    `${all(({ chip }) => chip)}${busy ? `, a shared machine, busy with other work in ${busy} of ${measured.length} parts` : ""}`,
    hasPage(room) && `${browser} headless`,
    `code ${all(({ code }) => code)}`,
    all(({ date }) => date),
    measured.some(({ quick }) => quick) && "quick",
    all(({ how }) => how),
  ];
  const notes = [`${conditions.filter(Boolean).join("; ")}.`];
  if (missing.length) notes.push(`Not measured: ${missing.map(({ id }) => id.split("/")[1]).join(", ")}.`);
  return `*${notes.join(" ")}*\n\n${tables(finder(measured)).text[room]}`;
}

/** Returns a function that finds a row of the measured parts by its name. */
function finder(measured) {
  const rows = new Map(measured.flatMap((part) => part.rows.map((row) => [row.name, row])));
  return (name) => rows.get(name);
}

/** Returns the names of table rows that no part measured, except the rows of unmeasured parts and of `OPTIONAL` groups. */
export function missingRows(parts, measured) {
  const given = measured.flatMap(({ rows }) => rows.map(({ name }) => name));
  const unmeasured = parts.filter(({ id }) => !measured.some((part) => part.id === id)).map(({ gives }) => gives);
  const optional = OPTIONAL.map(({ rows }) => rows).filter((rows) => !given.some((name) => rows.test(name)));
  const exempt = [...unmeasured, ...optional];
  return tables(finder(measured)).missing.filter((name) => !exempt.some((names) => names.test(name)));
}

/** Returns the reasons why this machine did not measure some optional rows of the tables. */
export function reasons(measured) {
  const { missing } = tables(finder(measured));
  const given = measured.flatMap(({ rows }) => rows.map(({ name }) => name));
  const absent = ({ rows }) => missing.some((name) => rows.test(name)) && !given.some((name) => rows.test(name));
  return OPTIONAL.filter(absent).map(({ why }) => why);
}

function readStored() {
  try {
    return JSON.parse(readFileSync(STORE, "utf8"));
  } catch {
    return []; // nothing has been measured yet
  }
}

/** Measures the parts without a stored result. Returns all stored parts and the ids of the parts that failed. */
async function measureAll(parts, now) {
  const { quick } = now;
  let stored = readStored();
  const failed = [];
  let tools;
  for (const part of parts) {
    if (reusable(stored, part, now)) {
      console.log(`   stored  ${part.id}`);
      continue;
    }
    tools ??= await measuringTools({ quick });
    const busy = await isBusy();
    try {
      await step(`${part.id}: ${part.does}`, async () => {
        const rows = await part.run(tools);
        const date = new Date().toISOString().slice(0, 10);
        // `how` describes a parallel measurement. In a quick pass nothing runs in parallel, so `how` is omitted.
        const how = quick ? undefined : part.how;
        stored = stored.filter((other) => !(other.id === part.id && other.quick === quick));
        stored.push({ id: part.id, does: part.does, ...now, date, busy, how, rows });
        mkdirSync(target, { recursive: true });
        writeFileSync(STORE, `${JSON.stringify(stored, null, 1)}\n`);
        return `${rows.length} figures${busy ? " on a busy machine" : ""}`;
      });
    } catch (error) {
      failed.push(part.id);
      console.log(error.next ? `${error.message}\nNext: ${error.next}` : error.stack);
    }
  }
  return { stored, failed };
}

/**
 * Prints the reasons for omitted optional rows. Fails if the tables contain any other row that no part measured, such as a misspelt name.
 */
function checkRows(measured) {
  for (const why of reasons(measured)) console.log(`\nOmitted figures: ${why}.`);
  const names = missingRows(PARTS, measured);
  if (!names.length) return;
  throw new Trouble(
    `no part measured these rows of the tables: ${names.join(", ")}`,
    "correct their names in scripts/figures/tables.mjs or in the part; to measure a part again, remove its entry from target/figures.json",
  );
}

/** Writes blocks between their marks in the document and prints each table line that differs. */
function write(blocks) {
  const file = join(root, DOCUMENT);
  let text = readFileSync(file, "utf8");
  for (const [room, block] of blocks) {
    const after = between(text, room, block);
    const next = `add <!-- figures:${room} --> and <!-- /figures --> at the place of its tables`;
    if (!after) throw new Trouble(`${DOCUMENT} has no marks for ${room}`, next);
    for (const [was, now] of changes(inside(text, room), block)) {
      console.log(`\n${room}\n  before: ${was ?? "no such line"}\n  after:  ${now ?? "no such line"}`);
    }
    text = after;
  }
  writeFileSync(file, text);
}

await main(import.meta.url, async () => {
  const flags = options(FLAGS);
  const quick = !!flags.quick;
  if (quick && flags.write) throw new Trouble("figures of a quick pass are not written", "omit --quick or --write");
  const parts = chosen(PARTS, flags);
  const now = { chip: thisChip(), code: await thisCode(), quick };
  const { stored, failed } = await measureAll(parts, now);
  const usable = stored.filter((row) => PARTS.some((part) => reusable([row], part, now)));
  const browser = rooms(parts).some(hasPage) ? (await sh((await chromium()).chromium, ["--version"])).trim() : undefined;
  const blocks = rooms(parts)
    .map((room) => [room, block(room, PARTS, usable, browser)])
    .filter(([, text]) => text);
  for (const [room, text] of blocks) console.log(`\n## ${room}\n\n${text}`);
  if (!flags.only && !quick) checkRows(usable);
  if (flags.write) write(blocks);
  if (failed.length)
    throw new Trouble(`not measured: ${failed.join(", ")}`, "see the errors above; the same command measures only these parts");
});
