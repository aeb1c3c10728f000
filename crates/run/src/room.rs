//! What a room is: one folder a layer, of which this trait is the part that a run asks of. Everything that any run has
//! (commands, pending knobs, clock, history, marks, devices, digest, saves, tests) is [`crate::Run`]'s; everything that
//! shows a run reads the [`Schema`].

use crate::protocol::{Config, DataInfo, Dataset, Knob, Knobs, Row, Value, Variant};
use crate::{Host, RunError, knobs};
use learn::{Data, Find, Learner, Offload};
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::sync::Arc;

pub use crate::container::Tensors;
pub use crate::questions::{Answer, TypeName, type_name};
pub use crate::schema::{COMMON_PARTS, Schema};
pub use learn::{ByName, Iteration, Policy};

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

    /// Every setting with its value in force.
    fn values(&self) -> Knobs {
        self.learner().map_or_else(Knobs::new, |learner| knobs::by_name(learner.settings()))
    }
    /// Returns the error that [`Room::change`] would return.
    fn may_change(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.learner().map_or(Ok(()), |learner| learner.may_change(name, value)).map_err(RunError::below)
    }
    /// Changes a live setting at a boundary. The run has checked its name and its range.
    fn change(&mut self, name: &str, value: &Value) -> Result<(), RunError> {
        self.learner_mut().map_or(Ok(()), |learner| learner.change(name, value)).map_err(RunError::below)
    }

    /// Whether to test now, at a boundary: by what was done and never by the time, so that it is the same for the same run.
    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool;
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

    /// After each slice, of training or of what was asked for, with the seconds trained so far: what the room has to tell, as in its
    /// `protocol.rs`, and in a sentence.
    fn tell(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        Vec::new()
    }
    fn ask(&mut self, question: Self::Question) -> Result<Answer, RunError>;
    /// A slice of what somebody asked for and that goes on by itself, as a search, also while the run is paused; false where there is
    /// none. What it comes to is told ([`Room::tell`]), and it leaves no trace in what is learned.
    fn advance_asked(&mut self) -> bool {
        false
    }
}
