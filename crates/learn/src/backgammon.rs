//! Backgammon: learners, searches and opponents (each in the folder of this name), and games that workers play for a learner.
//!
//! A board to be valued is seen from the player who has just moved. A board to be moved from is seen from the player who is on roll.
//! Chances are those of money play without a cube.

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

/// Plays pieces of a round on any machine, from the output of [`crate::Sharing::due`]; returns the input of [`crate::Sharing::take`].
pub fn play(due: &Find, pieces: Range<u64>, isa: Isa) -> Result<Parts, Box<dyn Error + Send + Sync>> {
    if published::shared::Round::is_in(due) {
        return Ok(published::shared::Round::from_parts(due)?.play(isa, pieces)?.parts());
    }
    Ok(td::shared::Round::from_parts(due)?.play(isa, pieces).parts())
}

/// Hash of sample games. Builds with equal hashes play alike; a worker must have the same hash as the learner.
pub fn fingerprint(isa: Isa) -> u64 {
    let published = published::shared::Round::fingerprint(isa).expect("a plan of known sizes");
    let hash = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3);
    published.into_iter().fold(td::shared::Round::fingerprint(isa), hash)
}
