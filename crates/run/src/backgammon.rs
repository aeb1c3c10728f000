//! The room where backgammon is learned and played: a run with what passes between it and its shells, an analysis and a table
//! beside it, and the rules for other programs. The parts lie in the folder beside this file.

mod checkpoint;
pub mod decisions;
pub mod fibs;
mod opinion;
mod parlour;
pub mod protocol;
mod referee;
mod school;
mod seat;
mod table;
mod transcript;

pub use learn::backgammon::{Player, arena, yardstick};
pub use parlour::{Parlour, player_from_checkpoint};
pub use referee::{LineError, Referee};
pub use seat::{Reply, Seat};
pub use worlds::backgammon::{Board, Results, Roll, notation};

use crate::error::RunError;
use crate::protocol::{Config, Knob};
use crate::{CONFIG_VERSION, check_version};
use std::collections::BTreeMap;

pub const ROOM: &str = "backgammon";

/// What runs when nobody says otherwise.
pub fn default_config() -> Config {
    Config {
        version: CONFIG_VERSION,
        room: ROOM.into(),
        env: school::DEFAULT.into(),
        seed: 1,
        knobs: BTreeMap::new(),
    }
}

/// Every learner that there is.
pub fn learners() -> Vec<protocol::Learner> {
    school::learners()
}

/// Every knob of a learner; of the default one where there is none of this name.
pub fn knob_list(learner: &str) -> Vec<Knob> {
    let named = school::school(&Config { env: learner.into(), ..default_config() });
    named.or_else(|_| school::school(&default_config())).map_or(Vec::new(), |school| (school.knobs)())
}

/// Refuses a config that no run of this room can start from, and says what would do.
pub(crate) fn validate(config: &Config) -> Result<(), RunError> {
    check_version(config.version)?;
    if config.room != ROOM {
        return Err(RunError::OtherRoom { found: config.room.clone(), here: ROOM.into() });
    }
    (school::school(config)?.check)(&config.knobs)
}
