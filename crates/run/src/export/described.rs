//! A model with the texts and facts of its card.

use crate::RunError;
use crate::protocol::{Config, Digest, Row, Variant};
use crate::schema::Schema;
use graph::export::Model;

/// Model of a room, with the room's remarks on its use.
pub struct Described {
    pub model: Model,
    /// Paragraphs of the model card, in plain text.
    pub remarks: Vec<String>,
}

/// Facts about a run that its model card states.
pub(crate) struct Facts<'a> {
    pub schema: &'static Schema,
    pub variant: &'a Variant,
    pub config: Config,
    pub digest: Digest,
    pub count: f64,
    /// The newest test of the run.
    pub test: Option<&'a Row>,
    /// Value of the first counter when the run was solved.
    pub solved: Option<f64>,
    /// Command that starts the run.
    pub command: String,
}

/// Returns the error of a room without a model for other programs.
pub(crate) fn none(room: &str) -> RunError {
    RunError::refused(format!("the room {room} has no network that other programs can run"), "Choose a run of another room")
}
