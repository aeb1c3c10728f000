//! A grid that a user can damage. A copy of a member's automaton computes the steps of the grid. Later training of the member does not
//! change the copy.

use super::circuits::Taken;
use super::protocol::{Damage, GridView, Start, ValuesView};
use crate::RunError;
use learn::logic::automaton::Automaton;
use learn::logic::check::{differs, step_packed};
use learn::logic::circuit::{Circuit, PackedGrid};
use learn::logic::experiment::{Experiment, Task};
use learn::logic::train::{Optimiser, Rollout, Trainer};
use math::{Isa, Rng};
use std::sync::Arc;
use worlds::logic::{Area, Grid, neighbour};

/// Parameters of a new grid.
pub(super) struct Begin {
    pub width: u32,
    pub height: u32,
    pub start: Start,
    pub seed: u32,
    pub soft: bool,
}

pub(super) struct Viewed {
    isa: Isa,
    experiment: Experiment,
    member: usize,
    updates: u32,
    circuit: Arc<Circuit>,
    seed: u32,
    step: u32,
    /// Number of times that the grid was damaged. Each time, new random numbers are used.
    damages: u32,
    grid: Grid,
    runs: Runs,
    wrong: Option<f32>,
}

/// Copy of the automaton that computes the grid's steps.
enum Runs {
    /// The hardened circuit, and a buffer that marks the cells that the step updates.
    Hard(PackedGrid, Vec<f32>),
    /// The soft automaton, and the values of all channels of all cells.
    Soft(Box<Trainer>, Vec<f32>),
}

/// Maximum size of a grid: the number of cells times the number of channels.
const MOST_CELLS: u64 = 1 << 23;
/// Maximum number of cells along a side of a grid.
const MOST_SIDE: u32 = 2048;
/// Maximum number of steps in a call of [`Viewed::advance`].
const MOST_STEPS: u32 = 1000;
/// Maximum size of a grid whose steps are compared with the experiment's target rule. The size is the number of cells times the number of
/// channels.
const MOST_RULED: usize = 1 << 16;

impl Viewed {
    pub fn new(
        isa: Isa,
        experiment: &Experiment,
        member: usize,
        automaton: &Automaton,
        taken: &Taken,
        begin: &Begin,
    ) -> Result<Viewed, RunError> {
        let channels = experiment.architecture.channels;
        let Begin { width, height, start, seed, soft } = *begin;
        if [width, height].iter().any(|side| !(1..=MOST_SIDE).contains(side)) {
            return Err(RunError::refused(
                format!("a grid of {width}x{height} cells cannot be shown"),
                format!("Choose sides of 1 to {MOST_SIDE} cells"),
            ));
        }
        let (columns, rows) = (width as usize, height as usize);
        if u64::from(width) * u64::from(height) * channels as u64 > MOST_CELLS {
            let most = MOST_CELLS / channels as u64;
            return Err(RunError::refused(
                format!("a grid of {width}x{height} cells of {channels} bits is too large to be shown"),
                format!("Choose at most {most} cells"),
            ));
        }
        let mut random = Rng::new(seed, PURPOSE_GRID).sequence(0);
        let grid = match start {
            Start::Learned => experiment.start(columns, rows, &mut random),
            Start::Random => Grid::random(channels, columns, rows, &mut random),
            Start::Blank => Grid::blank(channels, columns, rows),
            Start::Target if matches!(experiment.task, Task::Rule(_)) => Grid::random(channels, columns, rows, &mut random),
            Start::Target => {
                let target = experiment.target(columns, rows).ok_or_else(|| {
                    let rollout = &experiment.rollout;
                    RunError::refused(
                        format!("there is no target of {width}x{height} cells"),
                        format!("Choose {}x{} cells, or another start", rollout.width, rollout.height),
                    )
                })?;
                let mut grid = Grid::blank(channels, columns, rows);
                grid.cells[..target.cells.len()].copy_from_slice(&target.cells);
                grid
            }
        };
        let periodic = experiment.rollout.periodic;
        let runs = if soft {
            let rollout = Rollout { width: columns, height: rows, steps: 1, batch: 1, ..experiment.rollout.clone() };
            let trainer = Trainer::new(isa, automaton.clone(), rollout, Optimiser::default(), seed);
            Runs::Soft(Box::new(trainer), grid.cells.iter().map(|&bit| bit.into()).collect())
        } else {
            let mut packed = PackedGrid::new(isa, &taken.reduced, columns, rows, periodic);
            packed.set(&grid.cells);
            Runs::Hard(packed, vec![1.0; columns * rows])
        };
        let mut viewed = Viewed {
            isa,
            experiment: experiment.clone(),
            member,
            updates: taken.updates,
            circuit: taken.reduced.clone(),
            seed,
            step: 0,
            damages: 0,
            grid,
            runs,
            wrong: None,
        };
        viewed.compare();
        Ok(viewed)
    }

    pub fn member(&self) -> usize {
        self.member
    }

    /// Replaces the circuit by `taken`, a newer circuit of the same member. A soft grid continues with its soft automaton.
    pub fn take_up(&mut self, taken: &Taken) {
        self.circuit = taken.reduced.clone();
        self.updates = taken.updates;
        if let Runs::Hard(packed, _) = &mut self.runs {
            let (width, height) = (self.grid.width, self.grid.height);
            *packed = PackedGrid::new(self.isa, &self.circuit, width, height, self.experiment.rollout.periodic);
            packed.set(&self.grid.cells);
        }
    }

    pub fn advance(&mut self, steps: u32) -> Result<(), RunError> {
        if steps > MOST_STEPS {
            return Err(RunError::refused(
                format!("{steps} steps are too many for one call"),
                format!("Request at most {MOST_STEPS} steps per call"),
            ));
        }
        let mut before = None;
        let rollout = &self.experiment.rollout;
        match &mut self.runs {
            Runs::Hard(packed, fires) => {
                for step in self.step..self.step + steps {
                    if step + 1 == self.step + steps && matches!(self.experiment.task, Task::Rule(_)) {
                        packed.get(&mut self.grid.cells);
                        before = Some(self.grid.clone());
                    }
                    step_packed(self.isa, packed, rollout.fire_rate, self.seed, [0, step, 0], fires);
                }
                packed.get(&mut self.grid.cells);
            }
            Runs::Soft(trainer, state) => {
                let rollout = Rollout { width: self.grid.width, height: self.grid.height, steps: 1, batch: 1, ..rollout.clone() };
                let mut next = vec![0.0; state.len()];
                for step in self.step..self.step + steps {
                    trainer.roll_soft(&rollout, state, &mut next, step.into());
                    std::mem::swap(state, &mut next);
                }
                round(state, &mut self.grid);
            }
        }
        self.step += steps;
        match (&self.experiment.task, before) {
            (Task::Rule(rule), Some(before)) if before.cells.len() <= MOST_RULED => {
                self.wrong = Some(differs(&self.grid, &rule.step(&before, rollout.periodic)));
            }
            _ => self.compare(),
        }
        Ok(())
    }

    pub fn damage(&mut self, [x, y, radius]: [u32; 3], how: Damage) -> Result<(), RunError> {
        let area = Area::Disc { x: x as usize, y: y as usize, radius: radius as usize };
        let how = match how {
            Damage::Blank => worlds::logic::Damage::Blank,
            Damage::Noise => worlds::logic::Damage::Noise,
            Damage::Flip => worlds::logic::Damage::Flip,
        };
        let mut random = Rng::new(self.seed, PURPOSE_DAMAGE).sequence(u64::from(self.damages + 1) << 32);
        self.grid.damage(area, how, &mut random).map_err(RunError::below)?;
        self.damages += 1;
        match &mut self.runs {
            Runs::Hard(packed, _) => packed.set(&self.grid.cells),
            Runs::Soft(_, state) => {
                let mut spared = Grid { cells: vec![1; self.grid.cells.len()], ..self.grid.clone() };
                spared.damage(area, worlds::logic::Damage::Blank, &mut random).map_err(RunError::below)?;
                let cells = self.grid.cells.iter().zip(&spared.cells).zip(state);
                for ((&bit, _), soft) in cells.filter(|((_, spared), _)| **spared == 0) {
                    *soft = bit.into();
                }
            }
        }
        self.compare();
        Ok(())
    }

    /// Sets `wrong` to the share of visible bits that differ from the target; to `None` if there is no target of the grid's size.
    fn compare(&mut self) {
        let target = self.experiment.target(self.grid.width, self.grid.height);
        self.wrong = target.map(|target| differs(&self.grid, &target));
    }

    pub fn view(&self) -> GridView {
        let shown = self.experiment.shown();
        let cells = self.grid.width * self.grid.height;
        GridView {
            width: self.grid.width as u32,
            height: self.grid.height as u32,
            step: self.step,
            updates: self.updates,
            values: self.grid.values(shown),
            soft: match &self.runs {
                Runs::Hard(..) => Vec::new(),
                Runs::Soft(_, state) => state[..shown * cells].to_vec(),
            },
            wrong: self.wrong,
        }
    }

    pub fn values(&self, x: u32, y: u32) -> Result<ValuesView, RunError> {
        let (width, height) = (self.grid.width, self.grid.height);
        let (x, y) = (x as usize, y as usize);
        if x >= width || y >= height {
            return Err(RunError::refused(
                format!("({x}, {y}) is outside the grid of {width}x{height}"),
                format!("Choose a column below {width} and a row below {height}"),
            ));
        }
        let periodic = self.experiment.rollout.periodic;
        let values = self.circuit.values(|input| {
            let channel = input.channel as usize;
            neighbour(&self.grid, periodic, channel, x, y, input.neighbour.into()).into()
        });
        let bits: Vec<u8> = values.into_iter().map(|word| (word & 1) as u8).collect();
        let (inputs, gates) = bits.split_at(self.circuit.inputs.len());
        Ok(ValuesView { updates: self.updates, inputs: inputs.into(), gates: gates.into() })
    }
}

fn round(state: &[f32], grid: &mut Grid) {
    for (cell, &value) in grid.cells.iter_mut().zip(state) {
        *cell = u8::from(value > 0.5);
    }
}

const PURPOSE_GRID: u32 = 33;
const PURPOSE_DAMAGE: u32 = 34;
