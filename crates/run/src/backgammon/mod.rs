//! The backgammon room. A run trains a learner. Users analyse positions and play games in the meantime. Other programs can use the players
//! and the rules.

pub(crate) mod analysis;
pub mod decisions;
#[cfg(feature = "export")]
mod export;
pub mod fibs;
mod frozen;
mod learners;
mod player_lines;
mod players;
pub mod protocol;
mod record;
mod room;
mod rules_lines;
mod schema;
mod session;
mod sessions;
mod testing;
mod transcript;

pub use learn::backgammon::{Player, arena, baselines};
pub use player_lines::{PlayerLines, Reply};
pub use room::{Backgammon, player_from_checkpoint};
pub use rules_lines::{LineError, RulesLines};
pub use worlds::backgammon::{Board, Results, Roll, notation};

use crate::RunError;

/// Implements `From`, which converts errors of the crates `learn` and `worlds` to [`RunError`]. The texts of these errors contain the
/// remedy.
macro_rules! below {
    ($($error:ty),*) => {
        $(impl From<$error> for RunError {
            fn from(error: $error) -> RunError {
                RunError::below(error)
            }
        })*
    };
}
below!(
    learn::backgammon::StrongError,
    learn::backgammon::PublishedError,
    arena::DuelError,
    worlds::backgammon::BoardError,
    worlds::backgammon::IdError,
    worlds::backgammon::NoSuchRoll,
    worlds::backgammon::GameError,
    notation::NotationError
);
