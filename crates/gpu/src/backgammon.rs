//! Backgammon's published learner on a device: leaves of many games' searches in one batch, and the steps of its optimiser. A
//! decision goes up as nine words and its 344 inputs are made there; chances and the policy's last hidden layer come back, as
//! search wants them. Lessons go up once and stay; of a step go up the places that were drawn, and weights come back when they
//! are asked for.
//!
//! For so small a network a few hundred leaves are not worth a way to the device and back; from how many on it is, only a
//! measurement on the machine says ([`worth_from`], and `hothouse bench gpu`, which shows both rates). It refuses to know trees
//! and games, and what is drawn.

mod learning;
mod leaves;

use crate::device::Gpu;
use graph::Adam;
use learn::Fault;
use learn::backgammon::published::away::{
    Answer, Blueprint, Coach, DECISION_WORDS, LESSON_WORDS, Learned, Lesson, Standing,
};
use learn::backgammon::published::{ACTIONS, HEADS, INPUTS};
use learn::offload::serve;
use learning::Learning;
use leaves::Leaves;
use std::any::Any;

/// The published learner's leaves and steps.
pub fn special(gpu: &Gpu, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
    serve(request, |of: &Blueprint| Ok(Box::new(CoachOnGpu::new(gpu, of)?) as Box<dyn Coach>))
}

/// What was lent of one learner's work.
pub struct CoachOnGpu {
    leaves: Option<Leaves>,
    learning: Option<Learning>,
}

impl CoachOnGpu {
    /// Builds what the work needs and nothing else.
    pub fn new(gpu: &Gpu, blueprint: &Blueprint) -> Result<CoachOnGpu, Fault> {
        gpu.check()?;
        let work = blueprint.work;
        let leaves = work.leaves.then(|| Leaves::new(gpu, blueprint)).transpose()?;
        let learning = work.learning.then(|| Learning::new(gpu, blueprint)).transpose()?;
        gpu.check()?;
        Ok(CoachOnGpu { leaves, learning })
    }

    fn leaves(&mut self) -> Result<&mut Leaves, Fault> {
        self.leaves.as_mut().ok_or_else(|| refused("leaves were asked for that were not lent"))
    }

    fn learning(&mut self) -> Result<&mut Learning, Fault> {
        self.learning.as_mut().ok_or_else(|| refused("learning was asked for that was not lent"))
    }
}

impl Coach for CoachOnGpu {
    fn play_with(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.leaves()?.play_with(weights)
    }

    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
        self.leaves()?.ask(lane, decisions)
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        self.leaves()?.answer(lane, answer)
    }

    fn stand(&mut self, standing: &Standing) -> Result<(), Fault> {
        self.learning()?.stand(standing)
    }

    fn keep(&mut self, first: usize, lessons: &[Lesson]) -> Result<(), Fault> {
        self.learning()?.keep(first, lessons)
    }

    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        self.learning()?.step(adam, value_coef, drawn)
    }

    fn ask_learned(&mut self) -> Result<(), Fault> {
        self.learning()?.ask_learned()
    }

    fn learned(&mut self, learned: &mut Learned) -> Result<bool, Fault> {
        self.learning()?.learned(learned)
    }
}

/// The text of a kernel that makes inputs of decisions, after what it has to know.
fn with_inputs(text: &str) -> String {
    let mut whole = String::new();
    for (name, value) in [
        ("INPUTS", INPUTS),
        ("ACTIONS", ACTIONS),
        ("HEADS", HEADS),
        ("DECISION_WORDS", DECISION_WORDS),
        ("LESSON_WORDS", LESSON_WORDS),
        ("SAMPLE_WORDS", LESSON_WORDS - ACTIONS.div_ceil(32)),
    ] {
        whole += &format!("const {name} = {value}u;\n");
    }
    whole + include_str!("backgammon/inputs.wgsl") + text
}

fn refused(why: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: why.to_string() }
}

/// From which of these batches on the device is faster, of (states, processor's states/s, device's states/s) in rising order:
/// it has to stay so, and whoever has fewer goes to the processor.
pub fn worth_from(rates: &[(usize, f64, f64)]) -> Option<usize> {
    let lost = rates.iter().rposition(|(_, processor, device)| device <= processor);
    rates.get(lost.map_or(0, |at| at + 1)).map(|rate| rate.0)
}
