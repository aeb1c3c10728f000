//! Control on the device: its environments, and PPO whole.

pub(crate) mod ppo;
pub(crate) mod worlds;
