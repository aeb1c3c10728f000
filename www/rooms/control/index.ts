// The room of control: thousands of one environment under PPO, hundreds of them in sight, and one to take the controls of.

import type { Brings } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import type { ControlClient } from "./client";
import * as text from "./text";
import { ControlView } from "./view";
import "./style.css";

export const brings: Brings<ControlClient> = {
  curves: { least: 100_000, front: ["policy_loss", "value_loss", "entropy", "approx_kl"], charts: text.charts },
  budgets: [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
  saved:
    "A saved run holds everything: weights, optimiser, random numbers, environments and progress. It goes on here or in a terminal " +
    "exactly where it stopped. A link carries the settings, the seed and the live changes.",
  knobs: ["lr", "entropy", "gamma"],
  tour: [
    {
      at: ".environments",
      heading: "They learn",
      words: "Each of these is a copy of the environment. All share one network, which has been learning since the page opened.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words: "The return, the sum of an episode's rewards, rises as they get better. Circles are tests; the dotted line counts as solved.",
    },
    ...knobToCurve("Drag the learning rate far to the right: too large, and what was learned is lost."),
    {
      at: ".large",
      heading: "Now you",
      words: "Take the controls and play against the agent from the same start. Training never sees it.",
    },
  ],
  can: [
    "Push the single environment, or take its controls and play against the agent.",
    "Read the state plane: what the policy would do, and what the critic expects, in any state.",
  ],
  gestures: [
    { shown: "drag the single one", does: "pushes it, where it can be pushed" },
    { shown: "press at a side", does: "steers, once you have taken the controls" },
    { shown: "touch the state plane", does: "reads policy and value there" },
  ],
  view: (page) => new ControlView(page),
};
