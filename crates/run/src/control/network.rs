//! Values of the units and weights of policy and critic in one state, for a drawing. This module computes the layers itself, without the
//! compute plans of training.

use super::protocol::{LayerView, NetworkView};
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Tensor};

/// Maximum number of units of a layer that a `NetworkView` contains. The other units are left out.
const LISTED: usize = 64;

pub(crate) fn view(ppo: &Ppo, observation: &[f64]) -> NetworkView {
    let observation = ppo.normalized(observation);
    let tensors = ppo.tensors();
    let chain = |net| chain(ppo.config(), &tensors, net, &observation);
    NetworkView { policy: chain("policy"), critic: chain("critic"), observation }
}

/// Returns the layers of the network `net`, from the first hidden layer to the output.
fn chain(config: &PpoConfig, tensors: &[Tensor], net: &str, observation: &[f32]) -> Vec<LayerView> {
    let trunk = if config.shared { "trunk" } else { net };
    let activate = |x: f32| if config.tanh { x.tanh() } else { x.max(0.0) };
    let find = |name: String| tensors.iter().find(|tensor| tensor.name == name).expect("the networks have this tensor");
    let mut inputs = observation.to_vec();
    let next = |(i, name): (usize, String)| {
        let (weight, bias) = (find(format!("{name}.weight")), find(format!("{name}.bias")));
        let mut outputs = dense(weight.weights, bias.weights, &inputs);
        if i < 2 {
            outputs.iter_mut().for_each(|x| *x = activate(*x));
        }
        let inputs = std::mem::replace(&mut inputs, outputs.clone()).len();
        layer(name, weight, inputs, outputs)
    };
    [format!("{trunk}.0"), format!("{trunk}.1"), format!("{net}.2")].into_iter().enumerate().map(next).collect()
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
