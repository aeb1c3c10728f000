//! One game's search: PUCT (Silver et al. 2017) over decisions, with the dice as chance nodes between them.
//!
//!   choose the action with the most Q + c·P·√N/(1 + n),  Q = sum of what came back / n, in points a game
//!
//! Nodes lie in arenas that never grow; a board after a move is found again by its 64-bit hash, however it was reached, and
//! holds the decisions of its 21 rolls, so that on the way down and up only indices are followed. Legal actions stay in their
//! node, those looked at first in front: the best of the rest is the one with the largest prior, so a choice looks at
//! those that have been tried and one more.
//!
//! Dice are not drawn: the 36 ways they fall come once each in 36 visits of a board, in an order that its hash decides, so that
//! the mean over them is the expectation. A way down counts as a loss until its answer comes back, which keeps the other
//! ways of the same batch off it.
//!
//! It knows no network: whoever drives it fills in what one says of the decisions that it names.

use super::inputs::Decision;
use super::net::{action, play};
use math::rng::Sequence;
use math::{Isa, poly};
use worlds::backgammon::{Board, Results, Roll};

/// An action of a decision: 16 bytes, four to a cache line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    pub prior: f32,
    /// Of what came back, in points for who decides.
    pub sum: f32,
    pub visits: u16,
    /// Ways down whose answer has not come back.
    pending: u16,
    pub action: u16,
    child: u16,
}

/// What an edge leads to, besides a chance node by its index.
const UNKNOWN: u16 = 0xFFFF;
/// The end of the game, which whoever decides has won: the lowest two bits are the points.
const ENDED: u16 = 0xFFF0;
/// The second half of a double, by its node's index.
const SECOND: u16 = 0x8000;
/// No node has this index.
const NONE: u16 = 0x7FFF;
const MOST_NODES: usize = 0x7FF0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fresh,
    /// A network has been asked about it.
    Asked,
    Open,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    decision: Decision,
    state: State,
    /// Its first edge, how many it has, and how many of them have been tried; these are in front.
    first: u32,
    count: u16,
    tried: u16,
    visits: u32,
    pending: u32,
    /// The network's, in points for who decides.
    value: f32,
}

/// A board before a roll, seen by who is to make it.
#[derive(Clone, Copy, Debug)]
struct Chance {
    board: Board,
    rolls: [u16; Roll::ALL.len()],
    /// Of the 36 ways dice fall, where to begin and how far to go on from there.
    start: u8,
    stride: u8,
    visits: u32,
}

/// Where a way down went: an edge of a node, and whether dice came after it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    node: u16,
    edge: u32,
    dice: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf {
    /// This decision has to be asked about.
    New(u16),
    /// Points for who made the last step of the way.
    Ended(f32),
    /// Another way of this batch waits for the same answer.
    Busy,
    /// The arenas are full.
    Full,
}

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// c of PUCT, in points.
    pub exploration: f32,
    /// Points that an action nobody tried is thought to be worse than its decision.
    pub doubt: f32,
    /// Points that each unanswered way down counts as lost.
    pub loss: f32,
}

/// No decision has more actions: 15 places for each of two checkers.
pub const MOST_ACTIONS: usize = 240;
/// Steps of the longest way.
const DEEPEST: usize = 200;

pub struct Tree {
    nodes: Vec<Node>,
    chances: Vec<Chance>,
    edges: Vec<Edge>,
    /// Open addressing: 16 bits of a hash above 16 of an index, whose highest tells nodes from chance nodes.
    actor: Box<[u32]>,
    most_nodes: usize,
    most_edges: usize,
    /// Changes the order of the dice from search to search.
    salt: u64,
    /// Of the nodes that are copied, where they went: nodes, then chance nodes.
    moved: Box<[u16]>,
}

const EMPTY: u32 = u32::MAX;
pub const ROOT: u16 = 0;

impl Tree {
    /// Nodes and edges at most.
    fn scratch(evals: usize) -> (usize, usize) {
        let most_nodes = (2 * evals + 64).min(MOST_NODES);
        (most_nodes, 32 * most_nodes + 8 * MOST_ACTIONS)
    }

    pub fn bytes(evals: usize) -> usize {
        let (most_nodes, most_edges) = Self::scratch(evals);
        let nodes = most_nodes * (size_of::<Node>() + size_of::<Chance>() + 2 * size_of::<u16>());
        let actor = (2 * most_nodes).next_power_of_two() * size_of::<u32>();
        size_of::<Tree>() + nodes + actor + most_edges * size_of::<Edge>()
    }

    /// Room for searches of so many evaluations, and for what is kept of the one before.
    pub fn new(evals: usize) -> Tree {
        let (most_nodes, most_edges) = Self::scratch(evals);
        Tree {
            nodes: Vec::with_capacity(most_nodes),
            chances: Vec::with_capacity(most_nodes),
            edges: Vec::with_capacity(most_edges),
            actor: vec![EMPTY; (2 * most_nodes).next_power_of_two()].into(),
            most_nodes,
            most_edges,
            salt: 0,
            moved: vec![NONE; 2 * most_nodes].into(),
        }
    }

    /// Begins with this decision alone.
    pub fn begin(&mut self, decision: Decision, salt: u64) {
        self.nodes.clear();
        self.chances.clear();
        self.edges.clear();
        self.actor.fill(EMPTY);
        self.salt = salt;
        self.push(decision);
    }

    fn push(&mut self, decision: Decision) -> u16 {
        let state = State::Fresh;
        self.nodes.push(Node { decision, state, first: 0, count: 0, tried: 0, visits: 0, pending: 0, value: 0.0 });
        (self.nodes.len() - 1) as u16
    }

    pub fn decision(&self, node: u16) -> &Decision {
        &self.nodes[usize::from(node)].decision
    }

    /// Whether a network has been heard about the root.
    pub fn is_open(&self) -> bool {
        self.nodes[0].state == State::Open
    }

    pub fn edges(&self, node: u16) -> &[Edge] {
        let node = &self.nodes[usize::from(node)];
        &self.edges[node.first as usize..][..usize::from(node.count)]
    }

    /// The second half of a double that an action of the root leads to, where it is known.
    pub fn second(&self, edge: usize) -> Option<u16> {
        let child = self.edges(ROOT)[edge].child;
        (child & SECOND != 0 && child < ENDED).then_some(child & !SECOND)
    }

    /// Goes down to a decision that nothing is known of, or to an end. The way is added to `way`; where the answer is that no
    /// evaluation comes of it, take it back.
    pub fn descend(&mut self, rule: &Rule, way: &mut Vec<Step>) -> Leaf {
        let began = way.len();
        let mut at = ROOT;
        loop {
            let node = &mut self.nodes[usize::from(at)];
            match node.state {
                State::Open => {}
                State::Asked => return Leaf::Busy,
                State::Fresh => {
                    node.state = State::Asked;
                    return Leaf::New(at);
                }
            }
            if way.len() - began == DEEPEST || !self.has_room() {
                return Leaf::Full;
            }
            let node = &mut self.nodes[usize::from(at)];
            let edges = &mut self.edges[node.first as usize..][..usize::from(node.count)];
            let best = choose(rule, node, edges);
            node.pending += 1;
            edges[best].pending += 1;
            let edge = node.first + best as u32;
            if best == usize::from(node.tried) {
                node.tried += 1;
                promote(&mut edges[best + 1..]);
            }
            let Edge { mut child, action, .. } = self.edges[edge as usize];
            if child == UNKNOWN {
                child = self.follow(at, action);
                self.edges[edge as usize].child = child;
            }
            way.push(Step { node: at, edge, dice: child & SECOND == 0 });
            if child >= ENDED {
                return Leaf::Ended(f32::from(child & 3));
            }
            at = if child & SECOND == 0 { self.fall(child) } else { child & !SECOND };
        }
    }

    fn has_room(&self) -> bool {
        // Each evaluation under way will want edges yet.
        let asked = 8 * MOST_ACTIONS;
        self.nodes.len() + 1 < self.most_nodes && self.chances.len() < self.most_nodes && self.edges.len() + asked <= self.most_edges
    }

    /// What an action leads to.
    fn follow(&mut self, at: u16, action: u16) -> u16 {
        let Decision { board, roll: place, second } = self.nodes[usize::from(at)].decision;
        let roll = Roll::ALL[usize::from(place)];
        let after = board.moved(roll, play(action));
        if roll.is_double() && !second && after.can_move(roll.high()) {
            let decision = Decision { board: after, roll: place, second: true };
            let hash = hash_of_second(&decision);
            let found = self.find(hash, |tree, id| id & SECOND != 0 && tree.nodes[usize::from(id & !SECOND)].decision == decision);
            return found.unwrap_or_else(|slot| {
                let id = self.push(decision) | SECOND;
                self.actor[slot] = tagged(hash, id);
                id
            });
        }
        match after.points() {
            0 => self.chance(after.turned()),
            points => ENDED | points.unsigned_abs() as u16 & 3,
        }
    }

    fn chance(&mut self, board: Board) -> u16 {
        const STRIDES: [u8; 12] = [1, 5, 7, 11, 13, 17, 19, 23, 25, 29, 31, 35];
        let hash = board.hash64();
        let found = self.find(hash, |tree, id| id & SECOND == 0 && tree.chances[usize::from(id)].board == board);
        found.unwrap_or_else(|slot| {
            let mixed = (hash ^ self.salt).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32;
            let start = (mixed % 36) as u8;
            let stride = STRIDES[(mixed / 36 % 12) as usize];
            self.chances.push(Chance { board, rolls: [NONE; 21], start, stride, visits: 0 });
            let id = (self.chances.len() - 1) as u16;
            self.actor[slot] = tagged(hash, id);
            id
        })
    }

    /// The index that the table has of a hash, or the place where one goes.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(&Tree, u16) -> bool) -> Result<u16, usize> {
        let mask = self.actor.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.actor[slot];
            if entry == EMPTY {
                return Err(slot);
            }
            if entry >> 16 == (hash >> 48) as u32 && is_it(self, entry as u16) {
                return Ok(entry as u16);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The dice fall: the next of the 36 ways.
    fn fall(&mut self, chance: u16) -> u16 {
        let Chance { board, rolls, start, stride, visits } = &mut self.chances[usize::from(chance)];
        let way = (u32::from(*start) + *visits % 36 * u32::from(*stride)) % 36;
        *visits += 1;
        let roll = WAYS[way as usize];
        let known = rolls[usize::from(roll)];
        if known != NONE {
            return known;
        }
        // At the most one more than there are nodes, which were counted before this step.
        let node = self.nodes.len() as u16;
        rolls[usize::from(roll)] = node;
        let board = *board;
        self.push(Decision { board, roll, second: false })
    }

    /// Takes a way back that brings nothing.
    pub fn forget(&mut self, way: &[Step]) {
        for step in way {
            self.nodes[usize::from(step.node)].pending -= 1;
            let edge = &mut self.edges[step.edge as usize];
            edge.pending -= 1;
            if step.dice && edge.child < NONE {
                self.chances[usize::from(edge.child)].visits -= 1;
            }
        }
    }

    /// Brings back points for who decides at the leaf, or who made the last step to an end.
    pub fn back_up(&mut self, way: &[Step], points: f32) {
        let mut points = points;
        for step in way.iter().rev() {
            // After the dice the other side decides.
            if step.dice {
                points = -points;
            }
            let node = &mut self.nodes[usize::from(step.node)];
            node.pending -= 1;
            node.visits += 1;
            let edge = &mut self.edges[step.edge as usize];
            edge.pending -= 1;
            edge.visits += 1;
            edge.sum += points;
        }
    }

    /// Gives a decision its legal actions.
    pub fn list(&mut self, at: u16, scratch: &mut Results) {
        let node = &mut self.nodes[usize::from(at)];
        let actions = legal(&node.decision, scratch);
        (node.first, node.count) = (self.edges.len() as u32, actions.len() as u16);
        self.edges.extend(actions.map(|action| Edge { action, child: UNKNOWN, ..Edge::default() }));
    }

    pub fn actions(&self, at: u16, to: &mut Vec<u16>) {
        to.clear();
        to.extend(self.edges(at).iter().map(|edge| edge.action));
    }

    /// Opens a decision with what a network says of it.
    pub fn open(&mut self, at: u16, value: f32, priors: &[f32]) {
        let node = &mut self.nodes[usize::from(at)];
        (node.state, node.value) = (State::Open, value);
        let edges = &mut self.edges[node.first as usize..][..usize::from(node.count)];
        edges.iter_mut().zip(priors).for_each(|(edge, &prior)| edge.prior = prior);
        promote(edges);
    }

    /// Mixes noise into the root's priors, so that every action is looked at now and then.
    pub fn add_noise(&mut self, isa: Isa, numbers: &mut Sequence, share: f32, alpha: f32) {
        let node = &self.nodes[0];
        let edges = &mut self.edges[node.first as usize..][..usize::from(node.count)];
        let mut noise = [0.0f32; MOST_ACTIONS];
        let noise = &mut noise[..edges.len()];
        noise.iter_mut().for_each(|x| *x = gamma(isa, alpha, numbers));
        let sum: f32 = noise.iter().sum();
        if sum > 0.0 {
            for (edge, &x) in edges.iter_mut().zip(&*noise) {
                edge.prior += share * (x / sum - edge.prior);
            }
        }
        let tried = usize::from(node.tried);
        promote(&mut edges[tried..]);
    }

    /// Goes on from the decision that was reached: keeps what is known below it, and gives whether anything is. `spare` becomes the
    /// old tree.
    pub fn reuse_subtree(&mut self, edge: usize, reached: Decision, salt: u64, spare: &mut Tree, room_for: usize) -> bool {
        let child = self.edges(ROOT)[edge].child;
        let node = if child >= ENDED {
            NONE
        } else if child & SECOND != 0 {
            child & !SECOND
        } else {
            self.chances[usize::from(child)].rolls[usize::from(reached.roll)]
        };
        let known = node != NONE && {
            let node = &self.nodes[usize::from(node)];
            node.state == State::Open && node.decision == reached
        };
        spare.begin(reached, salt);
        if known {
            self.copy_to(node, spare);
            // What is kept must leave room for a search.
            if spare.nodes.len() + room_for > spare.most_nodes || spare.edges.len() + 24 * room_for + 8 * MOST_ACTIONS > spare.most_edges {
                spare.begin(reached, salt);
            }
        }
        std::mem::swap(self, spare);
        self.is_open()
    }

    /// Everything that can be reached from a node, its copy first.
    fn copy_to(&mut self, from: u16, to: &mut Tree) {
        self.moved.fill(NONE);
        self.moved[usize::from(from)] = ROOT;
        to.nodes[0] = self.nodes[usize::from(from)];
        // The copies are the list of what is left to look at.
        let (mut node, mut chance) = (0, 0);
        loop {
            if node < to.nodes.len() {
                let Node { first, count, .. } = to.nodes[node];
                to.nodes[node].first = to.edges.len() as u32;
                to.edges.extend_from_slice(&self.edges[first as usize..][..usize::from(count)]);
                let copied = to.nodes[node].first as usize;
                for i in 0..usize::from(to.nodes[node].tried) {
                    let child = to.edges[copied + i].child;
                    to.edges[copied + i].child = match child {
                        ENDED.. => child,
                        _ if child & SECOND != 0 => self.node_to(child & !SECOND, to) | SECOND,
                        _ => self.chance_to(child, to),
                    };
                }
                node += 1;
            } else if chance < to.chances.len() {
                for roll in 0..Roll::ALL.len() {
                    let child = to.chances[chance].rolls[roll];
                    if child != NONE {
                        to.chances[chance].rolls[roll] = self.node_to(child, to);
                    }
                }
                chance += 1;
            } else {
                return;
            }
        }
    }

    fn node_to(&mut self, id: u16, to: &mut Tree) -> u16 {
        if self.moved[usize::from(id)] == NONE {
            let node = self.nodes[usize::from(id)];
            self.moved[usize::from(id)] = to.nodes.len() as u16;
            to.nodes.push(node);
            if node.decision.second {
                to.enter(hash_of_second(&node.decision), (to.nodes.len() as u16 - 1) | SECOND);
            }
        }
        self.moved[usize::from(id)]
    }

    fn chance_to(&mut self, id: u16, to: &mut Tree) -> u16 {
        let moved = self.most_nodes + usize::from(id);
        if self.moved[moved] == NONE {
            let chance = self.chances[usize::from(id)];
            self.moved[moved] = to.chances.len() as u16;
            to.chances.push(chance);
            to.enter(chance.board.hash64(), to.chances.len() as u16 - 1);
        }
        self.moved[moved]
    }

    /// Puts into the table what is known not to be there.
    fn enter(&mut self, hash: u64, id: u16) {
        if let Err(slot) = self.find(hash, |_, _| false) {
            self.actor[slot] = tagged(hash, id);
        }
    }
}

/// Of the second half of a double.
fn hash_of_second(decision: &Decision) -> u64 {
    decision.board.hash64() ^ u64::from(decision.roll + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Finds what a decision can lead to: a whole move, or two moves of a double.
pub fn list(decision: &Decision, scratch: &mut Results) {
    let roll = decision.roll();
    if roll.is_double() {
        decision.board.halves(roll, scratch);
    } else {
        decision.board.results(roll, scratch);
    }
}

/// The same as actions.
pub fn legal<'a>(decision: &Decision, scratch: &'a mut Results) -> impl ExactSizeIterator<Item = u16> + 'a {
    list(decision, scratch);
    scratch.plays().iter().map(|play| action([play[0], play[1]]))
}

#[inline]
fn tagged(hash: u64, id: u16) -> u32 {
    (hash >> 48) as u32 * 0x1_0000 + u32::from(id)
}

/// The 36 ways two dice fall, as places in [`Roll::ALL`].
const WAYS: [u8; 36] = {
    let mut ways = [0; 36];
    let mut i = 0;
    while i < 36 {
        let (one, other) = (1 + i as u8 / 6, 1 + i as u8 % 6);
        let (high, low) = if one > other { (one, other) } else { (other, one) };
        ways[i] = high * (high - 1) / 2 + low - 1;
        i += 1;
    }
    ways
};

#[inline]
fn choose(rule: &Rule, node: &Node, edges: &[Edge]) -> usize {
    let explore = rule.exploration * ((node.visits + node.pending).max(1) as f32).sqrt();
    let untried = node.value - rule.doubt;
    let tried = usize::from(node.tried);
    let (mut best, mut most) = (0, f32::NEG_INFINITY);
    for (i, edge) in edges[..tried].iter().enumerate() {
        let n = f32::from(edge.visits) + f32::from(edge.pending);
        let q = if n > 0.0 { (edge.sum - rule.loss * f32::from(edge.pending)) / n } else { untried };
        let score = q + explore * edge.prior / (1.0 + n);
        if score > most {
            (best, most) = (i, score);
        }
    }
    if let Some(next) = edges.get(tried)
        && untried + explore * next.prior > most
    {
        best = tried;
    }
    best
}

/// Brings the edge with the largest prior to the front.
#[inline]
fn promote(edges: &mut [Edge]) {
    let (mut best, mut most) = (0, f32::NEG_INFINITY);
    for (i, edge) in edges.iter().enumerate() {
        if edge.prior > most {
            (best, most) = (i, edge.prior);
        }
    }
    if best > 0 {
        edges.swap(0, best);
    }
}

/// A number of the gamma distribution with shape `alpha` in (0, 1] (Ahrens and Dieter 1974, GS).
fn gamma(isa: Isa, alpha: f32, numbers: &mut Sequence) -> f32 {
    let power = |x: f32, y: f32| poly::exp_1(isa, y * poly::ln_1(isa, x));
    let b = 1.0 + alpha / std::f32::consts::E;
    loop {
        let p = b * numbers.uniform();
        // In (0, 1].
        let u = 1.0 - numbers.uniform();
        if p <= 1.0 {
            let x = if p > 0.0 { power(p, 1.0 / alpha) } else { 0.0 };
            if u <= poly::exp_1(isa, -x) {
                return x;
            }
        } else {
            let x = -poly::ln_1(isa, ((b - p) / alpha).max(f32::MIN_POSITIVE));
            if u <= power(x, alpha - 1.0) {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use math::Rng;
    use std::collections::HashMap;
    use worlds::backgammon::BAR;

    const RULE: Rule = Rule { exploration: 1.5, doubt: 0.2, loss: 1.0 };

    fn board(mine: &[(usize, u8)], theirs: &[(usize, u8)]) -> Board {
        let side = |places: &[(usize, u8)]| {
            let mut all = [0; BAR];
            places.iter().for_each(|&(place, count)| all[place - 1] = count);
            all
        };
        Board::new(side(mine), side(theirs)).unwrap()
    }

    /// A network that makes something up: a value and, for each action, a weight.
    fn made_up(decision: &Decision, action: u16) -> f32 {
        let hash = decision.board.hash64() as u32 ^ u32::from(decision.roll) << 8 ^ u32::from(decision.second);
        math::rng::uniform_from_word(math::rng::hash_1([1, 2], [hash, action.into()])[0])
    }

    fn value_of(decision: &Decision) -> f32 {
        2.0 * made_up(decision, 999) - 1.0
    }

    fn priors_of(decision: &Decision, actions: &[u16]) -> Vec<f32> {
        let weights: Vec<f32> = actions.iter().map(|&a| 0.1 + made_up(decision, a)).collect();
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// So many ways down, `abreast` of them under way at once.
    fn search(tree: &mut Tree, count: u32, abreast: usize, value: &dyn Fn(&Decision) -> f32) {
        let (mut scratch, mut actions, mut left) = (Results::new(), Vec::new(), count);
        while left > 0 {
            let (mut way, mut waiting) = (Vec::new(), Vec::new());
            while waiting.len() < abreast.min(left as usize) {
                let first = way.len();
                match tree.descend(&RULE, &mut way) {
                    Leaf::New(node) => waiting.push((node, first..way.len())),
                    Leaf::Ended(points) => {
                        tree.back_up(&way[first..], points);
                        way.truncate(first);
                        left -= 1;
                    }
                    Leaf::Busy => {
                        tree.forget(&way[first..]);
                        way.truncate(first);
                        break;
                    }
                    Leaf::Full => panic!("full"),
                }
            }
            for (node, range) in waiting {
                tree.list(node, &mut scratch);
                tree.actions(node, &mut actions);
                let decision = *tree.decision(node);
                tree.open(node, value(&decision), &priors_of(&decision, &actions));
                tree.back_up(&way[range], value(&decision));
                left -= 1;
            }
        }
    }

    fn grown(decision: Decision, count: u32, abreast: usize) -> Tree {
        let mut tree = Tree::new(count as usize);
        tree.begin(decision, 0);
        search(&mut tree, count, abreast, &value_of);
        tree
    }

    /// Visits of an action, and the sum of points.
    type Tried = (u32, f32);

    /// The same search by its definition: tables of everything, all actions compared, one way at a time.
    #[derive(Default)]
    struct Plain {
        /// By decision that was met, and action.
        known: HashMap<(Board, u8, bool), HashMap<u16, Tried>>,
        dice: HashMap<Board, u32>,
    }

    impl Plain {
        fn visit(&mut self, decision: Decision) -> f32 {
            let key = (decision.board, decision.roll, decision.second);
            let Some(known) = self.known.get(&key).cloned() else {
                self.known.insert(key, HashMap::new());
                return value_of(&decision);
            };
            let mut scratch = Results::new();
            let actions: Vec<u16> = legal(&decision, &mut scratch).collect();
            let all: u32 = known.values().map(|edge| edge.0).sum();
            let score = |i: usize, prior: f32| {
                let (n, sum) = known.get(&actions[i]).copied().unwrap_or((0, 0.0));
                let q = if n > 0 { sum / n as f32 } else { value_of(&decision) - RULE.doubt };
                q + RULE.exploration * (all.max(1) as f32).sqrt() * prior / (1.0 + n as f32)
            };
            let scores: Vec<f32> = priors_of(&decision, &actions).into_iter().enumerate().map(|(i, p)| score(i, p)).collect();
            let best = (0..actions.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            let roll = decision.roll();
            let after = decision.board.moved(roll, play(actions[best]));
            let points = if roll.is_double() && !decision.second && after.can_move(roll.high()) {
                self.visit(Decision { board: after, second: true, ..decision })
            } else if after.points() != 0 {
                after.points() as f32
            } else {
                // The order of the dice is the tree's own: everything else is here.
                let mut tree = Tree::new(2);
                tree.begin(decision, 0);
                let chance = tree.chance(after.turned());
                let Chance { start, stride, .. } = tree.chances[usize::from(chance)];
                let n = self.dice.entry(after.turned()).or_default();
                let way = (u32::from(start) + *n % 36 * u32::from(stride)) % 36;
                *n += 1;
                let roll = Roll::new(1 + way as u8 / 6, 1 + way as u8 % 6).unwrap();
                -self.visit(Decision::new(after.turned(), roll))
            };
            let edge = self.known.entry(key).or_default().entry(actions[best]).or_default();
            edge.0 += 1;
            edge.1 += points;
            points
        }
    }

    fn visits(tree: &Tree, node: u16) -> Vec<(u16, u16, f32)> {
        let mut all: Vec<_> = tree.edges(node).iter().map(|e| (e.action, e.visits, e.sum)).collect();
        all.sort_by_key(|edge| edge.0);
        all
    }

    #[test]
    fn visits_are_those_of_a_search_by_its_definition() {
        let close = board(&[(1, 2), (2, 1), (6, 1)], &[(1, 1), (3, 2)]);
        let on_bar = board(&[(25, 1), (8, 2), (6, 3)], &[(1, 2), (2, 2), (24, 1)]);
        for board in [Board::START, close, on_bar] {
            for roll in [Roll::ALL[1], Roll::ALL[8], Roll::ALL[2], Roll::ALL[20]] {
                let tree = grown(Decision::new(board, roll), 150, 1);
                let mut plain = Plain::default();
                (0..150).for_each(|_| {
                    plain.visit(Decision::new(board, roll));
                });
                let known = &plain.known[&(board, super::super::inputs::place_of(roll), false)];
                for (action, n, sum) in visits(&tree, ROOT) {
                    let (plain_n, plain_sum) = known.get(&action).copied().unwrap_or_default();
                    assert_eq!(u32::from(n), plain_n, "{board:?} {roll:?}: {action}");
                    assert!((sum - plain_sum).abs() < 1e-3, "{board:?} {roll:?}: {sum} {plain_sum}");
                }
            }
        }
    }

    /// One action, then every roll of the other side, whose worth is known and stays what it is a step farther on.
    #[test]
    fn the_dice_bring_their_expectation_to_the_side_that_waited_for_them() {
        let board = board(&[(4, 1)], &[(20, 1), (13, 1)]);
        let worth = |pips: u32| 0.1 * pips as f32 - 0.5;
        let value = |decision: &Decision| match decision.board.mine().pips() {
            33 => worth(u32::from(decision.roll().high() + decision.roll().low())),
            _ => -worth(33 - decision.board.theirs().pips()),
        };
        let mut tree = Tree::new(100);
        tree.begin(Decision::new(board, Roll::ALL[1]), 0);
        // The first opens the root, whose one action is then tried 36 times.
        search(&mut tree, 37, 1, &value);
        let &[edge] = tree.edges(ROOT) else { panic!("one action") };
        assert_eq!(edge.visits, 36);
        let sum: f32 = (0..36).map(|way| worth(2 + way / 6 + way % 6)).sum();
        assert!(sum > 5.0 && (edge.sum + sum).abs() < 1e-4, "{} {sum}", edge.sum);
    }

    #[test]
    fn every_way_the_dice_fall_comes_once_in_36() {
        for salt in 0..200 {
            let mut tree = Tree::new(100);
            tree.begin(Decision::new(Board::START, Roll::ALL[1]), salt);
            let chance = tree.chance(Board::START);
            let mut counts = [0; 21];
            for _ in 0..36 {
                let node = tree.fall(chance);
                counts[usize::from(tree.decision(node).roll)] += 1;
            }
            assert_eq!(counts.map(|n: u32| n), Roll::ALL.map(Roll::ways));
        }
    }

    #[test]
    fn nothing_is_left_under_way_when_all_came_back() {
        for abreast in [1, 4, 16] {
            for seed in 0..20 {
                let roll = Roll::drawn(&mut Rng::new(seed, 1).sequence(0));
                let tree = grown(Decision::new(Board::START, roll), 200, abreast);
                assert!(tree.edges.iter().all(|edge| edge.pending == 0));
                assert!(tree.nodes.iter().all(|node| node.pending == 0 && node.state != State::Asked));
                // The first way opened the root and went no farther.
                assert_eq!(tree.nodes[0].visits, 199);
                assert_eq!(tree.edges(ROOT).iter().map(|e| u32::from(e.visits)).sum::<u32>(), 199);
                for node in tree.nodes.iter().filter(|node| node.state == State::Open) {
                    let edges = &tree.edges[node.first as usize..][..usize::from(node.count)];
                    assert!(edges.iter().skip(node.tried.into()).all(|edge| edge.visits == 0));
                    assert!(edges.iter().all(|edge| edge.sum.abs() <= 3.0 * f32::from(edge.visits) + 1e-3));
                }
            }
        }
    }

    #[test]
    fn ways_under_way_keep_others_off() {
        // With one prior far above the others, ways that know nothing of each other would all begin the same.
        let mut tree = Tree::new(100);
        tree.begin(Decision::new(Board::START, Roll::ALL[1]), 0);
        search(&mut tree, 1, 1, &value_of);
        let mut way = Vec::new();
        let mut firsts = Vec::new();
        for _ in 0..8 {
            let first = way.len();
            assert!(matches!(tree.descend(&RULE, &mut way), Leaf::New(_)));
            firsts.push(way[first].edge);
        }
        firsts.sort_unstable();
        firsts.dedup();
        assert!(firsts.len() >= 4, "{firsts:?}");
    }

    #[test]
    fn games_that_end_count_one_two_or_three() {
        let last = |theirs: &[(usize, u8)]| board(&[(1, 2)], theirs);
        for (theirs, points) in [(&[(6, 14)][..], 1.0), (&[(6, 15)][..], 2.0), (&[(6, 14), (20, 1)][..], 3.0), (&[(25, 1), (6, 14)], 3.0)] {
            let tree = grown(Decision::new(last(theirs), Roll::ALL[2]), 10, 1);
            for edge in tree.edges(ROOT) {
                assert_eq!(edge.sum, points * f32::from(edge.visits));
            }
            // Seen from a decision before, where the other side cannot help it.
            let tree = grown(Decision::new(last(theirs).turned(), Roll::ALL[1]), 200, 1);
            let brought: f32 = tree.edges(ROOT).iter().map(|edge| edge.sum).sum();
            assert!(brought < 0.0, "{brought}");
        }
    }

    #[test]
    fn what_is_known_below_a_decision_is_kept() {
        let mut done = 0;
        for seed in 0..30 {
            let mut numbers = Rng::new(seed, 2).sequence(0);
            let roll = Roll::drawn(&mut numbers);
            let mut tree = grown(Decision::new(Board::START, roll), 400, 4);
            let mut spare = Tree::new(400);
            let best = (0..tree.edges(ROOT).len()).max_by_key(|&i| tree.edges(ROOT)[i].visits).unwrap();
            let action = tree.edges(ROOT)[best].action;
            let after = Board::START.moved(roll, play(action));
            let reached = if roll.is_double() {
                Decision { board: after, roll: super::super::inputs::place_of(roll), second: true }
            } else {
                Decision::new(after.turned(), Roll::drawn(&mut numbers))
            };
            let at = tree.nodes.iter().position(|node| node.decision == reached && node.state == State::Open);
            let before = at.map(|at| (visits(&tree, at as u16), tree.nodes[at].value));
            let known = tree.reuse_subtree(best, reached, 7, &mut spare, 400);
            assert_eq!(known, before.is_some());
            assert_eq!(*tree.decision(ROOT), reached);
            if let Some((edges, value)) = before {
                done += 1;
                assert_eq!(visits(&tree, ROOT), edges);
                assert_eq!(tree.nodes[0].value, value);
                // Nothing that cannot be reached came along, and everything points to where it went.
                assert!(tree.nodes.len() < spare.nodes.len());
                for chance in &tree.chances {
                    for (roll, &node) in chance.rolls.iter().enumerate().filter(|(_, node)| **node != NONE) {
                        let decision = tree.nodes[usize::from(node)].decision;
                        assert!(decision.board == chance.board && usize::from(decision.roll) == roll);
                    }
                }
            }
            let before = tree.nodes[0].visits;
            search(&mut tree, 300, 4, &value_of);
            assert_eq!(tree.nodes[0].visits, before + 300);
        }
        assert!(done > 10, "{done}");
    }

    #[test]
    fn noise_is_spread_over_all_actions_and_sums_to_one() {
        let mut tree = grown(Decision::new(Board::START, Roll::ALL[4]), 1, 1);
        let before: Vec<f32> = tree.edges(ROOT).iter().map(|edge| edge.prior).collect();
        let mut numbers = Rng::new(1, 1).sequence(0);
        let mut means = vec![0.0; before.len()];
        for _ in 0..4000 {
            let mut noisy = grown(Decision::new(Board::START, Roll::ALL[4]), 1, 1);
            noisy.add_noise(Isa::best(), &mut numbers, 1.0, 0.3);
            let sum: f32 = noisy.edges(ROOT).iter().map(|edge| edge.prior).sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
            let most = noisy.edges(ROOT).iter().fold(0.0f32, |most, edge| most.max(edge.prior));
            assert_eq!(noisy.edges(ROOT)[0].prior, most, "the largest comes first");
            noisy.edges(ROOT).iter().for_each(|edge| {
                let at = tree.edges(ROOT).iter().position(|other| other.action == edge.action).unwrap();
                means[at] += edge.prior / 4000.0;
            });
        }
        // Of Dirichlet's distribution with 0.3: mean 1/n, variance (n - 1)/(n²(0.3·n + 1)).
        let n = before.len() as f32;
        let error = ((n - 1.0) / (n * n * (0.3 * n + 1.0)) / 4000.0).sqrt();
        assert!(means.iter().all(|mean| (mean - 1.0 / n).abs() < 4.5 * error), "{means:?}");
        tree.add_noise(Isa::best(), &mut numbers, 0.0, 0.3);
        let mut after: Vec<f32> = tree.edges(ROOT).iter().map(|edge| edge.prior).collect();
        let mut sorted = before.clone();
        sorted.sort_by(f32::total_cmp);
        after.sort_by(f32::total_cmp);
        assert_eq!(after, sorted);
    }
}
