//! Many environments of a file, in blocks. When an episode ends, the environment's next episode starts in the same step.

use super::super::program::{Attribute, BLOCK, Code, ENV, EPISODE, Op, PASSES, Program, STEP};
use super::faults::{Faults, message};
use super::run::{Place, Run};
use super::state;
use super::world::World;
use crate::control::fault::WorldFault;
use crate::control::shape::Shape;
use crate::control::vector::Vector;
use math::{Buffer, Isa, Kernel, PANEL, Rng, Simd, dispatch};
use std::sync::Arc;

/// Number of the random stream of environments that users write. The stream is separate from all other streams of the same seed.
pub(super) const STREAM: u32 = 0x5343_5250;

/// Many environments of a file. Actions, observations and masks are arrays `[panels][features][PANEL]`; a panel is a group of [`PANEL`]
/// environments.
pub struct Fleet {
    pub(super) world: World,
    pub(super) code: Arc<Code>,
    pub(super) isa: Isa,
    pub(super) rng: Rng,
    pub(super) first: u32,
    pub(super) count: usize,
    /// All rows, in this order: the rows that all blocks share, the states of the blocks, and the state of the spare block. Episodes start
    /// in the spare block.
    pub(super) rows: Buffer<u32>,
    pub(super) shown: Buffer,
    pub(super) permitted: Buffer,
    /// Number of steps that each environment has taken in its episode.
    pub(super) steps: Buffer<u32>,
    /// Number of each environment's earlier episodes.
    pub(super) episodes: Buffer<u32>,
    /// `u32::MAX` for an environment in which a program has reported an error, otherwise 0. An environment with an error keeps its state.
    pub(super) failed: Buffer<u32>,
    /// Indices of the environments to restart: those whose episode ended in the current step, all in `reset`, or one in `begin`.
    pub(super) ended: Vec<u32>,
    /// Number of environments in `ended` that have been restarted.
    restarted: usize,
    /// Number of blocks that the current step has stepped.
    pub(super) stepped: usize,
    /// Place at which the program of the current step was interrupted; `None` if no program was interrupted.
    pub(super) interrupted: Option<Place>,
    pub(super) faults: Faults,
    pub(super) fault: Option<WorldFault>,
    /// True if `fault` was recorded in the current step. If so, an error of an environment with a lower number replaces `fault`.
    pub(super) is_new: bool,
}

/// Program of a file; each variant has the name of a field of [`Code`].
#[derive(Clone, Copy)]
pub(super) enum Call {
    Begin,
    Step,
    Show,
    Draw,
}

struct Exec<'a, 'b>(&'b mut Run<'a>);

impl Kernel for Exec<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> bool {
        self.0.exec(s)
    }
}

fn program(code: &Code, call: Call) -> &Program {
    match call {
        Call::Begin => &code.begin,
        Call::Step => &code.step,
        Call::Show => &code.show,
        Call::Draw => &code.draw,
    }
}

/// Returns the index of feature `i` of the environment `env` in an array of panels.
#[inline(always)]
pub(super) fn place(features: usize, env: usize, i: usize) -> usize {
    (env / PANEL * features + i) * PANEL + env % PANEL
}

impl World {
    /// Creates the environments `first..first + count` of a seed, each at the start of its first episode.
    pub fn fleet(&self, isa: Isa, seed: u32, first: u32, count: usize) -> Fleet {
        Fleet::new(self.clone(), isa, seed, first, count)
    }
}

impl Fleet {
    pub fn new(world: World, isa: Isa, seed: u32, first: u32, count: usize) -> Fleet {
        let code = world.code.clone();
        let blocks = count.div_ceil(BLOCK);
        let lanes = count.div_ceil(PANEL) * PANEL;
        let mut fleet = Fleet {
            isa,
            rng: Rng::new(seed, STREAM),
            first,
            count,
            rows: Buffer::zeros((code.state_at + (blocks + 1) * code.state) * BLOCK),
            shown: Buffer::zeros(lanes * world.observation_len()),
            permitted: Buffer::zeros(lanes * world.mask_len()),
            steps: Buffer::zeros(blocks * BLOCK),
            episodes: Buffer::zeros(blocks * BLOCK),
            failed: Buffer::zeros(blocks * BLOCK),
            ended: Vec::with_capacity(blocks * BLOCK),
            restarted: 0,
            stepped: 0,
            interrupted: None,
            faults: Faults::new(),
            fault: None,
            is_new: false,
            world,
            code,
        };
        let at = fleet.code.constants_at;
        for (k, bits) in fleet.code.constants.iter().enumerate() {
            fleet.rows[(at + k) * BLOCK..][..BLOCK].fill(*bits);
        }
        fleet.reset(seed, first);
        fleet
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub(super) fn blocks(&self) -> usize {
        self.steps.len() / BLOCK
    }

    pub(super) fn rows(&mut self) -> &mut [[u32; BLOCK]] {
        self.rows.as_chunks_mut().0
    }

    /// Runs a program on the first panels of a block to its end. The spare block follows the last block. `drawn` receives the shapes of
    /// lane 0.
    pub(super) fn call(&mut self, call: Call, block: usize, panels: usize, mut drawn: Option<&mut Vec<(u32, Vec<u32>)>>) {
        while !self.call_part(call, block, panels, drawn.as_deref_mut(), &mut { u64::MAX }) {}
    }

    /// Begins a program as [`Fleet::call`] does, or continues the interrupted program. Returns false if the program was interrupted,
    /// because no work is left.
    pub(super) fn call_part(
        &mut self,
        call: Call,
        block: usize,
        panels: usize,
        drawn: Option<&mut Vec<(u32, Vec<u32>)>>,
        work: &mut u64,
    ) -> bool {
        let place = self.interrupted.take().unwrap_or_else(|| {
            self.faults.clear();
            self.rows()[PASSES as usize] = [0; BLOCK];
            Place::START
        });
        let Fleet { isa, code, rng, rows, faults, .. } = self;
        let (program, shift) = (program(code, call), block * code.state);
        let mut run = Run { program, code, rows: rows.as_chunks_mut().0, shift, key: rng.key, panels, faults, drawn, place, work };
        let is_complete = dispatch(*isa, Exec(&mut run));
        self.interrupted = (!is_complete).then_some(run.place);
        is_complete
    }

    /// Records the error of a lane in the field `fault`. An error from an earlier step is kept. An error from the same step is kept if its
    /// environment has a lower number.
    pub(super) fn record(&mut self, call: Call, lane: usize, env: usize, step: u32) {
        let number = self.first.wrapping_add(env as u32);
        let earlier = self.fault.as_ref().is_some_and(|fault| !self.is_new || fault.env <= number);
        if earlier {
            return;
        }
        let (at, value) = (self.faults.at[lane] as usize, self.faults.value[lane]);
        let program = program(&self.code, call);
        let mut instruction = program.code[at];
        if instruction.op == Op::Table {
            instruction.n = self.code.tables[instruction.n as usize].len() as u32;
        }
        let message = message(&instruction, value);
        self.fault = Some(WorldFault { env: number, episode: self.episodes[env], step, line: Some(program.lines[at]), message });
        self.is_new = true;
    }

    /// Starts the current episodes of the environments `ended[from..to]`. The range has at most [`BLOCK`] elements. Returns false if no
    /// work is left before the end.
    fn restart(&mut self, from: usize, to: usize, work: &mut u64) -> bool {
        let (code, spare) = (self.code.clone(), self.blocks());
        let panels = (to - from).div_ceil(PANEL);
        let begun = if self.interrupted.is_some() { 0 } else { panels * PANEL };
        for lane in 0..begun {
            let env = self.ended[(from + lane).min(to - 1)] as usize;
            let (number, episode) = (self.first.wrapping_add(env as u32), self.episodes[env]);
            let rows = self.rows();
            (rows[ENV as usize][lane], rows[EPISODE as usize][lane], rows[STEP as usize][lane]) = (number, episode, 0);
        }
        if !self.call_part(Call::Begin, spare, panels, None, work) {
            return false;
        }
        for lane in 0..to - from {
            let env = self.ended[from + lane] as usize;
            self.failed[env] = self.faults.failed[lane];
            let failed = self.failed[env] != 0;
            if failed && env < self.count {
                self.record(Call::Begin, lane, env, 0);
            }
            let [to, from] =
                [(env / BLOCK, env % BLOCK), (spare, lane)].map(|(block, lane)| (code.state_at + block * code.state) * BLOCK + lane);
            let rows = &mut self.rows[..];
            for k in (0..code.state * BLOCK).step_by(BLOCK) {
                rows[to + k] = if failed { 0 } else { rows[from + k] };
            }
            if env < self.count.div_ceil(PANEL) * PANEL {
                self.show(&code.begin, lane, env, failed);
            }
        }
        true
    }

    /// Copies the observation and the mask of a lane of the spare block to an environment. If `failed` is true, the observation is 0 and
    /// all choices are permitted.
    pub(super) fn show(&mut self, program: &Program, lane: usize, env: usize, failed: bool) {
        let (state_at, shift) = (self.code.state_at, self.blocks() * self.code.state);
        let Fleet { rows, shown, permitted, .. } = self;
        let rows = &rows[..];
        let bits = |row: u32| rows[(row as usize + if row as usize >= state_at { shift } else { 0 }) * BLOCK + lane];
        let [shown_at, permitted_at] = [&program.observation, &program.permitted].map(|rows| place(rows.len(), env, 0));
        for (i, from) in program.observation.iter().enumerate() {
            shown[shown_at + i * PANEL] = if failed { 0.0 } else { f32::from_bits(bits(*from)) };
        }
        for (i, from) in program.permitted.iter().enumerate() {
            permitted[permitted_at + i * PANEL] = if failed || bits(*from) != 0 { 1.0 } else { 0.0 };
        }
    }

    /// Starts the episodes of the environments in `ended`, and clears this list. Returns false if no work is left before the end.
    pub(super) fn restart_ended(&mut self, work: &mut u64) -> bool {
        let count = self.ended.len();
        while self.restarted < count {
            let to = (self.restarted + BLOCK).min(count);
            if *work == 0 || !self.restart(self.restarted, to, work) {
                return false;
            }
            self.restarted = to;
        }
        self.ended.clear();
        self.restarted = 0;
        true
    }

    /// Starts the episodes of the environments `envs` at once, and discards an unfinished step.
    pub(super) fn start(&mut self, envs: std::ops::Range<u32>) {
        (self.restarted, self.stepped, self.interrupted) = (0, 0, None);
        self.ended.clear();
        self.ended.extend(envs);
        while !self.restart_ended(&mut { u64::MAX }) {}
    }

    /// Copies the state of an environment to lane 0 of the spare block.
    fn select(&mut self, env: usize) {
        let (state_at, state, spare) = (self.code.state_at, self.code.state, self.blocks());
        let rows = self.rows();
        for k in 0..state {
            rows[state_at + spare * state + k][0] = rows[state_at + env / BLOCK * state + k][env % BLOCK];
        }
    }

    /// Draws the picture of one environment. Returns the shapes of the picture, or the error of the method `draw`.
    pub(super) fn shapes(&mut self, env: usize) -> Result<Vec<Shape>, WorldFault> {
        let (code, spare) = (self.code.clone(), self.blocks());
        let mut drawn = Vec::new();
        self.select(env);
        self.call(Call::Draw, spare, 1, Some(&mut drawn));
        if self.faults.failed[0] != 0 {
            let (saved, new) = (self.fault.take(), self.is_new);
            self.record(Call::Draw, 0, env, self.steps[env]);
            let fault = std::mem::replace(&mut self.fault, saved);
            self.is_new = new;
            return fault.map_or(Ok(Vec::new()), Err);
        }
        Ok(drawn.iter().map(|(n, numbers)| state::shape(&code, *n, numbers)).collect())
    }

    /// Returns the elements of an attribute in one environment; `None` if there is no such attribute.
    pub fn attribute(&self, env: usize, name: &str) -> Option<Vec<f64>> {
        let attribute = self.world.attributes.iter().find(|attribute| attribute.name == name)?;
        Some(self.elements(env, attribute).collect())
    }

    /// Returns the elements of an attribute in one environment.
    pub(super) fn elements(&self, env: usize, attribute: &Attribute) -> impl Iterator<Item = f64> {
        let start = self.code.state_at + env / BLOCK * self.code.state + attribute.start;
        (start..start + attribute.len).map(move |row| state::number(attribute.ty, self.rows[row * BLOCK + env % BLOCK]))
    }
}
