// A room that lives in the tests alone (tests/bandit) is shown by the page's own parts: in the module it is one room more, and the
// page has not a line about it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FIRST, wasmWith } from "../../scripts/wasm.mjs";
import { serve } from "../../scripts/serve.mjs";
import { dist, event, house, lab, saved, visit } from "./fixture.mjs";

const here = house();
let server;
before(async () => {
  const module = await wasmWith("bandit");
  const file = new RegExp(`^/wasm/${FIRST}-[^/]+/(.+)$`);
  server = await serve(dist, { instead: (path) => (file.test(path) ? join(module, file.exec(path)[1]) : undefined) });
});
after(() => server?.close());

const open = (at = "#/bandit?seed=3") => visit(here, { at, server });

test("it trains at once, with curves, tables and knobs that follow from its declaration", async () => {
  const page = await open();
  await lab(page, "bandit");
  assert.match(await page.locator("#rooms").innerText(), /Bandit/);
  await event(page, "test", 8);
  for (const label of ["Reward", "Best arm", "Pulls a second", "Baseline", "Payouts", "Learning rate"])
    await page.getByText(label).first().waitFor({ state: "attached" });
  assert.ok((await page.locator("canvas").count()) > 0, "curves are drawn");
  assert.deepEqual(page.said, []);
});

test("a choice changes live and is marked; a text waits for a new run", async () => {
  const page = await open();
  await lab(page, "bandit");
  const marked = event(page, "mark");
  await page.evaluate(() => hothouse.command({ kind: "set_knob", name: "baseline", value: "none" }));
  const mark = await marked;
  assert.equal(mark.from, "mean");
  assert.equal(mark.to, "none");
  const choice = page.locator("select").filter({ has: page.locator('option[value="none"]') }).first();
  assert.equal(await choice.inputValue(), "none");
});

test("what it saves goes on to the bit, and a question is answered", async () => {
  const page = await open();
  await lab(page, "bandit");
  await event(page, "digest", 32);
  const odds = await page.evaluate(() => hothouse.ask({ ask: "policy" }));
  assert.equal(odds.length, 3);
  assert.ok(Math.abs(odds.reduce((sum, p) => sum + p, 0) - 1) < 1e-9);
  const bytes = await saved(page);
  const digests = await page.evaluate(async (bytes) => {
    const next = (from) => new Promise((resolve) => {
      hothouse.onEvent((event) => event.kind === "digest" && event.iteration >= from && resolve(event));
    });
    const first = await next(0);
    hothouse.command({ kind: "restore", bytes: new Uint8Array(bytes) });
    for (;;) {
      const again = await next(0);
      if (again.iteration === first.iteration) return [first.weights, again.weights];
      if (again.iteration > first.iteration) return [first.weights, `passed ${again.iteration}`];
    }
  }, [...bytes]);
  assert.equal(digests[0], digests[1]);
});
