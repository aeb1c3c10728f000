//! Tests of a hardened automaton (one with a fixed operation per gate) under conditions that do not occur in training: new starts, larger
//! grids, longer rollouts and blanked cells. The first test uses new starts on grids of the experiment's size. For a rule, the first test
//! uses all 512 neighbourhoods: the states of a cell and its eight neighbours. Each further test is called a trial. The tests run in
//! slices.

use super::check::{CONFIRMING, FRESH, Fresh, differs, missed_states, next_states, step_packed};
use super::circuit::{Circuit, PackedGrid};
use super::experiment::{Experiment, Preset, Task};
use math::rng::Sequence;
use math::{Isa, Rng};
use worlds::logic::{Area, Damage, Grid, Rule};

/// Share of correct cells in each test; `None` if the test was not run. Each visible channel of a cell counts separately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generalised {
    /// Share of correct cells on grids with the size and steps of the experiment, from new starts if starts are random. For a rule, the
    /// share of the 512 neighbourhoods for which the next state is correct.
    pub perfect: Option<f64>,
    /// Share of correct cells on a larger grid. The rollout is also longer, except with the presets `Lizard` and `Own`.
    pub larger: Option<f64>,
    /// Share of correct cells outside a block that is blanked after every step.
    pub damaged: Option<f64>,
    /// Share of correct cells in the whole grid, some steps after a block was blanked for the last time.
    pub healed: Option<f64>,
    /// Mean share of correct cells over the later steps of a long rollout. A block at a random position is blanked after every step.
    pub long: Option<f64>,
}

/// Minimum of [`Generalised::perfect`] for which the trials are run.
const WORTH_IT: f64 = 0.9;
/// Maximum product of cells and steps in a slice of a trial.
const SLICE: usize = 1 << 20;

/// Kind, grid size and number of steps of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    what: What,
    /// Number of cells along a side of the trial's square grid. A [`What::Block`] with `from` > 0 uses a grid of the experiment's size
    /// instead.
    size: usize,
    steps: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// Starts from random cells, and compares some steps of the circuit with the rule.
    Rule,
    Larger,
    /// Blanks a square block in the middle of the grid after each of the steps `from + 1` to `held`. A side of the block has `block` cells.
    /// If the block is blanked after every step of the trial, the cells of the block are not compared with the target.
    Block {
        block: usize,
        held: usize,
        from: usize,
    },
    /// Blanks a block at a random position after each step. The value is the number of cells along a side of the block.
    Resets(usize),
}

pub struct Generalisation {
    isa: Isa,
    experiment: Experiment,
    circuit: Circuit,
    seed: u32,
    found: Generalised,
    /// Remaining trials. The last element is the next trial.
    trials: Vec<Trial>,
    under_way: Option<UnderWay>,
}

/// Test of a circuit on [`CONFIRMING`] grids with new starts. The grids have the size and steps of the experiment. A slice tests `GRIDS`
/// grids.
pub struct Confirmation {
    isa: Isa,
    experiment: Experiment,
    circuit: Circuit,
    seed: u32,
    done: usize,
    wrong: f64,
}

/// Number of grids that a slice of a confirmation tests.
const GRIDS: usize = 20;

impl Confirmation {
    /// Creates a confirmation. Equal seeds give equal grids.
    pub fn new(isa: Isa, experiment: &Experiment, circuit: Circuit, seed: u32) -> Confirmation {
        Confirmation { isa, experiment: experiment.clone(), circuit, seed, done: 0, wrong: 0.0 }
    }

    /// Runs one slice. The last slice returns the share of correct cells over all grids. Other slices return `None`.
    pub fn advance(&mut self) -> Option<f64> {
        let draw = (self.done / GRIDS) as u32;
        let mut fresh = Fresh::new(self.isa, &self.experiment, &self.circuit, self.seed, draw);
        self.wrong += f64::from(fresh.wrong(GRIDS)) * GRIDS as f64;
        self.done += GRIDS;
        (self.done >= CONFIRMING).then(|| 1.0 - self.wrong / self.done as f64)
    }
}

impl Generalisation {
    /// Creates the tests of a pruned circuit. Equal seeds give equal grids.
    pub fn new(isa: Isa, experiment: &Experiment, circuit: Circuit, seed: u32) -> Generalisation {
        let (experiment, found) = (experiment.clone(), Generalised::default());
        Generalisation { isa, experiment, circuit, seed, found, trials: Vec::new(), under_way: None }
    }

    /// Runs one slice. The last slice returns the results of all tests. Other slices return `None`.
    pub fn advance(&mut self) -> Option<Generalised> {
        if self.found.perfect.is_none() {
            let wrong = match &self.experiment.task {
                Task::Rule(rule) => missed_states(rule, &next_states(&self.circuit)).len() as f32 / Rule::STATES as f32,
                Task::Pattern { .. } => Fresh::new(self.isa, &self.experiment, &self.circuit, self.seed, 0).wrong(FRESH),
            };
            let right = 1.0 - f64::from(wrong);
            self.found.perfect = Some(right);
            if right >= WORTH_IT {
                self.trials = trials(&self.experiment);
            }
        } else if let Some(under_way) = &mut self.under_way
            && let Some(right) = under_way.advance(&self.experiment)
        {
            let trial = under_way.trial;
            *self.column(trial) = Some(right);
            self.under_way = None;
        }
        if self.under_way.is_none() {
            let trial = self.trials.pop();
            self.under_way = trial.map(|trial| UnderWay::new(self.isa, &self.experiment, &self.circuit, trial, self.seed));
        }
        self.under_way.is_none().then_some(self.found)
    }

    fn column(&mut self, trial: Trial) -> &mut Option<f64> {
        match trial.what {
            What::Rule | What::Larger => &mut self.found.larger,
            What::Block { .. } if trial.holds_on() => &mut self.found.damaged,
            What::Block { .. } => &mut self.found.healed,
            What::Resets(_) => &mut self.found.long,
        }
    }
}

/// Returns the trials of an experiment. Published presets have the published trials. User-defined targets have the trials of a similar
/// preset.
fn trials(experiment: &Experiment) -> Vec<Trial> {
    let (width, height) = (experiment.rollout.width, experiment.rollout.height);
    let (side, steps) = (width.max(height), experiment.rollout.steps);
    let at = |size: usize, steps: usize, what: What| Trial { what, size, steps };
    let hole = at(side, 2 * steps, What::Block { block: width.min(height) / 4, held: steps + 1, from: steps });
    let block = |held: usize| at(4 * side, 4 * steps, What::Block { block: 20, held, from: 0 });
    match experiment.preset {
        Preset::Life | Preset::Rule => vec![at(128, 300, What::Rule)],
        Preset::Checkerboard => vec![at(4 * side, 4 * steps, What::Larger), block(4 * steps), block(2 * steps)],
        Preset::Asynchronous => vec![at(4 * side, 4 * steps, What::Larger), block(2 * steps), at(64, 4000, What::Resets(10))],
        Preset::Lizard | Preset::Own => vec![at(2 * side, steps, What::Larger), hole],
        // This pattern grows from a blank grid, and only on a grid of its own size.
        Preset::ColourG => vec![hole],
    }
}

/// A trial in progress, with its grid.
struct UnderWay {
    isa: Isa,
    trial: Trial,
    packed: PackedGrid,
    grid: Grid,
    target: Option<Grid>,
    random: Sequence,
    seed: u32,
    step: usize,
    fires: Vec<f32>,
    /// Sum of the sampled shares of correct cells.
    right: f64,
    /// Number of sampled shares so far. The number remains 0 if only the final state counts.
    samples: u32,
}

impl UnderWay {
    fn new(isa: Isa, experiment: &Experiment, circuit: &Circuit, trial: Trial, seed: u32) -> UnderWay {
        let (width, height) = trial.size(experiment);
        let mut random = Rng::new(seed, PURPOSE_TRIALS).sequence(0);
        let grid = experiment.start(width, height, &mut random);
        let mut packed = PackedGrid::new(isa, circuit, width, height, experiment.rollout.periodic);
        packed.set(&grid.cells);
        let target = experiment.target(width, height);
        let fires = vec![1.0; width * height];
        UnderWay { isa, trial, packed, grid, target, random, seed, step: 0, fires, right: 0.0, samples: 0 }
    }

    /// Runs some steps. The call that runs the trial's last step returns the result of the trial, a share of correct cells. Other calls
    /// return `None`.
    fn advance(&mut self, experiment: &Experiment) -> Option<f64> {
        let steps = self.trial.steps;
        for _ in 0..(SLICE / self.fires.len()).max(1) {
            if self.step == steps {
                break;
            }
            self.sample_rule(experiment);
            let place = [FIRES, self.step as u32, 0];
            step_packed(self.isa, &mut self.packed, experiment.rollout.fire_rate, self.seed, place, &mut self.fires);
            self.step += 1;
            self.blank();
        }
        (self.step == steps).then(|| self.result())
    }

    /// Blanks cells after a step, as the trial requires. For [`What::Resets`], also samples the share of correct cells, except in the first
    /// `SETTLED` steps.
    fn blank(&mut self) {
        let (width, height) = (self.grid.width, self.grid.height);
        let area = match self.trial.what {
            What::Block { block, held, from } if self.step > from && self.step <= held => middle(width, height, block),
            What::Resets(block) => {
                let (x, y) = (self.random.below(width as u32), self.random.below(height as u32));
                Area::Block { x: x as usize, y: y as usize, width: block, height: block }
            }
            _ => return,
        };
        self.packed.get(&mut self.grid.cells);
        self.grid.damage(area, Damage::Blank, &mut self.random).expect("the area is inside the grid");
        self.packed.set(&self.grid.cells);
        if let (What::Resets(_), Some(target)) = (self.trial.what, &self.target)
            && self.step > SETTLED
        {
            self.right += 1.0 - f64::from(differs(&self.grid, target));
            self.samples += 1;
        }
    }

    /// If a sample is due at this step, compares a step of the circuit with a step of the rule. The circuit's step is run in addition to
    /// the trial's steps. A trial has [`RULE_SAMPLES`] samples.
    fn sample_rule(&mut self, experiment: &Experiment) {
        let (Trial { what: What::Rule, steps, .. }, Task::Rule(rule)) = (self.trial, &experiment.task) else { return };
        let each = steps / RULE_SAMPLES;
        if self.step > 0 && (self.step.is_multiple_of(each) || self.step + 1 == steps) {
            self.packed.get(&mut self.grid.cells);
            let expected = rule.step(&self.grid, experiment.rollout.periodic);
            self.packed.step(None);
            self.packed.get(&mut self.grid.cells);
            self.right += 1.0 - f64::from(differs(&self.grid, &expected));
            self.samples += 1;
        }
    }

    fn result(&mut self) -> f64 {
        if self.samples > 0 {
            return self.right / f64::from(self.samples);
        }
        self.packed.get(&mut self.grid.cells);
        let target = self.target.as_ref().expect("trials have sizes with known targets");
        let (width, height) = (target.width, target.height);
        let mut around = target.clone();
        if let What::Block { block, .. } = self.trial.what
            && self.trial.holds_on()
        {
            // The block is blanked in both grids, so that its cells do not count.
            let area = middle(width, height, block);
            self.grid.damage(area, Damage::Blank, &mut self.random).expect("the area is inside the grid");
            around.damage(area, Damage::Blank, &mut self.random).expect("the area is inside the grid");
            let counted = (width * height - block * block) as f64;
            return 1.0 - f64::from(differs(&self.grid, &around)) * (width * height) as f64 / counted;
        }
        1.0 - f64::from(differs(&self.grid, &around))
    }
}

impl Trial {
    fn size(self, experiment: &Experiment) -> (usize, usize) {
        match self.what {
            What::Block { from, .. } if from > 0 => (experiment.rollout.width, experiment.rollout.height),
            _ => (self.size, self.size),
        }
    }

    /// Returns true if a block is blanked after every step.
    fn holds_on(self) -> bool {
        matches!(self.what, What::Block { held, from: 0, .. } if held == self.steps)
    }
}

fn middle(width: usize, height: usize, block: usize) -> Area {
    Area::Block { x: (width - block) / 2, y: (height - block) / 2, width: block, height: block }
}

/// Number of steps of a [`What::Rule`] trial that are compared with the rule.
const RULE_SAMPLES: usize = 3;
/// Number of steps until the grid has settled in a [`What::Resets`] trial. These steps are not sampled.
const SETTLED: usize = 200;
const FIRES: u32 = u32::MAX;
const PURPOSE_TRIALS: u32 = 19;
