//! Tests of every operation, alone and in nets. The plan's kernels, fused and unfused, must agree with the interpreter. The graph's
//! gradients must agree with central differences of the interpreter.

use crate::nets::{Case, FORWARD, LOSSES, Learning};
use crate::pieces::{
    self, HEADS, INIT, MAPS, ROWS, ZIPS, concat_and_slices, head, of_one, product, take, unused_parameter, weigh, windows,
};
use graph::{Act, Adam, Executor, Graph, Isa, Layout, NodeId, Packed, Plan, models, panels_len};
use std::sync::Arc;
use testkit::test;

/// Checks a scalar loss: compares the interpreter's gradients with central differences, and the kernels' results in f32 with the
/// interpreter's results in f64.
fn check(name: &str, build: impl Fn(&mut Graph) -> NodeId) {
    let mut g = Graph::new();
    let loss = build(&mut g);
    let gradients = g.gradients(loss);
    let case = Case::new(&g, 7);
    let values = case.reference(&g);
    let exact = Case::gradient(&g, &gradients, &values);

    // Central differences of the loss, computed by the interpreter.
    for at in (0..case.params.len()).step_by(1 + case.params.len() / 60) {
        let step = 1e-5;
        let loss_at = |shift: f64| {
            let mut moved = Case { params: case.params.clone(), inputs: case.inputs.clone() };
            moved.params[at] += shift;
            moved.reference(&g)[loss.index()][0]
        };
        let slope = (loss_at(step) - loss_at(-step)) / (2.0 * step);
        let error = (slope - exact[at]).abs() / slope.abs().max(1.0);
        assert!(error < 1e-6, "{name}: gradient {at} is {} but the slope is {slope}", exact[at]);
    }

    for isa in Isa::available() {
        let fused = Plan::training(&g, &[("loss", loss)], &gradients, isa).unwrap();
        let unfused = Plan::unfused(&g, &[("loss", loss)], Some(&gradients), Layout::Rows, isa).unwrap();
        for (kind, plan) in [("fused", fused), ("unfused", unfused)] {
            let mut learning = Learning::new(plan, case.params(&g));
            case.fill(&mut learning.executor);
            learning.grads.fill(0.25);
            // The second run adds its gradients to those of the first run, so the gradients double.
            for (times, adds) in [(1.0, false), (2.0, true)] {
                learning.train(adds);
                let what = format!("{name}, {kind}, {}, {times} times", isa.name());
                let found = learning.executor.output("loss");
                close(&format!("{what}: loss"), found, &values[loss.index()], 1e-3);
                for spec in g.table().specs() {
                    let expected: Vec<f64> = exact[spec.range()].iter().map(|v| times * v).collect();
                    close(&format!("{what}: {}", spec.name), &learning.grads[spec.range()], &expected, 1e-3);
                }
            }
        }
    }
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    testkit::close(what, found, expected, tolerance, 0.1);
}

#[test]
fn maps() {
    for (name, map) in MAPS {
        for shape in [[1, 1], [5, 7], [33, 16]] {
            check(name, |g| of_one(g, shape, map));
        }
        check(&format!("mean of {name}"), |g| {
            let x = g.param("x", [3, 5], INIT);
            let y = map(g, x);
            g.mean_all(y)
        });
    }
}

#[test]
fn zips() {
    let full = [6, 5];
    for (name, zip) in ZIPS {
        for a in [full, [1, 5], [6, 1], [1, 1]] {
            for b in [full, [1, 5], [6, 1], [1, 1]] {
                check(&format!("{name} of {a:?} and {b:?}"), |g| {
                    let (a, b) = (g.param("a", a, INIT), g.param("b", b, INIT));
                    let y = zip(g, a, b);
                    weigh(g, y)
                });
            }
        }
    }
    check("a value with itself", |g| {
        let a = g.param("a", full, INIT);
        let square = g.mul(a, a);
        let y = g.add(square, a);
        g.mean_all(y)
    });
}

#[test]
fn products() {
    for turned in [[false, false], [false, true], [true, false], [true, true]] {
        for computed in [false, true] {
            check(&format!("matmul {turned:?}, computed: {computed}"), |g| product(g, turned, computed));
        }
    }
}

#[test]
fn reductions_and_rows() {
    for shape in [[1, 1], [1, 6], [6, 1], [7, 3], [40, 18]] {
        for (name, f) in ROWS {
            check(&format!("{name} of {shape:?}"), |g| of_one(g, shape, f));
        }
    }
}

#[test]
fn attention() {
    // Covers a single row, a single head, sequences shorter and longer than a block of queries, and several sequences.
    for shape in [[1, 1, 2, 1], [10, 3, 4, 5], [36, 2, 6, 12], [39, 2, 4, 39], [70, 1, 34, 35]] {
        let [rows, heads, size, len] = shape;
        for rotary in [false, true] {
            check(&format!("attention of {shape:?}, {rotary}"), |g| pieces::attention(g, shape, rotary));
            // The rows of q, k and v are computed here, and the result of the first attention is the input of the second.
            check(&format!("two attentions, {rotary}"), |g| {
                let d = heads * size;
                let (x, w) = (g.input("x", [rows, d]), g.param("w", [3 * d, d], INIT));
                let qkv = g.matmul(x, w, false, true);
                let y = g.causal_attention(qkv, heads, len, rotary);
                let qkv = g.matmul(y, w, false, true);
                let y = g.causal_attention(qkv, heads, len, rotary);
                weigh(g, y)
            });
        }
    }
}

#[test]
fn indices_and_columns() {
    check("take", |g| take(g, 5));
    // Covers bags of a single index, negative indices, and indices beyond the table. The bag is alone, has fused neighbours, or is part of
    // a sum that must not be fused.
    for k in [1, 7] {
        let bag = |g: &mut Graph| {
            let (table, index) = (g.param("table", [5, 19], INIT), g.input("index8", [12, k]));
            let index = g.affine(index, 1.0, -2.0);
            g.embedding_bag(table, index)
        };
        check("embedding bag", |g| {
            let y = bag(g);
            weigh(g, y)
        });
        for (name, act) in [("bias", Act::None), ("bias and relu", Act::Relu), ("bias and tanh", Act::Tanh)] {
            check(&format!("embedding bag, {name}"), |g| {
                let (y, bias) = (bag(g), g.vector("bias", 19, INIT));
                let y = g.add(bias, y);
                let y = models::activate(g, y, act);
                weigh(g, y)
            });
        }
        check("relu of an embedding bag and another tensor", |g| {
            let (y, other) = (bag(g), g.param("other", [12, 19], INIT));
            let y = g.add(y, other);
            let y = g.relu(y);
            weigh(g, y)
        });
        check("embedding bag used twice", |g| {
            let y = bag(g);
            let table = g.param("table", [5, 19], INIT);
            let y = g.matmul(y, table, false, true);
            weigh(g, y)
        });
    }
    check("windows", windows);
    check("concat and slices", |g| concat_and_slices(g, 3));
    check("an unused parameter", unused_parameter);
    check("stop gradient", |g| {
        let a = g.param("a", [4, 3], INIT);
        let square = g.square(a);
        let stopped = g.stop_gradient(square);
        // The loss contains the stopped node with factor 0. The central differences also include this node, so they equal the gradient only
        // with this factor.
        let nothing = g.affine(stopped, 0.0, 0.0);
        let y = g.add(a, nothing);
        weigh(g, y)
    });
}

#[test]
fn heads() {
    for shape in [[9, 5, 4], [1, 1, 1], [40, 65, 16], [33, 300, 7]] {
        for (name, build) in HEADS {
            check(name, |g| build(g, shape));
        }
        let [rows, vocab, inp] = shape;
        check("a head that shares its weights", |g| {
            let (w, index) = (g.param("w", [vocab, inp], INIT), g.input("index4", [rows, 1]));
            let x = g.embedding_bag(w, index);
            let (y, target) = (head(g, x, vocab), g.input("target", [rows, 1]));
            let other = g.head_loss(x, w, target);
            let y = g.sub(y, other);
            let product = g.mul(y, other);
            let product = g.mean_all(product);
            let y = g.mean_all(y);
            g.add(y, product)
        });
    }
}

#[test]
fn nets() {
    for (name, build) in LOSSES {
        check(name, build);
    }
}

/// Tests that twenty training steps give the same bits on all instruction sets with fused multiply-add, and on all instruction sets without
/// it.
#[test]
fn instruction_sets_train_the_same_bits() {
    for (name, build) in LOSSES {
        let mut ends: Vec<(bool, Vec<u32>)> = Vec::new();
        for isa in Isa::available() {
            let (_, mut learning) = Learning::of(isa, 2, build);
            for _ in 0..20 {
                learning.train(false);
                learning.update(isa, &Adam { lr: 0.01, ..Adam::default() });
            }
            let bits: Vec<u32> = learning.params.values().iter().map(|v| v.to_bits()).collect();
            match ends.iter().find(|end| end.0 == isa.fused()) {
                Some(end) => assert!(end.1 == bits, "{name}: {} ends elsewhere", isa.name()),
                None => ends.push((isa.fused(), bits)),
            }
        }
    }
}

#[test]
fn panels_agree_with_rows() {
    for batch in [2, 32, 50, 96] {
        for (name, build) in FORWARD {
            let mut g = Graph::new();
            let y = build(&mut g, batch);
            let case = Case::new(&g, 3);
            let expected = &case.reference(&g)[y.index()];
            for isa in Isa::available() {
                let fused = Plan::new(&g, &[("y", y)], Layout::Panels, isa).unwrap();
                let unfused = Plan::unfused(&g, &[("y", y)], None, Layout::Panels, isa).unwrap();
                let rows = Plan::new(&g, &[("y", y)], Layout::Rows, isa).unwrap();
                for (kind, plan) in [("fused", fused), ("unfused", unfused), ("rows", rows)] {
                    let (plan, params) = (Arc::new(plan), case.params(&g));
                    let packed = Packed::new(&plan, &params);
                    let mut executor = Executor::new(&plan);
                    case.fill(&mut executor);
                    executor.run(&params, &packed);
                    let found = executor.output("y");
                    let cols = g.shape(y)[1];
                    let found: Vec<f32> = match plan.layout() {
                        Layout::Rows => found.to_vec(),
                        Layout::Panels => {
                            assert_eq!(found.len(), panels_len(batch, cols));
                            (0..batch * cols).map(|i| found[math::reference::panel_index(cols, i / cols, i % cols)]).collect()
                        }
                    };
                    close(&format!("{name}, {kind}, {}, batch {batch}", isa.name()), &found, expected, 1e-4);
                }
            }
        }
    }
}

#[test]
fn unsupported_panels_are_reported() {
    let mut g = Graph::new();
    let x = g.input("x", [64, 4]);
    let loss = g.mean_all(x);
    let error = Plan::new(&g, &[("loss", loss)], Layout::Panels, Isa::best()).unwrap_err();
    assert!(error.to_string().contains("plan this graph with Layout::Rows"), "{error}");
}

#[cfg(not(target_arch = "wasm32"))] // on wasm32, a panic ends the module
#[test]
#[should_panic(expected = "no input x")]
fn the_interpreter_wants_every_input() {
    let mut g = Graph::new();
    g.input("x", [1, 1]);
    graph::reference::evaluate(&g, &[], &[]);
}
