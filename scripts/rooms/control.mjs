// What the scripts do for control alone.
import { revisits } from "../browser.mjs";
import { counted, measured } from "../figure.mjs";
import { step } from "../sh.mjs";

/** Those on which no preset was tuned. */
const SEEDS = [101, 102, 103, 104, 105];
const SOLVE_PATIENCE_MS = 120_000;
/** An environment is shown after so much training. */
const LOOK_MS = 12_000;

/** Knobs with which a variant's run is quick, where digests are compared: in one, numbers are squashed; in one, a trunk is shared. */
export const digests = (variant) => ({
  ...{ envs: 128, rollout_steps: 16, hidden: 32 },
  ...{ "Pendulum-v1": { squash: 1 }, "Acrobot-v1": { shared: 1, tanh: 0 } }[variant],
});

/** Waits until a visitor's run is solved, for one seed after the other, as the native figure times the whole program. */
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
