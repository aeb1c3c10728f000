//! Inputs of the strong learner's networks, computed from the board after a move. The inputs of a side are the number of its checkers in
//! every place, and handmade features such as shots, primes, anchors and timing. Each input is a small integer; 0 means that the feature is
//! absent. Each nonzero value of an input has its own row of first-layer weights (`math::graded`).
//!
//! The inputs describe a board and do not evaluate it. In a race, the only handmade features are pips, checkers not yet home, and the lead.
//! If handmade features are disabled, the inputs are only the numbers of checkers.

use crate::InputValue;
use math::graded::Grade;
use math::{Isa, kernel};
use std::sync::OnceLock;
use worlds::backgammon::{BAR, Board, Side};

/// Number of places of a side: borne off, 24 points, bar.
const PLACES: usize = BAR + 1;
/// Number of handmade features of each side.
pub const READ: usize = 24;
/// Number of handmade features that compare both sides.
const BOTH: usize = 2;
pub const USED: usize = 2 * (PLACES + READ) + BOTH;
/// Number of inputs, including padding to a multiple of eight, because inputs are compared eight at a time.
pub const INPUTS: usize = USED.next_multiple_of(8);

pub type Inputs = [u8; INPUTS];

/// Rule for the first-layer rows of an input. Rows are computed from learned vectors, which are called steps. An input has one row for each
/// nonzero value.
#[derive(Clone, Copy)]
enum InputKind {
    /// The row of value v is the row of value v - 1 plus a learned step times a scale. The fields are the number of learned steps and the
    /// scale. Values above the number of steps use the last step again.
    Graded(usize, f32),
    /// Each value has an independent learned row.
    Apart,
}

/// Maximum value and [`InputKind`] of each handmade feature of a side, in the order of [`read_side`].
const SIDE: [(usize, InputKind); READ] = [
    (36, InputKind::Graded(36, 0.2)),  // number of rolls that hit a blot, of 36
    (24, InputKind::Graded(24, 0.25)), // mean number of pips that the opponent loses by hits, over all rolls
    (28, InputKind::Apart),            // home points made (0 to 6) and opposing checkers on the bar (0 to 3), combined into one number
    (63, InputKind::Apart),            // home points made, as bits
    (7, InputKind::Graded(7, 0.7)),    // length of the longest prime in front of the opponent's rear checker
    (6, InputKind::Graded(6, 0.7)),    // most points made within six places in front of the opponent's rear checker
    (36, InputKind::Graded(36, 0.2)),  // number of rolls with which the opponent's rear checker escapes
    (36, InputKind::Graded(36, 0.2)),  // number of rolls without escape from the worst place, from the opponent's rear checker to point 11
    (25, InputKind::Graded(25, 0.25)), // place of the rearmost checker
    (15, InputKind::Graded(15, 0.4)),  // number of checkers behind the opponent's rear checker
    (7, InputKind::Apart),             // foremost anchor: 7 for point 18, down to 1 for point 24; 0 for none
    (4, InputKind::Graded(4, 0.7)),    // number of anchors on points 18 to 24
    (10, InputKind::Graded(10, 0.5)),  // number of checkers on point 19 or farther back
    (40, InputKind::Graded(40, 0.2)),  // number of pips, in units of six
    (24, InputKind::Graded(24, 0.25)), // pips until the checkers on points 7 to 18 are home, in units of four
    (8, InputKind::Graded(8, 0.5)),    // number of blots
    (5, InputKind::Graded(5, 0.7)),    // number of blots at home
    (7, InputKind::Graded(7, 0.5)),    // number of points made
    (10, InputKind::Graded(10, 0.5)),  // number of checkers beyond three on a point, summed over all points
    (24, InputKind::Graded(24, 0.25)), // number of legal moves with one die, summed over the dice 1 to 6, in units of two
    (18, InputKind::Graded(18, 0.3)),  // number of points from 7 to 24 that one die reaches
    (15, InputKind::Graded(15, 0.4)),  // number of checkers on points 1 to 3
    (63, InputKind::Graded(63, 0.15)), // in a race: pips, in units of two
    (15, InputKind::Graded(15, 0.4)),  // in a race: number of checkers not yet home
];
const TOGETHER: [(usize, InputKind); BOTH] = [
    (48, InputKind::Graded(48, 0.2)), // in contact: lead in pips from -96, in units of four
    (80, InputKind::Graded(80, 0.2)), // in a race: lead in pips from -40
];

/// Description of each handmade feature of a side; 0 means that the feature is absent.
#[cfg(feature = "export")]
pub const NAMES: [&str; READ] = [
    "rolls that hit a blot, of 36",
    "mean pips that the opponent loses by hits, over all rolls",
    "1 + 4 x home points made + opposing checkers on the bar (at most 3)",
    "home points made, as bits",
    "length of the longest prime in front of the opponent's rear checker",
    "most points made within six places in front of the opponent's rear checker",
    "rolls with which the opponent's rear checker escapes",
    "rolls without escape from the worst place, from the opponent's rear checker to point 11",
    "place of the rearmost checker",
    "checkers behind the opponent's rear checker",
    "foremost anchor: 7 for point 18, down to 1 for point 24",
    "anchors on points 18 to 24",
    "checkers on point 19 or farther back",
    "pips in units of six, rounded up",
    "pips until the checkers on points 7 to 18 are home, in units of four",
    "blots",
    "blots at home",
    "points made",
    "checkers beyond three on a point, summed over all points",
    "legal moves with one die, summed over the dice 1 to 6, in units of two",
    "points from 7 to 24 that one die reaches",
    "checkers on points 1 to 3",
    "in a race: pips in units of two, rounded up",
    "in a race: checkers not yet home",
];
#[cfg(feature = "export")]
pub const NAMES_TOGETHER: [&str; BOTH] =
    ["in contact: (lead in pips + 96) / 4, from 0 to 48", "in a race: lead in pips + 40, from 0 to 80"];

/// First-layer rows of all inputs. `most` has the largest value of each input. `grades` has for each row the learned step from which the
/// row is computed.
pub struct Layout {
    /// Index of the row for value 1, for each input.
    first: [u16; USED],
    most: [u8; USED],
    pub grades: Vec<Grade>,
    /// Total number of learned steps.
    pub steps: usize,
}

/// Index of the row that is active for every board.
pub const ALWAYS: u16 = 0;

pub fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT.get_or_init(|| {
        let place = (15, InputKind::Graded(7, 1.0));
        let side = || std::iter::repeat_n(place, PLACES).chain(SIDE);
        let all = side().chain(side()).chain(TOGETHER);
        let mut layout = Layout { first: [0; USED], most: [0; USED], grades: vec![Grade { step: 0, scale: 1.0, onward: false }], steps: 1 };
        for (input, (most, kind)) in all.enumerate() {
            layout.first[input] = layout.grades.len() as u16;
            layout.most[input] = most as u8;
            let (own, scale) = match kind {
                InputKind::Graded(own, scale) => (own, scale),
                InputKind::Apart => (most, 1.0),
            };
            for value in 0..most {
                let step = (layout.steps + value.min(own - 1)) as u32;
                let onward = matches!(kind, InputKind::Graded(..)) && value > 0;
                layout.grades.push(Grade { step, scale, onward });
            }
            layout.steps += own;
        }
        layout
    })
}

impl Layout {
    pub fn rows(&self) -> usize {
        self.grades.len()
    }

    /// Returns true if no input exceeds its largest value and the padding is 0.
    pub fn is_valid(&self, inputs: &Inputs) -> bool {
        let (used, rest) = inputs.split_at(USED);
        used.iter().zip(&self.most).all(|(value, most)| value <= most) && rest.iter().all(|&value| value == 0)
    }

    /// Returns the number of inputs without the padding.
    #[cfg(feature = "export")]
    pub fn used(&self) -> usize {
        USED
    }

    /// Returns for each input the range of its rows, from the row for value 1 to the row for the largest value.
    #[cfg(feature = "export")]
    pub fn rows_of(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let first = self.first.iter().map(|&first| usize::from(first));
        first.zip(&self.most).map(|(first, &most)| first..first + usize::from(most))
    }

    fn row(&self, input: usize, value: u8) -> u16 {
        self.first[input] + u16::from(value) - 1
    }

    /// Returns the learned steps of a row, each with its scale. The row is the sum of the scaled steps.
    fn steps_of(&self, row: u16) -> Vec<(usize, f32)> {
        let mut terms = Vec::new();
        for Grade { step, scale, onward } in self.grades[..=usize::from(row)].iter().rev() {
            terms.push((*step as usize, *scale));
            if !onward {
                break;
            }
        }
        terms
    }

    /// Returns the inputs of a board that are not 0: each with its value and the learned steps of its row. The first input is always 1.
    pub fn values(&self, inputs: &Inputs) -> Vec<InputValue> {
        let input = |value: u8, row: u16| InputValue { name: String::new(), value: value.into(), terms: self.steps_of(row) };
        let mut values = vec![input(1, ALWAYS)];
        for (i, &value) in inputs[..USED].iter().enumerate() {
            if value > 0 {
                values.push(input(value, self.row(i, value)));
            }
        }
        values
    }

    /// Writes to `rows` the indices of all active rows: `ALWAYS` and one row for each nonzero input.
    pub fn all(&self, inputs: &Inputs, rows: &mut Vec<u16>) {
        rows.clear();
        rows.push(ALWAYS);
        for (input, &value) in inputs[..USED].iter().enumerate() {
            if value > 0 {
                rows.push(self.row(input, value));
            }
        }
    }

    /// Computes the first-layer rows to add and to remove if the inputs change from `from` to `to`.
    pub fn changes(&self, isa: Isa, from: &Inputs, to: &Inputs, changes: &mut Changes) {
        let first = &self.first;
        kernel!(isa, |_s: S, first: &[u16; USED], from: &Inputs, to: &Inputs, changes: &mut Changes| {
            let (mut added, mut taken) = (0, 0);
            let eights = from.as_chunks::<8>().0.iter().zip(to.as_chunks::<8>().0);
            for (eight, (a, b)) in eights.enumerate() {
                let mut differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
                while differ != 0 {
                    let byte = differ.trailing_zeros() as usize / 8;
                    differ &= !(255 << (8 * byte));
                    let input = 8 * eight + byte;
                    // Both writes are unconditional. If a value is 0, its entry is not counted, and the next write replaces the entry.
                    let before = first[input].wrapping_sub(1);
                    changes.added[added] = before.wrapping_add(u16::from(b[byte]));
                    changes.taken[taken] = before.wrapping_add(u16::from(a[byte]));
                    added += usize::from(b[byte] > 0);
                    taken += usize::from(a[byte] > 0);
                }
            }
            changes.lens = (added, taken);
        });
    }
}

/// First-layer rows to add (`added`) and to remove (`taken`) after a change of the inputs. `lens` are the numbers of used entries in both
/// arrays.
pub struct Changes {
    added: [u16; INPUTS],
    taken: [u16; INPUTS],
    lens: (usize, usize),
}

impl Default for Changes {
    fn default() -> Self {
        Changes { added: [0; INPUTS], taken: [0; INPUTS], lens: (0, 0) }
    }
}

impl Changes {
    pub fn added(&self) -> &[u16] {
        &self.added[..self.lens.0]
    }

    pub fn taken(&self) -> &[u16] {
        &self.taken[..self.lens.1]
    }
}

/// Checkers of a side. `counts` is the number of checkers in each place. `some` is a mask of places with at least one checker, and `many`
/// is a mask of places with at least two. Bit p represents place p. Bit 0 (borne off) is clear in both masks.
struct View {
    counts: [u8; PLACES],
    some: u32,
    many: u32,
    pips: u32,
}

impl View {
    #[inline(always)]
    fn new(side: Side) -> View {
        let counts = side.counts();
        let (some, many) = side.masks();
        let pips = counts.iter().zip(0u32..).map(|(&count, place)| u32::from(count) * place).sum();
        View { counts, some: some & !1, many: many & !1, pips }
    }

    #[inline(always)]
    fn blots(&self) -> u32 {
        self.some & !self.many & POINTS
    }

    /// Returns the place of the rearmost checker, or 0 if all are borne off.
    #[inline(always)]
    fn rear(&self) -> u32 {
        31 - (self.some | 1).leading_zeros()
    }
}

/// Mask of the points 1 to 24.
const POINTS: u32 = (1 << BAR) - 2;
const HOME: u32 = 0b111_1110;

/// Converts a mask of places from one side's numbering to the other side's numbering. Point p becomes 25 - p, and the bar becomes 0.
#[inline(always)]
fn mirrored(mask: u32) -> u32 {
    mask.reverse_bits() >> (31 - BAR)
}

/// Computes the inputs of each board. The boards are positions after a move. Integer arithmetic makes the result the same on every
/// instruction set.
pub fn read(isa: Isa, handmade: bool, boards: &[Board], inputs: &mut [Inputs]) {
    let (most, ways_past) = (&layout().most, ways_past());
    kernel!(isa, |_s: S, most: &[u8; USED], ways_past: &[u8; 4096], handmade: bool, boards: &[Board], inputs: &mut [Inputs]| {
        for (board, inputs) in boards.iter().zip(inputs) {
            *inputs = read_one(most, ways_past, handmade, board);
        }
    });
}

#[inline(always)]
fn read_one(most: &[u8; USED], ways_past: &[u8; 4096], handmade: bool, board: &Board) -> Inputs {
    let mut inputs = [0; INPUTS];
    let (mine, theirs) = (View::new(board.mine()), View::new(board.theirs()));
    inputs[..PLACES].copy_from_slice(&mine.counts);
    const SECOND: usize = PLACES + READ;
    inputs[SECOND..SECOND + PLACES].copy_from_slice(&theirs.counts);
    if !handmade {
        return inputs;
    }
    let lead = theirs.pips as i32 - mine.pips as i32;
    if board.contact() {
        inputs[PLACES..SECOND].copy_from_slice(&read_side(ways_past, &mine, &theirs));
        inputs[SECOND + PLACES..2 * SECOND].copy_from_slice(&read_side(ways_past, &theirs, &mine));
        inputs[2 * SECOND] = ((lead + 96) / 4).clamp(0, 48) as u8;
    } else {
        for (at, side) in [(PLACES, &mine), (SECOND + PLACES, &theirs)] {
            inputs[at + READ - 2] = side.pips.div_ceil(2).min(63) as u8;
            inputs[at + READ - 1] = side.counts[7..].iter().sum();
        }
        inputs[2 * SECOND + 1] = (lead + 40).clamp(0, 80) as u8;
    }
    for (value, &most) in inputs.iter_mut().zip(most) {
        *value = (*value).min(most);
    }
    inputs
}

/// Computes the handmade features of `side` while the sides are in contact.
#[inline(always)]
fn read_side(ways_past: &[u8; 4096], side: &View, other: &View) -> [u8; READ] {
    let (walls, targets) = (mirrored(other.many) & POINTS, mirrored(other.blots()));
    let (shots, cost) = hits(side, walls, targets);
    let made = side.many & POINTS;
    let home = (made & HOME).count_ones() as usize;
    let waiting = usize::from(other.counts[BAR].min(3));
    // `rear` is the place of the opponent's rear checker in this side's numbering. `ahead` is a mask of the points that this side has made
    // in front of that checker.
    let rear = BAR as u32 - other.rear();
    let ahead = made & (!1 << rear);
    let escapes = |place: u32| ways_past[(made >> (place + 1)) as usize & 4095];
    let worst = (rear..=rear.max(11)).map(escapes).min().unwrap_or(36);
    let anchors = made >> 18 & 127;
    let far = side.counts[19..].iter().sum();
    let spare: u32 = (7..19).map(|place| u32::from(side.counts[place]) * (place as u32 - 6)).sum();
    let stacked = side.counts[1..BAR].iter().map(|&count| count.saturating_sub(3)).sum();
    let (mut moves, mut reach) = (0, 0);
    for die in 1..=6 {
        let to = side.some >> die & !walls & POINTS;
        moves += to.count_ones();
        reach |= to;
    }
    let lowest = side.counts[1..4].iter().sum();
    [
        shots,
        cost,
        (1 + 4 * home + waiting) as u8,
        (made >> 1 & 63) as u8,
        prime(ahead),
        broken_prime(ahead),
        escapes(rear),
        36 - worst,
        side.rear() as u8,
        side.counts[rear as usize + 1..].iter().sum(),
        if anchors == 0 { 0 } else { 7 - anchors.trailing_zeros() as u8 },
        anchors.count_ones() as u8,
        far,
        side.pips.div_ceil(6) as u8,
        (spare / 4).min(24) as u8,
        side.blots().count_ones() as u8,
        (side.blots() & HOME).count_ones() as u8,
        made.count_ones() as u8,
        stacked,
        (moves / 2) as u8,
        (reach >> 7 & ((1 << 18) - 1)).count_ones() as u8,
        lowest,
        0,
        0,
    ]
}

/// Returns two numbers: how many of the 36 rolls hit at least one of the `targets`, and how many pips the opponent loses by hits. The loss
/// is the mean over all 36 rolls, rounded down. If a roll can hit several targets, only the greatest loss counts. `walls` are the points
/// that the opponent holds. Both masks use the numbering of `side`.
#[inline(always)]
fn hits(side: &View, walls: u32, targets: u32) -> (u8, u8) {
    if targets == 0 {
        return (0, 0);
    }
    let bar = 1u32 << BAR;
    let waiting = side.counts[BAR];
    let free = side.some & POINTS;
    // Masks of places that one die reaches: `lands` from points, and `enters` from the bar. `goes` are the places of `lands` that the
    // opponent does not hold. From these places, the checker can continue with the other die.
    let (mut lands, mut goes, mut enters) = ([0u32; 7], [0u32; 7], [0u32; 7]);
    for die in 1..=6 {
        lands[die] = free >> die;
        goes[die] = lands[die] & !walls;
        enters[die] = bar >> die & !walls;
    }
    let (mut ways, mut cost) = (0, 0);
    let mut count = |hit: u32, weight: u32| {
        let hit = hit & targets;
        if hit != 0 {
            ways += weight;
            cost += weight * (31 - hit.leading_zeros());
        }
    };
    for high in 1..=6usize {
        for low in 1..high {
            let hit = match waiting {
                0 => lands[high] | lands[low] | goes[high] >> low | goes[low] >> high,
                1 => {
                    let then = |first: usize, die: usize| {
                        if enters[first] == 0 { 0 } else { enters[first] | lands[die] | enters[first] >> die }
                    };
                    then(high, low) | then(low, high)
                }
                _ => enters[high] | enters[low],
            };
            count(hit, 2);
        }
        let mut at = if waiting == 0 { free } else { 0 };
        let (mut hit, mut left) = (0, 4);
        if waiting > 0 && enters[high] != 0 {
            hit = enters[high];
            left = 4 - u32::from(waiting.min(4));
            at = free | enters[high];
        }
        for _ in 0..left {
            at = at >> high & !walls;
            hit |= at;
        }
        count(hit, 1);
    }
    (ways as u8, (cost / 36) as u8)
}

/// Returns the length of the longest run of adjacent points in `made`.
#[inline(always)]
pub fn prime(mut made: u32) -> u8 {
    let mut length = 0;
    while made != 0 {
        made &= made >> 1;
        length += 1;
    }
    length
}

/// Returns the largest number of points of `made` in any window of six places. All windows are counted in parallel: the counts are binary
/// numbers, and each mask holds one binary digit of all counts.
#[inline(always)]
pub fn broken_prime(made: u32) -> u8 {
    let (one, two) = (made ^ made >> 1, made & made >> 1);
    let ones = one ^ one >> 2 ^ one >> 4;
    let carried = one & one >> 2 | one & one >> 4 | one >> 2 & one >> 4;
    let (a, b, c, d) = (two, two >> 2, two >> 4, carried);
    let (twos, fours) = (a ^ b ^ c ^ d, a & b | c & d | (a | b) & (c | d));
    let (mut most, mut windows) = (0, !0);
    for (worth, sums) in [(4, fours), (2, twos), (1, ones)] {
        if windows & sums != 0 {
            windows &= sums;
            most += worth;
        }
    }
    most
}

/// Returns a table with the number of rolls (of 36) with which a checker can move forward by more than six places. The table index is a
/// mask of the next twelve places. A set bit is a point that the opponent holds.
pub fn ways_past() -> &'static [u8; 4096] {
    static WAYS: OnceLock<[u8; 4096]> = OnceLock::new();
    WAYS.get_or_init(|| {
        std::array::from_fn(|walls| {
            let open = |pips: usize| pips > 12 || walls >> (pips - 1) & 1 == 0;
            let mut ways = 0;
            for high in 1..=6 {
                for low in 1..high {
                    let passes = high + low > 6 && open(high + low) && (open(high) || open(low));
                    ways += if passes { 2 } else { 0 };
                }
                let steps = (1..=4).take_while(|step| open(step * high)).last().unwrap_or(0);
                ways += u8::from(steps * high > 6);
            }
            ways
        })
    })
}
