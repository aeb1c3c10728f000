//! Parts of a file: constants, functions, and the class with its attributes and methods.

use super::super::ast::{Expr, ExprKind, File, Function, Name, Statement, StatementKind};
use super::super::error::{Problem, Span};
use super::super::names::{ACTIONS, BUILT_IN};
use super::survey::{self, Effects};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A function or method.
pub struct Definition<'a> {
    pub function: &'a Function,
    pub is_method: bool,
    /// Names that the function assigns, and its parameters.
    pub locals: BTreeSet<&'a str>,
    /// Names that the function assigns.
    pub assigned: HashSet<&'a str>,
    /// Names of lists that need consecutive rows, because the function changes them or reads them at a computed index.
    pub in_memory: HashSet<&'a str>,
    /// Names of lists whose elements the function may change, also through the functions to which it passes them.
    pub changed: HashSet<&'a str>,
    /// Variables that the function passes to functions of the file.
    passes: Vec<Pass<'a>>,
    pub returns_value: bool,
}

impl<'a> Definition<'a> {
    /// Returns the parameters, except `self`.
    pub fn parameters(&self) -> &'a [Name] {
        self.function.parameters.get(usize::from(self.is_method)..).unwrap_or_default()
    }
}

/// A variable that is an argument of a call.
struct Pass<'a> {
    name: &'a str,
    to_method: bool,
    function: &'a str,
    /// Index of the argument.
    index: usize,
}

pub struct Outline<'a> {
    pub constants: Vec<&'a Statement>,
    pub functions: BTreeMap<&'a str, Definition<'a>>,
    /// Span of the class's name. If the file has no class, the span is the start of the file.
    pub class: Span,
    pub has_class: bool,
    pub class_constants: Vec<&'a Statement>,
    pub methods: BTreeMap<&'a str, Definition<'a>>,
    /// Effects of each method, without those of the functions and methods that it calls.
    pub effects: HashMap<&'a str, Effects<'a>>,
    /// Effects of each function, without those of the functions that it calls.
    pub function_effects: HashMap<&'a str, Effects<'a>>,
    /// Attributes that a method assigns, each with the span of one of its assignments.
    pub attributes: BTreeMap<&'a str, Span>,
}

fn problem(span: Span, message: impl Into<String>) -> Problem {
    Problem { span, message: message.into() }
}

impl<'a> Outline<'a> {
    /// Collects the parts of a file. If `whole` is false, the syntax tree lacks parts of the file, so a missing class is not reported.
    pub fn of(file: &'a File, whole: bool, problems: &mut Vec<Problem>) -> Outline<'a> {
        let start = Span { line: 1, column: 1, end: 2 };
        let mut outline = Outline {
            constants: Vec::new(),
            functions: BTreeMap::new(),
            class: start,
            has_class: false,
            class_constants: Vec::new(),
            methods: BTreeMap::new(),
            effects: HashMap::new(),
            function_effects: HashMap::new(),
            attributes: BTreeMap::new(),
        };
        for statement in &file.body {
            match &statement.kind {
                StatementKind::Assign { .. } => outline.constants.push(statement),
                StatementKind::Function(function) => define(&mut outline.functions, function, false, problems),
                StatementKind::Class { name, body } => {
                    if outline.has_class {
                        problems.push(problem(name.span, "a file has one class; delete this one, or move its methods to the other"));
                    } else {
                        (outline.class, outline.has_class) = (name.span, true);
                        outline.class_of(body, problems);
                    }
                }
                StatementKind::Pass | StatementKind::Expr(Expr { kind: ExprKind::Text(_), .. }) => {}
                _ if whole => problems.push(problem(statement.span, OUTSIDE)),
                _ => {}
            }
        }
        if whole && !outline.has_class {
            problems.push(problem(start, "the file has no class; write `class World:` with the methods `reset`, `step` and `observe`"));
        }
        outline.check_parameters(problems);
        outline.survey();
        outline
    }

    fn class_of(&mut self, body: &'a [Statement], problems: &mut Vec<Problem>) {
        for statement in body {
            match &statement.kind {
                StatementKind::Assign { .. } => self.class_constants.push(statement),
                StatementKind::Function(function) => define(&mut self.methods, function, true, problems),
                // The parser has reported other statements.
                _ => {}
            }
        }
    }

    /// Checks that the methods that the language calls have the right parameters.
    fn check_parameters(&self, problems: &mut Vec<Problem>) {
        for (name, head) in METHODS {
            let Some(Definition { function, .. }) = self.methods.get(name) else { continue };
            if function.parameters.len() != head.matches(',').count() + 1 {
                problems.push(problem(function.name.span, format!("`{name}` has other parameters; write `{head}`")));
            }
        }
    }

    /// Checks that `reset` returns no value.
    pub fn check_reset(&self, problems: &mut Vec<Problem>) {
        let Some(reset) = self.methods.get("reset") else { return };
        survey::statements(&reset.function.body, &mut |statement| {
            if let StatementKind::Return(Some(_)) = statement.kind {
                problems.push(problem(statement.span, "`reset` returns nothing; delete the value, and write the observation in `observe`"));
            }
        });
    }

    /// Checks that `step` reads its action.
    pub fn check_step(&self, problems: &mut Vec<Problem>) {
        let Some(step) = self.methods.get("step") else { return };
        let Some(action) = step.function.parameters.get(1) else { return };
        let mut is_read = false;
        survey::expressions(&step.function.body, &mut |expr| is_read |= matches!(&expr.kind, ExprKind::Name(name) if *name == action.text));
        if !is_read {
            let name = &action.text;
            problems.push(problem(
                action.span,
                format!("`step` does not read `{name}`, so no action changes anything; use it, such as `self.x += {name}`"),
            ));
        }
    }

    /// Returns the names of the numbers of an observation: the code of the elements, if `observe` ends with `return [a, b, …]`.
    pub fn observation_names(&self, text: &str) -> Vec<String> {
        let last = self.methods.get("observe").and_then(|observe| observe.function.body.last());
        let Some(StatementKind::Return(Some(Expr { kind: ExprKind::List(items), .. }))) = last.map(|statement| &statement.kind) else {
            return Vec::new();
        };
        let lines: Vec<&str> = text.lines().collect();
        let mut read: HashMap<u32, Vec<char>> = HashMap::new();
        let mut code = |Span { line, column, end }: Span| {
            let characters =
                read.entry(line).or_insert_with(|| lines.get(line as usize - 1).map_or(Vec::new(), |line| line.chars().collect()));
            let code = characters.get(column as usize - 1..end as usize - 1).unwrap_or_default();
            let code = code.iter().collect::<String>().replace("self.", "");
            // The span of an expression excludes a bracket at its start or end.
            let [opened, closed] = ['(', ')'].map(|bracket| code.matches(bracket).count());
            "(".repeat(closed.saturating_sub(opened)) + &code + &")".repeat(opened.saturating_sub(closed))
        };
        items.iter().map(|item| code(item.span)).collect()
    }

    /// Checks that the class has the required attribute and methods.
    pub fn require(&self, problems: &mut Vec<Problem>) {
        let has_actions = self.class_constants.iter().any(|statement| {
            let mut found = false;
            survey::targets(statement, &mut |target| found |= matches!(&target.kind, ExprKind::Name(name) if name == "actions"));
            found
        });
        let mut missing = Vec::new();
        if !has_actions {
            missing.push(("attribute `actions`".to_owned(), ACTIONS.to_owned()));
        }
        for (name, head) in METHODS.iter().take(REQUIRED).filter(|(name, _)| !self.methods.contains_key(name)) {
            missing.push((format!("method `{name}`"), format!("`{head}`")));
        }
        if !missing.is_empty() {
            let (parts, code): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
            let message = format!("the class has no {}; write {}", parts.join(" and no "), code.join(", and "));
            problems.push(problem(self.class, message));
        }
    }

    fn survey(&mut self) {
        for (_, method) in self.methods.iter() {
            survey::statements(&method.function.body, &mut |statement| {
                survey::targets(statement, &mut |target| {
                    if let Some((name, span)) = attribute(target) {
                        self.attributes.entry(name).or_insert(span);
                    }
                });
            });
        }
        let effects = |(name, of): (&&'a str, &Definition<'a>)| (*name, survey::effects(&of.function.body));
        self.effects = self.methods.iter().map(effects).collect();
        self.function_effects = self.functions.iter().map(effects).collect();
        self.follow_changes();
    }

    fn definition(&mut self, is_method: bool, name: &str) -> Option<&mut Definition<'a>> {
        if is_method { self.methods.get_mut(name) } else { self.functions.get_mut(name) }
    }

    /// Completes the names of changed lists: a function changes the lists that it passes to a function that changes them.
    fn follow_changes(&mut self) {
        type Variable<'a> = (bool, &'a str, &'a str);
        let (mut givers, mut changed): (HashMap<Variable<'a>, Vec<Variable<'a>>>, Vec<Variable<'a>>) = Default::default();
        for (caller, of) in self.functions.iter().chain(&self.methods) {
            changed.extend(of.changed.iter().map(|name| (of.is_method, *caller, *name)));
            for pass in &of.passes {
                let all = if pass.to_method { &self.methods } else { &self.functions };
                if let Some(parameter) = all.get(pass.function).and_then(|of| of.parameters().get(pass.index)) {
                    let to = (pass.to_method, pass.function, parameter.text.as_str());
                    givers.entry(to).or_default().push((of.is_method, caller, pass.name));
                }
            }
        }
        while let Some(parameter) = changed.pop() {
            for giver in givers.remove(&parameter).unwrap_or_default() {
                if self.definition(giver.0, giver.1).is_some_and(|of| of.changed.insert(giver.2)) {
                    changed.push(giver);
                }
            }
        }
    }
}

/// Methods that the language calls, with their first lines. The first [`REQUIRED`] are required.
const METHODS: [(&str, &str); 5] = [
    ("reset", "def reset(self):"),
    ("step", "def step(self, action):"),
    ("observe", "def observe(self):"),
    ("mask", "def mask(self):"),
    ("draw", "def draw(self):"),
];
const REQUIRED: usize = 3;

const OUTSIDE: &str = "outside of functions and the class, a file has constants only; move this line to a function or method";

fn define<'a>(all: &mut BTreeMap<&'a str, Definition<'a>>, function: &'a Function, is_method: bool, problems: &mut Vec<Problem>) {
    let name = function.name.text.as_str();
    if is_method && function.parameters.first().is_none_or(|first| first.text != "self") {
        let others: String = function.parameters.iter().map(|parameter| format!(", {}", parameter.text)).collect();
        problems.push(problem(function.name.span, format!("the first parameter of a method is `self`; write `def {name}(self{others}):`")));
    }
    if name.starts_with("__") {
        let advice = match name {
            "__init__" => "move its constants to the class, such as `n = 5`, and its other lines to `reset`",
            _ => "write another name, or delete it",
        };
        problems.push(problem(function.name.span, format!("`{name}` is never called; {advice}")));
    }
    if !is_method && BUILT_IN.contains(&name) {
        problems.push(problem(function.name.span, format!("`{name}` is a function of the language; write another name")));
    }
    if all.contains_key(name) {
        problems.push(problem(function.name.span, format!("there are two functions `{name}`; write another name for one")));
        return;
    }
    let (mut assigned, mut in_memory, mut changed, mut passes) = (HashSet::new(), HashSet::new(), HashSet::new(), Vec::new());
    let mut returns_value = false;
    survey::statements(&function.body, &mut |statement| {
        returns_value |= matches!(statement.kind, StatementKind::Return(Some(_)));
        survey::targets(statement, &mut |target| match &target.kind {
            ExprKind::Name(name) => {
                assigned.insert(name.as_str());
            }
            ExprKind::Index { .. } => {
                if let ExprKind::Name(name) = &survey::base(target).kind {
                    changed.insert(name.as_str());
                }
            }
            _ => {}
        });
    });
    survey::expressions(&function.body, &mut |expr| match &expr.kind {
        ExprKind::Index { of, at } if !matches!(at.kind, ExprKind::Int(_)) => {
            if let ExprKind::Name(name) = &survey::base(of).kind {
                in_memory.insert(name.as_str());
            }
        }
        ExprKind::Call { of, arguments } if !survey::is_built_in(of) => {
            let (to_method, function) = match &of.kind {
                ExprKind::Name(name) => (false, name.as_str()),
                ExprKind::Attribute { name, .. } => (true, name.text.as_str()),
                _ => return,
            };
            for (index, argument) in arguments.iter().enumerate() {
                if let ExprKind::Name(name) = &argument.kind {
                    in_memory.insert(name.as_str());
                    passes.push(Pass { name, to_method, function, index });
                }
            }
        }
        _ => {}
    });
    in_memory.extend(changed.iter());
    let locals = function.parameters.iter().map(|parameter| parameter.text.as_str()).chain(assigned.iter().copied()).collect();
    all.insert(name, Definition { function, is_method, locals, assigned, in_memory, changed, passes, returns_value });
}

/// Returns the name and the span of an attribute, if the target is the attribute or one of its elements.
pub fn attribute(target: &Expr) -> Option<(&str, Span)> {
    match &survey::base(target).kind {
        ExprKind::Attribute { of, name } if matches!(&of.kind, ExprKind::Name(of) if of == "self") => Some((&name.text, name.span)),
        _ => None,
    }
}
