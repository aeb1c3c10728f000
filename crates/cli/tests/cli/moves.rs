//! `hothouse moves` as another program asks it: the built binary, lines in, lines out.

use crate::common::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/worlds_backgammon.txt");

fn begin() -> Talk {
    Talk::with("moves backgammon --stdio")
}

#[test]
fn results_and_points_are_told_line_by_line() {
    let mut talk = begin();
    let mut asked = 0;
    for line in GOLDEN.lines().filter(|line| line.starts_with("set ") || line.starts_with("points ")) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["set", id, one, other, ref results @ ..] => {
                assert_eq!(talk.ask(&format!("{id} {one} {other}")), results.join(" "), "{id}");
                assert_eq!(talk.ask(&format!(" {id}  {other}\t{one} \r")), results.join(" "), "{id}");
            }
            ["points", id, count] => assert_eq!(talk.ask(&format!("points {id}")), count, "{id}"),
            _ => panic!("{line}"),
        }
        asked += 1;
    }
    assert!(asked > 500);
    // Before a closed board there is no move, whatever the roll.
    assert_eq!(talk.ask("27Y5AAAA8P8DQA 6 6"), "27Y5AAAA8P8DQA");
    talk.send("quit");
    talk.ended();
}

#[test]
fn a_bad_line_is_answered_and_the_next_one_is_heard() {
    let mut talk = begin();
    let won = "APD/BwAAAAAAAA";
    for line in [
        "",
        "help",
        "4HPwATDgc/ABMA",
        "4HPwATDgc/ABMA 3",
        "4HPwATDgc/ABMA 3 1 1",
        "4HPwATDgc/ABMA 0 1",
        "4HPwATDgc/ABMA 3 7",
        "4HPwATDgc/ABMA 3 -1",
        "4HPwATDgc/ABMA +3 1",
        "4HPwATDgc/ABMA three 1",
        "4HPwATDgc/ABM 3 1",
        "4HPwATDgc/ABMA= 3 1",
        "4HPwATDgc_ABMA 3 1",
        "AACABAAAAAAAAA 3 1",
        "BwAA8P8PAAAAAA 3 1",
        "//////////////  1 1",
        "AAAAAAAAAAAAAA 3 1",
        "points",
        "points 4HPwATDgc/ABMA",
        "points AAAAAAAAAAAAAA",
        "APD/BwAAAAAAAA 3 1",
        "quit now",
    ] {
        let answer = talk.ask(line);
        assert!(answer.starts_with("error: ") && answer.contains("; "), "{line:?} -> {answer}");
        assert_eq!(talk.ask("4HPwATDgc/ABMA 3 1").split(' ').count(), 16, "after {line:?}");
    }
    // Won by the player who sees it, and the same seen by the other.
    assert_eq!(talk.ask(&format!("points {won}")), "2");
    assert!(talk.ask("points AAAAAOD/DwAAAA").contains("loser"));
    // The end of the input ends it too.
    talk.end();
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_can() {
    let scratch = Scratch::new();
    for (args, words) in [
        ("moves backgammon", &["hothouse moves backgammon --stdio"][..]),
        ("moves chess --stdio", &["'chess'", "Choose backgammon"]),
        ("moves", &["Usage"]),
    ] {
        let said = scratch.refused(args, 2, "error: ");
        assert!(said.starts_with("error: ") && words.iter().all(|word| said.contains(word)), "{said}");
    }
    let said = scratch.told("moves --help");
    for words in ["4HPwATDgc/ABMA 3 1", "points ID", "quit", "error: "] {
        assert!(said.contains(words), "{said}");
    }
}
