// What the scripts do for control alone.
import { reached } from "../browser.mjs";
import { step } from "../sh.mjs";

const SEEDS = [1, 2, 3, 4, 5];
const SOLVE_PATIENCE_MS = 120_000;
/** An environment is shown after so much training. */
const LOOK_MS = 12_000;
const SMALL = ["envs=128", "rollout_steps=16", "hidden=32"];

/** Whose digests have to be equal under an emulator: choices, numbers through a lens, bodies that touch. */
export const digests = ["CartPole-v1", "Pendulum-v1", "LunarLander-v3"].map((variant) => ({ variant, steps: 80_000, knobs: SMALL }));

/**
 * Opens the page as a visitor does who has been here before, for one seed after the other, and waits until its run is
 * solved: seconds from the start of loading, as the native figure times the whole program.
 */
export async function bench(browser, server, give) {
  const times = [];
  const context = await browser.newContext();
  const first = await context.newPage();
  await first.addInitScript(reached, "metrics");
  await first.goto(server.url);
  await first.evaluate(() => globalThis.reachedMs);
  await first.close();
  for (const seed of SEEDS) {
    const page = await context.newPage();
    await page.addInitScript(reached, "solved");
    await page.goto(`${server.url}#/control?seed=${seed}&v=1`);
    const solved = page.evaluate(() => globalThis.reachedMs).then((ms) => ms / 1000);
    solved.catch(() => {}); // closed before it was solved
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, SOLVE_PATIENCE_MS, Infinity)));
    times.push(await Promise.race([solved, late]));
    clearTimeout(timer);
    await page.close();
  }
  await context.close();
  times.sort((a, b) => a - b);
  give({ name: "control.ppo.cartpole.solve_s_page", value: times[2], unit: "s" });
  give({ name: "control.ppo.cartpole.solved_of_5_page", value: times.filter(Number.isFinite).length, unit: "seeds" });
}

/** Each environment. */
export async function screenshots({ screens, open, shoot }) {
  const [screen] = Object.values(screens);
  const any = await open(screen, "light", "#/control");
  const environments = await any.evaluate(() => hothouse.room.variants.map(({ id }) => id));
  await any.close();
  for (const [k, id] of environments.entries())
    await step(id, async () => {
      for (const [screen, viewport] of Object.entries(screens)) {
        const page = await open(viewport, (k + (screen === "phone")) % 2 ? "dark" : "light", `#/control?variant=${id}&v=2`);
        // Each layer of the state plane by turns.
        for (let layer = 0; layer < k % 3; layer++) await page.keyboard.press("v");
        await page.waitForTimeout(LOOK_MS);
        await shoot(page, `${screen}-${id}`);
        await page.close();
      }
    });
}
