// The page of a room: what every room has is here (transport, curves, tables, knobs, device, sweep, taking away, past runs),
// and a room's own pictures and words stand among it. It shows what a run says and sends what the visitor wishes; it computes
// nothing of the run itself.

import type { Client, Options } from "../run/client";
import { loadVisit, type Left } from "../run/store";
import type { Began, Command, Config, Event as RunEvent, Mark, Progress, Value, Variant } from "../run/protocol";
import type { Announcer } from "./announce";
import { Breakdown } from "./breakdown";
import { CHART_KEYS, RunCurves, type ChartWords, type CurveWords } from "./curves";
import { DeviceSwitch, trains, type Counts } from "./device";
import { h, markup, write } from "./dom";
import { dropping } from "./files";
import { count, exactText, figure, seconds, short, two, valueText, words } from "./format";
import { History, startOf, valuesOf } from "./history";
import { forgetRun, keepRun, keptRun, type Kept } from "./kept";
import { Knobs } from "./knobs";
import { calm } from "./loop";
import type { Notices } from "./notices";
import { Shortcuts, type Gesture, type Shortcut } from "./shortcuts";
import { Sweep, VARIANT } from "./sweep";
import { Share } from "./share";
import { Runs } from "./runs";
import { steps as commonSteps, Tour, type Step } from "./tour";
import { SPEEDS, Transport } from "./transport";

const CALM_MS = 500;
/** A run as it was before a live change, to go back to; older ones are let go. */
const MOST_FORKS = 12;
const MOST_FORK_BYTES = 100e6;
const SLEPT_S = 30;
/** The address follows what is changed after so long. */
const ADDRESS_MS = 250;

/** What one can do in any room. */
const CAN = [
  "Turn a knob while it learns: each change is a mark on the curve, and you can go back to before it.",
  "Pause, go on one step at a time, or start a new run. The run before stays as a grey curve, and can be taken up again.",
  "Sweep a knob: several runs side by side, each with another value.",
  "Save the run, share it as a link that is checked when it is opened, or go on with it in a terminal.",
];
const GESTURES: Gesture[] = [
  { shown: "drag a slider", does: "turns a knob" },
  { shown: "touch a chart", does: "reads the values there" },
  { shown: "swipe the tabs", does: "brings the other rooms and variants into sight" },
];

export type Explanation = { heading: string; words: string; equation: { summary: string; markup: string }[] };
export type Band = { name: string; heading: string; element: HTMLElement; place: "before knobs" | "last" };

/** What a room brings beside what it declares in Rust. All of it may be left out. */
export interface Brings {
  curves?: CurveWords;
  /** How much of the first counter a learner of a sweep may be given. */
  budgets?: number[];
  /** Whether a sweep may set these two variants side by side. */
  comparable?(a: Variant, b: Variant): boolean;
  /** Names of the knobs that stand beside the curve; a variant without them shows its first live ones. */
  knobs?: string[];
  /** From what one sees to a knob and to the curve, for who comes for the first time. */
  tour?: Step[];
  /** What one can do in this room alone, for its help, and how a finger does it. */
  can?: string[];
  gestures?: Gesture[];
  /** What a saved run holds, and what a link does. */
  saved?: string;
  /** A class of the whole page, for its style sheet. */
  look?: string;
  /** Rules of style, which hold while the room is open. */
  style?: string;
  view?(page: RoomPage): View;
}

/** A room's own pictures and words. */
export interface View {
  /** What stands first on the page, around the curves of the house. */
  first?(curves: HTMLElement): HTMLElement;
  bands?: Band[];
  /** What becomes of a file that is dropped on the page and is no saved run, and the words for both. */
  drops?: { words: string; take(file: File): void };
  keys?: Shortcut[];
  /** Keys that belong to a picture, for the list of them. */
  otherKeys?: Gesture[];
  /** As the switch names a variant. */
  nameOf?(variant: Variant): string;
  headline?(): string;
  /** How the run stands, in a sentence or two. */
  status?(): string;
  /** The same for a screen reader, where it differs. */
  spoken?(): string | undefined;
  explanations?(): Explanation[];
  /** Of the variant that is trained. */
  charts?(): Record<string, ChartWords>;
  /** How fast the first counter grows in real time, where there is such a thing. */
  realTime?(): number;
  /** A run has begun; `another` variant than before, or the first. */
  began?(began: Began, another: boolean): void;
  /** Whatever the run tells, after the house has taken it. */
  take?(event: RunEvent): void;
  /** Ten times a second. */
  refresh?(): void;
  close?(): void;
}

export type Surroundings = { notices: Notices; announcer: Announcer; open(options: Options): void };

/** How a run takes the place of another: it also starts; and what ended the one before, where that can be undone. */
type Replacing = { start?: boolean; ends?: Ends | undefined };
/** In words; and whether what a person does beside the run, as a game, went on in the new one. */
type Ends = { words: string; follow: boolean };
type Past = { history: History; bytes: Uint8Array | undefined };
type Fork = { mark: Mark; bytes: Uint8Array };

const band = (name: string, heading: string, ...children: Node[]): HTMLElement =>
  h("section", { class: `band ${name}`, "aria-labelledby": `${name}-title` }, h("h2", { id: `${name}-title` }, heading), ...children);

export class RoomPage {
  readonly element: HTMLElement;
  readonly counts: Counts;
  /** The run that is shown; undefined until the first is heard of. */
  present: History | undefined;
  running = true;
  private readonly view: View;
  private readonly headline = h("h1");
  private readonly status = h("p", { class: "lead" });
  private readonly switcher = h("ul", {});
  private readonly nav: HTMLElement;
  private readonly transport: Transport;
  private readonly device: DeviceSwitch;
  private readonly curves: RunCurves;
  private readonly breakdown: Breakdown;
  private readonly sweep: Sweep;
  private readonly runs: Runs;
  private readonly knobsPlace = h("div");
  private readonly firstKnobs = h("div");
  private knobs: Knobs;
  private readonly ghost = h("input", { type: "checkbox", checked: true, id: "ghost" });
  private readonly ghostLine = h("span", { class: "ghost-line", hidden: true });
  private readonly ghostLabel = h("label", { for: "ghost" });
  private readonly ghostBack = h("button", { type: "button", class: "small", onclick: () => this.goBack() }, "Go back to the run before");
  private readonly forkList = h("ol", { class: "forks" });
  private readonly forkSection: HTMLElement;
  private readonly explained = h("div", { class: "explain" });
  private readonly shortcuts: Shortcuts;
  private readonly tour: Tour;
  private readonly takeAway: Share;
  /** There was something to see by then. */
  private welcomed = false;
  private readonly stops: (() => void)[] = [];

  /** The last run of each variant before the present one: its curves, and the run whole. */
  private readonly pasts = new Map<string, Past>();
  /** The present run as it is about to become that; and what ends it, in words, where that can be undone. */
  private leaving: Left | undefined;
  private ends: Ends | undefined;
  /** The link that begins the present run, as far as it was heard; and when it is asked for again. */
  private address = "";
  /**
   * What the address bar has by this page's doing. Where it has something else, the visitor has gone there, and that is not written over.
   */
  private written = location.hash;
  private switching: Promise<unknown> = Promise.resolve();
  private addressTimer: ReturnType<typeof setTimeout> | undefined;
  /** Columns that are rates, and how they are of late, calmed so that one can read them. */
  private readonly rateColumns: string[];
  private rates: (number | undefined)[] = [];
  private speed = SPEEDS.length - 1;
  private forks: Fork[] = [];
  /** Saves made just before a change, until the run's own mark of it arrives. */
  private readonly savedBefore = new Map<string, Uint8Array>();
  private changing: Promise<unknown> = Promise.resolve();
  private statusMs = 0;
  private curvesDirty = false;
  private variantId = "";
  /** The focus was on a link of the switch, which is about to be made anew. */
  private focusSwitcher = false;
  private readonly timer: ReturnType<typeof setInterval>;
  private closed = false;

  constructor(
    readonly client: Client,
    readonly around: Surroundings,
    private readonly brings: Brings = {},
  ) {
    const { announcer } = around;
    const { room } = client;
    const counter = room.counters[0]!;
    const rateColumns = room.metrics.filter(({ rate }) => rate);
    // That of the first counter leads; the last one is of what takes the most work.
    const lead = rateColumns.find(({ rate }) => rate!.counter === counter.name) ?? rateColumns[0];
    const other = rateColumns.find((column) => column !== lead);
    this.rateColumns = [lead, other].flatMap((column) => column?.name ?? []);
    const work = room.counters.find(({ name }) => name === rateColumns.at(-1)?.rate?.counter) ?? counter;
    this.counts = { rate: work.unit || work.label.toLowerCase(), boundary: room.iteration_word };
    this.view = brings.view?.(this) ?? {};
    const { view } = this;

    this.transport = new Transport(
      {
        run: (running) => {
          client.command({ kind: running ? "start" : "pause" });
          announcer.say(running ? "Training" : "Paused", "running");
        },
        step: () => client.command({ kind: "step" }),
        reset: () => this.reset(),
        speed: view.realTime && ((index) => this.setSpeed(index)),
      },
      {
        rate: lead?.label.toLowerCase() ?? `${this.unit} a second`,
        figures: [this.unit, other?.label.toLowerCase() ?? `${room.iteration_word}s`, "training time"],
        step: room.iteration_word,
      },
    );
    this.device = new DeviceSwitch(client.wished, this.counts, (wish) => client.command({ kind: "device", wish }));
    this.knobs = this.makeKnobs();
    this.curves = new RunCurves(room, brings.curves ?? {}, this.labelOf, (mark) => this.backBefore(mark));
    this.runs = new Runs(room, {
      changed: () => this.showCurves(),
      begin: (config) => this.beginWith(config),
      say: (words) => announcer.say(words, "runs"),
      picture: (...size) => this.curves.picture(...size),
    });
    this.breakdown = new Breakdown(room.parts, client.operations);
    this.sweep = new Sweep(
      room,
      {
        start: (spec) => client.sweep(spec),
        end: () => client.endSweep(),
        use: (knob, value) => this.useValue(knob, value),
        say: (words) => announcer.say(words, "sweep"),
      },
      brings.budgets,
      brings.comparable,
    );
    this.forkSection = h(
      "section",
      { class: "knob-group", "aria-labelledby": "forks", hidden: true },
      h("h3", { id: "forks" }, "Changes in this run"),
      h("p", { class: "small" }, "Go back to just before a change and try something else; what came of it stays as a ghost."),
      this.forkList,
    );
    this.ghostLine.append(this.ghost, this.ghostLabel, this.ghostBack);
    this.ghost.addEventListener("change", () => this.showCurves());
    this.takeAway = new Share(
      client,
      {
        about:
          brings.saved ??
          "A saved run holds everything: weights, optimiser, random numbers and progress. It goes on here or in a terminal exactly " +
            "where it stopped. A link carries the settings, the seed and the live changes.",
        csv: () => this.present?.csv() ?? "",
        fileName: () => this.fileName(),
        load: (file) => void this.load(file),
        goOn: (bytes) => this.replace({ kind: "restore", bytes }, { ends: { words: "The run that was kept goes on.", follow: false } }),
      },
      around,
    );
    this.shortcuts = new Shortcuts(this.keys(), [CHART_KEYS, ...(view.otherKeys ?? [])], {
      what:
        "Everything here is computed on your own machine, in this tab: nothing is installed, and nothing is sent anywhere. What " +
        "you see learns while you look on.",
      can: [...(brings.can ?? []), ...CAN],
      gestures: [...(brings.gestures ?? []), ...GESTURES],
      tour: () => this.tour.begin(),
    });
    this.nav = h(
      "nav",
      {
        class: "worlds",
        "aria-label": `Choose ${/^[aeiou]/.test(room.variant_word) ? "an" : "a"} ${room.variant_word}`,
        hidden: room.variants.length < 2,
      },
      this.switcher,
    );

    const curves = h(
      "section",
      { class: "returns", "aria-label": "How well it does" },
      ...this.curves.large,
      this.firstKnobs,
      this.ghostLine,
      this.curves.mainTable.element,
    );
    const bands = (place: Band["place"]): HTMLElement[] =>
      (view.bands ?? []).filter((one) => one.place === place).map(({ name, heading, element }) => band(name, heading, element));
    this.element = h(
      "main",
      { id: "main", tabindex: -1, class: brings.look },
      this.nav,
      h("div", { class: "intro" }, this.headline, this.status),
      this.transport.element,
      view.first?.(curves) ?? h("div", { class: "plain" }, curves),
      band("losses", "How it learns", h("div", {}, this.curves.small, this.breakdown.element)),
      band("runs-band", "Runs to compare", h("div", {}, this.curves.compare, this.runs.element)),
      band("device-band", "Where it trains", this.device.element),
      ...bands("before knobs"),
      band("knobs-band", "Knobs", h("div", {}, this.forkSection, this.knobsPlace)),
      band("sweep-band", "Sweep a knob", this.sweep.element),
      band("explain-band", "What it means", this.explained),
      ...bands("last"),
      band("take-band", "Save and share", this.takeAway.element),
    );

    this.tour = new Tour(brings.tour ?? commonSteps("The agent"), this.element);
    client.onEvent((event) => this.take(event));
    client.onSweep((state) => this.sweep.take(state));
    client.setSpeed(null);
    this.timer = setInterval(() => this.refresh(), 100);
    const { drops } = view;
    this.stops.push(
      dropping(drops?.words ?? "Drop a saved run to go on from it", (file) => {
        if (drops && !file.name.endsWith(".safetensors")) drops.take(file);
        else void this.load(file);
      }),
    );
    this.watchSleep();
  }

  help(): void {
    this.shortcuts.help();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    clearTimeout(this.addressTimer);
    for (const part of [this.view, this.curves, this.breakdown, this.runs, this.shortcuts, this.tour, this.takeAway]) part.close?.();
    for (const stop of this.stops) stop();
    this.element.remove();
  }

  // ---- what pictures may know

  get announcer(): Announcer {
    return this.around.announcer;
  }

  /** How far the run is at this moment. */
  get progress(): Progress {
    return this.client.progress ?? this.present?.progress ?? { iteration: 0, counts: [], train_s: 0 };
  }

  /** What is counted first, in words. */
  get unit(): string {
    const counter = this.client.room.counters[0]!;
    return counter.unit || counter.label.toLowerCase();
  }

  /** The value of a knob as it is by now. */
  knob(name: string): Value | undefined {
    return this.present?.settings[name];
  }

  readonly labelOf = (knob: string): string => this.client.knobs.find(({ name }) => name === knob)?.label ?? knob;

  /** There is something new to draw: a run tells more often than anybody can look. */
  showCurves(): void {
    this.curvesDirty = true;
  }

  /** Where it was solved and how its newest test does, or how often a test came to the goal and was not confirmed; in a sentence. */
  standing(): string {
    const { present } = this;
    const { goal } = this.client.variant;
    if (!present || !goal) return "";
    if (!present.solved) {
      const { attempts } = present;
      return attempts === 0
        ? ""
        : `${attempts === 1 ? "One test" : `${count(attempts)} tests`} reached the goal and ${attempts === 1 ? "was" : "were"} not ` +
            `confirmed.`;
    }
    const column = this.client.room.tests.find(({ name }) => name === goal.column);
    const now = present.test(goal.column);
    const shown = now === undefined ? "" : `; now ${column?.share ? `${figure(Math.floor(1000 * now) / 10)}%` : figure(now)}`;
    return `Solved at ${words(present.solved.counts[0] ?? 0)} ${this.unit}${shown}.`;
  }

  // ---- what the run says

  private take(event: RunEvent): void {
    const { announcer, notices } = this.around;
    const { present } = this;
    switch (event.kind) {
      case "began":
        this.began(event);
        break;
      case "running":
        this.running = event.running;
        this.transport.setRunning(event.running);
        break;
      case "metrics":
        present?.push(event);
        this.runs.push();
        this.breakdown.push(this.shares(event.values));
        this.rates = this.rateColumns.map((name, k) => {
          const [before, now] = [this.rates[k], present?.latest(name)];
          return before === undefined || now === undefined ? (now ?? before) : before + (now - before) * 0.2;
        });
        this.showCurves();
        if (!this.welcomed) this.tour.beginOnce();
        this.welcomed = true;
        break;
      case "mark":
        present?.marks.push(event);
        this.runs.push();
        this.knobs.took(event.knob, event.to);
        this.addFork(event);
        this.followAddress();
        this.showCurves();
        announcer.say(`${this.labelOf(event.knob)} is now ${exactText(event.to)}.`, event.knob);
        this.tour.changed();
        break;
      case "test":
        present?.pushTest(event);
        this.runs.push();
        this.showCurves();
        break;
      case "confirmation":
        if (present && !event.confirmed) present.attempts++;
        break;
      case "solved":
        if (present) present.solved = event.progress;
        this.runs.push();
        this.sweep.solvedAfter(event.progress.counts[0] ?? 0);
        announcer.say(this.standing());
        this.statusMs = 0;
        break;
      case "notice":
        notices.show(event.level, event.text, event.next_step);
        break;
      case "room":
        // Where the room's own view does not tell it.
        if (!this.view.take) notices.show("info", event.text, "");
        break;
      case "device":
        this.device.show(event);
        // The automatic choice is nobody's question while it finds nothing better than the processor.
        if (event.on_gpu || event.wish !== "auto") announcer.say(trains(event), "device");
        break;
    }
    this.view.take?.(event);
    if (event.kind === "metrics" && present && this.curves.newest(present) !== undefined)
      announcer.progress(() => this.view.spoken?.() ?? this.spoken() ?? "");
  }

  /** A row's shares of time come after its metrics. */
  private shares(values: (number | null)[]): number[] {
    return values.slice(this.client.room.metrics.length).map((share) => share ?? 0);
  }

  private began(event: RunEvent & { kind: "began" }): void {
    const { client } = this;
    const { config, knobs, marks } = event;
    const another = !this.present || this.variantId !== config.variant;
    this.leave(another);
    // The one of this variant that was left goes on, or stays behind the new one.
    const left = keptRun(client.room.id, config.variant);
    if (another && left?.history && !goesOn(left, event)) this.pasts.set(config.variant, { history: left.history, bytes: left.bytes });
    forgetRun({ room: client.room.id, variant: config.variant });
    this.variantId = config.variant;
    const present = new History(client.room, event);
    this.present = present;
    this.breakdown.clear();
    for (const row of event.history) this.breakdown.push(this.shares(row.values));
    this.device.show(undefined);
    this.rates = [];
    if (another) this.suit();
    this.followAddress();
    // Of what one may go back to, only what lies in this run's own past.
    this.forks = this.forks.filter(({ mark }) => marks.some((own) => sameMark(own, mark)));
    this.writeForks();
    this.knobs.begin(present.settings, config.seed);
    this.runs.begin(present, client.variant, client.knobs);
    this.view.began?.(event, another);
    if (SPEEDS[this.speed]!.times !== null) client.setSpeed(this.perS());
    const charts = this.view.charts?.() ?? {};
    this.curves.suit(client.variant, charts);
    this.sweep.begin(config, client.variant, client.knobs, knobs, Object.values(charts).find(({ span }) => span)?.span);
    const { past } = this;
    this.ghostLine.hidden = !past;
    this.ghostBack.hidden = !past?.bytes;
    if (past) write(this.ghostLabel, `Past run: ${this.differences(past.history, present)}`);
    if (another) this.explain();
    this.showCurves();
    this.statusMs = 0;
  }

  /** The run before the present one of this variant. */
  private get past(): Past | undefined {
    return this.pasts.get(this.variantId);
  }

  /** Words and knobs of what is trained now. */
  private suit(): void {
    const { client } = this;
    document.title = `${this.nameOf(client.variant)}, ${client.room.title} | Hothouse`;
    this.knobs = this.makeKnobs();
    this.writeSwitcher();
  }

  private explain(): void {
    const { variant } = this.client;
    write(this.headline, this.view.headline?.() ?? variant.name);
    const explanations = this.view.explanations?.() ?? [{ heading: variant.name, words: variant.summary, equation: [] }];
    this.explained.replaceChildren(
      ...explanations.map(({ heading, words, equation }) =>
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
  }

  private makeKnobs(): Knobs {
    const knobs = new Knobs(
      this.client.knobs,
      (name, value) => this.change(name, value),
      () => this.reset(),
      this.client.room.iteration_word,
      this.brings.knobs,
    );
    this.firstKnobs.replaceChildren(knobs.first);
    this.knobsPlace.replaceChildren(knobs.element);
    return knobs;
  }

  private refresh(): void {
    const { present } = this;
    if (present && this.curvesDirty) {
      this.curvesDirty = false;
      this.curves.show(present, this.ghost.checked ? this.past?.history : undefined, this.runs.compared());
    }
    const { iteration, counts, train_s } = this.progress;
    const [rate, other] = this.rates;
    const second = this.rateColumns.length > 1 ? (other !== undefined && this.running ? short(other) : "–") : count(iteration);
    this.transport.show(rate === undefined ? undefined : short(rate), [short(counts[0] ?? 0), second, seconds(train_s)]);
    const now = performance.now();
    if (now - this.statusMs > CALM_MS) {
      this.statusMs = now;
      write(this.status, this.statusWords());
      // A rate that falls by itself stands beside the one that was set.
      const lr = present?.latest("lr");
      this.knobs.showNow("lr", lr === undefined ? "" : `now ${two(lr)}`);
    }
    this.view.refresh?.();
  }

  private statusWords(): string {
    const { present } = this;
    if (!present) return "Starting.";
    const own = this.view.status?.() ?? (present.solved ? "" : `${this.client.variant.summary} ${this.spoken() ?? ""}`);
    const paused = this.sweep.active ? "Training pauses while the sweep runs, and goes on after it." : "Paused.";
    const on = this.running ? (present.solved ? "It goes on learning." : "") : paused;
    return [this.standing(), own.trim(), on].filter(Boolean).join(" ");
  }

  /** How it does, in a sentence. */
  private spoken(): string | undefined {
    const { present, curves } = this;
    const value = present && curves.newest(present);
    return value === undefined ? undefined : `${curves.title} ${value} after ${words(present!.progress.counts[0] ?? 0)} ${this.unit}.`;
  }

  /** In what a past run differs from the present one, what was changed in it, and how it ended. */
  private differences(past: History, present: History): string {
    const parts: string[] = [];
    if (past.config.seed !== present.config.seed) parts.push(`seed ${past.config.seed}`);
    const { marks } = past;
    const other = startOf(present.settings, present.marks);
    for (const [name, value] of Object.entries(startOf(past.settings, marks)))
      if (other[name] !== value || marks.some(({ knob }) => knob === name))
        parts.push(`${this.labelOf(name)} ${valuesOf(name, value, marks, valueText)}`);
    const length = `${short(past.counts.at(-1) ?? 0)} ${this.unit}`;
    const end = past.solved
      ? `solved after ${short(past.solved.counts[0] ?? 0)} ${this.unit}`
      : this.client.variant.goal
        ? `${length}, not solved`
        : length;
    return [...(parts.length ? parts.slice(0, 3) : ["same settings"]), end].join(", ");
  }

  // ---- what the visitor wishes

  private keys(): Shortcut[] {
    const { client, view } = this;
    const speeds = SPEEDS.map((speed, index) => ({
      key: String(index + 1),
      shown: String(index + 1),
      does: `speed: ${speed.spoken}`,
      run: () => this.transport.setSpeed(index),
    }));
    const { variant_word, iteration_word, variants } = client.room;
    return [
      { key: " ", shown: "space", does: "play or pause", run: () => this.transport.toggle() },
      { key: "s", shown: "s", does: `step: one ${iteration_word}, then pause`, run: () => client.command({ kind: "step" }) },
      { key: "r", shown: "r", does: "new run, from the first step", run: () => this.reset() },
      ...(view.realTime ? speeds : []),
      ...(variants.length > 1 ? [{ key: "e", shown: "e", does: `the next ${variant_word}`, run: () => this.nextVariant() }] : []),
      ...(view.keys ?? []),
      {
        key: "t",
        shown: "t",
        does: `open or close the table of ${this.curves.title.toLowerCase()}`,
        run: () => this.curves.mainTable.button.click(),
      },
      { key: "g", shown: "g", does: "show or hide the past run", run: () => this.ghost.click() },
    ];
  }

  private setSpeed(index: number): void {
    this.speed = index;
    this.client.setSpeed(this.perS());
    this.announcer.say(`Speed: ${SPEEDS[index]!.spoken}`, "speed");
  }

  /** The first counter's growth in a second at the chosen speed. */
  private perS(): number | null {
    const { times } = SPEEDS[this.speed]!;
    return times === null ? null : times * (this.view.realTime?.() ?? 1);
  }

  private reset(): void {
    if (!this.present) return;
    const { knobs, seed } = this.knobs.wanted();
    this.replace({ kind: "reset", config: { ...fresh(this.present.config), knobs, seed } }, { ends: NEW_RUN });
    this.announcer.say("A new run begins.");
  }

  /** Another run takes the place of the present one, which is kept to go back to. */
  private replace(command: Command, how: Replacing = {}): Promise<void> {
    return this.replaceBy(() => this.client.command(command), how);
  }

  private replaceBy(does: () => void | Promise<void>, { start, ends }: Replacing): Promise<void> {
    const done = this.changing
      .then(async () => {
        this.client.setSpeed(null); // a save waits for the end of the iteration, which at real time is far
        this.leaving = await this.client.whole();
      })
      .catch(() => (this.leaving = undefined))
      .then(async () => {
        if (this.closed) return;
        this.client.setSpeed(this.perS());
        this.ends = ends;
        await does();
        if (start) this.client.command({ kind: "start" });
        this.followAddress(); // also where it was refused
      });
    this.changing = done.catch(() => {}); // who asked for it is told
    return done;
  }

  /** A new run that learns from what is brought, or else from the room's own, with these knobs. What cannot be is refused in words. */
  async learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void> {
    const { present } = this;
    if (!present) return;
    const { data: _, ...kept } = fresh(present.config);
    const wanted = this.knobs.wanted();
    const config: Config = { ...kept, seed: wanted.seed, knobs: { ...wanted.knobs, ...knobs } };
    // A run that waits for its data has settings of its own.
    const changed = present.marks.length > 0 || !!present.config.changes?.length;
    const own =
      changed || Object.entries(config.knobs).some(([name, value]) => present.settings[name] !== value) || config.seed !== kept.seed;
    const does = (): void | Promise<void> =>
      source === undefined ? this.client.command({ kind: "reset", config }) : this.client.bring(source, own ? config : null);
    await this.replaceBy(does, { start: true, ends: { words: "A run on other data began.", follow: true } });
    scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });
  }

  private goBack(): void {
    const bytes = this.past?.bytes;
    if (bytes) this.replace({ kind: "restore", bytes, follow: true });
  }

  /** What becomes of the present run as another takes its place: of another variant, one comes back to it. */
  private leave(another: boolean): void {
    const { present, leaving, ends } = this;
    this.leaving = this.ends = undefined;
    if (!present?.length) return;
    const room = this.client.room.id;
    if (another && leaving) {
      keepRun({ room, ...leaving, history: present });
      void this.client.store(leaving);
    } else if (!another && present.length > 2) this.pasts.set(this.variantId, { history: present, bytes: leaving?.bytes });
    if (!leaving || !ends) return;
    this.around.notices.offerUndo(ends.words, () => this.replace({ kind: "restore", bytes: leaving.bytes, follow: ends.follow }));
  }

  /** Closes the room; its run is kept to come back to. */
  async depart(): Promise<Left | undefined> {
    const { client, present } = this;
    this.close();
    const left = await client.leave();
    if (left && present?.length)
      keepRun({ room: client.room.id, ...left, variant: present.config.variant, address: left.address || this.address });
    return left;
  }

  /** The address says what began this run and what was changed since, so that a copy of it, or the page loaded again, gives the same. */
  private followAddress(): void {
    clearTimeout(this.addressTimer);
    if (this.client.standsIn) return; // the address is that of the run which waits
    this.addressTimer = setTimeout(async () => {
      const { written } = this;
      const { address } = await this.client.shared().catch(() => ({ address: this.address }));
      if (this.closed || written !== this.written || written !== location.hash) return;
      this.address = address;
      // A digest that is to be reached stays while nothing was changed.
      if (written.replace(/&digest=[^&]*/, "") === address) return;
      history.replaceState(null, "", address);
      this.written = location.hash;
    }, ADDRESS_MS);
  }

  /** Another page of the browser's history, for a run that is about to begin. */
  private push(link: string): void {
    if (link !== location.hash) history.pushState(null, "", link);
    this.written = location.hash;
  }

  /** Saves first, so that one can go back to just before the change. */
  private change(name: string, value: Value): void {
    this.changing = this.changing
      .then(async () => this.savedBefore.set(name, await this.client.save()))
      .catch(() => {})
      .then(() => this.closed || this.client.command({ kind: "set_knob", name, value }));
  }

  private addFork(mark: Mark): void {
    const bytes = this.savedBefore.get(mark.knob);
    this.savedBefore.delete(mark.knob);
    if (!bytes) return;
    this.forks = [...this.forks, { mark, bytes }].slice(-MOST_FORKS);
    while (this.forks.length > 1 && this.forks.reduce((sum, fork) => sum + fork.bytes.length, 0) > MOST_FORK_BYTES) this.forks.shift();
    this.writeForks();
  }

  /** The way back to before a change, as long as what was saved then is there. */
  private backBefore(mark: Mark): (() => void) | undefined {
    const fork = this.forks.find((fork) => sameMark(fork.mark, mark));
    return fork && (() => this.replace({ kind: "restore", bytes: fork.bytes, follow: true }));
  }

  private writeForks(): void {
    this.forkSection.hidden = this.forks.length === 0;
    this.forkList.replaceChildren(
      ...this.forks.map(({ mark, bytes }) => {
        const what = `${this.labelOf(mark.knob)} ${valueText(mark.from)} → ${valueText(mark.to)}`;
        const back = h(
          "button",
          {
            type: "button",
            class: "small",
            "aria-label": `Go back to before ${what}`,
            onclick: () => this.replace({ kind: "restore", bytes, follow: true }),
          },
          "Go back to before it",
        );
        return h(
          "li",
          {},
          h("span", {}, what),
          h("span", { class: "small" }, `after ${short(mark.progress.counts[0] ?? 0)} ${this.unit}`),
          back,
        );
      }),
    );
  }

  /** A new run that differs from the present one in one knob. */
  private useValue(knob: string, value: Value): void {
    if (!this.present) return;
    this.client.endSweep();
    const variant = knob === VARIANT && this.client.room.variants.find(({ id }) => id === value);
    if (variant) return this.switchTo(variant);
    const { knobs } = this.knobs.wanted();
    const config = { ...fresh(this.present.config), knobs: { ...knobs, [knob]: value } };
    this.replace({ kind: "reset", config }, { start: true, ends: NEW_RUN });
    this.announcer.say(`A new run begins with ${this.labelOf(knob)} ${exactText(value)}.`);
    scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });
  }

  /** A new run with the settings of one that was kept, of whichever variant. */
  private beginWith(config: Config): void {
    if (!this.present) return;
    this.client.endSweep();
    if (config.variant !== this.variantId) this.push(this.linkTo(config.variant));
    this.replace({ kind: "reset", config: fresh(config) }, { start: true, ends: config.variant === this.variantId ? NEW_RUN : undefined });
    this.announcer.say("A new run begins.");
    scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });
  }

  /** A saved run goes on here, or in its own room where it is of another. */
  private async load(file: File): Promise<void> {
    this.announcer.say(`Loading ${file.name}`);
    const ends = { words: `${file.name} goes on.`, follow: false };
    try {
      const { bytes, room } = await this.client.read(file);
      if (room === this.client.room.id) await this.replace({ kind: "restore", bytes }, { ends });
      else this.around.open({ room, checkpoint: bytes });
    } catch (error) {
      if (!this.closed) this.around.notices.show("error", error instanceof Error ? error.message : String(error), "");
    }
  }

  private fileName(): string {
    const { variant = "run", seed = 0 } = this.present?.config ?? {};
    return `hothouse-${this.client.room.id}-${variant}-seed${seed}-${short(this.progress.counts[0] ?? 0)}.safetensors`;
  }

  // ---- variants

  private nameOf(variant: Variant): string {
    return this.view.nameOf?.(variant) ?? variant.name;
  }

  private linkTo(variant: string): string {
    const { version = 2 } = this.present?.config ?? {};
    return `#/${this.client.room.id}?variant=${variant}&v=${version}`;
  }

  private writeSwitcher(): void {
    this.switcher.replaceChildren(
      ...this.client.room.variants.map((variant) => {
        const link = h(
          "a",
          { href: this.linkTo(variant.id), "aria-current": variant.id === this.variantId && "page", title: variant.summary },
          this.nameOf(variant),
        );
        link.addEventListener("click", (event) => {
          // Another tab or window is the browser's business.
          if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          this.switchTo(variant);
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

  /** A link that names another variant of this room and nothing else, or a run that was left; false where it is for others to open. */
  follow(link: string): boolean {
    const asked = read(link, this.client);
    const variant = this.client.room.variants.find(({ id }) => id === asked?.variant);
    if (!variant || !this.present) return false;
    const left = keptRun(this.client.room.id, variant.id)?.address === link;
    if (!asked?.plain && !left && link !== this.address) return false;
    this.written = link;
    this.switchTo(variant, false);
    return true;
  }

  /** Another variant: its run goes on where this visit left one. One that is asked for meanwhile waits until that one is there. */
  private switchTo(variant: Variant, push = true): void {
    this.focusSwitcher = this.switcher.contains(document.activeElement);
    this.switching = this.switching.then(() => this.goTo(variant, push)).catch(() => {});
  }

  private async goTo(variant: Variant, push: boolean): Promise<void> {
    const { client } = this;
    const room = client.room.id;
    if (!this.present || this.closed) return;
    if (variant.id === this.variantId) return this.followAddress();
    const stored = async (): Promise<Left | undefined> =>
      (await loadVisit(room).catch(() => [])).find((run) => run.variant === variant.id) as Left | undefined;
    const left = keptRun(room, variant.id) ?? (await stored());
    if (!left) await this.begin(variant, {}, push);
    else {
      if (push) this.push(left.address);
      const done = this.replace({ kind: "restore", bytes: left.bytes, follow: true }, { start: true });
      this.announcer.say(`${this.nameOf(variant)}: its run goes on.`, "variant");
      await done;
    }
    // What began is told before what is asked after it is answered.
    await client.shared();
  }

  /** A new run of a variant with these knobs. */
  async begin(variant: Variant, knobs: Record<string, Value>, push = true): Promise<void> {
    if (!this.present) return;
    // The address tells what one looks at, so that it can be kept, reloaded and gone back from.
    const set = Object.entries(knobs).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
    const link = this.linkTo(variant.id) + set.join("");
    if (push) this.push(link);
    const { version, room, seed, data } = this.present.config;
    const config: Config = { version, room, seed, variant: variant.id, knobs, ...(data && { data }) };
    const done = this.replace({ kind: "reset", config }, { start: true, ends: variant.id === this.variantId ? NEW_RUN : undefined });
    this.announcer.say(`${this.nameOf(variant)}: a new run begins.`, "variant");
    await done;
  }

  private nextVariant(): void {
    const all = this.client.room.variants;
    const next = all[(all.findIndex(({ id }) => id === this.variantId) + 1) % all.length];
    if (next) this.switchTo(next);
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
        this.around.notices.show(
          "info",
          `The browser put this tab to sleep, and training stood still for ${seconds(sleptS)}.`,
          "It goes on now; keep the tab in sight to train without a break.",
        );
      }, 1500);
    };
    document.addEventListener("visibilitychange", seen);
    this.stops.push(() => document.removeEventListener("visibilitychange", seen));
  }
}

/** The variant that a link of this room names, or the first, and whether it carries nothing else. */
function read(link: string, { room, rooms }: Client): { variant: string; plain: boolean } | undefined {
  const [path = "", query = ""] = link.split("?");
  const asked = new URLSearchParams(query);
  const named = path.replace(/^#?\/?/, "").replace(/\/$/, "");
  if (named !== room.id && !(named === "" && rooms[0]?.id === room.id)) return undefined;
  const words = ["variant", room.variant_word];
  const variant = words.map((word) => asked.get(word)).find((id) => id !== null) ?? room.variants[0]!.id;
  return { variant, plain: [...asked.keys()].every((name) => name === "v" || words.includes(name)) };
}

const NEW_RUN: Ends = { words: "A new run began.", follow: true };

/** Whether the run that has begun is the one that was left. */
function goesOn({ iteration = 0, history }: Kept, { config, marks, progress }: Began): boolean {
  if (!history || progress.iteration < iteration || JSON.stringify(history.config) !== JSON.stringify(config)) return false;
  return history.marks.every((mark, k) => marks[k] && sameMark(mark, marks[k]));
}

/** The settings of a new run, which makes no changes by itself. */
function fresh({ changes: _, ...config }: Config): Config {
  return config;
}

const sameMark = (a: Mark, b: Mark): boolean => a.knob === b.knob && a.to === b.to && a.progress.iteration === b.progress.iteration;
