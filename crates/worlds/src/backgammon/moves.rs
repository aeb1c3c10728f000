//! What a roll can lead to: every distinct result once, found without looking for those that are equal.
//!
//! A result is known by the points that its checkers leave. Four moves of one number are a set of such points, and taken
//! from the highest point down they are legal in that order whenever they are in any; two such sets never give the same
//! board, and every way to play a double as far as it goes is equally long, so no longest one need be sought. With two
//! numbers a result is a pair of points, one for each number. Two pairs give the same board only where one checker makes both
//! moves over either of two empty points, or where the same two are borne off with the numbers exchanged.
//! (`crates/worlds/tests/backgammon.rs` compares with trying every order.)

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
    len: usize,
}

impl Results {
    pub fn new() -> Results {
        let boards = vec![Board::START; MOST_RESULTS].try_into().expect("as many as there is room for");
        Results { boards, len: 0 }
    }

    /// What was found last.
    pub fn boards(&self) -> &[Board] {
        &self.boards[..self.len]
    }

    #[inline]
    fn push(&mut self, turn: Turn) {
        self.boards[self.len] = turn.board();
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
            let (mut ahead, mut moves) = (turn, 0);
            while moves < 4 && ahead.sources(high) != 0 {
                ahead = ahead.moved(highest(ahead.sources(high)), high);
                moves += 1;
            }
            if moves > 0 {
                turn.play(high, BAR, moves, room);
            }
        } else if !turn.pairs(high, low, room) {
            // Only one of the dice can be played: the larger, if it can.
            let die = if turn.sources(high) != 0 { high } else { low };
            for from in places(turn.sources(die)) {
                room.push(turn.moved(from, die));
            }
        }
        if room.len == 0 {
            room.push(turn);
        }
        room.boards()
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

    /// All ways to play a die `left` times more, from no higher place than `from_most`.
    fn play(&self, die: usize, from_most: usize, left: u32, room: &mut Results) {
        for from in places(self.sources(die) & ((2 << from_most) - 1)) {
            let then = self.moved(from, die);
            if left == 1 {
                room.push(then);
            } else {
                then.play(die, from, left - 1, room);
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
                room.push(then.moved(second, low));
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
                    room.push(then.moved(second, high));
                }
            }
        }
        room.len > 0
    }
}
