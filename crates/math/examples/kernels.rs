//! Prints what the kernels reach on this machine, beside the multiply-add peak of one core measured in the same run:
//! `cargo run --release -p math --example kernels [isa]`.

use math::ops::{self, AdamStep};
use math::par::Threads;
use math::{Act, Epilogue, Isa, Norm, Unary, gemm, panels_len, peak};
use std::time::Instant;

/// Fastest of many stretches of calls, in seconds a call.
fn best(mut f: impl FnMut()) -> f64 {
    let (mut least, mut calls, mut rounds) = (f64::INFINITY, 1, 0);
    let begin = Instant::now();
    while rounds < 20 || begin.elapsed().as_secs_f64() < 0.15 {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        let seconds = start.elapsed().as_secs_f64();
        if seconds < 3e-4 {
            calls *= 2;
            continue;
        }
        least = least.min(seconds / f64::from(calls));
        rounds += 1;
    }
    least
}

fn numbers(n: usize) -> Vec<f32> {
    let mut x = vec![0.0; n];
    math::Rng::new(1, 1).fill_uniform(Isa::best(), 0, &mut x);
    x.iter().map(|x| x - 0.5).collect()
}

type Pack = fn(Isa, &[f32], usize, usize, &mut [f32]);

struct Table {
    isa: Isa,
    peak: f64,
}

impl Table {
    fn flops(&self, name: &str, flops: usize, seconds: f64) {
        let rate = flops as f64 / seconds * 1e-9;
        println!("{:8} {name:38} {rate:8.1} GFLOP/s {:6.3} of peak", self.isa.name(), rate / self.peak);
    }

    fn elements(&self, name: &str, n: usize, seconds: f64) {
        println!("{:8} {name:38} {:8.2} Gelem/s", self.isa.name(), n as f64 / seconds * 1e-9);
    }
}

fn products(t: &Table, inp: usize, out: usize, rows: usize) {
    let isa = t.isa;
    let (x, w, dy) = (numbers(panels_len(rows, inp)), numbers(out * inp), numbers(rows * out));
    let (mut y, mut dw) = (vec![0.0; panels_len(rows, out)], vec![0.0; out * inp]);
    let mut dx = vec![0.0; rows * inp];
    let flops = 2 * rows * inp * out;
    let name = |kind: &str| format!("{kind} {inp}x{out}, batch {rows}");
    let mut packed = vec![0.0; gemm::packed_rows_len(out, inp)];
    let seconds = best(|| gemm::pack_rows(isa, &w, out, inp, &mut packed));
    t.elements(&name("pack rows"), out * inp, seconds);
    let seconds = best(|| gemm::linear_rows(isa, rows, out, inp, &x, &packed, &mut y, Epilogue::default()));
    t.flops(&name("rows"), flops, seconds);
    let mut packed = vec![0.0; gemm::packed_panels_len(out, inp)];
    let seconds = best(|| gemm::pack_panels(isa, &w, out, inp, &mut packed));
    t.elements(&name("pack panels"), out * inp, seconds);
    let seconds = best(|| gemm::linear_panels(isa, rows, out, inp, &x, &packed, &mut y, Epilogue::default()));
    t.flops(&name("panels"), flops, seconds);
    let mut packed = vec![0.0; gemm::packed_rows_t_len(out, inp)];
    let seconds = best(|| gemm::pack_rows_t(isa, &w, out, inp, &mut packed));
    t.elements(&name("pack rows t"), out * inp, seconds);
    let seconds = best(|| gemm::linear_rows_dx(isa, rows, out, inp, &dy, &packed, &mut dx, false));
    t.flops(&name("dx"), flops, seconds);
    let seconds = best(|| gemm::linear_rows_dw(isa, rows, out, inp, &dy, &x, &mut dw, false));
    t.flops(&name("dw"), flops, seconds);
}

fn layer<'a>([bias, gamma, beta]: [&'a [f32]; 3], residual: Option<&'a [f32]>) -> Epilogue<'a> {
    let norm = Norm { gamma, beta, eps: 1e-5, save_pre: None, save_stats: None };
    Epilogue { bias: Some(bias), norm: Some(norm), residual, act: Act::Relu, save: None }
}

/// 330 inputs, 128 wide, 7 residual blocks of two layers with layer norm, 65 outputs.
fn net(t: &Table, batch: usize, panels: bool) {
    const WIDE: usize = 128;
    let isa = t.isa;
    let mut layers = vec![(330, WIDE)];
    layers.extend([(WIDE, WIDE); 14]);
    layers.push((WIDE, 65));
    let (len, pack): (fn(usize, usize) -> usize, Pack) =
        if panels { (gemm::packed_panels_len, gemm::pack_panels) } else { (gemm::packed_rows_len, gemm::pack_rows) };
    let packed: Vec<Vec<f32>> = layers
        .iter()
        .map(|&(inp, out)| {
            let mut packed = vec![0.0; len(out, inp)];
            pack(isa, &numbers(inp * out), out, inp, &mut packed);
            packed
        })
        .collect();
    let linear = if panels { gemm::linear_panels } else { gemm::linear_rows };
    let (bias, gamma, beta) = (numbers(WIDE), numbers(WIDE), numbers(WIDE));
    let x = numbers(panels_len(batch, 330));
    let buffer = || vec![0.0; panels_len(batch, WIDE)];
    let (mut h, mut mid, mut next) = (buffer(), buffer(), buffer());
    let mut y = vec![0.0; panels_len(batch, 65)];
    let seconds = best(|| {
        linear(isa, batch, WIDE, 330, &x, &packed[0], &mut h, layer([&bias, &gamma, &beta], None));
        for block in 0..7 {
            linear(isa, batch, WIDE, WIDE, &h, &packed[1 + 2 * block], &mut mid, layer([&bias, &gamma, &beta], None));
            linear(isa, batch, WIDE, WIDE, &mid, &packed[2 + 2 * block], &mut next, layer([&bias, &gamma, &beta], Some(&h)));
            std::mem::swap(&mut h, &mut next);
        }
        linear(isa, batch, 65, WIDE, &h, &packed[15], &mut y, Epilogue::default());
    });
    let flops: usize = layers.iter().map(|(i, o)| 2 * i * o * batch).sum();
    let name = format!("net 284k {}, batch {batch}", if panels { "panels" } else { "rows" });
    t.flops(&name, flops, seconds);
    println!("{:8} {name:38} {:8.0} states/s", isa.name(), batch as f64 / seconds);
}

/// Forward, backward and Adam of a 144-128-64-6 net, everything packed anew each step.
fn step(t: &Table) {
    const ROWS: usize = 64;
    const SIZES: [usize; 4] = [144, 128, 64, 6];
    let isa = t.isa;
    let shapes: Vec<(usize, usize)> = SIZES.windows(2).map(|w| (w[0], w[1])).collect();
    let n: usize = shapes.iter().map(|(i, o)| i * o + o).sum();
    let mut params = numbers(n);
    params.iter_mut().for_each(|p| *p *= 0.1);
    let (mut grads, mut m, mut v) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let x = numbers(ROWS * 144);
    let mut activations: Vec<Vec<f32>> = SIZES.iter().map(|f| vec![0.0; ROWS * f]).collect();
    activations[0].copy_from_slice(&x);
    let mut slopes = activations.clone();
    let mut packed: Vec<Vec<f32>> = shapes.iter().map(|&(i, o)| vec![0.0; gemm::packed_rows_len(o, i)]).collect();
    let mut packed_t: Vec<Vec<f32>> = shapes.iter().map(|&(i, o)| vec![0.0; gemm::packed_rows_t_len(o, i)]).collect();
    let mut count = 0;
    let seconds = best(|| {
        let mut at = 0;
        for (l, &(i, o)) in shapes.iter().enumerate() {
            let (w, rest) = params[at..].split_at(i * o);
            gemm::pack_rows(isa, w, o, i, &mut packed[l]);
            if l > 0 {
                gemm::pack_rows_t(isa, w, o, i, &mut packed_t[l]);
            }
            let act = if l < 2 { Act::Relu } else { Act::None };
            let (before, after) = activations.split_at_mut(l + 1);
            let ep = Epilogue { bias: Some(&rest[..o]), act, ..Epilogue::default() };
            gemm::linear_rows(isa, ROWS, o, i, &before[l], &packed[l], &mut after[0], ep);
            at += i * o + o;
        }
        // The slope of Σ y² / 2.
        slopes[3].copy_from_slice(&activations[3]);
        for (l, &(i, o)) in shapes.iter().enumerate().rev() {
            at -= i * o + o;
            let (before, after) = slopes.split_at_mut(l + 1);
            let (dw, rest) = grads[at..].split_at_mut(i * o);
            gemm::linear_rows_dw(isa, ROWS, o, i, &after[0], &activations[l], dw, false);
            ops::sum_cols(isa, ROWS, o, &after[0], &mut rest[..o], false);
            if l > 0 {
                gemm::linear_rows_dx(isa, ROWS, o, i, &after[0], &packed_t[l], &mut before[l], false);
                let y = &activations[l];
                ops::unary_backward_in_place(isa, Unary::Relu, y, y, &mut before[l]);
            }
        }
        count += 1;
        let step = AdamStep::new(count, 1e-5, 0.9, 0.999, 1e-5);
        ops::adam(isa, &mut params, &grads, &mut m, &mut v, &step);
    });
    println!("{:8} {:38} {:8.4} ms", isa.name(), "step 144-128-64-6, batch 64", seconds * 1e3);
}

/// Forward and backward of some sequences, on one thread. Counted are the multiply-adds of queries with keys up to their own.
fn attention(t: &Table, sequences: usize, len: usize, heads: usize, size: usize) {
    let (isa, cols, rows) = (t.isa, heads * size, sequences * len);
    let (qkv, dy) = (numbers(rows * 3 * cols), numbers(rows * cols));
    let (mut y, mut lse) = (vec![0.0; rows * cols], vec![0.0; rows * heads]);
    let mut dqkv = vec![0.0; rows * 3 * cols];
    let one = Threads::of(1).expect("one thread there always is");
    let forward = best(|| one.run(|| ops::causal_attention(isa, heads, len, cols, &qkv, &mut y, Some(&mut lse))));
    let mut slopes = || ops::causal_attention_backward(isa, heads, len, cols, &qkv, &y, &lse, &dy, &mut dqkv);
    let backward = best(|| one.run(&mut slopes));
    let flops = rows * (len + 1) * cols;
    let name = |kind: &str| format!("attention {kind} {heads}x{size}, {sequences} of {len}");
    t.flops(&name("forward"), 2 * flops, forward);
    t.flops(&name("backward"), 5 * flops, backward);
    t.flops(&name("both"), 7 * flops, forward + backward);
}

fn elementwise(t: &Table) {
    const N: usize = 4096;
    let isa = t.isa;
    let x: Vec<f32> = numbers(N).iter().map(|x| x.abs() + 0.1).collect();
    let mut y = vec![0.0; N];
    for op in Unary::ALL {
        let seconds = best(|| ops::unary(isa, op, &x, &mut y));
        t.elements(&format!("{op:?}"), N, seconds);
    }
    let (gamma, beta) = (numbers(128), numbers(128));
    t.elements("layer norm 32x128", N, best(|| ops::layer_norm(isa, 32, 128, &x, &gamma, &beta, 1e-5, &mut y, None)));
    t.elements("log softmax 2048x2", N, best(|| ops::log_softmax(isa, 2048, 2, &x, &mut y)));
    t.elements("log softmax 32x128", N, best(|| ops::log_softmax(isa, 32, 128, &x, &mut y)));
    t.elements(
        "sum",
        N,
        best(|| {
            std::hint::black_box(ops::sum(isa, &x));
        }),
    );
    t.elements("sum cols 32x128", N, best(|| ops::sum_cols(isa, 32, 128, &x, &mut y, false)));
    t.elements("to panels 128x32", N, best(|| ops::rows_to_panels(isa, 128, 32, &x, &mut y)));
    t.elements("uniform", N, best(|| math::Rng::new(1, 1).fill_uniform(isa, 0, &mut y)));
    t.elements("normal", N, best(|| math::Rng::new(1, 1).fill_normal(isa, 0, &mut y)));
    let (mut p, mut m, mut v) = (x.clone(), x.clone(), x.clone());
    let step = AdamStep::new(10, 1e-9, 0.9, 0.999, 1e-5);
    t.elements("adam", N, best(|| ops::adam(isa, &mut p, &x, &mut m, &mut v, &step)));
}

fn main() {
    let wanted = std::env::args().nth(1);
    for isa in Isa::available() {
        if wanted.as_deref().is_some_and(|name| name != isa.name()) {
            continue;
        }
        let begin = Instant::now();
        let now = || begin.elapsed().as_secs_f64();
        let t = Table { isa, peak: peak::Peak::new(isa, None, &now).gflops(&now) };
        println!("{:8} {:38} {:8.1} GFLOP/s", isa.name(), "peak", t.peak);
        products(&t, 128, 128, 64);
        products(&t, 330, 128, 256);
        for batch in [64, 256] {
            net(&t, batch, false);
            net(&t, batch, true);
        }
        step(&t);
        for (sequences, len, heads, size) in [(8, 64, 4, 32), (4, 128, 8, 32), (4, 128, 8, 64), (32, 128, 8, 64), (2, 1024, 8, 64)] {
            attention(&t, sequences, len, heads, size);
        }
        elementwise(&t);
    }
}
