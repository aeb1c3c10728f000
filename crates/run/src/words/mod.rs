//! The room where a transformer is trained on a text from nothing, token by token, and writes what it has learned.

mod asking;
mod knobs;
pub mod protocol;
mod room;
mod schema;
mod stage;
mod telling;
mod testing;
mod text;
mod validation;
mod writing;

pub use knobs::preset;
pub use room::Words;
pub use text::{is_vocabulary, vocabulary_line};
