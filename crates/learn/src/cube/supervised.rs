//! Supervised learners, which train on labels derived from the rules. There are three training signals (kinds of labels). The first signal
//! is the length of a random walk from the solved state to a state. The mean length of the walks to a state increases with the state's
//! distance (Chervov et al., "A machine learning approach that beats large Rubik's cubes", 2025). The second signal is the last move of a
//! walk (Takano, "Self-supervision is all you need for solving Rubik's cube", 2023). The third signal is the exact distance, as a reference
//! where a table of distances exists.
//!
//! Walks never undo the last move, and all states of a walk are samples. Walks are used because states sampled uniformly would rarely be
//! near the solved state, where a wrong move costs most. The judge (the network that evaluates states) uses an average of the weights over
//! about the last eighth of the training. The random numbers of a walk depend on the seed, the step and the walk's number, so the number of
//! threads has no effect.

mod offload;

use super::net::{self, Evaluator, Inputs, Learned, Loss, NetConfig, Trainer};
use super::settings::{check_work, has_metric};
use super::values::Network;
use super::{Cube, CubeLearner, LearnerError, Progress, Scores, Stats, Steps};
use crate::offload::{self as machines, OffloadSlots, PlanSteps};
use crate::settings;
use crate::settings::{Settings, between, count, one_of};
use crate::state::{counters, load, partial, save, save_partial, tensors};
use crate::{Data, Find, Learner, NetworkValues, Offload, Parts, Slice, Tensor, WorkedOn};
use graph::{Executor, Graph, NodeId, PlanError};
use math::{Isa, Rng, graded, par};
use std::ops::Range;
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Metric};

/// Training signal: the label of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Length of a random walk from the solved state to the state.
    WalkLength,
    /// Last move of a random walk to the state. The inverse of this move is the correct action.
    LastMove,
    /// Exact distance of the state. The state is drawn from a random walk.
    Exact,
}

impl Signal {
    pub const ALL: [Signal; 3] = [Signal::WalkLength, Signal::LastMove, Signal::Exact];

    pub const fn scores(self) -> Scores {
        match self {
            Signal::WalkLength | Signal::Exact => Scores::Value,
            Signal::LastMove => Scores::Policy,
        }
    }

    const fn loss(self) -> Loss {
        match self {
            Signal::WalkLength | Signal::Exact => Loss::Squares,
            Signal::LastMove => Loss::CrossEntropy,
        }
    }
}

settings! {
    pub struct SupervisedConfig {
        nest steps: Steps;
        fixed walk: usize, [count(1.0, 200.0), "Random-walk length", "moves",
            "Moves of each random walk from the solved state. All states of a walk are training samples."];
        fixed batch: usize, [count(16.0, 65_536.0), "Minibatch size", "states",
            "States per update of the network, rounded down to whole walks."];
        nest net: NetConfig;
        fixed metric: Metric, [one_of::<Metric>(), "Metric", "",
            "Moves: quarter turns only, or half turns as well."];
        fixed signal: Signal;
    }
}

impl SupervisedConfig {
    /// Returns the recommended settings for this cube and this signal.
    pub fn preset<P: Cube>(signal: Signal) -> SupervisedConfig {
        let two = P::SIZE == 2;
        let inputs = match signal.scores() {
            Scores::Value => Inputs::Symmetric,
            _ if two => Inputs::Folded,
            _ => Inputs::Cubies,
        };
        SupervisedConfig {
            metric: Metric::Quarter,
            signal,
            net: NetConfig {
                inputs,
                hidden: if two { vec![256, 128] } else { vec![256, 192] },
                blocks: if two { 0 } else { 1 },
                norm: !two,
                dueling: false,
            },
            walk: if two { 24 } else { 26 },
            batch: if two { 480 } else { 2080 },
            // With these numbers of updates, both cubes need about the same time per iteration.
            steps: Steps { lr: 2e-3, lr_steps: 2000.0, max_grad_norm: 10.0, updates: if two { 64 } else { 16 } },
        }
    }

    /// Returns an upper estimate of the memory of a run with these settings, in bytes; `u64::MAX` for invalid settings.
    pub fn bytes<P: Cube>(&self) -> u64 {
        let Ok(outputs) = self.check::<P>() else { return u64::MAX };
        let plan = net::plan_learning::<P>(&self.net, outputs, self.signal.loss(), self.rows(), Isa::best());
        plan.map_or(u64::MAX, |plan| {
            let active = self.net.inputs.active::<P>();
            let sample = size_of::<P>() + size_of::<f32>() + 1 + active * size_of::<u16>();
            Trainer::bytes(&plan) + Evaluator::<P>::bytes(&self.net) + (self.rows() as u64) * sample as u64
        })
    }

    /// Checks the settings; returns the number of network outputs.
    pub fn check<P: Cube>(&self) -> Result<usize, LearnerError> {
        self.net.check(self.signal.scores())?;
        self.in_range()?;
        between("batch", self.batch, self.walk, 65_536)?;
        if self.signal == Signal::Exact && !P::EXACT {
            return Err(UNKNOWN);
        }
        let outputs = self.signal.scores().count(Actions::of::<P>(self.metric).count());
        check_work("batch", self.rows(), self.net.largest(outputs))?;
        Ok(outputs)
    }

    /// Returns the number of states per optimizer step: `batch`, rounded down to whole walks.
    fn rows(&self) -> usize {
        self.batch / self.walk * self.walk
    }

    /// Converts the network's outputs to scores.
    fn read(&self, g: &mut Graph, y: NodeId) -> NodeId {
        let (scale, shift) = self.unit();
        match self.signal.scores() {
            Scores::Value | Scores::ActionValues => g.affine(y, scale, shift),
            Scores::Policy => g.log_softmax(y),
        }
    }

    /// Returns the scale and the mean with which the targets are normalized. Normalized walk lengths and distances have a variance of about
    /// 1.
    fn unit(&self) -> (f32, f32) {
        let steps = self.walk as f32;
        match self.signal {
            Signal::WalkLength => ((steps * steps / 12.0).sqrt(), (steps + 1.0) / 2.0),
            Signal::LastMove => (1.0, 0.0),
            Signal::Exact => (3.0, 9.0),
        }
    }
}

const UNKNOWN: LearnerError = LearnerError::Unknown { instead: "walk or last" };

/// Minimum number of samples in a piece. Only the last piece may be smaller.
const PIECE: usize = 128;
/// The judge uses an average of the weights over about the last 1/`PARTS_OF_MEAN` of the optimizer steps so far.
const PARTS_OF_MEAN: f32 = 8.0;
/// Random stream of the samples.
const SAMPLES: u32 = 0x5341_4D50;

/// Piece of a step's samples, with buffers. A single thread draws all samples of a piece.
struct Piece<P> {
    states: Vec<P>,
    taken: Vec<u8>,
    active: Vec<u16>,
    targets: Vec<f32>,
}

/// Supervised learner. The module documentation describes its signals.
pub struct Supervised<P> {
    config: SupervisedConfig,
    seed: u32,
    isa: Isa,
    actions: Actions,
    outputs: usize,
    exact: Option<Arc<Distances>>,
    trainer: Trainer,
    /// Machines with offloaded training. While training is offloaded, `trainer` contains the weights and Adam moments of the last boundary
    /// between two iterations.
    away: OffloadSlots<PlanSteps>,
    /// Average of the weights over the latest part of the training. The judge uses this average.
    weights: Vec<f32>,
    pieces: Vec<Piece<P>>,
    /// Ranges of the training plan's kernel calls. Each slice runs one range.
    slices: Vec<Range<usize>>,
    /// Number of completed optimizer steps of this iteration.
    update: usize,
    /// Number of completed slices of the current optimizer step.
    slice: usize,
    progress: Progress,
    sums: Stats,
    /// True if a loss or a gradient norm of the last iteration was not finite.
    diverged: bool,
    clock: fn() -> f64,
}

impl<P: Cube> Supervised<P> {
    /// Creates a learner. `exact` is the table of distances, which only [`Signal::Exact`] requires.
    pub fn new(config: SupervisedConfig, exact: Option<Arc<Distances>>, seed: u32, isa: Isa) -> Result<Supervised<P>, LearnerError> {
        let outputs = config.check::<P>()?;
        if config.signal == Signal::Exact && !has_metric(exact.as_ref(), config.metric) {
            return Err(UNKNOWN);
        }
        let rows = config.rows();
        let plan = Arc::new(net::plan_learning::<P>(&config.net, outputs, config.signal.loss(), rows, isa)?);
        let trainer = Trainer::new(&plan, seed);
        let size = PIECE.next_multiple_of(config.walk);
        let piece = |first| {
            let count = size.min(rows - first);
            Piece {
                states: vec![P::SOLVED; count],
                taken: vec![0; count],
                active: vec![0; count * config.net.inputs.active::<P>()],
                targets: vec![0.0; count],
            }
        };
        Ok(Supervised {
            actions: Actions::of::<P>(config.metric),
            outputs,
            weights: trainer.params.values().to_vec(),
            slices: trainer.plan().parts(par::TURN),
            trainer,
            away: OffloadSlots::NONE,
            pieces: (0..rows).step_by(size).map(piece).collect(),
            update: 0,
            slice: 0,
            progress: Progress::default(),
            sums: Stats::default(),
            diverged: false,
            clock: || 0.0,
            config,
            seed,
            isa,
            exact,
        })
    }

    /// Restores a learner from its [`Supervised::parts`]. With the settings and the seed of the saved learner, training continues exactly
    /// as without the interruption.
    pub fn restore(
        config: SupervisedConfig,
        exact: Option<Arc<Distances>>,
        seed: u32,
        isa: Isa,
        find: &Find,
    ) -> Result<Supervised<P>, LearnerError> {
        let mut it = Supervised::new(config, exact, seed, isa)?;
        let Trainer { params, optimizer, .. } = &mut it.trainer;
        let table = params.table().clone();
        load(
            find,
            &table,
            [("", params.values_mut()), ("mean.", &mut it.weights), ("adam.m.", &mut optimizer.m), ("adam.v.", &mut optimizer.v)],
        )?;
        let [iterations, updates, states, steps] = counters(find, "counters")?;
        it.progress = Progress { iterations, updates, states, ..Progress::default() };
        it.trainer.optimizer.steps = steps;
        if let Some([update, loss, grad_norm, lr]) = partial(find)? {
            it.update = update as usize;
            it.sums = Stats::of_sums([loss, grad_norm, lr]);
        }
        it.trainer.pack();
        Ok(it)
    }

    pub fn config(&self) -> &SupervisedConfig {
        &self.config
    }

    /// Changes the settings between two iterations. Returns an error for changes that need a new learner
    /// ([`SupervisedConfig::can_become`]).
    pub fn set(&mut self, config: SupervisedConfig) -> Result<(), LearnerError> {
        config.check::<P>()?;
        if !self.config.can_become(&config) {
            return Err(LearnerError::Fixed { what: "cube, signal, network, walk and batch" });
        }
        self.config = config;
        Ok(())
    }

    fn finish(&mut self) -> Stats {
        let steps = std::mem::take(&mut self.update);
        let updates = steps as f32;
        self.progress.iterations += 1;
        let before = self.progress.updates as f32 - updates;
        let new = PARTS_OF_MEAN * updates;
        graded::approach(self.isa, new / (before + new), self.trainer.params.values(), &mut self.weights);
        let sums = std::mem::take(&mut self.sums);
        self.diverged = !sums.is_number();
        Stats { finite: self.is_finite(), ..sums.over(steps, self.config.rows()) }
    }

    /// Draws the samples of the next optimizer step.
    fn draw(&mut self) {
        let Supervised { config, seed, actions, exact, progress, pieces, .. } = self;
        let (signal, (scale, shift), step) = (config.signal, config.unit(), progress.updates);
        let rng = Rng { key: [*seed, SAMPLES, step as u32, (step >> 32) as u32] };
        let (walk, inputs, exact, actions) = (config.walk, config.net.inputs, exact.as_deref(), *actions);
        par::each_mut(pieces, |i, Piece { states, taken, active, targets }| {
            let mut numbers = rng.sequence((i as u64) << 32);
            let walks = states.chunks_exact_mut(walk).zip(taken.chunks_exact_mut(walk));
            for ((states, taken), targets) in walks.zip(targets.chunks_exact_mut(walk)) {
                P::fill_walk(&actions, &mut numbers, states, taken);
                for (step, (target, (&taken, state))) in targets.iter_mut().zip(taken.iter().zip(&*states)).enumerate() {
                    let length = |length: f32| (length - shift) / scale;
                    *target = match signal {
                        Signal::WalkLength => length((step + 1) as f32),
                        Signal::LastMove => inputs.action(*state, actions.inverse(usize::from(taken))) as f32,
                        Signal::Exact => {
                            let distance = exact.and_then(|exact| state.distance(exact));
                            length(f32::from(distance.expect("checked with the settings")))
                        }
                    };
                }
            }
            inputs.fill(states, active);
        });
        let mut rest = self.trainer.input_mut("active");
        for piece in &self.pieces {
            let (here, behind) = rest.split_at_mut(piece.active.len());
            here.iter_mut().zip(&piece.active).for_each(|(to, &active)| *to = f32::from(active));
            rest = behind;
        }
        let mut rest = self.trainer.input_mut("target");
        for piece in &self.pieces {
            let (here, behind) = rest.split_at_mut(piece.targets.len());
            here.copy_from_slice(&piece.targets);
            rest = behind;
        }
    }
}

impl<P: Cube> Learner for Supervised<P> {
    type Stats = Stats;
    type Progress = Progress;

    crate::learner_settings!(config, set, SupervisedConfig::check::<P>);

    fn advance(&mut self) -> Slice<Stats> {
        if self.away.is_offloaded() {
            return machines::advance(self);
        }
        let began = (self.clock)();
        if self.slice == 0 {
            self.draw();
        }
        let drawn = (self.clock)();
        self.trainer.compute(self.slices[self.slice].clone());
        self.slice += 1;
        if self.slice < self.slices.len() {
            self.sums.parts_s[0] += drawn - began;
            self.sums.parts_s[3] += (self.clock)() - drawn;
            return Slice::Worked;
        }
        self.slice = 0;
        let adam = self.config.steps.adam(self.trainer.optimizer.steps);
        let Learned { loss, grad_norm } = self.trainer.update(&adam);
        self.sums.loss += loss;
        self.sums.grad_norm += grad_norm;
        self.sums.lr += adam.lr;
        self.sums.parts_s[0] += drawn - began;
        self.sums.parts_s[3] += (self.clock)() - drawn;
        self.progress.updates += 1;
        self.progress.states += self.config.rows() as u64;
        self.update += 1;
        if self.update < self.config.steps.updates {
            return Slice::Worked;
        }
        Slice::Ended(self.finish())
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Ok(self)
    }

    fn worked_on(&self) -> WorkedOn {
        WorkedOn::of(self.away.is_offloaded())
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        let Trainer { params, optimizer, .. } = &self.trainer;
        tensors(params.table(), params.values(), &optimizer.m)
    }

    fn parts(&self) -> Parts {
        let Trainer { params, optimizer, .. } = &self.trainer;
        let mut parts =
            save(params.table(), [("", params.values()), ("mean.", &self.weights), ("adam.m.", &optimizer.m), ("adam.v.", &optimizer.v)]);
        let Progress { iterations, updates, states, .. } = self.progress;
        let counters = vec![iterations, updates, states, optimizer.steps];
        parts.push(("counters".into(), vec![counters.len()], Data::U64(counters)));
        if self.update > 0 {
            let [loss, grad_norm, lr] = self.sums.sums();
            parts.push(save_partial([self.update as f64, loss, grad_norm, lr]));
        }
        parts
    }

    fn at_boundary(&self) -> bool {
        self.update == 0 && self.slice == 0
    }

    fn saves_mid_iteration(&self) -> bool {
        !self.away.is_offloaded()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn is_finite(&self) -> bool {
        let Trainer { params, optimizer, .. } = &self.trainer;
        let all = [params.values(), &self.weights, &optimizer.m, &optimizer.v];
        !self.diverged && all.iter().all(|values| values.iter().all(|x| x.is_finite()))
    }

    fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn executor_mut(&mut self) -> Option<&mut Executor> {
        Some(self.trainer.executor_mut())
    }
}

impl<P: Cube> CubeLearner for Supervised<P> {
    type Cube = P;

    fn actions(&self) -> Actions {
        self.actions
    }

    fn judge(&self) -> Result<Evaluator<P>, PlanError> {
        let SupervisedConfig { net, signal, .. } = &self.config;
        let read = |g: &mut Graph, y| self.config.read(g, y);
        Evaluator::new(net, signal.scores(), self.outputs, read, &self.weights, self.isa)
    }

    fn network(&self, states: &[P]) -> Result<NetworkValues, PlanError> {
        let SupervisedConfig { net, signal, .. } = &self.config;
        let (scores, params) = (signal.scores(), &self.trainer.params);
        Network { config: net, scores, actions: self.actions, params, isa: self.isa }.values(states)
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> graph::export::Model {
        let SupervisedConfig { net, signal, .. } = &self.config;
        crate::cube::export::model::<P>(net, signal.scores(), self.actions, &|g, y| self.config.read(g, y), &self.weights)
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<graph::export::Examples, PlanError> {
        crate::cube::export::examples(self, self.config.net.inputs, count, seed)
    }
}
