//! The Adam update of all parameters.

use super::elementwise::hot;
use crate::isa::{Isa, kernel};
use crate::par::{self, CHUNK};

/// Constants of one Adam or AdamW step, the same for every parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    /// Decoupled weight decay, as in AdamW.
    pub weight_decay: f32,
    /// Factor of every gradient, such as the factor that clips the global norm.
    pub grad_scale: f32,
    /// 1 - beta1ᵗ, where t is the number of the step.
    pub correction1: f32,
    /// 1 - beta2ᵗ, where t is the number of the step.
    pub correction2: f32,
}

impl AdamStep {
    /// Returns the constants of step number `t`, which is 1 for the first step. Weight decay is off, and gradients are not scaled.
    pub fn new(t: u64, lr: f32, beta1: f32, beta2: f32, eps: f32) -> AdamStep {
        AdamStep {
            lr,
            beta1,
            beta2,
            eps,
            weight_decay: 0.0,
            grad_scale: 1.0,
            correction1: (1.0 - power(f64::from(beta1), t)) as f32,
            correction2: (1.0 - power(f64::from(beta2), t)) as f32,
        }
    }
}

/// Returns xᵗ, by repeated squaring. The bits are the same on every platform, which `powi` does not guarantee.
fn power(mut x: f64, mut t: u64) -> f64 {
    let mut y = 1.0;
    while t > 0 {
        if t & 1 == 1 {
            y *= x;
        }
        x *= x;
        t >>= 1;
    }
    y
}

/// Performs one Adam or AdamW step over slices of equal length. `m` and `v` hold the first and second moments.
pub fn adam(isa: Isa, params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], step: &AdamStep) {
    let n = params.len();
    assert!(grads.len() == n && m.len() == n && v.len() == n);
    par::chunks_mut([params, m, v], [CHUNK; 3], |i, [params, m, v]| {
        let grads = &grads[i * CHUNK..][..params.len()];
        kernel!(isa, |s: S, params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], step: &AdamStep| {
            let (lr, beta1, beta2) = (s.splat(step.lr), s.splat(step.beta1), s.splat(step.beta2));
            let (rest1, rest2) = (s.splat(1.0 - step.beta1), s.splat(1.0 - step.beta2));
            let (unbias1, unbias2) = (s.splat(1.0 / step.correction1), s.splat(1.0 / step.correction2));
            let (eps, decay, scale) = (s.splat(step.eps), s.splat(step.weight_decay), s.splat(step.grad_scale));
            let n = params.len();
            for i in (0..n).step_by(S::LANES) {
                let end = (i + S::LANES).min(n);
                let whole = end - i == S::LANES;
                let load = hot(
                    #[inline(always)]
                    |x: &[f32]| {
                        if whole { s.load(&x[i..]) } else { s.load_part(&x[i..end], 0.0) }
                    },
                );
                let grad = s.mul(load(grads), scale);
                let param = load(params);
                let new_m = s.mul_add(beta1, load(m), s.mul(rest1, grad));
                let new_v = s.mul_add(beta2, load(v), s.mul(s.mul(rest2, grad), grad));
                let root = s.add(s.sqrt(s.mul(new_v, unbias2)), eps);
                let change = s.mul_add(decay, param, s.div(s.mul(new_m, unbias1), root));
                let param = s.neg_mul_add(lr, change, param);
                for (x, slice) in [(param, &mut *params), (new_m, &mut *m), (new_v, &mut *v)] {
                    if whole {
                        s.store(x, &mut slice[i..]);
                    } else {
                        s.store_part(x, &mut slice[i..end]);
                    }
                }
            }
        });
    });
}
