// Parts of the scripts that are specific to backgammon.
import { counted } from "../figure.mjs";
import { step } from "../sh.mjs";

const TAUGHT_S = 60;
/** Training time before a screenshot. */
const LOOK_MS = 24_000;
const SETTLE_MS = 3000;

/** Knobs for the short runs whose digests are compared. */
export const digests = (variant) =>
  variant === "strong"
    ? { games: 16, hidden: 16, batch: 128 }
    : { tables: 2, games: 4, batch: 16, evals: 2, round_batches: 12, minibatch: 32, replay: 512 };

/** Trains an agent for a minute and reports its next test games against the baselines. */
export async function bench(browser, server, give) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/backgammon?seed=101&v=2`);
  await page.waitForFunction(() => globalThis.hothouse);
  const test = await page.evaluate(
    (least) =>
      new Promise((resolve) =>
        hothouse.onEvent((event) => {
          if (event.kind !== "test" || event.progress.train_s < least) return;
          resolve(Object.fromEntries(hothouse.room.tests.map(({ name }, k) => [name, event.values[k]])));
        }),
      ),
    TAUGHT_S,
  );
  for (const name of ["random", "linear"])
    for (const what of ["points", "error"])
      give(counted(`backgammon.td.after_${TAUGHT_S}s.${what}_against_${name}_page`, test[`${name}_${what}`], "points/game, of one run"));
  await page.close();
}

/** Screenshots of the board, a game with a hint, and the whole page. */
export async function screenshots({ screens, open, shoot }) {
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"])
      await step(`backgammon, ${screen}, ${colorScheme}`, async () => {
        const page = await open(viewport, colorScheme, "#/backgammon");
        await page.waitForTimeout(LOOK_MS);
        await shoot(page, `${screen}-${colorScheme}-backgammon`);
        // Analyses a position and requests a hint, so that every part of the page has content.
        await page.getByRole("button", { name: "Analyse", exact: true }).click();
        await page.getByText("Play the agent", { exact: true }).click();
        await page.getByRole("button", { name: "Roll", exact: true }).click();
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${screen}-${colorScheme}-backgammon-play`);
        await shoot(page, `${screen}-${colorScheme}-backgammon-whole`, true);
        await page.close();
      });
}
