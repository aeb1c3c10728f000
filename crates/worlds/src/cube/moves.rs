//! Turns of faces and their effect on the cubies.

use super::pieces::{CODES, CORNERS, EDGES, FLIP, Face, RIGHT, TWIST, UP, find, opposite};

/// Effect of a move on the cubies. The cubie at place `i` after the move was at place `from[i]` before the move. The move adds `add[i]` to
/// the cubie's code, modulo [`CODES`]. Corners come first, then edges.
#[derive(Clone, Copy)]
pub(super) struct Shuffle {
    pub(super) from: [u8; 20],
    pub(super) add: [u8; 20],
}

impl Shuffle {
    /// Returns the effect of a clockwise quarter turn of a face.
    const fn quarter(face: usize) -> Shuffle {
        let round = [UP[face], RIGHT[face], opposite(UP[face]), opposite(RIGHT[face])];
        let mut to = [0, 1, 2, 3, 4, 5];
        let mut i = 0;
        while i < 4 {
            to[round[i]] = round[(i + 1) % 4];
            i += 1;
        }
        let mut shuffle = Shuffle { from: [0; 20], add: [0; 20] };
        let mut place = 0;
        while place < 20 {
            shuffle.from[place] = place as u8;
            place += 1;
        }
        place = 0;
        while place < 8 {
            let [a, b, c] = CORNERS[place];
            if a == face || b == face || c == face {
                let (goes, turn) = find(&CORNERS, [to[a], to[b], to[c]]);
                shuffle.from[goes] = place as u8;
                shuffle.add[goes] = turn as u8 * TWIST;
            }
            place += 1;
        }
        place = 0;
        while place < 12 {
            let [a, b] = EDGES[place];
            if a == face || b == face {
                let (goes, turn) = find(&EDGES, [to[a], to[b]]);
                shuffle.from[8 + goes] = 8 + place as u8;
                shuffle.add[8 + goes] = turn as u8 * FLIP;
            }
            place += 1;
        }
        shuffle
    }

    const fn then(self, next: Shuffle) -> Shuffle {
        let mut both = next;
        let mut i = 0;
        while i < 20 {
            let between = next.from[i] as usize;
            both.from[i] = self.from[between];
            both.add[i] = (self.add[between] + next.add[i]) % CODES as u8;
            i += 1;
        }
        both
    }
}

/// A turn of one face by 90°, 180° or -90°, such as `U`, `U2` or `U'`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(u8);

impl Move {
    /// All moves, in the order U, U2, U', R, R2, R' and so on for F, D, L and B.
    pub const ALL: [Move; 18] = {
        let mut all = [Move(0); 18];
        let mut i = 0;
        while i < 18 {
            all[i] = Move(i as u8);
            i += 1;
        }
        all
    };

    const SHUFFLES: [Shuffle; 18] = {
        let mut all = [Shuffle::quarter(0); 18];
        let mut face = 0;
        while face < 6 {
            let once = Shuffle::quarter(face);
            all[3 * face] = once;
            all[3 * face + 1] = once.then(once);
            all[3 * face + 2] = once.then(once).then(once);
            face += 1;
        }
        all
    };

    /// Creates a move of `turns` clockwise quarter turns; `None` if `turns` is a multiple of four.
    pub const fn new(face: Face, turns: u32) -> Option<Move> {
        match turns % 4 {
            0 => None,
            turns => Some(Move(face as u8 * 3 + turns as u8 - 1)),
        }
    }

    pub const fn face(self) -> Face {
        Face::ALL[self.0 as usize / 3]
    }

    /// Returns the number of clockwise quarter turns, 1 to 3.
    pub const fn turns(self) -> u32 {
        self.0 as u32 % 3 + 1
    }

    pub const fn inverse(self) -> Move {
        Move(self.0 / 3 * 3 + 2 - self.0 % 3)
    }

    pub(super) const fn shuffle(self) -> &'static Shuffle {
        &Move::SHUFFLES[self.0 as usize]
    }
}

impl std::fmt::Display for Move {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}{}", self.face().letter(), ["", "2", "'"][self.0 as usize % 3])
    }
}

impl std::fmt::Debug for Move {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// Set of the turns that count as one move: quarter turns only, or all turns of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    Quarter,
    Half,
}

impl Metric {
    pub const ALL: [Metric; 2] = [Metric::Quarter, Metric::Half];

    /// Returns the usual abbreviation: `qtm` for the quarter-turn metric, `htm` for the half-turn metric.
    pub const fn id(self) -> &'static str {
        match self {
            Metric::Quarter => "qtm",
            Metric::Half => "htm",
        }
    }

    pub const fn other(self) -> Metric {
        match self {
            Metric::Quarter => Metric::Half,
            Metric::Half => Metric::Quarter,
        }
    }
}

/// Returns the turns of `faces` in the order of the actions: first the two quarter turns of each face (`R`, `R'` and so on), then the half
/// turns (`R2` and so on).
pub(super) const fn actions<const FACES: usize, const MOVES: usize>(faces: [Face; FACES]) -> [Move; MOVES] {
    let mut all = [Move(0); MOVES];
    let mut i = 0;
    while i < FACES {
        let first = faces[i] as u8 * 3;
        all[2 * i] = Move(first);
        all[2 * i + 1] = Move(first + 2);
        all[2 * FACES + i] = Move(first + 1);
        i += 1;
    }
    all
}
