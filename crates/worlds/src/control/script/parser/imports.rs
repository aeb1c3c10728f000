//! Lines of the form `from module import names`. A line is accepted if the language has all the names with the same meaning. An accepted
//! line has no effect.

use super::stream::{Parsed, Parser};
use crate::control::script::ast::Name;
use crate::control::script::names::BUILT_IN;
use crate::control::script::token::{Token, TokenKind, shown};

const MATH: [&str; 12] = ["sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan2", "floor", "ceil", "pi", "tau"];

impl Parser<'_> {
    /// Parses a line that begins with `from` or `import`.
    pub fn import(&mut self) -> Parsed<()> {
        let first = self.advance();
        if self.code(first) == "import" {
            return self.plain_import(first);
        }
        let module = self.module()?;
        if !matches!(module.as_str(), "math" | "random" | "hothouse.world") {
            let span = self.since(first.span);
            return self.fail(span, format!("the module `{}` is not part of the language; delete the line", shown(&module)));
        }
        if !self.take_word("import") {
            return self.unexpected("`import` and the names: `from math import sqrt`");
        }
        if self.is("*") {
            let span = self.token().span;
            if module == "hothouse.world" {
                self.advance();
                return Ok(());
            }
            let sample = sample(&module);
            return self
                .fail(span, format!("`*` imports more names than the language has; write the names: `from {module} import {sample}`"));
        }
        let brackets = self.take("(");
        loop {
            let name = self.name("a name to import")?;
            self.check(&module, &name)?;
            if self.is_word("as") {
                return self.fail(self.token().span, format!("a second name is not possible; write `{}` without `as`", name.text));
            }
            if !self.take(",") || (brackets && self.is(")")) {
                break;
            }
        }
        if brackets { self.expect(")", "`)` after the names") } else { Ok(()) }
    }

    fn plain_import(&mut self, first: Token) -> Parsed<()> {
        let module = self.module()?;
        let span = self.since(first.span);
        let advice = match module.as_str() {
            "math" | "numpy" => "; delete the line and write functions without their module: `sqrt(x)`",
            "random" => "; delete the line and write `uniform(low, high)`, `randint(low, high)` or `normal(mean, deviation)`",
            _ => "; delete the line",
        };
        self.fail(span, format!("modules are not part of the language: `import {}`{advice}", shown(&module)))
    }

    /// Parses the name of a module, such as `hothouse.world`.
    fn module(&mut self) -> Parsed<String> {
        let first = self.token();
        if matches!(first.kind, TokenKind::Symbol("." | "...")) {
            return self.fail(first.span, "a file cannot import from other files; copy the function into this file");
        }
        self.name("the name of a module")?;
        while self.take(".") {
            self.name("the name of a module")?;
        }
        Ok(self.code_between(first, self.previous()).split_whitespace().collect())
    }

    /// Fails if the language does not have the imported name, or if the name has another meaning in the module.
    fn check(&mut self, module: &str, name: &Name) -> Parsed<()> {
        let text = name.text.as_str();
        let known = match module {
            "math" => MATH.contains(&text),
            "random" => text == "uniform",
            // `hothouse.world` has the names that its Python function `load` defines for a file, and built-in functions of Python.
            _ => BUILT_IN.contains(&text) || matches!(text, "pi" | "tau"),
        };
        let advice = match (module, text) {
            _ if known => return Ok(()),
            ("math", "fabs") => "delete this name and write `abs(x)`".into(),
            ("math", "hypot") => "delete this name and write `sqrt(x * x + y * y)`".into(),
            ("math", "pow") => "delete this name and write `a ** b`".into(),
            ("random", "randint") => {
                "Python's own function includes `high`, and the language's `randint(low, high)` excludes it; delete this name".into()
            }
            ("random", "gauss" | "normalvariate") => "delete this name and write `normal(mean, deviation)`".into(),
            ("random", "random") => "delete this name and write `uniform(0.0, 1.0)`".into(),
            ("random", "choice") => "delete this name and write `a[randint(0, len(a))]`".into(),
            _ => format!("delete this name; an example of a possible line is `from {module} import {}`", sample(module)),
        };
        self.fail(name.span, format!("`{}` of `{module}` is not part of the language: {advice}", shown(text)))
    }
}

fn sample(module: &str) -> &'static str {
    match module {
        "math" => "sqrt, pi",
        "random" => "uniform",
        _ => "randint, clip",
    }
}
