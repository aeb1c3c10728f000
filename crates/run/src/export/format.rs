//! File formats of exported models.

use crate::RunError;
use crate::safe_text::brief;
use graph::export::{C_BEGINS, JS_BEGINS, ONNX_BEGINS};

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

    /// Returns the format with this name; an error if there is none.
    pub fn named(name: &str) -> Result<Format, RunError> {
        let known = Format::ALL.iter().find(|format| format.name() == name).copied();
        known.ok_or_else(|| RunError::refused(format!("there is no model format called '{}'", brief(name)), "Choose one of: onnx, c, js"))
    }

    /// Returns the format's name, which is also the extension of the format's files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Onnx => "onnx",
            Format::C => "c",
            Format::Js => "js",
        }
    }

    /// Returns the bytes with which every file of the format begins.
    pub fn begins(self) -> &'static [u8] {
        match self {
            Format::Onnx => ONNX_BEGINS,
            Format::C => C_BEGINS,
            Format::Js => JS_BEGINS,
        }
    }
}
