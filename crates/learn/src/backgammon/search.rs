//! The strong learner's player: what its networks think of every result of a roll, and a search over what may follow.

use super::net::{self, Ends, Mind, Valuer};
use super::{Candidate, Player};
use worlds::backgammon::{Board, Chances, Results, Roll};

/// Plays what it values most.
pub struct Thinker {
    mind: Mind,
    evals: u32,
    valuer: Valuer,
    results: Results,
    boards: Vec<Board>,
}

/// Equity that a prior takes e times less for.
const TAU: f32 = 0.05;

impl Thinker {
    pub fn new(mind: Mind, evals: u32) -> Thinker {
        Thinker { mind, evals, valuer: Valuer::default(), results: Results::new(), boards: Vec::new() }
    }

    fn value(&mut self, board: &Board, roll: Roll) {
        self.boards.clear();
        self.boards.extend_from_slice(board.results(roll, &mut self.results));
        self.valuer.value(&self.mind, board, &self.boards);
    }
}

impl Player for Thinker {
    fn name(&self) -> String {
        format!("strong, {} evaluations", self.evals)
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        chosen.clear();
        for (board, roll) in decisions {
            self.value(board, *roll);
            chosen.push(self.boards[self.valuer.best()]);
        }
    }

    fn rank(&mut self, board: Board, roll: Roll) -> Vec<Candidate> {
        self.value(&board, roll);
        let best = net::equity(&self.valuer.ends[self.valuer.best()]);
        let candidate = |(board, ends): (&Board, &Ends)| {
            let equity = net::equity(ends);
            let prior = math::poly::exp_1(self.mind.isa, (equity - best) / TAU);
            Candidate { board: *board, chances: Chances(*ends), equity, prior, share: 0.0 }
        };
        let mut ranked: Vec<_> = self.boards.iter().zip(&self.valuer.ends).map(candidate).collect();
        let sum: f32 = ranked.iter().map(|candidate| candidate.prior).sum();
        ranked.iter_mut().for_each(|candidate| candidate.prior /= sum);
        ranked.sort_by(|a, b| b.equity.total_cmp(&a.equity));
        ranked
    }

    fn expects(&mut self, board: Board) -> Option<Chances> {
        let left = board.turned();
        self.valuer.value(&self.mind, &left, &[left]);
        Some(Chances(net::turned(&self.valuer.ends[0])))
    }
}
