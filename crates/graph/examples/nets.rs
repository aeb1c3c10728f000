//! Times whole nets on one core against the multiply-add peak measured in the same run:
//! `cargo run --release -p graph --example nets`.

use graph::{Act, Adam, Executor, Graph, Isa, Layout, NodeId, Optimizer, Packed, Params, Plan, models};
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), graph::PlanError> {
    let isa = Isa::best();
    let start = Instant::now();
    let now = move || start.elapsed().as_secs_f64();
    let peak = math::peak::Peak::new(isa, None, &now).gflops(&now);
    println!("{}: peak {peak:.0} GFLOP/s a core", isa.name());

    for (batch, layout) in [(64, Layout::Panels), (64, Layout::Rows), (256, Layout::Panels), (256, Layout::Rows)] {
        let mut g = Graph::new();
        let x = g.input("x", [batch, 330]);
        let y = models::residual_net(&mut g, x, 128, 7, 65);
        let plan = Arc::new(Plan::new(&g, &[("y", y)], layout, isa)?);
        let params = Params::new(g.table(), 1);
        let packed = Packed::new(&plan, &params);
        let mut executor = Executor::new(&plan);
        fill(executor.input_mut("x"));
        let s = fastest(&mut || executor.run(&params, &packed));
        let rate = batch as f64 / s;
        let share = 2.0 * products(&g) * rate / peak / 1e9;
        println!("net284k batch {batch} {layout:?}: {:.0}k states/s, {share:.3} of peak", rate / 1e3);
    }

    let mut g = Graph::new();
    let x = g.input("x", [64, 144]);
    let y = models::mlp(&mut g, x, "net", &[128, 64, 6], Act::Relu);
    let index = g.input("index", [64, 1]);
    let log_p = g.log_softmax(y);
    let taken = g.take(log_p, index);
    let mean = g.mean_all(taken);
    let loss = g.neg(mean);
    train("144-128-64-6 batch 64", &mut g, loss, 64, isa, peak)?;

    for rows in [256, 512] {
        let mut g = Graph::new();
        let obs = g.input("obs", [rows, 4]);
        let logits = models::mlp(&mut g, obs, "policy", &[64, 64, 2], Act::Tanh);
        let value = models::mlp(&mut g, obs, "value", &[64, 64, 1], Act::Tanh);
        let loss = ppo_loss(&mut g, logits, value);
        train(&format!("ppo 4-64-64-2|1 rows {rows}"), &mut g, loss, rows, isa, peak)?;
    }
    Ok(())
}

/// PPO's clipped loss with a value loss and an entropy bonus.
fn ppo_loss(g: &mut Graph, logits: NodeId, value: NodeId) -> NodeId {
    let rows = g.shape(logits)[0];
    let [action, old, advantage, target] = ["action", "old_log_p", "advantage", "return"].map(|name| g.input(name, [rows, 1]));
    let clip = g.input("clip", [1, 1]);
    let log_ps = g.log_softmax(logits);
    let log_p = g.take(log_ps, action);
    let log_ratio = g.sub(log_p, old);
    let ratio = g.exp(log_ratio);
    let (high, low) = (g.affine(clip, 1.0, 1.0), g.affine(clip, -1.0, 1.0));
    let held = g.min(ratio, high);
    let held = g.max(held, low);
    let (plain, clipped) = (g.mul(ratio, advantage), g.mul(held, advantage));
    let surrogate = g.min(plain, clipped);
    let surrogate = g.mean_all(surrogate);
    let error = g.sub(value, target);
    let error = g.square(error);
    let value_loss = g.mean_all(error);
    let value_loss = g.affine(value_loss, 0.5, 0.0);
    let p = g.exp(log_ps);
    let p_log_p = g.mul(p, log_ps);
    let p_log_p = g.sum_all(p_log_p);
    let entropy_loss = g.affine(p_log_p, 0.01 / rows as f32, 0.0);
    let loss = g.sub(value_loss, surrogate);
    g.add(loss, entropy_loss)
}

fn train(name: &str, g: &mut Graph, loss: NodeId, rows: usize, isa: Isa, peak: f64) -> Result<(), graph::PlanError> {
    let forward = products(g) * rows as f64;
    let first: f64 = g.table().specs().iter().filter(|s| s.name.ends_with(".0.weight")).map(|s| s.len() as f64).sum();
    // The first layers need no gradient of their input.
    let flops = 2.0 * (3.0 * forward - first * rows as f64);
    let gradients = g.gradients(loss);
    let plan = Arc::new(Plan::training(g, &[("loss", loss)], &gradients, isa)?);
    let mut params = Params::new(g.table(), 1);
    let mut packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    let mut grads = vec![0.0; params.values().len()];
    let mut optimizer = Optimizer::new(&params);
    for (name, _) in g.inputs() {
        fill(executor.input_mut(name));
    }
    let adam = Adam { lr: 0.0, ..Adam::default() };
    let train = fastest(&mut || executor.train(&params, &packed, &mut grads, false));
    let step = fastest(&mut || {
        optimizer.step(isa, &adam, &mut params, &grads);
    });
    let pack = fastest(&mut || packed.pack(&params));
    let all = fastest(&mut || {
        executor.train(&params, &packed, &mut grads, false);
        optimizer.step(isa, &adam, &mut params, &grads);
        packed.pack(&params);
    });
    println!(
        "{name}: {:.1} us = forward + backward {:.1} ({:.3} of peak) + Adam {:.1} + pack {:.1}; {} kernels, arena {} of {} KB",
        all * 1e6,
        train * 1e6,
        flops / train / peak / 1e9,
        step * 1e6,
        pack * 1e6,
        plan.describe().len(),
        plan.arena_bytes() / 1024,
        plan.unshared_bytes() / 1024,
    );
    Ok(())
}

/// Multiply-adds of the forward pass a row.
fn products(g: &Graph) -> f64 {
    g.table().specs().iter().filter(|s| !s.vector).map(|s| s.len() as f64).sum()
}

fn fill(values: &mut [f32]) {
    values.iter_mut().enumerate().for_each(|(i, v)| *v = (i % 7) as f32 / 7.0 - 0.4);
}

/// Seconds of a call: the fastest of many short stretches.
fn fastest(f: &mut dyn FnMut()) -> f64 {
    let mut calls = 1;
    let mut stretch = |calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed().as_secs_f64()
    };
    while stretch(calls) < 1e-3 {
        calls *= 2;
    }
    (0..200).map(|_| stretch(calls)).fold(f64::INFINITY, f64::min) / f64::from(calls)
}
