// Settings of the grid that the visitor can choose.

import { h, labelled, select } from "../../parts/dom";
import type { Damage, Experiment, Picture, Start } from "./protocol";

const PACES: [words: string, times: number][] = [
  ["slow", 0.25],
  ["normal", 1],
  ["fast", 5],
];
/** Offered side lengths of a rule's grid, in cells. The sizes of a pattern's grid depend on its target, but a rule has no target. */
const SIDES = [32, 64, 128, 256];
const MULTIPLES = [1, 2, 4, 8];

export class GridChoices {
  readonly element: HTMLElement;
  private readonly starts = select("start", [
    ["learned", "as in training"],
    ["random", "random"],
    ["blank", "blank"],
    ["target", "target"],
  ]);
  private readonly sizes = select("size", []);
  private readonly paces = select(
    "pace",
    PACES.map(([words, times]) => [times, words]),
    1,
  );
  private readonly forms = select("form", [
    ["settling", "soft, then hard"],
    ["hard", "hard: the circuit"],
    ["soft", "soft: as trained"],
  ]);
  private readonly hows = select("how", [
    ["noise", "noise"],
    ["blank", "blank"],
    ["flip", "flip"],
  ]);
  private readonly brushes = select(
    "brush",
    [
      [0, "1 cell"],
      [1, "small"],
      [2, "middle"],
      [4, "large"],
    ],
    2,
  );

  /** `again` is called after a change that requires a new grid, `brushed` after a change of the brush. */
  constructor(again: () => void, brushed: () => void) {
    for (const one of [this.starts, this.sizes, this.forms]) one.addEventListener("change", again);
    this.brushes.addEventListener("change", brushed);
    this.element = h("div.grid-choices", [
      labelled("Start", this.starts),
      labelled("Grid", this.sizes),
      labelled("Speed", this.paces),
      labelled("Gates", this.forms),
      labelled("Damage", this.hows),
      labelled("Brush", this.brushes),
    ]);
  }

  begin({ rule }: Experiment): void {
    this.starts.value = rule ? "random" : "learned";
  }

  setTarget(target: Picture | null): void {
    for (const option of this.starts.options) option.disabled = option.hidden = option.value === "target" && !target;
  }

  /** Sets the offered grid sizes. For a pattern they are multiples of `width` and `height`. */
  setSizes({ rule, width, height }: Pick<Experiment, "rule" | "width" | "height">): void {
    const sizes = rule ? SIDES.map((side) => [side, side]) : MULTIPLES.map((times) => [width * times, height * times]);
    this.sizes.replaceChildren(
      ...sizes.map(([wide, tall], k) =>
        h("option", { value: `${wide}x${tall}` }, rule || k === 0 ? `${wide}x${tall}` : `${wide}x${tall}, ${MULTIPLES[k]} times`),
      ),
    );
  }

  get start(): Start {
    return this.starts.value as Start;
  }

  get size(): [width: number, height: number] {
    return this.sizes.value.split("x").map(Number) as [number, number];
  }

  get pace(): number {
    return Number(this.paces.value);
  }

  /**
   * Returns true if the grid runs soft gates. With the choice "settling", a pattern at its training size runs soft gates until its
   * automaton is done.
   */
  soft(done: boolean, rule: boolean): boolean {
    return this.forms.value === "soft" || (this.forms.value === "settling" && this.sizes.selectedIndex === 0 && !rule && !done);
  }

  get how(): Damage {
    return this.hows.value as Damage;
  }

  get brush(): number {
    return Number(this.brushes.value);
  }
}
