//! What was learned, played greedily in fresh episodes and asked about states. It leaves no trace in the training.

use super::Ppo;
use super::nets::{Head, Task, spread};
use super::normalizer::Normalizer;
use super::sampling::{MeanActions, greedy};
use graph::{Executor, Packed, Params, Plan};
use math::{Isa, PANEL, dispatch, par};
use std::sync::Arc;
use worlds::{Kind, Vector};

/// Evaluators that play at once, each a panel of episodes.
const EVALUATORS: usize = 4;
/// The first environment of evaluations, which no training reaches.
const FIRST_ENV: u32 = 1 << 31;

/// Returns of fresh episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    pub mean: f32,
    pub min: f32,
    pub max: f32,
}

impl Ppo {
    /// Plays fresh episodes greedily. At a boundary that evaluates the newest weights; between two, those that the rollout acts with.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        self.evaluators.evaluate(self.normalizer.as_ref(), episodes, seed)
    }

    /// Numbers that [`Ppo::predict`] gives of the policy in a state.
    pub fn policy_len(&self) -> usize {
        match self.task.head {
            Head::Choices(count) => count,
            Head::Gaussian { .. } => 2,
        }
    }

    /// What policy and critic give for some states `[n][observation]`: for each the probability of every choice, or the action that
    /// its mean stands for and its spread in the same unit, `[n][policy_len]`; and the discounted return that the critic expects, `[n]`.
    pub fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        let unit = 1.0 / self.reward_scale();
        let width = self.policy_len();
        let with = (self.normalizer.as_ref(), unit, width);
        self.evaluators.predict(with, observations, policy, values);
    }

    /// The action that an evaluation takes by what [`Ppo::predict`] gave of the policy.
    pub fn greedy(&self, policy: &[f32]) -> f32 {
        match self.task.head {
            Head::Choices(count) => greedy(|i| policy[i], count) as f32,
            Head::Gaussian { .. } => policy[0],
        }
    }
}

pub(super) struct Evaluators {
    isa: Isa,
    task: Task,
    /// What the rollout acts with, until the iteration ends.
    params: Params,
    packed: Packed,
    evaluators: Vec<Evaluator>,
}

impl Evaluators {
    /// `plan`: of a panel's policy and critic.
    pub fn new(plan: &Arc<Plan>, kind: &Kind, task: Task, params: &Params, isa: Isa) -> Self {
        Self {
            isa,
            task,
            params: params.clone(),
            packed: Packed::new(plan, params),
            evaluators: (0..EVALUATORS).map(|_| Evaluator::new(plan, kind, isa)).collect(),
        }
    }

    /// Bytes of environments and of a policy for them.
    pub fn bytes(plan: &Plan, kind: &Kind, isa: Isa) -> f64 {
        let lanes = PANEL * (kind.spec.observation.len() + 3);
        let each = (kind.many)(isa, 0, 0, PANEL).bytes() + plan.arena_bytes() + 4 * lanes;
        (EVALUATORS * each) as f64
    }

    pub fn set_weights(&mut self, params: &Params) {
        self.params.values_mut().copy_from_slice(params.values());
        self.packed.pack(params);
    }

    fn evaluate(&mut self, normalizer: Option<&Normalizer>, episodes: u32, seed: u32) -> Evaluation {
        let Self { isa, task, params, packed, evaluators } = self;
        let with = Context { isa: *isa, task: *task, params, packed, normalizer };
        let (mut sum, mut min, mut max) = (0.0, f32::INFINITY, f32::NEG_INFINITY);
        for first in (0..episodes).step_by(EVALUATORS * PANEL) {
            let left = |i: usize| ((episodes - first).saturating_sub((i * PANEL) as u32) as usize).min(PANEL);
            par::each_mut(evaluators, |i, evaluator| {
                if left(i) > 0 {
                    evaluator.play(with, seed, FIRST_ENV | (first + (i * PANEL) as u32), left(i));
                }
            });
            for (i, evaluator) in evaluators.iter().enumerate() {
                for &total in evaluator.episode_returns.iter().take(left(i)) {
                    (sum, min, max) = (sum + f64::from(total), min.min(total), max.max(total));
                }
            }
        }
        if episodes == 0 {
            return Evaluation::default();
        }
        Evaluation { mean: (sum / f64::from(episodes)) as f32, min, max }
    }

    /// See [`Ppo::predict`]; `unit` is what a value is multiplied by, `width` the numbers of a policy.
    fn predict(
        &mut self,
        (normalizer, unit, width): (Option<&Normalizer>, f32, usize),
        observations: &[f32],
        policies: &mut [f32],
        values: &mut [f32],
    ) {
        let features = self.task.observation;
        let (_, spread) = spread(&self.params, self.isa);
        let executor = &mut self.evaluators[0].executor;
        let mut panel = [0.0; PANEL];
        for (block, states) in observations.chunks(PANEL * features).enumerate() {
            let input = executor.input_mut("observation");
            for (row, state) in states.chunks_exact(features).enumerate() {
                for (i, &x) in state.iter().enumerate() {
                    input[i * PANEL + row] = normalizer.map_or(x, |normalizer| normalizer.normalize(i, x));
                }
            }
            executor.run(&self.params, &self.packed);
            let (policy, value) = (executor.output("policy"), executor.output("value"));
            if let Head::Gaussian { middle, half, squash } = self.task.head {
                dispatch(
                    self.isa,
                    MeanActions { means: policy, middle, half, squash, env_actions: &mut panel },
                );
            }
            for row in 0..states.len() / features {
                let at = block * PANEL + row;
                values[at] = value[row] * unit;
                let to = &mut policies[at * width..][..width];
                match self.task.head {
                    // Shown, never learned from: the platform's own exp will do.
                    Head::Choices(count) => {
                        let logit = |i: usize| policy[i * PANEL + row];
                        let top = (0..count).map(logit).fold(f32::NEG_INFINITY, f32::max);
                        to.iter_mut().enumerate().for_each(|(i, p)| *p = (logit(i) - top).exp());
                        let sum: f32 = to.iter().sum();
                        to.iter_mut().for_each(|p| *p /= sum);
                    }
                    Head::Gaussian { half, .. } => to.copy_from_slice(&[panel[row], spread * half]),
                }
            }
        }
    }
}

/// Plays fresh episodes greedily, a panel at a time.
struct Evaluator {
    world: Box<dyn Vector>,
    executor: Executor,
    actions: Vec<f32>,
    next_observations: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<u32>,
    done: [bool; PANEL],
    episode_returns: [f32; PANEL],
}

impl Evaluator {
    fn new(plan: &Arc<Plan>, kind: &Kind, isa: Isa) -> Self {
        Self {
            world: (kind.many)(isa, 0, 0, PANEL),
            executor: Executor::new(plan),
            actions: vec![0.0; PANEL],
            next_observations: vec![0.0; PANEL * kind.spec.observation.len()],
            rewards: vec![0.0; PANEL],
            ended: vec![0; PANEL],
            done: [false; PANEL],
            episode_returns: [0.0; PANEL],
        }
    }

    /// Plays one episode in each of the first `count` lanes.
    fn play(&mut self, with: Context, seed: u32, first: u32, count: usize) {
        self.world.reset(seed, first);
        self.episode_returns = [0.0; PANEL];
        self.done = std::array::from_fn(|lane| lane >= count);
        // Counted: as compiled for SIMD128 without threads, a search for a false in `done` never ended.
        let mut going = count.min(PANEL);
        while going > 0 {
            let input = self.executor.input_mut("observation");
            Normalizer::apply(with.normalizer, with.isa, self.world.observations(), input);
            self.executor.run(with.params, with.packed);
            let policy = self.executor.output("policy");
            match with.task.head {
                Head::Choices(choices) => {
                    for (lane, action) in self.actions.iter_mut().enumerate() {
                        *action = greedy(|i| policy[i * PANEL + lane], choices) as f32;
                    }
                }
                Head::Gaussian { middle, half, squash } => {
                    dispatch(
                        with.isa,
                        MeanActions { means: policy, middle, half, squash, env_actions: &mut self.actions },
                    );
                }
            }
            self.world.step(&self.actions, &mut self.next_observations, &mut self.rewards, &mut self.ended);
            for lane in 0..PANEL {
                if !self.done[lane] {
                    self.episode_returns[lane] += self.rewards[lane];
                    self.done[lane] = self.ended[lane] != 0;
                    going -= usize::from(self.done[lane]);
                }
            }
        }
    }
}

/// What all evaluators share.
#[derive(Clone, Copy)]
struct Context<'a> {
    isa: Isa,
    task: Task,
    params: &'a Params,
    packed: &'a Packed,
    normalizer: Option<&'a Normalizer>,
}
