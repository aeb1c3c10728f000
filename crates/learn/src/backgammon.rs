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

use crate::{Data, Fault, Find, Machine, Parts, Sharing};
use graph::Executor;
use math::Isa;
use published::accelerator::Work;
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

/// How far a learner has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rounds of playing and learning: what has an end at which it can be saved.
    pub rounds: u64,
    pub games: u64,
    /// Decisions played.
    pub moves: u64,
    /// Boards that a network valued.
    pub evaluations: u64,
    /// Steps of the optimiser.
    pub updates: u64,
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
}

impl Stats {
    pub fn is_finite(&self) -> bool {
        self.loss.is_finite() && self.grad_norm.is_finite()
    }
}

/// Where the time of a round goes: rules and choosing, what a network reads of a board, the network, the tree, targets,
/// learning, and waiting for another machine.
pub const PARTS: [&str; 7] = ["rules", "inputs", "network", "tree", "targets", "learning", "device"];

/// What a slice of work came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Slice {
    Worked,
    /// There is nothing to do until the other machine answers.
    Waiting,
    /// A round ended.
    Round(Stats),
    /// The other machine stopped; the learner goes on here, where it was.
    Stopped(Fault),
}

/// Whoever teaches itself by playing. The same seed gives the same games and weights, whatever the threads.
pub trait Learner: Send + Sync {
    /// One slice of work of a few milliseconds.
    fn advance(&mut self) -> Slice;

    /// Itself, where it can offload work to another machine.
    fn offloading(&mut self) -> Option<&mut dyn Offloading> {
        None
    }

    /// Itself, where others can play its games.
    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        None
    }

    /// What is offloaded now.
    fn offloaded(&self) -> Option<Work> {
        None
    }

    /// Between two rounds, where it can be saved and its settings may change.
    fn at_boundary(&self) -> bool;

    fn progress(&self) -> Progress;

    /// The player that it is now, which goes on unchanged while the learner learns. With more than one evaluation a decision
    /// it searches.
    fn player(&self, evals: u32) -> Box<dyn Player> {
        self.player_with(self.weights(), evals)
    }

    /// The player that it was when these were its [`Learner::weights`].
    fn player_with(&self, weights: &[f32], evals: u32) -> Box<dyn Player>;

    /// All that a learner is made from again, by name.
    fn parts(&self) -> Vec<(String, Vec<usize>, Data)>;

    /// Whether there is anything worth saving: a learner can be made from its parts, and losses and gradients of the last round
    /// were numbers. One that has diverged should not overwrite a good save.
    fn is_finite(&self) -> bool;

    /// All weights, for a digest and for who has another machine evaluate them.
    fn weights(&self) -> &[f32];

    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in what is learned.
    fn set_clock(&mut self, clock: fn() -> f64);

    /// What computes the gradients of its steps, where that is a plan; of several side by side the first.
    fn executor_mut(&mut self) -> Option<&mut Executor> {
        None
    }
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

/// A learner that can offload work to another machine, all of it between two rounds but for coming back.
pub trait Offloading {
    /// From here on the machine does this work.
    fn begin_offload(&mut self, machine: &dyn Machine, work: Work) -> Result<(), Fault>;

    /// From here on nobody else works. In the middle of a round it goes on where it is, as when the machine is lost.
    fn end_offload(&mut self);

    /// Whether its rounds are alike by now: games end as often as they begin, so that how fast one goes tells how fast the next will.
    fn is_steady(&self) -> bool;

    /// Begins a probe: passes over a part of a round with this work offloaded, of which nothing stays. The first makes what the rest
    /// find made.
    fn begin_probe(&mut self, machine: &dyn Machine, work: Work) -> Result<(), Fault>;

    /// One slice of the probe, which goes on until it is ended.
    fn advance_probe(&mut self) -> ProbeSlice;

    /// Boards that a pass values, at most.
    fn probe_evaluations(&self) -> u64;

    /// All stands where it stood before the probe.
    fn end_probe(&mut self);
}

/// What a slice of a probe came to.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeSlice {
    Worked,
    Waiting,
    /// A pass ended: all that it offloaded has come back.
    Passed {
        evaluations: u64,
    },
    /// The machine stopped, and the probe is over.
    Stopped(Fault),
}
