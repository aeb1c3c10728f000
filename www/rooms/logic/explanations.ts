// Explanations of the logic room, with equations and papers. The page loads them when the visitor opens their tab.

import { equation } from "../../parts/equation";
import type { Explanation } from "../../parts/room";
import type { Experiment } from "./protocol";

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
    "settle in the tab Live.",
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
    "It is exact, small and fast. Gates that only pass an input on, gates that nothing depends on, and duplicates are pruned. The " +
    "remaining circuit is drawn, verified equal to the automaton, and available as Verilog or Rust. One instruction evaluates a gate for " +
    "64 or more bit-packed cells.",
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
