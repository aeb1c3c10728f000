// Scrambles: presets that the visitor chooses from, and random states. If a preset has a number of turns, the page draws its moves. The
// worker draws random states. The worker returns each state with its distance.

import type { CubeClient } from "./client";
import { lengthWords, type Metric } from "./notation";
import type { Puzzle, Scrambled } from "./protocol";
import { solved } from "./stickers";

/** Number of states of the 2x2x2 at each distance from solved, by metric. */
const STATES: Record<Metric, number[]> = {
  quarter: [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276],
  half: [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644],
};
/** Maximum distance between the solved cube and a state of the 3x3x3, in quarter turns. */
const DEEPEST = 26;
/** Numbers of turns of the presets, by size of the cube. `USUAL` is the default preset. */
const TURNS = { 2: [3, 6, 11, 14], 3: [3, 6, 11, 14, 25] };
const USUAL = { 2: "11", 3: "25" };
/** Moves to the state of the 3x3x3 in which all edges are flipped. In half turns, no state is farther from solved. */
const SUPERFLIP = "U R2 F B R B2 R U2 L B2 R U' D' R2 F R' L B2 U2 F2".split(" ");
/** Faces that a scramble turns, by axis. On the 2x2x2 the corner at the back, bottom left stays in place. */
const AXES = { 2: ["U", "R", "F"], 3: ["UD", "RL", "FB"] };
const ENDS: Record<Metric, string[]> = { half: ["", "2", "'"], quarter: ["", "'"] };

export const randomSeed = (): number => Math.floor(Math.random() * 2 ** 32);
const below = (n: number): number => Math.floor(n * Math.random());

export const statesAt = (metric: Metric): number[] => STATES[metric];

/** Returns the greatest distance of a state from solved. For the 3x3x3, the distance is always in quarter turns. */
export const farthest = ({ exact }: Puzzle, metric: Metric): number => (exact ? STATES[metric].length - 1 : DEEPEST);

/** Returns random moves. Successive moves turn different axes, so that no move cancels or extends another. */
export function scramble(size: number, turns: number, notation: Metric): string[] {
  const moves: string[] = [];
  let last: string | undefined;
  while (moves.length < turns) {
    const axes = AXES[size as 2 | 3].filter((axis) => axis !== last);
    last = axes[below(axes.length)]!;
    moves.push(last[below(last.length)]! + ENDS[notation][below(ENDS[notation].length)]!);
  }
  return moves;
}

/** Draws a distance with the probability that a uniformly random state has this distance. */
function drawnDistance(metric: Metric): number {
  const counts = STATES[metric];
  let rank = below(counts.reduce((sum, count) => sum + count, 0));
  return counts.findIndex((count) => (rank -= count) < 0);
}

/**
 * A preset: its name for the visitor, and a function that requests its state. `by` is true if the preset is described by its number of
 * turns.
 */
export type Preset = { id: string; words: string; by: boolean; draw(client: CubeClient): Promise<Scrambled> };

const made = (client: CubeClient, size: number, moves: string[]): Promise<Scrambled> =>
  client.ask({ ask: "turn", facelets: solved(size), moves: moves.join(" ") });

/** Returns the preset of a random state at a distance. */
export const atDistance = (distance: number): Preset => ({
  id: "distance",
  words: "Random position",
  by: false,
  draw: (client) => client.ask({ ask: "draw", distance, seed: randomSeed() }),
});

/** Returns the presets of a puzzle. `notation` is the visitor's notation, and `metric` is the metric of the run. */
export function presets(puzzle: Puzzle, notation: Metric, metric: Metric): Preset[] {
  const { size, exact } = puzzle;
  const random = (client: CubeClient): Promise<Scrambled> =>
    exact ? atDistance(drawnDistance(metric)).draw(client) : client.ask({ ask: "uniform", seed: randomSeed(), number: 0 });
  return [
    ...TURNS[size as 2 | 3].map((n) => ({
      id: String(n),
      words: lengthWords(n, notation),
      by: true,
      draw: (client: CubeClient) => made(client, size, scramble(size, n, notation)),
    })),
    { id: "random", words: "Random state", by: false, draw: random },
    exact
      ? { ...atDistance(farthest(puzzle, metric)), id: "farthest", words: "Farthest state" }
      : { id: "superflip", words: "Superflip", by: false, draw: (client) => made(client, size, SUPERFLIP) },
  ];
}

export const usual = ({ size }: Puzzle): string => USUAL[size as 2 | 3];
