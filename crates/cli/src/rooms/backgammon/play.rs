//! `hothouse play`: a player for other programs, a line of text to each answer, or as many as a batch has lines.

use crate::judge::mind;
use crate::stdio::converse;
use anyhow::{Result, bail};
use math::Isa;
use run::backgammon::{Reply, Seat};
use std::io::{BufRead, Write};

pub const HELP: &str = "\
Lines read and what they are answered with. Positions are ids as GNU Backgammon writes them, seen by the player who makes
the roll (as the player on roll), before and after it:
  hello                     who plays, in one line
  move 4HPwATDgc/ABMA 3 1   the id that the move leaves
  batch N                   then N lines like the one above; N ids, once the last of them has come
  quit                      ends the program, as the end of the input does
A line that cannot be answered gets, in its place,
  error: what is wrong; what would do
and changes nothing. The same position and roll get the same answer, in any batch.";

/// Answers whoever started this program.
pub fn run(game: &str, player: &str, evals: u32, stdio: bool, isa: Isa) -> Result<()> {
    if game != "backgammon" {
        bail!(crate::Usage(format!("'{game}' is not played here. Choose backgammon")));
    }
    if !stdio {
        bail!(crate::Usage(
            "the player is asked line by line. Start `hothouse play backgammon --stdio` and send it a line such as \
             move 4HPwATDgc/ABMA 3 1; `hothouse play --help` says what it answers"
                .into()
        ));
    }
    let mut seat = Seat::new(mind(player, evals, 1, isa)?);
    serve(&mut seat, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())
}

fn serve(seat: &mut Seat, input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    converse(input, output, |line| {
        let line = line.map(String::from_utf8_lossy);
        Ok(match seat.answer(line.as_deref()) {
            Reply::Lines(lines) => Some(lines.join("\n")),
            Reply::Later => Some(String::new()),
            Reply::Quit => None,
        })
    })?;
    for line in seat.end() {
        writeln!(output, "{line}")?;
    }
    Ok(output.flush()?)
}
