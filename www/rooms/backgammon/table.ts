// The table as one sees it: the board, who sits at it, what may be done, and the moves so far. It shows a session and tells what
// is wished.

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
import { answerOf, isPlayed, LEVELS, points, statusOf } from "./told";

export type Mode = "watch" | "play";
const MODES: { value: Mode; words: string }[] = [
  { value: "watch", words: "Watch it play itself" },
  { value: "play", words: "Play it" },
];

export interface Wishes {
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

/** What may be done: of all buttons those that are due. */
class Actions {
  readonly element = h("div.row.table-actions");
  private readonly buttons: Record<Name, HTMLButtonElement>;

  constructor(wishes: Wishes, resign: () => void) {
    const action = (words: string, does: () => unknown, strong = false, key = ""): HTMLButtonElement =>
      button(words, does, { class: strong && "strong", hidden: true, title: key && `${words} (${key})` });
    this.buttons = {
      roll: action("Roll", () => wishes.act({ kind: "roll" }), true, "d"),
      double: action("Double", () => wishes.act({ kind: "double" })),
      take: action("Take", () => wishes.act({ kind: "take" }), true),
      pass: action("Pass", () => wishes.act({ kind: "pass" })),
      confirm: action("Confirm", () => wishes.act({ kind: "confirm" }), true, "d"),
      undo: action("Undo", () => wishes.act({ kind: "undo", all: false }), false, "u"),
      next: action("Next game", () => wishes.act({ kind: "next_game" }), true),
      again: action("New match", () => wishes.newMatch(), true),
      hint: action("Hint", () => wishes.hint(), false, "h"),
      resign: action("Resign", resign),
      pause: action("Pause the game", () => wishes.pause()),
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

  /** Presses the first of these that is due. */
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
    write(this.buttons.pause, paused ? "Go on with the game" : "Pause the game");
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
    private readonly wishes: Wishes,
    mode: Mode,
    setup: HTMLElement,
    private readonly replay: ReplayPane,
  ) {
    this.board = new Board("Board, seen from your side", {
      step: (from, to) => void wishes.act({ kind: "step", from, to }),
      refuse: (words) => this.refuse(words),
    });
    this.board.turnCube(undefined);
    this.actions = new Actions(wishes, () => this.resigning.open());
    this.mode = new Choice("Play or watch", MODES, mode, (value) => wishes.choose(value));
    this.writing = form("row writing", () => this.write(), [
      h("label", { for: this.written.id }, "Or write the move"),
      this.written,
      h("button", { type: "submit" }, "Play this"),
    ]);
    this.writing.hidden = true;
    const give = (level: number): HTMLElement =>
      button(`Resign ${LEVELS[level]}`, () => (this.resigning.close(), wishes.act({ kind: "resign", points: level })));
    this.resigning.element.append(h("p", "The other side gets the points, times the cube."), h("p.row", give(1), give(2), give(3)));
    const copied = copyButton("Copy the match", () => wishes.transcript(), "Match copied", "The browser refused; download it");
    const kept = button("Download the match", () => this.downloadMatch(), { class: "small" });
    const before = button("Back to the match before", () => wishes.goBack(), { class: "small" });
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
        folding("Step through this game", replay.element, () => replay.begin()),
      ],
    );
  }

  // ---- what is told

  /** Whether something was refused that is still told. */
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

  /** A button that is gone takes no focus along; and who has scrolled on stays there. */
  keepFocus(): void {
    const active = document.activeElement;
    if (active instanceof HTMLElement && active !== document.body && active.offsetParent !== null) return;
    if (this.session?.legal.length) this.board.focus({ preventScroll: true });
    else this.actions.focus({ preventScroll: true });
  }

  // ---- what is shown

  show(session: Session): void {
    this.session = session;
    const { board } = this;
    const { position, dice, turn, phase, reply, setup } = session;
    board.show(position);
    board.point(0, []);
    // The answer to a double stays until the next thing is done.
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

  /** An engine has thrown, and is about to move. */
  rolled(side: Side, dice: Roll): void {
    this.board.point(side, []);
    this.board.throw({ side, shown: dice, left: allOf(dice) });
  }

  private moveOf({ moves, names }: Session, k: number): HTMLElement {
    const { seat, dice, text, id } = moves[k]!;
    return h("li", [
      h("span.small", `${k + 1}. ${names[seat]}${dice ? ` ${rollText(dice)}` : ""}`),
      " ",
      button(text, () => this.wishes.analyse(id, dice), { class: "quiet small", "aria-label": `Analyse move ${k + 1}: ${text}` }),
    ]);
  }

  // ---- what is written

  private async write(): Promise<void> {
    if (!this.session) return;
    markInvalid(this.written, false);
    await this.wishes.act({ kind: "write", text: this.written.value });
    if (this.refused) markInvalid(this.written, true);
    else this.written.value = "";
  }

  private async downloadMatch(): Promise<void> {
    download("hothouse-backgammon.mat", await this.wishes.transcript());
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
