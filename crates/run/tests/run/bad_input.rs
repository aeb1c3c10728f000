//! Tests that every room rejects invalid input in the same way: the error is clear and has a next step, and the run is unchanged.

use crate::common::*;
use run::protocol::{Command, Config, Knob, KnobKind, Value};
use run::{AnyRun, RunError, VERSION, permalink};
use serde_json::json;

/// Creates a run that is in the middle of its second iteration.
fn under_way(config: &Config) -> Box<dyn AnyRun> {
    let mut run = trained(config, 1);
    for _ in 0..2 {
        run.advance(1.0);
    }
    run.events();
    run
}

/// Asserts that the run rejects the command and does not change. Returns the error.
#[track_caller]
fn assert_rejected(run: &mut dyn AnyRun, command: Command) -> RunError {
    let state = |run: &dyn AnyRun| (run.digest(), run.progress(), run.running(), run.config_now(), run.at_boundary(), run.device_wish());
    let before = state(run);
    let Err(error) = run.command(command) else { panic!("the command was accepted") };
    clear(&error);
    assert_eq!(state(run), before, "{error}");
    assert!(run.events().is_empty(), "{error}");
    error
}

/// Asserts that validation, the beginning of a run, and a reset all reject the config. Returns the error of the reset.
#[track_caller]
fn assert_rejected_everywhere(run: &mut dyn AnyRun, config: &Config) -> RunError {
    let texts = [clear(&run::validate(config, host()).unwrap_err()), clear(&begin_error(config))];
    let error = assert_rejected(run, Command::Reset { config: Some(config.clone()) });
    // If the config is of another room, a reset has its own error, which is only about the room.
    if config.room == run.schema().id {
        assert_eq!(texts, [error.to_string(), error.to_string()]);
    }
    error
}

#[test]
fn invalid_configs_are_rejected() {
    for (room, config) in each_learner(1) {
        let mut run = under_way(&config);
        let run = &mut *run;
        let error = assert_rejected_everywhere(run, &Config { variant: "absent".into(), ..config.clone() });
        assert!(matches!(error, RunError::UnknownVariant { .. }));
        assert!(error.next_step().contains(&*room.variants()[0].id), "{error}");
        let kitchen = Config { room: "kitchen".into(), ..config.clone() };
        assert!(run::validate(&kitchen, host()).unwrap_err().next_step().contains(room.schema().id));
        assert_rejected_everywhere(run, &kitchen);
        let other = rooms().into_iter().find(|other| other.schema().id != room.schema().id).unwrap();
        let error = assert_rejected(run, Command::Reset { config: Some(run::config_of(other)) });
        assert!(matches!(error, RunError::OtherRoom { .. }), "{error}");
        let future = Config { version: VERSION + 1, ..config.clone() };
        assert!(matches!(assert_rejected_everywhere(run, &future), RunError::Future { .. }));
        for version in [0, VERSION - 1] {
            let unknown = Config { version, ..config.clone() };
            assert!(matches!(assert_rejected_everywhere(run, &unknown), RunError::NoSuchVersion { .. }));
        }
        let mut wings = config.clone();
        wings.knobs.insert("wings".into(), 2.0.into());
        let error = assert_rejected_everywhere(run, &wings);
        assert!(matches!(error, RunError::UnknownKnob { .. }) && error.next_step().contains("lr"), "{error}");
    }
}

/// Returns values that a knob of this kind rejects. The flag of a value is true if the value has the right type.
fn wrong(kind: KnobKind) -> Vec<(Value, bool)> {
    let number = |x: f64| (Value::Number(x), true);
    let text = |text: &str| (Value::Text(text.into()), false);
    match kind {
        KnobKind::Float { min, max, .. } => {
            vec![number(min - 1.0), number(max * 1.01 + 1.0), number(f64::NAN), number(f64::INFINITY), text("much"), text("")]
        }
        KnobKind::Int { min, max, .. } => {
            vec![number(min - 1.0), number(max + 1.0), number(min + 0.5), number(f64::NAN), text("many")]
        }
        KnobKind::Bool => vec![number(2.0), number(-1.0), number(0.5), text("yes")],
        KnobKind::Choice { .. } => vec![text("none of them"), (Value::Number(1.0), false)],
        KnobKind::Text { most } => vec![text(&"x".repeat(most as usize + 1)), (Value::Number(1.0), false)],
    }
}

#[test]
fn knobs_out_of_range_or_of_the_wrong_type_are_rejected() {
    for (room, config) in each_learner(1) {
        let mut run = under_way(&config);
        for knob in room.knobs(&config.variant) {
            for (value, kind_is_right) in wrong(knob.kind) {
                let mut config = config.clone();
                config.knobs.insert(knob.name.into(), value.clone());
                let by_config = assert_rejected_everywhere(&mut *run, &config);
                let by_hand = assert_rejected(&mut *run, set(knob.name, value.clone()));
                for error in [&by_config, &by_hand] {
                    let expected = match error {
                        RunError::OutOfRange { name, .. } => kind_is_right && name == knob.name,
                        RunError::WrongKind { name, .. } => !kind_is_right && name == knob.name,
                        _ => false,
                    };
                    assert!(expected, "{} = {value:?}: {error}", knob.name);
                    assert!(error.next_step().starts_with("Choose "), "{error}");
                }
                let text = match &value {
                    Value::Text(text) => text.replace(' ', "%20"),
                    Value::Number(number) => number.to_string(),
                };
                // The values in a link have no types, so a text knob accepts a number as text.
                let as_text = matches!((&knob.kind, &value), (KnobKind::Text { .. }, Value::Number(_)));
                if !as_text {
                    let link = format!("#/{}?variant={}&{}={text}", room.schema().id, config.variant, knob.name);
                    clear(&permalink::decode(&link, host()).unwrap_err());
                }
            }
            if !knob.live {
                let error = assert_rejected(&mut *run, set(knob.name, knob.default.clone()));
                assert!(matches!(error, RunError::NotLive { .. }), "{error}");
            }
        }
        assert!(matches!(assert_rejected(&mut *run, set("wings", 1.0)), RunError::UnknownKnob { .. }));
    }
}

#[test]
fn checkpoints_of_another_room_are_rejected() {
    let files: Vec<_> = first(1).iter().map(|(room, config)| (*room, begin(config).save().unwrap())).collect();
    for (here, config) in first(1) {
        let mut run = under_way(&config);
        for (there, file) in files.iter().filter(|(there, _)| there.schema().id != here.schema().id) {
            let error = assert_rejected(&mut *run, restored(file.clone()));
            assert!(matches!(error, RunError::OtherRoom { .. }), "{error}");
            assert!(error.to_string().contains(there.schema().id));
            clear(&here.restore(file, host(), None).err().unwrap());
            assert_eq!(run::origin(file).unwrap().room, there.schema().id);
        }
        // The checkpoint names a room that does not exist.
        let mut kitchen = apart(&files[0].1);
        kitchen.header["config"]["room"] = "kitchen".into();
        let kitchen = kitchen.together();
        assert!(matches!(run::restore(&kitchen, host()), Err(RunError::UnknownRoom { .. })));
        assert!(matches!(assert_rejected(&mut *run, restored(kitchen)), RunError::OtherRoom { .. }));
    }
}

#[test]
fn damaged_foreign_and_truncated_checkpoints_are_rejected() {
    for (_, config) in each_learner(1) {
        let mut source = trained(&config, 1);
        if config.room == "backgammon" {
            start_session(&mut *source);
        }
        let file = source.save().unwrap();
        run::restore(&file, host()).unwrap();
        let mut run = under_way(&config);
        let mut said = |what: &str, bytes: Vec<u8>| {
            let Err(error) = run::restore(&bytes, host()) else { panic!("{what} was accepted") };
            assert_eq!(assert_rejected(&mut *run, restored(bytes)).to_string(), clear(&error));
            error.to_string()
        };
        // Damages each of the first 16 bytes, and about a dozen bytes that are spread over the file.
        let step = (file.len() / 12).max(1) | 1;
        for at in (0..16).chain((16..file.len()).step_by(step)).chain([file.len() - 1]) {
            let mut wrong = file.clone();
            wrong[at] ^= 1;
            let text = said(&format!("byte {at} flipped"), wrong);
            assert!(text.contains("damaged") || text.contains("no Hothouse checkpoint"), "byte {at}: {text}");
        }
        for len in [0, 1, 7, 8, 9, 100, file.len() / 2, file.len() - 9, file.len() - 1] {
            let text = said(&format!("cut at {len}"), file[..len].to_vec());
            assert!(text.contains("cut short") || text.contains("no Hothouse checkpoint"), "{len}: {text}");
        }
        let replaced = |from: &[u8], to: &[u8]| {
            let at = file.windows(from.len()).position(|window| window == from).unwrap();
            let mut file = file.clone();
            file[at..at + to.len()].copy_from_slice(to);
            file
        };
        let mut flipped = file.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let tensors: [(&str, safetensors::tensor::TensorView); 0] = [];
        for (what, file, words) in [
            ("the last byte", flipped, "checksum"),
            // The checksum covers the header too.
            ("another seed", replaced(br#"\"seed\":1,"#, br#"\"seed\":2,"#), "checksum"),
            ("noise", vec![7; 5000], "no Hothouse checkpoint"),
            ("a picture", b"GIF89a".to_vec(), "no Hothouse checkpoint"),
            ("a newer one", replaced(br#"{\"version\":2"#, br#"{\"version\":7"#), "newer Hothouse"),
            ("an older one", replaced(br#"{\"version\":2"#, br#"{\"version\":1"#), "format 1, which this Hothouse does not know"),
            ("a foreign one", safetensors::serialize(tensors, None).unwrap(), "without Hothouse's metadata"),
        ] {
            assert!(said(what, file).contains(words), "{what}");
        }

        // These checkpoints have invalid content but a valid checksum.
        let good = apart(&file);
        let mut names = good.header["names"].clone();
        names["history"].as_array_mut().unwrap().pop();
        let mut wild = good.header["config"].clone();
        wild["knobs"]["lr"] = json!(1e9);
        let mut absent = good.header["config"].clone();
        absent["variant"] = json!("absent");
        let places = ["config", "knobs", "progress", "marks", "tests", "names", "arithmetic"];
        let nothing = places.map(|place| (place, json!({ "nothing": "of the kind" }), ""));
        let wrong = [("names", names, "column names"), ("config", wild, "out of range"), ("config", absent, "called 'absent'")];
        for (place, value, words) in nothing.into_iter().chain(wrong) {
            let mut parts = good.clone();
            parts.header[place] = value;
            let text = said(place, parts.together());
            assert!(text.len() > 20 && text.contains(words), "{place}: {text}");
        }
        // Each tensor is removed in one file and truncated in another. `npm test` selects about a dozen tensors, because a room may prepare
        // its data before it reads the tensors.
        let tensors: Vec<_> = good.state().filter(|part| !part.3.is_empty()).collect();
        let step = if testkit::all() { 1 } else { tensors.len().div_ceil(12).max(1) };
        for (name, dtype, _, bytes) in tensors.into_iter().step_by(step) {
            let mut without = good.clone();
            without.tensors.retain(|part| part.0 != *name);
            let mut cut = good.clone();
            let one = cut.tensors.iter_mut().find(|part| part.0 == *name).unwrap();
            let width = if format!("{dtype:?}").ends_with("64") { 8 } else { 4 };
            one.3.truncate(bytes.len() - width);
            one.2 = vec![one.3.len() / width];
            for (what, file) in [("without", without), ("cut", cut)] {
                let text = said(&format!("{what} {name}"), file.together());
                assert!(text.contains("damaged"), "{what} {name}: {text}");
            }
        }
    }
}

#[test]
fn invalid_links_are_rejected() {
    for (room, config) in every(1) {
        let id = room.schema().id;
        let said = |query: &str| {
            let link = format!("#/{id}?variant={}&{query}", config.variant);
            clear(&permalink::decode(&link, host()).unwrap_err())
        };
        for (query, words) in [
            ("v=3", "newer Hothouse"),
            ("v=999&whatever=that&means", "no value"),
            // The version is checked before all other keys and values.
            ("v=999&whatever=that%20means", "newer Hothouse"),
            ("v=0", "format 0, which this Hothouse does not know"),
            ("v=1", "format 1, which this Hothouse does not know"),
            ("v=two", "not a number"),
            ("lr", "no value"),
            ("lr=banana", "a number from"),
            ("lr=99", "out of range"),
            ("lr=0.01&lr=0.01", "twice"),
            ("seed=-1", "seed"),
            ("wings=2", "no knob"),
            ("lr=%zz", "percent-encoded"),
            ("lr=%ff", "percent-encoded"),
            ("digest=1.zz.fused", "digest"),
            ("at=lr=0.01", "written as"),
            ("at=5:lr=99", "out of range"),
            ("at=5:lr=fast", "a number from"),
            ("at=5:wings=2", "no knob"),
            ("digest=1.0123456789abcdef.gpu", "digest"),
            (&"&at=5:lr=0.001".repeat(65), "at most 64"),
        ] {
            assert!(said(query).contains(words), "{query}");
        }
        let fixed = room.knobs(&config.variant).into_iter().find(|knob| !knob.live);
        if let Some(Knob { name, default, .. }) = fixed {
            assert!(said(&format!("at=5:{name}={default}")).contains("cannot change during"));
        }
        let absent = permalink::decode(&format!("#/{id}?variant=absent&lr=0.1"), host()).unwrap_err();
        assert!(matches!(absent, RunError::UnknownVariant { .. }), "{absent}");
    }
    assert!(permalink::decode("#/kitchen?lr=0.1", host()).unwrap_err().to_string().contains("rooms are"));
}

#[test]
fn unsupported_questions_are_rejected() {
    for (room, config) in each_learner(1) {
        let mut run = under_way(&config);
        let before = (run.digest(), run.progress());
        let mut said = |question: serde_json::Value| {
            let error = run.ask(question.clone()).err().unwrap_or_else(|| panic!("{question} was answered"));
            clear(&error);
            error
        };
        for nonsense in [json!(null), json!(5), json!([]), json!({}), json!("frame"), json!({ "ask": "sing" })] {
            assert!(matches!(said(nonsense), RunError::Question { .. }));
        }
        match room.schema().id {
            "control" => {
                said(json!({ "ask": "session" }));
                let axis = |of, high| json!({ "name": "angle", "low": -1, "high": high, "of": of, "open": false });
                let picture = |width, x| json!({ "ask": "picture", "width": width, "height": 3, "axes": [x, axis(json!([3]), 1)] });
                said(picture(-1, axis(json!([2]), 1)));
                said(json!({ "ask": "picture", "width": 3 }));
                for (of, high) in [(json!([99]), 1), (json!([]), 1), (json!([98, 99]), 1), (json!([2]), -1)] {
                    assert!(said(picture(3, axis(of, high))).to_string().contains("is no axis of this environment"));
                }
                said(json!({ "ask": "touch", "touch": { "dt_s": "now" } }));
            }
            "backgammon" => {
                said(json!({ "ask": "frame" }));
                // No session has begun, so all actions are rejected.
                for act in ["roll", "double", "take", "pass", "confirm", "reply", "next_game"] {
                    said(json!({ "ask": "act", "act": { "kind": act } }));
                }
                said(json!({ "ask": "act", "act": { "kind": "dance" } }));
                let agent = json!({ "who": { "kind": "now" }, "evals": 1 });
                said(json!({ "ask": "hint", "engine": agent }));
                said(json!({ "ask": "review", "engine": agent }));
                said(json!({ "ask": "transcript" }));
                let setup = json!({ "seats": [null, agent], "length": 65, "cube": true, "seed": 1 });
                said(json!({ "ask": "new_session", "setup": setup }));
            }
            _ => {
                said(json!({ "ask": "session" }));
            }
        }
        assert_eq!((run.digest(), run.progress()), before);
    }
}
