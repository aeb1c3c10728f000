//! Every kernel on every instruction set: compared with its plain f64 reference, and bit for bit within a class of sets. Shapes and numbers
//! are drawn by proptest from a fixed seed.

use math::ops::{self, AdamStep};
use math::par::Threads;
use math::{Act, Binary, Epilogue, Isa, Norm, PANEL, Rng, Span, Unary, gemm, panels_len, reference};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use testkit::test;

/// Runs `check` on random cases; reports the smallest failing case. The number of cases is `cases` with `npm test -- --all`, otherwise at
/// most 30.
fn property<S: Strategy>(cases: u32, strategy: S, check: impl Fn(S::Value)) {
    let cases = match testkit::all() {
        _ if cfg!(miri) => 2,
        true => cases,
        false => cases.min(30),
    };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&strategy, |case| {
        check(case);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Returns n numbers in [-1, 1), which depend on the seed.
pub fn numbers(seed: u32, n: usize) -> Vec<f32> {
    let mut x = vec![0.0; n];
    Rng::new(seed, 7).fill_uniform(Isa::Portable, 0, &mut x);
    x.iter().map(|x| 2.0 * x - 1.0).collect()
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

/// Runs `run` on every set. Results must have the same bits within a class, and must be within `tolerance` of `want`. The error is relative
/// if the wanted value is above 1 in magnitude, else absolute.
#[track_caller]
fn check(want: &[f64], tolerance: f64, run: impl Fn(Isa) -> Vec<f32>) {
    let mut classes: [Option<(Isa, Vec<f32>)>; 2] = [None, None];
    for isa in Isa::available() {
        let got = run(isa);
        assert_eq!(got.len(), want.len(), "{}", isa.name());
        for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
            let error = (f64::from(got) - want).abs() / want.abs().max(1.0);
            assert!(error <= tolerance, "{} [{i}]: {got} for {want}", isa.name());
        }
        match &classes[usize::from(isa.fused())] {
            None => classes[usize::from(isa.fused())] = Some((isa, got)),
            Some((first, bits)) => {
                for i in 0..got.len() {
                    let (a, b) = (bits[i], got[i]);
                    assert_eq!(a.to_bits(), b.to_bits(), "{} {} [{i}]: {a} {b}", first.name(), isa.name());
                }
            }
        }
    }
}

/// Returns a slice of `n` numbers that `write` has filled. The initial numbers are wrong, so `write` must overwrite all of them.
fn written(n: usize, write: impl FnOnce(&mut [f32])) -> Vec<f32> {
    changed(&vec![9.0; n], write)
}

/// Returns a copy of `old` that `change` has changed.
fn changed(old: &[f32], change: impl FnOnce(&mut [f32])) -> Vec<f32> {
    let mut new = old.to_vec();
    change(&mut new);
    new
}

fn to_panels(rows: usize, cols: usize, x: &[f32]) -> Vec<f32> {
    let mut y = vec![0.0; panels_len(rows, cols)];
    for r in 0..rows {
        for c in 0..cols {
            y[reference::panel_index(cols, r, c)] = x[r * cols + c];
        }
    }
    y
}

fn from_panels(rows: usize, cols: usize, x: &[f32]) -> Vec<f32> {
    (0..rows * cols).map(|i| x[reference::panel_index(cols, i / cols, i % cols)]).collect()
}

/// Generates a number of rows or columns of a matrix: small, or close to the sizes of tiles and blocks.
fn side() -> impl Strategy<Value = usize> {
    prop_oneof![1usize..20, 28usize..70, Just(128usize), 120usize..140].prop_map(small_under_miri)
}

fn depth() -> impl Strategy<Value = usize> {
    prop_oneof![1usize..20, 60usize..140, 380usize..400].prop_map(small_under_miri)
}

/// Shortens a side of a matrix under Miri, which is about a thousand times slower than native code.
fn small_under_miri(side: usize) -> usize {
    if cfg!(miri) { side % 19 + 1 } else { side }
}

#[test]
fn products() {
    let case = (side(), side(), depth(), any::<bool>(), any::<bool>(), any::<bool>(), any::<u32>());
    property(60, case, |(m, n, k, a_turned, b_turned, accumulate, seed)| {
        let (a, b, old) = (numbers(seed, m * k), numbers(!seed, k * n), numbers(seed ^ 1, m * n));
        let a_strides = if a_turned { (1, m) } else { (k, 1) };
        let b_strides = if b_turned { (1, k) } else { (n, 1) };
        let mut want = wide(&old);
        reference::matmul(m, n, k, &wide(&a), a_strides, &wide(&b), b_strides, &mut want, accumulate);
        check(&want, 2e-5, |isa| changed(&old, |c| gemm::matmul(isa, m, n, k, &a, a_strides, &b, b_strides, c, accumulate)));
    });
}

const EPS: f32 = 1e-5;

#[test]
fn layers_in_both_layouts() {
    let act = proptest::sample::select(vec![Act::None, Act::Relu, Act::Tanh, Act::Gelu]);
    let case = (side(), side(), depth(), any::<[bool; 3]>(), act, any::<u32>());
    property(80, case, |(rows, out, inp, [has_bias, norm, has_residual], act, seed)| {
        let has_norm = norm && out > 2;
        let (x, w) = (numbers(seed, rows * inp), numbers(!seed, out * inp));
        let (bias, gamma) = (numbers(seed ^ 1, out), numbers(seed ^ 2, out));
        let (beta, residual) = (numbers(seed ^ 3, out), numbers(seed ^ 4, rows * out));
        let plain = |norm: Option<(&[f64], &[f64], f64)>, residual: Option<&[f64]>, act| {
            let (bias, mut y) = (wide(&bias), vec![0.0; rows * out]);
            let bias = has_bias.then_some(&bias[..]);
            reference::linear(rows, out, inp, &wide(&x), &wide(&w), bias, norm, residual, act, &mut y);
            y
        };
        let pre = plain(None, None, Act::None);
        let (wide_gamma, wide_beta, wide_residual) = (wide(&gamma), wide(&beta), wide(&residual));
        let norm = has_norm.then_some((&wide_gamma[..], &wide_beta[..], f64::from(EPS)));
        let mut want = plain(norm, has_residual.then_some(&wide_residual[..]), act);
        // The expected values are the outputs, then the values that the layer saves for its norm: the norm's input, and the statistics of
        // each row.
        if has_norm {
            want.extend(&pre);
            for r in 0..rows {
                want.extend(<[f64; 2]>::from(reference::stats(&pre[r * out..][..out], f64::from(EPS), true)));
            }
        }
        let run = |isa: Isa, panels: bool, save: &mut [f32]| {
            let (n, batch) = if panels { (panels_len(rows, out), panels_len(rows, 1)) } else { (rows * out, rows) };
            let (mut y, mut save_pre, mut save_stats) = (vec![0.0; n], vec![0.0; n], vec![0.0; 2 * batch]);
            let residual_panels = to_panels(rows, out, &residual);
            let residual = if panels { &residual_panels } else { &residual };
            let ep = Epilogue {
                bias: has_bias.then_some(&bias[..]),
                residual: has_residual.then_some(&residual[..]),
                norm: has_norm.then_some(Norm {
                    gamma: &gamma,
                    beta: &beta,
                    eps: EPS,
                    save_pre: &mut save_pre,
                    save_stats: &mut save_stats,
                }),
                act,
                save,
            };
            if panels {
                let mut packed = vec![0.0; gemm::packed_panels_len(out, inp)];
                gemm::pack_panels(isa, &w, out, inp, &mut packed);
                gemm::linear_panels(isa, rows, out, inp, &to_panels(rows, inp, &x), &packed, &mut y, ep);
                (y, save_pre) = (from_panels(rows, out, &y), from_panels(rows, out, &save_pre));
            } else {
                let mut packed = vec![0.0; gemm::packed_rows_len(out, inp)];
                gemm::pack_rows(isa, &w, out, inp, &mut packed);
                gemm::linear_rows(isa, rows, out, inp, &x, &packed, &mut y, ep);
            }
            if has_norm {
                y.extend(save_pre);
                y.extend(&save_stats[..2 * rows]);
            }
            y
        };
        check(&want, 3e-4, |isa| run(isa, false, &mut []));
        check(&want, 3e-4, |isa| run(isa, true, &mut []));
        for isa in Isa::available() {
            let rows_first = run(isa, false, &mut []);
            if !has_norm {
                let panels_first = run(isa, true, &mut []);
                assert_eq!(rows_first, panels_first, "the layouts share their chains on {}", isa.name());
            }
            if let Some(op) = act.unary() {
                let mut saved = vec![9.0; rows * out];
                assert_eq!(rows_first, run(isa, false, &mut saved));
                ops::unary_in_place(isa, op, &mut saved);
                assert_eq!(rows_first[..rows * out], saved);
            }
        }
    });
}

#[test]
fn layers_backward() {
    let case = (side(), side(), side(), any::<bool>(), any::<u32>());
    property(60, case, |(rows, out, inp, accumulate, seed)| {
        let (x, w, dy) = (numbers(seed, rows * inp), numbers(!seed, out * inp), numbers(seed ^ 1, rows * out));
        let (dx, dw) = (numbers(seed ^ 2, rows * inp), numbers(seed ^ 3, out * inp));
        let mut want = wide(&dx);
        reference::matmul(rows, inp, out, &wide(&dy), (out, 1), &wide(&w), (inp, 1), &mut want, accumulate);
        check(&want, 2e-5, |isa| {
            let mut packed = vec![0.0; gemm::packed_rows_t_len(out, inp)];
            gemm::pack_rows_t(isa, &w, out, inp, &mut packed);
            let mut dx = dx.clone();
            gemm::linear_rows_dx(isa, rows, out, inp, &dy, &packed, &mut dx, accumulate);
            dx
        });
        let mut want = wide(&dw);
        reference::matmul(out, inp, rows, &wide(&dy), (1, out), &wide(&x), (inp, 1), &mut want, accumulate);
        check(&want, 2e-5, |isa| changed(&dw, |dw| gemm::linear_rows_dw(isa, rows, out, inp, &dy, &x, dw, accumulate)));
    });
}

fn any_unary() -> impl Strategy<Value = Unary> {
    proptest::sample::select(Unary::ALL.to_vec())
}

#[test]
fn functions_of_one_argument() {
    property(120, (any_unary(), 0usize..70, any::<u32>()), |(op, n, seed)| {
        let mut x: Vec<f32> = numbers(seed, n).iter().map(|x| 4.0 * x).collect();
        if matches!(op, Unary::Ln | Unary::Sqrt) {
            x.iter_mut().for_each(|x| *x = x.abs() + 0.1);
        }
        let want: Vec<f64> = x.iter().map(|&x| reference::unary(op, f64::from(x))).collect();
        let run = |isa| written(n, |y| ops::unary(isa, op, &x, y));
        check(&want, 1e-6, run);
        check(&want, 1e-6, |isa| changed(&x, |y| ops::unary_in_place(isa, op, y)));
        let dy = numbers(!seed, n);
        let slope = |i: usize| f64::from(dy[i]) * reference::unary_slope(op, f64::from(x[i]));
        let want: Vec<f64> = (0..n).map(slope).collect();
        check(&want, 5e-6, |isa| written(n, |dx| ops::unary_backward(isa, op, &x, &run(isa), &dy, dx)));
        check(&want, 5e-6, |isa| changed(&dy, |d| ops::unary_backward_in_place(isa, op, &x, &run(isa), d)));
    });
}

#[test]
fn functions_of_two_arguments() {
    let span = || proptest::sample::select(vec![Span::Full, Span::Row, Span::Column, Span::Scalar]);
    let op = proptest::sample::select(Binary::ALL.to_vec());
    property(200, (op, 1usize..40, 1usize..40, span(), span(), any::<u32>()), |(op, rows, cols, a, b, seed)| {
        let len = |span| match span {
            Span::Full => rows * cols,
            Span::Row => cols,
            Span::Column => rows,
            Span::Scalar => 1,
        };
        let (x, mut z) = (numbers(seed, len(a)), numbers(!seed, len(b)));
        if op == Binary::Div {
            z.iter_mut().for_each(|z| *z = z.signum() * (z.abs() + 0.1));
        }
        let mut want = vec![0.0; rows * cols];
        reference::binary_all(op, rows, cols, (&wide(&x), a), (&wide(&z), b), &mut want);
        check(&want, 1e-6, |isa| written(rows * cols, |y| ops::binary(isa, op, rows, cols, (&x, a), (&z, b), y)));
        if a == Span::Full {
            check(&want, 1e-6, |isa| changed(&x, |y| ops::binary_in_place(isa, op, rows, cols, y, (&z, b))));
        }
    });
}

#[test]
fn affine_and_scaled_addition() {
    property(40, (0usize..70, any::<u32>()), |(n, seed)| {
        let (x, old) = (numbers(seed, n), numbers(seed ^ 1, n));
        let of = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
        check(&of(&|i| 0.3 * f64::from(x[i]) - 0.7), 1e-6, |isa| written(n, |y| ops::affine(isa, 0.3, -0.7, &x, y)));
        check(&of(&|i| f64::from(old[i]) + 0.3 * f64::from(x[i])), 1e-6, |isa| changed(&old, |y| ops::add_scaled(isa, 0.3, &x, y)));
    });
}

#[test]
fn sums() {
    property(80, (1usize..50, 1usize..100, any::<bool>(), any::<u32>()), |(rows, cols, accumulate, seed)| {
        let n = rows * cols;
        let (x, z) = (numbers(seed, n), numbers(!seed, n));
        let total: f64 = wide(&x).iter().sum();
        let squares: f64 = wide(&x).iter().map(|x| x * x).sum();
        check(&[total, squares], 1e-5, |isa| vec![ops::sum(isa, &x), ops::sum_of_squares(isa, &x)]);
        let kept = |i: usize| if accumulate { f64::from(z[i]) } else { 0.0 };
        let by_row: Vec<f64> = (0..rows).map(|r| wide(&x[r * cols..][..cols]).iter().sum::<f64>()).collect();
        check(&by_row, 1e-5, |isa| written(rows, |y| ops::sum_rows(isa, rows, cols, &x, y)));
        let by_col: Vec<f64> = (0..cols).map(|c| kept(c) + (0..rows).map(|r| f64::from(x[r * cols + c])).sum::<f64>()).collect();
        check(&by_col, 1e-5, |isa| changed(&z[..cols], |y| ops::sum_cols(isa, rows, cols, &x, y, accumulate)));
    });
}

#[test]
fn softmax_and_its_slope() {
    property(80, (1usize..50, 1usize..80, any::<bool>(), any::<u32>()), |(rows, cols, log, seed)| {
        let n = rows * cols;
        let x: Vec<f32> = numbers(seed, n).iter().map(|x| 10.0 * x).collect();
        let dy = numbers(!seed, n);
        let mut y = vec![0.0; n];
        reference::softmax(rows, cols, &wide(&x), &mut y, log);
        check(&y, 2e-6, |isa| written(n, |y| ops::softmax(isa, rows, cols, &x, y, log)));
        check(&y, 2e-6, |isa| {
            let mut y = vec![0.0; panels_len(rows, cols)];
            ops::softmax_panels(isa, rows, cols, &to_panels(rows, cols, &x), &mut y, log);
            from_panels(rows, cols, &y)
        });
        let y: Vec<f32> = y.iter().map(|&y| y as f32).collect();
        let mut want = vec![0.0; n];
        reference::softmax_backward(rows, cols, &wide(&y), &wide(&dy), &mut want, log);
        check(&want, 1e-5, |isa| written(n, |dx| ops::softmax_backward(isa, rows, cols, &y, &dy, dx, log)));
    });
}

#[test]
fn norms_and_their_slopes() {
    property(120, (1usize..50, 1usize..140, any::<bool>(), any::<u32>()), |(rows, cols, centred, seed)| {
        // The layer norm of two numbers is always ±1, and the rounding error of its slope is divided by √eps. A row of a layer norm
        // therefore has at least three numbers.
        let cols = if centred { cols + 2 } else { cols };
        let n = rows * cols;
        let (x, dy) = (numbers(seed, n), numbers(!seed, n));
        let (gamma, beta) = (numbers(seed ^ 2, cols), numbers(seed ^ 3, cols));
        let (eps, x64, gamma64, beta64) = (f64::from(EPS), wide(&x), wide(&gamma), wide(&beta));
        let mut want = vec![0.0; n];
        reference::norm(rows, cols, &x64, &gamma64, centred.then_some(&beta64), eps, &mut want);
        for x in x64.chunks(cols) {
            want.extend(<[f64; 2]>::from(reference::stats(x, eps, centred)));
        }
        let forward = |isa| {
            let (mut y, mut stats) = (vec![0.0; n], vec![9.0; 2 * rows]);
            ops::norm(isa, rows, cols, &x, &gamma, centred.then_some(&beta), EPS, &mut y, &mut stats);
            y.extend(stats);
            y
        };
        check(&want, 2e-5, forward);
        if centred {
            check(&want, 2e-5, |isa| {
                let (mut y, mut stats) = (vec![0.0; panels_len(rows, cols)], vec![0.0; panels_len(rows, 2)]);
                ops::layer_norm_panels(isa, rows, cols, &to_panels(rows, cols, &x), &gamma, &beta, EPS, &mut y, &mut stats);
                let mut y = from_panels(rows, cols, &y);
                y.extend(&stats[..2 * rows]);
                y
            });
        }
        let (mut dx, mut dgamma, mut dbeta) = (vec![0.0; n], gamma64.clone(), beta64.clone());
        let of_beta = centred.then_some(&mut dbeta[..]);
        reference::norm_backward(rows, cols, &x64, &gamma64, eps, &wide(&dy), &mut dx, &mut dgamma, of_beta);
        check(&[dx, dgamma, dbeta].concat(), 5e-5, |isa| {
            let (mut dx, mut dgamma, mut dbeta) = (vec![9.0; n], gamma.clone(), beta.clone());
            let (stats, of_beta) = (&forward(isa)[n..], centred.then_some(&mut dbeta[..]));
            ops::norm_backward(isa, rows, cols, &x, &gamma, stats, &dy, &mut dx, &mut dgamma, of_beta);
            [dx, dgamma, dbeta].concat()
        });
    });
}

/// Each sum is one chain in the order of the rows, so the bits do not depend on the number of vectors that are summed together.
#[test]
fn norm_parameter_slopes_are_chains_down_the_rows() {
    let check = |rows: usize, cols: usize, seed: u32| {
        let n = rows * cols;
        let (x, dy, stats) = (numbers(seed, n), numbers(!seed, n), numbers(seed ^ 1, 2 * rows));
        let (gamma, beta) = (numbers(seed ^ 2, cols), numbers(seed ^ 3, cols));
        for isa in Isa::available() {
            let (mut want_gamma, mut want_beta) = (gamma.clone(), beta.clone());
            for i in 0..n {
                let (r, c) = (i / cols, i % cols);
                let hat = (x[i] - stats[2 * r]) * stats[2 * r + 1];
                want_gamma[c] = if isa.fused() { dy[i].mul_add(hat, want_gamma[c]) } else { dy[i] * hat + want_gamma[c] };
                want_beta[c] += dy[i];
            }
            let (mut dx, mut dgamma, mut dbeta) = (vec![0.0; n], gamma.clone(), beta.clone());
            let dx = &mut dx;
            ops::norm_backward(isa, rows, cols, &x, &gamma, &stats, &dy, dx, &mut dgamma, Some(&mut dbeta));
            assert_eq!((&dgamma, &dbeta), (&want_gamma, &want_beta), "{} {rows}x{cols}", isa.name());
            dgamma.copy_from_slice(&gamma);
            ops::norm_backward(isa, rows, cols, &x, &gamma, &stats, &dy, dx, &mut dgamma, None);
            assert_eq!(dgamma, want_gamma, "{} {rows}x{cols}", isa.name());
        }
    };
    property(60, (1usize..50, 1usize..200, any::<u32>()), |(rows, cols, seed)| check(small_under_miri(rows), small_under_miri(cols), seed));
    if cfg!(miri) {
        return;
    }
    // This size is divided among threads by columns.
    check(2048, 200, 1);
}

#[test]
fn attention_and_its_slopes() {
    let size = prop_oneof![1usize..20, 30usize..70].prop_map(small_under_miri);
    let len = prop_oneof![1usize..20, 30usize..70, 120usize..135].prop_map(small_under_miri);
    let case = (1usize..4, 1usize..4, size, len, any::<u32>());
    property(40, case, |(sequences, heads, size, len, seed)| attention(sequences, heads, size, len, seed, 1.0));
    if cfg!(miri) {
        return;
    }
    // The sequence is longer than a block of keys, and one key has almost all weight in the softmax.
    attention(1, 1, 5, 300, 1, 1.0);
    attention(1, 1, 40, 530, 2, 30.0);
}

/// Compares attention and its gradient with the reference. Queries are in [-loud, loud), keys and values in [-1, 1).
fn attention(sequences: usize, heads: usize, size: usize, len: usize, seed: u32, loud: f32) {
    let (cols, rows) = (heads * size, sequences * len);
    let mut qkv = numbers(seed, rows * 3 * cols);
    qkv.chunks_mut(3 * cols).for_each(|row| row[..cols].iter_mut().for_each(|q| *q *= loud));
    let dy = numbers(!seed, rows * cols);
    let mut want = vec![0.0; rows * cols];
    reference::causal_attention(heads, len, cols, &wide(&qkv), &mut want);
    let forward = |isa| {
        let (mut y, mut lse) = (vec![9.0; rows * cols], vec![9.0; rows * heads]);
        ops::causal_attention(isa, heads, len, cols, &qkv, &mut y, Some(&mut lse));
        (y, lse)
    };
    check(&want, 2e-5, |isa| forward(isa).0);
    let mut want = vec![0.0; rows * 3 * cols];
    reference::causal_attention_backward(heads, len, cols, &wide(&qkv), &wide(&dy), &mut want);
    check(&want, 1e-4, |isa| {
        let ((y, lse), mut dqkv) = (forward(isa), vec![9.0; rows * 3 * cols]);
        ops::causal_attention_backward(isa, heads, len, cols, &qkv, &y, &lse, &dy, &mut dqkv);
        dqkv
    });
    // The bits are the same if queries are processed one at a time, with stored keys and values, or all at once.
    for isa in Isa::available() {
        let part = |i: usize| -> Vec<f32> {
            qkv[..len * 3 * cols].chunks(3 * cols).flat_map(|row| &row[i * cols..(i + 1) * cols]).copied().collect()
        };
        let ([q, k, v], all) = ([part(0), part(1), part(2)], forward(isa).0);
        for row in (0..len).step_by(1 + len / 40) {
            let mut y = vec![9.0; cols];
            let (keys, at) = (..(row + 1) * cols, row * cols..(row + 1) * cols);
            ops::attend_one(isa, heads, cols, &q[at.clone()], &k[keys], &v[keys], &mut y);
            assert_eq!(y, all[at], "{} row {row} of {len}", isa.name());
        }
    }
}

#[test]
fn rotary_turns_by_the_position() {
    for (heads, size, len) in [(1, 2, 1), (2, 6, 5), (1, 64, 1024), (3, 40, 7)] {
        let (cols, rows) = (3 * heads * size, 2 * len + 3);
        let (x, table) = (numbers(3, rows * cols), ops::rotary_table(len, size));
        let shape = [2 * heads * size, cols, size];
        let want: Vec<f64> = (0..rows * cols)
            .map(|i| {
                let (row, col) = (i / cols, i % cols);
                if col >= shape[0] {
                    return f64::from(x[i]);
                }
                let pair = col % size % (size / 2);
                let angle = ((row + 1) % len) as f64 * 10000f64.powf(-2.0 * pair as f64 / size as f64);
                let low = row * cols + col / size * size + pair;
                let (a, b) = (f64::from(x[low]), f64::from(x[low + size / 2]));
                if i == low { a * angle.cos() - b * angle.sin() } else { b * angle.cos() + a * angle.sin() }
            })
            .collect();
        check(&want, 1e-6, |isa| written(rows * cols, |y| ops::rotary(isa, shape, &table, 1, Some(&x), y, false)));
        check(&wide(&x), 1e-6, |isa| {
            let mut y = x.clone();
            ops::rotary(isa, shape, &table, 1, None, &mut y, false);
            ops::rotary(isa, shape, &table, 1, None, &mut y, true);
            y
        });
    }
}

#[test]
fn dropout_mask_follows_the_generator() {
    property(40, (0usize..300, 0.0f32..0.95, any::<(u32, u32)>()), |(n, p, (seed, step))| {
        let (x, rng) = (numbers(seed, n), Rng::new(seed, 3));
        let mut chances = vec![0.0; n];
        rng.fill_uniform(Isa::Portable, step, &mut chances);
        let kept = |i: usize| f64::from(u8::from(chances[i] >= p)) / (1.0 - f64::from(p));
        let want: Vec<f64> = (0..n).map(|i| f64::from(x[i]) * kept(i)).collect();
        check(&want, 1e-6, |isa| written(n, |y| ops::dropout(isa, p, rng, step, &x, y)));
    });
    // The share of zeros among many numbers is close to p. The share of numbers that are zero in both of two steps is close to p².
    let x = vec![1.0; 3 * math::par::CHUNK + 7];
    let run = |step| written(x.len(), |y| ops::dropout(Isa::best(), 0.25, Rng::new(1, 1), step, &x, y));
    let (first, next) = (run(1), run(2));
    let left = |y: &[f32]| y.iter().filter(|y| **y == 0.0).count() as f64 / x.len() as f64;
    assert!((left(&first) - 0.25).abs() < 0.005 && (left(&next) - 0.25).abs() < 0.005);
    let both: Vec<f32> = first.iter().zip(&next).map(|(a, b)| a.max(*b)).collect();
    assert!((left(&both) - 0.0625).abs() < 0.005);
}

/// Returns all results of [`ops::head_loss`] in one list: losses, dx and dw.
fn head(
    isa: Isa,
    [rows, vocab, inp]: [usize; 3],
    x: &[f32],
    w: &[f32],
    target: &[f32],
    upstream: Option<&[f32]>,
    old: Option<&[f32]>,
) -> Vec<f32> {
    let mut packed = vec![0.0; gemm::packed_rows_len(vocab, inp)];
    let mut packed_t = vec![0.0; gemm::packed_rows_t_len(vocab, inp)];
    gemm::pack_rows(isa, w, vocab, inp, &mut packed);
    gemm::pack_rows_t(isa, w, vocab, inp, &mut packed_t);
    let (mut loss, mut tile) = (vec![9.0; rows], vec![9.0; ops::head_tile(rows, vocab) * vocab]);
    let (mut dx, mut dw) = (vec![9.0; rows * inp], old.map_or(vec![9.0; vocab * inp], <[f32]>::to_vec));
    let slopes = ops::HeadSlopes { packed_t: &packed_t, upstream, scale: 0.5, dx: &mut dx, dw: &mut dw, adds: old.is_some() };
    let shape = [rows, vocab, inp];
    ops::head_loss(isa, shape, x, &packed, target, &mut loss, &mut tile, Some(slopes));
    let mut alone = vec![9.0; rows];
    ops::head_loss(isa, shape, x, &packed, target, &mut alone, &mut tile, None);
    assert_eq!(loss, alone);
    [loss, dx, dw].concat()
}

#[test]
fn head_loss_and_gradients() {
    let vocab = prop_oneof![1usize..20, 60usize..70, Just(300usize)];
    property(40, (1usize..40, vocab, 1usize..50, any::<u32>()), |(rows, vocab, inp, seed)| {
        let (x, w) = (numbers(seed, rows * inp), numbers(seed ^ 1, vocab * inp));
        let w: Vec<f32> = w.iter().map(|w| 3.0 * w).collect();
        let target: Vec<f32> = numbers(seed ^ 2, rows).iter().map(|u| ((u + 1.0) / 2.0 * vocab as f32).floor()).collect();
        let (weights, old) = (numbers(seed ^ 3, rows), numbers(seed ^ 4, vocab * inp));
        for weighed in [false, true] {
            let upstream: Vec<f64> = weights.iter().map(|&w| 0.5 * if weighed { f64::from(w) } else { 1.0 }).collect();
            let mut want = [vec![0.0; rows], vec![0.0; rows * inp], vec![0.0; vocab * inp]];
            let [loss, dx, dw] = &mut want;
            if weighed {
                *dw = wide(&old);
            }
            let shape = [rows, vocab, inp];
            reference::head_loss(shape, &wide(&x), &wide(&w), &target, &upstream, loss, dx, dw);
            check(&want.concat(), 2e-5, |isa| {
                let (upstream, old) = (weighed.then_some(&weights[..]), weighed.then_some(&old[..]));
                head(isa, shape, &x, &w, &target, upstream, old)
            });
        }
    });
}

/// The rows fill several tiles, which threads share.
#[test]
fn large_head_has_the_same_bits_on_any_threads() {
    let shape @ [rows, vocab, inp] = [301, 36_001, 12];
    assert!(rows > 2 * ops::head_tile(rows, vocab));
    let (x, w) = (numbers(1, rows * inp), numbers(2, vocab * inp));
    let target: Vec<f32> = (0..rows).map(|r| (r * 37 % vocab) as f32).collect();
    let mut want = [vec![0.0; rows], vec![0.0; rows * inp], vec![0.0; vocab * inp]];
    let [loss, dx, dw] = &mut want;
    reference::head_loss(shape, &wide(&x), &wide(&w), &target, &vec![0.5; rows], loss, dx, dw);
    check(&want.concat(), 2e-5, |isa| {
        let run = || head(isa, shape, &x, &w, &target, None, None);
        let one = Threads::of(1).expect("a pool of one thread is always possible").run(run);
        for threads in [2, 3] {
            let Some(more) = Threads::of(threads).map(|threads| threads.run(run)) else { continue };
            assert!(one.iter().zip(&more).all(|(a, b)| a.to_bits() == b.to_bits()), "{threads} threads");
        }
        one
    });
}

#[test]
fn windows_of_a_sequence() {
    let x: Vec<f32> = (0..20).map(|i| i as f32 * 2.0).collect();
    let mut y = vec![9.0; 12];
    ops::windows(&x, &[3.0, 0.0, 16.0], 4, 1, &mut y);
    assert_eq!(y, [8.0, 10.0, 12.0, 14.0, 2.0, 4.0, 6.0, 8.0, 34.0, 36.0, 38.0, 38.0]);
}

#[test]
fn gathers_and_layouts() {
    property(60, (1usize..70, 1usize..40, any::<u32>()), |(rows, cols, seed)| {
        let x = numbers(seed, rows * cols);
        let want = wide(&to_panels(rows, cols, &x));
        check(&want, 0.0, |isa| written(panels_len(rows, cols), |y| ops::rows_to_panels(isa, rows, cols, &x, y)));
        check(&wide(&x), 0.0, |isa| written(rows * cols, |y| ops::panels_to_rows(isa, rows, cols, &to_panels(rows, cols, &x), y)));
        // Indices beyond either end select the nearest column; NaN selects the first.
        let place = |i: f32, n: usize| if i >= 0.0 { (i as usize).min(n - 1) } else { 0 };
        let mut column: Vec<f32> = numbers(seed ^ 2, rows).iter().map(|u| ((u + 1.0) / 2.0 * cols as f32).floor()).collect();
        column.splice(..rows.min(3), [-3.0, 1e9, f32::NAN].into_iter().take(rows.min(3)));
        let at = |r: usize| r * cols + place(column[r], cols);
        let taken: Vec<f64> = (0..rows).map(|r| f64::from(x[at(r)])).collect();
        check(&taken, 0.0, |isa| written(rows, |y| ops::take_columns(isa, rows, cols, &x, &column, y)));
        let dy = numbers(seed ^ 3, rows);
        let mut want = vec![0.0; rows * cols];
        (0..rows).for_each(|r| want[at(r)] = f64::from(dy[r]));
        check(&want, 0.0, |isa| changed(&x, |dx| ops::take_columns_backward(isa, rows, cols, &dy, &column, dx)));
    });
}

/// Returns lists of row indices into a table of `entries` rows. With `short`, some indices are negative (skipped), beyond the table, or
/// NaN.
fn lists(seed: u32, entries: usize, rows: usize, k: usize, short: bool) -> Vec<f32> {
    let mut index: Vec<f32> = numbers(seed, rows * k).iter().map(|u| ((u + 1.0) / 2.0 * entries as f32).floor()).collect();
    if short {
        for (i, odd) in [-1.0, -1e9, 1e9, f32::NAN].into_iter().cycle().take(rows * k / 5 + 1).enumerate() {
            index[(7 * i + i / 3) % (rows * k)] = odd;
        }
    }
    index
}

#[test]
fn bags_of_rows() {
    let entries = prop_oneof![1usize..30, 140usize..400, Just(1000usize)].prop_map(small_under_miri);
    let cols = prop_oneof![1usize..40, Just(64usize), 100usize..200].prop_map(small_under_miri);
    let k = prop_oneof![1usize..9, 20usize..60, Just(300usize)].prop_map(small_under_miri);
    let case = (entries, cols, 1usize..50, k, any::<(bool, bool, u32)>());
    property(60, case, |(entries, cols, rows, k, (short, bias, seed))| {
        let (table, bias) = (numbers(seed, entries * cols), bias.then(|| numbers(seed ^ 1, cols)));
        let index = lists(!seed, entries, rows, k, short);
        // The sums have the kernels' order, so the reference has the same bits.
        let mut want = vec![0.0; rows * cols];
        reference::embedding_bag(cols, &table, k, &index, bias.as_deref(), &mut want);
        for relu in [false, true] {
            if relu {
                want.iter_mut().for_each(|y| *y = y.max(0.0));
            }
            check(&wide(&want), 0.0, |isa| {
                written(rows * cols, |y| ops::embedding_bag(isa, cols, &table, k, &index, bias.as_deref(), relu, y))
            });
        }
        let (dy, mut want) = (numbers(seed ^ 2, rows * cols), table.clone());
        reference::embedding_bag_backward(cols, k, &index, &dy, &mut want);
        check(&wide(&want), 0.0, |isa| changed(&table, |dtable| ops::embedding_bag_backward(isa, cols, k, &index, &dy, dtable)));
    });
}

/// Large bags are divided among threads; the table is copied in some cases.
#[test]
fn large_bags_have_the_bits_of_plain_sums_on_any_threads() {
    for (entries, cols, rows, k) in [(144, 529, 701, 24), (1700, 200, 900, 54)] {
        let (table, bias, dy) = (numbers(1, entries * cols), numbers(2, cols), numbers(3, rows * cols));
        let index = lists(4, entries, rows, k, true);
        let (mut y, mut dtable) = (vec![0.0; rows * cols], table.clone());
        reference::embedding_bag(cols, &table, k, &index, Some(&bias), &mut y);
        reference::embedding_bag_backward(cols, k, &index, &dy, &mut dtable);
        assert!(rows * k * cols > 2 * ops::BAG_PIECE);
        for isa in Isa::available() {
            for threads in [1, 2, 3] {
                let run = || {
                    let (mut y, mut dtable) = (vec![9.0; rows * cols], table.clone());
                    ops::embedding_bag(isa, cols, &table, k, &index, Some(&bias), false, &mut y);
                    ops::embedding_bag_backward(isa, cols, k, &index, &dy, &mut dtable);
                    (y, dtable)
                };
                let Some(got) = Threads::of(threads).map(|threads| threads.run(run)) else { continue };
                assert!(got.0 == y && got.1 == dtable, "{} on {threads} threads", isa.name());
            }
        }
    }
}

#[test]
fn adam() {
    property(40, (0usize..70, 1u64..2000, any::<u32>()), |(n, t, seed)| {
        let (params, grads, m) = (numbers(seed, n), numbers(!seed, n), numbers(seed ^ 1, n));
        let v: Vec<f32> = numbers(seed ^ 2, n).iter().map(|v| v.abs()).collect();
        let step = AdamStep { weight_decay: 0.01, grad_scale: 0.5, ..AdamStep::new(t, 1e-2, 0.9, 0.999, 1e-5) };
        let mut want = vec![vec![]; 3];
        for i in 0..n {
            let of = |x: &[f32]| f64::from(x[i]);
            let (p, m, v) = reference::adam(of(&params), of(&grads), of(&m), of(&v), &step);
            [p, m, v].into_iter().enumerate().for_each(|(j, x)| want[j].push(x));
        }
        check(&want.concat(), 2e-6, |isa| {
            let (mut p, mut m, mut v) = (params.clone(), m.clone(), v.clone());
            ops::adam(isa, &mut p, &grads, &mut m, &mut v, &step);
            [p, m, v].concat()
        });
    });
}

#[test]
fn arithmetic_classes_match_their_rounding() {
    assert!(!Isa::available().is_empty());
    assert!(Isa::available().contains(&Isa::best()));
    for isa in Isa::available() {
        assert_eq!(Isa::from_name(isa.name()), Some(isa));
        match isa {
            Isa::Avx2 | Isa::Avx512 | Isa::Bf16 | Isa::Amx | Isa::Neon => assert!(isa.fused()),
            Isa::Portable | Isa::Simd128 => assert!(!isa.fused()),
            Isa::Relaxed => {} // depends on the browser engine
        }
    }
    assert_eq!(Isa::from_name("mmx"), None);
    assert_eq!(PANEL, 32);
}

/// Reports the instruction sets that this machine lacks, once for all tests.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_test_runs_on_all_sets() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        match isa.is_available() {
            true => assert!(Isa::available().contains(&isa)),
            false => testkit::skip(format_args!("{}: this processor has none, so no test ran on it", isa.name())),
        }
    }
}

#[test]
fn large_products_have_the_bits_of_small_ones_on_any_threads() {
    let (m, n, k) = (491, 533, 601);
    let (a, b, old) = (numbers(1, m * k), numbers(2, k * n), numbers(3, m * n));
    for isa in Isa::available() {
        for (a_strides, b_strides, accumulate) in
            [((k, 1), (n, 1), false), ((1, m), (n, 1), true), ((k, 1), (1, k), true), ((1, m), (1, k), false)]
        {
            // Each expected row is a product with a single row of A, which consists of one block and one piece.
            let mut want = old.clone();
            for (row, want) in want.chunks_exact_mut(n).enumerate() {
                let a = &a[row * a_strides.0..];
                gemm::matmul(isa, 1, n, k, a, a_strides, &b, b_strides, want, accumulate);
            }
            for threads in [1, 2, 3] {
                let run = || changed(&old, |c| gemm::matmul(isa, m, n, k, &a, a_strides, &b, b_strides, c, accumulate));
                let Some(got) = Threads::of(threads).map(|threads| threads.run(run)) else { continue };
                let what = (isa.name(), threads, a_strides, b_strides);
                assert!(got.iter().zip(&want).all(|(a, b)| a.to_bits() == b.to_bits()), "{what:?}");
            }
        }
    }
}

/// A column has more numbers than a thread's minimum share of work, so each thread sums at least one whole column.
#[test]
#[cfg(not(target_arch = "wasm32"))]
fn columns_longer_than_a_share_are_summed_on_any_threads() {
    let (rows, cols) = (2 * math::par::CHUNK + 3, 3);
    let x = numbers(1, rows * cols);
    let run = || written(cols, |y| ops::sum_cols(Isa::best(), rows, cols, &x, y, false));
    let Some(three) = Threads::of(3) else { return };
    assert_eq!(three.run(run), run());
}

#[test]
#[cfg(not(target_arch = "wasm32"))]
fn pieces_are_divided_evenly_among_threads() {
    use math::par::{CHUNK, evenly, share, threads};
    for count in [1, 2, 3] {
        let Some(pool) = Threads::of(count) else { continue };
        pool.run(|| {
            assert_eq!(threads(), count);
            for pieces in 0..50 {
                let even = evenly(pieces);
                assert!(even <= pieces.max(1) && (even <= count || even.is_multiple_of(count)), "{pieces}");
                assert!(2 * even > pieces, "{pieces} are too few");
            }
            for (items, size) in [(512, 384), (6, 64 * 512), (7, CHUNK), (1, 5 * CHUNK), (100, 3), (0, 9)] {
                let each = share(items, size);
                let pieces = items.div_ceil(each);
                assert!(each > 0 && (pieces <= 1 || each * size >= CHUNK), "{items} of {size}");
                // If there are few items, the number of pieces need not be a multiple of the number of threads.
                assert!(pieces <= count || pieces.is_multiple_of(count) || items < 8, "{items} of {size}");
            }
        });
    }
}
