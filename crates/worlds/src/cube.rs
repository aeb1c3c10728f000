//! The 2x2x2 and the 3x3x3 cube: states, turns of faces, what a network is shown of them, notation, facelet strings, and the exact
//! distance of every state of the 2x2x2.
//!
//! A cubie is one byte: which piece it is, and above that how it is turned (`twist * 8` at a corner, `flip * 12` at an edge), so
//! that a turn is a shuffle of bytes and a sum modulo 24. Pieces, places and their orientation are Kociemba's; every table
//! follows from [`UP`], [`RIGHT`] and his names of the places.
//!
//! An action is a number: the quarter turns come first in both metrics, so a network's outputs keep their meaning.

mod distance;
mod facelets;
mod fold;
pub mod notation;
mod symmetry;
mod three;
mod two;

pub use distance::Distances;
pub use facelets::{CubeError, Scheme, Typed, Why, turn_stickers};
pub use notation::NotationError;
pub use three::Three;
pub use two::Two;

use math::rng::Sequence;

/// In the order of facelet strings.
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

    pub const fn opposite(self) -> Face {
        Face::ALL[opposite(self as usize)]
    }
}

const fn opposite(face: usize) -> usize {
    (face + 3) % 6
}

/// The face that each face's first row is next to, as one looks at it; its facelets are counted row by row from there.
const UP: [usize; 6] = [5, 0, 0, 2, 0, 0];
/// The face to the right of each.
const RIGHT: [usize; 6] = [1, 5, 1, 1, 2, 4];

/// The places of corners, URF to DRB: their faces clockwise, beginning with U or D.
const CORNERS: [[usize; 3]; 8] = [[0, 1, 2], [0, 2, 4], [0, 4, 5], [0, 5, 1], [3, 2, 1], [3, 4, 2], [3, 5, 4], [3, 1, 5]];
/// The places of edges, UR to BR.
const EDGES: [[usize; 2]; 12] = [[0, 1], [0, 2], [0, 4], [0, 5], [3, 1], [3, 2], [3, 4], [3, 5], [2, 1], [2, 4], [5, 4], [5, 1]];

/// What a cubie's byte is counted modulo, and how many different cubies each place may show.
pub const CODES: usize = 24;
const TWIST: u8 = 8;
const FLIP: u8 = 12;

/// The number of the facelet on `face` that lies towards the other faces of its cubie.
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

const fn corner_facelets(size: usize) -> [[usize; 3]; 8] {
    let mut facelets = [[0; 3]; 8];
    let mut i = 0;
    while i < 24 {
        facelets[i / 3][i % 3] = facelet(size, CORNERS[i / 3][i % 3], &CORNERS[i / 3]);
        i += 1;
    }
    facelets
}

const fn edge_facelets() -> [[usize; 2]; 12] {
    let mut facelets = [[0; 2]; 12];
    let mut i = 0;
    while i < 24 {
        facelets[i / 2][i % 2] = facelet(3, EDGES[i / 2][i % 2], &EDGES[i / 2]);
        i += 1;
    }
    facelets
}

/// The inputs that are 1 for each cubie in each place: `facelet * 6 + colour`.
const fn inputs<const N: usize, const PLACES: usize>(
    places: [[usize; N]; PLACES],
    facelets: [[usize; N]; PLACES],
) -> [[[u16; N]; CODES]; PLACES] {
    let mut inputs = [[[0; N]; CODES]; PLACES];
    let mut i = 0;
    while i < PLACES * CODES * N {
        let (place, code, k) = (i / (CODES * N), i / N % CODES, i % N);
        let (piece, turn) = (code % PLACES, code / PLACES);
        // A piece turned by one shows on each facelet what belongs on the one before.
        inputs[place][code][k] = (facelets[place][k] * 6 + places[piece][(k + N - turn) % N]) as u16;
        i += 1;
    }
    inputs
}

/// What a move does: each place gets the cubie of another, turned by so much. Corners come first, then edges.
#[derive(Clone, Copy)]
struct Shuffle {
    from: [u8; 20],
    add: [u8; 20],
}

impl Shuffle {
    /// A clockwise quarter turn.
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

/// The place that has these faces, and by how much they are turned there. There is one, mirror images aside.
const fn find<const N: usize>(places: &[[usize; N]], faces: [usize; N]) -> (usize, usize) {
    match search(places, faces) {
        Some(found) => found,
        None => panic!("a turn leads to a place"),
    }
}

const fn search<const N: usize>(places: &[[usize; N]], faces: [usize; N]) -> Option<(usize, usize)> {
    let mut i = 0;
    while i < places.len() * N {
        let (place, turn) = (i / N, i % N);
        let (mut k, mut same) = (0, true);
        while k < N {
            same = same && places[place][k] == faces[(k + turn) % N];
            k += 1;
        }
        if same {
            // The first of the place's faces is faces[turn], so faces[0] lies N - turn further on.
            return Some((place, (N - turn) % N));
        }
        i += 1;
    }
    None
}

/// A turn of one face: `U`, `U2` or `U'`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(u8);

impl Move {
    /// U, U2, U', R, ...
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

    /// Clockwise quarter turns, any number of them but a multiple of four.
    pub const fn new(face: Face, turns: u32) -> Option<Move> {
        match turns % 4 {
            0 => None,
            turns => Some(Move(face as u8 * 3 + turns as u8 - 1)),
        }
    }

    pub const fn face(self) -> Face {
        Face::ALL[self.0 as usize / 3]
    }

    /// Clockwise quarter turns, 1 to 3.
    pub const fn turns(self) -> u32 {
        self.0 as u32 % 3 + 1
    }

    pub const fn inverse(self) -> Move {
        Move(self.0 / 3 * 3 + 2 - self.0 % 3)
    }

    const fn shuffle(self) -> &'static Shuffle {
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

/// What counts as one move: a quarter turn, or any turn of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    Quarter,
    Half,
}

impl Metric {
    pub const ALL: [Metric; 2] = [Metric::Quarter, Metric::Half];

    /// As it is abbreviated: quarter-turn metric, half-turn metric.
    pub const fn id(self) -> &'static str {
        match self {
            Metric::Quarter => "qtm",
            Metric::Half => "htm",
        }
    }

    pub fn length(self, moves: &[Move]) -> usize {
        let halves = moves.iter().filter(|m| m.turns() == 2).count();
        moves.len() + if self == Metric::Quarter { halves } else { 0 }
    }
}

/// `R`, `R'`, ... of these faces, then `R2`, ...
const fn actions<const FACES: usize, const MOVES: usize>(faces: [Face; FACES]) -> [Move; MOVES] {
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

/// The actions of a cube in a metric, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actions {
    metric: Metric,
    moves: &'static [Move],
}

impl Actions {
    pub const fn of<P: Puzzle>(metric: Metric) -> Actions {
        let all: &'static [Move] = P::MOVES;
        let count = match metric {
            Metric::Quarter => all.len() / 3 * 2,
            Metric::Half => all.len(),
        };
        Actions { metric, moves: all.split_at(count).0 }
    }

    pub const fn metric(&self) -> Metric {
        self.metric
    }

    pub const fn count(&self) -> usize {
        self.moves.len()
    }

    pub const fn moves(&self) -> &'static [Move] {
        self.moves
    }

    pub fn find(&self, of: Move) -> Option<usize> {
        self.moves.iter().position(|&m| m == of)
    }

    /// How many of the actions are quarter turns.
    const fn quarters(&self) -> usize {
        match self.metric {
            Metric::Quarter => self.count(),
            Metric::Half => self.count() / 3 * 2,
        }
    }

    pub const fn inverse(&self, action: usize) -> usize {
        if action < self.quarters() { action ^ 1 } else { action }
    }

    /// Whether a search need try `next` after `before`: of sequences that come to the same by themselves it leaves few. Of turns
    /// of opposite faces one order is enough; a face's half turn is one move, or two quarter turns clockwise.
    pub fn may_follow(&self, before: usize, next: usize) -> bool {
        let (before, next) = (self.moves[before], self.moves[next]);
        if before.face() == next.face() {
            return self.metric == Metric::Quarter && before == next && next.turns() == 1;
        }
        before.face() != next.face().opposite() || (before.face() as u8) < next.face() as u8
    }

    /// The next move of a random walk: any that does not undo the last one, nor with half turns go on with the same face.
    pub fn drawn(&self, last: Option<usize>, numbers: &mut Sequence) -> usize {
        let count = self.count() as u32;
        let Some(last) = last else { return numbers.below(count) as usize };
        if self.metric == Metric::Quarter {
            let action = numbers.below(count - 1) as usize;
            return action + usize::from(action >= self.inverse(last));
        }
        let quarters = self.quarters();
        let face = if last < quarters { last / 2 } else { last - quarters };
        let mut action = numbers.below(count - 3) as usize;
        for not in [2 * face, 2 * face + 1, quarters + face] {
            action += usize::from(action >= not);
        }
        action
    }
}

/// What both cubes have, so that a learner or a search is written once.
pub trait Puzzle: Copy + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static {
    /// Cubies along an edge.
    const SIZE: usize;
    const FACELETS: usize = 6 * Self::SIZE * Self::SIZE;
    /// Each facelet in each colour.
    const INPUTS: usize = 6 * Self::FACELETS;
    /// Every action, quarter turns first.
    const MOVES: &'static [Move];
    const SOLVED: Self;
    /// Those that move.
    const CUBIES: usize;
    /// The inputs that are always 1.
    const FIXED: &'static [u16];

    /// After an action.
    fn turned(self, action: usize) -> Self;

    /// The inputs that are 1, one for each facelet in order: `facelet * 6 + colour`, colours in the order U R F D L B.
    fn inputs(self, active: &mut [u16]);

    /// The same by cubies, for a first layer whose rows were summed: one of [`CODES`] rows for each that moves, counted on from
    /// cubie to cubie.
    fn rows(self, rows: &mut [u16]);

    /// The same of whichever stands for all that are as far from solved by symmetry.
    fn symmetric_rows(self, rows: &mut [u16]);

    /// The inputs that such a row sums. With [`Puzzle::FIXED`] they make up [`Puzzle::inputs`].
    fn row_inputs(row: usize) -> &'static [u16];

    /// Of all states that take the same moves but for their names the first, and a number of the symmetry that leads there.
    #[inline]
    fn folded(self) -> (Self, u8) {
        (self, 0)
    }

    /// What an action is called by a symmetry.
    #[inline]
    fn folded_action(_symmetry: u8, action: usize) -> usize {
        action
    }

    /// A number that tells states apart, all bits mixed, for tables of them.
    fn key(self) -> u64;

    /// Any state, all equally likely.
    fn drawn(numbers: &mut Sequence) -> Self;

    /// After these moves from the solved state, as one holds it then.
    fn after(moves: &[Move]) -> Self;

    /// The cube that this string shows, in whatever letters.
    fn from_facelets(text: &str) -> Result<Typed<Self>, CubeError>;

    fn facelets(self, scheme: &Scheme) -> String {
        let mut active = vec![0; Self::FACELETS];
        self.inputs(&mut active);
        active.iter().map(|&input| scheme.0[usize::from(input) % 6]).collect()
    }

    /// [`Puzzle::inputs`] of many.
    fn fill_inputs(states: &[Self], active: &mut [u16]) {
        assert_eq!(active.len(), states.len() * Self::FACELETS, "one index a facelet");
        for (state, active) in states.iter().zip(active.chunks_exact_mut(Self::FACELETS)) {
            state.inputs(active);
        }
    }

    /// [`Puzzle::rows`] of many.
    fn fill_rows(states: &[Self], rows: &mut [u16]) {
        assert_eq!(rows.len(), states.len() * Self::CUBIES, "one index a cubie");
        for (state, rows) in states.iter().zip(rows.chunks_exact_mut(Self::CUBIES)) {
            state.rows(rows);
        }
    }

    /// The inputs themselves, `[states][INPUTS]`.
    fn fill_one_hot(states: &[Self], inputs: &mut [f32]) {
        assert_eq!(inputs.len(), states.len() * Self::INPUTS, "a row a state");
        let active = &mut [0; 54][..Self::FACELETS];
        inputs.fill(0.0);
        for (state, row) in states.iter().zip(inputs.chunks_exact_mut(Self::INPUTS)) {
            state.inputs(active);
            active.iter().for_each(|&input| row[usize::from(input)] = 1.0);
        }
    }

    /// What every action leads to, `[states][actions]`.
    fn fill_children(states: &[Self], actions: &Actions, children: &mut [Self]) {
        let count = actions.count();
        assert_eq!(children.len(), states.len() * count, "a child an action");
        for (state, children) in states.iter().zip(children.chunks_exact_mut(count)) {
            for (action, child) in children.iter_mut().enumerate() {
                *child = state.turned(action);
            }
        }
    }

    /// A random walk from the solved state: after each move the state and the action that led there.
    fn fill_walk(actions: &Actions, numbers: &mut Sequence, states: &mut [Self], taken: &mut [u8]) {
        assert_eq!(states.len(), taken.len(), "an action a state");
        let (mut state, mut last) = (Self::SOLVED, None);
        for (there, taken) in states.iter_mut().zip(taken) {
            let action = actions.drawn(last, numbers);
            (state, last) = (state.turned(action), Some(action));
            (*there, *taken) = (state, action as u8);
        }
    }

    /// The moves of a random walk.
    fn scramble(actions: &Actions, numbers: &mut Sequence, length: usize) -> Vec<Move> {
        let mut last = None;
        let mut next = || *last.insert(actions.drawn(last, numbers));
        (0..length).map(|_| actions.moves()[next()]).collect()
    }
}
