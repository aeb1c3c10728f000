//! Plain data that only the cube room exchanges: the agent's evaluation of a state, searches for solutions, and the replay of a deep-Q
//! learner. A state is a string of facelets: the faces in the order URFDLB, each face row by row. Moves are in Singmaster notation. The
//! distance of a state is the length of its shortest solution. This file contains no behaviour.

use crate::plain_data::plain_data;
pub use learn::cube::Scores as Gives;

crate::questions! {
    /// Returns the agent's evaluation of a state and, if known, the state's distance. Facelets that are not a valid cube give an error with
    /// the reason.
    Look { facelets: String } -> StateView,
    /// Returns the state after `moves` random moves from the solved state. No move undoes the move before it.
    Scramble { moves: u32, seed: u32 } -> Scrambled,
    /// Returns a random state at distance `distance`. If the distances of the cube are unknown, returns the state after `distance` random
    /// moves.
    Draw { distance: u32, seed: u32 } -> Scrambled,
    /// Returns the state after the moves `moves` from the state `facelets`.
    Turn { facelets: String, moves: String } -> Scrambled,
    /// Returns a uniformly random state, which depends only on `seed` and `number`.
    Uniform { seed: u32, number: u32 } -> Scrambled,
    /// Begins a search for a solution and ends any other search. The run continues the search by itself and reports its progress as
    /// [`RoomEvent::Search`].
    Solve { facelets: String, method: SolveMethod } -> SolveView,
    /// Ends the search in progress. No event follows.
    Cancel {} -> (),
    /// Returns the curriculum and the replay; null if the learner has neither.
    Inside {} -> Option<Inside>,
}

plain_data! {
    /// Event of this room, which [`crate::protocol::Event::Room`] contains.
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// State of the search in progress, after each slice of the search. In the last event of a search, `done` is true.
        Search(SolveView),
    }

    /// Description of a variant: the value of [`crate::protocol::Variant::about`].
    pub struct Puzzle {
        /// Number of cubies along an edge: 2 or 3.
        pub size: u32,
        /// True if the distances of all states are known.
        pub exact: bool,
        /// Kind of numbers that the network outputs.
        pub gives: Gives,
        /// True if the learner trains on episodes that it plays. Such a learner has a curriculum and a replay.
        pub plays: bool,
        /// Default method for a search.
        pub method: SolveMethod,
    }

    pub struct StateView {
        /// Facelets of the request, in capitals and without blanks.
        pub facelets: String,
        pub solved: bool,
        /// Length of the shortest solution; null if the distances of the cube are unknown.
        pub distance: Option<u32>,
        /// Length of the shortest solution in the other metric, which the run does not use; null if the distances of the cube are unknown.
        pub other_distance: Option<u32>,
        /// The agent's estimate of the number of moves to the solved state; null if the network outputs only a policy.
        pub value: Option<f32>,
        /// Evaluations of all actions, always in the same order.
        pub actions: Vec<ActionView>,
        /// Index in `actions` of the action that the agent takes. Of equally good actions, the agent takes the first.
        pub best: u32,
    }

    pub struct ActionView {
        /// Move in Singmaster notation, for example `R'`.
        pub action: String,
        /// Score of the action. [`Puzzle::gives`] determines whether the score is the estimated number of moves left after this action, the
        /// estimated number of moves left including this action, or the probability of this action.
        pub score: f32,
        /// Distance of the state after the action; null if the distances of the cube are unknown.
        pub distance: Option<u32>,
    }

    pub struct Scrambled {
        pub facelets: String,
        /// Moves that lead to this state from the solved state or from the state of the question. Empty for a state that was drawn without
        /// moves.
        pub moves: Vec<String>,
        pub distance: Option<u32>,
    }

    #[derive(Copy)]
    pub struct SolveMethod {
        pub search: SearchKind,
        /// Number of states that a beam keeps per level, or that A* expands at once. If a beam fails, the search tries a beam of twice the
        /// width.
        pub width: u32,
        /// For A*: the weight of the number of moves made. The estimated number of moves left has the weight 1.
        pub weight: f32,
        /// Number of generated states after which the search ends. The last step of a search can exceed this number.
        pub nodes: u32,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum SearchKind {
        /// Always takes the best action that does not undo the last move.
        Greedy,
        Beam,
        AStar,
        /// Reads the shortest solution from the table of distances, as a reference; an error if there is no such table.
        Exact,
    }

    /// Progress or result of a search for a solution.
    pub struct SolveView {
        /// Number of the search in its run, starting at 1.
        pub number: u32,
        /// State to be solved.
        pub facelets: String,
        pub done: bool,
        /// Width of the latest beam. It exceeds the requested width if narrower beams failed; null if the method is not a beam search.
        pub width: Option<u32>,
        /// Number of moves that the search has looked ahead so far. In a beam search, only the latest beam counts.
        pub steps: u32,
        /// Number of states generated so far, including the states of narrower beams that failed.
        pub nodes: f64,
        /// Minimum estimated number of moves left among all generated states; null if there is no estimate.
        pub nearest: Option<f32>,
        pub solution: Option<Solution>,
        /// Reason for the end of a search without a solution; null if the search is in progress or found a solution.
        pub failure: Option<Failure>,
    }

    /// Reason for a failed search, and a remedy.
    pub struct Failure {
        pub text: String,
        pub next_step: String,
    }

    pub struct Solution {
        pub moves: Vec<String>,
        /// Estimated number of moves left, before each move and at the end; empty if the network outputs only a policy.
        pub values: Vec<f32>,
        /// Length of the shortest solution; null if the distances of the cube are unknown.
        pub optimal: Option<u32>,
    }

    /// Curriculum and replay (the stored transitions) of a learner that plays episodes.
    pub struct Inside {
        /// Current depth of the curriculum, in scramble moves.
        pub stage: u32,
        /// Statistics of each depth, from 1 to the maximum depth of the curriculum.
        pub depths: Vec<CurriculumDepth>,
        pub replay: ReplayView,
    }

    pub struct CurriculumDepth {
        /// Number of moves in the scrambles of this depth.
        pub depth: u32,
        /// Share of new episodes that begin at this depth.
        pub share: f32,
        /// Share of this depth's recent episodes that solved the cube.
        pub success: f32,
        /// Number of recent episodes on which `success` is based.
        pub episodes: u32,
    }

    pub struct ReplayView {
        pub len: u32,
        pub capacity: u32,
        /// True if transitions are sampled by priority.
        pub prioritised: bool,
        /// Histogram of the priorities of all transitions: bin `i` has the share of priorities from `2^(i - 12)` to `2^(i - 11)`. The first
        /// bin also covers all smaller priorities, the last bin all greater ones.
        pub priorities: Vec<f32>,
        /// Transitions with the highest priorities, in descending order of priority.
        pub top: Vec<TransitionView>,
    }

    pub struct TransitionView {
        pub facelets: String,
        pub action: String,
        /// Sum of the rewards of the steps that the transition spans.
        pub reward: f32,
        pub done: bool,
        pub priority: f32,
        /// Current outputs of the network for all actions in the transition's state.
        pub q: Vec<f32>,
    }
}
