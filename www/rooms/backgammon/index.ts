// The room of backgammon: an agent that teaches itself from the first second on, a table to watch it or to play it, what it
// considers, and any position analysed.

import type { Brings } from "../../parts/room";
import * as text from "./text";
import { BackgammonView } from "./view";
import "./style.css";

export const brings: Brings = {
  look: "backgammon",
  curves: { axis: "time", front: ["loss", "games", "speed", "length"], charts: text.charts },
  budgets: [1_000, 3_000, 10_000, 30_000, 100_000],
  saved:
    "A saved run holds everything: weights, optimiser, random numbers, curves, the agents that were kept, and the table. It goes on here or in a terminal exactly where it stopped. A link carries the settings and the seed.",
  view: (page) => new BackgammonView(page),
};
