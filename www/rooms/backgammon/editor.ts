// Board with an editor. While the editor is open, the visitor adds and removes checkers by pointer or keys, and sets cube, score, turn and
// dice in fields. The worker validates the position, and the editor shows the worker's message.

import type { Draft, Standing } from "./protocol";
import { button, h, id, labelled, select, ticked, write } from "../../parts/dom";
import { Turns } from "../../parts/requests";
import { BAR, Board, OFF, START } from "./board";
import type { Backgammon } from "./client";
import { DICE_ASKED, diceField, readDice } from "./dice";
import { capital } from "../../parts/format";
import { textOf } from "../../run/notice";

const ALL = 15;
const SEEN = "The position, seen by the player on roll";

/** Checkers of each side in its own numbering. Index 0 is borne off, 1 to 24 are points, 25 is the bar. */
type Sides = [number[], number[]];

const none = (): number[] => Array<number>(BAR + 1).fill(0);
const start = (): number[] => {
  const places = none();
  for (const [place, count] of START) places[place] = count;
  return places;
};
const on = (places: number[]): number => places.reduce((sum, count, place) => sum + (place === OFF ? 0 : count), 0);

export class Editor {
  readonly element: HTMLElement;
  readonly board = new Board(SEEN);
  private readonly above: HTMLElement;
  private readonly below: HTMLElement;
  private readonly pieces = select("pieces", [
    [0, "player on roll"],
    [1, "opponent"],
    ["-", "none (remove)"],
  ]);
  private readonly cube = select(
    "cube-value",
    [1, 2, 4, 8, 16, 32, 64].map((value) => [value, String(value)]),
  );
  private readonly owner = select("cube-owner", [
    ["", "centre"],
    ["mine", "player on roll"],
    ["theirs", "opponent"],
  ]);
  private readonly length = h("input", { type: "number", id: id("match-length"), min: 0, max: 64, value: 0 });
  private readonly scores = [0, 1].map(() => h("input", { type: "number", id: id("score"), min: 0, max: 63, value: 0 }));
  private readonly crawford = h("input", { type: "checkbox", id: id("crawford") });
  private readonly dice = diceField({ placeholder: "none" });
  private readonly said = h("p.editor-message", { role: "status" });
  private readonly apply: HTMLButtonElement;
  private sides: Sides = [start(), start()];
  private standing: Standing | undefined;
  private readonly questions = new Turns();

  constructor(
    private readonly client: Backgammon,
    private readonly done: (standing: Standing | undefined) => void,
  ) {
    this.apply = button("Apply", () => this.standing && this.done(this.standing), { class: "strong" });
    for (const input of [this.cube, this.owner, this.length, ...this.scores, this.crawford, this.dice])
      input.addEventListener("input", () => void this.check());
    this.above = h("div.row.foot", [
      labelled("Checkers to place", this.pieces),
      button("Start position", () => this.set([start(), start()])),
      button("Empty board", () => this.set([none(), none()])),
      button("Swap sides", () => this.turn()),
    ]);
    this.below = h("div.editor-fields", [
      labelled("Dice", this.dice),
      labelled("Cube", this.cube),
      labelled("Cube owner", this.owner),
      labelled("Match to (0: money)", this.length),
      labelled("Score, on roll", this.scores[0]!),
      labelled("Score, opponent", this.scores[1]!),
      ticked(this.crawford, "Crawford game"),
      this.said,
      h("p.row", [this.apply, button("Cancel", () => this.done(undefined))]),
    ]);
    this.element = h("div.editor", { role: "group" }, this.above, this.board.element, this.below);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.editing) return;
      event.preventDefault();
      this.done(undefined);
    });
    this.board.turnCube(undefined);
    this.edit(false);
  }

  get editing(): boolean {
    return !this.above.hidden;
  }

  private edit(editing: boolean): void {
    this.above.hidden = this.below.hidden = !editing;
    this.element.classList.toggle("editing", editing);
    this.element.setAttribute("aria-label", editing ? "Position editor" : "Position");
    this.board.label(editing ? "Position to edit, seen by the player on roll; enter adds a checker, delete removes one" : SEEN);
    this.board.pick = editing ? (place, less) => this.pick(place, less) : undefined;
  }

  open({ position, dice, cube, cube_is_mine, length, score, crawford }: Standing): void {
    this.edit(true);
    this.cube.value = String(cube);
    this.owner.value = cube_is_mine === null ? "" : cube_is_mine ? "mine" : "theirs";
    this.length.value = String(length);
    this.scores.forEach((input, k) => (input.value = String(score[k])));
    this.crawford.checked = crawford;
    this.dice.value = dice ? dice.join(" ") : "";
    this.board.point(0, []);
    this.board.throw(undefined);
    this.set([[...position.mine], [...position.theirs]]);
    this.pieces.focus();
  }

  close(): void {
    this.questions.take();
    this.edit(false);
  }

  private set(sides: Sides): void {
    this.sides = sides;
    for (const places of sides) places[OFF] = ALL - on(places);
    this.board.show({ mine: sides[0], theirs: sides[1] });
    void this.check();
  }

  private turn(): void {
    this.scores[0]!.value = [this.scores[1]!.value, (this.scores[1]!.value = this.scores[0]!.value)][0]!;
    if (this.owner.value) this.owner.value = this.owner.value === "mine" ? "theirs" : "mine";
    this.set([this.sides[1], this.sides[0]]);
  }

  /**
   * Adds a checker at a place. Removes a checker instead if `less` is true or the visitor has chosen to remove checkers. `at` is the place
   * in the numbering of the player on roll.
   */
  private pick(at: number, less: boolean): void {
    const take = less || this.pieces.value === "-";
    const place = (side: number): number => (at === BAR || at === OFF ? at : side === 0 ? at : 25 - at);
    const chosen = this.pieces.value === "1" ? 1 : 0;
    if (at === OFF) return this.report("Remove checkers from points to bear them off.");
    const side = take ? ([chosen, 1 - chosen].find((side) => this.sides[side]![place(side)]! > 0) ?? chosen) : chosen;
    const places = this.sides[side]!;
    if (take && places[place(side)] === 0) return this.report("No checker to remove here.");
    if (!take && on(places) === ALL) return this.report("All 15 checkers of that side are on the board. Remove one first.");
    places[place(side)]! += take ? -1 : 1;
    this.set(this.sides);
  }

  private report(words: string): void {
    write(this.said, words);
  }

  private draft(): Draft | string {
    const dice = readDice(this.dice.value);
    if (dice === undefined) return DICE_ASKED;
    const whole = (input: HTMLInputElement): number => Math.max(0, Math.trunc(Number(input.value) || 0));
    const length = whole(this.length);
    const counts = (places: number[]): number[] => places.slice(1);
    return {
      mine: counts(this.sides[0]),
      theirs: counts(this.sides[1]),
      dice,
      cube: Number(this.cube.value),
      cube_is_mine: this.owner.value === "" ? null : this.owner.value === "mine",
      length,
      // A money game has no score.
      score: length ? [whole(this.scores[0]!), whole(this.scores[1]!)] : [0, 0],
      crawford: length > 0 && this.crawford.checked,
    };
  }

  private async check(): Promise<void> {
    const stale = this.questions.take();
    const owner = this.owner.value === "" ? null : this.owner.value === "mine" ? 0 : 1;
    this.board.turnCube({ value: Number(this.cube.value), owner });
    this.apply.disabled = true;
    this.standing = undefined;
    const draft = this.draft();
    if (typeof draft === "string") return this.report(draft);
    try {
      const standing = await this.client.ask({ ask: "compose", draft });
      if (stale()) return;
      this.standing = standing;
      this.apply.disabled = false;
      const [mine, theirs] = this.sides;
      this.report(
        `Valid position. On roll: ${on(mine)} checkers on the board, ${mine[OFF]} off, ${standing.position.my_pips} pips; ` +
          `opponent: ${on(theirs)}, ${theirs[OFF]} off, ${standing.position.their_pips} pips.`,
      );
    } catch (error) {
      if (!stale()) this.report(capital(textOf(error)));
    }
  }
}
