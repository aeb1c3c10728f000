//! Control: proximal policy optimisation on Gymnasium environments.

pub mod ppo;

pub use ppo::accelerator::{Accelerator, IterationInput, IterationOutput, LearnerSpec, Snapshot};
pub use ppo::{Evaluation, IterationStats, Ppo, PpoConfig, PpoError, Progress, RECORDED_ENVS, RECORDED_STEPS, Recorded, Times};
