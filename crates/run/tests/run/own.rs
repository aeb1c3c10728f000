//! Tests of runs in environments from files.

use crate::common::*;
use run::control::protocol::Touch;
use run::permalink;
use run::protocol::{Command, Config, Dataset};
use serde_json::json;

const CATCH: &str = include_str!("../../../worlds/src/control/script/templates/catch.py");
/// Variant of control for environments from files.
const OWN: &str = "own";

fn file(name: &str, text: &str) -> Config {
    let data = Some(Dataset::new(name, text.as_bytes().to_vec()));
    Config { data, ..small("control", OWN, 3) }
}

#[test]
fn file_trains_and_its_checkpoint_resumes_bit_for_bit() {
    let config = file("catch.py", CATCH);
    let whole = trained(&config, 4);
    let mut resumed = resume(&saved(&mut *trained(&config, 2)));
    train(&mut *resumed, 4);
    assert_eq!(resumed.digest(), whole.digest());
    assert_eq!(resumed.variant().name, "catch.py");
}

#[test]
fn state_plane_has_any_two_observations_as_axes() {
    let mut run = trained(&file("catch.py", CATCH), 1);
    let axes = run.variant().about["axes"].as_array().unwrap().clone();
    let names: Vec<_> = axes.iter().map(|axis| axis["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["x / across - 1.0", "y / down - 1.0", "float(drift)"]);
    assert_eq!(names[3..], ["basket / across - 1.0", "(x - basket) / across"]);
    assert!(axes.iter().all(|axis| axis["open"] == true));
    let mut policy = |x: usize, y: usize| {
        let axes = [&axes[x], &axes[y]];
        let picture = run.ask(json!({ "ask": "picture", "width": 4, "height": 4, "axes": axes })).unwrap();
        let bytes = serde_json::to_value(&*picture).unwrap()["policy"].as_array().unwrap().clone();
        bytes.chunks_exact(3 * 4).map(<[_]>::to_vec).collect::<Vec<_>>()
    };
    let (plane, swapped, other) = (policy(0, 2), policy(2, 0), policy(0, 1));
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        assert_eq!(plane[y * 4 + x], swapped[x * 4 + y], "({x}, {y})");
    }
    assert_ne!(plane, other);
}

#[test]
fn each_fault_of_a_file_is_refused_with_its_line() {
    let cases = [
        ("class World:\n    def reset(self):\n        self.x = 1 +\n", "line 3"),
        ("x = None\ny = None\n", "catch.py has 3 errors:\nline 1"),
        (&"x = None\n".repeat(50), "catch.py, the first 20 errors:\nline 1"),
        ("\u{feff}", "catch.py"),
        (&"x = 1\n".repeat(60_000), "at most 100000"),
    ];
    for (text, expected) in cases {
        let error = run::validate(&file("catch.py", text), host()).unwrap_err();
        assert!(clear(&error).contains(expected), "{error}");
    }
}

/// The size of a file is refused before its bytes are loaded.
#[test]
fn file_that_is_too_long_is_refused_without_its_bytes() {
    let mut config = file("catch.py", CATCH);
    let data = config.data.as_mut().unwrap();
    (data.bytes, data.content) = (100_001, None);
    let error = run::validate(&config, host()).unwrap_err();
    assert!(clear(&error).contains("catch.py has 100001 bytes"), "{error}");
    config.data.as_mut().unwrap().bytes = 100_000;
    run::validate(&config, host()).unwrap();
}

#[test]
fn variant_without_its_file_and_file_with_another_variant_are_refused() {
    let config = Config { data: None, ..file("catch.py", CATCH) };
    assert!(clear(&begin_error(&config)).contains("needs its file"));
    let config = Config { variant: "CartPole-v1".into(), ..file("catch.py", CATCH) };
    assert!(clear(&begin_error(&config)).contains("built-in environment"));
}

#[test]
fn link_contains_the_file_and_starts_the_same_run() {
    let run = trained(&file("catch.py", CATCH), 2);
    let link = permalink::encode(&run.config_now(), None);
    assert!(link.contains("&data=") && link.contains("&file=") && link.len() < 1200, "{link}");
    assert_eq!(run.shared().limits.len(), 1, "only the missing digest");
    let read = permalink::decode(&link, host()).unwrap().config;
    assert_eq!(read.data.as_ref().unwrap().content, run.config().data.as_ref().unwrap().content);
    assert_eq!(trained(&read, 2).digest(), run.digest());
    // A mail program may cut or change the text.
    let end = link.find("&v=").unwrap();
    let start = link.find("&file=").unwrap();
    let faults = [
        format!("{}{}", &link[..end - 9], &link[end..]),
        format!("{}AAAA{}", &link[..start + 6], &link[start + 10..]),
        format!("{}~~{}", &link[..start + 6], &link[start + 8..]),
    ];
    for fault in faults {
        assert!(clear(&permalink::decode(&fault, host()).unwrap_err()).contains("copy the whole link"), "{fault}");
    }
    assert!(clear(&permalink::decode(&format!("#/control?variant=own{}", &link[start..]), host()).unwrap_err()).contains("without 'data'"));
}

#[test]
fn link_to_a_long_file_does_not_contain_it() {
    let mut state = 1u32;
    let mut comment = || -> String {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("# {state:08x}\n")
    };
    let noise: String = (0..8000).map(|_| comment()).collect();
    let run = begin(&file("catch.py", &format!("{CATCH}{noise}")));
    let shared = run.shared();
    assert!(!shared.link.contains("&file=") && shared.limits.iter().any(|limit| limit.contains("does not contain the data")), "{shared:?}");
}

/// The small environments of a file are drawn, advance in real time, and do not change the training.
#[test]
fn crowd_draws_small_environments_that_the_policy_plays() {
    let config = file("catch.py", CATCH);
    let mut run = trained(&config, 1);
    let mut crowd = |dt_s: f64| value(&mut *run, json!({ "ask": "crowd", "dt_s": dt_s }));
    let first = crowd(0.0);
    let tiles = first["tiles"].as_array().unwrap();
    assert_eq!((first["count"].as_u64(), tiles.len()), (Some(32), 32));
    assert!(tiles.iter().all(|tile| tile["steps"] == 0 && !tile["shapes"].as_array().unwrap().is_empty()), "{first}");
    let later = crowd(0.1);
    assert!(later["tiles"].as_array().unwrap().iter().all(|tile| tile["steps"] == 2), "{later}");
    assert_ne!(first["tiles"][0]["shapes"], later["tiles"][0]["shapes"]);
    train(&mut *run, 3);
    assert_eq!(run.digest(), trained(&config, 3).digest());
}

/// Pictures with many shapes are spread over several answers.
#[test]
fn answers_about_the_crowd_are_bounded() {
    let many =
        CATCH.replace("    def draw(self):\n", "    def draw(self):\n        for k in range(400):\n            circle(k, k, 1, \"red\")\n");
    let mut run = begin(&file("many.py", &many));
    let mut envs = || -> Vec<u64> {
        let crowd = value(&mut *run, json!({ "ask": "crowd", "dt_s": 0 }));
        crowd["tiles"].as_array().unwrap().iter().map(|tile| tile["env"].as_u64().unwrap()).collect()
    };
    assert_eq!((envs(), envs()), (vec![0, 1, 2, 3], vec![4, 5, 6, 7]));
}

#[test]
fn preview_shows_the_last_text_without_an_error() {
    let mut run = begin(&file("catch.py", CATCH));
    let mut preview = |text: &str| value(&mut *run, json!({ "ask": "preview", "text": text, "dt_s": 0.1 }));
    let wrong = preview("class World:\n");
    assert_eq!((&wrong["current"], &wrong["size"]), (&json!(false), &json!(null)));
    let snake = include_str!("../../../worlds/src/control/script/templates/snake.py");
    let shown = preview(snake);
    assert_eq!((&shown["current"], &shown["size"]), (&json!(true), &json!([10.0, 10.0])));
    let moved = preview(snake);
    assert_ne!(moved["shapes"], shown["shapes"], "random actions move the snake");
    let kept = preview(&snake.replace("self.hunger += 1", "self.hunger += )"));
    assert_eq!((&kept["current"], &kept["size"]), (&json!(false), &json!([10.0, 10.0])));
}

/// An environment whose rules raise an error after an unlucky random draw, in any step after the second.
const UNLUCKY: &str = "class World:
    actions = 2

    def reset(self):
        self.x = 0

    def step(self, action):
        self.x += 1
        if self.x > 2:
            self.x += 1 // min(1, randint(0, 2000))
        return 0.0 * action, self.x > 90

    def observe(self):
        return [self.x / 100]
";

#[test]
fn failed_step_fails_again_in_the_single_environment() {
    let mut run = begin(&file("unlucky.py", UNLUCKY));
    run.command(Command::Start).unwrap();
    while run.running() {
        run.advance(0.0);
    }
    let failure = run.failure().unwrap().to_string();
    let mut touch = |singles| {
        let touch = Touch { singles, ..Touch::default() };
        value(&mut *run, json!({ "ask": "touch", "touch": touch }))
    };
    let before = touch(0);
    let error = before["failed"].as_str().unwrap();
    assert!(failure.contains(error) && error.contains("line 10: a division by zero"), "{failure}; {error}");
    let steps = before["player"]["steps"].as_u64().unwrap();
    assert!(error.contains(&format!("failed in step {} of", steps + 1)), "{before}");
    let after = touch(1);
    assert_eq!((&after["player"]["fault"], &after["player"]["over"]), (&before["failed"], &json!(true)));
    assert_eq!(after["player"]["state"], before["player"]["state"]);
    assert_eq!(touch(2)["player"]["over"], json!(false), "the next single step shows the failed state again");
}
