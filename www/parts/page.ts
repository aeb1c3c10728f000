// The page of a room: what every room has is here (transport, curves, tables, knobs, device, sweep, taking away, past runs),
// and a room's own pictures and words stand among it. It shows what a run says and sends what the visitor wishes; it computes
// nothing of the run itself.

import type { Client } from "../run/client";
import type { Began, Event as RunEvent, Mark, Progress, Row, Value, Variant } from "../run/protocol";
import { textOf } from "../run/notice";
import type { Left } from "../run/store";
import type { Announcer } from "./announce";
import { Breakdown } from "./breakdown";
import { CHART_KEYS, RunCurves } from "./curves";
import { DeviceSwitch, trains, type Counts } from "./device";
import { h, markup } from "./dom";
import { dropping } from "./files";
import { Forks } from "./forks";
import { exactText, plural, seconds, short, two } from "./format";
import { Ghost } from "./ghost";
import { sameMark, type History } from "./history";
import { forgetRun, keepRun, keptRun, type Kept } from "./kept";
import { Knobs } from "./knobs";
import { closePage, untilClosed } from "./life";
import { Present } from "./present";
import { Readout } from "./readout";
import type { Band, RoomExtension, Explanation, RoomPage, Surroundings, View } from "./room";
import { Runs } from "./runs";
import { Share } from "./share";
import { Shortcuts, type Gesture, type Shortcut } from "./shortcuts";
import { effect, paced, untracked } from "./signal";
import { watchSleep } from "./sleep";
import { Starts } from "./starts";
import { Sweep } from "./sweep";
import { steps as commonSteps, Tour } from "./tour";
import { SPEEDS } from "./transport";

/** A run tells more often than anybody can look. */
const DRAW_MS = 100;

const WHAT =
  "Everything here is computed on your own machine, in this tab: nothing is installed, and nothing is sent anywhere. What you see " +
  "learns while you look on.";
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
const SAVED =
  "A saved run holds everything: weights, optimiser, random numbers and progress. It goes on here or in a terminal exactly " +
  "where it stopped. A link carries the settings, the seed and the live changes.";

const band = (name: string, heading: string, ...children: Node[]): HTMLElement =>
  h("section", { class: `band ${name}`, "aria-labelledby": `${name}-title` }, h("h2", { id: `${name}-title` }, heading), ...children);

export class Page implements RoomPage {
  readonly element: HTMLElement;
  readonly counts: Counts;
  private readonly view: View;
  private readonly state: Present;
  private readonly starts: Starts;
  private readonly readout: Readout;
  private readonly knobs: Knobs;
  private readonly ghost: Ghost;
  private readonly forks: Forks;
  private readonly curves: RunCurves;
  private readonly runs: Runs;
  private readonly breakdown: Breakdown;
  private readonly device: DeviceSwitch;
  private readonly sweep: Sweep;
  private readonly explained = h("div.explain");
  private readonly shortcuts: Shortcuts;
  private readonly tour: Tour;

  constructor(
    readonly client: Client,
    readonly around: Surroundings,
    brings: RoomExtension = {},
  ) {
    const { announcer } = around;
    const { room } = client;
    const label = (knob: string): string => this.labelOf(knob);
    this.state = new Present(room);
    this.counts = { rate: this.state.rates.work, boundary: room.iteration_word };
    this.view = brings.view?.(this) ?? {};
    const { view, unit } = this;
    this.starts = new Starts(client, around, view, { present: () => this.present, wanted: () => this.knobs.wanted(), label });
    const { starts } = this;
    const goBack = (bytes: Uint8Array): void => starts.goBack(bytes);
    this.ghost = new Ghost(room, unit, label, goBack);
    const refused = (error: unknown): void => around.notices.show("error", textOf(error), "");
    this.forks = new Forks(unit, label, (place) => client.saveBefore(place).then(goBack, refused));
    this.knobs = new Knobs(
      { change: (name, value) => starts.succession.change(name, value), reset: () => starts.reset() },
      room.iteration_word,
      brings.knobs,
    );
    this.knobs.suit(client.knobs);
    this.device = new DeviceSwitch(client.wished, this.counts, (wish) => client.command({ kind: "device", wish }));
    this.curves = new RunCurves(room, brings.curves ?? {}, label, (mark) => this.forks.before(mark));
    this.runs = new Runs(room, {
      begin: (config) => starts.beginWith(config),
      say: (words) => announcer.say(words, "runs"),
      picture: (...size) => this.curves.picture(...size),
    });
    this.breakdown = new Breakdown(room.parts, (look) => client.operations(look));
    this.sweep = new Sweep(
      room,
      {
        start: (spec) => client.sweep(spec),
        end: () => client.endSweep(),
        use: (knob, value) => starts.useValue(knob, value),
        say: (words) => announcer.say(words, "sweep"),
      },
      { budgets: brings.budgets, comparable: brings.comparable },
    );
    this.readout = new Readout(client, view, this.state, unit, this.transportWishes(), {
      progress: () => this.progress,
      newest: () => this.newest(),
      sweeping: () => this.sweep.running,
      calmly: () => this.showLearningRate(),
    });
    const takeAway = this.takeAway(brings.saved ?? SAVED);
    this.shortcuts = new Shortcuts(this.keys(), [CHART_KEYS, ...(view.otherKeys ?? [])], {
      what: WHAT,
      can: [...(brings.can ?? []), ...CAN],
      gestures: [...(brings.gestures ?? []), ...GESTURES],
      tour: () => this.tour.begin(),
    });
    this.element = h("main", { id: "main", tabindex: -1 }, ...this.contents(takeAway.element));
    this.tour = new Tour(brings.tour ?? commonSteps("The agent"), this.element);
    client.onEvent((event) => this.take(event));
    client.onSweep((state) => this.sweep.take(state));
    starts.pace.keep();
    untilClosed(effect(() => this.drawCurves(), paced(DRAW_MS)));
    this.takeDrops();
    watchSleep({
      running: () => this.state.running.value,
      trained_s: () => this.progress.train_s,
      slept: (s) => this.tellSleep(s),
    });
  }

  help(): void {
    this.shortcuts.help();
  }

  /** A link that this page takes up; false where it is for others to open. */
  follow(link: string): boolean {
    return this.starts.follow(link);
  }

  close(): void {
    closePage();
    this.element.remove();
  }

  /** Closes the room; its run is kept to come back to. */
  async depart(): Promise<Left | undefined> {
    const { client, present } = this;
    this.close();
    const left = await client.leave();
    if (left && present?.length)
      keepRun({ room: client.room.id, ...left, variant: present.config.variant, address: left.address || this.starts.address.current });
    return left;
  }

  // ---- what pictures may know

  get announcer(): Announcer {
    return this.around.announcer;
  }

  get present(): History | undefined {
    return this.state.run.value;
  }

  get progress(): Progress {
    return this.client.progress ?? this.present?.progress ?? { iteration: 0, counts: [], train_s: 0 };
  }

  get unit(): string {
    return plural(this.client.room.counters[0]!);
  }

  showCurves(): void {
    this.present?.toldMore();
  }

  learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void> {
    return this.starts.learnFrom(source, knobs);
  }

  begin(variant: Variant, knobs: Record<string, Value>): Promise<void> {
    return this.starts.begin(variant, knobs);
  }

  // ---- how it is put together

  private contents(takeAway: HTMLElement): HTMLElement[] {
    const { view, curves, readout } = this;
    const returns = h("section.returns", { "aria-label": "How well it does" }, [
      ...curves.large,
      this.knobs.first,
      this.ghost.element,
      curves.mainTable.element,
    ]);
    const bands = (place: Band["place"]): HTMLElement[] =>
      (view.bands ?? []).filter((one) => one.place === place).map(({ name, heading, element }) => band(name, heading, element));
    return [
      this.starts.switcher.element,
      h("div.intro.wrap", readout.headline, readout.status),
      readout.transport.element,
      view.first?.(returns) ?? h("div.plain", returns),
      band("losses", "How it learns", h("div", curves.small, this.breakdown.element)),
      band("runs-band", "Runs to compare", h("div", curves.compare, this.runs.element)),
      band("device-band", "Where it trains", this.device.element),
      ...bands("before knobs"),
      band("knobs-band", "Knobs", h("div", this.forks.element, this.knobs.element)),
      band("sweep-band", "Sweep a knob", this.sweep.element),
      band("explain-band", "What it means", this.explained),
      ...bands("last"),
      band("take-band", "Save and share", takeAway),
    ];
  }

  private transportWishes(): ConstructorParameters<typeof Readout>[4] {
    const { client, starts, announcer } = this;
    const speed = (index: number): void => {
      starts.pace.choose(index);
      announcer.say(`Speed: ${SPEEDS[index]!.spoken}`, "speed");
    };
    return {
      run: (running) => {
        client.command({ kind: running ? "start" : "pause" });
        announcer.say(running ? "Training" : "Paused", "running");
      },
      step: () => client.command({ kind: "step" }),
      reset: () => starts.reset(),
      speed: this.view.realTime && speed,
    };
  }

  private takeAway(about: string): Share {
    const { starts } = this;
    const ends = { words: "The run that was kept goes on.", follow: false };
    return new Share(
      this.client,
      {
        about,
        csv: () => this.present?.csv() ?? "",
        fileName: () => this.fileName(),
        load: (file) => void starts.load(file),
        goOn: (bytes) => void starts.succession.replace({ kind: "restore", bytes }, { ends }),
      },
      this.around,
    );
  }

  private keys(): Shortcut[] {
    const { client, view, starts, readout } = this;
    const { variant_word, iteration_word, variants } = client.room;
    const key = (key: string, does: string, run: () => void, shown = key): Shortcut => ({ key, shown, does, run });
    const { mainTable, title } = this.curves;
    return [
      key(" ", "play or pause", () => readout.transport.toggle(), "space"),
      key("s", `step: one ${iteration_word}, then pause`, () => client.command({ kind: "step" })),
      key("r", "new run, from the first step", () => starts.reset()),
      ...(view.realTime ? SPEEDS.map(({ spoken }, k) => key(String(k + 1), `speed: ${spoken}`, () => readout.transport.setSpeed(k))) : []),
      ...(variants.length > 1 ? [key("e", `the next ${variant_word}`, () => starts.switcher.next())] : []),
      ...(view.keys ?? []),
      key("t", `open or close the table of ${title.toLowerCase()}`, () => mainTable.button.click()),
      key("g", "show or hide the past run", () => this.ghost.toggle()),
    ];
  }

  private takeDrops(): void {
    const { drops } = this.view;
    dropping(drops?.words ?? "Drop a saved run to go on from it", (file) => {
      if (drops && !file.name.endsWith(".safetensors")) drops.take(file);
      else void this.starts.load(file);
    });
  }

  // ---- what the run says

  private take(event: RunEvent): void {
    if (event.kind === "began") this.began(event);
    else this.state.take(event);
    this.answer(event);
    this.view.take?.(event);
    if (event.kind === "metrics" && this.newest() !== undefined) this.announcer.progress(() => this.readout.spoken());
  }

  private answer(event: RunEvent): void {
    const { announcer, notices } = this.around;
    switch (event.kind) {
      case "metrics":
        this.breakdown.push(this.shares(event));
        this.tour.beginOnce();
        break;
      case "mark":
        this.marked(event);
        break;
      case "solved":
        this.sweep.solvedAfter(event.progress.counts[0] ?? 0);
        announcer.say(this.readout.standing());
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
    }
  }

  private marked(mark: Mark): void {
    this.knobs.took(mark.knob, mark.to);
    this.forks.show(this.present!.marks, this.client.keptBefore);
    this.starts.address.follow();
    this.announcer.say(`${this.labelOf(mark.knob)} is now ${exactText(mark.to)}.`, mark.knob);
    this.tour.changed();
  }

  private began(event: Began): void {
    const { client, starts, view } = this;
    const { config, knobs } = event;
    const another = this.present?.config.variant !== config.variant;
    this.keepBefore(another);
    this.takeUp(event, another);
    const present = this.state.begin(event);
    this.breakdown.clear();
    for (const row of event.history) this.breakdown.push(this.shares(row));
    this.device.show(undefined);
    if (another) this.suit();
    starts.address.follow();
    this.forks.show(event.marks, client.keptBefore);
    this.knobs.begin(present.settings, config.seed);
    this.runs.begin(present, client.variant, client.knobs);
    view.began?.(event, another);
    starts.pace.keep();
    const charts = view.charts?.() ?? {};
    this.curves.suit(client.variant, charts);
    this.sweep.begin(
      { config, variant: client.variant, knobs: client.knobs, values: knobs },
      Object.values(charts).find(({ span }) => span)?.span,
    );
    this.ghost.begin(present);
    if (another) this.explain();
  }

  /** What becomes of the present run as another takes its place: of another variant, one comes back to it. */
  private keepBefore(another: boolean): void {
    const { client, present } = this;
    const { left, ends } = this.starts.succession.take();
    if (!present?.length) return;
    if (another && left) {
      keepRun({ room: client.room.id, ...left, history: present });
      void client.store(left);
    } else if (!another && present.length > 2) this.ghost.keep(present.config.variant, present, left?.bytes);
    if (!left || !ends) return;
    this.around.notices.offerUndo(ends.words, () =>
      this.starts.succession.replace({ kind: "restore", bytes: left.bytes, follow: ends.follow }),
    );
  }

  /** The run of this variant that was left goes on, or stays behind the new one. */
  private takeUp(event: Began, another: boolean): void {
    const of = { room: this.client.room.id, variant: event.config.variant };
    const left = keptRun(of.room, of.variant);
    if (another && left?.history && !goesOn(left, event)) this.ghost.keep(of.variant, left.history, left.bytes);
    forgetRun(of);
  }

  private suit(): void {
    const { client, starts } = this;
    document.title = `${starts.nameOf(client.variant)}, ${client.room.title} | Hothouse`;
    this.knobs.suit(client.knobs);
    starts.switcher.write(client.variant.id);
  }

  private explain(): void {
    const { variant } = this.client;
    this.readout.suit(variant);
    const explanations = this.view.explanations?.() ?? [{ heading: variant.name, words: variant.summary }];
    this.explained.replaceChildren(...explanations.map(explanation));
  }

  private drawCurves(): void {
    const { present } = this;
    const [past, compared] = [this.ghost.shown.value, this.runs.compared()];
    if (present?.told.value) untracked(() => this.curves.show(present, past, compared));
  }

  /** A rate that falls by itself stands beside the one that was set. */
  private showLearningRate(): void {
    const lr = this.present?.latest("lr");
    this.knobs.showNow("lr", lr === undefined ? "" : `now ${two(lr)}`);
  }

  private newest(): string | undefined {
    const value = this.present && this.curves.newest(this.present);
    return value === undefined ? undefined : `${this.curves.title} ${value}`;
  }

  /** A row's shares of time come after its metrics. */
  private shares({ values }: Row): number[] {
    return values.slice(this.client.room.metrics.length).map((share) => share ?? 0);
  }

  private labelOf(knob: string): string {
    return this.client.knobs.find(({ name }) => name === knob)?.label ?? knob;
  }

  private fileName(): string {
    const { variant = "run", seed = 0 } = this.present?.config ?? {};
    return `hothouse-${this.client.room.id}-${variant}-seed${seed}-${short(this.progress.counts[0] ?? 0)}.safetensors`;
  }

  private tellSleep(s: number): void {
    this.around.notices.show(
      "info",
      `The browser put this tab to sleep, and training stood still for ${seconds(s)}.`,
      "It goes on now; keep the tab in sight to train without a break.",
    );
  }
}

function explanation({ heading, words, equation, summary = "The equation" }: Explanation): HTMLElement {
  const details = equation && h("details", h("summary", summary), markup(equation));
  return h("article", h("h3", heading), h("p", words), details);
}

/** Whether the run that has begun is the one that was left. */
function goesOn({ iteration = 0, history }: Kept, { config, marks, progress }: Began): boolean {
  if (!history || progress.iteration < iteration || JSON.stringify(history.config) !== JSON.stringify(config)) return false;
  return history.marks.every((mark, k) => marks[k] && sameMark(mark, marks[k]));
}
