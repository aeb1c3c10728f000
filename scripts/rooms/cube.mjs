// What the scripts do for the cube alone.
import { step } from "../sh.mjs";

/** An agent is shown after so much training. */
const LOOK_MS = 30_000;
const SETTLE_MS = 4000;

/** What a bench teaches and tries: states of each distance where those are known, and scrambles where not. */
const TAUGHT = {
  "2x2x2": { s: 60, distances: 15, tried: 20 },
  "3x3x3": { s: 300, distances: 0, tried: 200 },
};
export const parts = Object.keys(TAUGHT);

/** Lets an agent learn for some time; then a beam search with its network solves states that it has not been taught. */
export async function bench(browser, server, give, part) {
  for (const [variant, taught] of Object.entries(TAUGHT)) if (!part || part === variant) await teach(browser, server, give, variant, taught);
}

async function teach(browser, server, give, variant, { s, distances, tried }) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/cube?variant=${variant}&seed=1&v=2`);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForFunction((least) => hothouse.progress?.train_s >= least, s, { timeout: 0 });
  // There is one search at a time, and the agent's own tries would take the place of these.
  await page.getByRole("switch", { name: "It tries by itself" }).uncheck({ force: true });
  const found = await page.evaluate(
    async ({ distances, tried }) => {
      hothouse.command({ kind: "pause" });
      const { method } = hothouse.variant.about;
      const questions = [];
      for (let seed = 0; seed < tried; seed++)
        if (distances) for (let distance = 0; distance < distances; distance++) questions.push({ ask: "draw", distance, seed });
        else questions.push({ ask: "scramble", moves: 100, seed });
      const count = { learned: hothouse.progress.counts[0], width: method.width, states: questions.length, solved: 0, optimal: 0, widened: 0, moves: 0, ms: 0, most_ms: 0 };
      for (const question of questions) {
        const { facelets, distance } = await hothouse.ask(question);
        const began = performance.now();
        let view = await hothouse.ask({ ask: "solve", facelets, method });
        while (!view.done) view = await hothouse.ask({ ask: "solve_more" });
        if (view.facelets !== facelets) throw new Error("another search took its place");
        const ms = performance.now() - began;
        count.ms += ms;
        count.most_ms = Math.max(count.most_ms, ms);
        count.widened += view.width > method.width;
        if (!view.solution) continue;
        count.solved++;
        count.moves += view.solution.moves.length;
        count.optimal += view.solution.moves.length === distance;
      }
      return count;
    },
    { distances, tried },
  );
  const figure = (what, value, unit) => give({ name: `cube.${variant}.beam_${found.width}.after_${s}s.${what}_page`, value, unit });
  const percent = (of) => (100 * of) / found.states;
  const states = distances ? `${found.states} states, every distance alike` : `${found.states} scrambles`;
  figure("learned", found.learned / 1e6, "million states");
  figure("solved", percent(found.solved), `% of ${states}`);
  if (distances) figure("optimal", percent(found.optimal), `% of ${states}`);
  else figure("moves", found.moves / found.solved, "quarter turns");
  figure("widened", percent(found.widened), `% of ${states}`);
  figure("solve_ms", found.ms / found.states, "ms");
  figure("most_solve_ms", found.most_ms, "ms");
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
