// Builds the wasm modules, one per room and flavour. A flavour is a choice of threads and vector instructions. Flavours are ordered from
// the fastest to the one that runs in every supported browser; the page loads the first module that its browser supports. Modules whose
// arithmetic is the same compute equal runs, bit for bit.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { MODULE_NAMES, ROOMS } from "./rooms.mjs";
import { ask, filesUnder, fingerprint, main, root, sh, step } from "./sh.mjs";
import { bindgen, rust, wasmToolchain } from "./setup.mjs";

const TARGET = "wasm32-unknown-unknown";
const MAX_MEMORY = 1 << 30;

// Keeps instructions in source order, because the order in the kernels is deliberate.
const common = ["-Cpanic=abort", "-Cllvm-args=-pre-RA-sched=source"];
const shared = ["--shared-memory", `--max-memory=${MAX_MEMORY}`, "--import-memory"]
  .concat(["__wasm_init_tls", "__tls_size", "__tls_align", "__tls_base"].map((symbol) => `--export=${symbol}`))
  .map((argument) => `-Clink-arg=${argument}`);

/** Crates that are optimised for size, because no hot loop is in them. All others are optimised for speed. */
const SMALL = [
  ...[
    "bench",
    "graph",
    "gpu",
    "run",
    "tiles",
    "web",
    "wgpu",
    "wgpu-types",
    "naga-types",
    "serde",
    "serde_core",
    "serde_json",
    "serde-wasm-bindgen",
  ],
  ...["erased-serde", "safetensors", "js-sys", "web-sys", "wasm-bindgen", "wasm-bindgen-futures", "futures-util", "hashbrown", "indexmap"],
  ...["foldhash", "memchr", "zmij", "itoa", "crossbeam-channel", "wasm-bindgen-rayon", "console_error_panic_hook"],
].flatMap((name) => ["--config", `profile.release.package.${name}.opt-level="z"`]);

/**
 * Threads and instruction sets of each flavour. `exports` is true for the flavour that can export models. The other flavours omit this
 * code, because it enlarges the first load.
 */
export const flavours = {
  "threads-relaxed": { threads: true, features: "+simd128,+relaxed-simd" },
  "threads-simd128": { threads: true, features: "+simd128" },
  simd128: { threads: false, features: "+simd128", exports: true },
};
/** Names of all modules, as `room/flavour`. */
export const MODULES = MODULE_NAMES.flatMap((room) => Object.keys(flavours).map((flavour) => `${room}/${flavour}`));
/** Flavour that Chromium, and so most browsers, loads. */
export const FIRST_FLAVOUR = "threads-relaxed";
/** Module that most browsers load for the first room. `npm start` builds it before it serves the page. */
export const FIRST = `${ROOMS[0]}/${FIRST_FLAVOUR}`;

/** Returns the build folder of a flavour. In a common folder, cargo would rebuild all crates after a change of flags. */
export const targetOf = (flavour) => join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "wasm", flavour);

/** Returns cargo's environment and arguments for a flavour. `route` is the result of `wasmToolchain`. */
export function cargoSettings(flavour, route) {
  const { threads, features } = flavours[flavour];
  const enabled = [threads && "+atomics,+bulk-memory,+mutable-globals", features].filter(Boolean).join(",");
  const rustflags = [
    ...route.rustflags,
    ...common,
    // Panic messages contain file names. These flags remove the folders of the build machine from them.
    `--remap-path-prefix=${route.sysroot}/lib/rustlib/src/rust=rust`,
    `--remap-path-prefix=${process.env.CARGO_HOME ?? join(homedir(), ".cargo")}/registry/src=crates`,
    ...(enabled ? [`-Ctarget-feature=${enabled}`] : []),
    ...(threads ? shared : []),
  ];
  const buildStd = threads || !route.std;
  const flags = { CARGO_ENCODED_RUSTFLAGS: rustflags.join("\x1f"), CARGO_INCREMENTAL: "0" };
  return {
    env: { ...route.env, ...flags, ...(buildStd ? { RUSTC_BOOTSTRAP: "1" } : {}) },
    // Optimised for size, std has smaller functions for sorting and formatting.
    args: ["--target", TARGET, ...SMALL, ...(buildStd ? ["-Zbuild-std=panic_abort,std", "-Zbuild-std-features=optimize_for_size"] : [])],
  };
}

/** Crates of a room's module, from which its hash is computed. */
const CRATES = ["math", "graph", "worlds", "learn", "gpu", "run", "bench", "web"];
const ofPage = (room, exports) => [room, ...(exports ? ["export"] : [])];
/** Package of the page's modules. `features` returns the features of a room's module. */
export const PAGE = { name: "web", folder: "crates/web", into: "www/pkg", features: ofPage };
/**
 * The module of the page's tests: all rooms in one module of the first flavour. The modules of each room and flavour are tested by `npm
 * test -- --all`.
 */
export const TESTS = {
  ...PAGE,
  into: "target/test-module",
  features: () => [...MODULE_NAMES, "export"],
  names: [`every/${FIRST_FLAVOUR}`],
};
/** The module of the start page, with the small runs of all tiles. It has no threads, so that it is small and starts in every browser. */
export const TILES = {
  name: "tiles",
  folder: "crates/tiles",
  into: "www/pkg",
  names: ["tiles/simd128"],
  crates: ["math", "graph", "worlds", "learn", "tiles"],
  args: ["learn", "worlds"].flatMap((name) => ["--config", `profile.release.package.${name}.opt-level="s"`]),
};
/** The page's modules with benchmarks, which the page omits. They are built for `npm run bench`. */
export const BENCH = { ...PAGE, into: "target/bench-page", features: (...of) => ["bench", ...ofPage(...of)] };

/**
 * Builds the modules in `only` whose sources changed. Returns for every module its folder, its hash and whether it is built. All crates
 * except the last are common to the rooms, so each further room takes only seconds. `of` is the package, for example a test's package with
 * its own room.
 */
export async function wasm({ of = PAGE, only = of.names ?? MODULES } = {}) {
  const { name: crate, folder, into, names = MODULES, crates = CRATES, args: more = [], features: featuresOf = () => [] } = of;
  await rust();
  const route = await wasmToolchain();
  const program = await bindgen();
  const rustc = await ask("rustc", ["--version"], { env: route.env });
  const sources = crates.flatMap((name) => [join(root, "crates", name, "Cargo.toml"), join(root, "crates", name, "src")]);
  sources.push(...["Cargo.toml", "Cargo.lock", "scripts/wasm.mjs", join(folder, "src")].map((file) => join(root, file)));
  const sourceHash = fingerprint([rustc, basename(program)], sources);
  const modules = {};
  const make = async (name) => {
    const [room, flavour] = name.split("/");
    const settings = cargoSettings(flavour, route);
    const out = join(root, into, name);
    const stamp = join(out, "stamp");
    const { threads, exports } = flavours[flavour];
    const features = [...(threads ? ["threads"] : []), ...featuresOf(room, exports)];
    const hash = fingerprint([sourceHash, JSON.stringify([settings, more]), features.join()]);
    const built = () => existsSync(stamp) && readFileSync(stamp, "utf8") === hash;
    const compile = async () => {
      if (built()) return "unchanged";
      const args = ["build", "--release", "--lib", "-p", crate, ...settings.args, ...more, "--features", features.join()];
      await sh("cargo", args, { env: { ...settings.env, CARGO_TARGET_DIR: targetOf(flavour) } });
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out, { recursive: true });
      await sh(program, ["page", join(targetOf(flavour), TARGET, `release/${crate}.wasm`), out]);
      bindThreads(out);
      writeFileSync(stamp, hash);
      return `${Math.round(statSync(join(out, "lab_bg.wasm")).size / 1024)} kB`;
    };
    if (only.includes(name)) await step(`wasm ${of === PAGE ? name : `${basename(into)} ${name}`}`, compile, { compiles: true });
    modules[name] = { folder: out, hash, built: built() };
  };
  // The last crate and the bindings of a room use a single core, so the flavours are built in parallel.
  await Promise.all(
    Object.keys(flavours).map(async (flavour) => {
      for (const name of names.filter((name) => name.endsWith(`/${flavour}`))) await make(name);
    }),
  );
  // The order depends only on the names, not on the builds, because the fingerprint of the page contains this list.
  return Object.fromEntries(names.map((name) => [name, modules[name]]));
}

/**
 * Replaces the path from which each thread imports the module, in the thread pool's JavaScript. The old path names a folder, which only
 * bundlers resolve. The new path names the file.
 */
function bindThreads(out) {
  const snippets = join(out, "snippets");
  if (!existsSync(snippets)) return;
  for (const file of filesUnder(snippets).filter((file) => file.endsWith("workerHelpers.js"))) {
    const text = readFileSync(file, "utf8");
    const bound = text.replace("import('../../..')", "import('../../../lab.js')");
    if (bound === text) throw new Error(`${file} no longer imports its module the way scripts/wasm.mjs expects`);
    writeFileSync(file, bound);
  }
}

await main(import.meta.url, () => wasm());
