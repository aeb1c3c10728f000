//! The one boundary between an experiment and its shells: commands in, events and frames out.
//!
//! The page and the terminal both stand on this crate and on nothing below it. It refuses to name a
//! platform: no clocks, no files, no threads. A shell brings those.

pub mod bench;
mod checkpoint;
mod digest;
pub mod env;
mod error;
mod experiment;
mod knobs;
pub mod monitor;
pub mod permalink;
mod plan;
pub mod protocol;
mod stage;

pub use error::RunError;
pub use experiment::{EVALUATION_EPISODES, Experiment, SOLVED_AT};
pub use permalink::native_command;
use protocol::{Config, Knob};
use std::collections::BTreeMap;

/// Configs, permalinks and checkpoints of a later format are refused, with a way out.
pub const CONFIG_VERSION: u32 = 1;
/// Iterations between two digests of the weights.
pub const DIGEST_EVERY: u32 = 16;

/// What runs when nobody says otherwise.
pub fn default_config() -> Config {
    Config {
        version: CONFIG_VERSION,
        room: "control".into(),
        env: "CartPole-v1".into(),
        seed: 1,
        knobs: BTreeMap::new(),
    }
}

/// Version 1 is the first of config, permalink and checkpoint, and so far the only one.
fn check_version(found: u32) -> Result<(), RunError> {
    match found {
        0 => Err(RunError::NoSuchVersion { found }),
        1..=CONFIG_VERSION => Ok(()),
        _ => Err(RunError::Future { found, known: CONFIG_VERSION }),
    }
}

/// Every knob of the room.
pub fn knob_list() -> Vec<Knob> {
    knobs::table().into_iter().map(|e| e.knob).collect()
}

/// Refuses a config that no run can start from, and says what would do.
pub fn validate(config: &Config) -> Result<(), RunError> {
    check_version(config.version)?;
    if config.room != "control" {
        return Err(RunError::UnknownRoom(config.room.clone()));
    }
    if config.env != "CartPole-v1" {
        return Err(RunError::UnknownEnv(config.env.clone()));
    }
    knobs::settings(&config.knobs)?;
    Ok(())
}
