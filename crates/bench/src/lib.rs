//! The figures of `hothouse bench` and `npm run bench`: of the compute core, of a GPU, and of each room in a file of its own. No other
//! crate but the shells knows of benches. A clock is given: nothing here touches one.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

#[cfg(feature = "backgammon")]
mod backgammon;
mod compute;
#[cfg(feature = "control")]
mod control;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "device")]
mod device;
mod figure;
#[cfg(feature = "logic")]
mod logic;
// Also for a program that adds a room of its own; and a page's module uses a part of it alone.
pub mod measure;
mod profile;
mod training;
#[cfg(feature = "words")]
mod words;

pub use figure::{Figure, Spread};
#[cfg(feature = "words")]
pub use words::Steps;

use measure::Bench;

/// What is measured under one name.
pub struct Suite {
    pub id: &'static str,
    pub measure: fn(&mut Bench),
    /// Where the time of its training step goes, call by call of its plan.
    pub profile: Option<fn(&mut Bench)>,
}

/// The compute core, and the rooms of this program.
pub static SUITES: &[Suite] = &[
    Suite { id: "core", measure: compute::measure, profile: Some(compute::profile) },
    #[cfg(feature = "control")]
    Suite { id: "control", measure: control::measure, profile: None },
    #[cfg(feature = "backgammon")]
    Suite { id: "backgammon", measure: backgammon::measure, profile: None },
    #[cfg(feature = "cube")]
    Suite { id: "cube", measure: cube::measure, profile: None },
    #[cfg(feature = "logic")]
    Suite { id: "logic", measure: logic::measure, profile: None },
    #[cfg(feature = "words")]
    Suite { id: "words", measure: words::measure, profile: Some(words::profile) },
];

/// That of this name.
pub fn suite(id: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.id == id)
}

/// What a GPU does: by itself, and for each room that has kernels of its own.
#[cfg(feature = "device")]
pub fn measure_device(gpu: &gpu::Gpu, bench: &mut Bench) -> Result<(), learn::Fault> {
    let device = device::Device::measured(gpu, bench)?;
    let rooms = [control::device::measure, backgammon::device::measure, logic::device::measure];
    rooms.iter().try_for_each(|measure| measure(&device, bench))
}
