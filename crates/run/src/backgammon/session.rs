//! A game session: users and engines in two seats, for money or a match, with dice from a seed. The session records every action, so that
//! games can be saved, continued and exported as text.
//!
//! An illegal action gives an error and changes nothing. An engine acts only on request. Its action is a double, the answer to a double, or
//! a roll with its move.

mod reviews;
mod saved;

use super::analysis::{self, position, steps};
use super::players::PlayerPool;
use super::protocol::{Act, AllowedActs, CubeAct, EndedBy, Ending, Engine, EngineAct, Phase, Reply, Session, Setup};
use super::record::{Action, Record, seat};
use crate::RunError;
use math::Rng;
use serde::{Deserialize, Serialize};
use worlds::backgammon::notation::{self, Play};
use worlds::backgammon::{self as rules, Board, Game, GameState, Match, Player as Seat, Results, Roll, Stakes};

/// Random stream of the dice. Learners and duels use other streams.
const DICE: u32 = 0x5441_424C;
/// Number of random words reserved for each throw in the random stream of the dice.
const THROW: u64 = 4;
const LONGEST_MATCH: u16 = 64;
/// Maximum number of completed games that a session of money play keeps.
const GAMES_KEPT: usize = 100;
/// Maximum number of candidates in a reply.
const CONSIDERED: usize = 10;
/// Margin for resignations, in points. An engine declines a resignation if the engine expects more than the offered points plus this
/// margin. All points are counted with the cube at 1.
const GENEROUS: f64 = 0.05;

/// Saved state of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    pub setup: Setup,
    pub names: [String; 2],
    /// Number of games whose records were dropped: the first games of a long session.
    pub earlier: u32,
    /// Points that each seat won in the games whose records were dropped.
    pub earlier_score: [u32; 2],
    /// Actions of each recorded game, as written by [`Record::words`].
    pub games: Vec<String>,
    pub throws: u64,
    pub reviewed: u32,
    pub lost: f64,
}

pub(crate) struct GameSession {
    /// Saved state of the session, without the recorded games. [`GameSession::saved`] adds the games.
    kept: SavedSession,
    /// Records of the games before the current game.
    done: Vec<Record>,
    now: Record,
    game: Game,
    resigned: Option<rules::Ending>,
    play: Option<Play>,
    reply: Option<Reply>,
    /// Last turn of a user: the game before the turn's move, the roll, the board after the move, and a flag that is true if the turn was
    /// reviewed.
    turn_done: Option<(Game, Roll, Board, bool)>,
    /// Last cube decision of a user. The first element is the game before this decision.
    cube_done: Option<(Game, CubeAct)>,
    scratch: Results,
}

fn refused(what: &str, next: &str) -> RunError {
    RunError::refused(what, next)
}

impl GameSession {
    pub fn new(setup: Setup, players: &mut PlayerPool) -> Result<GameSession, RunError> {
        if setup.length > LONGEST_MATCH {
            return Err(RunError::OutOfRange {
                name: "length".into(),
                value: setup.length.to_string(),
                range: format!("a match of 1 to {LONGEST_MATCH} points, or 0 for money play"),
            });
        }
        let mut names = [String::new(), String::new()];
        for (name, taken) in names.iter_mut().zip(setup.seats) {
            *name = match taken {
                None => "you".into(),
                Some(engine) => players.name(engine)?,
            };
        }
        if names[0] == names[1] {
            names = names.map(|name| name + " ");
            names[0] += "(1)";
            names[1] += "(2)";
        }
        let stakes = if setup.length == 0 { Stakes::Money } else { Stakes::Match(Match::new(setup.length)) };
        Ok(GameSession::at(setup, names, stakes))
    }

    fn at(setup: Setup, names: [String; 2], stakes: Stakes) -> GameSession {
        GameSession {
            kept: SavedSession { setup, names, ..SavedSession::default() },
            done: Vec::new(),
            now: Record::new(stakes),
            game: Game::new(stakes),
            resigned: None,
            play: None,
            reply: None,
            turn_done: None,
            cube_done: None,
            scratch: Results::new(),
        }
    }

    /// Returns the seat that has to act; `None` at the opening and after the end of the game.
    fn actor(&self) -> Option<Seat> {
        if self.ending().is_some() {
            return None;
        }
        match self.game.state() {
            GameState::Opening | GameState::Over(_) => None,
            GameState::ToRoll | GameState::ToPlay(_) => Some(self.game.on_roll()),
            GameState::Doubled => Some(self.game.on_roll().other()),
        }
    }

    fn engine(&self, player: Seat) -> Option<Engine> {
        self.kept.setup.seats[player as usize]
    }

    fn no_person_plays(&self) -> bool {
        self.kept.setup.seats.iter().all(Option::is_some)
    }

    /// Returns the seat of the engine that has to act; `None` if no engine has to act. At an opening between two engines, returns seat one.
    fn engines_turn(&self) -> Option<Seat> {
        match self.actor() {
            Some(player) => self.engine(player).map(|_| player),
            None if self.ending().is_none() && self.no_person_plays() => Some(Seat::One),
            None => None,
        }
    }

    /// Returns the seat of the user who has to act; `None` if no user has to act.
    fn persons_turn(&self) -> Option<Seat> {
        self.actor().filter(|&player| self.engine(player).is_none())
    }

    fn may_double(&self) -> bool {
        self.kept.setup.cube && self.ending().is_none() && self.game.may_double()
    }

    fn ending(&self) -> Option<rules::Ending> {
        match self.game.state() {
            GameState::Over(ending) => Some(ending),
            _ => self.resigned,
        }
    }

    /// Executes an action. An illegal action gives an error and changes nothing.
    pub fn act(&mut self, act: &Act, players: &mut PlayerPool) -> Result<(), RunError> {
        match act {
            Act::Roll => {
                let opening = self.game.state() == GameState::Opening && !self.no_person_plays();
                let mine = self.persons_turn().is_some() && self.game.state() == GameState::ToRoll;
                if !(opening || mine) {
                    return Err(refused("the dice cannot be thrown now", "Check whose turn it is"));
                }
                let before = self.game;
                self.throw()?;
                // A roll counts as the decision not to double if a double was possible.
                let may_double = self.kept.setup.cube && before.may_double();
                self.cube_done = may_double.then_some((before, CubeAct::NoDouble));
                Ok(())
            }
            Act::Double => {
                if self.persons_turn().is_none() || !self.may_double() {
                    return Err(refused(
                        "the cube cannot be turned now",
                        "Double before your own roll, if the cube is in the middle or yours",
                    ));
                }
                self.cube_done = Some((self.game, CubeAct::Double));
                self.record(Action::Doubled)
            }
            Act::Take | Act::Pass => {
                if self.persons_turn().is_none() || self.game.state() != GameState::Doubled {
                    return Err(refused("no double is offered to you", "Check whose turn it is"));
                }
                let take = *act == Act::Take;
                self.cube_done = Some((self.game, if take { CubeAct::Take } else { CubeAct::Pass }));
                self.answer(take)
            }
            Act::Step { from, to } => Ok(self.playing()?.take(*from, *to).map(drop)?),
            // In a match, a candidate's id contains stakes and score after the position and a colon.
            Act::Play { id } => self.set_steps(|_, _| Ok(Board::from_id(id.trim().split(':').next().unwrap_or_default())?)),
            Act::Write { text } => self.set_steps(|board, roll| Ok(notation::read(board, roll, text)?)),
            Act::Undo { all } => {
                let play = self.playing()?;
                if play.undo().is_none() {
                    return Err(refused("there is no step to take back in this turn", "Make a step first"));
                }
                while *all && play.undo().is_some() {}
                Ok(())
            }
            Act::Confirm => {
                let play = self.playing()?;
                if !play.is_complete() {
                    return Err(refused("the roll is not completely played", "Make the remaining steps"));
                }
                let after = play.board();
                self.end_turn(after)
            }
            Act::Reply => self.reply(players),
            Act::Resign { points } => self.resign(*points, players),
            Act::NextGame => self.next_game(),
        }
    }

    /// Calls `result` to get a board, and replaces the steps of the turn by the steps that lead to this board.
    fn set_steps(&mut self, result: impl FnOnce(&Board, Roll) -> Result<Board, RunError>) -> Result<(), RunError> {
        let GameState::ToPlay(roll) = self.game.state() else { return Err(no_move_due()) };
        let board = self.game.board();
        let mut play = Play::new(board, roll);
        for step in notation::route(&board, roll, &result(&board, roll)?)? {
            play.take(step.from, step.to)?;
        }
        *self.playing()? = play;
        Ok(())
    }

    /// Returns the turn in progress of the user who has to move; an error if no user has to move.
    fn playing(&mut self) -> Result<&mut Play, RunError> {
        if self.persons_turn().is_none() {
            return Err(no_move_due());
        }
        self.play.as_mut().ok_or_else(no_move_due)
    }

    /// Throws the dice of a turn. At the opening, repeats the throw until the two dice differ.
    fn throw(&mut self) -> Result<(), RunError> {
        let opening = self.game.state() == GameState::Opening;
        let mut throws = self.kept.throws;
        let dice = loop {
            let mut numbers = Rng::new(self.kept.setup.seed, DICE).sequence(THROW * throws);
            throws += 1;
            let [one, other] = [0; 2].map(|_: u8| 1 + numbers.below(6) as u8);
            match opening {
                true if one == other => {}
                true => break [one, other],
                false => break [one.max(other), one.min(other)],
            }
        };
        self.record(Action::Rolled(dice))?;
        self.kept.throws = throws;
        Ok(())
    }

    fn end_turn(&mut self, after: Board) -> Result<(), RunError> {
        let GameState::ToPlay(roll) = self.game.state() else { return Err(no_move_due()) };
        let before = self.game;
        self.record(Action::Moved(after))?;
        if self.engine(before.on_roll()).is_none() {
            self.turn_done = Some((before, roll, after, false));
        }
        Ok(())
    }

    fn answer(&mut self, take: bool) -> Result<(), RunError> {
        self.record(if take { Action::Took } else { Action::Passed })
    }

    /// Applies an action to the game and adds the action to the game's record.
    fn record(&mut self, action: Action) -> Result<(), RunError> {
        action.apply(&mut self.game, &mut self.scratch)?;
        self.play = self.game.dice().map(|roll| Play::new(self.game.board(), roll));
        if let Action::Resigned { seat, level } = action {
            let winner = if seat == 0 { Seat::Two } else { Seat::One };
            self.resigned = Some(rules::Ending { winner, points: level * self.game.cube().value });
            self.play = None;
        }
        self.now.actions.push(action);
        Ok(())
    }

    /// Executes the next action of the engine that has to act: a double, the answer to a double, or a roll with its move. Before the
    /// action, creates the players of both seats. If a player cannot be created, the call gives an error and changes nothing.
    fn reply(&mut self, players: &mut PlayerPool) -> Result<(), RunError> {
        let player = self.engines_turn().ok_or_else(|| refused("it is not an engine's turn", "Check whose turn it is"))?;
        for engine in self.kept.setup.seats.into_iter().flatten() {
            players.player(engine)?;
        }
        match self.game.state() {
            GameState::Doubled => {
                let chances = self.expects(player, players)?;
                // A player without evaluations takes every double.
                let take = chances.is_none_or(|theirs| self.game.should_take(&theirs.turned()));
                return match take {
                    true => self.replied(player, EngineAct::Took, Action::Took),
                    false => self.replied(player, EngineAct::Passed, Action::Passed),
                };
            }
            GameState::ToRoll if self.may_double() => {
                let chances = self.expects(player, players)?;
                if chances.is_some_and(|chances| self.game.should_double(&chances)) {
                    self.replied(player, EngineAct::Doubled, Action::Doubled)?;
                    return Ok(());
                }
                self.throw()?;
            }
            GameState::Opening | GameState::ToRoll => self.throw()?,
            GameState::ToPlay(_) | GameState::Over(_) => {}
        }
        let GameState::ToPlay(roll) = self.game.state() else { return Err(no_move_due()) };
        let game = self.game;
        let (player, before) = (game.on_roll(), game.board());
        let engine = self.engine(player).ok_or_else(no_move_due)?;
        let engine_player = players.player(engine)?;
        // A player without evaluations gives a choice but no candidates.
        let (considered, after) = match engine_player.expects(before) {
            Some(_) => analysis::considered(players, engine, &game, roll)?,
            None => {
                let mut chosen = Vec::new();
                engine_player.choose(&[(before, roll)], &mut chosen);
                (Vec::new(), chosen.first().copied().unwrap_or(before))
            }
        };
        let way = notation::route(&before, roll, &after)?;
        let candidates = analysis::candidates(&game, roll, &considered, CONSIDERED)?;
        self.end_turn(after)?;
        self.reply = Some(Reply {
            seat: seat(player),
            did: EngineAct::Played,
            dice: Some(roll.dice()),
            text: notation::words(&way),
            before: Some(position(&before)),
            steps: steps(&way),
            candidates,
        });
        Ok(())
    }

    /// Returns the chances before the roll, as the engine in the seat `player` evaluates them; `None` if the engine gives no evaluations.
    fn expects(&self, player: Seat, players: &mut PlayerPool) -> Result<Option<rules::Chances>, RunError> {
        let engine = self.engine(player).ok_or_else(no_move_due)?;
        Ok(players.player(engine)?.expects(self.game.board()))
    }

    /// Records a cube action of an engine and stores it as the latest reply.
    fn replied(&mut self, player: Seat, did: EngineAct, action: Action) -> Result<(), RunError> {
        let text = action.text(&self.game);
        self.record(action)?;
        self.reply = Some(Reply { seat: seat(player), did, dice: None, text, before: None, steps: Vec::new(), candidates: Vec::new() });
        Ok(())
    }

    fn resign(&mut self, level: u32, players: &mut PlayerPool) -> Result<(), RunError> {
        let player = self.persons_turn().ok_or_else(|| refused("a game can be resigned only on your own turn", "Wait for your turn"))?;
        if !(1..=3).contains(&level) {
            return Err(refused("a game can be resigned for 1, 2 (a gammon) or 3 points (a backgammon)", "Choose one"));
        }
        if let Some(engine) = self.engine(player.other()) {
            let expected = players.player(engine)?.expects(self.game.board());
            let theirs = expected.map(|chances| if self.game.on_roll() == player { chances.turned() } else { chances });
            if theirs.is_some_and(|chances| chances.equity() > f64::from(level) + GENEROUS) {
                let name = &self.kept.names[player.other() as usize];
                return Err(refused(&format!("{name} expects more and declines"), "Offer more, or play on"));
            }
        }
        self.record(Action::Resigned { seat: seat(player), level })
    }

    fn next_game(&mut self) -> Result<(), RunError> {
        let ending = self.ending().ok_or_else(|| refused("this game has not ended", "Play it to its end, or resign"))?;
        let stakes = match self.game.stakes() {
            Stakes::Money => Stakes::Money,
            Stakes::Match(standing) => {
                let next = standing.after(ending);
                if next.winner().is_some() {
                    return Err(refused("the match is over", "Begin another"));
                }
                Stakes::Match(next)
            }
        };
        self.begin_game(stakes);
        Ok(())
    }

    fn begin_game(&mut self, stakes: Stakes) {
        let ended = Record { ending: self.ending(), ..std::mem::replace(&mut self.now, Record::new(stakes)) };
        self.done.push(ended);
        if self.done.len() > GAMES_KEPT && stakes == Stakes::Money {
            let first = self.done.remove(0);
            self.kept.earlier += 1;
            if let Some(ending) = first.ending {
                self.kept.earlier_score[ending.winner as usize] += ending.points;
            }
        }
        self.game = Game::new(stakes);
        (self.resigned, self.play, self.reply, self.turn_done, self.cube_done) = (None, None, None, None, None);
    }

    /// Applies an action of a saved game. An illegal action is an error.
    fn redo(&mut self, action: Action) -> Result<(), RunError> {
        match action {
            Action::Moved(after) => self.end_turn(after),
            Action::Doubled if !self.kept.setup.cube => Err(refused("this session has no cube", "Begin another")),
            Action::Resigned { level, .. } if self.ending().is_some() || !(1..=3).contains(&level) => {
                Err(refused("this game cannot be resigned", "Begin another"))
            }
            _ => self.record(action),
        }
    }

    /// Returns the points of each seat in all completed games, including the current game if it has ended.
    fn score(&self) -> [u32; 2] {
        if let Stakes::Match(standing) = self.game.stakes() {
            let standing = self.ending().map_or(standing, |ending| standing.after(ending));
            return standing.score.map(u32::from);
        }
        let mut score = self.kept.earlier_score;
        let ended = self.done.iter().filter_map(|record| record.ending);
        for ending in ended.chain(self.ending()) {
            score[ending.winner as usize] += ending.points;
        }
        score
    }

    /// Returns the position, seen by the player on roll, and the roll that is to be played.
    pub fn position(&self) -> (Board, Option<Roll>) {
        let roll = if let GameState::ToPlay(roll) = self.game.state() { Some(roll) } else { None };
        (self.play.as_ref().map_or(self.game.board(), Play::board), roll)
    }

    pub fn view(&self) -> Session {
        let ending = self.ending();
        let on_roll = self.game.on_roll();
        let (board, _) = self.position();
        let seen_by_first = if on_roll == Seat::One { board } else { board.turned() };
        let person = self.persons_turn().is_some();
        let state = self.game.state();
        let opening = state == GameState::Opening && ending.is_none();
        let play = self.play.as_ref().filter(|_| person);
        let reply = self.engines_turn().is_some();
        let standing = match self.game.stakes() {
            Stakes::Money => None,
            Stakes::Match(standing) => Some(ending.map_or(standing, |ending| standing.after(ending))),
        };
        let match_over = standing.is_some_and(|standing| standing.winner().is_some());
        Session {
            setup: self.kept.setup.clone(),
            names: self.kept.names.clone(),
            position: position(&seen_by_first),
            cube: self.game.cube().value,
            cube_owner: self.game.cube().owner.map(seat),
            score: self.score(),
            xgid: self.game.xgid(),
            crawford: self.game.is_crawford(),
            game: self.kept.earlier + self.done.len() as u32 + 1,
            phase: match state {
                _ if ending.is_some() => Phase::Over,
                GameState::Opening => Phase::Opening,
                GameState::ToRoll => Phase::ToRoll,
                GameState::Doubled => Phase::Doubled,
                GameState::ToPlay(_) => Phase::ToPlay,
                GameState::Over(_) => Phase::Over,
            },
            turn: ending.map_or_else(|| seat(self.actor().unwrap_or(Seat::One)), |ending| seat(ending.winner)),
            dice: match (state, self.now.actions.last()) {
                (GameState::ToPlay(_), Some(Action::Rolled(dice))) if ending.is_none() => Some(*dice),
                _ => None,
            },
            left: self.play.as_ref().map_or(Vec::new(), Play::left),
            steps: self.play.as_ref().map_or(Vec::new(), |play| steps(play.taken())),
            legal: play.map_or(Vec::new(), |play| steps(&play.open())),
            may: AllowedActs {
                roll: opening && !self.no_person_plays() || person && state == GameState::ToRoll,
                double: person && self.may_double(),
                answer: person && state == GameState::Doubled,
                undo: play.is_some_and(|play| !play.taken().is_empty()),
                confirm: play.is_some_and(Play::is_complete),
                reply,
                resign: person,
                next_game: ending.is_some() && !match_over,
                hint: self.actor().is_some(),
                review: self.turn_done.is_some(),
            },
            reply: self.reply.clone(),
            ending: ending.map(|ending| Ending {
                winner: seat(ending.winner),
                points: ending.points,
                level: ending.points / self.game.cube().value,
                how: match self.now.actions.last() {
                    Some(Action::Resigned { .. }) => EndedBy::Resigned,
                    Some(Action::Passed) => EndedBy::Passed,
                    _ => EndedBy::BorneOff,
                },
                match_over,
            }),
            moves: self.played(),
        }
    }

    /// Returns true if a user plays in the session.
    pub fn is_played(&self) -> bool {
        self.kept.setup.seats.contains(&None)
    }
}

fn no_move_due() -> RunError {
    refused("it is not your turn to move", "Check whose turn it is")
}
