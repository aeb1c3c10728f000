//! A run as a link: `#/control?variant=CartPole-v1&seed=1&lr=0.003&v=2&digest=32.0123456789abcdef.fused`.
//! It carries the config and the seed, and, where the run was checked, the digest it should reach.

use crate::protocol::{Config, Digest, KnobKind, Value};
use crate::{Host, RunError, check_version, knobs};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub config: Config,
    /// What the run's weights hashed to for whoever made the link.
    pub digest: Option<Digest>,
}

/// What a variant is called in a link; those of format 1 have `env`, and a person may write what the room calls it.
const VARIANT: &str = "variant";

pub fn encode(config: &Config, digest: Option<&Digest>) -> String {
    let mut link = format!("#/{}?{VARIANT}={}&seed={}", config.room, escaped(&config.variant), config.seed);
    for (name, value) in &config.knobs {
        link += &format!("&{name}={}", escaped(&value.to_string()));
    }
    link += &format!("&v={}", config.version);
    // Only what others can reach.
    if let Some(d) = digest.filter(|d| matches!(&*d.arithmetic, "fused" | "unfused")) {
        link += &format!("&digest={}.{}.{}", d.iteration, d.weights, d.arithmetic);
    }
    link
}

/// An empty link is the default run.
pub fn decode(link: &str, host: Host) -> Result<Link, RunError> {
    let bad = |why: String| RunError::Link { why };
    let text = link.trim().trim_start_matches('#').trim_start_matches('/');
    let mut digest = None;
    if text.is_empty() {
        return Ok(Link { config: crate::default_config(), digest });
    }
    let (name, query) = text.split_once('?').unwrap_or((text, ""));
    let mut pairs = BTreeMap::new();
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| bad(format!("'{pair}' has no value")))?;
        let value = plain(value).ok_or_else(|| bad(format!("'{pair}' is not well written")))?;
        if pairs.insert(key, value).is_some() {
            return Err(bad(format!("'{key}' stands twice")));
        }
    }
    // The version decides how the rest is read, so it comes first.
    let version = match pairs.remove("v") {
        Some(v) => v.parse().map_err(|_| bad(format!("version '{v}' is no number")))?,
        None => crate::VERSION,
    };
    check_version(version)?;
    let room = crate::room(name.trim_end_matches('/'))?;
    let mut config = crate::config_of(room);
    for word in [VARIANT, "env", room.schema().variant_word] {
        if let Some(variant) = pairs.remove(word) {
            config.variant = variant;
        }
    }
    // An unknown one is refused before its knobs are read.
    room.check(&config, host)?;
    let known = room.knobs(&config.variant);
    for (key, value) in pairs {
        match key {
            "seed" => {
                config.seed =
                    value.parse().map_err(|_| bad(format!("seed '{value}' is not from 0 to 4294967295")))?;
            }
            "digest" => digest = Some(parse_digest(&value).ok_or_else(|| bad(format!("digest '{value}'")))?),
            _ => {
                let knob = known.iter().find(|knob| knob.name == key);
                let value = match knob {
                    Some(knob) => knobs::parse(knob, &value)?,
                    None => Value::Text(value),
                };
                config.knobs.insert(key.to_string(), value);
            }
        }
    }
    if version == 1 {
        (room.schema().old_knobs)(&mut config.knobs);
    }
    room.check(&config, host)?;
    Ok(Link { config, digest })
}

/// With whatever could end or split a value as its bytes in hexadecimal.
fn escaped(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/:,".contains(&byte);
    text.bytes().map(|b| if keep(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
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

fn parse_digest(text: &str) -> Option<Digest> {
    let mut parts = text.splitn(3, '.');
    let iteration = parts.next()?.parse().ok()?;
    let weights = parts.next().filter(|w| w.len() == 16 && w.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let arithmetic = parts.next().filter(|a| matches!(*a, "fused" | "unfused"))?;
    Some(Digest { iteration, weights: weights.into(), arithmetic: arithmetic.into() })
}

/// The command that runs the same at the machine's full speed.
pub fn native_command(config: &Config) -> String {
    let mut command = format!(
        "cargo run --release -- train {} --variant {} --seed {}",
        config.room, config.variant, config.seed
    );
    let kinds = crate::room(&config.room).map_or(Vec::new(), |room| room.knobs(&config.variant));
    for (name, value) in &config.knobs {
        let is_text = kinds.iter().any(|k| k.name == name && matches!(k.kind, KnobKind::Text { .. }));
        command += &match is_text {
            true => format!(" --set {name}={}", quoted(&value.to_string())),
            false => format!(" --set {name}={value}"),
        };
    }
    command
}

/// For a shell, as one word in which nothing means anything.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host::new(math::Isa::best())
    }

    #[test]
    fn links_survive_the_round_trip() {
        let mut config = crate::default_config();
        config.seed = 4_000_000_000;
        config.knobs = BTreeMap::from([("lr".into(), 0.0025.into()), ("envs".into(), 512.0.into())]);
        let digest = Digest { iteration: 32, weights: "0123456789abcdef".into(), arithmetic: "fused".into() };
        let link = encode(&config, Some(&digest));
        assert_eq!(decode(&link, host()).unwrap(), Link { config: config.clone(), digest: Some(digest) });
        assert_eq!(
            native_command(&config),
            "cargo run --release -- train control --variant CartPole-v1 --seed 4000000000 --set envs=512 --set lr=0.0025"
        );
    }

    #[test]
    fn an_empty_link_is_the_default_run() {
        for link in ["", "#", "#/"] {
            assert_eq!(decode(link, host()).unwrap().config, crate::default_config());
        }
    }

    /// Before there was a floor, an annealed learning rate fell to almost nothing, and what was linked then still does.
    #[test]
    fn old_links_anneal_as_they_did() {
        let floor = |link: &str| decode(link, host()).unwrap().config.knobs.get("lr_floor").cloned();
        assert_eq!(floor("#/control?v=1&anneal_steps=5000000"), Some(0.001.into()));
        assert_eq!(floor("#/control?v=1&anneal_steps=5000000&lr_floor=0.2"), Some(0.2.into()));
        for link in
            ["#/control?v=1&lr=0.01", "#/control?v=2&anneal_steps=5000000", "#/control?anneal_steps=5000000"]
        {
            assert_eq!(floor(link), None, "{link}");
        }
    }

    #[test]
    fn bad_links_say_what_to_do() {
        let said = |link: &str| decode(link, host()).unwrap_err().to_string();
        assert!(said("#/control?v=999").contains("newer Hothouse"));
        assert!(said("#/control?v=0").contains("no Hothouse ever wrote"));
        assert!(said("#/control?v=1&lr=banana").contains("a number from"));
        assert!(said("#/control?lr=99").contains("out of range"));
        assert!(said("#/control?lr").contains("no value"));
        assert!(said("#/control?lr=0.1&lr=0.2").contains("twice"));
        assert!(said("#/control?seed=-1").contains("seed"));
        assert!(said("#/kitchen").contains("rooms are"));
        assert!(said("#/control?env=Pong").contains("CartPole-v1"));
        assert!(said("#/control?wings=2").contains("no knob"));
        assert!(said("#/control?digest=1.zz.fused").contains("digest"));
    }
}
