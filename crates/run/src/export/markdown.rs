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
