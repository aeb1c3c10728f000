//! An experiment: it takes commands, works in short slices and gives events and frames.
//!
//! It refuses to know the time, the platform, files or threads: a shell tells it what the clock
//! says, and the clock never reaches the training, so the same config gives the same weights.

use crate::checkpoint::{self, Header};
use crate::course::{Arithmetic, Clock, Counted, GPU, History, arithmetic};
use crate::device::{Devices, Lender, Pass, Settled, fault_parts};
use crate::digest::Expected;
use crate::error::RunError;
use crate::protocol::{
    Backend, Command, Config, Device, DeviceWish, Digest, Environment, Evaluation, Event, Frame, Knob, Level,
    Mark, Metrics, PARTS, Picture, PlanView, Progress, Stage as StageView, Touch,
};
use crate::stage::Stage;
use crate::{CONFIG_VERSION, DIGEST_EVERY, ROOM, digest, environment, kind, knobs, validate};
use learn::{Accelerator, Fault, Harvest, IterationStats, Machine, Ppo, PpoConfig, Slice, Times};
use math::Isa;
use math::par::Pinned;
use worlds::{Actions, Spec};

/// Episodes of an evaluation.
pub const EVALUATION_EPISODES: u32 = 100;
/// Iterations between evaluations, before and after the task is solved, at least.
const EVALUATE_EVERY: [u32; 2] = [2, 16];
/// And so many that the steps of an evaluation are this many times those of training at most.
const EVALUATION_SHARE: f64 = 1.0;
/// And past this many evaluations every second one.
const MAX_EVALUATIONS: usize = 2048;
/// Points of a picture along one side at most.
const MAX_PICTURE: u32 = 512;

pub struct Experiment {
    config: Config,
    settings: PpoConfig,
    isa: Isa,
    ppo: Ppo,
    stage: Stage,
    running: bool,
    /// Work on until the next boundary, also while paused.
    finish_iteration: bool,
    save_wanted: bool,
    pending: Vec<(String, f64)>,
    events: Vec<Event>,
    history: History<Metrics>,
    marks: Vec<Mark>,
    evaluations: Vec<Evaluation>,
    solved: bool,
    expected: Expected,
    clock: Clock,
    devices: Devices<Ppo>,
    /// What the iterations so far were computed with; see [`Digest`].
    arithmetic: Arithmetic,
    /// Nothing to do until the device answers.
    waiting: bool,
    /// An evaluation that is due while the device works on the next iteration: the mean length of episodes.
    judge_due: Option<Option<f32>>,
}

impl Experiment {
    pub fn new(config: Config, isa: Isa) -> Result<Self, RunError> {
        validate(&config)?;
        if config.room != ROOM {
            return Err(RunError::OtherRoom { found: config.room, here: ROOM.into() });
        }
        let settings = knobs::settings(&config.env, &config.knobs)?;
        let ppo = Ppo::new(kind(&config.env)?, settings.clone(), config.seed, isa)?;
        Ok(Self::around(config, settings, isa, ppo))
    }

    fn around(config: Config, settings: PpoConfig, isa: Isa, ppo: Ppo) -> Self {
        let mut experiment = Self {
            stage: Stage::new(ppo.kind(), config.seed),
            arithmetic: Arithmetic::of(isa),
            devices: Devices::default(),
            waiting: false,
            judge_due: None,
            config,
            settings,
            isa,
            ppo,
            running: false,
            finish_iteration: false,
            save_wanted: false,
            pending: Vec::new(),
            events: Vec::new(),
            history: History::new(),
            marks: Vec::new(),
            evaluations: Vec::new(),
            solved: false,
            expected: Expected::default(),
            clock: Clock::new(),
        };
        experiment.announce();
        experiment
    }

    fn announce(&mut self) {
        self.events.push(Event::Began {
            config: self.config.clone(),
            environment: Box::new(self.environment()),
            knobs: knobs::values(&self.config.env, &self.settings),
            history: self.history.rows().to_vec(),
            marks: self.marks.clone(),
            evaluations: self.evaluations.clone(),
            progress: self.progress(),
        });
        self.events.push(Event::Running { running: self.running });
    }

    /// Does what it is told, or says why not and leaves everything as it was.
    pub fn command(&mut self, command: Command) -> Result<(), RunError> {
        match command {
            Command::Start => self.set_running(true),
            Command::Pause => self.set_running(false),
            Command::Step => {
                self.set_running(false);
                // Mid-iteration, a step is what is left of it.
                self.finish_iteration = true;
            }
            Command::Reset { config } => {
                let running = self.running;
                let mut fresh = Self::new(config.unwrap_or_else(|| self.config.clone()), self.isa)?;
                fresh.lend_clock(self.clock.lent);
                fresh.carry_over(self, running);
                *self = fresh;
            }
            Command::SetKnob { name, value } => {
                // Checked now, so that a refusal reaches whoever asked; in force from the boundary.
                knobs::set_live(&self.config.env, &mut self.settings.clone(), &name, value)?;
                self.pending.push((name, value));
                if self.ppo.at_boundary() {
                    self.apply_pending();
                }
            }
            Command::Device { wish } => self.devices.wish(&mut self.ppo, wish),
            Command::Save => {
                self.save_wanted = true;
                if self.ppo.at_boundary() {
                    self.give_save();
                } else {
                    self.finish_iteration = true;
                }
            }
            Command::Restore { bytes } => {
                let running = self.running;
                let mut restored = Self::restore(&bytes, self.isa)?;
                restored.lend_clock(self.clock.lent);
                restored.carry_over(self, running);
                *self = restored;
            }
        }
        Ok(())
    }

    /// What a reset or restore keeps of the experiment before: undelivered events, then its own.
    fn carry_over(&mut self, before: &mut Self, running: bool) {
        let mut events = std::mem::take(&mut before.events);
        events.append(&mut self.events);
        self.events = events;
        self.devices = before.devices.for_another_run();
        self.set_running(running);
    }

    fn set_running(&mut self, running: bool) {
        if self.running != running {
            self.running = running;
            self.clock.rest();
            self.events.push(Event::Running { running });
        }
    }

    /// One slice of work; false when there is nothing to do. `now_s` is the shell's clock, in
    /// seconds from anywhere.
    pub fn advance(&mut self, now_s: f64) -> bool {
        self.waiting = false;
        if !self.running && !self.finish_iteration {
            self.clock.rest();
            self.devices.pause();
            return false;
        }
        // Where a link's digest is still to be reached, the run stays on what can reach it until somebody decides.
        let bound = self.expected.is_ahead() && self.devices.wished() == DeviceWish::Auto;
        if self.ppo.at_boundary() && !bound {
            match self.devices.settle(&mut self.ppo, now_s) {
                Settled::Already => {}
                Settled::Trying { waiting } => {
                    self.clock.rest();
                    self.waiting = waiting;
                    return true;
                }
                Settled::Now(device, fault) => self.told_device(device, fault.as_ref()),
            }
        }
        self.clock.round_s += self.clock.trained(now_s);
        match self.ppo.advance() {
            Slice::Iteration(stats) => self.end_iteration(stats),
            // The processor judges while the device works on.
            Slice::Waiting => match self.judge_due.take() {
                Some(mean_length) => self.judge(mean_length),
                None => self.waiting = true,
            },
            Slice::Stopped(fault) => self.fall_back(&fault),
            Slice::Rollout | Slice::Update => {}
        }
        true
    }

    /// Whether the last slice found nothing to do but to wait for the device.
    pub fn waiting(&self) -> bool {
        self.waiting
    }

    /// Whether a shell should open a GPU, and [`Experiment::offer`] it.
    pub fn wants_machine(&self) -> bool {
        self.devices.wanted(&self.ppo)
    }

    pub fn device_wish(&self) -> DeviceWish {
        self.devices.wished()
    }

    /// A GPU to train on, or why there is none.
    pub fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>) {
        self.devices.offer(&mut self.ppo, machine);
    }

    fn told_device(&mut self, device: Device, fault: Option<&Fault>) {
        self.events.push(Event::Device(device));
        if let Some(fault) = fault {
            let (text, next_step) = fault_parts(fault);
            self.notice(Level::Warning, &text, &next_step);
        }
    }

    /// The learner is at home again, where its last iteration ended.
    fn fall_back(&mut self, fault: &Fault) {
        let device = self.devices.lose(fault);
        self.told_device(device, Some(fault));
        if let Some(mean_length) = self.judge_due.take() {
            self.judge(mean_length);
        }
    }

    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in the training.
    pub fn lend_clock(&mut self, clock: fn() -> f64) {
        self.clock.lent = clock;
        self.ppo.lend_clock(clock);
    }

    fn end_iteration(&mut self, stats: IterationStats) {
        let iteration_s = std::mem::take(&mut self.clock.round_s);
        let times = self.ppo.take_times();
        let metrics = self.metrics_from(&stats, &times, iteration_s);
        self.events.push(Event::Metrics(metrics));
        let now = if self.ppo.is_away() { GPU } else { arithmetic(self.isa) };
        self.arithmetic.note(metrics.progress.iteration, now);
        if !self.ppo.is_away() {
            self.devices.note_rate(metrics.steps_per_s);
        }
        self.history.add(metrics);
        if !(stats.policy_loss.is_finite() && stats.value_loss.is_finite() && stats.grad_norm.is_finite()) {
            self.set_running(false);
            self.notice(
                Level::Error,
                "Training diverged: the weights are no longer numbers.",
                "Reset, or load an earlier save, and choose a lower learning rate.",
            );
        }
        if self.ppo.is_away() && self.running {
            self.judge_due = Some(stats.mean_length);
        } else {
            self.judge(stats.mean_length);
        }
        if metrics.progress.iteration.is_multiple_of(DIGEST_EVERY) {
            let digest = self.digest();
            self.compare(&digest);
            self.events.push(Event::Digest(digest));
        }
        self.apply_pending();
        self.finish_iteration = false;
        self.give_save();
    }

    fn metrics_from(&self, stats: &IterationStats, times: &Times, iteration_s: f64) -> Metrics {
        let steps = (self.settings.envs * self.settings.rollout_steps) as f64;
        let rate = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let Times { policy, world, advantages, gather, gradient, update, device } = *times;
        let known = policy + world + advantages + gather + gradient + update + device;
        let rest = (iteration_s - known).max(0.0);
        let parts: [f64; PARTS.len()] = [policy, world, advantages, gather, gradient, update, rest, device];
        Metrics {
            progress: self.progress(),
            mean_return: stats.mean_return.map(f64::from),
            mean_length: stats.mean_length.map(f64::from),
            policy_loss: stats.policy_loss.into(),
            value_loss: stats.value_loss.into(),
            entropy: stats.entropy.into(),
            approx_kl: stats.approx_kl.into(),
            clip_fraction: stats.clip_fraction.into(),
            explained_variance: stats.explained_variance.into(),
            grad_norm: stats.grad_norm.into(),
            lr: stats.lr.into(),
            steps_per_s: rate(steps, iteration_s),
            shares: parts.map(|part| rate(part, known + rest)),
        }
    }

    /// Evaluates when it is time to, and says so once the task is solved.
    fn judge(&mut self, mean_length: Option<f32>) {
        let progress = self.progress();
        let last = self.evaluations.last().map_or(0, |e| e.progress.iteration);
        if progress.iteration < last + self.evaluate_every(mean_length) {
            return;
        }
        let evaluation = self.evaluate(EVALUATION_EPISODES, progress.iteration);
        self.evaluations.push(evaluation);
        if self.evaluations.len() > MAX_EVALUATIONS {
            let solved_at = self.spec().solved_at;
            thin(&mut self.evaluations, solved_at);
        }
        self.events.push(Event::Evaluation(evaluation));
        let threshold = self.spec().solved_at;
        if evaluation.mean_return >= threshold && !self.solved {
            self.solved = true;
            self.events.push(Event::Solved { progress, threshold });
        }
    }

    /// Iterations between two evaluations, of which the episodes that train tell how long one takes.
    fn evaluate_every(&self, mean_length: Option<f32>) -> u32 {
        let samples = (self.settings.envs * self.settings.rollout_steps) as f64;
        let length = mean_length.map_or(self.spec().step_limit.into(), f64::from);
        let worth_it = f64::from(EVALUATION_EPISODES) * length / (samples * EVALUATION_SHARE);
        EVALUATE_EVERY[usize::from(self.solved)].max(worth_it.ceil() as u32)
    }

    fn spec(&self) -> &'static Spec {
        self.ppo.kind().spec
    }

    pub fn environment(&self) -> Environment {
        environment(self.spec())
    }

    /// Judges the policy as it is on fresh episodes, which leave no trace in the training.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Evaluation {
        let result = self.ppo.evaluate(episodes, seed);
        Evaluation {
            progress: self.progress(),
            episodes,
            mean_return: result.mean.into(),
            min_return: result.min.into(),
            max_return: result.max.into(),
        }
    }

    fn apply_pending(&mut self) {
        let progress = self.progress();
        for (name, value) in std::mem::take(&mut self.pending) {
            let (from, to) = knobs::set_live(&self.config.env, &mut self.settings, &name, value)
                .expect("checked when it was asked for");
            if from != to {
                let mark = Mark { progress, knob: name, from, to };
                self.marks.push(mark.clone());
                self.events.push(Event::Mark(mark));
            }
        }
        let loss_changes = self.ppo.config().clip_value != self.settings.clip_value;
        self.ppo.set_live(&self.settings);
        if loss_changes && let Err(fault) = self.devices.lend_again(&mut self.ppo) {
            self.fall_back(&fault);
        }
    }

    fn give_save(&mut self) {
        if std::mem::take(&mut self.save_wanted) {
            let bytes = self.encode();
            self.events.push(Event::Saved { bytes });
        }
    }

    /// The whole run as one file, once the iteration in progress is done.
    pub fn save(&mut self) -> Vec<u8> {
        while !self.ppo.at_boundary() {
            match self.ppo.advance() {
                Slice::Iteration(stats) => self.end_iteration(stats),
                Slice::Stopped(fault) => self.fall_back(&fault),
                Slice::Rollout | Slice::Update | Slice::Waiting => {}
            }
        }
        self.encode()
    }

    fn encode(&self) -> Vec<u8> {
        let header = Header {
            version: CONFIG_VERSION,
            config: self.config.clone(),
            knobs: knobs::values(&self.config.env, &self.settings),
            progress: self.progress(),
            marks: self.marks.clone(),
            evaluations: self.evaluations.clone(),
            solved: self.solved,
            arithmetic: self.arithmetic.name().into(),
        };
        checkpoint::encode(&header, self.ppo.state(), self.history.rows())
    }

    /// Goes on exactly where [`Experiment::save`] left off.
    pub fn restore(bytes: &[u8], isa: Isa) -> Result<Self, RunError> {
        let (header, tensors, history) = checkpoint::decode(bytes)?;
        validate(&header.config)?;
        let settings = knobs::settings(&header.config.env, &header.knobs)?;
        let kind = kind(&header.config.env)?;
        let find = |name: &str| {
            tensors.iter().find(|t| t.0 == name).map(|(_, shape, data)| (shape.as_slice(), data))
        };
        let ppo = Ppo::restore(kind, settings.clone(), header.config.seed, isa, &find)
            .map_err(|e| RunError::Damaged { why: e.to_string() })?;
        let mut experiment = Self::around(header.config, settings, isa, ppo);
        experiment.events.clear();
        experiment.clock.train_s = header.progress.train_s;
        experiment.history = History::restored(history);
        experiment.marks = header.marks;
        experiment.evaluations = header.evaluations;
        experiment.solved = header.solved;
        experiment.announce();
        experiment.arithmetic = Arithmetic::restored(&header.arithmetic);
        if experiment.arithmetic.name() != arithmetic(isa) {
            let (text, next_step) = digest::OTHER_ROUNDING;
            experiment.notice(Level::Info, text, next_step);
        }
        Ok(experiment)
    }

    /// Compare the run with what whoever shared it got.
    pub fn expect(&mut self, digest: Digest) {
        self.expected.set(digest);
    }

    fn compare(&mut self, reached: &Digest) {
        let turned = !self.marks.is_empty();
        if let Some((level, text, next_step)) = self.expected.compare(reached, turned, "iterations") {
            self.notice(level, &text, next_step);
        }
    }

    fn notice(&mut self, level: Level, text: &str, next_step: &str) {
        self.events.push(Event::Notice { level, text: text.into(), next_step: next_step.into() });
    }

    /// What happened since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// What the shown environments lived through since the last call.
    pub fn frame(&mut self) -> Frame {
        let trail = self.ppo.trail();
        let frame = Frame {
            shown: trail.shown as u32,
            steps: trail.steps as u32,
            features: trail.features as u32,
            observations: trail.observations().to_vec(),
            ended: trail.ended().to_vec(),
            progress: self.progress(),
        };
        self.ppo.trail_clear();
        frame
    }

    /// Steps the large environment by the time that passed, pushed as the hand pushes it.
    pub fn touch(&mut self, touch: Touch) -> StageView {
        self.stage.touch(&mut self.ppo, touch)
    }

    /// What the policy would do and the critic expects over the environment's plane.
    pub fn picture(&mut self, width: u32, height: u32) -> Picture {
        let (width, height) = (width.clamp(1, MAX_PICTURE), height.clamp(1, MAX_PICTURE));
        let spec = self.spec();
        let at = |axis: worlds::Axis, i: u32, n: u32| {
            axis.low + (axis.high - axis.low) * (f64::from(i) + 0.5) / f64::from(n)
        };
        let mut observations = Vec::with_capacity((width * height) as usize * spec.observation.len());
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let (x, y) = (at(spec.plane.x, x, width), at(spec.plane.y, y, height));
            observations.extend(spec.plane.observation(x, y).into_iter().map(|x| x as f32));
        }
        let mut odds = vec![0.0; (width * height) as usize * self.ppo.odds_len()];
        let mut values = vec![0.0; (width * height) as usize];
        self.ppo.think(&observations, &mut odds, &mut values);
        let (channels, policy) = match spec.actions {
            Actions::Choices(count) => (count, odds),
            Actions::Range(low, high) => {
                let (middle, half) = (0.5 * (low + high) as f32, 0.5 * (high - low) as f32);
                (1, odds.chunks_exact(2).map(|pair| (pair[0] - middle) / half).collect())
            }
        };
        Picture { width, height, channels, policy, values }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The config with the knobs as they are now: what a link to this run and a command for it start.
    pub fn config_now(&self) -> Config {
        let mut config = self.config.clone();
        config.knobs.extend(self.marks.iter().map(|mark| (mark.knob.clone(), mark.to)));
        config
    }

    pub fn running(&self) -> bool {
        self.running
    }

    pub fn solved(&self) -> bool {
        self.solved
    }

    pub fn at_boundary(&self) -> bool {
        self.ppo.at_boundary()
    }

    pub fn progress(&self) -> Progress {
        let p = self.ppo.progress();
        Progress {
            iteration: p.iterations as u32,
            env_steps: p.env_steps,
            episodes: p.episodes,
            train_s: self.clock.train_s,
        }
    }

    pub fn knobs(&self) -> Vec<Knob> {
        crate::knob_list(&self.config.env)
    }

    pub fn digest(&self) -> Digest {
        Digest {
            iteration: self.progress().iteration,
            weights: digest::of_weights(self.ppo.params().values()),
            arithmetic: self.arithmetic.name().into(),
        }
    }

    pub fn plan(&self) -> PlanView {
        crate::plan::view(&self.ppo)
    }

    pub fn backend(&self) -> Backend {
        backend(self.isa)
    }
}

/// Whole iterations are lent, and nothing less.
impl Lender for Ppo {
    const WAYS: &'static [&'static str] = &["The GPU turned out to be faster."];
    const TRAINS_MEANWHILE: bool = true;
    type Trial = Trial;

    fn is_away(&self) -> bool {
        Ppo::is_away(self)
    }

    fn lend(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        Ppo::lend(self, machine)
    }

    fn come_home(&mut self) {
        Ppo::come_home(self);
    }

    fn begin_trial(&mut self, machine: &dyn Machine, _: usize) -> Result<Trial, Fault> {
        let accelerator = Pinned::new(self.accelerator(machine)?);
        Ok(Trial { accelerator, harvest: Harvest::default(), under_way: false })
    }

    fn go_on(&mut self, trial: &mut Trial) -> Result<Pass, Fault> {
        if !trial.under_way {
            self.with_turn(false, |turn| trial.accelerator.begin(turn))?;
            trial.under_way = true;
        } else if trial.accelerator.poll(&mut trial.harvest)? {
            trial.under_way = false;
            return Ok(Pass::Ended(self.pass_work()));
        }
        Ok(Pass::Waiting)
    }

    /// Steps of an iteration.
    fn pass_work(&mut self) -> f64 {
        (self.config().envs * self.config().rollout_steps) as f64
    }

    fn end_trial(&mut self, _: Trial) {}
}

/// A second learner at work on the other machine, of which nothing is taken.
pub(crate) struct Trial {
    accelerator: Pinned<Box<dyn Accelerator>>,
    harvest: Harvest,
    under_way: bool,
}

pub(crate) fn backend(isa: Isa) -> Backend {
    Backend {
        isa: isa.name().into(),
        threads: math::par::threads() as u32,
        arithmetic: arithmetic(isa).into(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

impl Counted for Metrics {
    fn count(&self) -> u32 {
        self.progress.iteration
    }
}

/// Drops every second evaluation but the newest and the one that solved the task: shells tell from it
/// when that was.
fn thin(evaluations: &mut Vec<Evaluation>, solved_at: f64) {
    let solved = evaluations.iter().position(|e| e.mean_return >= solved_at);
    let last = evaluations.len().saturating_sub(1);
    let mut place = 0..;
    evaluations.retain(|_| place.next().is_some_and(|i: usize| i % 2 == last % 2 || Some(i) == solved));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_evaluations_keep_the_newest_and_the_one_that_solved() {
        let evaluation = |iteration: u32| Evaluation {
            progress: Progress { iteration, ..Progress::default() },
            episodes: 100,
            mean_return: if iteration < 6 { 100.0 } else { 500.0 },
            min_return: 0.0,
            max_return: 500.0,
        };
        let mut evaluations: Vec<_> = (1..=9).map(evaluation).collect();
        thin(&mut evaluations, 475.0);
        let kept: Vec<_> = evaluations.iter().map(|e| e.progress.iteration).collect();
        assert_eq!(kept, [1, 3, 5, 6, 7, 9]);
    }
}
