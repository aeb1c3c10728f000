//! Settings of deep Q-learning, and those that are known by name.

use super::curriculum::{CurriculumConfig, DEEPEST, Schedule};
use super::play::{Episodes, MOST_SLACK};
use super::replay::{MOST_STEPS, Replay};
use super::td::{self, Loss, Rewards, Targets};
use crate::cube::settings::brief;
use crate::cube::{Cube, Evaluator, Greedy, Inputs, LearnerError, NetConfig, Scores, Steps};
use crate::settings::{Field, SHARE, SWITCH, Settings, between, count, linear, log, one_of, whole};
use crate::{choices, settings};
use graph::{Plan, PlanError};
use math::{Isa, Unary, ops};
use worlds::cube::{Actions, Metric};

/// Rows of a shard at least, and shards at most.
const SHARD: usize = 128;
const MOST_SHARDS: usize = 16;

pub(super) const UNKNOWN: LearnerError = LearnerError::Unknown { instead: "a pretraining of 0" };
pub(super) const FIXED: LearnerError =
    LearnerError::Fixed { what: "cube, metric, network, loss, batch, replay, envs, window and pretraining" };

choices! {
    /// How the share of random actions falls with the moves made.
    pub enum Decay {
        /// To the end's in so many moves.
        Linear = "linear", "Linear";
        /// Towards the end's; a third (1/e) of the way is left after so many moves.
        Exponential = "exponential", "Exponential";
    }
}

choices! {
    /// How the target network follows.
    pub enum Follow {
        /// A copy every so many steps.
        Hard = "hard", "Copies";
        /// By a share of the way at every step (Polyak's mean).
        Polyak = "polyak", "Polyak's mean";
    }
}

choices! {
    /// What a pretraining learns from the table of distances.
    pub enum Labels {
        /// An action that a shortest solution may begin with, as the one to prefer.
        Moves = "moves", "Optimal moves";
        /// What an action returns if all moves after it are the best.
        Distances = "distances", "Optimal returns";
    }
}

choices! {
    /// Which network judges.
    pub enum Judging {
        Trained = "trained", "The trained network";
        /// Where it follows by a share of the way its weights are a mean.
        Target = "target", "The target network";
    }
}

fn net(hidden: &[usize], norm: bool) -> NetConfig {
    NetConfig { hidden: hidden.to_vec(), blocks: 0, norm, dueling: true, inputs: Inputs::Stickers }
}

const CURRICULUM: CurriculumConfig =
    CurriculumConfig { schedule: Schedule::Plain, first: 1, last: 14, threshold: 0.8, window: 200, fraction: 0.5 };

settings! {
    /// The defaults are those of [`Preset::Published`].
    pub struct DqnConfig {
        nest steps: Steps = Steps { lr: 1e-3, lr_steps: 1e9, max_grad_norm: 10.0, updates: 1000 };
        fixed batch: usize = 64, [count(1.0, 65_536.0), "Minibatch: transitions an update", "transitions",
            "How many transitions each update of the network is a mean over."];
        nest net: NetConfig = net(&[128, 64], false);
        fixed metric: Metric = Metric::Quarter, [one_of::<Metric>(), "Metric: what counts as a move", "",
            "Quarter turns alone, or half turns as one move as well."];
        nest rewards: Rewards = Rewards { gamma: 0.99, step: -0.1, goal: 1.0 };
        live n_step: usize = 1, [whole(1.0, MOST_STEPS as f64), "n-step returns: moves looked ahead", "moves",
            "How many moves' rewards a target has before what the network thinks of the state that they led to."];
        live bounded: bool = false, [SWITCH, "Bounded targets", "",
            "Values of next states are held to what can be: no state is worth more than one a move from solved."];
        fixed loss: Loss = Loss::Huber(1.0), [as "huber", linear(0.0, 100.0), "Huber loss δ", "",
            "Errors up to this count by their square, greater ones by their length. At 0 all count by their square."];
        live double: bool = true, [SWITCH, "Double Q-learning", "",
            "The trained network chooses the next action and the target network values it, so that luck is not mistaken for worth."];
        live follow: Follow = Follow::Hard, [one_of::<Follow>(), "Target network: how it follows", "",
            "It becomes a copy of the trained network now and then, or follows it by a share of the way at each update."];
        live target_every: usize = 500, [count(1.0, 100_000.0), "Updates between copies", "updates",
            "Where the target network follows by copies: how many updates lie between two."];
        live tau: f32 = 0.005, [log(1e-5, 1.0), "Polyak τ: share of the way", "",
            "Where the target network follows by Polyak's mean: how much of the way it goes at each update."];
        live judging: Judging = Judging::Trained, [one_of::<Judging>(), "Judge: whose opinion counts", "",
            "Which of the two networks solves cubes, and is tested."];
        fixed replay: usize = 1 << 16, [count(16.0, 4_194_304.0), "Replay: transitions kept", "transitions",
            "How many of the newest transitions are kept to learn from."];
        live warmup: usize = 1000, [count(1.0, 4_194_304.0), "Warm-up: transitions before learning", "transitions",
            "How many transitions there must be before any is learned from."];
        fixed prioritised: bool = false, [SWITCH, "Prioritised replay", "",
            "Transitions that the network was more wrong about are drawn more often."];
        live alpha: f32 = 0.6, [SHARE, "Priority exponent α", "",
            "At 0 all transitions are drawn alike, at 1 in proportion to their errors."];
        live floor: f32 = 1e-3, [log(1e-6, 1.0), "Priority floor ε", "", "Added to each error, so that no transition is never drawn."];
        live beta: f32 = 0.4, [SHARE, "Importance exponent β", "",
            "How much a transition that is drawn often counts less for it, at the beginning; at 1 exactly so much."];
        live beta_steps: f32 = 100_000.0, [log(1.0, 1e9), "β reaches 1 after", "updates",
            "After so many updates what is drawn often counts exactly so much less."];
        fixed envs: usize = 16, [count(1.0, 65_536.0), "Episodes at once", "episodes", "How many cubes are played at the same time."];
        live updates_per_move: usize = 4, [count(1.0, 10_000.0), "Updates a move", "updates",
            "Updates of the network between two moves of all episodes."];
        live slack: usize = 10, [whole(0.0, MOST_SLACK as f64), "Moves beyond the scramble's", "moves",
            "An episode ends unsolved once it has so many moves more than its scramble."];
        live epsilon: f32 = 1.0, [SHARE, "Exploration ε: random moves at first", "",
            "Share of moves that are drawn at random in the beginning."];
        live epsilon_end: f32 = 0.05, [SHARE, "Exploration ε at the end", "", "Share of moves that are drawn at random from then on."];
        live epsilon_moves: f32 = 100_000.0, [log(1.0, 1e9), "Exploration falls over", "moves",
            "How many moves the share of random ones takes to fall."];
        live decay: Decay = Decay::Linear, [one_of::<Decay>(), "Exploration's fall", "", "Evenly, or by the same factor all the time."];
        live acting: Greedy = Greedy::Plain, [as "onward", SWITCH, "Episodes go onward", "",
            "Whether episodes never take their last move back."];
        nest curriculum: CurriculumConfig = CURRICULUM;
        live hindsight: f32 = 0.0, [SHARE, "Hindsight: failed episodes relabelled", "",
            "Share of failed episodes that are learned from as if where they ended had been the goal."];
        /// On scrambles up to the curriculum's last depth.
        fixed pretraining: usize = 0, [whole(0.0, 1e7), "Pretraining from exact labels", "updates",
            "First updates, which learn from the table of distances and not from play. 0 does without."];
        fixed labels: Labels = Labels::Distances, [one_of::<Labels>(), "Labels of the pretraining", "",
            "Which move an optimal solution begins with, or what each action returns if all moves after it are optimal."];
    }
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
                curriculum: CurriculumConfig { schedule: Schedule::Fractional, last: 9, threshold: 0.6, ..published.curriculum },
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
        // Both networks' values, and forward and backward; a step is computed in one piece.
        let products = net.products::<P>(actions);
        brief("batch", self.batch, products * 5 / 2)?;
        brief("envs", self.envs, products)?;
        Ok(actions)
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
