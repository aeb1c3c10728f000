//! A game session: persons and engines in two seats, money or a match, with the dice of a seed. It keeps a record
//! from which all else follows, so that a game is saved, gone on with and written out as text.
//!
//! It refuses what the rules refuse, and then nothing has changed. It never acts by itself: an engine does one thing when it is
//! told to.

mod looking;
mod saved;

use super::analysis::{self, position, steps};
use super::players::PlayerPool;
use super::protocol::{Act, AllowedActs, CubeAct, EndedBy, Ending, Engine, EngineAct, Phase, Reply, Session, Setup};
use super::record::{Action, Record, seat};
use crate::RunError;
use math::Rng;
use serde::{Deserialize, Serialize};
use worlds::backgammon::notation::{self, Play};
use worlds::backgammon::{self as rules, Board, Game, Match, Player as Seat, Results, Roll, Stage, Stakes};

/// Apart from the streams that learners and duels draw from.
const DICE: u32 = 0x5441_424C;
/// Words of the dice's stream for each throw.
const THROW: u64 = 4;
const LONGEST_MATCH: u16 = 64;
/// Of money play, so many games are saved.
const GAMES_KEPT: usize = 100;
/// Candidates of a reply that are told.
const CONSIDERED: usize = 10;
/// An engine declines to be given less than it expects, but for so much.
const GENEROUS: f64 = 0.05;

/// What is saved of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    pub setup: Setup,
    pub names: [String; 2],
    /// Games of which no record is kept any more, and the points in them.
    pub earlier: u32,
    pub earlier_score: [u32; 2],
    /// A word for each action.
    pub games: Vec<String>,
    pub throws: u64,
    pub reviewed: u32,
    pub lost: f64,
}

pub(crate) struct GameSession {
    /// What is saved as it stands; the games, once they are asked for.
    kept: SavedSession,
    /// Games before this one.
    done: Vec<Record>,
    now: Record,
    game: Game,
    resigned: Option<rules::Ending>,
    play: Option<Play>,
    reply: Option<Reply>,
    /// The last turn of a person, and whether it was reviewed.
    turn_done: Option<(Game, Roll, Board, bool)>,
    /// A person's last decision on the cube, and how the game stood before it.
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

    /// Whoever has the next thing to do; nobody in particular at the opening, and nobody once the game has ended.
    fn actor(&self) -> Option<Seat> {
        if self.ending().is_some() {
            return None;
        }
        match self.game.stage() {
            Stage::Opening | Stage::Over(_) => None,
            Stage::ToRoll | Stage::ToPlay(_) => Some(self.game.on_roll()),
            Stage::Doubled => Some(self.game.on_roll().other()),
        }
    }

    fn engine(&self, player: Seat) -> Option<Engine> {
        self.kept.setup.seats[player as usize]
    }

    fn no_person_plays(&self) -> bool {
        self.kept.setup.seats.iter().all(Option::is_some)
    }

    /// An engine has the next thing to do.
    fn engines_turn(&self) -> Option<Seat> {
        match self.actor() {
            Some(player) => self.engine(player).map(|_| player),
            None if self.ending().is_none() && self.no_person_plays() => Some(Seat::One),
            None => None,
        }
    }

    /// A person has it.
    fn persons_turn(&self) -> Option<Seat> {
        self.actor().filter(|&player| self.engine(player).is_none())
    }

    fn may_double(&self) -> bool {
        self.kept.setup.cube && self.ending().is_none() && self.game.may_double()
    }

    fn ending(&self) -> Option<rules::Ending> {
        match self.game.stage() {
            Stage::Over(ending) => Some(ending),
            _ => self.resigned,
        }
    }

    /// Does what it is told, or says why not and leaves everything as it was.
    pub fn act(&mut self, act: &Act, players: &mut PlayerPool) -> Result<(), RunError> {
        match act {
            Act::Roll => {
                let opening = self.game.stage() == Stage::Opening && !self.no_person_plays();
                let mine = self.persons_turn().is_some() && self.game.stage() == Stage::ToRoll;
                if !(opening || mine) {
                    return Err(refused("There are no dice to throw now", "See whose turn it is"));
                }
                let before = self.game;
                self.throw()?;
                // To roll is a decision on the cube where it could have been turned.
                let may_double = self.kept.setup.cube && before.may_double();
                self.cube_done = may_double.then_some((before, CubeAct::NoDouble));
                Ok(())
            }
            Act::Double => {
                if self.persons_turn().is_none() || !self.may_double() {
                    return Err(refused("The cube cannot be turned now", "It is turned before one's own roll, by whoever may"));
                }
                self.cube_done = Some((self.game, CubeAct::Double));
                self.done(Action::Doubled)
            }
            Act::Take | Act::Pass => {
                if self.persons_turn().is_none() || self.game.stage() != Stage::Doubled {
                    return Err(refused("No double is offered to you", "See whose turn it is"));
                }
                let take = *act == Act::Take;
                self.cube_done = Some((self.game, if take { CubeAct::Take } else { CubeAct::Pass }));
                self.answer(take)
            }
            Act::Step { from, to } => Ok(self.playing()?.take(*from, *to).map(drop)?),
            // A candidate's id says in a match what is played for, too.
            Act::Play { id } => self.lay(|_, _| Ok(Board::from_id(id.trim().split(':').next().unwrap_or_default())?)),
            Act::Write { text } => self.lay(|board, roll| Ok(notation::read(board, roll, text)?)),
            Act::Undo { all } => {
                let play = self.playing()?;
                if play.undo().is_none() {
                    return Err(refused("There is nothing to take back in this turn", "Make a step first"));
                }
                while *all && play.undo().is_some() {}
                Ok(())
            }
            Act::Confirm => {
                let play = self.playing()?;
                if !play.is_whole() {
                    return Err(refused("The roll is not played yet", "Make the steps that are left"));
                }
                let after = play.board();
                self.end_turn(after)
            }
            Act::Reply => self.reply(players),
            Act::Resign { points } => self.resign(*points, players),
            Act::NextGame => self.next_game(),
        }
    }

    /// Makes the steps to a result of the roll, in place of those made so far.
    fn lay(&mut self, result: impl FnOnce(&Board, Roll) -> Result<Board, RunError>) -> Result<(), RunError> {
        let Stage::ToPlay(roll) = self.game.stage() else { return Err(no_move_due()) };
        let board = self.game.board();
        let mut play = Play::new(board, roll);
        for step in notation::route(&board, roll, &result(&board, roll)?)? {
            play.take(step.from, step.to)?;
        }
        *self.playing()? = play;
        Ok(())
    }

    /// The turn that a person is playing.
    fn playing(&mut self) -> Result<&mut Play, RunError> {
        if self.persons_turn().is_none() {
            return Err(no_move_due());
        }
        self.play.as_mut().ok_or_else(no_move_due)
    }

    /// The dice of a turn; at the opening until they differ.
    fn throw(&mut self) -> Result<(), RunError> {
        let opening = self.game.stage() == Stage::Opening;
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
        self.done(Action::Rolled(dice))?;
        self.kept.throws = throws;
        Ok(())
    }

    fn end_turn(&mut self, after: Board) -> Result<(), RunError> {
        let Stage::ToPlay(roll) = self.game.stage() else { return Err(no_move_due()) };
        let before = self.game;
        self.done(Action::Moved(after))?;
        if self.engine(before.on_roll()).is_none() {
            self.turn_done = Some((before, roll, after, false));
        }
        Ok(())
    }

    fn answer(&mut self, take: bool) -> Result<(), RunError> {
        self.done(if take { Action::Took } else { Action::Passed })
    }

    /// Does it and keeps it in the record.
    fn done(&mut self, action: Action) -> Result<(), RunError> {
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

    /// What an engine thinks comes first, so that a refusal finds everything as it was.
    fn reply(&mut self, players: &mut PlayerPool) -> Result<(), RunError> {
        let player = self.engines_turn().ok_or_else(|| refused("It is not an engine's turn", "See whose it is"))?;
        for engine in self.kept.setup.seats.into_iter().flatten() {
            players.player(engine)?;
        }
        match self.game.stage() {
            Stage::Doubled => {
                let chances = self.expects(player, players)?;
                // Who has no opinion plays on.
                let take = chances.is_none_or(|theirs| self.game.should_take(&theirs.turned()));
                return match take {
                    true => self.replied(player, EngineAct::Took, Action::Took),
                    false => self.replied(player, EngineAct::Passed, Action::Passed),
                };
            }
            Stage::ToRoll if self.may_double() => {
                let chances = self.expects(player, players)?;
                if chances.is_some_and(|chances| self.game.should_double(&chances)) {
                    self.replied(player, EngineAct::Doubled, Action::Doubled)?;
                    return Ok(());
                }
                self.throw()?;
            }
            Stage::Opening | Stage::ToRoll => self.throw()?,
            Stage::ToPlay(_) | Stage::Over(_) => {}
        }
        let Stage::ToPlay(roll) = self.game.stage() else { return Err(no_move_due()) };
        let game = self.game;
        let (player, before) = (game.on_roll(), game.board());
        let asked = self.engine(player).ok_or_else(no_move_due)?;
        let engine = players.player(asked)?;
        // Who has no opinion chooses all the same.
        let (considered, after) = match engine.expects(before) {
            Some(_) => analysis::considered(players, asked, &game, roll)?,
            None => {
                let mut chosen = Vec::new();
                engine.choose(&[(before, roll)], &mut chosen);
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

    /// What the engine in this seat expects before the roll, where it has an opinion.
    fn expects(&self, player: Seat, players: &mut PlayerPool) -> Result<Option<rules::Chances>, RunError> {
        let engine = self.engine(player).ok_or_else(no_move_due)?;
        Ok(players.player(engine)?.expects(self.game.board()))
    }

    /// An engine does something without dice.
    fn replied(&mut self, player: Seat, did: EngineAct, action: Action) -> Result<(), RunError> {
        let text = action.text(&self.game);
        self.done(action)?;
        self.reply = Some(Reply { seat: seat(player), did, dice: None, text, before: None, steps: Vec::new(), candidates: Vec::new() });
        Ok(())
    }

    fn resign(&mut self, level: u32, players: &mut PlayerPool) -> Result<(), RunError> {
        let player = self.persons_turn().ok_or_else(|| refused("A game is given up on one's own turn", "Wait for it"))?;
        if !(1..=3).contains(&level) {
            return Err(refused("A game is given up for 1, 2 (a gammon) or 3 points (a backgammon)", "Choose one"));
        }
        if let Some(engine) = self.engine(player.other()) {
            let expected = players.player(engine)?.expects(self.game.board());
            let theirs = expected.map(|chances| if self.game.on_roll() == player { chances.turned() } else { chances });
            if theirs.is_some_and(|chances| chances.equity() > f64::from(level) + GENEROUS) {
                let who = &self.kept.names[player.other() as usize];
                return Err(refused(&format!("{who} expects more than that and declines"), "Offer more, or play on"));
            }
        }
        self.done(Action::Resigned { seat: seat(player), level })
    }

    fn next_game(&mut self) -> Result<(), RunError> {
        let ending = self.ending().ok_or_else(|| refused("This game goes on", "Play it to its end, or resign"))?;
        let stakes = match self.game.stakes() {
            Stakes::Money => Stakes::Money,
            Stakes::Match(standing) => {
                let next = standing.after(ending);
                if next.winner().is_some() {
                    return Err(refused("The match is over", "Begin another"));
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

    /// Does again what was done once.
    fn redo(&mut self, action: Action) -> Result<(), RunError> {
        match action {
            Action::Moved(after) => self.end_turn(after),
            Action::Doubled if !self.kept.setup.cube => Err(refused("This session has no cube", "Begin another")),
            Action::Resigned { level, .. } if self.ending().is_some() || !(1..=3).contains(&level) => {
                Err(refused("This game cannot be given up", "Begin another"))
            }
            _ => self.done(action),
        }
    }

    /// Points in games that have ended, this one too.
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

    pub fn view(&self) -> Session {
        let ending = self.ending();
        let on_roll = self.game.on_roll();
        let board = self.play.as_ref().map_or(self.game.board(), Play::board);
        let seen_by_first = if on_roll == Seat::One { board } else { board.turned() };
        let person = self.persons_turn().is_some();
        let stage = self.game.stage();
        let opening = stage == Stage::Opening && ending.is_none();
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
            phase: match stage {
                _ if ending.is_some() => Phase::Over,
                Stage::Opening => Phase::Opening,
                Stage::ToRoll => Phase::ToRoll,
                Stage::Doubled => Phase::Doubled,
                Stage::ToPlay(_) => Phase::ToPlay,
                Stage::Over(_) => Phase::Over,
            },
            turn: ending.map_or_else(|| seat(self.actor().unwrap_or(Seat::One)), |ending| seat(ending.winner)),
            dice: match (stage, self.now.actions.last()) {
                (Stage::ToPlay(_), Some(Action::Rolled(dice))) if ending.is_none() => Some(*dice),
                _ => None,
            },
            left: self.play.as_ref().map_or(Vec::new(), Play::left),
            steps: self.play.as_ref().map_or(Vec::new(), |play| steps(play.taken())),
            legal: play.map_or(Vec::new(), |play| steps(&play.open())),
            may: AllowedActs {
                roll: opening && !self.no_person_plays() || person && stage == Stage::ToRoll,
                double: person && self.may_double(),
                answer: person && stage == Stage::Doubled,
                undo: play.is_some_and(|play| !play.taken().is_empty()),
                confirm: play.is_some_and(Play::is_whole),
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

    /// A person plays, and not engines alone.
    pub fn is_played(&self) -> bool {
        self.kept.setup.seats.contains(&None)
    }
}

fn no_move_due() -> RunError {
    refused("No move of yours is due", "See whose turn it is")
}
