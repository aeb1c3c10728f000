//! Plain data that only the cube room exchanges: the agent's evaluation of a state, its searches, and the replay of a deep-Q
//! learner. States are facelet strings in the order URFDLB, each face row by row; moves are in Singmaster notation. This file
//! contains no behaviour.

use crate::plain_data::plain_data;
pub use learn::cube::Scores as Gives;

crate::questions! {
    /// The agent's evaluation of a state, and the state's distance from the solved state if known. Facelets that are not a valid cube give
    /// an error with the reason.
    Look { facelets: String } -> StateView,
    /// The state after `moves` random moves from the solved state; no move undoes the previous one.
    Scramble { moves: u32, seed: u32 } -> Scrambled,
    /// A state at distance `distance` from the solved state if all distances are known, else the state after `distance` random moves.
    Draw { distance: u32, seed: u32 } -> Scrambled,
    /// The state after `moves`, in Singmaster notation, from the state `facelets`.
    Turn { facelets: String, moves: String } -> Scrambled,
    /// A uniformly random state, which depends only on `seed` and `number`.
    Uniform { seed: u32, number: u32 } -> Scrambled,
    /// Begins a search for a solution, and ends any other search. The run advances the search by itself and reports its
    /// progress ([`RoomEvent::Search`]).
    Solve { facelets: String, method: SolveMethod } -> SolveView,
    /// Ends the search in progress, without further events.
    Cancel {} -> (),
    /// Curriculum and replay; null if the learner has none.
    Inside {} -> Option<Inside>,
}

plain_data! {
    /// Events of this room, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// State of the search after each of its slices; the last event of a search has `done`.
        Search(SolveView),
    }

    /// Description of a variant, in [`crate::protocol::Variant::about`].
    pub struct Puzzle {
        /// Cubies along an edge: 2 or 3.
        pub size: u32,
        /// The distances of all states are known.
        pub exact: bool,
        /// Kind of the network's output.
        pub gives: Gives,
        /// The learner plays episodes, with a curriculum and a replay.
        pub plays: bool,
        /// Default method for solving.
        pub method: SolveMethod,
    }

    pub struct StateView {
        /// Facelets as typed, in capitals and without blanks.
        pub facelets: String,
        pub solved: bool,
        /// Length of the shortest solution; null if distances are not known.
        pub distance: Option<u32>,
        /// The agent's estimate of the moves left; null if its network outputs only a policy.
        pub value: Option<f32>,
        /// Evaluation of each action, in the order of the learner's actions.
        pub actions: Vec<ActionView>,
        /// Index of the action that the agent takes: the first of the best actions.
        pub best: u32,
    }

    pub struct ActionView {
        /// Move in Singmaster notation, for example `R'`.
        pub action: String,
        /// Score of the kind [`Puzzle::gives`]: estimated moves left after the action, estimated moves left including the action, or the
        /// action's probability.
        pub score: f32,
        /// Distance of the resulting state; null if distances are not known.
        pub distance: Option<u32>,
    }

    pub struct Scrambled {
        pub facelets: String,
        /// The moves that lead to the state; empty if they are not known.
        pub moves: Vec<String>,
        pub distance: Option<u32>,
    }

    #[derive(Copy)]
    pub struct SolveMethod {
        pub search: SearchKind,
        /// Number of states that a beam keeps per level, or that A* expands at once. If a beam fails, a beam of twice the width is tried.
        pub width: u32,
        /// Weight of moves made relative to moves left, in A*.
        pub weight: f32,
        /// Maximum number of generated states.
        pub nodes: u32,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum SearchKind {
        /// Takes the best action that does not undo the last move.
        Greedy,
        Beam,
        AStar,
        /// Uses the table of distances, as a reference; an error if distances are not known.
        Exact,
    }

    /// Progress or result of a search.
    pub struct SolveView {
        /// Number of the search within the run.
        pub number: u32,
        /// State to be solved.
        pub facelets: String,
        pub done: bool,
        /// Width of the newest beam, which exceeds the requested width if narrower beams failed; null if the search is no beam search.
        pub width: Option<u32>,
        /// Number of moves that the newest beam or the search looks ahead.
        pub steps: u32,
        /// Number of states generated, including those of narrower beams.
        pub nodes: f64,
        /// Smallest estimate of the moves left among the states that were generated; null if there is no estimate.
        pub nearest: Option<f32>,
        pub solution: Option<Solution>,
        /// Reason why the search ended without a solution; null if there is no such reason.
        pub failure: Option<Failure>,
    }

    /// Reason for a failed search, and a remedy.
    pub struct Failure {
        pub text: String,
        pub next_step: String,
    }

    pub struct Solution {
        pub moves: Vec<String>,
        /// Estimated moves left before each move and at the end; empty if the network outputs only a policy.
        pub values: Vec<f32>,
        /// Length of the shortest solution; null if distances are not known.
        pub optimal: Option<u32>,
    }

    /// State of a learner that plays episodes: its curriculum and its replay.
    pub struct Inside {
        /// Present depth of the curriculum.
        pub stage: u32,
        /// The depths from 1 to the last one of the curriculum.
        pub depths: Vec<CurriculumDepth>,
        pub replay: ReplayView,
    }

    pub struct CurriculumDepth {
        /// Number of scramble moves.
        pub depth: u32,
        /// Share of new episodes that begin at this depth.
        pub share: f32,
        /// Share of recent episodes from this depth that solved the cube.
        pub success: f32,
        /// Number of episodes that `success` covers.
        pub episodes: u32,
    }

    pub struct ReplayView {
        pub len: u32,
        pub capacity: u32,
        /// Transitions are sampled by priority.
        pub prioritised: bool,
        /// Histogram of all transitions by priority, as shares. Bin `i` covers priorities from `2^(i - 12)` to twice that; the
        /// first and the last bin also cover all values beyond.
        pub priorities: Vec<f32>,
        /// Transitions with the greatest priorities, in descending order.
        pub top: Vec<TransitionView>,
    }

    pub struct TransitionView {
        pub facelets: String,
        pub action: String,
        /// Total reward of the steps that the transition spans.
        pub reward: f32,
        pub done: bool,
        pub priority: f32,
        /// The network's present values of all actions in this state.
        pub q: Vec<f32>,
    }
}
