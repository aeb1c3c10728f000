//! Offloaded steps. If the text has at most `MOST_KEPT` tokens, the machine keeps the text. For each run, the machine then receives only
//! the index of each sequence's first token. If the text is longer, the machine receives the tokens of the sequences instead. A run
//! processes the whole batch, or `micro` sequences if the machine's memory is too small.

use super::super::model::plan_training;
use super::offloaded::Offloaded;
use super::{MOST_RUNS, Pretrainer, Stats, copy_windows, window_starts, window_tokens};
use crate::offload::{OffloadSlots, PlanSteps, Planned};
use crate::{Fault, Machine};
use std::sync::Arc;

/// Maximum length, in tokens, of a text that a machine keeps. The machine receives positions in the text as f32 numbers, which must be
/// exact.
const MOST_KEPT: usize = (1 << 24) - 1;

impl Pretrainer {
    fn ready_for(&mut self, machine: &dyn Machine, micro: usize) -> Result<Offloaded, Fault> {
        let config = super::Config { micro, ..self.config };
        let text = self.corpus.train();
        let keeps_text = text.len() <= MOST_KEPT;
        let tokens = if keeps_text { text.len() } else { window_tokens(&config) };
        let plan = plan_training(&config, tokens, self.seed, self.isa).map_err(|error| Fault::Refused { why: error.to_string() })?;
        let mut machine = PlanSteps::new(machine, &Arc::new(plan), &self.params, &self.optimizer)?;
        let sent = if keeps_text {
            let tokens: Vec<f32> = self.corpus.tokens(text).map(|token| token as f32).collect();
            machine.set_input("corpus", &tokens)?;
            vec![0.0; micro]
        } else {
            machine.set_input("starts", &window_starts(&config))?;
            vec![0.0; tokens]
        };
        Ok(Offloaded { machine, micro, keeps_text, sent })
    }
}

impl Planned for Pretrainer {
    type There = Offloaded;

    fn slots(&self) -> &OffloadSlots<Offloaded> {
        &self.away
    }

    fn slots_mut(&mut self) -> &mut OffloadSlots<Offloaded> {
        &mut self.away
    }

    fn ready(&mut self, machine: &dyn Machine) -> Result<Offloaded, Fault> {
        self.betas_changed = false;
        let super::Config { batch, micro, .. } = self.config;
        match self.ready_for(machine, batch) {
            Err(Fault::TooSmall { .. }) if micro < batch => self.ready_for(machine, micro),
            ready => ready,
        }
    }

    fn steps(&self) -> usize {
        self.config.steps
    }

    fn begin_step(&mut self, there: &mut Offloaded) -> Result<(), Fault> {
        let Offloaded { machine, micro, keeps_text, sent } = there;
        // In training, `progress.steps` already includes the steps that this iteration has started; `self.step` is their number. In a
        // probe, `progress.steps` includes no step of the probe.
        let step = self.progress.steps - self.step as u64 + machine.begun() as u64;
        let runs = self.config.batch / *micro;
        for run in 0..runs {
            let starts = self.batches.starts(step).skip(run * *micro);
            if *keeps_text {
                sent.iter_mut().zip(starts).for_each(|(to, start)| *to = start as f32);
                machine.set_input("starts", sent)?;
            } else {
                copy_windows(&self.corpus, starts, sent);
                machine.set_input("corpus", sent)?;
            }
            if self.config.dropout > 0.0 {
                let number = step * runs as u64 + run as u64;
                machine.set_input("step", &[(number % MOST_RUNS) as f32])?;
            }
            if run + 1 < runs {
                machine.accumulate()?;
            }
        }
        let adam = self.config.adam(self.optimizer.steps + machine.begun() as u64);
        machine.step(&adam, self.config.steps)
    }

    fn count_step(&mut self, lr: f32) {
        self.sums.lr += f64::from(lr);
        self.step += 1;
        self.progress.steps += 1;
        self.progress.tokens += self.config.step_tokens() as u64;
    }

    fn discard_started_steps(&mut self) {
        self.progress.steps -= self.step as u64;
        self.progress.tokens -= (self.step * self.config.step_tokens()) as u64;
        (self.step, self.sums) = (0, Stats::default());
    }

    fn apply_result(&mut self, there: &mut Offloaded) {
        let trained = there.machine.trained();
        trained.put(&mut self.params, &mut self.optimizer);
        self.packed.pack(&self.params);
        // The result contains only the loss of the latest run, which serves as an estimate for all runs.
        let (steps, runs) = (self.step as f64, (self.config.batch / there.micro) as f64);
        self.sums.loss = steps * runs * f64::from(trained.outputs[0].1[0]);
        self.sums.grad_norm = steps * f64::from(trained.norm);
    }

    fn end_iteration(&mut self) -> Stats {
        self.finish()
    }

    fn now_s(&self) -> f64 {
        (self.clock)()
    }

    fn add_spent(&mut self, seconds: f64) {
        self.sums.parts_s[0] += seconds;
    }

    /// Returns the number of tokens in an iteration.
    fn iteration_work(&self) -> f64 {
        (self.config.steps * self.config.step_tokens()) as f64
    }

    fn is_outdated(&self) -> bool {
        self.betas_changed
    }
}
