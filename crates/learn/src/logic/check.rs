//! Tests of a hardened automaton against its target.

use super::automaton::Automaton;
use super::circuit::{Circuit, PackedGrid, every_state};
use super::experiment::{Experiment, Task};
use super::fire;
use crate::settings::Choice;
use math::{Isa, Rng};
use worlds::logic::{Grid, Rule};

/// Result of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Share of visible bits (bits of the channels that have a target) that differ from the target. For a rule, the share of the 512
    /// neighbourhoods with a wrong next state.
    pub wrong: f32,
    /// Number of gates of the pruned circuit.
    pub gates: usize,
    /// Visible channels of the first grid's final state, one number per cell; bit k of the number is channel k. For a rule, the next state
    /// of each of the 512 neighbourhoods.
    pub picture: Vec<u8>,
    /// For a rule, the neighbourhoods with a wrong next state; otherwise empty.
    pub missed: Vec<u16>,
}

/// Number of random starts with which a test begins. If no visible bit is wrong after any of these starts, the test continues with
/// [`CERTAIN`] further starts.
const FIRST: usize = 4;
/// Number of further starts that a perfect automaton must pass.
const CERTAIN: usize = 60;
/// Number of grids in the first test of `generalise.rs` if the start or the firing of cells is random. Otherwise, one grid is tested. The
/// first test of a rule uses no grids.
pub const FRESH: usize = 16;
/// Number of grids in the confirmation of a perfect test result; see [`super::generalise::Confirmation`].
pub const CONFIRMING: usize = 1000;

/// Returns the circuit of an automaton. The circuit is not pruned.
pub fn harden(experiment: &Experiment, automaton: &Automaton) -> Circuit {
    let mut circuit = Circuit::harden(&automaton.architecture, &automaton.wirings, &automaton.ops());
    circuit.name = experiment.preset.id().into();
    circuit.periodic = experiment.rollout.periodic;
    circuit
}

/// Hardens, prunes and tests an automaton. The tested grids depend on the seed and the number of updates. For a rule, all 512
/// neighbourhoods are tested instead.
pub fn check(isa: Isa, experiment: &Experiment, automaton: &Automaton, seed: u32, updates: u64) -> Checked {
    let circuit = harden(experiment, automaton).pruned();
    let gates = circuit.gates.len();
    if let Task::Rule(rule) = &experiment.task {
        let picture = next_states(&circuit);
        let missed = missed_states(rule, &picture);
        return Checked { wrong: missed.len() as f32 / Rule::STATES as f32, gates, picture, missed };
    }
    let mut fresh = Fresh::new(isa, experiment, &circuit, seed, updates as u32);
    let mut wrong = fresh.wrong(FIRST);
    let picture = fresh.first.values(experiment.shown());
    if wrong == 0.0 {
        wrong = fresh.wrong(CERTAIN);
    }
    Checked { wrong, gates, picture, missed: Vec::new() }
}

/// Returns the next state that a one-channel circuit computes for each of the 512 states of the nine cells.
pub fn next_states(circuit: &Circuit) -> Vec<u8> {
    let words = (0..Rule::STATES / 64).map(|number| circuit.step(|input| every_state(input.neighbour, number))[0]);
    words.flat_map(|word| (0..64).map(move |bit| (word >> bit & 1) as u8)).collect()
}

/// Returns the states of the nine cells for which `next` differs from the rule's next state.
pub fn missed_states(rule: &Rule, next: &[u8]) -> Vec<u16> {
    (0..Rule::STATES as u16).zip(next).filter(|&(state, &next)| (next == 1) != rule.next(state.into())).map(|(state, _)| state).collect()
}

/// Returns the share of visible bits in which a grid differs from its target.
pub fn differs(grid: &Grid, target: &Grid) -> f32 {
    let wrong = grid.cells.iter().zip(&target.cells).filter(|(a, b)| a != b).count();
    wrong as f32 / target.cells.len() as f32
}

/// Rollouts of a circuit from starts that are drawn independently of the starts in training. If the experiment has one fixed start, the
/// rollouts use this start.
pub struct Fresh<'a> {
    isa: Isa,
    experiment: &'a Experiment,
    packed: PackedGrid,
    target: Grid,
    seed: u32,
    draw: u32,
    count: u32,
    fires: Vec<f32>,
    /// Final state of the first grid.
    pub first: Grid,
}

impl<'a> Fresh<'a> {
    pub fn new(isa: Isa, experiment: &'a Experiment, circuit: &Circuit, seed: u32, draw: u32) -> Fresh<'a> {
        let (width, height) = (experiment.rollout.width, experiment.rollout.height);
        let target = experiment.target(width, height).expect("a pattern has a target of its size");
        Fresh {
            isa,
            experiment,
            packed: PackedGrid::new(isa, circuit, width, height, experiment.rollout.periodic),
            target,
            seed: seed ^ FRESH_SEEDS,
            draw,
            count: 0,
            fires: vec![1.0; width * height],
            first: Grid::blank(experiment.architecture.channels, width, height),
        }
    }

    /// Runs the next `grids` grids, and returns the share of wrong visible bits in their final states. If the experiment is not random,
    /// runs one grid only.
    pub fn wrong(&mut self, grids: usize) -> f32 {
        let rollout = &self.experiment.rollout;
        let grids = if self.experiment.is_random() { grids } else { 1 };
        let mut wrong = 0.0;
        let mut grid = self.first.clone();
        for _ in 0..grids {
            let mut numbers = Rng::new(self.seed, PURPOSE_FRESH).sequence(u64::from(self.draw) << 40 | u64::from(self.count) << 24);
            let start = self.experiment.start(rollout.width, rollout.height, &mut numbers);
            self.packed.set(&start.cells);
            for step in 0..rollout.steps {
                step_packed(
                    self.isa,
                    &mut self.packed,
                    rollout.fire_rate,
                    self.seed,
                    [self.draw, step as u32, self.count],
                    &mut self.fires,
                );
            }
            self.packed.get(&mut grid.cells);
            wrong += differs(&grid, &self.target);
            if self.count == 0 {
                self.first = grid.clone();
            }
            self.count += 1;
        }
        wrong / grids as f32
    }
}

/// Runs one step of a grid. If `fire_rate` is given, only the firing cells change. `place` contains `draw`, `step` and `sample`, which are
/// arguments of [`fire`]. `fires` is scratch memory with one number per cell.
pub fn step_packed(isa: Isa, packed: &mut PackedGrid, fire_rate: Option<f32>, seed: u32, place: [u32; 3], fires: &mut [f32]) {
    match fire_rate {
        None => packed.step(None),
        Some(rate) => {
            fire(isa, seed, rate, place, fires);
            let fires = &*fires;
            packed.step(Some(&|cell| fires[cell] != 0.0));
        }
    }
}

/// Bits that are inverted in the seed of a test, so that tests and training use different seeds.
const FRESH_SEEDS: u32 = 0x5EED_0001;
const PURPOSE_FRESH: u32 = 18;
