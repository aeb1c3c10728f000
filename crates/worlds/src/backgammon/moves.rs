//! Results of a roll: every distinct resulting board once, enumerated without comparing boards.
//!
//! A result is identified by the points that the moved checkers leave. The moves of a double are a multiset of points. If the moves are
//! legal in some order, they are legal from the highest point down. Two multisets never give the same board, and every way to play a double
//! as far as possible has the same number of moves. With two different dice, a result is a pair of points, one for each die. Two pairs give
//! the same board in two cases only: one checker makes both moves, over either of two intermediate points without a hit, or the same two
//! checkers are borne off with the dice exchanged. `crates/worlds/tests/worlds/backgammon.rs` compares the results with an enumeration of
//! all orders.

use super::{BAR, Board, POINTS, Roll, Side, UNIT};

/// Upper bound on the number of results of a roll: C(18, 4), the number of ways to distribute four moves over fifteen checkers.
pub const MOST_RESULTS: usize = 3060;

/// Number that is added to the word of a [`Side`] when one of its checkers is hit. The index is the point of the hit, counted by the side
/// that hits.
const HIT: [u128; 32] = {
    let mut hit = [0; 32];
    let mut point = 1;
    while point <= POINTS {
        hit[point] = UNIT[BAR] - UNIT[BAR - point];
        point += 1;
    }
    hit
};

/// Reusable buffer for the results of a roll.
pub struct Results {
    boards: Box<[Board; MOST_RESULTS]>,
    plays: Box<[Play; MOST_RESULTS]>,
    len: usize,
}

/// Places that the checkers leave in the moves to one result. With two different dice, the first place belongs to the larger die and the
/// second to the smaller; 0 means that the die is not played. With a double, the places are in descending order, and unused elements are 0.
/// No two results of a roll have equal plays.
pub type Play = [u8; 4];

impl Results {
    pub const BYTES: usize = MOST_RESULTS * (size_of::<Board>() + size_of::<Play>());

    pub fn new() -> Results {
        let boards = vec![Board::START; MOST_RESULTS].try_into().expect("the length is MOST_RESULTS");
        let plays = vec![[0; 4]; MOST_RESULTS].try_into().expect("the length is MOST_RESULTS");
        Results { boards, plays, len: 0 }
    }

    /// Returns the boards of the last enumeration.
    pub fn boards(&self) -> &[Board] {
        &self.boards[..self.len]
    }

    /// Returns the plays that lead to [`Results::boards`], in the same order.
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
    /// Enumerates the distinct boards to which the player of `mine` can play `roll`. The boards are from this player's point of view. Their
    /// order depends only on the board and the roll. If no move is legal, the only result is the unchanged board.
    pub fn results<'a>(&self, roll: Roll, buffer: &'a mut Results) -> &'a [Board] {
        buffer.len = 0;
        let turn = Turn::new(self);
        let (high, low) = (roll.high.into(), roll.low.into());
        if roll.is_double() {
            turn.doubled(high, 4, buffer);
        } else if !turn.pairs(high, low, buffer) {
            // At most one die can be played: the larger die if it can move a checker, otherwise the smaller die.
            let die = if turn.sources(high) != 0 { high } else { low };
            for from in places(turn.sources(die)) {
                let play = if die == high { [from as u8, 0, 0, 0] } else { [0, from as u8, 0, 0] };
                buffer.push(turn.moved(from, die), play);
            }
        }
        if buffer.len == 0 {
            buffer.push(turn, [0; 4]);
        }
        buffer.boards()
    }

    /// Enumerates the boards after the first two moves of a double, which are called its halves. If no second move is legal, the halves are
    /// the boards after one move. If no move is legal, the only half is the unchanged board. At most two moves lead from a half to a result
    /// of the double. Several halves can lead to the same result.
    pub fn halves<'a>(&self, double: Roll, buffer: &'a mut Results) -> &'a [Board] {
        buffer.len = 0;
        let turn = Turn::new(self);
        turn.doubled(double.high.into(), 2, buffer);
        if buffer.len == 0 {
            buffer.push(turn, [0; 4]);
        }
        buffer.boards()
    }

    /// Returns true if the player of `mine` can move a checker by this die.
    pub fn can_move(&self, die: u8) -> bool {
        Turn::new(self).sources(die.into()) != 0
    }

    /// Returns the board after the first two moves of a legal [`Play`], from the point of view of the player of `mine`. The order of the
    /// two moves does not matter.
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

/// Returns the highest place in a mask, which must not be 0.
#[inline]
fn highest(mask: u32) -> usize {
    31 & (31 - mask.leading_zeros() as usize)
}

/// Returns the places in a mask, in descending order.
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

/// A board during a turn, with masks that decide which moves are legal. Bit p of a mask is place p, counted by the mover.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    mine: u128,
    theirs: u128,
    /// Places with checkers of the mover, the bar included.
    occupied: u32,
    /// Points with exactly one checker of the other side.
    blots: u32,
    /// Points with two or more checkers of the other side. A move of the mover does not change this mask.
    blocked: u32,
}

impl Turn {
    #[inline]
    pub(super) fn new(board: &Board) -> Turn {
        let (some, many) = board.theirs.masks();
        // The other side's point p is the mover's point 25 - p. Checkers that are borne off or on the bar block no point.
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

    /// Returns the mask of the places from which the mover may move a checker by this die.
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
        // A checker is borne off from the point equal to the die, or from the highest point if all checkers are on lower points than the
        // die.
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

    /// Adds the results of moving by `die` as often as possible, but at most `most` times.
    fn doubled(&self, die: usize, most: u32, buffer: &mut Results) {
        let (mut ahead, mut moves) = (*self, 0);
        while moves < most && ahead.sources(die) != 0 {
            ahead = ahead.moved(highest(ahead.sources(die)), die);
            moves += 1;
        }
        if moves > 0 {
            self.play(die, BAR, 0, moves, [0; 4], buffer);
        }
    }

    /// Adds every result of a double that is played with `moves` moves of `die` in total. `play` contains the first `made` moves, and
    /// `self` is the board after these moves. The next checker leaves place `from_most` or a lower place.
    fn play(&self, die: usize, from_most: usize, made: u32, moves: u32, mut play: Play, buffer: &mut Results) {
        for from in places(self.sources(die) & ((2 << from_most) - 1)) {
            let then = self.moved(from, die);
            play[made as usize & 3] = from as u8;
            if made + 1 == moves {
                buffer.push(then, play);
            } else {
                then.play(die, from, made + 1, moves, play, buffer);
            }
        }
    }

    /// Adds the results of plays that use both of two different dice. Returns false if there is no such play.
    #[inline]
    fn pairs(&self, high: usize, low: usize, buffer: &mut Results) -> bool {
        /// Returns true if a mask contains a place.
        fn has(mask: u32, place: usize) -> bool {
            mask >> place & 1 == 1
        }
        // For each place from which the larger die can be played: the mask of the places from which the smaller die can be played after it.
        let mut followers = [0u32; 32];
        // Returns true if the checker at `from` can play the two dice in either order with the same result. `between` is the point that the
        // checker reaches by `low`.
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
                buffer.push(then.moved(second, low), [from as u8, second as u8, 0, 0]);
            }
        }
        // All plays that begin with the larger die have been added. The remaining plays begin with the smaller die and make a further place
        // legal for the larger die. Such a move enters a checker from the bar, moves a checker to a new starting point, or moves the last
        // checker into the home board.
        for from in places(self.sources(low)) {
            let then = self.moved(from, low);
            for second in places(then.sources(high) & !firsts) {
                let chained = second + low == from && chained(&followers, from, second);
                let borne_off = from <= low && second <= low && has(followers[from], second);
                if !chained && !borne_off {
                    buffer.push(then.moved(second, high), [second as u8, from as u8, 0, 0]);
                }
            }
        }
        buffer.len > 0
    }
}
