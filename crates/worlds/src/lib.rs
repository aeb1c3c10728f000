//! Rules of environments, games, cubes, automata and texts. Each control environment has a scalar f64 reference and a vectorized f32
//! version. This crate contains no networks, no learners, no clocks and no file access.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
pub mod logic;
pub mod words;

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::control::numpy::{f64_number, from_outside, python, rounded};
    pub use crate::control::rigid::{
        BODIES, Body, Contact, HINGES, Hinge, Meeting, NEAR, Rig, Scene, Solid, TOLERANCE, Touch, Turn, V2, impact, v2,
    };
    pub use crate::control::sweeps::{BLOCK, Fixed, System, sweep_many, sweep_one};
    pub use crate::words::grammar::{Exit, Node, Source, leave};
    pub use crate::words::stories::LISTS;
}
