//! Settings and presets of deep Q-learning.

use super::curriculum::{CurriculumConfig, DEEPEST, Schedule};
use super::play::{Episodes, MOST_SLACK};
use super::replay::{MOST_STEPS, Replay};
use super::td::{self, Loss, Rewards, Targets};
use crate::cube::settings::check_work;
use crate::cube::{Cube, Evaluator, Greedy, Inputs, LearnerError, NetConfig, Scores, Steps};
use crate::settings::{Field, SHARE, SWITCH, Settings, between, count, linear, log, one_of, whole};
use crate::{choices, settings};
use graph::{Plan, PlanError};
use math::{Isa, Unary, ops};
use worlds::cube::{Actions, Metric};

/// Minimum number of rows of a shard. A smaller batch is a single shard.
const SHARD: usize = 128;
/// Maximum number of shards.
const MOST_SHARDS: usize = 16;

pub(super) const UNKNOWN: LearnerError = LearnerError::Unknown { instead: "a pretraining of 0" };
pub(super) const FIXED: LearnerError =
    LearnerError::Fixed { what: "cube, metric, network, loss, batch, replay, envs, window and pretraining" };

choices! {
    /// Schedule by which the share of random moves decays.
    pub enum Decay {
        /// Linear decay to the final share over `epsilon_moves` moves.
        Linear = "linear", "Linear";
        /// Exponential decay to the final share: the difference shrinks by a factor of e every `epsilon_moves` moves.
        Exponential = "exponential", "Exponential";
    }
}

choices! {
    /// Rule by which the target network is updated.
    pub enum Follow {
        /// Copies the trained network's weights at intervals of `target_every` updates.
        Hard = "hard", "Copies";
        /// At every update, moves the weights towards the trained network by a fixed share of the distance (Polyak averaging).
        Polyak = "polyak", "Polyak averaging";
    }
}

choices! {
    /// Labels for pretraining, derived from the table of distances.
    pub enum Labels {
        /// The first action of an optimal solution. The loss is the cross-entropy over the actions.
        Moves = "moves", "Optimal moves";
        /// The return of an action if all later moves are optimal.
        Distances = "distances", "Optimal returns";
    }
}

choices! {
    /// Network that the judge uses to evaluate states.
    pub enum Judging {
        Trained = "trained", "Trained network";
        /// With [`Follow::Polyak`], the weights of this network are an average of the trained network's weights.
        Target = "target", "Target network";
    }
}

fn net(hidden: &[usize], norm: bool) -> NetConfig {
    NetConfig { hidden: hidden.to_vec(), blocks: 0, norm, dueling: true, inputs: Inputs::Stickers }
}

const CURRICULUM: CurriculumConfig =
    CurriculumConfig { schedule: Schedule::Plain, first: 1, last: 14, threshold: 0.8, window: 200, fraction: 0.5 };

settings! {
    /// Settings of deep Q-learning. The defaults are those of [`Preset::Published`].
    pub struct DqnConfig {
        nest steps: Steps = Steps { lr: 1e-3, lr_steps: 1e9, max_grad_norm: 10.0, updates: 1000 };
        fixed batch: usize = 64, [count(1.0, 65_536.0), "Minibatch size", "transitions",
            "Transitions per update of the network."];
        nest net: NetConfig = net(&[128, 64], false);
        fixed metric: Metric = Metric::Quarter, [one_of::<Metric>(), "Metric", "",
            "Moves: quarter turns only, or half turns as well."];
        nest rewards: Rewards = Rewards { gamma: 0.99, step: -0.1, goal: 1.0 };
        live n_step: usize = 1, [whole(1.0, MOST_STEPS as f64), "n-step returns", "moves",
            "Moves whose rewards a target includes before the network's estimate of the state after them."];
        live bounded: bool = false, [SWITCH, "Bounded targets", "",
            "Limits the values of next states to the possible range: no state is worth more than one that is a move from solved."];
        fixed loss: Loss = Loss::Huber(1.0), [as "huber", linear(0.0, 100.0), "Huber loss δ", "",
            "Errors up to δ count by their square, larger ones linearly. At 0 all count by their square."];
        live double: bool = true, [SWITCH, "Double Q-learning", "",
            "The trained network selects the next action and the target network evaluates it, which reduces overestimation."];
        live follow: Follow = Follow::Hard, [one_of::<Follow>(), "Target network update", "",
            "Copies the trained network at intervals, or moves towards it by a share of the distance at each update."];
        live target_every: usize = 500, [count(1.0, 100_000.0), "Updates between copies", "updates",
            "Interval between two copies to the target network."];
        live tau: f32 = 0.005, [log(1e-5, 1.0), "Polyak τ", "",
            "With Polyak averaging: share of the distance to the trained network that each update covers."];
        live judging: Judging = Judging::Trained, [one_of::<Judging>(), "Judge network", "",
            "Network that solves cubes and is tested."];
        fixed replay: usize = 1 << 16, [count(16.0, 4_194_304.0), "Replay size", "transitions",
            "Latest transitions kept for training."];
        live warmup: usize = 1000, [count(1.0, 4_194_304.0), "Warm-up", "transitions",
            "Transitions to collect before training starts."];
        fixed prioritised: bool = false, [SWITCH, "Prioritised replay", "",
            "Draws transitions with larger errors more often."];
        live alpha: f32 = 0.6, [SHARE, "Priority exponent α", "",
            "At 0 all transitions are drawn equally often, at 1 in proportion to their errors."];
        live floor: f32 = 1e-3, [log(1e-6, 1.0), "Priority floor ε", "", "Added to each error, so that every transition can be drawn."];
        live beta: f32 = 0.4, [SHARE, "Importance exponent β", "",
            "Correction of the bias of prioritised sampling at the start; 1 corrects it fully."];
        live beta_steps: f32 = 100_000.0, [log(1.0, 1e9), "β reaches 1 after", "updates",
            "Updates until the bias correction is complete."];
        fixed envs: usize = 16, [count(1.0, 65_536.0), "Concurrent episodes", "episodes", "Cubes played at the same time."];
        live updates_per_move: usize = 4, [count(1.0, 10_000.0), "Updates per move", "updates",
            "Updates of the network between two moves of all episodes."];
        live slack: usize = 10, [whole(0.0, MOST_SLACK as f64), "Extra moves", "moves",
            "An episode ends without a solution if it has this many more moves than its scramble."];
        live epsilon: f32 = 1.0, [SHARE, "Initial exploration ε", "",
            "Share of random moves at the start."];
        live epsilon_end: f32 = 0.05, [SHARE, "Final exploration ε", "", "Share of random moves after the decay."];
        live epsilon_moves: f32 = 100_000.0, [log(1.0, 1e9), "Exploration decay length", "moves",
            "Moves over which the share of random moves decays."];
        live decay: Decay = Decay::Linear, [one_of::<Decay>(), "Exploration decay", "", "Linear or exponential."];
        live acting: Greedy = Greedy::Plain, [as "onward", SWITCH, "No undo in episodes", "",
            "Episodes never undo their last move."];
        nest curriculum: CurriculumConfig = CURRICULUM;
        live hindsight: f32 = 0.0, [SHARE, "Hindsight share", "",
            "Share of failed episodes that are also trained on as if their final state had been the goal."];
        /// Number of pretraining updates. Pretraining uses scrambles up to the curriculum's last depth.
        fixed pretraining: usize = 0, [whole(0.0, 1e7), "Pretraining", "updates",
            "Updates at the start that train on the table of distances instead of play. 0 disables pretraining."];
        fixed labels: Labels = Labels::Distances, [one_of::<Labels>(), "Pretraining labels", "",
            "First move of an optimal solution, or return of each action when all later moves are optimal."];
    }
}

/// Named sets of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Network and method after `docs/OPTIMIZATION_PLAN.md` of github.com/adamavixio/machine-learning, with the layers 144-128-64-6. That
    /// page lists dueling among later additions, but this preset uses dueling heads and double Q-learning. All other settings are choices
    /// of this project.
    Published,
    /// Network and method after the README of the same repository, with the layers 144-256-128-64. The README lists these components:
    /// dueling, 3-step returns, layer norm, prioritised replay, Polyak averaging. All other settings are choices of this project.
    Later,
    /// Best settings found so far.
    Tuned,
}

impl Preset {
    pub const ALL: [Preset; 3] = [Preset::Published, Preset::Later, Preset::Tuned];
}

impl DqnConfig {
    pub fn preset(preset: Preset) -> DqnConfig {
        let published = DqnConfig::default();
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
                steps: Steps { lr: 2e-3, lr_steps: 2000.0, updates: 64, ..published.steps },
                replay: 1 << 18,
                warmup: 10_000,
                prioritised: true,
                // With this small exponent, importance weights hardly correct the sampling bias. Distant states have larger errors, and
                // therefore more weight in training.
                beta: 0.2,
                beta_steps: 1e9,
                envs: 256,
                updates_per_move: 1,
                slack: 5,
                epsilon: 0.3,
                epsilon_end: 0.15,
                epsilon_moves: 1e6,
                acting: Greedy::Onward,
                curriculum: CurriculumConfig { schedule: Schedule::Fractional, last: 9, threshold: 0.6, ..published.curriculum },
                ..published
            },
        }
    }

    /// Returns an upper estimate of the memory of a run with these settings, in bytes; `u64::MAX` for invalid settings.
    pub fn bytes<P: Cube>(&self) -> u64 {
        let Ok(actions) = self.check::<P>() else { return u64::MAX };
        let isa = Isa::best();
        let plans = [self.plan_learning::<P>(actions, isa), self.plan_values::<P>(actions, isa)];
        let [Ok(learning), Ok(values)] = plans else { return u64::MAX };
        let active = self.net.inputs.active::<P>();
        // The 13 arrays include the weights of two networks, two moments, four packed copies, and the weights of the label plan. The last
        // term is the arena of the label plan, which is as large as the arenas of the training plan in all shards.
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

    /// Checks the settings; returns the number of actions.
    pub fn check<P: Cube>(&self) -> Result<usize, LearnerError> {
        let DqnConfig { net, rewards, curriculum, .. } = self;
        net.check(Scores::ActionValues)?;
        self.in_range()?;
        if let Loss::Huber(_) = self.loss {
            linear(1e-4, 100.0).kind.check("huber", &self.loss.get())?;
        }
        between("warmup", self.warmup, 1, self.replay)?;
        between("last_depth", curriculum.last, curriculum.first, DEEPEST)?;
        if !rewards.prefers_few() {
            return Err(LearnerError::Pointless);
        }
        if self.pretraining > 0 && !P::EXACT {
            return Err(UNKNOWN);
        }
        let actions = Actions::of::<P>(self.metric).count();
        // One slice runs a whole step: both networks forward and the trained network backward.
        let products = net.products::<P>(actions);
        check_work("batch", self.batch, products * 5 / 2)?;
        check_work("envs", self.envs, products)?;
        Ok(actions)
    }

    pub(super) fn plan_learning<P: Cube>(&self, actions: usize, isa: Isa) -> Result<Plan, PlanError> {
        let rows = [self.batch / self.shards(), self.batch];
        td::plan_learning::<P>(&self.net, actions, self.loss, self.prioritised, rows, isa)
    }

    pub(super) fn plan_values<P: Cube>(&self, actions: usize, isa: Isa) -> Result<Plan, PlanError> {
        td::plan_values::<P>(&self.net, actions, self.batch / self.shards(), isa)
    }

    /// Returns the number of equal shards of the batch. Each shard is processed by one thread.
    pub(super) fn shards(&self) -> usize {
        let fits = |&count: &usize| self.batch.is_multiple_of(count) && self.batch / count >= SHARD;
        (1..=MOST_SHARDS).rev().find(fits).unwrap_or(1)
    }

    pub(super) fn targets(&self) -> Targets {
        Targets { rewards: self.rewards, double: self.double, bounded: self.bounded }
    }

    /// Returns the share of random moves after `moves` moves.
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

    /// Returns the exponent of the importance weights after `updates` optimizer steps.
    pub(super) fn beta_after(&self, updates: u64) -> f32 {
        self.beta + (1.0 - self.beta) * (updates as f32 / self.beta_steps).min(1.0)
    }
}
