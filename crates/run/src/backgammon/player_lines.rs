//! A player for other programs, by lines of text: who it is, and what it does with rolls, one at a time or many together.
//! Positions are ids as GNU Backgammon writes them, seen by the player who makes the roll, before and after it.
//!
//! It holds the player and the batch that is being collected, and nothing of any game.

use super::rules_lines::{LineError, die};
use learn::backgammon::Player;
use worlds::backgammon::{Board, Results, Roll};

/// A batch has no more lines, so that nobody makes it wait for what will never come, nor keep more than it can.
pub const MOST_TOGETHER: usize = 100_000;

/// Answers one who asks for moves.
pub struct PlayerLines {
    player: Box<dyn Player>,
    scratch: Results,
    /// Lines of the batch that are still to come, and the decisions so far: None where a line could not be read.
    missing: usize,
    batch: Vec<Result<(Board, Roll), String>>,
}

/// What a line is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// So many lines, at once.
    Lines(Vec<String>),
    /// Nothing until the batch is whole.
    Later,
    /// The other one is done.
    Quit,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum SeatError {
    #[error("this line asks for nothing; send hello, move ID D1 D2, batch N, or quit")]
    Unknown,
    #[error("this line is too long; send move ID D1 D2")]
    Long,
    #[error("in a batch every line is move ID D1 D2, and {0} more are to come; this one counts as one of them")]
    InBatch(usize),
    #[error("{0:?} is no size of a batch; give a whole number from 1 to {MOST_TOGETHER}")]
    Count(String),
    #[error("this player broke the rules; use another one")]
    Illegal,
    #[error(transparent)]
    Line(#[from] LineError),
}

impl PlayerLines {
    pub fn new(player: Box<dyn Player>) -> PlayerLines {
        PlayerLines { player, scratch: Results::new(), missing: 0, batch: Vec::new() }
    }

    /// `hello`: the player's name. `move ID D1 D2`: the id that it leaves. `batch N` and N lines of moves: N ids, all thought
    /// about together. A line that cannot be obeyed is answered with what would do, and changes nothing; in a batch it has
    /// its answer in its place.
    ///
    /// None stands for a line that was too long to be kept.
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
            _ if line.is_none() => one(told(SeatError::Long)),
            ["hello"] => one(self.player.name().replace('\n', " ")),
            ["batch", count] => match count.parse() {
                Ok(count @ 1..=MOST_TOGETHER) => {
                    self.missing = count;
                    self.batch.clear();
                    Reply::Later
                }
                _ => one(told(SeatError::Count(count.chars().take(20).collect()))),
            },
            _ => match self.read(&words) {
                Ok(decision) => {
                    self.batch = vec![Ok(decision)];
                    Reply::Lines(self.play())
                }
                Err(error) => one(told(error)),
            },
        }
    }

    /// What is still to be said when no more lines come: answers to what had come of a batch.
    pub fn end(&mut self) -> Vec<String> {
        let missing = std::mem::take(&mut self.missing);
        match missing {
            0 => Vec::new(),
            _ => {
                let mut lines = self.play();
                lines.push(format!("error: the input ended and {missing} lines of this batch had not come; send as many as it announces"));
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

    /// Answers what was collected, each line in its place.
    fn play(&mut self) -> Vec<String> {
        let batch = std::mem::take(&mut self.batch);
        let asked: Vec<(Board, Roll)> = batch.iter().filter_map(|read| read.as_ref().ok().copied()).collect();
        let mut chosen = Vec::with_capacity(asked.len());
        if !asked.is_empty() {
            self.player.choose(&asked, &mut chosen);
        }
        let mut chosen = chosen.into_iter();
        let mut line = |read: Result<(Board, Roll), String>| match read {
            Err(error) => format!("error: {error}"),
            Ok((board, roll)) => match chosen.next() {
                Some(left) if board.results(roll, &mut self.scratch).contains(&left) => left.id().to_string(),
                _ => told(SeatError::Illegal),
            },
        };
        batch.into_iter().map(&mut line).collect()
    }
}

fn told(error: SeatError) -> String {
    format!("error: {error}")
}
