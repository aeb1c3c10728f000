// The page's handle on an experiment: it chooses the wasm module, starts the worker, keeps an
// autosave, and tells of a crash. It refuses to draw anything.

import type { Answers, FromWorker, GpuFailure, ToWorker } from "./worker";
import type {
  Backend,
  Command,
  Config,
  Cursor,
  Device,
  DeviceWish,
  Environment,
  Evaluation,
  Event,
  Frame,
  Knob,
  Level,
  Picture,
  PlanView,
  Stage,
  SweepCell,
  SweepSpec,
  Touch,
} from "./protocol";
import { choose, MODULES, type Module } from "./features";
import { isolate, keep } from "./isolate";
import { Monitor } from "./monitor";
import { loadRuns, saveRun, type Saved } from "./store";

/** Where the build put each module, relative to the page; written by the build. */
declare const __MODULES__: Record<Module, string>;

/** A hidden page draws no frames, and reads the monitor more seldom. */
const READ_HIDDEN_MS = 500;
const AUTOSAVE_MS = 10_000;
const AUTOSAVE_LOCK = "hothouse-autosave";
/** A panic's text and the trap it causes arrive on two ways; the text is worth a short wait. */
const CRASH_GATHER_MS = 200;

export interface Options {
  config?: Config;
  /** Goes on from a saved run; the config is then in the file. */
  checkpoint?: Uint8Array;
  /** A permalink (`location.hash`): used where there is neither config nor checkpoint. */
  link?: string;
  /** A module by name instead of the fastest; also `?use=scalar` in the page's address. */
  use?: "auto" | Module;
  /** What should train; also `?device=gpu` in the page's address, which goes first. */
  device?: DeviceWish;
}

export const DEVICES: DeviceWish[] = ["auto", "cpu", "gpu"];

export interface Crash {
  text: string;
  /** The run as it was last saved, to go on from: `connect({ checkpoint })`. */
  autosave: Uint8Array | null;
}

/** How a small sweep stands. */
export type SweepState = { cells: SweepCell[]; done: boolean };

export interface Lab {
  /** Of the environment that is trained in; another has other defaults. */
  readonly knobs: Knob[];
  readonly environments: Environment[];
  readonly backend: Backend & { module: string; why: string[] };
  /** What trains, once that is decided for this run. */
  readonly device: Device | undefined;
  /** What was wished for when the page opened. */
  readonly wished: DeviceWish;
  /** The runs of earlier visits that this browser held when the page opened, the newest first. */
  readonly keptRuns: Saved[];
  command(command: Command): void;
  /** Steps that each environment takes in a second; null is as fast as it goes. */
  setSpeed(ticksPerS: number | null): void;
  touch(touch: Touch): void;
  save(): Promise<Uint8Array>;
  plan(): Promise<PlanView>;
  /** `#/control?env=…`: the run as a link, with its newest digest where no knob was changed live. */
  permalink(): Promise<string>;
  nativeCommand(): Promise<string>;
  evaluate(): Promise<Evaluation>;
  /** What the policy would do and the critic expects all over the environment's plane. */
  picture(width: number, height: number): Promise<Picture>;
  /** Begins a small sweep: the run pauses while it lasts, and goes on after its end or `endSweep`. */
  sweep(spec: SweepSpec): void;
  endSweep(): void;
  /** These five add a listener. Events from before the first listener are kept for it. */
  onEvent(callback: (event: Event) => void): void;
  onFrame(callback: (frame: Frame) => void): void;
  onStage(callback: (stage: Stage) => void): void;
  onSweep(callback: (state: SweepState) => void): void;
  onCrash(callback: (crash: Crash) => void): void;
  /** Panics on purpose, to see what follows; for tests and the console. */
  panic(inPool?: boolean): void;
  /** Lets the GPU fail in a way of one's choice, likewise. */
  failGpu(how: GpuFailure): void;
  close(): void;
}

declare global {
  /** The newest lab, for the browser's console: `hothouse.command({ kind: "pause" })`. */
  var hothouse: Lab | undefined;
}

export async function connect(options: Options = {}): Promise<Lab> {
  await isolate();
  const asked = options.use ?? new URLSearchParams(location.search).get("use") ?? "auto";
  const known = asked === "auto" || (MODULES as readonly string[]).includes(asked);
  const choice = choose(known ? (asked as "auto" | Module) : "auto");
  if (!known) choice.why.push(`There is no module called '${asked}'; there are: auto, ${MODULES.join(", ")}.`);
  const named = new URLSearchParams(location.search).get("device");
  const device = DEVICES.find((one) => one === named) ?? options.device ?? "auto";
  if (named && named !== device) choice.why.push(`There is no device called '${named}'; there are: ${DEVICES.join(", ")}.`);
  const troubles: string[] = [];
  for (const module of choice.candidates) {
    const lab = new WorkerLab();
    try {
      await lab.open(module, choice.why, choice.threads, { ...options, device });
      globalThis.hothouse = lab;
      return lab;
    } catch (error) {
      lab.close();
      const text = error instanceof Error ? error.message : String(error);
      troubles.push(`${module}: ${text}`);
      choice.why.push(`The module '${module}' did not start here (${text}).`);
    }
  }
  throw new Error(
    `Training could not start (${troubles.join("; ") || "this browser has no WebAssembly"}). Update the browser, or run Hothouse natively.`,
  );
}

class WorkerLab implements Lab {
  knobs: Knob[] = [];
  environments: Environment[] = [];
  backend!: Lab["backend"];
  device: Device | undefined;
  wished: DeviceWish = "auto";
  keptRuns: Saved[] = [];

  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "hothouse" });
  private readonly panics: BroadcastChannel;
  /** Its own among all tabs. (`crypto.randomUUID` is missing where a host has no https.) */
  private readonly channel = `hothouse-${Date.now()}-${Math.random()}`;
  private readonly closing = new AbortController();
  private readonly asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private questions = 0;
  private autosave: Uint8Array | null = null;
  private storing = false;
  private early: Event[] = [];
  private readonly listeners = {
    event: [] as ((event: Event) => void)[],
    frame: [] as ((frame: Frame) => void)[],
    stage: [] as ((stage: Stage) => void)[],
    sweep: [] as ((state: SweepState) => void)[],
    crash: [] as ((crash: Crash) => void)[],
  };
  private monitor: Monitor | undefined;
  private crashText: string | null = null;
  private opened!: { resolve(): void; reject(error: Error): void };

  constructor() {
    this.panics = new BroadcastChannel(this.channel);
    this.panics.onmessage = ({ data }) => this.crashed(String(data), true);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = (event) => this.crashed(event.message || "the worker could not be loaded", false);
  }

  async open(module: Module, why: string[], threads: number, options: Options): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => (this.opened = { resolve, reject }));
    const url = new URL(__MODULES__[module], document.baseURI);
    this.wished = options.device ?? "auto";
    this.send({
      kind: "open",
      url: url.href,
      threads,
      channel: this.channel,
      config: options.config ?? null,
      checkpoint: options.checkpoint ?? null,
      link: options.link ?? location.hash,
      device: this.wished,
    });
    this.autosave = options.checkpoint ?? null;
    this.keptRuns = await loadRuns().catch(() => []);
    await opened;
    Object.assign(this.backend, { module, why: [...this.threadsInUse(module), ...why] });
    keep([url.href, url.href.replace(/\.js$/, "_bg.wasm")]);
    this.live();
  }

  private threadsInUse(module: Module): string[] {
    const threads = this.backend.threads;
    return module.startsWith("threads")
      ? [`${threads} ${threads === 1 ? "thread trains" : "threads train"} on one shared memory.`]
      : [];
  }

  /** Autosave, and what the page's own life means for the worker. */
  private live(): void {
    const { signal } = this.closing;
    const timer = setInterval(() => this.send({ kind: "autosave" }), AUTOSAVE_MS);
    const reader = setInterval(() => this.readMonitor(), READ_HIDDEN_MS);
    let frame = 0;
    const read = () => {
      frame = requestAnimationFrame(read);
      this.readMonitor();
    };
    read();
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      clearInterval(reader);
      cancelAnimationFrame(frame);
    });
    const seen = () => {
      this.send({ kind: "visible", visible: !document.hidden });
      if (document.hidden) this.send({ kind: "autosave" });
    };
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pagehide", () => this.send({ kind: "autosave" }), { signal });
    seen();
    this.ownAutosave();
  }

  /** One tab keeps the autosave; another says so, and takes over when the first is closed. */
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
    const first = navigator.locks.request(AUTOSAVE_LOCK, { ifAvailable: true }, (lock) => {
      if (lock) return own();
      this.notice(
        "info",
        "Hothouse is open in another tab, and that tab keeps the autosave.",
        "This run trains as well; save it to a file to keep it.",
      );
      navigator.locks.request(AUTOSAVE_LOCK, { signal }, own).catch(() => {}); // closed before its turn came
    });
    first.catch(own);
  }

  private receive(message: FromWorker): void {
    if (message.kind === "frame") for (const listen of this.listeners.frame) listen(message.frame);
    else if (message.kind === "stage") for (const listen of this.listeners.stage) listen(message.stage);
    else if (message.kind === "sweep") for (const listen of this.listeners.sweep) listen(message);
    else if (message.kind === "knobs") this.knobs = message.knobs;
    else if (message.kind === "events") this.receiveEvents(message.events, message.cursor);
    else if (message.kind === "monitor") {
      this.monitor?.copy(message.words);
      this.readMonitor();
    }
    else if (message.kind === "autosave") this.keepAutosave(message.bytes);
    else if (message.kind === "crash") this.crashed(message.text, false);
    else if (message.kind === "failed") this.crashed(message.text, false);
    else if (message.kind === "opened") {
      this.knobs = message.knobs;
      this.environments = message.environments;
      this.monitor = new Monitor(message.monitor);
      this.backend = { ...message.backend, module: "", why: [] };
      this.opened.resolve();
    } else {
      const asked = this.asked.get(message.id);
      this.asked.delete(message.id);
      if (message.kind === "answer") asked?.resolve(message.value);
      else asked?.reject(new Error(message.text));
    }
  }

  /** Metrics and evaluations before what was told after them. */
  private receiveEvents(events: Event[], cursor: Cursor | null): void {
    this.readMonitor();
    if (cursor) this.monitor?.begin(cursor);
    events.forEach((event) => this.tell(event));
    this.readMonitor();
  }

  private readMonitor(): void {
    for (const event of this.monitor?.read() ?? []) this.tell(event);
  }

  private keepAutosave(bytes: Uint8Array): void {
    this.autosave = bytes;
    if (!this.storing) return;
    saveRun(bytes).catch((error) => {
      this.storing = false;
      this.notice(
        "warning",
        `This browser refused to store the run (${error instanceof Error ? error.message : error}).`,
        "Training goes on; save it to a file before you close the page.",
      );
    });
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
      const crash = { text: this.crashText ?? text, autosave: this.autosave };
      this.close();
      this.opened.reject(new Error(crash.text));
      for (const listen of this.listeners.crash) listen(crash);
    }, CRASH_GATHER_MS);
  }

  private tell(event: Event): void {
    if (event.kind === "began") this.device = undefined;
    if (event.kind === "device") this.device = event;
    if (this.listeners.event.length === 0) this.early.push(event);
    for (const listen of this.listeners.event) listen(event);
  }

  private notice(level: Level, text: string, next_step: string): void {
    this.tell({ kind: "notice", level, text, next_step });
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private ask<Name extends keyof Answers>(what: Name, size: [number, number] = [0, 0]): Promise<Answers[Name]> {
    const id = this.questions++;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.send({ kind: "ask", id, what, size } as ToWorker);
    });
  }

  command = (command: Command) => this.send({ kind: "command", command });
  setSpeed = (ticksPerS: number | null) => this.send({ kind: "speed", ticksPerS });
  touch = (touch: Touch) => this.send({ kind: "touch", touch });
  panic = (inPool = false) => this.send({ kind: "panic", inPool });
  failGpu = (how: GpuFailure) => this.send({ kind: "fail_gpu", how });
  save = () => this.ask("save");
  plan = () => this.ask("plan");
  permalink = () => this.ask("permalink");
  nativeCommand = () => this.ask("native_command");
  evaluate = () => this.ask("evaluate");
  picture = (width: number, height: number) => this.ask("picture", [width, height]);
  sweep = (spec: SweepSpec) => this.send({ kind: "sweep", spec });
  endSweep = () => this.send({ kind: "sweep", spec: null });

  onEvent = (callback: (event: Event) => void) => {
    this.listeners.event.push(callback);
    for (const event of this.early.splice(0)) callback(event);
  };
  onFrame = (callback: (frame: Frame) => void) => void this.listeners.frame.push(callback);
  onStage = (callback: (stage: Stage) => void) => void this.listeners.stage.push(callback);
  onSweep = (callback: (state: SweepState) => void) => void this.listeners.sweep.push(callback);
  onCrash = (callback: (crash: Crash) => void) => void this.listeners.crash.push(callback);

  close(): void {
    this.closing.abort();
    this.worker.terminate();
    this.panics.close();
    for (const { reject } of this.asked.values()) reject(new Error("The experiment was closed."));
    this.asked.clear();
  }
}
