//! A grid of cells that a circuit runs.

use super::{Circuit, Gate};
use crate::logic::apply;
use math::Isa;
use worlds::logic::{Grid, neighbour};

/// The cells of one grid. Beyond its border all is off, unless opposite borders are joined.
pub struct PackedGrid {
    circuit: Circuit,
    grid: Grid,
    periodic: bool,
}

impl PackedGrid {
    /// All cells are off.
    pub fn new(_isa: Isa, circuit: &Circuit, width: usize, height: usize, periodic: bool) -> PackedGrid {
        PackedGrid {
            circuit: circuit.clone(),
            grid: Grid::blank(circuit.channels(), width, height),
            periodic,
        }
    }

    /// `[channel][row][column]`, a byte being 0 or 1.
    pub fn set(&mut self, cells: &[u8]) {
        self.grid.cells.copy_from_slice(cells);
    }

    pub fn get(&self, cells: &mut [u8]) {
        cells.copy_from_slice(&self.grid.cells);
    }

    /// One step; a cell changes only where `fires` says so of its number, which is `row * width + column`.
    pub fn step(&mut self, fires: Option<&(dyn Fn(usize) -> bool + Sync)>) {
        let (width, height) = (self.grid.width, self.grid.height);
        let mut next = self.grid.clone();
        for cell in (0..width * height).filter(|&cell| fires.is_none_or(|fires| fires(cell))) {
            let (x, y) = (cell % width, cell / width);
            let mut values: Vec<bool> = Vec::new();
            for input in &self.circuit.inputs {
                let (channel, k) = (input.channel as usize, input.neighbour.into());
                values.push(neighbour(&self.grid, self.periodic, channel, x, y, k) == 1);
            }
            for &Gate { op, a, b } in &self.circuit.gates {
                let end = |wire: u32| values.get(wire as usize).copied().unwrap_or(false);
                values.push(apply(op, end(a), end(b)));
            }
            for (channel, &wire) in self.circuit.outputs.iter().enumerate() {
                next.cells[channel * width * height + cell] = u8::from(values[wire as usize]);
            }
        }
        self.grid = next;
    }

    pub fn run(&mut self, steps: u64) {
        (0..steps).for_each(|_| self.step(None));
    }
}
