//! What is left of an automaton when every gate has become one operation: a circuit that gives a cell's next state from the nine
//! cells around it. It can be pruned, run bit by bit, and written as a file.

mod drawing;
mod file;
mod grid;
mod prune;
mod source;

pub use file::CircuitError;
pub use grid::PackedGrid;

use super::{Architecture, Wires, Wirings, apply};
use math::Rng;

/// A channel of one of the nine cells, which are counted row by row; 4 is the cell itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input {
    pub neighbour: u8,
    pub channel: u32,
}

impl Input {
    pub const SELF: u8 = 4;
    const NAMES: [&str; 9] = ["north-west", "north", "north-east", "west", "self", "east", "south-west", "south", "south-east"];

    /// `north-west`, and of several channels which: `north-west channel 3`.
    pub fn words(self, channels: usize) -> String {
        let name = Input::NAMES[usize::from(self.neighbour)];
        if channels == 1 { name.into() } else { format!("{name} channel {}", self.channel) }
    }
}

/// An input below the number of inputs, and above that a gate.
pub type Wire = u32;

/// One operation; its ends are wires of inputs or of gates before it. An end that the operation does not look at is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    pub op: u8,
    pub a: Wire,
    pub b: Wire,
}

impl Gate {
    /// Whether the operation looks at each of its ends.
    pub fn reads(self) -> (bool, bool) {
        let differs = |one: [bool; 2], other: [bool; 2]| apply(self.op, one[0], one[1]) != apply(self.op, other[0], other[1]);
        let a = differs([false, false], [true, false]) || differs([false, true], [true, true]);
        let b = differs([false, false], [false, true]) || differs([true, false], [true, true]);
        (a, b)
    }

    /// The wires it looks at.
    pub fn ends(self) -> impl Iterator<Item = Wire> {
        let (a, b) = self.reads();
        [a.then_some(self.a), b.then_some(self.b)].into_iter().flatten()
    }
}

/// Gates in an order in which each comes after those it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub name: String,
    /// Whether it was learned on a grid whose opposite borders are joined.
    pub periodic: bool,
    pub inputs: Vec<Input>,
    pub gates: Vec<Gate>,
    /// One for each channel.
    pub outputs: Vec<Wire>,
}

/// What a circuit consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub gates: usize,
    /// Gates that give one of their ends as it is.
    pub pass_through: usize,
    /// Gates that no output depends on.
    pub dead: usize,
    /// Gates on the longest way from an input to an output.
    pub depth: usize,
}

/// Two circuits, compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// States of the nine cells.
    pub compared: usize,
    /// Whether these are all there are.
    pub all: bool,
    pub equal: bool,
}

const AND: u8 = 1;
const XOR: u8 = 6;
const OR: u8 = 7;

/// A bit in each of 64 states of the cells.
type Word = u64;

impl Circuit {
    /// The circuit of an automaton whose gates do these operations, in the order of its parameters. Kernels are there once for
    /// each channel. Nothing is left out: see [`Circuit::pruned`].
    pub fn harden(architecture: &Architecture, wirings: &Wirings, ops: &[u8]) -> Circuit {
        let Architecture { channels, kernels, .. } = *architecture;
        assert_eq!(ops.len(), architecture.gates(), "an operation for each gate");
        let mut circuit = Circuit::new("automaton", false, channels);
        circuit.gates.reserve(architecture.gates_per_cell());
        let (perception, update) = ops.split_at(kernels * architecture.perception.iter().sum::<usize>());
        // What the update reads: the cell, then `[channel][output][kernel]`.
        let own = (0..channels).map(|channel| (9 * channel + usize::from(Input::SELF)) as Wire);
        let mut read: Vec<Wire> = own.collect();
        for channel in 0..channels {
            let cells: Vec<Wire> = (0..9).map(|neighbour| (9 * channel + neighbour) as Wire).collect();
            let mut values = vec![cells; kernels];
            let mut ops = perception;
            for wires in &wirings.perception {
                let (layer, rest) = ops.split_at(kernels * wires.a.len());
                for (kernel, ops) in layer.chunks(wires.a.len()).enumerate() {
                    values[kernel] = circuit.layer(wires, ops, &values[kernel]);
                }
                ops = rest;
            }
            let given = values[0].len();
            read.extend((0..given).flat_map(|i| values.iter().map(move |kernel| kernel[i])));
        }
        let mut ops = update;
        for wires in &wirings.update {
            let (layer, rest) = ops.split_at(wires.a.len());
            read = circuit.layer(wires, layer, &read);
            ops = rest;
        }
        circuit.outputs = read;
        circuit
    }

    fn layer(&mut self, wires: &Wires, ops: &[u8], read: &[Wire]) -> Vec<Wire> {
        let ends = wires.a.iter().zip(&wires.b);
        ends.zip(ops).map(|((&a, &b), &op)| self.add(op, read[a as usize], read[b as usize])).collect()
    }

    /// A circuit of no gates yet, which reads all nine cells of so many channels.
    pub fn new(name: &str, periodic: bool, channels: usize) -> Circuit {
        let inputs = (0..channels as u32).flat_map(|channel| (0..9).map(move |neighbour| Input { neighbour, channel })).collect();
        Circuit { name: name.into(), periodic, inputs, gates: Vec::new(), outputs: Vec::new() }
    }

    /// Adds a gate of two wires that are there.
    pub fn add(&mut self, op: u8, a: Wire, b: Wire) -> Wire {
        self.gates.push(Gate { op, a, b });
        (self.inputs.len() + self.gates.len() - 1) as Wire
    }

    pub fn channels(&self) -> usize {
        self.outputs.len()
    }

    /// What every wire is, in 64 states of the cells at once.
    pub fn values(&self, read: impl Fn(Input) -> Word) -> Vec<Word> {
        let mut values: Vec<Word> = Vec::with_capacity(self.inputs.len() + self.gates.len());
        values.extend(self.inputs.iter().map(|&input| read(input)));
        for &Gate { op, a, b } in &self.gates {
            let (a, b) = match values.is_empty() {
                true => (0, 0), // a constant, where nothing is read
                false => (values[a as usize], values[b as usize]),
            };
            values.push(word(op, a, b));
        }
        values
    }

    /// The next state of the channels of 64 cells.
    pub fn step(&self, read: impl Fn(Input) -> Word) -> Vec<Word> {
        let values = self.values(read);
        self.outputs.iter().map(|&wire| values[wire as usize]).collect()
    }

    /// Of each gate the longest way from an input, 1 at the least.
    pub fn layers(&self) -> Vec<usize> {
        let first = self.inputs.len();
        let mut layers: Vec<usize> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let before = gate.ends().filter_map(|wire| layers.get((wire as usize).checked_sub(first)?));
            layers.push(1 + before.max().copied().unwrap_or(0));
        }
        layers
    }

    /// Which gates some output depends on.
    pub fn alive(&self) -> Vec<bool> {
        let first = self.inputs.len();
        let mut alive = vec![false; self.gates.len()];
        let mark = |alive: &mut Vec<bool>, wire: Wire| {
            if let Some(gate) = (wire as usize).checked_sub(first) {
                alive[gate] = true;
            }
        };
        self.outputs.iter().for_each(|&wire| mark(&mut alive, wire));
        for (i, gate) in self.gates.iter().enumerate().rev() {
            if alive[i] {
                gate.ends().for_each(|wire| mark(&mut alive, wire));
            }
        }
        alive
    }

    pub fn counts(&self) -> Counts {
        let (layers, first) = (self.layers(), self.inputs.len());
        let depth = |&wire: &Wire| (wire as usize).checked_sub(first).map_or(0, |gate| layers[gate]);
        Counts {
            gates: self.gates.len(),
            pass_through: self.gates.iter().filter(|gate| matches!(gate.op, 3 | 5)).count(),
            dead: self.alive().iter().filter(|&&alive| !alive).count(),
            depth: self.outputs.iter().map(depth).max().unwrap_or(0),
        }
    }

    /// Compares what both give: in every state of the nine cells of one channel, or in random states of more.
    pub fn verify(&self, other: &Circuit, seed: u32) -> Verified {
        let all = self.channels() == 1;
        let words = if all { 8 } else { RANDOM_WORDS };
        let rng = Rng::new(seed, PURPOSE_VERIFY);
        let same = |number: usize| {
            let read = |input: Input| {
                if all {
                    return every_state(input.neighbour, number);
                }
                let [low, high, ..] = rng.block([number as u32, input.channel, input.neighbour.into(), 0]);
                Word::from(high) << 32 | Word::from(low)
            };
            self.step(read) == other.step(read)
        };
        Verified { compared: 64 * words, all, equal: (0..words).all(same) }
    }

    /// The sum of three bits: ones, and twos.
    fn full_adder(&mut self, a: Wire, b: Wire, c: Wire) -> (Wire, Wire) {
        let half = self.add(XOR, a, b);
        let (one, other) = (self.add(AND, a, b), self.add(AND, half, c));
        (self.add(XOR, half, c), self.add(OR, one, other))
    }

    /// Conway's Game of Life of full adders, by hand.
    pub fn life() -> Circuit {
        let mut life = Circuit::new("life", true, 1);
        let (above, c0) = life.full_adder(0, 1, 2);
        let (beside, c1) = life.full_adder(3, 5, 6);
        let (c2, last) = (life.add(AND, 7, 8), life.add(XOR, 7, 8));
        let (ones, c3) = life.full_adder(above, beside, last);
        // Two or three neighbours are one carry out of four.
        let (twos, fours) = life.full_adder(c0, c1, c2);
        let one_carry = life.add(XOR, twos, c3);
        let few = life.add(2, one_carry, fours);
        let enough = life.add(OR, ones, Input::SELF.into());
        let next = life.add(AND, few, enough);
        life.outputs.push(next);
        life
    }
}

/// Bit by bit, what an operation gives.
fn word(op: u8, a: Word, b: Word) -> Word {
    let bit = |k: u8, term: Word| if op >> k & 1 == 1 { term } else { 0 };
    bit(3, !a & !b) | bit(2, !a & b) | bit(1, a & !b) | bit(0, a & b)
}

/// Whether this neighbour is on in the states 64 n to 64 n + 63.
pub(super) fn every_state(neighbour: u8, number: usize) -> Word {
    (0..64).fold(0, |word, bit| word | ((64 * number + bit) as Word >> neighbour & 1) << bit)
}

/// 8,192 random states.
const RANDOM_WORDS: usize = 128;
const PURPOSE_VERIFY: u32 = 4;
