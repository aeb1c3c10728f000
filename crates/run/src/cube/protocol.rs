//! Plain data that only the cube room exchanges: the agent's evaluation of a state, its searches, and the replay of a deep-Q
//! learner. States are facelet strings in the order URFDLB, each face row by row; moves are in Singmaster notation. This file
//! contains no behaviour.

use crate::plain_data::plain_data;
pub use learn::cube::Scores as Gives;

crate::questions! {
    /// The agent's evaluation of a state, and the state's distance if known. Facelets that are not a valid cube give an error
    /// with the reason.
    Look { facelets: String } -> StateView,
    /// The state after `moves` random moves from the solved state; no move undoes the one before.
    Scramble { moves: u32, seed: u32 } -> Scrambled,
    /// A state at this distance if all distances are known, else the state after this number of random moves.
    Draw { distance: u32, seed: u32 } -> Scrambled,
    /// The state after given moves from a given state.
    Turn { facelets: String, moves: String } -> Scrambled,
    /// A uniformly random state.
    Uniform { seed: u32, number: u32 } -> Scrambled,
    /// Begins a search for a solution, and ends any other search. The run advances the search by itself and reports its
    /// progress ([`RoomEvent::Search`]).
    Solve { facelets: String, method: SolveMethod } -> SolveView,
    /// Ends the search in progress, without further events.
    Cancel {} -> (),
    /// Curriculum and replay, if the learner has them.
    Inside {} -> Option<Inside>,
}

plain_data! {
    /// Events of this room, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// Progress after each slice of a search; the last one is `done`.
        Search(SolveView),
    }

    /// Description of a variant, in [`crate::protocol::Variant::about`].
    pub struct Puzzle {
        /// 2 or 3.
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
        /// Length of the shortest solution, if all distances are known.
        pub distance: Option<u32>,
        /// The agent's estimate of the moves left; null if its network outputs only a policy.
        pub value: Option<f32>,
        /// All actions in order; the agent takes the first of the best ones.
        pub actions: Vec<ActionView>,
        pub best: u32,
    }

    pub struct ActionView {
        /// `R'`
        pub action: String,
        /// Score according to [`Puzzle::gives`]: moves left after the action, moves left including the action, or the action's
        /// probability.
        pub score: f32,
        /// Distance of the resulting state, if all distances are known.
        pub distance: Option<u32>,
    }

    pub struct Scrambled {
        pub facelets: String,
        /// The moves that lead to the state, if known.
        pub moves: Vec<String>,
        pub distance: Option<u32>,
    }

    #[derive(Copy)]
    pub struct SolveMethod {
        pub search: SearchKind,
        /// Number of states that a beam keeps per level, or that A* expands at once. A beam that fails is followed by one twice
        /// as wide.
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
        /// Uses the table of distances, as a reference; only if all distances are known.
        Exact,
    }

    /// Progress or result of a search.
    pub struct SolveView {
        /// Number of the search within the run.
        pub number: u32,
        /// State to be solved.
        pub facelets: String,
        pub done: bool,
        /// Width of the present or last beam; it exceeds the requested width if narrower beams failed.
        pub width: Option<u32>,
        /// Moves looked ahead, and states generated, including narrower beams.
        pub steps: u32,
        pub nodes: f64,
        /// Smallest estimate of the moves left among the states that were generated.
        pub nearest: Option<f32>,
        pub solution: Option<Solution>,
        /// Reason why the search ended without a solution.
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
        /// Length of the shortest solution, if all distances are known.
        pub optimal: Option<u32>,
    }

    /// State of a learner that plays, besides its network.
    pub struct Inside {
        /// Present depth of the curriculum, and all depths at which episodes begin.
        pub stage: u32,
        pub depths: Vec<CurriculumDepth>,
        pub replay: ReplayView,
    }

    pub struct CurriculumDepth {
        /// Number of scramble moves.
        pub depth: u32,
        /// Share of new episodes that begin at this depth.
        pub share: f32,
        /// Share of recent episodes that solved the cube, and the number of these episodes.
        pub success: f32,
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
