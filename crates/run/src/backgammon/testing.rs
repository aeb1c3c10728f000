//! Test of the agent by games against the baselines, with dice from a seed.

use super::schema::SCHEMA;
use crate::RunError;
use crate::protocol::Row;
use crate::room::ByName;
use learn::backgammon::Player;
use learn::backgammon::arena::{Duel, Tally};
use learn::backgammon::baselines::{Linear, Random};

/// Number of pairs of games against each baseline in a test. The two games of a pair have the same dice, with the sides exchanged.
pub const TEST_PAIRS: u64 = 100;
/// Number of pairs of games against each baseline in a confirmation (a second test, after a test that reached the goal).
pub const CONFIRMATION_PAIRS: u64 = 500;

/// Approximate number of boards evaluated in a test: two baselines, two games per pair, about thirty decisions per game, and about twenty
/// boards per decision.
const TEST_EVALUATIONS: u64 = 2 * TEST_PAIRS * 2 * 30 * 20;
/// Maximum number of evaluations between two tests, as a multiple of [`TEST_EVALUATIONS`].
const TEST_SHARE: u64 = 20;
/// Growth of the number of evaluations between two tests. This number is [`TEST_GROWTH`] times the run's evaluations before the last test,
/// but at least 2 and at most [`TEST_SHARE`] times [`TEST_EVALUATIONS`].
const TEST_GROWTH: u64 = 3;

/// Returns true if a test is due. `done` is the number of evaluations in the run, and `tests` are the run's tests so far.
pub fn is_due(done: u64, tests: &[Row]) -> bool {
    let evaluations = SCHEMA.counter("evaluations").expect("one of the counters");
    let last = tests.last().map_or(0, |test| test.progress.counts[evaluations] as u64);
    let wait = (TEST_GROWTH * last).clamp(2 * TEST_EVALUATIONS, TEST_SHARE * TEST_EVALUATIONS);
    done >= last + wait
}

/// A test in progress: games against the baselines.
pub struct BaselineTest {
    player: Box<dyn Player>,
    /// Duels that are not finished, each with its baseline. The last entry is the duel in progress.
    left: Vec<(Box<dyn Player>, Duel)>,
    /// Columns and values of the finished duels.
    scores: Vec<ByName<Option<f64>>>,
}

impl BaselineTest {
    pub fn new(player: Box<dyn Player>, seed: u32, pairs: u64) -> BaselineTest {
        let duel = || Duel::new(seed, pairs, 2 * TEST_PAIRS as usize);
        let random: Box<dyn Player> = Box::new(Random::new(seed));
        let linear: Box<dyn Player> = Box::new(Linear::new());
        BaselineTest { player, left: vec![(linear, duel()), (random, duel())], scores: Vec::new() }
    }

    /// Plays one turn in each game of the duel in progress. Returns the values of the test after the last duel, otherwise `None`.
    pub fn advance(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let Some((baselines, duel)) = self.left.last_mut() else { return Ok(None) };
        duel.advance(&mut *self.player, &mut **baselines)?;
        if !duel.is_over() {
            return Ok(None);
        }
        self.scores.push(score(COLUMNS[self.scores.len()], duel.tally()));
        self.left.pop();
        Ok(self.left.is_empty().then(|| self.scores.concat()))
    }
}

/// Column names of the results against random moves and against pubeval. Each list names points, standard error, wins, gammons won, gammons
/// lost and games.
const COLUMNS: [[&str; 6]; 2] = [
    ["random_points", "random_error", "random_wins", "random_gammons_won", "random_gammons_lost", "random_games"],
    ["linear_points", "linear_error", "linear_wins", "linear_gammons_won", "linear_gammons_lost", "linear_games"],
];

fn score(columns: [&'static str; 6], tally: &Tally) -> ByName<Option<f64>> {
    let share = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / tally.games().max(1) as f64;
    let values = [
        tally.mean(),
        tally.standard_error().unwrap_or(0.0),
        tally.win_share(),
        share(&tally.won[1..]),
        share(&tally.lost[1..]),
        tally.games() as f64,
    ];
    columns.into_iter().zip(values.map(Some)).collect()
}
