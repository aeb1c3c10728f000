//! Many searches at once: ways down the trees of all of them are gathered into one batch, the network looks at the batch, and the
//! answers go back up. It knows neither games nor samples.

use super::inputs::Decision;
use super::net::{self, Evaluator, HEADS, Weights};
use super::tree::{Leaf, MOST_ACTIONS, ROOT, Rule, Step, Tree};
use crate::backgammon::outcomes;
use graph::Plan;
use std::sync::Arc;
use worlds::backgammon::Results;

/// One search.
pub struct Slot {
    pub tree: Tree,
    /// Ways down that are still to come back.
    pub left: u32,
    under_way: u32,
}

struct Waiting {
    slot: usize,
    node: u16,
    way: std::ops::Range<usize>,
}

/// Where the time of searching goes, in seconds: rules, inputs, network, tree.
pub type Seconds = [f64; 4];

pub struct Search {
    pub slots: Vec<Slot>,
    evaluator: Evaluator,
    /// Ways of one tree in one batch.
    leaves: u32,
    /// The slot that is asked first, so that all come to their turn where the batch is too small for all.
    next: usize,
    waiting: Vec<Waiting>,
    way: Vec<Step>,
    pub scratch: Results,
    actions: Vec<u16>,
    priors: Box<[f32; MOST_ACTIONS]>,
    /// Filled rows of all batches, and batches.
    pub evaluated: u64,
    pub batches: u64,
}

/// Steps of all ways of a batch, for each of its rows.
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
            Slot { tree, left: 0, under_way: 0 }
        };
        Search {
            slots: (0..slots).map(slot).collect(),
            evaluator: Evaluator::new(plan, rows),
            leaves: leaves as u32,
            next: 0,
            waiting: Vec::with_capacity(rows),
            way: Vec::with_capacity(STEPS * rows),
            scratch: Results::new(),
            actions: Vec::with_capacity(MOST_ACTIONS),
            priors: Box::new([0.0; MOST_ACTIONS]),
            evaluated: 0,
            batches: 0,
        }
    }

    /// Counts anew, and begins with the first slot; ways that are still down there are given up, since their trees begin anew.
    pub fn rewind(&mut self) {
        (self.next, self.evaluated, self.batches) = (0, 0, 0);
        self.waiting.clear();
        self.slots.iter_mut().for_each(|slot| slot.under_way = 0);
    }

    /// One batch. A root that is opened is shown before anything else goes down from it.
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

    /// Goes down all trees for a batch's decisions.
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

    /// What is asked, in the order in which answers are to stand.
    pub fn selected(&self) -> impl ExactSizeIterator<Item = &Decision> {
        self.waiting.iter().map(|waiting| self.slots[waiting.slot].tree.decision(waiting.node))
    }

    /// The network's answers.
    pub fn evaluate(&mut self, weights: &Weights, clock: &dyn Fn() -> f64, seconds: &mut Seconds) {
        let began_s = clock();
        self.see();
        let seen_s = clock();
        if !self.waiting.is_empty() {
            self.evaluator.run(weights);
        }
        seconds[1] += seen_s - began_s;
        seconds[2] += clock() - seen_s;
    }

    /// Of the network.
    pub fn width(&self) -> usize {
        self.evaluator.width
    }

    /// Another machine's instead.
    pub fn put(&mut self, row: usize, hidden: &[f32], heads: &[f32; HEADS]) {
        self.evaluator.put(row, hidden, heads);
    }

    /// Brings the answers back up the trees.
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
            slot.tree.back_up(&self.way[waiting.way], value);
            slot.under_way -= 1;
            slot.left -= 1;
        }
        // The policy's last layer takes most of it.
        seconds[2] += clock() - began_s;
    }

    /// Ways down, until the batch is full or no tree has more.
    fn gather(&mut self, rule: &Rule) {
        self.way.clear();
        for _ in 0..self.slots.len() {
            let slot_index = self.next;
            let slot = &mut self.slots[slot_index];
            for _ in 0..self.leaves {
                if slot.left <= slot.under_way || self.waiting.len() == self.evaluator.rows {
                    break;
                }
                let first = self.way.len();
                match slot.tree.descend(rule, &mut self.way) {
                    Leaf::New(node) => {
                        slot.under_way += 1;
                        self.waiting.push(Waiting { slot: slot_index, node, way: first..self.way.len() });
                        continue;
                    }
                    Leaf::Ended(points) => {
                        slot.tree.back_up(&self.way[first..], points);
                        slot.left -= 1;
                        self.way.truncate(first);
                        continue;
                    }
                    Leaf::Busy => {}
                    // What is known has to do.
                    Leaf::Full => slot.left = slot.under_way,
                }
                slot.tree.forget(&self.way[first..]);
                self.way.truncate(first);
                break;
            }
            if self.waiting.len() == self.evaluator.rows {
                return;
            }
            self.next = (self.next + 1) % self.slots.len();
        }
    }

    fn see(&mut self) {
        self.evaluator.clear();
        for waiting in &self.waiting {
            self.evaluator.see(self.slots[waiting.slot].tree.decision(waiting.node));
        }
    }
}
