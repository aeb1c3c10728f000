//! The matrix product against the plain one in 64 bits: odd sizes, either factor transposed or spread out, and
//! everything that may follow.

use gpu::{
    Fused, Gpu, Product, Program, Readback, Region, Side, Space, TILES, Tile, product, product_by,
    product_fused, product_fused_by, products,
};
use math::{Act, Isa, Rng, Unary};
use std::cell::Cell;

fn noise(stream: u32, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    Rng::new(7, stream).fill_normal(Isa::best(), 0, &mut values);
    values
}

/// How a factor of `outer` rows of a (columns of b) and `inner` k lies.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// k runs fastest.
    Along,
    /// The other index runs fastest.
    Across,
    /// The same two within wider rows.
    AlongWide,
    AcrossWide,
    /// Neither is next to the other.
    Spread,
}

const LIES: [Lie; 5] = [Lie::Along, Lie::Across, Lie::AlongWide, Lie::AcrossWide, Lie::Spread];

impl Lie {
    /// Strides (outer, inner) and length.
    fn strides(self, outer: usize, inner: usize) -> (usize, usize, usize) {
        match self {
            Lie::Along => (inner, 1, outer * inner),
            Lie::Across => (1, outer, outer * inner),
            Lie::AlongWide => (inner + 3, 1, outer * (inner + 3)),
            Lie::AcrossWide => (1, outer + 5, inner * (outer + 5)),
            Lie::Spread => (2 * inner, 2, 2 * outer * inner),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    m: usize,
    n: usize,
    k: usize,
    a: Lie,
    b: Lie,
    bias: bool,
    residual: bool,
    act: Act,
    adds: bool,
}

const PLAIN: Case = Case {
    m: 1,
    n: 1,
    k: 1,
    a: Lie::Along,
    b: Lie::Along,
    bias: false,
    residual: false,
    act: Act::None,
    adds: false,
};

/// Rounding of one multiplication and one addition, with some room.
const SINGLE: f64 = 4e-7;

/// Runs cases in one program.
async fn check(gpu: &Gpu, cases: &[Case], tile: Option<&Tile>) {
    let (mut space, mut program) = (Space::default(), Program::new(gpu));
    let mut made = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let Case { m, n, k, .. } = *case;
        let (a_outer, a_inner, a_len) = case.a.strides(m, k);
        let (b_outer, b_inner, b_len) = case.b.strides(n, k);
        let values = [a_len, b_len, n, m * n, m * n];
        let values: Vec<_> = (0..5).map(|j| noise((5 * i + j) as u32, values[j])).collect();
        let at: Vec<Region> = values.iter().map(|v| space.floats(v.len())).collect();
        // What stands after c must still stand there.
        let guard = space.floats(64);
        let p = Product {
            m,
            n,
            k,
            a: Side { at: at[0].at, outer: a_outer as u32, inner: a_inner as u32 },
            b: Side { at: at[1].at, outer: b_outer as u32, inner: b_inner as u32 },
            c: at[4].at,
            bias: case.bias.then_some(at[2].at),
            residual: case.residual.then_some(at[3].at),
            act: case.act,
            adds: case.adds,
            half: None,
        };
        match tile {
            Some(tile) => product_by(&mut program, &mut space, &p, tile),
            None => product(&mut program, &mut space, &p),
        }
        made.push((values, at, guard));
    }
    let memory = space.allocate(gpu).unwrap();
    program.bind(&memory);
    for (values, at, guard) in &made {
        values.iter().zip(at).for_each(|(v, &at)| memory.write_floats(at, v));
        memory.write_floats(*guard, &[123.0; 64]);
    }
    let mut encoder = gpu.encoder();
    program.encode(&mut encoder, 0..program.len());
    gpu.submit(encoder);
    let regions: Vec<Region> = made.iter().flat_map(|(_, at, guard)| [at[4], *guard]).collect();
    let (results, _) = Readback::new(&memory, &regions, &[]).fetch().await.unwrap();
    for ((case, (values, ..)), result) in cases.iter().zip(&made).zip(results.chunks(2)) {
        compare(case, values, &result[0]);
        assert!(result[1].iter().all(|&x| x == 123.0), "{case:?} wrote beyond its end");
    }
}

fn compare(case: &Case, values: &[Vec<f32>], result: &[f32]) {
    let [a, b, bias, residual, c] = values else { unreachable!() };
    let (a_outer, a_inner, _) = case.a.strides(case.m, case.k);
    let (b_outer, b_inner, _) = case.b.strides(case.n, case.k);
    for i in 0..case.m {
        for j in 0..case.n {
            let (mut sum, mut size) = (0f64, 0f64);
            for p in 0..case.k {
                let term = f64::from(a[i * a_outer + p * a_inner]) * f64::from(b[j * b_outer + p * b_inner]);
                sum += term;
                size += term * term;
            }
            let at = i * case.n + j;
            let mut y = sum;
            y += if case.bias { f64::from(bias[j]) } else { 0.0 };
            y += if case.residual { f64::from(residual[at]) } else { 0.0 };
            y = match case.act {
                Act::None => y,
                Act::Relu => y.max(0.0),
                Act::Tanh => y.tanh(),
                Act::Gelu => {
                    0.5 * y
                        * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (y + 0.044715 * y * y * y)).tanh())
                }
            };
            y += if case.adds { f64::from(c[at]) } else { 0.0 };
            // Roundings of k sums add up as a random walk of steps of the size of the sum so far.
            let allowed = SINGLE * (1.0 + y.abs() + size.sqrt() * (case.k as f64).sqrt().min(40.0));
            let error = (f64::from(result[at]) - y).abs();
            assert!(error <= allowed, "{case:?} at {i}, {j}: {} for {y}", result[at]);
        }
    }
}

async fn products_of_any_size_and_stride_are_right(gpu: Gpu) {
    let mut cases = Vec::new();
    for (m, n, k) in [(1, 1, 1), (35, 13, 3), (36, 132, 40)] {
        for a in LIES {
            for b in LIES {
                cases.push(Case { m, n, k, a, b, ..PLAIN });
            }
        }
    }
    for (m, n, k) in [(1, 5, 3), (7, 1, 9), (17, 13, 1), (65, 66, 67), (1000, 2, 64)] {
        cases.push(Case { m, n, k, b: Lie::Across, ..PLAIN });
    }
    check(&gpu, &cases, None).await;
}

async fn what_follows_a_product_is_right(gpu: Gpu) {
    let mut cases = Vec::new();
    let after = |(m, n, k): (usize, usize, usize), act, flags: u8| {
        let (bias, residual, adds) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
        Case { m, n, k, bias, residual, act, adds, ..PLAIN }
    };
    // By ones, by fours, by whole rows, and in a second kernel.
    for size in [(70, 65, 20), (33, 36, 8), (21, 2, 8), (6, 7, 1200)] {
        cases.extend([1, 2, 4].map(|flags| after(size, Act::None, flags)));
        cases.extend(
            [(Act::Relu, 7), (Act::Tanh, 3), (Act::Gelu, 5)].map(|(act, flags)| after(size, act, flags)),
        );
    }
    cases.extend([(22, 3, 8), (9, 1, 12)].map(|size| after(size, Act::Tanh, 7)));
    check(&gpu, &cases, None).await;
}

async fn every_tile_is_right_inside_at_its_edges_and_short_of_them(gpu: Gpu) {
    for tile in &TILES {
        let mut cases = Vec::new();
        let (rows, columns, depth) = (tile.rows, tile.columns, tile.depth);
        // Sizes that share texts.
        let fours =
            [(rows, columns, depth), (2 * rows, 2 * columns, 3 * depth), (rows + 4, columns + 8, depth + 4)];
        let ones = [(rows + 1, columns + 3, 2 * depth + 5), (rows - 1, columns - 1, depth + 1)];
        for (m, n, k) in fours {
            cases.push(Case { m, n, k, ..PLAIN });
            cases.push(Case { m, n, k, a: Lie::Across, b: Lie::Across, ..PLAIN });
        }
        cases.extend(ones.map(|(m, n, k)| Case { m, n, k, b: Lie::Across, ..PLAIN }));
        check(&gpu, &cases, Some(tile)).await;
    }
}

/// Gradients of weights: few rows and columns, many k.
async fn deep_products_are_split_and_joined(gpu: Gpu) {
    let mut cases = Vec::new();
    for (m, n, k) in
        [(64, 64, 2050), (2, 64, 4096), (64, 4, 4096), (1, 33, 1999), (5, 3, 700), (130, 70, 1031)]
    {
        for (a, b) in [(Lie::Across, Lie::Across), (Lie::Along, Lie::AcrossWide)] {
            cases.push(Case { m, n, k, a, b, adds: k % 2 == 0, ..PLAIN });
        }
    }
    check(&gpu, &cases, None).await;
}

/// A product on its way through a slope, with the sums of a's rows: each by every tile, and split.
async fn what_a_product_does_in_passing_is_right(gpu: Gpu) {
    let slopes = [None, Some(Unary::Relu), Some(Unary::Tanh), Some(Unary::Gelu), Some(Unary::Sigmoid)];
    let slope_of = |of: Unary, y: f64| match of {
        Unary::Relu => f64::from(u8::from(y > 0.0)),
        Unary::Tanh => 1.0 - y * y,
        Unary::Sigmoid => y * (1.0 - y),
        _ => {
            let tanh = |x: f64| ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh();
            let gelu = |x: f64| 0.5 * x * (1.0 + tanh(x));
            (gelu(y + 1e-5) - gelu(y - 1e-5)) / 2e-5
        }
    };
    let sizes =
        [(33, 36, 8), (70, 65, 20), (21, 2, 8), (64, 64, 1300), (5, 3, 900), (66, 3, 2000), (130, 7, 600)];
    let mut cases = Vec::new();
    for (i, size) in sizes.into_iter().enumerate() {
        for j in [i, i + 2] {
            cases.push((size, LIES[j % 5], slopes[(i + j) % 5], Some(j % 2 == 0), None));
        }
    }
    cases.push((sizes[0], Lie::Across, slopes[3], None, None));
    for (i, tile) in TILES.iter().enumerate() {
        let size = (tile.rows + 4, tile.columns + 8, 2 * tile.depth + 4);
        cases.push((size, LIES[i % 2], slopes[i % 5], Some(i % 3 > 0), Some(tile)));
    }
    for ((m, n, k), lie, slope, row_sums, tile) in cases {
        let (mut space, mut program) = (Space::default(), Program::new(&gpu));
        let (outer, inner, len) = lie.strides(m, k);
        let values = [noise(1, len), noise(2, n * k), noise(3, m * n), noise(4, m + 3)];
        let at = values.each_ref().map(|v| space.floats(v.len()));
        let c = space.floats(m * n);
        let p = Product {
            m,
            n,
            k,
            a: Side { at: at[0].at, outer: outer as u32, inner: inner as u32 },
            b: Side { at: at[1].at, outer: 1, inner: n as u32 },
            c: c.at,
            bias: None,
            residual: None,
            act: Act::None,
            adds: false,
            half: None,
        };
        let fused = Fused {
            slope: slope.map(|of| (of, at[2].at)),
            row_sums: row_sums.map(|adds| (at[3].at, adds)),
            save: None,
        };
        match tile {
            Some(tile) => product_fused_by(&mut program, &mut space, &p, &fused, tile),
            None => product_fused(&mut program, &mut space, &p, &fused),
        }
        let memory = space.allocate(&gpu).unwrap();
        program.bind(&memory);
        values.iter().zip(at).for_each(|(v, at)| memory.write_floats(at, v));
        let mut encoder = gpu.encoder();
        program.encode(&mut encoder, 0..program.len());
        gpu.submit(encoder);
        let (found, _) = Readback::new(&memory, &[c, at[3]], &[]).fetch().await.unwrap();
        let what = format!("{m} x {n} x {k}, {lie:?}, {slope:?}, {row_sums:?}, {tile:?}");
        let allowed = 4e-6 * (k as f64).sqrt();
        let x = |values: &[f32], at: usize| f64::from(values[at]);
        for row in 0..m {
            for column in 0..n {
                let term = |i| x(&values[0], row * outer + i * inner) * x(&values[1], i * n + column);
                let at = row * n + column;
                let factor = slope.map_or(1.0, |of| slope_of(of, x(&values[2], at)));
                let y = (0..k).map(term).sum::<f64>() * factor;
                let error = (x(&found[0], at) - y).abs();
                assert!(
                    error <= allowed * (1.0 + y.abs()),
                    "{what}: {row}, {column} is {}, not {y}",
                    found[0][at]
                );
            }
            let sum = (0..k).map(|i| x(&values[0], row * outer + i * inner)).sum::<f64>();
            let sum = match row_sums {
                Some(adds) => sum + if adds { x(&values[3], row) } else { 0.0 },
                None => x(&values[3], row),
            };
            let error = (x(&found[1], row) - sum).abs();
            assert!(
                error <= allowed * (1.0 + sum.abs()),
                "{what}: row {row} is {}, not {sum}",
                found[1][row]
            );
        }
        assert_eq!(found[1][m..], values[3][m..], "{what}: what lies behind the sums");
    }
}

/// Three products that are alike, two of them in one dispatch: each gives what it gives alone.
async fn products_that_are_alike_go_together(gpu: Gpu) {
    for ((m, n, k), kernels) in [((70, 65, 20), 2), ((33, 36, 8), 2), ((64, 64, 1300), 4), ((5, 3, 900), 4)] {
        let (mut space, mut program) = (Space::default(), Program::new(&gpu));
        let mut filled = Vec::new();
        let mut region = |space: &mut Space, len: usize| {
            let at = space.floats(len);
            filled.push((at, noise(filled.len() as u32, len)));
            at.at
        };
        let mut made = |space: &mut Space| {
            let p = Product {
                m,
                n,
                k,
                a: Side { at: region(space, m * k), outer: 1, inner: m as u32 },
                b: Side { at: region(space, n * k), outer: 1, inner: n as u32 },
                c: 0,
                bias: Some(region(space, n)),
                residual: Some(region(space, m * n)),
                act: Act::Tanh,
                adds: false,
                half: None,
            };
            (
                p,
                Fused {
                    slope: Some((Unary::Tanh, region(space, m * n))),
                    row_sums: Some((0, false)),
                    save: None,
                },
            )
        };
        let all: Vec<(Product, Fused)> = (0..3).map(|_| made(&mut space)).collect();
        let mut results = Vec::new();
        let mut placed = |space: &mut Space, (p, fused): &(Product, Fused)| {
            let (c, sums) = (space.floats(m * n), space.floats(m));
            results.extend([c, sums]);
            (Product { c: c.at, ..p.clone() }, Fused { row_sums: Some((sums.at, false)), ..*fused })
        };
        let together: Vec<(Product, Fused)> = all.iter().map(|one| placed(&mut space, one)).collect();
        products(&mut program, &mut space, &together);
        assert_eq!(program.len(), kernels, "{m} x {n} x {k}");
        for one in &all {
            let (p, fused) = placed(&mut space, one);
            product_fused(&mut program, &mut space, &p, &fused);
        }
        let memory = space.allocate(&gpu).unwrap();
        program.bind(&memory);
        filled.iter().for_each(|(at, values)| memory.write_floats(*at, values));
        let mut encoder = gpu.encoder();
        program.encode(&mut encoder, 0..program.len());
        gpu.submit(encoder);
        let (found, _) = Readback::new(&memory, &results, &[]).fetch().await.unwrap();
        let (together, alone) = found.split_at(6);
        for (i, (x, y)) in together.iter().zip(alone).enumerate() {
            assert!(y.iter().any(|y| y.abs() > 0.1), "{m} x {n} x {k}: {i} is something");
            let apart = testkit::distance(x, y);
            assert!(apart < 1e-4, "{m} x {n} x {k}: {i} is {apart} off");
        }
    }
}

/// A clock that always gives the next second: every candidate is as fast as another, and the first is kept.
async fn a_tuned_adapter_keeps_candidates_and_right_results(gpu: Gpu) {
    let cases = [
        Case { m: 520, n: 68, k: 65, bias: true, ..PLAIN },
        Case { m: 130, n: 32, k: 32, act: Act::Relu, ..PLAIN },
        Case { m: 64, n: 60, k: 1100, a: Lie::Across, b: Lie::Across, ..PLAIN },
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
    check(&gpu, &cases, None).await;
}

crate::common::tests!(
    what_follows_a_product_is_right,
    deep_products_are_split_and_joined;
    natively:
    products_of_any_size_and_stride_are_right,
    every_tile_is_right_inside_at_its_edges_and_short_of_them,
    what_a_product_does_in_passing_is_right,
    products_that_are_alike_go_together,
    a_tuned_adapter_keeps_candidates_and_right_results,
);
