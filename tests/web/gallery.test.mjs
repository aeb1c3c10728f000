// The gallery of the page: entries, tracks, and the comparison of a run with its entry.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { event, house, part, visit } from "./fixture.mjs";
import { accessible, fits } from "./rooms.mjs";

const here = house();
const files = readdirSync(join(root, "gallery")).filter((name) => name.endsWith(".json"));
const read = (name) => JSON.parse(readFileSync(join(root, "gallery", name), "utf8"));
const linkOf = ({ link, digests, arithmetic }) => {
  const [iteration, weights] = Object.entries(digests).at(-1);
  return `${link}&digest=${iteration}.${weights}.${arithmetic}`;
};
const badge = (page) => page.locator(".claim");

/** Opens the gallery. */
async function open(context) {
  const page = await visit(here, { at: "#/gallery", started: false, context });
  await page.locator(".entry").first().waitFor();
  return page;
}

test("each entry has a picture, a curve and a link to its run", async () => {
  const page = await open();
  const shown = await page.evaluate(async () => {
    const images = [...document.querySelectorAll(".entry img")];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map((image) => image.decode()));
    return [...document.querySelectorAll(".entry")].map((entry) => ({
      title: entry.querySelector("h2").textContent,
      link: entry.querySelector("a").getAttribute("href"),
      width: entry.querySelector("img")?.naturalWidth ?? 0,
      path: entry.querySelector("path").getAttribute("d"),
    }));
  });
  const expected = files.map(read).map((entry) => [entry.title, linkOf(entry)]);
  assert.deepEqual(shown.map(({ title, link }) => [title, link]).toSorted(), expected.toSorted());
  for (const { title, width, path } of shown) assert.ok(width > 100 && /^M.*L/.test(path), `${title}: ${width} px, path ${path}`);
});

test("the tracks rank their entries", async () => {
  const page = await open();
  await page.getByRole("tab", { name: "Tracks" }).click();
  const titles = readdirSync(join(root, "gallery/tracks")).map((name) => read(join("tracks", name)).title);
  const found = await page.locator(".track:has(table) h2, .track:not(:has(table)) h2").allTextContents();
  for (const title of titles) assert.ok(found.includes(title), title);
  const entry = read("life-gates.json");
  const row = page.locator(".track", { hasText: "Life" }).locator("tbody tr").first();
  assert.ok((await row.textContent()).includes(`${entry.test.gates} gates`), await row.textContent());
});

test("the gallery passes axe and fits the screen", async () => {
  for (const options of [{ viewport: { width: 1440, height: 900 } }, { viewport: { width: 390, height: 844 }, colorScheme: "dark" }]) {
    const page = await open(options);
    for (const tab of ["Runs", "Tracks"]) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      await accessible(page, "main");
      await fits(page);
    }
    await page.context().close();
  }
});

test("a click on an entry opens its run, which is compared with the entry", async () => {
  const page = await open();
  const entry = read("cartpole-steps.json");
  await page.locator(".entry a", { hasText: entry.title }).click();
  await badge(page)
    .filter({ hasText: /^Reproduced$/ })
    .waitFor();
  await badge(page).click();
  const dialog = page.getByRole("dialog");
  const text = await dialog.textContent();
  const points = Object.keys(entry.curve.points).length;
  for (const words of [entry.title, "bit for bit", "1 of 1 are equal", `${points} of ${points} points are equal`])
    assert.ok(text.includes(words), `${words}: ${text}`);
  await dialog.getByText("as stated").waitFor();
  await page.keyboard.press("Escape");
  // A new run is no run of the link.
  await page.getByRole("button", { name: "New run" }).click();
  await badge(page).waitFor({ state: "detached" });
});

test("a link with another digest is not reproduced", async () => {
  const page = await visit(here, { at: "#/control?envs=64&rollout_steps=16&seed=5&v=2&digest=16.0123456789abcdef.fused" });
  await badge(page).filter({ hasText: "Not reproduced" }).waitFor();
  await badge(page).click();
  await page
    .getByRole("dialog")
    .getByText(/After 16 iterations the digest is [0-9a-f]{16}, not 0123456789abcdef/)
    .waitFor();
});

test("a link that is refused has no badge, because another run was started", async () => {
  const page = await visit(here, { at: "#/control?variant=None-v0&seed=1&v=2&digest=16.0123456789abcdef.fused" });
  await event(page, "digest", 16);
  assert.equal(await badge(page).count(), 0);
});

const room = {
  iteration_word: "iteration",
  metrics: [{ name: "mean_return" }, { name: "loss" }],
  tests: [],
  counters: [{ name: "env_steps" }],
};
const entry = {
  ...{ arithmetic: "fused", digests: { 12: "aa", 8: "bb" }, end: { iteration: 12 }, solved: { iteration: 12, env_steps: 1200 } },
  curve: { column: "metrics.loss", points: { 3: 0.5, 12: 0.25 } },
};
const at = (iteration) => ({ iteration, counts: [100 * iteration], train_s: 1 });
const metrics = (iteration, loss) => ({ kind: "metrics", progress: at(iteration), values: [1, loss] });
const digest = (iteration, weights, arithmetic = "fused") => ({ kind: "digest", iteration, weights, arithmetic });
const solved = (iteration) => ({ kind: "solved", progress: at(iteration) });
const mark = { kind: "mark" };

/** Cases of a check: events of a run, and the state and the reason after them. */
const CASES = [
  ["equal", [metrics(3, 0.5), digest(8, "bb"), metrics(12, 0.25), digest(12, "aa"), solved(12)], "reproduced", /^$/],
  ["under way", [metrics(3, 0.5), digest(8, "bb")], "checking", /^$/],
  ["another digest", [digest(8, "bc"), digest(12, "aa")], "different", /After 8 iterations the digest is bc, not bb/],
  ["another curve", [metrics(3, 0.6), digest(8, "bb"), digest(12, "aa")], "different", /After 3 iterations the curve has 0.6, not 0.5/],
  ["another solution", [digest(8, "bb"), digest(12, "aa"), solved(9)], "different", /solved after 9 iterations, not 12/],
  ["other arithmetic", [digest(8, "cc", "unfused")], "incomparable", /need fused arithmetic, and this run uses unfused/],
  ["a changed knob", [digest(8, "bb"), mark, digest(12, "cc")], "void", /A knob was changed/],
];

test("a check compares digests, curve and solution", async () => {
  const { Check, digestIn } = await part("gallery/check");
  for (const [name, events, state, reason] of CASES) {
    const check = new Check("#/control?v=2", digest(12, "aa"), entry, room);
    for (const event of events) check.take(event);
    assert.equal(check.state, state, name);
    assert.match(check.reason, reason, name);
  }
  const replayed = new Check("#/control?at=4:lr=0.1&v=2", digest(12, "aa"), undefined, room);
  for (const event of [mark, digest(12, "aa")]) replayed.take(event);
  assert.equal(replayed.state, "reproduced", "a change that the link contains");
  assert.deepEqual(digestIn("#/control?v=2&digest=12.aa.fused"), { iteration: 12, weights: "aa", arithmetic: "fused" });
  assert.equal(digestIn("#/control?v=2&digest=12.<b>.fused"), undefined);
});
