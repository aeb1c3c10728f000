//! What crosses the boundary in the room of backgammon alone: questions about positions, and a game session in which people and
//! agents play. This file refuses to hold behaviour.
//!
//! A position is an id as GNU Backgammon writes it. Before a roll it is seen by the player who rolls, after a move by the one
//! who has just moved. Chances are six: to win a single game, a gammon, a backgammon, and to lose each of them.

use crate::protocol::Progress;
use serde::{Deserialize, Serialize};
#[cfg(feature = "typescript")]
use ts_rs::TS;

crate::questions! {
    Analyse { request: AnalysisRequest } -> Analysis,
    /// The tree one level on from a move.
    Unfold { unfold: Unfold } -> Vec<Branch>,
    /// Begins a game session, in place of the one that was there.
    NewSession { setup: Setup } -> Session,
    Act { act: Act } -> Session,
    /// What somebody would do now in the game.
    Hint { engine: Engine } -> Analysis,
    /// How bad was a person's last turn.
    Review { engine: Engine } -> Review,
    /// The games so far as text that other programs import.
    Transcript {} -> String,
    /// The game session as it stands, where there is one.
    Session {} -> Option<Session>,
}

/// What the room tells of itself, in [`crate::protocol::Event::Room`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RoomEvent {
    /// The agent as it is now is kept, to play against later.
    Frozen(Frozen),
}

/// The agent as it was; of these one can choose whom to play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Frozen {
    /// After so many minutes of training.
    pub minutes: u32,
    pub progress: Progress,
}

/// Minutes of training after which the agent is kept as it is.
pub const FREEZE_MINUTES: [u32; 3] = [1, 3, 10];

/// Somebody who plays, or who is asked for an opinion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlayerKind {
    /// The agent as it is now; it goes on learning while it plays.
    #[default]
    Now,
    /// The agent as it was after so many minutes: one of the frozen ones.
    Frozen {
        minutes: u32,
    },
    /// The baselines. They play, and have no opinion to tell.
    Random,
    Linear,
}

/// Evaluations a decision that may be asked for at most.
pub const MOST_EVALS: u32 = 50_000;

/// A question about a position, of money play.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct AnalysisRequest {
    /// Seen by the player who rolls. An id of GNU Backgammon, with or without the match's id behind a colon.
    pub id: String,
    /// The roll to be played; null asks about the position before it.
    pub dice: Option<[u8; 2]>,
    pub who: PlayerKind,
    /// Boards that may be valued for each decision; 0 and 1 mean no look-ahead.
    pub evals: u32,
}

/// What somebody thinks of a position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Analysis {
    pub position: Position,
    pub dice: Option<[u8; 2]>,
    /// Whose opinion it is, in a few words.
    pub name: String,
    pub evals: u32,
    /// With dice: every distinct result, the best first.
    pub candidates: Vec<Candidate>,
    /// Without dice: what is expected, and what to do with the cube.
    pub outlook: Option<Outlook>,
}

/// A position to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Position {
    pub id: String,
    /// Counts of whoever sees it, 26 of them: borne off, points 1 to 24 as they count them, the bar.
    pub mine: Vec<u8>,
    /// The other side's, as that side counts its own points: its point 1 is point 24 of the first.
    pub theirs: Vec<u8>,
    pub my_pips: u32,
    pub their_pips: u32,
}

/// One result of a roll.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Candidate {
    /// The id of the position after the move, seen by whoever moved.
    pub id: String,
    /// `8/5* 6/5`
    pub text: String,
    /// One way to play it.
    pub steps: Vec<Step>,
    /// Points a game that are expected.
    pub equity: f64,
    /// Points a game less than the best.
    pub loss: f64,
    pub chances: [f64; 6],
    /// Share of attention before any search, and share of the search's evaluations that went here (0 without a search).
    pub prior: f64,
    pub share: f64,
}

/// One checker moved by one die, as the mover counts points: 25 is the bar and 0 is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Step {
    pub from: u8,
    pub to: u8,
    pub hit: bool,
}

/// A position before the roll.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Outlook {
    pub chances: [f64; 6],
    /// Points a game without a cube.
    pub equity: f64,
    /// Whether whoever rolls may turn the cube, should, and whether the other should take it then.
    pub may_double: bool,
    pub double: bool,
    pub take: bool,
}

/// Asks what can come after a move: for each roll of the other player the reply that is thought best.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Unfold {
    /// After the move, seen by whoever moved: a candidate's id.
    pub id: String,
    pub who: PlayerKind,
    pub evals: u32,
}

/// One roll of the other player, and their best reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Branch {
    pub dice: [u8; 2],
    /// Of the 36 ways two dice fall.
    pub ways: u32,
    /// After the reply, seen by whoever replied.
    pub id: String,
    pub text: String,
    /// For whoever made the move that is asked about.
    pub equity: f64,
}

/// Who sits at a table, and what is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Setup {
    /// The first seat is the one that the board is drawn for. A person against the agent: `[null, {...}]`; the agent can also
    /// play itself, and two persons each other.
    pub seats: [Option<Engine>; 2],
    /// Points of the match, 64 at most; 0 is money play without end.
    pub length: u16,
    /// Play with the doubling cube.
    pub cube: bool,
    /// Of the dice.
    pub seed: u32,
}

/// A seat that no person has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Engine {
    pub who: PlayerKind,
    pub evals: u32,
}

/// What is done in a session. What may not be done is refused, and changes nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Act {
    /// Throws the dice for a person; at the opening, one die for each, until they differ.
    Roll,
    Double,
    Take,
    Pass,
    /// Moves one checker by one die.
    Step {
        from: u8,
        to: u8,
    },
    /// Makes the steps to one of the roll's results, as a hint tells its id; to confirm is still to be done.
    Play {
        id: String,
    },
    /// The same for a move as players write it: `8/5 6/5`.
    Write {
        text: String,
    },
    /// Takes back the last step, or all of them.
    Undo {
        all: bool,
    },
    /// Ends the turn after its steps.
    Confirm,
    /// An engine does the next thing that it has to do: roll and play, double, or answer a double.
    Reply,
    /// Gives the game up for 1 (single), 2 (gammon) or 3 (backgammon) times the cube. An engine that expects more declines.
    Resign {
        points: u32,
    },
    /// The next game of the match, once one has ended.
    NextGame,
}

/// A game session as it stands, for the one whom it is drawn for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Session {
    pub setup: Setup,
    /// In a few words.
    pub names: [String; 2],
    /// Seen by the first seat, with the steps of a turn in progress.
    pub position: Position,
    pub cube: u32,
    /// Who alone may turn the cube; null while nobody has.
    pub cube_owner: Option<u8>,
    /// Points so far.
    pub score: [u32; 2],
    /// The game that is played without the cube.
    pub crawford: bool,
    /// From 1.
    pub game: u32,
    pub phase: Phase,
    /// Whose turn it is to do something: 0 or 1. After the end, the winner.
    pub turn: u8,
    /// In front of whoever's turn it is: the larger first, and at the opening the first seat's.
    pub dice: Option<[u8; 2]>,
    /// Numbers still to be played, one for each step, the larger first.
    pub left: Vec<u8>,
    /// Steps of the turn so far, as whoever's turn it is counts points.
    pub steps: Vec<Step>,
    /// Steps that a person can make now, as they count points; each leads on to a whole legal move.
    pub legal: Vec<Step>,
    pub may: AllowedActs,
    /// The last turn of an engine, to be shown.
    pub reply: Option<Reply>,
    /// Once the game has ended.
    pub ending: Option<Ending>,
    /// This game so far.
    pub moves: Vec<Played>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nobody has thrown.
    #[default]
    Opening,
    ToRoll,
    /// A double is offered; it is up to the other one.
    Doubled,
    ToPlay,
    Over,
}

/// What a person can do now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct AllowedActs {
    pub roll: bool,
    pub double: bool,
    /// Take or pass.
    pub answer: bool,
    pub undo: bool,
    /// The steps make a whole legal move. Where no step is legal, so do none.
    pub confirm: bool,
    /// An engine has the next thing to do.
    pub reply: bool,
    pub resign: bool,
    pub next_game: bool,
    pub hint: bool,
    /// A turn of a person's can be evaluated.
    pub review: bool,
}

/// What an engine did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Reply {
    pub seat: u8,
    pub did: EngineAct,
    pub dice: Option<[u8; 2]>,
    pub text: String,
    /// Seen by the engine, before its move.
    pub before: Option<Position>,
    pub steps: Vec<Step>,
    /// What it considered, the best first, ten at most; empty where it has no opinion to tell.
    pub candidates: Vec<Candidate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum EngineAct {
    Played,
    Doubled,
    Took,
    Passed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Ending {
    pub winner: u8,
    /// The cube counted in.
    pub points: u32,
    /// 1, a gammon 2, a backgammon 3.
    pub level: u32,
    pub how: EndedBy,
    /// The match is over.
    pub match_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    BorneOff,
    Passed,
    Resigned,
}

/// One thing done in a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Played {
    pub seat: u8,
    pub dice: Option<[u8; 2]>,
    /// A move in notation, or what was done instead: `doubles to 2`, `takes`, `passes`, `resigns a gammon`.
    pub text: String,
    /// The position before it, seen by this player; what an analysis can be asked about.
    pub id: String,
}

/// How bad was that: a person's last turn held against the best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Review {
    pub dice: [u8; 2],
    /// Seen by the person, before the move.
    pub before: Position,
    pub yours: Candidate,
    pub best: Candidate,
    /// From 1, among so many.
    pub rank: u32,
    pub of: u32,
    pub verdict: Verdict,
    /// Of this person's turns that were reviewed at this table: how many, and the points a game lost in all of them.
    pub reviewed: u32,
    pub lost: f64,
}

/// By points lost: from 0.04 on doubtful, from 0.08 bad, from 0.16 a blunder, as GNU Backgammon draws the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Best,
    Good,
    Doubtful,
    Bad,
    Blunder,
}
