//! Parsing of statements.

use super::stream::{Failed, Parsed, Parser};
use super::teaching;
use crate::control::script::ast::{Arithmetic, Comparison, Expr, ExprKind, Statement, StatementKind};
use crate::control::script::error::Span;
use crate::control::script::names::unused_attribute;
use crate::control::script::token::{Token, TokenKind, shown};

/// Operators of assignments such as `+=`.
const AUGMENTED: [(&str, Arithmetic); 7] = [
    ("+=", Arithmetic::Add),
    ("-=", Arithmetic::Subtract),
    ("*=", Arithmetic::Multiply),
    ("/=", Arithmetic::Divide),
    ("//=", Arithmetic::FloorDivide),
    ("%=", Arithmetic::Remainder),
    ("**=", Arithmetic::Power),
];

impl Parser<'_> {
    /// Parses a statement. Returns `None` for a line without effect, such as an import.
    pub fn statement(&mut self) -> Parsed<Option<Statement>> {
        let first = self.token();
        let kind = match first.kind {
            TokenKind::Word("if") => self.conditional()?,
            TokenKind::Word("for") => self.for_loop()?,
            TokenKind::Word("while") => self.while_loop()?,
            TokenKind::Word("def") => self.function()?,
            TokenKind::Word("class") => self.class()?,
            TokenKind::Symbol("@") => {
                return self.fail(first.span, "decorators are not part of the language; delete the line");
            }
            TokenKind::Name if self.is_match() => {
                self.report(first.row, first.span, teaching::beginning("match").unwrap_or_default().into());
                self.skip_row();
                if self.token().kind == TokenKind::Indent {
                    self.advance();
                    self.skip_block();
                }
                return Ok(None);
            }
            _ => return self.simple_row(),
        };
        Ok(Some(Statement { span: self.line_from(first.span), kind }))
    }

    /// Returns true if the statement is `match value:` or `switch (value)`.
    fn is_match(&self) -> bool {
        let (name, next) = (self.code(self.token()), self.ahead(1).kind);
        matches!(name, "match" | "switch")
            && (matches!(next, TokenKind::Name | TokenKind::Int(_))
                || (next == TokenKind::Symbol("(") && (name == "switch" || self.opens_block())))
    }

    /// Returns true if the row ends with `:`.
    fn opens_block(&self) -> bool {
        let mut count = 0;
        while !matches!(self.ahead(count).kind, TokenKind::Newline | TokenKind::End) {
            count += 1;
        }
        count > 0 && self.ahead(count - 1).kind == TokenKind::Symbol(":")
    }

    /// Parses a statement without a block, and the end of its row.
    pub fn simple_row(&mut self) -> Parsed<Option<Statement>> {
        let first = self.token();
        let kind = self.simple()?;
        let span = self.since(first.span);
        match self.token().kind {
            TokenKind::Newline => {
                self.advance();
            }
            TokenKind::End => {}
            _ => return self.trailing(),
        }
        Ok(kind.map(|kind| Statement { span, kind }))
    }

    /// Fails, because other code follows a complete statement in the same row.
    fn trailing(&mut self) -> Parsed<Option<Statement>> {
        let next = self.token();
        let is_value = matches!(next.kind, TokenKind::Name | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Text(_));
        if is_value && teaching::name(self.code(next), "").is_none() {
            let (before, after) = (shown(self.code(self.previous())), shown(self.code(next)));
            let message = format!("an operator is missing between `{before}` and `{after}`; write one, or begin a new line");
            return self.fail(next.span, message);
        }
        if next.kind == TokenKind::Symbol(":") {
            let message = "`:` begins a block only after `if`, `elif`, `else`, `for`, `while`, `def` and `class`; begin the line with \
                           one of them, or delete `:`";
            return self.fail(next.span, message);
        }
        self.unexpected("an operator, or begin a new line")
    }

    fn simple(&mut self) -> Parsed<Option<StatementKind>> {
        let token = self.token();
        match token.kind {
            TokenKind::Word("pass") => {
                self.advance();
                Ok(Some(StatementKind::Pass))
            }
            TokenKind::Word(word @ ("break" | "continue")) => {
                if !self.place.in_loop && !self.place.unknown {
                    return self.fail(token.span, format!("`{word}` is outside of a loop; indent it into the block of `for` or `while`"));
                }
                self.advance();
                Ok(Some(if word == "break" { StatementKind::Break } else { StatementKind::Continue }))
            }
            TokenKind::Word("return") => self.returned().map(Some),
            TokenKind::Word("import" | "from") => {
                if self.place.in_class || self.place.in_function || self.place.in_loop {
                    let message =
                        "an import is only possible at the top of the file; delete the line: functions such as `sqrt(x)` need no import";
                    return self.fail(token.span, message);
                }
                self.import()?;
                Ok(None)
            }
            _ => {
                self.check_beginning()?;
                self.assignment().map(Some)
            }
        }
    }

    /// Fails at a statement that begins with a name of another language, such as `let x = 3`.
    fn check_beginning(&mut self) -> Parsed<()> {
        let (token, next) = (self.token(), self.ahead(1));
        let joins = matches!(
            next.kind,
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Text(_) | TokenKind::Word("True" | "False" | "if")
        );
        if token.kind == TokenKind::Name
            && joins
            && let Some(message) = teaching::beginning(self.code(token))
        {
            return self.fail(token.span, message);
        }
        if token.kind == TokenKind::Name && self.code(token) == "do" && next.kind == TokenKind::Symbol(":") {
            return self.fail(token.span, teaching::beginning("do").unwrap_or_default());
        }
        Ok(())
    }

    fn returned(&mut self) -> Parsed<StatementKind> {
        let token = self.token();
        if !self.place.in_function && !self.place.unknown {
            self.report_indentation(token, "`return` is outside of a function; indent it into the block of `def`".into());
            return Err(Failed);
        }
        self.advance();
        if matches!(self.token().kind, TokenKind::Newline | TokenKind::End) {
            return Ok(StatementKind::Return(None));
        }
        self.expressions().map(|value| StatementKind::Return(Some(value)))
    }

    /// Parses an assignment, or an expression.
    fn assignment(&mut self) -> Parsed<StatementKind> {
        let first = self.token();
        let name = self.code(first);
        self.dict_allowed = self.place.in_class && !self.place.in_function && (name == "keys" || unused_attribute(name).is_some());
        let parsed = self.assignment_from(first);
        self.dict_allowed = false;
        parsed
    }

    fn assignment_from(&mut self, first: Token) -> Parsed<StatementKind> {
        let target = self.expressions()?;
        if let TokenKind::Symbol(symbol) = self.token().kind
            && let Some(&(_, op)) = AUGMENTED.iter().find(|(of, _)| *of == symbol)
        {
            if matches!(target.kind, ExprKind::Tuple(_)) {
                return self.fail(target.span, format!("`{symbol}` changes one variable; write a line for each"));
            }
            self.check_target(&target)?;
            self.advance();
            return Ok(StatementKind::Augment { target, op, value: self.expressions()? });
        }
        if self.is(":") && self.ahead(1).kind != TokenKind::Newline {
            self.annotated(&target)?;
        }
        if !self.is("=") {
            return self.checked_expression(target, first.span);
        }
        let mut targets = vec![target];
        while self.take("=") {
            targets.push(self.expressions()?);
        }
        // `targets` has at least two elements here.
        let value = targets.pop().unwrap_or(Expr { span: first.span, kind: ExprKind::Int(0) });
        targets.iter().try_for_each(|target| self.check_target(target))?;
        Ok(StatementKind::Assign { targets, value })
    }

    /// Parses the annotation of an assignment. Annotations have no effect.
    fn annotated(&mut self, target: &Expr) -> Parsed<()> {
        if !matches!(target.kind, ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Index { .. }) {
            return self.trailing().map(drop);
        }
        self.advance();
        self.annotation()?;
        if self.is("=") { Ok(()) } else { self.unexpected("`=` and a value: `x: int = 0`") }
    }

    /// Converts an expression to a statement. Fails at a comparison, whose result would have no effect.
    fn checked_expression(&mut self, expr: Expr, start: Span) -> Parsed<StatementKind> {
        if let ExprKind::Compare { rest, .. } = &expr.kind
            && matches!(self.token().kind, TokenKind::Newline | TokenKind::End)
        {
            let is_equal = matches!(rest.as_slice(), [(Comparison::Equal, _)]);
            let advice = if is_equal { "write `=` to assign a value" } else { "write `if` before it and `:` behind it" };
            let span = self.since(start);
            return self.fail(span, format!("this comparison has no effect; {advice}"));
        }
        Ok(StatementKind::Expr(expr))
    }

    fn conditional(&mut self) -> Parsed<StatementKind> {
        let mut branches = Vec::new();
        loop {
            let header = self.advance();
            if branches.is_empty() && self.code(self.token()) == "__name__" {
                let span = self.join(header.span, self.token().span);
                let message = "a part for running the file alone is not part of the language; delete `if __name__ == …` and its block";
                return self.fail(span, message);
            }
            let condition = self.expression()?.expr;
            branches.push((condition, self.block(header)?));
            if !self.is_word("elif") {
                break;
            }
        }
        let other = if self.is_word("else") { self.otherwise()? } else { Vec::new() };
        Ok(StatementKind::If { branches, other })
    }

    fn otherwise(&mut self) -> Parsed<Vec<Statement>> {
        let header = self.advance();
        if self.is_word("if") {
            let span = self.join(header.span, self.token().span);
            return self.fail(span, "Python writes `elif` for `else if`; write `elif condition:`");
        }
        self.block(header)
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        let header = self.advance();
        let target = self.loop_target()?;
        let items = self.expressions()?;
        let body = self.loop_block(header)?;
        Ok(StatementKind::For { target, items, body })
    }

    fn while_loop(&mut self) -> Parsed<StatementKind> {
        let header = self.advance();
        let condition = self.expression()?.expr;
        let body = self.loop_block(header)?;
        Ok(StatementKind::While { condition, body })
    }

    fn loop_block(&mut self, header: Token) -> Parsed<Vec<Statement>> {
        let place = self.place;
        self.place.in_loop = true;
        let body = self.block(header);
        self.place = place;
        let body = body?;
        if self.is_word("else") {
            let message = "`else` after a loop is not part of the language; write a variable that the loop sets, and `if` after the loop";
            return self.fail(self.token().span, message);
        }
        Ok(body)
    }
}
