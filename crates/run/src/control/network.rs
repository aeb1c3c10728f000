//! Values of the units and weights of policy and critic, for drawings. This module computes the layers itself, without the
//! compute plans of training.

use super::protocol::{LayerView, NetworkView};
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Tensor};
use std::collections::BTreeMap;

/// Maximum number of units of a layer that a `NetworkView` contains. The other units are left out.
const LISTED: usize = 64;

pub(crate) fn view(ppo: &Ppo, observation: &[f64]) -> NetworkView {
    let observation = ppo.normalized(observation);
    let tensors = ppo.tensors();
    let chain = |net| {
        let mut inputs = observation.len();
        let listed = |(name, outputs): (String, Vec<f32>)| {
            let inputs = std::mem::replace(&mut inputs, outputs.len());
            let weight = find(&tensors, &format!("{name}.weight"));
            layer(name, weight, inputs, outputs)
        };
        outputs(ppo.config(), &tensors, net, &observation).into_iter().map(listed).collect()
    };
    NetworkView { policy: chain("policy"), critic: chain("critic"), observation }
}

/// Returns the activations of each layer of policy and critic in all `states`, with the name of the layer's weight tensor.
pub(crate) fn activations<'a>(ppo: &Ppo, states: impl Iterator<Item = &'a [f64]>) -> Vec<(String, Vec<f32>)> {
    let tensors = ppo.tensors();
    let mut found = BTreeMap::<String, Vec<f32>>::new();
    for observation in states.map(|state| ppo.normalized(state)) {
        // Both networks may have the same trunk, whose values are added once.
        let layers: BTreeMap<_, _> =
            ["policy", "critic"].into_iter().flat_map(|net| outputs(ppo.config(), &tensors, net, &observation)).collect();
        layers.into_iter().for_each(|(name, values)| found.entry(format!("{name}.weight")).or_default().extend(values));
    }
    found.into_iter().collect()
}

/// Returns the name and the outputs of each layer of the network `net`, from the first hidden layer to the output.
fn outputs(config: &PpoConfig, tensors: &[Tensor], net: &str, observation: &[f32]) -> Vec<(String, Vec<f32>)> {
    let trunk = if config.shared { "trunk" } else { net };
    let activate = |x: f32| if config.tanh { x.tanh() } else { x.max(0.0) };
    let mut inputs = observation.to_vec();
    let next = |(i, name): (usize, String)| {
        let (weight, bias) = (find(tensors, &format!("{name}.weight")), find(tensors, &format!("{name}.bias")));
        let mut outputs = dense(weight.weights, bias.weights, &inputs);
        if i < 2 {
            outputs.iter_mut().for_each(|x| *x = activate(*x));
        }
        inputs.clone_from(&outputs);
        (name, outputs)
    };
    [format!("{trunk}.0"), format!("{trunk}.1"), format!("{net}.2")].into_iter().enumerate().map(next).collect()
}

fn find<'a>(tensors: &'a [Tensor<'a>], name: &str) -> &'a Tensor<'a> {
    tensors.iter().find(|tensor| tensor.name == name).expect("the networks have this tensor")
}

fn dense(weights: &[f32], bias: &[f32], inputs: &[f32]) -> Vec<f32> {
    let dot = |row: &[f32]| row.iter().zip(inputs).map(|(w, x)| w * x).sum::<f32>();
    weights.chunks_exact(inputs.len()).zip(bias).map(|(row, b)| dot(row) + b).collect()
}

fn layer(name: String, weight: &Tensor, inputs: usize, mut outputs: Vec<f32>) -> LayerView {
    let units = outputs.len() as u32;
    outputs.truncate(LISTED);
    let listed = |values: &[f32]| values.chunks(inputs).take(LISTED).flat_map(|row| &row[..inputs.min(LISTED)]).copied().collect();
    LayerView { name, units, activations: outputs, weights: listed(weight.weights), gradients: listed(weight.gradients) }
}
