//! Parser for links. The parser checks every part of a link.

use super::{AT, DATA, FILE, Link, VARIANT, can_be_reached, letters, parse_change};
use crate::dataset::{is_hash, shown};
use crate::protocol::{Change, Dataset, Digest, Knob, Value};
use crate::room::Pack;
use crate::safe_text::brief;
use crate::version::check_version;
use crate::{Host, RunError, knobs};
use std::collections::BTreeMap;

/// Parses a link. An empty link gives the default run.
pub fn decode(link: &str, host: Host) -> Result<Link, RunError> {
    let bad = |why: String| RunError::Link { why };
    let text = link.trim().trim_start_matches('#').trim_start_matches('/');
    let mut digest = None;
    if text.is_empty() {
        return Ok(Link { config: crate::default_config(), digest });
    }
    let (name, query) = text.split_once('?').unwrap_or((text, ""));
    let mut pairs = BTreeMap::new();
    let mut changes = Vec::new();
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| bad(format!("'{}' has no value", brief(pair))))?;
        let value = plain(value).ok_or_else(|| bad(format!("'{}' is not valid percent-encoded text", brief(pair))))?;
        if key == AT {
            changes.push(value);
        } else if pairs.insert(key, value).is_some() {
            return Err(bad(format!("'{}' occurs twice", brief(key))));
        }
    }
    // The format of the other parts depends on the version, so the version is parsed first.
    let version = match pairs.remove("v") {
        Some(v) => v.parse().map_err(|_| bad(format!("version '{}' is not a number", brief(&v))))?,
        None => crate::VERSION,
    };
    check_version(version)?;
    // In an address of the page, the open tab follows the room.
    let room = crate::room(name.split('/').next().unwrap_or_default())?;
    let mut config = crate::config_of(room);
    for word in [VARIANT, room.schema().variant_word] {
        if let Some(variant) = pairs.remove(word) {
            config.variant = variant;
        }
    }
    if let Some(data) = pairs.remove(DATA) {
        config.data = Some(parse_data(&data).ok_or_else(|| bad(format!("data '{}' is not HASH.LENGTH.NAME", brief(&data))))?);
    }
    if let Some((pack, text)) = room.pack().and_then(|pack| Some((pack, pairs.remove(FILE)?))) {
        let data = config.data.take().ok_or_else(|| bad(format!("'{FILE}' occurs without '{DATA}'")))?;
        let damaged = || bad(format!("the text of {} is incomplete; copy the whole link", data.name));
        config.data = Some(contents(&data, pack, &text).ok_or_else(damaged)?);
    }
    // An unknown variant must be refused before the knobs of the variant are parsed.
    room.check(&config, host)?;
    let known = room.knobs(&config.variant);
    for (key, value) in pairs {
        match key {
            "seed" => {
                config.seed =
                    value.parse().map_err(|_| bad(format!("seed '{}' is not a whole number from 0 to 4294967295", brief(&value))))?;
            }
            "digest" => {
                digest =
                    Some(parse_digest(&value).ok_or_else(|| bad(format!("digest '{}' is not ITERATION.HASH.ARITHMETIC", brief(&value))))?)
            }
            _ => {
                let value = knob_value(&known, key, value)?;
                config.knobs.insert(key.to_string(), value);
            }
        }
    }
    for change in &changes {
        let (iteration, knob, value) = parse_change(change)?;
        let value = knob_value(&known, knob, value.into())?;
        config.changes.push(Change { iteration, knob: knob.into(), value });
    }
    config.changes.sort_by_key(|change| change.iteration);
    room.check(&config, host)?;
    Ok(Link { config, digest })
}

/// Parses a knob's value. The value of an unknown knob remains a text, because the later check of the whole config refuses unknown knobs.
fn knob_value(known: &[Knob], name: &str, value: String) -> Result<Value, RunError> {
    known.iter().find(|knob| knob.name == name).map_or(Ok(Value::Text(value.clone())), |k| knobs::parse(k, &value))
}

fn plain(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?].map(|digit| char::from(digit).to_digit(16));
                (16 * digits[0]? + digits[1]?) as u8
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn parse_data(text: &str) -> Option<Dataset> {
    let mut parts = text.splitn(3, '.');
    let hash = parts.next().filter(|hash| is_hash(hash))?.into();
    let bytes = parts.next()?.parse().ok()?;
    let name = parts.next().filter(|name| !name.is_empty() && *name == shown(name))?.into();
    Some(Dataset { name, bytes, hash, content: None })
}

/// Decodes the contents of `data` from the letters `text` of a link. Returns `None` if `text` is invalid, or if the decoded bytes do not
/// have the length and hash of `data`.
fn contents(data: &Dataset, pack: Pack, text: &str) -> Option<Dataset> {
    let bytes = (pack.unpack)(&letters::bytes(text)?)?;
    Some(Dataset::new(&*data.name, bytes)).filter(|found| found == data)
}

fn parse_digest(text: &str) -> Option<Digest> {
    let mut parts = text.splitn(3, '.');
    let iteration = parts.next()?.parse().ok()?;
    let weights = parts.next().filter(|weights| is_hash(weights))?;
    let arithmetic = parts.next().filter(|arithmetic| can_be_reached(arithmetic))?;
    Some(Digest { iteration, weights: weights.into(), arithmetic: arithmetic.into() })
}
