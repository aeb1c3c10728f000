//! Limits for the work of a slice: a number of multiply-adds, and a number of batches per actor. A slice does at least one unit of work,
//! which is a batch of one actor or a piece of an optimizer step. Each unit is below the limit of multiply-adds. The limits depend only on
//! the settings, so the number of threads has no effect.

use super::config::PublishedConfig;
use super::trainer::Cut;
use std::ops::Range;

/// Maximum number of batches that each actor plays in a slice.
const BATCHES: usize = 4;

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

#[cfg(test)]
mod tests {
    use super::super::net;
    use super::super::trainer::SHARDS;
    use super::*;
    use crate::state::LONGEST;
    use math::Isa;

    fn largest() -> PublishedConfig {
        PublishedConfig {
            width: 1024,
            blocks: 16,
            actors: 256,
            games: 1024,
            batch: 1024,
            round_batches: 1,
            minibatch: 65_536,
            most_updates: 1_000_000,
            ..PublishedConfig::default()
        }
    }

    fn cut(config: &PublishedConfig) -> Cut {
        let plan = net::plan_learning(config.shape(), config.minibatch / SHARDS, Isa::best());
        Cut::new(&plan.expect("a plan"), config.shape(), config.minibatch, LONGEST / 2.0)
    }

    fn stays_within(config: &PublishedConfig) {
        config.check().expect("sound settings");
        let limits = Limits::new(config, LONGEST);
        let one = limits.played(&Stretch { batches: 1, actors: 0..1 });
        assert_eq!(one, (config.batch * config.shape().decision_products()) as f64);
        let cut = cut(config);
        let mut first = 0;
        while first < config.actors {
            let stretch = limits.stretch(first..config.actors, config.round_batches);
            assert!(stretch.batches > 0 && !stretch.actors.is_empty());
            let played = limits.played(&stretch);
            let all = played + cut.piece * limits.pieces(&cut, played) as f64;
            assert!(all <= LONGEST, "{all:e} multiply-adds: {config:?}");
            first = stretch.actors.end;
        }
        let alone = limits.pieces(&cut, 0.0);
        assert!(alone > 0 && cut.piece * alone as f64 <= LONGEST, "{alone} pieces: {config:?}");
    }

    #[test]
    fn slices_stay_within_the_limit() {
        stays_within(&largest());
        stays_within(&PublishedConfig { width: 512, minibatch: 8192, ..largest() });
        stays_within(&PublishedConfig { width: 16, blocks: 0, round_batches: 1000, ..largest() });
        stays_within(&PublishedConfig { actors: 1, minibatch: 256, ..largest() });
        stays_within(&PublishedConfig { batch: 2, minibatch: 16_384, ..largest() });
    }

    #[test]
    fn default_settings_are_not_cut() {
        let config = PublishedConfig::default();
        let limits = Limits::new(&config, LONGEST);
        let stretch = limits.stretch(0..config.actors, config.round_batches);
        assert_eq!(stretch, Stretch { batches: BATCHES, actors: 0..config.actors });
        assert_eq!(limits.stretch(0..config.actors, 0), Stretch { batches: 0, actors: 0..0 });
        let cut = cut(&config);
        assert_eq!(cut.pieces(), 1);
        assert!(limits.pieces(&cut, limits.played(&stretch)) > 20);
    }
}
