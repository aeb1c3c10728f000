// Questions, answers and events of the backgammon room.
// Generated from crates/run/src/backgammon/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

import type { Progress } from "../../run/protocol";

export type Question = { "ask": "analyse", request: AnalysisRequest, } | { "ask": "read_id", id: string, } | { "ask": "compose", draft: Draft, } | { "ask": "unfold", unfold: Unfold, } | { "ask": "new_session", setup: Setup, } | { "ask": "former_session", } | { "ask": "act", act: Act, } | { "ask": "hint", engine: Engine, } | { "ask": "review", engine: Engine, } | { "ask": "review_cube", engine: Engine, } | { "ask": "moment", at: number, } | { "ask": "judge", at: number, engine: Engine, } | { "ask": "transcript", } | { "ask": "session", };

/** Event of this room, which [`crate::protocol::Event::Room`] contains. */
export type RoomEvent = { "kind": "frozen" } & Frozen;

/** A kept copy of the agent, which a user can choose as an opponent. */
export type Frozen = {
/** Training time of the copy in minutes. */
minutes: number, progress: Progress, };

/** Kind of player that can play games and analyse positions. */
export type PlayerKind = { "kind": "now" } | { "kind": "frozen", minutes: number, } | { "kind": "random" } | { "kind": "linear" };

/** Request for an analysis of a position. */
export type AnalysisRequest = {
/** Id of the position, as in [`Question::ReadId`]. A position id without a match id means money play. */
id: string,
/** Roll to be played, which replaces the dice in the id; null requests an analysis of the position before the roll. */
dice: [number, number] | null, who: PlayerKind,
/** Maximum number of boards evaluated per decision; 0 and 1 mean no look-ahead. */
evals: number, };

/** A player's evaluation of a position. */
export type Analysis = { position: Position, dice: [number, number] | null,
/** Name of the player that evaluated the position. */
name: string, evals: number,
/**
 * All distinct results of the roll, best first. If some results were searched, the results of depth `Static` come last. Empty
 * without dice.
 */
candidates: Array<Candidate>,
/** Chances, equity and cube advice before the roll; null with dice. */
outlook: Outlook | null,
/** Position with cube, stakes and score; null in the answer to [`Question::Hint`], because the session contains these data. */
standing: Standing | null, };

/** Numbers of checkers of a position, for a drawing. */
export type Position = { id: string,
/** Numbers of checkers of the viewing player: borne off, on points 1 to 24, and on the bar. Points have that player's numbering. */
mine: Array<number>,
/**
 * Numbers of checkers of the other player, in the same order. Points have the other player's own numbering: its point 1 is the
 * viewing player's point 24.
 */
theirs: Array<number>, my_pips: number, their_pips: number, };

/** A board that a roll can lead to, with its evaluation. */
export type Candidate = {
/** Id of the position after the move, from the point of view of the player who moved. */
id: string,
/** The move in notation, for example `8/5* 6/5`. */
text: string,
/** Moves of single checkers that together lead to the result. */
steps: Array<Step>,
/** Expected points per game. */
equity: number,
/**
 * Difference between the best result's equity and this equity, in points per game; null if other results were searched but this
 * result was not.
 */
loss: number | null, depth: Depth, chances: [number, number, number, number, number, number],
/** Probability that the player's policy assigned to this result before any search. */
prior: number,
/** Share of the search's evaluations that this result received; 0 without a search. */
share: number, };

/** Move of one checker by one die, in the mover's numbering: 25 is the bar and 0 is off. */
export type Step = { from: number, to: number, hit: boolean, };

/** Evaluation of a position before the roll. */
export type Outlook = { chances: [number, number, number, number, number, number],
/** Expected points per game without a cube. In a match: the chance of winning the match, converted to points. */
equity: number, cube: CubeOutlook, };

/** Request for the other player's best replies to a move, one per roll. */
export type Unfold = {
/** Id of the position after the move, as in [`Candidate::id`]. */
id: string, who: PlayerKind, evals: number, };

/** A roll of the other player after a move, and the best reply with this roll. */
export type Branch = { dice: [number, number],
/** Number of the 36 ordered pairs of dice that give this roll: 1 for a double, else 2. */
ways: number,
/** Id of the position after the reply, from the point of view of the player who replied. */
id: string, text: string,
/** Equity after the reply, from the point of view of the player who made the move. */
equity: number, };

/** Players and stakes of a session. */
export type Setup = {
/**
 * Engine of each of the two seats; null for a user, as in `[null, {...}]` for a user against an engine. The board is drawn for the
 * first seat. Both seats can be engines or users.
 */
seats: [Engine | null, Engine | null],
/** Length of the match in points, at most 64; 0 means unlimited money play. */
length: number,
/** True if the game uses the doubling cube. */
cube: boolean,
/** Seed of the dice. */
seed: number, };

/** An engine that plays a seat. */
export type Engine = { who: PlayerKind, evals: number, };

/** An action in a session. An illegal action gives an error and changes nothing. */
export type Act = { "kind": "roll" } | { "kind": "double" } | { "kind": "take" } | { "kind": "pass" } | { "kind": "step", from: number, to: number, } | { "kind": "play", id: string, } | { "kind": "write", text: string, } | { "kind": "undo", all: boolean, } | { "kind": "confirm" } | { "kind": "reply" } | { "kind": "resign", points: number, } | { "kind": "next_game" };

/** State of a game session, from the point of view of the first seat. */
export type Session = { setup: Setup,
/** Short names of the players. The first seat is first. */
names: [string, string],
/** Position from the point of view of the first seat, after the steps of the turn in progress. */
position: Position, cube: number,
/** Seat (0 or 1) that owns the cube; only this seat may double. Null if the cube is in the middle. */
cube_owner: number | null,
/** Points that each seat won in all completed games of the session. */
score: [number, number],
/** True in the Crawford game, which is played without the cube. */
crawford: boolean,
/**
 * eXtreme Gammon id of the position before the turn in progress, with cube, stakes and score. The first seat is the player at the
 * bottom.
 */
xgid: string,
/** Number of the game, starting at 1. */
game: number, phase: Phase,
/** Seat (0 or 1) that has to act; after the end of the game, the winner. */
turn: number,
/**
 * Dice of the seat that has to act, the larger die first. At the opening, the first seat's die is first. Null if the seat has no
 * roll to play.
 */
dice: [number, number] | null,
/** Numbers on the dice that are still to be played, one per step, the larger first. */
left: Array<number>,
/** Steps of the turn so far, in the numbering of the seat that has to act. */
steps: Array<Step>,
/**
 * Steps that a user may make next, in that user's numbering. Each step can be completed to a legal move. Empty if no user has to
 * move.
 */
legal: Array<Step>, may: AllowedActs,
/** Last action of an engine in this game; null if there is none. */
reply: Reply | null,
/** Result of the game; null while the game is in progress. */
ending: Ending | null,
/** Moves, cube actions and resignations of this game so far. */
moves: Array<Played>, };

export type Phase = "opening" | "to_roll" | "doubled" | "to_play" | "over";

/** Flags for actions, each true if the action is possible now. */
export type AllowedActs = { roll: boolean, double: boolean,
/** A user may take or pass an offered double. */
answer: boolean, undo: boolean,
/** The steps so far form a complete legal move. Without any legal step, the empty move is complete. */
confirm: boolean,
/** An engine has to act ([`Act::Reply`]). */
reply: boolean, resign: boolean, next_game: boolean, hint: boolean,
/** A user has completed a turn in this game, so [`Question::Review`] can review this turn. */
review: boolean, };

/** Last action of an engine, with the candidates that it considered. */
export type Reply = { seat: number, did: EngineAct, dice: [number, number] | null, text: string,
/** Position before the move, from the point of view of the engine; null for a cube action. */
before: Position | null, steps: Array<Step>,
/** At most ten candidates that the engine considered, best first. Empty for a cube action, or if the engine gives no evaluations. */
candidates: Array<Candidate>, };

export type EngineAct = "played" | "doubled" | "took" | "passed";

export type Ending = { winner: number,
/** Points that the winner gained: `level` multiplied by the cube. */
points: number,
/** Kind of win: 1 for a single game, 2 for a gammon, 3 for a backgammon. */
level: number, how: EndedBy,
/** True if this game ended the match. */
match_over: boolean, };

export type EndedBy = "borne_off" | "passed" | "resigned";

/** An entry of [`Session::moves`]: a move, a cube action or a resignation. */
export type Played = { seat: number, dice: [number, number] | null,
/** A move in notation, or one of the other actions: `doubles to 2`, `takes`, `passes`, `resigns a gammon`. */
text: string,
/** Id of the game before the action, which an [`AnalysisRequest`] accepts. */
id: string, };

/** Comparison of a user's last move with the best move. */
export type Review = { dice: [number, number],
/** Position before the move, from the point of view of the user. */
before: Position, yours: Candidate, best: Candidate,
/** Rank of the move among all results, starting at 1. */
rank: number,
/** Number of results of the roll. */
of: number, verdict: Verdict,
/** Points per game that the move lost. */
error: number,
/** Number of moves reviewed in this session; forced moves are not counted. */
reviewed: number,
/** Sum of the points per game that the reviewed moves lost. */
lost: number, };

/**
 * Verdict on a decision, by the points that it loses. The limits are GNU Backgammon's: dubious from 0.04, bad from 0.08, blunder from
 * 0.16.
 */
export type Verdict = "best" | "good" | "dubious" | "bad" | "blunder";

/** A position with cube, stakes and score, from the point of view of the player on roll. */
export type Standing = { position: Position,
/** GNU Backgammon id of this position. */
gnu_id: string,
/** eXtreme Gammon id of this position. */
xgid: string,
/** True if the parsed id contained only the checkers, without cube, stakes and score. */
bare: boolean,
/** True if the parsed id contained the Jacoby rule, which this program does not support. */
jacoby: boolean, dice: [number, number] | null,
/** True if the player on roll has offered a double. */
doubled: boolean, cube: number,
/** True if the player on roll owns the cube, false if the other player owns it; null if the cube is in the middle. */
cube_is_mine: boolean | null,
/** Length of the match in points; 0 means money play. */
length: number,
/** Score of the player on roll, then score of the other player. */
score: [number, number], crawford: boolean, };

/** Input of a position editor. */
export type Draft = {
/**
 * Numbers of checkers that the player on roll has on points 1 to 24 and then on the bar: 25 numbers. The remaining checkers are
 * borne off.
 */
mine: Array<number>,
/** Numbers of checkers of the other player, in the same order. Points have that player's own numbering. */
theirs: Array<number>, dice: [number, number] | null, cube: number, cube_is_mine: boolean | null, length: number, score: [number, number], crawford: boolean, };

/** Depth of the search that computed an equity. Equities of different depths are not comparable. */
export type Depth = { "kind": "static" } | { "kind": "rolls", rolls: number, } | { "kind": "visits", visits: number, } | { "kind": "exact" };

/**
 * Cube decision for the player on roll. Janowski's formula computes the equities from the six chances. Equities are points per game at
 * the current value of the cube. In a match, equities are chances of winning the match, converted to points.
 */
export type CubeOutlook = {
/** True if the player on roll may double or has doubled. */
may_double: boolean,
/** True if a double was offered and the other player has to decide. */
offered: boolean, no_double: number, double_take: number, double_pass: number,
/** True if the player on roll should double. */
double: boolean,
/** True if the other player should take a double. */
take: boolean,
/** Advice to the player on roll: true if playing on for a gammon is better than a double that the other player passes. */
too_good: boolean,
/** Three chances of winning the match: without a double, after a take, and after a pass. Null in money play. */
match_chances: [number, number, number] | null, };

/** Comparison of a user's cube decision with the best cube decision. */
export type CubeReview = { did: CubeAct, best: CubeAct,
/** Points per game that the decision lost, at the cube's value before the decision. */
error: number, verdict: Verdict,
/** Evaluation of the cube from the point of view of the player on roll. If the user answered a double, the opponent is on roll. */
outlook: CubeOutlook, };

export type CubeAct = "no_double" | "double" | "take" | "pass";

/** The game before an earlier action, from the point of view of the first seat. */
export type Moment = { position: Position, cube: number, cube_owner: number | null,
/** Seat that acted. */
seat: number,
/** Dice of the move; null if the action was no move. */
dice: [number, number] | null,
/** Steps of the move, in the numbering of the seat that acted; empty if the action was no move. */
steps: Array<Step>,
/** Text of the action, as in [`Played::text`]. */
text: string,
/** Id of the game before the action. */
id: string, };

/**
 * Review of an entry in [`Session::moves`]. A turn has up to two decisions: to roll without a double, and the move. Any other entry is
 * a cube action or a resignation.
 */
export type Judged = {
/** Expected points of the first seat before the roll, per game at the current value of the cube. The best cube decision is assumed. */
equity: number,
/** Points per game that the move lost; null if the roll had only one result or the action was no move. */
move_error: number | null,
/** Points per game that the cube decision lost; null if there was no choice or the action was a resignation. */
cube_error: number | null, verdict: Verdict,
/** The best move in notation; null if the move that was made lost nothing. */
best_move: string | null,
/** The best cube decision; null if the seat made the best decision or `cube_error` is null. */
best_cube: CubeAct | null, };

export interface Answers {
  analyse: Analysis;
  read_id: Standing;
  compose: Standing;
  unfold: Array<Branch>;
  new_session: Session;
  former_session: Session;
  act: Session;
  hint: Analysis;
  review: Review;
  review_cube: CubeReview | null;
  moment: Moment;
  judge: Judged;
  transcript: string;
  session: Session | null;
}

/** Maximum number of evaluations per decision. */
export const MOST_EVALS = 50000;

/** Minutes of training after which a frozen copy of the agent is kept. */
export const FREEZE_MINUTES = [1, 3, 10] as const;
