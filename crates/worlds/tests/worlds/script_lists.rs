//! Lists of user files, with the results of Python: names of lists, copies, rows, lists that are replaced while they are in use, and the
//! order of evaluation. Code that the compiled form cannot follow is an error.

use super::script_checks::errors;
use super::script_fleet::{OBSERVE, Worlds, compiled, file, programs_about_lists};
use math::Isa;
use worlds::control::script::compile;

/// Functions and constants of each file.
const PARTS: &str = "\
n = 3
table = [4, 1, 7]
board = [[1, 2], [3, 4]]

def total(l):
    result = 0
    for x in l:
        result = result * 10 + x
    return result

def copied(l):
    l = l[:]
    l[0] += 10
    return l[0]

def replaced(l, k):
    if k > 0:
        l = [x + 1 for x in l]
    return total(l)

def bump(l):
    l[0] += 1
    return l[0]

def through(l):
    return bump(l)

def two(a, b):
    a[0] = 7
    return b[0]

def fill(l):
    l[0] = 0.5
    return l[1]

";

const METHODS: &str = "    def m(self):
        self.v = [9, 8, 7]
        return 1
    def some(self, k):
        if k > 0:
            self.v = [9, 8, 7]
        return 1
    def touch(self):
        self.v[0] = 5
        return 1
    def given(self, l):
        self.v = [9, 8, 7]
        return total(l) * 1000 + total(self.v)
    def rowed(self):
        self.g[0][0] = 6
        return 1
";

const RESET: &str = "self.v = [1, 2, 3]\nself.w = [4, 5, 6]\nself.g = [[1, 2], [3, 4]]\nself.i = 0\nself.x = 0\nself.y = 0";

fn text(step: &str) -> String {
    format!("{PARTS}{}", file(RESET, &format!("{step}\nreturn 0.0, False"), &format!("{OBSERVE}{METHODS}")))
}

/// Returns `self.x` and `self.y` after one step. The action is 1.
fn outcome(step: &str) -> [f32; 2] {
    let mut found = Vec::new();
    for isa in [Isa::best(), Isa::Portable] {
        let mut worlds = Worlds::new(&compiled(&text(step)), isa, 1, 0, 40);
        (0..40).for_each(|env| worlds.act(env, &[1.0]));
        worlds.step();
        assert_eq!(worlds.fault(), None, "{step}");
        found.push(worlds.shown(39));
    }
    assert_eq!(found[0], found[1], "{step}");
    [found[0][0], found[0][1]]
}

fn check(table: &[(&str, [f32; 2])]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(step, expected)| (step, expected, outcome(step)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(step, expected, found)| format!("{step}\nexpected: {expected:?}, found: {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Checks that each body of `step` has one error, which contains the given part.
fn check_errors(table: &[(&str, &str)]) {
    for (step, part) in table {
        let found = errors(&text(step));
        assert!(found.len() == 1 && found[0].contains(part), "{step}\nexpected: {part}\nfound: {found:#?}");
    }
}

#[test]
fn a_list_that_is_replaced_while_in_use_keeps_its_elements() {
    check(&[
        ("for x in self.v:\n    self.v = [9, 9, 9]\n    self.x = self.x * 10 + x\nself.y = self.v[0]", [123.0, 9.0]),
        ("for k in range(1 + self.i):\n    for x in self.v:\n        self.v = [9, 9, 9]\n        self.x = self.x * 10 + x", [123.0, 0.0]),
        ("for x in self.v:\n    self.x = self.x * 10 + x\n    self.y += self.m()", [123.0, 3.0]),
        ("a = [1, 2, 3]\na[0] = 4\nfor x in a:\n    a = [9, 9, 9]\n    self.x = self.x * 10 + x\nself.y = a[0]", [423.0, 9.0]),
        ("self.x = self.v[self.m()]\nself.y = self.v[1]", [2.0, 8.0]),
        ("self.x = self.v[self.some(action - 1)]\nself.y = self.v[self.some(action)]", [2.0, 2.0]),
        ("self.x = int(self.v == [self.m(), 2, 3])\nself.y = self.v[0]", [1.0, 9.0]),
        ("self.x = total(self.v + [self.m()])\nself.y = self.v[0]", [1231.0, 9.0]),
        ("self.x = total([y * self.m() for y in self.v])\nself.y = self.v[0]", [123.0, 9.0]),
        ("self.x = two(self.v[:], [self.m(), 2])\nself.y = replaced(self.v, self.m())", [1.0, 1098.0]),
        ("self.x = total(self.v) * 10 + self.m()\nself.y = total(self.v)", [1231.0, 987.0]),
        ("self.x = self.given(self.v)", [123_987.0, 0.0]),
        ("self.x = [self.v, [self.m(), 2, 3]][0][0]", [1.0, 0.0]),
        ("a, b = self.v[0], self.m()\nself.x = a\nself.y = b", [1.0, 1.0]),
        ("self.x = max(self.v) + self.m() + max(self.v)", [13.0, 0.0]),
    ]);
}

/// Elements that are assigned while a list is in use change the list in use.
#[test]
fn assigned_elements_change_the_list_in_use() {
    check(&[
        ("for x in self.v:\n    self.v[2] = 9\n    self.x = self.x * 10 + x", [129.0, 0.0]),
        ("self.x = self.v[self.touch() - 1]\nself.y = total(self.v + [self.touch()])", [5.0, 5231.0]),
        ("self.x = through(self.v)\nself.y = self.v[0]", [2.0, 2.0]),
        ("self.x = two(self.v, self.v)\na = [1, 2]\nself.y = two(a, a)", [7.0, 7.0]),
    ]);
}

#[test]
fn parameters_with_new_lists_keep_the_lists_of_the_caller() {
    check(&[
        ("self.x = copied(self.v)\nself.y = self.v[0]", [11.0, 1.0]),
        ("a = [1, 2, action]\nself.x = copied(a)\nself.y = a[0]", [11.0, 1.0]),
        ("self.x = copied(table)\nself.y = table[0]", [14.0, 4.0]),
        ("self.x = replaced(self.v, action)\nself.y = total(self.v)", [234.0, 123.0]),
        ("self.x = fill([1, 2])\nself.y = fill([1, 2]) * 2", [2.0, 4.0]),
        ("if action > 0:\n    a = [1, 2]\nelse:\n    a = [3, 4]\nself.x = bump(a)\nself.y = a[0]", [2.0, 2.0]),
        ("if action > 0:\n    a = [1, 2]\nelse:\n    a = [3, 4]\na[0] = 8\nself.x = a[0]\nself.y = a[action]", [8.0, 2.0]),
        ("a = [1, 2, 3]\nfor k in range(self.i + 2):\n    a = [k, k + 1, k + 2]\nself.x = a[action]\nself.y = a[0]", [2.0, 1.0]),
        (
            "for k in range(300):\n    b = [1, 2] if k > 3 else [3, 4]\n    if k > 5:\n        break\n\
             self.x = b[action] if action > 0 else 0",
            [2.0, 0.0],
        ),
    ]);
}

/// The parts of a target are evaluated after the assignments to the targets before it.
#[test]
fn several_targets_are_assigned_from_left_to_right() {
    check(&[
        ("self.i, self.v[self.i] = 1, 50\nself.x = total(self.v)", [603.0, 0.0]),
        ("self.v[self.i], self.i = 50, 1\nself.x = total(self.v)\nself.y = self.i", [5023.0, 1.0]),
        ("self.i = self.v[self.i] = 2\nself.x = total(self.v)", [122.0, 0.0]),
        ("a = [0, 1]\na[0], a[a[0]] = 1, 5\nself.x = a[0]\nself.y = a[1]", [1.0, 5.0]),
        ("self.x, self.y = self.v[0], self.v[1]\nself.v[0], self.v[1] = self.v[1], self.v[0]\nself.x = total(self.v)", [213.0, 2.0]),
        ("for self.i, self.v[self.i] in enumerate(table):\n    self.x = total(self.v)", [417.0, 0.0]),
    ]);
}

#[test]
fn rows_are_read_before_the_list_changes() {
    check(&[
        ("row = self.g[action]\nself.x = row[0]\nself.g[action][0] = 5\nrow = self.g[action]\nself.y = row[0]", [3.0, 5.0]),
        ("row = self.g[1][:]\nself.g[1][0] = 5\nself.x = row[0]", [3.0, 0.0]),
        ("for row in self.g:\n    self.x = self.x * 10 + row[0]\n    self.g[1][0] = 5", [15.0, 0.0]),
        ("a = [row[:] for row in self.g]\na[0][0] = 9\nself.x = self.g[0][0]\nself.y = a[0][0]", [1.0, 9.0]),
        (
            "if action > 0:\n    self.g[0][0] = 5\n    row = self.g[0]\nelse:\n    self.g[0][0] = 6\n    row = self.g[1]\nself.x = row[0]",
            [5.0, 0.0],
        ),
    ]);
    check_errors(&[
        ("row = self.g[0]\nself.g[0][0] = 5\nself.x = row[0]", "`self.g` may have changed after `row` was read from it; read it again"),
        ("row = self.g[0]\nself.g = [[1, 2], [3, 4]]\nself.x = row[0]", "may have changed after `row` was read"),
        ("row = self.g[0]\nself.y = self.rowed() + row[0]", "may have changed after `row` was read"),
        ("row = self.g[0]\na = [self.rowed() for k in range(2)]\nself.x = row[0]", "may have changed after `row` was read"),
        ("row = self.g[0]\nfor k in range(300):\n    self.x += row[0]\n    self.g[0][0] = k", "may have changed after `row` was read"),
        ("for x in self.g[0]:\n    self.g[0][1] = x", "`self.g` changes while a row of it is in use here; use a copy: `row[:]`"),
        ("for row in self.g:\n    for x in row:\n        self.g[0][1] = x", "`self.g` changes while a row of it is in use here"),
        ("self.x = self.g[0][:][self.rowed()] + total(self.g[1] + [self.rowed()])", "while a row of it is in use here"),
    ]);
}

#[test]
fn lists_that_the_compiled_form_cannot_follow_are_errors() {
    check_errors(&[
        ("self.v[0] += self.m()", "`self.v` gets a new list before this element is assigned; assign the value"),
        ("self.v[self.m()] = 4", "`self.v` gets a new list before this element is assigned"),
        (
            "for x in self.v:\n    self.v[0] = 2\n    self.v = [x, 2, 3]",
            "`self.v` changes while it is in use here; use a copy: `self.v[:]`",
        ),
        ("self.x = total(self.v + [self.m() + self.touch()])", "`self.v` changes while it is in use here"),
        ("b = self.g[:]", "in Python, this list shares its rows with `self.g`; write `[row[:] for row in self.g]` for a copy"),
        ("b = self.g + [[5, 6]]", "in Python, this list shares its rows with `self.g`; write `[row[:] for row in self.g]`"),
        ("b = [row for row in self.g] + [[5, 6]]", "in Python, this list shares its rows with `self.g`"),
        ("b = self.g", "a list has one name; write `[row[:] for row in self.g]` for a copy"),
        ("a = b = [1, 2]", "a list has one name; write an assignment for each name"),
        ("t = ([1, 2], 3)\na, b = t", "a list has one name; write `t[:]` for a copy"),
        ("bump(self.v if action > 0 else self.w)", "this list is a copy of elements of other lists"),
        ("bump([self.v, self.w][action])", "this list is a copy of elements of other lists"),
        ("bump(self.g[0])", "this list is a copy of a row"),
        ("self.x = [0, 1][0] + len([0] * -1)", "a list is repeated at least once, and this number is -1; write a larger number"),
        ("self = 5", "`self` is the environment and is not assigned; write a variable, or an attribute: `self.x`"),
        ("for self in range(3):\n    pass", "`self` is the environment"),
    ]);
    let returned = |line: &str| text("self.x = self.out()[0]") + "    def out(self):\n        " + line + "\n";
    for (line, part) in [
        ("return self.v", "a function returns a new list; write `return self.v[:]`"),
        ("return self.g[0]", "a function returns a new list; write `return self.g[0][:]`"),
        ("a = [1, 2]\n        return a", ""),
        ("a = [[1, 2], [3, 4]]\n        return a[0]", ""),
    ] {
        let found = errors(&returned(line));
        assert!(if part.is_empty() { found.is_empty() } else { found.len() == 1 && found[0].contains(part) }, "{line}: {found:?}");
    }
    let pair = text("a, self.x = self.out()") + "    def out(self):\n        return self.v, 1\n";
    assert!(errors(&pair)[0].contains("a function returns a new list; write `return self.v[:]`"), "{:?}", errors(&pair));
}

/// A constant never changes, by any of its names.
#[test]
fn elements_of_constants_are_not_assigned() {
    let constant = "`table` is a constant; copy it to an attribute in `reset`: `self.table = table[:]`";
    check_errors(&[
        ("table[0] = 1", constant),
        ("bump(table)", constant),
        ("through(table)", constant),
        ("l = table\nl[0] = 1", constant),
        ("for k in range(300):\n    self.w[0] = 1\n    self.w = table", constant),
        ("self.w = table if action > 0 else [1, 2, 3]\nself.w[0] = 1", constant),
        ("g = board\ng[0][0] = 1", "`board` is a constant; copy it to an attribute in `reset`: `self.board = [row[:] for row in board]`"),
        ("g = board[:]\ng[0][0] = 1", "`board` is a constant"),
        ("bump(board[0])", "`board` is a constant"),
    ]);
    check(&[
        ("self.w = table\nself.x = total(self.w)", [417.0, 0.0]),
        ("self.v = table[:]\nself.v[0] = 1\nself.x = total(self.v)\nself.y = total(table)", [117.0, 417.0]),
        ("self.g = [row[:] for row in board]\nself.g[0][0] = 9\nself.x = self.g[0][0]\nself.y = board[0][0]", [9.0, 1.0]),
        ("l = table\nfor k in range(300):\n    if k == 7:\n        l = self.v[:]\nself.x = total(l)", [123.0, 0.0]),
    ]);
}

/// Python's functions of a negative zero return a negative zero, and the sum of negative zeros is a positive zero.
#[test]
fn zeros_keep_their_signs() {
    let step = "zero = self.i * -0.0\nfor f in [sin(zero), tan(zero), tanh(zero), sqrt(zero), zero % 1.0, -0.0 * (action * 0)]:\n    \
                self.x = self.x * 2 + int(atan2(f, -1.0) < 0.0)\nself.y = atan2(sum([zero, zero]), -1.0)";
    let [signs, sum] = outcome(step);
    // `zero % 1.0` is a positive zero in Python.
    assert_eq!((signs, sum > 3.0), (61.0, true));
}

/// `tests/python/test_programs.py` compares more of these programs with plain Python.
#[test]
fn random_programs_about_lists_do_not_depend_on_the_instruction_set() {
    let worlds: Vec<_> = programs_about_lists().iter().filter_map(|text| compile(text).ok()).collect();
    assert!(worlds.len() > 20, "{}", worlds.len());
    for world in worlds {
        let results = crate::sets().into_iter().map(|isa| {
            let mut worlds = Worlds::new(&world, isa, 3, 5, 40);
            for turn in 0..10 {
                worlds.act_randomly(5, turn);
                worlds.step();
            }
            assert_eq!(worlds.fault(), None);
            (0..40).map(|env| worlds.saved(env)).collect::<Vec<_>>()
        });
        let results: Vec<_> = results.collect();
        assert!(results.len() > 1 && results.iter().all(|result| *result == results[0]));
    }
}
