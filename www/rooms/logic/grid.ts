// The grid of a member's automaton, beside its target. The visitor can damage cells by pointer or keys. With auto-restart, the grid starts
// again with the member's latest gates.

import type { Announcer } from "../../parts/announce";
import { button, h, icon, id, ticked, write } from "../../parts/dom";
import { count, percent } from "../../parts/format";
import { animate, calm } from "../../parts/loop";
import { floats } from "../../run/floats";
import { reason } from "../../parts/requests";
import { Cells } from "./cells";
import { GridChoices } from "./choices";
import { experimentOf, type Chosen, type LogicClient } from "./client";
import { cellColours, cellName, mixed } from "./colours";
import type { AutomatonView, Experiment, GridView, Picture, Shows } from "./protocol";
import { GridQueue, type Ask } from "./queue";

const REST_MS = 1600;
/** Time that a grid at normal speed needs for the number of steps in training, in seconds. */
const WHOLE_S = 2.2;
const LEAST_PACE = 8;
/**
 * Steps of a rule's grid before an auto-restart. The limit is `RULED` if the member has learned since the start of the grid, otherwise
 * `RULED_MOST`.
 */
const [RULED, RULED_MOST] = [30, 1000];
const MOST_STEPS = 50;

class Messages {
  readonly step = h("output.number");
  readonly wrong = h("output.stage-value");
  readonly status = h("span.small.grid-status");
  readonly error = h("p.error", { role: "alert" });
  readonly cell = h("p.unseen", { role: "status" });
}

export class GridPane {
  readonly element: HTMLElement;
  private readonly cells: Cells;
  private readonly target = new Cells("Target");
  private readonly messages = new Messages();
  private readonly autoRestart = h("input", { type: "checkbox", role: "switch", id: id("by-itself"), checked: true });
  private readonly playButton = h("button.play-grid", { onclick: () => this.play(!this.playing) });
  private readonly choices: GridChoices;
  private readonly queue: GridQueue;
  private experiment: Experiment;
  private goal: Picture | null = null;
  /** Name of the automaton that runs on the grid. */
  private running = "";
  private view: GridView | undefined;
  /** False while the visitor has paused the grid. */
  playing = true;
  private damaged = false;
  private readonly times = { lastMs: 0, restUntilMs: 0 };

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
    private readonly onStep: () => void,
  ) {
    this.experiment = experimentOf(client);
    this.queue = new GridQueue(chosen, {
      begin: () => this.question(),
      damage: (spot) => ({ ask: "damage", ...spot, radius: this.cells.reach, how: this.choices.how }),
      took: (view, fresh) => this.took(view, fresh),
      failed: (error) => {
        write(this.messages.error, reason(error));
        this.setPlaying(false);
      },
    });
    this.choices = new GridChoices(
      () => this.again(),
      () => (this.cells.reach = this.choices.brush),
    );
    this.cells = new Cells(
      "The grid",
      {
        touched: (x, y) => this.damage(x, y),
        moved: (x, y) => write(this.messages.cell, `Column ${x + 1}, row ${y + 1}: ${this.nameOf(x, y)}.`),
        key: (key) => this.key(key),
      },
      () => this.recolour(),
    );
    this.cells.reach = this.choices.brush;
    this.autoRestart.addEventListener("change", () => this.autoRestart.checked && this.again(true));
    const { step, wrong, status, error, cell } = this.messages;
    this.element = h("section.stage-part.grid-pane", { "aria-label": "The automaton" }, [
      h("div.stage-picture.grid-canvas", this.cells.element),
      h("div.stage-facts", [
        h("div.grid-facts", [
          h("figure.target", this.target.element, h("figcaption.small", "Target")),
          h("p.grid-step", h("span.small", "Step "), step),
        ]),
        h("p", wrong, status),
        error,
        cell,
      ]),
      h("div.stage-actions.grid-player", [
        button("Damage the middle", () => this.damageMiddle(), { class: "strong", title: "Three touches of the brush" }),
        this.playButton,
        h("button", { "aria-label": "One step", title: "One step (.)", onclick: () => this.stepOnce() }, icon("step")),
        button("Reset", () => this.again(), { title: "Reset the grid (backspace)" }),
      ]),
      h("details.stage-more", h("summary", "Grid options"), ticked(this.autoRestart, "Auto-restart"), this.choices.element),
    ]);
    this.setPlaying(true);
    animate(this.cells.element, (nowMs) => this.tick(nowMs));
  }

  begin(): void {
    this.experiment = experimentOf(this.client);
    this.view = undefined;
    this.setGoal(null);
    this.choices.begin(this.experiment);
    this.choices.setSizes(this.experiment);
    // The empty grid has the same height as the next grid, so that the page does not shift.
    this.cells.pixels(...this.choices.size).fill(0);
    this.cells.draw();
    this.again(true);
  }

  /** Sets the number of steps and the target of the member's automaton. The target may have another size than the variant states. */
  setAutomaton({ target, steps }: AutomatonView): void {
    const { width, height } = this.experiment;
    this.experiment = { ...this.experiment, steps };
    this.setGoal(target);
    this.choices.setTarget(target);
    if (!target) return;
    this.target.label(`The target, ${target.width} by ${target.height} cells`);
    this.recolour();
    if (target.width === width && target.height === height) return;
    this.choices.setSizes({ ...this.experiment, width: target.width, height: target.height });
    this.again(true);
  }

  private setGoal(goal: Picture | null): void {
    this.goal = goal;
    this.target.element.parentElement!.hidden = !goal;
  }

  focus(): void {
    this.cells.element.focus();
    this.cells.element.scrollIntoView({ block: "center" });
  }

  /**
   * Called when another member is selected. If `now` is true, the grid restarts with this member. Otherwise, the grid uses the member from
   * its next restart on.
   */
  changed(now: boolean): void {
    if (now) this.again(this.autoRestart.checked);
  }

  /**
   * Restarts the grid with the automaton `name`, because its circuit is drawn. Does nothing if the grid already runs this automaton or is
   * paused.
   */
  renewFor(name: string): void {
    if (this.playing && this.running !== name) this.again(this.autoRestart.checked);
  }

  /** The current target, from which the visitor can start a drawing; undefined if there is no target. */
  get learned(): { picture: Picture; shows: Shows } | undefined {
    return this.goal ? { picture: this.goal, shows: this.chosen.shows } : undefined;
  }

  nameOf(x: number, y: number): string {
    if (!this.view) return "";
    return cellName(this.chosen.shows, this.view.values[y * this.view.width + x] ?? 0);
  }

  // ---- actions

  private key(key: string): boolean {
    if (key === " ") this.play(!this.playing);
    else if (key === ".") this.stepOnce();
    else if (key === "Backspace") this.again();
    else return false;
    return true;
  }

  private play(playing: boolean): void {
    // A pause turns auto-restart off, so that the grid remains as it is.
    if (!playing) this.autoRestart.checked = false;
    this.times.lastMs = performance.now();
    this.setPlaying(playing);
    this.announcer.say(playing ? "The grid runs." : "The grid is paused.", "grid");
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing;
    const name = playing ? "Pause grid" : "Run grid";
    write(this.playButton, name);
    this.playButton.title = `${name} (space)`;
  }

  private stepOnce(): void {
    if (this.playing) this.play(false);
    if (this.view) this.queue.step(1);
  }

  private again(autoRestart = false): void {
    this.autoRestart.checked = autoRestart;
    this.damaged = false;
    this.setPlaying(true);
    write(this.messages.error, "");
    this.queue.renew();
  }

  private damage(x: number, y: number): void {
    this.autoRestart.checked = false;
    if (this.queue.renewing) return;
    this.damaged = true;
    this.queue.damage({ x, y });
  }

  private damageMiddle(): void {
    if (!this.view) return;
    const { width, height } = this.view;
    const [x, y, apart] = [Math.floor(width / 2), Math.floor(height / 2), this.cells.reach + 1];
    this.damage(x, y);
    this.damage(Math.min(width - 1, x + apart), y);
    this.damage(x, Math.min(height - 1, y + apart));
    if (!this.playing) this.play(true);
    this.announcer.say("Damaged in the middle.", "grid");
  }

  // ---- steps

  private question(): Ask<"grid"> {
    const [width, height] = this.choices.size;
    const { member, name, done } = this.chosen;
    this.running = name;
    const soft = this.choices.soft(done, this.experiment.rule);
    return { ask: "grid", width, height, start: this.choices.start, seed: Math.floor(Math.random() * 2 ** 32), member, soft };
  }

  tick(nowMs: number): void {
    const { experiment, view, times, queue } = this;
    if (this.isOutdated) this.renewDamaged();
    const autoRestart = this.autoRestart.checked;
    if (autoRestart && this.playing && view && this.done(view)) {
      times.restUntilMs ||= nowMs + REST_MS / this.choices.pace;
      if (nowMs < times.restUntilMs) return;
      times.restUntilMs = 0;
      queue.renewing = true;
    }
    if (!this.playing || !view || queue.renewing || queue.asking) return queue.pump();
    const perS = this.choices.pace * Math.max(LEAST_PACE, experiment.steps / WHOLE_S);
    // With reduced motion only the final state is shown.
    const whole = calm() && autoRestart && !experiment.rule;
    const due = whole ? experiment.steps - view.step : Math.floor(((nowMs - times.lastMs) / 1000) * perS);
    if (due <= 0) return queue.pump();
    times.lastMs = due > MOST_STEPS ? nowMs : times.lastMs + (1000 * due) / perS;
    // With auto-restart, the grid makes no more steps than in training.
    const left = autoRestart && !experiment.rule ? experiment.steps - view.step : MOST_STEPS;
    queue.step(Math.min(MOST_STEPS, left, due));
  }

  /** Starts the perfect automaton from random cells, which it orders as it heals damage. */
  private renewDamaged(): void {
    this.again();
    this.damaged = true;
  }

  /** True if the grid was damaged while its gates were soft, and its automaton has become perfect since. Soft gates would never heal. */
  private get isOutdated(): boolean {
    const { choices, chosen, experiment, view } = this;
    const isSoft = this.damaged && this.playing && !!view?.soft.length;
    return isSoft && chosen.done && !choices.soft(chosen.done, experiment.rule) && !this.queue.renewing;
  }

  /**
   * Returns true if the grid is due for an auto-restart. For a pattern, this is the case after the number of steps in training; for a rule,
   * after `RULED` or `RULED_MOST` steps.
   */
  private done({ step, updates }: GridView): boolean {
    const { rule, steps } = this.experiment;
    return rule ? step >= (updates === this.chosen.updates ? RULED_MOST : RULED) : step >= steps;
  }

  private took(view: GridView, fresh: boolean): void {
    if (fresh) this.times.lastMs = performance.now();
    this.view = view;
    this.paint();
    const { step, wrong } = view;
    write(this.messages.step, count(step));
    write(this.messages.wrong, wrong === null ? "–" : percent(wrong));
    write(this.messages.status, this.statusOf(view));
    this.cells.label(
      `The grid, ${view.width} by ${view.height} cells: ${wrong === null ? `step ${step}` : `${percent(wrong)} wrong`}. Arrow keys ` +
        `move the cursor, enter damages, space runs or pauses.`,
    );
    this.element.dataset.step = String(step);
    this.element.dataset.wrong = wrong === null ? "" : String(wrong);
    this.onStep();
  }

  private statusOf({ step, wrong, soft, values }: GridView): string {
    const { rule, steps } = this.experiment;
    if (wrong === null) return "There is no target of this size.";
    if (rule) return "of cells wrong in the last step";
    if (this.damaged && wrong === 0) return "of cells wrong. Healed.";
    if (this.damaged && !this.playing) return "of cells wrong. Run it to see whether it heals.";
    const beyond = step > steps ? `, ${count(step - steps)} steps beyond training` : "";
    const blank = step > 0 && values.every((value) => value === 0) ? ". The circuit draws nothing yet" : "";
    return `of cells wrong${beyond}${soft.length ? "; gates still soft" : ""}${blank}`;
  }

  private recolour(): void {
    if (this.goal) this.target.show(this.goal, this.chosen.shows);
    this.paint();
  }

  /** Paints the current grid into `cells`, which may belong to another pane. */
  paint(cells = this.cells): void {
    const { view } = this;
    if (!view) return;
    if (!view.soft.length) return cells.show(view, this.chosen.shows);
    const soft = Float32Array.from(floats(view.soft));
    mixed(cellColours(this.chosen.shows), soft, view.width * view.height, cells.pixels(view.width, view.height));
    cells.draw();
  }
}
