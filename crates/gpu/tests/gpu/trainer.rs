//! Tests of training steps and evaluations of a plan on a device, compared with the local trainer and the local evaluator on the CPU. The
//! tests poll in a loop. They are native only, because a browser delivers results only between tasks.

use crate::half;
use gpu::Gpu;
use graph::{Adam, Graph, Init, Layout, Params, Plan};
use learn::Machine;
use learn::offload::{Local, PlanEvaluator, PlanTrainer, TrainResult, TrainStateRef};
use learn::words::{Config, Mlp, Norm, Positions, Shape, plan_training};
use math::{Isa, Rng};
use std::sync::Arc;

/// Requests the state and polls until it arrives.
async fn answer(trainer: &mut dyn PlanTrainer) -> TrainResult {
    let mut trained = TrainResult::default();
    trainer.ask().unwrap();
    while !trainer.poll(&mut trained).unwrap() {}
    trained
}

/// Returns initial weights, and moments of 0.
fn start(plan: &Plan) -> (Params, Vec<f32>) {
    (Params::new(plan.table(), 3), vec![0.0; plan.table().len()])
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32]) {
    testkit::close(what, found, expected, 1e-4, 1e-3);
}

async fn net_trains_as_on_the_processor(gpu: Gpu) {
    let mut g = Graph::new();
    let x = g.input("x", [48, 6]);
    let target = g.input("target", [48, 3]);
    let y = g.dense(x, "0", 16, Init::FanIn);
    let y = g.tanh(y);
    let y = g.dense(y, "1", 3, Init::FanIn);
    let error = g.sub(y, target);
    let square = g.square(error);
    let loss = g.mean_all(square);
    let gradients = g.gradients(loss);
    let plan = Arc::new(Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap());
    let (params, zeros) = start(&plan);
    let state = TrainStateRef { weights: params.values(), m: &zeros, v: &zeros, steps: 0 };
    let mut there = gpu.trainer(&plan, &state).unwrap();
    let mut here = Local.trainer(&plan, &state).unwrap();
    let start = answer(&mut *there).await;
    assert!(start.weights == params.values() && start.steps == 0);
    let steps = |trainer: &mut dyn PlanTrainer, range: std::ops::Range<u32>| {
        for step in range {
            let (mut x, mut target) = (vec![0.0; 48 * 6], vec![0.0; 48 * 3]);
            Rng::new(7, step).fill_normal(Isa::best(), 0, &mut x);
            Rng::new(7, step).fill_normal(Isa::best(), 1, &mut target);
            // The input of step 3 has a NaN. This step is skipped and does not count.
            x[0] = if step == 3 { f32::NAN } else { x[0] };
            let lr = if step < 5 { 0.01 } else { 0.003 };
            trainer.set_input("x", &x).unwrap();
            trainer.set_input("target", &target).unwrap();
            trainer.step(&Adam { lr, max_grad_norm: 0.5, ..Adam::default() }).unwrap();
        }
    };
    for range in [0..6, 6..9] {
        steps(&mut *there, range.clone());
        steps(&mut *here, range.clone());
        let (found, expected) = (answer(&mut *there).await, answer(&mut *here).await);
        assert_eq!(found.steps, expected.steps);
        assert_eq!(found.steps, u64::from(range.end) - 1);
        close("loss", &found.outputs[0].1, &expected.outputs[0].1);
        close("weights", &found.weights, &expected.weights);
        close("m", &found.m, &expected.m);
        close("v", &found.v, &expected.v);
        close("norm", &[found.norm], &[expected.norm]);
    }
    // A restart from the same state gives the same bits, whether or not results are read back between the steps.
    there.set_state(&state).unwrap();
    steps(&mut *there, 0..9);
    let again = answer(&mut *there).await;
    there.set_state(&state).unwrap();
    for step in 0..9 {
        steps(&mut *there, step..step + 1);
        answer(&mut *there).await;
    }
    let apart = answer(&mut *there).await;
    assert!(again.weights == apart.weights && again.m == apart.m && again.v == apart.v);
}

/// Covers a plan with an embedding bag, a hidden layer and log probabilities, as in an evaluator of states.
async fn plan_evaluates_as_on_the_processor(gpu: Gpu) {
    let mut g = Graph::new();
    let active = g.input("active", [40, 5]);
    let table = g.param("table", [30, 32], Init::Uniform(0.5));
    let x = g.embedding_bag(table, active);
    let x = g.relu(x);
    let x = g.dense(x, "hidden", 24, Init::Kaiming);
    let x = g.relu(x);
    let (value, logits) = (g.dense(x, "value", 1, Init::FanIn), g.dense(x, "policy", 6, Init::FanIn));
    let logs = g.log_softmax(logits);
    let ports = [("value", value), ("logs", logs)];
    let plan = Arc::new(Plan::new(&g, &ports, Layout::Rows, Isa::best()).unwrap());
    let weights = [3, 4].map(|seed| Params::new(plan.table(), seed).values().to_vec());
    let mut there = gpu.evaluator(&plan, &weights[0]).unwrap();
    let mut here = Local.evaluator(&plan, &weights[0]).unwrap();
    let run = |evaluator: &mut dyn PlanEvaluator, active: &[f32]| {
        let mut outputs = Vec::new();
        assert_eq!(evaluator.poll(&mut outputs), Ok(false), "a result before the first run");
        evaluator.set_input("active", active).unwrap();
        evaluator.run().unwrap();
        while !evaluator.poll(&mut outputs).unwrap() {}
        outputs
    };
    for weights in &weights {
        for first in 0..3 {
            let active: Vec<f32> = (0..200).map(|i| ((7 * i + first) % 30) as f32).collect();
            there.set_weights(weights).unwrap();
            here.set_weights(weights).unwrap();
            let (found, expected) = (run(&mut *there, &active), run(&mut *here, &active));
            assert_eq!([found[0].len(), found[1].len()], [40, 240]);
            close("value", &found[0], &expected[0]);
            close("logs", &found[1], &expected[1]);
        }
    }
    there.run().unwrap();
    assert!(matches!(there.run(), Err(learn::Fault::Refused { .. })), "a second run was accepted");
}

/// Returns small transformers like those in the words room. Together they have every norm, position encoding and layer kind. One run of the
/// plan processes three sequences, which are half of a minibatch.
fn transformers() -> [Config; 5] {
    let room = half::config(false);
    let (norm, positions, mlp) = (Norm::Layer, Positions::Learned, Mlp::Gelu);
    let shape = Shape { vocab: 21, width: 24, heads: 2, context: 35, norm, positions, mlp, bias: true, ..room.shape };
    let plain = Config { shape, batch: 6, micro: 3, ..room };
    let with = |dropout: f32, change: fn(&mut Shape)| {
        let mut config = Config { dropout, ..plain };
        change(&mut config.shape);
        config
    };
    [
        plain,
        with(0.2, |s| (s.norm, s.positions, s.mlp, s.tied, s.bias) = (Norm::Rms, Positions::Rotary, Mlp::SwiGlu, false, false)),
        with(0.1, |s| s.positions = Positions::Rotary),
        with(0.0, |s| (s.norm, s.tied) = (Norm::Rms, false)),
        with(0.0, |s| (s.mlp, s.bias) = (Mlp::SwiGlu, false)),
    ]
}

/// Number of tokens of the training text.
const TEXT: usize = 400;

fn text() -> Vec<f32> {
    (0..TEXT).map(|i| ((i * i + i / 3) % 21) as f32).collect()
}

/// Covers optimiser steps of one to three accumulated runs, for every norm, position encoding and layer kind.
async fn transformer_trains_as_on_the_processor(gpu: Gpu) {
    // The first two transformers together have every norm, position encoding and layer kind.
    for config in transformers().into_iter().take(if testkit::all() { 5 } else { 2 }) {
        let plan = Arc::new(plan_training(&config, TEXT, 5, Isa::best()).unwrap());
        let (params, zeros) = start(&plan);
        let state = TrainStateRef { weights: params.values(), m: &zeros, v: &zeros, steps: 0 };
        let mut there = gpu.trainer(&plan, &state).unwrap();
        let mut here = Local.trainer(&plan, &state).unwrap();
        let adam = |step: u32| Adam {
            lr: 0.002 + 0.0005 * step as f32,
            weight_decay: 0.1,
            matrices_only: true,
            max_grad_norm: 1.0,
            ..Adam::default()
        };
        let run = |trainer: &mut dyn PlanTrainer, number: u32| {
            let starts = [0, 1, 2].map(|i| ((number * 97 + i * 131) % 365) as f32);
            trainer.set_input("starts", &starts).unwrap();
            if config.dropout > 0.0 {
                trainer.set_input("step", &[number as f32]).unwrap();
            }
        };
        let mut first = 0.0;
        for trainer in [&mut *there, &mut *here] {
            trainer.set_input("corpus", &text()).unwrap();
        }
        for step in 0..12 {
            for trainer in [&mut *there, &mut *here] {
                // Covers steps with one, two and three accumulated runs.
                let runs = step % 3 + 1;
                for i in 0..runs {
                    run(trainer, 3 * step + i);
                    if runs > 1 {
                        trainer.accumulate().unwrap();
                    }
                }
                match runs {
                    1 => trainer.step(&adam(step)).unwrap(),
                    _ => trainer.update(&adam(step)).unwrap(),
                }
            }
            let (found, expected) = (answer(&mut *there).await, answer(&mut *here).await);
            let what = format!("{config:?}, step {step}");
            close(&format!("{what}: loss"), &found.outputs[0].1, &expected.outputs[0].1);
            close(&format!("{what}: norm"), &[found.norm], &[expected.norm]);
            if step == 0 {
                // After one step, the first moment is proportional to the gradient.
                close(&format!("{what}: gradient"), &found.m, &expected.m);
                first = found.outputs[0].1[0];
            }
            if step == 11 {
                assert!(found.outputs[0].1[0] < first, "{what}: the loss did not fall");
                assert_eq!(found.steps, 12);
                let mut small = TrainResult::default();
                there.request_outputs().unwrap();
                while !there.poll(&mut small).unwrap() {}
                assert_eq!((small.steps, &small.outputs, small.norm), (12, &found.outputs, found.norm));
                assert!(small.weights.is_empty() && small.m.is_empty() && small.v.is_empty());
            }
        }
    }
}

/// Compares gradients of f16 matrix products with gradients of f32 matrix products. Each transformer is tested with two factors of the mean
/// loss: 1/2 and 1/1,000,000. Both tests have the same tolerance, because small gradients must not lose precision in f16.
async fn transformer_gradients_in_f16_match_f32(gpu: Gpu) {
    if !gpu.about().half {
        return testkit::skip(format_args!("f16: the adapter {} has none", gpu.about().name));
    }
    let [plain, other, ..] = transformers();
    for config in [plain, other].into_iter().flat_map(|config| [config, Config { batch: 3_000_000, ..config }]) {
        let plan = plan_training(&config, TEXT, 5, Isa::best()).unwrap();
        let (params, zeros) = start(&plan);
        let state = TrainStateRef { weights: params.values(), m: &zeros, v: &zeros, steps: 0 };
        let mut found = Vec::new();
        for half in [false, true] {
            let mut trainer = gpu.trainer(&Arc::new(plan.clone().with_half(half)), &state).unwrap();
            trainer.set_input("corpus", &text()).unwrap();
            trainer.set_input("starts", &[3.0, 170.0, 300.0]).unwrap();
            if config.dropout > 0.0 {
                trainer.set_input("step", &[1.0]).unwrap();
            }
            trainer.step(&Adam::default()).unwrap();
            found.push(answer(&mut *trainer).await);
        }
        let [plain, half] = &found[..] else { unreachable!() };
        let apart = |x: &[f32], y: &[f32]| {
            let length = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
            let difference = length(&mut x.iter().zip(y).map(|(x, y)| f64::from(x - y)));
            difference / length(&mut y.iter().map(|&y| f64::from(y)))
        };
        // Compares each parameter separately, so that larger gradients do not hide a small gradient.
        for spec in plan.table().specs() {
            let by = apart(&half.m[spec.range()], &plain.m[spec.range()]);
            assert!(by < 5e-3, "{config:?}: the gradient of {} differs by {by}", spec.name);
        }
        let by = apart(&half.m, &plain.m);
        assert!(by > 1e-5, "{config:?}: f16 gave the results of f32");
        eprintln!("{config:?}: gradients differ by {by:.1e}");
    }
}

crate::common::tests!(; natively:
    transformer_gradients_in_f16_match_f32,
    transformer_trains_as_on_the_processor,
    net_trains_as_on_the_processor,
    plan_evaluates_as_on_the_processor,
);
