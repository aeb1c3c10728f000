//! Experiments: the published experiments with their layer sizes, and experiments with user-defined targets. An experiment defines the
//! start and the target of a rollout. An experiment does not depend on the learning method.

use super::rollout::Rollout;
use super::{Architecture, LogicError, Wiring};
use crate::settings::{SHARE, count, linear, log, one_of, text, whole};
use crate::{SavedError, choices, settings};
use math::Rng;
use math::rng::Sequence;
use worlds::logic::{Grid, GridError, Rule, checkerboard, colour_g, lizard};

choices! {
    /// Available experiments. The first experiment is the default of the logic room. The target of `Life` and `Rule` is one step of a rule;
    /// the target of other presets is a pattern.
    pub enum Preset {
        Checkerboard = "checkerboard", "Checkerboard";
        Life = "life", "Game of Life";
        Asynchronous = "checkerboard-async", "Asynchronous checkerboard";
        Lizard = "lizard", "Growing lizard";
        ColourG = "g", "Colour G";
        /// A user's drawing.
        Own = "own", "Your own drawing";
        /// A rule for a cell and its eight neighbours.
        Rule = "rule", "Your own rule";
    }
}

choices! {
    /// Parametrisation of gates; see [`super::automaton::GateForm`].
    pub enum Form {
        Softmax = "softmax", "Softmax over 16 operations";
        Four = "four", "Four parameters";
        Gumbel = "gumbel", "Gumbel noise, straight-through";
    }
}

choices!(impl Wiring { Unique = "unique", "Unique pairs"; Random = "random", "Random pairs"; });

const SMALLER: &str = "A smaller checkerboard is learned faster and in fewer steps. Tests use the full size.";

settings! {
    /// Settings of a population and its experiment. The defaults are the published settings of the Game of Life.
    pub struct Config {
        fixed preset: Preset = Preset::Life;
        /// User's drawing or rule; empty if the preset has a fixed target.
        fixed target: String = String::new(),
            [as "rule", text(200), "Rule: what turns a cell on", "",
                "Numbers of neighbours for birth and survival, such as B3/S23; or a table of all 512 states \
                 of nine cells as 128 hexadecimal digits.", when |of| of.preset == Preset::Rule],
            [text(1200), "Target: the drawing to grow", "",
                "Rows separated by /, 4x4 to 32x32 cells: . and # for off and on, or 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 \
                 cyan, 7 white.", when |of| of.preset == Preset::Own];
        fixed population: usize = 4, [count(1.0, 256.0), "Population: members side by side", "members",
            "Number of automata that train in parallel, with different wires and data. Success depends on the seed."];
        live patience: u32 = 300, [count(10.0, 1e6), "Patience: updates before a restart", "updates",
            "Restart a member with a new seed after this many updates without improvement of its hard loss."];
        live lr: f32 = 0.05, [log(1e-4, 1.0), "Learning rate", "",
            "Step size of each update. Too small: learning is slow. Too large: gates do not settle."];
        fixed form: Form = Form::Softmax, [as "gates", one_of::<Form>(), "Gate form: how gates are parametrised", "",
            "Parameters of a gate: logits of all 16 operations, its four outputs, or noisy logits, of which training uses the \
             most likely operation."];
        fixed temperature: f32 = 1.0, [log(0.05, 10.0), "Gumbel temperature", "",
            "Softness of the gradient of noisy gates. Gumbel form only."];
        fixed wiring: Wiring = Wiring::Unique, [one_of::<Wiring>(), "Wiring: what gates read", "",
            "Pairs of gate inputs: all different, neighbours first; or random."];
        fixed init: f32 = 10.0, [log(0.5, 20.0), "Initial logit: how firmly gates pass", "",
            "Every gate starts by passing its first input. With a smaller logit, gates change sooner."];
        fixed batch: usize = 20, [count(1.0, 256.0), "Minibatch: grids per update", "grids",
            "Number of grids in each update of a member."];
        live hard_share: f32 = 0.0, [SHARE, "Hard examples: share of the batch", "",
            "Share of the batch drawn from states that the hardened automaton got wrong in its last test. The rest is random.",
            when |of| of.preset.is_rule()];
        fixed steps: usize = 1, [count(1.0, 200.0), "Rollout: steps of a grid", "steps",
            "Number of steps in which a grid must become the target.", when |of| !of.preset.is_rule()];
        fixed fire_rate: f32 = 1.0, [linear(0.1, 1.0), "Fire rate: share of cells that update", "",
            "Probability that a cell updates in a step. Below 1, cells update asynchronously.", when |of| !of.preset.is_rule()];
        /// Number of cells along a side of a checkerboard's training grid. The two checkerboard presets have different ranges.
        fixed side: usize = 0,
            [whole(4.0, 16.0), "Training grid: cells along a side", "cells", SMALLER, when |of| of.preset == Preset::Checkerboard],
            [whole(4.0, 14.0), "Training grid: cells along a side", "cells", SMALLER, when |of| of.preset == Preset::Asynchronous];
        live updates: u32 = 10, [count(1.0, 10_000.0), "Updates per iteration", "updates",
            "Updates of each member between tests of the hardened circuits. Changed knobs take effect at the next iteration."];
        live beta2: f32 = 0.99, [linear(0.5, 0.9999), "Adam β₂: memory of the squared gradient", "",
            "Decay rate of the mean squared gradient."];
        live weight_decay: f32 = 0.01, [linear(0.0, 1.0), "Weight decay", "",
            "Share by which each update shrinks the gate parameters, times the learning rate."];
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    #[error(transparent)]
    Grid(#[from] GridError),
    #[error(transparent)]
    Shape(#[from] LogicError),
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error("a drawing of {width}x{height} is too {what}; draw {least} to {most} rows of {least} to {most} cells")]
    Size { width: usize, height: usize, what: &'static str, least: usize, most: usize },
    #[error("the drawing is blank; draw at least one cell that is not .")]
    Blank,
    #[error("an update of {batch} such grids would block for seconds; choose batch = {most} at most, or fewer steps")]
    Long { batch: usize, most: usize },
    #[error(
        "{steps} steps are too few to grow from the middle to the border of {width}x{height}; choose steps = {needs} at least, or \
         a smaller drawing"
    )]
    Steps { steps: usize, width: usize, height: usize, needs: usize },
}

/// Maximum number of gate evaluations in the forward pass of a member's update. With this number, an update takes some tenths of a second.
/// The number is limited because a run cannot stop or save during an update.
const MOST_WORK: f64 = 2e9;
/// Minimum number of cells along a drawing's sides.
pub const LEAST_SIDE: usize = 4;
/// Maximum number of cells along a drawing's sides.
pub const MOST_SIDE: usize = 32;

/// Drawing of a heart.
const DRAWING: &str = "............/..##....##../.####..####./.##########./.##########./.##########./..########../...######.../\
                       ....####..../.....##...../............/............";

impl Preset {
    /// Returns true if the target is one step of a rule, and false if the target is a pattern.
    pub fn is_rule(self) -> bool {
        matches!(self, Preset::Life | Preset::Rule)
    }

    /// Returns the number of cells along a side of the preset's full checkerboard, or `None` if the preset has no checkerboard.
    pub fn board(self) -> Option<usize> {
        match self {
            Preset::Checkerboard => Some(16),
            Preset::Asynchronous => Some(14),
            _ => None,
        }
    }

    /// Returns true if the target is user-defined.
    pub fn is_own(self) -> bool {
        matches!(self, Preset::Own | Preset::Rule)
    }
}

impl Config {
    /// Returns the published settings of a preset. For a user-defined target, returns the settings of a similar preset.
    pub fn published(preset: Preset) -> Config {
        let config = Config { preset, ..Config::default() };
        match preset {
            Preset::Life => config,
            Preset::Rule => Config { target: "B36/S23".into(), ..config },
            Preset::Checkerboard => Config { batch: 2, steps: 20, side: 16, ..config },
            Preset::Asynchronous => Config { batch: 1, steps: 50, side: 14, fire_rate: 0.6, ..config },
            Preset::Lizard => Config { batch: 1, steps: 12, lr: 0.06, ..config },
            Preset::ColourG => Config { batch: 1, steps: 15, lr: 0.06, ..config },
            Preset::Own => Config { batch: 1, steps: 12, lr: 0.06, target: DRAWING.into(), ..config },
        }
    }

    /// Returns the best known settings: those with the highest success rate or, among equal rates, the shortest training time.
    pub fn preset(preset: Preset) -> Config {
        let published = Config::published(preset);
        match preset {
            Preset::Life | Preset::Rule => Config { lr: 0.2, init: 5.0, hard_share: 0.5, ..published },
            Preset::Checkerboard => Config { lr: 0.1, init: 5.0, side: 8, steps: 10, patience: 100, ..published },
            Preset::Asynchronous => {
                // A grid with 10 cells per side ends in the middle of the pattern's period, as a grid with 14 cells per side does.
                // Therefore, the right and the lower border look the same on both grids.
                Config { lr: 0.1, init: 5.0, side: 10, steps: 36, patience: 150, ..published }
            }
            Preset::Lizard | Preset::ColourG | Preset::Own => published,
        }
    }

    /// Returns the experiment that these settings define.
    pub fn experiment(&self) -> Result<Experiment, ExperimentError> {
        let task = self.task()?;
        let (channels, kernels, perception, wide, layers, tail) = match self.preset {
            Preset::Life | Preset::Rule => (1, 16, &[8, 4, 2, 1][..], 128, 17, &[64, 32, 16, 8, 4, 2][..]),
            Preset::Checkerboard => (8, 16, &[8, 4, 2][..], 256, 10, &[128, 64, 32, 16, 8][..]),
            Preset::Asynchronous => (8, 16, &[8, 4, 2][..], 256, 14, &[128, 64, 32, 16, 8][..]),
            Preset::Lizard => (128, 4, &[8, 4, 2, 1][..], 512, 8, &[256][..]),
            Preset::ColourG => (64, 4, &[8, 4, 2][..], 512, 8, &[256, 128][..]),
            Preset::Own => (64, 4, &[8, 4, 2, 1][..], 256, 8, &[128][..]),
        };
        let update = [vec![wide; layers], tail.to_vec(), vec![channels]].concat();
        let architecture = Architecture { channels, kernels, perception: perception.to_vec(), update };
        let (width, height) = match &task {
            Task::Rule(_) => (3, 3),
            Task::Pattern { target, .. } => (target.width, target.height),
        };
        let rollout = Rollout {
            width,
            height,
            periodic: task.is_periodic(),
            steps: self.steps,
            batch: self.batch,
            fire_rate: (self.fire_rate < 1.0).then_some(self.fire_rate),
        };
        let mut training = rollout.clone();
        let mut rollout = Rollout { batch: 1, ..rollout };
        if let Some(full) = self.preset.board() {
            (training.width, training.height) = (self.side, self.side);
            rollout.steps = (self.steps * full).div_ceil(self.side);
        }
        let experiment = Experiment { preset: self.preset, architecture, rollout, training, task };
        if experiment.work() > MOST_WORK {
            let most = (MOST_WORK / experiment.work() * self.batch as f64) as usize;
            return Err(ExperimentError::Long { batch: self.batch, most });
        }
        Ok(experiment)
    }

    fn task(&self) -> Result<Task, ExperimentError> {
        Ok(match self.preset {
            Preset::Life => Task::Rule(Rule::life()),
            Preset::Rule => Task::Rule(Rule::parse(&self.target)?),
            Preset::Checkerboard => Task::Pattern { target: checkerboard(16, 16, SQUARE), starts: Starts::Random },
            Preset::Asynchronous => Task::Pattern { target: checkerboard(14, 14, SQUARE), starts: Starts::Random },
            Preset::Lizard => Task::Pattern { target: lizard(), starts: Starts::Seed },
            Preset::ColourG => Task::Pattern { target: colour_g(), starts: Starts::Blank },
            Preset::Own => Task::Pattern { target: self.drawing()?, starts: Starts::Seed },
        })
    }

    fn drawing(&self) -> Result<Grid, ExperimentError> {
        let is_plain = self.target.chars().all(|c| matches!(c, '.' | '#' | '0' | '1' | '/') || c.is_whitespace());
        let target = Grid::draw(&self.target, if is_plain { 1 } else { 3 })?;
        let Grid { width, height, .. } = target;
        let (shorter, longer) = (width.min(height), width.max(height));
        if shorter < LEAST_SIDE || longer > MOST_SIDE {
            let what = if shorter < LEAST_SIDE { "small" } else { "large" };
            return Err(ExperimentError::Size { width, height, what, least: LEAST_SIDE, most: MOST_SIDE });
        }
        if !target.cells.contains(&1) {
            return Err(ExperimentError::Blank);
        }
        let needs = longer / 2;
        if self.steps < needs {
            return Err(ExperimentError::Steps { steps: self.steps, width, height, needs });
        }
        Ok(target)
    }
}

/// Number of cells along the side of a checkerboard square.
const SQUARE: usize = 2;

/// Initial state of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Random bits in every channel, different for each rollout.
    Random,
    /// The middle cell is 1 in all channels, all other cells are 0.
    Seed,
    Blank,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The target is one step of a rule, for any start.
    Rule(Rule),
    /// The target is a pattern. The first channels must show the pattern at the end of the rollout.
    Pattern { target: Grid, starts: Starts },
}

impl Task {
    fn is_periodic(&self) -> bool {
        matches!(self, Task::Rule(_) | Task::Pattern { starts: Starts::Seed, .. })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    pub preset: Preset,
    pub architecture: Architecture,
    /// Rollout for tests of a hardened automaton, one grid at a time.
    pub rollout: Rollout,
    /// Rollout for training.
    pub training: Rollout,
    pub task: Task,
}

impl Experiment {
    /// Returns true if the final state of a grid is random, because the start or the choice of firing cells is random. Returns false for a
    /// rule.
    pub fn is_random(&self) -> bool {
        match &self.task {
            Task::Rule(_) => false,
            Task::Pattern { starts, .. } => matches!(starts, Starts::Random) || self.rollout.fire_rate.is_some(),
        }
    }

    /// Returns the number of visible channels, which are compared with the target.
    pub fn shown(&self) -> usize {
        match &self.task {
            Task::Rule(_) => 1,
            Task::Pattern { target, .. } => target.channels,
        }
    }

    /// Returns the number of gate evaluations in the forward pass of a member's update.
    pub fn work(&self) -> f64 {
        let Rollout { width, height, steps, batch, .. } = self.training;
        (self.architecture.gates_per_cell() * width * height * steps) as f64 * batch as f64
    }

    /// Writes the starts, `[batch][channels][height][width]`, and the targets, `[batch][visible channels][height][width]`, for update
    /// number `update`. For a rule, the share `share` of the starts is drawn from the neighbourhoods `hard`; all other starts are random.
    /// The number of starts from `hard` is rounded down, and is 0 if `hard` is empty.
    pub fn fill(&self, seed: u32, update: u64, (share, hard): (f32, &[u16]), start: &mut [f32], target: &mut [f32]) {
        let Rollout { width, height, batch, .. } = self.training;
        let cells = width * height;
        let mut random = Rng::new(seed, PURPOSE_STARTS).sequence(update << 32);
        let starts = start.chunks_exact_mut(self.architecture.channels * cells);
        let targets = target.chunks_exact_mut(self.shown() * cells);
        let hard_grids = if hard.is_empty() { 0 } else { (share * batch as f32) as usize };
        for (sample, (start, target)) in starts.zip(targets).take(batch).enumerate() {
            match &self.task {
                Task::Rule(rule) => {
                    let state = match sample < hard_grids {
                        true => hard[random.below(hard.len() as u32) as usize].into(),
                        false => random.word() >> 23,
                    };
                    for (i, cell) in start.iter_mut().enumerate() {
                        *cell = (state >> i & 1) as f32;
                    }
                    for (i, cell) in target.iter_mut().enumerate() {
                        *cell = f32::from(u8::from(rule.next(neighbourhood(state as usize, i))));
                    }
                }
                Task::Pattern { target: pattern, starts } => {
                    match starts {
                        Starts::Random => fill_random(&mut random, start),
                        Starts::Blank => start.fill(0.0),
                        Starts::Seed => {
                            start.fill(0.0);
                            let middle = height / 2 * width + width / 2;
                            start[middle..].iter_mut().step_by(cells).for_each(|cell| *cell = 1.0);
                        }
                    }
                    for (i, cell) in target.iter_mut().enumerate() {
                        *cell = match self.preset.board() {
                            Some(_) => ((i % width / SQUARE + i / width / SQUARE) % 2) as f32,
                            None => pattern.cells[i].into(),
                        };
                    }
                }
            }
        }
    }

    /// Returns an initial grid of any size. The grid is random if the starts in training are random.
    pub fn start(&self, width: usize, height: usize, random: &mut Sequence) -> Grid {
        let channels = self.architecture.channels;
        match &self.task {
            Task::Rule(_) | Task::Pattern { starts: Starts::Random, .. } => Grid::random(channels, width, height, random),
            Task::Pattern { starts: Starts::Seed, .. } => Grid::seed(channels, width, height),
            Task::Pattern { starts: Starts::Blank, .. } => Grid::blank(channels, width, height),
        }
    }

    /// Returns the target of a grid of this size. Returns `None` for a rule, or if no target of this size is known.
    pub fn target(&self, width: usize, height: usize) -> Option<Grid> {
        let Task::Pattern { target, starts } = &self.task else { return None };
        if (width, height) == (target.width, target.height) {
            return Some(target.clone());
        }
        match starts {
            Starts::Random => Some(checkerboard(width, height, SQUARE)),
            Starts::Seed => {
                let left = (width / 2).checked_sub(target.width / 2)?;
                let above = (height / 2).checked_sub(target.height / 2)?;
                if left + target.width > width || above + target.height > height {
                    return None;
                }
                let mut larger = Grid::blank(target.channels, width, height);
                for (i, row) in target.cells.chunks(target.width).enumerate() {
                    let at = larger.index(i / target.height, left, above + i % target.height);
                    larger.cells[at..at + target.width].copy_from_slice(row);
                }
                Some(larger)
            }
            // A pattern that grows from a blank grid depends on the border, and therefore on the grid's size.
            Starts::Blank => None,
        }
    }
}

/// Returns the states of cell `i` and its eight neighbours in the periodic 3x3 grid `grid`. The bits of `grid` and of the result are
/// numbered row by row. Bit 4 of the result is cell `i`.
fn neighbourhood(grid: usize, i: usize) -> usize {
    (0..9)
        .map(|k| {
            let (x, y) = ((i % 3 + k % 3 + 2) % 3, (i / 3 + k / 3 + 2) % 3);
            (grid >> (3 * y + x) & 1) << k
        })
        .sum()
}

fn fill_random(random: &mut Sequence, cells: &mut [f32]) {
    for cells in cells.chunks_mut(32) {
        let word = random.word();
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = (word >> i & 1) as f32;
        }
    }
}

const PURPOSE_STARTS: u32 = 16;
