//! Decoder-only pre-norm transformer that learns to predict the next token of a text. Depending on the settings, its layers are those of
//! GPT-2 (Radford et al. 2019) or LLaMA (Touvron et al. 2023). Parameters have the names and shapes of nanoGPT.
//!
//! `model.rs` builds the training graph, and `train.rs` contains the AdamW steps. `reader.rs` runs the same model with fixed weights and a
//! key-value cache, for tests, queries and text generation (`writing.rs`). A batch depends only on the seed and the step number, so a
//! checkpoint contains no batch.

pub(crate) mod config;
#[cfg(feature = "export")]
mod export;
mod model;
mod reader;
mod train;
mod writing;

pub use config::{Config, Mlp, Norm, Positions, Shape, WordsError};
pub use model::plan_training;
pub use reader::Reader;
pub use train::{Pretrainer, Progress, Stats};
pub use writing::{Sampling, Writing};
