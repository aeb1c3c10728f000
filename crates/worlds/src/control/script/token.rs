//! Tokens of a file, as the lexer passes them to the parser.

use super::error::{Problem, Span};

/// Largest number of problems that are reported for a file.
pub const MOST_PROBLEMS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Name,
    /// A keyword of Python.
    Word(&'static str),
    /// An operator, a bracket or another mark.
    Symbol(&'static str),
    Int(i32),
    /// The number 2147483648, which is an Int only after a minus.
    Least,
    Float(f32),
    /// Index into [`Tokens::texts`].
    Text(usize),
    /// A number or string that has an error, which the lexer reported.
    Faulty,
    /// End of a statement.
    Newline,
    Indent,
    Dedent,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    pub kind: Kind,
    pub span: Span,
    /// Range of bytes in the text.
    pub from: usize,
    pub to: usize,
    /// Index of the row. A row is the text up to the end of a statement or of a block's first line; brackets and backslashes join lines.
    pub row: usize,
}

/// Output of the lexer. The last token is [`Kind::End`].
pub struct Tokens {
    pub all: Vec<Token>,
    pub texts: Vec<String>,
    pub problems: Vec<Problem>,
    /// Whether an error was reported, by [`Token::row`].
    pub faulty: Vec<bool>,
    /// Column after the last token of each line of the text.
    pub ends: Vec<u32>,
}

impl Tokens {
    /// Records a problem, unless the row already has one.
    pub fn report(&mut self, row: usize, span: Span, message: String) {
        if self.mark(row) && self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { span, message });
        }
    }

    /// Marks a row as faulty. Returns whether this is its first error.
    pub fn mark(&mut self, row: usize) -> bool {
        if row >= self.faulty.len() {
            self.faulty.resize(row + 1, false);
        }
        self.faulty.get_mut(row).is_some_and(|faulty| !std::mem::replace(faulty, true))
    }

    pub fn push(&mut self, token: Token) {
        let line = token.span.line.max(1) as usize;
        if line > self.ends.len() {
            self.ends.resize(line, 1);
        }
        if let Some(end) = self.ends.get_mut(line - 1) {
            *end = token.span.end.max(*end);
        }
        self.all.push(token);
    }

    /// Returns the span from the start of `first` to the end of `last`, or to the end of the first line.
    pub fn join(&self, first: Span, last: Span) -> Span {
        let end =
            if first.line == last.line { last.end } else { self.ends.get((first.line.max(1) - 1) as usize).copied().unwrap_or(first.end) };
        Span { end: end.max(first.end), ..first }
    }
}

/// Shortens a part of the text for a message.
pub fn shown(code: &str) -> String {
    const MOST: usize = 40;
    let mut out: String = code.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if code.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}
