//! Curriculum over the depth (number of moves) of scrambles. The stage is the current depth. The stage increases by one when enough of the
//! latest episodes at this depth solved the cube. A share of all episodes may begin at earlier depths, so that the network does not forget
//! these depths. With [`Schedule::Even`], the stage is always the last depth.

use crate::settings::{SHARE, count, one_of, whole};
use crate::{choices, settings};
use math::rng::Sequence;

/// Maximum number of moves of a scramble.
pub const DEEPEST: usize = 64;
/// Maximum number of episodes that a success rate covers.
pub const WIDEST: usize = 1000;

choices! {
    pub enum Schedule {
        /// All depths from the first to the last depth are equally likely from the start.
        Even = "even", "All depths";
        /// All episodes begin at the stage's depth.
        Plain = "plain", "Current stage";
        /// A fraction of the episodes begins at earlier depths, which are equally likely. All other episodes begin at the stage's depth.
        Fractional = "fractional", "Fractional";
    }
}

settings! {
    #[derive(Copy)]
    pub struct CurriculumConfig {
        live schedule: Schedule, [one_of::<Schedule>(), "Curriculum", "",
            "Depth of the scrambles: all depths, the current stage, or the stage with a fraction of earlier depths against forgetting."];
        live first: usize, [as "first_depth", whole(1.0, DEEPEST as f64), "First depth", "moves",
            "Moves of the first scrambles."];
        live last: usize, [as "last_depth", whole(1.0, DEEPEST as f64), "Last depth", "moves",
            "Moves of the longest scrambles."];
        live threshold: f32, [SHARE, "Success threshold", "",
            "Share of the latest episodes at a depth that must be solved before the next depth."];
        fixed window: usize, [count(1.0, WIDEST as f64), "Success window", "episodes",
            "Latest episodes at a depth that the success rate covers."];
        live fraction: f32, [SHARE, "Earlier-depth fraction", "",
            "With the fractional curriculum: share of episodes at earlier depths."];
    }
}

/// Latest episodes that began at one depth. `solved` is the number of these episodes that solved the cube.
#[derive(Clone, Debug, Default, PartialEq)]
struct Depth {
    solved: u32,
    /// Results of the episodes; true if the episode solved the cube. Once `newest` contains `window` results, it is a ring buffer, and `at`
    /// is the index of the next write.
    newest: Vec<bool>,
    at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Curriculum {
    stage: usize,
    depths: Vec<Depth>,
}

impl Curriculum {
    pub fn new(config: &CurriculumConfig) -> Curriculum {
        let depth = Depth { newest: Vec::with_capacity(WIDEST), ..Depth::default() };
        let mut depths = vec![depth; DEEPEST + 1];
        // `vec!` clones `depth`, and a clone does not have the capacity of the original.
        depths.iter_mut().for_each(|depth| depth.newest.reserve(WIDEST));
        let stage = if config.schedule == Schedule::Even { config.last } else { config.first };
        Curriculum { stage, depths }
    }

    /// Returns the current depth.
    pub fn stage(&self) -> usize {
        self.stage
    }

    /// Returns the probability that a new episode begins at this depth.
    pub fn share(&self, config: &CurriculumConfig, depth: usize) -> f32 {
        let (stage, first) = (self.stage, config.first.min(self.stage));
        let before = (stage - first) as f32;
        match config.schedule {
            Schedule::Even if (first..=stage).contains(&depth) => 1.0 / (before + 1.0),
            Schedule::Plain if depth == stage => 1.0,
            Schedule::Fractional if depth == stage && before == 0.0 => 1.0,
            Schedule::Fractional if depth == stage => 1.0 - config.fraction,
            Schedule::Fractional if (first..stage).contains(&depth) => config.fraction / before,
            _ => 0.0,
        }
    }

    /// Draws the depth of a new episode.
    pub fn draw(&self, config: &CurriculumConfig, numbers: &mut Sequence) -> usize {
        let (stage, first) = (self.stage, config.first.min(self.stage));
        let before = (stage - first) as u32;
        match config.schedule {
            Schedule::Even => first + numbers.below(before + 1) as usize,
            Schedule::Fractional if before > 0 && numbers.uniform() < config.fraction => first + numbers.below(before) as usize,
            Schedule::Plain | Schedule::Fractional => stage,
        }
    }

    /// Records the result of an episode. Returns true if the stage increases.
    pub fn record(&mut self, config: &CurriculumConfig, depth: usize, solved: bool) -> bool {
        let here = &mut self.depths[depth];
        if here.newest.len() < config.window {
            here.newest.push(solved);
        } else {
            here.solved -= u32::from(here.newest[here.at]);
            here.newest[here.at] = solved;
            here.at = (here.at + 1) % config.window;
        }
        here.solved += u32::from(solved);
        let is_full = here.newest.len() == config.window;
        let advances = config.schedule != Schedule::Even
            && depth == self.stage
            && self.stage < config.last
            && is_full
            && here.solved as f32 >= config.threshold * config.window as f32;
        self.stage += usize::from(advances);
        advances
    }

    /// Returns the success rate of the latest episodes at a depth, and the number of these episodes.
    pub fn success(&self, depth: usize) -> (f32, usize) {
        let Depth { solved, newest, .. } = &self.depths[depth];
        (*solved as f32 / newest.len().max(1) as f32, newest.len())
    }

    /// Adapts the stage to changed settings.
    pub(super) fn adapt(&mut self, config: &CurriculumConfig) {
        self.stage = match config.schedule {
            Schedule::Even => config.last,
            _ => self.stage.clamp(config.first, config.last),
        };
    }

    /// Returns words for a checkpoint: the stage, then for each depth the index of the next write, the number of results and the results.
    pub(super) fn words(&self) -> Vec<u32> {
        let mut words = vec![self.stage as u32];
        for Depth { newest, at, .. } in &self.depths {
            words.extend([*at as u32, newest.len() as u32]);
            words.extend(newest.iter().map(|&solved| u32::from(solved)));
        }
        words
    }

    pub(super) fn from_words(config: &CurriculumConfig, words: &[u32]) -> Option<Curriculum> {
        let mut it = Curriculum::new(config);
        let mut words = words.iter().copied();
        let stage = words.next()? as usize;
        it.stage = (1..=DEEPEST).contains(&stage).then_some(stage)?;
        for depth in &mut it.depths {
            let (at, len) = (words.next()? as usize, words.next()? as usize);
            if len > config.window || at >= config.window || (len < config.window && at > 0) {
                return None;
            }
            depth.at = at;
            for _ in 0..len {
                let solved = words.next().filter(|&solved| solved < 2)?;
                depth.newest.push(solved == 1);
                depth.solved += solved;
            }
        }
        words.next().is_none().then_some(it)
    }
}
