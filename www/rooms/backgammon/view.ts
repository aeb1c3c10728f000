// The backgammon room: an agent that teaches itself from the first second on, a table to watch it or to play it, what it
// considers, and any position analysed. It shows what a run says and sends what the visitor wishes; rules and opinions are
// the worker's.

import type { Config } from "../../run/protocol";
import type { Parlour } from "../../run/backgammon/client";
import { PARTS, type Command, type Event as RunEvent, type Judged, type Progress, type Score } from "../../run/backgammon/protocol";
import type { Announcer } from "../../parts/announce";
import { Breakdown } from "../../parts/breakdown";
import { Chart, roundUp, type Axis, type ChartOptions } from "../../parts/chart";
import { DeviceSwitch, trains } from "../../parts/device";
import { h, markup, write } from "../../parts/dom";
import { dropping } from "../../parts/files";
import { count, exact, figure, minus, seconds, short } from "../../parts/format";
import { Knobs } from "../../parts/knobs";
import type { Notices } from "../../parts/notices";
import { Shortcuts } from "../../parts/shortcuts";
import { TakeAway } from "../../parts/takeaway";
import { Transport } from "../../parts/transport";
import { AnalysisPane } from "./analysis";
import { Course } from "./course";
import { TablePane } from "./table";
import * as text from "./text";
import "./style.css";

const CALM_MS = 500;
const LEAST_SPAN_S = 60;
const MOST_ROWS = 60;

const TIME: Axis = {
  tick: (s) => (s < 120 ? `${Math.round(s)} s` : s < 7200 ? `${Number((s / 60).toFixed(1))} min` : `${Number((s / 3600).toFixed(1))} h`),
  words: seconds,
  steps: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 72000],
};

const SMALL: ChartOptions[] = [
  { column: "loss", title: "Loss", about: text.charts.loss, axis: TIME },
  { column: "games_per_min", title: "Games a minute", about: text.charts.games, axis: TIME, span: [0, 100] },
  { column: "evals_per_s", title: "Evaluations a second", about: text.charts.evaluations, axis: TIME, span: [0, 1000] },
  { column: "mean_length", title: "Length of a game", about: text.charts.length, axis: TIME, span: [0, 80] },
];

export type Surroundings = { notices: Notices; announcer: Announcer };

const DEFAULT_LEARNER = "strong";
const linkTo = (learner: string): string => `#/backgammon?env=${learner}&v=1`;
const points = ({ points, error }: Score): string => `${minus(points.toFixed(2))} ± ${error.toFixed(2)}`;

export class BackgammonRoom {
  readonly element: HTMLElement;
  readonly counts = { rate: "boards", boundary: "round" };
  private readonly status = h("p", { class: "lead" });
  private readonly switcher = h("ul", {});
  private readonly nav: HTMLElement;
  private readonly transport: Transport;
  private readonly device: DeviceSwitch;
  private readonly strength: Chart;
  private readonly small: Chart[];
  private readonly breakdown = new Breakdown(PARTS, text.parts);
  private readonly judgedBody = h("tbody");
  private readonly table: TablePane;
  private readonly analysis: AnalysisPane;
  private readonly knobsPlace = h("div");
  private knobs: Knobs | undefined;
  private readonly explained = h("div", { class: "explain" });
  private readonly shortcuts: Shortcuts;
  private readonly takeAway: TakeAway;
  private readonly ghostLine = h("p", { class: "ghost-line", hidden: true }, "The run before, against random");
  private readonly back = h("button", { type: "button", class: "small", onclick: () => this.goBack() }, "Go back to it");
  private readonly stops: (() => void)[] = [];

  private course: Course | undefined;
  private past: { course: Course; bytes: Uint8Array | undefined } | undefined;
  private leaving: Uint8Array | undefined;
  private progress: Progress | undefined;
  private rate: { games: number; evals: number } | undefined;
  private running = true;
  private changing: Promise<unknown> = Promise.resolve();
  private statusMs = 0;
  private readonly timer: ReturnType<typeof setInterval>;
  private closed = false;

  constructor(
    private readonly lab: Parlour,
    private readonly around: Surroundings,
  ) {
    const { announcer } = around;
    document.title = "Backgammon | Hothouse";
    const label = (name: string): string => (name === "frozen" ? "kept at minute" : this.labelOf(name));
    this.transport = new Transport(
      {
        run: (running) => {
          lab.command({ kind: running ? "start" : "pause" });
          announcer.say(running ? "Training" : "Paused", "running");
        },
        step: () => lab.command({ kind: "step" }),
        reset: () => this.reset(),
      },
      { rate: "games a minute", figures: ["games", "evaluations a second", "training time"], step: "round" },
    );
    this.device = new DeviceSwitch(lab.wished, this.counts, (wish) => lab.command({ kind: "device", wish }));
    const { button, table } = this.judgedTable();
    this.strength = new Chart(
      {
        column: "random",
        label: "random",
        others: [{ column: "linear", label: "linear", colour: "plus" }],
        axis: TIME,
        title: "Points a game",
        about: text.charts.strength,
        digits: 2,
        span: [-0.5, 1.5],
        threshold: { value: 0, label: "even" },
        main: true,
      },
      label,
      [button],
    );
    this.small = SMALL.map((options) => new Chart(options, label));
    this.analysis = new AnalysisPane(lab, announcer);
    this.table = new TablePane(lab, announcer, (id, dice) => this.analysis.show(id, dice));
    this.shortcuts = new Shortcuts(
      [
        { key: " ", shown: "space", does: "train or pause", run: () => this.transport.toggle() },
        { key: "s", shown: "s", does: "step: one round, then pause", run: () => lab.command({ kind: "step" }) },
        { key: "r", shown: "r", does: "start again from nothing", run: () => this.reset() },
        { key: "d", shown: "d", does: "at the table: roll, or done", run: () => this.table.go() },
        { key: "u", shown: "u", does: "at the table: undo", run: () => this.table.undo() },
        { key: "h", shown: "h", does: "at the table: a hint", run: () => this.table.askHint() },
        { key: "b", shown: "b", does: "go to the board", run: () => this.table.goToBoard() },
        { key: "t", shown: "t", does: "open or close the table of scores", run: () => button.click() },
      ],
      [
        { shown: "← ↑ → ↓", does: "on the board: from point to point" },
        { shown: "enter", does: "on the board: take up a checker, put it down; twice moves it by the larger die" },
        { shown: "esc", does: "on the board: let go of the checker" },
      ],
    );
    this.takeAway = this.makeTakeAway();
    this.ghostLine.append(this.back);
    this.nav = h("nav", { class: "worlds", "aria-label": "Choose a learner" }, this.switcher);

    const band = (name: string, heading: string, ...children: Node[]): HTMLElement =>
      h("section", { class: `band ${name}`, "aria-labelledby": `${name}-title` }, h("h2", { id: `${name}-title` }, heading), ...children);
    this.element = h(
      "main",
      { id: "main", tabindex: -1, class: "backgammon" },
      this.nav,
      h("div", { class: "intro" }, h("h1", {}, text.title), this.status),
      this.transport.element,
      h(
        "div",
        { class: "salon" },
        this.table.element,
        h("div", { class: "beside" }, h("section", { class: "returns", "aria-label": "How well it plays" }, this.strength.element, this.ghostLine, table), this.table.side),
      ),
      band("losses", "How it learns", h("div", {}, h("div", { class: "multiples" }, ...this.small.map((chart) => chart.element)), this.breakdown.element)),
      band("device-band", "Where it trains", this.device.element),
      band("analysis-band", "Analyse a position", this.analysis.element),
      band("knobs-band", "Knobs", this.knobsPlace),
      band("explain-band", "What it means", this.explained),
      band("take-band", "Take it with you", this.takeAway.element),
    );

    lab.onEvent((event) => this.take(event));
    this.timer = setInterval(() => this.refresh(), 100);
    this.stops.push(dropping("Drop a saved run to go on from it", (name, bytes) => this.load(name, bytes)));
  }

  help(): void {
    this.shortcuts.help();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    for (const part of [this.table, this.analysis, this.shortcuts, this.takeAway, this.strength, ...this.small, this.breakdown]) part.close();
    for (const stop of this.stops) stop();
    this.element.remove();
  }

  // ---- what the run says

  private take(event: RunEvent): void {
    const { announcer, notices } = this.around;
    const { course } = this;
    switch (event.kind) {
      case "began":
        this.began(event);
        break;
      case "running":
        this.running = event.running;
        this.transport.setRunning(event.running);
        break;
      case "metrics": {
        course?.push(event);
        this.breakdown.push(event);
        this.progress = event.progress;
        const calm = (before: number, now: number): number => before + (now - before) * 0.2;
        this.rate = this.rate
          ? { games: calm(this.rate.games, event.games_per_min), evals: calm(this.rate.evals, event.evals_per_s) }
          : { games: event.games_per_min, evals: event.evals_per_s };
        this.showCurves();
        announcer.progress(() => this.statusWords());
        break;
      }
      case "mark":
        course?.marks.push(event);
        this.knobs?.took(event.knob, event.to);
        this.showCurves();
        announcer.say(`${this.labelOf(event.knob)} is now ${exact(event.to)}.`, event.knob);
        break;
      case "judged":
        course?.judged.push(event);
        this.analysis.begin();
        this.showCurves();
        this.writeJudged();
        break;
      case "frozen":
        course?.frozen.push(event);
        this.offer();
        this.showCurves();
        announcer.say(`The agent after ${event.minutes === 1 ? "one minute" : `${event.minutes} minutes`} can now be played.`);
        break;
      case "notice":
        notices.show(event.level, event.text, event.next_step);
        break;
      case "device":
        this.device.show(event);
        // The automatic choice is nobody's question while it finds nothing better than the processor.
        if (event.on_gpu || event.wish !== "auto") announcer.say(trains(event), "device");
        break;
      case "digest":
      case "saved":
        break;
    }
  }

  private began(event: RunEvent & { kind: "began" }): void {
    const { config } = event;
    const another = !this.course || this.course.config.env !== config.env;
    if (this.course && this.course.lastS > 0) this.past = another ? undefined : { course: this.course, bytes: this.leaving };
    this.leaving = undefined;
    this.ghostLine.hidden = !this.past;
    this.back.hidden = !this.past?.bytes;
    const course = new Course(config, event.knobs);
    this.breakdown.clear();
    this.device.show(undefined);
    for (const row of event.history) {
      course.push(row);
      this.breakdown.push(row);
    }
    course.marks.push(...event.marks);
    course.judged.push(...event.judged);
    course.frozen.push(...event.frozen);
    this.course = course;
    this.progress = event.progress;
    this.rate = undefined;
    if (another) this.suit(config);
    this.knobs?.begin(event.knobs, config.seed);
    this.offer();
    this.table.begin();
    this.showCurves();
    this.writeJudged();
    this.statusMs = 0;
  }

  /** Words and knobs of the learner that learns now. */
  private suit({ env }: Config): void {
    this.knobs = new Knobs(this.lab.knobs, (name, value) => this.lab.command({ kind: "set_knob", name, value }), () => this.reset(), "round");
    this.knobsPlace.replaceChildren(this.knobs.element);
    const learner = this.lab.learners.find(({ id }) => id === env);
    this.explained.replaceChildren(
      ...text.explanations(env, learner?.summary ?? "").map(({ heading, words, equation }) =>
        h(
          "article",
          {},
          h("h3", {}, heading),
          h("p", {}, words),
          ...equation.map(({ summary, markup: source }) => {
            const details = h("details", {}, h("summary", {}, summary));
            details.append(markup(source));
            return details;
          }),
        ),
      ),
    );
    this.nav.hidden = this.lab.learners.length < 2;
    this.switcher.replaceChildren(
      ...this.lab.learners.map(({ id, name, summary }) => {
        const link = h("a", { href: linkTo(id), "aria-current": id === env && "page", title: summary }, name);
        link.addEventListener("click", (event) => {
          // Another tab or window is the browser's business.
          if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          this.switchTo(id);
        });
        return h("li", {}, link);
      }),
    );
  }

  private offer(): void {
    const frozen = this.course?.frozen ?? [];
    this.table.offer(frozen);
    this.analysis.offer(frozen);
  }

  private showCurves(): void {
    const { course } = this;
    if (!course) return;
    const past = this.past?.course;
    const span = roundUp(Math.max(LEAST_SPAN_S, course.lastS * 1.02));
    this.strength.show(course.strength, past?.strength, span);
    for (const chart of this.small) chart.show(course.learning, past?.learning, span);
  }

  private refresh(): void {
    const { progress, rate } = this;
    if (progress) this.transport.show(rate && short(rate.games), [short(progress.games), rate && this.running ? short(rate.evals) : "–", seconds(progress.train_s)]);
    const now = performance.now();
    if (now - this.statusMs < CALM_MS) return;
    this.statusMs = now;
    write(this.status, this.statusWords());
  }

  private statusWords(): string {
    const { course, progress } = this;
    if (!course || !progress) return "Starting.";
    const so = `${count(progress.games)} games against itself in ${seconds(progress.train_s)} of training`;
    const judged = course.judged.at(-1);
    const paused = this.running ? "" : " Paused.";
    if (!judged) return `It knows the rules and nothing else. ${so} so far.${paused}`;
    const against = (score: Score, whom: string): string =>
      `${score.points >= 0 ? "wins" : "loses"} ${figure(Math.abs(Math.round(100 * score.points) / 100))} points a game ${score.points >= 0 ? "from" : "to"} ${whom}`;
    return `${so}: it ${against(judged.random, "one who moves at random")} and ${against(judged.linear, "the linear yardstick")}.${paused}`;
  }

  private labelOf(name: string): string {
    return this.lab.knobs.find((knob) => knob.name === name)?.label ?? name;
  }

  /** The scores as a table, with the button that opens it. */
  private judgedTable(): { button: HTMLButtonElement; table: HTMLElement } {
    const titles = ["Time", "Games", "Against random", "won", "Against linear", "won", "gammons"];
    const table = h(
      "div",
      { class: "scroll", id: "judged-table", hidden: true, tabindex: 0, role: "region", "aria-label": "Points a game as a table" },
      h("table", {}, h("caption", {}, "Games that do not train it, newest first: points a game ± standard error"), h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)))), this.judgedBody),
    );
    const button = h("button", { type: "button", class: "quiet small", "aria-expanded": "false", "aria-controls": "judged-table", "aria-label": "Points a game as a table" }, "Table");
    button.addEventListener("click", () => {
      table.hidden = !table.hidden;
      button.setAttribute("aria-expanded", String(!table.hidden));
      button.textContent = table.hidden ? "Table" : "Close table";
      this.writeJudged();
    });
    return { button, table };
  }

  private writeJudged(): void {
    const region = this.judgedBody.closest<HTMLElement>(".scroll");
    // Whoever has the focus in the table reads it: it stands still for them.
    if (!region || region.hidden || region.contains(document.activeElement)) return;
    const percent = (share: number): string => `${Math.round(100 * share)}%`;
    const row = ({ progress, random, linear }: Judged): HTMLElement =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, seconds(progress.train_s)),
        h("td", {}, short(progress.games)),
        h("td", {}, points(random)),
        h("td", {}, percent(random.wins)),
        h("td", {}, points(linear)),
        h("td", {}, percent(linear.wins)),
        h("td", {}, percent(linear.gammons_won)),
      );
    this.judgedBody.replaceChildren(...(this.course?.judged ?? []).slice(-MOST_ROWS).map(row).reverse());
  }

  // ---- what the visitor wishes

  private reset(): void {
    if (!this.course || !this.knobs) return;
    const { knobs, seed } = this.knobs.wanted();
    this.replace({ kind: "reset", config: { ...this.course.config, knobs, seed } });
    this.around.announcer.say("A new run begins.");
  }

  /** Another run takes the place of the present one, which is kept to go back to. */
  private replace(command: Command, start = false): void {
    this.changing = this.changing
      .then(async () => (this.leaving = await this.lab.save()))
      .catch(() => (this.leaving = undefined))
      .then(() => {
        if (this.closed) return;
        this.lab.command(command);
        if (start) this.lab.command({ kind: "start" });
      });
  }

  private goBack(): void {
    const bytes = this.past?.bytes;
    if (bytes) this.replace({ kind: "restore", bytes });
  }

  /** A link that names another learner and nothing else; false where it is for others to open. */
  follow(link: string): boolean {
    const [path, query = ""] = link.split("?");
    const asked = new URLSearchParams(query);
    const plain = /^#\/?backgammon\/?$/.test(path!) && [...asked.keys()].every((name) => name === "env" || name === "v");
    const id = asked.get("env") ?? DEFAULT_LEARNER;
    if (!plain || !this.course || !this.lab.learners.some((learner) => learner.id === id)) return false;
    if (id !== this.course.config.env) this.switchTo(id, false);
    return true;
  }

  private switchTo(id: string, push = true): void {
    const { course } = this;
    if (!course || course.config.env === id) return;
    if (push) history.pushState(null, "", linkTo(id));
    const { version, room, seed } = course.config;
    this.replace({ kind: "reset", config: { version, room, seed, env: id, knobs: {} } }, true);
    this.around.announcer.say("A new run begins.", "learner");
  }

  private load(name: string, bytes: Uint8Array): void {
    this.replace({ kind: "restore", bytes });
    this.around.announcer.say(`Loading ${name}`);
  }

  private fileName(): string {
    const config = this.course?.config;
    return `hothouse-backgammon-${config?.env ?? "run"}-seed${config?.seed ?? 0}-${short(this.progress?.games ?? 0)}.safetensors`;
  }

  private makeTakeAway(): TakeAway {
    const does = {
      about: "A saved run holds everything: weights, optimiser, random numbers, curves, the agents that were kept, and the table. It goes on here or in a terminal exactly where it stopped. A link carries the settings and the seed.",
      fileName: () => this.fileName(),
      load: (name: string, bytes: Uint8Array) => this.load(name, bytes),
      goOn: (bytes: Uint8Array) => this.replace({ kind: "restore", bytes }),
    };
    return new TakeAway(this.lab, does, this.around);
  }
}
