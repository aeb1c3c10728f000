//! Settings and errors of the published learner.

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
            "Step size of each update. A small rate learns slowly; a large one can undo what was learned."];
        /// A double is played in two decisions, each of which gets half of these simulations.
        fixed evals: usize = 100, [count(2.0, 2000.0), "Simulations per decision", "simulations",
            "Search simulations for each decision in self-play. More simulations play better, and give fewer games."];
        fixed exploration: f32 = 0.5, [linear(0.0, 10.0), "PUCT exploration constant", "",
            "Weight of the network's policy relative to the search's results (c of PUCT)."];
        /// Number of points by which the assumed value of an untried action is below the value of its decision.
        fixed doubt: f32 = 0.0;
        /// Number of points that a simulation loses, by assumption, while its result is pending.
        fixed virtual_loss: f32 = 1.0;
        fixed noise: f32 = 0.25, [linear(0.0, 1.0), "Dirichlet noise", "",
            "Share of random noise in the root's priors; makes games differ."];
        fixed noise_alpha: f32 = 0.3, [linear(0.01, 1.0), "Dirichlet α", "",
            "Shape of the noise: small values favour a few moves, large values spread it over all."];
        fixed temperature: f32 = 0.5, [linear(0.0, 4.0), "Temperature", "",
            "Randomness of a game's first moves. At 0 the most visited move is always played."];
        fixed warm_decisions: u32 = 20, [whole(0.0, 500.0), "Temperature moves", "moves",
            "First moves of a game that use the temperature."];
        fixed actors: usize = 8, [as "tables", count(1.0, 256.0), "Self-play actors", "actors",
            "Groups of games, distributed over the threads."];
        fixed games: usize = 48, [count(1.0, 1024.0), "Games per actor", "games", "Games that each actor plays concurrently."];
        fixed batch: usize = 160, [count(2.0, 1024.0), "Inference batch size", "positions",
            "Positions of an actor's games that the network evaluates in one batch."];
        /// Maximum number of simulations that one tree adds to a batch.
        fixed leaves: usize = 4;
        fixed round_batches: usize = 320, [count(1.0, 1e5), "Round length", "batches",
            "Batches per actor in a round. New weights take effect in the next round."];
        fixed replay: usize = 65_536, [count(256.0, 1_000_000.0).down_to(1.0), "Replay size", "positions",
            "Latest positions kept for training."];
        fixed minibatch: usize = 256,
            [count(32.0, 8192.0).down_to(SHARDS as f64).up_to(65_536.0), "Minibatch size", "positions",
                "Positions per update of the network."];
        live passes: usize = 4, [count(1.0, 100.0), "Epochs per round", "",
            "Approximate number of passes over the positions of a round."];
        live most_updates: usize = 200, [count(1.0, 10_000.0).down_to(0.0).up_to(1e6), "Maximum updates per round", "updates",
            "Limits the training in a round, so that it does not delay the games."];
        live weight_decay: f32 = 1e-4, [linear(0.0, 0.1), "Weight decay", "", "Rate at which the weights decay towards 0."];
        live value_coef: f32 = 1.0, [linear(0.0, 10.0).up_to(100.0), "Value coefficient", "",
            "Weight of the value loss (result of the game) relative to the policy loss."];
        live max_grad_norm: f32 = 5.0, [log(0.05, 100.0), "Max gradient norm", "",
            "Longer gradients are scaled down to this norm, so that no single minibatch disturbs the training."];
        fixed generation_rounds: usize = 8, [count(1.0, 1000.0), "Rounds per generation", "rounds",
            "Rounds between two matches against the previous generation."];
        fixed duel_pairs: usize = 64, [whole(0.0, 10_000.0), "Match length", "pairs",
            "Pairs of games with the same dice in such a match; 0 plays none."];
        fixed width: usize = Shape::PUBLISHED.width, [count(16.0, 1024.0), "Hidden units", "units",
            "Units in each layer of the network; a multiple of 16. AlphaZero.jl has 128. Wider networks are stronger and slower."];
        fixed blocks: usize = Shape::PUBLISHED.blocks, [whole(0.0, 16.0), "Residual blocks", "blocks",
            "Blocks of two layers each. AlphaZero.jl has 3."];
    }
}

impl PublishedConfig {
    /// Returns the size of the network.
    pub fn shape(&self) -> Shape {
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

/// Error when the learner is created, configured or restored, or when it receives games from a worker.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("settings of the games, the search or the network are fixed; start a new run with these settings")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error("expected actors {due:?}, got {found:?}; pass the actors of this round in order")]
    OtherPieces { found: Range<u64>, due: Range<u64> },
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}
