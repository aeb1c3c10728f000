//! The strong learner's player. It evaluates every result of a roll with its networks and can search one move ahead.
//!
//! The search spends its evaluations on the few results with the highest static equity. One evaluation is one roll of the opponent with the
//! opponent's best reply. All replies are evaluated in one batch. The value of a result consists of the six outcome probabilities, averaged
//! over the tried rolls. The average weights a roll by its number of dice combinations. After all 21 rolls, the value is the exact one-ply
//! expectation. A result with an exact value ([`Depth::Exact`]) uses no network and is not searched.
//!
//! Sequential halving distributes the evaluations (Karnin, Koren and Somekh 2013). In each step, all remaining results get the same rolls,
//! in an order that mixes high and low rolls. The worse half of the results is then dropped. The search ends when one result remains.
//! Danihelka et al. 2022 combine sequential halving at the root with Gumbel noise. Play at full strength does not need this noise.

use super::net::{Network, Valuer};
use super::outcomes::{self, OUTCOMES, OutcomeProbs};
use super::{Candidate, Depth, Player};
use worlds::backgammon::{Board, Chances, Roll};

/// Equity scale of the priors: a result whose equity is lower by `TAU` has a prior that is smaller by the factor e.
const TAU: f32 = 0.05;
/// Maximum number of results at the start of a search.
const WIDTH: usize = 8;
/// Number of evaluations for each result at the start of a search. A search starts with `evals / ONE_MORE` results, but at least two and at
/// most [`WIDTH`].
const ONE_MORE: usize = 21;
/// Maximum difference in equity from the best result. Results with a larger difference are not searched.
const GAP: f32 = 0.25;
/// Order in which rolls are tried, as indices into [`Roll::ALL`]: 6-1, 5-2, 4-3, 3-3, and so on.
const ORDER: [usize; 21] = [15, 11, 8, 5, 18, 1, 12, 19, 6, 2, 17, 10, 9, 3, 13, 16, 4, 20, 7, 0, 14];

/// Player that plays the best result, by static equity or by a search.
pub struct SearchPlayer {
    network: Network,
    evals: u32,
    valuer: Valuer,
    branches: Vec<Branch>,
    /// Indices into `branches`, best result first.
    order: Vec<usize>,
}

/// A result of the roll, with its static value and the values from the search.
#[derive(Clone, Copy)]
struct Branch {
    board: Board,
    probs: OutcomeProbs,
    exact: bool,
    prior: f32,
    /// Number of the opponent's rolls that were tried.
    tried: usize,
    /// Weighted sum of the opponent's outcome probabilities after the best reply to each tried roll. The weight of a roll is its number of
    /// dice combinations.
    sum: OutcomeProbs,
    /// Number of the 36 dice combinations that the tried rolls cover.
    ways: u32,
}

impl Branch {
    /// Returns the outcome probabilities for the player who moved: the mean over the tried rolls, or the static evaluation if no roll was
    /// tried.
    fn chances(&self) -> OutcomeProbs {
        if self.ways == 0 {
            return self.probs;
        }
        let mut mean = outcomes::turned(&self.sum);
        mean.iter_mut().for_each(|p| *p /= self.ways as f32);
        mean
    }

    fn equity(&self) -> f32 {
        outcomes::equity(&self.chances())
    }
}

impl SearchPlayer {
    pub fn new(network: Network, evals: u32) -> SearchPlayer {
        SearchPlayer { network, evals, valuer: Valuer::default(), branches: Vec::new(), order: Vec::new() }
    }

    /// Evaluates all results of a roll and sorts them in `order`, best first. Afterwards searches the best results if `evals` exceeds 1.
    fn rank_results(&mut self, board: &Board, roll: Roll) {
        self.valuer.value_rolls(&self.network, board, &[roll]);
        self.branches.clear();
        let best = outcomes::equity(&self.valuer.probs[self.valuer.best(0)]);
        let mut all = 0.0;
        for ((board, probs), net) in self.valuer.boards.iter().zip(&self.valuer.probs).zip(&self.valuer.nets) {
            let prior = math::poly::exp_1(self.network.isa, (outcomes::equity(probs) - best) / TAU);
            all += prior;
            self.branches.push(Branch {
                board: *board,
                probs: *probs,
                exact: net.is_none(),
                prior,
                tried: 0,
                sum: [0.0; OUTCOMES],
                ways: 0,
            });
        }
        self.branches.iter_mut().for_each(|branch| branch.prior /= all);
        self.order.clear();
        self.order.extend(0..self.branches.len());
        let branches = &self.branches;
        self.order.sort_by(|&a, &b| branches[b].equity().total_cmp(&branches[a].equity()));
        if self.evals > 1 {
            self.search(best);
        }
    }

    fn search(&mut self, best: f32) {
        let near = |&&place: &&usize| self.branches[place].equity() > best - GAP;
        let mut budget = self.evals as usize;
        let width = (budget / ONE_MORE).clamp(2, WIDTH);
        let mut left = self.order.iter().take(width).take_while(near).count();
        while left > 1 {
            let halvings = left.next_power_of_two().trailing_zeros() as usize;
            let rolls = budget / halvings / left;
            for i in 0..left {
                budget -= self.try_rolls(self.order[i], rolls);
            }
            let branches = &self.branches;
            self.order[..left].sort_by(|&a, &b| branches[b].equity().total_cmp(&branches[a].equity()));
            left = left.div_ceil(2);
        }
    }

    /// Tries the opponent's next `rolls` rolls for the branch with index `place`, or all remaining rolls if there are fewer. Returns the
    /// number of tried rolls.
    fn try_rolls(&mut self, place: usize, rolls: usize) -> usize {
        let mut branch = self.branches[place];
        let end = (branch.tried + rolls).min(ORDER.len());
        if branch.exact || end == branch.tried {
            return 0;
        }
        let mut tried = [Roll::ALL[0]; ORDER.len()];
        for (roll, &which) in tried.iter_mut().zip(&ORDER[branch.tried..end]) {
            *roll = Roll::ALL[which];
        }
        let tried = &tried[..end - branch.tried];
        self.valuer.value_rolls(&self.network, &branch.board.turned(), tried);
        for (i, roll) in tried.iter().enumerate() {
            let reply = self.valuer.probs[self.valuer.best(i)];
            for (sum, p) in branch.sum.iter_mut().zip(reply) {
                *sum += roll.ways() as f32 * p;
            }
            branch.ways += roll.ways();
        }
        let count = tried.len();
        branch.tried = end;
        self.branches[place] = branch;
        count
    }
}

impl Player for SearchPlayer {
    fn name(&self) -> String {
        if self.evals > 1 { format!("strong, {} evaluations", self.evals) } else { "strong".into() }
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        for (board, roll) in decisions {
            self.rank_results(board, *roll);
            chosen.push(self.branches[self.order[0]].board);
        }
    }

    fn rank(&mut self, board: Board, roll: Roll) -> Vec<Candidate> {
        self.rank_results(&board, roll);
        let all: usize = self.branches.iter().map(|branch| branch.tried).sum();
        let candidate = |&place: &usize| {
            let branch = &self.branches[place];
            let chances = branch.chances();
            Candidate {
                board: branch.board,
                chances: Chances(chances),
                equity: outcomes::equity(&chances),
                first_equity: outcomes::equity(&branch.probs),
                prior: branch.prior,
                share: branch.tried as f32 / all.max(1) as f32,
                depth: match branch.tried {
                    _ if branch.exact => Depth::Exact,
                    0 => Depth::Static,
                    rolls => Depth::Rolls { rolls: rolls as u8 },
                },
            }
        };
        self.order.iter().map(candidate).collect()
    }

    fn expects(&mut self, board: Board) -> Option<Chances> {
        let left = board.turned();
        self.valuer.value(&self.network, &left, &[left]);
        Some(Chances(outcomes::turned(&self.valuer.probs[0])))
    }
}
