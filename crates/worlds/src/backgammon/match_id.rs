//! Positions with their stakes in other programs' formats: GNU Backgammon's position id and match id, separated by a colon, and eXtreme
//! Gammon's XGID. GNU Backgammon's manual documents the match id ("A technical description of the Match ID"). Since version 1.06, a match
//! id has one more bit, which is set if the Jacoby rule is off. Player one is GNU Backgammon's player 1 and the bottom player of an XGID.
//!
//! An id with an invalid part is rejected, and the error names the part. Some parts are not checked, such as the maximum cube of an XGID,
//! and bit 11 of a match id, which gives the player who must act.

use super::game::MOST_CUBE;
use super::id::DIGITS;
use super::{BAR, Board, BoardError, Crawford, Cube, Game, GameError, GameState, Match, POINTS, Player, Roll, Stakes};

/// A game read from an id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub game: Game,
    /// True if the text contained only a position id. In this case, the game has the stakes of money play.
    pub bare: bool,
    /// True if the Jacoby rule is on according to the id: in money play, gammons count only after the cube was turned. [`Game`] does not
    /// apply this rule.
    pub jacoby: bool,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IdError {
    #[error("the id is empty; paste a position id, a position id and a match id separated by a colon, or an XGID")]
    Empty,
    #[error("position id: {0}")]
    Position(BoardError),
    #[error("a match id has 12 characters, found {0}; copy the whole id")]
    MatchLength(usize),
    #[error("invalid character {0:?} in match id; use A-Z, a-z, 0-9, + and /")]
    MatchCharacter(char),
    #[error("an XGID has 10 fields separated by colons, found {0}; copy the whole id")]
    Fields(usize),
    #[error("the position of an XGID has 26 characters, found {0}; copy the whole id")]
    XgLength(usize),
    #[error("invalid character {0:?} in the position of the XGID; use -, a-o and A-O")]
    XgCharacter(char),
    #[error("position: {0}")]
    Board(BoardError),
    /// An invalid part of an id: the name of the part, the value found, and the remedy.
    #[error("{0} in this id is {1}; {2}")]
    Part(&'static str, String, String),
    #[error(transparent)]
    Game(#[from] GameError),
}

fn part<T>(name: &'static str, found: impl ToString, remedy: impl ToString) -> Result<T, IdError> {
    Err(IdError::Part(name, found.to_string(), remedy.to_string()))
}

/// Creates a game before a roll. Returns an error if the board is finished.
fn game_in_progress(board: Board, on_roll: Player, cube: Cube, stakes: Stakes) -> Result<Game, IdError> {
    let game = Game::at(board, on_roll, cube, stakes)?;
    match game.state() {
        GameState::Over(_) => part("the position", "the end of a game", "enter one in which both sides have checkers left"),
        _ => Ok(game),
    }
}

/// Contents of a position id with a match id, or of an XGID.
struct Fields {
    /// The board from the point of view of the player on roll.
    board: Board,
    on_roll: Player,
    /// Binary logarithm of the cube's value.
    log_cube: u32,
    owner: Option<Player>,
    doubled: bool,
    dice: [u8; 2],
    length: u16,
    score: [u16; 2],
    crawford: bool,
    jacoby: bool,
}

impl Fields {
    fn standing(self) -> Result<Standing, IdError> {
        let Fields { board, on_roll, log_cube, owner, doubled, dice, length, score, crawford, jacoby } = self;
        if log_cube > MOST_CUBE.trailing_zeros() {
            return part("the cube", format!("2 to the power of {log_cube}"), format!("enter {MOST_CUBE} at most"));
        }
        let cube = Cube { value: 1 << log_cube, owner };
        let stakes = if length == 0 {
            if crawford {
                return part("the Crawford flag", 1, "clear it for money play, or enter the match's length");
            }
            Stakes::Money
        } else {
            if let Some(points) = score.into_iter().find(|&points| points >= length) {
                return part("a score", points, format!("in a match to {length}, enter less than {length}"));
            }
            let one_away = score.iter().any(|points| points + 1 == length);
            let crawford = match (crawford || length == 1, one_away) {
                (true, true) => Crawford::Now,
                (true, false) => return part("the Crawford flag", 1, "clear it, or let one player need one point"),
                (false, true) => Crawford::Past,
                (false, false) => Crawford::Ahead,
            };
            Stakes::Match(Match { length, score, crawford })
        };
        let mut game = game_in_progress(board, on_roll, cube, stakes)?;
        if doubled {
            if game.double().is_err() {
                return part("a double", "offered", "remove it: the player on roll may not double");
            }
        } else if dice != [0, 0] {
            game.roll(dice)?;
        }
        Ok(Standing { game, bare: false, jacoby: jacoby && length == 0 })
    }
}

impl Standing {
    /// Reads an XGID, or a position id with or without a match id after a colon. A position id alone is read as money play before a roll.
    /// The ids may be part of a text copied from a program: an XGID anywhere in the text, or ids labelled "Position ID" and "Match ID".
    pub fn read(text: &str) -> Result<Standing, IdError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(IdError::Empty);
        }
        if let Some(xgid) = after_label(text, "xgid=") {
            return xg(in_text(xgid))?.standing();
        }
        let (position, id) = match after_label(text, "position id") {
            Some(position) => (before(position, "match id"), after_label(text, "match id").map(|id| before(id, "position id"))),
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
                let game = game_in_progress(board, Player::One, Cube { value: 1, owner: None }, Stakes::Money)?;
                Ok(Standing { game, bare: true, jacoby: false })
            }
        }
    }
}

/// Returns the text after a label and an optional `:` or `=`; `None` if the label is missing. Letter case is ignored.
fn after_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let at = find(text, label)?;
    let rest = text[at + label.len()..].trim_start();
    Some(rest.strip_prefix([':', '=']).unwrap_or(rest).trim_start())
}

/// Returns the first word of the part of `text` before the first `label`, or of the whole text if the label is missing. Returns an empty
/// string if this part has no words.
fn before<'a>(text: &'a str, label: &str) -> &'a str {
    let text = &text[..find(text, label).unwrap_or(text.len())];
    text.split_whitespace().next().unwrap_or_default()
}

/// Returns the byte offset of a label; `None` if the label is missing. Letter case is ignored.
fn find(text: &str, label: &str) -> Option<usize> {
    text.as_bytes().windows(label.len()).position(|window| window.eq_ignore_ascii_case(label.as_bytes()))
}

/// Returns the XGID at the beginning of a text. An XGID ends with a number; text that follows the number without a space is cut off.
fn in_text(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    let last = word.match_indices(':').nth(8).map_or(word.len(), |(at, _)| at + 1);
    let digits = word[last..].find(|c: char| !c.is_ascii_digit());
    match digits {
        // If a colon follows the digits, the XGID has too many fields and is left as it is.
        Some(digits) if digits > 0 && !word[last + digits..].starts_with(':') => &word[..last + digits],
        _ => word,
    }
}

fn gnu(position: &str, id: &str) -> Result<Fields, IdError> {
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
            let invalid = || id.chars().find(|c| !DIGITS.iter().any(|&digit| char::from(digit) == *c));
            bits = bits << 6 | value.ok_or_else(|| IdError::MatchCharacter(invalid().unwrap_or('?')))? as u32;
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
        other => return part("the cube's owner", other, "enter 0, 1, or 3 for the middle"),
    };
    match get(8, 3) {
        0 | 1 => {}
        state => return part("the game's state", state, "enter 1, a game in progress"),
    }
    if get(13, 2) != 0 {
        return part("a resignation", "offered", "enter the position without it");
    }
    let (on_roll, doubled) = (player(6), get(12, 1) == 1);
    let dice = [get(15, 3) as u8, get(18, 3) as u8];
    if (dice[0] == 0) != (dice[1] == 0) || dice.iter().any(|&die| die > 6) {
        let found = format!("{} and {}", dice[0], dice[1]);
        return part("the roll", found, "enter two dice from 1 to 6, or 0 and 0 before a roll");
    }
    Ok(Fields {
        board,
        on_roll,
        log_cube: get(0, 4),
        owner,
        doubled,
        dice,
        length: get(21, 15) as u16,
        // The id contains player 0's score before player 1's.
        score: [get(51, 15) as u16, get(36, 15) as u16],
        crawford: get(7, 1) == 1,
        jacoby: get(66, 1) == 0,
    })
}

fn xg(text: &str) -> Result<Fields, IdError> {
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
            let bar = if side == 0 { "the top player's" } else { "the bottom player's" };
            return part("the bar", format!("{bar} with the other player's {character}"), "move that checker");
        }
        sides[side][place - 1] = count;
    }
    let [mine, theirs] = sides;
    let seen_by_one = Board::new(mine, theirs).map_err(IdError::Board)?;
    let number = |name: &'static str, text: &str, most: u32| match text.parse::<u32>() {
        Ok(number) if number <= most => Ok(number),
        _ => part(name, format!("{text:?}"), format!("enter an integer from 0 to {most}")),
    };
    let owner = match owner {
        "1" => Some(Player::One),
        "-1" => Some(Player::Two),
        "0" => None,
        _ => return part("the cube's owner", format!("{owner:?}"), "enter 1, -1, or 0 for the middle"),
    };
    let on_roll = match turn {
        "1" => Player::One,
        "-1" => Player::Two,
        _ => return part("the turn", format!("{turn:?}"), "enter 1 for the bottom player or -1 for the top player"),
    };
    let (doubled, dice) = match dice.as_bytes() {
        b"00" => (false, [0, 0]),
        b"D" => (true, [0, 0]),
        b"B" | b"R" => return part("a beaver or raccoon", dice, "beavers and raccoons are not supported, enter 00 or D"),
        &[a @ b'1'..=b'6', b @ b'1'..=b'6'] => (false, [a - b'0', b - b'0']),
        _ => return part("the roll", format!("{dice:?}"), "enter two dice like 31, 00 before a roll, or D for a double"),
    };
    let length = number("the match's length", length, 32_767)? as u16;
    let score = [number("the bottom player's score", one, 32_767)?, number("the top player's score", two, 32_767)?];
    let rules = number("the field of Crawford and Jacoby", rules, if length == 0 { 3 } else { 1 })?;
    Ok(Fields {
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
    /// Returns the match length, the score and the Crawford flag that an id of this game contains. In money play, the length is 0. In a
    /// match to one point, the flag is false, although the only game of such a match is the Crawford game.
    fn standing(&self) -> (u16, [u16; 2], bool) {
        match self.stakes() {
            Stakes::Money => (0, [0; 2], false),
            Stakes::Match(m) => (m.length, m.score, m.crawford == Crawford::Now && m.length > 1),
        }
    }

    /// Returns the position id and the match id of this game, separated by a colon.
    pub fn gnu_id(&self) -> String {
        let mut key = 0u128;
        let mut at = 0;
        let mut put = |value: u32, bits: u32| {
            key |= u128::from(value) << at;
            at += bits;
        };
        let number = |player: Player| u32::from(player == Player::One);
        let doubled = self.state() == GameState::Doubled;
        let on_roll = number(self.on_roll());
        put(self.cube().value.trailing_zeros(), 4);
        put(self.cube().owner.map_or(3, number), 2);
        put(on_roll, 1);
        let (length, score, crawford) = self.standing();
        put(crawford.into(), 1);
        put(if matches!(self.state(), GameState::Over(_)) { 2 } else { 1 }, 3);
        put(if doubled { 1 - on_roll } else { on_roll }, 1);
        put(doubled.into(), 1);
        put(0, 2);
        let dice = self.dice().map_or([0; 2], Roll::dice);
        dice.into_iter().for_each(|die| put(die.into(), 3));
        [length, score[1], score[0]].into_iter().for_each(|points| put(points.into(), 15));
        // This bit is 1 because the Jacoby rule is off.
        put(1, 1);
        let bytes = &key.to_le_bytes()[..9];
        let mut text = format!("{}:", self.board().id());
        for three in bytes.chunks(3) {
            let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            text.extend((0..4).map(|i| char::from(DIGITS[(bits >> (18 - 6 * i)) as usize & 63])));
        }
        text
    }

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
        let dice = match self.state() {
            GameState::ToPlay(roll) => format!("{}{}", roll.high(), roll.low()),
            GameState::Doubled => "D".into(),
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
