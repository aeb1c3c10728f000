//! What a learner takes of memory, reckoned before it is made.

use super::config::{PublishedConfig, PublishedError};
use super::net::{self, Weights};
use super::player::{self, PublishedPlayer};
use super::replay;
use super::selfplay::Actor;
use super::trainer::SHARDS;
use math::Isa;
use worlds::backgammon::Results;

impl PublishedConfig {
    /// Bytes that a run with these settings takes, about, and rather more than less: for who has to refuse one that does not fit
    /// before anything is allocated. A save takes a copy of the samples besides. Settings that cannot be used take more than there
    /// is.
    pub fn bytes(&self) -> u64 {
        // A little for plans and names. Casts saturate.
        self.reckoned().map_or(u64::MAX, |bytes| (1.05 * bytes) as u64)
    }

    fn reckoned(&self) -> Result<f64, PublishedError> {
        self.check()?;
        let (isa, shape) = (Isa::best(), self.shape());
        let search = net::plan_search(shape, self.batch, isa)?;
        let player = net::plan_search(shape, player::ROWS, isa)?;
        let rows = self.minibatch / SHARDS;
        let learning = net::plan_learning(shape, rows, isa)?;
        let actors = self.actors as f64 * Actor::bytes(&search, self);
        let replay = self.replay as f64 * size_of::<replay::Sample>() as f64;
        // The weights, those of the generation before, two moments, the gradient's shards and their sum; packed both ways, in panels that
        // are filled up.
        const PANELS: f64 = 1.05;
        let weights = 4.0 * shape.parameters() as f64 * (2.0 + 2.0 + SHARDS as f64 + 1.0 + 2.0 * PANELS);
        let trainer = weights + SHARDS as f64 * (learning.arena_bytes() as f64 + Results::BYTES as f64);
        let duel = if self.duel_pairs > 0 { 2.0 * PublishedPlayer::bytes(&player, shape) } else { 0.0 };
        Ok(actors + replay + trainer + Weights::bytes(shape) + duel)
    }
}
