//! Backgammon's rules for other programs, one line of text to an answer: results of rolls and points of finished games by GNU
//! Backgammon's position ids, always seen by the player who makes the roll. It keeps nothing from one line to the next.

use worlds::backgammon::{Board, BoardError, Id, NoSuchRoll, Results, Roll};

/// Answers what a roll can lead to and what a game has counted.
pub struct RulesLines {
    scratch: Results,
    ids: Vec<Id>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("this line asks for nothing; send ID D1 D2, points ID, or quit")]
    Unknown,
    #[error("{0:?} is no die; give two numbers from 1 to 6")]
    Die(String),
    #[error("this game has ended; ask for its points, or send a position that goes on")]
    Over,
    #[error("this game goes on; ask for points when the winner has no checkers left")]
    GoesOn,
    #[error("this is seen by the loser; send the position as its winner sees it")]
    Lost,
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error(transparent)]
    Roll(#[from] NoSuchRoll),
}

impl RulesLines {
    pub fn new() -> RulesLines {
        RulesLines { scratch: Results::new(), ids: Vec::new() }
    }

    /// `ID D1 D2`: the ids of every distinct result, sorted, with spaces between; the same id where no move is legal.
    /// `points ID`: what the finished game counts for its winner, who sees it.
    pub fn answer(&mut self, line: &str) -> Result<String, LineError> {
        match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            ["points", id] => match Board::from_id(id)?.points() {
                0 => Err(LineError::GoesOn),
                lost if lost < 0 => Err(LineError::Lost),
                points => Ok(points.to_string()),
            },
            [id, one, other] => {
                let (board, roll) = (Board::from_id(id)?, Roll::new(die(one)?, die(other)?)?);
                self.results(&board, roll)
            }
            _ => Err(LineError::Unknown),
        }
    }

    fn results(&mut self, board: &Board, roll: Roll) -> Result<String, LineError> {
        if board.points() != 0 {
            return Err(LineError::Over);
        }
        self.ids.clear();
        self.ids.extend(board.results(roll, &mut self.scratch).iter().map(Board::id));
        self.ids.sort_unstable();
        Ok(self.ids.iter().map(Id::as_str).collect::<Vec<_>>().join(" "))
    }
}

impl Default for RulesLines {
    fn default() -> Self {
        RulesLines::new()
    }
}

/// One digit; which of them are on a die is for the roll to say.
pub(super) fn die(text: &str) -> Result<u8, LineError> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Ok(digit - b'0'),
        _ => Err(LineError::Die(text.chars().take(20).collect())),
    }
}
