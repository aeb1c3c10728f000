// The logic room: cellular automata of logic gates. They learn within seconds and harden into a circuit that the visitor can inspect,
// damage, download, and run on a big grid.

import type { RoomExtension } from "../../parts/room";
import { percent } from "../../parts/format";
import { knobToCurve } from "../../parts/tour";
import { trainedAgent } from "../../parts/trained";
import type { Experiment } from "./protocol";
import type { LogicClient } from "./client";
import * as text from "./text";
import { LogicView } from "./view";
import "./style.css";

export const extension: RoomExtension<LogicClient> = {
  curves: { axis: "time", main: "loss", front: ["perfect", "certainty", "success", "speed"], charts: text.charts },
  comparable: (a, b) => (a.about as Experiment).rule === (b.about as Experiment).rule,
  knobs: ["lr", "patience", "weight_decay"],
  tour: [
    {
      at: ".logic-stage",
      heading: "Gates that learn",
      words: "Every cell runs the same small circuit of learned logic gates. Damage cells and watch the circuit repair them.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words: "The soft loss is what training minimizes. The hard loss is the share of wrong cells of the circuit. At 0 it is exact.",
    },
    ...knobToCurve("Drag the learning rate far to either side."),
  ],
  can: ["Damage the grid and watch it heal.", "Inspect the circuit, run it on a large grid, and download it as Verilog or Rust."],
  trained: trainedAgent({ variant: "lizard", column: "perfect", level: (share) => `${percent(share)} correct cells` }),
  gestures: [{ shown: "draw on the grid", does: "damages cells" }],
  view: (page) => new LogicView(page),
};
