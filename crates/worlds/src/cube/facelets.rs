//! Facelet strings: a letter for each sticker, faces in the order U R F D L B and each row by row as one looks at it, the U face
//! with B above it and the D face with F above it (Kociemba's convention; 54 letters, or 24 of the 2x2x2 in the same order).
//!
//! A string may use any six letters, held any way round. The centres of a 3x3x3 say which colour belongs where; on a 2x2x2 the
//! corner at DBL is at home by definition, and colours that never meet at a corner are opposite. So the state found is the cube
//! as it is held: a solution's moves need no turning of it first, and [`Scheme`] writes it as it was typed.

use super::moves::Move;
use super::pieces::{CODES, CORNER_FACELETS, CORNERS, DBL, EDGE_FACELETS, EDGES, FLIP, Face, SMALL_FACELETS, TWIST, odd, opposite, search};

/// The letter of each face's colour, in the order U R F D L B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme(pub [char; 6]);

impl Scheme {
    /// Each colour by the face it belongs to.
    pub const FACES: Scheme = Scheme(['U', 'R', 'F', 'D', 'L', 'B']);

    fn write(&self, faces: &[usize]) -> String {
        faces.iter().map(|&face| self.0[face]).collect()
    }
}

/// A cube that was typed in, and its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed<P> {
    pub state: P,
    pub scheme: Scheme,
}

/// Why these stickers are no cube, and behind a semicolon the step that helps. Places are named by their faces, pieces by their letters
/// as typed. A twist is of one corner, or as good as one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CubeError {
    #[error(
        "a cube of this size has {expected} stickers and here are {found}; write the faces U R F D L B one after another, each row by row"
    )]
    Length { found: usize, expected: usize },
    #[error("{found:?} at {at} names no colour; write a letter for every sticker, such as that of the face its colour belongs to")]
    Letter { at: String, found: char },
    #[error("{found:?} at {at} is the colour of no centre; use the colours of the centres: {centres}")]
    Stranger { at: String, found: char, centres: String },
    #[error("the centres of {first:?} and {second:?} both have {letter:?}; give each centre a colour of its own")]
    Centres { letter: char, first: Face, second: Face },
    #[error("a cube has 6 colours and here are {found} different letters; write the same letter for all stickers of a colour")]
    Letters { found: usize },
    #[error(
        "{letter:?} is there {found} times and {few:?} {few_found} times, where each is {expected} times; find the stickers that are \
         {few:?} and were typed as something else"
    )]
    Count { letter: char, found: usize, few: char, few_found: usize, expected: usize },
    #[error("no piece is {stickers} as at {at}: {why}; check the stickers at {at}")]
    NoSuchPiece { at: String, stickers: String, why: Why },
    #[error(
        "the piece {piece} is there twice, at {first} and {second}, and {missing} is missing; check the stickers at both places; one of \
         them is {missing}"
    )]
    Twice { piece: String, first: String, second: String, missing: String },
    #[error(
        "one corner is twisted {}, which no moves do; check the corners; {TYPO}: twist any one corner {}",
        way(*.clockwise), way(!*.clockwise)
    )]
    Twist { clockwise: bool },
    #[error("one edge is flipped, which no moves do; check the edges; {TYPO}: take out any one edge and put it back the other way")]
    Flip,
    #[error("two pieces are exchanged, which no moves do (parity); check the stickers; {TYPO}: exchange any two edges")]
    Parity,
}

const TYPO: &str = "if all stickers are as on the cube, it was put together wrongly";

fn way(clockwise: bool) -> &'static str {
    if clockwise { "clockwise" } else { "anticlockwise" }
}

/// Why no piece has these stickers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("two of its stickers are the same")]
    Same,
    #[error("two of its colours belong on opposite faces")]
    Opposite,
    #[error("its colours go round the wrong way")]
    Mirrored,
}

impl CubeError {
    /// What is the matter, without what to do.
    pub fn what(&self) -> String {
        parts(self).0
    }

    /// The step that helps.
    pub fn next_step(&self) -> String {
        parts(self).1
    }
}

/// An error's two sides of the semicolon.
pub(super) fn parts(error: &impl std::fmt::Display) -> (String, String) {
    let text = error.to_string();
    let (what, next) = text.split_once("; ").expect("every text has its step");
    (what.into(), next.into())
}

impl<P> Typed<P> {
    pub(super) fn map<Q>(self, state: impl FnOnce(P) -> Q) -> Typed<Q> {
        Typed { state: state(self.state), scheme: self.scheme }
    }
}

/// Turns a face of a cube of stickers, 24 or 54 in their order, whatever colours they have and however the cube is held.
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

/// Each cubie's inputs to the places of its facelets.
#[inline]
pub(super) fn scatter<const N: usize>(inputs: &[[[u16; N]; CODES]], facelets: &[[usize; N]], cubies: &[u8], active: &mut [u16]) {
    for ((inputs, facelets), &code) in inputs.iter().zip(facelets).zip(cubies) {
        for (&facelet, &input) in facelets.iter().zip(&inputs[usize::from(code)]) {
            active[facelet] = input;
        }
    }
}

/// The letters, blanks left out and small ones made large, as many as a cube of this size has stickers.
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

/// A facelet's name, U1 to B9.
fn name(facelet: usize, size: usize) -> String {
    format!("{}{}", Face::ALL[facelet / (size * size)].letter(), facelet % (size * size) + 1)
}

/// Each of these colours is there so often.
fn counted(letters: &[char], colours: &[char; 6], expected: usize) -> Result<(), CubeError> {
    let counts = colours.map(|colour| letters.iter().filter(|&&letter| letter == colour).count());
    let most = (0..6).max_by_key(|&i| counts[i]).expect("there are six");
    let least = (0..6).min_by_key(|&i| counts[i]).expect("there are six");
    if counts[most] == expected {
        return Ok(());
    }
    Err(CubeError::Count { letter: colours[most], found: counts[most], few: colours[least], few_found: counts[least], expected })
}

/// The byte of the cubie with these colours, the first of them where the place's own first is.
fn cubie<const N: usize>(pieces: &[[usize; N]], colours: [usize; N]) -> Option<u8> {
    let (piece, turn) = search(pieces, colours)?;
    // `search` says where a cubie's first sticker goes to; how it is turned says from where it came.
    Some((piece + (N - turn) % N * pieces.len()) as u8)
}

/// The cubies at all places, each piece there once.
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

/// The cubies of a 3x3x3, corners first.
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
        return Err(CubeError::Stranger { at: name(at, 3), found: letters[at], centres });
    }
    counted(&letters, &centres, 9)?;
    let at = |facelet: usize| colour(letters[facelet]).expect("all are centres' colours");
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

/// Pairs of colours that are opposite on most cubes, by the letters they are often written with.
const USUAL: [[char; 2]; 6] = [['U', 'D'], ['R', 'L'], ['F', 'B'], ['W', 'Y'], ['R', 'O'], ['G', 'B']];

/// The cubies of a 2x2x2 with DBL at home.
pub(super) fn two(text: &str) -> Result<Typed<[u8; 8]>, CubeError> {
    let letters = letters(text, 2)?;
    let mut colours = letters.clone();
    colours.sort_unstable();
    colours.dedup();
    let colours: [char; 6] = colours.try_into().map_err(|all: Vec<char>| CubeError::Letters { found: all.len() })?;
    counted(&letters, &colours, 4)?;
    let at = SMALL_FACELETS.map(|corner| corner.map(|facelet| letters[facelet]));
    // Which three pairs are opposite: those that fewest corners speak against, and of those the most usual.
    let against = |pairs: &[[char; 2]; 3]| {
        let meet = |[a, b]: &[char; 2]| at.iter().filter(|c| c.contains(a) && c.contains(b)).count();
        let usual = pairs.iter().filter(|[a, b]| USUAL.contains(&[*a, *b]) || USUAL.contains(&[*b, *a])).count();
        (pairs.iter().map(meet).sum::<usize>(), 3 - usual)
    };
    let pairs = pairings(colours).min_by_key(against).expect("there are fifteen");
    let other = |colour: char| pairs.iter().find_map(|&[a, b]| if a == colour { Some(b) } else { (b == colour).then_some(a) });
    // Colours get the faces at which the corner at DBL has them; where it is no corner, any that fit.
    let mut scheme = Scheme(['?'; 6]);
    let home = at[DBL];
    let whole = |c: &[char; 3]| c.iter().all(|&a| c.iter().filter(|&&b| a == b || Some(a) == other(b)).count() == 1);
    let axes = if whole(&home) { home } else { pairs.map(|[a, _]| a) };
    for (face, colour) in CORNERS[DBL].into_iter().zip(axes) {
        scheme.0[face] = colour;
        scheme.0[opposite(face)] = other(colour).expect("every colour is in a pair");
    }
    let face = |colour: char| scheme.0.iter().position(|&c| c == colour).expect("all six are there");
    let mut faces = at.map(|corner| corner.map(face));
    let mirrored = |corner: &[usize; 3]| why(corner) == Why::Mirrored && cubie(&CORNERS, *corner).is_none();
    if faces.iter().filter(|corner| mirrored(corner)).count() > 4 {
        if whole(&home) {
            let [at, stickers] = [Scheme::FACES.write(&CORNERS[DBL]), home.iter().collect()];
            return Err(CubeError::NoSuchPiece { at, stickers, why: Why::Mirrored });
        }
        // The guess was the mirror image.
        let axis = CORNERS[DBL][0];
        scheme.0.swap(axis, opposite(axis));
        faces = faces.map(|corner| corner.map(|face| if [axis, opposite(axis)].contains(&face) { opposite(face) } else { face }));
    }
    let state = cubies(&CORNERS, faces, &scheme)?;
    balanced(&state)?;
    Ok(Typed { state, scheme })
}

/// Every way to make three pairs of six.
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

/// A 2x2x2 as it is held after moves of any face: the corner that is at DBL then gives the faces their colours.
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
        cubie(&CORNERS, colours.map(|colour| face[colour])).expect("a cube seen another way is a cube")
    })
}
