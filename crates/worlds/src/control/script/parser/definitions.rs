//! Parsing of functions, parameters, classes and type annotations.

use super::blocks::take_docstring;
use super::stream::{Parsed, Parser, Place};
use super::teaching;
use crate::control::script::ast::{Function, Name, StatementKind};
use crate::control::script::token::{TokenKind, shown};
use std::collections::HashSet;

impl Parser<'_> {
    pub fn function(&mut self) -> Parsed<StatementKind> {
        let header = self.advance();
        if self.place.in_function && !self.place.unknown {
            let message =
                "a function within a function is not part of the language; write it at the start of a line, or as a method of the class";
            self.report(header.row, header.span, message.into());
        }
        let name = self.name("the name of the function: `def f(x):`")?;
        self.expect("(", "`(` and the parameters: `def f(x):`")?;
        let parameters = self.parameters(&name.text)?;
        let is_method = parameters.first().is_some_and(|first| first.text == "self");
        if is_method && !self.place.in_class && !self.place.in_function && !self.place.unknown {
            self.whole = false;
            let message = format!("`{}` has `self`, so it is a method; indent it into the block of the class", shown(&name.text));
            self.report_indentation(header, message);
        }
        if self.take("->") {
            self.annotation()?;
        }
        let place = self.place;
        self.place = Place { in_function: true, in_loop: false, ..place };
        let body = self.block(header);
        self.place = place;
        let mut body = body?;
        take_docstring(&mut body);
        Ok(StatementKind::Function(Function { name, parameters, body }))
    }

    /// Parses the parameters of a function and the closing bracket.
    fn parameters(&mut self, function: &str) -> Parsed<Vec<Name>> {
        let (mut all, mut names) = (Vec::new(), HashSet::new());
        while !self.is(")") {
            // The compiler reports `__init__`, and parameters of `reset` after `self`. The parser therefore skips stars, slashes and
            // default values after `self` in these methods.
            let is_reported = !all.is_empty() && self.place.in_class && matches!(function, "__init__" | "reset");
            if is_reported {
                self.skip_star();
            }
            let token = self.token();
            if matches!(token.kind, TokenKind::Symbol("*" | "**" | "/")) {
                let code = self.code_between(token, if self.ahead(1).kind == TokenKind::Name { self.ahead(1) } else { token });
                let message = format!("parameters such as `{}` are not part of the language; write a name for each value", shown(code));
                return self.fail(token.span, message);
            }
            let name = self.name("the name of a parameter, or `)`")?;
            if !names.insert(name.text.clone()) {
                return self.fail(name.span, format!("two parameters have the name `{}`; write another name for one", shown(&name.text)));
            }
            if self.take(":") {
                self.annotation()?;
            }
            if is_reported {
                self.skip_value();
            }
            if self.is("=") {
                let span = self.join(name.span, self.token().span);
                let name = shown(&name.text);
                let message =
                    format!("default values are not part of the language: `{name}=`; write `{name}` alone, and the value in each call");
                return self.fail(span, message);
            }
            all.push(name);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "`,` and the next parameter, or `)`")?;
        Ok(all)
    }

    /// Moves over `*` or `/` before the name of a parameter.
    fn skip_star(&mut self) {
        let is_star = matches!(self.token().kind, TokenKind::Symbol("*" | "**" | "/"));
        let comma = usize::from(self.ahead(1).kind == TokenKind::Symbol(","));
        if is_star && self.ahead(1 + comma).kind == TokenKind::Name {
            for _ in 0..=comma {
                self.advance();
            }
        }
    }

    /// Moves over `=` and the default value of a parameter. Does nothing without a default value.
    fn skip_value(&mut self) {
        if !self.is("=") {
            return;
        }
        let mut open = 0u32;
        loop {
            match self.token().kind {
                TokenKind::Newline | TokenKind::End => return,
                TokenKind::Symbol("," | ")") if open == 0 => return,
                TokenKind::Symbol("(" | "[" | "{") => open += 1,
                TokenKind::Symbol(")" | "]" | "}") => open = open.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }

    pub fn class(&mut self) -> Parsed<StatementKind> {
        let header = self.advance();
        let place = self.place;
        if !place.unknown && (place.in_class || place.in_function || place.in_loop) {
            let message = "a class is only possible at the start of a line; move it there";
            self.report(header.row, header.span, message.into());
        }
        let name = self.name("the name of the class: `class World:`")?;
        let mut is_exception = false;
        if self.take("(") && !self.take(")") {
            let first = self.token();
            while !matches!(self.token().kind, TokenKind::Newline | TokenKind::End | TokenKind::Symbol(":")) {
                self.advance();
            }
            let base = self.code_between(first, self.previous()).trim_end_matches(')').trim_end();
            is_exception = teaching::is_exception(base);
            self.report(header.row, self.since(name.span), teaching::base(base, &name.text));
        }
        self.place = Place { in_class: true, in_function: false, in_loop: false, unknown: place.unknown };
        let body = self.block(header);
        self.place = place;
        let mut body = body?;
        take_docstring(&mut body);
        // An exception class is not the environment's class, so a statement without effect replaces the exception class.
        Ok(if is_exception { StatementKind::Pass } else { StatementKind::Class { name, body } })
    }

    /// Parses a type annotation, such as `list[float]`. Annotations have no effect.
    pub fn annotation(&mut self) -> Parsed<()> {
        self.nested(|parser| {
            loop {
                match parser.token().kind {
                    TokenKind::Word("None") | TokenKind::Text(_) | TokenKind::Symbol("...") => {
                        parser.advance();
                    }
                    TokenKind::Symbol("[") => parser.type_list()?,
                    TokenKind::Name => {
                        parser.advance();
                        while parser.take(".") {
                            parser.name("a type")?;
                        }
                        if parser.is("[") {
                            parser.type_list()?;
                        }
                    }
                    _ => return parser.unexpected("a type, such as `int` or `float`"),
                }
                if !parser.take("|") {
                    return Ok(());
                }
            }
        })
    }

    /// Parses types in square brackets.
    fn type_list(&mut self) -> Parsed<()> {
        self.advance();
        while !self.is("]") {
            if matches!(self.token().kind, TokenKind::Int(_)) {
                self.advance();
            } else {
                self.annotation()?;
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect("]", "`]` after the types")
    }
}
