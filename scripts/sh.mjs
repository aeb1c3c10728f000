// Common parts of the scripts: timed steps, commands, and errors with a next step.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { record } from "./times.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** An error with a next step for the user. */
export class Trouble extends Error {
  constructor(text, next) {
    super(text);
    this.next = next;
  }
}

/**
 * Runs `work` and prints its duration. If `work` returns a text, prints the text as the outcome. The durations of steps that compile are
 * recorded (times.mjs).
 */
export async function step(title, work, { compiles = false } = {}) {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s`;
  // Only a step that takes more than two seconds prints its title in advance.
  const slow = setTimeout(() => console.log(`       …  ${title}`), 2000);
  try {
    const outcome = await work();
    if (compiles) record("compilation", title, (performance.now() - began) / 1000);
    console.log(`${seconds()}  ${title}${typeof outcome === "string" ? `: ${outcome}` : ""}`);
    return outcome;
  } catch (error) {
    console.log(`${seconds()}  ${title}: FAILED`);
    throw error;
  } finally {
    clearTimeout(slow);
  }
}

/**
 * Runs a command in `cwd`, by default the repository's root, and returns its output, with `errors` also its standard error. With `show` the
 * output is printed immediately, otherwise only on failure. A command that exceeds `limitMs` milliseconds is stopped and fails.
 */
export function sh(command, args, { env = {}, show = false, errors = false, cwd = root, next, limitMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
    });
    let all = "";
    let out = "";
    child.stdout.on("data", (chunk) => ((out += chunk), (all += chunk), show && process.stdout.write(chunk)));
    child.stderr.on("data", (chunk) => ((all += chunk), show && process.stderr.write(chunk)));
    const fail = (why) => {
      if (!show) console.log(all.trim());
      const trouble = new Trouble(
        `${command} ${args.join(" ")}: ${why}`,
        next ?? "read the lines above; what they name is missing or wrong",
      );
      reject(Object.assign(trouble, { output: out }));
    };
    child.on("error", (error) => fail(error.message));
    child.on("close", (code, signal) => (code === 0 ? resolve(errors ? all : out) : fail(signal ?? `exit status ${code}`)));
  });
}

/** Returns the output of a command, or null if the command fails. */
export async function ask(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.on("error", () => resolve(null));
    child.on("close", (code) => resolve(code === 0 ? out.trim() : null));
  });
}

/** Runs `work` for each item, at most `count` at a time. */
export async function sideBySide(count, items, work) {
  const queue = [...items];
  const one = async () => {
    for (let item; (item = queue.shift()) !== undefined; ) await work(item);
  };
  await Promise.all(Array.from({ length: count }, one));
}

/** Returns the paths of the files under a folder, or of a single file, sorted for stable hashes. */
export function filesUnder(path) {
  try {
    return readdirSync(path, { withFileTypes: true })
      .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(path, entry.name)) : [join(path, entry.name)]))
      .sort();
  } catch (error) {
    if (error.code === "ENOTDIR") return [path];
    throw error;
  }
}

/** Returns a short hash of texts and file contents. */
export function fingerprint(texts, paths = []) {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text}\0`);
  for (const path of paths.flatMap(filesUnder)) hash.update(`${path.replace(root, "")}\0`).update(readFileSync(path));
  return hash.digest("hex").slice(0, 12);
}

/** Parses `--flag` and `--name value` from the command line. Unknown arguments are an error. */
export function options(known) {
  const given = {};
  const args = process.argv.slice(2);
  for (let i = 0; i < args.length; i++) {
    const name = args[i].replace(/^--/, "");
    if (!(name in known)) {
      const all = Object.entries(known).map(([flag, what]) => `--${flag}  ${what}`);
      throw new Trouble(`unknown argument ${args[i]}`, `use one of\n  ${all.join("\n  ")}`);
    }
    const takesValue = known[name].startsWith("<");
    if (takesValue && args[i + 1] === undefined) throw new Trouble(`--${name} needs a value`, `--${name} ${known[name]}`);
    given[name] = takesValue ? args[++i] : true;
  }
  return given;
}

/** Runs `work` if the module at `url` is the started script. After a failure it prints the error and its next step. */
export async function main(url, work) {
  if (!process.argv[1] || url !== pathToFileURL(process.argv[1]).href) return;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    console.error(`\n${error.message}\nNext: ${error.next}`);
    process.exit(1);
  }
}
