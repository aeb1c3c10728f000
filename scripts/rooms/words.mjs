// Parts of the scripts that are specific to words.
import { counted } from "../figure.mjs";
import { step } from "../sh.mjs";

/** Training time before the measurement. */
const LEARNED_S = 60;
const EARLY_MS = 4000;
const LATE_MS = 45_000;
const SETTLE_MS = 4000;

/** Knobs for the short runs whose digests are compared. */
export const digests = () => ({
  ...{ width: 32, layers: 2, heads: 2, context: 16, batch: 4, micro: 2, steps: 2, warmup: 2 },
  ...{ characters: 20_000, vocab: 300, sample: 8 },
});

/** Measures the training speed of a visible page. Then measures how far the loss is above the entropy floor after a fixed training time. */
export async function bench(browser, server, give) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/words?variant=char&seed=101&v=2`);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForFunction((least) => hothouse.progress?.train_s >= least, LEARNED_S, { timeout: 0 });
  const found = await page.evaluate(async () => {
    const { counts, train_s } = hothouse.progress;
    const { values } = await hothouse.test();
    const of = (name) => values[hothouse.room.tests.findIndex((column) => column.name === name)];
    return { rate: counts[0] / train_s, val_loss: of("val_loss"), above: of("above") };
  });
  give(counted(`words.char.visited_tokens_per_s_page`, found.rate, `tokens/s over ${LEARNED_S} s of one run, drawing all the while`));
  give(counted(`words.char.after_${LEARNED_S}s.val_loss_page`, found.val_loss, "nats a token, of one run"));
  give(counted(`words.char.after_${LEARNED_S}s.above_floor_page`, 100 * found.above, "% above the entropy floor, of one run"));
  await page.close();
}

/** Screenshots of early and late samples, surprise, attention, generated text, the whole page, and a larger model. */
export async function screenshots({ screens, open, shoot }) {
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"])
      await step(`words, ${screen}, ${colorScheme}`, async () => {
        const page = await open(viewport, colorScheme, "#/words");
        const name = `${screen}-${colorScheme}-words`;
        await page.waitForTimeout(EARLY_MS);
        await shoot(page, `${name}-early`);
        await page.waitForTimeout(LATE_MS);
        await shoot(page, name);
        await page.evaluate(() => document.querySelector(".reading").scrollIntoView());
        await page.locator(".reading").getByText("Attention heads", { exact: true }).click();
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${name}-heads`);
        await page.getByRole("button", { name: "Write", exact: true }).click();
        await page.waitForTimeout(SETTLE_MS);
        await page.evaluate(() => document.querySelector(".writing").scrollIntoView());
        await shoot(page, `${name}-writing`);
        await shoot(page, `${name}-whole`, true);
        await page.close();
      });
  const [screen, viewport] = Object.entries(screens)[0];
  await step("words, d256", async () => {
    const page = await open(viewport, "light", "#/words?variant=d256&v=2");
    await page.waitForTimeout(EARLY_MS);
    await shoot(page, `${screen}-words-d256-early`);
    await page.waitForTimeout(LATE_MS);
    await shoot(page, `${screen}-words-d256`);
    await page.close();
  });
}
