//! Search tree of one game: PUCT (Silver et al. 2017) over decisions, with the dice as chance nodes between decisions.
//!
//! The search chooses the action with the largest Q + c·P·√N/(1 + n). Q is the mean of the action's backed-up values in points per game. P
//! is the prior of the action, n is the number of its visits, and N is the number of visits of the decision.
//!
//! Nodes are stored in arrays of fixed capacity. A chance node contains the indices of the nodes of its 21 rolls. A hash table finds two
//! kinds of nodes by a 64-bit hash of the position: chance nodes, and nodes of second halves of doubles. The hash does not depend on the
//! moves that led to the position. After its first use, an edge stores the index of its child, so that later simulations need no hash. The
//! edges of a node are ordered: first the tried edges, then the untried edge with the largest prior, then all others. A choice therefore
//! examines only the tried edges and one untried edge.
//!
//! Dice are not drawn at random. In any 36 consecutive visits of a chance node, each of the 36 dice combinations occurs once. The mean over
//! these visits is therefore the exact expectation. The order of the combinations depends on the board's hash. A pending simulation counts
//! as a loss (virtual loss), which directs other simulations of the batch to different actions.
//!
//! The tree does not contain the network. The caller computes the network's outputs for the decisions that the tree requests.

mod saved;

use super::inputs::Decision;
use super::net::{action, play};
use math::rng::Sequence;
use math::{Isa, poly};
use worlds::backgammon::{Board, Results, Roll};

/// An action of a decision. An edge has 16 bytes, so that a cache line holds four edges.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    pub prior: f32,
    /// Sum of backed-up values, in points for the player who decides.
    pub sum: f32,
    pub visits: u16,
    /// Number of simulations through this edge whose results are pending.
    pub pending: u16,
    pub action: u16,
    child: u16,
}

/// Value of `Edge::child` until a simulation uses the edge for the first time.
const UNKNOWN: u16 = 0xFFFF;
/// Value of `Edge::child` for an action that wins the game. The lowest two bits are the points won, 1 to 3.
const ENDED: u16 = 0xFFF0;
/// Flag in `Edge::child` for an action that leads to the second half of a double. The other bits are the index of the second half's node.
const SECOND: u16 = 0x8000;
/// Marker for a missing index. No node and no chance node has this index.
pub const NONE: u16 = 0x7FFF;
const MOST_NODES: usize = 0x7FF0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Fresh,
    /// The evaluation was requested and is not complete.
    Pending,
    Open,
}

#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub decision: Decision,
    pub state: State,
    /// Index of the node's first edge in the tree's edges.
    pub first: u32,
    /// Number of edges.
    pub count: u16,
    /// Number of tried edges. The tried edges come before the untried edges.
    pub tried: u16,
    pub visits: u32,
    pub pending: u32,
    /// Value computed by the network, in points for the player who decides.
    pub value: f32,
}

/// A board before a roll, from the point of view of the player to roll.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    pub board: Board,
    pub rolls: [u16; Roll::ALL.len()],
    /// Index of the dice combination for the first visit, in `COMBINATIONS`.
    pub start: u8,
    /// Difference between the indices of consecutive visits in `COMBINATIONS`, modulo 36.
    pub stride: u8,
    visits: u32,
}

/// One step of a simulation's path: an edge of a node. `dice` is true if a roll comes after the edge.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    node: u16,
    pub edge: u32,
    dice: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf {
    /// Node whose decision needs an evaluation.
    New(u16),
    /// End of the game. The field is the points won by the player who moved last.
    Ended(f32),
    /// The leaf's evaluation was already requested by an earlier simulation.
    Busy,
    /// The tree has no room, or the path is too long.
    Full,
}

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Exploration constant c of PUCT, in points.
    pub exploration: f32,
    /// Number of points by which the assumed value of an untried action is below the value of its decision.
    pub doubt: f32,
    /// Number of points that each pending simulation loses by assumption (virtual loss).
    pub loss: f32,
}

/// Upper bound on the number of actions of a decision. Each of two checkers can move from at most 15 places, which gives 225 actions. The
/// bound is the next multiple of 16.
pub const MOST_ACTIONS: usize = 240;
/// Maximum number of steps of a path.
const DEEPEST: usize = 200;

pub struct Tree {
    pub nodes: Vec<Node>,
    pub chances: Vec<Chance>,
    pub edges: Vec<Edge>,
    /// Hash table with open addressing. The upper 16 bits of an entry are bits of the hash; the lower 16 bits are an index. The highest bit
    /// of the index is set for nodes of second halves of doubles, and clear for chance nodes.
    table: Box<[u32]>,
    most_nodes: usize,
    most_edges: usize,
    /// Number that varies the order of the dice between searches.
    salt: u64,
    /// Buffer of `copy_to`: the new indices of the copied nodes, followed by the new indices of the copied chance nodes.
    moved: Box<[u16]>,
}

const EMPTY: u32 = u32::MAX;
pub const ROOT: u16 = 0;

impl Tree {
    /// Returns the maximum numbers of nodes and of edges.
    fn capacity(evals: usize) -> (usize, usize) {
        let most_nodes = (2 * evals + 64).min(MOST_NODES);
        (most_nodes, 32 * most_nodes + 8 * MOST_ACTIONS)
    }

    pub fn bytes(evals: usize) -> usize {
        let (most_nodes, most_edges) = Self::capacity(evals);
        let nodes = most_nodes * (size_of::<Node>() + size_of::<Chance>() + 2 * size_of::<u16>());
        let table = (2 * most_nodes).next_power_of_two() * size_of::<u32>();
        size_of::<Tree>() + nodes + table + most_edges * size_of::<Edge>()
    }

    /// Creates a tree with room for a reused subtree and a search of `evals` further simulations.
    pub fn new(evals: usize) -> Tree {
        let (most_nodes, most_edges) = Self::capacity(evals);
        Tree {
            nodes: Vec::with_capacity(most_nodes),
            chances: Vec::with_capacity(most_nodes),
            edges: Vec::with_capacity(most_edges),
            table: vec![EMPTY; (2 * most_nodes).next_power_of_two()].into(),
            most_nodes,
            most_edges,
            salt: 0,
            moved: vec![NONE; 2 * most_nodes].into(),
        }
    }

    /// Restarts the tree with `decision` as root. `salt` varies the order of the dice.
    pub fn begin(&mut self, decision: Decision, salt: u64) {
        self.clear(salt);
        self.push(decision);
    }

    fn clear(&mut self, salt: u64) {
        self.nodes.clear();
        self.chances.clear();
        self.edges.clear();
        self.table.fill(EMPTY);
        self.salt = salt;
    }

    fn push(&mut self, decision: Decision) -> u16 {
        let state = State::Fresh;
        self.nodes.push(Node { decision, state, first: 0, count: 0, tried: 0, visits: 0, pending: 0, value: 0.0 });
        (self.nodes.len() - 1) as u16
    }

    pub fn decision(&self, node: u16) -> &Decision {
        &self.nodes[usize::from(node)].decision
    }

    /// Returns true if the root has been evaluated.
    pub fn is_open(&self) -> bool {
        self.nodes[0].state == State::Open
    }

    pub fn edges(&self, node: u16) -> &[Edge] {
        let node = &self.nodes[usize::from(node)];
        &self.edges[node.first as usize..][..usize::from(node.count)]
    }

    /// Returns the node of the second half of a double to which the root's edge `edge` leads. Returns `None` if the edge leads elsewhere or
    /// has not been used.
    pub fn second(&self, edge: usize) -> Option<u16> {
        Self::second_of(&self.edges(ROOT)[edge])
    }

    /// Returns the node of the second half of a double to which an edge leads.
    fn second_of(edge: &Edge) -> Option<u16> {
        (edge.child & SECOND != 0 && edge.child < ENDED).then_some(edge.child & !SECOND)
    }

    /// Descends from the root to an unevaluated decision or to the end of a game. Appends the steps to `path`. After [`Leaf::Busy`] or
    /// [`Leaf::Full`] the caller must undo the steps with [`Tree::cancel`].
    pub fn descend(&mut self, rule: &Rule, path: &mut Vec<Step>) -> Leaf {
        let began = path.len();
        let mut at = ROOT;
        loop {
            let node = &mut self.nodes[usize::from(at)];
            match node.state {
                State::Open => {}
                State::Pending => return Leaf::Busy,
                State::Fresh => {
                    node.state = State::Pending;
                    return Leaf::New(at);
                }
            }
            if path.len() - began == DEEPEST || !self.has_room() {
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
            path.push(Step { node: at, edge, dice: child & SECOND == 0 });
            if child >= ENDED {
                return Leaf::Ended(f32::from(child & 3));
            }
            at = if child & SECOND == 0 { self.next_roll(child) } else { child & !SECOND };
        }
    }

    fn has_room(&self) -> bool {
        // Reserves room for the edges of pending evaluations.
        let reserve = 8 * MOST_ACTIONS;
        self.nodes.len() + 1 < self.most_nodes && self.chances.len() < self.most_nodes && self.edges.len() + reserve <= self.most_edges
    }

    /// Finds the child to which an action of node `at` leads, or creates it. Returns the value of `Edge::child` for this child.
    fn follow(&mut self, at: u16, action: u16) -> u16 {
        let decision = match reached(&self.nodes[usize::from(at)].decision, action) {
            Reached::Second(decision) => decision,
            Reached::Roll(board) => return self.chance(board),
            Reached::End(child) => return child,
        };
        let hash = hash_of_second(&decision);
        let found = self.find(hash, |tree, id| id & SECOND != 0 && tree.nodes[usize::from(id & !SECOND)].decision == decision);
        found.unwrap_or_else(|slot| {
            let id = self.push(decision) | SECOND;
            self.table[slot] = tagged(hash, id);
            id
        })
    }

    pub fn chance(&mut self, board: Board) -> u16 {
        let hash = board.hash64();
        let found = self.find(hash, |tree, id| id & SECOND == 0 && tree.chances[usize::from(id)].board == board);
        found.unwrap_or_else(|slot| {
            let mixed = (hash ^ self.salt).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32;
            let start = (mixed % 36) as u8;
            let stride = STRIDES[(mixed / 36 % 12) as usize];
            self.chances.push(Chance { board, rolls: [NONE; 21], start, stride, visits: 0 });
            let id = (self.chances.len() - 1) as u16;
            self.table[slot] = tagged(hash, id);
            id
        })
    }

    /// Searches the hash table for an index with this hash that `is_it` accepts. Returns `Ok` with the index. If there is no such index,
    /// returns `Err` with the free slot for a new entry.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(&Tree, u16) -> bool) -> Result<u16, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == EMPTY {
                return Err(slot);
            }
            if entry >> 16 == (hash >> 48) as u32 && is_it(self, entry as u16) {
                return Ok(entry as u16);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Advances a chance node to its next dice combination. Returns the node of the resulting roll. Creates the node at the first visit.
    pub fn next_roll(&mut self, chance: u16) -> u16 {
        let Chance { board, rolls, start, stride, visits } = &mut self.chances[usize::from(chance)];
        let combination = (u32::from(*start) + *visits % 36 * u32::from(*stride)) % 36;
        *visits += 1;
        let roll = COMBINATIONS[combination as usize];
        let known = rolls[usize::from(roll)];
        if known != NONE {
            return known;
        }
        // The index fits in 16 bits, because the tree had room before this step.
        let node = self.nodes.len() as u16;
        rolls[usize::from(roll)] = node;
        let board = *board;
        self.push(Decision { board, roll, second: false })
    }

    /// Undoes the counts of [`Tree::descend`] along a path without an evaluation: the pending simulation of each node and edge, and the
    /// visits of chance nodes.
    pub fn cancel(&mut self, path: &[Step]) {
        for step in path {
            self.nodes[usize::from(step.node)].pending -= 1;
            let edge = &mut self.edges[step.edge as usize];
            edge.pending -= 1;
            if step.dice && edge.child < NONE {
                self.chances[usize::from(edge.child)].visits -= 1;
            }
        }
    }

    /// Backs up the value of a leaf along its path. `points` are for the player who decides at the leaf or, at the end of a game, for the
    /// player who moved last.
    pub fn back_up(&mut self, path: &[Step], points: f32) {
        let mut points = points;
        for step in path.iter().rev() {
            // After a roll, the other side decides, so the points change their sign.
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

    /// Adds the legal actions of a decision as edges.
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

    /// Marks a decision as evaluated and stores its value and the priors of its listed actions.
    pub fn open(&mut self, at: u16, value: f32, priors: &[f32]) {
        let node = &mut self.nodes[usize::from(at)];
        (node.state, node.value) = (State::Open, value);
        let edges = &mut self.edges[node.first as usize..][..usize::from(node.count)];
        edges.iter_mut().zip(priors).for_each(|(edge, &prior)| edge.prior = prior);
        promote(edges);
    }

    /// Mixes Dirichlet noise into the root's priors, so that every action is tried occasionally.
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

    /// Makes the decision `reached` the root. `reached` must be below the root's edge `edge`. Keeps the subtree of `reached`, if the tree
    /// then has room for `evals` more simulations. Returns true if the new root is already evaluated. Afterwards, `spare` contains the old
    /// tree.
    pub fn reuse_subtree(&mut self, edge: usize, reached: Decision, salt: u64, spare: &mut Tree, evals: usize) -> bool {
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
            // Keeps the copy only if the remaining capacity suffices for a search.
            if spare.nodes.len() + evals > spare.most_nodes || spare.edges.len() + 24 * evals + 8 * MOST_ACTIONS > spare.most_edges {
                spare.begin(reached, salt);
            }
        }
        std::mem::swap(self, spare);
        self.is_open()
    }

    /// Copies a node and all nodes that are reachable from it to the tree `to`. The copy of the node becomes the root of `to`.
    fn copy_to(&mut self, from: u16, to: &mut Tree) {
        self.moved.fill(NONE);
        self.moved[usize::from(from)] = ROOT;
        to.nodes[0] = self.nodes[usize::from(from)];
        // The lists of copied nodes also serve as queues: the children of each copied node are copied in turn.
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
                to.insert(hash_of_second(&node.decision), (to.nodes.len() as u16 - 1) | SECOND);
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
            to.insert(chance.board.hash64(), to.chances.len() as u16 - 1);
        }
        self.moved[moved]
    }

    /// Adds an index that the hash table does not contain yet.
    fn insert(&mut self, hash: u64, id: u16) {
        if let Err(slot) = self.find(hash, |_, _| false) {
            self.table[slot] = tagged(hash, id);
        }
    }
}

/// Consequence of an action: the second half of a double, the roll of the other player, or the end of the game. `Roll` has the board for
/// the player to roll, and `End` the value of [`Edge::child`].
enum Reached {
    Second(Decision),
    Roll(Board),
    End(u16),
}

/// Returns what follows an action of a decision.
fn reached(decision: &Decision, action: u16) -> Reached {
    let roll = decision.roll();
    let after = decision.board.moved(roll, play(action));
    if roll.is_double() && !decision.second && after.can_move(roll.high()) {
        return Reached::Second(Decision { board: after, second: true, ..*decision });
    }
    match after.points() {
        0 => Reached::Roll(after.turned()),
        points => Reached::End(ENDED | points.unsigned_abs() as u16 & 3),
    }
}

/// Returns a hash of a decision that is the second half of a double.
fn hash_of_second(decision: &Decision) -> u64 {
    decision.board.hash64() ^ u64::from(decision.roll + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Lists the plays of a decision in `scratch`. A play consists of up to two checker moves: a whole turn, or one half of a double.
pub fn list(decision: &Decision, scratch: &mut Results) {
    let roll = decision.roll();
    if roll.is_double() {
        decision.board.halves(roll, scratch);
    } else {
        decision.board.results(roll, scratch);
    }
}

/// Returns the legal plays of a decision, as actions.
pub fn legal<'a>(decision: &Decision, scratch: &'a mut Results) -> impl ExactSizeIterator<Item = u16> + 'a {
    list(decision, scratch);
    scratch.plays().iter().map(|play| action([play[0], play[1]]))
}

#[inline]
fn tagged(hash: u64, id: u16) -> u32 {
    (hash >> 48) as u32 * 0x1_0000 + u32::from(id)
}

/// Possible values of [`Chance::stride`]: the numbers below 36 that have no common divisor with 36.
const STRIDES: [u8; 12] = [1, 5, 7, 11, 13, 17, 19, 23, 25, 29, 31, 35];

/// The 36 dice combinations as indices into [`Roll::ALL`].
const COMBINATIONS: [u8; 36] = {
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

/// Swaps the first edge with the edge that has the largest prior.
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

/// Draws a number from the gamma distribution with shape `alpha` in (0, 1] and scale 1. The algorithm is GS of Ahrens and Dieter (1974).
fn gamma(isa: Isa, alpha: f32, numbers: &mut Sequence) -> f32 {
    let power = |x: f32, y: f32| poly::exp_1(isa, y * poly::ln_1(isa, x));
    let b = 1.0 + alpha / std::f32::consts::E;
    loop {
        let p = b * numbers.uniform();
        // `u` is in (0, 1].
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
