//! Hints, and reviews of earlier actions in a session.

use super::{GameSession, refused};
use crate::RunError;
use crate::backgammon::analysis::{self, position, steps};
use crate::backgammon::players::PlayerPool;
use crate::backgammon::protocol::{Analysis, CubeAct, CubeReview, Engine, Judged, Moment, Played, Review, Verdict};
use crate::backgammon::record::{Action, seat};
use worlds::backgammon::{self as rules, Game, GameState, Player as Seat, Roll, notation};

impl GameSession {
    pub fn hint(&self, engine: Engine, players: &mut PlayerPool) -> Result<Analysis, RunError> {
        if self.actor().is_none() {
            return Err(refused("there is no decision to make now", "Throw the dice, or begin the next game"));
        }
        analysis::analysis(players, engine, &self.game, self.kept.setup.cube, self.game.dice())
    }

    pub fn review(&mut self, engine: Engine, players: &mut PlayerPool) -> Result<Review, RunError> {
        let (before, roll, after, reviewed) = self.turn_done.ok_or_else(|| refused("you have not moved yet in this game", "Move first"))?;
        let mut review = analysis::review(players, engine, &before, roll, &after)?;
        // A move counts only in its first review. A forced move never counts.
        if !reviewed && review.of > 1 {
            self.kept.reviewed += 1;
            self.kept.lost += review.error;
        }
        self.turn_done = Some((before, roll, after, true));
        (review.reviewed, review.lost) = (self.kept.reviewed, self.kept.lost);
        Ok(review)
    }

    pub fn review_cube(&self, engine: Engine, players: &mut PlayerPool) -> Result<Option<CubeReview>, RunError> {
        let Some((game, did)) = self.cube_done else { return Ok(None) };
        let chances = expected(players, engine, &game)?;
        Ok(Some(analysis::review_cube(&game, &chances, did)))
    }

    /// Returns an entry for each action of this game so far, except rolls.
    pub(super) fn played(&self) -> Vec<Played> {
        let mut entries = Vec::new();
        self.replay(|before, action, _| {
            let dice = before.dice().filter(|_| matches!(action, Action::Moved(_))).map(Roll::dice);
            entries.push(Played { seat: action.seat(before), dice, text: action.text(before), id: before.gnu_id() });
        });
        entries
    }

    /// Calls `visit` for each action of this game except rolls. The arguments are the game before the action, the action, and the game
    /// before the latest roll. If there was no roll yet, the third argument is a new game.
    fn replay(&self, mut visit: impl FnMut(&Game, Action, &Game)) {
        let mut before_roll = Game::new(self.now.stakes);
        self.now.replay(|before, action| match action {
            Action::Rolled(_) => before_roll = *before,
            _ => visit(before, action, &before_roll),
        });
    }

    /// Returns the game before the action with index `at`, the action, and the game before the latest roll. The index counts all actions
    /// except rolls.
    fn done_at(&self, at: u32) -> Result<(Game, Action, Game), RunError> {
        let mut all = Vec::new();
        self.replay(|before, action, before_roll| all.push((*before, action, *before_roll)));
        let found = all.get(at as usize).copied();
        found.ok_or_else(|| refused("there is no such entry in this game", "Choose one from its list of moves"))
    }

    pub fn moment(&self, at: u32) -> Result<Moment, RunError> {
        let (game, action, _) = self.done_at(at)?;
        let board = if game.on_roll() == Seat::One { game.board() } else { game.board().turned() };
        let (dice, way) = match (action, game.dice()) {
            (Action::Moved(after), Some(roll)) => (Some(roll.dice()), notation::route(&game.board(), roll, &after)?),
            _ => (None, Vec::new()),
        };
        Ok(Moment {
            position: position(&board),
            cube: game.cube().value,
            cube_owner: game.cube().owner.map(seat),
            seat: action.seat(&game),
            dice,
            steps: steps(&way),
            text: action.text(&game),
            id: game.gnu_id(),
        })
    }

    pub fn judge(&self, at: u32, engine: Engine, players: &mut PlayerPool) -> Result<Judged, RunError> {
        let (game, action, before_roll) = self.done_at(at)?;
        let (stood, did) = match action {
            Action::Moved(_) => (before_roll, CubeAct::NoDouble),
            Action::Doubled => (game, CubeAct::Double),
            Action::Took => (game, CubeAct::Take),
            _ => (game, CubeAct::Pass),
        };
        // The chances are defined only with a player on roll. Before the opening roll, no player is on roll, so the player with the larger
        // die counts as the player on roll.
        let stood = match stood.state() {
            GameState::Opening => game.before_roll(),
            GameState::ToPlay(_) => before_roll,
            _ => stood,
        };
        let opening = before_roll.state() == GameState::Opening && matches!(action, Action::Moved(_));
        let chances = expected(players, engine, &stood)?;
        let equities = stood.cube_equities(&chances);
        let worth = if stood.state() == GameState::Doubled { equities.doubled() } else { equities.best() };
        let mut judged = Judged {
            equity: if stood.on_roll() == Seat::One { worth } else { -worth },
            move_error: None,
            cube_error: None,
            verdict: Verdict::Best,
            best_move: None,
            best_cube: None,
        };
        let decided = self.kept.setup.cube && equities.may_double && !opening;
        if decided && !matches!(action, Action::Resigned { .. }) {
            let review = analysis::review_cube(&stood, &chances, did);
            judged.cube_error = Some(review.error);
            judged.best_cube = (review.best != review.did).then_some(review.best);
        }
        if let (Action::Moved(after), Some(roll)) = (action, game.dice()) {
            let review = analysis::review(players, engine, &game, roll, &after)?;
            if review.of > 1 {
                judged.move_error = Some(review.error);
                judged.best_move = (review.error > 0.0).then_some(review.best.text);
            }
        }
        let worst = judged.move_error.unwrap_or(0.0).max(judged.cube_error.unwrap_or(0.0));
        judged.verdict = analysis::verdict(worst);
        Ok(judged)
    }
}

/// Returns the engine's evaluation of the chances before the roll; an error if the engine gives no evaluations.
fn expected(players: &mut PlayerPool, engine: Engine, game: &Game) -> Result<rules::Chances, RunError> {
    let expected = players.player(engine)?.expects(game.board());
    expected.ok_or_else(|| refused("this player gives no evaluations", "Ask the agent"))
}
