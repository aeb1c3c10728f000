//! Who chooses among the results of a roll, and what it thinks of them.

use serde::{Deserialize, Serialize};
use worlds::backgammon::{Board, Chances, Roll};

/// Somebody who plays. Many decisions at once, so that whoever thinks with a network can think about all of them together.
pub trait Player: Send + Sync {
    /// In a few words, for a table of results.
    fn name(&self) -> String;

    /// Puts into `chosen` the result it prefers for each decision, in order. The same decisions get the same answer, whatever else is
    /// asked with them.
    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>);

    /// Every distinct result of a roll with what it thinks of it, what it would play first; nothing where it has no opinion to tell.
    fn rank(&mut self, _board: Board, _roll: Roll) -> Vec<Candidate> {
        Vec::new()
    }

    /// Whether it plays what a policy or the visits of a tree prefer, and not always what it values most.
    fn has_policy(&self) -> bool {
        false
    }

    /// What it expects of a board before the roll, seen by the player about to roll; nothing where it has no opinion.
    fn expects(&mut self, _board: Board) -> Option<Chances> {
        None
    }
}

/// One result of a roll as a player sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// After the move, seen by whoever moved.
    pub board: Board,
    /// Of whoever moved.
    pub chances: Chances,
    /// Points a game that it expects: of the chances, unless a search says otherwise.
    pub equity: f32,
    /// The same before any search.
    pub first_equity: f32,
    /// What the player would have looked at first, before any search: shares that sum to 1.
    pub prior: f32,
    /// Share of the search's evaluations that went to it; 0 where nothing was searched.
    pub share: f32,
    pub depth: Depth,
}

/// How far somebody looked beyond a result; equities of different depth are not to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Depth {
    /// Not searched: what was seen at first sight.
    #[default]
    Static,
    /// One ply: so many of the other side's 21 rolls, each with the best reply.
    Rolls { rolls: u8 },
    /// A tree, so many ways down which went through it.
    Visits { visits: u32 },
    /// Known: the game ends there, or a table has it.
    Exact,
}
