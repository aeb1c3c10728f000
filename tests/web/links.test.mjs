// A link, the address and a command reproduce a run with its live changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, event, house, kept, lab, notice, place, until, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);
const SMALL = "#/control?envs=64&rollout_steps=16&seed=5&v=2";
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

/** Changes a knob live through a command. Returns the iteration of the mark. */
const turn = async (page, name, value) => {
  const marked = await ahead(page, "mark");
  await page.evaluate(([name, value]) => hothouse.command({ kind: "set_knob", name, value }), [name, value]);
  const { progress, to } = await marked();
  assert.equal(to, value);
  return progress.iteration;
};
/** Restores the run from its own save, and returns its live changes. */
const marksOf = (page) =>
  page.evaluate(async () => {
    const began = new Promise((resolve) => hothouse.onEvent((event) => event.kind === "began" && resolve(event)));
    hothouse.command({ kind: "restore", bytes: await hothouse.save() });
    return (await began).marks;
  });
/** Waits until the address matches `pattern`, and returns the address. */
const address = (page, pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source).then(() => page.evaluate(() => location.hash));

test("a link copied after live changes reproduces the run, and the page confirms it", async () => {
  const page = await visit(here, { at: SMALL, context: CLIPBOARD });
  await event(page, "metrics", 3);
  const first = await turn(page, "lr", 0.001);
  const second = await turn(page, "entropy", 0.02);
  const { iteration } = await event(page, "digest", second + 1);
  await place(page, "Share");
  await page.getByRole("button", { name: "Copy link" }).click();
  const contents = "The link contains the settings and the seed, and 2 live changes of knobs, each at its iteration.";
  await page.getByText(new RegExp(`${contents} After [0-9]+ iterations the page checks`)).waitFor();
  const link = await until(page, () => navigator.clipboard.readText());
  assert.ok(!link.includes("share"), `the link names no tab: ${link}`);
  assert.ok(link.includes(`&at=${first}:lr=0.001&at=${second}:entropy=0.02&v=2&digest=`), link);
  assert.ok(Number(/digest=(\d+)/.exec(link)[1]) >= iteration, link);

  await place(page, "Share", "Terminal and Python");
  await page.getByText("The command repeats 2 live changes of knobs, each at its iteration.").waitFor();
  const [command, , python] = await page.locator(".commands .copy code").allTextContents();
  assert.match(command, /^cargo run --release -- train control .*--seed 5.*--set envs=64/);
  assert.ok(command.endsWith(` --at ${first}:lr=0.001 --at ${second}:entropy=0.02`), command);
  assert.equal(python, 'hothouse.Run("control", variant="CartPole-v1", seed=5, knobs={"envs": 64, "rollout_steps": 16})');
  await page.getByText("The Python call does not; a saved run does.").waitFor();
  await page.context().close();

  const other = await visit(here, { at: link.slice(link.indexOf("#")) });
  await notice(other, /This run replays 2 live changes of knobs/);
  await notice(other, /Reproduced: after [0-9]+ iterations the weights are those of the link/);
  const marks = await marksOf(other);
  assert.deepEqual(
    marks.map(({ progress, knob, to }) => [progress.iteration, knob, to]),
    [
      [first, "lr", 0.001],
      [second, "entropy", 0.02],
    ],
  );
  await other.context().close();
});

test("copying a link shows its limits, and a changed setting removes the digest of the address", async () => {
  const at = "#/control?variant=CartPole-v1&seed=5&envs=64&rollout_steps=16&v=2&digest=999999.0123456789abcdef.fused";
  const page = await replayed(here, { at, context: CLIPBOARD });
  await page.evaluate(() => {
    const shared = hothouse.shared.bind(hothouse);
    hothouse.shared = async () => ({ ...(await shared()), limits: ["No digest is known yet.", "Knobs were changed often."] });
  });
  await place(page, "Share");
  await page.getByRole("button", { name: "Copy link" }).click();
  await notice(page, /No digest is known yet\. Knobs were changed often\./);
  assert.match(await address(page, /digest/), /digest=999999/);
  await turn(page, "lr", 0.001);
  await page.waitForFunction(() => /at=/.test(location.hash) && !/digest/.test(location.hash));
  await page.context().close();
});

inAll(
  "copying a link shows its limits, and a changed setting removes the digest of the address",
  "copying a link shows what the link cannot contain",
  async () => {
    const page = await visit(here, { at: SMALL, context: CLIPBOARD });
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    await page.evaluate(() => hothouse.command({ kind: "reset", config: null }));
    await place(page, "Share");
    await page.getByRole("button", { name: "Copy link" }).click();
    await notice(page, /No digest is known yet: one is taken every 16 iterations/);
    // Makes more live changes than a link can contain.
    await page.evaluate(async () => {
      for (let n = 1; n <= 66; n++) {
        const done = new Promise((resolve) => hothouse.onEvent((event) => event.kind === "metrics" && resolve()));
        hothouse.command({ kind: "set_knob", name: "lr", value: 0.001 + n * 1e-5 });
        hothouse.command({ kind: "step" });
        await done;
      }
    });
    await page.getByRole("button", { name: /Copy link|Link copied/ }).click();
    await notice(page, /Knobs were changed 6[0-9] times, more than the 64 changes that can be replayed/);
    await page.context().close();
  },
);

test("the address follows the settings, and a new run changes it without repeating the live changes", async () => {
  const page = await replayed(here, { at: "#/control?seed=5" });
  assert.match(await address(page, /^#\/control\?variant=CartPole-v1&seed=5&v=2$/), /seed=5/);
  const at = await turn(page, "lr", 0.001);
  await address(page, new RegExp(`seed=5&at=${at}:lr=0.001&v=2$`));
  await place(page, "Settings", "New run");
  await page.getByLabel("Seed", { exact: true }).fill("6");
  await page.getByLabel("Seed", { exact: true }).press("Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Start new run" }).click();
  await address(page, /^#\/control\/settings\/knobs\?variant=CartPole-v1&seed=6&lr=0.001&v=2$/);
  await page.context().close();
});

inAll(
  "the address follows the settings, and a new run changes it without repeating the live changes",
  "a reload continues a run with live changes, and a copied address starts the same run",
  async () => {
    // Iterations are long, so that the current iteration is stable.
    const page = await visit(here, { at: "#/control?seed=5" });
    await event(page, "metrics", 3);
    assert.match(await address(page, /^#\/control\?variant=CartPole-v1&seed=5&v=2$/), /seed=5/);
    const at = await turn(page, "lr", 0.001);
    const hash = await address(page, new RegExp(`seed=5&at=${at}:lr=0.001&v=2$`));
    const { iteration } = (await event(page, "metrics", at + 20)).progress;
    await kept(page);
    await page.reload();
    await lab(page);
    assert.ok((await event(page, "metrics")).progress.iteration > iteration);
    assert.equal(await address(page, /at=/), hash);

    const copy = await visit(here, { at: hash });
    // The copied run may repeat the live change before this test listens.
    await event(copy, "metrics", at + 1);
    assert.deepEqual(
      (await marksOf(copy)).map(({ progress }) => progress.iteration),
      [at],
    );
    assert.equal(await address(copy, /at=/), hash);
    // A new run with changed settings changes the address too. It does not repeat the live changes.
    await place(copy, "Settings", "New run");
    await copy.getByLabel("Seed", { exact: true }).fill("6");
    await copy.getByLabel("Seed", { exact: true }).press("Enter");
    await copy.keyboard.press("Escape");
    await copy.getByRole("button", { name: "Start new run" }).click();
    await address(copy, /^#\/control\/settings\/knobs\?variant=CartPole-v1&seed=6&lr=0.001&v=2$/);
    await copy.context().close();
    await page.context().close();
  },
);

inAll(
  "copying a link shows its limits, and a changed setting removes the digest of the address",
  "the digest of a link stays in the address of a run that trains until a setting changes",
  async () => {
    const page = await visit(here, {
      at: `#/control?variant=CartPole-v1&seed=5&envs=64&rollout_steps=16&v=2&digest=999999.0123456789abcdef.fused`,
    });
    await event(page, "metrics");
    assert.match(await address(page, /digest/), /digest=999999/);
    await turn(page, "lr", 0.001);
    await page.waitForFunction(() => /at=/.test(location.hash) && !/digest/.test(location.hash));
    await page.context().close();
  },
);

test("the commands have links to documents, which open in a new tab and are not cached", async () => {
  const page = await replayed(here, { at: SMALL });
  for (const [section, words, address, title] of [
    ["Terminal and Python", "all commands", "docs/cli.html", "Command line"],
    ["Terminal and Python", "the Python package", "docs/python.html", "Python"],
    ["Model", "formats, inputs and outputs", "docs/export.html", "Export of models"],
  ]) {
    await place(page, "Share", section);
    const link = page.getByRole("link", { name: words, exact: true });
    assert.equal(await link.getAttribute("href"), address);
    const response = await fetch(here.server.url + address);
    assert.equal(response.status, 200, address);
    assert.match(response.headers.get("content-type"), /^text\/html/);
    const [opened] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await opened.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    // The content security policy allows the style sheet.
    await opened.waitForFunction(() => getComputedStyle(document.querySelector("table")).borderCollapse === "collapse");
    await opened.close();
  }
  const worker = await fetch(`${here.server.url}sw.js`);
  assert.doesNotMatch(await worker.text(), /"docs\//);
  await page.context().close();
});
