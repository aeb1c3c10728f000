//! Products of bf16 operands, compared bit for bit with the chains that `vdpbf16ps` and `tdpbf16ps` define. Tests of instructions that the
//! processor lacks are reported as skipped.

use crate::kernels::numbers;
use math::par::Threads;
use math::{Act, Epilogue, Isa, gemm};

/// Rounds to the nearest bf16, ties to even.
fn rounded(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
}

/// Computes a plain product: adds the products of each pair of k to `c[i][j]`, first the odd product and then the even product. For AMX,
/// sums the even and the odd products of 16 pairs separately, from 0, and adds both sums.
fn twin(isa: Isa, [m, n, k]: [usize; 3], a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32, c: &mut [f32]) {
    for i in 0..m {
        for j in 0..n {
            let add = |sum: f32, k: usize| rounded(a(i, k)).mul_add(rounded(b(k, j)), sum);
            let sum = &mut c[i * n + j];
            if isa == Isa::Amx {
                for first in (0..k).step_by(32) {
                    let of = |parity: usize| (first + parity..k.min(first + 32)).step_by(2).fold(0.0, add);
                    *sum += of(0) + of(1);
                }
                continue;
            }
            for pair in 0..k.div_ceil(2) {
                for k in [2 * pair + 1, 2 * pair].into_iter().filter(|at| *at < k) {
                    *sum = add(*sum, k);
                }
            }
        }
    }
}

/// Defines each test for both instruction sets, [`Isa::Bf16`] and [`Isa::Amx`].
macro_rules! by_set {
    ($($test:ident),*) => { by_set!(in bf16, Isa::Bf16, $($test),*); by_set!(in amx, Isa::Amx, $($test),*); };
    (in $set:ident, $isa:expr, $($test:ident),*) => {
        mod $set {
            use math::Isa;
            $(#[test]
            fn $test() {
                match $isa.is_available() {
                    true => super::$test($isa),
                    false => testkit::skip(format_args!("{}: this processor has none", $isa.name())),
                }
            })*
        }
    };
}
by_set!(layer_and_gradients_equal_chains_of_pairs_on_any_threads, strides_do_not_change_the_chains);

#[track_caller]
fn same(got: &[f32], want: &[f32], what: &str) {
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got.to_bits(), want.to_bits(), "{what} [{i}]: {got} for {want}");
    }
}

/// Shapes [m, n, k] close to the sizes of tiles, panels, pairs and blocks. The largest shapes have several blocks in each dimension and are
/// divided among threads.
const SHAPES: [[usize; 3]; 10] = [
    [1, 1, 1],
    [3, 5, 2],
    [7, 33, 31],
    [8, 32, 64],
    [15, 95, 33],
    [61, 64, 257],
    [250, 40, 600],
    [490, 260, 131],
    [521, 250, 560],
    [512, 512, 521],
];

/// Number of multiplications of the two largest shapes and of larger shapes.
const LARGE: usize = 50_000_000;

fn layer_and_gradients_equal_chains_of_pairs_on_any_threads(isa: Isa) {
    for (seed, [rows, out, inp]) in (1..).zip(SHAPES) {
        let (x, w) = (numbers(seed, rows * inp), numbers(!seed, out * inp));
        let (bias, dy) = (numbers(seed ^ 64, out), numbers(seed ^ 128, rows * out));
        let mut y: Vec<f32> = (0..rows * out).map(|i| bias[i % out]).collect();
        twin(isa, [rows, out, inp], |i, k| x[i * inp + k], |k, j| w[j * inp + k], &mut y);
        y.iter_mut().for_each(|y| *y = y.max(0.0));
        let mut dx = numbers(seed ^ 256, rows * inp);
        let old = dx.clone();
        twin(isa, [rows, inp, out], |i, k| dy[i * out + k], |k, j| w[k * inp + j], &mut dx);
        let mut dw = vec![0.0; out * inp];
        twin(isa, [out, inp, rows], |i, k| dy[k * out + i], |k, j| x[k * inp + j], &mut dw);

        for threads in [1, 3] {
            let Some(threads) = Threads::of(threads) else { continue };
            threads.run(|| {
                let mut packed = vec![0.0; gemm::packed_rows_len(out, inp)];
                gemm::pack_rows(isa, &w, out, inp, &mut packed);
                let mut got = vec![f32::NAN; rows * out];
                let tail = Epilogue { bias: Some(&bias), act: Act::Relu, ..Epilogue::default() };
                gemm::linear_rows(isa, rows, out, inp, &x, &packed, &mut got, tail);
                same(&got, &y, &format!("{isa:?} y"));
                let mut packed = vec![0.0; gemm::packed_rows_t_len(out, inp)];
                gemm::pack_rows_t(isa, &w, out, inp, &mut packed);
                let mut got = old.clone();
                gemm::linear_rows_dx(isa, rows, out, inp, &dy, &packed, &mut got, true);
                same(&got, &dx, &format!("{isa:?} dx"));
                let mut got = vec![f32::NAN; out * inp];
                gemm::linear_rows_dw(isa, rows, out, inp, &dy, &x, &mut got, false);
                same(&got, &dw, &format!("{isa:?} dw"));
            });
        }
    }
}

fn strides_do_not_change_the_chains(isa: Isa) {
    for (seed, [m, n, k]) in (1..).zip(SHAPES) {
        let (a, b, old) = (numbers(seed, m * k), numbers(!seed, k * n), numbers(seed ^ 1, m * n));
        let strides = [((k, 1), (n, 1)), ((1, m), (1, k)), ((k, 1), (1, k)), ((1, m), (n, 1))];
        // In the first two pairs, each factor has both orders.
        let pairs = if testkit::all() || m * n * k < LARGE { 4 } else { 2 };
        for (a_strides, b_strides) in strides.into_iter().take(pairs) {
            let mut want = old.clone();
            let at = |x: &[f32], i: usize, j: usize, s: (usize, usize)| x[i * s.0 + j * s.1];
            twin(isa, [m, n, k], |i, k| at(&a, i, k, a_strides), |k, j| at(&b, k, j, b_strides), &mut want);
            let mut got = old.clone();
            gemm::matmul(isa, m, n, k, &a, a_strides, &b, b_strides, &mut got, true);
            same(&got, &want, &format!("{isa:?} {m}x{n}x{k} {a_strides:?} {b_strides:?}"));
        }
    }
}

#[test]
fn bf16_and_amx_are_used_only_on_request() {
    for isa in [Isa::Bf16, Isa::Amx] {
        assert_ne!(Isa::best(), isa);
        assert!(!Isa::available().contains(&isa));
    }
}
