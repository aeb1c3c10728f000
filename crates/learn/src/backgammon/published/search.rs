//! Concurrent tree searches. The simulations of all trees form one batch, which the network evaluates. The results are then backed up in
//! the trees.

use super::inputs::Decision;
use super::net::{self, Evaluator, HEADS, Weights};
use super::tree::{Leaf, MOST_ACTIONS, ROOT, Rule, Step, Tree};
use crate::backgammon::outcomes;
use graph::Plan;
use std::sync::Arc;
use worlds::backgammon::Results;

/// One tree and its budget of simulations.
pub struct Slot {
    pub tree: Tree,
    /// Number of simulations left in the budget, including pending simulations.
    pub left: u32,
    pending: u32,
}

impl Slot {
    /// Begins a search of `evals` simulations with `decision` as root. `salt` varies the order of the dice.
    pub fn begin(&mut self, decision: Decision, salt: u64, evals: u32) {
        self.tree.begin(decision, salt);
        (self.left, self.pending) = (evals, 0);
    }
}

struct Waiting {
    slot: usize,
    node: u16,
    path: std::ops::Range<usize>,
}

/// Seconds spent in each part of a search: rules, inputs, network, tree.
pub type Seconds = [f64; 4];

pub struct Search {
    pub slots: Vec<Slot>,
    evaluator: Evaluator,
    /// Maximum number of simulations that one tree adds to a batch.
    leaves: u32,
    /// Index of the first tree from which the next batch is filled. The index advances from batch to batch. Every tree therefore gets
    /// simulations, even if a batch is too small for all trees.
    pub next: usize,
    waiting: Vec<Waiting>,
    path: Vec<Step>,
    pub scratch: Results,
    actions: Vec<u16>,
    priors: Box<[f32; MOST_ACTIONS]>,
    /// Number of decisions evaluated since the last call of `rewind`.
    pub evaluated: u64,
    /// Number of nonempty batches evaluated since the last call of `rewind`.
    pub batches: u64,
}

/// Expected number of steps of a path. It determines the initial sizes of buffers.
const STEPS: usize = 64;

impl Search {
    pub fn bytes(plan: &Plan, width: usize, rows: usize, slots: usize, evals: usize) -> f64 {
        let slot = size_of::<Slot>() + Tree::bytes(evals);
        let row = size_of::<Waiting>() + STEPS * size_of::<Step>();
        let results = Results::BYTES + MOST_ACTIONS * 6;
        slots as f64 * slot as f64 + rows as f64 * row as f64 + results as f64 + Evaluator::bytes(plan, width, rows)
    }

    pub fn new(plan: &Arc<Plan>, rows: usize, slots: usize, leaves: usize, evals: usize) -> Search {
        let slot = |_| {
            let mut tree = Tree::new(evals);
            tree.begin(Decision::new(worlds::backgammon::Board::START, worlds::backgammon::Roll::ALL[1]), 0);
            Slot { tree, left: 0, pending: 0 }
        };
        Search {
            slots: (0..slots).map(slot).collect(),
            evaluator: Evaluator::new(plan, rows),
            leaves: leaves as u32,
            next: 0,
            waiting: Vec::with_capacity(rows),
            path: Vec::with_capacity(STEPS * rows),
            scratch: Results::new(),
            actions: Vec::with_capacity(MOST_ACTIONS),
            priors: Box::new([0.0; MOST_ACTIONS]),
            evaluated: 0,
            batches: 0,
        }
    }

    /// Resets the counters, sets the index of the first tree, and forgets the selected leaves.
    pub fn rewind(&mut self, next: usize) {
        (self.next, self.evaluated, self.batches) = (next, 0, 0);
        self.waiting.clear();
    }

    /// Runs one batch. Calls `opened` with the slot index and the tree of each newly evaluated root.
    pub fn step(
        &mut self,
        weights: &Weights,
        rule: &Rule,
        clock: &dyn Fn() -> f64,
        seconds: &mut Seconds,
        opened: impl FnMut(usize, &mut Tree),
    ) {
        self.select(rule, clock, seconds);
        self.evaluate(weights, clock, seconds);
        self.back_up(weights, clock, seconds, opened);
    }

    /// Selects the leaves of the next batch from all trees, and lists their legal actions.
    pub fn select(&mut self, rule: &Rule, clock: &dyn Fn() -> f64, seconds: &mut Seconds) {
        let began_s = clock();
        self.gather(rule);
        let gathered_s = clock();
        for waiting in &self.waiting {
            self.slots[waiting.slot].tree.list(waiting.node, &mut self.scratch);
        }
        seconds[3] += gathered_s - began_s;
        seconds[0] += clock() - gathered_s;
    }

    /// Returns the decisions selected for the batch, in row order.
    pub fn selected(&self) -> impl ExactSizeIterator<Item = &Decision> {
        self.waiting.iter().map(|waiting| self.slots[waiting.slot].tree.decision(waiting.node))
    }

    /// Evaluates the selected decisions.
    pub fn evaluate(&mut self, weights: &Weights, clock: &dyn Fn() -> f64, seconds: &mut Seconds) {
        let began_s = clock();
        self.read_inputs();
        let read_s = clock();
        if !self.waiting.is_empty() {
            self.evaluator.run(weights);
        }
        seconds[1] += read_s - began_s;
        seconds[2] += clock() - read_s;
    }

    pub fn width(&self) -> usize {
        self.evaluator.width
    }

    /// Stores the outputs that another device computed for a row.
    pub fn set_row(&mut self, row: usize, hidden: &[f32], heads: &[f32; HEADS]) {
        self.evaluator.set_row(row, hidden, heads);
    }

    /// Backs up the batch's results in the trees. Calls `opened` as in [`Search::step`].
    pub fn back_up(&mut self, weights: &Weights, clock: &dyn Fn() -> f64, seconds: &mut Seconds, mut opened: impl FnMut(usize, &mut Tree)) {
        let began_s = clock();
        self.evaluated += self.waiting.len() as u64;
        self.batches += u64::from(!self.waiting.is_empty());
        for (row, waiting) in self.waiting.drain(..).enumerate() {
            let slot = &mut self.slots[waiting.slot];
            slot.tree.actions(waiting.node, &mut self.actions);
            self.evaluator.policy(weights, row, &self.actions, &mut *self.priors);
            let chances = net::chances(self.evaluator.heads(row), &slot.tree.decision(waiting.node).board);
            let value = outcomes::equity(&chances.0);
            slot.tree.open(waiting.node, value, &*self.priors);
            if waiting.node == ROOT {
                opened(waiting.slot, &mut slot.tree);
            }
            slot.tree.back_up(&self.path[waiting.path], value);
            slot.pending -= 1;
            slot.left -= 1;
        }
        // All of this time counts as network time, because most of it is spent on the policy's last layer.
        seconds[2] += clock() - began_s;
    }

    /// Collects simulations until the batch is full or no tree can add a simulation.
    fn gather(&mut self, rule: &Rule) {
        self.path.clear();
        for _ in 0..self.slots.len() {
            let slot_index = self.next;
            let slot = &mut self.slots[slot_index];
            for _ in 0..self.leaves {
                if slot.left <= slot.pending || self.waiting.len() == self.evaluator.rows {
                    break;
                }
                let first = self.path.len();
                match slot.tree.descend(rule, &mut self.path) {
                    Leaf::New(node) => {
                        slot.pending += 1;
                        self.waiting.push(Waiting { slot: slot_index, node, path: first..self.path.len() });
                        continue;
                    }
                    Leaf::Ended(points) => {
                        slot.tree.back_up(&self.path[first..], points);
                        slot.left -= 1;
                        self.path.truncate(first);
                        continue;
                    }
                    Leaf::Busy => {}
                    // The tree is full. The search ends with the results that it has so far.
                    Leaf::Full => slot.left = slot.pending,
                }
                slot.tree.cancel(&self.path[first..]);
                self.path.truncate(first);
                break;
            }
            if self.waiting.len() == self.evaluator.rows {
                return;
            }
            self.next = (self.next + 1) % self.slots.len();
        }
    }

    fn read_inputs(&mut self) {
        self.evaluator.clear();
        for waiting in &self.waiting {
            self.evaluator.see(self.slots[waiting.slot].tree.decision(waiting.node));
        }
    }
}
