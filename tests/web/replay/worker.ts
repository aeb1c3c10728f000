// A worker that replays a recorded run in place of training one. It sends the events that the run's worker sent, and answers questions as
// that worker did. The page's tests of the interface use it, so that they need neither a wasm module nor training. A new run, a step, a
// change of a knob, a save and its restoration follow the recording: every run has the recorded rows, under the config that was asked for.
// Other commands are refused by a notice.

import type { Config, Event, Mark, Progress, Row, Shared, Value, Variant } from "../../../www/run/protocol";
import type { FromWorker, Opened, ToWorker } from "../../../www/run/worker";
import { decode, encode } from "./coding";
import { keyOf, type Recording } from "./recording";

/** Interval between two recorded messages after the first ones. */
const EVERY_MS = 100;
/** Number of recorded messages that remain after the first ones, if the recording has as many. */
const REMAINING = 30;

/** State of the replayed run. A save contains nothing else. */
interface State {
  config: Config;
  /** Current value of every knob. */
  knobs: Record<string, Value>;
  marks: Mark[];
  /** Number of recorded events before the state. */
  next: number;
}
/** Kinds of recorded events that the replay does not send. Notices, for example about a save, would cover parts of the page. */
const OMITTED = ["began", "running", "notice"];
/** Kinds of questions that no recording contains, each with a recorded kind whose answers have the same form. */
const INSTEAD: Record<string, string> = { "question damage": "question advance" };
type Began = Event & { kind: "began" };

const page = self as unknown as { postMessage(message: FromWorker): void; onmessage: ((event: MessageEvent<ToWorker>) => void) | null };

let recording: Recording & { opened: Opened };
/** The recorded beginning of the run, and the events after it. */
let began: Began;
let rows: Event[] = [];
/** Positions in `rows` at which the recorded messages end. */
let ends: number[] = [];
let state: State;
/** State before each live change. */
let before: State[] = [];
let running = true;
let epoch = 0;

const rowsOf = (kind: "metrics" | "test"): Row[] =>
  rows.slice(0, state.next).flatMap((event) => (event.kind === kind ? [{ progress: event.progress, values: event.values }] : []));
const progress = (): Progress => rowsOf("metrics").at(-1)?.progress ?? began.progress;
/** Returns the variant of the run. */
const variant = (): Variant => {
  const { room, variant } = recording.opened;
  return room.variants.find(({ id }) => id === state.config.variant) ?? variant;
};

function post(events: Event[], begins = false): void {
  const news = { epoch: begins ? ++epoch : null, variant: begins ? variant() : null };
  page.postMessage({ kind: "events", events, progress: progress(), ...news, keptBefore: Uint32Array.from(before.keys()) });
}

/** Begins a run, or restores one whose state has passed some events. */
function begin(next: State): void {
  [state, before] = [next, []];
  const solved = rows.slice(0, state.next).find((event) => event.kind === "solved");
  const past = { history: rowsOf("metrics"), tests: rowsOf("test"), marks: state.marks, solved: solved?.progress ?? null };
  const standings = rows.flatMap((event, k) => (event.kind === "standing" ? [{ event, k }] : []));
  const { event: standing } = standings.findLast(({ k }) => k < state.next) ?? standings[0]!;
  post([{ ...began, config: state.config, knobs: state.knobs, progress: progress(), ...past }, standing], true);
}

/** Sends the events up to the position `end`. */
function pass(end: number): void {
  const events = rows.slice(state.next, end);
  state = { ...state, next: end };
  if (events.length) post(events);
}

/** Sends the events of an iteration, and pauses. */
function step(): void {
  setRunning(false);
  const at = rows.findIndex(({ kind }, k) => k >= state.next && kind === "metrics");
  if (at >= 0) pass(at + 1);
}

function setRunning(value: boolean): void {
  if (running !== value) post([{ kind: "running", running: (running = value) }]);
}

function setKnob(knob: string, value: Value): void {
  before.push(state);
  const mark: Mark = { progress: progress(), knob, from: state.knobs[knob]!, to: value };
  state = { ...state, knobs: { ...state.knobs, [knob]: value }, marks: [...state.marks, mark] };
  post([{ kind: "mark", ...mark }]);
}

/** Returns the state at the beginning of a run, by default of the current run with its changed knobs. */
function beginning(config: Config | null): State {
  const changed = Object.fromEntries(state.marks.map(({ knob, to }) => [knob, to]));
  const next = config ?? { ...state.config, knobs: { ...state.config.knobs, ...changed } };
  const defaults = Object.fromEntries(recording.opened.knobs.map((knob) => [knob.name, knob.default]));
  return { config: next, knobs: { ...defaults, ...next.knobs }, marks: [], next: 0 };
}

const save = (of = state): Uint8Array => new TextEncoder().encode(encode(of));
const restored = (bytes: Uint8Array): State => decode<State>(new TextDecoder().decode(bytes));

/** Returns the link to the run, in the form of a link of the program. */
function address(): string {
  const { room, variant, seed, knobs } = state.config;
  const at = state.marks.map(({ progress, knob, to }) => `at=${progress.iteration}:${knob}=${to}`);
  const settings = [`variant=${variant}`, `seed=${seed}`, ...Object.entries(knobs).map(([name, value]) => `${name}=${value}`), ...at];
  return `#/${room}?${settings.join("&")}&v=2`;
}

const shared = (): Shared => ({
  ...(recording.answers[keyOf({ kind: "ask", id: 0, what: "shared" })] as Shared),
  link: address(),
  address: address(),
  changes: state.marks.length,
});

/** Returns the recorded config with the variant, the seed and the knobs of a link. */
function configOf(link: string): Config {
  const given = new URLSearchParams(link.split("?")[1]);
  const valueOf = (text: string): Value => (text === "" || Number.isNaN(Number(text)) ? text : Number(text));
  const knobs = recording.opened.knobs.filter(({ name }) => given.has(name)).map(({ name }) => [name, valueOf(given.get(name)!)]);
  return {
    ...began.config,
    variant: given.get("variant") ?? began.config.variant,
    seed: Number(given.get("seed") ?? began.config.seed),
    knobs: { ...began.config.knobs, ...Object.fromEntries(knobs) },
  };
}

/** Returns the number of messages with which a page begins: up to a test, after which some messages remain. */
function opening(): number {
  const most = recording.messages.length - REMAINING;
  const tests = recording.messages.flatMap((message, k) =>
    message.kind === "events" && message.events.some(({ kind }) => kind === "test") ? [k + 1] : [],
  );
  return tests.findLast((at) => at <= most) ?? tests[0] ?? 0;
}

/** Sends all events up to a test at once, so that the page shows a run that is well under way. */
async function open({ link, checkpoint }: ToWorker & { kind: "open" }): Promise<void> {
  const room = /^#\/([\w-]+)/.exec(link)?.[1] ?? "control";
  recording = decode<typeof recording>(await (await fetch(new URL(`/replay/${room}.json`, location.href))).text());
  const messages = recording.messages.map((message) => (message.kind === "events" ? message.events : []));
  began = messages.flat().find((event) => event.kind === "began")!;
  for (const events of messages) ends.push(rows.push(...events.filter(({ kind }) => !OMITTED.includes(kind))));
  page.postMessage(recording.opened);
  state = { config: began.config, knobs: began.knobs, marks: [], next: 0 };
  begin(checkpoint ? restored(checkpoint) : beginning(configOf(link)));
  post([{ kind: "running", running }]);
  if (!checkpoint) pass(ends[opening() - 1] ?? 0);
  setInterval(() => running && pass(ends.find((end) => end > state.next) ?? state.next), EVERY_MS);
}

function command(command: (ToWorker & { kind: "command" })["command"]): void {
  if (command.kind === "start" || command.kind === "pause") setRunning(command.kind === "start");
  else if (command.kind === "step") step();
  else if (command.kind === "reset") begin(beginning(command.config));
  else if (command.kind === "restore") begin(restored(command.bytes));
  else if (command.kind === "set_knob") setKnob(command.name, command.value);
  else if (command.kind !== "device") refuse(command.kind);
}

function refuse(what: string): void {
  post([{ kind: "notice", level: "error", text: `A replay cannot ${what}.`, next_step: "Use a run that trains in this test." }]);
}

function answer(id: number, message: ToWorker): void {
  const reply = (value: unknown): void => page.postMessage({ kind: "answer", id, value });
  if (message.kind === "ask" && message.what === "save") return reply(save());
  if (message.kind === "ask" && message.what === "shared") return reply(shared());
  if (message.kind === "ask" && message.what === "test") return reply(rowsOf("test").at(-1));
  if (message.kind === "save_before") return reply(save(before[message.mark]));
  if (message.kind === "origin") return reply({ room: state.config.room, variant: state.config.variant });
  if (message.kind === "has_room") return reply(undefined);
  const kind = keyOf(message, true);
  const found = recording.answers[keyOf(message)] ?? (kind === "ask" ? undefined : recording.answers[INSTEAD[kind] ?? kind]);
  if (found === undefined) page.postMessage({ kind: "refused", id, text: `The recording has no answer to ${keyOf(message)}.` });
  else reply(found);
}

page.onmessage = ({ data }) => {
  if (data.kind === "open") void open(data);
  else if (data.kind === "beat") page.postMessage({ kind: "beat" });
  else if (data.kind === "command") command(data.command);
  else if (data.kind === "autosave")
    page.postMessage({ kind: "autosave", bytes: save(), variant: state.config.variant, address: address() });
  else if ("id" in data) answer(data.id, data);
  else if ((data.kind === "sweep" && data.spec) || data.kind === "panic" || data.kind === "fail_gpu") refuse(data.kind);
};
