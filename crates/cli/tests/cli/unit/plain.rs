//! Tests of the escapes of control characters.

use cli::internals::plain::Plain;
use run::format::{bounded, plain};
use std::io::Write;

#[test]
fn control_characters_are_escaped_at_any_write_size() {
    let wild = "a\x1b]0;title\x07b\u{9b}31mc\r\u{85}\u{a0}é\u{c2}\u{7f}\n\td漢\u{202e}e\u{2066}f\u{61c}g\u{200f}—…";
    let calm = "a\\u001b]0;title\\u0007b\\u009b31mc\\u0085\u{a0}é\u{c2}\\u007f\n\td漢\\u202ee\\u2066f\\u061cg\\u200f—…";
    assert_eq!(plain(wild), calm);
    for size in 1..=wild.len() {
        let mut bytes = Vec::new();
        let mut out = Plain::new(&mut bytes);
        wild.as_bytes().chunks(size).for_each(|part| out.write_all(part).unwrap());
        assert_eq!(String::from_utf8(bytes).unwrap(), calm, "in pieces of {size}");
    }
}

/// A text that is not text in UTF-8 cannot hide a control character.
#[test]
fn invalid_text_is_replaced() {
    let mut bytes = Vec::new();
    Plain::new(&mut bytes).write_all(b"a\xc2\x1b[31m\x9bb\xe2\x80c").unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "a\u{fffd}\\u001b[31m\u{fffd}b\u{fffd}c");
}

#[test]
fn escapes_keep_the_strings_of_json() {
    let name = "a\u{9b}\u{7f}\u{202e}\x1b\n\"\\";
    let line = plain(&serde_json::to_string(name).unwrap());
    assert!(!line.contains(run::format::steers), "{line:?}");
    assert_eq!(serde_json::from_str::<String>(&line).unwrap(), name);
}

#[test]
fn long_texts_keep_their_beginning_and_their_end() {
    assert_eq!(bounded("häagen", 6), "häagen");
    assert_eq!(bounded("häagen dazs", 6), "häa… (5 more characters) …azs");
    assert_eq!(bounded("häagen dazs", 1), "… (11 more characters) …");
}
