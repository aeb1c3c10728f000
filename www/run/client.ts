// The page's handle on an experiment: it chooses the wasm module, starts the worker, keeps an
// autosave, and tells of a crash. It refuses to draw anything.

import type { Answers, FromWorker, ToWorker } from "./worker";
import type { GpuFailure } from "./gpu";
import type {
  Command,
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
import { Handle, openFastest, type Crash, type InUse, type Options, type Tells } from "./handle";
import { Monitor } from "./monitor";
import type { Saved } from "./store";

export type { Crash } from "./handle";

/** A hidden page draws no frames, and reads the monitor more seldom. */
const READ_HIDDEN_MS = 500;

/** How a small sweep stands. */
export type SweepState = { cells: SweepCell[]; done: boolean };

export interface Lab {
  /** Of the environment that is trained in; another has other defaults. */
  readonly knobs: Knob[];
  readonly environments: Environment[];
  readonly backend: InUse;
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
  /** Closes it with its autosave as new as can be, which it gives back. */
  leave(): Promise<Uint8Array | null>;
  close(): void;
}

const AUTOSAVE_MS = 10_000;

export const connect = (options: Options = {}): Promise<Lab> => openFastest(options, (wished) => new WorkerLab(wished));

class WorkerLab extends Handle implements Lab {
  knobs: Knob[] = [];
  environments: Environment[] = [];

  private early: Event[] = [];
  private readonly listeners = {
    event: [] as ((event: Event) => void)[],
    frame: [] as ((frame: Frame) => void)[],
    stage: [] as ((stage: Stage) => void)[],
    sweep: [] as ((state: SweepState) => void)[],
  };
  private monitor: Monitor | undefined;

  constructor(wished: DeviceWish) {
    super(wished, new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "hothouse" }), "control", AUTOSAVE_MS);
  }

  protected override alive(): void {
    const reader = setInterval(() => this.readMonitor(), READ_HIDDEN_MS);
    let frame = 0;
    const read = () => {
      frame = requestAnimationFrame(read);
      this.readMonitor();
    };
    read();
    this.closing.signal.addEventListener("abort", () => {
      clearInterval(reader);
      cancelAnimationFrame(frame);
    });
  }

  protected override beforeCrash(): void {
    this.readMonitor();
  }

  protected override receive(message: FromWorker): void {
    if (message.kind === "frame") for (const listen of this.listeners.frame) listen(message.frame);
    else if (message.kind === "stage") for (const listen of this.listeners.stage) listen(message.stage);
    else if (message.kind === "sweep") for (const listen of this.listeners.sweep) listen(message);
    else if (message.kind === "knobs") this.knobs = message.knobs;
    else if (message.kind === "events") this.receiveEvents(message.events, message.cursor);
    else if (message.kind === "monitor") {
      this.monitor?.copy(message.words);
      this.readMonitor();
    }
    else if (message.kind === "opened") {
      this.knobs = message.knobs;
      this.environments = message.environments;
      this.monitor = new Monitor(message.monitor);
      this.ready(message.backend);
    } else this.common(message satisfies Tells);
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

  private tell(event: Event): void {
    if (event.kind === "began") this.device = undefined;
    if (event.kind === "device") this.device = event;
    if (this.listeners.event.length === 0) this.early.push(event);
    for (const listen of this.listeners.event) listen(event);
  }

  protected override notice(level: Level, text: string, next_step: string): void {
    this.tell({ kind: "notice", level, text, next_step });
  }

  protected override send(message: ToWorker): void {
    super.send(message);
  }

  private question<Name extends keyof Answers>(what: Name, size: [number, number] = [0, 0]): Promise<Answers[Name]> {
    return this.ask({ what, size });
  }

  command = (command: Command) => this.send({ kind: "command", command });
  setSpeed = (ticksPerS: number | null) => this.send({ kind: "speed", ticksPerS });
  touch = (touch: Touch) => this.send({ kind: "touch", touch });
  save = () => this.question("save");
  plan = () => this.question("plan");
  permalink = () => this.question("permalink");
  nativeCommand = () => this.question("native_command");
  evaluate = () => this.question("evaluate");
  picture = (width: number, height: number) => this.question("picture", [width, height]);
  sweep = (spec: SweepSpec) => this.send({ kind: "sweep", spec });
  endSweep = () => this.send({ kind: "sweep", spec: null });

  onEvent = (callback: (event: Event) => void) => {
    this.listeners.event.push(callback);
    for (const event of this.early.splice(0)) callback(event);
  };
  onFrame = (callback: (frame: Frame) => void) => void this.listeners.frame.push(callback);
  onStage = (callback: (stage: Stage) => void) => void this.listeners.stage.push(callback);
  onSweep = (callback: (state: SweepState) => void) => void this.listeners.sweep.push(callback);

  override leave(): Promise<Uint8Array | null> {
    this.setSpeed(null); // at real time the end of an iteration is far
    return super.leave();
  }
}
