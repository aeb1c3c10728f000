//! Differentiable logic cellular automata (Miotti, Niklasson, Randazzo, Mordvintsev: "Differentiable Logic Cellular Automata", Google,
//! Paradigms of Intelligence, 2025, google-research.github.io/self-organising-systems/difflogic-ca). In this module, "published" refers to
//! this article and its notebook.
//!
//! Every cell has a few channels. A step of a cell consists of the perception and the update. The perception consists of kernels. A kernel
//! is a network of gates that reads the nine cells (the cell and its eight neighbours), one channel at a time, with the same gates for
//! every channel. The update is a further network of gates, which reads the cell and the outputs of all kernels, and returns the cell's
//! next state.
//!
//! This file contains what training and circuits have in common: gates, layers, wires, and the random choice of the cells that fire (change
//! their state) in an asynchronous step.

pub mod automaton;
pub mod check;
pub mod circuit;
pub mod experiment;
pub mod generalise;
pub mod offload;
pub mod population;
pub mod reference;
mod rollout;
mod soft;
pub mod train;

use math::{Isa, Rng};

/// Number of gate operations. The operations are numbered in the published order. Bit 3 of an operation's number is its output for (a, b) =
/// (0, 0), bit 2 for (0, 1), bit 1 for (1, 0) and bit 0 for (1, 1). For example, 1 is AND, 3 is A, 5 is B, 6 is XOR and 7 is OR. The
/// negation of `op` is 15 - `op`.
pub const OPS: usize = 16;
/// Number of the operation that returns its first input.
pub const PASS: u8 = 3;

pub const OP_NAMES: [&str; OPS] = [
    "false",
    "a and b",
    "a and not b",
    "a",
    "b and not a",
    "b",
    "a xor b",
    "a or b",
    "a nor b",
    "a xnor b",
    "not b",
    "a or not b",
    "not a",
    "b or not a",
    "a nand b",
    "true",
];

/// Returns the result of operation `op` for the inputs `a` and `b`.
pub fn apply(op: u8, a: bool, b: bool) -> bool {
    op >> (3 - (2 * u8::from(a) + u8::from(b))) & 1 == 1
}

/// Returns the coefficients c0, c1, c2 and c3 of an operation. The polynomial c0 + c1 a + c2 b + c3 ab equals the operation if `a` and `b`
/// are 0 or 1.
pub fn coefficients(op: u8) -> [f64; 4] {
    let [none, b, a, both] =
        [(false, false), (false, true), (true, false), (true, true)].map(|(a, b)| f64::from(u8::from(apply(op, a, b))));
    [none, a - none, b - none, both - a - b + none]
}

/// Layer sizes of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Architecture {
    pub channels: usize,
    pub kernels: usize,
    /// Number of gates in each layer of one kernel. The first layer has 8 gates. Each of these gates reads the cell itself and one
    /// neighbour.
    pub perception: Vec<usize>,
    /// Number of gates in each layer of the update network; the last layer has one gate per channel.
    pub update: Vec<usize>,
}

impl Architecture {
    /// Returns the number of inputs of the update: the cell's channels, then the kernels' outputs for each channel.
    pub fn update_inputs(&self) -> usize {
        self.channels * (1 + self.kernels * self.perception.last().copied().unwrap_or(0))
    }

    /// Returns the number of learned gates. Parameters are always stored in this order: layers of the perception, each `[kernel][gate]`,
    /// then layers of the update.
    pub fn gates(&self) -> usize {
        self.kernels * self.perception.iter().sum::<usize>() + self.update.iter().sum::<usize>()
    }

    /// Returns the number of gate evaluations per cell and step. Every channel needs its own evaluation of the kernels.
    pub fn gates_per_cell(&self) -> usize {
        self.channels * self.kernels * self.perception.iter().sum::<usize>() + self.update.iter().sum::<usize>()
    }
}

/// Rule that chooses the wires of a layer. The rule does not apply to the first layer of a perception kernel: there, each gate pairs the
/// cell with one neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// Distinct pairs of inputs: first pairs of adjacent inputs, then pairs with increasing distance. The pairs are assigned to gates in
    /// random order.
    Unique,
    /// Random pairs of inputs. The numbers of uses of any two inputs differ by at most 1.
    Random,
}

/// The two inputs of each gate in a layer, as indices into the layer's inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wires {
    pub a: Vec<u32>,
    pub b: Vec<u32>,
}

/// Wires of a whole automaton. All kernels have the same wires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wirings {
    /// Wires of each layer of a kernel. The inputs of the first layer are the nine cells, indexed row by row. Index 4 is the cell itself.
    pub perception: Vec<Wires>,
    /// Wires of each layer of the update. The inputs of the first layer are the cell's channels, then the outputs of the kernels,
    /// `[channel][output][kernel]`.
    pub update: Vec<Wires>,
}

impl Wirings {
    /// Creates the wires of an automaton. Returns an error if the first layer of a kernel does not have 8 gates, or if the last layer of
    /// the update does not have one gate per channel. With [`Wiring::Unique`], a number of gates that does not fit a layer's inputs is also
    /// an error; see [`unique`].
    pub fn new(architecture: &Architecture, wiring: Wiring, seed: u32) -> Result<Wirings, LogicError> {
        let rng = Rng::new(seed, PURPOSE_WIRES);
        let mut place = 0;
        let mut layers = |inputs: usize, widths: &[usize], first: bool| -> Result<Vec<Wires>, LogicError> {
            let mut inputs = inputs;
            let mut all = Vec::with_capacity(widths.len());
            for (k, &gates) in widths.iter().enumerate() {
                let mut random = rng.sequence(place << 32);
                place += 1;
                let mut wires = match wiring {
                    _ if first && k == 0 => neighbours(),
                    Wiring::Unique => unique(inputs, gates)?,
                    Wiring::Random => random_pairs(inputs, gates, &mut random),
                };
                let order = shuffled(gates, &mut random);
                wires.a = order.iter().map(|&i| wires.a[i]).collect();
                wires.b = order.iter().map(|&i| wires.b[i]).collect();
                all.push(wires);
                inputs = gates;
            }
            Ok(all)
        };
        if architecture.perception.first() != Some(&8) {
            return Err(LogicError::Shape("the first layer of a kernel must have 8 gates".into()));
        }
        if architecture.update.last() != Some(&architecture.channels) {
            return Err(LogicError::Shape("the last layer must have one gate per channel".into()));
        }
        Ok(Wirings {
            perception: layers(9, &architecture.perception, true)?,
            update: layers(architecture.update_inputs(), &architecture.update, false)?,
        })
    }
}

/// Returns the wires of a kernel's first layer, which pair each neighbour with the cell itself.
fn neighbours() -> Wires {
    Wires { a: (0..9).filter(|&i| i != 4).collect(), b: vec![4; 8] }
}

/// Returns the wires of a layer according to [`Wiring::Unique`], before the gates are shuffled. Returns an error if the gates are too few
/// to read all inputs, or if there are more gates than pairs of inputs.
pub fn unique(inputs: usize, gates: usize) -> Result<Wires, LogicError> {
    if 2 * gates < inputs {
        return Err(LogicError::Shape(format!("{gates} gates cannot read all {inputs} inputs")));
    }
    let apart = (1..inputs).flat_map(|apart| {
        // Neighbouring inputs are paired as (0, 1), (2, 3), … and then as (1, 2), (3, 4), …
        let starts: Vec<usize> = match apart {
            1 => (0..inputs - 1).step_by(2).chain((1..inputs - 1).step_by(2)).collect(),
            _ => (0..inputs - apart).collect(),
        };
        starts.into_iter().map(move |i| (i as u32, (i + apart) as u32))
    });
    let (a, b): (Vec<u32>, Vec<u32>) = apart.take(gates).unzip();
    if a.len() < gates {
        return Err(LogicError::Shape(format!("{inputs} inputs have fewer than {gates} pairs")));
    }
    Ok(Wires { a, b })
}

fn random_pairs(inputs: usize, gates: usize, random: &mut math::rng::Sequence) -> Wires {
    let (names, draws) = (shuffled(inputs, random), shuffled(2 * gates, random));
    let ends: Vec<u32> = draws.into_iter().map(|draw| names[draw % inputs] as u32).collect();
    Wires { a: ends[..gates].to_vec(), b: ends[gates..].to_vec() }
}

/// Returns the numbers 0..count in random order.
fn shuffled(count: usize, random: &mut math::rng::Sequence) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, random.below(i as u32 + 1) as usize);
    }
    order
}

/// Draws which cells of a sample (one grid of a batch) fire in a step. Writes 1 to `cells` for a cell that fires, otherwise 0. Each cell
/// fires with probability `rate`. The result depends only on the arguments. `draw` is the number of a rollout. In training, this is the
/// number of updates before the rollout.
pub fn fire(isa: Isa, seed: u32, rate: f32, [draw, step, sample]: [u32; 3], cells: &mut [f32]) {
    let rng = Rng { key: [seed, PURPOSE_FIRE, draw, step] };
    rng.fill_uniform(isa, sample, cells);
    cells.iter_mut().for_each(|x| *x = f32::from(u8::from(*x <= rate)));
}

/// Number of the random stream for wires.
const PURPOSE_WIRES: u32 = 1;
/// Number of the random stream for the choice of cells that fire.
pub const PURPOSE_FIRE: u32 = 2;
/// Number of the random stream for Gumbel noise.
pub const PURPOSE_GUMBEL: u32 = 3;

/// Error for layer sizes that cannot be wired, or for a change of fixed settings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LogicError {
    #[error("this automaton cannot be wired: {0}")]
    Shape(String),
    #[error("fixed settings cannot change during a run; start a new run with them")]
    Fixed,
}
