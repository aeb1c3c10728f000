//! The cube room: an agent with its learner, tests and questions. The number of training states determines when a test is due.

use super::agent::{Agent, AnyLearner};
use super::learners::{self, LearnerKind};
use super::protocol::{Question, RoomEvent};
use super::schema::SCHEMA;
use crate::RunError;
use crate::plain_data::json;
use crate::protocol::{Knob, Row, Value, Variant};
use crate::room::{Answer, ByName, Iteration, Room, Saved, Schema, Setup, States};
use learn::{NetworkValues, Offload};

/// Maximum number of training states between two tests, as a multiple of [`LearnerKind::test_states`].
const TEST_SHARE: f64 = 10.0;
/// Growth of the number of training states between two tests. This number is [`TEST_GROWTH`] times the run's training states before the
/// last test. [`FIRST_TEST`] defines the minimum, and [`TEST_SHARE`] the maximum.
const TEST_GROWTH: f64 = 3.0;
/// Number of training states before the first test, as a multiple of [`LearnerKind::test_states`].
const FIRST_TEST: f64 = 0.2;

pub struct Cube {
    kind: &'static LearnerKind,
    agent: Box<dyn Agent>,
    /// Error that prevented the beginning of a test; `None` if there was no error.
    test_fault: Option<RunError>,
    /// Search events that [`Room::take_events`] has not returned yet.
    events: Vec<(serde_json::Value, String)>,
}

impl Cube {
    fn make(setup: Setup, saved: Option<&learn::Find>) -> Result<Cube, RunError> {
        let kind = learners::kind(setup.variant);
        let agent = (kind.learner.make)(setup, saved)?;
        Ok(Cube { agent, kind, test_fault: None, events: Vec::new() })
    }

    /// Returns the agent, for callers that have a `Run<Cube>`.
    pub fn agent(&mut self) -> &mut dyn Agent {
        &mut *self.agent
    }
}

impl Room for Cube {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = AnyLearner;
    type Question = Question;

    fn variants() -> Vec<Variant> {
        learners::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        (learners::kind(variant).learner.knobs)()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        (learners::kind(setup.variant).learner.check)(setup.knobs)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        (learners::kind(setup.variant).learner.bytes)(setup.knobs)
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        Cube::make(setup, None)
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        Cube::make(setup, Some(&|name: &str| saved.find(name)))
    }

    fn learner(&self) -> Option<&AnyLearner> {
        Some(self.agent.learner())
    }

    fn learner_mut(&mut self) -> Option<&mut AnyLearner> {
        Some(self.agent.learner_mut())
    }

    fn networks(&self, of: States) -> Result<Vec<NetworkValues>, RunError> {
        self.agent.networks(of)
    }

    fn end_iteration(&mut self, _: &mut Iteration) {
        self.agent.end_iteration();
    }

    fn change(&mut self, name: &str, value: &Value) -> Result<(), RunError> {
        self.agent.learner_mut().change(name, value).map_err(RunError::below)?;
        self.agent.settings_changed();
        Ok(())
    }

    fn test_is_due(&self, tests: &[Row], _solved: bool) -> bool {
        let last = tests.last().map_or(0.0, |test| test.progress.counts[0]);
        let wait = (TEST_GROWTH * last).clamp(FIRST_TEST * self.kind.test_states, TEST_SHARE * self.kind.test_states);
        self.agent.learner().progress().states as f64 >= last + wait
    }

    fn begin_test(&mut self) {
        self.test_fault = self.agent.begin_test(None).err();
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        // A test of the 2x2x2 covers all states, so a confirmation would only repeat the test.
        if self.kind.size == 2 {
            return false;
        }
        self.test_fault = self.agent.begin_test(Some(seed)).err();
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        match self.test_fault.take() {
            Some(fault) => Err(fault),
            None => self.agent.advance_test(),
        }
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        self.agent.offload()
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> Result<crate::export::Described, RunError> {
        Ok(self.agent.exported())
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::Examples, RunError> {
        self.agent.examples(count, seed)
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        self.agent.ask(question)
    }

    fn advance_background(&mut self) -> bool {
        let Some(view) = self.agent.advance_search() else { return false };
        let text = view.text();
        self.events.push((json(&RoomEvent::Search(view)), text));
        true
    }

    fn take_events(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        std::mem::take(&mut self.events)
    }
}
