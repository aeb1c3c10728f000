//! Tests of the cube: searches, the supervised and the deep-Q learners, offloaded judges, and values of networks.

mod dqn;
mod offload;
mod supervised;
mod values;

use learn::{Learner, Progress};
use math::Rng;
use std::sync::{Arc, LazyLock};
use worlds::cube::{Distances, Metric, Puzzle};

pub static QUARTER: LazyLock<Arc<Distances>> = LazyLock::new(|| Arc::new(Distances::new(Metric::Quarter)));

fn iterate(learner: &mut impl Learner, count: u64) {
    let end = learner.progress().iterations() + count;
    while learner.progress().iterations() < end {
        learner.advance();
    }
}

fn drawn<P: Puzzle>(seed: u32, count: usize) -> Vec<P> {
    let mut numbers = Rng::new(seed, 1).sequence(0);
    std::iter::repeat_with(|| P::drawn(&mut numbers)).take(count).collect()
}
