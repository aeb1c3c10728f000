//! The control room: Gymnasium environments and environments from files, trained with PPO.

mod crowd;
pub mod env;
mod environments;
#[cfg(feature = "export")]
mod export;
mod file;
mod knobs;
mod plan;
mod preview;
pub mod protocol;
mod room;
mod schema;
mod shown;
mod stage;
mod testing;
mod trail;

pub use file::{Compiles, Opens, Refuses, kind_of};
pub use room::Control;
pub use testing::TEST_EPISODES;
