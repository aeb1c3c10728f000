//! The cube as a room: an agent, which learns, is tested and is asked. When it is tested follows from what it has learned from.

use super::agent::AnyAgent;
use super::learners::{self, Kind};
use super::protocol::Question;
use super::schema::SCHEMA;
use crate::RunError;
use crate::bench::Bench;
use crate::protocol::{Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, Iteration, Offload, Room, Saved, Schema, Setup, Slice, Tensors, WorkedOn};
use learn::cube;

/// Training goes on for so many times a test between two; and early on for so many times what it has come to.
const TEST_SHARE: f64 = 10.0;
const TEST_GROWTH: f64 = 3.0;
/// The first one comes once training has taken so much of the time of a test.
const FIRST_TEST: f64 = 0.2;

pub struct Cube {
    kind: &'static Kind,
    agent: Box<dyn AnyAgent>,
    /// Another machine learns and judges; and a knob has changed since it does.
    pub(super) offloaded: bool,
    pub(super) settings_changed: bool,
    /// States learned from by the end of the iteration before.
    states: u64,
    /// Why the test that was to begin cannot.
    test_fault: Option<RunError>,
}

impl Cube {
    fn make(setup: Setup, saved: Option<&learn::Find>) -> Result<Cube, RunError> {
        let kind = learners::kind(setup.variant);
        let agent = kind.maker.make(setup, saved)?;
        let states = agent.progress().states;
        Ok(Cube { agent, kind, offloaded: false, settings_changed: false, states, test_fault: None })
    }

    /// For programs that are about this room.
    pub fn agent(&mut self) -> &mut dyn AnyAgent {
        &mut *self.agent
    }
}

impl Room for Cube {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Question = Question;

    fn variants() -> Vec<Variant> {
        learners::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        learners::kind(variant).maker.knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        learners::kind(setup.variant).maker.check(setup.knobs)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        learners::kind(setup.variant).maker.bytes(setup.knobs)
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        Cube::make(setup, None)
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        Cube::make(setup, Some(&|name: &str| saved.find(name)))
    }

    fn tensors(&self) -> Tensors {
        self.agent.parts()
    }

    fn advance(&mut self) -> Slice {
        let stats = match self.agent.advance() {
            cube::Slice::Iteration(stats) => stats,
            cube::Slice::Worked => return Slice::Worked,
            cube::Slice::Waiting => return Slice::Waiting,
            cube::Slice::Stopped(fault) => {
                self.end_offload();
                return Slice::Stopped(fault);
            }
        };
        let states = self.agent.progress().states;
        let work = (states - std::mem::replace(&mut self.states, states)) as f64;
        let own = |value: f32| Some(f64::from(value));
        let played = |value: fn(cube::PlayStats) -> Option<f32>| stats.play.and_then(value).map(f64::from);
        let values = vec![
            own(stats.loss),
            own(stats.grad_norm),
            own(stats.lr),
            None,
            played(|play| Some(play.epsilon)),
            played(|play| Some(play.mean_q)),
            played(|play| Some(play.depth)),
            played(|play| play.solved),
        ];
        Slice::Ended(Iteration {
            values,
            parts_s: stats.parts_s.to_vec(),
            finite: self.agent.is_finite(),
            work: Some(work),
        })
    }

    fn at_boundary(&self) -> bool {
        self.agent.at_boundary()
    }

    fn saves_within(&self) -> bool {
        self.agent.saves_within()
    }

    fn iteration(&self) -> u32 {
        self.agent.progress().iterations as u32
    }

    fn counts(&self) -> Vec<f64> {
        let p = self.agent.progress();
        [p.states, p.updates, p.moves, p.episodes].map(|count| count as f64).to_vec()
    }

    fn weights(&self) -> &[f32] {
        self.agent.weights()
    }

    fn executor_mut(&mut self) -> Option<&mut graph::Executor> {
        Some(self.agent.executor_mut())
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.agent.set_clock(clock);
    }

    fn values(&self) -> Knobs {
        self.agent.values()
    }

    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.agent.check(name, value)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        self.settings_changed = true;
        self.agent.set(name, value)
    }

    fn test_is_due(&self, tests: &[Row], _solved: bool) -> bool {
        let last = tests.last().map_or(0.0, |test| test.progress.counts[0]);
        let wait = (TEST_GROWTH * last)
            .clamp(FIRST_TEST * self.kind.test_states, TEST_SHARE * self.kind.test_states);
        self.agent.progress().states as f64 >= last + wait
    }

    fn begin_test(&mut self) {
        self.test_fault = self.agent.begin_test(None).err();
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        // A test of the 2x2x2 is of all states.
        if self.kind.size == 2 {
            return false;
        }
        self.test_fault = self.agent.begin_test(Some(seed)).err();
        true
    }

    fn advance_test(&mut self) -> Result<Option<Vec<Option<f64>>>, RunError> {
        match self.test_fault.take() {
            Some(fault) => Err(fault),
            None => self.agent.advance_test(),
        }
    }

    fn offload(&mut self) -> Option<&mut dyn Offload> {
        match self.processor_only() {
            None => Some(self),
            Some(_) => None,
        }
    }

    fn processor_only(&self) -> Option<&'static str> {
        self.kind.plays.then_some(
            "Deep Q-learning takes small steps, each from what was just played; it trains on the processor alone",
        )
    }

    fn worked_on(&self) -> WorkedOn {
        if self.offloaded { WorkedOn::Offloaded } else { WorkedOn::Processor }
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        let agent = &mut *self.agent;
        Ok(match question {
            Question::Look { facelets } => Box::new(agent.look(&facelets)?),
            Question::Scramble { moves, seed } => Box::new(agent.scramble(moves, seed)?),
            Question::Draw { distance, seed } => Box::new(agent.draw(distance, seed)?),
            Question::Turn { facelets, moves } => Box::new(agent.turn(&facelets, &moves)?),
            Question::Solve { facelets, method } => Box::new(agent.solve(&facelets, method)?.clone()),
            Question::SolveMore {} => Box::new(agent.solve_more()?.clone()),
            Question::Inside {} => Box::new(agent.inside()?),
        })
    }

    fn bench(bench: &mut Bench) {
        super::bench::run(bench);
    }
}
