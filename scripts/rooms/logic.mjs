// Parts of the scripts that are specific to logic.
import { revisits } from "../browser.mjs";
import { counted, measured } from "../figure.mjs";
import { step } from "../sh.mjs";

/** Seeds on which no preset was tuned. */
const SEEDS = [101, 102, 103, 104, 105];
const PATIENCE_MS = 120_000;
/** Training time before the early screenshot, when most gates have not settled yet. */
const EARLY_MS = 4000;
/** Further training time before the next screenshot, when many gates have settled. */
const LATE_MS = 40_000;
const SETTLE_MS = 3000;

/** Knobs for the short runs whose digests are compared. */
export const digests = (variant) =>
  ["life", "rule"].includes(variant) ? { population: 2, batch: 2, updates: 2 } : { population: 2, batch: 1, updates: 1, steps: 6 };

/** Measures the time from the start of loading until the run is solved, for each seed. */
export async function bench(browser, server, give) {
  for (const variant of ["life", "checkerboard"]) {
    const hashes = SEEDS.map((seed) => `#/logic?variant=${variant}&seed=${seed}&v=2`);
    const times = await revisits(browser, server, hashes, "solved", PATIENCE_MS);
    give(measured(`logic.${variant}.solve_s_page`, times, "s from the start of loading, on a warm revisit, over 5 seeds"));
    give(counted(`logic.${variant}.solved_of_5_page`, times.filter(Number.isFinite).length, "seeds"));
  }
}

/** Screenshots: the checkerboard early and late, Life on a big grid, and two experiments (`lizard` has colours, `g` the most gates). */
export async function screenshots({ screens, open, shoot }) {
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"])
      await step(`logic, ${screen}, ${colorScheme}`, async () => {
        const page = await open(viewport, colorScheme, "#/logic");
        const name = `${screen}-${colorScheme}-logic`;
        const see = (part) => page.evaluate((part) => document.querySelector(part).scrollIntoView(), part);
        await page.waitForTimeout(EARLY_MS);
        await shoot(page, `${name}-early`);
        await page.waitForTimeout(LATE_MS);
        await shoot(page, name);
        await see(".circuit");
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${name}-circuit`);
        await shoot(page, `${name}-whole`, true);
        await page.goto(page.url().replace(/#.*/, "#/logic?variant=life&v=2"));
        await page.waitForTimeout(LATE_MS);
        await see(".circuit");
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${name}-life-circuit`);
        await page.getByRole("button", { name: "Run the circuit" }).click();
        await see(".big");
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${name}-life-big`);
        await page.close();
      });
  const [screen, viewport] = Object.entries(screens)[0];
  for (const variant of ["lizard", "g"])
    await step(`logic, ${variant}`, async () => {
      const page = await open(viewport, "light", `#/logic?variant=${variant}&v=2`);
      await page.waitForTimeout(LATE_MS);
      await shoot(page, `${screen}-logic-${variant}`);
      await page.close();
    });
}
