//! Internal state of a learner that plays: its curriculum, and its replay with priorities.

/// Internal state of a learner, without the networks. `len` and `capacity` are numbers of transitions in the replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside<P> {
    /// Current depth of the curriculum, in moves of a scramble.
    pub stage: usize,
    /// Statistics of each depth, from 1 to the curriculum's last depth.
    pub depths: Vec<InsideDepth>,
    pub len: usize,
    pub capacity: usize,
    pub prioritised: bool,
    /// Share of transitions per priority bin; all 0 without prioritised replay. Bin `i` covers the priorities from `2^(i-12)` to
    /// `2^(i-11)`. The first bin also includes all smaller priorities, and the last bin all larger priorities. A priority is the absolute
    /// error when the transition was last trained on, plus the priority floor. A new transition has the maximum priority so far.
    pub priorities: [f32; PRIORITY_BINS],
    /// Transitions of highest priority, in descending order; empty without prioritised replay.
    pub top: Vec<InsideTransition<P>>,
}

pub const PRIORITY_BINS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InsideDepth {
    pub depth: usize,
    /// Probability that a new episode begins at this depth.
    pub share: f32,
    /// Share of the latest episodes at this depth that solved the cube.
    pub success: f32,
    /// Number of episodes that `success` covers.
    pub episodes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InsideTransition<P> {
    pub state: P,
    pub action: usize,
    /// Sum of the discounted rewards of the transition's steps.
    pub reward: f32,
    pub done: bool,
    pub priority: f32,
    /// Action values of the state, computed by the trained network.
    pub q: Vec<f32>,
}
