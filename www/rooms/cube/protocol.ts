// Questions, answers and events of the cube room.
// Generated from crates/run/src/cube/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "look", facelets: string, } | { "ask": "scramble", moves: number, seed: number, } | { "ask": "draw", distance: number, seed: number, } | { "ask": "turn", facelets: string, moves: string, } | { "ask": "uniform", seed: number, number: number, } | { "ask": "solve", facelets: string, method: SolveMethod, } | { "ask": "cancel", } | { "ask": "inside", };

/** What only this room tells, in [`crate::protocol::Event::Room`]. */
export type RoomEvent = { "kind": "search" } & SolveView;

/** What a variant is, in [`crate::protocol::Variant::about`]. */
export type Puzzle = {
/** 2 or 3. */
size: number,
/** The distance of every state is known. */
exact: boolean,
/** What its network gives. */
gives: Gives,
/** It has a curriculum and a replay. */
plays: boolean,
/** How its agent solves where nothing else is asked for. */
method: SolveMethod, };

/** What a network gives of a state. */
export type Gives = "value" | "action_values" | "policy";

export type StateView = {
/** As typed, in capitals and without blanks. */
facelets: string, solved: boolean,
/** Moves of the shortest solution, where all distances are known. */
distance: number | null,
/** Moves that the agent thinks it takes; nothing where its network gives a policy alone. */
value: number | null,
/** Every action in its order; the first of the best ones is what the agent does. */
actions: Array<ActionView>, best: number, };

export type ActionView = {
/** `R'` */
action: string,
/** By [`Puzzle::gives`]: moves that are left after it, moves by way of it, or its probability. */
score: number,
/** Distance of the state that it leads to, where all are known. */
distance: number | null, };

export type Scrambled = { facelets: string,
/** The moves that led there, where they are known. */
moves: Array<string>, distance: number | null, };

export type SolveMethod = { search: SearchKind,
/** States that a beam keeps of a level, or that A* expands at once. A beam that fails is followed by one twice as wide. */
width: number,
/** Of moves made beside moves to go, in A*. */
weight: number,
/** States generated at most. */
nodes: number, };

export type SearchKind = "greedy" | "beam" | "a_star" | "exact";

/** A search as it stands. */
export type SolveView = {
/** Which search of the run it is. */
number: number,
/** What is to be solved. */
facelets: string, done: boolean,
/** Of the beam that searches or was the last to: more than was asked for where narrower ones failed. */
width: number | null,
/** Moves that it has looked ahead, and states generated, by narrower beams too. */
steps: number, nodes: number,
/** Moves that the nearest state it met is thought to be away. */
nearest: number | null, solution: Solution | null,
/** Once it is done without one. */
failure: Failure | null, };

/** Why there is no solution, and what to try. */
export type Failure = { text: string, next_step: string, };

export type Solution = { moves: Array<string>,
/** Moves that the agent thought were left before each move and at the end; empty where its network gives a policy alone. */
values: Array<number>,
/** Length of the shortest, where all distances are known. */
optimal: number | null, };

/** What a learner that plays has beside its network. */
export type Inside = {
/** Depth that the curriculum has come to, and each depth that episodes begin at. */
stage: number, depths: Array<CurriculumDepth>, replay: ReplayView, };

export type CurriculumDepth = {
/** Moves of the scramble. */
depth: number,
/** Share of new episodes that begin there. */
share: number,
/** Share of its newest episodes that solved the cube, and how many it is of. */
success: number, episodes: number, };

export type ReplayView = { len: number, capacity: number,
/** Whether it samples by priority. */
prioritised: boolean,
/**
 * Shares of all transitions by priority: bin `i` holds those from `2^(i - 12)` to twice that, the first and the last also what
 * lies beyond.
 */
priorities: Array<number>,
/** Those of the greatest priority, the greatest first. */
top: Array<TransitionView>, };

export type TransitionView = { facelets: string, action: string,
/** Of the steps that it spans together. */
reward: number, done: boolean, priority: number,
/** What the network says now of each action there. */
q: Array<number>, };

export interface Answers {
  look: StateView;
  scramble: Scrambled;
  draw: Scrambled;
  turn: Scrambled;
  uniform: Scrambled;
  solve: SolveView;
  cancel: null;
  inside: Inside | null;
}
