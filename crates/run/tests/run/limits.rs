//! Every knob of every learner, at both ends of its range: the run makes progress within a stated work, or it is refused with a clear
//! error. Progress is a counter that grows, or a first iteration that is long but can be saved. The number of evaluated boards in
//! backgammon is no progress, because searches evaluate boards without a move.

use crate::common::*;
use run::AnyRun;
use run::protocol::{Config, KnobKind, Value};

/// Number of slices within which a run makes progress. Most runs need a few.
const SLICES: u32 = 3000;
/// Duration of a slice, in seconds. An iteration of some dozens of slices counts as long.
const SLICE_S: f64 = 0.05;
/// Maximum memory, in bytes, of a run that `npm test` tests. Runs with more memory have more work, and only `npm test -- --all` tests them.
const USUAL_BYTES: u64 = 24 << 20;

/// Returns the values at the limits of a knob, or all values of a choice.
fn limits(kind: KnobKind) -> Vec<Value> {
    match kind {
        KnobKind::Float { min, max, .. } | KnobKind::Int { min, max, .. } => vec![min.into(), max.into()],
        KnobKind::Bool => vec![0.0.into(), 1.0.into()],
        KnobKind::Choice { options } => options.iter().map(|option| option.name.into()).collect(),
        KnobKind::Text { most } => vec!["".into(), (&*"a".repeat(most as usize)).into()],
    }
}

fn has_progress(run: &dyn AnyRun) -> bool {
    let progress = run.progress();
    let counters = run.schema().counters.iter().zip(&progress.counts);
    let grows = counters.into_iter().any(|(counter, count)| counter.name != "evaluations" && *count > 0.0);
    grows || progress.iteration == 0 && run.saves().is_some_and(|saved| saved.train_s > 0.0)
}

/// Advances a run until it makes progress. Returns false if it makes none within [`SLICES`] slices.
fn progresses(run: &mut dyn AnyRun) -> bool {
    prepare(run);
    (0..SLICES).any(|slice| {
        run.advance(f64::from(slice) * SLICE_S);
        has_progress(run) || run.failure().is_some()
    })
}

/// Returns each config with a single knob at a limit, and the knob with its value as text.
fn at_limits() -> Vec<(Config, String)> {
    let mut all = Vec::new();
    for (room, config) in each_learner(5) {
        for knob in room.knobs(&config.variant) {
            for value in limits(knob.kind) {
                let what = format!("{} {}: {} = {value}", config.room, config.variant, knob.name);
                let mut config = config.clone();
                config.knobs.insert(knob.name.into(), value);
                all.push((config, what));
            }
        }
    }
    all
}

#[test]
fn each_knob_makes_progress_at_its_limits_or_is_refused() {
    let (mut trained, mut refused, mut large) = (0, 0, 0);
    for (config, what) in at_limits() {
        if let Err(error) = run::validate(&config, host()) {
            clear(&error);
            refused += 1;
            continue;
        }
        if !testkit::all() && run::bytes(&config, host()).unwrap() > USUAL_BYTES {
            large += 1;
            continue;
        }
        assert!(progresses(&mut *start(&config)), "{what}: no progress after {SLICES} slices");
        trained += 1;
    }
    assert!(trained > 200 && refused + large < trained, "{trained} trained, {refused} refused, {large} large");
}

/// In these settings of the published learner, a round is shorter than a search.
#[test]
fn searches_longer_than_a_round_make_moves() {
    for knobs in ["evals=2000 round_batches=40", "games=64 round_batches=4", "round_batches=1", "batch=2 round_batches=1 games=40"] {
        let config = with(small("backgammon", "published", 5), knobs);
        assert!(progresses(&mut *start(&config)), "{knobs}: no move after {SLICES} slices");
    }
}
