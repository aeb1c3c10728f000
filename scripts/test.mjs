// `npm test`: sets up what is missing, then runs everything there is, part by part.
import { join } from "node:path";
import { filesUnder, main, options, root, sh, step, Trouble } from "./sh.mjs";
import { build } from "./build.mjs";
import { chromium, npmPackages, rust, vulkan } from "./setup.mjs";
import { wasmTests } from "./wasm-tests.mjs";

const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");

/** Each part gives `{ passed, failed }`, or nothing where it either holds or throws. */
const parts = {
  format: () => sh("cargo", ["fmt", "--all", "--check"], { next: "cargo fmt --all" }),
  lints: () => sh("cargo", ["clippy", "--workspace", "--all-targets", "--features", "run/typescript", "--", "-D", "warnings"]),
  types: async () => {
    await npmPackages();
    await sh("npx", ["--no-install", "tsc", "--noEmit"]);
  },
  native: async () => {
    await vulkan();
    return counted(await sh("cargo", ["test", "--release", "--workspace", "--no-fail-fast", "--features", "run/typescript"]));
  },
  wasm: () => wasmTests(),
  page: () => browserTests("tests/web"),
  parity: () => browserTests("tests/parity"),
};

/** A folder of Node tests that drive the built page, and where they need it the native program. */
async function browserTests(folder) {
  await rust();
  await build();
  await chromium();
  await step("native program", async () => void (await sh("cargo", ["build", "--release"])));
  const files = filesUnder(join(root, folder)).filter((file) => file.endsWith(".test.mjs"));
  const out = await sh("node", ["--test", "--test-concurrency=1", "--test-reporter=spec", ...files], {
    env: { CARGO_TARGET_DIR: target },
    show: true,
  });
  const count = (word) => Number(out.match(new RegExp(`^ℹ ${word} (\\d+)`, "m"))?.[1] ?? 0);
  return { passed: count("pass"), failed: count("fail") };
}

/** What cargo's runner says it ran. */
function counted(output) {
  const sums = [...output.matchAll(/test result: \w+\. (\d+) passed; (\d+) failed/g)];
  const sum = (column) => sums.reduce((total, match) => total + Number(match[column]), 0);
  return { passed: sum(1), failed: sum(2) };
}

await main(import.meta.url, async () => {
  const given = options({ only: `<parts>: some of ${Object.keys(parts).join(",")}` });
  const chosen = given.only?.split(",") ?? Object.keys(parts);
  for (const name of chosen)
    if (!(name in parts)) throw new Trouble(`there is no part called '${name}'`, `choose from ${Object.keys(parts).join(", ")}`);
  const began = performance.now();
  await rust();
  const total = { passed: 0, failed: 0 };
  const rows = [];
  for (const name of chosen) {
    const partBegan = performance.now();
    let result = { passed: 1, failed: 0 };
    try {
      await step(name, async () => {
        const counts = await parts[name]();
        if (typeof counts === "object") result = counts;
        return `${result.passed} passed, ${result.failed} failed`;
      });
    } catch (error) {
      result = { passed: 0, failed: 1 };
      console.log(error instanceof Trouble ? `${error.message}\nNext: ${error.next}` : error);
    }
    rows.push([name, (performance.now() - partBegan) / 1000, result]);
    total.passed += result.passed;
    total.failed += result.failed;
  }
  console.log("");
  for (const [name, seconds, { passed, failed }] of rows)
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${name.padEnd(8)} ${failed ? "FAILED" : `${passed} passed`}`);
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  in all\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  if (total.failed) process.exit(1);
});
