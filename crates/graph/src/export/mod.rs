//! Models for other programs. A [`Model`] is a graph with its weights and with named inputs and outputs. This module writes it as ONNX, as
//! C99 and as a JavaScript module. Each format computes node by node in f32, without fusion.
//!
//! Only operations of inference whose rows are independent have a form in these formats. The exception is the causal attention of a single
//! sequence.

mod base64;
mod c;
mod helpers;
mod js;
mod model;
mod nodes;
mod onnx;
mod protobuf;

pub use c::c;
pub use js::js;
pub use model::{C_BEGINS, Examples, ExportError, Input, JS_BEGINS, Model, ONNX_BEGINS, Output, Reads};
pub use onnx::onnx;
