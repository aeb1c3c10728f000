// A game session: a person against the agent, or the agent against itself. The rules are the worker's; this shows the session as
// it stands, tells what may be done, and paces whoever is not a person.

import type { Act, Candidate, CubeReview, Engine, Frozen, Review, Setup, Session } from "./protocol";
import type { Announcer } from "../../parts/announce";
import { copy, Dialog } from "../../parts/dialog";
import { h, id, write } from "../../parts/dom";
import { download } from "../../parts/files";
import { minus } from "../../parts/format";
import { animate, calm } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import type { Backgammon } from "./client";
import { Board, type Side } from "./board";
import { candidateTable, cubeAdvice, folding, outcomeLegend, outcomeTable, outlookParts, perMove, signed } from "./candidates";
import { ReplayPane } from "./replay";
import { Tree } from "./tree";
import { capital, lookAheadField, whoIs, WhoField } from "./players";

/** How often it is looked whether somebody's turn is due. */
const LOOK_MS = 100;
/** Between two moves of a game that one watches. */
const WATCH_MS = 1500;
const ENDED_MS = 4000;
const DICE_MS = 450;
/** How long a game that one watches rests at a double and its answer. */
const SAID_MS = 900;
/** What judges a person's moves. */
const JUDGE: Engine = { who: { kind: "now" }, evals: 100 };
const SHOWN = 6;
const LENGTHS: { length: number; words: string }[] = [
  { length: 0, words: "money play" },
  { length: 1, words: "to 1 point" },
  { length: 3, words: "to 3 points" },
  { length: 5, words: "to 5 points" },
  { length: 7, words: "to 7 points" },
];
const VERDICTS: Record<Review["verdict"], string> = {
  best: "The best move.",
  good: "A good move.",
  dubious: "Dubious.",
  bad: "An error.",
  blunder: "A blunder.",
};
const CUBE_ACTS: Record<CubeReview["did"], string> = { no_double: "not to double", double: "to double", take: "to take", pass: "to pass" };
const LEVELS = ["", "a single game", "a gammon", "a backgammon"];

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const points = (n: number): string => (n === 1 ? "1 point" : `${n} points`);
/** What was lost, in points a game as everybody writes it: `−0.195`. */
const error = (loss: number): string => minus((-loss).toFixed(3));

type Mode = "watch" | "play";

export class SessionPane {
  readonly element: HTMLElement;
  /** What was considered, for beside the board. */
  readonly side: HTMLElement;
  private readonly board: Board;
  private readonly modes: Record<Mode, HTMLInputElement>;
  private readonly theirs = h("p", { class: "seat theirs" });
  private readonly yours = h("p", { class: "seat yours" });
  private readonly status = h("p", { class: "table-status" });
  private readonly verdict = h("p", { class: "verdict small" });
  private readonly error = h("p", { class: "error", role: "alert" });
  private readonly actions = h("div", { class: "row table-actions" });
  private readonly buttons: Record<string, HTMLButtonElement>;
  private readonly written = h("input", {
    type: "text",
    id: id("move"),
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: "8/5 6/5",
  });
  private readonly writing: HTMLFormElement;
  private readonly opponent = new WhoField("Against", true);
  private readonly lookAhead = lookAheadField("Look-ahead", 100);
  private readonly length = h("select", { id: id("length") }, ...LENGTHS.map(({ length, words }) => h("option", { value: length }, words)));
  private readonly cube = h("input", { type: "checkbox", id: id("cube"), checked: true });
  private readonly moves = h("ol", { class: "moves" });
  private readonly resigning = new Dialog("Resign");
  private readonly heading = h("h2", { class: "label" });
  private readonly asks = h("p", { class: "small" });
  private readonly list = h("div", { class: "candidate-place" });
  private readonly ends = h("div");
  private readonly tree: Tree;
  private readonly about = h("p", { class: "about" });
  private readonly replay: ReplayPane;
  private session: Session | undefined;
  private mode: Mode;
  /** Something is being done or shown; the next thing waits for it. */
  private busy = false;
  /** Questions to the worker that are not answered yet, but for an engine's turn. */
  private asking = 0;
  /** Counts the sessions that were shown, so that the motion of an older one ends. */
  private shown = 0;
  private paused = false;
  private dueMs = 0;
  private closed = false;
  /** Counts what was thought of, so that a late answer to an older question is dropped. */
  private thought = 0;
  private readonly stop: () => void;

  constructor(
    private readonly client: Backgammon,
    private readonly announcer: Announcer,
    private readonly analyse: (id: string, dice: [number, number] | null) => void,
    /** A game that a person played has made way for another. */
    private readonly replaced: (undo: () => void) => void,
  ) {
    this.mode = recall("backgammon") === "play" ? "play" : "watch";
    this.board = new Board("Board, seen from your side", {
      step: (from, to) => void this.act({ kind: "step", from, to }),
      refuse: (words) => this.refuse(words),
    });
    this.replay = new ReplayPane(client, analyse);
    const action = (words: string, does: () => void, strong = false, key = ""): HTMLButtonElement =>
      h("button", { type: "button", class: strong && "strong", hidden: true, title: key && `${words} (${key})`, onclick: does }, words);
    this.buttons = {
      roll: action("Roll", () => void this.act({ kind: "roll" }), true, "d"),
      double: action("Double", () => void this.act({ kind: "double" })),
      take: action("Take", () => void this.act({ kind: "take" }), true),
      pass: action("Pass", () => void this.act({ kind: "pass" })),
      confirm: action("Confirm", () => void this.act({ kind: "confirm" }), true, "d"),
      undo: action("Undo", () => void this.act({ kind: "undo", all: false }), false, "u"),
      next: action("Next game", () => void this.act({ kind: "next_game" }), true),
      again: action("New match", () => void this.newSession(), true),
      hint: action("Hint", () => void this.hint(), false, "h"),
      resign: action("Resign", () => this.askToResign()),
      pause: action("Pause the game", () => this.pause()),
    };
    this.actions.append(...Object.values(this.buttons));
    const group = id("mode");
    const mode = (value: Mode, words: string): [HTMLInputElement, HTMLLabelElement] => {
      const input = h("input", { type: "radio", name: group, id: `${group}-${value}`, checked: this.mode === value });
      input.addEventListener("change", () => this.choose(value));
      return [input, h("label", { for: input.id }, words)];
    };
    const [watch, play] = [mode("watch", "Watch it play itself"), mode("play", "Play it")];
    this.modes = { watch: watch[0], play: play[0] };
    const button = h("button", { type: "submit" }, "Play this");
    this.writing = h(
      "form",
      { class: "row writing", hidden: true },
      h("label", { for: this.written.id }, "Or write the move"),
      this.written,
      button,
    );
    this.writing.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.write();
    });
    const setup = h(
      "form",
      { class: "setup" },
      this.opponent.element,
      this.lookAhead.element,
      h("p", { class: "field" }, h("label", { for: this.length.id }, "Length"), this.length),
      h("p", { class: "row" }, this.cube, h("label", { for: this.cube.id }, "Doubling cube")),
      h("button", { type: "submit" }, "New match"),
    );
    setup.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.newSession();
    });
    const copied = h("button", { type: "button", class: "small" }, "Copy the match");
    copied.addEventListener("click", () => void this.copyMatch(copied));
    const kept = h("button", { type: "button", class: "small", onclick: () => void this.downloadMatch() }, "Download the match");
    const before = h("button", { type: "button", class: "small", onclick: () => void this.goBack() }, "Back to the match before");
    this.element = h(
      "section",
      { class: "table", "aria-labelledby": "table-title" },
      h(
        "div",
        { class: "head" },
        h("h2", { id: "table-title", class: "label" }, "The table"),
        h("fieldset", { class: "speeds layers" }, h("legend", { class: "unseen" }, "Play or watch"), ...watch, ...play),
      ),
      this.theirs,
      this.board.element,
      this.yours,
      h("div", { class: "table-foot" }, this.status, this.actions),
      this.writing,
      this.error,
      this.verdict,
      setup,
      folding("Moves of this game", h("div", {}, this.moves, h("p", { class: "row" }, copied, kept, before))),
      folding("Step through this game", this.replay.element, () => this.replay.begin()),
    );
    this.tree = new Tree();
    this.side = h(
      "section",
      { class: "considered", "aria-labelledby": id("considered") },
      this.heading,
      this.asks,
      this.list,
      outcomeLegend(),
      this.ends,
      this.tree.element,
      this.about,
    );
    this.heading.id = this.side.getAttribute("aria-labelledby")!;
    this.think("What it considers", "Its moves come here, each with what it expects.", [], "");
    // A match with a person goes on whether or not the board is in sight; a game that is watched rests.
    const seen = animate(this.board.element, () => this.mode === "watch" && this.others(), LOOK_MS);
    const always = setInterval(() => this.mode === "play" && this.others(), LOOK_MS);
    this.stop = () => (seen(), clearInterval(always));
    this.board.turnCube(undefined);
  }

  /** A run has begun: its session, or a new one. */
  async begin(): Promise<void> {
    const session = await this.client.ask({ ask: "session" }).catch(() => null);
    if (this.closed) return;
    if (!session) return this.newSession();
    this.suit(session);
    this.take(session);
  }

  /** It is played or watched as the session is. */
  private suit(session: Session): void {
    this.mode = session.setup.seats.includes(null) ? "play" : "watch";
    this.modes[this.mode].checked = true;
  }

  close(): void {
    this.closed = true;
    this.stop();
    this.tree.close();
    this.replay.close();
    this.resigning.remove();
  }

  /** Agents that can be played by now. */
  offer(frozen: Frozen[]): void {
    this.opponent.offer(frozen);
  }

  // ---- keys of the room

  /** Throws the dice or ends the turn, whichever is due. */
  go(): void {
    for (const name of ["roll", "confirm", "next"]) {
      const button = this.buttons[name]!;
      if (!button.hidden) return button.click();
    }
  }

  undo(): void {
    if (!this.buttons.undo!.hidden) this.buttons.undo!.click();
  }

  askHint(): void {
    if (!this.buttons.hint!.hidden) this.buttons.hint!.click();
  }

  goToBoard(): void {
    this.board.focus();
  }

  // ---- what is done

  private choose(mode: Mode): void {
    this.mode = mode;
    this.paused = false;
    remember("backgammon", mode);
    void this.newSession();
  }

  /** A new match as the form says. */
  private async newSession(): Promise<void> {
    const evals = this.lookAhead.evals();
    const opponent: Engine = { who: this.opponent.who, evals };
    const setup: Setup = {
      seats: [this.mode === "play" ? null : { who: { kind: "now" }, evals }, opponent],
      length: Number(this.length.value),
      cube: this.cube.checked,
      seed: Math.floor(Math.random() * 2 ** 32),
    };
    const before = this.session;
    await this.ask(() => this.client.ask({ ask: "new_session", setup }));
    const played = before?.setup.seats.includes(null) && (before.moves.length > 0 || before.dice) && !before.ending?.match_over;
    if (played && this.session !== before) this.replaced(() => void this.goBack());
    write(this.verdict, "");
    // On a phone the form is not beside the board.
    if (before && !this.closed) this.board.element.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    if (this.mode === "play")
      this.think("What it considers", "After its move you see here what it weighed. A hint shows the same for yours.", [], "");
  }

  /** To the game that the present one took the place of. */
  private async goBack(): Promise<void> {
    await this.ask(() => this.client.ask({ ask: "former_session" }));
    if (this.session && !this.closed) this.suit(this.session);
  }

  private async act(act: Act): Promise<void> {
    const focused = this.element.contains(document.activeElement);
    await this.ask(() => this.client.ask({ ask: "act", act }));
    const done = !this.error.textContent;
    if (done && act.kind === "confirm" && this.session?.may.review) void this.review();
    if (done && ["roll", "double", "take", "pass"].includes(act.kind)) void this.reviewCube(act.kind === "roll");
    if (focused) this.keepFocus();
  }

  private async ask(what: () => Promise<Session>): Promise<void> {
    write(this.error, "");
    this.asking++;
    try {
      const session = await what();
      if (!this.closed) this.take(session);
    } catch (error) {
      if (!this.closed) {
        this.refuse(error instanceof Error ? error.message : String(error));
        this.board.offer(this.offered());
      }
    } finally {
      this.asking--;
    }
  }

  /** A button that is gone takes no focus along; and who has scrolled on stays there. */
  private keepFocus(): void {
    const active = document.activeElement;
    if (active instanceof HTMLElement && active !== document.body && active.offsetParent !== null) return;
    const preventScroll = true;
    if (this.session?.legal.length) this.board.focus({ preventScroll });
    else
      Object.values(this.buttons)
        .find((button) => !button.hidden)
        ?.focus({ preventScroll });
  }

  private refuse(words: string): void {
    write(this.error, "");
    write(this.error, capital(words));
  }

  private async write(): Promise<void> {
    const { session } = this;
    const text = this.written.value;
    if (!session) return;
    this.written.removeAttribute("aria-invalid");
    await this.act({ kind: "write", text });
    if (this.error.textContent) this.written.setAttribute("aria-invalid", "true");
    else this.written.value = "";
  }

  private askToResign(): void {
    const give = (level: number): HTMLElement =>
      h(
        "button",
        { type: "button", onclick: () => (this.resigning.close(), void this.act({ kind: "resign", points: level })) },
        `Resign ${LEVELS[level]}`,
      );
    this.resigning.element.querySelector(".resigning")?.remove();
    this.resigning.element.append(
      h(
        "div",
        { class: "resigning" },
        h("p", {}, "The other side gets the points, times the cube."),
        h("p", { class: "row" }, give(1), give(2), give(3)),
      ),
    );
    this.resigning.open();
  }

  private pause(): void {
    this.paused = !this.paused;
    write(this.buttons.pause!, this.paused ? "Go on with the game" : "Pause the game");
  }

  /** Whoever is not a person does the next thing when it is due. */
  private others(): void {
    const { session } = this;
    if (!session || this.busy || this.asking || performance.now() < this.dueMs) return;
    const watching = this.mode === "watch";
    if (watching && this.paused) return;
    if (session.may.reply) void this.reply();
    else if (watching && session.phase === "over") void (session.ending?.match_over ? this.newSession() : this.act({ kind: "next_game" }));
    else if (watching && session.may.roll) void this.act({ kind: "roll" });
  }

  private async reply(): Promise<void> {
    this.busy = true;
    let { shown } = this;
    // Of what a newer session has replaced, nothing is shown any more.
    const stale = (): boolean => this.closed || shown !== this.shown;
    try {
      const session = await this.client.ask({ ask: "act", act: { kind: "reply" } });
      ({ shown } = this); // answers come in the order of the questions: this is the newest by now
      await this.showReply(session, stale);
      if (stale()) return;
      const focused = this.element.contains(document.activeElement) || document.activeElement === document.body;
      this.take(session);
      if (session.reply) this.board.point(session.reply.seat as Side, session.reply.did === "played" ? session.reply.steps : []);
      if (focused && this.mode === "play" && this.element.contains(document.activeElement)) this.keepFocus();
    } catch (error) {
      if (stale()) return;
      this.refuse(error instanceof Error ? error.message : String(error));
      // The same would be refused again; it waits for another session.
      this.session = undefined;
    } finally {
      this.busy = false;
      this.dueMs = performance.now() + (this.session?.phase === "over" ? ENDED_MS : this.mode === "watch" ? WATCH_MS : 0);
    }
  }

  private async showReply(session: Session, stale: () => boolean): Promise<void> {
    const { reply } = session;
    if (!reply || stale()) return;
    const side = reply.seat as Side;
    const name = whoIs(session.names[side]);
    if (reply.did === "played" && reply.dice) {
      const [a, b] = reply.dice;
      this.board.point(side, []);
      this.board.throw({ side, shown: reply.dice, left: a === b ? [a, a, a, a] : [a, b] });
      this.consider(session, reply);
      await wait(DICE_MS);
      if (stale()) return;
      await this.board.play(side, reply.steps);
      if (this.mode === "play" && !stale()) this.announcer.say(`${name} rolled ${a} ${b} and played ${reply.text}.`);
    } else {
      this.board.say(side, capital(reply.text));
      if (this.mode === "play") this.announcer.say(`${name} ${reply.text}.`);
      await wait(SAID_MS);
    }
  }

  // ---- what is shown

  private offered(): Session["legal"] {
    const { session } = this;
    return session && session.turn === 0 && session.setup.seats[0] === null ? session.legal : [];
  }

  private take(session: Session): void {
    this.shown++;
    this.session = session;
    const { position, dice, turn, may, phase } = session;
    const person = session.setup.seats[0] === null;
    this.board.show(position);
    this.board.point(0, []);
    // The answer to a double stays until the next thing is done.
    const said =
      session.reply && session.reply.did !== "played" && session.moves.at(-1)?.text === session.reply.text ? session.reply : undefined;
    this.board.say((said?.seat ?? 0) as Side, said ? capital(said.text) : "");
    this.replay.take(session);
    if (phase === "to_play" && dice) this.board.throw({ side: turn as Side, shown: dice, left: session.left });
    else if (session.reply?.dice && phase !== "opening")
      this.board.throw({ side: session.reply.seat as Side, shown: session.reply.dice, left: [] });
    else this.board.throw(undefined);
    this.board.turnCube(session.setup.cube ? { value: session.cube, owner: session.cube_owner as Side | null } : undefined);
    this.board.offer(this.offered());
    this.writeSeats(session);
    write(this.status, this.statusWords(session));
    const { buttons } = this;
    const show = (name: string, wanted: boolean): void => void (buttons[name]!.hidden = !wanted);
    show("roll", person && may.roll);
    show("double", person && may.double);
    show("take", person && may.answer);
    show("pass", person && may.answer);
    show("confirm", person && may.confirm);
    show("undo", person && may.undo);
    show("next", person && may.next_game);
    show("again", person && phase === "over" && !may.next_game);
    show("hint", person && may.hint && !may.reply && phase !== "opening");
    show("resign", person && may.resign);
    show("pause", !person);
    this.writing.hidden = !(person && this.offered().length > 0);
    this.moves.replaceChildren(
      ...session.moves.map(({ seat, dice, text, id }, k) =>
        h(
          "li",
          {},
          h("span", { class: "small" }, `${k + 1}. ${session.names[seat]}${dice ? ` ${dice[0]}-${dice[1]}` : ""}`),
          " ",
          h(
            "button",
            { type: "button", class: "quiet small", "aria-label": `Analyse move ${k + 1}: ${text}`, onclick: () => this.analyse(id, dice) },
            text,
          ),
        ),
      ),
    );
  }

  private writeSeats(session: Session): void {
    const { names, score, position, setup } = session;
    const of = (side: Side): string => {
      const parts = [
        `${side === 0 ? position.my_pips : position.their_pips} pips`,
        setup.length ? `${score[side]} of ${setup.length} points` : points(score[side]),
      ];
      return parts.join(" · ");
    };
    this.theirs.replaceChildren(
      h("span", { class: "chip side-1", "aria-hidden": "true" }),
      h("strong", {}, whoIs(names[1])),
      h("span", { class: "small" }, of(1)),
    );
    this.yours.replaceChildren(
      h("span", { class: "chip side-0", "aria-hidden": "true" }),
      h("strong", {}, whoIs(names[0])),
      h("span", { class: "small" }, of(0)),
    );
  }

  private statusWords(session: Session): string {
    const { phase, turn, dice, ending, names, may } = session;
    const person = session.setup.seats[0] === null;
    const crawford = session.crawford ? " This is the Crawford game: no cube." : "";
    if (phase === "over" && ending) {
      const won = person ? (ending.winner === 0 ? "You win" : "You lose") : `${whoIs(names[ending.winner]!)} wins`;
      const how =
        ending.how === "passed"
          ? " as the double was passed"
          : ending.how === "resigned"
            ? ` by resignation`
            : ending.level > 1
              ? ` ${LEVELS[ending.level]}`
              : "";
      return `${won}${how}: ${points(ending.points)}.${ending.match_over && session.setup.length ? " The match is over." : ""}`;
    }
    if (!person)
      return session.reply
        ? `${whoIs(names[session.reply.seat]!)}: ` +
            `${session.reply.dice ? `${session.reply.dice[0]}-${session.reply.dice[1]}, ` : ""}${session.reply.text}`
        : "A game begins.";
    if (may.answer) return `${whoIs(names[1])} doubles to ${2 * session.cube}. Take it, or pass and lose ${points(session.cube)}.`;
    if (phase === "opening") return `Roll to begin: one die each, the higher one plays both.${crawford}`;
    if (turn !== 0 || may.reply) return `${whoIs(names[1])} thinks.`;
    const answered =
      session.reply?.did === "took" && session.moves.at(-1)?.text === session.reply.text
        ? `${whoIs(names[1])} takes: the cube is at ${session.cube} and theirs. `
        : "";
    if (phase === "to_roll") return `${answered}Your turn${may.double ? ": roll, or double first" : ": roll"}.${crawford}`;
    if (phase === "to_play" && dice) {
      if (session.legal.length === 0 && session.steps.length === 0) return `${dice[0]}-${dice[1]}: you have no move.`;
      if (may.confirm) return "Confirm, or undo.";
      return `${dice[0]}-${dice[1]}: move ${session.left.join(" and ")}.`;
    }
    return "";
  }

  // ---- what is thought

  private consider(session: Session, reply: NonNullable<Session["reply"]>): void {
    const name = whoIs(session.names[reply.seat]!);
    const engine = session.setup.seats[reply.seat];
    const dice = reply.dice ? `${reply.dice[0]}-${reply.dice[1]}` : "";
    if (reply.candidates.length === 0) {
      this.think(`${name} played ${reply.text}`, "It has no opinion to tell.", [], dice);
      return;
    }
    const how =
      engine && engine.evals > 1
        ? `Looked at ${
            reply.candidates.length === 1
              ? "all rolls after the only move"
              : `up to ${engine.evals} positions; the bars under the moves are their shares`
          }.`
        : "No look-ahead; the bars under the moves are its first impressions.";
    this.think(`${name} with ${dice}`, how, reply.candidates, dice, engine ?? undefined);
  }

  private think(
    heading: string,
    asks: string,
    candidates: Candidate[],
    root: string,
    engine?: Engine,
    pick?: (candidate: Candidate) => void,
  ): void {
    const thought = ++this.thought;
    write(this.heading, heading);
    write(this.asks, asks);
    const top = candidates.slice(0, SHOWN);
    this.list.replaceChildren(...(top.length ? [candidateTable(heading, top, pick && { pick })] : []));
    this.ends.replaceChildren(
      ...(top[0]
        ? [
            h("p", { class: "small" }, `How it expects the game to end after ${top[0].text} (${signed(top[0].equity)} points):`),
            outcomeTable(top[0].chances),
          ]
        : []),
    );
    this.side.classList.toggle("empty", top.length === 0);
    this.tree.begin(root, top, top[0]?.id);
    const shallow = top.some(({ depth }) => depth.kind === "static");
    write(
      this.about,
      top.length
        ? `The tree: each dot is one roll of the other side after its best reply, further right is better for the mover; the line is ` +
            `the move's ` +
            (shallow
              ? "equity, for a move that was not searched the one at first sight, which need not lie among its dots."
              : "equity, the mean of the dots that were tried.")
        : "",
    );
    if (engine && top.length) void this.unfoldTree(thought, engine);
  }

  private async unfoldTree(thought: number, { who }: Engine): Promise<void> {
    if (who.kind === "random" || who.kind === "linear") return;
    for (const { id } of this.tree.shown) {
      try {
        const branches = await this.client.ask({ ask: "unfold", unfold: { id, who, evals: 0 } });
        if (this.closed || thought !== this.thought) return;
        this.tree.unfold(id, branches);
      } catch {
        return; // the run ended, or the game did: nothing follows
      }
    }
  }

  private async hint(): Promise<void> {
    try {
      const analysis = await this.client.ask({ ask: "hint", engine: JUDGE });
      if (this.closed) return;
      const dice = analysis.dice ? `${analysis.dice[0]}-${analysis.dice[1]}` : "";
      if (analysis.outlook) {
        const { equity, cube } = analysis.outlook;
        const advice = cubeAdvice(cube);
        this.think(
          "Hint",
          `${advice} ${capital(analysis.name.startsWith("agent") ? `the ${analysis.name}` : analysis.name)} expects ${signed(equity)} ` +
            `points without the cube, seen by whoever ${cube.offered ? "doubled" : "rolls"}.`,
          [],
          "",
        );
        this.ends.replaceChildren(...outlookParts(analysis.outlook));
        this.announcer.say(`Hint: ${advice}`);
        return;
      }
      const best = analysis.candidates[0];
      this.think(
        "Hint for you",
        "By the agent as it is now. Choose a move to make it; it can be undone.",
        analysis.candidates,
        dice,
        JUDGE,
        ({ id }) => void this.act({ kind: "play", id }),
      );
      if (best) {
        this.board.point(0, this.session?.steps.length ? [] : best.steps, true);
        // Below the board too: what was considered may be out of sight.
        write(this.verdict, `Hint: ${best.text} (${signed(best.equity)}).`);
        delete this.verdict.dataset.verdict;
        this.announcer.say(`Hint: ${best.text}.`);
      }
    } catch (error) {
      if (!this.closed) this.refuse(error instanceof Error ? error.message : String(error));
    }
  }

  private async review(): Promise<void> {
    try {
      const review = await this.client.ask({ ask: "review", engine: JUDGE });
      if (this.closed) return;
      const { verdict, yours, best, rank, of, error: given, reviewed, lost } = review;
      const judged =
        of === 1
          ? "There was no other move."
          : given < 0.0005
            ? `The best of ${of} moves: ${yours.text}.`
            : `${VERDICTS[verdict]} ${yours.text} is number ${rank} of ${of}, ${error(given)} against ${best.text}.`;
      const sum = reviewed > 1 ? ` Your ${reviewed} moves with a choice, each judged when it was made: ${perMove(-lost / reviewed)}.` : "";
      const words = `${judged}${sum}`;
      write(this.verdict, `Your last move, by the agent as it is now: ${words}`);
      this.verdict.dataset.verdict = verdict;
      this.announcer.say(words, "review");
    } catch {
      write(this.verdict, ""); // the turn can no longer be judged
    }
  }

  /** Of a roll instead of a double it says something only where that was wrong. */
  private async reviewCube(quietly: boolean): Promise<void> {
    try {
      const review = await this.client.ask({ ask: "review_cube", engine: JUDGE });
      if (this.closed || !review || (quietly && review.error < 0.0005)) return;
      const { did, best, error: lost, verdict } = review;
      const words =
        lost < 0.0005
          ? `Right ${CUBE_ACTS[did]}.`
          : `${verdict === "good" ? "Close." : VERDICTS[verdict]} ${capital(CUBE_ACTS[best])} was right: ${CUBE_ACTS[did]} costs ` +
            `${error(lost)} at that cube.`;
      write(this.verdict, `The cube, by the agent as it is now: ${words}`);
      this.verdict.dataset.verdict = verdict;
      this.announcer.say(words, "review");
    } catch {
      // the game went on, or the run ended
    }
  }

  // ---- the match as text

  private async copyMatch(button: HTMLButtonElement): Promise<void> {
    const done = await copy(await this.client.ask({ ask: "transcript" }));
    write(button, done ? "Match copied" : "The browser refused; download it");
    setTimeout(() => write(button, "Copy the match"), 2000);
  }

  private async downloadMatch(): Promise<void> {
    download("hothouse-backgammon.mat", new TextEncoder().encode(await this.client.ask({ ask: "transcript" })));
  }
}
