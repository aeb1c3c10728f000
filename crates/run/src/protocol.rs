//! Plain data that a run of any room and its shells exchange.
//!
//! The page, the terminal and the monitor show the same events. These types and each room's own `protocol.rs` define all data that shells
//! can show. Numbers are in rows. The room declares the columns of the rows once ([`crate::room::Schema`]). The TypeScript types
//! (`www/run/protocol.ts`) are generated; do not edit them. This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
use crate::questions::floats;
pub use learn::settings::{KnobKind, Named, Value};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

crate::questions! {
    /// Returns the parameter tensors of the learner, each with the distributions of its weights and of its gradients. Returns an empty list
    /// before the learner exists.
    Tensors {} -> Vec<TensorView>,
    /// Returns the networks of the learner with their values in the state that the page shows, for a drawing. Returns an empty list if the
    /// room has no such networks.
    Networks {} -> Vec<NetworkView>,
}

plain_data! {
    /// Complete description of a run. Another machine needs only this config, and the bytes of the user data if there are any, to start the
    /// same run.
    pub struct Config {
        /// Format version of this config; see [`crate::VERSION`].
        pub version: u32,
        /// Name of the room, for example `control`.
        pub room: String,
        /// Name of the room's variant, for example `CartPole-v1`. A variant is an environment, a preset, an experiment or a learner.
        pub variant: String,
        pub seed: u32,
        /// Values of knobs by name. The knobs that are not in the map have their default.
        pub knobs: Knobs,
        /// User data that the run learns from. A room that takes no user data refuses a config with user data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        pub data: Option<Dataset>,
        /// Live changes of knobs that the run makes by itself, ordered by iteration.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Change>>"))]
        pub changes: Vec<Change>,
    }

    /// A live change of a knob, made after `iteration` iterations.
    pub struct Change {
        pub iteration: u32,
        pub knob: String,
        pub value: Value,
    }

    /// Description of a run for other users, with the limits of its reproduction on their machines.
    pub struct Shared {
        /// Link to the run, for example `#/control?variant=…`. It contains the latest digest if other machines can reproduce that digest.
        pub link: String,
        /// Link to the run without a digest. This link changes only if the config changes or a live change is made.
        pub address: String,
        /// Command that starts the run in a terminal.
        pub command: String,
        /// Number of live changes of knobs that the linked run repeats.
        pub changes: u32,
        /// Iteration of the digest that the link contains. After this iteration, the linked run reports whether it has the same digest.
        /// Null if the link contains no digest.
        pub checked_at: Option<u32>,
        /// Sentences that describe the limits of reproduction.
        pub limits: Vec<String>,
    }
}

/// User data, with the bytes if they are loaded. A link, or a checkpoint with large user data, contains only name, length and hash.
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "crate::dataset::Given")]
pub struct Dataset {
    /// Name of the file, for example `book.txt`.
    pub name: String,
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub bytes: u64,
    /// Hash of the bytes as 16 hexadecimal digits. It may be empty if `content` is present.
    pub hash: String,
    /// Bytes of the file; null if they are not loaded. They are never serialized.
    #[serde(skip_serializing)]
    #[cfg_attr(feature = "typescript", ts(optional, type = "Uint8Array"))]
    pub content: Option<Arc<Vec<u8>>>,
}

/// Values of knobs by name.
pub type Knobs = BTreeMap<String, Value>;

sent_data! {
    /// Description of the user data that a room accepts.
    #[derive(Copy)]
    pub struct DataInfo {
        /// Label of the data, for example `Text`.
        pub label: &'static str,
        /// Requirements that the data must meet, in one or two sentences.
        pub help: &'static str,
    }

    /// A setting of a learner, with all texts and limits that the page or `--help` presents.
    pub struct Knob {
        /// Name in links, in checkpoints and in `--set`, for example `lr`.
        pub name: &'static str,
        /// Label for display: the technical term, and plain words after it if they add information, for example `Discount γ: patience`.
        pub label: &'static str,
        pub kind: KnobKind,
        pub default: Value,
        /// Unit, for example `steps`; empty for a plain number.
        pub unit: &'static str,
        /// Explanation in one or two sentences that a newcomer understands.
        pub help: &'static str,
        /// True if the setting can change during a run, from the next iteration on. False if a change needs a new run.
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
        /// Name of the chart; empty if the column is not charted. Columns with the same name share a chart.
        pub chart: &'static str,
        /// True if the scale of the chart is logarithmic.
        pub log: bool,
        /// True if the number is shown as a percentage.
        pub share: bool,
        /// Name of a test's number where it leads a headline, for example `average of {episodes} test episodes`. The value of a test column
        /// replaces the column's name in braces. If the name is empty, the label is used.
        #[serde(skip)]
        #[cfg_attr(feature = "typescript", ts(skip))]
        pub lead: &'static str,
        /// Short name in the terminal's status line; empty if the line omits the column.
        pub brief: &'static str,
        /// Columns that show the spread: the column with the standard error, or the two columns with minimum and maximum. Empty if there
        /// are no such columns.
        pub spread: &'static [&'static str],
        /// Counter and time unit, if the run computes the number as the growth of a counter per time; null for other numbers.
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
        /// Name in CSV, JSON and checkpoints, for example `gradient`.
        pub name: &'static str,
        pub label: &'static str,
        pub help: &'static str,
    }

    /// Description of a room, for the page and the terminal.
    pub struct RoomInfo {
        /// Name in links and commands, for example `control`.
        pub id: &'static str,
        /// Name for display, for example `Control`.
        pub title: &'static str,
        /// Word for a variant, for example `environment`.
        pub variant_word: &'static str,
        /// Word for an iteration of the learner, for example `round`.
        pub iteration_word: &'static str,
        /// Counters, in the order of [`Progress::counts`]. Budgets are values of the first counter.
        pub counters: Vec<Column>,
        /// Columns of [`Event::Metrics`], in order. A metrics row ends with the shares of `parts`.
        pub metrics: Vec<Column>,
        /// Columns of [`Event::Test`], in order.
        pub tests: Vec<Column>,
        pub parts: Vec<TimePart>,
        pub variants: Vec<Variant>,
        /// User data that the room accepts; null if it accepts none.
        pub data: Option<DataInfo>,
        /// Variant of the runs on user data, which is not in `variants`; null if every variant accepts user data.
        pub data_variant: Option<&'static str>,
    }

    /// Description of a variant of a room: an environment, a preset, an experiment or a learner.
    pub struct Variant {
        /// Name in links and commands, for example `CartPole-v1`.
        pub id: Cow<'static, str>,
        pub name: Cow<'static, str>,
        /// Description of the task or of the learning method, in one or two sentences.
        pub summary: Cow<'static, str>,
        /// Goal of the variant. A run that reaches the goal is solved. Null if there is no goal.
        pub goal: Option<Goal>,
        /// Default budget of a run in a sweep, in units of the room's first counter.
        pub sweep_budget: f64,
        /// Description of the variant for the room's own views. The room's `protocol.rs` defines the type of the description.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        pub about: serde_json::Value,
    }

    /// An error in a text from which a run would learn, such as the file of an environment.
    pub struct Problem {
        /// Line number of the error, from 1.
        pub line: u32,
        /// Number of the error's first character in the line, from 1.
        pub column: u32,
        /// Number of the character after the error's last character, in the same line.
        pub end: u32,
        /// The error and the remedy.
        pub message: String,
    }

    /// Condition for a solved run: a test reaches the value `at` in the column `column`, and then a confirmation reaches this value too. A
    /// confirmation is a second test with its own random draws. A test that covers all cases needs no confirmation.
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
        /// Begins a new run with `config`; null means the current config.
        Reset {
            config: Option<Config>,
        },
        SetKnob {
            name: String,
            value: Value,
        },
        /// Requests a device, which trains from the next iteration on.
        Device {
            wish: DeviceWish,
        },
        /// Saves the run, then emits [`Event::Saved`] or [`Event::NotSaved`]. If a short iteration is in progress, the run completes it
        /// before the save.
        Save,
        Restore {
            #[serde(with = "serde_bytes")]
            #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
            bytes: Vec<u8>,
            /// User data, required if the saved file does not contain them.
            #[serde(default)]
            #[cfg_attr(feature = "typescript", ts(optional))]
            data: Option<Dataset>,
            /// True if the restored run takes over the user's state, such as a game, from the current run. (A reset always takes over this
            /// state.)
            #[serde(default)]
            #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
            follow: bool,
        },
    }

    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum Event {
        /// A run began, was reset or was restored. A display discards all earlier events.
        Began(Box<Began>),
        /// Training started (`running` is true) or paused.
        Running { running: bool },
        /// The run chose the device that trains, and gives the reason. This event follows every choice.
        Device(Device),
        /// An iteration ended with these metrics.
        Metrics(Row),
        /// A knob changed during the run.
        Mark(Mark),
        /// A test ended with these values. A test uses no training data.
        Test(Row),
        /// A confirmation ended, or a test that reached the goal and needs no confirmation; see [`Goal`].
        Confirmation(Confirmation),
        /// The run is solved: a confirmation, or a test that needs none, reached the goal for the first time.
        Solved { progress: Progress, goal: f64 },
        /// The run's standing. This event follows [`Event::Began`], each test, each confirmation and a permanent failure.
        Standing(Standing),
        /// A digest of all weights was computed, which happens every [`crate::DIGEST_EVERY`] iterations.
        Digest(Digest),
        Saved {
            #[serde(with = "serde_bytes")]
            #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
            bytes: Vec<u8>,
        },
        /// A requested save failed, for the reason `text`.
        NotSaved { text: String, next_step: String },
        /// An event of the room occurred. The room's `protocol.rs` defines the type of `event`; `text` is a sentence with the same content.
        Room {
            #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
            event: serde_json::Value,
            text: String,
        },
        /// A message for the user, with a remedy or a next step.
        Notice { level: Level, text: String, next_step: String },
    }

    /// State of a run at its beginning or after it was restored.
    pub struct Began {
        pub config: Config,
        /// Current value of every knob.
        pub knobs: Knobs,
        pub progress: Progress,
        /// Progress at the first successful confirmation; null if there was none.
        pub solved: Option<Progress>,
        /// Number of failed confirmations.
        #[serde(default)]
        pub attempts: u32,
        /// Metrics rows of a restored run, oldest first; empty for a new run.
        pub history: Vec<Row>,
        /// Test rows of a restored run, oldest first; empty for a new run.
        pub tests: Vec<Row>,
        /// Live changes of a restored run, oldest first; empty for a new run.
        pub marks: Vec<Mark>,
        /// Data that the room saved: the value of [`crate::room::Room::notes`].
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        pub room: serde_json::Value,
    }

    #[derive(Default)]
    pub struct Progress {
        pub iteration: u32,
        /// Values of the room's counters, in the order of [`RoomInfo::counters`].
        pub counts: Vec<f64>,
        /// Seconds of training, without pauses.
        pub train_s: f64,
    }

    /// Values of an iteration or of a test, in the order of the room's columns. An unknown value is null.
    #[derive(Default)]
    pub struct Row {
        pub progress: Progress,
        pub values: Vec<Option<f64>>,
    }

    /// Result of a confirmation, or of a test that reached the goal and needs no confirmation.
    pub struct Confirmation {
        pub progress: Progress,
        /// Value of the confirmation or test in the goal's column; null if the value is unknown.
        pub value: Option<f64>,
        /// Value that the goal requires.
        pub goal: f64,
        pub confirmed: bool,
    }

    /// Headline of a run: one leading number with its name, and one state. All shells show these texts. `standing.rs` defines the rules.
    pub struct Standing {
        /// Progress at the latest test; before the first test, progress of the run.
        pub progress: Progress,
        pub state: RunState,
        /// Progress at the test with which the state began, or at the failure; null while the run is learning.
        pub since: Option<Progress>,
        /// Name of the leading number, for example `average of 100 test episodes`.
        pub name: String,
        /// Leading number: a value of the latest test; null if there is no test or no value.
        pub value: Option<f64>,
        /// Leading number as text, for example `496.3`; `no test yet` before the first test.
        pub number: String,
        /// State in words, for example `solved at 852 thousand steps and still so`.
        pub words: String,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum RunState {
        /// The run is not solved, or has no goal.
        Learning,
        /// The latest test with a value is the one that solved the run, or that solved it again.
        Solved,
        /// At least two consecutive tests reached the goal, up to the latest test.
        StillSolved,
        /// The run was solved, and the latest test misses the goal.
        LostAgain,
        /// The run stopped permanently: its weights are no longer finite, or the rules of its environment raised an error.
        Failed,
    }

    /// A completed live change of a knob. Charts mark the change on their curves.
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
        /// The faster device. The run measures the speed of both devices on its own work.
        #[default]
        Auto,
        Cpu,
        Gpu,
    }

    /// Device that trains, and the reason why it was chosen.
    pub struct Device {
        pub wish: DeviceWish,
        pub on_gpu: bool,
        /// Name of the available GPU; null if none is available.
        pub gpu: Option<String>,
        /// Work per second on the CPU and on the GPU, in a unit of the room; null if one of the devices was not measured.
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

    /// A small sweep: runs of one config with several values of a knob and several seeds. All runs train at the same time.
    pub struct SweepSpec {
        pub config: Config,
        pub knob: String,
        pub values: Vec<Value>,
        /// Number of seeds. The first seed is the config's seed; the other seeds are the numbers after it.
        pub seeds: u32,
        /// Value of the room's first counter at which each learner stops.
        pub budget: f64,
    }

    /// State of one run of a small sweep.
    pub struct SweepCell {
        pub value: Value,
        pub seed: u32,
        pub progress: Progress,
        /// A point of each test that has a value, in the order of the tests. A point is the room's first counter and the value in the
        /// goal's column. If the variant has no goal, the value is that of the first column.
        pub curve: Vec<[f64; 2]>,
        /// Value of the room's first counter at the time when the run was solved; null if it is not solved.
        pub solved_at: Option<f64>,
        pub done: bool,
        /// True if the run failed: its weights are no longer finite, or the rules of its environment raised an error.
        pub diverged: bool,
    }

    /// An operation with one shape, in the plan that computes a learner's gradients. `seconds` is the total time of all calls.
    pub struct Operation {
        /// Name of the operation, for example `linear`.
        pub name: String,
        /// Shape of the call, for example `64x144x128`. For a matrix product: rows, inputs and outputs. For another operation: the shape of
        /// its output.
        pub shape: String,
        /// Number of calls in each run of the plan.
        pub calls: u32,
        pub seconds: f64,
    }

    /// Parameter tensor of a learner, with the distributions of its weights, of its average gradients and of its layer's activations.
    pub struct TensorView {
        /// Name of the tensor, for example `policy.0.weight`.
        pub name: String,
        pub shape: Vec<u32>,
        pub weights: Histogram,
        /// Distribution of the average gradient, which is Adam's first moment; null if the learner does not use Adam.
        pub gradients: Option<Histogram>,
        /// Distribution of the layer's activations in some states; null if the tensor is no weight matrix of a layer, or the room does not
        /// show networks.
        pub activations: Option<Histogram>,
    }

    /// Distribution of the values of a tensor. Values that are not finite are left out.
    #[derive(Default)]
    pub struct Histogram {
        pub min: f64,
        pub max: f64,
        pub mean: f64,
        /// Standard deviation.
        pub deviation: f64,
        /// Number of values in each of 64 bins of equal width, from `min` to `max`.
        pub counts: Vec<u32>,
    }

    /// Arithmetic and threads in use. The page shows them in its badge, and bug reports contain them.
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
    /// Hash of the weights as 16 hexadecimal digits.
    pub weights: String,
    /// Arithmetic of the iterations: `fused`, `unfused`, `bf16` or `amx`. Only digests of equal arithmetic can be equal. Three further
    /// values never occur in a link: `gpu` (a GPU computed every iteration, and only that GPU reproduces the digest), `mixed` (several
    /// devices computed iterations), and `partial` (the digest was computed within an iteration).
    pub arithmetic: String,
}

impl From<graph::Operation> for Operation {
    fn from(graph::Operation { name, shape, calls, seconds }: graph::Operation) -> Operation {
        Operation { name: name.into(), shape, calls: calls as u32, seconds }
    }
}

sent_data! {
    /// A network as a chain of layers, with its values in one state. At most 64 inputs, and 64 units of a layer, are listed; others are
    /// left out.
    pub struct NetworkView {
        pub title: String,
        /// Names of the listed inputs; a name is empty if the input has no short name.
        pub input_names: Vec<String>,
        /// Values of the listed inputs, as the network reads them.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub inputs: Vec<f32>,
        /// Layers from the first hidden layer to the outputs.
        pub layers: Vec<LayerView>,
        pub output_names: Vec<String>,
    }

    pub struct LayerView {
        /// Name of the tensor of the layer's weights, for example `policy.0.weight`.
        pub name: String,
        /// Number of units of the layer. The other fields list only the first 64 of them.
        pub units: u32,
        /// Output of each listed unit.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub activations: Vec<f32>,
        /// Weights, as `[listed units][listed units of the previous layer, or listed inputs]`.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub weights: Vec<f32>,
        /// Average gradients of the weights: Adam's first moment.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub gradients: Vec<f32>,
    }
}
