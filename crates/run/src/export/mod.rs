//! Export of a trained model for other programs, as ONNX, C or JavaScript, with a model card. A room describes its model as a
//! [`graph::export::Model`]; this module creates the files for every room.

pub mod agreement;
mod card;
mod described;
mod examples;
mod files;
mod format;
pub(crate) mod markdown;

pub use described::Described;
pub(crate) use described::{Facts, none};
pub use examples::{NamedExamples, Numbers};
pub(crate) use files::exported;
pub use files::{ExportFile, Exported};
pub use format::{CARD_BEGINS, Format};
pub use graph::export::{Examples, Model, Reads};
