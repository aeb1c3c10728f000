//! Tests of the best member of a population, and verdicts on the members' circuits.

use crate::room::ByName;
use learn::Learner;
use learn::logic::check::harden;
use learn::logic::circuit::Circuit;
use learn::logic::generalise::{Confirmation, Generalisation, Generalised};
use learn::logic::population::Population;
use math::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const PURPOSE_TESTS: u32 = 35;

/// Identity of a circuit: the seed of the circuit's member, and the number of updates that the member has made.
type Name = (u32, u64);

#[derive(Default)]
pub struct Tests {
    test: Option<Test>,
    /// Verdict on each circuit: the share of correct cells in the circuit's confirmation, or in a test that found errors. The result of a
    /// later test is limited to this share. A circuit with errors therefore cannot pass a later test by luck.
    verdicts: BTreeMap<Name, f64>,
}

struct Test {
    of: Name,
    /// Number of gates of the circuit.
    gates: usize,
    what: Doing,
}

enum Doing {
    Testing(Box<Generalisation>),
    Confirming(Box<Confirmation>),
}

/// Saved form of [`Tests`].
#[derive(Default, Serialize, Deserialize)]
pub struct Notes {
    verdicts: Vec<(u32, u64, f64)>,
}

fn name(population: &Population, member: usize) -> Name {
    let member = &population.members()[member];
    (member.seed, member.trainer.updates())
}

impl Tests {
    pub fn notes(&self) -> Notes {
        let verdicts = self.verdicts.iter().map(|(&(seed, updates), &right)| (seed, updates, right));
        Notes { verdicts: verdicts.collect() }
    }

    pub fn restore(Notes { verdicts }: Notes) -> Tests {
        let verdicts = verdicts.into_iter().map(|(seed, updates, right)| ((seed, updates), right));
        Tests { test: None, verdicts: verdicts.collect() }
    }

    /// Returns true if the best member is perfect and its circuit has no verdict yet.
    pub fn has_untried(&self, population: &Population) -> bool {
        self.is_untried(population, self.best(population))
    }

    fn is_untried(&self, population: &Population, member: usize) -> bool {
        population.members()[member].perfect && !self.verdicts.contains_key(&name(population, member))
    }

    /// Returns the index of the member that is displayed, tested and exported. Confirmed members (verdict 1) come first, then perfect
    /// members without a verdict, then all others. Within a group, the member with the fewest wrong cells is first, then the member with
    /// the smallest circuit.
    pub fn best(&self, population: &Population) -> usize {
        let rank = |&member: &usize| {
            let is_confirmed = self.verdicts.get(&name(population, member)) == Some(&1.0);
            if is_confirmed { 0 } else { 1 + u32::from(!self.is_untried(population, member)) }
        };
        let members = 0..population.members().len();
        let least = members.clone().map(|member| rank(&member)).min();
        population.best_of(members.filter(|member| Some(rank(member)) == least))
    }

    /// Returns the best member's reduced circuit, and the identity of this circuit.
    fn candidate(&self, population: &Population) -> (Circuit, Name) {
        let best = self.best(population);
        let automaton = population.members()[best].trainer.automaton();
        (harden(population.experiment(), automaton).reduced(), name(population, best))
    }

    pub fn begin(&mut self, population: &Population) {
        let (circuit, of) = self.candidate(population);
        let seed = Rng::new(population.seed(), PURPOSE_TESTS).block([population.progress().iterations as u32, 0, 0, 0])[0];
        let gates = circuit.gates.len();
        let test = Generalisation::new(population.isa(), population.experiment(), circuit, seed);
        self.test = Some(Test { of, gates, what: Doing::Testing(Box::new(test)) });
    }

    pub fn begin_confirmation(&mut self, population: &Population, seed: u32) -> bool {
        let (circuit, of) = self.candidate(population);
        let (isa, experiment) = (population.isa(), population.experiment());
        if !experiment.is_random() {
            return false;
        }
        let gates = circuit.gates.len();
        let what = Doing::Confirming(Box::new(Confirmation::new(isa, experiment, circuit, seed)));
        self.test = Some(Test { of, gates, what });
        true
    }

    /// Advances the test in progress. Returns the test's values at its end, otherwise `None`.
    pub fn advance(&mut self, population: &Population) -> Option<ByName<Option<f64>>> {
        let Test { of, gates, what } = self.test.as_mut()?;
        let gates = *gates as f64;
        let found = match what {
            Doing::Testing(test) => {
                let mut found = test.advance()?;
                let known = self.verdicts.get(of).copied().unwrap_or(1.0);
                found.perfect = found.perfect.map(|right| right.min(known));
                self.verdicts.extend(found.perfect.filter(|&right| right < 1.0).map(|right| (*of, right)));
                found
            }
            Doing::Confirming(test) => {
                let right = test.advance()?;
                self.verdicts.insert(*of, right);
                Generalised { perfect: Some(right), ..Generalised::default() }
            }
        };
        self.test = None;
        let progress = population.progress();
        let success = (progress.ended > 0).then(|| progress.perfect_runs as f64 / progress.ended as f64);
        let members = population.members();
        // If no member has a verdict's circuit any more, the verdict is dropped.
        let here: Vec<_> = (0..members.len()).map(|member| name(population, member)).collect();
        self.verdicts.retain(|name, _| here.contains(name));
        Some(vec![
            ("perfect", found.perfect),
            ("larger", found.larger),
            ("damaged", found.damaged),
            ("healed", found.healed),
            ("long", found.long),
            ("success", success),
            ("gates", Some(gates)),
        ])
    }
}
