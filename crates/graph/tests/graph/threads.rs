//! Tests that a plan gives the same bits on several threads as on one thread.

use crate::nets::{Case, Learning, cross_entropy};
use graph::{Act, Adam, Executor, Graph, Isa, Layout, NodeId, Packed, Plan, models};
use math::par::Threads;
use std::sync::Arc;
use testkit::test;

/// Number of rows, large enough that calls are divided among threads.
const ROWS: usize = 331;
const WIDTH: usize = 320;

fn classifier(g: &mut Graph) -> NodeId {
    let (index, table) = (g.input("index130", [ROWS, 60]), g.param("table", [130, 257], graph::Init::FanIn));
    let x = g.embedding_bag(table, index);
    let bias = g.vector("table.bias", 257, graph::Init::Ones);
    let x = g.add(x, bias);
    let x = g.relu(x);
    let y = models::residual_net(g, x, WIDTH, 1, 290);
    let h = g.gelu(y);
    let h = models::mlp(g, h, "tail", &[4 * WIDTH, WIDTH], Act::Tanh);
    let h = g.concat(h, y);
    let p = g.softmax(h);
    let column = g.sum_rows(p);
    let h = g.div(h, column);
    let row = g.vector("row", WIDTH + 290, graph::Init::Ones);
    let h = g.mul(row, h);
    cross_entropy(g, h)
}

/// Builds attention over two sequences. Because there are few sequences, threads share the heads.
fn attending(g: &mut Graph) -> NodeId {
    let x = g.input("x", [2 * 264, 40]);
    let qkv = g.dense(x, "qkv", 3 * 160, graph::Init::FanIn);
    let y = g.causal_attention(qkv, 5, 264, true);
    cross_entropy(g, y)
}

/// Trains two steps; returns the loss, the gradients, the parameters and both moments.
fn trained(isa: Isa, build: fn(&mut Graph) -> NodeId) -> Vec<f32> {
    let (_, mut learning) = Learning::of(isa, 3, build);
    let mut found = Vec::new();
    for again in [false, true] {
        learning.train(again);
        found.push(learning.executor.output("loss")[0]);
        learning.update(isa, &Adam { max_grad_norm: 0.5, ..Adam::default() });
    }
    let Learning { grads, params, optimizer, .. } = &learning;
    [&found[..], grads, params.values(), &optimizer.m, &optimizer.v].concat()
}

fn acted(isa: Isa, layout: Layout) -> Vec<f32> {
    let mut g = Graph::new();
    let x = g.input("x", [1000, 257]);
    let y = models::residual_net(&mut g, x, WIDTH, 1, 64);
    let y = g.log_softmax(y);
    let one = g.slice_cols(y, 3, 4);
    let y = g.sub(y, one);
    let plan = Arc::new(Plan::new(&g, &[("y", y)], layout, isa).unwrap());
    let case = Case::new(&g, 4);
    let params = case.params(&g);
    let mut executor = Executor::new(&plan);
    case.fill(&mut executor);
    executor.run(&params, &Packed::new(&plan, &params));
    executor.output("y").to_vec()
}

#[track_caller]
fn alike(what: &str, run: impl Fn() -> Vec<f32> + Sync) {
    let on = |threads| Threads::of(threads).map(|threads| threads.run(&run));
    let one = on(1).expect("a pool of one thread is always possible");
    assert!(one.iter().all(|x| x.is_finite()));
    for threads in [2, 3] {
        let Some(more) = on(threads) else { continue };
        let apart = one.iter().zip(&more).position(|(a, b)| a.to_bits() != b.to_bits());
        assert_eq!(apart, None, "{what} on {threads} threads");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for isa in Isa::available() {
        alike(isa.name(), || trained(isa, classifier));
        alike(isa.name(), || trained(isa, attending));
        for layout in [Layout::Rows, Layout::Panels] {
            alike(isa.name(), || acted(isa, layout));
        }
    }
}
