//! Models for other programs. A [`Model`] is a graph with its weights and with named inputs and outputs. This module writes a model as
//! ONNX, as C99 or as a JavaScript module. In each format, the model computes node by node in f32, without fusion.
//!
//! The formats support only operations of inference. The rows must be independent, except in the causal attention of a single sequence.

pub(crate) mod base64;
mod c;
mod helpers;
mod js;
mod model;
mod nodes;
mod onnx;
pub(crate) mod protobuf;

pub use c::c;
pub use js::js;
pub use model::{C_BEGINS, Examples, ExportError, Input, JS_BEGINS, Model, ONNX_BEGINS, Output, Reads};
pub use onnx::onnx;
