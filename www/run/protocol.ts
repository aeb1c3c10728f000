// Types that the page and a run of any room exchange.
// Generated from crates/run/src/{protocol,monitor}.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

/** Complete description of a run, sufficient to start the same run elsewhere. */
export type Config = {
/** Format of this record; see [`crate::VERSION`]. */
version: number,
/** Name of the room, for example `control`. */
room: string,
/** Variant of the room (an environment, a learner or a puzzle), for example `CartPole-v1`. */
variant: string, seed: number,
/** Knobs by name; the others have their default. */
knobs: { [key in string]: Value },
/** User data to learn from. Rooms that take no data refuse a config with data. */
data?: Dataset,
/** Live changes of knobs that the run makes by itself, ordered by iteration. */
changes?: Array<Change>, };

/** A live change of a knob, made at the boundary after `iteration` iterations. */
export type Change = { iteration: number, knob: string, value: Value, };

/** A shareable description of a run, with the limits of its reproduction. */
export type Shared = {
/** Link to the run, `#/control?variant=…`, with the newest digest if other machines can reproduce it. */
link: string,
/** The link without a digest. This text changes only with the config or with a live change. */
address: string,
/** Command that starts the run in a terminal. */
command: string,
/** Number of live changes of knobs that are replayed. */
changes: number,
/** Iteration at which a run opened from the link reports whether it reproduced the digest; null if the link has no digest. */
checked_at: number | null,
/** Limits of reproduction, each as a sentence. */
limits: Array<string>, };

/** User data, with its bytes if they are loaded. A link or a large checkpoint stores only name, length and hash. */
export type Dataset = {
/** Name of the file, for example `book.txt`. */
name: string, bytes: number,
/** Hash of the bytes: 16 hexadecimal digits. May be empty if `content` is given. */
hash: string,
/** The bytes, if they are loaded; never serialized. */
content?: Uint8Array, };

/** User data that a room accepts. */
export type DataInfo = {
/** Label of the data, for example `Text`. */
label: string,
/** Requirements on the data, in one or two sentences. */
help: string, };

/** Value of a knob: a number (0 or 1 for a switch), the name of a choice, or a text. */
export type Value = number | string;

/** A setting of a learner, with all that a page or `--help` needs to present it. */
export type Knob = {
/** Name in `--set lr=0.003`, in links and in checkpoints, for example `lr`. */
name: string,
/** Technical term, then plain words if they add information, for example `Discount γ: patience`. */
label: string, kind: KnobKind, default: Value,
/** Unit, for example `steps`; empty for a plain number. */
unit: string,
/** One or two sentences that a newcomer understands. */
help: string,
/** The setting can change during a run, from the next iteration on. Other settings need a new run. */
live: boolean, };

export type KnobKind = { "kind": "float", min: number, max: number,
/** True for sliders with a logarithmic scale. */
log: boolean, } | { "kind": "int", min: number, max: number, log: boolean, } | { "kind": "bool" } | { "kind": "choice", options: Array<Named>, } | { "kind": "text",
/** Maximum number of bytes. */
most: number, };

/** Option of a choice, with its label. */
export type Named = { name: string, label: string, };

/** A number that a run reports once per iteration or once per test. */
export type Column = {
/** Name in CSV, JSON and checkpoints, for example `mean_return`. */
name: string,
/** Name for display, for example `Mean return`. */
label: string,
/** Unit, for example `points`; empty for a plain number. */
unit: string, help: string,
/** Name of the chart; columns with the same name share a chart. Empty if the column is not charted. */
chart: string,
/** The chart's scale is logarithmic. */
log: boolean,
/** The number is shown as a percentage. */
share: boolean,
/** Short name in the terminal's status line; empty if the line omits the column. */
brief: string,
/** Column with the standard error, or the two columns with the minimum and the maximum; empty if no such columns exist. */
spread: Array<string>,
/** Set if the number is the growth of a counter per time, which the run computes; null for other numbers. */
rate: Rate | null, };

export type Rate = { counter: string,
/** Length of the time unit in seconds: 1 for a rate per second, 60 for a rate per minute. */
seconds: number, };

/** A part of an iteration's time, such as the computation of gradients. */
export type TimePart = {
/** Name in data, for example `gradient`. */
name: string, label: string, help: string, };

/** Description of a room for displays. */
export type RoomInfo = {
/** Name in links and commands, for example `control`. */
id: string,
/** Name for display, for example `Control`. */
title: string,
/** Word for a variant, for example `environment`. */
variant_word: string,
/** Word for an iteration of the learner, for example `round`. */
iteration_word: string,
/** Counters in the order of [`Progress::counts`]; the first is the unit of the budget. */
counters: Array<Column>,
/** Columns in the order of the values of [`Event::Metrics`], before the time shares of `parts`. */
metrics: Array<Column>,
/** Columns in the order of the values of [`Event::Test`]. */
tests: Array<Column>, parts: Array<TimePart>, variants: Array<Variant>,
/** User data that the room accepts; null if it accepts none. */
data: DataInfo | null, };

/** One of a room's environments, learners or puzzles. */
export type Variant = {
/** Name in links and commands, for example `CartPole-v1`. */
id: string, name: string,
/** Task or learning method, in one or two sentences. */
summary: string,
/** Goal of the variant; a run that reaches the goal is solved. Null if there is no goal. */
goal: Goal | null,
/** Default budget of a run in a sweep, as a value of the room's first counter. */
sweep_budget: number,
/** Description of the variant for the room's own views; its type is in the room's `protocol.rs`. */
about: unknown, };

/**
 * Condition for a solved run: a test reaches `at` in the column `column`, and then a confirmation also reaches it. A confirmation is a
 * second test with draws from a random stream that neither training nor tests use. A test that covers all cases needs no confirmation.
 */
export type Goal = { column: string, at: number, };

export type Command = { "kind": "start" } | { "kind": "pause" } | { "kind": "step" } | { "kind": "reset", config: Config | null, } | { "kind": "set_knob", name: string, value: Value, } | { "kind": "device", wish: DeviceWish, } | { "kind": "save" } | { "kind": "restore", bytes: Uint8Array,
/** User data; required if the saved file does not contain it. */
data?: Dataset,
/** Keeps the state of the present run that a reset would keep, such as the user's game. */
follow?: boolean, };

export type Event = { "kind": "began" } & Began | { "kind": "running", running: boolean, } | { "kind": "device" } & Device | { "kind": "metrics" } & Row | { "kind": "mark" } & Mark | { "kind": "test" } & Row | { "kind": "confirmation" } & Confirmation | { "kind": "solved", progress: Progress, goal: number, } | { "kind": "digest" } & Digest | { "kind": "saved", bytes: Uint8Array, } | { "kind": "not_saved", text: string, next_step: string, } | { "kind": "room", event: unknown, text: string, } | { "kind": "notice", level: Level, text: string, next_step: string, };

/** Result of the confirmation of a test that reached the goal. */
export type Confirmation = { progress: Progress,
/** Value of the confirmation in the goal's column; null if it is unknown. */
value: number | null,
/** Value that the goal requires. */
goal: number, confirmed: boolean, };

/** Initial state of a run that began or was restored. */
export type Began = { config: Config,
/** Present value of every knob. */
knobs: { [key in string]: Value }, progress: Progress,
/** Progress at the first successful confirmation; null before. */
solved: Progress | null,
/** Number of failed confirmations. */
attempts: number,
/** Metrics rows of a restored run, oldest first; empty for a new run. */
history: Array<Row>,
/** Rows of the tests of a restored run, oldest first. */
tests: Array<Row>,
/** Live changes of a restored run, oldest first. */
marks: Array<Mark>,
/** Saved data of the room: the value of [`crate::room::Room::notes`]. */
room: unknown, };

export type Level = "info" | "warning" | "error";

export type Progress = { iteration: number,
/** Values of the room's counters, in the order of [`RoomInfo::counters`]. */
counts: Array<number>,
/** Seconds spent training, without pauses. */
train_s: number, };

/** Values of an iteration or of a test, in the order of their columns; null for unknown values. */
export type Row = { progress: Progress, values: Array<number | null>, };

/** A live change of a knob, to be marked on the curves. */
export type Mark = { progress: Progress, knob: string, from: Value, to: Value, };

export type Digest = { iteration: number,
/** Hash of the weights: 16 hexadecimal digits. */
weights: string,
/**
 * `fused`, `unfused`, `bf16` or `amx`; only digests of the same arithmetic can be equal. `gpu`: a GPU computed every
 * iteration, and the digest holds for that GPU only. `mixed`: several devices computed iterations. `partial`: the digest
 * was taken within an iteration. Links never contain the last three.
 */
arithmetic: string, };

/** Device in use. */
export type Device = { wish: DeviceWish, on_gpu: boolean,
/** Name of the GPU; null if none is available. */
gpu: string | null,
/** Work per second on the CPU and on the GPU, in the room's own unit; null if they were not both measured. */
rates: [number, number] | null,
/** Reason for the choice, as a sentence. */
why: string, };

/** Requested device. */
export type DeviceWish = "auto" | "cpu" | "gpu";

/** A small sweep: runs of one config with several values of a knob and several seeds, all trained at once. */
export type SweepSpec = { config: Config, knob: string, values: Array<Value>,
/** Number of seeds, starting at the config's seed. */
seeds: number,
/** Value of the room's first counter at which each learner stops. */
budget: number, };

/** State of one learner of a small sweep. */
export type SweepCell = { value: Value, seed: number, progress: Progress,
/** Tests of the learner, oldest first: the value of the room's first counter, and the value in the goal's column. */
curve: Array<[number, number]>,
/** Value of the room's first counter when the learner was solved; null before. */
solved_at: number | null, done: boolean,
/** The learner stopped early because its weights are no longer finite numbers. */
diverged: boolean, };

/** Calls with the same name and shape in the plan of a learner's gradients, and their total time. */
export type Operation = {
/** Name of the operation, for example `linear`. */
name: string,
/** Shape, for example `64x144x128`: rows, inputs and outputs of a matrix product. For other operations, the shape of the output. */
shape: string,
/** Calls per run of the plan. */
calls: number, seconds: number, };

/** Arithmetic and threads in use, for the badge and for bug reports. */
export type Backend = {
/** Instruction set: `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable`. */
isa: string, threads: number, arithmetic: string, version: string, };

/** Offsets in words, for readers outside of this crate, such as the page (`www/run/monitor.ts`). */
export type Layout = { words: number, epoch: number,
/** Offset of the progress: iteration, seconds of training, the room's counters; each a 64-bit float. */
progress: number, metrics: TrackLayout, tests: TrackLayout, };

/**
 * Layout of a track. A record contains its sequence number, its position among all events, and its numbers: iteration,
 * seconds of training, counters, values; NaN means null.
 */
export type TrackLayout = {
/** Offset of the ordinal of the next record. */
head: number, ring: number, ring_records: number,
/** Number of words of a record. */
record: number,
/** Number of words of a record before its numbers. */
record_head: number, counters: number, values: number, };

/** Position in the monitor for a reader that received `Began` through another channel: the epoch, and the ordinals of the next records. */
export type Cursor = { epoch: number, metrics: number, tests: number, };
