//! Where the time of a training step goes, call by call of its plan. The clock is read between two calls and nothing else is added, so
//! parts add up to the step, and weights are those of a step that is not looked at, to the bit.

use super::{Figure, ROUND_S, Training, sustained_s};

/// What a step does once, behind all runs of its plan.
const ONCE: [&str; 2] = ["adam", "pack"];

impl Training {
    /// A step whose clock is read before it, between its calls and behind it. `took` is told each call, counted over the plan, and its
    /// seconds; the optimizer and the packing of weights are the two behind the last.
    fn train_by_calls(&mut self, now: &dyn Fn() -> f64, took: &mut dyn FnMut(usize, f64)) {
        let calls = self.plan.steps().len();
        let mut read_s = now();
        let mut lap = |call: usize| {
            let at_s = now();
            took(call, at_s - read_s);
            read_s = at_s;
        };
        for run in 0..self.runs {
            for call in 0..calls {
                let (params, packed) = (&self.params, &self.packed);
                self.executor.train_part(params, packed, &mut self.grads, run > 0, call..call + 1);
                lap(call);
            }
        }
        self.optimizer.step(self.plan.isa(), &self.adam, &mut self.params, &self.grads);
        lap(calls);
        self.packed.pack(&self.params);
        lap(calls + 1);
    }

    /// What [`Training::train_by_calls`] counts, by name and shape.
    fn call_names(&self) -> Vec<String> {
        let steps = self.plan.steps().iter();
        let mut names: Vec<String> =
            steps.map(|step| format!("{} {}", step.call.name(), self.plan.shape_of(step))).collect();
        names.extend(ONCE.map(|name| format!("{name} {}", self.params.values().len())));
        names
    }
}

/// Of each kind of call its milliseconds in a step and its share of the step, the longest first; then the step itself, by parts and with
/// the clock read at its ends alone. Rounds are as for every figure: the median of sustained ones.
pub(crate) fn profile(
    prefix: &str,
    training: &mut Training,
    rounds: usize,
    now: &dyn Fn() -> f64,
    sink: &mut dyn FnMut(Figure),
) {
    let names = training.call_names();
    let mut kinds: Vec<&str> = names.iter().map(String::as_str).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kind_of: Vec<usize> = names
        .iter()
        .map(|name| kinds.iter().position(|kind| kind == name).expect("it is one of them"))
        .collect();
    // What the first step alone does is done.
    training.train();
    let mut parts = vec![Vec::new(); kinds.len()];
    let (mut whole, mut unread) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (mut sums_s, mut steps, began_s) = (vec![0.0; kinds.len()], 0.0, now());
        while steps == 0.0 || now() - began_s < ROUND_S {
            training.train_by_calls(now, &mut |call, took_s| sums_s[kind_of[call]] += took_s);
            steps += 1.0;
        }
        whole.push(1e3 * sums_s.iter().sum::<f64>() / steps);
        parts.iter_mut().zip(sums_s).for_each(|(rounds, sum_s)| rounds.push(1e3 * sum_s / steps));
        unread.push(1e3 * sustained_s(ROUND_S, now, || training.train()));
    }
    let total: f64 = whole.iter().sum();
    let mut rows: Vec<_> = kinds.iter().enumerate().zip(parts).collect();
    let sum = |rounds: &[f64]| rounds.iter().sum::<f64>();
    rows.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
    for ((kind, name), rounds) in rows {
        let calls = training.runs_of(kind_of.iter().filter(|&&of| of == kind).count(), name);
        let unit = format!("ms a step in {calls} calls, {:.3} of its time", sum(&rounds) / total);
        sink(Figure::measured(format!("{prefix}.profile.{}", name.replace(' ', ".")), &rounds, unit));
    }
    sink(Figure::measured(format!("{prefix}.profile.all"), &whole, "ms a step, all of these together"));
    sink(Figure::measured(format!("{prefix}.profile.step"), &unread, "ms a step that is not cut into calls"));
}

impl Training {
    /// How often a step makes calls that one run of its plan makes so often.
    fn runs_of(&self, calls: usize, name: &str) -> usize {
        let once = name.split_once(' ').is_some_and(|(name, _)| ONCE.contains(&name));
        if once { calls } else { calls * self.runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{noise, small_step};
    use math::Isa;
    use std::cell::Cell;

    #[test]
    fn a_step_that_is_looked_at_has_the_same_bits() {
        let (mut plain, mut read) = (small_step(Isa::best()), small_step(Isa::best()));
        for (run, training) in [&mut plain, &mut read].into_iter().enumerate() {
            training.runs = 2;
            for step in 0..5 {
                training.executor.input_mut("target").copy_from_slice(&noise(64 * 6));
                training.executor.input_mut("target")[step] = 3.0;
                if run == 0 { training.train() } else { training.train_by_calls(&|| 0.0, &mut |_, _| {}) }
            }
        }
        assert_eq!(plain.params.values(), read.params.values());
        assert_eq!(plain.executor.output("loss"), read.executor.output("loss"));
        assert_ne!(plain.params.values(), small_step(Isa::best()).params.values());
    }

    /// A clock that goes on by a tick whenever it is read: each call takes one.
    #[test]
    fn calls_are_told_apart_and_add_up_to_the_step() {
        let mut training = small_step(Isa::best());
        training.runs = 3;
        let ticks = Cell::new(0.0);
        let now = || ticks.replace(ticks.get() + 1.0);
        let calls = training.plan.steps().len();
        let mut told = vec![0.0; calls + 2];
        training.train_by_calls(&now, &mut |call, took| told[call] += took);
        assert_eq!(told[..calls], vec![3.0; calls], "once a run");
        assert_eq!(told[calls..], [1.0, 1.0], "once a step");
        assert_eq!(told.iter().sum::<f64>(), ticks.get() - 1.0);
    }

    #[test]
    fn rows_have_names_shapes_and_shares_that_add_up() {
        let clock_s = Cell::new(0.0);
        let now = || clock_s.replace(clock_s.get() + 0.05);
        let mut rows = Vec::new();
        profile("x", &mut small_step(Isa::best()), 3, &now, &mut |figure| rows.push(figure));
        let names: Vec<_> = rows.iter().map(|row| row.name().to_string()).collect();
        for wanted in
            ["x.profile.linear.64x144x128", "x.profile.linear_dw.64x144x128", "x.profile.adam.27216"]
        {
            assert!(names.iter().any(|name| name == wanted), "{wanted} is not in {names:?}");
        }
        let share = |row: &Figure| -> f64 {
            let (_, share) = row.unit().split_once(" calls, ").unwrap();
            share.split(' ').next().unwrap().parse().unwrap()
        };
        let (ends, parts) = (&rows[rows.len() - 2..], &rows[..rows.len() - 2]);
        assert!((parts.iter().map(share).sum::<f64>() - 1.0).abs() < 0.01, "{parts:?}");
        let sum: f64 = parts.iter().map(Figure::value).sum();
        assert!((sum / ends[0].value() - 1.0).abs() < 1e-6, "{sum} {ends:?}");
    }
}
