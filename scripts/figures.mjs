// `npm run figures`: measures what README's tables say, on this machine and under one rule (`scripts/figure.mjs`), and prints them. Nobody
// copies a number by hand: `--write` puts the tables into README. Each part that is done is kept in target/figures.json with the chip and
// the
// code that it was measured with, so that a pass that was interrupted goes on.
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

/** Where a room's tables belong. */
const READMES = { python: "crates/python/README.md" };
export const readmeOf = (room) => READMES[room] ?? "README.md";
const KEPT = join(target, "figures.json");
/** What a figure depends on, beside its command; tests and documents are not of it. */
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
/** More of its processors' time than this, spent by others while nothing is measured, makes a machine a busy one. */
const BUSY = 0.05;
const FLAGS = {
  only: "<ROOM>  one room's tables, or one part of them, as in cube/walk",
  quick: "few seeds and short training, to see that all of it runs; such figures are never written",
  long: "also what takes hours, such as an hour of backgammon",
  write: "put the tables into README (of Python into crates/python/README.md) between their marks, and say what differs",
};

/** Rooms in README's order. */
export const rooms = (parts) => [...new Set(parts.map(({ id }) => id.split("/")[0]))];

const hasPage = (room) => PARTS.some(({ id }) => id === `${room}/page`);

/** The parts that are asked for. */
export function chosen(parts, { only, long }) {
  const found = parts.filter(({ id }) => !only || id === only || id.startsWith(`${only}/`));
  if (!found.length)
    throw new Trouble(
      `there is no room and no part called '${only}'`,
      `use one of ${rooms(parts).join(", ")}, or one of ${parts.map(({ id }) => id).join(", ")}`,
    );
  return found.filter((part) => long || !part.long || part.id === only);
}

/** What of a part was kept and still holds: by the same command, chip, code and length. */
export const held = (kept, { id, does }, { chip, code, quick }) =>
  kept.find((part) => part.id === id && part.does === does && part.chip === chip && part.code === code && part.quick === quick);

/** `AMD EPYC (family 25, model 1), AVX2, 2 cores` */
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
  } catch {} // not Linux
  const all = cpus();
  return chipOf(all[0].model.trim(), all.length, cpuinfo, arch());
}

/** The newest commit of the code, and of what is changed beside it a hash. */
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

/** Whether others use its processors, looked at for two seconds in which nothing of ours runs. */
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

/** Runs a command without input and gives its output, or a failure with the next step. `anyway` takes any status. */
const output = (command, args, { anyway = false, env = {}, next } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args.map(String), { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const chunks = [];
    let said = "";
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => (said += chunk));
    child.on("error", (error) => reject(new Trouble(`${command}: ${error.message}`, next ?? "npm start sets up what is missing")));
    child.on("close", (code) => {
      if (code === 0 || anyway) return resolve(Buffer.concat(chunks));
      const line = [command, ...args].join(" ");
      reject(new Trouble(`${line} ended with status ${code}\n${said.trim()}`, next ?? "run this command to see why"));
    });
  });

/** The lines of JSON of a command. */
async function lines(...asked) {
  const text = (await output(...asked)).toString();
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

/** The Python of the package's tests, and a fresh copy of the package with the library that was built last. */
async function packaged() {
  const lacking = await environment();
  if (lacking) {
    const [what, ...next] = lacking.split("; ");
    throw new Trouble(what, next.join("; "));
  }
  const stage = join(target, "figures/python");
  assemble(stage);
  return { python, env: { PYTHONPATH: stage, XDG_CACHE_HOME: join(stage, "cache") } };
}

/** What parts measure with. */
async function measuring({ quick }) {
  await rust();
  const hothouse = await program();
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
      const { python, env } = await packaged();
      return lines(python, args, { env });
    },
    example: (name, args) => sh("cargo", ["run", "--release", "-p", "learn", "--example", name, "--", ...args.map(String)]),
    bytes: (command, args, next) => output(command, args, { next }),
    hasTorch: () => succeeds(process.env.HOTHOUSE_PYTHON ?? "python3", ["-c", "import torch"]),
    file: (name) => join(files, name),
  };
}

/** A room's tables, and under which conditions they were measured. */
export function block(room, parts, kept, browser) {
  const own = parts.filter(({ id }) => id.startsWith(`${room}/`));
  const measured = own.map(({ id }) => kept.find((part) => part.id === id)).filter(Boolean);
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
  const said = [`${conditions.filter(Boolean).join("; ")}.`];
  if (missing.length) said.push(`Not measured there: ${missing.map(({ id }) => id.split("/")[1]).join(", ")}.`);
  return `*${said.join(" ")}*\n\n${tables(finder(measured)).text[room]}`;
}

/** Rows of measured parts by their names. */
function finder(measured) {
  const rows = new Map(measured.flatMap((part) => part.rows.map((row) => [row.name, row])));
  return (name) => rows.get(name);
}

/** Names of rows that a table asks for and that no part gave. A part that was not measured excuses its rows, and so does `OPTIONAL`. */
export function unaccounted(parts, measured) {
  const given = measured.flatMap(({ rows }) => rows.map(({ name }) => name));
  const unmeasured = parts.filter(({ id }) => !measured.some((part) => part.id === id)).map(({ gives }) => gives);
  const optional = OPTIONAL.map(({ rows }) => rows).filter((rows) => !given.some((name) => rows.test(name)));
  const excuses = [...unmeasured, ...optional];
  return tables(finder(measured)).missing.filter((name) => !excuses.some((excuse) => excuse.test(name)));
}

/** Why rows that not every machine can give are not there. */
export function reasons(measured) {
  const { missing } = tables(finder(measured));
  const given = measured.flatMap(({ rows }) => rows.map(({ name }) => name));
  const absent = ({ rows }) => missing.some((name) => rows.test(name)) && !given.some((name) => rows.test(name));
  return OPTIONAL.filter(absent).map(({ why }) => why);
}

function readKept() {
  try {
    return JSON.parse(readFileSync(KEPT, "utf8"));
  } catch {
    return []; // the first time
  }
}

/** Measures those parts that are not kept; gives all that is kept, and the names of parts that failed. */
async function measureAll(parts, now) {
  const { quick } = now;
  let kept = readKept();
  const failed = [];
  let on;
  for (const part of parts) {
    if (held(kept, part, now)) {
      console.log(`   kept    ${part.id}`);
      continue;
    }
    on ??= await measuring({ quick });
    const busy = await isBusy();
    try {
      await step(`${part.id}: ${part.does}`, async () => {
        const rows = await part.run(on);
        const date = new Date().toISOString().slice(0, 10);
        // A quick pass has one agent, and so no other beside it.
        const how = quick ? undefined : part.how;
        kept = kept.filter((other) => !(other.id === part.id && other.quick === quick));
        kept.push({ id: part.id, does: part.does, ...now, date, busy, how, rows });
        mkdirSync(target, { recursive: true });
        writeFileSync(KEPT, `${JSON.stringify(kept, null, 1)}\n`);
        return `${rows.length} figures${busy ? ", while others used the machine" : ""}`;
      });
    } catch (error) {
      failed.push(part.id);
      console.log(error.next ? `${error.message}\nNext: ${error.next}` : error.stack);
    }
  }
  return { kept, failed };
}

/** Fails where a table asks for a row that no part gives, such as one whose name is misspelt. */
function account(measured) {
  for (const why of reasons(measured)) console.log(`\nSome figures are left out: ${why}.`);
  const names = unaccounted(PARTS, measured);
  if (!names.length) return;
  throw new Trouble(
    `tables ask for rows that no part gave: ${names.join(", ")}`,
    "mend their names in scripts/figures/tables.mjs or in the part; a part is measured anew once its entry is out of target/figures.json",
  );
}

/** Puts blocks between their marks, each into the file of its room, and prints each line of a table that differs. */
function write(blocks) {
  const texts = new Map();
  for (const [room, block] of blocks) {
    const file = readmeOf(room);
    const before = texts.get(file) ?? readFileSync(join(root, file), "utf8");
    const after = between(before, room, block);
    const next = `put <!-- figures:${room} --> and <!-- /figures --> where its tables belong`;
    if (!after) throw new Trouble(`${file} has no place for ${room}`, next);
    for (const [was, now] of changes(inside(before, room), block)) {
      console.log(`\n${room}\n  was: ${was ?? "no such line"}\n  now: ${now ?? "no such line"}`);
    }
    texts.set(file, after);
  }
  for (const [file, text] of texts) writeFileSync(join(root, file), text);
}

await main(import.meta.url, async () => {
  const asked = options(FLAGS);
  const quick = !!asked.quick;
  if (quick && asked.write) throw new Trouble("figures of a quick pass are not written", "leave --quick or --write out");
  const parts = chosen(PARTS, asked);
  const now = { chip: thisChip(), code: await thisCode(), quick };
  const { kept, failed } = await measureAll(parts, now);
  const usable = kept.filter((row) => PARTS.some((part) => held([row], part, now)));
  const browser = rooms(parts).some(hasPage) ? (await sh((await chromium()).chromium, ["--version"])).trim() : undefined;
  const blocks = rooms(parts)
    .map((room) => [room, block(room, PARTS, usable, browser)])
    .filter(([, text]) => text);
  for (const [room, text] of blocks) console.log(`\n## ${room}\n\n${text}`);
  if (!asked.only && !quick) account(usable);
  if (asked.write) write(blocks);
  if (failed.length)
    throw new Trouble(`could not be measured: ${failed.join(", ")}`, "see above why; the same command measures these alone");
});
