// Types that the page and a run of any room exchange.
// Generated from crates/run/src/{protocol,monitor}.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

/**
 * Complete description of a run. Another machine needs only this config, and the bytes of the user data if there are any, to start the
 * same run.
 */
export type Config = {
/** Format version of this config; see [`crate::VERSION`]. */
version: number,
/** Name of the room, for example `control`. */
room: string,
/** Name of the room's variant, for example `CartPole-v1`. A variant is an environment, a preset, an experiment or a learner. */
variant: string, seed: number,
/** Values of knobs by name. The knobs that are not in the map have their default. */
knobs: { [key in string]: Value },
/** User data that the run learns from. A room that takes no user data refuses a config with user data. */
data?: Dataset,
/** Live changes of knobs that the run makes by itself, ordered by iteration. */
changes?: Array<Change>, };

/** A live change of a knob, made after `iteration` iterations. */
export type Change = { iteration: number, knob: string, value: Value, };

/** Description of a run for other users, with the limits of its reproduction on their machines. */
export type Shared = {
/** Link to the run, for example `#/control?variant=…`. It contains the latest digest if other machines can reproduce that digest. */
link: string,
/** Link to the run without a digest. This link changes only if the config changes or a live change is made. */
address: string,
/** Command that starts the run in a terminal. */
command: string,
/** Number of live changes of knobs that the linked run repeats. */
changes: number,
/**
 * Iteration of the digest that the link contains. After this iteration, the linked run reports whether it has the same digest.
 * Null if the link contains no digest.
 */
checked_at: number | null,
/** Sentences that describe the limits of reproduction. */
limits: Array<string>, };

/** User data, with the bytes if they are loaded. A link, or a checkpoint with large user data, contains only name, length and hash. */
export type Dataset = {
/** Name of the file, for example `book.txt`. */
name: string, bytes: number,
/** Hash of the bytes as 16 hexadecimal digits. It may be empty if `content` is present. */
hash: string,
/** Bytes of the file; null if they are not loaded. They are never serialized. */
content?: Uint8Array, };

/** Description of the user data that a room accepts. */
export type DataInfo = {
/** Label of the data, for example `Text`. */
label: string,
/** Requirements that the data must meet, in one or two sentences. */
help: string, };

/** Value of a setting: a number (0 or 1 for a switch), the name of an option, or a text. */
export type Value = number | string;

/** A setting of a learner, with all texts and limits that the page or `--help` presents. */
export type Knob = {
/** Name in links, in checkpoints and in `--set`, for example `lr`. */
name: string,
/** Label for display: the technical term, and plain words after it if they add information, for example `Discount γ: patience`. */
label: string, kind: KnobKind, default: Value,
/** Unit, for example `steps`; empty for a plain number. */
unit: string,
/** Explanation in one or two sentences that a newcomer understands. */
help: string,
/** True if the setting can change during a run, from the next iteration on. False if a change needs a new run. */
live: boolean, };

export type KnobKind = { "kind": "float", min: number, max: number,
/** True for sliders with a logarithmic scale. */
log: boolean, } | { "kind": "int", min: number, max: number, log: boolean, } | { "kind": "bool" } | { "kind": "choice", options: Array<Named>, } | { "kind": "text",
/** Maximum number of bytes. */
most: number, };

/** Name and label of one option of a choice. */
export type Named = { name: string, label: string, };

/** A number that a run reports once per iteration or once per test. */
export type Column = {
/** Name in CSV, JSON and checkpoints, for example `mean_return`. */
name: string,
/** Name for display, for example `Mean return`. */
label: string,
/** Unit, for example `points`; empty for a plain number. */
unit: string, help: string,
/** Name of the chart; empty if the column is not charted. Columns with the same name share a chart. */
chart: string,
/** True if the scale of the chart is logarithmic. */
log: boolean,
/** True if the number is shown as a percentage. */
share: boolean,
/** Short name in the terminal's status line; empty if the line omits the column. */
brief: string,
/**
 * Columns that show the spread: the column with the standard error, or the two columns with minimum and maximum. Empty if there
 * are no such columns.
 */
spread: Array<string>,
/** Counter and time unit, if the run computes the number as the growth of a counter per time; null for other numbers. */
rate: Rate | null, };

export type Rate = { counter: string,
/** Length of the time unit in seconds: 1 for a rate per second, 60 for a rate per minute. */
seconds: number, };

/** A part of an iteration's time, such as the computation of gradients. */
export type TimePart = {
/** Name in CSV, JSON and checkpoints, for example `gradient`. */
name: string, label: string, help: string, };

/** Description of a room, for the page and the terminal. */
export type RoomInfo = {
/** Name in links and commands, for example `control`. */
id: string,
/** Name for display, for example `Control`. */
title: string,
/** Word for a variant, for example `environment`. */
variant_word: string,
/** Word for an iteration of the learner, for example `round`. */
iteration_word: string,
/** Counters, in the order of [`Progress::counts`]. Budgets are values of the first counter. */
counters: Array<Column>,
/** Columns of [`Event::Metrics`], in order. A metrics row ends with the shares of `parts`. */
metrics: Array<Column>,
/** Columns of [`Event::Test`], in order. */
tests: Array<Column>, parts: Array<TimePart>, variants: Array<Variant>,
/** User data that the room accepts; null if it accepts none. */
data: DataInfo | null,
/** Variant of the runs on user data, which is not in `variants`; null if every variant accepts user data. */
data_variant: string | null, };

/** Description of a variant of a room: an environment, a preset, an experiment or a learner. */
export type Variant = {
/** Name in links and commands, for example `CartPole-v1`. */
id: string, name: string,
/** Description of the task or of the learning method, in one or two sentences. */
summary: string,
/** Goal of the variant. A run that reaches the goal is solved. Null if there is no goal. */
goal: Goal | null,
/** Default budget of a run in a sweep, in units of the room's first counter. */
sweep_budget: number,
/** Description of the variant for the room's own views. The room's `protocol.rs` defines the type of the description. */
about: unknown, };

/** An error in a text from which a run would learn, such as the file of an environment. */
export type Problem = {
/** Line number of the error, from 1. */
line: number,
/** Number of the error's first character in the line, from 1. */
column: number,
/** Number of the character after the error's last character, in the same line. */
end: number,
/** The error and the remedy. */
message: string, };

/**
 * Condition for a solved run: a test reaches the value `at` in the column `column`, and then a confirmation reaches this value too. A
 * confirmation is a second test with its own random draws. A test that covers all cases needs no confirmation.
 */
export type Goal = { column: string, at: number, };

export type Command = { "kind": "start" } | { "kind": "pause" } | { "kind": "step" } | { "kind": "reset", config: Config | null, } | { "kind": "set_knob", name: string, value: Value, } | { "kind": "device", wish: DeviceWish, } | { "kind": "save" } | { "kind": "restore", bytes: Uint8Array,
/** User data, required if the saved file does not contain them. */
data?: Dataset,
/**
 * True if the restored run takes over the user's state, such as a game, from the current run. (A reset always takes over this
 * state.)
 */
follow?: boolean, };

export type Event = { "kind": "began" } & Began | { "kind": "running", running: boolean, } | { "kind": "device" } & Device | { "kind": "metrics" } & Row | { "kind": "mark" } & Mark | { "kind": "test" } & Row | { "kind": "confirmation" } & Confirmation | { "kind": "solved", progress: Progress, goal: number, } | { "kind": "standing" } & Standing | { "kind": "digest" } & Digest | { "kind": "saved", bytes: Uint8Array, } | { "kind": "not_saved", text: string, next_step: string, } | { "kind": "room", event: unknown, text: string, } | { "kind": "notice", level: Level, text: string, next_step: string, };

/** Result of a confirmation, or of a test that reached the goal and needs no confirmation. */
export type Confirmation = { progress: Progress,
/** Value of the confirmation or test in the goal's column; null if the value is unknown. */
value: number | null,
/** Value that the goal requires. */
goal: number, confirmed: boolean, };

/** Headline of a run: one leading number with its name, and one state. All shells show these texts. `standing.rs` defines the rules. */
export type Standing = {
/** Progress at the latest test; before the first test, progress of the run. */
progress: Progress, state: RunState,
/** Progress at the test with which the state began, or at the failure; null while the run is learning. */
since: Progress | null,
/** Name of the leading number, for example `average of 100 test episodes`. */
name: string,
/** Leading number: a value of the latest test; null if there is no test or no value. */
value: number | null,
/** Leading number as text, for example `496.3`; `no test yet` before the first test. */
number: string,
/** State in words, for example `solved at 852 thousand steps and still so`. */
words: string, };

export type RunState = "learning" | "solved" | "still_solved" | "lost_again" | "failed";

/** State of a run at its beginning or after it was restored. */
export type Began = { config: Config,
/** Current value of every knob. */
knobs: { [key in string]: Value }, progress: Progress,
/** Progress at the first successful confirmation; null if there was none. */
solved: Progress | null,
/** Number of failed confirmations. */
attempts: number,
/** Metrics rows of a restored run, oldest first; empty for a new run. */
history: Array<Row>,
/** Test rows of a restored run, oldest first; empty for a new run. */
tests: Array<Row>,
/** Live changes of a restored run, oldest first; empty for a new run. */
marks: Array<Mark>,
/** Data that the room saved: the value of [`crate::room::Room::notes`]. */
room: unknown, };

export type Level = "info" | "warning" | "error";

export type Progress = { iteration: number,
/** Values of the room's counters, in the order of [`RoomInfo::counters`]. */
counts: Array<number>,
/** Seconds of training, without pauses. */
train_s: number, };

/** Values of an iteration or of a test, in the order of the room's columns. An unknown value is null. */
export type Row = { progress: Progress, values: Array<number | null>, };

/** A completed live change of a knob. Charts mark the change on their curves. */
export type Mark = { progress: Progress, knob: string, from: Value, to: Value, };

export type Digest = { iteration: number,
/** Hash of the weights as 16 hexadecimal digits. */
weights: string,
/**
 * Arithmetic of the iterations: `fused`, `unfused`, `bf16` or `amx`. Only digests of equal arithmetic can be equal. Three further
 * values never occur in a link: `gpu` (a GPU computed every iteration, and only that GPU reproduces the digest), `mixed` (several
 * devices computed iterations), and `partial` (the digest was computed within an iteration).
 */
arithmetic: string, };

/** Device that trains, and the reason why it was chosen. */
export type Device = { wish: DeviceWish, on_gpu: boolean,
/** Name of the available GPU; null if none is available. */
gpu: string | null,
/** Work per second on the CPU and on the GPU, in a unit of the room; null if one of the devices was not measured. */
rates: [number, number] | null,
/** Reason for the choice, as a sentence. */
why: string, };

/** Requested device. */
export type DeviceWish = "auto" | "cpu" | "gpu";

/** A small sweep: runs of one config with several values of a knob and several seeds. All runs train at the same time. */
export type SweepSpec = { config: Config, knob: string, values: Array<Value>,
/** Number of seeds. The first seed is the config's seed; the other seeds are the numbers after it. */
seeds: number,
/** Value of the room's first counter at which each learner stops. */
budget: number, };

/** State of one run of a small sweep. */
export type SweepCell = { value: Value, seed: number, progress: Progress,
/**
 * A point of each test that has a value, in the order of the tests. A point is the room's first counter and the value in the
 * goal's column. If the variant has no goal, the value is that of the first column.
 */
curve: Array<[number, number]>,
/** Value of the room's first counter at the time when the run was solved; null if it is not solved. */
solved_at: number | null, done: boolean,
/** True if the run failed: its weights are no longer finite, or the rules of its environment raised an error. */
diverged: boolean, };

/** An operation with one shape, in the plan that computes a learner's gradients. `seconds` is the total time of all calls. */
export type Operation = {
/** Name of the operation, for example `linear`. */
name: string,
/**
 * Shape of the call, for example `64x144x128`. For a matrix product: rows, inputs and outputs. For another operation: the shape of
 * its output.
 */
shape: string,
/** Number of calls in each run of the plan. */
calls: number, seconds: number, };

export type Question = { "ask": "tensors", } | { "ask": "networks", };

/** Parameter tensor of a learner, with the distributions of its weights, of its average gradients and of its layer's activations. */
export type TensorView = {
/** Name of the tensor, for example `policy.0.weight`. */
name: string, shape: Array<number>, weights: Histogram,
/** Distribution of the average gradient, which is Adam's first moment; null if the learner does not use Adam. */
gradients: Histogram | null,
/**
 * Distribution of the layer's activations in some states; null if the tensor is no weight matrix of a layer, or the room does not
 * show networks.
 */
activations: Histogram | null, };

/** Distribution of the values of a tensor. Values that are not finite are left out. */
export type Histogram = { min: number, max: number, mean: number,
/** Standard deviation. */
deviation: number,
/** Number of values in each of 64 bins of equal width, from `min` to `max`. */
counts: Array<number>, };

/**
 * A network as a chain of layers, with its values in one state. At most 64 inputs, and 64 units of a layer, are listed; others are
 * left out.
 */
export type NetworkView = { title: string,
/** Names of the listed inputs; a name is empty if the input has no short name. */
input_names: Array<string>,
/** Values of the listed inputs, as the network reads them. */
inputs: Uint8Array,
/** Layers from the first hidden layer to the outputs. */
layers: Array<LayerView>, output_names: Array<string>, };

export type LayerView = {
/** Name of the tensor of the layer's weights, for example `policy.0.weight`. */
name: string,
/** Number of units of the layer. The other fields list only the first 64 of them. */
units: number,
/** Output of each listed unit. */
activations: Uint8Array,
/** Weights, as `[listed units][listed units of the previous layer, or listed inputs]`. */
weights: Uint8Array,
/** Average gradients of the weights: Adam's first moment. */
gradients: Uint8Array, };

/** Arithmetic and threads in use. The page shows them in its badge, and bug reports contain them. */
export type Backend = {
/** Instruction set: `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable`. */
isa: string, threads: number, arithmetic: string, version: string, };

/** Offsets in words, for readers outside of this crate, such as `www/run/monitor.ts`. */
export type Layout = { words: number, epoch: number,
/** Offset of the progress, which consists of 64-bit floats: iteration, seconds of training, and the room's counters. */
progress: number, metrics: TrackLayout, tests: TrackLayout, };

/**
 * Layout of a track. A record contains its sequence number, its position in the sequence of all events, and 64-bit floats: iteration,
 * seconds of training, counters and values. NaN represents null.
 */
export type TrackLayout = {
/** Offset of the word with the ordinal of the next record. */
head: number, ring: number, ring_records: number,
/** Number of words of a record. */
record: number,
/** Number of words of a record before its floats: the sequence number, and the position in the sequence of all events. */
record_head: number, counters: number, values: number, };

/**
 * Position from which a reader continues if it received `Began` through another channel: the epoch, and the ordinals of the next
 * metrics row and the next test row.
 */
export type Cursor = { epoch: number, metrics: number, tests: number, };

export interface Answers {
  tensors: Array<TensorView>;
  networks: Array<NetworkView>;
}
