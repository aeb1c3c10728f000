//! The 3x3x3. A state has twenty bytes, one code for each cubie. Each of the 18 turns permutes these bytes and adds to them. The centres
//! are fixed.

use super::facelets::{self, CubeError, Typed};
use super::moves::{self, Move, Shuffle};
use super::pieces::{CODES, CORNER_FACELETS, CORNERS, EDGE_FACELETS, EDGES, FLIP, Face, TWIST, inputs, odd};
use super::puzzle::{Actions, Puzzle};
use super::symmetry;
use math::rng::Sequence;

const CORNER_INPUTS: [[[u16; 3]; CODES]; 8] = inputs(CORNERS, CORNER_FACELETS);
const EDGE_INPUTS: [[[u16; 2]; CODES]; 12] = inputs(EDGES, EDGE_FACELETS);

/// Network inputs of the centres, which are always 1.
const CENTRES: [u16; 6] = {
    let mut centres = [0; 6];
    let mut face = 0;
    while face < 6 {
        centres[face] = ((9 * face + 4) * 6 + face) as u16;
        face += 1;
    }
    centres
};

const MOVES: [Move; 18] = moves::actions::<6, 18>(Face::ALL);
const SHUFFLES: [Shuffle; 18] = {
    let mut all = [*MOVES[0].shuffle(); 18];
    let mut action = 0;
    while action < 18 {
        all[action] = *MOVES[action].shuffle();
        action += 1;
    }
    all
};

/// A state, given by the code at each place. Corners, URF to DRB: the number of the piece, plus 8 for each clockwise third of a turn.
/// Edges, UR to BR: the number of the piece, plus 12 if the piece is flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Three([u8; 20]);

impl Three {
    #[inline]
    pub fn cubies(&self) -> &[u8; 20] {
        &self.0
    }

    /// Creates a state from codes. Returns `None` if no sequence of turns leads from the solved cube to this state.
    pub fn from_cubies(cubies: [u8; 20]) -> Option<Three> {
        let (mut seen, mut sums, mut swaps) = ([0u32; 2], [0u32; 2], 0);
        for (place, &code) in cubies.iter().enumerate() {
            let (kind, pieces) = if place < 8 { (0, TWIST) } else { (1, FLIP) };
            let piece = code % pieces;
            if usize::from(code) >= CODES || seen[kind] >> piece & 1 == 1 {
                return None;
            }
            // Counts the earlier pieces with a larger number. Each of them forms an inversion of the permutation with this piece.
            swaps += (seen[kind] >> piece).count_ones();
            seen[kind] |= 1 << piece;
            sums[kind] += u32::from(code / pieces);
        }
        (sums[0].is_multiple_of(3) && sums[1].is_multiple_of(2) && swaps.is_multiple_of(2)).then_some(Three(cubies))
    }

    /// Returns the inverse state: the solved cube after the inverse moves.
    fn inverse(&self) -> Three {
        let mut inverse = [0; 20];
        let (corners, edges) = inverse.split_at_mut(8);
        symmetry::inverse(&self.0[..8], corners);
        symmetry::inverse(&self.0[8..], edges);
        Three(inverse)
    }

    #[inline(always)]
    fn shuffled(&self, by: &Shuffle) -> Three {
        // The array is padded to 32 bytes, so that an index of five bits needs no bounds check.
        let mut old = [0; 32];
        old[..20].copy_from_slice(&self.0);
        let mut new = [0; 20];
        for place in 0..20 {
            let code = old[usize::from(by.from[place] & 31)] + by.add[place];
            // If `code` is less than CODES, the subtraction wraps to a large value.
            new[place] = code.min(code.wrapping_sub(CODES as u8));
        }
        Three(new)
    }
}

impl Puzzle for Three {
    const SIZE: usize = 3;
    const MOVES: &'static [Move] = &MOVES;
    const CUBIES: usize = 20;
    const FIXED: &'static [u16] = &CENTRES;
    const SOLVED: Three = Three([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);

    #[inline]
    fn turned(self, action: usize) -> Three {
        self.shuffled(&SHUFFLES[action])
    }

    #[inline]
    fn inputs(self, active: &mut [u16]) {
        let (corners, edges) = self.0.split_at(8);
        facelets::scatter(&CORNER_INPUTS, &CORNER_FACELETS, corners, active);
        facelets::scatter(&EDGE_INPUTS, &EDGE_FACELETS, edges, active);
        for centre in CENTRES {
            active[usize::from(centre / 6)] = centre;
        }
    }

    #[inline]
    fn rows(self, rows: &mut [u16]) {
        for (place, (row, code)) in rows.iter_mut().zip(self.0).enumerate() {
            *row = (place * CODES) as u16 + u16::from(code);
        }
    }

    fn symmetric_rows(self, rows: &mut [u16]) {
        Three(symmetry::first(&self.0, &self.inverse().0)).rows(rows);
    }

    fn row_inputs(row: usize) -> &'static [u16] {
        match (row / CODES, row % CODES) {
            (place @ 0..8, code) => &CORNER_INPUTS[place][code],
            (place, code) => &EDGE_INPUTS[place - 8][code],
        }
    }

    #[inline]
    fn key(self) -> u64 {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| self.0[at + i]));
        let mut key = word(0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        key = (key ^ key >> 32 ^ word(8)).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        // The last word shares four cubies with the word before it.
        key = (key ^ key >> 29 ^ word(12).rotate_left(32)).wrapping_mul(0x1656_67B1_9E37_79F9);
        key ^ key >> 32
    }

    fn drawn(numbers: &mut Sequence) -> Three {
        let mut cubies = Three::SOLVED.0;
        let (corners, edges) = cubies.split_at_mut(8);
        numbers.shuffle(corners);
        numbers.shuffle(edges);
        // In every solvable state, the permutations of corners and edges have the same parity.
        if odd(corners) != odd(edges) {
            edges.swap(0, 1);
        }
        turn(corners, 3, TWIST, numbers);
        turn(edges, 2, FLIP, numbers);
        Three(cubies)
    }

    fn fill_children(states: &[Three], actions: &Actions, children: &mut [Three]) {
        let count = actions.count();
        assert_eq!(children.len(), states.len() * count, "one child per action");
        for (state, children) in states.iter().zip(children.chunks_exact_mut(count)) {
            // The macro makes each shuffle a constant. A shuffle from a table needs four times as long.
            macro_rules! turn {
                ($($action:literal)*) => { $(children[$action] = state.shuffled(const { &SHUFFLES[$action] });)* };
            }
            turn!(0 1 2 3 4 5 6 7 8 9 10 11);
            if count == MOVES.len() {
                turn!(12 13 14 15 16 17);
            }
        }
    }

    fn after(moves: &[Move]) -> Three {
        moves.iter().fold(Three::SOLVED, |state, by| state.shuffled(by.shuffle()))
    }

    fn from_facelets(text: &str) -> Result<Typed<Three>, CubeError> {
        Ok(facelets::three(text)?.map(Three))
    }
}

/// Draws the orientation of every cubie except the last. The last orientation makes the sum of all orientations a multiple of `ways`. A
/// cubie has `ways` orientations, whose codes differ by `by`.
fn turn(cubies: &mut [u8], ways: u32, by: u8, numbers: &mut Sequence) {
    let (last, others) = cubies.split_last_mut().expect("the slice is not empty");
    let mut sum = 0;
    for cubie in others {
        let turn = numbers.below(ways);
        *cubie += turn as u8 * by;
        sum += turn;
    }
    *last += ((ways - sum % ways) % ways) as u8 * by;
}
