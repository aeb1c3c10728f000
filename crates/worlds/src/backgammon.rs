//! The rules of backgammon: a board in two words of 128 bits, the results of every roll, position ids in GNU Backgammon's format, and a
//! game with its cube and its match. Money play has no Jacoby rule.
//!
//! This module contains no player: cube decisions take the estimated chances as an argument. A result of a roll is a board after the whole
//! roll has been played. `notation::route` finds the steps that lead to a result.
//!
//! A board is always from the point of view of one player, whose side is `mine`. This player's checkers move from point 24 down to point 1
//! and are then borne off. The other side, `theirs`, counts the points from its own player's end, so a change of the point of view swaps
//! the two words. A place is a point, the bar, or the set of checkers borne off.

mod cube;
mod game;
mod id;
mod match_id;
mod moves;
pub mod notation;

pub use cube::CubeEquities;
pub use game::{Chances, Crawford, Cube, Ending, Game, GameError, GameState, Match, Player, Stakes};
pub use id::Id;
pub use match_id::{IdError, Standing};
pub use moves::{MOST_RESULTS, Play, Results};

use math::rng::Sequence;

pub const CHECKERS: u8 = 15;
pub const POINTS: usize = 24;
/// Index of the bar among the places. A checker on the bar needs 25 pips to be borne off.
pub const BAR: usize = 25;
/// Index of the place of checkers that are borne off.
pub const OFF: usize = 0;

/// For each place, the word of a [`Side`] with a single checker, which is at this place. Each place has four bits of the word. The array
/// has 32 elements, so that an index of five bits needs no check.
const UNIT: [u128; 32] = {
    let mut unit = [0; 32];
    let mut place = OFF;
    while place <= BAR {
        unit[place] = 1 << (4 * place);
        place += 1;
    }
    unit
};

/// Number of a player's fifteen checkers in each place, with four bits per place. The lowest four bits count the checkers borne off; points
/// 1 to 24 and the bar follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side(u128);

impl Side {
    const START: Side = Side(2 * UNIT[24] + 5 * UNIT[13] + 3 * UNIT[8] + 5 * UNIT[6]);

    /// Returns the number of checkers in a place.
    #[inline]
    pub fn count(self, place: usize) -> u8 {
        (self.0 >> (4 * place)) as u8 & 15
    }

    #[inline]
    pub fn off(self) -> u8 {
        self.0 as u8 & 15
    }

    #[inline]
    pub fn bar(self) -> u8 {
        self.count(BAR)
    }

    /// Returns the highest place with a checker; [`OFF`] when all are borne off.
    #[inline]
    pub fn rear(self) -> usize {
        ((127 - (self.0 | 1).leading_zeros()) / 4) as usize
    }

    /// Returns the pip count: the total distance to bearing off all checkers.
    pub fn pips(self) -> u32 {
        (1..=BAR).map(|place| place as u32 * u32::from(self.count(place))).sum()
    }

    /// Returns the number of checkers on each of points 1 to 24 and on the bar, as in the arguments of [`Board::new`].
    pub fn places(self) -> [u8; BAR] {
        std::array::from_fn(|i| self.count(i + 1))
    }

    /// Returns the number of checkers in each place. Index 0 is the checkers borne off, 1 to 24 are the points, and 25 is the bar.
    #[inline]
    pub fn counts(self) -> [u8; BAR + 1] {
        let bytes = self.0.to_le_bytes();
        std::array::from_fn(|place| bytes[place / 2] >> (4 * (place % 2)) & 15)
    }

    fn with_places(places: [u8; BAR]) -> Result<Side, BoardError> {
        let checkers: u32 = places.iter().map(|&count| u32::from(count)).sum();
        if checkers > CHECKERS.into() {
            return Err(BoardError::Checkers(checkers));
        }
        let off = u128::from(u32::from(CHECKERS) - checkers);
        let on = places.iter().enumerate().map(|(i, &count)| u128::from(count) * UNIT[i + 1]).sum::<u128>();
        Ok(Side(off + on))
    }

    /// Returns two masks with one bit per place. Bit p of the first mask is set if place p has a checker. Bit p of the second mask is set
    /// if place p has at least two checkers.
    #[inline]
    pub fn masks(self) -> (u32, u32) {
        const ONES: u128 = u128::MAX / 15;
        let many = (self.0 >> 1 | self.0 >> 2 | self.0 >> 3) & ONES;
        (gather((many | self.0) & ONES), gather(many))
    }
}

/// Packs the lowest bit of each group of four bits into adjacent bits. All other bits of the argument must be 0.
#[inline]
fn gather(bits: u128) -> u32 {
    let half = |x: u64| {
        let x = (x | x >> 3) & 0x0303_0303_0303_0303;
        let x = (x | x >> 6) & 0x000F_000F_000F_000F;
        let x = (x | x >> 12) & 0x0000_00FF_0000_00FF;
        (x | x >> 24) as u32 & 0xFFFF
    };
    half(bits as u64) | half((bits >> 64) as u64) << 16
}

/// Checkers of both sides, from the point of view of one player.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    mine: Side,
    theirs: Side,
}

impl Board {
    pub const START: Board = Board { mine: Side::START, theirs: Side::START };

    /// Creates a board from each side's numbers of checkers on points 1 to 24 and on the bar. Each side counts the points from its own end.
    /// The other checkers of a side's 15 are borne off.
    pub fn new(mine: [u8; BAR], theirs: [u8; BAR]) -> Result<Board, BoardError> {
        let shared = |point: &usize| mine[point - 1] > 0 && theirs[POINTS - point] > 0;
        if let Some(point) = (1..=POINTS).find(shared) {
            return Err(BoardError::SharedPoint(point));
        }
        let closed = |places: [u8; BAR]| places[..6].iter().all(|&count| count >= 2);
        if mine[BAR - 1] > 0 && theirs[BAR - 1] > 0 && closed(mine) && closed(theirs) {
            return Err(BoardError::BothShutOut);
        }
        let board = Board { mine: Side::with_places(mine)?, theirs: Side::with_places(theirs)? };
        if board.mine.off() == CHECKERS && board.theirs.off() == CHECKERS {
            return Err(BoardError::BothDone);
        }
        Ok(board)
    }

    pub fn mine(&self) -> Side {
        self.mine
    }

    pub fn theirs(&self) -> Side {
        self.theirs
    }

    /// Returns the same board from the other player's point of view.
    #[inline]
    pub fn turned(self) -> Board {
        Board { mine: self.theirs, theirs: self.mine }
    }

    /// Returns true if a checker of one side can still meet a checker of the other side.
    #[inline]
    pub fn contact(&self) -> bool {
        self.mine.rear() + self.theirs.rear() > BAR
    }

    /// Returns the number of points that the player of `mine` has won, before multiplication by the cube: 1 for a single game, 2 for a
    /// gammon, 3 for a backgammon. The number is negative if this player has lost, and 0 for a game in progress.
    #[inline]
    pub fn points(&self) -> i32 {
        if self.mine.off() == CHECKERS {
            level(self.theirs)
        } else if self.theirs.off() == CHECKERS {
            -level(self.mine)
        } else {
            0
        }
    }

    /// Returns a hash for tables of boards. The hash does not resist deliberate collisions.
    #[inline]
    pub fn hash64(&self) -> u64 {
        const ODD: [u64; 4] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0xD6E8_FEB8_6659_FD93];
        let words = [self.mine.0 as u64, (self.mine.0 >> 64) as u64, self.theirs.0 as u64, (self.theirs.0 >> 64) as u64];
        let mut hash = 0u64;
        for (word, odd) in words.into_iter().zip(ODD) {
            hash = (hash.rotate_left(23) ^ word).wrapping_mul(odd);
            hash ^= hash >> 32;
        }
        hash
    }
}

/// Returns the number of points that the loser of a finished game loses, before multiplication by the cube: 1, 2 or 3.
fn level(loser: Side) -> i32 {
    if loser.off() > 0 {
        1
    } else if loser.rear() <= POINTS - 6 {
        2
    } else {
        3
    }
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.id(), self.mine.places(), self.theirs.places())
    }
}

/// Reason why a position id or a position is not a legal board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error("a position id has 14 characters, found {0}; copy the whole id")]
    Length(usize),
    #[error("invalid character {0:?} in position id; use A-Z, a-z, 0-9, + and /")]
    Character(char),
    #[error("the position id has data after the last point; copy the whole id again")]
    Tail,
    #[error("each side has at most 15 checkers, found {0}; remove checkers from that side")]
    Checkers(u32),
    #[error("both sides have checkers on point {0}; leave only one side there")]
    SharedPoint(usize),
    #[error("both sides have borne off all checkers; leave a checker on the board")]
    BothDone,
    #[error("both sides are on the bar against closed boards, which cannot occur in a game; open one of the boards")]
    BothShutOut,
}

/// Values of two dice, without their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Roll {
    high: u8,
    low: u8,
}

/// Error for a number that is not the value of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no die shows {0}; give two numbers from 1 to 6")]
pub struct NoSuchRoll(pub u8);

impl Roll {
    /// All 21 distinct rolls, sorted by the higher die, then by the lower die.
    pub const ALL: [Roll; 21] = {
        let mut all = [Roll { high: 1, low: 1 }; 21];
        let (mut i, mut high) = (0, 1);
        while high <= 6 {
            let mut low = 1;
            while low <= high {
                all[i] = Roll { high, low };
                i += 1;
                low += 1;
            }
            high += 1;
        }
        all
    };

    pub fn new(one: u8, other: u8) -> Result<Roll, NoSuchRoll> {
        match [one, other].into_iter().find(|die| !(1..=6).contains(die)) {
            Some(die) => Err(NoSuchRoll(die)),
            None => Ok(Roll { high: one.max(other), low: one.min(other) }),
        }
    }

    /// Draws the roll of two fair dice.
    pub fn drawn(numbers: &mut Sequence) -> Roll {
        let both = numbers.below(36) as u8;
        let (one, other) = (1 + both / 6, 1 + both % 6);
        Roll { high: one.max(other), low: one.min(other) }
    }

    /// Draws the first roll of a game, which is never a double.
    pub fn drawn_to_open(numbers: &mut Sequence) -> Roll {
        loop {
            let roll = Roll::drawn(numbers);
            if !roll.is_double() {
                return roll;
            }
        }
    }

    pub fn high(self) -> u8 {
        self.high
    }

    pub fn low(self) -> u8 {
        self.low
    }

    /// Returns both values, the larger first.
    pub fn dice(self) -> [u8; 2] {
        [self.high, self.low]
    }

    pub fn is_double(self) -> bool {
        self.high == self.low
    }

    /// Returns the number of outcomes that give this roll, out of the 36 outcomes of two dice.
    pub fn ways(self) -> u32 {
        if self.is_double() { 1 } else { 2 }
    }
}
