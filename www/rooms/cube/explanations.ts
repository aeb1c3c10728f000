// Explanations of the cube room, with equations and papers. The page loads them when the visitor opens their tab.

import { equation } from "../../parts/equation";
import type { Explanation } from "../../parts/room";
import type { Value, Variant } from "../../run/protocol";
import type { Puzzle } from "./protocol";

type Settings = Record<string, Value>;

const learning: Record<string, Explanation> = {
  walk: {
    heading: "How does it learn?",
    words:
      "By walk-length regression. A random walk starts at the solved cube; for each state on it, the network learns the number of moves " +
      "so far. One walk says little, because it may go in circles. On average, far states are reached after more moves than near ones. " +
      "So the network's value V orders the states, and moves to the state with the smallest V usually lead to the solved cube. A test " +
      "measures how often. Training contains no solutions.",
    equation:
      equation("the loss is the squared difference of the value of the state after k random moves and k", "loss = (V (s_k) − k)^2") +
      `<p>s<sub>k</sub> is the state of a walk after k moves. Chervov and others, <cite>A machine learning approach that beats ` +
      `large Rubik's cubes</cite> (2025).</p>`,
  },
  last: {
    heading: "How does it learn?",
    words:
      "By predicting last moves. A random walk starts at the solved cube; for each state on it, the network learns the last move. " +
      "Undoing that move leads back towards solved. The network gives a policy, a probability for each move, but no distance.",
    equation:
      equation(
        "the loss is minus the logarithm of the probability, by the policy, of the inverse of the last move",
        "loss = − log ~ π (a_k^{− 1} | s_k)",
      ) +
      `<p>a<sub>k</sub> is the walk's last move. Takano, <cite>Self-supervision is all you need for solving Rubik's cube</cite> ` +
      `(2023).</p>`,
  },
  exact: {
    heading: "How does it learn?",
    words:
      "From true distances. Breadth-first search finds all 3,674,160 states and their distances at the start. The network learns the " +
      "true distance of states on random walks. This learner is the reference for the others, which have no such table. For the 3x3x3, " +
      "with 43 quintillion states, no table exists.",
    equation: equation("the loss is the squared difference of the value and the true distance", "loss = (V (s) − d (s))^2"),
  },
};

/** Techniques of deep Q-learning, each with the knob that switches it on. */
const TECHNIQUES: [string, string][] = [
  ["double", "double Q-learning"],
  ["dueling", "dueling heads"],
  ["prioritised", "prioritised replay"],
];

/** Returns the equation of the target of deep Q-learning: without double Q-learning, one network chooses and evaluates the next action. */
function target(double: boolean, steps: number): string {
  const [reward, discount, next] = steps > 1 ? [`∑_{k < ${steps}} γ^k r_k`, `γ^${steps}`, `s_${steps}`] : ["r", "γ", "s ′"];
  const [said, after] = steps > 1 ? [`discounted reward of ${steps} moves`, `gamma to the ${steps}`] : ["reward", "gamma"];
  const action = double ? "the online network's best action" : "its own best action";
  const best = double ? `Q_target ({${next}}, ~ argmax ~ Q_online ({${next}}, a))` : `max ~ Q_target ({${next}}, a)`;
  return equation(
    `the target is the ${said} plus ${after} times the target network's value of ${action} in the state after that`,
    `y = ${reward} + ${discount} ~ ${best}`,
  );
}

/** Returns the explanation of deep Q-learning with the settings of a run. */
function deepQ(settings: Settings): Explanation {
  const steps = Number(settings.n_step);
  const used = TECHNIQUES.filter(([knob]) => settings[knob] === 1).map(([, words]) => words);
  if (steps > 1) used.push(`returns of ${steps} steps`);
  return {
    heading: "How does it learn?",
    words:
      "By deep Q-learning. Each episode begins at a scramble; each move has a small cost, and the solved cube ends the episode. " +
      "Transitions are stored in a replay. From it the network learns Q, the value of each action: the reward of the move plus the value " +
      "of the best action after it. Far from solved there is no useful reward at first. So a curriculum begins with scrambles of one " +
      "move and adds a move when enough of them are solved. Double, dueling, n-step and prioritised replay are knobs; this run uses " +
      `${new Intl.ListFormat("en").format(used) || "none of them"}.`,
    equation:
      target(settings.double === 1, steps) +
      "<p>Mnih and others, <cite>Human-level control through deep reinforcement learning</cite> (2015); van Hasselt and others, " +
      "<cite>Deep reinforcement learning with double Q-learning</cite> (2016); Wang and others, <cite>Dueling network " +
      "architectures</cite> (2016); Schaul and others, <cite>Prioritized experience replay</cite> (2016).</p>",
  };
}

const judged: Explanation = {
  heading: "What is a test?",
  words:
    "A test covers every state. The network evaluates all 3,674,160 states, and greedy play is followed from each of them. The solve " +
    "rate is exact, without sampling error, by distance and in total. " +
    "More than half of all states are 11 or 12 quarter turns away. There neighbours differ least, so a high rate needs precise values.",
};

const sampled: Explanation = {
  heading: "What is a test?",
  words:
    "A test is ten fixed scrambles, not used for training. A small beam search with the current network tries to solve each. A wider " +
    "beam solves more of them, in fewer moves, but takes longer. God's number is 26 quarter turns: no state is farther.",
};

const searches: Explanation = {
  heading: "Greedy, beam, A*",
  words:
    "Greedy play looks one move ahead and takes the best move. Beam search keeps the most promising states of each level, so a single " +
    "wrong value does little harm. If it finds nothing, it tries again with twice the width. A* adds moves made and estimated moves " +
    "left, and expands the best state anywhere in its tree. All three use the same network; they differ in the number of evaluations.",
  equation:
    equation("A star expands the states with the smallest sum of weighted moves made and value", "f (s) = w ~ g (s) + hat V (s)") +
    `<p>g counts the moves made, w is the weight.</p>`,
};

const notation: Explanation = {
  heading: "Reading the moves",
  words:
    "A letter turns that face clockwise by a quarter, seen from outside: U up, D down, L left, R right, F front, B back. A prime turns " +
    "it the other way; a 2 turns it by a half. In half turns, such a move counts as one turn; in quarter turns, it is written as two " +
    "and counts as two. The choice beside the cube changes the notation only. The agent's estimates and the shortest distances are in " +
    "the metric of the run, which is a knob: quarter turns, or half turns as well. On the 2x2x2 the agent keeps the corner at the " +
    "back, bottom left fixed and uses R, U and F only; you may turn any face.",
};

function learningOf({ id, summary }: Variant, { gives }: Puzzle, settings: Settings): Explanation {
  if (gives === "action_values") return deepQ(settings);
  const kind = gives === "policy" ? "last" : id.endsWith("exact") ? "exact" : "walk";
  return learning[kind] ?? { heading: "How does it learn?", words: summary };
}

/** Returns the explanations of a run: its variant, its puzzle, and the values of its knobs. */
export const explanations = (variant: Variant, puzzle: Puzzle, settings: Settings): Explanation[] => [
  learningOf(variant, puzzle, settings),
  puzzle.exact ? judged : sampled,
  searches,
  notation,
];
