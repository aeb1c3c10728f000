//! Errors in the source file of an environment. Each error has a place and a message. Most messages give the code to write instead.

/// A place in a file: a line and a range of columns. Lines and columns begin at 1, and columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub line: u32,
    pub column: u32,
    /// Column after the last character. A range of several lines ends at the end of its first line.
    pub end: u32,
}

/// An error in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub span: Span,
    /// Text of the error and, in most cases, the code to write instead. The text does not contain the place.
    pub message: String,
}

impl Problem {
    /// Returns the place, the code at this place and the message, for example ``line 14, column 9, at `a[1]`: a number has no index``.
    /// `text` is the file. The code is left out if the message contains it, or if it is longer than 40 characters.
    pub fn located(&self, text: &str) -> String {
        let Span { line, column, end } = self.span;
        let row = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let code: String = row.chars().take(end.saturating_sub(1) as usize).skip(column.saturating_sub(1) as usize).collect();
        let is_known = code.trim().is_empty() || code.chars().count() > LONGEST || self.message.contains(&format!("`{code}"));
        let code = if is_known { String::new() } else { format!(", at `{code}`") };
        format!("line {line}, column {column}{code}: {}", self.message)
    }
}

/// Maximum number of characters of code that [`Problem::located`] shows.
const LONGEST: usize = 40;

/// Removes the problems after the first one in the line `last`. The problems must be sorted.
pub(super) fn end_at(problems: &mut Vec<Problem>, last: u32) {
    let mut has_last = false;
    problems.retain(|problem| problem.span.line < last || (problem.span.line == last && !std::mem::replace(&mut has_last, true)));
}

/// Returns a number and its noun, for example `1 element` or `2 elements`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
