//! Plain data exchanged between a run of any room and its shells.
//!
//! The page, the terminal and the monitor show the same events: these types and each room's own `protocol.rs` are all that they
//! can show. Numbers are rows whose columns the room declares once ([`crate::room::Schema`]). The TypeScript versions
//! (`www/run/protocol.ts`) are generated; do not edit them. This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use learn::settings::{KnobKind, Named, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

plain_data! {
    /// Complete description of a run, sufficient to start the same run elsewhere.
    pub struct Config {
        /// Format of this record; see [`crate::VERSION`].
        pub version: u32,
        /// Name of the room, for example `control`.
        pub room: String,
        /// Variant of the room (an environment, a learner or a puzzle), for example `CartPole-v1`.
        pub variant: String,
        pub seed: u32,
        /// Knobs by name; the others have their default.
        pub knobs: Knobs,
        /// User data to learn from. Rooms that take no data refuse a config with data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        pub data: Option<Dataset>,
        /// Live changes of knobs that the run makes by itself, ordered by iteration.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Change>>"))]
        pub changes: Vec<Change>,
    }

    /// A live change of a knob, made at the boundary after `iteration` iterations.
    pub struct Change {
        pub iteration: u32,
        pub knob: String,
        pub value: Value,
    }

    /// A shareable description of a run, with the limits of its reproduction.
    pub struct Shared {
        /// Link to the run, `#/control?variant=…`, with the newest digest if other machines can reproduce it.
        pub link: String,
        /// The link without a digest. This text changes only with the config or with a live change.
        pub address: String,
        /// Command that starts the run in a terminal.
        pub command: String,
        /// Number of live changes of knobs that are replayed.
        pub changes: u32,
        /// Iteration at which a run opened from the link reports whether it reproduced the digest; null if the link has no digest.
        pub checked_at: Option<u32>,
        /// Limits of reproduction, each as a sentence.
        pub limits: Vec<String>,
    }
}

/// User data, with its bytes if they are loaded. A link or a large checkpoint stores only name, length and hash.
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "crate::dataset::Given")]
pub struct Dataset {
    /// Name of the file, for example `book.txt`.
    pub name: String,
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub bytes: u64,
    /// Hash of the bytes: 16 hexadecimal digits. May be empty if `content` is given.
    pub hash: String,
    /// The bytes, if they are loaded; never serialized.
    #[serde(skip_serializing)]
    #[cfg_attr(feature = "typescript", ts(optional, type = "Uint8Array"))]
    pub content: Option<Arc<Vec<u8>>>,
}

/// Values of knobs by name.
pub type Knobs = BTreeMap<String, Value>;

sent_data! {
    /// User data that a room accepts.
    #[derive(Copy)]
    pub struct DataInfo {
        /// Label of the data, for example `Text`.
        pub label: &'static str,
        /// Requirements on the data, in one or two sentences.
        pub help: &'static str,
    }

    /// A setting of a learner, with all that a page or `--help` needs to present it.
    pub struct Knob {
        /// Name in `--set lr=0.003`, in links and in checkpoints, for example `lr`.
        pub name: &'static str,
        /// Technical term, then plain words if they add information, for example `Discount γ: patience`.
        pub label: &'static str,
        pub kind: KnobKind,
        pub default: Value,
        /// Unit, for example `steps`; empty for a plain number.
        pub unit: &'static str,
        /// One or two sentences that a newcomer understands.
        pub help: &'static str,
        /// The setting can change during a run, from the next iteration on. Other settings need a new run.
        pub live: bool,
    }

    /// A number that a run reports once per iteration or once per test.
    #[derive(Copy)]
    pub struct Column {
        /// Name in CSV, JSON and checkpoints, for example `mean_return`.
        pub name: &'static str,
        /// Name for display, for example `Mean return`.
        pub label: &'static str,
        /// Unit, for example `points`; empty for a plain number.
        pub unit: &'static str,
        pub help: &'static str,
        /// Name of the chart; columns with the same name share a chart. Empty if the column is not charted.
        pub chart: &'static str,
        /// The chart's scale is logarithmic.
        pub log: bool,
        /// The number is shown as a percentage.
        pub share: bool,
        /// Short name in the terminal's status line; empty if the line omits the column.
        pub brief: &'static str,
        /// Column with the standard error, or the two columns with the minimum and the maximum; empty if no such columns exist.
        pub spread: &'static [&'static str],
        /// Set if the number is the growth of a counter per time, which the run computes; null for other numbers.
        pub rate: Option<Rate>,
    }

    #[derive(Copy)]
    pub struct Rate {
        pub counter: &'static str,
        /// Length of the time unit in seconds: 1 for a rate per second, 60 for a rate per minute.
        pub seconds: f64,
    }

    /// A part of an iteration's time, such as the computation of gradients.
    #[derive(Copy)]
    pub struct TimePart {
        /// Name in data, for example `gradient`.
        pub name: &'static str,
        pub label: &'static str,
        pub help: &'static str,
    }

    /// Description of a room for displays.
    pub struct RoomInfo {
        /// Name in links and commands, for example `control`.
        pub id: &'static str,
        /// Name for display, for example `Control`.
        pub title: &'static str,
        /// Word for a variant, for example `environment`.
        pub variant_word: &'static str,
        /// Word for an iteration of the learner, for example `round`.
        pub iteration_word: &'static str,
        /// Counters in the order of [`Progress::counts`]; the first is the unit of the budget.
        pub counters: Vec<Column>,
        /// Columns in the order of the values of [`Event::Metrics`], before the time shares of `parts`.
        pub metrics: Vec<Column>,
        /// Columns in the order of the values of [`Event::Test`].
        pub tests: Vec<Column>,
        pub parts: Vec<TimePart>,
        pub variants: Vec<Variant>,
        /// User data that the room accepts; null if it accepts none.
        pub data: Option<DataInfo>,
    }

    /// One of a room's environments, learners or puzzles.
    pub struct Variant {
        /// Name in links and commands, for example `CartPole-v1`.
        pub id: &'static str,
        pub name: &'static str,
        /// Task or learning method, in one or two sentences.
        pub summary: &'static str,
        /// Goal of the variant; a run that reaches the goal is solved. Null if there is no goal.
        pub goal: Option<Goal>,
        /// Default budget of a run in a sweep, as a value of the room's first counter.
        pub sweep_budget: f64,
        /// Description of the variant for the room's own views; its type is in the room's `protocol.rs`.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        pub about: serde_json::Value,
    }

    /// Condition for a solved run: a test reaches `at` in the column `column`, and then a confirmation also reaches it. A confirmation is a
    /// second test with draws from a random stream that neither training nor tests use. A test that covers all cases needs no confirmation.
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
        /// Runs one iteration, or the rest of the iteration in progress, then pauses.
        Step,
        /// Begins a new run, with `config` if given, else with the present config.
        Reset {
            config: Option<Config>,
        },
        SetKnob {
            name: String,
            value: Value,
        },
        /// Chooses the device that trains, from the next iteration on.
        Device {
            wish: DeviceWish,
        },
        /// Ends the iteration in progress, then emits [`Event::Saved`] or [`Event::NotSaved`].
        Save,
        Restore {
            #[serde(with = "serde_bytes")]
            #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
            bytes: Vec<u8>,
            /// User data; required if the saved file does not contain it.
            #[serde(default)]
            #[cfg_attr(feature = "typescript", ts(optional))]
            data: Option<Dataset>,
            /// Keeps the state of the present run that a reset would keep, such as the user's game.
            #[serde(default)]
            #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
            follow: bool,
        },
    }

    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum Event {
        /// A run began, was reset or was restored; displays start afresh.
        Began(Box<Began>),
        /// Training started or paused.
        Running { running: bool },
        /// Device that trains, with the reason; sent after the decision and after each change.
        Device(Device),
        /// Row of metrics, once per iteration.
        Metrics(Row),
        /// A knob changed during the run.
        Mark(Mark),
        /// Result of a test, which uses no training data.
        Test(Row),
        /// Result of the confirmation of a test that reached the variant's goal; see [`Goal`].
        Confirmation(Confirmation),
        /// The run is solved: a confirmation reached the goal for the first time.
        Solved { progress: Progress, goal: f64 },
        /// Digest of all weights, every [`crate::DIGEST_EVERY`] iterations.
        Digest(Digest),
        Saved {
            #[serde(with = "serde_bytes")]
            #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
            bytes: Vec<u8>,
        },
        /// A requested save failed.
        NotSaved { text: String, next_step: String },
        /// An event of the room, declared in its `protocol.rs`, with the same content as a sentence.
        Room {
            #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
            event: serde_json::Value,
            text: String,
        },
        /// A message for the user, with a suggested next step.
        Notice { level: Level, text: String, next_step: String },
    }

    /// Initial state of a run that began or was restored.
    pub struct Began {
        pub config: Config,
        /// Present value of every knob.
        pub knobs: Knobs,
        pub progress: Progress,
        /// Progress at the first successful confirmation; null before.
        pub solved: Option<Progress>,
        /// Number of failed confirmations.
        #[serde(default)]
        pub attempts: u32,
        /// Metrics rows of a restored run, oldest first; empty for a new run.
        pub history: Vec<Row>,
        /// Rows of the tests of a restored run, oldest first.
        pub tests: Vec<Row>,
        /// Live changes of a restored run, oldest first.
        pub marks: Vec<Mark>,
        /// Saved data of the room: the value of [`crate::room::Room::notes`].
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        pub room: serde_json::Value,
    }

    #[derive(Default)]
    pub struct Progress {
        pub iteration: u32,
        /// Values of the room's counters, in the order of [`RoomInfo::counters`].
        pub counts: Vec<f64>,
        /// Seconds spent training, without pauses.
        pub train_s: f64,
    }

    /// Values of an iteration or of a test, in the order of their columns; null for unknown values.
    #[derive(Default)]
    pub struct Row {
        pub progress: Progress,
        pub values: Vec<Option<f64>>,
    }

    /// Result of the confirmation of a test that reached the goal.
    pub struct Confirmation {
        pub progress: Progress,
        /// Value of the confirmation in the goal's column; null if it is unknown.
        pub value: Option<f64>,
        /// Value that the goal requires.
        pub goal: f64,
        pub confirmed: bool,
    }

    /// A live change of a knob, to be marked on the curves.
    pub struct Mark {
        pub progress: Progress,
        pub knob: String,
        pub from: Value,
        pub to: Value,
    }

    /// Requested device.
    #[derive(Copy, Default, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum DeviceWish {
        /// The device that is faster in a measurement.
        #[default]
        Auto,
        Cpu,
        Gpu,
    }

    /// Device in use.
    pub struct Device {
        pub wish: DeviceWish,
        pub on_gpu: bool,
        /// Name of the GPU; null if none is available.
        pub gpu: Option<String>,
        /// Work per second on the CPU and on the GPU, in the room's own unit; null if they were not both measured.
        pub rates: Option<[f64; 2]>,
        /// Reason for the choice, as a sentence.
        pub why: String,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Level {
        Info,
        Warning,
        Error,
    }

    /// A small sweep: runs of one config with several values of a knob and several seeds, all trained at once.
    pub struct SweepSpec {
        pub config: Config,
        pub knob: String,
        pub values: Vec<Value>,
        /// Number of seeds, starting at the config's seed.
        pub seeds: u32,
        /// Value of the room's first counter at which each learner stops.
        pub budget: f64,
    }

    /// State of one learner of a small sweep.
    pub struct SweepCell {
        pub value: Value,
        pub seed: u32,
        pub progress: Progress,
        /// Tests of the learner, oldest first: the value of the room's first counter, and the value in the goal's column.
        pub curve: Vec<[f64; 2]>,
        /// Value of the room's first counter when the learner was solved; null before.
        pub solved_at: Option<f64>,
        pub done: bool,
        /// The learner stopped early because its weights are no longer finite numbers.
        pub diverged: bool,
    }

    /// Calls with the same name and shape in the plan of a learner's gradients, and their total time.
    pub struct Operation {
        /// Name of the operation, for example `linear`.
        pub name: String,
        /// Shape, for example `64x144x128`: rows, inputs and outputs of a matrix product. For other operations, the shape of the output.
        pub shape: String,
        /// Calls per run of the plan.
        pub calls: u32,
        pub seconds: f64,
    }

    /// Arithmetic and threads in use, for the badge and for bug reports.
    #[derive(Default)]
    pub struct Backend {
        /// Instruction set: `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable`.
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
    /// Hash of the weights: 16 hexadecimal digits.
    pub weights: String,
    /// `fused`, `unfused`, `bf16` or `amx`; only digests of the same arithmetic can be equal. `gpu`: a GPU computed every
    /// iteration, and the digest holds for that GPU only. `mixed`: several devices computed iterations. `partial`: the digest
    /// was taken within an iteration. Links never contain the last three.
    pub arithmetic: String,
}

impl From<graph::Operation> for Operation {
    fn from(graph::Operation { name, shape, calls, seconds }: graph::Operation) -> Operation {
        Operation { name: name.into(), shape, calls: calls as u32, seconds }
    }
}
