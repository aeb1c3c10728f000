//! Runs a single plan on a GPU: writes inputs and parameters, submits once, and returns outputs and gradients. Tests and benchmarks of
//! kernels use this executor; a learner embeds plans in a larger program.

use crate::device::Gpu;
use crate::optimizer::Optimizer;
use crate::plan::{DispatchGroup, Lowered};
use crate::program::{Memory, Program, Readback, Region, Space};
use graph::{Adam, Plan};
use learn::Fault;
use std::ops::Range;
use std::sync::Arc;

/// Results of [`Executor::run`].
#[derive(Clone, Debug)]
pub struct Answer {
    pub outputs: Vec<(Arc<str>, Vec<f32>)>,
    /// Gradients in the layout of the parameters.
    pub grads: Vec<f32>,
    pub params: Vec<f32>,
    pub adam_m: Vec<f32>,
    pub adam_v: Vec<f32>,
    /// Gradient norm of the latest optimiser step, before clipping.
    pub norm: f32,
}

impl Answer {
    /// Returns the values of an output, in row-major layout.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn output(&self, name: &str) -> &[f32] {
        let found = self.outputs.iter().find(|output| *output.0 == *name);
        &found.unwrap_or_else(|| panic!("no output {name}")).1
    }
}

pub struct Executor {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    lowered: Lowered,
    params: Region,
    optimizer: Optimizer,
    step: Range<usize>,
    steps: u64,
    names: Vec<Arc<str>>,
    readback: Readback,
}

impl Executor {
    pub fn new(gpu: &Gpu, plan: &Plan) -> Result<Executor, Fault> {
        Executor::with(gpu, plan, true)
    }

    /// Creates an executor. If `fuse` is false, each node has its own kernel.
    pub fn with(gpu: &Gpu, plan: &Plan, fuse: bool) -> Result<Executor, Fault> {
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let len = plan.table().len();
        let (params, grads) = (space.floats(len), space.floats(len));
        let lowered = Lowered::with(plan, [params, grads], &mut space, &mut program, fuse)?;
        let optimizer = Optimizer::new(len, &mut space);
        let step = optimizer.step(params, grads, &mut space, &mut program);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        optimizer.write_vectors(plan.table(), &memory);
        let names: Vec<Arc<str>> = plan.outputs().iter().map(|port| port.name.clone()).collect();
        let mut asked: Vec<Region> = names.iter().map(|name| lowered.output(name)).collect();
        asked.extend([grads, params, optimizer.m, optimizer.v, optimizer.norm.part(0, 1)]);
        let readback = Readback::new(&memory, &asked, &[optimizer.taken]);
        let gpu = gpu.clone();
        Ok(Executor { gpu, memory, program, lowered, params, optimizer, step, steps: 0, names, readback })
    }

    /// Returns the groups of dispatches in one run.
    pub fn parts(&self) -> &[DispatchGroup] {
        &self.lowered.parts
    }

    /// Sets the parameters, in the layout of `graph::Params::values`.
    pub fn set_params(&self, values: &[f32]) {
        self.memory.write_floats(self.params, values);
    }

    /// Sets an input, in row-major layout. The values persist between runs.
    ///
    /// # Panics
    /// If the plan has no such input.
    #[track_caller]
    pub fn set_input(&self, name: &str, values: &[f32]) {
        self.memory.write_floats(self.lowered.input(name), values);
    }

    /// Runs the plan in one submit. With `adam`, also performs an optimiser step on the parameters.
    pub async fn run(&mut self, adam: Option<&Adam>) -> Result<Answer, Fault> {
        let mut encoder = self.gpu.encoder();
        self.program.encode(&mut encoder, self.lowered.steps.clone());
        if let Some(adam) = adam {
            self.optimizer.reset_to(adam, self.steps, &self.memory);
            self.program.encode(&mut encoder, self.step.clone());
        }
        self.readback.encode(&mut encoder);
        self.gpu.submit(encoder);
        self.readback.ask();
        let (mut floats, words) = self.readback.answer().await?;
        if adam.is_some() {
            self.steps += words[0].iter().map(|&n| u64::from(n)).sum::<u64>();
        }
        let rest = floats.split_off(self.names.len());
        let outputs = self.names.iter().cloned().zip(floats).collect();
        let [grads, params, adam_m, adam_v, norm] = rest.try_into().expect("five regions were requested");
        Ok(Answer { outputs, grads, params, adam_m, adam_v, norm: norm[0] })
    }
}
