//! What shells hold, whatever the room: a room of a list, and a run of it.

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

/// What shells hold: a run, whatever its room.
pub trait AnyRun: Send + Sync {
    /// Does what it is told, or says why not and leaves everything as it was.
    fn command(&mut self, command: Command) -> Result<(), RunError>;
    /// One slice of work; false when there is nothing to do. `now_s` is the shell's clock, in seconds from anywhere.
    fn advance(&mut self, now_s: f64) -> bool;
    /// Whether the last slice found nothing to do but to wait for the other machine.
    fn waiting(&self) -> bool;
    /// What happened since the last call.
    fn events(&mut self) -> Vec<Event>;

    /// A question of the room's `protocol.rs`, as `{ ask: "name", … }`.
    fn ask(&mut self, question: serde_json::Value) -> Result<Answer, RunError>;
    /// Tests what is learned by now, whatever the pace.
    fn test(&mut self) -> Result<Row, RunError> {
        Ok(self.test_while(&mut || true)?.expect("the test has no condition that ends it"))
    }
    /// The same, unless somebody who is asked between its slices breaks it off.
    fn test_while(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Option<Row>, RunError>;
    /// What was learned by now, where it acts on observations.
    fn policy(&self) -> Result<Box<dyn Policy>, RunError>;
    /// The whole run as one file, at once where [`AnyRun::saves`] says so, and else after the iteration in progress: on the processor,
    /// where the other machine does not answer.
    fn save(&mut self) -> Result<Vec<u8>, RunError>;
    /// The places of the marks that one can go back to before: the newest of those that somebody asked for.
    fn kept_before(&self) -> Vec<usize>;
    /// The run as one file, as it was just before the change of one of these marks.
    fn save_before(&self, mark: usize) -> Result<Vec<u8>, RunError>;
    /// Where the run stands that can be saved at once. Of a learner that cannot be saved within an iteration it is how a long one
    /// began; nothing where an iteration that may be short has to end first.
    fn saves(&self) -> Option<Progress>;

    /// From here on others do the pieces of its iterations ([`AnyRun::due`]), or it does them itself again.
    fn share(&mut self, shared: bool) -> Result<(), RunError>;
    /// Whether a shared run has pieces to give. It may have other work meanwhile.
    fn is_due(&mut self) -> bool;
    /// Those pieces: their numbers, and what [`AnyRoom::play`] does them with.
    fn due(&mut self) -> Option<(Range<u64>, Vec<u8>)>;
    /// Takes the next of them; on a refusal it is as it was.
    fn take(&mut self, pieces: &[u8]) -> Result<(), RunError>;

    /// Whether a shell should open a GPU, and [`AnyRun::offer`] it.
    fn wants_machine(&mut self) -> bool;
    /// A GPU to train on, or why there is none.
    fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>);
    fn device_wish(&self) -> DeviceWish;
    /// Where the time of its gradients has gone, operation by operation, since somebody began to look; nothing where the learner has no
    /// plan. `look` says whether somebody looks from here on. It leaves no trace in the training.
    fn operations(&mut self, look: bool) -> Option<Vec<Operation>>;
    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in the training.
    fn set_clock(&mut self, clock: fn() -> f64);
    /// Compare the run with what whoever shared it got.
    fn expect(&mut self, digest: Digest);

    fn schema(&self) -> &'static Schema;
    fn variant(&self) -> &Variant;
    fn config(&self) -> &Config;
    /// The config with all live changes, those that were made and those that are ahead: what starts the same run.
    fn config_now(&self) -> Config;
    /// The run as a link and as a command.
    fn shared(&self) -> Shared;
    fn knobs(&self) -> Vec<Knob>;
    fn running(&self) -> bool;
    fn at_boundary(&self) -> bool;
    /// Nothing is learned yet, and what that needs is still being made.
    fn is_preparing(&self) -> bool;
    fn progress(&self) -> Progress;
    /// Where it was first confirmed to reach the goal: see [`Goal`](crate::protocol::Goal).
    fn solved(&self) -> Option<&Progress>;
    /// Tests that reached the goal where the confirmation did not.
    fn attempts(&self) -> u32;
    fn diverged(&self) -> bool;
    fn digest(&self) -> Digest;
    fn backend(&self) -> Backend;
}

/// A room, as shells list it.
pub trait AnyRoom: Sync {
    fn schema(&self) -> &'static Schema;
    fn variants(&self) -> Vec<Variant>;
    fn knobs(&self, variant: &str) -> Vec<Knob>;
    /// Refuses a config that no run can start from on this host, and says what would do.
    fn check(&self, config: &Config, host: Host) -> Result<(), RunError>;
    fn begin(&self, config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError>;
    /// With the data it learns from, where the file does not have it.
    fn restore(&self, bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError>;
    /// About what a run allocates, at most.
    fn bytes(&self, config: &Config, host: Host) -> Result<u64, RunError>;
    /// What it can be given to learn from.
    fn data(&self) -> Option<DataInfo>;
    /// Does pieces of an iteration for a run wherever that is, with what its [`AnyRun::due`] gave: what its [`AnyRun::take`] takes.
    fn play(&self, due: &[u8], pieces: Range<u64>, host: Host) -> Result<Vec<u8>, RunError>;

    fn info(&self) -> RoomInfo {
        self.schema().info(self.variants(), self.data())
    }
}

/// What runs in a room when nobody says otherwise.
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
