//! Tests of a game of the user in an environment.

use cli::internals::control::{Game, Key};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use run::protocol::Dataset;

const CATCH: &str = include_str!("../../../../worlds/src/control/script/templates/catch.py");

fn game(text: &str) -> Game {
    Game::new(run::control::kind_of(&Dataset::new("catch.py", text.as_bytes().to_vec())).unwrap(), 3)
}

fn screen(game: &Game) -> String {
    let mut terminal = Terminal::new(TestBackend::new(80, 20)).unwrap();
    terminal.draw(|frame| game.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn press(game: &mut Game, code: KeyCode) -> Key {
    let key = game.key(KeyEvent::from(code));
    if key == Key::Action {
        game.step();
    }
    key
}

#[test]
fn keys_play_an_episode_and_start_the_next() {
    let mut game = game(CATCH);
    assert_eq!(press(&mut game, KeyCode::Char('x')), Key::Nothing);
    game.step();
    assert_eq!(game.steps, 0, "no key has chosen an action");
    let before = screen(&game);
    assert!(before.contains("catch.py") && before.contains("← left") && before.contains("q quit"), "{before}");
    let mut steps = 0;
    while !game.over {
        assert_eq!(press(&mut game, KeyCode::Left), Key::Action);
        steps += 1;
    }
    assert_eq!((game.steps, game.best), (steps, Some(game.total)));
    assert!(screen(&game).contains("The episode is over"));
    press(&mut game, KeyCode::Right);
    assert_eq!(game.steps, steps, "an episode that is over does not step");
    press(&mut game, KeyCode::Enter);
    assert_eq!((game.steps, game.seed, game.over), (0, 4, false));
    assert_eq!(press(&mut game, KeyCode::Esc), Key::Quit);
}

#[test]
fn an_error_of_the_rules_is_shown_with_its_line() {
    let text = CATCH.replace("self.y += 1", "self.y += 1 + 0 // (2 - self.y)");
    let mut game = game(&text);
    while game.error.is_none() {
        press(&mut game, KeyCode::Char(' '));
    }
    let shown = screen(&game);
    assert!(shown.contains("line") && shown.contains("division by zero"), "{shown}");
    press(&mut game, KeyCode::Char('r'));
    assert!(game.error.is_none() && game.steps == 0);
}
