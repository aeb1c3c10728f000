//! Every operation, alone and in nets: the plan's kernels, fused and not, agree with the interpreter;
//! its gradients agree with central differences of the interpreter.

use crate::nets::{self, Case, ppo_loss};
use graph::{
    Act, Adam, Executor, Gradients, Graph, Init, Isa, Layout, NodeId, Optimizer, PANEL, Packed, Plan, models,
    panels_len,
};
use std::sync::Arc;
use testkit::test;

/// Judges a scalar loss: values and gradients in f64 against differences, in f32 against f64.
fn check(name: &str, build: impl Fn(&mut Graph) -> NodeId) {
    let mut g = Graph::new();
    let loss = build(&mut g);
    let gradients = g.gradients(loss);
    let case = Case::new(&g, 7);
    let values = case.reference(&g);
    let exact = exact_gradient(&g, &gradients, &values);

    // Central differences, through the interpreter.
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
            let (plan, params) = (Arc::new(plan), case.params(&g));
            let packed = Packed::new(&plan, &params);
            let mut executor = Executor::new(&plan);
            case.fill(&mut executor);
            let mut grads = vec![0.25; params.values().len()];
            executor.train(&params, &packed, &mut grads, false);
            let what = format!("{name}, {kind}, {}", isa.name());
            close(&format!("{what}: loss"), executor.output("loss"), &values[loss.index()], 1e-3);
            for spec in g.table().specs() {
                close(&format!("{what}: {}", spec.name), &grads[spec.range()], &exact[spec.range()], 1e-3);
            }
            // A second run on the same arena, added to the first, doubles everything.
            executor.train(&params, &packed, &mut grads, true);
            let double: Vec<f64> = exact.iter().map(|v| 2.0 * v).collect();
            for spec in g.table().specs() {
                close(
                    &format!("{what}: {} twice", spec.name),
                    &grads[spec.range()],
                    &double[spec.range()],
                    1e-3,
                );
            }
        }
    }
}

fn exact_gradient(g: &Graph, gradients: &Gradients, values: &[Vec<f64>]) -> Vec<f64> {
    let mut exact = vec![0.0; g.table().len()];
    for (param, node) in gradients.iter() {
        exact[g.table().specs()[param].range()].copy_from_slice(&values[node.index()]);
    }
    exact
}

/// Within `tolerance` of the largest value.
#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    let scale = expected.iter().fold(0.1f64, |m, v| m.max(v.abs()));
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(f) - e).abs() / scale;
        assert!(error < tolerance, "{what}: element {i} is {f}, not {e}");
    }
    assert!(found.len() >= expected.len(), "{what}: {} values, not {}", found.len(), expected.len());
}

/// A loss that weighs every element of x differently.
fn weigh(g: &mut Graph, x: NodeId) -> NodeId {
    let [rows, cols] = g.shape(x);
    let weights: Vec<f32> = (0..rows * cols).map(|i| ((i * 37 % 19) as f32 - 9.0) / 10.0).collect();
    let w = g.constant(&weights, [rows, cols]);
    let weighed = g.mul(x, w);
    g.sum_all(weighed)
}

type OfOne = (&'static str, fn(&mut Graph, NodeId) -> NodeId);
type OfTwo = (&'static str, fn(&mut Graph, NodeId, NodeId) -> NodeId);

const INIT: Init = Init::Uniform(1.0);

#[test]
fn maps() {
    let maps: [OfOne; 12] = [
        ("relu", |g, x| g.relu(x)),
        ("tanh", |g, x| g.tanh(x)),
        ("gelu", |g, x| g.gelu(x)),
        ("sigmoid", |g, x| g.sigmoid(x)),
        ("silu", |g, x| g.silu(x)),
        ("exp", |g, x| g.exp(x)),
        ("square", |g, x| g.square(x)),
        ("neg", |g, x| g.neg(x)),
        ("affine", |g, x| g.affine(x, -1.5, 0.25)),
        ("clamp", |g, x| g.clamp(x, -0.4, 0.3)),
        ("ln", |g, x| {
            let x = g.affine(x, 0.5, 1.0);
            g.ln(x)
        }),
        ("sqrt", |g, x| {
            let x = g.affine(x, 0.5, 1.0);
            g.sqrt(x)
        }),
    ];
    for (name, map) in maps {
        for shape in [[1, 1], [5, 7], [33, 16]] {
            check(name, |g| {
                let x = g.param("x", shape, INIT);
                let y = map(g, x);
                weigh(g, y)
            });
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
    let zips: [OfTwo; 7] = [
        ("add", Graph::add),
        ("sub", Graph::sub),
        ("mul", Graph::mul),
        ("div", |g, a, b| {
            let b = g.affine(b, 0.5, 1.5);
            g.div(a, b)
        }),
        ("min", Graph::min),
        ("max", Graph::max),
        ("greater", |g, a, b| {
            let picked = g.greater(a, b);
            g.mul(picked, a)
        }),
    ];
    let full = [6, 5];
    for (name, zip) in zips {
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
    for (ta, tb) in [(false, false), (false, true), (true, false), (true, true)] {
        let turn = |t: bool, [a, b]: [usize; 2]| if t { [b, a] } else { [a, b] };
        check(&format!("matmul {ta} {tb}"), |g| {
            let a = g.param("a", turn(ta, [9, 4]), INIT);
            let b = g.param("b", turn(tb, [4, 6]), INIT);
            let y = g.matmul(a, b, ta, tb);
            weigh(g, y)
        });
        check(&format!("matmul {ta} {tb} of what was computed"), |g| {
            let a = g.param("a", turn(ta, [9, 4]), INIT);
            let b = g.param("b", turn(tb, [4, 6]), INIT);
            let (a, b) = (g.tanh(a), g.tanh(b));
            let y = g.matmul(a, b, ta, tb);
            weigh(g, y)
        });
    }
}

#[test]
fn reductions_and_rows() {
    for shape in [[1, 1], [1, 6], [6, 1], [7, 3], [40, 18]] {
        let rows: [OfOne; 10] = [
            ("sum of rows", Graph::sum_rows),
            ("sum of columns", Graph::sum_cols),
            ("sum", Graph::sum_all),
            ("softmax", Graph::softmax),
            ("log softmax", Graph::log_softmax),
            ("broadcast sums", |g, x| {
                let shape = g.shape(x);
                let sums = g.sum_rows(x);
                g.broadcast(sums, shape)
            }),
            ("layer norm", |g, x| g.norm(x, "norm")),
            ("rms norm", |g, x| {
                let cols = g.shape(x)[1];
                let gamma = g.vector("gamma", cols, INIT);
                g.rms_norm(x, gamma, 1e-5)
            }),
            ("dropout", |g, x| {
                let step = g.input("index100", [1, 1]);
                g.dropout(x, 0.3, math::Rng::new(7, 2), step)
            }),
            ("two norms", |g, x| {
                let y = g.norm(x, "norm.0");
                g.norm(y, "norm.1")
            }),
        ];
        for (name, f) in rows {
            check(&format!("{name} of {shape:?}"), |g| {
                let x = g.param("x", shape, INIT);
                let y = f(g, x);
                weigh(g, y)
            });
        }
    }
}

#[test]
fn attention() {
    // One row, one head, sequences shorter and longer than a block of queries, and several sequences.
    for (rows, heads, size, len) in
        [(1, 1, 2, 1), (10, 3, 4, 5), (36, 2, 6, 12), (39, 2, 4, 39), (70, 1, 34, 35)]
    {
        for rotary in [false, true] {
            check(&format!("attention of {rows} rows, {heads} heads of {size}, {rotary}"), |g| {
                let x = g.param("x", [rows, 3 * heads * size], INIT);
                let y = g.causal_attention(x, heads, len, rotary);
                weigh(g, y)
            });
            // What is turned is needed elsewhere too, and what comes in is computed.
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
    check("take", |g| {
        let (x, index) = (g.param("x", [9, 5], INIT), g.input("index5", [9, 1]));
        let y = g.take(x, index);
        weigh(g, y)
    });
    // One row each, and lists in which some name nothing and some go beyond the table; alone, with what its kernel takes
    // along, and in sums that it must not.
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
    check("windows", |g| {
        let (corpus, starts) = (g.input("index5", [1, 40]), g.input("index36", [6, 1]));
        let (index, next) = (g.windows(corpus, starts, 7, 0), g.windows(corpus, starts, 7, 1));
        let table = g.param("table", [5, 3], INIT);
        let (x, y) = (g.embedding_bag(table, index), g.embedding_bag(table, next));
        let y = g.mul(x, y);
        weigh(g, y)
    });
    check("concat and slices", |g| {
        let (a, b) = (g.param("a", [4, 3], INIT), g.param("b", [4, 2], INIT));
        let ab = g.concat(a, b);
        let square = g.square(ab);
        let middle = g.slice_cols(square, 1, 4);
        let y = g.mul(middle, a);
        weigh(g, y)
    });
    check("stop gradient", |g| {
        let a = g.param("a", [4, 3], INIT);
        let square = g.square(a);
        let stopped = g.stop_gradient(square);
        // The slope sees a constant only through the interpreter's own rule, so weigh it with 0.
        let nothing = g.affine(stopped, 0.0, 0.0);
        let y = g.add(a, nothing);
        weigh(g, y)
    });
}

/// A head whose loss is a mean, with gradients in its own pass; whose rows are weighed, so that they wait; and with a part of
/// the gradients only.
#[test]
fn heads() {
    for [rows, vocab, inp] in [[9, 5, 4], [1, 1, 1], [40, 65, 16], [33, 300, 7]] {
        let head = |g: &mut Graph, x: NodeId| {
            let w = g.param("w", [vocab, inp], INIT);
            let target = g.input(&format!("index{vocab}"), [rows, 1]);
            g.head_loss(x, w, target)
        };
        check("mean of a head's losses", |g| {
            let x = g.param("x", [rows, inp], INIT);
            let y = head(g, x);
            g.mean_all(y)
        });
        check("weighed losses of a head", |g| {
            let x = g.param("x", [rows, inp], INIT);
            let y = head(g, x);
            weigh(g, y)
        });
        check("a head of an input", |g| {
            let x = g.input("x", [rows, inp]);
            let y = head(g, x);
            g.sum_all(y)
        });
        check("a head that shares its weights", |g| {
            let (w, index) = (g.param("w", [vocab, inp], INIT), g.input("index4", [rows, 1]));
            let x = g.embedding_bag(w, index);
            let (y, target) = (head(g, x), g.input("target", [rows, 1]));
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
fn an_unused_parameter_has_gradient_zero() {
    check("unused", |g| {
        let a = g.param("a", [4, 3], INIT);
        g.param("b", [2, 2], INIT);
        weigh(g, a)
    });
}

#[test]
fn nets() {
    for (name, build) in nets::LOSSES {
        check(name, build);
    }
    check("ppo", |g| ppo_loss(g, 40).0);
}

/// Twenty steps of training end in the same bits on all instruction sets whose multiply-add rounds alike.
#[test]
fn instruction_sets_train_the_same_bits() {
    let ppo = |g: &mut Graph| ppo_loss(g, 40).0;
    for (name, build) in nets::LOSSES.into_iter().chain([("ppo", ppo as fn(&mut Graph) -> NodeId)]) {
        let mut ends: Vec<(bool, Vec<u32>)> = Vec::new();
        for isa in Isa::available() {
            let mut g = Graph::new();
            let loss = build(&mut g);
            let gradients = g.gradients(loss);
            let plan = Arc::new(Plan::training(&g, &[("loss", loss)], &gradients, isa).unwrap());
            let case = Case::new(&g, 2);
            let mut params = case.params(&g);
            let (mut packed, mut executor) = (Packed::new(&plan, &params), Executor::new(&plan));
            case.fill(&mut executor);
            let mut grads = vec![0.0; params.values().len()];
            let mut optimizer = Optimizer::new(&params);
            for _ in 0..20 {
                executor.train(&params, &packed, &mut grads, false);
                optimizer.step(isa, &Adam { lr: 0.01, ..Adam::default() }, &mut params, &grads);
                packed.pack(&params);
            }
            let bits: Vec<u32> = params.values().iter().map(|v| v.to_bits()).collect();
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
        for (name, build) in nets::FORWARD {
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
                            let at = |i: usize| (i / cols, i % cols);
                            (0..batch * cols)
                                .map(|i| found[(at(i).0 / PANEL * cols + at(i).1) * PANEL + at(i).0 % PANEL])
                                .collect()
                        }
                    };
                    close(&format!("{name}, {kind}, {}, batch {batch}", isa.name()), &found, expected, 1e-4);
                }
            }
        }
    }
}

#[test]
fn what_panels_lack_is_said() {
    let mut g = Graph::new();
    let x = g.input("x", [64, 4]);
    let loss = g.mean_all(x);
    let error = Plan::new(&g, &[("loss", loss)], Layout::Panels, Isa::best()).unwrap_err();
    assert!(error.to_string().contains("plan this graph with Layout::Rows"), "{error}");
}

#[cfg(not(target_arch = "wasm32"))] // a panic there ends the module
#[test]
#[should_panic(expected = "no input x")]
fn the_interpreter_wants_every_input() {
    let mut g = Graph::new();
    g.input("x", [1, 1]);
    graph::reference::evaluate(&g, &[], &[]);
}
