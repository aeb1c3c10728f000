//! Parsing of expressions, from conditional expressions down to powers. Operators have Python's precedence.

use super::stream::{Parsed, Parser};
use super::teaching;
use crate::control::script::ast::{Arithmetic, Comparison, Expr, ExprKind};
use crate::control::script::error::Span;
use crate::control::script::token::TokenKind;

/// Maximum height of an expression's tree. A chain such as `a + b + c` has a level for each operator.
const MOST_HEIGHT: u32 = 100;

/// An expression with the height of its tree.
pub struct Tree {
    pub expr: Expr,
    pub height: u32,
}

/// Operators of a chain of sums. [`PRODUCTS`] are the operators of a chain of products.
const SUMS: [(&str, Arithmetic); 2] = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
const PRODUCTS: [(&str, Arithmetic); 4] =
    [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide), ("//", Arithmetic::FloorDivide), ("%", Arithmetic::Remainder)];

impl Parser<'_> {
    /// Parses an expression, or a tuple without brackets.
    pub fn expressions(&mut self) -> Parsed<Expr> {
        let first = self.expression()?;
        if !self.is(",") {
            return Ok(first.expr);
        }
        let start = first.expr.span;
        let mut all = vec![first];
        while self.take(",") && self.begins_expression() {
            all.push(self.expression()?);
        }
        self.collect(start, all, ExprKind::Tuple).map(|tree| tree.expr)
    }

    /// Returns true if the next token can begin an expression. After a comma, any other token, such as a closing bracket, ends the tuple.
    fn begins_expression(&self) -> bool {
        !matches!(self.token().kind, TokenKind::Newline | TokenKind::End | TokenKind::Symbol("=" | ")" | "]" | "}" | ":"))
    }

    /// Parses an expression that is not a tuple.
    pub fn expression(&mut self) -> Parsed<Tree> {
        self.nested(|parser| {
            let then = parser.disjunction()?;
            if !parser.is_word("if") {
                return Ok(then);
            }
            parser.advance();
            let condition = parser.disjunction()?;
            if !parser.take_word("else") {
                return parser.unexpected("`else` and the other value: `a if condition else b`");
            }
            let other = parser.expression()?;
            let height = then.height.max(condition.height).max(other.height);
            let span = parser.join(then.expr.span, other.expr.span);
            let [condition, then, other] = [condition, then, other].map(|tree| Box::new(tree.expr));
            parser.tree(span, height, ExprKind::Choose { condition, then, other })
        })
    }

    /// Creates a tree from a node whose tallest child has the height `below`. Fails if the tree is too high.
    pub fn tree(&mut self, span: Span, below: u32, kind: ExprKind) -> Parsed<Tree> {
        if below >= MOST_HEIGHT {
            let message = format!("more than {MOST_HEIGHT} operators are nested or in a row; assign a part to a variable first");
            return self.fail(span, message);
        }
        Ok(Tree { expr: Expr { span, kind }, height: below + 1 })
    }

    /// Creates a tree from a node with any number of children. The node's span begins at `start` and ends with the last token read.
    pub fn collect(&mut self, start: Span, all: Vec<Tree>, kind: impl FnOnce(Vec<Expr>) -> ExprKind) -> Parsed<Tree> {
        let height = all.iter().map(|tree| tree.height).max().unwrap_or_default();
        let span = self.since(start);
        self.tree(span, height, kind(all.into_iter().map(|tree| tree.expr).collect()))
    }

    /// Parses operands that are joined by `or`.
    pub fn disjunction(&mut self) -> Parsed<Tree> {
        let first = self.conjunction()?;
        if !self.is_word("or") {
            return Ok(first);
        }
        let start = first.expr.span;
        let mut all = vec![first];
        while self.take_word("or") {
            all.push(self.conjunction()?);
        }
        self.collect(start, all, ExprKind::Or)
    }

    fn conjunction(&mut self) -> Parsed<Tree> {
        let first = self.negation()?;
        if !self.is_word("and") {
            return Ok(first);
        }
        let start = first.expr.span;
        let mut all = vec![first];
        while self.take_word("and") {
            all.push(self.negation()?);
        }
        self.collect(start, all, ExprKind::And)
    }

    fn negation(&mut self) -> Parsed<Tree> {
        if !self.is_word("not") {
            return self.comparison();
        }
        let start = self.advance().span;
        let operand = self.nested(Self::negation)?;
        let span = self.join(start, operand.expr.span);
        self.tree(span, operand.height, ExprKind::Not(Box::new(operand.expr)))
    }

    fn comparison(&mut self) -> Parsed<Tree> {
        let first = self.chain(&SUMS, Self::product)?;
        let (start, mut height) = (first.expr.span, first.height);
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_operator()? {
            let operand = self.chain(&SUMS, Self::product)?;
            height = height.max(operand.height);
            rest.push((comparison, operand.expr));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let span = self.since(start);
        self.tree(span, height, ExprKind::Compare { first: Box::new(first.expr), rest })
    }

    /// Moves over a comparison operator. Returns `None` if the next token is not a comparison operator.
    fn comparison_operator(&mut self) -> Parsed<Option<Comparison>> {
        let comparison = match self.token().kind {
            TokenKind::Symbol("==") => Comparison::Equal,
            TokenKind::Symbol("!=") => Comparison::NotEqual,
            TokenKind::Symbol("<") => Comparison::Less,
            TokenKind::Symbol("<=") => Comparison::LessEqual,
            TokenKind::Symbol(">") => Comparison::Greater,
            TokenKind::Symbol(">=") => Comparison::GreaterEqual,
            TokenKind::Word("in") => Comparison::In,
            TokenKind::Word("not") => {
                if self.ahead(1).kind != TokenKind::Word("in") {
                    return self.unexpected("`not in`, or an operator");
                }
                self.advance();
                Comparison::NotIn
            }
            _ => return Ok(None),
        };
        self.advance();
        if matches!(comparison, Comparison::Less | Comparison::Greater) && self.is("=") {
            let sign = if comparison == Comparison::Less { "<=" } else { ">=" };
            return self.fail(self.token().span, format!("an operator has no space within it; write `{sign}`"));
        }
        Ok(Some(comparison))
    }

    /// Parses operands between operators of equal precedence, which are applied from left to right.
    fn chain(&mut self, operators: &[(&str, Arithmetic)], operand: fn(&mut Self) -> Parsed<Tree>) -> Parsed<Tree> {
        let mut left = operand(self)?;
        while let TokenKind::Symbol(symbol) = self.token().kind
            && let Some(&(_, op)) = operators.iter().find(|(of, _)| *of == symbol)
        {
            self.check_increment(symbol)?;
            self.advance();
            let right = operand(self)?;
            let height = left.height.max(right.height);
            let span = self.join(left.expr.span, right.expr.span);
            let (left_expr, right_expr) = (Box::new(left.expr), Box::new(right.expr));
            left = self.tree(span, height, ExprKind::Arithmetic { op, left: left_expr, right: right_expr })?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Parsed<Tree> {
        self.chain(&PRODUCTS, Self::signed)
    }

    /// Fails at the operators `++` and `--` of other languages, as in `x++`.
    fn check_increment(&mut self, symbol: &str) -> Parsed<()> {
        let (first, second, third) = (self.token(), self.ahead(1), self.ahead(2));
        let ends = matches!(third.kind, TokenKind::Newline | TokenKind::End | TokenKind::Symbol(")" | "]" | ";" | ","));
        if matches!(symbol, "+" | "-") && second.kind == first.kind && second.from == first.to && ends {
            let span = self.join(first.span, second.span);
            return self.fail(span, format!("`{symbol}{symbol}` is not an operator of Python; write `x {symbol}= 1`"));
        }
        Ok(())
    }

    /// Parses an operand with its signs. `-a ** b` is `-(a ** b)`.
    fn signed(&mut self) -> Parsed<Tree> {
        let first = self.token();
        let sign = match first.kind {
            TokenKind::Symbol(sign @ ("+" | "-")) => sign,
            _ => return self.power(),
        };
        let second = self.ahead(1);
        if second.kind == first.kind && second.from == first.to && (sign == "+" || self.at_statement()) {
            let span = self.join(first.span, second.span);
            return self.fail(span, format!("`{sign}{sign}` is not an operator of Python; write `x {sign}= 1`"));
        }
        self.advance();
        if sign == "-" && second.kind == TokenKind::Least && self.ahead(1).kind != TokenKind::Symbol("**") {
            self.advance();
            let span = self.since(first.span);
            return self.tree(span, 0, ExprKind::Int(i32::MIN));
        }
        let operand = self.nested(Self::signed)?;
        if sign == "+" {
            return Ok(operand);
        }
        let span = self.join(first.span, operand.expr.span);
        self.tree(span, operand.height, ExprKind::Negate(Box::new(operand.expr)))
    }

    fn power(&mut self) -> Parsed<Tree> {
        let base = self.postfix()?;
        if !self.take("**") {
            return Ok(base);
        }
        let exponent = self.nested(Self::signed)?;
        let height = base.height.max(exponent.height);
        let span = self.join(base.expr.span, exponent.expr.span);
        let (left, right) = (Box::new(base.expr), Box::new(exponent.expr));
        self.tree(span, height, ExprKind::Arithmetic { op: Arithmetic::Power, left, right })
    }

    /// Returns true if the next token is the first of its statement.
    fn at_statement(&self) -> bool {
        matches!(self.previous().kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent)
    }

    /// Fails if the next token is a name that only other languages have, such as `null`.
    pub fn check_name(&mut self) -> Parsed<()> {
        let (token, next) = (self.token(), self.ahead(1));
        if token.kind == TokenKind::Name
            && let Some(message) = teaching::name(self.code(token), self.code(next))
        {
            return self.fail(token.span, message);
        }
        Ok(())
    }
}
