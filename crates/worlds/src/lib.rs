//! Worlds: rules only, each as a plain f64 twin and as thousands side by side. A world knows no network,
//! no learner, no clock and no file.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // as clippy.toml lists them
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
pub mod logic;
pub mod words;
