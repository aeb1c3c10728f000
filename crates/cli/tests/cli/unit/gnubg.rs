//! Tests of GNU Backgammon as a player, with mock servers.

use cli::internals::backgammon::{Connection, Gnubg, START, find};
use run::backgammon::arena::Duel;
use run::backgammon::baselines::Linear;
use run::backgammon::notation;
use run::backgammon::{Board, Player, Roll};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const RECORDED: &str = include_str!("../../../../../tests/golden/backgammon_gnubg.txt");
const VERSION: &str = "Interface: 2\nRFBF: 0\nEngine: 1.00\nSoftware: 1.07.001\n";

/// Time limit of an answer. A mock server answers at once, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit of an answer that never comes.
const BRIEF: Duration = Duration::from_secs(1);

/// Connects to a mock server. `answer` returns the reply to a line other than `version`, or `None` to close the connection.
fn mock(timeout: Duration, answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Connection {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
            let reply = if line == "version\n" { Some(VERSION.into()) } else { answer(line.trim_end()) };
            let Some(reply) = reply else { return };
            if lines.get_mut().write_all(reply.as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    });
    Connection::over(TcpStream::connect(address).unwrap(), timeout).unwrap()
}

/// Parses the board and the roll from a line that was sent to the server.
fn parse(question: &str) -> (Board, Roll) {
    let numbers: Vec<i32> = question.split(':').skip(6).map(|number| number.parse().unwrap()).collect();
    let (mut mine, mut theirs) = ([0; 25], [0; 25]);
    for point in 1..=24 {
        let count = numbers[point];
        mine[point - 1] = count.max(0) as u8;
        theirs[24 - point] = (-count).max(0) as u8;
    }
    (mine[24], theirs[24]) = (numbers[25] as u8, -numbers[0] as u8);
    let board = Board::new(mine, theirs).unwrap();
    let off = [board.mine().off(), board.theirs().off(), mine[24], theirs[24]].map(i32::from);
    assert_eq!(numbers[39..43], off, "{question}");
    (board, Roll::new(numbers[27] as u8, numbers[28] as u8).unwrap())
}

/// Returns the reply of a mock server that plays the move of the linear baseline.
fn linear(question: &str) -> Option<String> {
    let (board, roll) = parse(question);
    let mut chosen = Vec::new();
    Linear::new().choose(&[(board, roll)], &mut chosen);
    Some(notation::write(&board, roll, &chosen[0]).unwrap() + "\n")
}

#[test]
fn answers_have_the_order_of_the_questions_with_any_number_of_processes() {
    let recorded = |line: &str| {
        let (board, roll) = parse(line);
        let same = |line: &&str| parse(line.split('|').nth(1).unwrap()) == (board, roll);
        Some(RECORDED.lines().find(same)?.split('|').nth(2)?.to_string() + " \n")
    };
    let cases = RECORDED.lines().map(|line| {
        let words: Vec<&str> = line.split('|').next().unwrap().split(' ').collect();
        let board = |id: &str| Board::from_id(id).unwrap();
        let roll = Roll::new(words[1].parse().unwrap(), words[2].parse().unwrap()).unwrap();
        ((board(words[0]), roll), board(words[3]))
    });
    let (decisions, expected): (Vec<_>, Vec<_>) = cases.unzip();
    for connections in [1, 3] {
        let mut gnubg = Gnubg::of((0..connections).map(|_| mock(PATIENCE, recorded)).collect(), 0).unwrap();
        assert_eq!(gnubg.name(), "GNU Backgammon 1.07.001 0-ply");
        let mut chosen = Vec::new();
        gnubg.choose(&decisions, &mut chosen);
        assert!(gnubg.take_error().is_none());
        assert_eq!(chosen, expected);
        chosen.clear();
        gnubg.choose(&decisions[..2], &mut chosen);
        gnubg.choose(&[], &mut chosen);
        assert_eq!(chosen, expected[..2]);
    }
}

#[test]
fn duel_over_a_socket_equals_a_local_duel() {
    let mut gnubg = Gnubg::of(vec![mock(PATIENCE, linear), mock(PATIENCE, linear)], 0).unwrap();
    let mut games = Duel::new(3, 20, 16);
    while !games.is_over() {
        games.advance(&mut gnubg, &mut Linear::new()).unwrap();
        assert!(gnubg.take_error().is_none());
    }
    // Both players choose the same moves, so the two games of each pair cancel out.
    assert_eq!((games.tally().pairs, games.tally().points, games.tally().squares), (20, 0, 0));
}

/// Returns a player with a mock server that answers the first `lines` lines correctly and all later lines with `wrong`.
fn after(timeout: Duration, lines: usize, wrong: impl Fn(&str) -> Option<String> + Send + 'static) -> Gnubg {
    let remaining = std::cell::Cell::new(lines);
    let answer = move |line: &str| match remaining.get() {
        0 => wrong(line),
        n => {
            remaining.set(n - 1);
            linear(line)
        }
    };
    Gnubg::of(vec![mock(timeout, answer)], 0).unwrap()
}

#[test]
fn errors_are_returned_and_moves_stay_legal() {
    let cases: [(Gnubg, &str); 7] = [
        (after(PATIENCE, 3, |_| Some("Error: badly formed board\n".into())), "badly formed board"),
        (after(PATIENCE, 0, |_| Some("24/1\n".into())), "\"24/1\""),
        (after(PATIENCE, 5, |_| Some("\n".into())), "answered \"\""),
        (after(PATIENCE, 0, |_| Some("\u{1}\u{2}\u{1F3B2}\n".into())), "answered"),
        (after(PATIENCE, 4, |_| None), "closed the connection"),
        (after(PATIENCE, 2, |_| Some("8/5".repeat(3000))), "closed the connection"),
        (after(BRIEF, 1, |_| Some(String::new())), "has not answered"),
    ];
    for (mut gnubg, reason) in cases {
        let mut games = Duel::new(3, 20, 4);
        let error = loop {
            // Until the error is taken, the games continue with legal moves.
            games.advance(&mut Linear::new(), &mut gnubg).unwrap();
            if let Some(error) = gnubg.take_error() {
                break error.to_string();
            }
            assert!(!games.is_over(), "{reason}");
        };
        assert!(error.contains(reason), "{error}: {reason}");
        assert!(error.contains(". "), "the error contains a remedy: {error}");
    }
}

#[test]
fn missing_program_error_explains_the_installation() {
    let error = find([PathBuf::from("/nowhere")].into_iter()).unwrap_err().to_string();
    assert!(error.contains("apt install gnubg") && error.contains("linear"), "{error}");
    let error = Connection::start(&PathBuf::from("/nowhere/gnubg"), 0).err().unwrap().to_string();
    assert!(error.contains("apt install gnubg"), "{error}");
}

#[test]
#[cfg(unix)]
fn program_that_ends_before_it_listens_is_an_error() {
    let began = Instant::now();
    let error = Connection::start(&PathBuf::from("/bin/true"), 0).err().unwrap().to_string();
    assert!(error.contains("/bin/true"), "{error}");
    assert!(began.elapsed() < START);
}
