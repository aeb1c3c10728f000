//! Tests of cubes. States and turns are compared with other software (`tests/golden/worlds_cube.py`), with a geometric model of the
//! stickers, and with published counts of states by distance. Other tests check properties of random states and texts.

use math::Rng;
use math::rng::Sequence;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use testkit::test;
use worlds::cube::*;

const METRICS: [Metric; 2] = Metric::ALL;

static DISTANCES: LazyLock<[Distances; 2]> = LazyLock::new(|| METRICS.map(Distances::new));

/// Returns the stride of tests that enumerate the states of the 2x2x2. `npm test -- --all` covers all states.
fn stride() -> usize {
    match testkit::all() {
        _ if cfg!(target_arch = "wasm32") => 61,
        true => 1,
        false => 7,
    }
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../../tests/golden/worlds_cube.json")).unwrap()
}

fn field<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap()
}

fn rows<'a>(golden: &'a Value, name: &str) -> &'a [Value] {
    let rows = golden[name].as_array().unwrap();
    assert!(!rows.is_empty());
    rows
}

fn numbers(seed: u32) -> Sequence {
    Rng::new(seed, 79).sequence(0)
}

fn moves(text: &str) -> Vec<Move> {
    notation::read(text).unwrap()
}

fn written(moves: &[Move]) -> String {
    moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

/// Applies moves through the actions of the cube, and returns the state after them.
fn turned<P: Puzzle>(state: P, moves: &[Move]) -> P {
    let actions = Actions::of::<P>(Metric::Half);
    moves.iter().fold(state, |state, &m| state.turned(actions.find(m).unwrap()))
}

/// A geometric model of the stickers that uses none of the library's tables.
mod space {
    type Vector = [i32; 3];

    /// Vectors of each face, in the order U R F D L B: the normal, the direction of the columns, and the direction of the rows. x is to the
    /// right, y is up, z is to the front.
    const FACES: [[Vector; 3]; 6] = [
        [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
        [[1, 0, 0], [0, 0, -1], [0, -1, 0]],
        [[0, 0, 1], [1, 0, 0], [0, -1, 0]],
        [[0, -1, 0], [1, 0, 0], [0, 0, -1]],
        [[-1, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[0, 0, -1], [-1, 0, 0], [0, -1, 0]],
    ];

    fn dot(a: Vector, b: Vector) -> i32 {
        (0..3).map(|i| a[i] * b[i]).sum()
    }

    /// Returns the vector `v` after a quarter turn about an axis. The turn is clockwise as seen from the tip of the axis.
    fn turn(axis: Vector, v: Vector) -> Vector {
        let cross = |i: usize| axis[(i + 1) % 3] * v[(i + 2) % 3] - axis[(i + 2) % 3] * v[(i + 1) % 3];
        std::array::from_fn(|i| axis[i] * dot(axis, v) - cross(i))
    }

    /// Returns the position and the normal of every sticker. Cubies are 2 units apart.
    fn stickers(size: i32) -> Vec<(Vector, Vector)> {
        let mut all = Vec::new();
        for [normal, right, down] in FACES {
            for row in 0..size {
                for column in 0..size {
                    let along = |i: usize| (size - 1) * normal[i] + (2 * column + 1 - size) * right[i] + (2 * row + 1 - size) * down[i];
                    all.push((std::array::from_fn(along), normal));
                }
            }
        }
        all
    }

    /// Returns the facelets after a clockwise turn of one face. If `whole` is true, the whole cube is turned instead.
    pub fn turned(facelets: &str, size: i32, face: usize, whole: bool) -> String {
        let (axis, stickers) = (FACES[face][0], stickers(size));
        let old: Vec<char> = facelets.chars().collect();
        let mut new = old.clone();
        for (i, &(place, normal)) in stickers.iter().enumerate() {
            if whole || dot(place, axis) == size - 1 {
                let goes = (turn(axis, place), turn(axis, normal));
                new[stickers.iter().position(|&other| other == goes).unwrap()] = old[i];
            }
        }
        new.into_iter().collect()
    }

    /// Returns the facelets of a cube in all its orientations. The first element is `facelets` itself.
    pub fn held(facelets: &str, size: i32) -> Vec<String> {
        let mut ways = vec![facelets.to_string()];
        let mut next = 0;
        while next < ways.len() {
            for face in [0, 1] {
                let way = turned(&ways[next], size, face, true);
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
            next += 1;
        }
        ways
    }
}

#[test]
fn the_3x3x3_turns_as_in_two_other_programs() {
    let golden = golden();
    for row in rows(&golden, "three") {
        let (state, facelets) = (Three::after(&moves(field(row, "moves"))), field(row, "facelets"));
        assert_eq!(state.facelets(&Scheme::FACES), facelets, "{row}");
        assert_eq!(Three::from_facelets(facelets), Ok(Typed { state, scheme: Scheme::FACES }));
    }
}

/// Some sequences of the other program turn the whole cube. For these sequences, only values that do not depend on the orientation are
/// compared.
#[test]
fn the_2x2x2_turns_as_in_another_program() {
    let golden = golden();
    let mut held = 0;
    for row in rows(&golden, "two") {
        let (text, facelets) = (field(row, "moves"), field(row, "facelets"));
        let typed = Two::from_facelets(facelets).unwrap();
        assert_eq!(typed.state.facelets(&typed.scheme), facelets, "{row}");
        if !text.contains(['x', 'y', 'z']) {
            assert_eq!(typed.state, Two::after(&moves(text)), "{row}");
            let shown: String = space_after(2, &moves(text));
            assert_eq!(shown, facelets.chars().map(face_of).collect::<String>(), "{row}");
        }
        held += usize::from(typed.scheme.0 != ['W', 'R', 'G', 'Y', 'O', 'B']);
        let solution = DISTANCES[0].solution(typed.state);
        assert_eq!(solution.len(), usize::from(DISTANCES[0].of(typed.state)));
        // The solution is applied to the geometric model in the orientation of `facelets`. After the solution, each face has one colour.
        let solved = solution
            .iter()
            .fold(facelets.to_string(), |now, m| (0..m.turns()).fold(now, |now, _| space::turned(&now, 2, m.face() as usize, false)));
        assert!(solved.as_bytes().chunks(4).all(|face| face.iter().all(|c| *c == face[0])), "{row}: {solved}");
    }
    assert!(held > 10, "only {held} have another orientation");
}

/// Returns the letter of the face whose stickers have the colour `colour` in the program magiccube.
fn face_of(colour: char) -> char {
    "URFDLB".as_bytes()["WRGYOB".find(colour).unwrap()].into()
}

fn space_after(size: i32, moves: &[Move]) -> String {
    let each = |face: Face| face.letter().to_string().repeat((size * size) as usize);
    let solved: String = Face::ALL.map(each).concat();
    moves.iter().fold(solved, |now, m| (0..m.turns()).fold(now, |now, _| space::turned(&now, size, m.face() as usize, false)))
}

#[test]
fn another_programs_solutions_solve_the_3x3x3() {
    for row in rows(&golden(), "solved") {
        let typed = Three::from_facelets(field(row, "facelets")).unwrap();
        let solution = moves(field(row, "moves"));
        assert_ne!(typed.state, Three::SOLVED);
        assert_eq!(turned(typed.state, &solution), Three::SOLVED, "{row}");
        assert_eq!(written(&solution), field(row, "moves"));
    }
}

#[test]
fn invalid_cubes_get_the_verdicts_of_another_program() {
    let mut kinds = HashSet::new();
    for row in rows(&golden(), "broken") {
        let read = Three::from_facelets(field(row, "facelets"));
        let kind = match &read {
            Ok(_) => "ok",
            Err(CubeError::NoSuchPiece { .. } | CubeError::Twice { .. }) => "undefined",
            Err(CubeError::Twist { .. }) => "Error: Total corner twist is wrong.",
            Err(CubeError::Flip) => "Error: Total edge flip is wrong.",
            Err(CubeError::Parity) => "Error: Wrong edge and corner parity",
            Err(other) => panic!("{row}: {other}"),
        };
        let verdict = field(row, "verdict");
        assert!(verdict == kind || verdict.ends_with("are undefined.") && kind == "undefined", "{row}: {read:?}");
        kinds.insert(kind);
    }
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

fn compare_with_space<P: Puzzle>(seed: u32) {
    let (mut numbers, actions) = (numbers(seed), Actions::of::<P>(Metric::Half));
    for _ in 0..20 {
        let state = P::drawn(&mut numbers);
        let shown = state.facelets(&Scheme::FACES);
        for (action, m) in actions.moves().iter().enumerate() {
            let turned = (0..m.turns()).fold(shown.clone(), |now, _| space::turned(&now, P::SIZE as i32, m.face() as usize, false));
            assert_eq!(state.turned(action).facelets(&Scheme::FACES), turned, "{state:?} {m}");
        }
    }
}

#[test]
fn turns_match_the_geometric_model() {
    compare_with_space::<Two>(1);
    compare_with_space::<Three>(2);
}

#[test]
fn counts_of_states_by_distance_match_published_ones() {
    const QUARTER: [u32; 15] = [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276];
    const HALF: [u32; 12] = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644];
    for (distances, counts) in DISTANCES.iter().zip([&QUARTER[..], &HALF]) {
        assert_eq!(distances.counts(), counts);
        for (distance, &count) in counts.iter().enumerate() {
            let found = distances.table().iter().filter(|&&d| usize::from(d) == distance).count();
            assert_eq!(found, count as usize);
        }
    }
}

#[test]
fn an_action_changes_the_distance_by_at_most_one() {
    for distances in &*DISTANCES {
        let actions = distances.actions();
        for rank in (0..Two::STATES as u32).step_by(stride()) {
            let state = Two::unrank(rank).unwrap();
            let (here, best) = (i32::from(distances.of(state)), distances.best(state));
            for action in 0..actions.count() {
                let then = state.turned(action);
                let step = i32::from(distances.of(then)) - here;
                // A quarter turn changes the parity of the corners, so the distance must change.
                assert!(step.abs() == 1 || step == 0 && actions.metric() == Metric::Half);
                assert_eq!(best >> action & 1 == 1, step == -1);
                assert_eq!(then.turned(actions.inverse(action)), state);
            }
            assert_eq!(best == 0, state == Two::SOLVED);
        }
    }
}

#[test]
fn symmetric_states_fold_into_one() {
    assert_eq!(METRICS[1], Metric::Half);
    let (exact, mut folded) = (&DISTANCES[1], HashMap::new());
    for state in (0..).step_by(stride()).map_while(Two::unrank) {
        let (first, symmetry) = state.folded();
        assert_eq!((first.folded(), exact.of(first)), ((first, 0), exact.of(state)));
        *folded.entry(first).or_insert(0) += 1;
        if state.rank() % 101 == 0 {
            // Under the symmetry, the image of an action leads from the image of the state to the image of the next state.
            for action in 0..9 {
                let there = first.turned(Two::folded_action(symmetry, action));
                assert_eq!(there.folded().0, state.turned(action).folded().0, "{state:?} {symmetry} {action}");
            }
        }
    }
    if stride() > 1 {
        return;
    }
    // Few states are their own images under a symmetry. By Burnside's lemma, the number of classes is therefore slightly above a sixth of
    // the number of states.
    assert!(folded.values().all(|count| 6 % count == 0));
    assert!(folded.len() > Two::STATES / 6 && folded.len() < Two::STATES / 6 + 1000, "{}", folded.len());
}

#[test]
fn solutions_solve_with_the_fewest_moves() {
    let mut numbers = numbers(3);
    for distances in &*DISTANCES {
        for _ in 0..2_000 {
            let state = Two::drawn(&mut numbers);
            let solution = distances.solution(state);
            assert!(solution.iter().all(|by| distances.actions().find(*by).is_some()));
            assert_eq!(solution.len(), usize::from(distances.of(state)));
            assert_eq!(turned(state, &solution), Two::SOLVED);
            assert_eq!(Two::after(&notation::inverse(&solution)), state);
        }
    }
}

/// Returns the number of states at each distance up to `depth`, found by a search that uses only actions and equality. Asserts that the
/// states have different keys.
fn spheres<P: Puzzle + std::hash::Hash>(metric: Metric, depth: usize) -> Vec<usize> {
    let actions = Actions::of::<P>(metric);
    let mut known = HashSet::from([P::SOLVED]);
    let mut ring = vec![P::SOLVED];
    let mut counts = vec![1];
    for _ in 0..depth {
        let mut children = vec![P::SOLVED; ring.len() * actions.count()];
        P::fill_children(&ring, &actions, &mut children);
        children.retain(|&child| known.insert(child));
        counts.push(children.len());
        ring = children;
    }
    let keys: HashSet<u64> = known.iter().map(|state| state.key()).collect();
    assert_eq!(keys.len(), known.len(), "two states have the same key");
    counts
}

#[test]
fn counts_near_the_solved_state_match_published_ones() {
    let less = usize::from(cfg!(target_arch = "wasm32"));
    let check = |counts: Vec<usize>, published: &[usize]| assert_eq!(counts, published[..counts.len()]);
    check(spheres::<Three>(Metric::Quarter, 5 - less), &[1, 12, 114, 1068, 10011, 93840]);
    check(spheres::<Three>(Metric::Half, 4 - less), &[1, 18, 243, 3240, 43239]);
    check(spheres::<Two>(Metric::Quarter, 8 - less), &[1, 6, 27, 120, 534, 2256, 8969, 33058, 114149]);
    check(spheres::<Two>(Metric::Half, 6 - less), &[1, 9, 54, 321, 1847, 9992, 50136]);
}

#[test]
fn ranks_are_distinct_states() {
    assert_eq!(Two::unrank(Two::STATES as u32), None);
    assert_eq!(Two::unrank(u32::MAX), None);
    let mut seen = HashSet::new();
    for rank in (0..Two::STATES as u32).step_by(97) {
        let state = Two::unrank(rank).unwrap();
        let facelets = state.facelets(&Scheme::FACES);
        assert_eq!(Two::from_facelets(&facelets), Ok(Typed { state, scheme: Scheme::FACES }));
        assert_eq!(state.rank(), rank);
        assert!(seen.insert(state.cubies()));
    }
}

#[test]
fn a_2x2x2_is_read_in_any_orientation_and_colours() {
    let mut numbers = numbers(4);
    for _ in 0..40 {
        let state = Two::drawn(&mut numbers);
        let mut colours: Vec<char> = "URFDLBWGYO0123é".chars().collect();
        numbers.shuffle(&mut colours);
        let scheme = Scheme(std::array::from_fn(|face| colours[face]));
        let shown = state.facelets(&scheme);
        assert_eq!(Two::from_facelets(&shown), Ok(Typed { state, scheme }));
        let ways = space::held(&shown, 2);
        assert_eq!(ways.len(), 24);
        for way in ways {
            let typed = Two::from_facelets(&way).unwrap();
            assert_eq!(typed.state.facelets(&typed.scheme), way);
            for distances in &*DISTANCES {
                assert_eq!(distances.of(typed.state), distances.of(state));
            }
        }
    }
}

#[test]
fn a_3x3x3_is_read_in_any_orientation_and_colours() {
    let mut numbers = numbers(5);
    for _ in 0..10 {
        let state = Three::drawn(&mut numbers);
        let shown = state.facelets(&Scheme(['W', 'R', 'G', 'Y', 'O', 'B']));
        let ways = space::held(&shown, 3);
        assert_eq!(ways.len(), 24);
        for way in ways {
            let typed = Three::from_facelets(&way).unwrap();
            assert_eq!(typed.state.facelets(&typed.scheme), way);
        }
    }
}

/// Exchanges pairs of stickers, given by their indices, one pair after the other.
fn exchanged(facelets: &str, pairs: &[(usize, usize)]) -> String {
    let mut letters: Vec<char> = facelets.chars().collect();
    pairs.iter().for_each(|&(a, b)| letters.swap(a, b));
    letters.into_iter().collect()
}

/// Asserts that a text is rejected with the error `error`, and that the error's text contains `words`.
fn refused<P: Puzzle>(text: &str, error: CubeError, words: &str) {
    assert_eq!(P::from_facelets(text), Err(error.clone()), "{text}");
    assert!(error.what().contains(words) && !error.next_step().is_empty(), "{error}");
    assert_eq!(error.to_string(), format!("{}; {}", error.what(), error.next_step()));
}

fn no_piece(at: &str, stickers: &str, why: Why) -> CubeError {
    CubeError::NoSuchPiece { at: at.into(), stickers: stickers.into(), why }
}

fn twice(piece: &str, second: &str) -> CubeError {
    CubeError::Twice { piece: piece.into(), first: piece.into(), second: second.into(), missing: second.into() }
}

#[test]
fn invalid_3x3x3_stickers_return_specific_errors() {
    let solved = Three::SOLVED.facelets(&Scheme::FACES);
    let edited = |at: usize, letter: &str| {
        let mut text = solved.clone();
        text.replace_range(at..=at, letter);
        text
    };
    let swapped = |pairs: &[(usize, usize)]| exchanged(&solved, pairs);
    let [r4, centres] = ["R4", "URFDLB"].map(String::from);
    for (text, error, words) in [
        (String::new(), CubeError::Length { found: 0, expected: 54 }, "54 stickers"),
        (solved[1..].into(), CubeError::Length { found: 53, expected: 54 }, "54 stickers"),
        (edited(12, "?"), CubeError::Letter { at: r4.clone(), found: '?' }, "is not a colour"),
        (edited(12, "W"), CubeError::UnknownColour { at: r4, found: 'W', centres }, "not the colour of a centre"),
        (edited(31, "U"), CubeError::Centres { letter: 'U', first: Face::U, second: Face::D }, "are both"),
        (edited(0, "D"), CubeError::Count { letter: 'D', found: 10, few: 'U', few_found: 8, expected: 9 }, "occurs 10 times"),
        // U9 and F3 are exchanged, so the corner URF has two stickers exchanged.
        (swapped(&[(8, 20)]), no_piece("URF", "FRU", Why::Mirrored), "colours are in mirrored order"),
        // U9 and R7 are exchanged.
        (swapped(&[(8, 15)]), no_piece("URF", "RRF", Why::Same), "are the same"),
        // U8 and B2 are exchanged.
        (swapped(&[(7, 46)]), no_piece("UF", "BF", Why::Opposite), "opposite faces"),
        // R2 and F2 are exchanged, so UR and UF are exchanged.
        (swapped(&[(10, 19)]), CubeError::Parity, "exchanged, which no moves can do (parity)"),
        // U6 and R2 are exchanged, so UR is flipped.
        (swapped(&[(5, 10)]), CubeError::Flip, "one edge is flipped"),
        // URF is turned by one third clockwise: its U sticker moves to the R face.
        (swapped(&[(8, 9), (8, 20)]), CubeError::Twist { clockwise: true }, "twisted clockwise"),
        (swapped(&[(8, 20), (8, 9)]), CubeError::Twist { clockwise: false }, "twisted anticlockwise"),
        // UB becomes a second UF (B2 shows F). DF becomes DB, so that each colour still occurs nine times.
        (swapped(&[(46, 25)]), twice("UF", "UB"), "occurs twice, at UF and UB"),
    ] {
        refused::<Three>(&text, error, words);
    }
    let shown = Three::from_facelets(&solved.to_lowercase().replace("rrr", "r R\nr\t")).unwrap();
    assert_eq!(shown.state, Three::SOLVED);
}

#[test]
fn invalid_2x2x2_stickers_return_specific_errors() {
    let solved = Two::SOLVED.facelets(&Scheme::FACES);
    let swapped = |pairs: &[(usize, usize)]| exchanged(&solved, pairs);
    for (text, error, words) in [
        (solved[..23].into(), CubeError::Length { found: 23, expected: 24 }, "24 stickers"),
        (solved.replacen('B', "-", 1), CubeError::Letter { at: "B1".into(), found: '-' }, "is not a colour"),
        (solved.replacen('B', "W", 1), CubeError::Letters { found: 7 }, "7 different letters"),
        (solved.replace('B', "U"), CubeError::Letters { found: 5 }, "5 different letters"),
        (solved.replacen('B', "U", 1), CubeError::Count { letter: 'U', found: 5, few: 'B', few_found: 3, expected: 4 }, "occurs 5 times"),
        // The first text exchanges U4 and F2, and the second text exchanges D3 and B4. The next two texts rotate U4, R1 and F2 in opposite
        // directions.
        (swapped(&[(3, 9)]), no_piece("URF", "FRU", Why::Mirrored), "colours are in mirrored order"),
        (swapped(&[(14, 23)]), no_piece("DBL", "BDL", Why::Mirrored), "colours are in mirrored order"),
        (swapped(&[(3, 4), (3, 9)]), CubeError::Twist { clockwise: true }, "twisted clockwise"),
        (swapped(&[(3, 9), (3, 4)]), CubeError::Twist { clockwise: false }, "twisted anticlockwise"),
        // The first text exchanges U4 and L1, the second U4 and R3.
        (swapped(&[(3, 16)]), no_piece("URF", "LRF", Why::Opposite), "opposite faces"),
        (swapped(&[(3, 6)]), no_piece("URF", "RRF", Why::Same), "are the same"),
        // ULB becomes a second UFL. DLF becomes a second DBL, so that each colour still occurs four times.
        (swapped(&[(21, 10), (16, 21), (19, 10)]), twice("UFL", "ULB"), "occurs twice, at UFL and ULB"),
    ] {
        refused::<Two>(&text, error, words);
    }
}

#[test]
fn moves_are_read_and_written() {
    for (text, expected) in
        [("", ""), ("R U R' U'", "R U R' U'"), ("RUR'U'", "R U R' U'"), (" R2,U2'  F3\tB1\n", "R2 U2 F' B"), ("R’ L′ D` B3'", "R' L' D' B")]
    {
        assert_eq!(written(&moves(text)), expected, "{text:?}");
    }
    for m in Move::ALL {
        assert_eq!(moves(&m.to_string()), [m]);
        assert_eq!(Move::new(m.face(), m.turns()), Some(m));
        assert_eq!((m.inverse().face(), m.inverse().turns() + m.turns()), (m.face(), 4));
    }
    assert_eq!(Move::new(Face::U, 4), None);
}

#[test]
fn invalid_moves_return_specific_errors() {
    for (text, at, found, why) in [
        ("R U q", 5, "q", "not a move"),
        ("R u", 3, "u", "lower case"),
        ("Rw", 1, "Rw", "two layers"),
        ("U M'", 3, "M", "middle layer"),
        ("x R", 1, "x", "whole cube"),
        ("R4", 1, "R4", "quarter turns"),
        ("R0", 1, "R0", "quarter turns"),
        ("U R22", 3, "R22", "quarter turns"),
        ("2R", 1, "2", "not a move"),
        ("R''", 3, "'", "not a move"),
        ("é", 1, "é", "not a move"),
    ] {
        let error = notation::read(text).unwrap_err();
        assert_eq!((error.at, error.found.as_str()), (at, found), "{text:?}");
        assert!(error.what().contains(why), "{text:?}: {error}");
        assert_eq!(error.to_string(), format!("{}; {}", error.what(), error.next_step()));
    }
    assert!(notation::read("r").unwrap_err().next_step().contains("enter R "));
}

fn walks<P: Puzzle>(seed: u32) {
    for metric in METRICS {
        let actions = Actions::of::<P>(metric);
        let (mut states, mut taken) = (vec![P::SOLVED; 4_000], vec![0; 4_000]);
        P::fill_walk(&actions, &mut numbers(seed), &mut states, &mut taken);
        let scramble = P::scramble(&actions, &mut numbers(seed), 4_000);
        let (mut state, mut times) = (P::SOLVED, vec![0; actions.count()]);
        for (i, &action) in taken.iter().enumerate() {
            let (action, m) = (usize::from(action), scramble[i]);
            state = state.turned(action);
            assert_eq!((states[i], actions.moves()[action]), (state, m));
            times[action] += 1;
            if i > 0 {
                let before = scramble[i - 1];
                assert_ne!(m, before.inverse());
                assert!(metric == Metric::Quarter || m.face() != before.face());
            }
        }
        assert_eq!(turned(P::SOLVED, &scramble), state);
        let fair = 4_000.0 / actions.count() as f64;
        assert!(times.iter().all(|&n| (f64::from(n) / fair - 1.0).abs() < 0.25), "{times:?}");
    }
}

#[test]
fn walks_do_not_undo_the_last_move() {
    walks::<Two>(6);
    walks::<Three>(7);
}

#[test]
fn drawn_states_are_uniform() {
    let mut numbers = numbers(8);
    const COUNT: usize = 24_000;
    let mut times = vec![[0u32; CODES]; 20];
    for _ in 0..COUNT {
        let state = Three::drawn(&mut numbers);
        for (times, &code) in times.iter_mut().zip(state.cubies()) {
            times[usize::from(code)] += 1;
        }
    }
    // Each cubie is expected in each place 1,000 times. The tolerance is five standard deviations.
    assert!(times.iter().flatten().all(|&n| (840..1160).contains(&n)), "{times:?}");
    for _ in 0..200 {
        let state = Three::drawn(&mut numbers);
        assert_eq!(Three::from_facelets(&state.facelets(&Scheme::FACES)).map(|typed| typed.state), Ok(state));
    }
}

fn batches<P: Puzzle>(seed: u32) {
    let mut numbers = numbers(seed);
    let states: Vec<P> = (0..33).map(|_| P::drawn(&mut numbers)).collect();
    let mut active = vec![0; 33 * P::FACELETS];
    P::fill_inputs(&states, &mut active);
    let mut rows = vec![0; 33 * P::CUBIES];
    P::fill_rows(&states, &mut rows);
    for (i, state) in states.iter().enumerate() {
        let active = &active[i * P::FACELETS..][..P::FACELETS];
        let shown: String = active.iter().enumerate().map(|(f, &a)| Scheme::FACES.0[usize::from(a) - 6 * f]).collect();
        assert_eq!(shown, state.facelets(&Scheme::FACES));
        assert!(active.is_sorted() && active.iter().all(|&input| usize::from(input) < P::INPUTS));
        let mut summed: Vec<u16> = rows[i * P::CUBIES..][..P::CUBIES].iter().flat_map(|&row| P::row_inputs(row.into())).copied().collect();
        summed.extend(P::FIXED);
        summed.sort_unstable();
        assert_eq!(summed, active);
    }
    for metric in METRICS {
        let actions = Actions::of::<P>(metric);
        let mut children = vec![P::SOLVED; 33 * actions.count()];
        P::fill_children(&states, &actions, &mut children);
        for (i, child) in children.into_iter().enumerate() {
            assert_eq!(child, states[i / actions.count()].turned(i % actions.count()));
        }
    }
}

#[test]
fn batches_match_single_states() {
    batches::<Two>(9);
    batches::<Three>(10);
    assert_eq!((Two::INPUTS, Three::INPUTS), (144, 324));
}

#[cfg(not(target_arch = "wasm32"))]
mod any {
    use super::*;
    use proptest::prelude::*;

    fn sequences(most: usize) -> impl Strategy<Value = Vec<Move>> {
        prop::collection::vec(prop::sample::select(Move::ALL.to_vec()), 0..most)
    }

    /// Asserts that a text that is accepted as a cube is written unchanged.
    fn same<P: Puzzle>(text: &str) {
        if let Ok(typed) = P::from_facelets(text) {
            let plain: String = text.split_whitespace().collect();
            assert_eq!(typed.state.facelets(&typed.scheme), plain.to_ascii_uppercase());
            assert_eq!(P::from_facelets(&typed.state.facelets(&Scheme::FACES)).unwrap().state, typed.state);
        }
    }

    fn undone<P: Puzzle>(sequence: &[Move]) {
        let back = notation::inverse(sequence);
        let there = P::after(sequence);
        assert_eq!(P::after(&[sequence, &back].concat()), P::SOLVED);
        assert_eq!(notation::read(&written(sequence)).unwrap(), sequence);
        let actions = Actions::of::<P>(Metric::Half);
        for action in 0..actions.count() {
            let four = (0..4).fold(there, |state, _| state.turned(action));
            assert_eq!(four, there);
            assert_eq!(there.turned(action).turned(actions.inverse(action)), there);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        #[test]
        fn inverse_moves_undo_moves(sequence in sequences(60)) {
            undone::<Two>(&sequence);
            undone::<Three>(&sequence);
        }

        #[test]
        fn accepted_texts_are_unchanged(text in "\\PC{0,70}", colours in "[URFDLB \n]{20,60}", letters in "[a-gA-G1-3é']{24}|[A-G]{54}") {
            for text in [&text, &colours, &letters] {
                same::<Two>(text);
                same::<Three>(text);
                if let Ok(moves) = notation::read(text) {
                    assert_eq!(notation::read(&written(&moves)).unwrap(), moves);
                }
            }
        }

        /// An exchange of stickers does not change the number of stickers of each colour. The strings therefore pass the check of these
        /// numbers and reach the later checks.
        #[test]
        fn exchanged_stickers_are_never_misread(sequence in sequences(20), pairs in prop::collection::vec((0..54usize, 0..54usize), 1..8)) {
            let three = Three::after(&sequence).facelets(&Scheme::FACES);
            same::<Three>(&exchanged(&three, &pairs));
            let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (a % 24, b % 24)).collect();
            let two = Two::after(&sequence).facelets(&Scheme::FACES);
            same::<Two>(&exchanged(&two, &pairs));
        }
    }
}

fn symmetric_rows<P: Puzzle>(state: P) -> Vec<u16> {
    let mut rows = vec![0; P::CUBIES];
    state.symmetric_rows(&mut rows);
    rows
}

#[test]
fn symmetric_states_have_equal_rows() {
    fn images<P: Puzzle>() {
        let mut numbers = numbers(31);
        for length in 0..200 {
            let mut drawn = || {
                let face = Face::ALL[numbers.below(6) as usize];
                Move::new(face, 1 + numbers.below(3)).unwrap()
            };
            let moves: Vec<Move> = std::iter::repeat_with(&mut drawn).take(length % 30).collect();
            let image = |faces: [usize; 6], is_mirror: bool| -> Vec<Move> {
                let turns = |by: &Move| if is_mirror { 4 - by.turns() } else { by.turns() };
                let image = |by: &Move| Move::new(Face::ALL[faces[by.face() as usize]], turns(by)).unwrap();
                moves.iter().map(image).collect()
            };
            // The symmetries are a rotation about the axis from U to D, a rotation about the corner URF, and the reflection that exchanges
            // left and right.
            let [quarter, third, mirrored] = [([0, 2, 4, 3, 5, 1], false), ([1, 2, 0, 4, 5, 3], false), ([0, 4, 2, 3, 1, 5], true)]
                .map(|(faces, is_mirror)| image(faces, is_mirror));
            let rows = symmetric_rows(P::after(&moves));
            for image in [quarter, third, mirrored, notation::inverse(&moves)] {
                assert_eq!(symmetric_rows(P::after(&image)), rows, "{moves:?} {image:?}");
            }
            // In the rows of a state, each place occurs once.
            let places: HashSet<usize> = rows.iter().map(|row| usize::from(*row) / CODES).collect();
            assert_eq!(places.len(), P::CUBIES);
        }
    }
    images::<Two>();
    images::<Three>();
}

/// The 2x2x2 has 40,296 classes of states under symmetry and inversion. All states of a class have the same distance.
#[test]
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
fn symmetric_states_have_equal_distances() {
    for distances in &*DISTANCES {
        let mut known = HashMap::new();
        for state in (0..).step_by(stride()).map_while(Two::unrank) {
            let distance = distances.of(state);
            assert_eq!(*known.entry(symmetric_rows(state)).or_insert(distance), distance, "{state:?}");
        }
        assert!(known.len() <= 40_296 && (stride() > 1 || known.len() == 40_296), "{}", known.len());
    }
}
