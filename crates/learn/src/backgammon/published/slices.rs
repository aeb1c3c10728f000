//! Limits for the work of a slice: a number of multiply-adds, and a number of batches per actor. A slice does at least one unit of work,
//! which is a batch of one actor or a piece of an optimizer step. Each unit is below the limit of multiply-adds. The limits depend only on
//! the settings, so the number of threads has no effect.

use super::config::PublishedConfig;
use super::trainer::Cut;
use std::ops::Range;

/// Maximum number of batches that each actor plays in a slice.
pub const BATCHES: usize = 4;

pub struct Limits {
    /// Maximum number of multiply-adds of a slice.
    longest: f64,
    /// Number of multiply-adds of one actor's batch.
    batch: f64,
    /// Maximum number of batches that each actor plays in a stretch.
    batches: usize,
    /// Maximum number of actors that play in a stretch.
    actors: usize,
}

/// Part of a round that one slice plays: some actors, and the number of batches that each of them plays.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    pub batches: usize,
    pub actors: Range<usize>,
}

impl Limits {
    pub fn new(config: &PublishedConfig, longest: f64) -> Limits {
        let batch = config.batch as f64 * config.shape().decision_products() as f64;
        // Half of the slice is for games. The other half is for training.
        let half = longest / 2.0;
        let batches = ((half / (batch * config.actors as f64)) as usize).clamp(1, BATCHES);
        let actors = ((half / (batch * batches as f64)) as usize).clamp(1, config.actors);
        Limits { longest, batch, batches, actors }
    }

    /// Returns the next stretch of `actors`, which have `left` batches left in the round. The stretch contains as many of the first actors
    /// as fit. It is empty if `left` is 0.
    pub fn stretch(&self, actors: Range<usize>, left: usize) -> Stretch {
        let batches = self.batches.min(left);
        let end = if batches == 0 { actors.start } else { actors.end.min(actors.start + self.actors) };
        Stretch { batches, actors: actors.start..end }
    }

    /// Returns the number of multiply-adds of a stretch.
    pub fn played(&self, stretch: &Stretch) -> f64 {
        self.batch * (stretch.batches * stretch.actors.len()) as f64
    }

    /// Returns the number of pieces of optimizer steps that fit in a slice in which games need `played` multiply-adds. If `played` is 0,
    /// the result is at least 1.
    pub fn pieces(&self, cut: &Cut, played: f64) -> usize {
        let fitting = ((self.longest - played) / cut.piece) as usize;
        if played > 0.0 { fitting } else { fitting.max(1) }
    }
}
