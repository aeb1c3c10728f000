//! Deep Q-learning. A network of action values trains on the moves that it selected. The target of a move is its reward plus the discounted
//! value of the next state, which the network estimates (Mnih et al., "Human-level control through deep reinforcement learning", 2015).
//! Later improvements of the method are settings: double Q-learning, dueling heads, n-step returns, layer norm, prioritised replay, a
//! curriculum over the depth of scrambles, hindsight, and pretraining on exact labels.
//!
//! An iteration consists of several optimizer steps. A round is played at regular intervals between steps. In a round, each episode makes
//! one move. The random numbers of a move depend on the seed, the round and the episode. The random numbers of a batch depend on the seed
//! and the step. Each thread computes shards, which are equal parts of a batch. The number of shards depends only on the size of the batch,
//! so the number of threads does not affect the results.

mod config;
pub mod curriculum;
mod inspection;
pub mod play;
mod pretraining;
pub mod replay;
mod saved;
pub mod td;

pub use config::{Decay, DqnConfig, Follow, Judging, Labels, Preset};

use super::net::{self, Evaluator, Inputs};
use super::settings::has_metric;
use super::{Cube, Judge, LearnerError, PlayStats, Progress, Scores, Stats};
use crate::settings::Settings;
use crate::state::tensors;
use crate::{Learner, Offload, Parts, Slice, Tensor};
use curriculum::Curriculum;
use graph::{Executor, Optimizer, Packed, Params};
use math::{Isa, Rng, graded, ops, par};
use play::{Ended, Episodes, Play};
use replay::{Replay, Transition};
use std::sync::Arc;
use worlds::cube::{Actions, Distances};

/// Number of optimizer steps between two resets of Adam's tiny first moments to 0.
const STILL: u64 = 64;
/// Random streams: `PLAY` for scrambles and moves, `SAMPLES` for batches from the replay.
const PLAY: u32 = 0x504C_4159;
const SAMPLES: u32 = 0x5341_4D50;

/// Executors and buffers of one shard of the batch.
struct Shard<P> {
    learning: Executor,
    /// Executor that computes the action values of next states, with the weights of the trained network or of the target network.
    values: Executor,
    grads: Vec<f32>,
    trained_q: Vec<f32>,
    /// Targets of the samples before a step; after the step, the network's values minus the targets.
    errors: Vec<f32>,
    states: Vec<P>,
    active: Vec<u16>,
}

impl<P: Cube> Shard<P> {
    /// Writes the shard's transitions, `batch`, to the inputs: states and actions for training, next states for the targets.
    fn write_inputs(&mut self, inputs: Inputs, batch: &[Transition<P>]) {
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

/// Weights of the networks, packed for the plans that use them. `learning` is the trained network, packed for the training plan.
struct PackedNets {
    learning: Packed,
    /// The trained network, packed for the plan that computes the values of next states.
    values: Packed,
    /// The target network, packed for the same plan as `values`.
    target: Packed,
}

/// Episodes, and the network that selects their moves. `q` contains the network's action values in the current states,
/// `[episodes][actions]`.
struct Playing<P> {
    episodes: Episodes<P>,
    player: Evaluator<P>,
    q: Vec<f32>,
}

/// The batch of a step: replay indices (`picks`), transitions, importance weights and errors.
struct Drawn<P> {
    picks: Vec<u32>,
    batch: Vec<Transition<P>>,
    weights: Vec<f32>,
    errors: Vec<f32>,
}

/// State of an iteration in progress.
#[derive(Default)]
struct InProgress {
    /// Number of completed optimizer steps.
    update: usize,
    /// True once the iteration has begun.
    begun: bool,
    sums: Stats,
    mean_q: f32,
    ended: Ended,
}

/// The learner. The module documentation describes the algorithm.
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
    packed: PackedNets,
    /// Executor and packed weights for pretraining on [`Labels::Moves`]. `None` without this pretraining.
    label_plan: Option<(Executor, Packed)>,
    replay: Replay<P>,
    curriculum: Curriculum,
    playing: Playing<P>,
    drawn: Drawn<P>,
    progress: Progress,
    iteration: InProgress,
    /// True if a loss or a gradient norm of the last iteration was not finite.
    diverged: bool,
    clock: fn() -> f64,
}

impl<P: Cube> Dqn<P> {
    /// Creates a learner. `exact` is the table of distances, which only pretraining requires.
    pub fn new(config: DqnConfig, exact: Option<Arc<Distances>>, seed: u32, isa: Isa) -> Result<Dqn<P>, LearnerError> {
        let count = config.check::<P>()?;
        if config.pretraining > 0 && !has_metric(exact.as_ref(), config.metric) {
            return Err(config::UNKNOWN);
        }
        let (rows, active) = (config.batch, config.net.inputs.active::<P>());
        let learning = Arc::new(config.plan_learning::<P>(count, isa)?);
        let values = Arc::new(config.plan_values::<P>(count, isa)?);
        let params = Params::new(learning.table(), seed);
        let predicts_moves = config.pretraining > 0 && config.labels == Labels::Moves;
        let label_plan = predicts_moves
            .then(|| net::plan_learning::<P>(&config.net, count, net::Loss::CrossEntropy, rows, isa))
            .transpose()?
            .map(|plan| {
                let plan = Arc::new(plan);
                (Executor::new(&plan), Packed::new(&plan, &params))
            });
        let nothing = Transition { state: P::SOLVED, action: 0, steps: 1, done: true, next: P::SOLVED };
        let player = Evaluator::new(&config.net, Scores::ActionValues, count, |_, q| q, params.values(), isa)?;
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
            packed: PackedNets {
                learning: Packed::new(&learning, &params),
                values: Packed::new(&values, &params),
                target: Packed::new(&values, &params),
            },
            label_plan,
            replay: Replay::new(config.replay, config.prioritised, P::SOLVED),
            curriculum: Curriculum::new(&config.curriculum),
            playing: Playing { episodes: Episodes::new(config.envs), player, q: vec![0.0; config.envs * count] },
            drawn: Drawn { picks: vec![0; rows], batch: vec![nothing; rows], weights: vec![1.0; rows], errors: vec![0.0; rows] },
            progress: Progress::default(),
            iteration: InProgress::default(),
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

    /// Returns the transitions of the last batch, and the replay indices of these transitions.
    pub fn batch(&self) -> (&[Transition<P>], &[u32]) {
        (&self.drawn.batch, &self.drawn.picks)
    }

    /// Changes the settings between two iterations. Returns an error for changes that need a new learner ([`DqnConfig::can_become`]).
    pub fn set(&mut self, config: DqnConfig) -> Result<(), LearnerError> {
        config.check::<P>()?;
        if !self.config.can_become(&config) {
            return Err(config::FIXED);
        }
        self.config = config;
        self.curriculum.adapt(&self.config.curriculum);
        Ok(())
    }

    /// Returns the parameters of the trained network and of the target network.
    pub fn networks(&self) -> [&Params; 2] {
        [&self.params, &self.target]
    }

    fn rng(&self, stream: u32, number: u64) -> Rng {
        Rng { key: [self.seed, stream, number as u32, (number >> 32) as u32] }
    }

    /// Returns the number of rounds played so far. In a round every episode makes one move.
    fn rounds(&self) -> u64 {
        self.progress.moves / self.config.envs as u64
    }

    /// Plays one round: every episode makes one move.
    pub fn play(&mut self) {
        let rng = self.rng(PLAY, self.rounds());
        let Dqn { config, curriculum, replay, playing: Playing { episodes, player, q }, .. } = self;
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
        self.iteration.ended.episodes += ended.episodes;
        self.iteration.ended.solved += ended.solved;
    }

    /// Draws a batch from the replay and writes it to the shards' inputs.
    pub fn sample(&mut self) {
        let beta = self.config.beta_after(self.progress.updates);
        let mut numbers = self.rng(SAMPLES, self.progress.updates).sequence(0);
        let Drawn { picks, batch, weights, .. } = &mut self.drawn;
        self.replay.sample(&mut numbers, picks);
        for (of, &pick) in batch.iter_mut().zip(&*picks) {
            *of = self.replay.get(pick as usize);
        }
        self.replay.weigh(self.isa, beta, picks, weights);
        self.write_inputs();
    }

    /// Writes the batch and the importance weights to the shards' inputs.
    fn write_inputs(&mut self) {
        let (part, inputs) = (self.drawn.batch.len() / self.shards.len(), self.config.net.inputs);
        let (batch, weights, weighed) = (&self.drawn.batch, &self.drawn.weights, self.config.prioritised);
        par::each_mut(&mut self.shards, |i, shard| {
            shard.write_inputs(inputs, &batch[i * part..][..part]);
            if weighed {
                shard.learning.input_mut("weight").copy_from_slice(&weights[i * part..][..part]);
            }
        });
    }

    /// Trains on the batch that [`Dqn::sample`] drew last. Then updates the priorities of the batch and, if due, the target network.
    pub fn learn(&mut self) {
        if self.config.double {
            self.packed.values.pack(&self.params);
        }
        self.step(false);
        let Dqn { config, replay, drawn: Drawn { errors, picks, .. }, .. } = self;
        replay.update_priorities(self.isa, config.alpha, config.floor, picks, errors);
        self.update_target();
    }

    /// Runs an optimizer step. If `labelled` is true, reads the targets from `errors`; otherwise the networks compute the targets. Writes
    /// the errors of the samples to `errors`.
    fn step(&mut self, labelled: bool) {
        let Dqn { config, params, target, packed, drawn: Drawn { batch, errors, .. }, .. } = self;
        let (part, actions, targets) = (batch.len() / self.shards.len(), self.actions.count(), config.targets());
        let given = &*errors;
        par::each_mut(&mut self.shards, |i, shard| {
            let Shard { learning, values, grads, trained_q, errors, .. } = shard;
            let rows = i * part..(i + 1) * part;
            if labelled {
                errors.copy_from_slice(&given[rows]);
            } else {
                if targets.double {
                    values.run(params, &packed.values);
                    trained_q.copy_from_slice(values.output("q"));
                }
                values.run(target, &packed.target);
                targets.fill(&batch[rows], trained_q, values.output("q"), actions, errors);
            }
            learning.input_mut("target").copy_from_slice(errors);
            learning.train(params, &packed.learning, grads, false);
            let taken = learning.output("taken");
            errors.iter_mut().zip(taken).for_each(|(error, taken)| *error = taken - *error);
        });
        for (errors, shard) in errors.chunks_exact_mut(part).zip(&self.shards) {
            errors.copy_from_slice(&shard.errors);
            self.iteration.sums.loss += shard.learning.output("loss")[0];
            self.iteration.mean_q += shard.learning.output("taken").iter().sum::<f32>() / batch.len() as f32;
        }
        let (first, others) = self.shards.split_first_mut().expect("a shard at least");
        for other in others {
            ops::add_scaled(self.isa, 1.0, &other.grads, &mut first.grads);
        }
        self.adam();
        self.packed.learning.pack(&self.params);
    }

    fn adam(&mut self) {
        let adam = self.config.steps.adam(self.optimizer.steps);
        if self.optimizer.steps.is_multiple_of(STILL) {
            // Moments of weights without gradients decay to denormal numbers, which slow down arithmetic.
            self.optimizer.m.iter_mut().filter(|m| m.abs() < 1e-30).for_each(|m| *m = 0.0);
        }
        self.iteration.sums.grad_norm += self.optimizer.step(self.isa, &adam, &mut self.params, &self.shards[0].grads);
        self.iteration.sums.lr += adam.lr;
        self.progress.updates += 1;
        self.progress.states += self.config.batch as u64;
    }

    /// Updates the target network by the rule `follow` if an update is due.
    fn update_target(&mut self) {
        let DqnConfig { follow, target_every, tau, .. } = self.config;
        match follow {
            Follow::Hard if !self.progress.updates.is_multiple_of(target_every as u64) => return,
            Follow::Hard => self.target.values_mut().copy_from_slice(self.params.values()),
            Follow::Polyak => {
                graded::approach(self.isa, tau, self.params.values(), self.target.values_mut());
            }
        }
        self.packed.target.pack(&self.target);
    }

    fn end_iteration(&mut self) -> Stats {
        let InProgress { update: steps, sums, mean_q, ended, .. } = std::mem::take(&mut self.iteration);
        self.progress.iterations += 1;
        self.diverged = !sums.is_number();
        let play = PlayStats {
            epsilon: self.config.epsilon_after(self.isa, self.progress.moves),
            mean_q: mean_q / steps as f32,
            depth: self.curriculum.stage() as f32,
            solved: (ended.episodes > 0).then(|| ended.solved as f32 / ended.episodes as f32),
        };
        Stats { play: Some(play), finite: self.is_finite(), ..sums.over(steps, self.config.batch) }
    }
}

impl<P: Cube> Learner for Dqn<P> {
    type Stats = Stats;
    type Progress = Progress;

    crate::learner_settings!(config, set, DqnConfig::check::<P>);

    /// During pretraining, runs one optimizer step on labels. During the warm-up, plays one round. After the warm-up, plays a round if a
    /// round is due, and runs one optimizer step.
    fn advance(&mut self) -> Slice<Stats> {
        self.iteration.begun = true;
        if self.progress.updates < self.config.pretraining as u64 {
            self.pretrain();
        } else {
            let began = (self.clock)();
            let warm = self.replay.len() >= self.config.warmup;
            if !warm || self.progress.updates.is_multiple_of(self.config.updates_per_move as u64) {
                self.play();
            }
            let played = (self.clock)();
            self.iteration.sums.parts_s[1] += played - began;
            if !warm {
                return Slice::Worked;
            }
            self.sample();
            let sampled = (self.clock)();
            self.learn();
            self.iteration.sums.parts_s[2] += sampled - played;
            self.iteration.sums.parts_s[3] += (self.clock)() - sampled;
        }
        self.iteration.update += 1;
        if self.iteration.update < self.config.steps.updates {
            return Slice::Worked;
        }
        Slice::Ended(self.end_iteration())
    }

    fn at_boundary(&self) -> bool {
        !self.iteration.begun
    }

    fn saves_mid_iteration(&self) -> bool {
        true
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Err("Deep Q-learning trains on the CPU only: its small updates alternate with moves")
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

    fn tensors(&self) -> Vec<Tensor<'_>> {
        tensors(self.params.table(), self.params.values(), &self.optimizer.m)
    }

    fn parts(&self) -> Parts {
        self.saved()
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn executor_mut(&mut self) -> Option<&mut Executor> {
        Some(&mut self.shards[0].learning)
    }
}
