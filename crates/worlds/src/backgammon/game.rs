//! A game of backgammon as a state: whose turn it is and what may be done, the doubling cube, and what the game counts, for
//! points or in a match with the Crawford rule. What may not be done is refused and changes nothing.
//!
//! It refuses to estimate how a game ends. Chances of a match far from its end are Janowski's formula, those before and after
//! Crawford a sum over games.

use super::{Board, NoSuchRoll, Results, Roll};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Player {
    One,
    Two,
}

impl Player {
    pub fn other(self) -> Player {
        match self {
            Player::One => Player::Two,
            Player::Two => Player::One,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cube {
    pub value: u32,
    /// Who alone may turn it; either while nobody has.
    pub owner: Option<Player>,
}

/// No larger than this, as in GNU Backgammon, so that no number of points overflows.
pub(super) const MOST_CUBE: u32 = 4096;

/// Where a match stands with the game that is played without the cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crawford {
    /// Nobody is one point away yet.
    Ahead,
    /// It is this game.
    Now,
    /// It has been played.
    Past,
}

/// A match and what has been won in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Match {
    pub length: u16,
    /// Points of [`Player::One`] and [`Player::Two`].
    pub score: [u16; 2],
    pub crawford: Crawford,
}

impl Match {
    pub fn new(length: u16) -> Match {
        Match { length, score: [0; 2], crawford: if length == 1 { Crawford::Now } else { Crawford::Ahead } }
    }

    /// Points that a player needs.
    pub fn away(&self, player: Player) -> u16 {
        self.length.saturating_sub(self.score[player as usize])
    }

    pub fn winner(&self) -> Option<Player> {
        [Player::One, Player::Two].into_iter().find(|&player| self.away(player) == 0)
    }

    /// How it stands after one more game.
    pub fn after(&self, ending: Ending) -> Match {
        let mut next = *self;
        let score = &mut next.score[ending.winner as usize];
        *score = ending.points.saturating_add((*score).into()).min(self.length.into()) as u16;
        next.crawford = match self.crawford {
            Crawford::Ahead if next.away(ending.winner) == 1 => Crawford::Now,
            Crawford::Ahead => Crawford::Ahead,
            Crawford::Now | Crawford::Past => Crawford::Past,
        };
        next
    }

    /// About how likely a player of equal skill wins it, before a game begins.
    pub fn chance(&self, player: Player) -> f64 {
        let (mine, theirs) = (self.away(player), self.away(player.other()));
        let (trailing, leading) = (mine.max(theirs), mine.min(theirs));
        let leader = if leading == 0 {
            1.0
        } else if trailing == leading {
            0.5
        } else if leading == 1 {
            1.0 - self.trailing_chance(trailing)
        } else {
            // R. Janowski's fit to match equities: half, and 85% of the lead over the trailer's need and 6.
            (0.5 + 0.85 * f64::from(trailing - leading) / (f64::from(trailing) + 6.0)).min(0.995)
        };
        if mine <= theirs { leader } else { 1.0 - leader }
    }

    /// The chance of one who needs `away` points while the other needs one. After the Crawford game each game is doubled
    /// at once.
    fn trailing_chance(&self, away: u16) -> f64 {
        /// The share of games won that are gammons.
        const GAMMONS: f64 = 0.25;
        let won = |one: f64, gammon: f64| 0.5 * ((1.0 - GAMMONS) * one + GAMMONS * gammon);
        // Chances with 0, 1, … points away: the last four of them are known as the next one is found.
        let mut known = [1.0, 1.0, 1.0, 1.0];
        for _ in 1..away {
            known = [won(known[1], known[3]), known[0], known[1], known[2]];
        }
        if self.crawford == Crawford::Past { won(known[1], known[3]) } else { won(known[0], known[1]) }
    }
}

/// What is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stakes {
    /// Points, without end; gammons count also while the cube is in the middle.
    Money,
    Match(Match),
}

/// What is to be done next. The player is [`Game::on_roll`], but for taking or passing, which is up to the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Each player throws one die; the higher begins with both.
    Opening,
    ToRoll,
    Doubled,
    ToPlay(Roll),
    Over(Ending),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    pub winner: Player,
    /// The cube counted in.
    pub points: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    #[error("the dice are not to be thrown now; {}", next(*.0))]
    Roll(Stage),
    #[error("the cube cannot be turned now; {}", next(*.0))]
    Double(Stage),
    #[error("no double is offered; {}", next(*.0))]
    Answer(Stage),
    #[error("no move is due; {}", next(*.0))]
    Play(Stage),
    #[error("this roll cannot lead to {0}; choose one of its {1} results")]
    Illegal(super::Id, usize),
    #[error("no cube shows {0}; give 1, 2, 4 and so on up to {MOST_CUBE}")]
    Cube(u32),
    #[error(transparent)]
    Dice(#[from] NoSuchRoll),
}

fn next(stage: Stage) -> &'static str {
    match stage {
        Stage::Opening => "throw a die for each player",
        Stage::ToRoll => "throw the dice",
        Stage::Doubled => "take the double or pass",
        Stage::ToPlay(_) => "play the roll",
        Stage::Over(_) => "the game has ended, begin another",
    }
}

/// One game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Game {
    board: Board,
    on_roll: Player,
    stage: Stage,
    cube: Cube,
    stakes: Stakes,
}

impl Game {
    pub fn new(stakes: Stakes) -> Game {
        Game { board: Board::START, on_roll: Player::One, stage: Stage::Opening, cube: Cube { value: 1, owner: None }, stakes }
    }

    /// A game taken up before a roll, with the board seen by `on_roll`.
    pub fn at(board: Board, on_roll: Player, cube: Cube, stakes: Stakes) -> Result<Game, GameError> {
        if !cube.value.is_power_of_two() || cube.value > MOST_CUBE {
            return Err(GameError::Cube(cube.value));
        }
        Ok(Game { board, on_roll, stage: Stage::ToRoll, cube, stakes }.ended())
    }

    /// The same game before a roll, with another board that `on_roll` sees.
    pub fn with(&self, board: Board, on_roll: Player) -> Game {
        Game { board, on_roll, stage: Stage::ToRoll, ..*self }.ended()
    }

    /// As it stood before the roll that is to be played, or before the double that was offered.
    pub fn before_roll(&self) -> Game {
        self.with(self.board, self.on_roll)
    }

    /// The roll that is to be played.
    pub fn dice(&self) -> Option<Roll> {
        match self.stage {
            Stage::ToPlay(roll) => Some(roll),
            _ => None,
        }
    }

    /// Seen by [`Game::on_roll`].
    pub fn board(&self) -> Board {
        self.board
    }

    pub fn on_roll(&self) -> Player {
        self.on_roll
    }

    pub fn stage(&self) -> Stage {
        self.stage
    }

    pub fn cube(&self) -> Cube {
        self.cube
    }

    pub fn stakes(&self) -> Stakes {
        self.stakes
    }

    /// This is the game that is played without the cube.
    pub fn is_crawford(&self) -> bool {
        matches!(self.stakes, Stakes::Match(Match { crawford: Crawford::Now, .. }))
    }

    pub(super) fn is_doubled(&self) -> bool {
        self.stage == Stage::Doubled
    }

    /// Whether the one on roll may turn the cube.
    pub fn may_double(&self) -> bool {
        self.stage == Stage::ToRoll
            && !self.is_crawford()
            && self.cube.value < MOST_CUBE
            && self.cube.owner.is_none_or(|owner| owner == self.on_roll)
    }

    /// Two dice: the roll, or at the opening the first player's and the second one's, where equal ones are thrown again.
    pub fn roll(&mut self, dice: [u8; 2]) -> Result<(), GameError> {
        let roll = Roll::new(dice[0], dice[1])?;
        match self.stage {
            Stage::Opening if roll.is_double() => {}
            Stage::Opening => {
                self.on_roll = if dice[0] > dice[1] { Player::One } else { Player::Two };
                self.stage = Stage::ToPlay(roll);
            }
            Stage::ToRoll => self.stage = Stage::ToPlay(roll),
            stage => return Err(GameError::Roll(stage)),
        }
        Ok(())
    }

    /// Moves to `after`, one of [`Board::results`], seen by who moves; then it is the other's turn.
    pub fn play(&mut self, after: Board, room: &mut Results) -> Result<(), GameError> {
        let Stage::ToPlay(roll) = self.stage else {
            return Err(GameError::Play(self.stage));
        };
        let results = self.board.results(roll, room);
        if !results.contains(&after) {
            return Err(GameError::Illegal(after.id(), results.len()));
        }
        *self = self.with(after.turned(), self.on_roll.other());
        Ok(())
    }

    pub fn double(&mut self) -> Result<(), GameError> {
        if !self.may_double() {
            return Err(GameError::Double(self.stage));
        }
        self.stage = Stage::Doubled;
        Ok(())
    }

    pub fn take(&mut self) -> Result<(), GameError> {
        self.doubled()?;
        self.cube = Cube { value: 2 * self.cube.value, owner: Some(self.on_roll.other()) };
        self.stage = Stage::ToRoll;
        Ok(())
    }

    pub fn pass(&mut self) -> Result<(), GameError> {
        self.doubled()?;
        self.stage = Stage::Over(Ending { winner: self.on_roll, points: self.cube.value });
        Ok(())
    }

    fn doubled(&self) -> Result<(), GameError> {
        if self.stage == Stage::Doubled { Ok(()) } else { Err(GameError::Answer(self.stage)) }
    }

    /// Over, where the board says so.
    fn ended(mut self) -> Game {
        let points = self.board.points();
        if points != 0 {
            let winner = if points > 0 { self.on_roll } else { self.on_roll.other() };
            self.stage = Stage::Over(Ending { winner, points: points.unsigned_abs() * self.cube.value });
        }
        self
    }
}

/// How a game is expected to end: win a single game, a gammon, a backgammon, then lose each of them; together 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances(pub [f32; 6]);

impl Chances {
    /// To win, whatever it counts.
    pub fn win(&self) -> f64 {
        self.0[..3].iter().map(|&chance| f64::from(chance)).sum()
    }

    /// Points a game without the cube.
    pub fn equity(&self) -> f64 {
        let points = [1.0, 2.0, 3.0, -1.0, -2.0, -3.0];
        self.0.iter().zip(points).map(|(&chance, points)| f64::from(chance) * points).sum()
    }

    /// Seen by the other player.
    pub fn turned(&self) -> Chances {
        let [a, b, c, d, e, f] = self.0;
        Chances([d, e, f, a, b, c])
    }
}
