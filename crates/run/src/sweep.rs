//! A small sweep: runs of one config with several values of a knob and several seeds. All runs train at the same time, slice by slice. The
//! runs share nothing, so each run is identical to the same run outside of a sweep. Instead of the values of a knob, a sweep can compare
//! the room's variants. Each variant has its own defaults.

use crate::error::RunError;
use crate::protocol::{Command, Config, Event, Progress, SweepCell, SweepSpec, Value};
use crate::{AnyRun, Host};
use math::par;

/// Value of [`SweepSpec::knob`] for a sweep that compares variants instead of the values of a knob.
pub const VARIANT: &str = "variant";

/// Maximum number of learners in a sweep. All learners are in memory at the same time.
const MAX_LEARNERS: usize = 64;

pub struct Sweep {
    learners: Vec<Learner>,
    /// Index of the next learner to advance.
    next: usize,
    budget: f64,
}

struct Learner {
    run: Box<dyn AnyRun>,
    /// Index of the test column that the sweep compares.
    column: usize,
    cell: SweepCell,
}

impl Sweep {
    /// Begins all runs of the sweep, ordered by value, then by seed.
    pub fn new(spec: SweepSpec, host: Host) -> Result<Self, RunError> {
        let count = spec.values.len().saturating_mul(spec.seeds as usize);
        if !(1..=MAX_LEARNERS).contains(&count) {
            return Err(RunError::SweepSize { count, most: MAX_LEARNERS });
        }
        let room = crate::room(&spec.config.room)?;
        let goal = room.variant(&spec.config, host)?.goal;
        let column = goal.and_then(|goal| room.schema().test(goal.column)).unwrap_or(0);
        // Live changes are removed, because the varied knob must not change during a run.
        let mut base = Config { changes: Vec::new(), ..spec.config.clone() };
        if spec.knob == VARIANT {
            // The sweep keeps only the values of knobs that all compared variants have.
            for value in &spec.values {
                let knobs = room.knobs(&value.to_string());
                base.knobs.retain(|name, _| knobs.iter().any(|knob| knob.name == name));
            }
        }
        let mut learners = Vec::with_capacity(count);
        for (value, seed) in spec.values.iter().flat_map(|value| (0..spec.seeds).map(move |s| (value, s))) {
            let mut config = with(&base, &spec.knob, value);
            config.seed = config.seed.wrapping_add(seed);
            // All learners are in memory at the same time, so the limit of each run is an equal share of the memory.
            let share = Host { memory_bytes: host.memory_bytes / count as u64, ..host };
            let cell = SweepCell {
                value: value.clone(),
                seed: config.seed,
                progress: Progress::default(),
                curve: Vec::new(),
                solved_at: None,
                done: false,
                diverged: false,
            };
            let mut run = crate::begin(config, share)?;
            run.command(Command::Start)?;
            learners.push(Learner { run, column, cell });
        }
        Ok(Self { learners, next: 0, budget: spec.budget })
    }

    /// Runs one slice of the next learners, one for each thread. A shell can react to input between two calls. Returns false when all
    /// learners are done. `now_s` is the time of the shell's clock in seconds.
    pub fn advance(&mut self, now_s: f64) -> bool {
        let (budget, first) = (self.budget, self.next);
        let end = self.learners.len().min(first + par::threads());
        par::each_mut(&mut self.learners[first..end], |_, learner| learner.advance(now_s, budget));
        self.next = if end < self.learners.len() { end } else { 0 };
        self.learners.iter().any(|learner| !learner.cell.done)
    }

    pub fn cells(&self) -> Vec<SweepCell> {
        self.learners.iter().map(|learner| learner.cell.clone()).collect()
    }
}

/// Returns `config` with the value `value` for the knob `knob`. If `knob` is `VARIANT`, returns `config` with the variant `value`.
pub fn with(config: &Config, knob: &str, value: &Value) -> Config {
    let mut config = config.clone();
    if knob == VARIANT {
        config.variant = value.to_string();
    } else {
        config.knobs.insert(knob.into(), value.clone());
    }
    config
}

impl Learner {
    fn advance(&mut self, now_s: f64, budget: f64) {
        if self.cell.done {
            return;
        }
        self.run.advance(now_s);
        for event in self.run.events() {
            match event {
                Event::Test(row) => {
                    let value = row.values.get(self.column).copied().flatten();
                    self.cell.curve.extend(value.map(|value| [row.progress.counts[0], value]));
                }
                Event::Solved { progress, .. } => self.cell.solved_at = Some(progress.counts[0]),
                _ => {}
            }
        }
        self.cell.progress = self.run.progress();
        self.cell.diverged = self.run.failure().is_some();
        self.cell.done = self.cell.diverged || self.cell.progress.counts[0] >= budget && self.run.at_boundary();
    }
}
