//! Plain data that only the backgammon room exchanges: questions about positions, and game sessions between users and engines.
//! This file contains no behaviour.
//!
//! Positions are GNU Backgammon position ids. Before a roll the position is seen by the player on roll, after a move by the
//! player who moved. There are six chances: to win a single game, a gammon or a backgammon, and to lose each of them.

use crate::plain_data::plain_data;
use crate::protocol::Progress;
pub use learn::backgammon::Depth;

crate::questions! {
    Analyse { request: AnalysisRequest } -> Analysis,
    /// Parses an id: a position id, optionally with a match id after a colon, or an XGID.
    ReadId { id: String } -> Standing,
    /// Checks the input of a position editor and returns the position with its ids. Invalid input gives an error that names the invalid
    /// part.
    Compose { draft: Draft } -> Standing,
    /// The other player's best reply to a move, for each roll.
    Unfold { unfold: Unfold } -> Vec<Branch>,
    /// Begins a game session in place of the present one.
    NewSession { setup: Setup } -> Session,
    /// Returns to the previous session; the present session becomes the previous one.
    FormerSession {} -> Session,
    Act { act: Act } -> Session,
    /// An engine's analysis of the present position of the game session.
    Hint { engine: Engine } -> Analysis,
    /// Review of the user's last move in the game session.
    Review { engine: Engine } -> Review,
    /// Review of the user's last cube decision; null if there was none in this game.
    ReviewCube { engine: Engine } -> Option<CubeReview>,
    /// The game before the entry with index `at` in [`Session::moves`].
    Moment { at: u32 } -> Moment,
    /// Review of the entry with index `at` in [`Session::moves`].
    Judge { at: u32, engine: Engine } -> Judged,
    /// The games of the session so far, as text for import into other programs.
    Transcript {} -> String,
    /// The present game session; null if there is none.
    Session {} -> Option<Session>,
}

/// Minutes of training after which a copy of the agent is kept.
pub const FREEZE_MINUTES: [u32; 3] = [1, 3, 10];
/// Maximum number of boards evaluated per decision.
pub const MOST_EVALS: u32 = 50_000;

plain_data! {
    /// Events of this room, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// A copy of the present agent was kept as an opponent.
        Frozen(Frozen),
    }

    /// A kept copy of the agent, which can be chosen as an opponent.
    pub struct Frozen {
        /// Minutes of training before the copy.
        pub minutes: u32,
        pub progress: Progress,
    }

    /// A player of games or of an analysis.
    #[derive(Copy, Default, Eq)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum PlayerKind {
        /// The present agent, which continues to learn while it plays.
        #[default]
        Now,
        /// A kept copy of the agent, identified by its minutes of training.
        Frozen {
            minutes: u32,
        },
        /// Baseline that plays random legal moves and gives no evaluations.
        Random,
        /// Baseline that plays by Tesauro's linear evaluation (pubeval) and gives no evaluations.
        Linear,
    }

    /// A question about a position.
    pub struct AnalysisRequest {
        /// An id as in [`Question::ReadId`]. A position id alone means money play.
        pub id: String,
        /// The roll to be played, in place of the dice in the id; null requests the analysis of the position before the roll.
        pub dice: Option<[u8; 2]>,
        pub who: PlayerKind,
        /// Maximum number of boards evaluated per decision; 0 and 1 mean no look-ahead.
        pub evals: u32,
    }

    /// A position with cube, stakes and score, seen by the player on roll.
    #[derive(Default)]
    pub struct Standing {
        pub position: Position,
        /// GNU Backgammon id of this position.
        pub gnu_id: String,
        /// eXtreme Gammon id of this position.
        pub xgid: String,
        /// The parsed id contained only the checkers.
        pub bare: bool,
        /// The parsed id contained the Jacoby rule, which is not supported.
        pub jacoby: bool,
        pub dice: Option<[u8; 2]>,
        /// The player on roll has offered a double.
        pub doubled: bool,
        pub cube: u32,
        /// Whether the player on roll owns the cube; null if the cube is in the middle.
        pub cube_is_mine: Option<bool>,
        /// Points of the match; 0 is money play.
        pub length: u16,
        /// Score of the player on roll, then of the other player.
        pub score: [u16; 2],
        pub crawford: bool,
    }

    /// Input of a position editor.
    pub struct Draft {
        /// Checkers of the player on roll, 25 numbers: points 1 to 24, then the bar. The remaining checkers are borne off.
        pub mine: Vec<u8>,
        /// Checkers of the other player in the same order, in that player's own point numbering.
        pub theirs: Vec<u8>,
        pub dice: Option<[u8; 2]>,
        pub cube: u32,
        pub cube_is_mine: Option<bool>,
        pub length: u16,
        pub score: [u16; 2],
        pub crawford: bool,
    }

    /// A player's evaluation of a position.
    #[derive(Default)]
    pub struct Analysis {
        pub position: Position,
        pub dice: Option<[u8; 2]>,
        /// Name of the player that evaluates.
        pub name: String,
        pub evals: u32,
        /// All distinct results of the roll, best first; if some results were searched, the unsearched ones come last. Empty without dice.
        pub candidates: Vec<Candidate>,
        /// The expected result, and advice on the cube; null with dice.
        pub outlook: Option<Outlook>,
        /// Cube, stakes and score; null in the answer to [`Question::Hint`], because the session contains them.
        pub standing: Option<Standing>,
    }

    /// A position to be drawn.
    #[derive(Default)]
    pub struct Position {
        pub id: String,
        /// Checkers of the viewing player, 26 numbers: borne off, points 1 to 24 in that player's numbering, bar.
        pub mine: Vec<u8>,
        /// Checkers of the other player, in that player's own numbering: its point 1 is point 24 of the viewing player.
        pub theirs: Vec<u8>,
        pub my_pips: u32,
        pub their_pips: u32,
    }

    /// A board that a roll can lead to, with its evaluation.
    #[derive(Default)]
    pub struct Candidate {
        /// Id of the position after the move, seen by the player who moved.
        pub id: String,
        /// The move in notation, for example `8/5* 6/5`.
        pub text: String,
        /// Steps of single checkers that together lead to the result.
        pub steps: Vec<Step>,
        /// Expected points per game.
        pub equity: f64,
        /// Points per game by which the equity is below that of the best result; null if other results were searched but not this one.
        pub loss: Option<f64>,
        pub depth: Depth,
        pub chances: [f64; 6],
        /// Probability that the player assigned to this result before any search.
        pub prior: f64,
        /// Share of the search's evaluations spent on this result; 0 without a search.
        pub share: f64,
    }

    /// One checker moved by one die, in the mover's numbering: 25 is the bar and 0 is off.
    #[derive(Copy, Default, Eq)]
    pub struct Step {
        pub from: u8,
        pub to: u8,
        pub hit: bool,
    }

    /// Evaluation of a position before the roll.
    #[derive(Default)]
    pub struct Outlook {
        pub chances: [f64; 6],
        /// Expected points per game without a cube. In a match: the chance of winning the match, converted to points.
        pub equity: f64,
        pub cube: CubeOutlook,
    }

    /// Cube decision that follows from the six chances by Janowski's formula, seen by the player on roll. Equities are points per game at
    /// the present value of the cube. In a match: chances of winning the match, converted to points.
    #[derive(Default)]
    pub struct CubeOutlook {
        /// The player on roll may double, or has doubled.
        pub may_double: bool,
        /// A double was offered, and the other player has to decide.
        pub offered: bool,
        pub no_double: f64,
        pub double_take: f64,
        pub double_pass: f64,
        /// Advice: the player on roll should double.
        pub double: bool,
        /// Advice: the other player should take a double.
        pub take: bool,
        /// Advice: playing on for a gammon is better than a double that is passed.
        pub too_good: bool,
        /// Chances of winning the match without a double, after a take, and after a pass; null in money play.
        pub match_chances: Option<[f64; 3]>,
    }

    /// Request for the best reply to each roll of the other player after a move.
    pub struct Unfold {
        /// Id of the position after the move, seen by the player who moved: a candidate's id.
        pub id: String,
        pub who: PlayerKind,
        pub evals: u32,
    }

    /// A roll of the other player, and the best reply to the move with this roll.
    #[derive(Default)]
    pub struct Branch {
        pub dice: [u8; 2],
        /// Number of the 36 ordered pairs of dice that give this roll.
        pub ways: u32,
        /// Id of the position after the reply, seen by the player who replied.
        pub id: String,
        pub text: String,
        /// Equity after the reply, for the player whose move is examined.
        pub equity: f64,
    }

    /// Players and stakes of a session.
    #[derive(Default)]
    pub struct Setup {
        /// The two seats; the board is drawn for the first. Null is a user, as in `[null, {...}]` for a user against an engine.
        /// Both seats can be engines or users.
        pub seats: [Option<Engine>; 2],
        /// Points of the match, at most 64; 0 is unlimited money play.
        pub length: u16,
        /// The doubling cube is used.
        pub cube: bool,
        /// Seed of the dice.
        pub seed: u32,
    }

    /// An engine that plays a seat.
    #[derive(Copy, Default, Eq)]
    pub struct Engine {
        pub who: PlayerKind,
        pub evals: u32,
    }

    /// An action in a session. An illegal action gives an error and changes nothing.
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum Act {
        /// Throws the dice for a user. At the opening, throws one die for each player until the dice differ.
        Roll,
        Double,
        Take,
        Pass,
        /// Moves one checker by one die.
        Step {
            from: u8,
            to: u8,
        },
        /// Makes the steps to a result of the roll, given by the id of a hint's candidate. The turn still has to be confirmed.
        Play {
            id: String,
        },
        /// Makes the steps of a move in notation: `8/5 6/5`.
        Write {
            text: String,
        },
        /// Takes back the last step of the turn, or every step if `all` is true.
        Undo {
            all: bool,
        },
        /// Ends the turn. Its steps must form a complete legal move.
        Confirm,
        /// Lets an engine take its next action: roll and play, double, or answer a double.
        Reply,
        /// Resigns the game for 1 (single), 2 (gammon) or 3 (backgammon) times the cube. An engine that expects to win more declines.
        Resign {
            points: u32,
        },
        /// Begins the next game after the present one has ended.
        NextGame,
    }

    /// State of a game session, seen by the first seat.
    pub struct Session {
        pub setup: Setup,
        /// Short names of the players.
        pub names: [String; 2],
        /// Position seen by the first seat, including the steps of the turn in progress.
        pub position: Position,
        pub cube: u32,
        /// Seat that owns the cube (0 or 1), which alone may double; null if the cube is in the middle.
        pub cube_owner: Option<u8>,
        /// Points of each seat in all completed games of the session.
        pub score: [u32; 2],
        /// This is the Crawford game, which is played without the cube.
        pub crawford: bool,
        /// eXtreme Gammon id of the position before the turn in progress, with cube, stakes and score; the first seat is at the bottom.
        pub xgid: String,
        /// Number of the game, starting at 1.
        pub game: u32,
        pub phase: Phase,
        /// Seat to act (0 or 1); after the end of the game, the winner.
        pub turn: u8,
        /// Dice of the seat to act, the larger first; at the opening, the first seat's die first. Null if no roll is to be played.
        pub dice: Option<[u8; 2]>,
        /// Dice numbers still to be played, one per step, the larger first.
        pub left: Vec<u8>,
        /// Steps of the turn so far, in the numbering of the seat to act.
        pub steps: Vec<Step>,
        /// Legal next steps of a user, in that user's numbering; each can be completed to a legal move. Empty if no user has to move.
        pub legal: Vec<Step>,
        pub may: AllowedActs,
        /// Newest action of an engine in this game, for display; null if there is none.
        pub reply: Option<Reply>,
        /// Result of the game; null while the game is in progress.
        pub ending: Option<Ending>,
        /// Moves, cube actions and resignations of this game so far.
        pub moves: Vec<Played>,
    }

    #[derive(Copy, Default, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Phase {
        /// No dice have been thrown.
        #[default]
        Opening,
        ToRoll,
        /// A double was offered, and the other player has to answer.
        Doubled,
        ToPlay,
        Over,
    }

    /// Actions that are possible now.
    #[derive(Copy, Default, Eq)]
    pub struct AllowedActs {
        pub roll: bool,
        pub double: bool,
        /// A user may take or pass a double.
        pub answer: bool,
        pub undo: bool,
        /// The steps so far form a complete legal move. Also true without any step if no step is legal.
        pub confirm: bool,
        /// An engine has to act.
        pub reply: bool,
        pub resign: bool,
        pub next_game: bool,
        pub hint: bool,
        /// A turn of a user can be reviewed.
        pub review: bool,
    }

    /// Action of an engine.
    pub struct Reply {
        pub seat: u8,
        pub did: EngineAct,
        pub dice: Option<[u8; 2]>,
        pub text: String,
        /// Position before the move, seen by the engine; null for a cube action.
        pub before: Option<Position>,
        pub steps: Vec<Step>,
        /// Up to ten candidates that the engine considered, best first; empty for a cube action, or if the engine gives no evaluations.
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
        /// Points won, including the cube.
        pub points: u32,
        /// 1 for a single game, 2 for a gammon, 3 for a backgammon.
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

    /// An entry in the list of moves of a game.
    pub struct Played {
        pub seat: u8,
        pub dice: Option<[u8; 2]>,
        /// A move in notation, or another action: `doubles to 2`, `takes`, `passes`, `resigns a gammon`.
        pub text: String,
        /// Id of the game before the action, for an [`AnalysisRequest`].
        pub id: String,
    }

    /// Comparison of a user's cube decision with the best one.
    pub struct CubeReview {
        pub did: CubeAct,
        pub best: CubeAct,
        /// Points per game lost by the decision, at the value of the cube before it.
        pub error: f64,
        pub verdict: Verdict,
        /// Evaluation seen by the player on roll, who is the other player if a double was answered.
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

    /// The game at an earlier moment, seen by the first seat.
    pub struct Moment {
        pub position: Position,
        pub cube: u32,
        pub cube_owner: Option<u8>,
        /// Seat that acted.
        pub seat: u8,
        /// Dice of the move; null for another action.
        pub dice: Option<[u8; 2]>,
        /// Steps of the move, in the numbering of the seat that acted; empty for another action.
        pub steps: Vec<Step>,
        /// The action in words, as in [`Played::text`].
        pub text: String,
        /// Id of the game before the action.
        pub id: String,
    }

    /// Review of an entry in the list of moves: a cube decision, or a turn with up to two decisions (to roll without a double, and the
    /// move).
    pub struct Judged {
        /// Expected points per game of the first seat before the roll, after the best cube decision, at the present value of the cube.
        pub equity: f64,
        /// Points per game lost by the move; null if there was only one result.
        pub move_error: Option<f64>,
        /// Points per game lost by the cube decision; null if there was no choice.
        pub cube_error: Option<f64>,
        pub verdict: Verdict,
        /// The best move in notation; null if the move lost nothing.
        pub best_move: Option<String>,
        /// The best cube decision; null if the seat made that decision.
        pub best_cube: Option<CubeAct>,
    }

    /// Comparison of a user's last move with the best one.
    pub struct Review {
        pub dice: [u8; 2],
        /// Position before the move, seen by the user.
        pub before: Position,
        pub yours: Candidate,
        pub best: Candidate,
        /// Rank of the move among all results, starting at 1.
        pub rank: u32,
        /// Number of results of the roll.
        pub of: u32,
        pub verdict: Verdict,
        /// Points per game lost by the move.
        pub error: f64,
        /// Number of reviewed moves in this session, without forced moves.
        pub reviewed: u32,
        /// Total of the points per game lost by the reviewed moves.
        pub lost: f64,
    }

    /// Verdict by points lost, with GNU Backgammon's limits: dubious from 0.04, bad from 0.08, blunder from 0.16.
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
