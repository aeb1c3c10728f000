// Tests of the pages in examples/embed. The addresses of `npm start` and of reveal.js lead to the built page and to the installed package.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { ALL } from "../../scripts/tiers.mjs";
import { house } from "./fixture.mjs";
import { outer } from "./frames.mjs";
import { replaying } from "./replay.mjs";

const here = house();
before(async () => (here.replay = await replaying()));
after(() => here.replay?.close());
/** Server of the page in the examples. The tier `--all` trains, otherwise a run is replayed. */
const server = () => (ALL ? here.server : here.replay);
const STARTED = "http://127.0.0.1:4173/";
const REVEAL = "https://cdn.jsdelivr.net/npm/reveal.js@6.0.2/";

const example = (name) =>
  readFileSync(join(root, "examples/embed", name), "utf8")
    .replaceAll(STARTED, "PAGE/")
    .replaceAll(REVEAL, "/reveal/");

/** Runs in the page: its element reports a solution, as the run of the tier `--all` does. */
const solve = () =>
  document.querySelector("#pole").dispatchEvent(new CustomEvent("solved", { detail: { trainSeconds: 3.25, goal: 475, iteration: 40 } }));

test("the blog post shows a run with its steps and its result", async () => {
  const page = await outer(here, example("blog.html"), { server: server() });
  await page.next("progress");
  await page.waitForFunction(() => document.querySelector("#steps").textContent !== "0");
  if (!ALL) await page.evaluate(solve);
  await page.next("solved");
  assert.match(await page.locator("#result").textContent(), /^Solved after \d+\.\d s of training\.$/);
  assert.ok((await page.next("progress", ({ counts }) => counts.env_steps > 0)).metrics.mean_return > 0);
  assert.deepEqual(page.said, []);
  await page.close();
});

test("a run of the slides starts with its slide and pauses when the slide is left", async () => {
  const files = ["dist/reveal.css", "dist/theme/white.css", "dist/reveal.mjs"];
  const extra = Object.fromEntries(files.map((name) => [`/reveal/${name}`, readFileSync(join(root, "node_modules/reveal.js", name))]));
  const page = await outer(here, example("slides.html"), { extra, server: server() });
  await page.waitForFunction(() => document.querySelector(".reveal.ready"));
  assert.equal(await page.evaluate(() => noted.length), 0, "no run trains behind the first slide");
  await page.keyboard.press("ArrowRight");
  assert.equal((await page.next("began")).room, "control");
  const frame = await page.frame();
  await frame.getByRole("button", { name: "Pause" }).waitFor();
  await page.keyboard.press("ArrowRight");
  assert.equal((await page.next("began", ({ room }) => room === "cube")).room, "cube");
  assert.equal(await frame.evaluate(() => document.querySelector(".play").textContent), "Play");
  await page.close();
});
