// Parts of the scripts that are specific to the cube.
import { counted, measured } from "../figure.mjs";

/**
 * Training of the agent that the page loads. The agent plays with the averaged weights, whose tensors `kept` matches. `digested` lists
 * these tensors in the order in which the digest covers them.
 */
export const trained = {
  variant: "2x2x2",
  set: { hidden: "64-32" },
  steps: 393_216_000,
  kept: /^mean\./,
  digested: ["first.table", "first.bias", "hidden.1.weight", "hidden.1.bias", "head.weight", "head.bias"].map((name) => `mean.${name}`),
};

/**
 * Bench of each variant: training seconds (`s`), and the states to solve. If `longest` is above 0, `tried` states are drawn for each
 * distance from 1 to `longest`; otherwise the states are `tried` scrambles.
 */
const TAUGHT = {
  "2x2x2": { s: 60, longest: 14, tried: 20 },
  "3x3x3": { s: 300, longest: 0, tried: 200 },
};
export const parts = Object.keys(TAUGHT);

/** Trains an agent, then measures its beam search on many states. */
export async function bench(browser, server, give, part) {
  for (const [variant, taught] of Object.entries(TAUGHT))
    if (!part || part === variant) await teach(browser, server, give, variant, taught);
}

async function teach(browser, server, give, variant, { s, longest, tried }) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/cube?variant=${variant}&seed=101&v=2`);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForFunction((least) => hothouse.progress?.train_s >= least, s, { timeout: 0 });
  // Only one search runs at a time, and the agent's automatic tries would replace the searches of this bench.
  await page.getByRole("switch", { name: "Auto-play" }).uncheck({ force: true });
  const found = await page.evaluate(
    async ({ longest, tried }) => {
      hothouse.command({ kind: "pause" });
      const { method } = hothouse.variant.about;
      let report = () => {};
      hothouse.onEvent((event) => event.kind === "room" && report(event.event));
      const questions = [];
      for (let seed = 0; seed < tried; seed++)
        if (longest) for (let distance = 1; distance <= longest; distance++) questions.push({ ask: "draw", distance, seed });
        else questions.push({ ask: "scramble", moves: 100, seed });
      const count = {
        learned: hothouse.progress.counts[0],
        width: method.width,
        states: questions.length,
        solved: 0,
        optimal: 0,
        widened: 0,
        moves: [],
        ms: [],
      };
      for (const question of questions) {
        const { facelets, distance } = await hothouse.ask(question);
        const began = performance.now();
        let view = await hothouse.ask({ ask: "solve", facelets, method });
        if (!view.done) view = await new Promise((end) => (report = (now) => now.number === view.number && now.done && end(now)));
        if (view.facelets !== facelets) throw new Error("replaced by another search");
        count.ms.push(performance.now() - began);
        count.widened += view.width > method.width;
        if (!view.solution) continue;
        count.solved++;
        count.moves.push(view.solution.moves.length);
        count.optimal += view.solution.moves.length === distance;
      }
      return count;
    },
    { longest, tried },
  );
  const name = (what) => `cube.${variant}.beam_${found.width}.after_${s}s.${what}_page`;
  const figure = (what, value, unit) => give(counted(name(what), value, unit));
  const percent = (of) => (100 * of) / found.states;
  const states = longest ? `${found.states} states, as many of each distance from 1 to ${longest}` : `${found.states} scrambles`;
  figure("learned", found.learned / 1e6, "million states");
  figure("solved", percent(found.solved), `% of ${states}`);
  if (longest) figure("optimal", percent(found.optimal), `% of ${states}`);
  else give(measured(name("moves"), found.moves, "quarter turns, over those solved"));
  figure("widened", percent(found.widened), `% of ${states}`);
  give(measured(name("solve_ms"), found.ms, `ms, over ${states}`));
  figure("most_solve_ms", Math.max(...found.ms), "ms, the longest of these");
  await page.close();
}
