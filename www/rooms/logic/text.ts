// Texts and equations of the logic room.

import type { Progress } from "../../run/protocol";
import type { ChartWords } from "../../parts/curves";
import { equation } from "../../parts/equation";
import { count, percent, seconds, words } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Explanation } from "../../parts/room";
import type { Experiment, MemberState, PopulationView } from "./protocol";

export const states: Record<MemberState | "dead", { word: string; mark: string }> = {
  learning: { word: "learning", mark: "○" },
  perfect: { word: "perfect", mark: "✓" },
  dead: { word: "restarting", mark: "✕" },
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

/** Updates of a member in the published runs of the experiments that take long. */
const PUBLISHED: Record<string, number> = { lizard: 3500, g: 3000 };
/** Updates before the time to the published length is estimated. */
const LEAST_UPDATES = 8;

/** Returns the time to the published length; undefined if it is not known yet, if the run is past it, or if the experiment is short. */
function timeLeft(each: number, members: number, { counts, train_s }: Progress): string | undefined {
  const [updates = 0] = counts;
  if (updates < LEAST_UPDATES || updates >= each * members) return undefined;
  const minutes = (((each * members - updates) / updates) * train_s) / 60;
  return minutes < 90 ? `${Math.max(1, Math.round(minutes))} min` : `${(minutes / 60).toFixed(1)} h`;
}

/** Returns a sentence about the time to the published length; empty if the run is past this length or the experiment is short. */
export function lengthLeft(variant: string, members: number, progress: Progress): string {
  const each = PUBLISHED[variant];
  const [updates = 0] = progress.counts;
  if (!each || !members || updates >= each * members) return "";
  const length = `the published length of ${count(each)} updates a member`;
  const time = timeLeft(each, members, progress);
  return time ? `About ${time} to ${length}.` : `The time to ${length} is not known yet.`;
}

/** Returns a note beside a circuit that was trained before the visit. */
export function trainedNote(variant: string, members: number, progress: Progress): string {
  const time = timeLeft(PUBLISHED[variant] ?? 0, members, progress);
  return `Trained before your visit. Yours is training${time ? `: about ${time} left` : ""}.`;
}

/**
 * Returns the result of the newest test, which the chart shows too. (The results of single members are not comparable, because they come
 * from other grids.) Before the first test, it returns the progress of the best member.
 */
export function result(present: History, newest: PopulationView | undefined, { counts, train_s }: Progress, unit: string): string {
  const [test, tested] = [present.tests.at(-1)?.progress, present.test("perfect")];
  if (test && tested !== undefined) {
    const cells = tested === 1 ? "no wrong cells" : `${percent(tested)} of cells right`;
    const after = `After ${seconds(test.train_s)} of training (${words(test.counts[0] ?? 0)} ${unit})`;
    const [, , ended = 0, perfect = 0] = counts;
    const attempts = ended > 0 && `${perfect} of ${ended} ${ended === 1 ? "attempt" : "attempts"} succeeded.`;
    // The page states the result of a solved run.
    return [!present.solved && `${after}: the best circuit has ${cells}.`, attempts].filter(Boolean).join(" ");
  }
  const best = newest?.members[newest.best];
  if (!newest || !best?.updates) return "Circuits of logic gates start to learn, each with its own wires.";
  const right = percent(1 - best.hard_loss);
  return `${newest.members.length} circuits learn side by side. After ${seconds(train_s)} the best gets ${right} of cells right.`;
}

export const charts: Record<string, ChartWords> = {
  perfect: {
    about: "share of cells that the best circuit gets right on new grids; for a rule, of all 512 neighbourhoods",
    digits: 0,
    span: [0, 1],
  },
  loss: {
    title: "Loss",
    about: "soft: minimized by training; hard: share of cells that the circuit gets wrong",
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

const learning: Explanation = {
  heading: "How does it learn?",
  words:
    "Each cell is a small network of logic gates that reads the cell and its eight neighbours and computes the cell's next state. A gate " +
    "has one of 16 operations. During training it is a mixture of all 16, weighted by a softmax of 16 logits, and works on numbers from " +
    "0 to 1. So a run of the automaton is differentiable. The loss is the squared error of the last state, and AdamW changes the logits " +
    "until each gate prefers one operation.",
  equation:
    equation(
      "a soft gate is the sum over operations k of the softmax of its logits times the operation of a and b, which is c zero plus " +
        "c one a plus c two b plus c three a b",
      "f (a, b) = ∑_k softmax (ℓ)_k ~ f_k (a, b) = c_0 + c_1 a + c_2 b + c_3 a b",
    ) +
    "<p>Every operation is such a polynomial, so a soft gate is four coefficients. Miotti, Niklasson, Randazzo and Mordvintsev, " +
    "<cite>Differentiable Logic Cellular Automata</cite> (2025); Petersen and others, <cite>Deep differentiable logic gate " +
    "networks</cite> (2022).</p>",
};

const hard: Explanation = {
  heading: "Soft and hard",
  words:
    "Hardening replaces each gate by its most probable operation, which makes the automaton a circuit of bits. Training minimizes the " +
    "soft loss. The hard loss is that of the circuit, which the tests use. The two differ while gates are undecided. Watch the gates " +
    "above settle.",
  equation: equation("the loss is the sum over cells of the squared difference of state and target", "loss = ∑_cells (s − t)^2"),
};

const lottery: Explanation = {
  heading: "Why a population?",
  words:
    "Success depends on the seed: some members become perfect, others stop improving. Several members train side by side. A member " +
    "without improvement restarts with another seed, which is a new attempt. The success rate is the share of perfect attempts.",
};

const circuit: Explanation = {
  heading: "Why a circuit?",
  words:
    "It is exact, small and fast. Gates that only pass an input on, and gates that nothing depends on, are pruned. The remaining " +
    "circuit is drawn, verified equal to the automaton, and available as Verilog or Rust. One instruction evaluates a gate for 64 or " +
    "more bit-packed cells.",
};

const damage: Explanation = {
  heading: "Why does it heal?",
  words:
    "No cell has its position as an input. Each reads only its neighbours, so the pattern must emerge from local steps. To the cells, " +
    "damage is just another start. Healing, larger grids and longer runs test what was learned; not every automaton passes.",
};

export const explanations = ({ rule }: Experiment): Explanation[] => [
  learning,
  hard,
  lottery,
  rule ? circuit : damage,
  ...(rule ? [] : [circuit]),
];
