//! The logic room: a population with its tests, and data for display. The display does not affect training.

use super::answers::Answers;
use super::experiments;
use super::protocol::Question;
use super::schema::SCHEMA;
use super::testing::{Notes, Tests};
use crate::RunError;
use crate::knobs::Table;
use crate::plain_data::json;
use crate::protocol::{Knob, Row, Variant};
use crate::room::{Answer, ByName, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::logic::Wirings;
use learn::logic::experiment::{Config, Experiment};
use learn::logic::population::Population;

/// Minimum interval between two tests, in iterations. The interval is a quarter of the iterations before the last test if that is more.
/// While the run is not solved, a test is also due as soon as the best member is perfect and its circuit has no verdict (see [`Tests`]).
const TEST_EVERY: u32 = 16;

pub struct Logic {
    population: Population,
    tests: Tests,
    answers: Answers,
}

/// Returns the knobs of an experiment.
fn table(variant: &str) -> Table<Config> {
    Table::new(Config::preset(experiments::preset(variant)))
}

/// Returns the experiment's settings with the values of the knobs in `setup`, and the experiment that these settings define.
fn settings(setup: Setup) -> Result<(Config, Experiment), RunError> {
    let config = table(setup.variant).settings(setup.knobs)?;
    let experiment = config.experiment().map_err(RunError::below)?;
    Ok((config, experiment))
}

impl Logic {
    fn make(setup: Setup, population: Population, tests: Tests) -> Result<Logic, RunError> {
        let answers = Answers::new(setup.host.memory_bytes.saturating_sub(Logic::bytes(setup)?));
        Ok(Logic { population, tests, answers })
    }

    /// Returns the population, for callers that have a `Run<Logic>`.
    pub fn population(&self) -> &Population {
        &self.population
    }
}

impl Room for Logic {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = Population;
    type Question = Question;

    fn variants() -> Vec<Variant> {
        experiments::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        table(variant).knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        let (config, experiment) = settings(setup)?;
        Wirings::new(&experiment.architecture, config.wiring, setup.seed).map(|_| ()).map_err(RunError::below)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        let (config, _) = settings(setup)?;
        Population::bytes(&config).map_err(RunError::below)
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let (config, _) = settings(setup)?;
        let population = Population::new(config, setup.seed, setup.host.isa).map_err(RunError::below)?;
        Logic::make(setup, population, Tests::default())
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let (config, _) = settings(setup)?;
        let find = |name: &str| saved.find(name);
        let population = Population::restore(config, setup.seed, setup.host.isa, &find);
        // A file from an older version has no notes.
        let notes: Option<Notes> = serde_json::from_value(saved.notes.clone()).map_err(RunError::damaged)?;
        let tests = Tests::restore(notes.unwrap_or_default());
        Logic::make(setup, population.map_err(RunError::damaged)?, tests)
    }

    fn notes(&self) -> serde_json::Value {
        json(&self.tests.notes())
    }

    fn learner(&self) -> Option<&Population> {
        Some(&self.population)
    }

    fn learner_mut(&mut self) -> Option<&mut Population> {
        Some(&mut self.population)
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.answers.clock = Some(clock);
    }

    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool {
        let is_untried = self.tests.has_untried(&self.population);
        let last = tests.last().map_or(0, |test| test.progress.iteration);
        (is_untried && !solved) || self.population.progress().iterations as u32 >= last + TEST_EVERY.max(last / 4)
    }

    fn begin_test(&mut self) {
        self.tests.begin(&self.population);
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        self.tests.begin_confirmation(&self.population, seed)
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        Ok(self.tests.advance(&self.population))
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> Result<crate::export::Described, RunError> {
        let next = "Export it with `hothouse export logic`, or in the tab Share";
        Err(RunError::refused("the model of this room is a circuit and has its own formats", next))
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        self.answers.answer(&self.population, &self.tests, question)
    }
}
