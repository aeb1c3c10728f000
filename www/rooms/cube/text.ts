// The words of the cube's room, and the equations for whoever wants them.

import type { ChartWords } from "../../parts/curves";
import type { Explanation } from "../../parts/room";
import { equation } from "../../parts/equation";
import type { Puzzle } from "./protocol";

export const name = (size: number): string => (size === 2 ? "2x2x2" : "3x3x3");

export const title = ({ size }: Puzzle): string => `An agent that learns to solve the ${name(size)}`;

export const charts: Record<string, ChartWords> = {
  solved: {
    title: "Solved",
    digits: 0,
    span: [0, 1],
    labels: { solved: "greedy", solved_plain: "without memory", optimal: "optimally" },
  },
  loss: { about: "how far its targets are off; they are noisy, so it does not fall to nothing" },
  length: { title: "Solution length", labels: { excess: "too many", length: "moves" } },
  speed: { about: "states that it learns from" },
  epsilon: { span: [0, 1] },
  q: { about: "what its network says of the actions that it learned from" },
  depth: { about: "moves of the longest scrambles that episodes begin with" },
  success: { span: [0, 1] },
};

/** Of the main chart, what a test is depends on the cube. */
export const chartsOf = ({ exact }: Puzzle): Record<string, ChartWords> => ({
  solved: {
    about: exact
      ? "exact share of all 3,674,160 states: greedy never takes the last move back, without memory it may, optimally is with no move " +
        "too many"
      : "share of the test's scrambles, always the same, that a small beam search with its network solves",
    span: [0, 1],
  },
  length: {
    about: exact ? "moves beyond the shortest solution, as a mean over all states solved" : "moves of the solutions found, as a mean",
  },
});

const learning: Record<string, Explanation> = {
  walk: {
    heading: "How does it learn?",
    words:
      "By walk-length regression: it begins at the solved cube, turns faces at random and learns, for every state it comes to, how many " +
      "moves ago it set out. A single walk says little, since it may have gone round in circles; but averaged over many, states far away " +
      "were reached after more moves than near ones. So the network's value V puts all states in an order, and whoever always steps to " +
      "where V is least comes home. It has never seen a solution.",
    equation:
      equation("the loss is the squared difference of the value of the state after k random moves and k", "loss = (V (s_k) − k)^2") +
      `<p>s<sub>k</sub> is where a walk is after k moves. Chervov and others, <cite>CayleyPy RL: pathfinding and reinforcement ` +
      `learning on Cayley graphs</cite> (2025).</p>`,
  },
  last: {
    heading: "How does it learn?",
    words:
      "By predicting last moves: it turns faces of the solved cube at random and learns, for every state it comes to, which move came " +
      "last. To undo that move is a step home, and the likelier the network thinks it, the better the step. " +
      "What it gives is a policy, a probability for each move, so that one look at a state says where to go; it never says how far.",
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
      "From the answers: all 3,674,160 states and their distances are found at the start by breadth-first search, and the network " +
      "learns the true distance of the states that random walks come to. " +
      "It is the reference for the others, which have no such table; for the 3x3x3, with its 43 quintillion states, there is none.",
    equation: equation("the loss is the squared difference of the value and the true distance", "loss = (V (s) − d (s))^2"),
  },
  q: {
    heading: "How does it learn?",
    words:
      "By deep Q-learning: it plays. Each episode begins at a scramble; each move costs a little and the solved cube ends it. " +
      "Transitions go to a replay, and from it the network learns Q, what each action is worth: what the move brought, plus the worth of " +
      "the best action after it. Far from solved there is nothing to learn from at first, so a curriculum begins with scrambles of one " +
      "move and goes on when it solves enough of them. Double, dueling, n-step and prioritised replay are switches among the knobs, each " +
      "as its paper has it.",
    equation:
      equation(
        "the target is the reward plus gamma times the target network's value of the action that the online network thinks best " +
          "in the next state",
        "y = r + γ ~ Q_target ({s ′}, ~ argmax ~ Q_online ({s ′}, a))",
      ) +
      "<p>Mnih and others, <cite>Human-level control through deep reinforcement learning</cite> (2015); van Hasselt and others, " +
      "<cite>Deep reinforcement learning with double Q-learning</cite> (2016); Wang and others, <cite>Dueling network " +
      "architectures</cite> (2016); Schaul and others, <cite>Prioritized experience replay</cite> (2016).</p>",
  },
};

const judged: Explanation = {
  heading: "What does the test test?",
  words:
    "Everything. The network values all 3,674,160 states, and from each of them the greedy walk is followed through a table: the " +
    "share that comes home is exact, by distance and in all, and no luck of a draw is in it. " +
    "Almost half of all states are 11 or 12 quarter turns away, so a high share needs to be right far out, where neighbours differ least.",
};

const sampled: Explanation = {
  heading: "What does the test test?",
  words:
    "Ten scrambles that are always the same and that it does not learn from, each solved by a small beam search with the network as " +
    "it is at that moment. " +
    "A wider beam solves more and in fewer moves; it takes longer. God's number is 26 quarter turns: no state is farther.",
};

const searches: Explanation = {
  heading: "Greedy, beam, A*",
  words:
    "Greedy play looks one move ahead and takes the best. Beam search goes level by level and keeps the most promising states of " +
    "each, so that one wrong value does not lead astray; where it finds nothing, a beam twice as wide follows. " +
    "A* weighs moves made against moves to go and takes the best state from anywhere in its tree. The same network answers all three; " +
    "what differs is how often it is asked.",
  equation:
    equation("A star expands the states whose weighted moves made plus value are least", "f (s) = w ~ g (s) + hat V (s)") +
    `<p>g counts the moves made, w is the weight.</p>`,
};

const notation: Explanation = {
  heading: "Reading the moves",
  words:
    "A letter turns that face a quarter clockwise, as one looks at it: U up, D down, L left, R right, F front, B back. A prime turns " +
    "it the other way, a 2 turns it half round. " +
    "Lengths are counted in quarter turns, or in turns of a face where the metric among the knobs says so. On the 2x2x2 the corner at " +
    "the back, bottom left holds still for the agent, so R, U and F are enough; you may turn any face.",
};

const kindOf = (id: string, { gives }: Puzzle): string =>
  gives === "action_values" ? "q" : gives === "policy" ? "last" : id.endsWith("exact") ? "exact" : "walk";

export const explanations = (id: string, summary: string, puzzle: Puzzle): Explanation[] => [
  learning[kindOf(id, puzzle)] ?? { heading: "How does it learn?", words: summary },
  puzzle.exact ? judged : sampled,
  searches,
  notation,
];
