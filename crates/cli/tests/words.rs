//! Words on the command line: trained on a text, and written by what was learned.

mod common;

use common::*;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;

const SMALL: [&str; 14] = [
    "--set",
    "width=32",
    "--set",
    "layers=1",
    "--set",
    "heads=2",
    "--set",
    "context=32",
    "--set",
    "batch=8",
    "--set",
    "micro=8",
    "--set",
    "steps=2",
];

fn written(scratch: &Scratch, args: &[&str]) -> Value {
    serde_json::from_str(
        &scratch.told(&[&["generate", "words", "run.safetensors"], args, &["--json"]].concat()),
    )
    .unwrap()
}

#[test]
fn a_text_is_learned_and_gone_on_from() {
    let scratch = Scratch::new();
    let rhyme =
        "One for the master, two for the dame, and three for the little boy who lives down the lane.\n";
    fs::write(scratch.path("rhyme.txt"), rhyme.repeat(60)).unwrap();
    let train = [
        &["train", "words", "--text", "rhyme.txt", "--steps", "300000", "--save", "run.safetensors"],
        &SMALL[..],
        &["--set", "lr=0.01", "--set", "decay_steps=1200", "--set", "sample=20"],
    ]
    .concat();
    let records = scratch.records(&train);
    assert!(summary(&records)["progress"]["tokens"].as_f64().unwrap() >= 300_000.0);
    let told: Vec<&Value> = of_kind(&records, "room");
    let samples = told.iter().filter(|told| told["event"]["kind"] == "sample").count();
    assert!(samples >= 3 && told.iter().any(|told| told["event"]["kind"] == "ready"));

    let greedy = ["--prompt", "One for the master, ", "--temperature", "0", "--tokens", "68"];
    let line = written(&scratch, &greedy);
    assert_eq!(line["text"], "two for the dame, and three for the little boy who lives down the la");
    assert_eq!((&line["tokens"], &line["ended"]), (&68.into(), &"length".into()));
    let text = scratch.told(&[&["generate", "words", "run.safetensors"], &greedy[..]].concat());
    assert_eq!(text, format!("One for the master, {}\n", line["text"].as_str().unwrap()));
    let stopped = written(&scratch, &[&greedy[..], &["--stop", ", and"]].concat());
    assert_eq!((&stopped["text"], &stopped["ended"]), (&"two for the dame".into(), &"stop".into()));
    let seed = |seed: &str| {
        written(&scratch, &["--prompt", "One", "--temperature", "2", "--seed", seed, "--tokens", "40"])["text"].clone()
    };
    assert_eq!(seed("1"), seed("1"));
    assert_ne!(seed("1"), seed("2"));
    let likely = ["--prompt", "One for the master, ", "--temperature", "3", "--top-k", "1", "--tokens", "68"];
    assert_eq!(written(&scratch, &likely)["text"], line["text"]);
    // The prompt may come from a pipe, and else is that of the samples, or how the text's last part begins.
    let mut piped = scratch.hothouse(&["generate", "words", "run.safetensors", "--prompt", "-", "--json"]);
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"three for").unwrap();
    let line: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!((&line["prompt"], &line["tokens"]), (&"three for".into(), &500.into()));

    // It goes on as if it had not stopped.
    let digest = |args: &[&str]| summary(&scratch.records(args))["digest"]["weights"].clone();
    let whole = [&train[..5], &["360000", "--save", "whole.safetensors"], &train[8..]].concat();
    let resumed = digest(&["resume", "run.safetensors", "--steps", "360000"]);
    assert_eq!(resumed, digest(&whole));
}

#[test]
fn what_cannot_be_written_or_compared_is_refused() {
    let scratch = Scratch::new();
    let train = [&["train", "words", "--steps", "500", "--save", "run.safetensors"], &SMALL[..]].concat();
    scratch.records(&[&train[..], &["--set", "characters=20000"]].concat());
    scratch.train(&["--steps", "20000", "--save", "control.safetensors"]);
    let generate = ["generate", "words", "run.safetensors"];
    for (args, status, says) in [
        (&["--prompt", "a fôx"][..], 1, "'ô' is not in the vocabulary"),
        (&["--prompt", "a fox ran and ran and ran and ran and ran"], 1, "the model sees 32 at once"),
        (&["--prompt", ""], 1, "empty"),
        (&["--temperature", "-1"], 1, "Choose 0 to 100"),
        (&["--top-p", "0"], 1, "above 0"),
        (&["--tokens", "0"], 2, "1..=100000"),
    ] {
        let output = scratch.run(&[&generate, args].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
    let other = scratch.run(&["generate", "words", "control.safetensors"]);
    assert!(other.status.code() == Some(2) && stderr(&other).contains("writes no texts"));
    let versus = scratch.run(&["bench", "words", "--versus", "jax"]);
    assert!(versus.status.code() == Some(2) && stderr(&versus).contains("--versus pytorch"));
    let none = scratch
        .hothouse(&["bench", "words", "--versus", "pytorch"])
        .env("HOTHOUSE_PYTHON", "no-python")
        .output();
    assert!(stderr(&none.unwrap()).contains("pip install torch"));
}
