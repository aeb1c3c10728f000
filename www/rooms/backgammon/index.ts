// The room of backgammon: an agent that teaches itself from the first second on, a table to watch it or to play it, what it
// considers, and any position analysed.

import type { Brings } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import type { Backgammon } from "./client";
import * as text from "./text";
import { BackgammonView } from "./view";
import "./style.css";

export const brings: Brings<Backgammon> = {
  curves: { axis: "time", front: ["loss", "games", "speed", "length"], charts: text.charts },
  budgets: [1_000, 3_000, 10_000, 30_000, 100_000],
  saved:
    "A saved run holds everything: weights, optimiser, random numbers, curves, the agents that were kept, and the table. It goes on " +
    "here or in a terminal exactly where it stopped. A link carries the settings, the seed and the live changes.",
  knobs: ["lr", "lambda", "games", "value_coef", "passes"],
  tour: [
    {
      at: ".board",
      heading: "It plays itself",
      words:
        "It plays thousands of games against itself. Its networks begin as random numbers; handmade inputs and an exact bear-off " +
        "table help it, and each has a switch. This is one game, played by the agent as it is now.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words: "Points a game against two fixed opponents, in games that do not train it: above zero it wins.",
    },
    ...knobToCurve("Drag the learning rate far to the right: too large, and it forgets."),
    {
      at: ".table .speeds",
      heading: "Now you",
      words: "Choose Play it, and the dice are yours. Each of your moves is judged; a hint shows what it would play.",
    },
  ],
  can: [
    "Play against the agent as it is now or as it was some minutes ago, with hints and a verdict on each move.",
    "Have any position analysed, by its GNU Backgammon id.",
  ],
  gestures: [{ shown: "touch a checker", does: "then a point to move it there; twice moves it by the larger die" }],
  view: (page) => new BackgammonView(page),
};
