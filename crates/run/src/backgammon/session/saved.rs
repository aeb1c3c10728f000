//! Conversion of a session to saved data and to text for other programs.

use super::{GameSession, LONGEST_MATCH, SavedSession};
use crate::RunError;
use crate::backgammon::record::{Action, Record};
use crate::backgammon::transcript;
use worlds::backgammon::{Match, Stakes};

impl GameSession {
    /// Returns all recorded games as text for other programs.
    pub fn transcript(&self) -> String {
        let now = Record { ending: self.ending(), ..self.now.clone() };
        let records: Vec<&Record> = self.done.iter().chain([&now]).collect();
        let SavedSession { setup, names, earlier, earlier_score, .. } = &self.kept;
        transcript::write(setup, names, *earlier, *earlier_score, &records)
    }

    pub fn saved(&self) -> SavedSession {
        let games = self.done.iter().chain([&self.now]).map(Record::words).collect();
        SavedSession { games, ..self.kept.clone() }
    }

    /// Restores a saved session. Returns an error if the match is too long or if there is no game. An unknown or illegal action is also an
    /// error, and so is a game after an unfinished game or after the end of a match.
    pub fn from_saved(saved: &SavedSession) -> Result<GameSession, RunError> {
        let damaged = |why: &str| RunError::Damaged { why: format!("its game session {why}") };
        let setup = saved.setup.clone();
        if setup.length > LONGEST_MATCH || saved.games.is_empty() {
            return Err(damaged("has invalid settings"));
        }
        let stakes = if setup.length == 0 { Stakes::Money } else { Stakes::Match(Match::new(setup.length)) };
        let mut session = GameSession::at(setup, saved.names.clone(), stakes);
        for (i, game) in saved.games.iter().enumerate() {
            if i > 0 {
                session.next_game().map_err(|_| damaged("continues after its end"))?;
            }
            for word in game.split_ascii_whitespace() {
                let action = Action::from_word(word).ok_or_else(|| damaged("has an unknown action"))?;
                session.redo(action).map_err(|_| damaged("has an illegal action"))?;
            }
        }
        session.kept = SavedSession { games: Vec::new(), ..saved.clone() };
        Ok(session)
    }
}
