// A quick run of every variant of every room, and its digests natively: what parity compares between machines and modules. The
// program lists the variants, so a new one is compared without a change here.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { target } from "./native.mjs";
import { own, ROOMS } from "./rooms.mjs";
import { sh, Trouble } from "./sh.mjs";

export const SEED = 7;
/** The first digest of a run, which is told every so many iterations. */
const FIRST = 16;

/** All of them, each `{ room, variant, knobs }`. scripts/rooms/<room>.mjs says which knobs make its variants quick. */
export async function everyRun(program) {
  const quick = Object.fromEntries(await own("digests"));
  const [, list] = (await sh(program, ["train", "--help"])).match(/^Rooms, and what .*\n((?: +.*\n)+)/m) ?? [];
  const variants = (room) => {
    const found = list?.replace(/\s+/g, " ").match(new RegExp(` ${room}: (.+?)\\. --steps`));
    if (!found) throw new Trouble(`hothouse train --help lists no variants of ${room}`, "see room_list in crates/cli/src/help.rs");
    return found[1].split(", ");
  };
  return ROOMS.flatMap((room) => variants(room).map((variant) => ({ room, variant, knobs: quick[room]?.(variant) ?? {} })));
}

/** The first digest of a run, as `{ iteration, weights, arithmetic }`, by a program or by what emulates it. */
export async function digest(command, { room, variant, knobs }, { isa, threads = 2 } = {}) {
  const set = Object.entries(knobs).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const args = ["train", room, "--variant", variant, "--seed", String(SEED), "--threads", String(threads), "--device", "cpu", ...set];
  const found = await told(command, [...args, ...(isa ? ["--isa", isa] : [])], ({ kind }) => kind === "digest");
  if (found.iteration !== FIRST)
    throw new Trouble(
      `${variant} told its first digest after ${found.iteration} iterations, not ${FIRST}`,
      "see DIGEST_EVERY in crates/run/src/digest.rs",
    );
  return { iteration: found.iteration, weights: found.weights, arithmetic: found.arithmetic };
}

/** The first event for which `holds`; the program ends there. */
function told([command, ...before], args, holds) {
  const env = { ...process.env, XDG_CACHE_HOME: join(target, "cache") }; // its monitors are none that anybody watches
  const child = spawn(command, [...before, ...args, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      reject(
        new Trouble(
          `${command} ${args.join(" ")} ended (${signal ?? `exit status ${code}`}) before it told what was waited for:\n${said}`,
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
