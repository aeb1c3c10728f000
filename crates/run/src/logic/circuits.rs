//! Circuits of the population's members for display, and the big grid: a bit-packed grid whose steps a circuit computes.

use super::protocol::{BigView, CircuitView, GateView};
use crate::RunError;
use learn::logic::check::harden;
use learn::logic::circuit::{Circuit, PackedGrid};
use learn::logic::experiment::Experiment;
use learn::logic::population::Member;
use math::{Isa, Rng};
use std::sync::Arc;

/// Copy of a member's hardened circuit, in which each gate is the operation with the largest weight. Later training of the member does not
/// change the copy.
pub(super) struct Taken {
    pub updates: u32,
    pub perfect: bool,
    /// Circuit before the reduction, with all gates of the automaton.
    pub whole: Circuit,
    /// Circuit without duplicate, absorbed and dead gates.
    pub reduced: Arc<Circuit>,
}

impl Taken {
    pub fn new(experiment: &Experiment, member: &Member) -> Taken {
        let whole = harden(experiment, member.trainer.automaton());
        let reduced = Arc::new(whole.reduced());
        Taken { updates: member.trainer.updates() as u32, perfect: member.perfect, whole, reduced }
    }

    pub fn view(&self) -> CircuitView {
        let (whole, reduced) = (self.whole.counts(), &*self.reduced);
        let verified = reduced.verify(&self.whole, VERIFY_SEED);
        let layers = reduced.layers();
        let gates = reduced.gates.iter().zip(layers).map(|(gate, layer)| GateView {
            op: gate.op.into(),
            a: gate.a,
            b: gate.b,
            layer: layer as u32,
        });
        CircuitView {
            updates: self.updates,
            inputs: reduced.inputs.iter().map(|input| input.words(reduced.channels())).collect(),
            gates: gates.collect(),
            outputs: reduced.outputs.clone(),
            evaluated: whole.gates as u32,
            pass_through: whole.pass_through as u32,
            dead: whole.dead as u32,
            depth: reduced.counts().depth as u32,
            verified: verified.compared as u32,
            equal: verified.equal,
            perfect: self.perfect,
        }
    }
}

/// Seed of the random states on which the circuits before and after the reduction are compared.
const VERIFY_SEED: u32 = 1;

/// The big grid. A reduced circuit computes the grid's steps.
pub(super) struct Big {
    packed: PackedGrid,
    gates: usize,
    step: u64,
    cells_per_s: f64,
}

/// Maximum number of steps in a call of [`Big::advance`].
const MOST_STEPS: u64 = 1 << 20;
/// Maximum number of cells along a side of the big grid.
const MOST_SIDE: u32 = 1 << 16;

impl Big {
    pub fn new(isa: Isa, circuit: &Circuit, [width, height]: [u32; 2], seed: u32, free_bytes: u64) -> Result<Big, RunError> {
        if [width, height].iter().any(|side| !(1..=MOST_SIDE).contains(side)) {
            return Err(RunError::refused(
                format!("a grid of {width}x{height} cells cannot be run"),
                format!("Choose sides of 1 to {MOST_SIDE} cells"),
            ));
        }
        let (columns, rows) = (width as usize, height as usize);
        let needs = PackedGrid::bytes(circuit, columns, rows);
        if needs > free_bytes {
            return Err(RunError::refused(
                format!("a grid of {width}x{height} cells needs {} MB of memory, but {} MB are available", needs >> 20, free_bytes >> 20),
                "Choose a smaller grid",
            ));
        }
        let mut packed = PackedGrid::new(isa, circuit, columns, rows, circuit.periodic);
        let rng = Rng::new(seed, PURPOSE_BIG);
        packed.edit(|channel, row, words| {
            let mut numbers = rng.sequence((channel as u64) << 56 | (row as u64) << 24);
            words.iter_mut().for_each(|word| *word = numbers.word());
        });
        Ok(Big { packed, gates: circuit.gates.len(), step: 0, cells_per_s: 0.0 })
    }

    /// Runs steps for about `ms` milliseconds, but at least one step. Without a clock, runs a single step.
    pub fn advance(&mut self, ms: f64, clock: Option<fn() -> f64>) {
        let Some(now) = clock else {
            self.packed.run(1);
            self.step += 1;
            return;
        };
        let (began_s, until_s) = (now(), 1e-3 * ms.clamp(0.0, MOST_MS));
        let mut done = 0;
        let mut took_s = 0.0;
        while done == 0 || (took_s < until_s && done < MOST_STEPS) {
            // The next batch of steps should use half of the remaining time at the measured rate. A batch has at most twice the number of
            // steps so far.
            let rate = if took_s > 0.0 { done as f64 / took_s } else { 0.0 };
            let fit = (0.5 * rate * (until_s - took_s)) as u64;
            let steps = fit.clamp(1, (2 * done).max(1)).min(MOST_STEPS - done);
            self.packed.run(steps);
            done += steps;
            took_s = now() - began_s;
        }
        self.step += done;
        let cells = (self.packed.cells().width() * self.packed.cells().height()) as f64;
        self.cells_per_s = if took_s > 0.0 { cells * done as f64 / took_s } else { 0.0 };
    }

    pub fn view(&self) -> BigView {
        let cells = self.packed.cells();
        let (width, height) = (cells.width(), cells.height());
        let bytes = width.div_ceil(8);
        let mut words = Vec::with_capacity(bytes * height);
        for row in 0..height {
            words.extend(cells.row(0, row).iter().flat_map(|word| word.to_le_bytes()).take(bytes));
        }
        BigView {
            width: width as u32,
            height: height as u32,
            step: self.step as u32,
            words,
            cells_per_s: self.cells_per_s,
            gate_cells_per_s: self.cells_per_s * self.gates as f64,
            gates: self.gates as u32,
        }
    }
}

/// Maximum value of the argument `ms` of [`Big::advance`], in milliseconds.
const MOST_MS: f64 = 1000.0;
const PURPOSE_BIG: u32 = 32;
