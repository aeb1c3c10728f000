//! Tests of `hothouse moves` with the built binary.

use crate::common::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/worlds_backgammon.txt");

fn client() -> LineClient {
    LineClient::start("moves backgammon --stdio")
}

#[test]
fn results_and_points_are_answered_line_by_line() {
    let mut client = client();
    let mut asked = 0;
    for line in GOLDEN.lines().filter(|line| line.starts_with("set ") || line.starts_with("points ")) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["set", id, one, other, ref results @ ..] => {
                assert_eq!(client.ask(&format!("{id} {one} {other}")), results.join(" "), "{id}");
                assert_eq!(client.ask(&format!(" {id}  {other}\t{one} \r")), results.join(" "), "{id}");
            }
            ["points", id, count] => assert_eq!(client.ask(&format!("points {id}")), count, "{id}"),
            _ => panic!("{line}"),
        }
        asked += 1;
    }
    assert!(asked > 500);
    // No roll has a move if the opponent's board is closed.
    assert_eq!(client.ask("27Y5AAAA8P8DQA 6 6"), "27Y5AAAA8P8DQA");
    client.send("quit");
    client.assert_ended();
}

#[test]
fn an_invalid_line_gets_an_error_and_the_next_one_an_answer() {
    let mut client = client();
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
        let answer = client.ask(line);
        assert!(answer.starts_with("error: ") && answer.contains("; "), "{line:?} -> {answer}");
        assert_eq!(client.ask("4HPwATDgc/ABMA 3 1").split(' ').count(), 16, "after {line:?}");
    }
    // The first id has the winner's point of view, the second the loser's.
    assert_eq!(client.ask(&format!("points {won}")), "2");
    assert!(client.ask("points AAAAAOD/DwAAAA").contains("loser"));
    // The program ends when the input ends.
    client.end();
}

#[test]
fn long_lines_and_bytes_that_are_no_text_get_one_answer_each() {
    let mut lines = vec![b'A'; 2 * LINE_BYTES];
    lines.extend_from_slice(b"\n\xff\xfe 3 1\n4HPwATDgc/ABMA 6 6\nquit\n4HPwATDgc/ABMA 6 6\n");
    let text = Scratch::new().stdout_with_input("moves backgammon --stdio", lines);
    let answers: Vec<_> = text.lines().collect();
    assert_eq!(answers.len(), 3, "nothing after quit: {answers:?}");
    assert!(answers[0].starts_with("error: ") && answers[0].contains("longer"));
    assert!(answers[1].starts_with("error: ") && !answers[1].contains("longer"));
    assert_eq!(answers[2].split(' ').count(), 11);
}

#[test]
fn usage_errors_name_the_remedy() {
    let scratch = Scratch::new();
    for (args, words) in [
        ("moves backgammon", &["hothouse moves backgammon --stdio"][..]),
        ("moves chess --stdio", &["'chess'", "Choose backgammon"]),
        ("moves", &["Usage"]),
    ] {
        let message = scratch.fails(args, 2, "error: ");
        assert!(message.starts_with("error: ") && words.iter().all(|word| message.contains(word)), "{message}");
    }
    let message = scratch.stdout("moves --help");
    for words in ["4HPwATDgc/ABMA 3 1", "points ID", "quit", "error: "] {
        assert!(message.contains(words), "{message}");
    }
}
