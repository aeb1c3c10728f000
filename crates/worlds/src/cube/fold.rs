//! Symmetries of the 2x2x2 that keep the corner DBL in place. Rotations about this corner and reflections permute R, U and F; reflections
//! also exchange clockwise and anticlockwise turns. Up to six states therefore differ only in the names of their moves. The state with the
//! lowest rank represents these states. A rank has two parts, the order and the twist (see `ranks`).

use super::pieces::opposite;
use super::ranks::{self, ORDERS, TABLES, TWISTS};
use super::symmetry::{Symmetry, symmetry};
use std::sync::LazyLock;

/// Images of R, U and F under each symmetry, `[symmetry][face]`. R, U and F have the indices 0, 1 and 2. The last three symmetries are
/// reflections.
const ALIKE: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [1, 0, 2], [0, 2, 1]];
const MIRRORS: usize = 3;
/// Indices of the faces R, U and F. Faces are numbered in the order of facelet strings: U, R, F, and so on.
const FACES: [usize; 3] = [1, 0, 2];

struct Folds {
    /// Order of the image of a state, `[symmetry][order]`.
    order: [[u16; ORDERS]; 6],
    /// Part of the image's twist that depends on the order of the state, `[symmetry][order]`.
    added: [[u16; ORDERS]; 6],
    /// Part of the image's twist that depends on the twist of the state, `[symmetry][twist]`.
    twist: [[u16; TWISTS]; 6],
    /// Sum of two twists, `[twist * TWISTS + twist]`: the orientations at each place are added modulo 3.
    sum: Vec<u16>,
}

static FOLDS: LazyLock<Box<Folds>> = LazyLock::new(|| {
    let mut folds =
        Box::new(Folds { order: [[0; ORDERS]; 6], added: [[0; ORDERS]; 6], twist: [[0; TWISTS]; 6], sum: vec![0; TWISTS * TWISTS] });
    for (alike, faces) in ALIKE.into_iter().enumerate() {
        let to = symmetry_of(faces);
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

/// Returns the symmetry that maps R, U and F to the faces `to`, given as indices in [`FACES`].
fn symmetry_of(to: [usize; 3]) -> Symmetry {
    let mut face = [0; 6];
    for (from, to) in FACES.into_iter().zip(to.map(|to| FACES[to])) {
        (face[from], face[opposite(from)]) = (to, opposite(to));
    }
    symmetry(|from| face[from], |colour| face[colour])
}

fn alike_to(to: &Symmetry, order: usize, twist: usize) -> (usize, usize) {
    let cubies = TABLES.cubies(order, twist);
    let image = std::array::from_fn(|place| to.image(&cubies, place));
    (ranks::order(&image), ranks::twist(&image))
}

/// Returns the lowest rank among the images of a state, and the symmetry that maps the state to this image.
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

/// Returns the image of an action under the symmetry `alike`.
#[inline]
pub(super) fn action(alike: u8, action: usize) -> usize {
    let to = &ALIKE[usize::from(alike)];
    match action {
        0..6 => 2 * to[action / 2] + ((action % 2) ^ usize::from(usize::from(alike) >= MIRRORS)),
        _ => 6 + to[action - 6],
    }
}
