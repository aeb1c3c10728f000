//! Reduction of a circuit for display and export. It finds more than pruning, and takes more time.
//!
//! A gate is a duplicate if another wire always has the same value. A gate is absorbed if another wire or a constant can take its place
//! without a change of any output, although their values differ in some states. In a circuit with up to [`MOST_INPUTS`] inputs, all states
//! of the inputs are compared, so that no duplicate and no such gate remains, except where the replacement would need a negation. In a
//! larger circuit, gates are rewritten by their functions of a few earlier wires.

use super::prune::Equal;
use super::{Circuit, Gate, Wire, Word, word};

/// Maximum number of inputs for the comparison of all states.
const MOST_INPUTS: usize = 16;
// Operations that return the end `a`, its negation, and constants.
const SAME: u8 = 3;
const NOT: u8 = 12;
const OFF: u8 = 0;
const ON: u8 = 15;

impl Circuit {
    /// Returns an equivalent circuit without duplicates and absorbed gates.
    pub fn reduced(&self) -> Circuit {
        let mut reduced = self.pruned();
        loop {
            let next = if reduced.inputs.len() > MOST_INPUTS { reduced.rebuilt(Equal::Cuts) } else { reduced.without_absorbed() };
            if next.gates.len() >= reduced.gates.len() {
                return reduced;
            }
            reduced = next;
        }
    }

    /// Returns the rule that compares all states of the circuit's inputs.
    fn all_states(&self) -> Equal {
        Equal::states(self.inputs.len(), 0..self.inputs.len() as u8)
    }

    fn without_absorbed(&self) -> Circuit {
        let mut circuit = self.rebuilt(self.all_states());
        while let Some(smaller) = circuit.without_one() {
            circuit = smaller;
        }
        circuit
    }

    /// Returns a smaller circuit, in which another wire or a constant replaces a gate. Returns `None` if no gate can be replaced.
    fn without_one(&self) -> Option<Circuit> {
        let Equal::States(inputs) = self.all_states() else { return None };
        let mut values: Vec<Vec<Word>> = inputs.iter().map(|values| values.to_vec()).collect();
        for &gate in &self.gates {
            values.push(output(gate, &values));
        }
        (0..self.gates.len()).rev().find_map(|gate| {
            let wire = self.inputs.len() + gate;
            let matters = self.matters(wire, &values);
            let fits = |other: &dyn Fn(usize) -> Word| (0..matters.len()).all(|n| (values[wire][n] ^ other(n)) & matters[n] == 0);
            let constants = [(OFF, 0), (ON, Word::MAX)].into_iter().filter(|&(_, word)| fits(&|_| word)).map(|(op, _)| (op, 0));
            let wires = (0..wire).flat_map(|other| [(SAME, other, 0), (NOT, other, Word::MAX)]);
            let equal = wires.filter(|&(_, other, not)| fits(&|n| values[other][n] ^ not)).map(|(op, other, _)| (op, other as Wire));
            constants.chain(equal).find_map(|(op, a)| {
                let mut circuit = self.clone();
                circuit.gates[gate] = Gate { op, a, b: 0 };
                Some(circuit.rebuilt(self.all_states())).filter(|circuit| circuit.gates.len() < self.gates.len())
            })
        })
    }

    /// Returns the states in which the value of a wire matters: the states in which the opposite value changes an output.
    fn matters(&self, wire: usize, values: &[Vec<Word>]) -> Vec<Word> {
        let mut changed = values[..=wire].to_vec();
        changed[wire].iter_mut().for_each(|word| *word = !*word);
        for &gate in &self.gates[wire + 1 - self.inputs.len()..] {
            changed.push(output(gate, &changed));
        }
        let differs = |n: usize| self.outputs.iter().fold(0, |sum, &of| sum | (values[of as usize][n] ^ changed[of as usize][n]));
        (0..values[wire].len()).map(differs).collect()
    }
}

/// Returns the output of a gate in all states. `values` contains the values of the wires before the gate.
fn output(Gate { op, a, b }: Gate, values: &[Vec<Word>]) -> Vec<Word> {
    match (values.get(a as usize), values.get(b as usize)) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(&a, &b)| word(op, a, b)).collect(),
        _ => vec![word(op, 0, 0)], // no wires exist, so the gate is constant
    }
}
