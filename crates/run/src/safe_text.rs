//! Texts from untrusted sources, such as files and links, in a form that is safe to show.

use std::borrow::Cow;

/// Escapes the characters of a text that could steer a terminal: control characters except line breaks and tabs, and marks of text
/// direction. U+001B becomes `\u001b`, which means the same in JSON. Removes carriage returns.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {}
            _ if steers(c) => out += &format!("\\u{:04x}", u32::from(c)),
            _ => out.push(c),
        }
    }
    out
}

/// Returns true for control characters, line separators and marks of text direction.
pub fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Leaves out the middle of a text that has more than `most` characters, and states how many characters are left out.
pub fn bounded(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return text.into();
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}… ({} more characters) …{tail}", count - 2 * half).into()
}

/// Maximum length in characters of an input that a message quotes.
const QUOTED: usize = 120;

/// Shortens an input that a message quotes.
pub fn brief(input: &str) -> Cow<'_, str> {
    bounded(input, QUOTED)
}
