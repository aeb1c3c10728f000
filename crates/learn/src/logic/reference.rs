//! The plain twin of [`super::train`]: f64, one cell at a time, and every gate is the mixture of its 16 operations, one by one.

use super::automaton::{Automaton, GateForm};
use super::rollout::Rollout;
use super::{OP_COEFFICIENTS, OPS};

/// Loss and gradient of the parameters, loss as [`super::train::Trainer::step`] has it. `fires` says whether a cell fires:
/// step, sample, cell. `noise` is added to the logits of gates with Gumbel noise.
pub fn loss_and_gradient(
    automaton: &Automaton,
    rollout: &Rollout,
    start: &[f32],
    target: &[f32],
    loss_channels: usize,
    fires: impl Fn(usize, usize, usize) -> bool,
    noise: &[f32],
) -> (f64, Vec<f64>) {
    let gates = Gates::new(automaton, noise);
    let plane = rollout.width * rollout.height;
    let channels = automaton.architecture.channels;
    let mut loss = 0.0;
    let mut d_mix = vec![[0.0; OPS]; gates.mix.len()];
    for sample in 0..rollout.batch {
        let from = &start[sample * channels * plane..][..channels * plane];
        let mut states: Vec<Vec<f64>> = vec![from.iter().map(|&x| f64::from(x)).collect()];
        for step in 0..rollout.steps {
            let next = gates.step(automaton, rollout, &states[step], |cell| fires(step, sample, cell));
            states.push(next);
        }
        let mut d_state = vec![0.0; channels * plane];
        for i in 0..loss_channels * plane {
            let error = states[rollout.steps][i] - f64::from(target[sample * loss_channels * plane + i]);
            loss += error * error;
            d_state[i] = 2.0 * error;
        }
        for step in (0..rollout.steps).rev() {
            let fires = |cell| fires(step, sample, cell);
            d_state = gates.step_back(automaton, rollout, &states[step], fires, &d_state, &mut d_mix);
        }
    }
    (loss, gates.params_gradient(automaton, &d_mix))
}

/// The soft state after the rollout's steps, of gates without noise.
pub fn roll(automaton: &Automaton, rollout: &Rollout, start: &[f32], fires: impl Fn(usize, usize, usize) -> bool) -> Vec<f64> {
    let mut soft = automaton.clone();
    if let GateForm::Gumbel { .. } = soft.form {
        soft.form = GateForm::Softmax;
    }
    let gates = Gates::new(&soft, &[]);
    let size = automaton.architecture.channels * rollout.width * rollout.height;
    let mut all = Vec::new();
    for sample in 0..rollout.batch {
        let from = &start[sample * size..][..size];
        let mut state: Vec<f64> = from.iter().map(|&x| f64::from(x)).collect();
        for step in 0..rollout.steps {
            state = gates.step(automaton, rollout, &state, |cell| fires(step, sample, cell));
        }
        all.extend(state);
    }
    all
}

struct Gates {
    /// How much of each operation a gate is, forward.
    mix: Vec<[f64; OPS]>,
    /// The same as the gradient of the parameters sees it.
    soft: Vec<[f64; OPS]>,
}

impl Gates {
    fn new(automaton: &Automaton, noise: &[f32]) -> Gates {
        let width = automaton.form.width();
        let mut gates = Gates { mix: Vec::new(), soft: Vec::new() };
        for (g, params) in automaton.params.chunks(width).enumerate() {
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
            gates.mix.push(mix);
            gates.soft.push(soft);
        }
        gates
    }

    /// All activations of a cell: `[channel][layer][kernel][gate]` of the perception, then those of the update.
    fn cell(&self, automaton: &Automaton, seen: &[[f64; 9]]) -> Vec<f64> {
        let mut x = Vec::new();
        for wire in cell_wires(automaton) {
            let [a, b] = [wire.a, wire.b].map(|end| read(&x, seen, end));
            x.push((0..OPS).map(|op| self.mix[wire.gate][op] * operation(op, a, b)).sum());
        }
        x
    }

    fn step(&self, automaton: &Automaton, rollout: &Rollout, state: &[f64], fires: impl Fn(usize) -> bool) -> Vec<f64> {
        let plane = rollout.width * rollout.height;
        let channels = automaton.architecture.channels;
        let mut next = state.to_vec();
        for cell in (0..plane).filter(|&cell| fires(cell)) {
            let x = self.cell(automaton, &neighbourhood(rollout, channels, state, cell));
            for c in 0..channels {
                next[c * plane + cell] = x[x.len() - channels + c];
            }
        }
        next
    }

    fn step_back(
        &self,
        automaton: &Automaton,
        rollout: &Rollout,
        state: &[f64],
        fires: impl Fn(usize) -> bool,
        d_next: &[f64],
        d_mix: &mut [[f64; OPS]],
    ) -> Vec<f64> {
        let plane = rollout.width * rollout.height;
        let channels = automaton.architecture.channels;
        let mut d_state = vec![0.0; state.len()];
        for cell in 0..plane {
            if !fires(cell) {
                (0..channels).for_each(|c| d_state[c * plane + cell] += d_next[c * plane + cell]);
                continue;
            }
            let seen = neighbourhood(rollout, channels, state, cell);
            let x = self.cell(automaton, &seen);
            let mut d_x = vec![0.0; x.len()];
            let mut d_seen = vec![[0.0; 9]; channels];
            for c in 0..channels {
                d_x[x.len() - channels + c] = d_next[c * plane + cell];
            }
            for (i, wire) in cell_wires(automaton).into_iter().enumerate().rev() {
                let [a, b] = [wire.a, wire.b].map(|end| read(&x, &seen, end));
                for op in 0..OPS {
                    let [_, c1, c2, c3] = OP_COEFFICIENTS[op].map(f64::from);
                    let share = self.mix[wire.gate][op];
                    d_mix[wire.gate][op] += d_x[i] * operation(op, a, b);
                    for (end, slope) in [(wire.a, c1 + c3 * b), (wire.b, c2 + c3 * a)] {
                        match end {
                            End::Cell(c, k) => d_seen[c][k] += d_x[i] * share * slope,
                            End::Gate(j) => d_x[j] += d_x[i] * share * slope,
                        }
                    }
                }
            }
            for c in 0..channels {
                for k in 0..9 {
                    if let Some(at) = neighbour(rollout, cell, k) {
                        d_state[c * plane + at] += d_seen[c][k];
                    }
                }
            }
        }
        d_state
    }

    /// From the gradient of how much of each operation a gate is.
    fn params_gradient(&self, automaton: &Automaton, d_mix: &[[f64; OPS]]) -> Vec<f64> {
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

/// How likely a four-parameter gate gives for the v-th pair of inputs what `op` does.
fn output_chance(params: &[f32], op: usize, v: usize) -> f64 {
    let one = 1.0 / (1.0 + f64::from(-params[v]).exp());
    if op >> (3 - v) & 1 == 1 { one } else { 1.0 - one }
}

fn operation(op: usize, a: f64, b: f64) -> f64 {
    let [c0, c1, c2, c3] = OP_COEFFICIENTS[op].map(f64::from);
    c0 + c1 * a + c2 * b + c3 * a * b
}

/// What a wire comes from.
#[derive(Clone, Copy)]
enum End {
    /// Channel and place of the neighbourhood.
    Cell(usize, usize),
    Gate(usize),
}

struct Wire {
    gate: usize,
    a: End,
    b: End,
}

fn read(x: &[f64], seen: &[[f64; 9]], end: End) -> f64 {
    match end {
        End::Cell(c, k) => seen[c][k],
        End::Gate(i) => x[i],
    }
}

/// Every gate that is evaluated for a cell, in order.
fn cell_wires(automaton: &Automaton) -> Vec<Wire> {
    let Automaton { architecture, wirings, .. } = automaton;
    let kernels = architecture.kernels;
    let mut wires = Vec::new();
    let mut said: Vec<End> = (0..architecture.channels).map(|c| End::Cell(c, 4)).collect();
    let mut gate = 0;
    for c in 0..architecture.channels {
        let mut inputs = vec![(0..9).map(|k| End::Cell(c, k)).collect::<Vec<End>>(); kernels];
        gate = 0;
        for layer in &wirings.perception {
            for kernel in &mut inputs {
                let from = std::mem::take(kernel);
                for (&a, &b) in layer.a.iter().zip(&layer.b) {
                    kernel.push(End::Gate(wires.len()));
                    wires.push(Wire { gate, a: from[a as usize], b: from[b as usize] });
                    gate += 1;
                }
            }
        }
        for output in 0..inputs[0].len() {
            said.extend(inputs.iter().map(|kernel| kernel[output]));
        }
    }
    for layer in &wirings.update {
        let from = std::mem::take(&mut said);
        for (&a, &b) in layer.a.iter().zip(&layer.b) {
            said.push(End::Gate(wires.len()));
            wires.push(Wire { gate, a: from[a as usize], b: from[b as usize] });
            gate += 1;
        }
    }
    wires
}

/// The k-th of the nine cells around one, unless it lies outside.
fn neighbour(rollout: &Rollout, cell: usize, k: usize) -> Option<usize> {
    let (w, h) = (rollout.width as isize, rollout.height as isize);
    let x = (cell % rollout.width) as isize + (k % 3) as isize - 1;
    let y = (cell / rollout.width) as isize + (k / 3) as isize - 1;
    if rollout.periodic {
        return Some((y.rem_euclid(h) * w + x.rem_euclid(w)) as usize);
    }
    ((0..w).contains(&x) && (0..h).contains(&y)).then_some((y * w + x) as usize)
}

fn neighbourhood(rollout: &Rollout, channels: usize, state: &[f64], cell: usize) -> Vec<[f64; 9]> {
    let plane = rollout.width * rollout.height;
    let see = |c: usize, k| neighbour(rollout, cell, k).map_or(0.0, |at| state[c * plane + at]);
    (0..channels).map(|c| std::array::from_fn(|k| see(c, k))).collect()
}
