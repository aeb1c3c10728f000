//! Reference implementation of [`super::train`] in f64. The reference computes one cell at a time. It computes each gate as a weighted sum
//! of the 16 operations.

use super::automaton::{Automaton, GateForm};
use super::circuit::{Circuit, Input};
use super::rollout::Rollout;
use super::{OPS, coefficients};
use worlds::logic::beside;

/// Returns the loss of a rollout, as in [`super::train::Trainer::step`], and the gradient of the loss with respect to the parameters.
/// `fires(step, sample, cell)` returns whether a cell fires. `noise` is added to the logits of gates with Gumbel noise.
pub fn loss_and_gradient(
    automaton: &Automaton,
    rollout: &Rollout,
    start: &[f32],
    target: &[f32],
    loss_channels: usize,
    fires: impl Fn(usize, usize, usize) -> bool,
    noise: &[f32],
) -> (f64, Vec<f64>) {
    let twin = Twin::new(automaton, rollout, noise);
    let (plane, size) = (twin.plane(), automaton.architecture.channels * twin.plane());
    let mut loss = 0.0;
    let mut d_mix = vec![[0.0; OPS]; twin.mix.len()];
    for (sample, start) in start.chunks(size).enumerate() {
        let mut states: Vec<Vec<f64>> = vec![start.iter().map(|&x| f64::from(x)).collect()];
        for step in 0..rollout.steps {
            states.push(twin.step(&states[step], |cell| fires(step, sample, cell)));
        }
        let mut d_state = vec![0.0; size];
        for i in 0..loss_channels * plane {
            let error = states[rollout.steps][i] - f64::from(target[sample * loss_channels * plane + i]);
            loss += error * error;
            d_state[i] = 2.0 * error;
        }
        for step in (0..rollout.steps).rev() {
            d_state = twin.step_back(&states[step], |cell| fires(step, sample, cell), &d_state, &mut d_mix);
        }
    }
    (loss, twin.params_gradient(&d_mix))
}

/// Returns the soft state at the end of a rollout. `fires` is as in [`loss_and_gradient`]. Gates with Gumbel noise are computed as
/// softmax gates, without noise.
pub fn roll(automaton: &Automaton, rollout: &Rollout, start: &[f32], fires: impl Fn(usize, usize, usize) -> bool) -> Vec<f64> {
    let mut soft = automaton.clone();
    if let GateForm::Gumbel { .. } = soft.form {
        soft.form = GateForm::Softmax;
    }
    let twin = Twin::new(&soft, rollout, &[]);
    let size = automaton.architecture.channels * twin.plane();
    let roll = |(sample, start): (usize, &[f32])| {
        let state = start.iter().map(|&x| f64::from(x)).collect();
        (0..rollout.steps).fold(state, |state: Vec<f64>, step| twin.step(&state, |cell| fires(step, sample, cell)))
    };
    start.chunks(size).enumerate().flat_map(roll).collect()
}

struct Twin<'a> {
    automaton: &'a Automaton,
    rollout: &'a Rollout,
    /// All gates evaluated for a cell, with their wires. The operations in this circuit are not used, because `mix` contains the weight of
    /// each operation.
    circuit: Circuit,
    /// For each gate, the weight of each operation in the forward pass.
    mix: Vec<[f64; OPS]>,
    /// For each gate, the weight of each operation in the gradient of the parameters. This weight differs from `mix` only for gates with
    /// Gumbel noise.
    soft: Vec<[f64; OPS]>,
}

impl Twin<'_> {
    fn new<'a>(automaton: &'a Automaton, rollout: &'a Rollout, noise: &[f32]) -> Twin<'a> {
        let shape = &automaton.architecture;
        let circuit = Circuit::harden(shape, &automaton.wirings, &vec![0; shape.gates()]);
        let mut twin = Twin { automaton, rollout, circuit, mix: Vec::new(), soft: Vec::new() };
        for (g, params) in automaton.params.chunks(automaton.form.width()).enumerate() {
            let softmax = |temperature: f64, noise: &[f32]| {
                let logits: [f64; OPS] =
                    std::array::from_fn(|i| (f64::from(params[i]) + f64::from(*noise.get(i).unwrap_or(&0.0))) / temperature);
                let most = logits.iter().copied().fold(f64::MIN, f64::max);
                let sum: f64 = logits.iter().map(|x| (x - most).exp()).sum();
                logits.map(|x| (x - most).exp() / sum)
            };
            let (mix, soft) = match automaton.form {
                GateForm::Softmax => (softmax(1.0, &[]), softmax(1.0, &[])),
                GateForm::Four => {
                    let mix = std::array::from_fn(|op| (0..4).map(|v| output_chance(params, op, v)).product());
                    (mix, mix)
                }
                GateForm::Gumbel { temperature } => {
                    let soft = softmax(f64::from(temperature), &noise[g * OPS..][..OPS]);
                    let ahead = (1..OPS).fold(0, |most, i| if soft[i] > soft[most] { i } else { most });
                    (std::array::from_fn(|op| if op == ahead { 1.0 } else { 0.0 }), soft)
                }
            };
            twin.mix.push(mix);
            twin.soft.push(soft);
        }
        twin
    }

    fn plane(&self) -> usize {
        self.rollout.width * self.rollout.height
    }

    /// Returns the index of a gate in `mix` and `soft`. `gate` is the gate's index in `circuit`, which contains the kernels' gates once for
    /// each channel.
    fn number(&self, gate: usize) -> usize {
        let shape = &self.automaton.architecture;
        let kernels = shape.kernels * shape.perception.iter().sum::<usize>();
        let update = gate.checked_sub(shape.channels * kernels);
        update.map_or_else(|| gate % kernels, |gate| kernels + gate)
    }

    /// Returns the index, within the state array, of the value that `cell` reads as `input`. Returns `None` if `input` belongs to a cell
    /// outside the grid.
    fn place(&self, cell: usize, input: Input) -> Option<usize> {
        let &Rollout { width, height, periodic, .. } = self.rollout;
        let at = (cell % width, cell / width);
        let (x, y) = beside((width, height), periodic, at, input.neighbour.into())?;
        Some(input.channel as usize * self.plane() + y * width + x)
    }

    /// Returns the values of all wires of a cell: the inputs, then the gates' outputs.
    fn wires(&self, state: &[f64], cell: usize) -> Vec<f64> {
        let read = |&input: &Input| self.place(cell, input).map_or(0.0, |at| state[at]);
        let mut x: Vec<f64> = self.circuit.inputs.iter().map(read).collect();
        for (i, gate) in self.circuit.gates.iter().enumerate() {
            let (a, b, mix) = (x[gate.a as usize], x[gate.b as usize], &self.mix[self.number(i)]);
            x.push((0..OPS).map(|op| mix[op] * operation(op, a, b)).sum());
        }
        x
    }

    fn step(&self, state: &[f64], fires: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut next = state.to_vec();
        for cell in (0..self.plane()).filter(|&cell| fires(cell)) {
            let x = self.wires(state, cell);
            for (c, &wire) in self.circuit.outputs.iter().enumerate() {
                next[c * self.plane() + cell] = x[wire as usize];
            }
        }
        next
    }

    fn step_back(&self, state: &[f64], fires: impl Fn(usize) -> bool, d_next: &[f64], d_mix: &mut [[f64; OPS]]) -> Vec<f64> {
        let Circuit { inputs, gates, outputs, .. } = &self.circuit;
        let mut d_state = vec![0.0; state.len()];
        for cell in 0..self.plane() {
            let own = |c: usize| c * self.plane() + cell;
            if !fires(cell) {
                (0..outputs.len()).for_each(|c| d_state[own(c)] += d_next[own(c)]);
                continue;
            }
            let x = self.wires(state, cell);
            let mut d_x = vec![0.0; x.len()];
            for (c, &wire) in outputs.iter().enumerate() {
                d_x[wire as usize] = d_next[own(c)];
            }
            for (i, gate) in gates.iter().enumerate().rev() {
                let (a, b, number, d) = (gate.a as usize, gate.b as usize, self.number(i), d_x[inputs.len() + i]);
                for op in 0..OPS {
                    let [_, c1, c2, c3] = coefficients(op as u8);
                    let share = self.mix[number][op];
                    d_mix[number][op] += d * operation(op, x[a], x[b]);
                    d_x[a] += d * share * (c1 + c3 * x[b]);
                    d_x[b] += d * share * (c2 + c3 * x[a]);
                }
            }
            for (&input, d) in inputs.iter().zip(&d_x) {
                if let Some(at) = self.place(cell, input) {
                    d_state[at] += d;
                }
            }
        }
        d_state
    }

    /// Converts the gradient with respect to the operation weights to the gradient with respect to the parameters.
    fn params_gradient(&self, d_mix: &[[f64; OPS]]) -> Vec<f64> {
        let automaton = self.automaton;
        let width = automaton.form.width();
        let mut all = Vec::new();
        for (g, d) in d_mix.iter().enumerate() {
            let params = &automaton.params[g * width..][..width];
            let soft = &self.soft[g];
            let mean: f64 = (0..OPS).map(|op| soft[op] * d[op]).sum();
            match automaton.form {
                GateForm::Softmax => all.extend((0..OPS).map(|op| soft[op] * (d[op] - mean))),
                GateForm::Gumbel { temperature } => {
                    all.extend((0..OPS).map(|op| soft[op] * (d[op] - mean) / f64::from(temperature)));
                }
                GateForm::Four => all.extend((0..4).map(|v| {
                    let one = output_chance(params, OPS - 1, v);
                    let rest = |op: usize| -> f64 { (0..4).filter(|&u| u != v).map(|u| output_chance(params, op, u)).product() };
                    let slope = |op: usize| if op >> (3 - v) & 1 == 1 { 1.0 } else { -1.0 };
                    let d_one: f64 = (0..OPS).map(|op| d[op] * slope(op) * rest(op)).sum();
                    d_one * one * (1.0 - one)
                })),
            }
        }
        all
    }
}

/// Returns the probability that a four-parameter gate has the same output as `op` for the pair of inputs `v`. The pairs 0 to 3 are (0, 0),
/// (0, 1), (1, 0) and (1, 1).
fn output_chance(params: &[f32], op: usize, v: usize) -> f64 {
    let one = 1.0 / (1.0 + f64::from(-params[v]).exp());
    if op >> (3 - v) & 1 == 1 { one } else { 1.0 - one }
}

fn operation(op: usize, a: f64, b: f64) -> f64 {
    let [c0, c1, c2, c3] = coefficients(op as u8);
    c0 + c1 * a + c2 * b + c3 * a * b
}
