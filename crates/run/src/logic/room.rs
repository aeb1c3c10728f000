//! Logic as a room: a population that learns, its tests, and beside it what is looked at, none of which leaves a trace in what is
//! learned.

use super::circuits::{Big, Taken};
use super::experiments;
use super::grids::{Begin, Viewed};
use super::protocol::Question;
use super::schema::SCHEMA;
use super::testing::{Notes, Tests};
use super::views;
use crate::RunError;
use crate::bench::Bench;
use crate::knobs::Table;
use crate::protocol::{Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, ByName, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::logic::Wirings;
use learn::logic::experiment::{Config, Experiment};
use learn::logic::population::Population;

/// Iterations between two tests at first; later a quarter of what has been done.
const TEST_EVERY: u32 = 16;

pub struct Logic {
    table: Table<Config>,
    pub(super) population: Population,
    tests: Tests,
    /// What is looked at.
    viewed: Option<Viewed>,
    big: Option<Big>,
    clock: Option<fn() -> f64>,
    /// What there is beside the training.
    free_bytes: u64,
}

/// The knobs of an experiment.
fn table(variant: &str) -> Table<Config> {
    Table::new(Config::preset(experiments::preset(variant)))
}

/// The settings, and what they say is to be learned.
fn settings(setup: Setup) -> Result<(Config, Experiment), RunError> {
    let config = table(setup.variant).settings(setup.knobs)?;
    let experiment = config.experiment().map_err(RunError::below)?;
    Ok((config, experiment))
}

impl Logic {
    fn make(setup: Setup, population: Population, tests: Tests) -> Result<Logic, RunError> {
        let table = table(setup.variant);
        let free_bytes = setup.host.memory_bytes.saturating_sub(Logic::bytes(setup)?);
        Ok(Logic { table, population, tests, viewed: None, big: None, clock: None, free_bytes })
    }

    /// For programs that are about this room.
    pub fn population(&self) -> &Population {
        &self.population
    }

    fn member(&self, member: u32) -> Result<usize, RunError> {
        let count = self.population.members().len();
        if (member as usize) < count {
            return Ok(member as usize);
        }
        let what = format!("there is no member {member} in a population of {count}");
        Err(RunError::refused(what, format!("Choose one of 0 to {}", count - 1)))
    }

    fn taken(&self, member: usize) -> Taken {
        Taken::new(self.population.experiment(), &self.population.members()[member])
    }

    fn viewed(&mut self) -> Result<&mut Viewed, RunError> {
        let none = || RunError::refused("no grid has begun", "Begin one");
        self.viewed.as_mut().ok_or_else(none)
    }

    fn begin_grid(&mut self, member: usize, begin: Begin) -> Result<(), RunError> {
        let (population, taken) = (&self.population, self.taken(member));
        let automaton = population.members()[member].trainer.automaton();
        let viewed = Viewed::new(population.isa(), population.experiment(), member, automaton, &taken, &begin)?;
        self.viewed = Some(viewed);
        Ok(())
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
        // Older files have no notes.
        let notes: Option<Notes> = serde_json::from_value(saved.notes.clone()).map_err(RunError::damaged)?;
        let tests = Tests::restore(notes.unwrap_or_default());
        Logic::make(setup, population.map_err(RunError::damaged)?, tests)
    }

    fn notes(&self) -> serde_json::Value {
        serde_json::to_value(self.tests.notes()).expect("plain data with string keys")
    }

    fn learner(&self) -> Option<&Population> {
        Some(&self.population)
    }

    fn learner_mut(&mut self) -> Option<&mut Population> {
        Some(&mut self.population)
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = Some(clock);
    }

    fn values(&self) -> Knobs {
        self.table.values(self.population.config())
    }

    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.table.changed(self.population.config(), name, value).map(|_| ())
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let (config, change) = self.table.changed(self.population.config(), name, value)?;
        self.population.set(config);
        Ok(change)
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

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Automaton {} => Box::new(views::automaton(&self.population)),
            Question::Population {} => Box::new(views::members(&self.population, self.tests.best(&self.population))),
            Question::Gates { member } => Box::new(views::gates(&self.population, self.member(member)?)),
            Question::Grid { width, height, start, seed, member, soft } => {
                let begin = Begin { width, height, start, seed, soft };
                self.begin_grid(self.member(member)?, begin)?;
                Box::new(self.viewed()?.view())
            }
            Question::Advance { steps } => {
                let viewed = self.viewed()?;
                viewed.advance(steps)?;
                Box::new(viewed.view())
            }
            Question::Damage { x, y, radius, how } => {
                let viewed = self.viewed()?;
                viewed.damage([x, y, radius], how)?;
                Box::new(viewed.view())
            }
            Question::Circuit { member } => {
                let member = self.member(member)?;
                let taken = self.taken(member);
                if let Some(viewed) = self.viewed.as_mut().filter(|viewed| viewed.member() == member) {
                    viewed.take_up(&taken);
                }
                Box::new(taken.view())
            }
            Question::Values { x, y } => Box::new(self.viewed()?.values(x, y)?),
            Question::Export { member, format } => Box::new(views::export(&self.taken(self.member(member)?).pruned, format)),
            Question::Big { width, height, seed, member } => {
                let circuit = self.taken(self.member(member)?).pruned;
                let isa = self.population.isa();
                let big = Big::new(isa, &circuit, [width, height], seed, self.free_bytes)?;
                Box::new(self.big.insert(big).view())
            }
            Question::BigAdvance { ms } => {
                let clock = self.clock;
                let none = || RunError::refused("no big grid has begun", "Begin one");
                let big = self.big.as_mut().ok_or_else(none)?;
                big.advance(ms, clock);
                Box::new(big.view())
            }
        })
    }

    fn bench(bench: &mut Bench) {
        super::bench::run(bench);
    }
}
