//! Record of a game: its actions, which suffice to replay the whole game.

use worlds::backgammon::{self as rules, Board, Game, GameError, Player as Seat, Results, Stakes, notation};

pub(crate) fn seat(player: Seat) -> u8 {
    player as u8
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    /// Two dice. At the opening, the first seat's die is first; otherwise the larger die is first.
    Rolled([u8; 2]),
    /// Board after the move, from the point of view of the player who moved.
    Moved(Board),
    Doubled,
    Took,
    Passed,
    Resigned {
        seat: u8,
        level: u32,
    },
}

impl Action {
    fn word(&self) -> String {
        match self {
            Action::Rolled([one, other]) => format!("{one}{other}"),
            Action::Moved(after) => after.id().to_string(),
            Action::Doubled => "D".into(),
            Action::Took => "T".into(),
            Action::Passed => "P".into(),
            Action::Resigned { seat, level } => format!("R{seat}{level}"),
        }
    }

    /// Applies the action to the game. A resignation leaves `game` unchanged, because the rules in the crate `worlds` have no resignations.
    pub fn apply(self, game: &mut Game, scratch: &mut Results) -> Result<(), GameError> {
        match self {
            Action::Rolled(dice) => game.roll(dice),
            Action::Moved(after) => game.play(after, scratch),
            Action::Doubled => game.double(),
            Action::Took => game.take(),
            Action::Passed => game.pass(),
            Action::Resigned { .. } => Ok(()),
        }
    }

    /// Returns the seat that takes the action. `before` is the game before the action.
    pub fn seat(self, before: &Game) -> u8 {
        match self {
            Action::Resigned { seat, .. } => seat,
            Action::Took | Action::Passed => seat(before.on_roll().other()),
            Action::Rolled(_) | Action::Moved(_) | Action::Doubled => seat(before.on_roll()),
        }
    }

    /// Returns the text of the action; empty for a roll. `before` is the game before the action.
    pub fn text(self, before: &Game) -> String {
        match (self, before.dice()) {
            (Action::Moved(after), Some(roll)) => notation::write(&before.board(), roll, &after).unwrap_or_default(),
            (Action::Moved(_) | Action::Rolled(_), _) => String::new(),
            (Action::Doubled, _) => format!("doubles to {}", 2 * before.cube().value),
            (Action::Took, _) => "takes".into(),
            (Action::Passed, _) => "passes".into(),
            (Action::Resigned { level, .. }, _) => {
                format!("resigns {}", ["a single game", "a gammon", "a backgammon"][level.clamp(1, 3) as usize - 1])
            }
        }
    }

    /// Parses a word that [`Action::word`] wrote; `None` if the word is invalid.
    pub fn from_word(word: &str) -> Option<Action> {
        let digit = |at: usize| word.as_bytes().get(at).filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
        Some(match word {
            "D" => Action::Doubled,
            "T" => Action::Took,
            "P" => Action::Passed,
            _ if word.len() == 2 => Action::Rolled([digit(0)?, digit(1)?]),
            _ if word.len() == 3 && word.starts_with('R') => {
                Action::Resigned { seat: digit(1).filter(|&seat| seat < 2)?, level: digit(2)?.into() }
            }
            _ => Action::Moved(Board::from_id(word).ok()?),
        })
    }
}

/// A completed game, or the game in progress.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub stakes: Stakes,
    pub actions: Vec<Action>,
    pub ending: Option<rules::Ending>,
}

impl Record {
    pub fn new(stakes: Stakes) -> Record {
        Record { stakes, actions: Vec::new(), ending: None }
    }

    /// Returns the actions as text, one word per action.
    pub fn words(&self) -> String {
        self.actions.iter().map(Action::word).collect::<Vec<_>>().join(" ")
    }

    /// Calls `visit` for each action, with the game before the action and the action itself. Stops at an illegal action.
    pub fn replay(&self, mut visit: impl FnMut(&Game, Action)) {
        let (mut game, mut scratch) = (Game::new(self.stakes), Results::new());
        for &action in &self.actions {
            let before = game;
            if action.apply(&mut game, &mut scratch).is_err() {
                break;
            }
            visit(&before, action);
        }
    }
}
