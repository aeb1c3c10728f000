//! Logic as a room: a population that learns, its tests, and beside it what is looked at, none of which leaves a trace in what is
//! learned.

use super::circuits::{Big, Taken};
use super::experiments;
use super::grids::{Begin, Viewed};
use super::protocol::{
    AutomatonView, ExportView, Format, GatesView, MemberState, MemberView, Picture, PopulationView, Question,
};
use super::schema::SCHEMA;
use crate::RunError;
use crate::bench::Bench;
use crate::knobs::Table;
use crate::protocol::{Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, ByName, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::logic::Wirings;
use learn::logic::check::harden;
use learn::logic::circuit::Circuit;
use learn::logic::experiment::{Config, Experiment, Task};
use learn::logic::generalise::{Confirmation, Generalisation, Generalised};
use learn::logic::population::{self, Population};
use math::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Iterations between two tests at first; later a quarter of what has been done.
const TEST_EVERY: u32 = 16;

pub struct Logic {
    table: Table<Config>,
    pub(super) population: Population,
    test: Option<Test>,
    /// The share of cells that a confirmation found right, or a test that found some wrong, of members by their seed and number of
    /// updates. No circuit is tried twice: another draw of grids would only try its luck.
    verdicts: BTreeMap<(u32, u64), f64>,
    /// What is looked at.
    viewed: Option<Viewed>,
    big: Option<Big>,
    clock: Option<fn() -> f64>,
    /// What there is beside the training.
    free_bytes: u64,
}

/// Of a member, named as in [`Logic::verdicts`].
struct Test {
    of: (u32, u64),
    what: Doing,
}

enum Doing {
    Testing(Box<Generalisation>),
    Confirming(Box<Confirmation>),
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
    fn make(setup: Setup, population: Population) -> Result<Logic, RunError> {
        let table = table(setup.variant);
        let free_bytes = setup.host.memory_bytes.saturating_sub(Logic::bytes(setup)?);
        let verdicts = BTreeMap::new();
        Ok(Logic {
            table,
            population,
            test: None,
            verdicts,
            viewed: None,
            big: None,
            clock: None,
            free_bytes,
        })
    }

    /// As in [`Logic::verdicts`].
    fn name(&self, member: usize) -> (u32, u64) {
        let member = &self.population.members()[member];
        (member.seed, member.trainer.updates())
    }

    fn is_untried(&self, member: usize) -> bool {
        self.population.members()[member].perfect && !self.verdicts.contains_key(&self.name(member))
    }

    /// The member that is shown, tested and exported: one that was confirmed before one that is still to be tried, and then the
    /// one that gets the fewest cells wrong with the smallest circuit.
    fn best(&self) -> usize {
        let rank = |&member: &usize| {
            let is_confirmed = self.verdicts.get(&self.name(member)) == Some(&1.0);
            if is_confirmed { 0 } else { 1 + u32::from(!self.is_untried(member)) }
        };
        let members = 0..self.population.members().len();
        let least = members.clone().map(|member| rank(&member)).min();
        self.population.best_of(members.filter(|member| Some(rank(member)) == least))
    }

    fn iteration(&self) -> u32 {
        self.population.progress().iterations as u32
    }

    /// The best member's circuit, and its name.
    fn candidate(&self) -> (Circuit, (u32, u64)) {
        let best = self.best();
        let automaton = self.population.members()[best].trainer.automaton();
        (harden(self.population.experiment(), automaton).pruned(), self.name(best))
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

    fn automaton(&self) -> AutomatonView {
        let experiment = self.population.experiment();
        let shape = &experiment.architecture;
        let counts = |layers: &[usize]| layers.iter().map(|&gates| gates as u32).collect::<Vec<u32>>();
        let perception: Vec<usize> = shape.perception.iter().map(|gates| gates * shape.kernels).collect();
        let first = &self.population.members()[0].trainer.automaton().params;
        AutomatonView {
            channels: shape.channels as u32,
            kernels: shape.kernels as u32,
            perception: counts(&shape.perception),
            update: counts(&shape.update),
            gates: shape.gates() as u32,
            gates_per_cell: shape.gates_per_cell() as u32,
            parameters: first.len() as u32,
            layers: [counts(&perception), counts(&shape.update)].concat(),
            target: match &experiment.task {
                Task::Rule(_) => None,
                Task::Pattern { target, .. } => Some(Picture {
                    width: target.width as u32,
                    height: target.height as u32,
                    values: target.values(target.channels),
                }),
            },
            steps: experiment.rollout.steps as u32,
            shows: experiments::shows(experiment),
        }
    }

    fn members(&self) -> PopulationView {
        let rollout = &self.population.experiment().rollout;
        let is_rule = self.population.config().preset.is_rule();
        let (width, height) = if is_rule { (32, 16) } else { (rollout.width, rollout.height) };
        let member = |member: &population::Member| MemberView {
            seed: member.seed,
            updates: member.trainer.updates() as u32,
            loss: member.loss,
            hard_loss: member.checked.wrong,
            state: if member.perfect { MemberState::Perfect } else { MemberState::Learning },
            picture: Picture {
                width: width as u32,
                height: height as u32,
                values: member.checked.picture.clone(),
            },
        };
        let progress = self.population.progress();
        PopulationView {
            members: self.population.members().iter().map(member).collect(),
            perfect: progress.perfect_runs as u32,
            ended: progress.ended as u32,
            best: self.best() as u32,
        }
    }

    fn gates(&self, member: usize) -> GatesView {
        let automaton = self.population.members()[member].trainer.automaton();
        GatesView { ops: automaton.ops(), certainty: automaton.certainty() }
    }

    fn begin_grid(&mut self, member: usize, begin: Begin) -> Result<(), RunError> {
        let (population, taken) = (&self.population, self.taken(member));
        let automaton = population.members()[member].trainer.automaton();
        let viewed =
            Viewed::new(population.isa(), population.experiment(), member, automaton, &taken, &begin)?;
        self.viewed = Some(viewed);
        Ok(())
    }

    fn export(&self, member: usize, format: Format) -> ExportView {
        let circuit = self.taken(member).pruned;
        let (text, ending) = match format {
            Format::Svg => (circuit.to_svg(), "svg"),
            Format::Json => (circuit.to_json(), "json"),
            Format::Verilog => (circuit.to_verilog(), "v"),
            Format::Rust => (circuit.to_rust(), "rs"),
        };
        ExportView { name: format!("{}.{ending}", circuit.name), text }
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
        Logic::make(setup, population)
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let (config, _) = settings(setup)?;
        let find = |name: &str| saved.find(name);
        let population = Population::restore(config, setup.seed, setup.host.isa, &find);
        let mut room = Logic::make(setup, population.map_err(RunError::damaged)?)?;
        // Older files have no notes.
        let notes: Option<Notes> = serde_json::from_value(saved.notes.clone()).map_err(RunError::damaged)?;
        let notes = notes.unwrap_or_default().verdicts;
        room.verdicts = notes.into_iter().map(|(seed, updates, right)| ((seed, updates), right)).collect();
        Ok(room)
    }

    fn notes(&self) -> serde_json::Value {
        let verdicts =
            self.verdicts.iter().map(|(&(seed, updates), &right)| (seed, updates, right)).collect();
        serde_json::to_value(Notes { verdicts }).expect("plain data with string keys")
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
        let is_untried = self.is_untried(self.best());
        let last = tests.last().map_or(0, |test| test.progress.iteration);
        (is_untried && !solved) || self.iteration() >= last + TEST_EVERY.max(last / 4)
    }

    fn begin_test(&mut self) {
        let (circuit, of) = self.candidate();
        let population = &self.population;
        let seed = Rng::new(population.seed(), PURPOSE_TESTS).block([self.iteration(), 0, 0, 0])[0];
        let test = Generalisation::new(population.isa(), population.experiment(), circuit, seed);
        self.test = Some(Test { of, what: Doing::Testing(Box::new(test)) });
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        let (circuit, of) = self.candidate();
        let (isa, experiment) = (self.population.isa(), self.population.experiment());
        if !experiment.is_random() {
            return false;
        }
        let what = Doing::Confirming(Box::new(Confirmation::new(isa, experiment, circuit, seed)));
        self.test = Some(Test { of, what });
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let Some(Test { of, what }) = &mut self.test else { return Ok(None) };
        let (of, found) = match what {
            Doing::Testing(test) => {
                let Some(mut found) = test.advance() else { return Ok(None) };
                let known = self.verdicts.get(of).copied().unwrap_or(1.0);
                found.perfect = found.perfect.map(|right| right.min(known));
                self.verdicts.extend(found.perfect.filter(|&right| right < 1.0).map(|right| (*of, right)));
                (*of, found)
            }
            Doing::Confirming(test) => {
                let Some(right) = test.advance() else { return Ok(None) };
                self.verdicts.insert(*of, right);
                (*of, Generalised { perfect: Some(right), ..Generalised::default() })
            }
        };
        self.test = None;
        let progress = self.population.progress();
        let success = (progress.ended > 0).then(|| progress.perfect_runs as f64 / progress.ended as f64);
        let members = self.population.members();
        let tested = members.iter().find(|member| (member.seed, member.trainer.updates()) == of);
        // Of members that are gone or have learned on nothing is asked any more.
        let here: Vec<_> = (0..members.len()).map(|member| self.name(member)).collect();
        self.verdicts.retain(|name, _| here.contains(name));
        let gates = tested.map(|member| member.checked.gates as f64);
        Ok(Some(vec![
            ("perfect", found.perfect),
            ("larger", found.larger),
            ("damaged", found.damaged),
            ("healed", found.healed),
            ("long", found.long),
            ("success", success),
            ("gates", gates),
        ]))
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Automaton {} => Box::new(self.automaton()),
            Question::Population {} => Box::new(self.members()),
            Question::Gates { member } => Box::new(self.gates(self.member(member)?)),
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
            Question::Export { member, format } => Box::new(self.export(self.member(member)?, format)),
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

/// What is saved beside the tensors.
#[derive(Default, Serialize, Deserialize)]
struct Notes {
    verdicts: Vec<(u32, u64, f64)>,
}

const PURPOSE_TESTS: u32 = 35;
