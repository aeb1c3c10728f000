//! The 2x2x2 with its corner DBL held still, so that R, U and F reach everything. A state is its rank: 7! permutations by
//! 3⁶ twists, which a move changes apart from each other by two small tables.

use super::{CODES, CORNERS, CubeError, Face, Move, Puzzle, TWIST, Typed, corner_facelets, facelets, fold, inputs, symmetry};
use math::rng::Sequence;
use std::sync::LazyLock;

/// The place that is held still.
pub(super) const DBL: usize = 6;
/// The places that move, in the order of the rank; the last one's twist follows from the others.
const PLACES: [usize; 7] = [0, 1, 2, 3, 4, 5, 7];
pub(super) const ORDERS: usize = 5040;
pub(super) const TWISTS: usize = 729;
const MOVES: usize = 9;

const INPUTS: [[[u16; 3]; CODES]; 8] = inputs(CORNERS, corner_facelets(2));

/// A state by its rank; 0 is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Two(u32);

pub(super) struct Tables {
    /// Where each order of the pieces and each set of twists goes by each action.
    pub order: [[u16; MOVES]; ORDERS],
    pub twist: [[u16; MOVES]; TWISTS],
    /// The bytes of the cubies are the sum of both.
    pieces: [[u8; 8]; ORDERS],
    twists: [[u8; 8]; TWISTS],
}

impl Tables {
    /// The rank that an action leads to.
    #[inline]
    pub fn neighbour(&self, order: usize, twist: usize, action: usize) -> usize {
        usize::from(self.order[order][action]) * TWISTS + usize::from(self.twist[twist][action])
    }
}

pub(super) static TABLES: LazyLock<Box<Tables>> = LazyLock::new(|| {
    let mut tables =
        Box::new(Tables { order: [[0; MOVES]; ORDERS], twist: [[0; MOVES]; TWISTS], pieces: [[0; 8]; ORDERS], twists: [[0; 8]; TWISTS] });
    for rank in 0..ORDERS {
        tables.pieces[rank] = pieces(rank);
        for (action, of) in Two::MOVES.iter().enumerate() {
            tables.order[rank][action] = order(&turned(&tables.pieces[rank], *of)) as u16;
        }
    }
    for rank in 0..TWISTS {
        tables.twists[rank] = twists(rank);
        let solved = tables.pieces[0];
        let cubies = std::array::from_fn(|place| solved[place] + tables.twists[rank][place]);
        for (action, of) in Two::MOVES.iter().enumerate() {
            tables.twist[rank][action] = twist(&turned(&cubies, *of)) as u16;
        }
    }
    tables
});

/// Corners after a move of any face.
pub(super) fn turned(cubies: &[u8; 8], by: Move) -> [u8; 8] {
    let shuffle = by.shuffle();
    std::array::from_fn(|place| {
        let code = cubies[usize::from(shuffle.from[place])] + shuffle.add[place];
        if code < 24 { code } else { code - 24 }
    })
}

fn pieces(mut rank: usize) -> [u8; 8] {
    let mut left: Vec<u8> = PLACES.map(|piece| piece as u8).into();
    let (mut cubies, mut block) = ([DBL as u8; 8], ORDERS);
    for (i, place) in PLACES.into_iter().enumerate() {
        block /= 7 - i;
        cubies[place] = left.remove(rank / block);
        rank %= block;
    }
    cubies
}

fn order(cubies: &[u8; 8]) -> usize {
    let piece = |i: usize| cubies[PLACES[i]] % TWIST;
    let smaller = |i: usize| (i + 1..7).filter(|&later| piece(later) < piece(i)).count();
    (0..7).fold(0, |rank, i| rank * (7 - i) + smaller(i))
}

fn twists(rank: usize) -> [u8; 8] {
    let (mut cubies, mut rest, mut sum) = ([0; 8], rank, 0);
    for place in PLACES[..6].iter().rev() {
        cubies[*place] = (rest % 3) as u8 * TWIST;
        sum += rest % 3;
        rest /= 3;
    }
    cubies[PLACES[6]] = ((18 - sum) % 3) as u8 * TWIST;
    cubies
}

fn twist(cubies: &[u8; 8]) -> usize {
    PLACES[..6].iter().fold(0, |rank, &place| rank * 3 + usize::from(cubies[place] / TWIST))
}

impl Two {
    pub const STATES: usize = ORDERS * TWISTS;

    /// `None` from [`Two::STATES`] on.
    pub fn unrank(rank: u32) -> Option<Two> {
        ((rank as usize) < Two::STATES).then_some(Two(rank))
    }

    #[inline]
    pub fn rank(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn parts(self) -> (usize, usize) {
        (self.0 as usize / TWISTS, self.0 as usize % TWISTS)
    }

    #[inline]
    pub(super) fn from_parts(order: u16, twist: u16) -> Two {
        Two(u32::from(order) * TWISTS as u32 + u32::from(twist))
    }

    /// The byte of each place, URF to DRB: the piece, and 8 for each third of a turn clockwise.
    #[inline]
    pub fn cubies(self) -> [u8; 8] {
        let (order, twist) = self.parts();
        let (pieces, twists) = (&TABLES.pieces[order], &TABLES.twists[twist]);
        std::array::from_fn(|place| pieces[place] + twists[place])
    }

    /// From bytes of cubies with DBL at home, each piece there once and the twists in balance.
    pub(super) fn with_cubies(cubies: &[u8; 8]) -> Two {
        Two::from_parts(order(cubies) as u16, twist(cubies) as u16)
    }
}

impl Puzzle for Two {
    const SIZE: usize = 2;
    const MOVES: &'static [Move] = &super::actions::<3, MOVES>([Face::R, Face::U, Face::F]);
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
        facelets::scatter(&INPUTS, &const { corner_facelets(2) }, &self.cubies(), active);
    }

    #[inline]
    fn rows(self, rows: &mut [u16]) {
        let cubies = self.cubies();
        for (i, (row, place)) in rows.iter_mut().zip(PLACES).enumerate() {
            *row = (i * CODES) as u16 + u16::from(cubies[place]);
        }
    }

    fn symmetric_rows(self, rows: &mut [u16]) {
        let (cubies, mut inverse) = (self.cubies(), [0; 8]);
        symmetry::inverse(&cubies, &mut inverse);
        let cubies = symmetry::first_held(&cubies, &inverse);
        for (i, (row, place)) in rows.iter_mut().zip(PLACES).enumerate() {
            *row = (i * CODES) as u16 + u16::from(cubies[place]);
        }
    }

    fn row_inputs(row: usize) -> &'static [u16] {
        &INPUTS[PLACES[row / CODES]][row % CODES]
    }

    #[inline]
    fn folded(self) -> (Two, u8) {
        fold::fold(self)
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

    fn after(moves: &[Move]) -> Two {
        let solved = std::array::from_fn(|place| place as u8);
        facelets::held(moves.iter().fold(solved, |cubies, &by| turned(&cubies, by)))
    }

    fn from_facelets(text: &str) -> Result<Typed<Two>, CubeError> {
        facelets::two(text)
    }
}
