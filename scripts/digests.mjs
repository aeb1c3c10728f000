// Short native runs of every variant of every room, and the digests of these runs. The parity tests compare the digests of machines and of
// wasm modules. The names of the variants are read from the program's help, so that every new variant is included.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { target } from "./native.mjs";
import { own, ROOMS } from "./rooms.mjs";
import { sh, Trouble } from "./sh.mjs";

export const SEED = 7;
/** Iteration of a run's first digest. */
const FIRST = 16;

/** Returns all variants as `{ room, variant, knobs }`. scripts/rooms/<room>.mjs defines the knobs for short runs. */
export async function everyRun(program) {
  const quick = Object.fromEntries(await own("digests"));
  const [, list] = (await sh(program, ["train", "--help"])).match(/^Rooms and their variants.*\n((?: +.*\n)+)/m) ?? [];
  const variants = (room) => {
    const found = list?.replace(/\s+/g, " ").match(new RegExp(` ${room}: (.+?)\\. --steps`));
    if (!found) throw new Trouble(`hothouse train --help lists no variants of ${room}`, "see room_list in crates/cli/src/help.rs");
    return found[1].split(", ");
  };
  return ROOMS.flatMap((room) => variants(room).map((variant) => ({ room, variant, knobs: quick[room]?.(variant) ?? {} })));
}

/**
 * Returns the first digest of a run, as `{ iteration, weights, arithmetic }`. `command` is the program with its leading arguments. The
 * first word of `command` may be an emulator.
 */
export async function digest(command, { room, variant, knobs }, { isa, threads = 2 } = {}) {
  const set = Object.entries(knobs).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const args = ["train", room, "--variant", variant, "--seed", String(SEED), "--threads", String(threads), "--device", "cpu", ...set];
  const found = await firstEvent(command, [...args, ...(isa ? ["--isa", isa] : [])], ({ kind }) => kind === "digest");
  if (found.iteration !== FIRST)
    throw new Trouble(
      `${variant} reported its first digest after ${found.iteration} iterations, not ${FIRST}`,
      "see DIGEST_EVERY in crates/run/src/digest.rs",
    );
  return { iteration: found.iteration, weights: found.weights, arithmetic: found.arithmetic };
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
