//! Symmetries of both cubes. A symmetry rotates or reflects the cube as a whole and renames the colours. A state, its inverse, and the
//! images of both under the 48 symmetries have the same distance from the solved state. Of these 96 images, the image with the
//! lexicographically first codes represents all.

use super::pieces::{CODES, CORNERS, DBL, EDGES, FLIP, TWIST};
use std::sync::LazyLock;

const PLACES: usize = 20;
const COUNT: usize = 48;

/// Effect of a symmetry on each cubie.
pub(super) struct Symmetry {
    /// Place from which the cubie at each place of the image comes.
    from: [u8; PLACES],
    /// Image of each code, `[place before the symmetry][code]`.
    code: [[u8; CODES]; PLACES],
}

impl Symmetry {
    /// Returns the code at the place `place` in the image of a state.
    pub(super) fn image(&self, cubies: &[u8], place: usize) -> u8 {
        let from = usize::from(self.from[place]);
        self.code[from][usize::from(cubies[from])]
    }
}

static SYMMETRIES: LazyLock<Vec<Symmetry>> =
    LazyLock::new(|| (0..COUNT).map(|number| symmetry(|face| image(number, face), |colour| image(number, colour))).collect());

/// Returns the image of a face under the symmetry `number`. A symmetry is a permutation of the axes, combined with a set of reversed axes.
fn image(number: usize, face: usize) -> usize {
    const AXES: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    AXES[number / 8][face % 3] + (face / 3 + (number >> (face % 3) & 1)) % 2 * 3
}

fn is_rotation(number: usize) -> bool {
    (number % 8).count_ones() % 2 == u32::from(number >= 24)
}

pub(super) fn symmetry(face: impl Fn(usize) -> usize, colour: impl Fn(usize) -> usize) -> Symmetry {
    let mut it = Symmetry { from: [0; PLACES], code: [[0; CODES]; PLACES] };
    fill(&mut it, &CORNERS, 0, TWIST, &face, &colour);
    fill(&mut it, &EDGES, 8, FLIP, face, colour);
    it
}

/// Fills the tables for all corner places or for all edge places. The first of these places has the index `first`, and the codes of
/// successive orientations differ by `by`. `face` and `colour` map faces and colours to their images.
fn fill<const N: usize>(
    it: &mut Symmetry,
    places: &[[usize; N]],
    first: usize,
    by: u8,
    face: impl Fn(usize) -> usize,
    colour: impl Fn(usize) -> usize,
) {
    let of = |faces: &[usize; N]| {
        let same = |place: &[usize; N]| place.iter().all(|face| faces.contains(face));
        places.iter().position(same).expect("a symmetry maps places to places")
    };
    for (from, faces) in places.iter().enumerate() {
        let faces = faces.map(&face);
        let to = of(&faces);
        it.from[first + to] = (first + from) as u8;
        for code in 0..CODES {
            let (piece, turn) = (code % places.len(), code / places.len());
            // Colour on each face of the place `to`.
            let mut shown = [0; N];
            for (k, face) in faces.iter().enumerate() {
                let at = places[to].iter().position(|other| other == face).expect("one of its faces");
                shown[at] = colour(places[piece][(k + N - turn) % N]);
            }
            let piece = of(&shown);
            let turn = shown.iter().position(|colour| *colour == places[piece][0]).expect("its first colour");
            it.code[first + from][code] = piece as u8 + by * turn as u8;
        }
    }
}

/// Best result for one cubie at one corner place. `code` is the smallest code that an image of this cubie has at the first place. `by`
/// contains the symmetries that give this code.
struct Least {
    code: u8,
    by: Vec<u8>,
}

static LEAST: LazyLock<[[Least; CODES]; 8]> = LazyLock::new(|| {
    std::array::from_fn(|from| {
        std::array::from_fn(|was| {
            let there = |it: &Symmetry| (usize::from(it.from[0]) == from).then_some(it.code[from][was]);
            let code = SYMMETRIES.iter().filter_map(there).min().expect("six lead there");
            let by = (0..COUNT as u8).filter(|&it| there(&SYMMETRIES[usize::from(it)]) == Some(code));
            Least { code, by: by.collect() }
        })
    })
});

/// Returns the lexicographically first image of a state or of its inverse.
pub(super) fn first<const N: usize>(cubies: &[u8; N], inverse: &[u8; N]) -> [u8; N] {
    let (least, symmetries) = (&*LEAST, &**SYMMETRIES);
    let mut best = *cubies;
    best[0] = CODES as u8;
    for cubies in [cubies, inverse] {
        for (least, &code) in least.iter().zip(cubies) {
            let Least { code, by } = &least[usize::from(code)];
            if *code <= best[0] {
                by.iter().for_each(|&it| take_if_before(&symmetries[usize::from(it)], cubies, &mut best));
            }
        }
    }
    best
}

/// Tables for 2x2x2 cubes that are held in any orientation.
struct Holds {
    rotations: Vec<Symmetry>,
    /// Index of the rotation that moves a cubie to its home place in its home orientation, `[place][code]`.
    home: [[u8; CODES]; 8],
    /// Numbers of the six symmetries that map each place to DBL, `[place]`.
    to_fixed: [[u8; 6]; 8],
}

static HOLDS: LazyLock<Holds> = LazyLock::new(|| {
    let rotations: Vec<Symmetry> =
        (0..COUNT).filter(|&number| is_rotation(number)).map(|number| symmetry(|face| image(number, face), |colour| colour)).collect();
    let home = std::array::from_fn(|place| {
        std::array::from_fn(|code| {
            let piece = code % 8;
            let comes =
                |rotation: &Symmetry| usize::from(rotation.from[piece]) == place && usize::from(rotation.code[place][code]) == piece;
            rotations.iter().position(comes).expect("one of 24") as u8
        })
    });
    let to_fixed = std::array::from_fn(|place| {
        let mut found = (0..COUNT).filter(|&number| usize::from(SYMMETRIES[number].from[DBL]) == place);
        std::array::from_fn(|_| found.next().expect("six") as u8)
    });
    Holds { rotations, home, to_fixed }
});

/// Returns the lexicographically first state among the images of a 2x2x2 and of its inverse. Images in which the corner at DBL is not
/// solved do not count.
pub(super) fn first_held(cubies: &[u8; 8], inverse: &[u8; 8]) -> [u8; 8] {
    let mut best = [CODES as u8; 8];
    let holds = &*HOLDS;
    for cubies in [cubies, inverse] {
        for place in 0..8 {
            let code = usize::from(cubies[place]);
            let rotation = &holds.rotations[usize::from(holds.home[place][code])];
            let held: [u8; 8] = std::array::from_fn(|to| rotation.image(cubies, to));
            for &number in &holds.to_fixed[code % 8] {
                take_if_before(&SYMMETRIES[usize::from(number)], &held, &mut best);
            }
        }
    }
    best
}

fn take_if_before<const N: usize>(symmetry: &Symmetry, cubies: &[u8; N], best: &mut [u8; N]) {
    let at = |place: usize| symmetry.image(cubies, place);
    let differs = (0..N).find(|&place| at(place) != best[place]);
    if let Some(place) = differs.filter(|&place| at(place) < best[place]) {
        (place..N).for_each(|place| best[place] = at(place));
    }
}

/// Writes the cubies of the inverse state. `cubies` contains either all corners or all edges.
pub(super) fn inverse(cubies: &[u8], inverse: &mut [u8]) {
    let places = cubies.len() as u8;
    for (place, &code) in cubies.iter().enumerate() {
        let (piece, turn) = (code % places, code / places * places);
        inverse[usize::from(piece)] = place as u8 + if turn == 0 { 0 } else { CODES as u8 - turn };
    }
}
