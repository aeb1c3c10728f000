//! Circuits of hardened automata.

use learn::logic::circuit::{Circuit, Counts, Input, PackedGrid};
use learn::logic::{Architecture, Wiring, Wirings, apply};
use math::{Isa, Rng};
use worlds::logic::{Grid, Rule, neighbour};

fn shape(channels: usize, kernels: usize, perception: &[usize], update: &[usize]) -> Architecture {
    Architecture { channels, kernels, perception: perception.to_vec(), update: update.to_vec() }
}

fn random_ops(count: usize, seed: u32) -> Vec<u8> {
    let mut random = Rng::new(seed, 9).sequence(0);
    (0..count).map(|_| random.below(16) as u8).collect()
}

/// One step of a hardened automaton as the publication has it: cell by cell, kernel by kernel.
fn step_plainly(shape: &Architecture, wirings: &Wirings, ops: &[u8], grid: &Grid, periodic: bool) -> Grid {
    let mut next = grid.clone();
    for y in 0..grid.height {
        for x in 0..grid.width {
            let own = |channel| neighbour(grid, periodic, channel, x, y, 4) == 1;
            let mut read: Vec<bool> = (0..shape.channels).map(own).collect();
            for channel in 0..shape.channels {
                let mut said: Vec<Vec<bool>> = Vec::new();
                for kernel in 0..shape.kernels {
                    let mut values: Vec<bool> =
                        (0..9).map(|k| neighbour(grid, periodic, channel, x, y, k) == 1).collect();
                    let mut first = 0;
                    for wires in &wirings.perception {
                        let gates = wires.a.len();
                        let ops = &ops[first + kernel * gates..][..gates];
                        values = (0..gates)
                            .map(|i| apply(ops[i], values[wires.a[i] as usize], values[wires.b[i] as usize]))
                            .collect();
                        first += shape.kernels * gates;
                    }
                    said.push(values);
                }
                for output in 0..said[0].len() {
                    read.extend(said.iter().map(|kernel| kernel[output]));
                }
            }
            let mut first = shape.kernels * shape.perception.iter().sum::<usize>();
            for wires in &wirings.update {
                let gates = wires.a.len();
                read = (0..gates)
                    .map(|i| apply(ops[first + i], read[wires.a[i] as usize], read[wires.b[i] as usize]))
                    .collect();
                first += gates;
            }
            for (channel, &on) in read.iter().enumerate() {
                next.cells[grid.index(channel, x, y)] = u8::from(on);
            }
        }
    }
    next
}

#[test]
fn a_hardened_circuit_is_the_automaton_and_so_is_the_pruned_one() {
    for (seed, shape) in [
        (1, shape(1, 16, &[8, 4, 2, 1], &[16, 8, 4, 2, 1])),
        (2, shape(3, 2, &[8, 4, 2], &[32, 16, 6, 3])),
        (3, shape(8, 4, &[8, 4, 2, 1], &[64, 32, 16, 8])),
    ] {
        for wiring in [Wiring::Unique, Wiring::Random] {
            let wirings = Wirings::new(&shape, wiring, seed).unwrap();
            let ops = random_ops(shape.gates(), seed);
            let whole = Circuit::harden(&shape, &wirings, &ops);
            assert_eq!(whole.gates.len(), shape.gates_per_cell());
            let pruned = whole.pruned();
            assert!(pruned.gates.len() < whole.gates.len());
            let Counts { pass_through, dead, .. } = pruned.counts();
            assert_eq!((pass_through, dead), (0, 0));
            assert_eq!(pruned.counts(), pruned.pruned().counts(), "nothing is left to prune");
            let verified = whole.verify(&pruned, seed);
            assert!(verified.equal);
            assert_eq!((verified.all, verified.compared == 512), (shape.channels == 1, shape.channels == 1));
            for periodic in [false, true] {
                let mut random = Rng::new(seed, 10).sequence(0);
                let grid = Grid::random(shape.channels, 9, 5, &mut random);
                let next = step_plainly(&shape, &wirings, &ops, &grid, periodic);
                for circuit in [&whole, &pruned] {
                    let mut packed = PackedGrid::new(Isa::best(), circuit, 9, 5, periodic);
                    packed.set(&grid.cells);
                    packed.run(1);
                    let mut cells = vec![0; grid.cells.len()];
                    packed.get(&mut cells);
                    assert_eq!(cells, next.cells);
                }
            }
        }
    }
}

#[test]
fn a_changed_gate_is_found_out() {
    let life = Circuit::life();
    assert!(life.follows(&Rule::life()));
    assert!(!life.follows(&Rule::parse("B36/S23").unwrap()));
    for gate in 0..life.gates.len() {
        let mut other = life.clone();
        other.gates[gate].op = 15 - other.gates[gate].op;
        let verified = life.verify(&other, 1);
        assert_eq!((verified.compared, verified.all, verified.equal), (512, true, false), "{gate}");
        assert!(!other.follows(&Rule::life()));
    }
}

#[test]
fn what_does_nothing_is_pruned_away() {
    let [zeros, and, pass, xor, not] = [0, 1, 3, 6, 12];
    let mut circuit = Circuit::new("", false, 2);
    let a = circuit.add(pass, 0, 1);
    let b = circuit.add(not, a, 3);
    let c = circuit.add(not, b, 4);
    let zero = circuit.add(zeros, c, b);
    let both = circuit.add(and, c, 10);
    let again = circuit.add(and, 10, 0); // the same gate
    let same = circuit.add(xor, both, again); // never on
    let nand = circuit.add(14, again, both);
    let _dead = circuit.add(and, nand, 5);
    let _ = zero;
    circuit.outputs = vec![nand, same];
    let counts = circuit.counts();
    assert_eq!((counts.gates, counts.pass_through, counts.dead), (9, 1, 2));
    let pruned = circuit.pruned();
    let read: Vec<Input> = vec![Input { neighbour: 0, channel: 0 }, Input { neighbour: 1, channel: 1 }];
    assert_eq!(pruned.inputs, read);
    let gates: Vec<u8> = pruned.gates.iter().map(|gate| gate.op).collect();
    assert_eq!(gates, [14, zeros]);
    assert!(circuit.verify(&pruned, 1).equal);
    // An output that is a cell, and one that is its opposite.
    circuit.outputs = vec![c, b];
    let pruned = circuit.pruned();
    assert_eq!((pruned.outputs.clone(), pruned.gates.len(), pruned.counts().depth), (vec![0, 1], 1, 1));
    assert!(circuit.verify(&pruned, 1).equal);
    // Nothing is read at all.
    circuit.outputs = vec![zero, same];
    let pruned = circuit.pruned();
    assert_eq!((pruned.inputs.len(), pruned.gates.len()), (0, 1));
    assert!(circuit.verify(&pruned, 1).equal);
}
