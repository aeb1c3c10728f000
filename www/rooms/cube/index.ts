// The room of the cube: an agent that learns to solve it from the first second on, a cube to turn, scramble, paint and have
// solved, and what is known of every state beside what the agent thinks.

import type { Brings } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import type { Puzzle } from "./protocol";
import type { CubeClient } from "./client";
import * as text from "./text";
import { CubeView } from "./view";
import "./style.css";

export const brings: Brings<CubeClient> = {
  curves: { axis: "time", front: ["loss", "length", "speed", "grad_norm"], charts: text.charts },
  budgets: [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
  comparable: (a, b) => (a.about as Puzzle).size === (b.about as Puzzle).size,
  knobs: ["lr", "epsilon", "gamma", "lr_steps"],
  tour: [
    {
      at: ".cube-picture",
      heading: "It tries",
      words: "The agent scrambles this cube and solves it with what it has learned so far. It has never seen a solution.",
    },
    { at: ".returns", heading: "The curve", words: "The share of states that it solves, by tests that do not train it." },
    ...knobToCurve("Drag the learning rate far to the right: too large, and it stops getting better."),
    { at: ".cube-picture", heading: "Now you", words: "Drag a sticker to turn a face, scramble it as you like, and have it solved." },
  ],
  can: [
    "Turn the cube, scramble it, and have it solved greedily, by beam search or by A*.",
    "Enter your own cube, sticker by sticker, and see a solution.",
  ],
  gestures: [
    { shown: "drag a sticker", does: "turns that layer" },
    { shown: "drag beside the cube", does: "turns the view" },
  ],
  view: (page) => new CubeView(page),
};
