//! What a roll can lead to: every distinct result once, found without looking for those that are equal.
//!
//! A result is known by the points that its checkers leave. Four moves of one number are a set of such points, and taken
//! from the highest point down they are legal in that order whenever they are in any; two such sets never give the same
//! board, and every way to play a double as far as it goes is equally long, so no longest one need be sought. With two
//! numbers a result is a pair of points, one for each number. Two pairs give the same board only where one checker makes both
//! moves over either of two empty points, or where the same two are borne off with the numbers exchanged.
//! (`crates/worlds/tests/worlds/backgammon.rs` compares with trying every order.)

use super::{BAR, Board, POINTS, Roll, Side, UNIT};

/// No roll has more results: four moves among fifteen checkers are shared out in C(18, 4) ways.
pub const MOST_RESULTS: usize = 3060;

/// What a hit changes for the side whose checker stood there, by the point as the hitter counts it.
const HIT: [u128; 32] = {
    let mut hit = [0; 32];
    let mut point = 1;
    while point <= POINTS {
        hit[point] = UNIT[BAR] - UNIT[BAR - point];
        point += 1;
    }
    hit
};

/// Room for the results of a roll, made once and filled again and again.
pub struct Results {
    boards: Box<[Board; MOST_RESULTS]>,
    plays: Box<[Play; MOST_RESULTS]>,
    len: usize,
}

/// The places that checkers leave for one result: with two numbers that of the larger die and then that of the smaller, with
/// doubles from the highest down; 0 for a die that is not played. No two results of a roll have the same.
pub type Play = [u8; 4];

impl Results {
    pub const BYTES: usize = MOST_RESULTS * (size_of::<Board>() + size_of::<Play>());

    pub fn new() -> Results {
        let boards = vec![Board::START; MOST_RESULTS].try_into().expect("as many as there is room for");
        let plays = vec![[0; 4]; MOST_RESULTS].try_into().expect("as many as there is room for");
        Results { boards, plays, len: 0 }
    }

    /// What was found last.
    pub fn boards(&self) -> &[Board] {
        &self.boards[..self.len]
    }

    /// How each of them comes about.
    pub fn plays(&self) -> &[Play] {
        &self.plays[..self.len]
    }

    #[inline]
    fn push(&mut self, turn: Turn, play: Play) {
        self.boards[self.len] = turn.board();
        self.plays[self.len] = play;
        self.len += 1;
    }
}

impl Default for Results {
    fn default() -> Self {
        Results::new()
    }
}

impl Board {
    /// Every distinct board that whoever sees this one can leave after `roll`, each once, in an order that depends on nothing
    /// else; this board itself where no move is legal.
    pub fn results<'a>(&self, roll: Roll, room: &'a mut Results) -> &'a [Board] {
        room.len = 0;
        let turn = Turn::new(self);
        let (high, low) = (roll.high.into(), roll.low.into());
        if roll.is_double() {
            turn.doubled(high, 4, room);
        } else if !turn.pairs(high, low, room) {
            // Only one of the dice can be played: the larger, if it can.
            let die = if turn.sources(high) != 0 { high } else { low };
            for from in places(turn.sources(die)) {
                let play = if die == high { [from as u8, 0, 0, 0] } else { [0, from as u8, 0, 0] };
                room.push(turn.moved(from, die), play);
            }
        }
        if room.len == 0 {
            room.push(turn, [0; 4]);
        }
        room.boards()
    }

    /// The same after the first two moves of a double at most. Its results are those that two more lead to from there, some of
    /// them by several ways.
    pub fn halves<'a>(&self, double: Roll, room: &'a mut Results) -> &'a [Board] {
        room.len = 0;
        let turn = Turn::new(self);
        turn.doubled(double.high.into(), 2, room);
        if room.len == 0 {
            room.push(turn, [0; 4]);
        }
        room.boards()
    }

    /// Whether a checker may move by this die.
    pub fn can_move(&self, die: u8) -> bool {
        Turn::new(self).sources(die.into()) != 0
    }

    /// Where the first two moves of a play lead that a roll was found to have, in whatever order they are made.
    #[inline]
    pub fn moved(&self, roll: Roll, play: [u8; 2]) -> Board {
        let (mut mine, mut theirs) = (self.mine.0, self.theirs.0);
        for (from, die) in [(play[0], roll.high), (play[1], roll.low)] {
            if from > 0 {
                let to = 31 & from.saturating_sub(die) as usize;
                mine = mine.wrapping_sub(UNIT[31 & from as usize]).wrapping_add(UNIT[to]);
                if to > 0 && theirs >> (4 * (BAR - to.min(BAR))) & 15 == 1 {
                    theirs = theirs.wrapping_add(HIT[to]);
                }
            }
        }
        Board { mine: Side(mine), theirs: Side(theirs) }
    }
}

/// The highest place of a mask that has one.
#[inline]
fn highest(mask: u32) -> usize {
    31 & (31 - mask.leading_zeros() as usize)
}

/// Every place of a mask, from the highest down.
#[inline]
pub(super) fn places(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let place = highest(mask);
        mask ^= 1 << place;
        Some(place)
    })
}

/// A board in the midst of a move, with what decides where a checker may go as masks by the mover's places.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    mine: u128,
    theirs: u128,
    /// Where the mover has checkers, the bar included.
    occupied: u32,
    /// Where the other side has one.
    blots: u32,
    /// Where it has more; they stay for as long as the move goes on.
    blocked: u32,
}

impl Turn {
    #[inline]
    pub(super) fn new(board: &Board) -> Turn {
        let (some, many) = board.theirs.masks();
        // Their point p is this side's 25 - p; what they have off or on the bar is in nobody's way.
        let seen = |mask: u32| mask.reverse_bits() >> (31 - BAR) & ((1 << BAR) - 2);
        Turn {
            mine: board.mine.0,
            theirs: board.theirs.0,
            occupied: board.mine.masks().0 & !1,
            blots: seen(some & !many),
            blocked: seen(many),
        }
    }

    #[inline]
    pub(super) fn board(&self) -> Board {
        Board { mine: Side(self.mine), theirs: Side(self.theirs) }
    }

    /// The places that a checker may leave with this die.
    #[inline]
    pub(super) fn sources(&self, die: usize) -> u32 {
        const OUTSIDE: u32 = !0 << 7;
        if self.occupied >> BAR & 1 == 1 {
            return (1 << BAR) & !(self.blocked << die);
        }
        let onward = self.occupied & !(self.blocked << die) & (!1 << die);
        if self.occupied & OUTSIDE != 0 || self.occupied == 0 {
            return onward;
        }
        // From the very point that the die names, or from the highest where that is nearer.
        let farther = self.occupied & (!1 << die) != 0;
        onward | if farther { self.occupied & 1 << die } else { 1 << highest(self.occupied) }
    }

    #[inline(always)]
    pub(super) fn moved(&self, from: usize, die: usize) -> Turn {
        let to = 31 & from.saturating_sub(die);
        let mine = self.mine - UNIT[from] + UNIT[to];
        let left = if mine & (15 * UNIT[from]) == 0 { 1 << from } else { 0 };
        let hit = u128::from(self.blots >> to & 1).wrapping_neg();
        Turn {
            mine,
            theirs: self.theirs.wrapping_add(HIT[to] & hit),
            occupied: (self.occupied & !left | 1 << to) & !1,
            blots: self.blots & !(1 << to),
            blocked: self.blocked,
        }
    }

    /// All ways to play a die as often as it can be, `most` times at most.
    fn doubled(&self, die: usize, most: u32, room: &mut Results) {
        let (mut ahead, mut moves) = (*self, 0);
        while moves < most && ahead.sources(die) != 0 {
            ahead = ahead.moved(highest(ahead.sources(die)), die);
            moves += 1;
        }
        if moves > 0 {
            self.play(die, BAR, 0, moves, [0; 4], room);
        }
    }

    /// All ways to play a die until it was played `moves` times, from no higher place than `from_most`.
    fn play(&self, die: usize, from_most: usize, made: u32, moves: u32, mut play: Play, room: &mut Results) {
        for from in places(self.sources(die) & ((2 << from_most) - 1)) {
            let then = self.moved(from, die);
            play[made as usize & 3] = from as u8;
            if made + 1 == moves {
                room.push(then, play);
            } else {
                then.play(die, from, made + 1, moves, play, room);
            }
        }
    }

    /// All ways to play both of two different dice; false where there is none.
    #[inline]
    fn pairs(&self, high: usize, low: usize, room: &mut Results) -> bool {
        /// Whether a mask has a place.
        fn has(mask: u32, place: usize) -> bool {
            mask >> place & 1 == 1
        }
        // By the place that the larger die was played from: those that the smaller one was played from after it.
        let mut followers = [0u32; 32];
        // A checker that goes first `low` to `between` and then on: over the other point it came to the same board.
        let chained = |followers: &[u32; 32], from: usize, between: usize| {
            let other = from.wrapping_sub(high);
            from > high && has(followers[from], other) && self.blots & (1 << other | 1 << between) == 0
        };
        let firsts = self.sources(high);
        for from in places(firsts) {
            let then = self.moved(from, high);
            let mut seconds = then.sources(low);
            followers[from] = seconds;
            let behind = from + low;
            if has(seconds, behind) && chained(&followers, behind, from) {
                seconds ^= 1 << behind;
            }
            if from < low {
                for other in places(seconds & ((2 << low) - (2 << from))) {
                    if has(followers[other], from) {
                        seconds ^= 1 << other;
                    }
                }
            }
            for second in places(seconds) {
                room.push(then.moved(second, low), [from as u8, second as u8, 0, 0]);
            }
        }
        // Whatever the larger die could be played from at once has been. The smaller one may lead to more: from the bar, to
        // the point it goes on from, or to bearing off.
        for from in places(self.sources(low)) {
            let then = self.moved(from, low);
            for second in places(then.sources(high) & !firsts) {
                let chained = second + low == from && chained(&followers, from, second);
                let borne_off = from <= low && second <= low && has(followers[from], second);
                if !chained && !borne_off {
                    room.push(then.moved(second, high), [second as u8, from as u8, 0, 0]);
                }
            }
        }
        room.len > 0
    }
}
