// Explanations of the backgammon room, with equations and papers. The page loads them when the visitor opens their tab.

import { equation } from "../../parts/equation";
import type { Explanation } from "../../parts/room";

const equity: Explanation = {
  heading: "What is equity?",
  words:
    "Equity is the mean value of a position, in points per game. A win counts 1, a gammon 2, a backgammon 3; losses count the same below " +
    "zero. An equity of +0.200 means 200 points more won than lost in a thousand games. A hundredth matters to good players. Moves are " +
    "ranked by equity without the cube; in a match, by the chance to win the match on the same scale. Cube decisions are computed from " +
    "the agent's outcome probabilities.",
  equation: equation(
    "equity is the sum over k from 1 to 3 of k times the difference of the chances to win and to lose k points",
    "E = ∑_{k = 1, 2, 3} k (w_k − l_k)",
  ),
};

const cube: Explanation = {
  heading: "How are cube decisions computed?",
  words:
    "The network predicts the probability of each of the six outcomes, without the cube. Janowski's formula turns them into the value " +
    "of no double, double/take and double/pass. The value lies between a dead cube, which is never turned again, and a live cube, " +
    "which is always turned at the perfect moment. The live cube has a weight x of 68% while the sides are in contact and 60 to 70% in a " +
    "race, as in GNU Backgammon. In a match, the formula uses the chances to win the match, shown as points at the current cube. " +
    "Chances at each score come from Janowski's fit to tables; after Crawford, from a sum over games. The error of a cube decision is " +
    "the value that it gives away, in points at the cube's value before it. The Jacoby rule and beavers are not supported.",
  equation:
    equation(
      "the value with a cube is one minus x times that of a dead cube, plus x times that of a live one",
      "E = (1 − x) E_dead + x E_live",
    ) + "<p>R. Janowski, <cite>Take-Points in Money Games</cite> (1993).</p>",
};

const baselines: Explanation = {
  heading: "The two baselines",
  words:
    "The first plays random legal moves. The second is pubeval, a linear evaluation that Gerald Tesauro published in 1993 as a " +
    "benchmark: a fixed weighted sum of checker positions. Test games come in pairs with the same dice and exchanged sides, which " +
    "reduces luck. The bars on the curve show the luck that remains.",
};

const reviews: Explanation = {
  heading: "How are moves judged?",
  words:
    "After your move, the current agent ranks all moves of your roll. The error of your move is its distance in equity from the best " +
    "one. A reviewed game is judged again by the agent as it is then, so results differ if it has learned since. From −0.040 a move is " +
    "dubious, from −0.080 an error, from −0.160 a blunder, as in GNU Backgammon. The judgement is only as good as the agent: after a " +
    "few seconds of training it is poor.",
};

const lookAhead: Explanation = {
  heading: "Looking ahead",
  words:
    "Without look-ahead the agent evaluates every board that a roll can leave and takes the best. With look-ahead, the most promising " +
    "boards are expanded by the opponent's 21 rolls, each with the best reply, and averaged. The tree shows a row for each move and a " +
    "dot for each roll. The bar under a move is its share of the search. The table has two groups: moves searched with all 21 rolls " +
    "(1-ply), and the rest (0-ply). The error of a move is its distance from the best move. Moves at 0-ply have no error: without the " +
    "opponent's replies, a position looks better than it is.",
};

/** Explanations by learner. For a learner that is not listed, the page shows its summary. */
const learners: Record<string, Explanation> = {
  strong: {
    heading: "How does it learn?",
    words:
      "It plays against itself and always takes the move with the highest estimate; the dice provide variety. Besides the checkers, its " +
      "inputs are 24 handmade numbers of each side (shots, primes, anchors, timing) and the lead. Once all checkers are in the home " +
      "boards, an exact table of each side's own bear-off gives the chances; it ignores the opponent's position when it chooses a move. " +
      "Two knobs turn these off. After each game, the estimate of each board is moved towards the estimates of later boards and the " +
      "final result. An estimate is six chances: to win or lose a single game, a gammon or a backgammon. Knowledge " +
      "spreads backwards from the ends of games: first to the bear-off, last to the opening.",
    equation:
      equation(
        "the target of a board is one minus lambda times the estimate of the next board, plus lambda times its target; at the end it " +
          "is the outcome",
        "z^λ (s_t) = (1 − λ) hat p (s_{t + 1}) + ~ λ z^λ (s_{t + 1})",
      ) +
      "<p>Each p is six chances, from the view of the side that moved. Tesauro, <cite>Temporal difference learning and " +
      "TD-Gammon</cite> (1995); Sutton, <cite>Learning to predict by the methods of temporal differences</cite> (1988).</p>",
  },
  published: {
    heading: "How does it learn?",
    words:
      "By search. From each position it grows a tree of moves and rolls, guided by the network's policy and value. The network then " +
      "learns to predict the result of the search and of the game, which improves the next search. " +
      "This is the configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl), for comparison. It plays and learns more " +
      "slowly than the strong learner.",
    equation:
      equation(
        "at each node the search takes the move with the largest sum of its value and an exploration bonus",
        "argmax ~ Q_a + c P_a frac{sqrt{N}}{1 + N_a}",
      ) +
      `<p>Silver and others, <cite>Mastering the game of Go without human knowledge</cite> (2017); chance nodes visit ` +
      `rolls in proportion to their probability.</p>`,
  },
};

export const explanations = (learner: string, summary: string): Explanation[] => [
  learners[learner] ?? { heading: "How does it learn?", words: summary },
  equity,
  cube,
  baselines,
  lookAhead,
  reviews,
];
