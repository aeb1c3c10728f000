// Notation and counts of moves. In the notation of half turns, a half turn is one move (`U2`). In quarter turns, it is two moves (`U U`).
// The visitor chooses the notation. The metric of the run is independent of this choice; the worker gives distances and estimates in the
// run's metric.

import { recall, remember } from "../../parts/prefs";

export type Metric = "half" | "quarter";

const PREFERENCE = "cube-turns";
const SUFFIXES = ["", "", "2", "'"];

/**
 * A move in the visitor's notation. `to` is the number of the worker's moves that are complete after this move. It is undefined if the move
 * is the first quarter turn of a half turn.
 */
export type Step = { name: string; to: number | undefined };

/** Returns the number of clockwise quarter turns of a move: 1, 2 or 3. */
const quartersOf = (name: string): number => Math.max(1, SUFFIXES.lastIndexOf(name.slice(1)));

/** Converts moves to a notation. In half turns, successive turns of one face become one move; turns that cancel become no move. */
export function written(moves: string[], metric: Metric): Step[] {
  const steps: Step[] = [];
  moves.forEach((name, k) => {
    const face = name[0]!;
    const last = steps.at(-1);
    if (metric === "half" && last?.name[0] === face) {
      steps.pop();
      const quarters = (quartersOf(last.name) + quartersOf(name)) % 4;
      if (quarters > 0) steps.push({ name: face + SUFFIXES[quarters]!, to: k + 1 });
    } else if (metric === "quarter" && quartersOf(name) === 2) steps.push({ name: face, to: undefined }, { name: face, to: k + 1 });
    else steps.push({ name, to: k + 1 });
  });
  return steps;
}

export const unitOf = (metric: Metric): string => (metric === "quarter" ? "quarter turns" : "turns");

/** Formats a number of moves, such as `9 quarter turns`. In half turns, the unit is `turns`, such as `7 turns`. */
export const lengthWords = (n: number, metric: Metric): string => `${n} ${n === 1 ? unitOf(metric).slice(0, -1) : unitOf(metric)}`;

/**
 * Formats the length of a sequence in the visitor's notation. If the run's metric differs, adds the length in the metric, such as `7 turns
 * (9 quarter turns)`.
 */
export function lengthOf(moves: string[], notation: Metric, metric: Metric): string {
  const count = (by: Metric): string => lengthWords(written(moves, by).length, by);
  return notation === metric ? count(notation) : `${count(notation)} (${count(metric)})`;
}

/** Formats a distance in the run's metric and, if known, in the other metric, such as `9 quarter turns (7 turns)`. */
export function distanceWords(distance: number, other: number | null, metric: Metric): string {
  return `${lengthWords(distance, metric)}${other === null ? "" : ` (${lengthWords(other, otherThan(metric))})`}`;
}

export const otherThan = (metric: Metric): Metric => (metric === "half" ? "quarter" : "half");

export const metricOf = (knobs: Record<string, unknown>): Metric => (knobs.metric === "htm" ? "half" : "quarter");

export const preferred = (): Metric => (recall(PREFERENCE) === "quarter" ? "quarter" : "half");
export const prefer = (notation: Metric): void => remember(PREFERENCE, notation === "half" ? null : notation);
