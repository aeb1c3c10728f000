// The page's interface to a run of any room. It sends commands and queries to the worker and passes the run's events to listeners. It draws
// nothing.

import { Autosave } from "./autosave";
import type { Module } from "./features";
import type { GpuFailure } from "./gpu";
import { keep } from "./isolate";
import { currentLink } from "./link";
import { Line } from "./line";
import { Heartbeat } from "./monitor";
import { textOf, type Notice } from "./notice";
import type {
  Answers,
  Backend,
  Command,
  Config,
  Dataset,
  Device,
  DeviceWish,
  Event,
  Knob,
  Operation,
  Problem,
  Progress,
  Question,
  RoomInfo,
  Row,
  Shared,
  SweepCell,
  SweepSpec,
  Variant,
} from "./protocol";
import { STORES } from "./storing";
import { beginVisit, loadRuns, loadVisit, type SavedRun, type Saved } from "./store";
import type { Answerer } from "./trained";
import type { FromWorker, RunQueries, Opened } from "./worker";

/** Addresses of the wasm modules relative to the page, by module name and flavour. The build defines this constant. */
declare const __MODULES__: Record<`${string}/${Module}`, string>;

/** Maximum wait for the last save when the visitor leaves the room. */
const LEAVE_MS = 1500;

export interface Options {
  room: string;
  /** Name of the wasm module; by default the id of the room. */
  module?: string;
  config?: Config;
  /** Saved run to continue. The save contains its own config. */
  checkpoint?: Uint8Array;
  /**
   * Link to a run, as from `currentLink()`. Without `config` and `checkpoint`, the link starts the run. If one of them is given, only the
   * digest in the link is used.
   */
  link?: string;
  /** Data for a run of the link that needs data, if the link contains none. */
  data?: Dataset | undefined;
  /**
   * Flavour of the wasm module (see `features.ts`) to use instead of the fastest flavour. `?use=simd128` in the page's address has the same
   * effect.
   */
  use?: "auto" | Module;
  /** Device that the visitor chose. `?device=gpu` in the page's address overrides this choice. */
  device?: DeviceWish;
}

export interface Crash {
  text: string;
  /** Latest save of the run, which `connect({ checkpoint })` can continue; null if the run has no save. */
  autosave: Uint8Array | null;
}

export type InUse = Backend & { module: string; why: string[] };

async function contentOf(file: File): Promise<ArrayBuffer> {
  return file.arrayBuffer().catch((error) => {
    throw new Error(`The file ${file.name} could not be read (${textOf(error)}). Choose it again.`);
  });
}

export type SweepState = { cells: SweepCell[]; done: boolean };

/** Type of the argument of the listeners, by kind of listener. */
type Notifications = { event: Event; trained: Event; sweep: SweepState; crash: Crash; silence: Crash | null };

/** A run, which a worker computes. `Q` and `A` are the types `Question` and `Answers` in the room's `protocol.ts`. */
export class Client<Q extends { ask: string } = { ask: string }, A = unknown> {
  backend!: InUse;
  /** Description of the run's room. */
  room!: RoomInfo;
  /** Descriptions of all rooms in the wasm module. */
  rooms: RoomInfo[] = [];
  /** Knobs of the current variant. Another variant may have other default values. */
  knobs: Knob[] = [];
  /** Device of this run; undefined until the device is decided. */
  device: Device | undefined;
  /** Runs that this browser had stored when the room was opened, latest first. */
  keptRuns: Saved[] = [];
  /** Indices of the live changes that can be undone. For each of them, the run's state before the change is kept. */
  keptBefore: number[] = [];
  /** Reason why the requested run was refused. The default run was started instead. Null if no run was refused. */
  refusal: Notice | null = null;
  /** True if the default run was started because the requested run needs data that is missing. Becomes false when another run begins. */
  isFallback = false;
  private readonly line = new Line({
    received: (message) => this.receive(message),
    silence: (text) => this.notify("silence", text === null ? null : this.crash(text)),
    crashed: (text) => {
      this.opened.reject(new Error(text));
      this.notify("crash", this.crash(text));
    },
  });
  private autosave: Autosave | undefined;
  private heartbeat: Heartbeat | undefined;
  /** Variant of the current run. */
  private present!: Variant;
  /** Name of the wasm module, without its flavour. */
  private module = "";
  /** Events that arrived before the first listener. */
  private early: Event[] = [];
  private readonly listeners: { [Kind in keyof Notifications]: ((value: Notifications[Kind]) => void)[] } = {
    event: [],
    trained: [],
    sweep: [],
    crash: [],
    silence: [],
  };
  private opened!: { resolve(): void; reject(error: Error): void };

  constructor(readonly requestedDevice: DeviceWish) {}

  async open(module: Module, why: string[], threads: number, options: Options): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => (this.opened = { resolve, reject }));
    this.module = options.module ?? options.room;
    const url = this.moduleUrl(module);
    this.line.send({
      kind: "open",
      url,
      threads,
      channel: this.line.channel,
      config: options.config ?? null,
      checkpoint: options.checkpoint ?? null,
      data: options.data ?? null,
      link: options.link ?? (options.checkpoint ? "" : currentLink()),
      device: this.requestedDevice,
    });
    await opened;
    if (STORES) await this.openStore(options);
    const { threads: used } = this.backend;
    const inUse = module.startsWith("threads") ? [`${used} ${used === 1 ? "thread trains" : "threads train"} in shared memory.`] : [];
    Object.assign(this.backend, { module, why: [...inUse, ...why] });
    keep([url, url.replace(/\.js$/, "_bg.wasm")]);
    this.autosave?.begin();
  }

  /** Prepares autosaves and reads the stored runs of the room. */
  private async openStore({ checkpoint, link = currentLink() }: Options): Promise<void> {
    const autosave = new Autosave(this.room.id, this.line, (level, text, next_step) =>
      this.take({ kind: "notice", level, text, next_step }),
    );
    this.autosave = autosave;
    if (checkpoint) autosave.newest = { bytes: checkpoint, variant: "", address: "" };
    if (this.isFallback) await this.separateVisit(link).catch(() => {});
    this.keptRuns = await loadRuns(this.room.id, checkpoint !== undefined).catch(() => []);
  }

  /**
   * Starts a new visit if the requested run is stored under the current visit. Without a new visit, the default run would overwrite that
   * save.
   */
  private async separateVisit(link: string): Promise<void> {
    const requested = link.replace(/&digest=[^&]*/, "");
    if ((await loadVisit(this.room.id)).some(({ address }) => address === requested)) beginVisit();
  }

  // ---- messages from the worker

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case "opened":
        return this.begin(message);
      case "knobs":
        this.knobs = message.knobs;
        break;
      case "events":
        this.heartbeat?.update(message.progress, message.epoch);
        this.keptBefore = [...message.keptBefore];
        if (message.variant) this.present = message.variant;
        for (const event of message.events) this.take(event);
        break;
      case "sweep":
        return this.notify("sweep", message);
      case "trained":
        for (const event of message.events) this.notify("trained", event);
        break;
      case "autosave":
        this.keepAutosave({ bytes: message.bytes, variant: message.variant, address: message.address });
    }
  }

  private begin({ room, rooms, variant, knobs, backend, monitor, refusal, isFallback }: Opened): void {
    Object.assign(this, { room, rooms, knobs, refusal, isFallback });
    this.present = variant;
    this.heartbeat = new Heartbeat(monitor);
    this.backend = { ...backend, module: "", why: [] };
    this.opened.resolve();
  }

  private take(event: Event): void {
    if (event.kind === "began") this.device = undefined;
    if (event.kind === "device") this.device = event;
    if (this.listeners.event.length === 0) this.early.push(event);
    this.notify("event", event);
  }

  private notify<Kind extends keyof Notifications>(kind: Kind, value: Notifications[Kind]): void {
    for (const listen of this.listeners[kind]) listen(value);
  }

  private crash(text: string): Crash {
    return { text, autosave: this.autosave?.newest?.bytes ?? null };
  }

  private keepAutosave(run: SavedRun): void {
    if (this.autosave) this.autosave.newest = run;
    void this.store(run);
  }

  /** Stores a run of this room in the browser. Stored runs of other variants are not replaced. */
  async store(run: SavedRun): Promise<void> {
    await this.autosave?.store(run);
  }

  // ---- commands and queries of the page

  get variant(): Variant {
    return this.present;
  }

  /** Returns the address of a flavour of this run's wasm module. */
  moduleUrl(flavour: Module): string {
    return new URL(__MODULES__[`${this.module}/${flavour}`]!, document.baseURI).href;
  }

  /** Returns true if runs of this variant can begin in this module. */
  has(variant: string): boolean {
    return this.room.data_variant === variant || this.room.variants.some(({ id }) => id === variant);
  }

  /** Current progress of the run; undefined until the page has received the run's first events. */
  get progress(): Progress | undefined {
    return this.heartbeat?.progress();
  }

  /** The worker, for tests and the console. */
  get worker(): Worker {
    return this.line.worker;
  }

  private query<Name extends keyof RunQueries>(what: Name): Promise<RunQueries[Name]> {
    return this.line.question((id) => ({ kind: "ask", id, what }));
  }

  /** Reads a file with a saved run and determines its room and variant. Rejects a file that is too large before the file is read. */
  async read(file: File): Promise<{ bytes: Uint8Array; room: string; variant: string }> {
    await this.line.question((id) => ({ kind: "has_room", id, name: file.name, bytes: file.size }));
    const bytes = new Uint8Array(await contentOf(file));
    const origin = await this.line.question<{ room: string; variant: string }>((id) => ({ kind: "origin", id, bytes }));
    return { bytes, ...origin };
  }

  /** Sends a question that only this room's worker can answer. `of` is the run that answers. */
  ask<Asked extends Q>(question: Asked, of: Answerer = "own"): Promise<A[Asked["ask"] & keyof A]> {
    return this.line.question((id) => ({ kind: "question", id, question, of }));
  }

  /**
   * Loads a checkpoint of this room as the trained run, which answers questions and never trains. Rejects if the worker refuses the
   * checkpoint.
   */
  loadTrained(bytes: Uint8Array): Promise<Shared> {
    return this.line.question((id) => ({ kind: "load_trained", id, bytes }));
  }

  /** Saves the trained run together with the room's interactions, such as a match. `loadTrained` restores both. */
  saveTrained(): Promise<Uint8Array> {
    return this.line.question((id) => ({ kind: "save_trained", id }));
  }

  dropTrained(): void {
    this.line.send({ kind: "drop_trained" });
  }

  /** Returns the learner's parameter tensors with the distributions of their values. The list is empty while the run is being prepared. */
  tensors(): Promise<Answers["tensors"]> {
    const question: Question = { ask: "tensors" };
    return this.line.question((id) => ({ kind: "question", id, question, of: "own" }));
  }

  /** Returns the learner's networks with their values in the state that the room shows. The list is empty if the room has none. */
  networks(): Promise<Answers["networks"]> {
    const question: Question = { ask: "networks" };
    return this.line.question((id) => ({ kind: "question", id, question, of: "own" }));
  }

  /**
   * Turns the timing of operations on if `look` is true, otherwise off. Returns the time for gradients by operation since the timing
   * started. Returns null if the learner has no plan.
   */
  operations(look: boolean): Promise<Operation[] | null> {
    return this.line.question((id) => ({ kind: "operations", id, look }));
  }

  command(command: Command): void {
    if (command.kind === "reset" || command.kind === "restore") this.isFallback = false;
    this.line.send({ kind: "command", command });
  }

  /** Returns the save of the run from immediately before the live change with the index `mark`. This index must be in `keptBefore`. */
  saveBefore(mark: number): Promise<Uint8Array> {
    return this.line.question((id) => ({ kind: "save_before", id, mark }));
  }

  /** Limits the growth of the room's first counter, in counts per second. Null removes the limit. */
  setSpeed(perS: number | null): void {
    this.line.send({ kind: "speed", perS });
  }

  /**
   * Passes a file or pasted text to the run that waits for data. If `config` is given or no run waits, starts a new run on the data. If the
   * data cannot be used, rejects with a message. A file that is too large is not read.
   */
  async provideData(source: File | string, config: Config | null = null): Promise<void> {
    const file = typeof source === "string" ? new File([source], "pasted text") : source;
    const data: Dataset = { name: file.name, bytes: file.size, hash: "" };
    await this.line.question((id) => ({ kind: "fits", id, data, config }));
    const content = await contentOf(file);
    await this.line.question(
      (id) => ({ kind: "provide_data", id, data: { ...data, content: new Uint8Array(content) }, config }),
      [content],
    );
    this.isFallback = false;
  }

  /** Finds the problems of a text, such as a program, from which this room learns. */
  problems(text: string): Promise<Problem[]> {
    return this.line.question((id) => ({ kind: "problems", id, text }));
  }

  save(): Promise<Uint8Array> {
    return this.query("save");
  }

  /** Returns the bytes of the user data; undefined if the run has none. */
  data(): Promise<Uint8Array | undefined> {
    return this.query("data");
  }

  /** Returns a description of the run for sharing. The description lists what cannot be reproduced. */
  shared(): Promise<Shared> {
    return this.query("shared");
  }

  /** Runs a test now, in addition to the scheduled tests. */
  test(): Promise<Row> {
    return this.query("test");
  }

  /** Starts a small sweep. The run is paused until the sweep ends or `endSweep` is called. */
  sweep(spec: SweepSpec): void {
    this.line.send({ kind: "sweep", spec });
  }

  endSweep(): void {
    this.line.send({ kind: "sweep", spec: null });
  }

  /** Adds a listener. Events that arrived before the first listener are passed to all listeners that are added in the same task. */
  onEvent(callback: (event: Event) => void): void {
    this.listeners.event.push(callback);
    for (const event of this.early) callback(event);
    queueMicrotask(() => this.early.splice(0));
  }

  /** Adds a listener for the trained run's events of the room, such as the progress of a search. */
  onTrained(callback: (event: Event) => void): void {
    this.listeners.trained.push(callback);
  }

  onSweep(callback: (state: SweepState) => void): void {
    this.listeners.sweep.push(callback);
  }

  onCrash(callback: (crash: Crash) => void): void {
    this.listeners.crash.push(callback);
  }

  /** Adds a listener for a worker that does not respond. The listener receives null when the worker responds again. */
  onSilence(callback: (silence: Crash | null) => void): void {
    this.listeners.silence.push(callback);
  }

  /** Causes a panic in the worker, or in one of the worker's threads if `inPool` is true. For tests and the console. */
  panic(inPool = false): void {
    this.line.send({ kind: "panic", inPool });
  }

  /** Causes a GPU failure; for tests and the console. */
  failGpu(how: GpuFailure): void {
    this.line.send({ kind: "fail_gpu", how });
  }

  async snapshot(): Promise<SavedRun> {
    const iteration = this.progress?.iteration ?? 0;
    const [bytes, { address }] = await Promise.all([this.save(), this.shared()]);
    return { bytes, variant: this.variant.id, address, iteration };
  }

  /** Saves the run, closes it, and returns the save. If saving takes too long, returns the latest autosave. */
  async leave(): Promise<SavedRun | undefined> {
    this.setSpeed(null); // at a limited speed an iteration may take longer than LEAVE_MS
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, LEAVE_MS, undefined));
    const saved = await Promise.race([this.snapshot(), late]).catch(() => undefined);
    if (saved) this.keepAutosave(saved);
    this.close();
    return saved ?? this.autosave?.newest;
  }

  close(): void {
    this.line.close();
  }
}
