// The golden runs: short runs of every variant of every room, and the digests of their weights. `crates/run/tests/run/digests.rs` writes
// the file. The tests of the page's modules, of other browsers and of other processors train the same runs and compare with its lines.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { target } from "./native.mjs";
import { root, Trouble } from "./sh.mjs";

const FILE = join(root, "tests/golden/digests.txt");
const SEED = 7;
/** Iteration of the digests: the one at which every run reports its first digest. */
export const ITERATION = 16;

/** Returns the golden runs as `{ name, config, weights }`. `weights` contains the digest for each class of arithmetic. */
export function goldenRuns() {
  const runs = new Map();
  for (const line of readFileSync(FILE, "utf8").trim().split("\n")) {
    const [room, variant, knobs, arithmetic, weights] = line.split(" ");
    const name = [room, variant, knobs].join(" ");
    const value = (text) => (Number.isNaN(Number(text)) ? text : Number(text));
    const pairs = knobs.split("&").map((knob) => [knob.slice(0, knob.indexOf("=")), value(knob.slice(knob.indexOf("=") + 1))]);
    const config = { version: 2, room, variant, seed: SEED, knobs: Object.fromEntries(pairs) };
    if (!runs.has(name)) runs.set(name, { name, config, weights: {} });
    runs.get(name).weights[arithmetic] = weights;
  }
  return [...runs.values()];
}

/**
 * Trains a golden run natively and returns its first digest, as `{ iteration, weights, arithmetic }`. `command` is the program with its
 * leading arguments. The first word of `command` may be an emulator.
 */
export function digest(command, { room, variant, seed, knobs }, { isa, threads = 2 } = {}) {
  const set = Object.entries(knobs).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const args = ["train", room, "--variant", variant, "--seed", String(seed), "--threads", String(threads), "--device", "cpu", ...set];
  return firstEvent(command, [...args, ...(isa ? ["--isa", isa] : [])], ({ kind }) => kind === "digest");
}

/** Starts the program, returns its first event for which `holds` is true, and ends the program. */
function firstEvent([command, ...before], args, holds) {
  const env = { ...process.env, XDG_CACHE_HOME: join(target, "cache") }; // keeps the program's monitors out of the user's cache
  const child = spawn(command, [...before, ...args, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      reject(
        new Trouble(
          `${command} ${args.join(" ")} ended (${signal ?? `exit status ${code}`}) before it reported the expected event:\n${said}`,
          "run the command by hand",
        ),
      ),
    );
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event = line.startsWith("{") ? JSON.parse(line) : {};
      if (!holds(event)) return;
      resolve(event);
      child.kill("SIGKILL");
    });
  });
}
