//! Operands: names, numbers, strings, lists, dictionaries and brackets, and the calls, indices and attributes after them.

use super::expressions::Tree;
use super::stream::{Parsed, Parser};
use super::teaching;
use crate::control::script::ast::{Expr, ExprKind};
use crate::control::script::error::Span;
use crate::control::script::token::{Token, TokenKind, shown};

impl Parser<'_> {
    /// Parses an operand and the calls, indices and attributes after it.
    pub fn postfix(&mut self) -> Parsed<Tree> {
        let first = self.token();
        let mut tree = self.atom()?;
        loop {
            tree = match self.token().kind {
                TokenKind::Symbol(".") => self.attribute(tree)?,
                TokenKind::Symbol("(") => self.call(tree, first)?,
                TokenKind::Symbol("[") => self.index(tree, first)?,
                _ => return Ok(tree),
            };
        }
    }

    fn atom(&mut self) -> Parsed<Tree> {
        self.check_name()?;
        let token = self.token();
        let kind = match token.kind {
            TokenKind::Name => ExprKind::Name(self.code(token).into()),
            TokenKind::Int(value) => ExprKind::Int(value),
            TokenKind::Float(value) => ExprKind::Float(value),
            TokenKind::Word("True") => ExprKind::Bool(true),
            TokenKind::Word("False") => ExprKind::Bool(false),
            TokenKind::Text(index) => ExprKind::Text(self.string(index)),
            TokenKind::Symbol("(") => return self.brackets(),
            TokenKind::Symbol("[") => return self.list(),
            TokenKind::Symbol("{") => return self.dict(),
            TokenKind::Symbol("*" | "**") => {
                let message = "`*` before a list or name is not part of the language; write the elements one by one: `a[0], a[1]`";
                return self.fail(token.span, message);
            }
            TokenKind::Least => {
                let message = "`2147483648` does not fit into an integer of 32 bits: the largest is 2147483647; write a smaller integer";
                return self.fail(token.span, message);
            }
            _ => return self.unexpected("a value, such as a name or a number"),
        };
        self.advance();
        if matches!(token.kind, TokenKind::Text(_)) && matches!(self.token().kind, TokenKind::Text(_)) {
            let span = self.token().span;
            return self.fail(span, "two strings in a row are not joined; write one string");
        }
        self.tree(token.span, 0, kind)
    }

    /// Parses an expression or a tuple in round brackets.
    fn brackets(&mut self) -> Parsed<Tree> {
        let start = self.advance().span;
        if self.take(")") {
            let span = self.since(start);
            return self.fail(span, "an empty tuple is not part of the language; write at least one value between `(` and `)`");
        }
        let first = self.expression()?;
        self.check_generator()?;
        if self.take(")") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take(",") && !self.is(")") {
            all.push(self.expression()?);
        }
        self.close(")", "`)`, or an operator")?;
        self.collect(start, all, ExprKind::Tuple)
    }

    /// Moves over a closing bracket, or fails. If a value is at the place of the bracket, the message says that a comma or an operator is
    /// missing.
    fn close(&mut self, symbol: &'static str, expected: &str) -> Parsed<()> {
        let next = self.token();
        let is_value = matches!(
            next.kind,
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Text(_) | TokenKind::Word("True" | "False")
        );
        if is_value && teaching::name(self.code(next), "").is_none() {
            let (before, after) = (shown(self.code(self.previous())), shown(self.code(next)));
            let message = format!("a comma or an operator is missing between `{before}` and `{after}`; write `{before}, {after}`");
            return self.fail(next.span, message);
        }
        self.expect(symbol, expected)
    }

    /// Fails if the next token is the `for` of a generator expression.
    fn check_generator(&mut self) -> Parsed<()> {
        if !self.is_word("for") {
            return Ok(());
        }
        let span = self.token().span;
        self.fail(span, "generator expressions are not part of the language; write a list in square brackets: `[i * i for i in range(3)]`")
    }

    fn list(&mut self) -> Parsed<Tree> {
        let start = self.advance().span;
        let mut all = Vec::new();
        while !self.is("]") {
            all.push(self.expression()?);
            if all.len() == 1 && self.is_word("for") {
                return self.comprehension(start, all);
            }
            if !self.take(",") {
                break;
            }
        }
        self.close("]", "`,` and the next element, or `]`")?;
        self.collect(start, all, ExprKind::List)
    }

    /// Parses the loops of a comprehension. `value` has one element: the expression before the loops.
    fn comprehension(&mut self, start: Span, value: Vec<Tree>) -> Parsed<Tree> {
        let mut height = value.iter().map(|tree| tree.height).max().unwrap_or_default();
        let mut loops = Vec::new();
        while self.take_word("for") {
            let target = self.loop_target()?;
            let items = self.disjunction()?;
            height = height.max(items.height);
            loops.push((target, items.expr));
        }
        if self.is_word("if") {
            let message = "a condition in a list is not part of the language, because a list has a fixed length; write a value for each: \
                           `[x if x > 0 else 0 for x in a]`, or a loop with `if`";
            return self.fail(self.token().span, message);
        }
        self.close("]", "`]`")?;
        let span = self.since(start);
        // `value` has one element, so the `else` branch never runs.
        let Some(value) = value.into_iter().next().map(|tree| Box::new(tree.expr)) else {
            return self.unexpected("a value");
        };
        self.tree(span, height, ExprKind::Comprehension { value, loops })
    }

    /// Parses a dictionary, or fails if a dictionary is not permitted here.
    fn dict(&mut self) -> Parsed<Tree> {
        if !std::mem::take(&mut self.dict_allowed) {
            let message = teaching::symbol("{").unwrap_or_default();
            return self.fail(self.token().span, message);
        }
        let start = self.advance().span;
        let (mut pairs, mut height) = (Vec::new(), 0);
        while !self.is("}") {
            let key = self.expression()?;
            self.expect(":", "`:` and the action of the key: `{\"ArrowLeft\": 0}`")?;
            let value = self.expression()?;
            height = height.max(key.height).max(value.height);
            pairs.push((key.expr, value.expr));
            if !self.take(",") {
                break;
            }
        }
        self.close("}", "`,` and the next key, or `}`")?;
        let span = self.since(start);
        self.tree(span, height, ExprKind::Dict(pairs))
    }

    fn attribute(&mut self, of: Tree) -> Parsed<Tree> {
        self.advance();
        let name = self.name("the name of an attribute: `self.x`")?;
        let start = of.expr.span;
        let is_self = matches!(&of.expr.kind, ExprKind::Name(base) if base == "self");
        let message = match &of.expr.kind {
            ExprKind::Name(base) if !is_self => {
                teaching::module(base, &name.text, if self.is(".") { self.code(self.ahead(1)) } else { "" })
            }
            ExprKind::Call { of, .. } if matches!(&of.kind, ExprKind::Name(base) if base == "super") => Some(teaching::SUPER.into()),
            ExprKind::Attribute { name: generator, .. } if generator.text == "np_random" => Some(teaching::generator(&name.text)),
            _ => None,
        };
        let message = message.or_else(|| if self.is("(") && !is_self { teaching::method(&name.text) } else { None });
        if let Some(message) = message {
            let span = self.join(start, name.span);
            return self.fail(span, message);
        }
        let span = self.join(start, name.span);
        self.tree(span, of.height, ExprKind::Attribute { of: Box::new(of.expr), name })
    }

    fn call(&mut self, of: Tree, first: Token) -> Parsed<Tree> {
        self.advance();
        let (mut arguments, mut height): (Vec<Expr>, u32) = (Vec::new(), of.height);
        while !self.is(")") {
            self.check_keyword()?;
            let argument = self.expression()?;
            self.check_generator()?;
            height = height.max(argument.height);
            arguments.push(argument.expr);
            if !self.take(",") {
                break;
            }
        }
        self.close(")", "`,` and the next argument, or `)`")?;
        let span = self.since(first.span);
        self.tree(span, height, ExprKind::Call { of: Box::new(of.expr), arguments })
    }

    fn check_keyword(&mut self) -> Parsed<()> {
        let (name, sign) = (self.token(), self.ahead(1));
        if name.kind != TokenKind::Name || sign.kind != TokenKind::Symbol("=") {
            return Ok(());
        }
        let message = format!(
            "keyword arguments are not part of the language: `{}=`; write the values in the order of the function's parameters, without \
             names",
            shown(self.code(name))
        );
        self.fail(self.join(name.span, sign.span), message)
    }

    fn index(&mut self, of: Tree, first: Token) -> Parsed<Tree> {
        let open = self.advance();
        let start = first.span;
        if self.is(":") && self.ahead(1).kind == TokenKind::Symbol("]") {
            self.advance();
            self.advance();
            let span = self.since(start);
            return self.tree(span, of.height, ExprKind::Copy(Box::new(of.expr)));
        }
        if self.is(":") {
            return self.slice(open);
        }
        let at = self.expression()?;
        if self.is(":") {
            return self.slice(open);
        }
        if self.is(",") {
            let span = self.token().span;
            return self.fail(span, "an index is one number; write `a[i][j]` for a list of lists");
        }
        self.expect("]", "`]` after the index")?;
        let span = self.since(start);
        self.tree(span, of.height.max(at.height), ExprKind::Index { of: Box::new(of.expr), at: Box::new(at.expr) })
    }

    /// Fails, because slices are not part of the language.
    fn slice(&mut self, open: Token) -> Parsed<Tree> {
        let span = self.join(open.span, self.token().span);
        self.fail(span, teaching::SLICE)
    }
}
