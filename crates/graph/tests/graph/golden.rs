//! Compares losses, gradients and Adam steps of three small nets with results of PyTorch, which tests/golden/graph_nets.py has recorded.

use crate::nets::{self, Learning};
use graph::{Adam, Graph, Isa, NodeId, Params, Plan};
use serde_json::Value;
use testkit::test;

const NETS: &str = include_str!("../../../../tests/golden/graph_nets.json");

/// Name of a net in the script, and a function that builds the net and returns its outputs, the loss first.
type Net = (&'static str, fn(&mut Graph) -> Vec<(&'static str, NodeId)>);

const BUILD: [Net; 3] = [
    ("relu_classifier", |g| vec![("loss", nets::relu_classifier(g))]),
    ("residual_classifier", |g| vec![("loss", nets::residual_classifier(g))]),
    ("ppo", |g| {
        let (loss, watched) = nets::ppo_loss(g, 40);
        [("loss", loss)].into_iter().chain(watched).collect()
    }),
];

fn values(record: &Value) -> Vec<f32> {
    record["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
}

/// Sets every parameter to the value of the same name in `record`, and checks the shapes.
fn set(params: &mut Params, record: &Value) {
    let specs = params.table().specs().to_vec();
    assert_eq!(specs.len(), record.as_object().unwrap().len(), "number of parameters");
    for spec in specs {
        let tensor = &record[&*spec.name];
        let shape: Vec<u64> = tensor["shape"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
        assert!(shape.iter().eq(spec.file_shape().iter().map(|d| *d as u64).collect::<Vec<_>>().iter()), "{}", spec.name);
        params.get_mut(&spec.name).unwrap().copy_from_slice(&values(tensor));
    }
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32], tolerance: f64) {
    testkit::close(&format!("{what}, as PyTorch has it"), found, expected, tolerance, 1e-3);
}

#[test]
fn losses_gradients_and_adam_agree_with_pytorch() {
    let golden: Value = serde_json::from_str(NETS).unwrap();
    for (record, (name, build)) in golden["nets"].as_array().unwrap().iter().zip(BUILD) {
        assert_eq!(record["name"], name);
        for isa in Isa::available() {
            let mut g = Graph::new();
            let outputs = build(&mut g);
            let gradients = g.gradients(outputs[0].1);
            let plan = Plan::training(&g, &outputs, &gradients, isa).unwrap();
            let mut params = Params::new(g.table(), 0);
            set(&mut params, &record["params"]);
            let mut learning = Learning::new(plan, params);
            for (input, _) in g.inputs() {
                learning.executor.input_mut(input).copy_from_slice(&values(&record["inputs"][input]));
            }
            learning.train(false);
            let what = format!("{name}, {}", isa.name());
            for (output, _) in &outputs {
                let expected = record["outputs"][output].as_f64().unwrap() as f32;
                close(&format!("{what}: {output}"), learning.executor.output(output), &[expected], 1e-4);
            }
            for spec in g.table().specs() {
                let expected = values(&record["gradients"][&*spec.name]);
                let found = &learning.grads[spec.range()];
                close(&format!("{what}: gradient of {}", spec.name), found, &expected, 1e-4);
            }

            let adam = Adam { lr: 0.01, eps: 1e-5, max_grad_norm: 0.1, ..Adam::default() };
            for _ in 0..2 {
                learning.train(false);
                learning.update(isa, &adam);
            }
            for spec in g.table().specs() {
                let (found, expected) = (learning.params.get(&spec.name).unwrap(), values(&record["after_two_steps"][&*spec.name]));
                close(&format!("{what}: {} after Adam", spec.name), found, &expected, 1e-3);
            }
        }
    }
}
