//! The optimiser's steps on samples that lie on the device. Some steps share a submit, and what they tell is summed up there
//! until it is asked for, with weights and moments.

use super::inputs::{refused, with_inputs};
use crate::device::{Gpu, InFlight, Submitted};
use crate::optimizer::{Following, Optimizer};
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space, groups};
use graph::Adam;
use learn::Fault;
use learn::backgammon::published::accelerator::{OffloadSpec, PACKED_SAMPLE_WORDS, PackedSample, TrainResult, TrainStateRef};
use learn::backgammon::published::plan_learning;
use std::ops::Range;

/// Steps of one submit at most: each has a place of its own for what was drawn.
const TOGETHER: usize = 4;
/// Submits that may be under way. Beyond them a step waits, where one can wait; where not, there are no more than a round has.
const IN_FLIGHT: usize = 64;

pub struct Training {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    params: Region,
    packed_samples: Region,
    /// Places of TOGETHER steps.
    drawn: Region,
    value_coef: Region,
    optimizer: Following,
    /// Policy loss, value loss, length of the gradient.
    sums: Region,
    minibatch: usize,
    /// What each of the steps of a submit begins with; and what all of them go on with.
    gathers: Range<usize>,
    step: [Range<usize>; 3],
    readback: Readback,
    /// Of the value's loss, as the device was told it with Adam's settings.
    told_coef: f32,
    /// Drawn for steps that wait for others to go with.
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
        let kernel = program.kernel("sums of steps", include_str!("add_losses.wgsl"));
        let args = [policy_loss, value_loss, optimizer.norm, sums].map(|region| region.at);
        program.dispatch(&kernel, &args, [1, 1, 1]);
        let summed = begin..program.len();

        let begin = program.len();
        let kernel = program.kernel("minibatch", &with_inputs(include_str!("minibatch.wgsl")));
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
            told_coef: 0.0,
            waiting: Vec::with_capacity(TOGETHER * rows),
            in_flight: InFlight::new(IN_FLIGHT),
            asked: None,
        })
    }

    pub fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(refused("learning began anew before it had told how far it was"));
        }
        // Steps that have not gone out would be written over at once.
        self.waiting.clear();
        self.memory.write_floats(self.params, state.weights);
        self.optimizer.stand([state.m, state.v], state.steps, &self.memory);
        self.memory.write_floats(self.sums, &[0.0; 3]);
        self.gpu.check()
    }

    pub fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
        // Steps that were asked for before learn from what lay there before.
        self.send(false)?;
        let region = self.packed_samples.part(first * PACKED_SAMPLE_WORDS, packed_samples.len() * PACKED_SAMPLE_WORDS);
        self.memory.write_words(region, packed_samples.as_flattened());
        self.gpu.check()
    }

    pub fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        assert_eq!(drawn.len(), self.minibatch, "places of one minibatch");
        if !self.optimizer.knows(adam) || self.told_coef != value_coef {
            self.send(false)?;
            self.optimizer.follow(adam, &self.memory)?;
            self.memory.write_floats(self.value_coef, &[value_coef]);
            self.told_coef = value_coef;
        }
        self.waiting.extend_from_slice(drawn);
        if self.waiting.len() == TOGETHER * self.minibatch { self.send(false) } else { Ok(()) }
    }

    pub fn request_result(&mut self) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(refused("it was asked again how far it was before it had told"));
        }
        self.optimizer.begin_count(&self.memory);
        self.send(true)?;
        self.readback.ask();
        // In queue order: behind the copy, before whatever steps follow.
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

    /// Hands over the steps that wait, and with them the question what came of all so far.
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
