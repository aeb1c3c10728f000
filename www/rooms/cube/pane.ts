// The displayed cube. The visitor turns and scrambles it, and the agent solves it. Auto-play runs until the visitor uses the cube.

import type { Announcer } from "../../parts/announce";
import { h, id, pane, write } from "../../parts/dom";
import { count, seconds } from "../../parts/format";
import { untilClosed } from "../../parts/life";
import { animate, calm } from "../../parts/loop";
import { Follower, reason, Turns } from "../shared/asking";
import { puzzleOf, type CubeClient } from "./client";
import { Controls, randomSeed, type Scramble } from "./controls";
import { moves, Opinion } from "./opinion";
import { CubePicture } from "./picture";
import { Practice, REST_MS } from "./practice";
import type { Puzzle, Scrambled, SolveMethod, StateView } from "./protocol";
import { SolutionPane } from "./solution";
import { costOf, nameOf as methodName, outcomeOf, Solver, whyNot, widened, type Found } from "./solver";
import { after, inverse, isSolved, nameOf, solved, turned, turnOf, type Turn } from "./stickers";

const SCRAMBLE_MS = 95;
const DEMO_PACE_MS = 420;
/** Interval at which the agent's estimates of the displayed state are refreshed. */
const LOOK_EVERY_MS = 1200;
const MOST_UNDO = 500;

type Path = { states: string[]; moves: string[]; at: number };

export class CubePane {
  readonly element: HTMLElement;
  readonly opinion = new Opinion((action) => this.make([action]));
  readonly solver: Solver;
  readonly practice: Practice;
  readonly picture: CubePicture;
  private readonly solution = new SolutionPane({ goTo: (step) => this.goTo(step), play: () => this.play() });
  private readonly controls: Controls;
  private readonly messages = {
    status: h("p.cube-status"),
    error: h("p.error", { role: "alert", id: id("cube-error") }),
    progress: h("p.small.search-progress"),
  };
  private puzzle: Puzzle;
  private stickers = solved(2);
  private readonly made: Turn[] = [];
  private path: Path | undefined;
  /** Time of the next move while a solution is played; undefined otherwise. */
  private playDueMs: number | undefined;
  private readonly looks: Follower<StateView>;
  /** Marks each operation on the cube as stale when a newer one starts. */
  private readonly operations = new Turns();
  private began = false;

  constructor(
    private readonly client: CubeClient,
    private readonly announcer: Announcer,
    able: (share: number) => number,
    private readonly tried: () => void,
  ) {
    this.puzzle = puzzleOf(client);
    this.solver = new Solver(client);
    this.practice = new Practice(able);
    this.looks = new Follower(
      () => client.ask({ ask: "look", facelets: this.stickers }),
      (view) => view.facelets === this.stickers && this.opinion.show(view),
    );
    this.picture = new CubePicture(this.stickers, {
      grabbed: () => this.take(),
      turned: (turn) => this.changed(turn, nameOf(this.puzzle.size, turn)),
      asked: (turn) => this.turn(turn),
      undo: () => this.undo(),
      play: () => (this.path ? this.play() : void this.solve()),
    });
    this.controls = new Controls(
      {
        make: (names) => this.make(names),
        write: (text) => text && this.write(text),
        undo: () => this.undo(),
        restore: () => this.place(solved(this.puzzle.size), "The solved cube."),
        scramble: (how) => this.scramble(how),
        solve: () => this.solve(),
        cancel: () => this.cancel(),
        resetView: () => this.picture.resetView(),
        showLetters: (letters) => this.picture.showLetters(letters),
        setAutoPlay: (on) => this.setAutoPlay(on),
      },
      this.messages.error,
    );
    const { tools, turns, forms, writing } = this.controls;
    this.element = pane(
      "cube-pane",
      "The cube",
      [tools],
      [this.picture.element, h("div", ...Object.values(this.messages)), this.solution.element, turns, forms, writing],
    );
    animate(this.picture.element, () => this.watch(), 60);
    untilClosed(() => this.solver.stop());
  }

  begin(): void {
    const { size } = this.puzzle;
    this.puzzle = puzzleOf(this.client);
    this.opinion.begin(this.puzzle);
    this.controls.begin(this.puzzle);
    this.practice.begin();
    this.solver.stop();
    this.interrupt();
    if (size !== this.puzzle.size || !this.began) {
      this.began = true;
      this.controls.setDefaults(this.puzzle);
      this.show(solved(this.puzzle.size));
      write(this.messages.status, this.controls.autoPlay ? "The first scramble follows." : "");
    }
    this.look();
  }

  // ---- for other panes

  get shown(): string {
    return this.stickers;
  }

  /** Shows a state that another pane sends, and solves it if `solve` is true. */
  place(stickers: string, words: string, solve = false): void {
    this.take();
    this.show(stickers);
    this.report(words);
    this.look();
    if (solve) void this.solve();
  }

  /** Stops auto-play and returns the displayed state. */
  claim(): string {
    this.take();
    return this.stickers;
  }

  /** Plays a solution that another pane found. */
  watchSolution(found: Found, method: SolveMethod): void {
    this.take();
    if (found.facelets !== this.stickers) this.show(found.facelets);
    this.follow(found, method);
    this.play();
  }

  // ---- control of the cube

  private interrupt(): void {
    this.operations.take();
    // Stops the search of this pane only, because other panes use the solver too.
    if (this.practice.trying || this.controls.searching) this.solver.stop();
    this.practice.trying = false;
    this.searching(false);
  }

  private take(): void {
    this.picture.hurry();
    this.interrupt();
    this.setPlaying(false);
    write(this.messages.error, "");
    this.controls.clearInvalid();
    if (!this.controls.autoPlay) return;
    this.controls.autoPlay = false;
    if (!this.path) write(this.messages.status, "");
  }

  private setAutoPlay(on: boolean): void {
    this.solver.stop();
    this.interrupt();
    this.setPlaying(false);
    this.practice.dueMs = 0;
    if (!on) write(this.messages.status, "Auto-play is off.");
  }

  private report(words: string): void {
    write(this.messages.status, words);
    this.announcer.say(words, "cube");
  }

  private refuse(error: unknown): void {
    write(this.messages.error, "");
    write(this.messages.error, reason(error));
  }

  // ---- turns

  private turn(turn: Turn): void {
    // Turns by keys are queued. Auto-play, playback and searches stop at once.
    if (this.controls.autoPlay || this.playing || this.controls.searching) this.take();
    write(this.messages.error, "");
    this.picture.turn(turn);
    this.changed(turn, nameOf(this.puzzle.size, turn));
  }

  private make(names: string[]): void {
    for (const name of names) {
      const turn = turnOf(this.puzzle.size, name);
      if (turn) this.turn(turn);
    }
  }

  private undo(): void {
    const last = this.made.pop();
    if (!last) return;
    this.take();
    const back = inverse(last);
    this.picture.turn(back);
    this.changed(back, `${nameOf(this.puzzle.size, back)} (undo)`, false);
  }

  /** Updates the pane after a turn. If `kept` is true, the turn can be undone. */
  private changed(turn: Turn, words: string, kept = true): void {
    this.stickers = turned(this.stickers, turn);
    if (kept) this.made.push(turn);
    if (this.made.length > MOST_UNDO) this.made.shift();
    this.controls.undoable = this.made.length > 0;
    this.clearPath();
    const done = isSolved(this.stickers);
    write(this.messages.status, done ? "Solved." : `${words}.`);
    this.announcer.say(done ? `${words}. Solved.` : words, "turn");
    this.look();
  }

  /** Sets the state and clears the list of turns that can be undone. */
  private settle(stickers: string): void {
    this.stickers = stickers;
    this.made.length = 0;
    this.controls.undoable = false;
  }

  private show(stickers: string): void {
    this.settle(stickers);
    this.clearPath();
    this.picture.set(stickers);
  }

  private clearPath(): void {
    this.path = undefined;
    this.setPlaying(false);
    this.solution.clear();
    write(this.messages.progress, "");
  }

  private async write(text: string): Promise<void> {
    this.take();
    const stale = this.operations.stale();
    try {
      const made = await this.client.ask({ ask: "turn", facelets: this.stickers, moves: text });
      if (stale()) return;
      this.controls.wrote(false);
      this.make(made.moves);
      // The worker's state may have another orientation than the displayed cube. In this case the worker's state is shown.
      if (this.stickers !== made.facelets) this.show(made.facelets);
      write(this.messages.status, `${made.moves.join(" ")}.`);
    } catch (error) {
      if (stale()) return;
      this.controls.wrote(true);
      this.refuse(error);
    }
  }

  private async scramble(how: Scramble): Promise<void> {
    this.take();
    const stale = this.operations.stale();
    this.picture.inSight();
    try {
      const there = await (how.ask === "draw" ? this.client.ask(how) : this.client.ask(how));
      if (stale()) return;
      await this.mix(there);
      if (stale()) return;
      const done = there.moves.length ? `Scrambled by ${moves(there.moves.length)}` : "The solved cube";
      this.report(`${done}${there.distance === null ? "" : `; ${moves(there.distance)} from solved`}.`);
    } catch (error) {
      if (!stale()) this.refuse(error);
    }
  }

  /** Animates a scramble from the solved cube. Resolves when the animation has ended. */
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
    // A cube that is off-screen is not drawn and its turns do not end, so the animation ends after a timeout.
    setTimeout(() => this.stickers === facelets && this.picture.hurry(), 2 * SCRAMBLE_MS * turns.length + 500);
    return new Promise((resolve) =>
      turns.forEach((turn, k) => this.picture.turn(turn!, SCRAMBLE_MS, k === turns.length - 1 ? resolve : undefined)),
    );
  }

  // ---- solving

  private searching(searching: boolean): void {
    this.controls.searching = searching;
    if (!searching) write(this.messages.progress, "");
  }

  private cancel(): void {
    this.interrupt();
    write(this.messages.status, "Search cancelled.");
  }

  private async solve(): Promise<void> {
    this.take();
    this.clearPath();
    const { method } = this.controls;
    const stale = this.operations.stale();
    this.searching(true);
    this.picture.inSight();
    write(this.messages.status, `${methodName(method)}: searching.`);
    try {
      const found = await this.search(method, stale);
      if (!found) return;
      this.searching(false);
      if (!found.solution) {
        write(this.messages.status, `${methodName(method)}: no solution found.`);
        return this.refuse(whyNot(found));
      }
      this.follow(found, method);
      this.report(outcomeOf(found.solution, method));
      if (found.solution.moves.length > 0) this.play();
    } catch (error) {
      if (stale()) return;
      this.searching(false);
      write(this.messages.status, "");
      this.refuse(error);
    }
  }

  private async search(method: SolveMethod, stale: () => boolean): Promise<Found | undefined> {
    const beganMs = performance.now();
    const found = await this.solver.solve(this.stickers, method, (view) => {
      if (stale() || this.practice.trying) return;
      const { steps, nodes, nearest } = view;
      const near = nearest === null ? "" : `; closest state: ${nearest.toFixed(1)} moves left (estimate)`;
      const s = (performance.now() - beganMs) / 1000;
      write(this.messages.progress, `${moves(steps)} deep, ${count(nodes)} states${widened(view, method)}${near}. ${seconds(s)}`);
    });
    return stale() ? undefined : found;
  }

  // ---- playback

  /** Makes a solution the current path, which the visitor can step through. */
  private follow(found: Found, method: SolveMethod): void {
    const { moves: names, optimal } = found.solution!;
    const states = [found.facelets];
    for (const name of names) states.push(after(states.at(-1)!, [name]));
    this.path = { states, moves: names, at: 0 };
    this.solution.show(found, `${methodName(method)}: ${costOf(found, method)}`);
    if (optimal !== null) void this.distances(this.path);
  }

  /** Requests the true distance of each state on the path. */
  private async distances(path: Path): Promise<void> {
    for (const [step, facelets] of path.states.entries()) {
      if (path !== this.path) return;
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
    this.settle(path.states[step]!);
    if (turn && (forward || step === path.at - 1)) this.picture.turn(forward ? turn : inverse(turn), Math.min(320, 0.8 * paceMs));
    else this.picture.set(this.stickers);
    path.at = step;
    this.solution.setStep(step);
    this.look();
  }

  private get playing(): boolean {
    return this.playDueMs !== undefined;
  }

  private setPlaying(playing: boolean): void {
    this.playDueMs = playing ? performance.now() + 250 : undefined;
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

  private playOn(now: number): void {
    const paceMs = this.practice.trying ? DEMO_PACE_MS : this.solution.paceMs;
    this.playDueMs = now + paceMs;
    const { path } = this;
    if (path) this.walk(path.at + 1, paceMs);
    if (!path || path.at >= path.moves.length) this.setPlaying(false);
    this.practice.rest(REST_MS);
  }

  // ---- auto-play

  private watch(): void {
    const now = performance.now();
    const { practice } = this;
    if (!this.began) return;
    if (this.playDueMs !== undefined && now >= this.playDueMs && !this.picture.moving) this.playOn(now);
    if (now - this.looks.askedMs > LOOK_EVERY_MS) this.look();
    const due = !practice.trying && !this.playing && now >= practice.dueMs;
    if (this.controls.autoPlay && due && !document.hidden) void this.tryOne();
  }

  /** Draws a random scramble and lets the agent try to solve it. */
  private async tryOne(): Promise<void> {
    const { practice, puzzle } = this;
    const { exact } = puzzle;
    const { depth } = practice;
    practice.trying = true;
    const stale = this.operations.take();
    const method = practice.methodOf(puzzle);
    try {
      const there = await this.client.ask({ ask: "draw", distance: depth, seed: randomSeed() });
      if (stale()) return;
      write(this.messages.error, "");
      write(this.messages.status, `Auto-play: ${exact ? `${moves(depth)} from solved` : `scramble of ${moves(depth)}`}.`);
      await this.mix(there);
      if (stale()) return;
      const found = await this.search(method, stale);
      if (!found) return;
      practice.tried(found.solution !== null, puzzle);
      this.tried();
      if (found.solution) {
        this.follow(found, method);
        const needs = found.solution.moves.length;
        write(this.messages.status, `Auto-play: ${exact ? "shortest" : "scramble"} ${depth}, agent ${moves(needs)}.`);
        this.setPlaying(true);
      } else {
        const from = exact ? `${moves(depth)} from solved` : `scramble of ${moves(depth)}`;
        write(this.messages.status, `Auto-play: ${from}, not solved.`);
      }
    } catch {
      practice.failed(); // the run has changed, or no state has this distance in half turns
    } finally {
      if (!stale()) practice.trying = false;
    }
  }

  private look(): void {
    this.picture.describe(this.stickers);
    void this.looks.ask();
  }
}
