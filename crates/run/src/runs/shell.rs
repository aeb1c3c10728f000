//! Interfaces of a run and of a room, for shells. The interfaces do not depend on the room's type.

use crate::protocol::{
    Backend, Command, Config, DataInfo, Dataset, DeviceWish, Digest, Event, Knob, Operation, Problem, Progress, RoomInfo, Row, Shared,
    Standing, Variant,
};
use crate::room::{Answer, Pack, Policy};
use crate::schema::Schema;
use crate::version::VERSION;
use crate::{Host, RunError};
use learn::{Fault, Machine};
use std::collections::BTreeMap;
use std::ops::Range;

/// Interface of a run of any room.
pub trait AnyRun: Send + Sync {
    /// Executes a command. After an error, the run is unchanged.
    fn command(&mut self, command: Command) -> Result<(), RunError>;
    /// Runs one slice of work. Returns false if there is no work. `now_s` is the time of the shell's clock in seconds, from an arbitrary
    /// epoch.
    fn advance(&mut self, now_s: f64) -> bool;
    /// Returns true if the run had no work in the last slice because it waits for another machine.
    fn waiting(&self) -> bool;
    /// Returns the events since the previous call.
    fn events(&mut self) -> Vec<Event>;

    /// Answers a question of `protocol.rs` or of the room's own `protocol.rs`. The question has the form `{ ask: "name", … }`.
    fn ask(&mut self, question: serde_json::Value) -> Result<Answer, RunError>;
    /// Tests the current weights without interruption. Returns the row of the test.
    fn test(&mut self) -> Result<Row, RunError> {
        Ok(self.test_while(&mut || true)?.expect("the test has no condition that ends it"))
    }
    /// Tests the current weights and returns the row of the test. Calls `should_continue` before each slice. If `should_continue` returns
    /// false, the result is `None`; the next call continues the test, unless the run has changed.
    fn test_while(&mut self, should_continue: &mut dyn FnMut() -> bool) -> Result<Option<Row>, RunError>;
    /// Returns the policy with the current weights; an error if the room's learner does not act on observations.
    fn policy(&self) -> Result<Box<dyn Policy>, RunError>;
    /// Returns a file of the given format that contains the model with the current weights, and the model card.
    #[cfg(feature = "export")]
    fn export(&self, format: crate::export::Format) -> Result<crate::export::Exported, RunError>;
    /// Returns `count` inputs of the exported model, with the results that the learner's own code computes for these inputs. The results
    /// are used to check the exported model.
    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::NamedExamples, RunError>;
    /// Returns the whole run as a file. If [`AnyRun::saves`] returns `None`, first completes the iteration in progress. If the iteration
    /// takes too long, saves the current state or a snapshot of the iteration's beginning instead, unless neither can be saved. If another
    /// machine does not answer, the CPU completes the iteration.
    fn save(&mut self) -> Result<Vec<u8>, RunError>;
    /// Returns the indices of the marks that [`AnyRun::save_before`] accepts. The run keeps snapshots only for the latest requested
    /// changes.
    fn kept_before(&self) -> Vec<usize>;
    /// Returns the run as a file, in its state just before a change. `mark` is the index of the change's mark.
    fn save_before(&self, mark: usize) -> Result<Vec<u8>, RunError>;
    /// Returns the progress of the state that can be saved immediately. Within a long iteration that cannot be saved before its end, this
    /// is the state at the iteration's beginning. `None` means that a save waits for the end of the iteration: the iteration is short so
    /// far, or there is no snapshot of its beginning.
    fn saves(&self) -> Option<Progress>;

    /// Starts or stops sharing. In a shared run, workers compute pieces (independent, numbered parts) of each iteration; see
    /// [`AnyRun::due`].
    fn share(&mut self, shared: bool) -> Result<(), RunError>;
    /// Returns true if results of pieces are missing in a shared run. Even then, the run may have other work.
    fn is_due(&mut self) -> bool;
    /// Returns the numbers of the pieces that workers can compute, and the input of [`AnyRoom::play`]; `None` if there are no such pieces.
    fn due(&mut self) -> Option<(Range<u64>, Vec<u8>)>;
    /// Takes the results of the next missing pieces. `pieces` is an output of [`AnyRoom::play`]. After an error, the run is unchanged.
    fn take(&mut self, pieces: &[u8]) -> Result<(), RunError>;

    /// Returns true if the shell should open a GPU and then call [`AnyRun::offer`].
    fn wants_machine(&mut self) -> bool;
    /// Offers a GPU for training to the run, or passes the reason why no GPU is available.
    fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>);
    fn device_wish(&self) -> DeviceWish;
    /// Returns the operations of the plan that computes the gradients, with their total times since the recording began; `None` if the
    /// learner has no plan. `record` turns the recording on or off. The recording does not affect training.
    fn operations(&mut self, record: bool) -> Option<Vec<Operation>>;
    /// Sets the profiling clock, in seconds from an arbitrary epoch. The clock does not affect training.
    fn set_clock(&mut self, clock: fn() -> f64);
    /// Sets the digest of the link that opened the run. At the digest's iteration, the run compares this digest with its own.
    fn expect(&mut self, digest: Digest);

    fn schema(&self) -> &'static Schema;
    fn variant(&self) -> &Variant;
    fn config(&self) -> &Config;
    /// Returns the config with the live changes that were made and the config's changes that are still due. A run from this config repeats
    /// this run.
    fn config_now(&self) -> Config;
    /// Returns the link to the run, the command that starts it, and the limits of its reproduction.
    fn shared(&self) -> Shared;
    fn knobs(&self) -> Vec<Knob>;
    fn running(&self) -> bool;
    fn at_boundary(&self) -> bool;
    /// Returns true while the learner's training data is being prepared.
    fn is_preparing(&self) -> bool;
    fn progress(&self) -> Progress;
    /// Returns the progress at which the run was solved: the progress at the first successful confirmation (see
    /// [`Goal`](crate::protocol::Goal)). Returns `None` if the run is not solved.
    fn solved(&self) -> Option<&Progress>;
    /// Returns the number of failed confirmations.
    fn attempts(&self) -> u32;
    /// Returns the run's leading number and state. `last` is a test that a shell requested; it counts if it is newer
    /// than the run's own tests.
    fn standing(&self, last: Option<&Row>) -> Standing;
    /// Returns the reason why the run stopped permanently; `None` if the run can continue.
    fn failure(&self) -> Option<RunError>;
    fn digest(&self) -> Digest;
    fn backend(&self) -> Backend;
}

/// Interface of a room in the list of rooms.
pub trait AnyRoom: Sync {
    fn schema(&self) -> &'static Schema;
    fn variants(&self) -> Vec<Variant>;
    /// Returns the variant of a config, or an error if there is no such variant.
    fn variant(&self, config: &Config, host: Host) -> Result<Variant, RunError>;
    /// Returns the errors in a text from which a run would learn; see [`Room::problems`](crate::room::Room::problems).
    fn problems(&self, text: &str) -> Vec<Problem>;
    /// Returns the compression of user data in links; `None` if links never contain user data.
    fn pack(&self) -> Option<Pack>;
    /// Returns the variant of every run that learns from user data; `None` if all variants accept user data.
    fn data_variant(&self) -> Option<&'static str>;
    fn knobs(&self, variant: &str) -> Vec<Knob>;
    /// Returns an error with a remedy if no run can start from this config on this host.
    fn check(&self, config: &Config, host: Host) -> Result<(), RunError>;
    fn begin(&self, config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError>;
    /// Restores a run with its user data, which are required if the file does not contain them.
    fn restore(&self, bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError>;
    /// Returns an estimated upper bound of the bytes that a run allocates.
    fn bytes(&self, config: &Config, host: Host) -> Result<u64, RunError>;
    /// Returns the description of the user data that the room accepts; `None` if it accepts none.
    fn data(&self) -> Option<DataInfo>;
    /// Computes the pieces with the numbers `pieces` for a run, which may be in another process. `due` is an output of [`AnyRun::due`]. The
    /// result is an input of [`AnyRun::take`].
    fn play(&self, due: &[u8], pieces: Range<u64>, host: Host) -> Result<Vec<u8>, RunError>;

    fn info(&self) -> RoomInfo {
        self.schema().info(self.variants(), self.data(), self.data_variant())
    }
}

/// Returns the default config of a room.
pub fn config_of(room: &dyn AnyRoom) -> Config {
    Config {
        version: VERSION,
        room: room.schema().id.into(),
        variant: room.variants()[0].id.to_string(),
        seed: 1,
        knobs: BTreeMap::new(),
        data: None,
        changes: Vec::new(),
    }
}
