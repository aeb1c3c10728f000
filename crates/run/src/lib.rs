//! The one boundary between runs and their shells: commands in, events out, whatever the room.
//!
//! The page and the terminal both stand on this crate and on nothing below it. It refuses to name a
//! platform: no clocks, no files, no threads. A shell brings those.
//!
//! What lies in a folder is one room's; what lies outside is for all rooms, and names none but in [`rooms`].
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

// What macros write names this crate as others do.
extern crate self as run;

pub mod axis;
pub mod backgammon;
pub mod bench;
mod checkpoint;
mod container;
pub mod control;
pub mod cube;
mod dataset;
mod device;
mod digest;
mod error;
pub mod format;
mod history;
pub mod knobs;
pub mod logic;
pub mod monitor;
pub mod outcomes;
pub mod permalink;
pub mod protocol;
pub mod room;
mod runs;
mod shared;
pub mod sweep;
pub mod typed;
pub mod words;

pub use container::{data_wanted, room_of};
pub use error::RunError;
pub use learn::{Data, Fault, Learner, Machine, Slice, choices, progress, settings};
pub use permalink::native_command;
use protocol::{Config, Dataset};
pub use room::snake_case;
pub use runs::{AnyRoom, AnyRun, Entry, Run};
#[doc(hidden)]
pub use serde;
pub use shared::play;
use std::collections::BTreeMap;
use std::sync::RwLock;
pub use sweep::Sweep;
#[cfg(feature = "typescript")]
#[doc(hidden)]
pub use ts_rs;
pub use words::is_vocabulary;

/// The format of configs, links and checkpoints. Another one is refused, with a way out.
pub const VERSION: u32 = 2;
/// Iterations between two digests of the weights.
pub const DIGEST_EVERY: u32 = 16;
/// Live changes of knobs that a config, and so a link, can have.
pub const MOST_CHANGES: usize = 64;

/// Every room of this crate; the first is the default.
macro_rules! rooms {
    ($($room:ty),*) => {
        #[cfg(feature = "every_room")]
        static ROOMS: &[&dyn AnyRoom] = &[$(&Entry::<$room>::NEW),*];
        /// By name, also those that a module of the page leaves out.
        const IDS: &[&str] = &[$(<$room as room::Room>::SCHEMA.id),*];
    };
}
rooms![control::Control, backgammon::Backgammon, cube::Cube, logic::Logic, words::Words];

#[cfg(not(feature = "every_room"))]
static ROOMS: &[&dyn AnyRoom] = &[];
/// Rooms that a shell adds.
static MORE: RwLock<Vec<&'static dyn AnyRoom>> = RwLock::new(Vec::new());

/// The rooms of this program.
pub fn rooms() -> Vec<&'static dyn AnyRoom> {
    let more = MORE.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    ROOMS.iter().chain(more.iter()).copied().collect()
}

/// Adds a room, before anything is asked of the rooms.
pub fn add_room(room: &'static dyn AnyRoom) {
    MORE.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(room);
}

pub fn room(id: &str) -> Result<&'static dyn AnyRoom, RunError> {
    let rooms = rooms();
    rooms
        .iter()
        .find(|room| room.schema().id == id)
        .copied()
        .ok_or_else(|| RunError::UnknownRoom { id: id.into(), known: known(&rooms).join(", ") })
}

/// The names of all rooms, here or not.
fn known(rooms: &[&dyn AnyRoom]) -> Vec<&'static str> {
    let more = rooms.iter().map(|room| room.schema().id).filter(|id| !IDS.contains(id));
    IDS.iter().copied().chain(more).collect()
}

/// What a shell knows of the machine that a run is on.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub isa: math::Isa,
    /// What a run may allocate.
    pub memory_bytes: u64,
}

impl Host {
    /// With as much memory as anyone asks for.
    pub fn new(isa: math::Isa) -> Host {
        Host { isa, memory_bytes: u64::MAX }
    }
}

/// What runs when nobody says otherwise.
pub fn default_config() -> Config {
    config_of(rooms()[0])
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

/// A run from its beginning.
pub fn begin(config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError> {
    check_version(config.version)?;
    room(&config.room)?.begin(config, host)
}

/// A run that was saved, of whichever room.
pub fn restore(bytes: &[u8], host: Host) -> Result<Box<dyn AnyRun>, RunError> {
    restore_with(bytes, host, None)
}

/// A run that was saved, with the data it learns from: to be given where [`data_wanted`] names it.
pub fn restore_with(bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError> {
    room(&room_of(bytes)?)?.restore(bytes, host, data)
}

/// About what a run of this config allocates, at most.
pub fn bytes(config: &Config, host: Host) -> Result<u64, RunError> {
    room(&config.room)?.bytes(config, host)
}

/// Refuses a config that no run can start from, and says what would do.
pub fn validate(config: &Config, host: Host) -> Result<(), RunError> {
    check_version(config.version)?;
    room(&config.room)?.check(config, host)
}

fn check_version(found: u32) -> Result<(), RunError> {
    match found {
        VERSION => Ok(()),
        ..VERSION => Err(RunError::NoSuchVersion { found }),
        _ => Err(RunError::Future { found, known: VERSION }),
    }
}
