// The page of a room. It combines the parts that every room has (transport, curves, tables, knobs, device, sweep, saving, past runs) with
// the room's own pictures and texts. It shows the run's events and sends the visitor's commands. The worker computes the run.

import type { LessonList, Lessons } from "../lessons";
import type { Client } from "../run/client";
import type { Began, Event as RunEvent, Mark, SweepSpec, Value, Variant } from "../run/protocol";
import { textOf } from "../run/notice";
import { lessonIn, linkOf, placeIn } from "../run/link";
import type { SavedRun } from "../run/store";
import type { Breakdown } from "./breakdown";
import { CHART_KEYS, RunCurves } from "./curves";
import type { Dialog } from "./dialog";
import { DeviceSwitch, deviceText, type Counts } from "./device";
import { h } from "./dom";
import { Explained } from "./explained";
import { dropping } from "./files";
import { Forks } from "./forks";
import { capital, exactText, seconds, short } from "./format";
import { Ghost } from "./ghost";
import { sameMark } from "./history";
import { forgetRun, keepRun, keptRun, type Kept } from "./kept";
import { Knobs } from "./knobs";
import type { Late } from "./late";
import { closePage, untilClosed } from "./life";
import { calm } from "./loop";
import { PALETTE_KEY, presses, type Command } from "./commands";
import { Readout } from "./readout";
import { MODEL, Places, type Section } from "./places";
import type { Model } from "./model";
import type { Pictures } from "./pictures";
import { ROOMS } from "../rooms";
import type { RoomExtension, RoomPage, PageContext, View } from "./room";
import { Runs } from "./runs";
import { Share } from "./share";
import { Shortcuts, type Shortcut } from "./shortcuts";
import { Shown } from "./shown";
import { effect, paced, untracked } from "./signal";
import { watchSleep } from "./sleep";
import { fresh, Starts } from "./starts";
import type { Sweep } from "./sweep";
import { revealBy, reveal } from "./tabs";
import type { Tensors } from "./tensors";
import { steps as commonSteps, isFirstVisit, Tour, type Step } from "./tour";
import type { Trained } from "./trained";
import type { Units } from "./units";
import { SPEEDS } from "./transport";

/** Time after which the page becomes visible at the latest. It becomes visible earlier if the first run begins earlier. */
const READY_MS = 800;
/** Minimum time between two redraws of the curves. */
const DRAW_MS = 100;

const SAVED =
  "A saved run contains everything: weights, optimiser, random numbers and progress. It continues here or in a terminal exactly " +
  "where it stopped. A link contains the settings, the seed and the live changes.";

export class Page extends Shown<PageContext> implements RoomPage {
  readonly element: HTMLElement;
  readonly counts: Counts;
  readonly framed = false;
  readonly trained: Trained | undefined;
  private readonly view: View;
  private readonly starts: Starts;
  protected readonly readout: Readout;
  protected readonly knobs: Knobs;
  private readonly ghost: Ghost;
  private readonly forks: Forks;
  protected readonly curves: RunCurves;
  private readonly runs: Runs;
  private readonly breakdown: Late<Breakdown>;
  private readonly units: Late<Units>;
  private readonly tensors: Late<Tensors>;
  private readonly device: DeviceSwitch;
  private readonly sweep: Late<Sweep>;
  private readonly pictures: Late<Pictures>;
  private readonly model: Late<Model>;
  /** The lesson beside the room. */
  private readonly lesson: Late<Lessons>;
  private readonly lessonList: Late<LessonList>;
  /** Arguments of `Sweep.begin` for the current run. */
  private varied: Parameters<Sweep["begin"]> | undefined;
  private readonly explained = new Explained();
  private readonly keys: Shortcut[];
  private readonly shortcuts: Shortcuts;
  /** The help dialog; undefined before it is first opened. */
  private helping: Dialog | undefined;
  private readonly share: Share;
  private readonly tour: Tour;
  private readonly places: Places;
  /** The column beside the stage. */
  private readonly side: HTMLElement;

  constructor(
    client: Client,
    around: PageContext,
    private readonly extension: RoomExtension = {},
  ) {
    super(client, around);
    const { announcer } = around;
    const { room } = client;
    const label = (knob: string): string => this.labelOf(knob);
    this.counts = { rate: this.state.rates.work, boundary: room.iteration_word };
    this.trained = extension.trained?.(client, {
      announcer,
      present: () => this.present,
      changed: () => this.trainedChanged(),
    });
    this.view = extension.view?.(this) ?? {};
    const { view, unit } = this;
    this.starts = new Starts(client, around, view, {
      present: () => this.present,
      wanted: () => this.knobs.wanted(),
      label,
      showStage: () => this.showStage(),
    });
    const { starts } = this;
    const goBack = (bytes: Uint8Array): void => starts.goBack(bytes);
    this.ghost = new Ghost(room, unit, label, goBack);
    const refused = (error: unknown): void => around.notices.show("error", textOf(error), "");
    this.forks = new Forks(unit, label, (place) => client.saveBefore(place).then(goBack, refused));
    this.knobs = new Knobs(
      { change: (name, value) => starts.succession.change(name, value), reset: () => starts.reset() },
      room.iteration_word,
      extension.knobs,
    );
    this.knobs.suit(client.knobs);
    this.device = new DeviceSwitch(client.requestedDevice, this.counts, (wish) => client.command({ kind: "device", wish }));
    this.curves = new RunCurves(room, extension.curves ?? {}, label, (mark) => this.forks.before(mark), [this.knobs.others]);
    this.runs = new Runs(room, {
      begin: (config) => starts.beginWith(fresh(config)),
      past: () => this.ghost.shown.value,
      hidePast: () => this.ghost.toggle(),
      say: (words) => announcer.say(words, "runs"),
      failed: (error) => around.notices.show("error", `The curves could not be exported: ${textOf(error)}`, "Export them again."),
      picture: () => this.curves.selected,
    });
    this.breakdown = this.late(async () => {
      const { Breakdown } = await import("./breakdown");
      return () =>
        new Breakdown(
          room.parts,
          () => this.present,
          (look) => client.operations(look),
        );
    });
    this.units = this.late(async () => {
      const { Units } = await import("./units");
      return () => new Units(() => client.networks(), view.units!);
    });
    this.tensors = this.late(async () => {
      const { Tensors } = await import("./tensors");
      const [ask, iteration] = [() => client.tensors(), () => this.progress.iteration];
      return () => new Tensors(ask, iteration, room.iteration_word, view.units?.samples);
    });
    this.sweep = this.late(async () => {
      const { Sweep } = await import("./sweep");
      return () => this.sweeping(Sweep, extension);
    });
    this.pictures = this.late(async () => {
      const { Pictures } = await import("./pictures");
      return () => this.picturing(Pictures);
    });
    this.model = this.late(async () => {
      const { Model } = await import("./model");
      return () => new Model(client, () => this.share.fileName, around);
    });
    this.lesson = this.late(async () => {
      const { Lessons } = await import("../lessons");
      return () =>
        new Lessons({
          ...{ client, around, present: () => this.present },
          begin: (config) => {
            starts.beginWith(config);
            this.showStage();
          },
        });
    });
    this.lessonList = this.late(async () => {
      const { LessonList } = await import("../lessons");
      return () => new LessonList(room.id);
    });
    this.readout = new Readout(client, view, this.state, unit, this.transportActions(), {
      progress: () => this.progress,
      sweeping: () => this.sweep.part?.running ?? false,
      overtaken: () => this.trained?.sentence() ?? "",
      written: () => this.showLearningRate(),
      polled: (testing) => this.curves.main?.note(testing ? "Testing…" : ""),
    });
    this.share = this.sharing(extension.saved ?? SAVED);
    this.keys = this.allKeys();
    this.shortcuts = new Shortcuts(this.keys, () => void this.help());
    this.places = new Places(view.stage ?? h("div"), this.sections(), (chosen) => starts.address.place(this.places.open, chosen));
    this.side = this.results();
    this.element = h("main", { id: "main", tabindex: -1, class: view.stage ? "unready" : "plain", "data-tab": "live" }, ...this.contents());
    this.tour = new Tour(room.id, extension.tour ?? commonSteps("The agent"), this.element);
    // The variant is shown before the first event, so that the layout does not shift when the event arrives.
    this.readout.suit(client.variant);
    starts.switcher.write(client.variant.id);
    setTimeout(() => this.ready(), READY_MS);
    // The first layout takes long, so the column beside the stage has a frame of its own.
    requestAnimationFrame(() => setTimeout(() => (this.side.hidden = false)));
    client.onEvent((event) => this.take(event));
    client.onSweep((state) => this.sweep.part?.take(state));
    starts.pace.keep();
    untilClosed(effect(() => this.drawCurves(), paced(DRAW_MS)));
    this.takeDrops();
    watchSleep({
      running: () => this.state.running.value,
      trained_s: () => this.progress.train_s,
      slept: (s) => this.showSleep(s),
    });
  }

  async help(): Promise<void> {
    const { helpDialog } = await import("./help");
    const { view, extension, keys, shortcuts } = this;
    const palette = { shown: PALETTE_KEY, does: "search everything: actions, knobs, lessons, all rooms" };
    this.helping ??= helpDialog(extension, {
      keys: [...keys, palette, CHART_KEYS, ...(view.otherKeys ?? [])],
      shortcuts,
      tour: () => this.tour.begin(),
    });
    this.helping.open();
  }

  /** Handles an address in this room: another tab, or a link to a variant. Returns false if this address requires a new page. */
  follow(address: string): boolean {
    const link = linkOf(address);
    const here = this.starts.address.is(link) || this.starts.follow(link);
    if (here) this.show(placeIn(address), lessonIn(address));
    return here;
  }

  /** Makes the page visible. The column beside the stage follows in the next frame. */
  private ready(): void {
    this.element.classList.remove("unready");
    this.lesson.part?.reach();
    requestAnimationFrame(() => this.side.classList.remove("unready"));
  }

  /**
   * Shows the tab and the section that `place` names; an empty list shows the room's picture. If `lesson` is given, also opens this lesson;
   * an empty name closes the open lesson.
   */
  show(place: string[], lesson?: string): void {
    this.places.show(place);
    if (lesson !== undefined) void this.openLesson(lesson);
  }

  private async openLesson(name: string): Promise<void> {
    if (name) this.lesson.show();
    await this.lesson.loaded();
    this.lesson.part?.open(name);
    if (!this.element.classList.contains("unready")) this.lesson.part?.reach();
  }

  showStage(): void {
    this.show([]);
    scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });
  }

  beginTour(steps: Step[]): void {
    this.tour.begin(true, steps);
  }

  close(): void {
    closePage();
    this.element.remove();
  }

  /** Saves the run, closes the room, and returns the save. */
  async depart(): Promise<SavedRun | undefined> {
    const { client, present } = this;
    this.close();
    const saved = await client.leave();
    if (saved && present?.length) {
      const variant = saved.variant || present.config.variant;
      keepRun({ room: client.room.id, ...saved, variant, address: saved.address || this.starts.address.current });
    }
    return saved;
  }

  // ---- interface for the room's views

  learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void> {
    return this.starts.learnFrom(source, knobs);
  }

  begin(variant: Variant, knobs: Record<string, Value>): Promise<void> {
    return this.starts.begin(variant, knobs);
  }

  get isFirstVisit(): boolean {
    return isFirstVisit(this.client.room.id);
  }

  setSpeed(index: number): void {
    this.readout.transport.setSpeed(index);
  }

  chooseOwn(): void {
    const { ownVariant } = this.view;
    if (ownVariant) this.starts.switcher.switchTo(ownVariant.variant);
  }

  // ---- layout

  private results(): HTMLElement {
    const { view, curves } = this;
    const results = h("section.returns.card", { "aria-labelledby": "results-title" }, [
      h("h2.unseen", { id: "results-title" }, "Results"),
      ...curves.large,
      this.knobs.first,
      this.ghost.element,
      curves.mainTable.element,
    ]);
    // On a narrow page the results are in the first tab only.
    revealBy(results, () => results.checkVisibility() || this.show([]));
    return h("div.side.unready", { hidden: true }, results, h("div.beside", view.beside));
  }

  private contents(): HTMLElement[] {
    const { readout, places } = this;
    return [
      h("div.intro", readout.headline, readout.status),
      this.starts.switcher.element,
      places.list,
      h("div.workspace", this.lesson.element, places.element, this.side),
      readout.transport.element,
    ];
  }

  /** Returns the sections of the tabs. */
  private sections(): Section[] {
    const { view, breakdown, curves, knobs, share, units, tensors, sweep, explained, lessonList, trained, pictures, model } = this;
    const section = (tab: Section["tab"], name: string, heading: string, ...parts: Node[]): Section => ({
      tab,
      name,
      heading,
      element: h("div", parts),
    });
    return [
      ...(view.sections ?? []),
      { ...section("explore", "metrics", "Training metrics", curves.small, breakdown.element), shown: () => breakdown.show() },
      {
        ...section("explore", "network", "Network", units.element, ...(view.network ? [view.network.element] : []), tensors.element),
        shown: () => {
          if (view.units) units.show();
          view.network?.show();
          tensors.show();
        },
      },
      { ...section("compare", "runs", "Runs", curves.compare, this.runs.element, curves.help), words: "history earlier yesterday seeds" },
      { ...section("compare", "sweep", "Sweep", sweep.element), shown: () => sweep.show() },
      { ...section("settings", "live-knobs", "During training", this.forks.element, knobs.live), offered: () => knobs.hasLive },
      section("settings", "knobs", "New run", knobs.fixed),
      section("settings", "device", "Device", this.device.element),
      { ...section("explain", "explanation", "Explanation", explained.element), shown: () => explained.show() },
      ...(trained ? [{ ...section("explain", "trained", "Trained agent", trained.element), offered: () => trained.state === "here" }] : []),
      { ...section("explain", "lessons", "Lessons", lessonList.element), shown: () => lessonList.show() },
      { ...section("share", "save", "Save and share", share.files), words: "export download link" },
      ...(view.stage
        ? [{ ...section("share", "pictures", "Pictures", pictures.element), words: "png video replay", shown: () => pictures.show() }]
        : []),
      ...(ROOMS.find(({ id }) => id === this.client.room.id)?.model
        ? [
            {
              ...MODEL,
              element: h("div", model.element),
              shown: () => {
                model.show();
                model.part?.writeCommand();
              },
            },
          ]
        : []),
      {
        ...section("share", "run", "Terminal and Python", share.commands),
        words: "command line",
        shown: () => void share.showCommands(),
      },
    ];
  }

  /** Creates the sweep of the current run. */
  private sweeping(Part: typeof Sweep, { budgets, comparable }: RoomExtension): Sweep {
    const { client, starts, announcer, present } = this;
    const actions = {
      start: (spec: SweepSpec) => client.sweep(spec),
      end: () => client.endSweep(),
      use: (knob: string, value: Value) => starts.useValue(knob, value),
      say: (words: string) => announcer.say(words, "sweep"),
    };
    const sweep = new Part(client.room, actions, { budgets, comparable });
    if (this.varied) sweep.begin(...this.varied);
    if (present?.solved) sweep.solvedAfter(present.solved.counts[0] ?? 0);
    return sweep;
  }

  private picturing(Part: typeof Pictures): Pictures {
    const { client, view, around } = this;
    return new Part(
      {
        stage: view.stage!,
        parts: view.pictured ?? "canvas",
        caption: () => {
          const title = `${client.room.title}: ${this.starts.nameOf(client.variant)}`;
          const progress = `${short(this.progress.counts[0] ?? 0)} ${this.unit}`;
          return { title, about: [`seed ${this.present?.config.seed ?? 0}`, progress, this.leadWords].filter(Boolean).join(", ") };
        },
        fileName: () => this.fileName().replace(/\.[a-z]+$/, ""),
        showStage: () => {
          const { open } = this.places;
          this.show([]);
          return () => this.show(open);
        },
        run: () => this.present,
      },
      around,
    );
  }

  private transportActions(): ConstructorParameters<typeof Readout>[4] {
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

  private sharing(about: string): Share {
    const { starts } = this;
    const ends = { words: "The saved run continues.", follow: false };
    return new Share(
      this.client,
      {
        about,
        config: () => this.present?.config,
        csv: () => this.present?.csv() ?? "",
        fileName: () => this.fileName(),
        load: (file) => void starts.load(file),
        resume: (bytes) => void starts.succession.replace({ kind: "restore", bytes }, { ends }),
      },
      this.around,
    );
  }

  private allKeys(): Shortcut[] {
    const { client, view, starts, readout } = this;
    const { variant_word, iteration_word, variants } = client.room;
    const key = (key: string, does: string, run: () => void, shown = key): Shortcut => ({ key, shown, does, run });
    const { mainTable, title } = this.curves;
    return [
      key(" ", "play or pause", () => readout.transport.toggle(), "space"),
      key("s", `step: one ${iteration_word}, then pause`, () => client.command({ kind: "step" })),
      key("r", "new run from the first step", () => starts.reset()),
      ...(view.realTime ? SPEEDS.map(({ spoken }, k) => key(String(k + 1), `speed: ${spoken}`, () => readout.transport.setSpeed(k))) : []),
      ...(variants.length > 1 ? [key("e", `next ${variant_word}`, () => starts.switcher.next())] : []),
      ...(view.keys ?? []),
      key("t", `open or close the table of ${title.toLowerCase()}`, () => (reveal(mainTable.button), mainTable.button.click())),
      key("g", "show or hide the past run", () => this.ghost.toggle()),
    ];
  }

  /** Returns the commands of this room and of the header. Some of them depend on the query. */
  commands(query: string): Command[] {
    const { starts } = this;
    const { variant_word, title } = this.client.room;
    const key = ({ does, shown, run }: Shortcut): Command => ({ kind: "Actions", name: capital(does), key: shown, run });
    const variant = (one: Variant): Command => ({
      kind: `${capital(variant_word)}s`,
      name: starts.nameOf(one),
      words: `${one.id} ${one.summary}`,
      run: () => starts.switcher.switchTo(one),
    });
    return [
      ...this.keys.map(key),
      ...presses("Actions", this.view.stage ?? h("div")),
      ...presses("Actions", this.share.files),
      ...presses("Actions", this.share.commands),
      ...presses("Actions", this.pictures.element),
      ...presses("Actions", this.model.element),
      { kind: "Actions", name: "Help", key: "?", run: () => void this.help() },
      { kind: "Actions", name: "Take the tour", run: () => this.tour.begin() },
      ...this.around.commands(),
      ...starts.variants.map(variant),
      ...this.places.commands(title),
      ...this.knobs.commands(query),
      ...this.runs.commands(),
      ...presses("Devices", this.device.element),
    ];
  }

  private takeDrops(): void {
    const { drops } = this.view;
    dropping(drops?.words ?? "Drop a saved run to continue it", (file) => {
      if (drops && !file.name.endsWith(".safetensors")) drops.take(file);
      else void this.starts.load(file);
    });
  }

  // ---- events of the run

  private take(event: RunEvent): void {
    if (event.kind === "began") this.began(event);
    else this.state.take(event);
    this.respond(event);
    this.view.take?.(event);
    if (event.kind === "metrics") this.announcer.progress(() => this.readout.spoken());
  }

  private respond(event: RunEvent): void {
    const { announcer, notices } = this.around;
    switch (event.kind) {
      case "metrics":
        // The tour begins only in a page that is in the document, because the first events may arrive before that. It does not cover a
        // lesson.
        if (this.element.isConnected && this.places.open.length === 0 && !lessonIn(location.hash)) this.tour.beginOnce();
        break;
      case "test":
        this.trained?.tested();
        break;
      case "mark":
        this.marked(event);
        break;
      case "solved":
        this.sweep.part?.solvedAfter(event.progress.counts[0] ?? 0);
        this.curves.main?.celebrate();
        break;
      case "standing":
        this.showStanding(event);
        break;
      case "notice":
        notices.show(event.level, event.text, event.next_step);
        break;
      case "room":
        // If the room's view does not handle events, the page shows the room's events as notices.
        if (!this.view.take) notices.show("info", event.text, "");
        break;
      case "device":
        this.device.show(event);
        // Automatic use of the CPU is the default and is not announced.
        if (event.on_gpu || event.wish !== "auto") announcer.say(deviceText(event), "device");
    }
  }

  private marked(mark: Mark): void {
    this.knobs.applied(mark.knob, mark.to);
    this.forks.show(this.present!.marks, this.client.keptBefore);
    this.starts.address.follow();
    this.share.renew();
    this.announcer.say(`${this.labelOf(mark.knob)} is now ${exactText(mark.to)}.`, mark.knob);
    this.tour.changed();
  }

  private began(event: Began): void {
    const { client, starts, view } = this;
    const { config, knobs } = event;
    const another = this.present?.config.variant !== config.variant;
    this.keepPrevious(another);
    this.replaceKept(event, another);
    const present = this.state.begin(event);
    this.device.show(undefined);
    this.units.part?.begin();
    this.tensors.part?.begin();
    if (another) this.knobs.suit(client.knobs);
    starts.address.follow();
    this.forks.show(event.marks, client.keptBefore);
    this.knobs.begin(present.settings, config.seed);
    this.runs.begin(present, client.variant, client.knobs);
    view.began?.(event, another);
    this.suit();
    // The page becomes visible two frames later, because the room's first drawings follow in these frames.
    requestAnimationFrame(() => requestAnimationFrame(() => this.ready()));
    this.places.suit();
    starts.pace.keep();
    const charts = view.charts?.() ?? {};
    this.curves.suit(client.variant, charts);
    const span = Object.values(charts).find(({ span }) => span)?.span;
    this.varied = [{ config, variant: client.variant, knobs: client.knobs, values: knobs }, span];
    this.sweep.part?.begin(...this.varied);
    this.trained?.begin();
    this.ghost.begin(present);
    this.explain();
    this.share.begin();
    this.tour.changed();
  }

  /**
   * Keeps the current run before the next run replaces it. If the variant changes (`another`), the visitor can continue the kept run later;
   * otherwise it becomes the past run.
   */
  private keepPrevious(another: boolean): void {
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

  /**
   * Drops the kept run of the new run's variant. Called when a run begins. If the variant has changed (`another`) and the new run does not
   * continue the kept run, the kept run becomes the past run.
   */
  private replaceKept(event: Began, another: boolean): void {
    const of = { room: this.client.room.id, variant: event.config.variant };
    const left = keptRun(of.room, of.variant);
    if (another && left?.history && !continues(left, event)) this.ghost.keep(of.variant, left.history, left.bytes);
    forgetRun(of);
  }

  private trainedChanged(): void {
    if (!this.trained) return;
    this.curves.setTrained(this.trained.level());
    this.places.suit();
    this.view.trained?.(this.trained);
  }

  /** Updates the displayed names of the variant, which may change with the visitor's data. */
  private suit(): void {
    const { client, starts } = this;
    document.title = `${starts.nameOf(client.variant)}, ${client.room.title} | Hothouse`;
    this.readout.suit(client.variant);
    starts.switcher.write(client.variant.id);
  }

  private explain(): void {
    const { variant } = this.client;
    const summary = [{ heading: variant.name, words: variant.summary }];
    this.explained.suit(async () => (await this.view.explanations?.()) ?? summary);
  }

  private drawCurves(): void {
    const { present } = this;
    const [past, compared] = [this.ghost.shown.value, this.runs.compared()];
    if (present?.revision.value) untracked(() => this.curves.show(present, past, compared));
  }

  private fileName(): string {
    const { variant = "run", seed = 0 } = this.present?.config ?? {};
    return `hothouse-${this.client.room.id}-${variant}-seed${seed}-${short(this.progress.counts[0] ?? 0)}.safetensors`;
  }

  private showSleep(s: number): void {
    this.around.notices.show(
      "info",
      `The browser suspended this tab, and training paused for ${seconds(s)}.`,
      "Training continues. Keep the tab visible to train without interruption.",
    );
  }
}

/** Returns true if the run that has begun continues a kept run. */
function continues({ iteration = 0, history }: Kept, { config, marks, progress }: Began): boolean {
  if (!history || progress.iteration < iteration || JSON.stringify(history.config) !== JSON.stringify(config)) return false;
  return history.marks.every((mark, k) => marks[k] && sameMark(mark, marks[k]));
}
