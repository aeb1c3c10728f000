// The table: board, players, actions, and the moves so far. It shows a session and calls its callbacks when the visitor acts.

import { copyButton, Dialog } from "../../parts/dialog";
import { button, Choice, form, h, line, markInvalid, pane, write } from "../../parts/dom";
import { download } from "../../parts/files";
import { Board, type Side } from "./board";
import { folding } from "./candidates";
import { allOf, rollText, type Roll } from "./dice";
import { capital } from "../../parts/format";
import { whoIs } from "./players";
import type { Act, Session } from "./protocol";
import type { ReplayPane } from "./replay";
import { answerOf, isPlayed, LEVELS, points, statusOf } from "./phrases";

export type Mode = "watch" | "play";
const MODES: { value: Mode; words: string }[] = [
  { value: "watch", words: "Watch self-play" },
  { value: "play", words: "Play the agent" },
];

export interface TableCallbacks {
  act(act: Act): Promise<void>;
  newMatch(): unknown;
  goBack(): unknown;
  hint(): unknown;
  pause(): unknown;
  choose(mode: Mode): void;
  analyse(id: string, dice: Roll | null): void;
  transcript(): Promise<string>;
}

type Name = "roll" | "double" | "take" | "pass" | "confirm" | "undo" | "next" | "again" | "hint" | "resign" | "pause";

/** Buttons for actions, of which only the legal ones are visible. */
class Actions {
  readonly element = h("div.row.table-actions");
  private readonly buttons: Record<Name, HTMLButtonElement>;

  constructor(callbacks: TableCallbacks, resign: () => void) {
    const action = (words: string, run: () => unknown, strong = false, key = ""): HTMLButtonElement =>
      button(words, run, { class: strong && "strong", hidden: true, title: key && `${words} (${key})` });
    this.buttons = {
      roll: action("Roll", () => callbacks.act({ kind: "roll" }), true, "d"),
      double: action("Double", () => callbacks.act({ kind: "double" })),
      take: action("Take", () => callbacks.act({ kind: "take" }), true),
      pass: action("Pass", () => callbacks.act({ kind: "pass" })),
      confirm: action("Confirm", () => callbacks.act({ kind: "confirm" }), true, "d"),
      undo: action("Undo", () => callbacks.act({ kind: "undo", all: false }), false, "u"),
      next: action("Next game", () => callbacks.act({ kind: "next_game" }), true),
      again: action("New match", () => callbacks.newMatch(), true),
      hint: action("Hint", () => callbacks.hint(), false, "h"),
      resign: action("Resign", resign),
      pause: action("Pause the game", () => callbacks.pause()),
    };
    this.element.append(...Object.values(this.buttons));
  }

  show({ may, phase, setup }: Session): void {
    const person = setup.seats[0] === null;
    const wanted: Record<Name, boolean> = {
      roll: may.roll,
      double: may.double,
      take: may.answer,
      pass: may.answer,
      confirm: may.confirm,
      undo: may.undo,
      next: may.next_game,
      again: phase === "over" && !may.next_game,
      hint: may.hint && !may.reply && phase !== "opening",
      resign: may.resign,
      pause: false,
    };
    for (const name of Object.keys(wanted) as Name[]) this.buttons[name].hidden = !(person && wanted[name]);
    this.buttons.pause.hidden = person;
  }

  /** Presses the first of `names` whose button is visible. */
  press(...names: Name[]): void {
    names
      .map((name) => this.buttons[name])
      .find(({ hidden }) => !hidden)
      ?.click();
  }

  focus(options: FocusOptions): void {
    Object.values(this.buttons)
      .find(({ hidden }) => !hidden)
      ?.focus(options);
  }

  pause(paused: boolean): void {
    write(this.buttons.pause, paused ? "Resume the game" : "Pause the game");
  }
}

export class Table {
  readonly element: HTMLElement;
  readonly board: Board;
  readonly actions: Actions;
  readonly mode: Choice<Mode>;
  private readonly seats = [1, 0].map((side) => h("p", { class: side ? "seat theirs" : "seat yours" }));
  private readonly status = h("p.table-status");
  private readonly error = h("p.error", { role: "alert" });
  private readonly verdict = h("p.verdict.small");
  private readonly written = line("move", { placeholder: "8/5 6/5" });
  private readonly writing: HTMLFormElement;
  private readonly moves = h("ol.moves");
  private readonly resigning = new Dialog("Resign");
  private session: Session | undefined;

  constructor(
    private readonly callbacks: TableCallbacks,
    mode: Mode,
    setup: HTMLElement,
    private readonly replay: ReplayPane,
  ) {
    this.board = new Board("Board, seen from your side", {
      step: (from, to) => void callbacks.act({ kind: "step", from, to }),
      refuse: (words) => this.refuse(words),
    });
    this.board.turnCube(undefined);
    this.actions = new Actions(callbacks, () => this.resigning.open());
    this.mode = new Choice("Play or watch", MODES, mode, (value) => callbacks.choose(value));
    this.writing = form("row writing", () => this.write(), [
      h("label", { for: this.written.id }, "Or type the move"),
      this.written,
      h("button", { type: "submit" }, "Play move"),
    ]);
    this.writing.hidden = true;
    const give = (level: number): HTMLElement =>
      button(`Resign ${LEVELS[level]}`, () => (this.resigning.close(), callbacks.act({ kind: "resign", points: level })));
    this.resigning.element.append(h("p", "The opponent gets the points, times the cube."), h("p.row", give(1), give(2), give(3)));
    const copied = copyButton("Copy the match", () => callbacks.transcript(), "Match copied", "Copying failed; download it");
    const kept = button("Download the match", () => this.downloadMatch(), { class: "small" });
    const before = button("Previous match", () => callbacks.goBack(), { class: "small" });
    this.element = pane(
      "table",
      "The table",
      [this.mode.element],
      [
        this.seats[0],
        this.board.element,
        this.seats[1],
        h("div.table-foot.wrap", this.status, this.actions.element),
        this.writing,
        this.error,
        this.verdict,
        setup,
        folding("Moves of this game", h("div", this.moves, h("p.row", copied, kept, before))),
        folding("Replay this game", replay.element, () => replay.begin()),
      ],
    );
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

  /** If the focused button has disappeared, moves the focus to the board or to another button. The page does not scroll. */
  keepFocus(): void {
    const active = document.activeElement;
    if (active instanceof HTMLElement && active !== document.body && active.offsetParent !== null) return;
    if (this.session?.legal.length) this.board.focus({ preventScroll: true });
    else this.actions.focus({ preventScroll: true });
  }

  // ---- contents

  show(session: Session): void {
    this.session = session;
    const { board } = this;
    const { position, dice, turn, phase, reply, setup } = session;
    board.show(position);
    board.point(0, []);
    // The board shows the answer to a double until the next action.
    const said = answerOf(session);
    board.say((said?.seat ?? 0) as Side, said ? capital(said.text) : "");
    if (phase === "to_play" && dice) board.throw({ side: turn as Side, shown: dice, left: session.left });
    else if (reply?.dice && phase !== "opening") board.throw({ side: reply.seat as Side, shown: reply.dice, left: [] });
    else board.throw(undefined);
    board.turnCube(setup.cube ? { value: session.cube, owner: session.cube_owner as Side | null } : undefined);
    this.offer();
    this.replay.take(session);
    this.seats.forEach((seat, k) => seat.replaceChildren(...seatOf(session, (1 - k) as Side)));
    write(this.status, statusOf(session));
    this.actions.show(session);
    this.moves.replaceChildren(...session.moves.map((_, k) => this.moveOf(session, k)));
  }

  offer(): void {
    const { session } = this;
    const open = session && session.turn === 0 && session.setup.seats[0] === null ? session.legal : [];
    this.board.offer(open);
    this.writing.hidden = open.length === 0;
  }

  /** Shows the dice of an engine that is about to move. */
  rolled(side: Side, dice: Roll): void {
    this.board.point(side, []);
    this.board.throw({ side, shown: dice, left: allOf(dice) });
  }

  private moveOf({ moves, names }: Session, k: number): HTMLElement {
    const { seat, dice, text, id } = moves[k]!;
    return h("li", [
      h("span.small", `${k + 1}. ${names[seat]}${dice ? ` ${rollText(dice)}` : ""}`),
      " ",
      button(text, () => this.callbacks.analyse(id, dice), { class: "quiet small", "aria-label": `Analyse move ${k + 1}: ${text}` }),
    ]);
  }

  // ---- typed moves

  private async write(): Promise<void> {
    if (!this.session) return;
    markInvalid(this.written, false);
    await this.callbacks.act({ kind: "write", text: this.written.value });
    if (this.refused) markInvalid(this.written, true);
    else this.written.value = "";
  }

  private async downloadMatch(): Promise<void> {
    download("hothouse-backgammon.mat", await this.callbacks.transcript());
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
