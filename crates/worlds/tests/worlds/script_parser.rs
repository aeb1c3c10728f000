//! Syntax trees of files in the language of user environments. Expressions are compared with Python's `ast`
//! (tests/golden/script_expressions.py).

use serde_json::Value;
use testkit::test;
use worlds::control::script::ast::{Arithmetic, Comparison, Expr, ExprKind, Function, Statement, StatementKind};
use worlds::control::script::{error::Span, parse};

const EXPRESSIONS: &str = include_str!("../../../../tests/golden/script_expressions.json");

/// A complete file of an environment.
pub const CATCH: &str = r#""""Catch what falls."""
width, height = 10, 12

class World:
    actions = 3                      # or Box(2, -1.0, 1.0)
    limit = 500                      # steps until an episode is cut off
    solved = 9.0                     # mean return, optional
    keys = {"ArrowLeft": 0, "ArrowRight": 2}

    def reset(self):
        self.paddle = width // 2
        self.x = randint(0, width)
        self.y = 0

    def step(self, action):
        self.paddle = clip(self.paddle + action - 1, 0, width - 1)
        self.y += 1
        if self.y < height - 1:
            return 0.0, False
        caught = abs(self.paddle - self.x) <= 1
        return (1.0 if caught else -1.0), True

    def observe(self):
        return [self.x / width, self.y / height, self.paddle / width]

    def draw(self):
        rect(self.paddle - 1, height - 1, 3, 1, "green")
        circle(self.x, self.y, 0.4, "red")
"#;

fn sign(op: Arithmetic) -> &'static str {
    match op {
        Arithmetic::Add => "+",
        Arithmetic::Subtract => "-",
        Arithmetic::Multiply => "*",
        Arithmetic::Divide => "/",
        Arithmetic::FloorDivide => "//",
        Arithmetic::Remainder => "%",
        Arithmetic::Power => "**",
    }
}

fn comparison(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterEqual => ">=",
        Comparison::In => "in",
        Comparison::NotIn => "not-in",
    }
}

fn several<'a>(name: &str, all: impl IntoIterator<Item = &'a Expr>) -> String {
    let parts: Vec<String> = all.into_iter().map(tree).collect();
    format!("({})", [&[name.to_owned()][..], parts.as_slice()].concat().join(" "))
}

fn pairs<A>(all: &[(A, Expr)], show: impl Fn(&A) -> String) -> String {
    all.iter().map(|(a, b)| format!("{} {}", show(a), tree(b))).collect::<Vec<_>>().join(" ")
}

/// Writes an expression as the golden file does.
fn tree(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(true) => "True".into(),
        ExprKind::Bool(false) => "False".into(),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Attribute { of, name } => format!("(. {} {})", tree(of), name.text),
        ExprKind::Index { of, at } => several("at", [&**of, at]),
        ExprKind::Copy(of) => several("copy", [&**of]),
        ExprKind::Call { of, arguments } => several("call", std::iter::once(&**of).chain(arguments)),
        ExprKind::Negate(of) => several("-", [&**of]),
        ExprKind::Not(of) => several("not", [&**of]),
        ExprKind::Arithmetic { op, left, right } => several(sign(*op), [&**left, right]),
        ExprKind::Compare { first, rest } => format!("(compare {} {})", tree(first), pairs(rest, |op| comparison(*op).into())),
        ExprKind::And(all) => several("and", all),
        ExprKind::Or(all) => several("or", all),
        ExprKind::Choose { condition, then, other } => several("if", [&**condition, then, other]),
        ExprKind::List(all) => several("list", all),
        ExprKind::Tuple(all) => several("tuple", all),
        ExprKind::Dict(all) => format!("(dict {})", pairs(all, tree)),
        ExprKind::Comprehension { value, loops } => {
            format!("(each {} {})", tree(value), pairs(loops, |target| format!("for {}", tree(target))))
        }
    }
}

fn block(body: &[Statement]) -> String {
    format!("{{{}}}", body.iter().map(statement).collect::<Vec<_>>().join("; "))
}

fn statement(of: &Statement) -> String {
    match &of.kind {
        StatementKind::Assign { targets, value } => {
            format!("{} = {}", targets.iter().map(tree).collect::<Vec<_>>().join(" = "), tree(value))
        }
        StatementKind::Augment { target, op, value } => format!("{} {}= {}", tree(target), sign(*op), tree(value)),
        StatementKind::Expr(expr) => tree(expr),
        StatementKind::If { branches, other } => {
            let branches: Vec<String> =
                branches.iter().map(|(condition, body)| format!("if {} {}", tree(condition), block(body))).collect();
            format!("{} else {}", branches.join(" el"), block(other))
        }
        StatementKind::For { target, items, body } => format!("for {} in {} {}", tree(target), tree(items), block(body)),
        StatementKind::While { condition, body } => format!("while {} {}", tree(condition), block(body)),
        StatementKind::Return(value) => format!("return {}", value.as_ref().map(tree).unwrap_or_default()),
        StatementKind::Break => "break".into(),
        StatementKind::Continue => "continue".into(),
        StatementKind::Pass => "pass".into(),
        StatementKind::Function(Function { name, parameters, body }) => {
            let parameters: Vec<&str> = parameters.iter().map(|name| name.text.as_str()).collect();
            format!("def {}({}) {}", name.text, parameters.join(", "), block(body))
        }
        StatementKind::Class { name, body } => format!("class {} {}", name.text, block(body)),
    }
}

/// Parses a text and writes its statements.
fn read(text: &str) -> String {
    let file = parse(text).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
    file.body.iter().map(statement).collect::<Vec<_>>().join("; ")
}

#[test]
fn expressions_have_the_trees_of_python() {
    let golden: Value = serde_json::from_str(EXPRESSIONS).unwrap();
    let golden = golden.as_array().unwrap();
    assert!(golden.len() >= 500);
    for pair in golden {
        let (text, expected) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        assert_eq!(read(&format!("x = {text}")), format!("x = {expected}"), "{text}");
    }
}

#[test]
fn statements_have_their_trees() {
    let table = [
        ("x = 3", "x = 3"),
        ("x: int = 3", "x = 3"),
        ("x: list[list[float]] | None = 3", "x = 3"),
        ("a = b = 1", "a = b = 1"),
        ("a, (b, c) = 1, (2, 3)", "(tuple a (tuple b c)) = (tuple 1 (tuple 2 3))"),
        ("x = 1,", "x = (tuple 1)"),
        ("x **= 2\nx //= 3", "x **= 2; x //= 3"),
        ("x = -2147483648", "x = -2147483648"),
        ("x = 1_000 + 0_0 + 1e3 + .5 + 1_0.2_5e-1", "x = (+ (+ (+ (+ 1000 0) 1000.0) 0.5) 1.025)"),
        (r#"x = 'it\'s' "#, r#"x = "it's""#),
        (r#"x = "a\tb\\\"\n""#, r#"x = "a\tb\\\"\n""#),
        ("x = '''a\n  'b' \"c\"'''", r#"x = "a\n  'b' \"c\"""#),
        ("x = \"größe 漢\"  # größe 漢", "x = \"größe 漢\""),
        ("x = (1 +  # one\n\n  2)\ny = [\n1,\n2,\n]", "x = (+ 1 2); y = (list 1 2)"),
        ("x = 1 + \\\n  2", "x = (+ 1 2)"),
        ("if a: x = 1\nelif b: x = 2\nelse: pass", "if a {x = 1} elif b {x = 2} else {pass}"),
        ("if a:\n  if b:\n    x = 1\n# comment\n  else:\n    x = 2\ny = 1", "if a {if b {x = 1} else {x = 2}} else {}; y = 1"),
        ("if a:\n\tx = 1\n\tif b:\n\t\ty = 2\nz = 3", "if a {x = 1; if b {y = 2} else {}} else {}; z = 3"),
        ("if a:\r\n  x = 1\r\n\r\ny = 1\r\n", "if a {x = 1} else {}; y = 1"),
        ("\u{feff}x = 1", "x = 1"),
        ("for i in range(3):\n  break", "for i in (call range 3) {break}"),
        ("for i, v in enumerate(p):\n  continue", "for (tuple i v) in (call enumerate p) {continue}"),
        ("for (i, v) in p: pass", "for (tuple i v) in p {pass}"),
        ("while x < 3:\n  x += 1", "while (compare x < 3) {x += 1}"),
        ("def f():\n  \"\"\"Doc.\"\"\"\n  return", "def f() {return }"),
        ("def f(a: int, b,) -> tuple[int, float]:\n  return a, b", "def f(a, b) {return (tuple a b)}"),
        ("class A():\n  'Doc.'\n  keys = {'a': [0.0, 1.0],\n  'b': 1,}", "class A {keys = (dict \"a\" (list 0.0 1.0) \"b\" 1)}"),
        ("class A:\n  def pop(self): self.append(self.pop())", "class A {def pop(self) {(call (. self append) (call (. self pop)))}}"),
        ("from math import sqrt, pi\nfrom random import uniform\nfrom hothouse.world import *\nfrom math import (sin,\n cos,)", ""),
        ("from hothouse.world import Box, enumerate", ""),
        ("f(1, 2,)\nf()", "(call f 1 2); (call f)"),
        ("match = 1\nx = match + 1", "match = 1; x = (+ match 1)"),
        ("", ""),
        ("\n  # comment\n\n", ""),
    ];
    for (text, expected) in table {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_whole_file_is_read() {
    let file = parse(CATCH).unwrap();
    assert_eq!(file.doc.as_deref(), Some("Catch what falls."));
    let expected = [
        "(tuple width height) = (tuple 10 12); class World {actions = 3; limit = 500; solved = 9.0; ",
        "keys = (dict \"ArrowLeft\" 0 \"ArrowRight\" 2); ",
        "def reset(self) {(. self paddle) = (// width 2); (. self x) = (call randint 0 width); (. self y) = 0}; ",
        "def step(self, action) {(. self paddle) = (call clip (- (+ (. self paddle) action) 1) 0 (- width 1)); (. self y) += 1; ",
        "if (compare (. self y) < (- height 1)) {return (tuple 0.0 False)} else {}; ",
        "caught = (compare (call abs (- (. self paddle) (. self x))) <= 1); return (tuple (if caught 1.0 (- 1.0)) True)}; ",
        "def observe(self) {return (list (/ (. self x) width) (/ (. self y) height) (/ (. self paddle) width))}; ",
        "def draw(self) {(call rect (- (. self paddle) 1) (- height 1) 3 1 \"green\"); ",
        "(call circle (. self x) (. self y) 0.4 \"red\")}}",
    ];
    assert_eq!(read(CATCH), expected.concat());
}

#[test]
fn spans_count_characters() {
    let file = parse("text(\"漢字\", x)\ny = f(1,\n      2)\n").unwrap();
    let at = |line, column, end| Span { line, column, end };
    assert_eq!(file.body[0].span, at(1, 1, 14));
    let StatementKind::Expr(Expr { kind: ExprKind::Call { arguments, .. }, .. }) = &file.body[0].kind else { panic!("{file:?}") };
    assert_eq!((arguments[0].span, arguments[1].span), (at(1, 6, 10), at(1, 12, 13)));
    // The span of a statement of two lines ends at the end of its first line.
    let StatementKind::Assign { value, .. } = &file.body[1].kind else { panic!("{file:?}") };
    assert_eq!((file.body[1].span, value.span), (at(2, 1, 9), at(2, 5, 9)));
}

#[test]
fn the_size_of_trees_is_limited() {
    let brackets = |count: usize| format!("x = {}1{}", "(".repeat(count), ")".repeat(count));
    let sum = |count: usize| format!("x = {}1", "1 + ".repeat(count));
    let ifs =
        |count: usize| (0..=count).map(|k| format!("{}{}\n", " ".repeat(k), if k < count { "if a:" } else { "x = 1" })).collect::<String>();
    for good in [brackets(49), sum(99), ifs(49), format!("x = [{}]", "1, ".repeat(30_000)), "x = 1\n".repeat(15_000)] {
        assert!(parse(&good).is_ok(), "{good:.100}");
    }
    for bad in [brackets(51), brackets(20_000), sum(101), sum(20_000), ifs(51), ifs(400), "x = ".to_owned() + &"-".repeat(90_000)] {
        assert_eq!(parse(&bad).unwrap_err().len(), 1, "{bad:.100}");
    }
    let long = parse(&"x = 1\n".repeat(20_000)).unwrap_err();
    assert_eq!(long.len(), 1);
    assert!(long[0].message.contains("120000 bytes"), "{}", long[0].message);
    // The time must not grow faster than the length of the text.
    for piece in [
        "(", "[", "{", "}", "x[", "f(", "not ", "- ", "a.", "a if ", "\\", "\\ ", "'", "\"\"\"", "$", ";", "é", "1e", "0x", "if a:",
        "\n\tx", "\n(",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        assert!(parse(&text).is_err_and(|problems| problems.len() <= 20), "{piece}");
    }
}
