//! Distance of every state of the 2x2x2 from the solved state, found by breadth-first search with one byte per state.

use super::moves::{Metric, Move};
use super::puzzle::{Actions, Puzzle};
use super::ranks::{TABLES, TWISTS};
use super::two::Two;

const UNKNOWN: u8 = u8::MAX;

pub struct Distances {
    actions: Actions,
    /// Distance of each state; the index is the state's rank.
    table: Vec<u8>,
    counts: Vec<u32>,
}

impl Distances {
    pub const BYTES: usize = Two::STATES;

    pub fn new(metric: Metric) -> Distances {
        let actions = Actions::of::<Two>(metric);
        let mut table = vec![UNKNOWN; Two::STATES];
        table[0] = 0;
        let (mut counts, mut known) = (vec![1], 1);
        while known < Two::STATES as u32 {
            let depth = counts.len() as u8;
            // When many states are known, a search backwards from the unknown states is cheaper.
            let step = match (metric, known < Two::STATES as u32 / 3) {
                (Metric::Quarter, true) => onward::<6>,
                (Metric::Quarter, false) => back::<6>,
                (Metric::Half, true) => onward::<9>,
                (Metric::Half, false) => back::<9>,
            };
            let found = step(&mut table, depth);
            counts.push(found);
            known += found;
        }
        Distances { actions, table, counts }
    }

    pub fn actions(&self) -> &Actions {
        &self.actions
    }

    /// Returns the distance of every state; the index is the state's rank.
    pub fn table(&self) -> &[u8] {
        &self.table
    }

    /// Returns the number of states at each distance; the index is the distance.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    #[inline]
    pub fn of(&self, state: Two) -> u8 {
        self.table[state.rank() as usize]
    }

    /// Returns the mask of the actions that begin a shortest solution, one bit per action. The mask is 0 for the solved state.
    #[inline]
    pub fn best(&self, state: Two) -> u32 {
        let here = self.of(state);
        let nearer = |action: &usize| self.of(state.turned(*action)) < here;
        (0..self.actions.count()).filter(nearer).fold(0, |mask, action| mask | 1 << action)
    }

    /// Returns the moves of a shortest solution. If several moves shorten the distance, the solution uses the move with the lowest action.
    pub fn solution(&self, mut state: Two) -> Vec<Move> {
        let mut moves = Vec::new();
        while self.of(state) > 0 {
            let action = self.best(state).trailing_zeros() as usize;
            state = state.turned(action);
            moves.push(self.actions.moves()[action]);
        }
        moves
    }
}

/// Number of states with consecutive ranks in a block. A search skips the block if no state in the block has the requested distance.
const BLOCK: usize = 27;

/// Calls `visit` for every state whose value in the table is `distance`. The arguments of `visit` are the table and the state's rank, order
/// and twist (see `ranks`).
#[inline]
fn at(table: &mut [u8], distance: u8, mut visit: impl FnMut(&mut [u8], usize, usize, usize)) {
    for start in (0..Two::STATES).step_by(BLOCK) {
        let block = &table[start..start + BLOCK];
        if !block.iter().fold(false, |any, &d| any | (d == distance)) {
            continue;
        }
        for rank in start..start + BLOCK {
            if table[rank] == distance {
                visit(table, rank, start / TWISTS, rank - start / TWISTS * TWISTS);
            }
        }
    }
}

/// Applies each action to each state at the distance `depth - 1`. Sets the distance of each unknown state that an action reaches, and
/// returns the number of these states.
fn onward<const ACTIONS: usize>(table: &mut [u8], depth: u8) -> u32 {
    let (tables, mut found) = (&**TABLES, 0);
    at(table, depth - 1, |table, _, order, twist| {
        for action in 0..ACTIONS {
            let to = &mut table[tables.neighbour(order, twist, action)];
            found += u32::from(*to == UNKNOWN);
            *to = (*to).min(depth);
        }
    });
    found
}

/// Sets the distance of the unknown states that have a neighbour at the distance `depth - 1`, and returns the number of these states.
/// `onward` has the same effect and returns the same number.
fn back<const ACTIONS: usize>(table: &mut [u8], depth: u8) -> u32 {
    let (tables, mut found) = (&**TABLES, 0);
    at(table, UNKNOWN, |table, rank, order, twist| {
        // All neighbours are read, because an early exit would be slower.
        let nearer = |near, action| near | (table[tables.neighbour(order, twist, action)] == depth - 1);
        if (0..ACTIONS).fold(false, nearer) {
            table[rank] = depth;
            found += 1;
        }
    });
    found
}
