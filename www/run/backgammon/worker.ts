// The worker that a run of backgammon lives in, with its table and its opinions: it loads a wasm module, works in short
// slices, and between them answers and posts what happened. It refuses to know the page.

import type { Backend, Config, Digest, Knob } from "../protocol";
import type { Act, Analysis, Branch, Command, Engine, Event, Inquiry, Learner, Review, Setup, Table, Unfold } from "./protocol";

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
  | { kind: "open"; url: string; threads: number; channel: string; config: Config | null; checkpoint: Uint8Array | null; link: string }
  | { kind: "command"; command: Command }
  | { kind: "visible"; visible: boolean }
  | { kind: "autosave" }
  | { kind: "panic"; inPool: boolean }
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
interface Parlour {
  command(command: Command): void;
  advance(nowS: number): boolean;
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
interface Wasm {
  default(): Promise<unknown>;
  initThreadPool?(threads: number): Promise<unknown>;
  forward_panics(channel: string): void;
  panic_for_test(inPool: boolean): void;
  decode(link: string): { config: Config; digest: Digest | null };
  default_parlour(): Config;
  learners(): Learner[];
  Parlour: { start(config: Config): Parlour; restore(bytes: Uint8Array): Parlour };
}

/** How long the worker works before it looks for messages. */
const BURST_MS = 4;

const page = self as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const nowS = () => performance.now() / 1000;

let wasm: Wasm;
let parlour: Parlour;
let lastDigest: Digest | null = null;
/** Who waits for the next save: the page's questions by number, its command, the autosave. */
let waiting: (number | "command" | "autosave")[] = [];

const loop = new MessageChannel();
let looping = false;

function wake(): void {
  if (looping) return;
  looping = true;
  loop.port2.postMessage(null);
}

loop.port1.onmessage = () => {
  looping = false;
  guarded(() => {
    const until = performance.now() + BURST_MS;
    let worked = true;
    while (worked && performance.now() < until) worked = parlour.advance(nowS());
    tell();
    if (worked) wake();
  });
};

/** Posts what happened since the last time. */
function tell(): void {
  const events = parlour.events();
  if (!events) return;
  for (const event of events) {
    if (event.kind === "digest") lastDigest = { iteration: event.iteration, weights: event.weights, arithmetic: event.arithmetic };
    if (event.kind === "mark") lastDigest = null; // a link cannot tell of live changes, so its digest would not be reached
    if (event.kind !== "began") continue;
    lastDigest = null;
    page.postMessage({ kind: "run", knobs: parlour.knobs(), table: parlour.table() });
  }
  const posted = events.filter((event) => event.kind !== "saved" || deliver(event.bytes));
  if (posted.length) page.postMessage({ kind: "events", events: posted });
  // A reset or a restore drops a save that was still waiting for its round to end: ask again.
  if (waiting.length && events.some((event) => event.kind === "began")) parlour.command({ kind: "save" });
}

/** Gives a save to whoever asked; true when it was the page's own command. */
function deliver(bytes: Uint8Array): boolean {
  const asked = waiting;
  waiting = [];
  for (const who of asked) {
    if (who === "autosave") page.postMessage({ kind: "autosave", bytes });
    else if (who !== "command") page.postMessage({ kind: "answer", id: who, value: bytes });
  }
  return asked.includes("command");
}

function save(who: (typeof waiting)[0]): void {
  waiting.push(who);
  if (waiting.length === 1) parlour.command({ kind: "save" });
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
type Notice = Event & { kind: "notice" };
const isNotice = (thrown: unknown): thrown is Notice => (thrown as Event | null)?.kind === "notice";

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  wasm = (await import(/* @vite-ignore */ message.url)) as Wasm;
  await wasm.default();
  wasm.forward_panics(message.channel);
  await wasm.initThreadPool?.(message.threads);
  const notices = begin(message);
  page.postMessage({ kind: "opened", knobs: parlour.knobs(), learners: wasm.learners(), table: parlour.table(), backend: parlour.backend() });
  if (notices.length) page.postMessage({ kind: "events", events: notices });
  parlour.command({ kind: "start" });
  wake();
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
      return save(asked.id);
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
    if (data.kind === "autosave") save("autosave");
    else if (data.kind === "panic") wasm.panic_for_test(data.inPool);
    else if (data.kind === "ask") {
      try {
        answer(data);
      } catch (error) {
        if (!isNotice(error)) throw error;
        page.postMessage({ kind: "refused", id: data.id, text: `${error.text} ${error.next_step}` });
      }
    } else if (data.command.kind === "save") save("command");
    else parlour.command(data.command);
    tell();
    wake();
  });
};
