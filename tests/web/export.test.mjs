// Test of the page that plays with an exported policy (examples/cartpole.html).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { launch } from "../../scripts/browser.mjs";
import { target } from "../../scripts/native.mjs";
import { root } from "../../scripts/sh.mjs";
import { serve } from "../../scripts/serve.mjs";

const folder = mkdtempSync(join(tmpdir(), "hothouse-export-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const hothouse = (...args) => execFileSync(join(target, "release/hothouse"), args, { stdio: "pipe" });

test("the example page plays CartPole with an exported policy", async (context) => {
  const [run, model] = ["run.safetensors", "cartpole.js"].map((name) => join(folder, name));
  copyFileSync(join(root, "examples/cartpole.html"), join(folder, "cartpole.html"));
  const [browser, server] = [await launch([], { shell: true }), await serve(folder)];
  context.after(() => Promise.all([browser.close(), server.close()]));
  const page = await browser.newPage();
  const status = (pattern) => page.getByRole("status").filter({ hasText: pattern }).waitFor();
  await page.goto(`${server.url}cartpole.html`);
  await status(/cannot be loaded.*Export it/);
  hothouse("train", "control", "--variant", "CartPole-v1", "--steps", "500000", "--save", run, "--plain");
  hothouse("export", "control", run, "--format", "js", "--out", model);
  assert.ok(statSync(model).size < 16_000, `${statSync(model).size} bytes`);
  await page.reload();
  // Without control, the pole falls within 10 to 30 steps.
  await status(/Longest: \d{3} steps/);
});
