//! The one boundary between an experiment and its shells: commands in, events and frames out.
//!
//! The page and the terminal both stand on this crate and on nothing below it. It refuses to name a
//! platform: no clocks, no files, no threads. A shell brings those.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod bench;
mod checkpoint;
mod container;
mod course;
mod device;
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
mod sweep;

pub use container::room_of;
pub use error::RunError;
pub use experiment::{EVALUATION_EPISODES, Experiment};
pub use learn::{Fault, Machine};
pub use permalink::native_command;
use protocol::{Axis, Config, Environment, Knob};
use std::collections::BTreeMap;
pub use sweep::Sweep;
use worlds::{Actions, Kind, Of, Spec};

/// Configs, permalinks and checkpoints of a later format are refused, with a way out.
pub const CONFIG_VERSION: u32 = 1;
/// Iterations between two digests of the weights.
pub const DIGEST_EVERY: u32 = 16;

/// The room of PPO and Gymnasium's environments.
pub(crate) const ROOM: &str = "control";

/// What runs when nobody says otherwise.
pub fn default_config() -> Config {
    Config {
        version: CONFIG_VERSION,
        room: ROOM.into(),
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

/// Every knob of an environment, with the defaults that its preset gives; of CartPole where there is no such
/// environment.
pub fn knob_list(env: &str) -> Vec<Knob> {
    knobs::table(env).entries.into_iter().map(|e| e.knob).collect()
}

/// Every environment that can be trained.
pub fn environments() -> Vec<Environment> {
    worlds::kinds().iter().map(|kind| environment(kind.spec)).collect()
}

/// The environment that Gymnasium calls so.
pub fn environment_by_id(id: &str) -> Result<Environment, RunError> {
    Ok(environment(kind(id)?.spec))
}

fn kind(id: &str) -> Result<&'static Kind, RunError> {
    worlds::kind(id).ok_or_else(|| {
        let known: Vec<_> = worlds::kinds().iter().map(|kind| kind.spec.id).collect();
        RunError::UnknownEnv { id: id.into(), known: known.join(", ") }
    })
}

fn environment(spec: &Spec) -> Environment {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let range = match spec.actions {
        Actions::Choices(count) => [0.0, f64::from(count) - 1.0],
        Actions::Range(low, high) => [low, high],
    };
    let axis = |axis: worlds::Axis| {
        let of = match axis.of {
            Of::Number(i) => vec![i as u32],
            Of::Angle { cos, sin } => vec![cos as u32, sin as u32],
        };
        Axis { name: axis.name.into(), low: axis.low, high: axis.high, of }
    };
    Environment {
        id: spec.id.into(),
        summary: spec.summary.into(),
        choices: names(spec.choices),
        range,
        observation: names(spec.observation),
        state: names(spec.state),
        step_limit: spec.step_limit,
        solved_at: spec.solved_at,
        returns: spec.returns,
        step_s: spec.shown_step_s,
        plane: [axis(spec.plane.x), axis(spec.plane.y)],
    }
}

/// Refuses a config that no run can start from, and says what would do.
pub fn validate(config: &Config) -> Result<(), RunError> {
    check_version(config.version)?;
    match &*config.room {
        ROOM => {
            kind(&config.env)?;
            knobs::settings(&config.env, &config.knobs)?;
            Ok(())
        }
        backgammon::ROOM => backgammon::validate(config),
        other => Err(RunError::UnknownRoom(other.into())),
    }
}
