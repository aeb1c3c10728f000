// Parts of the scripts that are specific to logic.
import { revisits } from "../browser.mjs";
import { counted, measured } from "../figure.mjs";

/** Seeds on which no preset was tuned. */
const SEEDS = [101, 102, 103, 104, 105];
const PATIENCE_MS = 120_000;

/** Training of the circuit that the page loads for the lizard. */
export const trained = {
  variant: "lizard",
  set: { population: 1, patience: 100_000 },
  steps: 3780,
  kept: /^(?!.*adam)/,
};

/** Measures the time from the start of loading until the run is solved, for each seed. */
export async function bench(browser, server, give) {
  for (const variant of ["life", "checkerboard"]) {
    const hashes = SEEDS.map((seed) => `#/logic?variant=${variant}&seed=${seed}&v=2`);
    const times = await revisits(browser, server, hashes, "solved", PATIENCE_MS);
    give(measured(`logic.${variant}.solve_s_page`, times, "s from the start of loading, on a warm revisit, over 5 seeds"));
    give(counted(`logic.${variant}.solved_of_5_page`, times.filter(Number.isFinite).length, "seeds"));
  }
}
