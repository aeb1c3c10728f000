//! Circuit: a hardened automaton, in which each gate has a single operation. A circuit computes a cell's next state from the nine cells
//! (the cell and its eight neighbours). A circuit can be pruned and reduced, run with bit operations, and written to a file.

mod cuts;
mod drawing;
mod file;
mod grid;
mod prune;
mod reduce;
mod source;

pub use file::CircuitError;
pub use grid::PackedGrid;

use super::{Architecture, Wires, Wirings, apply};
use math::Rng;

/// Input of a circuit: a channel of one of the nine cells. `neighbour` is the index of the cell, row by row; index 4 is the cell itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input {
    pub neighbour: u8,
    pub channel: u32,
}

impl Input {
    pub const SELF: u8 = 4;
    const NAMES: [&str; 9] = ["north-west", "north", "north-east", "west", "self", "east", "south-west", "south", "south-east"];

    /// Returns the name of the input, such as `north-west` or, with several channels, `north-west channel 3`.
    pub fn words(self, channels: usize) -> String {
        let name = Input::NAMES[usize::from(self.neighbour)];
        if channels == 1 { name.into() } else { format!("{name} channel {}", self.channel) }
    }
}

/// Number of a wire. A wire carries an input or the output of a gate. The number is the index of the input, or the number of inputs plus
/// the index of the gate.
pub type Wire = u32;

/// A gate with two ends (input wires), `a` and `b`. Each end is the wire of an input or of an earlier gate. The operation may ignore an
/// end; see [`Gate::reads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    pub op: u8,
    pub a: Wire,
    pub b: Wire,
}

impl Gate {
    /// Returns two values. The first is true if the operation depends on `a`, the second if the operation depends on `b`.
    pub fn reads(self) -> (bool, bool) {
        let differs = |one: [bool; 2], other: [bool; 2]| apply(self.op, one[0], one[1]) != apply(self.op, other[0], other[1]);
        let a = differs([false, false], [true, false]) || differs([false, true], [true, true]);
        let b = differs([false, false], [false, true]) || differs([true, false], [true, true]);
        (a, b)
    }

    /// Returns the wires that the operation depends on.
    pub fn ends(self) -> impl Iterator<Item = Wire> {
        let (a, b) = self.reads();
        [a.then_some(self.a), b.then_some(self.b)].into_iter().flatten()
    }
}

/// Circuit that computes a cell's next state. Its gates are in topological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub name: String,
    /// True if the circuit was trained on a grid whose opposite borders are joined.
    pub periodic: bool,
    pub inputs: Vec<Input>,
    pub gates: Vec<Gate>,
    /// Wire of each channel's next state.
    pub outputs: Vec<Wire>,
}

/// Statistics of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub gates: usize,
    /// Number of gates that return one of their ends unchanged.
    pub pass_through: usize,
    /// Number of gates without effect on any output.
    pub dead: usize,
    /// Number of gates on the longest path from an input to an output.
    pub depth: usize,
}

/// Result of comparing two circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Number of states of the nine cells for which the outputs were compared.
    pub compared: usize,
    /// True if `compared` includes all possible states.
    pub all: bool,
    pub equal: bool,
}

const AND: u8 = 1;
const XOR: u8 = 6;
const OR: u8 = 7;

/// Values of one wire in 64 states of the nine cells, one bit per state.
type Word = u64;

impl Circuit {
    /// Returns the circuit of an automaton. `ops` contains the operations of the gates in the order of [`Architecture::gates`]. The circuit
    /// contains the kernels' gates once for each channel. No gate is removed; see [`Circuit::pruned`].
    pub fn harden(architecture: &Architecture, wirings: &Wirings, ops: &[u8]) -> Circuit {
        let Architecture { channels, kernels, .. } = *architecture;
        assert_eq!(ops.len(), architecture.gates(), "one operation per gate");
        let mut circuit = Circuit::new("automaton", false, channels);
        circuit.gates.reserve(architecture.gates_per_cell());
        let (perception, update) = ops.split_at(kernels * architecture.perception.iter().sum::<usize>());
        // The inputs of the update are the cell's channels, then the outputs of the kernels, `[channel][output][kernel]`.
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
            let count = values[0].len();
            read.extend((0..count).flat_map(|i| values.iter().map(move |kernel| kernel[i])));
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

    /// Creates a circuit without gates. The circuit's inputs are all channels of the nine cells.
    pub fn new(name: &str, periodic: bool, channels: usize) -> Circuit {
        let inputs = (0..channels as u32).flat_map(|channel| (0..9).map(move |neighbour| Input { neighbour, channel })).collect();
        Circuit { name: name.into(), periodic, inputs, gates: Vec::new(), outputs: Vec::new() }
    }

    /// Adds a gate that reads the existing wires `a` and `b`. Returns the wire of the gate's output.
    pub fn add(&mut self, op: u8, a: Wire, b: Wire) -> Wire {
        self.gates.push(Gate { op, a, b });
        (self.inputs.len() + self.gates.len() - 1) as Wire
    }

    pub fn channels(&self) -> usize {
        self.outputs.len()
    }

    /// Returns the value of every wire in 64 states of the nine cells. `read` returns the values of an input in the same states.
    pub fn values(&self, read: impl Fn(Input) -> Word) -> Vec<Word> {
        let mut values: Vec<Word> = Vec::with_capacity(self.inputs.len() + self.gates.len());
        values.extend(self.inputs.iter().map(|&input| read(input)));
        for &Gate { op, a, b } in &self.gates {
            let (a, b) = match values.is_empty() {
                true => (0, 0), // no wires exist, so the gate is constant
                false => (values[a as usize], values[b as usize]),
            };
            values.push(word(op, a, b));
        }
        values
    }

    /// Returns the next state of each channel for 64 states of the nine cells. `read` returns the values of an input in the same states.
    pub fn step(&self, read: impl Fn(Input) -> Word) -> Vec<Word> {
        let values = self.values(read);
        self.outputs.iter().map(|&wire| values[wire as usize]).collect()
    }

    /// Returns a number for each gate: the number of gates on the longest path from an input to this gate, including this gate.
    pub fn layers(&self) -> Vec<usize> {
        let first = self.inputs.len();
        let mut layers: Vec<usize> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let before = gate.ends().filter_map(|wire| layers.get((wire as usize).checked_sub(first)?));
            layers.push(1 + before.max().copied().unwrap_or(0));
        }
        layers
    }

    /// Returns a value for each gate: true if an output depends on the gate.
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

    /// Compares the outputs of two circuits. Circuits with one channel are compared in all states of the nine cells, other circuits in
    /// random states.
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

    /// Adds gates for the sum of three bits. Returns the wires of the sum's lower and upper bit.
    fn full_adder(&mut self, a: Wire, b: Wire, c: Wire) -> (Wire, Wire) {
        let half = self.add(XOR, a, b);
        let (one, other) = (self.add(AND, a, b), self.add(AND, half, c));
        (self.add(XOR, half, c), self.add(OR, one, other))
    }

    /// Returns a circuit for Conway's Game of Life, designed by hand from full adders.
    pub fn life() -> Circuit {
        let mut life = Circuit::new("life", true, 1);
        let (above, c0) = life.full_adder(0, 1, 2);
        let (beside, c1) = life.full_adder(3, 5, 6);
        let (c2, last) = (life.add(AND, 7, 8), life.add(XOR, 7, 8));
        let (ones, c3) = life.full_adder(above, beside, last);
        // Two or three neighbours are on if exactly one of the four carries c0 to c3 is on.
        let (twos, fours) = life.full_adder(c0, c1, c2);
        let one_carry = life.add(XOR, twos, c3);
        let few = life.add(2, one_carry, fours);
        let enough = life.add(OR, ones, Input::SELF.into());
        let next = life.add(AND, few, enough);
        life.outputs.push(next);
        life
    }
}

/// Returns the operation whose results are those of `f`.
fn op_of(f: impl Fn(bool, bool) -> bool) -> u8 {
    let bit = |a, b| u8::from(f(a, b));
    bit(false, false) << 3 | bit(false, true) << 2 | bit(true, false) << 1 | bit(true, true)
}

/// Applies an operation to each pair of corresponding bits of `a` and `b`.
fn word(op: u8, a: Word, b: Word) -> Word {
    let bit = |k: u8, term: Word| if op >> k & 1 == 1 { term } else { 0 };
    bit(3, !a & !b) | bit(2, !a & b) | bit(1, a & !b) | bit(0, a & b)
}

/// Returns the bits of one neighbour in 64 states of the nine cells: the states 64·`number` to 64·`number` + 63.
pub(super) fn every_state(neighbour: u8, number: usize) -> Word {
    (0..64).fold(0, |word, bit| word | ((64 * number + bit) as Word >> neighbour & 1) << bit)
}

/// Number of words in a comparison of random states. These words contain 8,192 states.
const RANDOM_WORDS: usize = 128;
const PURPOSE_VERIFY: u32 = 4;
