//! Tests of the views of a learner: the histograms of its tensors, and the edges of its networks.

use learn::{InputValue, LayerValues, NetworkValues, Tensor};
use run::internals::{histogram, network_views};
use run::protocol::Histogram;

/// Number of bins of a histogram.
const BINS: usize = 64;

#[test]
fn histograms_agree_with_a_sorted_count() {
    let values: Vec<f32> = (0..1000).map(|i| ((i * 37) % 101) as f32 - 20.0).collect();
    let Histogram { min, max, mean, deviation, counts } = histogram(&values);
    assert_eq!((min, max), (-20.0, 80.0));
    let exact = values.iter().map(|&x| f64::from(x)).sum::<f64>() / 1000.0;
    let square = values.iter().map(|&x| (f64::from(x) - exact).powi(2)).sum::<f64>() / 1000.0;
    assert!((mean - exact).abs() < 1e-9 && (deviation - square.sqrt()).abs() < 1e-9, "{mean} {deviation}");
    let width = (max - min) / BINS as f64;
    for (bin, &count) in counts.iter().enumerate() {
        let from = min + width * bin as f64;
        let holds = |x: f64| x >= from && (x < from + width || bin == BINS - 1);
        let expected = values.iter().filter(|&&x| holds(x.into())).count();
        assert_eq!(count as usize, expected, "bin {bin}");
    }
}

#[test]
fn equal_and_invalid_values_have_a_histogram() {
    let Histogram { min, max, deviation, counts, .. } = histogram(&[0.5, f32::NAN, 0.5, f32::INFINITY]);
    assert_eq!((min, max, deviation, counts[0]), (0.5, 0.5, 0.0, 2));
    assert_eq!(counts.iter().sum::<u32>(), 2, "only finite values are counted");
    let nothing = histogram(&[f32::NAN]);
    assert_eq!((nothing.min, nothing.counts), (0.0, vec![0; BINS]));
}

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
    let view = network_views(vec![network], &tensors).remove(0);
    assert_eq!((view.input_names, view.inputs), (vec!["a".to_string(), "b".into()], vec![7.0, 8.0]));
    let [table, dense] = &view.layers[..] else { panic!("two layers") };
    // Row 2 of the table, and twice row 0 minus row 1, for each of the two units.
    assert_eq!(table.weights, [5.0, 2.0 - 3.0, 6.0, 4.0 - 4.0]);
    assert_eq!(table.gradients, [50.0, 20.0 - 30.0, 60.0, 40.0 - 40.0]);
    assert_eq!((dense.units, &dense.weights[..], &dense.gradients[..]), (3, &second[..], &first[..]));
    assert_eq!(dense.activations, [1.0, 2.0, 3.0]);
}
