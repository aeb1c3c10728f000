//! Conversion of plain text to Markdown.

/// Returns Markdown that shows `text` literally in one line: no character of `text` acts as markup.
pub fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            letter if letter.is_control() => safe.push(' '),
            letter if "\\`*_{}[]<>#+|~!&^$@".contains(letter) => safe.extend(['\\', letter]),
            letter => safe.push(letter),
        }
    }
    // At the beginning of a line, the marks below would begin a list, a rule or a heading. A backslash before the mark prevents this.
    let digits = safe.len() - safe.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let marks: &[&str] = if digits > 0 { &[". ", ") "] } else { &["- ", "--", "="] };
    if marks.iter().any(|mark| safe[digits..].starts_with(mark)) {
        safe.insert(digits, '\\');
    }
    safe
}

/// Returns a code block that shows `text` without white space at its end. The fence is longer than every run of backticks in the text.
pub fn block(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{block, plain};

    #[test]
    fn text_has_no_effect_in_markdown() {
        assert_eq!(plain("x (m), 0.5 %"), "x (m), 0.5 %");
        assert_eq!(plain("<b>*a*_|\n# [x](y) `z` \\ !"), "\\<b\\>\\*a\\*\\_\\| \\# \\[x\\](y) \\`z\\` \\\\ \\!");
        assert_eq!(["1. a", "12) a", " - a", "---", "-0.5", "1.5"].map(plain), ["1\\. a", "12\\) a", "\\- a", "\\---", "-0.5", "1.5"]);
        assert_eq!(block("a"), "```text\na\n```\n");
        assert_eq!(block("```\n````x"), "`````text\n```\n````x\n`````\n");
    }
}
