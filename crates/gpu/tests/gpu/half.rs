//! Tests of products whose factors are rounded to f16. The expected results are f64 products of factors that the CPU has rounded. One test
//! trains a language model with f16 products. The tests are native only, because software adapters of browsers have no f16. On an adapter
//! without f16, only the rejection of f16 is tested.

use crate::noise;
use crate::product::{self, Case, Order, PLAIN, in_passing, values};
use gpu::{Gpu, OpenOptions, TILES};
use learn::words::{Config, Pretrainer, Shape, Stats};
use learn::{Fault, Learner, Offload, Slice};
use math::{Act, Isa, Unary};
use std::sync::Arc;
use worlds::words::{Corpus, TokenizerSpec};

/// Returns true if the adapter has f16; otherwise reports that the test is skipped.
fn has_half(gpu: &Gpu) -> bool {
    let half = gpu.about().half;
    if !half {
        testkit::skip(format_args!("f16: the adapter {} has none", gpu.about().name));
    }
    half
}

/// Returns the two f16 numbers to which an adapter may round `x`: the number towards zero, and the nearest number.
fn neighbours(x: f32) -> [f32; 2] {
    let unit = f32::from_bits(x.abs().max(6.1035156e-5).to_bits() & f32::INFINITY.to_bits()) / 1024.0;
    let most = |x: f32| x.clamp(-65504.0, 65504.0);
    [most((x / unit).trunc() * unit), most((x / unit).round_ties_even() * unit)]
}

/// Computes the dot product Σ a·b on the GPU, as a matrix product of shape 1 x 1 x k.
async fn dot(gpu: &Gpu, a: &[f32], b: &[f32], lifts: [f32; 2]) -> f32 {
    let case = Case { shape: [1, 1, a.len()], half: Some(lifts), ..PLAIN };
    run_case(gpu, case, [a, b]).await[0][0]
}

/// Runs a product with the factors `a` and `b`.
async fn run_case(gpu: &Gpu, case: Case, [a, b]: [&[f32]; 2]) -> Vec<Vec<f32>> {
    let mut values = values(&case, 1);
    [values[0], values[1]] = [a.to_vec(), b.to_vec()];
    product::run(gpu, &[(case, values)]).await.remove(0)
}

/// Covers every memory order, odd sizes, all epilogues, products that are split over k, and every tile. The expected results are f64
/// products of factors that the CPU has rounded. Results are equal up to f32 rounding. Row sums are an exception: they are sums of the
/// unrounded factor.
async fn products_of_rounded_factors_match_f64(gpu: Gpu) {
    if !has_half(&gpu) {
        return;
    }
    // 1.00073 is between two f16 numbers and nearer to the larger one. A result above 1 shows that the adapter rounds to the nearest
    // number.
    let nearest = dot(&gpu, &[1.0 + 0.75 / 1024.0], &[1.0], [1.0; 2]).await > 1.0;
    let mut cases = Vec::new();
    let (along, across) = (Order::Along, Order::Across);
    let ways = [[along, along], [along, across], [across, along], [across, across]];
    let shapes = [[1, 1, 1], [35, 13, 7], [36, 132, 40], [33, 36, 8], [70, 65, 1301], [64, 64, 2052]];
    let follows = Case { bias: true, residual: true, act: Act::Gelu, ..PLAIN };
    let passes = Case { slope: Some(Unary::Tanh), row_sums: Some(false), ..PLAIN };
    let after = [PLAIN, Case { adds: true, ..follows }, passes, Case { saves: true, ..follows }];
    for (i, shape) in shapes.into_iter().enumerate() {
        for (j, [a, b]) in ways.into_iter().enumerate() {
            // `npm test` runs each size in one order. Each order and each epilogue still occurs.
            if !testkit::all() && j != (i + i / 2) % 4 {
                continue;
            }
            let half = Some([[1.0, 1.0], [4096.0, 1.0], [1.0, 0.25]][(i + j) % 3]);
            cases.push(Case { shape, a, b, half, ..after[(i + j) % 4] });
        }
    }
    for (i, tile) in TILES.iter().enumerate() {
        let shape = [tile.rows + 4, tile.columns + 8, 2 * tile.depth + 4];
        let [a, b] = ways[i % 4];
        cases.push(Case { shape, a, b, half: Some([64.0, 1.0]), tile: Some(tile), ..passes });
    }
    for case in cases {
        let ([m, n, k], lifts) = (case.shape, case.half.unwrap());
        let (a, b) = (noise(1, m * k), noise(2, n * k));
        let rounded =
            |values: &[f32], lift: f32| -> Vec<f32> { values.iter().map(|x| neighbours(x * lift)[usize::from(nearest)] / lift).collect() };
        let factors = [rounded(&a, lifts[0]), rounded(&b, lifts[1])];
        assert!(factors[0] != a && factors[1] != b || k == 1, "{case:?}: the factors need no rounding");
        let of = |[a, b]: [Vec<f32>; 2]| {
            let mut values = values(&case, 1);
            [values[0], values[1]] = [a, b];
            product::expected(&case, &values)
        };
        let found = run_case(&gpu, case, [&a, &b]).await;
        let rounded = of(factors);
        let sums = of([a, b]).sums;
        let close = |what: &str, found: &[f32], expected: &[f64]| {
            for (i, (x, y)) in found.iter().zip(expected).enumerate() {
                assert!((f64::from(*x) - y).abs() <= in_passing(k, *y), "{case:?}: {what} {i} is {x}, not {y}");
            }
        };
        close("c", &found[0], &rounded.c.iter().map(|(y, _)| *y).collect::<Vec<f64>>());
        close("sums of rows", &found[1], &sums);
        if case.saves {
            close("saved", &found[2], &rounded.saved);
        }
    }
}

async fn overflow_saturates_and_nan_propagates(gpu: Gpu) {
    if !has_half(&gpu) {
        return;
    }
    for (x, y) in [(1e6, 65504.0), (-1e6, -65504.0), (3e38, 65504.0), (65504.0, 65504.0), (0.5, 0.5)] {
        assert_eq!(dot(&gpu, &[x], &[1.0], [1.0; 2]).await, y);
        assert_eq!(dot(&gpu, &[1.0], &[x], [1.0; 2]).await, y);
        // This factor is multiplied by 256 before rounding, so it is clamped at 65,504 / 256.
        assert_eq!(dot(&gpu, &[x / 256.0], &[1.0], [256.0, 1.0]).await, y / 256.0);
    }
    assert!(dot(&gpu, &[f32::NAN, 1.0], &[1.0, 1.0], [1.0; 2]).await.is_nan());
}

/// Covers gradients of a mean over 4,096 tokens. Most of them round to 0 in f16 unless they are first multiplied by a power of two.
async fn scaled_gradients_below_the_f16_range_are_kept(gpu: Gpu) {
    if !has_half(&gpu) {
        return;
    }
    let gradient: Vec<f32> = noise(8, 4096).iter().map(|x| 1e-8 * x.abs()).collect();
    let ones = vec![1.0; gradient.len()];
    let sum = gradient.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    let mut lost = [1048576.0, 1.0];
    for lift in &mut lost {
        *lift = (dot(&gpu, &gradient, &ones, [*lift, 1.0]).await / sum - 1.0).abs();
    }
    assert!(lost[0] < 1e-3 && lost[1] > 0.5, "{lost:?}");
}

/// Returns the config of a small language model.
pub fn config(half: bool) -> Config {
    let shape = Shape { vocab: 64, width: 48, layers: 2, heads: 3, context: 32, ..Shape::default() };
    Config { shape, micro: 8, steps: 3, half, lr: 3e-3, min_lr: 3e-4, warmup: 5, decay_steps: 100, ..Config::default() }
}

fn learner(half: bool, seed: u32) -> Pretrainer {
    let config = config(half);
    let text: Vec<u8> = (0..4000u32).map(|i| ((i % 17) * (i % 5) + i / 7 % 3) as u8 % 64).collect();
    let (corpus, _) = Corpus::new(&text, TokenizerSpec::Bytes, config.shape.context).unwrap();
    Pretrainer::new(config, &Arc::new(corpus), seed, Isa::best()).unwrap()
}

fn iteration(learner: &mut Pretrainer) -> Stats {
    loop {
        match learner.advance() {
            Slice::Ended(stats) => return stats,
            Slice::Stopped(fault) => panic!("{fault}"),
            Slice::Worked | Slice::Waiting => {}
        }
    }
}

/// Trains 12 steps in f16 and in f32. Loss and gradient norm of each iteration differ only by rounding.
async fn language_model_learns_in_f16_as_in_f32(gpu: Gpu) {
    if !has_half(&gpu) {
        return;
    }
    let [mut f16, mut f32] = [true, false].map(|half| {
        let mut learner = learner(half, 3);
        learner.begin_offload(&gpu, 0).unwrap();
        learner
    });
    let mut losses = Vec::new();
    let mut differ = false;
    for i in 0..4 {
        let (rounded, plain) = (iteration(&mut f16), iteration(&mut f32));
        let close = |x: f64, y: f64, most: f64| (x - y).abs() <= most * y;
        assert!(close(rounded.loss, plain.loss, 0.02), "{i}: {} and {}", rounded.loss, plain.loss);
        assert!(close(rounded.grad_norm, plain.grad_norm, 0.1), "{i}: {rounded:?} and {plain:?}");
        differ |= rounded.loss != plain.loss;
        losses.push(rounded.loss);
        eprintln!("after {} steps: {:.4} in f16, {:.4} in f32", 3 * (i + 1), rounded.loss, plain.loss);
    }
    assert!(differ, "f16 gave the results of f32");
    assert!(losses[3] < 0.85 * losses[0], "{losses:?}");
    let length = |x: &[f32]| x.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
    let [f16, f32] = [&f16, &f32].map(|learner| learner.params().values());
    let apart: Vec<f32> = f16.iter().zip(f32).map(|(x, y)| x - y).collect();
    assert!(length(&apart) < 0.05 * length(f32), "{} of {}", length(&apart), length(f32));
}

async fn adapter_without_f16_rejects_it_with_a_next_step(_: Gpu) {
    let options = OpenOptions { without_half: true, ..OpenOptions::default() };
    let gpu = Gpu::open(options).await.expect("no adapter");
    assert!(!gpu.about().half);
    let mut half = learner(true, 3);
    let refused = half.begin_offload(&gpu, 0).unwrap_err();
    assert_eq!(refused, Fault::NoF16);
    assert!(refused.what().contains("does not support f16") && refused.next_step().contains("precision to f32"));
    assert!(!half.is_offloaded() && iteration(&mut half).loss > 0.0, "training on the processor did not continue");
    learner(false, 3).begin_offload(&gpu, 0).unwrap();
    assert_eq!(gpu.check(), Ok(()));
}

crate::common::tests!(; natively:
    products_of_rounded_factors_match_f64,
    overflow_saturates_and_nan_propagates,
    scaled_gradients_below_the_f16_range_are_kept,
    language_model_learns_in_f16_as_in_f32,
    adapter_without_f16_rejects_it_with_a_next_step,
);
