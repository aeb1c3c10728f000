// `npm test -- --only arm`: runs the tests of `math` for aarch64 under an emulator, to test the NEON kernels. Then trains the golden runs
// for aarch64; their digests must be those of tests/golden/digests.txt. The tests require an emulator, a linker and Rust's aarch64 target,
// and this script installs none of them.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { digest, goldenRuns } from "./digests.mjs";
import { counted, target } from "./native.mjs";
import { ask, sh, step } from "./sh.mjs";

const TARGET = "aarch64-unknown-linux-gnu";
const LIBRARIES = "/usr/aarch64-linux-gnu";

/** Returns the missing tools, each with its installation command. */
async function missing() {
  const sysroot = await ask("rustc", ["--print", "sysroot"]);
  const std = join(sysroot, "lib/rustlib", TARGET, "lib");
  const has = async (command) => (await ask(command, ["--version"])) !== null;
  return [
    [await has("qemu-aarch64"), "qemu-aarch64 (apt-get install qemu-user)"],
    [await has("aarch64-linux-gnu-gcc"), "aarch64-linux-gnu-gcc (apt-get install gcc-aarch64-linux-gnu)"],
    [existsSync(join(LIBRARIES, "lib/libc.so.6")), `${LIBRARIES} (apt-get install libc6-dev-arm64-cross)`],
    [existsSync(std) && readdirSync(std).some((file) => file.startsWith("libstd-")), `Rust's target (rustup target add ${TARGET})`],
  ]
    .filter(([there]) => !there)
    .map(([, what]) => what);
}

/**
 * Runs the part `arm` of `npm test`. Returns `{ passed, failed }`. If the part cannot run, the result also contains the reason as
 * `skipped`.
 */
export async function arm() {
  if (process.arch === "arm64") return { passed: 0, failed: 0, skipped: "this is an ARM machine: its native tests are these" };
  const lacking = await missing();
  if (lacking.length) return { passed: 0, failed: 0, skipped: `NEON was not run, because these are missing: ${lacking.join(" and ")}` };
  const env = {
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: "aarch64-linux-gnu-gcc",
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER: `qemu-aarch64 -L ${LIBRARIES}`,
  };
  let total;
  await step("math's tests on aarch64", async () => {
    total = counted(await sh("cargo", ["test", "--release", "-p", "math", "--tests", "--target", TARGET], { env }));
    return `${total.passed} passed`;
  });
  await step("hothouse for aarch64", async () => {
    await sh("cargo", ["build", "--release", "-p", "cli", "--no-default-features", "--target", TARGET], { env });
  });
  const emulated = ["qemu-aarch64", "-L", LIBRARIES, join(target, TARGET, "release/hothouse")];
  for (const { name, config, weights } of goldenRuns())
    await step(`${name} on aarch64`, async () => {
      const found = await digest(emulated, config);
      const same = found.weights === weights[found.arithmetic];
      total[same ? "passed" : "failed"] += 1;
      return same ? "equal" : `FAILED: ${JSON.stringify(found)} is not ${JSON.stringify(weights)}`;
    });
  return total;
}
