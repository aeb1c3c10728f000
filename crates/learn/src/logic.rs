//! Cellular automata of learned logic gates (Miotti, Niklasson, Randazzo, Mordvintsev: "Differentiable Logic Cellular
//! Automata", Google, Paradigms of Intelligence, 2025, google-research.github.io/self-organising-systems/difflogic-ca, and its
//! notebook; "published" means these). Every cell holds a few channels. Kernels of gates read the nine cells around it in one
//! channel at a time, the same in every channel; a network of gates reads the cell and what the kernels say, and gives the cell's
//! next state. This file says what training and circuits have in common: gates, layers, wires, and which cells fire where not all
//! of them do.

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

/// Operations of a gate in the published order: bit 3 of the number is the output for a = b = 0, bit 2 for (0, 1), bit 1 for (1, 0) and bit
/// 0 for
/// (1, 1), so that 1 is AND, 3 is A, 5 is B, 6 is XOR, 7 is OR, and 15 - op is the opposite of op.
pub const OPS: usize = 16;
/// The operation that gives its first input.
pub const PASS: u8 = 3;

/// What each operation is called.
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

/// What an operation gives.
pub fn apply(op: u8, a: bool, b: bool) -> bool {
    op >> (3 - (2 * u8::from(a) + u8::from(b))) & 1 == 1
}

/// An operation is the polynomial c0 + c1 a + c2 b + c3 ab; these are its coefficients.
pub fn coefficients(op: u8) -> [f64; 4] {
    let [none, b, a, both] =
        [(false, false), (false, true), (true, false), (true, true)].map(|(a, b)| f64::from(u8::from(apply(op, a, b))));
    [none, a - none, b - none, both - a - b + none]
}

/// Shapes of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Architecture {
    pub channels: usize,
    pub kernels: usize,
    /// Gates of each layer of one kernel; the first layer has 8, each of a neighbour and the cell itself.
    pub perception: Vec<usize>,
    /// Gates of each layer of the update; the last has as many as there are channels.
    pub update: Vec<usize>,
}

impl Architecture {
    /// Inputs of the update: the cell's channels, then of each channel what the kernels say.
    pub fn update_inputs(&self) -> usize {
        self.channels * (1 + self.kernels * self.perception.last().copied().unwrap_or(0))
    }

    /// Gates that are learned. Parameters stand in this order everywhere: layers of the perception, in each `[kernel][gate]`;
    /// then layers of the update.
    pub fn gates(&self) -> usize {
        self.kernels * self.perception.iter().sum::<usize>() + self.update.iter().sum::<usize>()
    }

    /// Gates that are evaluated for a cell and a step: kernels look at every channel.
    pub fn gates_per_cell(&self) -> usize {
        self.channels * self.kernels * self.perception.iter().sum::<usize>() + self.update.iter().sum::<usize>()
    }
}

/// How layers after a kernel's first are wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// Pairs that differ: neighbours first, then inputs that lie further and further apart; gates in random order.
    Unique,
    /// Each input as often as any other, in random pairs.
    Random,
}

/// Which two inputs each gate of a layer has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wires {
    pub a: Vec<u32>,
    pub b: Vec<u32>,
}

/// The wires of a whole automaton. Kernels share theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wirings {
    /// Of one kernel. Inputs of the first layer are the nine cells, row by row, the cell itself being number 4.
    pub perception: Vec<Wires>,
    /// Inputs of the first layer: the channels of the cell, then `[channel][output][kernel]`.
    pub update: Vec<Wires>,
}

impl Wirings {
    /// `Err` where a layer has too few or too many gates for its inputs.
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
            return Err(LogicError::Shape("the first layer of a kernel has 8 gates".into()));
        }
        if architecture.update.last() != Some(&architecture.channels) {
            return Err(LogicError::Shape("the last layer has as many gates as there are channels".into()));
        }
        Ok(Wirings {
            perception: layers(9, &architecture.perception, true)?,
            update: layers(architecture.update_inputs(), &architecture.update, false)?,
        })
    }
}

/// Each of the eight neighbours with the cell itself.
fn neighbours() -> Wires {
    Wires { a: (0..9).filter(|&i| i != 4).collect(), b: vec![4; 8] }
}

/// As published, before gates are put in random order.
pub fn unique(inputs: usize, gates: usize) -> Result<Wires, LogicError> {
    if 2 * gates < inputs {
        return Err(LogicError::Shape(format!("{gates} gates leave some of {inputs} inputs out")));
    }
    let apart = (1..inputs).flat_map(|apart| {
        // Those next to each other come as (0, 1), (2, 3), … and then (1, 2), (3, 4), …
        let starts: Vec<usize> = match apart {
            1 => (0..inputs - 1).step_by(2).chain((1..inputs - 1).step_by(2)).collect(),
            _ => (0..inputs - apart).collect(),
        };
        starts.into_iter().map(move |i| (i as u32, (i + apart) as u32))
    });
    let (a, b): (Vec<u32>, Vec<u32>) = apart.take(gates).unzip();
    if a.len() < gates {
        return Err(LogicError::Shape(format!("{inputs} inputs have no {gates} pairs")));
    }
    Ok(Wires { a, b })
}

fn random_pairs(inputs: usize, gates: usize, random: &mut math::rng::Sequence) -> Wires {
    let (names, draws) = (shuffled(inputs, random), shuffled(2 * gates, random));
    let ends: Vec<u32> = draws.into_iter().map(|draw| names[draw % inputs] as u32).collect();
    Wires { a: ends[..gates].to_vec(), b: ends[gates..].to_vec() }
}

/// 0..count in random order.
fn shuffled(count: usize, random: &mut math::rng::Sequence) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, random.below(i as u32 + 1) as usize);
    }
    order
}

/// Which cells of a sample fire in a step of an asynchronous automaton: 1 for those that do, 0 for the others, as a function of
/// its arguments alone. A draw is a rollout: in training the number of updates before it.
pub fn fire(isa: Isa, seed: u32, rate: f32, [draw, step, sample]: [u32; 3], cells: &mut [f32]) {
    let rng = Rng { key: [seed, PURPOSE_FIRE, draw, step] };
    rng.fill_uniform(isa, sample, cells);
    cells.iter_mut().for_each(|x| *x = f32::from(u8::from(*x <= rate)));
}

/// Streams of random numbers.
const PURPOSE_WIRES: u32 = 1;
pub const PURPOSE_FIRE: u32 = 2;
pub const PURPOSE_GUMBEL: u32 = 3;

/// What cannot be built or learned, with what would do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LogicError {
    #[error("an automaton of this shape cannot be wired: {0}")]
    Shape(String),
    #[error("the target, the gates and the population stay as they began; begin a new run for others")]
    Fixed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_their_polynomials() {
        for op in 0..OPS as u8 {
            for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
                let [c0, c1, c2, c3] = coefficients(op);
                let (x, y) = (f64::from(u8::from(a)), f64::from(u8::from(b)));
                assert_eq!(c0 + c1 * x + c2 * y + c3 * x * y, f64::from(u8::from(apply(op, a, b))), "{op} of {a}, {b}");
                assert_ne!(apply(op, a, b), apply(15 - op, a, b));
            }
        }
    }

    #[test]
    fn pairs_are_those_of_the_publication() {
        let pairs = |inputs, gates| unique(inputs, gates).map(|w| w.a.into_iter().zip(w.b).collect::<Vec<_>>());
        assert_eq!(pairs(4, 2), Ok(vec![(0, 1), (2, 3)]));
        assert_eq!(pairs(5, 4), Ok(vec![(0, 1), (2, 3), (1, 2), (3, 4)]));
        assert_eq!(pairs(4, 6), Ok(vec![(0, 1), (2, 3), (1, 2), (0, 2), (1, 3), (0, 3)]));
        assert!(pairs(8, 3).is_err() && pairs(4, 7).is_err());
        for wiring in [Wiring::Unique, Wiring::Random] {
            let shape = Architecture { channels: 2, kernels: 3, perception: vec![8, 4, 2], update: vec![16, 8, 4, 2] };
            let wirings = Wirings::new(&shape, wiring, 7).unwrap();
            assert_eq!(wirings, Wirings::new(&shape, wiring, 7).unwrap());
            assert_ne!(wirings, Wirings::new(&shape, wiring, 8).unwrap());
            assert_eq!(shape.update_inputs(), 14);
            let mut first: Vec<u32> = wirings.perception[0].a.clone();
            first.sort_unstable();
            assert_eq!(first, [0, 1, 2, 3, 5, 6, 7, 8]);
            // every input of the update is read
            let read = |i| wirings.update[0].a.contains(&i) || wirings.update[0].b.contains(&i);
            assert!((0..14).all(read));
        }
    }
}
