//! Description of an environment: its actions, names and sizes.

/// Actions of an environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Integers from 0 to the number - 1.
    Choices(u32),
    /// Several numbers, each within a range.
    Box { count: usize, low: f32, high: f32 },
}

impl Choice {
    /// Number of numbers in an action.
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

/// Class attributes with a meaning, and the docstring.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    pub doc: String,
    pub actions: Choice,
    /// Number of steps after which an episode is truncated.
    pub limit: u32,
    /// Mean return at which the environment counts as solved.
    pub solved: Option<f32>,
    /// Action of each key.
    pub keys: Vec<(String, Vec<f32>)>,
    /// Names of the choices.
    pub names: Vec<String>,
    /// Width and height of the picture.
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
            size: [10.0; 2],
        }
    }
}
