// Buttons and forms for the cube. Main actions and options are beside the cube; the visitor opens further controls.

import { button, Choice, either, form, h, id, labelled, line, markInvalid, select, ticked, write } from "../../parts/dom";
import { calm } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import type { TrainedAgent } from "../../parts/trained";
import { TrainedChoice } from "../../parts/trained-choice";
import type { Answerer } from "../../run/trained";
import { MethodFields, numberField } from "./fields";
import { prefer, preferred, type Metric } from "./notation";
import type { Puzzle, SolveMethod } from "./protocol";
import { atDistance, farthest, presets, usual, type Preset } from "./scrambles";

/** Faces of the buttons, ordered in pairs of opposite faces. */
const BUTTONS = ["U", "D", "L", "R", "F", "B"];
const SPOKEN: Record<string, string> = { "": "", "2": "2", "'": " prime" };
/** Speeds of playback: the time per move in ms, and the name of the speed. */
const PACES: [ms: number, words: string][] = [
  [1000, "Slow"],
  [480, "Normal"],
  [190, "Fast"],
];

export interface CubeActions {
  make(names: string[]): void;
  write(text: string): unknown;
  undo(): void;
  /** Replaces the cube by the solved cube. */
  restore(): void;
  scramble(preset: Preset): unknown;
  solve(): unknown;
  cancel(): void;
  resetView(): void;
  showLetters(letters: boolean): void;
  setAutoPlay(on: boolean): void;
  setNotation(notation: Metric): void;
}

export class Controls {
  readonly main: HTMLElement;
  readonly options: HTMLElement;
  /** Further controls, which a button of the options opens. */
  readonly more: HTMLElement;
  notation = preferred();
  private readonly switch = h("input", { type: "checkbox", role: "switch", id: id("auto-play"), checked: !calm() });
  private readonly written: HTMLInputElement;
  private readonly undo: HTMLButtonElement;
  private readonly halfTurns: HTMLButtonElement[];
  private readonly length = h("select", { id: id("length") });
  private readonly distance = numberField("Distance", 8, 0, 14);
  private readonly byDistance: HTMLElement;
  private readonly fields = new MethodFields();
  private readonly pace = select("pace", PACES, 480);
  private readonly solve = button("Solve it", () => this.actions.solve());
  private readonly cancel = button("Cancel", () => this.actions.cancel(), { hidden: true });
  private readonly agents = new TrainedChoice("Solved by", "Solve it", "agent");
  private presets: Preset[] = [];

  /** `error` is the element that shows the pane's errors. */
  constructor(
    private readonly actions: CubeActions,
    error: HTMLElement,
  ) {
    this.switch.addEventListener("change", () => actions.setAutoPlay(this.switch.checked));
    const groups = BUTTONS.map((face) =>
      ["", "2", "'"].map((end) => button(face + end, () => actions.make([face + end]), { "aria-label": `Turn ${face}${SPOKEN[end]}` })),
    );
    this.halfTurns = groups.map(([, half]) => half!);
    this.written = line("moves", { placeholder: "R U2 F'", "aria-describedby": error.id });
    this.undo = button("Undo", () => actions.undo(), { title: "Undo (backspace)" });
    this.byDistance = form("row foot", () => actions.scramble(atDistance(this.distance.value())), [
      this.distance.element,
      h("button", { type: "submit" }, "Random position"),
    ]);
    this.more = h("div.cube-more.stack", { id: id("more"), hidden: true }, [
      h(
        "div.turns",
        { role: "group", "aria-label": "Turn a face" },
        groups.map((group) => h("span.turn", group)),
      ),
      h("div.row.foot", [
        form("row foot writing-moves", () => actions.write(this.written.value.trim()), [
          labelled("Moves", this.written),
          h("button", { type: "submit" }, "Turn"),
        ]),
        this.undo,
        button("Solved cube", () => actions.restore()),
        button("Reset view", () => actions.resetView(), { title: "Reset the view (home, or double-click beside the cube)" }),
        this.letters(),
      ]),
      h("div.row.foot", ...this.fields.elements, labelled("Speed", this.pace), this.byDistance),
    ]);
    const notation = new Choice<Metric>(
      "Notation",
      [
        { value: "half", words: "Half turns", title: "A half turn is one move: U2" },
        { value: "quarter", words: "Quarter turns", title: "A half turn is two moves: U U" },
      ],
      this.notation,
      (chosen) => this.setNotation(chosen),
    );
    this.options = h("div.cube-options", [
      h("div.row.spread", ticked(this.switch, "Auto-play"), this.opener()),
      notation.element,
      labelled("Length", this.length),
    ]);
    this.main = h("div.cube-actions", [
      this.agents.element,
      button("Scramble", () => actions.scramble(this.presets.find((one) => one.id === this.length.value)!), { class: "strong" }),
      this.solve,
      this.cancel,
    ]);
    this.setHalfTurns();
  }

  begin(puzzle: Puzzle, metric: Metric): void {
    this.fields.begin(puzzle);
    this.byDistance.hidden = !puzzle.exact;
    this.distance.input.max = String(farthest(puzzle, metric));
    this.offer = () => presets(puzzle, this.notation, metric);
    this.offerPresets();
  }

  /** Sets the defaults of the fields for this puzzle. */
  setDefaults(puzzle: Puzzle): void {
    this.length.value = usual(puzzle);
    this.switch.checked = !calm();
  }

  get method(): SolveMethod {
    return this.fields.method;
  }

  /** Run whose agent solves the cube: the visitor's run or the trained agent's run. */
  get solvedBy(): Answerer {
    return this.agents.answerer;
  }

  setTrained(agent: TrainedAgent): void {
    this.agents.set(agent);
  }

  get paceMs(): number {
    return Number(this.pace.value);
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
    if (searching !== this.searching) either(searching, this.cancel, this.solve);
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

  private offer: () => Preset[] = () => [];

  /** Writes the names of the presets in the visitor's notation. The selected preset remains selected. */
  private offerPresets(): void {
    const { value } = this.length;
    this.presets = this.offer();
    this.length.replaceChildren(...this.presets.map(({ id, words }) => h("option", { value: id, selected: id === value }, words)));
  }

  private setNotation(notation: Metric): void {
    this.notation = notation;
    prefer(notation);
    this.setHalfTurns();
    this.offerPresets();
    this.actions.setNotation(notation);
  }

  private setHalfTurns(): void {
    for (const one of this.halfTurns) one.hidden = this.notation === "quarter";
  }

  private letters(): HTMLElement {
    const letters = h("input", { type: "checkbox", id: id("letters"), checked: recall("cube-letters") === "on" });
    letters.addEventListener("change", () => {
      remember("cube-letters", letters.checked ? "on" : null);
      this.actions.showLetters(letters.checked);
    });
    if (letters.checked) this.actions.showLetters(true);
    return ticked(letters, "Letters");
  }

  private opener(): HTMLElement {
    const opener = button("More", () => open(Boolean(this.more.hidden)), {
      class: "quiet",
      "aria-expanded": "false",
      "aria-controls": this.more.id,
    });
    const open = (open: boolean): void => {
      this.more.hidden = !open;
      opener.setAttribute("aria-expanded", String(open));
      write(opener, open ? "Less" : "More");
      // Scrolls the controls into view, because the bar at the bottom of the page may cover them.
      if (open) this.more.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
    };
    return opener;
  }
}
