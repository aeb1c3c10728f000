// The page's handle on a run of any room: it chooses the wasm module, starts the worker, asks and tells, keeps an autosave,
// and tells of a crash. It refuses to draw anything.

import type { FromWorker, OfHouse, Opened, ToWorker } from "./worker";
import type {
  Backend,
  Command,
  Config,
  Cursor,
  Dataset,
  Device,
  DeviceWish,
  Event,
  Knob,
  Level,
  Operation,
  Progress,
  RoomInfo,
  Row,
  Shared,
  SweepCell,
  SweepSpec,
  Variant,
} from "./protocol";
import { choose, MODULES, type Module } from "./features";
import type { GpuFailure } from "./gpu";
import { isolate, keep } from "./isolate";
import { Monitor } from "./monitor";
import { beginVisit, loadRuns, loadVisit, saveRun, type Left, type Saved } from "./store";

/** Where the build put the module of each room and flavour, relative to the page; written by the build. */
declare const __MODULES__: Record<`${string}/${Module}`, string>;

/** A panic's text and the trap it causes arrive on two ways; the text is worth a short wait. */
const CRASH_GATHER_MS = 200;
/** How often the worker is asked whether it is there. */
const BEAT_MS = 1000;
/** It answers between two slices of its work; after so many beats without an answer it may have been ended. */
const SILENT_BEATS = 15;
/** The same where it has to do what cannot be cut: to begin a run, to test it, to read a file. */
const BUSY_BEATS = 60;
/** Who leaves waits no longer for the end of an iteration. */
const LEAVE_MS = 1500;

export interface Options {
  /** Whose module is loaded. */
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

const DEVICES: DeviceWish[] = ["auto", "cpu", "gpu"];

export interface Crash {
  text: string;
  /** The run as it was last saved, to go on from: `connect({ checkpoint })`. */
  autosave: Uint8Array | null;
}

/** What is in use and why. */
export type InUse = Backend & { module: string; why: string[] };

async function contentOf(file: File): Promise<ArrayBuffer> {
  return file.arrayBuffer().catch((error) => {
    throw new Error(`The file ${file.name} could not be read (${error instanceof Error ? error.message : error}). Choose it again.`);
  });
}

/** How a small sweep stands. */
export type SweepState = { cells: SweepCell[]; done: boolean };

/** A hidden page draws no frames, and reads the monitor more seldom. */
const READ_HIDDEN_MS = 500;
/** How often a run is kept; what is large is written more seldom. */
const AUTOSAVE_MS = 10_000;
const AUTOSAVE_MS_PER_BYTE = 1e-3;

/** Opens a run with the fastest module that starts here. */
export async function connect(options: Options): Promise<Client> {
  await isolate();
  const named = new URLSearchParams(location.search).get("device");
  const device = DEVICES.find((one) => one === named) ?? options.device ?? "auto";
  const asked = options.use ?? new URLSearchParams(location.search).get("use") ?? "auto";
  const known = asked === "auto" || (MODULES as readonly string[]).includes(asked);
  const choice = choose(known ? (asked as "auto" | Module) : "auto");
  if (!known) choice.why.push(`There is no module called '${asked}'; there are: auto, ${MODULES.join(", ")}.`);
  if (named && named !== device) choice.why.push(`There is no device called '${named}'; there are: ${DEVICES.join(", ")}.`);
  const troubles: string[] = [];
  for (const module of choice.candidates) {
    const client = new Client(device);
    try {
      await client.open(module, choice.why, choice.threads, options);
      return client;
    } catch (error) {
      client.close();
      const text = error instanceof Error ? error.message : String(error);
      troubles.push(`${module}: ${text}`);
      choice.why.push(`The module '${module}' did not start here (${text}).`);
    }
  }
  throw new Error(
    `Training could not start (${troubles.join("; ") || "this browser has no WebAssembly with SIMD"}). Update the browser, or run ` +
      `Hothouse natively.`,
  );
}

/** Whether an answer may take the worker longer than a slice of its work. */
const isLong = (message: ToWorker): boolean => {
  if (message.kind === "ask") return message.what !== "shared";
  return message.kind !== "question" && message.kind !== "operations";
};

/** A run in its worker. `Q` and `A` are what its room can be asked, `Question` and `Answers` of its `protocol.ts`. */
export class Client<Q extends { ask: string } = any, A = any> {
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
  /** The default run, until another begins: the one that was asked for waits for its data. */
  standsIn = false;
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "hothouse" });
  private monitor: Monitor | undefined;
  private variantId = "";
  private early: Event[] = [];
  private readonly listeners = {
    event: [] as ((event: Event) => void)[],
    sweep: [] as ((state: SweepState) => void)[],
    crash: [] as ((crash: Crash) => void)[],
    silence: [] as ((silence: Crash | null) => void)[],
  };
  private readonly closing = new AbortController();
  private readonly panics: BroadcastChannel;
  /** Its own among all tabs. (`crypto.randomUUID` is missing where a host has no https.) */
  private readonly channel = `hothouse-${Date.now()}-${Math.random()}`;
  private readonly asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  /** Those of them that may take long; and whether a run is about to begin. */
  private readonly long = new Set<number>();
  private beginning = true;
  private questions = 0;
  /** Beats since its last answer. */
  private silence = 0;
  private silent = false;
  private autosaved: Left | undefined;
  private storing = false;
  private crashText: string | null = null;
  private opened!: { resolve(): void; reject(error: Error): void };

  /** `wished` is what should train. */
  constructor(readonly wished: DeviceWish) {
    this.panics = new BroadcastChannel(this.channel);
    this.panics.onmessage = ({ data }) => this.crashed(String(data), true);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.crashed(event.message || "the worker could not be loaded", false);
    const timer = setInterval(() => this.beat(), BEAT_MS);
    this.closing.signal.addEventListener("abort", () => clearInterval(timer));
  }

  async open(module: Module, why: string[], threads: number, options: Options): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => (this.opened = { resolve, reject }));
    const url = new URL(__MODULES__[`${options.room}/${module}`]!, document.baseURI);
    this.send({
      kind: "open",
      url: url.href,
      threads,
      channel: this.channel,
      config: options.config ?? null,
      checkpoint: options.checkpoint ?? null,
      link: options.link ?? (options.checkpoint ? "" : location.hash),
      device: this.wished,
    });
    if (options.checkpoint) this.autosaved = { bytes: options.checkpoint, variant: "", address: "" };
    await opened;
    if (this.standsIn) await this.leaveVisit(options.link ?? location.hash).catch(() => {});
    this.keptRuns = await loadRuns(this.room.id, options.checkpoint !== undefined).catch(() => []);
    const { threads: used } = this.backend;
    const inUse = module.startsWith("threads") ? [`${used} ${used === 1 ? "thread trains" : "threads train"} on one shared memory.`] : [];
    Object.assign(this.backend, { module, why: [...inUse, ...why] });
    keep([url.href, url.href.replace(/\.js$/, "_bg.wasm")]);
    this.live();
  }

  /** What stands in for a run that this visit saved is another visit's, so that it takes the place of none of its saves. */
  private async leaveVisit(link: string): Promise<void> {
    const asked = link.replace(/&digest=[^&]*/, "");
    if ((await loadVisit(this.room.id)).some(({ address }) => address === asked)) beginVisit();
  }

  // ---- what the worker tells

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case "opened":
        this.take(message);
        break;
      case "knobs":
        this.knobs = message.knobs;
        break;
      case "events":
        this.receiveEvents(message.events, message.cursor);
        break;
      case "monitor":
        this.monitor?.copy(message.words);
        this.readMonitor();
        break;
      case "sweep":
        this.beginning = false;
        for (const listen of this.listeners.sweep) listen(message);
        break;
      case "beat":
        this.silence = 0;
        if (this.silent) for (const listen of this.listeners.silence) listen(null);
        this.silent = false;
        break;
      case "autosave":
        this.keepAutosave({ bytes: message.bytes, variant: message.variant, address: message.address });
        break;
      case "answer":
      case "refused": {
        const asked = this.asked.get(message.id);
        this.asked.delete(message.id);
        this.long.delete(message.id);
        if (message.kind === "answer") asked?.resolve(message.value);
        else asked?.reject(new Error(message.text));
        break;
      }
      case "failed":
      case "crash":
        this.crashed(message.text, false);
    }
  }

  private take({ room, rooms, knobs, backend, monitor, standsIn }: Opened): void {
    Object.assign(this, { room, rooms, knobs, standsIn });
    this.monitor = new Monitor(monitor);
    this.backend = { ...backend, module: "", why: [] };
    this.opened.resolve();
  }

  /** Rows of the monitor before what was told after them. */
  private receiveEvents(events: Event[], cursor: Cursor | null): void {
    this.beginning = false;
    this.readMonitor();
    if (cursor) this.monitor?.begin(cursor);
    events.forEach((event) => this.tell(event));
    this.readMonitor();
  }

  private readMonitor(): void {
    for (const event of this.monitor?.read() ?? []) this.tell(event);
  }

  private tell(event: Event): void {
    if (event.kind === "began") {
      this.device = undefined;
      this.variantId = event.config.variant;
    }
    if (event.kind === "device") this.device = event;
    if (this.listeners.event.length === 0) this.early.push(event);
    for (const listen of this.listeners.event) listen(event);
  }

  private notice(level: Level, text: string, next_step: string): void {
    this.tell({ kind: "notice", level, text, next_step });
  }

  // ---- the page's life

  /** The autosave, the monitor, and what the page's own life means for the worker. */
  private live(): void {
    const { signal } = this.closing;
    const autosave = (): void => this.send({ kind: "autosave" });
    let timer: ReturnType<typeof setTimeout>;
    const again = (): void => {
      timer = setTimeout(() => (autosave(), again()), AUTOSAVE_MS + AUTOSAVE_MS_PER_BYTE * (this.autosaved?.bytes.length ?? 0));
    };
    again();
    document.addEventListener("visibilitychange", () => document.hidden && autosave(), { signal });
    addEventListener("pagehide", autosave, { signal });
    const reader = setInterval(() => this.readMonitor(), READ_HIDDEN_MS);
    let frame = 0;
    const read = (): void => {
      frame = requestAnimationFrame(read);
      this.readMonitor();
    };
    read();
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      clearInterval(reader);
      cancelAnimationFrame(frame);
    });
    this.ownAutosave();
  }

  /** One tab keeps the autosave of a room; another says so, and takes over when the first is closed. */
  private ownAutosave(): void {
    const { signal } = this.closing;
    const released = new Promise<void>((release) => signal.addEventListener("abort", () => release()));
    const own = () => {
      this.storing = true;
      return released;
    };
    if (!("locks" in navigator)) {
      own(); // then no other tab can be asked either
      return;
    }
    const name = `hothouse-autosave-${this.room.id}`;
    const first = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock) return own();
      this.notice(
        "info",
        "Hothouse is open in another tab, and that tab keeps the autosave.",
        "This run trains as well; save it to a file to keep it.",
      );
      navigator.locks.request(name, { signal }, own).catch(() => {}); // closed before its turn came
    });
    first.catch(own);
  }

  private keepAutosave(run: Left): void {
    this.autosaved = run;
    void this.store(run);
  }

  /** Stores a run of the room in this browser, beside those of other variants. */
  async store(run: Left): Promise<void> {
    if (!this.storing) return;
    await saveRun(this.room.id, run).catch((error) => {
      this.storing = false;
      this.notice(
        "warning",
        `This browser refused to store the run (${error instanceof Error ? error.message : error}).`,
        "Training goes on; save it to a file before you close the page.",
      );
    });
  }

  /** A browser that ends a worker, as where memory is short, tells nobody: it no longer answers then. */
  private beat(): void {
    if (this.silence++ === 0) this.send({ kind: "beat" });
    const most = this.beginning || this.long.size > 0 ? BUSY_BEATS : SILENT_BEATS;
    if (this.silent || this.silence < most) return;
    const text = `The worker that trains has not answered for ${(this.silence * BEAT_MS) / 1000} s`;
    if (!this.monitor) return this.crashed(text, true);
    this.silent = true;
    for (const listen of this.listeners.silence) listen({ text, autosave: this.autosaved?.bytes ?? null });
  }

  /** Told by the panicking thread (with the text), by the worker, or by the browser: once. */
  private crashed(text: string, final: boolean): void {
    if (this.closing.signal.aborted) return;
    const first = this.crashText === null;
    if (first || final) this.crashText = text;
    if (!first) return;
    setTimeout(() => {
      if (this.closing.signal.aborted) return;
      this.readMonitor();
      const crash = { text: this.crashText ?? text, autosave: this.autosaved?.bytes ?? null };
      this.close();
      this.opened.reject(new Error(crash.text));
      for (const listen of this.listeners.crash) listen(crash);
    }, CRASH_GATHER_MS);
  }

  // ---- what the page asks and wishes

  /** What is trained. */
  get variant(): Variant {
    return this.room.variants.find(({ id }) => id === this.variantId) ?? this.room.variants[0]!;
  }

  /** How far the run is at this moment, where that can be read. */
  get progress(): Progress | undefined {
    return this.monitor?.progress();
  }

  private send(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  /** The worker answers between two slices of its work, or refuses in words. */
  private question<T>(make: (id: number) => ToWorker, transfer: Transferable[] = []): Promise<T> {
    const id = this.questions++;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve: resolve as (value: unknown) => void, reject });
      const message = make(id);
      if (isLong(message)) this.long.add(id);
      this.send(message, transfer);
    });
  }

  private askRun<Name extends keyof OfHouse>(what: Name): Promise<OfHouse[Name]> {
    return this.question((id) => ({ kind: "ask", id, what }));
  }

  /** A run that was saved to a file, and the room that it is of; what is too large is refused before it is read. */
  async read(file: File): Promise<{ bytes: Uint8Array; room: string }> {
    await this.question((id) => ({ kind: "has_room", id, name: file.name, bytes: file.size }));
    const bytes = new Uint8Array(await contentOf(file));
    const room = await this.question<string>((id) => ({ kind: "room_of", id, bytes }));
    return { bytes, room };
  }
  /** A question of the room's own. */
  ask = <Asked extends Q>(question: Asked): Promise<A[Asked["ask"] & keyof A]> =>
    this.question((id) => ({ kind: "question", id, question }));
  /** Where the time of its gradients has gone since it was looked at; nothing where it has no plan. */
  operations = (look: boolean): Promise<Operation[] | null> => this.question((id) => ({ kind: "operations", id, look }));
  command = (command: Command): void => {
    if (command.kind === "reset" || command.kind === "restore") [this.standsIn, this.beginning] = [false, true];
    this.send({ kind: "command", command });
  };
  /** How fast the room's first counter grows in a second; null is as fast as it goes. */
  setSpeed = (perS: number | null): void => this.send({ kind: "speed", perS });
  /**
   * Gives data to learn from, as a file or as text that was pasted: to the run that waits for it, or to a new one, of `config`
   * where there is one. What cannot be used is refused in words, and what is too large before it is read.
   */
  async bring(source: File | string, config: Config | null = null): Promise<void> {
    const file = typeof source === "string" ? new File([source], "pasted text") : source;
    const data: Dataset = { name: file.name, bytes: file.size, hash: "" };
    await this.question((id) => ({ kind: "fits", id, data, config }));
    const content = await contentOf(file);
    await this.question((id) => ({ kind: "bring", id, data: { ...data, content: new Uint8Array(content) }, config }), [content]);
    this.standsIn = false;
  }
  save = (): Promise<Uint8Array> => this.askRun("save");
  /** What starts the same run elsewhere, and what it cannot bring along. */
  shared = (): Promise<Shared> => this.askRun("shared");
  /** `#/control?variant=…`: the run as a link, with its live changes and its newest digest. */
  permalink = async (): Promise<string> => (await this.shared()).link;
  /** Tests what is learned by now, whatever the pace. */
  test = (): Promise<Row> => this.askRun("test");
  /** Begins a small sweep: the run pauses while it lasts, and goes on after its end or `endSweep`. */
  sweep = (spec: SweepSpec): void => {
    this.beginning = true;
    this.send({ kind: "sweep", spec });
  };
  endSweep = (): void => this.send({ kind: "sweep", spec: null });

  /** These four add a listener. Events from before the first one are kept for it. */
  onEvent = (callback: (event: Event) => void): void => {
    this.listeners.event.push(callback);
    for (const event of this.early.splice(0)) callback(event);
  };
  onSweep = (callback: (state: SweepState) => void): void => void this.listeners.sweep.push(callback);
  onCrash = (callback: (crash: Crash) => void): void => void this.listeners.crash.push(callback);
  /** The worker does not answer; or, with null, it answers again. */
  onSilence = (callback: (silence: Crash | null) => void): void => void this.listeners.silence.push(callback);

  /** Panics on purpose, to see what follows; for tests and the console. */
  panic = (inPool = false): void => this.send({ kind: "panic", inPool });
  /** Lets the GPU fail in a way of one's choice, likewise. */
  failGpu = (how: GpuFailure): void => this.send({ kind: "fail_gpu", how });

  /** The run as it is, and the link that begins it. */
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
    return left ?? this.autosaved;
  }

  close(): void {
    this.closing.abort();
    this.worker.terminate();
    this.panics.close();
    for (const { reject } of this.asked.values()) reject(new Error("The run was closed."));
    this.asked.clear();
  }
}
