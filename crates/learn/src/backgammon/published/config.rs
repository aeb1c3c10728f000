//! Settings, and why some cannot be used.

use super::net::Shape;
use super::trainer::SHARDS;
use super::tree::Rule;
use crate::SavedError;
use crate::settings;
use crate::settings::{Field, SettingError, Settings, between, count, linear, log, multiple, whole};
use graph::Adam;
use std::ops::Range;

settings! {
    pub struct PublishedConfig {
        live lr: f32 = 1e-3, [log(1e-5, 0.1).down_to(0.0).up_to(1.0), "Learning rate", "",
            "How far each update moves the network. Too small and nothing happens; too large and it forgets what it knew."];
        /// The two halves of a double share a turn's.
        fixed evals: usize = 100, [count(2.0, 2000.0), "Search: simulations a decision", "ways down",
            "How often each decision of its own games is followed down the tree. More play better, and fewer games."];
        fixed exploration: f32 = 0.5, [linear(0.0, 10.0), "PUCT exploration constant c", "",
            "How much the search tries what the network thinks likely beside what has turned out well (c of PUCT)."];
        /// What an action nobody tried is thought to be worse, in points.
        fixed doubt: f32 = 0.0;
        /// What a way down counts until it comes back, in points.
        fixed virtual_loss: f32 = 1.0;
        fixed noise: f32 = 0.25, [linear(0.0, 1.0), "Dirichlet noise", "",
            "Share of chance in what is searched first, so that games differ."];
        fixed noise_alpha: f32 = 0.3, [linear(0.01, 1.0), "Dirichlet α: shape of the noise", "",
            "Parameter of the Dirichlet distribution: small gives chance to few moves, large to all."];
        fixed temperature: f32 = 0.5, [linear(0.0, 4.0), "Temperature", "",
            "How freely the first moves of a game are drawn from those searched; at 0 the most searched is always played."];
        fixed warm_decisions: u32 = 20, [whole(0.0, 500.0), "Temperature moves", "moves", "How many first moves of a game are drawn so."];
        fixed actors: usize = 8, [as "tables", count(1.0, 256.0), "Self-play actors", "actors", "Groups of games that threads share."];
        fixed games: usize = 48, [count(1.0, 1024.0), "Games an actor", "games", "How many games each table plays at once."];
        fixed batch: usize = 160, [count(2.0, 1024.0), "Positions a batch", "positions",
            "How many positions of a table's games the network values together."];
        /// Ways down one tree in a batch.
        fixed leaves: usize = 4;
        fixed round_batches: usize = 320, [count(1.0, 1e5), "Length of a round", "batches",
            "Batches that each actor has valued before its games are learned from."];
        fixed replay: usize = 65_536, [count(256.0, 1_000_000.0).down_to(1.0), "Replay: positions kept", "positions",
            "How many positions of the last games are kept to learn from."];
        fixed minibatch: usize = 256,
            [count(32.0, 8192.0).down_to(SHARDS as f64).up_to(65_536.0), "Minibatch: positions an update", "positions",
                "How many positions each update of the network is a mean over."];
        live passes: usize = 4, [count(1.0, 100.0), "Epochs: passes over the data", "",
            "How often the positions of a round are learned from, about."];
        live most_updates: usize = 200, [count(1.0, 10_000.0).down_to(0.0).up_to(1e6), "Updates a round at most", "updates",
            "A cap on learning, so that it does not hold up the games."];
        live weight_decay: f32 = 1e-4, [linear(0.0, 0.1), "Weight decay", "", "How fast weights shrink that nothing holds up."];
        live value_coef: f32 = 1.0, [linear(0.0, 10.0).up_to(100.0), "Value coefficient: weight of the outcome", "",
            "How much how the game ended counts beside what the search preferred."];
        live max_grad_norm: f32 = 5.0, [log(0.05, 100.0), "Max gradient norm", "",
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network."];
        fixed generation_rounds: usize = 8, [count(1.0, 1000.0), "Rounds a generation", "rounds",
            "After so many rounds it plays against itself as it was at the last such time."];
        fixed duel_pairs: usize = 64, [whole(0.0, 10_000.0), "Games of that match", "pairs",
            "Pairs of games with the same dice in that match; 0 plays none."];
        fixed width: usize = Shape::PUBLISHED.width, [count(16.0, 1024.0), "Hidden units: width of the network", "units",
            "Units in each layer of the network, a multiple of 16; AlphaZero.jl has 128. More can know more, and take longer."];
        fixed blocks: usize = Shape::PUBLISHED.blocks, [whole(0.0, 16.0), "Depth: residual blocks", "blocks",
            "Blocks of two layers each, one behind the other; AlphaZero.jl has 3."];
    }
}

impl PublishedConfig {
    pub(super) fn shape(&self) -> Shape {
        Shape { width: self.width, blocks: self.blocks }
    }

    pub(super) fn rule(&self) -> Rule {
        Rule { exploration: self.exploration, doubt: self.doubt, loss: self.virtual_loss }
    }

    pub(super) fn adam(&self) -> Adam {
        Adam { lr: self.lr, weight_decay: self.weight_decay, max_grad_norm: self.max_grad_norm, ..Adam::default() }
    }

    pub fn check(&self) -> Result<(), PublishedError> {
        self.in_range()?;
        between("leaves", self.leaves, 1, 64)?;
        for (name, value, most) in [("doubt", self.doubt, 6.0), ("virtual_loss", self.virtual_loss, 100.0)] {
            linear(0.0, most).kind.check(name, &value.get())?;
        }
        multiple("width", self.width, 16)?;
        Ok(multiple("minibatch", self.minibatch, SHARDS)?)
    }
}

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("settings that games and searches are made for were changed; begin a new run with them")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error("actors {found:?} were brought where {due:?} are due; bring those of this round in their order")]
    OtherPieces { found: Range<u64>, due: Range<u64> },
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}
