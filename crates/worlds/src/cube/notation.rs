//! Moves in Singmaster notation, such as `R U2 F'`. Spaces and commas between moves are optional, several characters are accepted as a
//! prime, and `R3` is `R'`.
//!
//! Turns of two layers, of a middle layer and of the whole cube are errors, because they move the centres and are not actions of a solver.

use super::facelets::parts;
use super::moves::Move;
use super::pieces::Face;

/// Type of an error. The text of a variant is the problem, a semicolon and the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("is not a move; enter a face, U R F D L or B, alone or with 2 or ' after it")]
    Unknown,
    #[error("is lower case, which means two layers; enter {} to turn that face alone", .0.to_ascii_uppercase())]
    LowerCase(char),
    #[error("turns two layers; {FACES_ONLY}")]
    Wide,
    #[error("turns a middle layer; {FACES_ONLY}")]
    Slice,
    #[error("turns the whole cube; {FACES_ONLY}")]
    Rotation,
    #[error("has an invalid number of quarter turns; enter the face alone or with 2 or ' after it")]
    Turns,
}

const FACES_ONLY: &str = "hold the cube still and enter turns of the faces U R F D L B only";

/// Error for a part of a text that is not a supported move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}, {found:?} {problem}")]
pub struct NotationError {
    /// Position of the part's first character in the whole text, counted from 1.
    pub at: usize,
    pub found: String,
    problem: Problem,
}

impl NotationError {
    /// Returns the problem, without the remedy.
    pub fn what(&self) -> String {
        parts(self).0
    }

    /// Returns the remedy, without the problem.
    pub fn next_step(&self) -> String {
        parts(self).1
    }
}

pub fn read(text: &str) -> Result<Vec<Move>, NotationError> {
    let mut moves = Vec::new();
    let mut rest = text.chars().enumerate().peekable();
    while let Some((at, first)) = rest.next() {
        if first.is_whitespace() || first == ',' {
            continue;
        }
        let error = |found: &[char], problem| Err(NotationError { at: at + 1, found: found.iter().collect(), problem });
        let Some(face) = Face::ALL.into_iter().find(|face| face.letter() == first) else {
            let problem = match first {
                'u' | 'r' | 'f' | 'd' | 'l' | 'b' => Problem::LowerCase(first),
                'M' | 'E' | 'S' | 'm' | 'e' | 's' => Problem::Slice,
                'x' | 'y' | 'z' | 'X' | 'Y' | 'Z' => Problem::Rotation,
                _ => Problem::Unknown,
            };
            return error(&[first], problem);
        };
        if let Some((_, wide)) = rest.next_if(|&(_, c)| matches!(c, 'w' | 'W')) {
            return error(&[first, wide], Problem::Wide);
        }
        let mut turns = 1;
        if let Some((_, digit)) = rest.next_if(|&(_, c)| c.is_ascii_digit()) {
            turns = digit.to_digit(10).expect("an ASCII digit");
            if !(1..=3).contains(&turns) {
                return error(&[first, digit], Problem::Turns);
            }
            if let Some((_, another)) = rest.next_if(|&(_, c)| c.is_ascii_digit()) {
                return error(&[first, digit, another], Problem::Turns);
            }
        }
        if rest.next_if(|&(_, c)| matches!(c, '\'' | '’' | '‘' | '′' | 'ʹ' | '´' | '`')).is_some() {
            turns = 4 - turns;
        }
        moves.extend(Move::new(face, turns));
    }
    Ok(moves)
}

/// Returns the moves that undo the given moves.
pub fn inverse(moves: &[Move]) -> Vec<Move> {
    moves.iter().rev().map(|m| m.inverse()).collect()
}
