//! Benchmarks of the compute core (kernels and network training), for the terminal (`hothouse bench core`) and the page
//! (`npm run bench -- core`).

use crate::measure::{Bench, alone, milliseconds, noise, rates, rates_and_shares};
use crate::profile::profile_training;
use crate::training::{Inference, Training};
use graph::{Graph, Init, Layout, Plan, models};
use math::par::Threads;
use math::peak::Peak;
use math::rivals;
use math::rounds::{FEW, ROUND_S, ROUNDS, rounds_s, sustained_s};
use math::{Buffer, Isa, gemm, ops};

pub fn measure(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    let peak = Peak::new(isa, None, &now);
    let peaks = products(&peak, bench);
    bag(bench);
    attention(&peak, bench);
    net(&peak, bench);
    let mut step = small_step(isa);
    bench.give(format!("core.{SMALL_STEP}_ms"), &milliseconds(&rounds_s(&now, || step.train())), "ms");
    bench.give("core.peak_gflops", &peaks, "GFLOP/s");
    large(isa, "core", bench);
    for (rounding, name) in [(Isa::Bf16, "core.bf16"), (Isa::Amx, "core.amx")] {
        if isa == Isa::Avx512 && rounding.is_available() {
            large(rounding, name, bench);
        }
    }
}

/// Reports the time of each operation in a training step, for the small and the large model.
pub fn profile(bench: &mut Bench) {
    profile_training(&format!("core.{SMALL_STEP}"), &mut small_step(bench.isa), ROUNDS, bench);
    profile_training("core.train.mlp2048", &mut large_step(bench.isa), FEW, bench);
}

/// Measures matrix products by this project and by rival libraries. Returns the peak arithmetic rate of every round, in GFLOP/s.
fn products(peak: &Peak, bench: &mut Bench) -> Vec<f64> {
    const SHAPES: [(usize, usize, usize); 2] = [(128, 128, 64), (330, 128, 256)];
    let mut peaks = Vec::new();
    let mut means = vec![[1.0; ROUNDS]; rivals::ALL.len()];
    for (inp, out, batch) in SHAPES {
        let ratios = give_product(Layer::new(bench.isa, batch, out, inp), peak, &mut peaks, bench);
        for (means, ratios) in means.iter_mut().zip(ratios) {
            let exponent = 1.0 / SHAPES.len() as f64;
            means.iter_mut().zip(ratios).for_each(|(mean, ratio)| *mean *= ratio.powf(exponent));
        }
    }
    for (rival, means) in rivals::ALL.iter().zip(means) {
        let unit = "times as fast, geometric mean of both products";
        bench.give(format!("core.vs_{}_crate.ratio", rival.name), &means, unit);
    }
    peaks
}

/// Measures the forward product of one layer. Appends the peak of each round to `peaks`, in GFLOP/s. Returns the speed relative to each
/// rival library, `[rival][round]`.
fn give_product(mut layer: Layer, peak: &Peak, peaks: &mut Vec<f64>, bench: &mut Bench) -> Vec<Vec<f64>> {
    let (now, gflop, transposed) = (bench.now, layer.gflop(), layer.transposed());
    let [mut rates, mut shares] = [Vec::new(), Vec::new()];
    let mut ratios = vec![Vec::new(); rivals::ALL.len()];
    for _ in 0..ROUNDS {
        let peak = peak.gflops(&now);
        let rate = gflop / sustained_s(ROUND_S, &now, || layer.forward());
        peaks.push(peak);
        rates.push(rate);
        shares.push(rate / peak);
        for (rival, ratios) in rivals::ALL.iter().zip(&mut ratios) {
            let theirs = || (rival.product)(layer.batch, layer.out, layer.inp, &layer.x, &transposed, &mut layer.y);
            ratios.push(rate * sustained_s(ROUND_S, &now, theirs) / gflop);
        }
    }
    let shape = format!("{}x{}_b{}", layer.inp, layer.out, layer.batch);
    bench.give(format!("core.gemm.{shape}.gflops"), &rates, "GFLOP/s");
    bench.give(format!("core.gemm.{shape}.share"), &shares, "of peak");
    for (rival, ratios) in rivals::ALL.iter().zip(&ratios) {
        bench.give(format!("core.vs_{}_crate.{shape}.ratio", rival.name), ratios, "times as fast");
    }
    ratios
}

/// Measures a first layer of 512 ReLU units over 144 inputs, of which 24 are 1 and the others 0. The layer is computed in two ways: as the
/// sum of 24 rows of weights, and as a dense product.
fn bag(bench: &mut Bench) {
    const BATCH: usize = 2048;
    const INP: usize = 144;
    const ONES: usize = 24;
    const OUT: usize = 512;
    let chosen = noise(BATCH * ONES);
    let mut layers = [true, false].map(|sparse| {
        let mut graph = Graph::new();
        let input = graph.input("input", [BATCH, if sparse { ONES } else { INP }]);
        let bias = graph.vector("bias", OUT, Init::FanIn);
        let output = if sparse {
            let table = graph.param("table", [INP, OUT], Init::FanIn);
            graph.embedding_bag(table, input)
        } else {
            let weights = graph.param("weights", [OUT, INP], Init::FanIn);
            graph.matmul(input, weights, false, true)
        };
        let output = graph.add(output, bias);
        let output = graph.relu(output);
        let plan = Plan::new(&graph, &[("output", output)], Layout::Rows, bench.isa).expect("a layer is well formed");
        let mut layer = Inference::new(plan);
        let values = layer.executor.input_mut("input");
        for (i, chosen) in chosen.iter().enumerate() {
            // The inputs are divided into `ONES` groups of equal size. Each group has one active input.
            let (row, one, each) = (i / ONES, i % ONES, INP / ONES);
            let at = one * each + ((0.5 * chosen + 0.5) * each as f32) as usize;
            if sparse { values[i] = at as f32 } else { values[row * INP + at] = 1.0 }
        }
        layer
    });
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (layer, times) in layers.iter_mut().zip(&mut times) {
            times.push(sustained_s(ROUND_S, &bench.now, || layer.run()));
        }
    }
    let ratios: Vec<f64> = times[0].iter().zip(&times[1]).map(|(bag_s, dense_s)| dense_s / bag_s).collect();
    let [bag, dense] = times.map(|rounds_s| rates(BATCH as f64, &rounds_s));
    let name = format!("core.bag.{ONES}of{INP}x{OUT}");
    bench.give(format!("{name}.rows_per_s"), &bag, "rows/s");
    bench.give(format!("{name}.dense.rows_per_s"), &dense, "rows/s, the dense product of all inputs");
    bench.give(format!("{name}.vs_dense.ratio"), &ratios, "times as fast as the dense product");
}

/// Measures attention and its gradients over four sequences, on one thread. The counted work includes only products of queries with visible
/// keys. The products above the diagonal (hidden keys) are also computed, but do not count.
fn attention(peak: &Peak, bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    for (heads, size, len) in [(4, 32, 64), (8, 64, 128)] {
        let (cols, rows) = (heads * size, 4 * len);
        let (qkv, dy) = (noise(rows * 3 * cols), noise(rows * cols));
        let [mut y, mut dqkv, mut lse] = [rows * cols, rows * 3 * cols, rows * heads].map(Buffer::zeros);
        let gflop = 2e-9 * 7.0 * (rows * (len + 1) / 2 * cols) as f64;
        let mut call = || {
            ops::causal_attention(isa, heads, len, cols, &qkv, &mut y, Some(&mut lse));
            ops::causal_attention_backward(isa, heads, len, cols, &qkv, &y, &lse, &dy, &mut dqkv);
        };
        let [_, shares] = rates_and_shares(ROUNDS, peak, gflop, now, || 1.0 / sustained_s(ROUND_S, &now, || alone(&mut call)));
        let name = format!("core.attention.{heads}x{size}_t{len}.share");
        bench.give(name, &shares, "of peak, forward and backward");
    }
}

/// Measures inference of a network with 330 inputs, width 128, seven residual blocks of two layers with layer norm, and 65 outputs.
fn net(peak: &Peak, bench: &mut Bench) {
    const BATCH: usize = 64;
    let mut graph = Graph::new();
    let input = graph.input("input", [BATCH, 330]);
    let output = models::residual_net(&mut graph, input, 128, 7, 65);
    let plan = Plan::new(&graph, &[("output", output)], Layout::Panels, bench.isa).expect("the net is well formed");
    let [rates, shares] = Inference::new(plan).rates_and_shares("input", BATCH, peak, bench.now);
    bench.give("core.net284k.states_per_s_core", &rates, "states/s");
    bench.give("core.net284k.share", &shares, "of peak");
}

/// Name of the small step, which is one training step (forward, backward, Adam and packing) of a 144-128-64-6 network on a batch of 64.
const SMALL_STEP: &str = "step_144_128_64_6_b64";

pub fn small_step(isa: Isa) -> Training {
    Training::mlp(isa, 64, &[144, 128, 64, 6])
}

/// Batch size of the large layers. Each large layer has `INP` or `OUT` inputs, and `INP` or `OUT` outputs.
const BATCH: usize = 1536;
const INP: usize = 512;
const OUT: usize = 2048;

fn large_step(isa: Isa) -> Training {
    Training::mlp(isa, BATCH, &[INP, OUT, OUT, INP])
}

/// Measures matrix products and a training step on one and two threads, with data far larger than the second-level cache. The results are
/// shares of the peak of the same number of cores, measured in the same rounds. The peak counts f32 multiply-adds, so a share with bf16
/// vectors can be as large as 2, and a share with AMX tiles can be larger.
fn large(isa: Isa, prefix: &str, bench: &mut Bench) {
    let now = bench.now;
    let mut layer = Layer::new(isa, BATCH, OUT, INP);
    let mut mlp = large_step(isa);
    let (gflop, mlp_gflop) = (layer.gflop(), 2e-9 * mlp.plan.multiply_adds());
    let linear = format!("linear.{BATCH}x{INP}x{OUT}");
    for count in [1, 2] {
        let Some(threads) = Threads::of(count) else { continue };
        let peak = Peak::new(isa, Some((&threads, count)), &now);
        let suffix = if count == 1 { String::new() } else { format!(".t{count}") };
        let mut share = |what: &str, gflop: f64, call: &mut (dyn FnMut() + Send)| {
            let rate = || 1.0 / sustained_s(ROUND_S, &now, || threads.run(&mut *call));
            let [_, shares] = rates_and_shares(ROUNDS, &peak, gflop, now, rate);
            bench.give(format!("{prefix}.{what}.share{suffix}"), &shares, "of the f32 peak of as many cores");
        };
        share(&linear, gflop, &mut || layer.forward());
        share(&format!("{linear}.dx"), gflop, &mut || layer.dx());
        share(&format!("{linear}.dw"), gflop, &mut || layer.dw());
        share("train.mlp2048", mlp_gflop, &mut || mlp.train());
    }
    let unit = "bytes: parameters, gradients and two moments, for any number of threads";
    bench.count(format!("{prefix}.train.mlp2048.bytes"), mlp.bytes() as f64, unit);
    let arena = mlp.plan.arena_bytes() as f64;
    bench.count(format!("{prefix}.train.mlp2048.arena_bytes"), arena, "bytes of all other tensors");
}

/// A linear layer and its gradients: y = x·Wᵀ, dx = dy·W, dw = dyᵀ·x. W is packed before the measurement, because a learner packs W only
/// once per optimiser step.
struct Layer {
    isa: Isa,
    batch: usize,
    out: usize,
    inp: usize,
    w: Vec<f32>,
    x: Buffer,
    dy: Buffer,
    packed: Buffer,
    packed_t: Buffer,
    y: Buffer,
    dx: Buffer,
    dw: Buffer,
}

impl Layer {
    fn new(isa: Isa, batch: usize, out: usize, inp: usize) -> Self {
        let filled = |len: usize| {
            let mut buffer = Buffer::zeros(len);
            buffer.copy_from_slice(&noise(len));
            buffer
        };
        let mut packed = Buffer::zeros(gemm::packed_rows_len(out, inp));
        let mut packed_t = Buffer::zeros(gemm::packed_rows_t_len(out, inp));
        let w = noise(out * inp);
        gemm::pack_rows(isa, &w, out, inp, &mut packed);
        gemm::pack_rows_t(isa, &w, out, inp, &mut packed_t);
        let (x, dy) = (filled(batch * inp), filled(batch * out));
        let [y, dx, dw] = [batch * out, batch * inp, out * inp].map(Buffer::zeros);
        Self { isa, batch, out, inp, w, x, dy, packed, packed_t, y, dx, dw }
    }

    /// Returns the work of one product, in GFLOP.
    fn gflop(&self) -> f64 {
        2e-9 * self.batch as f64 * self.out as f64 * self.inp as f64
    }

    fn forward(&mut self) {
        let Self { isa, batch, out, inp, .. } = *self;
        gemm::linear_rows(isa, batch, out, inp, &self.x, &self.packed, &mut self.y, gemm::Epilogue::default());
    }

    fn dx(&mut self) {
        let Self { isa, batch, out, inp, .. } = *self;
        gemm::linear_rows_dx(isa, batch, out, inp, &self.dy, &self.packed_t, &mut self.dx, false);
    }

    fn dw(&mut self) {
        let Self { isa, batch, out, inp, .. } = *self;
        gemm::linear_rows_dw(isa, batch, out, inp, &self.dy, &self.x, &mut self.dw, false);
    }

    /// Returns W in the layout of the rival libraries, `[inp][out]`.
    fn transposed(&self) -> Vec<f32> {
        (0..self.inp * self.out).map(|i| self.w[(i % self.out) * self.inp + i / self.out]).collect()
    }
}
