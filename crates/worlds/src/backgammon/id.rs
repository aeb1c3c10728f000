//! Position ids in GNU Backgammon's format (its manual, "A technical description of the Position ID"). Each of points 1 to 24 and the bar
//! is written as a bit 1 for every checker, followed by a bit 0. The bits of the player who is not on roll come first, then the bits of the
//! player on roll. The 80 bits fill ten bytes, from the lowest bit of each byte up. The bytes are written in base 64. The side `mine` of a
//! board is the side of the player on roll.
//!
//! An id is accepted only if it is exactly the id that this module writes for its board. GNU Backgammon also accepts some other ids.

use super::{BAR, Board, BoardError};

pub(super) const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LENGTH: usize = 14;
const BITS: usize = 80;

/// A position id; ids are ordered by their text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; LENGTH]);

impl Id {
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits of base 64 are text")
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Board {
    pub fn id(&self) -> Id {
        let (mut key, mut at) = (0u128, 0);
        for side in [self.theirs, self.mine] {
            for place in 1..=BAR {
                let count = side.count(place);
                key |= ((1 << count) - 1) << at;
                at += u32::from(count) + 1;
            }
        }
        let byte = |i: usize| if 8 * i < BITS { (key >> (8 * i)) as u32 & 255 } else { 0 };
        let mut text = [0; LENGTH];
        for (i, digit) in text.iter_mut().enumerate() {
            let first = i / 4 * 3;
            let three = byte(first) << 16 | byte(first + 1) << 8 | byte(first + 2);
            *digit = DIGITS[(three >> (18 - 6 * (i % 4))) as usize & 63];
        }
        Id(text)
    }

    pub fn from_id(text: &str) -> Result<Board, BoardError> {
        let characters = text.chars().count();
        if characters != LENGTH {
            return Err(BoardError::Length(characters));
        }
        let mut key = 0u128;
        for (i, character) in text.chars().enumerate() {
            let value = DIGITS.iter().position(|&digit| char::from(digit) == character);
            let value = value.ok_or(BoardError::Character(character))?;
            // A base-64 digit contains six bits of the bytes, from the highest bit of each byte to the lowest. `key` contains each byte
            // from the lowest bit to the highest.
            for bit in 0..6 {
                let place = 6 * i + bit;
                if value >> (5 - bit) & 1 == 1 {
                    key |= 1 << (place / 8 * 8 + 7 - place % 8);
                }
            }
        }
        let mut sides = [[0u8; BAR]; 2];
        for side in &mut sides {
            let mut checkers = 0;
            for count in side.iter_mut() {
                let ones = key.trailing_ones();
                checkers += ones;
                if checkers > super::CHECKERS.into() {
                    return Err(BoardError::Checkers(checkers));
                }
                *count = ones as u8;
                key >>= ones + 1;
            }
        }
        if key != 0 {
            return Err(BoardError::Tail);
        }
        let [theirs, mine] = sides;
        Board::new(mine, theirs)
    }
}
