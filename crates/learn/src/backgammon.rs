//! Learners of backgammon, searches and opponents, each in the folder beside it, and games that are played for a learner elsewhere.
//!
//! A board that is valued is always seen by the player who has just moved; a board that is to be moved from is seen by the
//! player who makes the roll. Chances are those of money play without a cube.

pub mod arena;
pub mod baselines;
pub mod bearoff;
mod inputs;
mod net;
mod outcomes;
mod player;
pub mod published;
#[cfg(test)]
mod random_play;
mod search;
mod self_taught;
pub mod td;

pub use player::{Candidate, Depth, Player};
pub use published::{Generation, Published, PublishedConfig, PublishedError};
pub use self_taught::{PARTS, Progress, SelfTaught, Stats};
pub use td::{Strong, StrongConfig, StrongError};

use crate::{Find, Parts};
use math::Isa;
use std::error::Error;
use std::ops::Range;

/// Plays pieces of a round for a learner wherever it is, with what its [`Sharing::due`] gave: what its [`Sharing::take`] takes.
pub fn play(due: &Find, pieces: Range<u64>, isa: Isa) -> Result<Parts, Box<dyn Error + Send + Sync>> {
    if published::shared::Round::is_in(due) {
        return Ok(published::shared::Round::from_parts(due)?.play(isa, pieces)?.parts());
    }
    Ok(td::shared::Round::from_parts(due)?.play(isa, pieces).parts())
}

/// A number that two builds share where they play the same games alike: whoever plays for a learner has to have the learner's.
pub fn fingerprint(isa: Isa) -> u64 {
    let published = published::shared::Round::fingerprint(isa).expect("a plan of known sizes");
    let hash = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3);
    published.into_iter().fold(td::shared::Round::fingerprint(isa), hash)
}
