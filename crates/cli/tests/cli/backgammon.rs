//! Tests of `hothouse eval backgammon` and `hothouse play backgammon`.

use crate::common::*;

const DECISIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/backgammon_decisions.jsonl");

/// Returns a folder with the checkpoint of an agent that has trained for one short round.
fn with_agent() -> Scratch {
    let scratch = Scratch::new();
    scratch.stdout(format!("train backgammon --save run.safetensors {SMALL_GAMES} --steps 24 --json"));
    scratch
}

#[test]
fn duel_results_are_printed_as_text_and_json() {
    let scratch = Scratch::new();
    let args = "eval backgammon --against random --games 39 --seed 4";
    let words = scratch.stdout(args);
    assert!(words.starts_with("linear against random: +") && words.contains("points per game after 40 games"), "{words}");
    let line = scratch.json(format!("{args} --threads 1"));
    assert_eq!((line["kind"].as_str(), line["games"].as_u64()), (Some("duel"), Some(40)));
    let sum = |of: &str| -> i64 {
        let games = line[of].as_array().unwrap().iter().zip(1..);
        games.map(|(n, points)| points * n.as_i64().unwrap()).sum()
    };
    let mean = (sum("won") - sum("lost")) as f64 / 40.0;
    assert!((line["points_per_game"].as_f64().unwrap() - mean).abs() < 1e-12 && mean > 1.0, "{line}");
    assert!(words.contains(&format!("{mean:+.3}")), "the same games: {words}");
    assert!(line["standard_error"].as_f64().unwrap() > 0.0);
    // The players are exchanged, so the result has the opposite sign.
    let other = scratch.json("eval backgammon random --against linear --games 40 --seed 4");
    assert!(other["points_per_game"].as_f64().unwrap() < -1.0);
}

#[test]
fn evaluated_decisions_are_scored() {
    let scratch = Scratch::new();
    let line = scratch.json(format!("eval backgammon linear --decisions {DECISIONS}"));
    assert_eq!((line["kind"].as_str(), line["decisions"].as_u64()), (Some("decisions"), Some(260)));
    let memg = line["memg"].as_f64().unwrap();
    assert!(memg > 20.0 && memg < 70.0);
    let words = scratch.stdout(format!("eval backgammon --decisions {DECISIONS}"));
    assert!(words.contains(&format!("{memg:.1}")) && words.contains("mEMG over 260 decisions"), "{words}");
}

#[test]
fn eval_and_play_errors_name_the_remedy() {
    let scratch = Scratch::new();
    scratch.write("bad.jsonl", "\n{\"id\":\"4HPwATDgc/ABMA\",\"dice\":[3,1],\"moves\":[]}\n");
    for (args, status, reason) in [
        ("eval backgammon", 2, "--against linear"),
        ("eval backgammon none --against linear", 1, "none"),
        ("eval backgammon --against none", 1, "none"),
        ("eval backgammon --decisions none", 1, "Choose an existing file"),
        ("eval backgammon --decisions bad.jsonl", 1, "line 2"),
        ("eval backgammon --against random --games 0", 2, "whole number from 1"),
        ("play chess --stdio", 2, "chess"),
        ("play backgammon no-such", 2, "linear"),
        ("play backgammon --length 65", 2, ""),
    ] {
        scratch.fails(args, status, reason);
    }
}

#[test]
fn moves_are_served_to_another_program() {
    let scratch = Scratch::new();
    let answers =
        |lines: &[u8]| -> Vec<String> { scratch.stdout_with_input("play backgammon --stdio", lines).lines().map(String::from).collect() };
    let lines = answers(b"hello\nmove 4HPwATDgc/ABMA 3 1\nbatch 2\nmove 4HPwATDgc/ABMA 1 3\nmove x 1 3\nquit\nhello\n");
    assert!(lines.len() == 4 && lines[3].starts_with("error: "), "{lines:?}");
    assert_eq!((lines[0].as_str(), &lines[1]), ("linear", &lines[2]));
    // The input ends within the second line of a batch of three.
    let lines = answers(b"batch 3\nmove 4HPwATDgc/ABMA 3 1\nmove 4HPwATDgc/ABMA 6");
    assert!(lines.len() == 3 && lines[1].starts_with("error: ") && lines[2].contains("1 lines of this batch"), "{lines:?}");
    // The second line is longer than the limit.
    let long = ["batch 2\n", &"m".repeat(200_000), "\nmove 4HPwATDgc/ABMA 6 6\n"].concat();
    let lines = answers(long.as_bytes());
    assert!(lines.len() == 2 && lines[0].contains("too long") && !lines[1].contains("error"), "{lines:?}");
}

#[test]
fn checkpoint_is_evaluated_and_serves_moves() {
    let scratch = with_agent();
    let evaluated = |more: &str| scratch.json(format!("eval backgammon run.safetensors --against linear --games 20 {more}"));
    let (one, same) = (evaluated("--threads 1"), evaluated("--threads 2"));
    assert_eq!(one["points_per_game"], same["points_per_game"]);
    assert_eq!(one["games"], 20);
    // The two players have different names in the result. Against itself, the agent's mean result is 0.
    assert_ne!(one["player"], one["against"]);
    let itself = scratch.json("eval backgammon run.safetensors --against run.safetensors --games 10");
    assert_eq!((&itself["points_per_game"], &itself["standard_error"]), (&0.0.into(), &0.0.into()));
    let lines = "hello\nbatch 2\nmove 4HPwATDgc/ABMA 3 1\nmove 4HPwATDgc/ABMA 6 4\nmove 4HPwATDgc/ABMA 3 1\n";
    let answers = scratch.stdout_with_input("play backgammon run.safetensors --stdio --evals 8", lines);
    let answers: Vec<&str> = answers.lines().collect();
    assert!(answers.len() == 4 && answers[0] != "linear", "{answers:?}");
    assert_eq!(answers[1], answers[3], "the answer does not depend on the batch");
    // Without the word `backgammon`, `eval` runs the room's test.
    let tested = scratch.stdout("eval run.safetensors");
    assert!(tested.contains("random ") && tested.contains("pubeval "), "{tested}");
    let output = scratch.run("eval run.safetensors --episodes 9");
    assert_eq!(output.status.code(), Some(2), "a room without episodes");
    // From here on, the file is not a checkpoint.
    scratch.write("run.safetensors", "nothing of the kind");
    scratch.fails("play backgammon run.safetensors --stdio", 1, "");
}

/// The user plays by typed lines, some of which are invalid.
#[test]
fn a_game_is_played_by_lines_and_ends_with_the_input() {
    let scratch = Scratch::new();
    let args = "play backgammon random --seed 5 --length 3 --save played.mat";
    let first = scratch.stdout(args);
    assert!(first.contains("13-14-15") && first.contains("`roll` to start") && first.contains("0 : 0"), "{first}");
    let lines = "help\nnonsense\n31/2\nroll\nhint\nresign 7\nresign 2\nnext\nid\nmoves\nquit\nroll\n";
    let played = scratch.stdout_with_input(args, lines);
    for words in [
        "in standard notation",
        "error: there is no command \"nonsense\"",
        "error: it is not your turn to move",
        "error: this player gives no hints",
        "error: a game can be resigned for 1, 2",
        "You lose a gammon, 2 points",
        "0 : 2; match saved to",
    ] {
        assert!(played.to_lowercase().contains(&words.to_lowercase()), "{words}: {played}");
    }
    let written = scratch.text("played.mat");
    assert!(written.starts_with(" 3 point match") && written.contains("Wins 2 points"), "{written}");
}

#[test]
fn a_game_against_an_agent_has_hints_reviews_and_the_cube() {
    let scratch = with_agent();
    let answers = |lines: &str| scratch.stdout_with_input("play backgammon run.safetensors --seed 3", lines);
    // If the agent begins, the second roll is the user's roll.
    let asked = answers("roll\nroll\nhint\n");
    let best = asked.lines().find_map(|line| line.trim_start().strip_prefix("1. ")).expect("a ranked move");
    let best = best.split(" +").next().unwrap().split(" -").next().unwrap().trim();
    let turn = answers(&format!("roll\nroll\n{best}\nundo all\n{best}\ndone\nhint\ndouble\n"));
    assert!(asked.contains("1-ply, all 21 rolls"), "{asked}");
    assert!(turn.contains("`done`, or `undo`.") && turn.contains("The best of"), "{turn}");
    assert!(["agent rolls", "agent doubles"].iter().any(|words| turn.contains(words)), "{turn}");
    assert!(["no double", "cannot double", "take"].iter().any(|words| turn.contains(words)), "{turn}");
}

/// A resumed game continues exactly like an uninterrupted game, with the same dice.
#[test]
fn an_unfinished_game_is_resumed() {
    let scratch = Scratch::new();
    let begin = "play backgammon random --seed 5 --length 3";
    let whole = scratch.stdout_with_input(begin, "roll\nresign 1\nnext\nroll\nmoves\nid\nquit\n");
    let left = scratch.stdout_with_input(format!("{begin} --keep game.safetensors"), "roll\nresign 1\nnext\nquit\n");
    assert!(left.contains("0 : 1\nresume with  ") && left.contains(" play backgammon "), "{left}");
    let kept = scratch.bytes("game.safetensors");
    let resume = "play backgammon game.safetensors";
    let again = scratch.stdout_with_input(resume, "roll\nmoves\nid\nquit\n");
    assert!(again.contains("Resumed the game") && again.contains("against random"), "{again}");
    let end = |text: &str| text.lines().rev().find(|line| line.contains("XGID=")).map(String::from);
    assert!(end(&whole).is_some() && end(&whole) == end(&again), "{whole}\n{again}");
    // Without `--keep`, no command changes the file: neither a resumed game nor a new game.
    assert_eq!(scratch.bytes("game.safetensors"), kept);
    let new = scratch.stdout_with_input(format!("{resume} --new"), "quit\n");
    assert!(!new.contains("Resumed") && new.contains("play against random") && new.ends_with("0 : 0\n"), "{new}");
    // After the end of the match, no command to resume is printed.
    let over = scratch.stdout_with_input(format!("{resume} --keep game.safetensors"), "roll\nresign 3\nquit\n");
    assert!(over.contains("The match is over") && !over.contains("resume with"), "{over}");
    let output = scratch.run(format!("{begin} --keep none/game"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
