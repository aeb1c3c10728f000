//! What crosses the boundary in the room of the cube alone: what the agent thinks of a state, how it solves one, which it tells as it
//! searches, and what a deep-Q learner keeps. States are facelet strings in the order URFDLB, each face row by row; moves are in
//! Singmaster notation. This file refuses to hold behaviour.

use crate::plain_data::plain_data;
pub use learn::cube::Scores as Gives;

crate::questions! {
    /// What the agent thinks of a state, and what is known of it. Refused where the stickers are no cube, which says why.
    Look { facelets: String } -> StateView,
    /// Where so many random moves lead from the solved state; none takes back the one before.
    Scramble { moves: u32, seed: u32 } -> Scrambled,
    /// A state with this distance where all are known, else one that so many random moves lead to.
    Draw { distance: u32, seed: u32 } -> Scrambled,
    /// Where moves lead from a state.
    Turn { facelets: String, moves: String } -> Scrambled,
    /// One of all states, each as likely.
    Uniform { seed: u32, number: u32 } -> Scrambled,
    /// Begins to look for a solution, and ends any other search. The run goes on with it by itself and tells how it stands
    /// ([`RoomEvent::Search`]).
    Solve { facelets: String, method: SolveMethod } -> SolveView,
    /// Ends the search under way, of which nothing more is told.
    Cancel {} -> (),
    /// Curriculum and replay of a learner that has them.
    Inside {} -> Option<Inside>,
}

plain_data! {
    /// What only this room tells, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// After each slice of a search, the last time when it is done.
        Search(SolveView),
    }

    /// What a variant is, in [`crate::protocol::Variant::about`].
    pub struct Puzzle {
        /// 2 or 3.
        pub size: u32,
        /// The distance of every state is known.
        pub exact: bool,
        /// What its network gives.
        pub gives: Gives,
        /// It has a curriculum and a replay.
        pub plays: bool,
        /// How its agent solves where nothing else is asked for.
        pub method: SolveMethod,
    }

    pub struct StateView {
        /// As typed, in capitals and without blanks.
        pub facelets: String,
        pub solved: bool,
        /// Moves of the shortest solution, where all distances are known.
        pub distance: Option<u32>,
        /// Moves that the agent thinks it takes; nothing where its network gives a policy alone.
        pub value: Option<f32>,
        /// Every action in its order; the first of the best ones is what the agent does.
        pub actions: Vec<ActionView>,
        pub best: u32,
    }

    pub struct ActionView {
        /// `R'`
        pub action: String,
        /// By [`Puzzle::gives`]: moves that are left after it, moves by way of it, or its probability.
        pub score: f32,
        /// Distance of the state that it leads to, where all are known.
        pub distance: Option<u32>,
    }

    pub struct Scrambled {
        pub facelets: String,
        /// The moves that led there, where they are known.
        pub moves: Vec<String>,
        pub distance: Option<u32>,
    }

    #[derive(Copy)]
    pub struct SolveMethod {
        pub search: SearchKind,
        /// States that a beam keeps of a level, or that A* expands at once. A beam that fails is followed by one twice as wide.
        pub width: u32,
        /// Of moves made beside moves to go, in A*.
        pub weight: f32,
        /// States generated at most.
        pub nodes: u32,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum SearchKind {
        /// The best action that does not take the last move back.
        Greedy,
        Beam,
        AStar,
        /// By the table of distances, as a reference: where all are known.
        Exact,
    }

    /// A search as it stands.
    pub struct SolveView {
        /// Which search of the run it is.
        pub number: u32,
        /// What is to be solved.
        pub facelets: String,
        pub done: bool,
        /// Of the beam that searches or was the last to: more than was asked for where narrower ones failed.
        pub width: Option<u32>,
        /// Moves that it has looked ahead, and states generated, by narrower beams too.
        pub steps: u32,
        pub nodes: f64,
        /// Moves that the nearest state it met is thought to be away.
        pub nearest: Option<f32>,
        pub solution: Option<Solution>,
        /// Once it is done without one.
        pub failure: Option<Failure>,
    }

    /// Why there is no solution, and what to try.
    pub struct Failure {
        pub text: String,
        pub next_step: String,
    }

    pub struct Solution {
        pub moves: Vec<String>,
        /// Moves that the agent thought were left before each move and at the end; empty where its network gives a policy alone.
        pub values: Vec<f32>,
        /// Length of the shortest, where all distances are known.
        pub optimal: Option<u32>,
    }

    /// What a learner that plays has beside its network.
    pub struct Inside {
        /// Depth that the curriculum has come to, and each depth that episodes begin at.
        pub stage: u32,
        pub depths: Vec<CurriculumDepth>,
        pub replay: ReplayView,
    }

    pub struct CurriculumDepth {
        /// Moves of the scramble.
        pub depth: u32,
        /// Share of new episodes that begin there.
        pub share: f32,
        /// Share of its newest episodes that solved the cube, and how many it is of.
        pub success: f32,
        pub episodes: u32,
    }

    pub struct ReplayView {
        pub len: u32,
        pub capacity: u32,
        /// Whether it samples by priority.
        pub prioritised: bool,
        /// Shares of all transitions by priority: bin `i` holds those from `2^(i - 12)` to twice that, the first and the last also what
        /// lies beyond.
        pub priorities: Vec<f32>,
        /// Those of the greatest priority, the greatest first.
        pub top: Vec<TransitionView>,
    }

    pub struct TransitionView {
        pub facelets: String,
        pub action: String,
        /// Of the steps that it spans together.
        pub reward: f32,
        pub done: bool,
        pub priority: f32,
        /// What the network says now of each action there.
        pub q: Vec<f32>,
    }
}
