// Buttons and forms for the cube.

import { button, either, form, h, id, line, markInvalid, ticked } from "../../parts/dom";
import { calm } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import { MethodFields, numberField } from "./fields";
import type { Puzzle, Question, SolveMethod } from "./protocol";

/** Greatest distance between the solved cube and a state of the 2x2x2, in quarter turns. */
export const MOST_DISTANCE = 14;
/** Faces of the buttons, ordered in pairs of opposite faces. */
const BUTTONS = ["U", "D", "L", "R", "F", "B"];

export type Scramble = Question & { ask: "scramble" | "draw" };
export const randomSeed = (): number => Math.floor(Math.random() * 2 ** 32);

export interface CubeActions {
  make(names: string[]): void;
  write(text: string): unknown;
  undo(): void;
  /** Replaces the cube by the solved cube. */
  restore(): void;
  scramble(how: Scramble): unknown;
  solve(): unknown;
  cancel(): void;
  resetView(): void;
  showLetters(letters: boolean): void;
  setAutoPlay(on: boolean): void;
}

export class Controls {
  readonly tools: HTMLElement;
  readonly turns: HTMLElement;
  readonly forms: HTMLElement;
  readonly writing: HTMLElement;
  private readonly switch = h("input", { type: "checkbox", role: "switch", id: id("by-itself"), checked: !calm() });
  private readonly written: HTMLInputElement;
  private readonly undo: HTMLButtonElement;
  private readonly length = numberField("Scramble length", 12, 1, 200);
  private readonly distance = numberField("Distance", 8, 0, MOST_DISTANCE);
  private readonly byDistance: HTMLElement;
  private readonly fields = new MethodFields();
  private readonly solve = h("button.strong", { type: "submit" }, "Solve it");
  private readonly cancel: HTMLButtonElement;

  /** `error` is the element that shows the pane's errors. */
  constructor(actions: CubeActions, error: HTMLElement) {
    const letters = h("input", { type: "checkbox", id: id("letters"), checked: recall("cube-letters") === "on" });
    letters.addEventListener("change", () => {
      remember("cube-letters", letters.checked ? "on" : null);
      actions.showLetters(letters.checked);
    });
    if (letters.checked) actions.showLetters(true);
    this.switch.addEventListener("change", () => actions.setAutoPlay(this.switch.checked));
    this.tools = h("div.row.cube-tools", [
      ticked(this.switch, "Auto-play"),
      ticked(letters, "Letters"),
      button("Reset view", () => actions.resetView(), {
        class: "quiet small",
        title: "Reset the view (home, or double-click beside the cube)",
      }),
    ]);
    const names = BUTTONS.flatMap((face) => [face, `${face}'`]);
    this.turns = h("div.turns", { role: "group", "aria-label": "Turn a face" }, [
      names.map((name) => button(name, () => actions.make([name]), { "aria-label": `Turn ${name.replace("'", " prime")}` })),
    ]);
    this.written = line("moves", { placeholder: "R U2 F'", "aria-describedby": error.id });
    this.undo = button("Undo", () => actions.undo(), { title: "Undo (backspace)" });
    this.writing = form("wrap writing-moves", () => actions.write(this.written.value.trim()), [
      h("label.small", { for: this.written.id }, "Moves"),
      this.written,
      h("button", { type: "submit" }, "Turn"),
      this.undo,
      button("Solved cube", () => actions.restore()),
    ]);
    const scrambling = form(
      "scrambling wrap foot",
      () => actions.scramble({ ask: "scramble", moves: this.length.value(), seed: randomSeed() }),
      [this.length.element, h("button", { type: "submit" }, "Scramble")],
    );
    this.byDistance = form(
      "scrambling wrap foot",
      () => actions.scramble({ ask: "draw", distance: this.distance.value(), seed: randomSeed() }),
      [this.distance.element, h("button", { type: "submit" }, "Random position")],
    );
    this.cancel = button("Cancel", () => actions.cancel(), { hidden: true });
    const solving = form("solving wrap foot", () => actions.solve(), [...this.fields.elements, this.solve, this.cancel]);
    this.forms = h("div.cube-controls.stack", scrambling, this.byDistance, solving);
  }

  begin(puzzle: Puzzle): void {
    this.fields.begin(puzzle);
    this.byDistance.hidden = !puzzle.exact;
  }

  /** Sets the defaults of the fields for this puzzle. */
  setDefaults({ size }: Puzzle): void {
    this.length.input.value = size === 2 ? "12" : "30";
    this.switch.checked = !calm();
  }

  get method(): SolveMethod {
    return this.fields.method;
  }

  get autoPlay(): boolean {
    return this.switch.checked;
  }

  set autoPlay(autoPlay: boolean) {
    this.switch.checked = autoPlay;
  }

  get searching(): boolean {
    return !this.cancel.hidden;
  }

  set searching(searching: boolean) {
    if (searching === this.searching) return;
    either(searching, this.cancel, this.solve);
  }

  set undoable(undoable: boolean) {
    this.undo.disabled = !undoable;
  }

  wrote(refused: boolean): void {
    markInvalid(this.written, refused);
    if (!refused) this.written.value = "";
  }

  clearInvalid(): void {
    markInvalid(this.written, false);
  }
}
