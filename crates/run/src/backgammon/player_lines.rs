//! Line protocol through which other programs use a player. The player answers with its name, or with its moves for one roll or for a batch
//! of rolls. Positions before and after a move are GNU Backgammon ids, from the point of view of the player who moves.
//!
//! The protocol's only state is the player and the batch in progress; no games are stored.

use super::rules_lines::{LineError, die};
use learn::backgammon::Player;
use worlds::backgammon::{Board, Results, Roll};

/// Maximum number of lines in a batch. The limit bounds the memory of a batch.
pub const MOST_TOGETHER: usize = 100_000;

/// Answers lines of text with the moves of a player.
pub struct PlayerLines {
    player: Box<dyn Player>,
    scratch: Results,
    /// Number of lines that are still missing in the batch in progress; 0 without a batch.
    missing: usize,
    /// Lines of the batch received so far: the position and the roll of a valid line, or the error text of an invalid line.
    batch: Vec<Result<(Board, Roll), String>>,
}

/// Answer to a line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Lines to send now.
    Lines(Vec<String>),
    /// Nothing to send before the batch is complete.
    Later,
    /// The client sent `quit`.
    Quit,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum SeatError {
    #[error("unknown command; send hello, move ID D1 D2, batch N, or quit")]
    Unknown,
    #[error("this line is too long; send move ID D1 D2")]
    Long,
    #[error("every line of a batch must be move ID D1 D2; this line counts, and {0} more are expected")]
    InBatch(usize),
    #[error("invalid batch size {0:?}; give a whole number from 1 to {MOST_TOGETHER}")]
    Count(String),
    #[error("this player made an illegal move; use another one")]
    Illegal,
    #[error(transparent)]
    Line(#[from] LineError),
}

impl PlayerLines {
    pub fn new(player: Box<dyn Player>) -> PlayerLines {
        PlayerLines { player, scratch: Results::new(), missing: 0, batch: Vec::new() }
    }

    /// Answers a line. `hello` gives the player's name. `move ID D1 D2` gives the id of the position after the player's move. `batch N`,
    /// followed by N `move` lines, gives N ids, which are computed together. An invalid line gives an error with a remedy and changes
    /// nothing. Within a batch, an invalid line counts as one of the N lines, and its answer is the error.
    ///
    /// `line` is `None` if the line was too long to read.
    pub fn answer(&mut self, line: Option<&str>) -> Reply {
        let words: Vec<&str> = line.unwrap_or("").split_ascii_whitespace().collect();
        if words[..] == ["quit"] {
            return Reply::Quit;
        }
        if self.missing > 0 {
            self.missing -= 1;
            let read = match (line, self.read(&words)) {
                (None, _) => Err(SeatError::Long),
                (_, Err(SeatError::Unknown)) => Err(SeatError::InBatch(self.missing)),
                (_, read) => read,
            };
            let read = read.map_err(|error| error.to_string());
            self.batch.push(read);
            return if self.missing > 0 { Reply::Later } else { Reply::Lines(self.play()) };
        }
        let one = |line: String| Reply::Lines(vec![line]);
        match words[..] {
            _ if line.is_none() => one(error_line(SeatError::Long)),
            ["hello"] => one(self.player.name().replace('\n', " ")),
            ["batch", count] => match count.parse() {
                Ok(count @ 1..=MOST_TOGETHER) => {
                    self.missing = count;
                    self.batch.clear();
                    Reply::Later
                }
                _ => one(error_line(SeatError::Count(count.chars().take(20).collect()))),
            },
            _ => match self.read(&words) {
                Ok(decision) => {
                    self.batch = vec![Ok(decision)];
                    Reply::Lines(self.play())
                }
                Err(error) => one(error_line(error)),
            },
        }
    }

    /// Ends the input. If a batch is incomplete, returns the answers to its received lines, then an error line; otherwise returns an empty
    /// list.
    pub fn end(&mut self) -> Vec<String> {
        let missing = std::mem::take(&mut self.missing);
        match missing {
            0 => Vec::new(),
            _ => {
                let mut lines = self.play();
                lines.push(format!("error: the input ended before {missing} lines of this batch; send as many as announced"));
                lines
            }
        }
    }

    fn read(&self, words: &[&str]) -> Result<(Board, Roll), SeatError> {
        let ["move", id, one, other] = words[..] else {
            return Err(SeatError::Unknown);
        };
        let board = Board::from_id(id).map_err(LineError::from)?;
        let roll = Roll::new(die(one)?, die(other)?).map_err(LineError::from)?;
        if board.points() != 0 {
            return Err(LineError::Over.into());
        }
        Ok((board, roll))
    }

    /// Returns the answers to the collected lines of the batch, in order.
    fn play(&mut self) -> Vec<String> {
        let batch = std::mem::take(&mut self.batch);
        let valid: Vec<(Board, Roll)> = batch.iter().filter_map(|read| read.as_ref().ok().copied()).collect();
        let mut chosen = Vec::with_capacity(valid.len());
        if !valid.is_empty() {
            self.player.choose(&valid, &mut chosen);
        }
        let mut chosen = chosen.into_iter();
        let mut line = |read: Result<(Board, Roll), String>| match read {
            Err(error) => format!("error: {error}"),
            Ok((board, roll)) => match chosen.next() {
                Some(left) if board.results(roll, &mut self.scratch).contains(&left) => left.id().to_string(),
                _ => error_line(SeatError::Illegal),
            },
        };
        batch.into_iter().map(&mut line).collect()
    }
}

fn error_line(error: SeatError) -> String {
    format!("error: {error}")
}
