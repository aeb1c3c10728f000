//! Drawing of a circuit. Inputs are on the left and outputs on the right. The column number of a gate is the number of gates on the longest
//! path from an input to the gate.

use super::{Circuit, Gate, Wire};
use crate::logic::OP_NAMES;

/// Distance between the left edges of neighbouring columns. All lengths are in SVG units.
const COLUMN: f64 = 104.0;
/// Distance between the middles of neighbouring rows.
const ROW: f64 = 34.0;
const MARGIN: f64 = 24.0;
/// Width of a gate.
const WIDTH: f64 = 48.0;
/// Height of a gate.
const HEIGHT: f64 = 24.0;
/// Width of the space for the names of inputs, and for the names of outputs.
const NAME: f64 = 150.0;
const HEAD: f64 = 44.0;
/// Number of passes of [`Circuit::assign_rows`] over all columns.
const SWEEPS: usize = 8;

/// For each operation, its symbol and two flags, one for each end (input) of the gate. A flag is true if the end is drawn with a circle,
/// which marks a negation.
const SIGNS: [(&str, bool, bool); 16] = [
    ("0", false, false),
    ("AND", false, false),
    ("AND", false, true),
    ("=", false, false),
    ("AND", true, false),
    ("=", false, false),
    ("XOR", false, false),
    ("OR", false, false),
    ("NOR", false, false),
    ("XNOR", false, false),
    ("NOT", false, false),
    ("OR", false, true),
    ("NOT", false, false),
    ("OR", true, false),
    ("NAND", false, false),
    ("1", false, false),
];

const STYLE: &str = "svg{--ink:#1d2733;--line:#5f6f80;--box:#f2f5f8;--paper:#fff;color-scheme:light dark}\
@media(prefers-color-scheme:dark){svg{--ink:#e8edf2;--line:#93a4b5;--box:#25303b;--paper:#12181e}}\
.paper{fill:var(--paper)}text{font:11px ui-sans-serif,system-ui,sans-serif;fill:var(--ink)}\
.head{font-size:15px;font-weight:600}.gate text{text-anchor:middle}\
.wire{fill:none;stroke:var(--line);stroke-width:1.1}.gate rect{fill:var(--box);stroke:var(--ink)}\
.not{fill:var(--paper);stroke:var(--ink)}.end{fill:var(--ink)}";

impl Circuit {
    /// Returns a standalone SVG for light and dark themes. Each gate has a tooltip.
    pub fn to_svg(&self) -> String {
        let layers = self.layers();
        let first = self.inputs.len();
        let deepest = layers.iter().copied().max().unwrap_or(0);
        let mut columns: Vec<Vec<Wire>> = vec![(0..first as Wire).collect()];
        columns.resize(deepest + 1, Vec::new());
        for (gate, &layer) in layers.iter().enumerate() {
            columns[layer].push((first + gate) as Wire);
        }
        let rows = self.assign_rows(&mut columns);
        let most = columns.iter().map(Vec::len).max().unwrap_or(1).max(self.channels()) as f64;
        let (right, height) = (MARGIN + NAME + deepest as f64 * COLUMN, HEAD + 2.0 * MARGIN + ROW * (most - 1.0).max(0.0) + HEIGHT);
        let width = right + WIDTH + NAME + MARGIN;
        let middle = |row: f64| HEAD + MARGIN + HEIGHT / 2.0 + row * ROW;
        let layer = |wire: Wire| (wire as usize).checked_sub(first).map_or(0, |gate| layers[gate]);
        // Point where a wire starts: beside an input's name, or at the right of a gate.
        let begin = |wire: Wire| {
            let layer = layer(wire);
            let left = MARGIN + NAME + layer as f64 * COLUMN;
            (if layer == 0 { left } else { left + WIDTH / 2.0 }, middle(rows[wire as usize]))
        };
        let name = |wire: Wire| match self.inputs.get(wire as usize) {
            Some(input) => input.words(self.channels()),
            None => format!("gate {}", wire as usize - first),
        };
        let counts = self.counts();
        let title = escaped(&self.name);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-labelledby=\"title description\">\n\
             <title id=\"title\">{title}: a circuit of {} gates</title>\n\
             <desc id=\"description\">{} inputs at the left, {} gates in {} columns, {} outputs at the right. \
             A small circle at a gate negates that input.</desc>\n\
             <style>{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
             <text class=\"head\" x=\"{MARGIN}\" y=\"30\">{title}: {} gates, {} deep</text>\n",
            counts.gates,
            first,
            counts.gates,
            deepest,
            self.channels(),
            counts.gates,
            counts.depth
        );
        let curve = |wire: Wire, (x, y): (f64, f64)| {
            let (from, down) = begin(wire);
            let bend = ((x - from) / 2.0).min(1.5 * COLUMN);
            let (c, d) = (from + bend, x - bend);
            format!("<path class=\"wire\" d=\"M{from:.1} {down:.1}C{c:.1} {down:.1} {d:.1} {y:.1} {x:.1} {y:.1}\"/>\n")
        };
        // Wires are drawn first, so that gates cover them.
        let outputs_at = (most - self.channels() as f64) / 2.0;
        let output = |channel: usize| (right + WIDTH, middle(outputs_at + channel as f64));
        let ends = |gate: usize| {
            let Gate { op, a, b } = self.gates[gate];
            let (right, y) = begin((first + gate) as Wire);
            let x = right - WIDTH;
            let (reads_a, reads_b) = self.gates[gate].reads();
            let apart = if reads_a && reads_b { HEIGHT / 4.0 } else { 0.0 };
            let (_, not_a, not_b) = SIGNS[usize::from(op)];
            let a = reads_a.then_some((a, (x, y - apart), not_a));
            [a, reads_b.then_some((b, (x, y + apart), not_b))].into_iter().flatten()
        };
        for gate in 0..self.gates.len() {
            ends(gate).for_each(|(wire, to, _)| text += &curve(wire, to));
        }
        for (channel, &wire) in self.outputs.iter().enumerate() {
            let ((x, y), what) = (output(channel), if self.channels() == 1 { "next".into() } else { format!("next channel {channel}") });
            text += &curve(wire, (x, y));
            text += &format!(
                "<circle class=\"end\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/><text x=\"{:.1}\" y=\"{:.1}\">{what}</text>\n",
                x + 8.0,
                y + 4.0
            );
        }
        for wire in 0..first as Wire {
            let (x, y) = begin(wire);
            text += &format!(
                "<circle class=\"end\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                x - 8.0,
                y + 4.0,
                name(wire)
            );
        }
        for (gate, of) in self.gates.iter().enumerate() {
            let (right, y) = begin((first + gate) as Wire);
            let (x, op) = (right - WIDTH, usize::from(of.op));
            let read: Vec<String> = ends(gate).map(|(wire, ..)| name(wire)).collect();
            let read = if read.is_empty() { String::new() } else { format!(" of {}", read.join(", ")) };
            text += &format!(
                "<g class=\"gate\"><title>gate {gate}: {}{read}</title><rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{WIDTH}\" \
                 height=\"{HEIGHT}\" rx=\"5\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                OP_NAMES[op],
                y - HEIGHT / 2.0,
                x + WIDTH / 2.0,
                y + 4.0,
                SIGNS[op].0
            );
            for (_, (x, y), _) in ends(gate).filter(|&(.., not)| not) {
                text += &format!("<circle class=\"not\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>");
            }
            text += "</g>\n";
        }
        text + "</svg>\n"
    }

    /// Sorts the wires of each column to reduce crossings. Returns the row of each wire. A wire's sort key is the mean row of the wires
    /// with which it is connected. Each column is centred vertically.
    fn assign_rows(&self, columns: &mut [Vec<Wire>]) -> Vec<f64> {
        let first = self.inputs.len();
        let mut connected: Vec<Vec<Wire>> = vec![Vec::new(); first + self.gates.len()];
        for (gate, of) in self.gates.iter().enumerate() {
            for end in of.ends() {
                connected[first + gate].push(end);
                connected[end as usize].push((first + gate) as Wire);
            }
        }
        let most = columns.iter().map(Vec::len).max().unwrap_or(1).max(self.channels()) as f64;
        let mut rows = vec![0.0; first + self.gates.len()];
        let spread = |column: &[Wire], rows: &mut [f64]| {
            let above = (most - column.len() as f64) / 2.0;
            column.iter().enumerate().for_each(|(i, &wire)| rows[wire as usize] = above + i as f64);
        };
        columns.iter().for_each(|column| spread(column, &mut rows));
        for sweep in 0..SWEEPS {
            let order: Vec<usize> = match sweep % 2 {
                0 => (0..columns.len()).collect(),
                _ => (0..columns.len()).rev().collect(),
            };
            for column in order {
                let mean = |wire: Wire| {
                    let connected = &connected[wire as usize];
                    let sum: f64 = connected.iter().map(|&other| rows[other as usize]).sum();
                    if connected.is_empty() { rows[wire as usize] } else { sum / connected.len() as f64 }
                };
                let mut ranked: Vec<(f64, Wire)> = columns[column].iter().map(|&wire| (mean(wire), wire)).collect();
                ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                columns[column] = ranked.into_iter().map(|(_, wire)| wire).collect();
                spread(&columns[column], &mut rows);
            }
        }
        rows
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().take(80) {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
