//! Control: proximal policy optimisation on environments of Gymnasium.

pub mod ppo;
