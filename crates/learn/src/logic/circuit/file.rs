//! JSON file of a circuit, independent of the automaton.
//!
//! ```json
//! {"format": "hothouse circuit", "version": 1, "name": "life", "border": "periodic",
//!  "inputs": [{"neighbour": "north-west", "channel": 0}, …],
//!  "gates": [{"op": "a xor b", "a": 0, "b": 1}, …],
//!  "outputs": [25]}
//! ```
//!
//! A wire is a number: the index of an input, or the number of inputs plus the index of a gate. Gates may be in any order. There is one
//! output for each channel.

use super::{Circuit, Gate, Input, Wire};
use crate::logic::OP_NAMES;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

const FORMAT: &str = "hothouse circuit";
const VERSION: u32 = 1;
/// Names of the border types: cells beyond the border are off, or opposite borders are joined.
const BORDERS: [&str; 2] = ["off", "periodic"];

/// Error in a circuit file. The message consists of the problem, a semicolon and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CircuitError {
    #[error("this is not a circuit ({0}); choose a JSON file written by `hothouse export logic` or the page")]
    Foreign(String),
    #[error("the circuit has format version {0}, but this program reads version {VERSION}; export it again with this program")]
    Version(u32),
    #[error("the circuit has no outputs; add the wire of each channel's next state")]
    NoOutputs,
    #[error("'{0}' is not a border; use off or periodic")]
    Border(String),
    #[error("input {number} has the unknown neighbour '{neighbour}'; use {}", Input::NAMES.join(", "))]
    Neighbour { number: usize, neighbour: String },
    #[error(
        "input {number} has channel {channel}, but {channels} outputs allow channels 0 to {}; add an output for each channel",
        channels - 1
    )]
    Channel { number: usize, channel: u32, channels: usize },
    #[error("input {number} is a duplicate; list each cell and channel once")]
    Twice { number: usize },
    #[error("gate {gate} has the unknown operation '{op}'; use {}", OP_NAMES.join(", "))]
    Op { gate: usize, op: String },
    #[error("gate {gate}, {op}, lacks wire {end}; give the number of an input or a gate")]
    Missing { gate: usize, op: String, end: char },
    #[error("{reader} reads wire {wire}, but there are only {wires} wires; use 0 to {}", wires.saturating_sub(1))]
    Nowhere { reader: String, wire: u64, wires: usize },
    #[error(
        "gate {0} depends on itself, directly or through other gates; remove the loop, so that each gate reads inputs and earlier gates"
    )]
    Loop(usize),
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Body {
    #[serde(default)]
    name: String,
    border: String,
    inputs: Vec<InputText>,
    gates: Vec<GateText>,
    outputs: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct InputText {
    neighbour: String,
    channel: u32,
}

#[derive(Serialize, Deserialize)]
struct GateText {
    op: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    a: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    b: Option<u64>,
}

impl Circuit {
    /// Returns the circuit as JSON, with one line for each input and gate.
    pub fn to_json(&self) -> String {
        let input = |input: &Input| InputText { neighbour: Input::NAMES[usize::from(input.neighbour)].into(), channel: input.channel };
        let gate = |gate: &Gate| {
            let (a, b) = gate.reads();
            let end = |reads: bool, wire: Wire| reads.then_some(u64::from(wire));
            GateText { op: OP_NAMES[usize::from(gate.op)].into(), a: end(a, gate.a), b: end(b, gate.b) }
        };
        let inputs: Vec<InputText> = self.inputs.iter().map(input).collect();
        let gates: Vec<GateText> = self.gates.iter().map(gate).collect();
        format!(
            "{{\n\"format\": {},\n\"version\": {VERSION},\n\"name\": {},\n\"border\": {},\n\"inputs\": {},\n\"gates\": \
             {},\n\"outputs\": {}\n}}\n",
            written(&FORMAT),
            written(&self.name),
            written(&BORDERS[usize::from(self.periodic)]),
            rows(&inputs),
            rows(&gates),
            written(&self.outputs),
        )
    }

    pub fn from_json(text: &str) -> Result<Circuit, CircuitError> {
        let foreign = |error: serde_json::Error| CircuitError::Foreign(error.to_string());
        let head: Head = serde_json::from_str(text).map_err(foreign)?;
        if head.format != FORMAT {
            return Err(CircuitError::Foreign(format!("its format is '{}'", head.format)));
        }
        if head.version != VERSION {
            return Err(CircuitError::Version(head.version));
        }
        read(serde_json::from_str(text).map_err(foreign)?)
    }
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data can be written")
}

fn rows(items: &[impl Serialize]) -> String {
    let rows: Vec<String> = items.iter().map(|item| format!("\n  {}", written(item))).collect();
    format!("[{}\n]", rows.join(","))
}

fn read(body: Body) -> Result<Circuit, CircuitError> {
    let channels = body.outputs.len();
    if channels == 0 {
        return Err(CircuitError::NoOutputs);
    }
    let border = BORDERS.iter().position(|&border| border == body.border);
    let periodic = border.ok_or(CircuitError::Border(body.border))? == 1;
    let mut seen = HashSet::new();
    let mut inputs = Vec::with_capacity(body.inputs.len());
    for (number, InputText { neighbour, channel }) in body.inputs.into_iter().enumerate() {
        let Some(place) = Input::NAMES.iter().position(|&name| name == neighbour) else {
            return Err(CircuitError::Neighbour { number, neighbour });
        };
        if channel as usize >= channels {
            return Err(CircuitError::Channel { number, channel, channels });
        }
        let input = Input { neighbour: place as u8, channel };
        if !seen.insert(input) {
            return Err(CircuitError::Twice { number });
        }
        inputs.push(input);
    }
    let wires = inputs.len() + body.gates.len();
    let wire = |reader: &dyn Fn() -> String, wire: u64| match wire < wires as u64 {
        true => Ok(wire as Wire),
        false => Err(CircuitError::Nowhere { reader: reader(), wire, wires }),
    };
    let mut gates = Vec::with_capacity(body.gates.len());
    for (number, GateText { op, a, b }) in body.gates.into_iter().enumerate() {
        let Some(known) = OP_NAMES.iter().position(|&name| name == op) else {
            return Err(CircuitError::Op { gate: number, op });
        };
        let mut gate = Gate { op: known as u8, a: 0, b: 0 };
        let (reads_a, reads_b) = gate.reads();
        for (reads, end, name, to) in [(reads_a, a, 'a', &mut gate.a), (reads_b, b, 'b', &mut gate.b)] {
            if reads {
                let end = end.ok_or_else(|| CircuitError::Missing { gate: number, op: op.clone(), end: name })?;
                *to = wire(&|| format!("gate {number}"), end)?;
            }
        }
        gates.push(gate);
    }
    let outputs: Result<Vec<Wire>, CircuitError> =
        (body.outputs.iter().enumerate()).map(|(channel, &end)| wire(&|| format!("output {channel}"), end)).collect();
    in_order(Circuit { name: body.name, periodic, inputs, gates, outputs: outputs? })
}

/// Sorts the gates topologically. Returns an error if a gate depends on itself.
fn in_order(mut circuit: Circuit) -> Result<Circuit, CircuitError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Begun,
        Done,
    }
    let (first, gates) = (circuit.inputs.len(), std::mem::take(&mut circuit.gates));
    let mut state = vec![State::New; gates.len()];
    let mut place: Vec<Wire> = (0..(first + gates.len()) as Wire).collect();
    let mut stack: Vec<usize> = Vec::new();
    for start in 0..gates.len() {
        stack.push(start);
        while let Some(&number) = stack.last() {
            let gate = gates[number];
            if state[number] == State::New {
                state[number] = State::Begun;
                for end in gate.ends().filter_map(|wire| (wire as usize).checked_sub(first)) {
                    match state[end] {
                        State::New => stack.push(end),
                        State::Begun => return Err(CircuitError::Loop(end)),
                        State::Done => {}
                    }
                }
                continue;
            }
            stack.pop();
            if state[number] == State::Begun {
                state[number] = State::Done;
                let (a, b) = gate.reads();
                let end = |reads: bool, wire: Wire| if reads { place[wire as usize] } else { 0 };
                let (a, b) = (end(a, gate.a), end(b, gate.b));
                place[first + number] = circuit.add(gate.op, a, b);
            }
        }
    }
    circuit.outputs.iter_mut().for_each(|wire| *wire = place[*wire as usize]);
    Ok(circuit)
}
