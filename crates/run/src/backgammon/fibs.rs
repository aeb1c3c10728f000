//! Decisions as GNU Backgammon's external-player socket takes them, text in and text out: a board in the style of the server
//! FIBS, one line, and the move as players write it. Money play, cube in the middle; the one to move plays down from 24.

use worlds::backgammon::notation::{self, NotationError};
use worlds::backgammon::{BAR, Board, POINTS, Roll};

/// The line that asks for a move, without its end.
pub fn question(board: &Board, roll: Roll) -> String {
    let (mine, theirs) = (board.mine(), board.theirs());
    // An unlimited match is 9999 points long.
    let mut line = String::from("board:mover:other:9999:0:0");
    let mut put = |number: i32| line += &format!(":{number}");
    put(-i32::from(theirs.bar()));
    for point in 1..=POINTS {
        put(i32::from(mine.count(point)) - i32::from(theirs.count(BAR - point)));
    }
    put(mine.bar().into());
    // Whose turn: theirs who have the positive numbers. Then the dice; the other's are not thrown.
    let dice = [1, roll.high().into(), roll.low().into(), 0, 0];
    // The cube and who may turn it, nobody has; the colour, the direction, and where home and the bar are.
    let rules = [1, 1, 1, 0, 1, -1, 0, BAR as i32];
    let off_and_bar = [mine.off(), theirs.off(), mine.bar(), theirs.bar()].map(i32::from);
    // How many may move, forced moves, and what concerns matches.
    let rest = [0, 0, 0, 0];
    dice.into_iter().chain(rules).chain(off_and_bar).chain(rest).for_each(put);
    line
}

/// The board that an answer leaves, seen by who moved.
pub fn answer(board: &Board, roll: Roll, line: &str) -> Result<Board, NotationError> {
    notation::read(board, roll, line.trim_ascii())
}
