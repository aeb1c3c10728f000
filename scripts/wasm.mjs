// The wasm modules, from the fastest to the one that runs anywhere. The page takes the first that
// its browser can run; all four do the same run, and within one arithmetic to the same bit.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ask, filesUnder, fingerprint, main, root, sh, step } from "./sh.mjs";
import { rust, wasmBindgen, wasmToolchain } from "./setup.mjs";

// A panic names its file and line by itself; function names would be a third of the download.
const slim = ["--remove-name-section", "--remove-producers-section"];
const TARGET = "wasm32-unknown-unknown";
const MAX_MEMORY = 1 << 30;

// The scheduler keeps the kernels' own order of instructions: they are written in the order they should run.
const common = ["-Cpanic=abort", "-Cllvm-args=-pre-RA-sched=source"];
const shared = ["--shared-memory", `--max-memory=${MAX_MEMORY}`, "--import-memory"]
  .concat(["__wasm_init_tls", "__tls_size", "__tls_align", "__tls_base"].map((symbol) => `--export=${symbol}`))
  .map((argument) => `-Clink-arg=${argument}`);

export const flavours = {
  "threads-relaxed": { threads: true, features: "+simd128,+relaxed-simd" },
  "threads-simd128": { threads: true, features: "+simd128" },
  simd128: { threads: false, features: "+simd128" },
  scalar: { threads: false, features: "" },
};

/** Flags and arguments for cargo, for one flavour on one route to std. */
export function cargoSettings({ threads, features }, route) {
  const enabled = [threads && "+atomics,+bulk-memory,+mutable-globals", features].filter(Boolean).join(",");
  const rustflags = [
    ...route.rustflags,
    ...common,
    // A panic names a file; which folder of the builder's it lay in is nobody's business.
    `--remap-path-prefix=${route.sysroot}/lib/rustlib/src/rust=rust`,
    `--remap-path-prefix=${process.env.CARGO_HOME ?? join(homedir(), ".cargo")}/registry/src=crates`,
    ...(enabled ? [`-Ctarget-feature=${enabled}`] : []),
    ...(threads ? shared : []),
  ];
  const buildStd = threads || !route.std;
  return {
    env: { ...route.env, CARGO_ENCODED_RUSTFLAGS: rustflags.join("\x1f"), ...(buildStd ? { RUSTC_BOOTSTRAP: "1" } : {}) },
    args: ["--target", TARGET, ...(buildStd ? ["-Zbuild-std=panic_abort,std"] : [])],
  };
}

/** Builds what changed; gives each flavour's folder and hash. */
export async function wasm({ only = Object.keys(flavours) } = {}) {
  await rust();
  const route = await wasmToolchain();
  await wasmBindgen();
  const rustc = await ask("rustc", ["--version"], { env: route.env });
  const sources = ["math", "graph", "worlds", "learn", "gpu", "run", "web"].flatMap((name) => [
    join(root, "crates", name, "Cargo.toml"),
    join(root, "crates", name, "src"),
  ]);
  const modules = {};
  for (const name of only) {
    const flavour = flavours[name];
    const settings = cargoSettings(flavour, route);
    const out = join(root, "www/pkg", name);
    const stamp = join(out, "stamp");
    const wanted = fingerprint(
      [rustc, JSON.stringify(settings)],
      [...sources, join(root, "Cargo.toml"), join(root, "Cargo.lock"), join(root, "scripts/wasm.mjs")],
    );
    await step(`wasm ${name}`, async () => {
      if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return "unchanged";
      const target = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "wasm");
      const args = ["build", "--release", "-p", "web", ...settings.args, ...(flavour.threads ? ["--features", "threads"] : [])];
      await sh("cargo", args, { env: { ...settings.env, CARGO_TARGET_DIR: target } });
      const built = join(target, TARGET, "release/web.wasm");
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out, { recursive: true });
      await sh("wasm-bindgen", [built, "--target", "web", "--no-typescript", "--out-dir", out, "--out-name", "lab", ...slim]);
      bindThreads(out);
      writeFileSync(stamp, wanted);
      return `${Math.round(statSync(join(out, "lab_bg.wasm")).size / 1024)} kB`;
    });
    modules[name] = { folder: out, hash: wanted };
  }
  return modules;
}

/**
 * The pool's threads import the module by the path of its folder, which only bundlers resolve; a
 * page that serves the files as they are needs the file's name.
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
