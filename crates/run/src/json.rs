//! Parsing of JSON from files and monitors.

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// Parses JSON to a [`Value`], then deserializes the value. The compiler therefore generates no code that deserializes a type directly from
/// text. That code would be a large part of the page's wasm module.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_value(serde_json::from_str::<Value>(text)?)
}
