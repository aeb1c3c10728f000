//! What both cubes have: states, and the actions that lead from one to another.

use super::facelets::{CubeError, Scheme, Typed};
use super::moves::{Metric, Move};
use math::rng::Sequence;

/// The actions of a cube in a metric, numbered from 0.
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

    /// How many of the actions are quarter turns.
    const fn quarters(&self) -> usize {
        match self.metric {
            Metric::Quarter => self.count(),
            Metric::Half => self.count() / 3 * 2,
        }
    }

    pub const fn inverse(&self, action: usize) -> usize {
        if action < self.quarters() { action ^ 1 } else { action }
    }

    /// The next move of a random walk: any that does not undo the last one, nor with half turns go on with the same face.
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

/// What both cubes have, so that a learner or a search is written once.
pub trait Puzzle: Copy + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static {
    /// Cubies along an edge.
    const SIZE: usize;
    const FACELETS: usize = 6 * Self::SIZE * Self::SIZE;
    /// Each facelet in each colour.
    const INPUTS: usize = 6 * Self::FACELETS;
    /// Every action, quarter turns first.
    const MOVES: &'static [Move];
    const SOLVED: Self;
    /// Those that move.
    const CUBIES: usize;
    /// The inputs that are always 1.
    const FIXED: &'static [u16];

    /// After an action.
    fn turned(self, action: usize) -> Self;

    /// The inputs that are 1, one for each facelet in order: `facelet * 6 + colour`, colours in the order U R F D L B.
    fn inputs(self, active: &mut [u16]);

    /// The same by cubies, for a first layer whose rows were summed: one of [`CODES`] rows for each that moves, counted on from
    /// cubie to cubie.
    fn rows(self, rows: &mut [u16]);

    /// The same of whichever stands for all that are as far from solved by symmetry.
    fn symmetric_rows(self, rows: &mut [u16]);

    /// The inputs that such a row sums. With [`Puzzle::FIXED`] they make up [`Puzzle::inputs`].
    fn row_inputs(row: usize) -> &'static [u16];

    /// Of all states that take the same moves but for their names the first, and a number of the symmetry that leads there.
    #[inline]
    fn folded(self) -> (Self, u8) {
        (self, 0)
    }

    /// What an action is called by a symmetry.
    #[inline]
    fn folded_action(_symmetry: u8, action: usize) -> usize {
        action
    }

    /// A number that tells states apart, all bits mixed, for tables of them.
    fn key(self) -> u64;

    /// Any state, all equally likely.
    fn drawn(numbers: &mut Sequence) -> Self;

    /// After these moves from the solved state, as one holds it then.
    fn after(moves: &[Move]) -> Self;

    /// The cube that this string shows, in whatever letters.
    fn from_facelets(text: &str) -> Result<Typed<Self>, CubeError>;

    fn facelets(self, scheme: &Scheme) -> String {
        let mut active = vec![0; Self::FACELETS];
        self.inputs(&mut active);
        active.iter().map(|&input| scheme.0[usize::from(input) % 6]).collect()
    }

    /// [`Puzzle::inputs`] of many.
    fn fill_inputs(states: &[Self], active: &mut [u16]) {
        assert_eq!(active.len(), states.len() * Self::FACELETS, "one index a facelet");
        for (state, active) in states.iter().zip(active.chunks_exact_mut(Self::FACELETS)) {
            state.inputs(active);
        }
    }

    /// [`Puzzle::rows`] of many.
    fn fill_rows(states: &[Self], rows: &mut [u16]) {
        assert_eq!(rows.len(), states.len() * Self::CUBIES, "one index a cubie");
        for (state, rows) in states.iter().zip(rows.chunks_exact_mut(Self::CUBIES)) {
            state.rows(rows);
        }
    }

    /// What every action leads to, `[states][actions]`.
    fn fill_children(states: &[Self], actions: &Actions, children: &mut [Self]) {
        let count = actions.count();
        assert_eq!(children.len(), states.len() * count, "a child an action");
        for (state, children) in states.iter().zip(children.chunks_exact_mut(count)) {
            for (action, child) in children.iter_mut().enumerate() {
                *child = state.turned(action);
            }
        }
    }

    /// A random walk from the solved state: after each move the state and the action that led there.
    fn fill_walk(actions: &Actions, numbers: &mut Sequence, states: &mut [Self], taken: &mut [u8]) {
        assert_eq!(states.len(), taken.len(), "an action a state");
        let (mut state, mut last) = (Self::SOLVED, None);
        for (there, taken) in states.iter_mut().zip(taken) {
            let action = actions.drawn(last, numbers);
            (state, last) = (state.turned(action), Some(action));
            (*there, *taken) = (state, action as u8);
        }
    }

    /// The moves of a random walk.
    fn scramble(actions: &Actions, numbers: &mut Sequence, length: usize) -> Vec<Move> {
        let mut last = None;
        let mut next = || *last.insert(actions.drawn(last, numbers));
        (0..length).map(|_| actions.moves()[next()]).collect()
    }
}
