//! What was done in a game, from which all else follows.

use worlds::backgammon::{self as rules, Board, Player as Seat, Stakes};

pub(crate) fn seat(player: Seat) -> u8 {
    player as u8
}

/// One thing done in a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    /// As thrown at the opening, else the larger first.
    Rolled([u8; 2]),
    /// To a board seen by whoever moved.
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

    /// What [`Action::word`] gave.
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

/// A game that was played, or is being played.
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

    /// A word for each action.
    pub fn words(&self) -> String {
        self.actions.iter().map(Action::word).collect::<Vec<_>>().join(" ")
    }
}
