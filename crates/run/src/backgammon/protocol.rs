//! What crosses the boundary in the room of backgammon alone: questions about positions, and a game session in which people and
//! agents play. This file refuses to hold behaviour.
//!
//! A position is an id as GNU Backgammon writes it. Before a roll it is seen by the player who rolls, after a move by the one
//! who has just moved. Chances are six: to win a single game, a gammon, a backgammon, and to lose each of them.

use crate::plain_data::plain_data;
use crate::protocol::Progress;
pub use learn::backgammon::Depth;

crate::questions! {
    Analyse { request: AnalysisRequest } -> Analysis,
    /// What an id says: a position id with or without a match id behind a colon, or an XGID.
    ReadId { id: String } -> Standing,
    /// The same of what an editor has, with its ids; what cannot be is refused by the part that is wrong.
    Compose { draft: Draft } -> Standing,
    /// The tree one level on from a move.
    Unfold { unfold: Unfold } -> Vec<Branch>,
    /// Begins a game session, in place of the one that was there.
    NewSession { setup: Setup } -> Session,
    /// Goes back to the session before the present one, which takes its place.
    FormerSession {} -> Session,
    Act { act: Act } -> Session,
    /// What somebody would do now in the game.
    Hint { engine: Engine } -> Analysis,
    /// How bad was a person's last turn.
    Review { engine: Engine } -> Review,
    /// How bad was a person's last decision on the cube; null where none was due yet in this game.
    ReviewCube { engine: Engine } -> Option<CubeReview>,
    /// How it stood before the one of [`Session::moves`] with this index, to be looked at again.
    Moment { at: u32 } -> Moment,
    /// How good that was.
    Judge { at: u32, engine: Engine } -> Judged,
    /// The games so far as text that other programs import.
    Transcript {} -> String,
    /// The game session as it stands, where there is one.
    Session {} -> Option<Session>,
}

/// Minutes of training after which the agent is kept as it is.
pub const FREEZE_MINUTES: [u32; 3] = [1, 3, 10];
/// Evaluations a decision that may be asked for at most.
pub const MOST_EVALS: u32 = 50_000;

plain_data! {
    /// What the room tells of itself, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// The agent as it is now is kept, to play against later.
        Frozen(Frozen),
    }

    /// The agent as it was; of these one can choose whom to play.
    pub struct Frozen {
        /// After so many minutes of training.
        pub minutes: u32,
        pub progress: Progress,
    }

    /// Somebody who plays, or who is asked for an opinion.
    #[derive(Copy, Default, Eq)]
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

    /// A question about a position.
    pub struct AnalysisRequest {
        /// As [`Question::ReadId`] reads it. A position id alone is of money play.
        pub id: String,
        /// The roll to be played, in place of one that the id tells; null asks about the position before it.
        pub dice: Option<[u8; 2]>,
        pub who: PlayerKind,
        /// Boards that may be valued for each decision; 0 and 1 mean no look-ahead.
        pub evals: u32,
    }

    /// A position with what is played for, seen by whoever is on roll.
    #[derive(Default)]
    pub struct Standing {
        pub position: Position,
        /// The same as ids of GNU Backgammon and of eXtreme Gammon.
        pub gnu_id: String,
        pub xgid: String,
        /// The id said no more than where the checkers stand.
        pub bare: bool,
        /// The id asks for the Jacoby rule, which is not played with here.
        pub jacoby: bool,
        pub dice: Option<[u8; 2]>,
        /// A double is offered by whoever is on roll.
        pub doubled: bool,
        pub cube: u32,
        /// Whether the cube belongs to whoever is on roll; null while nobody has it.
        pub cube_is_mine: Option<bool>,
        /// 0 is money play.
        pub length: u16,
        /// Of whoever is on roll, then of the other.
        pub score: [u16; 2],
        pub crawford: bool,
    }

    /// What a position editor has.
    pub struct Draft {
        /// Points 1 to 24 and the bar, of whoever is on roll and of the other, as each counts its own; the rest is borne off.
        pub mine: Vec<u8>,
        pub theirs: Vec<u8>,
        pub dice: Option<[u8; 2]>,
        pub cube: u32,
        pub cube_is_mine: Option<bool>,
        pub length: u16,
        pub score: [u16; 2],
        pub crawford: bool,
    }

    /// What somebody thinks of a position.
    #[derive(Default)]
    pub struct Analysis {
        pub position: Position,
        pub dice: Option<[u8; 2]>,
        /// Whose opinion it is, in a few words.
        pub name: String,
        pub evals: u32,
        /// With dice: every distinct result, the best first; where anything was searched, what was not comes after what was.
        pub candidates: Vec<Candidate>,
        /// Without dice: what is expected, and what to do with the cube.
        pub outlook: Option<Outlook>,
        /// What is played for; null at a game session, which tells it itself.
        pub standing: Option<Standing>,
    }

    /// A position to be drawn.
    #[derive(Default)]
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
    #[derive(Default)]
    pub struct Candidate {
        /// The id of the position after the move, seen by whoever moved.
        pub id: String,
        /// `8/5* 6/5`
        pub text: String,
        /// One way to play it.
        pub steps: Vec<Step>,
        /// Points a game that are expected.
        pub equity: f64,
        /// Points a game less than the best; null for one that was not searched where others were.
        pub loss: Option<f64>,
        pub depth: Depth,
        pub chances: [f64; 6],
        /// Share of attention before any search, and share of the search's evaluations that went here (0 without a search).
        pub prior: f64,
        pub share: f64,
    }

    /// One checker moved by one die, as the mover counts points: 25 is the bar and 0 is off.
    #[derive(Copy, Default, Eq)]
    pub struct Step {
        pub from: u8,
        pub to: u8,
        pub hit: bool,
    }

    /// A position before the roll.
    #[derive(Default)]
    pub struct Outlook {
        pub chances: [f64; 6],
        /// Points a game without a cube; in a match those to which the chance to win it corresponds.
        pub equity: f64,
        pub cube: CubeOutlook,
    }

    /// What follows for the cube from the chances of the six endings, by Janowski's formula; in points a game at the present cube, in a
    /// match those to which its chances correspond. Seen by whoever is on roll.
    #[derive(Default)]
    pub struct CubeOutlook {
        /// Whether whoever rolls may turn the cube, or has done so.
        pub may_double: bool,
        /// That is done: the other one decides.
        pub offered: bool,
        pub no_double: f64,
        pub double_take: f64,
        pub double_pass: f64,
        /// Whether whoever rolls should turn the cube, whether the other should take it then, and whether it is better to play on for a
        /// gammon than to have a double passed.
        pub double: bool,
        pub take: bool,
        pub too_good: bool,
        /// In a match, the chance to win it by each of the three.
        pub match_chances: Option<[f64; 3]>,
    }

    /// Asks what can come after a move: for each roll of the other player the reply that is thought best.
    pub struct Unfold {
        /// After the move, seen by whoever moved: a candidate's id.
        pub id: String,
        pub who: PlayerKind,
        pub evals: u32,
    }

    /// One roll of the other player, and their best reply.
    #[derive(Default)]
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
    #[derive(Default)]
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
    #[derive(Copy, Default, Eq)]
    pub struct Engine {
        pub who: PlayerKind,
        pub evals: u32,
    }

    /// What is done in a session. What may not be done is refused, and changes nothing.
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
        /// The position before the turn in progress with all that is played for, for other programs; the first seat is at the bottom.
        pub xgid: String,
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

    #[derive(Copy, Default, Eq)]
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
    #[derive(Copy, Default, Eq)]
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
    pub struct Reply {
        pub seat: u8,
        pub did: EngineAct,
        pub dice: Option<[u8; 2]>,
        pub text: String,
        /// Seen by the engine, before its move.
        pub before: Option<Position>,
        pub steps: Vec<Step>,
        /// What it considered, as an analysis has it, ten at most; empty where it has no opinion to tell.
        pub candidates: Vec<Candidate>,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum EngineAct {
        Played,
        Doubled,
        Took,
        Passed,
    }

    #[derive(Copy, Eq)]
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

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum EndedBy {
        BorneOff,
        Passed,
        Resigned,
    }

    /// One thing done in a game.
    pub struct Played {
        pub seat: u8,
        pub dice: Option<[u8; 2]>,
        /// A move in notation, or what was done instead: `doubles to 2`, `takes`, `passes`, `resigns a gammon`.
        pub text: String,
        /// How it stood before it, with all that was played for: what an analysis can be asked about.
        pub id: String,
    }

    /// What a person did with the cube, held against what is best.
    pub struct CubeReview {
        pub did: CubeAct,
        pub best: CubeAct,
        /// Points a game, at the cube before it, that this gave away.
        pub error: f64,
        pub verdict: Verdict,
        /// Seen by whoever is on roll, who is the other one where a double was answered.
        pub outlook: CubeOutlook,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum CubeAct {
        NoDouble,
        Double,
        Take,
        Pass,
    }

    /// A game as it stood, seen by the first seat.
    pub struct Moment {
        pub position: Position,
        pub cube: u32,
        pub cube_owner: Option<u8>,
        /// Who did it, and what: a roll with steps as that one counts points, or a word.
        pub seat: u8,
        pub dice: Option<[u8; 2]>,
        pub steps: Vec<Step>,
        pub text: String,
        pub id: String,
    }

    /// How good one of a game's decisions was, or both of a turn: to roll without turning the cube, and the move.
    pub struct Judged {
        /// Expected of the position by the first seat, before the roll and with the cube, in points a game at the present cube.
        pub equity: f64,
        /// Points lost by the move, and by what was done with the cube; null where there was no choice.
        pub move_error: Option<f64>,
        pub cube_error: Option<f64>,
        pub verdict: Verdict,
        /// What would have been best, where something else was done.
        pub best_move: Option<String>,
        pub best_cube: Option<CubeAct>,
    }

    /// How bad was that: a person's last turn held against the best.
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
        /// Points a game that the move gave away.
        pub error: f64,
        /// Of this person's moves with a choice that were reviewed at this table: how many, and the points a game lost in all of them.
        pub reviewed: u32,
        pub lost: f64,
    }

    /// By points lost: from 0.04 on dubious, from 0.08 bad, from 0.16 a blunder, as GNU Backgammon draws the lines.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        Best,
        Good,
        Dubious,
        Bad,
        Blunder,
    }
}
