//! Interface of the learners that train by self-play, and the statistics of a round.

use super::player::Player;
use crate::{Failure, Iteration, Learner, NetworkValues, progress};
use graph::PlanError;
use worlds::backgammon::{Board, Roll};

progress! {
    games,
    /// Number of moves played. The published learner counts decisions instead: a forced move does not count, and a double has up to two
    /// decisions.
    moves,
    /// Boards evaluated by a network.
    evaluations,
    /// Optimizer steps.
    updates,
}

/// Statistics of one round. `loss` and `grad_norm` are means over the round's updates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    pub loss: f32,
    /// Mean gradient norm before clipping.
    pub grad_norm: f32,
    pub lr: f32,
    /// Mean number of moves, of both players together, in the games that ended in this round.
    pub mean_length: f32,
    /// Share of gammons among the games that ended in this round.
    pub gammons: f32,
    /// Share of backgammons among the games that ended in this round.
    pub backgammons: f32,
    /// Seconds spent in each part of [`PARTS`]; all 0 without a clock.
    pub parts_s: [f64; PARTS.len()],
    /// Number of boards evaluated in the round, which predicts the duration of later rounds. `None` until games end about as often as they
    /// begin. Always `None` for a learner that cannot be offloaded.
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
            failure: Failure::unless(stats.is_finite()),
            work: stats.steady_evaluations.map(|count| count as f64),
        }
    }
}

/// Parts into which the time of a round is divided: rules and move choice, network inputs, network, tree, targets, learning, and waiting
/// for another device.
pub const PARTS: [&str; 7] = ["rules", "inputs", "network", "tree", "targets", "learning", "device"];

/// A learner that trains by self-play. An iteration is a round of games and training. The same seed gives the same games and weights for
/// any number of threads.
pub trait SelfTaught: Learner<Stats = Stats, Progress = Progress> {
    /// Returns a player with the current weights. Later training does not change the player. The player searches if `evals`, the number of
    /// evaluations per decision, exceeds 1.
    fn player(&self, evals: u32) -> Box<dyn Player> {
        self.player_with(self.weights(), evals)
    }

    /// Returns a player with the given weights; `evals` is as in [`SelfTaught::player`].
    fn player_with(&self, weights: &[f32], evals: u32) -> Box<dyn Player>;

    /// Returns the values of the trained networks on these boards, for drawings. A board is seen by the player on roll. A network that
    /// evaluates moves reads the roll, too.
    fn networks(&self, boards: &[(Board, Roll)]) -> Result<Vec<NetworkValues>, PlanError>;

    /// Returns the network with the current weights, for other programs.
    #[cfg(feature = "export")]
    fn exported(&self) -> graph::export::Model;

    /// Returns `count` inputs of the exported network, with the results of the learner's own code.
    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<graph::export::Examples, PlanError>;
}
