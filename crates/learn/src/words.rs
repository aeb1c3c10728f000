//! A transformer that learns to predict the next token of a text: decoder-only and pre-norm, as GPT-2 (Radford et al. 2019) or, by
//! settings, as LLaMA (Touvron et al. 2023). Parameters are named and shaped as nanoGPT's.
//!
//! `model.rs` is the graph that is trained, `train.rs` the steps of AdamW, and `reader.rs` the same model with weights that no longer
//! change and a cache of keys and values, which is tested, asked, and writes (`writing.rs`). A batch depends on the seed and the
//! number of its step, so a run is saved without one.

mod config;
mod model;
mod reader;
mod train;
mod writing;

pub use config::{Config, Mlp, Norm, Positions, Shape, WordsError};
pub use model::plan_training;
pub use reader::Reader;
pub use train::{Pretrainer, Progress, Stats};
pub use writing::{Sampling, Writing};
