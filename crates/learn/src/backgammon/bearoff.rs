//! Exact bear-off tables for a side whose checkers are all home, on the points 1 to 6. There are 54,264 positions of up to fifteen checkers
//! on six points. For each position, the tables contain the probability that checkers remain after n rolls. For each position of fifteen
//! checkers, the tables also contain the probability that all fifteen remain after n rolls. The probability of winning follows from the
//! rows of both sides.
//!
//! The tables assume that each side minimizes its own mean number of rolls, as in one-sided bear-off databases. For the first probability,
//! the number of rolls until the last checker is off is minimized; for the second, the number until the first checker is off. Under this
//! assumption, the tables are exact to rounding. They ignore strategies that react to the other side or aim for a gammon. The tables are
//! built at first use, in tens of milliseconds.

use super::outcomes::{OUTCOMES, OutcomeProbs};
use std::sync::OnceLock;
use worlds::backgammon::{Board, CHECKERS, Roll, Side};

const HOME: usize = 6;
const MOST: usize = CHECKERS as usize;
/// Number of positions with at most fifteen checkers: C(21, 6).
const POSITIONS: usize = 54_264;
/// Number of positions with fewer than fifteen checkers: C(20, 6). These positions come first in the tables.
const SOME_OFF: usize = 38_760;
/// Number of entries of a row of [`Tables::left`]. After this number of rolls, the probability that checkers remain is below 10⁻⁹, even for
/// the slowest position.
const ROLLS: usize = 26;
/// Number of entries of a row of [`Tables::whole`]. After this number of rolls, at least one checker is off, even if all fifteen began on
/// the sixth point.
const FIRST: usize = 10;

/// `BINOMIAL[i][n]` is the binomial coefficient C(n, i + 1).
const BINOMIAL: [[u32; MOST + HOME]; HOME] = {
    let mut table = [[0; MOST + HOME]; HOME];
    let mut n = 0;
    while n < MOST + HOME {
        table[0][n] = n as u32;
        n += 1;
    }
    let mut i = 1;
    while i < HOME {
        let mut n = 1;
        while n < MOST + HOME {
            table[i][n] = table[i][n - 1] + table[i - 1][n - 1];
            n += 1;
        }
        i += 1;
    }
    table
};

/// Number of checkers on each of the points 1 to 6.
type Points = [u8; HOME];

/// Returns the table index of a position. Positions are ordered by the number of checkers on points 1 to 6, then on points 2 to 6, then on
/// points 3 to 6, and so on. Every move therefore leads to an earlier position.
fn place(points: &Points) -> usize {
    let mut sum = 0;
    let mut place = 0;
    for i in 0..HOME {
        sum += usize::from(points[HOME - 1 - i]);
        place += BINOMIAL[i][sum + i];
    }
    place as usize
}

/// Returns all positions, in the order of their table index.
fn positions() -> impl Iterator<Item = Points> {
    let mut sums = Some([0u8; HOME]);
    std::iter::from_fn(move || {
        let now = sums?;
        let mut next = now;
        sums = (0..HOME).find(|&i| now[i] < now.get(i + 1).copied().unwrap_or(CHECKERS)).map(|i| {
            next[i] += 1;
            next[..i].fill(0);
            next
        });
        let mut points = [0; HOME];
        for i in 0..HOME {
            points[HOME - 1 - i] = now[i] - if i > 0 { now[i - 1] } else { 0 };
        }
        Some(points)
    })
}

struct Tables {
    /// `left[place][n]` is the probability that checkers remain after n rolls.
    left: Vec<[f32; ROLLS]>,
    /// `whole[place - SOME_OFF][n]` is the probability that all fifteen checkers remain after n rolls.
    whole: Vec<[f32; FIRST]>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let whole = rolls_left(SOME_OFF);
        let first = |row: &[f32; ROLLS]| std::array::from_fn(|n| row[n]);
        Tables { left: rolls_left(1), whole: whole[SOME_OFF..].iter().map(first).collect() }
    })
}

/// Computes one row for each position. The first `done` positions are targets. Entry n of a row is the probability that no target is
/// reached within n rolls. Every move minimizes the mean number of rolls until a target is reached.
fn rolls_left(done: usize) -> Vec<[f32; ROLLS]> {
    let mut left = vec![[0.0; ROLLS]; POSITIONS];
    let mut mean = vec![0.0f64; POSITIONS];
    // `best[place][die - 1][moves]` is the best position that is reachable from position `place` with `moves` moves of the die.
    let mut best = vec![[[0u16; 5]; HOME]; POSITIONS];
    for (now, points) in positions().enumerate() {
        if now < done {
            best[now] = [[now as u16; 5]; HOME];
            continue;
        }
        let mut after = [[None; HOME]; HOME];
        for die in 1..=HOME {
            let farthest = points.iter().rposition(|&count| count > 0).unwrap_or(0) + 1;
            for from in 1..=farthest {
                let off = from == die || from < die && from == farthest;
                if points[from - 1] > 0 && (from > die || off) {
                    let mut then = points;
                    then[from - 1] -= 1;
                    if from > die {
                        then[from - die - 1] += 1;
                    }
                    after[die - 1][from - 1] = Some(place(&then));
                }
            }
        }
        let better = |one: u16, other: u16| {
            if mean[usize::from(other)] < mean[usize::from(one)] { other } else { one }
        };
        let least = |die: usize, by: usize, moves: usize, best: &[[[u16; 5]; HOME]]| {
            after[die - 1].iter().flatten().map(|&then| best[then][by - 1][moves]).reduce(better)
        };
        let here = now as u16;
        for die in 1..=HOME {
            best[now][die - 1][0] = here;
            for moves in 1..5 {
                best[now][die - 1][moves] = least(die, die, moves - 1, &best).unwrap_or(here);
            }
        }
        let mut rolls = 0.0;
        let mut row = [0.0; ROLLS];
        row[0] = 1.0;
        for roll in Roll::ALL {
            let (high, low) = (usize::from(roll.high()), usize::from(roll.low()));
            let then = if roll.is_double() {
                best[now][high - 1][4]
            } else {
                let orders = [least(high, low, 1, &best), least(low, high, 1, &best)];
                orders.into_iter().flatten().reduce(better).unwrap_or(here)
            };
            let ways = roll.ways() as f32;
            rolls += f64::from(roll.ways()) * mean[usize::from(then)];
            for n in 1..ROLLS {
                row[n] += ways * left[usize::from(then)][n - 1];
            }
        }
        row[1..].iter_mut().for_each(|chance| *chance /= 36.0);
        left[now] = row;
        mean[now] = 1.0 + rolls / 36.0;
    }
    left
}

fn home(side: Side) -> Option<Points> {
    let counts = side.counts();
    let home = side.rear() <= HOME;
    home.then(|| std::array::from_fn(|i| counts[i + 1]))
}

/// Returns the outcome probabilities of a race for the player who has just moved, or `None` if a checker of either side is not home.
pub fn outcome_probs(board: &Board) -> Option<OutcomeProbs> {
    let (mine, theirs) = (place(&home(board.mine())?), place(&home(board.theirs())?));
    let tables = tables();
    let (my_left, their_left) = (&tables.left[mine], &tables.left[theirs]);
    let none_whole = [0.0; FIRST];
    let whole = |place: usize| if place < SOME_OFF { &none_whole } else { &tables.whole[place - SOME_OFF] };
    let (my_whole, their_whole) = (whole(mine), whole(theirs));
    let mut probs = [0.0; OUTCOMES];
    for n in 1..ROLLS {
        // The other player rolls first. Therefore my n-th roll comes after their n-th roll.
        let (i_end, they_end) = (my_left[n - 1] - my_left[n], their_left[n - 1] - their_left[n]);
        probs[0] += i_end * their_left[n];
        probs[1] += i_end * their_whole.get(n).unwrap_or(&0.0);
        probs[3] += they_end * my_left[n - 1];
        probs[4] += they_end * my_whole.get(n - 1).unwrap_or(&0.0);
    }
    probs[0] -= probs[1];
    probs[3] -= probs[4];
    Some(probs)
}

/// Returns two rows of probabilities for a side, indexed by the number of rolls from 0. The first row is the probability that checkers
/// remain, the second that all fifteen checkers remain. The second row is empty if a checker is off. Returns `None` if a checker is not
/// home.
pub fn rolls(side: Side) -> Option<(&'static [f32], &'static [f32])> {
    let (place, tables) = (place(&home(side)?), tables());
    let whole: &[f32] = if place < SOME_OFF { &[] } else { &tables.whole[place - SOME_OFF] };
    Some((&tables.left[place], whole))
}
