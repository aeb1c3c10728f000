//! Fuzz tests of the commands that serve other programs. Every line must get an answer. `FUZZ=10000` increases the number of lines.

use crate::common::*;
use testkit::{Mutator, cases};

/// Sends mutated lines of `good`, then the valid line `last`. Returns the number of lines and the answers.
fn answers(args: &str, good: &[&str], last: &str) -> (usize, Vec<String>) {
    let scratch = Scratch::new();
    let mut lines = Vec::new();
    let count = cases(300);
    for case in 0..count {
        let mut mutator = Mutator::new(args, case);
        let line = mutator.one_of(good);
        let mut line = mutator.bytes(line.as_bytes());
        line.retain(|&byte| byte != b'\n');
        // Replaces the line `quit`, which would end the program, and lines with `batch`, which would begin a batch without an end.
        let text = String::from_utf8_lossy(&line).into_owned();
        if text.trim_ascii() == "quit" || text.contains("batch") {
            line = b"what".to_vec();
        }
        lines.extend(line);
        lines.push(b'\n');
    }
    lines.extend(format!("{last}\n").into_bytes());
    let output = scratch.run_with_input(args, lines);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    (count as usize + 1, stdout(&output).lines().map(String::from).collect())
}

#[test]
fn lines_for_environments_fuzz() {
    for (id, good) in [
        ("CartPole-v1", &[r#"{"reset":{"seed":1}}"#, r#"{"action":1}"#, r#"{"reset":{"state":[0,0.1,0,0],"elapsed":9}}"#][..]),
        ("Pendulum-v1", &[r#"{"reset":{"seed":7}}"#, r#"{"action":[0.5]}"#, r#"{"action":[-1e3]}"#]),
        ("LunarLander-v3", &[r#"{"reset":{"seed":2}}"#, r#"{"action":2}"#]),
    ] {
        let (sent, received) = answers(&format!("env {id} --stdio"), good, r#"{"reset":{"seed":1}}"#);
        assert_eq!(received.len(), sent, "{id}");
        assert!(received.last().unwrap().contains("obs"), "{id}: {received:?}");
    }
}

#[test]
fn lines_for_backgammon_fuzz() {
    let good = ["4HPwATDgc/ABMA 3 1", "points 4HPwATDgc/ABMA", "move 4HPwATDgc/ABMA 6 6", "hello"];
    for verb in ["moves", "play"] {
        let last = if verb == "play" { "move 4HPwATDgc/ABMA 3 1" } else { "4HPwATDgc/ABMA 6 6" };
        let (sent, received) = answers(&format!("{verb} backgammon --stdio"), &good, last);
        assert_eq!(received.len(), sent, "{verb}");
        assert!(!received.last().unwrap().starts_with("error"), "{verb}: {received:?}");
    }
}

#[test]
fn cubes_to_solve_fuzz() {
    let scratch = Scratch::new();
    scratch.stdout(format!("train cube --steps 2000 --save cube.safetensors {SMALL_CUBES}"));
    let file = scratch.path("cube.safetensors");
    for (flag, good) in [("--scramble", ["R U2 F'", "U"]), ("--facelets", ["UFUFRRRRFDFDDBDBLLLLUBUB", "UUUURRRRFFFFDDDDLLLLBBBB"])] {
        let args = format!("solve cube --from {} {flag} - --method greedy", file.display());
        let (_, received) = answers(&args, &good, good[1]);
        assert!(received.len() > 1 && received.iter().all(|line| line.starts_with('{')), "{flag}: {received:?}");
    }
}
