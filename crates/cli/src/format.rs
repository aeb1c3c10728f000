//! What only the terminal says, beside what every shell says alike.

use crate::session::budget::Left;
pub use run::format::*;

/// What is done of a budget: `42% done, about 3:07 left`
pub fn left(left: &Left) -> String {
    let rest = match left.seconds {
        ..1.0 => String::new(),
        s @ ..60.0 => format!(", about {s:.0} s left"),
        s => format!(", about {} left", clock(s)),
    };
    format!("{:.0}% done{rest}", 100.0 * left.done)
}

/// One argument of a command line, safe to paste into a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:+@%,\\".contains(c);
    match cfg!(windows) {
        true if !word.is_empty() && word.chars().all(plain) => word.to_string(),
        true => format!("\"{word}\""),
        false => run::permalink::quoted(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_and_what_can_be_pasted() {
        let rest = |seconds| left(&Left { done: 0.424, seconds });
        assert_eq!(rest(187.3), "42% done, about 3:07 left");
        assert_eq!([rest(12.3), rest(0.9)], ["42% done, about 12 s left", "42% done"]);
        assert_eq!(quoted("run.safetensors"), "run.safetensors");
        #[cfg(unix)]
        assert_eq!(quoted("it's mine"), r"'it'\''s mine'");
    }
}
