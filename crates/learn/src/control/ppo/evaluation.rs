//! Greedy evaluation in new episodes, and predictions for given states.

use super::nets::{Head, Task, log_spreads};
use super::normalizer::Normalizer;
use super::sampling::{GreedyActions, GreedyMasked, MeanActions};
use graph::{Executor, Packed, Params, Plan};
use math::{Isa, PANEL, dispatch, ops, par, poly};
use std::sync::Arc;
use worlds::control::{FailedState, Kind, Vector, WorldFault};

/// Maximum work of all actors, or of all evaluators, in one slice; see [`Vector::step_part`](worlds::control::Vector::step_part). It takes
/// some hundredths of a second.
pub const WORK: u64 = 4_000_000;
/// Number of evaluators that run in parallel. Each evaluator plays a panel of [`PANEL`] episodes.
const EVALUATORS: usize = 4;
/// Environment number of an evaluation's first episode. The random numbers of an environment depend on its number. Training uses lower
/// numbers, so evaluations use other random numbers.
const FIRST_ENV: u32 = 1 << 31;

/// Statistics of the returns in an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    pub mean: f32,
    pub min: f32,
    pub max: f32,
}

pub(super) struct Evaluators {
    isa: Isa,
    task: Task,
    /// Weights of the rollout in progress. [`Evaluators::set_weights`] replaces these weights at the end of an iteration.
    params: Params,
    packed: Packed,
    evaluators: Vec<Evaluator>,
    played: Played,
    /// State of the failed environment before the step in which the latest evaluation failed; `None` if no step failed.
    pub failed: Option<FailedState>,
    /// Number of steps that each evaluator plays per slice.
    turn: usize,
}

/// An evaluation in progress: its weights and its results so far.
struct Played {
    params: Params,
    packed: Packed,
    normalizer: Option<Normalizer>,
    episodes: u32,
    seed: u32,
    /// Index of the first episode in the current batch. A batch has at most one episode for each lane of the evaluators. The evaluation
    /// ends when `first` reaches `episodes`.
    first: u32,
    sum: f64,
    min: f32,
    max: f32,
}

impl Evaluators {
    /// Creates the evaluators. `plan` computes policy and critic for one panel.
    pub fn new(plan: &Arc<Plan>, kind: &Kind, task: Task, params: &Params, isa: Isa) -> Self {
        Self {
            isa,
            task,
            params: params.clone(),
            packed: Packed::new(plan, params),
            evaluators: (0..EVALUATORS).map(|_| Evaluator::new(plan, kind, isa)).collect(),
            played: Played {
                params: params.clone(),
                packed: Packed::new(plan, params),
                normalizer: None,
                episodes: 0,
                seed: 0,
                first: 0,
                sum: 0.0,
                min: f32::INFINITY,
                max: f32::NEG_INFINITY,
            },
            failed: None,
            turn: (par::TURN / (EVALUATORS as f64 * plan.multiply_adds()).max(1.0)).max(1.0) as usize,
        }
    }

    /// Returns the memory, in bytes, of the evaluators and of the weights of the evaluation in progress. The weights of the rollout are not
    /// included.
    pub fn bytes(plan: &Plan, kind: &Kind, isa: Isa) -> f64 {
        let lanes = PANEL * (kind.spec.observation.len() + kind.spec.actions.numbers() + 2);
        let own = (kind.many)(isa, 0, 0, PANEL).bytes() + 4 * lanes;
        EVALUATORS as f64 * (plan.arena_bytes() as f64 + own as f64) + 2.0 * plan.table().bytes() as f64
    }

    pub fn set_weights(&mut self, params: &Params) {
        self.params.values_mut().copy_from_slice(params.values());
        self.packed.pack(params);
    }

    pub fn begin(&mut self, normalizer: Option<&Normalizer>, episodes: u32, seed: u32) {
        self.failed = None;
        let Self { params, played, .. } = self;
        played.params.values_mut().copy_from_slice(params.values());
        played.packed.pack(params);
        match (&mut played.normalizer, normalizer) {
            (Some(to), Some(from)) => to.clone_from(from),
            (to, from) => *to = from.cloned(),
        }
        (played.episodes, played.seed, played.first) = (episodes, seed, 0);
        (played.sum, played.min, played.max) = (0.0, f32::INFINITY, f32::NEG_INFINITY);
        self.start_episodes();
    }

    /// Returns the number of episodes that evaluator `i` plays in the current batch.
    fn lanes(&self, i: usize) -> usize {
        let before = self.played.first + (i * PANEL) as u32;
        (self.played.episodes.saturating_sub(before) as usize).min(PANEL)
    }

    /// Returns the environment number of lane 0 of evaluator `i`.
    fn first_env(&self, i: usize) -> u32 {
        FIRST_ENV | (self.played.first + (i * PANEL) as u32)
    }

    /// Starts the episodes of the current batch in all evaluators.
    fn start_episodes(&mut self) {
        for i in 0..EVALUATORS {
            let (count, first) = (self.lanes(i), self.first_env(i));
            self.evaluators[i].begin(self.played.seed, first, count);
        }
    }

    /// Runs one slice. Returns the result after the last slice, otherwise `None`. An error of an environment's rules ends the evaluation.
    pub fn advance(&mut self) -> Result<Option<Evaluation>, WorldFault> {
        let Self { isa, task, evaluators, played, turn, .. } = self;
        let Played { params, packed, normalizer, .. } = &*played;
        let with = Context { isa: *isa, task: *task, params, packed, normalizer: normalizer.as_ref() };
        par::each_mut(evaluators, |_, evaluator| evaluator.play(with, *turn, WORK / EVALUATORS as u64));
        if let Some((i, fault)) = self.evaluators.iter_mut().enumerate().find_map(|(i, evaluator)| Some((i, evaluator.fault.take()?))) {
            self.failed = self.evaluators[i].before(self.played.seed, self.first_env(i), &fault);
            self.played.episodes = 0;
            self.start_episodes();
            return Err(fault);
        }
        if self.evaluators.iter().any(|evaluator| evaluator.going > 0) {
            return Ok(None);
        }
        for i in 0..EVALUATORS {
            let count = self.lanes(i);
            let Played { sum, min, max, .. } = &mut self.played;
            for &total in &self.evaluators[i].episode_returns[..count] {
                (*sum, *min, *max) = (*sum + f64::from(total), min.min(total), max.max(total));
            }
        }
        self.played.first += (EVALUATORS * PANEL) as u32;
        let Played { episodes, first, sum, min, max, .. } = self.played;
        if first < episodes {
            self.start_episodes();
            return Ok(None);
        }
        if episodes == 0 {
            return Ok(Some(Evaluation::default()));
        }
        Ok(Some(Evaluation { mean: (sum / f64::from(episodes)) as f32, min, max }))
    }

    /// Computes policy and critic for states, as [`Ppo::predict`](super::Ppo::predict) does. The critic's values are multiplied by `unit`.
    pub fn predict(
        &mut self,
        (normalizer, unit): (Option<&Normalizer>, f32),
        observations: &[f32],
        policies: &mut [f32],
        values: &mut [f32],
    ) {
        let Self { isa, task, params, packed, evaluators, .. } = self;
        let with = Context { isa: *isa, task: *task, params, packed, normalizer };
        with.predict(&mut evaluators[0].executor, unit, observations, policies, values);
    }
}

/// Player of greedy episodes, one panel of episodes at a time.
struct Evaluator {
    world: Box<dyn Vector>,
    executor: Executor,
    actions: Vec<f32>,
    next_observations: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<u32>,
    done: [bool; PANEL],
    /// Number of lanes whose episode is in progress.
    going: usize,
    /// True if a step is in progress: its actions are chosen, but the environments have not completed it.
    acted: bool,
    episode_returns: [f32; PANEL],
    /// Error that an environment's rules raised; `None` if there was none. The error ends all episodes of the evaluator.
    fault: Option<WorldFault>,
}

impl Evaluator {
    fn new(plan: &Arc<Plan>, kind: &Kind, isa: Isa) -> Self {
        Self {
            world: (kind.many)(isa, 0, 0, PANEL),
            executor: Executor::new(plan),
            actions: vec![0.0; PANEL * kind.spec.actions.numbers()],
            next_observations: vec![0.0; PANEL * kind.spec.observation.len()],
            rewards: vec![0.0; PANEL],
            ended: vec![0; PANEL],
            done: [true; PANEL],
            going: 0,
            acted: false,
            episode_returns: [0.0; PANEL],
            fault: None,
        }
    }

    /// Starts one episode in each of the first `count` lanes. `first` is the environment number of lane 0.
    fn begin(&mut self, seed: u32, first: u32, count: usize) {
        (self.going, self.acted, self.fault) = (count, false, None);
        if count > 0 {
            self.world.reset(seed, first);
        }
        self.episode_returns = [0.0; PANEL];
        self.done = std::array::from_fn(|lane| lane >= count);
    }

    /// Returns the environment's state before the failed step; `None` if the start of an episode failed. `seed` and `first` are the
    /// arguments of [`Evaluator::begin`].
    fn before(&self, seed: u32, first: u32, fault: &WorldFault) -> Option<FailedState> {
        let mut state = vec![0.0; self.world.state_len()];
        let (steps, _) = self.world.environment(fault.env.wrapping_sub(first) as usize, &mut state);
        (steps + 1 == fault.step).then(|| FailedState { seed, fault: fault.clone(), state })
    }

    /// Plays `steps` steps. Plays fewer if `work` is used up, all episodes end or the rules report an error.
    fn play(&mut self, with: Context, steps: usize, mut work: u64) {
        for _ in 0..steps {
            // The counter `going` replaces a search for `false` in `done`. Compiled for WebAssembly's SIMD128 without threads, this search
            // did not terminate.
            if self.going == 0 || work == 0 {
                return;
            }
            if !self.acted {
                with.run_panels(&mut self.executor, self.world.observations());
                let masks = if with.task.mask > 0 { self.world.masks() } else { &[] };
                with.decide(self.executor.output("policy"), masks, &mut self.actions);
            }
            let Self { world, actions, next_observations, rewards, ended, .. } = self;
            self.acted = !world.step_part(&mut work, actions, next_observations, rewards, ended);
            if self.acted {
                return;
            }
            self.fault = self.world.fault();
            if self.fault.is_some() {
                self.going = 0;
                return;
            }
            for lane in 0..PANEL {
                if !self.done[lane] {
                    self.episode_returns[lane] += self.rewards[lane];
                    self.done[lane] = self.ended[lane] != 0;
                    self.going -= usize::from(self.done[lane]);
                }
            }
        }
    }
}

/// Networks and normaliser that compute actions and values.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub isa: Isa,
    pub task: Task,
    pub params: &'a Params,
    pub packed: &'a Packed,
    pub normalizer: Option<&'a Normalizer>,
}

impl Context<'_> {
    /// Normalises panels of observations and runs the networks on them.
    pub fn run_panels(self, executor: &mut Executor, observations: &[f32]) {
        Normalizer::apply(self.normalizer, self.isa, observations, executor.input_mut("observation"));
        executor.run(self.params, self.packed);
    }

    /// Computes policy and critic for states, as [`Ppo::predict`](super::Ppo::predict) does. `executor` processes one panel at a time. The
    /// critic's values are multiplied by `unit`.
    pub fn predict(self, executor: &mut Executor, unit: f32, observations: &[f32], policies: &mut [f32], values: &mut [f32]) {
        let Context { isa, task, params, .. } = self;
        let (features, width) = (task.observation, task.policy_len());
        for (block, states) in observations.chunks(PANEL * features).enumerate() {
            self.run(executor, states);
            let (policy, value) = (executor.output("policy"), executor.output("value"));
            let rows = states.len() / features;
            values[block * PANEL..][..rows].iter_mut().zip(value).for_each(|(to, x)| *to = x * unit);
            let policies = &mut policies[block * PANEL * width..][..rows * width];
            match task.head {
                // The platform's `exp` is sufficient, because the result is displayed and not used for learning.
                Head::Choices(count) => {
                    for (row, to) in policies.chunks_exact_mut(width).enumerate() {
                        let logit = |i: usize| policy[i * PANEL + row];
                        let top = (0..count).map(logit).fold(f32::NEG_INFINITY, f32::max);
                        to.iter_mut().enumerate().for_each(|(i, p)| *p = (logit(i) - top).exp());
                        let sum: f32 = to.iter().sum();
                        to.iter_mut().for_each(|p| *p /= sum);
                    }
                }
                Head::Gaussian { count, half, .. } => {
                    let mut means = [0.0; PANEL];
                    for (i, &log_spread) in log_spreads(params).iter().enumerate() {
                        self.decide(&policy[i * PANEL..], &[], &mut means);
                        let spread = poly::exp_1(isa, log_spread) * half;
                        for (to, mean) in policies.chunks_exact_mut(width).zip(means) {
                            (to[i], to[count + i]) = (mean, spread);
                        }
                    }
                }
            }
        }
    }

    /// Writes the greedy action for each observation to `actions`, `[n][numbers]`. A discrete action is written as its index.
    pub fn act(self, executor: &mut Executor, observations: &[f32], actions: &mut [f32]) {
        let (features, numbers) = (self.task.observation, self.task.head.numbers());
        let mut panel = [0.0; PANEL];
        for (states, actions) in observations.chunks(PANEL * features).zip(actions.chunks_mut(PANEL * numbers)) {
            self.run(executor, states);
            let policy = executor.output("policy");
            for i in 0..numbers {
                self.decide(&policy[i * PANEL..], &[], &mut panel);
                actions.iter_mut().skip(i).step_by(numbers).zip(panel).for_each(|(to, x)| *to = x);
            }
        }
    }

    /// Normalises at most `PANEL` observations, `[n][features]`, and runs the networks on them.
    fn run(self, executor: &mut Executor, states: &[f32]) {
        let (features, input) = (self.task.observation, executor.input_mut("observation"));
        ops::rows_to_panels(self.isa, states.len() / features, features, states, input);
        if let Some(normalizer) = self.normalizer {
            for (i, values) in input.chunks_exact_mut(PANEL).enumerate() {
                values.iter_mut().for_each(|x| *x = normalizer.normalize(i, *x));
            }
        }
        executor.run(self.params, self.packed);
    }

    /// Writes the greedy actions of a panel to `actions`, `[numbers][PANEL]`. If `actions` is shorter, writes only the first numbers of
    /// each action. If `masks` is empty, all choices are permitted.
    fn decide(self, policy: &[f32], masks: &[f32], actions: &mut [f32]) {
        match self.task.head {
            Head::Choices(choices) if !masks.is_empty() => {
                dispatch(self.isa, GreedyMasked { logits: policy, masks, choices, env_actions: actions });
            }
            Head::Choices(choices) => {
                dispatch(self.isa, GreedyActions { logits: policy, choices, env_actions: actions });
            }
            Head::Gaussian { middle, half, squash, .. } => {
                dispatch(self.isa, MeanActions { means: policy, middle, half, squash, env_actions: actions });
            }
        }
    }
}
