//! Messages of the compiler for files that the parser accepts.

use super::script_fleet::{OBSERVE, TEMPLATES, compiled, file};
use worlds::control::script::{Choice, Type, compile};

/// Returns the errors of a text as `line:column message`.
pub fn errors(text: &str) -> Vec<String> {
    let problems = compile(text).err().unwrap_or_default();
    problems.iter().map(|problem| format!("{}:{} {}", problem.span.line, problem.span.column, problem.message)).collect()
}

/// Returns true if a file has exactly one error, and if the text of this error matches `expected`. `…` separates the parts of `expected`.
/// The error must begin with the first part, and contain the other parts in their order.
fn has_error(text: &str, expected: &str) -> bool {
    let found = errors(text);
    let [error] = found.as_slice() else { return false };
    let mut rest = error.as_str();
    expected.split('…').enumerate().all(|(k, part)| {
        let at = rest.find(part);
        rest = at.map_or(rest, |at| &rest[at + part.len()..]);
        at.is_some_and(|at| k > 0 || at == 0)
    })
}

/// Checks that each file has exactly one error, and that this error is the expected error.
fn check(table: &[(String, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter(|(text, expected)| !has_error(text, expected))
        .map(|(text, expected)| format!("{text}\nexpected: {expected}\nfound: {:#?}", errors(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Returns a file with a body of `step`. The body begins in line 7 and column 9.
pub fn with_step(body: &str) -> String {
    file("self.x = 0\nself.y = 0.5", &format!("{body}\nreturn 0.0, False"), OBSERVE)
}

#[test]
fn names_and_types_have_a_correction() {
    let table = [
        ("a = b", "7:13 there is no variable `b`; assign it before"),
        ("width = 3\na = widht", "8:13 there is no variable `widht`; write `width`"),
        ("a = self.z", "7:18 there is no attribute `self.z`; assign it in `reset`"),
        ("self.speed = self.x", "7:14 `reset` does not assign `self.speed`"),
        ("a = x", "7:13 `x` is an attribute; write `self.x`"),
        ("a = step", "7:13 `step` is a method; write `self.step(…)`"),
        ("a = sqrt", "7:13 `sqrt` is a function; write its arguments in brackets"),
        ("a = self", "7:13 `self` has attributes and methods only"),
        ("a = action.x", "7:13 only `self` has attributes"),
        ("a = sqr(3)", "7:13 there is no function `sqr`; write `sqrt(…)`"),
        ("a = observe()", "7:13 `observe` is a method; write `self.observe(…)`"),
        ("a = self.obs()", "7:18 there is no method `obs`"),
        ("a = b\nb = 3", "7:13 `b` has no value yet"),
        ("if self.x > 0:\n    a = 1\nb = a", "9:13 `a` has no value on some paths"),
        ("for i in range(self.x):\n    a = i\nb = a", "9:13 `a` has no value on some paths"),
        ("for i in range(3):\n    if i == self.x:\n        break\n    a = i\nb = a", "11:13 `a` has no value on some paths"),
        ("a = 1\na = [1, 2]", "8:9 `a` is an integer at another place, and a list of 2 elements here"),
        ("a = [1, 2]\na = [1, 2, 3]", "8:9 `a` is a list of 2 elements at another place, and a list of 3 elements here"),
        ("self.x = [1, 2]", "7:9 `self.x` is an integer at another place, and a list of 2 elements here"),
        ("a = [1, 2] + 3", "7:13 lists are joined by `a + b`"),
        ("a = [1, 2] - [1]", "7:13 an operator works on numbers, not on lists"),
        ("a = [1, 2]\nb = a", "8:13 a list has one name; write `a[:]`"),
        ("a = [1, 2] > 3", "7:13 a number is needed here, and this is a list of 2 elements"),
        ("if [1, 2]:\n    pass", "7:12 a number is needed here, and this is a list"),
        ("a = 1, 2\nb = a + 1", "8:13 a number is needed here, and this is a tuple of 2 values"),
        ("a, b = 1, 2, 3", "7:9 the right side has 3 values for 2 targets"),
        ("a, b = 3", "7:9 2 targets need 2 values, but the right side is an integer"),
        ("a = [1, 2][0.5]", "7:20 an integer is needed here, and this is a float"),
        ("a = [1, 2][2]", "7:20 the index 2 is outside of the list, which has 2 elements; use -2 to 1"),
        ("a = [1, 2][0][0]", "7:13 the list has one dimension; write one index"),
        ("a = 3\nb = a[0]", "8:13 an index needs a list, and this is an integer"),
        ("a = [[1, 2], [3, 4]]\na[0] = 5", "8:9 the list has two dimensions, with 2 columns; write two indices"),
        ("a = [1, [2, 3]]", "7:13 the elements of a list have one type"),
        ("a = [0] * self.x", "7:13 the length of a list is constant"),
        ("a = [0] * 5000", "7:13 a list has 1 to 4096 elements, and this one has 5000"),
        ("a = [i for i in range(self.x)]", "7:13 the length of a list is constant"),
        ("for i in 3:\n    pass", "7:18 a loop needs a list or a range, and this is an integer"),
        ("for i in range(0, 9, self.x):\n    pass", "7:18 the step of this range is not constant"),
        ("for i in range(0, 9, 0):\n    pass", "7:18 the step of this range is 0"),
        ("a = 2 ** self.x", "7:13 a power of integers needs a constant exponent"),
        ("a = sqrt(1, 2)", "7:13 `sqrt` has 2 arguments; write one number"),
        ("a = clip(1, 2)", "7:13 `clip` has 2 arguments; write `clip(x, low, high)`"),
        ("a = range(3)", "7:13 `range` is possible in `for` only"),
        ("a = \"red\" + 1", "7:13 a number is needed here, and this is a text"),
        ("self.x = \"red\"", "7:9 `self.x` cannot be a text"),
        ("a = self.reset()", "7:9 this function returns no value"),
        ("self.step(1)", "7:9 `step` calls itself"),
        ("rect(0, 0, 1, 1, \"red\")", "7:9 `rect` draws a shape, which is possible in `draw` only"),
        ("self.x", "7:9 this value has no effect"),
        ("a = 1 if self.x > 0 else [1]", "7:13 the two values are an integer and a list of 1 element"),
        ("a = 1 in 2", "7:18 `in` needs a list"),
        ("a = min(3)", "7:13 `min` needs two or more numbers, or a list"),
        ("a = len(3)", "7:17 `len` needs a list"),
        ("a = [1, 2]\na += [3]", "8:9 a list has a fixed length"),
    ];
    check(&table.map(|(body, expected)| (with_step(body), expected)));
}

#[test]
fn parts_of_a_file_have_a_correction() {
    let (reset, step) = ("self.x = 0\nself.y = 0", "return 0.0, False");
    let good = file(reset, step, OBSERVE);
    let after = |more: &str| format!("{good}{more}");
    let with = |from: &str, to: &str| good.replacen(from, to, 1);
    check(&[
        ("x = 1\n".to_owned(), "1:1 the file has no class; write `class World:`"),
        (good.replace("        action\n", ""), "6:20 `step` does not read `action`, so no action changes anything"),
        (format!("{good}\nclass B:\n    pass\n"), "12:7 a file has one class"),
        (format!("{good}\nfor i in range(3):\n    pass\n"), "12:1 outside of functions and the class, a file has constants only"),
        (format!("x = f()\n{good}"), "1:5 there is no function `f`"),
        (format!("x = 1 // 0\n{good}"), "1:5 this constant cannot be computed"),
        (format!("x = uniform(0, 1)\n{good}"), "1:5 random numbers cannot be drawn outside of methods"),
        (with("    actions = 3\n", ""), "1:7 the class has no attribute `actions`"),
        (after("    def __init__(self):\n        self.x = 1\n"), "11:9 `__init__` is never called; move its constants to the class"),
        ("a = [[[0, 1], [2, 3]]]".to_owned() + "\n" + &good, "1:5 a list has at most two dimensions; write one list for each"),
        (with("actions = 3", "actions = 0"), "2:15 `actions` is the number of choices"),
        (with("actions = 3", "actions = Box(2, 1.0, 1.0)"), "2:15 `actions` is the number of choices, or a box"),
        (with("actions = 3", "actions = 3\n    limit = 0"), "3:13 `limit` is a number of steps from 1 to 1000000"),
        (with("actions = 3", "actions = 3\n    keys = {\"a\": 3}"), "3:18 the action of a key is an integer from 0 to 2"),
        (with("actions = 3", "actions = 3\n    names = [1, 2]"), "3:13 `names` has the names of the choices"),
        (with("actions = 3", "actions = 3\n    size = 3"), "3:12 `size` is the size of the picture"),
        (
            good.replace("self.x", "self.speed").replace("return 0.0", "return self.sped"),
            "7:21 there is no attribute `self.sped`; write `self.speed`",
        ),
        (with("actions = 3", "actions = 3\n    x = 3"), "5:9 `x` is a constant of the class"),
        (
            good.replace("self.x", "self.hunger").replace("return 0.0", "self.hungr += 1\n        return 0.0"),
            "7:14 `reset` does not assign `self.hungr`; did you mean `self.hunger`? If not, write `self.hungr = 0` in `reset`",
        ),
        (
            format!("def f():\n    return self.x\n\n{}", with("return 0.0", "return f()")),
            "2:12 only methods have `self`; pass `self.x` as an argument, or write a method",
        ),
        (with("def reset(self)", "def begin(self)"), "1:7 the class has no method `reset`; write `def reset(self):`"),
        (with("def step(self, action)", "def step(self)"), "6:9 `step` has other parameters; write `def step(self, action):`"),
        (with("self.x = 0", "self.x = self.y"), "4:23 `self.y` has no value yet"),
        (with("self.x = 0", "if randint(0, 2) > 0:\n            self.x = 0"), "5:18 some paths through `reset` do not assign `self.x`"),
        (with("return 0.0, False", "return 0.0"), "6:9 `step` returns a float; write `return reward, over`"),
        (
            with("return 0.0, False\n        action", "if action > 0:\n            return 0.0, False"),
            "6:9 some paths through `step` return no value",
        ),
        (with("return 0.0, False\n        action", "pass"), "6:9 `step` returns no value"),
        (with("return [self.x, self.y]", "return self.x"), "9:9 `observe` returns an integer; return a list"),
        (with("return [self.x, self.y]", "self.x = 1\n        return [1]"), "10:9 `observe` changes no attribute"),
        (with("return [self.x, self.y]", "return [randint(0, 3)]"), "10:17 `observe` draws no random numbers"),
        (
            after("    def mask(self):\n        return [True, False]\n"),
            "11:9 `mask` returns a list of 2 elements; return a list of 3 bools",
        ),
        (
            after("    def draw(self):\n        rect(0, 0, 1, 1, \"rde\")\n"),
            "12:26 `rde` is not a colour; write another, for example `\"red\"`",
        ),
        (after("    def draw(self):\n        polygon([0, 0, 1, 1], \"red\")\n"), "12:17 a polygon needs a list of x and y"),
        (after("    def f(self):\n        return g(3)\n"), "12:16 there is no function `g`"),
        (after("    def f():\n        return 3\n"), "11:9 the first parameter of a method is `self`; write `def f(self):`"),
        (after("    def reset(self):\n        pass\n"), "11:9 there are two functions `reset`"),
        (format!("a = [1, 2]\n{}", with("return 0.0, False", "a[0] = 3\n        return 0.0, False")), "8:9 `a` is a constant; copy it"),
        (
            format!("def f(x):\n    if x > 0:\n        return 1\n\n{}", with("return 0.0", "return f(action)")),
            "1:5 some paths through `f` return no value",
        ),
        (
            format!("def f(x):\n    return g(x)\n\ndef g(x):\n    return f(x)\n\n{}", with("return 0.0", "return f(action)")),
            "5:12 `f` calls itself, perhaps through other functions",
        ),
        (format!("def f(x):\n    return x\n\n{}", with("return 0.0", "return f(1, 2)")), "10:16 `f` needs 1 argument, and this call has 2"),
    ]);
}

#[test]
fn several_errors_are_reported_in_order() {
    let found = errors(&file("self.x = a\nself.y = 0", "b = c\nself.z = 1\nreturn d, False", OBSERVE));
    let places: Vec<&str> = found.iter().map(|error| error.split(' ').next().unwrap()).collect();
    assert_eq!(places, ["4:18", "7:13", "8:14", "9:16"], "{found:#?}");
    let many: String = (0..50).map(|k| format!("a{k} = none{k}\n")).collect();
    assert_eq!(errors(&file("self.x = 0\nself.y = 0", &format!("{many}return 0.0, False"), OBSERVE)).len(), 20);
}

#[test]
fn programs_have_a_largest_size() {
    let calls: String = (0..40).map(|k| format!("def f{k}(x):\n    return f{}(x) + f{}(x + 1)\n\n", k + 1, k + 1)).collect();
    let text = format!("{calls}def f40(x):\n    return x\n\n{}", file("self.x = 0\nself.y = 0", "return f0(action), False", OBSERVE));
    assert!(errors(&text)[0].contains("make the program too large"), "{:?}", errors(&text));
    let loops = "for i in range(300):\n    for j in range(300):\n        for k in range(300):\n            self.x = (self.x + i * j) % 7";
    let text = file("self.x = 0\nself.y = 0", &format!("{loops}\nreturn 0.0, False"), OBSERVE);
    assert!(errors(&text)[0].contains("make the program too large"), "{:?}", errors(&text));
}

#[test]
fn types_are_the_widest_assigned() {
    let reset = "self.x = 1\nself.y = False\nself.a = [0] * 4\nself.b = [[True] * 3 for i in range(2)]\nself.c = 0";
    let step = "self.x += 0.5\nself.y = action\nself.a[action] = 0.5\nfill(self.b)\nfor i in range(3):\n    self.c = self.c + 1\n\
        return self.x, self.c > 4";
    let world = compiled(&format!("def fill(grid):\n    grid[0][1] = 7\n\n{}", file(reset, step, OBSERVE)));
    let types: Vec<(&str, Type, usize)> = world.attributes.iter().map(|of| (of.name.as_str(), of.ty, of.len)).collect();
    let expected = [("a", Type::Float, 4), ("b", Type::Int, 6), ("c", Type::Int, 1), ("x", Type::Float, 1), ("y", Type::Int, 1)];
    assert_eq!(types, expected);
    assert_eq!((world.observation_len(), world.mask_len(), world.action_len()), (2, 0, 1));
    assert_eq!(world.state_len(), 4 + 12 + 2 + 1 + 2);
}

#[test]
fn class_attributes_describe_the_environment() {
    let text = file("self.x = 0\nself.y = 0", "return 0.0, False", OBSERVE);
    let declared = "actions = Box(2, -1.0, 2)\n    limit = 7\n    solved = -3\n    keys = {\"a\": [0.5, 1]}\n    speed = 2.5 * n";
    let meta = compiled(&format!("\"\"\"Doc.\"\"\"\nwidth, height, n = 4, 6, 2\n{}", text.replace("actions = 3", declared))).meta;
    assert_eq!((meta.doc.as_str(), meta.actions), ("Doc.", Choice::Box { count: 2, low: -1.0, high: 2.0 }));
    assert_eq!((meta.limit, meta.solved, meta.size), (7, Some(-3.0), [4.0, 6.0]));
    assert_eq!((meta.keys, meta.names), (vec![("a".to_owned(), vec![0.5, 1.0])], vec![]));
}

/// In Python, a row is a part of the list. In the language, a row is a copy. Each change that would not reach the list is therefore an
/// error.
#[test]
fn lists_with_two_names_and_changes_of_rows_are_errors() {
    let grid = |body: &str| file("self.a = [[1, 2], [3, 4]]\nself.x = 0\nself.y = 0.5", &format!("{body}\nreturn 0.0, False"), OBSERVE);
    let copy = "this list is a copy of a row, and the row would not change; write both indices: `a[i][j] = …`";
    let table = [
        ("for row in self.a:\n    row[0] += 1", format!("9:13 {copy}")),
        ("for i, row in enumerate(self.a):\n    row[i] = 1", format!("9:13 {copy}")),
        ("row = self.a[1]\nrow[0] = 5", format!("9:9 {copy}")),
        ("row = self.a[action]\nrow[0] = 5", format!("9:9 {copy}")),
        ("row = self.a[0] if action > 0 else self.a[1]\nrow[0] = 5", format!("9:9 {copy}")),
        ("b = self.a", "8:13 a list has one name; write `[row[:] for row in self.a]` for a copy".into()),
        ("b = self.a if action > 0 else self.a", "8:13 a list has one name; write `[row[:] for row in self.a]`".into()),
        // The refused variable is not reported again.
        ("b = self.a\nself.x = b[0][0]", "8:13 a list has one name".into()),
        ("b, c = self.a, 1", "8:16 a list has one name".into()),
        ("r = [1, 2]\nb = [r, r]", "9:14 a list has one name; write `r[:]`".into()),
        ("b = [row for row in self.a]", "8:14 a list has one name; write `row[:]`".into()),
        ("b = [[0] * 2] * 3", "8:13 in Python, the repeated rows are one list".into()),
    ];
    check(&table.each_ref().map(|(body, expected)| (grid(body), expected.as_str())));
    let helper = format!("def bump(cars):\n    cars[0] += 1\n\n\n{}", grid("bump(self.a[1])"));
    check(&[(helper, "2:5 this list is a copy of a row")]);
    for body in [
        "row = self.a[1][:]\nrow[0] = 5",
        "for row in self.a:\n    self.x = row[0]",
        "b = [row[:] for row in self.a]\nb[0][0] = 1",
        "b = [[self.x, 1], [2, action]]\nb[0][0] = 1",
        "b = [[x for x in row] for row in self.a]\nb[0][0] = 1",
        "bump(self.a[1][:])\nbump(self.a[0][:])",
    ] {
        let text = format!("def bump(cars):\n    cars[0] += 1\n\n\n{}", grid(body));
        assert_eq!(errors(&text), [""; 0], "{body}");
    }
}

#[test]
fn functions_of_python_have_a_replacement() {
    let table = [
        ("a = random()", "7:13 there is no function `random`; write `uniform(0.0, 1.0)`"),
        ("a = choice([1, 2])", "7:13 there is no function `choice`; write `a[randint(0, len(a))]`"),
        ("a = log2(3)", "7:13 there is no function `log2`; write `log(x) / log(2)`"),
        ("a = sorted([2, 1])", "7:13 there is no function `sorted`; write a loop over the indices"),
        ("a = list(range(3))", "7:13 there is no function `list`; write `[i for i in range(n)]`"),
        ("a = (1, 2)[0]", "7:13 an index needs a list, and this is a tuple of 2 values; assign its values to variables: `a, b = …`"),
        (
            "a = [1, 2] == [1, 2, 3]",
            "7:23 a list of 2 elements cannot be compared with a list of 3 elements; compare two lists of numbers with equal lengths",
        ),
    ];
    check(&table.map(|(body, expected)| (with_step(body), expected)));
    let good = with_step("");
    let after = |more: &str| format!("{good}{more}");
    let drawn = |colour: &str| {
        format!("COLOURS = [\"red\", \"gold\"]\n{}", after(&format!("    def draw(self):\n        rect(0, 0, 1, 1, {colour})\n")))
    };
    for colour in ["COLOURS[self.x]", "COLOURS[0]", "\"red\" if self.x > 0 else \"gold\""] {
        let text = drawn(colour);
        assert!(has_error(&text, "14:26 `gold` is not a colour…The colours are black, gray"), "{colour}: {:?}", errors(&text));
    }
    check(&[(
        good.replacen("actions = 3", "actions = 3\n    names = [\"left\", \"right\"]", 1),
        "3:5 `names` has 2 names, and there are 3 choices",
    )]);
}

#[test]
fn lists_are_compared_element_by_element() {
    let text = file(
        "self.a = [[1, 2], [1, 2], [1, 3]]\nself.x = 0\nself.y = 0.5",
        "self.x = 0\nif self.a[0] == self.a[action]:\n    self.x = 1\nif self.a[0] != [1.0, 2.5]:\n    self.x += 10\nreturn 0.0, False",
        OBSERVE,
    );
    let mut world = (compiled(&text).kind("f").twin)();
    for (action, expected) in [(0.0, 11.0), (1.0, 11.0), (2.0, 10.0)] {
        world.advance(&[action], [0.0; 2]);
        assert_eq!(world.state()[6], expected, "action {action}: {:?}", world.state());
    }
}

#[test]
fn observations_have_one_length_of_at_most_1024() {
    let observed = |body: &str| file("self.x = 0\nself.y = 0", "return 0.0, False", &format!("    def observe(self):\n{body}"));
    let two = observed("        if self.x > 0:\n            return [self.x]\n        return [self.x, self.y]\n");
    check(&[
        (two, "11:13 this function returns a list of 2 elements at another place, and a list of 1 element here"),
        (observed("        return [self.x] * 1025\n"), "9:9 `observe` returns a list of 1025 elements; return a list of 1 to 1024 numbers"),
    ]);
    assert_eq!(compiled(&observed("        return [self.x] * 1024\n")).observation_len(), 1024);
}

/// Later lines follow a wrong indentation, so their errors are not reported.
#[test]
fn a_wrong_indentation_is_one_error() {
    for (name, text) in TEMPLATES.into_iter().take(if testkit::all() { TEMPLATES.len() } else { 2 }) {
        let lines: Vec<&str> = text.lines().collect();
        for k in 0..lines.len() {
            for by in 1..=4 {
                let [more, less] = [format!("{:by$}{}", "", lines[k]), lines[k].get(by..).unwrap_or_default().into()];
                for line in [more, less] {
                    if line.trim() == lines[k].trim() {
                        let text = [&lines[..k], &[&line], &lines[k + 1..]].concat().join("\n") + "\n";
                        let found = errors(&text);
                        assert!(found.len() <= 1, "{name}, line {}: {line}\n{found:#?}", k + 1);
                    }
                }
            }
        }
    }
}
