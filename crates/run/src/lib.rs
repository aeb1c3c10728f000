//! Interface between runs and shells, for all rooms. A room is a kind of task with its learners, such as control. A run is one training run
//! in a room. A shell, such as the page or the terminal, sends commands to the run and receives events from the run.
//!
//! The page and the terminal use learners and environments only through this crate. The crate is independent of the platform: it uses no
//! clocks or files, and uses threads only through `math::par`. The shell provides clocks and files.
//!
//! The folders `control`, `backgammon`, `cube`, `logic` and `words` contain one room each. All other code serves all rooms; only this file
//! names rooms.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
#![forbid(unsafe_code)]

// The name `run` refers to this crate in macros that are used inside and outside of this crate.
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
#[cfg(feature = "export")]
pub mod export;
pub mod format;
pub mod gallery;
mod history;
mod host;
pub mod json;
pub mod knobs;
mod learners;
pub mod logic;
pub mod monitor;
mod networks;
pub mod outcomes;
pub mod permalink;
mod plain_data;
pub mod protocol;
mod questions;
pub mod room;
mod runs;
mod safe_text;
mod schema;
mod shared;
mod standing;
pub mod sweep;
mod tensors;
pub mod typed;
mod version;
pub mod words;

pub use container::{Origin, data_wanted, origin};
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

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::backgammon::analysis::review_cube;
    pub use crate::digest::{Arithmetic, of_words};
    #[cfg(feature = "export")]
    pub use crate::export::markdown::{block, plain};
    pub use crate::networks::views as network_views;
    pub use crate::permalink::letters::{bytes, letters};
    pub use crate::permalink::share;
    pub use crate::runs::testing::thin;
    pub use crate::standing::Tested;
    pub use crate::tensors::histogram;
}

/// Lists every room of this crate. The first room is the default.
macro_rules! rooms {
    ($($room:ty),*) => {
        #[cfg(feature = "every_room")]
        static ROOMS: &[&dyn AnyRoom] = &[$(&Entry::<$room>::NEW),*];
        /// Names of all rooms of this crate, including rooms that a wasm module of the page omits.
        const IDS: &[&str] = &[$(<$room as room::Room>::SCHEMA.id),*];
    };
}
rooms![control::Control, backgammon::Backgammon, cube::Cube, logic::Logic, words::Words];

#[cfg(not(feature = "every_room"))]
static ROOMS: &[&dyn AnyRoom] = &[];
/// Rooms that a shell added with [`add_room`].
static MORE: RwLock<Vec<&'static dyn AnyRoom>> = RwLock::new(Vec::new());

/// Returns the rooms of this program, including added rooms.
pub fn rooms() -> Vec<&'static dyn AnyRoom> {
    let more = MORE.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    ROOMS.iter().chain(more.iter()).copied().collect()
}

/// Adds a room. Call this function before any other use of the rooms.
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

/// Returns the names of all rooms, including rooms that this program omits.
fn known(rooms: &[&dyn AnyRoom]) -> Vec<&'static str> {
    let more = rooms.iter().map(|room| room.schema().id).filter(|id| !IDS.contains(id));
    IDS.iter().copied().chain(more).collect()
}

/// Returns the default config: the default variant of the first room with default knobs.
pub fn default_config() -> Config {
    config_of(rooms()[0])
}

pub fn begin(config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError> {
    check_version(config.version)?;
    room(&config.room)?.begin(config, host)
}

/// Computes pieces (numbered parts) of an iteration for a run of any room; see [`AnyRoom::play`].
pub fn play(due: &[u8], pieces: std::ops::Range<u64>, host: Host) -> Result<Vec<u8>, RunError> {
    room(&container::stated_room_of(due)?)?.play(due, pieces, host)
}

/// Restores a saved run of any room.
pub fn restore(bytes: &[u8], host: Host) -> Result<Box<dyn AnyRun>, RunError> {
    restore_with(bytes, host, None)
}

/// Restores a saved run of any room. `data` is the run's user data, which is required if [`data_wanted`] returns a description.
pub fn restore_with(bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError> {
    room(&origin(bytes)?.room)?.restore(bytes, host, data)
}

/// Returns an estimated upper bound of the bytes that a run of this config allocates.
pub fn bytes(config: &Config, host: Host) -> Result<u64, RunError> {
    room(&config.room)?.bytes(config, host)
}

/// Returns an error with a remedy if no run can start from this config.
pub fn validate(config: &Config, host: Host) -> Result<(), RunError> {
    check_version(config.version)?;
    room(&config.room)?.check(config, host)
}
