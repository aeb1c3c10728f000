//! The figures of the compute core, of control and of backgammon, the same in a terminal and in a page: `hothouse bench
//! core` and `npm run bench -- core` both end here, and `control` too. Every share is against a peak measured in the same round,
//! and what is reported is the median of the rounds, since machines are noisy.
//!
//! It refuses to judge: it prints what was measured.

use crate::monitor::Writer;
use crate::protocol::{Command, Event};
use crate::{DIGEST_EVERY, EVALUATION_EPISODES, Experiment};
use graph::{Adam, Buffer, Executor, Graph, Layout, Optimizer, Packed, Params, Plan, models};
use learn::backgammon::{self, Learner, PARTS, Published, PublishedConfig, Strong, StrongConfig, published};
use learn::{Ppo, PpoConfig, Slice};
use math::par::Threads;
use math::{Act, Isa, gemm, peak, rivals::Rival};
use std::sync::Arc;
use worlds::backgammon::{Board, Results, Roll};
use worlds::{Actions, CartPoles, Spec, Vector};

/// One measured number. Names are stable: scripts read them.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
}

const ROUNDS: usize = 15;
/// How long one measurement of one round lasts.
const SLICE_S: f64 = 0.01;

pub fn core(isa: Isa, now: &dyn Fn() -> f64, rivals: &[Rival], sink: &mut dyn FnMut(Figure)) {
    let mut give = |name: String, value: f64, unit| sink(Figure { name, value, unit });
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
    net(isa, now, &mut give);
    step(isa, now, &mut give);
    large(isa, now, &mut give);
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
/// of as many cores in the same round.
fn large(isa: Isa, now: &dyn Fn() -> f64, give: &mut dyn FnMut(String, f64, &'static str)) {
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
        let layer = format!("core.linear.{BATCH}x{INP}x{OUT}");
        let names = [
            format!("{layer}.share{suffix}"),
            format!("{layer}.dx.share{suffix}"),
            format!("{layer}.dw.share{suffix}"),
            format!("core.train.mlp2048.share{suffix}"),
        ];
        for (name, shares) in names.into_iter().zip(shares) {
            give(name, median(shares), "of the peak of as many cores");
        }
    }
    let unit = "bytes: parameters, gradients and two moments, whatever the threads";
    give("core.train.mlp2048.bytes".into(), mlp.bytes() as f64, unit);
    give(
        "core.train.mlp2048.arena_bytes".into(),
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

    /// Of the products alone: of the first layer's input there is no gradient.
    fn gflop(&self) -> f64 {
        let layers = self.widths.windows(2).map(|w| w[0] * w[1]);
        let products: usize =
            layers.enumerate().map(|(i, size)| if i == 0 { 2 * size } else { 3 * size }).sum();
        2e-9 * (self.batch * products) as f64
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

/// How fast worlds step and PPO learns, and what it costs when a run is watched: `attach` gives what
/// writes a monitor that is read ten times a second for as long as it is written.
pub fn control(
    isa: Isa,
    now: &dyn Fn() -> f64,
    attach: &mut dyn FnMut() -> Option<Writer>,
    sink: &mut dyn FnMut(Figure),
) {
    let mut give = |name: &str, value: f64| sink(Figure { name: name.into(), value, unit: "steps/s" });
    for kind in worlds::kinds() {
        let make = kind.many;
        let (name, _) = kind.spec.id.split_once('-').unwrap_or((kind.spec.id, ""));
        let name = format!("control.{}.steps_per_s_core", name.to_lowercase());
        give(&name, stepped(make(isa, 1, 0, ENVS), kind.spec, now));
    }
    give("control.cartpole.fused_steps_per_s_core", played(isa, now));
    give("control.ppo.cartpole.steps_per_s", ppo(isa, now));
    let (rate, reached) = small_ppo(isa, now);
    give("control.ppo.cartpole.small.steps_per_s", rate);
    let name = "control.ppo.cartpole.small.mean_return".into();
    sink(Figure { name, value: reached.into(), unit: "best evaluation of that run" });
    if let Some(value) = monitored(isa, now, attach) {
        let (name, unit) = ("control.monitor.overhead".into(), "of the time without a monitor");
        sink(Figure { name, value, unit });
    }
}

/// Environments stepped at once in the figures of the worlds.
const ENVS: usize = 4096;

/// Steps a second on one core by the public call, with random actions drawn beforehand.
fn stepped(mut many: Box<dyn Vector>, spec: &Spec, now: &dyn Fn() -> f64) -> f64 {
    let action = |x: f32| match spec.actions {
        Actions::Choices(count) => (0.5 * (x + 1.0) * count as f32).floor(),
        Actions::Range(low, high) => (low + 0.5 * (f64::from(x) + 1.0) * (high - low)) as f32,
    };
    let actions: Vec<f32> = noise(8 * ENVS).into_iter().map(action).collect();
    let (mut reached, mut rewards) = (vec![0.0; many.observations().len()], vec![0.0; ENVS]);
    let (mut ended, mut t) = (vec![0; ENVS], 0);
    let mut step = || {
        many.step(&actions[t % 8 * ENVS..][..ENVS], &mut reached, &mut rewards, &mut ended);
        t += 1;
    };
    let mut rates: Vec<f64> = (0..ROUNDS).map(|_| ENVS as f64 / seconds_a_call(now, &mut step)).collect();
    median(&mut rates)
}

/// Steps a second of CartPole on one core by many steps in one call.
fn played(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    const GAME: u32 = 100;
    let mut poles = CartPoles::new(isa, 1, 0, ENVS);
    let mut game = 0;
    let mut play = || {
        poles.play(game, GAME);
        game += 1;
    };
    let steps = ENVS as f64 * f64::from(GAME);
    let mut rates: Vec<f64> = (0..ROUNDS).map(|_| steps / seconds_a_call(now, &mut play)).collect();
    median(&mut rates)
}

/// Environment steps a second of whole iterations, after the first few, on all threads there are: the
/// preset with two networks of 4-64-64.
fn ppo(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    const WARM_UP: usize = 3;
    let mut ppo = cart_pole(PpoConfig { hidden: 64, epochs: 4, ..PpoConfig::default() }, isa);
    for _ in 0..WARM_UP {
        iteration_s(&mut ppo, now);
    }
    let mut rates: Vec<f64> = (0..ROUNDS).map(|_| iterations_rate(&mut ppo, now)).collect();
    median(&mut rates)
}

/// The same for a trunk of 32-32 that policy and critic share and one pass over the data, in a run that is
/// judged until it has solved the task; and the best evaluation it reached.
fn small_ppo(isa: Isa, now: &dyn Fn() -> f64) -> (f64, f32) {
    const GIVE_UP: u64 = 10_000_000;
    let small = PpoConfig { shared: true, epochs: 1, envs: 4096, lr: 0.005, ..PpoConfig::default() };
    let mut ppo = cart_pole(small, isa);
    let goal = ppo.kind().spec.solved_at as f32;
    let (mut best, mut rates) = (0f32, Vec::new());
    while (best < goal || rates.len() < ROUNDS) && ppo.progress().env_steps < GIVE_UP {
        rates.push(iterations_rate(&mut ppo, now));
        if best < goal {
            best = best.max(ppo.evaluate(EVALUATION_EPISODES, rates.len() as u32).mean);
        }
    }
    (median(&mut rates), best)
}

fn cart_pole(config: PpoConfig, isa: Isa) -> Ppo {
    let kind = worlds::kind("CartPole-v1").expect("a world there is");
    Ppo::new(kind, config, 1, isa).expect("the settings are in range")
}

fn iteration_s(ppo: &mut Ppo, now: &dyn Fn() -> f64) -> f64 {
    let began_s = now();
    while !matches!(ppo.advance(), Slice::Iteration(_)) {}
    now() - began_s
}

/// Environment steps a second of the best of a few iterations.
fn iterations_rate(ppo: &mut Ppo, now: &dyn Fn() -> f64) -> f64 {
    const ITERATIONS: usize = 3;
    let samples = (ppo.config().envs * ppo.config().rollout_steps) as f64;
    samples / (0..ITERATIONS).map(|_| iteration_s(ppo, now)).fold(f64::INFINITY, f64::min)
}

/// The share of its time that a monitor takes from the default run: stretches with one and without by
/// turns, the best of a few of each against each other, and the median of these ratios. None where it
/// cannot be attached.
fn monitored(isa: Isa, now: &dyn Fn() -> f64, attach: &mut dyn FnMut() -> Option<Writer>) -> Option<f64> {
    const RATIOS: usize = 11;
    const STRETCHES: usize = 3;
    /// Each stretch has the same number of evaluations and digests in it, once the task is solved.
    const ITERATIONS: u32 = DIGEST_EVERY;
    const WARM_UP: u32 = 4;
    let mut experiment =
        Experiment::new(crate::default_config(), isa).expect("the default config is in range");
    let began = experiment.events().into_iter().find(|event| matches!(event, Event::Began { .. }))?;
    experiment.command(Command::Start).expect("a fresh run can start");
    let mut stretch_s = |mut monitor: Option<Writer>| {
        if let Some(monitor) = &mut monitor {
            monitor.event(&began);
        }
        let (began_s, until) = (now(), experiment.progress().iteration + ITERATIONS);
        while experiment.progress().iteration < until {
            experiment.advance(now());
            for event in experiment.events() {
                if let Some(monitor) = &mut monitor {
                    monitor.event(&event);
                }
            }
            if let Some(monitor) = &mut monitor {
                monitor.beat(&experiment.progress());
            }
        }
        now() - began_s
    };
    for _ in 0..WARM_UP {
        stretch_s(None);
    }
    let mut ratios = Vec::new();
    for _ in 0..RATIOS {
        let (mut with_s, mut without_s) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..STRETCHES {
            with_s = stretch_s(Some(attach()?)).min(with_s);
            without_s = stretch_s(None).min(without_s);
        }
        ratios.push(with_s / without_s);
    }
    Some(median(&mut ratios) - 1.0)
}

/// How fast backgammon's rules are, its learner, and self-play in the published configuration: on so many cores where the figure
/// is one core's, and on all of them.
pub fn backgammon(isa: Isa, cores: usize, now: fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    let name = "backgammon.rules.decisions_per_s_core".into();
    sink(Figure { name, value: decided(&now), unit: "decisions/s" });
    published_net(isa, &now, sink);
    searched(isa, cores, &now, sink);
    played_out(isa, now, sink);
    taught(&now, sink);
}

/// The published network whole, with the logits of all actions; inference.
fn published_net(isa: Isa, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const BATCH: usize = 64;
    let gflop = 2e-9 * (BATCH * published::PRODUCTS) as f64;
    let plan = published::plan_whole(BATCH, isa).expect("the net is well formed");
    let params = Params::new(plan.table(), 1);
    let packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    executor.input_mut("inputs").copy_from_slice(&noise(BATCH * published::INPUTS));
    let (mut rates, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak::peak_gflops(isa, now);
        let call_s = seconds_a_call(now, || executor.run(&params, &packed));
        rates.push(BATCH as f64 / call_s);
        shares.push(gflop / call_s / peak);
    }
    let mut give = |name: &str, value, unit| sink(Figure { name: name.into(), value, unit });
    give("backgammon.published.net_states_per_s_core", median(&mut rates), "states/s");
    give("backgammon.published.net_share", median(&mut shares), "of peak");
}

/// The published learner that plays and does not learn.
fn players(isa: Isa, tables: usize) -> Published {
    let config = PublishedConfig { tables, most_updates: 0, duel_pairs: 0, ..PublishedConfig::default() };
    Published::new(config, 1, isa).expect("the settings are in range")
}

/// Decisions that the network values a second, for each of some cores, in the whole loop of self-play: rules, inputs, network,
/// tree. Each round is the best of some stretches.
fn searched(isa: Isa, cores: usize, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const STRETCHES: usize = 24;
    const SLICES: usize = 2;
    let mut players = players(isa, cores);
    let mut stretch = || {
        let (began_s, before) = (now(), players.progress().evaluations);
        for _ in 0..SLICES {
            players.advance();
        }
        (players.progress().evaluations - before) as f64 / (now() - began_s) / cores as f64
    };
    // The first decisions are all openings.
    for _ in 0..8 * STRETCHES {
        stretch();
    }
    let (mut rates, mut whole, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak::peak_gflops(isa, now);
        let rate = (0..STRETCHES).map(|_| stretch()).fold(0.0, f64::max);
        rates.push(rate);
        whole.push(2e-9 * published::PRODUCTS as f64 * rate / peak);
        done.push(2e-9 * published::SEARCH_PRODUCTS as f64 * rate / peak);
    }
    let mut give = |name: &str, value, unit| sink(Figure { name: name.into(), value, unit });
    give("backgammon.selfplay.evals_per_s_core", median(&mut rates), "evaluations/s");
    give(
        "backgammon.selfplay.share",
        median(&mut whole),
        "of peak, had all inputs and actions been computed",
    );
    give("backgammon.selfplay.dense_share", median(&mut done), "of peak, by what dense layers computed");
}

/// Whole games a minute on all threads at 100 evaluations for a roll that is not forced, of a network that has learned nothing,
/// whose games are long; and where the time goes.
fn played_out(isa: Isa, now: fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    /// Evaluations of each table before games end as often as they begin, and those that count.
    const WARM_UP: u64 = 800_000;
    const COUNTED: u64 = 1_000_000;
    let tables = math::par::threads();
    let mut players = players(isa, tables);
    players.lend_clock(now);
    let (mut parts, mut shared) = ([0.0; PARTS.len()], 0.0);
    let (mut began_s, mut before) = (now(), players.progress());
    loop {
        let backgammon::Slice::Round(stats) = players.advance() else { continue };
        let progress = players.progress();
        if progress.evaluations < WARM_UP * tables as u64 {
            (began_s, before) = (now(), progress);
            continue;
        }
        parts.iter_mut().zip(stats.parts_s).for_each(|(sum, part_s)| *sum += part_s);
        shared += stats.parts_s.iter().sum::<f64>();
        if progress.evaluations >= (WARM_UP + COUNTED) * tables as u64 {
            break;
        }
    }
    let (after, took_s) = (players.progress(), now() - began_s);
    let mut give = |name: &str, value, unit| sink(Figure { name: name.into(), value, unit });
    let a_minute = |count: u64| 60.0 * count as f64 / took_s;
    give(
        "backgammon.selfplay.games_per_min",
        a_minute(after.games - before.games),
        "games/min on all threads",
    );
    give(
        "backgammon.selfplay.decisions_per_min",
        a_minute(after.moves - before.moves),
        "decisions/min on all threads",
    );
    for (part, seconds) in PARTS.iter().zip(parts).filter(|(_, seconds)| *seconds > 0.0) {
        give(&format!("backgammon.selfplay.time.{part}"), seconds / shared, "of the time");
    }
}

/// Games a second for each of the cores at hand, of the strong learner with its own settings, learning included, once it plays sensibly;
/// and the boards that its networks value meanwhile.
fn taught(now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const EARLY: u64 = 8;
    let mut strong = Strong::new(StrongConfig::default(), 1, Isa::best()).expect("settings of its own");
    let (mut games, mut evaluations) = (Vec::new(), Vec::new());
    let (mut began_s, mut before) = (now(), strong.progress());
    while games.len() < ROUNDS {
        if strong.advance() == backgammon::Slice::Worked {
            continue;
        }
        let (ended_s, after) = (now(), strong.progress());
        if after.rounds > EARLY {
            let core_s = (ended_s - began_s) * math::par::threads() as f64;
            games.push((after.games - before.games) as f64 / core_s);
            evaluations.push((after.evaluations - before.evaluations) as f64 / core_s);
        }
        (began_s, before) = (ended_s, after);
    }
    let mut give = |name: &str, value, unit| sink(Figure { name: name.into(), value, unit });
    give("backgammon.td.games_per_s_core", median(&mut games), "games/s");
    give("backgammon.td.evals_per_s_core", median(&mut evaluations), "evaluations/s");
}

/// Decisions a second on one core when each roll's results are all found and one of them is chosen at random, game after
/// game. Each call plays the same games, some forty of them, so that the best one is no luckier than the rest.
fn decided(now: &dyn Fn() -> f64) -> f64 {
    const DECISIONS: u32 = 4096;
    let mut room = Results::new();
    let mut play = || {
        let mut numbers = math::Rng::new(7, 1).sequence(0);
        let mut board = Board::START;
        for _ in 0..DECISIONS {
            let opening = board == Board::START;
            let roll = if opening { Roll::drawn_to_open(&mut numbers) } else { Roll::drawn(&mut numbers) };
            let results = board.results(roll, &mut room);
            let after = results[numbers.below(results.len() as u32) as usize];
            board = if after.points() == 0 { after.turned() } else { Board::START };
        }
        std::hint::black_box(board);
    };
    let mut rates: Vec<f64> =
        (0..ROUNDS).map(|_| f64::from(DECISIONS) / seconds_a_call(now, &mut play)).collect();
    median(&mut rates)
}

/// Time of one call: the best of the stretches that fill a slice, since whatever else the machine does
/// only ever makes one slower. A stretch is long enough for the coarse clock of a page.
fn seconds_a_call(now: &dyn Fn() -> f64, mut call: impl FnMut()) -> f64 {
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

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Numbers between -1 and 1 without a pattern; no zeros, no denormals.
fn noise(len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::rng::Rng::new(7, 0).fill_uniform(Isa::best(), 0, &mut values);
    values.iter().map(|u| 2.0 * u - 1.0).collect()
}
