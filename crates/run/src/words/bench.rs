//! The figures of the room: whole steps of each preset's size with GPT-2's parts, forward, backward and AdamW, on all threads.

use super::knobs::preset;
use crate::bench::{Bench, Figure, median, noise};
use learn::words::{Config, Learner, Mlp, Norm, Positions, Reader, Sampling, Shape, Writing};
use math::par::Threads;
use math::{Isa, peak};
use std::sync::Arc;
use worlds::words::{Corpus, Kind};

pub(super) fn run(bench: &mut Bench) {
    let (host, now) = (bench.isa, bench.now);
    let mut give =
        |name: String, value: f64, unit: String| (bench.sink)(Figure { name, value, unit: unit.into() });
    let mut sets = vec![(host, "")];
    for (isa, suffix, needs) in [(Isa::Bf16, ".bf16", "AVX512-BF16"), (Isa::Amx, ".amx", "AMX tiles")] {
        if host == Isa::Avx512 && isa.is_available() {
            sets.push((isa, suffix));
        } else {
            (bench.lacks)(format!("words.*{suffix}.*, which needs {needs} and the native program"));
        }
    }
    let rounds = [("char", 9), ("d256", 5), ("d384", 4), ("d512", 3)];
    let all = rounds.into_iter().flat_map(|preset| sets.iter().map(move |&set| (preset, set)));
    for ((id, rounds), (isa, suffix)) in all {
        let path = format!("{}, {} threads", isa.name(), math::par::threads());
        let mut steps = Steps::new(id, isa);
        let config = *steps.learner.config();
        let flops = config.shape.flops_per_token();
        let (mut rates, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let rate = steps.tokens_per_s(0.2, now);
            rates.push(rate);
            shares.push(1e-9 * rate * flops / peak_gflops(isa, &now));
        }
        give(format!("words.{id}{suffix}.tokens_per_s"), median(&mut rates), format!("tokens/s by {path}"));
        let unit = format!("of the f32 peak of as many cores, by {path}");
        give(format!("words.{id}{suffix}.share"), median(&mut shares), unit);
        if isa.rounds_to_bf16() {
            continue;
        }
        let bytes = Learner::bytes(&config).expect("settings of a preset");
        give(
            format!("words.{id}.bytes"),
            bytes as f64,
            "bytes: weights, moments, gradients and all other tensors".into(),
        );
        if id == "char" || id == "d512" {
            let written = written_per_s(&steps.learner, &now);
            give(
                format!("words.{id}.written_per_s"),
                written,
                format!("tokens/s, one after the other, by {path}"),
            );
        }
    }
}

/// Tokens of a text without sense.
const TEXT: usize = 1 << 16;

/// Whole steps of a preset's size with GPT-2's parts.
pub struct Steps {
    learner: Learner,
}

impl Steps {
    /// Ready: what the first step alone does is done.
    pub fn new(id: &str, isa: Isa) -> Steps {
        let config = compared(id);
        let Shape { vocab, context, .. } = config.shape;
        let text: Vec<u8> = noise(TEXT).iter().map(|x| (128.0 + 127.0 * x) as u8).collect();
        let text: Vec<u8> = text.iter().map(|byte| byte % vocab.min(255) as u8).collect();
        let (corpus, _) = Corpus::new(&text, Kind::Bytes, context).expect("bytes are a text");
        let learner = Learner::new(config, &Arc::new(corpus), 1, isa).expect("settings of a preset");
        let mut steps = Steps { learner };
        steps.step();
        steps
    }

    /// Of steps for at least so many seconds, and of two at least, the faster half: what else a machine does only ever makes one slower.
    pub fn tokens_per_s(&mut self, seconds: f64, now: fn() -> f64) -> f64 {
        let (began, mut times) = (now(), Vec::new());
        while times.len() < 2 || now() - began < seconds {
            let at = now();
            self.step();
            times.push(now() - at);
        }
        times.sort_by(f64::total_cmp);
        times.truncate(times.len().div_ceil(2));
        (times.len() * self.learner.config().step_tokens()) as f64 / times.iter().sum::<f64>()
    }

    fn step(&mut self) {
        let steps = self.learner.progress().steps;
        while self.learner.progress().steps == steps {
            self.learner.advance();
        }
    }
}

/// A preset as GPT-2 would have it, whatever the room trains: what `--versus` has the same of.
fn compared(id: &str) -> Config {
    let config = preset(id).config;
    let vocab = if id == "char" { 65 } else { 8192 };
    let (norm, positions, mlp) = (Norm::Layer, Positions::Learned, Mlp::Gelu);
    let shape = Shape { vocab, norm, positions, mlp, tied: true, bias: true, ..config.shape };
    // In as many runs as the room's.
    let micro = 32 * config.micro / config.batch;
    Config { shape, batch: 32, micro, ..config }
}

fn written_per_s(learner: &Learner, now: &dyn Fn() -> f64) -> f64 {
    let reader = Reader::new(&learner.config().shape, learner.params(), learner.isa());
    let sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, seed: 1 };
    let mut writing = Writing::new(reader, &[1], sampling);
    let tokens = learner.config().shape.context;
    let began_s = now();
    (0..tokens).for_each(|_| _ = writing.advance());
    tokens as f64 / (now() - began_s)
}

/// Of all threads that learn.
fn peak_gflops(isa: Isa, now: &dyn Fn() -> f64) -> f64 {
    let count = math::par::threads();
    match Threads::of(count) {
        Some(threads) => peak::peak_gflops_of(isa, &threads, count, now),
        None => peak::peak_gflops(isa, now),
    }
}
