//! Internal state of a playing learner: its curriculum, and its replay with priorities.

/// Internal state of a learner besides its network.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside<P> {
    /// Current depth of the curriculum.
    pub stage: usize,
    /// Depths from 1 to the curriculum's last.
    pub depths: Vec<InsideDepth>,
    pub len: usize,
    pub capacity: usize,
    pub prioritised: bool,
    /// Share of transitions per priority bin. Bin `i` covers `2^(i - 12)` to twice that; the first and last bins include everything beyond.
    /// A priority is the error when the transition was last trained on.
    pub priorities: [f32; PRIORITY_BINS],
    /// Transitions of the highest priority, in descending order.
    pub top: Vec<InsideTransition<P>>,
}

pub const PRIORITY_BINS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InsideDepth {
    pub depth: usize,
    /// Share of new episodes that start at this depth.
    pub share: f32,
    /// Share of its latest episodes that were solved, and the number of these episodes.
    pub success: f32,
    pub episodes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InsideTransition<P> {
    pub state: P,
    pub action: usize,
    /// Reward of all its steps together.
    pub reward: f32,
    pub done: bool,
    pub priority: f32,
    /// The trained network's value of each action in the state.
    pub q: Vec<f32>,
}
