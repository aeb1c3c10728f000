//! Training of a whole population on another machine. Between steps, the machine keeps the parameters, Adam moments and wires of all
//! members. On request, the machine returns the parameters and moments. The CPU draws the training data.

use super::automaton::GateForm;
use super::train::{Optimiser, Rollout, StepStats, Trainer};
use super::{Architecture, automaton::Automaton};
use crate::offload::{Request, TrainStateRef, serve};
use crate::{Fault, Machine};
use math::Isa;
use math::par::{self, Movable};
use std::any::Any;

/// Data that a machine needs to prepare the training of a population.
#[derive(Clone, Debug, PartialEq)]
pub struct OffloadSpec {
    pub architecture: Architecture,
    pub form: GateForm,
    pub rollout: Rollout,
    pub loss_channels: usize,
    pub members: usize,
}

impl OffloadSpec {
    /// Returns the number of start values and the number of target values in an update of one member.
    pub fn sizes(&self) -> [usize; 2] {
        let cells = self.rollout.batch * self.rollout.width * self.rollout.height;
        [cells * self.architecture.channels, cells * self.loss_channels]
    }

    /// Returns the number of parameters of a member.
    pub fn params(&self) -> usize {
        self.architecture.gates() * self.form.width()
    }
}

impl Request for OffloadSpec {
    type Worker = dyn Accelerator;
    const WHAT: &'static str = "a population of logic automata";
}

/// Result of training steps. [`Accelerator::poll`] overwrites the previous result and reuses its vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trained {
    /// For each member, the sums of its statistics since the previous result.
    pub sums: Vec<StepStats>,
    /// Parameters, `[member][params]`. The Adam moments `m` and `v` have the same layout.
    pub params: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
}

impl Trained {
    /// Returns the parameters and moments of a member. `updates` is the number of the member's updates so far.
    pub fn state(&self, member: usize, updates: u64) -> TrainStateRef<'_> {
        let len = self.params.len() / self.sums.len().max(1);
        let [weights, m, v] = [&self.params, &self.m, &self.v].map(|all| &all[member * len..][..len]);
        TrainStateRef { weights, m, v, steps: updates }
    }
}

/// Trainer of a population on a machine. Steps return no results. The caller uses [`Accelerator::ask`] to request the result of all steps
/// so far.
pub trait Accelerator: Movable {
    /// Copies a member's parameters, Adam moments, number of updates, wires and random seed to the machine.
    fn set_member(&mut self, member: usize, trainer: &Trainer) -> Result<(), Fault>;

    /// Starts an update of each member whose entry in `learns` is true; other members are unchanged. `starts` and `targets` contain the
    /// values of all members, one member after another, in the layout of [`Trainer::step`]. The values of unchanged members are ignored.
    fn step(&mut self, optimiser: &Optimiser, learns: &[bool], starts: &[f32], targets: &[f32]) -> Result<(), Fault>;

    /// Requests the result of all steps so far. Only one request may be pending at a time.
    fn ask(&mut self) -> Result<(), Fault>;

    /// If the requested result has arrived, copies the result to `trained` and returns true. The call may block for a moment on platforms
    /// that allow blocking.
    fn poll(&mut self, trained: &mut Trained) -> Result<bool, Fault>;
}

/// The CPU as a machine that trains populations. Its results are bit-identical to those of training without offloading.
pub struct Local(pub Isa);

impl Machine for Local {
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |spec: &OffloadSpec| {
            let members = (0..spec.members).map(|_| None).collect();
            let sums = vec![ZERO; spec.members];
            let it = LocalPopulation { isa: self.0, spec: spec.clone(), members, sums, requested: false };
            Ok(Box::new(it) as Box<dyn Accelerator>)
        })
    }
}

const ZERO: StepStats = StepStats { loss: 0.0, grad_norm: 0.0 };

struct LocalPopulation {
    isa: Isa,
    spec: OffloadSpec,
    members: Vec<Option<Trainer>>,
    sums: Vec<StepStats>,
    requested: bool,
}

impl Accelerator for LocalPopulation {
    fn set_member(&mut self, member: usize, trainer: &Trainer) -> Result<(), Fault> {
        let OffloadSpec { architecture, form, rollout, .. } = &self.spec;
        let wirings = trainer.automaton().wirings.clone();
        let automaton = Automaton::new(architecture.clone(), wirings, *form);
        let mut copy = Trainer::new(self.isa, automaton, rollout.clone(), Optimiser::default(), trainer.seed());
        copy.set_state(&trainer.state());
        self.members[member] = Some(copy);
        Ok(())
    }

    fn step(&mut self, optimiser: &Optimiser, learns: &[bool], starts: &[f32], targets: &[f32]) -> Result<(), Fault> {
        let (sizes, loss_channels) = (self.spec.sizes(), self.spec.loss_channels);
        let mut members: Vec<_> = self.members.iter_mut().zip(&mut self.sums).collect();
        par::each_mut(&mut members, |i, (trainer, sums)| {
            let Some(trainer) = trainer.as_mut().filter(|_| learns[i]) else { return };
            let [start, target] = [(starts, sizes[0]), (targets, sizes[1])].map(|(all, n)| &all[i * n..][..n]);
            trainer.set_optimiser(*optimiser);
            let stats = trainer.step(start, target, loss_channels);
            sums.loss += stats.loss;
            sums.grad_norm += stats.grad_norm;
        });
        Ok(())
    }

    fn ask(&mut self) -> Result<(), Fault> {
        self.requested = true;
        Ok(())
    }

    fn poll(&mut self, trained: &mut Trained) -> Result<bool, Fault> {
        if !std::mem::take(&mut self.requested) {
            return Ok(false);
        }
        trained.sums.clear();
        trained.sums.extend(self.sums.iter_mut().map(|sums| std::mem::replace(sums, ZERO)));
        for all in [&mut trained.params, &mut trained.m, &mut trained.v] {
            all.clear();
        }
        for trainer in self.members.iter().flatten() {
            let state = trainer.state();
            trained.params.extend_from_slice(state.weights);
            trained.m.extend_from_slice(state.m);
            trained.v.extend_from_slice(state.v);
        }
        Ok(true)
    }
}
