//! Nothing is allocated in a step, by any thread of the pool. Native only, as the pool is.

use learn::words::{Config, Mlp, Norm, Positions, Pretrainer, Shape};
use learn::{Learner, Slice};
use math::Isa;
use testkit::Meter;
use worlds::words::{Corpus, Grammar, Kind};

fn steady(norm: Norm, positions: Positions, mlp: Mlp, dropout: f32, meter: Meter) {
    let text = Grammar::new().text(1, 20_000);
    let (corpus, tokenizer) = Corpus::new(text.as_bytes(), Kind::Chars, 32).expect("a text");
    let vocab = tokenizer.vocab();
    let shape = Shape { vocab, width: 64, layers: 2, heads: 2, context: 32, norm, positions, mlp, tied: true, bias: true };
    let config = Config {
        shape,
        dropout,
        batch: 32,
        micro: 16,
        steps: 2,
        half: false,
        lr: 1e-3,
        min_lr: 1e-4,
        warmup: 2,
        decay_steps: 10,
        weight_decay: 0.1,
        beta1: 0.9,
        beta2: 0.99,
        clip: 1.0,
    };
    let mut learner = Pretrainer::new(config, &std::sync::Arc::new(corpus), 1, Isa::best()).expect("sound settings");
    let mut iterate = || while !matches!(learner.advance(), Slice::Ended(_)) {};
    iterate();
    // Some epochs.
    let ((), taken) = meter.count(|| (0..30).for_each(|_| iterate()));
    assert_eq!(taken, 0, "{norm:?} {positions:?} {mlp:?}");
}

#[test]
fn a_steady_iteration_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    pool.install(|| {
        let meter = Meter::new();
        rayon::broadcast(|_| meter.watch());
        steady(Norm::Layer, Positions::Learned, Mlp::Gelu, 0.0, meter);
        steady(Norm::Rms, Positions::Rotary, Mlp::SwiGlu, 0.1, meter);
    });
}
