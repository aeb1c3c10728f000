//! Backgammon: learners, searches and baseline players. Remote workers play a learner's games with [`play`].
//!
//! A board to be evaluated is from the point of view of the player who has just moved. A board before a move is from the point of view of
//! the player on roll. `Chances` are outcome probabilities of money play without a doubling cube.

pub mod arena;
pub mod baselines;
pub mod bearoff;
pub(crate) mod inputs;
pub(crate) mod net;
pub(crate) mod outcomes;
mod player;
pub mod published;
pub(crate) mod random_play;
mod search;
mod self_taught;
pub(crate) mod td;

pub use player::{Candidate, Depth, Player};
pub use published::{Generation, Published, PublishedConfig, PublishedError};
pub use random_play::positions;
pub use self_taught::{PARTS, Progress, SelfTaught, Stats};
pub use td::{Strong, StrongConfig, StrongError};

use crate::{Find, Parts};
use math::Isa;
use std::error::Error;
use std::ops::Range;

/// Plays the pieces of a round with the numbers `pieces`. All games of a round use the same weights. A piece is one game of the strong
/// learner ([`Strong`]), or one actor (a group of concurrent games) of the published learner ([`Published`]). `due` finds the arrays that
/// [`crate::Sharing::due`] returned. The learner accepts the result with [`crate::Sharing::take`].
pub fn play(due: &Find, pieces: Range<u64>, isa: Isa) -> Result<Parts, Box<dyn Error + Send + Sync>> {
    if published::shared::Round::is_in(due) {
        return Ok(published::shared::Round::from_parts(due)?.play(isa, pieces)?.parts());
    }
    Ok(td::shared::Round::from_parts(due)?.play(isa, pieces).parts())
}

/// Returns a hash of sample games of both learners ([`Strong`] and [`Published`]). Two builds with different hashes play differently, so a
/// worker must have the same hash as the learner.
pub fn fingerprint(isa: Isa) -> u64 {
    let published = published::shared::Round::fingerprint(isa).expect("a plan of known sizes");
    let hash = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3);
    published.into_iter().fold(td::shared::Round::fingerprint(isa), hash)
}
