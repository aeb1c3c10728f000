//! A run as a link: `#/control?env=CartPole-v1&seed=1&lr=0.003&v=1&digest=32.0123456789abcdef.fused`.
//! It carries the config and the seed, and, where the run was checked, the digest it should reach.

use crate::protocol::{Config, Digest};
use crate::{RunError, backgammon, check_version, validate};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub config: Config,
    /// What the run's weights hashed to for whoever made the link.
    pub digest: Option<Digest>,
}

pub fn encode(config: &Config, digest: Option<&Digest>) -> String {
    let mut link = format!("#/{}?env={}&seed={}", config.room, config.env, config.seed);
    for (name, value) in &config.knobs {
        link += &format!("&{name}={value}");
    }
    link += &format!("&v={}", config.version);
    // Only what others can reach.
    if let Some(d) = digest.filter(|d| matches!(&*d.arithmetic, "fused" | "unfused")) {
        link += &format!("&digest={}.{}.{}", d.iteration, d.weights, d.arithmetic);
    }
    link
}

/// An empty link is the default run.
pub fn decode(link: &str) -> Result<Link, RunError> {
    let bad = |why: String| RunError::Link { why };
    let text = link.trim().trim_start_matches('#').trim_start_matches('/');
    let mut config = crate::default_config();
    let mut digest = None;
    if text.is_empty() {
        return Ok(Link { config, digest });
    }
    let (room, query) = text.split_once('?').unwrap_or((text, ""));
    config.room = room.trim_end_matches('/').to_string();
    if config.room == backgammon::ROOM {
        config.env = backgammon::default_config().env;
    }
    let mut pairs = BTreeMap::new();
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| bad(format!("'{pair}' has no value")))?;
        if pairs.insert(key, value).is_some() {
            return Err(bad(format!("'{key}' stands twice")));
        }
    }
    // The version decides how the rest is read, so it comes first.
    if let Some(v) = pairs.remove("v") {
        config.version = v.parse().map_err(|_| bad(format!("version '{v}' is no number")))?;
        check_version(config.version)?;
    }
    for (key, value) in pairs {
        match key {
            "env" => config.env = value.to_string(),
            "seed" => {
                config.seed =
                    value.parse().map_err(|_| bad(format!("seed '{value}' is not from 0 to 4294967295")))?;
            }
            "digest" => digest = Some(parse_digest(value).ok_or_else(|| bad(format!("digest '{value}'")))?),
            _ => {
                let number = value.parse().map_err(|_| bad(format!("{key} = '{value}' is no number")))?;
                config.knobs.insert(key.to_string(), number);
            }
        }
    }
    validate(&config)?;
    Ok(Link { config, digest })
}

fn parse_digest(text: &str) -> Option<Digest> {
    let mut parts = text.splitn(3, '.');
    let iteration = parts.next()?.parse().ok()?;
    let weights = parts.next().filter(|w| w.len() == 16 && w.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let arithmetic = parts.next().filter(|a| matches!(*a, "fused" | "unfused"))?;
    Some(Digest { iteration, weights: weights.into(), arithmetic: arithmetic.into() })
}

/// The command that runs the same experiment at the machine's full speed.
pub fn native_command(config: &Config) -> String {
    let mut command =
        format!("cargo run --release -- train {} --env {} --seed {}", config.room, config.env, config.seed);
    for (name, value) in &config.knobs {
        command += &format!(" --set {name}={value}");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_survive_the_round_trip() {
        let mut config = crate::default_config();
        config.seed = 4_000_000_000;
        config.knobs = BTreeMap::from([("lr".into(), 0.0025), ("envs".into(), 512.0)]);
        let digest = Digest { iteration: 32, weights: "0123456789abcdef".into(), arithmetic: "fused".into() };
        let link = encode(&config, Some(&digest));
        assert_eq!(decode(&link).unwrap(), Link { config: config.clone(), digest: Some(digest) });
        assert_eq!(
            native_command(&config),
            "cargo run --release -- train control --env CartPole-v1 --seed 4000000000 --set envs=512 --set lr=0.0025"
        );
    }

    #[test]
    fn an_empty_link_is_the_default_run() {
        for link in ["", "#", "#/"] {
            assert_eq!(decode(link).unwrap().config, crate::default_config());
        }
    }

    #[test]
    fn bad_links_say_what_to_do() {
        let said = |link: &str| decode(link).unwrap_err().to_string();
        assert!(said("#/control?v=999").contains("newer Hothouse"));
        assert!(said("#/control?v=0").contains("no Hothouse ever wrote"));
        assert!(said("#/control?v=1&lr=banana").contains("no number"));
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
