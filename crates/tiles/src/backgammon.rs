//! Backgammon: temporal differences by self-play. The picture shows a game of the agent against itself.

use crate::link::Link;
use crate::tile::{Pace, Tile};
use learn::Learner;
use learn::backgammon::arena::Duel;
use learn::backgammon::baselines::Random;
use learn::backgammon::{Player, SelfTaught, Strong, StrongConfig};
use math::rng::Sequence;
use math::{Isa, Rng};
use std::error::Error;
use worlds::backgammon::{Board, Results, Roll};

/// Number of pairs of games in a test against random moves.
const TEST_PAIRS: u64 = 50;
/// Time of a move, and time for which the end of a game stays in the picture.
const MOVE_S: f64 = 0.6;
const END_S: f64 = 2.0;
/// Number of the random stream of the dice in the picture.
const DICE: u32 = 0x5449_4c45;

/// The learner and the game of the picture. The score is the share of games that the agent wins against random moves.
pub struct Game {
    learner: Strong,
    score: Option<f64>,
    test: Option<(Duel, Box<dyn Player>)>,
    /// Number of iterations after which the next test begins.
    next_test: u64,
    player: Box<dyn Player>,
    /// Board from the point of view of the first player, after the latest move.
    board: Board,
    /// True if the second player made the latest move.
    second: bool,
    roll: Roll,
    dice: Sequence,
    results: Results,
    pace: Pace,
}

impl Game {
    pub fn new(link: &Link) -> Result<Game, Box<dyn Error>> {
        let learner = Strong::new(link.settings(StrongConfig::default())?, link.seed, Isa::best())?;
        let mut dice = Rng::new(link.seed, DICE).sequence(0);
        Ok(Game {
            player: learner.player(1),
            roll: Roll::drawn_to_open(&mut dice),
            learner,
            score: None,
            test: None,
            next_test: 0,
            board: Board::START,
            second: true,
            dice,
            results: Results::new(),
            pace: Pace::default(),
        })
    }

    fn test(&mut self) {
        let seed = self.learner.progress().iterations as u32;
        let (duel, player) = self.test.get_or_insert_with(|| (Duel::new(seed, TEST_PAIRS, 16), self.learner.player(1)));
        duel.advance(&mut **player, &mut Random::new(seed)).expect("both players make legal moves");
        if duel.is_over() {
            self.score = Some(duel.tally().win_share());
            self.test = None;
            // The intervals grow, because an agent changes less and less.
            self.next_test = 1 + self.learner.progress().iterations * 5 / 4;
        }
    }

    fn play(&mut self) {
        if self.board.points() != 0 {
            self.board = Board::START;
        }
        if self.board == Board::START {
            self.player = self.learner.player(1);
        }
        self.second = !self.second;
        self.roll = Roll::drawn(&mut self.dice);
        let before = if self.second { self.board.turned() } else { self.board };
        let after = match before.results(self.roll, &mut self.results) {
            &[forced] => forced,
            _ => {
                let mut chosen = Vec::new();
                self.player.choose(&[(before, self.roll)], &mut chosen);
                chosen[0]
            }
        };
        self.board = if self.second { after.turned() } else { after };
    }
}

impl Tile for Game {
    fn advance(&mut self) {
        if self.test.is_some() || (self.learner.at_boundary() && self.learner.progress().iterations >= self.next_test) {
            self.test();
        } else {
            self.learner.advance();
        }
    }

    fn iterations(&self) -> u64 {
        self.learner.progress().iterations
    }

    fn score(&self) -> Option<f64> {
        self.score
    }

    /// The first player's checkers borne off, on the points 1 to 24 and on the bar, then the second player's; each player counts the points
    /// from its own end. The last numbers are the two dice, and 1 if the second player has moved.
    fn picture(&mut self, seconds: f64) -> Vec<f32> {
        self.pace.add(seconds);
        if self.pace.takes(if self.board.points() == 0 { MOVE_S } else { END_S }) {
            self.play();
        }
        let counts = [self.board.mine(), self.board.theirs()].into_iter().flat_map(|side| side.counts());
        let [high, low] = self.roll.dice();
        counts.chain([high, low, self.second.into()]).map(f32::from).collect()
    }

    fn weights(&self) -> &[f32] {
        self.learner.weights()
    }
}
