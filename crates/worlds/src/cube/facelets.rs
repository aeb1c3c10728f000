//! Facelet strings in Kociemba's convention: one letter per sticker, 54 for the 3x3x3 and 24 for the 2x2x2. The faces are in the order U R
//! F D L B. Each face is read row by row, seen from outside; the row next to B is the top row of U, and the row next to F is the top row of
//! D.
//!
//! A string may use any six letters or digits and any orientation of the cube. On a 3x3x3, the centres define the colours of the faces. On
//! a 2x2x2, the corner at DBL is solved by definition, and two colours are opposite if they never meet at a corner. A solution therefore
//! fits the cube in the orientation of the input. [`Scheme`] writes a state in the letters of the input.

use super::moves::Move;
use super::pieces::{CODES, CORNER_FACELETS, CORNERS, DBL, EDGE_FACELETS, EDGES, FLIP, Face, SMALL_FACELETS, TWIST, odd, opposite, search};

/// The letter of each face's colour, in the order U R F D L B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme(pub [char; 6]);

impl Scheme {
    /// Scheme in which the letter of each colour is the name of its face.
    pub const FACES: Scheme = Scheme(['U', 'R', 'F', 'D', 'L', 'B']);

    fn write(&self, faces: &[usize]) -> String {
        faces.iter().map(|&face| self.0[face]).collect()
    }
}

/// A state read from a facelet string, and the letters of the string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed<P> {
    pub state: P,
    pub scheme: Scheme,
}

/// Reason why the stickers in the input are not a solvable cube. The text is the problem, a semicolon and the remedy. In the text, a place
/// has the name of its faces, and a piece has its letters in the input. If the twists of several corners do not cancel, the error reports
/// one twisted corner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CubeError {
    #[error("a cube of this size has {expected} stickers, found {found}; enter the faces in the order U R F D L B, each row by row")]
    Length { found: usize, expected: usize },
    #[error("{found:?} at {at} is not a colour; enter a letter for each sticker, such as that of the face with this colour")]
    Letter { at: String, found: char },
    #[error("{found:?} at {at} is not the colour of a centre; use the colours of the centres: {centres}")]
    UnknownColour { at: String, found: char, centres: String },
    #[error("the centres of {first:?} and {second:?} are both {letter:?}; give each centre a different colour")]
    Centres { letter: char, first: Face, second: Face },
    #[error("a cube has 6 colours, found {found} different letters; enter the same letter for all stickers of a colour")]
    Letters { found: usize },
    #[error(
        "{letter:?} occurs {found} times and {few:?} {few_found} times, expected {expected} each; look for {few:?} stickers that were \
         entered as another colour"
    )]
    Count { letter: char, found: usize, few: char, few_found: usize, expected: usize },
    #[error("no piece has the stickers {stickers} at {at}: {why}; check the stickers at {at}")]
    NoSuchPiece { at: String, stickers: String, why: Why },
    #[error(
        "the piece {piece} occurs twice, at {first} and {second}, and {missing} is missing; check the stickers at both places, one of \
         which is {missing}"
    )]
    Twice { piece: String, first: String, second: String, missing: String },
    #[error(
        "one corner is twisted {}, which no moves can do; check the corners; {MISASSEMBLED}: twist any one corner {}",
        way(*.clockwise), way(!*.clockwise)
    )]
    Twist { clockwise: bool },
    #[error("one edge is flipped, which no moves can do; check the edges; {MISASSEMBLED}: flip any one edge")]
    Flip,
    #[error("two pieces are exchanged, which no moves can do (parity); check the stickers; {MISASSEMBLED}: exchange any two edges")]
    Parity,
}

const MISASSEMBLED: &str = "if they match the cube, it was assembled wrongly";

fn way(clockwise: bool) -> &'static str {
    if clockwise { "clockwise" } else { "anticlockwise" }
}

/// Reason why the stickers at a place belong to no piece of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("two of its stickers are the same")]
    Same,
    #[error("two of its colours belong on opposite faces")]
    Opposite,
    #[error("its colours are in mirrored order")]
    Mirrored,
}

impl CubeError {
    /// Returns the problem, without the remedy.
    pub fn what(&self) -> String {
        parts(self).0
    }

    /// Returns the remedy, without the problem.
    pub fn next_step(&self) -> String {
        parts(self).1
    }
}

/// Splits the text of an error into problem and remedy.
pub(super) fn parts(error: &impl std::fmt::Display) -> (String, String) {
    let text = error.to_string();
    let (what, next) = text.split_once("; ").expect("every error text contains a semicolon");
    (what.into(), next.into())
}

impl<P> Typed<P> {
    pub(super) fn map<Q>(self, state: impl FnOnce(P) -> Q) -> Typed<Q> {
        Typed { state: state(self.state), scheme: self.scheme }
    }
}

/// Turns a face of a cube that is given by 24 or 54 stickers. The cube may have any colours and any orientation.
pub fn turn_stickers(stickers: &mut [char], by: Move) {
    let (shuffle, old) = (by.shuffle(), stickers.to_vec());
    let corners = if stickers.len() == 24 { SMALL_FACELETS } else { CORNER_FACELETS };
    let edges: &[[usize; 2]] = if stickers.len() == 24 { &[] } else { &EDGE_FACELETS };
    for (place, facelets) in corners.iter().enumerate() {
        let (from, turn) = (usize::from(shuffle.from[place]), usize::from(shuffle.add[place] / TWIST));
        (0..3).for_each(|k| stickers[facelets[k]] = old[corners[from][(k + 3 - turn) % 3]]);
    }
    for (place, facelets) in edges.iter().enumerate() {
        let (from, turn) = (usize::from(shuffle.from[8 + place]) - 8, usize::from(shuffle.add[8 + place] / FLIP));
        (0..2).for_each(|k| stickers[facelets[k]] = old[edges[from][(k + turn) % 2]]);
    }
}

/// Writes the indices of the network inputs that are 1. In `active`, the index for a sticker is at the position of the sticker's facelet.
#[inline]
pub(super) fn scatter<const N: usize>(inputs: &[[[u16; N]; CODES]], facelets: &[[usize; N]], cubies: &[u8], active: &mut [u16]) {
    for ((inputs, facelets), &code) in inputs.iter().zip(facelets).zip(cubies) {
        for (&facelet, &input) in facelets.iter().zip(&inputs[usize::from(code)]) {
            active[facelet] = input;
        }
    }
}

/// Returns the letters of a text in upper case, without white space. Checks the number of letters, and that each letter is valid.
fn letters(text: &str, size: usize) -> Result<Vec<char>, CubeError> {
    let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_uppercase()).collect();
    let expected = 6 * size * size;
    if letters.len() != expected {
        return Err(CubeError::Length { found: letters.len(), expected });
    }
    match letters.iter().position(|c| !c.is_alphanumeric()) {
        Some(at) => Err(CubeError::Letter { at: name(at, size), found: letters[at] }),
        None => Ok(letters),
    }
}

/// Returns the name of a facelet, such as U1 or B9.
fn name(facelet: usize, size: usize) -> String {
    format!("{}{}", Face::ALL[facelet / (size * size)].letter(), facelet % (size * size) + 1)
}

/// Checks that each colour occurs `expected` times.
fn counted(letters: &[char], colours: &[char; 6], expected: usize) -> Result<(), CubeError> {
    let counts = colours.map(|colour| letters.iter().filter(|&&letter| letter == colour).count());
    let most = (0..6).max_by_key(|&i| counts[i]).expect("there are six colours");
    let least = (0..6).min_by_key(|&i| counts[i]).expect("there are six colours");
    if counts[most] == expected {
        return Ok(());
    }
    Err(CubeError::Count { letter: colours[most], found: counts[most], few: colours[least], few_found: counts[least], expected })
}

/// Returns the code of the cubie with the colours `colours`, given in the order of the place's facelets. Returns `None` if no cubie has
/// these colours.
fn cubie<const N: usize>(pieces: &[[usize; N]], colours: [usize; N]) -> Option<u8> {
    let (piece, turn) = search(pieces, colours)?;
    // `search` returns the position of `colours[0]` among the colours of the piece. The orientation is the rotation in the opposite
    // direction.
    Some((piece + (N - turn) % N * pieces.len()) as u8)
}

/// Returns the codes of the cubies at all places. Checks that each piece occurs once.
fn cubies<const N: usize, const PLACES: usize>(
    pieces: &[[usize; N]; PLACES],
    colours: [[usize; N]; PLACES],
    scheme: &Scheme,
) -> Result<[u8; PLACES], CubeError> {
    let at = |place: usize| Scheme::FACES.write(&pieces[place]);
    let mut cubies = [0; PLACES];
    for place in 0..PLACES {
        let wrong = |why| CubeError::NoSuchPiece { at: at(place), stickers: scheme.write(&colours[place]), why };
        cubies[place] = cubie(pieces, colours[place]).ok_or_else(|| wrong(why(&colours[place])))?;
    }
    let piece = |place: usize| usize::from(cubies[place]) % PLACES;
    for second in 0..PLACES {
        if let Some(first) = (0..second).find(|&first| piece(first) == piece(second)) {
            let missing = (0..PLACES).find(|missing| (0..PLACES).all(|place| piece(place) != *missing));
            return Err(CubeError::Twice {
                piece: scheme.write(&pieces[piece(first)]),
                first: at(first),
                second: at(second),
                missing: missing.map_or_else(String::new, |missing| scheme.write(&pieces[missing])),
            });
        }
    }
    Ok(cubies)
}

fn why(colours: &[usize]) -> Why {
    let pair = |test: fn(usize, usize) -> bool| (0..colours.len()).any(|i| (0..i).any(|j| test(colours[i], colours[j])));
    if pair(|a, b| a == b) {
        Why::Same
    } else if pair(|a, b| a == opposite(b)) {
        Why::Opposite
    } else {
        Why::Mirrored
    }
}

fn balanced(corners: &[u8; 8]) -> Result<(), CubeError> {
    match corners.iter().map(|code| code / TWIST).sum::<u8>() % 3 {
        0 => Ok(()),
        twist => Err(CubeError::Twist { clockwise: twist == 1 }),
    }
}

/// Reads the codes of the cubies of a 3x3x3 from a facelet string, corners first.
pub(super) fn three(text: &str) -> Result<Typed<[u8; 20]>, CubeError> {
    let letters = letters(text, 3)?;
    let centres: [char; 6] = std::array::from_fn(|face| letters[9 * face + 4]);
    for second in 0..6 {
        if let Some(first) = (0..second).find(|&first| centres[first] == centres[second]) {
            let [first, second] = [first, second].map(|face| Face::ALL[face]);
            return Err(CubeError::Centres { letter: centres[first as usize], first, second });
        }
    }
    let colour = |letter: char| centres.iter().position(|&centre| centre == letter);
    if let Some(at) = letters.iter().position(|&letter| colour(letter).is_none()) {
        let centres = centres.iter().collect();
        return Err(CubeError::UnknownColour { at: name(at, 3), found: letters[at], centres });
    }
    counted(&letters, &centres, 9)?;
    let at = |facelet: usize| colour(letters[facelet]).expect("every letter is a centre's");
    let scheme = Scheme(centres);
    let corners = cubies(&CORNERS, CORNER_FACELETS.map(|facelets| facelets.map(at)), &scheme)?;
    let edges = cubies(&EDGES, EDGE_FACELETS.map(|facelets| facelets.map(at)), &scheme)?;
    balanced(&corners)?;
    if edges.iter().map(|code| code / FLIP).sum::<u8>() % 2 == 1 {
        return Err(CubeError::Flip);
    }
    if odd(&corners.map(|code| code % TWIST)) != odd(&edges.map(|code| code % FLIP)) {
        return Err(CubeError::Parity);
    }
    let mut all = [0; 20];
    all[..8].copy_from_slice(&corners);
    all[8..].copy_from_slice(&edges);
    Ok(Typed { state: all, scheme })
}

/// Pairs of opposite colours on common cubes. The letters are the usual letters of the colours: the names of the faces, or initials such as
/// W and Y.
const USUAL: [[char; 2]; 6] = [['U', 'D'], ['R', 'L'], ['F', 'B'], ['W', 'Y'], ['R', 'O'], ['G', 'B']];

/// Reads the codes of the cubies of a 2x2x2 from a facelet string. The corner at DBL is solved by definition.
pub(super) fn two(text: &str) -> Result<Typed<[u8; 8]>, CubeError> {
    let letters = letters(text, 2)?;
    let mut colours = letters.clone();
    colours.sort_unstable();
    colours.dedup();
    let colours: [char; 6] = colours.try_into().map_err(|all: Vec<char>| CubeError::Letters { found: all.len() })?;
    counted(&letters, &colours, 4)?;
    let at = SMALL_FACELETS.map(|corner| corner.map(|facelet| letters[facelet]));
    // Selects the division into pairs for which the colours of a pair meet at the fewest corners. Of equal divisions, the division with the
    // most usual pairs is selected.
    let against = |pairs: &[[char; 2]; 3]| {
        let meet = |[a, b]: &[char; 2]| at.iter().filter(|c| c.contains(a) && c.contains(b)).count();
        let usual = pairs.iter().filter(|[a, b]| USUAL.contains(&[*a, *b]) || USUAL.contains(&[*b, *a])).count();
        (pairs.iter().map(meet).sum::<usize>(), 3 - usual)
    };
    let pairs = pairings(colours).min_by_key(against).expect("there are fifteen pairings");
    let other = |colour: char| pairs.iter().find_map(|&[a, b]| if a == colour { Some(b) } else { (b == colour).then_some(a) });
    // The colours of the corner at DBL are assigned to the faces D, B and L. If this corner is not valid, an arbitrary assignment is used.
    let mut scheme = Scheme(['?'; 6]);
    let home = at[DBL];
    let whole = |c: &[char; 3]| c.iter().all(|&a| c.iter().filter(|&&b| a == b || Some(a) == other(b)).count() == 1);
    let axes = if whole(&home) { home } else { pairs.map(|[a, _]| a) };
    for (face, colour) in CORNERS[DBL].into_iter().zip(axes) {
        scheme.0[face] = colour;
        scheme.0[opposite(face)] = other(colour).expect("every colour is in a pair");
    }
    let face = |colour: char| scheme.0.iter().position(|&c| c == colour).expect("the scheme contains all six colours");
    let mut faces = at.map(|corner| corner.map(face));
    let mirrored = |corner: &[usize; 3]| why(corner) == Why::Mirrored && cubie(&CORNERS, *corner).is_none();
    if faces.iter().filter(|corner| mirrored(corner)).count() > 4 {
        if whole(&home) {
            let [at, stickers] = [Scheme::FACES.write(&CORNERS[DBL]), home.iter().collect()];
            return Err(CubeError::NoSuchPiece { at, stickers, why: Why::Mirrored });
        }
        // The assignment gives the mirror image of the cube. The exchange of the two colours of one axis corrects this.
        let axis = CORNERS[DBL][0];
        scheme.0.swap(axis, opposite(axis));
        faces = faces.map(|corner| corner.map(|face| if [axis, opposite(axis)].contains(&face) { opposite(face) } else { face }));
    }
    let state = cubies(&CORNERS, faces, &scheme)?;
    balanced(&state)?;
    Ok(Typed { state, scheme })
}

/// Returns all fifteen divisions of six colours into three pairs.
fn pairings([first, rest @ ..]: [char; 6]) -> impl Iterator<Item = [[char; 2]; 3]> {
    (0..5).flat_map(move |i| {
        let mut four = rest.to_vec();
        let partner = four.remove(i);
        (1..4).map(move |j| {
            let mut two = four.clone();
            let pair = [two[0], two.remove(j)];
            [[first, partner], pair, [two[1], two[2]]]
        })
    })
}

/// Assigns the colours of a 2x2x2 to faces anew, so that the corner at DBL is solved. The argument may be the result of turns of any faces,
/// including D, B and L.
pub(super) fn held(corners: [u8; 8]) -> [u8; 8] {
    let colours = |place: usize| {
        let code = usize::from(corners[place]);
        std::array::from_fn(|k| CORNERS[code % 8][(k + 3 - code / 8) % 3])
    };
    let mut face = [0; 6];
    for (home, colour) in CORNERS[DBL].into_iter().zip(colours(DBL)) {
        face[colour] = home;
        face[opposite(colour)] = opposite(home);
    }
    std::array::from_fn(|place| {
        let colours: [usize; 3] = colours(place);
        cubie(&CORNERS, colours.map(|colour| face[colour])).expect("a rotated cube has valid corners")
    })
}
