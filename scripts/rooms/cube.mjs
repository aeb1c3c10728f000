// What the scripts do for the cube alone.
import { step } from "../sh.mjs";

/** An agent is shown after so much training. */
const LOOK_MS = 30_000;
const SETTLE_MS = 4000;

const TAUGHT_S = 60;
/** States of each distance that a beam is tried on. */
const TRIED = 20;

/** Lets an agent learn for a minute; then a beam search with its network solves states of every distance. */
export async function bench(browser, server, give) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/cube?seed=1&v=2`);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForFunction((least) => hothouse.progress?.train_s >= least, TAUGHT_S, { timeout: 0 });
  const found = await page.evaluate(async (tried) => {
    hothouse.command({ kind: "pause" });
    const method = hothouse.variant.about.method;
    const count = { states: 0, solved: 0, optimal: 0, ms: 0 };
    for (let distance = 0; distance <= 14; distance++)
      for (let seed = 0; seed < tried; seed++) {
        const { facelets } = await hothouse.ask({ ask: "draw", distance, seed });
        const began = performance.now();
        let view = await hothouse.ask({ ask: "solve", facelets, method });
        while (!view.done) view = await hothouse.ask({ ask: "solve_more" });
        count.ms += performance.now() - began;
        count.states++;
        count.solved += view.solution !== null;
        count.optimal += view.solution?.moves.length === distance;
      }
    return count;
  }, TRIED);
  const name = `cube.beam_256.after_${TAUGHT_S}s`;
  for (const what of ["solved", "optimal"]) give({ name: `${name}.${what}_page`, value: (100 * found[what]) / found.states, unit: "% of states, every distance alike" });
  give({ name: `${name}.solve_ms_page`, value: found.ms / found.states, unit: "ms" });
  await page.close();
}

/** The agent trying by itself, a state solved with methods side by side, and the whole page; and the 3x3x3. */
export async function screenshots({ screens, open, shoot }) {
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"])
      await step(`cube, ${screen}, ${colorScheme}`, async () => {
        const page = await open(viewport, colorScheme, "#/cube");
        await page.waitForTimeout(LOOK_MS);
        await shoot(page, `${screen}-${colorScheme}-cube`);
        await page.getByLabel("By distance").fill("11");
        await page.getByRole("button", { name: "Draw a state" }).click();
        await page.waitForTimeout(SETTLE_MS);
        await page.getByRole("button", { name: "Compare on this state" }).click();
        await page.getByText(/\d of \d methods solved it/).first().waitFor();
        await page.getByRole("button", { name: "Begin with the cube above" }).click();
        await page.getByRole("button", { name: "Solve it" }).first().click();
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${screen}-${colorScheme}-cube-whole`, true);
        await page.goto(page.url().replace(/#.*/, "#/cube?variant=3x3x3&v=2"));
        await page.waitForTimeout(SETTLE_MS);
        await page.getByRole("button", { name: "Scramble", exact: true }).click();
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${screen}-${colorScheme}-cube-3x3x3`);
        await page.close();
      });
}
