//! Line protocol through which other programs use the rules. The answers are the results of rolls and the points of finished games.
//! Positions are GNU Backgammon ids, from the point of view of the player who makes the roll or who won the game. No state is kept between
//! lines.

use worlds::backgammon::{Board, BoardError, Id, NoSuchRoll, Results, Roll};

/// Answers questions about the results of rolls and the points of games.
pub struct RulesLines {
    scratch: Results,
    ids: Vec<Id>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("unknown command; send ID D1 D2, points ID, or quit")]
    Unknown,
    #[error("invalid die {0:?}; give two numbers from 1 to 6")]
    Die(String),
    #[error("this game has ended; ask for its points, or send a position of a game in progress")]
    Over,
    #[error("this game has not ended; ask for points when the winner has no checkers left")]
    InProgress,
    #[error("this position is seen by the loser; send it as the winner sees it")]
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

    /// Answers a line. `ID D1 D2` gives the ids of all distinct results, sorted and separated by spaces. If no move is legal, the answer is
    /// the ID of the line. `points ID` gives the points that the winner gained, where ID is the final position from the winner's point of
    /// view.
    pub fn answer(&mut self, line: &str) -> Result<String, LineError> {
        match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            ["points", id] => match Board::from_id(id)?.points() {
                0 => Err(LineError::InProgress),
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

/// Parses a die from one digit. [`Roll::new`] checks the digit's range.
pub(super) fn die(text: &str) -> Result<u8, LineError> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Ok(digit - b'0'),
        _ => Err(LineError::Die(text.chars().take(20).collect())),
    }
}
