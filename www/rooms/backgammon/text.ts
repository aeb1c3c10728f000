// The words of the backgammon room, and the equations for whoever wants them.

import type { ChartWords } from "../../parts/curves";
import type { Explanation } from "../../parts/room";
import { equation } from "../../parts/equation";

export const title = "An agent that teaches itself backgammon";

export const charts: Record<string, ChartWords> = {
  strength: {
    title: "Points a game",
    about: "points a game in games that do not train it, gammons twice and backgammons three times; bars are one standard error",
    digits: 2,
    span: [-0.5, 1.5],
    levels: [{ value: 0, label: "even" }],
    labels: { random_points: "random", linear_points: "pubeval" },
  },
  loss: { about: "how far it is off; the dice keep it from falling to nothing" },
  games: { about: "games that it plays against itself", span: [0, 100] },
  speed: { about: "boards that its network values to play and to learn", span: [0, 1000] },
  length: {
    title: "Length of a game",
    about: "moves of either side; good play is longer than random play at first, then shorter",
    span: [0, 80],
  },
};

const equity: Explanation = {
  heading: "What is equity?",
  words:
    "What a position is worth on average, in points a game: a win counts 1, a gammon 2, a backgammon 3, and the same below zero for what " +
    "is lost. +0.200 means: from here, in a thousand games, two hundred points more are won than lost. A hundredth matters to good " +
    "players, a thousandth to nobody; moves are told apart in thousandths. Moves are ranked by it, without the cube; in a match by the " +
    "chance to win the match, on the same scale. The cube is reckoned from the chances that the agent sees.",
  equation: equation(
    "equity is the sum over k from 1 to 3 of k times the difference of the chances to win and to lose k points",
    "E = ∑_{k = 1, 2, 3} k (w_k − l_k)",
  ),
};

const cube: Explanation = {
  heading: "How is the cube reckoned?",
  words:
    "The agent knows no cube: it expects how often each of the six endings comes. From those, Janowski's formula follows what a position " +
    "is worth with the cube where it is, after a double that is taken, and after one that is passed: between a cube that nobody turns " +
    "again and one that is always turned at the perfect moment, 68% of the way to the latter while the sides can still meet, 60 to 70% " +
    "in a race, as GNU Backgammon has it too. In a match the same holds for chances to win the match, told as points at the present " +
    "cube; those of each score are Janowski's fit to tables, and after Crawford a sum over games. A decision on the cube is as wrong as " +
    "what it gives away of this, in points at the cube before it. The Jacoby rule and beavers are not played.",
  equation:
    equation(
      "the worth of a cube is one minus x times that of a dead cube, plus x times that of a live one",
      "E = (1 − x) E_dead + x E_live",
    ) + "<p>R. Janowski, <cite>Take-Points in Money Games</cite> (1993).</p>",
};

const baselines: Explanation = {
  heading: "The two baselines",
  words:
    "One moves at random among all legal moves. The other is pubeval, a linear evaluation that Gerald Tesauro gave away in 1993 as a " +
    "benchmark: a weighted sum of where the checkers are, never trained further. Games come in pairs with the same dice and sides " +
    "exchanged, so that luck counts less; the bars on the curve say how much of it is left.",
};

const reviews: Explanation = {
  heading: "How bad was that?",
  words:
    "After your move the agent, as it is at that moment, ranks all moves of your roll; what yours is worth less than the best is its " +
    "error. A game that is stepped through is judged again by the agent as it is then, so both say the same only where it has not " +
    "learned meanwhile. From −0.040 on it counts as dubious, from −0.080 as an error, from −0.160 as a blunder, where GNU Backgammon " +
    "draws the lines as well. The judgement is as good as the judge: after some seconds of training it knows little.",
};

const lookAhead: Explanation = {
  heading: "Looking ahead",
  words:
    "Without look-ahead the agent values every board that a roll can leave, and takes the best. With it, the most promising ones get the " +
    "other side's 21 rolls, each with the reply that is best for them, and the average counts. The tree shows just that: a row for each " +
    "move, a dot for each roll. The bar under a move is the share of the search that went to it. Moves are in two groups: those at the " +
    "top were looked beyond with all 21 rolls (1-ply), the rest not at all (0-ply). The error of a move is what it is worth less than " +
    "the best; the rest has none, since equities of the two groups are not to be compared: the replies that a first look misses make a " +
    "position look better than it is.",
};

/** By learner; one that is not here tells of itself in its summary alone. */
const learners: Record<string, Explanation> = {
  strong: {
    heading: "How does it learn?",
    words:
      "It plays against itself, always the move that it thinks best; the dice see to variety. It begins with more than the rules: beside " +
      "where checkers stand it reads 24 handmade numbers of each side (shots, primes, anchors, timing) and the lead, and a table of " +
      "exact chances answers once all checkers are home. Two switches under its settings turn either off. After each game it goes back " +
      "over it: what it expected of a board is moved towards what it expected of the next ones, and of the end, which is certain. What " +
      "it expects are six chances: to win or lose a single game, a gammon, a backgammon. So knowledge spreads from the ends of games " +
      "backwards, first to the bearing off, at last to the opening.",
    equation:
      equation(
        "the target of a board is one minus lambda times what is expected of the next board, plus lambda times its target; at the " +
          "end it is the outcome",
        "z^λ (s_t) = (1 − λ) hat p (s_{t + 1}) + ~ λ z^λ (s_{t + 1})",
      ) +
      "<p>Each p is six chances, always turned to the side that moved. Tesauro, <cite>Temporal difference learning and " +
      "TD-Gammon</cite> (1995); Sutton, <cite>Learning to predict by the methods of temporal differences</cite> (1988).</p>",
  },
  published: {
    heading: "How does it learn?",
    words:
      "It searches: from every position a tree of moves and rolls grows, guided by what a network thinks likely and good. The network " +
      "then learns to foresee what the search found and how the game ended, and so the next search begins wiser. " +
      "This is the configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl), kept for comparison: it plays and learns " +
      "more slowly than the strong one.",
    equation:
      equation(
        "at each node the search takes the move with the largest sum of its value and of what is still to be explored",
        "argmax ~ Q_a + c P_a frac{sqrt{N}}{1 + N_a}",
      ) +
      `<p>Silver and others, <cite>Mastering the game of Go without human knowledge</cite> (2017); at the dice every roll comes ` +
      `as often as it falls.</p>`,
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
