//! Splits a file into tokens by Python's rules: indentation, comments, joined lines, numbers, strings, names and symbols.

mod cursor;
mod indentation;
mod numbers;
mod strings;
mod symbols;

use super::error::Span;
use super::token::{Token, TokenKind, Tokens, shown};
use cursor::Cursor;
use indentation::Indentation;

/// Returns the tokens of a text. Errors are in [`Tokens::problems`].
pub fn lex(text: &str) -> Tokens {
    let tokens = Tokens { all: Vec::new(), texts: Vec::new(), problems: Vec::new(), faulty: Vec::new(), ends: Vec::new(), misread: None };
    let cursor = Cursor::new(text);
    let mut lexer = Lexer { cursor, tokens, indentation: Indentation::default(), brackets: Vec::new(), blocks: 0, row: 0, first: 0 };
    while lexer.cursor.peek().is_some() {
        lexer.read_row();
    }
    let last = lexer.last();
    while lexer.indentation.close() {
        lexer.push_at(TokenKind::Dedent, last);
    }
    lexer.push_at(TokenKind::End, last);
    lexer.tokens
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    tokens: Tokens,
    indentation: Indentation,
    /// Open brackets, the innermost last.
    brackets: Vec<Bracket>,
    /// Number of open blocks in braces, as in JavaScript. Each of these blocks is an error.
    blocks: u32,
    row: usize,
    /// Index of the first token of the current row.
    first: usize,
}

#[derive(Clone, Copy)]
struct Bracket {
    symbol: &'static str,
    span: Span,
}

impl<'a> Lexer<'a> {
    /// Returns the span of the column that follows the last token.
    fn last(&self) -> Span {
        let span = self.tokens.all.last().map_or(Span { line: 1, column: 1, end: 1 }, |token| token.span);
        if matches!(self.tokens.all.last().map(|token| token.kind), Some(TokenKind::Newline)) { span } else { after(span) }
    }

    /// Adds a token without text.
    fn push_at(&mut self, kind: TokenKind, span: Span) {
        let at = self.cursor.at();
        // `Tokens::push` would extend the recorded end of the line to this token, so the token is added directly.
        self.tokens.all.push(Token { kind, span, from: at, to: at, row: self.row });
    }

    fn push(&mut self, kind: TokenKind, start: Cursor<'a>) {
        let (from, to) = (start.at(), self.cursor.at());
        self.tokens.push(Token { kind, span: self.cursor.span_from(start), from, to, row: self.row });
    }

    fn report(&mut self, span: Span, message: String) {
        self.tokens.report(self.row, span, message);
    }

    /// Reads one row: a line and the lines that are joined to it, or one line without code.
    fn read_row(&mut self) {
        let start = self.cursor;
        self.cursor.skip_while(|c| matches!(c, ' ' | '\t' | '\u{c}'));
        let code = self.cursor.rest_of_line();
        let closes_block = self.blocks > 0 && code.starts_with('}');
        let rest = code.trim_start_matches('}').trim_start();
        if code.is_empty() || code.starts_with('#') || (closes_block && (rest.is_empty() || rest.starts_with('#'))) {
            let closed = code.bytes().take_while(|&byte| byte == b'}').count();
            self.blocks = self.blocks.saturating_sub(closed as u32);
            self.cursor.skip_line();
            self.cursor.advance();
            return;
        }
        self.indent(start);
        self.first = self.tokens.all.len();
        while self.token() {}
        self.brackets.clear();
        if self.tokens.all.len() > self.first {
            let last = after(self.tokens.all.last().map_or(Span::default(), |token| token.span));
            self.push_at(TokenKind::Newline, last);
        }
        self.row += 1;
    }

    /// Adds the Dedent or Indent tokens at the start of a row.
    fn indent(&mut self, start: Cursor<'a>) {
        let change = self.indentation.read(self.cursor.code_from(start), self.cursor.span_from(start).line);
        let span = self.cursor.span_from(start);
        if let Some(message) = change.problem {
            self.tokens.misread(span.line);
            self.report(span, message);
        }
        for _ in 0..change.dedents {
            self.push_at(TokenKind::Dedent, span);
        }
        if change.indents {
            self.push_at(TokenKind::Indent, span);
        }
    }

    /// Reads a token, white space or a comment. Returns `false` at the end of the row.
    fn token(&mut self) -> bool {
        let start = self.cursor;
        let Some(c) = self.cursor.peek() else {
            self.report_open_bracket();
            return false;
        };
        match c {
            '\n' => {
                self.cursor.advance();
                return self.continues();
            }
            ' ' | '\t' | '\u{c}' => self.cursor.skip_while(|c| matches!(c, ' ' | '\t' | '\u{c}')),
            '#' => self.cursor.skip_line(),
            '\\' => self.backslash(),
            '"' | '\'' => self.string(start),
            '.' if self.cursor.second().is_some_and(|c| c.is_ascii_digit()) => self.number(),
            _ if c.is_ascii_digit() => self.number(),
            _ if c.is_alphabetic() || c == '_' => self.word(),
            _ => self.symbol(),
        }
        true
    }

    /// Returns true if an open bracket continues the row on the line that begins at the cursor. If this line begins another statement, the
    /// method reports the open bracket and returns false.
    fn continues(&mut self) -> bool {
        if self.brackets.is_empty() {
            return false;
        }
        // A colon at the end of a line begins a block, except in a dictionary.
        let colon = self.tokens.all.last().is_some_and(|token| token.kind == TokenKind::Symbol(":"));
        let in_dict = self.brackets.last().is_some_and(|bracket| bracket.symbol == "{");
        if (colon && !in_dict) || symbols::begins_statement(self.cursor.rest_of_line(), self.indentation.width()) {
            self.report_open_bracket();
            return false;
        }
        true
    }

    fn report_open_bracket(&mut self) {
        if let Some(Bracket { symbol, span }) = self.brackets.last().copied() {
            let message = format!("`{symbol}` is not closed; write `{}` at the end of its expression", symbols::closing(symbol));
            self.report(span, message);
        }
    }

    fn backslash(&mut self) {
        let start = self.cursor;
        self.cursor.advance();
        if self.cursor.peek() == Some('\n') {
            self.cursor.advance();
            return;
        }
        let span = self.cursor.span_from(start);
        let mut after = self.cursor;
        after.skip_while(|c| matches!(c, ' ' | '\t'));
        if after.peek().is_none_or(|c| c == '\n') {
            self.report(span, "a `\\` that joins two lines must be the last character of its line; delete the spaces after it".into());
            self.cursor.skip_line();
            self.cursor.advance();
        } else {
            self.report(span, "`\\` is only possible in strings and at the end of a line; delete it".into());
        }
    }

    fn string(&mut self, start: Cursor<'a>) {
        match strings::string(&mut self.cursor) {
            Ok(text) => {
                self.tokens.texts.push(text);
                self.push(TokenKind::Text(self.tokens.texts.len() - 1), start);
            }
            Err(problem) => {
                self.report(problem.span, problem.message);
                self.push(TokenKind::Faulty, start);
            }
        }
    }

    fn number(&mut self) {
        let start = self.cursor;
        let kind = numbers::number(&mut self.cursor).unwrap_or_else(|message| {
            self.report(self.cursor.span_from(start), message);
            TokenKind::Faulty
        });
        self.push(kind, start);
    }

    fn word(&mut self) {
        let start = self.cursor;
        self.cursor.skip_while(|c| c.is_alphanumeric() || c == '_');
        let code = self.cursor.code_from(start);
        if let Some(other) = code.chars().find(|c| !c.is_ascii()) {
            let message =
                format!("the name `{}` contains `{other}`; names consist of the letters a to z and A to Z, digits and `_`", shown(code));
            self.report(self.cursor.span_from(start), message);
        }
        if matches!(self.cursor.peek(), Some('"' | '\''))
            && let Some(message) = symbols::prefixed_string(code)
        {
            self.report(self.cursor.span_from(start), message);
            return;
        }
        let kind = symbols::keyword(code).map_or(TokenKind::Name, TokenKind::Word);
        self.push(kind, start);
    }

    fn symbol(&mut self) {
        let start = self.cursor;
        if start.rest().starts_with("/*") {
            self.cursor.skip_line();
            let message = "`/*` does not begin a comment; write `#` at the start of each line of a comment";
            self.report(self.cursor.span_from(start), message.into());
            return;
        }
        let Some(symbol) = symbols::symbol(start.rest()) else {
            self.cursor.advance();
            let message = symbols::wrong_character(self.cursor.code_from(start));
            self.report(self.cursor.span_from(start), message);
            return;
        };
        self.cursor.skip(symbol.len());
        let span = self.cursor.span_from(start);
        match symbol {
            "{" if self.brackets.is_empty() && self.ends_operand() => {
                self.blocks += 1;
                let message = "a block has no braces; write `:` at the end of this line, indent the lines of the block by four spaces, and \
                               delete the braces";
                self.report(span, message.into());
                return;
            }
            "(" | "[" | "{" => self.brackets.push(Bracket { symbol, span }),
            ")" | "]" | "}" if !self.close(symbol, span) => return,
            _ => {}
        }
        self.push(TokenKind::Symbol(symbol), start);
    }

    /// Returns true if a brace after the row's last token begins a block, as in JavaScript. This is the case if the last token ends an
    /// operand, or is a keyword such as `else`.
    fn ends_operand(&self) -> bool {
        let in_row = self.tokens.all.get(self.first..).unwrap_or_default();
        matches!(
            in_row.last().map(|token| token.kind),
            Some(TokenKind::Name | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Text(_))
                | Some(TokenKind::Symbol(")" | "]"))
                | Some(TokenKind::Word("else" | "try" | "finally" | "True" | "False"))
        )
    }

    /// Closes a bracket. Returns `false` if the symbol ends a block in braces; the lexer must then ignore the symbol.
    fn close(&mut self, symbol: &'static str, span: Span) -> bool {
        match self.brackets.pop() {
            Some(open) if symbols::closing(open.symbol) == symbol => true,
            Some(open) => {
                let expected = symbols::closing(open.symbol);
                let place = format!("line {}, column {}", open.span.line, open.span.column);
                self.report(span, format!("`{symbol}` does not close `{}` of {place}; write `{expected}`", open.symbol));
                true
            }
            None if symbol == "}" && self.blocks > 0 => {
                self.blocks -= 1;
                self.tokens.mark(self.row);
                false
            }
            None => {
                self.report(span, format!("`{symbol}` closes no bracket; delete it, or write the opening bracket before it"));
                true
            }
        }
    }
}

/// Returns the span of the column that follows a span.
fn after(span: Span) -> Span {
    Span { line: span.line, column: span.end, end: span.end + 1 }
}
