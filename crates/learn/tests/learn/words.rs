//! Tests of the transformer. Gradients and losses are compared with PyTorch. Other tests cover reading and generating text, and saved,
//! offloaded and sliced training.

use graph::{Executor, Optimizer, Packed, Params, Plan};
use learn::internals::cos_pi;
use learn::offload::{Local, PlanTrainer, TrainStateRef};
use learn::words::{Config, Mlp, Norm, Positions, Pretrainer, Reader, Sampling, Shape, Stats, Writing, plan_training};
use learn::{Fault, Learner, Machine, Offload, Slice};
use math::Isa;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use worlds::words::{Corpus, TokenizerSpec};

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../../tests/golden/words.json")).unwrap()
}

/// The random number generator that `tests/golden/words.py` also uses.
struct Numbers(u32);

impl Numbers {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    fn even(&mut self) -> f64 {
        f64::from(self.word()) / f64::from(1 << 23) - 1.0
    }

    fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 24) as u32
    }
}

fn fill(params: &mut Params, scale: f64) {
    for spec in params.table().clone().specs() {
        let mut numbers = Numbers(spec.name.bytes().map(u32::from).sum());
        let first = if spec.name.contains(".ln_") && spec.name.ends_with("weight") { 1.0 } else { 0.0 };
        let values = params.get_mut(&spec.name).unwrap();
        values.iter_mut().for_each(|value| *value = (first + scale * numbers.even()) as f32);
    }
}

/// Returns the training settings of nanoGPT. The plan is executed once per step.
fn config(shape: Shape, batch: usize) -> Config {
    Config { shape, batch, micro: batch, steps: 2, lr: 3e-3, min_lr: 3e-4, warmup: 20, decay_steps: 200, ..Config::default() }
}

fn gpt(vocab: usize, width: usize, layers: usize, heads: usize, context: usize) -> Shape {
    let (norm, positions, mlp) = (Norm::Layer, Positions::Learned, Mlp::Gelu);
    Shape { vocab, width, layers, heads, context, norm, positions, mlp, tied: true, bias: true }
}

/// The expected numbers are counted by hand. The reported share of a CPU's peak performance is based on these numbers.
#[test]
fn operations_per_token_count_matrices_and_attention() {
    let shape = gpt(100, 64, 3, 4, 31);
    let matrices = 3 * (4 * 64 * 64 + 2 * 64 * 256) + 100 * 64;
    assert_eq!(shape.products(), matrices);
    // Attention has two products: query-key and weight-value. A token attends to 16 of the 31 positions on average.
    assert_eq!(shape.flops_per_token(), 6.0 * (matrices + 3 * 2 * 64 * 16) as f64);
    let gated = Shape { mlp: Mlp::SwiGlu, ..shape };
    assert_eq!(gated.hidden(), 192);
    assert_eq!(gated.products(), 3 * (4 * 64 * 64 + 3 * 64 * 192) + 100 * 64);
}

#[test]
fn the_learning_rate_warms_up_and_decays_along_a_cosine() {
    let config = config(gpt(20, 16, 1, 2, 6), 2);
    let rate = |steps| f64::from(config.adam(steps).lr);
    // The rate increases for 20 steps, beginning above 0, and then decreases for 180 steps.
    for (steps, expected) in [(0, 3e-3 / 20.0), (9, 1.5e-3), (19, 3e-3), (20, 3e-3), (110, 1.65e-3), (200, 3e-4), (999, 3e-4)] {
        assert!((rate(steps) - expected).abs() < 1e-8, "{} after {steps}, not {expected}", rate(steps));
    }
    let third = 3e-4 + 2.7e-3 * 0.75;
    assert!((rate(80) - third).abs() < 1e-8, "{} after a third of the way", rate(80));
    let adam = config.adam(0);
    assert_eq!((adam.beta1, adam.beta2, adam.weight_decay, adam.max_grad_norm), (0.9, 0.99, 0.1, 1.0));
    assert!(adam.matrices_only);
}

/// Returns the golden cases, each with the shape of its model.
fn cases() -> Vec<(Value, Shape)> {
    let shape = |case: &Value| {
        let on = |name: &str| case[name].as_bool().unwrap();
        Shape {
            norm: if on("rms") { Norm::Rms } else { Norm::Layer },
            positions: if on("rotary") { Positions::Rotary } else { Positions::Learned },
            mlp: if on("swiglu") { Mlp::SwiGlu } else { Mlp::Gelu },
            tied: on("tied"),
            bias: on("bias"),
            ..gpt(20, 16, case["layers"].as_u64().unwrap() as usize, 2, 6)
        }
    };
    golden()["cases"].as_array().unwrap().iter().map(|case| (case.clone(), shape(case))).collect()
}

/// A plan with its executor, parameters and gradients.
struct Run {
    executor: Executor,
    params: Params,
    packed: Packed,
    grads: Vec<f32>,
}

impl Run {
    fn new(plan: Plan, scale: f64, text: &[f32]) -> Run {
        let plan = Arc::new(plan);
        let mut params = Params::new(plan.table(), 0);
        fill(&mut params, scale);
        let mut executor = Executor::new(&plan);
        executor.input_mut("corpus").copy_from_slice(text);
        let (packed, grads) = (Packed::new(&plan, &params), vec![0.0; params.values().len()]);
        Run { executor, params, packed, grads }
    }

    fn run(&mut self, starts: &[f32], adds: bool) -> f64 {
        self.executor.input_mut("starts").copy_from_slice(starts);
        self.executor.train(&self.params, &self.packed, &mut self.grads, adds);
        self.executor.output("loss")[0].into()
    }
}

fn close(found: f64, expected: f64, within: f64) -> bool {
    (found - expected).abs() <= within * expected.abs().max(1.0)
}

#[test]
fn gradients_match_pytorch() {
    for isa in Isa::available() {
        for (case, shape) in cases() {
            let name = case["name"].as_str().unwrap();
            let mut numbers = Numbers(7);
            // The text consists of three sequences of seven tokens.
            let text: Vec<f32> = (0..3 * 7).map(|_| numbers.below(20) as f32).collect();
            let plan = plan_training(&config(shape, 3), text.len(), 1, isa).unwrap();
            let mut run = Run::new(plan, 0.25, &text);
            let loss = run.run(&[0.0, 7.0, 14.0], false);
            assert!(close(loss, case["loss"].as_f64().unwrap(), 1e-5), "{name}: {loss}");
            let grads = case["gradients"].as_object().unwrap();
            let specs = run.params.table().specs();
            assert_eq!(grads.len(), specs.len(), "{name}");
            for spec in specs {
                let expected: Vec<f64> = grads[&*spec.name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
                let largest = expected.iter().fold(0f64, |most, x| most.max(x.abs()));
                for (i, (&found, expected)) in run.grads[spec.range()].iter().zip(&expected).enumerate() {
                    let off = (f64::from(found) - expected).abs();
                    assert!(off <= 2e-5 * largest + 6e-5 * expected.abs(), "{name} {} {i}: {found} {expected}", spec.name);
                }
            }
        }
    }
}

#[test]
fn losses_match_pytorch_over_200_steps() {
    let shape = gpt(24, 32, 2, 4, 16);
    // The batch of 8 sequences is split into two executions of the plan with 4 sequences each.
    let config = Config { micro: 4, ..config(shape, 8) };
    let mut numbers = Numbers(11);
    let text: Vec<f32> = text(&mut numbers, 2000).iter().map(|&token| token as f32).collect();
    let isa = Isa::best();
    let mut run = Run::new(plan_training(&config, text.len(), 1, isa).unwrap(), 0.05, &text);
    let mut optimizer = Optimizer::new(&run.params);
    for (step, expected) in golden()["losses"].as_array().unwrap().iter().enumerate() {
        let starts: Vec<f32> = (0..8).map(|_| numbers.below(2000 - 16) as f32).collect();
        let loss = run.run(&starts[..4], false) + run.run(&starts[4..], true);
        let norm = optimizer.step(isa, &config.adam(step as u64), &mut run.params, &run.grads);
        run.packed.pack(&run.params);
        let (expected, expected_norm) = (expected[0].as_f64().unwrap(), expected[1].as_f64().unwrap());
        assert!(close(loss, expected, 1e-3), "step {step}: {loss} {expected}");
        assert!(close(norm.into(), expected_norm, 1e-2), "step {step}: {norm} {expected_norm}");
    }
}

/// Returns a reader with the shape of a golden case, and the reader's weights. The weights are large, so that tokens have different
/// probabilities.
fn reader(shape: &Shape) -> (Reader, Params) {
    let mut params = Params::new(shape.declared().table(), 0);
    fill(&mut params, 0.25);
    (Reader::new(shape, &params, Isa::best()), params)
}

#[test]
fn the_reader_matches_the_trained_model() {
    for (case, shape) in cases() {
        let (mut reader, _) = reader(&shape);
        let mut numbers = Numbers(7);
        let text: Vec<u32> = (0..3 * 7).map(|_| numbers.below(20)).collect();
        let surprises: Vec<f32> = text.chunks(7).flat_map(|text| reader.surprises(text)).collect();
        let mean = surprises.iter().map(|&x| f64::from(x)).sum::<f64>() / surprises.len() as f64;
        assert!(close(mean, case["loss"].as_f64().unwrap(), 1e-5), "{}: {mean}", case["name"]);
        // Reading token by token must give bit-identical logits.
        reader.forget();
        let one: Vec<Vec<f32>> = text[..6]
            .iter()
            .map(|&token| {
                reader.read(&[token]);
                reader.logits(1).to_vec()
            })
            .collect();
        reader.forget();
        reader.read(&text[..2]);
        reader.read(&text[2..6]);
        assert_eq!(reader.logits(4), one[2..].concat(), "{}", case["name"]);
        for (layer, head) in [(0, 0), (0, 1), (shape.layers - 1, 1)] {
            let weights = reader.attention(layer, head);
            for (from, weights) in weights.chunks(6).enumerate() {
                assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                assert!(weights[from + 1..].iter().all(|&weight| weight == 0.0));
                assert!(weights[..=from].iter().all(|&weight| weight > 0.0));
            }
        }
    }
}

/// Returns all tokens in the order of their probability after `text`, the likeliest first. The reader reads `text` in one call.
fn likeliest(shape: &Shape, text: &[u32]) -> Vec<u32> {
    let (mut reader, _) = reader(shape);
    reader.read(text);
    let logits = reader.logits(1);
    let mut order: Vec<u32> = (0..logits.len() as u32).collect();
    order.sort_by(|&a, &b| logits[b as usize].total_cmp(&logits[a as usize]).then(a.cmp(&b)));
    order
}

#[test]
fn writing_follows_its_sampling_settings() {
    let greedy = Sampling { temperature: 0.0, top_k: 0, top_p: 1.0, seed: 1 };
    for (_, shape) in cases() {
        let write = |sampling: Sampling, count: usize| {
            let mut writing = Writing::new(reader(&shape).0, &[3, 5], sampling);
            let steps: Vec<(u32, f32)> = (0..count).map(|_| writing.advance()).collect();
            assert!(steps.iter().map(|steps| steps.0).eq(writing.written().iter().copied()));
            assert!(steps.iter().all(|&(_, p)| p > 0.0 && p <= 1.0));
            writing.written().to_vec()
        };
        let mut text = vec![3, 5];
        for token in write(greedy, 4) {
            assert_eq!(token, likeliest(&shape, &text)[0]);
            text.push(token);
        }
        // If a text exceeds the context of 6 tokens, generation continues from the newer half of the context.
        let long = write(greedy, 9);
        assert_eq!(long[..4], text[2..]);
        let all = [&[3, 5], &long[..]].concat();
        assert_eq!(long[5], likeliest(&shape, &all[4..7])[0]);
        let free = Sampling { temperature: 1.0, ..greedy };
        let hot = Sampling { temperature: 5.0, ..greedy };
        assert_eq!(write(free, 50), write(free, 50));
        assert_ne!(write(free, 50), write(Sampling { seed: 2, ..free }, 50));
        let kinds = |tokens: Vec<u32>| tokens.into_iter().collect::<std::collections::BTreeSet<_>>().len();
        assert!(kinds(write(hot, 200)) > 15);
        assert_eq!(write(Sampling { top_k: 1, ..hot }, 9), long);
        assert_eq!(write(Sampling { top_p: 1e-6, ..hot }, 9), long);
        let seconds: Vec<u32> = (0..40)
            .map(|seed| {
                let sampling = Sampling { top_k: 2, seed, ..hot };
                Writing::new(reader(&shape).0, &[3, 5], sampling).advance().0
            })
            .collect();
        let two = &likeliest(&shape, &[3, 5])[..2];
        assert!(two.iter().all(|token| seconds.contains(token)) && seconds.iter().all(|token| two.contains(token)));
    }
}

/// Each of many seeds generates one token. The tokens must have the frequencies of the definition: the logits are divided by the
/// temperature, the `top_k` most likely tokens are kept, and of these the smallest number whose total probability is at least `top_p`. The
/// reported probability is that of the model.
#[test]
fn sampled_tokens_have_the_frequencies_of_their_settings() {
    const DRAWN: usize = 3000;
    let (_, shape) = cases().remove(0);
    let (mut reader, params) = reader(&shape);
    reader.read(&[3, 5]);
    let logits = reader.logits(1).to_vec();
    let softmax = |temperature: f32| {
        let odds: Vec<f64> = logits.iter().map(|&logit| (f64::from(logit) / f64::from(temperature)).exp()).collect();
        let whole: f64 = odds.iter().sum();
        odds.into_iter().map(|odds| odds / whole).collect::<Vec<f64>>()
    };
    let (order, plain) = (likeliest(&shape, &[3, 5]), softmax(1.0));
    let mut sizes = std::collections::BTreeSet::new();
    for (temperature, top_k, top_p) in [
        (1.0, 0, 0.3),
        (1.0, 0, 0.6),
        (1.0, 0, 0.9),
        (0.3, 0, 0.6),
        (0.3, 0, 0.9),
        (4.0, 0, 0.6),
        (4.0, 3, 1.0),
        (0.5, 4, 0.8),
        (2.0, 0, 1.0),
    ] {
        let odds = softmax(temperature);
        let mut sum = 0.0;
        let enough = order.iter().position(|&token| {
            sum += odds[token as usize];
            sum >= f64::from(top_p)
        });
        let most = if top_k > 0 { top_k } else { order.len() };
        let kept = &order[..most.min(enough.map_or(order.len(), |last| last + 1))];
        let whole: f64 = kept.iter().map(|&token| odds[token as usize]).sum();
        let mut counts = vec![0usize; order.len()];
        for seed in 0..DRAWN as u32 {
            let sampling = Sampling { temperature, top_k, top_p, seed };
            let (token, odds) = Writing::new(Reader::new(&shape, &params, Isa::best()), &[3, 5], sampling).advance();
            assert!((f64::from(odds) - plain[token as usize]).abs() < 1e-5, "{sampling:?}");
            counts[token as usize] += 1;
        }
        for &token in &order {
            let expected = if kept.contains(&token) { odds[token as usize] / whole } else { 0.0 };
            let (share, error) = (counts[token as usize] as f64 / DRAWN as f64, (expected * (1.0 - expected) / DRAWN as f64).sqrt());
            assert!((share - expected).abs() <= 5.0 * error, "{temperature} {top_k} {top_p}: {token} {share} {expected}");
        }
        sizes.insert(kept.len());
    }
    assert!(sizes.len() > 4, "{sizes:?}");
}

/// Returns a text in which most tokens depend on the previous token.
fn text(numbers: &mut Numbers, count: usize) -> Vec<u32> {
    let mut text = vec![0u32];
    while text.len() < count {
        let guess = (5 * text[text.len() - 1] + 3) % 24;
        text.push(if numbers.below(4) > 0 { guess } else { numbers.below(24) });
    }
    text
}

/// Returns the corpus of [`text`], with a letter per token, in windows of 32 tokens.
fn corpus() -> Arc<Corpus> {
    let letters: Vec<u8> = text(&mut Numbers(11), 3000).iter().map(|&token| b'a' + token as u8).collect();
    Arc::new(Corpus::new(&letters, TokenizerSpec::Chars, 32).unwrap().0)
}

fn learner(config: Config) -> Pretrainer {
    Pretrainer::new(config, &corpus(), 3, Isa::best()).unwrap()
}

/// Returns the settings of a small model. A step takes several slices and executes the plan twice.
fn small() -> Config {
    Config { micro: 4, ..config(gpt(24, 128, 3, 4, 32), 8) }
}

fn iterate(learner: &mut Pretrainer, count: usize) -> Vec<f64> {
    let loss = |stats: Stats| {
        assert!(stats.loss > 0.0 && stats.grad_norm > 0.0 && stats.lr > 0.0);
        stats.loss
    };
    std::iter::repeat_with(|| learner.advance()).filter_map(Slice::ended).take(count).map(loss).collect()
}

/// A machine does not keep a text that has more tokens than f32 can index exactly. The learner then sends the tokens of the windows to the
/// machine for each run of the plan.
#[test]
fn offloaded_steps_on_a_long_text_match_local_steps() {
    // Nine tenths of the tokens are for training.
    let long: Vec<u8> = (0..18_700_000_u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 28) as u8).collect();
    let long = Arc::new(Corpus::new(&long, TokenizerSpec::Bytes, 32).unwrap().0);
    assert!(long.train().len() > 1 << 24);
    let config = Config { micro: 8, dropout: 0.1, ..small() };
    let [mut here, mut there] = [0; 2].map(|_| Pretrainer::new(config, &long, 3, Isa::best()).unwrap());
    there.begin_offload(&Local, 0).unwrap();
    iterate(&mut here, 3);
    iterate(&mut there, 3);
    assert!(there.is_offloaded() && here.parts() == there.parts());
}

/// Restoring rejects a saved number of steps that is out of range.
#[test]
fn invalid_step_counts_are_rejected() {
    let parts = learner(small()).parts();
    for (step, sound) in [(1.0, true), (-1.0, false), (1e10, false)] {
        let iteration = learn::Data::F64(vec![step, 1.0, 1.0, 1.0]);
        let find = |name: &str| if name == "iteration" { Some((&[4usize][..], &iteration)) } else { learn::part(&parts, name) };
        assert_eq!(Pretrainer::restore(small(), &corpus(), 3, Isa::best(), &find).is_ok(), sound, "{step}");
    }
}

#[test]
fn offloaded_steps_are_timed_by_the_clock() {
    static TICKS: AtomicU64 = AtomicU64::new(1000);
    let mut learner = learner(Config { micro: 8, ..small() });
    learner.begin_offload(&Local, 0).unwrap();
    learner.set_clock(|| TICKS.fetch_add(1, Relaxed) as f64);
    let (mut slices, mut took) = (0u32, 0.0);
    for _ in 0..3 {
        took += loop {
            slices += 1;
            if let Some(stats) = learner.advance().ended() {
                break stats.parts_s[0];
            }
        };
    }
    // By this clock, each slice takes one second. The time of the slice that ends an iteration may count for the next iteration.
    let all = f64::from(slices);
    assert!(took == all || took == all - 1.0, "{took} of {all}");
}

/// A machine with the given memory in bytes.
struct LimitedMemory(u64);

impl Machine for LimitedMemory {
    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        let (needs, has) = (plan.arena_bytes(), self.0);
        if needs > has { Err(Fault::TooSmall { needs, has }) } else { Local.trainer(plan, state) }
    }
}

#[test]
fn a_machine_with_little_memory_uses_micro_batches() {
    let config = Config { batch: 8, micro: 2, dropout: 0.1, ..small() };
    let has = |micro| plan_training(&Config { micro, ..config }, corpus().train().len(), 3, Isa::best()).unwrap().arena_bytes();
    let (mut here, mut there) = (learner(config), learner(config));
    assert!(matches!(there.begin_offload(&LimitedMemory(1000), 0), Err(Fault::TooSmall { .. })));
    there.begin_offload(&LimitedMemory((has(2) + has(8)) / 2), 0).unwrap();
    let (here_is, there_is) = (iterate(&mut here, 3), iterate(&mut there, 3));
    assert!(there.is_offloaded());
    // The losses differ, because the offloaded learner reports only the loss of the last run of the plan.
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.3 * a;
    assert!(here_is.iter().zip(&there_is).all(near), "{here_is:?} {there_is:?}");
    let differs = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-4;
    let differing = here.params().values().iter().zip(there.params().values()).filter(|&pair| differs(pair)).count();
    assert_eq!(differing, 0);
}

/// The loss of a step is the loss of the model before the step, on the windows of the step. Each token is predicted from the earlier tokens
/// of its window.
#[test]
fn steps_train_on_their_windows() {
    let (corpus, config) = (corpus(), Config { steps: 1, ..small() });
    let mut learner = learner(config);
    let mut batches = corpus.batches(3, config.batch);
    for step in 0..3 {
        let mut reader = Reader::new(&config.shape, learner.params(), Isa::best());
        let nats = |start: usize| {
            let window: Vec<u32> = corpus.tokens(start..start + 33).collect();
            reader.surprises(&window).iter().map(|&nats| f64::from(nats)).sum::<f64>() / 32.0
        };
        let expected = batches.starts(step).map(nats).sum::<f64>() / config.batch as f64;
        let loss = iterate(&mut learner, 1)[0];
        assert!(close(loss, expected, 1e-5), "step {step}: {loss} {expected}");
    }
}

#[test]
fn micro_batches_add_up_to_the_batch() {
    let losses = |micro| iterate(&mut learner(Config { micro, ..small() }), 4);
    let whole = losses(8);
    for micro in [1, 2, 4] {
        assert!(losses(micro).iter().zip(&whole).all(|(a, b)| close(*a, *b, 1e-4)), "{micro}");
    }
}

#[test]
fn products_that_take_seconds_are_rejected() {
    let config = Config { micro: 1, ..config(Shape { vocab: 65_536, ..gpt(65_536, 2048, 1, 32, 1024) }, 4) };
    let error = Pretrainer::bytes(&config).unwrap_err().to_string();
    assert!(error.contains("1024 tokens") && error.contains("smaller micro"), "{error}");
    // The shape of GPT-2 is valid.
    Pretrainer::bytes(&Config { shape: gpt(50_257, 768, 12, 12, 1024), ..config }).unwrap();
}

#[test]
fn invalid_configs_are_rejected() {
    let config = Config { micro: 1, ..small() };
    let shape = |shape: Shape| Config { shape, ..config };
    let vocab = |vocab| shape(Shape { vocab, ..config.shape });
    for (config, refused) in [
        (Config { micro: 3, ..config }, "a micro that divides the batch"),
        (Config { micro: 9, ..config }, "micro = 9"),
        (Config { lr: f32::NAN, ..config }, "lr = NaN"),
        (shape(Shape { heads: 3, ..config.shape }), "a multiple of 3"),
        (shape(Shape { positions: Positions::Rotary, heads: 32, width: 96, ..config.shape }), "a multiple of 64"),
        (vocab(1), "the vocabulary = 1"),
        (vocab(1_048_577), "the vocabulary = 1048577"),
    ] {
        let error = Pretrainer::new(config, &corpus(), 3, Isa::best()).err().unwrap().to_string();
        assert!(error.contains(refused), "{refused}: {error}");
        assert_eq!(Pretrainer::bytes(&config).err().unwrap().to_string(), error);
    }
    for sound in [vocab(2), vocab(1_048_576), Config { micro: 8, ..config }] {
        sound.check().unwrap();
    }
}

#[test]
fn hidden_size_is_four_widths_or_the_next_multiple_of_32_with_a_gate() {
    for (width, gated) in [(4, 32), (12, 32), (64, 192), (120, 320), (384, 1024), (768, 2048), (4096, 10_944)] {
        assert_eq!(Shape { width, mlp: Mlp::Gelu, ..Shape::default() }.hidden(), 4 * width);
        assert_eq!(Shape { width, ..Shape::default() }.hidden(), gated, "{width}");
    }
}

#[test]
fn cosine_matches_the_library() {
    for i in 0..=1000 {
        let x = f64::from(i) / 1000.0;
        assert!((cos_pi(x) - (std::f64::consts::PI * x).cos()).abs() < 1e-10, "{x}");
    }
}
