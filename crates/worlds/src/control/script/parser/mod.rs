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
use super::error::{Problem, Span};
use super::lexer::lex;
use super::token::MOST_PROBLEMS;
use stream::Parser;

/// Largest size of a file in bytes.
pub const LARGEST: usize = 100_000;

/// Parses a file. Returns the syntax tree, or at most `MOST_PROBLEMS` errors in the order of their places.
pub fn parse(text: &str) -> Result<File, Vec<Problem>> {
    if text.len() > LARGEST {
        let message = format!("the file has {} bytes; a file has at most {LARGEST}: delete a part of it", text.len());
        return Err(vec![Problem { span: Span { line: 1, column: 1, end: 2 }, message }]);
    }
    let mut parser = Parser::new(text, lex(text));
    let file = parser.file();
    let mut problems = parser.problems();
    if problems.is_empty() {
        return Ok(file);
    }
    problems.sort_by_key(|problem| problem.span);
    problems.truncate(MOST_PROBLEMS);
    Err(problems)
}
