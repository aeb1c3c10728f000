//! Deep Q-learning: a network that says of each action what is to be had by it learns from moves of its own, by what they
//! returned and what it thinks of the states that they led to (Mnih et al., "Human-level control through deep reinforcement
//! learning", 2015). What was published since is a setting each: double, dueling, n-step returns, layer norm, prioritised replay,
//! a curriculum over the depth of scrambles, hindsight, pretraining from exact labels.
//!
//! An iteration is a number of steps of the optimiser; every so many of them all episodes make a move. Moves depend on seed, their
//! number and the episode's, samples on seed and step, and a batch is cut into shards by its size, so threads change nothing.

pub mod curriculum;
pub mod play;
pub mod replay;
pub mod td;

use super::net::{self, Evaluator, Inputs, NetConfig};
use super::{Cube, Greedy, Judge, Learner, PlayStats, Progress, Scores, Slice, Stats};
use crate::{Data, Find};
use curriculum::{Curriculum, CurriculumConfig, DEEPEST, Schedule, WIDEST};
use graph::{Adam, Executor, Optimizer, Packed, Params, Plan, PlanError};
use math::{Isa, Rng, Unary, graded, ops, par};
use play::{Ended, Episodes, MOST_SLACK, Play};
use replay::{MOST_STEPS, Replay, Transition};
use std::sync::Arc;
use td::{Loss, Rewards, Targets};
use worlds::cube::{Actions, Distances, Metric};

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
    /// The network that others published figures for, as they trained it.
    Published,
    /// Their later one.
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
                lr_steps: 4000.0,
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
        let weights = 4 * learning.table().len();
        let shard = learning.arena_bytes() + values.arena_bytes() + weights;
        let networks = self.shards() * shard + weights * 13 + learning.arena_bytes() * self.shards();
        let batch = self.batch * (2 * active * size_of::<u16>() + 3 * size_of::<P>() + 64);
        (networks + batch + 2 * Evaluator::<P>::bytes(&self.net)) as u64
            + Replay::<P>::bytes(self.replay, self.prioritised)
            + Episodes::<P>::bytes(self.envs)
    }

    /// How many actions there are.
    pub fn check<P: Cube>(&self) -> Result<usize, DqnError> {
        let whole = |name, value: usize, min: usize, max: usize| (name, value as f64, min as f64, max as f64);
        let float = |name, value: f32, min: f32, max: f32| (name, value.into(), min.into(), max.into());
        let DqnConfig { net, rewards, curriculum, .. } = self;
        let delta = if let Loss::Huber(delta) = self.loss { delta } else { 1.0 };
        for (name, value, min, max) in [
            whole("layers", net.hidden.len(), 1, 8),
            whole("blocks", net.blocks, 0, 32),
            float("gamma", rewards.gamma, 0.1, 1.0),
            float("step", rewards.step, -100.0, 0.0),
            float("goal", rewards.goal, 0.0, 100.0),
            whole("n_step", self.n_step, 1, MOST_STEPS),
            float("huber", delta, 1e-4, 1e4),
            whole("target_every", self.target_every, 1, 1_000_000),
            float("tau", self.tau, 1e-6, 1.0),
            whole("batch", self.batch, 1, 65_536),
            whole("updates", self.updates, 1, 100_000),
            float("lr", self.lr, 0.0, 1.0),
            float("lr_steps", self.lr_steps, 1.0, 1e9),
            float("max_grad_norm", self.max_grad_norm, 0.0, 1e6),
            whole("replay", self.replay, 16, 1 << 24),
            whole("warmup", self.warmup, 1, self.replay),
            float("alpha", self.alpha, 0.0, 1.0),
            float("floor", self.floor, 1e-6, 1.0),
            float("beta", self.beta, 0.0, 1.0),
            float("beta_steps", self.beta_steps, 1.0, 1e9),
            whole("envs", self.envs, 1, 65_536),
            whole("updates_per_move", self.updates_per_move, 1, 10_000),
            whole("slack", self.slack, 0, MOST_SLACK),
            float("epsilon", self.epsilon, 0.0, 1.0),
            float("epsilon_end", self.epsilon_end, 0.0, 1.0),
            float("epsilon_moves", self.epsilon_moves, 1.0, 1e12),
            whole("first depth", curriculum.first, 1, DEEPEST),
            whole("last depth", curriculum.last, curriculum.first, DEEPEST),
            float("threshold", curriculum.threshold, 0.0, 1.0),
            whole("window", curriculum.window, 1, WIDEST),
            float("fraction", curriculum.fraction, 0.0, 1.0),
            float("hindsight", self.hindsight, 0.0, 1.0),
            whole("pretraining", self.pretraining, 0, 1_000_000_000),
        ] {
            // Written so that NaN is out of range.
            if !(value >= min && value <= max) {
                return Err(DqnError::Range { name, value, min, max });
            }
        }
        for &units in &net.hidden {
            if !(16..=8192).contains(&units) || !units.is_multiple_of(16) {
                return Err(DqnError::Units { units });
            }
        }
        if !net.inputs.serves(Scores::ActionValues) {
            return Err(DqnError::Symmetric);
        }
        if !rewards.prefers_few() {
            return Err(DqnError::Pointless);
        }
        if self.pretraining > 0 && !P::EXACT {
            return Err(DqnError::Unknown);
        }
        Ok(Actions::of::<P>(self.metric).count())
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

    fn plan_learning<P: Cube>(&self, actions: usize, isa: Isa) -> Result<Plan, PlanError> {
        let rows = [self.batch / self.shards(), self.batch];
        td::plan_learning::<P>(&self.net, actions, self.loss, self.prioritised, rows, isa)
    }

    fn plan_values<P: Cube>(&self, actions: usize, isa: Isa) -> Result<Plan, PlanError> {
        td::plan_values::<P>(&self.net, actions, self.batch / self.shards(), isa)
    }

    /// Equal parts of a batch, each for one thread.
    fn shards(&self) -> usize {
        let fits = |&count: &usize| self.batch.is_multiple_of(count) && self.batch / count >= SHARD;
        (1..=MOST_SHARDS).rev().find(fits).unwrap_or(1)
    }

    fn targets(&self) -> Targets {
        Targets { rewards: self.rewards, double: self.double, bounded: self.bounded }
    }

    fn adam(&self, steps: u64) -> Adam {
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
    fn beta_after(&self, updates: u64) -> f32 {
        self.beta + (1.0 - self.beta) * (updates as f32 / self.beta_steps).min(1.0)
    }
}

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DqnError {
    #[error("{name} is {value}, but must lie between {min} and {max}; choose a value in that range")]
    Range { name: &'static str, value: f64, min: f64, max: f64 },
    #[error("a layer cannot have {units} units; choose a multiple of 16 from 16 to 8192")]
    Units { units: usize },
    #[error(
        "symmetric inputs serve values of states alone, as an image has other moves; choose folded, cubies or stickers"
    )]
    Symmetric,
    #[error(
        "with these rewards long ways are worth as much as short ones; choose a step below 0, or a gamma below 1"
    )]
    Pointless,
    #[error(
        "there is no table of distances of this cube and metric to pretrain from; choose a pretraining of 0"
    )]
    Unknown,
    #[error(
        "cube, metric, network, loss, batch, replay, envs, window and pretraining stay as they began; begin a new run for others"
    )]
    Fixed,
    #[error(
        "the checkpoint has no {name} of the right kind and shape; load one saved with the same cube and settings"
    )]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Steps between looks for moments that stand still.
const STILL: u64 = 64;
/// Streams of random numbers of a seed.
const PLAY: u32 = 0x504C_4159;
const SAMPLES: u32 = 0x5341_4D50;
const LABELS: u32 = 0x4C41_4245;

/// Rows of a shard at least, and shards at most.
const SHARD: usize = 128;
const MOST_SHARDS: usize = 16;

/// A part of a batch.
struct Shard<P> {
    learning: Executor,
    /// What both networks say of next states.
    values: Executor,
    grads: Vec<f32>,
    trained_q: Vec<f32>,
    /// Targets, and what was missing to them afterwards.
    errors: Vec<f32>,
    states: Vec<P>,
    active: Vec<u16>,
}

impl<P: Cube> Shard<P> {
    /// Shows the networks the states of its batch: what was taken there, and what it led to.
    fn show(&mut self, inputs: Inputs, batch: &[Transition<P>]) {
        let Shard { learning, values, states, active, .. } = self;
        let mut fill = |to: &mut [f32], state: fn(&Transition<P>) -> P| {
            states.iter_mut().zip(batch).for_each(|(to, of)| *to = state(of));
            inputs.fill(states, active);
            to.iter_mut().zip(&*active).for_each(|(to, &active)| *to = f32::from(active));
        };
        fill(learning.input_mut("active"), |of| of.state);
        fill(values.input_mut("active"), |of| of.next);
        let actions = learning.input_mut("action").iter_mut();
        actions.zip(batch).for_each(|(to, of)| *to = inputs.action(of.state, usize::from(of.action)) as f32);
    }
}

/// The learner: see the top of the file.
pub struct Dqn<P> {
    config: DqnConfig,
    seed: u32,
    isa: Isa,
    actions: Actions,
    exact: Option<Arc<Distances>>,
    params: Params,
    target: Params,
    optimizer: Optimizer,
    shards: Vec<Shard<P>>,
    learning_packed: Packed,
    values_packed: Packed,
    target_packed: Packed,
    /// By the labels of a pretraining that prefers moves: a plan and the weights as it reads them.
    preferring: Option<(Executor, Packed)>,
    replay: Replay<P>,
    curriculum: Curriculum,
    episodes: Episodes<P>,
    player: Evaluator<P>,
    q: Vec<f32>,
    /// The batch of a step: where it lies in the replay, and what is made of it.
    picks: Vec<u32>,
    batch: Vec<Transition<P>>,
    weights: Vec<f32>,
    errors: Vec<f32>,
    /// Steps of this iteration so far, and whether anything was done in it.
    update: usize,
    begun: bool,
    progress: Progress,
    sums: Stats,
    mean_q: f32,
    ended: Ended,
    /// A loss or the gradient's length was no number in the last iteration.
    diverged: bool,
    clock: fn() -> f64,
}

impl<P: Cube> Dqn<P> {
    /// Distances are asked for where there is a pretraining.
    pub fn new(
        config: DqnConfig,
        exact: Option<Arc<Distances>>,
        seed: u32,
        isa: Isa,
    ) -> Result<Dqn<P>, DqnError> {
        let count = config.check::<P>()?;
        let known = exact.as_ref().is_some_and(|exact| exact.actions().metric() == config.metric);
        if config.pretraining > 0 && !known {
            return Err(DqnError::Unknown);
        }
        let (rows, active) = (config.batch, config.net.inputs.active::<P>());
        let learning = Arc::new(config.plan_learning::<P>(count, isa)?);
        let values = Arc::new(config.plan_values::<P>(count, isa)?);
        let params = Params::new(learning.table(), seed);
        let prefers = config.pretraining > 0 && config.labels == Labels::Moves;
        let preferring = prefers
            .then(|| net::plan_learning::<P>(&config.net, count, net::Loss::CrossEntropy, rows, isa))
            .transpose()?
            .map(|plan| {
                let plan = Arc::new(plan);
                (Executor::new(&plan), Packed::new(&plan, &params))
            });
        let nothing = Transition { state: P::SOLVED, action: 0, steps: 1, done: true, next: P::SOLVED };
        let player =
            Evaluator::reading(&config.net, Scores::ActionValues, count, |_, q| q, params.values(), isa)?;
        let part = rows / config.shards();
        let shard = || Shard {
            learning: Executor::new(&learning),
            values: Executor::new(&values),
            grads: vec![0.0; params.values().len()],
            trained_q: vec![0.0; part * count],
            errors: vec![0.0; part],
            states: vec![P::SOLVED; part],
            active: vec![0; part * active],
        };
        Ok(Dqn {
            actions: Actions::of::<P>(config.metric),
            exact,
            target: params.clone(),
            optimizer: Optimizer::new(&params),
            shards: std::iter::repeat_with(shard).take(config.shards()).collect(),
            learning_packed: Packed::new(&learning, &params),
            values_packed: Packed::new(&values, &params),
            target_packed: Packed::new(&values, &params),
            preferring,
            replay: Replay::new(config.replay, config.prioritised, P::SOLVED),
            curriculum: Curriculum::new(&config.curriculum),
            episodes: Episodes::new(config.envs),
            player,
            q: vec![0.0; config.envs * count],
            picks: vec![0; rows],
            batch: vec![nothing; rows],
            weights: vec![1.0; rows],
            errors: vec![0.0; rows],
            update: 0,
            begun: false,
            progress: Progress::default(),
            sums: Stats::default(),
            mean_q: 0.0,
            ended: Ended::default(),
            diverged: false,
            clock: || 0.0,
            params,
            config,
            seed,
            isa,
        })
    }

    pub fn config(&self) -> &DqnConfig {
        &self.config
    }

    pub fn replay(&self) -> &Replay<P> {
        &self.replay
    }

    /// What was drawn last, and where it lies in the replay.
    pub fn batch(&self) -> (&[Transition<P>], &[u32]) {
        (&self.batch, &self.picks)
    }

    /// Between two iterations: what [`DqnConfig::can_become`].
    pub fn set(&mut self, config: DqnConfig) -> Result<(), DqnError> {
        config.check::<P>()?;
        if !self.config.can_become(&config) {
            return Err(DqnError::Fixed);
        }
        self.config = config;
        self.curriculum.hold(&self.config.curriculum);
        Ok(())
    }

    /// The network that is trained, and its target network.
    pub fn networks(&self) -> [&Params; 2] {
        [&self.params, &self.target]
    }

    fn rng(&self, stream: u32, number: u64) -> Rng {
        Rng { key: [self.seed, stream, number as u32, (number >> 32) as u32] }
    }

    /// Moves of all episodes so far, each of them once.
    fn rounds(&self) -> u64 {
        self.progress.moves / self.config.envs as u64
    }

    /// One move of every episode.
    pub fn play(&mut self) {
        let rng = self.rng(PLAY, self.rounds());
        let Dqn { config, episodes, curriculum, replay, player, q, .. } = self;
        let play = Play {
            actions: self.actions,
            curriculum: &config.curriculum,
            slack: config.slack,
            epsilon: config.epsilon_after(self.isa, self.progress.moves),
            acting: config.acting,
            steps: config.n_step,
            hindsight: config.hindsight,
        };
        player.set(self.params.values());
        player.judge(episodes.states(&play, curriculum, &rng), q);
        let ended = episodes.step(&play, curriculum, &rng, q, |transition| replay.push(transition));
        self.progress.moves += config.envs as u64;
        self.progress.episodes += u64::from(ended.episodes);
        self.ended.episodes += ended.episodes;
        self.ended.solved += ended.solved;
    }

    /// Draws a batch from what was played.
    pub fn sample(&mut self) {
        let beta = self.config.beta_after(self.progress.updates);
        let mut numbers = self.rng(SAMPLES, self.progress.updates).sequence(0);
        self.replay.sample(&mut numbers, &mut self.picks);
        for (of, &pick) in self.batch.iter_mut().zip(&self.picks) {
            *of = self.replay.get(pick as usize);
        }
        self.replay.weigh(self.isa, beta, &self.picks, &mut self.weights);
        self.show();
    }

    /// Shows the batch and its weights.
    fn show(&mut self) {
        let (part, inputs) = (self.batch.len() / self.shards.len(), self.config.net.inputs);
        let (batch, weights, weighed) = (&self.batch, &self.weights, self.config.prioritised);
        par::each_mut(&mut self.shards, |i, shard| {
            shard.show(inputs, &batch[i * part..][..part]);
            if weighed {
                shard.learning.input_mut("weight").copy_from_slice(&weights[i * part..][..part]);
            }
        });
    }

    /// A step of the optimiser on the batch that was drawn last: values of next states by both networks, forward, backward, Adam,
    /// and the target network's step.
    pub fn learn(&mut self) {
        if self.config.double {
            self.values_packed.pack(&self.params);
        }
        self.step(false);
        let Dqn { config, replay, errors, picks, .. } = self;
        replay.learned(self.isa, config.alpha, config.floor, picks, errors);
        self.follow();
    }

    /// A step to targets by what the networks say, or to those that `errors` holds. It holds what was missing afterwards.
    fn step(&mut self, labelled: bool) {
        let Dqn { config, params, target, batch, errors, learning_packed, values_packed, .. } = self;
        let (part, actions, targets) =
            (batch.len() / self.shards.len(), self.actions.count(), config.targets());
        let (target_packed, given) = (&self.target_packed, &*errors);
        par::each_mut(&mut self.shards, |i, shard| {
            let Shard { learning, values, grads, trained_q, errors, .. } = shard;
            let rows = i * part..(i + 1) * part;
            if labelled {
                errors.copy_from_slice(&given[rows]);
            } else {
                if targets.double {
                    values.run(params, values_packed);
                    trained_q.copy_from_slice(values.output("q"));
                }
                values.run(target, target_packed);
                targets.fill(&batch[rows], trained_q, values.output("q"), actions, errors);
            }
            learning.input_mut("target").copy_from_slice(errors);
            learning.train(params, learning_packed, grads, false);
            let taken = learning.output("taken");
            errors.iter_mut().zip(taken).for_each(|(error, taken)| *error = taken - *error);
        });
        for (errors, shard) in errors.chunks_exact_mut(part).zip(&self.shards) {
            errors.copy_from_slice(&shard.errors);
            self.sums.loss += shard.learning.output("loss")[0];
            self.mean_q += shard.learning.output("taken").iter().sum::<f32>() / batch.len() as f32;
        }
        let (first, others) = self.shards.split_first_mut().expect("a shard at least");
        for other in others {
            ops::add_scaled(self.isa, 1.0, &other.grads, &mut first.grads);
        }
        self.adam();
        self.learning_packed.pack(&self.params);
    }

    fn adam(&mut self) {
        let adam = self.config.adam(self.optimizer.steps);
        if self.optimizer.steps.is_multiple_of(STILL) {
            // What has had no slope for long decays to numbers that processors are slow with.
            self.optimizer.m.iter_mut().filter(|m| m.abs() < 1e-30).for_each(|m| *m = 0.0);
        }
        self.sums.grad_norm += self.optimizer.step(self.isa, &adam, &mut self.params, &self.shards[0].grads);
        self.sums.lr += adam.lr;
        self.progress.updates += 1;
        self.progress.states += self.config.batch as u64;
    }

    /// The target network's step.
    fn follow(&mut self) {
        let DqnConfig { follow, target_every, tau, .. } = self.config;
        match follow {
            Follow::Hard if !self.progress.updates.is_multiple_of(target_every as u64) => return,
            Follow::Hard => self.target.values_mut().copy_from_slice(self.params.values()),
            Follow::Polyak => {
                graded::approach(self.isa, tau, self.params.values(), self.target.values_mut());
            }
        }
        self.target_packed.pack(&self.target);
    }

    /// A step on labels.
    fn pretrain(&mut self) {
        let began = (self.clock)();
        self.draw_labels();
        let drawn = (self.clock)();
        if let Some((executor, packed)) = &mut self.preferring {
            let inputs = self.config.net.inputs;
            // The shards lend their room.
            let active = executor.input_mut("active");
            let part = active.len() / self.shards.len();
            let batches = self.batch.chunks_exact(self.batch.len() / self.shards.len());
            for ((shard, batch), to) in self.shards.iter_mut().zip(batches).zip(active.chunks_exact_mut(part))
            {
                shard.show(inputs, batch);
                to.copy_from_slice(shard.learning.input_mut("active"));
            }
            let targets = executor.input_mut("target").iter_mut();
            let named = |of: &Transition<P>| inputs.action(of.state, usize::from(of.action)) as f32;
            targets.zip(&self.batch).for_each(|(to, of)| *to = named(of));
            packed.pack(&self.params);
            executor.train(&self.params, packed, &mut self.shards[0].grads, false);
            self.sums.loss += executor.output("loss")[0];
            self.adam();
        } else {
            self.weights.fill(1.0);
            self.show();
            self.step(true);
        }
        if self.progress.updates == self.config.pretraining as u64 {
            self.learning_packed.pack(&self.params);
            self.target.values_mut().copy_from_slice(self.params.values());
            self.target_packed.pack(&self.target);
        }
        self.sums.parts_s[0] += drawn - began;
        self.sums.parts_s[3] += (self.clock)() - drawn;
    }

    /// A batch of scrambles, the action of each, and what that returns.
    fn draw_labels(&mut self) {
        let mut numbers = self.rng(LABELS, self.progress.updates).sequence(0);
        let exact = self.exact.as_deref().expect("its settings were checked");
        let count = self.actions.count();
        for i in 0..self.batch.len() {
            let (mut state, mut last) = (P::SOLVED, None);
            let depth = 1 + numbers.below(self.config.curriculum.last as u32);
            while state == P::SOLVED {
                for _ in 0..depth {
                    let action = self.actions.drawn(last, &mut numbers);
                    (state, last) = (state.turned(action), Some(action));
                }
            }
            let after = |action: usize| {
                let next = state.turned(action);
                (next, next.distance(exact).expect("its settings were checked"))
            };
            let mut action = numbers.below(count as u32) as usize;
            if self.config.labels == Labels::Moves {
                // Of the best the first from there on.
                let best = (0..count).map(|action| after(action).1).min();
                while Some(after(action).1) != best {
                    action = (action + 1) % count;
                }
            }
            let (next, left) = after(action);
            self.errors[i] = self.config.rewards.of_moves(1 + usize::from(left));
            self.batch[i] = Transition { state, action: action as u8, steps: 1, done: left == 0, next };
        }
    }

    fn end_iteration(&mut self) -> Stats {
        let updates = std::mem::take(&mut self.update) as f32;
        self.begun = false;
        self.progress.iterations += 1;
        let Stats { loss, grad_norm, lr, parts_s, .. } = std::mem::take(&mut self.sums);
        let (mean_q, ended) = (std::mem::take(&mut self.mean_q), std::mem::take(&mut self.ended));
        self.diverged = !(loss.is_finite() && grad_norm.is_finite());
        let play = PlayStats {
            epsilon: self.config.epsilon_after(self.isa, self.progress.moves),
            mean_q: mean_q / updates,
            depth: self.curriculum.stage() as f32,
            solved: (ended.episodes > 0).then(|| ended.solved as f32 / ended.episodes as f32),
        };
        Stats {
            loss: loss / updates,
            grad_norm: grad_norm / updates,
            lr: lr / updates,
            parts_s,
            play: Some(play),
        }
    }
}

impl<P: Cube> Learner<P> for Dqn<P> {
    fn advance(&mut self) -> Slice {
        self.begun = true;
        if self.progress.updates < self.config.pretraining as u64 {
            self.pretrain();
        } else {
            let began = (self.clock)();
            let warm = self.replay.len() >= self.config.warmup;
            if !warm || self.progress.updates.is_multiple_of(self.config.updates_per_move as u64) {
                self.play();
            }
            let played = (self.clock)();
            self.sums.parts_s[1] += played - began;
            if !warm {
                return Slice::Worked;
            }
            self.sample();
            let sampled = (self.clock)();
            self.learn();
            self.sums.parts_s[2] += sampled - played;
            self.sums.parts_s[3] += (self.clock)() - sampled;
        }
        self.update += 1;
        if self.update < self.config.updates {
            return Slice::Worked;
        }
        Slice::Iteration(self.end_iteration())
    }

    fn at_boundary(&self) -> bool {
        !self.begun
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn is_finite(&self) -> bool {
        let all = [self.params.values(), self.target.values(), &self.optimizer.m, &self.optimizer.v];
        !self.diverged && all.iter().all(|values| values.iter().all(|x| x.is_finite()))
    }

    fn weights(&self) -> &[f32] {
        match self.config.judging {
            Judging::Trained => self.params.values(),
            Judging::Target => self.target.values(),
        }
    }

    fn judge(&self) -> Result<Evaluator<P>, PlanError> {
        let DqnConfig { net, rewards, .. } = &self.config;
        let read = |g: &mut graph::Graph, q| rewards.moves_of(g, q);
        let (count, scores) = (self.actions.count(), Scores::ActionValues);
        Evaluator::reading(net, scores, count, read, self.weights(), self.isa)
    }

    fn parts(&self) -> Vec<(String, Vec<usize>, Data)> {
        let mut parts = Vec::new();
        for (prefix, values) in [
            ("", self.params.values()),
            ("target.", self.target.values()),
            ("adam.m.", &self.optimizer.m),
            ("adam.v.", &self.optimizer.v),
        ] {
            parts.extend(self.params.table().specs().iter().map(|spec| {
                let values = values[spec.range()].to_vec();
                (format!("{prefix}{}", spec.name), spec.file_shape().to_vec(), Data::F32(values))
            }));
        }
        let mut words = |name: &str, words: Vec<u32>| {
            parts.push((name.into(), vec![words.len()], Data::U32(words)));
        };
        let len = self.replay.len();
        let transitions = || (0..len).map(|at| self.replay.get(at));
        let states = |state: fn(&Transition<P>) -> P| {
            let mut all = vec![0; len * P::WORDS];
            let each = all.chunks_exact_mut(P::WORDS).zip(transitions());
            each.for_each(|(words, transition)| state(&transition).words(words));
            all
        };
        words("replay.states", states(|transition| transition.state));
        words("replay.next", states(|transition| transition.next));
        words("replay.how", transitions().map(|transition| transition.how()).collect());
        words("curriculum", self.curriculum.words());
        words("episodes", self.episodes.words());
        let (at, greatest) = self.replay.cursor();
        let mut priorities = vec![greatest];
        if self.replay.is_prioritised() {
            priorities.extend((0..len).map(|at| self.replay.priority(at)));
        }
        parts.push(("replay.priorities".into(), vec![priorities.len()], Data::F32(priorities)));
        let Progress { iterations, updates, states, moves, episodes } = self.progress;
        let counters = vec![iterations, updates, states, moves, episodes, self.optimizer.steps, at];
        parts.push(("counters".into(), vec![counters.len()], Data::U64(counters)));
        parts
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }
}

impl<P: Cube> Dqn<P> {
    /// Goes on exactly from what [`Learner::parts`] gave, with the same settings and seed.
    pub fn restore(
        config: DqnConfig,
        exact: Option<Arc<Distances>>,
        seed: u32,
        isa: Isa,
        find: &Find,
    ) -> Result<Dqn<P>, DqnError> {
        let missing = |name: &str| DqnError::Missing { name: name.into() };
        let bad = |name: &str| DqnError::BadValue { name: name.into() };
        let mut it = Dqn::new(config, exact, seed, isa)?;
        let table = it.params.table().clone();
        for (prefix, values) in [
            ("", it.params.values_mut()),
            ("target.", it.target.values_mut()),
            ("adam.m.", &mut it.optimizer.m),
            ("adam.v.", &mut it.optimizer.v),
        ] {
            for spec in table.specs() {
                let (name, to) = (format!("{prefix}{}", spec.name), &mut values[spec.range()]);
                match find(&name) {
                    Some((shape, Data::F32(values)))
                        if shape == spec.file_shape() && values.len() == to.len() =>
                    {
                        if !values.iter().all(|x| x.is_finite()) {
                            return Err(bad(&name));
                        }
                        to.copy_from_slice(values);
                    }
                    _ => return Err(missing(&name)),
                }
            }
        }
        let words = |name: &str| match find(name) {
            Some((_, Data::U32(words))) => Ok(&words[..]),
            _ => Err(missing(name)),
        };
        let Some((_, Data::U64(counters))) = find("counters") else { return Err(missing("counters")) };
        let &[iterations, updates, states, moves, episodes, steps, at] = &counters[..] else {
            return Err(missing("counters"));
        };
        it.progress = Progress { iterations, updates, states, moves, episodes };
        it.optimizer.steps = steps;

        let count = it.actions.count() as u32;
        let how = words("replay.how")?;
        let [states, next] = [words("replay.states")?, words("replay.next")?];
        if how.len() > it.replay.capacity()
            || [states, next].iter().any(|of| of.len() != how.len() * P::WORDS)
        {
            return Err(missing("replay.states"));
        }
        let each = states.chunks_exact(P::WORDS).zip(next.chunks_exact(P::WORDS));
        for (&how, (state, next)) in how.iter().zip(each) {
            let [action, steps, done, rest] = how.to_le_bytes();
            let sound = u32::from(action) < count
                && (1..=MOST_STEPS).contains(&usize::from(steps))
                && done < 2
                && rest == 0;
            let (Some(state), Some(next), true) = (P::from_words(state), P::from_words(next), sound) else {
                return Err(bad("replay.states"));
            };
            it.replay.push(Transition { state, action, steps, done: done == 1, next });
        }
        let Some((_, Data::F32(priorities))) = find("replay.priorities") else {
            return Err(missing("replay.priorities"));
        };
        let Some((&greatest, priorities)) = priorities.split_first() else {
            return Err(missing("replay.priorities"));
        };
        if !it.replay.set_cursor(at, greatest, priorities) {
            return Err(bad("replay.priorities"));
        }
        it.curriculum = Curriculum::from_words(&it.config.curriculum, words("curriculum")?)
            .ok_or_else(|| bad("curriculum"))?;
        let mut rest = words("episodes")?;
        for i in 0..it.config.envs {
            it.episodes.resume(i, &mut rest, count).ok_or_else(|| bad("episodes"))?;
        }
        if !rest.is_empty() {
            return Err(missing("episodes"));
        }
        it.learning_packed.pack(&it.params);
        it.target_packed.pack(&it.target);
        Ok(it)
    }
}

/// What a learner that plays has beside its network.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside<P> {
    /// The depth that the curriculum has come to.
    pub stage: usize,
    /// From 1 to the curriculum's last.
    pub depths: Vec<InsideDepth>,
    pub len: usize,
    pub capacity: usize,
    pub prioritised: bool,
    /// Shares of all transitions by priority: bin `i` holds those from `2^(i - 12)` to twice that, the first and the last also
    /// what lies beyond. A priority is what the error was when it was last learned from.
    pub priorities: [f32; PRIORITY_BINS],
    /// Those of the greatest priority, the greatest first.
    pub top: Vec<InsideTransition<P>>,
}

pub const PRIORITY_BINS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InsideDepth {
    pub depth: usize,
    /// Share of new episodes that begin there.
    pub share: f32,
    /// Share of its newest episodes that solved the cube, and how many those are.
    pub success: f32,
    pub episodes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InsideTransition<P> {
    pub state: P,
    pub action: usize,
    /// Of the steps that it spans together.
    pub reward: f32,
    pub done: bool,
    pub priority: f32,
    /// What the trained network says of each action there.
    pub q: Vec<f32>,
}

impl<P: Cube> Dqn<P> {
    /// Curriculum and replay as they are, with so many transitions of the greatest priority.
    pub fn inside(&self, top: usize) -> Result<Inside<P>, PlanError> {
        let DqnConfig { net, rewards, curriculum, alpha, prioritised, .. } = &self.config;
        let depths = (1..=curriculum.last).map(|depth| {
            let (success, episodes) = self.curriculum.success(depth);
            InsideDepth { depth, share: self.curriculum.share(curriculum, depth), success, episodes }
        });
        let len = self.replay.len();
        let (mut priorities, mut order) = ([0.0; PRIORITY_BINS], Vec::new());
        // An alpha of 0 takes all differences away.
        let root = |priority: f32| if *alpha > 0.0 { priority.powf(1.0 / alpha) } else { priority };
        if *prioritised {
            for at in 0..len {
                let bin = (root(self.replay.priority(at)).log2().floor() + 12.0).max(0.0) as usize;
                priorities[bin.min(PRIORITY_BINS - 1)] += 1.0 / len as f32;
            }
            order = (0..len).collect();
            let by = |a: &usize, b: &usize| {
                self.replay.priority(*b).total_cmp(&self.replay.priority(*a)).then(a.cmp(b))
            };
            if top < len {
                order.select_nth_unstable_by(top, by);
                order.truncate(top);
            }
            order.sort_unstable_by(by);
        }
        let count = self.actions.count();
        let states: Vec<P> = order.iter().map(|&at| self.replay.get(at).state).collect();
        let mut q = vec![0.0; states.len() * count];
        let (weights, scores) = (self.params.values(), Scores::ActionValues);
        Evaluator::reading(net, scores, count, |_, q| q, weights, self.isa)?.judge(&states, &mut q);
        let top = order.iter().zip(q.chunks_exact(count)).map(|(&at, q)| {
            let Transition { state, action, steps, done, .. } = self.replay.get(at);
            InsideTransition {
                state,
                action: usize::from(action),
                reward: rewards.of_steps(usize::from(steps), done).0,
                done,
                priority: root(self.replay.priority(at)),
                q: q.to_vec(),
            }
        });
        Ok(Inside {
            stage: self.curriculum.stage(),
            depths: depths.collect(),
            len,
            capacity: self.replay.capacity(),
            prioritised: *prioritised,
            priorities,
            top: top.collect(),
        })
    }
}
