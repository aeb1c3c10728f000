//! Export of a trained model for other programs, as ONNX, C or JavaScript, with a model card. A room describes its model as a
//! [`graph::export::Model`]; this module writes the files of every room.

mod card;
mod markdown;

pub use graph::export::{Examples, Model, Reads};

use crate::RunError;
use crate::protocol::{Config, Digest, Row, Variant};
use crate::schema::Schema;
use graph::export::{self, C_BEGINS, JS_BEGINS, ONNX_BEGINS};
use serde::Serialize;

/// First characters of a model card.
pub const CARD_BEGINS: &str = "<!-- Model card by Hothouse -->";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Onnx,
    C,
    Js,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Onnx, Format::C, Format::Js];

    /// Returns the format with this name.
    pub fn named(name: &str) -> Result<Format, RunError> {
        let known = Format::ALL.iter().find(|format| format.name() == name).copied();
        known.ok_or_else(|| RunError::refused(format!("there is no model format called '{name}'"), "Choose one of: onnx, c, js"))
    }

    /// Returns the name, which is also the extension of files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Onnx => "onnx",
            Format::C => "c",
            Format::Js => "js",
        }
    }

    /// Returns the first bytes of every file of this format.
    pub fn begins(self) -> &'static [u8] {
        match self {
            Format::Onnx => ONNX_BEGINS,
            Format::C => C_BEGINS,
            Format::Js => JS_BEGINS,
        }
    }
}

/// A file of an export, with a suggested name.
#[derive(Serialize)]
pub struct ExportFile {
    pub name: String,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// An exported model: its file and its model card.
#[derive(Serialize)]
pub struct Exported {
    pub model: ExportFile,
    pub card: ExportFile,
}

/// Model of a room, with the room's remarks on its use.
pub struct Described {
    pub model: Model,
    /// Paragraphs of the model card, in plain text.
    pub remarks: Vec<String>,
}

/// Numbers of many items, for one input or output of a model.
pub struct Numbers {
    pub name: &'static str,
    /// Lengths of the axes. The first axis counts the items.
    pub shape: Vec<usize>,
    pub integers: bool,
    pub values: Vec<f32>,
}

/// Inputs of a model, and the outputs that the learner's own code computes for them.
pub struct NamedExamples {
    pub inputs: Vec<Numbers>,
    pub outputs: Vec<Numbers>,
}

impl NamedExamples {
    pub(crate) fn new(model: &Model, count: usize, examples: Examples) -> NamedExamples {
        let numbers = |name, dims: Vec<usize>, integers, values| Numbers { name, shape: [vec![count], dims].concat(), integers, values };
        let inputs = model.inputs.iter().zip(examples.inputs);
        let outputs = model.outputs.iter().zip(examples.outputs);
        NamedExamples {
            inputs: inputs.map(|(of, values)| numbers(of.name, model.input_dims(of), of.integers, values)).collect(),
            outputs: outputs.map(|(of, values)| numbers(of.name, model.output_dims(of), of.reads == Reads::Largest, values)).collect(),
        }
    }
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

pub(crate) fn exported(described: &Described, facts: &Facts, format: Format) -> Result<Exported, RunError> {
    let Described { model, .. } = described;
    let title = format!("Room {}, iteration {}, weights {}.", facts.schema.id, facts.digest.iteration, facts.digest.weights);
    let bytes = match format {
        Format::Onnx => export::onnx(model, &title),
        Format::C => export::c(model, &title).map(String::into_bytes),
        Format::Js => export::js(model, &title).map(String::into_bytes),
    };
    let name = format!("{}-{}", facts.schema.id, facts.variant.id);
    let bytes = bytes.map_err(RunError::below)?;
    let card = card::card(described, facts, format, bytes.len()).into_bytes();
    let file = |extension: &str, bytes| ExportFile { name: format!("{name}.{extension}"), bytes };
    Ok(Exported { model: file(format.name(), bytes), card: file("md", card) })
}
