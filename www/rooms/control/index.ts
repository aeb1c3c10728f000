// The control room: PPO on thousands of copies of an environment, of which hundreds are drawn and one can be steered.

import type { RoomExtension } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import type { ControlClient } from "./client";
import * as text from "./text";
import { ControlView } from "./view";
import "./style.css";

export const extension: RoomExtension<ControlClient> = {
  curves: { least: 100_000, front: ["policy_loss", "value_loss", "entropy", "approx_kl"], charts: text.charts },
  budgets: [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
  saved:
    "A saved run contains weights, optimiser, random state, environments and progress. It resumes exactly, here or in a terminal. " +
    "A link carries the settings, the seed and the live changes.",
  knobs: ["lr", "entropy", "gamma"],
  tour: [
    {
      at: ".environments",
      heading: "They learn",
      words: "Each figure is one copy of the environment. One network steers them all. Take the controls and play against it.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words: "The return is the sum of an episode's rewards. Circles are tests; the dotted line is the goal.",
    },
    ...knobToCurve("Drag the learning rate far to the right. Steps that are too large destroy what was learned."),
  ],
  can: [
    "Push the single environment, or take its controls and play against the agent, at quarter, half or full speed.",
    "Read the state plane: the policy's action and the critic's value in any state.",
  ],
  gestures: [
    { shown: "drag the single environment", does: "pushes it (CartPole)" },
    { shown: "press the left or right side", does: "steers to that side, while you have the controls" },
    { shown: "touch the state plane", does: "reads policy and value there" },
  ],
  view: (page) => new ControlView(page),
};
