//! Tests of memory: packing, forward pass, backward pass and update allocate nothing after their first call.

use crate::nets::{Case, FORWARD, LOSSES, Learning, ppo_loss};
use graph::{Adam, Executor, Graph, Init, Isa, Layout, Packed, Plan};
use std::sync::Arc;
use testkit::test;

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[track_caller]
fn allocates_nothing(what: &str, f: &mut dyn FnMut()) {
    f();
    assert_eq!(testkit::allocations(f), 0, "{what} allocates");
}

#[test]
fn training_allocates_nothing() {
    for (name, build) in LOSSES {
        for isa in Isa::available() {
            let (_, mut learning) = Learning::of(isa, 1, build);
            let input = learning.executor.plan().inputs()[0].name.clone();
            allocates_nothing(name, &mut || {
                learning.executor.input_mut(&input)[0] = 0.5;
                learning.train(false);
                learning.train(true);
                learning.update(isa, &Adam::default());
                assert!(learning.executor.output("loss")[0].is_finite());
            });
        }
    }
}

#[test]
fn inference_allocates_nothing() {
    for (name, build) in FORWARD {
        for layout in [Layout::Rows, Layout::Panels] {
            let mut g = Graph::new();
            let y = build(&mut g, 64);
            let plan = Arc::new(Plan::new(&g, &[("y", y)], layout, Isa::best()).unwrap());
            let params = Case::new(&g, 1).params(&g);
            let packed = Packed::new(&plan, &params);
            let mut executor = Executor::new(&plan);
            allocates_nothing(name, &mut || executor.run(&params, &packed));
        }
    }
}

#[test]
fn tensors_share_memory() {
    let mut g = Graph::new();
    let loss = ppo_loss(&mut g, 256).0;
    let gradients = g.gradients(loss);
    let plan = Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap();
    assert!(10 * plan.arena_bytes() < 6 * plan.unshared_bytes(), "{} of {}", plan.arena_bytes(), plan.unshared_bytes());
}

/// Tests that the sizes of tensors with 2^32 floats are counted in full. Such a size exceeds the lengths of a 32-bit platform.
#[test]
fn unaddressable_sizes_are_counted_in_full() {
    const WIDTH: usize = 1 << 16;
    let square = (WIDTH as u64).pow(2);
    let mut g = Graph::new();
    let x = g.input("x", [WIDTH, WIDTH]);
    let y = g.dense(x, "first", WIDTH, Init::FanIn);
    let y = g.relu(y);
    let y = g.dense(y, "second", WIDTH, Init::FanIn);
    assert_eq!(g.table().bytes(), 4 * 2 * (square + WIDTH as u64));
    let plan = Plan::new(&g, &[("y", y)], Layout::Rows, Isa::best()).unwrap();
    assert_eq!(plan.unshared_bytes(), 4 * 3 * square);
    // The input keeps its memory during the run. Therefore no tensor can share memory with it, and the arena holds three tensors.
    assert_eq!(plan.arena_bytes(), 4 * 3 * square);
    let plan = Plan::new(&g, &[("y", y)], Layout::Panels, Isa::best()).unwrap();
    assert_eq!(plan.unshared_bytes(), 4 * 3 * square);
}
