//! PPO whole on a GPU: rollout, advantages, shuffled minibatches and Adam as one list of dispatches over one memory,
//! made once for a learner and replayed; an iteration is three submits at most and one readback.
//!
//! It does what `learn::ppo` does, in the same order and with the same random words, so that a run moves between the
//! two; numbers differ by roundings only, and are the same whenever the same adapter begins at the same place. It
//! refuses to keep anything that the learner at home does not get back with each iteration, and to decide anything:
//! settings arrive with each [`Turn`].

mod layout;

use crate::device::Gpu;
use crate::program::{Memory, Program, Readback, Space};
use graph::Adam;
use layout::{Layout, MOST_EPOCHS, MOST_UPDATES, RECENT, ROUNDS, tally, turn};
use learn::ppo::away::Shuffle;
use learn::{Accelerator, Blueprint, Data, Fault, Harvest, Start, Turn};
use std::ops::Range;

/// Adam's, as the learner at home has it.
const EPS: f32 = 1e-5;

/// One learner on a GPU.
pub struct OnGpu {
    gpu: Gpu,
    blueprint: Blueprint,
    memory: Memory,
    program: Program,
    layout: Layout,
    /// Without what the first environments lived through and, once it was asked for, with it.
    plain: Readback,
    watched: Option<Readback>,
    under_way: Option<Watched>,
}

/// Whether the iteration under way tells what the first environments live through.
#[derive(Clone, Copy, PartialEq)]
struct Watched(bool);

impl OnGpu {
    /// Puts a learner onto the device as it stands at a boundary.
    pub fn new(gpu: &Gpu, start: &Start) -> Result<OnGpu, Fault> {
        gpu.check()?;
        let blueprint = start.blueprint.clone();
        let mut space = Space::default();
        let mut program = Program::new(gpu);
        let layout = Layout::new(&blueprint, start.params.table(), &mut space, &mut program)?;
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        layout.acting.write_constants(&memory);
        layout.learning.write_constants(&memory);
        let [floats, words] = layout.told(false);
        let plain = Readback::new(&memory, &floats, &words);
        let gpu = gpu.clone();
        let on = OnGpu { gpu, blueprint, memory, program, layout, plain, watched: None, under_way: None };
        on.bring(start);
        on.gpu.check()?;
        Ok(on)
    }

    /// Writes what the learner is made of.
    fn bring(&self, start: &Start) {
        let Layout { places, envs, state, .. } = &self.layout;
        self.memory.write_floats(places.params, start.params.values());
        for (name, _, data) in &start.state {
            match (&**name, data) {
                ("adam.m", Data::F32(m)) => self.memory.write_floats(places.optimizer.m, m),
                ("adam.v", Data::F32(v)) => self.memory.write_floats(places.optimizer.v, v),
                ("environments.state", Data::F32(rows)) => {
                    let columns: Vec<f32> =
                        (0..envs * state).map(|at| rows[at % envs * state + at / envs]).collect();
                    self.memory.write_floats(places.states, &columns);
                }
                ("environments.steps", Data::U32(steps)) => self.memory.write_words(places.steps, steps),
                ("environments.episodes", Data::U32(episodes)) => {
                    self.memory.write_words(places.episodes, episodes);
                }
                ("environments.returns", Data::F32(totals)) => {
                    self.memory.write_floats(places.totals, totals)
                }
                ("environments.discounted", Data::F32(sums)) => {
                    self.memory.write_floats(places.discounted, sums);
                }
                _ => {}
            }
        }
    }

    /// Writes what holds for one iteration.
    fn tell(&self, told: &Turn) {
        let Layout { places, samples, features, .. } = &self.layout;
        let config = told.config;
        let mut floats = vec![0.0; turn::LEN + 2 * features];
        floats[turn::GAMMA] = config.gamma;
        floats[turn::DECAY] = config.gamma * config.lambda;
        floats[turn::CENTRED] = f32::from(u8::from(config.normalize_advantage));
        floats[turn::KL_LIMIT] = 1.5 * config.target_kl;
        let [count, mean, variance] = told.earned;
        let all = count + *samples as f64;
        floats[turn::EARNED_SHARE] = (count / all) as f32;
        floats[turn::NEW_SHARE] = (*samples as f64 / all) as f32;
        floats[turn::EARNED_MEAN] = mean as f32;
        floats[turn::EARNED_VARIANCE] = variance as f32;
        let lens = &mut floats[turn::LEN..];
        lens[..told.lens_mean.len()].copy_from_slice(told.lens_mean);
        lens[*features..features + told.lens_scale.len()].copy_from_slice(told.lens_scale);
        self.memory.write_floats(places.turn, &floats);
        let adam = Adam { lr: told.lr, eps: EPS, max_grad_norm: config.max_grad_norm, ..Adam::default() };
        places.optimizer.tell(&adam, told.adam_steps, &self.memory);

        let mut words = vec![0; tally::LEN];
        let first_step = told.iteration * config.rollout_steps as u64;
        words[tally::CLOCK] = first_step as u32;
        words[tally::CLOCK + 1] = (first_step >> 32) as u32;
        for epoch in 0..config.epochs {
            let shuffle = Shuffle::new(self.blueprint.shuffles, *samples, told.iteration, epoch);
            let rounds: [[u32; 2]; ROUNDS] = shuffle.rounds;
            words.extend(rounds.as_flattened());
        }
        self.memory.write_words(places.tally, &words);
        for (name, value) in
            [("clip", config.clip), ("entropy_coef", config.entropy), ("value_coef", config.value_coef)]
        {
            self.memory.write_floats(self.layout.learning.input(name), &[value]);
        }
    }

    /// The lists of an iteration in the order they run, a submit each.
    fn submits(&self, epochs: usize, watch: bool) -> [Vec<Range<usize>>; 3] {
        let lists = &self.layout.lists;
        let (policy, loss) = (&self.layout.acting.steps, &self.layout.learning.steps);
        let mut rollout = vec![lists.look.clone()];
        for one in lists.steps.clone().chain(lists.keeps.clone()) {
            rollout.extend([policy.clone(), one..one + 1]);
        }
        rollout.push(lists.estimate.clone());
        if watch {
            rollout.push(lists.trail.clone());
        }
        // In two parts, so that the device need not wait for the whole of a long list.
        let updates = epochs * self.blueprint.config.minibatches;
        let update = [lists.gather.clone(), loss.clone(), lists.learn.clone()];
        let some = |count: usize| vec![update.clone(); count].concat();
        [rollout, some(updates / 2), some(updates.div_ceil(2))]
    }

    /// Dispatches of an iteration.
    pub fn dispatches(&self, epochs: usize) -> usize {
        self.submits(epochs, false).iter().flatten().map(Range::len).sum()
    }

    fn readback(&mut self, Watched(watch): Watched) -> &Readback {
        if !watch {
            return &self.plain;
        }
        let [floats, words] = self.layout.told(true);
        self.watched.get_or_insert_with(|| Readback::new(&self.memory, &floats, &words))
    }
}

impl Accelerator for OnGpu {
    fn begin(&mut self, told: &Turn) -> Result<(), Fault> {
        self.gpu.check()?;
        let config = told.config;
        if config.clip_value != self.blueprint.config.clip_value {
            return Err(Fault::Unknown { what: "another loss than the one it began with".into() });
        }
        if config.epochs > MOST_EPOCHS || config.epochs * config.minibatches > MOST_UPDATES {
            return Err(Fault::Unknown {
                what: format!("more than {MOST_UPDATES} minibatches an iteration"),
            });
        }
        self.tell(told);
        let watched = Watched(told.watch);
        let [rollout, some, rest] = self.submits(config.epochs, told.watch);
        for list in [rollout, some] {
            if !list.is_empty() {
                let mut encoder = self.gpu.encoder();
                self.program.encode_lists(&mut encoder, &list);
                self.gpu.submit(encoder);
            }
        }
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &rest);
        let readback = self.readback(watched);
        readback.encode(&mut encoder);
        self.gpu.submit(encoder);
        self.readback(watched).ask();
        self.under_way = Some(watched);
        self.gpu.check()
    }

    fn poll(&mut self, harvest: &mut Harvest) -> Result<bool, Fault> {
        let Some(Watched(watched)) = self.under_way else { return Ok(false) };
        self.gpu.pause();
        let watched = self.watched.as_ref().filter(|_| watched);
        if !self.take(watched.unwrap_or(&self.plain), harvest)? {
            return Ok(false);
        }
        self.under_way = None;
        Ok(true)
    }
}

impl OnGpu {
    /// What came back, if it did.
    fn take(&self, readback: &Readback, harvest: &mut Harvest) -> Result<bool, Fault> {
        let Layout { envs, state, samples, .. } = self.layout;
        let config = &self.blueprint.config;
        let (mut sums, mut moments, mut returns) = (Vec::new(), Vec::new(), Vec::new());
        let (mut tally, mut lengths) = (Vec::new(), Vec::new());
        let mut ends: Vec<u32> = Vec::new();
        let here = readback.take(
            &mut |region, arrived| {
                let to = match region {
                    0 => &mut harvest.params,
                    1 => &mut harvest.adam_m,
                    2 => &mut harvest.adam_v,
                    3 => {
                        harvest.states.resize(envs * state, 0.0);
                        for (i, column) in arrived.parts(state).enumerate() {
                            let row = harvest.states[i..].iter_mut().step_by(state);
                            row.zip(column.floats()).for_each(|(to, x)| *to = x);
                        }
                        return;
                    }
                    4 => &mut harvest.totals,
                    5 => &mut harvest.discounted,
                    6 => &mut sums,
                    7 => &mut moments,
                    8 => &mut returns,
                    _ => &mut harvest.trail_observations,
                };
                to.clear();
                to.extend(arrived.floats());
            },
            &mut |region, arrived| {
                let to = match region {
                    0 => &mut harvest.steps,
                    1 => &mut harvest.episodes,
                    2 => &mut tally,
                    3 => &mut lengths,
                    _ => &mut ends,
                };
                to.clear();
                to.extend(arrived.words());
            },
        )?;
        if !here {
            return Ok(false);
        }
        harvest.updates = tally[tally::UPDATES];
        harvest.sums = std::array::from_fn(|i| f64::from(sums[i]));
        harvest.ended = u64::from(tally[tally::ENDED]);
        let newest = returns.into_iter().zip(lengths).take(harvest.ended.min(RECENT as u64) as usize);
        harvest.finished.clear();
        harvest.finished.extend(newest);
        harvest.finished.reverse();

        let [earned, target, advantage, seen @ ..] = moments.as_chunks::<3>().0 else {
            return Err(Fault::Refused { why: "it told no moments".into() });
        };
        let n = samples as f64;
        let sums_of = |&[_, mean, squares]: &[f32; 3]| {
            let (mean, squares) = (f64::from(mean), f64::from(squares));
            [n * mean, squares + n * mean * mean]
        };
        let [.., spread] = *target;
        let [.., unexplained] = *advantage;
        harvest.explained_variance = if spread > 0.0 { 1.0 - unexplained / spread } else { 0.0 };
        harvest.earned = if config.normalize_reward { sums_of(earned) } else { [0.0; 2] };
        harvest.seen.clear();
        harvest.seen.extend(seen.iter().map(sums_of));
        harvest.trail_ended.clear();
        harvest.trail_ended.extend(ends.into_iter().map(|end| end as u8));
        if harvest.trail_ended.is_empty() {
            harvest.trail_observations.clear();
        }
        Ok(true)
    }
}
