//! Messages for code that is not part of the language, and for valid code in the wrong place. A word, a name or a symbol of the code
//! selects the message. Most messages give the code to write instead; some only say which code to delete.

use crate::control::script::names::{BUILT_IN, random, replacement};
use crate::control::script::token::shown;

/// Returns the message for code that is not possible at its place.
pub fn found(code: &str, expected: &str) -> String {
    format!("`{}` is not possible here; write {expected}", shown(code))
}

/// Returns the message for a symbol that is not part of the language, or for a common misuse of a symbol. Returns `None` for other symbols.
pub fn symbol(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        ";" => "`;` is not part of the language; write each statement on its own line and delete `;`",
        "&&" => "`&&` is not an operator of Python; write `and`",
        "||" => "`||` is not an operator of Python; write `or`",
        "!" => "`!` is not an operator of Python; write `not`",
        "?" => "`?` is not an operator of Python; write `a if condition else b`",
        "===" => "`===` is not an operator of Python; write `==`",
        "!==" | "<>" => "Python writes `!=` for \"not equal\"; write `!=`",
        "=>" => "`=>` is not part of the language; write a function with `def`, or `>=` to compare",
        "=" => "`=` assigns a value, which is not possible here; write `==` to compare",
        ":=" => "`:=` is not part of the language; assign by `=` in a line of its own before this line",
        "&" | "&=" => "bitwise operators such as `&` are not part of the language; write `and` for conditions, or `a % 2` for the last bit",
        "|" | "|=" => "bitwise operators such as `|` are not part of the language; write `or` for conditions",
        "^" | "^=" => "bitwise operators such as `^` are not part of the language; write `a ** b` for a power, or `a != b` for conditions",
        "~" => "bitwise operators such as `~` are not part of the language; write `not a` for a condition",
        "<<" | "<<=" => "bitwise operators such as `<<` are not part of the language; write `a * 2 ** b`",
        ">>" | ">>=" => "bitwise operators such as `>>` are not part of the language; write `a // 2 ** b`",
        "@" | "@=" => "the operator `@` is not part of the language; write a loop over the elements: `total += a[i] * b[i]`",
        "..." => "`...` is not part of the language; write `pass` for an empty block",
        "+=" | "-=" | "*=" | "/=" | "//=" | "%=" | "**=" => {
            "an assignment such as `+=` is a statement of one variable; write it in a line of its own: `x += 1`"
        }
        "//" => "`//` divides and rounds down, and needs a value on both sides; write `#` to begin a comment",
        "{" => "dictionaries and sets are not part of the language; write a list of fixed length: `[0, 1, 2]`",
        _ => return None,
    })
}

/// Returns the message for a keyword that is not part of the language, or for a common misuse of a keyword. Returns `None` for other words.
pub fn word(word: &str) -> Option<&'static str> {
    Some(match word {
        "lambda" => "`lambda` is not part of the language; write a function: `def f(x):` and `return` with the value",
        "None" => "`None` is not part of the language; write a number that means \"nothing\", such as -1",
        "is" => "`is` is not part of the language; write `==`, or `!=` for `is not`",
        "await" | "async" => "`async` and `await` are not part of the language; delete the word: a function returns its value at once",
        "yield" => "`yield` is not part of the language; write `return`, with a list of all values",
        "try" | "except" | "finally" => "`try` and `except` are not part of the language; test the value before you use it: `if b != 0:`",
        "raise" => "`raise` is not part of the language; end the episode: `return -1.0, True` in `step`",
        "with" => "`with` is not part of the language; delete the line, and write its block without indentation",
        "del" => "`del` is not part of the language; set the value to a number that means \"nothing\", such as -1",
        "global" | "nonlocal" => {
            "`global` and `nonlocal` are not part of the language; delete the line, and write a changing value as an attribute: `self.x`"
        }
        "assert" => "`assert` is not part of the language; delete the line, or write `if` with the condition",
        "import" | "from" => "`import` is not possible here; delete the line: functions such as `sqrt(x)` need no import",
        "elif" => "`elif` has no `if` above it with the same indentation; write `if`, or indent the line as its `if`",
        "else" => "`else` has no `if` above it with the same indentation; indent the line as its `if`",
        "if" => "`if` is not possible here; write a condition in a line of its own: `if x > 0:`, or a value as `a if x > 0 else b`",
        "for" => {
            "`for` is not possible here; write a loop in a line of its own: `for i in range(3):`, or a list as `[i for i in range(3)]`"
        }
        "def" | "class" => "a definition begins a line; write it in a line of its own",
        "return" | "pass" | "break" | "continue" | "while" => "a statement begins a line; write it in a line of its own",
        "not" => "`not` needs brackets after an operator; write `(not a)`",
        _ => return None,
    })
}

/// Returns the message for a name that the language lacks, such as `null` or `print`; `None` for other names. `next` is the code of the
/// token after the name.
pub fn name(name: &str, next: &str) -> Option<String> {
    let instead = match name {
        "true" | "TRUE" => "True",
        "false" | "FALSE" => "False",
        "null" | "NULL" | "nil" | "none" | "undefined" => {
            return Some(format!("`{name}` is not part of the language; write a number that means \"nothing\", such as -1"));
        }
        "this" if next == "." => "self",
        "print" if next == "(" => {
            return Some("`print` is not part of the language; draw the value in `draw`: `text(x, y, value, \"black\")`".into());
        }
        _ => return None,
    };
    Some(format!("`{name}` is not a word of Python; write `{instead}`"))
}

/// Returns the message for a name that begins a statement of Python or of another language, such as `let`. The caller must check that a
/// name or a value follows.
pub fn beginning(name: &str) -> Option<&'static str> {
    Some(match name {
        "print" => "`print` is not part of the language; draw the value in `draw`: `text(x, y, value, \"black\")`",
        "match" | "switch" | "case" => "`match` is not part of the language; write `if a == 0:`, `elif a == 1:` and `else:`",
        "let" | "var" | "const" | "int" | "float" | "bool" | "double" => "a variable needs no declaration; write `x = 0`",
        "function" | "func" | "fn" | "fun" => "a function begins with `def`; write `def f(x):`",
        "elseif" | "elsif" => "Python writes `elif`; write `elif condition:`",
        "do" => "Python has no `do` loop; write `while condition:`",
        "foreach" => "Python writes `for`; write `for x in items:`",
        "type" => "type definitions are not part of the language; delete the line: types are inferred",
        "new" => "`new` is not a word of Python; delete it",
        _ => return None,
    })
}

/// Returns the message for a name of a Python module, such as `np.zeros`; `None` if the module is unknown. `name` is the name after the
/// point, and `next` is the name after a second point, or empty.
pub fn module(module: &str, name: &str, next: &str) -> Option<String> {
    let is_random = module == "random" || (name == "random" && !next.is_empty());
    let instead = match (module, name) {
        ("math" | "np" | "numpy", "pi" | "tau") => format!("`{name}`"),
        ("math" | "np" | "numpy", "inf") => "a large number: `1e9`".into(),
        ("math" | "np" | "numpy" | "random", _) if is_random => {
            random(if module == "random" { name } else { next }).unwrap_or(ANY_RANDOM).into()
        }
        ("math" | "np" | "numpy", _) if BUILT_IN.contains(&name) => format!("the function without its module: `{name}(…)`"),
        ("math" | "np" | "numpy", _) => {
            replacement(name).map_or_else(|| format!("a function above the class: `def {}(a, b):`", shown(name)), String::from)
        }
        _ => return None,
    };
    Some(format!("modules are not part of the language: `{module}.{}`; write {instead}", shown(name)))
}

const ANY_RANDOM: &str = "`uniform(low, high)`, `randint(low, high)` or `normal(mean, deviation)`";

pub const SLICE: &str = "slices other than `[:]` are not part of the language; write a list, `[a[i] for i in range(1, 3)]`, or, if its \
                         length varies, a loop: `for i in range(start, stop):`";
/// Returns the message for the base of a class. `name` is the name of the class.
pub fn base(base: &str, name: &str) -> String {
    let advice = match base {
        _ if base.ends_with("Env") => {
            " with `actions = 4`, `limit = 500`, `reset(self)`, `step(self, action)` that returns `reward, over`, and `observe(self)` that \
             returns a list of numbers"
        }
        _ if is_exception(base) => return "a file has one class; return a number that means \"not possible\", such as -1".into(),
        _ => "",
    };
    format!("a class has no base class in the language; write `class {}:`{advice}", shown(name))
}

pub fn is_exception(base: &str) -> bool {
    base.ends_with("Exception") || base.ends_with("Error")
}

pub const SUPER: &str = "the class has no base class; delete the call of `super`";

/// Returns the message for a method of Gymnasium's random number generator, such as `self.np_random.integers`. `name` is the method.
pub fn generator(name: &str) -> String {
    format!("`self.np_random` is not part of the language; write {}", random(name).unwrap_or(ANY_RANDOM))
}

/// Returns the message for a method of lists, such as `append`; `None` for other methods.
pub fn method(name: &str) -> Option<String> {
    let advice = match name {
        "append" | "insert" | "extend" | "push" => {
            "a list has a fixed length; create it with its largest length: `[0] * n`, and count its elements in a variable"
        }
        "pop" | "remove" | "clear" => "a list has a fixed length; count its elements in a variable, and decrease the count",
        "reverse" => "a list has no methods; write `[a[n - 1 - i] for i in range(n)]`, with a constant `n`",
        "sort" | "index" | "count" => "a list has no methods; write a loop over its elements",
        "copy" => "a list has no methods; write `a[:]` for a copy",
        _ => return None,
    };
    Some(format!("`.{name}()` is not part of the language: {advice}"))
}
