//! Two players against each other with duplicate dice: every sequence of rolls is played twice, each player having each side
//! once, so that what luck gives in one game it mostly takes back in the other. Money play without a cube: single games,
//! gammons and backgammons count 1, 2 and 3.
//!
//! It refuses to trust a player: a choice that the roll cannot lead to ends the duel. It keeps no record of the games.
//!
//! The dice are a function of the seed, the pair and the turn; players answer alike whatever else is in the batch; so a tally depends on
//! nothing else, however many games run abreast and however the work is cut into slices.

use super::Player;
use math::Rng;
use math::rng::Sequence;
use worlds::backgammon::{Board, Id, Results, Roll};

/// Apart from the streams that learners draw from.
const DICE: u32 = 0x4455_454C;
/// A game that has no end after so many turns counts nothing: both have forgotten what to do.
const LONGEST: u32 = 10_000;

/// What became of a number of pairs, as the first player sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub pairs: u64,
    /// Points won less points lost.
    pub points: i64,
    /// Of the points of each pair.
    pub squares: u64,
    /// Single games, gammons and backgammons won.
    pub won: [u64; 3],
    pub lost: [u64; 3],
    /// Without an end after as many turns as are played.
    pub endless: u64,
}

impl Tally {
    pub fn games(&self) -> u64 {
        2 * self.pairs
    }

    /// Points a game; 0 before any.
    pub fn mean(&self) -> f64 {
        self.points as f64 / self.games().max(1) as f64
    }

    /// Of the mean, over pairs; unknown before there are two.
    pub fn standard_error(&self) -> Option<f64> {
        if self.pairs < 2 {
            return None;
        }
        let n = self.pairs as f64;
        let mean = self.points as f64 / n;
        let variance = (self.squares as f64 / n - mean * mean).max(0.0) * n / (n - 1.0);
        Some((variance / n).sqrt() / 2.0)
    }

    /// Share of games won, whatever they counted.
    pub fn win_share(&self) -> f64 {
        self.won.iter().sum::<u64>() as f64 / self.games().max(1) as f64
    }

    fn add(&mut self, pair: [i32; 2]) {
        self.pairs += 1;
        let sum = i64::from(pair[0] + pair[1]);
        self.points += sum;
        self.squares += (sum * sum) as u64;
        for points in pair {
            match points {
                0 => self.endless += 1,
                1.. => self.won[points as usize - 1] += 1,
                _ => self.lost[-points as usize - 1] += 1,
            }
        }
    }
}

/// A player broke the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DuelError {
    #[error("{name} answered {asked} decisions with {answered} boards; this duel cannot go on, use another player")]
    Count { name: String, asked: usize, answered: usize },
    #[error(
        "{name} moved from {from} with {high} and {low} to {to}, which this roll cannot lead to; this duel cannot go on, \
         use another player"
    )]
    Illegal { name: String, from: Id, high: u8, low: u8, to: Id },
}

/// One game: whose turn it is, as an index into the two players, and the board before the roll.
struct Running {
    pair: u64,
    /// Which of the two games of the pair, and who began it.
    second: bool,
    turn: usize,
    turns: u32,
    board: Board,
    dice: Sequence,
}

/// Pairs of games under way. It holds no player: whoever advances it brings the same two every time.
pub struct Duel {
    seed: u32,
    pairs: u64,
    /// Pairs begun.
    begun: u64,
    running: Vec<Running>,
    /// Points of pairs from the first that is not in the tally yet; nothing where a game still runs.
    open: std::collections::VecDeque<[Option<i32>; 2]>,
    tally: Tally,
    scratch: Results,
    /// By player: the games that wait for it, their decisions, and its answers.
    waiting: [Vec<usize>; 2],
    decisions: [Vec<(Board, Roll)>; 2],
    chosen: [Vec<Board>; 2],
    moves: u64,
}

impl Duel {
    /// So many pairs of games, of which `abreast` run at a time.
    pub fn new(seed: u32, pairs: u64, abreast: usize) -> Duel {
        let mut duel = Duel {
            seed,
            pairs,
            begun: 0,
            running: Vec::new(),
            open: Default::default(),
            tally: Tally::default(),
            scratch: Results::new(),
            waiting: Default::default(),
            decisions: Default::default(),
            chosen: Default::default(),
            moves: 0,
        };
        for _ in 0..abreast.max(1) {
            duel.begin();
        }
        duel
    }

    /// Pairs that have ended without a gap since the first, so that short games do not count more than long ones while the
    /// duel goes on.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn is_over(&self) -> bool {
        self.running.is_empty()
    }

    /// Turns played so far, of both players.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// One turn in each game that runs. Both players think at once.
    pub fn advance(&mut self, one: &mut dyn Player, other: &mut dyn Player) -> Result<(), DuelError> {
        for player in 0..2 {
            self.waiting[player].clear();
            self.decisions[player].clear();
        }
        for i in 0..self.running.len() {
            let game = &mut self.running[i];
            let roll = if game.turns == 0 { Roll::drawn_to_open(&mut game.dice) } else { Roll::drawn(&mut game.dice) };
            let (board, turn) = (game.board, game.turn);
            match board.results(roll, &mut self.scratch) {
                &[forced] => self.played(i, forced),
                _ => {
                    self.waiting[turn].push(i);
                    self.decisions[turn].push((board, roll));
                }
            }
        }
        let ([mine, theirs], [mut ours, mut others]) = (&self.decisions, std::mem::take(&mut self.chosen));
        math::par::join(|| asked(one, mine, &mut ours), || asked(other, theirs, &mut others));
        self.chosen = [ours, others];
        self.obey(0, one)?;
        self.obey(1, other)?;
        // From the last, so that what moves into a gap has been seen.
        for i in (0..self.running.len()).rev() {
            if let Some(points) = self.ending(i) {
                let game = self.running.swap_remove(i);
                self.ended(&game, points);
                self.begin();
            }
        }
        Ok(())
    }

    /// Plays what a player has chosen.
    fn obey(&mut self, player: usize, answering: &dyn Player) -> Result<(), DuelError> {
        let (asked, answered) = (self.decisions[player].len(), self.chosen[player].len());
        if asked != answered {
            return Err(DuelError::Count { name: answering.name(), asked, answered });
        }
        for k in 0..asked {
            let ((from, roll), to) = (self.decisions[player][k], self.chosen[player][k]);
            if !from.results(roll, &mut self.scratch).contains(&to) {
                let (name, high, low) = (answering.name(), roll.high(), roll.low());
                return Err(DuelError::Illegal { name, from: from.id(), high, low, to: to.id() });
            }
            self.played(self.waiting[player][k], to);
        }
        Ok(())
    }

    /// A player leaves this board, and it is the other's turn.
    fn played(&mut self, i: usize, after: Board) {
        let game = &mut self.running[i];
        game.board = after.turned();
        game.turn = 1 - game.turn;
        game.turns += 1;
        self.moves += 1;
    }

    /// Points of the first player, where a game has ended; nobody's after too many turns.
    fn ending(&self, i: usize) -> Option<i32> {
        let game = &self.running[i];
        let points = game.board.points();
        match points {
            0 if game.turns < LONGEST => None,
            _ if game.turn == 0 => Some(points),
            _ => Some(-points),
        }
    }

    fn ended(&mut self, game: &Running, points: i32) {
        self.open[(game.pair - self.tally.pairs) as usize][usize::from(game.second)] = Some(points);
        while let Some(&[Some(first), Some(second)]) = self.open.front() {
            self.open.pop_front();
            self.tally.add([first, second]);
        }
    }

    /// Begins the next game, where one is left.
    fn begin(&mut self) {
        // The game that was begun last is the first of its pair or the second.
        let second = self.open.len() as u64 + self.tally.pairs > self.begun;
        if !second && self.begun == self.pairs {
            return;
        }
        let pair = self.begun;
        if second {
            self.begun += 1;
        } else {
            self.open.push_back([None; 2]);
        }
        // 2^32 words of dice a pair: no game comes so far.
        let dice = Rng::new(self.seed, DICE).sequence(pair << 32);
        let turn = usize::from(second);
        self.running.push(Running { pair, second, turn, turns: 0, board: Board::START, dice });
    }
}

/// Lets a player think about all its decisions together.
fn asked(player: &mut dyn Player, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
    chosen.clear();
    if !decisions.is_empty() {
        player.choose(decisions, chosen);
    }
}

/// A whole duel at once.
pub fn duel(one: &mut dyn Player, other: &mut dyn Player, seed: u32, pairs: u64, abreast: usize) -> Result<Tally, DuelError> {
    let mut duel = Duel::new(seed, pairs, abreast);
    while !duel.is_over() {
        duel.advance(one, other)?;
    }
    Ok(*duel.tally())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_mean_over_pairs() {
        let mut tally = Tally::default();
        assert_eq!(tally.standard_error(), None);
        for pair in [[1, 1], [1, -1], [-2, 1], [3, 0]] {
            tally.add(pair);
        }
        // Points a game of the pairs: 1, 0, -1/2, 3/2. Their mean is 1/2; squares about it sum to 5/2, over 3 and over 4.
        assert_eq!((tally.mean(), tally.games(), tally.endless), (0.5, 8, 1));
        let error = tally.standard_error().unwrap();
        assert!((error - (2.5f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12, "{error}");
    }
}
