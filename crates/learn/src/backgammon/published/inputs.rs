//! Network inputs of a decision: 344 numbers, at most 50 of them nonzero. The side to move comes first, and each side numbers the points
//! from its own home. The inputs therefore do not identify the players.
//!
//! | first index | count | meaning |
//! | --- | --- | --- |
//! | 0 | 24 x 6 | side to move, for each point: at least 1, 2, 3, 4, 5 checkers; half the number beyond 5 |
//! | 144 | 3 | on the bar: at least one, at least two, half the number beyond 2 |
//! | 147 | 3 | borne off: share of the first, second and third group of five checkers |
//! | 150 | 4 | pips / 100; share of home points made; longest prime / 6; blots / 5 |
//! | 154 | 3 | place of the rear checker / 25; checkers in the opponent's home / 5; checkers in the own home / 15 |
//! | 157 | 157 | the same for the other side |
//! | 314 | 2 | 1 while the sides are in contact; lead in pips / 100 |
//! | 316 | 21 + 6 | roll (one-hot); numbers on the dice |
//! | 343 | 1 | 1 in the second half of a double |

use worlds::backgammon::{BAR, Board, OFF, POINTS, Roll, Side};

pub const INPUTS: usize = 344;

/// Offsets of inputs, from the table in the module documentation. `BAR_AT`, `OFF_AT` and `WHOLE_AT` are relative to the first input of a
/// side. `SIDE` is the number of inputs of a side.
const BAR_AT: usize = POINTS * 6;
const OFF_AT: usize = BAR_AT + 3;
const WHOLE_AT: usize = OFF_AT + 3;
const SIDE: usize = WHOLE_AT + 7;
const BOTH: usize = 2 * SIDE;
const ROLLS: usize = BOTH + 2;
const NUMBERS: usize = ROLLS + Roll::ALL.len();
const SECOND: usize = NUMBERS + 6;
const _: () = assert!(SECOND + 1 == INPUTS);
/// Size of buffers for the nonzero inputs of a decision. At most 50 inputs are nonzero: one for each of the 30 checkers, seven for each
/// side, and up to six others.
pub const MOST: usize = 64;

/// A decision about a move: a board and a roll. A double is played in two decisions, which are called halves. A half has up to two moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Board from the point of view of the player to move.
    pub board: Board,
    /// Index into [`Roll::ALL`].
    pub roll: u8,
    /// True for the second half of a double.
    pub second: bool,
}

impl Decision {
    pub fn new(board: Board, roll: Roll) -> Decision {
        Decision { board, roll: place_of(roll), second: false }
    }

    #[inline]
    pub fn roll(&self) -> Roll {
        Roll::ALL[usize::from(self.roll) % Roll::ALL.len()]
    }
}

/// Returns the index of a roll in [`Roll::ALL`].
#[inline]
pub fn place_of(roll: Roll) -> u8 {
    roll.high() * (roll.high() - 1) / 2 + roll.low() - 1
}

/// Writes the inputs that are not 0 to `to`, which has all inputs of the decision.
pub fn write(decision: &Decision, to: &mut [f32]) {
    each(decision, |input, x| to[input] = x);
}

/// Calls `put` with the index and the value of each nonzero input, in ascending order of the indices. Some of the passed values are 0.
#[inline(always)]
pub fn each(decision: &Decision, mut put: impl FnMut(usize, f32)) {
    let board = &decision.board;
    let mine = side(board.mine(), 0, &mut put);
    let theirs = side(board.theirs(), SIDE, &mut put);
    if board.contact() {
        put(BOTH, 1.0);
    }
    put(BOTH + 1, 0.01 * (theirs as f32 - mine as f32));
    let roll = decision.roll();
    put(ROLLS + usize::from(decision.roll), 1.0);
    put(NUMBERS + usize::from(roll.low()) - 1, 1.0);
    if !roll.is_double() {
        put(NUMBERS + usize::from(roll.high()) - 1, 1.0);
    }
    if decision.second {
        put(SECOND, 1.0);
    }
}

/// Calls `put` as [`each`] does, for the inputs of one side. Returns the side's pips. `start` is the side's first index.
#[inline(always)]
fn side(side: Side, start: usize, put: &mut impl FnMut(usize, f32)) -> u32 {
    const ON_POINTS: u32 = (1 << BAR) - 2;
    const HOME: u32 = 0b111_1110;
    let (some, many) = side.masks();
    let (mut left, mut pips, mut back, mut home) = (some & ON_POINTS, 0, 0, 0);
    while left != 0 {
        let point = left.trailing_zeros() as usize;
        left &= left - 1;
        let count = u32::from(side.count(point));
        let first = start + (point - 1) * 6;
        for reached in 0..count.min(5) {
            put(first + reached as usize, 1.0);
        }
        if count > 5 {
            put(first + 5, 0.5 * (count - 5) as f32);
        }
        pips += count * point as u32;
        back += if point > POINTS - 6 { count } else { 0 };
        home += if point <= 6 { count } else { 0 };
    }
    if some >> BAR & 1 == 1 {
        let count = u32::from(side.bar());
        pips += count * BAR as u32;
        back += count;
        put(start + BAR_AT, 1.0);
        if count > 1 {
            put(start + BAR_AT + 1, 1.0);
        }
        if count > 2 {
            put(start + BAR_AT + 2, 0.5 * (count - 2) as f32);
        }
    }
    if some >> OFF & 1 == 1 {
        for third in 0..u32::from(side.off()).div_ceil(5) {
            put(start + OFF_AT + third as usize, 0.2 * (u32::from(side.off()) - 5 * third).min(5) as f32);
        }
    }
    // `prime` becomes the length of the longest run of points with two or more checkers. Each step shortens every run by one point.
    let (mut run, mut prime) = (many & ON_POINTS, 0);
    while run != 0 {
        run &= run >> 1;
        prime += 1;
    }
    let of_side = start + WHOLE_AT;
    put(of_side, 0.01 * pips as f32);
    put(of_side + 1, (many & HOME).count_ones() as f32 / 6.0);
    put(of_side + 2, prime as f32 / 6.0);
    put(of_side + 3, (some & !many & ON_POINTS).count_ones() as f32 / 5.0);
    put(of_side + 4, side.rear() as f32 / BAR as f32);
    put(of_side + 5, back as f32 / 5.0);
    put(of_side + 6, home as f32 / 15.0);
    pips
}
