//! What a shell can ask of a learner that teaches itself by playing, and what it tells of a round.

use super::player::Player;
use crate::{Iteration, Learner, progress};

progress! {
    games,
    /// Decisions played.
    moves,
    /// Boards that a network valued.
    evaluations,
    /// Steps of the optimiser.
    updates,
}

/// One round in numbers; losses are means over its updates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    pub loss: f32,
    /// Length of the whole gradient.
    pub grad_norm: f32,
    pub lr: f32,
    /// Of the games that ended in this round: their mean length in moves of either player, and the shares that ended in a
    /// gammon and in a backgammon.
    pub mean_length: f32,
    pub gammons: f32,
    pub backgammons: f32,
    /// Seconds by the clock that was set, by part: [`PARTS`].
    pub parts_s: [f64; PARTS.len()],
    /// Boards valued, where rounds are alike by now: games end as often as they begin, so that how fast one goes tells how fast the
    /// next will.
    pub steady_evaluations: Option<u64>,
}

impl Stats {
    pub fn is_finite(&self) -> bool {
        self.loss.is_finite() && self.grad_norm.is_finite()
    }
}

impl From<Stats> for Iteration {
    fn from(stats: Stats) -> Iteration {
        let metrics = [
            ("loss", stats.loss),
            ("grad_norm", stats.grad_norm),
            ("lr", stats.lr),
            ("mean_length", stats.mean_length),
            ("gammons", stats.gammons),
            ("backgammons", stats.backgammons),
        ];
        Iteration {
            metrics: metrics.map(|(name, value)| (name, Some(f64::from(value)))).to_vec(),
            parts_s: PARTS.into_iter().zip(stats.parts_s).collect(),
            finite: stats.is_finite(),
            work: stats.steady_evaluations.map(|count| count as f64),
        }
    }
}

/// Where the time of a round goes: rules and choosing, what a network reads of a board, the network, the tree, targets,
/// learning, and waiting for another machine.
pub const PARTS: [&str; 7] = ["rules", "inputs", "network", "tree", "targets", "learning", "device"];

/// Whoever teaches itself by playing. Its iterations are rounds of playing and learning. The same seed gives the same games and
/// weights, whatever the threads.
pub trait SelfTaught: Learner<Stats = Stats, Progress = Progress> {
    /// The player that it is now, which goes on unchanged while the learner learns. With more than one evaluation a decision
    /// it searches.
    fn player(&self, evals: u32) -> Box<dyn Player> {
        self.player_with(self.weights(), evals)
    }

    /// The player that it was when these were its weights.
    fn player_with(&self, weights: &[f32], evals: u32) -> Box<dyn Player>;
}
