//! Files of exported models: a model, and its model card beside it.

use super::{FileKind, begins, check, refused, write_whole};
use anyhow::Result;
use run::export::{CARD_BEGINS, Exported, Format};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const CARD: FileKind = FileKind {
    name: "model card",
    is_kind: |file| begins(file, CARD_BEGINS.as_bytes()),
    next: "The model card of FILE.onnx is FILE.md. Name another file for the model",
    example: "model.md",
    is_stream: false,
};

fn kind(format: Format) -> FileKind {
    FileKind {
        name: "model of this format",
        is_kind: match format {
            Format::Onnx => |file| begins(file, Format::Onnx.begins()),
            Format::C => |file| begins(file, Format::C.begins()),
            Format::Js => |file| begins(file, Format::Js.begins()),
        },
        next: "Name another file for the model",
        example: match format {
            Format::Onnx => "model.onnx",
            Format::C => "model.c",
            Format::Js => "model.js",
        },
        is_stream: false,
    }
}

/// Returns the path of the model card: the path of the model with the extension `md`.
fn card(path: &Path) -> PathBuf {
    path.with_extension("md")
}

/// Returns an error if a model and its card cannot be written.
pub fn check_model(path: &Path, format: Format) -> Result<()> {
    if card(path) == path {
        let text = format!("{} is the name of the model card. Name the model otherwise, such as model.{}", path.display(), format.name());
        return Err(refused(ErrorKind::InvalidInput, text));
    }
    check(path, kind(format))?;
    check(&card(path), CARD)
}

/// Writes a model and its card. Returns the path of the card.
pub fn write_model(path: &Path, format: Format, exported: &Exported) -> Result<PathBuf> {
    check_model(path, format)?;
    write_whole(path, kind(format), &exported.model.bytes)?;
    write_whole(&card(path), CARD, &exported.card.bytes)?;
    Ok(card(path))
}
