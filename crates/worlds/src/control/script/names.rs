//! Names of functions in the language (a subset of Python in which users write environments), and the code that replaces functions of
//! Python and of its libraries.

/// Names of the built-in functions.
pub(super) const BUILT_IN: [&str; 33] = [
    "min",
    "max",
    "abs",
    "clip",
    "sum",
    "any",
    "all",
    "len",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "tanh",
    "atan2",
    "floor",
    "ceil",
    "round",
    "int",
    "float",
    "bool",
    "range",
    "enumerate",
    "uniform",
    "randint",
    "normal",
    "rect",
    "circle",
    "line",
    "polygon",
    "text",
    "Box",
];

/// Examples of the class attribute `actions`, for an error message.
pub(super) const ACTIONS: &str = "`actions = 3`, or `actions = Box(2, -1.0, 1.0)` for 2 numbers from -1 to 1";

/// Returns the code to write instead of a function that the language lacks; `None` for an unknown function. The code is part of an error
/// message.
pub(super) fn replacement(name: &str) -> Option<&'static str> {
    Some(match name {
        "str" | "repr" | "format" => "the number itself: `text(x, y, number, \"black\")`",
        "list" | "tuple" | "arange" => "`[i for i in range(n)]`, or `a[:]` for a copy",
        "sorted" | "reversed" | "zip" | "map" | "filter" | "set" | "dict" => "a loop over the indices: `for i in range(len(a)):`",
        "log2" => "`log(x) / log(2)`",
        "log10" => "`log(x) / log(10)`",
        "pow" | "power" => "`a ** b`",
        "sinh" | "cosh" => "it with `exp(x)` and `exp(-x)`",
        "divmod" => "`a // b` and `a % b`",
        "print" => "the value in `draw`: `text(x, y, number, \"black\")`",
        "fabs" | "absolute" => "`abs(x)`",
        "hypot" | "norm" | "linalg" => "`sqrt(x * x + y * y)`",
        "sign" => "`1 if x > 0 else -1 if x < 0 else 0`",
        "mean" | "average" => "`sum(a) / len(a)`",
        "arctan2" => "`atan2(y, x)`",
        "float32" | "float64" => "`float(x)`",
        "int32" | "int64" => "`int(x)`",
        "array" | "asarray" => "the list itself: `[0.0, 1.0]`",
        "array_equal" => "`a == b`: lists can be compared",
        "zeros" => "`[0.0] * n`, or `[[0.0] * n for i in range(m)]`",
        "ones" => "`[1.0] * n`, or `[[1.0] * n for i in range(m)]`",
        "namedtuple" | "dataclass" => "one attribute of `self` for each field: `self.cart_mass`",
        "Discrete" => "`actions = 3` in the class",
        _ => return random(name),
    })
}

/// Returns the code to write instead of a function of Python's or NumPy's random number generators; `None` for an unknown function.
pub(super) fn random(name: &str) -> Option<&'static str> {
    Some(match name {
        "random" | "random_sample" | "rand" => "`uniform(0.0, 1.0)`",
        "uniform" => "`uniform(low, high)`",
        "integers" | "randint" | "randrange" => "`randint(low, high)`, which excludes `high`",
        "normal" | "gauss" | "normalvariate" => "`normal(mean, deviation)`",
        "randn" | "standard_normal" => "`normal(0.0, 1.0)`",
        "choice" => "`a[randint(0, len(a))]`",
        _ => return None,
    })
}

/// Returns the code to write instead of a class attribute that only Gymnasium reads; `None` for other class attributes.
pub(super) fn unused_attribute(name: &str) -> Option<&'static str> {
    Some(match name {
        "max_episode_steps" => "write `limit = 500`",
        "reward_threshold" => "write `solved = 400.0`",
        "action_space" => "write `actions = 3`, or `actions = Box(2, -1.0, 1.0)` for 2 numbers from -1 to 1",
        "metadata" | "observation_space" => "delete the line",
        _ => return None,
    })
}
