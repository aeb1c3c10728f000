// The room of the cube: an agent that learns to solve it from the first second on, a cube to turn, scramble, paint and have
// solved, and what is known of every state beside what the agent thinks.

import type { Brings } from "../../parts/room";
import type { Puzzle } from "./protocol";
import * as text from "./text";
import { CubeView } from "./view";
import "./style.css";

export const brings: Brings = {
  look: "cubes",
  curves: { axis: "time", front: ["loss", "length", "speed", "grad_norm"], charts: text.charts },
  budgets: [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000],
  comparable: (a, b) => (a.about as Puzzle).size === (b.about as Puzzle).size,
  view: (page) => new CubeView(page),
};
