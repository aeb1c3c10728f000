//! JSON from files and monitors.

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// Parses JSON. The text becomes a [`Value`] first, because every type then needs code for one format only. This code would be a large part
/// of the page's module.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_value(serde_json::from_str::<Value>(text)?)
}
