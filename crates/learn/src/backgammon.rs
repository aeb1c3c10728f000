//! What learners of backgammon have in common: who chooses among the results of a roll, and what a shell can ask of a learner.
//! Learners, searches and opponents lie in the folder beside it.
//!
//! A board that is valued is always seen by the player who has just moved; a board that is to be moved from is seen by the
//! player who makes the roll. Chances are those of money play without a cube.

pub mod arena;
pub mod baselines;
pub mod bearoff;
mod inputs;
mod net;
pub mod published;
mod search;
pub mod td;

pub use published::{Generation, Published, PublishedConfig, PublishedError};
pub use td::shared::{Games, Round};
pub use td::{Strong, StrongConfig, StrongError};

use crate::progress;
use crate::{Find, Iteration, Learner, Parts};
use math::Isa;
use std::error::Error;
use std::ops::Range;
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

/// How far a player looked beyond a result. Values of different depth are not to be compared: a search finds the replies that a first
/// look does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// At the result alone.
    Static,
    /// At so many of the other side's 21 rolls, each with the best reply.
    Rolls(u8),
    /// Ways down a tree that went through it.
    Visits(u32),
    /// The game ends there, or a table knows it.
    Exact,
}

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

/// Plays pieces of a round for a learner wherever it is, with what its [`Sharing::due`] gave: what its [`Sharing::take`] takes.
pub fn play(due: &Find, pieces: Range<u64>, isa: Isa) -> Result<Parts, Box<dyn Error + Send + Sync>> {
    if published::shared::Round::is_in(due) {
        return Ok(published::shared::Round::from_parts(due)?.play(isa, pieces)?.parts());
    }
    Ok(Round::from_parts(due)?.play(isa, pieces).parts())
}

/// A number that two builds share where they play the same games alike: whoever plays for a learner has to have the learner's.
pub fn fingerprint(isa: Isa) -> u64 {
    let published = published::shared::Round::fingerprint(isa).expect("a plan of known sizes");
    let hash = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3);
    published.into_iter().fold(Round::fingerprint(isa), hash)
}
