//! What a position is worth with the doubling cube, from the chances of its six endings: R. Janowski's interpolation ("Take-Points
//! in Money Games", 1993) between a cube that is never turned again, which is worth nothing beyond its value (dead), and one that is
//! always turned at the very moment at which the other may just as well pass (live), in money play as in a match. How far the truth
//! lies towards the live cube is GNU Backgammon's choice: 0.68 while the sides are in contact, 0.6 to 0.7 by pips in a race, 0.6 in
//! the bear-off. Gammons stay as likely among games won and lost as the chances say.
//!
//! It refuses to estimate chances. Those of matches are [`super::Match::chance`].

use super::{Board, Chances, Cube, Ending, Game, Stakes};

/// Turns of the cube that are followed; what a later one would change is less than a millionth.
const TURNS: u32 = 12;
/// A double that gains no more than this gains nothing.
const NOTHING: f64 = 1e-9;

/// What the one on roll has by each decision, in points a game at the present cube: winning it undoubled, without a gammon, is 1 and
/// losing it so is -1, also in a match, where chances to win the match lie between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeEquities {
    pub no_double: f64,
    pub double_take: f64,
    /// 1 always.
    pub double_pass: f64,
    /// Whether the one on roll may turn the cube, or has done so.
    pub may_double: bool,
    /// In a match: the chance to win it by each of the three.
    pub match_chances: Option<[f64; 3]>,
}

impl CubeEquities {
    /// The other would do better to take.
    pub fn take(&self) -> bool {
        self.double_take <= self.double_pass
    }

    /// After the other's best answer.
    pub fn doubled(&self) -> f64 {
        self.double_take.min(self.double_pass)
    }

    pub fn double(&self) -> bool {
        self.may_double && self.doubled() > self.no_double
    }

    /// To play on for a gammon is worth more than what a double that is passed brings.
    pub fn too_good(&self) -> bool {
        self.may_double && !self.take() && self.no_double > self.double_pass
    }

    /// Of the position, when all decide for the best.
    pub fn best(&self) -> f64 {
        if self.double() { self.doubled() } else { self.no_double }
    }
}

/// Who may turn the cube, seen by the one on roll.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Me,
    Them,
    Either,
}

impl Game {
    /// Of the one on roll, who estimates these chances before the roll.
    pub fn cube_equities(&self, chances: &Chances) -> CubeEquities {
        let Cube { value, owner } = self.cube();
        let owner = match owner {
            None => Owner::Either,
            Some(player) if player == self.on_roll() => Owner::Me,
            Some(_) => Owner::Them,
        };
        let efficiency = efficiency(&self.board());
        let worth = |owner, value| {
            let dead = self.line(chances, value).at(win(chances));
            let live = if self.is_crawford() { dead } else { self.live(chances, owner, value) };
            dead + efficiency * (live - dead)
        };
        let all = [worth(owner, value), worth(Owner::Them, 2 * value), self.worth(1, value)];
        let points = all.map(|worth| self.points(worth));
        CubeEquities {
            no_double: points[0],
            double_take: points[1],
            double_pass: points[2],
            may_double: self.may_double() || self.is_doubled(),
            match_chances: matches!(self.stakes(), Stakes::Match(_)).then_some(all),
        }
    }

    /// Of the one on roll, whose chances these are, where nobody turns the cube any more: on the scale of [`CubeEquities`], so that of two
    /// results the one that wins the match more often has more.
    pub fn equity(&self, chances: &Chances) -> f64 {
        match self.stakes() {
            Stakes::Money => chances.equity(),
            Stakes::Match(_) => self.points(self.line(chances, self.cube().value).at(win(chances))),
        }
    }

    /// What something is worth, in points a game at the present cube; nothing where a game decides as good as nothing.
    fn points(&self, worth: f64) -> f64 {
        let value = self.cube().value;
        let (lost, won) = (self.worth(-1, value), self.worth(1, value));
        if won - lost > NOTHING { (2.0 * worth - won - lost) / (won - lost) } else { 0.0 }
    }

    /// With a live cube, a curve of straight pieces between the chances at which somebody would cash.
    fn live(&self, chances: &Chances, owner: Owner, value: u32) -> f64 {
        let line = self.line(chances, value);
        let theirs = if owner == Owner::Me { (0.0, line.lost) } else { self.their_cash(chances, value, TURNS) };
        let mine = if owner == Owner::Them { (1.0, line.won) } else { self.my_cash(chances, value, TURNS) };
        let win = win(chances);
        let between = |(from, low): (f64, f64), (to, high): (f64, f64)| {
            if to > from { low + (high - low) * (win - from) / (to - from) } else { high }
        };
        if win < theirs.0 {
            between((0.0, line.lost), theirs)
        } else if win > mine.0 {
            between(mine, (1.0, line.won))
        } else {
            between(theirs, mine)
        }
    }

    /// The chance to win at which a double of the one on roll may as well be passed, and what that is worth; the end of the line where
    /// a double cannot gain.
    fn my_cash(&self, chances: &Chances, value: u32, turns: u32) -> (f64, f64) {
        let (line, doubled, cash) = (self.line(chances, value), self.line(chances, 2 * value), self.worth(1, value));
        if turns == 0 || doubled.won <= cash + NOTHING {
            return (1.0, line.won);
        }
        let (from, low) = self.their_cash(chances, 2 * value, turns - 1);
        ((from + (cash - low) * (1.0 - from) / (doubled.won - low)).min(1.0), cash)
    }

    /// The same for the other's double.
    fn their_cash(&self, chances: &Chances, value: u32, turns: u32) -> (f64, f64) {
        let (line, doubled, cash) = (self.line(chances, value), self.line(chances, 2 * value), self.worth(-1, value));
        if turns == 0 || doubled.lost >= cash - NOTHING {
            return (0.0, line.lost);
        }
        let (to, high) = self.my_cash(chances, 2 * value, turns - 1);
        ((to * (cash - doubled.lost) / (high - doubled.lost)).max(0.0), cash)
    }

    /// Whether the one on roll, who estimates these chances, should turn the cube.
    pub fn should_double(&self, chances: &Chances) -> bool {
        self.may_double() && self.cube_equities(chances).double()
    }

    /// Whether the one who is doubled, who estimates these chances, should take.
    pub fn should_take(&self, chances: &Chances) -> bool {
        self.is_doubled() && self.cube_equities(&chances.turned()).take()
    }

    /// What the one on roll has after winning (or losing) so many points times the cube.
    fn worth(&self, points: i32, cube: u32) -> f64 {
        match self.stakes() {
            Stakes::Money => f64::from(points) * f64::from(cube),
            Stakes::Match(standing) => {
                let winner = if points > 0 { self.on_roll() } else { self.on_roll().other() };
                let points = points.unsigned_abs().saturating_mul(cube);
                standing.after(Ending { winner, points }).chance(self.on_roll())
            }
        }
    }

    /// What winning and losing are worth to the one on roll, with gammons as often among them as these chances say.
    fn line(&self, chances: &Chances, cube: u32) -> Line {
        let mean = |of: &[f32], sign: i32| {
            let all: f64 = of.iter().copied().map(f64::from).sum();
            let sum = of.iter().zip(1..).map(|(&chance, n)| f64::from(chance) * self.worth(sign * n, cube));
            if all > 0.0 { sum.sum::<f64>() / all } else { self.worth(sign, cube) }
        };
        Line { won: mean(&chances.0[..3], 1), lost: mean(&chances.0[3..], -1) }
    }
}

/// Worth as a function of the chance to win.
struct Line {
    won: f64,
    lost: f64,
}

impl Line {
    fn at(&self, win: f64) -> f64 {
        self.lost + win * (self.won - self.lost)
    }
}

/// However the six were rounded.
fn win(chances: &Chances) -> f64 {
    chances.win().clamp(0.0, 1.0)
}

/// How much of what a live cube is worth a cube is worth.
fn efficiency(board: &Board) -> f64 {
    if board.contact() {
        0.68
    } else if board.mine().rear() <= 6 && board.theirs().rear() <= 6 {
        0.6
    } else {
        (0.55 + 0.00125 * f64::from(board.mine().pips())).clamp(0.6, 0.7)
    }
}
