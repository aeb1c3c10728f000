//! Tests of backgammon players and other programs: recorded exchanges with GNU Backgammon, decisions that GNU Backgammon evaluated, and the
//! line protocol through which other programs request moves.

use run::backgammon::baselines::{Linear, Random};
use run::backgammon::decisions::{Decision, score};
use run::backgammon::{Board, Player, PlayerLines, Reply, Results, Roll, fibs};

const EXCHANGES: &str = include_str!("../../../../tests/golden/backgammon_gnubg.txt");
const DECISIONS: &str = include_str!("../../../../tests/golden/backgammon_decisions.jsonl");

/// Returns the recorded exchanges: board, roll, board after the move, question and answer.
fn exchanges() -> Vec<(Board, Roll, Board, &'static str, &'static str)> {
    let read = |line: &'static str| {
        let [what, question, answer] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [id, one, other, after] = what.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let roll = Roll::new(one.parse().unwrap(), other.parse().unwrap()).unwrap();
        (Board::from_id(id).unwrap(), roll, Board::from_id(after).unwrap(), question, answer)
    };
    EXCHANGES.lines().map(read).collect()
}

#[test]
fn questions_and_answers_match_the_recorded_exchanges() {
    let mut on_the_bar = 0;
    for (board, roll, after, question, answer) in exchanges() {
        // The recorded dice have an order, but the dice of a `Roll` have none. So both pairs of dice are sorted before the comparison.
        let dice = |text: &str| text.split(':').map(str::to_string).collect::<Vec<_>>();
        let (mut ours, mut theirs) = (dice(&fibs::question(&board, roll)), dice(question));
        for numbers in [&mut ours, &mut theirs] {
            numbers[33..35].sort();
        }
        assert_eq!(ours, theirs);
        assert_eq!(fibs::answer(&board, roll, answer).unwrap(), after, "{question} {answer}");
        on_the_bar += usize::from(board.mine().bar() > 0);
    }
    assert!(exchanges().len() > 200 && on_the_bar > 5);
    for nonsense in ["", "Error: badly formed board", "1/2", "24/18", "8/5 6/5 6/5", "take", "13/7(9)", "\u{1F600}/3"] {
        assert!(fibs::answer(&Board::START, Roll::new(3, 1).unwrap(), nonsense).is_err(), "{nonsense}");
    }
}

fn evaluated_decisions() -> Vec<Decision> {
    let mut scratch = Results::new();
    DECISIONS.lines().map(|line| Decision::read(line, &mut scratch).unwrap()).collect()
}

/// Player that chooses the resulting board with the highest recorded equity if `best` is true, and with the lowest otherwise.
struct RecordedPlayer {
    best: bool,
    decisions: Vec<Decision>,
}

impl Player for RecordedPlayer {
    fn name(&self) -> String {
        "recorded".into()
    }

    fn choose(&mut self, asked: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        for (board, roll) in asked {
            let same = |d: &&Decision| d.board == *board && d.roll == *roll;
            let results = &self.decisions.iter().find(same).unwrap().results;
            let by_worth = |a: &&(Board, f64), b: &&(Board, f64)| a.1.total_cmp(&b.1);
            let one = if self.best { results.iter().max_by(by_worth) } else { results.iter().min_by(by_worth) };
            chosen.push(one.unwrap().0);
        }
    }
}

#[test]
fn score_sums_the_recorded_losses_of_a_players_choices() {
    let decisions = evaluated_decisions();
    assert_eq!(decisions.len(), 260);
    let mut player = RecordedPlayer { best: true, decisions: decisions.clone() };
    let best = score(&mut player, &decisions).unwrap();
    assert_eq!((best.decisions, best.memg, best.best, best.blunders), (260, 0.0, 1.0, 0.0));
    player.best = false;
    let worst = score(&mut player, &decisions).unwrap();
    // The results of a decision are in descending order of equity. The player chooses the last result, so its loss is the first equity
    // minus the last.
    let losses: Vec<f64> = decisions.iter().map(|d| d.results[0].1 - d.results[d.results.len() - 1].1).collect();
    let lost = losses.iter().sum::<f64>() / 260.0;
    assert!((worst.memg - 1000.0 * lost).abs() < 1e-9 && worst.best < 0.1, "{worst:?} {lost}");
    // The sample variance of 260 losses has 259 degrees of freedom. The variance of their mean is 260 times smaller.
    let variance = (losses.iter().map(|loss| loss * loss).sum::<f64>() - 260.0 * lost * lost) / 259.0;
    let error = 1000.0 * (variance / 260.0).sqrt();
    assert!((worst.standard_error - error).abs() < 1e-9, "{worst:?} {error}");
    let linear = score(&mut Linear::new(), &decisions).unwrap();
    let random = score(&mut Random::new(1), &decisions).unwrap();
    assert!(linear.memg > 20.0 && linear.memg < 70.0 && linear.best > 0.4, "{linear:?}");
    assert!(random.memg > 4.0 * linear.memg && random.memg < worst.memg, "{random:?}");
    assert!(linear.standard_error > 2.0 && linear.standard_error < 10.0);
    let mut scratch = Results::new();
    let forced = r#"{"id":"/38AAAAAAAAAAA","dice":[6,5],"moves":[["/38AAAAAAAAAAA",1]]}"#;
    assert!(Decision::read(forced, &mut scratch).is_err());
    assert_eq!(score(&mut Linear::new(), &[]).unwrap().decisions, 0);
}

#[test]
fn invalid_decision_lines_are_rejected_with_a_reason() {
    let whole = DECISIONS.lines().next().unwrap();
    let mut scratch = Results::new();
    assert!(Decision::read(whole, &mut scratch).is_ok());
    let first = whole.find("[[").unwrap();
    let second = first + whole[first..].find("],").unwrap() + 2;
    let one = &whole[first + 1..second];
    let cases = [
        (whole.replacen(one, "", 1), "without an equity"),
        (whole.replacen(one, &one.repeat(2), 1), "occurs twice"),
        (whole.replacen(one, &format!("[\"4HPwATDgc/ABMA\",0],{one}"), 1), "not a result of this roll"),
        (whole.replacen(one, &format!("[\"{}\",9.5],", &one[2..16]), 1), "equity"),
        (whole.replacen("\"dice\":[", "\"dice\":[7", 1), "die"),
        (whole.replacen("\"id\":\"", "\"id\":\"A", 1), "14 characters"),
        (whole.replacen("\"moves\"", "\"motions\"", 1), "unknown field"),
        (String::from("{"), "EOF"),
        (String::from("4HPwATDgc/ABMA 3 1"), "write {"),
    ];
    for (line, reason) in cases {
        let error = Decision::read(&line, &mut scratch).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}: {reason}");
    }
}

/// Player that records the number of decisions in each call.
struct Counting {
    calls: std::sync::Arc<std::sync::Mutex<Vec<usize>>>,
}

impl Player for Counting {
    fn name(&self) -> String {
        "counting\nplayer".into()
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        self.calls.lock().unwrap().push(decisions.len());
        Linear::new().choose(decisions, chosen);
    }
}

#[test]
fn player_lines_answer_moves_and_batches_in_one_call() {
    let calls = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut seat = PlayerLines::new(Box::new(Counting { calls: calls.clone() }));
    let mut ask = |line: &str| seat.answer(Some(line));
    let one = |reply: Reply| match reply {
        Reply::Lines(lines) if lines.len() == 1 => lines[0].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(one(ask("hello")), "counting player");
    let answer = one(ask("move 4HPwATDgc/ABMA 3 1"));
    let (mut scratch, roll) = (Results::new(), Roll::new(3, 1).unwrap());
    assert!(Board::START.results(roll, &mut scratch).contains(&Board::from_id(&answer).unwrap()));
    assert_eq!(one(ask("move 4HPwATDgc/ABMA 1 3")), answer);
    assert_eq!(ask("batch 4"), Reply::Later);
    assert_eq!(ask("move 4HPwATDgc/ABMA 3 1"), Reply::Later);
    assert_eq!(ask("move 4HPwATDgc/ABMA 0 1"), Reply::Later);
    assert_eq!(ask("hello"), Reply::Later);
    let Reply::Lines(lines) = ask("move 4HPwATDgc/ABMA 6 6") else { panic!() };
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], answer);
    assert!(lines[1].starts_with("error: ") && lines[1].contains("1 to 6"), "{lines:?}");
    assert!(lines[2].starts_with("error: ") && lines[2].contains("of a batch"), "{lines:?}");
    assert!(Board::from_id(&lines[3]).is_ok());
    assert_eq!(*calls.lock().unwrap(), [1, 1, 2], "a batch is one call");
}

#[test]
fn invalid_lines_are_rejected_and_change_nothing() {
    let mut seat = PlayerLines::new(Box::new(Linear::new()));
    let mut ask = |line: Option<&str>| match seat.answer(line) {
        Reply::Lines(lines) if lines.len() == 1 => lines[0].clone(),
        other => panic!("{line:?}: {other:?}"),
    };
    let answer = ask(Some("move 4HPwATDgc/ABMA 3 1"));
    let (huge, word) = (format!("batch {}", u64::MAX), "x".repeat(60_000));
    let bad = [
        "",
        "moves",
        "move",
        "move 4HPwATDgc/ABMA",
        "move 4HPwATDgc/ABMA 3",
        "move 4HPwATDgc/ABMA 3 1 1",
        "move 4HPwATDgc/ABMA 7 1",
        "move 4HPwATDgc/ABMA 3 -1",
        "move 4HPwATDgc/ABMA 3 three",
        "move 4HPwATDgc 3 1",
        "move ////////////// 3 1",
        "move 4HPwATDgc/ABM! 3 1",
        "move AAAAAAAAAAAAAA 3 1",
        "batch",
        "batch 0",
        "batch -1",
        "batch 1.5",
        "batch 100001",
        "batch 3 4",
        &huge,
        &word,
        "hello you",
        "\u{1F3B2}",
    ];
    for line in bad {
        let reply = ask(Some(line));
        assert!(reply.starts_with("error: ") && reply.contains(';') && reply.len() < 300, "{line}: {reply}");
        assert_eq!(ask(Some("move 4HPwATDgc/ABMA 3 1")), answer, "after {line}");
    }
    assert!(ask(None).contains("too long"));
    assert!(ask(Some("move 4DvgAQAAAAAAAA 3 1")).len() < 300);
    assert_eq!(seat.answer(Some("quit")), Reply::Quit);
    assert!(seat.end().is_empty());
}

#[test]
fn truncated_batch_is_answered_with_errors_for_missing_lines() {
    let mut seat = PlayerLines::new(Box::new(Linear::new()));
    assert_eq!(seat.answer(Some("batch 3")), Reply::Later);
    assert_eq!(seat.answer(Some("move 4HPwATDgc/ABMA 3 1")), Reply::Later);
    assert_eq!(seat.answer(None), Reply::Later);
    let lines = seat.end();
    assert_eq!(lines.len(), 3);
    assert!(Board::from_id(&lines[0]).is_ok() && lines[1].contains("too long"), "{lines:?}");
    assert!(lines[2].starts_with("error: ") && lines[2].contains("1 lines of this batch"), "{lines:?}");
    // After an error, the next line is answered normally.
    assert!(matches!(seat.answer(Some("hello")), Reply::Lines(_)));
    assert_eq!(seat.answer(Some("batch 2")), Reply::Later);
    assert_eq!(seat.answer(Some("quit")), Reply::Quit);
}
