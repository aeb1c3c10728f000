//! Many environments of a file, in blocks. When an episode of an environment ends, its next episode starts in the same step.

use super::super::meta::Choice;
use super::super::program::{ACTION, BLOCK, Code, ENV, EPISODE, Op, PASSES, Program, STEP};
use super::faults::{Faults, message};
use super::run::Run;
use super::state;
use super::world::{Fault, Shape, World};
use crate::control::vector::{InvalidState, LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use math::{Buffer, Isa, Kernel, PANEL, Rng, Simd, dispatch, isa::kernel};
use std::sync::Arc;

/// Random stream of these environments, separate from all other streams of the same seed.
const STREAM: u32 = 0x5343_5250;

/// Many environments of a file. Actions, observations and masks are in panels, `[count/PANEL][features][PANEL]`.
pub struct Fleet {
    world: World,
    code: Arc<Code>,
    isa: Isa,
    rng: Rng,
    first: u32,
    count: usize,
    /// Rows that all blocks share, the states of the blocks, and the state of a block for restarts.
    rows: Buffer<u32>,
    shown: Buffer,
    permitted: Buffer,
    /// Number of steps that each environment has taken in its episode.
    steps: Buffer<u32>,
    /// Number of each environment's earlier episodes.
    episodes: Buffer<u32>,
    /// Environments whose episode ended in this step.
    ended: Vec<u32>,
    faults: Faults,
    fault: Option<Fault>,
    /// Whether the fault is of this step.
    is_new: bool,
}

/// Programs of a file, as a name of a field of [`Code`].
#[derive(Clone, Copy)]
enum Call {
    Begin,
    Step,
    Show,
    Draw,
}

struct Exec<'a>(Run<'a>);

impl Kernel for Exec<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        self.0.exec(s);
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

/// Index of feature `i` of the environment `env` in an array of panels.
#[inline(always)]
fn place(features: usize, env: usize, i: usize) -> usize {
    (env / PANEL * features + i) * PANEL + env % PANEL
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
            ended: Vec::with_capacity(blocks * BLOCK),
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

    /// Whether each choice is permitted, as 1 or 0, in panels. Empty without a mask.
    pub fn permitted(&self) -> &[f32] {
        &self.permitted
    }

    /// First error: that of the first step with an error, in the environment with the lowest number.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn blocks(&self) -> usize {
        self.steps.len() / BLOCK
    }

    fn rows(&mut self) -> &mut [[u32; BLOCK]] {
        self.rows.as_chunks_mut().0
    }

    /// Runs a program on a block. The block after the last one is that of restarts.
    fn call(&mut self, call: Call, block: usize, drawn: Option<&mut Vec<(u32, Vec<u32>)>>) {
        self.faults.clear();
        self.rows()[PASSES as usize] = [0; BLOCK];
        let Fleet { isa, code, rng, rows, faults, .. } = self;
        let (program, shift) = (program(code, call), block * code.state);
        dispatch(*isa, Exec(Run { program, code, rows: rows.as_chunks_mut().0, shift, key: rng.key, faults, drawn }));
    }

    /// Records the error of a lane.
    fn record(&mut self, call: Call, lane: usize, env: usize, step: u32) {
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
        self.fault = Some(Fault { env: number, episode: self.episodes[env], step, line: program.lines[at], message });
        self.is_new = true;
    }

    /// Starts the present episodes of some environments, at most a block.
    fn restart(&mut self, from: usize, to: usize) {
        let (code, spare) = (self.code.clone(), self.blocks());
        for lane in 0..BLOCK {
            let env = self.ended[(from + lane).min(to - 1)] as usize;
            let (number, episode) = (self.first.wrapping_add(env as u32), self.episodes[env]);
            let rows = self.rows();
            (rows[ENV as usize][lane], rows[EPISODE as usize][lane], rows[STEP as usize][lane]) = (number, episode, 0);
        }
        self.call(Call::Begin, spare, None);
        for lane in 0..to - from {
            let env = self.ended[from + lane] as usize;
            let failed = self.faults.failed[lane] != 0;
            if failed && env < self.count {
                self.record(Call::Begin, lane, env, 0);
            }
            let (block, target) = (code.state_at + env / BLOCK * code.state, env % BLOCK);
            let begun = code.state_at + spare * code.state;
            for k in 0..code.state {
                let rows = self.rows();
                rows[block + k][target] = if failed { 0 } else { rows[begun + k][lane] };
            }
            if env < self.count.div_ceil(PANEL) * PANEL {
                self.show(&code.begin, lane, env, failed);
            }
        }
    }

    /// Copies the observation and mask of a lane to those of an environment.
    fn show(&mut self, program: &Program, lane: usize, env: usize, failed: bool) {
        let (observation, choices) = (program.observation.len(), program.permitted.len());
        let (state_at, shift) = (self.code.state_at, self.blocks() * self.code.state);
        let row = |row: u32| if row as usize >= state_at { row as usize + shift } else { row as usize };
        for (i, from) in program.observation.iter().enumerate() {
            let bits = self.rows[row(*from) * BLOCK + lane];
            self.shown[place(observation, env, i)] = if failed { 0.0 } else { f32::from_bits(bits) };
        }
        for (i, from) in program.permitted.iter().enumerate() {
            let bits = self.rows[row(*from) * BLOCK + lane];
            self.permitted[place(choices, env, i)] = if failed || bits != 0 { 1.0 } else { 0.0 };
        }
    }

    fn restart_ended(&mut self) {
        let count = self.ended.len();
        for from in (0..count).step_by(BLOCK) {
            self.restart(from, (from + BLOCK).min(count));
        }
        self.ended.clear();
    }

    /// Copies the state of an environment to lane 0 of the block of restarts.
    fn select(&mut self, env: usize) {
        let (state_at, state, spare) = (self.code.state_at, self.code.state, self.blocks());
        let rows = self.rows();
        for k in 0..state {
            rows[state_at + spare * state + k][0] = rows[state_at + env / BLOCK * state + k][env % BLOCK];
        }
    }

    /// Draws the picture of one environment. Returns its shapes, or the error of `draw`.
    pub fn draw(&mut self, env: usize) -> Result<Vec<Shape>, Fault> {
        let (code, spare) = (self.code.clone(), self.blocks());
        let mut drawn = Vec::new();
        self.select(env);
        self.call(Call::Draw, spare, Some(&mut drawn));
        if self.faults.failed[0] != 0 {
            let (saved, new) = (self.fault.take(), self.is_new);
            self.record(Call::Draw, 0, env, self.steps[env]);
            let fault = std::mem::replace(&mut self.fault, saved);
            self.is_new = new;
            return fault.map_or(Ok(Vec::new()), Err);
        }
        Ok(drawn.iter().map(|(n, numbers)| state::shape(&code, *n, numbers)).collect())
    }

    /// Value of an attribute's elements in one environment, as numbers.
    pub fn attribute(&self, env: usize, name: &str) -> Option<Vec<f64>> {
        let attribute = self.world.attributes.iter().find(|attribute| attribute.name == name)?;
        let start = self.code.state_at + env / BLOCK * self.code.state + attribute.start;
        let bits = (0..attribute.len).map(|k| self.rows[(start + k) * BLOCK + env % BLOCK]);
        Some(bits.map(|bits| state::number(attribute.ty, bits)).collect())
    }

    /// Prepares the rows of a block's step.
    fn prepare(&mut self, block: usize, actions: &[f32]) {
        let (len, lanes) = (self.world.action_len(), self.count.div_ceil(PANEL) * PANEL);
        let choice = self.world.meta.actions.clone();
        for k in 0..len {
            for panel in 0..(lanes - block * BLOCK).min(BLOCK) / PANEL {
                let env = block * BLOCK + panel * PANEL;
                let given: &[f32; PANEL] = actions[place(len, env, k)..].first_chunk().expect("actions of whole panels");
                let row = &mut self.rows()[ACTION as usize + k][panel * PANEL..][..PANEL];
                for (to, from) in row.iter_mut().zip(given) {
                    *to = match choice {
                        Choice::Choices(count) => from.clamp(0.0, (count - 1) as f32) as u32,
                        // NaN becomes the smallest number.
                        Choice::Box { low, high, .. } => from.max(low).min(high).to_bits(),
                    };
                }
            }
        }
        if self.code.step.draws {
            for lane in 0..BLOCK {
                let env = block * BLOCK + lane;
                let (number, episode, step) = (self.first.wrapping_add(env as u32), self.episodes[env], self.steps[env] + 1);
                let rows = self.rows();
                (rows[ENV as usize][lane], rows[EPISODE as usize][lane], rows[STEP as usize][lane]) = (number, episode, step);
            }
        }
    }

    /// Copies the results of a block's step.
    fn finish(&mut self, block: usize, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        if self.faults.any {
            for lane in 0..BLOCK {
                let env = block * BLOCK + lane;
                if self.faults.failed[lane] != 0 && env < self.count {
                    self.record(Call::Step, lane, env, self.steps[env] + 1);
                }
            }
        }
        let fleet = self;
        kernel!(fleet.isa, |s: S, fleet: &mut Fleet, block: usize, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]| {
            fleet.copy_out(s, block, reached, rewards, ended);
        });
    }

    #[inline(always)]
    fn copy_out<S: Simd>(&mut self, s: S, block: usize, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        let Fleet { code, rows, shown, permitted, steps, episodes, faults, ended: list, world, count, .. } = self;
        let rows: &[[u32; BLOCK]] = rows.as_chunks().0;
        let row = |row: u32| &rows[if row as usize >= code.state_at { row as usize + block * code.state } else { row as usize }];
        let (observation, choices) = (&code.step.observation[..], &code.step.permitted[..]);
        let (zero, limit) = (s.splat_u(0), s.splat_u(world.meta.limit));
        let lanes = count.div_ceil(PANEL) * PANEL;
        for l in (0..(lanes - block * BLOCK).min(BLOCK)).step_by(S::LANES) {
            let env = block * BLOCK + l;
            for (i, from) in observation.iter().enumerate() {
                let (x, at) = (s.f32_from_bits(s.load_u(&row(*from)[l..])), place(observation.len(), env, i));
                s.store(x, &mut reached[at..]);
                s.store(x, &mut shown[at..]);
            }
            for (i, from) in choices.iter().enumerate() {
                let x = s.and_u(s.load_u(&row(*from)[l..]), s.to_bits(s.splat(1.0)));
                s.store(s.f32_from_bits(x), &mut permitted[place(choices.len(), env, i)..]);
            }
            let failed = s.load_u(&faults.failed[l..]);
            let reward = s.select_u(s.eq_u(failed, zero), s.load_u(&row(code.step.reward)[l..]), zero);
            s.store(s.f32_from_bits(reward), &mut rewards[env..]);

            let step = s.add_u(s.load_u(&steps[env..]), s.splat_u(1));
            let terminated = s.not_mask(s.eq_u(s.or_u(failed, s.load_u(&row(code.step.over)[l..])), zero));
            let truncated = s.eq_u(step, limit);
            let over = s.or_mask(terminated, truncated);
            let flags = s.or_u(s.select_u(terminated, s.splat_u(TERMINATED), zero), s.select_u(truncated, s.splat_u(TRUNCATED), zero));
            s.store_u(s.select_u(over, s.or_u(flags, s.shl_u(step, LENGTH_SHIFT)), zero), &mut ended[env..]);
            s.store_u(s.select_u(over, zero, step), &mut steps[env..]);
            let episode = s.load_u(&episodes[env..]);
            s.store_u(s.select_u(over, s.add_u(episode, s.splat_u(1)), episode), &mut episodes[env..]);
            let mut bits = s.mask_bits(over);
            while bits != 0 {
                list.push(env as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}

impl Vector for Fleet {
    fn count(&self) -> usize {
        self.count
    }

    fn bytes(&self) -> usize {
        let words = self.rows.len() + self.shown.len() + self.permitted.len() + 2 * self.steps.len() + self.ended.capacity();
        size_of::<Self>() + 4 * words
    }

    fn observations(&self) -> &[f32] {
        &self.shown
    }

    fn reset(&mut self, seed: u32, first: u32) {
        self.rng = Rng::new(seed, STREAM);
        self.first = first;
        self.steps.fill(0);
        self.episodes.fill(0);
        self.fault = None;
        self.is_new = true;
        self.ended.clear();
        self.ended.extend(0..self.steps.len() as u32);
        self.restart_ended();
    }

    /// Steps every environment. Actions are panels of [`World::action_len`] features.
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        self.is_new = false;
        for block in 0..self.blocks() {
            self.prepare(block, actions);
            self.call(Call::Step, block, None);
            self.finish(block, reached, rewards, ended);
            if self.faults.any {
                let (features, lanes) = (self.code.step.observation.len(), self.count.div_ceil(PANEL) * PANEL);
                for lane in (0..BLOCK).filter(|lane| self.faults.failed[*lane] != 0 && block * BLOCK + lane < lanes) {
                    (0..features).for_each(|i| reached[place(features, block * BLOCK + lane, i)] = 0.0);
                }
            }
        }
        self.restart_ended();
    }

    fn begin(&mut self, env: usize) {
        self.episodes[env] = self.episodes[env].wrapping_add(1);
        self.steps[env] = 0;
        self.ended.clear();
        self.ended.push(env as u32);
        self.is_new = false;
        self.restart_ended();
    }

    fn state_len(&self) -> usize {
        self.world.state_len()
    }

    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32) {
        let start = self.code.state_at + env / BLOCK * self.code.state;
        state::save(&self.world.attributes, |k| self.rows[(start + k) * BLOCK + env % BLOCK], state);
        (self.steps[env], self.episodes[env])
    }

    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        let invalid = Err(InvalidState { env: self.first as usize + env, id: "this file" });
        let Some(bits) = state::load(&self.world.attributes, state) else { return invalid };
        if env >= self.count || steps >= self.world.meta.limit {
            return invalid;
        }
        let (code, spare) = (self.code.clone(), self.blocks());
        let begun = code.state_at + spare * code.state;
        let rows = self.rows();
        bits.iter().for_each(|(k, bits)| rows[begun + k][0] = *bits);
        self.call(Call::Show, spare, None);
        if self.faults.failed[0] != 0 {
            return invalid;
        }
        self.show(&code.show, 0, env, false);
        let start = code.state_at + env / BLOCK * code.state;
        let rows = self.rows();
        bits.iter().for_each(|(k, bits)| rows[start + k][env % BLOCK] = *bits);
        (self.steps[env], self.episodes[env]) = (steps, episodes);
        Ok(())
    }
}
