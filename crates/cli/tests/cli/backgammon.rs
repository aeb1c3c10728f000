//! `hothouse eval backgammon` and `hothouse play backgammon` as people and programs start them: the built binary.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn hothouse(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hothouse"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have refused already.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn games_are_told_in_words_and_in_numbers() {
    let args = ["eval", "backgammon", "--against", "random", "--games", "39", "--seed", "4"];
    let words = told(&hothouse(&args, b""));
    assert!(
        words.starts_with("linear against random: +") && words.contains("points a game after 40 games"),
        "{words}"
    );
    let json = told(&hothouse(&[&args[..], &["--json", "--threads", "1"]].concat(), b""));
    let line: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((line["kind"].as_str(), line["games"].as_u64()), (Some("duel"), Some(40)));
    let sum = |of: &str| {
        line[of]
            .as_array()
            .unwrap()
            .iter()
            .zip(1..)
            .map(|(n, points)| points * n.as_i64().unwrap())
            .sum::<i64>()
    };
    let mean = (sum("won") - sum("lost")) as f64 / 40.0;
    assert!((line["points_per_game"].as_f64().unwrap() - mean).abs() < 1e-12 && mean > 1.0, "{json}");
    assert!(words.contains(&format!("{mean:+.3}")), "the same games: {words}");
    assert!(line["standard_error"].as_f64().unwrap() > 0.0);
    // Seen from the other side.
    let args =
        ["eval", "backgammon", "random", "--against", "linear", "--games", "40", "--seed", "4", "--json"];
    let other: Value = serde_json::from_str(&told(&hothouse(&args, b""))).unwrap();
    assert!(other["points_per_game"].as_f64().unwrap() < -1.0);
}

#[test]
fn judged_decisions_are_scored() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/backgammon_decisions.jsonl");
    let json = told(&hothouse(&["eval", "backgammon", "linear", "--decisions", file, "--json"], b""));
    let line: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((line["kind"].as_str(), line["decisions"].as_u64()), (Some("decisions"), Some(260)));
    let memg = line["memg"].as_f64().unwrap();
    assert!(memg > 20.0 && memg < 70.0);
    let words = told(&hothouse(&["eval", "backgammon", "--decisions", file], b""));
    assert!(words.contains(&format!("{memg:.1}")) && words.contains("mEMG over 260 decisions"), "{words}");
}

#[test]
fn what_cannot_be_judged_is_refused_with_the_next_step() {
    let none = std::env::temp_dir().join(format!("hothouse-no-such-file-{}", std::process::id()));
    let bad = none.with_extension("jsonl");
    std::fs::write(&bad, "\n{\"id\":\"4HPwATDgc/ABMA\",\"dice\":[3,1],\"moves\":[]}\n").unwrap();
    let (none, bad) = (none.to_str().unwrap(), bad.to_str().unwrap());
    let cases: [(&[&str], i32, &str); 7] = [
        (&["eval", "backgammon"], 2, "--against linear"),
        (&["eval", "backgammon", none, "--against", "linear"], 1, none),
        (&["eval", "backgammon", "--against", none], 1, none),
        (&["eval", "backgammon", "--decisions", none], 1, "Name a file that is there"),
        (&["eval", "backgammon", "--decisions", bad], 1, "line 2"),
        (&["eval", "backgammon", "--against", "random", "--games", "0"], 2, "whole number from 1"),
        (&["eval"], 2, "FILE"),
    ];
    for (args, status, reason) in cases {
        let output = hothouse(args, b"");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {error}");
        assert!(error.contains(reason), "{args:?}: {error}");
    }
    std::fs::remove_file(bad).unwrap();
}

#[test]
fn another_program_asks_for_moves() {
    let talk = |lines: &[u8]| told(&hothouse(&["play", "backgammon", "--stdio"], lines));
    let answers =
        talk(b"hello\nmove 4HPwATDgc/ABMA 3 1\nbatch 2\nmove 4HPwATDgc/ABMA 1 3\nmove x 1 3\nquit\nhello\n");
    let lines: Vec<&str> = answers.lines().collect();
    assert_eq!(lines.len(), 4, "{answers}");
    assert_eq!(lines[0], "linear");
    assert_eq!(lines[1], lines[2]);
    assert!(lines[3].starts_with("error: "));
    // The input ends in the middle of a batch, in the middle of a line.
    let answers = talk(b"batch 3\nmove 4HPwATDgc/ABMA 3 1\nmove 4HPwATDgc/ABMA 6");
    let lines: Vec<&str> = answers.lines().collect();
    assert!(
        lines.len() == 3 && lines[1].starts_with("error: ") && lines[2].contains("1 lines of this batch"),
        "{answers}"
    );
    // Lines too long to be kept.
    let mut long = b"batch 2\n".to_vec();
    long.resize(long.len() + 200_000, b'm');
    long.extend_from_slice(b"\nmove 4HPwATDgc/ABMA 6 6\n");
    let answers = talk(&long);
    let lines: Vec<&str> = answers.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("too long") && !lines[1].contains("error"), "{answers}");
    for (args, reason) in [
        (&["play", "chess", "--stdio"][..], "Choose backgammon"),
        (&["play", "backgammon", "no-such"], "linear"),
    ] {
        let output = hothouse(args, b"");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(reason), "{error}");
    }
}

#[test]
fn a_checkpoint_is_judged_and_asked_for_moves() {
    let folder = std::env::temp_dir().join(format!("hothouse-judged-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("run.safetensors");
    let file = file.to_str().unwrap();
    let small = ["--set", "hidden=16", "--set", "games=24", "--set", "batch=128", "--steps", "24", "--json"];
    told(&hothouse(&[&["train", "backgammon", "--save", file], &small[..]].concat(), b""));
    let judged = |more: &[&str]| -> Value {
        let args =
            [&["eval", "backgammon", file, "--json", "--against", "linear", "--games", "20"], more].concat();
        serde_json::from_str(&told(&hothouse(&args, b""))).unwrap()
    };
    let (one, same) = (judged(&["--threads", "1"]), judged(&["--threads", "2"]));
    assert_eq!(one["points_per_game"], same["points_per_game"]);
    assert_eq!(one["games"], 20);
    // It is somebody else than the one it plays against, and against itself it is even.
    assert_ne!(one["player"], one["against"]);
    let itself = hothouse(&["eval", "backgammon", file, "--against", file, "--games", "10", "--json"], b"");
    let itself: Value = serde_json::from_str(&told(&itself)).unwrap();
    assert_eq!(
        (itself["points_per_game"].as_f64(), itself["standard_error"].as_f64()),
        (Some(0.0), Some(0.0))
    );
    let lines =
        b"hello\nbatch 2\nmove 4HPwATDgc/ABMA 3 1\nmove 4HPwATDgc/ABMA 6 4\nmove 4HPwATDgc/ABMA 3 1\n";
    let answers = told(&hothouse(&["play", "backgammon", file, "--stdio", "--evals", "8"], lines));
    let answers: Vec<&str> = answers.lines().collect();
    assert!(answers.len() == 4 && answers[0] != "linear", "{answers:?}");
    assert_eq!(answers[1], answers[3], "the same alone and in company");
    // Without more words it is tested as its room tests it.
    let tested = told(&hothouse(&["eval", file], b""));
    assert!(tested.contains("random ") && tested.contains("pubeval "), "{tested}");
    let output = hothouse(&["eval", file, "--episodes", "9"], b"");
    assert_eq!(output.status.code(), Some(2), "a room without episodes");
    // A file that is no checkpoint.
    std::fs::write(file, b"nothing of the kind").unwrap();
    let output = hothouse(&["play", "backgammon", file, "--stdio"], b"hello\n");
    assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The whole of a game by typed lines, and what is refused on the way.
#[test]
fn a_person_plays_in_the_terminal_and_the_end_of_the_input_ends_it() {
    let mat = std::env::temp_dir().join(format!("hothouse-played-{}.mat", std::process::id()));
    let mat = mat.to_str().unwrap();
    let args = ["play", "backgammon", "random", "--seed", "5", "--length", "3", "--save", mat];
    let first = told(&hothouse(&args, b""));
    assert!(
        first.contains("13-14-15") && first.contains("`roll` to begin") && first.contains("0 : 0"),
        "{first}"
    );
    let lines = b"help\nnonsense\n31/2\nroll\nhint\nresign 7\nresign 2\nnext\nid\nmoves\nquit\nroll\n";
    let played = told(&hothouse(&args, lines));
    for words in [
        "as players write it",
        "error: \"nonsense\"",
        "error: no move of yours is due",
        "error: this player has no opinion",
        "error: a game is given up for 1, 2",
        "You lose a gammon, 2 points",
        "0 : 2; the match is in",
    ] {
        assert!(played.to_lowercase().contains(&words.to_lowercase()), "{words}: {played}");
    }
    let written = std::fs::read_to_string(mat).unwrap();
    assert!(written.starts_with(" 3 point match") && written.contains("Wins 2 points"), "{written}");
    std::fs::remove_file(mat).unwrap();
    let output = hothouse(&["play", "backgammon", "--length", "65"], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_agent_is_played_with_hints_reviews_and_the_cube() {
    let folder = std::env::temp_dir().join(format!("hothouse-table-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("run.safetensors");
    let file = file.to_str().unwrap();
    let small = ["--set", "hidden=16", "--set", "games=24", "--set", "batch=128", "--steps", "24", "--json"];
    told(&hothouse(&[&["train", "backgammon", "--save", file], &small[..]].concat(), b""));
    let talk = |lines: &str| told(&hothouse(&["play", "backgammon", file, "--seed", "3"], lines.as_bytes()));
    // Where the agent begins, it is the second throw that is a person's.
    let asked = talk("roll\nroll\nhint\n");
    let best = asked.lines().find_map(|line| line.trim_start().strip_prefix("1. ")).expect("a ranked move");
    let best = best.split(" +").next().unwrap().split(" -").next().unwrap().trim();
    let turn = talk(&format!("roll\nroll\n{best}\nundo all\n{best}\ndone\nhint\ndouble\n"));
    assert!(asked.contains("1-ply, all 21 rolls"), "{asked}");
    assert!(turn.contains("`done`, or `undo`.") && turn.contains("The best of"), "{turn}");
    assert!(turn.contains("agent rolls") || turn.contains("agent doubles"), "{turn}");
    assert!(
        turn.contains("no double") || turn.contains("cannot be turned") || turn.contains("take"),
        "{turn}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Whoever leaves finds the game again as it was, to the next throw of the dice.
#[test]
fn a_game_that_is_left_is_gone_on_with() {
    let folder = std::env::temp_dir().join(format!("hothouse-kept-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("game.safetensors");
    let file = file.to_str().unwrap();
    let begin = ["play", "backgammon", "random", "--seed", "5", "--length", "3"];
    let whole = told(&hothouse(&begin, b"roll\nresign 1\nnext\nroll\nmoves\nid\nquit\n"));
    let left = told(&hothouse(&[&begin[..], &["--keep", file]].concat(), b"roll\nresign 1\nnext\nquit\n"));
    assert!(left.contains("0 : 1\ngo on with  ") && left.contains(" play backgammon "), "{left}");
    let kept = std::fs::read(file).unwrap();
    let again = told(&hothouse(&["play", "backgammon", file], b"roll\nmoves\nid\nquit\n"));
    assert!(
        again.contains("goes on") && again.contains("against random") || again.contains("play random"),
        "{again}"
    );
    let end = |text: &str| text.lines().rev().find(|line| line.contains("XGID=")).map(String::from);
    assert!(end(&whole).is_some() && end(&whole) == end(&again), "{whole}\n{again}");
    // It stays where it was asked for alone, and a new game leaves it in peace.
    assert_eq!(std::fs::read(file).unwrap(), kept);
    let new = told(&hothouse(&["play", "backgammon", file, "--new"], b"quit\n"));
    assert!(!new.contains("goes on") && new.contains("play random") && new.ends_with("0 : 0\n"), "{new}");
    // A match that is over is nothing to go on with.
    let over = ["play", "backgammon", file, "--keep", file];
    let over = told(&hothouse(&over, b"roll\nresign 3\nquit\n"));
    assert!(over.contains("The match is over") && !over.contains("go on with"), "{over}");
    let nowhere = folder.join("none").join("game");
    let output = hothouse(&[&begin[..], &["--keep", nowhere.to_str().unwrap()]].concat(), b"");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}
