//! Benchmarks for `hothouse bench` and `npm run bench`: the compute core, a GPU, and each room (a task with its learners, such as
//! backgammon). Only the terminal and page programs depend on this crate. The caller passes a clock, because this crate does not access the
//! system's clock.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
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
// The module is public for programs that add a room. Also, unused public items cause no warnings: a page's wasm module uses only some of
// the items.
pub mod measure;
mod profile;
mod training;
#[cfg(feature = "words")]
mod words;

pub use figure::{Figure, Spread};
#[cfg(feature = "words")]
pub use words::Steps;

use measure::Bench;

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    #[cfg(feature = "device")]
    pub use crate::backgammon::device::break_even;
    pub use crate::compute::small_step;
    pub use crate::profile::profile_training;
    #[cfg(feature = "words")]
    pub use crate::words::random_corpus;
}

/// A named group of benchmarks.
pub struct Suite {
    pub id: &'static str,
    pub measure: fn(&mut Bench),
    /// Function that reports the time of each operation in the suite's training step; `None` if the suite has no such function.
    pub profile: Option<fn(&mut Bench)>,
}

/// Suites of the compute core, of this program's rooms, and of environments from files.
pub static SUITES: &[Suite] = &[
    Suite { id: "core", measure: compute::measure, profile: Some(compute::profile) },
    #[cfg(feature = "control")]
    Suite { id: "control", measure: control::measure, profile: None },
    #[cfg(feature = "files")]
    Suite { id: "worlds", measure: control::measure_files, profile: None },
    #[cfg(feature = "backgammon")]
    Suite { id: "backgammon", measure: backgammon::measure, profile: None },
    #[cfg(feature = "cube")]
    Suite { id: "cube", measure: cube::measure, profile: None },
    #[cfg(feature = "logic")]
    Suite { id: "logic", measure: logic::measure, profile: None },
    #[cfg(feature = "words")]
    Suite { id: "words", measure: words::measure, profile: Some(words::profile) },
];

/// Returns the suite with the id `id`, or `None` if no suite has this id.
pub fn suite(id: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.id == id)
}

/// Measures the GPU itself, then each room that has GPU kernels.
#[cfg(feature = "device")]
pub fn measure_device(gpu: &gpu::Gpu, bench: &mut Bench) -> Result<(), learn::Fault> {
    let device = device::Device::measured(gpu, bench)?;
    let rooms = [control::device::measure, backgammon::device::measure, logic::device::measure];
    rooms.iter().try_for_each(|measure| measure(&device, bench))
}
