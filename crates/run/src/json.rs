//! JSON from files and monitors.

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// Parses JSON by way of a [`Value`]. Each type is then deserialized from values only, and needs no second copy of its deserialization code
/// for text. These copies would be a large part of the page's wasm module.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_value(serde_json::from_str::<Value>(text)?)
}
