//! Backgammon's published network on a device: leaves of many games' searches in one batch, and the learner's steps. A decision
//! goes up as nine words and its 344 inputs are made there; chances and the policy's last hidden layer come back, as search
//! wants them.
//!
//! For so small a network a few hundred leaves are not worth a way to the device and back; from how many on it is, only a
//! measurement on the machine says ([`worth_from`], and `hothouse bench gpu`, which shows both rates). It refuses to know trees,
//! games and what a legal action is.

use crate::device::Gpu;
use crate::optimizer::Optimizer;
use crate::plan::Lowered;
use crate::program::{Memory, Program, Readback, Region, Space, groups};
use graph::{Adam, Plan};
use learn::Fault;
use learn::backgammon::published::{Decision, INPUTS};
use std::ops::Range;

const TEXT: &str = include_str!("backgammon/inputs.wgsl");

/// Words of a decision: four a side, and the roll.
pub const DECISION_WORDS: usize = 9;

/// A decision as the device reads it.
pub fn decision_words(decision: &Decision) -> [u32; DECISION_WORDS] {
    let mut words = [0; DECISION_WORDS];
    let sides = [decision.board.mine(), decision.board.theirs()];
    for (words, side) in words.chunks_exact_mut(4).zip(sides) {
        for (place, count) in side.counts().into_iter().enumerate() {
            words[place / 8] |= u32::from(count) << (4 * (place % 8));
        }
    }
    words[8] = u32::from(decision.roll) | u32::from(decision.second) << 8;
    words
}

/// Appends the kernel that makes a plan's inputs of so many decisions, to be replayed before the plan.
fn inputs(program: &mut Program, decisions: Region, inputs: Region, rows: usize) -> Range<usize> {
    let begin = program.len();
    let kernel = program.kernel("inputs of backgammon", TEXT);
    let args = [decisions.at, inputs.at, rows as u32];
    program.dispatch(&kernel, &args, groups(rows * INPUTS, 256));
    begin..program.len()
}

/// A batch of leaves.
pub struct Leaves {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    params: Region,
    decisions: Region,
    lists: [Range<usize>; 2],
    readback: Readback,
}

impl Leaves {
    /// For a plan in rows whose input is `inputs` and whose outputs are `policy` and `value`, as many decisions as it has rows.
    pub fn new(gpu: &Gpu, plan: &Plan, rows: usize) -> Result<Leaves, Fault> {
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let params = space.floats(plan.table().len());
        let none = space.floats(0);
        let decisions = space.words(rows * DECISION_WORDS);
        let lowered = Lowered::new(plan, params, none, &mut space, &mut program)?;
        let inputs = inputs(&mut program, decisions, lowered.input("inputs"), rows);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let asked = [lowered.output("policy"), lowered.output("value")];
        let readback = Readback::new(&memory, &asked, &[]);
        let lists = [inputs, lowered.steps.clone()];
        Ok(Leaves { gpu: gpu.clone(), memory, program, params, decisions, lists, readback })
    }

    /// Laid out as `graph::Params::values`.
    pub fn set_params(&self, values: &[f32]) {
        self.memory.write_floats(self.params, values);
    }

    /// The policy's hidden layer and the five chances of each, row by row; rows beyond the last decision hold what is left from
    /// before.
    pub async fn evaluate(&self, decisions: &[[u32; DECISION_WORDS]]) -> Result<[Vec<f32>; 2], Fault> {
        self.memory.write_words(self.decisions, decisions.as_flattened());
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &self.lists);
        self.readback.encode(&mut encoder);
        self.gpu.submit(encoder);
        self.readback.ask();
        let (floats, _) = self.readback.answer().await?;
        floats.try_into().map_err(|_| Fault::Lost { why: "it did not answer".into() })
    }
}

/// What one step learns from, row by row.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub decisions: Vec<[u32; DECISION_WORDS]>,
    /// 0 where an action is legal, else far below any logit; and what share of a search's visits it had.
    pub mask: Vec<f32>,
    pub share: Vec<f32>,
    /// Of the five chances.
    pub outcome: Vec<f32>,
}

/// The learner's steps: gradients of a minibatch and Adam, one submit each, and nothing comes back until it is asked for.
pub struct Updates {
    gpu: Gpu,
    memory: Memory,
    program: Program,
    params: Region,
    decisions: Region,
    optimizer: Optimizer,
    /// How it steps, and steps so far.
    told: (Option<Adam>, u64),
    ports: [Region; 4],
    lists: [Range<usize>; 3],
    readback: Readback,
}

impl Updates {
    /// For the learning plan of so many rows.
    pub fn new(gpu: &Gpu, plan: &Plan, rows: usize) -> Result<Updates, Fault> {
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let len = plan.table().len();
        let (params, grads) = (space.floats(len), space.floats(len));
        let decisions = space.words(rows * DECISION_WORDS);
        let lowered = Lowered::new(plan, params, grads, &mut space, &mut program)?;
        let inputs = inputs(&mut program, decisions, lowered.input("inputs"), rows);
        let optimizer = Optimizer::new(len, &mut space);
        let step = optimizer.step(params, grads, &mut space, &mut program);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let ports = ["mask", "share", "outcome", "value_coef"].map(|name| lowered.input(name));
        let losses = ["policy_loss", "value_loss"].map(|name| lowered.output(name));
        let asked = [params, losses[0], losses[1], optimizer.norm.part(0, 1)];
        let readback = Readback::new(&memory, &asked, &[]);
        let lists = [inputs, lowered.steps.clone(), step];
        let (gpu, told) = (gpu.clone(), (None, 0));
        Ok(Updates { gpu, memory, program, params, decisions, optimizer, told, ports, lists, readback })
    }

    pub fn set_params(&self, values: &[f32]) {
        self.memory.write_floats(self.params, values);
    }

    /// One step, begun.
    pub fn update(&mut self, batch: &Batch, value_coef: f32, adam: &Adam) {
        let Updates { memory, ports: [mask, share, outcome, coef], .. } = self;
        memory.write_words(self.decisions, batch.decisions.as_flattened());
        memory.write_floats(*mask, &batch.mask);
        memory.write_floats(*share, &batch.share);
        memory.write_floats(*outcome, &batch.outcome);
        memory.write_floats(*coef, &[value_coef]);
        // From when it is told on, it counts steps by itself.
        if self.told.0 != Some(*adam) {
            self.optimizer.tell(adam, self.told.1, memory);
        }
        self.told = (Some(*adam), self.told.1 + 1);
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &self.lists);
        self.gpu.submit(encoder);
    }

    /// Parameters, the two losses of the newest step, and its gradient's length.
    pub async fn read(&self) -> Result<(Vec<f32>, [f32; 3]), Fault> {
        let (floats, _) = self.readback.fetch().await?;
        let [params, policy, value, norm]: [Vec<f32>; 4] =
            floats.try_into().map_err(|_| Fault::Lost { why: "it did not answer".into() })?;
        Ok((params, [policy[0], value[0], norm[0]]))
    }
}

/// From which of these batches on the device is faster, of (states, processor's states/s, device's states/s) in rising order:
/// it has to stay so, and whoever has fewer goes to the processor.
pub fn worth_from(rates: &[(usize, f64, f64)]) -> Option<usize> {
    let lost = rates.iter().rposition(|(_, processor, device)| device <= processor);
    rates.get(lost.map_or(0, |at| at + 1)).map(|rate| rate.0)
}
