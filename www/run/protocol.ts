// Types that the page and a run of any room exchange.
// Generated from crates/run/src/{protocol,monitor}.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

/** What a run is: enough to start the same run anywhere. */
export type Config = {
/** The format of this record; see [`crate::VERSION`]. */
version: number,
/** `control` */
room: string,
/** Which of the room's: an environment, a learner, a puzzle. `CartPole-v1` */
variant: string, seed: number,
/** Knobs by name; those left out have their default. */
knobs: { [key in string]: Value },
/** What it learns from, where a user brought it; rooms that take no data refuse any. */
data?: Dataset,
/** Live changes of knobs that it makes by itself, in the order of their iterations. */
changes?: Array<Change>, };

/** A live change of a knob, made at the boundary after so many iterations. */
export type Change = { iteration: number, knob: string, value: Value, };

/** What starts the same run elsewhere, and what of the run it cannot bring along. */
export type Shared = {
/** `#/control?variant=…`, with the newest digest where others can reach it. */
link: string,
/** The link without a digest, which stays the same while nobody changes anything. */
address: string,
/** For a terminal. */
command: string,
/** How many live changes of knobs are made again. */
changes: number,
/** After so many iterations whoever opens the link is told whether the run was reproduced. */
checked_at: number | null,
/** What cannot be brought along, each in a sentence. */
limits: Array<string>, };

/** Data that a user brought, and its bytes where they are at hand: a link and a large checkpoint tell which they were. */
export type Dataset = {
/** `book.txt` */
name: string, bytes: number,
/** 16 hexadecimal digits. Whoever brings the bytes may leave it empty. */
hash: string,
/** Never told. */
content?: Uint8Array, };

/** What a room can be given to learn from. */
export type DataInfo = {
/** `Text` */
label: string,
/** What it has to be, in a sentence or two. */
help: string, };

/** The value of a knob: a number (0 or 1 for a switch), or the name of a choice, or a text. */
export type Value = number | string;

/** One setting of a learner, described well enough for a page or a `--help` to present it. */
export type Knob = {
/** `lr`: the name in `--set lr=0.003`, in links and in checkpoints. */
name: string,
/** The field's own term, then the plain words where they say more: `Discount γ: patience` */
label: string, kind: KnobKind, default: Value,
/** `steps`, `environments`, or empty for a plain number. */
unit: string,
/** One or two sentences that a newcomer understands. */
help: string,
/** Applies to the run in progress from its next iteration; the others need a new run. */
live: boolean, };

export type KnobKind = { "kind": "float", min: number, max: number,
/** Sliders move on a logarithmic scale. */
log: boolean, } | { "kind": "int", min: number, max: number, log: boolean, } | { "kind": "bool" } | { "kind": "choice", options: Array<Named>, } | { "kind": "text",
/** Bytes at most. */
most: number, };

/** One of a few, with words for it. */
export type Named = { name: string, label: string, };

/** A number that a run tells, once an iteration or once a test. */
export type Column = {
/** `mean_return`: in CSV, JSON and checkpoints. */
name: string,
/** `Mean return` */
label: string,
/** `points`, or empty for a plain number. */
unit: string, help: string,
/** Columns with the same name here share a chart; empty where it is not charted. */
chart: string,
/** The chart's scale is logarithmic. */
log: boolean,
/** Shown as a percentage. */
share: boolean,
/** Its short name in a line of the terminal; empty where it is left out there. */
brief: string,
/** The column that has its standard error, or those of its least and greatest value; empty where there are none. */
spread: Array<string>,
/** Computed by the run: how fast this counter grows, in so many seconds. */
rate: Rate | null, };

export type Rate = { counter: string,
/** 1 for each second, 60 for each minute. */
seconds: number, };

/** Where the time of an iteration goes. */
export type Part = {
/** `gradient` */
name: string, label: string, help: string, };

/** What a room is, for whoever shows its runs. */
export type RoomInfo = {
/** `control` */
id: string,
/** `Control` */
title: string,
/** What its variants are: `environment` */
variant_word: string,
/** What an iteration of its learners is called: `round` */
iteration_word: string,
/** In the order of [`Progress::counts`]; the first is the budget's unit. */
counters: Array<Column>,
/** In the order of the values of [`Event::Metrics`], before the shares of time of `parts`. */
metrics: Array<Column>,
/** In the order of the values of [`Event::Test`]. */
tests: Array<Column>, parts: Array<Part>, variants: Array<Variant>,
/** What it can be given to learn from, where it takes anything. */
data: DataInfo | null, };

/** One of a room's environments, learners or puzzles. */
export type Variant = {
/** `CartPole-v1` */
id: string, name: string,
/** What there is to do or how it learns, in a sentence or two. */
summary: string,
/** When it counts as solved. */
goal: Goal | null,
/** After so much, of the room's first counter, a run of a sweep ends where nothing else was asked for. */
sweep_budget: number,
/** What the room's own views need to know of it. */
about: unknown, };

/**
 * A run is solved once a test reaches this number in this column and a confirmation does too: a second test of the same, on draws of
 * a stream of random numbers that neither training nor tests use, or the test itself where it covers all cases.
 */
export type Goal = { column: string, at: number, };

export type Command = { "kind": "start" } | { "kind": "pause" } | { "kind": "step" } | { "kind": "reset", config: Config | null, } | { "kind": "set_knob", name: string, value: Value, } | { "kind": "device", wish: DeviceWish, } | { "kind": "save" } | { "kind": "restore", bytes: Uint8Array,
/** What the run learns from, where its file is too large to have it. */
data?: Dataset,
/** It keeps of the present run what a new one would, as the game that somebody plays. */
follow?: boolean, };

export type Event = { "kind": "began" } & Began | { "kind": "running", running: boolean, } | { "kind": "device" } & Device | { "kind": "metrics" } & Row | { "kind": "mark" } & Mark | { "kind": "test" } & Row | { "kind": "confirmation" } & Confirmation | { "kind": "solved", progress: Progress, goal: number, } | { "kind": "digest" } & Digest | { "kind": "saved", bytes: Uint8Array, } | { "kind": "not_saved", text: string, next_step: string, } | { "kind": "room", event: unknown, text: string, } | { "kind": "notice", level: Level, text: string, next_step: string, };

/** What came of the confirmation of a test that reached the goal. */
export type Confirmation = { progress: Progress,
/** Of the goal's column, and what it had to reach. */
value: number | null, goal: number, confirmed: boolean, };

/** How a run stands when it is told of first. */
export type Began = { config: Config,
/** Every knob with the value in force. */
knobs: { [key in string]: Value }, progress: Progress,
/** Where it was first confirmed to reach the goal. */
solved: Progress | null,
/** Confirmations that failed. */
attempts: number,
/** Of a restored run, oldest first; empty for a new one. */
history: Array<Row>, tests: Array<Row>, marks: Array<Mark>,
/** What the room tells of itself. */
room: unknown, };

export type Level = "info" | "warning" | "error";

/** How far a run has come. */
export type Progress = { iteration: number,
/** The room's counters, in their order. */
counts: Array<number>,
/** Seconds spent training, pauses left out. */
train_s: number, };

/** Numbers in the order of their columns; null where one is not known. */
export type Row = { progress: Progress, values: Array<number | null>, };

/** A live change of a knob, to be drawn on the curves. */
export type Mark = { progress: Progress, knob: string, from: Value, to: Value, };

export type Digest = { iteration: number,
/** 16 hexadecimal digits. */
weights: string,
/**
 * `fused`, `unfused`, `bf16` or `amx`: only digests of the same arithmetic can be equal. `gpu` where a GPU did every iteration,
 * whose digests hold on that GPU alone, `mixed` where a run has been on several, and `partial` within an iteration: links carry none
 * of them.
 */
arithmetic: string, };

/** What trains. */
export type Device = { wish: DeviceWish, on_gpu: boolean,
/** The GPU's name, where there is one to use. */
gpu: string | null,
/** Work a second on the processor and with the GPU, where both were measured: in the room's own unit. */
rates: [number, number] | null,
/** Why, in a sentence. */
why: string, };

/** What should train. */
export type DeviceWish = "auto" | "cpu" | "gpu";

/** A small sweep: the same run under several values of a knob and several seeds, all learning at once. */
export type SweepSpec = { config: Config, knob: string, values: Array<Value>,
/** Seeds from the config's on. */
seeds: number,
/** Of the room's first counter, after which each learner stops. */
budget: number, };

/** One learner of a small sweep as it stands. */
export type SweepCell = { value: Value, seed: number, progress: Progress,
/** `[first counter, column of the goal]` of its tests, oldest first. */
curve: Array<[number, number]>,
/** The first counter where it was solved. */
solved_at: number | null, done: boolean,
/** Why it stopped early: its weights are no longer numbers. */
diverged: boolean, };

/** Calls of one name and shape in the plan of a learner's gradients, and the time that they took. */
export type Operation = {
/** `linear` */
name: string,
/** `64x144x128`: rows, inputs and outputs of a product; else what is written. */
shape: string,
/** In one run of the plan. */
calls: number, seconds: number, };

/** What is in use and why, for the badge and for bug reports. */
export type Backend = {
/** `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable` */
isa: string, threads: number, arithmetic: string, version: string, };

/**
 * Where a reader that is not of this crate finds what a page draws, in words from the beginning; see
 * `www/run/monitor.ts`.
 */
export type Layout = { words: number, epoch: number,
/** Iteration, seconds of training, then the room's counters: each a number of 64 bits. */
progress: number, metrics: TrackLayout, tests: TrackLayout, };

/**
 * A record is its sequence number, its place among all that was told, and its numbers: iteration, seconds of training, the
 * counters, the values; NaN means null.
 */
export type TrackLayout = {
/** Ordinal of the next record. */
head: number, ring: number, ring_records: number,
/** Words of a record, and of them those before its numbers. */
record: number, record_head: number, counters: number, values: number, };

/** Where a reader goes on that was told of a run's beginning in another way. */
export type Cursor = { epoch: number, metrics: number, tests: number, };
