//! The room of control: environments of Gymnasium under PPO.

pub mod env;
mod environments;
mod knobs;
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
