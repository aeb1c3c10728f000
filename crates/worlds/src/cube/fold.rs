//! Symmetry of the 2x2x2: whoever holds DBL still may exchange R, U and F by turning the cube about that corner, or in a mirror,
//! where clockwise turns become anticlockwise. So up to six states take the same moves but for their names; one stands for all.

use super::pieces::{CODES, CORNERS, opposite};
use super::ranks::{self, ORDERS, TABLES, TWISTS};
use std::sync::LazyLock;

/// Where R, U and F go; the last three are mirrors.
const ALIKE: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [1, 0, 2], [0, 2, 1]];
const MIRRORS: usize = 3;
/// R, U and F.
const FACES: [usize; 3] = [1, 0, 2];

struct Folds {
    /// Where each order of the pieces goes, and what it adds to the twists.
    order: [[u16; ORDERS]; 6],
    added: [[u16; ORDERS]; 6],
    /// Where twists of pieces at home go.
    twist: [[u16; TWISTS]; 6],
    /// Place by place.
    sum: Vec<u16>,
}

static FOLDS: LazyLock<Box<Folds>> = LazyLock::new(|| {
    let mut folds =
        Box::new(Folds { order: [[0; ORDERS]; 6], added: [[0; ORDERS]; 6], twist: [[0; TWISTS]; 6], sum: vec![0; TWISTS * TWISTS] });
    for (alike, faces) in ALIKE.into_iter().enumerate() {
        let to = places(faces);
        for order in 0..ORDERS {
            let (order_to, added) = alike_to(&to, order, 0);
            (folds.order[alike][order], folds.added[alike][order]) = (order_to as u16, added as u16);
        }
        for twist in 0..TWISTS {
            folds.twist[alike][twist] = alike_to(&to, 0, twist).1 as u16;
        }
    }
    for (i, sum) in folds.sum.iter_mut().enumerate() {
        let (a, b) = (i / TWISTS, i % TWISTS);
        *sum = (0..6).map(|place| 3usize.pow(place)).fold(0, |sum, unit| sum + (a / unit + b / unit) % 3 * unit) as u16;
    }
    folds
});

/// Where each cubie in each place goes: the place, and its byte there.
fn places(to: [usize; 3]) -> [[(usize, u8); CODES]; 8] {
    let mut face = [0; 6];
    for (from, to) in FACES.into_iter().zip(to.map(|to| FACES[to])) {
        (face[from], face[opposite(from)]) = (to, opposite(to));
    }
    let shows = |place: usize, code: usize, at: usize| {
        // The colour on a face of that place; a piece turned by one shows on each facelet what belongs on the one before.
        let k = CORNERS[place].iter().position(|&f| f == at).expect("a face of the place");
        CORNERS[code % 8][(k + 3 - code / 8) % 3]
    };
    std::array::from_fn(|place| {
        let goes = CORNERS[place].map(|f| face[f]);
        let there = (0..8).find(|&there| CORNERS[there].iter().all(|f| goes.contains(f))).expect("a place");
        std::array::from_fn(|code| {
            let is = |byte: &usize| CORNERS[place].iter().all(|&at| shows(there, *byte, face[at]) == face[shows(place, code, at)]);
            (there, (0..CODES).find(is).expect("a cubie") as u8)
        })
    })
}

fn alike_to(to: &[[(usize, u8); CODES]; 8], order: usize, twist: usize) -> (usize, usize) {
    let mut cubies = [0; 8];
    for (to, code) in to.iter().zip(TABLES.cubies(order, twist)) {
        let (place, byte) = to[usize::from(code)];
        cubies[place] = byte;
    }
    (ranks::order(&cubies), ranks::twist(&cubies))
}

/// The rank of the first of all states that are alike, and which symmetry leads there.
#[inline]
pub(super) fn fold(order: usize, twist: usize) -> (u32, u8) {
    let folds = &**FOLDS;
    let mut first = ((order * TWISTS + twist) as u32, 0);
    for alike in 1..6 {
        let twist = usize::from(folds.twist[alike][twist]) * TWISTS + usize::from(folds.added[alike][order]);
        let there = u32::from(folds.order[alike][order]) * TWISTS as u32 + u32::from(folds.sum[twist]);
        if there < first.0 {
            first = (there, alike as u8);
        }
    }
    first
}

/// What an action is called there.
#[inline]
pub(super) fn action(alike: u8, action: usize) -> usize {
    let to = &ALIKE[usize::from(alike)];
    match action {
        0..6 => 2 * to[action / 2] + ((action % 2) ^ usize::from(usize::from(alike) >= MIRRORS)),
        _ => 6 + to[action - 6],
    }
}
