//! Export of a circuit as source code.

use super::{Circuit, Gate, Input, Wire};

/// Short names of the nine cells, row by row. `c` is the cell itself.
const SHORT: [&str; 9] = ["nw", "n", "ne", "w", "c", "e", "sw", "s", "se"];

/// Returns the expression of a gate in a language with the operators `&`, `|` and `^`. `not` is the negation operator, `off` and `on` are
/// the constants, and `end` returns the expression of a wire.
fn expression(gate: Gate, not: &str, [off, on]: [&str; 2], end: impl Fn(Wire) -> String) -> String {
    let (a, b) = (|| end(gate.a), || end(gate.b));
    match gate.op {
        0 => off.into(),
        1 => format!("{} & {}", a(), b()),
        2 => format!("{} & {not}{}", a(), b()),
        3 => a(),
        4 => format!("{not}{} & {}", a(), b()),
        5 => b(),
        6 => format!("{} ^ {}", a(), b()),
        7 => format!("{} | {}", a(), b()),
        8 => format!("{not}({} | {})", a(), b()),
        9 => format!("{not}({} ^ {})", a(), b()),
        10 => format!("{not}{}", b()),
        11 => format!("{} | {not}{}", a(), b()),
        12 => format!("{not}{}", a()),
        13 => format!("{not}{} | {}", a(), b()),
        14 => format!("{not}({} & {})", a(), b()),
        _ => on.into(),
    }
}

impl Circuit {
    /// Returns the name of the circuit as an identifier. The identifier consists of letters, digits and underscores, and starts with a
    /// letter.
    fn identifier(&self) -> String {
        let letters = self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        let name: String = letters.take(40).collect();
        match name.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => name,
            _ => format!("circuit_{name}"),
        }
    }

    /// Returns the circuit's name, size and border type as the text of a comment, without control characters.
    fn comment(&self) -> String {
        let counts = self.counts();
        let name: String = self.name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect();
        let beyond = if self.periodic { "opposite borders are joined" } else { "beyond the border all is off" };
        format!("{name}: {} gates, {} deep; {beyond}", counts.gates, counts.depth)
    }

    /// Returns the source code of a combinational Verilog module that computes the next state of a cell from the nine cells.
    pub fn to_verilog(&self) -> String {
        let cell = |input: &Input| format!("{}_{}", SHORT[usize::from(input.neighbour)], input.channel);
        let first = self.inputs.len();
        let wire = |wire: Wire| match self.inputs.get(wire as usize) {
            Some(input) => cell(input),
            None => format!("g{}", wire as usize - first),
        };
        let mut ports: Vec<String> = self.inputs.iter().map(|input| format!("  input wire {}", cell(input))).collect();
        ports.extend((0..self.channels()).map(|channel| format!("  output wire next_{channel}")));
        let mut text = format!(
            "// {}\n// nw_0 is channel 0 of the cell to the north-west, c_0 that of the cell itself, next_0 its next state.\n",
            self.comment()
        );
        text += &format!("module {} (\n{}\n);\n", self.identifier(), ports.join(",\n"));
        for (i, &gate) in self.gates.iter().enumerate() {
            text += &format!("  wire g{i} = {};\n", expression(gate, "~", ["1'b0", "1'b1"], wire));
        }
        for (channel, &output) in self.outputs.iter().enumerate() {
            text += &format!("  assign next_{channel} = {};\n", wire(output));
        }
        text + "endmodule\n"
    }

    /// Returns the source code of a Rust function that computes the next state of 64 cells at once.
    pub fn to_rust(&self) -> String {
        let (channels, first) = (self.channels(), self.inputs.len());
        let wire = |wire: Wire| match self.inputs.get(wire as usize) {
            Some(input) => format!("cells[{}][{}]", input.channel, input.neighbour),
            None => format!("g{}", wire as usize - first),
        };
        let mut text = format!("// {}\n\n", self.comment());
        text += "/// The next state of each channel of 64 cells, one bit per cell. `cells[channel]` has the nine cells around each, row by \
         row, and the\n/// cell itself is number 4.\n";
        text += &format!("pub fn step(cells: &[[u64; 9]; {channels}]) -> [u64; {channels}] {{\n");
        let (alive, mut body) = (self.alive(), String::new());
        for (i, &gate) in self.gates.iter().enumerate().filter(|&(i, _)| alive[i]) {
            body += &format!("    let g{i} = {};\n", expression(gate, "!", ["0", "!0"], wire));
        }
        let outputs: Vec<String> = self.outputs.iter().map(|&output| wire(output)).collect();
        body += &format!("    [{}]\n", outputs.join(", "));
        if !body.contains("cells") {
            text += "    let _ = cells;\n";
        }
        text + &body + "}\n"
    }
}
