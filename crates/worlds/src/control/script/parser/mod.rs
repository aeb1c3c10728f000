//! Parses a file to its syntax tree, by recursive descent. After an error, the parser continues at the next statement, so that it reports
//! several errors at a time.

mod atoms;
mod blocks;
mod definitions;
mod expressions;
mod imports;
mod statements;
mod stream;
mod targets;
mod teaching;

use super::ast::File;
use super::error::{Problem, Span, end_at};
use super::lexer::lex;
use super::token::MOST_PROBLEMS;
use stream::Parser;

/// Maximum size of a file in bytes.
pub const LARGEST: usize = 100_000;

/// Result of reading a file: the statements that the parser could read, and the errors.
pub(super) struct Reading {
    pub file: File,
    /// True if `file` has every class, every method and every class attribute.
    pub whole: bool,
    /// At most `MOST_PROBLEMS` errors, sorted by their spans.
    pub problems: Vec<Problem>,
    /// Last line whose errors are reported: the first line whose indentation is wrong, or the largest number.
    pub last: u32,
}

/// Parses a file. Returns the syntax tree, or at most `MOST_PROBLEMS` errors in the order of their places.
pub fn parse(text: &str) -> Result<File, Vec<Problem>> {
    let Reading { file, problems, .. } = read(text);
    if problems.is_empty() { Ok(file) } else { Err(problems) }
}

/// Parses a file, and continues after errors.
pub(super) fn read(text: &str) -> Reading {
    if text.len() > LARGEST {
        let message = format!("the file has {} bytes; a file has at most {LARGEST}: delete a part of it", text.len());
        let problems = vec![Problem { span: Span { line: 1, column: 1, end: 2 }, message }];
        return Reading { file: File { doc: None, body: Vec::new() }, whole: false, problems, last: u32::MAX };
    }
    let mut parser = Parser::new(text, lex(text));
    let file = parser.file();
    let whole = parser.whole;
    let (mut problems, misread) = parser.problems();
    let last = misread.unwrap_or(u32::MAX);
    problems.sort_by_key(|problem| problem.span);
    end_at(&mut problems, last);
    problems.truncate(MOST_PROBLEMS);
    Reading { file, whole, problems, last }
}
