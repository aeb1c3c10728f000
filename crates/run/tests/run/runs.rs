//! Tests of requirements that the runs of every room meet.

use crate::common::*;
use math::Isa;
use run::protocol::{Change, Command, Config, Digest, Event, Histogram, Level, SweepSpec, TensorView, Value};
use run::{AnyRun, DIGEST_EVERY, Host, RunError, Sweep, VERSION, permalink};
use serde_json::json;

#[test]
fn clock_and_tests_do_not_change_the_weights() {
    for (_, config) in each_learner(8) {
        let plain = trained(&config, 4);
        let mut watched = start(&config);
        let mut now_s = 100.0;
        let mut tested = false;
        while watched.progress().iteration < 4 {
            now_s += 7.0;
            watched.advance(now_s);
            if !tested && watched.at_boundary() && watched.progress().iteration == 1 {
                watched.test().unwrap();
                tested = true;
            }
        }
        assert!(tested, "{}", config.variant);
        assert_eq!(plain.digest(), watched.digest(), "{}", config.variant);
    }
}

#[test]
fn seeds_and_knobs_change_the_weights() {
    for (_, config) in each_learner(1) {
        let digest = |config: &Config| {
            // The published learner learns only after some iterations, which fill its replay.
            trained(config, 6).digest().weights
        };
        let base = digest(&config);
        assert_eq!(base, digest(&config));
        assert_ne!(base, digest(&Config { seed: 2, ..config.clone() }), "{}", config.variant);
        assert_ne!(base, digest(&with(config.clone(), "lr=0.0021")), "{}", config.variant);
    }
}

#[test]
fn knob_changes_at_the_boundary_with_a_mark_in_the_file() {
    for (_, config) in each_learner(1) {
        let mut run = start(&config);
        run.save().unwrap(); // some rooms prepare data before the first boundary
        // In a room with one slice per iteration, the run is at the next boundary already.
        while run.at_boundary() && run.progress().iteration == 0 {
            run.advance(0.0);
        }
        let at = run.progress().iteration.max(1);
        run.command(set("lr", 0.0021)).unwrap();
        train(&mut *run, 2);
        let events = Events::drain(&mut *run);
        let marks: Vec<_> = events.marks().into_iter().map(|m| (&*m.knob, m.to.clone(), m.progress.iteration)).collect();
        assert_eq!(marks, [("lr", Value::Number(0.0021), at)]);

        assert_eq!(run.config(), &config, "the initial config changed");
        let change = Change { iteration: at, knob: "lr".into(), value: 0.0021.into() };
        let now = Config { changes: vec![change], ..config.clone() };
        assert_eq!(run.config_now(), now, "the current config lacks the change");

        let file = saved(&mut *run);
        let mut restored = run::restore(&file, host()).unwrap();
        assert_eq!(restored.config_now(), now);
        let events = Events::drain(&mut *restored);
        let began = events.began();
        assert_eq!((began.marks.len(), began.history.len()), (1, 2));
        assert_eq!(began.knobs["lr"], Value::Number(0.0021));
        assert_eq!(began.knobs.len(), run.knobs().len(), "`Began` lacks a knob");
        let width = run.schema().row_len();
        assert!(began.history.iter().all(|row| row.values.len() == width));
    }
}

/// Compares two equal runs. In the first run, knobs change at the point at which the second run is saved.
#[test]
fn run_before_a_requested_change_is_kept_and_equals_a_save() {
    for (_, config) in each_learner(3) {
        let variant = &config.variant;
        let replayed = Change { iteration: 1, knob: "lr".into(), value: 0.0019.into() };
        let config = Config { changes: vec![replayed], ..config.clone() };
        let [mut run, mut twin] = [3, 3].map(|iterations| trained(&config, iterations));
        assert!(run.kept_before().is_empty(), "{variant}: a change from the config was kept");
        for run in [&mut run, &mut twin] {
            assert!(run.advance(0.0));
            run.command(Command::Pause).unwrap();
        }
        for lr in [0.0021, 0.0022] {
            run.command(set("lr", lr)).unwrap();
        }
        let mut now_s = 0.0;
        while run.kept_before().is_empty() {
            now_s += 0.001;
            assert!(run.advance(now_s), "{variant}: the paused run did not complete its short iteration");
        }
        let file = saved(&mut *twin);
        let first = run.kept_before()[0];
        assert!(run.save_before(first).unwrap() == file, "{variant}");
        clear(&run.save_before(0).unwrap_err());

        // A restored run keeps only the snapshots that precede the restored state.
        run.command(set("lr", 0.0023)).unwrap();
        let kept = run.kept_before();
        run.command(restored(run.save_before(kept[kept.len() - 1]).unwrap())).unwrap();
        assert_eq!(run.kept_before(), kept[..kept.len() - 1], "{variant}");
        run.command(restored(file)).unwrap();
        assert!(run.kept_before().is_empty(), "{variant}");
    }
}

#[test]
fn kept_copies_are_limited_by_number_and_size() {
    for (room, variant, knobs, most) in [("bandit", "three-arms", "", 12), ("cube", "2x2x2", "hidden=2048-1024", 2)] {
        let mut run = begin(&with(small(room, variant, 1), knobs));
        (1..=20).for_each(|k| run.command(set("lr", 0.002 + f64::from(k) * 1e-4)).unwrap());
        assert_eq!(run.kept_before(), (20 - most..20).collect::<Vec<_>>());
        assert!(most * run.save_before(19).unwrap().len() <= 100_500_000);
    }
}

#[test]
fn step_trains_one_iteration_and_pauses() {
    for (_, config) in each_learner(1) {
        let mut run = begin(&config);
        assert!(!run.advance(0.0), "the run works before a command");
        run.command(Command::Step).unwrap();
        let mut now_s = 0.0;
        while run.advance(now_s) {
            now_s += 0.001;
        }
        assert_eq!(run.progress().iteration, 1);
        assert!(!run.running());
    }
}

#[test]
fn rows_match_the_schema_and_rates_are_work_per_time() {
    for (room, config) in first(1) {
        let schema = room.schema();
        let mut run = start(&config);
        let mut now_s = 0.0;
        let mut events = Events(Vec::new());
        while run.progress().iteration < 5 {
            now_s += 0.125;
            run.advance(now_s);
            events.0.extend(run.events());
        }
        let rows = events.metrics();
        assert_eq!(rows.len(), 5);
        for pair in rows.windows(2) {
            let (before, row) = (&pair[0].progress, &pair[1].progress);
            let shares = &pair[1].values[schema.metrics.len()..];
            assert_eq!(shares.len(), schema.all_parts().count());
            let sum: f64 = shares.iter().map(|share| share.unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{shares:?}");
            let tests = schema.all_parts().position(|part| part.name == "tests").unwrap();
            for (column, value) in schema.metrics.iter().zip(&pair[1].values) {
                let Some(rate) = column.rate else { continue };
                let at = schema.counter(rate.counter).unwrap();
                let done = (row.counts[at] - before.counts[at]) * rate.seconds;
                // Rates do not count the time of tests.
                let trained_s = (row.train_s - before.train_s) * (1.0 - shares[tests].unwrap());
                let expected = done / trained_s;
                let found = value.unwrap();
                assert!((found - expected).abs() <= 1e-6 * expected, "{}: {found} {expected}", column.name);
            }
        }
    }
}

#[test]
fn tests_measure_and_follow_their_iteration() {
    for (room, config) in each_learner(5) {
        // In these rooms, a test is due only after hundreds of thousands of boards or states; see `backgammon.rs` and `cube.rs`.
        if ["backgammon", "cube"].contains(&room.schema().id) {
            continue;
        }
        let mut run = start(&config);
        let (mut tested, mut now_s) = (Vec::new(), 0.0);
        while tested.len() < 2 && run.progress().iteration < 400 {
            now_s += 0.001;
            run.advance(now_s);
            let at = run.progress().iteration;
            for row in Events::drain(&mut *run).tests() {
                assert_eq!(row.progress.iteration, at, "the learner advanced during the test");
                assert_eq!(row.values, run.test().unwrap().values, "{}", config.variant);
                assert_eq!(row.values.len(), room.schema().tests.len());
                tested.push(at);
            }
        }
        assert!(tested.len() == 2 && tested[0] < tested[1], "{}: {tested:?}", config.variant);
    }
}

#[test]
fn first_test_at_the_goal_solves_the_run_and_the_file_records_it() {
    let config = small("bandit", "three-arms", 4);
    let goal = room("bandit").variants()[0].goal.unwrap();
    let mut run = start(&config);
    let events = until(&mut *run, Events::is_solved);
    let solved = events.0.iter().find_map(|event| match event {
        Event::Solved { progress, goal } => Some((progress.clone(), *goal)),
        _ => None,
    });
    let first = events.tests().into_iter().find(|row| row.values[0].unwrap() >= goal.at).unwrap();
    assert_eq!(solved, Some((first.progress.clone(), goal.at)));
    let at = run.progress().iteration;
    train(&mut *run, at + 40);
    let mut restored = run::restore(&run.save().unwrap(), host()).unwrap();
    assert_eq!(restored.solved(), Some(&first.progress));
    assert_eq!(Events::drain(&mut *restored).began().solved.as_ref(), Some(&first.progress));
    restored.command(Command::Start).unwrap();
    train(&mut *restored, at + 80);
    assert!(!Events::drain(&mut *restored).is_solved(), "the run was solved twice");
}

#[test]
fn reset_restarts_and_keeps_running() {
    for (_, config) in each_learner(1) {
        let mut run = trained(&config, 2);
        let digest = run.digest();
        run.events();
        let other = Config { seed: 7, ..config.clone() };
        run.command(Command::Reset { config: Some(other.clone()) }).unwrap();
        assert_eq!((run.progress().iteration, run.running(), run.config()), (0, true, &other));
        train(&mut *run, 2);
        assert_ne!(run.digest(), digest);
        run.command(Command::Reset { config: Some(config) }).unwrap();
        train(&mut *run, 2);
        assert_eq!(run.digest(), digest);
    }
}

#[test]
fn sweep_cells_equal_single_runs() {
    for (room, config) in first(4) {
        let schema = room.schema();
        let budget = trained(&config, 6).progress().counts[0];
        let spec = SweepSpec { config: config.clone(), knob: "lr".into(), values: vec![0.0021.into(), 0.004.into()], seeds: 2, budget };
        let mut sweep = Sweep::new(spec.clone(), host()).unwrap();
        let mut now_s = 0.0;
        while sweep.advance(now_s) {
            now_s += 0.01;
        }
        let cells = sweep.cells();
        let has = |value: f64, seed| (Value::Number(value), seed);
        assert_eq!(
            cells.iter().map(|c| (c.value.clone(), c.seed)).collect::<Vec<_>>(),
            [has(0.0021, 4), has(0.0021, 5), has(0.004, 4), has(0.004, 5)]
        );
        let mut alone = start(&with(Config { seed: 5, ..config }, "lr=0.004"));
        let at = schema.test(alone.variant().goal.unwrap().column).unwrap();
        train_for(&mut *alone, budget);
        let events = Events::drain(&mut *alone);
        let last = events.tests().last().map(|row| [row.progress.counts[0], row.values[at].unwrap()]);
        let cell = &cells[3];
        assert_eq!(timeless(&cell.progress), timeless(&alone.progress()), "{}", schema.id);
        assert_eq!(cell.curve.last().copied(), last);
        assert!(cell.done && !cell.diverged);
        for (values, seeds, knob) in [(vec![], 1, "lr"), (vec![0.1; 65], 1, "lr"), (vec![9.0], 1, "lr"), (vec![0.1], 1, "x")] {
            let values = values.into_iter().map(Value::Number).collect();
            let spec = SweepSpec { values, seeds, knob: knob.into(), ..spec.clone() };
            clear(&Sweep::new(spec, host()).err().unwrap());
        }
        let spec = SweepSpec { values: vec!["fast".into()], ..spec };
        assert!(matches!(Sweep::new(spec, host()), Err(RunError::WrongKind { .. })));
    }
}

/// Compares variants of a room with a single seed. Each variant has its own defaults. If a knob exists only in some of the variants, the
/// sweep drops its value.
#[test]
fn sweep_compares_variants() {
    let config = small("cube", "2x2x2", 4);
    let budget = trained(&config, 6).progress().counts[0];
    let names = ["2x2x2", "2x2x2-last", "2x2x2-dqn"];
    let values: Vec<Value> = names.map(Value::from).into();
    let knob = "variant".to_string();
    let spec = SweepSpec { config: config.clone(), knob, values, seeds: 1, budget };
    let mut sweep = Sweep::new(spec.clone(), host()).unwrap();
    while sweep.advance(0.0) {}
    let cells = sweep.cells();
    assert_eq!(cells.iter().map(|cell| cell.value.to_string()).collect::<Vec<_>>(), names);
    for (cell, variant) in cells.iter().zip(names) {
        let mut alone = Config { variant: variant.into(), ..config.clone() };
        alone.knobs.remove("walk");
        let mut run = start(&alone);
        train_for(&mut *run, budget);
        assert_eq!(timeless(&cell.progress), timeless(&run.progress()), "{variant}");
    }
    let absent = SweepSpec { values: vec!["2x2x2".into(), "absent".into()], ..spec };
    assert!(matches!(Sweep::new(absent, host()), Err(RunError::UnknownVariant { .. })));
}

#[test]
fn diverged_run_stops_with_a_notice_and_is_never_saved() {
    for (room, config) in each_learner(1) {
        // One environment of control suffices, because the learner is the same in all environments.
        if room.schema().id == "control" && config.variant != "CartPole-v1" {
            continue;
        }
        let id = &*config.variant;
        let mut run = trained(&config, 1);
        let good = saved(&mut *run);
        let good_digest = run.digest();
        let mut wild = apart(&good);
        wild.set_extreme_weights();
        run.command(restored(wild.together())).unwrap();
        run.events();
        run.advance(0.0);
        let asked = !run.at_boundary();
        if asked {
            run.command(Command::Save).unwrap();
        }
        let mut now_s = 0.0;
        // A learner that still fills its replay has not diverged yet, and its run may be saved until then.
        while run.progress().iteration < 200 {
            now_s += 0.001;
            if !run.advance(now_s) {
                break;
            }
        }
        assert!(run.failure().is_some() && !run.running(), "{id}");
        let events = Events::drain(&mut *run);
        let said = events.0.iter().position(|event| match event {
            Event::Notice { level: Level::Error, text, next_step } => text.contains("diverged") && next_step.contains("learning rate"),
            _ => false,
        });
        let since = &events.0[said.unwrap_or_else(|| panic!("{id}"))..];
        assert!(!since.iter().any(|event| matches!(event, Event::Saved { .. })), "{id}");
        assert!(since.iter().any(|event| matches!(event, Event::Standing(standing) if standing.words.contains("diverged at "))), "{id}");
        // The run answers a requested save with exactly one event.
        let answers = |event: &&Event| matches!(event, Event::Saved { .. } | Event::NotSaved { .. });
        assert_eq!(events.0.iter().filter(answers).count(), usize::from(asked), "{id}");
        // A diverged run refuses to save, but answers questions.
        assert!(matches!(run.save(), Err(RunError::Diverged)), "{id}");
        assert!(matches!(run.command(Command::Save), Err(RunError::Diverged)), "{id}");
        let question = match room.schema().id {
            "control" => {
                let axes = &run.variant().about["axes"];
                json!({ "ask": "picture", "width": 3, "height": 3, "axes": [axes[0], axes[1]] })
            }
            "backgammon" => json!({ "ask": "session" }),
            "cube" => json!({ "ask": "scramble", "moves": 3, "seed": 1 }),
            "logic" => json!({ "ask": "population" }),
            "words" => json!({ "ask": "about" }),
            _ => json!({ "ask": "policy" }),
        };
        run.ask(question).unwrap();
        run.command(Command::Start).unwrap();
        for _ in 0..1000 {
            run.advance(1.0);
        }
        assert!(run.failure().is_some() && !run.running(), "the diverged run continued");
        run.command(restored(good)).unwrap();
        assert!(run.failure().is_none());
        assert_eq!(run.digest(), good_digest);
        run.command(Command::Start).unwrap();
        train(&mut *run, 2);
        run.save().unwrap();
    }
}

#[test]
fn link_reproduces_the_run_and_reports_the_result() {
    for (room, config) in each_learner(7) {
        let (id, variant) = (room.schema().id, &config.variant);
        let first = trained(&config, DIGEST_EVERY);
        let digest = first.digest();
        let link = permalink::encode(&first.config_now(), Some(&digest));
        assert!(link.starts_with(&format!("#/{id}?variant={variant}&seed=7&")), "{link}");
        let read = permalink::decode(&link, host()).unwrap();
        assert_eq!((&read.config, read.digest.as_ref()), (&config, Some(&digest)));
        assert_eq!(read.config.version, VERSION);
        assert!(permalink::native_command(&config).contains(&format!("train {id} --variant {variant} --seed 7")));
        let own = permalink::decode(&format!("#/{id}"), host()).unwrap();
        assert_eq!(own.config, run::config_of(room));

        // This test is slow, so it covers only one variant of each room.
        if room.variants()[0].id != *variant {
            continue;
        }
        let notice = |expected: Digest| {
            let mut again = start(&config);
            again.expect(expected);
            train(&mut *again, DIGEST_EVERY);
            let events = Events::drain(&mut *again);
            let [(level, text, next_step)] = events.notices()[..] else { panic!("{:?}", events.notices()) };
            (level, text.to_string(), next_step.to_string())
        };
        let word = room.schema().iteration_word;
        let (level, text, _) = notice(digest.clone());
        assert!(level == Level::Info && text.contains(&format!("Reproduced: after 16 {word}s")), "{text}");
        let (level, text, next) = notice(Digest { weights: "0".repeat(16), ..digest.clone() });
        assert!(level == Level::Warning && text.starts_with("Not reproduced") && !next.is_empty());
        let arithmetic = if Isa::best().fused() { "unfused" } else { "fused" };
        let (_, text, _) = notice(Digest { arithmetic: arithmetic.into(), ..digest });
        assert!(text.contains("cannot be compared"), "{text}");
    }
}

/// Changes knobs during training, then starts a run from the run's link.
#[test]
fn run_of_a_link_tests_at_the_iteration_of_the_digest() {
    let tested = |digest: Option<Digest>| -> Vec<u32> {
        let mut run = start(&small("control", "CartPole-v1", 7));
        digest.into_iter().for_each(|digest| run.expect(digest));
        train(&mut *run, 12);
        let iteration = |event: &Event| if let Event::Test(row) = event { Some(row.progress.iteration) } else { None };
        Events::drain(&mut *run).0.iter().filter_map(iteration).collect()
    };
    let plain = tested(None);
    let other = (1..12).find(|iteration| !plain.contains(iteration)).unwrap();
    let digest = Digest { iteration: other, weights: "0123456789abcdef".into(), arithmetic: "fused".into() };
    assert!(tested(Some(digest)).contains(&other), "{plain:?}");
}

/// `npm test` covers one room here, because the tests of `property.rs` replay a link with changes in every room.
#[test]
fn link_replays_live_changes_and_reports_the_result() {
    for (room, config) in first(7).into_iter().take(if testkit::all() { usize::MAX } else { 1 }) {
        let mut first = start(&config);
        first.command(set("lr", 0.0019)).unwrap();
        train(&mut *first, 5);
        first.command(set("lr", 0.0021)).unwrap();
        // The run is saved and restored between two changes, which must make no difference.
        let mut first = resume(&first.save().unwrap());
        first.command(set("lr", 0.0023)).unwrap();
        first.command(set("lr", 0.0022)).unwrap();
        train(&mut *first, DIGEST_EVERY);
        let digest = first.digest();
        let shared = first.shared();
        assert_eq!((shared.changes, shared.checked_at, &shared.limits[..]), (2, Some(DIGEST_EVERY), &[][..]));
        assert!(shared.command.ends_with(" --at 0:lr=0.0019 --at 5:lr=0.0022"), "{}", shared.command);
        let link = permalink::decode(&shared.link, host()).unwrap();
        assert_eq!(link.digest.as_ref(), Some(&digest));

        let replay = |link: &permalink::Link, change: bool| {
            let mut again = start(&link.config);
            again.expect(link.digest.clone().unwrap());
            if change {
                train(&mut *again, 3);
                again.command(set("lr", 0.003)).unwrap();
            }
            train(&mut *again, DIGEST_EVERY);
            let events = Events::drain(&mut *again);
            let marks: Vec<_> = events.marks().iter().map(|m| (m.progress.iteration, m.to.clone())).collect();
            let notices: Vec<_> = events.notices().iter().map(|(_, text, _)| text.to_string()).collect();
            (again, marks, notices)
        };
        let (again, marks, notices) = replay(&link, false);
        assert_eq!(again.digest(), digest);
        assert_eq!(marks, [(0, 0.0019.into()), (5, 0.0022.into())]);
        let word = room.schema().iteration_word;
        assert!(notices[0].contains(&format!("replays 2 live changes of knobs, the first after 0 {word}s")));
        assert!(notices.len() == 2 && notices[1].starts_with("Reproduced"), "{notices:?}");
        assert_eq!(again.shared(), shared, "the replayed run has another link");

        // If a run is saved while some replayed changes are still due, the restored run makes these changes.
        let mut early = trained(&link.config, 3);
        assert_eq!(early.shared().address, shared.address);
        let mut early = resume(&early.save().unwrap());
        assert_eq!(early.shared().address, shared.address);
        train(&mut *early, DIGEST_EVERY);
        assert_eq!(early.digest(), digest);

        let mut other = link.clone();
        other.config.changes[1].value = 0.0024.into();
        assert!(replay(&other, false).2[1].starts_with("Not reproduced"));
        // A further change makes the run differ from the link's run, so the digests are not compared.
        let (own, marks, notices) = replay(&link, true);
        assert_eq!((marks.len(), notices.len()), (3, 1), "{notices:?}");
        assert_eq!(own.shared().changes, 3);
    }
}

#[test]
fn defaults_are_in_range_and_survive_a_link() {
    for (room, config) in every(1) {
        let knobs = room.knobs(&config.variant);
        let knobs = knobs.iter().map(|knob| (knob.name.to_string(), knob.default.clone())).collect();
        let config = Config { knobs, ..config };
        run::validate(&config, host()).unwrap();
        assert_eq!(permalink::decode(&permalink::encode(&config, None), host()).unwrap().config, config);
    }
}

#[test]
fn choice_and_text_knobs_work_in_configs_links_and_files() {
    let paying = |payouts: &str| with_text(small("bandit", "three-arms", 4), "payouts", payouts);
    // The room rejects a text that is not a list of payouts.
    let wrong = paying("0.1 0.2   0.9&'=%#/✓");
    clear(&begin_error(&wrong));
    let link = permalink::encode(&wrong, None);
    assert!(!link.contains([' ', '\'', '✓']) && link.matches('#').count() == 1, "{link}");
    clear(&permalink::decode(&link, host()).unwrap_err());
    let config = with(paying("0.1 0.95 0.3 0.5"), "baseline=none");
    let link = permalink::encode(&config, None);
    assert_eq!(permalink::decode(&link, host()).unwrap().config, config);
    let command = permalink::native_command(&config);
    assert!(command.ends_with("--set baseline=none --set payouts='0.1 0.95 0.3 0.5'"), "{command}");

    let mut run = trained(&config, 2);
    run.command(set("baseline", "mean")).unwrap();
    let long = Command::Reset { config: Some(paying(&"1 ".repeat(200))) };
    for command in [set("baseline", "median"), set("baseline", 1.0), long] {
        assert!(matches!(run.command(command), Err(RunError::WrongKind { .. })));
    }
    assert!(matches!(run.command(set("payouts", "1 2")), Err(RunError::NotLive { .. })));
    let events = Events::drain(&mut *run);
    let mark = events.marks()[0].clone();
    assert_eq!((mark.from, mark.to), ("none".into(), "mean".into()));
    train(&mut *run, 4);

    let mut restored = resume(&run.save().unwrap());
    assert_eq!(restored.config_now(), run.config_now());
    assert_eq!(restored.config_now().changes[0].value, "mean".into());
    let began = Events::drain(&mut *restored);
    assert_eq!(began.began().knobs["payouts"], "0.1 0.95 0.3 0.5".into());
    assert_eq!(began.began().marks[0].to, "mean".into());
    for run in [&mut run, &mut restored] {
        settle(&mut **run, 9);
    }
    assert_eq!(run.digest(), restored.digest());
    // The arms have the order of the payouts in the text.
    let odds: Vec<f64> = ask(&mut *run, json!({ "ask": "policy" })).unwrap();
    assert_eq!(odds.len(), 4);
    assert!(odds[1] > odds[0] && odds[1] > odds[2], "{odds:?}");
}

#[test]
fn memory_is_estimated_before_allocation() {
    let large = [
        ("backgammon", "published", "tables=256 games=1024 evals=2000"),
        ("control", "LunarLander-v3", "envs=32768 rollout_steps=128 hidden=512"),
    ];
    let host = Host { memory_bytes: 256 << 20, ..host() };
    let too_much = |error: RunError| match error {
        RunError::TooMuchMemory { needs_mb, has_mb: 256 } if needs_mb > 256 => clear(&error),
        other => panic!("{other}"),
    };
    for (id, variant, knobs) in large {
        let fits = small(id, variant, 1);
        let config = Config { variant: variant.into(), knobs: written(knobs), ..run::config_of(room(id)) };
        too_much(run::validate(&config, host).unwrap_err());
        too_much(run::begin(config.clone(), host).err().unwrap());
        too_much(permalink::decode(&permalink::encode(&config, None), host).unwrap_err());
        let mut run = run::begin(fits.clone(), host).unwrap();
        let digest = run.digest();
        too_much(run.command(Command::Reset { config: Some(config.clone()) }).unwrap_err());
        assert_eq!(run.digest(), digest);
        let spec = SweepSpec { config: config.clone(), knob: "lr".into(), values: vec![0.001.into()], seeds: 2, budget: 1.0 };
        clear(&Sweep::new(spec, host).err().unwrap());

        // In each checkpoint, some knobs need too much memory: the knobs of the config, or the current values.
        let file = run.save().unwrap();
        for place in ["/config/knobs", "/knobs"] {
            let mut claims = apart(&file);
            let all = claims.header.pointer_mut(place).unwrap().as_object_mut().unwrap();
            all.extend(written(knobs).into_iter().map(|(name, value)| (name, json!(value))));
            let bytes = claims.together();
            too_much(run::restore(&bytes, host).err().unwrap());
            too_much(run.command(restored(bytes)).unwrap_err());
            assert_eq!(run.digest(), digest);
        }
    }
    for (_, config) in every(1) {
        let none = Host { memory_bytes: 0, ..host };
        assert!(matches!(run::begin(config.clone(), none), Err(RunError::TooMuchMemory { .. })));
        run::begin(config, host).unwrap();
    }
}

/// A checkpoint whose knobs do not match its tensors is rejected.
#[test]
fn checkpoint_with_mismatched_sizes_is_damaged() {
    let claims = [
        ("control", "envs", 512.0.into()),
        ("control", "hidden", 64.0.into()),
        ("backgammon", "hidden", 32.0.into()),
        ("cube", "hidden", json!("64-16")),
        ("cube", "inputs", "stickers".into()),
        ("logic", "population", 3.0.into()),
        ("logic", "gates", "four".into()),
        ("words", "width", 64.0.into()),
        ("words", "tied", 0.0.into()),
        ("words", "layers", 3.0.into()),
    ];
    for (id, knob, value) in claims {
        let config = small(id, &room(id).variants()[0].id, 1);
        let mut file = apart(&begin(&config).save().unwrap());
        file.header["knobs"][knob] = value;
        let error = run::restore(&file.together(), host()).err().unwrap();
        assert!(matches!(error, RunError::Damaged { .. }), "{knob}: {error}");
    }
}

/// A room without a learner in this list would have less coverage in `npm test`.
#[test]
fn first_variant_of_each_learner_is_found() {
    let found: Vec<_> = first_of_each_learner(1).into_iter().map(|(room, config)| (room.schema().id, config.variant)).collect();
    let expected = [
        ("control", "CartPole-v1"),
        ("backgammon", "strong"),
        ("backgammon", "published"),
        ("cube", "2x2x2"),
        ("cube", "2x2x2-dqn"),
        ("logic", "checkerboard"),
        ("logic", "life"),
        ("words", "char"),
        ("bandit", "three-arms"),
    ];
    assert_eq!(found, expected.map(|(room, variant)| (room, variant.to_string())));
}

#[test]
fn rooms_are_listed_once_and_their_schemas_are_consistent() {
    let ids: Vec<_> = rooms().iter().map(|room| room.schema().id).collect();
    assert_eq!(ids, ["control", "backgammon", "cube", "logic", "words", "bandit"]);
    assert_eq!(run::default_config().room, ids[0]);
    for (room, config) in every(1) {
        let info = room.info();
        assert_eq!(info.variants.iter().filter(|v| v.id == config.variant).count(), 1);
        assert_eq!(info.parts.len(), room.schema().all_parts().count());
        let run = begin(&config);
        assert_eq!((run.schema().id, &*run.variant().id), (info.id, config.variant.as_str()));
        let goal = run.variant().goal.unwrap();
        assert!(run.schema().test(goal.column).is_some(), "{goal:?}");
        // The column names of a checkpoint are unique.
        let all = room.schema().counters.iter().chain(room.schema().metrics);
        let mut names: Vec<_> = all.map(|c| c.name).chain(room.schema().all_parts().map(|part| part.name)).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        for column in room.schema().tests.iter().flat_map(|column| column.spread) {
            assert!(room.schema().test(column).is_some(), "{column}");
        }
        assert!(matches!(run.backend().isa.as_str(), isa if !isa.is_empty()));
    }
}

/// Tests the reported shares of time, and that the clock does not change training.
#[test]
fn run_with_a_clock_reports_time_shares() {
    for (room, config) in each_learner(2) {
        if room.schema().parts.is_empty() {
            continue;
        }
        let plain = trained(&config, 2);
        let mut run: Box<dyn AnyRun> = start(&config);
        run.set_clock(ticks);
        let mut events = Events(Vec::new());
        while run.progress().iteration < 2 {
            run.advance(ticks());
            events.0.extend(run.events());
        }
        assert_eq!(run.digest(), plain.digest());
        let row = events.metrics()[1];
        let shares = &row.values[room.schema().metrics.len()..];
        let learner: f64 = shares[..room.schema().parts.len()].iter().map(|share| share.unwrap()).sum();
        assert!(learner > 0.2, "{}: {shares:?}", config.variant);
    }
}

/// From the first request on, every call of an operation of the plan is timed. The timing does not change the weights.
#[test]
fn operations_are_timed_on_request_without_changing_the_weights() {
    for (room, config) in each_learner(7) {
        let what = format!("{} {}", room.schema().id, config.variant);
        let (mut plain, mut looked) = (start(&config), start(&config));
        looked.set_clock(ticks);
        prepare(&mut *plain);
        prepare(&mut *looked);
        let none = looked.operations(true);
        // Learners that are not in this list have no plan.
        let has_plan = matches!((room.schema().id, &*config.variant), ("control" | "cube" | "words", _) | ("backgammon", "published"));
        assert_eq!(none, has_plan.then(Vec::new), "{what}");
        // Some learners only collect data in their first iterations, and take no step.
        let mut iterations = 0;
        let found = loop {
            iterations += 2;
            assert!(iterations < 40, "{what} takes no step");
            train(&mut *plain, iterations);
            train(&mut *looked, iterations);
            match looked.operations(true) {
                Some(found) if found.iter().all(|one| one.seconds == 0.0) => {}
                found => break found,
            }
        };
        assert_eq!(plain.digest(), looked.digest(), "{what}");
        let Some(found) = found else { continue };
        assert!(found.iter().any(|one| one.name == "linear_dw"), "{what}: {found:?}");
        assert!(found.iter().all(|one| one.calls > 0 && one.seconds > 0.0), "{what}: {found:?}");
        assert!(found.is_sorted_by(|a, b| a.seconds >= b.seconds), "{what}");
        assert_eq!(looked.operations(false), Some(found), "{what}");
        assert_eq!(looked.operations(false), Some(vec![]), "{what}: the timing continues");
    }
}

/// Asks for the tensors and checks that each histogram counts every value once.
fn tensors(run: &mut dyn AnyRun) -> Vec<TensorView> {
    let tensors: Vec<TensorView> = ask(run, json!({ "ask": "tensors" })).unwrap();
    for TensorView { name, shape, weights, gradients, .. } in &tensors {
        for Histogram { min, max, mean, deviation, counts } in std::iter::once(weights).chain(gradients) {
            assert_eq!(counts.iter().sum::<u32>(), shape.iter().product::<u32>(), "{name}");
            assert!(min <= mean && mean <= max && *deviation <= max - min, "{name}: {min} {mean} {max} {deviation}");
        }
    }
    tensors
}

/// Checks the networks of a run: the shapes of their layers, and that exactly the weights of their layers have activations. Sample states
/// may need a layer that the state on the page does not need.
fn check_networks(run: &mut dyn AnyRun, tensors: &[TensorView], what: &str) {
    let networks = run.ask(json!({ "ask": "networks" })).map(|answer| serde_json::to_value(&answer).unwrap()).unwrap();
    let networks = networks.as_array().unwrap();
    assert_eq!(networks.is_empty(), !["control", "backgammon", "cube"].contains(&run.schema().id), "{what}");
    let has_activations = |name: &str| tensors.iter().any(|tensor| tensor.name == name && tensor.activations.is_some());
    for network in networks {
        let len = |values: &serde_json::Value| values.as_array().unwrap().len() / size_of::<f32>();
        let mut before = len(&network["inputs"]);
        assert_eq!(network["input_names"].as_array().unwrap().len(), before, "{what}");
        for layer in network["layers"].as_array().unwrap() {
            let units = layer["units"].as_u64().unwrap().min(64) as usize;
            let found = ["activations", "weights", "gradients"].map(|name| len(&layer[name]));
            assert_eq!(found, [units, units * before, units * before], "{what}: {}", layer["name"]);
            assert!(has_activations(layer["name"].as_str().unwrap()), "{what}: {}", layer["name"]);
            before = units;
        }
    }
    assert_eq!(networks.is_empty(), tensors.iter().all(|tensor| tensor.activations.is_none()), "{what}");
}

#[test]
fn tensors_are_described_at_any_time_without_changing_the_weights() {
    for (room, config) in each_learner(7) {
        let what = format!("{} {}", room.schema().id, config.variant);
        let (mut plain, mut asked) = (start(&config), start(&config));
        while asked.progress().iteration < 2 {
            assert!(asked.advance(0.0));
            tensors(&mut *asked);
        }
        train(&mut *plain, 2);
        assert_eq!(plain.digest(), asked.digest(), "{what}");
        let found = tensors(&mut *asked);
        assert!(found.iter().any(|tensor| tensor.weights.deviation > 0.0), "{what}");
        check_networks(&mut *asked, &found, &what);
        // The bandit has no gradients, because it does not use Adam.
        assert!(found.iter().all(|tensor| tensor.gradients.is_some() == (room.schema().id != "bandit")), "{what}");
    }
}

/// Returns the metrics of a run's iterations, except rates.
fn timeless_metrics(run: &mut dyn AnyRun) -> Vec<Vec<Option<f64>>> {
    let columns = run.schema().metrics;
    let events = Events::drain(run);
    events.metrics().into_iter().map(|row| unrated(columns, row)).collect()
}

#[test]
fn save_at_any_slice_resumes_bit_for_bit() {
    for (_, config) in each_learner(3) {
        let variant = &config.variant;
        let mut whole = start(&config);
        settle(&mut *whole, 2);
        let metrics = timeless_metrics(&mut *whole);
        for slices in [1, 2, 3, 5, 8, 13, 21] {
            let mut run = start(&config);
            prepare(&mut *run);
            // At one second per slice, an iteration soon counts as long, so it can be saved before its end.
            (0..slices).for_each(|slice| assert!(run.advance(f64::from(slice))));
            if run.progress().iteration >= 2 {
                break;
            }
            let done = run.progress().iteration as usize;
            let now = run.saves();
            let mut again = resume(&run.save().unwrap());
            // If the run cannot be saved within an iteration, the save completes the iteration first.
            assert_eq!(again.progress(), now.unwrap_or_else(|| run.progress()), "{variant}");
            let done = done.max(again.progress().iteration as usize);
            settle(&mut *again, 2);
            assert_eq!(again.digest(), whole.digest(), "{variant} after {slices} slices");
            assert_eq!(timeless_metrics(&mut *again), metrics[done..], "{variant} after {slices} slices");
            // After the save, the original run also gives the same result.
            settle(&mut *run, 2);
            assert_eq!(run.digest(), whole.digest(), "{variant} after {slices} slices");
        }
    }
}

/// A save limits the number of slices that wait for another machine, but not the number of slices that this CPU computes. Here the CPU
/// computes thousands of slices, so the save completes the iteration.
#[test]
fn save_completes_an_iteration_of_thousands_of_slices() {
    let tiny = "width=16 layers=1 heads=1 context=8 batch=1 micro=1 steps=2200";
    let mut run = start(&with(small("words", "char", 2), tiny));
    work(&mut *run, |run| !run.is_preparing() && !run.at_boundary());
    run.events();
    // Each of the 2200 steps has two slices, one for the gradient and one for the update.
    run.save().unwrap();
    assert!(run.at_boundary() && run.progress().iteration == 1);
    let events = run.events();
    let is_of_a_device = |event: &Event| matches!(event, Event::Device(_) | Event::Notice { .. });
    assert!(!events.iter().any(is_of_a_device), "{events:?}");
}

#[test]
fn long_iteration_is_saved_and_paused_at_once() {
    let hours = [("words", "char", "steps"), ("logic", "life", "updates"), ("cube", "2x2x2", "updates"), ("cube", "2x2x2-dqn", "updates")];
    for (room, variant, knob) in hours {
        let mut run = start(&with(small(room, variant, 2), &format!("{knob}=10000")));
        prepare(&mut *run);
        (0..9).for_each(|i| assert!(run.advance(0.2 * f64::from(i))));
        assert!(!run.at_boundary() && run.progress().iteration == 0, "{variant}");
        run.events();
        run.command(Command::Save).unwrap();
        let bytes = Events::drain(&mut *run).saved().expect(variant);
        let again = run::restore(&bytes, host()).unwrap();
        assert_eq!(again.progress(), run.progress(), "{variant}");
        assert!(!again.at_boundary(), "{variant}: the file lacks the partial iteration");
        assert_eq!(again.digest().arithmetic, "partial", "{variant}: partial weights have no comparable digest");
        run.command(Command::Pause).unwrap();
        assert!(!run.advance(2.0), "{variant}");
        // A pause ends the command `Step` before the end of the iteration.
        run.command(Command::Step).unwrap();
        assert!(run.advance(3.0));
        run.command(Command::Pause).unwrap();
        assert!(!run.advance(4.0), "{variant}");
    }
    // If a learner cannot be saved within a long iteration, the file contains the state at the beginning of the iteration. The restored run
    // repeats the iteration.
    for (room, variant) in [("control", "CartPole-v1"), ("backgammon", "strong")] {
        let config = small(room, variant, 2);
        let mut whole = start(&config);
        settle(&mut *whole, 3);
        let mut run = start(&config);
        let mut now_s = 0.0;
        while run.progress().iteration < 1 {
            now_s += 1.5;
            run.advance(now_s);
        }
        while run.at_boundary() {
            run.advance(now_s);
        }
        assert_eq!(run.saves(), None, "{variant}: the iteration is not long enough yet");
        run.command(Command::Pause).unwrap();
        run.command(Command::Save).unwrap();
        while Events::drain(&mut *run).saved().is_none() {
            now_s += 1.5;
            assert!(run.advance(now_s), "{variant}");
        }
        assert!(!run.at_boundary() && !run.advance(now_s), "{variant}: the paused run continued after the save");
        assert_eq!(run.saves().map(|at| at.iteration), Some(1), "{variant}");
        let mut again = resume(&run.save().unwrap());
        let events = Events::drain(&mut *run);
        let notices = events.notices();
        assert!(notices.iter().any(|one| one.2.contains("continues after 1 ")), "{variant}: {notices:?}");
        settle(&mut *again, 3);
        assert_eq!(again.digest(), whole.digest(), "{variant}");
        run.command(Command::Start).unwrap();
        settle(&mut *run, 3);
        assert_eq!(run.digest(), whole.digest(), "{variant}");
    }
}

#[test]
fn pending_knob_change_is_in_the_file() {
    let mut run = start(&with(small("words", "char", 2), "steps=20"));
    work(&mut *run, |run| !run.is_preparing() && !run.at_boundary());
    run.advance(2.0);
    assert!(!run.at_boundary() && run.saves().is_some());
    run.command(set("lr", 0.01)).unwrap();
    let mut again = resume(&run.save().unwrap());
    for run in [&mut run, &mut again] {
        settle(&mut **run, 2);
    }
    assert_eq!(run.digest(), again.digest());
    let changes = |run: &dyn AnyRun| run.config_now().changes;
    assert!(changes(&*run) == changes(&*again) && changes(&*run).len() == 1);
}

/// An iteration that is long after brief ones can be left early, too. The file then contains a state from before the iteration.
#[test]
fn iteration_that_becomes_long_is_saved_at_once() {
    for (room, variant) in [("control", "CartPole-v1"), ("backgammon", "strong"), ("backgammon", "published")] {
        let config = small(room, variant, 2);
        let mut whole = start(&config);
        settle(&mut *whole, 6);
        let (mut run, mut now_s) = (start(&config), 0.0);
        while run.progress().iteration < 4 || run.at_boundary() {
            now_s += 0.001;
            run.advance(now_s);
        }
        while run.saves().is_none() {
            now_s += 0.5;
            assert!(run.advance(now_s) && !run.at_boundary() && run.progress().iteration == 4, "{variant}: nothing could be saved");
        }
        let saved = run.saves().unwrap();
        assert!(saved.iteration <= 4 && run.progress().train_s - saved.train_s < 3.0, "{variant}: {saved:?}");
        let mut again = resume(&run.save().unwrap());
        assert_eq!(again.progress(), saved, "{variant}");
        settle(&mut *again, 6);
        assert_eq!(again.digest(), whole.digest(), "{variant}");
    }
}

/// Training restarts an interrupted test, because it changes the weights.
#[test]
fn interrupted_test_continues_with_the_next_call() {
    for (room, variant) in [("backgammon", "strong"), ("words", "char")] {
        let mut run = trained(&small(room, variant, 2), 1);
        let whole = run.test().unwrap();
        let part = |run: &mut dyn AnyRun, most: u32| {
            let mut slices = 0..most;
            run.test_while(&mut || slices.next().is_some()).unwrap()
        };
        let mut parts = 0;
        let row = loop {
            parts += 1;
            assert!(parts < 5000, "{variant}: the test begins again and again");
            if let Some(row) = part(&mut *run, 1) {
                break row;
            }
        };
        assert_eq!(row, whole, "{variant}");
        assert!(parts > 2, "{variant}: {parts} parts");
        part(&mut *run, 1);
        train(&mut *run, 2);
        let row = run.test().unwrap();
        assert_eq!(row.values, trained(&small(room, variant, 2), 2).test().unwrap().values, "{variant}");
    }
}
