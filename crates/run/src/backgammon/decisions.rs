//! Scores a player's choices in decisions whose equities are known. A score is the mean loss in thousandths of a point per game. Computing
//! a score takes seconds. A comparison of two strong players by games would need a very large number of games to show the same difference.
//!
//! A decision is one line with a JSON object: `{"id":"4HPwATDgc/ABMA","dice":[3,1],"moves":[["sGfwATDgc/ABMA",0.159],…]}`. The object
//! contains every result of the roll once, with its equity in points per game. Positions are from the point of view of the player who makes
//! the roll. A line with a missing or an additional result is an error, so every choice has an equity.

use learn::backgammon::Player;
use serde::{Deserialize, Serialize};
use worlds::backgammon::{Board, BoardError, Id, NoSuchRoll, Results, Roll};

#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error("{0}; write {{\"id\":\"4HPwATDgc/ABMA\",\"dice\":[3,1],\"moves\":[[\"sGfwATDgc/ABMA\",0.159],…]}}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error(transparent)]
    Roll(#[from] NoSuchRoll),
    #[error("the game has ended in {0}; remove this position")]
    Over(Id),
    #[error("{0} is not a result of this roll; give every result once and nothing else")]
    NoResult(Id),
    #[error("{0} occurs twice; give every result once")]
    Twice(Id),
    #[error("{0} is a result of this roll without an equity; give every result once")]
    Missing(Id),
    #[error("{1} is not an equity for {0}; give points per game, from -3 to 3")]
    Equity(Id, f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    dice: [u8; 2],
    moves: Vec<(String, f64)>,
}

/// A position and a roll, with the equities of all results.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub board: Board,
    pub roll: Roll,
    /// Possible boards after the move, each with its equity in points per game for the player who moves.
    pub results: Vec<(Board, f64)>,
}

impl Decision {
    pub fn read(line: &str, scratch: &mut Results) -> Result<Decision, DecisionError> {
        let line: Line = serde_json::from_str(line)?;
        let (board, roll) = (Board::from_id(&line.id)?, Roll::new(line.dice[0], line.dice[1])?);
        if board.points() != 0 {
            return Err(DecisionError::Over(board.id()));
        }
        let possible = board.results(roll, scratch);
        let mut results: Vec<(Board, f64)> = Vec::with_capacity(possible.len());
        for (id, equity) in &line.moves {
            let result = Board::from_id(id)?;
            if !possible.contains(&result) {
                return Err(DecisionError::NoResult(result.id()));
            }
            if results.iter().any(|(seen, _)| *seen == result) {
                return Err(DecisionError::Twice(result.id()));
            }
            if !(-3.01..=3.01).contains(equity) {
                return Err(DecisionError::Equity(result.id(), *equity));
            }
            results.push((result, *equity));
        }
        let judged = |board: &&Board| !results.iter().any(|(seen, _)| seen == *board);
        match possible.iter().find(judged) {
            Some(missing) => Err(DecisionError::Missing(missing.id())),
            None => Ok(Decision { board, roll, results }),
        }
    }

    /// Returns the points per game that the choice `chosen` loses; `None` if `chosen` is not a result of the roll.
    pub fn loss(&self, chosen: &Board) -> Option<f64> {
        let best = self.results.iter().map(|(_, equity)| *equity).fold(f64::NEG_INFINITY, f64::max);
        self.results.iter().find(|(board, _)| board == chosen).map(|(_, equity)| best - equity)
    }
}

/// Summary of the losses of a player's choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Number of scored decisions. A decision with a single result is forced and not scored.
    pub decisions: usize,
    /// Mean loss per decision, in thousandths of a point per game.
    pub memg: f64,
    /// Standard error of `memg`.
    pub standard_error: f64,
    /// Share of decisions without a loss, from 0 to 1.
    pub best: f64,
    /// Share of decisions that lost at least 0.1 points per game, from 0 to 1.
    pub blunders: f64,
}

/// Scores a player's choices in all decisions that are not forced. Returns `None` if the number of choices is wrong or a choice is not a
/// result of its roll.
pub fn score(player: &mut dyn Player, decisions: &[Decision]) -> Option<Score> {
    let free: Vec<&Decision> = decisions.iter().filter(|decision| decision.results.len() > 1).collect();
    let mut chosen = Vec::new();
    for part in free.chunks(TOGETHER) {
        let questions: Vec<_> = part.iter().map(|decision| (decision.board, decision.roll)).collect();
        player.choose(&questions, &mut chosen);
    }
    if chosen.len() != free.len() {
        return None;
    }
    let losses: Option<Vec<f64>> = free.iter().zip(&chosen).map(|(decision, board)| decision.loss(board)).collect();
    let losses = losses?;
    let n = losses.len().max(1) as f64;
    let share = |of: fn(&f64) -> bool| losses.iter().filter(|loss| of(loss)).count() as f64 / n;
    let mean = losses.iter().sum::<f64>() / n;
    let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    Some(Score {
        decisions: losses.len(),
        memg: 1000.0 * mean,
        standard_error: 1000.0 * (variance / n).sqrt(),
        best: share(|loss| *loss == 0.0),
        blunders: share(|loss| *loss >= 0.1),
    })
}

/// Maximum number of decisions passed to a player in one call.
const TOGETHER: usize = 256;
