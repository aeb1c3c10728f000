//! Settings of deep Q-learning, and those that are known by name.

use super::curriculum::{CurriculumConfig, DEEPEST, Schedule, WIDEST};
use super::play::{Episodes, MOST_SLACK};
use super::replay::{MOST_STEPS, Replay};
use super::td::{self, Loss, Rewards, Targets};
use crate::cube::settings::{brief, real, whole, within};
use crate::cube::{Cube, Evaluator, Greedy, Inputs, LearnerError, NetConfig, Scores};
use graph::{Adam, Plan, PlanError};
use math::{Isa, Unary, ops};
use worlds::cube::{Actions, Metric};

/// Rows of a shard at least, and shards at most.
const SHARD: usize = 128;
const MOST_SHARDS: usize = 16;

pub(super) const UNKNOWN: LearnerError = LearnerError::Unknown { instead: "a pretraining of 0" };
pub(super) const FIXED: LearnerError =
    LearnerError::Fixed { what: "cube, metric, network, loss, batch, replay, envs, window and pretraining" };

/// How the share of random actions falls with the moves made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decay {
    /// To the end's in so many moves.
    Linear,
    /// Towards the end's; a third (1/e) of the way is left after so many moves.
    Exponential,
}

impl Decay {
    pub const ALL: [Decay; 2] = [Decay::Linear, Decay::Exponential];

    pub const fn id(self) -> &'static str {
        match self {
            Decay::Linear => "linear",
            Decay::Exponential => "exponential",
        }
    }
}

/// How the target network follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// A copy every so many steps.
    Hard,
    /// By a share of the way at every step (Polyak's mean).
    Polyak,
}

impl Follow {
    pub const ALL: [Follow; 2] = [Follow::Hard, Follow::Polyak];

    pub const fn id(self) -> &'static str {
        match self {
            Follow::Hard => "hard",
            Follow::Polyak => "polyak",
        }
    }
}

/// What a pretraining learns from the table of distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// An action that a shortest solution may begin with, as the one to prefer.
    Moves,
    /// What an action returns if all moves after it are the best.
    Distances,
}

impl Labels {
    pub const ALL: [Labels; 2] = [Labels::Moves, Labels::Distances];

    pub const fn id(self) -> &'static str {
        match self {
            Labels::Moves => "moves",
            Labels::Distances => "distances",
        }
    }
}

/// Which network judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judging {
    Trained,
    /// The target network; where it follows by a share of the way its weights are a mean.
    Target,
}

impl Judging {
    pub const ALL: [Judging; 2] = [Judging::Trained, Judging::Target];

    pub const fn id(self) -> &'static str {
        match self {
            Judging::Trained => "trained",
            Judging::Target => "target",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DqnConfig {
    pub metric: Metric,
    pub net: NetConfig,
    pub rewards: Rewards,
    /// The trained network chooses the action that the target network values.
    pub double: bool,
    /// Steps of a return, 1 to 5.
    pub n_step: usize,
    /// Values of next states are held to what can be.
    pub bounded: bool,
    pub loss: Loss,
    pub follow: Follow,
    /// Steps between copies.
    pub target_every: usize,
    /// Share of the way at every step.
    pub tau: f32,
    pub judging: Judging,
    /// Transitions of one step of the optimiser.
    pub batch: usize,
    /// Steps of the optimiser in an iteration.
    pub updates: usize,
    /// Adam's rate at the beginning.
    pub lr: f32,
    /// Steps of the optimiser after which the rate is down to 0.7 of that; it falls with the root of their number.
    pub lr_steps: f32,
    pub max_grad_norm: f32,
    /// Transitions that are kept, and how many there must be before any is learned from.
    pub replay: usize,
    pub warmup: usize,
    pub prioritised: bool,
    /// Power of an error that is its priority, and what is added to an error.
    pub alpha: f32,
    pub floor: f32,
    /// Power of the weights that correct what priorities prefer, at the beginning; 1 after so many steps.
    pub beta: f32,
    pub beta_steps: f32,
    /// Episodes at once, and steps of the optimiser for each move of all of them.
    pub envs: usize,
    pub updates_per_move: usize,
    /// Moves of an episode beyond the depth of its scramble.
    pub slack: usize,
    /// Share of random actions at the beginning, at the end, and the moves between.
    pub epsilon: f32,
    pub epsilon_end: f32,
    pub epsilon_moves: f32,
    pub decay: Decay,
    /// Whether episodes may take their last move back.
    pub acting: Greedy,
    pub curriculum: CurriculumConfig,
    /// Share of failed episodes that are learned from as ways to where they ended.
    pub hindsight: f32,
    /// First steps of the optimiser, which learn from labels on scrambles up to the curriculum's last depth.
    pub pretraining: usize,
    pub labels: Labels,
}

/// Settings that are known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The layers 144-128-64-6 in `docs/OPTIMIZATION_PLAN.md` of github.com/adamavixio/machine-learning. That page lists dueling among
    /// later additions; here the network is dueling and double, and all other settings are ours.
    Published,
    /// The layers 144-256-128-64 in the README of the same repository, with parts that it lists: dueling, 3-step returns, layer norm,
    /// prioritised replay, Polyak's mean. All other settings are ours.
    Later,
    /// What does best here.
    Tuned,
}

impl Preset {
    pub const ALL: [Preset; 3] = [Preset::Published, Preset::Later, Preset::Tuned];

    pub const fn id(self) -> &'static str {
        match self {
            Preset::Published => "published",
            Preset::Later => "later",
            Preset::Tuned => "tuned",
        }
    }
}

impl DqnConfig {
    pub fn preset(preset: Preset) -> DqnConfig {
        let net = |hidden: &[usize], norm| NetConfig {
            inputs: Inputs::Stickers,
            hidden: hidden.to_vec(),
            blocks: 0,
            norm,
            dueling: true,
        };
        let published = DqnConfig {
            metric: Metric::Quarter,
            net: net(&[128, 64], false),
            rewards: Rewards { gamma: 0.99, step: -0.1, goal: 1.0 },
            double: true,
            n_step: 1,
            bounded: false,
            loss: Loss::Huber(1.0),
            follow: Follow::Hard,
            target_every: 500,
            tau: 0.005,
            judging: Judging::Trained,
            batch: 64,
            updates: 1000,
            lr: 1e-3,
            lr_steps: 1e9,
            max_grad_norm: 10.0,
            replay: 1 << 16,
            warmup: 1000,
            prioritised: false,
            alpha: 0.6,
            floor: 1e-3,
            beta: 0.4,
            beta_steps: 100_000.0,
            envs: 16,
            updates_per_move: 4,
            slack: 10,
            epsilon: 1.0,
            epsilon_end: 0.05,
            epsilon_moves: 100_000.0,
            decay: Decay::Linear,
            acting: Greedy::Plain,
            curriculum: CurriculumConfig {
                schedule: Schedule::Plain,
                first: 1,
                last: 14,
                threshold: 0.8,
                window: 200,
                fraction: 0.5,
            },
            hindsight: 0.0,
            pretraining: 0,
            labels: Labels::Distances,
        };
        match preset {
            Preset::Published => published,
            Preset::Later => DqnConfig {
                net: net(&[256, 128, 64], true),
                n_step: 3,
                follow: Follow::Polyak,
                prioritised: true,
                curriculum: CurriculumConfig { schedule: Schedule::Fractional, ..published.curriculum },
                ..published
            },
            Preset::Tuned => DqnConfig {
                net: NetConfig { inputs: Inputs::Folded, ..net(&[512, 128], false) },
                rewards: Rewards { gamma: 1.0, step: -0.3, goal: 0.0 },
                double: false,
                bounded: true,
                follow: Follow::Polyak,
                judging: Judging::Target,
                batch: 512,
                updates: 64,
                lr: 2e-3,
                lr_steps: 2000.0,
                replay: 1 << 18,
                warmup: 10_000,
                prioritised: true,
                // Left as it is: what is far is seen more, and errs more.
                beta: 0.2,
                beta_steps: 1e9,
                envs: 256,
                updates_per_move: 1,
                slack: 5,
                epsilon: 0.3,
                epsilon_end: 0.15,
                epsilon_moves: 1e6,
                acting: Greedy::Onward,
                curriculum: CurriculumConfig {
                    schedule: Schedule::Fractional,
                    last: 9,
                    threshold: 0.6,
                    ..published.curriculum
                },
                ..published
            },
        }
    }

    /// Bytes that a run with these settings takes, about, and rather more than less. Settings that cannot be used take more than
    /// there is.
    pub fn bytes<P: Cube>(&self) -> u64 {
        let Ok(actions) = self.check::<P>() else { return u64::MAX };
        let isa = Isa::best();
        let plans = [self.plan_learning::<P>(actions, isa), self.plan_values::<P>(actions, isa)];
        let [Ok(learning), Ok(values)] = plans else { return u64::MAX };
        let active = self.net.inputs.active::<P>();
        // Two networks, two moments; packed four times; the optional plan of labels is like the first one.
        let (weights, shards) = (learning.table().bytes(), self.shards() as u64);
        let shard = learning.arena_bytes() + values.arena_bytes() + weights;
        let networks = shards * shard + weights * 13 + learning.arena_bytes() * shards;
        let sample = 2 * active * size_of::<u16>() + 3 * size_of::<P>() + 64;
        networks
            + self.batch as u64 * sample as u64
            + 2 * Evaluator::<P>::bytes(&self.net)
            + Replay::<P>::bytes(self.replay, self.prioritised)
            + Episodes::<P>::bytes(self.envs)
    }

    /// How many actions there are.
    pub fn check<P: Cube>(&self) -> Result<usize, LearnerError> {
        let DqnConfig { net, rewards, curriculum, .. } = self;
        let delta = if let Loss::Huber(delta) = self.loss { delta } else { 1.0 };
        net.check(Scores::ActionValues)?;
        within([
            real("gamma", rewards.gamma, 0.1, 1.0),
            real("step", rewards.step, -100.0, 0.0),
            real("goal", rewards.goal, 0.0, 100.0),
            whole("n_step", self.n_step, 1, MOST_STEPS),
            real("huber", delta, 1e-4, 1e4),
            whole("target_every", self.target_every, 1, 1_000_000),
            real("tau", self.tau, 1e-6, 1.0),
            whole("batch", self.batch, 1, 65_536),
            whole("updates", self.updates, 1, 100_000),
            real("lr", self.lr, 0.0, 1.0),
            real("lr_steps", self.lr_steps, 1.0, 1e9),
            real("max_grad_norm", self.max_grad_norm, 0.0, 1e6),
            whole("replay", self.replay, 16, 1 << 24),
            whole("warmup", self.warmup, 1, self.replay),
            real("alpha", self.alpha, 0.0, 1.0),
            real("floor", self.floor, 1e-6, 1.0),
            real("beta", self.beta, 0.0, 1.0),
            real("beta_steps", self.beta_steps, 1.0, 1e9),
            whole("envs", self.envs, 1, 65_536),
            whole("updates_per_move", self.updates_per_move, 1, 10_000),
            whole("slack", self.slack, 0, MOST_SLACK),
            real("epsilon", self.epsilon, 0.0, 1.0),
            real("epsilon_end", self.epsilon_end, 0.0, 1.0),
            real("epsilon_moves", self.epsilon_moves, 1.0, 1e12),
            whole("first depth", curriculum.first, 1, DEEPEST),
            whole("last depth", curriculum.last, curriculum.first, DEEPEST),
            real("threshold", curriculum.threshold, 0.0, 1.0),
            whole("window", curriculum.window, 1, WIDEST),
            real("fraction", curriculum.fraction, 0.0, 1.0),
            real("hindsight", self.hindsight, 0.0, 1.0),
            whole("pretraining", self.pretraining, 0, 1_000_000_000),
        ])?;
        if !rewards.prefers_few() {
            return Err(LearnerError::Pointless);
        }
        if self.pretraining > 0 && !P::EXACT {
            return Err(UNKNOWN);
        }
        let actions = Actions::of::<P>(self.metric).count();
        // Both networks' values, and forward and backward; a step is computed in one piece.
        let products = net.products::<P>(actions);
        brief("batch", self.batch, products * 5 / 2)?;
        brief("envs", self.envs, products)?;
        Ok(actions)
    }

    /// Whether a learner with these settings can go on with those.
    pub fn can_become(&self, other: &DqnConfig) -> bool {
        fn fixed(of: &DqnConfig) -> impl PartialEq {
            let DqnConfig {
                metric, net, loss, batch, replay, prioritised, envs, pretraining, labels, ..
            } = of;
            let (net, window) = (net.clone(), of.curriculum.window);
            (*metric, net, *loss, *batch, *replay, *prioritised, *envs, window, *pretraining, *labels)
        }
        fixed(self) == fixed(other)
    }

    pub(super) fn plan_learning<P: Cube>(&self, actions: usize, isa: Isa) -> Result<Plan, PlanError> {
        let rows = [self.batch / self.shards(), self.batch];
        td::plan_learning::<P>(&self.net, actions, self.loss, self.prioritised, rows, isa)
    }

    pub(super) fn plan_values<P: Cube>(&self, actions: usize, isa: Isa) -> Result<Plan, PlanError> {
        td::plan_values::<P>(&self.net, actions, self.batch / self.shards(), isa)
    }

    /// Equal parts of a batch, each for one thread.
    pub(super) fn shards(&self) -> usize {
        let fits = |&count: &usize| self.batch.is_multiple_of(count) && self.batch / count >= SHARD;
        (1..=MOST_SHARDS).rev().find(fits).unwrap_or(1)
    }

    pub(super) fn targets(&self) -> Targets {
        Targets { rewards: self.rewards, double: self.double, bounded: self.bounded }
    }

    pub(super) fn adam(&self, steps: u64) -> Adam {
        let worn = 1.0 + steps as f32 / self.lr_steps;
        Adam { lr: self.lr / worn.sqrt(), max_grad_norm: self.max_grad_norm, ..Adam::default() }
    }

    /// Share of random actions after so many moves.
    pub fn epsilon_after(&self, isa: Isa, moves: u64) -> f32 {
        let passed = moves as f32 / self.epsilon_moves;
        let left = match self.decay {
            Decay::Linear => (1.0 - passed).max(0.0),
            Decay::Exponential => {
                let mut left = [-passed];
                ops::unary_in_place(isa, Unary::Exp, &mut left);
                left[0]
            }
        };
        self.epsilon_end + (self.epsilon - self.epsilon_end) * left
    }

    /// Power of the weights after so many steps.
    pub(super) fn beta_after(&self, updates: u64) -> f32 {
        self.beta + (1.0 - self.beta) * (updates as f32 / self.beta_steps).min(1.0)
    }
}
