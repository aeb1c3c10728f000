// Texts of the cube room.

import type { ChartWords } from "../../parts/curves";
import type { Puzzle } from "./protocol";

export const name = (size: number): string => (size === 2 ? "2x2x2" : "3x3x3");

export const title = ({ size }: Puzzle): string => `An agent that learns to solve the ${name(size)}`;

export const charts: Record<string, ChartWords> = {
  solved: {
    title: "Solved",
    digits: 0,
    span: [0, 1],
    labels: { solved: "greedy", solved_plain: "no memory", optimal: "optimal" },
  },
  loss: { about: "error of the network; targets are noisy, so it stays above 0" },
  length: { title: "Solution length", labels: { excess: "excess", length: "moves" } },
  speed: { about: "training states" },
  epsilon: { span: [0, 1] },
  q: { about: "mean Q of the training actions" },
  depth: { about: "longest scramble at the start of an episode, in moves" },
  success: { span: [0, 1] },
};

/**
 * Returns the texts of the charts whose meaning depends on the kind of test. `exact` is true if all distances are known, as for the 2x2x2.
 */
export const chartsOf = ({ exact }: Puzzle): Record<string, ChartWords> => ({
  solved: {
    columns: exact ? undefined : ["solved"],
    about: exact
      ? "share of all 3,674,160 states. Greedy: never takes a move back. No memory: may take it back. Optimal: fewest moves."
      : "share of the fixed test scrambles that a small beam search solves",
    span: [0, 1],
  },
  length: {
    columns: [exact ? "excess" : "length"],
    about: exact ? "mean moves beyond the shortest solution, over solved states" : "mean moves of the found solutions",
  },
});
