//! Interface of both cubes: states, network inputs, and the actions between states.

use super::facelets::{CubeError, Scheme, Typed};
use super::moves::{Metric, Move};
use math::rng::Sequence;

/// Actions of a cube in a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actions {
    metric: Metric,
    moves: &'static [Move],
}

impl Actions {
    pub const fn of<P: Puzzle>(metric: Metric) -> Actions {
        let all: &'static [Move] = P::MOVES;
        let count = match metric {
            Metric::Quarter => all.len() / 3 * 2,
            Metric::Half => all.len(),
        };
        Actions { metric, moves: all.split_at(count).0 }
    }

    pub const fn metric(&self) -> Metric {
        self.metric
    }

    pub const fn count(&self) -> usize {
        self.moves.len()
    }

    pub const fn moves(&self) -> &'static [Move] {
        self.moves
    }

    pub fn find(&self, of: Move) -> Option<usize> {
        self.moves.iter().position(|&m| m == of)
    }

    /// Returns the number of actions that are quarter turns. These actions come first.
    const fn quarters(&self) -> usize {
        match self.metric {
            Metric::Quarter => self.count(),
            Metric::Half => self.count() / 3 * 2,
        }
    }

    pub const fn inverse(&self, action: usize) -> usize {
        if action < self.quarters() { action ^ 1 } else { action }
    }

    /// Draws the next action of a random walk. The action does not undo the previous action `last`; in the half-turn metric, the action
    /// does not turn the same face as `last`. `last` is `None` at the start of the walk.
    pub fn drawn(&self, last: Option<usize>, numbers: &mut Sequence) -> usize {
        let count = self.count() as u32;
        let Some(last) = last else { return numbers.below(count) as usize };
        if self.metric == Metric::Quarter {
            let action = numbers.below(count - 1) as usize;
            return action + usize::from(action >= self.inverse(last));
        }
        let quarters = self.quarters();
        let face = if last < quarters { last / 2 } else { last - quarters };
        let mut action = numbers.below(count - 3) as usize;
        for not in [2 * face, 2 * face + 1, quarters + face] {
            action += usize::from(action >= not);
        }
        action
    }
}

/// Common interface of both cubes, for learners and searches.
pub trait Puzzle: Copy + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static {
    /// Number of cubies along an edge.
    const SIZE: usize;
    const FACELETS: usize = 6 * Self::SIZE * Self::SIZE;
    /// Number of network inputs: one for each pair of a facelet and a colour.
    const INPUTS: usize = 6 * Self::FACELETS;
    /// All actions, quarter turns first.
    const MOVES: &'static [Move];
    const SOLVED: Self;
    /// Number of cubies that moves can move.
    const CUBIES: usize;
    /// Indices of the network inputs that are 1 in every state.
    const FIXED: &'static [u16];

    /// Returns the state after an action.
    fn turned(self, action: usize) -> Self;

    /// Writes the indices of the network inputs that are 1: one index per facelet, in the order of the facelets. An index is `facelet * 6 +
    /// colour`, with colours in the order U R F D L B.
    fn inputs(self, active: &mut [u16]);

    /// Writes the rows of the state, one row for each place whose cubie is not fixed. A row is the number of a pair of a place and a code:
    /// `i * CODES + code` for the `i`-th of these places and the code of the cubie at this place. A network's first layer can have one
    /// vector of weights per row instead of [`Puzzle::INPUTS`] inputs.
    fn rows(self, rows: &mut [u16]);

    /// Writes [`Puzzle::rows`] of the state that represents this state's class. The class contains all states that are symmetric to this
    /// state or to its inverse. All states of a class have the same distance from the solved state.
    fn symmetric_rows(self, rows: &mut [u16]);

    /// Returns the indices of the inputs that are 1 if a state has this row (a place and the code of its cubie; see [`Puzzle::rows`]). The
    /// inputs of a state are those of all its rows, plus [`Puzzle::FIXED`].
    fn row_inputs(row: usize) -> &'static [u16];

    /// Returns the representative of a class of states, and the symmetry that maps this state to the representative. The class contains
    /// this state and its images under all symmetries that only rename the moves. By default, each state represents itself.
    #[inline]
    fn folded(self) -> (Self, u8) {
        (self, 0)
    }

    /// Returns the image of an action under a symmetry that [`Puzzle::folded`] returns.
    #[inline]
    fn folded_action(_symmetry: u8, action: usize) -> usize {
        action
    }

    /// Returns a hash for tables of states. Every bit of the hash depends on the whole state.
    fn key(self) -> u64;

    /// Draws a state from the uniform distribution over all states.
    fn drawn(numbers: &mut Sequence) -> Self;

    /// Returns the state of a solved cube after these moves. On a 2x2x2, the colours are then assigned to faces anew, so that the corner at
    /// DBL is solved.
    fn after(moves: &[Move]) -> Self;

    /// Reads a facelet string. The string may use any six letters or digits.
    fn from_facelets(text: &str) -> Result<Typed<Self>, CubeError>;

    fn facelets(self, scheme: &Scheme) -> String {
        let mut active = vec![0; Self::FACELETS];
        self.inputs(&mut active);
        active.iter().map(|&input| scheme.0[usize::from(input) % 6]).collect()
    }

    /// Writes [`Puzzle::inputs`] of many states.
    fn fill_inputs(states: &[Self], active: &mut [u16]) {
        assert_eq!(active.len(), states.len() * Self::FACELETS, "one index per facelet");
        for (state, active) in states.iter().zip(active.chunks_exact_mut(Self::FACELETS)) {
            state.inputs(active);
        }
    }

    /// Writes [`Puzzle::rows`] of many states.
    fn fill_rows(states: &[Self], rows: &mut [u16]) {
        assert_eq!(rows.len(), states.len() * Self::CUBIES, "one index per cubie");
        for (state, rows) in states.iter().zip(rows.chunks_exact_mut(Self::CUBIES)) {
            state.rows(rows);
        }
    }

    /// Writes the state after each action for each of the states, `[states][actions]`.
    fn fill_children(states: &[Self], actions: &Actions, children: &mut [Self]);

    /// Writes a random walk that starts at the solved state. `states` receives the state after each step, and `taken` the action of each
    /// step.
    fn fill_walk(actions: &Actions, numbers: &mut Sequence, states: &mut [Self], taken: &mut [u8]) {
        assert_eq!(states.len(), taken.len(), "one action per state");
        let (mut state, mut last) = (Self::SOLVED, None);
        for (there, taken) in states.iter_mut().zip(taken) {
            let action = actions.drawn(last, numbers);
            (state, last) = (state.turned(action), Some(action));
            (*there, *taken) = (state, action as u8);
        }
    }

    /// Draws the moves of a random walk of `length` steps.
    fn scramble(actions: &Actions, numbers: &mut Sequence, length: usize) -> Vec<Move> {
        let mut last = None;
        let mut next = || *last.insert(actions.drawn(last, numbers));
        (0..length).map(|_| actions.moves()[next()]).collect()
    }
}
