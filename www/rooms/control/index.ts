// The room of control: thousands of one environment under PPO, hundreds of them in sight, and one to take the controls of.

import type { Brings } from "../../parts/room";
import * as text from "./text";
import { ControlView } from "./view";
import "./style.css";

export const brings: Brings = {
  curves: {
    least: 100_000,
    front: ["policy_loss", "value_loss", "entropy", "approx_kl"],
    charts: text.charts,
  },
  budgets: [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
  saved:
    "A saved run holds everything: weights, optimiser, random numbers, environments and progress. It goes on here or in a terminal exactly where it stopped. A link carries the settings and the seed.",
  view: (page) => new ControlView(page),
};
