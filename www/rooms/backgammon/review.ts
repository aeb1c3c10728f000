// Review of a game on the table's board. It shows the position at each action, a judgement of the action, and a curve of the equity. A
// click on the curve selects an action. The agent of the match's run judges one action at a time.

import type { Judged, Moment, Session } from "./protocol";
import { copyButton } from "../../parts/dialog";
import { button, h, lineThrough, pane, svg, write } from "../../parts/dom";
import { download } from "../../parts/files";
import { capital } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { calm } from "../../parts/loop";
import type { Board, Side } from "./board";
import { signed } from "./candidates";
import type { MatchRun } from "./client";
import { allOf, rollText, type Roll } from "./dice";
import { fit } from "./fit";
import { JUDGE, whoIs, within } from "./players";
import { clamp, modified, placeOf } from "../../parts/keys";
import { onBoard } from "./notation";
import { lostPerMove, moveCount, VERDICTS } from "./phrases";

const HEIGHT = 120;
const EDGE = 12;
const CUBE = { no_double: "no double", double: "double", take: "take", pass: "pass" };

export interface ReviewCallbacks {
  analyse(id: string, dice: Roll | null): void;
  /** Called when the review begins or ends. */
  turned(): void;
  goBack(): unknown;
  transcript(): Promise<string>;
}

export class ReviewPane {
  /** Pane with the list of moves, the equity curve and the error rates. */
  readonly element: HTMLElement;
  /** Buttons that replace the table's actions during a review. */
  readonly controls: HTMLElement;
  readonly message = h("p.review-text", { role: "status" });
  /** True while the board shows an earlier position of the game. */
  open = false;
  private readonly list = h("ol.moves");
  private readonly graph = svg("svg", {
    role: "img",
    "aria-label": "Equity after each move; nothing yet",
    class: "review-graph drawing",
    height: HEIGHT,
  });
  private readonly rates = h("p.small.review-rates");
  private readonly buttons: HTMLButtonElement[];
  private width = 0;
  private session: Session | undefined;
  private at = 0;
  private moment: Moment | undefined;
  /** Judgements of this game's actions, by index of the action. An entry is undefined until the action is judged. */
  private judged: (Judged | undefined)[] = [];
  private game = "";
  private judging = false;
  private readonly life = pageLife();

  constructor(
    private readonly run: MatchRun,
    private readonly board: Board,
    private readonly callbacks: ReviewCallbacks,
  ) {
    const step = (words: string, name: string, to: () => number): HTMLButtonElement =>
      button(words, () => this.go(to()), { "aria-label": name, title: name });
    this.buttons = [
      step("|<", "First move (Home key)", () => 0),
      step("<", "Previous move (left arrow)", () => this.at - 1),
      step(">", "Next move (right arrow)", () => this.at + 1),
      step(">|", "Last move (End key)", () => this.moves.length - 1),
    ];
    const label = "Game, move by move; left and right arrow keys step";
    this.controls = h("div.row.review-controls", { tabindex: 0, role: "group", "aria-label": label }, [
      button("Back to the game", () => this.end(), { class: "strong" }),
      ...this.buttons,
      h(
        "span.at-end",
        button("Analyse position", () => this.moment && callbacks.analyse(this.moment.id, this.moment.dice)),
      ),
    ]);
    const copied = copyButton("Copy the match", () => callbacks.transcript(), "Match copied", "Copying failed; download it");
    const kept = button("Download the match", () => this.download(), { class: "small" });
    const before = button("Previous match", () => callbacks.goBack(), { class: "small" });
    this.element = pane("game card", "This game", [], this.graph, this.rates, this.list, h("p.row", copied, kept, before));
    for (const part of [this.controls, this.element]) part.addEventListener("keydown", (event) => this.press(event));
    this.graph.addEventListener("click", (event) => {
      const { left } = this.graph.getBoundingClientRect();
      const share = (event.clientX - left - EDGE) / (this.width - 2 * EDGE);
      void this.go(Math.round(share * Math.max(1, this.moves.length - 1)));
    });
    fit(this.element, (width) => {
      this.width = width;
      this.draw();
    });
  }

  private get moves(): Session["moves"] {
    return this.session?.moves ?? [];
  }

  /** Shows the moves of a session. If the session is in another game, ends the review and removes the judgements. */
  take(session: Session): void {
    const game = `${session.setup.seed} ${session.game}`;
    if (game !== this.game) [this.game, this.judged, this.at, this.moment, this.open] = [game, [], 0, undefined, false];
    this.session = session;
    const { list } = this;
    const grows = session.moves.length > list.childElementCount;
    list.replaceChildren(...session.moves.map((_, k) => this.moveOf(session, k)));
    // The latest move stays in view, unless the visitor reads earlier ones.
    if (grows && !this.open && !list.matches(":hover, :focus-within")) requestAnimationFrame(() => (list.scrollTop = list.scrollHeight));
    this.draw();
  }

  /** Begins the review at a move, by default at the last one. */
  begin(at = this.moves.length - 1): void {
    if (this.moves.length === 0) return;
    if (!this.open) {
      this.open = true;
      this.board.say(0, "");
      this.callbacks.turned();
      this.controls.focus({ preventScroll: true });
    }
    this.board.element.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    void this.go(at);
    void this.judge();
  }

  private end(): void {
    this.open = false;
    this.callbacks.turned();
    this.draw();
  }

  private press(event: KeyboardEvent): void {
    const to = placeOf(event, this.at, this.moves.length);
    if (to === undefined || modified(event) || !this.open) return;
    event.preventDefault();
    void this.go(to);
  }

  private moveOf({ moves, names }: Session, k: number): HTMLElement {
    const { seat, dice, text } = moves[k]!;
    return h("li", [
      h("span.small", `${k + 1}. ${names[seat]}${dice ? ` ${rollText(dice)}` : ""}`),
      " ",
      button(text, () => this.begin(k), { class: "quiet small", "aria-label": `Review move ${k + 1}: ${text}` }),
    ]);
  }

  private async download(): Promise<void> {
    download("hothouse-backgammon.mat", await this.callbacks.transcript());
  }

  private async go(to: number): Promise<void> {
    const { moves, game } = this;
    const at = clamp(to, 0, moves.length - 1);
    this.at = at;
    const moment = await this.run.ask({ ask: "moment", at }).catch(() => undefined);
    if (this.life.aborted || !this.open || !moment || at !== this.at || game !== this.game) return;
    this.moment = moment;
    const side = moment.seat as Side;
    this.board.show(moment.position);
    this.board.say(side, moment.dice ? "" : capital(moment.text));
    this.board.point(side, moment.steps, true);
    this.board.throw(moment.dice ? { side, shown: moment.dice, left: allOf(moment.dice) } : undefined);
    this.board.turnCube(this.session?.setup.cube ? { value: moment.cube, owner: moment.cube_owner as Side | null } : undefined);
    this.buttons.forEach((button, k) => (button.disabled = k < 2 ? at === 0 : at === moves.length - 1));
    if (document.activeElement?.matches(":disabled")) this.controls.focus();
    this.writeMessage();
    this.draw();
  }

  private writeMessage(): void {
    const { at, moment, session } = this;
    if (!moment || !session) return;
    const name = whoIs(session.names[moment.seat]!);
    const dice = moment.dice ? ` ${rollText(moment.dice)}` : "";
    const judged = this.opinion(moment.seat, this.judged[at]);
    write(this.message, `${at + 1} of ${this.moves.length}. ${name}${dice}: ${onBoard(moment.seat, moment.text)}. ${judged}`);
  }

  /** Name of the first player within a sentence. The curve shows this player's equity. */
  private get first(): string {
    return within(this.session?.names[0] ?? "");
  }

  private opinion(seat: number, judged: Judged | undefined): string {
    if (!judged) return "";
    const parts = [`Equity ${signed(judged.equity)} for ${this.first}.`];
    if (judged.move_error !== null)
      parts.push(
        judged.move_error < 0.0005
          ? "Best move."
          : `${judged.move_error.toFixed(3)} worse than ${onBoard(seat, judged.best_move ?? "the best")}.`,
      );
    if (judged.cube_error !== null && (judged.cube_error >= 0.0005 || judged.move_error === null))
      parts.push(
        judged.cube_error < 0.0005
          ? "Correct cube decision."
          : `Cube error ${judged.cube_error.toFixed(3)}; correct: ${judged.best_cube ? CUBE[judged.best_cube] : ""}.`,
      );
    if (judged.verdict !== "best" && judged.verdict !== "good") parts.push(VERDICTS[judged.verdict]);
    return parts.join(" ");
  }

  private async judge(): Promise<void> {
    if (this.judging) return;
    this.judging = true;
    try {
      while (!this.life.aborted && this.open) {
        const { game } = this;
        const missing = [this.at, ...this.moves.keys()].find((at) => at < this.moves.length && !this.judged[at]);
        if (missing === undefined) break;
        const judged = await this.run.ask({ ask: "judge", at: missing, engine: JUDGE });
        if (game !== this.game) continue;
        this.judged[missing] = judged;
        this.draw();
        if (missing === this.at) this.writeMessage();
      }
    } catch {
      // A request fails if the game or the run was replaced. A later call of `judge` judges the actions of the new game.
    } finally {
      this.judging = false;
    }
  }

  private draw(): void {
    const { judged, moves, graph, width } = this;
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-current", String(this.open && k === this.at)));
    for (const part of [graph, this.rates]) part.toggleAttribute("hidden", !judged.some(Boolean));
    const last = Math.max(1, moves.length - 1);
    const all = judged.flatMap((one) => (one ? [one.equity] : []));
    const most = Math.max(1, ...all.map(Math.abs));
    const x = (at: number): number => EDGE + ((width - 2 * EDGE) * at) / last;
    const y = (equity: number): number => HEIGHT / 2 - ((HEIGHT / 2 - EDGE) * equity) / most;
    graph.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    graph.replaceChildren(
      svg("line", { class: "zero", x1: EDGE, y1: y(0), x2: width - EDGE, y2: y(0) }),
      svg("text", { class: "axis", x: 2, y: 11 }, signed(most)),
      svg("text", { class: "axis", x: 2, y: HEIGHT - 3 }, signed(-most)),
    );
    const d = lineThrough(Array.from(moves, (_, at) => (judged[at] ? [x(at), y(judged[at].equity)] : undefined)));
    if (d) graph.append(svg("path", { class: "equity-line", d }));
    judged.forEach((one, at) => {
      if (!one) return;
      const error = Math.max(one.move_error ?? 0, one.cube_error ?? 0);
      if (error < 0.04) return;
      const dot = svg("circle", { class: `mistake ${one.verdict}`, cx: x(at), cy: y(one.equity), r: one.verdict === "blunder" ? 5 : 3.5 });
      dot.append(svg("title", {}, `${at + 1}. ${moves[at]!.text}: error ${error.toFixed(3)}`));
      graph.append(dot);
    });
    if (this.open) graph.append(svg("line", { class: "here", x1: x(this.at), y1: 4, x2: x(this.at), y2: HEIGHT - 4 }));
    graph.setAttribute(
      "aria-label",
      `Equity of ${this.first} over ${moves.length} moves${all.length ? `, from ${signed(all[0]!)} to ${signed(all.at(-1)!)}` : ""}`,
    );
    this.writeRates();
  }

  private writeRates(): void {
    const { session, moves, judged } = this;
    if (!session) return;
    const words = [0, 1].map((seat) => {
      const own = judged.filter((one, at): one is Judged => !!one && moves[at]?.seat === seat);
      const known = (errors: (number | null)[]): number[] => errors.filter((error): error is number => error !== null);
      const [made, turned] = [known(own.map(({ move_error }) => move_error)), known(own.map(({ cube_error }) => cube_error))];
      const mean = (errors: number[]): number => -errors.reduce((sum, error) => sum + error, 0) / errors.length;
      const of = (verdict: Judged["verdict"]): number => own.filter((one) => one.verdict === verdict).length;
      const parts = [
        made.length && `${lostPerMove(-mean(made))} in ${moveCount(made.length)} with a choice`,
        turned.length && `${(-mean(turned)).toFixed(4)} points lost per cube decision, ${turned.length} in all`,
        (made.length || turned.length) && `${of("bad")} errors, ${of("blunder")} blunders`,
      ].filter(Boolean);
      return parts.length ? `${whoIs(session.names[seat]!)}: ${parts.join("; ")}.` : "";
    });
    const left = moves.length - judged.filter(Boolean).length;
    const sentences = words.filter(Boolean);
    if (sentences.length) sentences.unshift(`Judged by ${this.run.agent}.`);
    write(this.rates, [...sentences, left ? `${left} moves left to judge.` : ""].filter(Boolean).join(" "));
  }
}
