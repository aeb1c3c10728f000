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
mod host;
pub mod knobs;
mod learners;
pub mod logic;
pub mod monitor;
pub mod outcomes;
pub mod permalink;
mod plain_data;
pub mod protocol;
mod questions;
pub mod room;
mod runs;
mod schema;
mod shared;
pub mod sweep;
pub mod typed;
mod version;
pub mod words;

pub use container::{data_wanted, room_of};
pub use digest::DIGEST_EVERY;
pub use error::RunError;
pub use history::{History, TimeByPart};
pub use host::Host;
pub use learn::{Data, Fault, Learner, Machine, Slice, choices, learner_settings, progress, settings};
pub use permalink::{MOST_CHANGES, native_command};
use protocol::{Config, Dataset};
pub use questions::snake_case;
pub use runs::{AnyRoom, AnyRun, Entry, Run, config_of};
#[doc(hidden)]
pub use serde;
use std::sync::RwLock;
pub use sweep::Sweep;
#[cfg(feature = "typescript")]
#[doc(hidden)]
pub use ts_rs;
pub use version::VERSION;
use version::check_version;
pub use words::is_vocabulary;

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

/// What runs when nobody says otherwise.
pub fn default_config() -> Config {
    config_of(rooms()[0])
}

/// A run from its beginning.
pub fn begin(config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError> {
    check_version(config.version)?;
    room(&config.room)?.begin(config, host)
}

/// Does pieces of an iteration of any room: [`AnyRoom::play`].
pub fn play(due: &[u8], pieces: std::ops::Range<u64>, host: Host) -> Result<Vec<u8>, RunError> {
    room(&container::stated_room_of(due)?)?.play(due, pieces, host)
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
