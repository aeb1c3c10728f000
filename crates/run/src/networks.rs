//! Views of a learner's networks, for drawings.

use crate::protocol::{LayerView, NetworkView};
use learn::{LayerValues, NetworkValues, Tensor};

/// Maximum number of inputs, and of units of a layer, that a view lists. The others are left out.
const LISTED: usize = 64;

/// Returns a view of each network, with its values in the first state. `tensors` are the learner's tensors.
pub(crate) fn views(networks: Vec<NetworkValues>, tensors: &[Tensor]) -> Vec<NetworkView> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use learn::InputValue;

    /// Weights and gradients are those of the pairs of units that an edge connects, in both layouts of a matrix.
    #[test]
    fn edges_have_the_weights_of_their_units() {
        let tensor = |name: &str, weights, gradients| Tensor { name: name.into(), shape: vec![3, 2], weights, gradients };
        let first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let second = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
        let tensors = [tensor("table", &first, &second), tensor("dense", &second, &first)];
        let layer = |weight: &str, by_input, values: &[f32]| LayerValues { weight: weight.into(), by_input, values: values.to_vec() };
        let network = NetworkValues {
            title: "Net".into(),
            inputs: vec![InputValue::at(2, "a".into(), 7.0), InputValue { name: "b".into(), value: 8.0, terms: vec![(0, 2.0), (1, -1.0)] }],
            layers: vec![layer("table", true, &[0.1, 0.2]), layer("dense", false, &[1.0, 2.0, 3.0])],
            outputs: vec!["out".into()],
        };
        let view = views(vec![network], &tensors).remove(0);
        assert_eq!((view.input_names, view.inputs), (vec!["a".to_string(), "b".into()], vec![7.0, 8.0]));
        let [table, dense] = &view.layers[..] else { panic!("two layers") };
        // Row 2 of the table, and twice row 0 minus row 1, for each of the two units.
        assert_eq!(table.weights, [5.0, 2.0 - 3.0, 6.0, 4.0 - 4.0]);
        assert_eq!(table.gradients, [50.0, 20.0 - 30.0, 60.0, 40.0 - 40.0]);
        assert_eq!((dense.units, &dense.weights[..], &dense.gradients[..]), (3, &second[..], &first[..]));
        assert_eq!(dense.activations, [1.0, 2.0, 3.0]);
    }
}
