//! Time of each operation in a training step. The clock is read after every call. The time between two readings counts for the call between
//! them. A timed step differs from an untimed step only by these readings, so the weights are bit-identical.

use crate::measure::{Bench, Clock};
use crate::training::Training;
use graph::Operation;
use math::rounds::{ROUND_S, sustained_s};

/// Operations that a step runs once, after all executions of its plan.
const ONCE: [&str; 2] = ["adam", "pack"];

impl Training {
    /// Runs a step with timed calls. The executor sums the seconds of the plan's calls. This function adds the seconds of the [`ONCE`]
    /// operations to `once_s`.
    fn train_timed(&mut self, now: Clock, once_s: &mut [f64; 2]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::small_step;
    use crate::figure::Figure;
    use crate::measure::noise;
    use math::Isa;
    use std::cell::Cell;

    thread_local! {
        static CLOCK_S: Cell<f64> = const { Cell::new(0.0) };
    }

    /// Reads a simulated clock, which advances by 0.0625 s at each reading. Returns the time in seconds before the advance.
    fn read_s() -> f64 {
        CLOCK_S.replace(CLOCK_S.get() + 0.0625)
    }

    #[test]
    fn timed_steps_are_bit_identical() {
        let (mut plain, mut timed) = (small_step(Isa::best()), small_step(Isa::best()));
        timed.executor.time_calls(Some(read_s));
        for (run, training) in [&mut plain, &mut timed].into_iter().enumerate() {
            training.runs = 2;
            for step in 0..5 {
                training.executor.input_mut("target").copy_from_slice(&noise(64 * 6));
                training.executor.input_mut("target")[step] = 3.0;
                if run == 0 { training.train() } else { training.train_timed(read_s, &mut [0.0; 2]) }
            }
        }
        assert_eq!(plain.params.values(), timed.params.values());
        assert_eq!(plain.executor.output("loss"), timed.executor.output("loss"));
        assert_ne!(plain.params.values(), small_step(Isa::best()).params.values());
    }

    #[test]
    fn operations_add_up_to_the_step() {
        let mut training = small_step(Isa::best());
        training.runs = 3;
        training.executor.time_calls(Some(read_s));
        let (began_s, mut once_s) = (CLOCK_S.get(), [0.0; 2]);
        training.train_timed(read_s, &mut once_s);
        assert_eq!(once_s, [0.0625; 2]);
        let operations = training.executor.operations();
        let calls: usize = operations.iter().map(|operation| operation.calls).sum();
        assert_eq!(calls, training.plan.steps().len());
        for Operation { name, calls, seconds, .. } in &operations {
            assert_eq!(*seconds, 0.0625 * 3.0 * *calls as f64, "{name} in three runs");
        }
        assert!(operations.is_sorted_by(|a, b| a.seconds >= b.seconds));
        // Each of the three runs also reads the clock before its first call. The operations in [`ONCE`] need three more readings: before,
        // between and after them.
        let ticks = (CLOCK_S.get() - began_s) / 0.0625;
        assert_eq!(ticks, 3.0 * (calls + 1) as f64 + 3.0);
        training.executor.time_calls(None);
        assert!(!training.executor.is_timed() && training.executor.operations().is_empty());
    }

    #[test]
    fn profile_rows_have_names_shapes_and_shares_that_add_up() {
        let mut rows = Vec::new();
        let (attach, report_missing, sink) = (&mut |_: &_| None, &mut |_| {}, &mut |figure| rows.push(figure));
        let mut bench = Bench { isa: Isa::best(), now: read_s, attach, sink, report_missing };
        profile_training("x", &mut small_step(Isa::best()), 3, &mut bench);
        let names: Vec<_> = rows.iter().map(|row| row.name.clone()).collect();
        for expected in ["x.profile.linear.64x144x128", "x.profile.linear_dw.64x144x128", "x.profile.adam.27216"] {
            assert!(names.iter().any(|name| name == expected), "{expected} is not in {names:?}");
        }
        let share = |row: &Figure| -> f64 {
            let (_, share) = row.unit.split_once(" calls, ").unwrap();
            share.split(' ').next().unwrap().parse().unwrap()
        };
        let (ends, parts) = (&rows[rows.len() - 2..], &rows[..rows.len() - 2]);
        assert!((parts.iter().map(share).sum::<f64>() - 1.0).abs() < 0.01, "{parts:?}");
        let sum: f64 = parts.iter().map(|row| row.value).sum();
        assert!((sum / ends[0].value - 1.0).abs() < 1e-6, "{sum} {ends:?}");
    }
}
