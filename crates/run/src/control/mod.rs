//! The control room: Gymnasium environments trained with PPO.

pub mod env;
mod environments;
mod knobs;
mod network;
mod plan;
pub mod protocol;
mod room;
mod schema;
mod shown;
mod stage;
mod testing;
mod trail;

pub use room::Control;
pub use testing::TEST_EPISODES;
