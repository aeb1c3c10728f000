// Replay of a game: the board at each action, a judgement of the action, and a clickable curve of the equity. The current agent judges one
// action at a time.

import type { Judged, Moment, Session } from "./protocol";
import { button, h, lineThrough, svg, write } from "../../parts/dom";
import { capital, minus } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { Board, type Side } from "./board";
import { signed } from "./candidates";
import type { Backgammon } from "./client";
import { allOf, rollText, type Roll } from "./dice";
import { JUDGE, whoIs, within } from "./players";
import { modified, placeOf } from "../shared/keys";
import { perMove, VERDICTS } from "./phrases";

const WIDTH = 520;
const HEIGHT = 120;
const EDGE = 12;
const CUBE = { no_double: "no double", double: "double", take: "take", pass: "pass" };

export class ReplayPane {
  readonly element: HTMLElement;
  private readonly board = new Board("Replayed position, seen from the first side");
  private readonly graph = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "replay-graph" });
  private readonly message = h("p.replay-text", { role: "status" });
  private readonly rates = h("p.small.replay-rates");
  private readonly buttons: HTMLButtonElement[];
  private readonly analyseIt: HTMLButtonElement;
  private session: Session | undefined;
  private at = 0;
  private moment: Moment | undefined;
  /** Judgements of this game's actions, by index of the action; undefined until judged. */
  private judged: (Judged | undefined)[] = [];
  private game = "";
  private opened = false;
  private judging = false;
  private readonly life = pageLife();

  constructor(
    private readonly client: Backgammon,
    analyse: (id: string, dice: Roll | null) => void,
  ) {
    const step = (words: string, name: string, to: () => number): HTMLButtonElement =>
      button(words, () => this.go(to()), { class: "small", "aria-label": name, title: name });
    this.buttons = [
      step("|<", "First move (home)", () => 0),
      step("<", "Previous move (left arrow)", () => this.at - 1),
      step(">", "Next move (right arrow)", () => this.at + 1),
      step(">|", "Last move (end)", () => this.moves.length - 1),
    ];
    this.analyseIt = button("Analyse position", () => this.moment && analyse(this.moment.id, this.moment.dice), { class: "small" });
    this.element = h("div.replay", { tabindex: 0, role: "group", "aria-label": "Game, move by move; left and right arrow keys step" }, [
      h("p.row", ...this.buttons, this.analyseIt),
      this.board.element,
      this.message,
      this.graph,
      this.rates,
    ]);
    this.element.addEventListener("keydown", (event) => {
      const to = placeOf(event, this.at, this.moves.length);
      // While the board has the focus, arrow keys move between its points.
      if (to === undefined || modified(event) || this.board.element.contains(event.target as Node)) return;
      event.preventDefault();
      void this.go(to);
    });
    this.graph.addEventListener("click", (event) => {
      const { left, width } = this.graph.getBoundingClientRect();
      const share = ((event.clientX - left) / width) * WIDTH - EDGE;
      void this.go(Math.round((share / (WIDTH - 2 * EDGE)) * Math.max(1, this.moves.length - 1)));
    });
    this.board.turnCube(undefined);
  }

  private get moves(): Session["moves"] {
    return this.session?.moves ?? [];
  }

  /** Shows the current state of the session. Judgements remain while the game is the same. */
  take(session: Session): void {
    const game = `${session.setup.seed} ${session.game}`;
    if (game !== this.game) {
      [this.game, this.judged, this.at, this.moment] = [game, [], 0, undefined];
    }
    this.session = session;
    if (this.opened && this.element.offsetParent !== null) {
      if (!this.moment) void this.go(this.moves.length - 1);
      this.draw();
      void this.judge();
    }
  }

  begin(): void {
    this.opened = true;
    void this.go(this.moves.length - 1);
    void this.judge();
  }

  private async go(to: number): Promise<void> {
    const { moves, game } = this;
    if (moves.length === 0) {
      write(this.message, "No moves in this game yet.");
      this.buttons.forEach((button) => (button.disabled = true));
      this.analyseIt.disabled = true;
      return;
    }
    this.at = Math.min(moves.length - 1, Math.max(0, to));
    const at = this.at;
    const moment = await this.client.ask({ ask: "moment", at }).catch(() => undefined);
    if (this.life.aborted || !moment || at !== this.at || game !== this.game) return;
    this.moment = moment;
    const side = moment.seat as Side;
    this.board.show(moment.position);
    this.board.say(side, moment.dice ? "" : capital(moment.text));
    this.board.point(side, moment.steps, true);
    this.board.throw(moment.dice ? { side, shown: moment.dice, left: allOf(moment.dice) } : undefined);
    this.board.turnCube(this.session?.setup.cube ? { value: moment.cube, owner: moment.cube_owner as Side | null } : undefined);
    this.buttons.forEach((button, k) => (button.disabled = k < 2 ? at === 0 : at === this.moves.length - 1));
    this.analyseIt.disabled = false;
    this.writeMessage();
    this.draw();
  }

  private writeMessage(): void {
    const { at, moment, session } = this;
    if (!moment || !session) return;
    const name = whoIs(session.names[moment.seat]!);
    const dice = moment.dice ? ` ${rollText(moment.dice)}` : "";
    write(this.message, `${at + 1} of ${this.moves.length}. ${name}${dice}: ${moment.text}. ${this.opinion(this.judged[at])}`);
  }

  /** Name of the first player, whose equity the curve shows, within a sentence. */
  private get first(): string {
    return within(this.session?.names[0] ?? "");
  }

  private opinion(judged: Judged | undefined): string {
    if (!judged) return "";
    const parts = [`Equity ${signed(judged.equity)} for ${this.first}.`];
    if (judged.move_error !== null)
      parts.push(
        judged.move_error < 0.0005 ? "Best move." : `${judged.move_error.toFixed(3)} worse than ${judged.best_move ?? "the best"}.`,
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
      while (!this.life.aborted && this.element.offsetParent !== null) {
        const { game } = this;
        const missing = [this.at, ...this.moves.keys()].find((at) => at < this.moves.length && !this.judged[at]);
        if (missing === undefined) break;
        const judged = await this.client.ask({ ask: "judge", at: missing, engine: JUDGE });
        if (game !== this.game) continue;
        this.judged[missing] = judged;
        this.draw();
        if (missing === this.at) this.writeMessage();
      }
    } catch {
      // The game or the run was replaced. Actions of the next game are judged anew.
    } finally {
      this.judging = false;
    }
  }

  private draw(): void {
    const { judged, moves, graph } = this;
    const last = Math.max(1, moves.length - 1);
    const all = judged.flatMap((one) => (one ? [one.equity] : []));
    const most = Math.max(1, ...all.map(Math.abs));
    const x = (at: number): number => EDGE + ((WIDTH - 2 * EDGE) * at) / last;
    const y = (equity: number): number => HEIGHT / 2 - ((HEIGHT / 2 - EDGE) * equity) / most;
    graph.replaceChildren(
      svg("line", { class: "zero", x1: EDGE, y1: y(0), x2: WIDTH - EDGE, y2: y(0) }),
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
    graph.append(svg("line", { class: "here", x1: x(this.at), y1: 4, x2: x(this.at), y2: HEIGHT - 4 }));
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
        made.length && `${perMove(mean(made))} over ${made.length} moves with a choice`,
        turned.length && `${minus(mean(turned).toFixed(4))} a cube decision over ${turned.length}`,
        (made.length || turned.length) && `${of("bad")} errors, ${of("blunder")} blunders`,
      ].filter(Boolean);
      return parts.length ? `${whoIs(session.names[seat]!)}: ${parts.join("; ")}.` : "";
    });
    const left = moves.length - judged.filter(Boolean).length;
    const sentences = words.filter(Boolean);
    if (sentences.length) sentences.unshift("Judged by the current agent.");
    write(this.rates, [...sentences, left ? `${left} moves left to judge.` : ""].filter(Boolean).join(" "));
  }
}
