//! Dropout (Srivastava et al. 2014): random elements become zero, and all other elements are multiplied by 1/(1 - p).

use crate::isa::{Isa, kernel};
use crate::par::{self, CHUNK};
use crate::rng::{Rng, uniforms};

/// Computes `y[i]` = `x[i]`/(1 - p), or 0 if number i of [`Rng::fill_uniform`] with fill `step` is below p. The backward pass is the same
/// function, applied to dy.
pub fn dropout(isa: Isa, p: f32, rng: Rng, step: u32, x: &[f32], y: &mut [f32]) {
    let x = &x[..y.len()];
    par::chunks_mut([y], [CHUNK], |i, [y]| {
        let x = &x[i * CHUNK..][..y.len()];
        let first = i * CHUNK;
        kernel!(isa, |s: S, p: f32, rng: Rng, step: u32, first: usize, x: &[f32], y: &mut [f32]| {
            let (p, scale, zero) = (s.splat(p), s.splat(1.0 / (1.0 - p)), s.splat(0.0));
            for (i, (x, y)) in x.chunks(64).zip(y.chunks_mut(64)).enumerate() {
                let group = (first / 64 + i) as u32;
                for l in (0..16).step_by(S::LANES) {
                    let chances = uniforms(s, rng.key, step, group * 16 + l as u32);
                    for w in 0..4 {
                        let at = 16 * w + l;
                        if at >= x.len() {
                            break;
                        }
                        let end = x.len().min(at + S::LANES);
                        let value = s.mul(s.load_part(&x[at..end], 0.0), scale);
                        s.store_part(s.select(s.lt(chances[w], p), zero, value), &mut y[at..end]);
                    }
                }
            }
        });
    });
}
