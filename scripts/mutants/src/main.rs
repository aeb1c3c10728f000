//! Prints the mutants of some sources, one JSON object per line: `{ file, start, end, line, what, to }`. Bytes `start` to `end` are an
//! expression or a statement, and `what` describes the change. `to` is a replacement that usually compiles; it is empty if a statement is
//! removed. Tests, constants and macros are skipped, because a mutant is switched on at run time.

use serde_json::json;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, Stmt, UnOp};

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
}

impl Finder<'_> {
    fn of(&self, part: &impl Spanned) -> &str {
        &self.text[part.span().byte_range()]
    }

    fn found(&self, part: &impl Spanned, what: &str, to: String) {
        let Range { start, end } = part.span().byte_range();
        let line = part.span().start().line;
        println!("{}", json!({ "file": self.file, "start": start, "end": end, "line": line, "what": what, "to": to }));
    }

    fn binary(&self, expr: &syn::ExprBinary) {
        let (left, op, right) = (self.of(&expr.left), self.of(&expr.op), self.of(&expr.right));
        if has_let(&expr.left) || has_let(&expr.right) {
            return; // an operand that binds names (`let`) cannot be changed alone
        }
        let other = match expr.op {
            BinOp::Add(_) => "-",
            BinOp::Sub(_) => "+",
            BinOp::Mul(_) => "/",
            BinOp::Div(_) | BinOp::Rem(_) => "*",
            BinOp::And(_) => "||",
            BinOp::Or(_) => "&&",
            BinOp::BitAnd(_) => "|",
            BinOp::BitOr(_) | BinOp::BitXor(_) => "&",
            BinOp::Shl(_) => ">>",
            BinOp::Shr(_) => "<<",
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::AddAssign(_) => "-=",
            BinOp::SubAssign(_) => "+=",
            BinOp::MulAssign(_) => "/=",
            BinOp::DivAssign(_) | BinOp::RemAssign(_) => "*=",
            BinOp::BitAndAssign(_) => "|=",
            BinOp::BitOrAssign(_) | BinOp::BitXorAssign(_) => "&=",
            _ => return,
        };
        self.found(expr, &format!("{op} is {other}"), format!("{left} {other} {right}"));
    }

    fn literal(&self, expr: &syn::ExprLit) {
        let other = match &expr.lit {
            Lit::Int(int) => match int.base10_parse::<u128>() {
                Ok(value) => format!("{}{}", value + 1, int.suffix()),
                Err(_) => return,
            },
            Lit::Float(float) => match float.base10_parse::<f64>() {
                Ok(0.0) => format!("1.0{}", float.suffix()),
                Ok(value) => format!("{:?}{}", 2.0 * value, float.suffix()),
                Err(_) => return,
            },
            Lit::Bool(bool) => (!bool.value).to_string(),
            _ => return,
        };
        self.found(expr, &format!("{} is {other}", self.of(expr)), other);
    }

    fn method(&self, expr: &syn::ExprMethodCall) {
        let name = expr.method.to_string();
        let other = match name.as_str() {
            "min" => "max",
            "max" => "min",
            "is_some" => "is_none",
            "is_none" => "is_some",
            "any" => "all",
            "all" => "any",
            "is_ok" => "is_err",
            "is_err" => "is_ok",
            "abs" | "sqrt" | "rev" | "ln" | "exp" if expr.args.is_empty() => "",
            _ => return,
        };
        let Range { start, end } = expr.span().byte_range();
        let method = expr.method.span().byte_range();
        if other.is_empty() {
            self.found(expr, &format!("no .{name}()"), self.of(&expr.receiver).to_string());
        } else {
            let to = format!("{}{other}{}", &self.text[start..method.start], &self.text[method.end..end]);
            self.found(expr, &format!(".{name}() is .{other}()"), to);
        }
    }

    fn condition(&self, cond: &Expr) {
        if !has_let(cond) {
            self.found(cond, "the condition always holds", "true".into());
            self.found(cond, "the condition never holds", "false".into());
        }
    }
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn only_tests(attrs: &[syn::Attribute]) -> bool {
    let wasm_or_test = |text: &str| text.contains("test") || text.contains("wasm32");
    attrs.iter().any(|attr| match &attr.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && wasm_or_test(&list.tokens.to_string()),
        meta => meta.path().is_ident("test"),
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(binary) => self.binary(binary),
            Expr::Lit(lit) => self.literal(lit),
            Expr::MethodCall(call) => self.method(call),
            Expr::If(branch) => self.condition(&branch.cond),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                self.found(unary, &format!("no {}", self.of(&unary.op)), self.of(&unary.expr).to_string());
                if matches!(*unary.expr, Expr::Lit(_)) {
                    return;
                }
            }
            Expr::Const(_) => return,
            // The length of an array is a constant, which is skipped.
            Expr::Repeat(repeat) => return self.visit_expr(&repeat.expr),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(expr @ (Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_)), Some(_)) = stmt {
            self.found(expr, "left out", String::new());
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !only_tests(&item.attrs) && item.sig.constness.is_none() {
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !only_tests(&item.attrs) && item.sig.constness.is_none() {
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !only_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !only_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

fn main() {
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).expect("a source");
        let parsed = syn::parse_file(&text).expect("Rust");
        Finder { file: &file, text: &text }.visit_file(&parsed);
    }
}
