// Form for a new match.

import { form, h, id, labelled, select, ticked } from "../../parts/dom";
import { lookAheadField, WhoField } from "./players";
import type { Setup } from "./protocol";

const LENGTHS: [length: number, words: string][] = [
  [0, "money play"],
  [1, "to 1 point"],
  [3, "to 3 points"],
  [5, "to 5 points"],
  [7, "to 7 points"],
];

export class SetupForm {
  readonly element: HTMLElement;
  readonly opponent = new WhoField("Against", true);
  private readonly lookAhead = lookAheadField("Look-ahead", 100);
  private readonly length = select("length", LENGTHS);
  private readonly cube = h("input", { type: "checkbox", id: id("cube"), checked: true });

  constructor(begin: () => unknown) {
    this.element = form("setup", begin, [
      this.opponent.element,
      this.lookAhead.element,
      labelled("Length", this.length),
      ticked(this.cube, "Doubling cube"),
      h("button.strong", { type: "submit" }, "Start match"),
    ]);
  }

  /**
   * Returns the setup of a new match. The first side is the visitor if `person` is true, otherwise the current agent. The second side is
   * the opponent that the form selects.
   */
  setup(person: boolean): Setup {
    const evals = this.lookAhead.evals();
    return {
      seats: [person ? null : { who: { kind: "now" }, evals }, { who: this.opponent.who, evals }],
      length: Number(this.length.value),
      cube: this.cube.checked,
      seed: Math.floor(Math.random() * 2 ** 32),
    };
  }
}
