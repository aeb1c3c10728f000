//! The boundary, driven as a shell drives it.

use math::Isa;
use run::protocol::{Command, Config, Digest, Event, SweepSpec, Touch};
use run::{CONFIG_VERSION, DIGEST_EVERY, Experiment, RunError, Sweep, default_config};
use std::collections::BTreeMap;

/// Small enough to be quick, large enough to cut into several shards.
fn small(seed: u32) -> Config {
    let knobs = [("envs", 256.0), ("rollout_steps", 16.0), ("hidden", 32.0), ("minibatches", 4.0)];
    let knobs = knobs.map(|(k, v)| (k.to_string(), v));
    Config { seed, knobs: BTreeMap::from(knobs), ..default_config() }
}

fn start(config: Config) -> Experiment {
    let mut experiment = Experiment::new(config, Isa::best()).unwrap();
    experiment.command(Command::Start).unwrap();
    experiment
}

/// Works until `iterations` are done in all.
fn train(experiment: &mut Experiment, iterations: u32) {
    let mut now_s = 0.0;
    while experiment.progress().iteration < iterations {
        now_s += 0.001;
        assert!(experiment.advance(now_s));
    }
}

fn saved(experiment: &mut Experiment) -> Vec<u8> {
    experiment.command(Command::Save).unwrap();
    let mut now_s = 0.0;
    loop {
        for event in experiment.events() {
            if let Event::Saved { bytes } = event {
                return bytes;
            }
        }
        now_s += 0.001;
        assert!(experiment.advance(now_s), "a save in the middle of an iteration ends it");
    }
}

#[test]
fn a_resumed_run_equals_one_that_never_stopped() {
    let mut whole = start(small(3));
    train(&mut whole, 9);

    let mut first = start(small(3));
    train(&mut first, 4);
    let file = saved(&mut first);
    drop(first);
    let mut second = Experiment::restore(&file, Isa::best()).unwrap();
    second.command(Command::Start).unwrap();
    train(&mut second, 9);

    assert_eq!(whole.digest(), second.digest());
    assert_eq!(whole.progress().episodes, second.progress().episodes);
    assert_eq!(whole.evaluate(20, 5).mean_return, second.evaluate(20, 5).mean_return);
}

#[test]
fn a_save_in_the_middle_of_an_iteration_ends_it_first() {
    let mut experiment = start(small(3));
    experiment.advance(0.0);
    experiment.command(Command::Pause).unwrap();
    let file = saved(&mut experiment);
    assert_eq!(Experiment::restore(&file, Isa::best()).unwrap().progress().iteration, 1);
}

#[test]
fn the_clock_and_the_watching_leave_no_trace_in_the_weights() {
    let mut plain = start(small(8));
    train(&mut plain, 4);

    let mut watched = start(small(8));
    let mut now_s = 100.0;
    while watched.progress().iteration < 4 {
        now_s += 7.0;
        watched.advance(now_s);
        watched.touch(Touch { dt_s: 0.05, cart_force: 9.0, tip_force: -1.0, drive: None });
        watched.frame();
        watched.evaluate(3, 1);
    }
    assert_eq!(plain.digest(), watched.digest());
}

#[test]
fn seeds_and_knobs_change_the_weights() {
    let digest = |config| {
        let mut experiment = start(config);
        train(&mut experiment, 2);
        experiment.digest().weights
    };
    let base = digest(small(1));
    assert_eq!(base, digest(small(1)));
    assert_ne!(base, digest(small(2)));
    let mut other = small(1);
    other.knobs.insert("gamma".into(), 0.9);
    assert_ne!(base, digest(other));
}

#[test]
fn a_knob_changes_at_the_boundary_and_leaves_a_mark_that_the_file_keeps() {
    let mut experiment = start(small(1));
    experiment.advance(0.0);
    experiment.command(Command::SetKnob { name: "lr".into(), value: 0.0005 }).unwrap();
    train(&mut experiment, 2);
    let marks: Vec<_> = experiment
        .events()
        .into_iter()
        .filter_map(
            |e| if let Event::Mark(m) = e { Some((m.knob, m.to, m.progress.iteration)) } else { None },
        )
        .collect();
    assert_eq!(marks, [("lr".to_string(), 0.0005, 1)]);

    assert_eq!(experiment.config(), &small(1), "the run is still the one that was started");
    let mut now = small(1);
    now.knobs.insert("lr".into(), 0.0005);
    assert_eq!(experiment.config_now(), now, "a link to it carries what is in force");

    let file = saved(&mut experiment);
    let mut restored = Experiment::restore(&file, Isa::best()).unwrap();
    assert_eq!(restored.config_now(), now);
    match restored.events().remove(0) {
        Event::Began { marks, knobs, history, .. } => {
            assert_eq!(marks.len(), 1);
            assert_eq!(knobs["lr"], 0.0005);
            assert_eq!(history.len(), 2);
        }
        other => panic!("expected the run to begin, got {other:?}"),
    }
}

#[test]
fn a_step_is_one_iteration_and_then_a_pause() {
    let mut experiment = Experiment::new(small(1), Isa::best()).unwrap();
    assert!(!experiment.advance(0.0), "nothing happens before a command");
    experiment.command(Command::Step).unwrap();
    let mut now_s = 0.0;
    while experiment.advance(now_s) {
        now_s += 0.001;
    }
    assert_eq!(experiment.progress().iteration, 1);
    assert!(!experiment.running());
}

#[test]
fn frames_show_what_the_environments_lived_through() {
    let mut experiment = start(small(1));
    assert_eq!(experiment.frame().steps, 0, "the first asks for them");
    train(&mut experiment, 1);
    let frame = experiment.frame();
    assert_eq!(frame.steps, 16);
    assert_eq!(frame.observations.len(), (frame.steps * frame.shown * frame.features) as usize);
    assert_eq!(frame.ended.len(), (frame.steps * frame.shown) as usize);
    assert!(frame.observations.iter().all(|v| v.is_finite()));
    assert!(frame.observations.iter().any(|v| *v != frame.observations[0]));
    assert_eq!(experiment.frame().steps, 0, "a frame is given once");
}

#[test]
fn a_pushed_pole_falls_and_stands_up_again() {
    let mut experiment = Experiment::new(small(1), Isa::best()).unwrap();
    let shove = Touch { dt_s: 0.02, tip_force: 30.0, ..Touch::default() };
    let over = |experiment: &mut Experiment, touch| experiment.touch(touch).player.over;
    let steps = (0..200).position(|_| over(&mut experiment, shove)).expect("30 N on the tip throw it over");
    assert!(steps < 40);
    let calm = Touch { dt_s: 0.1, ..Touch::default() };
    assert!((0..20).any(|_| !over(&mut experiment, calm)), "it stands up by itself");
    // A clock that jumps or breaks does no harm.
    for dt_s in [f64::NAN, f64::INFINITY, -5.0, 1e9] {
        assert!(experiment.touch(Touch { dt_s, ..calm }).player.state.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn a_hand_that_drives_plays_against_the_agent_from_the_same_start() {
    for environment in run::environments() {
        let config = Config { env: environment.id.clone(), knobs: BTreeMap::new(), ..small(1) };
        let mut experiment = Experiment::new(config, Isa::best()).unwrap();
        let drive = |experiment: &mut Experiment, action, dt_s| {
            experiment.touch(Touch { dt_s, drive: Some(action), ..Touch::default() })
        };
        assert!(experiment.touch(Touch::default()).rival.is_none());
        let first = drive(&mut experiment, f64::NAN, 0.0);
        assert_eq!(first.player, first.rival.unwrap(), "{}", environment.id);
        let longest = (f64::from(environment.step_limit) * environment.step_s / 0.05) as u32 + 10;
        let [low, high] = environment.range;
        let view = (0..longest).map(|i| drive(&mut experiment, [low, 1e9, high][i as usize % 3], 0.05));
        let view = view.into_iter().find(|view| !view.rounds.is_empty()).expect("an episode ends");
        let (player, rival) = (view.player, view.rival.unwrap());
        assert!(player.over && rival.over && player.steps <= environment.step_limit);
        assert_eq!(
            view.rounds,
            [run::protocol::Round { yours: player.total, agents: rival.total }],
            "{}",
            environment.id
        );
        assert_eq!(view.best, Some(rival.total));
        assert!(experiment.touch(Touch { dt_s: 0.05, ..Touch::default() }).rival.is_none(), "let go");
    }
}

#[test]
fn a_picture_is_what_the_policy_says_at_its_points() {
    for environment in run::environments() {
        let config = Config { env: environment.id.clone(), knobs: BTreeMap::new(), ..small(1) };
        let mut experiment = Experiment::new(config, Isa::best()).unwrap();
        let picture = experiment.picture(7, 5);
        assert_eq!(picture.channels as usize, environment.choices.len().max(1));
        assert_eq!(picture.values.len(), 35);
        assert_eq!(picture.policy.len(), 35 * picture.channels as usize);
        if picture.channels > 1 {
            for odds in picture.policy.chunks_exact(picture.channels as usize) {
                assert!((odds.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{odds:?}");
            }
        }
        experiment.command(Command::Start).unwrap();
        train(&mut experiment, 1);
        assert_ne!(experiment.picture(7, 5).values, picture.values, "it learns");
        assert_eq!(experiment.picture(0, u32::MAX).width, 1, "no size breaks it");
    }
}

#[test]
fn every_environment_trains_saves_and_goes_on() {
    for environment in run::environments() {
        let config = Config { env: environment.id.clone(), ..small(3) };
        let mut whole = start(config.clone());
        train(&mut whole, 3);
        let mut first = start(config);
        train(&mut first, 2);
        let mut second = Experiment::restore(&saved(&mut first), Isa::best()).unwrap();
        second.command(Command::Start).unwrap();
        train(&mut second, 3);
        assert_eq!(whole.digest(), second.digest(), "{}", environment.id);
        assert_eq!(second.environment(), environment);
    }
}

#[test]
fn a_sweeps_learners_are_the_runs_that_they_would_be_alone() {
    let spec = SweepSpec {
        config: small(4),
        knob: "gamma".into(),
        values: vec![0.9, 0.99],
        seeds: 2,
        steps: 256 * 16 * 6,
    };
    let mut sweep = Sweep::new(spec.clone(), Isa::best()).unwrap();
    let mut now_s = 0.0;
    while sweep.advance(now_s) {
        now_s += 0.01;
    }
    let cells = sweep.cells();
    assert_eq!(
        cells.iter().map(|c| (c.value, c.seed)).collect::<Vec<_>>(),
        [(0.9, 4), (0.9, 5), (0.99, 4), (0.99, 5)]
    );
    let mut config = small(5);
    config.knobs.insert("gamma".into(), 0.99);
    let mut alone = start(config);
    train(&mut alone, 6);
    assert_eq!(cells[3].progress.env_steps, 256 * 16 * 6);
    let last = alone.events().into_iter().rev().find_map(|e| match e {
        Event::Evaluation(e) => Some([e.progress.env_steps as f64, e.mean_return]),
        _ => None,
    });
    assert_eq!(cells[3].curve.last().copied(), last);
    for (values, seeds, knob) in
        [(vec![], 1, "lr"), (vec![0.1; 65], 1, "lr"), (vec![9.0], 1, "lr"), (vec![0.1], 1, "x")]
    {
        let spec = SweepSpec { values, seeds, knob: knob.into(), ..spec.clone() };
        assert!(Sweep::new(spec, Isa::best()).is_err());
    }
}

#[test]
fn divergence_stops_the_run_and_says_so() {
    let mut experiment = start(small(1));
    let file = saved(&mut experiment);
    // A weight that was driven out of all bounds, as a wild learning rate does.
    let bytes = edit_weights(&file, f32::MAX);
    experiment.command(Command::Restore { bytes }).unwrap();
    let mut now_s = 0.0;
    while experiment.advance(now_s) {
        now_s += 0.001;
    }
    assert!(!experiment.running());
    let said = experiment.events().into_iter().any(
        |e| matches!(e, Event::Notice { text, next_step, .. } if text.contains("diverged") && next_step.contains("learning rate")),
    );
    assert!(said);
}

#[test]
fn a_refused_command_changes_nothing() {
    let mut experiment = start(small(1));
    train(&mut experiment, 1);
    let before = experiment.digest();
    let refused = |e: &mut Experiment, c| e.command(c).unwrap_err();
    let set = |name: &str, value| Command::SetKnob { name: name.into(), value };
    assert!(matches!(refused(&mut experiment, set("lr", -1.0)), RunError::OutOfRange { .. }));
    assert!(matches!(refused(&mut experiment, set("envs", 64.0)), RunError::NotLive { .. }));
    assert!(matches!(refused(&mut experiment, set("wings", 2.0)), RunError::UnknownKnob { .. }));
    let future = Config { version: CONFIG_VERSION + 1, ..small(1) };
    assert!(matches!(
        refused(&mut experiment, Command::Reset { config: Some(future) }),
        RunError::Future { .. }
    ));
    assert!(matches!(
        refused(&mut experiment, Command::Restore { bytes: b"GIF89a".to_vec() }),
        RunError::Foreign { .. }
    ));
    assert_eq!(experiment.digest(), before);
    assert!(experiment.running());
}

#[test]
fn bad_files_are_named_for_what_they_are() {
    let file = saved(&mut start(small(1)));
    let said = |bytes: &[u8]| match Experiment::restore(bytes, Isa::best()) {
        Ok(_) => panic!("a bad file was taken"),
        Err(e) => e.to_string(),
    };
    for len in [0, 1, 7, 8, 9, 100, file.len() / 2, file.len() - 1] {
        let text = said(&file[..len]);
        assert!(text.contains("cut short") || text.contains("no Hothouse checkpoint"), "{len}: {text}");
    }
    let mut flipped = file.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(said(&flipped).contains("checksum"));
    let reseeded = replace_bytes(&file, br#"\"seed\":1,"#, br#"\"seed\":2,"#);
    assert!(said(&reseeded).contains("checksum"), "what the file says of itself is covered too");
    assert!(said(&[7; 5000]).contains("no Hothouse checkpoint"));

    let tensors: [(&str, safetensors::tensor::TensorView); 0] = [];
    let foreign = safetensors::serialize(tensors, None).unwrap();
    assert!(said(&foreign).contains("without Hothouse's metadata"));

    let text = String::from_utf8_lossy(&file).into_owned();
    assert!(text.contains(r#"{\"version\":1"#));
    let newer = replace_bytes(&file, br#"{\"version\":1"#, br#"{\"version\":7"#);
    assert!(said(&newer).contains("newer Hothouse"));
}

#[test]
fn a_link_with_a_digest_is_checked() {
    let heard = |digest: Digest| {
        let mut experiment = start(small(5));
        experiment.expect(digest);
        train(&mut experiment, DIGEST_EVERY);
        let texts = experiment.events().into_iter().filter_map(|e| match e {
            Event::Notice { text, .. } => Some(text),
            _ => None,
        });
        texts.collect::<String>()
    };
    let mut reached = start(small(5));
    train(&mut reached, DIGEST_EVERY);
    let digest = reached.digest();
    assert!(heard(digest.clone()).starts_with("Reproduced"));
    assert!(heard(Digest { weights: "0".repeat(16), ..digest.clone() }).starts_with("Not reproduced"));
    let arithmetic = if Isa::best().fused() { "unfused" } else { "fused" };
    assert!(heard(Digest { arithmetic: arithmetic.into(), ..digest }).contains("cannot be compared"));
}

/// Overwrites the critic's last bias and mends the checksum, as a broken learner would have saved it.
fn edit_weights(file: &[u8], value: f32) -> Vec<u8> {
    let (_, metadata) = safetensors::SafeTensors::read_metadata(file).unwrap();
    let mut header = metadata.metadata().as_ref().unwrap().clone();
    let all = safetensors::SafeTensors::deserialize(file).unwrap();
    let name = "critic.2.bias";
    let mut parts: Vec<_> = all.tensors();
    parts.sort_by(|a, b| (a.0 == "run.history", &a.0).cmp(&(b.0 == "run.history", &b.0)));
    let mut owned: Vec<_> =
        parts.iter().map(|(n, v)| (n.clone(), v.dtype(), v.shape().to_vec(), v.data().to_vec())).collect();
    let weights = owned.iter_mut().find(|p| p.0 == name).unwrap();
    weights.3[..4].copy_from_slice(&value.to_le_bytes());

    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let tensors = owned.iter().flat_map(|p| p.0.bytes().chain(p.3.iter().copied()));
    let text = header.get_mut("hothouse").unwrap();
    text.truncate(text.rfind(r#","checksum":"#).unwrap());
    for byte in text.bytes().chain(tensors) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    *text += &format!(r#","checksum":"{hash:016x}"}}"#);
    let views =
        owned.iter().map(|(n, t, s, b)| (n, safetensors::tensor::TensorView::new(*t, s.clone(), b).unwrap()));
    safetensors::serialize(views, Some(header)).unwrap()
}

fn replace_bytes(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = file.windows(from.len()).position(|w| w == from).unwrap();
    let mut file = file.to_vec();
    file[at..at + to.len()].copy_from_slice(to);
    file
}
