// The displayed cube. The visitor turns and scrambles it, and the agent solves it. Auto-play runs until the visitor uses the cube.

import type { Announcer } from "../../parts/announce";
import { h, id, write } from "../../parts/dom";
import { count, seconds } from "../../parts/format";
import { untilClosed } from "../../parts/life";
import type { Answerer } from "../../run/trained";
import type { TrainedAgent } from "../../parts/trained";
import { animate, calm } from "../../parts/loop";
import { Follower, reason, Turns } from "../../parts/requests";
import { puzzleOf, type CubeClient } from "./client";
import { Controls } from "./controls";
import { lengthOf, lengthWords, written, type Metric, type Step } from "./notation";
import { Opinion } from "./opinion";
import { CubePicture } from "./picture";
import { Practice, REST_MS } from "./practice";
import type { Puzzle, Scrambled, SolveMethod, SolveView, StateView } from "./protocol";
import { randomSeed, type Preset } from "./scrambles";
import { SolutionPane } from "./solution";
import { costOf, nameOf as methodName, Solver, whyNot, widened, type Found } from "./solver";
import { after, inverse, isSolved, nameOf, solved, turned, turnOf, type Turn } from "./stickers";

/** Maximum durations of a scramble's animation, in ms: of one turn, and of all turns together. */
const SCRAMBLE_MS = { turn: 150, all: 2200 };
const DEMO_PACE_MS = 420;
/** Interval at which the agent's estimates of the displayed state are refreshed. */
const LOOK_EVERY_MS = 1200;
const MOST_UNDO = 500;

/**
 * A solution that the visitor can step through. `states` contains the state before each step and the last state. `at` is the index of the
 * displayed state.
 */
type Path = { found: Found; steps: Step[]; states: string[]; at: number };

export class CubePane {
  readonly element: HTMLElement;
  readonly opinion = new Opinion();
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
  /** Returns the status in the visitor's notation. */
  private words = (): string => "";
  private puzzle: Puzzle;
  /** The metric of the run. The worker gives distances in this metric. */
  private metric: Metric = "quarter";
  private stickers = solved(2);
  private readonly made: Turn[] = [];
  private path: Path | undefined;
  /** Moves of the scramble that led to the displayed state. */
  private scrambled: string[] = [];
  /** Time at which playback makes the next move, in ms; undefined if no solution is played. */
  private playDueMs: number | undefined;
  private readonly looks: Follower<StateView>;
  /** Marks operations on the cube as stale when a newer operation starts. */
  private readonly operations = new Turns();
  private began = false;

  constructor(
    private readonly client: CubeClient,
    private readonly announcer: Announcer,
    able: (share: number) => number,
    private readonly tried: () => void,
    private readonly trained_s: () => number,
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
        scramble: (preset) => this.scramble(preset),
        solve: () => this.solve(),
        cancel: () => this.cancel(),
        resetView: () => this.picture.resetView(),
        showLetters: (letters) => this.picture.showLetters(letters),
        setAutoPlay: (on) => this.setAutoPlay(on),
        setNotation: () => this.rewrite(),
      },
      this.messages.error,
    );
    const { opinion, picture, solution, controls } = this;
    this.element = h("section.cube-pane", { "aria-label": "The cube" }, [
      h("div.cube-stage", [
        picture.element,
        h("div.cube-side", [
          opinion.reading,
          h("div.cube-messages", Object.values(this.messages), solution.chart, opinion.brief),
          controls.main,
          controls.options,
        ]),
        solution.element,
      ]),
      controls.more,
    ]);
    animate(this.picture.element, () => this.watch(), 60);
    untilClosed(() => this.solver.stop());
  }

  /** Prepares the pane for a new run. `metric` is the metric of the run. */
  begin(metric: Metric): void {
    const { size } = this.puzzle;
    this.puzzle = puzzleOf(this.client);
    this.metric = metric;
    this.opinion.begin(this.puzzle, metric);
    this.controls.begin(this.puzzle, metric);
    this.practice.begin(metric);
    this.solver.stop();
    this.interrupt();
    if (size !== this.puzzle.size || !this.began) {
      this.began = true;
      this.controls.setDefaults(this.puzzle);
      this.show(solved(this.puzzle.size));
      this.tell(() => (this.controls.autoPlay ? "The first scramble follows." : ""));
    }
    this.look();
  }

  /** Offers the trained agent for solutions, or removes it from the choice. */
  setTrained(agent: TrainedAgent): void {
    this.controls.setTrained(agent);
  }

  // ---- for other panes

  get shown(): string {
    return this.stickers;
  }

  /** Shows a state from another pane. Solves the state if `solve` is true. */
  place(stickers: string, words: string, solve = false): void {
    this.take();
    this.show(stickers);
    this.report(() => words);
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
    this.follow(found);
    this.report(() => this.outcome(found, method));
    this.play();
  }

  // ---- control of the cube

  private interrupt(): void {
    this.operations.take();
    // Stops the solver only if this pane has started its search, because other panes use the solver too.
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
    if (!this.path) this.tell(() => "");
  }

  private setAutoPlay(on: boolean): void {
    this.solver.stop();
    this.interrupt();
    this.setPlaying(false);
    this.practice.dueMs = 0;
    if (!on) this.tell(() => "Auto-play is off.");
  }

  private tell(words: () => string): void {
    this.words = words;
    write(this.messages.status, words());
  }

  private report(words: () => string): void {
    this.tell(words);
    this.announcer.say(words(), "cube");
  }

  private refuse(error: unknown): void {
    write(this.messages.error, "");
    write(this.messages.error, reason(error));
  }

  // ---- turns

  private turn(turn: Turn): void {
    // Turns that the visitor requests are queued. They stop auto-play, playback and searches at once.
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

  /** Updates the pane after a turn. If `kept` is true, the visitor can undo the turn. */
  private changed(turn: Turn, words: string, kept = true): void {
    this.stickers = turned(this.stickers, turn);
    if (kept) this.made.push(turn);
    if (this.made.length > MOST_UNDO) this.made.shift();
    this.controls.undoable = this.made.length > 0;
    this.clearPath();
    const done = isSolved(this.stickers);
    this.tell(() => (done ? "Solved." : `${words}.`));
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
    this.scrambled = [];
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
      // A rotation in the text can give the worker's state another orientation than the displayed cube. The pane then shows the worker's
      // state.
      if (this.stickers !== made.facelets) this.show(made.facelets);
      this.tell(() => `${this.inNotation(made.moves)}.`);
    } catch (error) {
      if (stale()) return;
      this.controls.wrote(true);
      this.refuse(error);
    }
  }

  private async scramble(preset: Preset): Promise<void> {
    this.take();
    const stale = this.operations.stale();
    this.picture.inSight();
    try {
      const there = await preset.draw(this.client);
      if (stale()) return;
      await this.mix(there);
      if (stale()) return;
      const { moves, distance } = there;
      const known = distance === null ? "" : `; ${lengthWords(distance, this.metric)} from solved`;
      this.report(() => `${preset.by ? `Scrambled by ${this.lengthOf(moves)}` : preset.words}${known}.`);
    } catch (error) {
      if (!stale()) this.refuse(error);
    }
  }

  /** Animates a scramble from the solved cube. Resolves when the animation has ended. */
  private mix({ facelets, moves }: Scrambled): Promise<void> {
    const start = solved(this.puzzle.size);
    this.show(start);
    this.stickers = facelets;
    this.scrambled = moves;
    this.showScramble();
    this.look();
    const turns = written(moves, this.notation).map(({ name }) => turnOf(this.puzzle.size, name)!);
    if (after(start, moves) !== facelets || turns.length === 0 || calm()) {
      this.picture.set(facelets);
      return Promise.resolve();
    }
    const ms = Math.min(SCRAMBLE_MS.turn, SCRAMBLE_MS.all / turns.length);
    // An off-screen cube is not drawn, so its turns do not end. The timeout therefore ends the animation.
    setTimeout(() => this.stickers === facelets && this.picture.hurry(), 2 * ms * turns.length + 500);
    return new Promise((resolve) => turns.forEach((turn, k) => this.picture.turn(turn, ms, k === turns.length - 1 ? resolve : undefined)));
  }

  // ---- notation

  private get notation(): Metric {
    return this.controls.notation;
  }

  private lengthOf(moves: string[]): string {
    return lengthOf(moves, this.notation, this.metric);
  }

  private inNotation(moves: string[]): string {
    return written(moves, this.notation)
      .map(({ name }) => name)
      .join(" ");
  }

  private showScramble(): void {
    const { scrambled } = this;
    this.solution.clear(scrambled.length ? `Scramble: ${this.inNotation(scrambled)}` : "");
  }

  /** Writes the texts and the solution again after a change of the notation. */
  private rewrite(): void {
    write(this.messages.status, this.words());
    const { path } = this;
    if (!path) return this.showScramble();
    this.follow(path.found);
    const at = this.path!.states.lastIndexOf(this.stickers);
    // The displayed state may be in the middle of a half turn. In half turns, the path does not contain this state.
    this.walk(Math.max(0, at));
  }

  // ---- solving

  private searching(searching: boolean): void {
    this.controls.searching = searching;
    if (!searching) write(this.messages.progress, "");
  }

  private cancel(): void {
    this.interrupt();
    this.tell(() => "Search cancelled.");
  }

  private async solve(): Promise<void> {
    this.take();
    const { method } = this.controls;
    // An exact search uses the table of distances, which does not depend on an agent. The visitor's own run therefore answers.
    const solvedBy = method.search === "exact" ? "own" : this.controls.solvedBy;
    const stale = this.operations.stale();
    this.searching(true);
    this.picture.inSight();
    this.tell(() => `${methodName(method, solvedBy)}: searching.`);
    try {
      const found = await this.search(method, stale, solvedBy);
      if (!found) return;
      this.searching(false);
      if (!found.solution) {
        this.tell(() => `${methodName(method, solvedBy)}: no solution found.`);
        return this.refuse(whyNot(found));
      }
      this.follow(found);
      this.report(() => this.outcome(found, method, solvedBy));
      if (found.solution.moves.length > 0) this.play();
    } catch (error) {
      if (stale()) return;
      this.searching(false);
      this.tell(() => "");
      this.refuse(error);
    }
  }

  private async search(method: SolveMethod, stale: () => boolean, of: Answerer = "own"): Promise<Found | undefined> {
    const beganMs = performance.now();
    const progress = (view: SolveView): void => {
      if (stale() || this.practice.trying) return;
      const { steps, nodes, nearest } = view;
      const near = nearest === null ? "" : `; closest state: estimate ${nearest.toFixed(1)}`;
      const s = (performance.now() - beganMs) / 1000;
      write(
        this.messages.progress,
        `${lengthWords(steps, this.metric)} deep, ${count(nodes)} states${widened(view, method)}${near}. ${seconds(s)}`,
      );
    };
    const found = await this.solver.solve(this.stickers, method, progress, of);
    return stale() ? undefined : found;
  }

  // ---- playback

  /**
   * Describes the result of a search. The text gives the length in the run's metric too, because the shortest distance is in this metric.
   */
  private outcome(found: Found, method: SolveMethod, of: Answerer = "own"): string {
    const { moves, optimal } = found.solution!;
    if (moves.length === 0) return "Already solved.";
    const shortest = optimal === null ? "" : ` Shortest: ${lengthWords(optimal, this.metric)}.`;
    return `Solved in ${this.lengthOf(moves)}.${shortest} ${methodName(method, of)}: ${costOf(found, method)}.`;
  }

  /** Makes a solution the current path. The visitor can step through the path. */
  private follow(found: Found): void {
    const { moves, values, optimal } = found.solution!;
    const steps = written(moves, this.notation);
    const states = [found.facelets];
    for (const { name } of steps) states.push(after(states.at(-1)!, [name]));
    this.path = { found, steps, states, at: 0 };
    this.solution.show({
      names: steps.map(({ name }) => name),
      values: [values[0], ...steps.map(({ to }) => (to === undefined ? undefined : values[to]))],
      optimal,
    });
    if (optimal !== null) void this.distances(this.path);
  }

  /** Requests the true distance of each state on the path. Stops at an unknown distance, or when the path is no longer shown. */
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
    const turn = turnOf(this.puzzle.size, path.steps[forward ? path.at : step]?.name ?? "");
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
    if (this.path.at >= this.path.steps.length) this.walk(0);
    this.setPlaying(true);
  }

  private playOn(now: number): void {
    const paceMs = this.practice.trying ? DEMO_PACE_MS : this.controls.paceMs;
    this.playDueMs = now + paceMs;
    const { path } = this;
    if (path) this.walk(path.at + 1, paceMs);
    if (!path || path.at >= path.steps.length) this.setPlaying(false);
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
      const length = lengthWords(depth, this.metric);
      const from = exact ? `${length} from solved` : `scramble of ${length}`;
      this.tell(() => `Auto-play: ${from}.`);
      await this.mix(there);
      if (stale()) return;
      const found = await this.search(method, stale);
      if (!found) return;
      practice.tried(found.solution !== null, puzzle, this.trained_s());
      this.tried();
      const { solution } = found;
      if (solution) {
        this.follow(found);
        this.tell(() => `Auto-play: ${from}; the agent takes ${lengthOf(solution.moves, this.metric, this.metric)}.`);
        this.setPlaying(true);
      } else this.tell(() => `Auto-play: ${from}; not solved.`);
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
