//! The lent work on this very processor, to the bits of the learner at home: what other machines are held to.

use super::away::{Answer, Blueprint, Coach, DECISION_WORDS, LANES, Learned, Lesson, Standing};
use super::net::{self, Evaluator, Weights};
use super::replay::{self, Sample};
use super::student::Student;
use crate::Fault;
use graph::{Adam, Params, Plan};
use std::sync::Arc;

pub struct OnProcessor {
    plan: Arc<Plan>,
    evaluator: Evaluator,
    weights: Weights,
    /// What was asked and not answered yet.
    lanes: [Vec<[u32; DECISION_WORDS]>; LANES],
    student: Student,
    samples: Vec<Sample>,
}

impl OnProcessor {
    pub fn new(blueprint: &Blueprint) -> Result<OnProcessor, Fault> {
        let refused = |error: graph::PlanError| Fault::Refused { why: error.to_string() };
        let rows = blueprint.lane_rows.max(1);
        let plan = net::plan_search(rows, blueprint.isa).map_err(refused)?;
        let student = Student::new(blueprint.minibatch, 0, blueprint.isa).map_err(refused)?;
        Ok(OnProcessor {
            evaluator: Evaluator::new(&plan, rows),
            weights: Weights::new(&plan, &Params::new(plan.table(), 0)),
            lanes: Default::default(),
            student,
            samples: vec![[0; replay::WORDS]; blueprint.replay],
            plan,
        })
    }
}

impl Coach for OnProcessor {
    fn play_with(&mut self, weights: &[f32]) -> Result<(), Fault> {
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
            let unsound = || Fault::Refused { why: "that is no decision".into() };
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

    fn stand(&mut self, standing: &Standing) -> Result<(), Fault> {
        let mine = &mut self.student.standing;
        mine.params.values_mut().copy_from_slice(standing.weights);
        mine.optimizer.m.copy_from_slice(standing.m);
        mine.optimizer.v.copy_from_slice(standing.v);
        mine.optimizer.steps = standing.steps;
        self.student.pack();
        Ok(())
    }

    fn keep(&mut self, first: usize, lessons: &[Lesson]) -> Result<(), Fault> {
        for (sample, lesson) in self.samples[first..].iter_mut().zip(lessons) {
            sample.copy_from_slice(&lesson[..replay::WORDS]);
        }
        Ok(())
    }

    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        self.student.step(adam, value_coef, &self.samples, drawn);
        Ok(())
    }

    fn ask_learned(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn learned(&mut self, learned: &mut Learned) -> Result<bool, Fault> {
        let mine = &self.student.standing;
        *learned = Learned {
            weights: mine.params.values().to_vec(),
            m: mine.optimizer.m.to_vec(),
            v: mine.optimizer.v.to_vec(),
            steps: mine.optimizer.steps,
            sums: std::mem::take(&mut self.student.sums),
        };
        Ok(true)
    }
}
