//! Fixed players that serve as baselines. [`Random`] plays random legal moves. [`Linear`] uses Gerald Tesauro's public evaluation of 1993
//! ("pubeval"), which is in the public domain. The evaluation is linear in 122 inputs, with one set of weights for races and one for all
//! other positions.
//!
//! A baseline must stay the same, so neither player is improved here.
//!
//! The weights are those of OpenBSD's games/backgammon/backgammon/pubeval.c and GNU Backgammon's pub_eval.c. The weights have five
//! decimals, and the inputs are multiples of 1/30. Scores are therefore computed as integers, and equal scores are ties on every machine.

use super::Player;
use math::rng::hash_1;
use worlds::backgammon::{Board, POINTS, Results, Roll};

/// Player that chooses one of the legal results of the roll (boards after the move). All results have equal probability. The choice is a
/// function of the seed, the board and the roll.
pub struct Random {
    key: [u32; 2],
    scratch: Results,
}

impl Random {
    pub fn new(seed: u32) -> Random {
        Random { key: [seed, 0x524E_444D], scratch: Results::new() }
    }
}

impl Player for Random {
    fn name(&self) -> String {
        "random".into()
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        for (board, roll) in decisions {
            let results = board.results(*roll, &mut self.scratch);
            let position = board.hash64();
            let dice = u32::from(roll.high()) << 4 | u32::from(roll.low());
            let [low, high] = [position as u32, (position >> 32) as u32];
            let key = [self.key[0] ^ high, self.key[1]];
            let word = hash_1(key, [low, dice])[0];
            let i = (u64::from(word) * results.len() as u64) >> 32;
            chosen.push(results[i as usize]);
        }
    }
}

/// Player that uses Tesauro's public evaluation. It plays the result with the highest score. If several results have this score, it plays
/// the first of them.
#[derive(Default)]
pub struct Linear {
    scratch: Results,
}

/// Integer for a score of 1: weights are in units of 10⁻⁵ and inputs in units of 1/30.
const ONE: f64 = 3_000_000.0;
/// Score of a board on which the player has borne off all checkers.
const DONE: i64 = i64::MAX;

impl Linear {
    pub fn new() -> Linear {
        Linear::default()
    }

    /// Returns the score of a board for the player who made the last move. `race` is true if there was no more contact between the sides
    /// before the move.
    pub fn score(after: &Board, race: bool) -> f64 {
        score(after, race) as f64 / ONE
    }
}

impl Player for Linear {
    fn name(&self) -> String {
        "linear".into()
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        for (board, roll) in decisions {
            let race = !board.contact();
            let mut best: Option<(i64, Board)> = None;
            for result in board.results(*roll, &mut self.scratch) {
                let score = score(result, race);
                if best.is_none_or(|(highest, _)| score > highest) {
                    best = Some((score, *result));
                }
            }
            chosen.push(best.expect("every roll has a result").1);
        }
    }
}

fn score(after: &Board, race: bool) -> i64 {
    let (mine, theirs) = (after.mine(), after.theirs());
    if mine.pips() == 0 {
        return DONE;
    }
    let weights = if race { &RACE } else { &CONTACT };
    let mut score = 0i64;
    for (row, [blot_of_theirs, one, two, three, more]) in weights.points.iter().enumerate() {
        let point = POINTS - row;
        match i64::from(mine.count(point)) {
            0 if theirs.count(25 - point) == 1 => score += 30 * blot_of_theirs,
            0 => {}
            1 => score += 30 * one,
            2 => score += 30 * two,
            3 => score += 30 * (two + three),
            many => score += 30 * two + 15 * (many - 3) * more,
        }
    }
    score + 15 * i64::from(theirs.bar()) * weights.their_bar + 2 * i64::from(mine.off()) * weights.off
}

/// Weights of the evaluation, in units of 10⁻⁵.
struct Weights {
    /// One row per point, from point 24 down to point 1. The columns are weights for: an opposing blot; exactly one own checker; two or
    /// more own checkers; exactly three own checkers; half the number of own checkers beyond three. With three or more own checkers, two
    /// weights are added: the third weight, and the fourth or the fifth.
    points: [[i64; 5]; POINTS],
    /// Weight for half the number of opposing checkers on the bar.
    their_bar: i64,
    /// Weight for the share of own checkers that are borne off.
    off: i64,
}

#[rustfmt::skip]
const CONTACT: Weights = Weights {
    points: [
        [25696, -66937, -166135, -202487, -253398],
        [-16092, -111725, -106654, -92830, -199558],
        [-110388, -80802, 9856, -62086, -127999],
        [-59220, -73667, 89032, -38933, -159847],
        [-150197, -60966, 156166, -47389, -180390],
        [-83425, -97741, -141371, 24500, 10970],
        [-136476, -105572, 115420, 11069, -38319],
        [-74816, -59244, 81116, -39511, 11424],
        [-73169, -56074, 109792, 15977, 13786],
        [-118435, -43363, 106169, -21329, 4798],
        [-94373, -22982, 122737, -13099, -6295],
        [-75882, -13658, 178389, 30416, 36797],
        [-69851, 13003, 123070, 40868, -21081],
        [-64073, 31061, 159554, 65718, 25429],
        [-80789, 8240, 178964, 54304, 41174],
        [-106161, 7851, 201451, 49786, 91936],
        [-90750, 5941, 183120, 58722, 128777],
        [-83711, -33248, 264983, 52698, 82132],
        [-58897, -118223, 335809, 62017, 57353],
        [-7276, -36214, 437655, 45481, 21746],
        [10504, -61977, 354001, 4612, -18108],
        [63211, -87046, 247673, -48016, -127157],
        [86505, -111342, 124612, -82385, -277082],
        [123606, -159529, 10438, -130206, -411520],
    ],
    their_bar: 562596,
    off: -275800,
};

#[rustfmt::skip]
const RACE: Weights = Weights {
    points: [
        [0, -17160, 27010, 29906, -8471],
        [0, -140375, -105121, 7217, -1351],
        [0, -129506, -216183, 13246, -103508],
        [0, -229847, -234631, 17253, 8302],
        [0, -127266, -287401, -7456, -34240],
        [0, -134640, -246556, -13022, -1591],
        [0, 27448, 60015, 48302, 25236],
        [0, 39521, 68178, 5281, 9266],
        [0, 24855, -6844, -37646, 5685],
        [0, 17405, 430, 74427, 576],
        [0, 12392, 31202, -91035, -16270],
        [0, 1418, -10839, -2781, -88035],
        [0, 107274, 200366, 116242, 22520],
        [0, 85631, 106349, 149549, 18966],
        [0, 37183, -50352, -14818, 12039],
        [0, 13681, 13978, 111245, -12707],
        [0, -22082, 20178, -6285, -52728],
        [0, -13597, -19412, -9308, -126062],
        [0, 305454, 516874, 150680, 535000],
        [0, 219605, 385390, 88296, 230052],
        [0, 92321, 108744, -11696, -78560],
        [0, -9795, -83050, -109167, -494251],
        [0, -100316, -366465, -256906, -967677],
        [0, -277982, -726713, -340177, -1232252],
    ],
    their_bar: 0,
    off: 342040,
};
