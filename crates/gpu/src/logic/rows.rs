//! A cell's computation as a list of rows. The first rows are the cell's neighbourhood: nine cells in each channel. Each further row is the
//! output of one evaluated gate.

use learn::logic::{Architecture, Wirings};
use std::ops::Range;

pub struct Rows {
    architecture: Architecture,
    pub count: usize,
    /// Range of rows for each layer of gates. Layers are in the order in which they are computed.
    pub layers: Vec<Range<usize>>,
    /// Index of the gate that each row after the neighbourhood evaluates.
    pub gate_of: Vec<u32>,
    /// First row that evaluates each gate, the distance to the gate's next row, and the number of the gate's rows.
    pub rows_of: Vec<[u32; 3]>,
}

impl Rows {
    pub fn new(architecture: &Architecture) -> Rows {
        let &Architecture { channels, kernels, .. } = architecture;
        let mut rows =
            Rows { architecture: architecture.clone(), count: 9 * channels, layers: Vec::new(), gate_of: Vec::new(), rows_of: Vec::new() };
        // Pairs of a layer's number of gates and its number of evaluations. A perception layer is evaluated once per channel. An update
        // layer is evaluated once.
        let perception = architecture.perception.iter().map(|width| (kernels * width, channels));
        for (gates, times) in perception.chain(architecture.update.iter().map(|&width| (width, 1))) {
            let (begin, first) = (rows.count, rows.rows_of.len());
            for _ in 0..times {
                rows.gate_of.extend((first..first + gates).map(|gate| gate as u32));
            }
            rows.rows_of.extend((0..gates).map(|gate| [begin + gate, gates, times].map(|x| x as u32)));
            rows.count += times * gates;
            rows.layers.push(begin..rows.count);
        }
        rows
    }

    /// Returns the number of rows that evaluate gates.
    pub fn gates(&self) -> usize {
        self.gate_of.len()
    }

    /// Returns, for each row that evaluates a gate, the indices of the gate's two input rows.
    pub fn wires(&self, wirings: &Wirings) -> Vec<[u32; 2]> {
        let &Architecture { channels, kernels, .. } = &self.architecture;
        let mut all = Vec::with_capacity(self.gates());
        // First row that a perception kernel reads, for each pair of channel and kernel.
        let mut begins: Vec<usize> = (0..channels * kernels).map(|i| i / kernels * 9).collect();
        for (layer, rows) in wirings.perception.iter().zip(&self.layers) {
            let width = layer.a.len();
            for (i, begin) in begins.iter_mut().enumerate() {
                let row = |wire: u32| *begin as u32 + wire;
                all.extend(layer.a.iter().zip(&layer.b).map(|(&a, &b)| [row(a), row(b)]));
                *begin = rows.start + i * width;
            }
        }
        let outputs = self.architecture.perception.last().copied().unwrap_or(0);
        let mut inputs: Vec<u32> = (0..channels).map(|channel| 9 * channel as u32 + 4).collect();
        for begins in begins.chunks(kernels) {
            inputs.extend((0..outputs).flat_map(|output| begins.iter().map(move |begin| (begin + output) as u32)));
        }
        for (layer, rows) in wirings.update.iter().zip(&self.layers[wirings.perception.len()..]) {
            let row = |wire: u32| inputs[wire as usize];
            all.extend(layer.a.iter().zip(&layer.b).map(|(&a, &b)| [row(a), row(b)]));
            inputs = rows.clone().map(|row| row as u32).collect();
        }
        all
    }

    /// Returns the readers of each row, as two lists. The second list contains the readers of all rows, row by row. The first list
    /// contains, for each row, the index in the second list at which the row's readers begin. A reader is encoded as twice the index of the
    /// reading row, plus one if this row reads through its second input.
    pub fn readers(&self, wires: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
        let mut begins = vec![0; self.count + 1];
        wires.as_flattened().iter().for_each(|&row| begins[row as usize + 1] += 1);
        for row in 0..self.count {
            begins[row + 1] += begins[row];
        }
        let (mut next, mut readers) = (begins.clone(), vec![0; 2 * wires.len()]);
        for (i, &row) in wires.as_flattened().iter().enumerate() {
            let at = &mut next[row as usize];
            readers[*at as usize] = 2 * (self.count - wires.len()) as u32 + i as u32;
            *at += 1;
        }
        (begins, readers)
    }
}
