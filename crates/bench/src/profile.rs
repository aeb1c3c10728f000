//! Time of each operation in a training step. The clock is read after every call. The time between two readings counts for the call between
//! them. A timed step differs from an untimed step only by these readings, so the weights are bit-identical.

use crate::measure::{Bench, Clock};
use crate::training::Training;
use graph::Operation;
use math::rounds::{ROUND_S, sustained_s};

/// Operations that a step runs once, after all executions of its plan.
const ONCE: [&str; 2] = ["adam", "pack"];

impl Training {
    /// Runs a step with timed calls. The executor sums the seconds of the plan's calls. This function adds the seconds of Adam and of the
    /// packing to `once_s`.
    pub fn train_timed(&mut self, now: Clock, once_s: &mut [f64; 2]) {
        self.gradients();
        let began_s = now();
        self.step();
        let stepped_s = now();
        self.packed.pack(&self.params);
        once_s[0] += stepped_s - began_s;
        once_s[1] += now() - stepped_s;
    }

    /// Runs timed steps for one round. Returns the number of steps, and the time of each operation over all steps.
    fn round(&mut self, now: Clock) -> (usize, Vec<Operation>) {
        self.executor.time_calls(Some(now));
        let (mut once_s, mut steps, began_s) = ([0.0; 2], 0, now());
        while steps == 0 || now() - began_s < ROUND_S {
            self.train_timed(now, &mut once_s);
            steps += 1;
        }
        let mut operations = self.executor.operations();
        self.executor.time_calls(None);
        operations.iter_mut().for_each(|operation| operation.calls *= self.runs);
        let shape = self.params.values().len().to_string();
        let once = ONCE.into_iter().zip(once_s);
        operations.extend(once.map(|(name, seconds)| Operation { name, shape: shape.clone(), calls: 1, seconds }));
        (steps, operations)
    }
}

/// Reports for each operation its milliseconds per step and its share of the step. The operation with the longest time is first. Then
/// reports the whole step with and without timed calls. Values are medians of sustained rounds.
pub fn profile_training(prefix: &str, training: &mut Training, rounds: usize, bench: &mut Bench) {
    let now = bench.now;
    // Warm-up, because the first step does one-time work.
    training.train();
    let mut found: Vec<(Operation, Vec<f64>)> = Vec::new();
    let (mut whole, mut untimed) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (steps, operations) = training.round(now);
        let ms = |operation: &Operation| 1e3 * operation.seconds / steps as f64;
        whole.push(operations.iter().map(ms).sum());
        for operation in operations {
            let ms = ms(&operation);
            match found.iter_mut().find(|(known, _)| (known.name, &known.shape) == (operation.name, &operation.shape)) {
                Some((_, rounds)) => rounds.push(ms),
                None => found.push((operation, vec![ms])),
            }
        }
        untimed.push(1e3 * sustained_s(ROUND_S, &now, || training.train()));
    }
    let sum = |rounds: &[f64]| rounds.iter().sum::<f64>();
    found.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
    for (Operation { name, shape, calls, .. }, rounds) in found {
        let unit = format!("ms per step in {calls} calls, {:.3} of its time", sum(&rounds) / sum(&whole));
        bench.give(format!("{prefix}.profile.{name}.{shape}"), &rounds, unit);
    }
    bench.give(format!("{prefix}.profile.all"), &whole, "ms per step, sum of all operations");
    bench.give(format!("{prefix}.profile.step"), &untimed, "ms per step without timed calls");
}
