//! Training steps of any plan on a device, without an answer in between: what a learner offloads that has no kernels of its own.

use crate::device::{Gpu, InFlight, Submitted};
use crate::optimizer::Optimizer;
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space};
use graph::{Adam, Plan};
use learn::Fault;
use learn::offload::{PlanTrainer, TrainResult, TrainStateRef};
use std::ops::Range;
use std::sync::Arc;

/// Submits that may be under way; beyond them a step waits, where one can wait.
const IN_FLIGHT: usize = 64;

pub struct Trainer {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    lowered: Lowered,
    params: Region,
    optimizer: Optimizer,
    /// Forward and backward, then Adam.
    step: [Range<usize>; 2],
    outputs: Vec<Arc<str>>,
    readback: Readback,
    /// Adam's steps when it stood here, and what the device was told since.
    steps_before: u64,
    told: Option<Adam>,
    in_flight: InFlight,
    asked: Option<Submitted>,
}

impl Trainer {
    pub fn new(gpu: &Gpu, plan: &Plan, state: &TrainStateRef) -> Result<Trainer, Fault> {
        gpu.check()?;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let len = plan.table().len();
        let (params, grads) = (space.floats(len), space.floats(len));
        let lowered = Lowered::new(plan, params, grads, &mut space, &mut program)?;
        let optimizer = Optimizer::new(len, &mut space);
        let moved = optimizer.step(params, grads, &mut space, &mut program);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let outputs: Vec<Arc<str>> = plan.outputs().iter().map(|port| port.name.clone()).collect();
        let mut asked = vec![params, optimizer.m, optimizer.v, optimizer.norm.part(0, 1)];
        asked.extend(outputs.iter().map(|name| lowered.output(name)));
        let readback = Readback::new(&memory, &asked, &[optimizer.taken]);
        let mut trainer = Trainer {
            gpu: gpu.clone(),
            memory,
            program,
            step: [lowered.steps.clone(), moved],
            lowered,
            params,
            optimizer,
            outputs,
            readback,
            steps_before: 0,
            told: None,
            in_flight: InFlight::new(IN_FLIGHT),
            asked: None,
        };
        trainer.set_state(state)?;
        Ok(trainer)
    }

    /// What all of it takes on the device.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    fn submit(&mut self, encoder: wgpu::CommandEncoder) -> Result<Submitted, Fault> {
        let submitted = self.in_flight.submit(&self.gpu, encoder);
        self.gpu.check()?;
        Ok(submitted)
    }
}

impl PlanTrainer for Trainer {
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(Fault::Refused { why: "training began anew before it had answered".into() });
        }
        self.memory.write_floats(self.params, state.weights);
        self.memory.write_floats(self.optimizer.m, state.m);
        self.memory.write_floats(self.optimizer.v, state.v);
        (self.steps_before, self.told) = (state.steps, None);
        self.gpu.check()
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        // In queue order: behind the steps that were begun, before those that follow.
        self.memory.write_floats(self.lowered.input(name), values);
        self.gpu.check()
    }

    fn step(&mut self, adam: &Adam) -> Result<(), Fault> {
        match self.told {
            Some(told) if told == *adam => {}
            Some(told) if [told.beta1, told.beta2] != [adam.beta1, adam.beta2] => {
                return Err(Fault::Unknown { what: "an Adam whose betas change".into() });
            }
            Some(_) => self.optimizer.write(adam, &self.memory),
            None => self.optimizer.tell(adam, self.steps_before, &self.memory),
        }
        self.told = Some(*adam);
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &self.step);
        self.submit(encoder).map(|_| ())
    }

    fn ask(&mut self) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(Fault::Refused { why: "it was asked again before it had answered".into() });
        }
        if self.told.is_none() {
            // No step has been taken since it stood here, and so counting has not begun.
            self.optimizer.tell(&Adam::default(), self.steps_before, &self.memory);
        }
        let mut encoder = self.gpu.encoder();
        self.readback.encode(&mut encoder);
        self.asked = Some(self.submit(encoder)?);
        self.readback.ask();
        Ok(())
    }

    fn poll(&mut self, trained: &mut TrainResult) -> Result<bool, Fault> {
        let Some(submitted) = &self.asked else { return Ok(false) };
        self.gpu.pause_for(submitted);
        trained.outputs.resize_with(self.outputs.len(), || ("".into(), Vec::new()));
        let TrainResult { outputs, weights, m, v, norm, .. } = trained;
        let mut taken = 0;
        let here = self.readback.take(
            &mut |region, arrived: Arrived| {
                let to = match region {
                    0 => &mut *weights,
                    1 => &mut *m,
                    2 => &mut *v,
                    3 => return *norm = arrived.floats().next().unwrap_or_default(),
                    output => {
                        outputs[output - 4].0.clone_from(&self.outputs[output - 4]);
                        &mut outputs[output - 4].1
                    }
                };
                to.clear();
                to.extend(arrived.floats());
            },
            &mut |_, arrived| taken = arrived.words().map(u64::from).sum(),
        )?;
        if here {
            trained.steps = self.steps_before + taken;
            self.asked = None;
        }
        Ok(here)
    }
}
