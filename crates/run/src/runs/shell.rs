//! Interfaces for shells, independent of the room: a room in a list, and a run.

use crate::protocol::{
    Backend, Command, Config, DataInfo, Dataset, DeviceWish, Digest, Event, Knob, Operation, Progress, RoomInfo, Row, Shared, Variant,
};
use crate::room::{Answer, Policy};
use crate::schema::Schema;
use crate::version::VERSION;
use crate::{Host, RunError};
use learn::{Fault, Machine};
use std::collections::BTreeMap;
use std::ops::Range;

/// A run of any room.
pub trait AnyRun: Send + Sync {
    /// Executes a command. On an error the run is unchanged.
    fn command(&mut self, command: Command) -> Result<(), RunError>;
    /// Runs one slice of work; returns false if there is no work. `now_s` is the shell's clock in seconds, with an arbitrary
    /// epoch.
    fn advance(&mut self, now_s: f64) -> bool;
    /// Returns true if the last slice had no work until another machine answers.
    fn waiting(&self) -> bool;
    /// Returns the events since the last call.
    fn events(&mut self) -> Vec<Event>;

    /// Answers a question of the room's `protocol.rs`, given as `{ ask: "name", … }`.
    fn ask(&mut self, question: serde_json::Value) -> Result<Answer, RunError>;
    /// Tests the present weights immediately.
    fn test(&mut self) -> Result<Row, RunError> {
        Ok(self.test_while(&mut || true)?.expect("the test has no condition that ends it"))
    }
    /// Tests the present weights. `should_continue` is called between slices; `None` if it returned false before the end.
    fn test_while(&mut self, should_continue: &mut dyn FnMut() -> bool) -> Result<Option<Row>, RunError>;
    /// Policy with the present weights; an error if the room's learner does not act on observations.
    fn policy(&self) -> Result<Box<dyn Policy>, RunError>;
    /// Returns the whole run as one file: immediately if [`AnyRun::saves`] returns a state, else after the iteration in progress. If
    /// another machine does not answer, the CPU completes the iteration.
    fn save(&mut self) -> Result<Vec<u8>, RunError>;
    /// Indices of the marks with a kept snapshot, from which [`AnyRun::save_before`] can restore. Only the newest requested changes have a
    /// snapshot.
    fn kept_before(&self) -> Vec<usize>;
    /// Returns the run as one file, in its state just before the change of this mark.
    fn save_before(&self, mark: usize) -> Result<Vec<u8>, RunError>;
    /// Progress of the state that can be saved immediately. Within a long iteration of a learner that cannot be saved before its end, this
    /// is the beginning of the iteration. `None` means that a possibly short iteration has to end first.
    fn saves(&self) -> Option<Progress>;

    /// Starts or stops sharing: workers compute pieces of the run's iterations ([`AnyRun::due`]).
    fn share(&mut self, shared: bool) -> Result<(), RunError>;
    /// Returns true if a shared run has pieces for workers. The run may have other work at the same time.
    fn is_due(&mut self) -> bool;
    /// Returns the numbers of the pieces for workers, and the input for [`AnyRoom::play`]; `None` if there are no such pieces.
    fn due(&mut self) -> Option<(Range<u64>, Vec<u8>)>;
    /// Takes the results of the next pieces; on an error the run is unchanged.
    fn take(&mut self, pieces: &[u8]) -> Result<(), RunError>;

    /// Returns true if the shell should open a GPU and call [`AnyRun::offer`] with the GPU.
    fn wants_machine(&mut self) -> bool;
    /// Passes a GPU for training, or the reason why there is none.
    fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>);
    fn device_wish(&self) -> DeviceWish;
    /// Total time per operation of the gradient plan since recording began; `None` if the learner has no plan. `record` turns recording on
    /// or off, which does not affect training.
    fn operations(&mut self, record: bool) -> Option<Vec<Operation>>;
    /// Sets the profiling clock (seconds, arbitrary epoch). It does not affect training.
    fn set_clock(&mut self, clock: fn() -> f64);
    /// Sets the digest of a link, which the run compares with its own.
    fn expect(&mut self, digest: Digest);

    fn schema(&self) -> &'static Schema;
    fn variant(&self) -> &Variant;
    fn config(&self) -> &Config;
    /// The config with the live changes made so far and the config's changes that are still due. It starts the same run.
    fn config_now(&self) -> Config;
    /// The run as a link and as a command.
    fn shared(&self) -> Shared;
    fn knobs(&self) -> Vec<Knob>;
    fn running(&self) -> bool;
    fn at_boundary(&self) -> bool;
    /// Returns true while the learner's training data is being prepared.
    fn is_preparing(&self) -> bool;
    fn progress(&self) -> Progress;
    /// Progress at the first successful confirmation (see [`Goal`](crate::protocol::Goal)); `None` before.
    fn solved(&self) -> Option<&Progress>;
    /// Number of tests that reached the goal but failed the confirmation.
    fn attempts(&self) -> u32;
    fn diverged(&self) -> bool;
    fn digest(&self) -> Digest;
    fn backend(&self) -> Backend;
}

/// A room in the list of rooms.
pub trait AnyRoom: Sync {
    fn schema(&self) -> &'static Schema;
    fn variants(&self) -> Vec<Variant>;
    fn knobs(&self, variant: &str) -> Vec<Knob>;
    /// Returns an error with a remedy if no run can start from this config on this host.
    fn check(&self, config: &Config, host: Host) -> Result<(), RunError>;
    fn begin(&self, config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError>;
    /// Restores a run with its user data, if the file does not contain it.
    fn restore(&self, bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError>;
    /// Estimated upper bound of the bytes that a run allocates.
    fn bytes(&self, config: &Config, host: Host) -> Result<u64, RunError>;
    /// User data that the room accepts; `None` if it accepts none.
    fn data(&self) -> Option<DataInfo>;
    /// Computes pieces for a run in any process. Takes the output of [`AnyRun::due`]; returns the input of [`AnyRun::take`].
    fn play(&self, due: &[u8], pieces: Range<u64>, host: Host) -> Result<Vec<u8>, RunError>;

    fn info(&self) -> RoomInfo {
        self.schema().info(self.variants(), self.data())
    }
}

/// Default config of a room.
pub fn config_of(room: &dyn AnyRoom) -> Config {
    Config {
        version: VERSION,
        room: room.schema().id.into(),
        variant: room.variants()[0].id.into(),
        seed: 1,
        knobs: BTreeMap::new(),
        data: None,
        changes: Vec::new(),
    }
}
