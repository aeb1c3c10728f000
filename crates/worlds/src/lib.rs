//! Rules of environments, games, cubes, automata and texts. Each control environment has a scalar f64 reference and a vectorized f32
//! version. This crate contains no networks, no learners, no clocks and no file access.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
pub mod logic;
pub mod words;
