// The room of logic: cellular automata made of logic gates that learn within seconds and harden into a circuit that one can see, damage,
// take along, and run on a big grid.

import type { Brings } from "../../parts/room";
import type { Experiment } from "./protocol";
import * as text from "./text";
import { LogicView } from "./view";
import "./style.css";

export const brings: Brings = {
  look: "logics",
  curves: { axis: "time", front: ["loss", "certainty", "success", "speed"], charts: text.charts },
  comparable: (a, b) => (a.about as Experiment).rule === (b.about as Experiment).rule,
  view: (page) => new LogicView(page),
};
