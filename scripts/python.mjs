// `npm test -- --only python`: tests the Python package in a separate environment. The package consists of its Python sources and the
// workspace's native library, so only the package's own crate is compiled. If Python, its `venv` module or the network is missing, `npm
// test` skips this part and reports the reason.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { program, target } from "./native.mjs";
import { ask, fingerprint, root, sh, step } from "./sh.mjs";
import { ALL } from "./tiers.mjs";
import { record } from "./times.mjs";

/** Packages that the tests require, with versions if the tests depend on them. */
const NEEDS = ["numpy>=1.24", "gymnasium[classic-control]==1.4.0", "pytest>=8", "pandas", "pyarrow", "tqdm", "matplotlib", "pillow>=9.2"];
/** Packages that some tests need and that cannot be installed on every machine. */
const WANTS = ["box2d", "ray[tune]>=2.40", "onnxruntime>=1.17"];
/** Package that requires PyTorch, whose Linux build takes 5.5 GB with its GPU libraries. Only the part `learners` installs it. */
const LARGE = "stable-baselines3";
const AT_LEAST = [3, 10];

const TESTS = join(root, "tests/python");
const CLUSTER = "test_ray.py";
const home = join(target, "python-tests");
const windows = process.platform === "win32";
export const python = join(home, windows ? "Scripts/python.exe" : "bin/python");
const STAMP = join(home, "ready.json");
const LIBRARY = { win32: "hothouse_native.dll", darwin: "libhothouse_native.dylib" }[process.platform] ?? "libhothouse_native.so";

/**
 * Runs the part `python` of `npm test`. Returns `{ passed, failed, skips }`. If the part cannot run, `skipped` contains the reason and the
 * next step. The tests of Ray run in a separate process, because Ray leaves threads and signal handlers behind.
 */
export const pythonTests = () => pytests(environment(), [[TESTS, `--ignore=${join(TESTS, CLUSTER)}`], [join(TESTS, CLUSTER)]]);

/** Runs the tests with the learners of other projects, one of which needs the large package. */
export const learnerTests = () => pytests(make([LARGE]), [[join(TESTS, "test_learn.py")]]);

/** Time limit of one run of pytest. A run takes some minutes. */
const PATIENCE_MS = 1_200_000;

/** Waits for the environment, and runs pytest once for each list of arguments in `runs`. */
async function pytests(making, runs) {
  const lacking = await making;
  if (lacking) return { passed: 0, failed: 0, skipped: lacking };
  const hothouse = await program();
  const stage = join(home, "stage");
  await step("Python's library", () => void assemble(stage));
  const env = { PYTHONPATH: stage, HOTHOUSE: hothouse, MPLBACKEND: "Agg", XDG_CACHE_HOME: join(home, "cache") };
  const total = { passed: 0, failed: 0, skips: [] };
  const report = join(home, "report.xml");
  const tier = ALL ? [] : ["-m", "not all"];
  for (const files of runs) {
    const out = await sh(python, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", `--junitxml=${report}`, ...tier, ...files], {
      env,
      limitMs: PATIENCE_MS,
    }).catch((trouble) => {
      if (trouble.output === undefined) throw trouble;
      return trouble.output;
    });
    for (const [, file, name, seconds] of timesIn(report)) record("test", `${file}: ${name}`, Number(seconds));
    const count = (word) => Number(out.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
    total.passed += count("passed");
    // One line can count several skipped tests: `SKIPPED [2] tests/python/test_envs.py:92: why`.
    for (const [, times, where] of out.matchAll(/^SKIPPED \[(\d+)\] (.+)$/gm)) total.skips.push(...Array(Number(times)).fill(where));
    total.failed += count("failed") + count("error") || (count("passed") || count("skipped") ? 0 : 1);
  }
  return total;
}

/** Returns the tests in a report of pytest as `[, file, name, seconds]`. */
const timesIn = (report) =>
  existsSync(report) ? readFileSync(report, "utf8").matchAll(/<testcase classname="([^"]*)" name="([^"]*)" time="([\d.]+)"/g) : [];

let made;
/**
 * Creates the environment on the first call and returns the same promise to later callers. The promise gives a message if something is
 * missing, otherwise undefined. Network and disk take most of the time.
 */
export const environment = () => (made ??= make());

/** Creates the environment. Also tries to install the packages in `more`. Returns a message if Python or a required package is missing. */
async function make(more = []) {
  let lacking;
  await step("Python and what its tests need", async () => {
    const version = (await ask("python3", ["-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]))
      ?.split(".")
      .map(Number);
    if (!version || version[0] < AT_LEAST[0] || (version[0] === AT_LEAST[0] && version[1] < AT_LEAST[1])) {
      lacking = `there is no Python ${AT_LEAST.join(".")} with venv here; install it (apt-get install python3-venv, or python.org)`;
      return "missing";
    }
    const install = async (packages) => (await ask(python, ["-m", "pip", "install", "-q", ...packages])) !== null;
    const needs = fingerprint([...NEEDS, version.join(".")]);
    let { has, needs: had } = installed();
    if (had !== needs) {
      has = [];
      rmSync(home, { recursive: true, force: true });
      if ((await ask("python3", ["-m", "venv", home])) === null || !(await install(NEEDS))) {
        lacking = "pip could not install what Python's tests need; connect to the network and run the same command again";
        return "missing";
      }
    }
    const wants = [...WANTS, ...more].filter((want) => !has.includes(want));
    for (const want of wants) if (await install([want])) has.push(want);
    writeFileSync(STAMP, JSON.stringify({ needs, has }));
    return had === needs && !wants.length ? "present" : "installed";
  });
  return lacking;
}

/**
 * Returns the record of the environment: a hash of its required packages and Python version (`needs`), and its optional packages (`has`).
 */
function installed() {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return { has: [] }; // no record, or one of an older format
  }
}

/** Assembles the package in a folder as an installer would, with the latest native library. */
export function assemble(stage) {
  const sources = join(root, "crates/python/python/hothouse");
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  cpSync(sources, join(stage, "hothouse"), { recursive: true, filter: (path) => !/__pycache__|\.(so|pyd)$/.test(path) });
  copyFileSync(join(target, "release", LIBRARY), join(stage, `hothouse/_native.${windows ? "pyd" : "abi3.so"}`));
}
