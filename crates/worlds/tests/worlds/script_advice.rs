//! Tests of the advice in error messages. Each test has code that the compiler refuses, the advice in the message, and a file that follows
//! the advice and compiles.

use super::script_checks::{errors, with_step};
use super::script_fleet::{OBSERVE, compiled, file};
use worlds::control::script::compile;

/// Checks rows of a refused file, the advice and a corrected file. The refused file must have exactly one error, which contains the advice.
/// The corrected file must compile.
fn check<A: AsRef<str>>(table: &[(A, &str, A)]) {
    for (refused, advice, followed) in table {
        let (refused, followed) = (refused.as_ref(), followed.as_ref());
        let found = errors(refused);
        assert!(found.len() == 1 && found[0].contains(advice), "{refused}\nexpected: {advice}\nfound: {found:#?}");
        assert_eq!(errors(followed), [""; 0], "{followed}");
    }
}

/// Checks rows as `check` does. Each row contains bodies of `step` instead of files.
fn check_step(table: &[(&str, &str, &str)]) {
    let files: Vec<_> = table.iter().map(|(refused, advice, followed)| (with_step(refused), *advice, with_step(followed))).collect();
    check(&files);
}

/// Returns a file without constants and helpers, and with `from` replaced by `to`.
fn with(from: &str, to: &str) -> String {
    let good = file("self.x = 0\nself.y = 0", "return 0.0, False", OBSERVE);
    assert!(good.contains(from), "{from}");
    good.replacen(from, to, 1)
}

#[test]
fn functions_of_numpy_have_a_replacement() {
    check_step(&[
        ("a = np.array_equal([1], [2])", "`np.array_equal`; write `a == b`: lists can be compared", "a = [1] == [2]"),
        ("a = array_equal([1], [2])", "write `a == b`: lists can be compared", "a = [1] == [2]"),
        ("a = np.clip(3, 0, 1)", "write the function without its module: `clip(…)`", "a = clip(3, 0, 1)"),
        ("a = np.sign(self.y)", "write `1 if x > 0 else -1 if x < 0 else 0`", "x = self.y\na = 1 if x > 0 else -1 if x < 0 else 0"),
        ("a = sign(self.y)", "write `1 if x > 0 else -1 if x < 0 else 0`", "x = 3\na = 1 if x > 0 else -1 if x < 0 else 0"),
        ("a = mean([1, 2])", "write `sum(a) / len(a)`", "a = [1, 2]\nb = sum(a) / len(a)"),
        ("a = norm([1, 2])", "write `sqrt(x * x + y * y)`", "x, y = 1, 2\na = sqrt(x * x + y * y)"),
        ("a = np.linalg.norm([1, 2])", "write `sqrt(x * x + y * y)`", "x, y = 1, 2\na = sqrt(x * x + y * y)"),
        ("a = np.zeros((2, 3))", "or `[[0.0] * n for i in range(m)]`", "a = [[0.0] * 3 for i in range(2)]"),
        ("a = np.random.randint(3)", "write `randint(low, high)`, which excludes `high`", "a = randint(0, 3)"),
        ("a = np.random.rand()", "write `uniform(0.0, 1.0)`", "a = uniform(0.0, 1.0)"),
        ("a = self.np_random.random_sample()", "write `uniform(0.0, 1.0)`", "a = uniform(0.0, 1.0)"),
        ("a = np.inf", "write a large number: `1e9`", "a = 1e9"),
        ("a = [1, 2]\na.reverse()", "write `[a[n - 1 - i] for i in range(n)]`", "n = 2\na = [1, 2]\nb = [a[n - 1 - i] for i in range(n)]"),
        ("a = clip(self.x, low=0, high=1)", "`low=`; write the values in the order of the function's parameters", "a = clip(self.x, 0, 1)"),
    ]);
    check(&[(
        with_step("a = np.cumsum([1], [2])"),
        "write a function above the class: `def cumsum(a, b):`",
        format!("def cumsum(a, b):\n    return a[0] + b[0]\n\n{}", with_step("a = cumsum([1], [2])")),
    )]);
}

#[test]
fn records_become_attributes() {
    let field = |line: &str| file("self.pole_mass = 1\nself.cart_mass = 2\nself.pole = 0", line, OBSERVE).replace("self.y", "self.pole");
    let body = |name: &str| format!("self.x = {name}\nreturn 0.0, False");
    let reset = |file: String| file.replace("def reset(self):\n", "def reset(self):\n        self.x = 0\n");
    check(&[
        (reset(field(&body("self.pole.mass"))), "`self.pole_mass` for `self.pole.mass`", reset(field(&body("self.pole_mass")))),
        (reset(field(&body("self.cart.mass"))), "`self.cart_mass` for `self.cart.mass`", reset(field(&body("self.cart_mass")))),
    ]);
    let advice = "write one attribute of `self` for each field: `self.cart_mass`";
    check(&[(format!("Cart = namedtuple(3)\n{}", with_step("")), advice, reset(field("return self.cart_mass, False")))]);
}

#[test]
fn names_of_other_functions_are_not_proposed() {
    for name in ["Cart", "Pole", "noise"] {
        let found = errors(&with_step(&format!("a = {name}(1)")));
        assert!(found[0].ends_with(&format!("there is no function `{name}`; write `def {name}(x):` above the class")), "{found:?}");
    }
    for (typo, name) in [("sqr", "sqrt"), ("rnadint", "randint"), ("unifrom", "uniform"), ("flor", "floor"), ("smu", "sum")] {
        let found = errors(&with_step(&format!("a = {typo}(1)")));
        assert!(found[0].ends_with(&format!("write `{name}(…)`")), "{found:?}");
    }
}

#[test]
fn lists_have_constant_lengths_and_no_arithmetic() {
    let joins = "`+` joins lists; add their elements: `[a[i] + b[i] for i in range(2)]`";
    let added = "a, b = 1, 2\nc = [[1, a][i] + [b, 4][i] for i in range(2)]\nself.x = clip(c[0], 0, 1)";
    check_step(&[
        ("a = clip([1, 2] + [3, 4], 0, 1)", joins, added),
        ("a = [1, 2]\na = a + [3, 4]", joins, "a = [1, 2]\nb = [3, 4]\na = [a[i] + b[i] for i in range(2)]"),
        ("a = [1, 2] * 0.5", "`[a[i] * b[i] for i in range(2)]`", "a = [1, 2]\nb = [3, 4]\nc = [a[i] * b[i] for i in range(2)]"),
        ("a = [1, 2] - [3, 4]", "`[a[i] - b[i] for i in range(2)]`", "a = [1, 2]\nb = [3, 4]\nc = [a[i] - b[i] for i in range(2)]"),
    ]);
    let constant = "write a number, or a constant of the file or of the class: `n = 4`";
    let class = |line: &str| with_step(line).replace("actions = 3", "actions = 3\n    n = 4");
    check(&[
        (with_step("a = [0] * self.x"), constant, class("a = [0] * self.n")),
        (with_step("a = [i for i in range(self.x)]"), constant, class("a = [i for i in range(self.n)]")),
        (with_step("a = [0] * self.x"), constant, format!("n = 4\n{}", with_step("a = [0] * n"))),
    ]);
}

#[test]
fn parts_of_gymnasium_have_a_replacement() {
    let declared = |line: &str| with("actions = 3", line);
    let after = |line: &str| declared(&format!("actions = 3\n    {line}"));
    let (choices, numbers) = (declared("actions = 3"), declared("actions = Box(2, -1.0, 1.0)"));
    let actions = "write `actions = 3`, or `actions = Box(2, -1.0, 1.0)` for 2 numbers from -1 to 1";
    check(&[
        (declared("actions = spaces.Discrete(4)"), actions, choices.clone()),
        (declared("actions = gym.spaces.Box(2, 3, 4)"), actions, numbers.clone()),
        (declared("actions = Box(-1.0, 1.0, (1,))"), actions, numbers.clone()),
        (declared("actions = Discrete(4)"), "write `actions = 3` in the class", choices.clone()),
        (after("action_space = spaces.Discrete(4)"), actions, numbers.clone()),
        (after("observation_space = 3"), "3:5 `observation_space` has no effect; delete the line", choices.clone()),
        (
            after("metadata = {\"render_modes\": [\"human\"], \"render_fps\": 4}"),
            "`metadata` has no effect; delete the line",
            choices.clone(),
        ),
        (after("max_episode_steps = 500"), "`max_episode_steps` has no effect; write `limit = 500`", after("limit = 500")),
        (after("reward_threshold = 400.0"), "`reward_threshold` has no effect; write `solved = 400.0`", after("solved = 400.0")),
        (after("limit, n = 500, 4"), "3:5 `limit` needs a line of its own; write `limit = …` there", after("limit = 500\n    n = 4")),
        (declared("actions = n = 3"), "`actions` needs a line of its own", declared("n = 3\n    actions = 3")),
        (after("n = 4\n    a = [0] * n"), "write it above the class", format!("n = 4\n{}", after("a = [0] * n"))),
        (
            after("size = 4"),
            "such as `size = (10.0, 10.0)`; give a constant of your own another name",
            after("size = (10.0, 10.0)\n    n = 4"),
        ),
        (with("self.y = 0", "self.y = 0\n        return [0]"), "6:9 `reset` returns nothing; delete the value", choices.clone()),
        (with("reset(self)", "reset(self, seed=None, options={\"a\": (1, 2)})"), "write `def reset(self):`", choices.clone()),
        (with("reset(self)", "reset(self, *, seed: int | None = None)"), "write `def reset(self):`", choices.clone()),
        (
            after("def __init__(self, render_mode=None, size=5):\n        self.x = size"),
            "`__init__` is never called; move its constants to the class, such as `n = 5`, and its other lines to `reset`",
            after("n = 5"),
        ),
        (with("World:", "World(Base):"), "write `class World:`", choices.clone()),
        (format!("class Illegal(Exception):\n    pass\n{choices}"), "return a number that means \"not possible\", such as -1", choices),
    ]);
    // A default value of `self`, or of a parameter of another method, has its own message.
    for head in ["reset(self=3)", "observe(self, a=3)"] {
        let name = head.split('(').next().unwrap();
        assert!(errors(&with(&format!("{name}(self)"), head))[0].contains("default values"), "{head}");
    }
}

/// The skeleton in the message for Gymnasium's base class is a complete file.
#[test]
fn base_class_of_gymnasium_has_a_skeleton() {
    let found = errors(&with("World:", "World(gym.Env):"));
    let parts = [
        "write `class World:` with `actions = 4`",
        "`limit = 500`",
        "`reset(self)`",
        "`step(self, action)` that returns `reward, over`",
        "`observe(self)` that returns a list of numbers",
    ];
    assert!(found.len() == 1 && parts.iter().all(|part| found[0].contains(part)), "{found:?}");
    compiled(
        "class World:\n    actions = 4\n    limit = 500\n    def reset(self):\n        self.x = 0\n    def step(self, action):\n\
        \x20       reward, over = 0.0, False\n        return reward + action, over\n    def observe(self):\n        return [self.x]\n",
    );
}

/// The first report of a file in Gymnasium's form contains the errors of the grammar and the errors of the class.
#[test]
fn first_report_contains_the_missing_parts() {
    let text = "class World:\n    def __init__(self, size=5):\n        self.x = None\n    def reset(self, seed=None):\n\
                \x20       return self.x\n    def step(self, action):\n        self.x = lambda: 1\n        return 0.0, False, {}\n";
    let places = |text: &str| errors(text).iter().map(|error| error.split_once(' ').unwrap().0.to_owned()).collect::<Vec<_>>();
    assert_eq!(places(text), ["1:7", "2:9", "3:18", "4:9", "5:9", "7:18", "8:28"], "{:#?}", errors(text));
    let missing = "1:7 the class has no attribute `actions` and no method `observe`; write `actions = 3`, or";
    assert!(errors(text)[0].starts_with(missing) && errors(text)[0].ends_with(", and `def observe(self):`"), "{:?}", errors(text));
    // Missing parts, and a value that `reset` returns, do not hide errors in the code of the methods.
    let text = with("actions = 3", "limit = 3").replace("self.y = 0", "self.y = a\n        return 1").replace("def observe", "def look");
    assert_eq!(places(&text), ["1:7", "5:18", "6:9"], "{:#?}", errors(&text));
    // Parts that the parser could not read are not reported as missing.
    for text in [
        "class World:\n    actions = = 3\n",
        "class World:\n    actions = 3\n    def reset(self:\n        self.x = 1\n",
        "class World\n    def reset(self):\n    pass\n",
        "klass World:\n    def reset(self):\n        pass\n",
        "    class World:\n        pass\n",
    ] {
        assert!(errors(text).iter().all(|error| !error.contains(" has no ") || error.contains("has no block")), "{:#?}", errors(text));
    }
    assert_eq!(compile(&"x = None\n".repeat(50)).err().map(|problems| problems.len()), Some(20));
}
