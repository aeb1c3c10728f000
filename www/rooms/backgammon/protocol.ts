// Questions, answers and events of the backgammon room.
// Generated from crates/run/src/backgammon/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

import type { Progress } from "../../run/protocol";

export type Question = { "ask": "analyse", request: AnalysisRequest, } | { "ask": "read_id", id: string, } | { "ask": "compose", draft: Draft, } | { "ask": "unfold", unfold: Unfold, } | { "ask": "new_session", setup: Setup, } | { "ask": "former_session", } | { "ask": "act", act: Act, } | { "ask": "hint", engine: Engine, } | { "ask": "review", engine: Engine, } | { "ask": "review_cube", engine: Engine, } | { "ask": "moment", at: number, } | { "ask": "judge", at: number, engine: Engine, } | { "ask": "transcript", } | { "ask": "session", };

/** What the room tells of itself, in [`crate::protocol::Event::Room`]. */
export type RoomEvent = { "kind": "frozen" } & Frozen;

/** The agent as it was; of these one can choose whom to play. */
export type Frozen = {
/** After so many minutes of training. */
minutes: number, progress: Progress, };

/** Somebody who plays, or who is asked for an opinion. */
export type PlayerKind = { "kind": "now" } | { "kind": "frozen", minutes: number, } | { "kind": "random" } | { "kind": "linear" };

/** A question about a position. */
export type AnalysisRequest = {
/** As [`Question::ReadId`] reads it. A position id alone is of money play. */
id: string,
/** The roll to be played, in place of one that the id tells; null asks about the position before it. */
dice: [number, number] | null, who: PlayerKind,
/** Boards that may be valued for each decision; 0 and 1 mean no look-ahead. */
evals: number, };

/** What somebody thinks of a position. */
export type Analysis = { position: Position, dice: [number, number] | null,
/** Whose opinion it is, in a few words. */
name: string, evals: number,
/** With dice: every distinct result, the best first; where anything was searched, what was not comes after what was. */
candidates: Array<Candidate>,
/** Without dice: what is expected, and what to do with the cube. */
outlook: Outlook | null,
/** What is played for; null at a game session, which tells it itself. */
standing: Standing | null, };

/** A position to be drawn. */
export type Position = { id: string,
/** Counts of whoever sees it, 26 of them: borne off, points 1 to 24 as they count them, the bar. */
mine: Array<number>,
/** The other side's, as that side counts its own points: its point 1 is point 24 of the first. */
theirs: Array<number>, my_pips: number, their_pips: number, };

/** One result of a roll. */
export type Candidate = {
/** The id of the position after the move, seen by whoever moved. */
id: string,
/** `8/5* 6/5` */
text: string,
/** One way to play it. */
steps: Array<Step>,
/** Points a game that are expected. */
equity: number,
/** Points a game less than the best; null for one that was not searched where others were. */
loss: number | null, depth: Depth, chances: [number, number, number, number, number, number],
/** Share of attention before any search, and share of the search's evaluations that went here (0 without a search). */
prior: number, share: number, };

/** One checker moved by one die, as the mover counts points: 25 is the bar and 0 is off. */
export type Step = { from: number, to: number, hit: boolean, };

/** A position before the roll. */
export type Outlook = { chances: [number, number, number, number, number, number],
/** Points a game without a cube; in a match those to which the chance to win it corresponds. */
equity: number, cube: CubeOutlook, };

/** Asks what can come after a move: for each roll of the other player the reply that is thought best. */
export type Unfold = {
/** After the move, seen by whoever moved: a candidate's id. */
id: string, who: PlayerKind, evals: number, };

/** One roll of the other player, and their best reply. */
export type Branch = { dice: [number, number],
/** Of the 36 ways two dice fall. */
ways: number,
/** After the reply, seen by whoever replied. */
id: string, text: string,
/** For whoever made the move that is asked about. */
equity: number, };

/** Who sits at a table, and what is played. */
export type Setup = {
/**
 * The first seat is the one that the board is drawn for. A person against the agent: `[null, {...}]`; the agent can also
 * play itself, and two persons each other.
 */
seats: [Engine | null, Engine | null],
/** Points of the match, 64 at most; 0 is money play without end. */
length: number,
/** Play with the doubling cube. */
cube: boolean,
/** Of the dice. */
seed: number, };

/** A seat that no person has. */
export type Engine = { who: PlayerKind, evals: number, };

/** What is done in a session. What may not be done is refused, and changes nothing. */
export type Act = { "kind": "roll" } | { "kind": "double" } | { "kind": "take" } | { "kind": "pass" } | { "kind": "step", from: number, to: number, } | { "kind": "play", id: string, } | { "kind": "write", text: string, } | { "kind": "undo", all: boolean, } | { "kind": "confirm" } | { "kind": "reply" } | { "kind": "resign", points: number, } | { "kind": "next_game" };

/** A game session as it stands, for the one whom it is drawn for. */
export type Session = { setup: Setup,
/** In a few words. */
names: [string, string],
/** Seen by the first seat, with the steps of a turn in progress. */
position: Position, cube: number,
/** Who alone may turn the cube; null while nobody has. */
cube_owner: number | null,
/** Points so far. */
score: [number, number],
/** The game that is played without the cube. */
crawford: boolean,
/** The position before the turn in progress with all that is played for, for other programs; the first seat is at the bottom. */
xgid: string,
/** From 1. */
game: number, phase: Phase,
/** Whose turn it is to do something: 0 or 1. After the end, the winner. */
turn: number,
/** In front of whoever's turn it is: the larger first, and at the opening the first seat's. */
dice: [number, number] | null,
/** Numbers still to be played, one for each step, the larger first. */
left: Array<number>,
/** Steps of the turn so far, as whoever's turn it is counts points. */
steps: Array<Step>,
/** Steps that a person can make now, as they count points; each leads on to a whole legal move. */
legal: Array<Step>, may: AllowedActs,
/** The last turn of an engine, to be shown. */
reply: Reply | null,
/** Once the game has ended. */
ending: Ending | null,
/** This game so far. */
moves: Array<Played>, };

export type Phase = "opening" | "to_roll" | "doubled" | "to_play" | "over";

/** What a person can do now. */
export type AllowedActs = { roll: boolean, double: boolean,
/** Take or pass. */
answer: boolean, undo: boolean,
/** The steps make a whole legal move. Where no step is legal, so do none. */
confirm: boolean,
/** An engine has the next thing to do. */
reply: boolean, resign: boolean, next_game: boolean, hint: boolean,
/** A turn of a person's can be evaluated. */
review: boolean, };

/** What an engine did. */
export type Reply = { seat: number, did: EngineAct, dice: [number, number] | null, text: string,
/** Seen by the engine, before its move. */
before: Position | null, steps: Array<Step>,
/** What it considered, as an analysis has it, ten at most; empty where it has no opinion to tell. */
candidates: Array<Candidate>, };

export type EngineAct = "played" | "doubled" | "took" | "passed";

export type Ending = { winner: number,
/** The cube counted in. */
points: number,
/** 1, a gammon 2, a backgammon 3. */
level: number, how: EndedBy,
/** The match is over. */
match_over: boolean, };

export type EndedBy = "borne_off" | "passed" | "resigned";

/** One thing done in a game. */
export type Played = { seat: number, dice: [number, number] | null,
/** A move in notation, or what was done instead: `doubles to 2`, `takes`, `passes`, `resigns a gammon`. */
text: string,
/** How it stood before it, with all that was played for: what an analysis can be asked about. */
id: string, };

/** How bad was that: a person's last turn held against the best. */
export type Review = { dice: [number, number],
/** Seen by the person, before the move. */
before: Position, yours: Candidate, best: Candidate,
/** From 1, among so many. */
rank: number, of: number, verdict: Verdict,
/** Points a game that the move gave away. */
error: number,
/** Of this person's moves with a choice that were reviewed at this table: how many, and the points a game lost in all of them. */
reviewed: number, lost: number, };

/** By points lost: from 0.04 on dubious, from 0.08 bad, from 0.16 a blunder, as GNU Backgammon draws the lines. */
export type Verdict = "best" | "good" | "dubious" | "bad" | "blunder";

/** A position with what is played for, seen by whoever is on roll. */
export type Standing = { position: Position,
/** The same as ids of GNU Backgammon and of eXtreme Gammon. */
gnu_id: string, xgid: string,
/** The id said no more than where the checkers stand. */
bare: boolean,
/** The id asks for the Jacoby rule, which is not played with here. */
jacoby: boolean, dice: [number, number] | null,
/** A double is offered by whoever is on roll. */
doubled: boolean, cube: number,
/** Whether the cube belongs to whoever is on roll; null while nobody has it. */
cube_is_mine: boolean | null,
/** 0 is money play. */
length: number,
/** Of whoever is on roll, then of the other. */
score: [number, number], crawford: boolean, };

/** What a position editor has. */
export type Draft = {
/** Points 1 to 24 and the bar, of whoever is on roll and of the other, as each counts its own; the rest is borne off. */
mine: Array<number>, theirs: Array<number>, dice: [number, number] | null, cube: number, cube_is_mine: boolean | null, length: number, score: [number, number], crawford: boolean, };

/** How far somebody looked beyond a result; equities of different depth are not to be compared. */
export type Depth = { "kind": "static" } | { "kind": "rolls", rolls: number, } | { "kind": "visits", visits: number, } | { "kind": "exact" };

/**
 * What follows for the cube from the chances of the six endings, by Janowski's formula; in points a game at the present cube, in a
 * match those to which its chances correspond. Seen by whoever is on roll.
 */
export type CubeOutlook = {
/** Whether whoever rolls may turn the cube, or has done so. */
may_double: boolean,
/** That is done: the other one decides. */
offered: boolean, no_double: number, double_take: number, double_pass: number,
/**
 * Whether whoever rolls should turn the cube, whether the other should take it then, and whether it is better to play on for a
 * gammon than to have a double passed.
 */
double: boolean, take: boolean, too_good: boolean,
/** In a match, the chance to win it by each of the three. */
match_chances: [number, number, number] | null, };

/** What a person did with the cube, held against what is best. */
export type CubeReview = { did: CubeAct, best: CubeAct,
/** Points a game, at the cube before it, that this gave away. */
error: number, verdict: Verdict,
/** Seen by whoever is on roll, who is the other one where a double was answered. */
outlook: CubeOutlook, };

export type CubeAct = "no_double" | "double" | "take" | "pass";

/** A game as it stood, seen by the first seat. */
export type Moment = { position: Position, cube: number, cube_owner: number | null,
/** Who did it, and what: a roll with steps as that one counts points, or a word. */
seat: number, dice: [number, number] | null, steps: Array<Step>, text: string, id: string, };

/** How good one of a game's decisions was, or both of a turn: to roll without turning the cube, and the move. */
export type Judged = {
/** Expected of the position by the first seat, before the roll and with the cube, in points a game at the present cube. */
equity: number,
/** Points lost by the move, and by what was done with the cube; null where there was no choice. */
move_error: number | null, cube_error: number | null, verdict: Verdict,
/** What would have been best, where something else was done. */
best_move: string | null, best_cube: CubeAct | null, };

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
