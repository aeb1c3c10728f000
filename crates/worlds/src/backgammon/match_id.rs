//! Positions with all that is played for, as other programs write them: GNU Backgammon's position id with a match id behind a colon
//! (its manual, "A technical description of the Match ID", and as of 1.06 a bit more that says whether the Jacoby rule is off), and
//! eXtreme Gammon's XGID. Player one is GNU Backgammon's player 1 and who sits at the bottom of an XGID.
//!
//! It refuses what it would have to guess: an id that is wrong anywhere is refused by the part that is wrong.

use super::game::MOST_CUBE;
use super::id::DIGITS;
use super::{BAR, Board, BoardError, Crawford, Cube, Game, GameError, Match, POINTS, Player, Roll, Stage, Stakes};

/// A game as an id tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub game: Game,
    /// It says no more than where the checkers stand.
    pub bare: bool,
    /// Money play in which gammons count only once the cube was turned. Games here are without that rule.
    pub jacoby: bool,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IdError {
    #[error("there is no id here; paste a position id, a position id with a match id behind a colon, or an XGID")]
    Empty,
    #[error("the position id: {0}")]
    Position(BoardError),
    #[error("the match id has 12 characters and this has {0}; copy it whole")]
    MatchLength(usize),
    #[error("{0:?} stands in no match id; copy it again, its characters are A-Z, a-z, 0-9, + and /")]
    MatchCharacter(char),
    #[error("an XGID has 10 fields with colons between them and this has {0}; copy it whole")]
    Fields(usize),
    #[error("the position of an XGID has 26 characters and this has {0}; copy it whole, from - or a letter on")]
    XgLength(usize),
    #[error("{0:?} stands in no position of an XGID; copy it again, its characters are -, a-o and A-O")]
    XgCharacter(char),
    #[error("the position: {0}")]
    Board(BoardError),
    /// The name of the part, what it says, and what it could say.
    #[error("{0} in this id is {1}; {2}")]
    Part(&'static str, String, String),
    #[error(transparent)]
    Game(#[from] GameError),
}

fn part<T>(name: &'static str, found: impl ToString, wanted: impl ToString) -> Result<T, IdError> {
    Err(IdError::Part(name, found.to_string(), wanted.to_string()))
}

/// A game that goes on, before a roll.
fn going_on(board: Board, on_roll: Player, cube: Cube, stakes: Stakes) -> Result<Game, IdError> {
    let game = Game::at(board, on_roll, cube, stakes)?;
    match game.stage() {
        Stage::Over(_) => part("the position", "the end of a game", "give one in which both still have checkers"),
        _ => Ok(game),
    }
}

/// All that an id says beside the board.
struct Said {
    /// Seen by the one on roll.
    board: Board,
    on_roll: Player,
    /// Of the cube's value.
    log_cube: u32,
    owner: Option<Player>,
    doubled: bool,
    dice: [u8; 2],
    length: u16,
    score: [u16; 2],
    crawford: bool,
    jacoby: bool,
}

impl Said {
    fn standing(self) -> Result<Standing, IdError> {
        let Said { board, on_roll, log_cube, owner, doubled, dice, length, score, crawford, jacoby } = self;
        if log_cube > MOST_CUBE.trailing_zeros() {
            return part("the cube", format!("2 to the power of {log_cube}"), format!("give {MOST_CUBE} at most"));
        }
        let cube = Cube { value: 1 << log_cube, owner };
        let stakes = if length == 0 {
            if crawford {
                return part("the Crawford flag", 1, "money play has no such game, give the match's length too");
            }
            Stakes::Money
        } else {
            if let Some(points) = score.into_iter().find(|&points| points >= length) {
                return part("a score", points, format!("in a match to {length} both have fewer points"));
            }
            let one_away = score.iter().any(|points| points + 1 == length);
            let crawford = match (crawford || length == 1, one_away) {
                (true, true) => Crawford::Now,
                (true, false) => return part("the Crawford flag", 1, "that game comes when somebody needs one more point"),
                (false, true) => Crawford::Past,
                (false, false) => Crawford::Ahead,
            };
            Stakes::Match(Match { length, score, crawford })
        };
        let mut game = going_on(board, on_roll, cube, stakes)?;
        if doubled {
            if game.double().is_err() {
                return part("a double", "offered", "whose turn it is may not turn the cube");
            }
        } else if dice != [0, 0] {
            game.roll(dice)?;
        }
        Ok(Standing { game, bare: false, jacoby: jacoby && length == 0 })
    }
}

impl Standing {
    /// A position id alone (money play, before a roll), one with a match id behind a colon, or an XGID. Also what programs copy
    /// around them: a text with an XGID somewhere, or with "Position ID" and perhaps "Match ID".
    pub fn read(text: &str) -> Result<Standing, IdError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(IdError::Empty);
        }
        if let Some(xgid) = behind(text, "xgid=") {
            return xg(in_text(xgid))?.standing();
        }
        let (position, id) = match behind(text, "position id") {
            Some(position) => (before(position, "match id"), behind(text, "match id").map(|id| before(id, "position id"))),
            None if text.matches(':').count() > 1 => return xg(text)?.standing(),
            None => match text.split_once(':') {
                Some((position, id)) => (position.trim(), Some(id.trim())),
                None => (text, None),
            },
        };
        match id {
            Some(id) => gnu(position, id)?.standing(),
            None => {
                let board = Board::from_id(position).map_err(IdError::Position)?;
                let game = going_on(board, Player::One, Cube { value: 1, owner: None }, Stakes::Money)?;
                Ok(Standing { game, bare: true, jacoby: false })
            }
        }
    }
}

/// What follows a label, whatever its case, and the `:` or `=` behind it.
fn behind<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let at = find(text, label)?;
    let rest = text[at + label.len()..].trim_start();
    Some(rest.strip_prefix([':', '=']).unwrap_or(rest).trim_start())
}

/// The first word, or the part of it that stands before a label.
fn before<'a>(text: &'a str, label: &str) -> &'a str {
    let text = &text[..find(text, label).unwrap_or(text.len())];
    text.split_whitespace().next().unwrap_or_default()
}

/// Where a label begins, whatever its case.
fn find(text: &str, label: &str) -> Option<usize> {
    text.as_bytes().windows(label.len()).position(|window| window.eq_ignore_ascii_case(label.as_bytes()))
}

/// An XGID at the beginning of a text: its last field is a number, behind which a line that was joined to it may go on.
fn in_text(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    let last = word.match_indices(':').nth(8).map_or(word.len(), |(at, _)| at + 1);
    let digits = word[last..].find(|c: char| !c.is_ascii_digit());
    match digits {
        // More fields are an XGID that is wrong, and no other text.
        Some(digits) if digits > 0 && !word[last + digits..].starts_with(':') => &word[..last + digits],
        _ => word,
    }
}

fn gnu(position: &str, id: &str) -> Result<Said, IdError> {
    let board = Board::from_id(position).map_err(IdError::Position)?;
    let characters = id.chars().count();
    if characters != 12 {
        return Err(IdError::MatchLength(characters));
    }
    let mut bytes = [0u8; 9];
    for (four, three) in id.as_bytes().chunks(4).zip(bytes.chunks_mut(3)) {
        let mut bits = 0u32;
        for &character in four {
            let value = DIGITS.iter().position(|&digit| digit == character);
            let strange = || id.chars().find(|c| !DIGITS.iter().any(|&digit| char::from(digit) == *c));
            bits = bits << 6 | value.ok_or_else(|| IdError::MatchCharacter(strange().unwrap_or('?')))? as u32;
        }
        three.copy_from_slice(&bits.to_be_bytes()[1..]);
    }
    let key = bytes.iter().rev().fold(0u128, |key, &byte| key << 8 | u128::from(byte));
    let get = |at: u32, bits: u32| (key >> at) as u32 & ((1 << bits) - 1);
    let player = |bit: u32| if get(bit, 1) == 1 { Player::One } else { Player::Two };
    let owner = match get(4, 2) {
        0 => Some(Player::Two),
        1 => Some(Player::One),
        3 => None,
        other => return part("the cube's owner", other, "give 0, 1, or 3 for nobody"),
    };
    match get(8, 3) {
        0 | 1 => {}
        state => return part("the game's state", state, "give a game that goes on, which is 1"),
    }
    if get(13, 2) != 0 {
        return part("a resignation", "offered", "give the position without it");
    }
    let (on_roll, doubled) = (player(6), get(12, 1) == 1);
    let dice = [get(15, 3) as u8, get(18, 3) as u8];
    if (dice[0] == 0) != (dice[1] == 0) || dice.iter().any(|&die| die > 6) {
        let found = format!("{} and {}", dice[0], dice[1]);
        return part("the roll", found, "give two dice from 1 to 6, or 0 and 0 before it");
    }
    Ok(Said {
        board,
        on_roll,
        log_cube: get(0, 4),
        owner,
        doubled,
        dice,
        length: get(21, 15) as u16,
        // Player 0's come first.
        score: [get(51, 15) as u16, get(36, 15) as u16],
        crawford: get(7, 1) == 1,
        jacoby: get(66, 1) == 0,
    })
}

fn xg(text: &str) -> Result<Said, IdError> {
    let fields: Vec<&str> = text.split(':').map(str::trim).collect();
    let [position, cube, owner, turn, dice, one, two, rules, length, _most_cube] = fields[..] else {
        return Err(IdError::Fields(fields.len()));
    };
    let characters = position.chars().count();
    if characters != BAR + 1 {
        return Err(IdError::XgLength(characters));
    }
    let mut sides = [[0u8; BAR]; 2];
    for (at, character) in position.chars().enumerate() {
        let (side, count) = match character {
            '-' => continue,
            'A'..='O' => (0, character as u8 - b'A' + 1),
            'a'..='o' => (1, character as u8 - b'a' + 1),
            _ => return Err(IdError::XgCharacter(character)),
        };
        let place = if side == 0 { at } else { BAR - at };
        if place == 0 {
            let whose = if side == 0 { "the top player's" } else { "the bottom player's" };
            return part("the bar", format!("{whose} with the other's {character}"), "move that checker");
        }
        sides[side][place - 1] = count;
    }
    let [mine, theirs] = sides;
    let seen_by_one = Board::new(mine, theirs).map_err(IdError::Board)?;
    let number = |name: &'static str, text: &str, most: u32| match text.parse::<u32>() {
        Ok(number) if number <= most => Ok(number),
        _ => part(name, format!("{text:?}"), format!("give a whole number from 0 to {most}")),
    };
    let owner = match owner {
        "1" => Some(Player::One),
        "-1" => Some(Player::Two),
        "0" => None,
        _ => return part("the cube's owner", format!("{owner:?}"), "give 1, -1, or 0 for nobody"),
    };
    let on_roll = match turn {
        "1" => Player::One,
        "-1" => Player::Two,
        _ => return part("the turn", format!("{turn:?}"), "give 1 for the bottom player or -1 for the top one"),
    };
    let (doubled, dice) = match dice.as_bytes() {
        b"00" => (false, [0, 0]),
        b"D" => (true, [0, 0]),
        b"B" | b"R" => return part("a beaver or raccoon", dice, "that is not played here, give 00 or D"),
        &[a @ b'1'..=b'6', b @ b'1'..=b'6'] => (false, [a - b'0', b - b'0']),
        _ => return part("the roll", format!("{dice:?}"), "give two dice like 31, 00 before it, or D"),
    };
    let length = number("the match's length", length, 32_767)? as u16;
    let score = [number("the bottom player's score", one, 32_767)?, number("the top player's score", two, 32_767)?];
    let rules = number("the field of Crawford and Jacoby", rules, if length == 0 { 3 } else { 1 })?;
    Ok(Said {
        board: if on_roll == Player::One { seen_by_one } else { seen_by_one.turned() },
        on_roll,
        log_cube: number("the cube", cube, 15)?,
        owner,
        doubled,
        dice,
        length,
        score: score.map(|points| points as u16),
        crawford: length > 0 && rules == 1,
        jacoby: length == 0 && rules & 1 == 1,
    })
}

impl Game {
    /// Length, score, and whether the game without the cube has to be named: a match to one point has no other.
    fn standing(&self) -> (u16, [u16; 2], bool) {
        match self.stakes() {
            Stakes::Money => (0, [0; 2], false),
            Stakes::Match(m) => (m.length, m.score, m.crawford == Crawford::Now && m.length > 1),
        }
    }

    /// Position id and match id, as GNU Backgammon writes them.
    pub fn gnu_id(&self) -> String {
        let mut key = 0u128;
        let mut at = 0;
        let mut put = |value: u32, bits: u32| {
            key |= u128::from(value) << at;
            at += bits;
        };
        let number = |player: Player| u32::from(player == Player::One);
        let doubled = self.stage() == Stage::Doubled;
        let on_roll = number(self.on_roll());
        put(self.cube().value.trailing_zeros(), 4);
        put(self.cube().owner.map_or(3, number), 2);
        put(on_roll, 1);
        let (length, score, crawford) = self.standing();
        put(crawford.into(), 1);
        put(if matches!(self.stage(), Stage::Over(_)) { 2 } else { 1 }, 3);
        put(if doubled { 1 - on_roll } else { on_roll }, 1);
        put(doubled.into(), 1);
        put(0, 2);
        let dice = self.dice().map_or([0; 2], Roll::dice);
        dice.into_iter().for_each(|die| put(die.into(), 3));
        [length, score[1], score[0]].into_iter().for_each(|points| put(points.into(), 15));
        // Without the Jacoby rule.
        put(1, 1);
        let bytes = &key.to_le_bytes()[..9];
        let mut text = format!("{}:", self.board().id());
        for three in bytes.chunks(3) {
            let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            text.extend((0..4).map(|i| char::from(DIGITS[(bits >> (18 - 6 * i)) as usize & 63])));
        }
        text
    }

    /// As eXtreme Gammon writes it.
    pub fn xgid(&self) -> String {
        let board = if self.on_roll() == Player::One { self.board() } else { self.board().turned() };
        let letter = |at: usize| {
            let (one, two) = (board.mine().count(at), board.theirs().count(BAR - at));
            match at {
                1..=POINTS if one > 0 => char::from(b'A' + one - 1),
                BAR if one > 0 => char::from(b'A' + one - 1),
                0..=POINTS if two > 0 => char::from(b'a' + two - 1),
                _ => '-',
            }
        };
        let position: String = (0..=BAR).map(letter).collect();
        let sign = |player: Player| if player == Player::One { 1 } else { -1 };
        let (length, score, crawford) = self.standing();
        let dice = match self.stage() {
            Stage::ToPlay(roll) => format!("{}{}", roll.high(), roll.low()),
            Stage::Doubled => "D".into(),
            _ => "00".into(),
        };
        format!(
            "XGID={position}:{}:{}:{}:{dice}:{}:{}:{}:{length}:10",
            self.cube().value.trailing_zeros(),
            self.cube().owner.map_or(0, sign),
            sign(self.on_roll()),
            score[0],
            score[1],
            u8::from(crawford),
        )
    }
}
