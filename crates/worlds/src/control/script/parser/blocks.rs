//! Blocks of statements, and recovery after an error.

use super::stream::{Failed, Parsed, Parser, Place};
use crate::control::script::ast::{Expr, ExprKind, File, Statement, StatementKind};
use crate::control::script::error::Span;
use crate::control::script::token::{Token, TokenKind, shown};

impl Parser<'_> {
    pub fn file(&mut self) -> File {
        let mut body = Vec::new();
        while self.token().kind != TokenKind::End {
            body.append(&mut self.lines());
            if self.token().kind == TokenKind::Dedent {
                self.advance();
            }
        }
        File { doc: take_docstring(&mut body), body }
    }

    /// Parses the statements of a block, up to the Dedent token that ends the block.
    fn lines(&mut self) -> Vec<Statement> {
        let mut all = Vec::new();
        loop {
            let first = self.token();
            match first.kind {
                TokenKind::End | TokenKind::Dedent => return all,
                TokenKind::Newline => {
                    self.advance();
                }
                TokenKind::Indent => all.append(&mut self.unexpected_indent()),
                _ => match self.statement() {
                    Ok(statement) => {
                        if self.place.in_class && !self.place.in_function {
                            statement.iter().for_each(|statement| self.check_member(first, statement));
                        }
                        all.extend(statement);
                    }
                    Err(Failed) => {
                        self.whole &= self.place.in_function || !self.place.in_class;
                        self.recover();
                    }
                },
            }
        }
    }

    /// Reports a statement that is no constant and no method of the class. Such a line is usually a line of a method with a wrong
    /// indentation.
    fn check_member(&mut self, first: Token, statement: &Statement) {
        let is_member = match &statement.kind {
            StatementKind::Assign { targets, .. } => !targets.iter().any(has_attribute),
            StatementKind::Expr(Expr { kind: ExprKind::Text(_), .. }) | StatementKind::Pass => true,
            StatementKind::Function(_) | StatementKind::Class { .. } => true,
            _ => false,
        };
        if !is_member {
            let message = "a class has constants and methods only; indent this line into the block of a method";
            self.report_indentation(first, message.into());
        }
    }

    fn unexpected_indent(&mut self) -> Vec<Statement> {
        let token = self.token();
        self.whole = false;
        let message = "this line is indented, but no line above it begins a block; indent it as the line above, or end that line with `:`";
        self.report_indentation(token, message.into());
        self.indented()
    }

    /// Parses the indented lines of a block, from the block's Indent token to its Dedent token. Skips a block that is nested too deeply.
    fn indented(&mut self) -> Vec<Statement> {
        if !self.can_nest() {
            self.advance();
            // `nested` fails here and reports that the nesting is too deep.
            let _ = self.nested(|_| Ok(()));
            self.skip_block();
            return Vec::new();
        }
        self.advance();
        let lines = self.nested(|parser| Ok(parser.lines())).unwrap_or_default();
        if self.token().kind == TokenKind::Dedent {
            self.advance();
        }
        lines
    }

    /// Moves to the token after the Dedent token of the current block.
    pub fn skip_block(&mut self) {
        let mut open = 1u32;
        while open > 0 && self.token().kind != TokenKind::End {
            match self.advance().kind {
                TokenKind::Indent => open += 1,
                TokenKind::Dedent => open -= 1,
                _ => {}
            }
        }
    }

    pub fn skip_row(&mut self) {
        while !matches!(self.token().kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::End) {
            self.advance();
        }
        if self.token().kind == TokenKind::Newline {
            self.advance();
        }
    }

    /// Continues after an error in a statement. Skips the rest of the row, and parses the block after the row. Then does the same for later
    /// clauses of the statement, such as `else`.
    fn recover(&mut self) {
        loop {
            self.skip_row();
            if self.token().kind == TokenKind::Indent {
                // The block may belong to a loop or function whose first line was not read.
                let place = self.place;
                self.whole &= place.in_function;
                self.place = Place { unknown: true, ..place };
                if self.can_nest() {
                    self.indented();
                } else {
                    self.advance();
                    self.skip_block();
                }
                self.place = place;
            }
            if !matches!(self.token().kind, TokenKind::Word("elif" | "else" | "except" | "finally")) {
                return;
            }
        }
    }

    /// Parses the colon and the block of a statement that begins with the token `header`.
    pub fn block(&mut self, header: Token) -> Parsed<Vec<Statement>> {
        self.colon()?;
        if self.token().kind != TokenKind::Newline {
            // The block is a statement in the same line.
            if matches!(self.token().kind, TokenKind::Word("if" | "for" | "while" | "def" | "class")) {
                let span = self.token().span;
                return self.fail(span, "a line begins one block at most; write this statement in the next line, indented by four spaces");
            }
            return Ok(self.simple_row()?.into_iter().collect());
        }
        self.advance();
        if self.token().kind != TokenKind::Indent {
            let code = self.code(header);
            let message = format!("`{code}` has no block; indent the lines after it by four spaces, or write `pass` in the next line");
            self.report_indentation(header, message);
            self.whole = false;
            return Ok(Vec::new());
        }
        Ok(self.indented())
    }

    /// Moves over the colon before a block. If the line ends without a colon, records an error and continues.
    fn colon(&mut self) -> Parsed<()> {
        if self.take(":") {
            return Ok(());
        }
        let (last, next) = (self.previous(), self.token());
        if next.kind != TokenKind::Newline {
            if matches!(self.code(next), "then" | "do") {
                return self.fail(next.span, format!("Python writes `:` before a block; write `:` instead of `{}`", self.code(next)));
            }
            return self.unexpected("`:` before the block");
        }
        let span = Span { line: next.span.line, column: next.span.column.saturating_sub(1).max(1), end: next.span.column.max(2) };
        let code = shown(self.code(last));
        self.report(next.row, span, format!("`:` is missing at the end of the line; write `{code}:`"));
        Ok(())
    }
}

/// Returns true if the target of an assignment is an attribute, or a tuple that contains one.
fn has_attribute(target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Attribute { .. } => true,
        ExprKind::Tuple(all) => all.iter().any(has_attribute),
        _ => false,
    }
}

/// Removes the string at the start of a block and returns the string. Returns `None` if the block begins with another statement.
pub fn take_docstring(body: &mut Vec<Statement>) -> Option<String> {
    match body.first().map(|statement| &statement.kind) {
        Some(StatementKind::Expr(Expr { kind: ExprKind::Text(_), .. })) => match body.remove(0).kind {
            StatementKind::Expr(Expr { kind: ExprKind::Text(text), .. }) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
