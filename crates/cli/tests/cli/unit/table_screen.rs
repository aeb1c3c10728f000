//! Tests of the full screen of a backgammon game.

use cli::internals::backgammon::{Answer, Game, GameOptions, Key, LEAST, MINE, Request, THEIRS, TableScreen, WIDE, answer, draw, serve};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use run::Host;
use run::backgammon::protocol::Phase;
use run::format::fitted;
use run::protocol::Config;
use std::sync::mpsc::channel;

fn options(player: &str, length: u16, seed: u32) -> GameOptions<'_> {
    let (length, seed) = (Some(length), Some(seed));
    GameOptions { player, evals: None, length, cube: true, seed, new: false, save: None, keep: None, interactive: false }
}

fn start(player: &str, length: u16, seed: u32) -> (Game, TableScreen) {
    let mut message = String::new();
    let host = Host::new(math::Isa::best());
    let mut game = Game::start(&options(player, length, seed), host, &mut message).unwrap();
    game.play_replies(&mut message).unwrap();
    let screen = TableScreen::new(game.session.clone(), &message);
    (game, screen)
}

/// Saves the checkpoint of a small untrained agent, which can give hints. Returns the path of the checkpoint.
fn agent(folder: &testkit::Scratch) -> String {
    let knobs = [("hidden".to_string(), 16.0.into())].into();
    let config = Config { knobs, ..run::config_of(run::room("backgammon").unwrap()) };
    let mut run = run::begin(config, Host::new(math::Isa::best())).unwrap();
    let file = folder.path("agent.safetensors");
    std::fs::write(&file, run.save().unwrap()).unwrap();
    file.to_str().unwrap().into()
}

/// Handles a key, then the request that the key causes. In the program, two threads do this.
fn press(game: &mut Game, screen: &mut TableScreen, code: KeyCode) {
    if let Key::Request(request) = screen.key(code.into()) {
        let answer = answer(game, request);
        screen.answer(answer);
    }
}

fn write(game: &mut Game, screen: &mut TableScreen, text: &str) {
    text.chars().for_each(|letter| press(game, screen, KeyCode::Char(letter)));
}

fn buffer(screen: &TableScreen, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen)).unwrap();
    terminal.backend().buffer().clone()
}

fn rows(screen: &TableScreen, width: u16, height: u16) -> Vec<String> {
    let buffer = buffer(screen, width, height);
    let cells: Vec<&str> = buffer.content().iter().map(|cell| cell.symbol()).collect();
    cells.chunks(width.into()).map(|row| row.concat().trim_end().to_string()).collect()
}

/// Counts a player's checkers on the drawn board. For a pile with a printed number, counts this number instead of the drawn checkers.
fn checkers(screen: &TableScreen, width: u16, mark: char) -> u32 {
    let rows = rows(screen, width, 24);
    let right = if width >= WIDE { 56 } else { 44 };
    let mut count = 0;
    for (upper, from) in [(true, 3), (false, 9)] {
        let half: Vec<Vec<char>> = rows[from..from + 5].iter().map(|row| row.chars().take(right).collect()).collect();
        let edge = if upper { &half[0] } else { &half[4] };
        let inner = if upper { &half[4] } else { &half[0] };
        for (x, _) in edge.iter().enumerate().filter(|&(_, &c)| c == mark) {
            let number: String = [x.wrapping_sub(1), x].iter().filter_map(|&x| inner.get(x)).filter(|c| c.is_ascii_digit()).collect();
            let drawn = half.iter().filter(|row| row.get(x) == Some(&mark)).count() as u32;
            count += number.parse::<u32>().unwrap_or(drawn);
        }
    }
    count
}

#[test]
fn games_can_be_played_by_keys_and_boards_show_all_checkers() {
    let (mut game, mut screen) = start("linear", 1, 3);
    let (mut undone, mut turns) = (false, 0);
    while screen.session.ending.is_none() {
        for width in [60, 80, 100] {
            let count = |side: &[u8]| side[1..].iter().map(|&count| u32::from(count)).sum::<u32>();
            let position = &screen.session.position;
            let drawn = (checkers(&screen, width, MINE), checkers(&screen, width, THEIRS));
            assert_eq!(drawn, (count(&position.mine), count(&position.theirs)), "{:#?}", rows(&screen, width, 24));
        }
        let may = screen.session.may;
        if !undone && !screen.session.steps.is_empty() {
            // Undoes a step that is not confirmed yet.
            let before = screen.session.steps.len();
            press(&mut game, &mut screen, KeyCode::Char('u'));
            assert_eq!(screen.session.steps.len(), before - 1);
            undone = true;
            continue;
        }
        if may.confirm {
            turns += 1;
        }
        // On every second turn, the test chooses the next checker and the next die.
        if turns % 2 == 0 {
            press(&mut game, &mut screen, KeyCode::Right);
            press(&mut game, &mut screen, KeyCode::Down);
        }
        assert_eq!(screen.error, None);
        press(&mut game, &mut screen, KeyCode::Enter);
        assert_eq!(screen.error, None, "{}", screen.prompt());
    }
    assert!(undone && turns > 10, "{turns}");
    assert!(screen.prompt().ends_with("The match is over."), "{}", screen.prompt());
    assert!(screen.messages.iter().any(|line| line.starts_with("linear rolls ")), "{:?}", screen.messages);
}

#[test]
fn a_hint_is_shown_chosen_and_played() {
    let folder = testkit::Scratch::new("hint");
    let (mut game, mut screen) = start(&agent(&folder), 5, 6);
    while screen.session.phase != Phase::ToPlay || screen.session.turn != 0 {
        press(&mut game, &mut screen, KeyCode::Char('r'));
    }
    press(&mut game, &mut screen, KeyCode::Char('h'));
    let all = screen.candidates().to_vec();
    assert!(all.len() > 3);
    for width in [60, 80, 100, 120] {
        let whole = rows(&screen, width, 26).join("\n");
        for words in [&format!(" 1. {}", all[0].text), "1-ply, all 21 rolls", "no hint"] {
            assert!(whole.contains(words), "{words} at {width} of\n{whole}");
        }
    }
    // When the last candidate is chosen, it is visible.
    (0..all.len() + 3).for_each(|_| press(&mut game, &mut screen, KeyCode::Down));
    let last = all.last().unwrap();
    let whole = rows(&screen, 60, 22).join("\n");
    assert!(whole.contains(&format!("{:>2}. {}", all.len(), last.text)), "{whole}");
    let reversed = |screen: &TableScreen| {
        let buffer = buffer(screen, 80, 24);
        buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count()
    };
    assert!(reversed(&screen) > 20, "the chosen line and its points on the board");
    press(&mut game, &mut screen, KeyCode::Up);
    let wanted = &all[all.len() - 2];
    press(&mut game, &mut screen, KeyCode::Enter);
    // In a match, the candidate's id contains the match id after a colon.
    let board_of = |id: &str| id.split(':').next().unwrap().to_owned();
    assert_eq!(screen.session.position.id, board_of(&wanted.id), "{}", wanted.text);
    assert!(screen.candidates().is_empty() && screen.session.may.confirm && screen.session.may.undo);
    press(&mut game, &mut screen, KeyCode::Char('U'));
    // Types an illegal move, then a legal move.
    write(&mut game, &mut screen, "24/2");
    assert!(rows(&screen, 60, 22).iter().any(|row| row == " 24/2▏"), "{:#?}", rows(&screen, 60, 22));
    press(&mut game, &mut screen, KeyCode::Enter);
    assert!(screen.error.is_some() && screen.session.steps.is_empty());
    write(&mut game, &mut screen, &all[0].text);
    press(&mut game, &mut screen, KeyCode::Enter);
    assert_eq!(screen.session.position.id, board_of(&all[0].id));
    press(&mut game, &mut screen, KeyCode::Enter);
    assert!(screen.messages.iter().any(|line| line.starts_with("The best of ")), "{:?}", screen.messages);
    // Before a roll, the hint is a text about the cube decision.
    while screen.session.phase != Phase::ToRoll {
        press(&mut game, &mut screen, KeyCode::Enter);
    }
    press(&mut game, &mut screen, KeyCode::Char('h'));
    assert!(screen.messages.iter().any(|line| line.trim().starts_with("best: ")), "{:?}", screen.messages);
}

#[test]
fn cube_resignation_and_typed_lines_work_by_keys() {
    let (mut game, mut screen) = start("random", 7, 2);
    while screen.session.phase != Phase::ToRoll || !screen.session.may.double {
        press(&mut game, &mut screen, KeyCode::Enter);
    }
    let keys = rows(&screen, 60, 22).concat();
    for key in ["enter roll", "d double", "h hint", "x resign", "w write .mat", "? help", "q save, quit"] {
        assert!(keys.contains(key), "{key}: {keys}");
    }
    press(&mut game, &mut screen, KeyCode::Char('d'));
    assert_eq!((screen.session.cube, screen.session.cube_owner), (2, Some(1)), "the random player takes");
    assert!(rows(&screen, 60, 22).concat().contains("theirs"));
    press(&mut game, &mut screen, KeyCode::Char('h'));
    assert!(screen.error.as_ref().is_some_and(|words| words.contains("gives no hints")));
    press(&mut game, &mut screen, KeyCode::Char('t'));
    assert!(screen.error.is_some(), "no double is offered");
    press(&mut game, &mut screen, KeyCode::Char('x'));
    assert!(screen.prompt().starts_with("Resign"));
    press(&mut game, &mut screen, KeyCode::Esc);
    assert!(screen.session.ending.is_none());
    write(&mut game, &mut screen, ":id");
    press(&mut game, &mut screen, KeyCode::Enter);
    assert!(screen.messages.last().unwrap().starts_with("XGID="), "{:?}", screen.messages);
    press(&mut game, &mut screen, KeyCode::Char('?'));
    let help = rows(&screen, 60, 22).concat();
    assert!(help.contains("bar/22*") && help.contains("the command to resume"), "{help}");
    press(&mut game, &mut screen, KeyCode::Char('q'));
    write(&mut game, &mut screen, "x2");
    let ending = screen.session.ending.unwrap();
    assert_eq!((ending.winner, ending.points, ending.match_over), (1, 4, false));
    assert!(rows(&screen, 60, 22).concat().contains("enter next game"));
    press(&mut game, &mut screen, KeyCode::Enter);
    assert_eq!((screen.session.game, screen.session.score), (2, [0, 4]));
    assert_eq!(screen.key(KeyCode::Char('q').into()), Key::Quit);
    let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    write(&mut game, &mut screen, "8");
    assert_eq!((screen.key(ctrl_c), screen.entry.as_str()), (Key::Quit, "8"), "Ctrl-C quits during text entry too");
}

#[test]
fn every_size_shows_the_board_or_the_required_size() {
    let folder = testkit::Scratch::new("sizes");
    let (mut game, mut screen) = start(&agent(&folder), 3, 4);
    press(&mut game, &mut screen, KeyCode::Char('r'));
    for (width, height) in [(60, 22), (78, 24), (80, 24), (92, 30), (120, 40), (250, 90)] {
        let whole = rows(&screen, width, height).join("\n");
        let name = format!("{THEIRS} {}", fitted(&screen.session.names[1], 10).trim_end_matches('…'));
        let position = &screen.session.position;
        let pips = [position.my_pips, position.their_pips].map(|pips| format!("{pips} pips"));
        let points: Vec<String> = (1..=24).map(|point| format!("{point:>2}")).collect();
        let words = points.iter().chain(&pips).chain([&name]).map(String::as_str);
        for words in words.chain(["● you", "score 0/3", "cube 1", "in the", "middle", "3-point match"]) {
            assert!(whole.contains(words), "{words} at {width} x {height} of\n{whole}");
        }
    }
    for width in 1..=62 {
        for height in 1..=24 {
            let whole = rows(&screen, width, height).concat();
            let small = width < LEAST.0 || height < LEAST.1;
            assert_eq!(!small, whole.contains('●'), "{width} x {height}");
            if width >= 30 && height >= 5 && small {
                assert!(whole.contains("needs 60 columns") && whole.contains("--plain"), "{whole}");
            }
        }
    }
}

#[test]
fn a_failed_save_is_reported_and_the_game_continues() {
    let folder = testkit::Scratch::new("unkept");
    let file = folder.path("game.safetensors");
    let options = GameOptions { keep: Some(&file), ..options("random", 3, 5) };
    let mut game = Game::start(&options, Host::new(math::Isa::best()), &mut String::new()).unwrap();
    std::fs::remove_dir_all(&*folder).unwrap();
    let ((request, requests), (answer, answers)) = (channel(), channel());
    for line in ["roll", "board", "nonsense"] {
        request.send(Request::Line(line.into())).unwrap();
    }
    drop(request);
    serve(&mut game, &requests, &answer);
    let answers: Vec<Answer> = answers.try_iter().collect();
    assert!(!answers[0].failed && !answers[0].message.contains("not saved"), "{}", answers[0].message);
    for answer in &answers[1..] {
        assert!(answer.message.contains("the game is not saved: "), "{}", answer.message);
    }
    assert!(answers[2].failed && game.session.dice.is_some());
    let error = format!("{:#}", game.finish().unwrap_err());
    assert!(error.contains("--keep"), "{error}");
}
