// Tests that a visitor's runs are kept. A run continues after a visit to another run, and the replacement of a run can be undone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { aheadWhere, event, house, kept, lab, notice, saved, stepped, until, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);
const SMALL = "#/control?envs=64&rollout_steps=16&v=2";

/** Listens for the next run that begins or continues in a variant. Must be called before the action that causes this event. */
const began = (page, variant) => aheadWhere(page, "began", `(event) => event.config.variant === ${JSON.stringify(variant)}`);
const choose = (page, variant) => page.locator(`nav a[href*="variant=${variant}&"]`).click();
/**
 * Pauses the run and waits until its autosave is stored. Before the page opens another run, it waits at most 1.5 s for a save. After this
 * time, the page uses the latest autosave if there is one.
 */
async function still(page, store) {
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await kept(page, store);
}
const undo = (page) => page.locator(".notice").getByRole("button", { name: "Undo" });

test("the run of an environment continues after a return or a reload, and r starts a new run", async () => {
  // Runs train only in single iterations, because training would slow the page.
  const page = await visit(here, { at: SMALL, paused: true });
  await stepped(page);
  const iteration = await stepped(page);
  const other = await began(page, "Acrobot-v1");
  await choose(page, "Acrobot-v1");
  assert.equal((await other()).progress.iteration, 0);
  const second = await stepped(page);
  let back = await began(page, "CartPole-v1");
  await choose(page, "CartPole-v1");
  const first = await back();
  assert.ok(first.progress.iteration >= iteration && first.config.knobs.envs === 64, `back at ${first.progress.iteration}`);
  assert.equal(await page.locator("#ghost").isVisible(), false, "a continued run has no past run");

  await kept(page);
  await page.reload();
  await lab(page);
  assert.ok((await stepped(page)) > iteration);
  back = await began(page, "Acrobot-v1");
  await choose(page, "Acrobot-v1");
  assert.ok((await back()).progress.iteration >= second);
  assert.ok((await stepped(page)) > second);

  back = await began(page, "Acrobot-v1");
  await page.keyboard.press("r");
  assert.equal((await back()).progress.iteration, 0);
  await page.context().close();
});

test("the back button restores the previous run, also while the address is being updated", async () => {
  const page = await replayed(here, { at: SMALL });
  const { iteration } = await page.evaluate(() => hothouse.progress);
  await page.waitForFunction(() => /seed=1/.test(location.hash));
  const other = await began(page, "Acrobot-v1");
  await choose(page, "Acrobot-v1");
  await other();
  await event(page, "metrics", 1);
  await page.waitForFunction(() => /Acrobot-v1&seed=1/.test(location.hash));
  // Delays the update of the address after a change until the visitor has gone back.
  const asked = page.evaluate(
    () =>
      new Promise((asked) => {
        const shared = hothouse.shared.bind(hothouse);
        hothouse.shared = async () => {
          const answer = await shared();
          hothouse.shared = shared;
          asked();
          await new Promise((gone) => addEventListener("popstate", gone, { once: true }));
          return answer;
        };
        hothouse.command({ kind: "set_knob", name: "lr", value: 0.001 });
      }),
  );
  await asked;
  const back = await began(page, "CartPole-v1");
  await page.goBack();
  assert.ok((await back()).progress.iteration >= iteration);
  assert.match(await page.evaluate(() => location.hash), /CartPole-v1&seed=1&envs=64/);
  // Selects another variant and selects the first variant again before the change is complete.
  const again = await began(page, "CartPole-v1");
  await page.evaluate(() => {
    document.querySelector('nav a[href*="variant=Acrobot-v1&"]').click();
    document.querySelector('nav a[href*="variant=CartPole-v1&"]').click();
  });
  assert.ok((await again()).progress.iteration >= iteration);
  assert.equal(await page.evaluate(() => hothouse.variant.id), "CartPole-v1");
  await page.context().close();
});

inAll(
  "the run of an environment continues after a return or a reload, and r starts a new run",
  "runs of all environments continue after a visit to another room",
  async () => {
    const page = await visit(here, { at: SMALL });
    const { iteration } = (await event(page, "metrics", 20)).progress;
    const other = await began(page, "Acrobot-v1");
    await choose(page, "Acrobot-v1");
    await other();
    await event(page, "metrics", 1);
    await page.locator("#rooms a", { hasText: "Backgammon" }).click();
    await lab(page, "backgammon");
    // The visitor returns by the back button, with no wait before.
    await page.goBack();
    await lab(page, "control");
    await event(page, "metrics");
    assert.equal(await page.evaluate(() => hothouse.variant.id), "Acrobot-v1");
    const back = await began(page, "CartPole-v1");
    await choose(page, "CartPole-v1");
    assert.ok((await back()).progress.iteration >= iteration);
    await page.context().close();
  },
);

/** Replaces a run by a new run, a file and a link, and undoes it each time. `ready` prepares the page for the link. */
async function undone(page, ready = async () => {}) {
  const { iteration } = await page.evaluate(() => hothouse.progress);
  const again = async () => {
    const back = await began(page, "CartPole-v1");
    await undo(page).click();
    const { progress, config } = await back();
    assert.ok(progress.iteration >= iteration && config.seed === 1, `back at ${progress.iteration}`);
    assert.equal(await undo(page).count(), 0);
  };
  let fresh = await began(page, "CartPole-v1");
  await page.keyboard.press("r");
  assert.equal((await fresh()).progress.iteration, 0);
  await notice(page, /A new run began. The previous run is saved./);
  const bytes = await saved(page);
  await again();

  fresh = await began(page, "CartPole-v1");
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: "run.safetensors", mimeType: "application/octet-stream", buffer: bytes });
  await fresh();
  await notice(page, /run.safetensors was loaded. The previous run is saved./);
  await again();

  await ready();
  await page.evaluate(() => {
    globalThis.before = hothouse;
    location.hash = "#/control?envs=64&rollout_steps=16&seed=9&v=2";
  });
  await page.waitForFunction(() => globalThis.hothouse && hothouse !== before);
  await notice(page, /Another run was opened. The previous run is saved./);
  assert.match(await page.evaluate(async () => (await hothouse.shared()).address), /seed=9/);
  await page.evaluate(() => (globalThis.before = hothouse));
  await undo(page).click();
  await page.waitForFunction(() => hothouse !== before);
  await until(page, `hothouse.progress?.iteration >= ${iteration}`);
  assert.match(await page.evaluate(async () => (await hothouse.shared()).address), /seed=1&/);
}

test("replacing a run can be undone: by a new run, a file or a link", async () => {
  const page = await replayed(here, { at: SMALL });
  await undone(page);
  await page.context().close();
});

inAll("replacing a run can be undone: by a new run, a file or a link", "replacing a run that trains can be undone", async () => {
  const page = await visit(here, { at: SMALL });
  await event(page, "metrics", 20);
  await undone(page, () => still(page));
  await page.context().close();
});

/** Drops a file on the page, as from the system's file manager. */
const drop = (page, name, bytes) =>
  page.evaluate(
    ([name, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.fromBase64(text)], name));
      for (const kind of ["dragover", "drop"])
        document.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
    },
    [name, bytes.toString("base64")],
  );

inAll(
  "replacing a run can be undone: by a new run, a file or a link",
  "a run dropped in another room opens its own room, and the previous run can be restored",
  async () => {
    const page = await visit(here, { at: SMALL });
    const { iteration } = (await event(page, "metrics", 5)).progress;
    const bytes = await saved(page);
    await page.locator("#rooms a", { hasText: "Backgammon" }).click();
    await lab(page, "backgammon");
    await event(page, "metrics");
    await still(page, "hothouse-backgammon");
    await drop(page, "cart.safetensors", bytes);
    await lab(page, "control");
    assert.ok((await event(page, "metrics")).progress.iteration > iteration);
    await page.waitForFunction(() => /^#\/control/.test(location.hash));
    assert.equal(await page.locator("#rooms [aria-current=page]").textContent(), "Control");
    await undo(page).click();
    await lab(page, "backgammon");
    await page.waitForFunction(() => /^#\/backgammon/.test(location.hash));
    await page.context().close();
  },
);

const table = (page) => page.evaluate(() => hothouse.ask({ ask: "session" }));

inAll(
  "replacing a run can be undone: by a new run, a file or a link",
  "a game continues with another learner, after a new run and after a reload; a new match can be undone",
  async () => {
    const page = await visit(here, { at: "#/backgammon?variant=strong&v=2" });
    await event(page, "metrics");
    await page.getByText("Play the agent", { exact: true }).click();
    await page.getByRole("button", { name: "Roll", exact: true }).click();
    const sat = async () => {
      const session = await table(page);
      return session?.setup.seats[0] === null ? session.setup.seed : undefined;
    };
    await until(page, async () => (await hothouse.ask({ ask: "session" }))?.phase !== "opening");
    const seed = await sat();
    assert.notEqual(seed, undefined);

    const other = await began(page, "published");
    await choose(page, "published");
    await other();
    assert.equal(await sat(), seed);
    const back = await began(page, "strong");
    await choose(page, "strong");
    assert.ok((await back()).progress.iteration > 0);
    assert.equal(await sat(), seed);
    const fresh = await began(page, "strong");
    await page.keyboard.press("r");
    await fresh();
    assert.equal(await sat(), seed);

    await page.getByRole("button", { name: "Watch", exact: true }).click();
    await notice(page, /New match started. Previous match saved./);
    assert.equal(await sat(), undefined);
    const undone = async () => {
      await until(page, async (seed) => (await hothouse.ask({ ask: "session" }))?.setup.seed === seed, seed);
      await page.getByRole("button", { name: "Watch", exact: true }).waitFor();
    };
    await page.locator(".notice", { hasText: "New match" }).getByRole("button", { name: "Undo" }).click();
    await undone();

    const again = async () => {
      await event(page, "metrics", 1);
      await kept(page, "hothouse-backgammon");
      await page.reload();
      await lab(page, "backgammon");
    };
    await again();
    assert.equal(await sat(), seed);
    // A reload also keeps the offer to return to the replaced match.
    await page.getByRole("button", { name: "Watch", exact: true }).click();
    await notice(page, /New match started/);
    await again();
    assert.equal(await sat(), undefined);
    await page.getByRole("button", { name: "Previous match" }).click();
    await undone();
    await page.context().close();
  },
);
