//! How far every state of the 2x2x2 is from solved: a search in breadth, a byte a state.

use super::two::{ORDERS, TABLES, TWISTS};
use super::{Actions, Metric, Move, Puzzle, Two};

const UNKNOWN: u8 = u8::MAX;

pub struct Distances {
    actions: Actions,
    /// By rank.
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
            // Once most are known it is less work to ask those that are not.
            let found = if known < Two::STATES as u32 / 3 {
                onward(&mut table, actions.count(), depth)
            } else {
                back(&mut table, actions.count(), depth)
            };
            counts.push(found);
            known += found;
        }
        Distances { actions, table, counts }
    }

    pub fn actions(&self) -> &Actions {
        &self.actions
    }

    /// Of every state, by rank.
    pub fn table(&self) -> &[u8] {
        &self.table
    }

    /// How many states are so far away, from 0 on.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    #[inline]
    pub fn of(&self, state: Two) -> u8 {
        self.table[state.rank() as usize]
    }

    /// The actions that a shortest solution may begin with, a bit each; none where it is solved.
    #[inline]
    pub fn best(&self, state: Two) -> u32 {
        let here = self.of(state);
        let nearer = |action: &usize| self.of(state.turned(*action)) < here;
        (0..self.actions.count()).filter(nearer).fold(0, |mask, action| mask | 1 << action)
    }

    /// The moves of a shortest solution; of several the one whose actions come first.
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

/// From each state at `depth - 1` to those that are new.
fn onward(table: &mut [u8], actions: usize, depth: u8) -> u32 {
    let (tables, mut found) = (&**TABLES, 0);
    for order in 0..ORDERS {
        for twist in 0..TWISTS {
            if table[order * TWISTS + twist] != depth - 1 {
                continue;
            }
            for action in 0..actions {
                let to = &mut table[neighbour(tables, order, twist, action)];
                if *to == UNKNOWN {
                    *to = depth;
                    found += 1;
                }
            }
        }
    }
    found
}

/// From each state that is not known to one at `depth - 1`.
fn back(table: &mut [u8], actions: usize, depth: u8) -> u32 {
    let (tables, mut found) = (&**TABLES, 0);
    for order in 0..ORDERS {
        for twist in 0..TWISTS {
            let here = order * TWISTS + twist;
            if table[here] == UNKNOWN
                && (0..actions).any(|action| table[neighbour(tables, order, twist, action)] == depth - 1)
            {
                table[here] = depth;
                found += 1;
            }
        }
    }
    found
}

#[inline]
fn neighbour(tables: &super::two::Tables, order: usize, twist: usize, action: usize) -> usize {
    usize::from(tables.order[order][action]) * TWISTS + usize::from(tables.twist[twist][action])
}
