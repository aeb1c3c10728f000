// The automaton of a member at work: a grid that runs step by step, beside its target. It can be damaged by pointer and by keys, and
// heals if its automaton has learned to. Until a visitor takes it, it starts over by itself with what was learned meanwhile.

import type { Announcer } from "../../parts/announce";
import { h, icon, id, write } from "../../parts/dom";
import { count, percent } from "../../parts/format";
import { animate, calm } from "../../parts/loop";
import { floats } from "../../run/floats";
import { Cells } from "./cells";
import { experimentOf, reason, type Chosen, type LogicClient } from "./client";
import { cellColours, COLOUR_NAMES, mixed, packed } from "./colours";
import type { AutomatonView, Damage, Experiment, GridView, Picture, Question, Shows, Start } from "./protocol";

const REST_MS = 1600;
/** A grid as it was trained takes about so long. */
const WHOLE_S = 2.2;
const LEAST_PACE = 8;
/** Steps that the grid of a rule goes by itself while its member learns, and at most. */
const [RULED, RULED_MOST] = [30, 1000];
const PACES = [
  { words: "slow", times: 0.25 },
  { words: "normal", times: 1 },
  { words: "fast", times: 5 },
];
const MOST_STEPS = 50;
/** Sides of the grid of a rule, which has no size of its own. */
const SIDES = [32, 64, 128, 256];
const MULTIPLES = [1, 2, 4, 8];

const draw = (): number => Math.floor(Math.random() * 2 ** 32);
const field = (label: string, select: HTMLSelectElement): HTMLElement =>
  h("p", { class: "field" }, h("label", { for: select.id }, label), select);
const choice = (stem: string, options: [value: string, words: string][]): HTMLSelectElement =>
  h("select", { id: id(stem) }, ...options.map(([value, words]) => h("option", { value }, words)));

export class GridPane {
  readonly element: HTMLElement;
  private readonly cells: Cells;
  private readonly target = new Cells("Target");
  private readonly targetFigure = h("figure", { class: "target" });
  private readonly status = h("p", { class: "grid-status" });
  private readonly error = h("p", { class: "error", role: "alert" });
  private readonly told = h("p", { class: "unseen", role: "status" });
  private readonly step = h("output", { class: "number" });
  private readonly byItself = h("input", { type: "checkbox", role: "switch", id: id("by-itself"), checked: true });
  private readonly playButton = h("button", { type: "button", class: "strong play-grid", onclick: () => this.play(!this.playing) });
  private readonly start = choice("start", [
    ["learned", "as in training"],
    ["random", "random"],
    ["blank", "blank"],
    ["target", "the target"],
  ]);
  private readonly size = choice("size", []);
  private readonly pace = choice(
    "pace",
    PACES.map(({ words }) => [words, words]),
  );
  private readonly form = choice("form", [
    ["settling", "soft, then hard"],
    ["hard", "hard: the circuit"],
    ["soft", "soft: as trained"],
  ]);
  private readonly how = choice("how", [
    ["noise", "noise"],
    ["blank", "blank"],
    ["flip", "flip"],
  ]);
  private readonly brush = choice("brush", [
    ["0", "1 cell"],
    ["1", "small"],
    ["2", "middle"],
    ["4", "large"],
  ]);
  private experiment: Experiment;
  private goal: Picture | null = null;
  /** Whose automaton it is. */
  private member = 0;
  private view: GridView | undefined;
  private colours: number[] = [];
  private playing = true;
  private steps = 0;
  private renew = true;
  private readonly damages: { x: number; y: number }[] = [];
  private asking = false;
  private damaged = false;
  private lastMs = 0;
  private restUntilMs = 0;
  /** Counts beginnings, so that what was asked of the grid before is let go. */
  private grids = 0;
  private closed = false;
  private readonly stop: () => void;

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
    /** The grid went on. */
    private readonly went: () => void,
  ) {
    this.experiment = experimentOf(client);
    this.pace.value = "normal";
    this.brush.value = "2";
    this.cells = new Cells(
      "The grid",
      {
        touched: (x, y) => this.damage(x, y),
        moved: (x, y) => this.standAt(x, y),
        key: (key) => {
          if (key === " ") this.play(!this.playing);
          else if (key === ".") this.stepOnce();
          else if (key === "Backspace") this.again();
          else return false;
          return true;
        },
      },
      () => this.recolour(),
    );
    const title = id("grid");
    const button = (words: string, does: () => void, about = ""): HTMLButtonElement =>
      h("button", { type: "button", title: about, onclick: does }, words);
    for (const select of [this.start, this.size, this.form]) select.addEventListener("change", () => this.again());
    this.brush.addEventListener("change", () => (this.cells.reach = Number(this.brush.value)));
    this.cells.reach = Number(this.brush.value);
    this.byItself.addEventListener("change", () => {
      if (this.byItself.checked) this.again(true);
    });
    this.targetFigure.append(this.target.element, h("figcaption", { class: "small" }, "target"));
    this.element = h(
      "section",
      { class: "grid-pane", "aria-labelledby": title },
      h(
        "div",
        { class: "head" },
        h("h2", { class: "label", id: title }, "The automaton"),
        this.step,
        h("span", { class: "row" }, this.byItself, h("label", { for: this.byItself.id }, "It starts over by itself")),
      ),
      h("div", { class: "grid-field" }, h("div", { class: "grid-canvas" }, this.cells.element), this.targetFigure),
      this.status,
      this.error,
      this.told,
      h(
        "div",
        { class: "row grid-player" },
        this.playButton,
        h("button", { type: "button", "aria-label": "One step", title: "One step (.)", onclick: () => this.stepOnce() }, icon("step")),
        button("Reset", () => this.again(), "Reset the grid (backspace)"),
        button("Damage in the middle", () => this.damageMiddle(), "As large as the brush, three times over"),
      ),
      h(
        "div",
        { class: "grid-choices" },
        field("Start", this.start),
        field("Grid", this.size),
        field("Speed", this.pace),
        field("Gates", this.form),
        field("Damage", this.how),
        field("Brush", this.brush),
      ),
    );
    this.showPlaying();
    this.stop = animate(this.cells.element, (nowMs) => this.tick(nowMs));
  }

  /** A run has begun. */
  begin(): void {
    this.experiment = experimentOf(this.client);
    this.view = undefined;
    this.goal = null;
    this.targetFigure.hidden = true;
    this.start.value = this.experiment.rule ? "random" : "learned";
    this.recolour();
    this.sizes();
    // Its place is kept, so that nothing below moves.
    const [width, height] = this.wished;
    this.cells.pixels(width, height).fill(0);
    this.cells.draw();
    this.again(true);
  }

  /** A pattern shows sooner in soft gates, at the size that they learn on; once the circuit is right, that runs. */
  private get soft(): boolean {
    const settling = this.form.value === "settling" && this.size.selectedIndex === 0 && !this.experiment.rule && !this.chosen.perfect;
    return settling || this.form.value === "soft";
  }

  private get wished(): [width: number, height: number] {
    return this.size.value.split("x").map(Number) as [number, number];
  }

  /** Its automaton and target, which may be of another size than the variant's own. */
  learns({ target, steps }: AutomatonView): void {
    this.goal = target;
    this.experiment = { ...this.experiment, steps };
    this.targetFigure.hidden = !target;
    for (const option of this.start.options) option.disabled = option.hidden = option.value === "target" && !target;
    if (!target) return;
    this.target.label(`The target, ${target.width} by ${target.height} cells`);
    const { width, height } = this.experiment;
    this.recolour();
    if (target.width === width && target.height === height) return;
    this.sizes();
    this.again(true);
  }

  private sizes(): void {
    const { rule, width, height } = { ...this.experiment, ...this.goal };
    const sizes = rule ? SIDES.map((side) => [side, side]) : MULTIPLES.map((times) => [width * times, height * times]);
    this.size.replaceChildren(
      ...sizes.map(([wide, tall], k) =>
        h("option", { value: `${wide}x${tall}` }, rule || k === 0 ? `${wide}x${tall}` : `${wide}x${tall}, ${MULTIPLES[k]} times`),
      ),
    );
  }

  close(): void {
    this.closed = true;
    this.stop();
    this.cells.close();
    this.target.close();
  }

  focus(): void {
    this.cells.element.focus();
    this.cells.element.scrollIntoView({ block: "center" });
  }

  /** Another member is looked at: what goes on by itself takes it up at the next start, a visitor's own grid at once. */
  changed(now: boolean): void {
    if (now) this.again(this.byItself.checked);
  }

  /** From now on this member's, whose circuit is looked at. */
  runs(member: number): void {
    if (this.member !== member) this.again(this.byItself.checked);
  }

  /** What is learned, for who begins with it. */
  get learned(): { picture: Picture; shows: Shows } | undefined {
    return this.goal ? { picture: this.goal, shows: this.chosen.shows } : undefined;
  }

  // ---- what is wished

  private play(playing: boolean): void {
    this.playing = playing;
    // Whoever pauses wants to look at what is there.
    if (!playing) this.byItself.checked = false;
    this.lastMs = performance.now();
    this.showPlaying();
    this.announcer.say(playing ? "The grid runs." : "The grid is paused.", "grid");
  }

  private showPlaying(): void {
    this.playButton.replaceChildren(icon(this.playing ? "pause" : "play"), this.playing ? "Pause" : "Run");
  }

  private stepOnce(): void {
    if (this.playing) this.play(false);
    this.steps = 1;
    this.pump();
  }

  private again(byItself = false): void {
    this.byItself.checked = byItself;
    this.renew = true;
    this.grids++;
    this.damages.length = 0;
    this.steps = 0;
    this.damaged = false;
    this.playing = true;
    write(this.error, "");
    this.showPlaying();
    this.pump();
  }

  private damage(x: number, y: number): void {
    this.byItself.checked = false;
    if (this.renew) return;
    // Some on their way are enough: a hand is quicker than a grid.
    if (this.damages.length < 200) this.damages.push({ x, y });
    if (!this.playing && !this.damaged) write(this.status, "Damaged. Run it, and see whether it heals.");
    this.damaged = true;
    this.pump();
  }

  private damageMiddle(): void {
    if (!this.view) return;
    const { width, height } = this.view;
    this.byItself.checked = false;
    const [x, y, apart] = [Math.floor(width / 2), Math.floor(height / 2), this.cells.reach + 1];
    for (const [dx, dy] of [
      [0, 0],
      [apart, 0],
      [0, apart],
    ] as const)
      this.damage(Math.min(width - 1, x + dx), Math.min(height - 1, y + dy));
    if (!this.playing) this.play(true);
    this.announcer.say("Damaged in the middle.", "grid");
  }

  private standAt(x: number, y: number): void {
    write(this.told, `Column ${x + 1}, row ${y + 1}: ${this.nameOf(x, y)}.`);
  }

  /** What a cell is, in words. */
  nameOf(x: number, y: number): string {
    if (!this.view) return "";
    const value = this.view.values[y * this.view.width + x] ?? 0;
    return this.chosen.shows === "rgb" ? COLOUR_NAMES[value]! : value ? "on" : "off";
  }

  // ---- the grid goes on

  private get perS(): number {
    const times = PACES.find(({ words }) => words === this.pace.value)?.times ?? 1;
    return times * Math.max(LEAST_PACE, this.experiment.steps / WHOLE_S);
  }

  /** A frame, for whoever shows it. */
  tick(nowMs: number): void {
    const { experiment, view } = this;
    if (this.byItself.checked && this.playing && view && this.done(view)) {
      this.restUntilMs ||= nowMs + REST_MS / (PACES.find(({ words }) => words === this.pace.value)?.times ?? 1);
      if (nowMs < this.restUntilMs) return;
      this.restUntilMs = 0;
      this.renew = true;
    }
    if (this.playing && view && !this.renew && !this.asking) {
      // Less motion: one sees where it ends, not how it gets there.
      const due =
        calm() && this.byItself.checked && !experiment.rule
          ? experiment.steps - view.step
          : Math.floor(((nowMs - this.lastMs) / 1000) * this.perS);
      if (due > 0) {
        this.steps = Math.min(MOST_STEPS, due);
        this.lastMs = due > MOST_STEPS ? nowMs : this.lastMs + (1000 * due) / this.perS;
      }
    }
    this.pump();
  }

  /** It has run as long as it was trained, or a rule for a while, and there is something new to see. */
  private done({ step, updates }: GridView): boolean {
    const { rule, steps } = this.experiment;
    return rule ? step >= (updates === this.chosen.updates ? RULED_MOST : RULED) : step >= steps;
  }

  /** One question at a time; a new grid goes first, then hands, then time. */
  private pump(): void {
    if (this.asking || this.closed) return;
    const damage = this.renew ? undefined : this.damages.shift();
    if (this.renew) {
      this.renew = false;
      const [width, height] = this.wished;
      this.member = this.chosen.member;
      this.ask({ ask: "grid", width, height, start: this.start.value as Start, seed: draw(), member: this.member, soft: this.soft });
    } else if (damage) this.ask({ ask: "damage", ...damage, radius: this.cells.reach, how: this.how.value as Damage });
    else if (this.steps > 0 && this.view) {
      this.ask({ ask: "advance", steps: this.steps });
      this.steps = 0;
    }
  }

  private ask(question: Question & { ask: "grid" | "advance" | "damage" }): void {
    this.asking = true;
    const { grids } = this;
    this.client
      .ask(question)
      .then((view) => {
        if (this.closed || (grids !== this.grids && question.ask !== "grid")) return;
        if (question.ask === "grid") this.lastMs = performance.now();
        this.show(view);
      })
      .catch((error: unknown) => {
        if (this.closed || grids !== this.grids) return;
        write(this.error, reason(error));
        this.playing = false;
        this.showPlaying();
      })
      .finally(() => {
        this.asking = false;
        if (this.renew || this.damages.length) this.pump();
      });
  }

  private show(view: GridView): void {
    this.view = view;
    this.paint();
    const { experiment } = this;
    const { step, wrong } = view;
    write(this.step, `${view.soft.length ? "soft, " : ""}step ${count(step)}`);
    const steps = step === 1 ? "1 step" : `${count(step)} steps`;
    const whole = wrong === 0 ? "Every cell is right" : wrong === null ? "" : `${percent(wrong)} of cells are wrong`;
    const end = experiment.rule || step <= experiment.steps ? "" : `, ${count(step - experiment.steps)} steps longer than it was trained`;
    const healed = this.damaged && wrong === 0 ? " It has healed." : "";
    write(
      this.status,
      experiment.rule
        ? wrong === null
          ? `After ${steps}.`
          : wrong === 0
            ? `Every cell is as the rule has it, after ${steps}.`
            : `${percent(wrong)} of cells are not as the rule has it, after ${steps}.`
        : whole
          ? `${whole} after ${steps}${end}.${healed}`
          : `After ${steps}${end}.`,
    );
    this.cells.label(
      `The grid, ${view.width} by ${view.height} cells: ${wrong === null ? `step ${step}` : `${percent(wrong)} wrong`}. Arrows move ` +
        `the cursor, enter damages, space runs or pauses.`,
    );
    this.element.dataset.step = String(step);
    this.element.dataset.wrong = wrong === null ? "" : String(wrong);
    this.went();
  }

  private recolour(): void {
    this.colours = cellColours(this.chosen.shows).map(packed);
    const { goal } = this;
    if (goal) {
      const pixels = this.target.pixels(goal.width, goal.height);
      goal.values.forEach((value, cell) => (pixels[cell] = this.colours[value]!));
      this.target.draw();
    }
    this.paint();
  }

  /** The grid as it stands, here or in another part. */
  paint(cells = this.cells): void {
    const { view } = this;
    if (!view) return;
    const pixels = cells.pixels(view.width, view.height);
    if (view.soft.length) mixed(cellColours(this.chosen.shows), Float32Array.from(floats(view.soft)), view.width * view.height, pixels);
    else view.values.forEach((value, cell) => (pixels[cell] = this.colours[value]!));
    cells.draw();
  }
}
