//! Backgammon, the whole game: a board in two words of 128 bits, the results of every roll, position ids as GNU Backgammon
//! writes them, and a game with its cube and its match. Money play without the Jacoby rule.
//!
//! It refuses to be a player: what a position is worth is told to it where it matters (the cube). Results come without how they
//! were reached; `notation` finds that for one of them.
//!
//! A board is always seen by one player: its own points count down to 1 before they are borne off, and `theirs` are counted
//! by the other player in the same way, so that turning the sides is an exchange of two words.

mod cube;
mod game;
mod id;
mod match_id;
mod moves;
pub mod notation;

pub use cube::CubeEquities;
pub use game::{Chances, Crawford, Cube, Ending, Game, GameError, Match, Player, Stage, Stakes};
pub use id::Id;
pub use match_id::{IdError, Standing};
pub use moves::{MOST_RESULTS, Play, Results};

use math::rng::Sequence;

pub const CHECKERS: u8 = 15;
pub const POINTS: usize = 24;
/// The place of a side's checkers that were hit; 24 pips and one from being home.
pub const BAR: usize = 25;
/// The place of those borne off.
pub const OFF: usize = 0;

/// One checker in each place: four bits for the count of a place, and room for indices of five bits.
const UNIT: [u128; 32] = {
    let mut unit = [0; 32];
    let mut place = OFF;
    while place <= BAR {
        unit[place] = 1 << (4 * place);
        place += 1;
    }
    unit
};

/// Fifteen checkers by place: borne off, points 1 to 24, the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side(u128);

impl Side {
    const START: Side = Side(2 * UNIT[24] + 5 * UNIT[13] + 3 * UNIT[8] + 5 * UNIT[6]);

    /// How many stand in a place.
    #[inline]
    pub fn count(self, place: usize) -> u8 {
        (self.0 >> (4 * place)) as u8 & 15
    }

    /// Borne off.
    #[inline]
    pub fn off(self) -> u8 {
        self.0 as u8 & 15
    }

    /// Waiting on the bar.
    #[inline]
    pub fn bar(self) -> u8 {
        self.count(BAR)
    }

    /// The place farthest from home that has a checker; [`OFF`] when all are borne off.
    #[inline]
    pub fn rear(self) -> usize {
        ((127 - (self.0 | 1).leading_zeros()) / 4) as usize
    }

    /// What is left to go.
    pub fn pips(self) -> u32 {
        (1..=BAR).map(|place| place as u32 * u32::from(self.count(place))).sum()
    }

    /// Points 1 to 24 and the bar, as [`Board::new`] takes them.
    pub fn places(self) -> [u8; BAR] {
        std::array::from_fn(|i| self.count(i + 1))
    }

    /// How many stand in each place: borne off, points 1 to 24, the bar.
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

    /// Bit p says that place p has a checker, and that it has two or more.
    #[inline]
    pub fn masks(self) -> (u32, u32) {
        const ONES: u128 = u128::MAX / 15;
        let many = (self.0 >> 1 | self.0 >> 2 | self.0 >> 3) & ONES;
        (gather((many | self.0) & ONES), gather(many))
    }
}

/// Every fourth bit, side by side.
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

/// Both sides, seen by one of the players.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    mine: Side,
    theirs: Side,
}

impl Board {
    pub const START: Board = Board { mine: Side::START, theirs: Side::START };

    /// From the counts of points 1 to 24 and the bar, each side's as that side counts them; the rest is borne off.
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

    /// The same, seen by the other player.
    #[inline]
    pub fn turned(self) -> Board {
        Board { mine: self.theirs, theirs: self.mine }
    }

    /// Whether the sides can still meet.
    #[inline]
    pub fn contact(&self) -> bool {
        self.mine.rear() + self.theirs.rear() > BAR
    }

    /// What the game counts when it ends here, above 0 where this player has won, before any cube: 1, 2 for a gammon, 3 for a
    /// backgammon; 0 while it goes on.
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

    /// A number that tells boards apart, for tables of them. Not for anyone with an interest in making two equal.
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

/// What a game counts that ends with the loser here.
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

/// Why there is no such board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error("a position id has 14 characters and this has {0}; copy it whole")]
    Length(usize),
    #[error("{0:?} stands in no position id; copy it again, its characters are A-Z, a-z, 0-9, + and /")]
    Character(char),
    #[error("this position id has bits after the last point; copy it again from where it came")]
    Tail,
    #[error("a side of this position has {0} checkers; give a position with at most 15 a side")]
    Checkers(u32),
    #[error("both sides hold point {0} of this position; give one where each point is one side's")]
    SharedPoint(usize),
    #[error("both sides of this position have borne off all checkers; give one where at most one side has")]
    BothDone,
    #[error("both sides of this position wait on the bar before a closed board; give one that can come up in a game")]
    BothShutOut,
}

/// Two dice. How they fell is not kept, only what they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Roll {
    high: u8,
    low: u8,
}

/// The dice do not show this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no die shows {0}; give two numbers from 1 to 6")]
pub struct NoSuchRoll(pub u8);

impl Roll {
    /// Every roll there is, each once.
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

    pub fn drawn(numbers: &mut Sequence) -> Roll {
        let both = numbers.below(36) as u8;
        let (one, other) = (1 + both / 6, 1 + both % 6);
        Roll { high: one.max(other), low: one.min(other) }
    }

    /// The first of a game, for which each player throws one die until they differ.
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

    /// The larger first.
    pub fn dice(self) -> [u8; 2] {
        [self.high, self.low]
    }

    pub fn is_double(self) -> bool {
        self.high == self.low
    }

    /// How many of the 36 ways two dice fall show this.
    pub fn ways(self) -> u32 {
        if self.is_double() { 1 } else { 2 }
    }
}
