//! Tests of matrix products on a GPU, compared with plain products in f64: odd sizes, transposed and strided factors, and all epilogues.

use crate::{noise, run_program};
use gpu::internals::{Class, append, class};
use gpu::{Gpu, Product, Program, Region, Side, Space, TILES, Tile, product_by, products};
use math::{Act, Unary, reference};
use std::cell::Cell;

/// Memory order of a factor. Its size `outer` is the number of rows of a, or the number of columns of b. Its size `inner` is k.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// k is contiguous.
    Along,
    /// The rows of a (or the columns of b) are contiguous.
    Across,
    /// [`Order::Along`] with padding.
    AlongWide,
    /// [`Order::Across`] with padding.
    AcrossWide,
    /// Neither index is contiguous.
    Spread,
}

const ORDERS: [Order; 5] = [Order::Along, Order::Across, Order::AlongWide, Order::AcrossWide, Order::Spread];

impl Order {
    /// Returns the stride of the index with size `outer`, the stride of the index with size `inner`, and the length of the factor, all in
    /// floats.
    pub fn strides(self, outer: usize, inner: usize) -> (usize, usize, usize) {
        match self {
            Order::Along => (inner, 1, outer * inner),
            Order::Across => (1, outer, outer * inner),
            Order::AlongWide => (inner + 3, 1, outer * (inner + 3)),
            Order::AcrossWide => (1, outer + 5, inner * (outer + 5)),
            Order::Spread => (2 * inner, 2, 2 * outer * inner),
        }
    }
}

/// A product with its options.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Sizes m, n, k.
    pub shape: [usize; 3],
    pub a: Order,
    pub b: Order,
    pub bias: bool,
    pub residual: bool,
    pub act: Act,
    pub adds: bool,
    /// Function whose derivative multiplies the result.
    pub slope: Option<Unary>,
    /// If it is `Some`, the product also computes the sums of a's rows; `Some(true)` adds the sums to the existing contents.
    pub row_sums: Option<bool>,
    pub saves: bool,
    pub half: Option<[f32; 2]>,
    pub tile: Option<&'static Tile>,
}

pub const PLAIN: Case = Case {
    shape: [1; 3],
    a: Order::Along,
    b: Order::Along,
    bias: false,
    residual: false,
    act: Act::None,
    adds: false,
    slope: None,
    row_sums: None,
    saves: false,
    half: None,
    tile: None,
};

/// Values of a, b, bias, residual, argument of the slope, row sums, and c, in this order. Three guard values follow the row sums.
pub type Values = [Vec<f32>; 7];

/// Returns random values for a case, with the sizes that the case requires.
pub fn values(case: &Case, stream: usize) -> Values {
    let [m, n, k] = case.shape;
    let (a, b) = (case.a.strides(m, k).2, case.b.strides(n, k).2);
    let lens = [a, b, n, m * n, m * n, m + 3, m * n];
    std::array::from_fn(|i| noise((7 * stream + i) as u32, lens[i]))
}

/// Values after c in memory, which a product must not change.
const GUARD: [f32; 64] = [123.0; 64];

/// Appends the product of a case to a program. Returns the regions of the case's values, and two more regions: saved inputs of the
/// activation, and the guard.
fn place(program: &mut Program, space: &mut Space, case: &Case, values: &Values) -> ([Region; 7], [Region; 2]) {
    let [m, n, k] = case.shape;
    let saved = space.floats(m * n);
    let at = values.each_ref().map(|values| space.floats(values.len()));
    let guard = space.floats(GUARD.len());
    let side = |at: Region, (outer, inner, _): (usize, usize, usize)| Side::new(at.at, outer, inner);
    let (a, b) = (side(at[0], case.a.strides(m, k)), side(at[1], case.b.strides(n, k)));
    let p = Product {
        bias: case.bias.then_some(at[2].at),
        residual: case.residual.then_some(at[3].at),
        act: case.act,
        adds: case.adds,
        half: case.half,
        slope: case.slope.map(|of| (of, at[4].at)),
        row_sums: case.row_sums.map(|adds| (at[5].at, adds)),
        save: case.saves.then_some(saved.at),
        ..Product::new(case.shape, a, b, at[6].at)
    };
    match case.tile {
        Some(tile) => product_by(program, space, &p, tile),
        None => products(program, space, &[p]),
    }
    (at, [saved, guard])
}

/// Runs all cases in one program. Returns c, the row sums and the saved values of each case.
pub async fn run(gpu: &Gpu, cases: &[(Case, Values)]) -> Vec<Vec<Vec<f32>>> {
    let (mut space, mut program) = (Space::default(), Program::new(gpu));
    let (mut written, mut read) = (Vec::new(), Vec::new());
    for (case, values) in cases {
        let (at, [saved, guard]) = place(&mut program, &mut space, case, values);
        written.extend(at.into_iter().zip(values.iter().map(Vec::as_slice)));
        written.push((guard, &GUARD));
        read.extend([at[6], at[5], saved, guard]);
    }
    let found = run_program(gpu, &mut program, &space, &written, &read).await;
    for ((case, _), found) in cases.iter().zip(found.chunks(4)) {
        assert!(found[3] == GUARD, "{case:?} wrote beyond its end");
    }
    found.chunks(4).map(|found| found[..3].to_vec()).collect()
}

/// Tolerance for one multiplication and one addition in f32.
const SINGLE: f64 = 4e-7;

/// Runs cases in one program and compares their results with f64.
async fn check(gpu: &Gpu, cases: impl IntoIterator<Item = Case>) {
    let with_values = |(i, case)| (case, values(&case, i));
    let cases: Vec<_> = cases.into_iter().enumerate().map(with_values).collect();
    for ((case, values), found) in cases.iter().zip(run(gpu, &cases).await) {
        compare(case, values, &found);
    }
}

/// Results of a case in f64.
pub struct Expected {
    /// Numbers of c, and the root of the sum of the squared terms of each number.
    pub c: Vec<(f64, f64)>,
    /// Inputs of the activation.
    pub saved: Vec<f64>,
    /// Sums of a's rows.
    pub sums: Vec<f64>,
}

/// Computes a case in f64.
pub fn expected(case: &Case, [a, b, bias, residual, sloped, sums, c]: &Values) -> Expected {
    let [m, n, k] = case.shape;
    let (a_outer, a_inner, _) = case.a.strides(m, k);
    let (b_outer, b_inner, _) = case.b.strides(n, k);
    let x = |values: &[f32], at: usize| f64::from(values[at]);
    let mut expected = Expected { c: Vec::new(), saved: Vec::new(), sums: Vec::new() };
    for i in 0..m {
        for j in 0..n {
            let (mut sum, mut size) = (0f64, 0f64);
            for p in 0..k {
                let term = x(a, i * a_outer + p * a_inner) * x(b, j * b_outer + p * b_inner);
                sum += term;
                size += term * term;
            }
            let at = i * n + j;
            let mut y = sum;
            y += if case.bias { x(bias, j) } else { 0.0 };
            y += if case.residual { x(residual, at) } else { 0.0 };
            expected.saved.push(y);
            y = case.act.unary().map_or(y, |of| reference::unary(of, y));
            y *= case.slope.map_or(1.0, |of| reference::unary_slope_at(of, x(sloped, at)));
            y += if case.adds { x(c, at) } else { 0.0 };
            expected.c.push((y, size.sqrt()));
        }
        let sum = (0..k).map(|p| x(a, i * a_outer + p * a_inner)).sum::<f64>();
        expected.sums.push(match case.row_sums {
            Some(adds) => sum + if adds { x(sums, i) } else { 0.0 },
            None => x(sums, i),
        });
    }
    expected
}

/// Returns the tolerance for results of products with slopes, row sums or f16 factors.
pub fn in_passing(k: usize, y: f64) -> f64 {
    4e-6 * (k as f64).sqrt() * (1.0 + y.abs())
}

fn compare(case: &Case, values: &Values, found: &[Vec<f32>]) {
    let [m, n, k] = case.shape;
    let passes = case.slope.is_some() || case.row_sums.is_some();
    let expected = expected(case, values);
    for (at, (y, size)) in expected.c.into_iter().enumerate() {
        // The rounding errors of the k partial sums add up like a random walk. The size of its steps is proportional to the partial sum.
        let walk = SINGLE * (1.0 + y.abs() + size * (k as f64).sqrt().min(40.0));
        let error = (f64::from(found[0][at]) - y).abs();
        let allowed = if passes { in_passing(k, y) } else { walk };
        assert!(error <= allowed, "{case:?} at {}, {}: {} for {y}", at / n, at % n, found[0][at]);
    }
    for (i, sum) in expected.sums.into_iter().enumerate() {
        let error = (f64::from(found[1][i]) - sum).abs();
        assert!(error <= in_passing(k, sum), "{case:?}: row {i} is {}, not {sum}", found[1][i]);
    }
    assert_eq!(found[1][m..], values[5][m..], "{case:?} wrote behind the sums");
}

async fn products_of_any_size_and_stride_match_f64(gpu: Gpu) {
    let mut cases = Vec::new();
    // With the first shape, the kernels read one or four values at a time, which depends on the orders.
    for (i, shape) in [[36, 132, 40], [35, 13, 3], [1, 1, 1]].into_iter().enumerate() {
        let orders = if i == 0 || testkit::all() { &ORDERS[..] } else { &ORDERS[..1] };
        for &a in orders {
            cases.extend(orders.iter().map(|&b| Case { shape, a, b, ..PLAIN }));
        }
    }
    let odd = [[1, 5, 3], [7, 1, 9], [17, 13, 1], [65, 66, 67], [1000, 2, 64]];
    cases.extend(odd.map(|shape| Case { shape, b: Order::Across, ..PLAIN }));
    check(&gpu, cases).await;
}

async fn epilogues_match_f64(gpu: Gpu) {
    let mut cases = Vec::new();
    let after = |shape: [usize; 3], act, flags: u8| {
        let (bias, residual, adds) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
        Case { shape, bias, residual, act, adds, ..PLAIN }
    };
    // The shapes cover loads of one value, loads of four values, writes of whole rows, and the second kernel of a product that is split
    // over k.
    for shape in [[70, 65, 20], [33, 36, 8], [21, 2, 8], [6, 7, 1200]] {
        cases.extend([1, 2, 4].map(|flags| after(shape, Act::None, flags)));
        let acts = [(Act::Relu, 7), (Act::Tanh, 3), (Act::Gelu, 5)];
        cases.extend(acts.map(|(act, flags)| after(shape, act, flags)));
    }
    cases.extend([[22, 3, 8], [9, 1, 12]].map(|shape| after(shape, Act::Tanh, 7)));
    check(&gpu, cases).await;
}

async fn every_tile_matches_f64_at_any_remainder(gpu: Gpu) {
    for (i, tile) in TILES.iter().enumerate() {
        let plain = Case { tile: Some(tile), ..PLAIN };
        let (rows, columns, depth) = (tile.rows, tile.columns, tile.depth);
        // The sizes in `fours` share one shader source.
        let fours = [[rows, columns, depth], [2 * rows, 2 * columns, 3 * depth], [rows + 4, columns + 8, depth + 4]];
        let ones = [[rows + 1, columns + 3, 2 * depth + 5], [rows - 1, columns - 1, depth + 1]];
        // Without `--all`, the tiles use the two memory orders of `fours` in turn.
        let (both, all) = ([Order::Along, Order::Across], testkit::all());
        let orders = if all { &both[..] } else { &both[i % 2..][..1] };
        let ones = ones.into_iter().take(if all { 2 } else { 1 });
        let mut cases: Vec<_> = ones.map(|shape| Case { shape, b: Order::Across, ..plain }).collect();
        for shape in fours {
            cases.extend(orders.iter().map(|&order| Case { shape, a: order, b: order, ..plain }));
        }
        check(&gpu, cases).await;
    }
}

/// Covers shapes of weight gradients, which have few rows and columns and a large k.
async fn products_split_over_k_match_f64(gpu: Gpu) {
    let mut cases = Vec::new();
    for shape in [[64, 64, 2050], [2, 64, 4096], [64, 4, 4096], [1, 33, 1999], [5, 3, 700], [130, 70, 1031]] {
        for (a, b) in [(Order::Across, Order::Across), (Order::Along, Order::AcrossWide)] {
            cases.push(Case { shape, a, b, adds: shape[2] % 2 == 0, ..PLAIN });
        }
    }
    check(&gpu, cases).await;
}

/// Covers products with a slope and row sums, for every tile and with a split over k.
async fn slopes_and_row_sums_match_f64(gpu: Gpu) {
    let slopes = [None, Some(Unary::Relu), Some(Unary::Tanh), Some(Unary::Gelu), Some(Unary::Sigmoid)];
    let plain = Case { b: Order::Across, ..PLAIN };
    let shapes = [[33, 36, 8], [70, 65, 20], [21, 2, 8], [64, 64, 1300], [5, 3, 900], [66, 3, 2000], [130, 7, 600]];
    let mut cases = vec![Case { shape: shapes[0], a: Order::Across, slope: slopes[3], ..plain }];
    for (i, shape) in shapes.into_iter().enumerate() {
        for j in [i, i + 2] {
            let (a, slope, row_sums) = (ORDERS[j % 5], slopes[(i + j) % 5], Some(j % 2 == 0));
            cases.push(Case { shape, a, slope, row_sums, ..plain });
        }
    }
    for (i, tile) in TILES.iter().enumerate() {
        let shape = [tile.rows + 4, tile.columns + 8, 2 * tile.depth + 4];
        let (slope, row_sums) = (slopes[i % 5], Some(i % 3 > 0));
        cases.push(Case { shape, a: ORDERS[i % 2], slope, row_sums, tile: Some(tile), ..plain });
    }
    // Each case has its own program.
    for case in cases {
        check(&gpu, [case]).await;
    }
}

/// Tests that one call of [`products`] with three products of equal shape gives the same results as three calls.
async fn batched_products_equal_single_ones(gpu: Gpu) {
    for ((m, n, k), kernels) in [((70, 65, 20), 2), ((33, 36, 8), 2), ((64, 64, 1300), 4), ((5, 3, 900), 4)] {
        let (mut space, mut program) = (Space::default(), Program::new(&gpu));
        let mut filled = Vec::new();
        let mut region = |space: &mut Space, len: usize| {
            let at = space.floats(len);
            filled.push((at, noise(filled.len() as u32, len)));
            at.at
        };
        let mut made = |space: &mut Space| {
            let a = Side::new(region(space, m * k), 1, m);
            let b = Side::new(region(space, n * k), 1, n);
            Product {
                bias: Some(region(space, n)),
                residual: Some(region(space, m * n)),
                act: Act::Tanh,
                slope: Some((Unary::Tanh, region(space, m * n))),
                ..Product::new([m, n, k], a, b, 0)
            }
        };
        let all: Vec<Product> = (0..3).map(|_| made(&mut space)).collect();
        let mut results = Vec::new();
        let mut placed = |space: &mut Space, p: &Product| {
            let (c, sums) = (space.floats(m * n), space.floats(m));
            results.extend([c, sums]);
            Product { c: c.at, row_sums: Some((sums.at, false)), ..p.clone() }
        };
        let together: Vec<Product> = all.iter().map(|one| placed(&mut space, one)).collect();
        products(&mut program, &mut space, &together);
        assert_eq!(program.len(), kernels, "{m} x {n} x {k}");
        for one in &all {
            let p = placed(&mut space, one);
            products(&mut program, &mut space, &[p]);
        }
        let written: Vec<_> = filled.iter().map(|(at, values)| (*at, &values[..])).collect();
        let found = run_program(&gpu, &mut program, &space, &written, &results).await;
        let (together, alone) = found.split_at(6);
        for (i, (x, y)) in together.iter().zip(alone).enumerate() {
            assert!(y.iter().any(|y| y.abs() > 0.1), "{m} x {n} x {k}: {i} is 0");
            let apart = testkit::distance(x, y);
            assert!(apart < 1e-4, "{m} x {n} x {k}: {i} is {apart} off");
        }
    }
}

/// Tests one shape per class, with sizes that are not multiples of the tiles. The products have bias, residual, activation, slope and row
/// sums. The products with k = 1100 are split over k. Two small classes suffice for f16, because all classes round their factors alike.
async fn all_tiles_of_a_class_give_the_same_bits(gpu: Gpu) {
    let shapes = [
        (Class::Large, [2049, 1537, 21], false),
        (Class::Batch, [516, 68, 1100], true),
        (Class::Narrow, [130, 31, 77], false),
        (Class::Gradient, [67, 65, 1100], true),
    ];
    let halves = [None, gpu.about().half.then_some([4.0, 1.0])];
    let rounded = |half| shapes.map(|(of, shape, across)| (of, shape, across, half));
    for (of, [m, n, k], across, half) in halves.into_iter().flat_map(rounded) {
        if half.is_some() && m > 200 && !testkit::all() {
            continue;
        }
        assert_eq!(class(m, n, k), of, "{m} x {n} x {k}");
        let values: Vec<Vec<f32>> = (0..).zip([m * k, k * n, n, m * n, m * n]).map(|(stream, len)| noise(stream, len)).collect();
        let mut first: Option<Vec<Vec<u32>>> = None;
        for tile in of.candidates() {
            let (mut space, mut program) = (Space::default(), Program::new(&gpu));
            let regions: Vec<Region> = values.iter().map(|values| space.floats(values.len())).collect();
            let [a, b, bias, residual, at] = regions[..] else { unreachable!() };
            let (c, sums) = (space.floats(m * n), space.floats(m));
            let side = |of: Region, count: usize| if across { Side::new(of.at, 1, count) } else { Side::new(of.at, k, 1) };
            let p = Product {
                bias: Some(bias.at),
                residual: Some(residual.at),
                act: Act::Tanh,
                half,
                slope: Some((Unary::Tanh, at.at)),
                row_sums: Some((sums.at, false)),
                ..Product::new([m, n, k], side(a, m), side(b, n), c.at)
            };
            append(&mut program, &mut space, &[p], [tile, of.rule()]);
            let written: Vec<_> = regions.iter().copied().zip(values.iter().map(Vec::as_slice)).collect();
            let found = run_program(&gpu, &mut program, &space, &written, &[c, sums]).await;
            let bits = found.iter().map(|part| part.iter().map(|x| x.to_bits()).collect()).collect();
            let first = first.get_or_insert_with(|| Vec::clone(&bits));
            assert!(*first == bits, "{m} x {n} x {k} by {}", tile.name());
        }
    }
}

/// Tests tuning with a clock that advances one second per call. All candidates therefore have the same time, and the first candidate is
/// chosen.
async fn tuning_keeps_one_candidate_per_shape_and_right_results(gpu: Gpu) {
    let cases = [
        Case { shape: [520, 68, 65], bias: true, ..PLAIN },
        Case { shape: [130, 32, 32], act: Act::Relu, ..PLAIN },
        Case { shape: [64, 60, 1100], a: Order::Across, b: Order::Across, ..PLAIN },
    ];
    let seconds = Cell::new(0.0);
    let now = || {
        seconds.set(seconds.get() + 1.0);
        seconds.get()
    };
    let timings = gpu.tune(&now).await.unwrap();
    let mut shapes: Vec<_> = timings.iter().map(|timing| timing.shape).collect();
    shapes.dedup();
    for shape in shapes {
        let of = || timings.iter().filter(|timing| timing.shape == shape);
        assert!(of().count() > 1, "nothing to choose for {shape:?}");
        let chosen: Vec<_> = of().filter(|timing| timing.chosen).collect();
        assert_eq!(chosen.len(), 1, "{shape:?}");
        assert!(of().all(|timing| timing.product_s >= chosen[0].product_s), "{shape:?}");
        assert!(of().all(|timing| timing.same_bits), "{shape:?}");
    }
    check(&gpu, cases).await;
}

crate::common::tests!(
    epilogues_match_f64,
    products_split_over_k_match_f64;
    natively:
    products_of_any_size_and_stride_match_f64,
    every_tile_matches_f64_at_any_remainder,
    slopes_and_row_sums_match_f64,
    batched_products_equal_single_ones,
    all_tiles_of_a_class_give_the_same_bits,
    tuning_keeps_one_candidate_per_shape_and_right_results,
);
