//! Estimate of the published learner's memory, for use before the learner is created.

use super::config::{PublishedConfig, PublishedError};
use super::net::{self, Weights};
use super::player::{self, PublishedPlayer};
use super::replay;
use super::selfplay::Actor;
use super::trainer::SHARDS;
use math::Isa;
use worlds::backgammon::Results;

impl PublishedConfig {
    /// Returns an upper estimate of the memory of a run with these settings, in bytes. Returns `u64::MAX` for invalid settings. A save
    /// needs additional memory for a copy of the samples and of the searches that continue.
    pub fn bytes(&self) -> u64 {
        // The factor 1.05 is a margin for the plans and the parameter names. The conversion to u64 saturates.
        self.estimate().map_or(u64::MAX, |bytes| (1.05 * bytes) as u64)
    }

    fn estimate(&self) -> Result<f64, PublishedError> {
        self.check()?;
        let (isa, shape) = (Isa::best(), self.shape());
        let search = net::plan_search(shape, self.batch, isa)?;
        let player = net::plan_search(shape, player::ROWS, isa)?;
        let rows = self.minibatch / SHARDS;
        let learning = net::plan_learning(shape, rows, isa)?;
        let actors = self.actors as f64 * Actor::bytes(&search, self);
        let replay = self.replay as f64 * size_of::<replay::Sample>() as f64;
        // The sum counts vectors of the size of the weights: weights of this generation and of the previous generation, two moments,
        // gradients of all shards, sum of the gradients, and two packed copies. `PANELS` accounts for the padding of packed copies to whole
        // panels.
        const PANELS: f64 = 1.05;
        let weights = 4.0 * shape.parameters() as f64 * (2.0 + 2.0 + SHARDS as f64 + 1.0 + 2.0 * PANELS);
        let trainer = weights + SHARDS as f64 * (learning.arena_bytes() as f64 + Results::BYTES as f64);
        let duel = if self.duel_pairs > 0 { 2.0 * PublishedPlayer::bytes(&player, shape) } else { 0.0 };
        Ok(actors + replay + trainer + Weights::bytes(shape) + duel)
    }
}
