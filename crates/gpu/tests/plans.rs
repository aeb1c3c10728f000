//! Plans on a GPU against the interpreter in 64 bits and the processor's executor: every operation alone on odd sizes,
//! nets, PPO's own plans, their gradients, and Adam; regrouped, and with one kernel for each node.

mod common;
#[path = "../../graph/tests/graph/nets.rs"]
mod nets;

use gpu::{Executor, Gpu};
use graph::{Graph, Init, Isa, Layout, NodeId, Packed, Plan};
use nets::Case;
use std::sync::Arc;

/// In parts of the largest number of what belongs together.
const TOLERANCE: f64 = 5e-5;

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.1f64, |most, v| most.max(v.abs()));
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(f) - e).abs() / scale;
        assert!(error < tolerance, "{what}: element {i} is {f}, not {e}: {error} of the largest off");
    }
}

fn in_64_bits(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

fn executors(gpu: &Gpu, plan: &Plan) -> [(&'static str, Executor); 2] {
    [
        ("regrouped", Executor::new(gpu, plan).unwrap()),
        ("one by one", Executor::one_by_one(gpu, plan).unwrap()),
    ]
}

/// Judges a scalar loss and its gradients.
async fn check(gpu: &Gpu, name: &str, build: impl Fn(&mut Graph) -> NodeId) {
    let mut g = Graph::new();
    let loss = build(&mut g);
    let gradients = g.gradients(loss);
    let case = Case::new(&g, 7);
    let values = case.reference(&g);
    let mut exact = vec![0.0; g.table().len()];
    for (param, node) in gradients.iter() {
        exact[g.table().specs()[param].range()].copy_from_slice(&values[node.index()]);
    }
    let isa = Isa::best();
    let fused = Plan::training(&g, &[("loss", loss)], &gradients, isa).unwrap();
    let unfused = Plan::unfused(&g, &[("loss", loss)], Some(&gradients), Layout::Rows, isa).unwrap();
    for (kind, plan) in [("fused", fused), ("unfused", unfused)] {
        let plan = Arc::new(plan);
        let mut processor = graph::Executor::new(&plan);
        case.fill(&mut processor);
        let params = case.params(&g);
        let mut grads = vec![0.0; params.values().len()];
        processor.train(&params, &Packed::new(&plan, &params), &mut grads, false);
        for (grouped, mut executor) in executors(gpu, &plan) {
            executor.set_params(case.params(&g).values());
            for (input, _, values) in &case.inputs {
                executor.set_input(input, &values.iter().map(|&v| v as f32).collect::<Vec<f32>>());
            }
            let what = format!("{name}, {kind}, {grouped}");
            let answer = executor.run(None).await.unwrap();
            close(&format!("{what}: loss"), answer.output("loss"), &values[loss.index()], TOLERANCE);
            for spec in g.table().specs() {
                let (found, expected) = (&answer.grads[spec.range()], &exact[spec.range()]);
                close(&format!("{what}: {}", spec.name), found, expected, TOLERANCE);
            }
            close(
                &format!("{what}: the processor's gradients"),
                &answer.grads,
                &in_64_bits(&grads),
                TOLERANCE,
            );
            let again = executor.run(None).await.unwrap();
            assert!(again.grads == answer.grads, "{what}: the same bits again");
        }
    }
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

async fn maps(gpu: Gpu) {
    let maps: [OfOne; 11] = [
        ("relu", |g, x| g.relu(x)),
        ("tanh", |g, x| g.tanh(x)),
        ("gelu", |g, x| g.gelu(x)),
        ("sigmoid", |g, x| g.sigmoid(x)),
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
            check(&gpu, &format!("{name} of {shape:?}"), |g| {
                let x = g.param("x", shape, INIT);
                let y = map(g, x);
                weigh(g, y)
            })
            .await;
        }
    }
}

async fn zips(gpu: Gpu) {
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
    // Narrow and wide: a thread a row, and a thread an element.
    for full in [[6, 5], [7, 33]] {
        let shapes = [full, [1, full[1]], [full[0], 1], [1, 1]];
        for (name, zip) in zips {
            // All pairs of shapes in one graph.
            check(&gpu, &format!("{name} up to {full:?}"), |g| {
                let mut total = g.scalar(0.0);
                for (i, a) in shapes.into_iter().enumerate() {
                    for (j, b) in shapes.into_iter().enumerate() {
                        let (a, b) = (g.param(&format!("a{i}"), a, INIT), g.param(&format!("b{j}"), b, INIT));
                        let y = zip(g, a, b);
                        let y = weigh(g, y);
                        total = g.add(total, y);
                    }
                }
                total
            })
            .await;
        }
    }
}

async fn products(gpu: Gpu) {
    for (ta, tb) in [(false, false), (false, true), (true, false), (true, true)] {
        let turn = |t: bool, [a, b]: [usize; 2]| if t { [b, a] } else { [a, b] };
        for computed in [false, true] {
            check(&gpu, &format!("matmul {ta} {tb}"), |g| {
                let mut a = g.param("a", turn(ta, [9, 4]), INIT);
                let mut b = g.param("b", turn(tb, [4, 6]), INIT);
                if computed {
                    (a, b) = (g.tanh(a), g.tanh(b));
                }
                let y = g.matmul(a, b, ta, tb);
                weigh(g, y)
            })
            .await;
        }
    }
}

async fn reductions_and_rows(gpu: Gpu) {
    let rows: [OfOne; 9] = [
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
        ("centred columns", |g, x| {
            let [rows, _] = g.shape(x);
            let sums = g.sum_cols(x);
            let means = g.affine(sums, 1.0 / rows as f32, 0.0);
            let off = g.sub(x, means);
            g.square(off)
        }),
        ("layer norm", |g, x| g.norm(x, "norm")),
        ("two norms", |g, x| {
            let y = g.norm(x, "norm.0");
            g.norm(y, "norm.1")
        }),
    ];
    for shape in [[1, 1], [1, 6], [6, 1], [7, 3], [40, 18], [1100, 2], [1300, 37], [5, 700]] {
        for (name, f) in rows {
            if name.contains("norm") && shape[1] < 3 {
                // Of one number it is 0 and of two ±1, and what rounding leaves of the slope is divided by √eps.
                continue;
            }
            check(&gpu, &format!("{name} of {shape:?}"), |g| {
                let x = g.param("x", shape, INIT);
                let y = f(g, x);
                weigh(g, y)
            })
            .await;
        }
    }
}

async fn indices_and_columns(gpu: Gpu) {
    for classes in [5, 40] {
        check(&gpu, &format!("take from {classes}"), |g| {
            let x = g.param("x", [9, classes], INIT);
            let index = g.input(&format!("index{classes}"), [9, 1]);
            let y = g.take(x, index);
            weigh(g, y)
        })
        .await;
    }
    // Rows of a table: fewer entries than rows, and more; narrow and wide; indices beyond both ends.
    for (entries, cols, rows) in [(5, 3, 12), (40, 300, 17), (5, 270, 600), (600, 4, 300)] {
        check(&gpu, &format!("embedding of {entries} x {cols}"), |g| {
            let table = g.param("table", [entries, cols], INIT);
            let index = g.input(&format!("index{}", entries + 2), [rows, 1]);
            let index = g.affine(index, 1.0, -1.0);
            let y = g.embedding(table, index);
            weigh(g, y)
        })
        .await;
    }
    check(&gpu, "embedding used twice", |g| {
        let (table, index) = (g.param("table", [50, 3], INIT), g.input("index50", [12, 1]));
        let y = g.embedding(table, index);
        let y = g.matmul(y, table, false, true);
        weigh(g, y)
    })
    .await;
    for wide in [3, 30] {
        check(&gpu, &format!("concat and slices of {wide}"), |g| {
            let (a, b) = (g.param("a", [4, wide], INIT), g.param("b", [4, 2], INIT));
            let ab = g.concat(a, b);
            let square = g.square(ab);
            let middle = g.slice_cols(square, 1, wide + 1);
            let y = g.mul(middle, a);
            weigh(g, y)
        })
        .await;
    }
    check(&gpu, "an unused parameter", |g| {
        let a = g.param("a", [4, 3], INIT);
        g.param("b", [2, 2], INIT);
        weigh(g, a)
    })
    .await;
}

async fn whole_nets(gpu: Gpu) {
    for (name, build) in nets::LOSSES {
        check(&gpu, name, build).await;
    }
    check(&gpu, "ppo", |g| nets::ppo_loss(g, 40).0).await;
    for batch in [1, 50] {
        for (name, build) in nets::FORWARD {
            let mut g = Graph::new();
            let y = build(&mut g, batch);
            let case = Case::new(&g, 3);
            let expected = &case.reference(&g)[y.index()];
            let plan = Plan::new(&g, &[("y", y)], Layout::Rows, Isa::best()).unwrap();
            for (grouped, mut executor) in executors(&gpu, &plan) {
                executor.set_params(case.params(&g).values());
                for (input, _, values) in &case.inputs {
                    executor.set_input(input, &values.iter().map(|&v| v as f32).collect::<Vec<f32>>());
                }
                let answer = executor.run(None).await.unwrap();
                close(&format!("{name}, {grouped}, {batch} rows"), answer.output("y"), expected, TOLERANCE);
            }
        }
    }
}

common::tests!(maps, zips, products, reductions_and_rows, indices_and_columns, whole_nets);
