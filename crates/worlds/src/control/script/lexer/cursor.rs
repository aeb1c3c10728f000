//! Cursor in a text that is read character by character. A line break (`\n`, `\r` or `\r\n`) is read as one line feed.

use crate::control::script::error::Span;

#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of the text. Skips a byte order mark.
    pub fn new(text: &'a str) -> Cursor<'a> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Cursor { text, at, line: 1, column: 1 }
    }

    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the text from the cursor to the end of the current line.
    pub fn rest_of_line(&self) -> &'a str {
        self.rest().split(['\n', '\r']).next().unwrap_or_default()
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next().map(|c| if c == '\r' { '\n' } else { c })
    }

    pub fn second(&self) -> Option<char> {
        let mut after = *self;
        after.advance();
        after.peek()
    }

    pub fn advance(&mut self) -> Option<char> {
        let rest = self.rest();
        let c = self.peek()?;
        if rest.starts_with("\r\n") {
            self.at += 1;
        }
        self.at += if rest.starts_with('\r') { 1 } else { c.len_utf8() };
        (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        Some(c)
    }

    pub fn skip(&mut self, characters: usize) {
        for _ in 0..characters {
            self.advance();
        }
    }

    pub fn skip_while(&mut self, condition: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&condition) {
            self.advance();
        }
    }

    pub fn skip_line(&mut self) {
        self.skip_while(|c| c != '\n');
    }

    /// Returns the code from `start` to the cursor.
    pub fn code_from(&self, start: Cursor) -> &'a str {
        self.text.get(start.at..self.at).unwrap_or_default()
    }

    /// Returns the span from `start` to the cursor, or to the end of the line of `start` if the cursor is on a later line.
    pub fn span_from(&self, start: Cursor) -> Span {
        let length =
            if start.line == self.line { self.column.saturating_sub(start.column) } else { start.rest_of_line().chars().count() as u32 };
        Span { line: start.line, column: start.column, end: start.column + length.max(1) }
    }
}
