// The cube and all that is done with it: turned by hand, scrambled, solved by the agent in sight. Until a visitor takes it, the
// agent tries fresh scrambles by itself, near ones first and farther ones as it gets better.

import type { Announcer } from "../../parts/announce";
import { h, id, write } from "../../parts/dom";
import { count, seconds } from "../../parts/format";
import { animate, calm } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import { puzzleOf, reason, type CubeClient } from "./client";
import { DEEPEST, type Tries } from "./depths";
import { MethodFields, numberField } from "./fields";
import { moves, Opinion } from "./opinion";
import { CubePicture } from "./picture";
import type { Puzzle, Scrambled, SolveMethod } from "./protocol";
import { SolutionPane } from "./solution";
import { nameOf as methodName, Solver, widened, type Found } from "./solver";
import { after, inverse, isSolved, nameOf, solved, turned, turnOf, type Turn } from "./stickers";

const SCRAMBLE_MS = 95;
const DEMO_PACE_MS = 420;
const REST_MS = 1800;
const FAILED_REST_MS = 2600;
/** What the agent thinks changes while it learns. */
const LOOK_EVERY_MS = 1200;
/** The share at a depth from which on it counts as able there. */
const ABLE = 0.8;
/** So many of the greatest depths it tries in turn once it has come to the end. */
const FAR = 6;
const MOST_UNDO = 500;
/** With which it tries by itself on a cube whose distances are not known. */
const SMALL_BEAM = { width: 64, nodes: 60_000 };
/** No state of the 2x2x2 is farther, in quarter turns. */
const MOST_DISTANCE = 14;
/** In pairs of opposite faces. */
const BUTTONS = ["U", "D", "L", "R", "F", "B"];

const draw = (): number => Math.floor(Math.random() * 2 ** 32);

type Path = { states: string[]; moves: string[]; at: number };

export class CubePane {
  readonly element: HTMLElement;
  readonly opinion: Opinion;
  readonly solver: Solver;
  private readonly picture: CubePicture;
  private readonly solution: SolutionPane;
  private readonly method = new MethodFields();
  private readonly status = h("p", { class: "cube-status" });
  private readonly error = h("p", { class: "error", role: "alert", id: id("cube-error") });
  private readonly byItself = h("input", { type: "checkbox", role: "switch", id: id("by-itself"), checked: !calm() });
  private readonly letters = h("input", { type: "checkbox", id: id("letters"), checked: recall("cube-letters") === "on" });
  private readonly undoButton = h("button", { type: "button", title: "Undo (backspace)", onclick: () => this.undo() }, "Undo");
  private readonly written = h("input", {
    type: "text",
    id: id("moves"),
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: "R U2 F'",
    "aria-describedby": this.error.id,
  });
  private readonly length = numberField("By moves", 12, 1, 200);
  private readonly distance = numberField("By distance", 8, 0, MOST_DISTANCE);
  private readonly byDistance: HTMLElement;
  private readonly solveButton = h("button", { type: "submit", class: "strong" }, "Solve it");
  private readonly cancelButton = h("button", { type: "button", hidden: true, onclick: () => this.cancel() }, "Cancel");
  private readonly progress = h("p", { class: "small search-progress" });
  private puzzle: Puzzle;
  private stickers = solved(2);
  /** How its own tries went, by depth. */
  readonly tries: Tries = new Map();
  private readonly made: Turn[] = [];
  private path: Path | undefined;
  private playing = false;
  private playDueMs = 0;
  /** The look that is on its way, and whether another is wanted. */
  private looking = false;
  private lookAgain = false;
  private lookedMs = 0;
  /** Its own tries: the depth of the next one, and whether one goes on. */
  private depth = 1;
  private trying = false;
  private dueMs = 0;
  /** Counts what took the cube, so that what was being done with it before ends. */
  private hands = 0;
  private began = false;
  private closed = false;
  private readonly stop: () => void;

  constructor(
    private readonly client: CubeClient,
    private readonly announcer: Announcer,
    /** The greatest depth at which it is able, as the newest test found. */
    private readonly able: (share: number) => number,
    private readonly tried: () => void,
  ) {
    this.puzzle = puzzleOf(client);
    this.solver = new Solver(client);
    this.opinion = new Opinion((action) => this.make([action]));
    this.picture = new CubePicture(this.stickers, {
      grabbed: () => this.take(),
      turned: (turn) => {
        this.record(turn);
        this.changed(nameOf(this.puzzle.size, turn));
      },
      asked: (turn) => this.turn(turn),
      undo: () => this.undo(),
      play: () => (this.path ? this.play() : void this.solve()),
    });
    this.solution = new SolutionPane({ goTo: (step) => this.goTo(step), play: () => this.play() });
    this.byItself.addEventListener("change", () => this.tryOrNot());
    this.letters.addEventListener("change", () => this.showLetters());
    const button = (words: string, does: () => void, title = ""): HTMLButtonElement =>
      h("button", { type: "button", title, onclick: does }, words);
    const turns = BUTTONS.flatMap((face) => [face, `${face}'`]).map((name) =>
      h("button", { type: "button", "aria-label": `Turn ${name.replace("'", " prime")}`, onclick: () => this.make([name]) }, name),
    );
    const writing = h(
      "form",
      { class: "row writing-moves" },
      h("label", { for: this.written.id, class: "small" }, "Moves"),
      this.written,
      h("button", { type: "submit" }, "Turn"),
      this.undoButton,
      button("Solved cube", () => this.place(solved(this.puzzle.size), "The solved cube.")),
    );
    this.submits(writing, () => this.write());
    const scrambling = h("form", { class: "scrambling" }, this.length.element, h("button", { type: "submit" }, "Scramble"));
    this.submits(scrambling, () => this.scramble({ ask: "scramble", moves: this.length.value(), seed: draw() }));
    this.byDistance = h("form", { class: "scrambling" }, this.distance.element, h("button", { type: "submit" }, "Draw a state"));
    this.submits(this.byDistance, () => this.scramble({ ask: "draw", distance: this.distance.value(), seed: draw() }));
    const solving = h("form", { class: "solving" }, ...this.method.elements, this.solveButton, this.cancelButton);
    this.submits(solving, () => this.solve());
    this.element = h(
      "section",
      { class: "cube-pane", "aria-labelledby": "cube-title" },
      h(
        "div",
        { class: "head" },
        h("h2", { id: "cube-title", class: "label" }, "The cube"),
        h(
          "div",
          { class: "row cube-tools" },
          h("span", { class: "row" }, this.byItself, h("label", { for: this.byItself.id }, "It tries by itself")),
          h("span", { class: "row" }, this.letters, h("label", { for: this.letters.id }, "Letters")),
          button("Reset view", () => this.picture.resetView(), "Reset the view (home, or double-click beside the cube)"),
        ),
      ),
      this.picture.element,
      h("div", {}, this.status, this.error, this.progress),
      this.solution.element,
      h("div", { class: "turns", role: "group", "aria-label": "Turn a face" }, ...turns),
      h("div", { class: "cube-controls" }, scrambling, this.byDistance, solving),
      writing,
    );
    for (const small of this.element.querySelectorAll(".cube-tools button")) small.className = "quiet small";
    this.picture.showLetters(this.letters.checked);
    this.stop = animate(this.picture.element, () => this.watch(), 60);
  }

  private submits(form: HTMLFormElement | HTMLElement, does: () => unknown): void {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      does();
    });
  }

  close(): void {
    this.closed = true;
    this.hands++;
    this.solver.stop();
    this.stop();
    this.picture.close();
  }

  /** A run has begun. */
  begin(): void {
    const { size } = this.puzzle;
    this.puzzle = puzzleOf(this.client);
    const { exact } = this.puzzle;
    this.opinion.begin(this.puzzle);
    this.method.begin(this.puzzle);
    this.byDistance.hidden = !exact;
    this.depth = 1;
    this.tries.clear();
    this.hands++;
    this.trying = false;
    this.dueMs = performance.now() + REST_MS;
    this.solver.stop();
    this.searching(false);
    if (size !== this.puzzle.size || !this.began) {
      this.began = true;
      this.length.input.value = this.puzzle.size === 2 ? "12" : "30";
      this.show(solved(this.puzzle.size));
      this.byItself.checked = !calm();
      write(this.status, this.byItself.checked ? "Soon it tries its first scramble." : "");
    }
    this.look();
  }

  // ---- for other parts of the room

  /** The state that one looks at. */
  get shown(): string {
    return this.stickers;
  }

  /** Takes up a state from elsewhere, and may solve it. */
  place(stickers: string, words: string, solve = false): void {
    this.take();
    this.show(stickers);
    write(this.status, words);
    this.announcer.say(words, "cube");
    this.look();
    if (solve) void this.solve();
  }

  /** The same, which stays as it is from now on. */
  held(): string {
    this.take();
    return this.stickers;
  }

  goToCube(): void {
    this.picture.focus();
  }

  undo(): void {
    const last = this.made.pop();
    if (!last) return;
    this.take();
    const back = inverse(last);
    this.stickers = turned(this.stickers, back);
    this.picture.turn(back);
    this.undoButton.disabled = this.made.length === 0;
    this.changed(`${nameOf(this.puzzle.size, back)} takes it back`);
  }

  /** A solution that was found elsewhere for the state that is shown. */
  watchSolution(found: Found, method: SolveMethod): void {
    this.take();
    if (found.facelets !== this.stickers) this.show(found.facelets);
    this.follow(found, method);
    this.play();
  }

  // ---- turns

  /** The visitor has the cube: what was going on with it ends. */
  private take(): void {
    this.hands++;
    this.picture.hurry();
    // Others may be searching.
    if (this.trying || !this.cancelButton.hidden) this.solver.stop();
    this.searching(false);
    this.setPlaying(false);
    write(this.error, "");
    this.written.removeAttribute("aria-invalid");
    this.trying = false;
    if (this.byItself.checked) {
      this.byItself.checked = false;
      if (!this.path) write(this.status, "");
    }
  }

  private turn(turn: Turn): void {
    // A quick row of keys is queued; only what somebody else was doing ends at once.
    if (this.byItself.checked || this.playing || !this.cancelButton.hidden) this.take();
    write(this.error, "");
    this.record(turn);
    this.picture.turn(turn);
    this.changed(nameOf(this.puzzle.size, turn));
  }

  private record(turn: Turn): void {
    this.stickers = turned(this.stickers, turn);
    this.made.push(turn);
    if (this.made.length > MOST_UNDO) this.made.shift();
    this.undoButton.disabled = false;
  }

  private make(names: string[]): void {
    for (const name of names) {
      const turn = turnOf(this.puzzle.size, name);
      if (turn) this.turn(turn);
    }
  }

  private changed(words: string): void {
    this.forget();
    const done = isSolved(this.stickers);
    write(this.status, done ? "Solved." : `${words}.`);
    this.announcer.say(done ? `${words}. Solved.` : words, "turn");
    this.look();
  }

  private show(stickers: string): void {
    this.stickers = stickers;
    this.made.length = 0;
    this.undoButton.disabled = true;
    this.forget();
    this.picture.set(stickers);
  }

  private forget(): void {
    this.path = undefined;
    this.setPlaying(false);
    this.solution.clear();
    write(this.progress, "");
  }

  private showLetters(): void {
    remember("cube-letters", this.letters.checked ? "on" : null);
    this.picture.showLetters(this.letters.checked);
  }

  private refuse(error: unknown): void {
    write(this.error, "");
    write(this.error, reason(error));
  }

  /** Moves as they were typed: the worker reads them. */
  private async write(): Promise<void> {
    const text = this.written.value.trim();
    if (!text) return;
    this.take();
    const { hands } = this;
    try {
      const made = await this.client.ask({ ask: "turn", facelets: this.stickers, moves: text });
      if (this.closed || hands !== this.hands) return;
      this.written.value = "";
      this.make(made.moves);
      // Where they hold the cube another way, theirs counts.
      if (this.stickers !== made.facelets) this.show(made.facelets);
      write(this.status, `${made.moves.join(" ")}.`);
    } catch (error) {
      if (this.closed || hands !== this.hands) return;
      this.written.setAttribute("aria-invalid", "true");
      this.refuse(error);
    }
  }

  private async scramble(
    question: { ask: "scramble"; moves: number; seed: number } | { ask: "draw"; distance: number; seed: number },
  ): Promise<void> {
    this.take();
    const { hands } = this;
    this.picture.inSight();
    try {
      const there = await (question.ask === "draw" ? this.client.ask(question) : this.client.ask(question));
      if (this.closed || hands !== this.hands) return;
      await this.mix(there);
      if (this.closed || hands !== this.hands) return;
      const how = there.moves.length ? `Scrambled by ${moves(there.moves.length)}` : "The solved cube";
      const words = `${how}${there.distance === null ? "" : `; ${moves(there.distance)} from solved`}.`;
      write(this.status, words);
      this.announcer.say(words, "cube");
    } catch (error) {
      if (!this.closed && hands === this.hands) this.refuse(error);
    }
  }

  /** From the solved cube by these moves, in sight. */
  private mix({ facelets, moves: names }: Scrambled): Promise<void> {
    const start = solved(this.puzzle.size);
    this.show(start);
    this.stickers = facelets;
    this.look();
    const turns = names.map((name) => turnOf(this.puzzle.size, name));
    if (after(start, names) !== facelets || turns.length === 0 || calm()) {
      this.picture.set(facelets);
      return Promise.resolve();
    }
    // Where nobody sees it, nothing is drawn, and so nothing turns.
    setTimeout(() => this.stickers === facelets && this.picture.hurry(), 2 * SCRAMBLE_MS * turns.length + 500);
    return new Promise((resolve) =>
      turns.forEach((turn, k) => this.picture.turn(turn!, SCRAMBLE_MS, k === turns.length - 1 ? resolve : undefined)),
    );
  }

  // ---- solving

  private searching(searching: boolean): void {
    this.solveButton.hidden = searching;
    this.cancelButton.hidden = !searching;
    if (!searching) write(this.progress, "");
  }

  private cancel(): void {
    this.hands++;
    this.solver.stop();
    const focused = this.element.contains(document.activeElement);
    this.searching(false);
    write(this.status, "The search was cancelled.");
    if (focused) this.solveButton.focus();
  }

  private async solve(): Promise<void> {
    this.take();
    this.forget();
    const { method } = this.method;
    const { hands } = this;
    const focused = document.activeElement === this.solveButton;
    this.searching(true);
    this.picture.inSight();
    if (focused) this.cancelButton.focus();
    write(this.status, `${methodName(method)} looks for a solution.`);
    try {
      const found = await this.search(method, hands);
      if (!found) return;
      const refocus = document.activeElement === this.cancelButton;
      this.searching(false);
      if (refocus) this.solveButton.focus();
      if (!found.solution) {
        write(this.status, `${methodName(method)} found no solution.`);
        return this.refuse(found.failure ?? "There is none.");
      }
      this.follow(found, method);
      const words = this.outcome(found, method);
      write(this.status, words);
      this.announcer.say(words, "cube");
      if (found.solution.moves.length > 0) this.play();
    } catch (error) {
      if (this.closed || hands !== this.hands) return;
      this.searching(false);
      write(this.status, "");
      this.refuse(error);
    }
  }

  private async search(method: SolveMethod, hands: number): Promise<Found | undefined> {
    const beganMs = performance.now();
    const found = await this.solver.solve(this.stickers, method, (view) => {
      if (hands !== this.hands || this.closed || this.trying) return;
      const { steps, nodes, nearest } = view;
      const near = nearest === null ? "" : `; the nearest is thought to be ${nearest.toFixed(1)} moves away`;
      const s = (performance.now() - beganMs) / 1000;
      write(this.progress, `${moves(steps)} ahead, ${count(nodes)} states${widened(view, method)}${near}. ${seconds(s)}`);
    });
    return this.closed || hands !== this.hands ? undefined : found;
  }

  private outcome({ solution }: Found, { search }: SolveMethod): string {
    const { moves: made, optimal } = solution!;
    if (made.length === 0) return "It is solved.";
    if (search === "exact") return `Optimal is ${made.length}.`;
    return optimal === null ? `The agent needs ${moves(made.length)}.` : `Optimal is ${optimal}, the agent needs ${made.length}.`;
  }

  private cost(found: Found, method: SolveMethod): string {
    const { nodes, ms } = found;
    const time = ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000);
    return method.search === "exact" ? time : `${count(nodes)} states in ${time}${widened(found, method)}`;
  }

  /** A solution becomes the path that one walks. */
  private follow(found: Found, method: SolveMethod): void {
    const { moves: names, optimal } = found.solution!;
    const states = [found.facelets];
    for (const name of names) states.push(after(states.at(-1)!, [name]));
    this.path = { states, moves: names, at: 0 };
    this.solution.show(found, `${methodName(method)}: ${this.cost(found, method)}`);
    if (optimal !== null) void this.distances(this.path);
  }

  /** What is truly left along the path, where that is known. */
  private async distances(path: Path): Promise<void> {
    for (const [step, facelets] of path.states.entries()) {
      if (path !== this.path || this.closed) return;
      const view = await this.client.ask({ ask: "look", facelets }).catch(() => undefined);
      if (path !== this.path || view?.distance == null) return;
      this.solution.known(step, view.distance);
    }
  }

  private goTo(step: number): void {
    this.take();
    this.walk(step);
  }

  private walk(step: number, paceMs = 220): void {
    const { path } = this;
    if (!path || step < 0 || step >= path.states.length) return;
    const forward = step === path.at + 1;
    const turn = turnOf(this.puzzle.size, path.moves[forward ? path.at : step] ?? "");
    this.stickers = path.states[step]!;
    if (turn && (forward || step === path.at - 1)) this.picture.turn(forward ? turn : inverse(turn), Math.min(320, 0.8 * paceMs));
    else this.picture.set(this.stickers);
    path.at = step;
    this.made.length = 0;
    this.undoButton.disabled = true;
    this.solution.stand(step);
    this.look();
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing;
    this.playDueMs = performance.now() + 250;
    this.solution.playing(playing);
  }

  private play(): void {
    if (!this.path) return;
    const { playing } = this;
    this.take();
    if (playing) return;
    if (this.path.at >= this.path.moves.length) this.walk(0);
    this.setPlaying(true);
  }

  // ---- by itself

  private tryOrNot(): void {
    this.hands++;
    this.trying = false;
    this.solver.stop();
    this.searching(false);
    this.setPlaying(false);
    this.dueMs = 0;
    if (!this.byItself.checked) write(this.status, "It waits for you.");
  }

  /** Called while the cube is in sight. */
  private watch(): void {
    const now = performance.now();
    if (!this.began) return;
    if (this.playing && now >= this.playDueMs && !this.picture.moving) {
      const paceMs = this.trying ? DEMO_PACE_MS : this.solution.paceMs;
      this.playDueMs = now + paceMs;
      const { path } = this;
      if (!path || path.at >= path.moves.length) this.setPlaying(false);
      else {
        this.walk(path.at + 1, paceMs);
        if (path.at >= path.moves.length) this.setPlaying(false);
      }
      this.dueMs = Math.max(this.dueMs, now + REST_MS);
    }
    if (now - this.lookedMs > LOOK_EVERY_MS) this.look();
    if (this.byItself.checked && !this.trying && !this.playing && now >= this.dueMs && !document.hidden) void this.tryOne();
  }

  /** A fresh scramble, and what comes of it. */
  private async tryOne(): Promise<void> {
    this.trying = true;
    const hands = ++this.hands;
    const stale = (): boolean => this.closed || hands !== this.hands;
    const { exact } = this.puzzle;
    const method: SolveMethod = exact
      ? { ...this.puzzle.method, search: "greedy" }
      : { ...this.puzzle.method, search: "beam", ...SMALL_BEAM };
    try {
      const { depth } = this;
      const there = await this.client.ask({ ask: "draw", distance: depth, seed: draw() });
      if (stale()) return;
      write(this.error, "");
      write(this.status, `It tries by itself: ${exact ? `${moves(depth)} from solved` : `a scramble of ${moves(depth)}`}.`);
      await this.mix(there);
      if (stale()) return;
      const found = await this.search(method, hands);
      if (!found || stale()) return;
      const so = this.tries.get(depth) ?? { solved: 0, of: 0 };
      this.tries.set(depth, { solved: so.solved + Number(found.solution !== null), of: so.of + 1 });
      this.tried();
      const most = exact ? MOST_DISTANCE : DEEPEST;
      if (found.solution) {
        this.follow(found, method);
        write(
          this.status,
          `It tries by itself: ${exact ? "optimal is" : "scrambled by"} ${depth}, it needs ${found.solution.moves.length}.`,
        );
        // Further out as it gets better; once it is at the end, now here, now there.
        this.depth = depth < most ? Math.min(most, Math.max(depth + 1, this.able(ABLE))) : most - Math.floor(FAR * Math.random());
        this.setPlaying(true);
      } else {
        write(
          this.status,
          `It tries by itself, ${exact ? `${moves(depth)} from solved` : `scrambled by ${moves(depth)}`}: no way found yet.`,
        );
        this.depth = Math.max(1, depth - 1);
      }
      this.dueMs = performance.now() + (found.solution ? REST_MS : FAILED_REST_MS);
    } catch {
      // The run changed meanwhile, or in half turns no state is so far.
      this.depth = Math.max(1, this.depth - 1);
      this.dueMs = performance.now() + FAILED_REST_MS;
    } finally {
      if (!stale()) this.trying = false;
    }
  }

  // ---- what the agent thinks

  private look(): void {
    this.lookedMs = performance.now();
    this.lookAgain = true;
    this.picture.describe(this.stickers);
    if (!this.looking) void this.ask();
  }

  private async ask(): Promise<void> {
    this.looking = true;
    while (this.lookAgain && !this.closed) {
      this.lookAgain = false;
      const { stickers } = this;
      try {
        const view = await this.client.ask({ ask: "look", facelets: stickers });
        if (this.closed || this.stickers !== stickers) continue;
        this.opinion.show(view);
      } catch {
        break; // between two runs there is nobody to ask
      }
    }
    this.looking = false;
  }
}
