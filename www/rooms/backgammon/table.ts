// The table: players, board, best moves and actions. It shows a session and calls its callbacks when the visitor acts.

import { Dialog } from "../../parts/dialog";
import { button, form, h, line, markInvalid, write } from "../../parts/dom";
import { capital } from "../../parts/format";
import type { Board, Side } from "./board";
import { allOf, type Roll } from "./dice";
import { whoIs } from "./players";
import type { Act, Session } from "./protocol";
import { answerOf, isPlayed, LEVELS, points, statusOf } from "./phrases";
import type { ReviewPane } from "./review";

export type Mode = "watch" | "play";

export interface TableCallbacks {
  act(act: Act): Promise<void>;
  newMatch(): unknown;
  hint(): unknown;
  pause(): unknown;
  choose(mode: Mode): void;
  review(): unknown;
}

type Name =
  | "roll"
  | "confirm"
  | "take"
  | "next"
  | "again"
  | "play"
  | "pass"
  | "undo"
  | "hint"
  | "double"
  | "resign"
  | "pause"
  | "review"
  | "watch"
  | "match";

/** Buttons for actions. The first group contains the main actions and shows one of them at a time. */
class Actions {
  readonly element: HTMLElement;
  private readonly buttons: Record<Name, HTMLButtonElement>;

  constructor(callbacks: TableCallbacks, resign: () => void, match: () => void) {
    const action = (words: string, run: () => unknown, key = ""): HTMLButtonElement =>
      button(words, run, { hidden: true, title: key && `${words} (${key})` });
    const main = (words: string, run: () => unknown, key = ""): HTMLButtonElement => {
      const made = action(words, run, key);
      made.classList.add("strong");
      return made;
    };
    this.buttons = {
      roll: main("Roll", () => callbacks.act({ kind: "roll" }), "d"),
      confirm: main("Confirm", () => callbacks.act({ kind: "confirm" }), "d"),
      take: main("Take", () => callbacks.act({ kind: "take" })),
      next: main("Next game", () => callbacks.act({ kind: "next_game" }), "d"),
      again: main("Play again", () => callbacks.newMatch()),
      play: main("Play the agent", () => callbacks.choose("play")),
      pass: action("Pass", () => callbacks.act({ kind: "pass" })),
      undo: action("Undo", () => callbacks.act({ kind: "undo", all: false }), "u"),
      hint: action("Hint", () => callbacks.hint(), "h"),
      double: action("Double", () => callbacks.act({ kind: "double" })),
      resign: action("Resign", resign),
      pause: action("Pause the game", () => callbacks.pause()),
      review: action("Review", () => callbacks.review()),
      watch: action("Watch", () => callbacks.choose("watch")),
      match: action("New match", match),
    };
    const { roll, confirm, take, next, again, play, watch, match: fresh, ...others } = this.buttons;
    this.element = h("div.row.table-actions", [
      h("span.main-action", roll, confirm, take, next, again, play),
      ...Object.values(others),
      h("span.row.at-end", watch, fresh),
    ]);
  }

  show({ may, phase, setup, turn, moves }: Session): void {
    const person = setup.seats[0] === null;
    const over = phase === "over";
    const going = person && !over;
    const own = turn === 0 && !may.reply;
    const shown: Record<Name, boolean> = {
      roll: person && may.roll,
      confirm: person && phase === "to_play" && own,
      take: person && may.answer,
      next: person && may.next_game,
      again: person && over && !may.next_game,
      play: !person,
      pass: person && may.answer,
      undo: going,
      hint: going,
      double: going && setup.cube && !may.answer,
      resign: going,
      pause: !person,
      review: over || !person,
      watch: person,
      match: true,
    };
    for (const name of Object.keys(shown) as Name[]) this.buttons[name].hidden = !shown[name];
    // The following buttons stay visible but disabled while their actions are impossible, so that the other buttons do not move.
    const { confirm, undo, double, resign } = may;
    const hint = may.hint && !may.reply && phase !== "opening";
    const possible = { confirm, undo, double, resign, hint, review: moves.length > 0 };
    for (const name of Object.keys(possible) as (keyof typeof possible)[]) this.buttons[name].disabled = !possible[name];
  }

  /** Presses the first visible button among `names`. */
  press(...names: Name[]): void {
    names
      .map((name) => this.buttons[name])
      .find(({ hidden }) => !hidden)
      ?.click();
  }

  focus(options: FocusOptions): void {
    Object.values(this.buttons)
      .find(({ hidden, disabled }) => !hidden && !disabled)
      ?.focus(options);
  }

  pause(paused: boolean): void {
    write(this.buttons.pause, paused ? "Resume the game" : "Pause the game");
  }
}

export class Table {
  readonly element: HTMLElement;
  readonly actions: Actions;
  private readonly seats = [0, 1].map((side) => h("p", { class: side ? "seat theirs" : "seat yours" }));
  private readonly status = h("p.table-status");
  private readonly error = h("p.error", { role: "alert" });
  private readonly verdict = h("p.verdict.small");
  private readonly written = line("move", { placeholder: "8/5 6/5" });
  private readonly writing: HTMLFormElement;
  private session: Session | undefined;

  constructor(
    private readonly callbacks: TableCallbacks,
    readonly board: Board,
    setup: HTMLElement,
    best: HTMLElement,
    private readonly review: ReviewPane,
  ) {
    const starting = new Dialog("New match", setup);
    setup.addEventListener("submit", () => starting.close());
    const resigning = new Dialog("Resign");
    const give = (level: number): HTMLElement =>
      button(`Resign ${LEVELS[level]}`, () => (resigning.close(), callbacks.act({ kind: "resign", points: level })));
    resigning.element.append(h("p", "The opponent gets the points, times the cube."), h("p.row", give(1), give(2), give(3)));
    board.turnCube(undefined);
    this.actions = new Actions(
      callbacks,
      () => resigning.open(),
      () => starting.open(),
    );
    this.writing = form("row writing", () => this.write(), [h("label", { for: this.written.id }, "Type the move"), this.written]);
    this.writing.hidden = true;
    this.element = h("section.table", { "aria-label": "The table" }, [
      ...this.seats,
      board.element,
      best,
      h("div.note", this.status, this.verdict, this.error, review.message),
      h("div.foot", this.actions.element, review.controls),
      this.writing,
    ]);
  }

  // ---- messages

  /** True while the table shows an error. */
  get refused(): boolean {
    return this.error.textContent !== "";
  }

  refuse(words: string): void {
    write(this.error, "");
    write(this.error, words && capital(words));
  }

  judge(words: string, verdict?: string): void {
    write(this.verdict, words);
    if (verdict) this.verdict.dataset.verdict = verdict;
    else delete this.verdict.dataset.verdict;
  }

  /** If the focused button is hidden or disabled, moves the focus to the board or to another button. The page does not scroll. */
  keepFocus(): void {
    const active = document.activeElement;
    const usable = active instanceof HTMLElement && active.offsetParent !== null && !active.matches(":disabled");
    if (usable && active !== document.body) return;
    if (this.session?.legal.length) this.board.focus({ preventScroll: true });
    else this.actions.focus({ preventScroll: true });
  }

  // ---- contents

  /** Shows a session. A review leaves the board unchanged, because the board then shows an earlier position. */
  show(session: Session): void {
    this.session = session;
    this.review.take(session);
    this.element.classList.toggle("reviewing", this.review.open);
    this.element.dataset.agent = isPlayed(session) ? "1" : "0";
    this.seats.forEach((seat, side) => seat.replaceChildren(...seatOf(session, side as Side)));
    write(this.status, statusOf(session));
    this.actions.show(session);
    if (!this.review.open) this.showBoard(session);
    this.offer();
  }

  private showBoard(session: Session): void {
    const { board } = this;
    const { position, dice, turn, phase, reply, setup } = session;
    board.show(position);
    board.point(0, []);
    // The board shows a double or the answer to a double until the next action.
    const said = answerOf(session);
    board.say((said?.seat ?? 0) as Side, said ? capital(said.text) : "");
    if (phase === "to_play" && dice) board.throw({ side: turn as Side, shown: dice, left: session.left });
    else if (reply?.dice && phase !== "opening") board.throw({ side: reply.seat as Side, shown: reply.dice, left: [] });
    else board.throw(undefined);
    board.turnCube(setup.cube ? { value: session.cube, owner: session.cube_owner as Side | null } : undefined);
  }

  offer(): void {
    const { session } = this;
    const person = session?.setup.seats[0] === null;
    const open = person && session.turn === 0 && !this.review.open ? session.legal : [];
    this.board.offer(open);
    this.writing.hidden = !person;
    this.written.disabled = open.length === 0;
  }

  /** Shows the dice of an engine that is about to move. In a watched game, the status names the same roll as the line of best moves. */
  rolled(session: Session, side: Side, dice: Roll): void {
    if (!isPlayed(session)) write(this.status, statusOf(session));
    this.board.point(side, []);
    this.board.throw({ side, shown: dice, left: allOf(dice) });
  }

  // ---- typed moves

  private async write(): Promise<void> {
    if (!this.session) return;
    markInvalid(this.written, false);
    await this.callbacks.act({ kind: "write", text: this.written.value });
    if (this.refused) markInvalid(this.written, true);
    else this.written.value = "";
  }
}

function seatOf({ names, score, position, setup }: Session, side: Side): HTMLElement[] {
  const pips = side === 0 ? position.my_pips : position.their_pips;
  const won = setup.length ? `${score[side]} of ${setup.length} points` : points(score[side]);
  return [
    h("span", { class: `chip side-${side}`, "aria-hidden": "true" }),
    h("strong", whoIs(names[side])),
    h("span.small", `${pips} pips · ${won}`),
  ];
}

export const modeOf = (session: Session): Mode => (isPlayed(session) ? "play" : "watch");
