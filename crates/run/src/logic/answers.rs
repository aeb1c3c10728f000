//! Answers to questions, and the displayed grids. Answers and grids do not affect training.

use super::circuits::{Big, Taken};
use super::grids::{Begin, Viewed};
use super::protocol::{CircuitView, Question};
use super::testing::Tests;
use super::views;
use crate::RunError;
use crate::questions::Answer;
use learn::logic::population::Population;

pub(super) struct Answers {
    viewed: Option<Viewed>,
    big: Option<Big>,
    pub clock: Option<fn() -> f64>,
    /// Number of bytes of the host's memory that training does not need.
    free_bytes: u64,
}

fn known(population: &Population, member: u32) -> Result<usize, RunError> {
    let count = population.members().len();
    if (member as usize) < count {
        return Ok(member as usize);
    }
    let what = format!("there is no member {member} in a population of {count}");
    Err(RunError::refused(what, format!("Choose one of 0 to {}", count - 1)))
}

fn taken(population: &Population, member: usize) -> Taken {
    Taken::new(population.experiment(), &population.members()[member])
}

impl Answers {
    pub fn new(free_bytes: u64) -> Answers {
        Answers { viewed: None, big: None, clock: None, free_bytes }
    }

    pub fn answer(&mut self, population: &Population, tests: &Tests, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Automaton {} => Box::new(views::automaton(population)),
            Question::Population {} => Box::new(views::members(population, tests.best(population))),
            Question::Gates { member } => Box::new(views::gates(population, known(population, member)?)),
            Question::Grid { width, height, start, seed, member, soft } => {
                let begin = Begin { width, height, start, seed, soft };
                let viewed = begin_grid(population, known(population, member)?, &begin)?;
                Box::new(self.viewed.insert(viewed).view())
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
            Question::Circuit { member } => Box::new(self.circuit(population, known(population, member)?)),
            Question::Values { x, y } => Box::new(self.viewed()?.values(x, y)?),
            Question::Export { member, format } => Box::new(views::export(&taken(population, known(population, member)?).reduced, format)),
            Question::Big { width, height, seed, member } => {
                let circuit = taken(population, known(population, member)?).reduced;
                let big = Big::new(population.isa(), &circuit, [width, height], seed, self.free_bytes)?;
                Box::new(self.big.insert(big).view())
            }
            Question::BigAdvance { ms } => {
                let none = || RunError::refused("no big grid has begun", "Begin one");
                let big = self.big.as_mut().ok_or_else(none)?;
                big.advance(ms, self.clock);
                Box::new(big.view())
            }
        })
    }

    fn viewed(&mut self) -> Result<&mut Viewed, RunError> {
        let none = || RunError::refused("no grid has begun", "Begin one");
        self.viewed.as_mut().ok_or_else(none)
    }

    fn circuit(&mut self, population: &Population, member: usize) -> CircuitView {
        let taken = taken(population, member);
        if let Some(viewed) = self.viewed.as_mut().filter(|viewed| viewed.member() == member) {
            viewed.take_up(&taken);
        }
        taken.view()
    }
}

fn begin_grid(population: &Population, member: usize, begin: &Begin) -> Result<Viewed, RunError> {
    let taken = taken(population, member);
    let automaton = population.members()[member].trainer.automaton();
    Viewed::new(population.isa(), population.experiment(), member, automaton, &taken, begin)
}
