//! Offloaded training steps are bit-identical to local steps. In these tests, the machine is the CPU.

use graph::{Adam, Executor, Graph, Init, Layout, Optimizer, Packed, Params, Plan};
use learn::offload::{Local, Machine, TrainResult, TrainStateRef};
use math::{Isa, Rng};
use std::sync::Arc;

#[test]
fn offloaded_steps_match_local_steps() {
    let mut g = Graph::new();
    let x = g.input("x", [20, 6]);
    let y = g.dense(x, "0", 16, Init::FanIn);
    let y = g.tanh(y);
    let y = g.dense(y, "1", 3, Init::FanIn);
    let y = g.square(y);
    let loss = g.mean_all(y);
    let gradients = g.gradients(loss);
    let plan = Arc::new(Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap());
    let mut params = Params::new(plan.table(), 3);
    let mut optimizer = Optimizer::new(&params);
    let mut packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    let mut grads = vec![0.0; params.values().len()];
    let state = TrainStateRef { weights: params.values(), m: &optimizer.m, v: &optimizer.v, steps: optimizer.steps };
    let mut trainer = Local.trainer(&plan, &state).unwrap();
    let mut trained = TrainResult::default();
    assert_eq!(trainer.poll(&mut trained), Ok(false), "no result before a request");
    let mut x = vec![0.0; 120];
    for step in 0..12 {
        Rng::new(7, step).fill_normal(Isa::best(), 0, &mut x);
        if step == 5 {
            x[3] = f32::NAN;
        }
        let adam = Adam { lr: if step < 4 { 0.01 } else { 0.003 }, max_grad_norm: 0.5, ..Adam::default() };
        executor.input_mut("x").copy_from_slice(&x);
        executor.train(&params, &packed, &mut grads, false);
        let norm = optimizer.step(Isa::best(), &adam, &mut params, &grads);
        packed.pack(&params);
        trainer.set_input("x", &x).unwrap();
        trainer.step(&adam).unwrap();
        if step % 3 == 2 {
            trainer.ask().unwrap();
            assert_eq!(trainer.poll(&mut trained), Ok(true));
            assert!(trained.weights == params.values() && trained.m == optimizer.m[..]);
            assert!(trained.v == optimizer.v[..] && trained.steps == optimizer.steps);
            assert_eq!(trained.norm.to_bits(), norm.to_bits());
            assert_eq!(trained.outputs[0].1[0].to_bits(), executor.output("loss")[0].to_bits());
        }
    }
    assert_eq!(trained.steps, 11, "a gradient with NaN is skipped");
}

#[test]
fn an_evaluator_returns_one_result_per_run() {
    let mut g = Graph::new();
    let x = g.input("x", [4, 6]);
    let y = g.dense(x, "0", 3, Init::FanIn);
    let plan = Arc::new(Plan::new(&g, &[("y", y)], Layout::Rows, Isa::best()).unwrap());
    let params = Params::new(plan.table(), 3);
    let mut executor = Executor::new(&plan);
    let mut evaluator = Local.evaluator(&plan, params.values()).unwrap();
    let (mut x, mut values) = (vec![0.0; 24], Vec::new());
    for stream in 0..3 {
        Rng::new(7, stream).fill_normal(Isa::best(), 0, &mut x);
        assert_eq!(evaluator.poll(&mut values), Ok(false), "no result before a request");
        evaluator.set_input("x", &x).unwrap();
        evaluator.run().unwrap();
        assert_eq!(evaluator.poll(&mut values), Ok(true));
        executor.input_mut("x").copy_from_slice(&x);
        executor.run(&params, &Packed::new(&plan, &params));
        assert_eq!(values, [executor.output("y")]);
    }
}
