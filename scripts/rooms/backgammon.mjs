// Parts of the scripts that are specific to backgammon.
import { counted } from "../figure.mjs";

const TAUGHT_S = 60;

/**
 * Training of the agent that the page loads. `kept` matches the tensors with which the agent plays. The page's file omits earlier copies of
 * the agent.
 */
export const trained = {
  variant: "strong",
  set: { hidden: 16 },
  steps: 819_200,
  kept: /^strong\.weights$/,
  digested: ["strong.weights"],
  dropped: /^frozen\./,
  notes: { frozen: [], table: null },
};

/** Trains an agent for a minute, and reports the points of its next test against the baselines. */
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
