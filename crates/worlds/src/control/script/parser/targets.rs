//! Parsing and checks of the targets of assignments and loops.

use super::stream::{Parsed, Parser};
use crate::control::script::ast::{Expr, ExprKind};
use crate::control::script::token::TokenKind;

impl Parser<'_> {
    /// Parses the target of a loop and the word `in`.
    pub fn loop_target(&mut self) -> Parsed<Expr> {
        let loop_of_c = self.is("(") && (self.ahead(2).kind == TokenKind::Symbol("=") || self.ahead(2).kind == TokenKind::Name);
        if loop_of_c {
            let span = self.token().span;
            return self.fail(span, "a loop over numbers names its variable and range; write `for i in range(10):`");
        }
        let first = self.postfix()?;
        let start = first.expr.span;
        let target = if self.is(",") {
            let mut all = vec![first];
            while self.take(",") && !self.is_word("in") {
                all.push(self.postfix()?);
            }
            self.collect(start, all, ExprKind::Tuple)?.expr
        } else {
            first.expr
        };
        self.check_target(&target)?;
        if !self.take_word("in") {
            return self.unexpected("`in` and a list or range: `for i in range(10):`");
        }
        Ok(target)
    }

    /// Fails if no value can be assigned to the expression.
    pub fn check_target(&mut self, target: &Expr) -> Parsed<()> {
        let message = match &target.kind {
            ExprKind::Name(name) if name == "self" => {
                "`self` is the environment and is not assigned; write a variable, or an attribute: `self.x`"
            }
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Index { .. } => return Ok(()),
            ExprKind::Tuple(all) => return all.iter().try_for_each(|target| self.check_target(target)),
            ExprKind::Copy(_) => "a value cannot be assigned to `a[:]`; write `a = b[:]`, or a loop over the elements",
            ExprKind::List(_) | ExprKind::Comprehension { .. } => "a value cannot be assigned to a list in brackets; write `a, b = c`",
            ExprKind::Call { .. } => "a value cannot be assigned to a call; write a variable or `self.x` on the left side",
            ExprKind::Compare { .. } | ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) => {
                "a value cannot be assigned to a comparison; write `==` to compare"
            }
            ExprKind::Arithmetic { .. } | ExprKind::Negate(_) => {
                "a value cannot be assigned to a calculation; write a variable on the left side: `x = a + b`"
            }
            ExprKind::Choose { .. } => "a value cannot be assigned to a conditional expression; write `if` and two assignments",
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Dict(_) => {
                "a value cannot be assigned to a constant; write a variable on the left side"
            }
        };
        self.fail(target.span, message)
    }
}
