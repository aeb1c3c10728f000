//! What a learner that plays keeps beside its network: the curriculum, and the replay with its priorities.

/// What a learner that plays has beside its network.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside<P> {
    /// The depth that the curriculum has come to.
    pub stage: usize,
    /// From 1 to the curriculum's last.
    pub depths: Vec<InsideDepth>,
    pub len: usize,
    pub capacity: usize,
    pub prioritised: bool,
    /// Shares of all transitions by priority: bin `i` holds those from `2^(i - 12)` to twice that, the first and the last also
    /// what lies beyond. A priority is what the error was when it was last learned from.
    pub priorities: [f32; PRIORITY_BINS],
    /// Those of the greatest priority, the greatest first.
    pub top: Vec<InsideTransition<P>>,
}

pub const PRIORITY_BINS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InsideDepth {
    pub depth: usize,
    /// Share of new episodes that begin there.
    pub share: f32,
    /// Share of its newest episodes that solved the cube, and how many those are.
    pub success: f32,
    pub episodes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InsideTransition<P> {
    pub state: P,
    pub action: usize,
    /// Of the steps that it spans together.
    pub reward: f32,
    pub done: bool,
    pub priority: f32,
    /// What the trained network says of each action there.
    pub q: Vec<f32>,
}
