// The control room: thousands of one environment under PPO, hundreds of them in sight, and one to take the controls of.
// It shows what a run says and sends what the visitor wishes; it computes nothing of the run itself.

import type { Lab } from "../../run/client";
import { PARTS, type Command, type Config, type Environment, type Evaluation, type Event as RunEvent, type Mark, type Progress } from "../../run/protocol";
import type { Announcer } from "../../parts/announce";
import { Breakdown } from "../../parts/breakdown";
import { Chart, stepSpan, Table, type ChartOptions } from "../../parts/chart";
import { DeviceSwitch, trains } from "../../parts/device";
import { h, markup, write } from "../../parts/dom";
import { dropping } from "../../parts/files";
import { count, exact, figure, minus, seconds, short, two, words } from "../../parts/format";
import { History, type Column } from "../../parts/history";
import { calm } from "../../parts/loop";
import { Knobs } from "../../parts/knobs";
import { Network } from "../../parts/network";
import { recall, remember } from "../../parts/prefs";
import type { Notices } from "../../parts/notices";
import { Shortcuts } from "../../parts/shortcuts";
import { TakeAway } from "../../parts/takeaway";
import { SPEEDS, Transport } from "../../parts/transport";
import { Crowd } from "./crowd";
import { Plane } from "./plane";
import { LargeOne } from "./stage";
import { Sweep } from "./sweep";
import * as text from "./text";
import { worldOf } from "./worlds";
import type { World } from "./worlds/world";

const CALM_MS = 500;
/** So many are drawn where drawing and training share few cores. */
const FEW = 512;
const LABELS_MS = 4000;
/** A run as it was before a live change, to go back to; older ones are let go. */
const MOST_FORKS = 12;
const SLEPT_S = 30;

const SMALL: (ChartOptions & { column: Column })[] = [
  { column: "policy_loss", title: "Policy loss", about: text.charts.policy_loss, span: [-0.01, 0.01] },
  { column: "value_loss", title: "Value loss", about: text.charts.value_loss, span: [0, 1] },
  { column: "entropy", title: "Entropy", about: "" },
  { column: "approx_kl", title: "Policy change", about: text.charts.approx_kl, span: [0, 0.02] },
];

type Past = { history: History; bytes: Uint8Array | undefined };
type Fork = { mark: Mark; bytes: Uint8Array };
export type Surroundings = { notices: Notices; announcer: Announcer };

export class ControlRoom {
  readonly element: HTMLElement;
  readonly counts = { rate: "steps", boundary: "iteration" };
  private readonly headline = h("h1");
  private readonly status = h("p", { class: "lead" });
  private readonly switcher = h("ul", {});
  private readonly crowdTitle = h("h2", { id: "crowd-title", class: "label" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly few: HTMLElement;
  private readonly crowd: Crowd;
  private readonly plane: Plane;
  private readonly stageTitle = h("h2", { id: "stage-title", class: "label" });
  private readonly invite = h("p", { class: "about" });
  private readonly large: LargeOne;
  private readonly sweep: Sweep;
  private readonly transport: Transport;
  private readonly device: DeviceSwitch;
  private readonly knobsPlace = h("div");
  private knobs: Knobs;
  private readonly network = new Network();
  private readonly shortcuts: Shortcuts;
  private readonly returns: Chart;
  private readonly small: Chart[];
  private readonly breakdown = new Breakdown(PARTS, text.parts);
  private readonly tables: Table[];
  private readonly ghost = h("input", { type: "checkbox", checked: true, id: "ghost" });
  private readonly ghostLine = h("span", { class: "ghost-line", hidden: true });
  private readonly ghostLabel = h("label", { for: "ghost" });
  private readonly ghostBack = h("button", { type: "button", class: "small", onclick: () => this.goBack() }, "Go back to the run before");
  private readonly forkList = h("ol", { class: "forks" });
  private readonly forkSection: HTMLElement;
  private readonly takeAway: TakeAway;
  private readonly explained = h("div", { class: "explain" });
  private readonly stops: (() => void)[] = [];

  private environment: Environment;
  private world: World;
  private present: History | undefined;
  /** The last run of each environment before the present one: its curves, and the run whole. */
  private readonly pasts = new Map<string, Past>();
  /** The present run as it is about to become that. */
  private leaving: Uint8Array | undefined;
  private progress: Progress = { iteration: 0, env_steps: 0, episodes: 0, train_s: 0 };
  private stepsPerS: number | undefined;
  private running = true;
  private speed = SPEEDS.length - 1;
  private evaluation: Evaluation | undefined;
  private envs = 0;
  private forks: Fork[] = [];
  /** Saves made just before a change, until the run's own mark of it arrives. */
  private readonly savedBefore = new Map<string, Uint8Array>();
  private changing: Promise<unknown> = Promise.resolve();
  private statusMs = 0;
  private labelsMs = 0;
  /** The focus was on a link of the switch, which is about to be made anew. */
  private focusSwitcher = false;
  private timer: ReturnType<typeof setInterval>;
  private closed = false;

  constructor(private readonly lab: Lab, private readonly around: Surroundings) {
    const { announcer } = around;
    // The first event says which it is; until then, the first there is.
    this.environment = lab.environments[0]!;
    this.world = worldOf(this.environment);
    this.plane = new Plane((width, height) => lab.picture(width, height));
    this.crowd = new Crowd((player) => this.plane.visit(player));
    this.few = this.fewOrAll();
    this.large = new LargeOne(
      (touch) => lab.touch(touch),
      (words, about) => announcer.say(words, about),
      () => this.element.querySelector(".large")?.scrollIntoView({ block: "nearest" }),
    );
    this.sweep = new Sweep({
      start: (spec) => lab.sweep(spec),
      end: () => lab.endSweep(),
      use: (knob, value) => this.useValue(knob, value),
      say: (words) => announcer.say(words, "sweep"),
    });
    this.transport = new Transport(
      {
        run: (running) => {
          lab.command({ kind: running ? "start" : "pause" });
          announcer.say(running ? "Training" : "Paused", "running");
        },
        step: () => lab.command({ kind: "step" }),
        reset: () => this.reset(),
        speed: (index) => {
          this.speed = index;
          lab.setSpeed(this.ticksPerS());
          announcer.say(`Speed: ${SPEEDS[index]!.spoken}`, "speed");
        },
      },
      { rate: "steps a second", figures: ["steps", "iterations", "training time"], step: "iteration" },
    );
    this.device = new DeviceSwitch(lab.wished, this.counts, (wish) => lab.command({ kind: "device", wish }));
    this.knobs = this.makeKnobs();
    const label = (name: string): string => this.labelOf(name);
    this.forkSection = h(
      "section",
      { class: "knob-group", "aria-labelledby": "forks", hidden: true },
      h("h3", { id: "forks" }, "Changes in this run"),
      h("p", { class: "small" }, "Go back to just before a change and try something else; what came of it stays as a ghost."),
      this.forkList,
    );

    const ofReturn = new Table("Mean return", [{ name: "mean_return", title: "Mean return" }], label, true);
    const ofLosses = new Table(
      "Losses",
      [...SMALL.map(({ column, title }) => ({ name: column, title })), { name: "clip_fraction", title: "Clipped" }, { name: "explained_variance", title: "Explained" }, { name: "lr", title: "Learning rate" }],
      label,
      false,
    );
    this.tables = [ofReturn, ofLosses];
    this.returns = new Chart({ column: "mean_return", title: "Mean return", about: "", digits: 0, main: true }, label, [ofReturn.button]);
    this.small = SMALL.map((options) => new Chart(options, label));
    this.ghost.addEventListener("change", () => this.showCurves());

    this.shortcuts = new Shortcuts(
      [
        { key: " ", shown: "space", does: "play or pause", run: () => this.transport.toggle() },
        { key: "s", shown: "s", does: "step: one iteration, then pause", run: () => lab.command({ kind: "step" }) },
        { key: "r", shown: "r", does: "start again from nothing", run: () => this.reset() },
        ...SPEEDS.map((speed, index) => ({
          key: String(index + 1),
          shown: String(index + 1),
          does: `speed: ${speed.spoken}`,
          run: () => this.transport.setSpeed(index),
        })),
        { key: "e", shown: "e", does: "the next environment", run: () => this.nextEnvironment() },
        { key: "c", shown: "c", does: "take the controls of the large one", run: () => this.large.toggle() },
        { key: "p", shown: "p", does: "go to the large one", run: () => this.element.querySelector<HTMLElement>(".stage-field")?.focus() },
        { key: "v", shown: "v", does: "state plane: policy, value or visits", run: () => this.turnPlane() },
        { key: "t", shown: "t", does: "open or close the table of returns", run: () => ofReturn.button.click() },
        { key: "g", shown: "g", does: "show or hide the past run", run: () => this.ghost.click() },
      ],
      [
        { shown: "← ↑ →", does: "at the controls: steer; a, w and d do the same" },
        { shown: "esc", does: "at the controls: give them back" },
        { shown: "← →", does: "on CartPole's large pole: push the cart, with shift its tip" },
      ],
    );
    this.takeAway = this.makeTakeAway();

    this.element = h(
      "main",
      { id: "main", tabindex: -1 },
      h("nav", { class: "worlds", "aria-label": "Choose an environment" }, this.switcher),
      h("div", { class: "intro" }, this.headline, this.status),
      this.transport.element,
      h(
        "div",
        { class: "bench" },
        h(
          "section",
          { class: "crowd", "aria-labelledby": "crowd-title" },
          h("div", { class: "head" }, this.crowdTitle, this.few, this.legend),
          this.crowd.element,
        ),
        h(
          "section",
          { class: "portrait", "aria-labelledby": "plane-title" },
          h("div", { class: "head" }, h("h2", { id: "plane-title", class: "label" }, "State plane"), h("div", { class: "row" }, this.plane.tableButton, this.plane.layers)),
          this.plane.element,
          this.plane.table,
        ),
        h(
          "section",
          { class: "large", "aria-labelledby": "stage-title" },
          h("div", { class: "head" }, this.stageTitle, this.invite),
          this.large.element,
        ),
        h("section", { class: "returns", "aria-label": "How well it does" }, this.returns.element, this.ghostLine, ofReturn.element),
      ),
      h(
        "section",
        { class: "band losses", "aria-labelledby": "losses-title" },
        h("h2", { id: "losses-title" }, "How it learns"),
        h("div", {}, h("div", { class: "multiples" }, ...this.small.map((chart) => chart.element)), h("div", { class: "row" }, ofLosses.button), ofLosses.element, this.breakdown.element),
      ),
      h("section", { class: "band", "aria-labelledby": "device-title" }, h("h2", { id: "device-title" }, "Where it trains"), this.device.element),
      h(
        "section",
        { class: "band", "aria-labelledby": "knobs-title" },
        h("h2", { id: "knobs-title" }, "Knobs"),
        h("div", {}, this.forkSection, this.knobsPlace),
      ),
      h("section", { class: "band", "aria-labelledby": "sweep-title" }, h("h2", { id: "sweep-title" }, "Sweep a knob"), this.sweep.element),
      h("section", { class: "band", "aria-labelledby": "explain-title" }, h("h2", { id: "explain-title" }, "What it means"), this.explained),
      h("section", { class: "band", "aria-labelledby": "network-title" }, h("h2", { id: "network-title" }, "The network"), this.network.element),
      h("section", { class: "band", "aria-labelledby": "take-title" }, h("h2", { id: "take-title" }, "Take it with you"), this.takeAway.element),
    );
    this.ghostLine.append(this.ghost, this.ghostLabel, this.ghostBack);

    lab.onEvent((event) => this.take(event));
    lab.onFrame((frame) => {
      this.progress = frame.progress;
      this.crowd.push(frame);
      this.plane.progressed(frame.progress);
    });
    lab.onStage((stage) => {
      this.large.answer(stage);
      this.plane.showLarge(stage.player.observation);
    });
    lab.onSweep((state) => this.sweep.take(state));
    lab.setSpeed(null);
    void lab.plan().then((plan) => this.closed || this.network.show(plan), () => {});
    this.timer = setInterval(() => this.refresh(), 100);
    this.stops.push(dropping("Drop a saved run to go on from it", (name, bytes) => this.load(name, bytes)));
    this.watchSleep();
  }

  help(): void {
    this.shortcuts.help();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    for (const part of [this.crowd, this.plane, this.large, this.network, this.shortcuts, this.takeAway, this.returns, ...this.small, this.breakdown]) part.close();
    for (const stop of this.stops) stop();
    this.element.remove();
  }

  // ---- what the run says

  private take(event: RunEvent): void {
    const { announcer, notices } = this.around;
    switch (event.kind) {
      case "began":
        this.began(event);
        break;
      case "running":
        this.running = event.running;
        this.transport.setRunning(event.running);
        break;
      case "metrics":
        this.present?.push(event);
        this.breakdown.push(event);
        this.progress = event.progress;
        this.stepsPerS = this.stepsPerS === undefined ? event.steps_per_s : this.stepsPerS + (event.steps_per_s - this.stepsPerS) * 0.2;
        this.showCurves();
        if (event.mean_return !== null) {
          const mean = event.mean_return;
          announcer.progress(() => `Mean return ${figure(mean)} after ${words(event.progress.env_steps)} steps.`);
        }
        break;
      case "mark":
        this.present?.marks.push(event);
        this.knobs.took(event.knob, event.to);
        this.addFork(event);
        this.showCurves();
        announcer.say(`${this.labelOf(event.knob)} is now ${exact(event.to)}.`, event.knob);
        break;
      case "evaluation":
        this.present?.evaluations.push(event);
        this.evaluation = event;
        this.showCurves();
        break;
      case "solved":
        if (this.present) this.present.solved = event.progress;
        this.sweep.solvedAfter(event.progress.env_steps);
        announcer.say(this.solvedWords(event.progress));
        this.statusMs = 0;
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
    // A run of any length stays behind the new one.
    if (this.present && this.present.length > 2) this.pasts.set(this.present.config.env, { history: this.present, bytes: this.leaving });
    this.leaving = undefined;
    const another = event.environment.id !== this.environment.id || !this.present;
    this.environment = event.environment;
    this.world = worldOf(event.environment);
    const present = new History(event.config, event.knobs);
    this.breakdown.clear();
    this.device.show(undefined);
    for (const row of event.history) {
      present.push(row);
      this.breakdown.push(row);
    }
    present.marks.push(...event.marks);
    present.evaluations.push(...event.evaluations);
    present.solved = event.evaluations.find((evaluation) => evaluation.mean_return >= event.environment.solved_at)?.progress;
    this.evaluation = event.evaluations.at(-1);
    this.present = present;
    this.progress = event.progress;
    this.stepsPerS = undefined;
    this.envs = event.knobs["envs"] ?? 0;
    if (another) this.suit();
    // A run that was loaded may be of another environment than the address names.
    if (another && (new URLSearchParams(location.hash.split("?")[1]).get("env") ?? DEFAULT_ENV) !== event.config.env)
      history.replaceState(null, "", linkTo(event.config.env));
    // Of what one may go back to, only what lies in this run's own past.
    this.forks = this.forks.filter(({ mark }) => event.marks.some((own) => sameMark(own, mark)));
    this.writeForks();
    this.crowd.begin(this.world);
    this.plane.begin(this.environment, this.world);
    this.large.begin(this.environment, this.world);
    this.knobs.begin(event.knobs, event.config.seed);
    this.sweep.begin(event.config, this.environment, this.lab.knobs, event.knobs);
    const past = this.past;
    this.ghostLine.hidden = !past;
    this.ghostBack.hidden = !past?.bytes;
    if (past) write(this.ghostLabel, `Past run: ${differences(past.history, present, (name) => this.labelOf(name))}`);
    this.showCurves();
    this.statusMs = 0;
    void this.lab.plan().then((plan) => this.closed || this.network.show(plan), () => {});
  }

  /** The run before the present one in this environment. */
  private get past(): Past | undefined {
    return this.pasts.get(this.environment.id);
  }

  /** Words, scales and knobs of the environment that is trained in now. */
  private suit(): void {
    const { environment, world } = this;
    document.title = `${world.name} | Hothouse`;
    write(this.headline, world.title);
    this.writeCrowdTitle();
    this.legend.setAttribute("aria-label", `Colour of a ${world.one}`);
    this.legend.replaceChildren(...world.legend.map((words, k) => h("li", { class: `age-${k}` }, words)));
    write(this.stageTitle, `One ${world.one} to try yourself`);
    write(this.invite, world.invite);
    this.returns.suit({
      about: world.returnsShort,
      span: environment.returns,
      threshold: { value: environment.solved_at, label: `solved at ${minus(String(environment.solved_at))}` },
    });
    const { about, most } = text.entropy(environment);
    const entropy = this.small[SMALL.findIndex(({ column }) => column === "entropy")]!;
    entropy.suit({ about, span: most === undefined ? undefined : [0, most] });
    this.knobs = this.makeKnobs();
    this.explained.replaceChildren(...explanations(world, environment));
    this.writeSwitcher();
    if (SPEEDS[this.speed]!.times !== null) this.lab.setSpeed(this.ticksPerS());
  }

  private writeCrowdTitle(): void {
    const { shown } = this.crowd;
    const { many } = this.world;
    const all = shown === 0 || shown === this.envs;
    write(this.crowdTitle, all ? `All ${count(this.envs)} ${many}` : `${count(shown)} of ${count(this.envs)} ${many}`);
    this.few.hidden = this.crowd.most <= FEW;
  }

  /** A choice that a machine without many cores to spare needs: how many are drawn. */
  private fewOrAll(): HTMLElement {
    const kept = recall("crowd");
    const all = kept ? kept === "all" : (navigator.hardwareConcurrency || 1) > 4;
    this.crowd.want(all ? Infinity : FEW);
    const choice = (label: string, most: number, checked: boolean): Node[] => {
      const input = h("input", { type: "radio", name: "crowd", id: `crowd-${label}`, checked, "aria-label": `Draw ${label}` });
      input.addEventListener("change", () => {
        remember("crowd", most === FEW ? "few" : "all");
        this.crowd.want(most);
      });
      return [input, h("label", { for: input.id }, label)];
    };
    return h("fieldset", { class: "speeds layers", hidden: true }, h("legend", { class: "unseen" }, "How many are drawn"), ...choice(String(FEW), FEW, !all), ...choice("all", Infinity, all));
  }

  private makeKnobs(): Knobs {
    const knobs = new Knobs(this.lab.knobs, (name, value) => this.change(name, value), () => this.reset());
    this.knobsPlace.replaceChildren(knobs.element);
    return knobs;
  }

  /** Steps a second of each environment at the chosen speed. */
  private ticksPerS(): number | null {
    const { times } = SPEEDS[this.speed]!;
    return times === null ? null : times / this.environment.step_s;
  }

  private showCurves(): void {
    const { present } = this;
    if (!present) return;
    const past = this.ghost.checked ? this.past?.history : undefined;
    const span = stepSpan(present, past);
    for (const chart of [this.returns, ...this.small]) chart.show(present, past, span);
    for (const table of this.tables) table.show(present, past);
  }

  private refresh(): void {
    const now = performance.now();
    const { env_steps, iteration, train_s } = this.progress;
    this.transport.show(this.stepsPerS === undefined ? undefined : short(this.stepsPerS), [short(env_steps), count(iteration), seconds(train_s)]);
    if (now - this.statusMs > CALM_MS) {
      this.statusMs = now;
      write(this.status, this.statusWords());
      const lr = this.present?.columns.lr.at(-1);
      this.knobs.showNow("lr", lr == null ? "" : `now ${two(lr)}`);
    }
    this.writeCrowdTitle();
    if (now - this.labelsMs > LABELS_MS && this.crowd.shown > 0) {
      this.labelsMs = now;
      const { shown } = this.crowd;
      const { legend, many } = this.world;
      this.crowd.element.setAttribute(
        "aria-label",
        `${shown} of ${count(this.envs)} ${many} that train; ${legend[3]}: ${this.crowd.from(3)}, ${legend[0]}: ${shown - this.crowd.from(1)}`,
      );
    }
  }

  private statusWords(): string {
    const { present, world } = this;
    if (!present) return "Starting.";
    const lead = world.lead(count(this.envs));
    if (present.solved) return `${this.solvedWords(present.solved)} ${this.running ? "It goes on learning." : "Paused."}`;
    const mean = present.columns.mean_return.at(-1);
    if (mean == null) return lead;
    return `${lead} ${world.soFar(figure(Math.round(mean)), this.environment)}${this.running ? "" : " Paused."}`;
  }

  private solvedWords(at: Progress): string {
    const evaluation = this.present?.evaluations.find((one) => one.progress.iteration === at.iteration) ?? this.evaluation;
    const threshold = minus(String(this.environment.solved_at));
    const score = evaluation ? `${evaluation.episodes} fresh episodes average ${figure(evaluation.mean_return)}` : `an average of ${threshold} is reached`;
    return `Solved: ${score} after ${seconds(at.train_s)} of training, ${words(at.env_steps)} steps.`;
  }

  private labelOf(name: string): string {
    return this.lab.knobs.find((knob) => knob.name === name)?.label ?? name;
  }

  // ---- what the visitor wishes

  private reset(): void {
    if (!this.present) return;
    const { knobs, seed } = this.knobs.wanted();
    this.replace({ kind: "reset", config: { ...this.present.config, knobs, seed } });
    this.around.announcer.say("A new run begins.");
  }

  /** Another run takes the place of the present one, which is kept to go back to. */
  private replace(command: Command, start = false): void {
    this.changing = this.changing
      .then(async () => {
        this.lab.setSpeed(null); // a save waits for the end of the iteration, which at real time is far
        this.leaving = await this.lab.save();
      })
      .catch(() => (this.leaving = undefined))
      .then(() => {
        if (this.closed) return;
        this.lab.setSpeed(this.ticksPerS());
        this.lab.command(command);
        if (start) this.lab.command({ kind: "start" });
      });
  }

  private goBack(): void {
    const bytes = this.past?.bytes;
    if (bytes) this.replace({ kind: "restore", bytes });
  }

  // ---- environments

  private writeSwitcher(): void {
    this.switcher.replaceChildren(
      ...this.lab.environments.map((environment) => {
        const present = environment.id === this.environment.id;
        const link = h("a", { href: linkTo(environment.id), "aria-current": present && "page", title: environment.summary }, worldOf(environment).name);
        link.addEventListener("click", (event) => {
          // Another tab or window is the browser's business.
          if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          this.switchTo(environment);
        });
        return h("li", {}, link);
      }),
    );
    const shown = this.switcher.querySelector<HTMLElement>("[aria-current]");
    if (this.focusSwitcher) shown?.focus();
    this.focusSwitcher = false;
    const { scrollLeft, clientWidth } = this.switcher;
    if (shown && (shown.offsetLeft < scrollLeft || shown.offsetLeft + shown.offsetWidth > scrollLeft + clientWidth))
      this.switcher.scrollLeft = shown.offsetLeft - 16;
  }

  /** A link that names another environment and nothing else; false where it is for others to open. */
  follow(link: string): boolean {
    const [path, query = ""] = link.split("?");
    const asked = new URLSearchParams(query);
    const plain = /^(#\/?(control\/?)?)?$/.test(path!) && [...asked.keys()].every((name) => name === "env" || name === "v");
    const id = asked.get("env") ?? DEFAULT_ENV;
    const environment = this.lab.environments.find((one) => one.id === id);
    if (!plain || !environment || !this.present || id === this.environment.id) return false;
    this.switchTo(environment, false);
    return true;
  }

  private switchTo(environment: Environment, push = true): void {
    if (!this.present || environment.id === this.environment.id) return;
    // The address tells what one looks at, so that it can be kept, reloaded and gone back from.
    if (push) history.pushState(null, "", linkTo(environment.id));
    const { version, room, seed } = this.present.config;
    const config: Config = { version, room, seed, env: environment.id, knobs: {} };
    this.replace({ kind: "reset", config }, true);
    this.around.announcer.say(`${worldOf(environment).name}: a new run begins.`, "environment");
    this.focusSwitcher = this.switcher.contains(document.activeElement);
  }

  private nextEnvironment(): void {
    const all = this.lab.environments;
    const k = all.findIndex(({ id }) => id === this.environment.id);
    const next = all[(k + 1) % all.length];
    if (next) this.switchTo(next);
  }

  private turnPlane(): void {
    this.plane.turn();
    this.around.announcer.say(`The plane shows ${this.plane.shows}.`, "plane");
  }

  /** A new run that differs from the present one in one knob. */
  private useValue(knob: string, value: number): void {
    if (!this.present) return;
    this.lab.endSweep();
    const { knobs } = this.knobs.wanted();
    this.replace({ kind: "reset", config: { ...this.present.config, knobs: { ...knobs, [knob]: value } } }, true);
    this.around.announcer.say(`A new run begins with ${this.labelOf(knob)} ${exact(value)}.`);
    scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });
  }

  /** Saves first, so that one can go back to just before the change. */
  private change(name: string, value: number): void {
    this.changing = this.changing
      .then(async () => this.savedBefore.set(name, await this.lab.save()))
      .catch(() => {})
      .then(() => this.closed || this.lab.command({ kind: "set_knob", name, value }));
  }

  private addFork(mark: Mark): void {
    const bytes = this.savedBefore.get(mark.knob);
    this.savedBefore.delete(mark.knob);
    if (!bytes) return;
    this.forks = [...this.forks, { mark, bytes }].slice(-MOST_FORKS);
    this.writeForks();
  }

  private writeForks(): void {
    this.forkSection.hidden = this.forks.length === 0;
    this.forkList.replaceChildren(
      ...this.forks.map(({ mark, bytes }) => {
        const what = `${this.labelOf(mark.knob)} ${figure(mark.from)} → ${figure(mark.to)}`;
        return h(
          "li",
          {},
          h("span", {}, what),
          h("span", { class: "small" }, `after ${short(mark.progress.env_steps)} steps`),
          h(
            "button",
            {
              type: "button",
              class: "small",
              "aria-label": `Go back to before ${what}`,
              onclick: () => this.replace({ kind: "restore", bytes }),
            },
            "Go back to before it",
          ),
        );
      }),
    );
  }

  private load(name: string, bytes: Uint8Array): void {
    this.replace({ kind: "restore", bytes });
    this.around.announcer.say(`Loading ${name}`);
  }

  private fileName(): string {
    const config = this.present?.config;
    return `hothouse-${config?.env ?? "run"}-seed${config?.seed ?? 0}-${short(this.progress.env_steps)}.safetensors`;
  }

  private makeTakeAway(): TakeAway {
    const does = {
      about: "A saved run holds everything: weights, optimiser, random numbers, environments and progress. It goes on here or in a terminal exactly where it stopped. A link carries the settings and the seed.",
      fileName: () => this.fileName(),
      load: (name: string, bytes: Uint8Array) => this.load(name, bytes),
      goOn: (bytes: Uint8Array) => this.replace({ kind: "restore", bytes }),
    };
    return new TakeAway(this.lab, does, this.around);
  }

  /** A browser may put a hidden tab to sleep; training then stood still, and the visitor should know why. */
  private watchSleep(): void {
    let hiddenAt: { ms: number; train_s: number } | undefined;
    const seen = (): void => {
      if (document.hidden) {
        hiddenAt = this.running ? { ms: Date.now(), train_s: this.progress.train_s } : undefined;
        return;
      }
      const since = hiddenAt;
      hiddenAt = undefined;
      if (!since) return;
      // What the worker has to tell of the meantime arrives first.
      setTimeout(() => {
        const awayS = (Date.now() - since.ms) / 1000;
        const sleptS = awayS - (this.progress.train_s - since.train_s);
        if (this.closed || !this.running || awayS < SLEPT_S || sleptS < awayS / 2) return;
        this.around.notices.show("info", `The browser put this tab to sleep, and training stood still for ${seconds(sleptS)}.`, "It goes on now; keep the tab in sight to train without a break.");
      }, 1500);
    };
    document.addEventListener("visibilitychange", seen);
    this.stops.push(() => document.removeEventListener("visibilitychange", seen));
  }
}

/** What a link without a name stands for. */
const DEFAULT_ENV = "CartPole-v1";
const linkTo = (env: string): string => `#/control?env=${env}&v=1`;

const explanations = (world: World, environment: Environment): HTMLElement[] =>
  text.explanations(world, environment).map(({ heading, words, equation }) =>
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
  );

const sameMark = (a: Mark, b: Mark): boolean =>
  a.knob === b.knob && a.to === b.to && a.progress.env_steps === b.progress.env_steps;

/** In what a past run differs from the present one, and how it ended. */
function differences(past: History, present: History, label: (name: string) => string): string {
  const parts: string[] = [];
  if (past.config.seed !== present.config.seed) parts.push(`seed ${past.config.seed}`);
  // As each run stands now: how it began, and what was changed since.
  const now = (run: History): Record<string, number> => ({
    ...run.knobs,
    ...Object.fromEntries(run.marks.map((mark) => [mark.knob, mark.to])),
  });
  const other = now(present);
  for (const [name, value] of Object.entries(now(past))) {
    if (other[name] !== value) parts.push(`${label(name)} ${figure(value)}`);
  }
  const end = past.solved ? `solved after ${short(past.solved.env_steps)} steps` : `${short(past.steps.at(-1) ?? 0)} steps, not solved`;
  return [...(parts.length ? parts.slice(0, 3) : ["same settings"]), end].join(", ");
}
