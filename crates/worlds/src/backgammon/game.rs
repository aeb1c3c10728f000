//! State of a backgammon game: the player on roll, the pending decision, the doubling cube, and the stakes (money play or a match with the
//! Crawford rule). An illegal action returns an error and changes nothing.
//!
//! This module does not estimate how a game ends. It computes the chance to win a match from the score: by a recursion over the remaining
//! games if one player needs only one point, and by Janowski's formula otherwise.

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
    /// Player who may turn the cube; `None` while the cube is in the middle and both players may turn it.
    pub owner: Option<Player>,
}

/// Maximum cube value, as in GNU Backgammon. This limit prevents overflow of points.
pub(super) const MOST_CUBE: u32 = 4096;

/// State of a match with respect to the Crawford game, which is played without the cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crawford {
    /// No player has been one point away from winning the match yet.
    Ahead,
    /// The current game is the Crawford game.
    Now,
    /// The Crawford game has been played.
    Past,
}

/// Length and score of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Match {
    pub length: u16,
    /// Points won by [`Player::One`] and by [`Player::Two`].
    pub score: [u16; 2],
    pub crawford: Crawford,
}

impl Match {
    pub fn new(length: u16) -> Match {
        Match { length, score: [0; 2], crawford: if length == 1 { Crawford::Now } else { Crawford::Ahead } }
    }

    /// Returns the number of points that the player still needs to win the match.
    pub fn away(&self, player: Player) -> u16 {
        self.length.saturating_sub(self.score[player as usize])
    }

    pub fn winner(&self) -> Option<Player> {
        [Player::One, Player::Two].into_iter().find(|&player| self.away(player) == 0)
    }

    /// Returns the match after one more game, which ended with `ending`.
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

    /// Returns the approximate chance of the player to win the match. The chance applies before a game, and both players are assumed to be
    /// equally good.
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
            // R. Janowski's fit to match equities: 0.5 + 0.85·(lead in points) / (points that the trailing player needs + 6).
            (0.5 + 0.85 * f64::from(trailing - leading) / (f64::from(trailing) + 6.0)).min(0.995)
        };
        if mine <= theirs { leader } else { 1.0 - leader }
    }

    /// Returns the chance to win the match for a player who needs `away` points while the other player needs one point. After the Crawford
    /// game, the trailing player is assumed to double at the start of every game.
    fn trailing_chance(&self, away: u16) -> f64 {
        /// Share of wins that are gammons.
        const GAMMONS: f64 = 0.25;
        let won = |one: f64, gammon: f64| 0.5 * ((1.0 - GAMMONS) * one + GAMMONS * gammon);
        // Chances after the Crawford game for a player who needs n, n - 1, n - 2 and n - 3 points. n is 0 before the loop, and each
        // iteration increases it by 1.
        let mut known = [1.0, 1.0, 1.0, 1.0];
        for _ in 1..away {
            known = [won(known[1], known[3]), known[0], known[1], known[2]];
        }
        if self.crawford == Crawford::Past { won(known[1], known[3]) } else { won(known[0], known[1]) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stakes {
    /// Money play: games for points, without a match. Gammons count even while the cube is in the middle (no Jacoby rule).
    Money,
    Match(Match),
}

/// Next action of a game. The player [`Game::on_roll`] takes the action, except that the other player answers a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameState {
    /// Each player throws one die. The player with the higher die plays the roll of both dice.
    Opening,
    ToRoll,
    Doubled,
    ToPlay(Roll),
    Over(Ending),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    pub winner: Player,
    /// Number of points won, after multiplication by the cube.
    pub points: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    #[error("a roll is not possible now; {}", next(*.0))]
    Roll(GameState),
    #[error("a double is not possible now; {}", next(*.0))]
    Double(GameState),
    #[error("no double is offered; {}", next(*.0))]
    Answer(GameState),
    #[error("a move is not possible now; {}", next(*.0))]
    Play(GameState),
    #[error("position {0} is not a result of this roll; choose one of its {1} results")]
    Illegal(super::Id, usize),
    #[error("the cube's value must be a power of two up to {MOST_CUBE}, found {0}; enter 1, 2, 4 and so on")]
    Cube(u32),
    #[error(transparent)]
    Dice(#[from] NoSuchRoll),
}

fn next(state: GameState) -> &'static str {
    match state {
        GameState::Opening => "roll one die for each player",
        GameState::ToRoll => "roll the dice",
        GameState::Doubled => "take the double or pass",
        GameState::ToPlay(_) => "play the roll",
        GameState::Over(_) => "the game is over, start a new one",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Game {
    board: Board,
    on_roll: Player,
    state: GameState,
    cube: Cube,
    stakes: Stakes,
}

impl Game {
    pub fn new(stakes: Stakes) -> Game {
        Game { board: Board::START, on_roll: Player::One, state: GameState::Opening, cube: Cube { value: 1, owner: None }, stakes }
    }

    /// Creates a game in which the player `on_roll` has not rolled yet. `board` is from this player's point of view. If the board is
    /// finished, the state is [`GameState::Over`].
    pub fn at(board: Board, on_roll: Player, cube: Cube, stakes: Stakes) -> Result<Game, GameError> {
        if !cube.value.is_power_of_two() || cube.value > MOST_CUBE {
            return Err(GameError::Cube(cube.value));
        }
        Ok(Game { board, on_roll, state: GameState::ToRoll, cube, stakes }.ended())
    }

    /// Returns this game with another board, on which the player `on_roll` has not rolled yet. `board` is from this player's point of view.
    pub fn with(&self, board: Board, on_roll: Player) -> Game {
        Game { board, on_roll, state: GameState::ToRoll, ..*self }.ended()
    }

    /// Returns this game as it was before the player on roll rolled or doubled.
    pub fn before_roll(&self) -> Game {
        self.with(self.board, self.on_roll)
    }

    /// Returns the roll to play; `None` in any state except [`GameState::ToPlay`].
    pub fn dice(&self) -> Option<Roll> {
        match self.state {
            GameState::ToPlay(roll) => Some(roll),
            _ => None,
        }
    }

    /// Returns the board from the point of view of the player [`Game::on_roll`].
    pub fn board(&self) -> Board {
        self.board
    }

    pub fn on_roll(&self) -> Player {
        self.on_roll
    }

    pub fn state(&self) -> GameState {
        self.state
    }

    pub fn cube(&self) -> Cube {
        self.cube
    }

    pub fn stakes(&self) -> Stakes {
        self.stakes
    }

    pub fn is_crawford(&self) -> bool {
        matches!(self.stakes, Stakes::Match(Match { crawford: Crawford::Now, .. }))
    }

    pub(super) fn is_doubled(&self) -> bool {
        self.state == GameState::Doubled
    }

    /// Returns true if the player on roll may double.
    pub fn may_double(&self) -> bool {
        self.state == GameState::ToRoll
            && !self.is_crawford()
            && self.cube.value < MOST_CUBE
            && self.cube.owner.is_none_or(|owner| owner == self.on_roll)
    }

    /// Sets the dice. In the opening, the first die is player one's and the second is player two's. Equal dice in the opening do not change
    /// the state.
    pub fn roll(&mut self, dice: [u8; 2]) -> Result<(), GameError> {
        let roll = Roll::new(dice[0], dice[1])?;
        match self.state {
            GameState::Opening if roll.is_double() => {}
            GameState::Opening => {
                self.on_roll = if dice[0] > dice[1] { Player::One } else { Player::Two };
                self.state = GameState::ToPlay(roll);
            }
            GameState::ToRoll => self.state = GameState::ToPlay(roll),
            state => return Err(GameError::Roll(state)),
        }
        Ok(())
    }

    /// Replaces the board by `after`, which must be one of [`Board::results`] from the point of view of the player on roll. After this
    /// call, the other player is on roll.
    pub fn play(&mut self, after: Board, buffer: &mut Results) -> Result<(), GameError> {
        let GameState::ToPlay(roll) = self.state else {
            return Err(GameError::Play(self.state));
        };
        let results = self.board.results(roll, buffer);
        if !results.contains(&after) {
            return Err(GameError::Illegal(after.id(), results.len()));
        }
        *self = self.with(after.turned(), self.on_roll.other());
        Ok(())
    }

    pub fn double(&mut self) -> Result<(), GameError> {
        if !self.may_double() {
            return Err(GameError::Double(self.state));
        }
        self.state = GameState::Doubled;
        Ok(())
    }

    pub fn take(&mut self) -> Result<(), GameError> {
        self.doubled()?;
        self.cube = Cube { value: 2 * self.cube.value, owner: Some(self.on_roll.other()) };
        self.state = GameState::ToRoll;
        Ok(())
    }

    pub fn pass(&mut self) -> Result<(), GameError> {
        self.doubled()?;
        self.state = GameState::Over(Ending { winner: self.on_roll, points: self.cube.value });
        Ok(())
    }

    fn doubled(&self) -> Result<(), GameError> {
        if self.state == GameState::Doubled { Ok(()) } else { Err(GameError::Answer(self.state)) }
    }

    /// Sets the state to [`GameState::Over`] if a side has borne off all checkers.
    fn ended(mut self) -> Game {
        let points = self.board.points();
        if points != 0 {
            let winner = if points > 0 { self.on_roll } else { self.on_roll.other() };
            self.state = GameState::Over(Ending { winner, points: points.unsigned_abs() * self.cube.value });
        }
        self
    }
}

/// Chances of the six endings: single game won, gammon won, backgammon won, single game lost, gammon lost, backgammon lost. Their
/// sum is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances(pub [f32; 6]);

impl Chances {
    /// Returns the chance to win, gammons and backgammons included.
    pub fn win(&self) -> f64 {
        self.0[..3].iter().map(|&chance| f64::from(chance)).sum()
    }

    /// Returns the expected points per game with a cube of value 1 that no player turns.
    pub fn equity(&self) -> f64 {
        let points = [1.0, 2.0, 3.0, -1.0, -2.0, -3.0];
        self.0.iter().zip(points).map(|(&chance, points)| f64::from(chance) * points).sum()
    }

    /// Returns the same chances from the other player's point of view.
    pub fn turned(&self) -> Chances {
        let [a, b, c, d, e, f] = self.0;
        Chances([d, e, f, a, b, c])
    }
}
