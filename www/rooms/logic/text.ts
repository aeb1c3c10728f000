// The words of the room of logic, and the equations for whoever wants them.

import type { ChartWords } from "../../parts/curves";
import { equation } from "../../parts/equation";
import type { Explanation } from "../../parts/room";
import type { Experiment, MemberState } from "./protocol";

export const states: Record<MemberState | "dead", { word: string; mark: string }> = {
  learning: { word: "learning", mark: "○" },
  perfect: { word: "perfect", mark: "✓" },
  dead: { word: "dead, restarts", mark: "✕" },
};

export const title = ({ rule, own, shows }: Experiment): string =>
  rule
    ? "Logic gates that learn a rule"
    : own
      ? "Logic gates that learn your pattern"
      : shows === "rgb"
        ? "Logic gates that learn to draw in colours"
        : "Logic gates that learn to draw";

export const charts: Record<string, ChartWords> = {
  perfect: {
    about: "share that the best member's hardened circuit gets right on fresh grids; of a rule, of all 512 neighbourhoods",
    digits: 0,
    span: [0, 1],
  },
  loss: {
    title: "Loss",
    about: "soft is what training descends; hard is the circuit's: its share wrong",
    labels: { loss: "soft", hard_loss: "hard", best: "best" },
  },
  certainty: { title: "Certainty", about: "how much of a gate is the operation that it hardens to", span: [0, 1] },
  generalisation: {
    title: "Beyond training",
    labels: { larger: "larger grid", damaged: "around damage", healed: "after damage", long: "in the long run" },
    span: [0, 1],
  },
  success: { about: "of the runs that ended, those that were perfect", span: [0, 1] },
};

const learning: Explanation = {
  heading: "How does it learn?",
  words:
    "Each cell is a small network of logic gates that reads the nine cells around it and gives the cell's next state. A gate has one of " +
    "16 operations; while it learns it is a mixture of all of them, weighted by a softmax of 16 logits, and works on numbers between off " +
    "and on. So the whole automaton, run for some steps, can be differentiated: the loss is the squared error of the last state, and " +
    "gradient descent (AdamW) turns the logits until every gate leans to one operation.",
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
    "Hardened, each gate becomes the one operation that it leans to most, and the automaton a circuit of bits. Soft loss is what " +
    "training sees; hard loss is what the circuit does, and what counts. Between the two there may be a gap while gates are " +
    "undecided: watch them settle among the gates above.",
  equation: equation("the loss is the sum over cells of the squared difference of state and target", "loss = ∑_cells (s − t)^2"),
};

const lottery: Explanation = {
  heading: "Why a population?",
  words:
    "Training is a lottery of seeds: some runs become perfect, others stop getting better. Several seeds learn side by side. Those " +
    "that no longer get better start over with another seed. The success rate is the share of the ended runs that were perfect.",
};

const circuit: Explanation = {
  heading: "What is the circuit worth?",
  words:
    "It is exact, small and fast. Gates that only pass an input on, and gates that nothing depends on, are pruned; what is left is " +
    "drawn, can be taken along as Verilog or Rust, and is verified equal to the automaton. Bit-packed, one instruction does a gate " +
    "for 64 cells or more at once.",
};

const damage: Explanation = {
  heading: "Why does it heal?",
  words:
    "No cell knows where it is. Each looks at its neighbours only, so the pattern must come about between them, from any start, again " +
    "and again. Damage is just another start. Whether it heals, holds on a larger grid or runs on beyond its training is a test of " +
    "what was learned; not every automaton passes.",
};

export const explanations = ({ rule }: Experiment): Explanation[] => [
  learning,
  hard,
  lottery,
  rule ? circuit : damage,
  ...(rule ? [] : [circuit]),
];
