//! The words room: a transformer is trained on a text from scratch, token by token, and writes samples.

mod answers;
mod events;
#[cfg(feature = "export")]
mod export;
mod knobs;
mod phase;
pub mod protocol;
mod room;
mod schema;
mod testing;
mod text;
mod validation;
mod writing;

pub use knobs::preset;
pub use room::Words;
pub use text::{is_vocabulary, vocabulary_line};
