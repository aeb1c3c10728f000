//! Optimiser steps on samples that are stored on the GPU. Several steps share a submit. The GPU adds up the metrics of the steps. A request
//! reads back these sums with the weights and the moments, and resets the sums.

use super::inputs::{refused, with_inputs};
use crate::device::{Gpu, InFlight, Submitted};
use crate::optimizer::{Following, Optimizer};
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space, groups};
use crate::shader::include_wgsl;
use graph::Adam;
use learn::Fault;
use learn::backgammon::published::accelerator::{OffloadSpec, PACKED_SAMPLE_WORDS, PackedSample, TrainResult, TrainStateRef};
use learn::backgammon::published::plan_learning;
use std::ops::Range;

/// Maximum number of steps per submit. Each of these steps has its own region for the indices of its samples.
const TOGETHER: usize = 4;
/// Maximum number of pending submits. At this limit, the next submit waits until the oldest submit is done, if the platform can wait.
const IN_FLIGHT: usize = 64;

pub struct Training {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    params: Region,
    packed_samples: Region,
    /// Indices of the drawn samples: one minibatch for each of the `TOGETHER` steps.
    drawn: Region,
    value_coef: Region,
    optimizer: Following,
    /// Sums of policy loss, value loss and gradient norm over the steps since the last request.
    sums: Region,
    minibatch: usize,
    /// Dispatches that gather minibatches: one dispatch for each step of a submit.
    gathers: Range<usize>,
    /// Three ranges of dispatches, which run in this order after a minibatch is gathered: gradient, optimiser step, and sums of metrics.
    step: [Range<usize>; 3],
    readback: Readback,
    /// Value-loss coefficient that was last written to the GPU.
    sent_coef: f32,
    /// Indices of the samples that were drawn for steps that are not submitted yet. These steps share the next submit.
    waiting: Vec<u32>,
    in_flight: InFlight,
    asked: Option<Submitted>,
}

impl Training {
    pub fn new(gpu: &Gpu, spec: &OffloadSpec) -> Result<Training, Fault> {
        let rows = spec.minibatch;
        let plan = plan_learning(spec.shape, rows, spec.isa).map_err(refused)?;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let len = plan.table().len();
        let (params, grads) = (space.floats(len), space.floats(len));
        let sums = space.floats(3);
        let drawn = space.words(TOGETHER * rows);
        let packed_samples = space.words(spec.replay * PACKED_SAMPLE_WORDS);
        let lowered = Lowered::new(&plan, params, grads, &mut space, &mut program)?;
        let optimizer = Optimizer::new(len, &mut space);
        let moved = optimizer.step(params, grads, &mut space, &mut program);

        let [policy_loss, value_loss] = ["policy_loss", "value_loss"].map(|name| lowered.output(name));
        let begin = program.len();
        let kernel = program.kernel("sums of steps", include_wgsl!("add_losses.wgsl"));
        let args = [policy_loss, value_loss, optimizer.norm, sums].map(|region| region.at);
        program.dispatch(&kernel, &args, [1, 1, 1]);
        let summed = begin..program.len();

        let begin = program.len();
        let kernel = program.kernel("minibatch", &with_inputs(include_wgsl!("minibatch.wgsl")));
        let ports = ["inputs", "mask", "share", "outcome"].map(|name| lowered.input(name).at);
        for step in 0..TOGETHER {
            let drawn = drawn.part(step * rows, rows);
            let args = [[packed_samples.at, drawn.at, rows as u32].as_slice(), &ports].concat();
            program.dispatch(&kernel, &args, groups(rows, 1));
        }
        let gathers = begin..program.len();

        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let asked = [params, optimizer.m, optimizer.v, sums];
        let readback = Readback::new(&memory, &asked, &[optimizer.taken]);
        Ok(Training {
            gpu: gpu.clone(),
            memory,
            program,
            params,
            packed_samples,
            drawn,
            value_coef: lowered.input("value_coef"),
            optimizer: Following::new(optimizer),
            sums,
            minibatch: rows,
            gathers,
            step: [lowered.steps.clone(), moved, summed],
            readback,
            sent_coef: 0.0,
            waiting: Vec::with_capacity(TOGETHER * rows),
            in_flight: InFlight::new(IN_FLIGHT),
            asked: None,
        })
    }

    pub fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(refused("the trainer was reset before its last result was read"));
        }
        // The new state would overwrite the results of the waiting steps, so these steps are discarded.
        self.waiting.clear();
        self.memory.write_floats(self.params, state.weights);
        self.optimizer.reset([state.m, state.v], state.steps, &self.memory);
        self.memory.write_floats(self.sums, &[0.0; 3]);
        self.gpu.check()
    }

    pub fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
        // The waiting steps are submitted first, because they must train on the old samples.
        self.send(false)?;
        let region = self.packed_samples.part(first * PACKED_SAMPLE_WORDS, packed_samples.len() * PACKED_SAMPLE_WORDS);
        self.memory.write_words(region, packed_samples.as_flattened());
        self.gpu.check()
    }

    pub fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        assert_eq!(drawn.len(), self.minibatch, "expected the indices of one minibatch");
        if !self.optimizer.has_settings(adam) || self.sent_coef != value_coef {
            self.send(false)?;
            self.optimizer.follow(adam, &self.memory)?;
            self.memory.write_floats(self.value_coef, &[value_coef]);
            self.sent_coef = value_coef;
        }
        self.waiting.extend_from_slice(drawn);
        if self.waiting.len() == TOGETHER * self.minibatch { self.send(false) } else { Ok(()) }
    }

    pub fn request_result(&mut self) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(refused("a result was requested while another is pending"));
        }
        self.optimizer.begin_count(&self.memory);
        self.send(true)?;
        self.readback.ask();
        // The GPU executes this write after the readback's copy and before later steps.
        self.memory.write_floats(self.sums, &[0.0; 3]);
        self.gpu.check()
    }

    pub fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault> {
        let TrainResult { weights, m, v, sums, .. } = learned;
        let mut floats = |region: usize, arrived: Arrived| match region {
            0 => arrived.replace(weights),
            1 => arrived.replace(m),
            2 => arrived.replace(v),
            _ => sums.iter_mut().zip(arrived.floats()).for_each(|(to, x)| *to = f64::from(x)),
        };
        let mut taken = 0;
        let here = self.readback.poll(&mut self.asked, &mut floats, &mut |_, arrived| taken = arrived.words().map(u64::from).sum())?;
        if here {
            learned.steps = self.optimizer.steps(taken);
        }
        Ok(here)
    }

    /// Submits the waiting steps. With `and_ask`, the same submit copies the results for the readback.
    fn send(&mut self, and_ask: bool) -> Result<(), Fault> {
        self.gpu.check()?;
        if self.waiting.is_empty() && !and_ask {
            return Ok(());
        }
        let steps = self.waiting.len() / self.minibatch;
        let first = self.gathers.start;
        let lists: Vec<Range<usize>> =
            (first..first + steps).flat_map(|at| std::iter::once(at..at + 1).chain(self.step.iter().cloned())).collect();
        self.memory.write_words(self.drawn, &self.waiting);
        self.waiting.clear();
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &lists);
        if and_ask {
            self.readback.encode(&mut encoder);
        }
        let submitted = self.in_flight.submit(&self.gpu, encoder);
        if and_ask {
            self.asked = Some(submitted);
        }
        self.gpu.check()
    }
}
