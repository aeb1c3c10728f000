//! Adam and AdamW over the slices of [`Params`], with gradient clipping by the global norm.

use crate::exec::WIDE;
use crate::params::{ParamSpec, Params};
use math::{AdamStep, Buffer, Isa, ops, par};

/// Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    pub weight_decay: f32,
    /// True if weight decay applies to matrices only, not to one-dimensional parameters.
    pub matrices_only: bool,
    /// Maximum global norm of the gradients, in the units of the gradients; infinity disables clipping.
    pub max_grad_norm: f32,
}

impl Default for Adam {
    fn default() -> Adam {
        Adam { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0, matrices_only: false, max_grad_norm: f32::INFINITY }
    }
}

/// Optimiser state: two moments per parameter, and the number of steps.
#[derive(Clone, Debug)]
pub struct Optimizer {
    pub m: Buffer,
    pub v: Buffer,
    pub steps: u64,
}

impl Optimizer {
    pub fn new(params: &Params) -> Optimizer {
        let len = params.values().len();
        Optimizer { m: Buffer::zeros(len), v: Buffer::zeros(len), steps: 0 }
    }

    /// Performs one step with gradients in the layout of the parameters. Returns the norm of the gradients before clipping. If the norm is
    /// not finite, parameters and optimiser state remain unchanged.
    pub fn step(&mut self, isa: Isa, adam: &Adam, params: &mut Params, grads: &[f32]) -> f32 {
        if grads.len() > WIDE { par::inside(|| self.step_all(isa, adam, params, grads)) } else { self.step_all(isa, adam, params, grads) }
    }

    fn step_all(&mut self, isa: Isa, adam: &Adam, params: &mut Params, grads: &[f32]) -> f32 {
        assert_eq!(grads.len(), self.m.len(), "gradients are as long as the parameters");
        let norm = ops::sum_of_squares(isa, grads).sqrt();
        if !norm.is_finite() {
            return norm;
        }
        self.steps += 1;
        let step = AdamStep {
            weight_decay: adam.weight_decay,
            // 1e-6 is added to avoid a division by 0, as in PyTorch's `clip_grad_norm_`.
            grad_scale: (adam.max_grad_norm / (norm + 1e-6)).min(1.0),
            ..AdamStep::new(self.steps, adam.lr, adam.beta1, adam.beta2, adam.eps)
        };
        let (specs, values) = params.parts();
        let mut rest = specs;
        while let Some(first) = rest.first() {
            // Updates a run of adjacent parameters with the same weight decay at once. The zeros between the parameters stay zero.
            let kind = |spec: &ParamSpec| adam.matrices_only && spec.vector;
            let count = rest.iter().take_while(|spec| kind(spec) == kind(first)).count();
            let range = first.offset..rest[count - 1].range().end;
            let step = if kind(first) { AdamStep { weight_decay: 0.0, ..step } } else { step };
            let [values, m, v] = [&mut *values, &mut self.m, &mut self.v].map(|slice| &mut slice[range.clone()]);
            ops::adam(isa, values, &grads[range], m, v, &step);
            rest = &rest[count..];
        }
        norm
    }
}
