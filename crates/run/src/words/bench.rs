//! The figures of the room: whole steps of each preset's size with GPT-2's parts, forward, backward and AdamW, on all threads.

use super::knobs::preset;
use crate::bench::{Bench, FEW, Figure, ROUNDS, Training, noise, profile_training, sustained_s};
use learn::Learner;
use learn::words::{Config, Mlp, Norm, Positions, Pretrainer, Reader, Sampling, Shape, Writing, plan_training};
use math::Isa;
use math::par::Threads;
use math::peak::Peak;
use std::sync::Arc;
use worlds::words::{Corpus, Tokenizer};

pub(super) fn run(bench: &mut Bench) {
    let (host, now) = (bench.isa, bench.now);
    let sink = &mut *bench.sink;
    let mut sets = vec![(host, "")];
    for (isa, suffix, needs) in [(Isa::Bf16, ".bf16", "AVX512-BF16"), (Isa::Amx, ".amx", "AMX tiles")] {
        if host == Isa::Avx512 && isa.is_available() {
            sets.push((isa, suffix));
        } else {
            (bench.lacks)(format!("words.*{suffix}.*, which needs {needs} and the native program"));
        }
    }
    let rounds = [("char", ROUNDS), ("d256", FEW), ("d384", FEW), ("d512", FEW)];
    let all = rounds.into_iter().flat_map(|preset| sets.iter().map(move |&set| (preset, set)));
    let mut give = |name: String, rounds: &[f64], unit: String| sink(Figure::measured(name, rounds, unit));
    for ((id, rounds), (isa, suffix)) in all {
        let path = format!("{}, {} threads", isa.name(), math::par::threads());
        let mut steps = Steps::new(id, isa);
        let config = *steps.learner.config();
        let flops = config.shape.flops_per_token();
        let count = math::par::threads();
        let threads = Threads::of(count);
        let peak = Peak::new(isa, threads.as_ref().map(|threads| (threads, count)), &now);
        let (mut rates, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (peak, rate) = (peak.gflops(&now), steps.tokens_per_s(0.2, now));
            rates.push(rate);
            shares.push(1e-9 * rate * flops / peak);
        }
        give(format!("words.{id}{suffix}.tokens_per_s"), &rates, format!("tokens/s by {path}"));
        let unit = format!("of the f32 peak of as many cores, by {path}");
        give(format!("words.{id}{suffix}.share"), &shares, unit);
        if isa.rounds_to_bf16() {
            continue;
        }
        if id == "char" || id == "d512" {
            let rounds: Vec<f64> = (0..FEW).map(|_| written_per_s(&steps.learner, &now)).collect();
            let unit = format!("tokens/s, one after the other, by {path}");
            give(format!("words.{id}.written_per_s"), &rounds, unit);
        }
    }
    for (id, _) in rounds {
        let bytes = Pretrainer::bytes(&compared(id)).expect("settings of a preset");
        let unit = "bytes: weights, moments, gradients and all other tensors";
        sink(Figure::counted(format!("words.{id}.bytes"), bytes as f64, unit));
    }
}

/// Where the time of a step goes, call by call, in the two sizes between which the others lie.
pub(super) fn profiled(bench: &mut Bench) {
    for id in ["char", "d512"] {
        let Config { shape, micro, batch, .. } = compared(id);
        let window = shape.context + 1;
        let plan = plan_training(&compared(id), micro * window, 1, bench.isa).expect("settings of a preset");
        let mut training = Training::new(plan, compared(id).adam(0), batch / micro);
        for (token, x) in training.executor.input_mut("corpus").iter_mut().zip(noise(micro * window)) {
            *token = drawn(x, shape.vocab) as f32;
        }
        let starts = training.executor.input_mut("starts").iter_mut().enumerate();
        starts.for_each(|(i, start)| *start = (i * window) as f32);
        profile_training(&format!("words.{id}"), &mut training, FEW, bench.now, bench.sink);
    }
}

/// Tokens of a text without sense.
const TEXT: usize = 1 << 16;

/// A text without sense: a character for each token of the vocabulary, all of them as likely, as the rival draws them.
fn senseless(vocab: usize, context: usize) -> Corpus {
    let characters: Vec<char> = ('\u{4e00}'..).take(vocab).collect();
    let text: String = noise(TEXT).into_iter().map(|x| characters[drawn(x, vocab)]).collect();
    let tokenizer = Tokenizer::chars(&String::from_iter(&characters));
    Corpus::of(text.as_bytes(), tokenizer, context).expect("a text of these characters")
}

/// Whole steps of a preset's size with GPT-2's parts.
pub struct Steps {
    learner: Pretrainer,
}

impl Steps {
    /// Ready: what the first step alone does is done.
    pub fn new(id: &str, isa: Isa) -> Steps {
        let config = compared(id);
        let Shape { vocab, context, .. } = config.shape;
        let corpus = senseless(vocab, context);
        let learner = Pretrainer::new(config, &Arc::new(corpus), 1, isa).expect("settings of a preset");
        let mut steps = Steps { learner };
        steps.step();
        steps
    }

    /// Sustained in a round of at least so many seconds, a step at least.
    pub fn tokens_per_s(&mut self, seconds: f64, now: fn() -> f64) -> f64 {
        self.learner.config().step_tokens() as f64 / sustained_s(seconds, &now, || self.step())
    }

    fn step(&mut self) {
        let steps = self.learner.progress().steps;
        while self.learner.progress().steps == steps {
            self.learner.advance();
        }
    }
}

/// A token of a vocabulary by a number between -1 and 1.
fn drawn(x: f32, vocab: usize) -> usize {
    ((0.5 * (x + 1.0) * vocab as f32) as usize).min(vocab - 1)
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

fn written_per_s(learner: &Pretrainer, now: &dyn Fn() -> f64) -> f64 {
    let reader = Reader::new(&learner.config().shape, learner.params(), learner.isa());
    let sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, seed: 1 };
    let mut writing = Writing::new(reader, &[1], sampling);
    let tokens = learner.config().shape.context;
    let began_s = now();
    (0..tokens).for_each(|_| _ = writing.advance());
    tokens as f64 / (now() - began_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_drawn_from_the_whole_vocabulary_as_the_rival_draws_them() {
        for vocab in [65, 8192] {
            let corpus = senseless(vocab, 64);
            assert_eq!(corpus.len(), TEXT);
            let mut counts = vec![0; vocab];
            corpus.tokens(0..TEXT).for_each(|token| counts[token as usize] += 1);
            let mean = TEXT / vocab;
            assert!(counts.iter().filter(|&&count| count > 0).count() > 99 * vocab / 100, "{vocab}");
            assert!(counts.iter().all(|&count| count < 2 * mean + 24), "{vocab}");
        }
    }
}
