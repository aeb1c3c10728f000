//! Where the time of a training step of a language model goes, call by call, against the multiply-add peak of all threads
//! measured in the same run: `cargo run --release -p graph --example transformer [char|d256|d384|d512]`. Of each call the median, or
//! with FASTEST set the fastest, for a machine that does other work; RAYON_NUM_THREADS says how many threads, and BF16 rounds products.

use graph::{Adam, Call, Executor, Graph, Init, Isa, NodeId, Optimizer, Packed, Params, Plan};
use math::par::{self, Threads};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

struct Shape {
    name: &'static str,
    d: usize,
    heads: usize,
    layers: usize,
    len: usize,
    vocab: usize,
    batch: usize,
}

const fn large(name: &'static str, d: usize, heads: usize) -> Shape {
    Shape { name, d, heads, layers: 6, len: 128, vocab: 8192, batch: 32 }
}

const SHAPES: [Shape; 4] = [
    Shape { name: "char", d: 128, heads: 4, layers: 4, len: 64, vocab: 65, batch: 32 },
    large("d256", 256, 8),
    large("d384", 384, 6),
    large("d512", 512, 8),
];

fn model(g: &mut Graph, shape: &Shape) -> NodeId {
    let &Shape { d, layers, len, vocab, batch, heads, .. } = shape;
    let (corpus, starts) = (g.input("corpus", [1, 100_000]), g.input("starts", [batch, 1]));
    let (tokens, targets) = (g.windows(corpus, starts, len, 0), g.windows(corpus, starts, len, 1));
    let table = g.param("wte", [vocab, d], Init::Uniform(0.04));
    let mut x = g.embedding_bag(table, tokens);
    for layer in 0..layers {
        let name = |part: &str| format!("{layer}.{part}");
        let y = g.norm(x, &name("ln_1"));
        let y = g.dense(y, &name("c_attn"), 3 * d, Init::FanIn);
        let y = g.causal_attention(y, heads, len, false);
        let y = g.dense(y, &name("c_proj"), d, Init::FanIn);
        x = g.add(x, y);
        let y = g.norm(x, &name("ln_2"));
        let y = g.dense(y, &name("c_fc"), 4 * d, Init::FanIn);
        let y = g.gelu(y);
        let y = g.dense(y, &name("down"), d, Init::FanIn);
        x = g.add(x, y);
    }
    let x = g.norm(x, "ln_f");
    let losses = g.head_loss(x, table, targets);
    g.mean_all(losses)
}

/// Multiply-adds.
fn products(call: &Call) -> usize {
    match *call {
        Call::Linear { rows, out, inp, .. } | Call::LinearDx { rows, out, inp, .. } | Call::LinearDw { rows, out, inp } => rows * out * inp,
        Call::HeadLoss { rows, vocab, inp, .. } => 3 * rows * vocab * inp,
        _ => 0,
    }
}

fn main() -> Result<(), graph::PlanError> {
    let isa = if std::env::var_os("BF16").is_some() { Isa::Bf16 } else { Isa::best() };
    let begin = Instant::now();
    let now = move || begin.elapsed().as_secs_f64();
    let count = par::threads();
    let threads = Threads::of(count).expect("those there are");
    let peak = math::peak::Peak::new(isa, Some((&threads, count)), &now).gflops(&now);
    println!("{}: peak {peak:.0} GFLOP/s of {count} threads", isa.name());
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for shape in SHAPES.iter().filter(|s| wanted.is_empty() || wanted.iter().any(|name| name == s.name)) {
        profile(shape, isa, peak, &now)?;
    }
    Ok(())
}

fn profile(shape: &Shape, isa: Isa, peak: f64, now: &dyn Fn() -> f64) -> Result<(), graph::PlanError> {
    let mut g = Graph::new();
    let loss = model(&mut g, shape);
    let gradients = g.gradients(loss);
    let plan = Arc::new(Plan::training(&g, &[("loss", loss)], &gradients, isa)?);
    let mut params = Params::new(g.table(), 1);
    let mut packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    let mut grads = vec![0.0; params.values().len()];
    let mut optimizer = Optimizer::new(&params);
    for (i, token) in executor.input_mut("corpus").iter_mut().enumerate() {
        *token = (i * i % 7919 % shape.vocab) as f32;
    }
    for (i, start) in executor.input_mut("starts").iter_mut().enumerate() {
        *start = (i * 997) as f32;
    }
    // Whole steps, each with its parts one after the other.
    let calls = plan.steps().len();
    let mut times = vec![Vec::new(); calls + 2];
    let tokens = shape.batch * shape.len;
    let first = now();
    while times[0].len() < 3 || now() - first < 4.0 {
        for call in 0..calls {
            let start = now();
            executor.train_part(&params, &packed, &mut grads, false, call..call + 1);
            times[call].push(now() - start);
        }
        let start = now();
        optimizer.step(isa, &Adam { lr: 1e-4, ..Adam::default() }, &mut params, &grads);
        let middle = now();
        packed.pack(&params);
        times[calls].push(middle - start);
        times[calls + 1].push(now() - middle);
    }
    let fastest = std::env::var_os("FASTEST").is_some();
    let typical = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[if fastest { 0 } else { times.len() / 2 }]
    };
    let mut kinds: BTreeMap<String, (usize, f64, f64)> = BTreeMap::new();
    for (i, times) in times.iter_mut().enumerate() {
        let call = plan.steps().get(i).map(|step| &step.call);
        let name = match call {
            Some(call) => format!("{call:?}").split([' ', '{', '(']).next().unwrap_or_default().to_string(),
            None => ["Adam", "pack"][i - calls].into(),
        };
        let kind = kinds.entry(name).or_default();
        kind.0 += 1;
        kind.1 += typical(times);
        kind.2 += 2e-9 * call.map_or(0.0, |call| products(call) as f64);
    }
    let all: f64 = kinds.values().map(|kind| kind.1).sum();
    let flops: f64 = kinds.values().map(|kind| kind.2).sum();
    println!(
        "{}: {:.1} ms a step, {:.0} tokens/s, {:.3} of peak; arena {} MB",
        shape.name,
        1e3 * all,
        tokens as f64 / all,
        flops / all / peak,
        plan.arena_bytes() >> 20,
    );
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    for (name, (count, seconds, flops)) in kinds {
        let share = if flops > 0.0 { format!("{:.3} of peak", flops / seconds / peak) } else { String::new() };
        println!("  {name:16} {count:3} calls {:8.3} ms {:5.1}% {share}", 1e3 * seconds, 100.0 * seconds / all);
    }
    Ok(())
}
