// Tools that build and test Hothouse. Existing tools are used; missing ones are installed under ~/.cache/hothouse. The user's default
// toolchain is never changed.
import { copyFileSync, existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ask, fingerprint, main, root, sh, step, Trouble } from "./sh.mjs";

const TARGET = "wasm32-unknown-unknown";
const RUST_AT_LEAST = [1, 90];
const OFFLINE = "connect to the network and run the same command again; what is already here is kept";

export const tools = process.env.HOTHOUSE_TOOLS ?? join(homedir(), ".cache/hothouse/tools");

let packages;
/** Installs the npm packages on the first call, and returns the same promise to later callers. */
export const npmPackages = () => (packages ??= installedPackages());

async function installedPackages() {
  const stamp = join(root, "node_modules/.hothouse");
  const wanted = fingerprint([], [join(root, "package.json"), join(root, "package-lock.json")]);
  await step("npm packages", async () => {
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return "present";
    await sh("npm", ["ci", "--no-audit", "--no-fund"], { next: OFFLINE });
    writeFileSync(stamp, wanted);
    return "installed";
  });
}

export async function rust() {
  await step("Rust", async () => {
    const version = await ask("rustc", ["--version"]);
    if (!version || !(await ask("cargo", ["--version"])))
      throw new Trouble("Rust is not installed", "install it from https://rustup.rs, open a new terminal, run the same command again");
    const [, major, minor] = version.match(/(\d+)\.(\d+)/).map(Number);
    if (major < RUST_AT_LEAST[0] || (major === RUST_AT_LEAST[0] && minor < RUST_AT_LEAST[1]))
      throw new Trouble(`${version} is older than ${RUST_AT_LEAST.join(".")}`, "rustup update stable");
    return version;
  });
}

/**
 * Describes a toolchain as `{ env, sysroot, source, std }`. `source` is true if it has the source of std, which modules with threads need.
 * `std` is true if it has a std for wasm, which is enough for modules without threads. Returns null if the toolchain is missing.
 */
async function inspect(toolchain) {
  const env = toolchain ? { RUSTUP_TOOLCHAIN: toolchain } : {};
  const sysroot = await ask("rustc", ["--print", "sysroot"], { env });
  if (!sysroot) return null;
  const lib = join(sysroot, "lib/rustlib", TARGET, "lib");
  return {
    env,
    sysroot,
    source: existsSync(join(sysroot, "lib/rustlib/src/rust/library/std")),
    std: existsSync(lib) && readdirSync(lib).some((file) => file.startsWith("libstd-")),
  };
}

/**
 * Returns the toolchain for wasm: `{ env, sysroot, std, rustflags }`. Threads require a std that is built from source with atomics. The
 * function tries rustup's target and source first, then Debian's packages beside rustup.
 */
export async function wasmToolchain() {
  let route;
  await step("Rust for wasm, with the source of std", async () => {
    const found = await inspect();
    if (found.source && found.std) {
      route = { ...found, std: true, rustflags: [] };
      return "present";
    }
    const added =
      (await ask("rustup", ["target", "add", TARGET])) !== null && (await ask("rustup", ["component", "add", "rust-src"])) !== null;
    if (added) {
      route = { ...found, std: true, rustflags: [] };
      return "added by rustup";
    }
    const lld = join(found.sysroot, "lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    let debian = await inspect("debian");
    if (!debian?.source && existsSync("/usr/bin/apt-get") && existsSync(lld)) {
      await aptInstall("rustc-web", "rust-web-src", "cargo-web");
      await sh("rustup", ["toolchain", "link", "debian", "/usr"]);
      debian = await inspect("debian");
    }
    if (!debian?.source)
      throw new Trouble(
        "rustup could not add the wasm target and the source of std, and no Debian package has them either",
        `${OFFLINE}; by hand: rustup target add ${TARGET} && rustup component add rust-src`,
      );
    route = { ...debian, rustflags: [`-Clinker=${lld}`] };
    return "Debian's, beside rustup's";
  });
  return route;
}

let installing = Promise.resolve();
/** Installs Debian packages as root: directly, or through sudo without a password. One installation runs at a time. */
function aptInstall(...packages) {
  const work = async () => {
    await asRoot(["apt-get", "update", "-q"]);
    await asRoot(["apt-get", "install", "-qy", ...packages]);
  };
  const done = installing.then(work);
  installing = done.catch(() => {});
  return done;
}

async function asRoot(command) {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const [program, ...args] = process.getuid() === 0 ? command : ["sudo", "-n", ...command];
  await sh(program, args, { env, next: `${OFFLINE}; or as root: ${command.join(" ")}` });
}

/** Builds scripts/bindgen, a tool around wasm-bindgen's library, once per version; returns its path. */
export async function bindgen() {
  const folder = join(root, "scripts/bindgen");
  const program = join(
    tools,
    `bindgen-${fingerprint(
      [],
      ["Cargo.toml", "Cargo.lock", "src"].map((part) => join(folder, part)),
    )}`,
  );
  await step("wasm-bindgen", async () => {
    if (existsSync(program)) return "present";
    const target = join(tools, "build");
    const args = ["build", "--release", "--locked", "--manifest-path", join(folder, "Cargo.toml"), "--target-dir", target];
    await sh("cargo", args, { next: OFFLINE });
    // Copies and then renames the program, so that a concurrent process never finds a partial file.
    copyFileSync(join(target, "release/bindgen"), `${program}.${process.pid}`);
    renameSync(`${program}.${process.pid}`, program);
    return `compiled, kept in ${tools}`;
  });
  return program;
}

/** On Linux, ensures a Vulkan driver for the native GPU tests: an installed driver, or else Mesa's software driver. */
export async function vulkan() {
  if (process.platform !== "linux") return; // Metal and DirectX are part of the system
  const folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
  const drivers = () =>
    [process.env.VK_DRIVER_FILES, process.env.VK_ICD_FILENAMES]
      .concat(folders.filter(existsSync).flatMap((folder) => readdirSync(folder)))
      .filter(Boolean);
  const loader = async () =>
    (await ask("ldconfig", ["-p"], { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` } }))?.includes("libvulkan.so.1");
  await step("Vulkan", async () => {
    if (drivers().length && (await loader())) return "present";
    if (existsSync("/usr/bin/apt-get")) {
      await aptInstall("--no-install-recommends", "mesa-vulkan-drivers", "libvulkan1");
    }
    if (!drivers().length || !(await loader()))
      throw new Trouble(
        "there is no Vulkan here, which the GPU's tests run on",
        "install a Vulkan driver; Mesa's lavapipe needs no GPU (mesa-vulkan-drivers on Debian and Fedora, vulkan-swrast on Arch)",
      );
    return "Mesa's, installed";
  });
}

/**
 * Returns the paths of Chromium and its driver: `{ chromium, shell, driver }`. `shell` is Chromium's headless shell, which starts no
 * processes for the browser's own windows. The shell is absent on some systems.
 */
export async function chromium() {
  const places = {
    chromium: [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    shell: ["chromium-headless-shell"],
    driver: [process.env.CHROMEDRIVER, "chromedriver", "/usr/lib/chromium-browser/chromedriver"],
  };
  const find = async () => {
    const found = {};
    for (const [what, names] of Object.entries(places))
      for (const name of names.filter(Boolean))
        found[what] ??= name.includes("/") ? (existsSync(name) ? name : undefined) : ((await ask("which", [name])) ?? undefined);
    return found;
  };
  let found;
  await step("Chromium", async () => {
    found = await find();
    if (found.chromium && found.driver) return found.chromium;
    if (existsSync("/usr/bin/apt-get")) {
      await aptInstall("--no-install-recommends", "chromium", "chromium-driver");
      // Some systems lack this package, and Chromium suffices.
      await aptInstall("--no-install-recommends", "chromium-headless-shell").catch(() => {});
      found = await find();
    }
    if (!found.chromium || !found.driver)
      throw new Trouble(
        "Chromium with its driver is not installed",
        "install both, or set their paths: CHROMIUM=… CHROMEDRIVER=… npm test",
      );
    return `${found.chromium}, installed`;
  });
  return found;
}

/**
 * Returns the browser engines besides Chromium, for `scripts/webdriver.mjs`. Each engine has the paths of its programs, or `{ missing }`
 * with the reason. Engines are optional; tests of a missing engine are skipped and listed.
 */
export async function engines() {
  const folders = ["/usr/lib", "/usr/libexec"].filter(existsSync);
  const mini = () =>
    folders
      .flatMap((folder) => [
        folder,
        ...readdirSync(folder)
          .filter((name) => name.endsWith("-linux-gnu"))
          .map((name) => join(folder, name)),
      ])
      .flatMap((folder) => ["4.1", "4.0"].map((version) => join(folder, `webkit2gtk-${version}/MiniBrowser`)))
      .find(existsSync);
  const first = async (...names) => {
    for (const name of names.filter(Boolean)) {
      const path = name.includes("/") ? existsSync(name) && name : await ask("which", [name]);
      if (path) return path;
    }
  };
  const all = {
    firefox: { packages: ["firefox-esr"], find: async () => ({ firefox: await first(process.env.FIREFOX, "firefox-esr", "firefox") }) },
    webkit: {
      packages: ["webkit2gtk-driver", "xvfb"],
      find: async () => ({
        driver: await first("WebKitWebDriver"),
        browser: await first(process.env.MINIBROWSER, mini()),
        xvfb: await first("Xvfb"),
      }),
    },
  };
  const found = {};
  for (const [name, { packages, find }] of Object.entries(all))
    await step(name, async () => {
      const lacking = async () => Object.entries((found[name] = await find())).flatMap(([what, path]) => (path ? [] : [what]));
      let lacks = await lacking();
      if (!lacks.length) return "present";
      if (existsSync("/usr/bin/apt-get"))
        try {
          await aptInstall("--no-install-recommends", ...packages);
          lacks = await lacking();
        } catch (error) {
          if (!(error instanceof Trouble)) throw error; // reported below
        }
      if (!lacks.length) return "installed";
      found[name] = { missing: `there is no ${lacks.join(", no ")} here; install ${packages.join(" and ")}` };
      return `SKIPPED: ${found[name].missing}`;
    });
  return found;
}

await main(import.meta.url, async () => {
  await rust();
  await wasmToolchain();
  await bindgen();
  await npmPackages();
});
