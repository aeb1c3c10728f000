//! The verbs that other programs talk to answer every line, whatever it says, and end well. `FUZZ=10000` sends more.

use crate::common::*;
use testkit::{Mutator, cases};

/// Sends changed lines, all at once, and gives the answers.
fn answers(args: &str, good: &[&str], last: &str) -> (usize, Vec<String>) {
    let scratch = Scratch::new();
    let mut lines = Vec::new();
    let count = cases(300);
    for case in 0..count {
        let mut mutator = Mutator::new(args, case);
        let line = mutator.one_of(good);
        let mut line = mutator.bytes(line.as_bytes());
        line.retain(|&byte| byte != b'\n');
        // Neither the end of the talk nor the beginning of a batch that is never whole.
        let text = String::from_utf8_lossy(&line).into_owned();
        if text.trim_ascii() == "quit" || text.contains("batch") {
            line = b"what".to_vec();
        }
        lines.extend(line);
        lines.push(b'\n');
    }
    lines.extend(format!("{last}\n").into_bytes());
    let output = scratch.fed(args, lines);
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
        let (sent, told) = answers(&format!("env {id} --stdio"), good, r#"{"reset":{"seed":1}}"#);
        assert_eq!(told.len(), sent, "{id}");
        assert!(told.last().unwrap().contains("obs"), "{id}: {told:?}");
    }
}

#[test]
fn lines_for_backgammon_fuzz() {
    let good = ["4HPwATDgc/ABMA 3 1", "points 4HPwATDgc/ABMA", "move 4HPwATDgc/ABMA 6 6", "hello"];
    for verb in ["moves", "play"] {
        let last = if verb == "play" { "move 4HPwATDgc/ABMA 3 1" } else { "4HPwATDgc/ABMA 6 6" };
        let (sent, told) = answers(&format!("{verb} backgammon --stdio"), &good, last);
        assert_eq!(told.len(), sent, "{verb}");
        assert!(!told.last().unwrap().starts_with("error"), "{verb}: {told:?}");
    }
}

#[test]
fn cubes_to_solve_fuzz() {
    let scratch = Scratch::new();
    scratch.told(format!("train cube --steps 2000 --save cube.safetensors {SMALL_CUBES}"));
    let file = scratch.path("cube.safetensors");
    for (what, good) in [("--scramble", ["R U2 F'", "U"]), ("--facelets", ["UFUFRRRRFDFDDBDBLLLLUBUB", "UUUURRRRFFFFDDDDLLLLBBBB"])] {
        let args = format!("solve cube --from {} {what} - --method greedy", file.display());
        let (_, told) = answers(&args, &good, good[1]);
        assert!(told.len() > 1 && told.iter().all(|line| line.starts_with('{')), "{what}: {told:?}");
    }
}
