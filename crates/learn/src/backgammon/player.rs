//! Interface of players. A player chooses among the results of a roll (the boards after each legal move) and estimates their values.

use serde::{Deserialize, Serialize};
use worlds::backgammon::{Board, Chances, Roll};

/// A player. A decision consists of the board before the move and the roll. Decisions are passed in batches, so that a network can evaluate
/// them in one call.
pub trait Player: Send + Sync {
    /// Returns a short name for a table of results.
    fn name(&self) -> String;

    /// Appends the chosen result of each decision to `chosen`, in the order of `decisions`. A choice must not depend on the other decisions
    /// in the batch.
    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>);

    /// Returns the distinct results of a roll, best first. The list is empty if the player has no evaluation.
    fn rank(&mut self, _board: Board, _roll: Roll) -> Vec<Candidate> {
        Vec::new()
    }

    /// Returns true if the player chooses by a policy or by visit counts. The result that such a player chooses need not have the highest
    /// equity.
    fn has_policy(&self) -> bool {
        false
    }

    /// Returns the outcome probabilities of a board before the roll, for the player about to roll. Returns `None` if the player has no
    /// evaluation.
    fn expects(&mut self, _board: Board) -> Option<Chances> {
        None
    }
}

/// One result of a roll with the player's estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Board after the move, from the point of view of the player who moved.
    pub board: Board,
    /// Outcome probabilities for the player who moved.
    pub chances: Chances,
    /// Expected points per game: the equity of `chances`, or the estimate of a tree search.
    pub equity: f32,
    /// Expected points per game before any search.
    pub first_equity: f32,
    /// Probability that the player assigns to the move before any search. The priors of all candidates sum to 1.
    pub prior: f32,
    /// Share of the search's evaluations that were spent on this move; 0 without a search.
    pub share: f32,
    pub depth: Depth,
}

/// Depth of the search that computed an equity. Equities of different depths are not comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Depth {
    /// Static evaluation without a search.
    #[default]
    Static,
    /// One-ply search: mean over `rolls` of the opponent's 21 rolls, with the best reply to each.
    Rolls { rolls: u8 },
    /// Tree search: `visits` simulations passed through the move.
    Visits { visits: u32 },
    /// Exact value: the move ends the game, or a table contains the position after the move.
    Exact,
}
