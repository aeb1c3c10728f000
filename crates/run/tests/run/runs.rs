//! What any run does, asked of every room.

use crate::common::*;
use math::Isa;
use run::protocol::{Change, Command, Config, Digest, Event, Level, SweepSpec, Value};
use run::{AnyRun, DIGEST_EVERY, Host, RunError, Sweep, VERSION, permalink};
use serde_json::json;

#[test]
fn the_clock_and_tests_leave_no_trace_in_the_weights() {
    for (_, config) in every(8) {
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
    for (_, config) in every(1) {
        let digest = |config: &Config| {
            // The published learner collects before it learns.
            trained(config, 6).digest().weights
        };
        let base = digest(&config);
        assert_eq!(base, digest(&config));
        assert_ne!(base, digest(&Config { seed: 2, ..config.clone() }), "{}", config.variant);
        assert_ne!(base, digest(&with(config.clone(), "lr=0.0021")), "{}", config.variant);
    }
}

#[test]
fn a_knob_changes_at_the_boundary_and_leaves_a_mark_that_the_file_keeps() {
    for (_, config) in every(1) {
        let mut run = start(&config);
        run.save().unwrap(); // some prepare themselves before they are at a boundary
        // A room whose iteration is one slice is at the next boundary already.
        while run.at_boundary() && run.progress().iteration == 0 {
            run.advance(0.0);
        }
        let at = run.progress().iteration.max(1);
        run.command(set("lr", 0.0021)).unwrap();
        train(&mut *run, 2);
        let told = Events::drain(&mut *run);
        let marks: Vec<_> = told.marks().into_iter().map(|m| (&*m.knob, m.to.clone(), m.progress.iteration)).collect();
        assert_eq!(marks, [("lr", Value::Number(0.0021), at)]);

        assert_eq!(run.config(), &config, "the run is still the one that was started");
        let change = Change { iteration: at, knob: "lr".into(), value: 0.0021.into() };
        let now = Config { changes: vec![change], ..config.clone() };
        assert_eq!(run.config_now(), now, "a link to it makes the change again");

        let file = saved(&mut *run);
        let mut restored = run::restore(&file, host()).unwrap();
        assert_eq!(restored.config_now(), now);
        let told = Events::drain(&mut *restored);
        let began = told.began();
        assert_eq!((began.marks.len(), began.history.len()), (1, 2));
        assert_eq!(began.knobs["lr"], Value::Number(0.0021));
        assert_eq!(began.knobs.len(), run.knobs().len(), "every knob is told");
        let width = run.schema().row_len();
        assert!(began.history.iter().all(|row| row.values.len() == width));
    }
}

/// Of two equal runs a knob of one is changed where the other is saved.
#[test]
fn before_a_change_that_somebody_asked_for_the_run_is_kept_as_a_save_gives_it() {
    for (_, config) in every(3) {
        let variant = &config.variant;
        let replayed = Change { iteration: 1, knob: "lr".into(), value: 0.0019.into() };
        let config = Config { changes: vec![replayed], ..config.clone() };
        let [mut run, mut twin] = [3, 3].map(|iterations| trained(&config, iterations));
        assert!(run.kept_before().is_empty(), "{variant}: what the config changes can be made again");
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
            assert!(run.advance(now_s), "{variant}: a paused run ends a short iteration for a change as for a save");
        }
        let file = saved(&mut *twin);
        let first = run.kept_before()[0];
        assert!(run.save_before(first).unwrap() == file, "{variant}");
        clear(&run.save_before(0).unwrap_err());

        // Of what is kept, a run that takes its place keeps what lies in its own past.
        run.command(set("lr", 0.0023)).unwrap();
        let kept = run.kept_before();
        run.command(restored(run.save_before(kept[kept.len() - 1]).unwrap())).unwrap();
        assert_eq!(run.kept_before(), kept[..kept.len() - 1], "{variant}");
        run.command(restored(file)).unwrap();
        assert!(run.kept_before().is_empty(), "{variant}");
    }
}

#[test]
fn a_run_keeps_no_more_of_its_past_than_there_is_room_for() {
    for (room, variant, knobs, most) in [("bandit", "three-arms", "", 12), ("cube", "2x2x2", "hidden=2048-1024", 2)] {
        let mut run = begin(&with(small(room, variant, 1), knobs));
        (1..=20).for_each(|k| run.command(set("lr", 0.002 + f64::from(k) * 1e-4)).unwrap());
        assert_eq!(run.kept_before(), (20 - most..20).collect::<Vec<_>>());
        assert!(most * run.save_before(19).unwrap().len() <= 100_500_000);
    }
}

#[test]
fn a_step_is_one_iteration_and_then_a_pause() {
    for (_, config) in every(1) {
        let mut run = begin(&config);
        assert!(!run.advance(0.0), "nothing happens before a command");
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
fn a_row_has_what_the_schema_says_and_a_rate_is_what_was_done_in_the_time() {
    for (room, config) in first(1) {
        let schema = room.schema();
        let mut run = start(&config);
        let mut now_s = 0.0;
        let mut told = Events(Vec::new());
        while run.progress().iteration < 5 {
            now_s += 0.125;
            run.advance(now_s);
            told.0.extend(run.events());
        }
        let rows = told.metrics();
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
                // The time of tests is not training's.
                let trained_s = (row.train_s - before.train_s) * (1.0 - shares[tests].unwrap());
                let expected = done / trained_s;
                let found = value.unwrap();
                assert!((found - expected).abs() <= 1e-6 * expected, "{}: {found} {expected}", column.name);
            }
        }
    }
}

#[test]
fn tests_are_of_the_weights_that_they_name_and_come_after_the_iteration_that_they_are_of() {
    for (room, config) in every(5) {
        // Of these one is due after hundreds of thousands of boards or states; see `backgammon.rs` and `cube.rs`.
        if ["backgammon", "cube"].contains(&room.schema().id) {
            continue;
        }
        let mut run = start(&config);
        let (mut told, mut now_s) = (Vec::new(), 0.0);
        while told.len() < 2 && run.progress().iteration < 400 {
            now_s += 0.001;
            run.advance(now_s);
            let at = run.progress().iteration;
            for row in Events::drain(&mut *run).tests() {
                assert_eq!(row.progress.iteration, at, "nothing was learned meanwhile at home");
                assert_eq!(row.values, run.test().unwrap().values, "{}", config.variant);
                assert_eq!(row.values.len(), room.schema().tests.len());
                told.push(at);
            }
        }
        assert!(told.len() == 2 && told[0] < told[1], "{}: {told:?}", config.variant);
    }
}

#[test]
fn the_first_test_that_reaches_the_goal_solves_it_and_the_file_says_so() {
    let config = small("bandit", "three-arms", 4);
    let goal = room("bandit").variants()[0].goal.unwrap();
    let mut run = start(&config);
    let told = until(&mut *run, Events::is_solved);
    let solved = told.0.iter().find_map(|event| match event {
        Event::Solved { progress, goal } => Some((progress.clone(), *goal)),
        _ => None,
    });
    let first = told.tests().into_iter().find(|row| row.values[0].unwrap() >= goal.at).unwrap();
    assert_eq!(solved, Some((first.progress.clone(), goal.at)));
    let at = run.progress().iteration;
    train(&mut *run, at + 40);
    let mut restored = run::restore(&run.save().unwrap(), host()).unwrap();
    assert_eq!(restored.solved(), Some(&first.progress));
    assert_eq!(Events::drain(&mut *restored).began().solved.as_ref(), Some(&first.progress));
    restored.command(Command::Start).unwrap();
    train(&mut *restored, at + 80);
    assert!(!Events::drain(&mut *restored).is_solved(), "a task is solved once");
}

#[test]
fn a_reset_begins_again_and_goes_on_running() {
    for (_, config) in every(1) {
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
fn a_sweeps_learners_are_the_runs_that_they_would_be_alone() {
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
        let told = Events::drain(&mut *alone);
        let last = told.tests().last().map(|row| [row.progress.counts[0], row.values[at].unwrap()]);
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

/// Variants side by side from one seed, each with its own defaults; what was set stays where all know it.
#[test]
fn a_sweep_compares_variants() {
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
    let nobody = SweepSpec { values: vec!["2x2x2".into(), "nobody".into()], ..spec };
    assert!(matches!(Sweep::new(nobody, host()), Err(RunError::UnknownVariant { .. })));
}

#[test]
fn divergence_stops_the_run_says_so_and_is_never_saved() {
    for (room, config) in every(1) {
        // Of control's environments one is enough: they share the learner.
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
        // A learner that has nothing to learn from yet has not diverged, and may be saved.
        while run.progress().iteration < 200 {
            now_s += 0.001;
            if !run.advance(now_s) {
                break;
            }
        }
        assert!(run.diverged() && !run.running(), "{id}");
        let told = Events::drain(&mut *run);
        let said = told.0.iter().position(|event| match event {
            Event::Notice { level: Level::Error, text, next_step } => text.contains("diverged") && next_step.contains("learning rate"),
            _ => false,
        });
        let since = &told.0[said.unwrap_or_else(|| panic!("{id}"))..];
        assert!(!since.iter().any(|event| matches!(event, Event::Saved { .. })), "{id}");
        // Whoever asked for a save is answered.
        let answers = |event: &&Event| matches!(event, Event::Saved { .. } | Event::NotSaved { .. });
        assert_eq!(told.0.iter().filter(answers).count(), usize::from(asked), "{id}");
        // It says so, saves nothing over what is good, and lives on.
        assert!(matches!(run.save(), Err(RunError::Diverged)), "{id}");
        assert!(matches!(run.command(Command::Save), Err(RunError::Diverged)), "{id}");
        let question = match room.schema().id {
            "control" => json!({ "ask": "picture", "width": 3, "height": 3 }),
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
        assert!(run.diverged() && !run.running(), "it stops again");
        run.command(restored(good)).unwrap();
        assert!(!run.diverged());
        assert_eq!(run.digest(), good_digest);
        run.command(Command::Start).unwrap();
        train(&mut *run, 2);
        run.save().unwrap();
    }
}

#[test]
fn a_link_carries_the_run_and_tells_whether_it_was_reproduced() {
    for (room, config) in every(7) {
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

        // One of each room, which takes a while.
        if room.variants()[0].id != *variant {
            continue;
        }
        let told = |expected: Digest| {
            let mut again = start(&config);
            again.expect(expected);
            train(&mut *again, DIGEST_EVERY);
            let told = Events::drain(&mut *again);
            let [(level, text, next_step)] = told.notices()[..] else { panic!("{:?}", told.notices()) };
            (level, text.to_string(), next_step.to_string())
        };
        let word = room.schema().iteration_word;
        let (level, text, _) = told(digest.clone());
        assert!(level == Level::Info && text.contains(&format!("Reproduced: after 16 {word}s")), "{text}");
        let (level, text, next) = told(Digest { weights: "0".repeat(16), ..digest.clone() });
        assert!(level == Level::Warning && text.starts_with("Not reproduced") && !next.is_empty());
        let arithmetic = if Isa::best().fused() { "unfused" } else { "fused" };
        let (_, text, _) = told(Digest { arithmetic: arithmetic.into(), ..digest });
        assert!(text.contains("cannot be compared"), "{text}");
    }
}

/// As somebody does who turns knobs while a run goes on, and then gives its link away.
#[test]
fn a_link_replays_live_changes_and_tells_whether_the_run_was_reproduced() {
    for (room, config) in first(7) {
        let mut first = start(&config);
        first.command(set("lr", 0.0019)).unwrap();
        train(&mut *first, 5);
        first.command(set("lr", 0.0021)).unwrap();
        // A save and a load between two changes make no difference.
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

        let told = |link: &permalink::Link, turn: bool| {
            let mut again = start(&link.config);
            again.expect(link.digest.clone().unwrap());
            if turn {
                train(&mut *again, 3);
                again.command(set("lr", 0.003)).unwrap();
            }
            train(&mut *again, DIGEST_EVERY);
            let told = Events::drain(&mut *again);
            let marks: Vec<_> = told.marks().iter().map(|m| (m.progress.iteration, m.to.clone())).collect();
            let notices: Vec<_> = told.notices().iter().map(|(_, text, _)| text.to_string()).collect();
            (again, marks, notices)
        };
        let (again, marks, notices) = told(&link, false);
        assert_eq!(again.digest(), digest);
        assert_eq!(marks, [(0, 0.0019.into()), (5, 0.0022.into())]);
        let word = room.schema().iteration_word;
        assert!(notices[0].contains(&format!("replays 2 live changes of knobs, the first after 0 {word}s")));
        assert!(notices.len() == 2 && notices[1].starts_with("Reproduced"), "{notices:?}");
        assert_eq!(again.shared(), shared, "whoever opened it gives the same link away");

        // From the middle of the replay, what is ahead still comes.
        let mut early = trained(&link.config, 3);
        assert_eq!(early.shared().address, shared.address);
        let mut early = resume(&early.save().unwrap());
        assert_eq!(early.shared().address, shared.address);
        train(&mut *early, DIGEST_EVERY);
        assert_eq!(early.digest(), digest);

        let mut other = link.clone();
        other.config.changes[1].value = 0.0024.into();
        assert!(told(&other, false).2[1].starts_with("Not reproduced"));
        // One that somebody else turned too is theirs.
        let (own, marks, notices) = told(&link, true);
        assert_eq!((marks.len(), notices.len()), (3, 1), "{notices:?}");
        assert_eq!(own.shared().changes, 3);
    }
}

#[test]
fn defaults_lie_in_their_own_ranges_and_links_hold_them() {
    for (room, config) in every(1) {
        let knobs = room.knobs(&config.variant);
        let knobs = knobs.iter().map(|knob| (knob.name.to_string(), knob.default.clone())).collect();
        let config = Config { knobs, ..config };
        run::validate(&config, host()).unwrap();
        assert_eq!(permalink::decode(&permalink::encode(&config, None), host()).unwrap().config, config);
    }
}

#[test]
fn a_choice_and_a_text_are_knobs_like_others_everywhere() {
    let paying = |payouts: &str| with_text(small("bandit", "three-arms", 4), "payouts", payouts);
    // What is no payout is refused by the room, though the text is one.
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
    let told = Events::drain(&mut *run);
    let mark = told.marks()[0].clone();
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
    // The order of the answers is that of the text.
    let odds: Vec<f64> = ask(&mut *run, json!({ "ask": "policy" })).unwrap();
    assert_eq!(odds.len(), 4);
    assert!(odds[1] > odds[0] && odds[1] > odds[2], "{odds:?}");
}

#[test]
fn what_a_run_needs_is_reckoned_before_it_is_allocated() {
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

        // What a checkpoint claims, of its config and of what is in force.
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

/// What is claimed of sizes and is not what the tensors are is found out before anything is allocated for it.
#[test]
fn a_checkpoint_that_claims_other_sizes_than_it_has_is_damaged() {
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
        let config = small(id, room(id).variants()[0].id, 1);
        let mut file = apart(&begin(&config).save().unwrap());
        file.header["knobs"][knob] = value;
        let error = run::restore(&file.together(), host()).err().unwrap();
        assert!(matches!(error, RunError::Damaged { .. }), "{knob}: {error}");
    }
}

#[test]
fn rooms_are_listed_once_and_found_by_name() {
    let ids: Vec<_> = rooms().iter().map(|room| room.schema().id).collect();
    assert_eq!(ids, ["control", "backgammon", "cube", "logic", "words", "bandit"]);
    assert_eq!(run::default_config().room, ids[0]);
    for (room, config) in every(1) {
        let info = room.info();
        assert_eq!(info.variants.iter().filter(|v| v.id == config.variant).count(), 1);
        assert_eq!(info.parts.len(), room.schema().all_parts().count());
        let run = begin(&config);
        assert_eq!((run.schema().id, run.variant().id), (info.id, config.variant.as_str()));
        let goal = run.variant().goal.unwrap();
        assert!(run.schema().test(goal.column).is_some(), "{goal:?}");
        // Names are those of a file's columns: one meaning each.
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

/// A run can be moved to another thread whole.
#[test]
fn a_run_may_be_lent_a_clock_and_says_where_its_time_went() {
    for (room, config) in every(2) {
        if room.schema().parts.is_empty() {
            continue;
        }
        let plain = trained(&config, 2);
        let mut run: Box<dyn AnyRun> = start(&config);
        run.set_clock(ticks);
        let mut told = Events(Vec::new());
        while run.progress().iteration < 2 {
            run.advance(ticks());
            told.0.extend(run.events());
        }
        assert_eq!(run.digest(), plain.digest());
        let row = told.metrics()[1];
        let shares = &row.values[room.schema().metrics.len()..];
        let learner: f64 = shares[..room.schema().parts.len()].iter().map(|share| share.unwrap()).sum();
        assert!(learner > 0.2, "{}: {shares:?}", config.variant);
    }
}

/// Where somebody looks, the calls of a plan are timed, each of them; and the weights are those of a run that nobody looks into.
#[test]
fn operations_are_timed_while_somebody_looks_and_leave_no_trace() {
    for (room, config) in every(7) {
        let what = format!("{} {}", room.schema().id, config.variant);
        let (mut plain, mut looked) = (start(&config), start(&config));
        looked.set_clock(ticks);
        prepare(&mut *plain);
        prepare(&mut *looked);
        let none = looked.operations(true);
        // Others have kernels of their own.
        let has_plan = matches!((room.schema().id, &*config.variant), ("control" | "cube" | "words", _) | ("backgammon", "published"));
        assert_eq!(none, has_plan.then(Vec::new), "{what}");
        // Some play for a while before they take a step.
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
        assert_eq!(looked.operations(false), Some(vec![]), "{what}: nobody looks any more");
    }
}

/// What a run told of its iterations, without what depends on the time.
fn timeless_metrics(run: &mut dyn AnyRun) -> Vec<Vec<Option<f64>>> {
    let columns = run.schema().metrics;
    let told = Events::drain(run);
    told.metrics().into_iter().map(|row| unrated(columns, row)).collect()
}

#[test]
fn a_save_at_any_slice_goes_on_to_the_bit() {
    for (_, config) in every(3) {
        let variant = &config.variant;
        let mut whole = start(&config);
        settle(&mut *whole, 2);
        let told = timeless_metrics(&mut *whole);
        for slices in [1, 2, 3, 5, 8, 13, 21] {
            let mut run = start(&config);
            prepare(&mut *run);
            // A second a slice: an iteration that lasts so long is saved within.
            (0..slices).for_each(|slice| assert!(run.advance(f64::from(slice))));
            if run.progress().iteration >= 2 {
                break;
            }
            let done = run.progress().iteration as usize;
            let now = run.saves();
            let mut again = resume(&run.save().unwrap());
            // What cannot be saved within an iteration ends it first.
            assert_eq!(again.progress(), now.unwrap_or_else(|| run.progress()), "{variant}");
            let done = done.max(again.progress().iteration as usize);
            settle(&mut *again, 2);
            assert_eq!(again.digest(), whole.digest(), "{variant} after {slices} slices");
            assert_eq!(timeless_metrics(&mut *again), told[done..], "{variant} after {slices} slices");
            // And the one that was saved does so too.
            settle(&mut *run, 2);
            assert_eq!(run.digest(), whole.digest(), "{variant} after {slices} slices");
        }
    }
}

/// A save counts only slices that wait for another machine: here every one of some thousands is work of this processor.
#[test]
fn a_save_works_through_an_iteration_of_thousands_of_slices() {
    let tiny = "width=16 layers=1 heads=1 context=8 batch=1 micro=1 steps=2200";
    let mut run = start(&with(small("words", "char", 2), tiny));
    work(&mut *run, |run| !run.is_preparing() && !run.at_boundary());
    run.events();
    // The gradient and the update of each step are a slice each.
    run.save().unwrap();
    assert!(run.at_boundary() && run.progress().iteration == 1);
    let events = run.events();
    let is_of_a_device = |event: &Event| matches!(event, Event::Device(_) | Event::Notice { .. });
    assert!(!events.iter().any(is_of_a_device), "{events:?}");
}

#[test]
fn an_iteration_of_hours_is_saved_and_paused_at_once() {
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
        assert!(!again.at_boundary(), "{variant}: it is in the file that so much of the iteration is done");
        assert_eq!(again.digest().arithmetic, "partial", "{variant}: no other run tells the digest of these weights");
        run.command(Command::Pause).unwrap();
        assert!(!run.advance(2.0), "{variant}");
        // A step that was begun ends where somebody pauses.
        run.command(Command::Step).unwrap();
        assert!(run.advance(3.0));
        run.command(Command::Pause).unwrap();
        assert!(!run.advance(4.0), "{variant}");
    }
    // What cannot be saved within an iteration is saved as it began, once that lasts, and does the iteration again.
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
        assert_eq!(run.saves(), None, "{variant}: it may be over soon");
        run.command(Command::Pause).unwrap();
        run.command(Command::Save).unwrap();
        while Events::drain(&mut *run).saved().is_none() {
            now_s += 1.5;
            assert!(run.advance(now_s), "{variant}");
        }
        assert!(!run.at_boundary() && !run.advance(now_s), "{variant}: nothing goes on behind the save");
        assert_eq!(run.saves().map(|at| at.iteration), Some(1), "{variant}");
        let mut again = resume(&run.save().unwrap());
        let told = Events::drain(&mut *run);
        let notices = told.notices();
        assert!(notices.iter().any(|one| one.1.contains("as it was after 1")), "{variant}: {notices:?}");
        settle(&mut *again, 3);
        assert_eq!(again.digest(), whole.digest(), "{variant}");
        run.command(Command::Start).unwrap();
        settle(&mut *run, 3);
        assert_eq!(run.digest(), whole.digest(), "{variant}");
    }
}

#[test]
fn a_knob_that_waits_for_the_end_of_an_iteration_is_in_the_file() {
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
