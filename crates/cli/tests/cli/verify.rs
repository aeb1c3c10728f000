//! Tests of `hothouse verify` and of the entries that `train --entry` writes.

use crate::common::{SMALL, Scratch};
use run::gallery::{Entry, Track};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Tracks: for each track its name, and the link, the score and the remaining text of its file.
const TRACKS: [(&str, &str, &str, &str); 6] = [
    ("short", "#/control?variant=CartPole-v1&", "test.mean_return", r#", "largest": true"#),
    ("brief", "#/control?", "test.mean_return", r#", "at_most": { "end.env_steps": 1 }"#),
    ("fast", "#/control?", "cpu_seconds", ""),
    ("idle", "#/control?", "test.mean_return", r#", "at_most": { "cpu_seconds": 60 }"#),
    ("steps", "#/control?", "solved.env_steps", r#", "at_least": { "test.mean_return": 475 }"#),
    ("other", "#/control?variant=Pendulum-v1&", "test.mean_return", ""),
];

fn write_tracks(scratch: &Scratch) {
    std::fs::create_dir(scratch.path("tracks")).unwrap();
    for (id, link, score, rest) in TRACKS {
        let text = format!(r#"{{ "title": "T", "rule": "R", "link": "{link}", "score": "{score}", "unit": "U"{rest} }}"#);
        scratch.write(&format!("tracks/{id}.json"), text);
    }
}

/// Trains a run of 40 iterations that learns too slowly to be solved. Returns its entry with a title, an author, a text and a track.
fn entry(scratch: &Scratch) -> Value {
    scratch.stdout(format!("train control --seed 3 {SMALL} --set lr=0.00001 --steps 163840 --device cpu --plain --entry entry.json"));
    write_tracks(scratch);
    let mut entry: Value = serde_json::from_str(&scratch.text("entry.json")).unwrap();
    for (name, value) in [("track", "short"), ("title", "A short run"), ("author", "Someone"), ("text", "It is short.")] {
        entry[name] = value.into();
    }
    entry
}

/// Verifies an entry. Returns the reason why it is not reproduced.
#[track_caller]
fn refused(scratch: &Scratch, entry: &Value) -> String {
    refused_text(scratch, &entry.to_string())
}

#[track_caller]
fn refused_text(scratch: &Scratch, entry: &str) -> String {
    scratch.write("entry.json", entry);
    let found = scratch.run("verify entry.json --json");
    assert_eq!(found.status.code(), Some(1));
    let line: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(line["reproduced"], false);
    line["why"].as_str().unwrap().into()
}

#[test]
fn an_entry_is_reproduced_on_any_number_of_threads() {
    let scratch = Scratch::new();
    let entry = entry(&scratch);
    let digests = entry["digests"].as_object().unwrap();
    assert_eq!(digests.keys().collect::<Vec<_>>(), ["16", "32", "40"]);
    assert!(entry["test"]["mean_return"].as_f64().unwrap() > 10.0 && entry["solved"].is_null());
    scratch.write("entry.json", entry.to_string());
    for threads in 1..=3 {
        let found = scratch.json(format!("verify entry.json --threads {threads}"));
        assert_eq!(found["reproduced"], true, "{found}");
        assert_eq!((&found["test"], &found["digest"]), (&entry["test"], &digests["40"]));
        assert_eq!(found["score"], entry["test"]["mean_return"]);
    }
    let words = scratch.stdout("verify entry.json");
    assert!(words.contains("  end: env_steps 163840") && words.starts_with("entry.json: reproduced\n  weights: "), "{words}");
    // A run may overwrite an entry of an earlier run, but no other file.
    scratch.write("other.json", "{}");
    let found = scratch.run(format!("train control {SMALL} --steps 1 --entry other.json"));
    assert!(!found.status.success() && scratch.text("other.json") == "{}");
}

#[test]
fn a_solved_entry_is_reproduced() {
    let scratch = Scratch::new();
    write_tracks(&scratch);
    scratch.stdout("train control --seed 1 --until-solved --device cpu --plain --entry entry.json");
    let mut entry: Value = serde_json::from_str(&scratch.text("entry.json")).unwrap();
    for name in ["title", "author", "text"] {
        entry[name] = "x".into();
    }
    entry["track"] = "steps".into();
    scratch.write("entry.json", entry.to_string());
    let found = scratch.json("verify entry.json --threads 1");
    assert!(found["reproduced"] == true && found["score"] == entry["solved"]["env_steps"], "{found}");
    entry["solved"]["env_steps"] = 4096.into();
    let why = refused(&scratch, &entry);
    assert!(why.contains("the solution has env_steps") && why.contains("not 4096"), "{why}");
}

#[test]
fn a_false_entry_is_refused_with_the_place() {
    let scratch = Scratch::new();
    let entry = entry(&scratch);
    let changed = |path: &[&str], value: Value| {
        let mut changed = entry.clone();
        *path.iter().fold(&mut changed, |at, name| &mut at[*name]) = value;
        changed
    };
    let wrong = || Value::from("0123456789abcdef");
    for (path, value, expected) in [
        (&["digests", "32"][..], wrong(), "after 32 iterations the digest of the weights is"),
        (&["digests", "32"], wrong(), "after 16 iterations it was equal"),
        (&["curve", "points", "32"], 0.5.into(), "after 32 iterations the curve has"),
        (&["digests", "5"], wrong(), "after 5 iterations the digest of the weights is"),
        (&["link"], format!("{}&environment=Pendulum-v1", entry["link"].as_str().unwrap()).into(), "its link must be written as #/control"),
        (&["test", "mean_return"], 500.into(), "the test has mean_return"),
        (&["solved"], json!({ "iteration": 3 }), "and the run is not solved"),
        (&["title"], "<b>first</b>".into(), "title contains markup"),
        (&["title"], "".into(), "title is empty"),
        (&["author"], "a".repeat(101).into(), "more than 100 characters"),
        (&["text"], "\u{1b}[31m".into(), "control characters"),
        (&["digests"], json!({}), "has no digest"),
        (&["digests", "32"], "0123456789abcde".into(), "is not 16 hexadecimal digits"),
        (&["digests", "032"], wrong(), "invalid"),
        (&["digests", "-1"], wrong(), "invalid"),
        (&["digests"], (0..34).map(|i| (i.to_string(), wrong())).collect(), "more than 33 digests"),
        (&["cpu_seconds"], 0.into(), "its cpu_seconds are 0; write a number above 0"),
        (&["cpu_seconds"], json!(-0.5), "its cpu_seconds are -0.5"),
        (&["cpu_seconds"], "1".into(), "invalid type"),
        (&["cpu_seconds"], Value::Null, "invalid type"),
        (&["threads"], 0.into(), "its threads are 0; write 1 to 1024"),
        (&["threads"], 1025.into(), "its threads are 1025"),
        (&["threads"], json!(1.5), "invalid type"),
        (&["chip"], "".into(), "chip is empty"),
        (&["curve", "column"], "loss".into(), "its curve shows 'loss'; write metrics.NAME or test.NAME"),
        (&["curve", "points", "41"], 1.into(), "has a point after 41 iterations, and the run ends after 40"),
        (&["curve", "more"], 1.into(), "unknown field `more`"),
        (&["end", "env_steps"], "many".into(), "invalid type"),
        (&["end", "more"], Value::Null, "the end has more unknown, not unknown"),
        (&["track"], "fast".into(), "its track uses 'cpu_seconds', which no verification recomputes"),
        (&["track"], "idle".into(), "its track uses 'cpu_seconds', which no verification recomputes"),
        (&["track"], "none".into(), "there is no track 'none'. Choose one of: brief, fast, idle, other, short, steps"),
        (&["track"], "other".into(), "begin with #/control?variant=Pendulum-v1&"),
        (&["track"], "brief".into(), "needs end.env_steps of at most 1, and it has 163840"),
        (&["track"], "steps".into(), "needs test.mean_return of at least 475, and it has"),
        (&["end", "env_steps"], 1.into(), "the end has env_steps 163840, not 1"),
        (&["arithmetic"], "gpu".into(), "need gpu arithmetic"),
        (&["link"], "#/control?variant=CartPole-v1&v=99".into(), "newer Hothouse"),
        (&["link"], "#/control?variant=CartPole-v1&seed=x&v=2".into(), "seed 'x' is not"),
        (&["more"], 1.into(), "unknown field `more`"),
    ] {
        let why = refused(&scratch, &changed(path, value));
        assert!(why.contains(expected), "{path:?}: {why}");
    }
    for name in entry.as_object().unwrap().keys() {
        let mut lacking = entry.clone();
        lacking.as_object_mut().unwrap().remove(name);
        assert!(refused(&scratch, &lacking).contains(&format!("missing field `{name}`")), "{name}");
    }
    // A value of `serde_json` has each key once and no infinite number, so these files are changed as texts.
    let text = entry.to_string();
    for (from, to, expected) in [
        (r#""threads":"#, r#""threads":1,"threads":"#, "the key `threads` occurs twice"),
        (r#""mean_return":"#, r#""mean_return":500,"mean_return":"#, "the key `mean_return` occurs twice"),
        (r#""cpu_seconds":"#, r#""cpu_seconds":1e999,"chip":"#, "out of range"),
        (r#""cpu_seconds":"#, r#""cpu_seconds":NaN,"chip":"#, "expected value"),
    ] {
        assert!(text.contains(from));
        let why = refused_text(&scratch, &text.replacen(from, to, 1));
        assert!(why.contains(expected), "{why}");
    }
    // The reason quotes a long link in part.
    for link in ["#/control?seed=", "#/control?", "#/control?variant=CartPole-v1&v=2&seed=1&seed="] {
        let why = refused(&scratch, &changed(&["link"], format!("{link}{}", "x".repeat(900_000)).into()));
        assert!(why.len() < 500, "{} bytes", why.len());
    }
    scratch.write("entry.json", format!("\u{feff}{entry}"));
    assert!(scratch.run("verify entry.json").status.success());
    scratch.write("entry.json", "not json");
    assert!(!scratch.run("verify entry.json").status.success());
    scratch.write("entry.json", vec![b' '; (1 << 20) + 1]);
    assert!(!scratch.run("verify entry.json").status.success());
}

#[test]
fn links_are_verified_and_all_targets_are_reported() {
    let scratch = Scratch::new();
    let entry = entry(&scratch);
    let (link, digests) = (entry["link"].as_str().unwrap(), &entry["digests"]);
    let [good, bad] = [digests["32"].as_str().unwrap(), "0123456789abcdef"]
        .map(|digest| format!("https://example.org/{link}&digest=32.{digest}.{}", entry["arithmetic"].as_str().unwrap()));
    let found = scratch.run(format!("verify --json {bad} {good} {link}"));
    assert_eq!(found.status.code(), Some(1));
    let lines: Vec<Value> = String::from_utf8(found.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reproduced: Vec<_> = lines.iter().map(|line| line["reproduced"].as_bool().unwrap()).collect();
    assert_eq!(reproduced, [false, true, false]);
    assert!(lines[2]["why"].as_str().unwrap().contains("no digest"), "{lines:?}");
    let said = String::from_utf8(found.stderr).unwrap();
    assert!(said.contains("2 of 3 were not reproduced"), "{said}");
}

#[test]
fn a_run_over_the_limit_ends_with_its_expected_time() {
    let scratch = Scratch::new();
    let link = |iteration: u32| format!("#/control?{}&v=2&digest={iteration}.0123456789abcdef.fused", "seed=1&envs=32&rollout_steps=8");
    for (iteration, limit, expected) in
        [(u32::MAX, "60", "4294967295 iterations need about"), (u32::MAX, "0.1", "did not end within the limit of 0.10 s")]
    {
        let found = scratch.run(format!("verify --json --limit {limit} {}", link(iteration)));
        assert_eq!(found.status.code(), Some(1));
        let line: Value = serde_json::from_slice(&found.stdout).unwrap();
        let why = line["why"].as_str().unwrap();
        assert!(why.contains(expected) && why.contains("--limit"), "{why}");
    }
    for limit in ["0", "-1"] {
        scratch.fails(format!("verify --limit {limit} {}", link(8)), 2, "write seconds above 0");
    }
}

/// Files of the folder `gallery/NAME` with their contents.
fn gallery(name: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect()
}

/// Maximum CPU time in seconds of an entry that this test verifies. The weekly workflow verifies all entries.
const QUICK_S: f64 = 2.0;

#[test]
fn the_gallery_is_valid_and_its_quick_entries_are_reproduced() {
    let tracks: BTreeMap<_, _> = gallery("tracks")
        .into_iter()
        .map(|(path, text)| (path.file_stem().unwrap().to_str().unwrap().to_string(), Track::read(&text).unwrap()))
        .collect();
    let mut quick = Vec::new();
    for (path, text) in gallery("") {
        let entry = Entry::read(&text).unwrap();
        if !entry.track.is_empty() {
            let score = entry.score(&tracks[&entry.track]).unwrap();
            assert!(score.is_finite(), "{}", path.display());
        }
        if entry.cpu_seconds <= QUICK_S {
            quick.push(path.display().to_string());
        }
    }
    assert!(tracks.len() >= 12 && quick.len() >= 2, "{} tracks, quick entries {quick:?}", tracks.len());
    let found = Scratch::new().hothouse("verify").args(quick).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
}
