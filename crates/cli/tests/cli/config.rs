//! Tests of config files and of `hothouse info`.

use crate::common::*;
use run::protocol::Value as Knob;

#[test]
fn a_printed_config_gives_the_same_run() {
    let scratch = Scratch::new();
    let flags = "--variant Pendulum-v1 --seed 7 --steps 40000 --at 3:lr=1e-4 --device cpu";
    let text = scratch.stdout(format!("train control --print-config {flags} {SMALL}"));
    assert!(text.contains("[knobs]") && text.contains("[[changes]]") && text.contains("envs = 256"), "{text}");
    scratch.write("run.toml", &text);
    let whole = scratch.train(format!("control {flags}"));
    let read = |args: &str| scratch.summary(format!("train --config run.toml {args}"));
    let again = read("");
    for what in ["digest", "variant", "seed", "room", "ended_by"] {
        assert_eq!(again[what], whole[what], "{what}");
    }
    assert_eq!(again["progress"]["env_steps"], whole["progress"]["env_steps"]);
    // If a config file is read and printed again, the text does not change.
    assert_eq!(scratch.stdout("train --config run.toml --print-config"), text);
    // Flags take precedence over the file.
    let other = read("--seed 8 --steps 8192");
    assert_eq!((&other["seed"], &other["variant"]), (&8.into(), &"Pendulum-v1".into()));
    assert!(other["progress"]["env_steps"].as_u64() < again["progress"]["env_steps"].as_u64());
    let seeded = scratch.train("control --variant Pendulum-v1 --seed 8 --steps 8192");
    assert_eq!(other["digest"], seeded["digest"], "later changes have no effect yet");
    let set = scratch.stdout("train --config run.toml --set envs=64 --at 3:lr=0.002 --print-config");
    assert!(set.contains("envs = 64") && set.contains("value = 0.002") && set.matches("[[changes]]").count() == 1, "{set}");
}

/// Every key with a value that differs from its default, and the flag that sets the same value.
const EVERY_KEY: [(&str, &str, &str); 18] = [
    ("variant", "Pendulum-v1", "--variant Pendulum-v1"),
    ("seed", "7", "--seed 7"),
    ("data", "text.txt", "--data text.txt"),
    ("vocab", "vocab.json", "--vocab vocab.json"),
    ("device", "cpu", "--device cpu"),
    ("threads", "3", "--threads 3"),
    ("isa", "portable", "--isa portable"),
    ("steps", "40000", "--steps 40000"),
    ("seconds", "2.5", "--seconds 2.5"),
    ("cpu_seconds", "3.5", "--cpu-seconds 3.5"),
    ("until_solved", "true", "--until-solved"),
    ("save", "own.safetensors", "--save own.safetensors"),
    ("save_every", "4.5", "--save-every 4.5"),
    ("monitor", "own.ring", "--monitor own.ring"),
    ("events", "own.jsonl", "--events own.jsonl"),
    ("csv", "own.csv", "--csv own.csv"),
    ("tensorboard", "board", "--tensorboard board"),
    ("knobs", "", "--set lr=0.002"),
];

#[test]
fn every_key_survives_printing_and_reading() {
    let scratch = Scratch::new();
    let flags = EVERY_KEY.map(|(_, _, flag)| flag).join(" ");
    let text = scratch.stdout(format!("train control --print-config --at 3:lr=0.0001 {flags}"));
    let written: toml::Table = toml::from_str(&text).unwrap();
    for (key, value, _) in EVERY_KEY.iter().filter(|(key, ..)| *key != "knobs") {
        let found = &written[*key];
        assert_eq!(found.as_str().map_or_else(|| found.to_string(), String::from), *value, "{key}");
    }
    assert_eq!((written["version"].as_integer(), written["room"].as_str()), (Some(1), Some("control")));
    assert_eq!(written["knobs"]["lr"].as_float(), Some(0.002));
    let change = &written["changes"][0];
    assert_eq!((change["iteration"].as_integer(), change["value"].as_float()), (Some(3), Some(0.0001)));
    // The file and the flags define the same run.
    scratch.write("run.toml", &text);
    assert_eq!(scratch.stdout("train --config run.toml --print-config"), text);
    // The error about an unknown key lists all keys.
    scratch.write("none.toml", "nothing = 1");
    let message = stderr(&scratch.run("train --config none.toml"));
    let known = message.trim().split_once("Choose one of: ").unwrap().1.split(", ");
    let mut known: Vec<&str> = known.collect();
    let mut written: Vec<&str> = written.keys().map(String::as_str).collect();
    known.sort_unstable();
    written.sort_unstable();
    assert_eq!(written, known);
}

#[test]
fn the_config_of_every_variant_survives_printing_and_reading() {
    let scratch = Scratch::new();
    for room in run::rooms() {
        for variant in room.variants() {
            let (room_id, id) = (room.schema().id, &variant.id);
            let flags = format!("--variant {id} --seed 7 --steps 2e6 --device cpu");
            let text = scratch.stdout(format!("train {room_id} --print-config {flags}"));
            let written: toml::Table = toml::from_str(&text).unwrap();
            let [room_written, variant_written, device] = ["room", "variant", "device"].map(|key| written[key].as_str());
            assert_eq!((room_written, variant_written, device), (Some(room_id), Some(&**id), Some("cpu")));
            assert_eq!(["seed", "steps"].map(|key| written[key].as_integer()), [Some(7), Some(2_000_000)], "{id}");
            for knob in room.knobs(id) {
                let found = &written["knobs"][knob.name];
                let number = found.as_float().or_else(|| found.as_integer().map(|number| number as f64));
                let found = number.map(Knob::from).or_else(|| found.as_str().map(Knob::from));
                assert_eq!(found.as_ref(), Some(&knob.default), "{} of {id}", knob.name);
            }
            scratch.write("run.toml", &text);
            assert_eq!(scratch.stdout("train --config run.toml --print-config"), text);
        }
    }
}

#[test]
fn json_is_read_too() {
    let scratch = Scratch::new();
    let knobs = r#"{"envs":256,"rollout_steps":16,"hidden":32,"minibatches":4}"#;
    let text = format!(r#"{{"room":"control","seed":3,"steps":4096,"device":"cpu","knobs":{knobs}}}"#);
    scratch.write("run.json", &text);
    let read = scratch.summary("train --config run.json");
    assert_eq!(read["digest"], scratch.train("--seed 3 --steps 4096")["digest"]);
}

/// Some editors begin a text with a byte order mark.
#[test]
fn a_byte_order_mark_is_skipped() {
    let scratch = Scratch::new();
    scratch.write("run.json", "\u{feff}{\"seed\":3}");
    scratch.write("run.toml", "\u{feff}seed = 3");
    for name in ["run.json", "run.toml"] {
        assert!(scratch.stdout(format!("train --print-config --config {name}")).contains("seed = 3"), "{name}");
    }
    scratch.stdout("export logic life --format json --out life.json");
    scratch.write("marked.json", format!("\u{feff}{}", scratch.text("life.json")));
    scratch.write("drawing.txt", "\u{feff}.#.\n");
    scratch.stdout("run logic marked.json --grid 8x8 --steps 1 --start drawing.txt");
}

#[test]
fn errors_quote_long_inputs_in_part() {
    let scratch = Scratch::new();
    let long = "x".repeat(500_000);
    for (text, message) in [
        (format!("{long} = 1"), "there is no key called 'xxx"),
        (format!("[knobs]\n{long} = 1"), "there is no knob called 'xxx"),
        (format!("seed = \"{long}\""), "write a whole number"),
        (format!("variant = \"{long}\""), "Choose one of: "),
        (format!("room = \"{long}\""), "The rooms are: "),
        (format!("[knobs]\nlr = \"{long}\""), "a number from"),
        (format!("seed = {long}"), "it is not valid TOML"),
        (format!("{{\"seed\": {long}}}"), "it is not valid JSON"),
    ] {
        scratch.write("run.toml", text);
        let error = scratch.fails("train --config run.toml --steps 1", 2, message);
        assert!(error.len() < 10_000, "{} bytes: {}", error.len(), &error[..200]);
    }
    for args in ["eval", "--seed", "train --set", "verify #/"] {
        let error = stderr(&scratch.run(format!("{args} {}", &long[..100_000])));
        assert!(error.len() < 10_000, "{args}: {} bytes", error.len());
    }
}

#[test]
fn config_errors_suggest_the_nearest_name() {
    let scratch = Scratch::new();
    for (text, message) in [
        ("sed = 3", "there is no key called 'sed'. Did you mean seed?"),
        ("vairant = 1", "there is no key called 'vairant'. Did you mean variant?"),
        ("[knobs]\nlearning_rate = 3", "there is no knob called 'learning_rate'. Did you mean "),
        ("[knobs]\nenv = 3", "Did you mean envs?"),
        ("[knobs]\nlr = 99", "out of range"),
        ("[knobs]\nlr = [1]", "write a number, a text"),
        ("seed = -1", "write a whole number"),
        ("seed = 1.5", "write a whole number"),
        ("steps = \"many\"", "write a whole number"),
        ("seconds = 0", "above 0"),
        ("threads = 0", "write 1 to 1024"),
        ("device = \"tpu\"", "choose auto, cpu or gpu"),
        ("until_solved = 1", "write true or false"),
        ("room = \"kitchen\"", "rooms are"),
        ("variant = \"Pong-v5\"", "CartPole-v1"),
        ("version = 2", "expected version 1, found 2"),
        ("[[changes]]\niteration = 3\nknob = \"lr\"", "iteration, knob and value"),
        ("[[changes]]\niteration = 3\nknob = \"lt\"\nvalue = 1e-4", "Did you mean lr?"),
        ("seed = ", "it is not valid TOML"),
        ("{\"seed\": }", "it is not valid JSON"),
        ("{\"seed\": 1, \"seed\": 1}", "the key `seed` occurs twice"),
        ("{\"knobs\": {\"lr\": 0.1, \"lr\": 0.2}}", "the key `lr` occurs twice"),
        ("{\"seconds\": 1e999}", "number out of range"),
        ("seed = 1\nseed = 1", "duplicate key"),
        ("[knobs]\nlr = 0.1\n[knobs]\nlr = 0.2", "duplicate key"),
        ("[knobs]\nlr = nan", "write a number"),
        ("seconds = inf", "write"),
    ] {
        scratch.write("run.toml", text);
        scratch.fails("train --config run.toml --steps 1", 2, message);
    }
    assert_eq!(scratch.run("train --config missing.toml").status.code(), Some(1));
}

#[test]
fn info_describes_the_machine() {
    let scratch = Scratch::new();
    let info = scratch.json("info --threads 2");
    assert_eq!((&info["threads"], &info["version"]), (&2.into(), &env!("CARGO_PKG_VERSION").into()));
    assert!(info["processors"].as_u64().unwrap() >= 1);
    let sets = info["instruction_sets"].as_array().unwrap();
    assert!(sets.iter().any(|set| set["name"] == "portable" && set["arithmetic"] == "unfused"), "{info}");
    assert_eq!(sets.iter().filter(|set| set["chosen"] == true).count(), 1, "{info}");
    let rooms: Vec<_> = info["rooms"].as_array().unwrap().iter().map(|room| room["id"].as_str().unwrap()).collect();
    assert_eq!(rooms, ["control", "backgammon", "cube", "logic", "words"]);
    assert!(info["gpu"]["name"].is_string() || info["gpu"]["none"].is_string(), "{info}");
    // A run uses the instruction set that `info` marks as chosen.
    let best = sets.iter().find(|set| set["chosen"] == true).unwrap();
    let opened = &scratch.records("train --steps 1 --device cpu")[0];
    assert_eq!((&opened["isa"], &opened["arithmetic"]), (&best["name"], &best["arithmetic"]));
    let portable = stdout(&scratch.run("info --isa portable"));
    assert!(portable.contains("portable (unfused, chosen)") && portable.contains("CartPole-v1"), "{portable}");
}
