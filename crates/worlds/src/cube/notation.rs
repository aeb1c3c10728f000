//! Moves as players write them (Singmaster): `R U2 F'`. Blanks and commas between moves may be missing, a prime may be any mark
//! that looks like one, and `R3` is `R'`.
//!
//! It refuses what turns more than one layer or the whole cube: those change which face is which, and a solver's actions do not.

use super::moves::Move;
use super::pieces::Face;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Unknown,
    LowerCase,
    Wide,
    Slice,
    Rotation,
    Turns,
}

/// What is written and is no move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The character where it stands, counted from 1.
    pub at: usize,
    pub found: String,
    problem: Problem,
}

impl NotationError {
    /// What is the matter, without what to do.
    pub fn what(&self) -> String {
        let NotationError { at, found, problem } = self;
        let why = match problem {
            Problem::Unknown => "is no move",
            Problem::LowerCase => "is lower case, which means two layers",
            Problem::Wide => "turns two layers",
            Problem::Slice => "turns a middle layer",
            Problem::Rotation => "turns the whole cube",
            Problem::Turns => "is no number of quarter turns",
        };
        format!("at character {at}, {found:?} {why}")
    }

    /// The step that helps.
    pub fn next_step(&self) -> String {
        match self.problem {
            Problem::LowerCase => format!("write {} if you mean that face alone", self.found.to_uppercase()),
            Problem::Unknown => "write a face, one of U R F D L B, with nothing, 2 or ' behind it".into(),
            Problem::Wide | Problem::Slice | Problem::Rotation => {
                "write it as turns of the faces U R F D L B, for which the cube is held still".into()
            }
            Problem::Turns => "write nothing behind the face, or 2 or '".into(),
        }
    }
}

impl std::fmt::Display for NotationError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}; {}", self.what(), self.next_step())
    }
}

impl std::error::Error for NotationError {}

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
                'u' | 'r' | 'f' | 'd' | 'l' | 'b' => Problem::LowerCase,
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
