//! A machine that this CPU simulates, for the offloadable work of every room.

use learn::backgammon::published::LocalAccelerator;
use learn::backgammon::published::accelerator::{
    Accelerator as BoardAccelerator, Answer, DECISION_WORDS, OffloadSpec, PackedSample, TrainResult as BoardResult,
    TrainStateRef as BoardState, Work,
};
use learn::control::{Accelerator, IterationInput, IterationOutput, IterationStats, Ppo, Snapshot, ppo::LossSums};
use learn::offload::{Local, PlanEvaluator, PlanTrainer, TrainStateRef, serve};
use learn::{Data, Fault, Learner, Machine, Slice};
use math::Isa;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

/// Duration in seconds of a slice on the CPU, by the test's clock.
pub const CPU_SLICE_S: f64 = 0.01;

/// Simulated machine, whose speed and faults a test chooses.
#[derive(Clone)]
pub struct Twin {
    /// Number of polls until an answer is ready.
    pub polls: u32,
    /// Number of calls until the machine is lost; in control, number of iterations. If the number is negative, the machine is never lost.
    pub calls_left: Arc<AtomicI64>,
    pub software: bool,
    pub refuses: Option<Fault>,
    /// Duration of a slice in seconds: the first if only learning is offloaded, the second if everything is offloaded.
    pub slice_s: [f64; 2],
    /// Number of active offloads: the first of learning only, the second of everything.
    pub active: [Arc<AtomicU32>; 2],
    /// Number of offloads that have begun so far, counted separately as in `active`.
    pub started: [Arc<AtomicU32>; 2],
    /// Number of evaluators created.
    pub evaluators: Arc<AtomicU32>,
}

impl Twin {
    pub fn new() -> Twin {
        let counts = || [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
        Twin {
            polls: 2,
            calls_left: Arc::new(AtomicI64::new(-1)),
            software: false,
            refuses: None,
            slice_s: [CPU_SLICE_S; 2],
            active: counts(),
            started: counts(),
            evaluators: Arc::new(AtomicU32::new(0)),
        }
    }

    pub fn lost_after(calls_left: i64) -> Twin {
        Twin { calls_left: Arc::new(AtomicI64::new(calls_left)), ..Twin::new() }
    }

    pub fn boxed(&self) -> Result<Box<dyn Machine>, Fault> {
        Ok(Box::new(self.clone()))
    }

    pub fn started(&self) -> [u32; 2] {
        self.started.each_ref().map(|count| count.load(Relaxed))
    }

    pub fn is_active(&self, kind: usize) -> bool {
        self.active[kind].load(Relaxed) > 0
    }

    pub fn slice_s(&self) -> f64 {
        (0..2).find(|&kind| self.is_active(kind)).map_or(CPU_SLICE_S, |kind| self.slice_s[kind])
    }

    fn start(&self, kind: usize) -> Result<ActiveOffload, Fault> {
        if let Some(fault) = &self.refuses {
            return Err(fault.clone());
        }
        self.started[kind].fetch_add(1, Relaxed);
        self.active[kind].fetch_add(1, Relaxed);
        Ok(ActiveOffload { machine: self.clone(), kind, polls: 0 })
    }

    fn ppo(&self, snapshot: &Snapshot) -> Result<Box<dyn Accelerator>, Fault> {
        let offload = self.start(1)?;
        let find = |name: &str| snapshot.state.iter().find(|p| p.0 == name).map(|p| (p.1.as_slice(), &p.2));
        let spec = snapshot.spec.clone();
        let twin = Ppo::restore(&spec.kind, spec.config, spec.seed, Isa::best(), &find).unwrap();
        Ok(Box::new(OffloadedPpo { twin, offload, watch: false }))
    }

    fn boards(&self, spec: &OffloadSpec) -> Result<Box<dyn BoardAccelerator>, Fault> {
        let offload = self.start(usize::from(spec.work == Work::ALL))?;
        Ok(Box::new(OffloadedBoards { accelerator: LocalAccelerator::new(spec)?, offload }))
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
        self.evaluators.fetch_add(1, Relaxed);
        Local.evaluator(plan, weights)
    }

    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |snapshot: &Snapshot| self.ppo(snapshot))
            .or_else(|| serve(request, |spec: &OffloadSpec| self.boards(spec)))
            .or_else(|| learn::logic::offload::Local(Isa::best()).special(request))
    }
}

/// An active offload on a [`Twin`].
struct ActiveOffload {
    machine: Twin,
    kind: usize,
    polls: u32,
}

impl Drop for ActiveOffload {
    fn drop(&mut self) {
        self.machine.active[self.kind].fetch_sub(1, Relaxed);
    }
}

impl ActiveOffload {
    fn count_call(&self) -> Result<(), Fault> {
        match self.machine.calls_left.fetch_sub(1, Relaxed) {
            0 => Err(Fault::Lost { why: "the test disconnected it".into() }),
            _ => Ok(()),
        }
    }

    fn is_ready(&mut self) -> bool {
        self.polls = (self.polls + 1) % self.machine.polls;
        self.polls == 0
    }
}

/// Offloaded training and board evaluation of the published backgammon learner.
struct OffloadedBoards {
    accelerator: LocalAccelerator,
    offload: ActiveOffload,
}

impl BoardAccelerator for OffloadedBoards {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.offload.count_call()?;
        self.accelerator.set_weights(weights)
    }

    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
        self.offload.count_call()?;
        self.accelerator.ask(lane, decisions)
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        self.offload.count_call()?;
        if self.offload.is_ready() { self.accelerator.answer(lane, answer) } else { Ok(false) }
    }

    fn set_state(&mut self, state: &BoardState) -> Result<(), Fault> {
        self.offload.count_call()?;
        self.accelerator.set_state(state)
    }

    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
        self.offload.count_call()?;
        self.accelerator.store_samples(first, packed_samples)
    }

    fn step(&mut self, adam: &graph::Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        self.offload.count_call()?;
        self.accelerator.step(adam, value_coef, drawn)
    }

    fn request_result(&mut self) -> Result<(), Fault> {
        self.offload.count_call()?;
        self.accelerator.request_result()
    }

    fn poll_result(&mut self, result: &mut BoardResult) -> Result<bool, Fault> {
        self.offload.count_call()?;
        if self.offload.is_ready() { self.accelerator.poll_result(result) } else { Ok(false) }
    }
}

/// Offloaded iterations of control, which a second learner computes completely.
struct OffloadedPpo {
    twin: Ppo,
    offload: ActiveOffload,
    watch: bool,
}

impl Accelerator for OffloadedPpo {
    fn begin(&mut self, input: &IterationInput) -> Result<(), Fault> {
        if input.config.clip_value != self.twin.config().clip_value {
            return Err(Fault::Unknown { what: "another loss".into() }); // as the GPU does
        }
        self.twin.set_config(input.config.clone()).unwrap();
        (self.offload.polls, self.watch) = (0, input.record);
        Ok(())
    }

    fn poll(&mut self, output: &mut IterationOutput) -> Result<bool, Fault> {
        if !self.offload.is_ready() {
            return Ok(false);
        }
        self.offload.count_call()?;
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

impl OffloadedPpo {
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
