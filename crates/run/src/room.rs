//! What a room is: one folder a layer, of which this trait is the part that a run asks of. Everything that any run has
//! (commands, pending knobs, clock, history, marks, devices, digest, saves, tests) is [`crate::Run`]'s; everything that
//! shows a run reads the [`Schema`].

use crate::bench::Bench;
use crate::protocol::{
    Column, Config, DataInfo, Dataset, Goal, Knob, Knobs, Part, Rate, RoomInfo, Value, Variant,
};
use crate::{Host, RunError};
use learn::offload::ProbeSlice;
use learn::{Data, Fault, Find, Machine, Sharing};
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::sync::Arc;

/// A room's numbers and words, declared once.
#[derive(Debug)]
pub struct Schema {
    pub id: &'static str,
    pub title: &'static str,
    pub variant_word: &'static str,
    pub iteration_word: &'static str,
    /// The first is the budget's unit.
    pub counters: &'static [Column],
    pub metrics: &'static [Column],
    pub tests: &'static [Column],
    /// What the learner measures of its own time; `tests` and `rest` are the run's ([`COMMON_PARTS`]).
    pub parts: &'static [Part],
}

/// Time between two slices of a learner, which every room has.
pub const COMMON_PARTS: [Part; 2] = [
    Part { name: "tests", label: "Tests", help: "Testing what was learned, which trains nothing." },
    Part { name: "rest", label: "Rest", help: "Between two slices: showing, answering, saving." },
];

impl Schema {
    /// All parts of an iteration's time, in the order in which their shares follow a row's metrics.
    pub fn all_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().chain(&COMMON_PARTS)
    }

    /// Where a column of the metrics stands in a row.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|column| column.name == name)
    }

    pub fn test(&self, name: &str) -> Option<usize> {
        self.tests.iter().position(|column| column.name == name)
    }

    pub fn counter(&self, name: &str) -> Option<usize> {
        self.counters.iter().position(|column| column.name == name)
    }

    /// Numbers in a row of metrics.
    pub fn row_len(&self) -> usize {
        self.metrics.len() + self.parts.len() + COMMON_PARTS.len()
    }

    pub(crate) fn info(&self, variants: Vec<Variant>, data: Option<DataInfo>) -> RoomInfo {
        RoomInfo {
            id: self.id,
            title: self.title,
            variant_word: self.variant_word,
            iteration_word: self.iteration_word,
            counters: self.counters.to_vec(),
            metrics: self.metrics.to_vec(),
            tests: self.tests.to_vec(),
            parts: self.all_parts().copied().collect(),
            variants,
            data,
        }
    }
}

impl Column {
    pub const fn new(name: &'static str, label: &'static str, help: &'static str) -> Column {
        Column {
            name,
            label,
            unit: "",
            help,
            chart: "",
            log: false,
            share: false,
            brief: "",
            spread: &[],
            rate: None,
        }
    }

    pub const fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// Drawn in the chart of this name.
    pub const fn chart(self, chart: &'static str) -> Column {
        Column { chart, ..self }
    }

    pub const fn log(self) -> Column {
        Column { log: true, ..self }
    }

    pub const fn share(self) -> Column {
        Column { share: true, ..self }
    }

    /// In a line of the terminal, under this name.
    pub const fn brief(self, brief: &'static str) -> Column {
        Column { brief, ..self }
    }

    pub const fn spread(self, spread: &'static [&'static str]) -> Column {
        Column { spread, ..self }
    }

    pub const fn rate(self, counter: &'static str, seconds: f64) -> Column {
        Column { rate: Some(Rate { counter, seconds }), ..self }
    }
}

/// What a room's learner is made from.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub variant: &'a str,
    /// Those in force; what is left out has its default.
    pub knobs: &'a Knobs,
    pub seed: u32,
    pub host: Host,
    /// What a user brought: with its bytes where a run begins or is restored, and perhaps without where it is only checked.
    pub data: Option<&'a Dataset>,
}

impl<'a> Setup<'a> {
    /// That of a config, with the knobs in force.
    pub fn new(config: &'a Config, knobs: &'a Knobs, host: Host) -> Setup<'a> {
        Setup { variant: &config.variant, knobs, seed: config.seed, host, data: config.data.as_ref() }
    }

    /// The bytes of the data.
    pub fn content(&self) -> Option<&'a Arc<Vec<u8>>> {
        self.data?.content.as_ref()
    }
}

/// Shape and contents of parts of a checkpoint, by name.
pub type Tensors = learn::Parts;

/// What a room saved of itself.
pub struct Saved<'a> {
    pub tensors: &'a Tensors,
    /// What [`Room::notes`] gave.
    pub notes: &'a serde_json::Value,
}

impl Saved<'_> {
    pub fn find(&self, name: &str) -> Option<(&[usize], &Data)> {
        learn::part(self.tensors, name)
    }
}

/// What one call of [`Room::advance`] did.
pub enum Slice {
    Worked,
    /// The same, and there is something to tell at once: as [`Room::tell`].
    Tells(serde_json::Value, String),
    /// There is nothing to do until the other machine answers.
    Waiting,
    /// An iteration ended.
    Ended(Iteration),
    /// The other machine stopped; the learner works here again and goes on where it was.
    Stopped(Fault),
}

/// One iteration in numbers.
#[derive(Clone, Debug, Default)]
pub struct Iteration {
    /// In the order of [`Schema::metrics`]; the run computes those that are rates.
    pub values: Vec<Option<f64>>,
    /// Seconds by the clock that was set, in the order of [`Schema::parts`].
    pub parts_s: Vec<f64>,
    /// Losses and gradients are numbers still.
    pub finite: bool,
    /// What was done, in the unit of [`Offload::pass_work`], where other iterations will take as long for it: for the choice of
    /// a device.
    pub work: Option<f64>,
}

/// Which machine worked on what has been done of this iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkedOn {
    Processor,
    /// All of what the digest covers.
    Offloaded,
    Both,
}

/// The answer to a question of a room: any plain data.
pub type Answer = Box<dyn erased_serde::Serialize>;

/// What was learned by a moment, apart from its run: it acts on batches of observations, `[n][observation]`.
pub trait Policy: Send + Sync {
    /// Numbers of an observation.
    fn observation_len(&self) -> usize;
    /// Numbers that [`Policy::predict`] gives of the policy in a state.
    fn policy_len(&self) -> usize;
    /// The best action in each state: a choice as a whole number.
    fn act(&mut self, observations: &[f32], actions: &mut [f32]);
    /// The probability of every choice, or the mean action and its spread, `[n][policy_len]`; and what a state is worth, `[n]`.
    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]);
}

/// One room's run, without what every run has.
pub trait Room: Send + Sync + Sized + 'static {
    const SCHEMA: &'static Schema;
    /// Declared with [`crate::questions!`].
    type Question: DeserializeOwned;
    /// What it can be given to learn from ([`Setup::content`]). A room without it is given nothing.
    const DATA: Option<DataInfo> = None;

    /// The first is the default.
    fn variants() -> Vec<Variant>;
    fn knobs(variant: &str) -> Vec<Knob>;
    /// Refuses knobs that are each legal but cannot be used together.
    fn check(setup: Setup) -> Result<(), RunError>;
    /// About what a run allocates, at most; what a user brought is counted already, and what is made from it is not.
    fn bytes(setup: Setup) -> Result<u64, RunError>;

    fn begin(setup: Setup) -> Result<Self, RunError>;
    /// Goes on exactly from what [`Room::tensors`] and [`Room::notes`] gave.
    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError>;
    /// All that it is made from again, at a boundary, and within an iteration where it [`Room::saves_within`].
    fn tensors(&self) -> Tensors;
    /// What else is saved, and told when a run begins.
    fn notes(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
    /// Takes over what a new run of the room keeps of the one before.
    fn follow(&mut self, _before: Self) {}

    /// One slice of work of a few milliseconds.
    fn advance(&mut self) -> Slice;
    /// Between two iterations, where its knobs change.
    fn at_boundary(&self) -> bool {
        true
    }
    /// Whether what it has done of an iteration can be saved as well.
    fn saves_within(&self) -> bool {
        false
    }
    /// Before the first iteration, where what it needs is made: whoever stops it loses nothing.
    fn is_preparing(&self) -> bool {
        false
    }
    fn iteration(&self) -> u32;
    /// In the order of [`Schema::counters`].
    fn counts(&self) -> Vec<f64>;
    /// For the digest.
    fn weights(&self) -> &[f32];
    /// What it computes with on a processor that has this set: another where the user chose other arithmetic.
    fn isa(&self, host: math::Isa) -> math::Isa {
        host
    }
    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in what is learned.
    fn set_clock(&mut self, _clock: fn() -> f64) {}
    /// What computes the gradients of its steps, where that is a plan; of several side by side the first.
    fn executor_mut(&mut self) -> Option<&mut graph::Executor> {
        None
    }

    /// Every knob with its value in force.
    fn values(&self) -> Knobs;
    /// What [`Room::set`] would say.
    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError>;
    /// Changes a live knob at a boundary: from what, and to what.
    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError>;

    /// Whether to test now, at a boundary: by what was done and never by the time, so that it is the same for the same run.
    fn test_is_due(&self, tests: &[crate::protocol::Row], solved: bool) -> bool;
    /// Tests what is learned by now. What is learned meanwhile is not tested.
    fn begin_test(&mut self) {}
    /// Tests it once more after a test that reached the goal, on draws that follow from this seed, which is of a stream that neither
    /// training nor tests draw from. False where a test leaves nothing to chance, as one of all states: it confirms itself.
    fn begin_confirmation(&mut self, seed: u32) -> bool;
    /// A slice of the test or the confirmation; its values once it is done. It leaves no trace in what is learned.
    fn advance_test(&mut self) -> Result<Option<Vec<Option<f64>>>, RunError>;

    /// What acts on observations, where there is such a thing.
    fn policy(&self) -> Option<Box<dyn Policy>> {
        None
    }

    /// Itself, where it can offload work to another machine.
    fn offload(&mut self) -> Option<&mut dyn Offload> {
        None
    }
    /// Why it trains on the processor alone, where it does.
    fn processor_only(&self) -> Option<&'static str> {
        Some("This learner has nothing to lend to a GPU")
    }
    /// Itself, where others can do pieces of its iterations.
    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        None
    }
    /// Does such pieces, with what [`Sharing::due`] gave, for a learner wherever it is. None that are not due.
    fn play(_due: &Find, _pieces: Range<u64>, _isa: math::Isa) -> Result<Tensors, RunError> {
        Err(RunError::NotShared)
    }
    /// A number that two programs share whose pieces are alike to the bit.
    fn fingerprint(_isa: math::Isa) -> u64 {
        0
    }
    /// Where the newest work was done.
    fn worked_on(&self) -> WorkedOn {
        WorkedOn::Processor
    }

    /// At each boundary, with the seconds trained so far: what the room has to tell, as in its `protocol.rs`, and in a sentence.
    fn tell(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        Vec::new()
    }
    fn ask(&mut self, question: Self::Question) -> Result<Answer, RunError>;

    /// The room's figures.
    fn bench(_bench: &mut Bench) {}

    /// Where the time of its training step goes, call by call of its plan, where it has one.
    fn profile(_bench: &mut Bench) {}
}

/// Whoever trains and can offload its work to another machine, all of it between two iterations.
pub trait Offload {
    /// What can be offloaded, in the order in which it is tried out, the last of them all there is: what is said where it turned
    /// out to be fastest.
    fn ways(&self) -> &'static [&'static str];
    /// Training goes on here until the other machine is ready to be timed.
    fn trains_meanwhile(&self) -> bool;
    fn is_offloaded(&self) -> bool;
    fn begin_offload(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault>;
    /// Where a knob has changed what is to be done, a learner that is offloaded is offloaded anew.
    fn must_offload_again(&self) -> bool {
        false
    }
    fn end_offload(&mut self);

    /// Has the machine work in this way, pass after pass, so that nothing of it stays.
    fn begin_probe(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault>;
    /// Goes on with it; after a fault it is over.
    fn advance_probe(&mut self) -> Result<Pass, Fault>;
    /// What a pass does at most, in the unit of the rates.
    fn pass_work(&mut self) -> f64;
    fn end_probe(&mut self);
}

/// What a look at a probe came to.
pub enum Pass {
    Worked,
    /// Nothing can be done until the other machine answers.
    Waiting,
    /// A pass has ended, which did so much.
    Ended(f64),
}

impl Pass {
    /// Of a learner whose passes do so much.
    pub(crate) fn of(slice: ProbeSlice, work: f64) -> Pass {
        match slice {
            ProbeSlice::Worked => Pass::Worked,
            ProbeSlice::Waiting => Pass::Waiting,
            ProbeSlice::Passed => Pass::Ended(work),
        }
    }
}

/// What a test came to in the goal's column, what it has to reach, and whether it does.
pub(crate) fn goal_of(
    schema: &Schema,
    goal: Option<Goal>,
    values: &[Option<f64>],
) -> Option<(Option<f64>, f64, bool)> {
    let Goal { column, at } = goal?;
    let value = values.get(schema.test(column)?).copied().flatten();
    Some((value, at, value.is_some_and(|value| value >= at)))
}

/// Declares what can be asked of a room: each question with its fields and the type of its answer, once. Makes the
/// `Question` that arrives as `{ ask: "name", … }`, and with the feature `typescript` the page's types of both.
///
/// ```ignore
/// questions! {
///     /// What the policy would do all over the plane.
///     Picture { width: u32, height: u32 } -> PictureView,
/// }
/// ```
#[macro_export]
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* $(,)? } -> $answer:ty),* $(,)?) => {
        $crate::question_type! {
            $($(#[$doc])* $name { $($field : $type),* }),*
        }

        /// `Answers["name"]` is what the page gets for a question of that name: in TypeScript.
        pub const ANSWERS: &[(&str, $crate::room::TypeName)] =
            &[$((stringify!($name), $crate::room::type_name::<$answer>)),*];
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(feature = "typescript")]
macro_rules! question_type {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* }),*) => {
        #[derive(Clone, Debug, PartialEq, $crate::serde::Deserialize, $crate::ts_rs::TS)]
        #[serde(crate = "run::serde", tag = "ask", rename_all = "snake_case")]
        #[ts(crate = "run::ts_rs")]
        pub enum Question {
            $($(#[$doc])* $name { $($field: $type),* }),*
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "typescript"))]
macro_rules! question_type {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* }),*) => {
        #[derive(Clone, Debug, PartialEq, $crate::serde::Deserialize)]
        #[serde(crate = "run::serde", tag = "ask", rename_all = "snake_case")]
        pub enum Question {
            $($(#[$doc])* $name { $($field: $type),* }),*
        }
    };
}

/// What a type is called in TypeScript, where that is built in.
#[cfg(feature = "typescript")]
pub type TypeName = fn(&ts_rs::Config) -> String;
#[cfg(not(feature = "typescript"))]
pub type TypeName = fn() -> &'static str;

#[cfg(feature = "typescript")]
pub fn type_name<T: ts_rs::TS>(style: &ts_rs::Config) -> String {
    T::name(style)
}
#[cfg(not(feature = "typescript"))]
pub fn type_name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// `BestMove` as `best_move`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, letter) in name.char_indices() {
        if letter.is_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// `Vec<f32>` as bytes, so that a page receives one typed array and not a list of numbers.
pub fn floats<S: serde::Serializer>(values: &[f32], out: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    out.serialize_bytes(&bytes)
}
