//! Text formatting for the terminal. Also re-exports the formatting functions of the crate `run`, which the other user interfaces share.

use crate::session::budget::Remaining;
pub use run::format::*;

/// Formats the progress towards a limit, such as `42% done, about 3:07 left`.
pub fn remaining(remaining: &Remaining) -> String {
    let rest = match remaining.seconds {
        ..1.0 => String::new(),
        s @ ..60.0 => format!(", about {s:.0} s left"),
        s => format!(", about {} left", clock(s)),
    };
    format!("{:.0}% done{rest}", 100.0 * remaining.done)
}

/// Quotes an argument for a command line that the user pastes into a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:+@%,\\".contains(c);
    match cfg!(windows) {
        true if !word.is_empty() && word.chars().all(plain) => word.to_string(),
        true => format!("\"{word}\""),
        false => run::permalink::quoted(word),
    }
}
