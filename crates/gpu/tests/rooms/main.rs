//! What rooms offload to a device: worlds, and the work of their learners.

#[path = "../common/mod.rs"]
mod common;

mod backgammon;
mod environments;
mod logic;
mod lunar_lander;
mod ppo;
