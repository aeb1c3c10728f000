//! Training of an automaton by gradient descent. The gradient is that of a rollout with soft gates, which compute with real numbers.

use super::automaton::{Automaton, GateForm, gumbel};
pub use super::rollout::Rollout;
use super::soft::{Network, Roller, Target, form};
use crate::offload::TrainStateRef;
use crate::state::{counters, floats_in};
use crate::{Data, Find, SavedError};
use math::{AdamStep, Isa, par};

/// Settings of AdamW.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimiser {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    pub weight_decay: f32,
    /// Maximum absolute value of a gradient element; larger elements are clipped.
    pub clip: f32,
}

impl Default for Optimiser {
    /// Returns the settings of the published checkerboard experiment; [`crate::logic`] names the publication.
    fn default() -> Optimiser {
        Optimiser { lr: 0.05, beta1: 0.9, beta2: 0.99, eps: 1e-8, weight_decay: 0.01, clip: 100.0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepStats {
    /// Sum of the squared errors with the parameters before the step.
    pub loss: f32,
    /// Gradient norm before clipping.
    pub grad_norm: f32,
}

pub struct Trainer {
    isa: Isa,
    automaton: Automaton,
    rollout: Rollout,
    optimiser: Optimiser,
    seed: u32,
    updates: u64,
    grads: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
    noise: Vec<f32>,
    network: Network,
    roller: Roller,
}

impl Trainer {
    pub fn new(isa: Isa, automaton: Automaton, rollout: Rollout, optimiser: Optimiser, seed: u32) -> Trainer {
        let zeros = vec![0.0; automaton.params.len()];
        let gumbel = matches!(automaton.form, GateForm::Gumbel { .. });
        let noise = if gumbel { zeros.clone() } else { Vec::new() };
        let (grads, m, v) = (zeros.clone(), zeros.clone(), zeros);
        let network = Network::new(&automaton);
        let roller = Roller::new(isa, &network, &rollout, true);
        Trainer { isa, automaton, rollout, optimiser, seed, updates: 0, grads, m, v, noise, network, roller }
    }

    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    pub fn rollout(&self) -> &Rollout {
        &self.rollout
    }

    pub fn set_optimiser(&mut self, optimiser: Optimiser) {
        self.optimiser = optimiser;
    }

    pub fn updates(&self) -> u64 {
        self.updates
    }

    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Returns the parameters, the Adam moments and the number of updates.
    pub fn state(&self) -> TrainStateRef<'_> {
        TrainStateRef { weights: &self.automaton.params, m: &self.m, v: &self.v, steps: self.updates }
    }

    pub fn set_state(&mut self, state: &TrainStateRef) {
        self.automaton.params.copy_from_slice(state.weights);
        self.m.copy_from_slice(state.m);
        self.v.copy_from_slice(state.v);
        self.updates = state.steps;
    }

    /// Runs one AdamW step. The loss is the sum of the squared errors in the first `loss_channels` channels of the rollout's last state.
    /// `start` is `[batch][channels][height][width]`, `target` is `[batch][loss_channels][height][width]`.
    pub fn step(&mut self, start: &[f32], target: &[f32], loss_channels: usize) -> StepStats {
        par::inside(|| self.step_inside(start, Target { values: target, channels: loss_channels }))
    }

    fn step_inside(&mut self, start: &[f32], target: Target) -> StepStats {
        let Trainer { isa, automaton, network, roller, noise, grads, .. } = self;
        let isa = *isa;
        gumbel(isa, self.seed, self.updates as u32, noise);
        network.prepare(isa, automaton, noise);
        let loss = roller.train(network, start, target, self.seed, self.updates) as f32;
        let form = form(automaton.form, noise);
        math::logic::slopes(isa, form, &network.soft, &network.places, roller.sums(), grads);
        let grad_norm = math::ops::sum_of_squares(isa, grads).sqrt();
        let Optimiser { lr, beta1, beta2, eps, weight_decay, clip } = self.optimiser;
        math::logic::clip(isa, clip, grads);
        self.updates += 1;
        let step = AdamStep { weight_decay, ..AdamStep::new(self.updates, lr, beta1, beta2, eps) };
        math::ops::adam(isa, &mut automaton.params, grads, &mut self.m, &mut self.v, &step);
        StepStats { loss, grad_norm }
    }

    /// Returns the gradient of the latest step, after clipping.
    pub fn gradient(&self) -> &[f32] {
        &self.grads
    }

    /// Runs a rollout of any size with soft gates, and writes the last state to `out`. `start` and `out` are
    /// `[batch][channels][height][width]`. No Gumbel noise is added. `draw` determines which cells fire.
    pub fn roll_soft(&mut self, rollout: &Rollout, start: &[f32], out: &mut [f32], draw: u64) {
        self.network.prepare(self.isa, &self.automaton, &[]);
        let mut roller = Roller::new(self.isa, &self.network, rollout, false);
        par::inside(|| roller.roll(&self.network, start, out, self.seed, draw));
    }

    /// Returns the contents of a checkpoint.
    pub fn parts(&self) -> Vec<(String, Vec<usize>, Data)> {
        let shape = vec![self.automaton.architecture.gates(), self.automaton.form.width()];
        let mut parts = Vec::new();
        for (name, values) in [("gates", &self.automaton.params), ("adam.m", &self.m), ("adam.v", &self.v)] {
            parts.push((name.into(), shape.clone(), Data::F32(values.clone())));
        }
        parts.push(("updates".into(), vec![1], Data::U64(vec![self.updates])));
        parts
    }

    /// Restores a trainer from its [`Trainer::parts`]. The shapes, the wires and the seed must be those of the saved trainer. Training then
    /// continues bit-identically.
    pub fn restore(
        isa: Isa,
        automaton: Automaton,
        rollout: Rollout,
        optimiser: Optimiser,
        seed: u32,
        find: &Find,
    ) -> Result<Trainer, SavedError> {
        let mut it = Trainer::new(isa, automaton, rollout, optimiser, seed);
        let shape = [it.automaton.architecture.gates(), it.automaton.form.width()];
        let parts = [("gates", &mut it.automaton.params), ("adam.m", &mut it.m), ("adam.v", &mut it.v)];
        for (name, values) in parts {
            values.copy_from_slice(floats_in(find, name, &shape)?);
        }
        [it.updates] = counters(find, "updates")?;
        Ok(it)
    }
}
