// Questions, answers and events of the cube room.
// Generated from crates/run/src/cube/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "look", facelets: string, } | { "ask": "scramble", moves: number, seed: number, } | { "ask": "draw", distance: number, seed: number, } | { "ask": "turn", facelets: string, moves: string, } | { "ask": "uniform", seed: number, number: number, } | { "ask": "solve", facelets: string, method: SolveMethod, } | { "ask": "cancel", } | { "ask": "inside", };

/** Events of this room, in [`crate::protocol::Event::Room`]. */
export type RoomEvent = { "kind": "search" } & SolveView;

/** Description of a variant, in [`crate::protocol::Variant::about`]. */
export type Puzzle = {
/** Cubies along an edge: 2 or 3. */
size: number,
/** The distances of all states are known. */
exact: boolean,
/** Kind of the network's output. */
gives: Gives,
/** The learner plays episodes, with a curriculum and a replay. */
plays: boolean,
/** Default method for solving. */
method: SolveMethod, };

/** Kind of output of a network. */
export type Gives = "value" | "action_values" | "policy";

export type StateView = {
/** Facelets as typed, in capitals and without blanks. */
facelets: string, solved: boolean,
/** Length of the shortest solution; null if distances are not known. */
distance: number | null,
/** The agent's estimate of the moves left; null if its network outputs only a policy. */
value: number | null,
/** Evaluation of each action, in the order of the learner's actions. */
actions: Array<ActionView>,
/** Index of the action that the agent takes: the first of the best actions. */
best: number, };

export type ActionView = {
/** Move in Singmaster notation, for example `R'`. */
action: string,
/**
 * Score of the kind [`Puzzle::gives`]: estimated moves left after the action, estimated moves left including the action, or the
 * action's probability.
 */
score: number,
/** Distance of the resulting state; null if distances are not known. */
distance: number | null, };

export type Scrambled = { facelets: string,
/** The moves that lead to the state; empty if they are not known. */
moves: Array<string>, distance: number | null, };

export type SolveMethod = { search: SearchKind,
/** Number of states that a beam keeps per level, or that A* expands at once. If a beam fails, a beam of twice the width is tried. */
width: number,
/** Weight of moves made relative to moves left, in A*. */
weight: number,
/** Maximum number of generated states. */
nodes: number, };

export type SearchKind = "greedy" | "beam" | "a_star" | "exact";

/** Progress or result of a search. */
export type SolveView = {
/** Number of the search within the run. */
number: number,
/** State to be solved. */
facelets: string, done: boolean,
/** Width of the newest beam, which exceeds the requested width if narrower beams failed; null if the search is no beam search. */
width: number | null,
/** Number of moves that the newest beam or the search looks ahead. */
steps: number,
/** Number of states generated, including those of narrower beams. */
nodes: number,
/** Smallest estimate of the moves left among the states that were generated; null if there is no estimate. */
nearest: number | null, solution: Solution | null,
/** Reason why the search ended without a solution; null if there is no such reason. */
failure: Failure | null, };

/** Reason for a failed search, and a remedy. */
export type Failure = { text: string, next_step: string, };

export type Solution = { moves: Array<string>,
/** Estimated moves left before each move and at the end; empty if the network outputs only a policy. */
values: Array<number>,
/** Length of the shortest solution; null if distances are not known. */
optimal: number | null, };

/** State of a learner that plays episodes: its curriculum and its replay. */
export type Inside = {
/** Present depth of the curriculum. */
stage: number,
/** The depths from 1 to the last one of the curriculum. */
depths: Array<CurriculumDepth>, replay: ReplayView, };

export type CurriculumDepth = {
/** Number of scramble moves. */
depth: number,
/** Share of new episodes that begin at this depth. */
share: number,
/** Share of recent episodes from this depth that solved the cube. */
success: number,
/** Number of episodes that `success` covers. */
episodes: number, };

export type ReplayView = { len: number, capacity: number,
/** Transitions are sampled by priority. */
prioritised: boolean,
/**
 * Histogram of all transitions by priority, as shares. Bin `i` covers priorities from `2^(i - 12)` to twice that; the
 * first and the last bin also cover all values beyond.
 */
priorities: Array<number>,
/** Transitions with the greatest priorities, in descending order. */
top: Array<TransitionView>, };

export type TransitionView = { facelets: string, action: string,
/** Total reward of the steps that the transition spans. */
reward: number, done: boolean, priority: number,
/** The network's present values of all actions in this state. */
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
