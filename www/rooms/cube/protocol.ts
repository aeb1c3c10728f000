// Questions, answers and events of the cube room.
// Generated from crates/run/src/cube/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "look", facelets: string, } | { "ask": "scramble", moves: number, seed: number, } | { "ask": "draw", distance: number, seed: number, } | { "ask": "turn", facelets: string, moves: string, } | { "ask": "uniform", seed: number, number: number, } | { "ask": "solve", facelets: string, method: SolveMethod, } | { "ask": "cancel", } | { "ask": "inside", };

/** Event of this room, which [`crate::protocol::Event::Room`] contains. */
export type RoomEvent = { "kind": "search" } & SolveView;

/** Description of a variant: the value of [`crate::protocol::Variant::about`]. */
export type Puzzle = {
/** Number of cubies along an edge: 2 or 3. */
size: number,
/** True if the distances of all states are known. */
exact: boolean,
/** Kind of numbers that the network outputs. */
gives: Gives,
/** True if the learner trains on episodes that it plays. Such a learner has a curriculum and a replay. */
plays: boolean,
/** Default method for a search. */
method: SolveMethod, };

/** Kind of scores that a network outputs for a state. */
export type Gives = "value" | "action_values" | "policy";

export type StateView = {
/** Facelets of the request, in capitals and without blanks. */
facelets: string, solved: boolean,
/** Length of the shortest solution; null if the distances of the cube are unknown. */
distance: number | null,
/** Length of the shortest solution in the other metric, which the run does not use; null if the distances of the cube are unknown. */
other_distance: number | null,
/** The agent's estimate of the number of moves to the solved state; null if the network outputs only a policy. */
value: number | null,
/** Evaluations of all actions, always in the same order. */
actions: Array<ActionView>,
/** Index in `actions` of the action that the agent takes. Of equally good actions, the agent takes the first. */
best: number, };

export type ActionView = {
/** Move in Singmaster notation, for example `R'`. */
action: string,
/**
 * Score of the action. [`Puzzle::gives`] determines whether the score is the estimated number of moves left after this action, the
 * estimated number of moves left including this action, or the probability of this action.
 */
score: number,
/** Distance of the state after the action; null if the distances of the cube are unknown. */
distance: number | null, };

export type Scrambled = { facelets: string,
/**
 * Moves that lead to this state from the solved state or from the state of the question. Empty for a state that was drawn without
 * moves.
 */
moves: Array<string>, distance: number | null, };

export type SolveMethod = { search: SearchKind,
/**
 * Number of states that a beam keeps per level, or that A* expands at once. If a beam fails, the search tries a beam of twice the
 * width.
 */
width: number,
/** For A*: the weight of the number of moves made. The estimated number of moves left has the weight 1. */
weight: number,
/** Number of generated states after which the search ends. The last step of a search can exceed this number. */
nodes: number, };

export type SearchKind = "greedy" | "beam" | "a_star" | "exact";

/** Progress or result of a search for a solution. */
export type SolveView = {
/** Number of the search in its run, starting at 1. */
number: number,
/** State to be solved. */
facelets: string, done: boolean,
/** Width of the latest beam. It exceeds the requested width if narrower beams failed; null if the method is not a beam search. */
width: number | null,
/** Number of moves that the search has looked ahead so far. In a beam search, only the latest beam counts. */
steps: number,
/** Number of states generated so far, including the states of narrower beams that failed. */
nodes: number,
/** Minimum estimated number of moves left among all generated states; null if there is no estimate. */
nearest: number | null, solution: Solution | null,
/** Reason for the end of a search without a solution; null if the search is in progress or found a solution. */
failure: Failure | null, };

/** Reason for a failed search, and a remedy. */
export type Failure = { text: string, next_step: string, };

export type Solution = { moves: Array<string>,
/** Estimated number of moves left, before each move and at the end; empty if the network outputs only a policy. */
values: Array<number>,
/** Length of the shortest solution; null if the distances of the cube are unknown. */
optimal: number | null, };

/** Curriculum and replay (the stored transitions) of a learner that plays episodes. */
export type Inside = {
/** Current depth of the curriculum, in scramble moves. */
stage: number,
/** Statistics of each depth, from 1 to the maximum depth of the curriculum. */
depths: Array<CurriculumDepth>, replay: ReplayView, };

export type CurriculumDepth = {
/** Number of moves in the scrambles of this depth. */
depth: number,
/** Share of new episodes that begin at this depth. */
share: number,
/** Share of this depth's recent episodes that solved the cube. */
success: number,
/** Number of recent episodes on which `success` is based. */
episodes: number, };

export type ReplayView = { len: number, capacity: number,
/** True if transitions are sampled by priority. */
prioritised: boolean,
/**
 * Histogram of the priorities of all transitions: bin `i` has the share of priorities from `2^(i - 12)` to `2^(i - 11)`. The first
 * bin also covers all smaller priorities, the last bin all greater ones.
 */
priorities: Array<number>,
/** Transitions with the highest priorities, in descending order of priority. */
top: Array<TransitionView>, };

export type TransitionView = { facelets: string, action: string,
/** Sum of the rewards of the steps that the transition spans. */
reward: number, done: boolean, priority: number,
/** Current outputs of the network for all actions in the transition's state. */
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
