// The stage of the room. It shows the grid, the drawn circuit, or the circuit on a million cells. Each of these views has a picture, and
// facts and actions beside the picture.

import { button, Choice, h, write } from "../../parts/dom";
import type { BigPane } from "./big";
import type { CircuitStage } from "./circuit";
import type { TrainedChoice } from "../../parts/trained-choice";
import { gatesText } from "./text";

const PARTS = { grid: "Grid", circuit: "Circuit", big: "A million cells" };
type StagePart = keyof typeof PARTS;

export class LogicStage {
  readonly element: HTMLElement;
  private readonly choice: Choice<StagePart>;
  /** Button that replaces the trained run's automaton by the automaton of the visitor's run. */
  private readonly yours = button("", () => this.train(), { class: "small", hidden: true });
  private part: StagePart = "grid";
  private gates: number | undefined;

  constructor(
    private readonly grid: HTMLElement,
    private readonly circuit: CircuitStage,
    private readonly big: BigPane,
    /** The choice between the automaton of the trained run and that of the visitor's run. */
    private readonly trained: TrainedChoice,
    private readonly train: () => void,
  ) {
    const options = (Object.keys(PARTS) as StagePart[]).map((value) => ({ value, words: PARTS[value] }));
    this.choice = new Choice("On the stage", options, "grid", (part) => this.show(part), "speeds stage-switch");
    this.element = h(
      "div.logic-stage",
      h("div.stage-choices", this.choice.element, trained.element, this.yours),
      grid,
      circuit.element,
      big.stage,
    );
    this.show("grid");
  }

  /** Shows one view of the stage. With the grid, a perfect circuit is also shown as a small picture. */
  show(part: StagePart): void {
    const { grid, circuit, big } = this;
    this.part = part;
    this.choice.value = part;
    this.element.dataset.part = part;
    grid.hidden = part !== "grid";
    circuit.element.hidden = part === "big" || (part === "grid" && this.gates === undefined);
    circuit.small = part === "grid";
    big.stage.hidden = part !== "big";
    if (part === "big") big.start();
  }

  /** Sets the text of the button `yours`. Shows the button only while the automaton of the trained run is shown. */
  offer(words: string): void {
    write(this.yours, words);
    this.yours.hidden = this.trained.answerer !== "trained";
  }

  /** Called when a run begins. The selected view of the stage remains selected. */
  begin(): void {
    this.setGates(undefined);
    this.show(this.part);
  }

  /** Sets the number of gates of the perfect circuit. `gates` is undefined while no circuit is perfect. */
  setGates(gates: number | undefined): void {
    if (gates === this.gates) return;
    this.gates = gates;
    write(this.choice.element.querySelectorAll("label")[1]!, gates === undefined ? PARTS.circuit : `${PARTS.circuit}: ${gatesText(gates)}`);
    this.show(this.part);
  }
}
