//! Description of an environment: its actions, names and sizes.

/// Actions of an environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Integers from 0 to n - 1; the value is n.
    Choices(u32),
    /// `count` numbers, each from `low` to `high`.
    Box { count: usize, low: f32, high: f32 },
}

impl Choice {
    /// Returns the number of values in an action; 1 for a choice.
    pub fn len(&self) -> usize {
        match self {
            Choice::Choices(_) => 1,
            Choice::Box { count, .. } => *count,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Docstring of a file, and the class attributes that describe the environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    pub doc: String,
    pub actions: Choice,
    /// Number of steps after which an episode is truncated.
    pub limit: u32,
    /// Mean return at which the environment counts as solved; `None` without the class attribute `solved`.
    pub solved: Option<f32>,
    /// Keyboard controls: pairs of a key's name in the browser and the values of the key's action.
    pub keys: Vec<(String, Vec<f32>)>,
    /// Names of the choices; empty without the class attribute `names`.
    pub names: Vec<String>,
    /// Names of the numbers of an observation: their code in `observe`. Empty if `observe` does not end with `return [a, b, …]`.
    pub observation: Vec<String>,
    /// Width and height of the picture, in the units of `draw`.
    pub size: [f32; 2],
}

impl Default for Meta {
    fn default() -> Meta {
        Meta {
            doc: String::new(),
            actions: Choice::Choices(2),
            limit: 1000,
            solved: None,
            keys: Vec::new(),
            names: Vec::new(),
            observation: Vec::new(),
            size: [10.0; 2],
        }
    }
}
