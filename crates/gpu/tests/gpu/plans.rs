//! Tests of plans on a GPU: every operation on odd sizes, nets, PPO's plans, their gradients, and Adam. Results are compared with the f64
//! interpreter and with the CPU executor. A graph has two plans, fused and unfused, and each of them can run with fused kernels or with one
//! kernel per node. `npm test` runs only some graphs in all four ways.

use crate::nets::{self, Case, Learning};
use crate::pieces::{
    self, HEADS, INIT, MAPS, ROWS, ZIPS, concat_and_slices, head, of_one, product, take, unused_parameter, weigh, windows,
};
use gpu::{DispatchGroup, Executor, Fault, Gpu, OpenOptions};
use graph::{Adam, Graph, Init, Isa, Layout, NodeId, Packed, Params, Plan};
use learn::control::ppo::Head;
use learn::control::{LearnerSpec, Ppo, PpoConfig};

/// Tolerance relative to the largest value of a tensor.
const TOLERANCE: f64 = 5e-5;

#[track_caller]
fn close<T: Copy + Into<f64>>(what: &str, found: &[f32], expected: &[T], tolerance: f64) {
    testkit::close(what, found, expected, tolerance, 0.1);
}

/// True if the tests run in a browser, where compilation is slow. The kernel source is the same as natively, so only fused kernels are
/// tested in a browser.
const BROWSER: bool = cfg!(target_family = "wasm");

/// Ways in which a test runs a graph. `npm test -- --all` runs every graph in all ways.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Ways {
    /// The fused plan with fused kernels.
    Fused,
    /// The fused plan, with fused kernels and with one kernel per node.
    Kernels,
    /// The fused and the unfused plan, each with both kinds of kernels.
    All,
}

impl Ways {
    /// Returns the ways that currently run.
    fn now(self) -> Ways {
        match (BROWSER, testkit::all()) {
            (true, _) => Ways::Fused,
            (_, true) => Ways::All,
            _ => self,
        }
    }
}

fn executors(gpu: &Gpu, plan: &Plan, ways: Ways) -> Vec<(&'static str, Executor)> {
    let mut executors = vec![("regrouped", Executor::new(gpu, plan).unwrap())];
    if ways.now() >= Ways::Kernels {
        executors.push(("one by one", Executor::with(gpu, plan, false).unwrap()));
    }
    executors
}

fn fill(executor: &mut Executor, case: &Case, params: &Params) {
    executor.set_params(params.values());
    for (input, _, values) in &case.inputs {
        executor.set_input(input, &values.iter().map(|&v| v as f32).collect::<Vec<f32>>());
    }
}

/// Checks the output of a net. Does not check gradients.
async fn check_forward(gpu: &Gpu, ways: Ways, name: &str, seed: u32, build: impl Fn(&mut Graph) -> NodeId) {
    let mut g = Graph::new();
    let y = build(&mut g);
    let case = Case::new(&g, seed);
    let expected = &case.reference(&g)[y.index()];
    let plan = Plan::new(&g, &[("y", y)], Layout::Rows, Isa::best()).unwrap();
    for (grouped, mut executor) in executors(gpu, &plan, ways) {
        fill(&mut executor, &case, &case.params(&g));
        let answer = executor.run(None).await.unwrap();
        close(&format!("{name}, {grouped}"), answer.output("y"), expected, TOLERANCE);
    }
}

/// Checks a scalar loss and its gradients, with both kinds of kernels.
async fn check(gpu: &Gpu, name: &str, build: impl Fn(&mut Graph) -> NodeId) {
    check_in(gpu, Ways::Kernels, name, build).await;
}

async fn check_in(gpu: &Gpu, ways: Ways, name: &str, build: impl Fn(&mut Graph) -> NodeId) {
    let mut g = Graph::new();
    let loss = build(&mut g);
    let gradients = g.gradients(loss);
    let case = Case::new(&g, 7);
    let values = case.reference(&g);
    let exact = Case::gradient(&g, &gradients, &values);
    let isa = Isa::best();
    let fused = Plan::training(&g, &[("loss", loss)], &gradients, isa).unwrap();
    let unfused = Plan::unfused(&g, &[("loss", loss)], Some(&gradients), Layout::Rows, isa).unwrap();
    let plans = [("fused", fused), ("unfused", unfused)];
    for (kind, plan) in plans.into_iter().take(if ways.now() == Ways::All { 2 } else { 1 }) {
        let mut processor = Learning::new(plan, case.params(&g));
        case.fill(&mut processor.executor);
        processor.train(false);
        let plan = processor.executor.plan();
        for (grouped, mut executor) in executors(gpu, plan, ways) {
            fill(&mut executor, &case, &case.params(&g));
            let what = format!("{name}, {kind}, {grouped}");
            let answer = executor.run(None).await.unwrap();
            close(&format!("{what}: loss"), answer.output("loss"), &values[loss.index()], TOLERANCE);
            for spec in g.table().specs() {
                let (found, expected) = (&answer.grads[spec.range()], &exact[spec.range()]);
                close(&format!("{what}: {}", spec.name), found, expected, TOLERANCE);
            }
            close(&format!("{what}: the processor's gradients"), &answer.grads, &processor.grads, TOLERANCE);
            let again = executor.run(None).await.unwrap();
            assert!(again.grads == answer.grads, "{what}: a second run gave other bits");
        }
    }
}

async fn maps(gpu: Gpu) {
    for (i, (name, map)) in MAPS.into_iter().enumerate() {
        let shapes = if i == 0 || testkit::all() { 3 } else { 1 };
        for shape in [[5, 7], [33, 16], [1, 1]].into_iter().take(shapes) {
            check(&gpu, &format!("{name} of {shape:?}"), |g| of_one(g, shape, map)).await;
        }
    }
}

async fn zips(gpu: Gpu) {
    // In the narrow shape, each thread computes a row; in the wide shape, an element.
    for full in [[6, 5], [7, 33]] {
        let shapes = [full, [1, full[1]], [full[0], 1], [1, 1]];
        let pairs: Vec<[usize; 2]> = (0..16).map(|pair| [pair / 4, pair % 4]).collect();
        for (name, zip) in ZIPS {
            // Two operations suffice for all pairs, because the kernels of all operations address their arguments alike.
            let pairs = if testkit::all() || ["mul", "div"].contains(&name) { &pairs[..] } else { &[[0, 1], [2, 0]] };
            // All pairs of shapes are in one graph.
            check(&gpu, &format!("{name} up to {full:?}"), |g| {
                let mut total = g.scalar(0.0);
                for &[i, j] in pairs {
                    let (a, b) = (g.param(&format!("a{i}"), shapes[i], INIT), g.param(&format!("b{j}"), shapes[j], INIT));
                    let y = zip(g, a, b);
                    let y = weigh(g, y);
                    total = g.add(total, y);
                }
                total
            })
            .await;
        }
    }
}

async fn products(gpu: Gpu) {
    for turned in [[false, false], [false, true], [true, false], [true, true]] {
        for computed in [false, true] {
            let what = format!("matmul {turned:?}, computed: {computed}");
            check(&gpu, &what, |g| product(g, turned, computed)).await;
        }
    }
}

async fn reductions_and_rows(gpu: Gpu) {
    for shape in [[7, 3], [40, 18], [1100, 2], [5, 700], [1, 1], [1, 6], [6, 1], [1300, 37]].into_iter().take(if BROWSER { 4 } else { 8 }) {
        // In the narrow shape, each thread computes a row; in the wide shape, a workgroup.
        let ways = if [[7, 3], [5, 700]].contains(&shape) { Ways::All } else { Ways::Fused };
        for (name, f) in ROWS {
            if name.contains("norm") && shape[1] < 3 {
                // A norm of one value is 0, and the norms of two values are ±1. Their slopes are only rounding errors, divided by √eps.
                continue;
            }
            check_in(&gpu, ways, &format!("{name} of {shape:?}"), |g| of_one(g, shape, f)).await;
        }
    }
}

async fn attention(gpu: Gpu) {
    // The first shape has one row and one head. The lengths and head widths of the other shapes are below, at and above the size of a tile.
    // Some of them are divisible by four.
    let shapes = [
        [1, 1, 2, 1],
        [10, 3, 4, 5],
        [36, 2, 6, 12],
        [78, 2, 4, 39],
        [70, 1, 34, 35],
        [64, 2, 32, 32],
        [200, 2, 40, 100],
        [66, 1, 100, 33],
    ];
    for (i, shape) in shapes.into_iter().take(if BROWSER { 3 } else { 8 }).enumerate() {
        let rotary = i % 2 == 1;
        // `npm test` leaves out shapes that resemble another one.
        if !BROWSER && !testkit::all() && (2..5).contains(&i) {
            continue;
        }
        // The kernels of attention are the same in both ways.
        check_in(&gpu, Ways::Fused, &format!("attention of {shape:?}, {rotary}"), |g| pieces::attention(g, shape, rotary)).await;
    }
    // Covers attention with computed values as input, and attention with large scores.
    check(&gpu, "three attentions", |g| {
        let (x, w) = (g.input("x", [66, 12]), g.param("w", [36, 12], INIT));
        let qkv = g.matmul(x, w, false, true);
        let y = g.causal_attention(qkv, 2, 33, true);
        let qkv = g.matmul(y, w, false, true);
        let y = g.causal_attention(qkv, 2, 33, true);
        let qkv = g.matmul(y, w, false, true);
        let qkv = g.affine(qkv, 3.0, 0.0);
        let y = g.causal_attention(qkv, 2, 33, false);
        weigh(g, y)
    })
    .await;
}

async fn heads_and_windows(gpu: Gpu) {
    // The last shape has several tiles of rows, with a smaller last tile.
    let shapes = [[1, 1, 1], [9, 5, 7], [40, 65, 12], [130, 300, 33], [130, 131_072, 2]];
    for shape in shapes.into_iter().take(if BROWSER { 3 } else { 5 }) {
        let [rows, vocab, inp] = shape;
        let is_large = vocab > 1000;
        // The kernels of single nodes run with one small and one large shape.
        let ways = if [9, 40].contains(&rows) { Ways::Kernels } else { Ways::Fused };
        for (name, build) in HEADS.into_iter().take(if is_large { 1 } else { 3 }) {
            check_in(&gpu, ways, &format!("{name}, {shape:?}"), |g| build(g, shape)).await;
        }
        if is_large {
            continue;
        }
        check_in(&gpu, ways, "a head that shares its weights", |g| {
            let (w, index) = (g.param("w", [vocab, inp], INIT), g.input("index", [rows, 1]));
            let x = g.embedding_bag(w, index);
            let y = head(g, x, vocab);
            g.mean_all(y)
        })
        .await;
        check_forward(&gpu, ways, "the loss of a head alone", 5, |g| {
            let x = g.input("x", [rows, inp]);
            let y = head(g, x, vocab);
            g.mean_all(y)
        })
        .await;
    }
    check(&gpu, "windows", windows).await;
}

/// Tests the gradient of a GELU, which reads the GELU's saved input. The shapes cover loads of four values, loads of one value, and
/// products that are split over k.
async fn saved_activations(gpu: Gpu) {
    let shapes = [(7, 3, 5), (40, 20, 12), (70, 33, 16), (5, 8, 1100), (66, 6, 1024)];
    for (rows, width, inp) in shapes.into_iter().take(if BROWSER { 2 } else { 5 }) {
        for residual in [false, true] {
            let ways = if residual { Ways::Fused } else { Ways::Kernels };
            check_in(&gpu, ways, &format!("gelu of {rows} x {width} from {inp}, {residual}"), |g| {
                let x = g.input("x", [rows, inp]);
                // The initial weights are small, because GELU is almost linear for large inputs.
                let mut y = g.dense(x, "up", width, Init::Uniform(1.0));
                if residual {
                    let shape = g.shape(y);
                    let z = g.param("z", shape, INIT);
                    y = g.add(y, z);
                }
                let y = g.gelu(y);
                weigh(g, y)
            })
            .await;
        }
    }
}

async fn indices_and_columns(gpu: Gpu) {
    for classes in [5, 40] {
        check(&gpu, &format!("take from {classes}"), |g| take(g, classes)).await;
    }
    // Covers tables with fewer and more entries than indices, narrow and wide tables, and indices beyond both ends.
    for (entries, cols, rows, k) in [(5, 3, 12, 1), (40, 300, 17, 3), (5, 270, 600, 1), (600, 4, 300, 1), (144, 33, 40, 24), (90, 7, 11, 5)]
    {
        for layer in [false, true] {
            check(&gpu, &format!("embedding bag of {k} of {entries} x {cols}, layer: {layer}"), |g| {
                let table = g.param("table", [entries, cols], INIT);
                let index = g.input(&format!("index{}", entries + 2), [rows, k]);
                let index = g.affine(index, 1.0, -1.0);
                let mut y = g.embedding_bag(table, index);
                if layer {
                    let bias = g.vector("bias", cols, INIT);
                    y = g.add(y, bias);
                    y = g.relu(y);
                }
                weigh(g, y)
            })
            .await;
        }
    }
    check(&gpu, "embedding bag used twice", |g| {
        let (table, index) = (g.param("table", [50, 3], INIT), g.input("index50", [12, 2]));
        let y = g.embedding_bag(table, index);
        let y = g.matmul(y, table, false, true);
        weigh(g, y)
    })
    .await;
    for wide in [3, 30] {
        check(&gpu, &format!("concat and slices of {wide}"), |g| concat_and_slices(g, wide)).await;
    }
    check(&gpu, "an unused parameter", unused_parameter).await;
}

/// `npm test` leaves out what other tests run: the kernels of single nodes, transformers (`trainer`), and the loss of PPO (`ppo_plans`).
async fn whole_nets(gpu: Gpu) {
    for (name, build) in nets::LOSSES {
        if !testkit::all() && ["language model", "attending", "ppo"].contains(&name) {
            continue;
        }
        check_in(&gpu, Ways::Fused, name, build).await;
    }
    for (i, (name, build)) in nets::FORWARD.into_iter().enumerate() {
        let batches = [1, 50];
        for batch in if testkit::all() { &batches[..] } else { &batches[i % 2..][..1] } {
            check_forward(&gpu, Ways::Fused, &format!("{name}, {batch} rows"), 3, |g| build(g, *batch)).await;
        }
    }
}

/// Builds a graph with twenty random operations on earlier nodes. The loss is a weighted sum over all nodes.
fn random_graph(g: &mut Graph, seed: u32, [rows, cols]: [usize; 2]) -> NodeId {
    let mut words = math::Rng::new(seed, 11).sequence(0);
    let mut below = move |n: usize| (words.uniform() * n as f32) as usize;
    let mut pool = vec![
        g.param("full", [rows, cols], INIT),
        g.param("row", [1, cols], INIT),
        g.param("column", [rows, 1], INIT),
        g.param("single", [1, 1], INIT),
        g.input("x", [rows, cols]),
        g.input("knob", [1, 1]),
    ];
    let index = g.input("index3", [rows, 1]);
    for i in 0..20 {
        // Selects the latest node half of the time, which gives deep graphs.
        let pick = |below: &mut dyn FnMut(usize) -> usize, pool: &[NodeId]| {
            if below(2) == 0 { pool[pool.len() - 1] } else { pool[below(pool.len())] }
        };
        let (x, z) = (pick(&mut below, &pool), pick(&mut below, &pool));
        let [r, c] = g.shape(x);
        let y = match below(18) {
            0 => g.tanh(x),
            1 => g.sigmoid(x),
            2 => g.gelu(x),
            3 => g.relu(x),
            4 => g.affine(x, 0.7, -0.1),
            5 => g.add(x, z),
            6 => g.sub(x, z),
            7 => g.mul(x, z),
            8 => g.min(x, z),
            9 => g.max(x, z),
            10 => {
                let y = g.sum_rows(x);
                g.affine(y, 1.0 / c as f32, 0.0)
            }
            11 => {
                let y = g.sum_cols(x);
                g.affine(y, 1.0 / r as f32, 0.0)
            }
            12 => g.mean_all(x),
            13 => g.softmax(x),
            14 if c > 2 => g.log_softmax(x),
            15 if r == rows && c > 2 => {
                let y = g.take(x, index);
                g.tanh(y)
            }
            16 if c > 1 => {
                let w = g.param(&format!("w{i}"), [cols, c], Init::FanIn);
                let b = g.vector(&format!("b{i}"), cols, INIT);
                let y = g.linear(x, w, b);
                if below(2) == 0 { g.tanh(y) } else { y }
            }
            17 if c == cols && c > 2 => {
                let wide = g.concat(x, x);
                g.slice_cols(wide, c / 2, c / 2 + c)
            }
            _ => g.square(x),
        };
        // Limits the values, because repeated squares would overflow.
        let y = if i % 3 == 2 { g.tanh(y) } else { y };
        pool.push(y);
    }
    let mut loss = g.scalar(0.0);
    // Uses every node in the loss, because unused inputs are dropped.
    for &node in pool[4..].iter().chain([&index]) {
        let part = weigh(g, node);
        let part = g.affine(part, 1.0 / 64.0, 0.0);
        loss = g.add(loss, part);
    }
    loss
}

async fn random_graphs(gpu: Gpu) {
    let shapes = [[5, 3], [40, 17], [1030, 3], [1, 4], [7, 12], [90, 33], [5, 3], [40, 17]];
    for (seed, shape) in shapes.into_iter().enumerate().take(if testkit::all() { 8 } else { 4 }) {
        check_in(&gpu, Ways::All, &format!("graph {seed} of {shape:?}"), |g| random_graph(g, seed as u32, shape)).await;
    }
}

/// Covers a sum over more than 65,536 rows, whose kernel uses large workgroups.
async fn many_rows(gpu: Gpu) {
    check(&gpu, "many rows", |g| {
        let (x, w) = (g.input("x", [70_001, 3]), g.param("w", [1, 3], INIT));
        let y = g.mul(x, w);
        let y = g.log_softmax(y);
        let index = g.input("index3", [70_001, 1]);
        let taken = g.take(y, index);
        let loss = g.mean_all(taken);
        g.neg(loss)
    })
    .await;
}

fn noise(stream: u32, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    math::Rng::new(5, stream).fill_normal(Isa::Portable, 0, &mut values);
    values
}

/// Returns specifications of PPO learners whose plans cover every head and trunk.
fn specs() -> Vec<(String, LearnerSpec)> {
    let mut all = Vec::new();
    for id in ["CartPole-v1", "LunarLander-v3", "Pendulum-v1"] {
        for (shared, squash, clip_value) in [(false, false, false), (true, true, true), (false, true, true)] {
            let kind = worlds::control::kind(id).unwrap();
            let config = PpoConfig { envs: 128, rollout_steps: 16, minibatches: 2, shared, squash, clip_value, ..PpoConfig::preset(kind) };
            let ppo = Ppo::new(kind, config, 1, Isa::best()).unwrap();
            let name = format!("{id}, shared {shared}, squashed {squash}, clipped values {clip_value}");
            all.push((name, ppo.spec().unwrap()));
        }
    }
    all
}

/// Returns sample values for the input `name` of a learner's plan.
fn sample(name: &str, stream: u32, len: usize, choices: Option<usize>) -> Vec<f32> {
    let values = noise(stream, len);
    match (name, choices) {
        ("clip", _) => vec![0.2],
        ("entropy_coef", _) => vec![0.01],
        ("value_coef", _) => vec![0.5],
        ("action", Some(count)) => (0..len).map(|i| (i * i % count) as f32).collect(),
        // These log probabilities are close to the policy's. Therefore some ratios are clipped, and no ratio overflows.
        ("old_log_prob", Some(count)) => values.iter().map(|x| 0.3 * x - (count as f32).ln()).collect(),
        ("old_log_prob", None) => values.iter().map(|x| 0.3 * x - 1.4).collect(),
        _ => values,
    }
}

/// Asserts that the loss of PPO is one group of at most two dispatches. This group has all nodes between the last forward product and the
/// first gradient product. All other groups are products: three per layer, or two for a layer that reads the observations, because
/// observations need no gradient. Equal layers of the two networks share a dispatch.
#[track_caller]
fn assert_loss_is_one_group(what: &str, parts: &[DispatchGroup], spec: &LearnerSpec) {
    let (products, others): (Vec<&DispatchGroup>, Vec<&DispatchGroup>) = parts.iter().partition(|part| part.is_product);
    let [loss] = others[..] else { panic!("{what}: {others:?}") };
    assert!(loss.nodes > 40 && loss.steps.len() <= 2, "{what}: {loss:?}");
    let (layers, without) = if spec.config.shared { (4, 1) } else { (6, 2) };
    let count: usize = products.iter().map(|part| part.nodes).sum();
    assert_eq!(count, 3 * layers - without, "{what}");
    let most = match (spec.config.shared, spec.head) {
        (_, Head::Choices(_)) => 11,
        (false, Head::Gaussian { .. }) => 8,
        (true, Head::Gaussian { .. }) => 9,
    };
    assert_eq!(products.len(), most, "{what}");
}

async fn ppo_plans(gpu: Gpu) {
    // Every fourth specification: each environment and each trunk once.
    for (name, spec) in specs().into_iter().step_by(if testkit::all() { 1 } else { 4 }) {
        let choices = match spec.head {
            Head::Choices(count) => Some(count),
            Head::Gaussian { .. } => None,
        };
        let plan = &spec.learning;
        let mut params = Params::new(plan.table(), 3);
        // The parameters are larger than their initial values, so that every parameter has a gradient.
        params.values_mut().iter_mut().zip(noise(99, plan.table().len())).for_each(|(p, x)| *p += 0.05 * x);
        for spec in plan.table().specs() {
            let gap = spec.range().end..spec.range().end.next_multiple_of(16);
            params.values_mut()[gap].fill(0.0);
        }
        let mut processor = graph::Executor::new(plan);
        let mut inputs = Vec::new();
        for (stream, port) in plan.inputs().iter().enumerate() {
            let to = processor.input_mut(&port.name);
            let values = sample(&port.name, stream as u32, to.len(), choices);
            to.copy_from_slice(&values);
            inputs.push((port.name.clone(), values));
        }
        let mut grads = vec![0.0; params.values().len()];
        processor.train(&params, &Packed::new(plan, &params), &mut grads, false);
        for (grouped, mut executor) in executors(&gpu, plan, Ways::Fused) {
            executor.set_params(params.values());
            inputs.iter().for_each(|(name, values)| executor.set_input(name, values));
            let answer = executor.run(None).await.unwrap();
            let what = format!("{name}, {grouped}");
            for (output, found) in &answer.outputs {
                close(&format!("{what}: {output}"), found, processor.output(output), TOLERANCE);
            }
            for spec in plan.table().specs() {
                let (found, expected) = (&answer.grads[spec.range()], &grads[spec.range()]);
                assert!(expected.iter().any(|&g| g != 0.0), "{what}: {} has no gradient", spec.name);
                close(&format!("{what}: {}", spec.name), found, expected, TOLERANCE);
            }
            if grouped == "regrouped" {
                assert_loss_is_one_group(&what, executor.parts(), &spec);
            }
        }

        let plan = &spec.acting;
        let mut processor = graph::Executor::new(plan);
        let observations = noise(50, processor.input_mut("observation").len());
        processor.input_mut("observation").copy_from_slice(&observations);
        processor.run(&params, &Packed::new(plan, &params));
        let mut executor = Executor::new(&gpu, plan).unwrap();
        executor.set_params(params.values());
        executor.set_input("observation", &observations);
        let answer = executor.run(None).await.unwrap();
        for (output, found) in &answer.outputs {
            close(&format!("{name}: {output}"), found, processor.output(output), TOLERANCE);
        }
    }
}

/// Compares thirty steps of Adam on a small net with the same steps on the CPU.
async fn adam_matches_the_processor(gpu: Gpu) {
    let adams = [
        Adam { lr: 0.01, ..Adam::default() },
        Adam { lr: 0.01, eps: 1e-5, max_grad_norm: 0.1, ..Adam::default() },
        Adam { lr: 0.003, weight_decay: 0.05, beta1: 0.8, max_grad_norm: 0.5, ..Adam::default() },
        Adam { lr: 0.003, weight_decay: 0.3, matrices_only: true, ..Adam::default() },
    ];
    let (_, build) = nets::LOSSES[1];
    for adam in adams {
        let isa = Isa::best();
        let (case, mut here) = Learning::of(isa, 4, build);
        let mut executor = Executor::new(&gpu, here.executor.plan()).unwrap();
        fill(&mut executor, &case, &here.params);
        let first = here.params.values().to_vec();
        for step in 0..30 {
            here.train(false);
            let norm = here.update(isa, &adam);
            let answer = executor.run(Some(&adam)).await.unwrap();
            let what = format!("{adam:?}, step {step}");
            close(&format!("{what}: norm"), &[answer.norm], &[norm], 1e-4);
            for (name, found, expected) in [
                ("parameters", &answer.params, here.params.values()),
                ("m", &answer.adam_m, &here.optimizer.m),
                ("v", &answer.adam_v, &here.optimizer.v),
            ] {
                close(&format!("{what}: {name}"), found, expected, 2e-4);
            }
        }
        assert!(first != here.params.values(), "the parameters did not change");
    }
}

/// Tests that a step with a non-finite gradient is skipped and does not count.
async fn adam_skips_non_finite_gradients(gpu: Gpu) {
    let mut g = Graph::new();
    let (w, x) = (g.vector("w", 700, Init::Ones), g.input("x", [1, 700]));
    let y = g.mul(w, x);
    let loss = g.sum_all(y);
    let gradients = g.gradients(loss);
    let plan = Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap();
    let mut executor = Executor::new(&gpu, &plan).unwrap();
    executor.set_params(Params::new(g.table(), 1).values());
    let adam = Adam { lr: 0.1, ..Adam::default() };
    executor.set_input("x", &[1.0; 700]);
    let one = executor.run(Some(&adam)).await.unwrap();
    for broken in [f32::NAN, f32::INFINITY, f32::MAX] {
        let mut x = [1.0; 700];
        x[699] = broken;
        executor.set_input("x", &x);
        let same = executor.run(Some(&adam)).await.unwrap();
        assert!(!same.norm.is_finite(), "{broken}: {}", same.norm);
        assert!(same.params == one.params && same.adam_m == one.adam_m && same.adam_v == one.adam_v);
    }
    executor.set_input("x", &[1.0; 700]);
    let two = executor.run(Some(&adam)).await.unwrap();
    // With a constant gradient, every counted step changes a parameter by lr. The skipped steps before the second counted step must not
    // change this.
    close("the second step", &two.params[..700], &[0.8; 700], 1e-5);
}

/// Tests that results have the same bits with and without subgroups. Covers rows that are narrower and wider than a subgroup, long and
/// short sums, and Adam's norm.
async fn subgroups_change_no_bits(_: Gpu) {
    let open = async |subgroups| Gpu::open(OpenOptions { subgroups, ..OpenOptions::default() }).await.unwrap();
    let (without, with) = (open(Some(false)).await, open(Some(true)).await);
    assert!(!without.about().subgroups);
    // An adapter whose name contains "256 bits" has subgroups of eight lanes, the minimum width that reductions use.
    let known = with.about().name.contains("256 bits");
    assert!(with.about().subgroups || !known, "{:?}", with.about());
    let shapes = [[3, 20], [5, 300], [2, 2000], [1500, 5], [9, 33], [40, 130], [3000, 3]];
    for [rows, cols] in shapes.into_iter().take(if testkit::all() { 7 } else { 4 }) {
        let mut g = Graph::new();
        let x = g.param("x", [rows, cols], INIT);
        let (gamma, beta) = (g.vector("gamma", cols, INIT), g.vector("beta", cols, INIT));
        let y = g.layer_norm(x, gamma, beta, 1e-5);
        let y = g.softmax(y);
        let columns = g.sum_cols(y);
        let [y, columns] = [weigh(&mut g, y), weigh(&mut g, columns)];
        let squares = g.square(x);
        let rows_of = g.sum_rows(squares);
        let rows_of = g.tanh(rows_of);
        let rows_of = weigh(&mut g, rows_of);
        let loss = g.add(y, columns);
        let loss = g.add(loss, rows_of);
        let gradients = g.gradients(loss);
        let plan = Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap();
        let mut answers = Vec::new();
        for gpu in [&without, &with] {
            let mut executor = Executor::new(gpu, &plan).unwrap();
            executor.set_params(Params::new(g.table(), 3).values());
            answers.push(executor.run(Some(&Adam { lr: 0.01, ..Adam::default() })).await.unwrap());
        }
        let bits = |answer: &gpu::Answer| -> Vec<u32> {
            let all = [answer.output("loss"), &answer.grads, &answer.params, &[answer.norm]];
            all.concat().iter().map(|x| x.to_bits()).collect()
        };
        assert!(answers[0].norm > 0.0, "{rows} x {cols}");
        assert!(bits(&answers[0]) == bits(&answers[1]), "{rows} x {cols}: {answers:?}");
    }
}

async fn panels_are_rejected(gpu: Gpu) {
    let mut g = Graph::new();
    let y = nets::FORWARD[0].1(&mut g, 64);
    let plan = Plan::new(&g, &[("y", y)], Layout::Panels, Isa::best()).unwrap();
    assert!(matches!(Executor::new(&gpu, &plan), Err(Fault::Unknown { .. })));
}

crate::common::tests!(
    reductions_and_rows,
    adam_matches_the_processor,
    attention,
    heads_and_windows,
    saved_activations,
    panels_are_rejected;
    natively:
    ppo_plans,
    maps,
    zips,
    products,
    indices_and_columns,
    whole_nets,
    random_graphs,
    many_rows,
    adam_skips_non_finite_gradients,
    subgroups_change_no_bits,
);
