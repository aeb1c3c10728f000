//! Benchmarks of the words room (language models): whole training steps (forward, backward and AdamW) on all threads, generated tokens per
//! second, and memory. Each model has the size of a preset and the components of GPT-2.

use crate::measure::{Bench, Clock, noise, rates_and_shares};
use crate::profile::profile_training;
use crate::training::Training;
use learn::Learner;
use learn::words::{Config, Mlp, Norm, Positions, Pretrainer, Reader, Sampling, Shape, Writing, plan_training};
use math::Isa;
use math::par::{self, Threads};
use math::peak::Peak;
use math::rounds::{FEW, ROUNDS, sustained_s};
use run::words::preset;
use std::sync::Arc;
use worlds::words::{Corpus, Tokenizer};

const PRESETS: [(&str, usize); 4] = [("char", ROUNDS), ("d256", FEW), ("d384", FEW), ("d512", FEW)];

pub fn measure(bench: &mut Bench) {
    let sets = sets(bench);
    for (id, rounds) in PRESETS {
        sets.iter().for_each(|&(isa, suffix)| trained(id, rounds, isa, suffix, bench));
    }
    for (id, _) in PRESETS {
        let bytes = Pretrainer::bytes(&gpt2_config(id)).expect("settings of a preset");
        let unit = "bytes: weights, moments, gradients and all other tensors";
        bench.count(format!("words.{id}.bytes"), bytes as f64, unit);
    }
}

/// Returns the chosen instruction set. If the chosen set is AVX-512, also returns the sets with bf16 that this machine has. Each set has
/// the suffix for the names of its figures. The other sets with bf16 are reported as missing.
fn sets(bench: &mut Bench) -> Vec<(Isa, &'static str)> {
    let mut sets = vec![(bench.isa, "")];
    for (isa, suffix, needs) in [(Isa::Bf16, ".bf16", "AVX512-BF16"), (Isa::Amx, ".amx", "AMX tiles")] {
        if bench.isa == Isa::Avx512 && isa.is_available() {
            sets.push((isa, suffix));
        } else {
            (bench.report_missing)(format!("words.*{suffix}.*, which needs {needs} and the native program"));
        }
    }
    sets
}

fn trained(id: &str, rounds: usize, isa: Isa, suffix: &str, bench: &mut Bench) {
    let (now, count) = (bench.now, par::threads());
    let path = format!("{}, {count} threads", isa.name());
    let mut steps = Steps::new(id, isa);
    let gflop = 1e-9 * steps.learner.config().shape.flops_per_token();
    let threads = Threads::of(count);
    let peak = Peak::new(isa, threads.as_ref().map(|threads| (threads, count)), &now);
    let [rates, shares] = rates_and_shares(rounds, &peak, gflop, now, || steps.tokens_per_s(0.2, now));
    bench.give(format!("words.{id}{suffix}.tokens_per_s"), &rates, format!("tokens/s by {path}"));
    bench.give(format!("words.{id}{suffix}.share"), &shares, format!("of the f32 peak of as many cores, by {path}"));
    if !isa.rounds_to_bf16() && (id == "char" || id == "d512") {
        let rounds: Vec<f64> = (0..FEW).map(|_| written_per_s(&steps.learner, now)).collect();
        bench.give(format!("words.{id}.written_per_s"), &rounds, format!("tokens/s, generated one at a time, by {path}"));
    }
}

/// Reports the time of each operation in a training step, for the smallest and the largest model.
pub fn profile(bench: &mut Bench) {
    for id in ["char", "d512"] {
        let Config { shape, micro, batch, .. } = gpt2_config(id);
        let window = shape.context + 1;
        let plan = plan_training(&gpt2_config(id), micro * window, 1, bench.isa).expect("settings of a preset");
        let mut training = Training::new(plan, gpt2_config(id).adam(0), batch / micro);
        for (token, x) in training.executor.input_mut("corpus").iter_mut().zip(noise(micro * window)) {
            *token = drawn(x, shape.vocab) as f32;
        }
        let starts = training.executor.input_mut("starts").iter_mut().enumerate();
        starts.for_each(|(i, start)| *start = (i * window) as f32);
        profile_training(&format!("words.{id}"), &mut training, FEW, bench);
    }
}

/// Number of tokens of the random text.
const TEXT: usize = 1 << 16;

/// Returns a random text in which each token of the vocabulary is one character. The tokens are uniformly distributed, as in the PyTorch
/// benchmark of `--versus`.
pub fn random_corpus(vocab: usize, context: usize) -> Corpus {
    let characters: Vec<char> = ('\u{4e00}'..).take(vocab).collect();
    let text: String = noise(TEXT).into_iter().map(|x| characters[drawn(x, vocab)]).collect();
    let tokenizer = Tokenizer::chars(&String::from_iter(&characters));
    Corpus::of(text.as_bytes(), tokenizer, context).expect("a text of these characters")
}

/// Training steps of a model with a preset's size and GPT-2's components.
pub struct Steps {
    learner: Pretrainer,
}

impl Steps {
    /// Creates a learner, and runs one step as warm-up.
    pub fn new(id: &str, isa: Isa) -> Steps {
        let config = gpt2_config(id);
        let Shape { vocab, context, .. } = config.shape;
        let corpus = random_corpus(vocab, context);
        let learner = Pretrainer::new(config, &Arc::new(corpus), 1, isa).expect("settings of a preset");
        let mut steps = Steps { learner };
        steps.step();
        steps
    }

    /// Returns the tokens per second in a round, which takes at least `seconds` seconds and one step.
    pub fn tokens_per_s(&mut self, seconds: f64, now: Clock) -> f64 {
        self.learner.config().step_tokens() as f64 / sustained_s(seconds, &now, || self.step())
    }

    fn step(&mut self) {
        let steps = self.learner.progress().steps;
        while self.learner.progress().steps == steps {
            self.learner.advance();
        }
    }
}

/// Maps a number between -1 and 1 to a token of the vocabulary.
fn drawn(x: f32, vocab: usize) -> usize {
    ((0.5 * (x + 1.0) * vocab as f32) as usize).min(vocab - 1)
}

/// Returns a preset's configuration with GPT-2's components, a fixed vocabulary size and a batch of 32 instead of the preset's own.
/// `--versus` compares the same configuration.
fn gpt2_config(id: &str) -> Config {
    let config = preset(id).config;
    let vocab = if id == "char" { 65 } else { 8192 };
    let (norm, positions, mlp) = (Norm::Layer, Positions::Learned, Mlp::Gelu);
    let shape = Shape { vocab, norm, positions, mlp, tied: true, bias: true, ..config.shape };
    // Scales `micro`, so that a step has as many executions of the plan as with the preset's own batch.
    let micro = 32 * config.micro / config.batch;
    Config { shape, batch: 32, micro, ..config }
}

fn written_per_s(learner: &Pretrainer, now: Clock) -> f64 {
    let reader = Reader::new(&learner.config().shape, learner.params(), learner.isa());
    let sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, seed: 1 };
    let mut writing = Writing::new(reader, &[1], sampling);
    let tokens = learner.config().shape.context;
    let began_s = now();
    (0..tokens).for_each(|_| _ = writing.advance());
    tokens as f64 / (now() - began_s)
}
