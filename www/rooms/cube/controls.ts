// What one can do with the cube, as buttons and forms.

import { button, either, form, h, id, line, markInvalid, ticked } from "../../parts/dom";
import { calm } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import { MethodFields, numberField } from "./fields";
import type { Puzzle, Question, SolveMethod } from "./protocol";

/** No state of the 2x2x2 is farther, in quarter turns. */
export const MOST_DISTANCE = 14;
/** In pairs of opposite faces. */
const BUTTONS = ["U", "D", "L", "R", "F", "B"];

export type Scramble = Question & { ask: "scramble" | "draw" };
export const drawn = (): number => Math.floor(Math.random() * 2 ** 32);

export interface Does {
  make(names: string[]): void;
  write(text: string): unknown;
  undo(): void;
  /** The solved cube takes its place. */
  restore(): void;
  scramble(how: Scramble): unknown;
  solve(): unknown;
  cancel(): void;
  resetView(): void;
  showLetters(letters: boolean): void;
  tryOrNot(byItself: boolean): void;
}

export class Controls {
  readonly tools: HTMLElement;
  readonly turns: HTMLElement;
  readonly forms: HTMLElement;
  readonly writing: HTMLElement;
  private readonly switch = h("input", { type: "checkbox", role: "switch", id: id("by-itself"), checked: !calm() });
  private readonly written: HTMLInputElement;
  private readonly undo: HTMLButtonElement;
  private readonly length = numberField("By moves", 12, 1, 200);
  private readonly distance = numberField("By distance", 8, 0, MOST_DISTANCE);
  private readonly byDistance: HTMLElement;
  private readonly fields = new MethodFields();
  private readonly solve = h("button.strong", { type: "submit" }, "Solve it");
  private readonly cancel: HTMLButtonElement;

  /** `error` is where refusals are told. */
  constructor(does: Does, error: HTMLElement) {
    const letters = h("input", { type: "checkbox", id: id("letters"), checked: recall("cube-letters") === "on" });
    letters.addEventListener("change", () => {
      remember("cube-letters", letters.checked ? "on" : null);
      does.showLetters(letters.checked);
    });
    if (letters.checked) does.showLetters(true);
    this.switch.addEventListener("change", () => does.tryOrNot(this.switch.checked));
    this.tools = h("div.row.cube-tools", [
      ticked(this.switch, "It tries by itself"),
      ticked(letters, "Letters"),
      button("Reset view", () => does.resetView(), {
        class: "quiet small",
        title: "Reset the view (home, or double-click beside the cube)",
      }),
    ]);
    const names = BUTTONS.flatMap((face) => [face, `${face}'`]);
    this.turns = h("div.turns", { role: "group", "aria-label": "Turn a face" }, [
      names.map((name) => button(name, () => does.make([name]), { "aria-label": `Turn ${name.replace("'", " prime")}` })),
    ]);
    this.written = line("moves", { placeholder: "R U2 F'", "aria-describedby": error.id });
    this.undo = button("Undo", () => does.undo(), { title: "Undo (backspace)" });
    this.writing = form("wrap writing-moves", () => does.write(this.written.value.trim()), [
      h("label.small", { for: this.written.id }, "Moves"),
      this.written,
      h("button", { type: "submit" }, "Turn"),
      this.undo,
      button("Solved cube", () => does.restore()),
    ]);
    const scrambling = form("scrambling wrap foot", () => does.scramble({ ask: "scramble", moves: this.length.value(), seed: drawn() }), [
      this.length.element,
      h("button", { type: "submit" }, "Scramble"),
    ]);
    this.byDistance = form("scrambling wrap foot", () => does.scramble({ ask: "draw", distance: this.distance.value(), seed: drawn() }), [
      this.distance.element,
      h("button", { type: "submit" }, "Draw a state"),
    ]);
    this.cancel = button("Cancel", () => does.cancel(), { hidden: true });
    const solving = form("solving wrap foot", () => does.solve(), [...this.fields.elements, this.solve, this.cancel]);
    this.forms = h("div.cube-controls.stack", scrambling, this.byDistance, solving);
  }

  begin(puzzle: Puzzle): void {
    this.fields.begin(puzzle);
    this.byDistance.hidden = !puzzle.exact;
  }

  /** Another cube begins: scrambles are as long as suits it. */
  suit({ size }: Puzzle): void {
    this.length.input.value = size === 2 ? "12" : "30";
    this.switch.checked = !calm();
  }

  get method(): SolveMethod {
    return this.fields.method;
  }

  get byItself(): boolean {
    return this.switch.checked;
  }

  set byItself(byItself: boolean) {
    this.switch.checked = byItself;
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

  forgive(): void {
    markInvalid(this.written, false);
  }
}
