//! State of the parser: the tokens of a file, the position in the tokens, the depth of nesting, and the errors found.

use super::teaching;
use crate::control::script::ast::Name;
use crate::control::script::error::{Problem, Span};
use crate::control::script::token::{MOST_PROBLEMS, Token, TokenKind, Tokens};

/// Maximum depth of nested blocks and expressions.
const MOST_LEVELS: u32 = 50;

/// Failure to parse a construct. The parser has reported the error.
pub struct Failed;
pub type Parsed<T> = Result<T, Failed>;

/// Position of a statement relative to definitions and loops.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub in_class: bool,
    pub in_function: bool,
    pub in_loop: bool,
    /// True if the other fields may lack a definition or loop around the statement, because the first line of that definition or loop has
    /// an error.
    pub unknown: bool,
}

pub struct Parser<'a> {
    text: &'a str,
    tokens: Tokens,
    at: usize,
    depth: u32,
    /// Problems that the parser found. The problems of the lexer are in `tokens`.
    found: Vec<Problem>,
    pub place: Place,
    /// True if the parser has read every class, every method and every class attribute.
    pub whole: bool,
    /// True if the next `{` may begin a dictionary.
    pub dict_allowed: bool,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str, tokens: Tokens) -> Parser<'a> {
        let whole = tokens.problems.is_empty();
        Parser { text, tokens, at: 0, depth: 0, found: Vec::new(), place: Place::default(), whole, dict_allowed: false }
    }

    /// Returns the problems of the lexer and of the parser, and the first line whose indentation is wrong.
    pub fn problems(self) -> (Vec<Problem>, Option<u32>) {
        let mut all = self.tokens.problems;
        all.extend(self.found);
        (all, self.tokens.misread)
    }

    /// Returns the token that is `count` tokens after the next token; the last token of the file if there are fewer tokens.
    pub fn ahead(&self, count: usize) -> Token {
        let last = self.tokens.all.len().saturating_sub(1);
        let end = Token { kind: TokenKind::End, span: Span { line: 1, column: 1, end: 2 }, from: 0, to: 0, row: 0 };
        self.tokens.all.get((self.at + count).min(last)).copied().unwrap_or(end)
    }

    pub fn token(&self) -> Token {
        self.ahead(0)
    }

    pub fn previous(&self) -> Token {
        self.tokens.all.get(self.at.saturating_sub(1)).copied().unwrap_or_else(|| self.token())
    }

    pub fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    pub fn is(&self, symbol: &str) -> bool {
        matches!(self.token().kind, TokenKind::Symbol(found) if found == symbol)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.token().kind, TokenKind::Word(found) if found == word)
    }

    /// Moves over the next token and returns true, if the token is the given symbol. Otherwise returns false.
    pub fn take(&mut self, symbol: &str) -> bool {
        let is = self.is(symbol);
        if is {
            self.advance();
        }
        is
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    /// Moves over a symbol, or fails if the next token is another token. `expected` describes the symbol and its purpose in the message.
    pub fn expect(&mut self, symbol: &str, expected: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { self.unexpected(expected) }
    }

    pub fn name(&mut self, expected: &str) -> Parsed<Name> {
        let token = self.token();
        match token.kind {
            TokenKind::Name => {
                self.advance();
                Ok(Name { span: token.span, text: self.code(token).into() })
            }
            TokenKind::Word(word) => {
                let message = format!("`{word}` is a keyword of Python and not possible as a name; write another name, such as `{word}_`");
                self.fail(token.span, message)
            }
            _ => self.unexpected(expected),
        }
    }

    pub fn code(&self, token: Token) -> &'a str {
        self.text.get(token.from..token.to).unwrap_or_default()
    }

    /// Returns the code from one token to another.
    pub fn code_between(&self, first: Token, last: Token) -> &'a str {
        self.text.get(first.from..last.to).unwrap_or_default()
    }

    /// Returns the string of a [`TokenKind::Text`] token by its index.
    pub fn string(&self, index: usize) -> String {
        self.tokens.texts.get(index).cloned().unwrap_or_default()
    }

    pub fn join(&self, first: Span, last: Span) -> Span {
        self.tokens.join(first, last)
    }

    /// Returns the span from `first` to the last token that was read.
    pub fn since(&self, first: Span) -> Span {
        self.join(first, self.previous().span)
    }

    /// Returns the span from `first` to the end of its line.
    pub fn line_from(&self, first: Span) -> Span {
        self.join(first, Span { line: first.line + 1, ..first })
    }

    /// Marks a row as faulty. If the row was not faulty before, also records the problem, up to [`MOST_PROBLEMS`] problems.
    pub fn report(&mut self, row: usize, span: Span, message: String) {
        if self.tokens.mark(row) && self.found.len() < MOST_PROBLEMS {
            self.found.push(Problem { span, message });
        }
    }

    /// Reports a problem with the indentation of a line.
    pub fn report_indentation(&mut self, token: Token, message: String) {
        self.tokens.misread(token.span.line);
        self.report(token.row, token.span, message);
    }

    /// Records a problem in the row of the next token and fails.
    pub fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Parsed<T> {
        self.report(self.token().row, span, message.into());
        Err(Failed)
    }

    /// Fails, because the next token is not possible here. `expected` describes code that is possible.
    pub fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let token = self.token();
        if matches!(token.kind, TokenKind::Word("elif" | "else")) && self.previous().row != token.row {
            self.tokens.misread(token.span.line);
        }
        let code = self.code(token);
        let message = match token.kind {
            TokenKind::Newline | TokenKind::End | TokenKind::Indent | TokenKind::Dedent => {
                format!("the line ends too early; write {expected}")
            }
            TokenKind::Symbol(symbol) => teaching::symbol(symbol).map_or_else(|| teaching::found(code, expected), String::from),
            TokenKind::Word(word) => teaching::word(word).map_or_else(|| teaching::found(code, expected), String::from),
            TokenKind::Name => teaching::name(code, self.code(self.ahead(1))).unwrap_or_else(|| teaching::found(code, expected)),
            _ => teaching::found(code, expected),
        };
        self.fail(token.span, message)
    }

    /// Parses a construct that is nested in the current construct. Fails if the nesting is too deep.
    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MOST_LEVELS {
            let span = self.token().span;
            let message =
                format!("more than {MOST_LEVELS} blocks and brackets are nested; assign a part to a variable, or move it to a function");
            return self.fail(span, message);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    pub fn can_nest(&self) -> bool {
        self.depth < MOST_LEVELS
    }
}
