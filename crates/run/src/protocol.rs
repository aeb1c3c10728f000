//! What crosses the boundary between a run of any room and its shells, as plain data.
//!
//! The page, the terminal and the monitor show the same events: what is not here, or in a room's own `protocol.rs`, none
//! of them can show. Numbers are rows whose columns the room declares once ([`crate::room::Schema`]). The TypeScript of
//! these types (`www/run/protocol.ts`) is generated, never written. This file refuses to hold behaviour.

use crate::plain_data::{plain_data, told_data};
pub use learn::settings::{Kind as KnobKind, Named, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

plain_data! {
    /// What a run is: enough to start the same run anywhere.
    pub struct Config {
        /// The format of this record; see [`crate::VERSION`].
        pub version: u32,
        /// `control`
        pub room: String,
        /// Which of the room's: an environment, a learner, a puzzle. `CartPole-v1`
        pub variant: String,
        pub seed: u32,
        /// Knobs by name; those left out have their default.
        pub knobs: Knobs,
        /// What it learns from, where a user brought it; rooms that take no data refuse any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        pub data: Option<Dataset>,
        /// Live changes of knobs that it makes by itself, in the order of their iterations.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Change>>"))]
        pub changes: Vec<Change>,
    }

    /// A live change of a knob, made at the boundary after so many iterations.
    pub struct Change {
        pub iteration: u32,
        pub knob: String,
        pub value: Value,
    }

    /// What starts the same run elsewhere, and what of the run it cannot bring along.
    pub struct Shared {
        /// `#/control?variant=…`, with the newest digest where others can reach it.
        pub link: String,
        /// The link without a digest, which stays the same while nobody changes anything.
        pub address: String,
        /// For a terminal.
        pub command: String,
        /// How many live changes of knobs are made again.
        pub changes: u32,
        /// After so many iterations whoever opens the link is told whether the run was reproduced.
        pub checked_at: Option<u32>,
        /// What cannot be brought along, each in a sentence.
        pub limits: Vec<String>,
    }
}

/// Data that a user brought, and its bytes where they are at hand: a link and a large checkpoint tell which they were.
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "crate::dataset::Given")]
pub struct Dataset {
    /// `book.txt`
    pub name: String,
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub bytes: u64,
    /// 16 hexadecimal digits. Whoever brings the bytes may leave it empty.
    pub hash: String,
    /// Never told.
    #[serde(skip_serializing)]
    #[cfg_attr(feature = "typescript", ts(optional, type = "Uint8Array"))]
    pub content: Option<Arc<Vec<u8>>>,
}

/// Values of knobs by name.
pub type Knobs = BTreeMap<String, Value>;

told_data! {
    /// What a room can be given to learn from.
    #[derive(Copy)]
    pub struct DataInfo {
        /// `Text`
        pub label: &'static str,
        /// What it has to be, in a sentence or two.
        pub help: &'static str,
    }

    /// One setting of a learner, described well enough for a page or a `--help` to present it.
    pub struct Knob {
        /// `lr`: the name in `--set lr=0.003`, in links and in checkpoints.
        pub name: &'static str,
        /// The field's own term, then the plain words where they say more: `Discount γ: patience`
        pub label: &'static str,
        pub kind: KnobKind,
        pub default: Value,
        /// `steps`, `environments`, or empty for a plain number.
        pub unit: &'static str,
        /// One or two sentences that a newcomer understands.
        pub help: &'static str,
        /// Applies to the run in progress from its next iteration; the others need a new run.
        pub live: bool,
    }

    /// A number that a run tells, once an iteration or once a test.
    #[derive(Copy)]
    pub struct Column {
        /// `mean_return`: in CSV, JSON and checkpoints.
        pub name: &'static str,
        /// `Mean return`
        pub label: &'static str,
        /// `points`, or empty for a plain number.
        pub unit: &'static str,
        pub help: &'static str,
        /// Columns with the same name here share a chart; empty where it is not charted.
        pub chart: &'static str,
        /// The chart's scale is logarithmic.
        pub log: bool,
        /// Shown as a percentage.
        pub share: bool,
        /// Its short name in a line of the terminal; empty where it is left out there.
        pub brief: &'static str,
        /// The column that has its standard error, or those of its least and greatest value; empty where there are none.
        pub spread: &'static [&'static str],
        /// Computed by the run: how fast this counter grows, in so many seconds.
        pub rate: Option<Rate>,
    }

    #[derive(Copy)]
    pub struct Rate {
        pub counter: &'static str,
        /// 1 for each second, 60 for each minute.
        pub seconds: f64,
    }

    /// Where the time of an iteration goes.
    #[derive(Copy)]
    pub struct Part {
        /// `gradient`
        pub name: &'static str,
        pub label: &'static str,
        pub help: &'static str,
    }

    /// What a room is, for whoever shows its runs.
    pub struct RoomInfo {
        /// `control`
        pub id: &'static str,
        /// `Control`
        pub title: &'static str,
        /// What its variants are: `environment`
        pub variant_word: &'static str,
        /// What an iteration of its learners is called: `round`
        pub iteration_word: &'static str,
        /// In the order of [`Progress::counts`]; the first is the budget's unit.
        pub counters: Vec<Column>,
        /// In the order of the values of [`Event::Metrics`], before the shares of time of `parts`.
        pub metrics: Vec<Column>,
        /// In the order of the values of [`Event::Test`].
        pub tests: Vec<Column>,
        pub parts: Vec<Part>,
        pub variants: Vec<Variant>,
        /// What it can be given to learn from, where it takes anything.
        pub data: Option<DataInfo>,
    }

    /// One of a room's environments, learners or puzzles.
    pub struct Variant {
        /// `CartPole-v1`
        pub id: &'static str,
        pub name: &'static str,
        /// What there is to do or how it learns, in a sentence or two.
        pub summary: &'static str,
        /// When it counts as solved.
        pub goal: Option<Goal>,
        /// After so much, of the room's first counter, a run of a sweep ends where nothing else was asked for.
        pub sweep_budget: f64,
        /// What the room's own views need to know of it.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        pub about: serde_json::Value,
    }

    /// A run is solved once a test reaches this number in this column and a confirmation does too: a second test of the same, on draws of
    /// a stream of random numbers that neither training nor tests use, or the test itself where it covers all cases.
    #[derive(Copy)]
    pub struct Goal {
        pub column: &'static str,
        pub at: f64,
    }
}

plain_data! {
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum Command {
        Start,
        Pause,
        /// One whole iteration, then pause.
        Step,
        /// Begin again, with another config where one is given.
        Reset {
            config: Option<Config>,
        },
        SetKnob {
            name: String,
            value: Value,
        },
        /// What should train, from the next iteration on.
        Device {
            wish: DeviceWish,
        },
        /// Ends the iteration in progress, then gives [`Event::Saved`] or [`Event::NotSaved`].
        Save,
        Restore {
            #[serde(with = "serde_bytes")]
            #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
            bytes: Vec<u8>,
            /// What the run learns from, where its file is too large to have it.
            #[serde(default)]
            #[cfg_attr(feature = "typescript", ts(optional))]
            data: Option<Dataset>,
            /// It keeps of the present run what a new one would, as the game that somebody plays.
            #[serde(default)]
            #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
            follow: bool,
        },
    }

    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum Event {
        /// A run has begun, was reset or was restored: draw afresh.
        Began(Box<Began>),
        /// Training started or paused.
        Running { running: bool },
        /// What trains, and why: told once it is decided, and whenever it changes.
        Device(Device),
        /// Once an iteration.
        Metrics(Row),
        /// A knob changed while the run went on.
        Mark(Mark),
        /// What was learned was tested on what does not train it.
        Test(Row),
        /// A test reached the variant's goal, and this is what its confirmation came to; see [`Goal`].
        Confirmation(Confirmation),
        /// A confirmation reached the goal, for the first time.
        Solved { progress: Progress, goal: f64 },
        /// The digest of all weights, every [`crate::DIGEST_EVERY`] iterations.
        Digest(Digest),
        Saved {
            #[serde(with = "serde_bytes")]
            #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
            bytes: Vec<u8>,
        },
        /// A save that was asked for cannot be given.
        NotSaved { text: String, next_step: String },
        /// Something of the room's own, declared in its `protocol.rs`, and the same in a sentence.
        Room {
            #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
            event: serde_json::Value,
            text: String,
        },
        /// Something the person should know, with the next step they can take.
        Notice { level: Level, text: String, next_step: String },
    }

    /// How a run stands when it is told of first.
    pub struct Began {
        pub config: Config,
        /// Every knob with the value in force.
        pub knobs: Knobs,
        pub progress: Progress,
        /// Where it was first confirmed to reach the goal.
        pub solved: Option<Progress>,
        /// Confirmations that failed.
        #[serde(default)]
        pub attempts: u32,
        /// Of a restored run, oldest first; empty for a new one.
        pub history: Vec<Row>,
        pub tests: Vec<Row>,
        pub marks: Vec<Mark>,
        /// What the room tells of itself.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        pub room: serde_json::Value,
    }

    /// How far a run has come.
    #[derive(Default)]
    pub struct Progress {
        pub iteration: u32,
        /// The room's counters, in their order.
        pub counts: Vec<f64>,
        /// Seconds spent training, pauses left out.
        pub train_s: f64,
    }

    /// Numbers in the order of their columns; null where one is not known.
    #[derive(Default)]
    pub struct Row {
        pub progress: Progress,
        pub values: Vec<Option<f64>>,
    }

    /// What came of the confirmation of a test that reached the goal.
    pub struct Confirmation {
        pub progress: Progress,
        /// Of the goal's column, and what it had to reach.
        pub value: Option<f64>,
        pub goal: f64,
        pub confirmed: bool,
    }

    /// A live change of a knob, to be drawn on the curves.
    pub struct Mark {
        pub progress: Progress,
        pub knob: String,
        pub from: Value,
        pub to: Value,
    }

    /// What should train.
    #[derive(Copy, Default, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum DeviceWish {
        /// What turns out to be faster.
        #[default]
        Auto,
        Cpu,
        Gpu,
    }

    /// What trains.
    pub struct Device {
        pub wish: DeviceWish,
        pub on_gpu: bool,
        /// The GPU's name, where there is one to use.
        pub gpu: Option<String>,
        /// Work a second on the processor and with the GPU, where both were measured: in the room's own unit.
        pub rates: Option<[f64; 2]>,
        /// Why, in a sentence.
        pub why: String,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Level {
        Info,
        Warning,
        Error,
    }

    /// A small sweep: the same run under several values of a knob and several seeds, all learning at once.
    pub struct SweepSpec {
        pub config: Config,
        pub knob: String,
        pub values: Vec<Value>,
        /// Seeds from the config's on.
        pub seeds: u32,
        /// Of the room's first counter, after which each learner stops.
        pub budget: f64,
    }

    /// One learner of a small sweep as it stands.
    pub struct SweepCell {
        pub value: Value,
        pub seed: u32,
        pub progress: Progress,
        /// `[first counter, column of the goal]` of its tests, oldest first.
        pub curve: Vec<[f64; 2]>,
        /// The first counter where it was solved.
        pub solved_at: Option<f64>,
        pub done: bool,
        /// Why it stopped early: its weights are no longer numbers.
        pub diverged: bool,
    }

    /// Calls of one name and shape in the plan of a learner's gradients, and the time that they took.
    pub struct Operation {
        /// `linear`
        pub name: String,
        /// `64x144x128`: rows, inputs and outputs of a product; else what is written.
        pub shape: String,
        /// In one run of the plan.
        pub calls: u32,
        pub seconds: f64,
    }

    /// What is in use and why, for the badge and for bug reports.
    #[derive(Default)]
    pub struct Backend {
        /// `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable`
        pub isa: String,
        pub threads: u32,
        pub arithmetic: String,
        pub version: String,
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Digest {
    pub iteration: u32,
    /// 16 hexadecimal digits.
    pub weights: String,
    /// `fused`, `unfused`, `bf16` or `amx`: only digests of the same arithmetic can be equal. `gpu` where a GPU did every iteration,
    /// whose digests hold on that GPU alone, `mixed` where a run has been on several, and `partial` within an iteration: links carry none
    /// of them.
    pub arithmetic: String,
}

impl From<graph::Operation> for Operation {
    fn from(graph::Operation { name, shape, calls, seconds }: graph::Operation) -> Operation {
        Operation { name: name.into(), shape, calls: calls as u32, seconds }
    }
}
