//! Replay: a ring buffer of transitions, sampled uniformly or by priority (Schaul et al., "Prioritized experience replay", 2016). A
//! priority is `(|error| + floor)^alpha`. A new transition gets the maximum priority so far, so that it is sampled soon. For a batch, the
//! sum of priorities is divided into equal ranges, and each sample is drawn from its own range. Importance weights correct the sampling
//! bias.

use math::rng::Sequence;
use math::{Isa, Unary, ops};

/// Maximum number of steps of a transition.
pub const MOST_STEPS: usize = 5;

/// A transition over one or several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<P> {
    pub state: P,
    pub action: u8,
    /// Number of steps, from 1 to [`MOST_STEPS`]. The first step is `action`.
    pub steps: u8,
    /// True if the last step solved the cube.
    pub done: bool,
    pub next: P,
}

impl<P> Transition<P> {
    /// Packs `action`, `steps` and `done` into a word.
    pub(super) fn how(&self) -> u32 {
        u32::from(self.action) | u32::from(self.steps) << 8 | u32::from(self.done) << 16
    }
}

/// Binary tree whose leaves are nonnegative numbers. Each inner node is the sum of its two children. The order of updates therefore does
/// not change the tree. [`SumTree::find`] finds the leaf at a given position of the cumulative sum.
#[derive(Clone, Debug, PartialEq)]
pub struct SumTree {
    /// Nodes by index. The root has index 1, node n has the children 2n and 2n + 1, and the second half contains the leaves.
    nodes: Vec<f32>,
}

impl SumTree {
    pub fn new(leaves: usize) -> SumTree {
        SumTree { nodes: vec![0.0; 2 * leaves.next_power_of_two()] }
    }

    pub fn total(&self) -> f32 {
        self.nodes[1]
    }

    pub fn get(&self, leaf: usize) -> f32 {
        self.nodes[self.nodes.len() / 2 + leaf]
    }

    pub fn set(&mut self, leaf: usize, value: f32) {
        let mut node = self.nodes.len() / 2 + leaf;
        self.nodes[node] = value;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node] + self.nodes[2 * node + 1];
        }
    }

    /// Returns the first leaf at which the cumulative sum exceeds `mass`. The value of this leaf is above 0, unless all leaves are 0.
    pub fn find(&self, mut mass: f32) -> usize {
        let (mut node, leaves) = (1, self.nodes.len() / 2);
        while node < leaves {
            let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
            node *= 2;
            // Rounding errors can make `mass` too large. The second condition therefore prevents a step beyond the last nonzero leaf.
            if mass >= left && right > 0.0 {
                mass -= left;
                node += 1;
            }
        }
        node - leaves
    }
}

/// Ring buffer of transitions. The module documentation describes the sampling.
pub struct Replay<P> {
    states: Vec<P>,
    next: Vec<P>,
    how: Vec<u32>,
    len: usize,
    /// Index of the next write.
    at: usize,
    tree: Option<SumTree>,
    greatest: f32,
}

impl<P: Copy> Replay<P> {
    /// Creates an empty replay. Unused entries contain the state `nothing`.
    pub fn new(capacity: usize, prioritised: bool, nothing: P) -> Replay<P> {
        Replay {
            states: vec![nothing; capacity],
            next: vec![nothing; capacity],
            how: vec![0; capacity],
            len: 0,
            at: 0,
            tree: prioritised.then(|| SumTree::new(capacity)),
            greatest: 1.0,
        }
    }

    pub fn bytes(capacity: usize, prioritised: bool) -> u64 {
        let capacity = capacity as u64;
        let tree = if prioritised { 8 * capacity.next_power_of_two() } else { 0 };
        capacity * (2 * size_of::<P>() + 4) as u64 + tree
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn capacity(&self) -> usize {
        self.states.len()
    }

    pub fn is_prioritised(&self) -> bool {
        self.tree.is_some()
    }

    /// Adds a transition. If the replay is full, the new transition replaces the oldest.
    pub fn push(&mut self, new: Transition<P>) {
        let at = self.at;
        (self.states[at], self.next[at], self.how[at]) = (new.state, new.next, new.how());
        if let Some(tree) = &mut self.tree {
            tree.set(at, self.greatest);
        }
        self.len = self.len.max(at + 1);
        self.at = (at + 1) % self.capacity();
    }

    pub fn get(&self, at: usize) -> Transition<P> {
        let how = self.how[at];
        Transition { state: self.states[at], action: how as u8, steps: (how >> 8) as u8, done: how >> 16 == 1, next: self.next[at] }
    }

    /// Returns the priority of a transition, including the exponent `alpha`; 1 with uniform sampling.
    pub fn priority(&self, at: usize) -> f32 {
        self.tree.as_ref().map_or(1.0, |tree| tree.get(at))
    }

    /// Draws the replay indices of a batch.
    pub fn sample(&self, numbers: &mut Sequence, picks: &mut [u32]) {
        let Some(tree) = &self.tree else {
            return picks.iter_mut().for_each(|pick| *pick = numbers.below(self.len as u32));
        };
        let stretch = tree.total() / picks.len() as f32;
        for (i, pick) in picks.iter_mut().enumerate() {
            *pick = tree.find((i as f32 + numbers.uniform()) * stretch) as u32;
        }
    }

    /// Computes the importance weights of a batch, `(len · priority / total)^-beta`, and scales them so that the maximum weight is 1. With
    /// uniform sampling, all weights are 1.
    pub fn weigh(&self, isa: Isa, beta: f32, picks: &[u32], weights: &mut [f32]) {
        let Some(tree) = &self.tree else { return weights.fill(1.0) };
        for (weight, &pick) in weights.iter_mut().zip(picks) {
            *weight = tree.get(pick as usize);
        }
        let least = weights.iter().copied().fold(f32::INFINITY, f32::min);
        // The factors `len` and `total` cancel out in the scaled weights.
        weights.iter_mut().for_each(|weight| *weight /= least);
        raise(isa, -beta, weights);
    }

    /// Updates the priorities of a batch from its errors, and overwrites `errors`. Does nothing with uniform sampling.
    pub fn update_priorities(&mut self, isa: Isa, alpha: f32, floor: f32, picks: &[u32], errors: &mut [f32]) {
        let Some(tree) = &mut self.tree else { return };
        errors.iter_mut().for_each(|error| *error = error.abs() + floor);
        raise(isa, alpha, errors);
        for (&pick, &priority) in picks.iter().zip(&*errors) {
            // Values that are not finite come from a diverged training and are ignored.
            if priority.is_finite() {
                tree.set(pick as usize, priority);
                self.greatest = self.greatest.max(priority);
            }
        }
    }

    /// Returns the index of the next write, and the priority of the next new transition.
    pub(super) fn cursor(&self) -> (u64, f32) {
        (self.at as u64, self.greatest)
    }

    /// Restores the values of `cursor` and the priorities. The caller must first add the transitions of the checkpoint. Returns false for
    /// invalid values.
    pub(super) fn set_cursor(&mut self, at: u64, greatest: f32, priorities: &[f32]) -> bool {
        let places = if self.len < self.capacity() { self.len..=self.len } else { 0..=self.capacity() - 1 };
        let sound = |priority: &f32| priority.is_finite() && *priority > 0.0;
        let known = if self.tree.is_some() { self.len } else { 0 };
        // If the ring is full, the next write may be at any index. Otherwise, its index is the number of transitions.
        let at = at as usize;
        if !(places.contains(&at) && priorities.len() == known && priorities.iter().chain([&greatest]).all(sound)) {
            return false;
        }
        (self.at, self.greatest) = (at, greatest);
        if let Some(tree) = &mut self.tree {
            priorities.iter().enumerate().for_each(|(leaf, &priority)| tree.set(leaf, priority));
        }
        true
    }
}

/// Computes x^power in place, for positive numbers.
fn raise(isa: Isa, power: f32, x: &mut [f32]) {
    ops::unary_in_place(isa, Unary::Ln, x);
    x.iter_mut().for_each(|x| *x *= power);
    ops::unary_in_place(isa, Unary::Exp, x);
}
