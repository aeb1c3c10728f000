//! Exact evaluation of a judge on the 2x2x2: greedy play from every state. All states are judged once, and a table stores the two best
//! actions of each state. Play from a state is followed through the table up to the first state whose result is known, so that no state is
//! processed twice. Play that never undoes the last move uses the same table: such play takes the second best action where the best action
//! would undo the last move. The evaluation advances in slices, so that training can continue in between.

use super::{Greedy, Judge, Scores, nearest};
use std::sync::Arc;
use worlds::cube::{Distances, Puzzle, Two};

/// Results of greedy play from all states at one distance from the solved state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub states: u32,
    /// Number of states from which play solves the cube.
    pub solved: u32,
    /// Number of states from which play solves the cube with the fewest moves.
    pub optimal: u32,
    /// Number of moves in excess of the distance, summed over the states from which play solves the cube.
    pub excess: u64,
}

/// Results of greedy play from all states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One row per distance (index 0: the solved state), for play that always takes the best action.
    pub plain: Vec<Row>,
    /// One row per distance (index 0: the solved state), for play that never undoes the last move.
    pub onward: Vec<Row>,
}

impl Report {
    /// Returns one row per distance (index 0: the solved state), for play by the rule `greedy`.
    pub fn rows(&self, greedy: Greedy) -> &[Row] {
        match greedy {
            Greedy::Plain => &self.plain,
            Greedy::Onward => &self.onward,
        }
    }

    /// Returns the sum of the rows of all distances, for play by the rule `greedy`.
    pub fn total(&self, greedy: Greedy) -> Row {
        self.rows(greedy).iter().fold(Row::default(), |sum, row| Row {
            states: sum.states + row.states,
            solved: sum.solved + row.solved,
            optimal: sum.optimal + row.optimal,
            excess: sum.excess + row.excess,
        })
    }
}

impl Row {
    /// Returns the share of the states from which play solves the cube.
    pub fn share(&self) -> f64 {
        f64::from(self.solved) / f64::from(self.states.max(1))
    }

    /// Returns the share of the states from which play solves the cube with the fewest moves.
    pub fn optimal_share(&self) -> f64 {
        f64::from(self.optimal) / f64::from(self.states.max(1))
    }

    /// Returns the mean number of moves in excess of the distance, over the states from which play solves the cube.
    pub fn mean_excess(&self) -> f64 {
        self.excess as f64 / f64::from(self.solved.max(1))
    }
}

/// Usual number of states judged per slice. A judge may change the number with `Judge::at_once`.
const JUDGED: usize = 4096;
/// Number of states processed per slice when actions are chosen and paths are followed.
const READ: usize = 1 << 16;

/// Markers in [`Exhaustive::steps`] for an entry (a state and its first action). `UNKNOWN`: the result is not known yet. `ON_PATH`: the
/// entry is on the current path. `CYCLE`: play from the entry enters a cycle.
const UNKNOWN: u32 = u32::MAX;
const ON_PATH: u32 = u32::MAX - 1;
const CYCLE: u32 = u32::MAX - 2;

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// The states are judged. In each variant of this enum, the number is the rank (index) of the next state.
    Judge(usize),
    Choose(usize),
    Walk(Greedy, usize),
}

/// Evaluation of greedy play from all states. The module documentation describes the method.
pub struct Exhaustive {
    exact: Arc<Distances>,
    phase: Phase,
    /// Value of each state, by rank; see [`Exhaustive::values`].
    values: Vec<f32>,
    /// Best action plus 16 times the second best action of each state, by rank.
    best: Vec<u8>,
    /// Number of moves to the solved state, or a marker. Each state has two entries. At index 2·rank, play starts with the best action. At
    /// index 2·rank + 1, play starts with the second best action.
    steps: Vec<u32>,
    states: Vec<Two>,
    scores: Vec<f32>,
    path: Vec<u32>,
    report: Report,
}

impl Exhaustive {
    pub const BYTES: usize = Two::STATES * (size_of::<f32>() + 1 + 4 * size_of::<u32>());

    pub fn new(exact: Arc<Distances>) -> Exhaustive {
        Exhaustive {
            exact,
            phase: Phase::Judge(0),
            values: vec![0.0; Two::STATES],
            best: vec![0; Two::STATES],
            steps: vec![UNKNOWN; 2 * Two::STATES],
            states: Vec::with_capacity(JUDGED),
            scores: Vec::new(),
            path: Vec::new(),
            report: Report::default(),
        }
    }

    /// Restarts the evaluation.
    pub fn begin(&mut self) {
        self.phase = Phase::Judge(0);
    }

    /// Runs a complete evaluation.
    pub fn run(&mut self, judge: &mut dyn Judge<Two>) -> Report {
        self.begin();
        loop {
            if let Some(report) = self.advance(judge) {
                return report.clone();
            }
        }
    }

    /// Returns the number of states judged so far.
    pub fn judged(&self) -> usize {
        match self.phase {
            Phase::Judge(from) => from,
            _ => Two::STATES,
        }
    }

    /// Runs a slice of a few milliseconds. Returns the report when the evaluation is complete, and `None` before. The judge must not change
    /// during an evaluation. The call after the report starts a new evaluation.
    pub fn advance(&mut self, judge: &mut dyn Judge<Two>) -> Option<&Report> {
        let (from, size) = match self.phase {
            Phase::Judge(from) => (from, judge.at_once(JUDGED)),
            Phase::Choose(from) | Phase::Walk(_, from) => (from, READ),
        };
        let to = (from + size).min(Two::STATES);
        match self.phase {
            Phase::Judge(_) => {
                if !self.judge(judge, from, to) {
                    return None;
                }
            }
            Phase::Choose(_) => self.choose(from, to),
            Phase::Walk(greedy, _) => (from..to).for_each(|rank| self.walk(greedy, rank)),
        }
        let is_done = to == Two::STATES;
        self.phase = match self.phase {
            Phase::Judge(_) if !is_done => Phase::Judge(to),
            Phase::Judge(_) if judge.scores() == Scores::Value => Phase::Choose(0),
            Phase::Choose(_) if !is_done => Phase::Choose(to),
            Phase::Judge(_) | Phase::Choose(_) => self.begin_walk(Greedy::Plain),
            Phase::Walk(greedy, _) if !is_done => Phase::Walk(greedy, to),
            Phase::Walk(Greedy::Plain, _) => {
                count(&self.exact, &self.steps, &mut self.report.plain);
                self.begin_walk(Greedy::Onward)
            }
            Phase::Walk(Greedy::Onward, _) => {
                count(&self.exact, &self.steps, &mut self.report.onward);
                self.phase = Phase::Judge(0);
                return Some(&self.report);
            }
        };
        None
    }

    fn begin_walk(&mut self, greedy: Greedy) -> Phase {
        self.steps.fill(UNKNOWN);
        self.steps[..2].fill(0);
        Phase::Walk(greedy, 0)
    }

    /// Returns the estimated distances by rank, valid once all states are judged. For a judge of action values, the estimate is the value
    /// of the best action. For a policy, the negative log-probability of the best action replaces the estimate.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the best action of a state. Valid after an evaluation.
    pub fn best(&self, state: Two) -> usize {
        usize::from(self.best[state.rank() as usize] & 15)
    }

    /// Returns the number of moves that solve a state, in play that never undoes the last move. Returns `None` if play enters a cycle.
    /// Valid after an evaluation.
    pub fn moves(&self, state: Two) -> Option<u32> {
        Some(self.steps[2 * state.rank() as usize]).filter(|&steps| steps != CYCLE)
    }

    /// Judges the states with ranks from `from` up to, but not including, `to`. Returns false while the judge's result is pending.
    fn judge(&mut self, judge: &mut dyn Judge<Two>, from: usize, to: usize) -> bool {
        self.states.clear();
        self.states.extend((from..to).filter_map(|rank| Two::unrank(rank as u32)));
        if judge.scores() == Scores::Value {
            return judge.poll(&self.states, &mut self.values[from..to]);
        }
        let count = self.exact.actions().count();
        self.scores.resize((to - from) * count, 0.0);
        if !judge.poll(&self.states, &mut self.scores) {
            return false;
        }
        let sign = if judge.scores() == Scores::Policy { -1.0 } else { 1.0 };
        let kept = self.best[from..to].iter_mut().zip(&mut self.values[from..to]);
        for ((state, scores), (best, value)) in self.states.iter().zip(self.scores.chunks_exact(count)).zip(kept) {
            let mut children = [Two::SOLVED; MOST];
            let children = children_of(*state, count, &mut children);
            *best = both(children, |action| sign * scores[action]);
            *value = sign * scores[usize::from(*best & 15)];
        }
        true
    }

    fn choose(&mut self, from: usize, to: usize) {
        let count = self.exact.actions().count();
        for rank in from..to {
            let Some(state) = Two::unrank(rank as u32) else { continue };
            let mut children = [Two::SOLVED; MOST];
            let children = children_of(state, count, &mut children);
            let value = |action: usize| self.values[children[action].rank() as usize];
            self.best[rank] = both(children, value);
        }
    }

    /// Follows play from a state up to a state whose result is known. Stores the results of all states on this path.
    fn walk(&mut self, greedy: Greedy, rank: usize) {
        self.path.clear();
        let mut node = 2 * rank;
        while self.steps[node] == UNKNOWN {
            self.steps[node] = ON_PATH;
            self.path.push(node as u32);
            let state = Two::unrank(node as u32 / 2).expect("every rank has a state");
            let both = self.best[node / 2];
            let action = usize::from(if node.is_multiple_of(2) { both & 15 } else { both >> 4 });
            let next = state.turned(action);
            let undoes = self.best(next) == self.exact.actions().inverse(action);
            node = 2 * next.rank() as usize + usize::from(greedy == Greedy::Onward && undoes);
        }
        let end = self.steps[node];
        let in_cycle = end == ON_PATH || end == CYCLE;
        for (back, &node) in self.path.iter().rev().enumerate() {
            self.steps[node as usize] = if in_cycle { CYCLE } else { end + 1 + back as u32 };
        }
    }
}

fn count(exact: &Distances, steps: &[u32], rows: &mut Vec<Row>) {
    rows.clear();
    rows.resize(exact.counts().len(), Row::default());
    for (&distance, &[steps, _]) in exact.table().iter().zip(steps.as_chunks::<2>().0) {
        let row = &mut rows[usize::from(distance)];
        row.states += 1;
        if steps != CYCLE {
            let excess = steps - u32::from(distance);
            row.solved += 1;
            row.optimal += u32::from(excess == 0);
            row.excess += u64::from(excess);
        }
    }
}

/// Returns the best action plus 16 times the second best action.
fn both(children: &[Two], value: impl Fn(usize) -> f32) -> u8 {
    let best = nearest(children, None, &value);
    let second = nearest(children, Some(best), &value);
    (best | second << 4) as u8
}

/// Maximum number of actions.
const MOST: usize = Two::MOVES.len();

fn children_of(state: Two, count: usize, children: &mut [Two; MOST]) -> &[Two] {
    for (action, child) in children[..count].iter_mut().enumerate() {
        *child = state.turned(action);
    }
    &children[..count]
}
