//! Tests of an agent. On the 2x2x2, a test plays greedily from every state, so its result is exact. On the 3x3x3, a small beam search
//! solves a few fixed scrambles. A confirmation (a second test, after a test that reached the goal) draws new scrambles, more than a test
//! uses. Tests run in slices of a few milliseconds.

use super::schema::NAMES;
use crate::RunError;
use crate::room::ByName;
use learn::cube::{self, Exhaustive, Greedy, Judge, Limits, Method, Report, Search};
use math::Rng;
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Metric, Move, Puzzle, Three, Two, notation};

/// Number of scrambles in a test.
const SCRAMBLES: u64 = 10;
/// Number of scrambles in a confirmation.
const CONFIRMING: u64 = 50;
/// Width of the beam in a test.
const WIDTH: usize = 1024;
/// Maximum number of moves in a test's solutions.
const STEPS: usize = 32;
/// Random stream of the scrambles of tests.
const TESTS: u32 = 0x5445_5354;
/// Random stream of the scrambles of confirmations. A confirmation repeats, with new scrambles, a test that reached the goal.
const CONFIRMATIONS: u32 = 0x434F_4E46;
/// Random stream of the scrambles and states that a user requests.
const ASKED: u32 = 0x4153_4B45;

/// Operations on a cube that the room needs in addition to the operations of [`cube::Cube`].
pub trait Known: cube::Cube {
    type Test: Send + Sync;
    /// Returns the distances of all states; `None` if the cube has too many states.
    fn exact(metric: Metric) -> Option<Arc<Distances>>;
    /// Begins a test. If the test needs scrambles, it uses the standard scrambles if `fresh` is `None`, else new scrambles with the seed
    /// `fresh`.
    fn test(exact: Option<&Arc<Distances>>, metric: Metric, fresh: Option<u32>) -> Result<Self::Test, RunError>;
    /// Runs one slice of a test. After the last slice, returns the test's values; before, returns `None`.
    fn advance(test: &mut Self::Test, judge: &mut dyn Judge<Self>) -> Result<Option<ByName<Option<f64>>>, RunError>;
    /// Returns the total size in bytes of a test and the tables of distances.
    fn bytes() -> u64;

    /// Returns moves that lead from the solved state to a uniformly drawn state at distance `distance`. If the distances of the cube are
    /// unknown, returns `distance` random moves.
    fn moves_to(distance: u32, seed: u32, actions: &Actions, exact: Option<&Distances>) -> Result<Vec<Move>, RunError>;

    /// Returns the results of greedy play from every state; `None` if the cube has too many states.
    fn report(_exact: Option<&Arc<Distances>>, _judge: &mut dyn Judge<Self>) -> Option<Report> {
        None
    }

    fn solution(self, _exact: &Distances) -> Option<Vec<Move>> {
        None
    }
}

impl Known for Two {
    type Test = Exhaustive;

    fn exact(metric: Metric) -> Option<Arc<Distances>> {
        Some(super::distances(metric))
    }

    fn test(exact: Option<&Arc<Distances>>, _: Metric, _: Option<u32>) -> Result<Exhaustive, RunError> {
        Ok(Exhaustive::new(exact.expect("all distances of the 2x2x2 are known").clone()))
    }

    fn advance(test: &mut Exhaustive, judge: &mut dyn Judge<Two>) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let Some(report) = test.advance(judge) else { return Ok(None) };
        let (onward, plain) = (report.total(Greedy::Onward), report.total(Greedy::Plain));
        let by_distance = report.rows(Greedy::Onward);
        let whole = [
            ("solved", onward.share()),
            ("solved_plain", plain.share()),
            ("optimal", onward.optimal_share()),
            ("excess", onward.mean_excess()),
        ];
        let at = NAMES.iter().zip(by_distance.iter().skip(1)).map(|(names, row)| (names.0, row.share()));
        Ok(Some(whole.into_iter().chain(at).map(|(name, value)| (name, Some(value))).collect()))
    }

    fn bytes() -> u64 {
        (Metric::ALL.len() * Distances::BYTES + Exhaustive::BYTES) as u64
    }

    fn moves_to(distance: u32, seed: u32, _: &Actions, exact: Option<&Distances>) -> Result<Vec<Move>, RunError> {
        let exact = exact.expect("all distances of the 2x2x2 are known");
        let Some(&count) = exact.counts().get(distance as usize) else {
            return Err(RunError::refused(
                format!("no state of the 2x2x2 is {distance} moves from solved"),
                format!("Choose a distance from 0 to {}", exact.counts().len() - 1),
            ));
        };
        let chosen = Rng::new(seed, ASKED).sequence(u64::from(distance) << 32).below(count);
        let mut there = (0..).zip(exact.table()).filter(|&(_, &d)| u32::from(d) == distance);
        let rank: u32 = there.nth(chosen as usize).expect("the index is below the count").0;
        let state = Two::unrank(rank).expect("a rank of the table");
        Ok(notation::inverse(&exact.solution(state)))
    }

    fn report(exact: Option<&Arc<Distances>>, judge: &mut dyn Judge<Two>) -> Option<Report> {
        Some(Exhaustive::new(exact?.clone()).run(judge))
    }

    fn solution(self, exact: &Distances) -> Option<Vec<Move>> {
        Some(exact.solution(self))
    }
}

impl Known for Three {
    type Test = Scrambles;

    fn exact(_: Metric) -> Option<Arc<Distances>> {
        None
    }

    fn test(_: Option<&Arc<Distances>>, metric: Metric, fresh: Option<u32>) -> Result<Scrambles, RunError> {
        let search = Search::new(METHOD, LIMITS, Actions::of::<Three>(metric)).map_err(RunError::below)?;
        let (random, count) = match fresh {
            None => (Rng::new(0, TESTS), SCRAMBLES),
            Some(seed) => (Rng::new(seed, CONFIRMATIONS), CONFIRMING),
        };
        let mut test = Scrambles { search, random, count, tried: 0, solved: 0, moves: 0 };
        test.begin();
        Ok(test)
    }

    fn advance(test: &mut Scrambles, judge: &mut dyn Judge<Three>) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let Some(outcome) = test.search.advance(judge).map_err(RunError::below)? else { return Ok(None) };
        if let Ok(actions) = outcome.solution {
            test.solved += 1;
            test.moves += actions.len();
        }
        test.tried += 1;
        if test.tried < test.count {
            test.begin();
            return Ok(None);
        }
        let share = test.solved as f64 / test.count as f64;
        let length = (test.solved > 0).then(|| test.moves as f64 / test.solved as f64);
        Ok(Some(vec![("solved", Some(share)), ("length", length)]))
    }

    fn bytes() -> u64 {
        Search::<Three>::bytes(METHOD, LIMITS)
    }

    fn moves_to(distance: u32, seed: u32, actions: &Actions, _: Option<&Distances>) -> Result<Vec<Move>, RunError> {
        scrambled::<Three>(distance, seed, actions)
    }
}

const METHOD: Method = Method::Beam { width: WIDTH };
const LIMITS: Limits = Limits { steps: STEPS, nodes: u64::MAX };

/// A test of the 3x3x3, which solves scrambles one after another.
pub struct Scrambles {
    search: Search<Three>,
    random: Rng,
    count: u64,
    tried: u64,
    solved: u64,
    moves: usize,
}

impl Scrambles {
    fn begin(&mut self) {
        self.search.begin(Three::drawn(&mut self.random.sequence(self.tried << 32)));
    }
}

/// Maximum number of moves in a requested scramble.
const MOST_MOVES: u32 = 1000;

/// Draws `moves` random moves. No move undoes the move before it.
pub(super) fn scrambled<P: Puzzle>(moves: u32, seed: u32, actions: &Actions) -> Result<Vec<Move>, RunError> {
    if moves > MOST_MOVES {
        return Err(RunError::refused(format!("a scramble of {moves} moves is too long"), format!("Choose 0 to {MOST_MOVES} moves")));
    }
    let mut numbers = Rng::new(seed, ASKED).sequence(1 << 48 | u64::from(moves) << 32);
    Ok(P::scramble(actions, &mut numbers, moves as usize))
}
