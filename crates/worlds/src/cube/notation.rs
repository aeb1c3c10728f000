//! Moves as players write them (Singmaster): `R U2 F'`. Blanks and commas between moves may be missing, a prime may be any mark
//! that looks like one, and `R3` is `R'`.
//!
//! It refuses what turns more than one layer or the whole cube: those change which face is which, and a solver's actions do not.

use super::facelets::parts;
use super::moves::Move;
use super::pieces::Face;

/// Each with the step that helps behind a semicolon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("is no move; write a face, one of U R F D L B, with nothing, 2 or ' behind it")]
    Unknown,
    #[error("is lower case, which means two layers; write {} if you mean that face alone", .0.to_ascii_uppercase())]
    LowerCase(char),
    #[error("turns two layers; {HELD_STILL}")]
    Wide,
    #[error("turns a middle layer; {HELD_STILL}")]
    Slice,
    #[error("turns the whole cube; {HELD_STILL}")]
    Rotation,
    #[error("is no number of quarter turns; write nothing behind the face, or 2 or '")]
    Turns,
}

const HELD_STILL: &str = "write it as turns of the faces U R F D L B, for which the cube is held still";

/// What is written and is no move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}, {found:?} {problem}")]
pub struct NotationError {
    /// The character where it stands, counted from 1.
    pub at: usize,
    pub found: String,
    problem: Problem,
}

impl NotationError {
    /// What is the matter, without what to do.
    pub fn what(&self) -> String {
        parts(self).0
    }

    /// The step that helps.
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
            turns = digit.to_digit(10).expect("it is one");
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

/// What takes these moves back.
pub fn inverse(moves: &[Move]) -> Vec<Move> {
    moves.iter().rev().map(|m| m.inverse()).collect()
}
