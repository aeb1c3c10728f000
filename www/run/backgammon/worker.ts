// The worker that a run of backgammon lives in, with its table and its opinions: it loads a wasm module, works in short
// slices, and between them answers and posts what happened. It refuses to know the page.

import type { Backend, Config, Digest, Knob } from "../protocol";
import type { Act, Analysis, Branch, Command, Engine, Event, Inquiry, Learner, Review, Setup, Table, Unfold } from "./protocol";
import { GpuOpener, type GraphicsModule, type MayTrainOnGpu } from "../gpu";
import type { Told } from "../handle";
import { BURST_MS, isNotice, LOOK_MS, Loop, Saves } from "../work";

/** What the page asks and waits for. */
export type Question =
  | { what: "save" | "permalink" | "native_command" | "transcript" }
  | { what: "analyse"; inquiry: Inquiry }
  | { what: "unfold"; unfold: Unfold }
  | { what: "sit"; setup: Setup }
  | { what: "act"; act: Act }
  | { what: "hint" | "review"; engine: Engine };

/** What each is answered with. */
export interface Answers {
  save: Uint8Array;
  permalink: string;
  native_command: string;
  transcript: string;
  analyse: Analysis;
  unfold: Branch[];
  sit: Table;
  act: Table;
  hint: Analysis;
  review: Review;
}

export type ToWorker =
  | Told
  | { kind: "command"; command: Command }
  | ({ kind: "ask"; id: number } & Question);

export type FromWorker =
  | { kind: "opened"; knobs: Knob[]; learners: Learner[]; table: Table | null; backend: Backend }
  /** Another run begins: its knobs, and the table that came with it or stayed. */
  | { kind: "run"; knobs: Knob[]; table: Table | null }
  | { kind: "events"; events: Event[] }
  | { kind: "autosave"; bytes: Uint8Array }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string }
  | { kind: "failed"; text: string }
  | { kind: "crash"; text: string };

/** The wasm module as crates/web exports it. */
interface Parlour extends MayTrainOnGpu {
  command(command: Command): void;
  advance(nowS: number): boolean;
  waiting(): boolean;
  events(): Event[] | undefined;
  expect(digest: Digest): void;
  knobs(): Knob[];
  backend(): Backend;
  permalink(digest: Digest | null): string;
  native_command(): string;
  transcript(): string;
  table(): Table | null;
  sit(setup: Setup): Table;
  act(act: Act): Table;
  analyse(inquiry: Inquiry): Analysis;
  unfold(unfold: Unfold): Branch[];
  hint(engine: Engine): Analysis;
  review(engine: Engine): Review;
}
interface Wasm extends GraphicsModule {
  default(): Promise<unknown>;
  initThreadPool?(threads: number): Promise<unknown>;
  forward_panics(channel: string): void;
  panic_for_test(inPool: boolean): void;
  decode(link: string): { config: Config; digest: Digest | null };
  default_parlour(): Config;
  learners(): Learner[];
  Parlour: { start(config: Config): Parlour; restore(bytes: Uint8Array): Parlour };
}

const page = self as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const nowS = () => performance.now() / 1000;

let wasm: Wasm;
let parlour: Parlour;
let lastDigest: Digest | null = null;

const loop = new Loop(() =>
  guarded(() => {
    const until = performance.now() + BURST_MS;
    let [worked, waits] = [true, false];
    while (worked && !waits && performance.now() < until) {
      worked = parlour.advance(nowS());
      waits = parlour.waiting();
    }
    begun ||= worked;
    tell();
    if (waits) loop.sleep(LOOK_MS);
    else if (worked) loop.wake();
  }),
);
const saves = new Saves(
  () => parlour.command({ kind: "save" }),
  (given, transfer) => page.postMessage(given, transfer),
);
const gpu = new GpuOpener(loop.wake, (error) => page.postMessage({ kind: "crash", text: String(error) }));
/** It trains, so that a GPU can be opened beside it: the first slices wait for nothing. */
let begun = false;

/** Posts what happened since the last time. */
function tell(): void {
  const events = parlour.events();
  if (events) tellEvents(events);
  if (begun) gpu.see(parlour, wasm);
}

function tellEvents(events: Event[]): void {
  for (const event of events) {
    if (event.kind === "digest") lastDigest = { iteration: event.iteration, weights: event.weights, arithmetic: event.arithmetic };
    if (event.kind === "mark") lastDigest = null; // a link cannot tell of live changes, so its digest would not be reached
    if (event.kind !== "began") continue;
    lastDigest = null;
    page.postMessage({ kind: "run", knobs: parlour.knobs(), table: parlour.table() });
  }
  const posted = events.filter((event) => event.kind !== "saved" || saves.deliver(event.bytes));
  if (posted.length) page.postMessage({ kind: "events", events: posted });
  if (events.some((event) => event.kind === "began")) saves.askAgain();
}

/** A trap in wasm ends the worker; a refusal is an event that the page shows. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isNotice(error)) page.postMessage({ kind: "events", events: [error] });
    else page.postMessage({ kind: "crash", text: String(error) });
  }
}

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  wasm = (await import(/* @vite-ignore */ message.url)) as Wasm;
  await wasm.default();
  wasm.forward_panics(message.channel);
  await wasm.initThreadPool?.(message.threads);
  const notices = begin(message);
  page.postMessage({ kind: "opened", knobs: parlour.knobs(), learners: wasm.learners(), table: parlour.table(), backend: parlour.backend() });
  if (notices.length) page.postMessage({ kind: "events", events: notices });
  parlour.command({ kind: "device", wish: message.device });
  parlour.command({ kind: "start" });
  loop.wake();
}

/** Starts what was asked for; where that is refused, says why and starts the default run. */
function begin({ config, checkpoint, link }: ToWorker & { kind: "open" }): Event[] {
  try {
    if (checkpoint) parlour = wasm.Parlour.restore(checkpoint);
    else if (config) parlour = wasm.Parlour.start(config);
    else {
      const decoded = wasm.decode(link);
      parlour = wasm.Parlour.start(decoded.config);
      if (decoded.digest) parlour.expect(decoded.digest);
    }
    return [];
  } catch (error) {
    if (!isNotice(error)) throw error;
    parlour = wasm.Parlour.start(wasm.default_parlour());
    return [error];
  }
}

function answer(asked: ToWorker & { kind: "ask" }): void {
  const give = (value: Answers[keyof Answers]) => page.postMessage({ kind: "answer", id: asked.id, value });
  switch (asked.what) {
    case "save":
      return saves.ask(asked.id);
    case "permalink":
      return give(parlour.permalink(lastDigest));
    case "native_command":
      return give(parlour.native_command());
    case "transcript":
      return give(parlour.transcript());
    case "analyse":
      return give(parlour.analyse(asked.inquiry));
    case "unfold":
      return give(parlour.unfold(asked.unfold));
    case "sit":
      return give(parlour.sit(asked.setup));
    case "act":
      return give(parlour.act(asked.act));
    case "hint":
      return give(parlour.hint(asked.engine));
    case "review":
      return give(parlour.review(asked.engine));
  }
}

page.onmessage = ({ data }) => {
  if (data.kind === "open") {
    open(data).catch((error) => page.postMessage({ kind: "failed", text: String(error) }));
    return;
  }
  guarded(() => {
    if (data.kind === "visible") return; // it trains on out of sight
    if (data.kind === "autosave") saves.ask("autosave");
    else if (data.kind === "panic") wasm.panic_for_test(data.inPool);
    else if (data.kind === "fail_gpu") gpu.fail(data.how);
    else if (data.kind === "ask") {
      try {
        answer(data);
      } catch (error) {
        if (!isNotice(error)) throw error;
        page.postMessage({ kind: "refused", id: data.id, text: `${error.text} ${error.next_step}` });
      }
    } else if (data.command.kind === "save") saves.ask("command");
    else {
      if (data.command.kind === "device") gpu.letGoOfFailed(parlour);
      parlour.command(data.command);
    }
    tell();
    loop.wake();
  });
};
