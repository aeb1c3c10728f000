//! User data that a run learns from: name, length and hash, and the bytes if they are loaded.

use crate::RunError;
use crate::digest::Fnv;
use crate::protocol::{Config, Dataset};
use crate::safe_text::steers;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;

impl Dataset {
    pub fn new(name: impl Into<String>, content: impl Into<Arc<Vec<u8>>>) -> Dataset {
        let content = content.into();
        let mut hash = Fnv::new();
        hash.write(&content);
        let (bytes, hash) = (content.len() as u64, hash.hex());
        Dataset { name: shown(&name.into()), bytes, hash, content: Some(content) }
    }

    /// Copies the bytes of `from`, if `self` has no bytes and `from` describes the same data.
    pub fn fill(&mut self, from: Option<&Dataset>) {
        if self.content.is_none()
            && let Some(from) = from.filter(|from| *from == self)
        {
            self.content = from.content.clone();
        }
    }
}

/// Maximum length of a data name in characters. Most file systems have a similar limit.
const NAME: usize = 255;

/// Makes a name safe to display. Removes line breaks, control characters and marks of text direction. Cuts the name to `NAME` characters.
pub(crate) fn shown(name: &str) -> String {
    name.chars().filter(|&c| !steers(c)).take(NAME).collect()
}

pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns an error if the config has user data whose bytes are not loaded.
pub(crate) fn check_here(config: &Config) -> Result<(), RunError> {
    match &config.data {
        Some(data) if data.content.is_none() => Err(RunError::DataMissing { name: data.name.clone(), bytes: data.bytes }),
        _ => Ok(()),
    }
}

/// Compares lengths and hashes. Names and loaded bytes do not matter.
impl PartialEq for Dataset {
    fn eq(&self, other: &Dataset) -> bool {
        (self.bytes, &self.hash) == (other.bytes, &other.hash)
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} ({} bytes, {})", self.name, self.bytes, self.hash)
    }
}

/// A [`Dataset`] as received, before its hash is verified.
#[derive(Deserialize)]
pub(crate) struct Given {
    name: String,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    hash: String,
    #[serde(default)]
    content: Option<serde_bytes::ByteBuf>,
}

impl From<Given> for Dataset {
    /// Converts received data. If the received hash is well-formed, bytes that do not match the received hash and length are dropped. If
    /// the hash is not well-formed and there are bytes, length and hash are computed from the bytes.
    fn from(given: Given) -> Dataset {
        let hash = if is_hash(&given.hash) { given.hash } else { String::new() };
        let claimed = Dataset { name: shown(&given.name), bytes: given.bytes, hash, content: None };
        match given.content.map(|content| Dataset::new(&claimed.name, content.into_vec())) {
            Some(found) if claimed.hash.is_empty() || found == claimed => found,
            _ => claimed,
        }
    }
}
