//! An agent: a learner of one of the cubes, with its tests and the answers to questions. Tests and answers do not affect training. Both
//! evaluate states with a copy of the weights after the latest complete iteration.

use super::conversions;
use super::judging::{Known, scrambled};
use super::protocol::{ActionView, Inside, Question, Scrambled, SolveMethod, SolveView, StateView};
use super::solving::Solving;
use crate::RunError;
use crate::room::{Answer, ByName, States};
use learn::cube::{CubeLearner, Evaluator, Judge, NetConfig, Progress, Report, Scores, Stats, nearest};
use learn::{Fault, Learner, Machine, NetworkValues, Offload, Pass, WorkedOn};
use math::Rng;
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Move, Scheme, Typed, notation, turn_stickers};

/// Interface of a learner of either cube.
pub type AnyLearner = dyn Learner<Stats = Stats, Progress = Progress>;

/// Interface of an agent, independent of the types of its learner and its cube.
pub trait Agent: Send + Sync {
    fn learner(&self) -> &AnyLearner;
    fn learner_mut(&mut self) -> &mut AnyLearner;
    /// Copies the learner's weights for questions and tests. The room calls this method after each iteration.
    fn end_iteration(&mut self);
    /// Returns the interface that offloads training steps and the evaluation of many states to a GPU. If nothing can be offloaded, the
    /// error contains the reason.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str>;

    /// Handles a live change of a setting. After the change, the agent creates new evaluators, because the current evaluators may not fit
    /// the new settings.
    fn settings_changed(&mut self);

    /// Begins a test. The test of the 2x2x2 covers every state and ignores `fresh`. The test of the 3x3x3 uses the standard scrambles if
    /// `fresh` is `None`, else new scrambles with the seed `fresh`.
    fn begin_test(&mut self, fresh: Option<u32>) -> Result<(), RunError>;
    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError>;
    /// Returns the results of greedy play from every state; `None` if the cube has too many states.
    fn report(&mut self) -> Result<Option<Report>, RunError>;

    /// Returns the values of the network in the state of the last question, or in random states.
    fn networks(&self, of: States) -> Result<Vec<NetworkValues>, RunError>;

    /// Returns the network for export to other programs.
    #[cfg(feature = "export")]
    fn exported(&self) -> crate::export::Described;
    /// Returns `count` inputs of the exported network, with the results of the learner's own code.
    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::Examples, RunError>;

    fn ask(&mut self, question: Question) -> Result<Answer, RunError>;
    /// Runs one slice of the search in progress. Returns the state of the search; `None` if no search is in progress.
    fn advance_search(&mut self) -> Option<SolveView>;
}

struct AgentOf<P: Known> {
    learner: Box<dyn CubeLearner<Cube = P>>,
    actions: Actions,
    exact: Option<Arc<Distances>>,
    /// Weights after the latest complete iteration. Answers and tests use these weights.
    weights: Vec<f32>,
    version: Version,
    looked: Judged<P>,
    /// State of the last [`Question::Look`].
    shown: P,
    /// The search in progress.
    solving: Option<Solving<P>>,
    /// Number of searches that this agent has begun.
    searches: u32,
    solved: Judged<P>,
    test: Option<P::Test>,
    tested: Judged<P>,
    /// Memory in bytes that searches may use.
    free_bytes: u64,
    /// True if a setting has changed since offloading began.
    is_outdated: bool,
}

/// Version of weights: the number of iterations and the number of changes of settings before the weights were copied.
#[derive(Clone, Copy, PartialEq)]
struct Version {
    boundary: u64,
    settings: u64,
}

/// A cached evaluator (a network with fixed weights) and the version of these weights; `None` before the first use.
struct Judged<P>(Option<(Evaluator<P>, Version)>);

impl<P: Known> Judged<P> {
    fn now(&mut self, learner: &dyn CubeLearner<Cube = P>, weights: &[f32], version: Version) -> Result<&mut Evaluator<P>, RunError> {
        let kept = self.0.take().filter(|(_, of)| of.settings == version.settings);
        let (mut evaluator, of) = match kept {
            Some((evaluator, of)) => (evaluator, Some(of)),
            None => (learner.judge().map_err(RunError::below)?, None),
        };
        if of != Some(version) {
            evaluator.set(weights);
        }
        Ok(&mut self.0.insert((evaluator, version)).0)
    }

    /// Returns the evaluator that the last call of [`Judged::now`] returned; `None` if there was no call or the last call failed.
    fn kept(&mut self) -> Option<&mut Evaluator<P>> {
        self.0.as_mut().map(|kept| &mut kept.0)
    }

    fn end_offload(&mut self) {
        if let Some((evaluator, _)) = &mut self.0 {
            evaluator.end_offload();
        }
    }
}

/// Number of sample states for the histograms of activations.
const SAMPLE: usize = 32;
/// Maximum number of evaluators of an agent. The learner's own evaluators are not counted.
const JUDGES: u64 = 3;

/// Returns an upper bound of the bytes that an agent with this network allocates in addition to its learner.
pub(super) fn bytes<P: Known>(net: &NetConfig) -> u64 {
    P::bytes() + JUDGES * Evaluator::<P>::bytes(net)
}

/// Creates the agent of a learner. Searches may use `free_bytes` bytes of memory.
pub(super) fn of<P: Known>(learner: Box<dyn CubeLearner<Cube = P>>, free_bytes: u64) -> Box<dyn Agent> {
    let actions = learner.actions();
    Box::new(AgentOf {
        actions,
        exact: P::exact(actions.metric()),
        weights: learner.weights().to_vec(),
        version: Version { boundary: learner.progress().iterations, settings: 0 },
        looked: Judged(None),
        shown: P::SOLVED,
        solving: None,
        searches: 0,
        solved: Judged(None),
        test: None,
        tested: Judged(None),
        free_bytes,
        is_outdated: false,
        learner,
    })
}

impl<P: Known> AgentOf<P> {
    fn steps(&mut self) -> &mut dyn Offload {
        self.learner.offload().expect("the learner offloads its steps")
    }

    /// Offloads the evaluation of many states in tests and in wide searches.
    fn offload_judges(&mut self, machine: &dyn Machine) -> Result<(), Fault> {
        for judged in [&mut self.tested, &mut self.solved] {
            let judge = judged.now(&*self.learner, &self.weights, self.version).map_err(|error| Fault::Refused { why: error.what() })?;
            judge.offload(machine)?;
        }
        Ok(())
    }

    /// Returns random states, always the same.
    fn sample(&self) -> Vec<P> {
        let mut numbers = Rng::new(0, UNIFORM).sequence(0);
        std::iter::repeat_with(|| P::drawn(&mut numbers)).take(SAMPLE).collect()
    }

    fn distance(&self, state: P) -> Option<u32> {
        state.distance(self.exact.as_deref()?).map(u32::from)
    }

    /// Returns the state after `moves` from the solved state.
    fn scrambled(&self, moves: &[Move]) -> Scrambled {
        let state = P::after(moves);
        Scrambled {
            facelets: state.facelets(&Scheme::FACES),
            moves: moves.iter().map(Move::to_string).collect(),
            distance: self.distance(state),
        }
    }
}

/// Offloads whole iterations of the learner, and the evaluation of many states in tests and in wide searches.
impl<P: Known> Offload for AgentOf<P> {
    fn ways(&self) -> &'static [&'static str] {
        &["Training and evaluating many states on the GPU is faster."]
    }

    fn is_offloaded(&self) -> bool {
        self.learner.worked_on() == WorkedOn::Offloaded
    }

    fn begin_offload(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault> {
        self.end_offload();
        let begun = self.offload_judges(machine).and_then(|()| self.steps().begin_offload(machine, way));
        if begun.is_err() {
            self.end_offload();
        }
        begun
    }

    fn must_offload_again(&self) -> bool {
        self.is_outdated
    }

    fn end_offload(&mut self) {
        self.is_outdated = false;
        self.tested.end_offload();
        self.solved.end_offload();
        self.steps().end_offload();
    }

    fn begin_probe(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault> {
        self.steps().begin_probe(machine, way)
    }

    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        self.steps().advance_probe()
    }

    fn pass_work(&mut self) -> f64 {
        self.steps().pass_work()
    }

    fn end_probe(&mut self) {
        self.steps().end_probe();
    }
}

/// Parses a string of facelets. Returns the state, and the facelets in capitals without blanks.
fn read<P: Known>(facelets: &str) -> Result<(P, String), RunError> {
    let Typed { state, scheme } = P::from_facelets(facelets)?;
    Ok((state, state.facelets(&scheme)))
}

impl<P: Known> Agent for AgentOf<P> {
    fn learner(&self) -> &AnyLearner {
        &*self.learner
    }

    fn learner_mut(&mut self) -> &mut AnyLearner {
        &mut *self.learner
    }

    fn end_iteration(&mut self) {
        let learner = &*self.learner;
        self.version.boundary = learner.progress().iterations;
        self.weights.copy_from_slice(learner.weights());
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        self.learner.offload()?;
        Ok(self)
    }

    fn settings_changed(&mut self) {
        self.is_outdated = true;
        self.version.settings += 1;
        self.weights.copy_from_slice(self.learner.weights());
    }

    fn begin_test(&mut self, fresh: Option<u32>) -> Result<(), RunError> {
        self.test = Some(P::test(self.exact.as_ref(), self.actions.metric(), fresh)?);
        self.tested.now(&*self.learner, &self.weights, self.version).map(|_| ())
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let (Some(test), Some(judge)) = (&mut self.test, self.tested.kept()) else { return Ok(None) };
        let values = P::advance(test, judge)?;
        if values.is_some() {
            self.test = None;
        }
        Ok(values)
    }

    fn report(&mut self) -> Result<Option<Report>, RunError> {
        let judge = self.looked.now(&*self.learner, &self.weights, self.version)?;
        Ok(P::report(self.exact.as_ref(), judge))
    }

    fn networks(&self, of: States) -> Result<Vec<NetworkValues>, RunError> {
        let states = match of {
            States::Shown => vec![self.shown],
            States::Sample => self.sample(),
        };
        Ok(vec![self.learner.network(&states).map_err(RunError::below)?])
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> crate::export::Described {
        super::export::described(&*self.learner)
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::Examples, RunError> {
        self.learner.examples(count, seed).map_err(RunError::below)
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Look { facelets } => Box::new(self.look(&facelets)?),
            Question::Scramble { moves, seed } => Box::new(self.scrambled(&scrambled::<P>(moves, seed, &self.actions)?)),
            Question::Draw { distance, seed } => {
                Box::new(self.scrambled(&P::moves_to(distance, seed, &self.actions, self.exact.as_deref())?))
            }
            Question::Turn { facelets, moves } => Box::new(self.turn(&facelets, &moves)?),
            Question::Uniform { seed, number } => Box::new(self.uniform(seed, number)),
            Question::Solve { facelets, method } => Box::new(self.solve(&facelets, method)?),
            Question::Cancel {} => {
                self.solving = None;
                Box::new(())
            }
            Question::Inside {} => Box::new(self.inside()?),
        })
    }

    fn advance_search(&mut self) -> Option<SolveView> {
        let (solving, judge) = (self.solving.as_mut()?, self.solved.kept()?);
        solving.advance(judge);
        let view = solving.view().clone();
        if view.done {
            self.solving = None;
        }
        Some(view)
    }
}

/// Answers to questions.
impl<P: Known> AgentOf<P> {
    fn look(&mut self, facelets: &str) -> Result<StateView, RunError> {
        let (state, facelets) = read::<P>(facelets)?;
        self.shown = state;
        let count = self.actions.count();
        let judge = self.looked.now(&*self.learner, &self.weights, self.version)?;
        let mut states = vec![P::SOLVED; 1 + count];
        states[0] = state;
        P::fill_children(&[state], &self.actions, &mut states[1..]);
        let children = &states[1..];
        let (value, scores, best) = match judge.scores() {
            Scores::Value => {
                let mut values = vec![0.0; states.len()];
                judge.judge(&states, &mut values);
                // The value is the number of moves to the solved state, so the value of the solved state is 0.
                let known = states.iter().zip(&mut values).filter(|(state, _)| **state == P::SOLVED);
                known.for_each(|(_, value)| *value = 0.0);
                let best = nearest(children, None, |action| values[1 + action]);
                (Some(values[0]), values[1..].to_vec(), best)
            }
            Scores::ActionValues => {
                let mut scores = vec![0.0; count];
                judge.judge(&states[..1], &mut scores);
                let best = nearest(children, None, |action| scores[action]);
                let value = if state == P::SOLVED { 0.0 } else { scores[best] };
                (Some(value), scores, best)
            }
            Scores::Policy => {
                let mut scores = vec![0.0; count];
                judge.judge(&states[..1], &mut scores);
                let best = nearest(children, None, |action| -scores[action]);
                (None, scores.into_iter().map(f32::exp).collect(), best)
            }
        };
        let action = |(action, (&child, score)): (usize, (&P, f32))| ActionView {
            action: self.actions.moves()[action].to_string(),
            score,
            distance: self.distance(child),
        };
        Ok(StateView {
            solved: state == P::SOLVED,
            distance: self.distance(state),
            other_distance: P::exact(self.actions.metric().other()).and_then(|exact| state.distance(&exact)).map(u32::from),
            value,
            actions: children.iter().zip(scores).enumerate().map(action).collect(),
            best: best as u32,
            facelets,
        })
    }

    fn uniform(&self, seed: u32, number: u32) -> Scrambled {
        let state = P::drawn(&mut Rng::new(seed, UNIFORM).sequence(u64::from(number) << 32));
        Scrambled { facelets: state.facelets(&Scheme::FACES), moves: Vec::new(), distance: self.distance(state) }
    }

    fn turn(&self, facelets: &str, moves: &str) -> Result<Scrambled, RunError> {
        let (_, facelets) = read::<P>(facelets)?;
        let moves = notation::read(moves)?;
        let mut stickers: Vec<char> = facelets.chars().collect();
        moves.iter().for_each(|&by| turn_stickers(&mut stickers, by));
        let (state, facelets) = read::<P>(&stickers.iter().collect::<String>())?;
        Ok(Scrambled { facelets, moves: moves.iter().map(Move::to_string).collect(), distance: self.distance(state) })
    }

    fn solve(&mut self, facelets: &str, method: SolveMethod) -> Result<SolveView, RunError> {
        self.solving = None;
        let of = read::<P>(facelets)?;
        let judge = self.solved.now(&*self.learner, &self.weights, self.version)?;
        let exact = self.exact.clone();
        let begun = Solving::begin(self.searches + 1, of, method, self.actions, exact, self.free_bytes, judge)?;
        self.searches += 1;
        let view = begun.view().clone();
        self.solving = (!view.done).then_some(begun);
        Ok(view)
    }

    fn inside(&self) -> Result<Option<Inside>, RunError> {
        let inside = self.learner.inside(conversions::TOP).map_err(RunError::below)?;
        Ok(inside.map(|inside| conversions::inside(inside, self.actions)))
    }
}

/// Random stream of the states of [`Question::Uniform`].
const UNIFORM: u32 = 0x554E_4946;
