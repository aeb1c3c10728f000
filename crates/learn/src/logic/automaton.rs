//! Learned gates: their parameters and their hardened operations.

use super::{Architecture, OPS, PASS, PURPOSE_GUMBEL, Wirings};
use math::{Isa, Rng};

/// Parametrisation of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateForm {
    /// 16 logits. As published, the gate is the mixture of all operations, weighted by the softmax of the logits.
    Softmax,
    /// 4 logits, one for each pair of inputs: (0, 0), (0, 1), (1, 0) and (1, 1). The sigmoid of a logit is the gate's output for the pair
    /// (Rüttgers and others: "Light Differentiable Logic Gate Networks", 2025).
    Four,
    /// 16 logits with Gumbel noise. In training, the gate computes the operation with the largest noisy logit. Its gradient is that of the
    /// mixture of all operations, weighted by the softmax of the noisy logits at this temperature (Yousefi and others: "Mind the Gap",
    /// 2025).
    Gumbel { temperature: f32 },
}

impl GateForm {
    /// Returns the number of parameters of a gate.
    pub fn width(self) -> usize {
        if self == GateForm::Four { 4 } else { OPS }
    }
}

/// Automaton with trainable soft gates, which compute with real numbers instead of bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Automaton {
    pub architecture: Architecture,
    pub wirings: Wirings,
    pub form: GateForm,
    /// Parameters of all gates, `[gates][16 or 4]`, in the order of [`Architecture::gates`].
    pub params: Vec<f32>,
}

/// Initial logit of the operation that returns the first input.
const PASS_LOGIT: f32 = 10.0;
/// ln((e¹⁰ + 7)/8). With this logit, a new four-parameter gate computes the same function as a new gate with 16 logits.
const PASS_LOGIT_FOUR: f32 = 7.920_876;

impl Automaton {
    /// Creates an automaton whose gates return their first input.
    pub fn new(architecture: Architecture, wirings: Wirings, form: GateForm) -> Automaton {
        let mut gate = vec![0.0; form.width()];
        if form == GateForm::Four {
            let [low, high] = [-PASS_LOGIT_FOUR, PASS_LOGIT_FOUR];
            gate.copy_from_slice(&[low, low, high, high]);
        } else {
            gate[PASS as usize] = PASS_LOGIT;
        }
        let params = gate.repeat(architecture.gates());
        Automaton { architecture, wirings, form, params }
    }

    /// Returns the most likely operation of each gate. Hardening replaces the gate by this operation.
    pub fn ops(&self) -> Vec<u8> {
        let op = |p: &[f32]| match self.form {
            GateForm::Four => p.iter().fold(0, |op, &x| op << 1 | u8::from(x > 0.0)),
            _ => (1..OPS).fold(0, |most, i| if p[i] > p[most] { i } else { most }) as u8,
        };
        self.params.chunks(self.form.width()).map(op).collect()
    }

    /// Returns the certainty of each gate, from 0 to 1: the weight of the operation to which the gate is hardened.
    pub fn certainty(&self) -> Vec<f32> {
        let share = |p: &[f32]| match self.form {
            GateForm::Four => p.iter().map(|&x| 1.0 / (1.0 + (-x.abs()).exp())).product(),
            _ => {
                let high = p.iter().copied().fold(f32::MIN, f32::max);
                1.0 / p.iter().map(|&x| (x - high).exp()).sum::<f32>()
            }
        };
        self.params.chunks(self.form.width()).map(share).collect()
    }
}

/// Fills `noise` with the Gumbel noise of all logits for one update: -ln(-ln u), where u is uniform in (0, 1).
pub fn gumbel(isa: Isa, seed: u32, update: u32, noise: &mut [f32]) {
    Rng::new(seed, PURPOSE_GUMBEL).fill_uniform(isa, update, noise);
    for x in noise {
        // `x` represents an interval of width 2⁻²⁴. u is the middle of this interval, so that u is neither 0 nor 1.
        let u = (*x + 0.5 / 16_777_216.0).min(1.0 - f32::EPSILON / 2.0);
        *x = -math::poly::ln_1(isa, -math::poly::ln_1(isa, u));
    }
}
