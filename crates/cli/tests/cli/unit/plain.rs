//! Tests of the removal of control characters.

use cli::internals::plain::{Plain, text};
use std::io::Write;

#[test]
fn control_characters_are_removed_at_any_write_size() {
    let wild = "a\x1b]0;title\x07b\u{9b}31mc\r\u{85}\u{a0}é\u{c2}\u{7f}\n\td漢";
    let calm = "a]0;titleb31mc\u{a0}é\u{c2}\n\td漢";
    assert_eq!(text(wild), calm);
    for size in 1..=wild.len() {
        let mut bytes = Vec::new();
        let mut out = Plain::new(&mut bytes);
        wild.as_bytes().chunks(size).for_each(|part| out.write_all(part).unwrap());
        assert_eq!(String::from_utf8(bytes).unwrap(), calm, "in pieces of {size}");
    }
}
