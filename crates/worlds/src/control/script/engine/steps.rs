//! Steps of all environments, and the trait [`Vector`], which learners use.

use super::super::meta::Choice;
use super::super::program::{ACTION, BLOCK, ENV, EPISODE, STEP};
use super::fleet::{Call, Fleet, STREAM, place};
use super::state;
use crate::control::fault::WorldFault;
use crate::control::shape::Shape;
use crate::control::vector::{InvalidState, LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use math::{PANEL, Rng, Simd, isa::kernel};

/// Bit in `Fleet::failed` of an environment without an error that a step must not change.
const HELD: u32 = 1;

/// Returns the lanes of a panel, which are the elements of `all` from `at` on.
#[inline(always)]
fn lanes<T>(all: &[T], at: usize) -> &[T; PANEL] {
    all[at..].first_chunk().expect("whole panels")
}

/// [`lanes`], to write.
#[inline(always)]
fn lanes_mut<T>(all: &mut [T], at: usize) -> &mut [T; PANEL] {
    all[at..].first_chunk_mut().expect("whole panels")
}

impl Fleet {
    /// Writes the actions of a block to its rows. If the step draws random numbers, also writes the rows [`ENV`], [`EPISODE`] and [`STEP`],
    /// which determine the random numbers.
    fn prepare(&mut self, block: usize, actions: &[f32]) {
        let (isa, fleet) = (self.isa, &mut *self);
        kernel!(isa, |s: S, fleet: &mut Fleet, block: usize, actions: &[f32]| fleet.write_actions(s, block, actions));
        if self.code.step.draws {
            for lane in 0..BLOCK {
                let env = block * BLOCK + lane;
                let (number, episode, step) = (self.first.wrapping_add(env as u32), self.episodes[env], self.steps[env] + 1);
                let rows = self.rows();
                (rows[ENV as usize][lane], rows[EPISODE as usize][lane], rows[STEP as usize][lane]) = (number, episode, step);
            }
        }
    }

    #[inline(always)]
    fn write_actions<S: Simd>(&mut self, s: S, block: usize, actions: &[f32]) {
        let (len, panels) = (self.world.action_len(), self.panels(block));
        // NaN becomes the smallest action.
        let (low, high, choices) = match self.world.meta.actions {
            Choice::Choices(count) => (0.0, (count - 1) as f32, true),
            Choice::Box { low, high, .. } => (low, high, false),
        };
        for k in 0..len {
            let (row, _) = self.rows()[ACTION as usize + k].as_chunks_mut::<PANEL>();
            for (panel, row) in row[..panels].iter_mut().enumerate() {
                let given = lanes(actions, place(len, block * BLOCK + panel * PANEL, k));
                for l in (0..PANEL).step_by(S::LANES) {
                    let action = s.min(s.max(s.load(&given[l..]), s.splat(low)), s.splat(high));
                    s.store_u(if choices { s.i32_from_f32(action) } else { s.to_bits(action) }, &mut row[l..]);
                }
            }
        }
    }

    /// Returns the number of panels of a block that are in use.
    fn panels(&self, block: usize) -> usize {
        (self.count.div_ceil(PANEL) - block * BLOCK / PANEL).min(BLOCK / PANEL)
    }

    /// Steps every environment, and starts no episode. `self.ended` lists the environments whose episode ended. The parameter `ended`
    /// receives the flags and lengths of these episodes. Returns false if no work is left before the end.
    fn step_blocks(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32], work: &mut u64) -> bool {
        if self.stepped == 0 && self.interrupted.is_none() {
            self.is_new = false;
        }
        while self.stepped < self.blocks() {
            let block = self.stepped;
            if self.interrupted.is_none() {
                self.prepare(block, actions);
                self.copy_state(block, self.blocks());
            }
            if *work == 0 || !self.call_part(Call::Step, block, self.panels(block), None, work) {
                return false;
            }
            self.finish(block, reached, rewards, ended);
            self.stepped += 1;
        }
        true
    }

    /// Takes step number `steps` + 1 of an episode of environment 0. The next episode is not started. Returns the error of this step;
    /// `None` without an error.
    pub(super) fn step_once(
        &mut self,
        actions: &[f32],
        reached: &mut [f32],
        rewards: &mut [f32],
        ended: &mut [u32],
        steps: u32,
    ) -> Option<WorldFault> {
        let episode = self.episodes[0];
        (self.steps[0], self.failed[0], self.fault) = (steps, 0, None);
        while !self.step_blocks(actions, reached, rewards, ended, &mut { u64::MAX }) {}
        self.stepped = 0;
        self.ended.clear();
        self.episodes[0] = episode;
        self.fault.take()
    }

    /// Copies the states of a block to another block. During a step, the spare block holds the states before the step.
    fn copy_state(&mut self, from: usize, to: usize) {
        let [from, to] = [from, to].map(|block| (self.code.state_at + block * self.code.state) * BLOCK);
        self.rows.copy_within(from..from + self.code.state * BLOCK, to);
    }

    /// Records the errors of a block's step, and copies its results. Environments with an error keep the state before the step.
    fn finish(&mut self, block: usize, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        if self.faults.any {
            // Lanes after the last panel are not in use.
            let lanes = self.count.div_ceil(PANEL) * PANEL - block * BLOCK;
            for lane in 0..lanes.min(BLOCK) {
                let env = block * BLOCK + lane;
                if self.faults.failed[lane] != 0 && self.failed[env] == 0 {
                    self.failed[env] = u32::MAX;
                    if env < self.count {
                        self.record(Call::Step, lane, env, self.steps[env] + 1);
                    }
                }
            }
        }
        if self.failed[block * BLOCK..][..BLOCK].iter().fold(0, |any, failed| any | failed) != 0 {
            self.keep_states(block);
        }
        let fleet = self;
        kernel!(fleet.isa, |s: S, fleet: &mut Fleet, block: usize, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]| {
            fleet.copy_out(s, block, reached, rewards, ended);
        });
    }

    /// Restores the states before the step, which the spare block holds, for a block's environments with an error.
    #[cold]
    fn keep_states(&mut self, block: usize) {
        let (state_at, state, spare) = (self.code.state_at, self.code.state, self.blocks());
        for lane in (0..BLOCK).filter(|lane| self.failed[block * BLOCK + lane] != 0) {
            for k in 0..state {
                let [to, from] = [block, spare].map(|block| (state_at + block * state + k) * BLOCK + lane);
                self.rows[to] = self.rows[from];
            }
        }
    }

    #[inline(always)]
    fn copy_out<S: Simd>(&mut self, s: S, block: usize, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        let panels = self.panels(block);
        let Fleet { code, rows, shown, permitted, steps, episodes, failed, ended: list, world, .. } = self;
        let rows: &[[u32; BLOCK]] = rows.as_chunks().0;
        let row = |row: u32| {
            let row = if row as usize >= code.state_at { row as usize + block * code.state } else { row as usize };
            rows[row].as_chunks::<PANEL>().0
        };
        let (observation, choices) = (&code.step.observation[..], &code.step.permitted[..]);
        let (zero, limit) = (s.splat_u(0), s.splat_u(world.meta.limit));
        let mut bits = 0u128;
        for panel in 0..panels {
            let env = block * BLOCK + panel * PANEL;
            // An environment with an error keeps its observation, its mask and its number of steps.
            let failed: &[u32; PANEL] = lanes(failed, env);
            let sound = |l: usize| s.eq_u(s.load_u(&failed[l..]), zero);
            for (i, from) in observation.iter().enumerate() {
                let (from, at) = (&row(*from)[panel], place(observation.len(), env, i));
                let (shown, reached) = (lanes_mut(shown, at), lanes_mut(reached, at));
                for l in (0..PANEL).step_by(S::LANES) {
                    let x = s.select(sound(l), s.f32_from_bits(s.load_u(&from[l..])), s.load(&shown[l..]));
                    s.store(x, &mut reached[l..]);
                    s.store(x, &mut shown[l..]);
                }
            }
            for (i, from) in choices.iter().enumerate() {
                let (from, permitted) = (&row(*from)[panel], lanes_mut(permitted, place(choices.len(), env, i)));
                for l in (0..PANEL).step_by(S::LANES) {
                    let x = s.f32_from_bits(s.and_u(s.load_u(&from[l..]), s.to_bits(s.splat(1.0))));
                    s.store(s.select(sound(l), x, s.load(&permitted[l..])), &mut permitted[l..]);
                }
            }
            let (reward, terminates) = (&row(code.step.reward)[panel], &row(code.step.over)[panel]);
            let (rewards, ended) = (lanes_mut(rewards, env), lanes_mut(ended, env));
            let (steps, episodes) = (lanes_mut(steps, env), lanes_mut(episodes, env));
            for l in (0..PANEL).step_by(S::LANES) {
                let sound = sound(l);
                s.store(s.f32_from_bits(s.select_u(sound, s.load_u(&reward[l..]), zero)), &mut rewards[l..]);
                let step = s.add_u(s.load_u(&steps[l..]), s.select_u(sound, s.splat_u(1), zero));
                let terminated = s.not_mask(s.eq_u(s.select_u(sound, s.load_u(&terminates[l..]), zero), zero));
                let truncated = s.eq_u(step, limit);
                let over = s.or_mask(terminated, truncated);
                let flags = s.or_u(s.select_u(terminated, s.splat_u(TERMINATED), zero), s.select_u(truncated, s.splat_u(TRUNCATED), zero));
                s.store_u(s.select_u(over, s.or_u(flags, s.shl_u(step, LENGTH_SHIFT)), zero), &mut ended[l..]);
                s.store_u(s.select_u(over, zero, step), &mut steps[l..]);
                let episode = s.load_u(&episodes[l..]);
                s.store_u(s.select_u(over, s.add_u(episode, s.splat_u(1)), episode), &mut episodes[l..]);
                bits |= u128::from(s.mask_bits(over)) << (panel * PANEL + l);
            }
        }
        while bits != 0 {
            list.push((block * BLOCK) as u32 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}

impl Vector for Fleet {
    fn count(&self) -> usize {
        self.count
    }

    fn bytes(&self) -> usize {
        let words = self.rows.len() + self.shown.len() + self.permitted.len() + 3 * self.steps.len() + self.ended.capacity();
        size_of::<Self>() + 4 * words
    }

    fn observations(&self) -> &[f32] {
        &self.shown
    }

    fn masks(&self) -> &[f32] {
        &self.permitted
    }

    fn reset(&mut self, seed: u32, first: u32) {
        self.rng = Rng::new(seed, STREAM);
        self.first = first;
        self.steps.fill(0);
        self.episodes.fill(0);
        self.fault = None;
        self.is_new = true;
        self.start(0..self.steps.len() as u32);
    }

    /// Steps every environment. Actions are panels with `World::action_len` features.
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        while !self.step_part(&mut { u64::MAX }, actions, reached, rewards, ended) {}
    }

    fn step_part(&mut self, work: &mut u64, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) -> bool {
        let is_complete = self.step_blocks(actions, reached, rewards, ended, work) && self.restart_ended(work);
        if is_complete {
            self.stepped = 0;
        }
        is_complete
    }

    fn step_except(&mut self, held: &[u32], actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        // A step does not change an environment with a nonzero word in `failed`.
        held.iter().for_each(|&env| self.failed[env as usize] |= HELD);
        self.step(actions, reached, rewards, ended);
        held.iter().for_each(|&env| self.failed[env as usize] &= !HELD);
    }

    /// Returns the first error. If several environments failed in that step, the error is that of the environment with the lowest number.
    fn fault(&self) -> Option<WorldFault> {
        self.fault.clone()
    }

    fn draw(&mut self, env: usize) -> Result<Vec<Shape>, WorldFault> {
        self.shapes(env)
    }

    fn begin(&mut self, env: usize) {
        self.episodes[env] = self.episodes[env].wrapping_add(1);
        self.steps[env] = 0;
        self.is_new = false;
        self.start(env as u32..env as u32 + 1);
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
        let invalid = Err(InvalidState { env: self.first as usize + env, id: self.world.id.clone() });
        let Some(bits) = state::load(&self.world.attributes, state) else { return invalid };
        if env >= self.count || steps >= self.world.meta.limit {
            return invalid;
        }
        let (code, spare) = (self.code.clone(), self.blocks());
        let begun = code.state_at + spare * code.state;
        let rows = self.rows();
        bits.iter().for_each(|(k, bits)| rows[begun + k][0] = *bits);
        self.call(Call::Show, spare, 1, None);
        if self.faults.failed[0] != 0 {
            return invalid;
        }
        self.show(&code.show, 0, env, false);
        let start = code.state_at + env / BLOCK * code.state;
        let rows = self.rows();
        bits.iter().for_each(|(k, bits)| rows[start + k][env % BLOCK] = *bits);
        (self.steps[env], self.episodes[env], self.failed[env]) = (steps, episodes, 0);
        Ok(())
    }
}
