//! A small sweep: the same run under several values of a knob and several seeds, all learning side by side,
//! a slice of each at a time. They share nothing, so each is the run that it would be alone.

use crate::error::RunError;
use crate::protocol::{Command, Event, SweepCell, SweepSpec};
use crate::{Experiment, validate};
use math::{Isa, par};

/// Learners at most: a page has to hold them all.
const MAX_LEARNERS: usize = 64;

pub struct Sweep {
    learners: Vec<Learner>,
    steps: u64,
}

struct Learner {
    experiment: Experiment,
    cell: SweepCell,
}

impl Sweep {
    /// The learners value by value, and seed by seed within a value.
    pub fn new(spec: SweepSpec, isa: Isa) -> Result<Self, RunError> {
        let count = spec.values.len().saturating_mul(spec.seeds as usize);
        if !(1..=MAX_LEARNERS).contains(&count) {
            return Err(RunError::SweepSize { count, most: MAX_LEARNERS });
        }
        let mut learners = Vec::with_capacity(count);
        for (&value, seed) in spec.values.iter().flat_map(|value| (0..spec.seeds).map(move |s| (value, s))) {
            let mut config = spec.config.clone();
            config.knobs.insert(spec.knob.clone(), value);
            config.seed = config.seed.wrapping_add(seed);
            validate(&config)?;
            let cell = SweepCell { value, seed: config.seed, ..SweepCell::default() };
            let mut experiment = Experiment::new(config, isa)?;
            experiment.command(Command::Start)?;
            learners.push(Learner { experiment, cell });
        }
        Ok(Self { learners, steps: spec.steps })
    }

    /// A slice of every learner that is not done, so that a shell can answer a hand between two; false once
    /// all are. `now_s` is the shell's clock.
    pub fn advance(&mut self, now_s: f64) -> bool {
        let steps = self.steps;
        par::each_mut(&mut self.learners, |_, learner| learner.advance(now_s, steps));
        self.learners.iter().any(|learner| !learner.cell.done)
    }

    /// Every learner as it stands.
    pub fn cells(&self) -> Vec<SweepCell> {
        self.learners.iter().map(|learner| learner.cell.clone()).collect()
    }
}

impl Learner {
    fn advance(&mut self, now_s: f64, steps: u64) {
        if self.cell.done {
            return;
        }
        self.experiment.advance(now_s);
        for event in self.experiment.events() {
            match event {
                Event::Evaluation(e) => self.cell.curve.push([e.progress.env_steps as f64, e.mean_return]),
                Event::Solved { progress, .. } => self.cell.solved_at = Some(progress.env_steps),
                _ => {}
            }
        }
        self.cell.progress = self.experiment.progress();
        self.cell.diverged = !self.experiment.running();
        self.cell.done =
            self.cell.diverged || self.cell.progress.env_steps >= steps && self.experiment.at_boundary();
    }
}
