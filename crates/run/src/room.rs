//! What a room is: one folder a layer, of which this trait is the part that a run asks of. Everything that any run has
//! (commands, pending knobs, clock, history, marks, devices, digest, saves, tests) is [`crate::Run`]'s; everything that
//! shows a run reads the [`Schema`].

use crate::bench::Bench;
use crate::protocol::{Column, Config, DataInfo, Dataset, Goal, Knob, Knobs, Part, Rate, RoomInfo, Value, Variant};
use crate::{Host, RunError};
use learn::{Data, Find, Learner, Offload};
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::sync::Arc;

pub use learn::{ByName, Iteration};

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

    /// What a learner counts, in the order of the counters.
    ///
    /// # Panics
    /// Where it counts others.
    pub fn counts(&self, told: &ByName<f64>) -> Vec<f64> {
        let counts = in_order(self.id, self.counters.iter().map(|column| column.name), told);
        counts.into_iter().map(|count| count.expect("a learner tells every counter")).collect()
    }

    /// What a test found, in the order of its columns; nothing where one was not tested.
    ///
    /// # Panics
    /// Where there is no such column.
    pub fn test_row(&self, told: &ByName<Option<f64>>) -> Vec<Option<f64>> {
        let values = in_order(self.id, self.tests.iter().map(|column| column.name), told);
        values.into_iter().map(Option::flatten).collect()
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

/// What is told by name, in the order of these names; nothing where one is not told.
///
/// # Panics
/// Where another is told, or one twice: the room `id` and its learner disagree.
pub(crate) fn in_order<T: Copy>(id: &str, names: impl Iterator<Item = &'static str>, told: &ByName<T>) -> Vec<Option<T>> {
    let find = |name| told.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    let ordered: Vec<Option<T>> = names.map(find).collect();
    let found = ordered.iter().flatten().count();
    let names = told.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(found, told.len(), "{id} has no columns for some of {names:?}");
    ordered
}

impl Column {
    pub const fn new(name: &'static str, label: &'static str, help: &'static str) -> Column {
        Column { name, label, unit: "", help, chart: "", log: false, share: false, brief: "", spread: &[], rate: None }
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

/// One room's run, without what every run has: a learner, its settings and tests, and what can be asked.
pub trait Room: Send + Sync + Sized + 'static {
    const SCHEMA: &'static Schema;
    type Learner: Learner + ?Sized;
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
    /// Goes on exactly from what its learner's parts, [`Room::more_parts`] and [`Room::notes`] were.
    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError>;
    /// What is saved beside the learner's parts.
    fn more_parts(&self) -> Tensors {
        Vec::new()
    }
    /// What else is saved, and told when a run begins.
    fn notes(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
    /// Takes over what a new run of the room keeps of the one before.
    fn follow(&mut self, _before: Self) {}

    /// Nothing before what it learns from is made: whoever stops it then loses nothing.
    fn learner(&self) -> Option<&Self::Learner>;
    fn learner_mut(&mut self) -> Option<&mut Self::Learner>;
    /// A slice of making that.
    fn prepare(&mut self) {}
    /// An iteration of the learner ended. Adds what the room alone knows of it.
    fn end_iteration(&mut self, _iteration: &mut Iteration) {}
    /// What it computes with on a processor that has this set: another where the user chose other arithmetic.
    fn isa(&self, host: math::Isa) -> math::Isa {
        host
    }
    /// The learner is told the same.
    fn set_clock(&mut self, _clock: fn() -> f64) {}

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
    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError>;

    /// What acts on observations, where there is such a thing.
    fn policy(&self) -> Option<Box<dyn Policy>> {
        None
    }

    /// What can offload work to another machine, or why all is done on the processor.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        self.learner_mut().ok_or("What is learned from is not made yet")?.offload()
    }
    /// Does pieces of an iteration, with what [`learn::Sharing::due`] gave, for a learner wherever it is. None that are not due.
    fn play(_due: &Find, _pieces: Range<u64>, _isa: math::Isa) -> Result<Tensors, RunError> {
        Err(RunError::NotShared)
    }
    /// A number that two programs share whose pieces are alike to the bit.
    fn fingerprint(_isa: math::Isa) -> u64 {
        0
    }

    /// After each slice, with the seconds trained so far: what the room has to tell, as in its `protocol.rs`, and in a sentence.
    fn tell(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        Vec::new()
    }
    fn ask(&mut self, question: Self::Question) -> Result<Answer, RunError>;

    /// The room's figures.
    fn bench(_bench: &mut Bench) {}

    /// Where the time of its training step goes, call by call of its plan, where it has one.
    fn profile(_bench: &mut Bench) {}
}

/// What a test came to in the goal's column, what it has to reach, and whether it does.
pub(crate) fn goal_of(schema: &Schema, goal: Option<Goal>, values: &[Option<f64>]) -> Option<(Option<f64>, f64, bool)> {
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
