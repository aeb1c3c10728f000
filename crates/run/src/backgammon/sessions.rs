//! The current and the previous game session, and answers to questions about sessions and positions.

use super::analysis;
use super::players::PlayerPool;
use super::protocol::Question;
use super::session::{GameSession, SavedSession};
use crate::RunError;
use crate::questions::Answer;
use worlds::backgammon::{Board, Roll};

#[derive(Default)]
pub(super) struct Sessions {
    now: Option<GameSession>,
    /// Previous session: the latest session before `now` in which a user played.
    former: Option<GameSession>,
}

impl Sessions {
    /// Restores the current session and the previous session, in this order.
    pub fn from_saved(saved: [Option<SavedSession>; 2]) -> Result<Sessions, RunError> {
        let [now, former] = saved.map(|saved| saved.as_ref().map(GameSession::from_saved).transpose());
        Ok(Sessions { now: now?, former: former? })
    }

    pub fn saved(&self) -> [Option<SavedSession>; 2] {
        [&self.now, &self.former].map(|session| session.as_ref().map(GameSession::saved))
    }

    /// Takes over the sessions of the previous run. If the previous run lacks one of the two sessions, this run keeps its own session.
    pub fn follow(&mut self, before: Sessions) {
        self.now = before.now.or(self.now.take());
        self.former = before.former.or(self.former.take());
    }

    /// Begins a session. The current session becomes the previous session if a user plays in it. Otherwise, the current session is dropped.
    fn begin(&mut self, session: GameSession) -> &GameSession {
        if let Some(before) = self.now.take().filter(GameSession::is_played) {
            self.former = Some(before);
        }
        self.now.insert(session)
    }

    /// Returns the position of the current session, seen by the player on roll, and its roll. Without a session, the position is that of
    /// the start; without a roll, the roll is 2-1.
    pub fn position(&self) -> (Board, Roll) {
        let (board, roll) = self.now.as_ref().map_or((Board::START, None), GameSession::position);
        (board, roll.unwrap_or(Roll::ALL[1]))
    }

    fn now(&mut self) -> Result<&mut GameSession, RunError> {
        self.now.as_mut().ok_or_else(|| RunError::refused("no game has begun", "Begin one"))
    }

    pub fn answer(&mut self, players: &mut PlayerPool, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Analyse { request } => Box::new(analysis::analyse(players, &request)?),
            Question::ReadId { id } => Box::new(analysis::read_id(&id)?),
            Question::Compose { draft } => Box::new(analysis::compose(&draft)?),
            Question::Unfold { unfold } => Box::new(analysis::unfold(players, &unfold)?),
            Question::NewSession { setup } => {
                let begun = GameSession::new(setup, players)?;
                Box::new(self.begin(begun).view())
            }
            Question::FormerSession {} => {
                let none = || RunError::refused("there is no previous session", "Continue the current one");
                let former = self.former.take().ok_or_else(none)?;
                Box::new(self.begin(former).view())
            }
            Question::Act { act } => {
                let session = self.now()?;
                session.act(&act, players)?;
                Box::new(session.view())
            }
            Question::Hint { engine } => Box::new(self.now()?.hint(engine, players)?),
            Question::Review { engine } => Box::new(self.now()?.review(engine, players)?),
            Question::ReviewCube { engine } => Box::new(self.now()?.review_cube(engine, players)?),
            Question::Moment { at } => Box::new(self.now()?.moment(at)?),
            Question::Judge { at, engine } => Box::new(self.now()?.judge(at, engine, players)?),
            Question::Transcript {} => Box::new(self.now()?.transcript()),
            Question::Session {} => Box::new(self.now.as_ref().map(GameSession::view)),
        })
    }
}
