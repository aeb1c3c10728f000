//! Functions that visit syntax trees: targets of assignments, expressions, and the effects of a block.

use super::super::ast::{Expr, ExprKind, Statement, StatementKind};
use super::super::names::BUILT_IN;
use std::collections::BTreeSet;

/// Calls `f` for every statement of a block and of the blocks within it.
pub fn statements<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Statement)) {
    for statement in body {
        f(statement);
        match &statement.kind {
            StatementKind::If { branches, other } => {
                branches.iter().for_each(|(_, body)| statements(body, f));
                statements(other, f);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => statements(body, f),
            _ => {}
        }
    }
}

/// Calls `f` for every target that a statement assigns, also for targets in tuples. The blocks of the statement are not visited.
pub fn targets<'a>(statement: &'a Statement, f: &mut dyn FnMut(&'a Expr)) {
    fn each<'a>(target: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
        match &target.kind {
            ExprKind::Tuple(all) => all.iter().for_each(|target| each(target, f)),
            _ => f(target),
        }
    }
    match &statement.kind {
        StatementKind::Assign { targets, .. } => targets.iter().for_each(|target| each(target, f)),
        StatementKind::Augment { target, .. } | StatementKind::For { target, .. } => each(target, f),
        _ => {}
    }
}

/// Calls `f` for every expression of a block. Outer expressions come before inner expressions. The targets of comprehensions are not
/// visited.
pub fn expressions<'a>(body: &'a [Statement], f: &mut dyn FnMut(&'a Expr)) {
    statements(body, &mut |statement| match &statement.kind {
        StatementKind::Assign { targets, value } => targets.iter().chain([value]).for_each(|expr| visit(expr, f)),
        StatementKind::Augment { target, value, .. } => [target, value].into_iter().for_each(|expr| visit(expr, f)),
        StatementKind::Expr(expr) | StatementKind::Return(Some(expr)) => visit(expr, f),
        StatementKind::If { branches, .. } => branches.iter().for_each(|(condition, _)| visit(condition, f)),
        StatementKind::For { target, items, .. } => [target, items].into_iter().for_each(|expr| visit(expr, f)),
        StatementKind::While { condition, .. } => visit(condition, f),
        _ => {}
    });
}

/// Calls `f` for an expression and every expression within it, except the targets of comprehensions.
pub fn visit<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    match &expr.kind {
        ExprKind::Attribute { of, .. } | ExprKind::Copy(of) | ExprKind::Negate(of) | ExprKind::Not(of) => visit(of, f),
        ExprKind::Index { of, at } => [of, at].into_iter().for_each(|expr| visit(expr, f)),
        ExprKind::Call { of, arguments } => {
            visit(of, f);
            arguments.iter().for_each(|expr| visit(expr, f));
        }
        ExprKind::Arithmetic { left, right, .. } => [left, right].into_iter().for_each(|expr| visit(expr, f)),
        ExprKind::Compare { first, rest } => {
            visit(first, f);
            rest.iter().for_each(|(_, expr)| visit(expr, f));
        }
        ExprKind::And(all) | ExprKind::Or(all) | ExprKind::List(all) | ExprKind::Tuple(all) => all.iter().for_each(|expr| visit(expr, f)),
        ExprKind::Choose { condition, then, other } => [condition, then, other].into_iter().for_each(|expr| visit(expr, f)),
        ExprKind::Dict(pairs) => pairs.iter().for_each(|(key, value)| {
            visit(key, f);
            visit(value, f);
        }),
        ExprKind::Comprehension { value, loops } => {
            loops.iter().for_each(|(_, items)| visit(items, f));
            visit(value, f);
        }
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Name(_) => {}
    }
}

/// Returns the expression before all indices: `a` of `a[i][j]`.
pub fn base(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Index { of, .. } => base(of),
        _ => expr,
    }
}

/// Effects of a block: the variables that it changes, the functions that it calls, and the random numbers that it draws.
#[derive(Debug, Default)]
pub struct Effects<'a> {
    /// Names that the block assigns.
    pub locals: BTreeSet<&'a str>,
    pub attributes: BTreeSet<&'a str>,
    pub methods: BTreeSet<&'a str>,
    pub functions: BTreeSet<&'a str>,
    pub draws: bool,
    pub returns: bool,
    /// True if the block contains a `break` or `continue`.
    pub breaks: bool,
    /// Number of expressions in the block, as a measure of its size.
    pub size: usize,
}

pub fn effects(body: &[Statement]) -> Effects<'_> {
    let mut effects = Effects::default();
    statements(body, &mut |statement| {
        effects.returns |= matches!(statement.kind, StatementKind::Return(_));
        effects.breaks |= matches!(statement.kind, StatementKind::Break | StatementKind::Continue);
        targets(statement, &mut |target| match &target.kind {
            ExprKind::Name(name) => {
                effects.locals.insert(name);
            }
            ExprKind::Attribute { name, .. } => {
                effects.attributes.insert(&name.text);
            }
            _ => {}
        });
    });
    expressions(body, &mut |expr| add_expression(&mut effects, expr));
    effects
}

pub fn add_expression<'a>(effects: &mut Effects<'a>, expr: &'a Expr) {
    effects.size += 1;
    let ExprKind::Call { of, .. } = &expr.kind else { return };
    match &of.kind {
        ExprKind::Name(name) if matches!(name.as_str(), "uniform" | "randint" | "normal") => effects.draws = true,
        ExprKind::Name(name) => {
            effects.functions.insert(name);
        }
        ExprKind::Attribute { name, .. } => {
            effects.methods.insert(&name.text);
        }
        _ => {}
    }
}

/// Returns true if an expression can have effects besides its value, because the expression calls functions of the file or draws random
/// numbers.
pub fn has_effects(expr: &Expr) -> bool {
    let mut found = false;
    visit(expr, &mut |expr| {
        if let ExprKind::Call { of, .. } = &expr.kind {
            found |=
                !is_built_in(of) || matches!(&of.kind, ExprKind::Name(name) if matches!(name.as_str(), "uniform" | "randint" | "normal"));
        }
    });
    found
}

/// Returns true if a called expression is the name of a built-in function.
pub fn is_built_in(of: &Expr) -> bool {
    matches!(&of.kind, ExprKind::Name(name) if BUILT_IN.contains(&name.as_str()))
}
