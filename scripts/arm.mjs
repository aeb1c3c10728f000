// `npm test -- --only arm`: runs the tests of `math` for aarch64 under an emulator, to test the NEON kernels. Then runs every variant for
// aarch64; the digests must equal those of this machine's own instruction set. The tests require an emulator, a linker and Rust's aarch64
// target, and this script installs none of them. `--digests FILE` writes this machine's digests into a file, for comparison with another
// machine.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digest, everyRun } from "./digests.mjs";
import { counted, program, target } from "./native.mjs";
import { rust } from "./setup.mjs";
import { ask, main, options, sh, step, Trouble } from "./sh.mjs";

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
  if (lacking.length) return { passed: 0, failed: 0, skipped: `NEON was not run, for want of ${lacking.join(" and ")}` };
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
  const native = await program();
  const emulated = ["qemu-aarch64", "-L", LIBRARIES, join(target, TARGET, "release/hothouse")];
  for (const run of await everyRun(native))
    await step(`${run.room}: ${run.variant} on aarch64`, async () => {
      const [neon, here] = [await digest(emulated, run), await digest([native], run)];
      if (here.arithmetic !== "fused")
        throw new Trouble(
          "this processor rounds a multiply-add twice, so its digests cannot equal NEON's",
          "run it on one with AVX2 and FMA",
        );
      const same = neon.weights === here.weights;
      total[same ? "passed" : "failed"] += 1;
      return same ? "equal" : `FAILED: ${JSON.stringify(neon)} is not ${JSON.stringify(here)}`;
    });
  return total;
}

await main(import.meta.url, async () => {
  const { digests: file } = options({ digests: "<file>: where to write this machine's digests" });
  await rust();
  if (!file) throw new Trouble("nothing to do", "npm test -- --only arm, or node scripts/arm.mjs --digests FILE");
  const native = await program();
  const all = {};
  for (const run of await everyRun(native))
    await step(`${run.room}: ${run.variant}`, async () => void (all[`${run.room}/${run.variant}`] = await digest([native], run)));
  writeFileSync(file, `${JSON.stringify(all, null, 1)}\n`);
});
