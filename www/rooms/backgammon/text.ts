// Texts of the backgammon room.

import type { ChartWords } from "../../parts/curves";

export const title = "An agent that teaches itself backgammon";

/** The baseline program, named so that a newcomer knows what it is. */
export const PUBEVAL = "pubeval, a fixed program of 1993";

export const charts: Record<string, ChartWords> = {
  strength: {
    title: "Points per game",
    about: `test games against random moves and ${PUBEVAL}; gammons count twice, backgammons three times; bars: standard error`,
    digits: 2,
    span: [-0.5, 1.5],
    levels: [{ value: 0, label: "even" }],
    labels: { random_points: "random", linear_points: "pubeval" },
  },
  loss: { about: "error of the network; stays above 0 because of the dice" },
  games: { about: "games of self-play", span: [0, 100] },
  speed: { about: "boards evaluated to play and to learn", span: [0, 1000] },
  length: {
    title: "Length of a game",
    about: "moves of both sides; rises at first, then falls",
    span: [0, 80],
  },
};
