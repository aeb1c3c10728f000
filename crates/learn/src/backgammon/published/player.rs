//! Player that uses the network. Without a search, it plays the policy's most likely action. With a search, it plays the most visited
//! action, and adds no noise to the priors. The result of a decision does not depend on the other decisions of a batch.

use super::inputs::Decision;
use super::net::{self, Evaluator, HEADS, Shape, Weights, play};
use super::search::{Search, Seconds};
use super::tree::{self, Edge, MOST_ACTIONS, ROOT, Rule, Tree};
use crate::backgammon::{Candidate, Depth, Player, outcomes};
use graph::Plan;
use math::PANEL;
use std::sync::Arc;
use worlds::backgammon::{Board, Chances, Results, Roll};

/// Number of decisions in a batch.
pub const ROWS: usize = PANEL;
/// Maximum number of simulations that one tree adds to a batch. `ROWS / LEAVES` trees are searched concurrently, so all of their
/// simulations fit in a batch.
const LEAVES: usize = 4;

struct Searching {
    search: Search,
    spare: Tree,
    /// Index of the caller's decision that each slot works on, and the decision that the slot searches. This decision may be the second
    /// half of a double. A free slot has `None`.
    asked: Vec<Option<(usize, Decision)>>,
    rule: Rule,
    evals: u32,
}

pub struct PublishedPlayer {
    weights: Arc<Weights>,
    evaluator: Evaluator,
    scratch: Results,
    searching: Option<Searching>,
    actions: Vec<u16>,
    priors: Box<[f32; MOST_ACTIONS]>,
}

impl PublishedPlayer {
    /// Returns the memory of a player that does not search, in bytes.
    pub fn bytes(plan: &Plan, shape: Shape) -> f64 {
        Evaluator::bytes(plan, shape.width, ROWS) + Weights::bytes(shape) + (Results::BYTES + size_of::<PublishedPlayer>()) as f64
    }

    /// Creates a player. The player searches if `evals`, the number of evaluations per decision, exceeds 1. The plan must have [`ROWS`]
    /// rows.
    pub fn new(plan: &Arc<Plan>, weights: Arc<Weights>, rule: Rule, evals: u32) -> PublishedPlayer {
        let searching = (evals > 1).then(|| Searching {
            search: Search::new(plan, ROWS, ROWS / LEAVES, LEAVES, evals as usize),
            spare: Tree::new(evals as usize),
            asked: vec![None; ROWS / LEAVES],
            rule,
            evals,
        });
        PublishedPlayer {
            weights,
            evaluator: Evaluator::new(plan, ROWS),
            scratch: Results::new(),
            searching,
            actions: Vec::new(),
            priors: Box::new([0.0; MOST_ACTIONS]),
        }
    }

    /// Evaluates each decision with the network. Calls `report` with the decision's index, the five value outputs, the legal actions, and
    /// the probabilities of these actions.
    fn evaluate(&mut self, decisions: &[Decision], mut report: impl FnMut(usize, [f32; HEADS], &[u16], &[f32])) {
        for (chunk, decisions) in decisions.chunks(ROWS).enumerate() {
            self.evaluator.clear();
            decisions.iter().for_each(|decision| self.evaluator.see(decision));
            self.evaluator.run(&self.weights);
            for (row, decision) in decisions.iter().enumerate() {
                self.actions.clear();
                self.actions.extend(tree::legal(decision, &mut self.scratch));
                self.evaluator.policy(&self.weights, row, &self.actions, &mut *self.priors);
                report(chunk * ROWS + row, self.evaluator.heads(row), &self.actions, &*self.priors);
            }
        }
    }

    /// Chooses a board for each decision without a search. The board results from the policy's most likely action. For a double, each half
    /// plays its most likely action.
    fn choose_by_policy(&mut self, decisions: &[(Board, Roll)], chosen: &mut [Board]) {
        let mut open: Vec<(usize, Decision)> = decisions.iter().map(|&(board, roll)| Decision::new(board, roll)).enumerate().collect();
        while !open.is_empty() {
            let asked: Vec<Decision> = open.iter().map(|open| open.1).collect();
            let mut best = vec![0; asked.len()];
            self.evaluate(&asked, |i, _, actions, priors| {
                let better = |best: usize, next: usize| if priors[next] > priors[best] { next } else { best };
                best[i] = actions[(0..actions.len()).reduce(better).unwrap_or(0)];
            });
            let mut left = Vec::new();
            for (&(i, decision), action) in open.iter().zip(best) {
                match after(&decision, action) {
                    Ok(second) => left.push((i, second)),
                    Err(board) => chosen[i] = board,
                }
            }
            open = left;
        }
    }

    /// Returns the outcome probabilities of boards before the roll, for the player to roll. The probabilities are means over all rolls.
    fn expected_chances(&mut self, boards: &[Board]) -> Vec<Chances> {
        let decisions: Vec<Decision> =
            boards.iter().flat_map(|&board| Roll::ALL.into_iter().map(move |roll| Decision::new(board, roll))).collect();
        let mut sums = vec![[0.0f32; 6]; boards.len()];
        let rolls = Roll::ALL.len();
        self.evaluate(&decisions, |i, heads, _, _| {
            let weight = Roll::ALL[i % rolls].ways() as f32 / 36.0;
            let chances = net::chances(heads, &boards[i / rolls]);
            sums[i / rolls].iter_mut().zip(chances.0).for_each(|(sum, chance)| *sum += weight * chance);
        });
        sums.into_iter().map(Chances).collect()
    }

    /// Returns the results of a roll, each with its probability under the policy without search.
    fn likely(&mut self, board: Board, roll: Roll) -> Vec<(Board, f32)> {
        let mut found: Vec<(Board, f32)> = Vec::new();
        let mut open = vec![(Decision::new(board, roll), 1.0f32)];
        while !open.is_empty() {
            let asked: Vec<Decision> = open.iter().map(|open| open.0).collect();
            let mut left = Vec::new();
            self.evaluate(&asked, |i, _, actions, priors| {
                for (&action, prior) in actions.iter().zip(priors) {
                    let share = open[i].1 * prior;
                    match after(&asked[i], action) {
                        Ok(second) => left.push((second, share)),
                        Err(board) => match found.iter_mut().find(|found| found.0 == board) {
                            Some(found) => found.1 += share,
                            None => found.push((board, share)),
                        },
                    }
                }
            });
            open = left;
        }
        found
    }
}

/// Applies an action. Returns `Ok` with the second half of a double if the turn continues. Returns `Err` with the board if the turn is
/// over.
fn after(decision: &Decision, action: u16) -> Result<Decision, Board> {
    let (board, roll) = (decision.board.moved(decision.roll(), play(action)), decision.roll());
    let more = roll.is_double() && !decision.second && board.can_move(roll.high());
    if more { Ok(Decision { board, second: true, ..*decision }) } else { Err(board) }
}

fn most_visited(edges: &[Edge]) -> usize {
    let more = |best: usize, next: usize| if edges[next].visits > edges[best].visits { next } else { best };
    (0..edges.len()).reduce(more).unwrap_or(0)
}

impl Searching {
    fn begin(&mut self, slot: usize, i: usize, decision: Decision) {
        self.asked[slot] = Some((i, decision));
        let evals = self.budget(&decision);
        self.search.slots[slot].begin(decision, 0, evals);
    }

    fn budget(&self, decision: &Decision) -> u32 {
        if decision.roll().is_double() { self.evals.div_ceil(2) } else { self.evals }
    }

    fn choose(&mut self, weights: &Weights, decisions: &[(Board, Roll)], chosen: &mut [Board]) {
        let mut next = decisions.iter().map(|&(board, roll)| Decision::new(board, roll)).enumerate();
        let mut seconds: Seconds = [0.0; 4];
        loop {
            for slot in 0..self.asked.len() {
                if self.asked[slot].is_none()
                    && let Some((i, decision)) = next.next()
                {
                    self.begin(slot, i, decision);
                }
            }
            if self.asked.iter().all(Option::is_none) {
                return;
            }
            self.search.step(weights, &self.rule, &|| 0.0, &mut seconds, |_, _| {});
            for slot in 0..self.asked.len() {
                let Some((i, decision)) = self.asked[slot] else { continue };
                if self.search.slots[slot].left > 0 {
                    continue;
                }
                let tree = &mut self.search.slots[slot].tree;
                let best = most_visited(tree.edges(ROOT));
                match after(&decision, tree.edges(ROOT)[best].action) {
                    Ok(second) => {
                        tree.reuse_subtree(best, second, 0, &mut self.spare, self.evals as usize);
                        self.asked[slot] = Some((i, second));
                        self.search.slots[slot].left = self.budget(&second);
                    }
                    Err(board) => {
                        chosen[i] = board;
                        self.asked[slot] = None;
                    }
                }
            }
        }
    }

    /// Searches a decision. Returns four values for each visited result: the board, its share of the visits, the sum of its backed-up
    /// values, and its number of visits.
    fn shares(&mut self, weights: &Weights, decision: Decision) -> Vec<(Board, f32, f32, u32)> {
        self.begin(0, 0, decision);
        let mut seconds: Seconds = [0.0; 4];
        // A double gets the evaluations of both halves at once, because one tree contains both halves.
        self.search.slots[0].left = self.evals;
        while self.search.slots[0].left > 0 {
            self.search.step(weights, &self.rule, &|| 0.0, &mut seconds, |_, _| {});
        }
        self.asked[0] = None;
        let tree = &self.search.slots[0].tree;
        let mut found: Vec<(Board, f32, f32, u32)> = Vec::new();
        let mut add = |decision: &Decision, edge: &Edge, of: f32| {
            if edge.visits == 0 {
                return;
            }
            let (share, visits) = (of * f32::from(edge.visits), u32::from(edge.visits));
            if let Err(board) = after(decision, edge.action) {
                match found.iter_mut().find(|found| found.0 == board) {
                    Some(found) => *found = (board, found.1 + share, found.2 + edge.sum, found.3 + visits),
                    None => found.push((board, share, edge.sum, visits)),
                }
            }
        };
        let sum = |edges: &[Edge]| edges.iter().map(|edge| f32::from(edge.visits)).sum::<f32>().max(1.0);
        let all = sum(tree.edges(ROOT));
        for (i, edge) in tree.edges(ROOT).iter().enumerate() {
            add(&decision, edge, 1.0 / all);
            if let Some(second) = tree.second(i) {
                let edges = tree.edges(second);
                let of = f32::from(edge.visits) / all / sum(edges);
                edges.iter().for_each(|below| add(tree.decision(second), below, of));
            }
        }
        let all: f32 = found.iter().map(|found| found.1).sum::<f32>().max(f32::MIN_POSITIVE);
        found.iter_mut().for_each(|found| found.1 /= all);
        found
    }
}

impl Player for PublishedPlayer {
    fn name(&self) -> String {
        match &self.searching {
            None => "published, without search".into(),
            Some(searching) => format!("published, {} evaluations", searching.evals),
        }
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        let start = chosen.len();
        chosen.extend(decisions.iter().map(|decision| decision.0));
        let chosen = &mut chosen[start..];
        match &mut self.searching {
            None => self.choose_by_policy(decisions, chosen),
            Some(searching) => searching.choose(&self.weights, decisions, chosen),
        }
    }

    fn rank(&mut self, board: Board, roll: Roll) -> Vec<Candidate> {
        let likely = self.likely(board, roll);
        let boards: Vec<Board> = likely.iter().map(|likely| likely.0.turned()).collect();
        let expected = self.expected_chances(&boards);
        let weights = self.weights.clone();
        let searched = match &mut self.searching {
            Some(searching) if likely.len() > 1 => searching.shares(&weights, Decision::new(board, roll)),
            _ => Vec::new(),
        };
        let mut candidates: Vec<Candidate> = likely
            .into_iter()
            .zip(expected)
            .map(|((board, prior), expected)| {
                let chances = match board.points() {
                    0 => expected.turned(),
                    points => Chances(outcomes::ended(points)),
                };
                // The equity is the mean of the search's values and the static equity. The static equity counts as much as 21 visits, one
                // for each roll.
                let (share, sum, visits) =
                    searched.iter().find(|found| found.0 == board).map_or((0.0, 0.0, 0), |&(_, share, sum, visits)| (share, sum, visits));
                let rolls = Roll::ALL.len() as f32;
                let first_equity = outcomes::equity(&chances.0);
                let equity = (rolls * first_equity + sum) / (rolls + visits as f32);
                let depth = match visits {
                    _ if board.points() != 0 => Depth::Exact,
                    0 => Depth::Static,
                    visits => Depth::Visits { visits },
                };
                Candidate { board, chances, equity, first_equity, prior, share, depth }
            })
            .collect();
        // Sorts the results by [`Player::choose`]'s order of preference.
        candidates.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.prior.total_cmp(&a.prior)).then(b.equity.total_cmp(&a.equity)));
        candidates
    }

    fn has_policy(&self) -> bool {
        true
    }

    fn expects(&mut self, board: Board) -> Option<Chances> {
        match board.points() {
            0 => self.expected_chances(&[board]).pop(),
            points => Some(Chances(outcomes::ended(points))),
        }
    }
}
