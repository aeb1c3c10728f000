//! The matrix product against the plain one in 64 bits: odd sizes, either factor transposed or spread out, and
//! everything that may follow.

#![cfg(not(target_family = "wasm"))]

use gpu::{Gpu, OpenOptions, Product, Program, Readback, Region, Side, Space, product};
use math::{Act, Isa, Rng};

fn open() -> Gpu {
    Gpu::open_blocking(OpenOptions::default())
        .expect("an adapter; a software one will do (mesa-vulkan-drivers)")
}

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

/// Runs cases in one program.
fn check(gpu: &Gpu, cases: &[Case]) {
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
        };
        product(&mut program, &mut space, &p);
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
    let (results, _) = Readback::new(&memory, &regions, &[]).now().unwrap();
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
            let allowed = 4e-7 * (1.0 + y.abs() + size.sqrt() * (case.k as f64).sqrt().min(40.0));
            let error = (f64::from(result[at]) - y).abs();
            assert!(error <= allowed, "{case:?} at {i}, {j}: {} for {y}", result[at]);
        }
    }
}

#[test]
fn products_of_any_size_and_stride_are_right() {
    let gpu = open();
    let mut cases = Vec::new();
    let sizes = [(1, 1, 1), (1, 5, 3), (7, 1, 9), (17, 13, 1), (64, 64, 16), (65, 66, 67), (33, 130, 40)];
    for (m, n, k) in sizes {
        for a in LIES {
            for b in LIES {
                cases.push(Case { m, n, k, a, b, ..PLAIN });
            }
        }
    }
    check(&gpu, &cases);
}

#[test]
fn what_follows_a_product_is_right_in_every_combination() {
    let gpu = open();
    let mut cases = Vec::new();
    for (m, n, k) in [(5, 2, 7), (70, 65, 20)] {
        for act in [Act::None, Act::Relu, Act::Tanh, Act::Gelu] {
            for flags in 0..8 {
                let (bias, residual, adds) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
                cases.push(Case { m, n, k, bias, residual, act, adds, ..PLAIN });
            }
        }
    }
    check(&gpu, &cases);
}
