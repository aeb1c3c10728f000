// Questions, answers and events of the backgammon room.
// Generated from crates/run/src/backgammon/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

import type { Progress } from "../../run/protocol";

export type Question = { "ask": "analyse", request: AnalysisRequest, } | { "ask": "read_id", id: string, } | { "ask": "compose", draft: Draft, } | { "ask": "unfold", unfold: Unfold, } | { "ask": "new_session", setup: Setup, } | { "ask": "former_session", } | { "ask": "act", act: Act, } | { "ask": "hint", engine: Engine, } | { "ask": "review", engine: Engine, } | { "ask": "review_cube", engine: Engine, } | { "ask": "moment", at: number, } | { "ask": "judge", at: number, engine: Engine, } | { "ask": "transcript", } | { "ask": "session", };

/** Events of this room, in [`crate::protocol::Event::Room`]. */
export type RoomEvent = { "kind": "frozen" } & Frozen;

/** A kept copy of the agent, which can be chosen as an opponent. */
export type Frozen = {
/** Minutes of training before the copy. */
minutes: number, progress: Progress, };

/** A player of games or of an analysis. */
export type PlayerKind = { "kind": "now" } | { "kind": "frozen", minutes: number, } | { "kind": "random" } | { "kind": "linear" };

/** A question about a position. */
export type AnalysisRequest = {
/** An id as in [`Question::ReadId`]. A position id alone means money play. */
id: string,
/** The roll to be played, in place of the dice in the id; null requests the analysis of the position before the roll. */
dice: [number, number] | null, who: PlayerKind,
/** Maximum number of boards evaluated per decision; 0 and 1 mean no look-ahead. */
evals: number, };

/** A player's evaluation of a position. */
export type Analysis = { position: Position, dice: [number, number] | null,
/** Name of the player that evaluates. */
name: string, evals: number,
/** All distinct results of the roll, best first; if some results were searched, the unsearched ones come last. Empty without dice. */
candidates: Array<Candidate>,
/** The expected result, and advice on the cube; null with dice. */
outlook: Outlook | null,
/** Cube, stakes and score; null in the answer to [`Question::Hint`], because the session contains them. */
standing: Standing | null, };

/** A position to be drawn. */
export type Position = { id: string,
/** Checkers of the viewing player, 26 numbers: borne off, points 1 to 24 in that player's numbering, bar. */
mine: Array<number>,
/** Checkers of the other player, in that player's own numbering: its point 1 is point 24 of the viewing player. */
theirs: Array<number>, my_pips: number, their_pips: number, };

/** A board that a roll can lead to, with its evaluation. */
export type Candidate = {
/** Id of the position after the move, seen by the player who moved. */
id: string,
/** The move in notation, for example `8/5* 6/5`. */
text: string,
/** Steps of single checkers that together lead to the result. */
steps: Array<Step>,
/** Expected points per game. */
equity: number,
/** Points per game by which the equity is below that of the best result; null if other results were searched but not this one. */
loss: number | null, depth: Depth, chances: [number, number, number, number, number, number],
/** Probability that the player assigned to this result before any search. */
prior: number,
/** Share of the search's evaluations spent on this result; 0 without a search. */
share: number, };

/** One checker moved by one die, in the mover's numbering: 25 is the bar and 0 is off. */
export type Step = { from: number, to: number, hit: boolean, };

/** Evaluation of a position before the roll. */
export type Outlook = { chances: [number, number, number, number, number, number],
/** Expected points per game without a cube. In a match: the chance of winning the match, converted to points. */
equity: number, cube: CubeOutlook, };

/** Request for the best reply to each roll of the other player after a move. */
export type Unfold = {
/** Id of the position after the move, seen by the player who moved: a candidate's id. */
id: string, who: PlayerKind, evals: number, };

/** A roll of the other player, and the best reply to the move with this roll. */
export type Branch = { dice: [number, number],
/** Number of the 36 ordered pairs of dice that give this roll. */
ways: number,
/** Id of the position after the reply, seen by the player who replied. */
id: string, text: string,
/** Equity after the reply, for the player whose move is examined. */
equity: number, };

/** Players and stakes of a session. */
export type Setup = {
/**
 * The two seats; the board is drawn for the first. Null is a user, as in `[null, {...}]` for a user against an engine.
 * Both seats can be engines or users.
 */
seats: [Engine | null, Engine | null],
/** Points of the match, at most 64; 0 is unlimited money play. */
length: number,
/** The doubling cube is used. */
cube: boolean,
/** Seed of the dice. */
seed: number, };

/** An engine that plays a seat. */
export type Engine = { who: PlayerKind, evals: number, };

/** An action in a session. An illegal action gives an error and changes nothing. */
export type Act = { "kind": "roll" } | { "kind": "double" } | { "kind": "take" } | { "kind": "pass" } | { "kind": "step", from: number, to: number, } | { "kind": "play", id: string, } | { "kind": "write", text: string, } | { "kind": "undo", all: boolean, } | { "kind": "confirm" } | { "kind": "reply" } | { "kind": "resign", points: number, } | { "kind": "next_game" };

/** State of a game session, seen by the first seat. */
export type Session = { setup: Setup,
/** Short names of the players. */
names: [string, string],
/** Position seen by the first seat, including the steps of the turn in progress. */
position: Position, cube: number,
/** Seat that owns the cube (0 or 1), which alone may double; null if the cube is in the middle. */
cube_owner: number | null,
/** Points of each seat in all completed games of the session. */
score: [number, number],
/** This is the Crawford game, which is played without the cube. */
crawford: boolean,
/** eXtreme Gammon id of the position before the turn in progress, with cube, stakes and score; the first seat is at the bottom. */
xgid: string,
/** Number of the game, starting at 1. */
game: number, phase: Phase,
/** Seat to act (0 or 1); after the end of the game, the winner. */
turn: number,
/** Dice of the seat to act, the larger first; at the opening, the first seat's die first. Null if no roll is to be played. */
dice: [number, number] | null,
/** Dice numbers still to be played, one per step, the larger first. */
left: Array<number>,
/** Steps of the turn so far, in the numbering of the seat to act. */
steps: Array<Step>,
/** Legal next steps of a user, in that user's numbering; each can be completed to a legal move. Empty if no user has to move. */
legal: Array<Step>, may: AllowedActs,
/** Newest action of an engine in this game, for display; null if there is none. */
reply: Reply | null,
/** Result of the game; null while the game is in progress. */
ending: Ending | null,
/** Moves, cube actions and resignations of this game so far. */
moves: Array<Played>, };

export type Phase = "opening" | "to_roll" | "doubled" | "to_play" | "over";

/** Actions that are possible now. */
export type AllowedActs = { roll: boolean, double: boolean,
/** A user may take or pass a double. */
answer: boolean, undo: boolean,
/** The steps so far form a complete legal move. Also true without any step if no step is legal. */
confirm: boolean,
/** An engine has to act. */
reply: boolean, resign: boolean, next_game: boolean, hint: boolean,
/** A turn of a user can be reviewed. */
review: boolean, };

/** Action of an engine. */
export type Reply = { seat: number, did: EngineAct, dice: [number, number] | null, text: string,
/** Position before the move, seen by the engine; null for a cube action. */
before: Position | null, steps: Array<Step>,
/** Up to ten candidates that the engine considered, best first; empty for a cube action, or if the engine gives no evaluations. */
candidates: Array<Candidate>, };

export type EngineAct = "played" | "doubled" | "took" | "passed";

export type Ending = { winner: number,
/** Points won, including the cube. */
points: number,
/** 1 for a single game, 2 for a gammon, 3 for a backgammon. */
level: number, how: EndedBy,
/** The match is over. */
match_over: boolean, };

export type EndedBy = "borne_off" | "passed" | "resigned";

/** An entry in the list of moves of a game. */
export type Played = { seat: number, dice: [number, number] | null,
/** A move in notation, or another action: `doubles to 2`, `takes`, `passes`, `resigns a gammon`. */
text: string,
/** Id of the game before the action, for an [`AnalysisRequest`]. */
id: string, };

/** Comparison of a user's last move with the best one. */
export type Review = { dice: [number, number],
/** Position before the move, seen by the user. */
before: Position, yours: Candidate, best: Candidate,
/** Rank of the move among all results, starting at 1. */
rank: number,
/** Number of results of the roll. */
of: number, verdict: Verdict,
/** Points per game lost by the move. */
error: number,
/** Number of reviewed moves in this session, without forced moves. */
reviewed: number,
/** Total of the points per game lost by the reviewed moves. */
lost: number, };

/** Verdict by points lost, with GNU Backgammon's limits: dubious from 0.04, bad from 0.08, blunder from 0.16. */
export type Verdict = "best" | "good" | "dubious" | "bad" | "blunder";

/** A position with cube, stakes and score, seen by the player on roll. */
export type Standing = { position: Position,
/** GNU Backgammon id of this position. */
gnu_id: string,
/** eXtreme Gammon id of this position. */
xgid: string,
/** The parsed id contained only the checkers. */
bare: boolean,
/** The parsed id contained the Jacoby rule, which is not supported. */
jacoby: boolean, dice: [number, number] | null,
/** The player on roll has offered a double. */
doubled: boolean, cube: number,
/** Whether the player on roll owns the cube; null if the cube is in the middle. */
cube_is_mine: boolean | null,
/** Points of the match; 0 is money play. */
length: number,
/** Score of the player on roll, then of the other player. */
score: [number, number], crawford: boolean, };

/** Input of a position editor. */
export type Draft = {
/** Checkers of the player on roll, 25 numbers: points 1 to 24, then the bar. The remaining checkers are borne off. */
mine: Array<number>,
/** Checkers of the other player in the same order, in that player's own point numbering. */
theirs: Array<number>, dice: [number, number] | null, cube: number, cube_is_mine: boolean | null, length: number, score: [number, number], crawford: boolean, };

/** Search depth of an equity. Equities of different depths are not comparable. */
export type Depth = { "kind": "static" } | { "kind": "rolls", rolls: number, } | { "kind": "visits", visits: number, } | { "kind": "exact" };

/**
 * Cube decision that follows from the six chances by Janowski's formula, seen by the player on roll. Equities are points per game at
 * the present value of the cube. In a match: chances of winning the match, converted to points.
 */
export type CubeOutlook = {
/** The player on roll may double, or has doubled. */
may_double: boolean,
/** A double was offered, and the other player has to decide. */
offered: boolean, no_double: number, double_take: number, double_pass: number,
/** Advice: the player on roll should double. */
double: boolean,
/** Advice: the other player should take a double. */
take: boolean,
/** Advice: playing on for a gammon is better than a double that is passed. */
too_good: boolean,
/** Chances of winning the match without a double, after a take, and after a pass; null in money play. */
match_chances: [number, number, number] | null, };

/** Comparison of a user's cube decision with the best one. */
export type CubeReview = { did: CubeAct, best: CubeAct,
/** Points per game lost by the decision, at the value of the cube before it. */
error: number, verdict: Verdict,
/** Evaluation seen by the player on roll, who is the other player if a double was answered. */
outlook: CubeOutlook, };

export type CubeAct = "no_double" | "double" | "take" | "pass";

/** The game at an earlier moment, seen by the first seat. */
export type Moment = { position: Position, cube: number, cube_owner: number | null,
/** Seat that acted. */
seat: number,
/** Dice of the move; null for another action. */
dice: [number, number] | null,
/** Steps of the move, in the numbering of the seat that acted; empty for another action. */
steps: Array<Step>,
/** The action in words, as in [`Played::text`]. */
text: string,
/** Id of the game before the action. */
id: string, };

/**
 * Review of an entry in the list of moves: a cube decision, or a turn with up to two decisions (to roll without a double, and the
 * move).
 */
export type Judged = {
/** Expected points per game of the first seat before the roll, after the best cube decision, at the present value of the cube. */
equity: number,
/** Points per game lost by the move; null if there was only one result. */
move_error: number | null,
/** Points per game lost by the cube decision; null if there was no choice. */
cube_error: number | null, verdict: Verdict,
/** The best move in notation; null if the move lost nothing. */
best_move: string | null,
/** The best cube decision; null if the seat made that decision. */
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
