//! CPU implementation of the offload interface. The results are bit-identical to those of a learner without offloading. Tests compare other
//! devices with this implementation.

use super::accelerator::{Accelerator, Answer, DECISION_WORDS, LANES, OffloadSpec, PackedSample, TrainResult, TrainStateRef};
use super::net::{self, Evaluator, Weights};
use super::replay::{self, Sample};
use super::trainer::Trainer;
use crate::Fault;
use graph::{Adam, Params, Plan};
use std::sync::Arc;

pub struct LocalAccelerator {
    plan: Arc<Plan>,
    evaluator: Evaluator,
    weights: Weights,
    /// Decisions of each lane that wait for their evaluation.
    lanes: [Vec<[u32; DECISION_WORDS]>; LANES],
    trainer: Trainer,
    samples: Vec<Sample>,
}

impl LocalAccelerator {
    pub fn new(spec: &OffloadSpec) -> Result<LocalAccelerator, Fault> {
        let refused = |error: graph::PlanError| Fault::Refused { why: error.to_string() };
        // A plan needs at least two rows, even if no leaves are offloaded.
        let rows = spec.lane_rows.max(2);
        let plan = net::plan_search(spec.shape, rows, spec.isa).map_err(refused)?;
        let trainer = Trainer::new(spec.shape, spec.minibatch, 0, spec.isa).map_err(refused)?;
        Ok(LocalAccelerator {
            evaluator: Evaluator::new(&plan, rows),
            weights: Weights::new(&plan, &Params::new(plan.table(), 0)),
            lanes: Default::default(),
            trainer,
            samples: vec![[0; replay::WORDS]; spec.replay],
            plan,
        })
    }
}

impl Accelerator for LocalAccelerator {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        let mut params = Params::new(self.plan.table(), 0);
        params.values_mut().copy_from_slice(weights);
        self.weights.set(&params);
        Ok(())
    }

    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
        self.lanes[lane] = decisions.to_vec();
        Ok(())
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        let asked = std::mem::take(&mut self.lanes[lane]);
        self.evaluator.clear();
        for words in &asked {
            let unsound = || Fault::Refused { why: "invalid decision".into() };
            self.evaluator.see(&replay::read_decision(words).ok_or_else(unsound)?);
        }
        self.evaluator.run(&self.weights);
        answer.hidden.clear();
        answer.heads.clear();
        for row in 0..asked.len() {
            answer.hidden.extend(self.evaluator.hidden(row));
            answer.heads.extend(self.evaluator.heads(row));
        }
        Ok(true)
    }

    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        let mine = &mut self.trainer.state;
        mine.params.values_mut().copy_from_slice(state.weights);
        mine.optimizer.m.copy_from_slice(state.m);
        mine.optimizer.v.copy_from_slice(state.v);
        mine.optimizer.steps = state.steps;
        self.trainer.pack();
        Ok(())
    }

    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
        for (sample, packed_sample) in self.samples[first..].iter_mut().zip(packed_samples) {
            sample.copy_from_slice(&packed_sample[..replay::WORDS]);
        }
        Ok(())
    }

    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        self.trainer.step(adam, value_coef, &self.samples, drawn);
        Ok(())
    }

    fn request_result(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault> {
        let mine = &self.trainer.state;
        *learned = TrainResult {
            weights: mine.params.values().to_vec(),
            m: mine.optimizer.m.to_vec(),
            v: mine.optimizer.v.to_vec(),
            steps: mine.optimizer.steps,
            sums: std::mem::take(&mut self.trainer.sums),
        };
        Ok(true)
    }
}
