//! Ranks of the states of the 2x2x2, and tables of the rank after each action. A rank is `order * 729 + twist`. The order is the index of
//! the permutation of the seven pieces that are not fixed, out of 7!. The twist is the index of the orientations of these pieces, out of
//! 3⁶.

use super::moves::{self, Move};
use super::pieces::{DBL, Face, TWIST};
use std::sync::LazyLock;

/// Places that are not fixed, in the order in which they contribute to a rank. The orientation at the last place follows from the other
/// orientations.
pub(super) const PLACES: [usize; 7] = [0, 1, 2, 3, 4, 5, 7];
pub(super) const ORDERS: usize = 5040;
pub(super) const TWISTS: usize = 729;
const COUNT: usize = 9;
pub(super) const MOVES: [Move; COUNT] = moves::actions::<3, COUNT>([Face::R, Face::U, Face::F]);

pub(super) struct Tables {
    /// Order after each action, `[order][action]`.
    pub order: [[u16; COUNT]; ORDERS],
    /// Twist after each action, `[twist][action]`.
    pub twist: [[u16; COUNT]; TWISTS],
    /// Piece at each place, `[order][place]`.
    pieces: [[u8; 8]; ORDERS],
    /// Contribution of the orientation to the code at each place, `[twist][place]`.
    twists: [[u8; 8]; TWISTS],
}

impl Tables {
    /// Returns the code of the cubie at each place, URF to DRB: the number of the piece, plus 8 for each clockwise third of a turn.
    #[inline]
    pub fn cubies(&self, order: usize, twist: usize) -> [u8; 8] {
        let (pieces, twists) = (&self.pieces[order], &self.twists[twist]);
        std::array::from_fn(|place| pieces[place] + twists[place])
    }

    /// Returns the rank of the state after an action.
    #[inline]
    pub fn neighbour(&self, order: usize, twist: usize, action: usize) -> usize {
        usize::from(self.order[order][action]) * TWISTS + usize::from(self.twist[twist][action])
    }
}

pub(super) static TABLES: LazyLock<Box<Tables>> = LazyLock::new(|| {
    let mut tables =
        Box::new(Tables { order: [[0; COUNT]; ORDERS], twist: [[0; COUNT]; TWISTS], pieces: [[0; 8]; ORDERS], twists: [[0; 8]; TWISTS] });
    for rank in 0..ORDERS {
        tables.pieces[rank] = pieces(rank);
        for (action, of) in MOVES.into_iter().enumerate() {
            tables.order[rank][action] = order(&turned(&tables.pieces[rank], of)) as u16;
        }
    }
    for rank in 0..TWISTS {
        tables.twists[rank] = twists(rank);
        let solved = tables.pieces[0];
        let cubies = std::array::from_fn(|place| solved[place] + tables.twists[rank][place]);
        for (action, of) in MOVES.into_iter().enumerate() {
            tables.twist[rank][action] = twist(&turned(&cubies, of)) as u16;
        }
    }
    tables
});

/// Returns the codes of the cubies at the corner places after a move of any face.
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

pub(super) fn order(cubies: &[u8; 8]) -> usize {
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

pub(super) fn twist(cubies: &[u8; 8]) -> usize {
    PLACES[..6].iter().fold(0, |rank, &place| rank * 3 + usize::from(cubies[place] / TWIST))
}
