//! Names and shapes of the arrays that contain saved games.

use super::replay::WORDS;
use super::selfplay::{Games, SAVED, Unread};
use crate::state::words;
use crate::{Data, Find, Parts, SavedError};

pub const GAMES: &str = "games";
pub const TRACES: &str = "traces";
const SEARCHES: &str = "searches";

/// Returns saved games as arrays. The array of the searches is absent if no search continues.
pub fn games_parts<'a>(of: impl Iterator<Item = &'a Games> + Clone) -> Parts {
    let all = |words: fn(&Games) -> &Vec<u32>| of.clone().flat_map(words).copied().collect::<Vec<u32>>();
    let [games, traces, searches] = [all(|one| &one.games), all(|one| &one.traces), all(|one| &one.searches)];
    let mut parts = vec![
        (GAMES.into(), vec![games.len() / SAVED, SAVED], Data::U32(games)),
        (TRACES.into(), vec![traces.len() / WORDS, WORDS], Data::U32(traces)),
    ];
    if !searches.is_empty() {
        parts.push((SEARCHES.into(), vec![searches.len()], Data::U32(searches)));
    }
    parts
}

/// Reads the arrays of [`games_parts`].
pub fn unread<'a>(find: &Find<'a>) -> Result<Unread<'a>, SavedError> {
    let searches = if find(SEARCHES).is_some() { words(find, SEARCHES)? } else { &[] };
    Ok(Unread { games: words(find, GAMES)?, traces: words(find, TRACES)?, searches })
}
