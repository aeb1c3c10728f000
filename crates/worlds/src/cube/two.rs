//! The 2x2x2 with its corner DBL fixed, so that turns of R, U and F reach all states. A state is stored as its rank, the index of a pair of
//! a permutation and a twist, out of 7!·3⁶ pairs. A move changes the permutation and the twist independently, with one small table for
//! each.

use super::facelets::{self, CubeError, Typed};
use super::moves::Move;
use super::pieces::{CODES, CORNERS, DBL, SMALL_FACELETS, inputs};
use super::puzzle::{Actions, Puzzle};
use super::ranks::{self, ORDERS, PLACES, TABLES, TWISTS, order, turned, twist};
use super::{fold, symmetry};
use math::rng::Sequence;

const INPUTS: [[[u16; 3]; CODES]; 8] = inputs(CORNERS, SMALL_FACELETS);

/// A state, stored as its rank. Rank 0 is the solved state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Two(u32);

impl Two {
    pub const STATES: usize = ORDERS * TWISTS;

    /// Returns the state with this rank; `None` if the rank is not below [`Two::STATES`].
    pub fn unrank(rank: u32) -> Option<Two> {
        ((rank as usize) < Two::STATES).then_some(Two(rank))
    }

    #[inline]
    pub fn rank(self) -> u32 {
        self.0
    }

    #[inline]
    fn parts(self) -> (usize, usize) {
        (self.0 as usize / TWISTS, self.0 as usize % TWISTS)
    }

    #[inline]
    fn from_parts(order: u16, twist: u16) -> Two {
        Two(u32::from(order) * TWISTS as u32 + u32::from(twist))
    }

    /// Returns the code at each place, URF to DRB: the number of the piece, plus 8 for each clockwise third of a turn.
    #[inline]
    pub fn cubies(self) -> [u8; 8] {
        let (order, twist) = self.parts();
        TABLES.cubies(order, twist)
    }

    /// Creates a state from valid codes. The corner at DBL must be solved.
    fn with_cubies(cubies: &[u8; 8]) -> Two {
        Two::from_parts(order(cubies) as u16, twist(cubies) as u16)
    }
}

impl Puzzle for Two {
    const SIZE: usize = 2;
    const MOVES: &'static [Move] = &ranks::MOVES;
    const SOLVED: Two = Two(0);
    const CUBIES: usize = PLACES.len();
    const FIXED: &'static [u16] = &INPUTS[DBL][DBL];

    #[inline]
    fn turned(self, action: usize) -> Two {
        let (order, twist) = self.parts();
        Two::from_parts(TABLES.order[order][action], TABLES.twist[twist][action])
    }

    #[inline]
    fn inputs(self, active: &mut [u16]) {
        facelets::scatter(&INPUTS, &SMALL_FACELETS, &self.cubies(), active);
    }

    #[inline]
    fn rows(self, rows: &mut [u16]) {
        rows_of(&self.cubies(), rows);
    }

    fn symmetric_rows(self, rows: &mut [u16]) {
        let (cubies, mut inverse) = (self.cubies(), [0; 8]);
        symmetry::inverse(&cubies, &mut inverse);
        rows_of(&symmetry::first_held(&cubies, &inverse), rows);
    }

    fn row_inputs(row: usize) -> &'static [u16] {
        &INPUTS[PLACES[row / CODES]][row % CODES]
    }

    #[inline]
    fn folded(self) -> (Two, u8) {
        let (order, twist) = self.parts();
        let (rank, symmetry) = fold::fold(order, twist);
        (Two(rank), symmetry)
    }

    #[inline]
    fn folded_action(symmetry: u8, action: usize) -> usize {
        fold::action(symmetry, action)
    }

    #[inline]
    fn key(self) -> u64 {
        let mixed = (u64::from(self.0) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ mixed >> 32
    }

    fn drawn(numbers: &mut Sequence) -> Two {
        Two(numbers.below(Two::STATES as u32))
    }

    fn fill_children(states: &[Two], actions: &Actions, children: &mut [Two]) {
        let count = actions.count();
        assert_eq!(children.len(), states.len() * count, "one child per action");
        // The loop uses one reference for all states, because each access to the static checks whether it is initialised.
        let tables = &**TABLES;
        for (state, children) in states.iter().zip(children.chunks_exact_mut(count)) {
            let (order, twist) = state.parts();
            for (child, (&order, &twist)) in children.iter_mut().zip(tables.order[order].iter().zip(&tables.twist[twist])) {
                *child = Two::from_parts(order, twist);
            }
        }
    }

    fn after(moves: &[Move]) -> Two {
        let solved = std::array::from_fn(|place| place as u8);
        Two::with_cubies(&facelets::held(moves.iter().fold(solved, |cubies, &by| turned(&cubies, by))))
    }

    fn from_facelets(text: &str) -> Result<Typed<Two>, CubeError> {
        Ok(facelets::two(text)?.map(|cubies| Two::with_cubies(&cubies)))
    }
}

#[inline]
fn rows_of(cubies: &[u8; 8], rows: &mut [u16]) {
    for (i, (row, place)) in rows.iter_mut().zip(PLACES).enumerate() {
        *row = (i * CODES) as u16 + u16::from(cubies[place]);
    }
}
