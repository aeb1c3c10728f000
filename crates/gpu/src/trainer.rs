//! Trains any plan on a GPU, for learners that have no kernels of their own. Nothing is read back between steps. One update is one
//! optimiser step. It uses the gradients of one or more runs of the plan.

use crate::device::{Gpu, InFlight, Submitted};
use crate::optimizer::{Following, Optimizer};
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space};
use graph::{Adam, Plan};
use learn::Fault;
use learn::offload::{PlanTrainer, TrainResult, TrainStateRef};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of pending submits. At this limit, the next submit waits until the oldest is done, if the platform can wait.
const IN_FLIGHT: usize = 64;

pub struct Trainer {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    lowered: Lowered,
    params: Region,
    optimizer: Following,
    /// Dispatches of the optimiser step.
    moved: Range<usize>,
    /// Ranges of the dispatches that save the gradients of a run, before a later run of the same update overwrites them. Range 0 copies the
    /// gradients of the first run to the buffer of sums. Range 1 adds the gradients of a later run to this buffer.
    keep: [Range<usize>; 2],
    /// Dispatches that add the saved sums of the earlier runs to the gradients of the last run.
    join: Range<usize>,
    /// Number of runs since the last update; the next update uses the gradients of all these runs.
    runs: usize,
    outputs: Vec<Arc<str>>,
    /// Readback 0 has outputs, parameters and moments. Readback 1 has outputs only. Both also have the gradient norm and the count of
    /// steps.
    readbacks: [Readback; 2],
    in_flight: InFlight,
    asked: Option<Submitted>,
    what: Asked,
}

/// Readback that a request uses. The variant's number is the index in `Trainer::readbacks`.
#[derive(Clone, Copy)]
enum Asked {
    All,
    Outputs,
}

impl Trainer {
    pub fn new(gpu: &Gpu, plan: &Plan, state: &TrainStateRef) -> Result<Trainer, Fault> {
        gpu.check()?;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let len = plan.table().len();
        let [params, grads, sums] = [0; 3].map(|_| space.floats(len));
        let lowered = Lowered::new(plan, params, grads, &mut space, &mut program)?;
        let optimizer = Optimizer::new(len, &mut space);
        let moved = optimizer.step(params, grads, &mut space, &mut program);
        let keep = [false, true].map(|adds| add(grads, sums, adds, &mut program));
        let join = add(sums, grads, true, &mut program);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        optimizer.write_vectors(plan.table(), &memory);
        let outputs: Vec<Arc<str>> = plan.outputs().iter().map(|port| port.name.clone()).collect();
        let given = outputs.iter().map(|name| lowered.output(name));
        let small: Vec<Region> = [optimizer.norm.part(0, 1)].into_iter().chain(given).collect();
        let all = [&small[..], &[params, optimizer.m, optimizer.v]].concat();
        let readbacks = [all, small].map(|asked| Readback::new(&memory, &asked, &[optimizer.taken]));
        let mut trainer = Trainer {
            gpu: gpu.clone(),
            memory,
            program,
            moved,
            keep,
            join,
            runs: 0,
            lowered,
            params,
            optimizer: Following::new(optimizer),
            outputs,
            readbacks,
            in_flight: InFlight::new(IN_FLIGHT),
            asked: None,
            what: Asked::All,
        };
        trainer.set_state(state)?;
        Ok(trainer)
    }

    /// Returns two ranges of dispatches. The first saves the gradients of the previous run of this update, and is empty for the update's
    /// first run. The second computes the next run.
    fn next_run(&mut self) -> [Range<usize>; 2] {
        self.runs += 1;
        let keep = match self.runs {
            1 => 0..0,
            2 => self.keep[0].clone(),
            _ => self.keep[1].clone(),
        };
        [keep, self.lowered.steps.clone()]
    }

    /// Returns two ranges of dispatches. The first adds the gradients of all runs since the last update, and is empty after a single run.
    /// The second computes the optimiser step.
    fn next_update(&mut self, adam: &Adam) -> Result<[Range<usize>; 2], Fault> {
        if !self.optimizer.has_settings(adam) {
            self.optimizer.follow(adam, &self.memory)?;
        }
        let join = if self.runs > 1 { self.join.clone() } else { 0..0 };
        self.runs = 0;
        Ok([join, self.moved.clone()])
    }

    fn replay(&mut self, lists: &[Range<usize>]) -> Result<(), Fault> {
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, lists);
        self.submit(encoder).map(|_| ())
    }

    fn ask_for(&mut self, what: Asked) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(Fault::Refused { why: "a result was requested while another is pending".into() });
        }
        self.optimizer.begin_count(&self.memory);
        let mut encoder = self.gpu.encoder();
        self.readbacks[what as usize].encode(&mut encoder);
        (self.asked, self.what) = (Some(self.submit(encoder)?), what);
        self.readbacks[what as usize].ask();
        Ok(())
    }

    fn submit(&mut self, encoder: wgpu::CommandEncoder) -> Result<Submitted, Fault> {
        let submitted = self.in_flight.submit(&self.gpu, encoder);
        self.gpu.check()?;
        Ok(submitted)
    }
}

/// Appends a dispatch that copies region `x` to region `to`, or adds `x` to `to` if `adds` is true. Returns the range of the dispatch.
fn add(x: Region, to: Region, adds: bool, program: &mut Program) -> Range<usize> {
    let first = program.len();
    let body = if adds { "mem[args.to + i] += mem[args.x + i];" } else { "mem[args.to + i] = mem[args.x + i];" };
    let fours = x.len.div_ceil(4) as usize;
    program.for_each("sum of gradients", true, &[("x", x.at / 4), ("to", to.at / 4)], fours, body);
    first..program.len()
}

impl PlanTrainer for Trainer {
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(Fault::Refused { why: "training began anew before it had answered".into() });
        }
        self.memory.write_floats(self.params, state.weights);
        self.optimizer.reset([state.m, state.v], state.steps, &self.memory);
        self.runs = 0;
        self.gpu.check()
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        // The GPU executes this write after the submitted steps and before later steps.
        self.memory.write_floats(self.lowered.input(name), values);
        self.gpu.check()
    }

    fn accumulate(&mut self) -> Result<(), Fault> {
        let lists = self.next_run();
        self.replay(&lists)
    }

    fn update(&mut self, adam: &Adam) -> Result<(), Fault> {
        let lists = self.next_update(adam)?;
        self.replay(&lists)
    }

    fn step(&mut self, adam: &Adam) -> Result<(), Fault> {
        let lists = [self.next_run(), self.next_update(adam)?].concat();
        self.replay(&lists)
    }

    fn ask(&mut self) -> Result<(), Fault> {
        self.ask_for(Asked::All)
    }

    fn request_outputs(&mut self) -> Result<(), Fault> {
        self.ask_for(Asked::Outputs)
    }

    fn poll(&mut self, trained: &mut TrainResult) -> Result<bool, Fault> {
        let TrainResult { outputs, weights, m, v, norm, .. } = trained;
        let names = &self.outputs;
        let mut floats = |region: usize, arrived: Arrived| match region.checked_sub(1) {
            None => *norm = arrived.floats().next().unwrap_or_default(),
            Some(output) if output < names.len() => {
                outputs.resize_with(names.len(), || ("".into(), Vec::new()));
                outputs[output].0.clone_from(&names[output]);
                arrived.replace(&mut outputs[output].1);
            }
            Some(state) => arrived.replace([&mut *weights, &mut *m, &mut *v][state - names.len()]),
        };
        let mut taken = 0;
        let readback = &self.readbacks[self.what as usize];
        let here = readback.poll(&mut self.asked, &mut floats, &mut |_, arrived| taken = arrived.words().map(u64::from).sum())?;
        if here {
            trained.steps = self.optimizer.steps(taken);
        }
        Ok(here)
    }
}
