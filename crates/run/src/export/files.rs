//! Files of an exported model.

use super::card::card;
use super::described::{Described, Facts};
use super::format::Format;
use crate::RunError;
use graph::export;
use serde::Serialize;

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
    let text = card(described, facts, format, bytes.len()).into_bytes();
    let file = |extension: &str, bytes| ExportFile { name: format!("{name}.{extension}"), bytes };
    Ok(Exported { model: file(format.name(), bytes), card: file("md", text) })
}
