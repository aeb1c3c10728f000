//! The optimiser's steps on lessons that lie on the device. Some steps share a submit, and what they tell is summed up there
//! until it is asked for, with weights and moments.

use super::{refused, with_inputs};
use crate::device::{Gpu, Submitted};
use crate::optimizer::Optimizer;
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space, groups};
use graph::Adam;
use learn::Fault;
use learn::backgammon::published::away::{Blueprint, LESSON_WORDS, Learned, Lesson, Standing};
use learn::backgammon::published::plan_learning;
use std::collections::VecDeque;
use std::ops::Range;

/// Steps of one submit at most: each has a place of its own for what was drawn.
const TOGETHER: usize = 4;
/// Submits that may be under way. Beyond them a step waits, where one can wait; where not, there are no more than a round has.
const IN_FLIGHT: usize = 64;

pub struct Learning {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    params: Region,
    lessons: Region,
    /// Places of TOGETHER steps.
    drawn: Region,
    value_coef: Region,
    optimizer: Optimizer,
    /// Policy loss, value loss, length of the gradient.
    sums: Region,
    minibatch: usize,
    /// What each of the steps of a submit begins with; and what all of them go on with.
    gathers: Range<usize>,
    step: [Range<usize>; 3],
    readback: Readback,
    /// Adam's steps when it stood here.
    stood: u64,
    /// What the device was told since.
    told: Option<(Adam, f32)>,
    /// Drawn for steps that wait for others to go with.
    waiting: Vec<u32>,
    under_way: VecDeque<Submitted>,
    asked: Option<Submitted>,
}

impl Learning {
    pub fn new(gpu: &Gpu, blueprint: &Blueprint) -> Result<Learning, Fault> {
        let rows = blueprint.minibatch;
        let plan = plan_learning(rows, blueprint.isa).map_err(refused)?;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let len = plan.table().len();
        let (params, grads) = (space.floats(len), space.floats(len));
        let sums = space.floats(3);
        let drawn = space.words(TOGETHER * rows);
        let lessons = space.words(blueprint.replay * LESSON_WORDS);
        let lowered = Lowered::new(&plan, params, grads, &mut space, &mut program)?;
        let optimizer = Optimizer::new(len, &mut space);
        let moved = optimizer.step(params, grads, &mut space, &mut program);

        let [policy_loss, value_loss] = ["policy_loss", "value_loss"].map(|name| lowered.output(name));
        let begin = program.len();
        let kernel = program.kernel("sums of steps", include_str!("sums.wgsl"));
        let args = [policy_loss, value_loss, optimizer.norm, sums].map(|region| region.at);
        program.dispatch(&kernel, &args, [1, 1, 1]);
        let summed = begin..program.len();

        let begin = program.len();
        let kernel = program.kernel("lessons", &with_inputs(include_str!("lessons.wgsl")));
        let ports = ["inputs", "mask", "share", "outcome"].map(|name| lowered.input(name).at);
        for step in 0..TOGETHER {
            let drawn = drawn.part(step * rows, rows);
            let args = [[lessons.at, drawn.at, rows as u32].as_slice(), &ports].concat();
            program.dispatch(&kernel, &args, groups(rows, 1));
        }
        let gathers = begin..program.len();

        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let asked = [params, optimizer.m, optimizer.v, sums];
        let readback = Readback::new(&memory, &asked, &[optimizer.taken]);
        Ok(Learning {
            gpu: gpu.clone(),
            memory,
            program,
            params,
            lessons,
            drawn,
            value_coef: lowered.input("value_coef"),
            optimizer,
            sums,
            minibatch: rows,
            gathers,
            step: [lowered.steps.clone(), moved, summed],
            readback,
            stood: 0,
            told: None,
            waiting: Vec::with_capacity(TOGETHER * rows),
            under_way: VecDeque::with_capacity(IN_FLIGHT + 1),
            asked: None,
        })
    }

    pub fn stand(&mut self, standing: &Standing) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(refused("learning began anew before it had told how far it was"));
        }
        // Steps that have not gone out would be written over at once.
        self.waiting.clear();
        self.memory.write_floats(self.params, standing.weights);
        self.memory.write_floats(self.optimizer.m, standing.m);
        self.memory.write_floats(self.optimizer.v, standing.v);
        self.memory.write_floats(self.sums, &[0.0; 3]);
        (self.stood, self.told) = (standing.steps, None);
        self.gpu.check()
    }

    pub fn keep(&mut self, first: usize, lessons: &[Lesson]) -> Result<(), Fault> {
        // Steps that were asked for before learn from what lay there before.
        self.send(false)?;
        let region = self.lessons.part(first * LESSON_WORDS, lessons.len() * LESSON_WORDS);
        self.memory.write_words(region, lessons.as_flattened());
        self.gpu.check()
    }

    pub fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        assert_eq!(drawn.len(), self.minibatch, "places of one minibatch");
        if self.told != Some((*adam, value_coef)) {
            self.send(false)?;
            match &self.told {
                None => self.optimizer.tell(adam, self.stood, &self.memory),
                Some((before, _)) if [before.beta1, before.beta2] != [adam.beta1, adam.beta2] => {
                    return Err(Fault::Unknown { what: "an Adam whose betas change".into() });
                }
                Some(_) => self.optimizer.turn(adam, &self.memory),
            }
            self.memory.write_floats(self.value_coef, &[value_coef]);
            self.told = Some((*adam, value_coef));
        }
        self.waiting.extend_from_slice(drawn);
        if self.waiting.len() == TOGETHER * self.minibatch { self.send(false) } else { Ok(()) }
    }

    pub fn ask_learned(&mut self) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(refused("it was asked again how far it was before it had told"));
        }
        if self.told.is_none() {
            // Nobody has stepped since it stood here, and so counting has not begun.
            self.optimizer.tell(&Adam::default(), self.stood, &self.memory);
        }
        self.send(true)?;
        self.readback.ask();
        // In queue order: behind the copy, before whatever steps follow.
        self.memory.write_floats(self.sums, &[0.0; 3]);
        self.gpu.check()
    }

    pub fn learned(&mut self, learned: &mut Learned) -> Result<bool, Fault> {
        let Some(submitted) = &self.asked else { return Ok(false) };
        self.gpu.pause_for(submitted);
        let Learned { weights, m, v, sums, .. } = learned;
        let mut taken = 0;
        let here = self.readback.take(
            &mut |region, arrived: Arrived| {
                let to = match region {
                    0 => &mut *weights,
                    1 => &mut *m,
                    2 => &mut *v,
                    _ => {
                        sums.iter_mut().zip(arrived.floats()).for_each(|(to, x)| *to = f64::from(x));
                        return;
                    }
                };
                to.clear();
                to.extend(arrived.floats());
            },
            &mut |_, arrived| taken = arrived.words().map(u64::from).sum(),
        )?;
        if here {
            learned.steps = self.stood + taken;
            self.asked = None;
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
        let lists: Vec<Range<usize>> = (first..first + steps)
            .flat_map(|at| std::iter::once(at..at + 1).chain(self.step.iter().cloned()))
            .collect();
        self.memory.write_words(self.drawn, &self.waiting);
        self.waiting.clear();
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &lists);
        if and_ask {
            self.readback.encode(&mut encoder);
        }
        let submitted = self.gpu.submit(encoder);
        if and_ask {
            self.asked = Some(submitted.clone());
        }
        self.under_way.push_back(submitted);
        if self.under_way.len() > IN_FLIGHT
            && let Some(oldest) = self.under_way.pop_front()
        {
            self.gpu.wait_for(&oldest);
        }
        self.gpu.check()
    }
}
