//! A machine that is a stand-in on this processor, for the work of every room that can be offloaded.

use learn::backgammon::published::LocalAccelerator;
use learn::backgammon::published::accelerator::{
    Accelerator as BoardAccelerator, Answer, DECISION_WORDS, OffloadSpec, PackedSample, TrainResult as BoardResult,
    TrainStateRef as BoardState, Work,
};
use learn::control::{Accelerator, IterationInput, IterationOutput, IterationStats, Ppo, PpoConfig, Snapshot, ppo::LossSums};
use learn::offload::{Local, PlanEvaluator, PlanTrainer, TrainStateRef, serve};
use learn::{Data, Fault, Learner, Machine, Slice};
use math::Isa;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

/// Seconds of a slice on the processor, by the test's clock.
pub const HOME_S: f64 = 0.01;

/// How the other machine behaves.
#[derive(Clone)]
pub struct Twin {
    /// Looks at an answer until it is there.
    pub looks: u32,
    /// Calls, or iterations of control, after which it is lost; for ever where they are negative.
    pub lives: Arc<AtomicI64>,
    pub software: bool,
    pub refuses: Option<Fault>,
    /// Seconds that a slice takes while it learns, and while it does all.
    pub slice_s: [f64; 2],
    /// Those at work now, and those that there have been: learning alone, and all.
    pub at_work: [Arc<AtomicU32>; 2],
    pub taken_on: [Arc<AtomicU32>; 2],
    /// Judges of states that were lent.
    pub judges: Arc<AtomicU32>,
}

impl Twin {
    pub fn new() -> Twin {
        let counts = || [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
        Twin {
            looks: 2,
            lives: Arc::new(AtomicI64::new(-1)),
            software: false,
            refuses: None,
            slice_s: [HOME_S; 2],
            at_work: counts(),
            taken_on: counts(),
            judges: Arc::new(AtomicU32::new(0)),
        }
    }

    pub fn with_lives(lives: i64) -> Twin {
        Twin { lives: Arc::new(AtomicI64::new(lives)), ..Twin::new() }
    }

    pub fn boxed(&self) -> Result<Box<dyn Machine>, Fault> {
        Ok(Box::new(self.clone()))
    }

    pub fn taken_on(&self) -> [u32; 2] {
        self.taken_on.each_ref().map(|count| count.load(Relaxed))
    }

    pub fn is_at_work(&self, kind: usize) -> bool {
        self.at_work[kind].load(Relaxed) > 0
    }

    pub fn slice_s(&self) -> f64 {
        (0..2).find(|&kind| self.is_at_work(kind)).map_or(HOME_S, |kind| self.slice_s[kind])
    }

    fn lend(&self, kind: usize) -> Result<Lent, Fault> {
        if let Some(fault) = &self.refuses {
            return Err(fault.clone());
        }
        self.taken_on[kind].fetch_add(1, Relaxed);
        self.at_work[kind].fetch_add(1, Relaxed);
        Ok(Lent { machine: self.clone(), kind, looks: 0 })
    }

    fn ppo(&self, snapshot: &Snapshot) -> Result<Box<dyn Accelerator>, Fault> {
        let lent = self.lend(1)?;
        let find = |name: &str| snapshot.state.iter().find(|p| p.0 == name).map(|p| (p.1.as_slice(), &p.2));
        let spec = snapshot.spec.clone();
        let twin = Ppo::restore(spec.kind, spec.config, spec.seed, Isa::best(), &find).unwrap();
        Ok(Box::new(LentPpo { twin, lent, watch: false }))
    }

    fn boards(&self, spec: &OffloadSpec) -> Result<Box<dyn BoardAccelerator>, Fault> {
        let lent = self.lend(usize::from(spec.work == Work::ALL))?;
        Ok(Box::new(LentBoards { accelerator: LocalAccelerator::new(spec)?, lent }))
    }
}

impl Machine for Twin {
    fn name(&self) -> String {
        "Twin (this processor)".into()
    }

    fn is_software(&self) -> bool {
        self.software
    }

    fn trainer(&self, plan: &Arc<graph::Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Local.trainer(plan, state)
    }

    fn evaluator(&self, plan: &Arc<graph::Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        self.judges.fetch_add(1, Relaxed);
        Local.evaluator(plan, weights)
    }

    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |snapshot: &Snapshot| self.ppo(snapshot))
            .or_else(|| serve(request, |spec: &OffloadSpec| self.boards(spec)))
            .or_else(|| learn::logic::offload::Local(Isa::best()).special(request))
    }
}

/// Work of a [`Twin`] that is under way.
struct Lent {
    machine: Twin,
    kind: usize,
    looks: u32,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.machine.at_work[self.kind].fetch_sub(1, Relaxed);
    }
}

impl Lent {
    fn live(&self) -> Result<(), Fault> {
        match self.machine.lives.fetch_sub(1, Relaxed) {
            0 => Err(Fault::Lost { why: "a test pulled its plug".into() }),
            _ => Ok(()),
        }
    }

    fn is_here(&mut self) -> bool {
        self.looks = (self.looks + 1) % self.machine.looks;
        self.looks == 0
    }
}

/// Learning, and valuing boards, of the published learner of backgammon.
struct LentBoards {
    accelerator: LocalAccelerator,
    lent: Lent,
}

impl BoardAccelerator for LentBoards {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.lent.live()?;
        self.accelerator.set_weights(weights)
    }

    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
        self.lent.live()?;
        self.accelerator.ask(lane, decisions)
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        self.lent.live()?;
        if self.lent.is_here() { self.accelerator.answer(lane, answer) } else { Ok(false) }
    }

    fn set_state(&mut self, state: &BoardState) -> Result<(), Fault> {
        self.lent.live()?;
        self.accelerator.set_state(state)
    }

    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
        self.lent.live()?;
        self.accelerator.store_samples(first, packed_samples)
    }

    fn step(&mut self, adam: &graph::Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        self.lent.live()?;
        self.accelerator.step(adam, value_coef, drawn)
    }

    fn request_result(&mut self) -> Result<(), Fault> {
        self.lent.live()?;
        self.accelerator.request_result()
    }

    fn poll_result(&mut self, result: &mut BoardResult) -> Result<bool, Fault> {
        self.lent.live()?;
        if self.lent.is_here() { self.accelerator.poll_result(result) } else { Ok(false) }
    }
}

/// Whole iterations of control, which another learner does.
struct LentPpo {
    twin: Ppo,
    lent: Lent,
    watch: bool,
}

impl Accelerator for LentPpo {
    fn begin(&mut self, input: &IterationInput) -> Result<(), Fault> {
        let config = PpoConfig { lr: input.config.lr, ..input.config.clone() };
        self.twin.set_config(config).unwrap();
        (self.lent.looks, self.watch) = (0, input.record);
        Ok(())
    }

    fn poll(&mut self, output: &mut IterationOutput) -> Result<bool, Fault> {
        if !self.lent.is_here() {
            return Ok(false);
        }
        self.lent.live()?;
        let before = self.twin.progress().episodes;
        let mut updates = 1;
        let stats = loop {
            let steps = self.twin.progress().env_steps;
            match self.twin.advance() {
                Slice::Ended(stats) => break stats,
                _ => updates += u32::from(self.twin.progress().env_steps == steps),
            }
        };
        self.write(output, &stats, updates, before);
        Ok(true)
    }
}

impl LentPpo {
    fn write(&self, output: &mut IterationOutput, stats: &IterationStats, updates: u32, before: u64) {
        let parts = self.twin.parts();
        let part = |name: &str| &parts.iter().find(|p| p.0 == name).unwrap().2;
        let floats = |name: &str| match part(name) {
            Data::F32(values) => values.clone(),
            _ => panic!("{name} are floats"),
        };
        let words = |name: &str| match part(name) {
            Data::U32(values) => values.clone(),
            _ => panic!("{name} are whole numbers"),
        };
        let IterationStats { policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm, .. } = *stats;
        let ended = self.twin.progress().episodes - before;
        let (returns, lengths) = (floats("recent.returns"), words("recent.lengths"));
        let newest = self.twin.progress().episodes - ended.min(100)..self.twin.progress().episodes;
        let sum = |mean: f32| f64::from(mean) * f64::from(updates);
        let (mut recorded_observations, mut recorded_ended) = (Vec::new(), Vec::new());
        if self.watch {
            let recorded = self.twin.recorded();
            recorded.read(0..recorded.steps, &mut recorded_observations, &mut recorded_ended);
        }
        *output = IterationOutput {
            params: self.twin.params().values().to_vec(),
            adam_m: floats("adam.m"),
            adam_v: floats("adam.v"),
            sums: LossSums {
                metrics: [policy_loss, value_loss, entropy, approx_kl, clip_fraction].map(sum),
                grad_norm: sum(grad_norm),
                updates,
            },
            explained_variance: stats.explained_variance,
            states: floats("environments.state"),
            steps: words("environments.steps"),
            episodes: words("environments.episodes"),
            episode_returns: floats("environments.returns"),
            episodes_ended: ended,
            finished: newest.map(|n| (returns[(n % 100) as usize], lengths[(n % 100) as usize])).collect(),
            recorded_observations,
            recorded_ended,
            ..IterationOutput::default()
        };
    }
}
