//! Initial values of parameters, and the optimiser.

use graph::{Act, Adam, Graph, Init, Isa, Optimizer, Params, models};
use testkit::test;

fn table(init: Init, shape: [usize; 2]) -> Params {
    let mut g = Graph::new();
    g.param("w", shape, init);
    Params::new(g.table(), 3)
}

#[test]
fn orthogonal_rows_or_columns() {
    for [rows, cols] in [[5, 5], [3, 8], [9, 4], [1, 6], [64, 4]] {
        let params = table(Init::Orthogonal(2.0), [rows, cols]);
        let w = params.get("w").unwrap();
        let vector = |i: usize| -> Vec<f32> {
            if rows <= cols { w[i * cols..][..cols].to_vec() } else { (0..rows).map(|r| w[r * cols + i]).collect() }
        };
        for i in 0..rows.min(cols) {
            for j in 0..rows.min(cols) {
                let dot: f32 = vector(i).iter().zip(vector(j)).map(|(a, b)| a * b).sum();
                let expected = if i == j { 4.0 } else { 0.0 };
                assert!((dot - expected).abs() < 1e-5, "{rows}x{cols}: {i}·{j} is {dot}");
            }
        }
    }
}

#[test]
fn initial_values_depend_on_seed_and_name_alone() {
    let build = |extra: bool| {
        let mut g = Graph::new();
        if extra {
            g.param("extra", [3, 3], Init::Kaiming);
        }
        let x = g.input("x", [2, 4]);
        models::mlp(&mut g, x, "net", &[6, 3], Act::Relu);
        g
    };
    let (a, b) = (Params::new(build(false).table(), 1), Params::new(build(true).table(), 1));
    assert_eq!(a.get("net.0.weight"), b.get("net.0.weight"));
    assert_ne!(a.get("net.0.weight"), Params::new(build(false).table(), 2).get("net.0.weight"));
    assert_eq!(b.count(), a.count() + 9);
}

#[test]
fn uniform_values_stay_within_their_bound() {
    for (init, bound) in [(Init::Uniform(0.3), 0.3f32), (Init::FanIn, 0.1), (Init::Kaiming, 0.06f32.sqrt())] {
        let params = table(init, [40, 100]);
        let w = params.get("w").unwrap();
        let (low, high) = w.iter().fold((0f32, 0f32), |(l, h), &v| (l.min(v), h.max(v)));
        assert!(low >= -bound && low < -0.98 * bound && high <= bound && high > 0.98 * bound, "{init:?}: {low}..{high}");
    }
}

#[test]
fn padding_between_tensors_stays_zero() {
    let mut g = Graph::new();
    g.param("a", [3, 3], Init::Kaiming);
    g.param("b", [5, 1], Init::Kaiming);
    let mut params = Params::new(g.table(), 1);
    let mut optimizer = Optimizer::new(&params);
    let mut grads = vec![0.0; params.values().len()];
    for spec in g.table().specs() {
        grads[spec.range()].fill(0.5);
    }
    let adam = Adam { weight_decay: 0.1, ..Adam::default() };
    optimizer.step(Isa::best(), &adam, &mut params, &grads);
    let within = |i: &usize| g.table().specs().iter().any(|s| s.range().contains(i));
    assert!((0..grads.len()).filter(|i| !within(i)).all(|i| params.values()[i] == 0.0));
    assert_eq!(g.table().count(), (0..grads.len()).filter(within).count());
}

/// With gradients of 0, a step of AdamW applies only weight decay.
#[test]
fn weight_decay_can_skip_vectors() {
    let mut g = Graph::new();
    for i in 0..3 {
        g.vector(&format!("{i}.bias"), 5, Init::Ones);
        g.param(&format!("{i}.weight"), [3, 7], Init::Ones);
        g.param(&format!("{i}.row"), [1, 7], Init::Ones);
    }
    for matrices_only in [false, true] {
        let mut params = Params::new(g.table(), 1);
        let grads = vec![0.0; params.values().len()];
        let adam = Adam { lr: 0.5, weight_decay: 0.5, matrices_only, ..Adam::default() };
        Optimizer::new(&params).step(Isa::best(), &adam, &mut params, &grads);
        for spec in g.table().specs() {
            let left = if matrices_only && spec.vector { 1.0 } else { 0.75 };
            assert!(params.values()[spec.range()].iter().all(|v| *v == left), "{}", spec.name);
        }
    }
}

#[test]
fn non_finite_gradient_changes_nothing() {
    let mut params = table(Init::Kaiming, [3, 3]);
    let before = params.values().to_vec();
    let mut optimizer = Optimizer::new(&params);
    let grads = vec![f32::NAN; before.len()];
    assert!(optimizer.step(Isa::best(), &Adam::default(), &mut params, &grads).is_nan());
    assert_eq!((params.values(), optimizer.steps), (&before[..], 0));
}

#[test]
fn normal_values_have_their_standard_deviation() {
    let params = table(Init::Normal(0.02), [100, 333]);
    let w = params.get("w").unwrap();
    let moment = |power: i32| w.iter().map(|&x| (f64::from(x) / 0.02).powi(power)).sum::<f64>() / w.len() as f64;
    assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03, "{} {}", moment(1), moment(2));
    assert!(moment(3).abs() < 0.06 && (moment(4) - 2.8).abs() < 0.15, "{} {}", moment(3), moment(4));
}
