//! The figures of the compute core, the same in a terminal and in a page: `hothouse bench core` and `npm run bench -- core`
//! both end here; a room's own are in its folder. Every share is against a peak measured in the same round,
//! and what is reported is the median of the rounds, since machines are noisy.
//!
//! It refuses to rate: it prints what was measured.

use crate::monitor::Writer;
use crate::room::Schema;
use graph::{Adam, Buffer, Executor, Graph, Init, Layout, Optimizer, Packed, Params, Plan, models};
use math::par::Threads;
use math::{Act, Isa, gemm, ops, peak, rivals::Rival};
use std::borrow::Cow;
use std::sync::Arc;

/// One measured number. Names are stable: scripts read them.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: Cow<'static, str>,
}

pub(crate) const ROUNDS: usize = 15;
/// How long one measurement of one round lasts.
const SLICE_S: f64 = 0.01;

/// What measures a room.
pub struct Bench<'a> {
    pub isa: Isa,
    /// Seconds from anywhere.
    pub now: fn() -> f64,
    /// What writes a monitor that is read ten times a second for as long as it is written; None where there can be none.
    pub attach: &'a mut dyn FnMut(&Schema) -> Option<Writer>,
    pub sink: &'a mut dyn FnMut(Figure),
    /// Which figures this machine cannot have, and why.
    pub lacks: &'a mut dyn FnMut(String),
}

pub fn core(isa: Isa, now: &dyn Fn() -> f64, rivals: &[Rival], sink: &mut dyn FnMut(Figure)) {
    let mut give =
        |name: String, value: f64, unit: &'static str| sink(Figure { name, value, unit: unit.into() });
    let mut peaks = Vec::new();
    let shapes = [(128, 128, 64), (330, 128, 256)];
    let mut means = vec![1.0; rivals.len()];
    for (inp, out, batch) in shapes {
        let product = Product::new(isa, batch, out, inp);
        let shape = format!("core.gemm.{inp}x{out}_b{batch}");
        let ratios = give_product(product, shape, now, rivals, &mut peaks, &mut give);
        means.iter_mut().zip(ratios).for_each(|(mean, ratio)| *mean *= ratio.powf(1.0 / shapes.len() as f64));
    }
    for (rival, mean) in rivals.iter().zip(means) {
        give(format!("core.vs_{}_crate.ratio", rival.name), mean, "times as fast, geometric mean");
    }
    bag(isa, now, &mut give);
    attention(isa, now, &mut give);
    net(isa, now, &mut give);
    step(isa, now, &mut give);
    large(isa, "core", now, &mut give);
    for (rounding, name) in [(Isa::Bf16, "core.bf16"), (Isa::Amx, "core.amx")] {
        if isa == Isa::Avx512 && rounding.is_available() {
            large(rounding, name, now, &mut give);
        }
    }
    give("core.peak_gflops".into(), median(&mut peaks), "GFLOP/s");
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
        gemm::linear_rows(
            self.isa,
            self.batch,
            self.out,
            self.inp,
            &self.x,
            &self.packed,
            &mut self.y,
            plain,
        );
    }

    fn rival(&mut self, rival: &Rival) {
        (rival.product)(self.batch, self.out, self.inp, &self.x, &self.b, &mut self.y);
    }
}

fn give_product(
    mut product: Product,
    shape: String,
    now: &dyn Fn() -> f64,
    rivals: &[Rival],
    peaks: &mut Vec<f64>,
    give: &mut dyn FnMut(String, f64, &'static str),
) -> Vec<f64> {
    let mut rates = Vec::new();
    let mut shares = Vec::new();
    let mut ratios = vec![Vec::new(); rivals.len()];
    for _ in 0..ROUNDS {
        let peak = peak::peak_gflops(product.isa, now);
        let rate = product.gflop() / seconds_a_call(now, || product.ours());
        peaks.push(peak);
        rates.push(rate);
        shares.push(rate / peak);
        for (rival, ratios) in rivals.iter().zip(&mut ratios) {
            ratios.push(rate * seconds_a_call(now, || product.rival(rival)) / product.gflop());
        }
    }
    give(format!("{shape}.gflops"), median(&mut rates), "GFLOP/s");
    give(format!("{shape}.share"), median(&mut shares), "of peak");
    let ratios: Vec<f64> = ratios.iter_mut().map(|ratios| median(ratios)).collect();
    for (rival, &ratio) in rivals.iter().zip(&ratios) {
        let shape = shape.trim_start_matches("core.gemm.");
        give(format!("core.vs_{}_crate.{shape}.ratio", rival.name), ratio, "times as fast");
    }
    ratios
}

/// A first layer of 512 units, rectified, over 144 inputs of which 24 are 1 and the others 0: as sums of the rows of these 24,
/// and as a product with all.
fn bag(isa: Isa, now: &dyn Fn() -> f64, give: &mut dyn FnMut(String, f64, &'static str)) {
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
        let plan =
            Plan::new(&graph, &[("output", output)], Layout::Rows, isa).expect("a layer is well formed");
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
            times.push(seconds_a_call(now, || executor.run(params, packed)));
        }
    }
    let [mut ratios, mut rates] = [Vec::new(), Vec::new()];
    for (bag_s, dense_s) in times[0].iter().zip(&times[1]) {
        ratios.push(dense_s / bag_s);
        rates.push(BATCH as f64 / bag_s);
    }
    let mut dense: Vec<f64> = times[1].iter().map(|dense_s| BATCH as f64 / dense_s).collect();
    let name = format!("core.bag.{ONES}of{INP}x{OUT}");
    give(format!("{name}.rows_per_s"), median(&mut rates), "rows/s");
    give(format!("{name}.dense.rows_per_s"), median(&mut dense), "rows/s, the dense product of all inputs");
    give(format!("{name}.vs_dense.ratio"), median(&mut ratios), "times as fast as the dense product");
}

/// Attention and its slopes over four sequences, on one thread. What is counted are the products of queries with the keys that they
/// see, so that what is done beyond the diagonal counts against it.
fn attention(isa: Isa, now: &dyn Fn() -> f64, give: &mut dyn FnMut(String, f64, &'static str)) {
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
            let peak = peak::peak_gflops(isa, now);
            shares.push(gflop / seconds_a_call(now, || one.run(&mut call)) / peak);
        }
        let name = format!("core.attention.{heads}x{size}_t{len}.share");
        give(name, median(&mut shares), "of peak, forward and backward");
    }
}

/// 330 inputs, 128 wide, 7 residual blocks of two layers with layer norm, 65 outputs; inference.
fn net(isa: Isa, now: &dyn Fn() -> f64, give: &mut dyn FnMut(String, f64, &'static str)) {
    const BATCH: usize = 64;
    let gflop = 2e-9 * (BATCH * (330 * 128 + 14 * 128 * 128 + 128 * 65)) as f64;
    let mut graph = Graph::new();
    let input = graph.input("input", [BATCH, 330]);
    let output = models::residual_net(&mut graph, input, 128, 7, 65);
    let plan = Arc::new(
        Plan::new(&graph, &[("output", output)], Layout::Panels, isa).expect("the net is well formed"),
    );
    let params = Params::new(graph.table(), 1);
    let packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    executor.input_mut("input").copy_from_slice(&noise(BATCH * 330));
    let (mut rates, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak::peak_gflops(isa, now);
        let call_s = seconds_a_call(now, || executor.run(&params, &packed));
        rates.push(BATCH as f64 / call_s);
        shares.push(gflop / call_s / peak);
    }
    give("core.net284k.states_per_s_core".into(), median(&mut rates), "states/s");
    give("core.net284k.share".into(), median(&mut shares), "of peak");
}

/// Forward, backward, Adam and packing of a 144-128-64-6 net on a batch of 64.
fn step(isa: Isa, now: &dyn Fn() -> f64, give: &mut dyn FnMut(String, f64, &'static str)) {
    const BATCH: usize = 64;
    let mut graph = Graph::new();
    let input = graph.input("input", [BATCH, 144]);
    let target = graph.input("target", [BATCH, 6]);
    let output = models::mlp(&mut graph, input, "net", &[128, 64, 6], Act::Relu);
    let error = graph.sub(output, target);
    let error = graph.square(error);
    let loss = graph.mean_all(error);
    let gradients = graph.gradients(loss);
    let plan =
        Arc::new(Plan::training(&graph, &[("loss", loss)], &gradients, isa).expect("the net is well formed"));
    let mut params = Params::new(graph.table(), 1);
    let mut packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    let mut grads = vec![0.0; params.values().len()];
    let mut optimizer = Optimizer::new(&params);
    let adam = Adam::default();
    executor.input_mut("input").copy_from_slice(&noise(BATCH * 144));
    executor.input_mut("target").copy_from_slice(&noise(BATCH * 6));
    let mut train = || {
        executor.train(&params, &packed, &mut grads, false);
        optimizer.step(isa, &adam, &mut params, &grads);
        packed.pack(&params);
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| 1e3 * seconds_a_call(now, &mut train)).collect();
    give("core.step_144_128_64_6_b64_ms".into(), median(&mut times), "ms");
}

/// Products and a training step that are far beyond the second-level cache, on one thread and on two, each as a share of the peak
/// of as many cores in the same round. The peak is that of f32 multiply-adds, of which bf16 has twice as many.
fn large(isa: Isa, prefix: &str, now: &dyn Fn() -> f64, give: &mut dyn FnMut(String, f64, &'static str)) {
    const ROUNDS: usize = 7;
    const BATCH: usize = 1536;
    const INP: usize = 512;
    const OUT: usize = 2048;
    let mut layer = Layer::new(isa, BATCH, OUT, INP);
    let mut mlp = Mlp::new(isa, BATCH, &[INP, OUT, OUT, INP]);
    let crews = [1, 2].into_iter().filter_map(|count| Some((count, Threads::of(count)?)));
    let crews: Vec<(usize, Threads)> = crews.collect();
    let gflop = 2e-9 * (BATCH * INP * OUT) as f64;
    let mut shares: Vec<[Vec<f64>; 4]> = crews.iter().map(|_| Default::default()).collect();
    for _ in 0..ROUNDS {
        for ((count, threads), shares) in crews.iter().zip(&mut shares) {
            let peak = peak::peak_gflops_of(isa, threads, *count, now);
            let timed = |work: f64, call: &mut (dyn FnMut() + Send)| {
                // What else the machine does only ever makes one slower.
                let best_s = (0..2).map(|_| {
                    let began_s = now();
                    threads.run(&mut *call);
                    now() - began_s
                });
                work / best_s.fold(f64::INFINITY, f64::min) / peak
            };
            shares[0].push(timed(gflop, &mut || layer.forward()));
            shares[1].push(timed(gflop, &mut || layer.dx()));
            shares[2].push(timed(gflop, &mut || layer.dw()));
            shares[3].push(timed(mlp.gflop(), &mut || mlp.train()));
        }
    }
    for ((count, _), shares) in crews.iter().zip(&mut shares) {
        let suffix = if *count == 1 { String::new() } else { format!(".t{count}") };
        let layer = format!("{prefix}.linear.{BATCH}x{INP}x{OUT}");
        let names = [
            format!("{layer}.share{suffix}"),
            format!("{layer}.dx.share{suffix}"),
            format!("{layer}.dw.share{suffix}"),
            format!("{prefix}.train.mlp2048.share{suffix}"),
        ];
        for (name, shares) in names.into_iter().zip(shares) {
            give(name, median(shares), "of the f32 peak of as many cores");
        }
    }
    let unit = "bytes: parameters, gradients and two moments, whatever the threads";
    give(format!("{prefix}.train.mlp2048.bytes"), mlp.bytes() as f64, unit);
    give(
        format!("{prefix}.train.mlp2048.arena_bytes"),
        mlp.plan.arena_bytes() as f64,
        "bytes of all other tensors",
    );
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
        gemm::linear_rows(
            isa,
            batch,
            out,
            inp,
            &self.x,
            &self.packed,
            &mut self.y,
            gemm::Epilogue::default(),
        );
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

/// A step of a relu net on the mean squared error: forward, backward, Adam and packing.
struct Mlp {
    isa: Isa,
    batch: usize,
    widths: Vec<usize>,
    plan: Arc<Plan>,
    params: Params,
    packed: Packed,
    executor: Executor,
    grads: Buffer,
    optimizer: Optimizer,
}

impl Mlp {
    fn new(isa: Isa, batch: usize, widths: &[usize]) -> Self {
        let [inp, .., out] = *widths else { unreachable!("a net has layers") };
        let mut graph = Graph::new();
        let input = graph.input("input", [batch, inp]);
        let target = graph.input("target", [batch, out]);
        let output = models::mlp(&mut graph, input, "net", &widths[1..], Act::Relu);
        let error = graph.sub(output, target);
        let error = graph.square(error);
        let loss = graph.mean_all(error);
        let gradients = graph.gradients(loss);
        let plan =
            Plan::training(&graph, &[("loss", loss)], &gradients, isa).expect("the net is well formed");
        let plan = Arc::new(plan);
        let params = Params::new(graph.table(), 1);
        let packed = Packed::new(&plan, &params);
        let mut executor = Executor::new(&plan);
        executor.input_mut("input").copy_from_slice(&noise(batch * inp));
        executor.input_mut("target").copy_from_slice(&noise(batch * out));
        let grads = Buffer::zeros(params.values().len());
        let optimizer = Optimizer::new(&params);
        Self { isa, batch, widths: widths.to_vec(), plan, params, packed, executor, grads, optimizer }
    }

    /// Of the products alone: of the first layer's input there is no gradient. Beyond what a browser's usize holds.
    fn gflop(&self) -> f64 {
        let layers = self.widths.windows(2).map(|w| w[0] as f64 * w[1] as f64);
        let products: f64 =
            layers.enumerate().map(|(i, size)| if i == 0 { 2.0 * size } else { 3.0 * size }).sum();
        2e-9 * self.batch as f64 * products
    }

    fn train(&mut self) {
        self.executor.train(&self.params, &self.packed, &mut self.grads, false);
        self.optimizer.step(self.isa, &Adam::default(), &mut self.params, &self.grads);
        self.packed.pack(&self.params);
    }

    fn bytes(&self) -> usize {
        let floats =
            self.params.values().len() + self.grads.len() + self.optimizer.m.len() + self.optimizer.v.len();
        floats * size_of::<f32>()
    }
}

/// Time of one call: the best of the stretches that fill a slice, since whatever else the machine does
/// only ever makes one slower. A stretch is long enough for the coarse clock of a page.
pub(crate) fn seconds_a_call(now: &dyn Fn() -> f64, mut call: impl FnMut()) -> f64 {
    const STRETCH_S: f64 = 4e-4;
    let mut calls = 1;
    let mut best_s = f64::INFINITY;
    let began_s = now();
    loop {
        let stretch_began_s = now();
        (0..calls).for_each(|_| call());
        let ended_s = now();
        let stretch_s = ended_s - stretch_began_s;
        if stretch_s < STRETCH_S {
            calls *= 2;
            continue;
        }
        best_s = best_s.min(stretch_s / f64::from(calls));
        if ended_s - began_s >= SLICE_S {
            return best_s;
        }
    }
}

/// Calls for a second what is measured next: a browser compiles again, and better, what has run for a while.
pub(crate) fn warm_up(now: &dyn Fn() -> f64, mut call: impl FnMut()) {
    const WARM_S: f64 = 1.0;
    let began_s = now();
    while now() - began_s < WARM_S {
        call();
    }
}

/// Time of one call, as the mean over a slice of calls.
pub(crate) fn sustained_s(now: &dyn Fn() -> f64, mut call: impl FnMut()) -> f64 {
    let (began_s, mut calls) = (now(), 0u32);
    loop {
        call();
        calls += 1;
        let took_s = now() - began_s;
        if took_s >= 4.0 * SLICE_S {
            return took_s / f64::from(calls);
        }
    }
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Numbers between -1 and 1 without a pattern; no zeros, no denormals.
pub(crate) fn noise(len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::rng::Rng::new(7, 0).fill_uniform(Isa::best(), 0, &mut values);
    values.iter().map(|u| 2.0 * u - 1.0).collect()
}
