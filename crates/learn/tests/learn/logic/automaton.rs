//! Training of logic automata, compared with the reference implementation.

use learn::logic::automaton::{Automaton, GateForm, gumbel};
use learn::logic::reference;
use learn::logic::train::{Optimiser, Rollout, StepStats, Trainer};
use learn::logic::{Architecture, Wires, Wiring, Wirings, fire};
use math::{Isa, Rng};
use testkit::test;

const FORMS: [GateForm; 3] = [GateForm::Softmax, GateForm::Four, GateForm::Gumbel { temperature: 1.5 }];

fn uniform(seed: u32, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    Rng::new(seed, 99).fill_uniform(Isa::best(), 0, &mut values);
    values
}

fn bits(seed: u32, len: usize) -> Vec<f32> {
    uniform(seed, len).into_iter().map(f32::round).collect()
}

/// Returns an automaton whose gates are far from their initial values, so that every gate has a gradient.
fn automaton(architecture: Architecture, wiring: Wiring, form: GateForm, seed: u32) -> Automaton {
    let wirings = Wirings::new(&architecture, wiring, seed).unwrap();
    let mut it = Automaton::new(architecture, wirings, form);
    let random = uniform(seed + 1, it.params.len());
    for (x, random) in it.params.iter_mut().zip(random) {
        *x = 0.3 * *x + 4.0 * random - 2.0;
    }
    it
}

fn life() -> Architecture {
    Architecture { channels: 1, kernels: 8, perception: vec![8, 4, 2, 1], update: vec![16, 8, 4, 2, 1] }
}

fn coloured() -> Architecture {
    Architecture { channels: 4, kernels: 3, perception: vec![8, 4, 2], update: vec![24, 16, 8, 4] }
}

/// Returns cases that cover all kinds of grids, unused lanes in a block of cells, grid lines that a block boundary splits, and several
/// pieces of work.
fn cases() -> Vec<(Architecture, Wiring, Rollout)> {
    let small = Rollout { width: 3, height: 3, periodic: true, steps: 1, batch: 20, fire_rate: None };
    let odd = Rollout { width: 7, height: 5, periodic: false, steps: 3, batch: 2, fire_rate: None };
    let asynchronous = Rollout { fire_rate: Some(0.6), ..odd.clone() };
    let wide = Rollout { width: 40, height: 2, periodic: true, steps: 2, batch: 1, fire_rate: Some(0.5) };
    vec![
        (life(), Wiring::Unique, small),
        (coloured(), Wiring::Unique, odd),
        (coloured(), Wiring::Random, asynchronous),
        (coloured(), Wiring::Unique, wide),
    ]
}

const CHANNELS: usize = 1;

fn data(architecture: &Architecture, rollout: &Rollout) -> (Vec<f32>, Vec<f32>) {
    let plane = rollout.batch * rollout.width * rollout.height;
    (bits(5, architecture.channels * plane), bits(6, CHANNELS * plane))
}

/// Returns a function of a step, a sample and a cell. The function returns true if the cell fires.
fn fires(rollout: &Rollout, seed: u32, draw: u32) -> impl Fn(usize, usize, usize) -> bool {
    move |step, sample, cell| {
        let Some(rate) = rollout.fire_rate else { return true };
        let mut cells = vec![0.0; rollout.width * rollout.height];
        fire(Isa::best(), seed, rate, [draw, step as u32, sample as u32], &mut cells);
        cells[cell] > 0.0
    }
}

/// Returns the loss and gradient of the reference implementation, for a step of a trainer with this seed. `draw` is the number of steps
/// before this step.
fn reference_gradient(
    automaton: &Automaton,
    rollout: &Rollout,
    (start, target): (&[f32], &[f32]),
    seed: u32,
    draw: u32,
) -> (f64, Vec<f64>) {
    let mut noise = vec![0.0; automaton.params.len()];
    gumbel(Isa::best(), seed, draw, &mut noise);
    reference::loss_and_gradient(automaton, rollout, start, target, CHANNELS, fires(rollout, seed, draw), &noise)
}

fn norm(gradient: &[f64]) -> f64 {
    gradient.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn gradients_match_the_reference() {
    for (architecture, wiring, rollout) in cases() {
        for form in FORMS {
            let (start, target) = data(&architecture, &rollout);
            let automaton = automaton(architecture.clone(), wiring, form, 3);
            let [(loss, gradient), (later_loss, later)] =
                [0, 1].map(|draw| reference_gradient(&automaton, &rollout, (&start, &target), 9, draw));
            let still = Optimiser { lr: 0.0, ..Optimiser::default() };
            for isa in Isa::available() {
                let mut trainer = Trainer::new(isa, automaton.clone(), rollout.clone(), still, 9);
                let stats = trainer.step(&start, &target, CHANNELS);
                let is_near = |stats: StepStats, loss: f64, gradient: &[f64]| {
                    let [loss, norm] = [f64::from(stats.loss) / loss, f64::from(stats.grad_norm) / norm(gradient)];
                    assert!((loss - 1.0).abs() < 1e-5 && (norm - 1.0).abs() < 1e-4, "{form:?} {isa:?}: {stats:?}, {loss} and {norm}");
                };
                is_near(stats, loss, &gradient);
                let most = gradient.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                for (i, (x, y)) in trainer.gradient().iter().zip(&gradient).enumerate() {
                    assert!((f64::from(*x) - y).abs() < 1e-5 * most + 1e-7, "{form:?} {isa:?} {i}: {x} {y}");
                }
                // The next step has other masks and other noise.
                is_near(trainer.step(&start, &target, CHANNELS), later_loss, &later);
            }
        }
    }
}

/// Compares the reference gradient with finite differences for the smooth gate forms.
#[test]
fn reference_gradients_match_finite_differences() {
    for (architecture, wiring, rollout) in cases() {
        for form in [GateForm::Softmax, GateForm::Four] {
            let (start, target) = data(&architecture, &rollout);
            let automaton = automaton(architecture.clone(), wiring, form, 4);
            let (_, gradient) = reference_gradient(&automaton, &rollout, (&start, &target), 2, 0);
            for i in (0..gradient.len()).step_by(gradient.len() / 7) {
                const STEP: f32 = 1.0 / 1024.0;
                let loss = |sign: f32| {
                    let mut moved = automaton.clone();
                    moved.params[i] += sign * STEP;
                    (reference_gradient(&moved, &rollout, (&start, &target), 2, 0).0, f64::from(moved.params[i]))
                };
                let ((high, at_high), (low, at_low)) = (loss(1.0), loss(-1.0));
                let slope = (high - low) / (at_high - at_low);
                assert!((slope - gradient[i]).abs() < 1e-5 * (1.0 + slope.abs()), "{i}: {slope} {}", gradient[i]);
            }
        }
    }
}

/// Masks of different steps, rollouts, samples and seeds agree in as many cells as independent masks do.
#[test]
fn cells_fire_independently_in_each_step_rollout_and_sample() {
    const CELLS: usize = 4096;
    const RATE: f32 = 0.6;
    let mask = |seed: u32, place: [u32; 3]| {
        let mut cells = vec![0.0; CELLS];
        fire(Isa::best(), seed, RATE, place, &mut cells);
        cells
    };
    let steps = (0..48).map(|step| (1, [5, step, 2]));
    let others = (1..48).flat_map(|n| [(1, [5 + n, 7, 2]), (1, [5, 7, 2 + n]), (1 + n, [5, 7, 2])]);
    let masks: Vec<Vec<f32>> = steps.chain(others).map(|(seed, place)| mask(seed, place)).collect();
    let near = |count: usize, expected: f32| (count as f32 / CELLS as f32 - expected).abs() < 0.045;
    for (i, one) in masks.iter().enumerate() {
        assert!(near(one.iter().filter(|&&fires| fires == 1.0).count(), RATE), "mask {i}");
        for (j, other) in masks[..i].iter().enumerate() {
            let same = one.iter().zip(other).filter(|(one, other)| one == other).count();
            assert!(near(same, RATE * RATE + (1.0 - RATE) * (1.0 - RATE)), "masks {i} and {j}: {same} of {CELLS} cells");
        }
    }
}

/// A Gumbel distribution has mean γ (Euler's constant), variance π²/6 and positive skewness.
#[test]
fn noise_has_a_gumbel_distribution() {
    let mut noise = vec![0.0; 200_000];
    gumbel(Isa::best(), 7, 3, &mut noise);
    let mean = |of: &dyn Fn(f64) -> f64| noise.iter().map(|&x| of(x.into())).sum::<f64>() / noise.len() as f64;
    let middle = mean(&|x| x);
    assert!((middle - 0.577_216).abs() < 0.01, "{middle}");
    let variance = mean(&|x| (x - middle).powi(2));
    assert!((variance - 1.644_934).abs() < 0.03, "{variance}");
    let skewness = mean(&|x| (x - middle).powi(3)) / variance.powf(1.5);
    assert!((skewness - 1.1395).abs() < 0.1, "{skewness}");
}

/// For this seed and update, the noise at index 36 comes from the largest uniform number, 1 - 2⁻²⁴.
#[test]
fn noise_is_finite_at_the_largest_uniform_number() {
    for isa in Isa::available() {
        let mut noise = [0.0; 64];
        gumbel(isa, 7, 192_956, &mut noise);
        assert!((noise[36] - 16.6355).abs() < 1e-3, "{}", noise[36]);
    }
}

#[test]
fn soft_rollouts_match_the_reference() {
    for (architecture, wiring, rollout) in cases() {
        for form in FORMS {
            let automaton = automaton(architecture.clone(), wiring, form, 3);
            let view = Rollout { width: 9, height: 6, batch: 3, steps: 4, ..rollout.clone() };
            let (start, _) = data(&architecture, &view);
            let expected = reference::roll(&automaton, &view, &start, fires(&view, 9, 77));
            let mut out = vec![0.0; start.len()];
            let mut trainer = Trainer::new(Isa::best(), automaton, rollout.clone(), Optimiser::default(), 9);
            trainer.roll_soft(&view, &start, &mut out, 77);
            for (x, y) in out.iter().zip(&expected) {
                assert!((f64::from(*x) - y).abs() < 1e-5, "{form:?}: {x} {y}");
            }
        }
    }
}

#[test]
fn gates_initially_pass_their_first_input() {
    for form in FORMS {
        let wirings = Wirings::new(&life(), Wiring::Unique, 1).unwrap();
        let automaton = Automaton::new(life(), wirings, form);
        assert!(automaton.ops().iter().all(|&op| op == 3));
        assert!(automaton.certainty().iter().all(|&c| (0.99..1.0).contains(&c)));
        assert_eq!(automaton.params.len(), life().gates() * form.width());
    }
}

#[test]
fn hardening_selects_the_likeliest_operation() {
    let wirings = Wirings::new(&life(), Wiring::Unique, 1).unwrap();
    let mut automaton = Automaton::new(life(), wirings, GateForm::Four);
    automaton.params[..4].copy_from_slice(&[-1.0, 2.0, 0.5, -3.0]);
    assert_eq!(automaton.ops()[0], 0b0110);
    let chances = [1.0f32, 2.0, 0.5, 3.0].map(|x| 1.0 / (1.0 + (-x).exp()));
    assert!((automaton.certainty()[0] - chances.iter().product::<f32>()).abs() < 1e-6);
    let mut automaton = Automaton { form: GateForm::Softmax, ..automaton };
    automaton.params = vec![0.0; 16 * life().gates()];
    automaton.params[16 + 9] = 3.0;
    assert_eq!(automaton.ops()[..2], [0, 9]);
    let chance = 3.0f32.exp() / (3.0f32.exp() + 15.0);
    assert!((automaton.certainty()[1] - chance).abs() < 1e-6);
}

/// Here the cells of a sample fill whole blocks, so each sample is computed separately.
#[test]
fn batch_gradients_are_sums_over_samples() {
    // The network is so large that the work has several pieces.
    let update = vec![256, 128, 64, 32, 16, 8, 8];
    let architecture = Architecture { channels: 8, kernels: 16, perception: vec![8, 4, 2], update };
    let rollout = Rollout { width: 24, height: 20, periodic: true, steps: 3, batch: 2, fire_rate: None };
    let (start, target) = data(&architecture, &rollout);
    let begin = automaton(architecture, Wiring::Unique, GateForm::Softmax, 3);
    let still = Optimiser { lr: 0.0, ..Optimiser::default() };
    let of = |batch: usize, start: &[f32], target: &[f32]| {
        let rollout = Rollout { batch, ..rollout.clone() };
        let mut it = Trainer::new(Isa::best(), begin.clone(), rollout.clone(), still, 1);
        let loss = it.step(start, target, CHANNELS).loss;
        let mut out = vec![0.0; start.len()];
        it.roll_soft(&rollout, start, &mut out, 0);
        (loss, it.gradient().to_vec(), out)
    };
    let (loss, gradient, out) = of(2, &start, &target);
    let mut each = start.chunks(start.len() / 2).zip(target.chunks(target.len() / 2));
    let [one, two] = [(); 2].map(|()| each.next().map(|(start, target)| of(1, start, target)).unwrap());
    assert!((loss - one.0 - two.0).abs() < 1e-5 * loss && one.0 != two.0);
    let most = gradient.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    for (x, (one, two)) in gradient.iter().zip(one.1.iter().zip(&two.1)) {
        assert!((x - one - two).abs() < 1e-5 * most);
    }
    assert!(out == [one.2, two.2].concat());
}

/// The golden values are the loss, the gradient and the optimiser steps that JAX and Optax compute.
#[test]
fn training_matches_jax_and_optax() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../../../../../tests/golden/logic_layers.json")).unwrap();
    let number = |x: &serde_json::Value| x.as_f64().unwrap();
    let list = |x: &serde_json::Value| -> Vec<f64> { x.as_array().unwrap().iter().map(number).collect() };
    fn flat(x: &serde_json::Value) -> Vec<f32> {
        match x.as_array() {
            Some(items) => items.iter().flat_map(flat).collect(),
            None => vec![x.as_f64().unwrap() as f32],
        }
    }
    for case in golden.as_array().unwrap() {
        let size = |x: &serde_json::Value| x.as_u64().unwrap() as usize;
        let sizes = |x: &serde_json::Value| -> Vec<usize> { x.as_array().unwrap().iter().map(size).collect() };
        let wires = |x: &serde_json::Value| -> Vec<Wires> {
            let ends = |x: &serde_json::Value| list(x).into_iter().map(|x| x as u32).collect();
            let layers = x.as_array().unwrap().iter();
            layers.map(|layer| Wires { a: ends(&layer[0]), b: ends(&layer[1]) }).collect()
        };
        let architecture = Architecture {
            channels: size(&case["channels"]),
            kernels: size(&case["kernels"]),
            perception: sizes(&case["layers"][0]),
            update: sizes(&case["layers"][1]),
        };
        let wirings = Wirings { perception: wires(&case["perception"]), update: wires(&case["update"]) };
        let mut automaton = Automaton::new(architecture, wirings, GateForm::Softmax);
        automaton.params = flat(&case["logits_in_tenths"]).into_iter().map(|x| x / 10.0).collect();
        let grid = &case["start"][0][0];
        let rollout = Rollout {
            width: grid[0].as_array().unwrap().len(),
            height: grid.as_array().unwrap().len(),
            periodic: case["periodic"].as_bool().unwrap(),
            steps: size(&case["steps"]),
            batch: case["start"].as_array().unwrap().len(),
            fire_rate: None,
        };
        let channels = case["target"][0].as_array().unwrap().len();
        let (start, target) = (flat(&case["start"]), flat(&case["target"]));
        let clip = number(&case["clip"]) as f32;
        for isa in Isa::available() {
            let still = Optimiser { lr: 0.0, ..Optimiser::default() };
            let mut first = Trainer::new(isa, automaton.clone(), rollout.clone(), still, 1);
            let loss = f64::from(first.step(&start, &target, channels).loss);
            assert!((loss / number(&case["loss"]) - 1.0).abs() < 1e-5, "{loss} {}", case["loss"]);
            let expected = list(&case["gradient"]);
            let most = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            assert_eq!(first.gradient().len(), expected.len());
            for (x, y) in first.gradient().iter().zip(&expected) {
                assert!((f64::from(*x) - y).abs() < 2e-5 * most, "{x} {y}");
            }
            let optimiser = Optimiser { clip, ..Optimiser::default() };
            let mut trainer = Trainer::new(isa, automaton.clone(), rollout.clone(), optimiser, 1);
            for expected in list(&case["losses"]) {
                let loss = f64::from(trainer.step(&start, &target, channels).loss);
                assert!((loss / expected - 1.0).abs() < 2e-5, "{loss} {expected}");
            }
            let after = trainer.automaton().params.iter().step_by(5);
            for (x, y) in after.zip(list(&case["logits_after"])) {
                assert!((f64::from(*x) - y).abs() < 2e-3, "{x} {y}");
            }
        }
    }
}
