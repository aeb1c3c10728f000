//! Equity with the doubling cube, from the chances of the six endings: R. Janowski's interpolation ("Take-Points in Money Games", 1993), in
//! money play and in matches. The formula interpolates between two equities. A dead cube is never turned again. A live cube is always
//! turned exactly when the other player is indifferent between taking and passing. The weight of the live cube is GNU Backgammon's: 0.68
//! while the sides are in contact, 0.6 to 0.7 in a race, depending on the pip count, 0.6 in the bear-off. The formula assumes that the
//! shares of gammons, among wins and among losses, stay the same when the chance to win changes.
//!
//! Worth is the value of an ending to the player on roll: points in money play, the chance to win the match in a match. The cash point of a
//! player is this player's chance to win at which the other player is indifferent between taking and passing a double.
//!
//! Chances are an argument; this module does not estimate them. [`super::Match::chance`] returns the chance to win a match.

use super::{Board, Chances, Cube, Ending, Game, Stakes};

/// Depth of the recursion over future doubles. Doubles beyond this depth change the equity by less than a millionth.
const TURNS: u32 = 12;
/// A difference of worth up to this bound counts as 0.
const NOTHING: f64 = 1e-9;

/// Equity of the player on roll after each cube decision. The unit is points per game at the current cube: 1 for a single game won, -1 for
/// a single game lost. In a match, chances to win the match are scaled linearly to this range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeEquities {
    pub no_double: f64,
    pub double_take: f64,
    /// Equity if the other player passes a double: 1, as for a single game won, or 0 if the result of the game hardly changes the chance to
    /// win the match.
    pub double_pass: f64,
    /// True if the player on roll may double now, or has doubled and the other player has not answered yet.
    pub may_double: bool,
    /// Chances of the player on roll to win the match after no double, after double and take, and after double and pass. `None` in money
    /// play.
    pub match_chances: Option<[f64; 3]>,
}

impl CubeEquities {
    /// Returns true if the other player's best answer to a double is to take.
    pub fn take(&self) -> bool {
        self.double_take <= self.double_pass
    }

    /// Returns the equity after a double and the other player's best answer.
    pub fn doubled(&self) -> f64 {
        self.double_take.min(self.double_pass)
    }

    /// Returns true if doubling is the best decision of the player on roll.
    pub fn double(&self) -> bool {
        self.may_double && self.doubled() > self.no_double
    }

    /// Returns true if the player on roll should play on for a gammon, because the other player would pass a double.
    pub fn too_good(&self) -> bool {
        self.may_double && !self.take() && self.no_double > self.double_pass
    }

    /// Returns the equity when both players make the best cube decisions.
    pub fn best(&self) -> f64 {
        if self.double() { self.doubled() } else { self.no_double }
    }
}

/// Player who may turn the cube: the player on roll, the other player, or both.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Me,
    Them,
    Either,
}

impl Game {
    /// Returns the cube equities of the player on roll. `chances` are the chances of this player before the roll.
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

    /// Returns the equity of the player on roll with a dead cube, on the scale of [`CubeEquities`]. `chances` are the chances of this
    /// player. In a match, the equity is a linear function of the chance to win the match.
    pub fn equity(&self, chances: &Chances) -> f64 {
        match self.stakes() {
            Stakes::Money => chances.equity(),
            Stakes::Match(_) => self.points(self.line(chances, self.cube().value).at(win(chances))),
        }
    }

    /// Converts `worth`, on the scale of [`Game::worth`], to points per game at the current cube. Returns 0 if the result of the game
    /// hardly changes the chance to win the match.
    fn points(&self, worth: f64) -> f64 {
        let value = self.cube().value;
        let (lost, won) = (self.worth(-1, value), self.worth(1, value));
        if won - lost > NOTHING { (2.0 * worth - won - lost) / (won - lost) } else { 0.0 }
    }

    /// Returns the worth of the game with a live cube. The worth is piecewise linear in the chance to win, with corners at the cash points
    /// of both players.
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

    /// Returns the cash point of the player on roll and the worth at this point. If a double cannot gain, or if `turns` is 0, returns the
    /// chance 1 and the worth of a win. `turns` is the remaining depth of the recursion.
    fn my_cash(&self, chances: &Chances, value: u32, turns: u32) -> (f64, f64) {
        let (line, doubled, cash) = (self.line(chances, value), self.line(chances, 2 * value), self.worth(1, value));
        if turns == 0 || doubled.won <= cash + NOTHING {
            return (1.0, line.won);
        }
        let (from, low) = self.their_cash(chances, 2 * value, turns - 1);
        ((from + (cash - low) * (1.0 - from) / (doubled.won - low)).min(1.0), cash)
    }

    /// Returns the other player's cash point, expressed as the chance of the player on roll to win, and the worth at this point. If a
    /// double cannot gain, or if `turns` is 0, returns the chance 0 and the worth of a loss. `turns` is as in [`Game::my_cash`].
    fn their_cash(&self, chances: &Chances, value: u32, turns: u32) -> (f64, f64) {
        let (line, doubled, cash) = (self.line(chances, value), self.line(chances, 2 * value), self.worth(-1, value));
        if turns == 0 || doubled.lost >= cash - NOTHING {
            return (0.0, line.lost);
        }
        let (to, high) = self.my_cash(chances, 2 * value, turns - 1);
        ((to * (cash - doubled.lost) / (high - doubled.lost)).max(0.0), cash)
    }

    /// Returns true if the player on roll should double. `chances` are the chances of this player.
    pub fn should_double(&self, chances: &Chances) -> bool {
        self.may_double() && self.cube_equities(chances).double()
    }

    /// Returns true if the player who was doubled should take. `chances` are the chances of the player who was doubled.
    pub fn should_take(&self, chances: &Chances) -> bool {
        self.is_doubled() && self.cube_equities(&chances.turned()).take()
    }

    /// Returns the worth of a game in which the player on roll wins `points * cube` points. If `points` is negative, the player loses these
    /// points.
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

    /// Returns the worth as a linear function of the chance to win, from the mean of all losses to the mean of all wins. In both means,
    /// `chances` are the weights of single games, gammons and backgammons.
    fn line(&self, chances: &Chances, cube: u32) -> Line {
        let mean = |of: &[f32], sign: i32| {
            let all: f64 = of.iter().copied().map(f64::from).sum();
            let sum = of.iter().zip(1..).map(|(&chance, n)| f64::from(chance) * self.worth(sign * n, cube));
            if all > 0.0 { sum.sum::<f64>() / all } else { self.worth(sign, cube) }
        };
        Line { won: mean(&chances.0[..3], 1), lost: mean(&chances.0[3..], -1) }
    }
}

/// Worth as a linear function of the chance to win: `lost` at chance 0, `won` at chance 1.
struct Line {
    won: f64,
    lost: f64,
}

impl Line {
    fn at(&self, win: f64) -> f64 {
        self.lost + win * (self.won - self.lost)
    }
}

/// Returns the chance to win, clamped to the range from 0 to 1, because the sum of rounded chances can exceed 1.
fn win(chances: &Chances) -> f64 {
    chances.win().clamp(0.0, 1.0)
}

/// Returns the cube efficiency: the weight of the live cube in the interpolation.
fn efficiency(board: &Board) -> f64 {
    if board.contact() {
        0.68
    } else if board.mine().rear() <= 6 && board.theirs().rear() <= 6 {
        0.6
    } else {
        (0.55 + 0.00125 * f64::from(board.mine().pips())).clamp(0.6, 0.7)
    }
}
