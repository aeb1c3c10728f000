//! Worlds: rules only, each with a plain f64 twin beside its fast form. A world knows no network, no
//! learner, no clock and no file.

pub mod cartpole;

pub use cartpole::{BadState, CartPole64, CartPoles, Step64};
