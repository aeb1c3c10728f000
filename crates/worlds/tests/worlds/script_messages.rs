//! Messages for files that are not in the language of user environments, and random changes of valid files.

use super::script_parser::CATCH;
use testkit::test;
use worlds::control::script::parse;

/// Returns the errors of a text as `line:column-end message`.
fn errors(text: &str) -> Vec<String> {
    let problems = parse(text).err().unwrap_or_default();
    problems
        .iter()
        .map(|problem| format!("{}:{}-{} {}", problem.span.line, problem.span.column, problem.span.end, problem.message))
        .collect()
}

/// Checks pairs of a text and an expected error. The text must have exactly one error, in the form of [`errors`]. In the expected error,
/// `…` means any characters.
fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        let found = errors(text);
        assert_eq!(found.len(), 1, "{text}\n{found:#?}");
        let mut rest = found[0].as_str();
        for (k, part) in expected.split('…').enumerate() {
            let at = rest.find(part).unwrap_or_else(|| panic!("{text}\nfound: {}\nexpected: {expected}", found[0]));
            assert!(k > 0 || at == 0, "{text}\nfound: {}\nexpected: {expected}", found[0]);
            rest = &rest[at + part.len()..];
        }
    }
}

#[test]
fn unsupported_expressions_have_a_replacement() {
    check(&[
        ("x = {'a': 1}", "1:5-6 dictionaries and sets are not part of the language…list of fixed length"),
        ("x = {1, 2}", "1:5-6 dictionaries and sets"),
        ("class A:\n    table = {'a': 1}", "2:13-14 dictionaries"),
        ("x = a[1:3]", "1:6-9 slices other than `[:]`…`[a[i] for i in range(1, 3)]`"),
        ("x = a[::2]", "1:6-8 slices"),
        ("x = a[1, 2]", "1:8-9 an index is one number…`a[i][j]`"),
        ("a[:] = b", "1:1-5 a value cannot be assigned to `a[:]`"),
        ("x = [i for i in a if i > 0]", "1:19-21 a condition in a list…else 0"),
        ("x = sum(i for i in a)", "1:11-14 generator expressions…`[i * i"),
        ("x = f\"{a}\"", "1:5-6 f-strings…text(x, y, number"),
        ("x = r'a'", "1:5-6 strings have no prefix…delete `r`"),
        ("x = lambda a: a", "1:5-11 `lambda`…`def f(x):`"),
        ("x = f(1, b=2)", "1:10-12 keyword arguments…`b=`; write the values in the order of the function's parameters"),
        ("x = self.f(a, b=n)", "1:15-17 keyword arguments…`b=`; write the values in the order"),
        ("super().reset(seed=1)", "1:1-14 the class has no base class"),
        ("x = self.np_random.integers(low=0, high=3)", "1:5-28 `self.np_random`…`randint(low, high)`"),
        ("f(*args)", "1:3-4 `*` before…one by one"),
        ("a, *b = c", "1:4-5 `*` before"),
        ("f((y := 1))", "1:6-8 `:=`…line of its own"),
        ("if x is None: pass", "1:6-8 `is`…`==`"),
        ("x = None", "1:5-9 `None`…-1"),
        ("x = a & b", "1:7-8 bitwise operators such as `&`…`and`"),
        ("x = a | b", "1:7-8 bitwise operators such as `|`…`or`"),
        ("x = a ^ b", "1:7-8 bitwise operators such as `^`…`a ** b`"),
        ("x = ~a", "1:5-6 bitwise operators such as `~`…`not a`"),
        ("x = a << 2", "1:7-9 bitwise operators such as `<<`…`a * 2 ** b`"),
        ("x >>= 2", "1:3-6 bitwise operators such as `>>`"),
        ("x = a @ b", "1:7-8 the operator `@`…loop"),
        ("x = 3j", "1:5-7 complex numbers"),
        ("x = 'a' 'b'", "1:9-12 two strings…write one string"),
        ("a.append(3)", "1:1-9 `.append()`…fixed length…`[0] * n`"),
        ("x = self.a.pop()", "1:5-15 `.pop()`…fixed length"),
        ("x = a.copy()", "1:5-11 `.copy()`…`a[:]`"),
        ("x = math.sqrt(2)", "1:5-14 modules…`math.sqrt`…`sqrt(…)`"),
        ("x = np.zeros(3)", "1:5-13 modules…`[0.0] * n`"),
        ("x = random.random()", "1:5-18 modules…`uniform(0.0, 1.0)`"),
        ("x = a if b", "1:11-12 the line ends too early…`else`"),
        ("x = ()", "1:5-7 an empty tuple"),
        ("x = a + not b", "1:9-12 `not` needs brackets…`(not a)`"),
        ("x = yield a", "1:5-10 `yield`…`return`"),
        ("x = await a", "1:5-10 `async` and `await`"),
    ]);
}

#[test]
fn unsupported_statements_have_a_replacement() {
    check(&[
        ("try:\n    x = 1\nexcept ValueError:\n    x = 2\nelse:\n    x = 3", "1:1-4 `try` and `except`…`if b != 0:`"),
        ("raise ValueError(1)", "1:1-6 `raise`"),
        ("with a as b:\n    x = 1", "1:1-5 `with`"),
        ("import math", "1:1-12 modules…`import math`…`sqrt(x)`"),
        ("import numpy as np", "1:1-13 modules"),
        ("import os", "1:1-10 modules…delete the line"),
        ("from numpy import array", "1:1-11 the module `numpy`…delete"),
        ("from math import hypot", "1:18-23 `hypot` of `math`…`sqrt(x * x + y * y)`"),
        ("from math import sqrt as root", "1:23-25 a second name"),
        ("from math import *", "1:18-19 `*` imports more…`from math import sqrt, pi`"),
        ("from random import randint", "1:20-27 `randint` of `random`…excludes"),
        ("from . import a", "1:6-7 a file cannot import"),
        ("def f():\n    from math import pi", "2:5-9 an import is only possible at the top"),
        ("@property\ndef f(): pass", "1:1-2 decorators"),
        ("class A(Base):\n    def f(self):\n        return 1", "1:7-14 a class has no base…`class A:`"),
        ("def f(a=3): return a", "1:7-9 default values…`a=`"),
        ("def f(*args): pass", "1:7-8 parameters such as `*args`"),
        ("def f(a, a): pass", "1:10-11 two parameters"),
        ("del x", "1:1-4 `del`"),
        ("def f():\n    global x\n    x = 1", "2:5-11 `global`…`self.x`"),
        ("assert x", "1:1-7 `assert`"),
        ("async def f():\n    return 1", "1:1-6 `async`"),
        ("match x:\n    case 1:\n        y = 1\n    case _:\n        y = 2", "1:1-6 `match`…`elif a == 1:`"),
        ("print(x)", "1:1-6 `print`…`text(x, y, value, \"black\")`"),
        ("print x", "1:1-6 `print`"),
        ("for i in a:\n    pass\nelse:\n    x = 1", "3:1-5 `else` after a loop"),
        ("while a:\n    pass\nelse:\n    x = 1", "3:1-5 `else` after a loop"),
        ("if __name__ == '__main__':\n    f()", "1:1-12 a part for running the file alone…delete"),
        ("def f():\n    def g():\n        return 1", "2:5-8 a function within a function"),
        ("def f():\n    class A:\n        x = 1", "2:5-10 a class is only"),
        ("return 1", "1:1-7 `return` is outside of a function"),
        ("if a:\n    break", "2:5-10 `break` is outside of a loop"),
        ("x == 3", "1:1-7 this comparison has no effect; write `=`"),
        ("x < 3", "1:1-6 this comparison has no effect; write `if`"),
        ("x: int", "1:7-8 the line ends too early…`x: int = 0`"),
        ("a, b += 1", "1:1-5 `+=` changes one variable"),
        ("f(x) = 3", "1:1-5 a value cannot be assigned to a call"),
        ("a + b = 3", "1:1-6 a value cannot be assigned to a calculation"),
        ("class = 3", "1:7-8 `=`"),
        ("x.in = 3", "1:3-5 `in` is a keyword"),
    ]);
}

#[test]
fn slips_have_a_correction() {
    check(&[
        ("if x = 3:\n    y = 1", "1:6-7 `=` assigns…`==`"),
        ("if x > 3\n    y = 1\nelse:\n    y = 2", "1:8-9 `:` is missing…`3:`"),
        ("def f(a)\n    return a", "1:8-9 `:` is missing"),
        ("if x > 3 y = 1", "1:10-11 `y` is not possible here; write `:`"),
        ("if x > 3 then\n    y = 1", "1:10-14 Python writes `:`"),
        ("x = (1 + 2\ny = 3", "1:5-6 `(` is not closed; write `)`"),
        ("x = [1, 2\ndef f():\n    return 1", "1:5-6 `[` is not closed; write `]`"),
        ("if (a:\n    x = 1", "1:4-5 `(` is not closed"),
        ("x = (1 + 2]", "1:11-12 `]` does not close `(` of line 1, column 5; write `)`"),
        ("x = 1)", "1:6-7 `)` closes no bracket"),
        ("x = f(a b)", "1:9-10 a comma or an operator is missing between `a` and `b`"),
        ("x = 1 y", "1:7-8 an operator is missing between `1` and `y`"),
        ("x = 1;", "1:6-7 `;`…own line"),
        ("x = 1; y = 2", "1:6-7 `;`"),
        ("x++", "1:2-4 `++`…`x += 1`"),
        ("x--", "1:2-4 `--`…`x -= 1`"),
        ("if a && b: pass", "1:6-8 `&&`…`and`"),
        ("if a || b: pass", "1:6-8 `||`…`or`"),
        ("if !a: pass", "1:4-5 `!`…`not`"),
        ("if a === b: pass", "1:6-9 `===`…`==`"),
        ("x = a ? b : c", "1:7-8 `?`…`a if condition else b`"),
        ("x = true", "1:5-9 `true`…`True`"),
        ("x = null", "1:5-9 `null`…-1"),
        ("this.x = 1", "1:1-5 `this`…`self`"),
        ("let x = 3", "1:1-4 a variable needs no declaration"),
        ("function f(x):\n    return x", "1:1-9 a function begins with `def`"),
        ("if (a) {\n    x = 1\n} else {\n    x = 2\n}\ny = 1", "1:8-9 a block has no braces"),
        ("if a:\n    x = 1\nelse if b:\n    x = 2", "3:1-8 Python writes `elif`"),
        ("for (i = 0; i < 3; i++):\n    x = 1", "1:5-6 a loop over numbers…`for i in range(10):`"),
        ("// comment", "1:1-3 `//` divides…`#`"),
        ("/* comment */", "1:1-14 `/*`…`#`"),
        ("else:\n    x = 1", "1:1-5 `else` has no `if`"),
        ("if a:\nx = 1", "1:1-3 `if` has no block"),
        ("x = 1\n    y = 2", "2:1-5 this line is indented"),
        ("if a:\n    if b:\n        x = 1\n      y = 2\n      z = 3\nw = 1", "4:1-7 this line is indented by 6 columns…by 4 or by 8"),
        ("if a:\n    x = 1\n\ty = 2", "3:1-2 this line is indented by tabs, and line 2 by spaces"),
        ("if a:\n \tx = 1", "2:1-3 this line is indented by tabs and spaces"),
        ("x = 3000000000", "1:5-15 `3000000000` does not fit…2147483647"),
        ("x = 2147483648", "1:5-15 `2147483648` does not fit"),
        ("x = 1e39", "1:5-9 `1e39` is too large"),
        ("x = 007", "1:5-8 an integer does not begin with 0…`7`"),
        ("x = 0xff", "1:5-9 hexadecimal numbers…`255`"),
        ("x = 1__0", "1:5-9 `_` is only possible between two digits…`10`"),
        ("x = 2a", "1:5-7 `2a` is not a number…`2 * a`"),
        ("x = 'abc", "1:5-9 the string 'abc is not closed"),
        ("x = '''abc\ny = 1", "1:5-11 the string '''abc is not closed before the end of the file"),
        ("x = 'a\\d'", "1:7-9 `\\d` is not possible"),
        ("größe = 1", "1:1-6 the name `größe` contains `ö`"),
        ("x = a − b", "1:7-8 `−`…write `-`"),
        ("x = “a”", "1:5-6 `“`…write `\"`"),
        ("x = 1 \\ + 2", "1:7-8 `\\` is only possible"),
        ("x = 1 + \\ \n  2", "1:9-10 a `\\` that joins two lines"),
        ("x = a $ b", "1:7-8 the character `$`"),
    ]);
}

#[test]
fn several_errors_are_reported_in_order() {
    let text = "x = {}\nif a = 1:\n    y = lambda: 1\n    z = $\nprint(1)\nfor i in range(3)\n    i += 1;\n";
    let lines: Vec<String> = errors(text).iter().map(|error| error.split(':').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(lines, ["1", "2", "3", "4", "5", "6", "7"]);
    let many = errors(&"x = None\n".repeat(50));
    assert_eq!(many.len(), 20);
    assert!(many[19].starts_with("20:5-9 "), "{}", many[19]);
    let located = |text: &str| parse(text).unwrap_err()[0].located(text);
    let shown = located("\n\nx = None");
    assert!(shown.starts_with("line 3, column 5: `None` is not part of the language; write"), "{shown}");
    let shown = located("\r\nx = 'ß' + a[1:3]");
    assert!(shown.starts_with("line 2, column 12, at `[1:`: slices other"), "{shown}");
}

/// Words and symbols that are inserted into valid files.
#[cfg(not(target_arch = "wasm32"))]
const PIECES: [&str; 40] = [
    "\n",
    "\n    ",
    "\n\t",
    "    ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "=",
    "==",
    "**",
    "-",
    "not ",
    " if ",
    " else ",
    " for ",
    " in ",
    "def f(x):",
    "class A:",
    "return ",
    "lambda x: ",
    "elif a:",
    "while 1:",
    "try:",
    "match x:",
    "import ",
    "from ",
    "\"",
    "'''",
    "\\",
    "#",
    ";",
    "@",
    "1e9",
    "99999999999",
    "ö",
];

#[cfg(not(target_arch = "wasm32"))] // too slow
#[test]
fn scripts_fuzz() {
    let valid = "n = 4\nfrom math import pi\n\ndef turn(a: list):\n\treturn a\n\nclass W:\n\tactions = Box(2, -1.0, 1.0)\n\
        \tdef reset(self):\n\t\tself.g = [[0] * n for i in range(n)]\n\t\twhile True:\n\t\t\tfor i, v in enumerate(self.g[0]):\n\
        \t\t\t\tif not (0 <= i < n and v != 1) or i in self.g[:]: break\n\t\t\t\telif v: continue\n\t\t\t\telse:\n\t\t\t\t\tpass\n";
    let good = [CATCH, valid];
    for text in good {
        assert_eq!(errors(text), Vec::<String>::new(), "{text}");
    }
    testkit::fuzz("script", testkit::cases(3000), |mutator| {
        let mut text = (*mutator.one_of(&good)).to_owned();
        for _ in 0..mutator.below(4) {
            let mut at = mutator.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let piece: &str = mutator.one_of::<&str>(&PIECES);
            text.insert_str(at, piece);
        }
        if mutator.below(2) == 0 {
            text = mutator.text(&text);
        }
        let lines: Vec<usize> = text.replace("\r\n", "\n").split(['\n', '\r']).map(|line| line.chars().count()).collect();
        let Err(problems) = parse(&text) else { return };
        assert!(!problems.is_empty() && problems.len() <= 20, "{text}");
        assert!(problems.is_sorted_by_key(|problem| problem.span), "{problems:?}\n{text}");
        for problem in problems {
            let span = problem.span;
            let length =
                (span.line as usize).checked_sub(1).and_then(|line| lines.get(line)).unwrap_or_else(|| panic!("{problem:?}\n{text}"));
            // An error at the end of a line is in the column after the last character of the line.
            assert!(1 <= span.column && span.column < span.end && span.end as usize <= length + 2, "{problem:?}\n{text}");
            assert!(problem.message.len() > 20, "{problem:?}");
        }
    });
}
