// The backgammon room: an agent that learns by self-play, a table to watch or play it, its candidate moves, and the analysis of any
// position.

import type { RoomExtension } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import { trainedAgent } from "../../parts/trained";
import type { Backgammon } from "./client";
import * as text from "./text";
import { BackgammonView, points } from "./view";
import "./style.css";

export const extension: RoomExtension<Backgammon> = {
  curves: { axis: "time", front: ["loss", "games", "speed", "length"], charts: text.charts },
  budgets: [1_000, 3_000, 10_000, 30_000, 100_000],
  saved:
    "A saved run contains weights, optimiser, random state, curves, saved agents and the table. It resumes exactly, here or in a " +
    "terminal. A link carries the settings, the seed and the live changes.",
  knobs: ["lr", "lambda", "games", "value_coef", "passes"],
  tour: [
    {
      at: ".board",
      heading: "Self-play",
      words: "The agent learns from games against itself. Its current network plays this one. Choose “Play the agent” and roll.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words:
        "Points per game in test games against random moves and against pubeval, a fixed program that Gerald Tesauro published in " +
        "1993. Above zero, the agent wins.",
    },
    ...knobToCurve("Drag the learning rate far to the right. If it is too large, the agent forgets."),
  ],
  can: [
    "Play against the current agent or an earlier one, with hints and a verdict on each move.",
    "Review a game move by move, on the board.",
    "Analyse any position that eXtreme Gammon or GNU Backgammon copies.",
  ],
  gestures: [{ shown: "touch a checker", does: "then a point to move it there; a second touch moves it by the larger die" }],
  trained: trainedAgent({
    variant: "strong",
    column: "linear_points",
    level: (value) => `${points(value)} points against ${text.PUBEVAL}`,
  }),
  view: (page) => new BackgammonView(page),
};
