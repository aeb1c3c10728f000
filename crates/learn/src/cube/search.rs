//! Searches for a solution with a judge of states: greedily, in a beam, and by A* with weights and batches. Each goes on from
//! slice to slice, ends at its limits, and gives the same result on any machine for the same scores: of equals, what came first.
//!
//! A beam keeps the best `width` of all that the last level led to, each state once, and none that it kept before. By values it
//! judges every child; by values of actions it judges parents, once for all their children; by a policy as well, and a child has
//! the probability of the whole way. A* takes the `batch` most
//! promising of all states found so far, by `weight` times moves made plus moves to go (Agostinelli et al., "Solving the Rubik's
//! cube with deep reinforcement learning and search", 2019).

use super::{Greedy, Judge, Scores, nearest};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use worlds::cube::{Actions, Puzzle};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// It ends where it would go on as it did before.
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
    /// What solves this cube best in a few seconds, by a judge that gives such scores.
    pub fn preset<P: Puzzle>(scores: Scores) -> Method {
        let width = match (P::SIZE, scores) {
            (2, _) => 256,
            (_, Scores::Value) => 4096,
            // These judge a parent once for all its children.
            (_, Scores::ActionValues | Scores::Policy) => 16_384,
        };
        Method::Beam { width }
    }
}

/// Where a search gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Moves of a solution.
    pub steps: usize,
    /// States generated.
    pub nodes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 60, nodes: 20_000_000 }
    }
}

/// Why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Steps,
    Nodes,
    /// All that it would have looked at has been looked at.
    Nothing,
}

/// Actions that solve it, or why there are none.
type End = Result<Vec<u8>, Stop>;

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Actions that were seen to solve it.
    pub solution: End,
    /// Moves that it looked ahead.
    pub steps: usize,
    /// States generated.
    pub nodes: u64,
    /// What the nearest state it met was thought to be away; nothing where the judge gives no values.
    pub nearest: Option<f32>,
}

/// A method that does not go with a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("A* needs values, but this network gives a policy; choose a beam, or learn walk lengths")]
    NeedsValues,
    #[error("a search cannot be 0 wide; choose 1 or more")]
    Empty,
    #[error("the weight of moves made must lie between 0 and 1000; choose one of 1 or below")]
    Weight,
}

/// A search and its memory, which serves any number of searches after each other.
pub struct Search<P> {
    method: Method,
    limits: Limits,
    actions: Actions,
    start: P,
    /// States on the way: all that A* found, all that beams kept, or a greedy way.
    nodes: Vec<Node<P>>,
    known: Keys,
    /// Where the nodes begin that are to be expanded, and after how many moves.
    level: usize,
    steps: usize,
    generated: u64,
    nearest: f32,
    /// Children of what is expanded, where they come from, and where they have what key.
    parents: Vec<P>,
    children: Vec<P>,
    candidates: Vec<Candidate>,
    keys: Keys,
    /// States to be judged, and how many of them were, once there are some.
    fresh: Vec<P>,
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
    /// Of its expansion in A*; a better way there opens it again.
    closed: bool,
    /// Moves made.
    steps: u32,
    /// By a policy the logarithm of the way's probability, else the value.
    score: f32,
}

#[derive(Clone, Copy)]
struct Candidate {
    /// Less is better.
    cost: f32,
    /// Its place among the children.
    child: u32,
}

/// States that a slice judges.
const SLICE: usize = 512;

/// In the order of numbers.
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
            // Nodes are counted in 32 bits.
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

    /// Bytes that a search takes which goes on to its limits, about, and rather more than less.
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
        // What grows doubles.
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

    /// Moves that it has looked ahead.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// States generated so far.
    pub fn nodes(&self) -> u64 {
        self.generated
    }

    /// What the nearest state it met is thought to be away; nothing where the judge gives no values.
    pub fn nearest(&self) -> Option<f32> {
        self.nearest.is_finite().then_some(self.nearest)
    }

    /// To the end.
    pub fn solve(&mut self, start: P, judge: &mut dyn Judge<P>) -> Result<Outcome, SearchError> {
        self.begin(start);
        loop {
            if let Some(outcome) = self.advance(judge)? {
                return Ok(outcome);
            }
        }
    }

    /// A slice of some milliseconds: of one level of a beam, one batch of A*, or one move. The judge must be the same until the
    /// end.
    pub fn advance(&mut self, judge: &mut dyn Judge<P>) -> Result<Option<Outcome>, SearchError> {
        if self.start == P::SOLVED {
            return Ok(Some(self.end(Ok(Vec::new()))));
        }
        let scores = judge.scores();
        if self.judged.is_none() {
            let end = match self.method {
                Method::Greedy(_) => self.look(scores),
                Method::Beam { .. } => self.spread(scores),
                Method::AStar { .. } if scores == Scores::Policy => return Err(SearchError::NeedsValues),
                Method::AStar { weight, batch } => self.expand(scores, weight, batch),
            };
            if let Some(end) = end {
                return Ok(Some(self.end(end)));
            }
        }
        if !self.ask(judge) {
            return Ok(None);
        }
        let end = match self.method {
            Method::Greedy(greedy) => self.follow(scores, greedy),
            Method::Beam { width } => self.narrow(scores, width),
            Method::AStar { weight, .. } => self.promise(scores, weight),
        };
        Ok(end.map(|end| self.end(end)))
    }

    fn end(&self, solution: End) -> Outcome {
        if let Ok(actions) = &solution {
            let last = actions.iter().fold(self.start, |state, &action| state.turned(usize::from(action)));
            assert!(last == P::SOLVED, "a way back is the way there");
        }
        Outcome { solution, steps: self.steps, nodes: self.generated, nearest: self.nearest() }
    }

    /// The actions that led to a node, and one more.
    fn way(&self, mut node: usize, last: Option<usize>) -> Vec<u8> {
        let mut actions: Vec<u8> = last.map(|action| action as u8).into_iter().collect();
        while node != 0 {
            actions.push(self.nodes[node].action);
            node = self.nodes[node].parent as usize;
        }
        actions.reverse();
        actions
    }

    /// What the parents lead to, and the first child that is solved.
    fn breed(&mut self) -> Option<usize> {
        self.children.resize(self.parents.len() * self.actions.count(), P::SOLVED);
        P::fill_children(&self.parents, &self.actions, &mut self.children);
        self.generated += self.children.len() as u64;
        self.children.iter().position(|child| *child == P::SOLVED)
    }

    /// Of some more of the fresh states; says whether that were all.
    fn ask(&mut self, judge: &mut dyn Judge<P>) -> bool {
        let count = judge.scores().count(self.actions.count());
        let from = self.judged.unwrap_or(0);
        let to = self.fresh.len().min(from + judge.at_once(SLICE));
        self.scores.resize(self.fresh.len() * count, 0.0);
        let scores = &mut self.scores[from * count..to * count];
        if !judge.poll(&self.fresh[from..to], scores) {
            self.judged = Some(from);
            return false;
        }
        // An action's value counts the move itself.
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

    /// What is beyond the limits before another level.
    fn stop(&self) -> Option<Stop> {
        if self.steps >= self.limits.steps {
            Some(Stop::Steps)
        } else if self.generated >= self.limits.nodes {
            Some(Stop::Nodes)
        } else {
            None
        }
    }

    fn look(&mut self, scores: Scores) -> Option<End> {
        if let Some(stop) = self.stop() {
            return Some(Err(stop));
        }
        let node = self.nodes.len() - 1;
        self.parents.clear();
        self.parents.push(self.nodes[node].state);
        if let Some(child) = self.breed() {
            self.steps += 1;
            return Some(Ok(self.way(node, Some(child))));
        }
        self.fresh.clear();
        self.fresh.extend_from_slice(if scores == Scores::Value { &self.children } else { &self.parents });
        None
    }

    fn follow(&mut self, scores: Scores, greedy: Greedy) -> Option<End> {
        let node = self.nodes.len() - 1;
        let Node { state, action: last, .. } = self.nodes[node];
        let worth = |action: usize| match scores {
            Scores::Value | Scores::ActionValues => self.scores[action],
            Scores::Policy => -self.scores[action],
        };
        let mut action = nearest(&self.children, None, worth);
        let turns_back = node > 0 && action == self.actions.inverse(usize::from(last));
        let evades = greedy == Greedy::Onward && turns_back;
        if evades {
            action = nearest(&self.children, Some(action), worth);
        }
        if self.known.place(state.key() ^ u64::from(evades), 0).is_some() {
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

    fn spread(&mut self, scores: Scores) -> Option<End> {
        if let Some(stop) = self.stop() {
            return Some(Err(stop));
        }
        let (level, count) = (self.level, self.actions.count());
        self.parents.clear();
        self.parents.extend(self.nodes[level..].iter().map(|node| node.state));
        self.steps += 1;
        if let Some(child) = self.breed() {
            return Some(Ok(self.way(level + child / count, Some(child % count))));
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

    /// Each new state once, and by the best that is said of a way to it.
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

    fn narrow(&mut self, scores: Scores, width: usize) -> Option<End> {
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
            // In an order that does not depend on how they were selected.
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

    fn expand(&mut self, scores: Scores, weight: f32, batch: usize) -> Option<End> {
        if self.generated >= self.limits.nodes {
            return Some(Err(Stop::Nodes));
        }
        self.taken.clear();
        self.parents.clear();
        let mut too_far = false;
        while self.taken.len() < batch {
            let Some(Reverse((_, Reverse(steps), at))) = self.open.pop() else { break };
            let node = &mut self.nodes[at as usize];
            // One that was opened again on a better way is closed by the first that is taken.
            if node.closed || node.steps != steps {
                continue;
            }
            if node.state == P::SOLVED {
                return Some(Ok(self.way(at as usize, None)));
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
        self.breed();
        self.fresh.clear();
        if scores == Scores::Value {
            self.find(scores, weight);
        } else {
            self.fresh.extend_from_slice(&self.parents);
        }
        None
    }

    /// What is new among the children, and what is reached on a better way.
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

    fn promise(&mut self, scores: Scores, weight: f32) -> Option<End> {
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

/// Places by key: a table with open addresses.
#[derive(Default)]
struct Keys {
    /// A key, and a place and 1; 0 is free.
    slots: Vec<(u64, u32)>,
    len: usize,
}

impl Keys {
    fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.len = 0;
    }

    /// Where the key is, or where it would be.
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

    /// The place that the key has; where it has none, it has this one from now on.
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
