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
    /// Checks the input of an editor and returns its ids; invalid input gives an error that names the wrong part.
    Compose { draft: Draft } -> Standing,
    /// The tree one level below a move.
    Unfold { unfold: Unfold } -> Vec<Branch>,
    /// Begins a game session in place of the present one.
    NewSession { setup: Setup } -> Session,
    /// Returns to the previous session; the present one becomes the previous.
    FormerSession {} -> Session,
    Act { act: Act } -> Session,
    /// The choice of an engine in the present position.
    Hint { engine: Engine } -> Analysis,
    /// Review of the user's last move.
    Review { engine: Engine } -> Review,
    /// Review of the user's last cube decision; null if there was none in this game.
    ReviewCube { engine: Engine } -> Option<CubeReview>,
    /// The game before the entry of [`Session::moves`] with this index.
    Moment { at: u32 } -> Moment,
    /// Review of that entry.
    Judge { at: u32, engine: Engine } -> Judged,
    /// The games so far, as text for import into other programs.
    Transcript {} -> String,
    /// The present game session, if any.
    Session {} -> Option<Session>,
}

/// Minutes of training after which a copy of the agent is kept.
pub const FREEZE_MINUTES: [u32; 3] = [1, 3, 10];
/// Maximum number of evaluations per decision.
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

    /// A player, or a source of evaluations.
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
        /// The baselines, which play but give no evaluations.
        Random,
        Linear,
    }

    /// A question about a position.
    pub struct AnalysisRequest {
        /// An id as in [`Question::ReadId`]. A position id alone means money play.
        pub id: String,
        /// The roll to be played, in place of the id's; null asks about the position before the roll.
        pub dice: Option<[u8; 2]>,
        pub who: PlayerKind,
        /// Maximum number of boards evaluated per decision; 0 and 1 mean no look-ahead.
        pub evals: u32,
    }

    /// A position with cube, stakes and score, seen by the player on roll.
    #[derive(Default)]
    pub struct Standing {
        pub position: Position,
        /// GNU Backgammon id of this position; `xgid` is its eXtreme Gammon id.
        pub gnu_id: String,
        pub xgid: String,
        /// The id contained only the checkers.
        pub bare: bool,
        /// The id contained the Jacoby rule, which is not supported.
        pub jacoby: bool,
        pub dice: Option<[u8; 2]>,
        /// The player on roll has offered a double.
        pub doubled: bool,
        pub cube: u32,
        /// Whether the player on roll owns the cube; null if it is in the middle.
        pub cube_is_mine: Option<bool>,
        /// Points of the match; 0 is money play.
        pub length: u16,
        /// Score of the player on roll, then of the other.
        pub score: [u16; 2],
        pub crawford: bool,
    }

    /// Input of a position editor.
    pub struct Draft {
        /// Checkers on points 1 to 24 and on the bar, for the player on roll and the other, each with its own point numbers.
        /// The remaining checkers are borne off.
        pub mine: Vec<u8>,
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
        /// With dice: all distinct results of the roll, best first. If some were searched, the others follow them.
        pub candidates: Vec<Candidate>,
        /// Without dice: the expected result, and advice on the cube.
        pub outlook: Option<Outlook>,
        /// Cube, stakes and score; null in a game session, which reports them itself.
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

    /// A result of a roll.
    #[derive(Default)]
    pub struct Candidate {
        /// Id of the position after the move, seen by the player who moved.
        pub id: String,
        /// `8/5* 6/5`
        pub text: String,
        /// One sequence of steps that leads to the result.
        pub steps: Vec<Step>,
        /// Expected points per game.
        pub equity: f64,
        /// Points per game less than the best result; null if only other results were searched.
        pub loss: Option<f64>,
        pub depth: Depth,
        pub chances: [f64; 6],
        /// Probability by the policy before any search; `share` is the share of the search's evaluations (0 without a search).
        pub prior: f64,
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
        /// Expected points per game without a cube; in a match, the points that correspond to the chance to win it.
        pub equity: f64,
        pub cube: CubeOutlook,
    }

    /// Cube decision that follows from the six chances by Janowski's formula. Equities are points per game at the present cube;
    /// in a match, the points that correspond to its chances. Seen by the player on roll.
    #[derive(Default)]
    pub struct CubeOutlook {
        /// The player on roll may double, or has doubled.
        pub may_double: bool,
        /// A double was offered, and the other player has to decide.
        pub offered: bool,
        pub no_double: f64,
        pub double_take: f64,
        pub double_pass: f64,
        /// Advice: whether to double, whether the other player should take a double, and whether playing on for a gammon is
        /// better than a passed double.
        pub double: bool,
        pub take: bool,
        pub too_good: bool,
        /// In a match: chances to win it without a double, after a take and after a pass.
        pub match_chances: Option<[f64; 3]>,
    }

    /// Asks for the best reply to each roll of the other player after a move.
    pub struct Unfold {
        /// Id of the position after the move, seen by the player who moved: a candidate's id.
        pub id: String,
        pub who: PlayerKind,
        pub evals: u32,
    }

    /// A roll of the other player and the best reply.
    #[derive(Default)]
    pub struct Branch {
        pub dice: [u8; 2],
        /// Number of the 36 combinations of two dice that give this roll.
        pub ways: u32,
        /// Position after the reply, seen by the player who replied.
        pub id: String,
        pub text: String,
        /// Equity of the player whose move is examined.
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
        /// Play with the doubling cube.
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
        /// Throws the dice for a user; at the opening one die for each player, until they differ.
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
        /// Takes back the last step, or all steps.
        Undo {
            all: bool,
        },
        /// Ends the turn after its steps.
        Confirm,
        /// Lets an engine take its next action: roll and play, double, or answer a double.
        Reply,
        /// Resigns the game for 1 (single), 2 (gammon) or 3 (backgammon) times the cube. An engine that expects more declines.
        Resign {
            points: u32,
        },
        /// Begins the next game of the match, once one has ended.
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
        /// Owner of the cube, the only player who may double; null if it is in the middle.
        pub cube_owner: Option<u8>,
        /// Points so far.
        pub score: [u32; 2],
        /// This is the Crawford game, which is played without the cube.
        pub crawford: bool,
        /// Position before the turn in progress with cube, stakes and score, for other programs; the first seat is at the
        /// bottom.
        pub xgid: String,
        /// Number of the game, starting at 1.
        pub game: u32,
        pub phase: Phase,
        /// Seat to act: 0 or 1. After the end, the winner.
        pub turn: u8,
        /// Dice of the seat to act, the larger first; at the opening, the first seat's die first.
        pub dice: Option<[u8; 2]>,
        /// Numbers still to be played, one per step, the larger first.
        pub left: Vec<u8>,
        /// Steps of the turn so far, in the numbering of the seat to act.
        pub steps: Vec<Step>,
        /// Legal next steps of a user, in that user's numbering; each can be completed to a legal move.
        pub legal: Vec<Step>,
        pub may: AllowedActs,
        /// Last turn of an engine, for display.
        pub reply: Option<Reply>,
        /// Result of the game, once it has ended.
        pub ending: Option<Ending>,
        /// Entries of this game so far.
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

    /// Actions that a user can take now.
    #[derive(Copy, Default, Eq)]
    pub struct AllowedActs {
        pub roll: bool,
        pub double: bool,
        /// Take or pass.
        pub answer: bool,
        pub undo: bool,
        /// The steps form a complete legal move. This also holds for no steps if none is legal.
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
        /// Position before the move, seen by the engine.
        pub before: Option<Position>,
        pub steps: Vec<Step>,
        /// Up to ten candidates that it considered; empty if it gives no evaluations.
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

    /// An entry of a game.
    pub struct Played {
        pub seat: u8,
        pub dice: Option<[u8; 2]>,
        /// A move in notation, or another action: `doubles to 2`, `takes`, `passes`, `resigns a gammon`.
        pub text: String,
        /// The game before the action, as an id for an analysis.
        pub id: String,
    }

    /// Comparison of a user's cube decision with the best one.
    pub struct CubeReview {
        pub did: CubeAct,
        pub best: CubeAct,
        /// Points per game lost, at the cube before the decision.
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
        /// The seat that acted and its action: dice with steps in its own numbering, or a word.
        pub seat: u8,
        pub dice: Option<[u8; 2]>,
        pub steps: Vec<Step>,
        pub text: String,
        pub id: String,
    }

    /// Review of a decision, or of both decisions of a turn: rolling without a double, and the move.
    pub struct Judged {
        /// Expected points per game of the first seat, before the roll, with the cube, at the present cube.
        pub equity: f64,
        /// Points lost by the move and by the cube decision; null if there was no choice.
        pub move_error: Option<f64>,
        pub cube_error: Option<f64>,
        pub verdict: Verdict,
        /// The best alternative, if another choice was made.
        pub best_move: Option<String>,
        pub best_cube: Option<CubeAct>,
    }

    /// Comparison of a user's last move with the best one.
    pub struct Review {
        pub dice: [u8; 2],
        /// Position before the move, seen by the user.
        pub before: Position,
        pub yours: Candidate,
        pub best: Candidate,
        /// Rank of the move, starting at 1; `of` is the number of results.
        pub rank: u32,
        pub of: u32,
        pub verdict: Verdict,
        /// Points per game lost by the move.
        pub error: f64,
        /// Number of this user's reviewed moves with a choice in this session, and their total points lost per game.
        pub reviewed: u32,
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
