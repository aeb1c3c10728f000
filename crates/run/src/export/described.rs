//! A model with the texts and facts of its card.

use crate::RunError;
use crate::protocol::{Config, Digest, Row, Variant};
use crate::schema::Schema;
use graph::export::Model;

/// Model of a room, with the room's remarks on the use of the model.
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
    /// Latest test of the run; `None` if the run has not been tested.
    pub test: Option<&'a Row>,
    /// Value of the room's first counter when the run was solved; `None` if the run is not solved.
    pub solved: Option<f64>,
    /// Command that starts the run.
    pub command: String,
}

/// Returns the error of a room whose models cannot be exported.
pub(crate) fn none(room: &str) -> RunError {
    RunError::refused(format!("the room {room} has no network that other programs can run"), "Choose a run of another room")
}
