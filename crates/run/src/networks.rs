//! Views of a learner's networks, for drawings.

use crate::protocol::{LayerView, NetworkView};
use learn::{LayerValues, NetworkValues, Tensor};

/// Maximum number of inputs, and of units of a layer, that a view lists. The others are left out.
const LISTED: usize = 64;

/// Returns a view of each network, with its values in the first state. `tensors` are the learner's tensors.
pub fn views(networks: Vec<NetworkValues>, tensors: &[Tensor]) -> Vec<NetworkView> {
    networks.into_iter().map(|network| view(network, tensors)).collect()
}

fn view(network: NetworkValues, tensors: &[Tensor]) -> NetworkView {
    let NetworkValues { title, mut inputs, layers, outputs } = network;
    inputs.truncate(LISTED);
    let (names, values) = inputs.iter().map(|input| (input.name.clone(), input.value)).unzip();
    let mut listed: Vec<_> = inputs.into_iter().map(|input| input.terms).collect();
    let layers = layers.iter().map(|layer| layer_view(layer, tensors, &mut listed)).collect();
    NetworkView { title, input_names: names, inputs: values, layers, output_names: outputs }
}

/// `inputs` are the terms of the layer's listed inputs. They are replaced by those of the next layer.
fn layer_view(layer: &LayerValues, tensors: &[Tensor], inputs: &mut Vec<Vec<(usize, f32)>>) -> LayerView {
    let tensor = tensors.iter().find(|tensor| tensor.name == layer.weight).expect("the learner has the weights of its layers");
    let units = tensor.shape[usize::from(layer.by_input)];
    let terms = std::mem::replace(inputs, (0..units.min(LISTED)).map(|unit| vec![(unit, 1.0)]).collect());
    let edges = |matrix: &[f32]| {
        let columns = tensor.shape[1];
        let at = |unit: usize, input: usize| if layer.by_input { input * columns + unit } else { unit * columns + input };
        let edge = |unit, terms: &[(usize, f32)]| terms.iter().map(|&(input, scale)| scale * matrix[at(unit, input)]).sum();
        (0..units.min(LISTED)).flat_map(|unit| terms.iter().map(move |terms| edge(unit, terms))).collect()
    };
    LayerView {
        name: layer.weight.clone(),
        units: units as u32,
        activations: layer.values[..units.min(LISTED)].to_vec(),
        weights: edges(tensor.weights),
        gradients: edges(tensor.gradients),
    }
}
