//! The interface of a room: the [`Room`] trait, which a run calls. [`crate::Run`] implements everything that all runs have in
//! common (commands, pending knobs, clock, history, marks, devices, digest, saves, tests). Displays of a run read the
//! [`Schema`].

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

/// Input for creating a room's learner.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub variant: &'a str,
    /// Present values of knobs; the other knobs have their default.
    pub knobs: &'a Knobs,
    pub seed: u32,
    pub host: Host,
    /// User data. Its bytes are present when a run begins or is restored, and may be absent when a config is only checked.
    pub data: Option<&'a Dataset>,
}

impl<'a> Setup<'a> {
    /// Takes variant, seed and data from `config`, and the present values from `knobs`.
    pub fn new(config: &'a Config, knobs: &'a Knobs, host: Host) -> Setup<'a> {
        Setup { variant: &config.variant, knobs, seed: config.seed, host, data: config.data.as_ref() }
    }

    /// Bytes of the user data; `None` without user data, or if its bytes are absent.
    pub fn content(&self) -> Option<&'a Arc<Vec<u8>>> {
        self.data?.content.as_ref()
    }
}

/// Saved state of a room.
pub struct Saved<'a> {
    pub tensors: &'a Tensors,
    /// Value that [`Room::notes`] returned.
    pub notes: &'a serde_json::Value,
}

impl Saved<'_> {
    pub fn find(&self, name: &str) -> Option<(&[usize], &Data)> {
        learn::part(self.tensors, name)
    }
}

/// The room-specific part of a run: a learner, its settings and tests, and the questions that the room answers.
pub trait Room: Send + Sync + Sized + 'static {
    const SCHEMA: &'static Schema;
    type Learner: Learner + ?Sized;
    /// Questions, declared with [`crate::questions!`].
    type Question: DeserializeOwned;
    /// User data that the room accepts ([`Setup::content`]); `None` if it accepts none.
    const DATA: Option<DataInfo> = None;

    /// Variants of the room; the first is the default.
    fn variants() -> Vec<Variant>;
    fn knobs(variant: &str) -> Vec<Knob>;
    /// Returns an error if the knobs, each of which is valid, cannot be used together.
    fn check(setup: Setup) -> Result<(), RunError>;
    /// Estimated upper bound of the bytes that a run allocates. It includes data derived from user data; the caller adds the
    /// user data itself.
    fn bytes(setup: Setup) -> Result<u64, RunError>;

    fn begin(setup: Setup) -> Result<Self, RunError>;
    /// Continues exactly from the saved parts of the learner, [`Room::more_parts`] and [`Room::notes`].
    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError>;
    /// Tensors saved in addition to the learner's parts.
    fn more_parts(&self) -> Tensors {
        Vec::new()
    }
    /// Other saved data, which [`Began`](crate::protocol::Began) also reports.
    fn notes(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
    /// Takes over the state that a new run of the room keeps from the previous run.
    fn follow(&mut self, _before: Self) {}

    /// The learner; `None` until its training data is prepared. Stopping a run before then loses nothing.
    fn learner(&self) -> Option<&Self::Learner>;
    fn learner_mut(&mut self) -> Option<&mut Self::Learner>;
    /// Prepares the training data for one slice.
    fn prepare(&mut self) {}
    /// Adds the room's own metrics to an iteration that the learner ended.
    fn end_iteration(&mut self, _iteration: &mut Iteration) {}
    /// Instruction set that the room computes with if the host's set is `host`. The two differ if the user chose another arithmetic.
    fn isa(&self, host: math::Isa) -> math::Isa {
        host
    }
    /// Sets the profiling clock of the room. The run sets the learner's clock separately.
    fn set_clock(&mut self, _clock: fn() -> f64) {}

    /// Present value of every setting.
    fn values(&self) -> Knobs {
        self.learner().map_or_else(Knobs::new, |learner| knobs::by_name(learner.settings()))
    }
    /// Returns the error that [`Room::change`] would return.
    fn may_change(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.learner().map_or(Ok(()), |learner| learner.may_change(name, value)).map_err(RunError::below)
    }
    /// Changes a live setting at a boundary. The run has already checked name and range.
    fn change(&mut self, name: &str, value: &Value) -> Result<(), RunError> {
        self.learner_mut().map_or(Ok(()), |learner| learner.change(name, value)).map_err(RunError::below)
    }

    /// Returns true if a test is due at this boundary. The result depends on completed work, never on time, so that equal runs
    /// test equally.
    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool;
    /// Begins a test of the current weights. Later training does not affect the test.
    fn begin_test(&mut self) {}
    /// Begins a confirmation, which repeats a test that reached the goal. Its random draws follow from `seed`, in a stream that neither
    /// training nor tests use. Returns false if the room's tests need no confirmation because they are deterministic, for example because
    /// they cover all states.
    fn begin_confirmation(&mut self, seed: u32) -> bool;
    /// Runs one slice of the test or the confirmation; returns its values at the end. Training is not affected.
    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError>;

    /// Policy that acts on observations; `None` if the room has no such policy.
    fn policy(&self) -> Option<Box<dyn Policy>> {
        None
    }

    /// Returns the interface that offloads work to another machine, or the reason why all work is done on the CPU.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        self.learner_mut().ok_or("The training data is not prepared yet")?.offload()
    }
    /// Computes pieces of an iteration from the tensors that [`learn::Sharing::due`] returned, for a learner in any process.
    /// Returns an error for pieces that are not due.
    fn play(_due: &Find, _pieces: Range<u64>, _isa: math::Isa) -> Result<Tensors, RunError> {
        Err(RunError::NotShared)
    }
    /// Hash of pieces that this program computes. Two programs with equal hashes compute bit-identical pieces.
    fn fingerprint(_isa: math::Isa) -> u64 {
        0
    }

    /// Returns the room's events since the last call, each as data (see the room's `protocol.rs`) and as a sentence. The run calls this
    /// method after each slice, with the seconds trained so far.
    fn take_events(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        Vec::new()
    }
    fn ask(&mut self, question: Self::Question) -> Result<Answer, RunError>;
    /// Runs one slice of a background task that the user requested, such as a search, also while the run is paused. Returns false if there
    /// is no task. The task does not affect training, and its results are events of [`Room::take_events`].
    fn advance_background(&mut self) -> bool {
        false
    }
}
