//! Tests of figures, of the profile of a training step, and of parts of the benchmarks of rooms. No test measures a speed.

use bench::Figure;
use bench::internals::{profile_training, small_step};
use bench::measure::{Bench, noise};
use graph::Operation;
use math::Isa;
use std::cell::Cell;

#[test]
fn rounds_have_quartiles_and_counts_have_none() {
    let row = Figure::measured("core.x", &[7.0, 1.0, 4.0, 2.0], "rows/s");
    let json = serde_json::to_value(&row).unwrap();
    let expected = serde_json::json!({
        "name": "core.x", "value": 3.0, "lower": 1.75, "upper": 4.75, "rounds": 4, "unit": "rows/s"
    });
    assert_eq!(json, expected);
    let count = serde_json::to_value(Figure::counted("core.bytes", 8.0, "bytes")).unwrap();
    assert_eq!(count, serde_json::json!({ "name": "core.bytes", "value": 8.0, "unit": "bytes" }));
}

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
    // Each of the three runs also reads the clock before its first call. Adam and the packing need three more readings: before, between and
    // after them.
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

#[test]
#[cfg(feature = "words")]
fn random_tokens_cover_the_vocabulary_uniformly() {
    const TEXT: usize = 1 << 16;
    for vocab in [65, 8192] {
        let corpus = bench::internals::random_corpus(vocab, 64);
        assert_eq!(corpus.len(), TEXT);
        let mut counts = vec![0; vocab];
        corpus.tokens(0..TEXT).for_each(|token| counts[token as usize] += 1);
        let mean = TEXT / vocab;
        assert!(counts.iter().filter(|&&count| count > 0).count() > 99 * vocab / 100, "{vocab}");
        assert!(counts.iter().all(|&count| count < 2 * mean + 24), "{vocab}");
    }
}

#[test]
#[cfg(feature = "device")]
fn break_even_ignores_batches_before_a_slower_one() {
    let from = |rates: &[(f64, f64)]| {
        let rates: Vec<_> = rates.iter().enumerate().map(|(i, rate)| (64 << i, rate.0, rate.1)).collect();
        bench::internals::break_even(&rates)
    };
    assert_eq!(from(&[(5.0, 1.0), (5.0, 6.0), (5.0, 9.0)]), Some(128));
    assert_eq!(from(&[(5.0, 6.0), (5.0, 4.0), (5.0, 9.0)]), Some(256));
    assert_eq!(from(&[(5.0, 6.0), (5.0, 4.0)]), None);
    assert_eq!(from(&[]), None);
}
