// The worker that an experiment lives in: it loads a wasm module, works in short slices, and
// between them takes messages and posts what happened. It refuses to know the page.

import type {
  Backend,
  Command,
  Config,
  Cursor,
  Digest,
  Environment,
  Evaluation,
  Event,
  Frame,
  Knob,
  Layout,
  Picture,
  PlanView,
  Stage,
  SweepCell,
  SweepSpec,
  Touch,
} from "./protocol";
import { GpuOpener, type GraphicsModule, type MayTrainOnGpu } from "./gpu";
import type { Told } from "./handle";
import type { Place } from "./monitor";
import { BURST_MS, isNotice, LOOK_MS, Loop, Saves } from "./work";

/** What the page asks and waits for, by name. */
export interface Answers {
  save: Uint8Array;
  plan: PlanView;
  permalink: string;
  native_command: string;
  evaluate: Evaluation;
  picture: Picture;
}

export type ToWorker =
  | Told
  | { kind: "command"; command: Command }
  | { kind: "speed"; ticksPerS: number | null }
  | { kind: "touch"; touch: Touch }
  | { kind: "sweep"; spec: SweepSpec | null }
  | { kind: "ask"; id: number; what: keyof Answers; size: [number, number] };

export type FromWorker =
  | { kind: "opened"; knobs: Knob[]; environments: Environment[]; backend: Backend; monitor: Place }
  | { kind: "knobs"; knobs: Knob[] }
  | { kind: "failed"; text: string }
  /** All but metrics and evaluations, which are in the monitor; where a run begins, from there on. */
  | { kind: "events"; events: Event[]; cursor: Cursor | null }
  /** What of the monitor can change, where memory is not shared. */
  | { kind: "monitor"; words: ArrayBuffer }
  | { kind: "frame"; frame: Frame }
  | { kind: "stage"; stage: Stage }
  | { kind: "sweep"; cells: SweepCell[]; done: boolean }
  | { kind: "autosave"; bytes: Uint8Array }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string }
  | { kind: "crash"; text: string };

/** The wasm module as crates/web exports it. */
interface Lab extends MayTrainOnGpu {
  command(command: Command): void;
  advance(nowS: number): boolean;
  waiting(): boolean;
  events(): Event[] | undefined;
  monitor(): number;
  cursor(): Cursor;
  frame(): Frame | undefined;
  touch(touch: Touch): Stage;
  expect(digest: Digest): void;
  env_steps(): number;
  knobs(): Knob[];
  plan(): PlanView;
  backend(): Backend;
  evaluate(episodes: number, seed: number): Evaluation;
  picture(width: number, height: number): Picture;
  permalink(digest: Digest | null): string;
  native_command(): string;
}
interface Sweep {
  advance(nowS: number): boolean;
  cells(): SweepCell[];
  free(): void;
}
interface Wasm extends GraphicsModule {
  default(): Promise<{ memory: WebAssembly.Memory }>;
  initThreadPool?(threads: number): Promise<unknown>;
  forward_panics(channel: string): void;
  panic_for_test(inPool: boolean): void;
  decode(link: string): { config: Config; digest: Digest | null };
  default_config(): Config;
  layout(): Layout;
  environments(): Environment[];
  Lab: { start(config: Config): Lab; restore(bytes: Uint8Array): Lab };
  Sweep: { start(spec: SweepSpec): Sweep };
}

const FRAME_MS = 1000 / 60;
/** How often the page gets a copy of the monitor where memory is not shared. */
const COPY_MS = 125;
const WORD = 8;
const SWEEP_MS = 200;
/** At a set speed, the most that may be caught up after a pause of any kind. */
const MOST_CREDIT_S = 0.1;

const page = self as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const nowS = () => performance.now() / 1000;

let wasm: Wasm;
let lab: Lab;
let memory: WebAssembly.Memory;
let layout: Layout;
let shared = false;
/** Of the last copy: when it was sent, and how many metrics the monitor had; and whether the next one is due by itself. */
const copied = { ms: 0, head: 0, awaited: false };
let visible = true;
let lastFrameMs = 0;
let running = false;
let env = "";
/** A small sweep in progress, and whether the run goes on after it. */
let sweep: { learners: Sweep; resume: boolean; toldMs: number } | undefined;
let lastDigest: Digest | null = null;
const pace = { ticksPerS: null as number | null, envs: 1, creditTicks: 0, lastS: 0, lastSteps: 0 };

const loop = new Loop(() =>
  guarded(() => {
    const sweeping = advanceSweep();
    const restMs = restToKeepPace();
    if (sweeping) {
      loop.wake();
      if (restMs > 0) return;
    } else if (restMs > 0) {
      loop.sleep(restMs);
      return;
    }
    const until = performance.now() + BURST_MS;
    let [worked, waits] = [true, false];
    while (worked && !waits && performance.now() < until && restToKeepPace() === 0) {
      worked = lab.advance(nowS());
      waits = lab.waiting();
    }
    tell();
    if (waits) loop.sleep(LOOK_MS);
    else if (worked) loop.wake();
  }),
);
const saves = new Saves(
  () => lab.command({ kind: "save" }),
  (given, transfer) => page.postMessage(given, transfer),
);
const gpu = new GpuOpener(loop.wake, (error) => page.postMessage({ kind: "crash", text: String(error) }));

/** One slice of the sweep, where there is one; it goes on beside the run, which is mostly paused then. */
function advanceSweep(): boolean {
  if (!sweep) return false;
  const goesOn = sweep.learners.advance(nowS());
  const now = performance.now();
  if (now - sweep.toldMs > SWEEP_MS || !goesOn) {
    sweep.toldMs = now;
    page.postMessage({ kind: "sweep", cells: sweep.learners.cells(), done: !goesOn });
  }
  if (!goesOn) endSweep();
  return goesOn;
}

function beginSweep(spec: SweepSpec): void {
  endSweep();
  try {
    sweep = { learners: wasm.Sweep.start(spec), resume: running, toldMs: 0 };
  } catch (error) {
    page.postMessage({ kind: "sweep", cells: [], done: true });
    throw error;
  }
  lab.command({ kind: "pause" });
}

function endSweep(): void {
  if (!sweep) return;
  sweep.learners.free();
  if (sweep.resume && !running) lab.command({ kind: "start" });
  sweep = undefined;
}

/** At a set speed, milliseconds to wait until the next tick of the environments is due. */
function restToKeepPace(): number {
  const now = nowS();
  const steps = lab.env_steps();
  if (pace.ticksPerS !== null) {
    const most = Math.max(1, MOST_CREDIT_S * pace.ticksPerS);
    pace.creditTicks += (now - pace.lastS) * pace.ticksPerS - Math.max(0, steps - pace.lastSteps) / pace.envs;
    pace.creditTicks = Math.min(most, pace.creditTicks);
  }
  pace.lastS = now;
  pace.lastSteps = steps;
  return pace.ticksPerS === null || pace.creditTicks >= 0 ? 0 : Math.max(1, (-pace.creditTicks / pace.ticksPerS) * 1000);
}

/** Posts what happened since the last time, and a frame when one is due. */
function tell(): void {
  const events = lab.events();
  if (events) {
    for (const event of events) {
      if (event.kind === "digest")
        lastDigest = { iteration: event.iteration, weights: event.weights, arithmetic: event.arithmetic };
      if (event.kind === "mark") lastDigest = null; // a link cannot tell of live changes, so its digest would not be reached
      if (event.kind === "running") running = event.running;
      if (event.kind === "began") {
        lastDigest = null;
        if (event.environment.id !== env) {
          env = event.environment.id;
          page.postMessage({ kind: "knobs", knobs: lab.knobs() });
        }
        pace.envs = event.knobs.envs || 1;
        pace.lastSteps = event.progress.env_steps;
      }
    }
    const posted = events.filter((event) => event.kind !== "saved" || saves.deliver(event.bytes));
    if (posted.length) {
      copyMonitor(0);
      const begun = posted.some((event) => event.kind === "began");
      page.postMessage({ kind: "events", events: posted, cursor: begun ? lab.cursor() : null });
    }
    if (events.some((event) => event.kind === "began")) saves.askAgain();
  }
  copyMonitor(COPY_MS);
  if (lab.env_steps() > 0) gpu.see(lab, wasm); // a first step waits for nothing
  const now = performance.now();
  if (now - lastFrameMs < FRAME_MS) return;
  lastFrameMs = now;
  const frame = lab.frame();
  if (frame && visible) page.postMessage({ kind: "frame", frame }, [frame.observations.buffer, frame.ended.buffer]);
}

/** Where memory is not shared, posts the part of the monitor that the page reads, if there is news and it is time. */
function copyMonitor(everyMs: number): void {
  if (shared) return;
  const head = Number(new BigUint64Array(memory.buffer, lab.monitor(), layout.words)[layout.metrics.head]);
  if (head === copied.head) return;
  const now = performance.now();
  if (now - copied.ms < everyMs) {
    // The run may rest from here on, and nothing else would send it.
    if (!copied.awaited) setTimeout(() => ((copied.awaited = false), guarded(() => copyMonitor(0))), everyMs);
    copied.awaited = true;
    return;
  }
  copied.ms = now;
  copied.head = head;
  const words = memory.buffer.slice(lab.monitor(), lab.monitor() + WORD * layout.histories) as ArrayBuffer;
  page.postMessage({ kind: "monitor", words }, [words]);
}

/** A trap in wasm ends the worker; a refusal is an event that the page shows. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isNotice(error)) page.postMessage({ kind: "events", events: [error], cursor: null });
    else page.postMessage({ kind: "crash", text: String(error) });
  }
}

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  wasm = (await import(/* @vite-ignore */ message.url)) as Wasm;
  memory = (await wasm.default()).memory;
  shared = !(memory.buffer instanceof ArrayBuffer);
  layout = wasm.layout();
  wasm.forward_panics(message.channel);
  await wasm.initThreadPool?.(message.threads);
  const notices = begin(message);
  page.postMessage({
    kind: "opened",
    knobs: lab.knobs(),
    environments: wasm.environments(),
    backend: lab.backend(),
    monitor: { layout, offset: lab.monitor(), memory: shared ? memory : null },
  });
  if (notices.length) page.postMessage({ kind: "events", events: notices, cursor: null });
  lab.command({ kind: "device", wish: message.device });
  lab.command({ kind: "start" });
  loop.wake();
}

/** Starts what was asked for; where that is refused, says why and starts the default run. */
function begin({ config, checkpoint, link }: ToWorker & { kind: "open" }): Event[] {
  try {
    if (checkpoint) lab = wasm.Lab.restore(checkpoint);
    else if (config) lab = wasm.Lab.start(config);
    else {
      const decoded = wasm.decode(link);
      lab = wasm.Lab.start(decoded.config);
      if (decoded.digest) lab.expect(decoded.digest);
    }
    return [];
  } catch (error) {
    if (!isNotice(error)) throw error;
    lab = wasm.Lab.start(wasm.default_config());
    return [error];
  }
}

function answer({ id, what, size }: ToWorker & { kind: "ask" }): void {
  const give = <Name extends keyof Answers>(_: Name, value: Answers[Name]) => page.postMessage({ kind: "answer", id, value });
  if (what === "save") saves.ask(id);
  else if (what === "plan") give(what, lab.plan());
  else if (what === "permalink") give(what, lab.permalink(lastDigest));
  else if (what === "native_command") give(what, lab.native_command());
  else if (what === "picture") give(what, lab.picture(...size));
  else give(what, lab.evaluate(100, 0));
}

page.onmessage = ({ data }) => {
  if (data.kind === "open") {
    open(data).catch((error) => page.postMessage({ kind: "failed", text: String(error) }));
    return;
  }
  guarded(() => {
    if (data.kind === "touch") page.postMessage({ kind: "stage", stage: lab.touch(data.touch) });
    else if (data.kind === "visible") visible = data.visible;
    else if (data.kind === "autosave") saves.ask("autosave");
    else if (data.kind === "panic") wasm.panic_for_test(data.inPool);
    else if (data.kind === "fail_gpu") gpu.fail(data.how);
    else if (data.kind === "ask") {
      try {
        answer(data);
      } catch (error) {
        if (!isNotice(error)) throw error;
        page.postMessage({ kind: "refused", id: data.id, text: `${error.text} ${error.next_step}` });
      }
    } else if (data.kind === "sweep") {
      if (data.spec) beginSweep(data.spec);
      else endSweep();
    } else if (data.kind === "speed") {
      pace.ticksPerS = data.ticksPerS;
      pace.creditTicks = 0;
    } else if (data.command.kind === "save") saves.ask("command");
    else {
      if (data.command.kind === "device") gpu.letGoOfFailed(lab);
      lab.command(data.command);
    }
    if (data.kind !== "touch") {
      tell();
      loop.wake();
    }
  });
};
