// The page's handle on a run of any room: it asks and tells, and says what the run told. It refuses to draw anything.

import { Autosave } from "./autosave";
import type { Module } from "./features";
import type { GpuFailure } from "./gpu";
import { keep } from "./isolate";
import { Line } from "./line";
import { Heartbeat } from "./monitor";
import { textOf } from "./notice";
import type {
  Backend,
  Command,
  Config,
  Dataset,
  Device,
  DeviceWish,
  Event,
  Knob,
  Operation,
  Progress,
  RoomInfo,
  Row,
  Shared,
  SweepCell,
  SweepSpec,
  Variant,
} from "./protocol";
import { beginVisit, loadRuns, loadVisit, type Left, type Saved } from "./store";
import type { FromWorker, OfHouse, Opened } from "./worker";

/** Where the build put the module of each room and flavour, relative to the page; written by the build. */
declare const __MODULES__: Record<`${string}/${Module}`, string>;

/** Who leaves waits no longer for the end of an iteration. */
const LEAVE_MS = 1500;

export interface Options {
  room: string;
  config?: Config;
  /** Goes on from a saved run; the config is then in the file. */
  checkpoint?: Uint8Array;
  /** A link to a run (`location.hash`): begins it where there is neither config nor checkpoint, and else tells its digest. */
  link?: string;
  /** A module by name instead of the fastest; also `?use=simd128` in the page's address. */
  use?: "auto" | Module;
  /** What should train; also `?device=gpu` in the page's address, which goes first. */
  device?: DeviceWish;
}

export interface Crash {
  text: string;
  /** The run as it was last saved, to go on from: `connect({ checkpoint })`. */
  autosave: Uint8Array | null;
}

export type InUse = Backend & { module: string; why: string[] };

async function contentOf(file: File): Promise<ArrayBuffer> {
  return file.arrayBuffer().catch((error) => {
    throw new Error(`The file ${file.name} could not be read (${textOf(error)}). Choose it again.`);
  });
}

export type SweepState = { cells: SweepCell[]; done: boolean };

/** What each of the four kinds of listeners is told. */
type Told = { event: Event; sweep: SweepState; crash: Crash; silence: Crash | null };

/** A run in its worker. `Q` and `A` are what its room can be asked, `Question` and `Answers` of its `protocol.ts`. */
export class Client<Q extends { ask: string } = { ask: string }, A = unknown> {
  backend!: InUse;
  /** What the run's room counts, measures and offers; and all rooms that the module has. */
  room!: RoomInfo;
  rooms: RoomInfo[] = [];
  /** Of the variant that is trained; another has other defaults. */
  knobs: Knob[] = [];
  /** What trains, once that is decided for this run. */
  device: Device | undefined;
  /** The runs of earlier visits that this browser held when the room opened, the newest first. */
  keptRuns: Saved[] = [];
  /** Live changes of the run, by the places of their marks, before which one can go back to. */
  keptBefore: number[] = [];
  /** The default run, until another begins: the one that was asked for waits for its data. */
  standsIn = false;
  private readonly line = new Line({
    heard: (message) => this.heard(message),
    silence: (text) => this.tell("silence", text === null ? null : this.crash(text)),
    crashed: (text) => {
      this.opened.reject(new Error(text));
      this.tell("crash", this.crash(text));
    },
  });
  private autosave: Autosave | undefined;
  private heartbeat: Heartbeat | undefined;
  private variantId = "";
  /** Events from before anybody listened. */
  private early: Event[] = [];
  private readonly listeners: { [Kind in keyof Told]: ((told: Told[Kind]) => void)[] } = { event: [], sweep: [], crash: [], silence: [] };
  private opened!: { resolve(): void; reject(error: Error): void };

  constructor(readonly wished: DeviceWish) {}

  async open(module: Module, why: string[], threads: number, options: Options): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => (this.opened = { resolve, reject }));
    const url = new URL(__MODULES__[`${options.room}/${module}`]!, document.baseURI);
    this.line.send({
      kind: "open",
      url: url.href,
      threads,
      channel: this.line.channel,
      config: options.config ?? null,
      checkpoint: options.checkpoint ?? null,
      link: options.link ?? (options.checkpoint ? "" : location.hash),
      device: this.wished,
    });
    await opened;
    const autosave = new Autosave(this.room.id, this.line, (level, text, next_step) =>
      this.take({ kind: "notice", level, text, next_step }),
    );
    this.autosave = autosave;
    if (options.checkpoint) autosave.newest = { bytes: options.checkpoint, variant: "", address: "" };
    if (this.standsIn) await this.leaveVisit(options.link ?? location.hash).catch(() => {});
    this.keptRuns = await loadRuns(this.room.id, options.checkpoint !== undefined).catch(() => []);
    const { threads: used } = this.backend;
    const inUse = module.startsWith("threads") ? [`${used} ${used === 1 ? "thread trains" : "threads train"} on one shared memory.`] : [];
    Object.assign(this.backend, { module, why: [...inUse, ...why] });
    keep([url.href, url.href.replace(/\.js$/, "_bg.wasm")]);
    autosave.begin();
  }

  /** What stands in for a run that this visit saved is another visit's, so that it takes the place of none of its saves. */
  private async leaveVisit(link: string): Promise<void> {
    const asked = link.replace(/&digest=[^&]*/, "");
    if ((await loadVisit(this.room.id)).some(({ address }) => address === asked)) beginVisit();
  }

  // ---- what the worker tells

  private heard(message: FromWorker): void {
    switch (message.kind) {
      case "opened":
        return this.begin(message);
      case "knobs":
        this.knobs = message.knobs;
        break;
      case "events":
        this.heartbeat?.told(message.progress, message.epoch);
        this.keptBefore = [...message.keptBefore];
        for (const event of message.events) this.take(event);
        break;
      case "sweep":
        return this.tell("sweep", message);
      case "autosave":
        this.keepAutosave({ bytes: message.bytes, variant: message.variant, address: message.address });
    }
  }

  private begin({ room, rooms, knobs, backend, monitor, standsIn }: Opened): void {
    Object.assign(this, { room, rooms, knobs, standsIn });
    this.heartbeat = new Heartbeat(monitor);
    this.backend = { ...backend, module: "", why: [] };
    this.opened.resolve();
  }

  private take(event: Event): void {
    if (event.kind === "began") {
      this.device = undefined;
      this.variantId = event.config.variant;
    }
    if (event.kind === "device") this.device = event;
    if (this.listeners.event.length === 0) this.early.push(event);
    this.tell("event", event);
  }

  private tell<Kind extends keyof Told>(kind: Kind, told: Told[Kind]): void {
    for (const listen of this.listeners[kind]) listen(told);
  }

  private crash(text: string): Crash {
    return { text, autosave: this.autosave?.newest?.bytes ?? null };
  }

  private keepAutosave(run: Left): void {
    if (this.autosave) this.autosave.newest = run;
    void this.store(run);
  }

  /** Stores a run of the room in this browser, beside those of other variants. */
  async store(run: Left): Promise<void> {
    await this.autosave?.store(run);
  }

  // ---- what the page asks and wishes

  get variant(): Variant {
    return this.room.variants.find(({ id }) => id === this.variantId) ?? this.room.variants[0]!;
  }

  /** How far the run is at this moment, where that can be read. */
  get progress(): Progress | undefined {
    return this.heartbeat?.progress();
  }

  /** For tests and the console. */
  get worker(): Worker {
    return this.line.worker;
  }

  private askRun<Name extends keyof OfHouse>(what: Name): Promise<OfHouse[Name]> {
    return this.line.question((id) => ({ kind: "ask", id, what }));
  }

  /** A run that was saved to a file, and the room that it is of; what is too large is refused before it is read. */
  async read(file: File): Promise<{ bytes: Uint8Array; room: string }> {
    await this.line.question((id) => ({ kind: "has_room", id, name: file.name, bytes: file.size }));
    const bytes = new Uint8Array(await contentOf(file));
    const room = await this.line.question<string>((id) => ({ kind: "room_of", id, bytes }));
    return { bytes, room };
  }

  /** A question of the room's own. */
  ask<Asked extends Q>(question: Asked): Promise<A[Asked["ask"] & keyof A]> {
    return this.line.question((id) => ({ kind: "question", id, question }));
  }

  /** Where the time of its gradients has gone since it was looked at; nothing where it has no plan. */
  operations(look: boolean): Promise<Operation[] | null> {
    return this.line.question((id) => ({ kind: "operations", id, look }));
  }

  command(command: Command): void {
    if (command.kind === "reset" || command.kind === "restore") this.standsIn = false;
    this.line.send({ kind: "command", command });
  }

  /** The run as it was just before one of the changes that are `keptBefore`. */
  saveBefore(mark: number): Promise<Uint8Array> {
    return this.line.question((id) => ({ kind: "save_before", id, mark }));
  }

  /** How fast the room's first counter grows in a second; null is as fast as it goes. */
  setSpeed(perS: number | null): void {
    this.line.send({ kind: "speed", perS });
  }

  /**
   * Gives data to learn from, as a file or as text that was pasted: to the run that waits for it, or to a new one, of `config`
   * where there is one. What cannot be used is refused in words, and what is too large before it is read.
   */
  async bring(source: File | string, config: Config | null = null): Promise<void> {
    const file = typeof source === "string" ? new File([source], "pasted text") : source;
    const data: Dataset = { name: file.name, bytes: file.size, hash: "" };
    await this.line.question((id) => ({ kind: "fits", id, data, config }));
    const content = await contentOf(file);
    await this.line.question((id) => ({ kind: "bring", id, data: { ...data, content: new Uint8Array(content) }, config }), [content]);
    this.standsIn = false;
  }

  save(): Promise<Uint8Array> {
    return this.askRun("save");
  }

  /** What starts the same run elsewhere, and what it cannot bring along. */
  shared(): Promise<Shared> {
    return this.askRun("shared");
  }

  /** Tests what is learned by now, whatever the pace. */
  test(): Promise<Row> {
    return this.askRun("test");
  }

  /** Begins a small sweep: the run pauses while it lasts, and goes on after its end or `endSweep`. */
  sweep(spec: SweepSpec): void {
    this.line.send({ kind: "sweep", spec });
  }

  endSweep(): void {
    this.line.send({ kind: "sweep", spec: null });
  }

  /** These four add a listener. Events from before the first one are kept for it. */
  onEvent(callback: (event: Event) => void): void {
    this.listeners.event.push(callback);
    for (const event of this.early.splice(0)) callback(event);
  }

  onSweep(callback: (state: SweepState) => void): void {
    this.listeners.sweep.push(callback);
  }

  onCrash(callback: (crash: Crash) => void): void {
    this.listeners.crash.push(callback);
  }

  /** The worker does not answer; or, with null, it answers again. */
  onSilence(callback: (silence: Crash | null) => void): void {
    this.listeners.silence.push(callback);
  }

  /** Panics on purpose, to see what follows; for tests and the console. */
  panic(inPool = false): void {
    this.line.send({ kind: "panic", inPool });
  }

  /** Lets the GPU fail in a way of one's choice, likewise. */
  failGpu(how: GpuFailure): void {
    this.line.send({ kind: "fail_gpu", how });
  }

  async whole(): Promise<Left> {
    const iteration = this.progress?.iteration ?? 0;
    const [bytes, { address }] = await Promise.all([this.save(), this.shared()]);
    return { bytes, variant: this.variantId, address, iteration };
  }

  /** Closes it with its autosave as new as can be, which it gives back. */
  async leave(): Promise<Left | undefined> {
    this.setSpeed(null); // at real time the end of an iteration is far
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, LEAVE_MS, undefined));
    const left = await Promise.race([this.whole(), late]).catch(() => undefined);
    if (left) this.keepAutosave(left);
    this.close();
    return left ?? this.autosave?.newest;
  }

  close(): void {
    this.line.close();
  }
}
