//! Conversion between a run's config and a link: `#/control?variant=CartPole-v1&seed=1&lr=0.003&v=2&digest=32.0123456789abcdef.fused`.
//!
//! A link contains the config with its seed, and live changes of knobs, for example `&at=320:lr=0.0001` after 320 iterations. If a digest
//! (a hash of the weights) is known and other machines can reproduce it, the link also contains the digest.

pub(crate) mod letters;
mod reading;

pub use reading::decode;

use crate::RunError;
use crate::digest::{AMX, BF16, DIGEST_EVERY, FUSED, GPU, UNFUSED};
use crate::protocol::{Change, Config, Digest, Shared, Value};
use crate::safe_text::brief;

/// Maximum number of live changes in a config, and therefore in a link.
pub const MOST_CHANGES: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub config: Config,
    /// Digest of the weights in the run that the link describes; `None` if the link contains no digest.
    pub digest: Option<Digest>,
}

/// Key of the variant in links. The room's own word for a variant, such as `environment`, is accepted as a key too.
const VARIANT: &str = "variant";
/// Key of the user data. The value consists of the data's hash, length and name. If the link has no [`FILE`], the user must provide the
/// file.
const DATA: &str = "data";
/// Key of the contents of the user data, for a room with [`Room::PACK`](crate::room::Room::PACK). The value is the compressed
/// contents as letters.
const FILE: &str = "file";
/// Maximum number of letters that encode the contents. A link omits longer contents.
const MOST_LETTERS: usize = 1 << 15;
/// Key of a live change of a knob. The key may occur any number of times.
const AT: &str = "at";

pub fn encode(config: &Config, digest: Option<&Digest>) -> String {
    let mut link = format!("#/{}?{VARIANT}={}&seed={}", config.room, escaped(&config.variant), config.seed);
    for (name, value) in &config.knobs {
        link += &format!("&{name}={}", escaped(&value.to_string()));
    }
    if let Some(data) = &config.data {
        link += &format!("&{DATA}={}.{}.{}", data.hash, data.bytes, escaped(&data.name));
    }
    if let Some(text) = packed(config) {
        link += &format!("&{FILE}={text}");
    }
    for Change { iteration, knob, value } in &config.changes {
        link += &format!("&{AT}={iteration}:{knob}={}", escaped(&value.to_string()));
    }
    link += &format!("&v={}", config.version);
    if let Some(d) = digest.filter(|d| can_be_reached(&d.arithmetic)) {
        link += &format!("&digest={}.{}.{}", d.iteration, d.weights, d.arithmetic);
    }
    link
}

/// Returns the contents of the user data as letters; `None` if a link does not contain these contents.
fn packed(config: &Config) -> Option<String> {
    let (data, pack) = (config.data.as_ref()?, crate::room(&config.room).ok()?.pack()?);
    let text = letters::letters(&(pack.pack)(data.content.as_ref()?));
    (text.len() <= MOST_LETTERS).then_some(text)
}

/// Returns true if other machines can reproduce a digest with this arithmetic.
pub fn can_be_reached(arithmetic: &str) -> bool {
    matches!(arithmetic, FUSED | UNFUSED | BF16 | AMX)
}

/// Returns the link, the command and the limits of reproduction of a run that has completed `now` iterations. If `config` has more than
/// [`MOST_CHANGES`] live changes, the linked run begins with the values that the knobs have after the changes made so far.
pub fn share(mut config: Config, now: u32, digest: Option<&Digest>, arithmetic: &str, iteration_word: &str) -> Shared {
    let mut limits = Vec::new();
    // If a knob changes several times after the same iteration, only the last value counts.
    config.changes.dedup_by(|later, kept| {
        let same = (later.iteration, &later.knob) == (kept.iteration, &kept.knob);
        if same {
            std::mem::swap(&mut kept.value, &mut later.value);
        }
        same
    });
    let mut digest = digest.filter(|digest| can_be_reached(&digest.arithmetic));
    if config.changes.len() > MOST_CHANGES {
        let (made, ahead): (Vec<_>, Vec<_>) = std::mem::take(&mut config.changes).into_iter().partition(|change| change.iteration <= now);
        limits.push(format!(
            "Knobs were changed {} times, more than the {MOST_CHANGES} changes that can be replayed. The link begins with the current \
             values, so its run will differ.",
            made.len()
        ));
        config.knobs.extend(made.into_iter().map(|change| (change.knob, change.value)));
        config.changes = ahead;
        digest = None;
    }
    if arithmetic == GPU {
        limits.push(
            "A GPU computes this run, and GPUs round differently. The link starts the same run, but its weights will differ in \
             their last digits elsewhere."
                .into(),
        );
    } else if !can_be_reached(arithmetic) {
        limits.push(
            "Devices that round differently computed this run, and the link does not record the switches between them. It \
             starts the same run, but its weights will differ in their last digits."
                .into(),
        );
    } else if digest.is_none() && limits.is_empty() {
        limits.push(format!(
            "No digest is known yet: one is taken every {} {iteration_word}s. Until then the link cannot check \
             whether a run reproduces this one.",
            DIGEST_EVERY
        ));
    }
    if let Some(data) = config.data.as_ref().filter(|_| packed(&config).is_none()) {
        limits.push(format!("The link does not contain the data: {} must be provided again to open it.", data.name));
    }
    Shared {
        link: encode(&config, digest),
        address: encode(&config, None),
        command: native_command(&config),
        changes: config.changes.len() as u32,
        checked_at: digest.map(|digest| digest.iteration),
        limits,
    }
}

/// Parses a live change such as `320:lr=0.0001`. Returns the iteration, the knob and the value.
pub fn parse_change(text: &str) -> Result<(u32, &str, &str), RunError> {
    let parts = text.split_once(':').and_then(|(iteration, rest)| {
        let (knob, value) = rest.split_once('=').filter(|(knob, _)| !knob.is_empty())?;
        Some((iteration.parse().ok()?, knob, value))
    });
    let why = || format!("a change is written as 320:lr=0.0001 (after 320 iterations), not as '{}'", brief(text));
    parts.ok_or_else(|| RunError::Link { why: why() })
}

/// Percent-encodes every byte of `text` except ASCII letters, digits and the characters `-_.~+/:,`.
fn escaped(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/:,".contains(&byte);
    text.bytes().map(|b| if keep(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Returns the command that starts the same run in a terminal.
pub fn native_command(config: &Config) -> String {
    let mut command =
        format!("cargo run --release -- train {} --variant {} --seed {}", quoted(&config.room), quoted(&config.variant), config.seed);
    let assigned = |name: &str, value: &Value| format!("{}={}", quoted(name), quoted(&value.to_string()));
    for (name, value) in &config.knobs {
        command += &format!(" --set {}", assigned(name, value));
    }
    for Change { iteration, knob, value } in &config.changes {
        command += &format!(" --at {iteration}:{}", assigned(knob, value));
    }
    if let Some(data) = &config.data {
        // The command must not parse a name as a flag.
        let here = if data.name.starts_with('-') { "./" } else { "" };
        command += &format!(" --data {}", quoted(&format!("{here}{}", data.name)));
    }
    command
}

/// Quotes `text` as a single literal word for a shell. Control characters are escaped, because they can affect a terminal.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:+@%,".contains(c);
    // Some shells replace a word `=name` by the path of the program with this name.
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(plain) {
        return text.into();
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut word = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            // The octal code has three digits, so that a digit that follows in the text is not part of the code.
            _ if c.is_control() => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| word += &format!("\\{byte:03o}")),
            _ => word.push(c),
        }
    }
    word + "'"
}
