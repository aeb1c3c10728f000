//! Runs a plan without gradients on a GPU.

use crate::device::{Gpu, Submitted};
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space};
use graph::Plan;
use learn::Fault;
use learn::offload::PlanEvaluator;

pub struct Evaluator {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    lowered: Lowered,
    params: Region,
    outputs: usize,
    readback: Readback,
    asked: Option<Submitted>,
}

impl Evaluator {
    pub fn new(gpu: &Gpu, plan: &Plan, weights: &[f32]) -> Result<Evaluator, Fault> {
        gpu.check()?;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let params = space.floats(plan.table().len());
        // The plan has no gradients, so it never writes to the region for gradients. Any region is therefore suitable, such as the region
        // of the parameters.
        let lowered = Lowered::new(plan, params, params, &mut space, &mut program)?;
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let asked: Vec<Region> = plan.outputs().iter().map(|port| lowered.output(&port.name)).collect();
        let readback = Readback::new(&memory, &asked, &[]);
        let (gpu, outputs) = (gpu.clone(), asked.len());
        let mut evaluator = Evaluator { gpu, memory, program, lowered, params, outputs, readback, asked: None };
        evaluator.set_weights(weights)?;
        Ok(evaluator)
    }
}

impl PlanEvaluator for Evaluator {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.memory.write_floats(self.params, weights);
        self.gpu.check()
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.memory.write_floats(self.lowered.input(name), values);
        self.gpu.check()
    }

    fn run(&mut self) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(Fault::Refused { why: "a run began before the one before had answered".into() });
        }
        let mut encoder = self.gpu.encoder();
        self.program.encode(&mut encoder, self.lowered.steps.clone());
        self.readback.encode(&mut encoder);
        self.asked = Some(self.gpu.submit(encoder));
        self.readback.ask();
        self.gpu.check()
    }

    fn poll(&mut self, outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        let count = self.outputs;
        let mut floats = |region: usize, arrived: Arrived| {
            outputs.resize_with(count, Vec::new);
            arrived.replace(&mut outputs[region]);
        };
        self.readback.poll(&mut self.asked, &mut floats, &mut |_, _| {})
    }
}
