//! The loss of PPO and its gradients.

use graph::{Executor, Packed, Params};
use learn::control::PpoConfig;
use learn::control::ppo::{Head, METRICS};
use learn::internals::ppo::{Task, plan_learning};
use math::Isa;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
}

/// Returns the largest absolute difference between `found` and `expected`, divided by the largest absolute value in `expected` or 0.01,
/// whichever is greater.
fn apart(found: &[f32], expected: &[f32]) -> f32 {
    let largest = expected.iter().fold(0.01, |most: f32, x| most.max(x.abs()));
    testkit::distance(found, expected) as f32 / largest
}

/// The references are rounded to f32. `tests/golden/ppo_loss.py` computes PyTorch's distributions, loss and gradients in f64.
/// `tests/golden/ppo_loss_numbers.py` computes NumPy's loss and central differences, for actions of several numbers and for masks.
#[test]
fn losses_and_gradients_match_pytorch_and_numpy() {
    const TOLERANCE: f32 = 1e-5;
    let golden = include_str!("../../../../../tests/golden/ppo_loss.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    let number = |value: &Value| value.as_f64().unwrap() as f32;
    let more: Value = serde_json::from_str(include_str!("../../../../../tests/golden/ppo_loss_numbers.json")).unwrap();
    let cases: Vec<&Value> = [&golden, &more].into_iter().flat_map(|golden| golden["cases"].as_array().unwrap()).collect();
    assert_eq!(cases.len(), 12);
    for (case, isa) in cases.iter().flat_map(|case| Isa::available().into_iter().map(move |isa| (case, isa))) {
        let on = |name: &str| case[name].as_bool().unwrap();
        let head = match case["choices"].as_u64().unwrap() as usize {
            0 => Head::Gaussian { count: case["numbers"].as_u64().unwrap_or(1) as usize, middle: 0.0, half: 1.0, squash: on("squash") },
            count => Head::Choices(count),
        };
        let rows = case["batch"]["advantage"].as_array().unwrap().len();
        let observation = case["batch"]["observation"].as_array().unwrap().len() / rows;
        let config = PpoConfig {
            hidden: case["parameters"]["critic.2.weight"].as_array().unwrap().len(),
            shared: on("shared"),
            tanh: on("tanh"),
            clip_value: on("clip_value"),
            ..PpoConfig::default()
        };
        let mask = if case["masked"].as_bool() == Some(true) { head.outputs() } else { 0 };
        let plan = plan_learning(Task { observation, head, mask }, &config, rows, isa).unwrap();
        let mut params = Params::new(plan.table(), 0);
        let specs = params.table().specs().to_vec();
        assert_eq!(specs.len(), case["parameters"].as_object().unwrap().len(), "{}", case["name"]);
        for spec in &specs {
            let values = numbers(&case["parameters"][&*spec.name]);
            params.get_mut(&spec.name).unwrap().copy_from_slice(&values);
        }
        let packed = Packed::new(&plan, &params);
        let mut executor = Executor::new(&plan);
        for (name, values) in case["batch"].as_object().unwrap() {
            if name != "old_value" || config.clip_value {
                executor.input_mut(name).copy_from_slice(&numbers(values));
            }
        }
        for name in ["clip", "entropy_coef", "value_coef"] {
            executor.input_mut(name)[0] = number(&golden[name]);
        }
        let mut grads = vec![0.0; params.values().len()];
        executor.train(&params, &packed, &mut grads, false);

        let what = format!("{}, {}", case["name"], isa.name());
        for name in METRICS {
            let (found, expected) = (executor.output(name)[0], number(&case["outputs"][name]));
            let error = (found - expected).abs() / expected.abs().max(0.1);
            assert!(error < TOLERANCE, "{what}: {name} is {found}, not {expected}");
        }
        for spec in &specs {
            let expected = numbers(&case["gradients"][&*spec.name]);
            let error = apart(&grads[spec.range()], &expected);
            assert!(error < TOLERANCE, "{what}: the gradient of {} is {error} off", spec.name);
        }
    }
}
