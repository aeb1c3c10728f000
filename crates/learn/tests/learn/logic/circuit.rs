//! Tests of the circuits of hardened automata.

use learn::logic::check::{missed_states, next_states};
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

/// Runs one step of a hardened automaton by the published definition. Each cell and each perception kernel is computed separately.
fn step_plainly(shape: &Architecture, wirings: &Wirings, ops: &[u8], grid: &Grid, periodic: bool) -> Grid {
    let mut next = grid.clone();
    for y in 0..grid.height {
        for x in 0..grid.width {
            let own = |channel| neighbour(grid, periodic, channel, x, y, 4) == 1;
            let mut read: Vec<bool> = (0..shape.channels).map(own).collect();
            for channel in 0..shape.channels {
                let mut outputs: Vec<Vec<bool>> = Vec::new();
                for kernel in 0..shape.kernels {
                    let mut values: Vec<bool> = (0..9).map(|k| neighbour(grid, periodic, channel, x, y, k) == 1).collect();
                    let mut first = 0;
                    for wires in &wirings.perception {
                        let gates = wires.a.len();
                        let ops = &ops[first + kernel * gates..][..gates];
                        values = (0..gates).map(|i| apply(ops[i], values[wires.a[i] as usize], values[wires.b[i] as usize])).collect();
                        first += shape.kernels * gates;
                    }
                    outputs.push(values);
                }
                for output in 0..outputs[0].len() {
                    read.extend(outputs.iter().map(|kernel| kernel[output]));
                }
            }
            let mut first = shape.kernels * shape.perception.iter().sum::<usize>();
            for wires in &wirings.update {
                let gates = wires.a.len();
                read = (0..gates).map(|i| apply(ops[first + i], read[wires.a[i] as usize], read[wires.b[i] as usize])).collect();
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
fn hardened_and_pruned_circuits_match_the_automaton() {
    for (seed, shape) in [
        (1, shape(1, 16, &[8, 4, 2, 1], &[16, 8, 4, 2, 1])),
        (2, shape(3, 2, &[8, 4, 2], &[12, 6, 3])),
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
fn changed_gates_are_detected() {
    let life = Circuit::life();
    let is_wrong = |circuit: &Circuit, rule: Rule| !missed_states(&rule, &next_states(circuit)).is_empty();
    assert!(!is_wrong(&life, Rule::life()) && is_wrong(&life, Rule::parse("B36/S23").unwrap()));
    for gate in 0..life.gates.len() {
        let mut other = life.clone();
        other.gates[gate].op = 15 - other.gates[gate].op;
        let verified = life.verify(&other, 1);
        assert_eq!((verified.compared, verified.all, verified.equal), (512, true, false), "{gate}");
        assert!(is_wrong(&other, Rule::life()));
    }
}

#[test]
fn pruning_removes_gates_without_effect() {
    let [zeros, and, pass, xor, not] = [0, 1, 3, 6, 12];
    let mut circuit = Circuit::new("", false, 2);
    let a = circuit.add(pass, 0, 1);
    let b = circuit.add(not, a, 3);
    let c = circuit.add(not, b, 4);
    let zero = circuit.add(zeros, c, b);
    let both = circuit.add(and, c, 10);
    let again = circuit.add(and, 10, 0); // a duplicate of the gate before
    let same = circuit.add(xor, both, again); // always 0
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
    // The first output equals an input; the second output is its negation.
    circuit.outputs = vec![c, b];
    let pruned = circuit.pruned();
    assert_eq!((pruned.outputs.clone(), pruned.gates.len(), pruned.counts().depth), (vec![0, 1], 1, 1));
    assert!(circuit.verify(&pruned, 1).equal);
    // The outputs are constant, so no inputs are needed.
    circuit.outputs = vec![zero, same];
    let pruned = circuit.pruned();
    assert_eq!((pruned.inputs.len(), pruned.gates.len()), (0, 1));
    assert!(circuit.verify(&pruned, 1).equal);
}

/// Returns circuits with all kinds of gates. The circuit of Life is built by hand; the other circuits are random or constant.
fn circuits() -> Vec<Circuit> {
    let mut all = vec![Circuit::life()];
    for seed in 0..4 {
        let shape = shape(2, 2, &[8, 4, 2], &[16, 8, 4, 2]);
        let wirings = Wirings::new(&shape, Wiring::Random, seed).unwrap();
        let whole = Circuit::harden(&shape, &wirings, &random_ops(shape.gates(), seed));
        all.extend([whole.pruned(), whole]);
    }
    let mut constant = Circuit::new("nothing \"at\" <all>\n&", true, 1);
    let on = constant.add(15, 0, 0);
    constant.outputs.push(on);
    all.extend([constant.pruned(), constant]);
    all
}

#[test]
fn json_round_trips() {
    for circuit in circuits() {
        let text = circuit.to_json();
        let again = Circuit::from_json(&text).unwrap();
        assert_eq!((&again.name, again.periodic, &again.inputs), (&circuit.name, circuit.periodic, &circuit.inputs));
        assert!(circuit.verify(&again, 1).equal);
        assert_eq!(again.to_json(), text);
    }
    // In a JSON text, the gates may be in any order.
    let text = r#"{"format": "hothouse circuit", "version": 1, "border": "off",
        "inputs": [{"neighbour": "self", "channel": 0}, {"neighbour": "east", "channel": 0}],
        "gates": [{"op": "not a", "a": 3}, {"op": "a and b", "a": 0, "b": 1}], "outputs": [2]}"#;
    let circuit = Circuit::from_json(text).unwrap();
    let next = circuit.step(|input| if input.neighbour == 4 { 0b0011 } else { 0b0101 });
    assert_eq!(next[0] & 15, 0b1110);
}

#[test]
fn invalid_circuits_return_errors_with_a_remedy() {
    let text = r#"{"format": "hothouse circuit", "version": 1, "border": "off",
        "inputs": [{"neighbour": "self", "channel": 0}, {"neighbour": "east", "channel": 0}],
        "gates": [{"op": "a and b", "a": 0, "b": 3}, {"op": "not a", "a": 1}], "outputs": [2]}"#;
    assert!(Circuit::from_json(text).is_ok());
    for (from, to, words) in [
        (text, "", "not a circuit"),
        (text, "P1\n3 3\n", "not a circuit"),
        (text, "[1, 2]", "not a circuit"),
        (text, "{\"weights\": []}", "not a circuit"),
        ("hothouse circuit", "spice", "its format is 'spice'"),
        ("\"version\": 1", "\"version\": 2", "version 2"),
        ("\"gates\"", "\"doors\"", "missing field `gates`"),
        ("\"off\"", "\"torus\"", "'torus' is not a border; use off or periodic"),
        ("\"self\"", "\"up\"", "input 0 has the unknown neighbour 'up'"),
        ("\"east\", \"channel\": 0", "\"east\", \"channel\": 1", "1 outputs allow channels 0 to 0"),
        ("\"east\"", "\"self\"", "input 1 is a duplicate"),
        ("[2]", "[]", "no outputs"),
        ("[2]", "[4]", "output 0 reads wire 4, but there are only 4 wires; use 0 to 3"),
        ("[2]", "[-1]", "not a circuit"),
        ("\"b\": 3", "\"b\": 99999999999", "gate 0 reads wire 99999999999"),
        (", \"b\": 3", "", "gate 0, a and b, lacks wire b"),
        ("a and b", "maybe", "unknown operation 'maybe'; use false, a and b"),
        ("\"b\": 3", "\"b\": 2", "gate 0 depends on itself"),
        ("\"op\": \"not a\", \"a\": 1", "\"op\": \"not a\", \"a\": 2", "depends on itself"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Circuit::from_json(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("; "), "{to}: {error}");
    }
    // A chain of 100,000 gates is valid.
    let gates: Vec<String> = (0..100_000).map(|i| format!("{{\"op\":\"not a\",\"a\":{}}}", i + 4)).collect();
    let long = text.replace(r#"{"op": "not a", "a": 1}"#, &format!("{},{{\"op\":\"a\",\"a\":0}}", gates.join(",")));
    let long = Circuit::from_json(&long.replace("\"outputs\": [2]", "\"outputs\": [3]")).unwrap();
    assert_eq!((long.counts().depth, long.pruned().gates.len()), (100_001, 0));
}

/// Evaluates an expression with `~`, `&`, `|`, `^` and brackets. Every operation except the outermost is in brackets.
fn evaluate(text: &str, value: &impl Fn(&str) -> u64) -> u64 {
    fn term<'a>(rest: &mut &'a str, value: &impl Fn(&str) -> u64) -> u64 {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('~') {
            *rest = after;
            return !term(rest, value);
        }
        if let Some(after) = rest.strip_prefix('(') {
            *rest = after;
            let inner = both(rest, value);
            *rest = rest.strip_prefix(')').expect("a closing bracket");
            return inner;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'').unwrap_or(rest.len());
        let (name, after): (&'a str, &'a str) = rest.split_at(end);
        *rest = after;
        match name {
            "1'b0" => 0,
            "1'b1" => !0,
            _ => value(name),
        }
    }
    fn both(rest: &mut &str, value: &impl Fn(&str) -> u64) -> u64 {
        let a = term(rest, value);
        *rest = rest.trim_start();
        let Some(sign) = rest.chars().next().filter(|sign| "&|^".contains(*sign)) else { return a };
        *rest = &rest[1..];
        let b = term(rest, value);
        match sign {
            '&' => a & b,
            '|' => a | b,
            _ => a ^ b,
        }
    }
    let mut rest = text;
    let value = both(&mut rest, value);
    assert!(rest.is_empty(), "{text}");
    value
}

/// Returns random values of an input in 64 states, one bit per state.
fn cells(input: Input, seed: u32) -> u64 {
    let [low, high, ..] = Rng::new(seed, 11).block([input.channel, input.neighbour.into(), 0, 0]);
    u64::from(high) << 32 | u64::from(low)
}

#[test]
fn verilog_matches_the_circuit() {
    const SHORT: [&str; 9] = ["nw", "n", "ne", "w", "c", "e", "sw", "s", "se"];
    for circuit in circuits() {
        let text = circuit.to_verilog();
        let (mut values, mut outputs) = (std::collections::HashMap::new(), Vec::new());
        let input = |(channel, neighbour): (u32, u8)| Input { neighbour, channel };
        let known: std::collections::HashMap<String, Input> = (0..2)
            .flat_map(|channel| (0..9).map(move |neighbour| (channel, neighbour)))
            .map(|at| (format!("{}_{}", SHORT[usize::from(at.1)], at.0), input(at)))
            .collect();
        let mut module = text.lines().filter(|line| !line.starts_with("//"));
        assert!(module.next().unwrap().starts_with("module "));
        for line in module {
            let line = line.trim().trim_end_matches([';', ',']);
            if let Some(name) = line.strip_prefix("input wire ") {
                values.insert(name.to_string(), cells(known[name], 1));
            } else if let Some((name, of)) = line.strip_prefix("wire ").and_then(|wire| wire.split_once(" = ")) {
                let value = evaluate(of, &|name| values[name]);
                assert!(values.insert(name.into(), value).is_none(), "{name} twice");
            } else if let Some((name, of)) = line.strip_prefix("assign ").and_then(|it| it.split_once(" = ")) {
                assert_eq!(name, format!("next_{}", outputs.len()));
                outputs.push(evaluate(of, &|name| values[name]));
            } else {
                assert!(line == ")" || line == "endmodule" || line.starts_with("output wire next_"), "{line}");
            }
        }
        assert_eq!(outputs, circuit.step(|input| cells(input, 1)));
    }
}

#[test]
fn drawings_contain_all_gates_and_wires_within_their_bounds() {
    for circuit in circuits() {
        let text = circuit.to_svg();
        let reads: usize = circuit.gates.iter().map(|gate| gate.ends().count()).sum();
        let count = |what: &str| text.matches(what).count();
        assert_eq!(count("<g class=\"gate\"><title>gate "), circuit.gates.len());
        assert_eq!(count("<path class=\"wire\""), reads + circuit.outputs.len());
        assert_eq!(count("<g") + count("<svg"), count("</g>") + count("</svg>"));
        assert!(count("<title id=\"title\">") == 1 && count("prefers-color-scheme:dark") == 1);
        assert!(!text.contains("NaN") && !text.contains("<all>"));
        let number = |text: &str| text.split('"').next().unwrap().parse::<f64>().unwrap();
        let size = |name: &str| number(text.split_once(name).unwrap().1);
        let (width, height) = (size(" width=\""), size(" height=\""));
        for rect in text.split("<rect x=\"").skip(1) {
            let (x, y) = (number(rect), number(rect.split_once(" y=\"").unwrap().1));
            assert!(x >= 0.0 && x < width && y >= 0.0 && y < height, "{x}, {y} of {width}, {height}");
        }
    }
}

/// The circuit is a chain of four gates. The first gate reads the middle input of nine. The circuit's output is this input itself. In the
/// drawing, inputs are at x = 174. Gates extend from x = 254 to 302, from 358 to 406 and so on. A short wire bends in its middle; a long
/// wire bends at a distance of 156 from its ends.
#[test]
fn wires_start_and_end_horizontally() {
    let mut circuit = Circuit::new("", false, 1);
    let not = 12;
    let mut wire = 4;
    for _ in 0..4 {
        wire = circuit.add(not, wire, 0);
    }
    circuit.outputs = vec![4];
    let text = circuit.to_svg();
    let wires: Vec<&str> =
        text.split("<path class=\"wire\" d=\"").skip(1).map(|path| path.split_once('"').expect("a closing quotation mark").0).collect();
    let drawn = [
        "M174.0 216.0C214.0 216.0 214.0 216.0 254.0 216.0",
        "M302.0 216.0C330.0 216.0 330.0 216.0 358.0 216.0",
        "M406.0 216.0C434.0 216.0 434.0 216.0 462.0 216.0",
        "M510.0 216.0C538.0 216.0 538.0 216.0 566.0 216.0",
        "M174.0 216.0C330.0 216.0 482.0 216.0 638.0 216.0",
    ];
    assert_eq!(wires, drawn);
}

/// Compiles and runs exported code, if the compilers are installed.
#[cfg(not(target_arch = "wasm32"))]
mod compiled {
    use super::*;
    use std::process::{Command, Output};
    use testkit::Scratch;

    fn run(command: &mut Command) -> Option<Output> {
        let output = match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            output => output.unwrap(),
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(output)
    }

    #[test]
    fn exported_rust_matches_the_circuit() {
        let scratch = Scratch::new("logic-rust");
        // Without `--all`, the circuits are Life, a random circuit that is not pruned, and a constant circuit.
        let all = circuits();
        let circuits = if testkit::all() { all } else { [0, 2, all.len() - 1].map(|i| all[i].clone()).into() };
        let mut source = String::new();
        for (i, circuit) in circuits.iter().enumerate() {
            source += &format!("mod circuit_{i} {{\n{}}}\n", circuit.to_rust());
        }
        source += "fn main() {\n    let mut states = [0u64; 9];\n    let mut next: Vec<u64> = Vec::new();\n";
        source += "    for n in 0..8u64 {\n        for k in 0..9 {\n            states[k] = (0..64).fold(0, |word, bit| word | ((64 * n \
         + bit) >> k & 1) << bit);\n        }\n";
        source += "        next.extend(circuit_0::step(&[states]));\n    }\n";
        let mut expected = String::new();
        for (i, circuit) in circuits.iter().enumerate().skip(1) {
            let channels = 0..circuit.channels() as u32;
            let read: Vec<[u64; 9]> =
                channels.map(|channel| std::array::from_fn(|k| cells(Input { neighbour: k as u8, channel }, 1))).collect();
            source += &format!("    next.extend(circuit_{i}::step(&{read:?}));\n");
            circuit.step(|input| cells(input, 1)).iter().for_each(|word| expected += &format!("{word}\n"));
        }
        source += "    next.iter().for_each(|word| println!(\"{word}\"));\n}\n";
        let (file, program) = (scratch.path("circuits.rs"), scratch.path("circuits"));
        std::fs::write(&file, source).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2021", "-O", "-D", "warnings", "-o"]).arg(&program).arg(&file);
        if run(&mut rustc).is_none() {
            return testkit::skip("rustc is not installed");
        }
        let output = run(&mut Command::new(&program)).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let words: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
        for state in 0..512 {
            assert_eq!(words[state / 64] >> (state % 64) & 1 == 1, Rule::life().next(state), "{state}");
        }
        assert_eq!(text.lines().skip(8).collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
    }

    #[test]
    fn simulated_verilog_matches_life() {
        let scratch = Scratch::new("logic-verilog");
        let (file, program) = (scratch.path("life.v"), scratch.path("life"));
        let bench = "module bench;\n  reg [9:0] n;\n  wire next;\n  life life(.nw_0(n[0]), .n_0(n[1]), .ne_0(n[2]), .w_0(n[3]), \
         .c_0(n[4]), .e_0(n[5]), .sw_0(n[6]), .s_0(n[7]), .se_0(n[8]), .next_0(next));\n  initial \
         for (n = 0; n < 512; n = n + 1) begin\n    #1 $display(\"%b\", next);\n  end\nendmodule\n";
        std::fs::write(&file, Circuit::life().to_verilog() + bench).unwrap();
        let mut compiler = Command::new("iverilog");
        compiler.arg("-Wall").arg("-o").arg(&program).arg(&file);
        if run(&mut compiler).is_none() {
            return testkit::skip("iverilog is not installed");
        }
        let output = run(Command::new("vvp").arg(&program)).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<bool> = text.lines().map(|line| line == "1").collect();
        let expected: Vec<bool> = (0..512).map(|state| Rule::life().next(state)).collect();
        assert_eq!(rows, expected);
    }
}

/// Returns the outputs in one state of the inputs, gate by gate.
fn outputs_plainly(circuit: &Circuit, state: u32) -> Vec<bool> {
    let mut values: Vec<bool> = (0..circuit.inputs.len()).map(|i| state >> i & 1 == 1).collect();
    for gate in &circuit.gates {
        let end = |wire: u32| values.get(wire as usize).copied().unwrap_or(false);
        values.push(apply(gate.op, end(gate.a), end(gate.b)));
    }
    circuit.outputs.iter().map(|&wire| values[wire as usize]).collect()
}

/// Returns the state of `circuit`'s inputs in which they have the values of `of`'s inputs in `state`.
fn same_state(circuit: &Circuit, of: &Circuit, state: u32) -> u32 {
    let bit = |input: &Input| of.inputs.iter().position(|other| other == input).map_or(0, |i| state >> i & 1);
    circuit.inputs.iter().enumerate().fold(0, |sum, (i, input)| sum | bit(input) << i)
}

/// Returns a random circuit with `channels` outputs that reads the first `inputs` inputs.
fn random_circuit(channels: usize, inputs: u32, gates: u32, seed: u32) -> Circuit {
    let mut random = Rng::new(seed, 12).sequence(0);
    let mut circuit = Circuit::new("", false, channels);
    let all = circuit.inputs.len() as u32;
    let last: Vec<u32> = (0..gates)
        .map(|added| {
            let [a, b] = [(); 2].map(|()| random.below(inputs + added)).map(|k| if k < inputs { k } else { all + k - inputs });
            circuit.add(random.below(16) as u8, a, b)
        })
        .collect();
    circuit.outputs = last[last.len() - channels..].to_vec();
    circuit
}

#[test]
fn reduced_circuits_compute_the_same_with_fewer_gates() {
    let mut fewer = 0;
    for seed in 0..60 {
        // Up to 16 inputs are compared in all states; 20 inputs are rewritten.
        let inputs = [3, 6, 9, 12, 20][seed as usize % 5];
        let circuit = random_circuit(3, inputs, 24 + 2 * inputs, seed);
        let (pruned, reduced) = (circuit.pruned(), circuit.reduced());
        assert!(reduced.gates.len() <= pruned.gates.len(), "{seed}");
        assert_eq!(reduced.reduced(), reduced, "{seed}: nothing is left to reduce");
        fewer += u32::from(reduced.gates.len() < pruned.gates.len());
        let mut random = Rng::new(seed, 13).sequence(0);
        for n in 0..1 << inputs.min(12) {
            let state = if inputs > 12 { random.below(1 << inputs) } else { n };
            let [before, after] = [&circuit, &reduced].map(|one| outputs_plainly(one, same_state(one, &circuit, state)));
            assert_eq!(before, after, "{seed}: {state:b}");
        }
    }
    assert!(fewer >= 20, "{fewer}");
}

#[test]
fn duplicate_and_absorbed_gates_are_removed() {
    let [and, xor, or] = [1, 6, 7];
    for wide in [false, true] {
        let mut circuit = Circuit::new("", false, 2);
        let g1 = circuit.add(and, 0, 1);
        let g2 = circuit.add(or, 2, g1);
        let g3 = circuit.add(or, 2, g2); // a duplicate of g2
        let g4 = circuit.add(and, g1, g3); // equals g1
        let g5 = circuit.add(xor, 3, g4);
        let other = circuit.add(xor, g5, g3);
        // With more than 16 inputs, gates are rewritten by their functions of a few wires.
        let last = if wide { 18 } else { 4 };
        let parity = (4..last).fold(other, |sum, input| circuit.add(xor, sum, input));
        circuit.outputs = vec![parity, g3];
        let extra = (last - 4) as usize;
        assert_eq!(circuit.pruned().gates.len(), 6 + extra);
        let reduced = circuit.reduced();
        assert_eq!(reduced.gates.len(), 4 + extra, "{reduced:?}");
        assert!(circuit.verify(&reduced, 1).equal);
        assert!([reduced.to_verilog(), reduced.to_rust()].iter().all(|text| text.contains(&format!("{} gates", 4 + extra))));
    }
    // `a or (a xor b)` needs no `xor`: where `a` is off, `b` has the same value.
    let mut circuit = Circuit::new("", false, 2);
    let difference = circuit.add(xor, 0, 10);
    let either = circuit.add(or, 0, difference);
    circuit.outputs = vec![either, 3];
    let reduced = circuit.reduced();
    assert_eq!((reduced.gates.len(), reduced.gates[0].op), (1, or));
    assert_eq!(circuit.pruned().gates.len(), 2);
}
