//! The figures of the compute core, the same in a terminal and in a page: `hothouse bench core` and `npm run bench -- core` both end
//! here.

use super::profile::profile_training;
use super::training::Training;
use super::{FEW, Figure, ROUND_S, ROUNDS, noise, sustained_s};
use graph::{Buffer, Executor, Graph, Init, Layout, Packed, Params, Plan, models};
use math::par::Threads;
use math::peak::Peak;
use math::{Isa, gemm, ops, rivals::Rival};
use std::sync::Arc;

pub fn core(isa: Isa, now: &dyn Fn() -> f64, rivals: &[Rival], sink: &mut dyn FnMut(Figure)) {
    let mut give = |name: String, rounds: &[f64], unit: &'static str| sink(Figure::measured(name, rounds, unit));
    let peak = Peak::new(isa, None, now);
    let mut peaks = Vec::new();
    let shapes = [(128, 128, 64), (330, 128, 256)];
    let mut means = vec![[1.0; ROUNDS]; rivals.len()];
    for (inp, out, batch) in shapes {
        let product = Product::new(isa, batch, out, inp);
        let shape = format!("core.gemm.{inp}x{out}_b{batch}");
        let ratios = give_product(product, shape, &peak, now, rivals, &mut peaks, &mut give);
        for (means, ratios) in means.iter_mut().zip(ratios) {
            let exponent = 1.0 / shapes.len() as f64;
            means.iter_mut().zip(ratios).for_each(|(mean, ratio)| *mean *= ratio.powf(exponent));
        }
    }
    for (rival, means) in rivals.iter().zip(means) {
        let unit = "times as fast, geometric mean of both products";
        give(format!("core.vs_{}_crate.ratio", rival.name), &means, unit);
    }
    bag(isa, now, &mut give);
    attention(isa, &peak, now, &mut give);
    net(isa, &peak, now, &mut give);
    give(format!("core.{SMALL_STEP}_ms"), &small_step(isa).rounds_ms(now), "ms");
    give("core.peak_gflops".into(), &peaks, "GFLOP/s");
    large(isa, "core", now, sink);
    for (rounding, name) in [(Isa::Bf16, "core.bf16"), (Isa::Amx, "core.amx")] {
        if isa == Isa::Avx512 && rounding.is_available() {
            large(rounding, name, now, sink);
        }
    }
}

/// Where the time of a training step goes: of the small one, and of the large one.
pub fn profile_core(isa: Isa, now: fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    profile_training(&format!("core.{SMALL_STEP}"), &mut small_step(isa), ROUNDS, now, sink);
    profile_training("core.train.mlp2048", &mut large_step(isa), FEW, now, sink);
}

/// `y[batch][out] = x[batch][inp] · Wᵀ`, with W packed as it is once per optimiser step.
struct Product {
    isa: Isa,
    batch: usize,
    out: usize,
    inp: usize,
    x: Vec<f32>,
    /// `[inp][out]`, as a rival wants it.
    b: Vec<f32>,
    packed: Buffer,
    y: Vec<f32>,
}

impl Product {
    fn new(isa: Isa, batch: usize, out: usize, inp: usize) -> Self {
        let w = noise(out * inp);
        let mut packed = Buffer::zeros(gemm::packed_rows_len(out, inp));
        gemm::pack_rows(isa, &w, out, inp, &mut packed);
        let b = (0..inp * out).map(|i| w[(i % out) * inp + i / out]).collect();
        Self { isa, batch, out, inp, x: noise(batch * inp), b, packed, y: vec![0.0; batch * out] }
    }

    fn gflop(&self) -> f64 {
        2e-9 * (self.batch * self.out * self.inp) as f64
    }

    fn ours(&mut self) {
        let plain = gemm::Epilogue::default();
        gemm::linear_rows(self.isa, self.batch, self.out, self.inp, &self.x, &self.packed, &mut self.y, plain);
    }

    fn rival(&mut self, rival: &Rival) {
        (rival.product)(self.batch, self.out, self.inp, &self.x, &self.b, &mut self.y);
    }
}

/// Gives the ratios to each rival, round by round.
fn give_product(
    mut product: Product,
    shape: String,
    peak: &Peak,
    now: &dyn Fn() -> f64,
    rivals: &[Rival],
    peaks: &mut Vec<f64>,
    give: Give,
) -> Vec<Vec<f64>> {
    let mut rates = Vec::new();
    let mut shares = Vec::new();
    let mut ratios = vec![Vec::new(); rivals.len()];
    for _ in 0..ROUNDS {
        let peak = peak.gflops(now);
        let rate = product.gflop() / sustained_s(ROUND_S, now, || product.ours());
        peaks.push(peak);
        rates.push(rate);
        shares.push(rate / peak);
        for (rival, ratios) in rivals.iter().zip(&mut ratios) {
            ratios.push(rate * sustained_s(ROUND_S, now, || product.rival(rival)) / product.gflop());
        }
    }
    give(format!("{shape}.gflops"), &rates, "GFLOP/s");
    give(format!("{shape}.share"), &shares, "of peak");
    for (rival, ratios) in rivals.iter().zip(&ratios) {
        let shape = shape.trim_start_matches("core.gemm.");
        give(format!("core.vs_{}_crate.{shape}.ratio", rival.name), ratios, "times as fast");
    }
    ratios
}

/// A first layer of 512 units, rectified, over 144 inputs of which 24 are 1 and the others 0: as sums of the rows of these 24,
/// and as a product with all.
fn bag(isa: Isa, now: &dyn Fn() -> f64, give: Give) {
    const BATCH: usize = 2048;
    const INP: usize = 144;
    const ONES: usize = 24;
    const OUT: usize = 512;
    let chosen = noise(BATCH * ONES);
    let mut plans = [true, false].map(|sparse| {
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
        let plan = Plan::new(&graph, &[("output", output)], Layout::Rows, isa).expect("a layer is well formed");
        let (plan, params) = (Arc::new(plan), Params::new(graph.table(), 1));
        let mut executor = Executor::new(&plan);
        let values = executor.input_mut("input");
        for (i, chosen) in chosen.iter().enumerate() {
            // One of each so many inputs.
            let (row, one, each) = (i / ONES, i % ONES, INP / ONES);
            let at = one * each + ((0.5 * chosen + 0.5) * each as f32) as usize;
            if sparse { values[i] = at as f32 } else { values[row * INP + at] = 1.0 }
        }
        (Packed::new(&plan, &params), params, executor)
    });
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for ((packed, params, executor), times) in plans.iter_mut().zip(&mut times) {
            times.push(sustained_s(ROUND_S, now, || executor.run(params, packed)));
        }
    }
    let [mut ratios, mut rates] = [Vec::new(), Vec::new()];
    for (bag_s, dense_s) in times[0].iter().zip(&times[1]) {
        ratios.push(dense_s / bag_s);
        rates.push(BATCH as f64 / bag_s);
    }
    let dense: Vec<f64> = times[1].iter().map(|dense_s| BATCH as f64 / dense_s).collect();
    let name = format!("core.bag.{ONES}of{INP}x{OUT}");
    give(format!("{name}.rows_per_s"), &rates, "rows/s");
    give(format!("{name}.dense.rows_per_s"), &dense, "rows/s, the dense product of all inputs");
    give(format!("{name}.vs_dense.ratio"), &ratios, "times as fast as the dense product");
}

/// Attention and its slopes over four sequences, on one thread. What is counted are the products of queries with the keys that they
/// see, so that what is done beyond the diagonal counts against it.
fn attention(isa: Isa, peak: &Peak, now: &dyn Fn() -> f64, give: Give) {
    for (heads, size, len) in [(4, 32, 64), (8, 64, 128)] {
        let (cols, rows) = (heads * size, 4 * len);
        let (qkv, dy) = (noise(rows * 3 * cols), noise(rows * cols));
        let [mut y, mut dqkv, mut lse] = [rows * cols, rows * 3 * cols, rows * heads].map(Buffer::zeros);
        let gflop = 2e-9 * 7.0 * (rows * (len + 1) / 2 * cols) as f64;
        let one = Threads::of(1).expect("one thread there always is");
        let mut call = || {
            ops::causal_attention(isa, heads, len, cols, &qkv, &mut y, Some(&mut lse));
            ops::causal_attention_backward(isa, heads, len, cols, &qkv, &y, &lse, &dy, &mut dqkv);
        };
        let mut shares = Vec::new();
        for _ in 0..ROUNDS {
            let peak = peak.gflops(now);
            shares.push(gflop / sustained_s(ROUND_S, now, || one.run(&mut call)) / peak);
        }
        let name = format!("core.attention.{heads}x{size}_t{len}.share");
        give(name, &shares, "of peak, forward and backward");
    }
}

/// 330 inputs, 128 wide, 7 residual blocks of two layers with layer norm, 65 outputs; inference.
fn net(isa: Isa, peak: &Peak, now: &dyn Fn() -> f64, give: Give) {
    const BATCH: usize = 64;
    let gflop = 2e-9 * (BATCH * (330 * 128 + 14 * 128 * 128 + 128 * 65)) as f64;
    let mut graph = Graph::new();
    let input = graph.input("input", [BATCH, 330]);
    let output = models::residual_net(&mut graph, input, 128, 7, 65);
    let plan = Arc::new(Plan::new(&graph, &[("output", output)], Layout::Panels, isa).expect("the net is well formed"));
    let params = Params::new(graph.table(), 1);
    let packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    executor.input_mut("input").copy_from_slice(&noise(BATCH * 330));
    let (mut rates, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak.gflops(now);
        let call_s = sustained_s(ROUND_S, now, || executor.run(&params, &packed));
        rates.push(BATCH as f64 / call_s);
        shares.push(gflop / call_s / peak);
    }
    give("core.net284k.states_per_s_core".into(), &rates, "states/s");
    give("core.net284k.share".into(), &shares, "of peak");
}

/// Forward, backward, Adam and packing of a 144-128-64-6 net on a batch of 64.
const SMALL_STEP: &str = "step_144_128_64_6_b64";

pub(super) fn small_step(isa: Isa) -> Training {
    Training::mlp(isa, 64, &[144, 128, 64, 6])
}

/// Units of the large layers, and a batch of them.
const BATCH: usize = 1536;
const INP: usize = 512;
const OUT: usize = 2048;

fn large_step(isa: Isa) -> Training {
    Training::mlp(isa, BATCH, &[INP, OUT, OUT, INP])
}

/// Products and a training step that are far beyond the second-level cache, on one thread and on two, each as a share of the peak
/// of as many cores in the same round. The peak is that of f32 multiply-adds, of which bf16 has twice as many.
fn large(isa: Isa, prefix: &str, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    let mut layer = Layer::new(isa, BATCH, OUT, INP);
    let mut mlp = large_step(isa);
    let crews = [1, 2].into_iter().filter_map(|count| Some((count, Threads::of(count)?)));
    let crews: Vec<(usize, Threads)> = crews.collect();
    let gflop = 2e-9 * (BATCH * INP * OUT) as f64;
    let mlp_gflop = products_gflop(BATCH, &[INP, OUT, OUT, INP]);
    let peaks: Vec<Peak> = crews.iter().map(|(count, threads)| Peak::new(isa, Some((threads, *count)), now)).collect();
    let mut shares: Vec<[Vec<f64>; 4]> = crews.iter().map(|_| Default::default()).collect();
    for _ in 0..ROUNDS {
        for (((_, threads), peak), shares) in crews.iter().zip(&peaks).zip(&mut shares) {
            let peak = peak.gflops(now);
            let timed = |work: f64, call: &mut (dyn FnMut() + Send)| work / sustained_s(ROUND_S, now, || threads.run(&mut *call)) / peak;
            shares[0].push(timed(gflop, &mut || layer.forward()));
            shares[1].push(timed(gflop, &mut || layer.dx()));
            shares[2].push(timed(gflop, &mut || layer.dw()));
            shares[3].push(timed(mlp_gflop, &mut || mlp.train()));
        }
    }
    for ((count, _), shares) in crews.iter().zip(&shares) {
        let suffix = if *count == 1 { String::new() } else { format!(".t{count}") };
        let layer = format!("{prefix}.linear.{BATCH}x{INP}x{OUT}");
        let names = [
            format!("{layer}.share{suffix}"),
            format!("{layer}.dx.share{suffix}"),
            format!("{layer}.dw.share{suffix}"),
            format!("{prefix}.train.mlp2048.share{suffix}"),
        ];
        for (name, shares) in names.into_iter().zip(shares) {
            sink(Figure::measured(name, shares, "of the f32 peak of as many cores"));
        }
    }
    let unit = "bytes: parameters, gradients and two moments, whatever the threads";
    sink(Figure::counted(format!("{prefix}.train.mlp2048.bytes"), mlp.bytes() as f64, unit));
    let arena = mlp.plan.arena_bytes() as f64;
    sink(Figure::counted(format!("{prefix}.train.mlp2048.arena_bytes"), arena, "bytes of all other tensors"));
}

/// A linear layer and its gradients: y = x·Wᵀ, dx = dy·W, dw = dyᵀ·x.
struct Layer {
    isa: Isa,
    batch: usize,
    out: usize,
    inp: usize,
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
        Self { isa, batch, out, inp, x, dy, packed, packed_t, y, dx, dw }
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
}

/// Of a training step's products alone: of the first layer's input there is no gradient. In f64, as it is beyond a browser's usize.
fn products_gflop(batch: usize, widths: &[usize]) -> f64 {
    let layers = widths.windows(2).map(|w| w[0] as f64 * w[1] as f64);
    let products: f64 = layers.enumerate().map(|(i, size)| if i == 0 { 2.0 * size } else { 3.0 * size }).sum();
    2e-9 * batch as f64 * products
}

/// Takes a name, rounds and a unit.
type Give<'a> = &'a mut dyn FnMut(String, &[f64], &'static str);
