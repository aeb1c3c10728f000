//! Tests of the words room's commands: training on a text and generating text.

use crate::common::{Scratch, of_kind, records, stderr, summary};
use serde_json::Value;
use std::fs;

const SMALL: &str = "--set width=32 --set layers=1 --set heads=2 --set context=32 --set batch=8 --set micro=8 --set steps=2";

/// Generates text with the agent of `run.safetensors`.
fn written(scratch: &Scratch, args: &str) -> Value {
    scratch.json(format!("generate words run.safetensors {args}"))
}

#[test]
fn a_folder_can_be_read_with_the_vocabulary_of_another_run() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("rhymes")).unwrap();
    for (name, line) in [("2.txt", "two for the dame,\n"), ("1.txt", "One for the master,\n")] {
        scratch.write(&format!("rhymes/{name}"), line.repeat(200));
    }
    let train = |more: &str| scratch.records(format!("train words --variant text --data rhymes --steps 1 {SMALL} --device cpu {more}"));
    train("--save first.st");
    let vocab = scratch.stdout("export words first.st");
    assert_eq!(vocab.lines().count(), 1);
    scratch.write("vocab.json", &vocab);
    train("--save second.st --vocab vocab.json --set characters=10000");
    assert_eq!(scratch.stdout("export words second.st"), vocab);
    let chars = r#"{"hothouse_vocabulary":{"kind":"chars","characters":"\nOadefhmnorst,"}}"#;
    scratch.write("chars.json", format!("{chars}\n"));
    for (args, words) in [
        ("--vocab vocab.json", "Name one with --data"),
        ("--data rhymes --vocab vocab.json", "Set tokenizer to bpe"),
        ("--data rhymes --vocab rhymes/1.txt", "is not a vocabulary"),
        ("--data rhymes --vocab chars.json", "not in the vocabulary"),
    ] {
        let message = stderr(&scratch.run(format!("train words {args}")));
        assert!(message.contains(words), "{args}: {message}");
    }
}

#[test]
fn a_text_is_learned_and_continued() {
    let scratch = Scratch::new();
    let rhyme = "One for the master, two for the dame, and three for the little boy who lives down the lane.\n";
    scratch.write("rhyme.txt", rhyme.repeat(60));
    let quick = "--set lr=0.01 --set decay_steps=1200 --set sample=20";
    let train = |steps: &str, save: &str| {
        scratch.records(format!("train words --text rhyme.txt --device cpu --steps {steps} --save {save} {SMALL} {quick}"))
    };
    let records = train("300000", "run.safetensors");
    assert!(summary(&records)["progress"]["tokens"].as_f64().unwrap() >= 300_000.0);
    let room_events: Vec<&Value> = of_kind(&records, "room");
    let samples = room_events.iter().filter(|record| record["event"]["kind"] == "sample").count();
    assert!(samples >= 3 && room_events.iter().any(|record| record["event"]["kind"] == "ready"));

    let master = "--prompt \"One for the master, \" --tokens 68";
    let greedy = format!("{master} --temperature 0");
    let line = written(&scratch, &greedy);
    assert_eq!(line["text"], "two for the dame, and three for the little boy who lives down the la");
    assert_eq!((&line["tokens"], &line["ended"]), (&68.into(), &"length".into()));
    let text = scratch.stdout(format!("generate words run.safetensors {greedy}"));
    assert_eq!(text, format!("One for the master, {}\n", line["text"].as_str().unwrap()));
    let stopped = written(&scratch, &format!("{greedy} --stop \", and\""));
    assert_eq!((&stopped["text"], &stopped["ended"]), (&"two for the dame".into(), &"stop".into()));
    let seed = |seed: u32| {
        let any = format!("--prompt One --temperature 2 --seed {seed} --tokens 40");
        written(&scratch, &any)["text"].clone()
    };
    assert_eq!(seed(1), seed(1));
    assert_ne!(seed(1), seed(2));
    assert_eq!(written(&scratch, &format!("{master} --temperature 3 --top-k 1"))["text"], line["text"]);
    // The prompt may come from standard input.
    let piped = scratch.stdout_with_input("generate words run.safetensors --prompt - --json", "three for");
    let line: Value = serde_json::from_str(&piped).unwrap();
    assert_eq!((&line["prompt"], &line["tokens"]), (&"three for".into(), &500.into()));

    // A resumed run has the same weights as an uninterrupted run.
    train("20000", "half.safetensors");
    let resumed = scratch.summary("resume half.safetensors --device cpu --steps 40000");
    let whole = train("40000", "whole.safetensors");
    assert!(resumed["digest"].is_string() && resumed["digest"] == summary(&whole)["digest"], "{resumed}");
}

/// The file of this test is larger than any memory, so the error must come from its length alone, before its content is read.
#[test]
fn a_text_longer_than_the_runs_is_an_error_before_it_is_read() {
    let scratch = Scratch::new();
    scratch.write("short.txt", "One for the master, two for the dame.\n".repeat(60));
    scratch.stdout(format!("train words --text short.txt --steps 1 --save run.safetensors {SMALL}"));
    // A sparse file that is larger than the memory of any machine.
    let file = fs::File::create(scratch.path("long.txt")).unwrap();
    file.set_len(1 << 42).unwrap();
    for verb in ["resume", "eval"] {
        let output = scratch.run(format!("{verb} run.safetensors --data long.txt"));
        assert_eq!(output.status.code(), Some(2), "{verb}");
        let message = stderr(&output);
        assert!(message.contains("was not trained on the file of --data"), "{verb}: {message}");
    }
    scratch.stdout("resume run.safetensors --data short.txt --steps 1");
}

/// The cases include a text without letters, and a prompt that is longer than the context.
#[test]
fn the_default_prompt_is_that_of_the_samples() {
    let scratch = Scratch::new();
    scratch.write("digits.txt", "0123456789\n".repeat(600));
    for args in ["--text digits.txt", "--set characters=20000 --set context=16", "--set characters=20000 --set \"prompt=a fox\""] {
        let train = format!("train words --steps 3000 --save run.safetensors {SMALL} {args}");
        let log = scratch.records(train);
        let samples: Vec<&Value> = of_kind(&log, "room").into_iter().filter(|record| record["event"]["kind"] == "sample").collect();
        let prompt = samples.last().expect("the last test writes one")["event"]["prompt"].as_str().unwrap();
        let line = written(&scratch, "--tokens 5");
        assert_eq!((&line["prompt"], &line["tokens"]), (&prompt.into(), &5.into()), "{args}");
        let text = scratch.stdout("generate words run.safetensors --tokens 5");
        assert_eq!(text, format!("{prompt}{}\n", line["text"].as_str().unwrap()));
        let is_of_digits = prompt.chars().all(|letter| letter == '\n' || letter.is_ascii_digit());
        assert_eq!(is_of_digits, args.starts_with("--text"));
        assert_eq!(prompt == "a fox", args.contains("prompt=a fox"));
    }
}

/// The lowest possible loss on user data is unknown, so a goal that depends on it cannot be reached.
#[test]
fn an_unreachable_goal_causes_a_warning() {
    let scratch = Scratch::new();
    scratch.write("digits.txt", "0123456789\n".repeat(600));
    for (args, warns) in [("--text digits.txt", true), ("--set characters=20000", false)] {
        let log = scratch.records(format!("train words --until-solved --steps 500 {SMALL} {args}"));
        let is_warning = |record: &&Value| {
            record["level"] == "warning"
                && record["text"].as_str().unwrap().contains("cannot end this run")
                && record["next_step"].as_str().unwrap().contains("--steps or --seconds")
        };
        assert_eq!(of_kind(&log, "notice").iter().any(is_warning), warns, "{log:?}");
    }
}

#[test]
fn generate_and_bench_errors_name_the_remedy() {
    let scratch = Scratch::new();
    scratch.records(format!("train words --steps 500 --save run.safetensors {SMALL} --set characters=20000"));
    scratch.stdout("train --set hidden=32 --steps 20000 --save control.safetensors");
    for (args, status, words) in [
        ("generate words run.safetensors --prompt \"a fôx\"", 1, "'ô' is not in the vocabulary"),
        ("generate words run.safetensors --prompt \"a fox ran and ran and ran and ran and ran\"", 1, "the model sees 32 at once"),
        ("generate words run.safetensors --prompt \"\"", 1, "empty"),
        ("generate words run.safetensors --temperature -1", 1, "Choose 0 to 100"),
        ("generate words run.safetensors --top-p 0", 1, "above 0"),
        ("generate words run.safetensors --tokens 0", 2, "1..=100000"),
        ("generate words control.safetensors", 2, "not 'words'"),
        ("bench words --versus jax", 2, "--versus pytorch"),
    ] {
        scratch.fails(args, status, words);
    }
    let none = scratch.hothouse("bench words --versus pytorch").env("HOTHOUSE_PYTHON", "no-python").output();
    assert!(stderr(&none.unwrap()).contains("pip install torch"));
}

/// Every error contains a remedy. The file of `--save` does not change.
#[test]
fn unsuitable_texts_are_errors() {
    let scratch = Scratch::new();
    let texts: [(&str, &[u8], &str); 5] = [
        ("empty.txt", b"", "the text is empty; use one"),
        ("short.txt", b"too short", "too few for a context of 32"),
        ("a.txt", &[b'a'; 5000], "consists of 'a' only"),
        ("latin1.txt", b"na\xEFve and more of it, long enough for a window of some sort", "byte 2 of the text is not UTF-8"),
        ("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0", "set tokenizer to bytes"),
    ];
    scratch.write("run.safetensors", "what was there");
    for (name, text, says) in texts {
        scratch.write(name, text);
        let train = format!("train words --text {name} --steps 500 --save run.safetensors {SMALL}");
        scratch.fails(train, 2, says);
    }
    assert_eq!(scratch.text("run.safetensors"), "what was there");
    fs::create_dir(scratch.path("empty")).unwrap();
    for (text, says) in [("none.txt", "Choose an existing file"), ("empty", "Name another folder")] {
        let output = scratch.run(format!("train words --text {text} --steps 1"));
        assert!(stderr(&output).contains(says), "{text}: {}", stderr(&output));
    }
}

/// During preparation there is nothing to save, so the run ends immediately.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_during_preparation() {
    let scratch = Scratch::new();
    // The text has many distinct words, so that the preparation takes long enough for a signal.
    let text: String = (0..3_000_000u32).map(|i| format!("{} ", i.wrapping_mul(2_654_435_761) % 1_000_003)).collect();
    scratch.write("numbers.txt", text);
    let knobs = "--set tokenizer=bpe --set vocab=65536 --save run.safetensors --json";
    let train = format!("train words --text numbers.txt --steps 500 {SMALL} {knobs}");
    let mut running = scratch.spawn(train);
    let log = running.read_until("room");
    assert!(log.iter().any(|record| record["event"]["kind"] == "preparing"), "{log:?}");
    running.interrupt();
    let rest = records(&running.rest());
    assert_eq!(running.wait(), Some(0));
    let end = rest.last().unwrap();
    assert_eq!((&end["kind"], &end["ended_by"]), (&"summary".into(), &"interrupt".into()));
    assert!(end["test"].is_null() && end["file"].is_null(), "{end}");
    assert!(of_kind(&rest, "notice").iter().any(|record| record["text"].as_str().unwrap().contains("nothing was saved")));
    assert!(!scratch.path("run.safetensors").exists());
}
