//! Tests of links: their text, the limits of a link to a run, the command for a terminal, and data as letters.

use crate::common::host;
use run::internals::{bytes, letters, share};
use run::permalink::{Link, decode, encode, quoted};
use run::protocol::{Change, Config, Dataset, Digest, Value};
use run::{default_config, native_command};
use std::collections::BTreeMap;

#[test]
fn links_survive_the_round_trip() {
    let mut config = default_config();
    config.seed = 4_000_000_000;
    config.knobs = BTreeMap::from([("lr".into(), 0.0025.into()), ("envs".into(), 512.0.into())]);
    let digest = Digest { iteration: 32, weights: "0123456789abcdef".into(), arithmetic: "fused".into() };
    let change = |iteration, value: f64| Change { iteration, knob: "lr".into(), value: value.into() };
    config.changes = vec![change(20, 0.0001), change(20, 0.05), change(320, 0.00001)];
    let link = encode(&config, Some(&digest));
    assert!(link.contains("&at=20:lr=0.0001&at=20:lr=0.05&at=320:lr=0.00001&"), "{link}");
    let whole = Link { config: config.clone(), digest: Some(digest) };
    assert_eq!(decode(&link, host()).unwrap(), whole);
    // A code of an escaped byte has two digits.
    assert!(encode(&Config { variant: "a\nb é".into(), ..config.clone() }, None).contains("?variant=a%0Ab%20%C3%A9&"));
    // In an address of the page, the open tab follows the room.
    assert_eq!(decode(&link.replace("control?", "control/settings/device?"), host()).unwrap(), whole);
    assert_eq!(
        native_command(&config),
        "cargo run --release -- train control --variant CartPole-v1 --seed 4000000000 --set envs=512 --set lr=0.0025 --at \
         20:lr=0.0001 --at 20:lr=0.05 --at 320:lr=0.00001"
    );
}

#[test]
fn a_shared_run_lists_its_limits() {
    let digest = Digest { iteration: 32, weights: "0123456789abcdef".into(), arithmetic: "fused".into() };
    let describe = |config: &Config, digest: Option<&Digest>, arithmetic: &str| share(config.clone(), 100, digest, arithmetic, "round");
    let mut config = default_config();
    let plain = describe(&config, Some(&digest), "fused");
    assert_eq!((plain.changes, plain.checked_at, &plain.limits[..]), (0, Some(32), &[][..]));
    assert!(plain.link.starts_with(&plain.address) && plain.link.ends_with("&digest=32.0123456789abcdef.fused"));
    assert!(describe(&config, None, "fused").limits[0].contains("every 16 rounds"));
    for arithmetic in ["fused", "unfused", "bf16", "amx"] {
        let here = Digest { arithmetic: arithmetic.into(), ..digest.clone() };
        let shared = describe(&config, Some(&here), arithmetic);
        assert!(shared.limits.is_empty() && decode(&shared.link, host()).unwrap().digest == Some(here), "{shared:?}");
    }
    let away = Digest { arithmetic: "gpu".into(), ..digest.clone() };
    for (arithmetic, why) in [("gpu", "A GPU computes"), ("mixed", "round differently")] {
        let shared = describe(&config, Some(&away), arithmetic);
        assert!(shared.link == shared.address && shared.checked_at.is_none());
        assert!(matches!(&shared.limits[..], [limit] if limit.contains(why)), "{:?}", shared.limits);
    }
    // If a knob changes several times after the same iteration, the last value counts.
    let change = |iteration, value| Change { iteration, knob: "lr".into(), value: Value::Number(value) };
    config.changes = vec![change(5, 0.01), change(5, 0.02), change(6, 0.03)];
    let shared = describe(&config, Some(&digest), "fused");
    assert!(shared.changes == 2 && shared.link.contains("&at=5:lr=0.02&at=6:lr=0.03&"), "{shared:?}");
    assert!(shared.command.ends_with(" --at 5:lr=0.02 --at 6:lr=0.03"), "{shared:?}");
    let gamma = Change { knob: "gamma".into(), ..change(5, 0.9) };
    config.changes = vec![change(5, 0.01), gamma, change(5, 0.02)];
    let shared = describe(&config, Some(&digest), "fused");
    assert!(shared.changes == 3 && shared.link.contains("&at=5:lr=0.01&at=5:gamma=0.9&at=5:lr=0.02&"), "{shared:?}");
    // A link with as many changes as allowed replays them.
    config.changes = (1..=64).map(|i| change(i, 0.01)).collect();
    let shared = describe(&config, Some(&digest), "fused");
    assert!(shared.changes == 64 && shared.limits.is_empty() && shared.checked_at == Some(32), "{shared:?}");
    // A link with too many changes begins with the values after all changes.
    config.changes = (1..=65).map(|i| change(i, 0.01 + 0.0001 * f64::from(i % 2))).collect();
    config.changes.push(change(200, 0.02));
    let shared = describe(&config, Some(&digest), "fused");
    assert!(shared.limits[0].contains("changed 65 times") && shared.checked_at.is_none(), "{shared:?}");
    assert!(shared.link.contains("&lr=0.0101&at=200:lr=0.02&"), "{shared:?}");
    // A change after the current iteration is made, because the run has already begun the next one with it.
    config.changes.extend([change(100, 0.03), change(101, 0.04)]);
    config.changes.sort_by_key(|change| change.iteration);
    let shared = describe(&config, Some(&digest), "fused");
    assert!(shared.limits[0].contains("changed 66 times") && shared.limits.len() == 1 && shared.changes == 2, "{shared:?}");
    assert!(shared.link.contains("&lr=0.03&at=101:lr=0.04&at=200:lr=0.02&"), "{shared:?}");
}

#[test]
fn quoted_words_are_literal_for_shells_and_terminals() {
    for (text, word) in [
        ("lr=0.003", "lr=0.003"),
        ("", "''"),
        ("a b", "'a b'"),
        ("=ls", "'=ls'"),
        ("it's; rm -r ~ $(id) `id` \\ !!", r"'it'\''s; rm -r ~ $(id) `id` \ !!'"),
        ("a\\b", r"'a\b'"),
        ("two\nlines", r"$'two\012lines'"),
        ("\u{1b}[31m'7\\\u{9b}8", r"$'\033[31m\'7\\\302\2338'"),
    ] {
        assert_eq!(quoted(text), word);
    }
    let mut config = default_config();
    config.variant = "a;b".into();
    config.data = Some(Dataset { name: "-f $x".into(), bytes: 1, hash: String::new(), content: None });
    assert!(native_command(&config).ends_with(" --variant 'a;b' --seed 1 --data './-f $x'"));
}

#[test]
fn an_empty_link_is_the_default_run() {
    for link in ["", "#", "#/"] {
        assert_eq!(decode(link, host()).unwrap().config, default_config());
    }
}

#[test]
fn malformed_changes_are_refused() {
    for bad in ["320", "320:lr", "320:=1", "lr=0.1", "-1:lr=0.1", "1e3:lr=0.1", "4294967296:lr=0.1"] {
        let said = decode(&format!("#/control?at={bad}"), host()).unwrap_err().to_string();
        assert!(said.contains("written as 320:lr=0.0001"), "{bad}");
    }
}

/// Examples of RFC 4648, section 10, without padding.
#[test]
fn published_examples_are_written_and_read() {
    for (plain, text) in
        [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy")]
    {
        assert_eq!(letters(plain.as_bytes()), text);
        assert_eq!(bytes(text).unwrap(), plain.as_bytes());
    }
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(bytes(&letters(&all)).unwrap(), all);
    for wrong in ["Z", "Zg=", "Z g", "Zh", "Zm9v!", "Zm9vY"] {
        assert_eq!(bytes(wrong), None, "{wrong}");
    }
}
