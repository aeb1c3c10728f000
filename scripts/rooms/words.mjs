// Parts of the scripts that are specific to words.
import { counted } from "../figure.mjs";

/** Training time before the measurement. */
const LEARNED_S = 60;

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
