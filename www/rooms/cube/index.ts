// The cube room. It contains an agent that learns to solve the cube, and the agent's estimates beside the known distances. The visitor can
// turn, scramble, paint and solve a cube.

import type { RoomExtension } from "../../parts/room";
import { percent } from "../../parts/format";
import { knobToCurve } from "../../parts/tour";
import { trainedAgent } from "../../parts/trained";
import type { Puzzle } from "./protocol";
import type { CubeClient } from "./client";
import * as text from "./text";
import { CubeView } from "./view";
import "./colours.css";
import "./style.css";

export const extension: RoomExtension<CubeClient> = {
  curves: { axis: "time", front: ["loss", "length", "speed", "grad_norm"], charts: text.charts },
  budgets: [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
  comparable: (a, b) => (a.about as Puzzle).size === (b.about as Puzzle).size,
  knobs: ["lr", "epsilon", "gamma", "lr_steps"],
  tour: [
    {
      at: ".cube-picture",
      heading: "Auto-play",
      words: "The agent scrambles this cube and tries to solve it. Drag a sticker to turn a face, or press Scramble.",
    },
    { at: ".returns", heading: "The curve", words: "The share of states that the agent solves in tests. Tests do not train it." },
    ...knobToCurve("Drag the learning rate far to the right. If it is too large, learning stops."),
  ],
  can: [
    "Turn the cube, scramble it, and let the agent solve it greedily, by beam search or by A*.",
    "Read and count moves in half turns or in quarter turns.",
    "Enter your own cube, sticker by sticker, and see a solution.",
  ],
  gestures: [
    { shown: "drag a sticker", does: "turns that layer" },
    { shown: "drag beside the cube", does: "turns the view" },
  ],
  trained: trainedAgent({ variant: "2x2x2", task: ["metric"], column: "solved", level: (share) => `${percent(share)} solved` }),
  view: (page) => new CubeView(page),
};
