//! Text format of GNU Backgammon's external-player socket. A question is one line with a board and a roll in FIBS format; the answer is a
//! move in notation. A question always describes money play with the cube in the middle. The player to move moves from point 24 down to
//! point 1.

use worlds::backgammon::notation::{self, NotationError};
use worlds::backgammon::{BAR, Board, POINTS, Roll};

/// Returns the line that requests a move, without a line ending.
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
    // Turn (1: the player with positive numbers), then four dice: two of the player to move, and two of the other player, which are 0.
    let dice = [1, roll.high().into(), roll.low().into(), 0, 0];
    // In order: the cube's value, two flags for who may double, a flag for an offered double, the colour, the direction, and the positions
    // of home and bar.
    let rules = [1, 1, 1, 0, 1, -1, 0, BAR as i32];
    let off_and_bar = [mine.off(), theirs.off(), mine.bar(), theirs.bar()].map(i32::from);
    // In order: the number of checkers that can move, the number of forced moves, and two numbers about the match. All are 0.
    let rest = [0, 0, 0, 0];
    dice.into_iter().chain(rules).chain(off_and_bar).chain(rest).for_each(put);
    line
}

/// Parses the answer to a question. Returns the board after the move, from the point of view of the player who moved.
pub fn answer(board: &Board, roll: Roll, line: &str) -> Result<Board, NotationError> {
    notation::read(board, roll, line.trim_ascii())
}
