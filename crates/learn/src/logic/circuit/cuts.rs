//! Cuts of a gate: sets of a few earlier wires that determine the gate's output. A gate as a function of a cut shows what the operation and
//! the ends alone hide: that the output is constant, equals an earlier wire, or is a single operation of two earlier wires.

use super::{Gate, Wire, Word, op_of, word};

/// Maximum number of wires in a cut. A word has one bit for each of their states.
const MOST_WIRES: usize = 6;
/// Maximum number of cuts of a gate.
const MOST_CUTS: usize = 24;

/// A gate as a function of earlier wires. The function depends on each of the wires. The wires are in ascending order.
#[derive(PartialEq, Eq, Hash)]
pub struct Cut {
    wires: Vec<Wire>,
    /// Output of the gate in each state of the wires, one bit per state.
    table: Word,
}

/// Result of an examination of a gate by its cuts.
pub enum Cuts {
    /// The output is always 0.
    Constant,
    /// The output equals this wire.
    Wire(Wire),
    /// The output needs a gate. Its ends are the earliest wires that were found.
    Gate { gate: Gate, cuts: Vec<Cut> },
}

impl Cuts {
    /// Examines a new gate. `gates` are the earlier gates, which follow the inputs in the order of the wires. All gates return 0 if both
    /// ends are 0.
    pub fn of(gate: Gate, inputs: usize, gates: &[Gate]) -> Cuts {
        let mut found = gate;
        let mut leaves = vec![gate.a, gate.b];
        let mut cuts = Vec::new();
        loop {
            let Cut { wires, table } = function(gate, &leaves, inputs, gates);
            match *wires {
                [] => return Cuts::Constant,
                [wire] => return Cuts::Wire(wire),
                [a, b] => found = Gate { op: op_of(|a, b| table >> (u8::from(a) + 2 * u8::from(b)) & 1 == 1), a, b },
                _ => {}
            }
            cuts.push(Cut { wires, table });
            let Some(next) = expanded(&leaves, inputs, gates).filter(|_| cuts.len() < MOST_CUTS) else {
                return Cuts::Gate { gate: found, cuts };
            };
            leaves = next;
        }
    }
}

/// Replaces a leaf by the ends of its gate: the last leaf for which the result is not too large. Returns `None` if there is no such leaf.
fn expanded(leaves: &[Wire], inputs: usize, gates: &[Gate]) -> Option<Vec<Wire>> {
    (0..leaves.len()).rev().find_map(|k| {
        let Gate { a, b, .. } = gates[(leaves[k] as usize).checked_sub(inputs)?];
        let mut next: Vec<Wire> = leaves.iter().copied().filter(|&leaf| leaf != leaves[k]).chain([a, b]).collect();
        next.sort_unstable();
        next.dedup();
        (next.len() <= MOST_WIRES).then_some(next)
    })
}

/// Returns the gate as a function of those leaves on which it depends.
fn function(gate: Gate, leaves: &[Wire], inputs: usize, gates: &[Gate]) -> Cut {
    let whole = table(gate, leaves, inputs, gates);
    let wires: Vec<Wire> = (0..leaves.len()).filter(|&k| depends(whole, k)).map(|k| leaves[k]).collect();
    let others = leaves.iter().filter(|leaf| !wires.contains(leaf));
    let order: Vec<Wire> = wires.iter().chain(others).copied().collect();
    Cut { table: table(gate, &order, inputs, gates), wires }
}

/// Returns true if a function depends on its variable `k`.
fn depends(table: Word, k: usize) -> bool {
    (table & VARIABLES[k]) >> (1 << k) != table & !VARIABLES[k]
}

/// Values of each variable in all states of six variables.
const VARIABLES: [Word; MOST_WIRES] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// Returns the outputs of the gate in all states of the leaves. Leaf `k` has the values `VARIABLES[k]`.
fn table(gate: Gate, leaves: &[Wire], inputs: usize, gates: &[Gate]) -> Word {
    let mut known: Vec<(Wire, Word)> = leaves.iter().copied().zip(VARIABLES).collect();
    let [a, b] = [gate.a, gate.b].map(|end| value(end, inputs, gates, &mut known));
    word(gate.op, a, b)
}

/// Returns the values of a wire. `known` contains the values of some wires, and receives those of further wires.
fn value(wire: Wire, inputs: usize, gates: &[Gate], known: &mut Vec<(Wire, Word)>) -> Word {
    if let Some(&(_, values)) = known.iter().find(|(of, _)| *of == wire) {
        return values;
    }
    let Gate { op, a, b } = gates[wire as usize - inputs];
    let [a, b] = [a, b].map(|end| value(end, inputs, gates, known));
    known.push((wire, word(op, a, b)));
    word(op, a, b)
}
