// `npm run figures`: measures what README's tables say, on this machine and under one rule (`scripts/figure.mjs`), and prints them. Nobody
// copies a number by hand: `--write` puts the tables into README. Each part that is done is kept in target/figures.json with the chip and the
// code that it was measured with, so that a pass that was interrupted goes on.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus } from "node:os";
import { join } from "node:path";
import { between, tables } from "./figures/tables.mjs";
import { PARTS } from "./figures/parts.mjs";
import { program, target } from "./native.mjs";
import { chromium, rust } from "./setup.mjs";
import { fingerprint, main, options, root, sh, step, Trouble } from "./sh.mjs";

const README = join(root, "README.md");
const KEPT = join(target, "figures.json");
/** What a figure depends on, beside its command; tests and documents are not of it. */
const CODE = ["Cargo.lock", "Cargo.toml", "crates/*/Cargo.toml", "crates/*/src/*", "crates/*/examples/*", "scripts/bench.mjs", "scripts/figure.mjs", "scripts/rooms/*", "www"];
/** More of its processors' time than this, spent by others while nothing is measured, makes a machine a busy one. */
const BUSY = 0.05;
const FLAGS = {
  only: "<ROOM>  one room's tables, or one part of them, as in cube/walk",
  quick: "few seeds and short training, to see that all of it runs; such figures are never written",
  long: "also what takes hours, such as an hour of backgammon",
  write: "put the tables into README between their marks",
};

/** Rooms in README's order. */
export const rooms = (parts) => [...new Set(parts.map(({ id }) => id.split("/")[0]))];

/** The parts that are asked for. */
export function chosen(parts, { only, long }) {
  const found = parts.filter(({ id }) => !only || id === only || id.startsWith(`${only}/`));
  if (!found.length) throw new Trouble(`there is no room and no part called '${only}'`, `use one of ${rooms(parts).join(", ")}, or one of ${parts.map(({ id }) => id).join(", ")}`);
  return found.filter((part) => long || !part.long || part.id === only);
}

/** What of a part was kept and still holds: by the same command, chip, code and length. */
export const held = (kept, { id, does }, { chip, code, quick }) =>
  kept.find((part) => part.id === id && part.does === does && part.chip === chip && part.code === code && part.quick === quick);

/** `AMD EPYC (family 25, model 1), AVX2, 2 cores` */
export function chipOf(model, count, cpuinfo, kind) {
  const [family, number] = ["cpu family", "model"].map((key) => cpuinfo.match(new RegExp(`^${key}\\s*: (.*)$`, "m"))?.[1]);
  const flags = new Set(cpuinfo.match(/^flags\s*: (.*)$/m)?.[1].split(" "));
  const sets = [["amx_bf16", "AMX"], ["avx512_bf16", "AVX512-BF16"], ["avx512f", "AVX-512"], ["avx2", "AVX2"]].filter(([flag]) => flags.has(flag)).map(([, name]) => name);
  const words = [family ? `${model} (family ${family}, model ${number})` : model];
  words.push(sets.filter((name) => name !== "AVX2" || !sets.includes("AVX-512")).join(" and ") || kind, `${count} ${count === 1 ? "core" : "cores"}`);
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
  return changes || added.length ? `${commit}+${fingerprint([changes], added.map((file) => join(root, file))).slice(0, 7)}` : commit;
}

/** Whether others use its processors, looked at for two seconds in which nothing of ours runs. */
async function isBusy() {
  const spent = () => cpus().reduce(([busy, all], { times }) => {
    const sum = Object.values(times).reduce((a, b) => a + b, 0);
    return [busy + sum - times.idle, all + sum];
  }, [0, 0]);
  const before = spent();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const after = spent();
  return (after[0] - before[0]) / (after[1] - before[1]) > BUSY;
}

/** What parts measure with. */
async function measuring({ quick }) {
  await rust();
  const hothouse = await program();
  const files = join(target, "figures");
  mkdirSync(files, { recursive: true });
  /** Lines of JSON of a command, whose status is looked at or not. */
  const lines = (command, args, { anyway = false } = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args.map(String), { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
      let [out, said] = ["", ""];
      child.stdout.on("data", (chunk) => (out += chunk));
      child.stderr.on("data", (chunk) => (said += chunk));
      child.on("error", (error) => reject(new Trouble(`${command}: ${error.message}`, "npm start sets up what is missing")));
      child.on("close", (code) => {
        if (code && !anyway) return reject(new Trouble(`${[command, ...args].join(" ")} ended with status ${code}\n${said.trim()}`, "run this command to see why"));
        resolve(out.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)));
      });
    });
  const succeeds = (command, args) => new Promise((resolve) => spawn(command, args, { stdio: "ignore" }).on("error", () => resolve(false)).on("close", (code) => resolve(code === 0)));
  return {
    quick,
    hothouse: (...args) => lines(hothouse, [...args, "--json"]),
    hothouseAnyway: (...args) => lines(hothouse, [...args, "--json"], { anyway: true }),
    page: (room) => lines("node", [join(root, "scripts/bench.mjs"), room, "--json"]),
    example: (name, args) => sh("cargo", ["run", "--release", "-p", "learn", "--example", name, "--", ...args.map(String)]),
    has: (command) => succeeds(command, ["--version"]),
    hasTorch: () => succeeds(process.env.HOTHOUSE_PYTHON ?? "python3", ["-c", "import torch"]),
    file: (name) => join(files, name),
  };
}

/** A room's tables, and under which conditions they were measured. */
export function block(room, parts, kept, browser) {
  const own = parts.filter(({ id }) => id.startsWith(`${room}/`));
  const measured = own.map(({ id }) => kept.find((part) => part.id === id)).filter(Boolean);
  if (!measured.length) return;
  const rows = new Map(measured.flatMap((part) => part.rows.map((row) => [row.name, row])));
  const text = tables((name) => rows.get(name))[room];
  const all = (of) => [...new Set(measured.map(of))].join(", ");
  const busy = measured.filter((part) => part.busy).length;
  const machine = `${all(({ chip }) => chip)}${busy ? `, a shared machine, busy with other work in ${busy} of ${measured.length} parts` : ""}`;
  const missing = own.filter(({ id }) => !measured.some((part) => part.id === id));
  const conditions = [`${machine}; ${browser} headless; code ${all(({ code }) => code)}; ${all(({ date }) => date)}${measured.some(({ quick }) => quick) ? "; quick" : ""}.`];
  if (missing.length) conditions.push(`Not measured there: ${missing.map(({ id }) => id.split("/")[1]).join(", ")}.`);
  return `*${conditions.join(" ")}*\n\n${text}`;
}

await main(import.meta.url, async () => {
  const asked = options(FLAGS);
  const quick = !!asked.quick;
  if (quick && asked.write) throw new Trouble("figures of a quick pass are not written", "leave --quick or --write out");
  const parts = chosen(PARTS, asked);
  const [chip, code] = [thisChip(), await thisCode()];
  let kept = [];
  try {
    kept = JSON.parse(readFileSync(KEPT, "utf8"));
  } catch {} // the first time
  const failed = [];
  let on;
  for (const part of parts) {
    if (held(kept, part, { chip, code, quick })) {
      console.log(`   kept    ${part.id}`);
      continue;
    }
    on ??= await measuring({ quick });
    const busy = await isBusy();
    try {
      await step(`${part.id}: ${part.does}`, async () => {
        const rows = await part.run(on);
        const date = new Date().toISOString().slice(0, 10);
        kept = [...kept.filter((other) => !(other.id === part.id && other.quick === quick)), { id: part.id, does: part.does, chip, code, quick, date, busy, rows }];
        mkdirSync(target, { recursive: true });
        writeFileSync(KEPT, `${JSON.stringify(kept, null, 1)}\n`);
        return `${rows.length} figures${busy ? ", while others used the machine" : ""}`;
      });
    } catch (error) {
      failed.push(part.id);
      console.log(error.next ? `${error.message}\nNext: ${error.next}` : error.stack);
    }
  }
  const usable = kept.filter((row) => PARTS.some((part) => held([row], part, { chip, code, quick })));
  const browser = await chromium().then(({ chromium }) => sh(chromium, ["--version"])).then((said) => said.trim());
  let readme = readFileSync(README, "utf8");
  for (const room of rooms(parts)) {
    const text = block(room, PARTS, usable, browser);
    if (!text) continue;
    console.log(`\n## ${room}\n\n${text}`);
    if (!asked.write) continue;
    readme = between(readme, room, text);
    if (!readme) throw new Trouble(`README.md has no place for ${room}`, `put <!-- figures:${room} --> and <!-- /figures --> where its tables belong`);
  }
  if (asked.write) writeFileSync(README, readme);
  if (failed.length) throw new Trouble(`could not be measured: ${failed.join(", ")}`, "see above why; the same command measures these alone");
});
