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
    /// Text of the error and, in most cases, the code to write instead. The place is not included.
    pub message: String,
}

/// Formats a problem, for example as `line 14: decorators are not part of the language; delete the line`.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.span.line, self.message)
    }
}

/// Returns a number and its noun, for example `1 element` or `2 elements`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
