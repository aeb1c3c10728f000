//! The 2x2x2: walk-length regression. The picture shows a scrambled cube that the current network solves greedily.

use crate::link::Link;
use crate::tile::{Pace, Tile};
use learn::Learner;
use learn::cube::{CubeLearner, Evaluator, Judge, Signal, Supervised, SupervisedConfig, nearest};
use math::rng::Sequence;
use math::{Isa, Rng};
use std::error::Error;
use worlds::cube::{Actions, Puzzle, Two};

/// Number of cubes in a test, and the number of moves within which they must be solved.
const TEST_CUBES: usize = 100;
const MOST_MOVES: usize = 14;
/// Maximum number of random moves of a scramble. The cubes of a test have 1 to this number.
const SCRAMBLE: usize = 10;
/// Number of iterations between two tests.
const TEST_EVERY: u64 = 4;
/// Time of a move, and time for which the start and the end stay in the picture.
const MOVE_S: f64 = 0.35;
const END_S: f64 = 1.2;
/// Number of the random stream of the scrambles.
const SCRAMBLES: u32 = 0x5449_4c45;

/// A cube that the network solves. It always takes the best move that does not undo the last move.
#[derive(Clone, Copy)]
struct Solving {
    state: Two,
    last: Option<usize>,
    moves: usize,
}

impl Solving {
    /// Scrambles a cube by `moves` random moves.
    fn scrambled(actions: Actions, moves: usize, numbers: &mut Sequence) -> Solving {
        let (mut state, mut last) = (Two::SOLVED, None);
        for _ in 0..moves {
            let action = actions.drawn(last, numbers);
            (state, last) = (state.turned(action), Some(action));
        }
        Solving { state, last: None, moves: 0 }
    }

    fn is_over(&self) -> bool {
        self.state == Two::SOLVED || self.moves == MOST_MOVES
    }
}

/// The learner and the cube of the picture. The score is the share of scrambled cubes that greedy play solves.
pub struct Cubes {
    learner: Supervised<Two>,
    judge: Evaluator<Two>,
    score: Option<f64>,
    test: Vec<Solving>,
    /// Number of iterations after which the next test begins.
    next_test: u64,
    shown: Solving,
    numbers: Sequence,
    pace: Pace,
}

impl Cubes {
    pub fn new(link: &Link) -> Result<Cubes, Box<dyn Error>> {
        let settings = link.settings(SupervisedConfig::preset::<Two>(Signal::WalkLength))?;
        let learner = Supervised::<Two>::new(settings, None, link.seed, Isa::best())?;
        let mut numbers = Rng::new(link.seed, SCRAMBLES).sequence(1 << 32);
        let shown = Solving::scrambled(learner.actions(), SCRAMBLE, &mut numbers);
        let judge = learner.judge()?;
        Ok(Cubes { learner, judge, score: None, test: Vec::new(), next_test: 0, shown, numbers, pace: Pace::default() })
    }

    fn begin_test(&mut self) {
        let mut numbers = Rng::new(0, SCRAMBLES).sequence(0);
        let cube = |i| Solving::scrambled(self.learner.actions(), 1 + i % SCRAMBLE, &mut numbers);
        self.test = (0..TEST_CUBES).map(cube).collect();
        self.judge.set(self.learner.weights());
    }

    /// Makes a move of every unsolved cube of the test. Ends the test after the last move.
    fn advance_test(&mut self) {
        step(&mut self.test, self.learner.actions(), &mut self.judge);
        if self.test.iter().all(Solving::is_over) {
            let solved = self.test.iter().filter(|cube| cube.state == Two::SOLVED).count();
            self.score = Some(solved as f64 / TEST_CUBES as f64);
            self.test.clear();
            self.next_test = self.learner.progress().iterations + TEST_EVERY;
        }
    }
}

/// Makes a move of every cube that is not over.
fn step(cubes: &mut [Solving], actions: Actions, judge: &mut Evaluator<Two>) {
    let mut open: Vec<&mut Solving> = cubes.iter_mut().filter(|cube| !cube.is_over()).collect();
    let count = actions.count();
    let children: Vec<Two> = open.iter().flat_map(|cube| (0..count).map(|action| cube.state.turned(action))).collect();
    let mut values = vec![0.0; children.len()];
    judge.judge(&children, &mut values);
    for (cube, (children, values)) in open.iter_mut().zip(children.chunks_exact(count).zip(values.chunks_exact(count))) {
        let action = nearest(children, cube.last.map(|last| actions.inverse(last)), |action| values[action]);
        **cube = Solving { state: children[action], last: Some(action), moves: cube.moves + 1 };
    }
}

impl Tile for Cubes {
    fn advance(&mut self) {
        if !self.test.is_empty() {
            self.advance_test();
        } else if self.learner.at_boundary() && self.learner.progress().iterations >= self.next_test {
            self.begin_test();
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

    /// The colours of the 24 stickers, as numbers of the faces U R F D L B.
    fn picture(&mut self, seconds: f64) -> Vec<f32> {
        self.pace.add(seconds);
        if self.shown.is_over() {
            if self.pace.takes(END_S) {
                self.shown = Solving::scrambled(self.learner.actions(), SCRAMBLE, &mut self.numbers);
            }
        } else if self.pace.takes(if self.shown.moves == 0 { END_S } else { MOVE_S }) {
            step(std::slice::from_mut(&mut self.shown), self.learner.actions(), &mut self.judge);
        }
        let mut active = [0; Two::FACELETS];
        self.shown.state.inputs(&mut active);
        active.map(|input| f32::from(input % 6)).to_vec()
    }

    fn weights(&self) -> &[f32] {
        self.learner.weights()
    }
}
