//! Grid of cells that a circuit updates, with one bit per cell and channel.

use super::Circuit;
use math::Isa;
use math::packed::{Packed, Program};

/// Cells of one grid, with the circuit that computes the cells' next state. Cells beyond the border are off, unless opposite borders are
/// joined.
pub struct PackedGrid {
    isa: Isa,
    program: Program,
    cells: Packed,
}

impl PackedGrid {
    /// Creates a grid with all cells off.
    pub fn new(isa: Isa, circuit: &Circuit, width: usize, height: usize, periodic: bool) -> PackedGrid {
        let program = circuit.program();
        let cells = Packed::new(&program, width, height, periodic);
        PackedGrid { isa, program, cells }
    }

    /// Returns the memory of a grid for `circuit`, in bytes.
    pub fn bytes(circuit: &Circuit, width: usize, height: usize) -> u64 {
        Packed::bytes(&circuit.program(), width, height, true)
    }

    /// Returns the number of gates that are evaluated per cell and step.
    pub fn gates(&self) -> usize {
        self.program.gates()
    }

    /// Returns the cells, with one bit per cell and channel.
    pub fn cells(&self) -> &Packed {
        &self.cells
    }

    /// Calls `write(channel, row, words)` for every row of every channel. `words` contains the row's cells as bits, 32 cells per word.
    /// `write` may change `words`.
    pub fn edit(&mut self, write: impl FnMut(usize, usize, &mut [u32])) {
        self.cells.edit(write);
    }

    /// Sets all cells from `cells`, `[channel][row][column]`. Each byte is 0 or 1.
    pub fn set(&mut self, cells: &[u8]) {
        let (width, height) = (self.cells.width(), self.cells.height());
        assert_eq!(cells.len(), self.cells.channels() * width * height, "one byte per cell and channel");
        self.cells.edit(|channel, row, words| {
            let from = &cells[(channel * height + row) * width..][..width];
            for (word, from) in words.iter_mut().zip(from.chunks(32)) {
                *word = from.iter().rev().fold(0, |word, &cell| word << 1 | u32::from(cell & 1));
            }
        });
    }

    pub fn get(&self, cells: &mut [u8]) {
        let (width, height) = (self.cells.width(), self.cells.height());
        assert_eq!(cells.len(), self.cells.channels() * width * height, "one byte per cell and channel");
        for (i, to) in cells.chunks_mut(width).enumerate() {
            let row = self.cells.row(i / height, i % height);
            for (to, word) in to.chunks_mut(32).zip(row) {
                to.iter_mut().enumerate().for_each(|(bit, to)| *to = (word >> bit & 1) as u8);
            }
        }
    }

    /// Runs one step. If `fires` is given, only cells for which `fires(row * width + column)` is true may change.
    pub fn step(&mut self, fires: Option<&(dyn Fn(usize) -> bool + Sync)>) {
        let width = self.cells.width();
        let Some(fires) = fires else { return self.cells.step(self.isa, &self.program, None) };
        let row = |row: usize, words: &mut [u32]| {
            for column in 0..width {
                words[column / 32] |= u32::from(fires(row * width + column)) << (column % 32);
            }
        };
        self.cells.step(self.isa, &self.program, Some(&row));
    }

    pub fn run(&mut self, steps: u64) {
        (0..steps).for_each(|_| self.step(None));
    }
}

impl Circuit {
    /// Returns the executable form of the circuit.
    fn program(&self) -> Program {
        let inputs: Vec<(u8, u32)> = self.inputs.iter().map(|input| (input.neighbour, input.channel)).collect();
        let gates: Vec<(u8, u32, u32)> = self.gates.iter().map(|gate| (gate.op, gate.a, gate.b)).collect();
        Program::new(&inputs, &gates, &self.outputs)
    }
}
