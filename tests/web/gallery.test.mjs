// The gallery of the page: entries, tracks, and the comparison of a run with its entry.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import { event, house, part, script, visit } from "./fixture.mjs";
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

test("each entry has its picture, its curve, a link to its run and a command", async () => {
  const page = await open();
  const shown = await page.evaluate(async () => {
    const images = [...document.querySelectorAll(".entry img")];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map((image) => image.decode()));
    return [...document.querySelectorAll(".entry")].map((entry) => ({
      title: entry.querySelector("h2").textContent,
      link: entry.querySelector("a").getAttribute("href"),
      hasPicture: (entry.querySelector("img")?.naturalWidth ?? 0) > 100,
      hasCurve: /^M.*L/.test(entry.querySelector("path")?.getAttribute("d")),
      command: entry.querySelector("details code").textContent,
    }));
  });
  const expected = files.map((file) => {
    const entry = read(file);
    const hasPicture = existsSync(join(root, "gallery/pictures", file.replace(".json", "-light.jpg")));
    const hasCurve = Object.keys(entry.curve.points).length > 1;
    return { title: entry.title, link: linkOf(entry), hasPicture, hasCurve, command: `hothouse verify gallery/${file}` };
  });
  const order = (a, b) => (a.command < b.command ? -1 : 1);
  assert.deepEqual(shown.toSorted(order), expected.toSorted(order));
});

/** Returns the titles of the entries that lead a track. Entries with equal scores lead together. */
function leaders(id, { score, largest }) {
  const path = score.split(".");
  const entries = files.map(read).filter((entry) => entry.track === id);
  const scores = entries.map((entry) => path.reduce((at, name) => at[name], entry));
  const best = largest ? Math.max(...scores) : Math.min(...scores);
  return entries.filter((_, k) => scores[k] === best).map(({ title }) => title);
}

test("the tracks rank their entries", async () => {
  const page = await open();
  await page.getByRole("tab", { name: "Tracks" }).click();
  const sections = await page
    .locator(".track tbody")
    .evaluateAll((all) => all.map((one) => [one.querySelector("th p").textContent, one.querySelector("a")?.textContent]));
  assert.equal(await page.locator(".track table").count(), 1, "the tracks are one list");
  const first = Object.fromEntries(sections);
  for (const file of readdirSync(join(root, "gallery/tracks"))) {
    const track = read(join("tracks", file));
    assert.ok(track.title in first, track.title);
    const expected = leaders(file.replace(".json", ""), track);
    assert.ok(expected.length ? expected.includes(first[track.title]) : !first[track.title], `${track.title}: ${first[track.title]}`);
  }
});

test("the gallery passes axe and fits the screen", async () => {
  const screens = [{ viewport: { width: 390, height: 844 }, colorScheme: "dark" }, { viewport: { width: 1440, height: 900 } }];
  for (const options of ALL ? screens : screens.slice(0, 1)) {
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
  const groups = await dialog.locator("dd", { hasText: "as stated" }).allTextContents();
  assert.deepEqual(groups, ["as stated", "as stated", "after 49.2k steps, as stated"]);
  await page.keyboard.press("Escape");
  // A new run does not belong to the link, so its badge disappears.
  await page.getByRole("button", { name: "New run" }).click();
  await badge(page).waitFor({ state: "detached" });
});

inAll("a check compares digests, curve, end, test and solution", "a link with another digest is not reproduced", async () => {
  const page = await visit(here, { at: "#/control?envs=64&rollout_steps=16&seed=5&v=2&digest=16.0123456789abcdef.fused" });
  await badge(page).filter({ hasText: "Not reproduced" }).waitFor();
  await badge(page).click();
  await page
    .getByRole("dialog")
    .getByText(/After 16 iterations the digest is [0-9a-f]{16}, not 0123456789abcdef/)
    .waitFor();
});

inAll(
  "a click on an entry opens its run, which is compared with the entry",
  "a link that is refused has no badge, because another run was started",
  async () => {
    const page = await visit(here, { at: "#/control?variant=None-v0&seed=1&v=2&digest=16.0123456789abcdef.fused" });
    await event(page, "digest", 16);
    assert.equal(await badge(page).count(), 0);
  },
);

const room = {
  iteration_word: "iteration",
  metrics: [{ name: "mean_return" }, { name: "loss" }],
  tests: [{ name: "points" }, { name: "length" }],
  counters: [{ name: "env_steps" }],
};
/** A digest of 16 digits. */
const hash = (digits) => digits.repeat(8);
/** The file of a valid entry without a track. */
const FILE = {
  ...{ track: "", title: "A run", author: "Someone", text: "It learns.", link: "#/control?seed=1&v=2" },
  ...{ arithmetic: "fused", digests: { 12: hash("aa"), 8: hash("bb") }, cpu_seconds: 1, chip: "A chip", threads: 2 },
  curve: { column: "metrics.loss", points: { 3: 0.5, 12: 0.25 } },
  ...{ end: { iteration: 12, env_steps: 1200 }, solved: { iteration: 12, env_steps: 1200 }, test: { points: 7, length: null } },
};
const entry = { ...FILE, id: "some" };
const unsolved = { ...entry, solved: null };
const tested = { ...entry, curve: { column: "test.points", points: { 12: 7 } } };

const at = (iteration) => ({ iteration, counts: [100 * iteration], train_s: 1 });
const metrics = (iteration, loss) => ({ kind: "metrics", progress: at(iteration), values: [1, loss] });
const tests = (iteration, points) => ({ kind: "test", progress: at(iteration), values: [points, null] });
const digest = (iteration, digits, arithmetic = "fused") => ({ kind: "digest", iteration, weights: hash(digits), arithmetic });
const solved = (iteration) => ({ kind: "solved", progress: at(iteration) });
const mark = { kind: "mark" };
const whole = [metrics(3, 0.5), digest(8, "bb"), metrics(12, 0.25), tests(12, 7), digest(12, "aa"), solved(12)];
const without = (kind) => whole.filter((event) => event.kind !== kind);
const next = metrics(13, 1);

/** Cases of a check: name, events of a run, state and reason after these events, and the stated entry (`entry` by default). */
const CASES = [
  ["equal", whole, "reproduced", /^$/],
  ["rows before other events", [...without("solved"), next, solved(12)], "reproduced", /^$/],
  ["under way", [metrics(3, 0.5), digest(8, "bb")], "checking", /^$/],
  ["before the confirmation", without("solved"), "checking", /^$/],
  ["before the test", without("test"), "checking", /^$/],
  ["no test", [...without("test"), next], "partial", /It did not see test, which hothouse verify compares/],
  ["no point of the curve", [...whole.slice(1), next], "partial", /did not see points of the curve,/],
  ["no solution", [...without("solved"), next], "different", /The entry states a solution, and the run is not solved/],
  ["another digest", [digest(8, "bc"), digest(12, "aa")], "different", /After 8 iterations the digest is (bc){8}, not (bb){8}/],
  ["another curve", [metrics(3, 0.6), digest(8, "bb"), digest(12, "aa")], "different", /After 3 iterations the curve has 0.6, not 0.5/],
  ["a curve of tests", whole, "reproduced", /^$/, tested],
  ["another curve of tests", [tests(12, 8)], "different", /After 12 iterations the curve has 8, not 7/, tested],
  ["a false test", [tests(12, 8)], "different", /After 12 iterations test.points is 8, not 7/],
  ["a false name of the test", whole, "different", /test.wins is unknown, not 1/, { ...entry, test: { ...entry.test, wins: 1 } }],
  ["a false end", whole, "different", /end.env_steps is 1200, not 9/, { ...entry, end: { iteration: 12, env_steps: 9 } }],
  ["another solution", [digest(8, "bb"), solved(9)], "different", /After 9 iterations solved.iteration is 9, not 12/],
  ["a false counter", whole, "different", /solved.env_steps is 1200, not 9/, { ...entry, solved: { iteration: 12, env_steps: 9 } }],
  ["unsolved", [...without("solved"), next], "reproduced", /^$/, unsolved],
  ["unsolved, before the next iteration", without("solved"), "checking", /^$/, unsolved],
  ["unsolved, solved later", [...without("solved"), next, solved(16)], "reproduced", /^$/, unsolved],
  ["unsolved, the last test reaches the goal", [...without("solved"), next, solved(12)], "reproduced", /^$/, unsolved],
  ["no stated solution", [...without("solved"), solved(9)], "different", /solved after 9 .*states no solution/, unsolved],
  ["other arithmetic", [digest(8, "cc", "unfused")], "incomparable", /need fused arithmetic, and this run uses unfused/],
  ["a changed knob", [digest(8, "bb"), mark, digest(12, "cc")], "void", /A knob was changed/],
];

test("a check compares digests, curve, end, test and solution", async () => {
  const { Check, digestIn } = await part("gallery/check");
  const checked = (link, entry, events) => {
    const check = new Check(link, digest(12, "aa"), entry, room);
    for (const event of events) check.take(event);
    check.settle();
    return check;
  };
  for (const [name, events, state, reason, stated = entry] of CASES) {
    const check = checked("#/control?v=2", stated, events);
    assert.equal(check.state, state, `${name}: ${check.reason}`);
    assert.match(check.reason, reason, name);
  }
  const replayed = checked("#/control?at=4:lr=0.1&v=2", undefined, [mark, digest(12, "aa")]);
  assert.equal(replayed.state, "reproduced", "a change that the link contains");
  assert.deepEqual(digestIn("#/control?v=2&digest=12.aa.fused"), { iteration: 12, weights: "aa", arithmetic: "fused" });
  assert.equal(digestIn("#/control?v=2&digest=12.<b>.fused"), undefined);
});

/** Malformed files, each with a part of the expected message. A field with the value `undefined` is removed from the entry. */
const MALFORMED = [
  ["not json", /it is no JSON object/],
  [[], /it is no JSON object/],
  [{ ...FILE, digests: {} }, /its digests is missing or malformed/],
  [{ ...FILE, digests: { 12: "<b>" } }, /its digests/],
  [{ ...FILE, digests: { "012": hash("aa") } }, /its digests/],
  [{ ...FILE, curve: undefined }, /its curve/],
  [{ ...FILE, curve: { column: "metrics.loss", points: { 3: "high" } } }, /its curve/],
  [{ ...FILE, curve: { ...FILE.curve, more: 1 } }, /its curve/],
  [{ ...FILE, end: undefined }, /its end/],
  [{ ...FILE, solved: undefined }, /its solved is missing/],
  [{ ...FILE, cpu_seconds: 0 }, /its cpu_seconds/],
  [{ ...FILE, cpu_seconds: -1 }, /its cpu_seconds/],
  [{ ...FILE, threads: 0 }, /its threads/],
  [{ ...FILE, threads: 1.5 }, /its threads/],
  [{ ...FILE, chip: "" }, /its chip/],
  [{ ...FILE, more: 1 }, /the unknown key more/],
  [JSON.stringify(FILE).replace('"threads":2', '"threads":2,"threads":2'), /its key threads occurs twice/],
  [JSON.stringify(FILE).replace('"points":7', '"\\u0070oints":8,"points":7'), /its key points occurs twice/],
  [{ ...FILE, test: { points: "many" } }, /its test/],
  [{ ...FILE, title: "" }, /its title/],
  [{ ...FILE, author: 1 }, /its author/],
  [{ ...FILE, link: "javascript:alert(1)//" }, /its link/],
  [{ ...FILE, link: "https://example.org/#/control" }, /its link/],
];

test("only values that a check recomputes rank entries", async () => {
  const { scoreOf } = await part("gallery/entry");
  const scores = ["end.env_steps", "solved.iteration", "test.points", "test.length", "test.wins", "cpu_seconds", "threads", "curve.column"];
  assert.deepEqual(
    scores.map((score) => scoreOf(entry, score)),
    [1200, 12, 7, undefined, undefined, undefined, undefined, undefined],
  );
  assert.equal(scoreOf(unsolved, "solved.iteration"), undefined);
});

test("a malformed entry is left out, and a message names its file", async () => {
  const { readEntries } = await part("gallery/entry");
  const good = { "../../gallery/good.json": JSON.stringify(FILE) };
  for (const [file, why] of MALFORMED) {
    const text = typeof file === "string" ? file : JSON.stringify(file);
    const { entries, faults } = readEntries({ "../../gallery/bad.json": text, ...good });
    assert.deepEqual(entries, [{ ...FILE, id: "good" }], String(why));
    assert.equal(faults.length, 1, String(why));
    assert.match(faults[0], /^gallery\/bad\.json is not shown, because /);
    assert.match(faults[0], why);
  }
  assert.match(readEntries({ "gallery/a; b.json": JSON.stringify(FILE) }).faults[0], /its name has other characters/);
});

test("a card shows texts as text, and an entry without track, picture and curve", async () => {
  const page = await here.browser.newPage();
  await page.setContent("<main></main>");
  await page.evaluate(await script("gallery/card"));
  const text = "<img src=x onerror=alert(1)>";
  const bare = { ...entry, title: text, author: text, text, curve: { column: "", points: {} } };
  const shown = await page.evaluate((bare) => {
    const card = part.card(bare, undefined, () => undefined);
    document.querySelector("main").append(card);
    const words = [...card.querySelectorAll("h2, p")].map(({ textContent }) => textContent);
    return { words, images: card.querySelectorAll("img, svg").length, blank: card.querySelector(".entry-blank").textContent };
  }, bare);
  const byline = `by ${text}, 1 s of processor time`;
  assert.deepEqual(shown, { words: [text, text, byline], images: 0, blank: "No picture" });
  await page.close();
});
