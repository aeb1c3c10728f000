//! A cellular automaton of logic gates that learns a checkerboard. The picture shows how the current circuit changes random cells.

use crate::link::Link;
use crate::tile::{Pace, Tile};
use learn::Learner;
use learn::logic::check::harden;
use learn::logic::circuit::PackedGrid;
use learn::logic::experiment::{Config, Preset};
use learn::logic::population::{Member, Population};
use learn::settings::Choice;
use math::rng::Sequence;
use math::{Isa, Rng};
use std::error::Error;
use worlds::logic::Grid;

/// Time of a step, and time for which the end stays in the picture.
const STEP_S: f64 = 0.07;
const END_S: f64 = 1.0;
/// Number of the random stream of the starts in the picture.
const STARTS: u32 = 0x5449_4c45;

/// The learner and the grid of the picture. The score is the share of cells that the hardened circuit gets right.
pub struct Cells {
    population: Population,
    packed: PackedGrid,
    grid: Grid,
    step: usize,
    numbers: Sequence,
    pace: Pace,
}

impl Cells {
    pub fn new(link: &Link) -> Result<Cells, Box<dyn Error>> {
        let variant = link.value("variant").unwrap_or_default();
        let preset = *Preset::ALL.iter().find(|preset| preset.id() == variant).ok_or("no such experiment")?;
        let population = Population::new(link.settings(Config::preset(preset))?, link.seed, Isa::best())?;
        let mut numbers = Rng::new(link.seed, STARTS).sequence(0);
        let (packed, grid) = begun(&population, &mut numbers);
        Ok(Cells { population, packed, grid, step: 0, numbers, pace: Pace::default() })
    }

    fn best(&self) -> &Member {
        &self.population.members()[self.population.best()]
    }
}

/// Returns a grid with a random start, and the circuit of the best member at this moment.
fn begun(population: &Population, numbers: &mut Sequence) -> (PackedGrid, Grid) {
    let (experiment, best) = (population.experiment(), &population.members()[population.best()]);
    let rollout = &experiment.rollout;
    let circuit = harden(experiment, best.trainer.automaton()).pruned();
    let grid = experiment.start(rollout.width, rollout.height, numbers);
    let mut packed = PackedGrid::new(population.isa(), &circuit, rollout.width, rollout.height, rollout.periodic);
    packed.set(&grid.cells);
    (packed, grid)
}

impl Tile for Cells {
    fn advance(&mut self) {
        self.population.advance();
    }

    fn iterations(&self) -> u64 {
        self.population.progress().iterations
    }

    fn score(&self) -> Option<f64> {
        Some(1.0 - f64::from(self.best().checked.wrong))
    }

    /// The visible channel of the cells, row by row.
    fn picture(&mut self, seconds: f64) -> Vec<f32> {
        self.pace.add(seconds);
        if self.step < self.population.experiment().rollout.steps {
            if self.pace.takes(STEP_S) {
                self.packed.step(None);
                self.packed.get(&mut self.grid.cells);
                self.step += 1;
            }
        } else if self.pace.takes(END_S) {
            (self.packed, self.grid) = begun(&self.population, &mut self.numbers);
            self.step = 0;
        }
        self.grid.values(self.population.experiment().shown()).into_iter().map(f32::from).collect()
    }

    fn weights(&self) -> &[f32] {
        self.population.weights()
    }
}
