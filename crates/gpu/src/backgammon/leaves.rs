//! Evaluation of search leaves. There are two lanes (groups of actors, which play games concurrently). Each lane can have one pending
//! request, and has its own readback. Both lanes share one program. The GPU executes the requests in order.

use super::inputs::{refused, with_inputs};
use crate::device::{Gpu, Submitted};
use crate::plan::Lowered;
use crate::program::{Arrived, Memory, Program, Readback, Region, Space, groups};
use crate::shader::include_wgsl;
use learn::Fault;
use learn::backgammon::published::accelerator::{Answer, DECISION_WORDS, LANES, OffloadSpec};
use learn::backgammon::published::{HEADS, INPUTS, plan_leaves};
use std::ops::Range;

pub struct Leaves {
    gpu: Gpu,
    width: usize,
    memory: Memory,
    program: Program,
    params: Region,
    /// Decisions of the latest request; both lanes use this region. The GPU executes writes and submits in order. A submit therefore reads
    /// its decisions before the next request overwrites them.
    decisions: Region,
    lists: [Range<usize>; 2],
    lanes: [Lane; LANES],
}

struct Lane {
    readback: Readback,
    asked: Option<Submitted>,
    /// Number of decisions in this lane's latest request.
    rows: usize,
}

impl Leaves {
    pub fn new(gpu: &Gpu, spec: &OffloadSpec) -> Result<Leaves, Fault> {
        let rows = spec.lane_rows;
        let plan = plan_leaves(spec.shape, rows, spec.isa).map_err(refused)?;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let params = space.floats(plan.table().len());
        let none = space.floats(0);
        let decisions = space.words(rows * DECISION_WORDS);
        let lowered = Lowered::new(&plan, params, none, &mut space, &mut program)?;
        let kernel = program.kernel("inputs of leaves", &with_inputs(include_wgsl!("leaf_inputs.wgsl")));
        let begin = program.len();
        let args = [decisions.at, lowered.input("inputs").at, rows as u32];
        program.dispatch(&kernel, &args, groups(rows * INPUTS, 256));
        let lists = [begin..program.len(), lowered.steps.clone()];
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        lowered.write_constants(&memory);
        let asked = [lowered.output("policy"), lowered.output("value")];
        let lane = |_| Lane { readback: Readback::new(&memory, &asked, &[]), asked: None, rows: 0 };
        let lanes = std::array::from_fn(lane);
        Ok(Leaves { gpu: gpu.clone(), width: spec.shape.width, memory, program, params, decisions, lists, lanes })
    }

    pub fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.memory.write_floats(self.params, weights);
        self.gpu.check()
    }

    pub fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
        let Leaves { gpu, memory, program, lists, .. } = self;
        let lane = &mut self.lanes[lane];
        gpu.check()?;
        if lane.asked.is_some() {
            return Err(refused("leaves were requested while the lane has a pending request"));
        }
        memory.write_words(self.decisions, decisions.as_flattened());
        let mut encoder = gpu.encoder();
        program.encode_lists(&mut encoder, lists);
        lane.readback.encode(&mut encoder);
        (lane.asked, lane.rows) = (Some(gpu.submit(encoder)), decisions.len());
        lane.readback.ask();
        gpu.check()
    }

    pub fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        // Waits only for this lane's submit, because a submit of the other lane may be queued behind it.
        let (Lane { readback, asked, rows }, wide) = (&mut self.lanes[lane], self.width);
        let mut floats = |region: usize, arrived: Arrived| {
            let (to, width) = if region == 0 { (&mut answer.hidden, wide) } else { (&mut answer.heads, HEADS) };
            to.clear();
            // Rows after the requested rows contain old data.
            to.extend(arrived.floats().take(*rows * width));
        };
        readback.poll(asked, &mut floats, &mut |_, _| {})
    }
}
