//! Plain data that only the backgammon room exchanges: questions about positions, and game sessions between users and engines. This file
//! contains no behaviour.
//!
//! Positions are GNU Backgammon position ids. A position before a roll is from the point of view of the player on roll; a position after a
//! move is from the point of view of the player who moved. An array of chances has six probabilities: to win a single game, a gammon or a
//! backgammon, and to lose each of them.

use crate::plain_data::plain_data;
use crate::protocol::Progress;
pub use learn::backgammon::Depth;

crate::questions! {
    Analyse { request: AnalysisRequest } -> Analysis,
    /// Parses the id of a position. The id is a position id, a position id with a match id after a colon, or an XGID.
    ReadId { id: String } -> Standing,
    /// Checks the input of a position editor and returns the position with its ids. Invalid input gives an error that names the invalid
    /// part.
    Compose { draft: Draft } -> Standing,
    /// Returns the other player's best reply to a move, for each roll.
    Unfold { unfold: Unfold } -> Vec<Branch>,
    /// Begins a game session, which replaces the current session.
    NewSession { setup: Setup } -> Session,
    /// Returns to the previous session. The current session becomes the previous session if a user plays in it.
    FormerSession {} -> Session,
    Act { act: Act } -> Session,
    /// Returns an engine's analysis of the game session's current position.
    Hint { engine: Engine } -> Analysis,
    /// Reviews the user's last move in the game session.
    Review { engine: Engine } -> Review,
    /// Reviews the user's last cube decision in this game; null if there was no such decision.
    ReviewCube { engine: Engine } -> Option<CubeReview>,
    /// Returns the game as it was before the entry with index `at` in [`Session::moves`].
    Moment { at: u32 } -> Moment,
    /// Reviews the entry with index `at` in [`Session::moves`].
    Judge { at: u32, engine: Engine } -> Judged,
    /// Returns the games of the session so far, as text for import into other programs.
    Transcript {} -> String,
    /// Returns the current game session; null if there is none.
    Session {} -> Option<Session>,
}

/// Training times, in minutes, after which a copy of the agent is kept.
pub const FREEZE_MINUTES: [u32; 3] = [1, 3, 10];
/// Maximum number of boards evaluated per decision.
pub const MOST_EVALS: u32 = 50_000;

plain_data! {
    /// Event of this room, which [`crate::protocol::Event::Room`] contains.
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// A copy of the current agent was kept as an opponent.
        Frozen(Frozen),
    }

    /// A kept copy of the agent, which a user can choose as an opponent.
    pub struct Frozen {
        /// Training time of the copy in minutes.
        pub minutes: u32,
        pub progress: Progress,
    }

    /// Kind of player that can play games and analyse positions.
    #[derive(Copy, Default, Eq)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum PlayerKind {
        /// The current agent, which continues to learn while it plays.
        #[default]
        Now,
        /// A kept copy of the agent, identified by its minutes of training.
        Frozen {
            minutes: u32,
        },
        /// Baseline that plays random legal moves and gives no evaluations.
        Random,
        /// Baseline that plays by Tesauro's linear evaluation (pubeval). It gives no evaluations.
        Linear,
    }

    /// Request for an analysis of a position.
    pub struct AnalysisRequest {
        /// Id of the position, as in [`Question::ReadId`]. A position id without a match id means money play.
        pub id: String,
        /// Roll to be played, which replaces the dice in the id; null requests an analysis of the position before the roll.
        pub dice: Option<[u8; 2]>,
        pub who: PlayerKind,
        /// Maximum number of boards evaluated per decision; 0 and 1 mean no look-ahead.
        pub evals: u32,
    }

    /// A position with cube, stakes and score, from the point of view of the player on roll.
    #[derive(Default)]
    pub struct Standing {
        pub position: Position,
        /// GNU Backgammon id of this position.
        pub gnu_id: String,
        /// eXtreme Gammon id of this position.
        pub xgid: String,
        /// True if the parsed id contained only the checkers, without cube, stakes and score.
        pub bare: bool,
        /// True if the parsed id contained the Jacoby rule, which this program does not support.
        pub jacoby: bool,
        pub dice: Option<[u8; 2]>,
        /// True if the player on roll has offered a double.
        pub doubled: bool,
        pub cube: u32,
        /// True if the player on roll owns the cube, false if the other player owns it; null if the cube is in the middle.
        pub cube_is_mine: Option<bool>,
        /// Length of the match in points; 0 means money play.
        pub length: u16,
        /// Score of the player on roll, then score of the other player.
        pub score: [u16; 2],
        pub crawford: bool,
    }

    /// Input of a position editor.
    pub struct Draft {
        /// Numbers of checkers that the player on roll has on points 1 to 24 and then on the bar: 25 numbers. The remaining checkers are
        /// borne off.
        pub mine: Vec<u8>,
        /// Numbers of checkers of the other player, in the same order. Points have that player's own numbering.
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
        /// Name of the player that evaluated the position.
        pub name: String,
        pub evals: u32,
        /// All distinct results of the roll, best first. If some results were searched, the results of depth `Static` come last. Empty
        /// without dice.
        pub candidates: Vec<Candidate>,
        /// Chances, equity and cube advice before the roll; null with dice.
        pub outlook: Option<Outlook>,
        /// Position with cube, stakes and score; null in the answer to [`Question::Hint`], because the session contains these data.
        pub standing: Option<Standing>,
    }

    /// Numbers of checkers of a position, for a drawing.
    #[derive(Default)]
    pub struct Position {
        pub id: String,
        /// Numbers of checkers of the viewing player: borne off, on points 1 to 24, and on the bar. Points have that player's numbering.
        pub mine: Vec<u8>,
        /// Numbers of checkers of the other player, in the same order. Points have the other player's own numbering: its point 1 is the
        /// viewing player's point 24.
        pub theirs: Vec<u8>,
        pub my_pips: u32,
        pub their_pips: u32,
    }

    /// A board that a roll can lead to, with its evaluation.
    #[derive(Default)]
    pub struct Candidate {
        /// Id of the position after the move, from the point of view of the player who moved.
        pub id: String,
        /// The move in notation, for example `8/5* 6/5`.
        pub text: String,
        /// Moves of single checkers that together lead to the result.
        pub steps: Vec<Step>,
        /// Expected points per game.
        pub equity: f64,
        /// Difference between the best result's equity and this equity, in points per game; null if other results were searched but this
        /// result was not.
        pub loss: Option<f64>,
        pub depth: Depth,
        pub chances: [f64; 6],
        /// Probability that the player's policy assigned to this result before any search.
        pub prior: f64,
        /// Share of the search's evaluations that this result received; 0 without a search.
        pub share: f64,
    }

    /// Move of one checker by one die, in the mover's numbering: 25 is the bar and 0 is off.
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

    /// Cube decision for the player on roll. Janowski's formula computes the equities from the six chances. Equities are points per game at
    /// the current value of the cube. In a match, equities are chances of winning the match, converted to points.
    #[derive(Default)]
    pub struct CubeOutlook {
        /// True if the player on roll may double or has doubled.
        pub may_double: bool,
        /// True if a double was offered and the other player has to decide.
        pub offered: bool,
        pub no_double: f64,
        pub double_take: f64,
        pub double_pass: f64,
        /// True if the player on roll should double.
        pub double: bool,
        /// True if the other player should take a double.
        pub take: bool,
        /// Advice to the player on roll: true if playing on for a gammon is better than a double that the other player passes.
        pub too_good: bool,
        /// Three chances of winning the match: without a double, after a take, and after a pass. Null in money play.
        pub match_chances: Option<[f64; 3]>,
    }

    /// Request for the other player's best replies to a move, one per roll.
    pub struct Unfold {
        /// Id of the position after the move, as in [`Candidate::id`].
        pub id: String,
        pub who: PlayerKind,
        pub evals: u32,
    }

    /// A roll of the other player after a move, and the best reply with this roll.
    #[derive(Default)]
    pub struct Branch {
        pub dice: [u8; 2],
        /// Number of the 36 ordered pairs of dice that give this roll: 1 for a double, else 2.
        pub ways: u32,
        /// Id of the position after the reply, from the point of view of the player who replied.
        pub id: String,
        pub text: String,
        /// Equity after the reply, from the point of view of the player who made the move.
        pub equity: f64,
    }

    /// Players and stakes of a session.
    #[derive(Default)]
    pub struct Setup {
        /// Engine of each of the two seats; null for a user, as in `[null, {...}]` for a user against an engine. The board is drawn for the
        /// first seat. Both seats can be engines or users.
        pub seats: [Option<Engine>; 2],
        /// Length of the match in points, at most 64; 0 means unlimited money play.
        pub length: u16,
        /// True if the game uses the doubling cube.
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
        /// Throws the dice for a user. At the opening, throws one die per player until the two dice differ.
        Roll,
        Double,
        Take,
        Pass,
        /// Moves one checker by one die.
        Step {
            from: u8,
            to: u8,
        },
        /// Makes the steps that lead to a result of the roll. `id` is the id of a candidate. The user still has to confirm the turn.
        Play {
            id: String,
        },
        /// Makes the steps of a move in notation, for example `8/5 6/5`.
        Write {
            text: String,
        },
        /// Undoes the last step of the turn, or every step if `all` is true.
        Undo {
            all: bool,
        },
        /// Ends the turn. Its steps must form a complete legal move.
        Confirm,
        /// Lets an engine take its next action: roll and play, double, or answer a double.
        Reply,
        /// Resigns the game as a single game (`points` 1), a gammon (2) or a backgammon (3). The loss is `points` times the cube. An engine
        /// declines if the engine expects more points.
        Resign {
            points: u32,
        },
        /// Begins the next game after the current one has ended.
        NextGame,
    }

    /// State of a game session, from the point of view of the first seat.
    pub struct Session {
        pub setup: Setup,
        /// Short names of the players. The first seat is first.
        pub names: [String; 2],
        /// Position from the point of view of the first seat, after the steps of the turn in progress.
        pub position: Position,
        pub cube: u32,
        /// Seat (0 or 1) that owns the cube; only this seat may double. Null if the cube is in the middle.
        pub cube_owner: Option<u8>,
        /// Points that each seat won in all completed games of the session.
        pub score: [u32; 2],
        /// True in the Crawford game, which is played without the cube.
        pub crawford: bool,
        /// eXtreme Gammon id of the position before the turn in progress, with cube, stakes and score. The first seat is the player at the
        /// bottom.
        pub xgid: String,
        /// Number of the game, starting at 1.
        pub game: u32,
        pub phase: Phase,
        /// Seat (0 or 1) that has to act; after the end of the game, the winner.
        pub turn: u8,
        /// Dice of the seat that has to act, the larger die first. At the opening, the first seat's die is first. Null if the seat has no
        /// roll to play.
        pub dice: Option<[u8; 2]>,
        /// Numbers on the dice that are still to be played, one per step, the larger first.
        pub left: Vec<u8>,
        /// Steps of the turn so far, in the numbering of the seat that has to act.
        pub steps: Vec<Step>,
        /// Steps that a user may make next, in that user's numbering. Each step can be completed to a legal move. Empty if no user has to
        /// move.
        pub legal: Vec<Step>,
        pub may: AllowedActs,
        /// Last action of an engine in this game; null if there is none.
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
        /// A double was offered, and the opponent has to answer.
        Doubled,
        ToPlay,
        Over,
    }

    /// Flags for actions, each true if the action is possible now.
    #[derive(Copy, Default, Eq)]
    pub struct AllowedActs {
        pub roll: bool,
        pub double: bool,
        /// A user may take or pass an offered double.
        pub answer: bool,
        pub undo: bool,
        /// The steps so far form a complete legal move. Without any legal step, the empty move is complete.
        pub confirm: bool,
        /// An engine has to act ([`Act::Reply`]).
        pub reply: bool,
        pub resign: bool,
        pub next_game: bool,
        pub hint: bool,
        /// A user has completed a turn in this game, so [`Question::Review`] can review this turn.
        pub review: bool,
    }

    /// Last action of an engine, with the candidates that it considered.
    pub struct Reply {
        pub seat: u8,
        pub did: EngineAct,
        pub dice: Option<[u8; 2]>,
        pub text: String,
        /// Position before the move, from the point of view of the engine; null for a cube action.
        pub before: Option<Position>,
        pub steps: Vec<Step>,
        /// At most ten candidates that the engine considered, best first. Empty for a cube action, or if the engine gives no evaluations.
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
        /// Points that the winner gained: `level` multiplied by the cube.
        pub points: u32,
        /// Kind of win: 1 for a single game, 2 for a gammon, 3 for a backgammon.
        pub level: u32,
        pub how: EndedBy,
        /// True if this game ended the match.
        pub match_over: bool,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum EndedBy {
        BorneOff,
        Passed,
        Resigned,
    }

    /// An entry of [`Session::moves`]: a move, a cube action or a resignation.
    pub struct Played {
        pub seat: u8,
        pub dice: Option<[u8; 2]>,
        /// A move in notation, or one of the other actions: `doubles to 2`, `takes`, `passes`, `resigns a gammon`.
        pub text: String,
        /// Id of the game before the action, which an [`AnalysisRequest`] accepts.
        pub id: String,
    }

    /// Comparison of a user's cube decision with the best cube decision.
    pub struct CubeReview {
        pub did: CubeAct,
        pub best: CubeAct,
        /// Points per game that the decision lost, at the cube's value before the decision.
        pub error: f64,
        pub verdict: Verdict,
        /// Evaluation of the cube from the point of view of the player on roll. If the user answered a double, the opponent is on roll.
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

    /// The game before an earlier action, from the point of view of the first seat.
    pub struct Moment {
        pub position: Position,
        pub cube: u32,
        pub cube_owner: Option<u8>,
        /// Seat that acted.
        pub seat: u8,
        /// Dice of the move; null if the action was no move.
        pub dice: Option<[u8; 2]>,
        /// Steps of the move, in the numbering of the seat that acted; empty if the action was no move.
        pub steps: Vec<Step>,
        /// Text of the action, as in [`Played::text`].
        pub text: String,
        /// Id of the game before the action.
        pub id: String,
    }

    /// Review of an entry in [`Session::moves`]. A turn has up to two decisions: to roll without a double, and the move. Any other entry is
    /// a cube action or a resignation.
    pub struct Judged {
        /// Expected points of the first seat before the roll, per game at the current value of the cube. The best cube decision is assumed.
        pub equity: f64,
        /// Points per game that the move lost; null if the roll had only one result or the action was no move.
        pub move_error: Option<f64>,
        /// Points per game that the cube decision lost; null if there was no choice or the action was a resignation.
        pub cube_error: Option<f64>,
        pub verdict: Verdict,
        /// The best move in notation; null if the move that was made lost nothing.
        pub best_move: Option<String>,
        /// The best cube decision; null if the seat made the best decision or `cube_error` is null.
        pub best_cube: Option<CubeAct>,
    }

    /// Comparison of a user's last move with the best move.
    pub struct Review {
        pub dice: [u8; 2],
        /// Position before the move, from the point of view of the user.
        pub before: Position,
        pub yours: Candidate,
        pub best: Candidate,
        /// Rank of the move among all results, starting at 1.
        pub rank: u32,
        /// Number of results of the roll.
        pub of: u32,
        pub verdict: Verdict,
        /// Points per game that the move lost.
        pub error: f64,
        /// Number of moves reviewed in this session; forced moves are not counted.
        pub reviewed: u32,
        /// Sum of the points per game that the reviewed moves lost.
        pub lost: f64,
    }

    /// Verdict on a decision, by the points that it loses. The limits are GNU Backgammon's: dubious from 0.04, bad from 0.08, blunder from
    /// 0.16.
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
