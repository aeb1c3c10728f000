// Parts of the scripts that are specific to control.
import { revisits } from "../browser.mjs";
import { counted, measured } from "../figure.mjs";

/** Seeds on which no preset was tuned. */
const SEEDS = [101, 102, 103, 104, 105];
const SOLVE_PATIENCE_MS = 120_000;

/**
 * Measures the time from the start of loading until the run is solved, for each seed. The native figure also includes the program's start.
 */
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
