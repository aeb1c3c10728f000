// Control's parts of the scripts.
import { revisits } from "../browser.mjs";
import { counted, measured } from "../figure.mjs";
import { step } from "../sh.mjs";

/** Seeds on which no preset was tuned. */
const SEEDS = [101, 102, 103, 104, 105];
const SOLVE_PATIENCE_MS = 120_000;
/** Training time before a screenshot. */
const LOOK_MS = 12_000;

/** Knobs for short runs, where digests are compared. One variant squashes its actions; one shares the trunk. */
export const digests = (variant) => ({
  ...{ envs: 128, rollout_steps: 16, hidden: 32 },
  ...{ "Pendulum-v1": { squash: 1 }, "Acrobot-v1": { shared: 1, tanh: 0 } }[variant],
});

/** Time from the start of loading to the solved run, for each seed. The native figure is likewise the time of the whole program. */
export async function bench(browser, server, give) {
  const times = await revisits(
    browser,
    server,
    SEEDS.map((seed) => `#/control?seed=${seed}&v=2`),
    "solved",
    SOLVE_PATIENCE_MS,
  );
  give(measured("control.ppo.cartpole.solve_s_page", times, "s from the start of loading, on a warm revisit, over 5 seeds"));
  give(counted("control.ppo.cartpole.solved_of_5_page", times.filter(Number.isFinite).length, "seeds"));
}

/** Screenshots of each environment. */
export async function screenshots({ screens, open, shoot }) {
  const [screen] = Object.values(screens);
  const any = await open(screen, "light", "#/control");
  const environments = await any.evaluate(() => hothouse.room.variants.map(({ id }) => id));
  await any.close();
  for (const [k, id] of environments.entries())
    await step(id, async () => {
      for (const [screen, viewport] of Object.entries(screens)) {
        const page = await open(viewport, (k + (screen === "phone")) % 2 ? "dark" : "light", `#/control?variant=${id}&v=2`);
        // Each layer of the state plane in turn.
        for (let layer = 0; layer < k % 3; layer++) await page.keyboard.press("v");
        await page.waitForTimeout(LOOK_MS);
        await shoot(page, `${screen}-${id}`);
        await page.close();
      }
    });
}
