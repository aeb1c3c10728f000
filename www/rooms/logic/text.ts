// Texts of the logic room.

import type { Progress } from "../../run/protocol";
import type { ChartWords } from "../../parts/curves";
import { count, percent, seconds, words } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Experiment, MemberState, PopulationView } from "./protocol";

export const states: Record<MemberState | "dead", { word: string; mark: string }> = {
  learning: { word: "learning", mark: "○" },
  perfect: { word: "perfect", mark: "✓" },
  dead: { word: "restarted", mark: "✕" },
};

export const title = ({ rule, own, shows }: Experiment): string =>
  rule
    ? "Logic gates that learn a rule"
    : own
      ? "Logic gates that learn your pattern"
      : shows === "rgb"
        ? "Logic gates that learn to draw in colours"
        : "Logic gates that learn to draw";

export const gatesText = (gates: number): string => (gates === 1 ? "1 gate" : `${count(gates)} gates`);

/** Published length of each long experiment: the number of updates per member in the published run. */
const PUBLISHED: Record<string, number> = { lizard: 3500, g: 3000 };
/** Minimum number of updates for an estimate of the time to the published length. */
const LEAST_UPDATES = 8;

/**
 * Returns the time to the published length. Returns undefined if the time is not known yet, if the run is past this length, or if the
 * experiment has no published length.
 */
function timeLeft(each: number, members: number, { counts, train_s }: Progress): string | undefined {
  const [updates = 0] = counts;
  if (updates < LEAST_UPDATES || updates >= each * members) return undefined;
  const minutes = (((each * members - updates) / updates) * train_s) / 60;
  return minutes < 90 ? `${Math.max(1, Math.round(minutes))} min` : `${(minutes / 60).toFixed(1)} h`;
}

/**
 * Returns a sentence about the time to the published length. Returns an empty string if the run is past this length or the experiment has
 * no published length.
 */
export function lengthLeft(variant: string, members: number, progress: Progress): string {
  const each = PUBLISHED[variant];
  const [updates = 0] = progress.counts;
  if (!each || !members || updates >= each * members) return "";
  const length = `The published run made ${count(each)} updates of each member`;
  const time = timeLeft(each, members, progress);
  return time ? `${length}; this run gets there in about ${time}.` : `${length}.`;
}

/** Returns the text of the button that shows the visitor's training in place of the circuit that was trained before the visit. */
export function trainYours(variant: string, members: number, progress: Progress): string {
  const time = timeLeft(PUBLISHED[variant] ?? 0, members, progress);
  return `Train it yourself${time ? `: about ${time}` : ""}`;
}

/**
 * Returns a text about the result of the latest test, which the chart shows too. Before the first test, returns a text about the progress
 * of the best member. The results of single members are not used, because they come from different grids.
 */
export function result(present: History, newest: PopulationView | undefined, { counts, train_s }: Progress, unit: string): string {
  const [test, tested] = [present.tests.at(-1)?.progress, present.test("perfect")];
  if (test && tested !== undefined) {
    const cells = tested === 1 ? "no wrong cells" : `${percent(tested)} correct cells`;
    const after = `After ${seconds(test.train_s)} of training (${words(test.counts[0] ?? 0)} ${unit})`;
    const [, , ended = 0, perfect = 0] = counts;
    const attempts = ended > 0 && `${perfect} of ${ended} ${ended === 1 ? "attempt" : "attempts"} succeeded.`;
    // The page itself states the result of a solved run, so this text omits the result.
    return [!present.solved && `${after}: the best circuit has ${cells}.`, attempts].filter(Boolean).join(" ");
  }
  const best = newest?.members[newest.best];
  if (!newest || !best?.updates) return "Circuits of logic gates start to learn, each with its own wires.";
  const right = percent(1 - best.hard_loss);
  const after = `After ${seconds(train_s)}, ${right} of the best circuit's cells are correct.`;
  return `${newest.members.length} circuits learn side by side. ${after}`;
}

export const charts: Record<string, ChartWords> = {
  perfect: {
    about: "share of correct cells of the best circuit on new grids; for a rule, of all 512 neighbourhoods",
    digits: 0,
    span: [0, 1],
  },
  loss: {
    title: "Loss",
    about: "soft: minimized by training; hard: share of wrong cells",
    labels: { loss: "soft", hard_loss: "hard", best: "best" },
  },
  certainty: { title: "Certainty", about: "mean probability of each gate's most probable operation", span: [0, 1] },
  generalisation: {
    title: "Beyond training",
    labels: { larger: "larger grid", damaged: "around damage", healed: "after damage", long: "long run" },
    span: [0, 1],
  },
  success: { about: "share of perfect attempts among all ended attempts", span: [0, 1] },
};
