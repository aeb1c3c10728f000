//! Whole iterations of PPO on a GPU: rollout, advantages, shuffled minibatches and Adam. All of these computations are dispatches of one
//! program. The program is built once per learner and replayed. An iteration takes at most three submits and one readback.
//!
//! The GPU performs the computations of `learn::control::ppo` in the same order and with the same random words, so a run can move between
//! CPU and GPU. The GPU's numbers differ from the CPU's by rounding only, and an adapter repeats its numbers exactly in every run. Each
//! iteration begins with the settings from an [`IterationInput`], and returns the learner's whole state.

mod layout;

use crate::device::Gpu;
use crate::program::{Memory, Program, Readback, Space};
use ::worlds::control::WorldFault;
use layout::{Layout, MOST_EPOCHS, MOST_UPDATES, RECENT, ROUNDS, counters, input};
use learn::control::ppo::accelerator::Shuffle;
use learn::control::ppo::{LossSums, METRICS};
use learn::control::{Accelerator, IterationInput, IterationOutput, LearnerSpec, Snapshot};
use learn::{Data, Fault};
use std::ops::Range;

/// PPO learner on a GPU.
pub struct GpuPpo {
    gpu: Gpu,
    spec: LearnerSpec,
    memory: Memory,
    program: Program,
    layout: Layout,
    /// Readback without the recorded trajectory.
    plain: Readback,
    /// Readback with the recorded trajectory; created when it is first needed.
    recorded: Option<Readback>,
    /// True if the pending iteration returns a trajectory; `None` if no iteration is pending.
    under_way: Option<bool>,
}

impl GpuPpo {
    /// Creates a learner on the GPU from the state of a learner on the CPU that is between two iterations.
    pub fn new(gpu: &Gpu, snapshot: &Snapshot) -> Result<GpuPpo, Fault> {
        gpu.check()?;
        let spec = snapshot.spec.clone();
        let mut space = Space::default();
        let mut program = Program::new(gpu);
        let layout = Layout::new(&spec, snapshot.params.table(), &mut space, &mut program)?;
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        layout.acting.write_constants(&memory);
        layout.learning.write_constants(&memory);
        let [floats, words] = layout.outputs(false);
        let plain = Readback::new(&memory, &floats, &words);
        let gpu = gpu.clone();
        let on = GpuPpo { gpu, spec, memory, program, layout, plain, recorded: None, under_way: None };
        on.write_snapshot(snapshot);
        on.gpu.check()?;
        Ok(on)
    }

    /// Writes the learner's state to the GPU.
    fn write_snapshot(&self, snapshot: &Snapshot) {
        let Layout { places, envs, state, .. } = &self.layout;
        self.memory.write_floats(places.params, snapshot.params.values());
        for (name, _, data) in &snapshot.state {
            match (&**name, data) {
                ("adam.m", Data::F32(m)) => self.memory.write_floats(places.optimizer.m, m),
                ("adam.v", Data::F32(v)) => self.memory.write_floats(places.optimizer.v, v),
                ("environments.state", Data::F32(rows)) => {
                    let columns: Vec<f32> = (0..envs * state).map(|at| rows[at % envs * state + at / envs]).collect();
                    self.memory.write_floats(places.states, &columns);
                }
                ("environments.steps", Data::U32(steps)) => self.memory.write_words(places.steps, steps),
                ("environments.episodes", Data::U32(episodes)) => self.memory.write_words(places.episodes, episodes),
                ("environments.returns", Data::F32(totals)) => self.memory.write_floats(places.episode_returns, totals),
                ("environments.discounted", Data::F32(sums)) => self.memory.write_floats(places.discounted_returns, sums),
                _ => {}
            }
        }
    }

    /// Writes the input of one iteration to the GPU.
    fn write_input(&self, input: &IterationInput) {
        let Layout { places, samples, features, .. } = &self.layout;
        let config = input.config;
        let mut floats = vec![0.0; input::LEN + 2 * features];
        floats[input::GAMMA] = config.gamma;
        floats[input::DECAY] = config.gamma * config.lambda;
        floats[input::NORMALIZED_ADVANTAGES] = f32::from(u8::from(config.normalize_advantage));
        floats[input::KL_LIMIT] = 1.5 * config.target_kl;
        let [count, mean, variance] = input.return_moments;
        let all = count + *samples as f64;
        floats[input::RETURN_SHARE] = (count / all) as f32;
        floats[input::NEW_SHARE] = (*samples as f64 / all) as f32;
        floats[input::RETURN_MEAN] = mean as f32;
        floats[input::RETURN_VARIANCE] = variance as f32;
        let normalizer = &mut floats[input::LEN..];
        normalizer[..input.normalizer_mean.len()].copy_from_slice(input.normalizer_mean);
        normalizer[*features..features + input.normalizer_scale.len()].copy_from_slice(input.normalizer_scale);
        self.memory.write_floats(places.input, &floats);
        places.optimizer.reset_to(&input.adam, input.adam_steps, &self.memory);

        let mut words = vec![0; counters::LEN];
        let first_step = input.iteration * config.rollout_steps as u64;
        words[counters::CLOCK] = first_step as u32;
        words[counters::CLOCK + 1] = (first_step >> 32) as u32;
        for epoch in 0..config.epochs {
            let shuffle = Shuffle::new(self.spec.shuffles, *samples, input.iteration, epoch);
            let rounds: [[u32; 2]; ROUNDS] = shuffle.rounds;
            words.extend(rounds.as_flattened());
        }
        self.memory.write_words(places.counters, &words);
        for (name, value) in [("clip", config.clip), ("entropy_coef", config.entropy), ("value_coef", config.value_coef)] {
            self.memory.write_floats(self.layout.learning.input(name), &[value]);
        }
    }

    /// Returns three lists of an iteration's dispatches, in execution order. Each nonempty list is one submit.
    fn submits(&self, epochs: usize, record: bool) -> [Vec<Range<usize>>; 3] {
        let lists = &self.layout.lists;
        let (policy, loss) = (&self.layout.acting.steps, &self.layout.learning.steps);
        let mut rollout = vec![lists.observe.clone()];
        for one in lists.steps.clone().chain(lists.value_copies.clone()) {
            rollout.extend([policy.clone(), one..one + 1]);
        }
        rollout.push(lists.estimate_advantages.clone());
        if record {
            rollout.push(lists.trajectory.clone());
        }
        // The updates are divided into two submits, so that the GPU can start before all updates are encoded.
        let updates = epochs * self.spec.config.minibatches;
        let update = [lists.gather.clone(), loss.clone(), lists.learn.clone()];
        let some = |count: usize| vec![update.clone(); count].concat();
        [rollout, some(updates / 2), some(updates.div_ceil(2))]
    }

    /// Returns the number of dispatches of an iteration that records no trajectory.
    pub fn dispatches(&self, epochs: usize) -> usize {
        self.submits(epochs, false).iter().flatten().map(Range::len).sum()
    }

    fn readback(&mut self, record: bool) -> &Readback {
        if !record {
            return &self.plain;
        }
        let [floats, words] = self.layout.outputs(true);
        self.recorded.get_or_insert_with(|| Readback::new(&self.memory, &floats, &words))
    }
}

impl Accelerator for GpuPpo {
    fn begin(&mut self, input: &IterationInput) -> Result<(), Fault> {
        self.gpu.check()?;
        let config = input.config;
        if config.clip_value != self.spec.config.clip_value {
            return Err(Fault::Unknown { what: "another loss than the one it began with".into() });
        }
        if config.epochs > MOST_EPOCHS || config.epochs * config.minibatches > MOST_UPDATES {
            return Err(Fault::Unknown { what: format!("more than {MOST_UPDATES} minibatches an iteration") });
        }
        self.write_input(input);
        let [rollout, some, rest] = self.submits(config.epochs, input.record);
        for list in [rollout, some] {
            if !list.is_empty() {
                let mut encoder = self.gpu.encoder();
                self.program.encode_lists(&mut encoder, &list);
                self.gpu.submit(encoder);
            }
        }
        let mut encoder = self.gpu.encoder();
        self.program.encode_lists(&mut encoder, &rest);
        let readback = self.readback(input.record);
        readback.encode(&mut encoder);
        self.gpu.submit(encoder);
        self.readback(input.record).ask();
        self.under_way = Some(input.record);
        self.gpu.check()
    }

    fn poll(&mut self, output: &mut IterationOutput) -> Result<bool, Fault> {
        let Some(recorded) = self.under_way else { return Ok(false) };
        self.gpu.pause();
        let recorded = self.recorded.as_ref().filter(|_| recorded);
        if !self.take(recorded.unwrap_or(&self.plain), output)? {
            return Ok(false);
        }
        self.under_way = None;
        Ok(true)
    }
}

impl GpuPpo {
    /// Converts the words `faults` to the errors of the environments, and writes the errors to `output`. Before this call, `output` must
    /// already contain the steps and episodes of the environments.
    fn explain(&self, faults: &[u32], output: &mut IterationOutput) {
        output.faults.clear();
        let Some(explain) = self.spec.kind.kernels.as_ref().and_then(|kernels| kernels.explain.as_ref()) else { return };
        let (places, rest) = faults.split_at(self.layout.envs);
        let (values, moments) = rest.split_at(self.layout.envs);
        for env in (0..places.len()).filter(|env| places[*env] != 0) {
            let (line, message) = explain([places[env], values[env]]);
            let step = if moments[env] % 2 == 1 { 0 } else { output.steps[env] + 1 };
            let fault = WorldFault { env: env as u32, episode: output.episodes[env], step, line, message };
            output.faults.push((moments[env] / 2, fault));
        }
    }

    /// Writes the contents of the readback to `output`; returns false if the contents have not arrived yet.
    fn take(&self, readback: &Readback, output: &mut IterationOutput) -> Result<bool, Fault> {
        let Layout { envs, state, samples, .. } = self.layout;
        let config = &self.spec.config;
        let (mut sums, mut moments, mut returns) = (Vec::new(), Vec::new(), Vec::new());
        let (mut counters, mut lengths, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        let mut ends: Vec<u32> = Vec::new();
        let here = readback.take(
            &mut |region, arrived| {
                let to = match region {
                    0 => &mut output.params,
                    1 => &mut output.adam_m,
                    2 => &mut output.adam_v,
                    3 => {
                        output.states.resize(envs * state, 0.0);
                        for (i, column) in arrived.parts(state).enumerate() {
                            let row = output.states[i..].iter_mut().step_by(state);
                            row.zip(column.floats()).for_each(|(to, x)| *to = x);
                        }
                        return;
                    }
                    4 => &mut output.episode_returns,
                    5 => &mut output.discounted_returns,
                    6 => &mut sums,
                    7 => &mut moments,
                    8 => &mut returns,
                    _ => &mut output.recorded_observations,
                };
                arrived.replace(to);
            },
            &mut |region, arrived| {
                let to = match region {
                    0 => &mut output.steps,
                    1 => &mut output.episodes,
                    2 => &mut counters,
                    3 => &mut lengths,
                    4 => &mut faults,
                    _ => &mut ends,
                };
                to.clear();
                to.extend(arrived.words());
            },
        )?;
        if !here {
            return Ok(false);
        }
        output.sums = LossSums {
            metrics: std::array::from_fn(|i| f64::from(sums[i])),
            grad_norm: f64::from(sums[METRICS.len()]),
            updates: counters[counters::UPDATES],
        };
        output.episodes_ended = u64::from(counters[counters::ENDED]);
        let newest = returns.into_iter().zip(lengths).take(output.episodes_ended.min(RECENT as u64) as usize);
        output.finished.clear();
        output.finished.extend(newest);
        output.finished.reverse();
        self.explain(&faults, output);

        let [return_moments, target, advantage, observations @ ..] = moments.as_chunks::<3>().0 else {
            return Err(Fault::Refused { why: "the device returned no moments".into() });
        };
        let n = samples as f64;
        let sums_of = |&[_, mean, squares]: &[f32; 3]| {
            let (mean, squares) = (f64::from(mean), f64::from(squares));
            [n * mean, squares + n * mean * mean]
        };
        let [.., spread] = *target;
        let [.., unexplained] = *advantage;
        output.explained_variance = if spread > 0.0 { 1.0 - unexplained / spread } else { 0.0 };
        output.return_sums = if config.normalize_reward { sums_of(return_moments) } else { [0.0; 2] };
        output.observation_sums.clear();
        output.observation_sums.extend(observations.iter().map(sums_of));
        output.recorded_ended.clear();
        output.recorded_ended.extend(ends.into_iter().map(|end| end as u8));
        if output.recorded_ended.is_empty() {
            output.recorded_observations.clear();
        }
        Ok(true)
    }
}
