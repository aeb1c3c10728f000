// The worker of a run. It loads a wasm module and trains in short slices. Between two slices, the worker handles messages and posts events.
// The worker does not depend on the page or on the meaning of a room's questions.

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
  Problem,
  Progress,
  RoomInfo,
  Row,
  Shared,
  SweepCell,
  SweepSpec,
  Variant,
} from "./protocol";
import { GpuOpener, type GpuFailure, type GraphicsModule, type MayTrainOnGpu } from "./gpu";
import { Monitor, type MonitorLocation } from "./monitor";
import { inWords, isNotice, type Notice } from "./notice";
import { TrainedRun, type Answerer, type Answering } from "./trained";
import { BURST_MS, POLL_MS, Loop, Saves } from "./work";

export interface RunQueries {
  save: Uint8Array;
  /** Bytes of the user data; undefined if the run has none. */
  data: Uint8Array | undefined;
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
      /** Data for the run of the link, if the link contains none. */
      data: Dataset | null;
      link: string;
      device: DeviceWish;
    }
  | { kind: "command"; command: Command }
  /** Requests a save of the run from immediately before the live change with the index `mark`. */
  | { kind: "save_before"; id: number; mark: number }
  | { kind: "speed"; perS: number | null }
  | { kind: "sweep"; spec: SweepSpec | null }
  | { kind: "ask"; id: number; what: keyof RunQueries }
  | { kind: "origin"; id: number; bytes: Uint8Array }
  /** Requests the problems of a text, such as a program, from which the room learns. */
  | { kind: "problems"; id: number; text: string }
  /** Requests a check that a file of this size fits into memory. */
  | { kind: "has_room"; id: number; name: string; bytes: number }
  /** Requests a check that a run on data of this size can begin. If `config` is null, the check uses the current config. */
  | { kind: "fits"; id: number; data: Dataset; config: Config | null }
  /** Passes user data to the run that waits for it, or to a new run. */
  | { kind: "provide_data"; id: number; data: Dataset; config: Config | null }
  /** Requests the time for gradients by operation. Turns the timing on if `look` is true, otherwise off. */
  | { kind: "operations"; id: number; look: boolean }
  /** A question whose meaning depends on the room. */
  | { kind: "question"; id: number; question: { ask: string }; of: Answerer }
  /** Loads a checkpoint as the trained run, which answers questions beside the run of the page. */
  | { kind: "load_trained"; id: number; bytes: Uint8Array }
  /** Requests a save of the trained run. */
  | { kind: "save_trained"; id: number }
  | { kind: "drop_trained" }
  | { kind: "autosave" }
  | { kind: "beat" }
  | { kind: "panic"; inPool: boolean }
  | { kind: "fail_gpu"; how: GpuFailure };

/**
 * Reply to `open`. If the requested run was refused, `refusal` contains the reason, and the default run was started instead. `isFallback`
 * is true if the refused run now waits for its user data.
 */
export type Opened = {
  kind: "opened";
  room: RoomInfo;
  rooms: RoomInfo[];
  variant: Variant;
  knobs: Knob[];
  backend: Backend;
  monitor: MonitorLocation;
  refusal: Notice | null;
  isFallback: boolean;
};
export type FromWorker =
  | Opened
  | { kind: "knobs"; knobs: Knob[] }
  /**
   * Events in order, and the progress after these events. If the events begin a run, `epoch` is the monitor's epoch and `variant` is the
   * run's variant. Otherwise, both are null.
   */
  | {
      kind: "events";
      events: Event[];
      progress: Progress | null;
      epoch: number | null;
      variant: Variant | null;
      keptBefore: Uint32Array;
    }
  | { kind: "sweep"; cells: SweepCell[]; done: boolean }
  /** Events of the room that the trained run caused, such as the progress of a search. */
  | { kind: "trained"; events: Event[] }
  /** An autosave of the run, with the run's variant and link. */
  | { kind: "autosave"; bytes: Uint8Array; variant: string; address: string }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string }
  | { kind: "beat" }
  | { kind: "failed"; text: string }
  | { kind: "crash"; text: string };

/** A run in wasm. crates/web exports this class. */
interface Run extends MayTrainOnGpu, Answering {
  command(command: Command): void;
  waiting(): boolean;
  preparing(): boolean;
  operations(look: boolean): Operation[] | null;
  /** Tests the weights for at most `forS` seconds. Returns undefined if the next call must continue the test. */
  test(forS: number): Row | undefined;
  monitor(): number;
  layout(): Layout;
  cursor(): Cursor;
  /** Returns the value of the room's first counter. */
  count(): number;
  expect(digest: Digest): void;
  config(): Config;
  data(): Uint8Array | undefined;
  variant(): Variant;
  knobs(): Knob[];
  backend(): Backend;
  kept_before(): Uint32Array;
  save_before(mark: number): Uint8Array;
  /** Throws if a run with this config does not fit into memory beside the current run. */
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
  /** Decodes a link. `content` contains the bytes of the user data if the link contains them, otherwise null. */
  decode(link: string): { config: Config; content: Uint8Array | null; digest: Digest | null };
  origin(bytes: Uint8Array): { room: string; variant: string };
  /** Finds the problems of a text. The function is missing in modules without a compiler for the room's texts. */
  problems?(room: string, text: string): Problem[];
  /** Throws if a file of this size does not fit into memory. */
  has_room(name: string, bytes: number): void;
  /**
   * Returns the description of the user data that a saved run needs but its file does not contain. Returns undefined if no data is missing.
   */
  data_wanted(bytes: Uint8Array): Dataset | undefined;
  /** Returns the default config of the room that a link names, or of the first room. */
  default_config(link: string): Config;
  Run: { begin(config: Config): Run; restore(bytes: Uint8Array): Run };
  Sweep: { start(spec: SweepSpec, run: Run): Sweep };
}

/** Minimum interval between two posts of rows to the page. */
const ROWS_MS = 30;
/**
 * Maximum wait for the start of the threads. A limit is needed, because the thread pool waits forever if a browser cannot load the script
 * of a thread.
 */
const THREADS_MS = 20_000;
const SWEEP_MS = 200;
/** Maximum delay, in seconds, that training at a limited speed makes up for later. */
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
/** Rows that have not been posted yet. */
const rows: Event[] = [];
/** Time of the last post of rows. */
let postedMs = 0;
/** True if a timer is set that will post the rows. */
let postScheduled = false;
let running = false;
/** True after the first slice of training. The GPU is opened only then, so that training starts without delay. */
let begun = false;
let variant = "";
/** The small sweep in progress; undefined without a sweep. `resume` is true if the run continues training after the sweep. */
let sweep: { learners: Sweep; resume: boolean; postedMs: number } | undefined;
/** Questions that wait for the row of a test. */
const testing: number[] = [];
/**
 * Command of the refused run that waits for its user data. The command is repeated when the data arrives. Undefined after another run has
 * begun.
 */
let waitingForData: { command: Command; digest: Digest | null } | undefined;
const pace = { perS: null as number | null, credit: 0, lastS: 0, last: 0 };

const trained = new TrainedRun((events) => page.postMessage({ kind: "trained", events }));

const loop = new Loop(() =>
  guarded(() => {
    const sweeping = advanceSweep();
    const answering = trained.advance(nowS());
    // The run does not train during a requested test, because training would change the tested weights.
    if (advanceTest()) return loop.wake();
    const restMs = restToKeepPace();
    if (sweeping || answering) loop.wake();
    else if (restMs > 0) loop.sleep(restMs);
    if (restMs > 0) return;
    const until = performance.now() + BURST_MS;
    let [worked, waits] = [true, false];
    while (worked && !waits && performance.now() < until && restToKeepPace() === 0) {
      worked = run.advance(nowS());
      waits = run.waiting();
    }
    begun ||= worked;
    postNews();
    if (waits) loop.sleep(POLL_MS);
    else if (worked) loop.wake();
  }),
);
/**
 * Notice that refuses a save before the training has started. The notice is needed, because the preparation of a large text may take long.
 */
const PREPARING: Event = {
  kind: "notice",
  level: "warning",
  text: "The run is still being prepared; there is nothing to save yet.",
  next_step: "Save it once training has started.",
};
const saves = new Saves(
  () => {
    if (run.preparing()) throw PREPARING;
    run.command({ kind: "save" });
  },
  (reply, transfer) =>
    page.postMessage(
      reply.kind === "autosave" ? { ...reply, variant: run.config().variant, address: run.shared().address } : reply,
      transfer,
    ),
);
const gpu = new GpuOpener(loop.wake, (error) => page.postMessage({ kind: "crash", text: String(error) }));

/** Advances the sweep by one slice. Returns false if the sweep is done or if there is no sweep. */
function advanceSweep(): boolean {
  if (!sweep) return false;
  const continues = sweep.learners.advance(nowS());
  const now = performance.now();
  if (now - sweep.postedMs > SWEEP_MS || !continues) {
    sweep.postedMs = now;
    page.postMessage({ kind: "sweep", cells: sweep.learners.cells(), done: !continues });
  }
  if (!continues) endSweep();
  return continues;
}

function beginSweep(spec: SweepSpec): void {
  endSweep();
  try {
    sweep = { learners: wasm.Sweep.start(spec, run), resume: running, postedMs: 0 };
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

/** Returns the time to wait so that the limited speed is not exceeded, in ms. Returns 0 if training may continue. */
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

/** Answers all questions that wait for the row of a test. */
function endTest(answer: { kind: "answer"; value: RunQueries["test"] } | { kind: "refused"; text: string }): void {
  for (const id of testing.splice(0)) page.postMessage({ ...answer, id });
}

/** Runs a slice of the requested test. Returns true if the test continues. */
function advanceTest(): boolean {
  if (testing.length === 0) return false;
  try {
    const row = run.test(BURST_MS / 1000);
    if (row) endTest({ kind: "answer", value: row });
  } catch (error) {
    if (!isNotice(error)) throw error;
    endTest({ kind: "refused", text: inWords(error) });
  }
  return testing.length > 0;
}

function postNews(): void {
  const events = run.events();
  takeRows();
  if (events) handleEvents(events);
  postRows();
  if (begun) gpu.openIfWanted(run, wasm);
}

/** Updates the monitor's views, because a memory that grows has a new buffer. */
function attachMonitor(): void {
  monitor.attach(memory.buffer, run.monitor());
}

function takeRows(): void {
  attachMonitor();
  rows.push(...monitor.read());
}

function handleEvents(events: Event[]): void {
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
  const posted = events.filter((event, k) => {
    if (event.kind === "saved") saves.deliver(event.bytes);
    else if (event.kind === "not_saved") saves.refuse(event);
    // A notice about the content of a save is only for a visitor who has asked for the save.
    else return !(event.kind === "notice" && events[k + 1]?.kind === "saved" && saves.isAutomatic);
    return false;
  });
  if (cursor) monitor.begin(cursor);
  if (posted.length) post(posted, cursor);
  if (!cursor) return;
  takeRows();
  saves.retry();
}

/** Posts the waiting rows, followed by `events`. */
function post(events: Event[], cursor: Cursor | null = null): void {
  postedMs = performance.now();
  attachMonitor();
  const [posted, epoch] = [[...rows.splice(0), ...events], cursor?.epoch ?? null];
  const began = cursor ? run.variant() : null;
  page.postMessage({
    kind: "events",
    events: posted,
    progress: monitor.progress(),
    epoch,
    variant: began,
    keptBefore: run.kept_before(),
  });
}

/** Posts the waiting rows if they are due. If they are not due, sets a timer, because the loop may sleep until then. */
function postRows(): void {
  if (rows.length === 0) return;
  const waitMs = postedMs + ROWS_MS - performance.now();
  if (waitMs <= 0) return post([]);
  if (postScheduled) return;
  postScheduled = true;
  setTimeout(() => {
    postScheduled = false;
    postRows();
  }, waitMs);
}

/** Runs `work`. If `work` throws a notice, posts the notice as an event. Any other error is reported as a crash. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isNotice(error)) post([error]);
    else page.postMessage({ kind: "crash", text: String(error) });
  }
}

/** Waits until the thread pool has started. A module without threads has no pool, so the wait ends at once. Rejects after `THREADS_MS`. */
async function threadsStarted(pool: Promise<unknown> | undefined): Promise<void> {
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`its threads did not start within ${THREADS_MS / 1000} s`)), THREADS_MS);
  });
  await Promise.race([pool, late]).finally(() => clearTimeout(timer));
}

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  wasm = (await import(/* @vite-ignore */ message.url)) as Wasm;
  memory = (await wasm.default()).memory;
  wasm.forward_panics(message.channel);
  await threadsStarted(wasm.initThreadPool?.(message.threads));
  const refusal = begin(message);
  const [layout, rooms] = [run.layout(), wasm.rooms()];
  monitor = new Monitor(layout, memory.buffer, run.monitor());
  variant = run.config().variant;
  page.postMessage({
    kind: "opened",
    room: rooms.find(({ id }) => id === run.config().room)!,
    rooms,
    variant: run.variant(),
    knobs: run.knobs(),
    backend: run.backend(),
    monitor: { layout, offset: run.monitor(), memory: memory.buffer instanceof ArrayBuffer ? null : memory },
    refusal,
    isFallback: waitingForData !== undefined,
  });
  if (refusal) post([refusal]);
  run.command({ kind: "device", wish: message.device });
  run.command({ kind: "start" });
  loop.wake();
}

/** Starts the requested run. If the module refuses the run, starts the default run and returns the reason. */
function begin({ config, checkpoint, data, link }: ToWorker & { kind: "open" }): Notice | null {
  let command: Command | undefined;
  let digest: Digest | null = null;
  try {
    if (checkpoint) {
      command = { kind: "restore", bytes: checkpoint };
      run = wasm.Run.restore(checkpoint);
      // If a link started the restored run, the run must still reach the digest in the link.
      digest = digestOf(link);
      if (digest) run.expect(digest);
    } else {
      if (!config) {
        ({ config, digest } = decode(link));
        if (data) config = { ...config, data };
      }
      command = { kind: "reset", config };
      run = wasm.Run.begin(config);
      if (digest) run.expect(digest);
    }
    return null;
  } catch (error) {
    if (!isNotice(error)) throw error;
    if (command && wantsData(command)) waitingForData = { command, digest };
    run = wasm.Run.begin(wasm.default_config(link));
    return error;
  }
}

function decode(link: string): { config: Config; digest: Digest | null } {
  const { config, content, digest } = wasm.decode(link);
  const data = config.data && content ? { ...config.data, content } : config.data;
  return { config: data ? { ...config, data } : config, digest };
}

function digestOf(link: string): Digest | null {
  try {
    return link ? wasm.decode(link).digest : null;
  } catch {
    return null; // an invalid link does not affect a restored run
  }
}

/** Returns true if a command was refused because the user data of its run is missing. */
function wantsData(command: Command): boolean {
  try {
    if (command.kind === "restore") return !command.data && wasm.data_wanted(command.bytes) !== undefined;
    return command.kind === "reset" && !!command.config?.data && !command.config.data.content;
  } catch {
    return false; // a damaged file has already been reported
  }
}

/** Executes a command. If the command is refused because its run lacks user data, stores the command until the data arrives. */
function dispatch(command: Command, digest: Digest | null = null): void {
  const another = command.kind === "reset" || command.kind === "restore";
  try {
    run.command(command);
    if (digest) run.expect(digest);
    if (!another) return;
    waitingForData = undefined;
    endTest({ kind: "refused", text: "Another run began before the test was complete. Test the new run." });
  } catch (error) {
    if (another && wantsData(command)) waitingForData = { command, digest };
    throw error;
  }
}

/** Passes `data` to the run that waits for it. If `config` is given or no run waits, starts a new run. */
function provideData(data: Dataset, config: Config | null): void {
  const waits = config ? undefined : waitingForData?.command;
  if (waits?.kind === "restore") dispatch({ ...waits, data });
  else if (waits?.kind === "reset") {
    // The config contains the hash of the expected data, so other data is refused.
    const wanted = waits.config!;
    dispatch({ kind: "reset", config: { ...wanted, data: { ...wanted.data!, content: data.content } } }, waitingForData!.digest);
  } else dispatch({ kind: "reset", config: { ...(config ?? run.config()), data } });
}

/** Returns the buffers of an answer. They are transferred to the page without a copy, because the worker does not use them afterwards. */
const arraysOf = (value: unknown): Transferable[] =>
  (value instanceof Uint8Array ? [value] : Object.values(value ?? {})).flatMap((one) => (one instanceof Uint8Array ? [one.buffer] : []));

function answer(question: Extract<ToWorker, { id: number }>): void {
  const { id } = question;
  const reply = (value: unknown) => page.postMessage({ kind: "answer", id, value }, arraysOf(value));
  try {
    if (question.kind === "question") reply((question.of === "trained" ? trained : run).ask(question.question));
    else if (question.kind === "load_trained") reply(trained.load(wasm.Run.restore(question.bytes)));
    else if (question.kind === "save_trained") reply(trained.save());
    else if (question.kind === "operations") reply(run.operations(question.look));
    else if (question.kind === "origin") reply(wasm.origin(question.bytes));
    else if (question.kind === "problems") reply(wasm.problems?.(run.config().room, question.text) ?? []);
    else if (question.kind === "has_room") reply(wasm.has_room(question.name, question.bytes));
    else if (question.kind === "fits") reply(run.check_beside({ ...(question.config ?? run.config()), data: question.data }));
    else if (question.kind === "provide_data") reply(provideData(question.data, question.config));
    else if (question.kind === "save_before") reply(run.save_before(question.mark));
    else if (question.what === "save") saves.request(id);
    else if (question.what === "data") reply(run.data() satisfies RunQueries["data"]);
    else if (question.what === "shared") reply(run.shared() satisfies RunQueries["shared"]);
    else testing.push(id);
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
      // These messages do not change the run, so the loop need not wake. A view may send sixty of them per second.
      if (["operations", "problems", "origin", "has_room"].includes(data.kind)) return;
    } else if (data.kind === "autosave") saves.request("autosave");
    else if (data.kind === "drop_trained") trained.drop();
    else if (data.kind === "panic") wasm.panic_for_test(data.inPool);
    else if (data.kind === "fail_gpu") gpu.fail(data.how);
    else if (data.kind === "speed") setSpeed(data.perS);
    else if (data.kind === "sweep") {
      if (data.spec) beginSweep(data.spec);
      else endSweep();
    } else {
      if (data.command.kind === "device") gpu.discardFailed(run);
      dispatch(data.command);
    }
    postNews();
    loop.wake();
  });
};
