//! Duels of two players with duplicate dice. The two games of a pair have the same rolls, but the players exchange sides. Luck therefore
//! mostly cancels. Games are money play without a cube: single games, gammons and backgammons count 1, 2 and 3 points.
//!
//! An illegal move of a player ends the duel with an error.
//!
//! The dice are a function of the seed, the pair and the turn. A player's choice does not depend on the other decisions of a batch. A tally
//! therefore does not depend on the number of concurrent games.

use super::Player;
use math::Rng;
use math::rng::Sequence;
use worlds::backgammon::{Board, Id, Results, Roll};

/// Number of the random stream from which the dice are drawn.
const DICE: u32 = 0x4455_454C;
/// Maximum number of turns of a game. A game that is unfinished after this number of turns counts 0 points. Only games of untrained players
/// are this long.
const LONGEST: u32 = 10_000;

/// Results of completed pairs of games, from the first player's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub pairs: u64,
    /// Points won minus points lost.
    pub points: i64,
    /// Sum of the squares of the pairs' points. The points of a pair are the sum of the points of both games.
    pub squares: u64,
    /// Numbers of single games, gammons and backgammons that the first player won.
    pub won: [u64; 3],
    /// Numbers of single games, gammons and backgammons that the first player lost.
    pub lost: [u64; 3],
    /// Number of games that were unfinished after the maximum number of turns.
    pub endless: u64,
}

impl Tally {
    pub fn games(&self) -> u64 {
        2 * self.pairs
    }

    /// Returns the mean points per game, or 0 without games.
    pub fn mean(&self) -> f64 {
        self.points as f64 / self.games().max(1) as f64
    }

    /// Returns the standard error of [`Tally::mean`], computed from the variance between pairs. Returns `None` with fewer than two pairs.
    pub fn standard_error(&self) -> Option<f64> {
        if self.pairs < 2 {
            return None;
        }
        let n = self.pairs as f64;
        let mean = self.points as f64 / n;
        let variance = (self.squares as f64 / n - mean * mean).max(0.0) * n / (n - 1.0);
        Some((variance / n).sqrt() / 2.0)
    }

    /// Returns the share of games that the first player won, regardless of the points. Returns 0 without games.
    pub fn win_share(&self) -> f64 {
        self.won.iter().sum::<u64>() as f64 / self.games().max(1) as f64
    }

    pub fn add(&mut self, pair: [i32; 2]) {
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

/// Error of a duel: a player returned a wrong number of choices, or an illegal choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DuelError {
    #[error("expected {asked} boards from {name}, got {answered}; use another player")]
    Count { name: String, asked: usize, answered: usize },
    #[error(
        "{name} moved from {from} to {to}, which is illegal with {high} and {low}; \
         use another player"
    )]
    Illegal { name: String, from: Id, high: u8, low: u8, to: Id },
}

/// A game in progress. `board` is the position before the next roll. `turn` is the index of the player to move, and `turns` is the number
/// of completed turns.
struct Running {
    pair: u64,
    /// True for the second game of the pair, in which the second player moves first.
    second: bool,
    turn: usize,
    turns: u32,
    board: Board,
    dice: Sequence,
}

/// A duel in progress. It contains no players: the caller passes the same two players to each [`Duel::advance`].
pub struct Duel {
    seed: u32,
    pairs: u64,
    /// Number of pairs whose games have both begun.
    begun: u64,
    running: Vec<Running>,
    /// Points of the two games of each pair that has begun but is not in the tally yet, oldest pair first. `None` is a game that is not
    /// finished.
    open: std::collections::VecDeque<[Option<i32>; 2]>,
    tally: Tally,
    scratch: Results,
    /// Indices in `running` of the games in which each player must choose a move.
    waiting: [Vec<usize>; 2],
    /// Board and roll of each game in `waiting`, by player.
    decisions: [Vec<(Board, Roll)>; 2],
    /// Board that was chosen for each entry of `decisions`, by player.
    chosen: [Vec<Board>; 2],
    moves: u64,
}

impl Duel {
    /// Creates a duel of `pairs` pairs with at most `abreast` concurrent games.
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

    /// Returns the results of all pairs before the first unfinished pair. Finished pairs after this pair are excluded, because they would
    /// bias the results towards short games.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn is_over(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns the number of turns played so far by both players together.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Plays one turn of each running game. The two players choose their moves in parallel. A new game replaces each game that ends, as
    /// long as games remain to begin.
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
                &[forced] => self.apply_move(i, forced),
                _ => {
                    self.waiting[turn].push(i);
                    self.decisions[turn].push((board, roll));
                }
            }
        }
        let ([mine, theirs], [mut ours, mut others]) = (&self.decisions, std::mem::take(&mut self.chosen));
        math::par::join(|| choose_all(one, mine, &mut ours), || choose_all(other, theirs, &mut others));
        self.chosen = [ours, others];
        self.apply_choices(0, one)?;
        self.apply_choices(1, other)?;
        // In reverse order, `swap_remove` moves only games that were already checked.
        for i in (0..self.running.len()).rev() {
            if let Some(points) = self.ending(i) {
                let game = self.running.swap_remove(i);
                self.ended(&game, points);
                self.begin();
            }
        }
        Ok(())
    }

    /// Plays the moves that a player has chosen. Returns an error if their number is wrong or if a move is illegal.
    fn apply_choices(&mut self, player: usize, answering: &dyn Player) -> Result<(), DuelError> {
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
            self.apply_move(self.waiting[player][k], to);
        }
        Ok(())
    }

    /// Plays a move in game `i`. `after` is the board after the move, from the mover's point of view. The turn passes to the other player.
    fn apply_move(&mut self, i: usize, after: Board) {
        let game = &mut self.running[i];
        game.board = after.turned();
        game.turn = 1 - game.turn;
        game.turns += 1;
        self.moves += 1;
    }

    /// Returns the points won by the first player in game `i`, negative for a loss. Returns 0 if the game is unfinished after the maximum
    /// number of turns. Returns `None` while the game is running.
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

    /// Begins the next game. Does nothing if all games have begun.
    fn begin(&mut self) {
        // True if only the first game of the latest pair has begun.
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
        // Each pair has 2^32 words of random numbers for its dice, more than any game needs.
        let dice = Rng::new(self.seed, DICE).sequence(pair << 32);
        let turn = usize::from(second);
        self.running.push(Running { pair, second, turn, turns: 0, board: Board::START, dice });
    }
}

/// Passes all decisions to a player in one call, and writes the player's choices to `chosen`. Without decisions, the player is not called.
fn choose_all(player: &mut dyn Player, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
    chosen.clear();
    if !decisions.is_empty() {
        player.choose(decisions, chosen);
    }
}

/// Plays all games of a duel, at most `abreast` at a time, and returns the results.
pub fn duel(one: &mut dyn Player, other: &mut dyn Player, seed: u32, pairs: u64, abreast: usize) -> Result<Tally, DuelError> {
    let mut duel = Duel::new(seed, pairs, abreast);
    while !duel.is_over() {
        duel.advance(one, other)?;
    }
    Ok(*duel.tally())
}
