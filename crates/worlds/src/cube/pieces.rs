//! Faces, places and cubies of both cubes, the facelets of each place, and the network inputs of each cubie at each place.

/// Faces in the order of facelet strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Face {
    U,
    R,
    F,
    D,
    L,
    B,
}

impl Face {
    pub const ALL: [Face; 6] = [Face::U, Face::R, Face::F, Face::D, Face::L, Face::B];

    pub const fn letter(self) -> char {
        b"URFDLB"[self as usize] as char
    }
}

pub(super) const fn opposite(face: usize) -> usize {
    (face + 3) % 6
}

/// Neighbour above each face, seen from outside. The facelets of a face are numbered row by row, beginning with the row next to this
/// neighbour.
pub(super) const UP: [usize; 6] = [5, 0, 0, 2, 0, 0];
/// Neighbour to the right of each face, seen from outside.
pub(super) const RIGHT: [usize; 6] = [1, 5, 1, 1, 2, 4];

/// Faces of each corner place, URF to DRB, as indices of faces. The faces are in clockwise order and begin with U or D.
pub(super) const CORNERS: [[usize; 3]; 8] = [[0, 1, 2], [0, 2, 4], [0, 4, 5], [0, 5, 1], [3, 2, 1], [3, 4, 2], [3, 5, 4], [3, 1, 5]];
/// Faces of each edge place, UR to BR, as indices of faces.
pub(super) const EDGES: [[usize; 2]; 12] = [[0, 1], [0, 2], [0, 4], [0, 5], [3, 1], [3, 2], [3, 4], [3, 5], [2, 1], [2, 4], [5, 4], [5, 1]];

/// Number of codes of a cubie. A code is the number of the piece, plus `TWIST` per clockwise third of a turn of a corner, or `FLIP` for a
/// flipped edge. A move adds to the code modulo this number.
pub const CODES: usize = 24;
pub(super) const TWIST: u8 = 8;
pub(super) const FLIP: u8 = 12;

/// Returns the index of the facelet of `face` that is next to all other faces in `towards`.
const fn facelet(size: usize, face: usize, towards: &[usize]) -> usize {
    let (mut row, mut column) = (size / 2, size / 2);
    let mut i = 0;
    while i < towards.len() {
        let other = towards[i];
        if other == UP[face] {
            row = 0;
        } else if other == opposite(UP[face]) {
            row = size - 1;
        } else if other == RIGHT[face] {
            column = size - 1;
        } else if other == opposite(RIGHT[face]) {
            column = 0;
        }
        i += 1;
    }
    (face * size + row) * size + column
}

const fn facelets<const N: usize, const PLACES: usize>(size: usize, places: [[usize; N]; PLACES]) -> [[usize; N]; PLACES] {
    let mut facelets = [[0; N]; PLACES];
    let mut i = 0;
    while i < N * PLACES {
        facelets[i / N][i % N] = facelet(size, places[i / N][i % N], &places[i / N]);
        i += 1;
    }
    facelets
}

pub(super) const CORNER_FACELETS: [[usize; 3]; 8] = facelets(3, CORNERS);
pub(super) const EDGE_FACELETS: [[usize; 2]; 12] = facelets(3, EDGES);
/// Facelets of each corner place of the 2x2x2.
pub(super) const SMALL_FACELETS: [[usize; 3]; 8] = facelets(2, CORNERS);

/// The corner place of the 2x2x2 whose cubie never moves.
pub(super) const DBL: usize = 6;

/// Returns the indices of the network inputs that are 1, `[place][code]`: one index for each sticker of the cubie. The index of a sticker
/// is `facelet * 6 + colour`.
pub(super) const fn inputs<const N: usize, const PLACES: usize>(
    places: [[usize; N]; PLACES],
    facelets: [[usize; N]; PLACES],
) -> [[[u16; N]; CODES]; PLACES] {
    let mut inputs = [[[0; N]; CODES]; PLACES];
    let mut i = 0;
    while i < PLACES * CODES * N {
        let (place, code, k) = (i / (CODES * N), i / N % CODES, i % N);
        let (piece, turn) = (code % PLACES, code / PLACES);
        // If a piece is turned by `turn`, facelet `k` of the place shows the colour of facelet `k - turn` of the unturned piece.
        inputs[place][code][k] = (facelets[place][k] * 6 + places[piece][(k + N - turn) % N]) as u16;
        i += 1;
    }
    inputs
}

/// Returns the place that has these faces in the same rotational order, and the position of `faces[0]` among the faces of this place.
/// Panics if there is no such place.
pub(super) const fn find<const N: usize>(places: &[[usize; N]], faces: [usize; N]) -> (usize, usize) {
    match search(places, faces) {
        Some(found) => found,
        None => panic!("a turn leads to a place"),
    }
}

pub(super) const fn search<const N: usize>(places: &[[usize; N]], faces: [usize; N]) -> Option<(usize, usize)> {
    let mut i = 0;
    while i < places.len() * N {
        let (place, turn) = (i / N, i % N);
        let (mut k, mut same) = (0, true);
        while k < N {
            same = same && places[place][k] == faces[(k + turn) % N];
            k += 1;
        }
        if same {
            // The first face of the place is `faces[turn]`. The index of `faces[0]` among the faces of the place is therefore N - turn,
            // modulo N.
            return Some((place, (N - turn) % N));
        }
        i += 1;
    }
    None
}

/// Returns true if a permutation is odd. `pieces` contains each piece once.
pub(super) fn odd(pieces: &[u8]) -> bool {
    let behind = |i: usize| pieces[i + 1..].iter().filter(|&&later| later < pieces[i]).count();
    (0..pieces.len()).map(behind).sum::<usize>() % 2 == 1
}
