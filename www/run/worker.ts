// The worker that a run lives in, of whichever room: it loads a wasm module, works in short slices, and between them takes
// messages, answers and posts what happened. It refuses to know the page, and what any room's question means.

import type {
  Backend,
  Command,
  Config,
  Cursor,
  Dataset,
  DeviceWish,
  Digest,
  Event,
  Knob,
  Layout,
  Operation,
  Progress,
  RoomInfo,
  Row,
  Shared,
  SweepCell,
  SweepSpec,
} from "./protocol";
import { GpuOpener, type GpuFailure, type GraphicsModule, type MayTrainOnGpu } from "./gpu";
import { Monitor, type Place } from "./monitor";
import { inWords, isNotice } from "./notice";
import { BURST_MS, LOOK_MS, Loop, Saves } from "./work";

export interface OfHouse {
  save: Uint8Array;
  shared: Shared;
  test: Row;
}

export type ToWorker =
  | {
      kind: "open";
      url: string;
      threads: number;
      channel: string;
      config: Config | null;
      checkpoint: Uint8Array | null;
      link: string;
      device: DeviceWish;
    }
  | { kind: "command"; command: Command }
  /** The run as it was just before the change whose mark is in this place. */
  | { kind: "save_before"; id: number; mark: number }
  | { kind: "speed"; perS: number | null }
  | { kind: "sweep"; spec: SweepSpec | null }
  | { kind: "ask"; id: number; what: keyof OfHouse }
  | { kind: "room_of"; id: number; bytes: Uint8Array }
  /** Whether there is room for a file of this length. */
  | { kind: "has_room"; id: number; name: string; bytes: number }
  /** Whether a run on data of this length can begin; `config` is that of the run in progress where it is null. */
  | { kind: "fits"; id: number; data: Dataset; config: Config | null }
  /** Data for the run that waits for it, or else for a new one. */
  | { kind: "bring"; id: number; data: Dataset; config: Config | null }
  /** Where the time of its gradients has gone, and whether that is looked at from here on. */
  | { kind: "operations"; id: number; look: boolean }
  /** Of the room's own. */
  | { kind: "question"; id: number; question: { ask: string } }
  | { kind: "autosave" }
  | { kind: "beat" }
  | { kind: "panic"; inPool: boolean }
  | { kind: "fail_gpu"; how: GpuFailure };

/** `standsIn` where this is the default run, since the one that was asked for waits for its data. */
export type Opened = {
  kind: "opened";
  room: RoomInfo;
  rooms: RoomInfo[];
  knobs: Knob[];
  backend: Backend;
  monitor: Place;
  standsIn: boolean;
};
export type FromWorker =
  | Opened
  | { kind: "knobs"; knobs: Knob[] }
  /** In the order in which they were told, with how far the run is by then; and its epoch in the monitor, where one begins. */
  | { kind: "events"; events: Event[]; progress: Progress | null; epoch: number | null; keptBefore: Uint32Array }
  | { kind: "sweep"; cells: SweepCell[]; done: boolean }
  /** A run, of which variant it is, and the link that begins it. */
  | { kind: "autosave"; bytes: Uint8Array; variant: string; address: string }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string }
  | { kind: "beat" }
  | { kind: "failed"; text: string }
  | { kind: "crash"; text: string };

/** The wasm module as crates/web exports it. */
interface Run extends MayTrainOnGpu {
  command(command: Command): void;
  advance(nowS: number): boolean;
  waiting(): boolean;
  preparing(): boolean;
  events(): Event[] | undefined;
  ask(question: { ask: string }): unknown;
  operations(look: boolean): Operation[] | null;
  test(): Row;
  monitor(): number;
  layout(): Layout;
  cursor(): Cursor;
  /** The room's first counter. */
  count(): number;
  expect(digest: Digest): void;
  config(): Config;
  knobs(): Knob[];
  backend(): Backend;
  shared(): Shared;
  kept_before(): Uint32Array;
  save_before(mark: number): Uint8Array;
  /** Refuses a config whose run would not fit beside this one. */
  check_beside(config: Config): void;
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
  rooms(): RoomInfo[];
  decode(link: string): { config: Config; digest: Digest | null };
  room_of(bytes: Uint8Array): string;
  /** Refuses a file that there is no room for. */
  has_room(name: string, bytes: number): void;
  /** What a saved run learns from, where that is not in the file. */
  data_wanted(bytes: Uint8Array): Dataset | undefined;
  /** What runs in the room that a link names, or in the first. */
  default_config(link: string): Config;
  Run: { begin(config: Config): Run; restore(bytes: Uint8Array): Run };
  Sweep: { start(spec: SweepSpec, run: Run): Sweep };
}

/** Rows go to the page together, so often. */
const ROWS_MS = 30;
const SWEEP_MS = 200;
/** At a set speed, the most that may be caught up after a pause of any kind. */
const MOST_CREDIT_S = 0.1;

const page = self as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const nowS = () => performance.now() / 1000;

let wasm: Wasm;
let run: Run;
let memory: WebAssembly.Memory;
let monitor: Monitor;
/** Rows that the page has not got yet; when it got the last; and whether they are sent by themselves. */
const rows: Event[] = [];
let postedMs = 0;
let postAwaited = false;
let running = false;
/** Something was done, so that a GPU can be opened beside it: the first slices wait for nothing. */
let begun = false;
let variant = "";
/** A small sweep in progress, and whether the run goes on after it. */
let sweep: { learners: Sweep; resume: boolean; toldMs: number } | undefined;
/** A run that was refused for want of the data it learns from: it begins when that is brought, unless another has begun. */
let wanting: { command: Command; digest: Digest | null } | undefined;
const pace = { perS: null as number | null, credit: 0, lastS: 0, last: 0 };

const loop = new Loop(() =>
  guarded(() => {
    const sweeping = advanceSweep();
    const restMs = restToKeepPace();
    if (sweeping) loop.wake();
    else if (restMs > 0) loop.sleep(restMs);
    if (restMs > 0) return;
    const until = performance.now() + BURST_MS;
    let [worked, waits] = [true, false];
    while (worked && !waits && performance.now() < until && restToKeepPace() === 0) {
      worked = run.advance(nowS());
      waits = run.waiting();
    }
    begun ||= worked;
    tell();
    if (waits) loop.sleep(LOOK_MS);
    else if (worked) loop.wake();
  }),
);
/** Nobody waits for a text of which there is nothing to save yet. */
const PREPARING: Event = {
  kind: "notice",
  level: "warning",
  text: "This run is still being prepared, and has nothing to save.",
  next_step: "Save it once it learns.",
};
const saves = new Saves(
  () => {
    if (run.preparing()) throw PREPARING;
    run.command({ kind: "save" });
  },
  (given, transfer) =>
    page.postMessage(
      given.kind === "autosave" ? { ...given, variant: run.config().variant, address: run.shared().address } : given,
      transfer,
    ),
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
    sweep = { learners: wasm.Sweep.start(spec, run), resume: running, toldMs: 0 };
  } catch (error) {
    page.postMessage({ kind: "sweep", cells: [], done: true });
    throw error;
  }
  run.command({ kind: "pause" });
}

function endSweep(): void {
  if (!sweep) return;
  sweep.learners.free();
  if (sweep.resume && !running) run.command({ kind: "start" });
  sweep = undefined;
}

/** At a set speed, milliseconds to wait until more is due. */
function restToKeepPace(): number {
  const { perS } = pace;
  if (perS === null) return 0;
  const [now, count] = [nowS(), run.count()];
  pace.credit += (now - pace.lastS) * perS - Math.max(0, count - pace.last);
  pace.credit = Math.min(MOST_CREDIT_S * perS, pace.credit);
  pace.lastS = now;
  pace.last = count;
  return pace.credit >= 0 ? 0 : Math.max(1, (-pace.credit / perS) * 1000);
}

function setSpeed(perS: number | null): void {
  Object.assign(pace, { perS, credit: 0, lastS: nowS(), last: run.count() });
}

/** Posts what happened since the last time: rows first, then what was told after them. */
function tell(): void {
  const events = run.events();
  takeRows();
  if (events) tellEvents(events);
  postRows();
  if (begun) gpu.see(run, wasm);
}

/** Memory that has grown meanwhile is another buffer. */
function look(): void {
  monitor.look(memory.buffer, run.monitor());
}

function takeRows(): void {
  look();
  rows.push(...monitor.read());
}

function tellEvents(events: Event[]): void {
  for (const event of events) {
    if (event.kind === "running") running = event.running;
    if (event.kind !== "began") continue;
    pace.last = run.count();
    if (event.config.variant === variant) continue;
    variant = event.config.variant;
    page.postMessage({ kind: "knobs", knobs: run.knobs() });
  }
  const began = events.some((event) => event.kind === "began");
  const cursor = began ? run.cursor() : null;
  const posted = events.filter((event) => {
    if (event.kind === "saved") saves.deliver(event.bytes);
    else if (event.kind === "not_saved") saves.refuse(event);
    else return true;
    return false;
  });
  if (cursor) monitor.begin(cursor);
  if (posted.length) post(posted, cursor);
  if (!cursor) return;
  takeRows();
  saves.askAgain();
}

/** Rows that wait go first. */
function post(events: Event[], cursor: Cursor | null = null): void {
  postedMs = performance.now();
  look();
  const [told, epoch] = [[...rows.splice(0), ...events], cursor?.epoch ?? null];
  page.postMessage({ kind: "events", events: told, progress: monitor.progress(), epoch, keptBefore: run.kept_before() });
}

/** Posts rows that wait, where that is due by now, or else later: the run may rest from here on. */
function postRows(): void {
  if (rows.length === 0) return;
  const waitMs = postedMs + ROWS_MS - performance.now();
  if (waitMs <= 0) return post([]);
  if (postAwaited) return;
  postAwaited = true;
  setTimeout(() => {
    postAwaited = false;
    postRows();
  }, waitMs);
}

/** A trap in wasm ends the worker; a refusal is an event that the page shows. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isNotice(error)) post([error]);
    else page.postMessage({ kind: "crash", text: String(error) });
  }
}

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  wasm = (await import(/* @vite-ignore */ message.url)) as Wasm;
  memory = (await wasm.default()).memory;
  wasm.forward_panics(message.channel);
  await wasm.initThreadPool?.(message.threads);
  const notices = begin(message);
  const [layout, rooms] = [run.layout(), wasm.rooms()];
  monitor = new Monitor(layout, memory.buffer, run.monitor());
  variant = run.config().variant;
  page.postMessage({
    kind: "opened",
    room: rooms.find(({ id }) => id === run.config().room)!,
    rooms,
    knobs: run.knobs(),
    backend: run.backend(),
    monitor: { layout, offset: run.monitor(), memory: memory.buffer instanceof ArrayBuffer ? null : memory },
    standsIn: wanting !== undefined,
  });
  if (notices.length) post(notices);
  run.command({ kind: "device", wish: message.device });
  run.command({ kind: "start" });
  loop.wake();
}

/** Starts what was asked for; where that is refused, says why and starts the default run. */
function begin({ config, checkpoint, link }: ToWorker & { kind: "open" }): Event[] {
  let command: Command | undefined;
  let digest: Digest | null = null;
  try {
    if (checkpoint) {
      command = { kind: "restore", bytes: checkpoint };
      run = wasm.Run.restore(checkpoint);
      // What a link told is still to be reached, where the run goes on that it began.
      digest = digestOf(link);
      if (digest) run.expect(digest);
    } else {
      if (!config) ({ config, digest } = wasm.decode(link));
      command = { kind: "reset", config };
      run = wasm.Run.begin(config);
      if (digest) run.expect(digest);
    }
    return [];
  } catch (error) {
    if (!isNotice(error)) throw error;
    if (command && wantsData(command)) wanting = { command, digest };
    run = wasm.Run.begin(wasm.default_config(link));
    return [error];
  }
}

function digestOf(link: string): Digest | null {
  try {
    return link ? wasm.decode(link).digest : null;
  } catch {
    return null; // whatever is wrong with it, the run goes on
  }
}

/** Whether a run that was refused learns from data that is not here. */
function wantsData(command: Command): boolean {
  try {
    if (command.kind === "restore") return !command.data && wasm.data_wanted(command.bytes) !== undefined;
    return command.kind === "reset" && !!command.config?.data && !command.config.data.content;
  } catch {
    return false; // damaged, which was told
  }
}

/** A command; a run that is refused for want of its data is remembered, and forgotten when another begins. */
function obey(command: Command, digest: Digest | null = null): void {
  const another = command.kind === "reset" || command.kind === "restore";
  try {
    run.command(command);
    if (digest) run.expect(digest);
    if (another) wanting = undefined;
  } catch (error) {
    if (another && wantsData(command)) wanting = { command, digest };
    throw error;
  }
}

/** Data that the page brings: for the run that waits for it, or for a new one. */
function bring(data: Dataset, config: Config | null): void {
  const waits = config ? undefined : wanting?.command;
  if (waits?.kind === "restore") obey({ ...waits, data });
  else if (waits?.kind === "reset") {
    // The hash says which data is wanted; other data is refused.
    const wanted = waits.config!;
    obey({ kind: "reset", config: { ...wanted, data: { ...wanted.data!, content: data.content } } }, wanting!.digest);
  } else obey({ kind: "reset", config: { ...(config ?? run.config()), data } });
}

/** Arrays of an answer go over without being copied: they were made for it alone. */
const arraysOf = (value: unknown): Transferable[] =>
  (value instanceof Uint8Array ? [value] : Object.values(value ?? {})).flatMap((one) => (one instanceof Uint8Array ? [one.buffer] : []));

function answer(asked: Extract<ToWorker, { id: number }>): void {
  const { id } = asked;
  const give = (value: unknown) => page.postMessage({ kind: "answer", id, value }, arraysOf(value));
  try {
    if (asked.kind === "question") give(run.ask(asked.question));
    else if (asked.kind === "operations") give(run.operations(asked.look));
    else if (asked.kind === "room_of") give(wasm.room_of(asked.bytes));
    else if (asked.kind === "has_room") give(wasm.has_room(asked.name, asked.bytes));
    else if (asked.kind === "fits") give(run.check_beside({ ...(asked.config ?? run.config()), data: asked.data }));
    else if (asked.kind === "bring") give(bring(asked.data, asked.config));
    else if (asked.kind === "save_before") give(run.save_before(asked.mark));
    else if (asked.what === "save") saves.ask(id);
    else if (asked.what === "shared") give(run.shared() satisfies OfHouse["shared"]);
    else give(run.test() satisfies OfHouse["test"]);
  } catch (error) {
    if (!isNotice(error)) throw error;
    page.postMessage({ kind: "refused", id, text: inWords(error) });
  }
}

page.onmessage = ({ data }) => {
  if (data.kind === "beat") return page.postMessage(data);
  if (data.kind === "open") {
    open(data).catch((error) => page.postMessage({ kind: "failed", text: isNotice(error) ? inWords(error) : String(error) }));
    return;
  }
  guarded(() => {
    if ("id" in data) {
      answer(data);
      // A view may ask sixty times a second: the loop goes on by itself.
      if (data.kind === "operations" || data.kind === "room_of" || data.kind === "has_room") return;
    } else if (data.kind === "autosave") saves.ask("autosave");
    else if (data.kind === "panic") wasm.panic_for_test(data.inPool);
    else if (data.kind === "fail_gpu") gpu.fail(data.how);
    else if (data.kind === "speed") setSpeed(data.perS);
    else if (data.kind === "sweep") {
      if (data.spec) beginSweep(data.spec);
      else endSweep();
    } else {
      if (data.command.kind === "device") gpu.letGoOfFailed(run);
      obey(data.command);
    }
    tell();
    loop.wake();
  });
};
