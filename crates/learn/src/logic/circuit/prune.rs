//! Reduction of a circuit to a smaller equivalent circuit.
//!
//! Every wire of the old circuit becomes a constant, or a wire of the new circuit with an optional negation. The ends of a gate are the
//! wires that it reads. During the reduction, each new gate has two different ends, depends on both ends, and returns 0 if both ends are 0.
//! Every other operation is represented by such a gate with a negated output. A gate that reads a negated wire absorbs the negation.
//! Constants and separate negations remain only before outputs. Equal gates are merged; [`Equal`] is the rule that finds them.

use super::cuts::{Cut, Cuts};
use super::{Circuit, Gate, Input, Wire, Word, apply, every_state, op_of, word};
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Constant(bool),
    Of { wire: Wire, not: bool },
}

/// Rule that finds equal gates.
pub(super) enum Equal {
    /// Equal gates have the same operation and ends.
    Ends,
    /// Equal gates have the same values in all states of the inputs. The list contains these values for each wire.
    States(Vec<Rc<[Word]>>),
    /// Equal gates compute the same function of a few earlier wires.
    Cuts,
}

/// Key of a gate. Gates with equal keys are merged.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Gate(Gate),
    States(Rc<[Word]>),
    Cut(Cut),
}

const NOT: u8 = 12;

struct Small {
    inputs: usize,
    gates: Vec<Gate>,
    merged: HashMap<Key, Wire>,
    equal: Equal,
}

/// Number of the nine cells.
const CELLS: usize = 9;

impl Circuit {
    /// Returns an equivalent circuit without pass-through gates, chains of negations, dead gates, duplicates and unused inputs. Constants
    /// remain only as outputs. In a circuit with one channel, gates are equal if they have the same values in all 512 states of the nine
    /// cells. In other circuits, gates are equal if they have the same operation and ends.
    pub fn pruned(&self) -> Circuit {
        let one_channel = self.inputs.iter().all(|input| input.channel == 0);
        let cells = self.inputs.iter().map(|input| input.neighbour);
        self.rebuilt(if one_channel { Equal::states(CELLS, cells) } else { Equal::Ends })
    }

    /// Returns an equivalent circuit as [`Circuit::pruned`] does, with another rule for equal gates.
    pub(super) fn rebuilt(&self, equal: Equal) -> Circuit {
        let mut small = Small { inputs: self.inputs.len(), gates: Vec::new(), merged: HashMap::new(), equal };
        if let Equal::States(states) = &small.equal {
            small.merged.extend(states.iter().enumerate().map(|(i, states)| (Key::States(states.clone()), i as Wire)));
        }
        let mut values: Vec<Value> = (0..self.inputs.len() as Wire).map(|wire| Value::Of { wire, not: false }).collect();
        for &Gate { op, a, b } in &self.gates {
            let end = |wire: Wire| values.get(wire as usize).copied().unwrap_or(Value::Constant(false));
            let value = small.gate(op, end(a), end(b));
            values.push(value);
        }
        let outputs: Vec<Value> = self.outputs.iter().map(|&wire| values[wire as usize]).collect();
        small.write(self, &outputs)
    }
}

impl Equal {
    /// Returns the rule that compares all states of `variables` bits. `of` contains the bit that each input of the circuit reads.
    pub fn states(variables: usize, of: impl Iterator<Item = u8>) -> Equal {
        let words = (1_usize << variables).div_ceil(64);
        Equal::States(of.map(|variable| (0..words).map(|n| every_state(variable, n)).collect()).collect())
    }
}

/// Returns a wire, its negation or a constant: the value that is `low` if `wire` is off and `high` if `wire` is on.
fn of_one(wire: Wire, low: bool, high: bool) -> Value {
    if low == high { Value::Constant(low) } else { Value::Of { wire, not: low } }
}

impl Small {
    fn gate(&mut self, op: u8, a: Value, b: Value) -> Value {
        use Value::{Constant, Of};
        let (x, not_x, y, not_y) = match (a, b) {
            (Constant(a), Constant(b)) => return Constant(apply(op, a, b)),
            (Of { wire, not }, Constant(b)) => {
                return of_one(wire, apply(op, not, b), apply(op, !not, b));
            }
            (Constant(a), Of { wire, not }) => {
                return of_one(wire, apply(op, a, not), apply(op, a, !not));
            }
            (Of { wire: x, not: a }, Of { wire: y, not: b }) if x == y => {
                return of_one(x, apply(op, a, b), apply(op, !a, !b));
            }
            (Of { wire: x, not: a }, Of { wire: y, not: b }) if x < y => (x, a, y, b),
            (Of { .. }, Of { .. }) => return self.gate(op_of(|a, b| apply(op, b, a)), b, a),
        };
        let op = op_of(|a, b| apply(op, a ^ not_x, b ^ not_y));
        match (Gate { op, a: x, b: y }).reads() {
            (false, false) => return Constant(op == 15),
            (true, false) => return of_one(x, apply(op, false, false), apply(op, true, false)),
            (false, true) => return of_one(y, apply(op, false, false), apply(op, false, true)),
            (true, true) => {}
        }
        let not = apply(op, false, false);
        let gate = Gate { op: if not { 15 - op } else { op }, a: x, b: y };
        match self.merge(gate) {
            Constant(on) => Constant(on ^ not),
            Of { wire, not: n } => Of { wire, not: n ^ not },
        }
    }

    /// Returns the value of a gate: that of an equal wire, or that of a new gate.
    fn merge(&mut self, gate: Gate) -> Value {
        match &self.equal {
            Equal::Ends => self.add(vec![Key::Gate(gate)], gate),
            Equal::States(all) => {
                let (a, b) = (&all[gate.a as usize], &all[gate.b as usize]);
                let states: Rc<[Word]> = a.iter().zip(&**b).map(|(&a, &b)| word(gate.op, a, b)).collect();
                match states.iter().all(|&word| word == 0) {
                    true => Value::Constant(false),
                    false => self.add(vec![Key::States(states)], gate),
                }
            }
            Equal::Cuts => match Cuts::of(gate, self.inputs, &self.gates) {
                Cuts::Constant => Value::Constant(false),
                Cuts::Wire(wire) => Value::Of { wire, not: false },
                Cuts::Gate { gate, cuts } => self.add(cuts.into_iter().map(Key::Cut).collect(), gate),
            },
        }
    }

    /// Returns the wire of the first known key. If no key is known, adds the gate. Stores the unknown keys.
    fn add(&mut self, keys: Vec<Key>, gate: Gate) -> Value {
        let fresh = (self.inputs + self.gates.len()) as Wire;
        let wire = keys.iter().find_map(|key| self.merged.get(key)).copied().unwrap_or(fresh);
        if wire == fresh {
            self.gates.push(gate);
            if let (Equal::States(all), Some(Key::States(states))) = (&mut self.equal, keys.first()) {
                all.push(states.clone());
            }
        }
        for key in keys {
            self.merged.entry(key).or_insert(wire);
        }
        Value::Of { wire, not: false }
    }

    /// Returns the circuit with only those gates on which outputs depend. Some of these gates are replaced by their negation. Gates are
    /// added for negated or constant outputs. The gates are in depth-first order, so that few values are live at the same time. This order
    /// is topological.
    fn write(self, from: &Circuit, outputs: &[Value]) -> Circuit {
        let first = self.inputs;
        // A gate is replaced by its negation if an output needs its negated value, and no output needs its plain value.
        let needed = |not: bool| {
            let mut needed = vec![false; first + self.gates.len()];
            for value in outputs {
                if let Value::Of { wire, not: n } = *value
                    && n == not
                {
                    needed[wire as usize] = true;
                }
            }
            needed
        };
        let (plain, negated) = (needed(false), needed(true));
        let opposite = |wire: Wire| {
            let wire = wire as usize;
            wire >= first && negated[wire] && !plain[wire]
        };
        let mut used = vec![false; first + self.gates.len()];
        let mut order: Vec<usize> = Vec::new();
        let mut stack: Vec<(Wire, bool)> = Vec::new();
        for value in outputs {
            let Value::Of { wire, .. } = *value else { continue };
            stack.push((wire, false));
            while let Some((wire, read)) = stack.pop() {
                match (wire as usize).checked_sub(first) {
                    Some(gate) if read => order.push(gate),
                    _ if used[wire as usize] => {}
                    None => used[wire as usize] = true,
                    Some(gate) => {
                        used[wire as usize] = true;
                        let Gate { a, b, .. } = self.gates[gate];
                        stack.extend([(wire, true), (b, false), (a, false)]);
                    }
                }
            }
        }
        let inputs: Vec<Input> = (0..first).filter(|&i| used[i]).map(|i| from.inputs[i]).collect();
        let mut small = Circuit { inputs, gates: Vec::new(), outputs: Vec::new(), ..from.clone() };
        let mut place = vec![0; used.len()];
        for (i, wire) in (0..first).filter(|&i| used[i]).enumerate() {
            place[wire] = i as Wire;
        }
        for gate in order {
            let Gate { op, a, b } = self.gates[gate];
            let (not_a, not_b, not) = (opposite(a), opposite(b), opposite((first + gate) as Wire));
            let op = op_of(|a, b| apply(op, a ^ not_a, b ^ not_b) ^ not);
            place[first + gate] = small.add(op, place[a as usize], place[b as usize]);
        }
        let mut separate: HashMap<Gate, Wire> = HashMap::new();
        for value in outputs {
            let gate = match *value {
                Value::Of { wire, not } if not == opposite(wire) => {
                    small.outputs.push(place[wire as usize]);
                    continue;
                }
                Value::Of { wire, .. } => Gate { op: NOT, a: place[wire as usize], b: 0 },
                Value::Constant(on) => Gate { op: if on { 15 } else { 0 }, a: 0, b: 0 },
            };
            let wire = *separate.entry(gate).or_insert_with(|| small.add(gate.op, gate.a, gate.b));
            small.outputs.push(wire);
        }
        small
    }
}
