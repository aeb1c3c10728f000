//! Searches for a solution: greedy search, beam search, and A* with a weight and batches. A judge evaluates the states. A search advances
//! in slices. A search ends with a solution, at a limit, or when no candidates remain. For the same scores, the result is the same on any
//! machine. Among candidates with equal costs, greedy search and a beam prefer the first. A* prefers the candidate with the longest path;
//! if several paths have this length, A* prefers the first.
//!
//! A level consists of the states after the same number of moves. From the children of a level, a beam keeps the best `width` distinct
//! states as the next level. A beam excludes states that it kept in earlier levels. A judge of values evaluates every child. A judge of
//! action values or policies evaluates the parents; a parent's scores cover all its children. With a policy, the score of a child is the
//! probability of its path.
//!
//! A* repeatedly expands the `batch` states with the lowest costs among the states that are found and not expanded. The cost is `weight`
//! times the number of moves made, plus the estimated number of moves to the solved state (Agostinelli et al., "Solving the Rubik's cube
//! with deep reinforcement learning and search", 2019).

use super::{Greedy, Judge, Scores, nearest};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use worlds::cube::{Actions, Puzzle};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Takes the best action in each state, selected by the contained rule. The search ends before it would repeat an action in the same
    /// state.
    Greedy(Greedy),
    Beam {
        width: usize,
    },
    AStar {
        weight: f32,
        batch: usize,
    },
}

impl Method {
    /// Returns the recommended method for this cube and this kind of scores. A search with this method takes at most a few seconds.
    pub fn preset<P: Puzzle>(scores: Scores) -> Method {
        let width = match (P::SIZE, scores) {
            (2, _) => 256,
            (_, Scores::Value) => 4096,
            // Judges with these scores evaluate a parent once for all its children.
            (_, Scores::ActionValues | Scores::Policy) => 16_384,
        };
        Method::Beam { width }
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of moves of a solution.
    pub steps: usize,
    /// Number of generated states after which the search ends. The check precedes each expansion, so a search can exceed this number.
    pub nodes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 60, nodes: 20_000_000 }
    }
}

/// Reason why a search ended without a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Steps,
    Nodes,
    /// No candidates remain, or greedy search would repeat an action in a state.
    Nothing,
}

/// Actions that solve the cube, or the reason why the search found none.
type End = Result<Vec<u8>, Stop>;

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Actions, verified to solve the cube, or the reason why the search found none.
    pub solution: End,
    /// Length of the longest path examined, in moves.
    pub steps: usize,
    /// Number of generated states.
    pub nodes: u64,
    /// Minimum estimated distance of all judged states or, with action values, of their children. `None` if the judge uses a policy or no
    /// state was judged.
    pub nearest: Option<f32>,
}

/// Invalid search parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("A* needs values, but this network outputs a policy; choose a beam, or train on walk lengths")]
    NeedsValues,
    #[error("the search width is 0; choose 1 or more")]
    Empty,
    #[error("the weight of moves made must be between 0 and 1000; choose 1 or less")]
    Weight,
}

/// A search and its buffers. Consecutive searches can use the same buffers.
pub struct Search<P> {
    method: Method,
    limits: Limits,
    actions: Actions,
    start: P,
    /// Nodes of the search: for A* all states found, for a beam all states kept, for greedy search the path.
    nodes: Vec<Node<P>>,
    known: Keys,
    /// Index in `nodes` of the first node of a beam's current level.
    level: usize,
    /// Length of the longest path examined, in moves.
    steps: usize,
    generated: u64,
    nearest: f32,
    /// States of the nodes that are being expanded.
    parents: Vec<P>,
    /// Children of all `parents`, one child per action.
    children: Vec<P>,
    /// Children from which the search selects the next nodes.
    candidates: Vec<Candidate>,
    /// Maps the key of each state in `candidates` to the state's index in `candidates`.
    keys: Keys,
    /// States that must be judged.
    fresh: Vec<P>,
    /// Number of states in `fresh` that were judged so far. `None` if no judging is in progress and the next nodes must be expanded.
    judged: Option<usize>,
    scores: Vec<f32>,
    open: BinaryHeap<Reverse<(u32, Reverse<u32>, u32)>>,
    taken: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Node<P> {
    state: P,
    parent: u32,
    action: u8,
    /// True if A* has expanded the node; false again once a shorter path to the state is found.
    closed: bool,
    /// Number of moves from the start.
    steps: u32,
    /// For A*, the estimated distance. For a beam with a policy, the logarithm of the path's probability. Otherwise not used.
    score: f32,
}

#[derive(Clone, Copy)]
struct Candidate {
    /// Cost of the candidate; lower is better.
    cost: f32,
    /// Index in `children`; for A*, index in `nodes`.
    child: u32,
}

/// Usual number of states judged per slice. A judge may change the number with `Judge::at_once`.
const SLICE: usize = 512;

/// Maps floats to integers and preserves their order.
fn rank(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

impl<P: Puzzle> Search<P> {
    pub fn new(method: Method, limits: Limits, actions: Actions) -> Result<Search<P>, SearchError> {
        match method {
            Method::Beam { width: 0 } | Method::AStar { batch: 0, .. } => return Err(SearchError::Empty),
            Method::AStar { weight, .. } if !(0.0..=1000.0).contains(&weight) => {
                return Err(SearchError::Weight);
            }
            _ => {}
        }
        Ok(Search {
            method,
            // Node indices have 32 bits, so the number of generated states is limited.
            limits: Limits { nodes: limits.nodes.min(1 << 31), ..limits },
            actions,
            start: P::SOLVED,
            nodes: Vec::new(),
            known: Keys::default(),
            level: 0,
            steps: 0,
            generated: 0,
            nearest: f32::INFINITY,
            parents: Vec::new(),
            children: Vec::new(),
            candidates: Vec::new(),
            keys: Keys::default(),
            fresh: Vec::new(),
            judged: None,
            scores: Vec::new(),
            open: BinaryHeap::new(),
            taken: Vec::new(),
        })
    }

    /// Returns an upper estimate of the memory of a search that reaches its limits, in bytes.
    pub fn bytes(method: Method, limits: Limits) -> u64 {
        let (node, child, key) = (size_of::<Node<P>>() as u64, 2 * size_of::<P>() as u64 + 20, 64);
        let actions = P::MOVES.len() as u64;
        let (kept, level) = match method {
            Method::Greedy(_) => (limits.steps as u64, 1),
            Method::Beam { width } => {
                let level = (width as u64).min(limits.nodes);
                (level.saturating_mul(limits.steps as u64).min(limits.nodes), level)
            }
            Method::AStar { batch, .. } => (limits.nodes, (batch as u64).min(limits.nodes)),
        };
        // Factors of 2 account for vectors that double their capacity.
        let level = level.saturating_mul(actions * (child + key));
        kept.saturating_mul(2 * node + key + 24).saturating_add(level)
    }

    pub fn begin(&mut self, start: P) {
        self.start = start;
        (self.level, self.steps, self.generated, self.nearest) = (0, 0, 1, f32::INFINITY);
        self.nodes.clear();
        self.nodes.push(Node { state: start, parent: 0, action: 0, closed: false, steps: 0, score: 0.0 });
        self.known.clear();
        if !matches!(self.method, Method::Greedy(_)) {
            self.known.place(start.key(), 0);
        }
        self.open.clear();
        self.open.push(Reverse((0, Reverse(0), 0)));
        self.judged = None;
    }

    /// Returns the length of the longest path examined, in moves.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the number of states generated so far in this search.
    pub fn nodes(&self) -> u64 {
        self.generated
    }

    /// Returns the smallest estimated distance of all judged states or, with action values, of their children. Returns `None` if the judge
    /// uses a policy or no state was judged.
    pub fn nearest(&self) -> Option<f32> {
        self.nearest.is_finite().then_some(self.nearest)
    }

    /// Runs the search to its end.
    pub fn solve(&mut self, start: P, judge: &mut dyn Judge<P>) -> Result<Outcome, SearchError> {
        self.begin(start);
        loop {
            if let Some(outcome) = self.advance(judge)? {
                return Ok(outcome);
            }
        }
    }

    /// Runs a slice of a few milliseconds. A slice does not exceed one level of a beam, one batch of A*, or one greedy move. Returns the
    /// outcome at the end of the search, and `None` before. The judge must not change during a search.
    pub fn advance(&mut self, judge: &mut dyn Judge<P>) -> Result<Option<Outcome>, SearchError> {
        if self.start == P::SOLVED {
            return Ok(Some(self.end(Ok(Vec::new()))));
        }
        let scores = judge.scores();
        if self.judged.is_none() {
            let end = match self.method {
                Method::Greedy(_) => self.expand_greedy(scores),
                Method::Beam { .. } => self.expand_beam(scores),
                Method::AStar { .. } if scores == Scores::Policy => return Err(SearchError::NeedsValues),
                Method::AStar { weight, batch } => self.expand_a_star(scores, weight, batch),
            };
            if let Some(end) = end {
                return Ok(Some(self.end(end)));
            }
        }
        if !self.judge_fresh(judge) {
            return Ok(None);
        }
        let end = match self.method {
            Method::Greedy(greedy) => self.step_greedy(scores, greedy),
            Method::Beam { width } => self.select_beam(scores, width),
            Method::AStar { weight, .. } => self.queue_a_star(scores, weight),
        };
        Ok(end.map(|end| self.end(end)))
    }

    fn end(&self, solution: End) -> Outcome {
        if let Ok(actions) = &solution {
            let last = actions.iter().fold(self.start, |state, &action| state.turned(usize::from(action)));
            assert!(last == P::SOLVED, "the actions do not solve the state");
        }
        Outcome { solution, steps: self.steps, nodes: self.generated, nearest: self.nearest() }
    }

    /// Returns the actions on the path from the start to a node, followed by the action `last`.
    fn path_to(&self, mut node: usize, last: Option<usize>) -> Vec<u8> {
        let mut actions: Vec<u8> = last.map(|action| action as u8).into_iter().collect();
        while node != 0 {
            actions.push(self.nodes[node].action);
            node = self.nodes[node].parent as usize;
        }
        actions.reverse();
        actions
    }

    /// Generates the children of `parents`. Returns the index of the first solved child; `None` if no child is solved.
    fn generate_children(&mut self) -> Option<usize> {
        self.children.resize(self.parents.len() * self.actions.count(), P::SOLVED);
        P::fill_children(&self.parents, &self.actions, &mut self.children);
        self.generated += self.children.len() as u64;
        self.children.iter().position(|child| *child == P::SOLVED)
    }

    /// Judges the next states of `fresh`. Returns true when all states of `fresh` are judged.
    fn judge_fresh(&mut self, judge: &mut dyn Judge<P>) -> bool {
        let count = judge.scores().count(self.actions.count());
        let from = self.judged.unwrap_or(0);
        let to = self.fresh.len().min(from + judge.at_once(SLICE));
        self.scores.resize(self.fresh.len() * count, 0.0);
        let scores = &mut self.scores[from * count..to * count];
        if !judge.poll(&self.fresh[from..to], scores) {
            self.judged = Some(from);
            return false;
        }
        // The value of an action counts the action itself as one move.
        let made = match judge.scores() {
            Scores::Value => Some(0.0),
            Scores::ActionValues => Some(1.0),
            Scores::Policy => None,
        };
        if let Some(made) = made {
            self.nearest = scores.iter().map(|moves| moves - made).fold(self.nearest, f32::min);
        }
        self.judged = (to < self.fresh.len()).then_some(to);
        self.judged.is_none()
    }

    /// Returns the limit that the search has reached, or `None` if it has reached neither limit.
    fn stop(&self) -> Option<Stop> {
        if self.steps >= self.limits.steps {
            Some(Stop::Steps)
        } else if self.generated >= self.limits.nodes {
            Some(Stop::Nodes)
        } else {
            None
        }
    }

    fn expand_greedy(&mut self, scores: Scores) -> Option<End> {
        if let Some(stop) = self.stop() {
            return Some(Err(stop));
        }
        let node = self.nodes.len() - 1;
        self.parents.clear();
        self.parents.push(self.nodes[node].state);
        if let Some(child) = self.generate_children() {
            self.steps += 1;
            return Some(Ok(self.path_to(node, Some(child))));
        }
        self.fresh.clear();
        self.fresh.extend_from_slice(if scores == Scores::Value { &self.children } else { &self.parents });
        None
    }

    fn step_greedy(&mut self, scores: Scores, greedy: Greedy) -> Option<End> {
        let node = self.nodes.len() - 1;
        let Node { state, action: last, .. } = self.nodes[node];
        let worth = |action: usize| match scores {
            Scores::Value | Scores::ActionValues => self.scores[action],
            Scores::Policy => -self.scores[action],
        };
        let mut action = nearest(&self.children, None, worth);
        let undoes = node > 0 && action == self.actions.inverse(usize::from(last));
        let uses_second = greedy == Greedy::Onward && undoes;
        if uses_second {
            action = nearest(&self.children, Some(action), worth);
        }
        if self.known.place(state.key() ^ u64::from(uses_second), 0).is_some() {
            return Some(Err(Stop::Nothing));
        }
        self.steps += 1;
        self.nodes.push(Node {
            state: self.children[action],
            parent: node as u32,
            action: action as u8,
            closed: false,
            steps: self.steps as u32,
            score: 0.0,
        });
        None
    }

    fn expand_beam(&mut self, scores: Scores) -> Option<End> {
        if let Some(stop) = self.stop() {
            return Some(Err(stop));
        }
        let (level, count) = (self.level, self.actions.count());
        self.parents.clear();
        self.parents.extend(self.nodes[level..].iter().map(|node| node.state));
        self.steps += 1;
        if let Some(child) = self.generate_children() {
            return Some(Ok(self.path_to(level + child / count, Some(child % count))));
        }
        self.fresh.clear();
        if scores == Scores::Value {
            self.gather(scores);
            self.fresh.extend(self.candidates.iter().map(|candidate| self.children[candidate.child as usize]));
        } else {
            self.fresh.extend_from_slice(&self.parents);
        }
        None
    }

    /// Collects in `candidates` the children that the beam has not kept before. A state that occurs several times is collected once, with
    /// its lowest cost.
    fn gather(&mut self, scores: Scores) {
        let (level, count) = (self.level, self.actions.count());
        self.keys.clear();
        self.candidates.clear();
        for (i, child) in self.children.iter().enumerate() {
            let key = child.key();
            if self.known.find(key).is_some() {
                continue;
            }
            let cost = match scores {
                Scores::Value => 0.0,
                Scores::ActionValues => self.scores[i],
                Scores::Policy => -(self.nodes[level + i / count].score + self.scores[i]),
            };
            let new = Candidate { cost, child: i as u32 };
            match self.keys.place(key, self.candidates.len() as u32) {
                None => self.candidates.push(new),
                Some(place) => {
                    let old = &mut self.candidates[place as usize];
                    if new.cost < old.cost {
                        *old = new;
                    }
                }
            }
        }
    }

    fn select_beam(&mut self, scores: Scores, width: usize) -> Option<End> {
        let (level, count) = (self.level, self.actions.count());
        if scores == Scores::Value {
            for (candidate, &value) in self.candidates.iter_mut().zip(&self.scores) {
                candidate.cost = value;
            }
        } else {
            self.gather(scores);
        }
        if self.candidates.len() > width {
            let order = |a: &Candidate, b: &Candidate| a.cost.total_cmp(&b.cost).then(a.child.cmp(&b.child));
            self.candidates.select_nth_unstable_by(width, order);
            self.candidates.truncate(width);
            // Sorts by child index, an order that does not depend on the selection algorithm.
            self.candidates.sort_unstable_by_key(|candidate| candidate.child);
        }
        self.level = self.nodes.len();
        for candidate in &self.candidates {
            let child = candidate.child as usize;
            let state = self.children[child];
            self.known.place(state.key(), self.nodes.len() as u32);
            self.nodes.push(Node {
                state,
                parent: (level + child / count) as u32,
                action: (child % count) as u8,
                closed: false,
                steps: self.steps as u32,
                score: -candidate.cost,
            });
        }
        (self.level == self.nodes.len()).then_some(Err(Stop::Nothing))
    }

    fn expand_a_star(&mut self, scores: Scores, weight: f32, batch: usize) -> Option<End> {
        if self.generated >= self.limits.nodes {
            return Some(Err(Stop::Nodes));
        }
        self.taken.clear();
        self.parents.clear();
        let mut too_far = false;
        while self.taken.len() < batch {
            let Some(Reverse((_, Reverse(steps), at))) = self.open.pop() else { break };
            let node = &mut self.nodes[at as usize];
            // The queue may contain a reopened node several times. Only the entry with the current number of steps counts.
            if node.closed || node.steps != steps {
                continue;
            }
            if node.state == P::SOLVED {
                return Some(Ok(self.path_to(at as usize, None)));
            }
            if steps as usize >= self.limits.steps {
                too_far = true;
                continue;
            }
            node.closed = true;
            self.taken.push(at);
            self.parents.push(node.state);
            self.steps = self.steps.max(steps as usize + 1);
        }
        if self.taken.is_empty() {
            return Some(Err(if too_far { Stop::Steps } else { Stop::Nothing }));
        }
        self.generate_children();
        self.fresh.clear();
        if scores == Scores::Value {
            self.find(scores, weight);
        } else {
            self.fresh.extend_from_slice(&self.parents);
        }
        None
    }

    /// Adds a node for each new child. If a child already has a node and the new path is shorter, updates the node and marks the node for
    /// expansion again.
    fn find(&mut self, scores: Scores, weight: f32) {
        let count = self.actions.count();
        self.candidates.clear();
        for (i, &state) in self.children.iter().enumerate() {
            let parent = self.taken[i / count];
            let steps = self.nodes[parent as usize].steps + 1;
            let place = self.nodes.len() as u32;
            match self.known.place(state.key(), place) {
                None => {
                    let action = (i % count) as u8;
                    self.nodes.push(Node { state, parent, action, closed: false, steps, score: 0.0 });
                    let cost = match scores {
                        Scores::ActionValues => self.scores[i] - 1.0,
                        _ => {
                            self.fresh.push(state);
                            0.0
                        }
                    };
                    self.candidates.push(Candidate { cost, child: place });
                }
                Some(old) => {
                    let node = &mut self.nodes[old as usize];
                    if steps >= node.steps {
                        continue;
                    }
                    let is_fresh = self.candidates.first().is_some_and(|first| old >= first.child);
                    (node.parent, node.action, node.steps) = (parent, (i % count) as u8, steps);
                    node.closed = false;
                    if !is_fresh {
                        let promise = weight * steps as f32 + node.score;
                        self.open.push(Reverse((rank(promise), Reverse(steps), old)));
                    }
                }
            }
        }
    }

    fn queue_a_star(&mut self, scores: Scores, weight: f32) -> Option<End> {
        if scores == Scores::Value {
            for (candidate, &value) in self.candidates.iter_mut().zip(&self.scores) {
                candidate.cost = value;
            }
        } else {
            self.find(scores, weight);
        }
        for candidate in &self.candidates {
            let node = &mut self.nodes[candidate.child as usize];
            node.score = if node.state == P::SOLVED { 0.0 } else { candidate.cost };
            let promise = weight * node.steps as f32 + node.score;
            self.open.push(Reverse((rank(promise), Reverse(node.steps), candidate.child)));
        }
        None
    }
}

/// Hash map from state keys to indices, with open addressing.
#[derive(Default)]
struct Keys {
    /// Each slot contains a key and an index plus 1. In a free slot, the second number is 0.
    slots: Vec<(u64, u32)>,
    len: usize,
}

impl Keys {
    fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.len = 0;
    }

    /// Returns the index of the slot that contains the key. If no slot contains the key, returns the index of the free slot for the key.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        while self.slots[slot].1 != 0 && self.slots[slot].0 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(key)].1.checked_sub(1)
    }

    /// Returns the index stored for the key. If no index is stored, stores the index `place` and returns `None`.
    #[inline]
    fn place(&mut self, key: u64, place: u32) -> Option<u32> {
        if 2 * self.len >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot(key);
        let known = self.slots[slot].1.checked_sub(1);
        if known.is_none() {
            self.slots[slot] = (key, place + 1);
            self.len += 1;
        }
        known
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(1 << 10);
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (key, place) in old.into_iter().filter(|slot| slot.1 != 0) {
            let slot = self.slot(key);
            self.slots[slot] = (key, place);
        }
    }
}
