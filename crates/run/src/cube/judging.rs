//! What a test of an agent is: greedy play from every state of the 2x2x2, exactly, or a small beam search on a few scrambles of
//! the 3x3x3, always the same ones, which more and other ones confirm. Both go on in slices of a few milliseconds.

use super::schema::NAMES;
use crate::RunError;
use crate::room::ByName;
use learn::cube::{self, Exhaustive, Greedy, Judge, Limits, Method, Report, Search};
use math::Rng;
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Metric, Move, Puzzle, Three, Two, notation};

/// Scrambles of a test and of a confirmation, how wide the beam is that looks for their solutions, and how far it looks.
const SCRAMBLES: u64 = 10;
const CONFIRMING: u64 = 50;
const WIDTH: usize = 1024;
const STEPS: usize = 32;
/// Streams of random numbers: of a test's scrambles, of a confirmation's, and of states that somebody asks for.
const TESTS: u32 = 0x5445_5354;
const CONFIRMATIONS: u32 = 0x434F_4E46;
const ASKED: u32 = 0x4153_4B45;

/// What the room has to know of a cube beyond what learners do.
pub trait Known: cube::Cube {
    type Test: Send + Sync;
    /// The distance of every state, where all are known.
    fn exact(metric: Metric) -> Option<Arc<Distances>>;
    /// Of scrambles, where they are drawn at all, those of all tests, or others that follow from a seed.
    fn test(exact: Option<&Arc<Distances>>, metric: Metric, fresh: Option<u32>) -> Result<Self::Test, RunError>;
    /// A slice of it; what it found once it is done.
    fn advance(test: &mut Self::Test, judge: &mut dyn Judge<Self>) -> Result<Option<ByName<Option<f64>>>, RunError>;
    /// Bytes of a test, and of what is known of all states.
    fn bytes() -> u64;

    /// Moves that lead to a state at this distance where all are known, each as likely, and else so many random ones.
    fn moves_to(distance: u32, seed: u32, actions: &Actions, exact: Option<&Distances>) -> Result<Vec<Move>, RunError>;

    /// How every state fares by greedy play, where there is somebody to judge them all.
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
        Ok(Exhaustive::new(exact.expect("all of the 2x2x2 are known").clone()))
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
        (Distances::BYTES + Exhaustive::BYTES) as u64
    }

    fn moves_to(distance: u32, seed: u32, _: &Actions, exact: Option<&Distances>) -> Result<Vec<Move>, RunError> {
        let exact = exact.expect("all of the 2x2x2 are known");
        let Some(&count) = exact.counts().get(distance as usize) else {
            return Err(RunError::refused(
                format!("no state of the 2x2x2 is {distance} moves from solved"),
                format!("Choose a distance from 0 to {}", exact.counts().len() - 1),
            ));
        };
        let chosen = Rng::new(seed, ASKED).sequence(u64::from(distance) << 32).below(count);
        let mut there = (0..).zip(exact.table()).filter(|&(_, &d)| u32::from(d) == distance);
        let rank: u32 = there.nth(chosen as usize).expect("one of those that were counted").0;
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

/// Scrambles of the 3x3x3, one after another.
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

/// Moves of a scramble that somebody may ask for at most.
const MOST_MOVES: u32 = 1000;

/// So many random moves.
pub(super) fn scrambled<P: Puzzle>(moves: u32, seed: u32, actions: &Actions) -> Result<Vec<Move>, RunError> {
    if moves > MOST_MOVES {
        return Err(RunError::refused(
            format!("a scramble of {moves} moves is longer than any cube needs"),
            format!("Choose 0 to {MOST_MOVES} moves"),
        ));
    }
    let mut numbers = Rng::new(seed, ASKED).sequence(1 << 48 | u64::from(moves) << 32);
    Ok(P::scramble(actions, &mut numbers, moves as usize))
}
