// A game session: a person plays the agent, or the agent plays itself. The worker applies the rules. `SessionPane` sends the person's
// actions to the worker and sets the pace of the engines.

import type { Announcer } from "../../parts/announce";
import { pageLife, untilClosed } from "../../parts/life";
import { animate, calm } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import type { TrainedAgent } from "../../parts/trained";
import type { Answerer } from "../../run/trained";
import { Turns } from "../../parts/requests";
import { Board, type Side } from "./board";
import type { Backgammon, MatchRun } from "./client";
import { Considered } from "./considered";
import type { Roll } from "./dice";
import { capital } from "../../parts/format";
import { textOf } from "../../run/notice";
import { JUDGE, TRAINED, whoIs, within } from "./players";
import type { Act, Session } from "./protocol";
import { ReviewPane } from "./review";
import { SetupForm } from "./setup";
import { modeOf, Table, type Mode } from "./table";
import { sessionOnBoard } from "./notation";
import { cubeReviewOf, isPlayed, reviewOf } from "./phrases";

/** Interval at which the pane checks whether it is an engine's turn. */
const LOOK_MS = 100;
/** Pause between two moves of a watched game. */
const WATCH_MS = 1500;
const ENDED_MS = 4000;
const DICE_MS = 450;
/** Pause after a double or its answer. */
const SAID_MS = 900;

/** Notices about matches. The callback `back` returns to the earlier match. */
export interface MatchNotices {
  /** Reports that another match has replaced a person's match. */
  replaced(back: () => void): void;
  /** Reports that a match against the trained agent continues after a reload. */
  continued(): void;
  /**
   * Reports that a match against the trained agent is saved after a reload but does not continue, because the visitor has already acted in
   * another match.
   */
  waiting(back: () => void): void;
  /** Reports that a match against the trained agent could not be restored after a reload. */
  lost(): void;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class SessionPane {
  readonly table: Table;
  readonly considered: Considered;
  readonly setup = new SetupForm(() => this.wishMatch());
  readonly review: ReviewPane;
  private session: Session | undefined;
  private mode: Mode = recall("backgammon") === "play" ? "play" : "watch";
  /** True while the worker computes an engine's action or the board animates it. */
  private busy = false;
  /** Run in which the current match is played: the visitor's or the trained agent's. */
  private playedIn: Answerer = "own";
  /** True if the current match began without the visitor's request. */
  private automatic = false;
  /** True once the visitor has acted in a session or begun a match. */
  private acted = false;
  private agent: TrainedAgent | undefined;
  /** True once `earlierMatch` has handled the match that this tab played before the reload. */
  private returned = false;
  private readonly run: MatchRun;
  /** Number of pending requests to the worker, except engine turns. */
  private asking = 0;
  /** Kind of the visitor's action for which the worker's answer is pending. */
  private awaited: Act["kind"] | undefined;
  /** Marks a shown session as stale when a newer session is shown. This stops the animation of the stale session. */
  private readonly shown = new Turns();
  private paused = false;
  private dueMs = 0;
  private readonly life = pageLife();

  constructor(
    client: Backgammon,
    private readonly announcer: Announcer,
    analyse: (id: string, dice: Roll | null) => void,
    private readonly notices: MatchNotices,
  ) {
    const pane = this;
    this.run = {
      ask: (question) => client.ask(question, this.playedIn),
      get agent() {
        return pane.playedIn === "trained" ? within(TRAINED) : "the current agent";
      },
    };
    this.considered = new Considered(this.run);
    const board = new Board("Board, seen from your side", {
      step: (from, to) => void this.wish({ kind: "step", from, to }),
      refuse: (words) => this.table.refuse(words),
    });
    this.review = new ReviewPane(this.run, board, {
      analyse,
      turned: () => this.turned(),
      goBack: () => this.goBack(),
      transcript: () => this.run.ask({ ask: "transcript" }),
    });
    const callbacks = {
      act: (act: Act) => this.wish(act),
      newMatch: () => this.wishMatch(),
      hint: () => this.hint(),
      pause: () => this.table.actions.pause((this.paused = !this.paused)),
      choose: (mode: Mode) => this.choose(mode),
      review: () => this.review.begin(),
    };
    this.table = new Table(callbacks, board, this.setup.element, this.considered.line, this.review);
    // A match with a person continues while the board is off-screen. A watched game pauses.
    animate(this.table.board.element, () => this.mode === "watch" && this.playEngines(), LOOK_MS);
    const always = setInterval(() => this.mode === "play" && this.playEngines(), LOOK_MS);
    untilClosed(() => clearInterval(always));
  }

  async begin(): Promise<void> {
    const session = await this.run.ask({ ask: "session" }).catch(() => null);
    if (this.life.aborted) return;
    if (!session) {
      await this.newMatch();
      this.automatic = !this.returned;
      return;
    }
    this.mode = modeOf(session);
    this.take(session);
  }

  /** Adds the trained agent as an opponent, or removes it. */
  setTrained(agent: TrainedAgent): void {
    this.agent = agent;
    this.setup.opponent.offerTrained(agent);
    if (agent.state !== "here" && this.playedIn === "trained") {
      this.playedIn = "own";
      void this.begin();
    }
    if (agent.state === "here" && this.earlierMatch(agent)) return;
    // A match that began automatically, before the agent was loaded, begins again with the agent. The match is not restarted after its
    // first roll.
    const fresh = this.automatic && this.mode === "play" && this.session?.moves.length === 0 && !this.session.dice;
    if (fresh && this.setup.opponent.run === "trained" && this.playedIn === "own") void this.newMatch();
  }

  /**
   * Handles the match that this tab played against the trained agent before a reload. Continues the match, or shows that it is saved or
   * lost. Returns true only on the first call, and only if the match was restored.
   */
  private earlierMatch(agent: TrainedAgent): boolean {
    if (this.returned || agent.earlier === "none") return false;
    this.returned = true;
    if (agent.earlier === "lost") this.notices.lost();
    else if (this.acted) this.notices.waiting(() => void this.returnTo("trained"));
    else {
      this.automatic = false;
      void this.returnTo("trained").then(() => this.life.aborted || this.notices.continued());
    }
    return agent.earlier === "continued";
  }

  // ---- actions

  private choose(mode: Mode): void {
    this.mode = mode;
    this.table.actions.pause((this.paused = false));
    remember("backgammon", mode);
    void this.wishMatch();
  }

  /** Performs an action of the visitor. */
  private async wish(act: Act): Promise<void> {
    this.acted = true;
    // A second press of the same button is ignored until the first press is answered, except for `undo`.
    if (this.awaited === act.kind && act.kind !== "undo") return;
    this.awaited = act.kind;
    await this.act(act);
    this.awaited = undefined;
  }

  /** Begins a match that the visitor has chosen. */
  private wishMatch(): Promise<void> {
    this.acted = true;
    return this.newMatch();
  }

  private async newMatch(): Promise<void> {
    const [before, from] = [this.session, this.playedIn];
    const setup = this.setup.setup(this.mode === "play");
    this.automatic = false;
    this.playedIn = this.mode === "play" ? this.setup.opponent.run : "own";
    await this.ask(() => this.run.ask({ ask: "new_session", setup }));
    const begun = this.session !== before;
    if (!begun) this.playedIn = from;
    const played = before && isPlayed(before) && (before.moves.length > 0 || before.dice) && !before.ending?.match_over;
    if (begun && from === "trained" && this.playedIn === "own") this.agent?.release();
    if (played && begun) this.notices.replaced(() => void (this.playedIn === from ? this.goBack() : this.returnTo(from)));
    this.table.judge("");
    if (before && !this.life.aborted) this.table.board.element.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    if (this.mode === "play") this.considered.begin();
  }

  /** Continues the match that is in progress in `run`. */
  private async returnTo(run: Answerer): Promise<void> {
    this.playedIn = run;
    await this.begin();
  }

  private async goBack(): Promise<void> {
    await this.ask(() => this.run.ask({ ask: "former_session" }));
    if (this.session && !this.life.aborted) this.mode = modeOf(this.session);
  }

  private async act(act: Act): Promise<void> {
    const focused = this.table.element.contains(document.activeElement);
    await this.ask(() => this.run.ask({ ask: "act", act }));
    const done = !this.table.refused;
    if (done && act.kind === "confirm" && this.session?.may.review) void this.judgeMove();
    if (done && ["roll", "double", "take", "pass"].includes(act.kind)) void this.judgeCube(act.kind === "roll");
    if (focused) this.table.keepFocus();
  }

  private async ask(what: () => Promise<Session>): Promise<void> {
    this.table.refuse("");
    this.asking++;
    try {
      const session = await what();
      if (!this.life.aborted) this.take(session);
    } catch (error) {
      if (this.life.aborted) return;
      this.table.refuse(textOf(error));
      this.table.offer();
    } finally {
      this.asking--;
    }
  }

  private take(session: Session): void {
    this.shown.take();
    this.session = this.named(session);
    this.table.show(this.session);
    if (this.playedIn === "trained") this.agent?.keep();
  }

  /**
   * Returns the session with moves in the numbers of the board, and with the displayed name of the trained agent. The run of the trained
   * agent calls it `agent`.
   */
  private named(session: Session): Session {
    const shown = sessionOnBoard(session);
    if (this.playedIn === "own") return shown;
    const names = session.names.map((name) => (name === "agent" ? TRAINED : name)) as Session["names"];
    return { ...shown, names };
  }

  /** Updates the table when a review begins or ends. The engines wait during a review. */
  private turned(): void {
    if (this.session) this.table.show(this.session);
    if (!this.review.open) this.table.keepFocus();
  }

  // ---- engines

  private playEngines(): void {
    const { session } = this;
    if (!session || this.busy || this.asking || this.review.open || performance.now() < this.dueMs) return;
    const watching = this.mode === "watch";
    if (watching && this.paused) return;
    if (session.may.reply) void this.reply();
    else if (watching && session.phase === "over") void (session.ending?.match_over ? this.newMatch() : this.act({ kind: "next_game" }));
    else if (watching && session.may.roll) void this.act({ kind: "roll" });
  }

  private async reply(): Promise<void> {
    const { table } = this;
    this.busy = true;
    // The engine's action is ignored if a newer session is shown when the answer arrives.
    let stale = this.shown.stale();
    try {
      const session = await this.run.ask({ ask: "act", act: { kind: "reply" } });
      stale = this.shown.stale(); // answers arrive in order, so this session is the latest
      await this.showReply(this.named(session), stale);
      if (stale()) return;
      const focused = table.element.contains(document.activeElement) || document.activeElement === document.body;
      this.take(session);
      const { reply } = session;
      if (reply && !this.review.open) table.board.point(reply.seat as Side, reply.did === "played" ? reply.steps : []);
      if (focused && this.mode === "play" && table.element.contains(document.activeElement)) table.keepFocus();
    } catch (error) {
      if (stale()) return;
      table.refuse(textOf(error));
      // A retry would fail again, so the engines stop until another session is shown.
      this.session = undefined;
    } finally {
      this.busy = false;
      this.dueMs = performance.now() + (this.session?.phase === "over" ? ENDED_MS : this.mode === "watch" ? WATCH_MS : 0);
    }
  }

  private async showReply(session: Session, stale: () => boolean): Promise<void> {
    const { reply } = session;
    if (!reply || stale()) return;
    const { board } = this.table;
    const side = reply.seat as Side;
    const name = whoIs(session.names[side]);
    const say = (words: string): void => void (this.mode === "play" && this.announcer.say(`${name} ${words}.`));
    if (this.review.open) return;
    if (reply.did !== "played" || !reply.dice) {
      board.say(side, capital(reply.text));
      say(reply.text);
      return wait(SAID_MS);
    }
    this.table.rolled(session, side, reply.dice);
    this.considered.reply(session, reply);
    await wait(DICE_MS);
    if (stale() || this.review.open) return;
    await board.play(side, reply.steps);
    if (!stale()) say(`rolled ${reply.dice.join(" ")} and played ${reply.text}`);
  }

  // ---- hints and reviews

  private async hint(): Promise<void> {
    try {
      const analysis = await this.run.ask({ ask: "hint", engine: JUDGE });
      if (this.life.aborted) return;
      const { outlook, candidates, name } = analysis;
      if (outlook) return this.announcer.say(`Hint: ${this.considered.cubeHint(this.playedIn === "trained" ? TRAINED : name, outlook)}`);
      this.considered.hint(analysis, JUDGE, ({ id }) => void this.act({ kind: "play", id }));
      const [best] = candidates;
      if (!best) return;
      this.table.board.point(0, this.session?.steps.length ? [] : best.steps, true);
      this.announcer.say(`Hint: ${best.text}.`);
    } catch (error) {
      if (!this.life.aborted) this.table.refuse(textOf(error));
    }
  }

  private async judgeMove(): Promise<void> {
    const review = await this.run.ask({ ask: "review", engine: JUDGE }).catch(() => undefined);
    if (this.life.aborted) return;
    if (!review) return this.table.judge(""); // the move can no longer be judged
    const words = reviewOf(review);
    this.table.judge(`Your move: ${words}`, review.verdict);
    this.announcer.say(words, "review");
  }

  private async judgeCube(quietly: boolean): Promise<void> {
    // There is no review if the game has continued or the run has ended.
    const review = await this.run.ask({ ask: "review_cube", engine: JUDGE }).catch(() => null);
    const words = review && cubeReviewOf(review, quietly);
    if (this.life.aborted || !words) return;
    this.table.judge(`Your cube decision: ${words}`, review.verdict);
    this.announcer.say(words, "review");
  }
}
