//! Distributions of the values of a learner's parameter tensors, and of the activations of their layers.

use crate::protocol::{Histogram, TensorView};
use learn::{NetworkValues, Tensor};
use math::par;

/// Number of bins of a histogram.
const BINS: usize = 64;

/// Returns a view of each tensor. `networks` are the learner's networks with their values in some states. Two networks may share a layer.
pub(crate) fn views(tensors: &[Tensor], networks: &[NetworkValues]) -> Vec<TensorView> {
    let layers = || networks.iter().flat_map(|network| &network.layers);
    let view = |tensor: &Tensor| TensorView {
        name: tensor.name.clone(),
        shape: tensor.shape.iter().map(|&len| len as u32).collect(),
        weights: Histogram::default(),
        gradients: None,
        activations: layers().find(|layer| layer.weight == tensor.name).map(|layer| histogram(&layer.values)),
    };
    let mut views: Vec<_> = tensors.iter().map(view).collect();
    par::each_mut(&mut views, |i, view| {
        let Tensor { weights, gradients, .. } = tensors[i];
        view.weights = histogram(weights);
        view.gradients = (!gradients.is_empty()).then(|| histogram(gradients));
    });
    views
}

pub fn histogram(values: &[f32]) -> Histogram {
    let finite = || values.iter().filter(|x| x.is_finite()).map(|&x| f64::from(x));
    let mut counts = vec![0; BINS];
    let (min, max) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), x| (x.min(min), x.max(max)));
    if min > max {
        return Histogram { counts, ..Histogram::default() };
    }
    let scale = if max > min { BINS as f64 / (max - min) } else { 0.0 };
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for above in finite().map(|x| x - min) {
        counts[((above * scale) as usize).min(BINS - 1)] += 1;
        (count, sum, squares) = (count + 1.0, sum + above, squares + above * above);
    }
    let mean = sum / count;
    Histogram { min, max, mean: min + mean, deviation: (squares / count - mean * mean).max(0.0).sqrt(), counts }
}
