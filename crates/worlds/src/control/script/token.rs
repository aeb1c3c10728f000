//! Tokens of a file, as the lexer passes them to the parser.

use super::error::{Problem, Span};

/// Maximum number of problems that are reported for a file.
pub const MOST_PROBLEMS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    Name,
    /// A keyword of Python.
    Word(&'static str),
    /// An operator, a bracket or a punctuation mark.
    Symbol(&'static str),
    Int(i32),
    /// The number 2147483648, which fits into an integer only after a minus sign.
    Least,
    Float(f32),
    /// Index into [`Tokens::texts`].
    Text(usize),
    /// A number or string with an error that the lexer has reported.
    Faulty,
    /// End of a row ([`Token::row`]).
    Newline,
    Indent,
    Dedent,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// Index of the token's first byte in the text. `to` is the index after the last byte.
    pub from: usize,
    pub to: usize,
    /// Index of the token's row. A row consists of one line, or of several lines that open brackets or backslashes join.
    pub row: usize,
}

/// Output of the lexer. The last token is [`TokenKind::End`].
pub struct Tokens {
    pub all: Vec<Token>,
    pub texts: Vec<String>,
    pub problems: Vec<Problem>,
    /// One flag for each row ([`Token::row`]). The flag is true if an error in the row was reported.
    pub faulty: Vec<bool>,
    /// Column after the last token of each line of the text.
    pub ends: Vec<u32>,
    /// First line whose indentation is wrong. The blocks of later lines may be wrong, so errors in them are not reported.
    pub misread: Option<u32>,
}

impl Tokens {
    /// Marks a row as faulty. If the row was not faulty before, also records the problem, up to [`MOST_PROBLEMS`] problems.
    pub fn report(&mut self, row: usize, span: Span, message: String) {
        if self.mark(row) && self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { span, message });
        }
    }

    /// Records a line whose indentation is wrong.
    pub fn misread(&mut self, line: u32) {
        self.misread = Some(self.misread.map_or(line, |before| before.min(line)));
    }

    /// Marks a row as faulty. Returns true if the row was not faulty before.
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

    /// Returns the span from the start of `first` to the end of `last`. If `last` is on a later line, the span ends with the line of
    /// `first`.
    pub fn join(&self, first: Span, last: Span) -> Span {
        let end =
            if first.line == last.line { last.end } else { self.ends.get((first.line.max(1) - 1) as usize).copied().unwrap_or(first.end) };
        Span { end: end.max(first.end), ..first }
    }
}

/// Shortens code for a message. Returns the first 40 characters, followed by `…` if the code is longer. A space replaces each control
/// character.
pub fn shown(code: &str) -> String {
    const MOST: usize = 40;
    let mut out: String = code.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if code.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}
