//! Operations of user files on numbers at the edges of their ranges: computed by the compiler for constants, and by the engine on each
//! instruction set. The expected results are Python's, rounded to 32 bits.

use super::script_checks::errors;
use super::script_fleet::{OBSERVE, Worlds, compiled, file};
use worlds::control::Vector;

/// An operation: its code on the numbers `X` and `Y`, and its result. An error has no result.
type Operation<T> = (&'static str, fn(T, T) -> Option<f64>);

/// Returns the code of a number.
fn code(x: f64, is_float: bool) -> String {
    if is_float { format!("({x:?})") } else { format!("({x})") }
}

/// Returns true if two results have equal bits, so that zeros have equal signs.
fn same(a: Option<f64>, b: Option<f64>) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

/// Computes an operation for each pair in a lane of its own. Returns `None` for lanes with an error.
fn by_the_engine(operation: &str, pairs: &[[f64; 2]], is_float: bool, isa: math::Isa) -> Vec<Option<f64>> {
    let list = |side: usize| pairs.iter().map(|pair| code(pair[side], is_float)).collect::<Vec<_>>().join(", ");
    let step = "x, y = xs[self.x], ys[self.x]\nself.z = RESULT\nself.y = 1\nreturn 0.0, False"
        .replace("RESULT", &operation.replace('X', "x").replace('Y', "y"));
    let body = file("self.x = 0\nself.y = 0\nself.z = 0", &step, OBSERVE);
    let world = compiled(&format!("xs = [{}]\nys = [{}]\n{body}", list(0), list(1)));
    let mut worlds = Worlds::new(&world, isa, 1, 0, pairs.len());
    (0..pairs.len()).for_each(|env| worlds.set(env, &[env as f64, 0.0, 0.0], 0, 0));
    worlds.step();
    let attribute = |env: usize, name: &str| worlds.fleet.attribute(env, name).unwrap()[0];
    (0..pairs.len()).map(|env| (attribute(env, "y") == 1.0).then(|| attribute(env, "z"))).collect()
}

/// Computes an operation as a constant of a file for each pair.
fn by_the_compiler(operation: &str, pairs: &[[f64; 2]], expected: &[Option<f64>], is_float: bool) -> Vec<Option<f64>> {
    let constant = |pair: &[f64; 2]| operation.replace('X', &code(pair[0], is_float)).replace('Y', &code(pair[1], is_float));
    let body = file("self.x = 0\nself.y = 0\nself.z = 0", "self.z = results[self.x]\nreturn 0.0, False", OBSERVE);
    let valid: Vec<usize> = (0..pairs.len()).filter(|k| expected[*k].is_some()).collect();
    let list = valid.iter().map(|k| constant(&pairs[*k])).collect::<Vec<_>>().join(", ");
    let mut worlds = Worlds::new(&compiled(&format!("results = [{list}]\n{body}")), math::Isa::best(), 1, 0, valid.len());
    (0..valid.len()).for_each(|env| worlds.set(env, &[env as f64, 0.0, 0.0], 0, 0));
    worlds.step();
    let mut found = vec![None; pairs.len()];
    for (env, k) in valid.into_iter().enumerate() {
        found[k] = Some(worlds.fleet.attribute(env, "z").unwrap()[0]);
    }
    for (k, pair) in pairs.iter().enumerate().filter(|(k, _)| expected[*k].is_none()) {
        let errors = errors(&format!("result = {}\n{body}", constant(pair)));
        if !errors.iter().any(|error| error.contains("cannot be computed")) {
            found[k] = Some(f64::NAN);
        }
    }
    found
}

/// Compares the operations for all pairs of numbers.
fn check<T: Copy + Into<f64>>(operations: &[Operation<T>], numbers: &[T], is_float: bool) {
    let pairs: Vec<(T, T)> = numbers.iter().flat_map(|x| numbers.iter().map(|y| (*x, *y))).collect();
    let given: Vec<[f64; 2]> = pairs.iter().map(|(x, y)| [(*x).into(), (*y).into()]).collect();
    for (operation, result) in operations {
        let expected: Vec<Option<f64>> = pairs.iter().map(|(x, y)| result(*x, *y)).collect();
        let mut found: Vec<_> =
            crate::sets().into_iter().map(|isa| (isa.name(), by_the_engine(operation, &given, is_float, isa))).collect();
        found.push(("the compiler", by_the_compiler(operation, &given, &expected, is_float)));
        for (by, found) in found {
            for ((pair, expected), found) in given.iter().zip(&expected).zip(&found) {
                assert!(same(*expected, *found), "{operation} of {pair:?} by {by}: {found:?}, not {expected:?}");
            }
        }
    }
}

fn fitting(x: i64) -> Option<f64> {
    i32::try_from(x).ok().map(f64::from)
}

fn truth(x: bool) -> Option<f64> {
    Some(f64::from(x))
}

#[test]
fn operations_of_integers_are_those_of_python() {
    let operations: [Operation<i32>; 17] = [
        ("X + Y", |x, y| fitting(i64::from(x) + i64::from(y))),
        ("X - Y", |x, y| fitting(i64::from(x) - i64::from(y))),
        ("X * Y", |x, y| fitting(i64::from(x) * i64::from(y))),
        ("X // Y", |x, y| (y != 0).then(|| fitting((f64::from(x) / f64::from(y)).floor() as i64))?),
        ("X % Y", |x, y| (y != 0).then(|| fitting(i64::from(x) - i64::from(y) * (f64::from(x) / f64::from(y)).floor() as i64))?),
        ("abs(X) + 0 * Y", |x, _| fitting(i64::from(x).abs())),
        ("-X + 0 * Y", |x, _| fitting(-i64::from(x))),
        ("min(X, Y)", |x, y| fitting(x.min(y).into())),
        ("max(X, Y)", |x, y| fitting(x.max(y).into())),
        ("clip(X, -2, Y)", |x, y| fitting(x.max(-2).min(y).into())),
        ("X < Y", |x, y| truth(x < y)),
        ("X <= Y", |x, y| truth(x <= y)),
        ("X == Y", |x, y| truth(x == y)),
        ("X != Y", |x, y| truth(x != y)),
        ("-3 <= X < 7 and Y > 1", |x, y| truth((-3..7).contains(&x) && y > 1)),
        ("(X and Y) or 5", |x, y| fitting(if x != 0 && y != 0 { y.into() } else { 5 })),
        ("(X if Y > 0 else 4) ** 2", |x, y| fitting(i64::from(if y > 0 { x } else { 4 }).pow(2))),
    ];
    let numbers = [i32::MIN, i32::MIN + 1, -46_341, -46_340, -7, -3, -2, -1, 0, 1, 2, 3, 7, 46_340, 46_341, i32::MAX - 1, i32::MAX];
    check(&operations, &numbers, false);
}

/// Converts an f64 that is exact to a result of 32 bits.
fn single(x: f64) -> Option<f64> {
    Some(f64::from(x as f32))
}

fn whole(x: f64) -> Option<f64> {
    (-2_147_483_648.0..2_147_483_648.0).contains(&x).then_some(x + 0.0)
}

/// Returns Python's `x % y`.
fn rest(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest == 0.0 {
        0f64.copysign(y)
    } else if (rest < 0.0) != (y < 0.0) {
        rest + y
    } else {
        rest
    }
}

#[test]
fn operations_of_floats_are_those_of_python() {
    let divisions: [Operation<f32>; 2] = [
        ("X // Y", |x, y| {
            let quotient = (f64::from(x) - rest(x.into(), y.into())) / f64::from(y);
            (y != 0.0)
                .then(|| if quotient == 0.0 { single(0f64.copysign(f64::from(x) / f64::from(y))) } else { single(quotient.round()) })?
        }),
        ("X % Y", |x, y| (y != 0.0).then(|| single(rest(x.into(), y.into())))?),
    ];
    let operations: [Operation<f32>; 19] = [
        ("X + Y", |x, y| single(f64::from(x) + f64::from(y))),
        ("X - Y", |x, y| single(f64::from(x) - f64::from(y))),
        ("X * Y", |x, y| single(f64::from(x) * f64::from(y))),
        ("X / Y", |x, y| (y != 0.0).then(|| single(f64::from(x) / f64::from(y)))?),
        ("abs(X) + 0.0 * abs(Y)", |x, _| single(x.abs().into())),
        ("-X", |x, _| single((-x).into())),
        // The first of two equal numbers, such as 0 and -0.
        ("min(X, Y)", |x, y| single(if y < x { y } else { x }.into())),
        ("max(X, Y)", |x, y| single(if y > x { y } else { x }.into())),
        ("X < Y", |x, y| truth(x < y)),
        ("X <= Y", |x, y| truth(x <= y)),
        ("X == Y", |x, y| truth(x == y)),
        ("X != Y", |x, y| truth(x != y)),
        ("bool(X)", |x, _| truth(x != 0.0)),
        ("floor(X)", |x, _| whole(f64::from(x).floor())),
        ("ceil(X)", |x, _| whole(f64::from(x).ceil())),
        ("round(X)", |x, _| whole(f64::from(x).round_ties_even())),
        ("int(X)", |x, _| whole(f64::from(x).trunc())),
        ("sqrt(X)", |x, _| (x >= 0.0).then(|| single(f64::from(x).sqrt()))?),
        ("X * Y + 1.5", |x, y| single((f64::from(x) * f64::from(y)) as f32 as f64 + 1.5)),
    ];
    let numbers = [
        -2_147_483_904.0,
        -2_147_483_648.0,
        -7.25,
        -2.5,
        -1.5,
        -1.0,
        -0.5,
        -0.0,
        0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        7.25,
        2_147_483_520.0,
        2_147_483_648.0,
    ];
    check(&operations, &numbers, true);
    // Near 2^31, the quotient of the rounded difference differs from the exact quotient.
    check(&divisions, &numbers.map(|x| x.clamp(-20.0, 20.0)), true);
}

/// `randint` returns every number from `low` to `high - 1`, and no other.
#[test]
fn random_integers_are_within_their_bounds() {
    for (low, high) in
        [(-10, -3), (-6, -5), (-3, 4), (0, 2), (5, 6), (-1_000_003, -1_000_000), (i32::MIN, i32::MIN + 3), (i32::MAX - 3, i32::MAX)]
    {
        let step = format!("low = {low}\nself.x = randint(low, {high})\nself.y = randint(self.x, self.x + 2) - self.x\nreturn 0.0, False");
        let step = if high == i32::MAX { step.replace("randint(self.x, self.x + 2) - self.x", "0") } else { step };
        let mut worlds = Worlds::new(&compiled(&file("self.x = 0\nself.y = 0", &step, OBSERVE)), math::Isa::best(), 1, 0, 128);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..4 {
            worlds.step();
            assert_eq!(worlds.fault(), None, "{low}, {high}");
            for env in 0..worlds.fleet.count() {
                let [x, y] = worlds.attributes(env)[..] else { panic!() };
                seen.insert(x as i64);
                assert!(y == 0.0 || y == 1.0, "{y} of 0 and 1");
            }
        }
        assert!(seen.into_iter().eq(i64::from(low)..i64::from(high)), "{low}, {high}");
    }
}

/// `uniform` returns numbers from `low` to `high`, over the whole range.
#[test]
fn random_floats_are_within_their_bounds() {
    for (low, high) in [(-10.0, -3.0), (-1.0, 1.0), (0.0, 0.5), (2.0, -2.0)] {
        let step = format!("self.x = uniform({low:?}, {high:?})\nreturn 0.0, False");
        let mut worlds = Worlds::new(&compiled(&file("self.x = 0.0\nself.y = 0", &step, OBSERVE)), math::Isa::best(), 1, 0, 128);
        let mut parts = [0; 4];
        for _ in 0..4 {
            worlds.step();
            for env in 0..worlds.fleet.count() {
                let part = (worlds.attributes(env)[0] - low) / (high - low);
                assert!((0.0..=1.0).contains(&part), "{part} from {low} to {high}");
                parts[((4.0 * part) as usize).min(3)] += 1;
            }
        }
        assert!(parts.iter().all(|count| *count > 80), "{parts:?}");
    }
}
