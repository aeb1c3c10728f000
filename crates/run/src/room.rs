//! Interface of a room: the [`Room`] trait, which a run uses. [`crate::Run`] implements everything that all runs have in common: commands,
//! pending changes of knobs, clock, history, marks, devices, digest, saves and tests. The page and the terminal read the [`Schema`].

use crate::protocol::{Config, DataInfo, Dataset, Knob, Knobs, Problem, Row, Value, Variant};
use crate::{Host, RunError, knobs};
use learn::{Data, Find, Learner, NetworkValues, Offload};
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::sync::Arc;

pub use crate::container::Tensors;
pub use crate::questions::{Answer, TypeName, type_name};
pub use crate::schema::{COMMON_PARTS, Schema};
pub use learn::{ByName, Failure, Iteration, Policy};

/// Input for the creation of a room's learner.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub variant: &'a str,
    /// Current values of knobs. The knobs that are not in the map have their default.
    pub knobs: &'a Knobs,
    pub seed: u32,
    pub host: Host,
    /// User data. Its bytes are present when a run begins or is restored. They may be absent when a config is only checked.
    pub data: Option<&'a Dataset>,
}

impl<'a> Setup<'a> {
    /// Combines the variant, the seed and the data of `config` with the current values `knobs` and the host.
    pub fn new(config: &'a Config, knobs: &'a Knobs, host: Host) -> Setup<'a> {
        Setup { variant: &config.variant, knobs, seed: config.seed, host, data: config.data.as_ref() }
    }

    /// Returns the bytes of the user data; `None` if there is no user data or its bytes are absent.
    pub fn content(&self) -> Option<&'a Arc<Vec<u8>>> {
        self.data?.content.as_ref()
    }
}

/// Saved state of a room.
pub struct Saved<'a> {
    pub tensors: &'a Tensors,
    /// Value that [`Room::notes`] returned when the run was saved.
    pub notes: &'a serde_json::Value,
}

impl Saved<'_> {
    pub fn find(&self, name: &str) -> Option<(&[usize], &Data)> {
        learn::part(self.tensors, name)
    }
}

/// Functions that compress user data and restore them.
#[derive(Clone, Copy)]
pub struct Pack {
    pub pack: fn(&[u8]) -> Vec<u8>,
    /// Restores bytes from the result of `pack`. Returns `None` for other bytes.
    pub unpack: fn(&[u8]) -> Option<Vec<u8>>,
}

/// States in which the values of networks are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// The state that the page shows.
    Shown,
    /// Some typical states.
    Sample,
}

/// Part of a run that depends on the room: a learner with its settings and tests, and the answers to questions. A boundary is the time
/// between two iterations. A slice is a short part of the work, usually some milliseconds.
pub trait Room: Send + Sync + Sized + 'static {
    const SCHEMA: &'static Schema;
    type Learner: Learner + ?Sized;
    /// Questions that the room answers, declared with [`crate::questions!`].
    type Question: DeserializeOwned;
    /// Description of the user data that the room accepts; `None` if it accepts none.
    const DATA: Option<DataInfo> = None;

    /// Compression that links apply to the user data; `None` if links never contain user data.
    const PACK: Option<Pack> = None;

    /// Variant of every run that learns from user data; `None` if all variants accept user data. [`Room::variants`] does not list this
    /// variant.
    const DATA_VARIANT: Option<&'static str> = None;

    /// Returns the variants of the room. The first one is the default.
    fn variants() -> Vec<Variant>;
    /// Returns the variant of a config, or an error if there is no such variant.
    fn variant(setup: Setup) -> Result<Variant, RunError> {
        let variants = Self::variants();
        let known = || variants.iter().map(|variant| &*variant.id).collect::<Vec<_>>().join(", ");
        let unknown = || RunError::UnknownVariant { word: Self::SCHEMA.variant_word, id: setup.variant.into(), known: known() };
        variants.iter().find(|variant| variant.id == setup.variant).cloned().ok_or_else(unknown)
    }
    /// Returns the errors in a text from which a run would learn. Returns an empty list if a run can begin.
    fn problems(_text: &str) -> Vec<Problem> {
        Vec::new()
    }
    fn knobs(variant: &str) -> Vec<Knob>;
    /// Returns an error if a knob is invalid or the knobs cannot be used together.
    fn check(setup: Setup) -> Result<(), RunError>;
    /// Returns an estimated upper bound of the bytes that a run allocates. It includes data derived from user data, but not the user data.
    fn bytes(setup: Setup) -> Result<u64, RunError>;

    fn begin(setup: Setup) -> Result<Self, RunError>;
    /// Restores a room from its saved state: the learner's parts, [`Room::more_parts`] and [`Room::notes`]. The room continues exactly from
    /// this state.
    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError>;
    /// Returns the tensors that are saved in addition to the learner's parts.
    fn more_parts(&self) -> Tensors {
        Vec::new()
    }
    /// Returns saved data other than tensors. [`Began`](crate::protocol::Began) also reports these data.
    fn notes(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
    /// Takes over the state that a reset keeps, such as a user's game, from the room `_before` of the previous run.
    fn follow(&mut self, _before: Self) {}

    /// Returns the learner; `None` until the training data are prepared.
    fn learner(&self) -> Option<&Self::Learner>;
    fn learner_mut(&mut self) -> Option<&mut Self::Learner>;
    /// Returns the learner's networks with their values in these states, for drawings. Empty if the room does not show networks.
    fn networks(&self, _of: States) -> Result<Vec<NetworkValues>, RunError> {
        Ok(Vec::new())
    }
    /// Runs one slice of the preparation of the training data.
    fn prepare(&mut self) {}
    /// Adds the room's own metrics to an iteration that the learner ended.
    fn end_iteration(&mut self, _iteration: &mut Iteration) {}
    /// Returns the instruction set of the room's computations. It differs from the host's instruction set if the user chose another
    /// arithmetic.
    fn isa(&self, host: math::Isa) -> math::Isa {
        host
    }
    /// Sets the profiling clock of the room. The run sets the learner's clock separately.
    fn set_clock(&mut self, _clock: fn() -> f64) {}

    /// Returns the current value of every setting.
    fn values(&self) -> Knobs {
        self.learner().map_or_else(Knobs::new, |learner| knobs::by_name(learner.settings()))
    }
    /// Returns the error that [`Room::change`] would return for the same arguments. Changes nothing.
    fn may_change(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.learner().map_or(Ok(()), |learner| learner.may_change(name, value)).map_err(RunError::below)
    }
    /// Changes a live setting between two iterations. The run has already checked that the knob exists, is live and accepts the value.
    fn change(&mut self, name: &str, value: &Value) -> Result<(), RunError> {
        self.learner_mut().map_or(Ok(()), |learner| learner.change(name, value)).map_err(RunError::below)
    }

    /// Returns true if a test is due. `tests` are the run's tests so far. The run calls this method between two iterations. The result
    /// depends only on completed work and never on time, so that equal runs have equal tests.
    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool;
    /// Begins a test of the current weights. Later training does not affect the test.
    fn begin_test(&mut self) {}
    /// Begins a confirmation, which repeats a test that reached the goal. The random draws of the confirmation depend on `seed`. Neither
    /// training nor tests use these draws. Returns true if a confirmation began. Returns false if the room's tests need no confirmation
    /// because they are deterministic, for example if they cover all states.
    fn begin_confirmation(&mut self, seed: u32) -> bool;
    /// Runs one slice of the test or the confirmation in progress. In the last slice, returns the values; otherwise returns `None`.
    /// Training is not affected.
    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError>;

    /// Returns a policy that acts on observations; `None` if the room has no such policy.
    fn policy(&self) -> Option<Box<dyn Policy>> {
        None
    }

    /// Returns the model with the current weights, for other programs.
    #[cfg(feature = "export")]
    fn exported(&self) -> Result<crate::export::Described, RunError> {
        Err(crate::export::none(Self::SCHEMA.title))
    }
    /// Returns `_count` inputs of the model that [`Room::exported`] returns, with the results of the learner's own code for them. The
    /// inputs depend on `_seed`.
    #[cfg(feature = "export")]
    fn examples(&self, _count: usize, _seed: u32) -> Result<crate::export::Examples, RunError> {
        Err(crate::export::none(Self::SCHEMA.title))
    }

    /// Returns the interface that offloads work to another machine. If the work cannot be offloaded, returns the reason.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        self.learner_mut().ok_or("The training data is not prepared yet")?.offload()
    }
    /// Computes the pieces with the numbers `_pieces` for a learner, which may be in another process. A piece is a part of an iteration
    /// that a worker can compute. `_due` finds the tensors that [`learn::Sharing::due`] returned. A piece that the learner does not need
    /// gives an error.
    fn play(_due: &Find, _pieces: Range<u64>, _isa: math::Isa) -> Result<Tensors, RunError> {
        Err(RunError::NotShared)
    }
    /// Computes a few sample pieces and returns a hash of the results. If the hashes of two programs differ, the programs compute different
    /// results for the same piece. If the hashes are equal, their results are assumed to be bit-identical.
    fn fingerprint(_isa: math::Isa) -> u64 {
        0
    }

    /// Returns the room's events since the previous call. Each event has plain data, as defined in the room's `protocol.rs`, and a
    /// sentence. The run calls this method after each slice; `_train_s` are the seconds of training so far.
    fn take_events(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        Vec::new()
    }
    fn ask(&mut self, question: Self::Question) -> Result<Answer, RunError>;
    /// Runs one slice of a background task that the user requested, such as a search. Returns false if there is no task. The task also runs
    /// while the run is paused and does not affect training. [`Room::take_events`] returns its results.
    fn advance_background(&mut self) -> bool {
        false
    }
}
