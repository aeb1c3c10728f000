//! Memory layout and dispatch lists of a PPO learner on the GPU.
//!
//! The arrays of a rollout of T steps have these layouts:
//!
//! - Samples: `[T][envs][features + numbers + 3 + mask]`. A sample consists of the raw observation (`features` floats), the action
//!   (`numbers` floats), the action's log-probability, the advantage, the value, and the mask of the choices (`mask` floats; none for a
//!   kind without masks). A minibatch therefore reads each sample from adjacent addresses.
//! - Rewards, ends and returns: `[T][envs]`.
//! - Arrays of truncated states begin with `[truncations][envs]`, where `truncations` is the maximum number of truncated episodes of an
//!   environment in a rollout.
//! - Numbers of truncated episodes, and values after the rollout: `[envs]`.
//! - States: `[state][envs]`.

use crate::control::worlds::{World, world};
use crate::optimizer::Optimizer;
use crate::plan::Lowered;
use crate::program::{Program, Region, Space, groups};
use crate::shader::include_wgsl;
use crate::text::Text;
use ::worlds::control::vector::{LENGTH_SHIFT, TERMINATED};
use graph::Table;
use learn::Fault;
use learn::control::ppo::accelerator::Shuffle;
use learn::control::ppo::{Head, METRICS, NORMALIZED_LIMIT, SPREAD};
use learn::control::{LearnerSpec, PpoConfig, RECORDED_ENVS, RECORDED_STEPS};
use math::PANEL;
use std::ops::Range;

/// Number of threads of a workgroup that has one environment, sample or recorded value per thread.
const THREADS: usize = 64;
/// Number of threads of a workgroup that computes sums.
const MANY_THREADS: usize = 256;
/// Number of adjacent elements of a `[T][envs]` array (T steps) that one workgroup searches for ended episodes.
const SPAN: usize = 16 * MANY_THREADS;
/// Maximum number of recent episodes whose returns and lengths are read back.
pub const RECENT: usize = 100;
/// Number of rounds of a shuffle.
pub const ROUNDS: usize = 4;
/// Maximum number of epochs per iteration.
pub const MOST_EPOCHS: usize = 1000;
/// Maximum number of steps of a rollout. Each step adds dispatches to a list. The list of a longer rollout would take longer to encode than
/// to execute.
pub const MOST_STEPS: usize = 1 << 14;
/// Maximum number of minibatches per iteration.
pub const MOST_UPDATES: usize = 1 << 14;
/// Maximum number of values of an observation, and of outputs of a policy. The kernels have a line for each value and output.
const MOST_LINES: usize = 64;

/// Offsets in `Places::input`, the floats that are written before an iteration.
pub mod input {
    pub const GAMMA: usize = 0;
    /// γλ. A step's advantage contains the next step's advantage times this factor.
    pub const DECAY: usize = 1;
    /// Nonzero if advantages are normalised.
    pub const NORMALIZED_ADVANTAGES: usize = 2;
    pub const KL_LIMIT: usize = 3;
    /// Share of the earlier iterations in the number of discounted rewards of all iterations so far. This share is the weight of the
    /// earlier variance in the variance over all iterations.
    pub const RETURN_SHARE: usize = 4;
    /// Share of this iteration in the number of discounted rewards of all iterations so far. This share is the weight of this iteration's
    /// variance in the variance over all iterations.
    pub const NEW_SHARE: usize = 5;
    /// Mean of the discounted rewards of the earlier iterations.
    pub const RETURN_MEAN: usize = 6;
    /// Variance of the discounted rewards of the earlier iterations.
    pub const RETURN_VARIANCE: usize = 7;
    /// Offset of the first sum over minibatches. There is one sum for each metric, and one for the gradient norm.
    pub const SUMS: usize = 8;
    /// Number of sums over minibatches.
    pub const SUMMED: usize = 6;
    /// Number of floats with fixed offsets. The normaliser's means and scales follow.
    pub const LEN: usize = SUMS + SUMMED;

    pub const NAMES: [(&str, usize); 9] =
        ::worlds::named![GAMMA, DECAY, NORMALIZED_ADVANTAGES, KL_LIMIT, RETURN_SHARE, NEW_SHARE, RETURN_MEAN, RETURN_VARIANCE, SUMS,];
}

/// Offsets in `Places::counters`.
pub mod counters {
    /// Number of minibatches begun in this iteration.
    pub const UPDATE: usize = 0;
    /// Number of minibatches in this iteration that were processed before the KL limit stopped the updates.
    pub const UPDATES: usize = 1;
    /// Number of episodes that ended in this iteration.
    pub const ENDED: usize = 2;
    /// Number of steps of an environment before this iteration, as two words: the lower word first.
    pub const CLOCK: usize = 3;
    /// Number of words with fixed offsets. The constants of each epoch's shuffle rounds follow.
    pub const LEN: usize = 5;

    pub const NAMES: [(&str, usize); 2] = ::worlds::named![UPDATE, UPDATES];
}

/// Regions that are written before an iteration or read back after an iteration.
pub struct Places {
    pub params: Region,
    pub optimizer: Optimizer,
    pub states: Region,
    pub steps: Region,
    pub episodes: Region,
    pub episode_returns: Region,
    pub discounted_returns: Region,
    pub input: Region,
    pub counters: Region,
    /// Three floats for each of several quantities: count, mean, and sum of squared deviations from the mean. The quantities are the
    /// discounted rewards, the returns, the advantages, and each number of an observation.
    pub moments: Region,
    /// Returns of the latest [`RECENT`] episodes.
    pub finished: Region,
    /// Lengths of the latest [`RECENT`] episodes, in steps.
    pub lengths: Region,
    /// Errors of the environments, `[3][envs]`. The first two words of an environment are its error, as in [`worlds::control::Explain`].
    /// The third word is twice the index of the rollout step, plus 1 if the start of an episode failed. Empty for a kind without errors.
    pub faults: Region,
    trajectory: Region,
    trajectory_ended: Region,
}

/// Arrays of one rollout.
struct Rollout {
    normalizer: Region,
    samples: Region,
    rewards: Region,
    ended: Region,
    returns: Region,
    /// Number of truncated episodes of each environment in this rollout.
    truncations: Region,
    /// Normalised observations of the truncated states, before the restarts.
    reached: Region,
    /// Critic's values of the states that the environments have after the rollout.
    last: Region,
    /// Critic's values of the truncated states.
    bootstraps: Region,
}

/// Ranges of dispatches in the program.
pub struct Lists {
    pub observe: Range<usize>,
    /// One dispatch for each step of the rollout.
    pub steps: Range<usize>,
    /// Dispatches that store the critic's values, one for each run of policy and critic after the rollout.
    pub value_copies: Range<usize>,
    pub estimate_advantages: Range<usize>,
    pub trajectory: Range<usize>,
    /// Dispatches that gather the minibatch of an update. The gradient of the update follows.
    pub gather: Range<usize>,
    /// Dispatches that follow the gradient of an update: optimiser step and sums of metrics.
    pub learn: Range<usize>,
}

pub struct Layout {
    pub envs: usize,
    pub features: usize,
    /// Number of floats of one environment's state.
    pub state: usize,
    /// Number of samples in an iteration.
    pub samples: usize,
    pub places: Places,
    pub lists: Lists,
    pub acting: Lowered,
    pub learning: Lowered,
}

impl Layout {
    pub fn new(spec: &LearnerSpec, table: &Table, space: &mut Space, program: &mut Program) -> Result<Layout, Fault> {
        let (config, kind) = (&spec.config, &spec.kind);
        let world = world(kind).ok_or_else(|| Fault::Unknown { what: kind.spec.id.to_string() })?;
        let &PpoConfig { envs, rollout_steps: steps, .. } = config;
        if steps > MOST_STEPS {
            return Err(Fault::Unknown { what: format!("a rollout of more than {MOST_STEPS} steps") });
        }
        let (state, features) = (world.state, world.observation);
        if features.max(spec.head.outputs()) > MOST_LINES {
            return Err(Fault::Unknown { what: format!("an environment with more than {MOST_LINES} observed values or outputs") });
        }
        let sample = sample_len(&world);
        let samples = envs * steps;
        // Maximum number of truncations of an environment in a rollout.
        let truncations = steps.div_ceil(world.step_limit as usize);
        // Offsets have 32 bits, so sizes that do not fit are refused before memory is laid out.
        let floats = (samples + truncations * envs) as u64 * sample as u64;
        let plans = spec.acting.arena_bytes() + spec.learning.arena_bytes();
        let (needs, has) = (plans + 4 * floats, program.gpu().largest_buffer());
        if needs > has {
            return Err(Fault::TooSmall { needs, has });
        }

        let len = table.len();
        let (trajectory, shown) = (steps.min(RECORDED_STEPS), RECORDED_ENVS.min(envs));
        let quantities = 2 + if config.normalize_observation { features } else { 0 };
        let (params, grads) = (space.floats(len), space.floats(len));
        let places = Places {
            params,
            optimizer: Optimizer::new(len, space),
            states: space.floats(envs * state),
            steps: space.words(envs),
            episodes: space.words(envs),
            episode_returns: space.floats(envs),
            discounted_returns: space.floats(if config.normalize_reward { envs } else { 0 }),
            input: space.floats(input::LEN + 2 * features),
            counters: space.words(counters::LEN + 2 * ROUNDS * MOST_EPOCHS),
            moments: space.floats(3 * (1 + quantities)),
            finished: space.floats(RECENT),
            lengths: space.words(RECENT),
            faults: space.words(if world.kernels.explain.is_some() { 3 * envs } else { 0 }),
            trajectory: space.floats(trajectory * shown.next_multiple_of(PANEL) * features),
            trajectory_ended: space.words(trajectory * shown),
        };
        let rollout = Rollout {
            normalizer: places.input.part(input::LEN, 2 * features),
            samples: space.floats(samples * sample),
            rewards: space.floats(samples),
            ended: space.words(samples),
            returns: space.floats(samples),
            truncations: space.words(envs),
            reached: space.floats(truncations * envs * features),
            last: space.floats(envs),
            bootstraps: space.floats(truncations * envs),
        };
        let acting = Lowered::new(&spec.acting, params, grads, space, program)?;
        let learning = Lowered::new(&spec.learning, params, grads, space, program)?;
        let builder = Builder { spec, world: &world, places: &places, rollout: &rollout, truncations, quantities };
        let lists = Lists {
            observe: builder.observe(program, &acting),
            steps: builder.steps(program, &acting, table),
            value_copies: builder.value_copies(program, &acting),
            estimate_advantages: builder.estimate_advantages(space, program),
            trajectory: builder.trajectory(program, trajectory, shown),
            gather: builder.gather(program, &learning),
            learn: builder.learn(space, program, &learning, grads),
        };
        Ok(Layout { envs, features, state, samples, places, lists, acting, learning })
    }

    /// Returns the regions of floats and the regions of integers that are read back after an iteration, in the order that `GpuPpo::take`
    /// expects. With `recorded`, the last region of each list belongs to the trajectory.
    pub fn outputs(&self, recorded: bool) -> [Vec<Region>; 2] {
        let Places { params, optimizer, states, episode_returns, discounted_returns, input, moments, .. } = self.places;
        let sums = input.part(input::SUMS, input::SUMMED);
        let mut floats =
            vec![params, optimizer.m, optimizer.v, states, episode_returns, discounted_returns, sums, moments, self.places.finished];
        let Places { steps, episodes, counters, lengths, faults, .. } = self.places;
        let mut words = vec![steps, episodes, counters.part(0, counters::LEN), lengths, faults];
        if recorded {
            floats.push(self.places.trajectory);
            words.push(self.places.trajectory_ended);
        }
        [floats, words]
    }
}

/// Returns the number of floats of a sample.
fn sample_len(world: &World) -> usize {
    world.observation + world.action + 3 + world.mask
}

/// Returns kernel text with the constant `THREADS`, the number of threads per workgroup.
fn text_of(threads: usize) -> Text {
    Text::default().word("THREADS", threads)
}

const NORMALIZE: &str = include_wgsl!("normalize.wgsl");
const MOMENTS: &str = include_wgsl!("moments.wgsl");

struct Builder<'a> {
    spec: &'a LearnerSpec,
    world: &'a World,
    places: &'a Places,
    rollout: &'a Rollout,
    truncations: usize,
    quantities: usize,
}

impl Builder<'_> {
    fn envs(&self) -> usize {
        self.spec.config.envs
    }

    /// Returns kernel text with the constants that a kernel needs to read observations.
    fn text(&self, threads: usize) -> Text {
        let config = &self.spec.config;
        let (features, numbers) = (self.world.observation, self.world.action);
        text_of(threads)
            .word("FEATURES", features)
            .word("NUMBERS", numbers)
            .word("PERMITTED", self.world.mask)
            .word("MASK_AT", sample_len(self.world) - self.world.mask)
            .word("SAMPLE_LEN", sample_len(self.world))
            .word("STEPS", config.rollout_steps)
            .flag("NORMALIZED", config.normalize_observation)
            .float("NORMALIZED_LIMIT", NORMALIZED_LIMIT)
            .count("STATE", self.world.state)
    }

    /// Returns kernel text with the constants that a kernel needs to read the results of a rollout.
    fn later_text(&self, threads: usize) -> Text {
        self.text(threads)
            .flag("REWARDS_NORMALIZED", self.spec.config.normalize_reward)
            .word("TERMINATED", TERMINATED as usize)
            .word("LENGTH_SHIFT", LENGTH_SHIFT as usize)
            .words(&input::NAMES)
            .words(&counters::NAMES)
    }

    fn observe(&self, program: &mut Program, acting: &Lowered) -> Range<usize> {
        let text = self.text(THREADS).add(&self.world.text).add(NORMALIZE).add(include_wgsl!("observe.wgsl"));
        let Rollout { samples, normalizer, truncations, .. } = self.rollout;
        let shown = acting.input("observation");
        let Places { states, faults, .. } = self.places;
        let args = [self.envs() as u32, states.at, samples.at, shown.at, normalizer.at, truncations.at, faults.at];
        each(program, "observe", &text, &args, self.envs())
    }

    fn steps(&self, program: &mut Program, acting: &Lowered, table: &Table) -> Range<usize> {
        let LearnerSpec { head, config, draws, seed, .. } = self.spec;
        let text = self.text(THREADS).add(&self.world.text).add(NORMALIZE).add(include_wgsl!("rollout_step.wgsl"));
        let (text, middle, half) = match *head {
            Head::Choices(count) => (text.word("CHOICES", count).add(include_wgsl!("sample_choice.wgsl")), 0.0, 0.0),
            Head::Gaussian { middle, half, squash, .. } => {
                (text.flag("SQUASHED", squash).add(include_wgsl!("sample_gaussian.wgsl")), middle, half)
            }
        };
        let spread = table.specs().iter().find(|spec| *spec.name == *SPREAD).map_or(0, |spec| spec.offset);
        let Places { params, states, steps, episodes, episode_returns, counters, faults, .. } = self.places;
        let Rollout { normalizer, samples, rewards, ended, returns, truncations, reached, .. } = self.rollout;
        let from = program.len();
        for step in 0..config.rollout_steps {
            let mut args = vec![step as u32, config.envs as u32];
            args.extend(at([states, steps, episodes, episode_returns]));
            args.extend(at([&acting.output("policy"), &acting.output("value"), &acting.input("observation")]));
            args.extend(at([normalizer, samples, rewards, ended, returns, truncations, reached, faults]));
            args.extend([counters.at + counters::CLOCK as u32, params.at + spread as u32, middle.to_bits(), half.to_bits()]);
            args.extend((self.world.kernels.key)(*seed));
            args.extend(draws);
            each(program, "rollout step", &text, &args, config.envs);
        }
        from..program.len()
    }

    fn value_copies(&self, program: &mut Program, acting: &Lowered) -> Range<usize> {
        let envs = self.envs();
        let width = envs * self.world.observation;
        let text = self.text(THREADS).add(include_wgsl!("copy_values.wgsl"));
        let Rollout { reached, last, bootstraps, .. } = *self.rollout;
        let (value, shown) = (acting.output("value"), acting.input("observation"));
        let from = program.len();
        for run in 0..=self.truncations {
            let kept = if run == 0 { last } else { bootstraps.part((run - 1) * envs, envs) };
            let (next, items) = if run < self.truncations { (reached.part(run * width, width).at, width) } else { (u32::MAX, envs) };
            each(program, "copy values", &text, &[envs as u32, value.at, kept.at, next, shown.at], items);
        }
        from..program.len()
    }

    fn estimate_advantages(&self, space: &mut Space, program: &mut Program) -> Range<usize> {
        let config = &self.spec.config;
        let envs = config.envs;
        let blocks = envs.div_ceil(THREADS);
        let Rollout { normalizer, samples, rewards, ended, returns, truncations, last, bootstraps, .. } = self.rollout;
        let Places { discounted_returns, input, moments, counters, finished, lengths, .. } = self.places;
        let return_parts = space.floats(if config.normalize_reward { 3 * blocks } else { 0 });
        let parts = space.floats(3 * blocks * self.quantities);
        let merge = text_of(MANY_THREADS).add(MOMENTS).add(include_wgsl!("merge_moments.wgsl"));
        let merge = program.kernel("merge", &merge.text);
        let from = program.len();
        if config.normalize_reward {
            let text = self.later_text(THREADS).add(MOMENTS).add(include_wgsl!("discounted_returns.wgsl"));
            let args = [envs as u32, rewards.at, ended.at, discounted_returns.at, input.at, return_parts.at];
            each(program, "discounted returns", &text, &args, envs);
            program.dispatch(&merge, &[blocks as u32, return_parts.at, moments.at], [1, 1, 1]);
        }
        let text = self.later_text(THREADS).count("OBSERVED", self.quantities - 2).add(MOMENTS).add(include_wgsl!("advantages.wgsl"));
        let places = [samples, rewards, ended, truncations, last, bootstraps, input, moments, normalizer, &parts];
        let args = [&[envs as u32, blocks as u32][..], &at(places)].concat();
        each(program, "advantages", &text, &args, envs);
        let others = moments.part(3, 3 * self.quantities);
        let args = [blocks as u32, parts.at, others.at];
        program.dispatch(&merge, &args, [self.quantities as u32, 1, 1]);

        let places = envs * config.rollout_steps;
        let spans = places.div_ceil(SPAN);
        let counts = space.words(spans);
        let counting = |text| self.later_text(MANY_THREADS).word("SPAN", SPAN).word("RECENT", RECENT).add(text).text;
        let kernel = program.kernel("count episodes", &counting(include_wgsl!("count_episodes.wgsl")));
        let args = [places as u32, spans as u32, ended.at, counts.at];
        program.dispatch(&kernel, &args, groups(spans, 1));
        let kernel = program.kernel("recent episodes", &counting(include_wgsl!("recent_episodes.wgsl")));
        let args =
            [places as u32, spans as u32, ended.at, counts.at, returns.at, finished.at, lengths.at, counters.at + counters::ENDED as u32];
        program.dispatch(&kernel, &args, groups(spans, 1));
        from..program.len()
    }

    fn trajectory(&self, program: &mut Program, steps: usize, shown: usize) -> Range<usize> {
        let text = self.text(THREADS).word("RECORDED", shown).add(include_wgsl!("trajectory.wgsl"));
        let Rollout { samples, ended, .. } = self.rollout;
        let Places { trajectory, trajectory_ended, .. } = self.places;
        let args = [self.envs() as u32, steps as u32, samples.at, ended.at, trajectory.at, trajectory_ended.at];
        each(program, "trajectory", &text, &args, steps * shown.next_multiple_of(PANEL))
    }

    fn gather(&self, program: &mut Program, learning: &Lowered) -> Range<usize> {
        let LearnerSpec { config, minibatch, .. } = self.spec;
        let samples = config.envs * config.rollout_steps;
        let text = self
            .later_text(THREADS)
            .word("ROUNDS", ROUNDS)
            .flag("VALUE_CLIPPED", config.clip_value)
            .add(NORMALIZE)
            .add(include_wgsl!("gather.wgsl"));
        let Places { input, moments, counters, .. } = self.places;
        // `mask` and `shift` are the same for every shuffle of `samples` items; only the rounds differ.
        let shuffle = Shuffle::new(self.spec.shuffles, samples, 0, 0);
        let mut args = [*minibatch, config.envs, config.minibatches, samples / config.minibatches].map(|x| x as u32).to_vec();
        args.extend(at([&self.rollout.samples, &self.rollout.normalizer, &moments.part(6, 3), input, counters]));
        args.extend([counters.at + counters::LEN as u32, shuffle.mask, shuffle.shift]);
        let columns = ["observation", "action", "old_log_prob", "advantage", "return"];
        args.extend(columns.map(|name| learning.input(name).at));
        args.push(if config.clip_value { learning.input("old_value").at } else { 0 });
        args.push(if self.world.mask > 0 { learning.input("mask").at } else { 0 });
        each(program, "gather", &text, &args, *minibatch)
    }

    fn learn(&self, space: &mut Space, program: &mut Program, learning: &Lowered, grads: Region) -> Range<usize> {
        let Places { params, optimizer, input, counters, .. } = self.places;
        let from = program.len();
        optimizer.step(*params, grads, space, program);
        let text = self.later_text(1).add(include_wgsl!("add_metrics.wgsl"));
        let kernel = program.kernel("add metrics", &text.text);
        let mut args = vec![input.at, counters.at, optimizer.norm.at, optimizer.hold.at];
        args.extend(METRICS.map(|name| learning.output(name).at));
        program.dispatch(&kernel, &args, [1, 1, 1]);
        from..program.len()
    }
}

/// Returns the start offsets of regions.
fn at<const N: usize>(regions: [&Region; N]) -> [u32; N] {
    regions.map(|region| region.at)
}

/// Appends a dispatch with one thread for each of `items` items; returns its range.
fn each(program: &mut Program, label: &str, text: &Text, args: &[u32], items: usize) -> Range<usize> {
    let kernel = program.kernel(label, &text.text);
    let from = program.len();
    program.dispatch(&kernel, args, groups(items, THREADS));
    from..program.len()
}
